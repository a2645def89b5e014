//! What a piece of text holds.

use super::order::Order;

/// Consecutive entries, indices from 0.
#[derive(Debug)]
pub(super) struct Block<I, X> {
    pub(super) rows: Vec<I>,
    pub(super) cols: Vec<I>,
    pub(super) values: Vec<X>,
    /// Which of them are mirror images of what stands in the file, above the diagonal.
    pub(super) above: Vec<u32>,
    /// In which orders its places increase, as far as that was looked at.
    pub(super) order: Order,
}
