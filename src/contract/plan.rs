//! The steps of a contraction: their inputs and outputs, and the intermediate memory.
//!
//! The result is cut along its index of largest stride, usually the batch. Each block is a separate piece of memory and
//! goes through all steps before the next block, so that intermediates stay in the cache. Intermediates that do not
//! depend on that index are computed once, beforehand. Where an operand or the result is a group, that index is the
//! batch, and a block is one tensor, so that it has one array of each group.

use super::blocked::Blocked;
use super::einsum::{BATCH, Einsum, INDICES};
use super::folds::Folds;
use super::large;
use super::layout::Layout;
use super::pairs::{Pairs, brings_columns, order_of, shapes};
use super::path::{Set, members, size};
use super::side::{Side, Source};
use super::spans::Spans;
use super::tables::{Shape, table};
use super::target;
use super::view::{View, check_disjoint};
use crate::par::{collected, reserved};
use crate::simd::register;
use crate::{Error, Result};

/// Most elements of a block and its intermediates, unless a single value of the block index has more.
const BLOCK: f64 = 32768.0;
/// Most values of the block index in a block: that many offsets stay in the second-level cache.
const MOST: usize = 4096;
/// Most terms for which columns of an operand are packed.
const PACKED: usize = 2048;
/// Least extent of a contiguous index along which the result may be cut.
const LONG: usize = 256;
/// Columns that are computed together.
pub(super) const COLUMNS: usize = 16;

/// Offsets; the block index is outermost if they depend on it.
#[derive(Debug)]
pub(super) struct Table<const N: usize> {
    offsets: Vec<[usize; N]>,
    /// Offsets per value of the block index.
    each: Option<usize>,
}

impl<const N: usize> Table<N> {
    /// The offsets of a block of `count` values.
    pub(super) fn of(&self, count: usize) -> &[[usize; N]] {
        &self.offsets[..self.each.map_or(self.offsets.len(), |each| each * count)]
    }
    /// Offsets of a whole block.
    pub(super) fn len(&self) -> usize {
        self.offsets.len()
    }
}

/// Loops of a step with two operands A and B: C(l, m, n) = ⊕ₖ A(l, m, k) ⊗ B(l, k, n).
#[derive(Debug)]
pub(super) struct Product {
    pub(super) a: Side,
    pub(super) b: Side,
    /// Offsets in A, B and C.
    pub(super) l: Table<3>,
    /// Offsets in A and C.
    pub(super) m: Table<2>,
    /// Offsets in B and C.
    pub(super) n: Table<2>,
    /// Offsets in A and B.
    pub(super) k: Table<2>,
    pub(super) form: Form,
}

/// The kind of loops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// Square row-major matrices with this many rows; whether they are contiguous in all three.
    Tiny(usize, bool),
    /// An index of all three operands is contiguous in all three: its extent, or `None` if it is the block index.
    Lanes(Option<usize>),
    /// General; whether the columns of B are packed.
    Matrices(bool),
}

/// Loops of a step with one operand: C(o) = ⊕ A(o, k).
#[derive(Debug)]
pub(super) struct Single {
    pub(super) a: Side,
    /// Offsets in A and C.
    pub(super) o: Table<2>,
    /// Offsets in A of all folded indices but the last.
    pub(super) k: Table<1>,
    /// The last one: its extent and its stride.
    pub(super) run: (usize, isize),
}

/// The action of a mass operator; offsets are those of one element.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) directions: usize,
    pub(super) points: usize,
    pub(super) dofs: usize,
    /// The first elements of B, weights and V, and the offsets in each.
    pub(super) basis: (Side, Table<1>),
    pub(super) weights: (Side, Table<1>),
    pub(super) v: (Side, Table<1>),
    /// The distance of elements in U, and the offsets of one.
    pub(super) u: (usize, Table<1>),
}

impl Action {
    pub(super) fn sides(&self) -> [&Side; 3] {
        [&self.basis.0, &self.weights.0, &self.v.0]
    }
}

/// Elements that are computed together, for values of `size` bytes: the lanes of a register, from four to sixteen.
pub(super) fn together(size: usize) -> usize {
    lanes(register(), size)
}
/// The same, for a register of `register` bytes.
pub(super) const fn lanes(register: usize, size: usize) -> usize {
    match register.checked_div(size) {
        None | Some(16..) => 16,
        Some(8..) => 8,
        _ => 4,
    }
}

#[derive(Debug)]
pub(super) enum Loops {
    Product(Product),
    Single(Single),
    Action(Action),
    /// Steps of large tensors, each by all threads.
    Blocked(Blocked),
    Folds(Folds),
}

/// One step. `target` is the intermediate that it produces; `None`: the result.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) loops: Loops,
    pub(super) target: Option<usize>,
}

/// An intermediate tensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intermediate {
    pub(super) len: usize,
    /// Computed once, for all blocks.
    pub(super) once: bool,
}

/// The cut of the result into blocks of `block` of the `extent` values of an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) index: Option<u8>,
    pub(super) extent: usize,
    pub(super) block: usize,
    /// In the result: the first element, the stride of the index, and the reach of one value.
    pub(super) base: usize,
    pub(super) stride: usize,
    pub(super) reach: usize,
}

impl Cut {
    pub(super) fn blocks(&self) -> usize {
        self.extent.div_ceil(self.block)
    }
    /// The first value of block `t`, and the number of its values.
    pub(super) fn values(&self, t: usize) -> (usize, usize) {
        let first = t * self.block;
        (first, self.block.min(self.extent - first))
    }
}

/// A result that is cut along a contiguous index; its runs are separated by the other indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planes {
    /// The extent of that index.
    pub(super) count: usize,
    /// Its values per block.
    pub(super) width: usize,
}

/// A contraction of operands and a result of known layouts.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) intermediates: Vec<Intermediate>,
    pub(super) cut: Cut,
    /// Elements of a thread's buffer of packed columns.
    pub(super) packed: usize,
    /// The cut of its only step, if it is along a contiguous index.
    pub(super) planes: Option<Planes>,
    /// Its tensors are large: each step is computed as a whole, by all threads, before the next.
    pub(super) large: bool,
    /// Span of a large result in its array.
    pub(super) elements: usize,
    pairs: Vec<(usize, usize)>,
    offsets: u128,
}

impl Plan {
    pub(crate) fn new<T: Clone>(
        einsum: &Einsum<'_, T>,
        out: &Layout,
        threads: usize,
        budget: Option<u64>,
    ) -> Result<Self> {
        let (operands, result) = shapes(einsum, out)?;
        check_disjoint(out)?;
        let group = out.is_group() || einsum.operands.iter().any(|x| x.layout().is_group());
        let largest = if out.is_group() { Some(BATCH) } else { largest(&result, &einsum.extents) };
        let index = if group { Some(BATCH) } else { largest };
        let planner = Planner { group, ..Planner::new(einsum, operands, &result, index, budget) };
        let there = |x: &View<'_, T>| x.layout().elements() > 0;
        match einsum.action.filter(|_| largest == Some(BATCH) && einsum.operands.iter().all(there)) {
            Some(directions) => planner.action(einsum, directions, result),
            None => {
                let fits = |plan: &Self| budget.is_none_or(|b| plan.workspace(threads, size_of::<T>()) <= b.into());
                planner.plan(result, fits)
            }
        }
    }
    /// The steps of a contraction to a result of this layout, if its tensors are large and it stays within the budget.
    /// Operands and result are not groups.
    pub(super) fn of_large<T: Clone>(
        einsum: &Einsum<'_, T>,
        out: &Layout,
        threads: usize,
        budget: u128,
    ) -> Result<Option<Self>> {
        let (operands, result) = shapes(einsum, out)?;
        let index = largest(&result, &einsum.extents);
        let sets: Vec<Set> = operands.iter().map(|x| x.set).collect();
        let tree = Pairs::new(&sets, result.set, &einsum.extents)?;
        if !large::contraction(&operands, &tree, &tree.remaining, (&result, index), &einsum.extents) {
            return Ok(None);
        }
        let plan = Planner::new(einsum, operands, &result, index, None).large(&tree, &result)?;
        Ok(Some(plan).filter(|plan| plan.workspace(threads, size_of::<T>()) <= budget))
    }
    /// The pairs that are contracted, in order; the k-th produces number n + k.
    pub(crate) fn path(&self) -> &[(usize, usize)] {
        &self.pairs
    }
    /// Bytes besides operands and result, for values of `size` bytes and `threads` threads.
    pub(crate) fn workspace(&self, threads: usize, size: usize) -> u128 {
        let sum = |once| self.intermediates.iter().filter(|b| b.once == once).map(|b| b.len as u128).sum::<u128>();
        if self.large {
            let step = |step: &Step| match &step.loops {
                Loops::Blocked(product) => product.workspace(threads, size),
                Loops::Folds(folds) => folds.workspace(threads, size),
                _ => 0,
            };
            let locks =
                |step: &Step| target::workspace(step.target.map_or(self.elements, |t| self.intermediates[t].len));
            let each = self.steps.iter().map(|s| step(s) + locks(s)).max().unwrap_or(0);
            return self.offsets + sum(false) * size as u128 + each;
        }
        let each = sum(false) + self.packed as u128;
        let threads = threads.min(self.cut.blocks()).max(1) as u128;
        self.offsets + (sum(true) + threads * each) * size as u128
    }
}

/// The state of planning.
struct Planner {
    extents: [usize; INDICES],
    /// As `extents`, but one block of the block index.
    blocked: [usize; INDICES],
    /// Indices in order of appearance.
    order: Vec<u8>,
    operands: Vec<Shape>,
    cut: Cut,
    steps: Vec<Step>,
    intermediates: Vec<Intermediate>,
    pub(super) packed: usize,
    offsets: u128,
    budget: Option<u64>,
    /// Some of its tensors are groups.
    group: bool,
}

impl Planner {
    fn new<T>(
        einsum: &Einsum<'_, T>,
        operands: Vec<Shape>,
        result: &Shape,
        index: Option<u8>,
        budget: Option<u64>,
    ) -> Self {
        let extents = einsum.extents;
        let order = order_of(einsum);
        let longer = |i: &u8| extents[usize::from(*i)] > 1;
        // Strides of a written tensor are positive, and its last position lies in an array.
        let reach = |i: u8| result.stride(i) as usize * (extents[usize::from(i)] - 1);
        let cut = Cut {
            index,
            extent: index.map_or(1, |i| extents[usize::from(i)]),
            block: 1,
            base: result.base,
            stride: index.map_or(0, |i| result.stride(i) as usize),
            reach: members(result.set).filter(longer).filter(|&i| Some(i) != index).map(reach).sum(),
        };
        let (steps, intermediates) = (vec![], vec![]);
        let (blocked, group) = (extents, false);
        Self { extents, blocked, order, operands, cut, steps, intermediates, packed: 0, offsets: 0, budget, group }
    }

    /// The single step of an action, cut along the batch.
    fn action<T>(mut self, einsum: &Einsum<'_, T>, directions: usize, u: Shape) -> Result<Plan> {
        let indices = |k: usize| einsum.subscripts.operands[k].letters.iter().map(|l| l.0).collect::<Vec<_>>();
        let table = |planner: &mut Self, k: usize| -> Result<(Side, Table<1>)> {
            let shape = planner.operands[k].clone();
            let offsets = planner.offsets(&indices(k), [&shape])?;
            Ok((planner.side(&(Source::Operand(k), shape)), offsets))
        };
        let basis = table(&mut self, 0)?;
        let weights = table(&mut self, directions)?;
        let v = table(&mut self, 2 * directions + 1)?;
        let letters: Vec<u8> = einsum.subscripts.result.letters.iter().map(|l| l.0).collect();
        let u_set = u.set;
        let u = (self.cut.stride, self.offsets(&letters, [&u])?);
        let [points, dofs] = [0, 1].map(|t| einsum.extents[usize::from(indices(0)[t])]);
        let values = points.max(dofs).checked_pow(directions as u32).and_then(|n| n.checked_mul(2));
        let lanes = together(size_of::<T>());
        let scratch = values.and_then(|n| n.checked_mul(lanes)).and_then(|n| n.checked_add(2 * points * dofs));
        self.packed = scratch.ok_or(Error::OutOfMemory { what: "einsum", bytes: u128::MAX })?;
        self.choose_block(u_set, &[]);
        if !self.group {
            self.cut.block = self.cut.block.next_multiple_of(lanes);
        }
        let action = Action { directions, points, dofs, basis, weights, v, u };
        self.steps.push(Step { loops: Loops::Action(action), target: None });
        Ok(self.finish(vec![], None))
    }

    /// The steps; those of large tensors if they `fit` the budget.
    fn plan(mut self, result: Shape, fit: impl Fn(&Plan) -> bool) -> Result<Plan> {
        let (mut pairs, mut planes) = (vec![], None);
        if members(result.set).all(|i| self.extents[usize::from(i)] > 0) {
            let n = self.operands.len();
            let sets: Vec<Set> = self.operands.iter().map(|x| x.set).collect();
            let tree = Pairs::new(&sets, result.set, &self.extents)?;
            let (remaining, reduced) = (&tree.remaining, &tree.remaining[..n]);
            // Small contractions skip the test.
            let all: f64 = self.order.iter().map(|&i| self.extents[usize::from(i)] as f64).product();
            if !self.group
                && all >= large::WORTH
                && large::contraction(&self.operands, &tree, reduced, (&result, self.cut.index), &self.extents)
            {
                let plan = self.large(&tree, &result)?;
                if fit(&plan) {
                    return Ok(plan);
                }
            }
            planes = self.choose_planes(&result).filter(|_| reduced == sets);
            match planes {
                Some(_) => self.cut.block = self.cut.extent,
                None => self.choose_block(result.set, &remaining[n..]),
            }
            let mut shapes = reserved(n + tree.order.len(), "steps")?;
            self.steps = reserved(n + tree.order.len(), "steps")?;
            self.intermediates = reserved(n + tree.order.len(), "steps")?;
            for (k, (operand, &left)) in std::mem::take(&mut self.operands).into_iter().zip(reduced).enumerate() {
                let own = (Source::Operand(k), operand);
                shapes.push(if left == own.1.set {
                    own
                } else {
                    let shape = self.dense(&[left], &[&own.1])?;
                    let target = self.target(&shape)?;
                    self.single(&own, &shape, Some(target))?;
                    (Source::Intermediate(target), shape)
                });
            }
            for (step, &pair) in tree.order.iter().enumerate() {
                let (i, j) = tree.rows_first(pair, &self.extents);
                let (a, b) = (shapes[i].clone(), shapes[j].clone());
                if step + 1 == tree.order.len() {
                    self.product(&a, &b, &result, None)?;
                } else {
                    let shape =
                        self.dense(&[remaining[n + step] & a.1.set, remaining[n + step] & !a.1.set], &[&a.1, &b.1])?;
                    let target = self.target(&shape)?;
                    self.product(&a, &b, &shape, Some(target))?;
                    shapes.push((Source::Intermediate(target), shape));
                }
            }
            if n == 1 {
                self.single(&shapes[0], &result, None)?;
            }
            pairs = tree.order;
        }
        Ok(self.finish(pairs, planes))
    }
    fn finish(self, pairs: Vec<(usize, usize)>, planes: Option<Planes>) -> Plan {
        let Self { steps, intermediates, cut, packed, offsets, .. } = self;
        Plan { steps, intermediates, cut, packed, planes, large: false, elements: 0, pairs, offsets }
    }

    /// The steps of a contraction that is computed as a whole, step by step.
    fn large(&self, tree: &Pairs, result: &Shape) -> Result<Plan> {
        let n = self.operands.len();
        let mut planner = Self {
            extents: self.extents,
            blocked: self.extents,
            order: collected(self.order.len(), self.order.iter().copied(), "steps")?,
            operands: vec![],
            cut: Cut { index: None, extent: 1, block: 1, stride: 0, ..self.cut },
            steps: reserved(n + tree.order.len(), "steps")?,
            intermediates: reserved(n + tree.order.len(), "steps")?,
            packed: 0,
            offsets: 0,
            budget: self.budget,
            group: false,
        };
        let mut shapes = reserved(n + tree.order.len(), "steps")?;
        for (k, (operand, &left)) in self.operands.iter().zip(&tree.remaining).enumerate() {
            let own = (Source::Operand(k), operand.clone());
            shapes.push(if left == operand.set {
                own
            } else {
                let shape = planner.dense(&[left], &[operand])?;
                let target = planner.target(&shape)?;
                planner.folds((&own, None), &shape, Some(target))?;
                (Source::Intermediate(target), shape)
            });
        }
        for (step, &pair) in tree.order.iter().enumerate() {
            let (i, j) = tree.rows_first(pair, &self.extents);
            let (a, b) = (shapes[i].clone(), shapes[j].clone());
            if step + 1 == tree.order.len() {
                planner.large_product(&a, &b, result, None)?;
            } else {
                let remaining = tree.remaining[n + step];
                let shape = planner.dense(&[remaining & a.1.set, remaining & !a.1.set], &[&a.1, &b.1])?;
                let target = planner.target(&shape)?;
                planner.large_product(&a, &b, &shape, Some(target))?;
                shapes.push((Source::Intermediate(target), shape));
            }
        }
        if n == 1 {
            planner.folds((&shapes[0], None), result, None)?;
        }
        let pairs = collected(tree.order.len(), tree.order.iter().copied(), "steps")?;
        // The result's span ends at its last element.
        let last = members(result.set).map(|i| result.stride(i) as usize * (self.extents[usize::from(i)] - 1));
        let elements = last.sum::<usize>() + 1;
        Ok(Plan { large: true, elements, ..planner.finish(pairs, None) })
    }

    /// C(l, m, n) = ⊕ₖ A(l, m, k) ⊗ B(l, k, n) by blocks, or by folds where A has one row.
    fn large_product(
        &mut self,
        a: &(Source, Shape),
        b: &(Source, Shape),
        c: &Shape,
        target: Option<usize>,
    ) -> Result<()> {
        let (a, b) = if brings_columns(&a.1, &b.1, c, &self.extents) { (b, a) } else { (a, b) };
        let (x, y) = (&a.1, &b.1);
        let rows = c.set & x.set & !y.set;
        let one = members(rows).all(|i| self.extents[usize::from(i)] == 1);
        if one {
            return self.folds((a, Some(b)), c, target);
        }
        let l = self.spans(&self.falling(c.set & !(x.set ^ y.set), c), [x, y, c])?;
        let m = self.spans(&self.falling(rows, c), [x, c])?;
        let n = self.spans(&self.falling(c.set & y.set & !x.set, c), [y, c])?;
        let k = self.spans(&self.folded((x.set | y.set) & !c.set), [x, y])?;
        let (a, b) = (self.side(a), self.side(b));
        self.steps.push(Step { loops: Loops::Blocked(Blocked { a, b, l, m, n, k }), target });
        Ok(())
    }

    /// C(o) = ⊕ₖ A(o, k) ⊗ B(o, k), or without B.
    fn folds(
        &mut self,
        (a, b): (&(Source, Shape), Option<&(Source, Shape)>),
        c: &Shape,
        target: Option<usize>,
    ) -> Result<()> {
        let none = Shape::new(0);
        let (x, y) = (&a.1, b.map_or(&none, |b| &b.1));
        let o = self.spans(&self.falling(c.set, c), [x, y, c])?;
        let k = self.spans(&self.folded((x.set | y.set) & !c.set), [x, y])?;
        let wide = Folds::is_wide(&o, &k, b.is_some());
        let (a, b) = (self.side(a), b.map(|b| self.side(b)));
        self.steps.push(Step { loops: Loops::Folds(Folds { a, b, o, k, wide }), target });
        Ok(())
    }

    /// Indices by decreasing stride.
    fn falling(&self, set: Set, by: &Shape) -> Vec<u8> {
        let mut indices: Vec<u8> = members(set).collect();
        indices.sort_by_key(|&i| std::cmp::Reverse(by.stride(i)));
        indices
    }

    /// Offsets of indices in this order.
    fn spans<const N: usize>(&mut self, indices: &[u8], shapes: [&Shape; N]) -> Result<Spans<N>> {
        let spans = Spans::new(indices, &self.extents, shapes)?;
        self.offsets = self.offsets.saturating_add(spans.bytes());
        Ok(spans)
    }

    /// Chooses the number of values of the block index that are computed at once.
    fn choose_block(&mut self, result: Set, intermediates: &[Set]) {
        let Some(index) = self.cut.index else { return };
        let of = |set: &Set| size(set & !(1 << index), &self.extents);
        let each: f64 = of(&result) + intermediates.iter().filter(|s| *s >> index & 1 == 1).map(of).sum::<f64>();
        // A NaN or huge float becomes 0 or the largest integer.
        let block = ((BLOCK / each) as usize).clamp(1, MOST.min(self.cut.extent));
        self.cut.block = if self.group { 1 } else { block };
        self.blocked[usize::from(index)] = self.cut.block;
    }

    /// Cuts a product along the index that is contiguous in all three, if its extent exceeds the product of all others
    /// in C: interleaved batches.
    fn choose_planes(&mut self, result: &Shape) -> Option<Planes> {
        let [x, y] = &self.operands[..] else { return None };
        let index = self.lane(x, y, result).filter(|&i| Some(i) != self.cut.index)?;
        let count = self.extents[usize::from(index)];
        let others = size(result.set & !(1 << index), &self.extents);
        if count < LONG || count as f64 <= others || self.group {
            return None;
        }
        // `others` is less than `count`, so its casts to integers are safe. The width is a multiple of the number of
        // columns that are computed together.
        let width = (BLOCK / others / COLUMNS as f64) as usize;
        let width = width.clamp(1, MOST / COLUMNS) * COLUMNS;
        // The start of each run of each block, in all three.
        let slot = (size_of::<[usize; 3]>() + count.div_ceil(width) * size_of::<&[u8]>()) as u128;
        self.offsets += others as u128 * slot;
        Some(Planes { count, width })
    }

    /// The innermost index of C, if it is contiguous in all three.
    fn lane(&self, x: &Shape, y: &Shape, c: &Shape) -> Option<u8> {
        c.closest(&self.extents).filter(|&i| [x, y, c].iter().all(|s| s.set >> i & 1 == 1 && s.stride(i) == 1))
    }

    /// A row-major tensor of one block: the block index first, then the indices of each group by decreasing stride in
    /// its source.
    fn dense(&self, groups: &[Set], from: &[&Shape]) -> Result<Shape> {
        let all = groups.iter().fold(0, |s, g| s | g);
        let mut order: Vec<u8> = self.cut.index.filter(|i| all >> i & 1 == 1).into_iter().collect();
        for (&group, shape) in groups.iter().zip(from) {
            let mut indices: Vec<u8> = members(group).filter(|i| Some(*i) != self.cut.index).collect();
            indices.sort_by_key(|&i| std::cmp::Reverse(shape.stride(i)));
            order.extend(indices);
        }
        let mut shape = Shape::new(0);
        let mut stride = 1u128;
        for &index in order.iter().rev() {
            let fits = isize::try_from(stride).map_err(|_| Error::OutOfMemory { what: "einsum", bytes: stride })?;
            shape.with(index, fits);
            stride = stride.saturating_mul(self.blocked[usize::from(index)] as u128);
        }
        Ok(shape)
    }

    /// Allocates an intermediate.
    fn target(&mut self, shape: &Shape) -> Result<usize> {
        let extents = members(shape.set).map(|i| self.blocked[usize::from(i)] as u128);
        let len = extents.fold(1u128, u128::saturating_mul);
        let len = usize::try_from(len).map_err(|_| Error::OutOfMemory { what: "einsum", bytes: len })?;
        let once = self.cut.index.is_some_and(|i| shape.set >> i & 1 == 0);
        self.intermediates.push(Intermediate { len, once });
        Ok(self.intermediates.len() - 1)
    }

    fn side(&self, (source, shape): &(Source, Shape)) -> Side {
        let along = self.cut.index.map_or(0, |i| shape.stride(i));
        Side { source: *source, base: shape.base, stride: if matches!(source, Source::Operand(_)) { along } else { 0 } }
    }

    /// The offsets of some indices: the block index first, then by decreasing stride in `shapes[by]`.
    fn table<const N: usize>(&mut self, set: Set, by: usize, shapes: [&Shape; N]) -> Result<Table<N>> {
        let mut indices: Vec<u8> = members(set).collect();
        indices.sort_by_key(|&i| (Some(i) != self.cut.index, std::cmp::Reverse(shapes[by].stride(i))));
        self.offsets(&indices, shapes)
    }
    fn offsets<const N: usize>(&mut self, indices: &[u8], shapes: [&Shape; N]) -> Result<Table<N>> {
        let len = indices.iter().map(|&i| self.blocked[usize::from(i)] as u128).fold(1, u128::saturating_mul);
        let bytes = self.offsets.saturating_add(len.saturating_mul(size_of::<[usize; N]>() as u128));
        if let Some(budget) = self.budget.filter(|&budget| bytes > budget.into()) {
            return Err(Error::Budget { what: "einsum", bytes, budget: budget.into() });
        }
        self.offsets = bytes;
        let offsets = table(indices, &self.blocked, shapes)?;
        let blocked = indices.first().is_some_and(|i| Some(*i) == self.cut.index);
        let each = blocked.then(|| offsets.len() / self.cut.block);
        Ok(Table { offsets, each })
    }
    /// Folded indices in order of appearance.
    fn folded(&self, set: Set) -> Vec<u8> {
        self.order.iter().copied().filter(|i| set >> i & 1 == 1).collect()
    }

    fn single(&mut self, a: &(Source, Shape), c: &Shape, target: Option<usize>) -> Result<()> {
        let mut folded = self.folded(a.1.set & !c.set);
        let run = folded.pop().map_or((1, 0), |i| (self.extents[usize::from(i)], a.1.stride(i)));
        let k = self.offsets(&folded, [&a.1])?;
        let o = self.table(c.set, 1, [&a.1, c])?;
        self.steps.push(Step { loops: Loops::Single(Single { a: self.side(a), o, k, run }), target });
        Ok(())
    }

    fn product(&mut self, a: &(Source, Shape), b: &(Source, Shape), c: &Shape, target: Option<usize>) -> Result<()> {
        let (a, b) = if brings_columns(&a.1, &b.1, c, &self.extents) { (b, a) } else { (a, b) };
        let (x, y) = (&a.1, &b.1);
        let lane = self.lane(x, y, c);
        let l = c.set & !(x.set ^ y.set) & !lane.map_or(0, |i| 1 << i);
        let l = self.table(l, 2, [x, y, c])?;
        let m = self.table(c.set & x.set & !y.set, 1, [x, c])?;
        let n = self.table(c.set & y.set & !x.set, 1, [y, c])?;
        let k = self.offsets(&self.folded((x.set | y.set) & !c.set), [x, y])?;
        let form = match lane {
            Some(i) => Form::Lanes((Some(i) != self.cut.index).then_some(self.extents[usize::from(i)])),
            None => match square(&m, &n, &k) {
                Some(rows) => {
                    let follows = |(i, at): (usize, &[usize; 3])| *at == [i * rows * rows; 3];
                    Form::Tiny(rows, l.offsets.iter().enumerate().all(follows))
                }
                None => {
                    let gaps = n.offsets.chunks(COLUMNS).any(|block| !follow(block, 0));
                    // Values of a column that follow one another are transposed faster than one row gathers them.
                    let follows = k.offsets.len() * n.offsets.len() >= 32 && follow(&k.offsets, 1);
                    let worth = gaps && (m.offsets.len() > 4 || follows) && k.offsets.len() <= PACKED;
                    self.packed = self.packed.max(if worth { k.offsets.len() * COLUMNS } else { 0 });
                    Form::Matrices(worth)
                }
            },
        };
        let loops = Loops::Product(Product { a: self.side(a), b: self.side(b), l, m, n, k, form });
        self.steps.push(Step { loops, target });
        Ok(())
    }
}

/// The index of the largest stride of a result.
fn largest(result: &Shape, extents: &[usize; INDICES]) -> Option<u8> {
    members(result.set).filter(|&i| extents[usize::from(i)] > 1).max_by_key(|&i| result.stride(i))
}

/// Whether offsets in tensor `t` are contiguous.
pub(super) fn follow(block: &[[usize; 2]], t: usize) -> bool {
    block.windows(2).all(|w| w[1][t] == w[0][t].wrapping_add(1))
}

/// The number of rows, if all three are row-major squares of at most sixteen.
fn square(m: &Table<2>, n: &Table<2>, k: &Table<2>) -> Option<usize> {
    let rows = m.offsets.len();
    let whole = m.each.is_none() && n.each.is_none() && (1..=16).contains(&rows);
    let by = |table: &Table<2>, a: usize, c: usize| {
        table.offsets.len() == rows && table.offsets.iter().enumerate().all(|(i, at)| *at == [i * a, i * c])
    };
    (whole && by(m, rows, rows) && by(n, 1, 1) && by(k, 1, rows)).then_some(rows)
}
