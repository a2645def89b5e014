//! The tuner: a model ranks the tilings, the best are compiled in parallel and measured in turns.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::tiled::{For, Tiled};
use crate::gpu::jit::trial;
use crate::gpu::kernel_cache::GeneratedKernel;
use crate::gpu::launch::Program;
use crate::gpu::tiling::{Tiling, TunedKernel, Tuning};
use crate::gpu::tuned::{self, Entry};
use crate::par::Threads;
use crate::{Error, Result};

/// Tilings to compile, the rule's among them.
const COMPILED: usize = 60;
/// Measurements per round, and the number of fastest tilings that advance; the rule's always does.
const ROUNDS: [(usize, usize); 3] = [(3, 12), (5, 4), (12, 1)];
/// Target milliseconds of a measurement, going by the time of the rule's tiling, and most calls in it.
const LONG: f64 = 1.0;
const CALLS: usize = 50;
/// Fraction of the rule's time that a tiling must beat; otherwise the rule's is retained.
const GAIN: f64 = 0.995;

/// A tiling under measurement.
struct Trial {
    generated: GeneratedKernel,
    program: Program,
    /// Best time of one call so far.
    ms: f64,
}

impl Trial {
    fn tiling(&self) -> Tiling {
        self.generated.tiling
    }
}

/// Compiles these programs on several threads.
fn compiled(case: For<'_>, kernel: &(dyn Tiled + Sync), all: Vec<GeneratedKernel>) -> Result<Vec<Trial>> {
    let made: Vec<Mutex<Option<Program>>> = all.iter().map(|_| Mutex::default()).collect();
    let threads = Threads::new(std::thread::available_parallelism().map_or(1, usize::from).min(all.len()).max(1))?;
    threads.for_each_of(
        "tuning",
        all.len(),
        || Ok(()),
        |(), t| {
            let program = case.prefix(&all[t], |prefix| trial(case.cuda.device(), kernel.source(), prefix))?;
            *made[t].lock().unwrap_or_else(PoisonError::into_inner) = Some(program);
            Ok(())
        },
    )?;
    let programs = made.into_iter().filter_map(|program| program.into_inner().unwrap_or_else(PoisonError::into_inner));
    let with = |(generated, program)| Trial { generated, program, ms: f64::INFINITY };
    Ok(all.into_iter().zip(programs).map(with).collect())
}

/// Finds the fastest tiling of the kernel that `start` launches, and caches it.
pub(super) fn tune(
    case: For<'_>,
    kernel: &(dyn Tiled + Sync),
    update_is_read: bool,
    start: &dyn Fn(&GeneratedKernel, &Program) -> Result<()>,
) -> Result<TunedKernel> {
    let (began, cuda) = (Instant::now(), case.cuda);
    let limits = cuda.limits();
    let none = || Error::Unsupported {
        what: "tuning".into(),
        why: "a block of the kernel does not fit a multiprocessor".into(),
    };
    let rule = kernel.rule().ok_or_else(none)?;
    let space = kernel.space(limits, update_is_read);
    let possible = space.len();
    let tried = [rule].into_iter().chain(space.into_iter().filter(|&of| of != rule).take(COMPILED - 1));
    let trials: Vec<GeneratedKernel> = tried.filter_map(|of| kernel.program(limits, of)).collect();
    let tried = trials.len();
    let mut trials = compiled(case, kernel, trials)?;
    let compile_s = began.elapsed().as_secs_f64();
    let measure = |trial: &mut Trial, calls: usize| -> Result<()> {
        let ((), ms) = cuda.timed(|| (0..calls).try_for_each(|_| start(&trial.generated, &trial.program)))?;
        trial.ms = trial.ms.min(ms / calls as f64);
        Ok(())
    };
    for trial in &mut trials {
        // The first call loads the program.
        measure(trial, 1)?;
        trial.ms = f64::INFINITY;
    }
    let Some(first) = trials.first_mut() else { return Err(none()) };
    measure(first, 1)?;
    let calls = ((LONG / first.ms.max(1e-3)).ceil() as usize).clamp(1, CALLS);
    for (rounds, left) in ROUNDS {
        for _ in 0..rounds {
            trials.iter_mut().try_for_each(|trial| measure(trial, calls))?;
        }
        trials.sort_by(|x, y| x.ms.total_cmp(&y.ms));
        let mut place = 0;
        trials.retain(|trial| {
            place += 1;
            place <= left || trial.tiling() == rule
        });
    }
    let by_rule = trials.iter().find(|trial| trial.tiling() == rule).ok_or_else(none)?;
    let fastest = trials.first().filter(|trial| trial.ms < GAIN * by_rule.ms).unwrap_or(by_rule);
    let (best, rule_ms, best_ms) = (fastest.tiling(), by_rule.ms, fastest.ms);
    let generated = kernel.program(limits, best).ok_or_else(none)?;
    let what = kernel.explain(&by_rule.generated);
    // Puts it into the program cache for the next process.
    case.prefix(&generated, |prefix| cuda.program_of(kernel.source(), prefix))?;
    if let Some(key) = case.key(kernel) {
        // If it cannot be stored, the next process tunes again.
        let _ = tuned::put(cuda.programs().cache(), &Entry::new(key, best, rule_ms, best_ms));
    }
    if cuda.tunes() == Tuning::Kept {
        cuda.kernel_cache().set(&case.numbers(kernel), generated.into());
    }
    let total_s = began.elapsed().as_secs_f64();
    Ok(TunedKernel { what, rule, rule_ms, best, best_ms, possible, tried, compile_s, total_s })
}
