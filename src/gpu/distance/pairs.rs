//! Distances of pairs in one pass over common columns: see `cuda/distance_pairs.cu`.

use std::ops::Range;
use std::sync::Arc;

use super::rows::{Clean, Rows};
use super::tiles::{self, Columns, blocks_at_a_time, rows_of_tile};
use super::way::{Keeps, Pass};
use crate::algebra::Real;
use crate::distance::Side;
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Program, Shape, args};
use crate::gpu::memory::Buffer;
use crate::gpu::{Cuda, DeviceCsr, DevicePattern};
use crate::{Error, Result};

const SOURCE: Source = source!("distance_pairs.cu");
/// The longest list that registers hold, and the longest in shared memory.
const IN_REGISTERS: usize = 32;
const IN_SHARED: usize = 1024;

/// What is made of the pairs; the text that chooses it.
#[derive(Clone, Copy)]
enum Task {
    Pairs,
    Nearest { k: usize },
    Radius { similarity: bool, large: bool },
}

impl Task {
    fn text(self) -> String {
        match self {
            Self::Pairs => "#define PAIRS\n".into(),
            Self::Nearest { k } => format!(
                "#define NEAREST\n#define K_IN_REGISTERS {}\n#define IN_SHARED {}\n",
                u8::from(k <= IN_REGISTERS),
                k > IN_REGISTERS && k <= IN_SHARED
            ),
            Self::Radius { similarity, large } => format!(
                "#define RADIUS\n#define SIMILARITY {similarity}\ntypedef {} OffsetC;\n",
                if large { "unsigned long long" } else { "unsigned int" }
            ),
        }
    }
}

fn prefix<T: Real>(recipe: &str, [x, y, t]: [&str; 3], task: Task) -> String {
    format!(
        "{recipe}typedef {} T;\ntypedef {x} OffsetX;\ntypedef {y} OffsetY;\ntypedef {t} OffsetT;\n{}",
        T::CUDA,
        task.text()
    )
}

/// The nearest rows of Y for each row of X: k numbers a row, and k distances.
pub(super) struct Nearest<T> {
    pub(super) ids: Buffer<u32>,
    pub(super) distances: Buffer<T>,
}

/// Rows of X and Y, ready to be compared.
pub(super) struct Ready<W> {
    pass: Pass,
    x: Arc<Rows<W>>,
    y: Arc<Rows<W>>,
    columns: Columns<W>,
    /// Y is X.
    same: bool,
}

impl<W: Real> Ready<W> {
    /// Prepares rows and their index; without `y` those of `x` among themselves.
    pub(super) fn new<T: Real>(cuda: &Cuda, pass: Pass, x: &Clean<T>, y: Option<&Clean<T>>) -> Result<Self> {
        let prepared = Arc::new(cuda.prepare_rows::<T, W>(&pass, Side::X, x)?);
        let answers = match y {
            None if pass.symmetric => Arc::clone(&prepared),
            _ => Arc::new(cuda.prepare_rows::<T, W>(&pass, Side::Y, y.unwrap_or(x))?),
        };
        let tile = rows_of_tile(answers.nrows(), pass.bytes_of_pair());
        let columns = cuda.columns_of(&answers, tile)?;
        Ok(Self { pass, x: prepared, y: answers, columns, same: y.is_none() })
    }
    /// Rows of X and of Y.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.x.nrows(), self.y.nrows())
    }
    /// What runs, and why.
    pub(super) fn explain(&self) -> String {
        let Columns { tile, tiles, .. } = self.columns;
        let starts = if self.columns.is_searched() { "searched" } else { "indexed" };
        let pairs = match self.pass.keeps {
            Keeps::Norms | Keeps::NormsAndCounts => format!("⊕ is +, summed in {}", W::CUDA),
            Keeps::Ranks => "the largest entries that are not met count beside common columns".into(),
        };
        format!(
            "one pass over common columns: {pairs}; {tiles} tiles of {tile} rows, a warp for a row and a tile, segments {starts}"
        )
    }
    /// Bytes of shared memory of a block.
    fn shared(&self) -> u32 {
        self.columns.tile as u32 * self.pass.bytes_of_pair()
    }
    fn program<T: Real>(&self, cuda: &Cuda, task: Task) -> Result<Arc<Program>> {
        let offsets = [self.x.offset(), self.y.offset(), self.columns.offset()];
        cuda.program(SOURCE, &prefix::<T>(&self.pass.text, offsets, task))
    }
    /// What every kernel is given, for these rows of X, and then `more`.
    fn args(&self, rows: &Range<usize>, more: &[Arg]) -> Vec<Arg> {
        let Columns { tile, tiles, .. } = self.columns;
        let (first, count) = (rows.start as u64, rows.len() as u64);
        let sizes = args![self.y.nrows() as u64, tiles as u64, tile as u32, first, count, u32::from(self.same)];
        [&self.x.args(), &self.y.args(), &self.columns.args()[..], sizes, more].concat()
    }
    /// A block for each of the rows and tiles.
    fn grid(&self, rows: &Range<usize>) -> Result<Shape> {
        Shape::blocks(rows.len().saturating_mul(self.columns.tiles), 32, self.shared())
    }

    /// Distances of these rows of X from all rows of Y, row after row, into `out`.
    pub(super) fn pairs<T: Real>(&self, cuda: &Cuda, rows: Range<usize>, out: &Buffer<T>) -> Result<()> {
        let (n, m) = self.shape();
        let program = self.program::<T>(cuda, Task::Pairs)?;
        let half = self.same && self.pass.symmetric && rows == (0..n);
        let arguments = self.args(&rows, args![u32::from(half), out]);
        program.kernel("all_pairs")?.launch(self.grid(&rows)?, &arguments)?;
        if half {
            let side = n.div_ceil(32);
            let blocks = Shape::blocks(side.saturating_mul(side), 256, 0)?;
            program.kernel("mirror")?.launch(blocks, args![m as u64, side as u64, out])?;
        }
        Ok(())
    }

    /// The `k` nearest rows of Y for each row of X; `k` is at least 1 and at most the rows that there are.
    pub(super) fn nearest<T: Real>(&self, cuda: &Cuda, k: usize, exclude_self: bool) -> Result<Nearest<T>> {
        let (n, _) = self.shape();
        let tiles = self.columns.tiles;
        let program = self.program::<T>(cuda, Task::Nearest { k })?;
        let list = if k > IN_REGISTERS && k <= IN_SHARED { 12 * k as u32 } else { 0 };
        let shared = self.shared() + list;
        // A row's tiles are shared out where rows alone would not keep the device busy four times over.
        let parts = (4 * blocks_at_a_time(cuda.limits(), shared)).div_ceil(n.max(1)).clamp(1, tiles.max(1));
        let tiles_of_part = tiles.div_ceil(parts);
        let parts = tiles.div_ceil(tiles_of_part.max(1));
        let places = |parts: usize| {
            n.checked_mul(parts).and_then(|rows| rows.checked_mul(k)).ok_or(Error::IndexOverflow {
                what: "neighbours",
                needed: n as u128 * parts as u128 * k as u128,
                max: usize::MAX as u128,
            })
        };
        let mut codes = cuda.alloc::<u64>(places(parts)?, "keys of neighbours")?;
        let mut ids = cuda.alloc::<u32>(places(parts)?, "neighbours")?;
        let more = args![k as u32, parts as u32, tiles_of_part as u32, u32::from(exclude_self), &codes, &ids];
        let shape = Shape::blocks(n.saturating_mul(parts), 32, shared)?;
        program.kernel("nearest")?.launch(shape, &self.args(&(0..n), more))?;
        if parts > 1 {
            let merged =
                (cuda.alloc::<u64>(places(1)?, "keys of neighbours")?, cuda.alloc::<u32>(places(1)?, "neighbours")?);
            let arguments = args![n as u64, k as u32, parts as u32, &codes, &ids, &merged.0, &merged.1];
            program.kernel("nearest_of_parts")?.launch(Shape::blocks(n, 32, list)?, arguments)?;
            (codes, ids) = merged;
        }
        let distances = cuda.alloc::<T>(codes.len(), "distances of neighbours")?;
        let shape = Shape::for_each(codes.len(), 256)?;
        program.kernel("distances_of")?.launch(shape, args![&codes, codes.len() as u64, &distances])?;
        Ok(Nearest { ids, distances })
    }

    /// Pairs within `radius`.
    pub(super) fn within<T: Real>(
        &self,
        cuda: &Cuda,
        radius: f64,
        similarity: bool,
        exclude_self: bool,
    ) -> Result<DeviceCsr<T>> {
        let (n, m) = self.shape();
        let tiles = self.columns.tiles;
        let task = |large| Task::Radius { similarity, large };
        let program = self.program::<T>(cuda, task(false))?;
        let counts = cuda.alloc::<u32>(n * tiles, "counts of neighbours")?;
        let (radius, exclude_self) = (radius.to_bits(), u32::from(exclude_self));
        let grid = self.grid(&(0..n))?;
        let arguments = self.args(&(0..n), args![radius, exclude_self, &counts]);
        program.kernel("count_within")?.launch(grid, &arguments)?;
        let (offsets, nnz) = cuda.offsets(&counts, "places of neighbours")?;
        drop(counts);

        let program = self.program::<T>(cuda, task(offsets.is_large()))?;
        let row_ptr = cuda.alloc_offsets(offsets.is_large(), n + 1, "row pointers of neighbours")?;
        let col_idx = cuda.alloc::<u32>(nnz as usize, "neighbours")?;
        let values = cuda.alloc::<T>(nnz as usize, "distances of neighbours")?;
        let rows = Shape::for_each(n + 1, 256)?;
        program.kernel("rows_within")?.launch(rows, args![&offsets, n as u64, tiles as u64, &row_ptr])?;
        let arguments = self.args(&(0..n), args![radius, exclude_self, &offsets, &col_idx, &values]);
        program.kernel("write_within")?.launch(grid, &arguments)?;
        let pattern = DevicePattern::new((n, m), true, row_ptr, col_idx);
        Ok(DeviceCsr { pattern: Arc::new(pattern), values: Arc::new(values) })
    }
}

/// The programs of this file and of those it uses, as they are used.
pub(super) fn programs() -> Vec<Unit> {
    use crate::distance as d;
    use crate::distance::emit_recipe;
    let (small, large) = ("unsigned int", "unsigned long long");
    let unit = |recipe: String, offsets, task, double| Unit {
        source: SOURCE,
        prefix: if double { prefix::<f64>(&recipe, offsets, task) } else { prefix::<f32>(&recipe, offsets, task) },
        hot: match task {
            Task::Pairs => &["all_pairs", "mirror"],
            Task::Nearest { .. } => &["nearest", "nearest_of_parts"],
            Task::Radius { .. } => &["count_within", "write_within"],
        },
    };
    let pairs = Task::Pairs;
    let nearest = |k| Task::Nearest { k };
    let radius = |similarity, large| Task::Radius { similarity, large };
    let own = [
        unit(Pass::chebyshev::<f64>().text, [small; 3], pairs, false),
        unit(Pass::chebyshev::<f32>().text, [small; 3], nearest(10), false),
        unit(emit_recipe(d::Dot::<f64>::new()), [small; 3], pairs, false),
        unit(emit_recipe(d::Cosine::<f32>::new()), [small; 3], pairs, false),
        unit(emit_recipe(d::Minkowski::<f64>::new(3.0)), [small, large, large], pairs, true),
        unit(emit_recipe(d::Minkowski::<f64, u32>::new(3)), [small; 3], pairs, false),
        unit(emit_recipe(d::KullbackLeibler::<f64>::new(false)), [small; 3], pairs, true),
        unit(emit_recipe(d::JensenShannon::<f64>::new(true)), [small; 3], nearest(10), false),
        unit(emit_recipe(d::Jaccard::<f64>::new()), [large, small, small], nearest(100), false),
        unit(emit_recipe(d::Correlation::<f32>::new()), [small; 3], nearest(5000), false),
        unit(emit_recipe(d::Dot::<f64>::new()), [small; 3], radius(true, false), false),
        unit(emit_recipe(d::KullbackLeibler::<f64>::new(true)), [large; 3], radius(false, true), true),
    ];
    own.into_iter().chain(tiles::programs()).collect()
}
