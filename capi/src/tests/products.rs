//! Products through the C API, against three nested loops.

use sparring::num_complex::Complex;

use super::*;
use crate::mxm::*;
use crate::mxm_with::*;
use crate::semirings::*;

/// A matrix with pseudo-random entries, small integers so that every type holds them exactly.
fn random(seed: u64, nrows: u64, ncols: u64, ty: SparringType) -> *mut SparringMatrix {
    let mut state = seed;
    let mut next = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let (mut row_ptr, mut cols, mut values) = (vec![0], vec![], vec![]);
    for _ in 0..nrows {
        let density = 1 + next(4);
        for j in 0..ncols {
            if next(4) < density - 1 {
                cols.push(j as u32);
                values.push(next(7) as i64 - 2);
            }
        }
        row_ptr.push(cols.len() as u64);
    }
    macro_rules! of {
        ($($code:ident $convert:expr;)*) => {
            match ty {
                $($code => {
                    csr(ty, nrows, ncols, &row_ptr, &cols, &values.iter().map($convert).collect::<Vec<_>>())
                })*
            }
        };
    }
    of! {
        SPARRING_BOOL |&x| x as u8;
        SPARRING_I8 |&x| x as i8;
        SPARRING_U8 |&x| x as u8;
        SPARRING_I16 |&x| x as i16;
        SPARRING_U16 |&x| x as u16;
        SPARRING_I32 |&x| x as i32;
        SPARRING_U32 |&x| x as u32;
        SPARRING_I64 |&x| x;
        SPARRING_U64 |&x| x as u64;
        SPARRING_F32 |&x| x as f32;
        SPARRING_F64 |&x| x as f64;
        SPARRING_COMPLEX_F32 |&x| Complex::new(x as f32, -(x as f32));
        SPARRING_COMPLEX_F64 |&x| Complex::new(x as f64, 0.5 * x as f64);
    }
}

/// (i, j, value) of every entry of the product by the definition, ⊗ and ⊕ as functions.
fn definition<T: Copy + Default>(
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    mul: impl Fn(T, T) -> T,
    add: impl Fn(T, T) -> T,
) -> (Vec<u64>, Vec<u32>, Vec<T>) {
    let ((ap, aj, ax), (bp, bj, bx)) = (copy::<T>(a), copy::<T>(b));
    let (mut nrows, mut n) = (0, 0);
    ok(unsafe { sparring_matrix_shape(b, &mut nrows, &mut n) });
    let (mut p, mut j, mut x) = (vec![0], vec![], vec![]);
    for i in 0..ap.len() - 1 {
        for col in 0..n as u32 {
            let mut sum: Option<T> = None;
            for e in ap[i] as usize..ap[i + 1] as usize {
                let k = aj[e] as usize;
                for f in bp[k] as usize..bp[k + 1] as usize {
                    if bj[f] == col {
                        let product = mul(ax[e], bx[f]);
                        sum = Some(sum.map_or(product, |s| add(s, product)));
                    }
                }
            }
            if let Some(sum) = sum {
                j.push(col);
                x.push(sum);
            }
        }
        p.push(j.len() as u64);
    }
    (p, j, x)
}

fn mxm(
    cpu: *const SparringDevice,
    semiring: &CStr,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    options: *const SparringOptions,
) -> (SparringStatus, *mut SparringMatrix) {
    let mut c = 16 as *mut SparringMatrix;
    let status = unsafe { sparring_mxm(cpu, semiring.as_ptr(), a, b, options, &mut c) };
    assert_eq!(c.is_null(), status != SPARRING_OK);
    (status, c)
}

fn semiring(text: &CStr, a: SparringType, b: SparringType) -> *mut SparringSemiring {
    let mut ring = null_mut();
    ok(unsafe { sparring_semiring_new(text.as_ptr(), a as u32, b as u32, &mut ring) });
    ring
}

fn plan(cpu: *const SparringDevice, a: *const SparringMatrix, b: *const SparringMatrix) -> *mut SparringPlan {
    let mut plan = null_mut();
    ok(unsafe { sparring_plan_new(cpu, a, b, null(), &mut plan) });
    plan
}

fn free(matrices: &[*mut SparringMatrix]) {
    for m in matrices {
        ok(sparring_matrix_free(*m));
    }
}

/// A name, and its definition.
type Named<'a, T> = (&'a CStr, fn(T, T) -> T, fn(T, T) -> T);

/// The semirings over numbers. "any" is tested as the last value, the processor's choice.
macro_rules! numbers {
    ($t:ty) => {{
        let all: [Named<'_, $t>; 18] = [
            (c"any_pair", |_, _| 1 as $t, |_, y| y),
            (c"any_first", |a, _| a, |_, y| y),
            (c"any_second", |_, b| b, |_, y| y),
            (c"plus_times", |a, b| a * b, |x, y| x + y),
            (c"min_plus", |a, b| a + b, <$t>::min),
            (c"max_plus", |a, b| a + b, <$t>::max),
            (c"min_times", |a, b| a * b, <$t>::min),
            (c"max_times", |a, b| a * b, <$t>::max),
            (c"min_max", <$t>::max, <$t>::min),
            (c"max_min", <$t>::min, <$t>::max),
            (c"plus_min", <$t>::min, |x, y| x + y),
            (c"min_first", |a, _| a, <$t>::min),
            (c"min_second", |_, b| b, <$t>::min),
            (c"max_first", |a, _| a, <$t>::max),
            (c"max_second", |_, b| b, <$t>::max),
            (c"plus_first", |a, _| a, |x, y| x + y),
            (c"plus_second", |_, b| b, |x, y| x + y),
            (c"plus_pair", |_, _| 1 as $t, |x, y| x + y),
        ];
        all
    }};
}

fn booleans() -> [Named<'static, u8>; 4] {
    [
        (c"any_pair", |_, _| 1, |_, y| y),
        (c"any_first", |a, _| a, |_, y| y),
        (c"any_second", |_, b| b, |_, y| y),
        (c"lor_land", |a, b| a & b, |x, y| x | y),
    ]
}

fn all_ways_agree<T: Copy + Default + PartialEq + std::fmt::Debug>(ty: SparringType, all: &[Named<'_, T>]) {
    let cpu = cpu(2, 0);
    for seed in 0..4 {
        let (a, b) = (random(seed, 5 + 9 * seed, 17, ty), random(seed + 100, 17, 3 + 8 * seed, ty));
        let plan = plan(cpu, a, b);
        for &(name, mul, add) in all {
            let expected = definition(a, b, mul, add);
            let (status, c) = mxm(cpu, name, a, b, null());
            ok(status);
            assert_eq!(copy::<T>(c), expected, "{name:?} over {ty:?}, seed {seed}");
            let mut d = null_mut();
            ok(unsafe { sparring_plan_numeric(cpu, plan, name.as_ptr(), a, b, &mut d) });
            assert_eq!(copy::<T>(d), expected, "{name:?} over {ty:?} with a plan, seed {seed}");
            let (ring, mut e, mut f) = (semiring(name, ty, ty), null_mut(), null_mut());
            ok(unsafe { sparring_mxm_with(cpu, ring, a, b, null(), &mut e) });
            assert_eq!(copy::<T>(e), expected, "{name:?} over {ty:?} by its handle, seed {seed}");
            ok(unsafe { sparring_plan_numeric_with(cpu, plan, ring, a, b, &mut f) });
            assert_eq!(copy::<T>(f), expected, "{name:?} over {ty:?} with a plan by its handle, seed {seed}");
            ok(sparring_semiring_free(ring));
            free(&[c, d, e, f]);
        }
        ok(sparring_plan_free(plan));
        free(&[a, b]);
    }
    ok(sparring_device_free(cpu));
}

#[test]
fn products_are_the_definition() {
    all_ways_agree(SPARRING_F64, &numbers!(f64));
    all_ways_agree(SPARRING_F32, &numbers!(f32));
    all_ways_agree(SPARRING_I64, &numbers!(i64));
    all_ways_agree(SPARRING_BOOL, &booleans());
}

#[test]
fn narrow_unsigned_and_complex_values_too() {
    macro_rules! integers {
        ($($code:ident $t:ty),*) => {$(
            all_ways_agree::<$t>($code, &[
                (c"plus_times", <$t>::wrapping_mul, <$t>::wrapping_add),
                (c"min_max", <$t>::max, <$t>::min),
                (c"max, a + 2*b", |a, b| a.wrapping_add(b.wrapping_mul(2)), <$t>::max),
            ]);
        )*};
    }
    integers!(SPARRING_I8 i8, SPARRING_U8 u8, SPARRING_I16 i16, SPARRING_U16 u16, SPARRING_I32 i32, SPARRING_U32 u32);
    integers!(SPARRING_U64 u64);
    all_ways_agree::<Complex<f32>>(SPARRING_COMPLEX_F32, &[(c"plus_times", |a, b| a * b, |x, y| x + y)]);
    all_ways_agree::<Complex<f64>>(SPARRING_COMPLEX_F64, &[(c"plus_times", |a, b| a * b, |x, y| x + y)]);
}

#[test]
fn a_formula_that_is_none_points_at_the_place() {
    let (cpu, a) = (cpu(1, 0), random(1, 5, 5, SPARRING_F64));
    let message = refused(mxm(cpu, c"min, a + * b", a, a, null()).0, SPARRING_FORMULA);
    assert!(message.contains("min, a + * b") && message.contains('^'), "{message}");
    free(&[a]);
    ok(sparring_device_free(cpu));
}

/// A handle describes itself; formulas may take two types; mismatches are rejected with the argument's name.
#[test]
fn a_semiring_has_a_handle() {
    let (cpu, a) = (cpu(1, 0), small());
    let counts = csr(SPARRING_I64, 3, 2, &[0, 1, 2, 3], &[1, 0, 0], &[2i64, 3, 4]);
    let ring = semiring(c" plus, a * f64(b) ", SPARRING_F64, SPARRING_I64);
    let (mut c, mut ty, mut length, mut buffer) = (null_mut(), 0, 0, [1 as c_char; 100]);
    ok(unsafe { sparring_mxm_with(cpu, ring, a, counts, null(), &mut c) });
    let (p, j, x) = copy::<f64>(a);
    let (bp, bj, bx) = copy::<i64>(counts);
    let mut want = std::collections::BTreeMap::new();
    for i in 0..p.len() - 1 {
        for e in p[i] as usize..p[i + 1] as usize {
            for f in bp[j[e] as usize] as usize..bp[j[e] as usize + 1] as usize {
                *want.entry((i, bj[f])).or_insert(0.0) += x[e] * bx[f] as f64;
            }
        }
    }
    let (cp, cj, cx) = copy::<f64>(c);
    let rows = (0..cp.len() - 1).flat_map(|i| (cp[i]..cp[i + 1]).map(move |_| i));
    let found: Vec<_> = rows.zip(cj).zip(cx).collect();
    assert_eq!(found, want.into_iter().collect::<Vec<_>>());
    ok(unsafe { sparring_semiring_type(ring, &mut ty) });
    assert_eq!(ty, SPARRING_F64 as u32);
    ok(unsafe { sparring_semiring_describe(ring, buffer.as_mut_ptr(), 100, &mut length) });
    assert_eq!((text(buffer.as_ptr()), length), ("plus, a * f64(b)".to_owned(), 16));
    let mut d = 16 as *mut SparringMatrix;
    let e = refused(unsafe { sparring_mxm_with(cpu, ring, a, a, null(), &mut d) }, SPARRING_TYPE);
    assert_eq!((e.as_str(), d), ("b: values are SPARRING_F64, those of the semiring SPARRING_I64", null_mut()));
    let e = refused(unsafe { sparring_mxm_with(cpu, ring, counts, counts, null(), &mut d) }, SPARRING_TYPE);
    assert_eq!(e, "a: values are SPARRING_I64, those of the semiring SPARRING_F64");
    // By name the operands have one type.
    refused(mxm(cpu, c"plus, a * f64(b)", a, counts, null()).0, SPARRING_TYPE);
    let positions = semiring(c"max_secondi", SPARRING_F64, SPARRING_F64);
    ok(unsafe { sparring_semiring_type(positions, &mut ty) });
    assert_eq!(ty, SPARRING_I64 as u32);
    let new = |text: &CStr, a: u32, b: u32| {
        let mut ring = 16 as *mut SparringSemiring;
        let status = unsafe { sparring_semiring_new(text.as_ptr(), a, b, &mut ring) };
        assert!(ring.is_null(), "{text:?}");
        status
    };
    let (f64s, i64s) = (SPARRING_F64 as u32, SPARRING_I64 as u32);
    refused(new(c"min_plush", f64s, f64s), SPARRING_ARGUMENT);
    refused(new(c"bor_band", f64s, f64s), SPARRING_TYPE);
    refused(new(c"min, a +", f64s, f64s), SPARRING_FORMULA);
    assert!(refused(new(c"min_plus", f64s, 99), SPARRING_ARGUMENT).starts_with("b_type: 99 "));
    assert!(refused(new(c"min_plus", 0, i64s), SPARRING_ARGUMENT).starts_with("a_type: 0 "));
    refused(unsafe { sparring_mxm_with(cpu, a.cast(), a, a, null(), &mut d) }, SPARRING_INVALID_HANDLE);
    ok(sparring_semiring_free(ring));
    refused(unsafe { sparring_mxm_with(cpu, ring, a, counts, null(), &mut d) }, SPARRING_INVALID_HANDLE);
    refused(sparring_semiring_free(ring), SPARRING_INVALID_HANDLE);
    ok(sparring_semiring_free(positions));
    ok(sparring_semiring_free(null_mut()));
    free(&[a, counts, c]);
    ok(sparring_device_free(cpu));
}

#[test]
fn every_name_tested_above_is_listed() {
    let listed: Vec<_> = (0..sparring_semiring_count()).map(|i| text(sparring_semiring_name(i))).collect();
    let numbers = numbers!(f64).map(|(name, ..)| name);
    let tested = numbers.iter().chain(&[c"lor_land"]).map(|name| name.to_str().unwrap().to_owned());
    for name in tested {
        assert!(listed.contains(&name), "{name}");
    }
    assert!(sparring_semiring_name(sparring_semiring_count()).is_null());
    assert!(sparring_semiring_name(u64::MAX).is_null());
}

#[test]
fn a_semiring_may_give_another_type() {
    let (cpu, a) = (cpu(1, 0), small());
    let b = csr(SPARRING_F64, 3, 1, &[0, 1, 1, 2], &[0, 0], &[1.0, 0.0]);
    let plan = plan(cpu, a, b);
    // Row 1 of A has columns 0 and 2, and so has B: the products are (1, 1) and (3, 0) at k = 0 and 2.
    let (status, c) = mxm(cpu, c"max_secondi", a, b, null());
    ok(status);
    assert_eq!(copy::<i64>(c), (vec![0, 0, 1], vec![0], vec![2]));
    let (status, d) = mxm(cpu, c"lor_land", a, b, null());
    ok(status);
    assert_eq!(copy::<u8>(d), (vec![0, 0, 1], vec![0], vec![1]));
    let (mut e, mut ty) = (null_mut(), 0);
    ok(unsafe { sparring_plan_numeric(cpu, plan, c"min_secondi".as_ptr(), a, b, &mut e) });
    ok(unsafe { sparring_matrix_type(e, &mut ty) });
    assert_eq!((ty, copy::<i64>(e).2), (SPARRING_I64 as u32, vec![0]));
    ok(unsafe { sparring_plan_numeric_into(cpu, plan, c"max_secondi".as_ptr(), a, b, e) });
    assert_eq!(copy::<i64>(e).2, [2]);
    refused(unsafe { sparring_plan_numeric_into(cpu, plan, c"plus_times".as_ptr(), a, b, e) }, SPARRING_TYPE);
    ok(sparring_plan_free(plan));
    free(&[a, b, c, d, e]);
    ok(sparring_device_free(cpu));
}

#[test]
fn options_change_the_way_not_the_result() {
    let cpu = cpu(1, 0);
    let (a, b) = (random(1, 20, 20, SPARRING_I64), random(2, 20, 20, SPARRING_I64));
    let expected = definition::<i64>(a, b, |a, b| a * b, |x, y| x + y);
    for policy in 0..2 {
        for accumulator in 0..4 {
            for compress in 0..3 {
                let options = SparringOptions { policy, accumulator, compress, unsorted: 0 };
                let (status, c) = mxm(cpu, c"plus_times", a, b, &options);
                ok(status);
                assert_eq!(copy::<i64>(c), expected, "{options:?}");
                free(&[c]);
            }
        }
    }
    // Unsorted: the same entries, and not in the order of their columns.
    let (status, c) = mxm(cpu, c"plus_times", a, b, &SparringOptions { unsorted: 7, ..Default::default() });
    ok(status);
    let (p, j, x) = copy::<i64>(c);
    assert_eq!(p, expected.0);
    let rows = || (0..20).map(|i| p[i] as usize..p[i + 1] as usize);
    assert!(rows().any(|row| !j[row].is_sorted()), "sorted all the same");
    for row in rows() {
        let mut entries: Vec<_> = row.clone().map(|e| (j[e], x[e])).collect();
        entries.sort_unstable();
        assert_eq!(entries, row.map(|e| (expected.1[e], expected.2[e])).collect::<Vec<_>>());
    }
    for (name, o) in [
        ("options.policy: ", SparringOptions { policy: 2, ..Default::default() }),
        ("options.accumulator: ", SparringOptions { accumulator: 4, ..Default::default() }),
        ("options.compress: ", SparringOptions { compress: u32::MAX, ..Default::default() }),
    ] {
        let e = refused(mxm(cpu, c"plus_times", a, b, &o).0, SPARRING_ARGUMENT);
        assert!(e.starts_with(name), "{e}");
        let mut plan = null_mut();
        assert!(refused(unsafe { sparring_plan_new(cpu, a, b, &o, &mut plan) }, SPARRING_ARGUMENT).starts_with(name));
    }
    free(&[a, b, c]);
    ok(sparring_device_free(cpu));
}

#[test]
fn a_plan_tells_its_figures_and_reasons() {
    // Row 0 of A multiplies rows 0 and 1 of B: 2 + 1 products, two of them at column 0; row 1 has none.
    let cpu = cpu(1, 0);
    let a = csr(SPARRING_F64, 2, 2, &[0, 2, 2], &[0, 1], &[1.0, 2.0]);
    let b = csr(SPARRING_F32, 2, 3, &[0, 2, 3], &[0, 2, 0], &[1.0f32, 2.0, 3.0]);
    let plan = plan(cpu, a, b);
    let mut s = SparringStats::default();
    ok(unsafe { sparring_plan_stats(plan, &mut s) });
    assert_eq!((s.flops, s.max_row_flops, s.max_row_nnz, s.nnz), (3, 3, 2, 2));
    assert!(s.cf.is_nan() || (0.0..=1.0).contains(&s.cf), "{}", s.cf);
    assert!(s.cmrf.is_nan() || (0.0..=1.0).contains(&s.cmrf), "{}", s.cmrf);
    let (mut length, mut buffer) = (0, [1 as c_char; 4000]);
    ok(unsafe { sparring_plan_explain(plan, null_mut(), 0, &mut length) });
    ok(unsafe { sparring_plan_explain(plan, buffer.as_mut_ptr(), 4000, null_mut()) });
    assert_eq!(text(buffer.as_ptr()).len() as u64, length);
    assert!(length > 0);
    ok(unsafe { sparring_plan_explain(plan, buffer.as_mut_ptr(), 1, &mut length) });
    assert_eq!(text(buffer.as_ptr()), "");
    refused(unsafe { sparring_plan_explain(plan, null_mut(), 1, null_mut()) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_plan_stats(plan, null_mut()) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_plan_stats(null(), &mut s) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_plan_explain(a.cast(), null_mut(), 0, null_mut()) }, SPARRING_INVALID_HANDLE);
    ok(sparring_plan_free(plan));
    refused(sparring_plan_free(plan), SPARRING_INVALID_HANDLE);
    free(&[a, b]);
    ok(sparring_device_free(cpu));
}

#[test]
fn one_plan_serves_other_values_and_semirings_in_place() {
    let cpu = cpu(2, 0);
    let a = random(5, 12, 12, SPARRING_F64);
    let (p, j, x) = copy::<f64>(a);
    let b = csr(SPARRING_F64, 12, 12, &p, &j, &x.iter().map(|x| 10.0 - x).collect::<Vec<_>>());
    let plan = plan(cpu, a, a);
    let mut c = null_mut();
    ok(unsafe { sparring_plan_numeric(cpu, plan, c"plus_times".as_ptr(), a, a, &mut c) });
    let (mut lent, mut again) = (null(), null());
    ok(unsafe { sparring_matrix_borrow(c, null_mut(), null_mut(), &mut lent) });
    for (name, mul, add) in numbers!(f64) {
        ok(unsafe { sparring_plan_numeric_into(cpu, plan, name.as_ptr(), a, b, c) });
        assert_eq!(copy::<f64>(c), definition(a, b, mul, add), "{name:?}");
        let ring = semiring(name, SPARRING_F64, SPARRING_F64);
        ok(unsafe { sparring_plan_numeric_into_with(cpu, plan, ring, b, a, c) });
        assert_eq!(copy::<f64>(c), definition(b, a, mul, add), "{name:?} by its handle");
        ok(sparring_semiring_free(ring));
        ok(unsafe { sparring_matrix_borrow(c, null_mut(), null_mut(), &mut again) });
        assert_eq!(lent, again, "nothing is allocated");
    }
    ok(sparring_plan_free(plan));
    free(&[a, b, c]);
    ok(sparring_device_free(cpu));
}

#[test]
fn a_result_may_be_its_own_operand() {
    // A full 2×2 matrix has the pattern of its square.
    let cpu = cpu(1, 0);
    let a = csr(SPARRING_I64, 2, 2, &[0, 2, 4], &[0, 1, 0, 1], &[1i64, 1, 1, 0]);
    let plan = plan(cpu, a, a);
    let mut c = null_mut();
    ok(unsafe { sparring_plan_numeric(cpu, plan, c"plus_times".as_ptr(), a, a, &mut c) });
    assert_eq!(copy::<i64>(c).2, [2, 1, 1, 1]);
    let whole = plan;
    ok(unsafe { sparring_plan_numeric_into(cpu, whole, c"plus_times".as_ptr(), c, a, c) });
    assert_eq!(copy::<i64>(c).2, [3, 2, 2, 1]);
    ok(unsafe { sparring_plan_numeric_into(cpu, whole, c"plus_times".as_ptr(), c, c, c) });
    assert_eq!(copy::<i64>(c).2, [13, 8, 8, 5]);
    ok(sparring_plan_free(plan));
    free(&[a, c]);
    ok(sparring_device_free(cpu));
}

#[test]
fn threads_may_share_all_handles() {
    // One result, written by two threads over two semirings and read by two: every read sees one or the other.
    let (cpu, a) = (cpu(2, 0), random(7, 30, 30, SPARRING_I64));
    let plan = plan(cpu, a, a);
    let (sum, min) =
        (definition::<i64>(a, a, |a, b| a * b, |x, y| x + y).2, definition::<i64>(a, a, |a, b| a + b, i64::min).2);
    let mut c = null_mut();
    ok(unsafe { sparring_plan_numeric(cpu, plan, c"plus_times".as_ptr(), a, a, &mut c) });
    let ids = [cpu.addr(), plan.addr(), a.addr(), c.addr()];
    std::thread::scope(|s| {
        for name in [c"plus_times", c"min_plus"] {
            s.spawn(move || {
                let [cpu, plan, a, c] = ids;
                for _ in 0..50 {
                    let name = name.as_ptr();
                    ok(unsafe { sparring_plan_numeric_into(cpu as _, plan as _, name, a as _, a as _, c as _) });
                }
            });
        }
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..200 {
                    let found = copy::<i64>(ids[3] as _).2;
                    assert!(found == sum || found == min);
                }
            });
        }
    });
    ok(sparring_plan_free(plan));
    free(&[a, c]);
    ok(sparring_device_free(cpu));
}

#[test]
fn wrong_products_are_refused() {
    let cpu = cpu(1, 0);
    let (a, b) = (small(), csr(SPARRING_F64, 3, 1, &[0, 1, 1, 1], &[0], &[1.0]));
    let ints = csr(SPARRING_I64, 3, 1, &[0, 1, 1, 1], &[0], &[1i64]);
    assert_eq!(
        refused(mxm(cpu, c"plus_times", a, a, null()).0, SPARRING_SHAPE),
        "mxm: shapes do not agree: a is 2×3, b is 2×3"
    );
    let e = refused(mxm(cpu, c"plus_time", a, b, null()).0, SPARRING_ARGUMENT);
    assert!(
        e.starts_with("semiring 'plus_time' over f64 ") && e.contains("operator 'time'") && e.contains(", times,"),
        "{e}"
    );
    let e = refused(mxm(cpu, c"\xff", a, b, null()).0, SPARRING_ARGUMENT);
    assert_eq!(e, "semiring: not UTF-8 after 0 bytes");
    let e = refused(mxm(cpu, c"bor_band", a, b, null()).0, SPARRING_TYPE);
    assert!(e.starts_with("semiring 'bor_band' over f64 is not supported"), "{e}");
    // Complex numbers have no order.
    let complex = csr(SPARRING_COMPLEX_F64, 1, 1, &[0, 1], &[0], &[Complex::new(1.0, 0.0)]);
    let e = refused(mxm(cpu, c"min_plus", complex, complex, null()).0, SPARRING_TYPE);
    assert!(e.starts_with("semiring 'min_plus' over complex_f64 is not supported"), "{e}");
    let e = refused(mxm(cpu, c"plus_times", a, ints, null()).0, SPARRING_TYPE);
    assert_eq!(e, "b: values are SPARRING_I64, those of a are SPARRING_F64");
    assert_eq!(refused(mxm(null(), c"plus_times", a, b, null()).0, SPARRING_NULL_POINTER), "device is NULL");
    assert_eq!(refused(mxm(cpu, c"plus_times", null(), b, null()).0, SPARRING_NULL_POINTER), "a is NULL");
    assert_eq!(refused(mxm(cpu, c"plus_times", a, null(), null()).0, SPARRING_NULL_POINTER), "b is NULL");
    refused(mxm(cpu, c"plus_times", a, cpu.cast(), null()).0, SPARRING_INVALID_HANDLE);
    let mut c = null_mut();
    let e = unsafe { sparring_mxm(cpu, null(), a, b, null(), &mut c) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "semiring is NULL");
    let e = unsafe { sparring_mxm(cpu, c"plus_times".as_ptr(), a, b, null(), null_mut()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "c is NULL");

    let mut plan = 16 as *mut SparringPlan;
    refused(unsafe { sparring_plan_new(cpu, a, a, null(), &mut plan) }, SPARRING_SHAPE);
    assert!(plan.is_null());
    let e = refused(unsafe { sparring_plan_new(cpu, a, b, null(), null_mut()) }, SPARRING_NULL_POINTER);
    assert_eq!(e, "plan is NULL");
    free(&[a, b, ints, complex]);
    ok(sparring_device_free(cpu));
}

#[test]
fn wrong_numeric_phases_are_refused() {
    let cpu = cpu(1, 0);
    let (a, b) = (small(), csr(SPARRING_F64, 3, 1, &[0, 1, 1, 1], &[0], &[1.0]));
    let ints = csr(SPARRING_I64, 2, 1, &[0, 0, 1], &[0], &[1i64]);
    let plan = plan(cpu, a, b);
    let name = c"plus_times".as_ptr();
    let mut c = null_mut();
    ok(unsafe { sparring_plan_numeric(cpu, plan, name, a, b, &mut c) });
    assert_eq!(copy::<f64>(c), (vec![0, 0, 1], vec![0], vec![1.0]));
    let e = refused(unsafe { sparring_plan_numeric_into(cpu, plan, name, a, b, ints) }, SPARRING_TYPE);
    assert_eq!(e, "c: values are SPARRING_I64, the semiring gives SPARRING_F64");
    let e = refused(unsafe { sparring_plan_numeric_into(cpu, plan, name, a, ints, c) }, SPARRING_TYPE);
    assert!(e.starts_with("b: values are SPARRING_I64"), "{e}");
    refused(unsafe { sparring_plan_numeric_into(cpu, plan, c"x".as_ptr(), a, b, c) }, SPARRING_ARGUMENT);
    refused(unsafe { sparring_plan_numeric_into(cpu, plan, null(), a, b, c) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_plan_numeric_into(cpu, null(), name, a, b, c) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_plan_numeric_into(cpu, plan, name, a, b, null_mut()) }, SPARRING_NULL_POINTER);
    // An operand as the result, although its structure differs from the product.
    let e = refused(unsafe { sparring_plan_numeric_into(cpu, plan, name, a, b, a) }, SPARRING_PATTERN_CHANGED);
    assert!(e.starts_with("c: another pattern than the one planned for"), "{e}");
    let mut d = 16 as *mut SparringMatrix;
    refused(unsafe { sparring_plan_numeric(cpu, plan, c"x".as_ptr(), a, b, &mut d) }, SPARRING_ARGUMENT);
    assert!(d.is_null());
    refused(unsafe { sparring_plan_numeric(cpu, plan, name, a, b, null_mut()) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_plan_numeric(cpu, a.cast(), name, a, b, &mut d) }, SPARRING_INVALID_HANDLE);
    // The failed call has changed nothing.
    assert_eq!(copy::<f64>(c).2, [1.0]);
    ok(sparring_plan_free(plan));
    free(&[a, b, c, ints]);
    ok(sparring_device_free(cpu));
}

#[test]
fn a_plan_refuses_other_structures() {
    let cpu = cpu(1, 0);
    let (a, b) = (small(), csr(SPARRING_F64, 3, 1, &[0, 1, 1, 1], &[0], &[1.0]));
    let other_a = csr(SPARRING_F64, 2, 3, &[0, 1, 2], &[1, 0], &[1.0, 1.0]);
    let other_b = csr(SPARRING_F64, 3, 1, &[0, 0, 1, 1], &[0], &[1.0]);
    let plan = plan(cpu, a, b);
    let name = c"plus_times".as_ptr();
    let (mut c, mut d) = (null_mut(), null_mut());
    ok(unsafe { sparring_plan_numeric(cpu, plan, name, a, b, &mut c) });
    let e = refused(unsafe { sparring_plan_numeric(cpu, plan, name, other_a, b, &mut d) }, SPARRING_PATTERN_CHANGED);
    assert_eq!(e, "a: another pattern than the one planned for (2 entries, planned 3)");
    let e = refused(unsafe { sparring_plan_numeric(cpu, plan, name, a, other_b, &mut d) }, SPARRING_PATTERN_CHANGED);
    assert_eq!(e, "b: another pattern than the one planned for (1 entries, planned 1)");
    refused(unsafe { sparring_plan_numeric_into(cpu, plan, name, other_a, b, c) }, SPARRING_PATTERN_CHANGED);
    refused(unsafe { sparring_plan_numeric_into(cpu, plan, name, a, b, other_a) }, SPARRING_PATTERN_CHANGED);
    assert_eq!(copy::<f64>(c).2, [1.0]);
    ok(sparring_plan_free(plan));
    free(&[a, b, c, other_a, other_b]);
    ok(sparring_device_free(cpu));
}

#[test]
fn a_budget_is_kept() {
    // 1000 rows of 1000 columns: 12 MB, against a budget of one.
    let cpu = cpu(1, 1 << 20);
    let row_ptr: Vec<u64> = (0..=1000).collect();
    let a = csr(SPARRING_F64, 1000, 1, &row_ptr, &[0; 1000], &[1.0; 1000]);
    let b = csr(SPARRING_F64, 1, 1000, &[0, 1000], &(0..1000).collect::<Vec<u32>>(), &[1.0; 1000]);
    assert!(refused(mxm(cpu, c"plus_times", a, b, null()).0, SPARRING_BUDGET).contains("1048576"));
    free(&[a, b]);
    ok(sparring_device_free(cpu));
}
