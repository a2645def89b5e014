//! The plan of a product: everything that follows from the patterns alone.

use std::sync::{Arc, OnceLock};

use super::budget::{Budget, bytes_of};
use super::choice::{self, Choice};
use super::columns;
use super::product::{self, Fill};
use super::product_finder::ProductFinder;
use super::scratch_cache::ScratchCache;
use super::shifted_operand::ShiftedOperandRows;
use super::shifted_rows::{self, Operands};
use super::tasks::{self, Work};
use super::values::Lookup;
use super::{Accumulator, Compress, Options, Policy, kk, masked};
use crate::algebra::{Array, Lhs, Out, Rhs, Semiring, SliceMut, Word};
use crate::kernels::{self, CompiledRing, Multiply, Products, precompiled};
use crate::par::{Threads, collected};
use crate::sparse::{BitCounts, BitRows};
use crate::{Csr, Error, Index, Pattern, Result};

/// Statistics of a product, from the patterns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Multiplications, fm.
    pub flops: u64,
    /// Most multiplications of any row, maxrf.
    pub max_row_flops: u64,
    /// Longest row of C, maxrs.
    pub max_row_nnz: usize,
    /// Entries of C.
    pub nnz: usize,
    /// Multiplications left after compression (32 columns to a word) over those before, CF; if counted.
    pub cf: Option<f64>,
    /// Largest row bound after compression over that before, CMRF; if counted.
    pub cmrf: Option<f64>,
}

/// The structure of C = A·B, for any values and any semiring.
///
/// Computed once from the patterns, it serves any number of numeric phases. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Plan<I: Index = u32> {
    a: Arc<Pattern<I>>,
    b: Arc<Pattern<I>>,
    form: Form<I>,
    stats: Stats,
}

/// What the symbolic phase of a policy stores.
#[derive(Clone, Debug)]
enum Form<I: Index> {
    /// Our own policy: C's whole pattern.
    Pattern { c: Arc<Pattern<I>>, work: Arc<Work>, choice: Arc<Choice>, scratch: Arc<ScratchCache> },
    /// kkSpGEMM's policy: C's row pointers. The first numeric phase finds the columns; later ones reuse them.
    Rows { found: Arc<kk::Symbolic>, c: Arc<OnceLock<Arc<Pattern<I>>>> },
}

impl<I: Index> Plan<I> {
    /// Statistics of the product.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    /// Multiplications.
    pub fn flops(&self) -> u64 {
        self.stats.flops
    }
    /// Entries of C.
    pub fn nnz(&self) -> usize {
        self.stats.nnz
    }
    /// Rows and columns of C.
    pub fn shape(&self) -> (usize, usize) {
        (self.a.nrows(), self.b.ncols())
    }
    /// C's pattern; `None` under kkSpGEMM's policy until a numeric phase has found its columns.
    pub fn pattern(&self) -> Option<&Arc<Pattern<I>>> {
        match &self.form {
            Form::Pattern { c, .. } => Some(c),
            Form::Rows { c, .. } => c.get(),
        }
    }
    /// The algorithm chosen, and why.
    pub fn explain(&self) -> String {
        match &self.form {
            Form::Pattern { choice, .. } => choice.to_string(),
            Form::Rows { found, .. } => found.reasons.clone(),
        }
    }

    /// Bytes that the plan holds besides C's structure.
    fn tasks_bytes(&self) -> u128 {
        match &self.form {
            Form::Pattern { work, .. } => work.bytes(),
            Form::Rows { found, .. } => found.bytes(),
        }
    }
    fn check_operands<W: Word>(&self, products: &dyn Multiply<W, I>) -> Result<()> {
        let (a, b) = products.patterns();
        self.check("A", &self.a, a)?;
        self.check("B", &self.b, b)
    }
    /// Refuses a result that this plan has not produced, or cannot have produced yet.
    pub(crate) fn check_result(&self, c: &Arc<Pattern<I>>) -> Result<()> {
        match self.pattern() {
            Some(planned) => self.check("C", planned, c),
            None => Err(Error::PatternChanged { operand: "C", found: c.nnz(), planned: self.nnz() }),
        }
    }
    /// Refuses operands that this plan was not made for.
    fn check(&self, operand: &'static str, planned: &Arc<Pattern<I>>, found: &Arc<Pattern<I>>) -> Result<()> {
        if Arc::ptr_eq(planned, found) || planned == found {
            return Ok(());
        }
        Err(Error::PatternChanged { operand, found: found.nnz(), planned: planned.nnz() })
    }
}

/// The parameters of a plan besides its operands.
#[derive(Debug)]
pub(crate) struct Request<'a, I: Index> {
    /// Choice of algorithm.
    pub(crate) options: &'a Options,
    /// Byte limit for C's structure together with the scratch of the symbolic phase.
    pub(crate) budget: Option<u64>,
    /// The mask, and whether it is complemented.
    pub(crate) mask: Option<(&'a Pattern<I>, bool)>,
}

/// Symbolic phase: the structure of C = A·B, or of its masked part.
///
/// Shapes: `a` m×k, `b` k×n, mask m×n. Cost: at most O(flops) time, less where B compresses; O(nnz(C)) memory, and per
/// thread at most a bit and an index for each column of B. If the flop count is so large that C might not fit, its
/// entries are counted first, which takes up to twice the time.
/// # Errors
/// [`Error::Shape`]; [`Error::Argument`] for options that do not apply to a masked product; [`Error::Budget`] with the
/// number of bytes needed; [`Error::OutOfMemory`]; [`Error::Cancelled`].
pub(crate) fn symbolic<I: Index>(
    threads: &Threads,
    a: &Arc<Pattern<I>>,
    b: &Arc<Pattern<I>>,
    request: &Request<'_, I>,
) -> Result<Plan<I>> {
    let make: Symbolic<I> = precompiled!(index planned: Symbolic<I>);
    make(threads, a, b, request)
}
type Symbolic<I> = fn(&Threads, &Arc<Pattern<I>>, &Arc<Pattern<I>>, &Request<'_, I>) -> Result<Plan<I>>;

fn planned<I: Index>(
    threads: &Threads,
    a: &Arc<Pattern<I>>,
    b: &Arc<Pattern<I>>,
    request: &Request<'_, I>,
) -> Result<Plan<I>> {
    request.check(a, b)?;
    from_facts(threads, a, b, request, PresymbolicFacts::default())
}

/// What is already known of a product when its plan is made.
#[derive(Default)]
pub(super) struct PresymbolicFacts<I: Index> {
    pub work: Option<Work>,
    /// The result of [`shifted_rows::repeats`], for an unmasked product with automatic compression.
    pub repeats: Option<Option<I>>,
}

/// [`symbolic`] after its checks.
pub(super) fn from_facts<I: Index>(
    threads: &Threads,
    a: &Arc<Pattern<I>>,
    b: &Arc<Pattern<I>>,
    request: &Request<'_, I>,
    facts: PresymbolicFacts<I>,
) -> Result<Plan<I>> {
    let (form, stats) =
        if request.is_kk() { rows(threads, a, b, request)? } else { pattern(threads, a, b, request, facts)? };
    Ok(Plan { a: Arc::clone(a), b: Arc::clone(b), form, stats })
}

/// The statistics of C = A·B, its size included, without its columns: equal to those of [`symbolic`]'s plan.
///
/// Cost: at most O(flops) time, less where B compresses or rows repeat. Memory: a length per row of A, and per thread
/// at most four bytes for each column of B (a bit and an index where B has more than 2²⁴ columns). Under a mask the
/// entries are found and then freed.
/// # Errors
/// Those of [`symbolic`].
pub(crate) fn count<I: Index>(
    threads: &Threads,
    a: &Arc<Pattern<I>>,
    b: &Arc<Pattern<I>>,
    request: &Request<'_, I>,
) -> Result<Stats> {
    if request.is_kk() || request.mask.is_some() {
        return Ok(symbolic(threads, a, b, request)?.stats);
    }
    request.check(a, b)?;
    let mut budget = Budget::new(request.budget);
    let work = tasks::cut(threads, a, b)?;
    budget.take("the tasks of a product", work.bytes())?;
    let analysis = analyze(threads, (a, b), &work, request, None, &mut budget)?;
    let (nnz, max_row_nnz) = product::size(threads, analysis.operands(a, b), &work, &mut budget)?;
    let Work { flops, max_row_flops, .. } = work;
    Ok(Stats { flops, max_row_flops, max_row_nnz, nnz, cf: None, cmrf: None })
}

impl<I: Index> Request<'_, I> {
    /// Refuses operands and options that do not go together.
    pub(super) fn check(&self, a: &Pattern<I>, b: &Pattern<I>) -> Result<()> {
        if a.ncols() != b.nrows() {
            return Err(Error::Shape { op: "mxm", lhs: a.shape(), rhs: b.shape() });
        }
        let Some((mask, complement)) = self.mask else { return Ok(()) };
        if mask.shape() != (a.nrows(), b.ncols()) {
            return Err(Error::Shape { op: "mxm mask", lhs: mask.shape(), rhs: (a.nrows(), b.ncols()) });
        }
        self.options.check_masked(complement)
    }
    /// Whether kkSpGEMM's symbolic phase is requested: by its policy or by a forced accumulator.
    pub(super) fn is_kk(&self) -> bool {
        let Self { options, mask, .. } = self;
        mask.is_none() && (options.policy == Policy::KkSpGemm || options.accumulator != Accumulator::Auto)
    }
}

/// The symbolic phase of kkSpGEMM, for its policy and for forced accumulators.
fn rows<I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    b: &Pattern<I>,
    request: &Request<'_, I>,
) -> Result<(Form<I>, Stats)> {
    let mut budget = Budget::new(request.budget);
    let found = kk::symbolic(threads, a, b, request.options, &mut budget)?;
    let stats = Stats {
        flops: found.flops,
        max_row_flops: found.max_row_flops,
        max_row_nnz: found.max_row_nnz,
        nnz: found.nnz(),
        cf: found.cf,
        cmrf: found.cmrf,
    };
    Ok((Form::Rows { found: Arc::new(found), c: Arc::default() }, stats))
}

/// Our own symbolic phase, masked or not.
fn pattern<I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    b: &Pattern<I>,
    request: &Request<'_, I>,
    facts: PresymbolicFacts<I>,
) -> Result<(Form<I>, Stats)> {
    let mut budget = Budget::new(request.budget);
    let work = facts.work.map_or_else(|| tasks::cut(threads, a, b), Ok)?;
    budget.take("the tasks of a product", work.bytes())?;
    let analysis = analyze(threads, (a, b), &work, request, facts.repeats, &mut budget)?;
    let of = analysis.operands(a, b);
    let (c, max_row_nnz) = match request.mask {
        None => product::structure(threads, of, &work, &mut budget)?,
        Some((mask, complement)) if mask.is_sorted() => {
            masked::structure(threads, of, mask, complement, &work, &mut budget)?
        }
        Some((mask, complement)) => {
            // Two copies of the entries: the original and the sorted.
            budget.take("the mask in order", 2 * bytes_of::<I>(mask.nnz()) + bytes_of::<usize>(mask.nrows() + 1))?;
            masked::structure(threads, of, &mask.sorted(threads)?, complement, &work, &mut budget)?
        }
    };
    let Work { flops, max_row_flops, .. } = work;
    let stats = Stats { flops, max_row_flops, max_row_nnz, nnz: c.nnz(), cf: None, cmrf: None };
    let (c, work, choice) = (Arc::new(c), Arc::new(work), Arc::new(analysis.choice));
    Ok((Form::Pattern { c, work, choice, scratch: Arc::default() }, stats))
}

/// The analysis of B before the symbolic phase, and the choices that follow from it.
struct Analysis<I: Index> {
    /// B with 64 columns to a word, where that saves work.
    packed: Option<BitRows<u64, I>>,
    /// The shifts of B's rows, where nearly all rows are shifted.
    shifted_b: Option<ShiftedOperandRows<I>>,
    choice: Choice,
}

impl<I: Index> Analysis<I> {
    fn operands<'a>(&'a self, a: &'a Pattern<I>, b: &'a Pattern<I>) -> Operands<'a, I> {
        Operands { a, b, packed: self.packed.as_ref(), shifted_b: self.shifted_b.as_ref() }
    }
}

fn analyze<I: Index>(
    threads: &Threads,
    (a, b): (&Pattern<I>, &Pattern<I>),
    work: &Work,
    request: &Request<'_, I>,
    repeats: Option<Option<I>>,
    budget: &mut Budget,
) -> Result<Analysis<I>> {
    const WHAT: &str = "B with 64 columns to a word";
    let mean = work.mean_row_flops(a.nrows());
    let useful = request.mask.is_none_or(|(_, complement)| complement);
    let forced = request.options.compress == Compress::On;
    let sampled = request.mask.is_none() && request.options.compress == Compress::Auto;
    let step = if sampled { repeats.unwrap_or_else(|| shifted_rows::repeats(a, b)) } else { None };
    let choice = Choice {
        mean_row_flops: mean,
        cf: None,
        packed: false,
        repeats: step.is_some(),
        masked: request.mask.is_some(),
        complement: request.mask.is_some_and(|(_, complement)| complement),
        unsorted: request.options.unsorted,
    };
    if let Some(step) = step {
        let worth = ShiftedOperandRows::is_worth(b, step, work.flops) && budget.fits(ShiftedOperandRows::bytes(b));
        if worth {
            budget.take("shifted rows of B", ShiftedOperandRows::bytes(b))?;
        }
        let shifted_b = if worth { Some(ShiftedOperandRows::find(threads, b, step)?) } else { None };
        return Ok(Analysis { packed: None, shifted_b, choice });
    }
    let counted = || BitRows::<u64, I>::count_bytes(threads, b);
    let full = !forced && columns::are_full(a.nrows(), b.ncols(), work.flops);
    let worth = !full && choice::worth_counting(request.options.compress, mean, work.flops, b.nnz());
    if !useful || !worth || !forced && !budget.fits(counted()) {
        return Ok(Analysis { packed: None, shifted_b: None, choice });
    }
    budget.take(WHAT, counted())?;
    let counts = BitRows::<u64, I>::count(threads, b)?;
    let cf = compressed_flops(threads, a, &counts)? as f64 / work.flops.max(1) as f64;
    let packed = forced || choice::compression_pays(cf) && budget.fits(counts.fill_bytes());
    if packed {
        budget.take(WHAT, counts.fill_bytes())?;
    }
    let choice = Choice { cf: Some(cf), packed, ..choice };
    Ok(Analysis { packed: if packed { Some(counts.fill(threads)?) } else { None }, shifted_b: None, choice })
}

/// Words that the symbolic phase reads if B is compressed.
fn compressed_flops<I: Index>(threads: &Threads, a: &Pattern<I>, counts: &BitCounts<'_, u64, I>) -> Result<u64> {
    let (ptr, total) = (counts.row_ptr(), std::sync::atomic::AtomicU64::new(0));
    let chunk = 1 << 16;
    threads.for_each(
        a.nnz().div_ceil(chunk),
        || Ok(()),
        |(), c| {
            let ks = &a.col_idx()[c * chunk..((c + 1) * chunk).min(a.nnz())];
            let words = ks.iter().map(|k| (ptr[k.get() + 1] - ptr[k.get()]) as u64).sum();
            total.fetch_add(words, std::sync::atomic::Ordering::Relaxed);
            Ok(())
        },
    )?;
    Ok(total.into_inner())
}

/// Bytes of row pointers and column indices.
fn structure_bytes<I: Index>(nrows: usize, nnz: usize) -> u128 {
    bytes_of::<usize>(nrows) + bytes_of::<usize>(1) + bytes_of::<I>(nnz)
}

/// Numeric phase: the values of C = A ⊕.⊗ B over `ring`. C shares its pattern with the plan.
///
/// Cost: O(flops) time; nnz(C) values and, per thread, scratch of at most 4 bytes a column. The result is bitwise the
/// same for any number of threads.
/// # Errors
/// [`Error::PatternChanged`]; [`Error::Budget`], [`Error::OutOfMemory`] before C is allocated; [`Error::Cancelled`].
pub(crate) fn numeric<R: Semiring, I: Index>(
    threads: &Threads,
    budget: Option<u64>,
    plan: &Plan<I>,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    b: &Csr<Rhs<R>, I>,
) -> Result<Csr<Out<R>, I>> {
    let (c, values) = kernels::numeric(&Products::new(ring, a, b), &Phase { threads, budget, plan })?;
    Csr::with_pattern(c, values)
}

/// Numeric phase into a matrix that this plan produced: allocates nothing of C's size; `budget` is for the scratch.
///
/// The plan caches each thread's scratch (see [`numeric`]) for its later numeric phases. A phase then allocates only a
/// list of tasks and the jobs of the thread pool. The accumulators of kkSpGEMM are not cached.
/// # Errors
/// [`Error::PatternChanged`], [`Error::Budget`], leaving `c` unchanged; [`Error::Cancelled`], leaving it partly
/// computed.
pub(crate) fn numeric_into<R: Semiring, I: Index>(
    threads: &Threads,
    budget: Option<u64>,
    plan: &Plan<I>,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    b: &Csr<Rhs<R>, I>,
    c: &mut Csr<Out<R>, I>,
) -> Result<()> {
    let phase = Phase { threads, budget, plan };
    let products = Products::new(ring, a, b);
    plan.check_operands(&products)?;
    plan.check_result(c.pattern())?;
    kernels::numeric_into(&products, &phase, c.values_mut())
}

/// [`numeric`] over a semiring known at run time: C's pattern and values.
pub(crate) fn numeric_any(
    threads: &Threads,
    budget: Option<u64>,
    plan: &Plan,
    ring: &CompiledRing,
    a: kernels::Operand<'_>,
    b: kernels::Operand<'_>,
) -> Result<(Arc<Pattern>, Array)> {
    kernels::numeric_by_formula(ring, a, b, &Phase { threads, budget, plan })
}

/// [`numeric_into`] over a semiring known at run time: the values of `c`.
pub(crate) fn numeric_any_into(
    threads: &Threads,
    budget: Option<u64>,
    plan: &Plan,
    ring: &CompiledRing,
    (a, b): (kernels::Operand<'_>, kernels::Operand<'_>),
    c: &Arc<Pattern>,
    values: &mut SliceMut<'_>,
) -> Result<()> {
    plan.check("A", &plan.a, a.pattern)?;
    plan.check("B", &plan.b, b.pattern)?;
    plan.check_result(c)?;
    kernels::numeric_into_by_formula(ring, a, b, &Phase { threads, budget, plan }, values)
}

/// A numeric phase, compiled once for each size of value.
pub(super) struct Phase<'a, I: Index> {
    pub threads: &'a Threads,
    pub budget: Option<u64>,
    pub plan: &'a Plan<I>,
}

/// Functions that compute the values of a plan into new memory, and in place.
type Make<W, I> = fn(&Phase<'_, I>, &dyn Multiply<W, I>) -> Result<(Arc<Pattern<I>>, Vec<W>)>;
type Refill<W, I> = fn(&Phase<'_, I>, &dyn Multiply<W, I>, &mut [W]) -> Result<()>;

impl<I: Index> kernels::Numeric<I> for Phase<'_, I> {
    /// C's pattern.
    type Structure = Arc<Pattern<I>>;

    fn make<W: Word>(&self, products: &dyn Multiply<W, I>) -> Result<(Arc<Pattern<I>>, Vec<W>)> {
        let make: Make<W, I> = precompiled!(word made: Make<W, I>);
        make(self, products)
    }
}
impl<I: Index> kernels::NumericInto<I> for Phase<'_, I> {
    fn numeric_into<W: Word>(&self, products: &dyn Multiply<W, I>, values: &mut [W]) -> Result<()> {
        let refill: Refill<W, I> = precompiled!(word refilled: Refill<W, I>);
        refill(self, products, values)
    }
}

/// C's pattern and its new values.
fn made<W: Word, I: Index>(phase: &Phase<'_, I>, products: &dyn Multiply<W, I>) -> Result<(Arc<Pattern<I>>, Vec<W>)> {
    let Phase { threads, plan, .. } = *phase;
    let mut budget = Budget::new(phase.budget);
    let structure = structure_bytes::<I>(plan.a.nrows(), plan.nnz());
    budget.take("C", structure + bytes_of::<W>(plan.nnz()) + plan.tasks_bytes())?;
    plan.check_operands(products)?;
    match &plan.form {
        Form::Pattern { c, work, choice, scratch } => {
            let values = fill(threads, plan, products, (c, work, choice, scratch), &mut budget)?.fresh(threads)?;
            Ok((Arc::clone(c), values))
        }
        Form::Rows { found, c } => {
            budget.take("C and accumulators", kk::scratch(threads, found, products, c.get().is_none()))?;
            let c = match c.get() {
                Some(c) => c,
                None => {
                    let (a, b) = products.patterns();
                    let cols = kk::columns(threads, found, (a, b))?;
                    let row_ptr = collected(found.row_ptr.len(), found.row_ptr.iter().copied(), "row pointers of C")?;
                    let sorted = found.sorts() || row_ptr.windows(2).all(|w| cols[w[0]..w[1]].is_sorted());
                    c.get_or_init(|| Arc::new(Pattern::from_parts(a.nrows(), b.ncols(), row_ptr, cols, sorted)))
                }
            };
            Ok((Arc::clone(c), kk::numeric(threads, found, products, c)?))
        }
    }
}

/// The values of C, in place.
fn refilled<W: Word, I: Index>(phase: &Phase<'_, I>, products: &dyn Multiply<W, I>, values: &mut [W]) -> Result<()> {
    let Phase { threads, plan, .. } = *phase;
    let Some(c) = plan.pattern() else {
        return Err(Error::PatternChanged { operand: "C", found: values.len(), planned: plan.nnz() });
    };
    let mut budget = Budget::new(phase.budget);
    match &plan.form {
        Form::Pattern { work, choice, scratch, .. } => {
            fill(threads, plan, products, (c, work, choice, scratch), &mut budget)?.in_place(threads, values)
        }
        Form::Rows { found, .. } => {
            budget.take("accumulators", kk::scratch(threads, found, products, false))?;
            kk::numeric_into(threads, found, products, c, values)
        }
    }
}

/// Table entries that are filled in the time of one search in a row.
const COLUMNS_A_SEARCH: u64 = 16;

/// The evaluator of C's values. It searches rows for columns instead of using a position table where `budget` has no
/// room for the table, or where products are so few that filling it would take longer.
fn fill<'a, W: Word, I: Index>(
    threads: &Threads,
    plan: &Plan<I>,
    products: &'a dyn Multiply<W, I>,
    (c, work, choice, scratch): (&'a Pattern<I>, &'a Work, &Choice, &'a ScratchCache),
    budget: &mut Budget,
) -> Result<Fill<'a, W, I>> {
    let (tasks, longest, masked) = (&work.tasks[..], plan.stats.max_row_nnz, choice.masked);
    let by = |lookup| Fill { products, c, tasks, longest, masked, lookup, scratch };
    let (a, b) = products.patterns();
    let lists = masked && !choice.complement && products.one_by_one().is_some() && ProductFinder::suits((a, b));
    let found = by(if lists { Lookup::MaskedProducts } else { Lookup::Table });
    // Threads fill their tables in parallel.
    let too_few = work.flops / (threads.workers(work.tasks.len()) as u64) < c.ncols() as u64 / COLUMNS_A_SEARCH;
    let found = if !too_few && budget.fits(found.scratch(threads)) { found } else { by(Lookup::Search) };
    budget.take("C, with the positions of its columns", found.scratch(threads))?;
    Ok(found)
}
