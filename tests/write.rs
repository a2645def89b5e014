//! C⟨M, r⟩ ⊙= T for matrices and vectors, every kind of mask, accumulators and replace, compared with a dense table.

use std::collections::BTreeMap;

use quickcheck::{Arbitrary, Gen, quickcheck};
use sparring::algebra::{Identity, Minus};
use sparring::backend::{Build, Matrices, Operation, Vectors};
use sparring::prelude::*;

/// The contents of a matrix by cell; a vector is a one-column matrix.
type Cells = BTreeMap<(usize, usize), f64>;

/// A matrix of at most 12 × 9, with some zero values, in one of three densities.
#[derive(Clone, Debug)]
struct Case {
    shape: (usize, usize),
    cells: [Cells; 4],
    accum: bool,
    replace: bool,
    complement: bool,
    mask: u8,
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let shape = (usize::arbitrary(g) % 12, usize::arbitrary(g) % 9);
        let mut cells = || {
            let dense = u8::arbitrary(g) % 3;
            let mut cells = Cells::new();
            for place in (0..shape.0).flat_map(|i| (0..shape.1).map(move |j| (i, j))) {
                if dense == 2 || u8::arbitrary(g) % [8, 2][usize::from(dense.min(1))] == 0 {
                    cells.insert(place, f64::from(i8::arbitrary(g) % 3));
                }
            }
            cells
        };
        let cells = [cells(), cells(), cells(), cells()];
        Self {
            shape,
            cells,
            accum: bool::arbitrary(g),
            replace: bool::arbitrary(g),
            complement: bool::arbitrary(g),
            mask: u8::arbitrary(g) % 3,
        }
    }
}

impl Case {
    /// Whether the mask allows an index.
    fn lets(&self, place: &(usize, usize)) -> bool {
        let inside = match (self.mask, self.cells[1].get(place)) {
            (0, _) => return true,
            (1, value) => value.is_some_and(|x| *x != 0.0),
            (_, value) => value.is_some(),
        };
        inside != self.complement
    }
    /// C⟨M, r⟩ ⊙= T by its definition.
    fn want(&self, c: &Cells, t: &Cells) -> Cells {
        let mut all = Cells::new();
        for place in (0..self.shape.0).flat_map(|i| (0..self.shape.1).map(move |j| (i, j))) {
            let (old, new) = (c.get(&place).copied(), t.get(&place).copied());
            let z = match (self.accum, old, new) {
                (true, Some(x), Some(y)) => Some(x - y),
                (true, x, y) => x.or(y),
                (false, _, y) => y,
            };
            let result = match (self.lets(&place), self.mask != 0 && self.replace) {
                (true, _) => z,
                (false, true) => None,
                (false, false) => old,
            };
            result.map(|x| all.insert(place, x));
        }
        all
    }
    fn matrix(&self, n: usize) -> Csr<f64> {
        let entries = || self.cells[n].iter();
        let (rows, cols) = (entries().map(|e| e.0.0 as u32).collect(), entries().map(|e| e.0.1 as u32).collect());
        Coo::new(self.shape.0, self.shape.1, rows, cols, entries().map(|e| *e.1).collect())
            .and_then(|coo| coo.to_csr(Plus::new()))
            .expect("a matrix")
    }
    /// The first column as a vector.
    fn vector(&self, n: usize) -> Vector<f64> {
        let entries = || self.cells[n].iter().filter(|e| e.0.1 == 0);
        Vector::new(self.shape.0, entries().map(|e| e.0.0 as u32).collect(), entries().map(|e| *e.1).collect())
            .expect("a vector")
    }
}

/// Writes matrices or vectors by the chain that the case requires.
macro_rules! write {
    ($name:ident, $kind:ident, $container:ident) => {
        fn $name<B: Backend, Op: Operation<B, u32, Kind = $kind, Out = f64>>(
            &self,
            chain: Build<'_, B, u32, Op>,
            mask: &B::$container<f64>,
            c: &mut B::$container<f64>,
        ) -> Result<()> {
            // Every combination of the chain that compiles.
            match (self.mask, self.accum, self.complement, self.replace) {
                (0, false, ..) => chain.into(c),
                (0, true, ..) => chain.accum(Minus::new()).into(c),
                (1, false, false, false) => chain.mask(mask).into(c),
                (1, false, false, true) => chain.mask(mask).replace().into(c),
                (1, false, true, false) => chain.mask(mask).complement().into(c),
                (1, false, true, true) => chain.mask(mask).complement().replace().into(c),
                (1, true, false, false) => chain.accum(Minus::new()).mask(mask).into(c),
                (1, true, false, true) => chain.mask(mask).accum(Minus::new()).replace().into(c),
                (1, true, true, false) => chain.mask(mask).complement().accum(Minus::new()).into(c),
                (1, true, true, true) => chain.mask(mask).replace().complement().accum(Minus::new()).into(c),
                (_, false, false, false) => chain.mask(mask.structure()).into(c),
                (_, false, false, true) => chain.mask(mask.structure()).replace().into(c),
                (_, false, true, false) => chain.mask(!mask.structure()).into(c),
                (_, false, true, true) => chain.mask(!mask.structure()).replace().into(c),
                (_, true, false, false) => chain.mask(mask.structure()).accum(Minus::new()).into(c),
                (_, true, false, true) => chain.mask(mask.structure()).accum(Minus::new()).replace().into(c),
                (_, true, true, false) => chain.mask(!mask.structure()).accum(Minus::new()).into(c),
                (_, true, true, true) => {
                    chain.mask(!!mask.structure()).complement().accum(Minus::new()).replace().into(c)
                }
            }
        }
    };
}
impl Case {
    write!(write_matrix, Matrices, Matrix);
    write!(write_vector, Vectors, Vector);
}

fn cells(c: &Csr<f64>) -> Cells {
    c.iter().map(|(i, j, x)| ((i, j), *x)).collect()
}
fn column(v: &Vector<f64>) -> Cells {
    v.iter().map(|(i, x)| ((i, 0), *x)).collect()
}

fn matrices<B: Backend>(m: &B, case: &Case) -> Result<bool> {
    let (a, b, mask) = (m.upload(&case.matrix(0))?, m.upload(&case.matrix(3))?, m.upload(&case.matrix(1))?);
    let check = |found: &B::Matrix<f64>, c: &Cells, t: &Cells| Ok(cells(&m.download(found)?) == case.want(c, t));
    let mut c = m.upload(&case.matrix(2))?;
    case.write_matrix(m.apply(Identity::new(), &a), &mask, &mut c)?;
    let mut right = check(&c, &case.cells[2], &case.cells[0])?;
    // An operand that is also the result; its clone keeps the old contents.
    let mut both = m.upload(&case.matrix(2))?;
    let before = both.clone();
    case.write_matrix(m.ewise_add(Plus::new(), &both, &a), &mask, &mut both)?;
    let mut sum = case.cells[2].clone();
    case.cells[0].iter().for_each(|(place, x)| *sum.entry(*place).or_insert(0.0) += x);
    right &= check(&both, &case.cells[2], &sum)? && cells(&m.download(&before)?) == case.cells[2];
    // A product whose mask is applied before multiplying.
    let t = m.mxm(PlusTimes::new(), &a, &b).transpose_b().eval()?;
    if case.shape.0 == case.shape.1 {
        let t = cells(&m.download(&t)?);
        let mut c = m.upload(&case.matrix(2))?;
        case.write_matrix(m.mxm(PlusTimes::new(), &a, &b).transpose_b(), &mask, &mut c)?;
        right &= check(&c, &case.cells[2], &t)?;
    }
    Ok(right)
}

fn vectors<B: Backend>(m: &B, case: &Case) -> Result<bool> {
    if case.shape.1 == 0 {
        return Ok(true);
    }
    let case = Case { shape: (case.shape.0, 1), ..case.clone() };
    let up = |n| m.upload_vector(&case.vector(n));
    let (v, mask) = (up(0)?, up(1)?);
    let first = |n: usize| column(&case.vector(n));
    let case = Case { cells: [first(0), first(1), first(2), first(3)], ..case.clone() };
    let check =
        |found: &B::Vector<f64>, t: &Cells| Ok(column(&m.download_vector(found)?) == case.want(&case.cells[2], t));
    let mut c = up(2)?;
    case.write_vector(m.apply(Identity::new(), &v), &mask, &mut c)?;
    let mut right = check(&c, &case.cells[0])?;
    let mut c = up(2)?;
    case.write_vector(m.assign_scalar(7.0), &mask, &mut c)?;
    right &= check(&c, &(0..case.shape.0).map(|i| ((i, 0), 7.0)).collect())?;
    // Under a product with the identity matrix, from either side.
    let n = case.shape.0;
    let eye = m.upload(&Csr::new(n, n, (0..=n).collect(), (0..n as u32).collect(), vec![1.0; n])?)?;
    for side in [0, 1] {
        let mut c = up(2)?;
        if side == 0 {
            case.write_vector(m.mxv(PlusTimes::new(), &eye, &v), &mask, &mut c)?;
        } else {
            case.write_vector(m.vxm(PlusTimes::new(), &v, &eye).transpose_b(), &mask, &mut c)?;
        }
        right &= check(&c, &case.cells[0])?;
    }
    Ok(right)
}

quickcheck! {
    fn matrices_on_the_processor(case: Case) -> bool {
        matrices(&Cpu::new(), &case).expect("no error")
    }
    fn vectors_on_the_processor(case: Case) -> bool {
        vectors(&Cpu::new(), &case).expect("no error")
    }
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs a GPU"]
fn on_a_gpu() {
    let cuda = Cuda::new(0).unwrap();
    let mut g = Gen::new(50);
    for _ in 0..60 {
        let case = Case::arbitrary(&mut g);
        assert!(matrices(&cuda, &case).expect("no error"), "{case:?}");
        assert!(vectors(&cuda, &case).expect("no error"), "{case:?}");
    }
}

/// w(I) = v by its definition, with and without an accumulator.
#[test]
fn assignments_and_extractions() {
    let m = Cpu::new();
    let w = Vector::new(6, vec![0, 2, 3], vec![1.0, 2.0, 3.0]).unwrap();
    let v = Vector::new(3, vec![0, 2], vec![10.0, 30.0]).unwrap();
    let mut c = w.clone();
    m.assign(&v, &[2, 3, 5]).into(&mut c).unwrap();
    assert_eq!(c, Vector::new(6, vec![0, 2, 5], vec![1.0, 10.0, 30.0]).unwrap(), "place 3 loses its entry");
    let mut c = w.clone();
    m.assign(&v, &[2, 3, 5]).accum(Plus::new()).into(&mut c).unwrap();
    assert_eq!(c, Vector::new(6, vec![0, 2, 3, 5], vec![1.0, 12.0, 3.0, 30.0]).unwrap());
    let e = m.extract(&w, &[3, 3, 1]).eval().unwrap();
    assert_eq!(e, Vector::new(3, vec![0, 1], vec![3.0, 3.0]).unwrap());
    let twice = m.assign(&v, &[2, 2, 5]).into(&mut c).unwrap_err();
    assert!(matches!(twice, Error::Duplicate { column: 2, .. }), "{twice}");
    let far = m.extract(&w, &[6]).eval().unwrap_err();
    assert!(matches!(far, Error::IndexRange { index: 6, bound: 6, .. }), "{far}");
    let nowhere = Backend::<u32>::assign_scalar(&m, 1.0).eval().unwrap_err().to_string();
    assert!(nowhere.contains("into(&mut w)"), "{nowhere}");
    let mut short = Vector::empty(5).unwrap();
    let shapes = m.apply(Identity::new(), &w).into(&mut short).unwrap_err();
    assert!(matches!(shapes, Error::Shape { lhs: (5, 1), rhs: (6, 1), .. }), "{shapes}");
    let mask = m.apply(Identity::new(), &w).mask(&Vector::<bool>::empty(4).unwrap()).eval();
    assert!(mask.is_err());
}

/// Union with default values for absent entries.
#[test]
fn ewise_union_fills() {
    let m = Cpu::new();
    let a = Csr::<f64>::new(2, 2, vec![0, 2, 2], vec![0, 1], vec![5.0, 6.0]).unwrap();
    let b = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![1.0, 2.0]).unwrap();
    let c = m.ewise_union(Minus::new(), &a, 100.0, &b, 10.0).eval().unwrap();
    assert_eq!((c.row(0), c.row(1)), ((&[0, 1][..], &[-5.0, 5.0][..]), (&[0][..], &[98.0][..])));
    let x = Vector::<f64>::new(40, vec![0, 1], vec![5.0, 6.0]).unwrap();
    for y in [Vector::<f64>::new(40, vec![1, 3], vec![1.0, 2.0]).unwrap(), Vector::<f64>::constant(40, 1.0).unwrap()] {
        let z = m.ewise_union(Minus::new(), &x, 100.0, &y, 10.0).eval().unwrap();
        for i in 0..40 {
            let want = match (x.get(i), y.get(i)) {
                (None, None) => None,
                (p, q) => Some(p.copied().unwrap_or(100.0) - q.copied().unwrap_or(10.0)),
            };
            assert_eq!(z.get(i).copied(), want);
        }
    }
}
