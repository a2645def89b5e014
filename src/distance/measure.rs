//! What may be asked of two rows.

use std::any::TypeId;
use std::sync::Arc;

use super::domain::Domain;
use super::float::Float;
use super::options::Options;
use super::recipes::OnePass;
use super::way::Way;
use crate::Result;
use crate::algebra::{Monoid, MulOp, Plus, Type, Union};

/// What may be asked of two rows: a [`Metric`](super::Metric), a NAMM of your own, or a [`Formula`](super::Formula).
///
/// ```
/// use sparring::algebra::{Plus, Union};
/// use sparring::{Cpu, Csr};
/// sparring::op! {
///     /// (a − b)² / (a + b + 1).
///     pub Damped (a: f64, b: f64) -> f64 { (a - b) * (a - b) / (a + b + sparring::algebra::V::lit(1.0)) }
/// }
/// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 3], vec![0, 0, 1], vec![1.0, 2.0, 9.0])?;
/// let near = Cpu::new().neighbours(Union(Plus::new(), Damped::new()), &x).k(2).eval()?;
/// assert_eq!(near.row(0).0, [0, 1]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Its ⊗ must give the identity of ⊕ for two zeros. If ⊕ is + it runs in one pass (see [`Recipe`](super::Recipe)), else
/// in two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no measure of two rows",
    label = "is not a `Metric`, nor a NAMM",
    note = "name a `Metric`, or make a NAMM of an operator by `op!`: `Union(Plus::new(), MyOperator::new())`"
)]
pub trait Measure: Send + Sync {
    /// How it is computed on entries of that type, f32 or f64.
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a parameter outside its domain.
    fn way(&self, options: &Options, entries: Type) -> Result<Way>;
    /// What it takes.
    fn domain(&self) -> Domain;
    /// Whether neighbours are those of the largest value.
    fn is_similarity(&self) -> bool {
        false
    }
    /// Its name.
    fn name(&self) -> String;
    /// Its name and its parameter as [`AnyMetric::named`](super::AnyMetric::named) reads them, if it can.
    fn named(&self) -> Option<(String, Option<f64>)> {
        None
    }
}

/// A measure that is chosen at run time.
impl<M: Measure + ?Sized> Measure for Arc<M> {
    fn way(&self, options: &Options, entries: Type) -> Result<Way> {
        (**self).way(options, entries)
    }
    fn domain(&self) -> Domain {
        (**self).domain()
    }
    fn is_similarity(&self) -> bool {
        (**self).is_similarity()
    }
    fn name(&self) -> String {
        (**self).name()
    }
    fn named(&self) -> Option<(String, Option<f64>)> {
        (**self).named()
    }
}

impl<W: Float, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>> Measure for Union<P, X> {
    fn way(&self, _: &Options, _: Type) -> Result<Way> {
        let is_plus = TypeId::of::<P>() == TypeId::of::<Plus<W>>();
        Ok(if is_plus { Way::one_pass(OnePass(self.1)) } else { Way::two_pass(*self) })
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    fn name(&self) -> String {
        "a NAMM of the caller's".into()
    }
}
