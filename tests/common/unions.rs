//! For tests of union products: user-defined NAMMs, pairs of matrices, and the textbook.

use std::collections::BTreeSet;

use sparring::algebra::{At, Host, Lhs, Max, MaxFromZero, Min, Namm, Num, Number, Out, Plus, Rhs, Union, V};
use sparring::algebra::{BinaryOp, Monoid, MulOp};
use sparring::sparse::Dense;
use sparring::{Csr, Index};

use super::Same;
use super::arbitrary::{AnyPattern, Draw, Rng, rows};

sparring::op! {
    /// a + 2b, and infinity where both are 0: the ⊗ of a minimum.
    pub(crate) Detour (a: f64, b: f64) -> f64 {{
        let nothing = a.eq(V::lit(0.0)) & b.eq(V::lit(0.0));
        nothing.select(V::lit(f64::INFINITY), a + b + b)
    }}
}
/// The least a + 2b.
pub(crate) type LeastDetour = Union<Min<f64>, Detour>;

sparring::value! {
    /// How far two rows differ in one column, and in which.
    #[derive(Default)]
    pub(crate) struct Gap {
        /// Absolute difference.
        pub(crate) size: i64,
        /// The column.
        pub(crate) at: u64,
        /// Number of columns where they differ.
        pub(crate) count: u32,
    }
}
sparring::op! {
    /// The larger one, for equal ones that of the smaller column; counts are added.
    pub(crate) Larger (a: Gap, b: Gap) -> Gap {{
        let (x, y) = (Gap::size(a), Gap::size(b));
        let other = x.lt(y) | (x.eq(y) & Gap::at(b).lt(Gap::at(a)));
        Gap::of(other.select(y, x), other.select(Gap::at(b), Gap::at(a)), Gap::count(a) + Gap::count(b))
    }} identity Gap { size: i64::MIN, at: u64::MAX, count: 0 }
}
sparring::op! {
    /// Twice the flag minus the number, and its column; nothing where both are 0. Two operand types, a struct as
    /// result.
    pub(crate) Between (a: bool, b: u8) at (_i, k, j) -> Gap {{
        let gap = a.cast::<i64>() * V::lit(2i64) - b.cast::<i64>() + j.cast::<i64>();
        let nothing = !a & b.eq(V::lit(0u8));
        nothing.select(V::lit(Gap { size: i64::MIN, at: u64::MAX, count: 0 }), Gap::of(gap, k, V::lit(1u32)))
    }}
}
/// The column where two rows differ most: user-defined monoid and values.
pub(crate) type WidestGap = Union<Larger, Between>;

sparring::op! {
    /// a − 3b, whose operands do not commute.
    pub(crate) Uneven<T: Num> (a, b) -> T { a - b - b - b }
}
/// Σ (a − 3b).
pub(crate) type SumUneven<T> = Union<Plus<T>, Uneven<T>>;
/// max (a − 3b), at least 0.
pub(crate) type MaxUneven<T> = Union<MaxFromZero<T>, Uneven<T>>;
/// A ⊗ that forms no NAMM with this ⊕, but a semiring: for products over common entries.
pub(crate) type MostUneven<T> = sparring::algebra::Ring<Max<T>, Uneven<T>>;

impl Same for Gap {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

/// Patterns of two matrices with the same number of columns: unrelated or equal, rows shuffled or not.
pub(crate) fn any_pair(seed: u64) -> (AnyPattern, AnyPattern) {
    let mut rng = Rng(seed);
    let dimension = |rng: &mut Rng| match rng.below(8) {
        0 => 0,
        1 => 1,
        2 => rng.pick(&[7, 8, 9, 31, 32, 33, 64, 65]),
        _ => 1 + rng.below(40),
    };
    let (m, n) = (dimension(&mut rng), dimension(&mut rng));
    let k = if rng.below(4) == 0 { 1 + rng.below(700) } else { dimension(&mut rng) };
    let mut a = AnyPattern::of_shape(&mut rng, m, k);
    let mut b = AnyPattern::of_shape(&mut rng, n, k);
    for p in [&mut a, &mut b] {
        p.shuffle = if rng.below(3) == 0 { rng.next() | 1 } else { 0 };
    }
    (a, b)
}

/// Larger ones: rows of every length, and one row with nearly all columns, on either side.
pub(crate) fn large_pairs() -> Vec<(AnyPattern, AnyPattern)> {
    let mut rng = Rng(8);
    let mut all = vec![];
    for (m, n, k, mean, heavy) in
        [(40, 150, 3000, 20, 2500), (150, 40, 3000, 20, 2500), (3, 700, 70_000, 60, 9000), (90, 90, 500, 100, 499)]
    {
        let (mut a, mut b) = (rows(&mut rng, m, k, mean, heavy), rows(&mut rng, n, k, mean, heavy));
        // A run of empty rows, and empty rows at the end.
        a.rows[1..3].fill(vec![]);
        b.rows[n / 2..n / 2 + 9].fill(vec![]);
        b.rows[n - 1] = vec![];
        all.push((a.clone(), b.clone()));
        (a.shuffle, b.shuffle) = (5, 6);
        all.push((a, b));
    }
    all
}

/// The same entries, plus stored zeros: about one in `every` of the other positions.
pub(crate) fn with_zeros<T: Num>(a: &Csr<T>, every: usize, seed: u64) -> Csr<T> {
    let (nrows, ncols) = a.shape();
    let mut rng = Rng(seed);
    let (mut row_ptr, mut columns, mut values) = (vec![0], vec![], vec![]);
    for i in 0..nrows {
        let (cols, xs) = a.row(i);
        let there: BTreeSet<u32> = cols.iter().copied().collect();
        let mut zeros: Vec<u32> = (0..ncols as u32).filter(|k| !there.contains(k) && rng.below(every) == 0).collect();
        // Entries keep their order; zeros may stand anywhere between them.
        for (&k, &x) in cols.iter().zip(xs) {
            while rng.below(2) == 0 && !zeros.is_empty() {
                columns.push(zeros.remove(rng.below(zeros.len())));
                values.push(T::ZERO);
            }
            columns.push(k);
            values.push(x);
        }
        for k in zeros {
            columns.push(k);
            values.push(T::ZERO);
        }
        row_ptr.push(columns.len());
    }
    Csr::from_unsorted(nrows, ncols, row_ptr, columns, values).expect("a matrix")
}

/// A matrix whose values add without rounding, some of them zero.
pub(crate) fn exact<T: Num>(p: &AnyPattern, seed: u64) -> Csr<T> {
    let (pattern, mut rng) = (p.pattern(), Rng(seed));
    let values = (0..pattern.nnz()).map(|_| T::from_f64(rng.below(9) as f64)).collect();
    Csr::with_pattern(pattern, values).expect("one value per entry")
}

fn product<N: Namm>(namm: N, a: Lhs<N>, b: Rhs<N>, (i, k, j): (usize, usize, usize)) -> Out<N> {
    let at = At { i: V(i as u64), k: V(k as u64), j: V(j as u64) };
    namm.mul().mul::<Host>(V(a), V(b), at).0
}

/// The definition: C(i, j) = e ⊕ A(i, k) ⊗ B(j, k) ⊕ … over all k in increasing order; an absent entry is 0.
pub(crate) fn definition<N: Namm, I: Index>(namm: N, a: &Csr<Lhs<N>, I>, b: &Csr<Rhs<N>, I>) -> Dense<Out<N>>
where
    Lhs<N>: Num,
    Rhs<N>: Num,
{
    let full = |row: (&[I], &[Lhs<N>])| {
        let mut x = vec![Lhs::<N>::ZERO; a.ncols()];
        row.0.iter().zip(row.1).for_each(|(k, &v)| x[k.get()] = v);
        x
    };
    let full_b = |row: (&[I], &[Rhs<N>])| {
        let mut x = vec![Rhs::<N>::ZERO; b.ncols()];
        row.0.iter().zip(row.1).for_each(|(k, &v)| x[k.get()] = v);
        x
    };
    let mut c = vec![];
    for i in 0..a.nrows() {
        let x = full(a.row(i));
        for j in 0..b.nrows() {
            let y = full_b(b.row(j));
            let products = (0..a.ncols()).map(|k| product(namm, x[k], y[k], (i, k, j)));
            c.push(super::reference::fold(namm.add(), products));
        }
    }
    Dense::new(a.nrows(), b.nrows(), c).expect("m·n values")
}

/// The definition in the order that the CPU guarantees: row j of B as stored, then the remaining entries of row i of A;
/// zeros count as absent.
pub(crate) fn in_order<N: Namm, I: Index>(namm: N, a: &Csr<Lhs<N>, I>, b: &Csr<Rhs<N>, I>) -> Dense<Out<N>>
where
    Lhs<N>: Num,
    Rhs<N>: Num,
{
    let mut c = vec![];
    for i in 0..a.nrows() {
        for j in 0..b.nrows() {
            let mut sum = <N::Add as Monoid>::IDENTITY;
            let mut add = |x, y, k| sum = namm.add().apply::<Host>(V(sum), V(product(namm, x, y, (i, k, j)))).0;
            let zero = (Lhs::<N>::ZERO, Rhs::<N>::ZERO);
            let of = |k: usize| (a.get(i, k).copied().unwrap_or(zero.0), b.get(j, k).copied().unwrap_or(zero.1));
            for k in b.row(j).0.iter().map(|k| k.get()).filter(|&k| of(k).1 != zero.1) {
                add(of(k).0, of(k).1, k);
            }
            for k in a.row(i).0.iter().map(|k| k.get()).filter(|&k| of(k).0 != zero.0 && of(k).1 == zero.1) {
                add(of(k).0, zero.1, k);
            }
            c.push(sum);
        }
    }
    Dense::new(a.nrows(), b.nrows(), c).expect("m·n values")
}

/// Whether two dense matrices are identical, bit for bit.
pub(crate) fn same<T: Same>(what: &str, found: &Dense<T>, want: &Dense<T>) -> Result<(), String> {
    if found.shape() != want.shape() {
        return Err(format!("{what}: shape is {:?}, expected {:?}", found.shape(), want.shape()));
    }
    match found.values().iter().zip(want.values()).position(|(x, y)| !x.same(y)) {
        None => Ok(()),
        Some(p) => {
            let (i, j) = (p / want.ncols(), p % want.ncols());
            Err(format!("{what}: ({i}, {j}) is {:?}, expected {:?}", found.values()[p], want.values()[p]))
        }
    }
}

/// Draws values of two matrices.
pub(crate) fn draw<N: Namm>(pair: &(AnyPattern, AnyPattern), seed: u64) -> (Csr<Lhs<N>>, Csr<Rhs<N>>)
where
    Lhs<N>: Draw,
    Rhs<N>: Draw,
{
    (pair.0.matrix(seed), pair.1.matrix(!seed))
}
