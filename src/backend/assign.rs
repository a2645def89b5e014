//! Assignment in two steps, either of which may be in place: removal of the replaced entries, then insertion.

use super::Backend;
use super::container::{Container, Kind, Matrices};
use crate::algebra::Value;
use crate::sparse::{IndexList, MaskSpec};
use crate::{Index, Result};

/// C(I, J) = A where the mask allows; other entries of C are kept.
pub(super) fn assign<M: Backend<I>, I: Index, T: Value>(
    m: &M,
    c: &mut M::Matrix<T>,
    a: M::Matrix<T>,
    (rows, cols): (&IndexList, &IndexList),
    mask: Option<MaskSpec<'_, M::Pattern>>,
) -> Result<()> {
    let shape = m.shape(c);
    let mut t = m.place_part(&a, (rows, cols), shape)?;
    drop(a);
    if let Some(mask) = mask {
        m.retain_matrix(&mut t, mask)?;
    }
    // A T with an entry at every (i, j) of I × J overwrites all entries there, so nothing has to be removed.
    let size = rows.len(shape.0) as u128 * cols.len(shape.1) as u128;
    if mask.is_some() || m.nnz(&t)? as u128 != size {
        let mut replaced = m.keep_part(c, (rows, cols))?;
        if let Some(mask) = mask {
            m.retain_matrix(&mut replaced, mask)?;
        }
        if m.nnz(&replaced)? > 0 {
            let pattern = replaced.entry_pattern(m)?;
            drop(replaced);
            m.retain_matrix(c, MaskSpec::new(&pattern, true))?;
        }
    }
    <Matrices as Kind<M, I>>::put(m, c, t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Kernels;
    use crate::{Cpu, Csr};

    /// A matrix of density about 1/3.
    fn matrix(m: usize, n: usize, seed: u64) -> Csr<f64> {
        let entries = (0..m * n).map(|p| (p, (p as u64 + 1).wrapping_mul(seed | 1) >> 7));
        let kept = entries.filter(|(_, hash)| hash % 3 == 0);
        Csr::from_triplets(m, n, kept.map(|(p, hash)| (p / n, p % n, (hash % 7) as f64))).unwrap()
    }

    #[test]
    fn steps_give_what_one_pass_gives() {
        let cpu = &Cpu::with_threads(2).unwrap();
        let lists = |n: usize| -> [IndexList; 5] {
            let backwards = IndexList::strided(n - 1, -2, n / 2);
            [IndexList::all(), (1..n - 1).into(), backwards, [2, 0, 1].into(), vec![].into()]
        };
        for (m, n, seed) in [(5, 9, 0x9e37_79b9), (8, 4, 0x1234_5677), (6, 6, 0xdead_beef)] {
            let a = &matrix(m, n, seed);
            assert!(a.nnz() > 0);
            for rows in &lists(m) {
                for cols in &lists(n) {
                    let part = (rows, cols);
                    let b = &matrix(rows.len(m), cols.len(n), !seed);
                    let (mut c, mut d) = (a.clone(), a.clone());
                    assign(cpu, &mut c, b.clone(), part, None).unwrap();
                    Kernels::<u32>::assign_part(cpu, &mut d, b.clone(), part, None).unwrap();
                    assert_eq!(c, d, "{part:?}");
                }
            }
        }
    }
}
