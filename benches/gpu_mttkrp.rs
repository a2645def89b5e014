//! MTTKRP over all modes on the GPU, for the tensors of `gen.py` in every storage form: one JSON line each.
//!
//! `ms` is a round over all modes by events, the median of `--rounds`; `modes` are the times of single modes.
//! `build_ms` is the conversion of entries on the device to the form, and `sweeps` the same time in rounds. `eq3` is
//! the traffic of Phipps and Kolda's equation 3, ((d R + 3) s + d i) P bytes per mode for values of s and indices of i
//! bytes, over the time, relative to the bandwidth of a copy in the same run. `error` is the largest relative
//! difference to the product in f64.
//!
//! Options: `--only SUBSTR`, `--form NAME`, `--rank N` (32), `--rounds N` (10), `--dtype f32|f64|both` (both), `--cp`
//! for CP-ALS on the device as well: the time of a sweep, of its products, and of the setup including the upload of the
//! tensor.

#[cfg(feature = "cuda")]
fn main() -> sparring::Result<()> {
    gpu::main()
}

#[cfg(not(feature = "cuda"))]
fn main() {
    eprintln!("built without the feature `cuda`");
}

#[cfg(feature = "cuda")]
mod gpu {
    use std::ops::ControlFlow;

    use sparring::algebra::{Num, PlusTimes, Real};
    use sparring::factor::{CpAls, InForm, Sweep};
    use sparring::gpu::{DeviceDense, DeviceMttkrp, TensorForm};
    use sparring::{Cuda, Dense, Error, Result, Tensor};
    use sparring_generate as generate;

    /// Number of CP-ALS sweeps.
    const SWEEPS: usize = 20;
    const CASES: [&str; 4] = ["unif3", "nell2", "enron", "vast5"];

    /// Command line options.
    struct Options {
        only: String,
        form: String,
        rank: usize,
        rounds: usize,
        dtype: String,
        cp: bool,
    }

    impl Options {
        fn read() -> Self {
            let words: Vec<String> = std::env::args().collect();
            let after = |name: &str| words.iter().skip_while(|w| *w != name).nth(1).cloned();
            Self {
                only: after("--only").unwrap_or_default(),
                form: after("--form").unwrap_or_default(),
                rank: after("--rank").and_then(|n| n.parse().ok()).unwrap_or(32),
                rounds: after("--rounds").and_then(|n| n.parse().ok()).unwrap_or(10),
                dtype: after("--dtype").unwrap_or_else(|| "both".into()),
                cp: words.iter().any(|w| w == "--cp"),
            }
        }
    }

    pub(super) fn main() -> Result<()> {
        let options = Options::read();
        let cuda = match Cuda::new(0) {
            Err(Error::NoDevice { why, .. }) => {
                eprintln!("skipped: {why}");
                return Ok(());
            }
            cuda => cuda?,
        };
        let copy = cuda.copy_bandwidth(1 << 30)?;
        println!("{}", serde_json::json!({"op": "copy", "device": cuda.limits().name, "gbs": copy / 1e9}));
        for name in CASES.iter().filter(|name| name.contains(&options.only)) {
            let x = generate::tensor(&format!("gen_py/{name}"))?;
            // Values are exact in f32, so that the f64 result is the reference for both types.
            let x = x.with_values(x.values().iter().map(|&v| f64::from(v as f32)).collect())?;
            let factors = factors(&x, options.rank)?;
            let truth = truth(&cuda, &x, &factors)?;
            if options.dtype != "f64" {
                let narrow = x.with_values(x.values().iter().map(|&v| v as f32).collect())?;
                measure::<f32>(&cuda, &options, (name, "f32", copy), &narrow, &factors, &truth)?;
            }
            if options.dtype != "f32" {
                measure::<f64>(&cuda, &options, (name, "f64", copy), &x, &factors, &truth)?;
            }
        }
        Ok(())
    }

    fn factors(x: &Tensor<f64>, rank: usize) -> Result<Vec<Dense<f64>>> {
        let value = |k: usize| f64::from(((k * 2_654_435_761 % 1_000_003) as f64 / 1_000_003.0 + 0.1) as f32);
        x.dims().iter().map(|&n| Dense::new(n, rank, (0..n * rank).map(value).collect())).collect()
    }
    fn sent<T: Num>(cuda: &Cuda, factors: &[Dense<f64>]) -> Result<Vec<DeviceDense<T>>> {
        let send = |f: &Dense<f64>| {
            cuda.upload_dense(&Dense::new(f.nrows(), f.ncols(), f.values().iter().map(|&v| T::from_f64(v)).collect())?)
        };
        factors.iter().map(send).collect()
    }
    fn truth(cuda: &Cuda, x: &Tensor<f64>, factors: &[Dense<f64>]) -> Result<Vec<Vec<f64>>> {
        let (plan, there) = (cuda.mttkrp_plan(x, Some(TensorForm::Copies))?, sent::<f64>(cuda, factors)?);
        let product = |mode| cuda.download_dense(&plan.mttkrp(PlusTimes::<f64>::default(), &there, mode)?);
        (0..x.order()).map(|mode| Ok(product(mode)?.into_values())).collect()
    }

    fn median(mut times: Vec<f64>) -> f64 {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }

    fn measure<T: Real>(
        cuda: &Cuda,
        options: &Options,
        (name, dtype, copy): (&str, &str, f64),
        x: &Tensor<T>,
        factors: &[Dense<f64>],
        truth: &[Vec<f64>],
    ) -> Result<()> {
        let (order, rank) = (x.order(), options.rank);
        let there = sent::<T>(cuda, factors)?;
        let dense =
            |mode: usize| cuda.upload_dense(&Dense::new(x.dims()[mode], rank, vec![T::ZERO; x.dims()[mode] * rank])?);
        let mut results = (0..order).map(dense).collect::<Result<Vec<_>>>()?;
        let entries = cuda.tensor(x)?;
        let ring = PlusTimes::<T>::default();
        for form in TensorForm::ALL.into_iter().filter(|f| f.name().contains(&options.form)) {
            let parts = form == TensorForm::Parts;
            if parts && options.form.is_empty() {
                continue;
            }
            let plan = |cuda: &Cuda| -> Result<DeviceMttkrp<'_, T>> {
                if parts { cuda.mttkrp_plan(x, Some(form)) } else { cuda.mttkrp_plan_of(&entries, Some(form)) }
            };
            // Warm-up: compiles kernels and allocates memory.
            drop(plan(cuda)?);
            let builds = (0..3).map(|_| Ok(cuda.timed(|| plan(cuda))?.1)).collect::<Result<Vec<_>>>()?;
            cuda.reset_peak_memory()?;
            let plan = plan(cuda)?;
            let peak = cuda.peak_memory()?;
            let mut product = |mode: usize| plan.mttkrp_into(ring, &there, mode, &mut results[mode]);
            (0..order).try_for_each(&mut product)?;
            let rounds = if parts { 2 } else { options.rounds };
            let mut sweeps = vec![];
            for _ in 0..rounds {
                sweeps.push(cuda.timed(|| (0..order).try_for_each(&mut product))?.1);
            }
            let mut modes = vec![vec![]; order];
            for _ in 0..rounds {
                for (mode, times) in modes.iter_mut().enumerate() {
                    times.push(cuda.timed(|| product(mode))?.1);
                }
            }
            let (ms, build_ms) = (median(sweeps), median(builds));
            let modes: Vec<f64> = modes.into_iter().map(median).collect();
            let mut errors = vec![];
            for (result, truth) in results.iter().zip(truth) {
                let found = cuda.download_dense(result)?;
                let error = |(v, &t): (&T, &f64)| if v.as_f64() == t { 0.0 } else { (v.as_f64() - t).abs() / t.abs() };
                errors.push(found.values().iter().zip(truth).map(error).fold(0.0, f64::max));
            }
            let traffic = ((order * rank + 3) * size_of::<T>() + order * 4) * x.nnz() * order;
            let line = serde_json::json!({
                "op": "mttkrp", "case": name, "dtype": dtype, "rank": rank, "form": form.name(), "nnz": x.nnz(), "ms": ms, "modes": modes,
                "build_ms": build_ms, "sweeps": build_ms / ms, "bytes": plan.bytes(), "bytes_an_entry": plan.bytes() as f64 / x.nnz() as f64,
                "peak_bytes": peak, "stated_peak": plan.stats().bytes(form).made as u64, "eq3_gbs": traffic as f64 / ms / 1e6,
                "eq3_of_copy": traffic as f64 / ms * 1e3 / copy, "error": errors,
            });
            println!("{line}");
            drop(plan);
            if form == TensorForm::Copies && options.cp {
                decompose(cuda, options, (name, dtype), x)?;
            }
        }
        Ok(())
    }

    /// CP-ALS: `ratio` is the time of a sweep after the first, relative to that of its MTTKRPs.
    fn decompose<T: Real>(cuda: &Cuda, options: &Options, (name, dtype): (&str, &str), x: &Tensor<T>) -> Result<()> {
        let machine = InForm { cuda, form: TensorForm::Copies };
        let elapsed = std::cell::RefCell::new(vec![]);
        let watch = |sweep: Sweep| {
            elapsed.borrow_mut().push(sweep.elapsed);
            ControlFlow::Continue(())
        };
        let als = CpAls::<T>::new(options.rank).sweeps(SWEEPS).tol(0.0).seed(7).on_sweep(watch);
        als.run(&machine, x)?;
        elapsed.borrow_mut().clear();
        let found = als.run(&machine, x)?;
        let (ms, elapsed) = (|time: std::time::Duration| time.as_secs_f64() * 1e3, elapsed.borrow());
        let sweep_ms = ms(elapsed[SWEEPS - 1] - elapsed[0]) / (SWEEPS - 1) as f64;
        let mttkrp_ms = ms(found.mttkrp) / SWEEPS as f64;
        let line = serde_json::json!({
            "op": "cp", "case": name, "dtype": dtype, "rank": options.rank, "sweeps": SWEEPS, "sweep_ms": sweep_ms,
            "mttkrp_ms": mttkrp_ms, "ratio": sweep_ms / mttkrp_ms, "setup_ms": ms(found.setup), "total_ms": ms(found.total),
            "fit": found.fit, "fits": found.fits, "singular": found.singular,
        });
        println!("{line}");
        Ok(())
    }
}
