//! Operations by an operator through the border.

use super::*;
use crate::operations::sparring_kronecker;

fn kronecker(
    device: *const SparringDevice,
    op: &CStr,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
) -> (SparringStatus, *mut SparringMatrix) {
    let mut c = null_mut();
    let status = unsafe { sparring_kronecker(device, op.as_ptr(), a, b, &mut c) };
    (status, c)
}

#[test]
fn a_kronecker_product_has_each_pair_of_entries() {
    let cpu = cpu(2, 0);
    // [1 2] and [. 3; 4 .].
    let a = csr(SPARRING_I64, 1, 2, &[0, 2], &[0, 1], &[1i64, 2]);
    let b = csr(SPARRING_I64, 2, 2, &[0, 1, 2], &[1, 0], &[3i64, 4]);
    let (status, c) = kronecker(cpu, c"times", a, b);
    ok(status);
    assert_eq!(copy::<i64>(c), (vec![0, 2, 4], vec![1, 3, 0, 2], vec![3, 6, 4, 8]));
    ok(sparring_matrix_free(c));
    let (status, c) = kronecker(cpu, c"a < b - 1", a, b);
    ok(status);
    assert_eq!(copy::<bool>(c).2, [true, false, true, true]);
    ok(sparring_matrix_free(c));
    // A formula may take two types.
    let f = csr(SPARRING_F64, 1, 1, &[0, 1], &[0], &[0.5f64]);
    let (status, c) = kronecker(cpu, c"f64(a) * b", a, f);
    ok(status);
    assert_eq!(copy::<f64>(c).2, [0.5, 1.0]);
    for m in [c, a, b, f] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_device_free(cpu));
}

#[test]
fn what_does_not_fit_is_refused() {
    let (cpu, a) = (cpu(1, 0), small());
    let (status, c) = kronecker(cpu, c"tims", a, a);
    assert!(c.is_null());
    assert!(refused(status, SPARRING_ARGUMENT).starts_with("op: "), "a name that is none");
    // Complex numbers have no order.
    let z = csr(SPARRING_COMPLEX_F64, 1, 1, &[0, 1], &[0], &[[1.0f64, 0.0]]);
    assert!(refused(kronecker(cpu, c"min", z, z).0, SPARRING_TYPE).starts_with("op: "));
    ok(sparring_matrix_free(z));
    let wide = csr::<f64>(SPARRING_F64, 1, 1 << 20, &[0, 0], &[], &[]);
    let message = refused(kronecker(cpu, c"times", wide, wide).0, SPARRING_INDEX_OVERFLOW);
    assert!(message.contains("columns of a Kronecker product") && message.contains("1099511627776"), "{message}");
    assert!(refused(kronecker(null(), c"times", a, a).0, SPARRING_NULL_POINTER).starts_with("device"));
    let e = unsafe { sparring_kronecker(cpu, c"times".as_ptr(), a, a, null_mut()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "c is NULL");
    let e = unsafe { sparring_kronecker(cpu, null(), a, a, &mut null_mut()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "op is NULL");
    for m in [a, wide] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_device_free(cpu));
}
