//! Which rank holds what: blocks of matrices, pieces of vectors.

use std::ops::Range;

/// A grid of ranks, numbered row by row, as seen by one of them.
///
/// Dimension n is cut at ⌊n·i / rows⌋ for the rows of the grid and at ⌊n·j / columns⌋ for its columns. Rank (i, j)
/// holds the block of a matrix where both meet, and of a vector the j-th part of what row i has, cut likewise: pieces
/// follow each other in the order of ranks, and each has n / p places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    shape: (usize, usize),
    at: (usize, usize),
}

impl Grid {
    /// The grid of `size` ranks that is nearest to a square, no more columns than rows; `rank` is below `size`.
    ///
    /// Rows of a product are whole where there is one column: they have the length that they have on one rank.
    pub(crate) fn new(size: usize, rank: usize) -> Self {
        let cols = (1..=size).take_while(|c| c * c <= size).filter(|c| size.is_multiple_of(*c)).last().unwrap_or(1);
        let rows = size / cols;
        Self { shape: (rows, cols), at: (rank / cols, rank % cols) }
    }
    /// Its rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }
    /// Row and column of this rank.
    #[must_use]
    pub fn at(&self) -> (usize, usize) {
        self.at
    }
    /// Of a dimension of `n`, the part of row `i` of the grid.
    pub(crate) fn rows(&self, n: usize, i: usize) -> Range<usize> {
        cut(n, self.shape.0, i)..cut(n, self.shape.0, i + 1)
    }
    /// Of a dimension of `n`, the part of column `j` of the grid.
    pub(crate) fn cols(&self, n: usize, j: usize) -> Range<usize> {
        cut(n, self.shape.1, j)..cut(n, self.shape.1, j + 1)
    }
    /// The block of this rank, of a matrix of this shape.
    pub(crate) fn block(&self, (m, n): (usize, usize)) -> (Range<usize>, Range<usize>) {
        (self.rows(m, self.at.0), self.cols(n, self.at.1))
    }
    /// The places of a vector of `n` that a rank of the grid holds.
    pub(crate) fn piece_of(&self, n: usize, (i, j): (usize, usize)) -> Range<usize> {
        within(self.rows(n, i), self.shape.1, j)
    }
    /// The part of what column j of the grid has that rank (i, j) gathers first.
    pub(crate) fn column_piece_of(&self, n: usize, (i, j): (usize, usize)) -> Range<usize> {
        within(self.cols(n, j), self.shape.0, i)
    }
    /// The rank whose piece of a vector of `n` has an index.
    pub(crate) fn rank_of(&self, n: usize, index: usize) -> usize {
        let i = self.row_of(n, index);
        let rows = self.rows(n, i);
        self.rank((i, holder(rows.len(), self.shape.1, index - rows.start)))
    }
    /// Those that this rank holds.
    pub(crate) fn piece(&self, n: usize) -> Range<usize> {
        self.piece_of(n, self.at)
    }
    /// The row of the grid whose part of a dimension of `n` has an index.
    pub(crate) fn row_of(&self, n: usize, index: usize) -> usize {
        holder(n, self.shape.0, index)
    }
    /// The column of the grid, likewise.
    pub(crate) fn col_of(&self, n: usize, index: usize) -> usize {
        holder(n, self.shape.1, index)
    }
    /// The rank at a place of the grid.
    pub(crate) fn rank(&self, (i, j): (usize, usize)) -> usize {
        i * self.shape.1 + j
    }
    /// The place of a rank in the grid.
    pub(crate) fn place_of(&self, rank: usize) -> (usize, usize) {
        (rank / self.shape.1, rank % self.shape.1)
    }
    /// All places of the grid, in the order of ranks.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (rows, cols) = self.shape;
        (0..rows).flat_map(move |i| (0..cols).map(move |j| (i, j)))
    }
}

/// The part `i` of a range that is cut into so many.
fn within(range: Range<usize>, parts: usize, i: usize) -> Range<usize> {
    range.start + cut(range.len(), parts, i)..range.start + cut(range.len(), parts, i + 1)
}

/// Where part `i` of a dimension of `n` begins.
pub(crate) fn cut(n: usize, parts: usize, i: usize) -> usize {
    (n as u128 * i as u128 / parts as u128) as usize
}

/// The part that has an index: the last i with ⌊n·i / parts⌋ ≤ index, which is n·i < (index + 1)·parts.
fn holder(n: usize, parts: usize, index: usize) -> usize {
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
    fn every_index_has_one_holder() {
        for p in 1..=12 {
            for n in [0, 1, 2, 5, 7, 12, 100, 1009] {
                let grid = Grid::new(p, 0);
                let mut held = vec![0; n];
                let mut last = 0;
                for at in grid.all() {
                    let piece = grid.piece_of(n, at);
                    // Pieces follow each other in the order of ranks.
                    if !piece.is_empty() {
                        assert_eq!(piece.start, last, "{p} ranks, {n} places");
                        last = piece.end;
                    }
                    piece.clone().for_each(|x| held[x] += 1);
                    assert!(piece.clone().all(|x| grid.rank_of(n, x) == grid.rank(at)), "{p}, {n}, {at:?}");
                    let (rows, cols) = (grid.rows(n, at.0), grid.cols(n, at.1));
                    assert!(
                        rows.clone().all(|x| grid.row_of(n, x) == at.0)
                            && cols.clone().all(|x| grid.col_of(n, x) == at.1)
                    );
                    let part = grid.column_piece_of(n, at);
                    assert!(part.is_empty() || cols.start <= part.start && part.end <= cols.end);
                }
                assert!(held.iter().all(|&x| x == 1), "{p} ranks, {n} places: {held:?}");
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
