//! User-defined semirings: a struct as value type, mixed value types, positional products.

use sparring::algebra::{Plus, Ring, V};

sparring::value! {
    /// Shortest paths between two vertices: their length and their number.
    #[derive(Default)]
    pub(crate) struct Paths {
        /// Their length.
        pub(crate) length: u32,
        /// Their number.
        pub(crate) count: u32,
    }
}

sparring::op! {
    /// The shorter paths; for equal lengths, the union of both.
    pub(crate) Either (a: Paths, b: Paths) -> Paths {{
        let (x, y) = (Paths::length(a), Paths::length(b));
        let both = Paths::of(x, Paths::count(a) + Paths::count(b));
        x.lt(y).select(a, y.lt(x).select(b, both))
    }} identity Paths { length: u32::MAX, count: 0 }
}

sparring::op! {
    /// Concatenation of paths; an overflowing length saturates.
    pub(crate) Then (a: Paths, b: Paths) -> Paths {{
        let (x, y) = (Paths::length(a), Paths::length(b));
        let sum = x + y;
        Paths::of(sum.lt(x).select(V::lit(u32::MAX), sum), Paths::count(a) * Paths::count(b))
    }}
}

/// Shortest path lengths and counts.
pub(crate) type CountPaths = Ring<Either, Then>;

sparring::op! {
    /// B's value where A's truth value holds.
    pub(crate) Where (a: bool, b: u8) -> i64 { a.select(b.cast::<i64>(), V::lit(0i64)) }
}
/// Sums over the entries that A selects: three value types in one product.
pub(crate) type SumWhere = Ring<Plus<i64>, Where>;

sparring::op! {
    /// A number that identifies every position of a product.
    pub(crate) Place (_a: f64, _b: f64) at (i, k, j) -> u64 {
        i * V::lit(1_000_000_007) + k * V::lit(1_000_003) + j
    }
}
/// Sums of positions.
pub(crate) type SumPlaces = Ring<Plus<u64>, Place>;

sparring::value! {
    /// A value and its index: wider than any atomic.
    #[derive(Default)]
    pub(crate) struct Best {
        /// The value.
        pub(crate) value: f64,
        /// Its number of occurrences.
        pub(crate) at: u64,
        /// Its number of occurrences.
        pub(crate) times: u32,
    }
}

sparring::op! {
    /// The smaller value; for equal values the one at the smaller index; counts are added.
    pub(crate) Least (a: Best, b: Best) -> Best {{
        let (x, y) = (Best::value(a), Best::value(b));
        let (i, j) = (Best::at(a), Best::at(b));
        let other = y.lt(x) | (y.eq(x) & j.lt(i));
        Best::of(other.select(y, x), other.select(j, i), Best::times(a) + Best::times(b))
    }} identity Best { value: f64::INFINITY, at: u64::MAX, times: 0 }
}
sparring::op! {
    /// The sum of two numbers, and the index at which they were combined.
    pub(crate) Meet (a: f64, b: f64) at (_i, k, _j) -> Best { Best::of(a + b, k, V::lit(1u32)) }
}
/// The shortest detour, its intermediate vertex, and the number of such detours.
pub(crate) type Detour = Ring<Least, Meet>;
