//! Rows sorted by norm, as many as a search is likely to visit: see `cuda/distance_order.cu`.

use std::sync::Arc;

use super::rows::{Beside, Rows};
use crate::Result;
use crate::algebra::Type;
use crate::distance::{DisjointOrder, Float, in_order};
use crate::gpu::Cuda;
use crate::gpu::buffer::{Buffer, RawBuffer};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Program, Shape, args};
use crate::par::{Threads, filled};

const SOURCE: Source = source!("distance_order.cu");

/// The first rows of Y by norm; rows of equal norm by index.
pub(super) struct Order {
    pub(super) rows: Buffer<u32>,
    /// For each row, the end of the rows with its norm; flagged with [`CUT`] if more rows have that norm.
    pub(super) ends: Buffer<u32>,
    /// Whether no row has a norm beyond the last one's.
    pub(super) has_all_norms: bool,
}

fn prefix(of: Type, apart: DisjointOrder) -> String {
    format!("typedef {} W;\n#define FALLS {}\n", of.cuda(), apart == DisjointOrder::Decreasing)
}

/// Flag in the end of a norm: further rows of that norm are left out.
const CUT: u32 = 1 << 31;
/// Norms that may be represented by only some of their rows.
const NORMS: usize = 8;

/// Norms on the device, and the program that scans them.
struct Norms<'a> {
    cuda: &'a Cuda,
    program: Arc<Program>,
    norms: &'a RawBuffer,
}

impl Norms<'_> {
    fn shape(&self) -> Result<Shape> {
        let most = 8 * self.cuda.limits().multiprocessors as usize;
        Shape::blocks(self.norms.len().div_ceil(256).min(most), 256, 0)
    }
    /// The code of row number `most - 1` in order, and the number of rows with smaller codes; `None` if a norm is not
    /// finite.
    fn digits(&self, most: usize) -> Result<Option<(u64, usize)>> {
        const DIGITS: usize = 256;
        let n = self.norms.len() as u64;
        let (mut last, mut before) = (0u64, 0usize);
        for shift in (0..64u32).step_by(8).rev() {
            let counts = self.cuda.zeroed::<u32>(DIGITS + 1, "norms of rows")?;
            let arguments = args![self.norms, n, last, shift, &counts, counts.from(DIGITS)];
            self.program.kernel("count_digits")?.launch(self.shape()?, arguments)?;
            let counts = self.cuda.get(&counts, "norms of rows")?;
            if counts[DIGITS] != 0 {
                return Ok(None);
            }
            let mut digit = 0;
            while digit + 1 < DIGITS && most - before > counts[digit] as usize {
                before += counts[digit] as usize;
                digit += 1;
            }
            last = last << 8 | digit as u64;
        }
        Ok(Some((last, before)))
    }
    /// The least code above this one.
    fn above(&self, last: u64) -> Result<Option<u64>> {
        let next = self.cuda.put(&[u64::MAX], "norms of rows")?;
        let arguments = args![self.norms, self.norms.len() as u64, last, &next];
        self.program.kernel("least_above")?.launch(self.shape()?, arguments)?;
        Ok(Some(self.cuda.get_at(&next, 0)?).filter(|&next| next != u64::MAX))
    }
    /// Number of rows with this code.
    fn count(&self, norm: u64) -> Result<usize> {
        let numbers = self.cuda.put(&[norm, 0], "norms of rows")?;
        let arguments = args![self.norms, self.norms.len() as u64, &numbers, numbers.from(1)];
        self.program.kernel("count_at")?.launch(self.shape()?, arguments)?;
        Ok(self.cuda.get_at(&numbers, 1)? as usize)
    }
    /// The `count` rows with codes from `first` to `last`, in order.
    fn between(&self, first: u64, last: u64, count: usize) -> Result<Vec<(u64, u32)>> {
        let (cuda, n) = (self.cuda, self.norms.len() as u64);
        let (rows, codes) = (cuda.alloc::<u32>(count, "rows in order")?, cuda.alloc::<u64>(count, "norms of rows")?);
        let used = cuda.zeroed::<u32>(1, "rows in order")?;
        let arguments = args![self.norms, n, first, last, &rows, &codes, &used];
        self.program.kernel("rows_between")?.launch(self.shape()?, arguments)?;
        let (rows, codes) = (cuda.get(&rows, "rows in order")?, cuda.get(&codes, "norms of rows")?);
        let mut sorted: Vec<(u64, u32)> = codes.into_iter().zip(rows).collect();
        sorted.sort_unstable();
        Ok(sorted)
    }
    /// The first rows with this code, which has more.
    fn first(&self, norm: u64, most: usize) -> Result<Vec<(u64, u32)>> {
        let rows = self.cuda.alloc::<u32>(most, "rows in order")?;
        let arguments = args![self.norms, self.norms.len() as u64, norm, most as u32, &rows];
        self.program.kernel("rows_at")?.launch(Shape::blocks(1, 1024, 0)?, arguments)?;
        Ok(self.cuda.get(&rows, "rows in order")?.into_iter().map(|row| (norm, row)).collect())
    }
}

impl Order {
    /// At least the first `most` rows, by norms of type `of`; `None` if the norms define no order.
    pub(super) fn new(cuda: &Cuda, y: &Rows, of: Type, apart: DisjointOrder, most: usize) -> Result<Option<Self>> {
        let Beside::Norms(first, second) = &y.beside else { return Ok(None) };
        match of {
            _ if most < y.nrows() => Self::some(cuda, first, of, apart, most),
            Type::F32 => Self::all::<f32>(cuda, [first, second], apart),
            _ => Self::all::<f64>(cuda, [first, second], apart),
        }
    }
    /// All rows, sorted on the host.
    fn all<W: Float>(cuda: &Cuda, norms: [&Arc<RawBuffer>; 2], apart: DisjointOrder) -> Result<Option<Self>> {
        let [first, second] = norms.map(|of| cuda.get(&Buffer::<W>::of(Arc::clone(of))?, "norms of rows"));
        let (first, second) = (first?, second?);
        let Some((rows, groups, _)) = in_order(&Threads::current(), [&first, &second], apart)? else {
            return Ok(None);
        };
        let mut ends = filled(rows.len(), 0u32, "rows in order")?;
        groups.windows(2).for_each(|group| ends[group[0] as usize..group[1] as usize].fill(group[1]));
        let (rows, ends) = (cuda.put(&rows, "rows in order")?, cuda.put(&ends, "rows in order")?);
        Ok(Some(Self { rows, ends, has_all_norms: true }))
    }
    /// A prefix of a longer order: all rows before the norm of row number `most`, and up to `most` rows of that norm
    /// and of each of the following ones, [`NORMS`] in all.
    fn some(cuda: &Cuda, norms: &RawBuffer, of: Type, apart: DisjointOrder, most: usize) -> Result<Option<Self>> {
        let rows = Norms { cuda, program: cuda.program(SOURCE, &prefix(of, apart))?, norms };
        let Some((last, before)) = rows.digits(most)? else { return Ok(None) };
        let mut sorted = if before > 0 { rows.between(0, last - 1, before)? } else { vec![] };
        let mut cut = vec![];
        let mut next = Some(last);
        for _ in 0..NORMS {
            let Some(norm) = next else { break };
            let count = rows.count(norm)?;
            if count > most {
                sorted.extend(rows.first(norm, most)?);
                cut.push(sorted.len());
            } else {
                sorted.extend(rows.between(norm, norm, count)?);
            }
            next = rows.above(norm)?;
        }
        let mut ends = filled(sorted.len(), 0u32, "rows in order")?;
        let mut start = 0;
        for group in sorted.chunk_by(|a, b| a.0 == b.0) {
            let end = start + group.len();
            ends[start..end].fill(end as u32 | if cut.contains(&end) { CUT } else { 0 });
            start = end;
        }
        let rows: Vec<u32> = sorted.iter().map(|&(_, row)| row).collect();
        let (rows, ends) = (cuda.put(&rows, "rows in order")?, cuda.put(&ends, "rows in order")?);
        Ok(Some(Self { rows, ends, has_all_norms: next.is_none() }))
    }
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(super) fn programs() -> Vec<Unit> {
    [(Type::F32, DisjointOrder::Increasing), (Type::F64, DisjointOrder::Decreasing)]
        .map(|(of, apart)| Unit {
            source: SOURCE,
            prefix: prefix(of, apart),
            hot: &["count_digits", "count_at", "least_above", "rows_at", "rows_between"],
        })
        .into()
}
