//! Mass operators compared with loops over all indices, and their use.

use super::*;
use sparring::Isa;
use sparring::contract::Mass;

const ACTIONS: [&str; 3] = ["ka,k,kx,x->a", "ka,lb,kl,kx,ly,xy->ab", "ka,lb,mc,klm,kx,ly,mz,xyz->abc"];
const MATRICES: [&str; 3] = ["ka,kb,k->ab", "ka,lb,kc,ld,kl->abcd", "ka,lb,mc,kd,le,mf,klm->abcdef"];

fn random_operators<T: Value, A: Arithmetic<T>>(seed: u64, cases: usize, ring: A, algebra: &Algebra<T>) {
    let cpus = machines();
    let mut random = Rng(seed);
    for case in 0..cases {
        let directions = 1 + case % 3;
        let most = [9, 5, 3][directions - 1];
        let (q, d) = (random.below(most + 1), random.below(most + 1));
        let elements = [0, 1, 2, 7, 8, 9, 16, 17, 40][random.below(9)];
        let basis = layout(&mut random, &[q, d], 1, true);
        let weights = layout(&mut random, &vec![q; directions], elements, true);
        let v = layout(&mut random, &vec![d; directions], elements, true);
        let [b, w, x] = [&basis, &weights, &v].map(|l| array(&mut random, l, algebra.number));
        let view = |data, layout: &Layout| View::new(data, layout.clone()).expect("a view");
        let [b, w, x] = [view(&b, &basis), view(&w, &weights), view(&x, &v)];
        let mass = Mass::new(directions, b.clone()).expect("an operator");
        let many = |n: usize| std::iter::repeat_n(b.clone(), n);
        let (text, operands, einsum) = if case % 4 == 0 {
            let operands: Vec<_> = many(2 * directions).chain([w.clone()]).collect();
            (MATRICES[directions - 1], operands, mass.matrix(&w))
        } else {
            let operands: Vec<_> =
                many(directions).chain([w.clone()]).chain(many(directions)).chain([x.clone()]).collect();
            (ACTIONS[directions - 1], operands, mass.action(&w, &x))
        };
        let einsum = einsum.expect("an expression");
        let (extents, batch) = einsum.result();
        let out = layout(&mut random, &extents, batch, false);
        let update = match random.below(4) {
            0 => Update::Add,
            1 => Update::Beta((algebra.number)(2)),
            2 => Update::Beta(algebra.zero),
            _ => Update::Assign,
        };
        let alpha = (random.below(2) == 0).then(|| (algebra.number)(-2));
        // Separate steps: empty folds differ where zero does not annihilate.
        if algebra.annihilates || q > 0 {
            let case = Case { text, operands: &operands, out: &out, alpha, update };
            compare_made(&cpus, ring, algebra, case, &einsum, &mut random);
        }
    }
}

#[test]
fn operators_of_every_algebra() {
    random_operators(1, 300, PlusTimes::new(), &F64);
    random_operators(2, 150, PlusTimes::new(), &F32);
    random_operators(3, 150, PlusTimes::new(), &I64);
    random_operators(4, 150, MinPlus::new(), &TROPICAL);
    random_operators(5, 100, LorLand::<bool>::new(), &LOGIC);
    // 16-byte values: four adjacent elements, also in registers of 64 bytes.
    random_operators(6, 100, PlusTimes::new(), &COMPLEX);
}

/// Values and weights of the three-point Gauss rule for Legendre polynomials of degrees 0 to 2.
fn legendre() -> ([f64; 9], [f64; 3]) {
    let x = 0.6f64.sqrt();
    let row = |x: f64| [1.0, x, 1.5 * x * x - 0.5];
    let [a, b, c] = [-x, 0.0, x].map(row);
    ([a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]], [5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0])
}

/// Legendre polynomials are orthogonal: the matrix is diagonal with 2/(2i+1) per direction, and the action multiplies
/// by it.
#[test]
fn a_matrix_is_what_its_action_does() {
    let (b, rule) = legendre();
    for directions in 1..=3 {
        let (n, elements) = (3usize.pow(directions as u32), 21);
        let product = |mut t: usize, of: &dyn Fn(usize) -> f64| {
            (0..directions).fold(1.0, |p, _| {
                let digit = t % 3;
                t /= 3;
                p * of(digit)
            })
        };
        let size = |e: usize| 1.0 + e as f64;
        let w: Vec<f64> = (0..n * elements).map(|t| size(t / n) * product(t % n, &|k| rule[k])).collect();
        let shape = Layout::row_major(&vec![3; directions]).and_then(|l| l.batched(elements)).expect("a layout");
        let mass = Mass::new(directions, View::new(&b, Layout::row_major(&[3, 3]).unwrap()).unwrap()).unwrap();
        let weights = View::new(&w, shape.clone()).unwrap();
        let cpu = Cpu::with_threads(2).unwrap();
        let m = cpu.einsum(PlusTimes::new(), mass.matrix(&weights).unwrap()).eval().unwrap();
        for (t, value) in m.values().iter().enumerate() {
            let (e, i, j) = (t / (n * n), t / n % n, t % n);
            let wanted = if i == j { size(e) * product(i, &|k| 2.0 / (2 * k + 1) as f64) } else { 0.0 };
            assert!((value - wanted).abs() <= 1e-13 * size(e), "element {e}, {i}, {j}: {value}, not {wanted}");
        }
        let x: Vec<f64> = (0..n * elements).map(|t| (t * 37 % 101) as f64 / 50.0 - 1.0).collect();
        let x_view = View::new(&x, shape).unwrap();
        let u = cpu.einsum(PlusTimes::new(), mass.action(&weights, &x_view).unwrap()).eval().unwrap();
        for (t, value) in u.values().iter().enumerate() {
            let (e, i) = (t / n, t % n);
            let wanted: f64 = (0..n).map(|j| m.values()[e * n * n + i * n + j] * x[e * n + j]).sum();
            assert!((value - wanted).abs() <= 1e-12 * size(e), "element {e}, {i}: {value}, not {wanted}");
        }
    }
}

#[test]
fn the_action_is_one_pass_and_says_its_bytes() {
    let (b, _) = legendre();
    let mass = Mass::new(3, View::new(&b, Layout::row_major(&[3, 3]).unwrap()).unwrap()).unwrap();
    let x = vec![1.0; 27_000];
    let elements = |n: usize| {
        let shape = Layout::row_major(&[3; 3]).and_then(|l| l.batched(n)).unwrap();
        View::new(&x[..27 * n], shape).unwrap()
    };
    let cpu = Cpu::with_threads(1).unwrap();
    // Two fields of as many elements as a register holds, at least four; the basis and its transpose; an offset for
    // each entry of the basis and of the three fields.
    let lanes = (Isa::running().register_bytes() / 8).max(4);
    let bytes = 8 * (2 * 27 * lanes + 2 * 9 + 9 + 3 * 27);
    // No pairwise product is formed, and scratch does not grow with the number of elements.
    for n in [100, 1000] {
        let asked = cpu.einsum(PlusTimes::new(), mass.action(&elements(n), &elements(n)).unwrap());
        assert!(asked.path().unwrap().is_empty());
        assert_eq!(asked.workspace_bytes().unwrap(), bytes as u128, "{n} elements");
    }
    let x = elements(1000);
    let tight = Cpu::with_threads(1).unwrap().memory_budget(1000);
    let e = tight.einsum(PlusTimes::new(), mass.action(&x, &x).unwrap()).eval().unwrap_err();
    assert!(matches!(e, Error::Budget { budget: 1000, .. }), "{e}");
}

#[test]
fn what_is_no_operator_is_refused() {
    let x = [1.0; 16];
    let square = |extents: &[usize]| View::new(&x, Layout::row_major(extents).unwrap()).unwrap();
    says(Mass::new(0, square(&[2, 2])), &["directions", "0"]);
    says(Mass::new(4, square(&[2, 2])), &["directions", "4"]);
    says(Mass::new(2, square(&[2, 2, 2])), &["basis", "3", "2"]);
    let mass = Mass::new(2, square(&[2, 3])).unwrap();
    says(mass.action(&square(&[2, 3]), &square(&[3, 3])), &["3", "2"]);
    says(mass.matrix(&square(&[2])), &["1 indices"]);
    let batches = View::new(&x, Layout::row_major(&[2, 2]).and_then(|l| l.batched(2)).unwrap()).unwrap();
    says(Mass::new(2, batches), &["batch of the basis", "2", "1"]);
}
