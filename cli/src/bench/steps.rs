//! `sparring bench steps`: elementwise operations and submatrices, untyped.

use sparring::algebra::{PlusTimes, Type};
use sparring::backend::{Backend, Kernels};
use sparring::runtime::{
    Aggregate, BinaryOp, IndexList, Machine, Matrix, Op, Operation, Pairing, Scalar, Semiring, UnaryOp, Vector,
};
use sparring::{Cpu, Csr, Dense};
use sparring_generate::splitmix64;

use super::case::{Output, Variant};

/// The operands.
pub(super) struct Steps {
    cpu: Cpu,
    machine: Machine,
    a: Matrix,
    transposed: Matrix,
    /// [1 2; 3 4].
    two: Matrix,
    /// About one row in four, and about one in two, chosen by a hash.
    part: IndexList,
    half: IndexList,
    /// A(part, part).
    sub: Matrix,
    /// Entries on and below the diagonal.
    lower: Matrix,
    all: IndexList,
    times: BinaryOp,
    plus: BinaryOp,
    scaled: UnaryOp,
    tril: UnaryOp,
    above: UnaryOp,
    plus_times: Semiring,
    /// A vector with entries at the indices `part`.
    few: Vector,
    /// Eight columns of values.
    tall: Dense<f64>,
    /// The value of an absent entry in a union.
    for_a: Scalar,
    for_b: Scalar,
    fill: Scalar,
}

impl Steps {
    /// The operands for a square matrix, on a machine.
    pub(super) fn new(machine: Machine, cpu: &Cpu, a: &Csr<f64>) -> sparring::Result<Self> {
        let taken = |part: u64| -> IndexList {
            let rows = (0..a.nrows()).filter(|&i| splitmix64(i as u64).is_multiple_of(part));
            rows.collect::<Vec<_>>().into()
        };
        let (part, half) = (taken(4), taken(2));
        let n = a.nrows();
        let tall: Vec<f64> = (0..8 * n).map(|p| (splitmix64(p as u64) % 8) as f64).collect();
        let (times, plus) = (BinaryOp::new("times", Type::F64)?, BinaryOp::new("plus", Type::F64)?);
        let tril = UnaryOp::new("tril", Type::F64)?.with(0i64)?;
        let transposed = machine.upload(&cpu.transpose(a).eval()?.into())?;
        let two = Csr::<f64>::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, 2.0, 3.0, 4.0])?;
        let a = machine.upload(&Matrix::from(a.clone()))?;
        Ok(Self {
            two: machine.upload(&two.into())?,
            sub: machine.call(Op::Extract(&part, &part), &a).eval()?,
            lower: machine.select(&tril, &a)?,
            all: IndexList::all(),
            scaled: times.with_second(1.5)?,
            above: UnaryOp::new("valuegt", Type::F64)?.with(1.0)?,
            plus_times: Semiring::new("plus_times", Type::F64)?,
            few: machine.upload_vector(&Vector::constant_at(&Scalar::from(2.0), &part, n)?)?,
            tall: Dense::new(n, 8, tall)?,
            for_a: Scalar::from(1.0),
            for_b: Scalar::from(2.0),
            fill: Scalar::from(1.5),
            cpu: Cpu::with_threads(cpu.threads().count())?,
            machine,
            a,
            transposed,
            part,
            half,
            times,
            plus,
            tril,
        })
    }
    /// An operation with a vector result.
    fn vector<'a>(&'a self, prefix: &'static str, make: impl Fn() -> Operation<'a> + 'a) -> Variant<'a> {
        let made = move || {
            let y = make().eval()?;
            self.machine.wait()?;
            Ok(Output::Named(y))
        };
        (prefix, Box::new(made))
    }
    fn of_a<'a>(&'a self, prefix: &'static str, op: Op<'a>) -> Variant<'a> {
        (prefix, Box::new(move || self.made(self.machine.call(op, &self.a).eval()?)))
    }
    fn of_two<'a>(&'a self, prefix: &'static str, op: Op<'a>, b: &'a Matrix) -> Variant<'a> {
        (prefix, Box::new(move || self.made(self.machine.call(op, (&self.a, b)).eval()?)))
    }
    fn made(&self, c: Matrix) -> sparring::Result<Output> {
        self.machine.wait()?;
        Ok(Output::NamedMatrix(c))
    }
    pub(super) fn variants(&self) -> Vec<Variant<'_>> {
        let Self { machine, a, transposed, part, half, all, .. } = self;
        let mut variants: Vec<Variant<'_>> = vec![
            self.of_a("apply_", Op::Apply(&self.scaled)),
            self.of_a("tril_", Op::Select(&self.tril)),
            self.of_a("value_", Op::Select(&self.above)),
            self.of_two("mult_", Op::Pairs(Pairing::EwiseMult, &self.times), transposed),
            self.of_two("union_", Op::EwiseUnion(&self.plus, &self.for_a, &self.for_b), transposed),
            self.of_a("rows_", Op::Extract(half, all)),
            self.of_a("part_", Op::Extract(part, part)),
            (
                "assign_",
                Box::new(move || {
                    let mut c = a.clone();
                    machine.call(Op::Assign(part, part), &self.sub).into(&mut c)?;
                    self.made(c)
                }),
            ),
            (
                "fill_",
                Box::new(move || {
                    let mut c = a.clone();
                    let fill = Op::AssignScalar(&self.fill, all, all);
                    machine.call(fill, ()).mask(&self.lower).structure().into(&mut c)?;
                    self.made(c)
                }),
            ),
            self.of_two("kron_", Op::Pairs(Pairing::Kronecker, &self.times), &self.two),
            self.vector("push_", move || machine.call(Op::Mxv(&self.plus_times), (a, &self.few)).transpose_a()),
            self.vector("argmax_", move || machine.call(Op::Aggregate(Aggregate::ArgMax), a)),
            self.vector("count_", move || machine.call(Op::Aggregate(Aggregate::Count), a).transpose_a()),
            self.vector("diagonal_", move || machine.call(Op::Diagonal(0), a)),
            ("concat_", Box::new(move || self.made(machine.concat(&[&[a, a]])?))),
        ];
        // Typed, and measured on the processor.
        if let Some(a) = a.csr() {
            let spmm = || Ok(Output::Dense(self.cpu.spmm_product(PlusTimes::<f64>::new(), a, &self.tall)?));
            variants.push(("spmm_", Box::new(spmm)));
        }
        variants
    }
}
