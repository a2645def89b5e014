//! Recorded explanations of the calls on a thread.

use std::cell::{Cell, RefCell};

use sparring::par::explained;

/// Maximum bytes of text stored per thread.
const MOST: usize = 1 << 20;

thread_local! {
    /// Whether calls on this thread are recorded.
    static LISTENS: Cell<bool> = const { Cell::new(false) };
    /// The recorded lines.
    static NOTED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `f`, storing its notes if this thread records.
pub(crate) fn noted<T>(f: impl FnOnce() -> T) -> T {
    if !LISTENS.get() {
        return f();
    }
    let (made, text) = explained(f);
    // A terminating thread stores nothing.
    _ = NOTED.try_with(|noted| {
        let noted = &mut *noted.borrow_mut();
        for line in text.lines() {
            if noted.len() + line.len() < MOST && noted.try_reserve(line.len() + 1).is_ok() {
                noted.push_str(line);
                noted.push('\n');
            }
        }
    });
    made
}

/// Starts recording and discards earlier notes, or stops.
pub(crate) fn listen(on: bool) {
    LISTENS.set(on);
    if on {
        NOTED.take();
    }
}

/// Calls `f` with the recorded lines.
pub(crate) fn with_noted<T>(f: impl FnOnce(&str) -> T) -> T {
    NOTED.with_borrow(|noted| f(noted))
}
