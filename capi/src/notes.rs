//! What the calls on a thread note of how they computed their results, while it listens.

use std::cell::{Cell, RefCell};

use sparring::par::explained;

/// Bytes of text that a thread keeps at most.
const MOST: usize = 1 << 20;

thread_local! {
    /// Whether calls on this thread note what they run.
    static LISTENS: Cell<bool> = const { Cell::new(false) };
    /// The lines that they noted.
    static NOTED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What `f` gives; what it notes is kept if this thread listens.
pub(crate) fn noted<T>(f: impl FnOnce() -> T) -> T {
    if !LISTENS.get() {
        return f();
    }
    let (made, text) = explained(f);
    // A thread that ends keeps no text.
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

/// Begins to listen, and forgets what was noted; or ends.
pub(crate) fn listen(on: bool) {
    LISTENS.set(on);
    if on {
        NOTED.take();
    }
}

/// Calls `f` with the lines that were noted.
pub(crate) fn with_noted<T>(f: impl FnOnce(&str) -> T) -> T {
    NOTED.with_borrow(|noted| f(noted))
}
