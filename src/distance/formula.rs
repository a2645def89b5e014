//! A distance by a formula that is only known at run time: Σ x ⊗ y over the union, with ⊗ evaluated in blocks by a
//! function value.
//!
//! The engine is that of every other distance whose ⊕ is +, so a common column adds a ⊗ b − (a ⊗ 0 + 0 ⊗ b). The
//! one-sided terms a ⊗ 0 and 0 ⊗ b are computed once: those of X when its rows are prepared, those of Y when a tile is
//! opened.

use std::fmt;
use std::sync::Arc;

use super::compiled::Strategy;
use super::dense::{Dense, QueryRows};
use super::domain::Domain;
use super::float::Float;
use super::loops::{Facts, Loops, NormsOf, Of, for_union};
use super::measure::Measure;
use super::options::{Options, Precision};
use super::recipe::{DisjointOrder, Side};
use super::recipes::OnePass;
use super::tile::{Indexed, Query};
use crate::algebra::{self as graph, Input, Slice, SliceMut, Times, Type};
use crate::kernels::Evaluator;
use crate::simd::{dispatch, scatter_positions};
use crate::{Error, Result};

/// Most numbers per call of ⊗.
const BLOCK: usize = 128;

/// ⊗ as a function value that computes many results per call, to amortize the call.
///
/// A closure of two numbers implements it, and so does an evaluator of formulas in blocks. 0 ⊗ 0 must be 0.
pub trait Terms<W>: Send + Sync {
    /// `out[n] = a ⊗ b[n]`; `b` and `out` are of one length, at most `BLOCK`.
    fn terms(&self, a: W, b: &[W], out: &mut [W]);
    /// `out[n] = a[n] ⊗ b[n]`; all of one length, at most `BLOCK`.
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

/// Σ x ⊗ y over the union of the columns of two rows, ⊗ given by a closure. It must give 0 for two zeros.
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
    /// The name is the text that was parsed, and the domain is the default.
    parsed: bool,
    /// x ⊗ y = y ⊗ x.
    symmetric: bool,
    double: Arc<dyn Terms<f64>>,
    single: Option<Arc<dyn Terms<f32>>>,
    /// CUDA text of `struct Ring` in f32 and in f64.
    #[cfg(feature = "cuda")]
    text: Option<[String; 2]>,
}

impl Formula {
    /// The formula of that name. Whatever the requested precision, it is computed in f64, unless
    /// [`single`](Self::single) is given too.
    #[must_use]
    pub fn new(name: impl Into<String>, terms: impl Terms<f64> + 'static) -> Self {
        Self {
            name: name.into(),
            domain: Domain::Reals,
            parsed: false,
            symmetric: false,
            double: Arc::new(terms),
            single: None,
            #[cfg(feature = "cuda")]
            text: None,
        }
    }
    /// The formula that the text spells: ⊗ of `a` and `b`, real numbers, as parsed by
    /// [`algebra::Formula`](graph::Formula::parse).
    ///
    /// It is evaluated in blocks of values, and printed as CUDA for a GPU. Arithmetic is f32 if requested, unless the
    /// text names f64. Where a ⊗ b = b ⊗ a is recognized, as for `abs(a-b)`, a matrix compared with itself computes
    /// each pair once.
    ///
    /// ```
    /// use sparring::{Cpu, Csr, distance::Formula};
    /// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 3], vec![0, 0, 1], vec![1.0, 2.0, 9.0])?;
    /// let near = Cpu::new().neighbours(Formula::parse("abs(a-b) / (a+b+1)")?, &x).k(2).eval()?;
    /// assert_eq!((near.row(0).0, near.row(0).1), (&[0, 1][..], &[0.0, 0.25][..]));
    /// let error = Formula::parse("abs(a-c)").unwrap_err().to_string();
    /// assert_eq!(error, "formula: there is no parameter c; there are a, b\n  abs(a-c)\n        ^");
    /// let error = Formula::parse("(a-b) / (a+b)").unwrap_err().to_string();
    /// assert!(error.contains("0 ⊗ 0 is NaN, not 0"), "{error}");
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Formula`], with the position in the text; [`Error::Argument`] if 0 ⊗ 0 is not 0, because columns where
    /// both rows are 0 are left out of the sum.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let double = read::<f64>(text)?;
        let terms = ByBlocks(Evaluator::new(&double)?);
        let of_zeros: f64 = terms.of_zeros();
        if of_zeros != 0.0 {
            let instead = if of_zeros.is_nan() {
                format!("; define it as 0: if a == b then 0 else {text}")
            } else {
                String::new()
            };
            let message = format!(
                "{text}: 0 ⊗ 0 is {of_zeros}, not 0, but columns where both rows are 0 are left out of the sum{instead}"
            );
            return Err(Error::Argument { name: "metric", message });
        }
        // Formulas that f32 cannot express, because they name f64 or numbers beyond f32, are computed in f64.
        let single = match read::<f32>(text) {
            Ok(single) => {
                Some((ByBlocks(Evaluator::new(&single)?), single)).filter(|(terms, _)| terms.of_zeros::<f32>() == 0.0)
            }
            Err(_) => None,
        };
        Ok(Self {
            name: text.into(),
            domain: Domain::Reals,
            parsed: true,
            symmetric: double.is_symmetric("a", "b"),
            #[cfg(feature = "cuda")]
            text: Some([single.as_ref().map_or(Ok(String::new()), |(_, f)| ring_of(f))?, ring_of(&double)?]),
            double: Arc::new(terms),
            single: single.map(|(terms, _)| Arc::new(terms) as _),
        })
    }
    /// The same formula in f32.
    #[must_use]
    pub fn single(self, terms: impl Terms<f32> + 'static) -> Self {
        Self { single: Some(Arc::new(terms)), parsed: false, ..self }
    }
    /// Its name; the text if it was parsed.
    pub(crate) fn text(&self) -> &str {
        &self.name
    }
    /// Whether a ⊗ b = b ⊗ a is known.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.symmetric
    }
    /// Restricts the entries to a domain; the default is any finite number.
    #[must_use]
    pub fn takes(self, domain: Domain) -> Self {
        Self { domain, parsed: self.parsed && domain == self.domain, ..self }
    }
    /// The GPU form: CUDA text of `struct Ring`, (+, ⊗) as in [`emit_contract`](crate::algebra::emit_contract), in f32
    /// and in f64.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub fn cuda(self, [single, double]: [String; 2]) -> Self {
        Self { text: Some([single, double]), ..self }
    }
}

/// ⊗ as spelled by the text, over numbers of type `W`.
fn read<W: Float>(text: &str) -> Result<graph::Formula> {
    graph::Formula::parse(text, &[("a", W::TYPE), ("b", W::TYPE)], Some(W::TYPE))
}

/// CUDA text of `struct Ring`: + and this ⊗.
#[cfg(feature = "cuda")]
fn ring_of(mul: &graph::Formula) -> Result<String> {
    let ring = graph::RingFormula::new(graph::MonoidFormula::named("plus", mul.ty())?, mul)?;
    let (plus, zero) = (ring.add().op().clone(), ring.add().identity().clone());
    Ok(graph::print_once(graph::Printable::Ring(plus, zero, ring.mul().clone())).text.clone())
}

/// ⊗ by a formula of `a` and `b`, interpreted.
struct ByBlocks(Evaluator);

impl ByBlocks {
    fn run<W: Float>(&self, a: Input<'_>, b: &[W], out: &mut [W]) {
        let inputs = [a, Input::Values(Slice::of(b))];
        self.0.run(&inputs, &mut SliceMut::of(out));
    }
    fn of_zeros<W: Float>(&self) -> W {
        let mut out = [W::ZERO];
        self.run(Input::Scalar(Slice::of(&[W::ZERO])), &[W::ZERO], &mut out);
        out[0]
    }
}

impl<W: Float> Terms<W> for ByBlocks {
    fn terms(&self, a: W, b: &[W], out: &mut [W]) {
        self.run(Input::Scalar(Slice::of(&[a])), b, out);
    }
    fn pairs(&self, a: &[W], b: &[W], out: &mut [W]) {
        self.run(Input::Values(Slice::of(a)), b, out);
    }
}

impl Formula {
    /// The algorithm of these terms, whose CUDA text is number `n`.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
    fn by<W: Float>(&self, terms: &Arc<dyn Terms<W>>, n: usize) -> Strategy {
        Strategy::by(Box::new(ByTerms {
            terms: Arc::clone(terms),
            symmetric: self.symmetric,
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
    fn strategy(&self, options: &Options, entries: Type) -> Result<Strategy> {
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
    fn named(&self) -> Option<(String, Option<f64>)> {
        self.parsed.then(|| (self.name.clone(), None))
    }
}

/// The inner loops of a formula.
struct ByTerms<W> {
    terms: Arc<dyn Terms<W>>,
    symmetric: bool,
    #[cfg(feature = "cuda")]
    text: Option<String>,
}

/// Keys are those of any NAMM in one pass, whatever its ⊗.
fn keys_of<W: Float>() -> Of<OnePass<Times<W>>> {
    Of(OnePass(Times::new()))
}

impl<W: Float> Loops<W> for ByTerms<W> {
    fn facts(&self) -> Facts {
        Facts {
            counts: false,
            symmetric: self.symmetric,
            zero_self: false,
            cheap: false,
            annihilates: false,
            one_sided: true,
            disjoint_order: DisjointOrder::Unknown,
            queries_all: false,
        }
    }
    fn sums(&self, side: Side, values: &[W], _: usize) -> [W; 2] {
        let mut one_sided = [[W::ZERO; BLOCK]; 2];
        let [mut sum, mut sizes] = [W::ZERO; 2];
        for values in values.chunks(BLOCK) {
            let [of_x, of_y] = one_sided.each_mut().map(|one_sided| &mut one_sided[..values.len()]);
            self.one_sided(Side::X, values, of_x);
            self.one_sided(Side::Y, values, of_y);
            let own = if side == Side::X { &of_x } else { &of_y };
            sum = own.iter().fold(sum, |sum, &t| sum.wrapping_add(t));
            let size = |(&t, &u): (&W, &W)| t.wrapping_abs().wrapping_add(u.wrapping_abs());
            sizes = of_x.iter().zip(&*of_y).map(size).fold(sizes, W::wrapping_add);
        }
        [sum, sizes]
    }
    fn entries(&self, _: Side, _: [W; 2], _: usize, _: &mut [W]) {}
    fn norms(&self, _: Side, sums: [W; 2], _: usize, _: usize) -> [W; 2] {
        sums
    }
    /// x ⊗ 0, or 0 ⊗ x.
    fn one_sided(&self, side: Side, entries: &[W], out: &mut [W]) {
        let zeros = [W::ZERO; BLOCK];
        for (entries, out) in entries.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
            match side {
                Side::X => self.terms.pairs(entries, &zeros[..entries.len()], out),
                Side::Y => self.terms.terms(W::ZERO, entries, out),
            }
        }
    }
    fn add(&self, row: Query<'_, W>, tile: &Indexed<W>, sums: &mut [W], _: &mut [W]) {
        let mut terms = [W::ZERO; BLOCK];
        let mut gathered = Gathered::new();
        for (at, ((&c, &a), &of_x)) in row.columns.iter().zip(row.entries).zip(row.one_sided).enumerate() {
            let range = tile.postings.range(c, row.before.map(|before| before + at));
            let (mut positions, mut values) = tile.postings.at(range.clone());
            let mut of_y = &tile.one_sided[range];
            while !values.is_empty() {
                let whole = gathered.len == 0 && values.len() >= BLOCK;
                let len = values.len().min(BLOCK - gathered.len);
                let (of_positions, of_values, of_one_sided) =
                    (positions.split_at(len), values.split_at(len), of_y.split_at(len));
                if whole {
                    self.terms.terms(a, of_values.0, &mut terms);
                    let one_sided = of_one_sided.0.iter().map(|&of_y| of_x.wrapping_add(of_y));
                    add_terms(&mut terms, one_sided, of_positions.0, sums);
                } else {
                    gathered.take((a, of_x), of_positions.0, of_values.0, of_one_sided.0);
                    if gathered.len == BLOCK {
                        gathered.add(&*self.terms, sums);
                    }
                }
                (positions, values, of_y) = (of_positions.1, of_values.1, of_one_sided.1);
            }
        }
        gathered.add(&*self.terms, sums);
    }
    /// A formula is not cheap.
    fn add_dense(&self, _: &QueryRows<'_, W>, _: &Dense<W>, _: bool, _: &mut [W]) {}
    fn keys(&self, x: [W; 2], y: NormsOf<'_, W>, sums: &[W], shared: &[W], keys: &mut [f64]) -> bool {
        keys_of().keys(x, y, sums, shared, keys)
    }
    fn refine(
        &self,
        x: [W; 2],
        y: NormsOf<'_, W>,
        keys: &mut [f64],
        skip: Option<usize>,
        exact: &mut dyn FnMut(usize) -> W,
    ) {
        keys_of().refine(x, y, keys, skip, exact);
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
        self.text.as_deref().map(|text| text_of_ring::<W>(text, self.symmetric).into())
    }
}

/// Pairs of an entry of a row of X and an entry of Y, collected from several columns to fill a block: a call costs as
/// much as some dozens of values.
struct Gathered<W> {
    len: usize,
    a: [W; BLOCK],
    b: [W; BLOCK],
    /// The one-sided terms of both, added.
    one_sided: [W; BLOCK],
    positions: [u16; BLOCK],
}

impl<W: Float> Gathered<W> {
    fn new() -> Self {
        Self { len: 0, a: [W::ZERO; BLOCK], b: [W::ZERO; BLOCK], one_sided: [W::ZERO; BLOCK], positions: [0; BLOCK] }
    }
    /// Takes part of a column with an entry of X and its one-sided term; there must be room.
    #[inline(always)]
    fn take(&mut self, (a, of_x): (W, W), positions: &[u16], values: &[W], of_y: &[W]) {
        let range = self.len..self.len + values.len();
        self.a[range.clone()].fill(a);
        self.b[range.clone()].copy_from_slice(values);
        self.one_sided[range.clone()].iter_mut().zip(of_y).for_each(|(to, &of_y)| *to = of_x.wrapping_add(of_y));
        self.positions[range.clone()].copy_from_slice(positions);
        self.len = range.end;
    }
    /// Adds their terms to the sums, and empties itself.
    fn add(&mut self, terms: &dyn Terms<W>, sums: &mut [W]) {
        let len = std::mem::take(&mut self.len);
        if len > 0 {
            let mut found = [W::ZERO; BLOCK];
            let found = &mut found[..len];
            terms.pairs(&self.a[..len], &self.b[..len], found);
            add_terms(found, self.one_sided[..len].iter().copied(), &self.positions[..len], sums);
        }
    }
}

/// `sums[position] += term − one_sided` for each term.
#[inline(always)]
fn add_terms<W: Float>(terms: &mut [W], one_sided: impl Iterator<Item = W>, positions: &[u16], sums: &mut [W]) {
    let mask = sums.len() - 1;
    terms.iter_mut().zip(one_sided).for_each(|(t, one_sided)| *t = t.wrapping_sub(one_sided));
    scatter_positions(sums, mask, positions, terms, |sum, t| sum.wrapping_add(t));
}

/// The text of a recipe from that of (+, ⊗), `struct Ring`.
#[cfg(feature = "cuda")]
fn text_of_ring<W: Float>(ring: &str, symmetric: bool) -> String {
    let exact = ring.replacen("struct Ring {", "struct Exact {", 1);
    let w = W::CUDA;
    let (zero, cancelled) =
        (graph::Constant::of(W::ZERO).literal(), if size_of::<W>() == 4 { "(1e-3f)" } else { "(1e-6)" });
    let at = "unsigned long long i, unsigned long long k, unsigned long long j";
    let function = |name: &str, arguments: &[&str], out: &str, body: &str| {
        let arguments: Vec<String> = arguments.iter().map(|a| format!("{w} {a}")).collect();
        format!("  static __device__ {out} {name}({}) {{ return {body}; }}\n", arguments.join(", "))
    };
    let row = ["first", "second", "nnz", "ncols"];
    let entry = ["x", "first", "second", "nnz", "ncols"];
    let mut functions = String::new();
    for (side, one_sided) in
        [("x", format!("Exact::mul(x, {zero}, 0, 0, 0)")), ("y", format!("Exact::mul({zero}, x, 0, 0, 0)"))]
    {
        functions += &function(&format!("first_{side}"), &["x"], w, &one_sided);
        functions += &function(&format!("entry_{side}"), &entry, w, "x");
        functions += &function(&format!("norm_{side}_0"), &row, w, "first");
        functions += &function(&format!("norm_{side}_1"), &row, w, "second");
    }
    let sizes = format!("sr::add(sr::abs(Exact::mul(x, {zero}, 0, 0, 0)), sr::abs(Exact::mul({zero}, x, 0, 0, 0)))");
    let near = format!("!sr::le(sr::mul({cancelled}, sr::add(x1, y1)), sr::abs(key))");
    for (name, arguments, out, body) in [
        ("second", &["x", "first", "nnz", "ncols"][..], w, &*sizes),
        ("key", &["x0", "x1", "y0", "y1", "sum", "shared"], w, "sr::add(sr::add(x0, y0), sum)"),
        ("near", &["key", "x0", "x1", "y0", "y1"], "bool", &near),
        ("exact_key", &["x0", "x1", "y0", "y1", "sum"], w, "sum"),
        ("finish", &["key"], w, "key"),
    ] {
        functions += &function(name, arguments, out, body);
    }
    // Twelve blocks at a time, not thirteen, because a formula may need many registers.
    format!(
        "#define BLOCKS 12\n{exact}struct Ring {{\n  using A = {w};\n  using B = {w};\n  using Out = {w};\n  \
         static constexpr bool reads_a = true, reads_b = true, reads_place = false;\n  \
         static __device__ Out zero() {{ return {zero}; }}\n  \
         static __device__ {w} add({w} a, {w} b) {{ return sr::add(a, b); }}\n  \
         static __device__ {w} mul({w} a, {w} b, {at}) {{\n    \
         return sr::sub(Exact::mul(a, b, i, k, j), sr::add(Exact::mul(a, {zero}, i, k, j), Exact::mul({zero}, b, i, k, j)));\n  \
         }}\n}};\nstruct Recipe {{\n  using W = {w};\n  \
         static constexpr bool counts = false, symmetric = {symmetric}, zero_self = false, refines = true;\n{functions}}};\n"
    )
}
