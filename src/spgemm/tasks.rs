//! A product split into tasks of about equal work, whatever its rows look like.
//!
//! Most tasks are a block of rows. A row too heavy for one thread is split by columns: its parts are separate tasks in
//! column order, so that their results concatenate to the row. The split depends on the patterns alone, never on the
//! number of threads.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::budget::bytes_of;
use crate::par::{Threads, filled, out_of_memory, reserved, try_split};
use crate::{Index, Pattern, Result};

/// A block of rows of C, or a range of columns of one heavy row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// Rows of A and C.
    pub rows: Range<usize>,
    /// Columns of B and C, if not all.
    pub cols: Option<Range<usize>>,
}

/// The tasks of a product, and the work in them.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub tasks: Vec<Task>,
    /// Multiplications, fm.
    pub flops: u64,
    /// Most multiplications in a row, maxrf.
    pub max_row_flops: u64,
}

/// Fewest multiplications of a task, which make the cost of handing it out negligible.
const MIN_TASK_FLOPS: u64 = 1 << 15;
/// Fewest entries of A in a task, where there are as many.
const MIN_TASK_ENTRIES: usize = 1 << 12;
/// Approximate number of tasks of a product.
const TASKS: u64 = 1024;
/// Most parts of a row that is split.
const PARTS: u64 = 32;
/// Fewest multiplications per entry of A in a part, on average: each part scans the whole row of A and searches each
/// row of B for its columns.
const MIN_WIDTH: u64 = 32;

/// Splits A·B into tasks. Cost: O(nnz(A)).
pub(super) fn cut<I: Index>(threads: &Threads, a: &Pattern<I>, b: &Pattern<I>) -> Result<Work> {
    let groups =
        try_split(a.nrows(), (a.nnz() / MIN_TASK_ENTRIES).clamp(1, TASKS as usize), |i| (a.row_ptr()[i] + i) as u64)?;
    let of_group = filled(groups.len(), 0u64, "work of a product")?;
    let (of_group, longest) = (Mutex::new(of_group), AtomicU64::new(0));
    threads.for_each(
        groups.len(),
        || Ok(()),
        |(), g| {
            let (mut sum, mut most) = (0, 0);
            for i in groups[g].clone() {
                let flops = row_flops(a, b, i);
                sum += flops;
                most = most.max(flops);
            }
            longest.fetch_max(most, Ordering::Relaxed);
            of_group.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[g] = sum;
            Ok(())
        },
    )?;
    let of_group = of_group.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let flops: u64 = of_group.iter().sum();
    let most = (2 * flops / TASKS).max(MIN_TASK_FLOPS);
    let mut tasks = reserved(groups.len(), "tasks")?;
    for (group, work) in groups.into_iter().zip(of_group) {
        if work <= most {
            add(&mut tasks, group, None)?;
        } else {
            cut_group(a, b, (group, work), most, &mut tasks)?;
        }
    }
    Ok(Work { tasks, flops, max_row_flops: longest.into_inner() })
}

impl Work {
    /// Mean multiplications per row.
    pub(super) fn mean_row_flops(&self, nrows: usize) -> f64 {
        self.flops as f64 / nrows.max(1) as f64
    }
    /// Bytes of the tasks.
    pub(super) fn bytes(&self) -> u128 {
        bytes_of::<Task>(self.tasks.capacity())
    }
    /// Upper bound on the bytes of the tasks' locks and lengths while row lengths are found: a lock, two offsets, and
    /// the length of a part each.
    pub(super) fn lens_bytes(&self) -> u128 {
        bytes_of::<[usize; 12]>(self.tasks.len())
    }
}

/// Appends a task.
fn add(tasks: &mut Vec<Task>, rows: Range<usize>, cols: Option<Range<usize>>) -> Result<()> {
    tasks.try_reserve(1).map_err(|_| out_of_memory::<Task>("tasks", tasks.len() + 1))?;
    tasks.push(Task { rows, cols });
    Ok(())
}

/// Multiplications of row `i`.
#[inline(always)]
fn row_flops<I: Index>(a: &Pattern<I>, b: &Pattern<I>, i: usize) -> u64 {
    let ptr = b.row_ptr();
    a.row(i).iter().map(|k| (ptr[k.get() + 1] - ptr[k.get()]) as u64).sum()
}

/// Splits a group of rows with `work` multiplications so that no task has more than about `most`.
fn cut_group<I: Index>(
    a: &Pattern<I>,
    b: &Pattern<I>,
    (group, work): (Range<usize>, u64),
    most: u64,
    tasks: &mut Vec<Task>,
) -> Result<()> {
    let (mut start, mut sum) = (group.start, 0);
    for i in group.clone() {
        let flops = if group.len() == 1 { work } else { row_flops(a, b, i) };
        if sum + flops > most && i > start {
            add(tasks, start..i, None)?;
            (start, sum) = (i, 0);
        }
        sum += flops;
        // A row is split if it would keep one thread busy long after the others are done.
        let parts = PARTS.min(flops / MIN_WIDTH / a.row(i).len().max(1) as u64) as usize;
        if flops > 16 * most && flops > 1 << 20 && b.is_sorted() && parts > 1 {
            cut_row(a, b, i, parts, tasks)?;
            (start, sum) = (i + 1, 0);
        }
    }
    if start < group.end {
        add(tasks, start..group.end, None)?;
    }
    Ok(())
}

/// Splits row `i` into about `parts` parts, at quantiles of the longest row of B that it uses.
fn cut_row<I: Index>(a: &Pattern<I>, b: &Pattern<I>, i: usize, parts: usize, tasks: &mut Vec<Task>) -> Result<()> {
    let longest = a.row(i).iter().map(|k| b.row(k.get())).max_by_key(|r| r.len()).unwrap_or(&[]);
    let mut start = 0;
    for part in 1..=parts {
        let end = match longest.get(part * longest.len() / parts) {
            Some(j) if part < parts => j.get(),
            _ => b.ncols(),
        };
        if end > start {
            add(tasks, i..i + 1, Some(start..end))?;
            start = end;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every (row, column) of C is in exactly one task, in order.
    fn covers(work: &Work, nrows: usize, ncols: usize) {
        let mut next = (0, 0);
        for t in &work.tasks {
            let cols = t.cols.clone().unwrap_or(0..ncols);
            assert_eq!(next, (t.rows.start, cols.start), "{t:?}");
            assert!(t.cols.is_none() || t.rows.len() == 1);
            next = if cols.end == ncols { (t.rows.end, 0) } else { (t.rows.start, cols.end) };
        }
        assert_eq!(next, (nrows, 0));
    }

    #[test]
    fn a_huge_row_is_cut_by_columns() {
        let n = 3000;
        let full: Vec<u32> = (0..n as u32).collect();
        let mut row_ptr = vec![0, n];
        row_ptr.extend((1..n).map(|i| n + i));
        let a = Pattern::new(n, n, row_ptr, full.iter().copied().chain((1..n as u32).map(|_| 5)).collect()).unwrap();
        let b = Pattern::new(n, n, (0..=n).map(|i| i * 1000).collect(), full.iter().flat_map(|_| 0..1000u32).collect())
            .unwrap();
        let work = cut(&Threads::new(2).unwrap(), &a, &b).unwrap();
        assert_eq!(work.flops, 3_000_000 + 2_999_000);
        assert_eq!(work.max_row_flops, 3_000_000);
        covers(&work, n, n);
        assert!(work.tasks.iter().any(|t| t.cols.is_some()));
    }

    /// Parts of a few columns would scan the row of A more often than they multiply.
    #[test]
    fn a_long_row_of_short_rows_stays_whole() {
        let (long, width) = (100_000, 30);
        let a = Pattern::<u32>::new(
            2,
            long,
            vec![0, long, 2 * long],
            [0, 1].into_iter().flat_map(|_| 0..long as u32).collect(),
        )
        .unwrap();
        let rows = (0..long).flat_map(|_| 0..width as u32).collect();
        let b = Pattern::new(long, width, (0..=long).map(|k| k * width).collect(), rows).unwrap();
        let work = cut(&Threads::new(2).unwrap(), &a, &b).unwrap();
        assert_eq!(work.max_row_flops, 3_000_000);
        covers(&work, 2, width);
        assert!(work.tasks.iter().all(|t| t.cols.is_none()));
    }

    #[test]
    fn empty_products_have_no_work() {
        let threads = Threads::new(2).unwrap();
        for (m, k, n) in [(0, 0, 0), (0, 5, 3), (5, 0, 3), (5, 4, 0)] {
            let (a, b) = (Pattern::<u32>::empty(m, k).unwrap(), Pattern::<u32>::empty(k, n).unwrap());
            let work = cut(&threads, &a, &b).unwrap();
            assert_eq!((work.flops, work.max_row_flops), (0, 0));
            assert_eq!(work.tasks.iter().map(|t| t.rows.len()).sum::<usize>(), m);
        }
    }
}
