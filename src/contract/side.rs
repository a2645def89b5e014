//! What the steps of a plan read.

/// A tensor that a step reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    Operand(usize),
    Between(usize),
}

/// A tensor that a step reads, and where its first element lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) source: Source,
    pub(super) base: usize,
    /// From one value of the index of blocks to the next. A tensor between steps holds one block: 0.
    pub(super) stride: isize,
}
