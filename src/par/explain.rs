//! Explanations of the choices that operations make: recorded where the choice is made, if a caller listens.

use std::cell::RefCell;

thread_local! {
    /// Notes of the explained operation on this thread.
    static NOTES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Adds a line to the explanation of an enclosing [`explained`] on this thread; without one, `line` is not called.
///
/// ```
/// use sparring::par::{explained, note};
/// let (_, how) = explained(|| note(|| format!("{} of them", 3)));
/// assert_eq!(how, "3 of them");
/// ```
pub fn note(line: impl FnOnce() -> String) {
    // The thread-local is gone while the thread ends.
    if has_listener() {
        let line = line();
        NOTES.with_borrow_mut(|notes| notes.iter_mut().for_each(|notes| notes.push(line.clone())));
    }
}

/// Whether a caller on this thread listens.
pub(super) fn has_listener() -> bool {
    NOTES.try_with(|notes| notes.borrow().is_some()).unwrap_or(false)
}

/// The notes of the enclosing listener, restored on drop, also on unwinding.
struct RestoreNotes(Option<Vec<String>>);
impl Drop for RestoreNotes {
    fn drop(&mut self) {
        NOTES.set(self.0.take());
    }
}

/// Runs `f`, and returns its result with an explanation, line by line, of the operations that it calls on this thread:
/// their operands and forms, the kernels that ran, and why. The same text as a chain's `explain`, for several
/// operations together.
///
/// Cost: that of `f`, and a few strings for each operation.
/// ```
/// use sparring::runtime::{Machine, Matrix, Op};
/// use sparring::{Cpu, Csr, par::explained};
/// let a = Matrix::from(Csr::<f64>::new(1, 2, vec![0, 1], vec![1], vec![5.0])?);
/// let cpu = Machine::from(Cpu::new());
/// let (made, how) = explained(|| cpu.call(Op::Transpose, &a).eval::<Matrix>());
/// assert_eq!((made?.shape(), &how[..]), ((2, 1), "transpose: 1×2 with 1 entries as compressed rows"));
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn explained<T>(f: impl FnOnce() -> T) -> (T, String) {
    let _restore = RestoreNotes(NOTES.replace(Some(Vec::new())));
    let made = f();
    let notes = NOTES.take().unwrap_or_default();
    (made, notes.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_reach_their_listener_only() {
        note(|| unreachable!("no caller listens"));
        let (made, lines) = explained(|| {
            note(|| "a".into());
            let (_, inner) = explained(|| note(|| "b".into()));
            note(|| format!("c after {inner}"));
            7
        });
        assert_eq!((made, &lines[..]), (7, "a\nc after b"));
        let thrown = std::panic::catch_unwind(|| explained(|| panic!("x")));
        assert!(thrown.is_err());
        note(|| unreachable!("no caller listens"));
    }
}
