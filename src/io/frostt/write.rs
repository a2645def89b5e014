//! The FROSTT writer: threads format entries, which are written in order.

use std::io::Write;
use std::path::Path;

use super::value::FrosttValue;
use crate::algebra::{Slice, for_each_type};
use crate::io::text::{LONGEST_VALUE, PART, Stop, comment_lines, in_order, to_file};
use crate::io::{MarketValue, WriteOptions};
use crate::par::try_split;
use crate::tensor::{AnyTensor, Tensor};
use crate::{Error, Index, Result};

/// Writes a tensor as a FROSTT file, entries in their order, compressed if `path` ends in `.gz` or `.zst` (feature
/// `zstd`).
///
/// Reading the file as `T` restores the entries bit for bit, except for NaN payloads: floats are written in the
/// shortest form that reads back exactly. The format has no dimensions: to read a tensor whose last slices are empty,
/// set [`FrosttOptions::dims`](crate::io::FrosttOptions::dims). With [`WriteOptions::pattern_only`], no values are
/// written.
/// ```no_run
/// use sparring::{io::{WriteOptions, write_frostt}, tensor::Tensor};
/// let x = Tensor::<f64>::new(vec![2, 2], vec![vec![0, 1], vec![1, 0]], vec![0.1, 2.0])?;
/// write_frostt("x.tns.gz", &x, &WriteOptions::new().comment("two entries"))?;   // 1 2 0.1, 2 1 2.0
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// [`Error::Io`], which leaves an existing file untouched ([`write_file`](crate::io::write_file)); [`Error::Argument`]
/// for [`WriteOptions::symmetric`]; [`Error::OutOfMemory`].
pub fn write_frostt<T: FrosttValue, I: Index>(
    path: impl AsRef<Path>,
    x: &Tensor<T, I>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    check(options)?;
    to_file(path.as_ref(), &mut |out| entries(out, &lists(x), x.dims(), &text_of(x), options))
}

/// [`write_frostt`] for either index width.
/// # Errors
/// As [`write_frostt`].
pub fn write_frostt_any<T: FrosttValue>(
    path: impl AsRef<Path>,
    x: &AnyTensor<T>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    match x {
        AnyTensor::Narrow(x) => write_frostt(path, x, options),
        AnyTensor::Wide(x) => write_frostt(path, x, options),
    }
}

/// Writes a tensor as FROSTT text to `out`.
/// # Errors
/// As [`write_frostt`]; the path of [`Error::Io`] is `output`.
pub fn write_frostt_to<T: FrosttValue, I: Index>(
    out: &mut dyn Write,
    x: &Tensor<T, I>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    check(options)?;
    entries(out, &lists(x), x.dims(), &text_of(x), options).map_err(|e| e.with_path("output"))
}

/// [`write_frostt`] for a value type known at run time: entry e is `values[e]` at `(indices[0][e], indices[1][e], …)`,
/// with each index below the dimension of its mode.
/// # Errors
/// As [`write_frostt`]; [`Error::Unsupported`] for complex numbers and structs; [`Error::Length`] if there is not one
/// list per dimension, or a list is not as long as the values.
pub fn write_frostt_values<I: Index>(
    path: impl AsRef<Path>,
    dims: &[usize],
    indices: &[&[I]],
    values: Slice<'_>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    check(options)?;
    for (found, expected) in indices.iter().map(|list| (list.len(), values.len())).chain([(indices.len(), dims.len())])
    {
        if found != expected {
            return Err(Error::Length { what: "indices of a tensor", found, expected });
        }
    }
    let Some(text_of) = text_of_any(values) else {
        let what = format!("a FROSTT file of {}", values.ty());
        return Err(Error::Unsupported { what, why: "its values are real numbers".into() });
    };
    to_file(path.as_ref(), &mut |out| entries(out, indices, dims, &*text_of, options))
}

/// A formatter of values; `None` for types that are not real numbers.
fn text_of_any(values: Slice<'_>) -> Option<Box<TextOf<'_>>> {
    macro_rules! text_of {
        ($($variant:ident $t:ty),*) => {$(
            if let Some(x) = values.get::<$t>() {
                return Some(Box::new(move |e, text| x[e].write(text)));
            }
        )*};
    }
    for_each_type!(ordered, text_of!());
    None
}

fn check(options: &WriteOptions<'_>) -> Result<()> {
    if options.symmetric {
        let message = "a tensor is written with all its entries".to_owned();
        return Err(Error::Argument { name: "options", message });
    }
    Ok(())
}

/// Appends the formatted value of an entry.
type TextOf<'a> = dyn Fn(usize, &mut Vec<u8>) + Sync + 'a;

fn lists<T: FrosttValue, I: Index>(x: &Tensor<T, I>) -> Vec<&[I]> {
    x.all_indices().iter().map(|list| &list[..]).collect()
}

fn text_of<T: FrosttValue, I: Index>(x: &Tensor<T, I>) -> impl Fn(usize, &mut Vec<u8>) + Sync {
    let values = x.values();
    move |e, text| values[e].write(text)
}

fn entries<I: Index>(
    out: &mut dyn Write,
    indices: &[&[I]],
    dims: &[usize],
    value: &TextOf<'_>,
    options: &WriteOptions<'_>,
) -> Result<(), Stop> {
    comment_lines(out, "#", options.comment)?;
    let nnz = indices.first().map_or(0, |list| list.len());
    // About as many numbers per part as in a matrix file.
    let part = (3 * PART / (dims.len() + 1)).max(1);
    let parts = try_split(nnz, nnz / part + 1, |e| e as u64).map_err(Stop::Other)?;
    let digits: usize = dims.iter().map(|n| n.max(&1).ilog10() as usize + 2).sum();
    let line = digits + if options.pattern_only { 1 } else { LONGEST_VALUE + 1 };
    in_order(out, options.threads, parts, &|part| part.len().saturating_mul(line), &|part, text| {
        let mut digits = itoa::Buffer::new();
        for e in part {
            for (mode, list) in indices.iter().enumerate() {
                if mode > 0 {
                    text.push(b' ');
                }
                text.extend_from_slice(digits.format(list[e].get() + 1).as_bytes());
            }
            if !options.pattern_only {
                text.push(b' ');
                value(e, text);
            }
            text.push(b'\n');
        }
    })
}
