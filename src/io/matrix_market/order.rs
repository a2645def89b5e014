//! Detection of sorted entries: nearly all files are sorted by columns or by rows.

use crate::Index;

/// The orders in which entries strictly increase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Order {
    /// By row, then by column.
    pub(super) by_rows: bool,
    /// By column, then by row.
    pub(super) by_columns: bool,
}

impl Order {
    /// The orders of one list.
    pub(super) fn of<I: Index>(rows: &[I], cols: &[I]) -> Self {
        let increase = |x: &[I], y: &[I]| x.windows(2).zip(y.windows(2)).all(|(x, y)| (x[0], y[0]) < (x[1], y[1]));
        Self { by_rows: increase(rows, cols), by_columns: increase(cols, rows) }
    }
    /// The orders of concatenated lists.
    pub(super) fn of_lists<'a, I: Index>(lists: impl Iterator<Item = (Self, &'a [I], &'a [I])>) -> Self {
        let mut all = Self { by_rows: true, by_columns: true };
        let mut last = None;
        for (order, rows, cols) in lists {
            let (Some(&i), Some(&j)) = (rows.first(), cols.first()) else { continue };
            let next = |before: Option<(I, I)>| before.is_none_or(|(x, y)| (x, y) < (i, j));
            all.by_rows &= order.by_rows && next(last);
            let next = |before: Option<(I, I)>| before.is_none_or(|(x, y)| (y, x) < (j, i));
            all.by_columns &= order.by_columns && next(last);
            last = rows.last().copied().zip(cols.last().copied());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_within_lists_and_between_them() {
        let entries: [(u32, u32); 6] = [(0, 0), (1, 1), (1, 4), (2, 5), (2, 5), (1, 6)];
        let (rows, cols): (Vec<u32>, Vec<u32>) = entries.into_iter().unzip();
        let of = |from: usize, to: usize| {
            let o = Order::of(&rows[from..to], &cols[from..to]);
            (o.by_rows, o.by_columns)
        };
        assert_eq!(
            [of(0, 0), of(0, 4), of(0, 5), of(4, 6)],
            [(true, true), (true, true), (false, false), (false, true)]
        );
        for cut in 0..=4 {
            let list = |from: usize, to: usize| {
                (Order::of(&rows[from..to], &cols[from..to]), &rows[from..to], &cols[from..to])
            };
            let all = Order::of_lists([list(0, cut), list(cut, cut), list(cut, 4)].into_iter());
            assert_eq!(all, Order { by_rows: true, by_columns: true });
            let all = Order::of_lists([list(cut, 4), list(4, 6)].into_iter());
            assert_eq!((all.by_rows, all.by_columns), (false, cut == 4), "{cut}");
        }
    }
}
