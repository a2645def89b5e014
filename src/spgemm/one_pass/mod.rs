//! One-pass (fused) SpGEMM, for a product used once: columns and values together. Rows are computed under a
//! [mask](masked), as [single products](one_product), as [short rows](short_rows) sorted in registers, or by a [sparse
//! accumulator](by_accumulator).

mod accumulated_row;
mod by_accumulator;
mod masked;
mod one_product;
mod short_rows;
mod sort;

use std::sync::Arc;

use super::Compress;
use super::choice::{self, OnePass};
use super::columns;
use super::plan::{self, Phase, Plan, PresymbolicFacts, Request};
use super::product::Lengths;
use super::product_finder::ProductFinder;
use super::shifted_rows;
use super::small;
use super::tasks::{self, Work};
use crate::algebra::{Array, Lhs, Out, Rhs, Semiring, Word};
use crate::kernels::{self, CompiledRing, Multiply, Numeric, OneByOne, Operand, Products, precompiled};
use crate::par::{Threads, note};
use crate::simd::Sixteen;
use crate::{Csr, Index, Pattern, Result};

/// C = A ⊕.⊗ B, or C⟨M⟩, for one use: the result of [`symbolic`](super::symbolic) and [`numeric`](super::numeric).
///
/// One pass is faster in five cases: under a mask that is not complemented; where each entry of C is one product, as
/// with a diagonal or permutation matrix; where nearly all rows have at most sixteen products (on CPUs with AVX-512);
/// where rows are short and their columns repeat; and where [rows may be unsorted](super::Options::unsorted). Unsorted
/// rows have the order of their first products.
///
/// Shapes, errors and values are those of the two phases. Cost under such a mask: O(flops + nnz(M)) time and O(nnz(C))
/// memory; per thread four bytes for each column of B, a byte for each entry of the mask's longest row, and a column
/// and a value for each entry of the mask in the rows of a task. Cost for short or unsorted rows: O(flops) time and
/// O(nnz(C)) memory; per thread four bytes for each column of B (with short rows, only if there is a longer one), and a
/// column and a value for each entry of C in the rows of a task. Progress is reported as one operation, "mxm".
///
/// The two phases are used with a budget, with forced compression or a forced accumulator, where B has many more
/// columns than there is work, and for a mask with unsorted rows.
/// # Errors
/// Those of the two phases.
pub(crate) fn mxm<R: Semiring, I: Index>(
    threads: &Threads,
    request: &Request<'_, I>,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    b: &Csr<Rhs<R>, I>,
) -> Result<Csr<Out<R>, I>> {
    let (made, values) = kernels::numeric(&Products::new(ring, a, b), &SingleUse { threads, request })?;
    note(|| format!("  {}", made.explain()));
    Csr::with_pattern(made.c, values)
}

/// [`mxm`] over a semiring known at run time: C's pattern, the algorithm used, and the values.
/// # Errors
/// Those of [`mxm`]; [`Error::Argument`](crate::Error::Argument) if ⊗ takes other types,
/// [`Error::Unsupported`](crate::Error::Unsupported) for structs.
pub(crate) fn mxm_any(
    threads: &Threads,
    request: &Request<'_, u32>,
    ring: &CompiledRing,
    a: Operand<'_>,
    b: Operand<'_>,
) -> Result<(MxmInfo, Array)> {
    if let Some(made) = small::product(threads, request, ring, a, b) {
        let (c, values, flops) = made?;
        let made = MxmInfo { c: Arc::new(c), flops, strategy: Strategy::OnePass(OnePass::Small) };
        note(|| format!("  {}", made.explain()));
        return Ok((made, values));
    }
    let (made, values) = kernels::numeric_by_formula(ring, a, b, &SingleUse { threads, request })?;
    note(|| format!("  {}", made.explain()));
    Ok((made, values))
}

/// C's pattern, and the algorithm that computed C.
#[derive(Clone, Debug)]
pub(crate) struct MxmInfo<I: Index = u32> {
    pub(crate) c: Arc<Pattern<I>>,
    /// Multiplications.
    pub(crate) flops: u64,
    strategy: Strategy<I>,
}

impl<I: Index> MxmInfo<I> {
    /// The algorithm chosen, and why.
    pub(crate) fn explain(&self) -> String {
        match &self.strategy {
            Strategy::OnePass(pass) => pass.to_string(),
            Strategy::Planned(plan) => plan.explain(),
        }
    }
}

/// The algorithm of a product.
#[derive(Clone, Debug)]
enum Strategy<I: Index> {
    OnePass(OnePass),
    /// In two phases.
    Planned(Plan<I>),
}

/// Table entries per unit of work (multiplications and mask entries) above which filling the table takes longer than
/// the product itself.
const WIDE: u64 = 16;

/// A product for one use.
struct SingleUse<'a, I: Index> {
    threads: &'a Threads,
    request: &'a Request<'a, I>,
}

impl<I: Index> SingleUse<'_, I> {
    /// Whether one pass can serve the request.
    fn is_for_one_pass(&self) -> bool {
        let Request { mask, options, .. } = self.request;
        match mask {
            Some((mask, complement)) => !complement && mask.is_sorted(),
            None => options.compress != Compress::On && !self.request.is_kk(),
        }
    }
    /// The method for an unmasked product, if one pass suits it. Analysis results that the two phases can reuse go to
    /// `facts`.
    fn plain(
        &self,
        (a, b): (&Pattern<I>, &Pattern<I>),
        work: &Work,
        facts: &mut PresymbolicFacts<I>,
    ) -> Result<Option<RowMethod<'_, I>>> {
        let mean = work.mean_row_flops(a.nrows());
        let register =
            Sixteen::of::<I>(b.ncols()).filter(|_| choice::sorts_in_register(mean, || columns::short_rows(a, b)));
        let in_order = !self.request.options.unsorted;
        let numbered = accumulated_row::has_numbers(b, work.max_row_flops);
        if !numbered || register.is_none() && !choice::short_rows(mean, in_order) {
            return Ok(None);
        }
        let repeats = shifted_rows::repeats(a, b);
        facts.repeats = Some(repeats);
        Ok(match register {
            _ if repeats.is_some() => None,
            Some(by) => Some(RowMethod::ShortRows(by)),
            None => choice::compresses_little(columns::products_a_column(a, b, work.flops)?, in_order)
                .then_some(RowMethod::Accumulator { in_order }),
        })
    }
}

/// How the one pass computes rows.
enum RowMethod<'a, I: Index> {
    Masked(&'a Pattern<I>),
    ShortRows(Sixteen),
    Accumulator { in_order: bool },
}

impl<I: Index> RowMethod<'_, I> {
    fn pass(&self) -> OnePass {
        match self {
            Self::Masked(_) => OnePass::Masked,
            Self::ShortRows(_) => OnePass::ShortRows,
            &Self::Accumulator { in_order } => OnePass::Accumulator { in_order },
        }
    }
}

/// A driver of [`made`].
type Make<W, I> = fn(&SingleUse<'_, I>, &dyn Multiply<W, I>) -> Result<(MxmInfo<I>, Vec<W>)>;

impl<I: Index> Numeric<I> for SingleUse<'_, I> {
    type Structure = MxmInfo<I>;

    fn make<W: Word>(&self, products: &dyn Multiply<W, I>) -> Result<(MxmInfo<I>, Vec<W>)> {
        let make: Make<W, I> = precompiled!(word made: Make<W, I>);
        make(self, products)
    }
}

/// C for one use.
fn made<W: Word, I: Index>(single: &SingleUse<'_, I>, products: &dyn Multiply<W, I>) -> Result<(MxmInfo<I>, Vec<W>)> {
    let SingleUse { threads, request } = *single;
    let (a, b) = products.patterns();
    request.check(a, b)?;
    let mut facts = PresymbolicFacts::default();
    let one_by_one = products.one_by_one().filter(|_| request.budget.is_none() && ProductFinder::suits((a, b)));
    if let Some(products) = one_by_one.filter(|_| single.is_for_one_pass()) {
        let in_order = !request.options.unsorted;
        let by = if request.mask.is_none() { one_product::suits(a, b, in_order) } else { None };
        if let Some(by) = by {
            let (c, values) = one_product::product(threads, products, by)?;
            let flops = values.len() as u64;
            return Ok((MxmInfo { c, flops, strategy: Strategy::OnePass(OnePass::OneProduct) }, values));
        }
        let work = tasks::cut(threads, a, b)?;
        let mask = request.mask.map(|(mask, _)| mask);
        let wide = b.ncols() as u64 / WIDE > work.flops.saturating_add(mask.map_or(0, |mask| mask.nnz() as u64));
        let slow = Sixteen::of::<I>(b.ncols()).is_none() && choice::needs_register(work.mean_row_flops(a.nrows()));
        let method = match mask {
            _ if wide || slow && (mask.is_some() || !request.options.unsorted) => None,
            Some(mask) => Some(RowMethod::Masked(mask)),
            None => single.plain((a, b), &work, &mut facts)?,
        };
        if let Some(method) = method {
            let pass = method.pass();
            let (c, values) = product(threads, products, method, &work)?;
            return Ok((MxmInfo { c: Arc::new(c), flops: work.flops, strategy: Strategy::OnePass(pass) }, values));
        }
        facts.work = Some(work);
    }
    let plan = plan::from_facts(threads, a, b, request, facts)?;
    let (c, values) = Numeric::make(&Phase { threads, budget: request.budget, plan: &plan }, products)?;
    Ok((MxmInfo { c, flops: plan.flops(), strategy: Strategy::Planned(plan) }, values))
}

/// C's structure and values.
fn product<W: Word, I: Index>(
    threads: &Threads,
    products: &dyn OneByOne<W, I>,
    method: RowMethod<'_, I>,
    work: &Work,
) -> Result<(Pattern<I>, Vec<W>)> {
    let (a, b) = products.patterns();
    let mut lens = Lengths::new(a.nrows(), work)?;
    let (cols, values, sorted) = {
        let lens = lens.of_tasks(work)?;
        let in_order = |(cols, values)| (cols, values, true);
        match method {
            RowMethod::Masked(mask) => in_order(masked::rows(threads, products, mask, work, &lens)?),
            RowMethod::ShortRows(by) => in_order(short_rows::rows(threads, products, by, work, &lens)?),
            RowMethod::Accumulator { in_order } => by_accumulator::rows(threads, products, work, &lens, in_order)?,
        }
    };
    let (row_ptr, _) = lens.into_row_ptr(threads, work)?;
    Ok((Pattern::from_parts(a.nrows(), b.ncols(), row_ptr, cols, sorted), values))
}
