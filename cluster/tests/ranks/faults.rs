//! Fault injection: one step of an operation fails on one rank; every rank gets an error that names it, and none hangs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use sparring::algebra::{Array, Slice, SliceMut, Type};
use sparring::distance::{Measure, Metric, Options as DistanceOptions};
use sparring::factor::CpAls;
use sparring::par::Threads;
use sparring::runtime::engine::{Call, DistanceEngine, Engine, MaskSpec, Object, Operand};
use sparring::runtime::{
    Comparison, IndexList, Machine, Matrix, Monoid, Neighbours, Op, Pairing, Plan, RowIndex, Semiring, Sum, UnaryOp,
    Vector,
};
use sparring::spgemm::Options;
use sparring::{Cpu, Error, Result, Tensor};
use sparring_cluster::{Cluster, Permutation, graph};

use crate::products::Draw;

/// A CPU engine that fails at one of its steps.
#[derive(Debug)]
struct Faulty {
    cpu: Machine,
    /// Number of successful steps before the failure.
    left: Arc<AtomicI64>,
}

impl Faulty {
    fn step(&self) -> Result<&dyn Engine> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(Error::Device { what: "step".into(), message: "planted".into() });
        }
        Ok(self.cpu.engine())
    }
    fn compared(&self) -> Result<&dyn DistanceEngine> {
        Ok(self.step()?.distances().expect("the processor compares rows"))
    }
}

impl Engine for Faulty {
    fn name(&self) -> String {
        self.cpu.name()
    }
    fn describe(&self) -> String {
        self.cpu.describe()
    }
    fn wait(&self) -> Result<()> {
        self.cpu.wait()
    }
    fn holds(&self, _: Operand<'_>) -> bool {
        // As on a GPU, data from other ranks must be uploaded: uploads are steps too.
        false
    }
    fn made(&self, plan: &Plan) -> bool {
        self.cpu.made(plan)
    }
    fn upload(&self, x: Operand<'_>) -> Result<Object> {
        self.step()?.upload(x)
    }
    fn run(&self, call: &Call<'_>) -> Result<Object> {
        self.step()?.run(call)
    }
    fn symbolic(&self, a: &Matrix, b: &Matrix, mask: Option<MaskSpec<'_>>, options: &Options) -> Result<Plan> {
        self.step()?.symbolic(a, b, mask, options)
    }
    fn numeric(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        self.step()?.numeric(plan, ring, a, b)
    }
    fn numeric_into(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix, c: &mut Matrix) -> Result<()> {
        self.step()?.numeric_into(plan, ring, a, b, c)
    }
    fn spmm(&self, ring: &Semiring, a: &Matrix, x: Slice<'_>, columns: usize) -> Result<Array> {
        self.step()?.spmm(ring, a, x, columns)
    }
    fn sum(&self, a: &Matrix) -> Result<Sum> {
        self.step()?.sum(a)
    }
    fn row_counts(&self, a: &Matrix) -> Result<Vector> {
        self.step()?.row_counts(a)
    }
    fn best_of_rows(&self, a: &Matrix, greatest: bool) -> Result<Vector> {
        self.step()?.best_of_rows(a, greatest)
    }
    fn threads(&self) -> Option<&Threads> {
        self.cpu.threads()
    }
    fn distances(&self) -> Option<&dyn DistanceEngine> {
        Some(self)
    }
}

impl DistanceEngine for Faulty {
    fn all(&self, question: &Comparison, out: &mut SliceMut<'_>) -> Result<String> {
        self.compared()?.all(question, out)
    }
    fn nearest(&self, question: &Comparison, k: usize) -> Result<Neighbours> {
        self.compared()?.nearest(question, k)
    }
    fn within(&self, question: &Comparison, radius: f64) -> Result<Matrix> {
        self.compared()?.within(question, radius)
    }
    fn index(&self, measure: Arc<dyn Measure>, y: &Matrix, options: DistanceOptions) -> Result<RowIndex> {
        self.compared()?.index(measure, y, options)
    }
    fn load_index(&self, path: &Path, ty: Type) -> Result<RowIndex> {
        self.compared()?.load_index(path, ty)
    }
    fn nearest_of(&self, index: &RowIndex, x: &Matrix, k: usize) -> Result<Neighbours> {
        self.compared()?.nearest_of(index, x, k)
    }
    fn within_of(&self, index: &RowIndex, x: &Matrix, radius: f64) -> Result<Matrix> {
        self.compared()?.within_of(index, x, radius)
    }
}

/// An operation on a distributed matrix, the same matrix on the host, and a vector.
type Body<'a> = Box<dyn Fn(&Machine, &Matrix, &Matrix, &Vector) -> Result<()> + 'a>;
type Step<'a> = (&'static str, Body<'a>);

fn step<'a>(of: impl Fn(&Machine, &Matrix, &Matrix, &Vector) -> Result<()> + 'a) -> Body<'a> {
    Box::new(of)
}

/// Each step of the last rank's engine fails once in each operation.
pub(crate) fn all(sound: &Cluster) {
    let last = sound.size() - 1;
    let left = Arc::new(AtomicI64::new(i64::MAX));
    let cpu = Machine::from(Cpu::with_threads(1).unwrap());
    let cluster = Cluster::new(Machine::from_engine(Faulty { cpu, left: Arc::clone(&left) })).unwrap();
    let machine = cluster.machine();
    let mut draw = Draw::new(6);
    let (host, x) = (draw.matrix((23, 23), 150), draw.vector(23, 12));
    let a = machine.upload(&host).unwrap();
    let x = machine.upload_vector(&x).unwrap();
    let (ring, plus) = (Semiring::new("plus_times", Type::F64).unwrap(), Monoid::new("plus", Type::F64).unwrap());
    let add = plus.op();
    let (square, positive) = (UnaryOp::new("a * a", Type::F64).unwrap(), UnaryOp::new("a > 0", Type::F64).unwrap());
    let list = IndexList::from(vec![22, 0, 7, 11]);
    let everything = IndexList::all();
    let ask = |x: &Matrix, y: Option<&Matrix>| {
        let (measure, options) = (Arc::new(Metric::Euclidean), DistanceOptions::default());
        Comparison { measure, x: x.clone(), y: y.cloned(), options }
    };
    let steps: Vec<Step<'_>> = vec![
        ("upload", step(|m, _, host, _| m.upload(host).map(drop))),
        ("mxm", step(|m, a, _, _| m.mxm(&ring, a, a).map(drop))),
        ("mxm of the host's", step(|m, a, host, _| m.mxm(&ring, a, host).map(drop))),
        ("mxv", step(|m, a, _, x| m.mxv(&ring, a, x).map(drop))),
        ("vxm", step(|m, a, _, x| m.vxm(&ring, x, a).map(drop))),
        (
            "mxv and vxm of a mask",
            step(|m, a, _, x| {
                m.call(Op::Mxv(&ring), (a, x)).mask(x).structure().eval::<Vector>()?;
                m.call(Op::Vxm(&ring), (x, a)).mask(x).complement().structure().eval::<Vector>().map(drop)
            }),
        ),
        ("spmm", step(|m, a, _, _| m.spmm(&ring, a, Slice::of(&[1.0; 46]), 2).eval().map(drop))),
        ("levels", step(|m, a, _, _| graph::bfs_levels(m, a, 1).map(drop))),
        ("lengths", step(|m, a, _, _| graph::sssp(m, &m.apply(&square, a)?, 1).map(drop))),
        ("components", step(|m, a, _, _| graph::connected_components(m, a).map(drop))),
        ("pagerank", step(|m, a, _, _| graph::pagerank(m, a, &Default::default()).map(drop))),
        ("triangles", step(|m, a, _, _| m.triangles(a, Default::default()).map(drop))),
        ("transpose", step(|m, a, _, _| m.transpose(a).map(drop))),
        ("reduce", step(|m, a, _, _| m.reduce(&plus, a).map(drop))),
        ("reduce_rows", step(|m, a, _, _| m.reduce_rows(&plus, a).map(|_: Vector| ()))),
        ("sum", step(|m, a, _, _| m.sum(a).map(drop))),
        ("row_counts", step(|m, a, _, _| m.engine().row_counts(a).map(drop))),
        ("best_of_rows", step(|m, a, _, _| m.engine().best_of_rows(a, true).map(drop))),
        ("extract", step(|m, a, _, _| m.call(Op::Extract(&list, &everything), a).eval::<Matrix>().map(drop))),
        ("column", step(|m, a, _, _| m.call(Op::ExtractColumn(&everything, 3), a).eval::<Vector>().map(drop))),
        ("diagonal", step(|m, a, _, _| m.call(Op::Diagonal(1), a).eval::<Vector>().map(drop))),
        ("diag", step(|m, _, _, x| m.call(Op::Diag(-1), x).eval::<Matrix>().map(drop))),
        ("part of a vector", step(|m, _, _, x| m.call(Op::Extract(&list, &everything), x).eval::<Vector>().map(drop))),
        (
            "assign",
            step(|m, a, _, _| {
                let mut c = a.clone();
                let part: Matrix = m.call(Op::Extract(&list, &list), a).eval()?;
                m.call(Op::Assign(&list, &list), &part).into(&mut c)
            }),
        ),
        (
            "scatter",
            step(|m, _, _, x| {
                m.call(Op::Scatter(&IndexList::from(vec![4; 23]), 23, &add), x).eval::<Vector>().map(drop)
            }),
        ),
        (
            "apply, select and a mask",
            step(|m, a, _, _| {
                let b = m.select(&positive, &m.apply(&square, a)?)?;
                m.call(Op::Identity, a).mask(&b).structure().complement().eval::<Matrix>().map(drop)
            }),
        ),
        ("ewise_add", step(|m, a, host, _| m.ewise_add(&add, a, host).map(|_: Matrix| ()))),
        (
            "kronecker",
            step(|m, a, _, _| m.call(Op::Pairs(Pairing::Kronecker, &add), (a, a)).eval::<Matrix>().map(drop)),
        ),
        (
            "permuted",
            step(|_, a, _, x| {
                let p = Permutation::new(23, 1);
                cluster.permuted(a, &p, &p)?;
                cluster.permuted_back(x, &p).map(drop)
            }),
        ),
        (
            "build",
            step(|_, _, _, _| {
                cluster
                    .build((9, 9), (vec![cluster.rank() as u32 % 9], vec![1], Array::of(vec![1.5])), Some(&add))
                    .map(drop)
            }),
        ),
        ("written", step(|_, _, host, _| cluster.write_matrix_market("/dev/null", host))),
        (
            "read",
            step(|_, _, _, _| {
                let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
                cluster.read_matrix_market(data.join("karate.mtx.gz")).map(drop)
            }),
        ),
        ("neighbours", step(|m, a, host, _| m.neighbours(&ask(a, Some(host)), 3).map(drop))),
        ("neighbours of X alone", step(|m, a, _, _| m.neighbours(&ask(a, None), 3).map(drop))),
        ("radius", step(|m, a, _, _| m.within(&ask(a, None), 0.9).map(drop))),
        (
            "distances",
            step(|m, a, _, _| m.distances_into(&ask(a, None), &mut SliceMut::of(&mut [0.0; 23 * 23])).map(drop)),
        ),
        (
            "index",
            step(|m, a, _, _| {
                let index = m.index(Arc::new(Metric::Cosine), a, DistanceOptions::default())?;
                m.knn_of_index(&index, a, 2)?;
                m.radius_of_index(&index, a, 0.5).map(drop)
            }),
        ),
    ];
    let mut planted = 0;
    for (stage, in_one) in [(1 << 26, false), (300, true)] {
        cluster.set_stage_bytes(stage);
        cluster.set_reproducible(in_one);
        for (name, step) in &steps {
            for before in 0.. {
                if sound.rank() == last {
                    left.store(before, Ordering::Relaxed);
                }
                let made = step(&machine, &a, &host, &x);
                let is_hit = sound.rank() == last && left.swap(i64::MAX, Ordering::Relaxed) < 0;
                let told = sound.agree(
                    "fault",
                    if is_hit { Err(Error::Argument { name: "a", message: "hit".into() }) } else { Ok(()) },
                );
                if told.is_ok() {
                    made.unwrap_or_else(|e| panic!("{name} without a fault: {e}"));
                    break;
                }
                planted += 1;
                let message = made.expect_err(&format!("{name}, step {before}")).to_string();
                let named =
                    message.contains("planted") && (sound.rank() == last || message.contains(&format!("rank {last}")));
                assert!(named, "{name}, step {before}: {message}");
            }
        }
    }
    assert!(planted > 60, "{planted}");
    factors(sound);
    if sound.rank() == 0 {
        println!("rank 0: {planted} steps failed on one rank");
    }
}

/// The threads of one rank are stopped during CP-ALS.
fn factors(sound: &Cluster) {
    let last = sound.size() - 1;
    let flag = Arc::new(AtomicBool::new(false));
    let cluster = Cluster::new(Cpu::with_threads(1).unwrap().stopped_by(Arc::clone(&flag))).unwrap();
    let mut draw = Draw::new(8);
    let indices: Vec<Vec<u32>> = (0..3).map(|_| (0..300).map(|_| draw.below(20) as u32).collect()).collect();
    let values = (0..300).map(|_| draw.real()).collect();
    let x = Tensor::<f64, u32>::new(vec![20; 3], indices, values).unwrap();
    for at in [1, 2, 5] {
        flag.store(false, Ordering::Relaxed);
        let watch = |sweep: sparring::factor::Sweep| {
            flag.store(sound.rank() == last && sweep.number == at, Ordering::Relaxed);
            std::ops::ControlFlow::Continue(())
        };
        let message = CpAls::new(3).sweeps(9).tol(0.0).on_sweep(watch).run(&cluster, &x).unwrap_err().to_string();
        assert!(sound.rank() == last || message.contains(&format!("rank {last}")), "{message}");
    }
    flag.store(sound.rank() == last, Ordering::Relaxed);
    assert!(CpAls::new(3).sweeps(2).run(&cluster, &x).is_err());
}
