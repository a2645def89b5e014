//! Ownership of vertices: messages to their owners, and lookups of values there.

use std::ops::Range;

use sparring::Result;

use crate::cluster::Shared;
use crate::link::Parts;
use crate::wire::{Bytes, broken, buffer, bytes_mut, put_indices, reserved, zeros};

/// The distribution of the vertices of a graph over the ranks.
pub(super) struct Ownership<'a> {
    pub(super) shared: &'a Shared,
    /// Vertices that this rank owns.
    pub(super) piece: Range<usize>,
    /// End of each rank's range, in rank order.
    ends: Vec<usize>,
}

impl<'a> Ownership<'a> {
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
    /// How many of these increasing vertices each rank owns.
    pub(super) fn counts(&self, vertices: &[u32]) -> Vec<usize> {
        let mut first = 0;
        let of = |end: &usize| {
            let count = vertices[first..].partition_point(|&v| (v as usize) < *end);
            first += count;
            count
        };
        self.ends.iter().map(of).collect()
    }
    /// Messages to the owners of these increasing vertices: the vertices, and the bytes of a value for each.
    pub(super) fn messages<const N: usize>(
        &self,
        vertices: &[u32],
        mut value: impl FnMut(usize) -> [u8; N],
    ) -> Result<Parts> {
        let mut made = Parts { bytes: buffer((4 + N) * vertices.len())?, lengths: self.counts(vertices) };
        let mut first = 0;
        for length in &mut made.lengths {
            let of = first..first + *length;
            put_indices(&mut made.bytes, vertices[of.clone()].iter().copied());
            of.clone().for_each(|k| made.bytes.extend_from_slice(&value(k)));
            (first, *length) = (of.end, (4 + N) * of.len());
        }
        Ok(made)
    }
    /// Local index of a vertex that this rank owns.
    pub(super) fn local(&self, vertex: u32) -> Result<usize> {
        let local = (vertex as usize).checked_sub(self.piece.start).ok_or_else(broken)?;
        if local < self.piece.len() { Ok(local) } else { Err(broken()) }
    }
    /// Looks up these increasing vertices in the `table` of their owners. Collective; an error in the argument of one
    /// rank is an error of all.
    pub(super) fn values(&self, vertices: Result<Vec<u32>>, table: &[u32]) -> Result<(Vec<u32>, Vec<u32>)> {
        let made = vertices.and_then(|vertices| {
            let (found, to) = (zeros(vertices.len())?, self.messages(&vertices, |_| [])?);
            let lengths = to.lengths.clone();
            Ok(((vertices, found, lengths), to))
        });
        let answered = self.shared.world.all_to_all(made).and_then(|(made, got)| {
            let mut answer: Vec<u32> = reserved(got.bytes.len() / 4, "answers")?;
            for vertex in Bytes(&got.bytes).indices(got.bytes.len() / 4)? {
                answer.push(*table.get(self.local(vertex)?).ok_or_else(broken)?);
            }
            Ok((made, answer, got.lengths))
        });
        let ((vertices, mut found, queried), answer, lengths) = self.shared.ready(answered)?;
        self.shared.world.exchange_over(crate::wire::bytes(&answer), &lengths, &queried, bytes_mut(&mut found));
        Ok((vertices, found))
    }
}

/// The vertices, or local indices, of a message, each with the bytes of its value.
pub(super) fn pairs<const N: usize>(message: &[u8]) -> Result<impl Iterator<Item = (u32, [u8; N])>> {
    let (mut message, count) = (Bytes(message), message.len() / (4 + N));
    let vertices = message.indices(count)?;
    Ok(vertices.zip(message.take(N * count)?.as_chunks::<N>().0.iter().copied()))
}
