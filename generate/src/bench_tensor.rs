//! The tensors of `bench_tensor.py`: draws of numpy's `Generator(PCG64(seed))`.
//!
//! Index i of a mode is drawn with probability ∝ (i' + 1)^−s, where i' is its label before shuffling (s = 0: uniform).
//! Rounds of draws are merged and duplicates dropped until there are enough; then a random subset is selected.
//! Values are uniform in (0, 1].
//!
//! With AVX-512, numpy's power differs from that of the C library in the last bit, which changes up to 7 % of a mode's
//! probabilities by 10⁻¹⁶. Only a draw between the two values would show the difference, and none of these tensors has
//! one: numpy gives the same bits either way.

use super::memory::{collected, grow, listed, sort};
use super::numpy::Generator;
use super::places::{DRAWS, LinearIndex, append, distinct, tensor};
use sparring::par::filled;
use sparring::tensor::Tensor;
use sparring::{Dense, Error, Result};

/// Parameters of a tensor.
struct Spec {
    name: &'static str,
    dims: &'static [u64],
    nnz: usize,
    /// Zipf exponent of each mode.
    zipf: &'static [f64],
    seed: u64,
    sorted: bool,
}

const SPECS: [Spec; 7] = [
    Spec {
        name: "random10m",
        dims: &[30_000, 40_000, 50_000],
        nnz: 10_000_000,
        zipf: &[0.0, 0.0, 0.0],
        seed: 101,
        sorted: false,
    },
    Spec {
        name: "random3m",
        dims: &[30_000, 40_000, 50_000],
        nnz: 3_000_000,
        zipf: &[0.0, 0.0, 0.0],
        seed: 102,
        sorted: false,
    },
    Spec {
        name: "uber",
        dims: &[183, 24, 1140, 1717],
        nnz: 3_309_490,
        zipf: &[0.1, 0.4, 0.9, 0.9],
        seed: 103,
        sorted: true,
    },
    Spec {
        name: "nell2",
        dims: &[12_092, 9184, 28_818],
        nnz: 10_000_000,
        zipf: &[0.9, 0.9, 0.9],
        seed: 104,
        sorted: true,
    },
    Spec {
        name: "enron",
        dims: &[6066, 5699, 244_268, 1176],
        nnz: 6_000_000,
        zipf: &[1.0, 1.0, 0.8, 0.8],
        seed: 105,
        sorted: true,
    },
    Spec {
        name: "lbnl",
        dims: &[1605, 4198, 1631, 4209, 868_131],
        nnz: 1_698_825,
        zipf: &[1.1, 1.1, 1.1, 1.1, 0.7],
        seed: 106,
        sorted: true,
    },
    Spec {
        name: "vast",
        dims: &[165_427, 11_374, 2, 100, 89],
        nnz: 5_000_000,
        zipf: &[0.5, 0.9, 0.3, 0.8, 0.8],
        seed: 107,
        sorted: true,
    },
];

/// The tensor called `name`; with `small`, a tenth of the entries. `planted`, which is full and has rank 4, is never
/// reduced.
/// # Errors
/// [`Error::Argument`] if there is no such name; [`Error::OutOfMemory`].
pub fn named(name: &str, small: bool) -> Result<Tensor<f64>> {
    if name == "planted" {
        return planted();
    }
    let Some(spec) = SPECS.iter().find(|spec| spec.name == name) else {
        let known = SPECS.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
        let message = format!("no generated tensor is called '{name}'; there are {known}, planted");
        return Err(Error::Argument { name: "case", message });
    };
    let nnz = if small { spec.nnz / 10 } else { spec.nnz };
    // The linear indices of one tensor exceed 64 bits.
    if spec.dims.iter().try_fold(1u64, |n, &size| n.checked_mul(size)).is_some() {
        spec.drawn::<u64>(nnz)
    } else {
        spec.drawn::<u128>(nnz)
    }
}

/// One factor per mode, uniform in [0, 1): the common initial guess of all programs (seed 7).
/// # Errors
/// [`Error::IndexOverflow`] if a factor is too large; [`Error::OutOfMemory`].
pub fn factors(dims: &[usize], rank: usize, seed: u64) -> Result<Vec<Dense<f64>>> {
    let mut rng = Generator::new(seed);
    let mut factors = Vec::with_capacity(dims.len());
    for &n in dims {
        // `Dense::new` rejects an overflow.
        let len = n.saturating_mul(rank);
        factors.push(Dense::new(n, rank, rng.randoms(len)?)?);
    }
    Ok(factors)
}

impl Spec {
    fn drawn<K: LinearIndex>(&self, nnz: usize) -> Result<Tensor<f64>> {
        let mut rng = Generator::new(self.seed);
        let mut modes: Vec<Marginal> = Vec::with_capacity(self.dims.len());
        for (&n, &s) in self.dims.iter().zip(self.zipf) {
            modes.push(Marginal::new(&mut rng, n as u32, s)?);
        }
        let mut linear: Vec<K> = Vec::new();
        while linear.len() < nnz {
            let draws = ((nnz - linear.len()) as f64 * 1.15) as usize + 1000;
            let mut new = filled(draws, K::default(), DRAWS)?;
            for (mode, &base) in modes.iter().zip(self.dims) {
                mode.append(&mut rng, &mut new, base)?;
            }
            grow(&mut linear, draws, DRAWS)?;
            linear.append(&mut new);
            distinct(&mut linear);
        }
        let mut pick = rng.permutation(linear.len() as u32)?;
        pick.truncate(nnz);
        if self.sorted {
            sort(&mut pick);
        }
        let uniform = rng.randoms(nnz)?;
        let values = listed(nnz, |p| 1.0 - uniform[p], DRAWS)?;
        drop(uniform);
        tensor(self.dims, values, |p| linear[pick[p] as usize])
    }
}

/// The distribution of the indices of a mode.
struct Marginal {
    /// Entry k is the cumulative probability of 0..=k; empty for the uniform distribution.
    cdf: Vec<f64>,
    /// Guide table: for each of equal parts of [0, 1), the smallest k reachable from it; then the largest k.
    guide: Vec<u32>,
    /// The shuffled index of each k.
    label: Vec<u32>,
}

impl Marginal {
    fn new(rng: &mut Generator, n: u32, s: f64) -> Result<Self> {
        let (mut cdf, mut guide) = (Vec::new(), Vec::new());
        if s != 0.0 {
            // numpy computes the power −1 as a quotient.
            let power = |x: f64| if s == 1.0 { 1.0 / x } else { x.powf(-s) };
            let mut sum = 0.0;
            let sums = (1..=n).map(|i| {
                sum += power(i.into());
                sum
            });
            cdf = collected(n as usize, sums, DRAWS)?;
            let all = sum;
            cdf.iter_mut().for_each(|c| *c /= all);
            let parts = n.next_power_of_two();
            // Division by powers of two is exact.
            let first = |part: u32| cdf.partition_point(|&c| c <= f64::from(part) / f64::from(parts)) as u32;
            guide = collected(parts as usize + 1, (0..=parts).map(first), DRAWS)?;
        }
        Ok(Self { cdf, guide, label: rng.permutation(n)? })
    }
    /// Draws an index for each entry and appends it to its linear index.
    fn append<K: LinearIndex>(&self, rng: &mut Generator, linear: &mut [K], base: u64) -> Result<()> {
        if self.cdf.is_empty() {
            let n = self.label.len() as u32;
            let draws = collected(linear.len(), std::iter::repeat_with(|| rng.below(n)), DRAWS)?;
            append(linear, base, |p| draws[p].into());
            return Ok(());
        }
        let draws = rng.randoms(linear.len())?;
        let parts = (self.guide.len() - 1) as f64;
        append(linear, base, |p| {
            let u = draws[p];
            let part = (u * parts) as usize;
            let (from, to) = (self.guide[part] as usize, self.guide[part + 1] as usize);
            let k = from + self.cdf[from..to].partition_point(|&c| c <= u);
            self.label[k.min(self.label.len() - 1)].into()
        });
        Ok(())
    }
}

/// Σᵣ a(i, r) b(j, r) c(k, r) with all entries stored: rank 4, factors uniform in [0, 1).
fn planted() -> Result<Tensor<f64>> {
    const DIMS: [u64; 3] = [60, 50, 40];
    let [a, b, c] = &factors(&DIMS.map(|n| n as usize), 4, 108)?[..] else {
        return Err(Error::Argument { name: "case", message: "three modes have three factors".to_owned() });
    };
    let [_, n, m] = DIMS.map(|n| n as usize);
    let value = |p: usize| {
        let rows = a.row(p / m / n).iter().zip(b.row(p / m % n)).zip(c.row(p % m));
        rows.fold(0.0, |sum, ((x, y), z)| sum + x * y * z)
    };
    let values = listed(DIMS.iter().product::<u64>() as usize, value, DRAWS)?;
    tensor(&DIMS, values, |p| p as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The guide table narrows the search without changing the result.
    #[test]
    fn an_index_is_the_first_with_more_probability() {
        for (n, s) in [(1, 0.5), (2, 0.3), (100, 0.9), (1000, 1.0), (1000, 3.0)] {
            let mode = Marginal::new(&mut Generator::new(3), n, s).unwrap();
            let mut rng = Generator::new(5);
            let draws = Generator::new(5).randoms(5000).unwrap();
            let mut linear = vec![0u64; 5000];
            mode.append(&mut rng, &mut linear, n.into()).unwrap();
            for (u, index) in draws.iter().zip(linear) {
                let k = mode.cdf.iter().position(|c| c > u).unwrap_or(n as usize - 1);
                assert_eq!(index, u64::from(mode.label[k]));
            }
        }
    }

    #[test]
    fn names_that_are_not_known_are_refused() {
        let error = named("delicious", false).unwrap_err().to_string();
        assert!(error.starts_with("case: no generated tensor is called 'delicious'; there are random10m, "), "{error}");
        assert!(factors(&[usize::MAX, 2], 3, 7).is_err());
    }
}
