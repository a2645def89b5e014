//! Results from tables, by operators that are closures: compiled for types and not for operators, of which there are hundreds.

use std::collections::BTreeMap;

use sparring::algebra::{At, BinaryOp, Host, Monoid, MulOp, Out, Semiring, V, Value};
use sparring::{Csr, Vector};

/// A matrix, or a vector as a row: its entries by place.
type Entries<T> = BTreeMap<(usize, usize), T>;

/// Matrices and vectors.
pub(crate) trait Tabled<T: Value>: Sized {
    type Of<U: Value>;
    fn entries(&self) -> Entries<T>;
    /// Of the shape of this one.
    fn like<U: Value>(&self, entries: Entries<U>) -> Self::Of<U>;
    /// In the order in which they are stored.
    fn kept<U: Value>(&self, f: &dyn Fn(T, (usize, usize)) -> Option<U>) -> Self::Of<U>;
}

impl<T: Value> Tabled<T> for Csr<T> {
    type Of<U: Value> = Csr<U>;
    fn entries(&self) -> Entries<T> {
        self.iter().map(|(i, j, &x)| ((i, j), x)).collect()
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
        self.iter().map(|(j, &x)| ((0, j), x)).collect()
    }
    fn like<U: Value>(&self, entries: Entries<U>) -> Vector<U> {
        vector(self.len(), entries)
    }
    fn kept<U: Value>(&self, f: &dyn Fn(T, (usize, usize)) -> Option<U>) -> Vector<U> {
        // The place of an entry is (i, 0).
        vector(self.len(), self.iter().filter_map(|(i, &x)| Some(((0, i), f(x, (i, 0))?))).collect())
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
    a.like(a.entries().into_iter().filter_map(|(at, x)| Some((at, f(x, *of_b.get(&at)?)))).collect())
}

/// a ∘ b where both have an entry; where one has, that entry.
pub(crate) fn union<T: Value, C: Tabled<T>>(a: &C, b: &C, f: &dyn Fn(T, T) -> T) -> C::Of<T> {
    let mut c = a.entries();
    for (at, y) in b.entries() {
        c.entry(at).and_modify(|x| *x = f(*x, y)).or_insert(y);
    }
    a.like(c)
}

/// A semiring whose ⊕ and ⊗ are closures.
pub(crate) struct Ring<T, U> {
    identity: U,
    add: Box<dyn Fn(U, U) -> U>,
    mul: Box<dyn Fn(T, T, usize, usize, usize) -> U>,
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
    }
}

impl<T: Value, U: Value> Ring<T, U> {
    /// A ⊕.⊗ B, from the identity, k increasing.
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
    /// In the order in which the rows of A are stored.
    pub(crate) fn mxv(&self, a: &Csr<T>, x: &Vector<T>) -> Vector<U> {
        let (x, mut y) = (x.entries(), BTreeMap::new());
        for (i, k, &of_a) in a.iter() {
            if let Some(&of_x) = x.get(&(0, k)) {
                let z = y.entry((0, i)).or_insert(self.identity);
                *z = (self.add)(*z, (self.mul)(of_a, of_x, i, k, 0));
            }
        }
        vector(a.nrows(), y)
    }
}
