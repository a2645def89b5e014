//! The fastest tiling of a kernel: a model says which to try, they are compiled side by side and measured in turns.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::tiled::{For, Tiled};
use crate::gpu::jit::trial;
use crate::gpu::launch::Program;
use crate::gpu::tiling::{Tiling, TunedKernel, Tuning};
use crate::gpu::tuned::{self, Entry};
use crate::gpu::worked::Worked;
use crate::par::Threads;
use crate::{Error, Result};

/// Tilings that are compiled, the rule's among them.
const COMPILED: usize = 60;
/// Rounds, and how many of the fastest go on to the next ones; the rule's always does.
const ROUNDS: [(usize, usize); 3] = [(3, 12), (5, 4), (12, 1)];
/// Milliseconds that a tiling runs in a round, at least, and calls at most.
const LONG: f64 = 1.0;
const CALLS: usize = 50;
/// What is not so much faster than the rule is no gain: the rule's is kept.
const GAIN: f64 = 0.995;

/// A tiling that is measured.
struct Trial {
    worked: Worked,
    program: Program,
    /// The least so far of one call.
    ms: f64,
}

impl Trial {
    fn tiling(&self) -> Tiling {
        self.worked.tiling
    }
}

/// The programs of all of these, compiled by several threads.
fn compiled(case: For<'_>, kernel: &(dyn Tiled + Sync), all: Vec<Worked>) -> Result<Vec<Trial>> {
    let made: Vec<Mutex<Option<Program>>> = all.iter().map(|_| Mutex::default()).collect();
    let threads = Threads::new(std::thread::available_parallelism().map_or(1, usize::from).min(all.len()).max(1))?;
    threads.for_each_of(
        "tuning",
        all.len(),
        || Ok(()),
        |(), t| {
            let program = case.front(&all[t], |front| trial(case.cuda.device(), kernel.source(), front))?;
            *made[t].lock().unwrap_or_else(PoisonError::into_inner) = Some(program);
            Ok(())
        },
    )?;
    let programs = made.into_iter().filter_map(|program| program.into_inner().unwrap_or_else(PoisonError::into_inner));
    let with = |(worked, program)| Trial { worked, program, ms: f64::INFINITY };
    Ok(all.into_iter().zip(programs).map(with).collect())
}

/// The fastest tiling of the kernel, which `start` starts; it is kept.
pub(super) fn tune(
    case: For<'_>,
    kernel: &(dyn Tiled + Sync),
    update_is_read: bool,
    start: &dyn Fn(&Worked, &Program) -> Result<()>,
) -> Result<TunedKernel> {
    let (began, cuda) = (Instant::now(), case.cuda);
    let limits = cuda.limits();
    let none = || Error::Unsupported { what: "tuning".into(), why: "a block has no room for the kernel".into() };
    let rule = kernel.rule().ok_or_else(none)?;
    let space = kernel.space(limits, update_is_read);
    let possible = space.len();
    let tried = [rule].into_iter().chain(space.into_iter().filter(|&of| of != rule).take(COMPILED - 1));
    let trials: Vec<Worked> = tried.filter_map(|of| kernel.program(limits, of)).collect();
    let tried = trials.len();
    let mut trials = compiled(case, kernel, trials)?;
    let compile_s = began.elapsed().as_secs_f64();
    let measure = |trial: &mut Trial, calls: usize| -> Result<()> {
        let ((), ms) = cuda.timed(|| (0..calls).try_for_each(|_| start(&trial.worked, &trial.program)))?;
        trial.ms = trial.ms.min(ms / calls as f64);
        Ok(())
    };
    for trial in &mut trials {
        // The first call loads it.
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
    let worked = kernel.program(limits, best).ok_or_else(none)?;
    let what = kernel.explain(&by_rule.worked);
    // The next process finds it compiled.
    case.front(&worked, |front| cuda.program_of(kernel.source(), front))?;
    if let Some(key) = case.key(kernel) {
        // Where it cannot be kept, it is found anew.
        let _ = tuned::put(cuda.programs().cache(), &Entry::new(key, best, rule_ms, best_ms));
    }
    if cuda.tunes() == Tuning::Kept {
        cuda.worked().set(&case.numbers(kernel), worked.into());
    }
    let total_s = began.elapsed().as_secs_f64();
    Ok(TunedKernel { what, rule, rule_ms, best, best_ms, possible, tried, compile_s, total_s })
}
