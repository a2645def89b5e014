//! What operations choose, and why: noted where the choice is made, while a caller listens.

use std::cell::RefCell;

thread_local! {
    /// Notes of the operation that this thread explains.
    static NOTES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Adds a line to what a caller of [`explained`] on this thread is told; nothing is made of it where none listens.
///
/// ```
/// use sparring::par::{explained, note};
/// let (_, how) = explained(|| note(|| format!("{} of them", 3)));
/// assert_eq!(how, "3 of them");
/// ```
pub fn note(line: impl FnOnce() -> String) {
    // A thread that ends has no notes any more.
    if is_heard() {
        let line = line();
        NOTES.with_borrow_mut(|notes| notes.iter_mut().for_each(|notes| notes.push(line.clone())));
    }
}

/// Whether a caller on this thread listens.
pub(super) fn is_heard() -> bool {
    NOTES.try_with(|notes| notes.borrow().is_some()).unwrap_or(false)
}

/// What was listened for before, put back when dropped: on unwinding too.
struct Before(Option<Vec<String>>);
impl Drop for Before {
    fn drop(&mut self) {
        NOTES.set(self.0.take());
    }
}

/// What `f` gives, and how the operations that it calls on this thread were computed, line by line: their operands and
/// forms, the kernels that ran, and why. The text of `explain` of a chain, for several operations together.
///
/// Cost: that of `f`, and some texts for each operation.
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
    let _before = Before(NOTES.replace(Some(Vec::new())));
    let made = f();
    let notes = NOTES.take().unwrap_or_default();
    (made, notes.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_listener() {
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
