//! Numbers of vertices that ranks hold: which rank has them, and what it answers.

use std::ops::Range;

use sparring::Result;

use crate::cluster::Shared;
use crate::link::Parts;
use crate::wire::{Bytes, broken, buffer, bytes_mut, put_indices, reserved, zeros};

/// The vertices of a graph, each held by one rank.
pub(super) struct Held<'a> {
    pub(super) shared: &'a Shared,
    /// Those of this rank.
    pub(super) piece: Range<usize>,
    /// The ends of what ranks hold, in the order of ranks.
    ends: Vec<usize>,
}

impl<'a> Held<'a> {
    pub(super) fn new(shared: &'a Shared, n: usize) -> Self {
        let (mut ends, mut last): (Vec<usize>, _) = (Vec::new(), 0);
        for at in shared.grid.all() {
            let piece = shared.grid.piece_of(n, at);
            if !piece.is_empty() {
                last = piece.end;
            }
            ends.push(last);
        }
        Self { shared, piece: shared.grid.piece(n), ends }
    }
    /// How many of these vertices, which increase, each rank holds.
    pub(super) fn counts(&self, vertices: &[u32]) -> Vec<usize> {
        let mut first = 0;
        let of = |end: &usize| {
            let count = vertices[first..].partition_point(|&v| (v as usize) < *end);
            first += count;
            count
        };
        self.ends.iter().map(of).collect()
    }
    /// Messages to the holders of these vertices, which increase: the vertices, and a number for each if there is one.
    pub(super) fn messages(&self, vertices: &[u32], numbers: Option<&[u32]>) -> Result<Parts> {
        let each = if numbers.is_some() { 8 } else { 4 };
        let mut made = Parts { bytes: buffer(each * vertices.len())?, lengths: self.counts(vertices) };
        let mut first = 0;
        for length in &mut made.lengths {
            let of = first..first + *length;
            put_indices(&mut made.bytes, vertices[of.clone()].iter().copied());
            if let Some(numbers) = numbers {
                put_indices(&mut made.bytes, numbers[of.clone()].iter().copied());
            }
            (first, *length) = (of.end, each * of.len());
        }
        Ok(made)
    }
    /// The place of a vertex in what this rank holds.
    pub(super) fn place(&self, vertex: u32) -> Result<usize> {
        let place = (vertex as usize).checked_sub(self.piece.start).ok_or_else(broken)?;
        if place < self.piece.len() { Ok(place) } else { Err(broken()) }
    }
    /// What the holders have in `table` for these vertices, which increase. Collective; an error of one rank in making
    /// the vertices is one of all.
    pub(super) fn values(&self, vertices: Result<Vec<u32>>, table: &[u32]) -> Result<(Vec<u32>, Vec<u32>)> {
        let made = vertices.and_then(|vertices| {
            let (found, to) = (zeros(vertices.len())?, self.messages(&vertices, None)?);
            let lengths = to.lengths.clone();
            Ok(((vertices, found, lengths), to))
        });
        let answered = self.shared.world.deal(made).and_then(|(made, got)| {
            let mut answer: Vec<u32> = reserved(got.bytes.len() / 4, "answers")?;
            for vertex in Bytes(&got.bytes).indices(got.bytes.len() / 4)? {
                answer.push(*table.get(self.place(vertex)?).ok_or_else(broken)?);
            }
            Ok((made, answer, got.lengths))
        });
        let ((vertices, mut found, asked), answer, lengths) = self.shared.ready(answered)?;
        self.shared.world.exchange_over(crate::wire::bytes(&answer), &lengths, &asked, bytes_mut(&mut found));
        Ok((vertices, found))
    }
}
