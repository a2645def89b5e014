//! Large matrix products over any semiring: see `cuda/tiles.cu`. Each element is folded as one chain in the order of
//! the folded index, as on the CPU.

use super::arrays::{Change, Contraction, Operands};
use super::axes::Axis;
use super::large::{Large, one};
use super::steps::Step;
use crate::Result;
use crate::contract::INDICES;
use crate::gpu::arg::Arg;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, source};
use crate::gpu::launch::{Shape, args};

pub(super) const SOURCE: Source = source!("tiles.cu");

/// Tiles that keep a device busy, and the fewest that beat one thread per element.
const BUSY: usize = 256;
const LEAST: usize = 48;

/// A product by tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tiles {
    m: Axis,
    n: Axis,
    k: Axis,
    batch: Option<Axis>,
    /// Rows and columns per thread.
    each: usize,
    blocks: usize,
    bases: [usize; 3],
}

impl Tiles {
    /// Recognizes such a product; `size` is the bytes per value.
    pub(super) fn of(step: &Step, extents: &[usize; INDICES], size: usize) -> Option<Self> {
        let Large { m, n, batch, folded } = Large::of(step, extents)?;
        let k = one(folded)??;
        let blocks = |each: usize| {
            let lines = |axis: Axis| axis.extent.div_ceil(16 * each);
            lines(m).checked_mul(lines(n))?.checked_mul(batch.map_or(1, |batch| batch.extent))
        };
        // Limited by shared memory per block and registers per thread: small types occupy a full register each, and
        // more.
        let most = match size {
            4 => 8,
            0..=3 | 5..=8 => 4,
            9..=16 => 2,
            _ => return None,
        };
        let busy = |&each: &usize| blocks(each).is_some_and(|blocks| blocks >= BUSY);
        let each = [8, 4, 2].into_iter().filter(|&each| each <= most).find(busy).unwrap_or(2);
        let blocks = blocks(each).filter(|&blocks| blocks >= LEAST)?;
        Some(Self { m, n, k, batch, each, blocks, bases: step.bases() })
    }
    pub(super) fn explain(&self) -> String {
        let [m, n, k] = [self.m, self.n, self.k].map(|axis| axis.extent);
        let (batch, tile) = (self.batch.map_or(1, |batch| batch.extent), 16 * self.each);
        format!("{batch} products of matrices {m}×{k} and {k}×{n}, by tiles of {tile}×{tile} elements")
    }
    /// The settings of the program.
    pub(super) fn settings(&self) -> [Setting; 3] {
        let along_k =
            |axis: Axis, t: usize| u32::from(self.k.strides[t].unsigned_abs() < axis.strides[t].unsigned_abs());
        [
            Setting::Constant("EACH", self.each as u32),
            Setting::Constant("A_ALONG_K", along_k(self.m, 0)),
            Setting::Constant("B_ALONG_K", along_k(self.n, 1)),
        ]
    }
    /// Runs it.
    pub(super) fn run(&self, contraction: &Contraction<'_>, on: &Operands<'_>, b: &RawBuffer) -> Result<()> {
        let program = contraction.cuda.program_of(SOURCE, Prefix::new(&contraction.ring.text, &self.settings()))?;
        let batch = |t: usize| self.batch.map_or(0, |batch| batch.strides[t]);
        let steps = [
            [self.m.strides[0], self.k.strides[0], batch(0)],
            [self.n.strides[1], self.k.strides[1], batch(1)],
            [self.m.strides[2], self.n.strides[2], batch(2)],
        ];
        let sizes = [self.m, self.n, self.k].map(|axis| axis.extent as u64);
        let words = sizes.into_iter().chain(steps.into_iter().flatten().map(|step| step as u64));
        let sizes = Arg::list(&words.map(Arg::from).collect::<Vec<_>>());
        let (a, b, c) = (on.a.from(self.bases[0]), b.from(self.bases[1]), on.c.from(self.bases[2]));
        let Change { alpha, old, ref scalars } = on.update;
        let arguments = args![a, b, c, sizes, u32::from(alpha), old, scalars.as_deref()];
        program.kernel("tiles")?.launch(Shape::blocks(self.blocks, 256, 0)?, arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::super::units::steps;
    use super::*;

    #[test]
    fn tiles_suit_values_and_device() {
        let each = |text, sizes, size| {
            let steps = steps::<f64>(text, sizes).unwrap();
            Tiles::of(&steps.list[0], &steps.extents, size).map(|tiles| (tiles.each, tiles.blocks))
        };
        assert_eq!(each("ij,jk->ik", [4096; 3], 4), Some((8, 1024)));
        assert_eq!(each("ij,jk->ik", [4096; 3], 8), Some((4, 4096)));
        assert_eq!(each("ij,jk->ik", [4096; 3], 16), Some((2, 16384)));
        assert_eq!(each("ij,jk->ik", [512; 3], 4), Some((2, 256)));
        assert_eq!(each("ij,jk->ik", [16, 4096, 4096], 4), Some((2, 128)));
        assert_eq!(each("ij,jk->ik", [64, 100_000, 64], 4), None, "few results of many terms");
        assert_eq!(each("ij,jk->ik", [4096; 3], 24), None);
        let steps = steps::<f64>("ij,kj->ik", [1000; 3]).unwrap();
        let text = format!("{:?}", Tiles::of(&steps.list[0], &steps.extents, 8).unwrap().settings());
        assert!(text.contains(r#"Constant("A_ALONG_K", 1)"#) && text.contains(r#"Constant("B_ALONG_K", 1)"#), "{text}");
    }
}
