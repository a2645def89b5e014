//! Masked products compared with the textbook: one-off and planned.

use std::sync::Arc;

use quickcheck::quickcheck;
use sparring::algebra::{Lhs, Out, PlusTimes, Rhs, Semiring};
use sparring::backend::{Backend, Container};
use sparring::spgemm::{Accumulator, Compress, Options, Policy};
use sparring::{Cpu, Csr, Pattern};

use crate::common::arbitrary::{AnyPair, Rng};
use crate::common::rings::{CountPaths, SumPlaces};
use crate::common::{Same, check, reference};
use crate::shapes::{of_rows, that_repeat};
use crate::{Outcome, options, text};

/// All options of a masked product.
pub(super) fn all_options(complement: bool) -> Vec<Options> {
    let compress = [Compress::Auto, Compress::Off, Compress::On].into_iter().take(if complement { 3 } else { 2 });
    compress.map(|compress| options(Policy::Auto, Accumulator::Auto, compress, false)).collect()
}

/// C⟨M⟩ or C⟨¬M⟩, one-off and planned, twice: identical bits, equal to the textbook.
fn check_masked<R: Semiring>(
    cpu: &Cpu,
    ring: R,
    (a, b): (&Csr<Lhs<R>>, &Csr<Rhs<R>>),
    mask: &Arc<Pattern>,
    complement: bool,
    o: &Options,
    want: &reference::Table<Out<R>>,
) -> Outcome
where
    Out<R>: Same,
{
    let product = cpu.mxm(ring, a, b).options(o.clone()).mask(mask.clone());
    let once = if complement { product.complement() } else { product }.eval().map_err(text)?;
    check(&once, want, true).map_err(|e| format!("{o:?}, complement {complement}: {e}"))?;
    let allowed = Csr::with_pattern(mask.clone(), vec![true; mask.nnz()]).map_err(text)?;
    let plan = cpu.plan(a, b).options(o);
    let plan = if complement { plan.mask(!allowed.structure()) } else { plan.mask(allowed.structure()) };
    let plan = plan.eval().map_err(text)?;
    let mut planned = cpu.mxm(ring, a, b).plan(&plan).eval().map_err(text)?;
    for again in ["", " again"] {
        check(&planned, want, true).map_err(|e| format!("{o:?}, complement {complement}, planned{again}: {e}"))?;
        cpu.mxm(ring, a, b).plan(&plan).into(&mut planned).map_err(text)?;
    }
    Ok(())
}

/// C⟨M⟩ and C⟨¬M⟩ with every option, compared with the textbook.
pub(super) fn is_the_definition(cpu: &Cpu, (a, b): (&Csr<f64>, &Csr<f64>), mask: &Arc<Pattern>) {
    let ring = PlusTimes::<f64>::default();
    for complement in [false, true] {
        let want = reference::masked(ring, a, b, mask, complement);
        for o in all_options(complement) {
            check_masked(cpu, ring, (a, b), mask, complement, &o, &want).unwrap_or_else(|e| panic!("{o:?}: {e}"));
        }
    }
}

/// Most rows of A are the row before, shifted. Rows of the mask are those two rows before, shifted by the same step,
/// but their products are not.
#[test]
fn a_masked_row_is_the_one_right_before_shifted() {
    let n = 600;
    let matrix = |rows: &[Vec<u32>]| {
        let row_ptr = std::iter::once(0).chain(rows.iter().scan(0, |end, row| (*end += row.len(), Some(*end)).1));
        Pattern::<u32>::new(n, n, row_ptr.collect(), rows.concat()).unwrap()
    };
    let within = |columns: &[usize]| columns.iter().filter(|&&j| j < n).map(|&j| j as u32).collect::<Vec<_>>();
    let band = matrix(&(0..n).map(|i| within(&[i, i + 1, i + 2])).collect::<Vec<_>>());
    let mask = matrix(&(0..n).map(|i| within([&[i + 1, i + 3][..], &[], &[i, i + 2]][i % 3])).collect::<Vec<_>>());
    let values = (0..band.nnz()).map(|p| (p * 7 % 11) as f64 - 5.0).collect();
    let a = Csr::with_pattern(Arc::new(band), values).unwrap();
    is_the_definition(&Cpu::with_threads(2).unwrap(), (&a, &a), &Arc::new(mask));
}

quickcheck! {
    /// C⟨M⟩ and C⟨¬M⟩: entries inside the mask, and entries outside.
    fn masked_products_are_the_definition(pair: AnyPair) -> Outcome {
        let cpu = Cpu::with_threads(2).map_err(text)?;
        let mask = pair.mask.pattern();
        let (a, b) = (pair.a::<f64>(), pair.b::<f64>());
        let (pa, pb) = (pair.a(), pair.b());
        for complement in [false, true] {
            for o in all_options(complement) {
                let ring = PlusTimes::<f64>::default();
                let want = reference::masked(ring, &a, &b, &mask, complement);
                check_masked(&cpu, ring, (&a, &b), &mask, complement, &o, &want)?;
                let want = reference::masked(SumPlaces::default(), &a, &b, &mask, complement);
                check_masked(&cpu, SumPlaces::default(), (&a, &b), &mask, complement, &o, &want)?;
                let want = reference::masked(CountPaths::default(), &pa, &pb, &mask, complement);
                check_masked(&cpu, CountPaths::default(), (&pa, &pb), &mask, complement, &o, &want)?;
            }
        }
        Ok(())
    }
}

/// Under a mask, positions within a row take 16 bits up to 65 535 entries, because one value means none.
#[test]
fn masked_rows_of_65_536_entries_have_places() {
    let n = 80_000;
    let a = of_rows(2, vec![vec![0], vec![1], vec![0, 1]]);
    let b = of_rows(n, vec![(0..n as u32).collect(); 2]);
    let cpu = Cpu::with_threads(1).expect("threads");
    for len in [65_535, 65_536, 65_537, 70_000] {
        // Columns of one row that the next does not have.
        let (first, last) = ((0..len).collect(), (n as u32 - len..n as u32).collect());
        let mask = of_rows(n, vec![first, last, vec![5, 70_001]]);
        is_the_definition(&cpu, (&a, &b), mask.pattern());
    }
}

/// Rows of C that repeat the previous row, shifted. The rows of the mask do so too, mostly, or not at all: some mask
/// columns receive no product, some mask rows are empty, and some rows have more products than one list block holds.
#[test]
fn rows_that_repeat_under_a_mask() {
    let cpu = Cpu::with_threads(2).expect("threads");
    let mut rng = Rng(7);
    for [a, b] in &that_repeat() {
        let (nrows, ncols) = (a.nrows(), b.ncols() as u32);
        let near =
            |i: u32| [i.wrapping_sub(5), i.wrapping_sub(1), i, i + 1, i + 60, i + 3].into_iter().filter(|&j| j < ncols);
        let moved = |i: usize| near(i as u32).collect::<Vec<_>>();
        let all = |_| (0..ncols).collect::<Vec<_>>();
        let mut masks = vec![
            (0..nrows).map(moved).collect(),
            (0..nrows).map(|i| if i % 11 == 3 { vec![] } else { moved(i) }).collect(),
            (0..nrows).map(|i| if i % 7 == 3 { all(i) } else { moved(i) }).collect(),
            (0..nrows).map(all).collect::<Vec<_>>(),
        ];
        masks.push((0..nrows).map(|_| (0..ncols).filter(|_| rng.below(9) == 0).collect()).collect());
        for mut rows in masks {
            rows.iter_mut().for_each(|row| row.sort_unstable());
            is_the_definition(&cpu, (a, b), of_rows(ncols as usize, rows).pattern());
        }
    }
}
