//! Data distribution over the grid of ranks: blocks of matrices, pieces of vectors.

use std::ops::Range;

/// A grid of ranks, numbered row by row, from the view of one rank.
///
/// Dimension n is split at ⌊n·i / rows⌋ over the rows of the grid and at ⌊n·j / columns⌋ over its columns. Rank (i, j)
/// owns the matrix block at the intersection. The part of a vector that belongs to grid row i is split again over its
/// columns, and rank (i, j) owns the j-th piece: pieces are in rank order and have n / p elements each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    shape: (usize, usize),
    at: (usize, usize),
}

impl Grid {
    /// The grid of `size` ranks closest to a square, with no more columns than rows; `rank` < `size`.
    ///
    /// More rows than columns, because rows of a product are complete if the grid has one column.
    pub(crate) fn new(size: usize, rank: usize) -> Self {
        let cols = (1..=size).take_while(|c| c * c <= size).filter(|c| size.is_multiple_of(*c)).last().unwrap_or(1);
        let rows = size / cols;
        Self { shape: (rows, cols), at: (rank / cols, rank % cols) }
    }
    /// Number of grid rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }
    /// Grid row and column of this rank.
    #[must_use]
    pub fn at(&self) -> (usize, usize) {
        self.at
    }
    /// Range of a dimension of `n` that belongs to grid row `i`.
    pub(crate) fn rows(&self, n: usize, i: usize) -> Range<usize> {
        cut(n, self.shape.0, i)..cut(n, self.shape.0, i + 1)
    }
    /// Range of a dimension of `n` that belongs to grid column `j`.
    pub(crate) fn cols(&self, n: usize, j: usize) -> Range<usize> {
        cut(n, self.shape.1, j)..cut(n, self.shape.1, j + 1)
    }
    /// Row and column ranges of this rank's block of an m×n matrix.
    pub(crate) fn block(&self, (m, n): (usize, usize)) -> (Range<usize>, Range<usize>) {
        (self.rows(m, self.at.0), self.cols(n, self.at.1))
    }
    /// Index range of a vector of length `n` owned by rank (i, j).
    pub(crate) fn piece_of(&self, n: usize, (i, j): (usize, usize)) -> Range<usize> {
        within(self.rows(n, i), self.shape.1, j)
    }
    /// The part of grid column j's range that rank (i, j) holds before it is gathered along the column.
    pub(crate) fn column_piece_of(&self, n: usize, (i, j): (usize, usize)) -> Range<usize> {
        within(self.cols(n, j), self.shape.0, i)
    }
    /// The rank that owns an index of a vector of length `n`.
    pub(crate) fn rank_of(&self, n: usize, index: usize) -> usize {
        let i = self.row_of(n, index);
        let rows = self.rows(n, i);
        self.rank((i, owner(rows.len(), self.shape.1, index - rows.start)))
    }
    /// Index range of a vector of length `n` owned by this rank.
    pub(crate) fn piece(&self, n: usize) -> Range<usize> {
        self.piece_of(n, self.at)
    }
    /// The grid row that owns an index of a dimension of `n`.
    pub(crate) fn row_of(&self, n: usize, index: usize) -> usize {
        owner(n, self.shape.0, index)
    }
    /// The grid column that owns an index of a dimension of `n`.
    pub(crate) fn col_of(&self, n: usize, index: usize) -> usize {
        owner(n, self.shape.1, index)
    }
    /// The rank at grid coordinates (i, j).
    pub(crate) fn rank(&self, (i, j): (usize, usize)) -> usize {
        i * self.shape.1 + j
    }
    /// The grid coordinates of a rank.
    pub(crate) fn coords_of(&self, rank: usize) -> (usize, usize) {
        (rank / self.shape.1, rank % self.shape.1)
    }
    /// All grid coordinates, in rank order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (rows, cols) = self.shape;
        (0..rows).flat_map(move |i| (0..cols).map(move |j| (i, j)))
    }
}

/// Part `i` of a range split into `parts`.
fn within(range: Range<usize>, parts: usize, i: usize) -> Range<usize> {
    range.start + cut(range.len(), parts, i)..range.start + cut(range.len(), parts, i + 1)
}

/// Start of part `i` of a dimension of `n` split into `parts`.
pub(crate) fn cut(n: usize, parts: usize, i: usize) -> usize {
    (n as u128 * i as u128 / parts as u128) as usize
}

/// The part that contains an index: the last i with ⌊n·i / parts⌋ ≤ index, i.e. n·i < (index + 1)·parts.
fn owner(n: usize, parts: usize, index: usize) -> usize {
    (((index as u128 + 1) * parts as u128 - 1) / n.max(1) as u128) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_use_every_rank() {
        let shapes = [1, 2, 3, 4, 6, 7, 8, 9, 12, 16].map(|p| Grid::new(p, 0).shape());
        let expected = [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (7, 1), (4, 2), (3, 3), (4, 3), (4, 4)];
        assert_eq!(shapes, expected);
        assert_eq!(Grid::new(6, 4).at(), (2, 0));
    }
    #[test]
    fn every_index_has_one_owner() {
        for p in 1..=12 {
            for n in [0, 1, 2, 5, 7, 12, 100, 1009] {
                let grid = Grid::new(p, 0);
                let mut owners = vec![0; n];
                let mut last = 0;
                for at in grid.all() {
                    let piece = grid.piece_of(n, at);
                    // Pieces are contiguous, in rank order.
                    if !piece.is_empty() {
                        assert_eq!(piece.start, last, "{p} ranks, length {n}");
                        last = piece.end;
                    }
                    piece.clone().for_each(|x| owners[x] += 1);
                    assert!(piece.clone().all(|x| grid.rank_of(n, x) == grid.rank(at)), "{p}, {n}, {at:?}");
                    let (rows, cols) = (grid.rows(n, at.0), grid.cols(n, at.1));
                    assert!(
                        rows.clone().all(|x| grid.row_of(n, x) == at.0)
                            && cols.clone().all(|x| grid.col_of(n, x) == at.1)
                    );
                    let part = grid.column_piece_of(n, at);
                    assert!(part.is_empty() || cols.start <= part.start && part.end <= cols.end);
                }
                assert!(owners.iter().all(|&x| x == 1), "{p} ranks, length {n}: {owners:?}");
            }
        }
    }
    #[test]
    fn dimensions_of_any_size_are_cut() {
        let grid = Grid::new(9, 8);
        assert_eq!(grid.rows(usize::MAX, 2).end, usize::MAX);
        assert_eq!(grid.row_of(usize::MAX, usize::MAX - 1), 2);
    }
}
