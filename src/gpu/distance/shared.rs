//! Neighbours where few pairs share a column (output-sensitive kNN): see `cuda/distance_shared.cu`.
//!
//! The pairs of rows of X and Y that share a column are the pattern of a product, X·Yᵀ. Its values are their sums,
//! folded in column order as the tiles fold them, so the keys have the same bits. Rows that share none follow in order
//! of their norms.

use std::sync::{Arc, Mutex, PoisonError};

use super::engine::Lists;
use super::order::{self, Order};
use super::pass::{Keeps, Pass};
use super::rows::Rows;
use super::tiles::Columns;
use crate::algebra::{PlusPair, Printed, Type, printed_ring};
use crate::distance::{DisjointOrder, Search};
use crate::gpu::Cuda;
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Program, Shape, args};
use crate::gpu::spgemm::plan_of;
use crate::{Error, Result, spgemm};

const SOURCE: Source = source!("distance_shared.cu");

/// Approximate picoseconds: per pair by tiles; per column that a pair shares, by tiles (`COLUMN_BY_TILES`) and by a
/// product (`COLUMN_BY_PRODUCT`); and per row of X. Measured on an H200
/// (`benches/results/2026-11-27-h200-neighbours-shared.md`): on email-Enron, where pairs share 0.04 columns on average,
/// both algorithms take about the same time.
const PAIR: f64 = 3.5;
const COLUMN_BY_TILES: f64 = 50.0;
const COLUMN_BY_PRODUCT: f64 = 80.0;
const ROW: f64 = 5_000.0;
/// Fixed cost of a product.
const PRODUCT: f64 = 1e9;
/// Rows of the norm order to precompute, beside four times k.
const LIKELY: usize = 4096;

/// Rows of X and of Y.
pub(super) struct Sides<'a> {
    pub(super) x: &'a Rows,
    pub(super) y: &'a Rows,
    pub(super) columns: &'a Columns,
    /// Global indices of the first rows.
    pub(super) firsts: [usize; 2],
    /// Whether X and Y are rows of one matrix.
    pub(super) same: bool,
    /// Type of the distances.
    pub(super) of: Type,
}

/// Total number of columns that pairs share, if the search is to visit only the pairs that share one.
pub(super) fn count(cuda: &Cuda, pass: &Pass, sides: &Sides<'_>) -> Result<Option<u64>> {
    let (n, m) = (sides.x.nrows(), sides.y.nrows());
    let by_tiles = PAIR * n as f64 * m as f64;
    let few = pass.search == Search::Auto && by_tiles < PRODUCT;
    let refused = pass.apart == DisjointOrder::Unknown || pass.ring.is_none() || m > i32::MAX as usize;
    if pass.search == Search::Tiles || refused || few {
        return Ok(None);
    }
    let common = sides.columns.shared_columns(cuda, &sides.x.matrix)?;
    let whole = PRODUCT + COLUMN_BY_PRODUCT * common as f64 + ROW * n as f64;
    Ok((pass.search == Search::Shared || whole < by_tiles + COLUMN_BY_TILES * common as f64).then_some(common))
}

fn prefix(recipe: &str, of: Type, [x, y, s]: [&str; 3], k: usize, largest: bool) -> String {
    let lists = Lists::text(k, largest);
    format!(
        "{recipe}typedef {} T;\ntypedef {x} OffsetX;\ntypedef {y} OffsetY;\ntypedef {y} OffsetT;\ntypedef {s} OffsetS;\n{lists}",
        of.cuda()
    )
}

impl Sides<'_> {
    /// The k nearest; `None` if the norms define no order.
    pub(super) fn nearest(
        &self,
        cuda: &Cuda,
        pass: &Pass,
        orders: &Orders,
        k: usize,
        exclude_self: bool,
    ) -> Result<Option<Lists>> {
        let Some(ring) = &pass.ring else { return Ok(None) };
        let likely = k.saturating_mul(4).saturating_add(LIKELY).min(self.y.nrows());
        let Some(order) = orders.get(cuda, self.y, pass, likely)? else { return Ok(None) };
        let (a, b) = (&self.x.matrix, self.columns.transposed());
        let plan = plan_of(cuda, Arc::clone(&a.pattern), Arc::clone(&b.pattern), None, &spgemm::Options::default())?;
        let sums = cuda.numeric_raw(&plan, ring, a, b)?;
        let shared = match pass.keeps {
            Keeps::NormsAndCounts => Some(cuda.numeric_raw(&plan, &ones(pass.of), a, b)?.values),
            Keeps::Norms | Keeps::Ranks => None,
        };
        let lists = Lists::new(cuda, self.x.nrows(), k)?;
        let s = &*sums.pattern;
        let offsets = [self.x.offset(), self.y.offset(), s.row_ptr.cuda()];
        let kernel = program(cuda, pass, self.of, offsets, k)?.kernel("nearest_sharing")?;
        let shift = (self.firsts[0] as u64).wrapping_sub(self.firsts[1] as u64);
        let shape = Shape::blocks(self.x.nrows(), 32, Lists::shared(k))?;
        // Searches, and returns whether the rows in order sufficed.
        let search = |order: &Order| {
            let unfinished = cuda.zeroed::<u32>(1, "unfinished rows")?;
            let product = args![&s.row_ptr, &s.col_idx, &sums.values, shared.as_deref(), &order.rows, &order.ends];
            let has = [order.len() == self.y.nrows(), order.has_all_norms].map(u32::from);
            let sizes = args![order.len() as u64, has[0], has[1], u32::from(self.same), shift, self.firsts[1] as u32];
            let rest = args![k as u32, u32::from(exclude_self), &lists.codes, &lists.ids, &unfinished];
            let all: Vec<Arg> = [&self.x.args(), &self.y.args(), &product[..], &sizes[..], &rest[..]].concat();
            kernel.launch(shape, &all)?;
            Ok::<_, Error>(has[0] == 1 || cuda.get_at(&unfinished, 0)? == 0)
        };
        if !search(&order)? {
            let Some(order) = orders.get(cuda, self.y, pass, self.y.nrows())? else { return Ok(None) };
            search(&order)?;
        }
        Ok(Some(lists))
    }
}

/// Rows by norm, computed on first use: those likely to suffice, or all.
#[derive(Default)]
pub(super) struct Orders(Mutex<Option<Arc<Order>>>);

impl Orders {
    /// At least the first `most` rows by norm; `None` if the norms define no order.
    fn get(&self, cuda: &Cuda, y: &Rows, pass: &Pass, most: usize) -> Result<Option<Arc<Order>>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(order) = known.as_ref().filter(|order| order.len() >= most.min(y.nrows())) {
            return Ok(Some(Arc::clone(order)));
        }
        let found = Order::new(cuda, y, pass.of, pass.apart, most)?.map(Arc::new);
        known.clone_from(&found);
        Ok(found)
    }
}

/// The semiring that counts common columns.
fn ones(of: Type) -> Arc<Printed> {
    match of {
        Type::F32 => printed_ring(PlusPair::<f32>::default()),
        _ => printed_ring(PlusPair::<f64>::default()),
    }
}

/// The program for lists of k neighbours; `offsets` are the types of the row pointers of X, of Y and of the product.
pub(super) fn program(cuda: &Cuda, pass: &Pass, of: Type, offsets: [&str; 3], k: usize) -> Result<Arc<Program>> {
    cuda.program(SOURCE, &prefix(&pass.text, of, offsets, k, pass.largest))
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(super) fn programs() -> Vec<Unit> {
    use crate::distance as d;
    use crate::distance::emit_recipe;
    let (small, large) = ("unsigned int", "unsigned long long");
    let unit = |recipe: String, of, offsets, k, largest| Unit {
        source: SOURCE,
        prefix: prefix(&recipe, of, offsets, k, largest),
        hot: &["nearest_sharing"],
    };
    let own = vec![
        unit(emit_recipe(d::Cosine::<f64>::new()), Type::F64, [small; 3], 10, false),
        unit(emit_recipe(d::Dot::<f32>::new()), Type::F32, [small, small, large], 100, true),
        unit(emit_recipe(d::Jaccard::<f64>::new()), Type::F32, [large; 3], 5000, false),
    ];
    [own, order::programs()].concat()
}
