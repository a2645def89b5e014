//! MTTKRP, in single calls and by plans.

use super::devices::words;
use super::tensors::{addresses, coo, free, genten, start, typed};
use super::*;
use crate::mttkrp::SparringMttkrpVariant::*;
use crate::mttkrp::*;
use crate::tensor::*;

/// V for a mode, into a nonzero array.
fn product(
    cpu: *const SparringDevice,
    x: *const SparringTensor,
    rank: u64,
    factors: &[Vec<f64>],
    mode: u64,
    variant: u32,
    len: usize,
) -> (SparringStatus, Vec<f64>) {
    let mut out = vec![f64::NAN; len];
    // The factor of the mode is not read.
    let at = |(m, list): (usize, &Vec<f64>)| {
        if m as u64 == mode || list.is_empty() { null() } else { list.as_ptr() }
    };
    let factors: Vec<_> = factors.iter().enumerate().map(at).map(<*const f64>::cast).collect();
    let (room, len) = (out.as_mut_ptr().cast(), len as u64);
    (unsafe { sparring_mttkrp(cpu, x, rank, factors.as_ptr(), mode, variant, room, len) }, out)
}

#[test]
fn products_with_factors() {
    let (x, start) = (genten(), start());
    let expected =
        [&[1.88, 1.88, 0.48, 1.4][..], &[1.92, 1.8, 0.8, 1.4, 1.12, 0.4], &[1.4, 1.3, 0.8, 0.3, 0.0, 0.0, 0.6, 1.0]];
    for threads in [1, 3] {
        let cpu = cpu(threads, 0);
        for (mode, expected) in (0..).zip(expected) {
            for variant in SPARRING_MTTKRP_AUTO as u32..=SPARRING_MTTKRP_LINEAR as u32 {
                let (status, found) = product(cpu, x, 2, &start, mode, variant, expected.len());
                ok(status);
                assert!(found.iter().zip(expected).all(|(v, e)| (v - e).abs() < 1e-14), "{mode} {variant}: {found:?}");
            }
            // Excess capacity is not written; too little is rejected.
            let (status, found) = product(cpu, x, 2, &start, mode, 0, expected.len() + 1);
            ok(status);
            assert!(found[expected.len()].is_nan());
            let (status, found) = product(cpu, x, 2, &start, mode, 0, expected.len() - 1);
            let e = refused(status, SPARRING_LENGTH);
            assert_eq!(e, format!("out: length is {}, expected {}", expected.len() - 1, expected.len()));
            assert!(found.iter().all(|v| v.is_nan()));
        }
        ok(sparring_device_free(cpu));
    }
    // Wide indices; one mode, whose factor is never read; no column.
    let cpu = cpu(1, 0);
    let wide = coo(&[2, 1, 1 << 40], &[vec![0, 1], vec![0, 0], vec![1 << 39, 3]], &[2.0, 5.0]);
    let e = refused(product(cpu, wide, 1, &[vec![0.0; 2], vec![1.0], vec![]], 1, 0, 1).0, SPARRING_NULL_POINTER);
    assert_eq!(e, "factors[2] is NULL");
    let huge = refused(product(cpu, wide, 1, &[vec![0.0; 2], vec![1.0], vec![]], 2, 0, 1).0, SPARRING_LENGTH);
    assert_eq!(huge, "out: length is 1, expected 1099511627776");
    let line = coo(&[3], &[vec![2, 0, 2]], &[1.0, 5.0, 10.0]);
    let (status, found) = product(cpu, line, 2, &[vec![]], 0, 0, 6);
    ok(status);
    assert_eq!(found, [5.0, 5.0, 0.0, 0.0, 11.0, 11.0]);
    ok(product(cpu, x, 0, &[vec![], vec![], vec![]], 0, 0, 0).0);
    free(&[x, wide, line]);
    ok(sparring_device_free(cpu));
}

#[test]
fn wrong_products_are_refused() {
    let (x, start, one) = (genten(), start(), cpu(1, 0));
    let e = refused(product(one, x, 2, &start, 3, 0, 4).0, SPARRING_ARGUMENT);
    assert_eq!(e, "mode: 3 of a tensor of 3 modes, which are counted from 0");
    refused(product(one, x, 2, &start, u64::MAX, 0, 4).0, SPARRING_ARGUMENT);
    let e = refused(product(one, x, 2, &start, 0, 8, 4).0, SPARRING_ARGUMENT);
    assert_eq!(e, "variant: 8 is none of 0, 1, 2, 3, 4, 5, 6, 7");
    for rank in [u64::MAX, 1 << 62] {
        let e = refused(product(one, x, rank, &start, 0, 0, 4).0, SPARRING_INDEX_OVERFLOW);
        assert!(e.starts_with("rank: "), "{e}");
    }
    let call = |device, x, factors, out| unsafe { sparring_mttkrp(device, x, 2, factors, 0, 0, out, 4) };
    let (mut out, list) = ([0.0; 4], addresses(&start));
    let (out, list) = (out.as_mut_ptr().cast(), list.as_ptr().cast());
    assert_eq!(refused(call(null(), x, list, out), SPARRING_NULL_POINTER), "device is NULL");
    assert_eq!(refused(call(one, null(), list, out), SPARRING_NULL_POINTER), "tensor is NULL");
    assert_eq!(refused(call(one, x, null(), out), SPARRING_NULL_POINTER), "factors is NULL");
    assert_eq!(refused(call(one, x, list, null_mut()), SPARRING_NULL_POINTER), "out is NULL");
    // Any number of empty columns is allowed.
    let none = coo(&[0, 0], &[vec![], vec![]], &[]);
    ok(product(one, none, 1 << 59, &[vec![], vec![]], 0, 0, 0).0);
    // The result takes 32 bytes; the computation more.
    let needs = |budget| {
        let cpu = cpu(1, budget);
        let (status, _) = product(cpu, x, 2, &start, 0, 0, 4);
        ok(sparring_device_free(cpu));
        status
    };
    for budget in [1, 31, 32] {
        assert_eq!(needs(budget), SPARRING_BUDGET, "{budget}");
    }
    assert_eq!(needs(1 << 20), SPARRING_OK);
    free(&[x, none]);
    ok(sparring_device_free(one));
}

/// V for each mode of [`genten`] with the factors of [`start`].
fn expected() -> [Vec<f64>; 3] {
    [vec![1.88, 1.88, 0.48, 1.4], vec![1.92, 1.8, 0.8, 1.4, 1.12, 0.4], vec![1.4, 1.3, 0.8, 0.3, 0.0, 0.0, 0.6, 1.0]]
}

fn prepared(
    device: *const SparringDevice,
    x: *const SparringTensor,
    rank: u64,
    variant: u32,
) -> (SparringStatus, *mut SparringMttkrp) {
    let mut plan = 64 as *mut SparringMttkrp;
    let status = unsafe { sparring_mttkrp_new(device, x, rank, variant, &mut plan) };
    assert_eq!(plan.is_null(), status != SPARRING_OK);
    (status, plan)
}

/// V for a mode by a plan, into a nonzero array.
fn run(
    plan: *const SparringMttkrp,
    rank: u64,
    factors: &[Vec<f64>],
    mode: u64,
    len: usize,
) -> (SparringStatus, Vec<f64>) {
    let mut out = vec![f64::NAN; len];
    let mut factors = addresses(factors);
    // The factor of the mode is not read.
    if let Some(own) = factors.get_mut(mode as usize) {
        *own = null();
    }
    let (room, len) = (out.as_mut_ptr().cast(), len as u64);
    (unsafe { sparring_mttkrp_run(plan, rank, factors.as_ptr().cast(), mode, room, len) }, out)
}

/// Every mode, twice, against single calls without a plan.
fn serves(device: *const SparringDevice, variants: &[u32]) {
    for &variant in variants {
        let x = genten();
        let (status, plan) = prepared(device, x, 2, variant);
        ok(status);
        // The plan keeps the tensor alive.
        free(&[x]);
        for mode in [2, 0, 1, 1, 0, 2] {
            let expected = &expected()[mode];
            let (status, found) = run(plan, 2, &start(), mode as u64, expected.len() + 1);
            ok(status);
            let near = found.iter().zip(expected).all(|(v, e)| (v - e).abs() < 1e-14);
            assert!(near && found[expected.len()].is_nan(), "{mode} {variant}: {found:?}");
        }
        // Other factors: no state of the previous ones remains.
        let twice: Vec<Vec<f64>> = start().iter().map(|f| f.iter().map(|x| 2.0 * x).collect()).collect();
        let (status, found) = run(plan, 2, &twice, 1, 6);
        ok(status);
        assert!(found.iter().zip(&expected()[1]).all(|(v, e)| (v - 4.0 * e).abs() < 1e-14), "{variant}: {found:?}");
        assert!(words(plan, sparring_mttkrp_explain).starts_with("mttkrp: "));
        ok(sparring_mttkrp_free(plan));
    }
}

#[test]
fn a_plan_serves_every_mode_and_outlives_tensor_and_device() {
    for threads in [1, 3] {
        let cpu = cpu(threads, 0);
        serves(cpu, &[0, 1, 2, 3, 4, 5, 6, 7]);
        let x = genten();
        let (status, plan) = prepared(cpu, x, 2, SPARRING_MTTKRP_C as u32);
        ok(status);
        assert!(words(plan, sparring_mttkrp_explain).contains("a permutation"));
        free(&[x]);
        ok(sparring_device_free(cpu));
        assert!(run(plan, 2, &start(), 0, 4).1.iter().zip(&expected()[0]).all(|(v, e)| (v - e).abs() < 1e-14));
        ok(sparring_mttkrp_free(plan));
        refused(run(plan, 2, &start(), 0, 4).0, SPARRING_INVALID_HANDLE);
    }
    ok(sparring_mttkrp_free(null_mut()));
}

#[test]
fn plans_of_long_modes_of_vectors_and_of_nothing() {
    let cpu = cpu(2, 0);
    let of = |x, rank, factors: &[Vec<f64>], mode, len| {
        let (status, plan) = prepared(cpu, x, rank, SPARRING_MTTKRP_SINGLE as u32);
        ok(status);
        let (status, found) = run(plan, rank, factors, mode, len);
        ok(sparring_mttkrp_free(plan));
        (status, found)
    };
    let wide = coo(&[2, 1, 1 << 40], &[vec![0, 1], vec![0, 0], vec![1 << 32, 3]], &[2.0, 5.0]);
    // A permutation of a mode takes a pointer for each of its rows: 8 TiB.
    let e = prepared(cpu, wide, 1, SPARRING_MTTKRP_C as u32).0;
    assert!(refused(e, SPARRING_OUT_OF_MEMORY).contains("are needed for mttkrp"));
    let line = coo(&[3], &[vec![2, 0, 2]], &[1.0, 5.0, 10.0]);
    let (status, found) = of(line, 2, &[vec![]], 0, 6);
    ok(status);
    assert_eq!(found, [5.0, 5.0, 0.0, 0.0, 11.0, 11.0]);
    let none = coo(&[2, 3], &[vec![], vec![]], &[]);
    let (status, found) = of(none, 2, &[vec![1.0; 4], vec![1.0; 6]], 0, 4);
    ok(status);
    assert_eq!(found, [0.0; 4]);
    let x = genten();
    ok(of(x, 0, &[vec![], vec![], vec![]], 0, 0).0);
    free(&[wide, line, none, x]);
    ok(sparring_device_free(cpu));
}

#[test]
fn wrong_plans_and_runs_are_refused() {
    let (x, one) = (genten(), cpu(1, 0));
    let e = refused(prepared(one, x, 2, 8).0, SPARRING_ARGUMENT);
    assert_eq!(e, "variant: 8 is none of 0, 1, 2, 3, 4, 5, 6, 7");
    for rank in [u64::MAX, 1 << 62] {
        assert!(refused(prepared(one, x, rank, 0).0, SPARRING_INDEX_OVERFLOW).starts_with("rank: "));
    }
    assert_eq!(refused(prepared(null(), x, 2, 0).0, SPARRING_NULL_POINTER), "device is NULL");
    assert_eq!(refused(prepared(one, null(), 2, 0).0, SPARRING_NULL_POINTER), "tensor is NULL");
    let e = refused(unsafe { sparring_mttkrp_new(one, x, 2, 0, null_mut()) }, SPARRING_NULL_POINTER);
    assert_eq!(e, "mttkrp is NULL");

    let (status, plan) = prepared(one, x, 2, 0);
    ok(status);
    let e = refused(run(plan, 3, &start(), 0, 6).0, SPARRING_ARGUMENT);
    assert_eq!(e, "rank: 3, the plan is for factors of 2 columns");
    let e = refused(run(plan, 2, &start(), 3, 4).0, SPARRING_ARGUMENT);
    assert_eq!(e, "mode: 3 of a tensor of 3 modes, which are counted from 0");
    let (status, found) = run(plan, 2, &start(), 1, 5);
    assert_eq!(refused(status, SPARRING_LENGTH), "out: length is 5, expected 6");
    assert!(found.iter().all(|v| v.is_nan()));
    let call = |plan, factors, out| unsafe { sparring_mttkrp_run(plan, 2, factors, 0, out, 4) };
    let (start, mut out) = (start(), [0.0; 4]);
    let (list, out) = (addresses(&start), out.as_mut_ptr().cast());
    let missing = [list[0], list[1], null()];
    let list = list.as_ptr().cast();
    ok(call(plan, list, out));
    assert_eq!(refused(call(plan, null(), out), SPARRING_NULL_POINTER), "factors is NULL");
    assert_eq!(refused(call(plan, missing.as_ptr().cast(), out), SPARRING_NULL_POINTER), "factors[2] is NULL");
    assert_eq!(refused(call(plan, list, null_mut()), SPARRING_NULL_POINTER), "out is NULL");
    assert_eq!(refused(call(null(), list, out), SPARRING_NULL_POINTER), "mttkrp is NULL");
    let e = refused(call(x.cast(), list, out), SPARRING_INVALID_HANDLE);
    assert_eq!(e, "mttkrp: a SparringMttkrp is needed, the handle is of a SparringTensor");
    ok(sparring_mttkrp_free(plan));

    // The largest result takes 64 bytes, the plan some more.
    for budget in [1, 63, 64] {
        let little = cpu(1, budget);
        refused(prepared(little, x, 2, SPARRING_MTTKRP_COPIES as u32).0, SPARRING_BUDGET);
        ok(sparring_device_free(little));
    }
    let enough = cpu(1, 4096);
    let (status, plan) = prepared(enough, x, 2, SPARRING_MTTKRP_COPIES as u32);
    ok(status);
    ok(sparring_mttkrp_free(plan));
    free(&[x]);
    ok(sparring_device_free(enough));
    ok(sparring_device_free(one));
}

/// A tensor of 20,000 entries whose products by several threads at once are those of one.
#[test]
fn threads_share_a_plan() {
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let dims = [70, 50, 90];
    let lists = dims.map(|n| (0..20_000).map(|_| below(n)).collect::<Vec<_>>());
    let values: Vec<f64> = (0..20_000).map(|_| below(1000) as f64 / 7.0).collect();
    let x = coo(&dims, &lists, &values);
    let factors = dims.map(|n| (0..n * 5).map(|_| below(1000) as f64 / 3.0).collect::<Vec<_>>());
    let cpu = cpu(2, 0);
    let (status, plan) = prepared(cpu, x, 5, 0);
    ok(status);
    let of = |mode: usize, plan: usize| {
        let (status, v) = run(plan as *const _, 5, &factors, mode as u64, dims[mode] as usize * 5);
        ok(status);
        v
    };
    let address = plan as usize;
    let want: Vec<_> = (0..3).map(|mode| of(mode, address)).collect();
    std::thread::scope(|scope| {
        for shift in 0..3 {
            let (of, want) = (&of, &want);
            scope.spawn(move || {
                for k in 0..12 {
                    let mode = (k + shift) % 3;
                    assert_eq!(of(mode, address), want[mode]);
                }
            });
        }
    });
    ok(sparring_mttkrp_free(plan));
    free(&[x]);
    ok(sparring_device_free(cpu));
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_multiplies_as_the_processor_does() {
    let (gpu, cpu, x) = (super::devices::gpu(), cpu(2, 0), genten());
    let variants = [0, SPARRING_MTTKRP_C as u32, SPARRING_MTTKRP_COPIES as u32];
    for mode in 0..3 {
        let len = expected()[mode].len();
        let of = |device, variant| {
            let (status, v) = product(device, x, 2, &start(), mode as u64, variant, len);
            ok(status);
            v
        };
        let want = of(cpu, 0);
        for variant in variants {
            assert!(of(gpu, variant).iter().zip(&want).all(|(x, y)| (x - y).abs() <= 1e-14 * y.abs()), "{mode}");
        }
    }
    serves(gpu, &variants);
    let tree = SPARRING_MTTKRP_TREE as u32;
    for e in [product(gpu, x, 2, &start(), 0, tree, 4).0, prepared(gpu, x, 2, tree).0] {
        // The message is that of the last call.
        assert_eq!(e, SPARRING_UNSUPPORTED);
        assert!(text(sparring_last_error()).contains("the variant tree on a GPU is not supported: "));
    }
    let (status, plan) = prepared(gpu, x, 2, SPARRING_MTTKRP_COPIES as u32);
    ok(status);
    ok(sparring_device_free(gpu));
    ok(run(plan, 2, &start(), 0, 4).0);
    ok(sparring_mttkrp_free(plan));
    free(&[x]);
    ok(sparring_device_free(cpu));
}

#[test]
fn products_over_other_semirings() {
    use crate::semirings::*;
    let (cpu, mut ring) = (cpu(2, 0), null_mut());
    let f64s = SPARRING_F64 as u32;
    ok(unsafe { sparring_semiring_new(c"min, a + 2*b".as_ptr(), f64s, f64s, &mut ring) });
    let x = coo(&[2, 2], &[vec![0, 0, 1], vec![0, 1, 1]], &[1.0, 2.0, 3.0]);
    let factor = [10.0, 20.0];
    let factors = [null(), factor.as_ptr().cast()];
    let mut out = [0.0; 2];
    let mut call = |ring: *const SparringSemiring, rank, mode, len| unsafe {
        sparring_mttkrp_with(cpu, ring, x, rank, factors.as_ptr(), mode, out.as_mut_ptr().cast(), len)
    };
    assert_eq!(refused(call(null(), 1, 0, 2), SPARRING_NULL_POINTER), "ring is NULL");
    assert_eq!(refused(call(ring, 1, 0, 1), SPARRING_LENGTH), "out: length is 1, expected 2");
    refused(call(ring, 1, 2, 2), SPARRING_ARGUMENT);
    refused(call(ring, u64::MAX, 0, 2), SPARRING_INDEX_OVERFLOW);
    ok(call(ring, 1, 0, 2));
    assert_eq!(out, [21.0, 43.0]);
    let mut integers = null_mut();
    let i64s = SPARRING_I64 as u32;
    ok(unsafe { sparring_semiring_new(c"plus_times".as_ptr(), i64s, i64s, &mut integers) });
    let e = unsafe { sparring_mttkrp_with(cpu, integers, x, 1, factors.as_ptr(), 0, out.as_mut_ptr().cast(), 2) };
    let e = refused(e, SPARRING_TYPE);
    assert!(e.starts_with("ring: it takes SPARRING_I64 and SPARRING_I64"), "{e}");
    for ring in [ring, integers] {
        ok(sparring_semiring_free(ring));
    }
    ok(sparring_tensor_free(x));
    ok(sparring_device_free(cpu));
}

/// The identity of ⊕, ⊕ and ⊗.
type Ring<T> = (T, fn(T, T) -> T, fn(T, T) -> T);

/// V by its definition, of a tensor's entries and factors of `rank` columns.
fn textbook<T: Copy>(
    (dims, lists, x): (&[u64], &[Vec<u64>], &[T]),
    (factors, rank): (&[Vec<T>], usize),
    mode: usize,
    (zero, plus, times): Ring<T>,
) -> Vec<T> {
    let mut v = vec![zero; dims[mode] as usize * rank];
    for (e, &x) in x.iter().enumerate() {
        for r in 0..rank {
            let others = (0..dims.len()).filter(|&m| m != mode);
            let z = others.fold(x, |z, m| times(z, factors[m][lists[m][e] as usize * rank + r]));
            let v = &mut v[lists[mode][e] as usize * rank + r];
            *v = plus(*v, z);
        }
    }
    v
}

/// Products of values of any type, once, by a plan and over a semiring.
#[test]
fn products_of_every_type() {
    use crate::semirings::*;
    use sparring::num_complex::Complex;
    fn check<T: Copy + PartialEq + std::fmt::Debug>(
        ty: u32,
        of: fn(u64) -> T,
        plus_times: Ring<T>,
        (name, other): (&CStr, Ring<T>),
    ) {
        let (cpu, mut state, rank) = (cpu(2, 0), 7u64, 3);
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let dims = [4, 6, 5];
        let lists = dims.map(|n| (0..60).map(|_| below(n)).collect::<Vec<_>>());
        let x: Vec<T> = (0..60).map(|_| of(below(4))).collect();
        let factors = [4, 6, 5].map(|n| (0..n * rank).map(|_| of(below(4))).collect::<Vec<_>>());
        let tensor = typed(ty, &dims, &lists, &x);
        let list: Vec<*const c_void> = factors.iter().map(|f| f.as_ptr().cast()).collect();
        let mut out = vec![of(3); 6 * rank];
        let (want, with) = (
            textbook((&dims, &lists, &x), (&factors, rank), 1, plus_times),
            textbook((&dims, &lists, &x), (&factors, rank), 1, other),
        );
        let len = out.len() as u64;
        ok(unsafe { sparring_mttkrp(cpu, tensor, 3, list.as_ptr(), 1, 0, out.as_mut_ptr().cast(), len) });
        assert_eq!(out, want);
        let (status, plan) = prepared(cpu, tensor, 3, 0);
        ok(status);
        out.fill(of(3));
        ok(unsafe { sparring_mttkrp_run(plan, 3, list.as_ptr(), 1, out.as_mut_ptr().cast(), len) });
        assert_eq!(out, want);
        assert!(words(plan, sparring_mttkrp_explain).starts_with("mttkrp: "));
        ok(sparring_mttkrp_free(plan));
        let mut ring = null_mut();
        ok(unsafe { sparring_semiring_new(name.as_ptr(), ty, ty, &mut ring) });
        out.fill(of(3));
        ok(unsafe { sparring_mttkrp_with(cpu, ring, tensor, 3, list.as_ptr(), 1, out.as_mut_ptr().cast(), len) });
        assert_eq!(out, with);
        ok(sparring_semiring_free(ring));
        // Variants need floats.
        let single = SPARRING_MTTKRP_SINGLE as u32;
        let status = unsafe { sparring_mttkrp(cpu, tensor, 3, list.as_ptr(), 1, single, out.as_mut_ptr().cast(), len) };
        if ty == SPARRING_F32 as u32 || ty == SPARRING_F64 as u32 {
            ok(status);
            assert_eq!(out, want);
        } else {
            assert!(refused(status, SPARRING_UNSUPPORTED).contains("the variant single of a product of "));
            refused(prepared(cpu, tensor, 3, single).0, SPARRING_UNSUPPORTED);
        }
        free(&[tensor]);
        ok(sparring_device_free(cpu));
    }
    macro_rules! integers {
        ($($ty:ident $t:ty),*) => {$(check::<$t>(
            $ty as u32,
            |x| x as $t,
            (0, <$t>::wrapping_add, <$t>::wrapping_mul),
            (c"max_plus", (<$t>::MIN, |a, b| a.max(b), <$t>::wrapping_add)),
        );)*};
    }
    integers!(SPARRING_I8 i8, SPARRING_U8 u8, SPARRING_I16 i16, SPARRING_U16 u16);
    integers!(SPARRING_I32 i32, SPARRING_U32 u32, SPARRING_I64 i64, SPARRING_U64 u64);
    let or: fn(u8, u8) -> u8 = |a, b| a | b;
    let and: fn(u8, u8) -> u8 = |a, b| a & b;
    check(SPARRING_BOOL as u32, |x| u8::from(x == 1), (0, or, and), (c"land_lor", (1, and, or)));
    let min = (f32::INFINITY, f32::min as fn(f32, f32) -> f32, (|a, b| a + b) as fn(f32, f32) -> f32);
    check(SPARRING_F32 as u32, |x| x as f32, (0.0, |a, b| a + b, |a, b| a * b), (c"min_plus", min));
    let min = (f64::INFINITY, f64::min as fn(f64, f64) -> f64, (|a, b| a + b) as fn(f64, f64) -> f64);
    check(SPARRING_F64 as u32, |x| x as f64, (0.0, |a, b| a + b, |a, b| a * b), (c"min_plus", min));
    macro_rules! complex {
        ($($ty:ident $t:ty),*) => {$({
            let of: fn(u64) -> Complex<$t> = |x| Complex::new(x as $t, 1.0);
            let ring: Ring<Complex<$t>> = (Complex::new(0.0, 0.0), |a, b| a + b, |a, b| a * b);
            check($ty as u32, of, ring, (c"plus, a*b", ring));
        })*};
    }
    complex!(SPARRING_COMPLEX_F32 f32, SPARRING_COMPLEX_F64 f64);
}

/// The long mode of a tensor has no factor that fits memory: its own product alone, or that of a column without rows.
#[test]
fn floats_with_long_modes_have_no_variants() {
    let (cpu, f32s) = (cpu(1, 0), SPARRING_F32 as u32);
    let wide = typed(f32s, &[2, 1 << 33], &[vec![0, 1], vec![1 << 32, 3]], &[2f32, 5.0]);
    let e = refused(prepared(cpu, wide, 1, SPARRING_MTTKRP_C as u32).0, SPARRING_UNSUPPORTED);
    assert!(e.contains("modes of less than 2³² indices"), "{e}");
    let (factor, mut out) = ([3f32, 4.0], [0f32; 4]);
    let list = [factor.as_ptr().cast::<c_void>(), null()];
    let e = unsafe { sparring_mttkrp(cpu, wide, 1, list.as_ptr(), 1, 0, out.as_mut_ptr().cast(), 4) };
    assert_eq!(refused(e, SPARRING_LENGTH), "out: length is 4, expected 8589934592");
    let e = unsafe { sparring_mttkrp(cpu, wide, 1, list.as_ptr(), 0, 0, out.as_mut_ptr().cast(), 4) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "factors[1] is NULL");
    free(&[wide]);
    ok(sparring_device_free(cpu));
}

#[test]
fn products_and_contractions_explain_themselves() {
    use crate::einsum::*;
    use crate::explain::{sparring_explain, sparring_explanation};
    let explained = |calls: &dyn Fn()| {
        ok(sparring_explain(1));
        calls();
        ok(sparring_explain(0));
        let (mut text, mut length) = ([0; 4000], 0);
        ok(unsafe { sparring_explanation(text.as_mut_ptr(), 4000, &mut length) });
        super::text(text.as_ptr())
    };
    let (cpu, x) = (cpu(2, 0), genten());
    let how = explained(&|| ok(product(cpu, x, 2, &start(), 0, 0, 4).0));
    let head = "mttkrp: 2×3×4 with 11 entries of f64, mode 0, 2 columns\n";
    assert_eq!(how, format!("{head}  single, a copy does not pay for one product: a permutation\n"));
    let copies = SPARRING_MTTKRP_COPIES as u32;
    let how = explained(&|| ok(product(cpu, x, 2, &start(), 1, copies, 6).0));
    assert!(how.contains("\n  copies, requested: a copy"), "{how}");
    let mut integers = null_mut();
    ok(unsafe { sparring_tensor_cast(x, SPARRING_I64 as u32, 0, &mut integers) });
    let factor = [1i64; 8];
    let list = [factor.as_ptr().cast::<c_void>(); 3];
    let how = explained(&|| {
        let mut out = [0i64; 4];
        let out: *mut c_void = out.as_mut_ptr().cast();
        ok(unsafe { sparring_mttkrp(cpu, integers, 2, list.as_ptr(), 0, 0, out, 4) });
    });
    assert!(how.contains("entries of i64, mode 0") && how.contains("the semiring is known at run time"), "{how}");

    let (extents, a) = ([3u64, 3], [1.0f64; 9]);
    let of =
        SparringLayout { rank: 2, extents: extents.as_ptr(), strides: null(), offset: 0, batch: 1, batch_stride: 0 };
    let einsum = |name: &CStr| {
        let (layouts, operands, lengths) = ([of; 2], [a.as_ptr().cast::<c_void>(); 2], [9u64; 2]);
        let mut c = [0.0f64; 9];
        let c: *mut c_void = c.as_mut_ptr().cast();
        let (text, ty, n) = (c"ij,jk->ik".as_ptr(), SPARRING_F64 as u32, 2);
        let (layouts, operands, lengths) = (layouts.as_ptr(), operands.as_ptr(), lengths.as_ptr());
        let (alpha, beta) = (null(), null());
        ok(unsafe {
            sparring_einsum(cpu, text, name.as_ptr(), ty, layouts, operands, lengths, n, alpha, beta, &of, c, 9)
        });
    };
    let how = explained(&|| einsum(c"plus_times"));
    let step = "operand 0 and operand 1 to the result: 1 products of matrices 3×3 and 3×3";
    assert_eq!(how, format!("einsum: ij,jk->ik of f64\n  {step}\n  1 blocks of 3 values of 'i'\n"));
    let how = explained(&|| einsum(c"min_plus"));
    assert!(
        how.starts_with("einsum: ij,jk->ik of f64\n  from left to right, ") && how.contains("step 1: 9 elements"),
        "{how}"
    );
    free(&[x, integers]);
    ok(sparring_device_free(cpu));
}
