//! The CPU as an [`Engine`].

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::{Call, DistanceEngine, Engine, MaskSpec, Object, Op, Operand, TriangleEngine, unfit};
use crate::algebra::{Array, Slice, SliceMut, Type};
use crate::distance::{Float, Measure, Options as DistanceOptions};
use crate::graph::{TriangleMethod, Triangles, triangles, triangles_per_edge, triangles_per_vertex};
use crate::ops::by_formula::{self, Band, Ewise, Rearrange};
use crate::ops::{Direction, Pairing, products};
use crate::par::{Threads, note};
use crate::runtime::distances::{Comparison, Neighbours, with_float};
use crate::runtime::index::{EngineIndex, RowIndex};
use crate::runtime::matrix::{Matrix, Sum};
use crate::runtime::operator::{BinaryOp, UnaryOp};
use crate::runtime::plan::{EnginePlan, Plan, Stats};
use crate::runtime::product::Product;
use crate::runtime::scalar::Scalar;
use crate::runtime::semiring::Semiring;
use crate::runtime::vector::Vector;
use crate::sparse::{self, IndexList, VectorPattern};
use crate::spgemm::{self, Options};
use crate::{Cpu, Csr, Error, Isa, Pattern, Result};

impl Engine for Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }
    fn describe(&self) -> String {
        format!("cpu, {} threads, {}", Cpu::threads(self).count(), Isa::running())
    }
    fn wait(&self) -> Result<()> {
        Ok(())
    }
    fn holds(&self, x: Operand<'_>) -> bool {
        match x {
            Operand::Matrix(a) => a.is_on_host(),
            Operand::Vector(x) => x.is_on_host(),
        }
    }
    fn made(&self, plan: &Plan) -> bool {
        plan.of::<spgemm::Plan>().is_ok()
    }
    fn upload(&self, x: Operand<'_>) -> Result<Object> {
        Ok(match x {
            Operand::Matrix(a) => a.download()?.into(),
            Operand::Vector(x) => x.download()?.into(),
        })
    }
    fn run(&self, call: &Call<'_>) -> Result<Object> {
        // Masked entries are not computed: kernels of products and folds take the mask, other vector operands are
        // masked first.
        let threads = Cpu::threads(self);
        Ok(match (call.op, call.a, call.b) {
            (Op::Mxm(ring, options), Operand::Matrix(a), Some(Operand::Matrix(b))) => {
                self.product(ring, a, b, call.mask, options)?.into_matrix().into()
            }
            (Op::Mxv(ring), Operand::Matrix(a), Some(Operand::Vector(x))) => {
                let mask = vector_mask_of(call.mask)?;
                Vector::of(by_formula::mxv(threads, ring.compiled(), a.operand()?, x.view()?, mask)?)?.into()
            }
            (Op::Vxm(ring), Operand::Vector(x), Some(Operand::Matrix(a))) => {
                let mask = vector_mask_of(call.mask)?;
                Vector::of(by_formula::vxm(threads, ring.compiled(), x.view()?, a.operand()?, mask)?)?.into()
            }
            (Op::ReduceRows(monoid), Operand::Matrix(a), None) => {
                let mask = vector_mask_of(call.mask)?;
                Vector::of(by_formula::reduce_rows(threads, monoid.compiled(), a.operand()?, mask)?)?.into()
            }
            (op, Operand::Matrix(a), None) => self.allowed(self.of_matrix(op, a)?, call.mask)?,
            (op, Operand::Vector(x), None) if op.moves() => self.allowed(self.of_vector(op, x)?, call.mask)?,
            (op, Operand::Matrix(a), Some(Operand::Matrix(b))) => {
                self.allowed(self.of_matrices(op, a, b)?.into(), call.mask)?
            }
            (op, Operand::Vector(x), None) => self.of_vector(op, &*allowed_entries(x, call.mask)?)?,
            (op, Operand::Vector(x), Some(Operand::Vector(y))) => {
                self.of_vectors(op, &*allowed_entries(x, call.mask)?, &*allowed_entries(y, call.mask)?)?.into()
            }
            _ => return Err(unfit()),
        })
    }
    fn symbolic(&self, a: &Matrix, b: &Matrix, mask: Option<MaskSpec<'_>>, options: &Options) -> Result<Plan> {
        let (a, b) = (a.operand()?, b.operand()?);
        let request = spgemm::Request { options, budget: self.budget(), mask: mask_of(mask)? };
        Ok(Plan::new(spgemm::symbolic(Cpu::threads(self), a.pattern, b.pattern, &request)?))
    }
    fn numeric(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        let (a, b) = (a.operand()?, b.operand()?);
        let (pattern, values) =
            spgemm::numeric_any(Cpu::threads(self), self.budget(), plan.of()?, ring.compiled(), a, b)?;
        Matrix::new(pattern, values)
    }
    fn product(
        &self,
        ring: &Semiring,
        a: &Matrix,
        b: &Matrix,
        mask: Option<MaskSpec<'_>>,
        options: &Options,
    ) -> Result<Product> {
        let (a, b) = (a.operand()?, b.operand()?);
        let request = spgemm::Request { options, budget: self.budget(), mask: mask_of(mask)? };
        let (info, values) = spgemm::mxm_any(Cpu::threads(self), &request, ring.compiled(), a, b)?;
        Ok(Product::one_pass(Matrix::new(Arc::clone(&info.c), values)?, info))
    }
    fn numeric_into(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix, c: &mut Matrix) -> Result<()> {
        let (operands, planned) = ((a.operand()?, b.operand()?), plan.of()?);
        if let Some((pattern, mut values)) = c.unshared() {
            let (threads, budget, ring) = (Cpu::threads(self), self.budget(), ring.compiled());
            return spgemm::numeric_any_into(threads, budget, planned, ring, operands, &pattern, &mut values);
        }
        // The values are shared, possibly with an operand of this call: the other owner keeps them.
        planned.check_result(c.operand()?.pattern)?;
        *c = self.numeric(plan, ring, a, b)?;
        Ok(())
    }
    fn spmm(&self, ring: &Semiring, a: &Matrix, x: Slice<'_>, columns: usize) -> Result<Array> {
        by_formula::spmm(Cpu::threads(self), ring.compiled(), a.operand()?, x, columns)
    }
    fn spmm_into(&self, ring: &Semiring, a: &Matrix, x: (Slice<'_>, usize), y: &mut SliceMut<'_>) -> Result<()> {
        by_formula::spmm_into(Cpu::threads(self), ring.compiled(), a.operand()?, x, y)
    }
    fn is_by_rows(&self, ring: &Semiring, at: &Matrix, x: &Vector, mask: Option<MaskSpec<'_>>) -> Result<bool> {
        let (at, x) = (at.download()?, x.download()?);
        let ((len, rows), x) = (at.shape(), x.view()?);
        let allowed = vector_mask_of(mask)?.map_or(rows, |mask| mask.count());
        let add = ring.compiled().formula().add();
        let stops = add.is_last() || add.terminal().is_some() && ring.ty() == Type::Bool;
        let (entries, products) = (x.pattern().nnz(), products(at.operand()?.pattern, x.pattern()));
        Ok(Direction { rows, allowed, nnz: at.nnz(), len, entries, products, stops }.is_by_rows())
    }
    fn retain(&self, x: &mut Vector, mask: &Vector, complement: bool) -> Option<Result<()>> {
        let mask = mask.view().map(|mask| mask.pattern());
        Some(mask.and_then(|pattern| x.retain(sparse::MaskSpec::new(pattern, complement))))
    }
    fn put(&self, x: &mut Vector, t: &Vector, op: Option<&BinaryOp>) -> Option<Result<()>> {
        note(|| format!("write into: {}; {}", x.described(), t.described()));
        let threads = Cpu::threads(self);
        Some(match op.map(|op| by_formula::joins(op.compiled())) {
            None => x.put(threads, t, None),
            Some(joins) => joins.and_then(|joins| x.put(threads, t, Some(&joins))),
        })
    }
    fn retain_matrix(&self, a: &mut Matrix, mask: &Matrix, complement: bool) -> Option<Result<()>> {
        let retained =
            mask.structure().and_then(|m| a.retain(Cpu::threads(self), sparse::MaskSpec::new(&m, complement)));
        done_in_place(retained)
    }
    fn put_matrix(&self, a: &mut Matrix, t: &Matrix, op: Option<&BinaryOp>) -> Option<Result<()>> {
        note(|| format!("write into: {}; {}", a.described(), t.described()));
        let threads = Cpu::threads(self);
        let put = match op.map(|op| by_formula::joins(op.compiled())) {
            None => a.put(threads, t, &|x, y| x.copy_from(y)),
            Some(joins) => joins.and_then(|joins| a.put(threads, t, &joins)),
        };
        if let Some(done) = done_in_place(put) {
            note(|| "  in place, by position".into());
            return Some(done);
        }
        note(|| "  not in place: the union is a new matrix".into());
        let joined = match op {
            Some(op) => self.of_matrices(Op::EwiseAdd(op), a, t),
            None => a.put_over(threads, t),
        };
        Some(joined.and_then(|joined| a.replace(&joined)))
    }
    fn assign(
        &self,
        c: &mut Matrix,
        a: &Matrix,
        part: (&IndexList, &IndexList),
        mask: Option<(&Matrix, bool)>,
    ) -> Option<Result<()>> {
        // Writing a bitmap or full matrix in place costs only the size of the part.
        if c.has_dense_form() || !c.is_on_host() || !a.is_on_host() || mask.is_some_and(|(mask, _)| !mask.is_on_host())
        {
            return None;
        }
        note(|| format!("assign: {}; {}", c.described(), a.described()));
        note(|| "  in one pass over the rows: rows outside the list are copied, the others merged".into());
        Some(c.assigned(Cpu::threads(self), a, part, mask).and_then(|made| c.replace(&made)))
    }
    fn fill(&self, c: &mut Matrix, s: &Scalar, mask: &Matrix) -> Option<Result<()>> {
        if c.has_dense_form() || !c.is_on_host() || !mask.is_on_host() || mask.has_dense_form() {
            return None;
        }
        let filled = c.fill_masked(Cpu::threads(self), s.constant().slice(), mask);
        Some(filled.and_then(|made| c.replace(&made)))
    }
    fn row_counts(&self, a: &Matrix) -> Result<Vector> {
        Vector::of(by_formula::counts(Cpu::threads(self), a.operand()?.pattern)?)
    }
    fn best_of_rows(&self, a: &Matrix, greatest: bool) -> Result<Vector> {
        let found = by_formula::column_of_best(Cpu::threads(self), a.operand()?, greatest);
        Vector::of(found.ok_or_else(|| Error::Unsupported {
            what: format!("the minimum or maximum of {}", a.ty()),
            why: "these values have no order".into(),
        })??)
    }
    fn column_counts(&self, a: &Matrix) -> Option<Result<Vector>> {
        match a.operand() {
            Ok(a) => by_formula::column_counts(Cpu::threads(self), a.pattern).map(|made| Vector::of(made?)),
            Err(e) => Some(Err(e)),
        }
    }
    fn sum(&self, a: &Matrix) -> Result<Sum> {
        a.sum()
    }
    fn threads(&self) -> Option<&Threads> {
        Some(Cpu::threads(self))
    }
    fn triangles(&self) -> Option<&dyn TriangleEngine> {
        Some(self)
    }
    fn distances(&self) -> Option<&dyn DistanceEngine> {
        Some(self)
    }
}

/// The result of an in-place write; `None` if it was not in place.
fn done_in_place(written: Result<bool>) -> Option<Result<()>> {
    match written {
        Ok(true) => Some(Ok(())),
        Ok(false) => None,
        Err(e) => Some(Err(e)),
    }
}

/// The pattern of a mask, and whether it is complemented.
fn mask_of(mask: Option<MaskSpec<'_>>) -> Result<Option<(&Pattern, bool)>> {
    match mask {
        None => Ok(None),
        Some(MaskSpec { structure: Operand::Matrix(m), complement }) => Ok(Some((m.operand()?.pattern, complement))),
        Some(_) => Err(unfit()),
    }
}

/// The mask of a vector.
fn vector_mask_of(mask: Option<MaskSpec<'_>>) -> Result<Option<sparse::MaskSpec<'_, VectorPattern>>> {
    match mask {
        None => Ok(None),
        Some(MaskSpec { structure: Operand::Vector(m), complement }) => {
            Ok(Some(sparse::MaskSpec::new(m.view()?.pattern(), complement)))
        }
        Some(_) => Err(unfit()),
    }
}

/// The entries of a vector that the mask allows.
fn allowed_entries<'a>(x: &'a Vector, mask: Option<MaskSpec<'_>>) -> Result<Cow<'a, Vector>> {
    Ok(match vector_mask_of(mask)? {
        None => Cow::Borrowed(x),
        Some(mask) => Cow::Owned(x.retained(mask)?),
    })
}

impl Cpu {
    /// Applies the operation to the value array of a bitmap or full matrix; `None` for another form, or a positional
    /// operator.
    fn of_dense_form(&self, op: Op<'_>, a: &Matrix) -> Result<Option<Object>> {
        let by_value = match op {
            Op::Apply(f) | Op::Select(f) => !f.compiled().is_positional(),
            Op::Reduce(_) => true,
            _ => false,
        };
        if !by_value || !a.has_dense_form() {
            return Ok(None);
        }
        Ok(Some(match self.of_vector(op, &a.places(Cpu::threads(self))?)? {
            Object::Vector(made) => Matrix::from_row_major(a.shape(), &made)?.into(),
            scalar => scalar,
        }))
    }
    fn of_matrix(&self, op: Op<'_>, a: &Matrix) -> Result<Object> {
        let threads = Cpu::threads(self);
        if let Some(made) = self.of_dense_form(op, a)? {
            return Ok(made);
        }
        Ok(match op {
            Op::Apply(f) => {
                let a = a.operand()?;
                Matrix::new(Arc::clone(a.pattern), by_formula::apply(threads, f.compiled(), a, f.scalar()?)?)?.into()
            }
            Op::Select(f) => {
                let a = a.sorted(threads)?;
                let k = f.scalar()?.get::<i64>().filter(|_| f.compiled().is_positional());
                if let Some(band) = k.and_then(|k| Band::named(f.compiled().builtin()?, k)) {
                    return Ok(a.rearranged(threads, Rearrange::Band(band))?.into());
                }
                let keeps = by_formula::keeps(f.compiled(), a.operand()?, f.scalar()?)?;
                a.rearranged(threads, Rearrange::Select(&keeps))?.into()
            }
            Op::Reduce(monoid) => {
                let sum = by_formula::reduce(threads, monoid.compiled(), a.operand()?.values)?;
                Scalar::only(sum.slice())?.into()
            }
            Op::Transpose => a.rearranged(threads, Rearrange::Transpose)?.into(),
            Op::Identity => a.clone().into(),
            Op::Extract(rows, cols) => a.sorted(threads)?.rearranged(threads, Rearrange::Extract(rows, cols))?.into(),
            Op::ExtractColumn(rows, j) => self.line(a, rows, &(j..j.saturating_add(1)).into())?,
            Op::ExtractRow(i, cols) => self.line(a, &(i..i.saturating_add(1)).into(), cols)?,
            Op::Place(rows, cols, shape) => a.rearranged(threads, Rearrange::Place(rows, cols, shape))?.into(),
            Op::Within(rows, cols) => a.sorted(threads)?.rearranged(threads, Rearrange::Within(rows, cols))?.into(),
            Op::Diagonal(k) => Vector::of(by_formula::diagonal(threads, a.sorted(threads)?.operand()?, k)?)?.into(),
            _ => return Err(unfit()),
        })
    }
    fn of_vector(&self, op: Op<'_>, x: &Vector) -> Result<Object> {
        let threads = Cpu::threads(self);
        let where_holds = |f: &UnaryOp| by_formula::select_pattern(threads, f.compiled(), x.view()?, f.scalar()?);
        Ok(match op {
            Op::Apply(f) => {
                Vector::of(by_formula::apply_vector(threads, f.compiled(), x.view()?, f.scalar()?)?)?.into()
            }
            Op::Select(f) => x.retained(sparse::MaskSpec::new(&where_holds(f)?, false))?.into(),
            Op::Reduce(monoid) => {
                Scalar::only(by_formula::reduce_vector(threads, monoid.compiled(), x.view()?)?.slice())?.into()
            }
            Op::Identity => x.clone().into(),
            Op::Extract(list, all) if all.is_all() => {
                Vector::of(by_formula::extract_vector(threads, x.view()?, list)?)?.into()
            }
            Op::Place(list, _, (len, _)) => {
                Vector::of(by_formula::place_vector(threads, x.view()?, list, len)?)?.into()
            }
            Op::Within(list, _) => {
                let within = VectorPattern::of_list(list, x.len())?;
                x.retained(sparse::MaskSpec::new(&within, false))?.into()
            }
            Op::Scatter(list, len, dup) => {
                Vector::of(by_formula::scatter_fold(threads, x.view()?, list, len, dup.compiled())?)?.into()
            }
            Op::Diag(k) => {
                let (pattern, values) = by_formula::diagonal_matrix(threads, x.view()?, k)?;
                Matrix::new(pattern, values)?.into()
            }
            _ => return Err(unfit()),
        })
    }
    /// A row or a column of A(I, J) as a vector.
    fn line(&self, a: &Matrix, rows: &IndexList, cols: &IndexList) -> Result<Object> {
        let threads = Cpu::threads(self);
        Ok(a.sorted(threads)?.rearranged(threads, Rearrange::Extract(rows, cols))?.places(threads)?.into())
    }
    fn of_matrices(&self, op: Op<'_>, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        let threads = Cpu::threads(self);
        let each = matches!(op, Op::EwiseAdd(_) | Op::EwiseUnion(..) | Op::Pairs(Pairing::EwiseMult, _));
        if each && (a.has_dense_form() || b.has_dense_form()) && a.shape() == b.shape() {
            let made = self.of_vectors(op, &a.places(threads)?, &b.places(threads)?)?;
            return Matrix::from_row_major(a.shape(), &made);
        }
        let sorts = !matches!(op, Op::Pairs(pairing, _) if !pairing.sorts());
        let (a, b) = if sorts { (a.sorted(threads)?, b.sorted(threads)?) } else { (a.clone(), b.clone()) };
        let (left, right) = (a.operand()?, b.operand()?);
        let (pattern, values) = match op {
            Op::EwiseAdd(op) => by_formula::ewise(threads, op.compiled(), (left, right), Ewise::Add)?,
            Op::EwiseUnion(op, for_a, for_b) => {
                let ewise = Ewise::Union(for_a.constant(), for_b.constant());
                by_formula::ewise(threads, op.compiled(), (left, right), ewise)?
            }
            Op::Pairs(pairing, op) => pairing.by_formula(threads, op.compiled(), left, right)?,
            _ => return Err(unfit()),
        };
        Matrix::new(pattern, values)
    }
    fn of_vectors(&self, op: Op<'_>, x: &Vector, y: &Vector) -> Result<Vector> {
        let (op, ewise) = match op {
            Op::EwiseAdd(op) => (op, Ewise::Add),
            Op::EwiseUnion(op, for_a, for_b) => (op, Ewise::Union(for_a.constant(), for_b.constant())),
            Op::Pairs(Pairing::EwiseMult, op) => (op, Ewise::Mult),
            _ => return Err(unfit()),
        };
        Vector::of(by_formula::ewise_vectors(Cpu::threads(self), op.compiled(), (x.view()?, y.view()?), ewise)?)
    }
    /// The entries of a result that the mask allows.
    fn allowed(&self, made: Object, mask: Option<MaskSpec<'_>>) -> Result<Object> {
        let Some(mask) = mask else { return Ok(made) };
        let threads = Cpu::threads(self);
        Ok(match (made, mask.structure) {
            (Object::Matrix(a), Operand::Matrix(m))
                if a.shape() == m.shape() && (a.has_dense_form() || m.has_dense_form()) =>
            {
                let (entries, allowed) = (a.places(threads)?, m.structure()?);
                let kept = entries.retained(sparse::MaskSpec::new(&*allowed.row_major(threads)?, mask.complement))?;
                Matrix::from_row_major(a.shape(), &kept)?.into()
            }
            (Object::Matrix(a), Operand::Matrix(m)) => {
                let (a, m) = (a.sorted(threads)?, m.sorted(threads)?);
                a.rearranged(threads, Rearrange::Mask(m.operand()?.pattern, mask.complement))?.into()
            }
            (Object::Vector(x), Operand::Vector(_)) => allowed_entries(&x, Some(mask))?.into_owned().into(),
            _ => return Err(unfit()),
        })
    }
}

impl EnginePlan for spgemm::Plan {
    fn engine(&self) -> String {
        "cpu".into()
    }
    fn shape(&self) -> (usize, usize) {
        spgemm::Plan::shape(self)
    }
    fn explain(&self) -> String {
        spgemm::Plan::explain(self)
    }
    fn stats(&self) -> Stats {
        let &spgemm::Stats { flops, max_row_flops, max_row_nnz, nnz, cf, cmrf } = spgemm::Plan::stats(self);
        Stats { flops, max_row_flops, max_row_nnz: Some(max_row_nnz), nnz, cf, cmrf }
    }
}

impl TriangleEngine for Cpu {
    fn count(&self, a: &Matrix, method: TriangleMethod) -> Result<Triangles> {
        triangles(self, &**a.operand()?.pattern, method)
    }
    fn per_vertex(&self, a: &Matrix) -> Result<Vec<u64>> {
        triangles_per_vertex(self, &**a.operand()?.pattern)
    }
    fn per_edge(&self, a: &Matrix) -> Result<Matrix> {
        Ok(triangles_per_edge(self, a.operand()?.pattern)?.into())
    }
}

/// The typed host matrix.
fn on_host<'a, T: Float>(name: &'static str, m: &'a Matrix) -> Result<&'a Csr<T>> {
    m.csr().ok_or_else(|| {
        if let Some(wide) = m.as_remote().filter(|there| there.is_on_host()) {
            return wide.unreadable("matrix");
        }
        let message = if m.ty() == T::TYPE {
            format!("it is on {}; download it", m.machine())
        } else {
            format!("its values are {}, those of the index {}", m.ty(), T::TYPE)
        };
        Error::Argument { name, message }
    })
}
/// X and Y as typed host matrices.
fn rows<T: Float>(comparison: &Comparison) -> Result<(&Csr<T>, Option<&Csr<T>>)> {
    Ok((on_host("x", &comparison.x)?, comparison.y.as_ref().map(|y| on_host("y", y)).transpose()?))
}

impl DistanceEngine for Cpu {
    fn all(&self, comparison: &Comparison, out: &mut SliceMut<'_>) -> Result<String> {
        with_float!(comparison.x.ty(), T => {
            let (x, y) = rows::<T>(comparison)?;
            let Some(out) = out.get::<T>() else { return Err(unfit()) };
            self.distances(Arc::clone(&comparison.measure), x).to(y).options(comparison.options).into(out)
        })
    }
    fn nearest(&self, comparison: &Comparison, k: usize) -> Result<Neighbours> {
        with_float!(comparison.x.ty(), T => {
            let (x, y) = rows::<T>(comparison)?;
            let query = self.neighbours(Arc::clone(&comparison.measure), x).to(y).options(comparison.options);
            Ok(query.k(k).eval()?.into())
        })
    }
    fn within(&self, comparison: &Comparison, radius: f64) -> Result<Matrix> {
        with_float!(comparison.x.ty(), T => {
            let (x, y) = rows::<T>(comparison)?;
            let near = self.neighbours(Arc::clone(&comparison.measure), x).to(y).options(comparison.options);
            Ok(near.radius(radius).eval()?.into())
        })
    }
    fn index(&self, measure: Arc<dyn Measure>, y: &Matrix, options: DistanceOptions) -> Result<RowIndex> {
        with_float!(y.ty(), T => Ok(RowIndex::new(Cpu::index(self, measure, on_host::<T>("y", y)?, options)?)))
    }
    fn load_index(&self, path: &Path, ty: Type) -> Result<RowIndex> {
        with_float!(ty, T => Ok(RowIndex::new(Cpu::load_index::<T, u32>(self, path)?)))
    }
    fn nearest_of(&self, index: &RowIndex, x: &Matrix, k: usize) -> Result<Neighbours> {
        with_float!(index.ty(), T => Ok(index.on::<Host<T>>()?.knn(self, on_host("x", x)?, k)?.into()))
    }
    fn within_of(&self, index: &RowIndex, x: &Matrix, radius: f64) -> Result<Matrix> {
        with_float!(index.ty(), T => Ok(index.on::<Host<T>>()?.radius(self, on_host("x", x)?, radius)?.into()))
    }
}

type Host<T> = crate::distance::NeighbourIndex<T>;
impl<T: Float> EngineIndex for Host<T> {
    fn shape(&self) -> (usize, usize) {
        self.shape()
    }
    fn ty(&self) -> Type {
        T::TYPE
    }
    fn save(&self, path: &Path) -> Result<()> {
        self.save(path)
    }
}
