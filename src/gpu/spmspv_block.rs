//! y = x ⊕.⊗ A for an x of few entries, by one block: see `cuda/spmspv_block.cu`.

use super::Cuda;
use super::arg::Arg;
use super::buffer::RawBuffer;
use super::csr::RawCsr;
use super::front::{Front, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::vector_form::{Form, RawEntries};
use crate::Result;
use crate::algebra::{PlusTimes, Printed, printed_ring};

const SOURCE: Source = source!("spmspv_block.cu");

/// Most entries of x, and most products that the mask allows, of one block: `MOST_ENTRIES` and `MOST_KEYS` in the
/// source.
const MOST_ENTRIES: usize = 2048;
const MOST_KEYS: usize = 4096;
/// Room for products that a block has at least, and for each entry of x: an estimate, which a second launch corrects.
const LEAST_ROOM: usize = 512;
const ROOM_OF_AN_ENTRY: usize = 8;

/// What one block made of a product.
pub(super) enum ByBlock {
    /// The entries of y.
    Entries(RawEntries),
    /// Nothing: x has too many entries, or so many products if they are known.
    TooMany(Option<u64>),
}

impl Cuda {
    /// `y(j) = ⊕_k x(k) ⊗ A(k,j)` by one kernel of one block and one wait, if x has at most 2048 entries with at most
    /// 16,384 products, of which the mask allows at most 4096. The bits are those of [`vxm_sorted`](Self::vxm_sorted).
    ///
    /// `mask` is the form of a vector of as many places as A has columns, and whether its complement is meant.
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
        let kernel = self.program_of(SOURCE, Front::new(&ring.text, &settings))?.kernel("spmspv_block")?;
        let (bits, places) = match mask {
            Some((Form::Bitmap(present), _)) => (Some(&present.places), None),
            Some((Form::List(places), _)) => (None, Some(places)),
            Some((Form::Full, _)) | None => (None, None),
        };
        let (length, complement) = (places.map_or(0, |places| places.len() as u64), mask.is_some_and(|(_, c)| c));
        let letter = self.device().letter()?;
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
                Arg::letter(&letter, self.device()),
            ];
            kernel.launch(Shape::blocks(1, 1024, 0)?, arguments)?;
            let [products, allowed, found, ..] = letter.read()?;
            match (usize::try_from(allowed), usize::try_from(found)) {
                (_, Ok(found)) if found <= room => {
                    RawBuffer::cut(indices.raw_mut(), found)?;
                    RawBuffer::cut(&mut values, found)?;
                    return Ok(ByBlock::Entries((indices, values)));
                }
                // There is room now: this happens once.
                (Ok(allowed), _) if allowed > room && allowed <= MOST_KEYS => room = allowed,
                _ => return Ok(ByBlock::TooMany(Some(products))),
            }
        }
    }
}

/// Programs to compile where there is no device.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{AnyPair, MinPlus};
    let unit = |ring: &Printed, offset| Unit {
        source: SOURCE,
        prefix: Front::new(&ring.text, &[Setting::Type("Offset", offset)]).text(),
        hot: &["spmspv_block"],
    };
    vec![
        unit(&printed_ring(PlusTimes::<f64>::default()), "unsigned int"),
        unit(&printed_ring(MinPlus::<f32>::default()), "unsigned long long"),
        unit(&printed_ring(AnyPair::<bool>::default()), "unsigned int"),
    ]
}
