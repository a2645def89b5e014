//! Ranks with one GPU each, compared with the CPU: `SPARRING_RANKS_SCENARIO=gpus mpirun -n 2 ranks-…`, on a node with
//! as many GPUs.

use sparring::algebra::{Array, Type};
use sparring::par::Threads;
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Monoid, Op, Semiring, UnaryOp, Vector};
use sparring::spgemm::Options;
use sparring::{Cpu, Cuda};
use sparring_cluster::Cluster;

use super::products::{Draw, close, same, same_vector};

/// Integers, whose sums are exact in every order.
fn whole(draw: &mut Draw, shape: (usize, usize), entries: usize, ty: Type) -> Matrix {
    let drawn = draw.matrix(shape, entries);
    let pattern = drawn.pattern().expect("here").clone();
    let (m, n) = pattern.shape();
    let mut of = vec![0u32; pattern.nnz()];
    for i in 0..m {
        of[pattern.row_ptr()[i]..pattern.row_ptr()[i + 1]].fill(i as u32);
    }
    let values = Array::of(of.iter().map(|_| draw.below(7) as f64 - 3.0).collect::<Vec<_>>());
    let last = BinaryOp::new("second", Type::F64).unwrap();
    let made =
        Matrix::build(&Threads::current(), (m, n), (of, pattern.col_idx().to_vec(), values), Some(&last)).unwrap();
    let convert = UnaryOp::new(&format!("{ty}(a)"), Type::F64).unwrap();
    Machine::from(Cpu::new()).apply(&convert, &made).unwrap()
}

pub(crate) fn all(cluster: &Cluster, gpu: &Cuda) {
    let (cpu, many) = (Machine::from(Cpu::with_threads(1).unwrap()), Machine::from(cluster.clone()));
    if cluster.rank() == 0 {
        println!("rank 0: {}", many.describe());
    }
    let mut draw = Draw::new(77);
    let shapes =
        [(1, 1, 1), (0, 3, 2), (3, 0, 2), (7, 5, 9), (40, 33, 21), (200, 3, 150), (3, 2_000, 3), (900, 900, 900)];
    for (round, (m, k, n)) in shapes.into_iter().enumerate() {
        for (ring, ty) in
            [("plus_times", Type::F64), ("min_plus", Type::F32), ("plus_times", Type::I8), ("plus_pair", Type::I64)]
        {
            let what = format!("{m}×{k}×{n}, {ring} of {ty}");
            let ring = Semiring::new(ring, ty).unwrap();
            let (a, b) = (whole(&mut draw, (m, k), 4 * (m + k), ty), whole(&mut draw, (k, n), 4 * (k + n), ty));
            let mask = whole(&mut draw, (m, n), 6 * (m + n), ty);
            let (x, y, z) = (many.upload(&a).unwrap(), many.upload(&b).unwrap(), many.upload(&mask).unwrap());
            same(&what, &a, &x);
            let c = cpu.mxm(&ring, &a, &b).unwrap();
            let d = many.mxm(&ring, &x, &y).unwrap();
            same(&what, &c, &d);
            // The result as an operand; its rows may be unsorted on the GPU.
            let back = cpu.transpose(&b).unwrap();
            let again = many.mxm(&ring, &d, &many.transpose(&y).unwrap()).unwrap();
            same(&format!("{what}, again"), &cpu.mxm(&ring, &c, &back).unwrap(), &again);
            let masked = |machine: &Machine, a: &Matrix, b: &Matrix, mask: &Matrix, complement| -> Matrix {
                let options = Options::default();
                let call = machine.call(Op::Mxm(&ring, &options), (a, b)).mask(mask).structure();
                if complement { call.complement() } else { call }.eval().unwrap()
            };
            for complement in [false, true] {
                let (c, d) = (masked(&cpu, &a, &b, &mask, complement), masked(&many, &x, &y, &z, complement));
                same(&format!("{what}, masked, {complement}"), &c, &d);
            }
            let plan = many.plan(&x, &y, &Options::default()).unwrap();
            assert_eq!(plan.nnz(), c.nnz(), "{what}");
            same(&format!("{what}, planned"), &c, &many.numeric(&plan, &ring, &x, &y).unwrap());
            if round % 2 == 0 {
                cluster.set_stage_bytes(64);
                same(&format!("{what}, in strips"), &c, &many.mxm(&ring, &x, &y).unwrap());
                cluster.set_stage_bytes(1 << 26);
            }
        }
        vectors(&cpu, &many, &mut draw, (m, k));
        moved(&cpu, &many, &mut draw, (m, k));
    }
    graphs(&many, gpu, &mut draw);
    // Out of memory on one rank is an error on all, and the next product is correct.
    let a = whole(&mut draw, (2_000, 2_000), 40_000, Type::F64);
    let x = many.upload(&a).unwrap();
    let ring = Semiring::new("plus_times", Type::F64).unwrap();
    if cluster.rank() == cluster.size() - 1 {
        _ = gpu.clone().memory_budget(gpu.used_memory().unwrap() + 1_000);
    }
    let refused = many.mxm(&ring, &x, &x);
    assert!(refused.is_err() || cluster.size() == 1, "one rank has no room");
    _ = gpu.clone().memory_budget(u64::MAX);
    same("after an error", &cpu.mxm(&ring, &a, &a).unwrap(), &many.mxm(&ring, &x, &x).unwrap());
}

/// Matrix–vector products with vectors in every storage form, masked and folded.
fn vectors(cpu: &Machine, many: &Machine, draw: &mut Draw, (m, k): (usize, usize)) {
    let a = whole(draw, (m, k), 3 * (m + k), Type::F64);
    let b = many.upload(&a).unwrap();
    let ring = Semiring::new("plus_times", Type::F64).unwrap();
    let plus = BinaryOp::new("plus", Type::F64).unwrap();
    let vector = |n: usize, every: usize| {
        let places: Vec<u32> = (0..n as u32).filter(|i| every > 0 && (*i as usize).is_multiple_of(every)).collect();
        let values = Array::of(places.iter().map(|i| f64::from(i % 5)).collect::<Vec<_>>());
        if places.len() == n { Vector::full(values) } else { Vector::new(n, places, values) }.unwrap()
    };
    for every in [1, 3, 0] {
        let what = format!("{m}×{k}, every {every}");
        let (x, z) = (vector(k, every), vector(m, every));
        let (y, w) = (many.upload_vector(&x).unwrap(), many.upload_vector(&z).unwrap());
        let (mask_m, mask_k) = (vector(m, 2), vector(k, 2));
        let here: Vector = cpu.call(Op::Mxv(&ring), (&a, &x)).eval().unwrap();
        same_vector(&format!("{what}, mxv"), &here, &many.call(Op::Mxv(&ring), (&b, &y)).eval().unwrap());
        let here: Vector = cpu.call(Op::Mxv(&ring), (&a, &x)).mask(&mask_m).structure().complement().eval().unwrap();
        let there = many.call(Op::Mxv(&ring), (&b, &y)).mask(&mask_m).structure().complement().eval().unwrap();
        same_vector(&format!("{what}, mxv, masked"), &here, &there);
        let here: Vector = cpu.call(Op::Vxm(&ring), (&z, &a)).eval().unwrap();
        same_vector(&format!("{what}, vxm"), &here, &many.call(Op::Vxm(&ring), (&w, &b)).eval().unwrap());
        let here: Vector = cpu.call(Op::Vxm(&ring), (&z, &a)).mask(&mask_k).structure().eval().unwrap();
        let there: Vector = many.call(Op::Vxm(&ring), (&w, &b)).mask(&mask_k).structure().eval().unwrap();
        same_vector(&format!("{what}, vxm, masked"), &here, &there);
        let (mut here, mut there) = (z.clone(), w.clone());
        cpu.call(Op::Mxv(&ring), (&a, &x)).accum(&plus).into(&mut here).unwrap();
        many.call(Op::Mxv(&ring), (&b, &y)).accum(&plus).into(&mut there).unwrap();
        same_vector(&format!("{what}, mxv, accumulated"), &here, &there);
    }
    let sum = Monoid::new("plus", Type::F64).unwrap();
    let rows = |machine: &Machine, a: &Matrix| machine.reduce_rows(&sum, a).unwrap();
    same_vector(&format!("{m}×{k}, sums of rows"), &rows(cpu, &a), &rows(many, &b));
}

/// Extract and assign by ranges and by lists, sorted and unsorted, with duplicates where allowed.
fn moved(cpu: &Machine, many: &Machine, draw: &mut Draw, (m, n): (usize, usize)) {
    let lists = |n: usize, distinct: bool| {
        let mut lists =
            vec![IndexList::all(), IndexList::from(n / 3..n - n / 4), IndexList::strided(n.saturating_sub(1), -1, n)];
        lists.push((0..n).filter(|i| i % 3 != 1).collect::<Vec<_>>().into());
        // 7 divides only one n of the tests.
        if !n.is_multiple_of(7) {
            lists.push((0..n).map(|i| i * 7 % n).collect::<Vec<_>>().into());
        }
        if !distinct && n > 0 {
            lists.push((0..n + 5).map(|i| i * i % n).collect::<Vec<_>>().into());
        }
        lists
    };
    for ty in [Type::F64, Type::Bool] {
        let a = whole(draw, (m, n), 4 * (m + n), ty);
        let b = many.upload(&a).unwrap();
        same(&format!("{m}×{n} of {ty}, transposed"), &cpu.transpose(&a).unwrap(), &many.transpose(&b).unwrap());
        for (rows, cols) in lists(m, false).iter().zip(lists(n, false).iter().rev()) {
            let here: Matrix = cpu.call(Op::Extract(rows, cols), &a).eval().unwrap();
            let there: Matrix = many.call(Op::Extract(rows, cols), &b).eval().unwrap();
            same(&format!("{m}×{n} of {ty}, extracted by {rows:?}, {cols:?}"), &here, &there);
        }
        for (rows, cols) in lists(m, true).iter().zip(lists(n, true).iter().rev()) {
            let (rows_len, cols_len) = (rows.len(m), cols.len(n));
            let a = whole(draw, (rows_len, cols_len), 4 * (rows_len + cols_len), ty);
            let b = many.upload(&a).unwrap();
            let here: Matrix = cpu.call(Op::Place(rows, cols, (m, n)), &a).eval().unwrap();
            let there: Matrix = many.call(Op::Place(rows, cols, (m, n)), &b).eval().unwrap();
            same(&format!("{m}×{n} of {ty}, placed by {rows:?}, {cols:?}"), &here, &there);
        }
    }
    let all = IndexList::all();
    for every in [1, 3] {
        let vector = |n: usize| {
            let places: Vec<u32> = (0..n as u32).filter(|i| (*i as usize).is_multiple_of(every)).collect();
            let values = Array::of(places.iter().map(|i| f64::from(i % 5)).collect::<Vec<_>>());
            if places.len() == n { Vector::full(values) } else { Vector::new(n, places, values) }.unwrap()
        };
        let x = vector(m);
        let y = many.upload_vector(&x).unwrap();
        for list in lists(m, false) {
            let here: Vector = cpu.call(Op::Extract(&list, &all), &x).eval().unwrap();
            let there: Vector = many.call(Op::Extract(&list, &all), &y).eval().unwrap();
            same_vector(&format!("{m}, every {every}, extracted by {list:?}"), &here, &there);
        }
        for list in lists(m, true) {
            let x = vector(list.len(m));
            let y = many.upload_vector(&x).unwrap();
            let here: Vector = cpu.call(Op::Place(&list, &all, (m, 1)), &x).eval().unwrap();
            let there: Vector = many.call(Op::Place(&list, &all, (m, 1)), &y).eval().unwrap();
            same_vector(&format!("{m}, every {every}, placed by {list:?}"), &here, &there);
        }
    }
}

/// Algorithms built on matrix–vector products, compared with the CPU.
fn graphs(many: &Machine, gpu: &Cuda, draw: &mut Draw) {
    use sparring::graph::PageRankOptions;
    use sparring_cluster::graph::{bfs_levels, connected_components, pagerank, sssp};
    for n in [1, 3, 50, 4_000] {
        let a = whole(draw, (n, n), 6 * n, Type::F64);
        let b = many.upload(&a).unwrap();
        let alone = Machine::from(Cluster::alone(Cpu::with_threads(1).unwrap()));
        same_vector(
            "levels",
            &bfs_levels(&alone, &a, 0).unwrap().download().unwrap(),
            &bfs_levels(many, &b, 0).unwrap(),
        );
        let components = |machine: &Machine, a: &Matrix| connected_components(machine, a).unwrap();
        same_vector("components", &components(&alone, &a).download().unwrap(), &components(many, &b));
        let squares = UnaryOp::new("a * a", Type::F64).unwrap();
        let lengths = |machine: &Machine, a: &Matrix| sssp(machine, &machine.apply(&squares, a).unwrap(), 0).unwrap();
        same_vector("lengths", &lengths(&alone, &a).download().unwrap(), &lengths(many, &b));
        let triangles = |machine: &Machine, a: &Matrix| machine.triangles(a, Default::default()).unwrap().count;
        assert_eq!(triangles(&alone, &a), triangles(many, &b), "triangles of {n}");
        // Uniform and given personalization, and dropped dangling mass; on all GPUs and on one.
        let some = (0..n).map(|v| (v % 3) as f64).collect::<Vec<_>>();
        for (drop_dangling, some) in [(false, None), (true, None), (false, Some(some).filter(|some| some.len() > 1))] {
            let options = PageRankOptions { drop_dangling, personalization: some, ..Default::default() };
            let ranked = |machine: &Machine, a: &Matrix| pagerank(machine, a, &options).unwrap();
            let (here, there, again) = (ranked(&alone, &a), ranked(many, &b), ranked(many, &b));
            let what = format!("ranks of {n}, {options:?}");
            close(&what, &here.ranks.download().unwrap(), &there.ranks);
            assert_eq!((here.iterations, there.change), (there.iterations, again.change), "{what}");
            same_vector(&what, &there.ranks.download().unwrap(), &again.ranks);
            close(&what, &here.ranks.download().unwrap(), &ranked(&Machine::from(gpu.clone()), &a).ranks);
        }
    }
}
