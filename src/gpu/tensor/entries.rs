//! Tensor entries on a device in their original order, their sort, and their conversion to records: see
//! `cuda/tensor.cu`.

use std::ops::Range;
use std::sync::Arc;

use super::form::{MOST, strides, value_words};
use crate::algebra::{Slice, Type};
use crate::gpu::Cuda;
use crate::gpu::arg::Arg;
use crate::gpu::buffer::{Buffer, RawBuffer};
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Program, Shape, args};
use crate::gpu::pattern::Offsets;
use crate::gpu::transpose::{Ordered, Sorter};
use crate::par::collected;
use crate::tensor::Pattern;
use crate::{Error, Index, Result};

const SOURCE: Source = source!("tensor.cu");

/// Largest mode size on a device: one bit of a run's target is a flag.
const LONGEST: usize = 1 << 31;

/// A type-erased tensor on a device: one index column per mode, and the values.
#[derive(Clone, Debug)]
pub(crate) struct RawTensor {
    pub(super) dims: Arc<[usize]>,
    pub(super) columns: Arc<[Buffer<u32>]>,
    pub(super) values: Arc<RawBuffer>,
}

impl RawTensor {
    pub(super) fn nnz(&self) -> usize {
        self.values.len()
    }
    pub(super) fn bytes(&self) -> u64 {
        self.columns.iter().map(|c| c.bytes()).sum::<u64>() + self.values.bytes()
    }
}

/// Rejects oversized tensors before the upload.
pub(super) fn check_sizes(dims: &[usize], nnz: usize) -> Result<()> {
    let longest = dims.iter().copied().max().unwrap_or(0);
    let overflow =
        |what, needed: usize, max: usize| Error::IndexOverflow { what, needed: needed as u128, max: max as u128 };
    if longest > LONGEST {
        return Err(overflow("a mode of a tensor on a device", longest, LONGEST));
    }
    if nnz > MOST {
        return Err(overflow("entries of a tensor on a device", nnz, MOST));
    }
    Ok(())
}

impl Cuda {
    /// Uploads the entries of `range` of a host tensor; `values` are theirs.
    pub(super) fn upload_entries<I: Index>(
        &self,
        x: Pattern<'_, I>,
        range: Range<usize>,
        values: Slice<'_>,
    ) -> Result<RawTensor> {
        check_sizes(x.dims, range.len())?;
        let what = "a tensor on the device";
        let column = |indices: &Vec<I>| {
            let all: &dyn std::any::Any = indices;
            match all.downcast_ref::<Vec<u32>>() {
                Some(all) => self.put(&all[range.clone()], what),
                None => {
                    let indices = &indices[range.clone()];
                    self.put(&collected(indices.len(), indices.iter().map(|i| i.get() as u32), what)?, what)
                }
            }
        };
        let columns = x.indices.iter().map(column).collect::<Result<Vec<_>>>()?;
        Ok(RawTensor { dims: x.dims.into(), columns: columns.into(), values: self.put_raw(values, what)? })
    }
}

/// The settings for `cuda/entries.cuh`.
pub(super) fn settings(order: usize, value: Type, moves: bool) -> [Setting; 3] {
    let (short, long) = strides(order, value.size());
    [
        Setting::Constant("ORDER", order as u32),
        Setting::Constant("VALUE_WORDS", value_words(value.size()) as u32),
        Setting::Constant("STRIDE", if moves { long } else { short } as u32),
    ]
}

/// Converts the entries of one tensor to forms.
pub(super) struct Store<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) tensor: &'a RawTensor,
}

impl<'a> Store<'a> {
    pub(super) fn new(cuda: &'a Cuda, tensor: &'a RawTensor) -> Self {
        Self { cuda, tensor }
    }
    /// The kernels for records that are not remapped.
    pub(super) fn program(&self) -> Result<Arc<Program>> {
        program(self.cuda, self.tensor.dims.len(), self.tensor.values.ty(), false)
    }

    /// Sorts the entries stably by their index in `mode`: the indices, and the permutation.
    pub(super) fn sorted(&self, mode: usize) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let (cuda, keys) = (self.cuda, &self.tensor.columns[mode]);
        let n = keys.len();
        let what = "a tensor's entries in the order of a mode";
        let descents = cuda.zeroed::<u32>(1, what)?;
        let program = self.program()?;
        program.kernel("find_descent")?.launch(Shape::for_each(n, 256)?, args![keys, n as u64, &descents])?;
        if cuda.get_at(&descents, 0)? == 0 {
            let order = cuda.alloc::<u32>(n, what)?;
            program.kernel("count_up")?.launch(Shape::for_each(n, 256)?, args![&order, n as u64])?;
            return Ok((keys.clone(), order));
        }
        sort(&Sorter::new(cuda, Type::U32, n)?, keys, None, self.tensor.dims[mode])
    }
    /// The same, starting from an order, which breaks ties.
    pub(super) fn sorted_on(&self, order: Offsets, mode: usize) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let n = self.tensor.nnz();
        let keys = self.cuda.alloc::<u32>(n, "indices in the order of another mode")?;
        let sorter = Sorter::new(self.cuda, Type::U32, n)?;
        sorter.gather("gather_indices", &order, &self.tensor.columns[mode], &keys)?;
        sort(&sorter, &keys, Some(&order), self.tensor.dims[mode])
    }

    /// A record per entry: in their order, or, for remapping, at `positions`.
    pub(super) fn records(&self, positions: Option<&Buffer<u32>>) -> Result<Buffer<u32>> {
        let (n, order, ty) = (self.tensor.nnz(), self.tensor.dims.len(), self.tensor.values.ty());
        let (short, long) = strides(order, ty.size());
        let stride = if positions.is_some() { long } else { short };
        let (needed, max) = (n as u128 * stride as u128, usize::MAX as u128);
        let words = n.checked_mul(stride).ok_or(Error::IndexOverflow { what: "a tensor's records", needed, max })?;
        let records = self.cuda.alloc::<u32>(words, "a tensor's records")?;
        let columns = Arg::list(&self.tensor.columns.iter().map(Arg::from).collect::<Vec<_>>());
        let arguments = args![columns, &self.tensor.values, n as u64, positions, &records];
        let program = program(self.cuda, order, ty, positions.is_some())?;
        program.kernel("pack_records")?.launch(Shape::for_each(n, 256)?, arguments)?;
        Ok(records)
    }

    /// All index columns but one, and the values, permuted; zero-padded, because kernels read 16 bytes at a time.
    pub(super) fn copy(
        &self,
        records: &Buffer<u32>,
        order: &Buffer<u32>,
        mode: usize,
    ) -> Result<(Vec<Buffer<u32>>, Arc<RawBuffer>)> {
        let (cuda, n) = (self.cuda, self.tensor.nnz());
        let what = "a copy of a tensor's entries";
        let (others, padded) = (self.tensor.dims.len() - 1, n.next_multiple_of(16));
        let columns = (0..others).map(|_| cuda.alloc::<u32>(padded, what)).collect::<Result<Vec<_>>>()?;
        let values = cuda.alloc_raw(self.tensor.values.ty(), padded, what)?;
        let mut to: Vec<Arg> = columns.iter().map(Arg::from).collect();
        to.insert(mode, Arg::null());
        let arguments = args![records, order, n as u64, padded as u64, Arg::list(&to), &values];
        self.program()?.kernel("spread_records")?.launch(Shape::for_each(padded, 256)?, arguments)?;
        Ok((columns, values))
    }
}

/// The kernels for entries of `order` modes with values of this type; `moves`: records are remapped.
fn program(cuda: &Cuda, order: usize, value: Type, moves: bool) -> Result<Arc<Program>> {
    let [order, words, stride] = settings(order, value, moves);
    cuda.program_of(SOURCE, Prefix::new("", &[order, words, stride, Setting::words(value)]))
}

/// Permutes records of `order` modes to the positions `links`.
pub(super) fn move_records(
    cuda: &Cuda,
    (order, value): (usize, Type),
    from: &Buffer<u32>,
    links: &Buffer<u32>,
    to: &Buffer<u32>,
) -> Result<()> {
    let program = program(cuda, order, value, true)?;
    let arguments = args![from, links, links.len() as u64, to];
    program.kernel("move_records")?.launch(Shape::for_each(from.len() / 4, 256)?, arguments)
}

/// Sorted keys, and `positions` permuted alike.
pub(super) fn sort(
    sorter: &Sorter<'_>,
    keys: &Buffer<u32>,
    positions: Option<&Offsets>,
    bound: usize,
) -> Result<(Buffer<u32>, Buffer<u32>)> {
    match sorter.sort(keys, positions, bound)? {
        Ordered { keys, positions: Offsets::Small(order) } => Ok((keys, order)),
        Ordered { keys, .. } => {
            let (needed, max) = (keys.len() as u128, MOST as u128);
            Err(Error::IndexOverflow { what: "entries of a tensor on a device", needed, max })
        }
    }
}

/// Programs to compile without a device.
pub(super) fn programs() -> Vec<Unit> {
    let unit = |order, ty: Type, moves, hot| {
        let [order, words, stride] = settings(order, ty, moves);
        Unit { source: SOURCE, prefix: Prefix::new("", &[order, words, stride, Setting::words(ty)]).text(), hot }
    };
    let (stay, move_on): (&[&str], &[&str]) =
        (&["pack_records", "spread_records", "place_runs", "assign_items"], &["pack_records", "move_records"]);
    vec![
        unit(3, Type::F32, false, stay),
        unit(4, Type::F64, false, stay),
        unit(1, Type::Bool, false, stay),
        unit(3, Type::F32, true, move_on),
        unit(5, Type::ComplexF64, true, move_on),
    ]
}
