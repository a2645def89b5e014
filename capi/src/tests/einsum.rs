//! Contractions: layouts, plans, threads, budgets, devices.

use super::*;
use crate::einsum::*;

fn dense(extents: &[u64], batch: u64, batch_stride: i64) -> SparringLayout {
    let strides = null();
    SparringLayout { rank: extents.len() as u64, extents: extents.as_ptr(), strides, offset: 0, batch, batch_stride }
}

/// A product of two operands by a new plan, run twice.
fn twice<T: Copy>(
    device: *const SparringDevice,
    (expression, semiring, ty): (&CStr, &CStr, SparringType),
    layouts: &[SparringLayout; 2],
    operands: [&[T]; 2],
    (layout, result): (&SparringLayout, &mut [T]),
) -> SparringStatus {
    let mut plan = null_mut();
    let (expression, semiring) = (expression.as_ptr(), semiring.as_ptr());
    let status = unsafe {
        sparring_einsum_plan_new(device, expression, semiring, ty as u32, layouts.as_ptr(), 2, layout, &mut plan)
    };
    assert_eq!(plan.is_null(), status != SPARRING_OK);
    if status != SPARRING_OK {
        return status;
    }
    let mut run = || unsafe {
        let (addresses, lengths) = (operands.map(|x| x.as_ptr().cast()), operands.map(|x| x.len() as u64));
        let (to, len) = (result.as_mut_ptr().cast(), result.len() as u64);
        sparring_einsum_plan_run(plan, addresses.as_ptr(), lengths.as_ptr(), 2, null(), null(), to, len)
    };
    let statuses = (run(), run());
    assert_eq!(statuses.0, statuses.1);
    let message = text(sparring_last_error());
    ok(sparring_einsum_plan_free(plan));
    // The status of the run.
    assert_eq!(message.is_empty(), statuses.0 == SPARRING_OK, "{message}");
    statuses.0
}

/// By 1, 2 and 5 threads, against plain loops: 50 products of 3 × 4 with 4 × 5 matrices.
#[test]
fn batches_are_those_of_plain_loops() {
    const BATCH: usize = 50;
    let number = |k: usize| ((k * 37 + 11) % 19) as f64 - 9.0;
    let a: Vec<f64> = (0..BATCH * 12).map(number).collect();
    let b: Vec<f64> = (0..20).map(|k| number(k + 5)).collect();
    let layouts = [dense(&[3, 4], BATCH as u64, 12), dense(&[5, 4], 1, 0)];
    let layout = dense(&[5, 3], BATCH as u64, 15);
    let mut expected = vec![];
    for p in 0..BATCH {
        for k in 0..5 {
            for i in 0..3 {
                expected.push((0..4).map(|j| a[12 * p + 4 * i + j] * b[4 * k + j]).sum::<f64>());
            }
        }
    }
    for threads in [1, 2, 5] {
        let cpu = cpu(threads, 0);
        let mut c = vec![f64::NAN; BATCH * 15];
        ok(twice(cpu, (c"ij,kj->ki", c"plus_times", SPARRING_F64), &layouts, [&a, &b], (&layout, &mut c)));
        assert_eq!(c, expected);
        ok(sparring_device_free(cpu));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (square, x) = ([2, 2], [1.0; 4]);
    let layouts = [dense(&square, 1, 0), dense(&square, 1, 0)];
    let device = cpu(1, 50);
    let mut c = [7.0; 4];
    let asked = (c"ij,jk->ik", c"plus_times", SPARRING_F64);
    let status = twice(device, asked, &layouts, [&x, &x], (&layouts[0], &mut c));
    assert_eq!((status, c), (SPARRING_BUDGET, [7.0; 4]));
    ok(sparring_device_free(device));
    let device = cpu(1, 0);
    let status = twice(device, asked, &layouts, [&x, &x[..3]], (&layouts[0], &mut c));
    assert_eq!((status, c), (SPARRING_LENGTH, [7.0; 4]));
    let three = dense(&square, 3, 4);
    let status = twice(device, asked, &[layouts[0], three], [&x, &[1.0; 12]], (&layouts[0], &mut c));
    let message = refused(status, SPARRING_LENGTH);
    assert!(message.starts_with("result_layout: batch of the result"), "{message}");
    let message = refused(
        twice(device, (c"ij,jk->ik", c"min_plus", SPARRING_COMPLEX_F32), &layouts, [&x, &x], (&layouts[0], &mut c)),
        SPARRING_TYPE,
    );
    assert!(message.starts_with("semiring 'min_plus' over complex_f32"), "{message}");
    let status = twice(device, (c"ij,jk->ik", c"min_pluss", SPARRING_I64), &layouts, [&x, &x], (&layouts[0], &mut c));
    assert!(refused(status, SPARRING_ARGUMENT).starts_with("semiring 'min_pluss'"));
    let status = twice(device, (c"ij,jk->ik", c"any_secondi", SPARRING_I64), &layouts, [&x, &x], (&layouts[0], &mut c));
    let message = refused(status, SPARRING_UNSUPPORTED);
    assert!(message.contains("its product depends on indices of entries"), "{message}");
    let huge = dense(&[u64::MAX, u64::MAX], 1, 0);
    let status = twice(device, asked, &[huge, layouts[0]], [&x, &x], (&layouts[0], &mut c));
    let message = refused(status, SPARRING_INDEX_OVERFLOW);
    assert!(message.starts_with("layouts[0]"), "{message}");
    // The plan outlives the handle of its device.
    let mut plan = null_mut();
    let (expression, ring) = (c"ij->ji".as_ptr(), c"plus_times".as_ptr());
    let ty = SPARRING_F64 as u32;
    ok(unsafe { sparring_einsum_plan_new(device, expression, ring, ty, &layouts[0], 1, &layouts[1], &mut plan) });
    ok(sparring_device_free(device));
    let (address, length) = (x.as_ptr().cast::<c_void>(), 4);
    let status = unsafe {
        sparring_einsum_plan_run(plan, &address, &length, 1, null(), null(), c.as_mut_ptr().cast(), c.len() as u64)
    };
    ok(status);
    assert_eq!(c, x);
    ok(sparring_einsum_plan_free(plan));
}

/// Overlap in either order is rejected; adjacent arrays are fine, and two operands may share memory.
#[test]
fn a_result_shares_no_memory_with_operands() {
    let device = cpu(1, 0);
    let layout = dense(&[4], 1, 0);
    let layouts = [layout, layout];
    for (operand, result, right) in [(0, 4, true), (4, 0, true), (0, 3, false), (3, 0, false), (2, 2, false)] {
        let mut x = [1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let p = x.as_mut_ptr();
        let (text, ring, ty) = (c"i,i->i".as_ptr(), c"plus_times".as_ptr(), SPARRING_F64 as u32);
        let status = unsafe {
            let (addresses, lengths) = ([p.add(operand).cast_const().cast::<c_void>(); 2], [4u64, 4]);
            let (from, lengths, to) = (addresses.as_ptr(), lengths.as_ptr(), p.add(result).cast());
            let layouts = layouts.as_ptr();
            sparring_einsum(device, text, ring, ty, layouts, from, lengths, 2, null(), null(), &layout, to, 4)
        };
        if right {
            ok(status);
            let squares = [operand, operand + 1, operand + 2, operand + 3].map(|k| ((k + 1) * (k + 1)) as f64);
            assert_eq!(x[result..result + 4], squares);
        } else {
            assert!(refused(status, SPARRING_ARGUMENT).contains("it overlaps operands[0]"));
        }
    }
    ok(sparring_device_free(device));
}

/// A layout whose rank differs from the expression is rejected before its arrays are read.
#[test]
fn ranks_are_those_of_the_text() {
    let (device, x) = (cpu(1, 0), [1.0f64; 4]);
    let good = dense(&[2, 2], 1, 0);
    let huge = SparringLayout { rank: 100_000, ..good };
    let refused_for = |layouts: &[SparringLayout; 2], layout: &SparringLayout| {
        let asked = (c"ij,jk->ik", c"plus_times", SPARRING_F64);
        refused(twice(device, asked, layouts, [&x, &x], (layout, &mut [0.0; 4])), SPARRING_SHAPE)
    };
    let says = "result_layout.rank: 100000, but the expression has 2 indices there";
    assert_eq!(refused_for(&[good, good], &huge), says);
    let says = "layouts[1].rank: 100000, but the expression has 2 indices there";
    assert_eq!(refused_for(&[good, huge], &good), says);
    let (text, ring, ty) = (c"ij,jk->ik".as_ptr(), c"plus_times".as_ptr(), SPARRING_F64 as u32);
    let mut plan = null_mut();
    // NULL layouts.
    let status = unsafe { sparring_einsum_plan_new(device, text, ring, ty, &good, 1 << 40, &good, &mut plan) };
    let e = refused(status, SPARRING_FORMULA);
    assert!(e.contains("2 operands are named, 1099511627776 are given"), "{e}");
    ok(sparring_device_free(device));
}

/// Over semirings of every kind of type, strided, against plain loops.
#[test]
fn any_semiring_on_any_type() {
    let device = cpu(2, 0);
    // A column-major with a gap, in three tensors; B broadcast; C with gaps and reversed index order.
    let (square, by_columns, turned) = ([2u64, 3], [1i64, 2], [1i64, 3]);
    let a = SparringLayout {
        rank: 2,
        extents: square.as_ptr(),
        strides: by_columns.as_ptr(),
        offset: 1,
        batch: 3,
        batch_stride: 7,
    };
    let b = dense(&[3, 2], 1, 0);
    let wide = [2u64, 2];
    let c = SparringLayout {
        rank: 2,
        extents: wide.as_ptr(),
        strides: turned.as_ptr(),
        offset: 2,
        batch: 3,
        batch_stride: 6,
    };
    let at_a = |t: usize, i: usize, j: usize| 1 + 7 * t + i + 2 * j;
    let at_c = |t: usize, i: usize, k: usize| 2 + 6 * t + i + 3 * k;
    macro_rules! checked {
        ($ty:expr, $name:expr, $t:ty, $from:expr, $zero:expr, $add:expr, $mul:expr) => {{
            let (from, add, mul) = ($from, $add, $mul);
            let x: Vec<$t> = (0..22).map(|k| from((k * 5 + 3) % 11)).collect();
            let y: Vec<$t> = (0..6).map(|k| from((k * 7 + 1) % 5)).collect();
            let untouched = from(1);
            let mut found = vec![untouched; 22];
            ok(twice(device, (c"ij,jk->ik", $name, $ty), &[a, b], [&x, &y], (&c, &mut found)));
            let mut expected = vec![untouched; 22];
            for t in 0..3 {
                for i in 0..2 {
                    for k in 0..2 {
                        let products = (0..3).map(|j| mul(x[at_a(t, i, j)], y[2 * j + k]));
                        expected[at_c(t, i, k)] = products.fold($zero, add);
                    }
                }
            }
            assert_eq!(found, expected, "{:?}", $name);
        }};
    }
    checked!(SPARRING_I16, c"plus_times", i16, |k| k as i16, 0, |x: i16, y: i16| x + y, |x: i16, y: i16| x * y);
    checked!(SPARRING_F64, c"min_plus", f64, |k| k as f64, f64::INFINITY, f64::min, |x: f64, y: f64| x + y);
    checked!(SPARRING_BOOL, c"lor_land", u8, |k| (k % 2) as u8, 0, |x: u8, y: u8| x | y, |x: u8, y: u8| x & y);
    checked!(SPARRING_U8, c"max, a + 2*b", u8, |k| k as u8, 0, u8::max, |x: u8, y: u8| x + 2 * y);
    checked!(
        SPARRING_COMPLEX_F64,
        c"plus_first",
        [f64; 2],
        |k| [k as f64, 1.0],
        [0.0; 2],
        |x: [f64; 2], y: [f64; 2]| [x[0] + y[0], x[1] + y[1]],
        |x: [f64; 2], _| x
    );

    // C = α ⊗ (contraction) ⊕ β ⊗ C, over a semiring handle, whose result may have another type.
    use crate::semirings::*;
    let (mut ring, mut plan, mut ty) = (null_mut(), null_mut(), 0);
    let (i32s, line) = (SPARRING_I32 as u32, dense(&[3], 1, 0));
    ok(unsafe { sparring_semiring_new(c"max_plus".as_ptr(), i32s, i32s, &mut ring) });
    let text = c"i,i->i".as_ptr();
    let layouts = [line, line];
    ok(unsafe { sparring_einsum_plan_new_with(device, text, ring, layouts.as_ptr(), 2, &line, &mut plan) });
    ok(unsafe { sparring_einsum_plan_type(plan, &mut ty) });
    assert_eq!(ty, i32s);
    let (x, y, mut z) = ([1i32, 2, 3], [10i32, 20, 30], [0i32, 100, 0]);
    let (alpha, beta) = (1i32, -50i32);
    let (addresses, lengths) = ([x.as_ptr().cast::<c_void>(), y.as_ptr().cast()], [3u64, 3]);
    let run = |alpha: Option<&i32>, beta: Option<&i32>, to: *mut i32, len: u64| unsafe {
        let pointer = |x: Option<&i32>| x.map_or(null(), |x| (&raw const *x).cast());
        let (from, lengths) = (addresses.as_ptr(), lengths.as_ptr());
        sparring_einsum_plan_run(plan, from, lengths, 2, pointer(alpha), pointer(beta), to.cast(), len)
    };
    ok(run(Some(&alpha), Some(&beta), z.as_mut_ptr(), 3));
    assert_eq!(z, [12, 50, 34]);
    ok(run(None, None, z.as_mut_ptr(), 3));
    assert_eq!(z, [11, 22, 33]);
    assert_eq!(refused(run(None, None, z.as_mut_ptr(), 2), SPARRING_LENGTH), "result: length is 2, expected 3");
    assert_eq!(refused(run(None, None, null_mut(), 3), SPARRING_NULL_POINTER), "result is NULL");
    let e = refused(run(None, None, x.as_ptr().cast_mut(), 3), SPARRING_ARGUMENT);
    assert_eq!(e, "result: it overlaps operands[0]");
    ok(sparring_einsum_plan_free(plan));
    let e = unsafe { sparring_einsum_plan_new_with(device, text, null(), layouts.as_ptr(), 2, &line, &mut plan) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "ring is NULL");
    ok(sparring_semiring_free(ring));
    let e = unsafe { sparring_einsum_plan_new_with(device, text, ring, layouts.as_ptr(), 2, &line, &mut plan) };
    refused(e, SPARRING_INVALID_HANDLE);
    let mixed = c"plus, a * i32(b)".as_ptr();
    ok(unsafe { sparring_semiring_new(mixed, i32s, SPARRING_F64 as u32, &mut ring) });
    let e = unsafe { sparring_einsum_plan_new_with(device, text, ring, layouts.as_ptr(), 2, &line, &mut plan) };
    let e = refused(e, SPARRING_TYPE);
    assert_eq!(e, "ring: its product takes SPARRING_I32 and SPARRING_F64, a contraction one type");
    assert!(plan.is_null());
    ok(sparring_semiring_free(ring));
    ok(sparring_device_free(device));
}
