//! Results on any number of ranks are bitwise identical to those of the CPU.

use sparring::algebra::{Array, Type};
use sparring::par::Threads;
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Monoid, Op, Pairing, Scalar, Semiring, UnaryOp, Vector};
use sparring::spgemm::Options;
use sparring::{Cpu, Error};
use sparring_cluster::Cluster;

/// Random numbers, the same on every rank.
pub(crate) struct Draw(u64);
impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
    pub(crate) fn real(&mut self) -> f64 {
        self.below(1 << 30) as f64 / (1 << 29) as f64 - 1.0
    }
    pub(crate) fn matrix(&mut self, (m, n): (usize, usize), entries: usize) -> Matrix {
        let entries = if m * n == 0 { 0 } else { entries };
        // Denser at the first rows and columns.
        let rows = (0..entries).map(|_| (self.below(m) * self.below(m) / m.max(1)) as u32).collect();
        let cols = (0..entries).map(|_| (self.below(n) * self.below(n) / n.max(1)) as u32).collect();
        let values = Array::of((0..entries).map(|_| self.real()).collect::<Vec<_>>());
        let last = BinaryOp::new("second", Type::F64).unwrap();
        Matrix::build(&Threads::current(), (m, n), (rows, cols, values), Some(&last)).unwrap()
    }
    pub(crate) fn vector(&mut self, n: usize, entries: usize) -> Vector {
        if entries >= n {
            return Vector::full(Array::of((0..n).map(|_| self.real()).collect::<Vec<_>>())).unwrap();
        }
        let mut places: Vec<u32> = (0..entries).map(|_| self.below(n) as u32).collect();
        places.sort_unstable();
        places.dedup();
        let values = Array::of(places.iter().map(|_| self.real()).collect::<Vec<_>>());
        Vector::new(n, places, values).unwrap()
    }
}

pub(crate) fn same(what: &str, here: &Matrix, there: &Matrix) {
    let there = there.download().unwrap();
    assert_eq!((here.shape(), here.nnz(), here.ty()), (there.shape(), there.nnz(), there.ty()), "{what}");
    let (a, b) = (here.pattern().unwrap(), there.pattern().unwrap());
    assert!(a.row_ptr() == b.row_ptr() && a.col_idx() == b.col_idx(), "{what}: pattern");
    let (a, b) = (bytes(here.values().unwrap()), bytes(there.values().unwrap()));
    assert_eq!(a.iter().zip(&b).position(|(a, b)| a != b), None, "{what}: values");
}
pub(crate) fn same_vector(what: &str, here: &Vector, there: &Vector) {
    let there = there.download().unwrap();
    let ((p, a), (q, b)) = (here.entries().unwrap(), there.entries().unwrap());
    assert!(here.len() == there.len() && p == q, "{what}: places");
    assert_eq!(bytes(a.slice()), bytes(b.slice()), "{what}: values");
}
fn bytes(values: sparring::algebra::Slice<'_>) -> Vec<u8> {
    sparring::runtime::engine::bytes_of(values).unwrap()
}
pub(crate) fn close(what: &str, here: &Vector, there: &Vector) {
    let there = there.download().unwrap();
    let (x, y) = (here.typed::<f64>().unwrap(), there.typed::<f64>().unwrap());
    assert_eq!(x.nnz(), y.nnz(), "{what}");
    for ((i, x), (j, y)) in x.iter().zip(y.iter()) {
        assert!(i == j && (x - y).abs() <= 1e-12 * (1.0 + x.abs()), "{what}: {i} {x}, {j} {y}");
    }
}

pub(crate) fn all(cluster: &Cluster) {
    let (cpu, many) = (Machine::from(Cpu::with_threads(1).unwrap()), Machine::from(cluster.clone()));
    assert!(many.describe().starts_with("cluster of "), "{}", many.describe());
    let (times, least) =
        (Semiring::new("plus_times", Type::F64).unwrap(), Semiring::new("min_plus", Type::F64).unwrap());
    let shapes = [
        (1, 1, 1),
        (2, 3, 1),
        (7, 5, 9),
        (40, 30, 50),
        (300, 200, 100),
        (3, 1000, 2),
        (1000, 2, 1000),
        (0, 4, 3),
        (5, 0, 5),
    ];
    for (case, (m, k, n)) in shapes.into_iter().enumerate() {
        let mut draw = Draw::new(case as u64 + 1);
        let (a, b) = (draw.matrix((m, k), 4 * m + k), draw.matrix((k, n), 3 * k + n));
        let (mask, x, y) = (draw.matrix((m, n), m * n / 3), draw.vector(k, k / 2), draw.vector(m, m));
        let (a2, b2, mask2) = (many.upload(&a).unwrap(), many.upload(&b).unwrap(), many.upload(&mask).unwrap());
        same("upload", &a, &a2);
        for ring in [&times, &least] {
            let what = format!("{ring} {m}×{k}×{n}");
            same(&what, &cpu.mxm(ring, &a, &b).unwrap(), &many.mxm(ring, &a2, &b2).unwrap());
            for complement in [false, true] {
                let options = Options::default();
                let here = cpu.mxm_with(ring, &a, &b, Some((&mask, complement)), &options).unwrap();
                let there = many.mxm_with(ring, &a2, &b2, Some((&mask2, complement)), &options).unwrap();
                same(&format!("{what}, mask"), here.matrix(), there.matrix());
            }
            let plan = many.plan(&a2, &b2, &Options::default()).unwrap();
            assert!(many.made(&plan) && plan.shape() == (m, n), "{}", plan.explain());
            same(&what, &cpu.mxm(ring, &a, &b).unwrap(), &many.numeric(&plan, ring, &a2, &b2).unwrap());
        }
        let what = format!("{m}×{k}");
        same_vector(&what, &cpu.mxv(&least, &a, &x).unwrap(), &many.mxv(&least, &a2, &x).unwrap());
        same_vector(&what, &cpu.vxm(&least, &y, &a).unwrap(), &many.vxm(&least, &y, &a2).unwrap());
        close(&what, &cpu.mxv(&times, &a, &x).unwrap(), &many.mxv(&times, &a2, &x).unwrap());
        close(&what, &cpu.vxm(&times, &y, &a).unwrap(), &many.vxm(&times, &y, &a2).unwrap());
        same(&what, &cpu.transpose(&a).unwrap(), &many.transpose(&a2).unwrap());
        places(&cpu, &many, &a, &a2, &x, &y);
    }
    kronecker(&cpu, &many);
    errors(&cpu, &many);
    cluster.set_stage_bytes(2000);
    staged(&cpu, &many);
    cluster.set_reproducible(true);
    reproducible(&cpu, &many);
    cluster.set_reproducible(false);
}

/// Kronecker products with either operand the larger one.
fn kronecker(cpu: &Machine, many: &Machine) {
    let minus = BinaryOp::new("minus", Type::F64).unwrap();
    for (case, (of_a, of_b)) in
        [((7, 5), (4, 9)), ((2, 3), (40, 30)), ((40, 30), (3, 2)), ((1, 1), (5, 5)), ((0, 3), (4, 4)), ((3, 3), (2, 0))]
            .into_iter()
            .enumerate()
    {
        let mut draw = Draw::new(case as u64 + 41);
        let (a, b) = (draw.matrix(of_a, 3 * of_a.0), draw.matrix(of_b, 3 * of_b.0));
        let mask = draw.matrix((of_a.0 * of_b.0, of_a.1 * of_b.1), 200);
        let (a2, b2, mask2) = (many.upload(&a).unwrap(), many.upload(&b).unwrap(), many.upload(&mask).unwrap());
        let op = Op::Pairs(Pairing::Kronecker, &minus);
        let here: Matrix = cpu.call(op, (&a, &b)).eval().unwrap();
        same("kronecker", &here, &many.call(op, (&a2, &b2)).eval().unwrap());
        let here: Matrix = cpu.call(op, (&a, &b)).mask(&mask).structure().complement().eval().unwrap();
        same(
            "kronecker, mask",
            &here,
            &many.call(op, (&a2, &b2)).mask(&mask2).structure().complement().eval().unwrap(),
        );
    }
    // The columns exceed 2³².
    let a = Draw::new(3).matrix((1, 70_000), 9);
    let wide = many.upload(&a).unwrap();
    let op = Op::Pairs(Pairing::Kronecker, &minus);
    let here: Matrix = cpu.call(op, (&a, &a)).eval().unwrap();
    let there: Matrix = many.call(op, (&wide, &wide)).eval().unwrap();
    assert_eq!(here.shape(), there.shape());
    let (here, there) = (here.extract_tuples_wide().unwrap(), there.download().unwrap().extract_tuples_wide().unwrap());
    assert!(here.0 == there.0 && here.1 == there.1, "kronecker of 4.9e9 columns: pattern");
    assert_eq!(bytes(here.2.slice()), bytes(there.2.slice()), "kronecker of 4.9e9 columns: values");
}

/// Products whose right operand is gathered in strips.
fn staged(cpu: &Machine, many: &Machine) {
    let mut draw = Draw::new(91);
    for (m, k, n) in [(300, 200, 250), (100, 100, 3), (9, 500, 0)] {
        let (a, b, mask) = (draw.matrix((m, k), 4000), draw.matrix((k, n), 3000), draw.matrix((m, n), 5000));
        for text in ["plus, a * b", "max, f64(1000 * i + j)", "min, f64(k) + f64(j)"] {
            let ring = Semiring::between(text, Type::F64, Type::F64).unwrap();
            same(text, &cpu.mxm(&ring, &a, &b).unwrap(), &many.mxm(&ring, &a, &b).unwrap());
            for complement in [false, true] {
                let options = Options::default();
                let here = cpu.mxm_with(&ring, &a, &b, Some((&mask, complement)), &options).unwrap();
                let there = many.mxm_with(&ring, &a, &b, Some((&mask, complement)), &options).unwrap();
                same(text, here.matrix(), there.matrix());
            }
        }
    }
}

/// Sums of floats, bitwise identical to one rank.
fn reproducible(cpu: &Machine, many: &Machine) {
    let (ring, plus) = (Semiring::new("plus_times", Type::F64).unwrap(), Monoid::new("plus", Type::F64).unwrap());
    for (case, (m, n)) in [(1, 1), (40, 30), (300, 200), (3, 1000), (0, 4)].into_iter().enumerate() {
        let mut draw = Draw::new(case as u64 + 50);
        let a = draw.matrix((m, n), 9 * m + n);
        let (x, y, mask) = (draw.vector(n, n / 2), draw.vector(m, m), draw.vector(m, m / 2));
        let a2 = many.upload(&a).unwrap();
        same_vector("mxv", &cpu.mxv(&ring, &a, &x).unwrap(), &many.mxv(&ring, &a2, &x).unwrap());
        same_vector("vxm", &cpu.vxm(&ring, &y, &a).unwrap(), &many.vxm(&ring, &y, &a2).unwrap());
        same_vector("rows", &cpu.reduce_rows(&plus, &a).unwrap(), &many.reduce_rows(&plus, &a2).unwrap());
        assert_eq!(cpu.reduce(&plus, &a).unwrap(), many.reduce(&plus, &a2).unwrap());
        let call = |machine: &Machine, a: &Matrix| -> Vector {
            machine.call(Op::Mxv(&ring), (a, &x)).mask(&mask).structure().complement().eval().unwrap()
        };
        same_vector("mask", &call(cpu, &a), &call(many, &a2));
    }
}

/// Positional operators see global indices.
fn places(cpu: &Machine, many: &Machine, a: &Matrix, a2: &Matrix, x: &Vector, y: &Vector) {
    for text in ["i < j", "i + j > 3", "(a > 0) & (i >= j)"] {
        let f = UnaryOp::new(text, Type::F64).unwrap();
        same(text, &cpu.select(&f, a).unwrap(), &many.select(&f, a2).unwrap());
    }
    let tril = UnaryOp::new("tril", Type::F64).unwrap().with(-1i64).unwrap();
    same("tril", &cpu.select(&tril, a).unwrap(), &many.select(&tril, a2).unwrap());
    let f = UnaryOp::new("a + f64(1000 * i + j)", Type::F64).unwrap();
    same("apply", &cpu.apply(&f, a).unwrap(), &many.apply(&f, a2).unwrap());
    same_vector("apply", &cpu.apply(&f, x).unwrap(), &many.apply(&f, x).unwrap());
    for text in ["min, k", "max, i", "plus, k", "min, f64(j) + a"] {
        let ring = Semiring::between(text, Type::F64, Type::F64).unwrap();
        same_vector(text, &cpu.mxv(&ring, a, x).unwrap(), &many.mxv(&ring, a2, x).unwrap());
        same_vector(text, &cpu.vxm(&ring, y, a).unwrap(), &many.vxm(&ring, y, a2).unwrap());
        let at = cpu.transpose(a).unwrap();
        same(text, &cpu.mxm(&ring, a, &at).unwrap(), &many.mxm(&ring, a2, &at).unwrap());
    }
    let (m, n) = a.shape();
    if m == 0 || n == 0 {
        return;
    }
    let (rows, cols) = (IndexList::from(vec![m - 1, 0, m / 2, m - 1]), IndexList::strided(n - 1, -1, n));
    let call = |machine: &Machine, a: &Matrix| -> Matrix { machine.call(Op::Extract(&rows, &cols), a).eval().unwrap() };
    same("extract", &call(cpu, a), &call(many, a2));
    let line =
        |machine: &Machine, a: &Matrix| -> Vector { machine.call(Op::ExtractColumn(&rows, n / 2), a).eval().unwrap() };
    same_vector("column", &line(cpu, a), &line(many, a2));
    for k in [-1i64, 0, 1, 500] {
        let line = |machine: &Machine, a: &Matrix| -> Vector { machine.call(Op::Diagonal(k), a).eval().unwrap() };
        same_vector("diagonal", &line(cpu, a), &line(many, a2));
        let made = |machine: &Machine| -> Matrix { machine.call(Op::Diag(k), x).eval().unwrap() };
        same("diag", &made(cpu), &made(many));
    }
    let max = Monoid::new("max", Type::F64).unwrap();
    assert_eq!(cpu.reduce(&max, a).unwrap(), many.reduce(&max, a2).unwrap());
    same_vector("rows", &cpu.reduce_rows(&max, a).unwrap(), &many.reduce_rows(&max, a2).unwrap());
    // C(I, J) += A, for a matrix on the cluster.
    let plus = BinaryOp::new("plus", Type::F64).unwrap();
    let assign = |machine: &Machine, a: &Matrix| {
        let mut c = machine.upload(a).unwrap();
        machine
            .call(Op::AssignScalar(&Scalar::from(3.0), &IndexList::from(0..m / 2 + 1), &IndexList::all()), ())
            .accum(&plus)
            .into(&mut c)
            .unwrap();
        c
    };
    same("assign", &assign(cpu, a), &assign(many, a2));
    let dense: Vec<f64> = (0..n * 3).map(|x| (x % 7) as f64).collect();
    let whole = Semiring::new("max_plus", Type::F64).unwrap();
    let (here, there) = (cpu, many);
    let x = sparring::algebra::Slice::of(&dense);
    let here = here.spmm(&whole, a, x, 3).eval().unwrap();
    let there = there.spmm(&whole, a2, x, 3).eval().unwrap();
    assert_eq!(bytes(here.slice()), bytes(there.slice()), "spmm");
}

/// Errors have the text of the CPU.
fn errors(cpu: &Machine, many: &Machine) {
    let mut draw = Draw::new(77);
    let (a, b, x) = (draw.matrix((5, 4), 9), draw.matrix((5, 4), 9), draw.vector(5, 5));
    let ring = Semiring::new("plus_times", Type::F64).unwrap();
    let both = |f: &dyn Fn(&Machine) -> Result<(), Error>| {
        let (here, there) = (f(cpu).unwrap_err().to_string(), f(many).unwrap_err().to_string());
        assert_eq!(here, there);
    };
    both(&|m| m.mxm(&ring, &a, &b).map(drop));
    both(&|m| m.mxv(&ring, &a, &x).map(drop));
    both(&|m| m.vxm(&Semiring::new("plus_times", Type::I32)?, &x, &a).map(drop));
    both(&|m| m.ewise_add(&BinaryOp::new("plus", Type::F64)?, &a, &m.transpose(&b)?).map(drop));
    both(&|m| m.call(Op::Extract(&IndexList::from(vec![9]), &IndexList::all()), &a).eval::<Matrix>().map(drop));
    both(&|m| {
        let mut c = m.upload(&a)?;
        m.call(Op::Assign(&IndexList::from(vec![1, 1]), &IndexList::all()), &draw_small()).into(&mut c)
    });
}
fn draw_small() -> Matrix {
    Draw::new(3).matrix((2, 4), 5)
}
