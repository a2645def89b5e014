//! Contractions of arrays and semirings whose types are known at run time.

use super::einsum::{BATCH, Einsum};
use super::layout::Layout;
use super::pairs::{order_of, shapes};
use super::path::members;
use super::plan::Plan;
use super::run::run_large;
use super::tables::Shape;
use super::update::Update;
use super::view::{View, Viewed, fits};
use crate::algebra::{Arithmetic, Array, PlusTimes, Slice, Value};
use crate::kernels::{CompiledRing, Loop, Nest, contract_by_formula};
use crate::par::{Threads, collected, filled, note};
use crate::{Error, Result};

/// An array of values of any type, read through a [`Layout`]; cloning copies no data.
/// ```
/// use sparring::algebra::{Slice, Type};
/// use sparring::contract::{AnyView, Einsum, Layout};
/// use sparring::runtime::{Machine, Semiring};
/// let x = [3u8, 1, 4, 1, 5, 9];
/// let x = AnyView::new(Slice::of(&x), Layout::row_major(&[2, 3])?)?;
/// let einsum = Einsum::new("ij,kj->ik", &[x.clone(), x])?;
/// let c = Machine::from(sparring::Cpu::new()).einsum(&Semiring::new("min, a + 2*b", Type::U8)?, &einsum)?;
/// assert_eq!(c.slice().get::<u8>(), Some(&[3, 5, 7, 3][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AnyView<'a> {
    values: Slice<'a>,
    layout: Layout,
}

impl<'a> AnyView<'a> {
    /// Views `values` through `layout`.
    /// # Errors
    /// [`Error::Length`] if an element of the layout lies past the end of the array.
    pub fn new(values: Slice<'a>, layout: Layout) -> Result<Self> {
        fits(&layout, values.len())?;
        Ok(Self { values, layout })
    }
    /// The array.
    #[must_use]
    pub fn values(&self) -> Slice<'a> {
        self.values
    }
}

impl Viewed for AnyView<'_> {
    type Value = ();
    fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// Least extent from which the innermost index of the result is the inner loop although a longer folded one exists.
const WIDE: usize = 16;

/// The contraction, row-major, tensors in sequence. Two operands are contracted by the definition, ⊗ from left to right
/// and ⊕ in the order in which folded indices appear. More operands are contracted from left to right, and an index
/// that neither a later operand nor the result has is folded as soon as possible. Large f64 tensors over (+, ×) use the
/// typed loops.
/// # Errors
/// [`Error::Argument`] if the operands are of several types; [`Error::Unsupported`] if the semiring does not apply to
/// these types, or depends on positions; [`Error::Budget`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn contract_any(
    threads: &Threads,
    ring: &CompiledRing,
    einsum: &Einsum<'_, (), AnyView<'_>>,
    budget: Option<u64>,
) -> Result<Array> {
    let views = einsum.operands();
    let ty = views[0].values.ty();
    if let Some(other) = views.iter().map(|x| x.values.ty()).find(|other| *other != ty) {
        let message = format!("operand 0 is of {ty}, another of {other}");
        return Err(Error::Argument { name: "operands", message });
    }
    if ring.is_plus_times_f64()
        && let Some(found) = large::<f64, _>(threads, PlusTimes::new(), einsum, budget)?
    {
        return Ok(found);
    }
    note(|| {
        let why = "from left to right, by blocks of products: the semiring is known at run time";
        format!("einsum: {} of {ty}\n  {why}", einsum.text())
    });
    let (operands, result) = shapes(einsum, &einsum.row_major()?)?;
    let order = order_of(einsum);
    let extent = |i: u8| einsum.extents[usize::from(i)];
    let last = operands.len().saturating_sub(2);
    let mut previous: Option<(Array, Shape)> = None;
    for step in 0..=last {
        // The result keeps its own order of indices; intermediates have the order of appearance.
        let target: Vec<u8> = if step == last {
            let batch = members(result.set).filter(|&i| i == BATCH);
            batch.chain(einsum.subscripts.result.letters.iter().map(|l| l.0)).collect()
        } else {
            let left = previous.as_ref().map_or(operands[0].set, |previous| previous.1.set) | operands[step + 1].set;
            let later = operands[step + 2..].iter().fold(result.set, |set, x| set | x.set);
            order.iter().copied().filter(|i| (left & later) >> i & 1 == 1).collect()
        };
        let elements = target.iter().map(|&i| extent(i) as u128).fold(1, u128::saturating_mul);
        let bytes = elements.saturating_mul(ty.size() as u128);
        if let Some(budget) = budget.filter(|&budget| bytes > budget.into()) {
            return Err(Error::Budget { what: "einsum", bytes, budget: budget.into() });
        }
        if !crate::par::enough(bytes) {
            return Err(Error::OutOfMemory { what: "einsum", bytes });
        }
        let c = {
            let first = previous
                .as_ref()
                .map_or((views[0].values, &operands[0]), |(previous, shape)| (previous.slice(), shape));
            let second = operands.get(step + 1).map(|shape| (views[step + 1].values, shape));
            let nest = nest(&order, &target, first.1, second.map(|s| s.1), &extent);
            note(|| {
                let (n, of) = (nest.inner.extent, if nest.inner_is_folded { "is folded" } else { "the result has" });
                format!("  step {}: {elements} elements, products along an index of {n} values that {of}", step + 1)
            });
            contract_by_formula(threads, ring, first.0, second.map(|s| s.0), &nest)?
        };
        let mut shape = Shape::new(0);
        let mut stride = 1;
        for &i in target.iter().rev() {
            shape.with(i, stride);
            stride *= extent(i) as isize;
        }
        previous = Some((c, shape));
    }
    match previous {
        Some((c, _)) => Ok(c),
        None => unreachable!("there is at least one step"),
    }
}

/// The contraction by the typed loops, if its tensors are large and of this type.
fn large<T: Value, A: Arithmetic<T>>(
    threads: &Threads,
    ring: A,
    einsum: &Einsum<'_, (), AnyView<'_>>,
    budget: Option<u64>,
) -> Result<Option<Array>> {
    let views = einsum.operands();
    let typed = views.iter().filter_map(|x| Some(View::new(x.values.get::<T>()?, x.layout.clone())));
    let typed = collected(views.len(), typed, "operands")?.into_iter().collect::<Result<Vec<_>>>()?;
    if typed.len() < views.len() {
        return Ok(None);
    }
    let typed = Einsum::new(einsum.text(), &typed)?;
    let layout = typed.row_major()?;
    let own = layout.array_len() as u128 * size_of::<T>() as u128;
    let Some(left) = budget.map_or(Some(u128::MAX), |budget| u128::from(budget).checked_sub(own)) else {
        return Ok(None);
    };
    let Some(plan) = Plan::of_large(&typed, &layout, threads.count(), left)? else { return Ok(None) };
    let mut out = filled(layout.array_len(), A::ZERO, "einsum")?;
    run_large(threads, ring, &typed, &plan, Update::PLAIN, &mut [&mut out])?;
    Ok(Some(Array::of(out)))
}

/// The loops of a step: C has the indices `target`; all others are folded in the order in which they appear.
fn nest(order: &[u8], target: &[u8], a: &Shape, b: Option<&Shape>, extent: &dyn Fn(u8) -> usize) -> Nest {
    let all = a.set | b.map_or(0, |b| b.set);
    let of = |i: u8| Loop { extent: extent(i), steps: [a.stride(i), b.map_or(0, |b| b.stride(i))] };
    // An index of extent 1 needs no loop.
    let several = |i: &u8| extent(*i) != 1;
    let mut outer: Vec<Loop> = target.iter().copied().filter(several).map(of).collect();
    let folded = order.iter().copied().filter(|i| all >> i & 1 == 1 && !target.contains(i));
    let mut folded: Vec<Loop> = folded.filter(several).map(of).collect();
    let bases = [a.base, b.map_or(0, |b| b.base)];
    let [column, run] = [&outer, &folded].map(|loops| loops.last().map_or(0, |l| l.extent));
    let inner_is_folded = outer.is_empty() || (!folded.is_empty() && column < run.min(WIDE));
    let one = Loop { extent: 1, steps: [0; 2] };
    let inner = if inner_is_folded { folded.pop() } else { outer.pop() }.unwrap_or(one);
    Nest { outer, folded, inner, inner_is_folded, bases }
}
