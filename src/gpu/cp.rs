//! The steps of CP-ALS between the MTTKRPs, on factors that stay on a device: see `cuda/cp.cu`.
//!
//! Only the last step of a sweep, [`CpSteps::agreement`], waits for the device; it downloads four numbers.

use std::sync::Arc;

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::defines::{Prefix, Setting};
use super::driver::Event;
use super::jit::{Source, Unit, source};
use super::launch::{Program, Shape, args};
use crate::algebra::{Real, Slice, Type};
use crate::tensor::Norm;
use crate::{Dense, Error, Result};

const SOURCE: Source = source!("cp.cu");

/// Largest rank: each warp holds one or two rows in shared memory.
const MOST_RANK: usize = 1024;
/// Most parts of a sum over rows.
const PARTS: usize = 256;
/// Threads of a block that adds up parts.
const MANY: u32 = 1024;
/// Most blocks of a step that assigns a row to each warp.
const BLOCKS: usize = 512;
/// Bytes of `Status` in `cuda/cp.cu`.
const STATUS: usize = 32;

/// Factors on a device, with the state of the iteration.
#[derive(Debug)]
pub(crate) struct CpSteps {
    cuda: Cuda,
    rank: usize,
    dims: Vec<usize>,
    /// All of one type.
    factors: Vec<Arc<RawBuffer>>,
    /// The last product, and the previous value of a factor: sized for the longest mode.
    product: Arc<RawBuffer>,
    before: Arc<RawBuffer>,
    /// Row-major, mode by mode.
    grams: Buffer<f64>,
    system: Buffer<f64>,
    inverse: Buffer<f64>,
    /// Two matrices for systems that do not fit into shared memory.
    scratch: Buffer<f64>,
    weights: Buffer<f64>,
    parts: Buffer<f64>,
    numbers: Buffer<f64>,
    status: Buffer<u8>,
    /// Events around products that are not timed yet, and the time of the others.
    marks: Vec<[Event; 2]>,
    products_ms: f64,
}

/// Rows of each part of a sum over `rows` rows, and the number of parts, at most `most`. They depend on shapes alone,
/// and so does the order of every sum.
fn chunks(rows: usize, most: usize) -> (usize, usize) {
    let chunk = rows.div_ceil(most).max(64);
    (chunk, rows.div_ceil(chunk))
}
/// Most parts of a Gram matrix of `square` elements: 64 MiB.
fn gram_parts(square: usize) -> usize {
    ((1 << 23) / square.max(1)).clamp(1, PARTS)
}

fn settings(ty: Type) -> [Setting; 1] {
    [Setting::Type("Value", ty.cuda())]
}

/// The result of a sweep.
pub(crate) struct SweepStats {
    pub(crate) inner: f64,
    pub(crate) model: f64,
    pub(crate) singular: usize,
}

impl CpSteps {
    /// # Errors
    /// [`Error::Unsupported`] for a rank above the kernels' limit.
    pub(crate) fn check_rank(rank: usize) -> Result<()> {
        if rank <= MOST_RANK {
            return Ok(());
        }
        let (what, why) = (format!("CP of rank {rank} on a GPU"), format!("the largest is {MOST_RANK}"));
        Err(Error::Unsupported { what, why })
    }
    /// Uploads the factors; weights are 1.
    pub(crate) fn new<T: Real>(cuda: &Cuda, factors: &[Dense<T>]) -> Result<Self> {
        let rank = factors.first().map_or(0, Dense::ncols);
        Self::check_rank(rank)?;
        let dims: Vec<usize> = factors.iter().map(Dense::nrows).collect();
        let longest = dims.iter().copied().max().unwrap_or(0);
        let (what, square) = ("factors of CP", rank * rank);
        let alloc = |len| cuda.alloc::<f64>(len, what);
        let part = (gram_parts(square) * square).max(2 * PARTS * rank).max(2 * BLOCKS);
        let mut steps = Self {
            cuda: cuda.clone(),
            rank,
            factors: Vec::new(),
            product: cuda.alloc_raw(T::TYPE, longest * rank, what)?,
            before: cuda.alloc_raw(T::TYPE, longest * rank, what)?,
            grams: alloc(dims.len() * square)?,
            system: alloc(square)?,
            inverse: alloc(square)?,
            scratch: alloc(2 * square)?,
            weights: alloc(rank)?,
            parts: alloc(part)?,
            numbers: alloc(4)?,
            status: cuda.alloc::<u8>(STATUS, what)?,
            marks: Vec::new(),
            products_ms: 0.0,
            dims,
        };
        steps.restart(factors)?;
        Ok(steps)
    }
    /// Restarts with other factors of the same shapes.
    pub(crate) fn restart<T: Real>(&mut self, factors: &[Dense<T>]) -> Result<()> {
        self.factors.clear();
        for factor in factors {
            self.factors.push(self.cuda.put_raw(Slice::of(factor.values()), "factors of CP")?);
        }
        let ones = crate::par::filled(self.rank, 1.0f64, "weights of CP")?;
        self.weights = self.cuda.put(&ones, "weights of CP")?;
        self.cuda.fill_bytes(&self.status, 0)
    }
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }
    pub(crate) fn factors(&self) -> &[Arc<RawBuffer>] {
        &self.factors
    }
    /// The output of the product with the other factors (MTTKRP).
    pub(crate) fn product(&self) -> &RawBuffer {
        &self.product
    }
    /// Enqueues a product between two events.
    pub(crate) fn multiply(&mut self, product: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let start = Event::now(self.cuda.device())?;
        product(self)?;
        self.marks.push([start, Event::now(self.cuda.device())?]);
        Ok(())
    }
    /// Milliseconds of all products so far; waits for them.
    pub(crate) fn products_ms(&mut self) -> Result<f64> {
        for [start, end] in self.marks.drain(..) {
            self.products_ms += start.ms_until(&end)?;
        }
        Ok(self.products_ms)
    }
    fn ty(&self) -> Type {
        self.product.ty()
    }
    fn program(&self) -> Result<Arc<Program>> {
        self.cuda.program_of(SOURCE, Prefix::new("", &settings(self.ty())))
    }

    /// Gₙ = AₙᵀAₙ.
    pub(crate) fn gram(&self, mode: usize) -> Result<()> {
        let (rows, rank, square) = (self.dims[mode], self.rank, self.rank * self.rank);
        let (chunk, count) = chunks(rows, gram_parts(square));
        let tiles = rank.div_ceil(32);
        let shape = Shape::blocks(count * tiles * (tiles + 1) / 2, 256, 0)?;
        let program = self.program()?;
        let arguments = args![&self.factors[mode], rows as u64, rank as u32, chunk as u64, &self.parts];
        program.kernel("gram_parts")?.launch(shape, arguments)?;
        let arguments = args![&self.parts, count as u32, square as u64, self.grams.from(mode * square)];
        program.kernel("sum_parts")?.launch(Shape::for_each(square, 32).map(|s| Shape { block: MANY, ..s })?, arguments)
    }

    /// Aₙ = V Υ⁺, or the nonnegative minimizer.
    pub(crate) fn solve(&self, mode: usize, ridge: f64, nonnegative: bool) -> Result<()> {
        let (rows, rank, n) = (self.dims[mode], self.rank, self.rank as u32);
        let (a, v, status) = (&self.factors[mode], &self.product, &self.status);
        let program = self.program()?;
        let all = (2 * rank * rank + 4 * rank) * 8;
        let all_shared = all + 1024 <= self.cuda.limits().shared_per_block as usize;
        let shared = if all_shared { all } else { 4 * rank * 8 };
        let arguments = args![
            &self.grams,
            self.dims.len() as u32,
            mode as u32,
            n,
            ridge.to_bits(),
            u32::from(all_shared),
            &self.system,
            &self.inverse,
            &self.scratch,
            status,
        ];
        program.kernel("invert_system")?.launch(Shape { grid: 1, block: 512, shared: shared as u32 }, arguments)?;
        // One row for each of 8 warps.
        let a_row = |rows_each: usize| Shape::blocks(rows.div_ceil(8).min(BLOCKS), 256, (64 * rows_each * rank) as u32);
        if nonnegative {
            let arguments = args![a, v, &self.weights, rows as u64, n, &self.system];
            return program.kernel("descend_rows")?.launch(a_row(1)?, arguments);
        }
        let shape = Shape::blocks(rows.div_ceil(64) * rank.div_ceil(32), 256, 0)?;
        let arguments = args![v, &self.inverse, &self.weights, rows as u64, n, status, a, &self.before];
        program.kernel("solve_rows")?.launch(shape, arguments)?;
        let arguments = args![a, &self.before, v, rows as u64, n, &self.system, &self.parts, status];
        program.kernel("judge_rows")?.launch(a_row(1)?, arguments)?;
        let arguments = args![a, &self.before, v, rows as u64, n, &self.system, &self.inverse, &self.parts, status];
        program.kernel("change_rows")?.launch(a_row(2)?, arguments)?;
        let elements = rows * rank;
        let arguments = args![a, &self.before, elements as u64, status];
        program.kernel("restore_rows")?.launch(Shape::blocks(elements.div_ceil(256).min(BLOCKS), 256, 0)?, arguments)
    }

    /// λ = the norms of Aₙ's columns, which are divided by them.
    pub(crate) fn normalize(&self, mode: usize, norm: Norm) -> Result<()> {
        let (rows, rank) = (self.dims[mode], self.rank);
        let (chunk, count) = chunks(rows, PARTS);
        let norm = match norm {
            Norm::MaxAtLeastOne => 0u32,
            Norm::Two => 1,
            Norm::One => 2,
        };
        let shape = Shape::blocks(count * rank.div_ceil(32), 256, 0)?;
        let program = self.program()?;
        let a = &self.factors[mode];
        let arguments = args![a, rows as u64, rank as u32, chunk as u64, norm, &self.parts];
        program.kernel("norm_parts")?.launch(shape, arguments)?;
        let arguments = args![rank as u32, count as u32, norm, &self.parts, &self.weights];
        program.kernel("column_norms")?.launch(Shape::blocks(rank.div_ceil(32), MANY, 0)?, arguments)?;
        let arguments = args![a, (rows * rank) as u64, rank as u32, &self.weights];
        program.kernel("divide_columns")?.launch(Shape::for_each(rows * rank, 256)?, arguments)
    }

    /// ⟨X, M⟩ and ‖M‖², after the product for `mode`, the last one; waits for them.
    pub(crate) fn agreement(&mut self, mode: usize) -> Result<SweepStats> {
        let (rows, n) = (self.dims[mode], self.rank as u32);
        let (chunk, count) = chunks(rows, PARTS);
        let program = self.program()?;
        let (a, v) = (&self.factors[mode], &self.product);
        let arguments = args![a, v, &self.weights, rows as u64, n, chunk as u64, &self.parts];
        program.kernel("agreement_parts")?.launch(Shape::blocks(count, 256, 0)?, arguments)?;
        let order = self.dims.len() as u32;
        let arguments =
            args![&self.parts, count as u32, &self.grams, order, n, &self.weights, &self.status, &self.numbers];
        program.kernel("agreement")?.launch(Shape::blocks(1, 256, 0)?, arguments)?;
        let numbers = self.cuda.get(&self.numbers, "the agreement")?;
        let [inner, model, singular, failed] = numbers[..] else {
            return Err(Error::Length { what: "the agreement", found: numbers.len(), expected: 4 });
        };
        if failed != 0.0 {
            let message = "their Gram matrices overflow f64: scale the tensor".to_owned();
            return Err(Error::Argument { name: "factors", message });
        }
        // The products are complete, so their times are available.
        self.products_ms()?;
        Ok(SweepStats { inner, model, singular: singular as usize })
    }

    /// Downloads weights and factors.
    pub(crate) fn model<T: Real>(&self) -> Result<(Vec<T>, Vec<Dense<T>>)> {
        let weights = self.cuda.get(&self.weights, "weights of CP")?;
        let weights = crate::par::collected(weights.len(), weights.iter().map(|&w| T::from_f64(w)), "weights of CP")?;
        let factor = |(values, &rows): (&Arc<RawBuffer>, &usize)| {
            Dense::new(rows, self.rank, self.cuda.get(&Buffer::<T>::of(Arc::clone(values))?, "factors of CP")?)
        };
        Ok((weights, self.factors.iter().zip(&self.dims).map(factor).collect::<Result<_>>()?))
    }
}

/// Programs to compile without a device.
pub(super) fn programs() -> Vec<Unit> {
    let hot = &["gram_parts", "solve_rows", "norm_parts", "divide_columns", "invert_system", "descend_rows"];
    let unit = |ty| Unit { source: SOURCE, prefix: Prefix::new("", &settings(ty)).text(), hot };
    vec![unit(Type::F32), unit(Type::F64)]
}
