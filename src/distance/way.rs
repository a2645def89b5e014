//! How a measure is computed: its inner loops as values, and the engine that they make of two matrices.

use std::fmt;
use std::marker::PhantomData;
#[cfg(feature = "cuda")]
use std::sync::Arc;
use std::sync::OnceLock;

use super::chebyshev::{ChebyshevEngine, Ranked, ranked_bytes};
use super::domain::Domain;
use super::engine::Engine;
use super::entries::{Entries, RowsOf, within};
use super::fit::Fit;
use super::float::{Float, Form, Typed};
use super::loops::{Loops, Of};
use super::one_pass::OnePassEngine;
use super::options::Options;
use super::recipe::{Recipe, Side};
use super::rows::{prepare, prepared_bytes};
use super::two_pass::TwoPassEngine;
use crate::Result;
use crate::algebra::{Monoid, MulOp, Union};
#[cfg(feature = "cuda")]
use crate::algebra::{Printed, printed_ring};
use crate::par::Threads;

/// How a measure is computed. What drives its inner loops was compiled with the library.
pub struct Way(pub(crate) Typed<Pass>);

/// How a measure is computed on numbers of type `W`.
pub(crate) enum PassOf<W> {
    /// A ⊕ that is +: one pass over common columns.
    One(Box<dyn Loops<W>>),
    /// The largest difference.
    Chebyshev,
    /// Any other NAMM: two passes over the union.
    Two(Box<dyn Folds<W>>),
}

/// It as a [`Form`].
pub(crate) struct Pass;

impl Form for Pass {
    type Of<T: Float> = PassOf<T>;
}

/// A NAMM that takes two passes.
pub(crate) trait Folds<W: Float>: Send + Sync {
    /// Its engine.
    fn engine<'a>(&self, x: Entries<'a, W>, y: Option<Entries<'a, W>>) -> Box<dyn Engine + 'a>;
    /// Its CUDA text.
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

impl Way {
    /// A ⊕ that is +: one pass over common columns.
    pub fn one_pass<R: Recipe>(recipe: R) -> Self {
        Self::by(Box::new(Of(recipe)))
    }
    /// The largest difference.
    pub fn chebyshev<W: Float>() -> Self {
        Self(W::tell::<Pass>(PassOf::Chebyshev))
    }
    /// Any other NAMM: two passes over the union.
    pub fn two_pass<W: Float, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>>(namm: Union<P, X>) -> Self {
        Self(W::tell::<Pass>(PassOf::Two(Box::new(namm))))
    }
    /// One pass by these inner loops.
    pub(crate) fn by<W: Float>(loops: Box<dyn Loops<W>>) -> Self {
        Self(W::tell::<Pass>(PassOf::One(loops)))
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

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Way").field("symmetric", &self.is_symmetric()).finish_non_exhaustive()
    }
}

/// Two matrices, or one that is compared with itself, as a [`Form`].
pub(crate) struct Pair<'a>(PhantomData<&'a ()>);

impl<'a> Form for Pair<'a> {
    type Of<T: Float> = (RowsOf<'a, T>, Option<RowsOf<'a, T>>);
}

/// The engine of a way on two matrices, their entries checked against `domain` unless that is not wanted.
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for an entry that the domain does not have;
/// [`Error::IndexOverflow`](crate::Error::IndexOverflow); [`Error::Budget`](crate::Error::Budget);
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(crate) fn engine<'a>(
    threads: &Threads,
    way: Way,
    rows: Typed<Pair<'a>>,
    domain: Domain,
    options: &Options,
) -> Result<Box<dyn Engine + 'a>> {
    match rows {
        Typed::F32(rows) => of_rows(threads, way, rows, domain, options),
        Typed::F64(rows) => of_rows(threads, way, rows, domain, options),
    }
}

fn of_rows<'a, T: Float>(
    threads: &Threads,
    way: Way,
    (x, y): (RowsOf<'a, T>, Option<RowsOf<'a, T>>),
    domain: Domain,
    options: &Options,
) -> Result<Box<dyn Engine + 'a>> {
    let checked = |a| Entries::new(threads, a, domain, options.unchecked, options.memory_budget);
    let (x, y) = Entries::of_used_columns(checked(x)?, y.map(checked).transpose()?, options.memory_budget)?;
    match way.0 {
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
        PassOf::One(loops) => match Fit::new(threads, &*loops, &x, y.as_ref())? {
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

/// Bytes of the entries as numbers of another type.
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
    // Where Y is X its rows may have to be prepared on both sides.
    let both = y.is_some() || !loops.facts().symmetric;
    let of_y = if both { prepared_bytes(&*loops, y.as_ref().unwrap_or(&x)) } else { 0 };
    // Columns are counted, to see which are kept dense, and how many are shared.
    let counts = 4 * x.width() as u64;
    let prepared = prepared_bytes(&*loops, &x) + of_y + counts;
    within("prepared rows", prepared, options.memory_budget)?;
    let of_y = match &y {
        Some(y) => Some(prepare(threads, &*loops, Side::Y, y)?),
        None if loops.facts().symmetric => None,
        None => Some(prepare(threads, &*loops, Side::Y, &x)?),
    };
    let x = prepare(threads, &*loops, Side::X, &x)?;
    let (columns, by_columns, search) = (OnceLock::new(), OnceLock::new(), options.search);
    Ok(Box::new(OnePassEngine { loops, x, y: of_y, same, finite, prepared, columns, by_columns, search }))
}
