//! What operations choose, and why: noted where the choice is made, while a caller listens.

use std::cell::RefCell;

thread_local! {
    /// Notes of the operation that this thread explains.
    static NOTES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Notes a line, if a caller on this thread listens; nothing is made of it otherwise.
pub(crate) fn note(line: impl FnOnce() -> String) {
    if NOTES.with_borrow(Option::is_some) {
        let line = line();
        NOTES.with_borrow_mut(|notes| notes.iter_mut().for_each(|notes| notes.push(line.clone())));
    }
}

/// What was listened for before, put back when dropped: on unwinding too.
struct Before(Option<Vec<String>>);
impl Drop for Before {
    fn drop(&mut self) {
        NOTES.set(self.0.take());
    }
}

/// What `f` gives, and the lines that it notes on this thread.
pub(crate) fn explained<T>(f: impl FnOnce() -> T) -> (T, String) {
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
