//! The compiled form of a measure: its inner loops as values, and the engine built from them and two matrices.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use super::by_columns::ByColumns;
use super::chebyshev::{ChebyshevEngine, Ranked, ranked_bytes};
use super::domain::Domain;
use super::engine::Engine;
use super::entries::{Entries, RowsOf, within};
use super::float::{Float, Form, Typed};
use super::loops::{Loops, Of};
use super::one_pass::OnePassEngine;
use super::options::{Options, Search};
use super::range_scaling::{RangeScaling, SideRange};
use super::recipe::{Recipe, Side};
use super::rows::{Rows, prepare, prepared_bytes};
use super::two_pass::TwoPassEngine;
use crate::Result;
use crate::algebra::{Monoid, MulOp, Union};
#[cfg(feature = "cuda")]
use crate::algebra::{Printed, printed_ring};
use crate::par::Threads;

/// The algorithm of a measure. The code that drives its inner loops was compiled with the library.
pub struct Strategy(pub(crate) Typed<Pass>);

/// The algorithm of a measure on numbers of type `W`.
pub(crate) enum PassOf<W> {
    /// ⊕ is +: one pass over common columns.
    One(Box<dyn Loops<W>>),
    /// The largest difference.
    Chebyshev,
    /// Any other NAMM: two passes over the union.
    Two(Box<dyn Folds<W>>),
}

/// [`PassOf`] as a [`Form`].
pub(crate) struct Pass;

impl Form for Pass {
    type Of<T: Float> = PassOf<T>;
}

/// A NAMM that takes two passes.
pub(crate) trait Folds<W: Float>: Send + Sync {
    /// The engine for rows `x` and `y`.
    fn engine<'a>(&self, x: Entries<'a, W>, y: Option<Entries<'a, W>>) -> Box<dyn Engine + 'a>;
    /// The CUDA text.
    #[cfg(feature = "cuda")]
    fn printed(&self) -> Arc<Printed>;
}

impl<W: Float, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>> Folds<W> for Union<P, X> {
    fn engine<'a>(&self, x: Entries<'a, W>, y: Option<Entries<'a, W>>) -> Box<dyn Engine + 'a> {
        Box::new(TwoPassEngine { namm: *self, x, y })
    }
    #[cfg(feature = "cuda")]
    fn printed(&self) -> Arc<Printed> {
        printed_ring(*self)
    }
}

impl Strategy {
    /// ⊕ is +: one pass over common columns.
    pub fn one_pass<R: Recipe>(recipe: R) -> Self {
        Self::by(Box::new(Of(recipe)))
    }
    /// The largest difference.
    pub fn chebyshev<W: Float>() -> Self {
        Self(W::into_typed::<Pass>(PassOf::Chebyshev))
    }
    /// Any other NAMM: two passes over the union.
    pub fn two_pass<W: Float, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>>(namm: Union<P, X>) -> Self {
        Self(W::into_typed::<Pass>(PassOf::Two(Box::new(namm))))
    }
    /// One pass by these inner loops.
    pub(crate) fn by<W: Float>(loops: Box<dyn Loops<W>>) -> Self {
        Self(W::into_typed::<Pass>(PassOf::One(loops)))
    }
    /// Whether d(x, y) = d(y, x) is known.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        fn of<W: Float>(pass: &PassOf<W>) -> bool {
            match pass {
                PassOf::One(loops) => loops.facts().symmetric,
                PassOf::Chebyshev => true,
                PassOf::Two(_) => false,
            }
        }
        match &self.0 {
            Typed::F32(pass) => of(pass),
            Typed::F64(pass) => of(pass),
        }
    }
}

impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strategy").field("symmetric", &self.is_symmetric()).finish_non_exhaustive()
    }
}

/// Two matrices, or one that is compared with itself, as a [`Form`].
pub(crate) struct Pair<'a>(PhantomData<&'a ()>);

impl<'a> Form for Pair<'a> {
    type Of<T: Float> = (RowsOf<'a, T>, Option<RowsOf<'a, T>>);
}

/// The engine of a measure on two matrices; their entries are checked against `domain` unless `unchecked`.
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for an entry outside the domain;
/// [`Error::IndexOverflow`](crate::Error::IndexOverflow); [`Error::Budget`](crate::Error::Budget);
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(crate) fn engine<'a>(
    threads: &Threads,
    strategy: Strategy,
    rows: Typed<Pair<'a>>,
    domain: Domain,
    options: &Options,
) -> Result<Box<dyn Engine + 'a>> {
    match rows {
        Typed::F32(rows) => of_rows(threads, strategy, rows, domain, options),
        Typed::F64(rows) => of_rows(threads, strategy, rows, domain, options),
    }
}

fn of_rows<'a, T: Float>(
    threads: &Threads,
    strategy: Strategy,
    (x, y): (RowsOf<'a, T>, Option<RowsOf<'a, T>>),
    domain: Domain,
    options: &Options,
) -> Result<Box<dyn Engine + 'a>> {
    let checked = |a| Entries::new(threads, a, domain, options.unchecked, options.memory_budget);
    let (x, y) = Entries::of_used_columns(checked(x)?, y.map(checked).transpose()?, options.memory_budget)?;
    match strategy.0 {
        Typed::F32(pass) => of_pass(threads, pass, x, y, options),
        Typed::F64(pass) => of_pass(threads, pass, x, y, options),
    }
}

fn of_pass<'a, T: Float, W: Float>(
    threads: &Threads,
    pass: PassOf<W>,
    x: Entries<'a, T>,
    y: Option<Entries<'a, T>>,
    options: &Options,
) -> Result<Box<dyn Engine + 'a>> {
    match pass {
        PassOf::One(loops) => match RangeScaling::new(threads, &*loops, &x, y.as_ref())? {
            None => one_pass(threads, loops, x, y, options),
            Some(fit) => {
                let (loops, (x, y)) = fit.apply(loops, (x.cast()?, y.map(Entries::cast).transpose()?))?;
                one_pass(threads, loops, x, y, options)
            }
        },
        PassOf::Chebyshev => {
            let sides = [Some(&x), y.as_ref()].into_iter().flatten();
            within(
                "prepared rows",
                sides.map(|a| ranked_bytes(a) + cast_bytes::<T, W>(a)).sum(),
                options.memory_budget,
            )?;
            let rank = |a: Entries<'a, T>| Ranked::new(a.cast::<W>()?);
            Ok(Box::new(ChebyshevEngine { x: rank(x)?, y: y.map(rank).transpose()? }))
        }
        PassOf::Two(folds) => {
            let sides = [Some(&x), y.as_ref()].into_iter().flatten();
            within("prepared rows", sides.map(|a| a.bytes() + cast_bytes::<T, W>(a)).sum(), options.memory_budget)?;
            Ok(folds.engine(x.cast()?, y.map(Entries::cast).transpose()?))
        }
    }
}

/// Bytes of the entries converted to another type.
fn cast_bytes<T: Float, W: Float>(a: &Entries<'_, T>) -> u64 {
    if T::TYPE == W::TYPE { 0 } else { (a.values.len() * size_of::<W>()) as u64 }
}

fn one_pass<'a, T: Float, W: Float>(
    threads: &Threads,
    loops: Box<dyn Loops<W>>,
    x: Entries<'a, T>,
    y: Option<Entries<'a, T>>,
    options: &Options,
) -> Result<Box<dyn Engine + 'a>> {
    let (same, finite) = (y.is_none(), !options.unchecked);
    // A matrix compared with itself may still have to be prepared for both sides.
    let both = y.is_some() || !loops.facts().symmetric;
    let of_y = if both { prepared_bytes(&*loops, y.as_ref().unwrap_or(&x)) } else { 0 };
    // The columns are counted, to find the dense ones and the number of shared columns.
    let counts = 4 * x.width() as u64;
    let prepared = prepared_bytes(&*loops, &x) + of_y + counts;
    within("prepared rows", prepared, options.memory_budget)?;
    let of_y = match &y {
        Some(y) => Some(prepare(threads, &*loops, Side::Y, y)?),
        None if loops.facts().symmetric => None,
        None => Some(prepare(threads, &*loops, Side::Y, &x)?),
    };
    let x = prepare(threads, &*loops, Side::X, &x)?;
    let (loops, y) = (Arc::from(loops), of_y.map(Arc::new));
    let (columns, by_columns, search, prebuilt) = (OnceLock::new(), Arc::default(), options.search, false);
    // Under a budget rows stay sparse: whether a request is refused must not depend on density.
    let may_be_dense = options.memory_budget.is_none();
    Ok(Box::new(OnePassEngine {
        loops,
        x,
        y,
        same,
        finite,
        may_be_dense,
        prepared,
        columns,
        by_columns,
        prebuilt,
        search,
    }))
}

/// Rows of Y prepared and indexed for one pass, for rows of X that come later.
pub(crate) struct PreparedIndex<W: Float> {
    loops: Arc<dyn Loops<W>>,
    y: Arc<Rows<'static, W>>,
    by_columns: Arc<OnceLock<ByColumns<W>>>,
    known: SideRange,
    bytes: u64,
}

/// [`PreparedIndex`] as a [`Form`].
pub(crate) struct PreparedIndexForm;

impl Form for PreparedIndexForm {
    type Of<T: Float> = PreparedIndex<T>;
}

/// One matrix as a [`Form`].
pub(crate) struct OneMatrix<'a>(PhantomData<&'a ()>);

impl<'a> Form for OneMatrix<'a> {
    type Of<T: Float> = RowsOf<'a, T>;
}

/// Prepares and indexes the rows of Y. `None` where preparation also depends on X, or where the measure does not take
/// one pass.
/// # Errors
/// Those of [`engine`].
pub(crate) fn prepare_index(
    threads: &Threads,
    strategy: Strategy,
    y: Typed<OneMatrix<'_>>,
    domain: Domain,
    options: &Options,
) -> Result<Option<Typed<PreparedIndexForm>>> {
    fn of<T: Float>(
        threads: &Threads,
        strategy: Strategy,
        y: RowsOf<'_, T>,
        domain: Domain,
        options: &Options,
    ) -> Result<Option<Typed<PreparedIndexForm>>> {
        let y = Entries::new(threads, y, domain, options.unchecked, options.memory_budget)?;
        match strategy.0 {
            Typed::F32(PassOf::One(loops)) => prepare_one_pass(threads, loops, &y, options),
            Typed::F64(PassOf::One(loops)) => prepare_one_pass(threads, loops, &y, options),
            _ => Ok(None),
        }
    }
    match y {
        Typed::F32(y) => of(threads, strategy, y, domain, options),
        Typed::F64(y) => of(threads, strategy, y, domain, options),
    }
}

fn prepare_one_pass<T: Float, W: Float>(
    threads: &Threads,
    loops: Box<dyn Loops<W>>,
    y: &Entries<'_, T>,
    options: &Options,
) -> Result<Option<Typed<PreparedIndexForm>>> {
    let (facts, wide) = (loops.facts(), y.has_few_columns());
    let Some(known) = SideRange::new(threads, &*loops, y)? else { return Ok(None) };
    let queries_all = facts.queries_all && !options.unchecked && y.nrows() <= u32::MAX as usize;
    // Tiles span all columns.
    if wide && !queries_all {
        return Ok(None);
    }
    let columns = if wide { y.values.len() } else { y.width() };
    let of_columns = ByColumns::<W>::bytes(threads.count(), y.nrows(), columns, y.values.len());
    let bytes = prepared_bytes(&*loops, y) + if queries_all { of_columns } else { 0 };
    within("an index of rows", bytes, options.memory_budget)?;
    let y = Arc::new(prepare(threads, &*loops, Side::Y, y)?);
    let by_columns = OnceLock::new();
    if queries_all {
        // The lock is new, so `set` succeeds.
        let _ = by_columns.set(ByColumns::new(
            threads,
            &y.entries,
            y.norms_from(0, y.entries.nrows()),
            facts.disjoint_order,
        )?);
    }
    let (loops, by_columns) = (Arc::from(loops), Arc::new(by_columns));
    Ok(Some(W::into_typed::<PreparedIndexForm>(PreparedIndex { loops, y, by_columns, known, bytes })))
}

/// The engine of rows of X against an index; `None` where both have to be prepared together.
/// # Errors
/// Those of [`engine`].
pub(crate) fn engine_of_index<'a>(
    threads: &Threads,
    index: &Typed<PreparedIndexForm>,
    x: Typed<OneMatrix<'a>>,
    domain: Domain,
    options: &Options,
) -> Result<Option<Box<dyn Engine + 'a>>> {
    fn of<'a, T: Float>(
        threads: &Threads,
        index: &Typed<PreparedIndexForm>,
        x: RowsOf<'a, T>,
        domain: Domain,
        options: &Options,
    ) -> Result<Option<Box<dyn Engine + 'a>>> {
        let x = Entries::new(threads, x, domain, options.unchecked, options.memory_budget)?;
        match index {
            Typed::F32(index) => index.engine(threads, &x, options),
            Typed::F64(index) => index.engine(threads, &x, options),
        }
    }
    match x {
        Typed::F32(x) => of(threads, index, x, domain, options),
        Typed::F64(x) => of(threads, index, x, domain, options),
    }
}

impl<W: Float> PreparedIndex<W> {
    /// Bytes of the index.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
    fn engine<'a, T: Float>(
        &self,
        threads: &Threads,
        x: &Entries<'a, T>,
        options: &Options,
    ) -> Result<Option<Box<dyn Engine + 'a>>> {
        if self.known.needs_more(threads, &*self.loops, x)? {
            return Ok(None);
        }
        let Self { loops, y, by_columns, .. } = self;
        let wide = y.entries.has_few_columns();
        if wide && options.search == Search::Tiles {
            return Ok(None);
        }
        let prepared = prepared_bytes(&**loops, x) + self.bytes;
        within("prepared rows", prepared, options.memory_budget)?;
        let x = prepare(threads, &**loops, Side::X, x)?;
        let (columns, search, finite) = (OnceLock::new(), options.search, !options.unchecked);
        let engine = OnePassEngine {
            loops: Arc::clone(loops),
            x,
            y: Some(Arc::clone(y)),
            same: false,
            finite,
            may_be_dense: options.memory_budget.is_none(),
            prepared,
            columns,
            by_columns: Arc::clone(by_columns),
            prebuilt: by_columns.get().is_some(),
            search,
        };
        let fits = |bytes| options.memory_budget.is_none_or(|budget| bytes <= budget);
        if wide && !engine.whole_bytes(threads).is_some_and(fits) {
            return Ok(None);
        }
        Ok(Some(Box::new(engine)))
    }
}
