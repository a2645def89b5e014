//! Contractions on the GPU: one JSON line per case.
//!
//! `gemm`: C = A·B + C for a batch of n × n matrices, over (+, ×), and up to 16 rows over (min, +). `action`: U = M V
//! of a mass operator on hexahedra of degree p, with p + 1 values and p + 2 points per direction. `reduce`: sums over
//! some indices of one array of 2²⁶ values, or of the products of two. `ms_min` is the
//! minimum and `ms` the median of `--rounds` event timings of 5 back-to-back calls, so that the device never waits for
//! the host; both are per call. `pct_bound` is the lower bound by [`bound`](sparring::contract::bound) at the bandwidth
//! of a copy in the same run, relative to `ms_min`.
//!
//! Options: `--bytes N` (1.2e9), the size of all arrays of a case; `--rounds N` (10); `--only gemm|action|reduce`; `--n
//! LIST`.

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
    use sparring::algebra::{Arithmetic, MinPlus, PlusTimes, Real};
    use sparring::contract::{Bound, Einsum, Layout, Mass, View, bound};
    use sparring::gpu::DeviceBatch;
    use sparring::{Cuda, Result};

    /// Number of calls timed together.
    const CALLS: usize = 5;
    const SIZES: [usize; 17] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 28, 32];

    /// Sums of about 2²⁶ terms, some over extents of odd length.
    const REDUCTIONS: [(&str, &[usize]); 10] = [
        ("i->", &[1 << 26]),
        ("i->", &[(1 << 26) - 1]),
        ("i,i->", &[1 << 26]),
        ("ij->i", &[8192, 8192]),
        ("ij->i", &[8191, 8193]),
        ("ij->i", &[1 << 19, 129]),
        ("ij->j", &[8192, 8192]),
        ("ij,ij->i", &[8192, 8192]),
        ("ijk->j", &[512, 256, 512]),
        ("ijk->ik", &[512, 256, 512]),
    ];

    /// Command line options.
    struct Options {
        bytes: f64,
        rounds: usize,
        only: String,
        sizes: Vec<usize>,
    }

    impl Options {
        fn read() -> Self {
            let words: Vec<String> = std::env::args().collect();
            let after = |name: &str| words.iter().skip_while(|w| *w != name).nth(1).cloned();
            let list = |text: String| text.split(',').filter_map(|n| n.parse().ok()).collect();
            Self {
                bytes: after("--bytes").and_then(|n| n.parse().ok()).unwrap_or(1.2e9),
                rounds: after("--rounds").and_then(|n| n.parse().ok()).unwrap_or(10),
                only: after("--only").unwrap_or_default(),
                sizes: after("--n").map_or(SIZES.to_vec(), list),
            }
        }
    }

    struct Bench {
        cuda: Cuda,
        copy: f64,
        options: Options,
    }

    pub(super) fn main() -> Result<()> {
        let cuda = Cuda::new(0)?;
        let copy = cuda.copy_bandwidth(1 << 30)?;
        let limits = cuda.limits();
        println!("{{\"device\": \"{}\", \"copy_tbs\": {:.3}}}", limits.name, copy / 1e12);
        let bench = Bench { cuda, copy, options: Options::read() };
        bench.all::<f64>("f64")?;
        bench.all::<f32>("f32")
    }

    impl Bench {
        fn all<T: Real>(&self, dtype: &str) -> Result<()> {
            let len = (self.options.bytes / 3.0 / size_of::<T>() as f64) as usize;
            let (mut seed, mut numbers) = (1u64, Vec::with_capacity(len));
            numbers.extend((0..len).map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                T::from_f64((seed >> 40) as f64 / f64::from(1 << 24) - 0.5)
            }));
            let put = || self.cuda.upload_batch(&View::new(&numbers, Layout::row_major(&[len])?)?);
            let wants = |case: &str| self.options.only.is_empty() || self.options.only == case;
            if wants("gemm") {
                let (a, b, mut c) = (put()?, put()?, put()?);
                for &n in &self.options.sizes {
                    let layout = || Layout::row_major(&[n, n])?.batched(len / (n * n));
                    let of = |x: &DeviceBatch<T>| x.clone().with_layout(layout()?);
                    let operands = [of(&a)?, of(&b)?];
                    c = c.with_layout(layout()?)?;
                    let einsum = Einsum::new("ij,jk->ik", &operands)?;
                    self.gemm("plus_times", PlusTimes::<T>::default(), dtype, n, &einsum, &mut c)?;
                    if n <= 16 {
                        self.gemm("min_plus", MinPlus::<T>::default(), dtype, n, &einsum, &mut c)?;
                    }
                }
            }
            if wants("action") {
                for p in 2..=8 {
                    self.action::<T>(dtype, p, &numbers)?;
                }
            }
            if wants("reduce") {
                for (expr, extents) in REDUCTIONS {
                    self.reduce::<T>(dtype, expr, extents, &numbers)?;
                }
            }
            Ok(())
        }

        fn gemm<T: Real, A: Arithmetic<T>>(
            &self,
            name: &str,
            ring: A,
            dtype: &str,
            n: usize,
            einsum: &Einsum<'_, T, DeviceBatch<T>>,
            c: &mut DeviceBatch<T>,
        ) -> Result<()> {
            let (least, batch) = (bound(einsum, true)?, einsum.result().1);
            let times = self.times(|| self.cuda.einsum(ring, einsum.clone()).accumulate().into(c))?;
            self.line(&format!("\"case\": \"gemm\", \"ring\": \"{name}\", \"n\": {n}"), dtype, batch, &least, &times);
            Ok(())
        }

        fn action<T: Real>(&self, dtype: &str, p: usize, numbers: &[T]) -> Result<()> {
            let (d, q) = (p + 1, p + 2);
            let each = (2 * d.pow(3) + q.pow(3)) * size_of::<T>();
            let elements = (self.options.bytes / each as f64) as usize;
            let put = |extents: &[usize], batch| {
                self.cuda.upload_batch(&View::new(numbers, Layout::row_major(extents)?.batched(batch)?)?)
            };
            // W takes more than a third of the bytes and may exceed `numbers`, which fills both W and V.
            let fit = numbers.len() / q.pow(3).max(d.pow(3));
            let elements = elements.min(fit);
            let (basis, w, v) = (put(&[q, d], 1)?, put(&[q; 3], elements)?, put(&[d; 3], elements)?);
            let mut u = put(&[d; 3], elements)?;
            let einsum = Mass::new(3, basis)?.action(&w, &v)?;
            let bytes = (elements * each) as f64;
            let steps = (1..=3).map(|k| q.pow(k) * d.pow(4 - k)).sum::<usize>();
            let operations = (elements * (4 * steps + q.pow(3))) as f64;
            let least = Bound { bytes, operations };
            let times = self.times(|| self.cuda.einsum(PlusTimes::<T>::default(), einsum.clone()).into(&mut u))?;
            self.line(&format!("\"case\": \"action\", \"p\": {p}"), dtype, elements, &least, &times);
            Ok(())
        }

        fn reduce<T: Real>(&self, dtype: &str, expr: &str, extents: &[usize], numbers: &[T]) -> Result<()> {
            let layout = Layout::row_major(extents)?;
            let n = extents.iter().product();
            let mut values: Vec<T> = Vec::with_capacity(n);
            values.extend(numbers.iter().cycle().take(n));
            let put = || self.cuda.upload_batch(&View::new(&values, layout.clone())?);
            let operands = if expr.contains(',') { vec![put()?, put()?] } else { vec![put()?] };
            let einsum = Einsum::new(expr, &operands)?;
            let mut c = self.cuda.einsum(PlusTimes::<T>::default(), einsum.clone()).eval()?;
            let (least, batch) = (bound(&einsum, false)?, 1);
            let times = self.times(|| self.cuda.einsum(PlusTimes::<T>::default(), einsum.clone()).into(&mut c))?;
            let shape = extents.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
            let case = format!("\"case\": \"reduce\", \"expr\": \"{expr}\", \"shape\": \"{shape}\"");
            self.line(&case, dtype, batch, &least, &times);
            Ok(())
        }

        /// Sorted milliseconds of the rounds, without two warm-up rounds.
        fn times(&self, mut work: impl FnMut() -> Result<()>) -> Result<Vec<f64>> {
            let mut times = vec![];
            for round in 0..self.options.rounds + 2 {
                let ms = self.cuda.timed(|| (0..CALLS).try_for_each(|_| work()))?.1 / CALLS as f64;
                if round >= 2 {
                    times.push(ms);
                }
            }
            times.sort_by(f64::total_cmp);
            Ok(times)
        }

        fn line(&self, case: &str, dtype: &str, batch: usize, least: &Bound, times: &[f64]) {
            let (min, median) = (times[0], times[times.len() / 2]);
            println!(
                "{{{case}, \"dtype\": \"{dtype}\", \"batch\": {batch}, \"ms_min\": {min:.5}, \"ms\": {median:.5}, \"tflops\": {:.4}, \
                 \"tbs\": {:.4}, \"pct_bound\": {:.2}}}",
                least.operations / min / 1e9,
                least.bytes / min / 1e9,
                1e5 * least.seconds(self.copy) / min
            );
        }
    }
}
