//! Measures: distances and similarities of two rows.

use std::any::TypeId;
use std::sync::Arc;

use super::compiled::Strategy;
use super::domain::Domain;
use super::float::Float;
use super::options::Options;
use super::recipes::OnePass;
use crate::Result;
use crate::algebra::{Monoid, MulOp, Plus, Type, Union};

/// A distance or similarity of two rows: a [`Metric`](super::Metric), a custom NAMM, or a [`Formula`](super::Formula).
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
/// Its ⊗ must give the identity of ⊕ for two zeros. If ⊕ is + it runs in one pass (see [`Recipe`](super::Recipe)),
/// otherwise in two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a measure of two rows",
    label = "is not a `Metric`, nor a NAMM",
    note = "name a `Metric`, or make a NAMM of an operator by `op!`: `Union(Plus::new(), MyOperator::new())`"
)]
pub trait Measure: Send + Sync {
    /// The algorithm for entries of that type, f32 or f64.
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a parameter outside its domain.
    fn strategy(&self, options: &Options, entries: Type) -> Result<Strategy>;
    /// The entries that it accepts.
    fn domain(&self) -> Domain;
    /// Whether larger values are nearer.
    fn is_similarity(&self) -> bool {
        false
    }
    /// Its name.
    fn name(&self) -> String;
    /// Its name and parameter as [`AnyMetric::named`](super::AnyMetric::named) reads them, if it has a name.
    fn named(&self) -> Option<(String, Option<f64>)> {
        None
    }
}

/// A measure chosen at run time.
impl<M: Measure + ?Sized> Measure for Arc<M> {
    fn strategy(&self, options: &Options, entries: Type) -> Result<Strategy> {
        (**self).strategy(options, entries)
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
    fn strategy(&self, _: &Options, _: Type) -> Result<Strategy> {
        let is_plus = TypeId::of::<P>() == TypeId::of::<Plus<W>>();
        Ok(if is_plus { Strategy::one_pass(OnePass(self.1)) } else { Strategy::two_pass(*self) })
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    fn name(&self) -> String {
        "a custom NAMM".into()
    }
}
