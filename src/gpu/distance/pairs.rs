//! Distances of pairs in one pass over common columns: see `cuda/distance_pairs.cu`.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::engine::{Lists, Part, Radius, Ready, Sizes, counts};
use super::pass::{Keeps, Pass};
use super::rows::Rows;
use super::shared::{self, Orders, Sides};
use super::tiles::{self, Columns, blocks_at_a_time, rows_of_tile};
use crate::algebra::Type;
use crate::distance::Side;
use crate::gpu::Cuda;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::csr::{DevicePattern, RawCsr};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Program, Shape, args};
use crate::{Error, Result};

const SOURCE: Source = source!("distance_pairs.cu");

/// The task, which selects the program text.
#[derive(Clone, Copy)]
enum Task {
    Pairs,
    Nearest { k: usize, largest: bool },
    Radius { similarity: bool, large: bool },
}

impl Task {
    fn text(self) -> String {
        match self {
            Self::Pairs => "#define PAIRS\n".into(),
            Self::Nearest { k, largest } => Lists::text(k, largest),
            Self::Radius { similarity, large } => Radius::text(similarity, large),
        }
    }
}

fn prefix(recipe: &str, of: Type, [x, y, t]: [&str; 3], task: Task) -> String {
    format!(
        "{recipe}typedef {} T;\ntypedef {x} OffsetX;\ntypedef {y} OffsetY;\ntypedef {t} OffsetT;\n{}",
        of.cuda(),
        task.text()
    )
}

/// Bytes for the rows of X, and for those of Y with everything else, during a comparison.
pub(super) fn bytes(pass: &Pass, sizes: &Sizes) -> [u128; 2] {
    let Sizes { nrows: (n, m), ncols, nnz } = *sizes;
    let tile = rows_of_tile(m, nnz.1 as f64 / ncols.max(1) as f64, pass.bytes_of_pair(), pass.splits());
    // Columns and entries of X; those of Y by rows and by columns, with the sort's workspace; norms; an index.
    let x = 12 * nnz.0 as u128 + 16 * n as u128;
    let y = 44 * nnz.1 as u128 + 16 * m as u128 + 8 * ncols as u128;
    [x, y + u128::from(tiles::starts(ncols, m.div_ceil(tile), 4, 12 * nnz.1 as u64).unwrap_or(0))]
}

/// Rows of Y and their index, for later rows of X.
pub(super) struct IndexedRows {
    rows: Arc<Rows>,
    columns: Arc<Columns>,
    /// Rows by norm, once they are needed.
    order: Arc<Orders>,
    /// Global index of the first row.
    first: usize,
}

impl IndexedRows {
    pub(super) fn new(cuda: &Cuda, pass: &Pass, y: &Part) -> Result<Self> {
        Self::of(cuda, pass, Arc::new(cuda.prepare_rows(pass, Side::Y, &y.rows)?), y.first)
    }
    fn of(cuda: &Cuda, pass: &Pass, rows: Arc<Rows>, first: usize) -> Result<Self> {
        let of = &*rows.matrix.pattern;
        let column = of.nnz as f64 / of.ncols.max(1) as f64;
        let tile = rows_of_tile(of.nrows, column, pass.bytes_of_pair(), pass.splits());
        let columns = Arc::new(cuda.columns_of(&rows, tile)?);
        Ok(Self { rows, columns, order: Arc::default(), first })
    }
}

/// Rows of X and Y, and an index of the rows of Y.
pub(super) struct OnePass {
    pass: Pass,
    /// Type of the entries and of the distances.
    of: Type,
    x: Arc<Rows>,
    y: Arc<Rows>,
    columns: Arc<Columns>,
    order: Arc<Orders>,
    /// The decision of the first neighbour search: the total number of columns that pairs share, if it visited only
    /// pairs that share one; `None` if it visited all.
    shared: OnceLock<Option<u64>>,
    /// Global indices of the first rows.
    firsts: [usize; 2],
    /// Whether X and Y are rows of one matrix.
    same: bool,
    /// Whether Y is X.
    itself: bool,
}

impl OnePass {
    pub(super) fn new(cuda: &Cuda, pass: &Pass, x: &Part, y: Option<&Part>, same: bool) -> Result<Self> {
        let prepared = Arc::new(cuda.prepare_rows(pass, Side::X, &x.rows)?);
        let index = match y {
            None if pass.symmetric => IndexedRows::of(cuda, pass, Arc::clone(&prepared), x.first)?,
            _ => IndexedRows::new(cuda, pass, y.unwrap_or(x))?,
        };
        Ok(Self { same, itself: y.is_none(), ..Self::of(pass, x, prepared, &index) })
    }
    /// Rows of X against indexed rows.
    pub(super) fn with_index(cuda: &Cuda, pass: &Pass, x: &Part, index: &IndexedRows) -> Result<Self> {
        let prepared = Arc::new(cuda.prepare_rows(pass, Side::X, &x.rows)?);
        Ok(Self::of(pass, x, prepared, index))
    }
    fn of(pass: &Pass, x: &Part, prepared: Arc<Rows>, index: &IndexedRows) -> Self {
        let IndexedRows { rows, columns, order, first } = index;
        Self {
            pass: pass.clone(),
            of: x.rows.matrix.ty(),
            x: prepared,
            y: Arc::clone(rows),
            columns: Arc::clone(columns),
            order: Arc::clone(order),
            shared: OnceLock::new(),
            firsts: [x.first, *first],
            same: false,
            itself: false,
        }
    }
    /// Numbers of rows of X and of Y.
    fn shape(&self) -> (usize, usize) {
        (self.x.nrows(), self.y.nrows())
    }
    /// Bytes of shared memory per block.
    fn shared(&self) -> u32 {
        self.columns.tile as u32 * self.pass.bytes_of_pair()
    }
    /// Types of the row pointers of X, of Y and of its transpose.
    fn offsets(&self) -> [&'static str; 3] {
        [self.x.offset(), self.y.offset(), self.columns.offset()]
    }
    fn program(&self, cuda: &Cuda, task: Task) -> Result<Arc<Program>> {
        cuda.program(SOURCE, &prefix(&self.pass.text, self.of, self.offsets(), task))
    }
    /// The arguments common to all kernels for these rows of X, then `more`.
    fn args(&self, rows: &Range<usize>, more: &[Arg]) -> Vec<Arg> {
        let Columns { tile, tiles, .. } = *self.columns;
        let (first, count) = (rows.start as u64, rows.len() as u64);
        // Row i of this X is row i + shift of this Y.
        let shift = (self.firsts[0] as u64).wrapping_sub(self.firsts[1] as u64);
        let sizes = args![self.y.nrows() as u64, tiles as u64, tile as u32, first, count, u32::from(self.same), shift];
        [&self.x.args(), &self.y.args(), &self.columns.args()[..], sizes, more].concat()
    }
    /// The k nearest rows by way of the rows that share a column, if the query demands it or it is estimated to be
    /// faster than comparing all rows, and if memory allows it.
    fn nearest_sharing(&self, cuda: &Cuda, k: usize, exclude_self: bool) -> Result<Option<Lists>> {
        let Self { pass, x, y, columns, order, firsts, .. } = self;
        let sides = Sides { x, y, columns, firsts: *firsts, same: self.same, of: self.of };
        let found =
            shared::count(cuda, pass, &sides)?.map(|pairs| (pairs, sides.nearest(cuda, pass, order, k, exclude_self)));
        let (pairs, lists) = match found {
            Some((pairs, Ok(Some(lists)))) => (Some(pairs), Some(lists)),
            Some((_, Err(e))) if !matches!(e, Error::DeviceMemory { .. }) => return Err(e),
            _ => (None, None),
        };
        // The first decision holds for later searches.
        let _ = self.shared.set(pairs);
        Ok(lists)
    }
    /// One block per row and tile.
    fn grid(&self, rows: &Range<usize>) -> Result<Shape> {
        Shape::blocks(rows.len().saturating_mul(self.columns.tiles), 32, self.shared())
    }
}

impl Ready for OnePass {
    fn explain(&self) -> String {
        let Columns { tile, tiles, .. } = *self.columns;
        let starts = if self.columns.is_searched() { "searched" } else { "indexed" };
        let pairs = match self.pass.keeps {
            Keeps::Norms | Keeps::NormsAndCounts => format!("⊕ is +, summed in {}", self.pass.of.cuda()),
            Keeps::Ranks => "outside common columns only the largest entries count".into(),
        };
        if let Some(Some(common)) = self.shared.get() {
            let (n, m) = self.shape();
            let each = *common as f64 / (n as f64 * m as f64).max(1.0);
            return format!(
                "one pass over the rows that share a column, {each:.2e} per pair: {pairs}, by product; others by norm"
            );
        }
        format!(
            "one pass over common columns: {pairs}; {tiles} tiles of {tile} rows, a warp per row and tile; segments {starts}"
        )
    }

    fn pairs(&self, cuda: &Cuda, rows: Range<usize>, out: &RawBuffer) -> Result<()> {
        let (n, m) = self.shape();
        let program = self.program(cuda, Task::Pairs)?;
        let half = self.itself && self.pass.symmetric && rows == (0..n);
        let arguments = self.args(&rows, args![u32::from(half), out]);
        program.kernel("all_pairs")?.launch(self.grid(&rows)?, &arguments)?;
        if half {
            let side = n.div_ceil(32);
            let blocks = Shape::blocks(side.saturating_mul(side), 256, 0)?;
            program.kernel("mirror")?.launch(blocks, args![m as u64, side as u64, out])?;
        }
        Ok(())
    }

    fn nearest_program(&self, cuda: &Cuda, k: usize) -> Result<Arc<Program>> {
        match self.shared.get() {
            Some(Some(_)) => shared::program(cuda, &self.pass, self.of, self.offsets(), k),
            _ => self.program(cuda, Task::Nearest { k, largest: self.pass.largest }),
        }
    }

    fn nearest(&self, cuda: &Cuda, k: usize, exclude_self: bool) -> Result<Lists> {
        if let Some(lists) = self.nearest_sharing(cuda, k, exclude_self)? {
            return Ok(lists);
        }
        let (n, _) = self.shape();
        let tiles = self.columns.tiles;
        let program = self.program(cuda, Task::Nearest { k, largest: self.pass.largest })?;
        let shared = self.shared() + Lists::shared(k);
        // The tiles of a row are distributed over several warps where the rows alone would not fill the device four
        // times.
        let parts = (4 * blocks_at_a_time(cuda.limits(), shared)).div_ceil(n.max(1)).clamp(1, tiles.max(1));
        let tiles_of_part = tiles.div_ceil(parts).max(1);
        let parts = tiles.div_ceil(tiles_of_part).max(1);
        let lists = Lists::new(cuda, counts(n, parts)?, k)?;
        let first_y = self.firsts[1] as u32;
        let sizes = args![first_y, k as u32, parts as u32, tiles_of_part as u32, u32::from(exclude_self)];
        let more = [&sizes[..], args![&lists.codes, &lists.ids]].concat();
        let shape = Shape::blocks(n.saturating_mul(parts), 32, shared)?;
        program.kernel("nearest")?.launch(shape, &self.args(&(0..n), &more))?;
        if parts == 1 {
            return Ok(lists);
        }
        let merged = Lists::new(cuda, n, k)?;
        lists.merge_into(&program, [n, k, parts], &merged, 0)?;
        Ok(merged)
    }

    fn within(&self, cuda: &Cuda, wanted: &Radius, allows: &dyn Fn(u128) -> Result<()>) -> Result<RawCsr> {
        let (n, m) = self.shape();
        let tiles = self.columns.tiles;
        let task = |large| Task::Radius { similarity: wanted.similarity, large };
        let program = self.program(cuda, task(false))?;
        let counts = cuda.alloc::<u32>(counts(n, tiles)?, "counts of neighbours")?;
        let (radius, exclude_self) = (wanted.radius.to_bits(), u32::from(wanted.exclude_self));
        let grid = self.grid(&(0..n))?;
        let arguments = self.args(&(0..n), args![radius, exclude_self, &counts]);
        program.kernel("count_within")?.launch(grid, &arguments)?;
        let (offsets, nnz) = cuda.offsets(&counts, "offsets of neighbours")?;
        allows(u128::from(counts.bytes() + offsets.bytes()) + bytes_within(self.of, n, nnz))?;
        drop(counts);

        let program = self.program(cuda, task(offsets.is_large()))?;
        let row_ptr = cuda.alloc_offsets(offsets.is_large(), n + 1, "row pointers of neighbours")?;
        let col_idx = cuda.alloc::<u32>(nnz as usize, "neighbours")?;
        let values = cuda.alloc_raw(self.of, nnz as usize, "distances of neighbours")?;
        let rows = Shape::for_each(n + 1, 256)?;
        program.kernel("rows_within")?.launch(rows, args![&offsets, n as u64, tiles as u64, &row_ptr])?;
        let arguments = self.args(&(0..n), args![radius, exclude_self, &offsets, &col_idx, &values]);
        program.kernel("write_within")?.launch(grid, &arguments)?;
        let pattern = DevicePattern::new((n, m), true, row_ptr, col_idx);
        Ok(RawCsr::new(pattern, values))
    }
}

/// Bytes of a result with `nnz` neighbours of `n` rows.
pub(super) fn bytes_within(of: Type, n: usize, nnz: u64) -> u128 {
    8 * (n as u128 + 1) + u128::from(nnz) * (4 + of.size() as u128)
}

/// The programs of this file and of those that it uses with representative settings, and for the passes in `formulas`.
pub(super) fn programs(formulas: &[Pass]) -> Vec<Unit> {
    use crate::distance as d;
    use crate::distance::emit_recipe;
    let (small, large) = ("unsigned int", "unsigned long long");
    let unit = |recipe: String, offsets, task, double| Unit {
        source: SOURCE,
        prefix: prefix(&recipe, if double { Type::F64 } else { Type::F32 }, offsets, task),
        hot: match task {
            Task::Pairs => &["all_pairs", "mirror"],
            Task::Nearest { .. } => &["nearest", "nearest_of_parts"],
            Task::Radius { .. } => &["count_within", "write_within"],
        },
    };
    let pairs = Task::Pairs;
    let nearest = |k| Task::Nearest { k, largest: false };
    let radius = |similarity, large| Task::Radius { similarity, large };
    let own = [
        unit(Pass::chebyshev::<f64>().text.to_string(), [small; 3], pairs, false),
        unit(Pass::chebyshev::<f32>().text.to_string(), [small; 3], nearest(10), false),
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
    let said = formulas.iter().flat_map(|pass| {
        [pairs, nearest(10)].map(|task| unit(pass.text.to_string(), [small; 3], task, pass.of == Type::F64))
    });
    own.into_iter().chain(said).chain(shared::programs()).chain(tiles::programs()).collect()
}
