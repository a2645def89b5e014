//! Textbook results from tables, with operators as closures: compiled per type, not for each of the hundreds of
//! operators.

use std::any::TypeId;
use std::collections::BTreeMap;

use sparring::algebra::{At, BinaryOp, Host, Monoid, MulOp, Out, PlusTimes, Semiring, V, Value};
use sparring::{Csr, Vector};

/// A matrix, or a vector as a row: entries by index.
type Entries<T> = BTreeMap<(usize, usize), T>;

/// A table, built entry by entry: `collect` would compile a sort for each use.
fn table<T>(entries: &mut dyn Iterator<Item = ((usize, usize), T)>) -> Entries<T> {
    let mut table = Entries::new();
    for (at, x) in entries {
        table.insert(at, x);
    }
    table
}

/// Matrices and vectors.
pub(crate) trait Tabled<T: Value>: Sized {
    type Of<U: Value>;
    fn entries(&self) -> Entries<T>;
    /// With the shape of `self`.
    fn like<U: Value>(&self, entries: Entries<U>) -> Self::Of<U>;
    /// In stored order.
    fn kept<U: Value>(&self, f: &dyn Fn(T, (usize, usize)) -> Option<U>) -> Self::Of<U>;
}

impl<T: Value> Tabled<T> for Csr<T> {
    type Of<U: Value> = Csr<U>;
    fn entries(&self) -> Entries<T> {
        table(&mut self.iter().map(|(i, j, &x)| ((i, j), x)))
    }
    fn like<U: Value>(&self, entries: Entries<U>) -> Csr<U> {
        matrix(self.shape(), entries)
    }
    fn kept<U: Value>(&self, f: &dyn Fn(T, (usize, usize)) -> Option<U>) -> Csr<U> {
        let kept = self.iter().filter_map(|(i, j, &x)| Some(((i, j as u32), f(x, (i, j))?)));
        rows(self.shape(), kept.collect())
    }
}

impl<T: Value> Tabled<T> for Vector<T> {
    type Of<U: Value> = Vector<U>;
    fn entries(&self) -> Entries<T> {
        table(&mut self.iter().map(|(j, &x)| ((0, j), x)))
    }
    fn like<U: Value>(&self, entries: Entries<U>) -> Vector<U> {
        vector(self.len(), entries)
    }
    fn kept<U: Value>(&self, f: &dyn Fn(T, (usize, usize)) -> Option<U>) -> Vector<U> {
        // The index of an entry is (i, 0).
        vector(self.len(), table(&mut self.iter().filter_map(|(i, &x)| Some(((0, i), f(x, (i, 0))?)))))
    }
}

fn rows<U: Value>((m, n): (usize, usize), entries: Vec<((usize, u32), U)>) -> Csr<U> {
    let row_ptr = (0..=m).map(|r| entries.iter().filter(|((i, _), _)| *i < r).count()).collect();
    let (cols, values) = entries.into_iter().map(|((_, j), x)| (j, x)).unzip();
    Csr::from_unsorted(m, n, row_ptr, cols, values).unwrap()
}

fn matrix<U: Value>(shape: (usize, usize), entries: Entries<U>) -> Csr<U> {
    rows(shape, entries.into_iter().map(|((i, j), x)| ((i, j as u32), x)).collect())
}

fn vector<U: Value>(len: usize, entries: Entries<U>) -> Vector<U> {
    let (at, values) = entries.into_iter().map(|((_, j), x)| (j as u32, x)).unzip();
    Vector::new(len, at, values).unwrap()
}

/// a ∘ b where both have an entry.
pub(crate) fn intersection<T: Value, U: Value, C: Tabled<T>>(a: &C, b: &C, f: &dyn Fn(T, T) -> U) -> C::Of<U> {
    let of_b = b.entries();
    a.like(table(&mut a.entries().into_iter().filter_map(|(at, x)| Some((at, f(x, *of_b.get(&at)?))))))
}

/// a ∘ b where both have an entry; where only one has, its entry.
pub(crate) fn union<T: Value, C: Tabled<T>>(a: &C, b: &C, f: &dyn Fn(T, T) -> T) -> C::Of<T> {
    let mut c = a.entries();
    for (at, y) in b.entries() {
        c.entry(at).and_modify(|x| *x = f(*x, y)).or_insert(y);
    }
    a.like(c)
}

/// The entries that satisfy the predicate.
pub(crate) fn filtered<T: Value, C: Tabled<T>>(a: &C, keeps: &dyn Fn(T, (usize, usize)) -> bool) -> C::Of<T> {
    a.like(table(&mut a.entries().into_iter().filter(|&(at, x)| keeps(x, at))))
}

/// Aᵀ.
pub(crate) fn transposed<T: Value>(a: &Csr<T>) -> Csr<T> {
    matrix((a.ncols(), a.nrows()), table(&mut a.iter().map(|(i, j, &x)| ((j, i), x))))
}

/// ⊕ of all values in order, from the identity.
pub(crate) fn folded<T: Value>(identity: T, add: &dyn Fn(T, T) -> T, values: &mut dyn Iterator<Item = T>) -> T {
    values.fold(identity, add)
}

/// ⊕ of each nonempty row.
pub(crate) fn folded_rows<T: Value>(identity: T, add: &dyn Fn(T, T) -> T, a: &Csr<T>) -> Vector<T> {
    let of = |i: usize| folded(identity, add, &mut a.row(i).1.iter().copied());
    let rows = (0..a.nrows()).filter(|&i| !a.row(i).0.is_empty());
    vector(a.nrows(), table(&mut rows.map(|i| ((0, i), of(i)))))
}

/// A semiring whose ⊕ and ⊗ are closures.
pub(crate) struct Ring<T, U> {
    identity: U,
    add: Box<dyn Fn(U, U) -> U>,
    mul: Box<dyn Fn(T, T, usize, usize, usize) -> U>,
    /// + and × of floats, whose products with full vectors use eight partial sums.
    floats: bool,
}

/// The semiring as closures.
pub(crate) fn erased<T: Value, R>(ring: R) -> Ring<T, Out<R>>
where
    R: Semiring,
    R::Mul: MulOp<A = T, B = T>,
{
    let at = |i, k, j| At { i: V(i as u64), k: V(k as u64), j: V(j as u64) };
    Ring {
        identity: <R::Add as Monoid>::IDENTITY,
        add: Box::new(move |z, x| ring.add().apply::<Host>(V(z), V(x)).0),
        mul: Box::new(move |a, b, i, k, j| ring.mul().mul::<Host>(V(a), V(b), at(i, k, j)).0),
        floats: [TypeId::of::<PlusTimes<f32>>(), TypeId::of::<PlusTimes<f64>>()].contains(&TypeId::of::<R>()),
    }
}

impl<T: Value, U: Value> Ring<T, U> {
    /// A ⊕.⊗ B, from the identity, in increasing k.
    fn product(&self, a: &Entries<T>, b: &Entries<T>) -> Entries<U> {
        let mut c = BTreeMap::new();
        for (&(i, k), &x) in a {
            for (&(_, j), &y) in b.range((k, 0)..(k + 1, 0)) {
                let z = c.entry((i, j)).or_insert(self.identity);
                *z = (self.add)(*z, (self.mul)(x, y, i, k, j));
            }
        }
        c
    }
    pub(crate) fn mxm(&self, a: &Csr<T>, b: &Csr<T>) -> Csr<U> {
        matrix((a.nrows(), b.ncols()), self.product(&a.entries(), &b.entries()))
    }
    pub(crate) fn vxm(&self, x: &Vector<T>, a: &Csr<T>) -> Vector<U> {
        vector(a.ncols(), self.product(&x.entries(), &a.entries()))
    }
    /// A ⊕.⊗ X; X and the result are row-major with `n` columns; rows of A are folded in stored order.
    pub(crate) fn spmm(&self, a: &Csr<T>, x: &[T], n: usize) -> Vec<U> {
        let mut y = vec![self.identity; a.nrows() * n];
        for (i, k, &of_a) in a.iter() {
            for (j, y) in y[i * n..][..n].iter_mut().enumerate() {
                *y = (self.add)(*y, (self.mul)(of_a, x[k * n + j], i, k, j));
            }
        }
        y
    }
    /// In the stored order of the rows of A.
    pub(crate) fn mxv(&self, a: &Csr<T>, x: &Vector<T>) -> Vector<U> {
        let (full, x, mut products) = (x.as_full().is_some(), x.entries(), BTreeMap::<_, Vec<U>>::new());
        for (i, k, &of_a) in a.iter() {
            if let Some(&of_x) = x.get(&(0, k)) {
                products.entry((0, i)).or_default().push((self.mul)(of_a, of_x, i, k, 0));
            }
        }
        let sum = |zs: &mut dyn Iterator<Item = U>| zs.fold(self.identity, &self.add);
        let y = products.into_iter().map(|(at, zs)| {
            if !(self.floats && full) {
                return (at, sum(&mut zs.into_iter()));
            }
            let mut sums: Vec<U> = (0..8).map(|s| sum(&mut zs.iter().copied().skip(s).step_by(8))).collect();
            while sums.len() > 1 {
                sums = sums.chunks(2).map(|two| (self.add)(two[0], two[1])).collect();
            }
            (at, sums[0])
        });
        vector(a.nrows(), y.collect())
    }
}
