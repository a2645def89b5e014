//! y = A·x on the GPU with matrices outside the L2 cache: one JSON line per matrix and type.
//!
//! `bytes` is the minimum traffic: entries (column and value), 32-bit row pointers, x and y once. Copies of the
//! matrix are used in turn, so that none stays in the L2 cache. `floor_ms` is `bytes` at 4.0 TB/s, which a copy
//! reaches on an H200. A time is that of a round over all copies, measured by events, divided by their number.
//! Options: `--only SUBSTR`, `--rounds N` (20), `--kind NAME` (`merge` or a number of lanes, instead of the choice).

#[cfg(feature = "testing")]
fn main() -> sparring::Result<()> {
    gpu::main()
}

#[cfg(not(feature = "testing"))]
fn main() {
    eprintln!("built without the feature `testing`");
}

#[cfg(feature = "testing")]
mod gpu {
    use sparring::algebra::{Num, PlusTimes};
    use sparring::gpu::DeviceCsr;
    use sparring::gpu::testing::{self, SpmvKind};
    use sparring::{Csr, Cuda, Error, Result};
    use sparring_generate as generate;

    const CASES: [&str; 9] =
        ["rmat14", "rmat16", "rmat18", "er18", "er19", "er20", "st27_80", "st27_100", "lap2d_2000"];

    /// Command line options.
    struct Options {
        only: String,
        rounds: usize,
        kind: Option<SpmvKind>,
    }

    impl Options {
        fn read() -> Self {
            let words: Vec<String> = std::env::args().collect();
            let after = |name: &str| words.iter().skip_while(|w| *w != name).nth(1).cloned();
            let kind = |name: String| match name.parse() {
                Ok(lanes) => SpmvKind::Rows { lanes },
                Err(_) => SpmvKind::Merge,
            };
            Self {
                only: after("--only").unwrap_or_default(),
                rounds: after("--rounds").and_then(|n| n.parse().ok()).unwrap_or(20),
                kind: after("--kind").map(kind),
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
        for name in CASES.iter().filter(|name| name.contains(&options.only)) {
            let a = generate::matrix(&format!("gen_py/{name}"))?;
            time(&cuda, &options, name, "f64", &a)?;
            let values = a.values().iter().map(|&v| v as f32).collect();
            time(&cuda, &options, name, "f32", &Csr::with_pattern(a.pattern().clone(), values)?)?;
        }
        Ok(())
    }

    fn time<T: Num>(cuda: &Cuda, options: &Options, name: &str, dtype: &str, a: &Csr<T>) -> Result<()> {
        let (nrows, ncols) = a.shape();
        let size = size_of::<T>();
        let bytes = a.nnz() * (4 + size) + 4 * (nrows + 1) + size * (nrows + ncols);
        let copies = (256_000_000 / bytes + 2).min(12);
        let matrices = (0..copies).map(|_| cuda.upload(a)).collect::<Result<Vec<DeviceCsr<T>>>>()?;
        let values: Vec<T> = (0..ncols).map(|j| T::from_f64((j % 97) as f64 / 97.0 + 0.5)).collect();
        let vectors = (0..copies).map(|_| cuda.upload_full(&values)).collect::<Result<Vec<_>>>()?;
        let zeros = vec![T::ZERO; nrows];
        let mut results = (0..copies).map(|_| cuda.upload_full(&zeros)).collect::<Result<Vec<_>>>()?;
        let (stats, chosen, why) = testing::mxv_choice(cuda, matrices[0].pattern())?;
        let kind = options.kind.unwrap_or(chosen);
        let ring = PlusTimes::<T>::default();

        let mut round = || -> Result<()> {
            for ((a, x), y) in matrices.iter().zip(&vectors).zip(&mut results) {
                testing::mxv_into(cuda, options.kind, ring, a, x, None, y)?;
            }
            Ok(())
        };
        // More rounds for small matrices, so that the overhead of events is negligible.
        let inner = 1 + 30_000_000 / (bytes * copies);
        let mut times = vec![];
        for r in 0..options.rounds.max(20) + 2 {
            let ((), ms) = cuda.timed(|| (0..inner).try_for_each(|_| round()))?;
            // The first two are warm-up: compilation, kernel selection, device wake-up.
            if r >= 2 {
                times.push(ms / (inner * copies) as f64);
            }
        }
        times.sort_by(f64::total_cmp);
        let ms = times[times.len() / 2];

        // Checks a row of the last result against the host, so that no fast wrong result is reported.
        let y = cuda.download_full(&results[copies - 1], T::ZERO)?;
        let (mut found, mut want) = (0.0, 0.0);
        for (i, y) in y.iter().enumerate() {
            found += y.as_f64();
            for p in a.row_ptr()[i]..a.row_ptr()[i + 1] {
                want += a.values()[p].as_f64() * values[a.col_idx()[p] as usize].as_f64();
            }
        }
        let line = serde_json::json!({
            "op": "spmv", "case": name, "dtype": dtype, "rows": nrows, "nnz": a.nnz(), "longest_row": stats.longest_row,
            "kind": format!("{kind:?}"), "why": if options.kind.is_some() { "requested" } else { why },
            "copies": copies, "ms": ms, "min_ms": times[0], "bytes": bytes, "gbs": bytes as f64 / ms / 1e6,
            "floor_ms": bytes as f64 / 4.0e9, "error": ((found - want) / want).abs(),
        });
        println!("{line}");
        Ok(())
    }
}
