//! The inputs of a plan's steps.

/// A tensor that a step reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    Operand(usize),
    Intermediate(usize),
}

/// An input of a step, and the offset of its first element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) source: Source,
    pub(super) base: usize,
    /// Its stride along the block index; 0 for an intermediate, which holds one block.
    pub(super) stride: isize,
}
