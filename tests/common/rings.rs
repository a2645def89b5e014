//! Semirings of a user: a struct as value type, mixed value types, products that look at their place.

use sparring::algebra::{At, BinaryOp, Machine, Monoid, MulOp, Plus, Ring, V, Value};

/// Shortest paths between two vertices: their length and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Paths {
    pub(crate) length: u32,
    pub(crate) count: u32,
}

impl Value for Paths {
    const CUDA: &'static str = "Paths";
    fn literal(self) -> String {
        format!("Paths{{{}u, {}u}}", self.length, self.count)
    }
}

/// The shorter ones; of equal length, all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Either;
impl BinaryOp for Either {
    type A = Paths;
    type B = Paths;
    type Out = Paths;
    fn apply<M: Machine>(self, a: V<M, Paths>, b: V<M, Paths>) -> V<M, Paths> {
        let either = |a: Paths, b: Paths| match a.length.cmp(&b.length) {
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Greater => b,
            std::cmp::Ordering::Equal => Paths { length: a.length, count: a.count.wrapping_add(b.count) },
        };
        a.call2("paths_either", either, b)
    }
}
impl Monoid for Either {
    const IDENTITY: Paths = Paths { length: u32::MAX, count: 0 };
}

/// One path after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Then;
impl BinaryOp for Then {
    type A = Paths;
    type B = Paths;
    type Out = Paths;
    fn apply<M: Machine>(self, a: V<M, Paths>, b: V<M, Paths>) -> V<M, Paths> {
        let then = |a: Paths, b: Paths| Paths {
            length: a.length.saturating_add(b.length),
            count: a.count.wrapping_mul(b.count),
        };
        a.call2("paths_then", then, b)
    }
}

/// Shortest paths and their number.
pub(crate) type CountPaths = Ring<Either, Then>;

/// Adds up B's numbers wherever A's truth value holds: three value types in one product.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Where;
impl MulOp for Where {
    type A = bool;
    type B = u8;
    type Out = i64;
    fn mul<M: Machine>(self, a: V<M, bool>, b: V<M, u8>, _: At<M>) -> V<M, i64> {
        a.call2("where", |a: bool, b: u8| if a { i64::from(b) } else { 0 }, b)
    }
}
/// Sums over the entries that A marks.
pub(crate) type SumWhere = Ring<Plus<i64>, Where>;

/// A number that tells every place of a product apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Place;
impl MulOp for Place {
    type A = f64;
    type B = f64;
    type Out = u64;
    fn mul<M: Machine>(self, _: V<M, f64>, _: V<M, f64>, at: At<M>) -> V<M, u64> {
        at.i * V::lit(1_000_000_007) + at.k * V::lit(1_000_003) + at.j
    }
}
/// Sums of places.
pub(crate) type SumPlaces = Ring<Plus<u64>, Place>;
