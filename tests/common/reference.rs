//! Textbook results, so plain that they are right by reading. Slow on purpose: dense tables, no tricks.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sparring::algebra::{
    At, BinaryOp, Host, IndexUnaryOp, Lhs, Monoid, MulOp, Out, Place, Plus, PlusTimes, Rhs, Semiring, V, Value,
};
use sparring::sparse::{Dense, SparseVec};
use sparring::{Csr, Index, Pattern};

/// A matrix as a table of its entries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table<T> {
    pub(crate) shape: (usize, usize),
    pub(crate) entries: BTreeMap<(usize, usize), T>,
}

impl<T> Table<T> {
    /// Entries whose position satisfies `keep`.
    pub(crate) fn filter(mut self, keep: impl Fn(usize, usize) -> bool) -> Self {
        self.entries.retain(|&(i, j), _| keep(i, j));
        self
    }
    /// Number of entries in row `i`.
    pub(crate) fn row_nnz(&self, i: usize) -> usize {
        self.entries.range((i, 0)..(i + 1, 0)).count()
    }
    /// Largest number of entries in a row.
    pub(crate) fn max_row_nnz(&self) -> usize {
        (0..self.shape.0).map(|i| self.row_nnz(i)).max().unwrap_or(0)
    }
}

/// The table of a matrix.
pub(crate) fn table<T: Value, I: Index>(a: &Csr<T, I>) -> Table<T> {
    Table { shape: a.shape(), entries: a.iter().map(|(i, j, &x)| ((i, j), x)).collect() }
}

/// C(i, j) = e ⊕ A(i, k) ⊗ B(k, j) ⊕ … over all k for which both entries exist, in increasing order; e is the identity.
pub(crate) fn mxm<R: Semiring, I: Index>(ring: R, a: &Csr<Lhs<R>, I>, b: &Csr<Rhs<R>, I>) -> Table<Out<R>> {
    let (a, b) = (table(a), table(b));
    let mut entries = BTreeMap::new();
    for (&(i, k), &x) in &a.entries {
        for (&(_, j), &y) in b.entries.range((k, 0)..(k + 1, 0)) {
            let at = At { i: V(i as u64), k: V(k as u64), j: V(j as u64) };
            let product = ring.mul().mul::<Host>(V(x), V(y), at);
            let c = entries.entry((i, j)).or_insert(<R::Add as Monoid>::IDENTITY);
            *c = ring.add().apply::<Host>(V(*c), product).0;
        }
    }
    Table { shape: (a.shape.0, b.shape.1), entries }
}

/// The entries of A·B inside `mask`, or with `complement` those outside.
pub(crate) fn masked<R: Semiring, I: Index>(
    ring: R,
    a: &Csr<Lhs<R>, I>,
    b: &Csr<Rhs<R>, I>,
    mask: &Pattern<I>,
    complement: bool,
) -> Table<Out<R>> {
    let places: BTreeSet<_> = places(mask);
    mxm(ring, a, b).filter(|i, j| places.contains(&(i, j)) != complement)
}

/// The indices of a pattern.
pub(crate) fn places<I: Index>(p: &Pattern<I>) -> BTreeSet<(usize, usize)> {
    (0..p.nrows()).flat_map(|i| p.row(i).iter().map(move |j| (i, j.get()))).collect()
}

/// Multiplications per row of A·B.
pub(crate) fn row_flops<I: Index>(a: &Pattern<I>, b: &Pattern<I>) -> Vec<u64> {
    (0..a.nrows()).map(|i| a.row(i).iter().map(|k| b.row(k.get()).len() as u64).sum()).collect()
}

/// Aᵀ.
pub(crate) fn transpose<T: Value, I: Index>(a: &Csr<T, I>) -> Table<T> {
    Table { shape: (a.ncols(), a.nrows()), entries: a.iter().map(|(i, j, &x)| ((j, i), x)).collect() }
}

/// Triangles of the simple undirected graph under the pattern.
pub(crate) fn triangles<I: Index>(a: &Pattern<I>) -> u64 {
    let mut adjacent = vec![vec![false; a.nrows()]; a.nrows()];
    for (i, j) in places(a) {
        adjacent[i][j] = true;
        adjacent[j][i] = true;
    }
    let mut count = 0;
    for i in 0..a.nrows() {
        for j in 0..i {
            for k in 0..j {
                count += u64::from(adjacent[i][j] && adjacent[j][k] && adjacent[i][k]);
            }
        }
    }
    count
}

/// For each edge (i, j) of the simple undirected graph under the pattern, in both directions: the number of common
/// neighbours of i and j.
pub(crate) fn triangles_per_edge<I: Index>(a: &Pattern<I>) -> Table<u64> {
    let n = a.nrows();
    let mut joined = vec![vec![false; n]; n];
    for (i, j) in places(a).into_iter().filter(|(i, j)| i != j) {
        (joined[i][j], joined[j][i]) = (true, true);
    }
    let mut entries = BTreeMap::new();
    for i in 0..n {
        for j in (0..n).filter(|&j| joined[i][j]) {
            entries.insert((i, j), (0..n).filter(|&k| joined[i][k] && joined[j][k]).count() as u64);
        }
    }
    Table { shape: (n, n), entries }
}

/// e ⊕ x₁ ⊕ x₂ …, where e is the identity.
pub(crate) fn fold<M: Monoid>(monoid: M, xs: impl IntoIterator<Item = M::Out>) -> M::Out {
    xs.into_iter().fold(M::IDENTITY, |y, x| monoid.apply::<Host>(V(y), V(x)).0)
}

/// As [`fold`], in the order of `reduce_rows`: sums of more than sixteen values use sixteen partial sums.
pub(crate) fn folded<M: Monoid>(monoid: M, xs: impl IntoIterator<Item = M::Out>) -> M::Out {
    let xs: Vec<_> = xs.into_iter().collect();
    let added = TypeId::of::<M>() == TypeId::of::<Plus<M::Out>>();
    if added && xs.len() > 16 { interleaved(monoid, 16, &xs) } else { fold(monoid, xs) }
}

/// Interleaved partial sums: sum s takes the values s, s + `sums`, …; adjacent sums are then joined until one is left.
fn interleaved<M: Monoid>(monoid: M, sums: usize, xs: &[M::Out]) -> M::Out {
    let mut sums: Vec<_> = (0..sums).map(|s| fold(monoid, xs.iter().copied().skip(s).step_by(sums))).collect();
    while sums.len() > 1 {
        sums = sums.chunks(2).map(|two| monoid.apply::<Host>(V(two[0]), V(two[1])).0).collect();
    }
    sums[0]
}

/// Y(i, j) = e ⊕ A(i, k) ⊗ X(k, j) ⊕ … in the stored order of row i.
pub(crate) fn spmm<R: Semiring, I: Index>(ring: R, a: &Csr<Lhs<R>, I>, x: &Dense<Rhs<R>>) -> Dense<Out<R>> {
    let mut y = vec![];
    for i in 0..a.nrows() {
        for j in 0..x.ncols() {
            let (ks, values) = a.row(i);
            let products = ks.iter().zip(values).map(|(k, &value)| {
                let at = At { i: V(i as u64), k: V(k.get() as u64), j: V(j as u64) };
                ring.mul().mul::<Host>(V(value), V(x.row(k.get())[j]), at).0
            });
            y.push(fold(ring.add(), products));
        }
    }
    Dense::new(a.nrows(), x.ncols(), y).expect("m·n values")
}

/// y = A ⊕.⊗ x where `lets(i)` holds, else the identity: the product with a one-column matrix, except that
/// floating-point sums use eight partial sums.
pub(crate) fn mxv<R: Semiring, I: Index>(
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &[Rhs<R>],
    lets: impl Fn(usize) -> bool,
) -> Vec<Out<R>> {
    let ty = TypeId::of::<R>();
    let y = if ty == TypeId::of::<PlusTimes<f64>>() || ty == TypeId::of::<PlusTimes<f32>>() {
        let of_row = |i: usize| {
            let (ks, values) = a.row(i);
            let product = |(k, &value): (&I, &Lhs<R>)| {
                let at = At { i: V(i as u64), k: V(k.get() as u64), j: V(0) };
                ring.mul().mul::<Host>(V(value), V(x[k.get()]), at).0
            };
            interleaved(ring.add(), 8, &ks.iter().zip(values).map(product).collect::<Vec<_>>())
        };
        (0..a.nrows()).map(of_row).collect()
    } else {
        spmm(ring, a, &Dense::new(x.len(), 1, x.to_vec()).expect("one column")).into_values()
    };
    y.into_iter().enumerate().map(|(i, y)| if lets(i) { y } else { <R::Add as Monoid>::IDENTITY }).collect()
}

/// yᵀ = xᵀ ⊕.⊗ A where `lets(j)` holds: the product of a one-row matrix.
pub(crate) fn vxm<R: Semiring, I: Index>(
    ring: R,
    x: &SparseVec<Lhs<R>, I>,
    a: &Csr<Rhs<R>, I>,
    lets: impl Fn(usize) -> bool,
) -> Table<Out<R>> {
    let x = Csr::from_row_vectors(x.len(), std::slice::from_ref(x)).expect("one row");
    mxm(ring, &x, a).filter(|_, j| lets(j))
}

/// A ∘ B where both have an entry; where only one has, its entry.
pub(crate) fn union<T: Value, O: BinaryOp<A = T, B = T, Out = T>, I: Index>(
    op: O,
    a: &Csr<T, I>,
    b: &Csr<T, I>,
) -> Table<T> {
    let (a, b) = (table(a), table(b));
    let mut c = intersection_of(op, &a, &b);
    for (at, x) in a.entries.into_iter().chain(b.entries) {
        c.entries.entry(at).or_insert(x);
    }
    c
}

/// A ∘ B where both have an entry.
pub(crate) fn intersection<O: BinaryOp, I: Index>(op: O, a: &Csr<O::A, I>, b: &Csr<O::B, I>) -> Table<O::Out> {
    intersection_of(op, &table(a), &table(b))
}

fn intersection_of<O: BinaryOp>(op: O, a: &Table<O::A>, b: &Table<O::B>) -> Table<O::Out> {
    let both = a.entries.iter().filter_map(|(at, &x)| Some((*at, op.apply::<Host>(V(x), V(*b.entries.get(at)?)).0)));
    Table { shape: a.shape, entries: both.collect() }
}

/// C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l) for each entry of A and each of B.
pub(crate) fn kronecker<O: BinaryOp, I: Index>(op: O, a: &Csr<O::A, I>, b: &Csr<O::B, I>) -> Table<O::Out> {
    let (a, b) = (table(a), table(b));
    let (p, q) = b.shape;
    let mut entries = BTreeMap::new();
    for (&(i, j), &x) in &a.entries {
        for (&(k, l), &y) in &b.entries {
            entries.insert((i * p + k, j * q + l), op.apply::<Host>(V(x), V(y)).0);
        }
    }
    Table { shape: (a.shape.0 * p, a.shape.1 * q), entries }
}

/// The entries for which f(a, i, j, s) holds.
pub(crate) fn select<O: IndexUnaryOp<Out = bool>, I: Index>(op: O, a: &Csr<O::A, I>, s: O::S) -> Table<O::A> {
    let mut c = table(a);
    c.entries.retain(|&(i, j), x| op.apply::<Host>(V(*x), V(s), Place { i: V(i as u64), j: V(j as u64) }).0);
    c
}

/// Breadth-first distance of each vertex from `source`, by a queue.
pub(crate) fn levels<I: Index>(a: &Pattern<I>, source: usize) -> Vec<Option<u32>> {
    let mut levels = vec![None; a.nrows()];
    levels[source] = Some(0);
    let mut queue = VecDeque::from([(source, 0)]);
    while let Some((i, level)) = queue.pop_front() {
        for j in a.row(i).iter().map(|j| j.get()) {
            if levels[j].is_none() {
                levels[j] = Some(level + 1);
                queue.push_back((j, level + 1));
            }
        }
    }
    levels
}

/// C⟨M, r⟩ ⊙= T for vectors, entry by entry: Z = C ⊙ T, or T; then C = Z where the mask allows. Elsewhere C is kept or
/// deleted.
pub(crate) fn written<T: Copy>(
    c: &[Option<T>],
    t: &[Option<T>],
    allows: impl Fn(usize) -> bool,
    replace: bool,
    accum: Option<fn(T, T) -> T>,
) -> Vec<Option<T>> {
    let z = |i: usize| match (accum, c[i], t[i]) {
        (Some(f), Some(x), Some(y)) => Some(f(x, y)),
        (Some(_), x, y) => x.or(y),
        (None, _, y) => y,
    };
    let outside = |i: usize| if replace { None } else { c[i] };
    (0..c.len()).map(|i| if allows(i) { z(i) } else { outside(i) }).collect()
}
