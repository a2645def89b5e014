//! Union products on the device: see `cuda/union.cu`.

use std::sync::Arc;

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::{DeviceCsr, RawCsr};
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::DevicePattern;
use super::union_plan::{self, Layout, UnionStats, UnionStrategy, choose};
use super::vector::DeviceDense;
use super::vector_form::{DeviceVector, RawVector};
use crate::algebra::{
    Chebyshev, Contract, Lhs, Manhattan, Namm, Num, Out, PlusTimes, Printed, Rhs, Semiring, printed_ring,
};
use crate::{Error, Result};

const SOURCE: Source = source!("union.cu");

/// The entries that a kernel visits: the values of PASS in `cuda/union.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// The common columns of both rows.
    Common = 0,
    /// Every entry of B.
    First = 1,
    /// The entries of A that B lacks.
    Second = 2,
}

fn settings(pass: Pass, strategy: UnionStrategy, threads: u32, [t, s]: [&'static str; 2]) -> [Setting; 5] {
    [
        Setting::Type("OffsetT", t),
        Setting::Type("OffsetS", s),
        Setting::Number("PASS", pass as u32),
        Setting::Word("TABLE", strategy.cuda()),
        Setting::Constant("THREADS", threads),
    ]
}

/// The product to compute.
struct Job {
    op: &'static str,
    /// The layout of rows in shared memory, if the caller sets it.
    strategy: Option<UnionStrategy>,
    passes: &'static [Pass],
    /// Row numbers of the first rows of A and B, for a positional ⊗.
    firsts: [usize; 2],
}

impl Job {
    fn union(strategy: Option<UnionStrategy>) -> Self {
        Self { op: "union_mxm", strategy, passes: &[Pass::First, Pass::Second], firsts: [0; 2] }
    }
}

/// Parameters shared by all passes.
struct Passes<'a> {
    ring: &'a Printed,
    strategy: UnionStrategy,
    out: &'a RawBuffer,
    width: usize,
    firsts: [u64; 2],
}

impl Cuda {
    /// `y(i) = ⊕_k A(i,k) ⊗ x(k)` over every k where row i of A or x has an entry; an absent operand is 0.
    ///
    /// Shapes: `a` m×k, `x` k, result m. Equals [`union_mxm`](Self::union_mxm) with x as the only row of B; a
    /// positional ⊗ receives (i, k, 0). The result is full. Cost: O(m · nnz(x) + nnz(A)) time.
    /// # Errors
    /// Those of [`union_mxm`](Self::union_mxm).
    /// # Example
    /// ```no_run
    /// use sparring::{algebra::Manhattan, prelude::*};
    /// let cuda = Cuda::new(0)?;
    /// let a = cuda.upload(&Csr::<f64>::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![2.0, 5.0])?)?;
    /// let x = cuda.upload_vector(&Vector::<f64>::new(3, vec![1, 2], vec![7.0, 4.0])?)?;
    /// let y = cuda.union_spmv(Manhattan::<f64>::default(), &a, &x)?;
    /// assert_eq!(cuda.download_full(&y, 0.0)?, [10.0, 11.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn union_spmv<N: Namm>(
        &self,
        namm: N,
        a: &DeviceCsr<Lhs<N>>,
        x: &DeviceVector<Rhs<N>>,
    ) -> Result<DeviceVector<Out<N>>>
    where
        Lhs<N>: Num,
        Rhs<N>: Num,
    {
        if a.pattern.ncols != x.len() {
            return Err(Error::Shape { op: "union_spmv", lhs: a.shape(), rhs: (x.len(), 1) });
        }
        let row = self.as_row(x.raw())?.typed()?;
        RawVector::full(Arc::clone(self.union_mxm(namm, a, &row)?.values.raw())).typed()
    }

    /// `C(i,j) = ⊕_k A(i,k) ⊗ B(j,k)` over every k where row i of A or row j of B has an entry; an absent operand is 0.
    /// Rows of A are combined with rows of B.
    ///
    /// Shapes: `a` m×k, `b` n×k, result m×n. Entries equal to 0 count as absent, and ⊗(0, 0) is the identity of ⊕, so
    /// stored zeros have no effect. A positional ⊗ receives (i, k, j). Rows need not be sorted; rows that do not fit
    /// into shared memory at once are sorted first. Cost: O(m · nnz(B) + n · nnz(A)) time; 4 bytes an entry of both
    /// operands beside the result of m·n values. If the result does not fit on the device, the error gives its size in
    /// bytes.
    ///
    /// The result is the same in every run. For ⊕ on floats it is not bitwise the CPU's: a row is folded in parts,
    /// which are joined as a tree, and the parts depend on the device's size. It is the CPU's whenever ⊕ is exact.
    /// # Errors
    /// [`Error::Shape`] if A and B differ in their number of columns; [`Error::IndexOverflow`] if m·n overflows or for
    /// 2³² rows or more; [`Error::DeviceMemory`], [`Error::Compile`], [`Error::NoCompiler`], [`Error::Device`].
    /// # Example
    /// ```no_run
    /// use sparring::{Csr, Cuda, algebra::Chebyshev};
    /// let cuda = Cuda::new(0)?;
    /// let a = cuda.upload(&Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 0], vec![1.0, 1.0, 3.0])?)?;
    /// let b = cuda.upload(&Csr::<f64>::new(1, 3, vec![0, 2], vec![1, 2], vec![1.0, 2.0])?)?;
    /// let c = cuda.download_dense(&cuda.union_mxm(Chebyshev::<f64>::default(), &a, &b)?)?;
    /// assert_eq!(c.values(), [1.0, 3.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    ///
    /// Source: Nolet et al. 2022, "GPU Semiring Primitives for Sparse Neighborhood Methods", §3.3. Differences: a chunk
    /// of B consists of whole rows, so that no atomics are needed; and the parts of a long row are processed by one
    /// block, one after the other.
    pub fn union_mxm<N: Namm>(
        &self,
        namm: N,
        a: &DeviceCsr<Lhs<N>>,
        b: &DeviceCsr<Rhs<N>>,
    ) -> Result<DeviceDense<Out<N>>>
    where
        Lhs<N>: Num,
        Rhs<N>: Num,
    {
        self.row_against_row(&Job::union(None), namm, a, b)
    }
    /// [`union_mxm`](Self::union_mxm) of rows of larger matrices: a positional ⊗ receives row numbers from `firsts` on.
    pub(super) fn union_mxm_from(
        &self,
        namm: &Printed,
        a: &RawCsr,
        b: &RawCsr,
        firsts: [usize; 2],
    ) -> Result<Arc<RawBuffer>> {
        self.row_against_row_raw(&Job { firsts, ..Job::union(None) }, namm, a, b)
    }
    /// [`union_mxm`](Self::union_mxm) with the given layout of rows in shared memory.
    pub(super) fn union_mxm_with<N: Namm>(
        &self,
        namm: N,
        a: &DeviceCsr<Lhs<N>>,
        b: &DeviceCsr<Rhs<N>>,
        strategy: UnionStrategy,
    ) -> Result<DeviceDense<Out<N>>>
    where
        Lhs<N>: Num,
        Rhs<N>: Num,
    {
        self.row_against_row(&Job::union(Some(strategy)), namm, a, b)
    }
    /// The layout of rows in shared memory that [`union_mxm`](Self::union_mxm) chooses, and the reason.
    pub(super) fn union_choice<N: Namm>(
        &self,
        namm: N,
        a: &DeviceCsr<Lhs<N>>,
        b: &DeviceCsr<Rhs<N>>,
    ) -> Result<(UnionStats, UnionStrategy, &'static str)> {
        let stats = self.union_stats(&printed_ring(namm), &a.pattern, &b.pattern)?;
        let (strategy, why) = choose(&stats);
        Ok((stats, strategy, why))
    }
    /// `C(i,j) = ⊕_k A(i,k) ⊗ B(j,k)` over the common columns of both rows.
    pub(super) fn row_products_with<R: Semiring>(
        &self,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        b: &DeviceCsr<Rhs<R>>,
        strategy: Option<UnionStrategy>,
    ) -> Result<DeviceDense<Out<R>>> {
        let job = Job { op: "row_products", strategy, passes: &[Pass::Common], firsts: [0; 2] };
        self.row_against_row(&job, ring, a, b)
    }

    fn union_stats(&self, ring: &Printed, a: &DevicePattern, b: &DevicePattern) -> Result<UnionStats> {
        let longest = self.longest(a)?.max(self.longest(b)?);
        let bytes = ring.a.size().max(ring.b.size());
        Ok(UnionStats::new(self.limits(), a.ncols, longest, bytes, ring.out.size()))
    }
    /// Entries of the longest row; computed once for a pattern.
    fn longest(&self, p: &DevicePattern) -> Result<usize> {
        if p.nrows <= 1 { Ok(p.nnz) } else { Ok(self.mxv_choice(p)?.0.longest_row) }
    }

    fn row_against_row<R: Contract>(
        &self,
        job: &Job,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        b: &DeviceCsr<Rhs<R>>,
    ) -> Result<DeviceDense<Out<R>>> {
        let values = self.row_against_row_raw(job, &printed_ring(ring), &a.raw(), &b.raw())?;
        Ok(DeviceDense { nrows: a.pattern.nrows, ncols: b.pattern.nrows, values: Buffer::of(values)? })
    }
    fn row_against_row_raw(
        &self,
        &Job { op, strategy, passes, firsts }: &Job,
        ring: &Printed,
        a: &RawCsr,
        b: &RawCsr,
    ) -> Result<Arc<RawBuffer>> {
        if a.pattern.ncols != b.pattern.ncols {
            return Err(Error::Shape { op, lhs: a.shape(), rhs: b.shape() });
        }
        a.values.check("the left matrix", ring.a)?;
        b.values.check("the right matrix", ring.b)?;
        let (m, n) = (a.pattern.nrows, b.pattern.nrows);
        let overflow = |what, needed, max: usize| Error::IndexOverflow { what, needed, max: max as u128 };
        for rows in [m, n] {
            if u32::try_from(rows).is_err() {
                return Err(overflow("rows of a union product", rows as u128, u32::MAX as usize));
            }
        }
        let needed = m as u128 * n as u128;
        let len = m.checked_mul(n).ok_or_else(|| overflow("number of values", needed, usize::MAX))?;
        let out = self.alloc_raw(ring.out, len, "the result of a union product")?;
        if len == 0 {
            return Ok(out);
        }

        let stats = self.union_stats(ring, &a.pattern, &b.pattern)?;
        let strategy = strategy.unwrap_or_else(|| choose(&stats).0);
        let layout = |longest_row, value_bytes| {
            let stats = UnionStats { longest_row, ..stats };
            let common = passes == [Pass::Common];
            union_plan::layout(strategy, self.limits(), &stats, value_bytes, ring.out.size(), common)
        };
        let of_a = layout(self.longest(&a.pattern)?, ring.a.size())?;
        let of_b = layout(self.longest(&b.pattern)?, ring.b.size())?;
        let a = if of_a.sorted { self.sorted_raw(a)? } else { a.clone() };
        let b = if of_b.sorted && passes.contains(&Pass::Second) { self.sorted_raw(b)? } else { b.clone() };
        let firsts = firsts.map(|first| first as u64);

        let offsets = [a.pattern.row_ptr.cuda(), b.pattern.row_ptr.cuda()];
        let fill = settings(passes[0], strategy, of_a.threads, offsets);
        let blocks = len.div_ceil(1024).min(16 * self.limits().multiprocessors.max(1) as usize);
        self.program_of(SOURCE, Prefix::new(&ring.text, &fill))?
            .kernel("union_fill")?
            .launch(Shape::blocks(blocks, 256, 0)?, args![&out, len as u64])?;
        let all = Passes { ring, strategy, out: &out, width: n, firsts };
        for &pass in passes {
            match pass {
                Pass::Common | Pass::First => self.union_pass(&all, pass, of_a, &a, &b)?,
                Pass::Second => self.union_pass(&all, pass, of_b, &b, &a)?,
            }
        }
        Ok(out)
    }

    /// One pass: each row of `t` in shared memory, against all entries of `s`.
    fn union_pass(&self, all: &Passes<'_>, pass: Pass, layout: Layout, t: &RawCsr, s: &RawCsr) -> Result<()> {
        let (tp, sp) = (&*t.pattern, &*s.pattern);
        let mean_row = tp.nnz.checked_div(tp.nrows).unwrap_or(0);
        let entry_bytes = 8 + s.ty().size();
        let (count, each) = union_plan::chunks(self.limits(), &layout, tp.nrows, mean_row, sp.nnz, entry_bytes);
        if count == 0 {
            return Ok(());
        }
        // A block has no more threads than entries to process.
        let threads = layout.threads.min(each.next_power_of_two().clamp(128, 1024) as u32);
        let settings = settings(pass, all.strategy, threads, [tp.row_ptr.cuda(), sp.row_ptr.cuda()]);
        let program = self.program_of(SOURCE, Prefix::new(&all.ring.text, &settings))?;
        let rows = self.alloc::<u32>(sp.nnz, "rows of entries")?;
        self.row_indices(sp, &rows)?;
        let starts = self.alloc::<u32>(count + 1, "chunks of entries")?;
        program.kernel("union_chunks")?.launch(
            Shape::for_each(count + 1, 256)?,
            args![&sp.row_ptr, sp.nrows as u64, each as u64, count as u64, &starts],
        )?;
        program.kernel("union_rows")?.launch(
            Shape::blocks(count.saturating_mul(tp.nrows), threads, layout.bytes)?,
            args![
                &tp.row_ptr,
                &tp.col_idx,
                &t.values,
                tp.nrows as u64,
                &sp.row_ptr,
                &rows,
                &sp.col_idx,
                &s.values,
                &starts,
                layout.size,
                all.width as u64,
                all.firsts[0],
                all.firsts[1],
                all.out
            ],
        )
    }
}

/// Programs to compile without a device.
pub(crate) fn programs() -> Vec<Unit> {
    let (small, large) = ("unsigned int", "unsigned long long");
    let strategies = [UnionStrategy::Dense, UnionStrategy::Hash];
    let mut all = vec![];
    let (manhattan, times) = (printed_ring(Manhattan::<f64>::default()), printed_ring(PlusTimes::<f64>::default()));
    let chebyshev = printed_ring(Chebyshev::<f32>::default());
    for (strategy, threads) in strategies.into_iter().zip([1024, 512, 256]) {
        let mut unit = |ring: &Printed, pass, threads, offsets| {
            let prefix = Prefix::new(&ring.text, &settings(pass, strategy, threads, offsets)).text();
            all.push(Unit { source: SOURCE, prefix, hot: &["union_rows"] });
        };
        unit(&manhattan, Pass::First, threads, [small; 2]);
        unit(&manhattan, Pass::Second, threads, [small; 2]);
        unit(&chebyshev, Pass::Second, 128, [small, large]);
        unit(&times, Pass::Common, threads, [large, small]);
    }
    all
}
