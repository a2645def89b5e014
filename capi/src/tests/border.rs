//! Status codes, messages, handles, and the panic guard.

use sparring::Error;

use super::*;
use crate::handle::{give, handle, sparring_handles_alive};
use crate::mxm::{SparringPlan, sparring_plan_free};
use crate::status::{ALL, sparring_status_name};

#[test]
fn each_error_has_its_own_status() {
    let errors = [
        Error::Shape { op: "mxm", lhs: (1, 2), rhs: (3, 4) },
        Error::NotSquare { op: "triangles", nrows: 1, ncols: 2 },
        Error::IndexOverflow { what: "x", needed: 2, max: 1 },
        Error::OutOfMemory { what: "x", bytes: 1 },
        Error::Budget { what: "x", bytes: 2, budget: 1 },
        Error::Length { what: "x", found: 1, expected: 2 },
        Error::RowPointer { row: 1, found: 2, expected: "3".into() },
        Error::IndexRange { axis: "row", position: 1, index: 2, bound: 2 },
        Error::NotSorted { row: 1, position: 2, column: 3 },
        Error::Duplicate { row: 1, column: 2 },
        Error::PatternChanged { operand: "A", found: 1, planned: 2 },
        Error::Parse { file: "f".into(), line: 1, column: 2, message: "x".into() },
        Error::Unsupported { what: "x".into(), why: "y".into() },
        Error::Argument { name: "x", message: "y".into() },
        Error::Io { path: "p".into(), source: std::io::ErrorKind::NotFound.into() },
        Error::Cancelled { op: "mxm", done: 1, total: 2 },
        Error::Threads { threads: 1, message: "x".into() },
        Error::NoDevice { ordinal: 1, why: "x".into() },
        Error::NoCompiler { why: "x".into() },
        Error::Compile { program: "x".into(), log: "y".into(), source_text: "z".into() },
        Error::Device { what: "x".into(), message: "y".into() },
        Error::DeviceMemory { what: "x", bytes: 2, free: 1 },
    ];
    for (code, e) in (1..).zip(errors) {
        let expected = e.to_string();
        let status = call(|| Err(e.into()));
        assert_eq!(status as u32, code, "{expected}");
        assert_eq!(text(sparring_last_error()), expected);
        assert!(text(sparring_status_name(code)).starts_with("SPARRING_"));
    }
}

#[test]
fn errors_of_tensors_are_of_the_same_kinds() {
    let dims = Error::Dims { op: "mttkrp", lhs: vec![1, 2], rhs: vec![1] };
    assert_eq!(SparringStatus::from(&dims), SPARRING_SHAPE);
    assert_eq!(SparringStatus::from(&Error::Repeated { place: vec![1, 2] }), SPARRING_DUPLICATE);
    let expression = Error::Expression { text: "i->j".into(), at: 3, message: "x".into() };
    assert_eq!(SparringStatus::from(&expression), SPARRING_FORMULA);
}

#[test]
fn names_of_status_codes_are_those_of_the_header() {
    for (status, name) in ALL {
        assert_eq!(name.to_str().unwrap(), format!("{status:?}"));
        assert_eq!(text(sparring_status_name(*status as u32)), format!("{status:?}"));
    }
    assert_eq!(text(sparring_status_name(12_345)), "unknown status");
    assert_eq!(text(sparring_version()), env!("CARGO_PKG_VERSION"));
    let parts =
        text(sparring_version()).split(['.', '-']).take(3).map(|p| p.parse::<u32>().unwrap()).collect::<Vec<_>>();
    assert_eq!(sparring_version_number(), 1_000_000 * parts[0] + 1000 * parts[1] + parts[2]);
}

#[test]
fn the_message_stays_at_its_place() {
    let place = sparring_last_error();
    ok(sparring_device_free(null_mut()));
    call(|| Err(Fail::argument("x", "first".into())));
    assert_eq!(text(place), "x: first");
    call(|| Err(Fail::argument("x", "second".into())));
    assert_eq!(text(place), "x: second");
    ok(sparring_device_free(null_mut()));
    assert_eq!((place, text(place)), (sparring_last_error(), String::new()));
}

#[test]
fn messages_name_the_argument() {
    let names = |status, message: &str| Fail { status, message: message.into() }.naming("a").message;
    assert_eq!(names(SPARRING_FORMULA, "formula: no"), "a: formula: no");
    for named in ["a: no", "a.b: no", "a[1] is no", "a is NULL"] {
        assert_eq!(names(SPARRING_ARGUMENT, named), named);
    }
    assert_eq!(names(SPARRING_ARGUMENT, "ab: no"), "a: ab: no");
    // Errors of memory or files name no argument.
    for status in [SPARRING_OUT_OF_MEMORY, SPARRING_BUDGET, SPARRING_IO, SPARRING_PARSE, SPARRING_PANIC] {
        assert_eq!(names(status, "no"), "no");
    }
}

#[test]
fn a_panic_stops_at_the_border() {
    assert_eq!(refused(call(|| panic!("row {}", 7)), SPARRING_PANIC), "a bug in sparring: row 7");
    assert_eq!(refused(call(|| panic!("plain")), SPARRING_PANIC), "a bug in sparring: plain");
    let odd = call(|| std::panic::panic_any(7));
    assert_eq!(refused(odd, SPARRING_PANIC), "a bug in sparring: panic without a message");
    // A panic payload whose drop panics too.
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    refused(call(|| std::panic::panic_any(Bomb)), SPARRING_PANIC);
}

#[test]
fn messages_belong_to_threads_and_calls() {
    let fail = |m: &str| call(|| Err(Fail::argument("x", m.into())));
    fail("here");
    std::thread::spawn(move || {
        assert_eq!(text(sparring_last_error()), "");
        fail("there");
        assert_eq!(text(sparring_last_error()), "x: there");
    })
    .join()
    .unwrap();
    assert_eq!(text(sparring_last_error()), "x: here");
    fail("with\0zero");
    assert_eq!(text(sparring_last_error()), "x: with zero");
    // A long message is truncated at a character boundary, and a shorter one leaves no remains of it.
    fail(&"é".repeat(MESSAGE_BYTES));
    let long = text(sparring_last_error());
    assert_eq!(long, format!("x: {}", "é".repeat((MESSAGE_BYTES - 4) / 2)));
    fail(&"e".repeat(MESSAGE_BYTES));
    assert_eq!(text(sparring_last_error()).len(), MESSAGE_BYTES - 1);
    fail("short");
    assert_eq!(text(sparring_last_error()), "x: short");
    ok(sparring_device_free(null_mut()));
}

#[test]
fn handles_that_are_none_are_refused() {
    let m = small();
    let mut nnz = 0u64;
    // Of another kind.
    let e = refused(unsafe { sparring_matrix_nnz(cpu(1, 0).cast(), &mut nnz) }, SPARRING_INVALID_HANDLE);
    assert_eq!(e, "matrix: a SparringMatrix is needed, the handle is of a SparringDevice");
    let e = refused(sparring_plan_free(m.cast()), SPARRING_INVALID_HANDLE);
    assert_eq!(e, "plan: a SparringPlan is needed, the handle is of a SparringMatrix");
    ok(unsafe { sparring_matrix_nnz(m, &mut nnz) });
    // Not a handle: a valid address, a dangling one, an odd one.
    for p in [(&raw const nnz).cast(), 0x7ff3 as *const SparringMatrix, 0x10_0000 as *const _, usize::MAX as *const _] {
        refused(unsafe { sparring_matrix_nnz(p, &mut nnz) }, SPARRING_INVALID_HANDLE);
        refused(sparring_matrix_free(p.cast_mut()), SPARRING_INVALID_HANDLE);
    }
    // NULL.
    let e = refused(unsafe { sparring_matrix_nnz(null(), &mut nnz) }, SPARRING_NULL_POINTER);
    assert_eq!(e, "matrix is NULL");
    ok(sparring_matrix_free(null_mut()));
    ok(sparring_plan_free(null_mut::<SparringPlan>()));
    // Freed.
    ok(sparring_matrix_free(m));
    let e = refused(unsafe { sparring_matrix_nnz(m, &mut nnz) }, SPARRING_INVALID_HANDLE);
    assert!(
        e.starts_with("matrix: 0x5350") && e.ends_with("is not a handle of a SparringMatrix: freed, or never one"),
        "{e}"
    );
    refused(sparring_matrix_free(m), SPARRING_INVALID_HANDLE);
    // A later matrix does not revive it.
    let later = small();
    assert_ne!(later, m);
    refused(unsafe { sparring_matrix_nnz(m, &mut nnz) }, SPARRING_INVALID_HANDLE);
    assert!(sparring_handles_alive() >= 1);
    ok(sparring_matrix_free(later));
}

#[test]
fn freeing_what_another_call_uses_is_harmless() {
    struct Payload(std::sync::mpsc::Sender<()>);
    impl crate::handle::Object for Payload {
        const NAME: &'static str = "Payload";
    }
    impl Drop for Payload {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let (dropped, receiver) = std::sync::mpsc::channel();
    let p = give(Payload(dropped)).unwrap();
    let used = handle(p, "p").unwrap();
    crate::handle::release(p, "p").unwrap();
    assert!(receiver.try_recv().is_err(), "dropped while in use");
    drop(used);
    receiver.try_recv().expect("dropped with its last user");
}

#[test]
fn processors_have_the_requested_threads() {
    let mut threads = 0;
    for n in [1, 2, 3] {
        let cpu = cpu(n, 0);
        ok(unsafe { sparring_device_threads(cpu, &mut threads) });
        assert_eq!(threads, n);
        ok(sparring_device_free(cpu));
        refused(sparring_device_free(cpu), SPARRING_INVALID_HANDLE);
    }
    let all = cpu(0, 0);
    ok(unsafe { sparring_device_threads(all, &mut threads) });
    assert!(threads >= 1);
    let e = refused(unsafe { sparring_device_threads(all, null_mut()) }, SPARRING_NULL_POINTER);
    assert_eq!(e, "threads is NULL");
    ok(sparring_device_free(all));

    let mut cpu = 16 as *mut SparringDevice;
    let e = refused(unsafe { sparring_device_new(c"cpu".as_ptr(), 4_000_000_000, 0, &mut cpu) }, SPARRING_ARGUMENT);
    assert!(e.contains("4000000000"), "{e}");
    assert!(cpu.is_null(), "a failed call leaves NULL");
    assert_eq!(
        refused(unsafe { sparring_device_new(c"cpu".as_ptr(), 1, 0, null_mut()) }, SPARRING_NULL_POINTER),
        "device is NULL"
    );
}
