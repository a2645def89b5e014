//! Sparse tensors: conversion from and to arrays and FROSTT files.

use std::ffi::{c_char, c_void};

use sparring::algebra::{Array, Type};
use sparring::io::{Duplicates, FrosttOptions, read_frostt_with, write_frostt_values};
use sparring::par::Threads;
use sparring::runtime::Tensor;
use sparring::tensor::MAX_ORDER;
use sparring::{Error, Index};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::matrix_market::{SparringWriteOptions, given, writing};
use crate::memory::{NewHandle, choice, copied, fits, input, output, output_as, size, text, write};
use crate::status::SparringStatus::{self, SPARRING_INDEX_RANGE};
use crate::types::{code, input_values, output_values, value_type};

/// A sparse tensor with 1 to 255 modes, of one of the types above, in coordinate form, in host memory. It never
/// changes.
pub struct SparringTensor {
    pub(crate) x: Tensor,
}

impl From<Tensor> for SparringTensor {
    fn from(x: Tensor) -> Self {
        Self { x }
    }
}

impl Object for SparringTensor {
    const NAME: &'static str = "SparringTensor";
}

/// Treatment of duplicate entries in a file.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringDuplicates {
    /// They are summed. Entries are sorted by their indices, the last mode fastest.
    SPARRING_DUPLICATES_SUM = 0,
    /// They are an error of the file. Entries keep the order of the file.
    SPARRING_DUPLICATES_REFUSE = 1,
    /// They are kept, unchecked. Entries keep the order of the file.
    SPARRING_DUPLICATES_KEEP = 2,
}

/// Options for reading a tensor. All zero (`SparringTensorReadOptions o = {0};`) are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SparringTensorReadOptions {
    /// Limit in bytes of text, after decompression, beyond which the file is rejected: SPARRING_BUDGET. 0: no limit.
    pub max_bytes: u64,
    /// The length of each mode, `order` of them; larger indices are errors of the file. NULL: the largest index of each
    /// mode.
    pub dims: *const u64,
    /// Number of modes, if `dims` is not NULL.
    pub order: u64,
    /// A SparringDuplicates.
    pub duplicates: u32,
    /// Not 0: lines have no value, all their numbers are indices, and each entry is 1.
    pub no_values: u32,
    /// Not 0: comments after entries and trailing garbage after gzip data are ignored.
    pub lenient: u32,
}

/// Checks the number of modes.
fn modes(order: u64) -> Fallible<usize> {
    match usize::try_from(order) {
        Ok(order) if (1..=MAX_ORDER).contains(&order) => Ok(order),
        _ => Err(Fail::argument("order", format!("a tensor has 1 to {MAX_ORDER} modes, not {order}"))),
    }
}

/// A tensor from the caller's lists, whose indices fit `I` if they are below `dims`.
fn copy_of<I: Index>(dims: Vec<usize>, lists: &[&[u64]], values: Array) -> Fallible<Tensor> {
    let mut indices = Vec::with_capacity(dims.len());
    for (mode, (&list, &bound)) in lists.iter().zip(&dims).enumerate() {
        if let Some(at) = list.iter().position(|&i| i >= bound as u64) {
            let message = format!("indices[{mode}][{at}] is {}, not below dims[{mode}], which is {bound}", list[at]);
            return Err(Fail { status: SPARRING_INDEX_RANGE, message });
        }
        indices.push(copied(list, "indices", |i| I::cast(i as usize))?);
    }
    Tensor::new(dims, indices, values).map_err(|e| Fail::from(e).naming("dims"))
}

/// A tensor from coordinates, which are validated and copied: entry e has the value `values[e]` at `indices[m][e]` in
/// each mode m. `type` is a SparringType, and `values` points to `nnz` values of it. Modes and indices are counted from
/// 0; `dims` has the length of each of the `order` modes, `indices` the addresses of `order` arrays of `nnz` elements.
/// Entries keep their order. Duplicate entries are stored separately, and represent their sum: sparring_tensor_summed.
/// `*tensor` receives the handle, NULL on failure; free it with sparring_tensor_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_from_coo(
    r#type: u32,
    order: u64,
    dims: *const u64,
    indices: *const *const u64,
    values: *const c_void,
    nnz: u64,
    tensor: *mut *mut SparringTensor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `tensor` points to room for a handle.
        let out = unsafe { NewHandle::at(tensor, "tensor")? };
        let (ty, order, nnz) = (value_type(r#type)?, modes(order)?, size(nnz, "nnz")?);
        // SAFETY: by the contract above the arrays have these lengths, and every bit pattern is a number or an address.
        let (dims, lists) =
            unsafe { (input(dims, order, "dims")?, input(indices, if nnz == 0 { 0 } else { order }, "indices")?) };
        let dims = dims.iter().map(|&n| size(n, "dims")).collect::<Fallible<Vec<usize>>>()?;
        let mut indices: Vec<&[u64]> = vec![&[]; order];
        for (mode, (to, &list)) in indices.iter_mut().zip(lists).enumerate() {
            // SAFETY: by the contract above each of them has `nnz` elements.
            *to = unsafe { input(list, nnz, "indices").map_err(|e| e.at("indices", mode))? };
        }
        // SAFETY: as above, `values` has nnz values of the type.
        let values = unsafe { input_values(ty, values, nnz)? };
        let narrow = dims.iter().all(|&n| n <= u32::MAX_LEN);
        let copy = if narrow { copy_of::<u32> } else { copy_of::<u64> };
        out.give(copy(dims, &indices, values)?.into())
    })
}

/// Reads a tensor of the given type from a file. Its numbers are read as doubles.
fn read(
    path: &str,
    how: FrosttOptions<'_>,
    threads: &Threads,
    duplicates: Duplicates,
    ty: Type,
) -> sparring::Result<Tensor> {
    /// Beyond this, not every integer is a double.
    const EXACT: f64 = (1u64 << 53) as f64;
    // Sums are those of the type.
    let sums = duplicates == Duplicates::Sum && ty != Type::F64;
    let x = read_frostt_with::<f64>(path, &how.duplicates(if sums { Duplicates::Keep } else { duplicates }))?;
    let x = Tensor::from(x);
    if ty.is_integer()
        && let Some((e, value)) =
            x.values().get::<f64>().and_then(|x| x.iter().enumerate().find(|x| x.1.abs() >= EXACT))
    {
        let why = "integers in a tensor file are exact only below 2^53".into();
        return Err(Error::Unsupported { what: format!("entry {e}, {value} as {ty}"), why });
    }
    let wide = if ty.is_integer() { Type::I64 } else { ty };
    let mut x = x.cast(wide)?;
    if sums {
        x = x.summed(threads)?;
    }
    x.cast(ty)
}

/// Reads a tensor from a FROSTT file, compressed by gzip or not, with the threads of `device` (CPU threads for any
/// device): one entry per line, an index from 1 for each mode and the value, a double that is rounded to `type`, a
/// SparringType. An integer type accepts whole numbers in its range, below 2^53, and rejects others with their entry:
/// SPARRING_UNSUPPORTED. Duplicate entries are summed (bool: or). `options` may be NULL. `path` is UTF-8. `*tensor`
/// receives the handle, NULL on failure; free it with sparring_tensor_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_read(
    device: *const SparringDevice,
    r#type: u32,
    path: *const c_char,
    options: *const SparringTensorReadOptions,
    tensor: *mut *mut SparringTensor,
) -> SparringStatus {
    use SparringDuplicates::*;
    ffi!({
        // SAFETY: by the contract `tensor` points to room for a handle, `path` to text ended by a zero, and `options`
        // is NULL or points to options.
        let (out, path, o) = unsafe { (NewHandle::at(tensor, "tensor")?, text(path, "path")?, given(options)?) };
        let (device, ty) = (handle(device, "device")?, value_type(r#type)?);
        let duplicates = [
            (SPARRING_DUPLICATES_SUM as u32, Duplicates::Sum),
            (SPARRING_DUPLICATES_REFUSE as u32, Duplicates::Refuse),
            (SPARRING_DUPLICATES_KEEP as u32, Duplicates::Keep),
        ];
        let duplicates = choice("options.duplicates", o.duplicates, &duplicates)?;
        let (current, dims);
        current = Threads::current();
        let threads = device.threads(&current);
        let mut how = FrosttOptions::new()
            .threads(threads)
            .max_bytes(if o.max_bytes == 0 { u64::MAX } else { o.max_bytes })
            .values(o.no_values == 0)
            .lenient(o.lenient != 0);
        if !o.dims.is_null() || o.order != 0 {
            let order = modes(o.order).map_err(|e| Fail { message: format!("options.{}", e.message), ..e })?;
            // SAFETY: by the contract there are `order` lengths.
            let lengths = unsafe { input(o.dims, order, "options.dims")? };
            dims = lengths.iter().map(|&n| size(n, "options.dims")).collect::<Fallible<Vec<usize>>>()?;
            how = how.dims(&dims);
        }
        let x = read(path, how, threads, duplicates, ty).map_err(|e| match e {
            Error::IndexOverflow { .. } => Fail::from(e).naming("options.dims"),
            other => Fail::from(other).naming("path"),
        })?;
        out.give(x.into())
    })
}

/// Writes the tensor as a FROSTT file, compressed by gzip if `path` ends in ".gz", with the threads of `device`: the
/// entries in their order. Reading it gives bitwise identical entries, except that every NaN becomes the standard one.
/// The lengths of the modes are not in the file; if last slices are empty, pass them to the reader (`dims` of
/// SparringTensorReadOptions). Complex numbers are rejected: SPARRING_UNSUPPORTED. The file is replaced atomically: on
/// failure, the old file at `path` is unchanged. `path` is UTF-8; `options` may be NULL, and must not request symmetry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_write(
    device: *const SparringDevice,
    tensor: *const SparringTensor,
    path: *const c_char,
    options: *const SparringWriteOptions,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract `path` points to text ended by a zero, and `options` to options or to nothing.
        let (path, options) = unsafe { (text(path, "path")?, given(options)?) };
        let (device, tensor) = (handle(device, "device")?, handle(tensor, "tensor")?);
        let current = Threads::current();
        let how = writing(path, &options, device.threads(&current))?;
        let (x, modes) = (&tensor.x, 0..tensor.x.dims().len());
        let written = match modes.clone().map(|mode| x.indices(mode)).collect::<Option<Vec<&[u32]>>>() {
            Some(lists) => write_frostt_values(path, x.dims(), &lists, x.values(), &how),
            None => {
                let lists: Vec<&[u64]> = modes.filter_map(|mode| x.indices(mode)).collect();
                write_frostt_values(path, x.dims(), &lists, x.values(), &how)
            }
        };
        written.map_err(|e| match e {
            Error::Argument { name: "options", message } => Fail::argument("options.symmetric", message),
            other => other.into(),
        })
    })
}

/// The tensor with duplicate entries summed, in their order, by the threads of `device`: sorted by indices, the last
/// mode fastest. Integer sums wrap; bool uses or. `*summed` receives the handle of a new tensor, NULL on failure; free
/// it with sparring_tensor_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_summed(
    device: *const SparringDevice,
    tensor: *const SparringTensor,
    summed: *mut *mut SparringTensor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `summed` points to room for a handle.
        let out = unsafe { NewHandle::at(summed, "summed")? };
        let (device, tensor) = (handle(device, "device")?, handle(tensor, "tensor")?);
        let current = Threads::current();
        out.give(tensor.x.summed(device.threads(&current))?.into())
    })
}

/// A new tensor with the values converted to another type, as by sparring_matrix_cast. `*there` receives the handle,
/// NULL on failure; free it with sparring_tensor_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_cast(
    tensor: *const SparringTensor,
    r#type: u32,
    wrap: u32,
    there: *mut *mut SparringTensor,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `there` points to room for a handle.
        let out = unsafe { NewHandle::at(there, "there")? };
        let (tensor, ty) = (handle(tensor, "tensor")?, value_type(r#type)?);
        let cast = if wrap == 0 { tensor.x.cast(ty) } else { tensor.x.wrapping_cast(ty) };
        out.give(cast.map_err(|e| Fail::from(e).naming("tensor"))?.into())
    })
}

/// Type of the values, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_type(tensor: *const SparringTensor, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = code(handle(tensor, "tensor")?.x.ty());
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty, "type") }
    })
}

/// Number of modes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_order(tensor: *const SparringTensor, order: *mut u64) -> SparringStatus {
    ffi!({
        let modes = handle(tensor, "tensor")?.x.dims().len();
        // SAFETY: by the contract `order` points to room for a number.
        unsafe { write(order, modes as u64, "order") }
    })
}

/// Length of each mode, written to `dims`, which has room for `dims_len`: SPARRING_LENGTH if the tensor has more modes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_dims(
    tensor: *const SparringTensor,
    dims: *mut u64,
    dims_len: u64,
) -> SparringStatus {
    ffi!({
        let tensor = handle(tensor, "tensor")?;
        if dims.is_null() {
            return Err(Fail::null("dims"));
        }
        // SAFETY: by the contract `dims` has this length.
        unsafe { output(tensor.x.dims(), dims, dims_len, "dims") }
    })
}

/// Number of entries, including stored zeros and duplicates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_nnz(tensor: *const SparringTensor, nnz: *mut u64) -> SparringStatus {
    ffi!({
        let entries = handle(tensor, "tensor")?.x.nnz();
        // SAFETY: by the contract `nnz` points to room for a number.
        unsafe { write(nnz, entries as u64, "nnz") }
    })
}

/// Copies the entries into your arrays, in the form that sparring_tensor_from_coo takes: `indices` has the addresses of
/// an array per mode. NULL omits `indices`, one of its arrays, or `values`, which has the tensor's type. All arrays
/// have room for `nnz_len` elements: SPARRING_LENGTH if that is too short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_tensor_copy(
    tensor: *const SparringTensor,
    indices: *const *mut u64,
    values: *mut c_void,
    nnz_len: u64,
) -> SparringStatus {
    ffi!({
        let tensor = handle(tensor, "tensor")?;
        let x = &tensor.x;
        if !indices.is_null() {
            // SAFETY: by the contract above there is an address for each mode.
            let lists = unsafe { input(indices, x.dims().len(), "indices")? };
            for (mode, &to) in lists.iter().enumerate().filter(|(_, to)| !to.is_null()) {
                fits(x.nnz(), nnz_len, "indices")?;
                // SAFETY: by the contract above each array that is not NULL has this length.
                let copied = unsafe {
                    match x.indices::<u32>(mode) {
                        Some(list) => output_as(list, to, nnz_len, "indices", u64::from),
                        None => output(x.indices::<u64>(mode).unwrap_or(&[]), to, nnz_len, "indices"),
                    }
                };
                copied.map_err(|e| e.at("indices", mode))?;
            }
        }
        // SAFETY: by the contract above an array that is not NULL has this length.
        unsafe { output_values(x.values(), values, nnz_len) }
    })
}

/// Frees a tensor; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_tensor_free(tensor: *mut SparringTensor) -> SparringStatus {
    ffi!({ release(tensor, "tensor") })
}
