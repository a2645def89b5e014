//! Work in a pool, watched by the calling thread.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::explain::{explained, has_listener, note};
use super::{Executor, Threads};

/// Whether the work has ended, with the condition variable of the waiting thread.
#[derive(Default)]
struct Completion(Mutex<bool>, Condvar);

impl Completion {
    /// Waits for the end, at most for `time`.
    fn within(&self, time: Duration) -> bool {
        let over = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (over, _) = self.1.wait_timeout_while(over, time, |over| !*over).unwrap_or_else(PoisonError::into_inner);
        *over
    }
}

/// Signals the end on drop, also on unwinding.
struct NotifyOnDrop<'a>(&'a Completion);
impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_one();
    }
}

impl Threads {
    /// The same threads, for operations that end with [`Error::Cancelled`](crate::Error::Cancelled) soon after `flag`
    /// is set.
    #[must_use]
    pub fn stopped_by(&self, flag: Arc<AtomicBool>) -> Self {
        Self { pool: self.pool.clone(), progress: self.progress.clone(), stop: Some(flag) }
    }
    /// Runs `f` inside this pool while the calling thread calls `watch` at intervals of `every`: for example, to check
    /// for a signal and set the flag of [`stopped_by`](Self::stopped_by). If the caller is in a pool already, or there
    /// is no other thread, `f` runs on the calling thread, unwatched.
    ///
    /// ```
    /// use sparring::par::Threads;
    /// use std::time::Duration;
    /// let (mut looked, threads) = (0, Threads::new(2)?);
    /// let found = threads.watched(Duration::from_millis(1), || looked += 1, || {
    ///     std::thread::sleep(Duration::from_millis(50));
    ///     7
    /// });
    /// assert!(found == 7 && looked > 1);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn watched<R: Send>(&self, every: Duration, mut watch: impl FnMut(), f: impl FnOnce() -> R + Send) -> R {
        let (mut made, mut f) = (None, Some(f));
        self.watched_work(every, &mut watch, &mut || made = f.take().map(|f| f()));
        let Some(made) = made else { unreachable!("the work was done, or unwinds") };
        made
    }
    /// Not generic, like [`install_work`](Self::install_work).
    fn watched_work(&self, every: Duration, watch: &mut dyn FnMut(), f: &mut (dyn FnMut() + Send)) {
        let (executor, heard) = (self.executor(), has_listener());
        // A pool thread that waits does no work for its pool.
        if rayon::current_thread_index().is_some() || matches!(executor, Executor::Caller) {
            return self.install_work(f);
        }
        let (completion, mut notes) = (Completion::default(), String::new());
        let to = &mut notes;
        let work = || {
            let _notify = NotifyOnDrop(&completion);
            // Notes made on the pool's thread are passed on to the caller.
            if heard { *to = explained(f).1 } else { f() }
        };
        let mut wait = || {
            while !completion.within(every) {
                watch();
            }
        };
        match executor {
            Executor::Pool(pool) => pool.in_place_scope(|scope| {
                scope.spawn(|_| work());
                wait();
            }),
            _ => rayon::in_place_scope(|scope| {
                scope.spawn(|_| work());
                wait();
            }),
        }
        notes.lines().for_each(|line| note(|| line.into()));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Error;

    #[test]
    fn a_flag_stops_tasks() {
        let flag = Arc::new(AtomicBool::new(false));
        for threads in [Threads::new(1).unwrap(), Threads::new(3).unwrap(), Threads::caller()] {
            flag.store(false, Ordering::Relaxed);
            let (threads, done) = (threads.stopped_by(Arc::clone(&flag)), AtomicUsize::new(0));
            let work = |(): &mut (), task| {
                done.fetch_add(1, Ordering::Relaxed);
                flag.fetch_or(task == 5, Ordering::Relaxed);
                Ok(())
            };
            let stopped = threads.for_each(1000, || Ok(()), work);
            assert!(matches!(stopped, Err(Error::Cancelled { total: 1000, .. })), "{stopped:?}");
            assert!(done.load(Ordering::Relaxed) < 1000);
            // No task starts while the flag is set.
            let before = done.load(Ordering::Relaxed);
            assert!(
                threads.for_each_of("a test", 10, || Ok(()), work).is_err() && threads.alone("a", || Ok(())).is_err()
            );
            assert_eq!(done.load(Ordering::Relaxed), before);
            flag.store(false, Ordering::Relaxed);
            threads.for_each(5, || Ok(()), work).unwrap();
        }
    }

    #[test]
    fn notes_and_panics_are_propagated() {
        let threads = Threads::new(2).unwrap();
        let ((), lines) = explained(|| threads.watched(Duration::from_millis(1), || (), || note(|| "a".into())));
        assert_eq!(lines, "a");
        let thrown = std::panic::catch_unwind(AssertUnwindSafe(|| {
            threads.watched(Duration::from_millis(1), || (), || panic!("x"))
        }));
        assert!(thrown.is_err());
        assert_eq!(threads.watched(Duration::from_millis(1), || (), || 3), 3);
        // Inside the pool nothing waits.
        let inside = threads.install(|| Threads::current().watched(Duration::ZERO, || unreachable!(), || 5));
        assert_eq!(inside, 5);
    }
}
