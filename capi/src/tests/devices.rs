//! Devices by name, and objects on a GPU, if there is one.

use super::*;
use crate::handle::Object;
use crate::mxm::*;
use crate::semirings::*;
use crate::triangles::sparring_triangles;

fn open(name: &CStr, threads: u32, budget: u64) -> (SparringStatus, *mut SparringDevice) {
    let mut device = 16 as *mut SparringDevice;
    let status = unsafe { sparring_device_new(name.as_ptr(), threads, budget, &mut device) };
    assert_eq!(device.is_null(), status != SPARRING_OK);
    (status, device)
}

/// The first GPU: tests that call this are ignored by default.
pub(super) fn gpu() -> *mut SparringDevice {
    let (status, device) = open(c"cuda:0", 0, 0);
    ok(status);
    device
}

/// The text written by a function.
#[track_caller]
pub(super) fn words<T: Object>(
    of: *const T,
    f: unsafe extern "C" fn(*const T, *mut c_char, u64, *mut u64) -> SparringStatus,
) -> String {
    let (mut length, mut buffer) = (0, [1 as c_char; 1000]);
    ok(unsafe { f(of, buffer.as_mut_ptr(), 1000, &mut length) });
    let found = text(buffer.as_ptr());
    assert_eq!(found.len() as u64, length);
    found
}

pub(super) fn to(device: *const SparringDevice, m: *const SparringMatrix) -> *mut SparringMatrix {
    let mut there = null_mut();
    ok(unsafe { sparring_matrix_to(device, m, &mut there) });
    there
}

pub(super) fn free(matrices: &[*mut SparringMatrix]) {
    for m in matrices {
        ok(sparring_matrix_free(*m));
    }
}

/// Two rows of three, three rows of two, and full ones.
fn operands() -> [*mut SparringMatrix; 2] {
    let a = csr(SPARRING_F64, 3, 3, &[0, 2, 3, 6], &[0, 2, 1, 0, 1, 2], &[1.5, 2.0, -1.0, 0.5, 3.0, 4.0]);
    let b = csr(SPARRING_F64, 3, 3, &[0, 1, 3, 4], &[1, 0, 2, 2], &[2.0, 7.0, 0.25, -3.0]);
    [a, b]
}

#[test]
fn devices_have_names() {
    for wrong in [c"", c"gpu", c"cuda", c"cuda:", c"cuda:+1", c"cuda:x", c"CPU"] {
        let e = refused(open(wrong, 0, 0).0, SPARRING_ARGUMENT);
        assert!(e.starts_with("name: '") && e.contains("cuda:N"), "{e}");
    }
    let e = refused(open(c"cuda:4000", 0, 0).0, SPARRING_NO_DEVICE);
    assert!(e.starts_with("no GPU 4000: "), "{e}");
    assert_eq!(refused(open(c"cuda:0", 2, 0).0, SPARRING_ARGUMENT), "threads: 2 for cuda:0, where it must be 0");
    let e = unsafe { sparring_device_new(null(), 0, 0, &mut null_mut()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "name is NULL");
    let cpu = cpu(2, 0);
    assert_eq!(words(cpu, sparring_device_describe), format!("cpu, 2 threads, {}", sparring::Isa::running()));
    ok(unsafe { sparring_device_wait(cpu) });
    ok(sparring_device_free(cpu));
    if sparring_gpu_count() == 0 {
        refused(open(c"cuda:0", 0, 0).0, SPARRING_NO_DEVICE);
    }
}

#[test]
fn a_copy_on_the_processor_lives_on_its_own() {
    let (cpu, a) = (cpu(1, 0), csr(SPARRING_I64, 2, 2, &[0, 2, 4], &[0, 1, 0, 1], &[1i64, 1, 1, 0]));
    let copied = to(cpu, a);
    assert_eq!(words(copied, sparring_matrix_device), "cpu");
    let mut plan = null_mut();
    ok(unsafe { sparring_plan_new(cpu, a, a, null(), &mut plan) });
    let name = c"plus_times".as_ptr();
    let mut c = null_mut();
    ok(unsafe { sparring_plan_numeric(cpu, plan, name, a, a, &mut c) });
    let twin = to(cpu, c);
    ok(unsafe { sparring_plan_numeric_into(cpu, plan, c"max_plus".as_ptr(), a, a, c) });
    assert_eq!((copy::<i64>(twin).2, copy::<i64>(c).2), (vec![2, 1, 1, 1], vec![2, 2, 2, 2]));
    assert_eq!(copy::<i64>(a), copy::<i64>(copied));
    refused(unsafe { sparring_matrix_to(null(), a, &mut null_mut()) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_matrix_to(cpu, a, null_mut()) }, SPARRING_NULL_POINTER);
    ok(sparring_plan_free(plan));
    free(&[a, copied, c, twin]);
    ok(sparring_device_free(cpu));
}

#[test]
#[ignore = "needs a GPU"]
fn products_on_a_gpu_have_the_bits_of_the_processor() {
    let gpu = gpu();
    let (cpu, [a, b]) = (cpu(1, 0), operands());
    let (a_there, b_there) = (to(gpu, a), to(gpu, b));
    for i in 0..sparring_semiring_count() {
        let name = sparring_semiring_name(i);
        let (mut want, mut found) = (null_mut(), null_mut());
        if unsafe { sparring_mxm(cpu, name, a, b, null(), &mut want) } != SPARRING_OK {
            refused(unsafe { sparring_mxm(gpu, name, a, b, null(), &mut found) }, SPARRING_TYPE);
            continue;
        }
        let name_text = text(name);
        if name_text == "log_plus" {
            ok(sparring_matrix_free(want));
            continue;
        }
        let same = |found: *mut SparringMatrix| {
            let (mut x, mut y) = (0, 0);
            ok(unsafe { sparring_matrix_type(want, &mut x) });
            ok(unsafe { sparring_matrix_type(found, &mut y) });
            assert_eq!(x, y, "{name_text}");
            match x {
                x if x == SPARRING_BOOL as u32 => assert_eq!(copy::<u8>(found), copy::<u8>(want), "{name_text}"),
                x if x == SPARRING_I64 as u32 => assert_eq!(copy::<i64>(found), copy::<i64>(want), "{name_text}"),
                _ => assert_eq!(copy::<f64>(found), copy::<f64>(want), "{name_text}"),
            }
        };
        // Operands on the host, on the GPU, and mixed.
        ok(unsafe { sparring_mxm(gpu, name, a, b, null(), &mut found) });
        same(found);
        ok(sparring_matrix_free(found));
        for accumulator in 0..3 {
            let theirs = SparringOptions { policy: 1, accumulator, ..Default::default() };
            ok(unsafe { sparring_mxm(gpu, name, a, b_there, &theirs, &mut found) });
            same(found);
            ok(sparring_matrix_free(found));
        }
        ok(unsafe { sparring_mxm(gpu, name, a, b_there, null(), &mut found) });
        same(found);
        ok(sparring_matrix_free(found));
        ok(unsafe { sparring_mxm(gpu, name, a_there, b, null(), &mut found) });
        assert_eq!(words(found, sparring_matrix_device), "cuda:0");
        let here = to(cpu, found);
        same(here);
        free(&[found, here, want]);
    }
    free(&[a, b, a_there, b_there]);
    ok(sparring_device_free(cpu));
    ok(sparring_device_free(gpu));
}

#[test]
#[ignore = "needs a GPU"]
fn a_plan_on_a_gpu_serves_values_in_place() {
    let kk = |accumulator, compress| SparringOptions { policy: 1, accumulator, compress, unsorted: 0 };
    for (options, said) in
        [(None, "rows"), (Some(kk(0, 0)), "kkSpGEMM"), (Some(kk(1, 2)), "kkmem"), (Some(kk(2, 1)), "kklp")]
    {
        let gpu = gpu();
        serves_in_place(gpu, options.as_ref(), said);
    }
}

fn serves_in_place(gpu: *mut SparringDevice, options: Option<&SparringOptions>, said: &str) {
    let (cpu, [a, b]) = (cpu(1, 0), operands());
    let (a_there, b_there) = (to(gpu, a), to(gpu, b));
    let name = c"plus_times".as_ptr();
    let mut plan = null_mut();
    // Structure only, of a host matrix and of a GPU matrix.
    let how = options.map_or(null(), std::ptr::from_ref);
    ok(unsafe { sparring_plan_new(gpu, a, b_there, how, &mut plan) });
    let mut s = SparringStats::default();
    ok(unsafe { sparring_plan_stats(plan, &mut s) });
    assert_eq!((s.flops, s.nnz, s.max_row_nnz), (8, 7, u64::MAX));
    assert_eq!(s.cf.is_nan(), options.is_none_or(|o| o.compress == 2));
    assert!(words(plan, sparring_plan_explain).contains(said));
    let (mut c, mut want) = (null_mut(), null_mut());
    // Before the plan's first product, a foreign matrix on the GPU is rejected, and one on the host receives values.
    let other = to(gpu, a);
    refused(unsafe { sparring_plan_numeric_into(gpu, plan, name, a_there, b, other) }, SPARRING_PATTERN_CHANGED);
    ok(unsafe { sparring_mxm(cpu, name, a, b, null(), &mut want) });
    let before = copy::<f64>(want);
    ok(unsafe { sparring_mxm(cpu, c"min_plus".as_ptr(), a, b, null(), &mut c) });
    ok(unsafe { sparring_plan_numeric_into(gpu, plan, name, a_there, b, c) });
    assert_eq!(copy::<f64>(c), before);
    free(&[other, want, c]);
    ok(unsafe { sparring_plan_numeric(gpu, plan, name, a_there, b_there, &mut c) });
    ok(unsafe { sparring_device_wait(gpu) });
    for semiring in [c"min_plus", c"max_times", c"plus_times"] {
        ok(unsafe { sparring_mxm(cpu, semiring.as_ptr(), a, b, null(), &mut want) });
        ok(unsafe { sparring_plan_numeric_into(gpu, plan, semiring.as_ptr(), a_there, b_there, c) });
        let here = to(cpu, c);
        assert_eq!(copy::<f64>(here), copy::<f64>(want), "{semiring:?}");
        // With a copy that keeps its values, and into a host matrix.
        let twin = to(gpu, c);
        ok(unsafe { sparring_plan_numeric_into(gpu, plan, c"plus_pair".as_ptr(), a, b, c) });
        let kept = to(cpu, twin);
        assert_eq!(copy::<f64>(kept), copy::<f64>(want), "{semiring:?}");
        ok(unsafe { sparring_plan_numeric_into(gpu, plan, semiring.as_ptr(), a_there, b, here) });
        assert_eq!(copy::<f64>(here), copy::<f64>(want), "{semiring:?}");
        free(&[here, twin, kept, want]);
    }
    // Other types and structures.
    refused(unsafe { sparring_plan_numeric_into(gpu, plan, c"lor_land".as_ptr(), a_there, b, c) }, SPARRING_TYPE);
    refused(unsafe { sparring_plan_numeric_into(gpu, plan, name, b_there, a_there, c) }, SPARRING_PATTERN_CHANGED);
    refused(unsafe { sparring_plan_numeric_into(gpu, plan, name, a_there, b_there, a) }, SPARRING_PATTERN_CHANGED);
    // Objects outlive the handle of their device.
    ok(sparring_device_free(gpu));
    let here = to(cpu, c);
    assert_eq!(copy::<f64>(here).1.len(), 7);
    ok(sparring_plan_free(plan));
    free(&[a, b, a_there, b_there, c, here]);
    ok(sparring_device_free(cpu));
}

#[test]
#[ignore = "needs a GPU"]
fn what_is_elsewhere_is_refused_by_name() {
    let gpu = gpu();
    let (cpu, [a, b]) = (cpu(1, 0), operands());
    let there = to(gpu, a);
    let name = c"plus_times".as_ptr();
    let (mut c, mut plan, mut plan_there) = (null_mut(), null_mut(), null_mut());
    let e = refused(unsafe { sparring_mxm(cpu, name, there, b, null(), &mut c) }, SPARRING_ARGUMENT);
    assert_eq!(e, "a: the matrix is on cuda:0; sparring_matrix_to copies it to \"cpu\"");
    let e = unsafe { sparring_matrix_copy(there, null_mut(), 0, null_mut(), null_mut(), 0) };
    let e = refused(e, SPARRING_ARGUMENT);
    assert!(e.starts_with("matrix: the matrix is on cuda:0"), "{e}");
    refused(unsafe { sparring_matrix_borrow(there, null_mut(), null_mut(), null_mut()) }, SPARRING_ARGUMENT);
    // Another handle of the same GPU has its own stream.
    let (status, other) = open(c"cuda:0", 0, 0);
    ok(status);
    let e = refused(unsafe { sparring_mxm(other, name, there, b, null(), &mut c) }, SPARRING_ARGUMENT);
    assert_eq!(e, "a: it belongs to another SparringDevice of cuda:0");
    let moved = to(other, there);
    ok(unsafe { sparring_mxm(other, name, moved, b, null(), &mut c) });
    ok(unsafe { sparring_plan_new(cpu, a, b, null(), &mut plan) });
    ok(unsafe { sparring_plan_new(gpu, a, b, null(), &mut plan_there) });
    let mut d = null_mut();
    let e = refused(unsafe { sparring_plan_numeric(gpu, plan, name, a, b, &mut d) }, SPARRING_ARGUMENT);
    assert_eq!(e, "plan: it is one of cpu, not of cuda:0");
    let e = refused(unsafe { sparring_plan_numeric(cpu, plan_there, name, a, b, &mut d) }, SPARRING_ARGUMENT);
    assert_eq!(e, "plan: it is one of cuda:0, not of cpu");
    refused(unsafe { sparring_plan_numeric(other, plan_there, name, a, b, &mut d) }, SPARRING_ARGUMENT);
    // Options of the processor.
    for (options, said) in [
        (SparringOptions { accumulator: 3, ..Default::default() }, "a dense accumulator on the GPU"),
        (SparringOptions { policy: 1, accumulator: 3, ..Default::default() }, "a dense accumulator on the GPU"),
        (SparringOptions { compress: 1, ..Default::default() }, "compression of B on the GPU by the default policy"),
    ] {
        let e = refused(unsafe { sparring_mxm(gpu, name, a, b, &options, &mut d) }, SPARRING_UNSUPPORTED);
        assert!(e.starts_with(&format!("options: {said}")), "{e}");
        let mut no_plan = null_mut();
        refused(unsafe { sparring_plan_new(gpu, a, b, &options, &mut no_plan) }, SPARRING_UNSUPPORTED);
        assert!(no_plan.is_null());
    }
    // The memory budget is enforced.
    let (status, small) = open(c"cuda:0", 0, 100);
    ok(status);
    refused(unsafe { sparring_mxm(small, name, a, b, null(), &mut d) }, SPARRING_BUDGET);
    ok(sparring_plan_free(plan));
    ok(sparring_plan_free(plan_there));
    free(&[a, b, c, there, moved]);
    for device in [cpu, gpu, other, small] {
        ok(sparring_device_free(device));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn triangles_on_a_gpu() {
    let gpu = gpu();
    // The complete graph of five vertices, each edge once.
    let graph = csr(SPARRING_BOOL, 5, 5, &[0, 4, 7, 9, 10, 10], &[1, 2, 3, 4, 2, 3, 4, 3, 4, 4], &[1u8; 10]);
    let there = to(gpu, graph);
    for g in [graph, there] {
        let mut count = 0;
        ok(unsafe { sparring_triangles(gpu, g, 0, &mut count, null_mut(), 0, null_mut()) });
        assert_eq!(count, 10);
        let e = unsafe { sparring_triangles(gpu, g, 1, &mut count, null_mut(), 0, null_mut()) };
        assert!(refused(e, SPARRING_UNSUPPORTED).starts_with("method: "));
    }
    free(&[graph, there]);
    ok(sparring_device_free(gpu));
}
