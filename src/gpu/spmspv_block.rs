//! y = x ⊕.⊗ A for a very sparse x, by one block: see `cuda/spmspv_block.cu`.

use super::Cuda;
use super::arg::Arg;
use super::buffer::RawBuffer;
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::vector_form::{Form, RawEntries};
use crate::Result;
use crate::algebra::{PlusTimes, Printed, printed_ring};

const SOURCE: Source = source!("spmspv_block.cu");

/// The most entries of x, and the most products allowed by the mask, that one block handles: `MOST_ENTRIES` and
/// `MOST_KEYS` in the source.
const MOST_ENTRIES: usize = 2048;
const MOST_KEYS: usize = 4096;
/// Initial room for products: a minimum, and the room per entry of x. An estimate, which a second launch corrects.
const LEAST_ROOM: usize = 512;
const ROOM_OF_AN_ENTRY: usize = 8;

/// The result of the single-block product.
pub(super) enum ByBlock {
    /// The entries of y.
    Entries(RawEntries),
    /// No result: x has too many entries, or too many products, whose number is given if known.
    TooMany(Option<u64>),
}

impl Cuda {
    /// `y(j) = ⊕_k x(k) ⊗ A(k,j)` by one kernel of one block and one wait, if x has at most 2048 entries with at most
    /// 16,384 products, of which the mask allows at most 4096. Bitwise the result of [`vxm_sorted`](Self::vxm_sorted).
    ///
    /// `mask` is the form of a vector of length ncols(A), and whether it is complemented.
    pub(super) fn vxm_by_block(
        &self,
        ring: &Printed,
        (x_indices, x_values): &RawEntries,
        a: &RawCsr,
        mask: Option<(&Form, bool)>,
    ) -> Result<ByBlock> {
        let (p, entries) = (&*a.pattern, x_indices.len());
        if entries > MOST_ENTRIES {
            return Ok(ByBlock::TooMany(None));
        }
        let settings = [Setting::Type("Offset", p.row_ptr.cuda())];
        let kernel = self.program_of(SOURCE, Prefix::new(&ring.text, &settings))?.kernel("spmspv_block")?;
        let (bits, places) = match mask {
            Some((Form::Bitmap(present), _)) => (Some(&present.flags), None),
            Some((Form::List(places), _)) => (None, Some(places)),
            Some((Form::Full, _)) | None => (None, None),
        };
        let (length, complement) = (places.map_or(0, |places| places.len() as u64), mask.is_some_and(|(_, c)| c));
        let readback = self.device().readback()?;
        let mut room = (entries * ROOM_OF_AN_ENTRY).clamp(LEAST_ROOM, MOST_KEYS);
        loop {
            let mut indices = self.alloc::<u32>(room, "indices of vxm")?;
            let mut values = self.alloc_raw(ring.out, room, "values of vxm")?;
            let arguments = args![
                x_indices,
                x_values,
                entries as u32,
                &p.row_ptr,
                &p.col_idx,
                &a.values,
                bits,
                places,
                length,
                u32::from(complement),
                room as u32,
                &indices,
                &values,
                Arg::readback(&readback, self.device()),
            ];
            kernel.launch(Shape::blocks(1, 1024, 0)?, arguments)?;
            let [products, allowed, found, ..] = readback.read()?;
            match (usize::try_from(allowed), usize::try_from(found)) {
                (_, Ok(found)) if found <= room => {
                    RawBuffer::cut(indices.raw_mut(), found)?;
                    RawBuffer::cut(&mut values, found)?;
                    return Ok(ByBlock::Entries((indices, values)));
                }
                // The room is now sufficient, so this happens at most once.
                (Ok(allowed), _) if allowed > room && allowed <= MOST_KEYS => room = allowed,
                _ => return Ok(ByBlock::TooMany(Some(products))),
            }
        }
    }
}

/// Programs to compile without a device.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{AnyPair, MinPlus};
    let unit = |ring: &Printed, offset| Unit {
        source: SOURCE,
        prefix: Prefix::new(&ring.text, &[Setting::Type("Offset", offset)]).text(),
        hot: &["spmspv_block"],
    };
    vec![
        unit(&printed_ring(PlusTimes::<f64>::default()), "unsigned int"),
        unit(&printed_ring(MinPlus::<f32>::default()), "unsigned long long"),
        unit(&printed_ring(AnyPair::<bool>::default()), "unsigned int"),
    ]
}
