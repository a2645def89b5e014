//! Entries in the forms that products read, and the products.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::entries::{RawTensor, Store, move_records};
use super::form::TensorForm;
use super::mttkrp::Product;
use super::partition::partitions;
use super::schedule::Schedule;
use crate::algebra::Type;
use crate::gpu::Cuda;
use crate::gpu::arg::Arg;
use crate::gpu::buffer::{Buffer, RawBuffer};
use crate::gpu::pattern::Offsets;
use crate::{Error, Result};

/// A type-erased tensor on the host.
pub(super) trait Entries {
    /// Uploads some of its entries.
    fn upload(&self, cuda: &Cuda, range: Range<usize>) -> Result<RawTensor>;
}

/// All entries, in the order of a mode.
pub(super) struct CopyOfMode {
    columns: Vec<Buffer<u32>>,
    values: Arc<RawBuffer>,
    schedule: Schedule,
}

impl CopyOfMode {
    /// `Entries` of `cuda/mttkrp.cu`.
    fn entries(&self) -> Arg {
        let mut arrays: Vec<Arg> = self.columns.iter().map(Arg::from).collect();
        if arrays.is_empty() {
            arrays.push(Arg::null());
        }
        arrays.push((&self.values).into());
        Arg::list(&arrays)
    }
}

/// Records in the order of one mode, and a buffer for the next order.
pub(super) struct RemappedRecords {
    mode: usize,
    records: Buffer<u32>,
    room: Buffer<u32>,
}

/// The order of a mode in the cycle of remappings.
pub(super) struct ModeOrder {
    schedule: Schedule,
    /// The position of each record in the order of the next mode.
    links: Buffer<u32>,
    /// Entries per partition.
    loads: Buffer<u32>,
}

/// Entries in one of the forms.
pub(super) enum StoredEntries<'a> {
    Copies(Vec<CopyOfMode>),
    Permuted(Buffer<u32>, Vec<(Buffer<u32>, Schedule)>),
    Remapped(Mutex<RemappedRecords>, Vec<ModeOrder>),
    /// Entries on the host: the tensor, their number, and that of a part.
    Parts(Box<dyn Entries + Send + Sync + 'a>, usize, usize),
}

impl StoredEntries<'_> {
    /// Converts all entries to `form`, which stays on the device.
    pub(super) fn new(cuda: &Cuda, x: &RawTensor, form: TensorForm) -> Result<Self> {
        let store = Store::new(cuda, x);
        let modes = 0..x.dims.len();
        Ok(match form {
            TensorForm::Copies => {
                let records = store.records(None)?;
                let copy = |mode| {
                    let (keys, order) = store.sorted(mode)?;
                    let (columns, values) = store.copy(&records, &order, mode)?;
                    drop(order);
                    Ok(CopyOfMode { columns, values, schedule: store.schedule(&keys)? })
                };
                Self::Copies(modes.map(copy).collect::<Result<_>>()?)
            }
            TensorForm::Permuted | TensorForm::Parts => {
                let order = |mode| {
                    let (keys, order) = store.sorted(mode)?;
                    Ok((order, store.schedule(&keys)?))
                };
                Self::Permuted(store.records(None)?, modes.map(order).collect::<Result<_>>()?)
            }
            TensorForm::Remapped => {
                let (turns, first) = turns(&store)?;
                let records = store.records(Some(&first))?;
                drop(first);
                let room = cuda.alloc(records.len(), "a tensor's records in the order of another mode")?;
                Self::Remapped(Mutex::new(RemappedRecords { mode: 0, records, room }), turns)
            }
        })
    }

    /// Bytes of device memory.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Copies(modes) => modes
                .iter()
                .map(|m| m.columns.iter().map(|c| c.bytes()).sum::<u64>() + m.values.bytes() + m.schedule.bytes())
                .sum(),
            Self::Permuted(records, modes) => {
                records.bytes() + modes.iter().map(|(order, schedule)| order.bytes() + schedule.bytes()).sum::<u64>()
            }
            Self::Remapped(moving, turns) => {
                let records = moving.lock().unwrap_or_else(PoisonError::into_inner).records.bytes();
                2 * records + turns.iter().map(|t| t.schedule.bytes() + t.links.bytes() + t.loads.bytes()).sum::<u64>()
            }
            Self::Parts(..) => 0,
        }
    }

    /// Entries per partition of a mode, if the form is partitioned.
    pub(super) fn loads(&self, mode: usize) -> Option<&Buffer<u32>> {
        match self {
            Self::Remapped(_, turns) => turns.get(mode).map(|turn| &turn.loads),
            _ => None,
        }
    }

    /// Runs the product. `value` is the type of the entries.
    pub(super) fn multiply(&self, value: Type, product: &Product<'_>) -> Result<()> {
        let (cuda, mode) = (product.cuda, product.mode);
        match self {
            Self::Copies(modes) => {
                let copy = &modes[mode];
                product.run(TensorForm::Copies, copy.entries(), &copy.schedule)
            }
            Self::Permuted(records, modes) => {
                let (order, schedule) = &modes[mode];
                product.run(TensorForm::Permuted, Arg::all([records.into(), order.into()]), schedule)
            }
            Self::Remapped(moving, turns) => {
                // Held while work is enqueued; the stream orders the rest.
                let mut moving = moving.lock().unwrap_or_else(PoisonError::into_inner);
                let order = product.dims.len();
                while moving.mode != mode {
                    let links = &turns[moving.mode].links;
                    move_records(cuda, (order, value), &moving.records, links, &moving.room)?;
                    moving.turn(order);
                }
                let turn = &turns[mode];
                let entries = Arg::all([(&moving.records).into(), (&moving.room).into(), (&turn.links).into()]);
                product.run(TensorForm::Remapped, entries, &turn.schedule)?;
                moving.turn(order);
                Ok(())
            }
            Self::Parts(entries, n, part) => {
                product.clear()?;
                for start in (0..*n).step_by((*part).max(1)) {
                    once(&entries.upload(cuda, start..(start + part).min(*n))?, TensorForm::Parts, product)?;
                }
                Ok(())
            }
        }
    }
}

/// A single product: entries are sorted and converted for it, then dropped. `form` is permuted records, or parts.
pub(super) fn once(x: &RawTensor, form: TensorForm, product: &Product<'_>) -> Result<()> {
    let store = Store::new(product.cuda, x);
    let records = store.records(None)?;
    let (keys, order) = store.sorted(product.mode)?;
    product.run(form, Arg::all([(&records).into(), (&order).into()]), &store.schedule(&keys)?)
}

impl RemappedRecords {
    /// The buffer now holds the records in the order of the next of `order` modes.
    fn turn(&mut self, order: usize) {
        std::mem::swap(&mut self.records, &mut self.room);
        self.mode = (self.mode + 1) % order;
    }
}

/// The orders of all modes, and the position of each entry in that of mode 0.
///
/// Each order is that of the previous mode, sorted stably by its own index. Blocks process their partitions
/// concurrently, so writes at about the same time are adjacent in the next order.
fn turns(store: &Store<'_>) -> Result<(Vec<ModeOrder>, Buffer<u32>)> {
    let (x, order) = (store.tensor, store.tensor.dims.len());
    let count = partitions(store.cuda.limits().multiprocessors, x.nnz());
    // The order of the last mode precedes that of mode 0.
    let (_, mut last) = store.sorted(1 % order)?;
    for mode in 2..order {
        last = store.sorted_on(Offsets::Small(last), mode)?.1;
    }
    let (mut parts, mut links) = (vec![], vec![]);
    let (mut first, mut before): (Option<Buffer<u32>>, Option<Buffer<u32>>) = (None, None);
    for mode in 0..order {
        let (keys, next) = store.sorted_on(Offsets::Small(last), mode)?;
        let made = store.partitioned((&keys, &next), x.dims[mode], count)?;
        if let Some(before) = &before {
            links.push(store.links(before, &made.positions)?);
        }
        first.get_or_insert_with(|| made.positions.clone());
        before = Some(made.positions);
        parts.push((made.schedule, made.loads));
        last = next;
    }
    let (Some(first), Some(before)) = (first, before) else {
        return Err(Error::Argument { name: "x", message: "a tensor without modes".into() });
    };
    links.push(store.links(&before, &first)?);
    let turn = |((schedule, loads), links)| ModeOrder { schedule, links, loads };
    Ok((parts.into_iter().zip(links).map(turn).collect(), first))
}
