//! A distance by a formula that is known at run time only: Σ x ⊗ y over the union, ⊗ computed in blocks by a function value.
//!
//! The engine is that of every other distance whose ⊕ is +, so a common column adds a ⊗ b − (a ⊗ 0 + 0 ⊗ b). What entries add
//! alone is computed once: of X when its rows are prepared, of Y when a tile is opened.

use std::fmt;
use std::sync::Arc;

use super::domain::Domain;
use super::float::Float;
use super::loops::{Facts, Loops, NormsOf, for_union};
use super::measure::Measure;
use super::options::{Options, Precision};
use super::recipe::Side;
use super::tile::{Indexed, Query};
use super::way::Way;
use crate::Result;
use crate::algebra::Type;
use crate::simd::{dispatch, scatter_places};

/// Numbers that ⊗ is given at a time, at most.
pub const BLOCK: usize = 128;

/// ⊗ as a function value: many results at a time, so that one call costs little of each.
///
/// A closure of two numbers is one, and what else knows to compute a formula in blocks. 0 ⊗ 0 must be 0.
pub trait Terms<W>: Send + Sync {
    /// `out[n] = a ⊗ b[n]`; `b` and `out` are of one length, at most [`BLOCK`].
    fn terms(&self, a: W, b: &[W], out: &mut [W]);
    /// `out[n] = a[n] ⊗ b[n]`; all of one length, at most [`BLOCK`].
    fn pairs(&self, a: &[W], b: &[W], out: &mut [W]);
}

impl<W: Copy, F: Fn(W, W) -> W + Send + Sync> Terms<W> for F {
    fn terms(&self, a: W, b: &[W], out: &mut [W]) {
        dispatch(|| out.iter_mut().zip(b).for_each(|(out, &b)| *out = self(a, b)));
    }
    fn pairs(&self, a: &[W], b: &[W], out: &mut [W]) {
        dispatch(|| out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out = self(a, b)));
    }
}

/// Σ x ⊗ y over the union of the columns of two rows, ⊗ given by [`Terms`]. It must give 0 for two zeros.
///
/// ```
/// use sparring::{Cpu, Csr, distance::Formula};
/// let damped = Formula::new("(a-b)^2 / (a+b+1)", |a: f64, b: f64| (a - b) * (a - b) / (a + b + 1.0));
/// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 3], vec![0, 0, 1], vec![1.0, 2.0, 9.0])?;
/// let near = Cpu::new().neighbours(damped, &x).k(2).eval()?;
/// assert_eq!(near.row(0).0, [0, 1]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone)]
pub struct Formula {
    name: String,
    domain: Domain,
    double: Arc<dyn Terms<f64>>,
    single: Option<Arc<dyn Terms<f32>>>,
    /// CUDA text of `struct Ring` in f32 and in f64.
    #[cfg(feature = "cuda")]
    text: Option<[String; 2]>,
}

impl Formula {
    /// The formula of that name. Whatever precision is asked for, it is computed in f64, unless [`single`](Self::single) is given too.
    #[must_use]
    pub fn new(name: impl Into<String>, terms: impl Terms<f64> + 'static) -> Self {
        Self {
            name: name.into(),
            domain: Domain::Reals,
            double: Arc::new(terms),
            single: None,
            #[cfg(feature = "cuda")]
            text: None,
        }
    }
    /// The same formula in f32.
    #[must_use]
    pub fn single(self, terms: impl Terms<f32> + 'static) -> Self {
        Self { single: Some(Arc::new(terms)), ..self }
    }
    /// The entries that it takes, else any finite number.
    #[must_use]
    pub fn takes(self, domain: Domain) -> Self {
        Self { domain, ..self }
    }
    /// What a GPU runs: CUDA text of `struct Ring`, (+, ⊗) as [`emit_contract`](crate::algebra::emit_contract) has it, in f32 and
    /// in f64.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub fn cuda(self, [single, double]: [String; 2]) -> Self {
        Self { text: Some([single, double]), ..self }
    }
}

impl Formula {
    /// The way of these terms; text number `n` is theirs.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
    fn by<W: Float>(&self, terms: &Arc<dyn Terms<W>>, n: usize) -> Way {
        Way::by(Box::new(ByTerms {
            terms: Arc::clone(terms),
            #[cfg(feature = "cuda")]
            text: self.text.as_ref().map(|text| text[n].clone()),
        }))
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Measure for Formula {
    fn way(&self, options: &Options, entries: Type) -> Result<Way> {
        Ok(match &self.single {
            Some(terms) if options.precision == Precision::Entries && entries == Type::F32 => self.by(terms, 0),
            _ => self.by(&self.double, 1),
        })
    }
    fn domain(&self) -> Domain {
        self.domain
    }
    fn name(&self) -> String {
        self.name.clone()
    }
}

/// The inner loops of a formula.
struct ByTerms<W> {
    terms: Arc<dyn Terms<W>>,
    #[cfg(feature = "cuda")]
    text: Option<String>,
}

impl<W: Float> ByTerms<W> {
    /// Whether so much of the norms cancelled that a pair is computed again.
    #[inline(always)]
    fn near(key: W, x: W, y: W) -> bool {
        let cancelled = W::from_f64(if size_of::<W>() == 4 { 1e-3 } else { 1e-6 });
        key.wrapping_abs() < cancelled.wrapping_mul(x.wrapping_abs().wrapping_add(y.wrapping_abs()))
    }
}

impl<W: Float> Loops<W> for ByTerms<W> {
    fn facts(&self) -> Facts {
        Facts { counts: false, symmetric: false, zero_self: false, cheap: false, alone: true }
    }
    fn sums(&self, side: Side, values: &[W], _: usize) -> [W; 2] {
        let mut alone = [W::ZERO; BLOCK];
        let mut sum = W::ZERO;
        for values in values.chunks(BLOCK) {
            let alone = &mut alone[..values.len()];
            self.alone(side, values, alone);
            sum = alone.iter().fold(sum, |sum, &x| sum.wrapping_add(x));
        }
        [sum, W::ZERO]
    }
    fn entries(&self, _: Side, _: [W; 2], _: usize, _: &mut [W]) {}
    fn norms(&self, _: Side, [sum, _]: [W; 2], _: usize, _: usize) -> [W; 2] {
        [sum, W::ZERO]
    }
    /// x ⊗ 0, or 0 ⊗ x.
    fn alone(&self, side: Side, entries: &[W], out: &mut [W]) {
        let zeros = [W::ZERO; BLOCK];
        for (entries, out) in entries.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
            match side {
                Side::X => self.terms.pairs(entries, &zeros[..entries.len()], out),
                Side::Y => self.terms.terms(W::ZERO, entries, out),
            }
        }
    }
    fn add(&self, row: Query<'_, W>, tile: &Indexed<W>, sums: &mut [W], _: &mut [W]) {
        let mask = sums.len() - 1;
        let mut terms = [W::ZERO; BLOCK];
        for (at, ((&c, &a), &of_x)) in row.columns.iter().zip(row.entries).zip(row.alone).enumerate() {
            let range = tile.postings.range(c, row.before.map(|before| before + at));
            let (places, values) = tile.postings.at(range.clone());
            let blocks = places.chunks(BLOCK).zip(values.chunks(BLOCK)).zip(tile.alone[range].chunks(BLOCK));
            for ((places, values), of_y) in blocks {
                let terms = &mut terms[..values.len()];
                self.terms.terms(a, values, terms);
                terms.iter_mut().zip(of_y).for_each(|(t, &of_y)| *t = t.wrapping_sub(of_x.wrapping_add(of_y)));
                scatter_places(sums, mask, places, terms, |sum, t| sum.wrapping_add(t));
            }
        }
    }
    fn keys(&self, [x, _]: [W; 2], [y, _]: NormsOf<'_, W>, sums: &[W], _: &[W], keys: &mut [f64]) -> bool {
        let mut any_near = false;
        for ((key, &sum), &y) in keys.iter_mut().zip(sums).zip(y) {
            let k = x.wrapping_add(y).wrapping_add(sum);
            any_near |= Self::near(k, x, y);
            *key = k.as_f64();
        }
        any_near
    }
    fn again(
        &self,
        [x, _]: [W; 2],
        [y, _]: NormsOf<'_, W>,
        keys: &mut [f64],
        _: Option<usize>,
        exact: &mut dyn FnMut(usize) -> W,
    ) {
        for (j, (key, &y)) in keys.iter_mut().zip(y).enumerate() {
            if Self::near(W::from_f64(*key), x, y) {
                *key = exact(j).as_f64();
            }
        }
    }
    fn exact(&self, x: (&[u32], &[W]), y: (&[u32], &[W]), _: [[W; 2]; 2]) -> W {
        let (mut a, mut b, mut terms) = ([W::ZERO; BLOCK], [W::ZERO; BLOCK], [W::ZERO; BLOCK]);
        let (mut n, mut sum) = (0, W::ZERO);
        let mut fold = |a: &[W], b: &[W]| {
            self.terms.pairs(a, b, &mut terms[..a.len()]);
            sum = terms[..a.len()].iter().fold(sum, |sum, &t| sum.wrapping_add(t));
        };
        for_union(x, y, W::ZERO, |of_x, of_y| {
            (a[n], b[n]) = (of_x, of_y);
            n += 1;
            if n == BLOCK {
                fold(&a, &b);
                n = 0;
            }
        });
        fold(&a[..n], &b[..n]);
        sum
    }
    fn finish(&self, _: &mut [f64]) {}
    #[cfg(feature = "cuda")]
    fn text(&self) -> Option<Arc<str>> {
        self.text.as_deref().map(|text| text_of_ring::<W>(text).into())
    }
}

/// The text of a recipe from that of (+, ⊗), `struct Ring`.
#[cfg(feature = "cuda")]
pub(crate) fn text_of_ring<W: Float>(ring: &str) -> String {
    let exact = ring.replacen("struct Ring {", "struct Exact {", 1);
    let w = W::CUDA;
    let (zero, cancelled) = (W::ZERO.literal(), if size_of::<W>() == 4 { "(1e-3f)" } else { "(1e-6)" });
    let at = "unsigned long long i, unsigned long long k, unsigned long long j";
    let function = |name: &str, arguments: &[&str], out: &str, body: &str| {
        let arguments: Vec<String> = arguments.iter().map(|a| format!("{w} {a}")).collect();
        format!("  static __device__ {out} {name}({}) {{ return {body}; }}\n", arguments.join(", "))
    };
    let row = ["first", "second", "nnz", "ncols"];
    let entry = ["x", "first", "second", "nnz", "ncols"];
    let mut functions = String::new();
    for (side, alone) in
        [("x", format!("Exact::mul(x, {zero}, 0, 0, 0)")), ("y", format!("Exact::mul({zero}, x, 0, 0, 0)"))]
    {
        functions += &function(&format!("first_{side}"), &["x"], w, &alone);
        functions += &function(&format!("entry_{side}"), &entry, w, "x");
        functions += &function(&format!("norm_{side}_0"), &row, w, "first");
        functions += &function(&format!("norm_{side}_1"), &row, w, &zero);
    }
    let near = format!("sr::lt(sr::abs(key), sr::mul({cancelled}, sr::add(sr::abs(x0), sr::abs(y0))))");
    for (name, arguments, out, body) in [
        ("second", &["x", "first", "nnz", "ncols"][..], w, &*zero),
        ("key", &["x0", "x1", "y0", "y1", "sum", "shared"], w, "sr::add(sr::add(x0, y0), sum)"),
        ("near", &["key", "x0", "x1", "y0", "y1"], "bool", &near),
        ("exact_key", &["x0", "x1", "y0", "y1", "sum"], w, "sum"),
        ("finish", &["key"], w, "key"),
    ] {
        functions += &function(name, arguments, out, body);
    }
    format!(
        "{exact}struct Ring {{\n  using A = {w};\n  using B = {w};\n  using Out = {w};\n  \
         static constexpr bool reads_a = true, reads_b = true, reads_place = false;\n  \
         static __device__ Out zero() {{ return {zero}; }}\n  \
         static __device__ {w} add({w} a, {w} b) {{ return sr::add(a, b); }}\n  \
         static __device__ {w} mul({w} a, {w} b, {at}) {{\n    \
         return sr::sub(Exact::mul(a, b, i, k, j), sr::add(Exact::mul(a, {zero}, i, k, j), Exact::mul({zero}, b, i, k, j)));\n  \
         }}\n}};\nstruct Recipe {{\n  using W = {w};\n  \
         static constexpr bool counts = false, symmetric = false, zero_self = false, refines = true;\n{functions}}};\n"
    )
}
