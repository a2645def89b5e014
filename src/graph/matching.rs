//! Maximum bipartite matchings of rows and columns.
//!
//! A greedy matching is augmented in phases; after many phases, it is once replaced by a greedy matching by degrees. A
//! phase computes the lengths of the shortest alternating paths from unmatched rows by breadth-first search, then finds
//! by depth-first searches a maximal set of vertex-disjoint paths of these lengths to unmatched columns. Source:
//! Hopcroft, Karp 1973, "An n^5/2 algorithm for maximum matchings in bipartite graphs"; Karp, Sipser 1981, "Maximum
//! matching in sparse random graphs" (degrees); Duff, Kaya, Uçar 2011, "Design, implementation, and analysis of maximum
//! transversal algorithms" (lookahead).

use super::simple::by_degree;
use crate::par::{collected, copied, filled, note, reserved};
use crate::{Cpu, Pattern, Result};

/// The column of an unmatched row, and the row of an unmatched column.
pub const UNMATCHED: u32 = u32::MAX;

/// A matching of the rows and columns of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// The column of each row, or [`UNMATCHED`].
    pub rows: Vec<u32>,
    /// The row of each column, or [`UNMATCHED`].
    pub cols: Vec<u32>,
    /// Number of pairs.
    pub size: usize,
}

/// A maximum matching of the bipartite graph of rows and columns whose edges are the entries of `a`: a largest set of
/// entries of which no two share a row or column. Its size is the structural rank of the matrix.
///
/// The matrix may have any shape. Among several maximum matchings, the choice is a function of the pattern. Cost:
/// O(nnz √(nrows + ncols)) time, usually O(nnz) for each of few phases; O(nrows + ncols) memory.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::Cancelled`](crate::Error::Cancelled).
/// # Example
/// ```
/// use sparring::graph::{UNMATCHED, bipartite_matching};
/// use sparring::{Cpu, Pattern};
/// // Row 0 takes columns 0 and 1, row 1 and row 2 column 0 alone.
/// let a = Pattern::new(3, 2, vec![0, 2, 3, 4], vec![0, 1, 0, 0])?;
/// let matching = bipartite_matching(&Cpu::new(), &a)?;
/// assert_eq!((matching.size, &matching.rows[..]), (2, &[1, 0, UNMATCHED][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Hopcroft, Karp 1973.
pub fn bipartite_matching(cpu: &Cpu, a: &Pattern) -> Result<Matching> {
    let (nrows, ncols) = a.shape();
    let mut search = Search {
        a,
        found: Matching {
            rows: filled(nrows, UNMATCHED, "a matching")?,
            cols: filled(ncols, UNMATCHED, "a matching")?,
            size: 0,
        },
        ahead: copied(&a.row_ptr()[..nrows], "places in rows")?,
        next: Vec::new(),
        levels: Vec::new(),
        queue: reserved(nrows, "rows of a search")?,
        path: Vec::new(),
    };
    for i in 0..nrows {
        if let Some(j) = search.free_column(i) {
            search.pair(i, j);
        }
    }
    let greedy = search.found.size;
    search.next = copied(&a.row_ptr()[..nrows], "places in rows")?;
    search.levels = filled(nrows, UNMATCHED, "levels of rows")?;
    search.path = reserved(nrows, "a path")?;
    let (mut phases, mut before, mut degrees) = (0, greedy, false);
    // A matching that covers a side is maximum.
    while search.found.size < nrows.min(ncols) && cpu.threads().alone("bipartite_matching", || Ok(search.phase()))? {
        phases += 1;
        let by_rows = search.found.size;
        let many = (by_rows - std::mem::replace(&mut before, by_rows)) * EARLY_GAIN > by_rows - greedy;
        if !degrees && (phases == PATIENCE || (phases == EARLY && many)) {
            degrees = true;
            search.start_again(cpu)?;
            note(|| {
                format!("bipartite_matching: {by_rows} pairs after {phases} phases, {} by degrees", search.found.size)
            });
        }
    }
    note(|| format!("bipartite_matching: {greedy} greedy pairs, {} after {phases} phases", search.found.size));
    Ok(search.found)
}

/// Phases before trying a greedy matching by degrees. It is nearly maximum, and takes as long as several phases. Fewer
/// phases suffice if missing pairs are close to each other (delaunay_n16); with long paths there would be more than a
/// hundred (luxembourg_osm).
const PATIENCE: usize = 10;
/// It is tried after this many phases already if the last of them found more than one in [`EARLY_GAIN`] of the pairs
/// found by phases: 2.3 % on email-Enron, 8.7 % on luxembourg_osm, where it pays, 1.7 % on kron16, 0.4 % on
/// delaunay_n16.
const EARLY: usize = 4;
const EARLY_GAIN: usize = 50;

struct Search<'a> {
    a: &'a Pattern,
    found: Matching,
    /// For each row the position before which all columns are matched, permanently: a column is never unmatched.
    ahead: Vec<usize>,
    /// For each row the position where its search resumes in this phase.
    next: Vec<usize>,
    /// The length of the shortest path to each row, in pairs.
    levels: Vec<u32>,
    queue: Vec<u32>,
    path: Vec<u32>,
}

impl Search<'_> {
    fn pair(&mut self, i: usize, j: usize) {
        self.found.size += usize::from(self.found.rows[i] == UNMATCHED);
        self.found.rows[i] = j as u32;
        self.found.cols[j] = i as u32;
    }
    /// The first unmatched column of row `i`.
    #[inline(always)]
    fn free_column(&mut self, i: usize) -> Option<usize> {
        let end = self.a.row_ptr()[i + 1];
        let columns = &self.a.col_idx()[self.ahead[i]..end];
        match columns.iter().position(|&j| self.found.cols[j as usize] == UNMATCHED) {
            Some(t) => {
                self.ahead[i] += t;
                Some(columns[t] as usize)
            }
            None => {
                self.ahead[i] = end;
                None
            }
        }
    }
    /// Continues with the matching by degrees, if it is larger.
    fn start_again(&mut self, cpu: &Cpu) -> Result<()> {
        let before = Matching {
            rows: copied(&self.found.rows, "a matching")?,
            cols: copied(&self.found.cols, "a matching")?,
            size: self.found.size,
        };
        self.by_degrees(cpu)?;
        if self.found.size < before.size {
            self.found = before;
            self.ahead.copy_from_slice(&self.a.row_ptr()[..self.a.nrows()]);
        }
        Ok(())
    }
    /// The Karp–Sipser matching as a replacement: a row or column with a single remaining partner takes it, which is
    /// always optimal; if there is none, the next row of minimum degree takes the column with the fewest remaining
    /// rows.
    fn by_degrees(&mut self, cpu: &Cpu) -> Result<()> {
        let (a, t) = (self.a, self.a.transpose(cpu.threads())?);
        let (nrows, ncols) = a.shape();
        self.found.rows.fill(UNMATCHED);
        self.found.cols.fill(UNMATCHED);
        self.found.size = 0;
        self.ahead.copy_from_slice(&a.row_ptr()[..nrows]);
        // Remaining partners, and the stack of those down to one.
        let degrees =
            |p: &Pattern| collected(p.nrows(), p.row_ptr().windows(2).map(|p| (p[1] - p[0]) as u32), "degrees");
        let mut left = [degrees(a)?, degrees(&t)?];
        let mut single: [Vec<u32>; 2] = [reserved(nrows, "rows")?, reserved(ncols, "columns")?];
        for (single, left) in single.iter_mut().zip(&left) {
            single.extend((0..left.len() as u32).filter(|&v| left[v as usize] == 1));
        }
        let mut order = by_degree(a.row_ptr(), false)?.into_iter();
        loop {
            let (i, j) = if let Some(i) = single[0].pop() {
                let i = i as usize;
                match self.free_column(i) {
                    Some(j) if self.found.rows[i] == UNMATCHED => (i, j),
                    _ => continue,
                }
            } else if let Some(j) = single[1].pop() {
                let j = j as usize;
                match t.row(j).iter().find(|&&i| self.found.rows[i as usize] == UNMATCHED) {
                    Some(&i) if self.found.cols[j] == UNMATCHED => (i as usize, j),
                    _ => continue,
                }
            } else if let Some(i) = order.next() {
                let i = i as usize;
                if self.found.rows[i] != UNMATCHED || left[0][i] == 0 {
                    continue;
                }
                let free = a.row(i).iter().filter(|&&j| self.found.cols[j as usize] == UNMATCHED);
                match free.min_by_key(|&&j| left[1][j as usize]) {
                    Some(&j) => (i, j as usize),
                    None => continue,
                }
            } else {
                return Ok(());
            };
            self.pair(i, j);
            let settled = [(&self.found.rows, t.row(j)), (&self.found.cols, a.row(i))];
            for (((partners, lost), left), single) in settled.into_iter().zip(&mut left).zip(&mut single) {
                for &v in lost {
                    let left = &mut left[v as usize];
                    *left -= 1;
                    if *left == 1 && partners[v as usize] == UNMATCHED {
                        single.push(v);
                    }
                }
            }
        }
    }
    /// Augments the matching along shortest paths; returns whether there were any.
    fn phase(&mut self) -> bool {
        self.breadth_first() && self.depth_first()
    }
    /// Levels of rows up to the first at which a row has an unmatched column; returns whether there is one.
    fn breadth_first(&mut self) -> bool {
        self.queue.clear();
        let ptr = self.a.row_ptr();
        for i in 0..self.levels.len() {
            let free = self.found.rows[i] == UNMATCHED && ptr[i] < ptr[i + 1];
            self.levels[i] = if free { 0 } else { UNMATCHED };
            if free {
                self.queue.push(i as u32);
            }
        }
        let (mut at, mut last) = (0, UNMATCHED);
        while let Some(&i) = self.queue.get(at) {
            at += 1;
            let (i, level) = (i as usize, self.levels[i as usize]);
            if level >= last {
                break;
            }
            self.next[i] = ptr[i];
            for &j in self.a.row(i) {
                let row = self.found.cols[j as usize];
                if row == UNMATCHED {
                    last = level + 1;
                } else if self.levels[row as usize] == UNMATCHED {
                    self.levels[row as usize] = level + 1;
                    self.queue.push(row);
                }
            }
        }
        last != UNMATCHED
    }
    /// Row-disjoint paths along levels from each unmatched row; returns whether there was one.
    fn depth_first(&mut self) -> bool {
        let before = self.found.size;
        let free = self.queue.iter().take_while(|&&i| self.levels[i as usize] == 0).count();
        for t in 0..free {
            self.path.clear();
            self.path.push(self.queue[t]);
            while let Some(&i) = self.path.last() {
                let i = i as usize;
                if let Some(j) = self.free_column(i) {
                    self.augment(j);
                    break;
                }
                match self.step(i) {
                    Some(row) => self.path.push(row),
                    None => _ = self.path.pop(),
                }
            }
        }
        self.found.size > before
    }
    /// The next row reached through a column of row `i`, one level on. It is not entered again in this phase.
    fn step(&mut self, i: usize) -> Option<u32> {
        // A row's level is its position on the path.
        let (end, level) = (self.a.row_ptr()[i + 1], self.path.len() as u32);
        while self.next[i] < end {
            let row = self.found.cols[self.a.col_idx()[self.next[i]] as usize];
            self.next[i] += 1;
            if row != UNMATCHED && self.levels[row as usize] == level {
                self.levels[row as usize] = UNMATCHED;
                return Some(row);
            }
        }
        None
    }
    /// Matches each row of the path with the column that led to the next, the last with `j`.
    fn augment(&mut self, j: usize) {
        let mut j = j;
        while let Some(i) = self.path.pop() {
            let i = i as usize;
            let before = self.found.rows[i];
            self.pair(i, j);
            j = before as usize;
        }
    }
}
