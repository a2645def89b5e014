//! Edge cases of tasks, blocks and panics; valgrind checks these for reads of uninitialized memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use super::*;

fn pools() -> Vec<Threads> {
    let counts: &[usize] = if cfg!(miri) { &[1, 3] } else { &[1, 2, 3, 8] };
    counts.iter().map(|&n| Threads::new(n).unwrap()).collect()
}
fn stop() -> Error {
    Error::Argument { name: "block", message: "stop".into() }
}
/// The start of block b. Blocks hold b mod 4 elements, so some are empty.
fn offset(b: usize) -> usize {
    (0..b).map(|b| b % 4).sum()
}
fn write(b: usize, slots: &mut OutputSlice<'_, usize>) -> Result<()> {
    // Half by copying, half by filling.
    slots.copy(&vec![b; b % 4 / 2]);
    slots.take(b % 4 - b % 4 / 2, 0).fill(b);
    Ok(())
}
/// The pool still works: none of its threads is lost or stuck.
fn works(pool: &Threads) {
    let sum = Mutex::new(0);
    pool.for_each(
        100,
        || Ok(()),
        |(), t| {
            *sum.lock().unwrap() += t;
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(sum.into_inner().unwrap(), 4950);
}

#[test]
fn every_task_runs_once_whatever_their_number() {
    for pool in pools() {
        for tasks in [0, 1, 2, 7, 1000] {
            let runs: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
            let states = AtomicUsize::new(0);
            let state = || Ok(states.fetch_add(1, Ordering::Relaxed));
            let work = |_: &mut usize, t: usize| {
                runs[t].fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            pool.for_each(tasks, state, work).unwrap();
            assert!(runs.iter().all(|n| n.load(Ordering::Relaxed) == 1));
            pool.for_each_beside("test", tasks, state, work).unwrap();
            assert!(runs.iter().all(|n| n.load(Ordering::Relaxed) == 2));
            assert!(states.into_inner() <= 2 * pool.count().min(tasks).max(1));
        }
    }
}

/// With `for_each` every thread receives its tasks in order; with shares it starts in its own and takes over what is
/// left of others.
#[test]
fn tasks_come_in_order_or_from_a_share() {
    for pool in pools() {
        let in_order = |last: &mut Option<usize>, t: usize| {
            assert!(last.replace(t) < Some(t));
            Ok(())
        };
        pool.for_each(500, || Ok(None), in_order).unwrap();
    }
    for (count, threads) in [(0, 1), (1, 1), (10, 3), (1000, 8)] {
        let tasks = Tasks::shared(count, threads).unwrap();
        let (mut one, mut other) = (tasks.tasks_of(0), tasks.tasks_of(threads - 1));
        assert_eq!(other.next(), (count > 0).then(|| count * (threads - 1) / threads));
        let rest = usize::from(count > 0);
        assert_eq!(std::iter::from_fn(|| one.next()).count(), count - rest);
        assert_eq!((one.next(), other.next()), (None, None));
    }
}

#[test]
fn the_first_error_is_returned_and_ends_the_rest() {
    for pool in pools() {
        let after = AtomicUsize::new(0);
        let work = |(): &mut (), t: usize| {
            if t == 3 {
                return Err(stop());
            }
            after.fetch_add(usize::from(t > 3), Ordering::Relaxed);
            Ok(())
        };
        assert!(matches!(pool.for_each(1 << 40, || Ok(()), work), Err(Error::Argument { .. })));
        let no_state = || -> Result<()> { Err(stop()) };
        assert!(pool.for_each(9, no_state, |(), _| Ok(())).is_err());
        works(&pool);
    }
}

#[test]
fn blocks_fill_new_and_used_memory() {
    for pool in pools() {
        for blocks in [0, 1, 2, 97] {
            let want: Vec<usize> = (0..blocks).flat_map(|b| vec![b; b % 4]).collect();
            let work = |(): &mut (), b: usize, slots: &mut OutputSlice<'_, usize>| write(b, slots);
            let fresh = UninitOutput::new(want.len(), "a test").unwrap();
            let mut made = fresh.fill(&pool, "test", blocks, offset, || Ok(()), work).unwrap();
            assert_eq!(made, want);
            made.fill(usize::MAX);
            overwrite_blocks(&mut made, &pool, "test", blocks, offset, || Ok(()), work).unwrap();
            assert_eq!(made, want);
        }
    }
}

#[test]
fn an_error_gives_no_vector_and_leaves_valid_elements() {
    for pool in pools() {
        let work = |(): &mut (), b: usize, slots: &mut OutputSlice<'_, usize>| {
            if b == 50 {
                return Err(stop());
            }
            write(b, slots)
        };
        assert!(
            UninitOutput::new(offset(97), "a test").unwrap().fill(&pool, "test", 97, offset, || Ok(()), work).is_err()
        );
        let mut values = vec![1000; offset(97)];
        assert!(overwrite_blocks(&mut values, &pool, "test", 97, offset, || Ok(()), work).is_err());
        let block = |p: usize| (0..97).find(|&b| p < offset(b + 1)).unwrap();
        assert!(values.iter().enumerate().all(|(p, &x)| x == 1000 || x == block(p)));
        works(&pool);
    }
}

/// Rows shorter and longer than a window, with and without a row behind them.
#[test]
fn rows_are_copied_whatever_lies_behind_them() {
    let xs: Vec<u32> = (0..100).collect();
    for pool in pools() {
        let short = [3, 0, 8, 1, 9, 2];
        let longer = [17, 64, 0, 65, 24, 63, 8, 56, 33, 0, 0, 1];
        for lens in [&short[..], &[1; 20], &[100, 7], &[], &[2, 2], &longer, &[0; 9], &[16, 60], &[60, 16]] {
            let total: usize = lens.iter().sum();
            let want: Vec<u64> = lens.iter().flat_map(|&n| xs[100 - n..].iter().map(|&x| u64::from(x) + 1)).collect();
            let ahead: Vec<u64> = lens.iter().flat_map(|&n| xs[..n].iter().map(|&x| u64::from(x) + 1)).collect();
            for (want, at_end) in [(want, true), (ahead, false)] {
                let work = |(): &mut (), _: usize, slots: &mut OutputSlice<'_, u64>| {
                    for &n in lens {
                        slots.copy_row(if at_end { &xs[100 - n..] } else { &xs }, n, |x| u64::from(x) + 1);
                    }
                    assert!(catch_unwind(AssertUnwindSafe(|| slots.copy_row(&xs, 1, u64::from))).is_err());
                    Ok(())
                };
                let fresh = UninitOutput::new(total, "a test").unwrap();
                assert_eq!(fresh.fill(&pool, "test", 1, |b| b * total, || Ok(()), work).unwrap(), want);
            }
        }
    }
}

/// A bug in `work` must not expose uninitialized memory.
#[test]
fn slots_left_unwritten_panic() {
    for pool in pools() {
        let short = |(): &mut (), b: usize, slots: &mut OutputSlice<'_, usize>| {
            if b == 3 { Ok(()) } else { write(b, slots) }
        };
        let fill = |len| UninitOutput::new(len, "a test").unwrap().fill(&pool, "test", 9, offset, || Ok(()), short);
        assert!(catch_unwind(AssertUnwindSafe(|| fill(offset(9)))).is_err());
        // Elements that no block covers.
        let all = |(): &mut (), b: usize, slots: &mut OutputSlice<'_, usize>| write(b, slots);
        let fill = |len| UninitOutput::new(len, "a test").unwrap().fill(&pool, "test", 9, offset, || Ok(()), all);
        assert!(catch_unwind(AssertUnwindSafe(|| fill(offset(9) + 1))).is_err());
        works(&pool);
    }
}

/// A caught panic for too many elements does not consume the remaining ones.
#[test]
fn taking_too_many_elements_panics() {
    for pool in pools() {
        let greedy = |(): &mut (), _: usize, slots: &mut OutputSlice<'_, usize>| {
            assert!(catch_unwind(AssertUnwindSafe(|| slots.take(3, 0).len())).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| slots.copy(&[0; 3]))).is_err());
            Ok(())
        };
        let fill = || UninitOutput::new(8, "a test").unwrap().fill(&pool, "test", 4, |b| 2 * b, || Ok(()), greedy);
        assert!(catch_unwind(AssertUnwindSafe(fill)).is_err());
        let honest = |(): &mut (), b: usize, slots: &mut OutputSlice<'_, usize>| {
            greedy(&mut (), b, slots)?;
            slots.take(2, b);
            Ok(())
        };
        let filled = UninitOutput::new(4, "a test").unwrap().fill(&pool, "test", 2, |b| 2 * b, || Ok(()), honest);
        assert_eq!(filled.unwrap(), [0, 0, 1, 1]);
        works(&pool);
    }
}

#[test]
fn a_panic_reaches_the_caller_and_no_thread_is_lost() {
    for pool in pools() {
        let panicked = AtomicBool::new(false);
        let work = |(): &mut (), t: usize| {
            if t == 5 {
                panicked.store(true, Ordering::Relaxed);
                panic!("a test");
            }
            Ok(())
        };
        assert!(catch_unwind(AssertUnwindSafe(|| pool.for_each(100, || Ok(()), work))).is_err());
        assert!(panicked.into_inner());
        works(&pool);
        let mut values = vec![1000; offset(97)];
        let work = |(): &mut (), b: usize, slots: &mut OutputSlice<'_, usize>| {
            assert!(b != 50, "a test");
            write(b, slots)
        };
        let refilled = catch_unwind(AssertUnwindSafe(|| {
            overwrite_blocks(&mut values, &pool, "test", 97, offset, || Ok(()), work)
        }));
        assert!(refilled.is_err());
        assert!(values.iter().all(|&x| x == 1000 || x < 97));
        works(&pool);
    }
}

#[test]
fn ranges_partition_and_share_the_work() {
    for (n, parts) in [(0, 3), (1, 3), (10, 1), (10, 3), (10, 50), (1000, 7)] {
        for heavy in [0, n / 2, n] {
            // One item weighs as much as a thousand others, and some weigh nothing.
            let before = |i: usize| (i / 2 + if i > heavy { 1000 } else { 0 }) as u64;
            let ranges = split(n, parts, before);
            assert!(ranges.len() <= parts && ranges.iter().all(|r| !r.is_empty()));
            assert!(ranges.iter().cloned().flatten().eq(0..n));
        }
    }
    assert_eq!(split(8, 4, |i| i as u64), [0..2, 2..4, 4..6, 6..8]);
    assert_eq!(split(4, 2, |i| if i == 4 { u64::MAX } else { 0 }), std::slice::from_ref(&(0..4)));
    // Work times parts exceeds 64 bits.
    assert_eq!(split(8, 4, |i| i as u64 * (u64::MAX / 8)), [0..2, 2..4, 4..6, 6..8]);
}
