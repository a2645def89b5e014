//! Union (NAMM) products on [`Cpu`].

use crate::algebra::{Lhs, Namm, Num, Out, Rhs};
use crate::ops;
use crate::sparse::Dense;
use crate::{Cpu, Csr, Index, Result, Vector};

impl Cpu {
    /// `C(i, j) = e ⊕ A(i, k) ⊗ B(j, k) ⊕ …` over every k where row i of A or row j of B has an entry; `e` is the
    /// identity of ⊕, and an absent operand is 0. Rows of A are combined with rows of B.
    ///
    /// Shapes: `a` m×k, `b` n×k, result m×n. Rows need not be sorted. A fold runs over the entries of row j of B in
    /// storage order, then over those of row i of A that row j of B lacks, in storage order. Entries equal to 0 count
    /// as absent, and ⊗(0, 0) is the identity of ⊕, so stored zeros do not change the result. A positional ⊗ receives
    /// (i, k, j). Results are bitwise identical for any number of threads. Cost: O(m · nnz(B) + n · nnz(A)) time;
    /// beyond the result 2k values per thread, or 16k if k is at most 65,536.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the numbers of columns of A and B differ;
    /// [`Error::IndexOverflow`](crate::Error::IndexOverflow) if m·n overflows;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
    /// # Example
    /// The example of the paper's appendix, with numbers: the rows of A and b are points. Manhattan's ⊗ is |a − b|,
    /// which 0 does not annihilate. An ordinary product would visit only the common column, the last one, and yield 1
    /// and 0.
    /// ```
    /// use sparring::{Cpu, Csr, algebra::Manhattan};
    /// // A = (1 · 1)   b = (· 1 2)
    /// //     (3 · ·)
    /// let a = Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 0], vec![1.0, 1.0, 3.0])?;
    /// let b = Csr::<f64>::new(1, 3, vec![0, 2], vec![1, 2], vec![1.0, 2.0])?;
    /// let c = Cpu::new().union_mxm(Manhattan::<f64>::default(), &a, &b)?;
    /// // Row 0: |0 − 1| + |1 − 2| over the entries of b, then |1 − 0| over those that b lacks.
    /// assert_eq!(c.values(), [3.0, 6.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    ///
    /// Source: Nolet et al. 2022, §2.2, §3.3.1 and appendix A.1.
    pub fn union_mxm<N: Namm, I: Index>(&self, namm: N, a: &Csr<Lhs<N>, I>, b: &Csr<Rhs<N>, I>) -> Result<Dense<Out<N>>>
    where
        Lhs<N>: Num,
        Rhs<N>: Num,
    {
        ops::union_mxm(self.threads(), namm, a.compressed()?, b.compressed()?)
    }

    /// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over every k where row i of A or x has an entry; `e` is the identity of ⊕, and
    /// an absent operand is 0. y is full.
    ///
    /// Shapes: `a` m×k, `x` k, result m. This is [`union_mxm`](Self::union_mxm) with x as the only row of B, in the
    /// same fold order; a positional ⊗ receives (i, k, 0). Cost: O(m · nnz(x) + nnz(A)) time; k values per thread
    /// beyond the result.
    /// # Errors
    /// Those of [`union_mxm`](Self::union_mxm).
    /// # Example
    /// The distances of the rows of A from x:
    /// ```
    /// use sparring::{Cpu, Csr, Vector, algebra::Manhattan};
    /// let a = Csr::<f64>::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![2.0, 5.0])?;
    /// let x = Vector::new(3, vec![1, 2], vec![7.0, 4.0])?;
    /// let y = Cpu::new().union_spmv(Manhattan::<f64>::default(), &a, &x)?;
    /// assert_eq!(y.as_full(), Some(&[2.0 + 7.0 + 1.0, 7.0 + 4.0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn union_spmv<N: Namm, I: Index>(
        &self,
        namm: N,
        a: &Csr<Lhs<N>, I>,
        x: &Vector<Rhs<N>, I>,
    ) -> Result<Vector<Out<N>, I>>
    where
        Lhs<N>: Num,
        Rhs<N>: Num,
    {
        Vector::full(ops::union_spmv(self.threads(), namm, a.compressed()?, &x.to_sparse()?)?)
    }
}
