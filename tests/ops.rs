//! Operations with vectors and elementwise operations compared with the textbook, through the trait that graph
//! algorithms use.
//!
//! The checks are those of `common/backend_checks.rs`, generic in the backend; `Cpu` runs them on 1, 2, 3 and 8
//! threads.

mod common;

use std::ops::ControlFlow;

use common::arbitrary::{AnyPair, Draw};
use common::backend_checks::*;
use common::rings::{CountPaths, Either, SumPlaces, SumWhere};
use common::{Same, data, reference};
use quickcheck::quickcheck;
use sparring::algebra::*;
use sparring::backend::{Backend, Container, Kernels};
use sparring::par::Threads;
use sparring::sparse::Dense;
use sparring::{Cpu, Csr, Error, Vector};

const THREADS: [usize; 4] = [1, 2, 3, 8];

fn cpu(threads: usize) -> Cpu {
    Cpu::with_threads(threads).expect("threads")
}

/// Runs a check on every number of threads.
fn on_all(run: impl Fn(&Cpu) -> Outcome) -> Outcome {
    THREADS.into_iter().try_for_each(|n| run(&cpu(n)).map_err(|e| format!("{n} threads: {e}")))
}

fn products_are_the_definition<R: Semiring>(ring: R, pair: &AnyPair) -> Outcome
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let (a, b) = (pair.a::<Lhs<R>>(), pair.b::<Rhs<R>>());
    let x = dense::<Rhs<R>>(a.ncols() * 3, pair.seed);
    let x = Dense::new(a.ncols(), 3, x).map_err(text)?;
    let want = reference::spmm(ring, &a, &x);
    on_all(|cpu| {
        products(cpu, ring, &a, &b, pair.seed, bit_for_bit)?;
        let y = cpu.spmm_product(ring, &a, &x).map_err(text)?;
        check_vector(y.values(), want.values()).map_err(|e| format!("spmm: {e}"))
    })
}

macro_rules! definition {
    ($($name:ident: $ring:ty;)*) => {quickcheck! {$(
        fn $name(pair: AnyPair) -> Outcome { products_are_the_definition(<$ring>::default(), &pair) }
    )*}};
}
definition! {
    plus_times_is_the_definition: PlusTimes<f64>;
    min_plus_is_the_definition: MinPlus<f64>;
    max_min_stops_where_it_may: MaxMin<i64>;
    boolean_is_the_definition: LorLand;
    any_is_the_last_one: AnySecond<i64>;
    parents_are_the_definition: MinSecondI<f64, u64>;
    places_are_the_definition: SumPlaces;
    a_users_struct_is_the_definition: CountPaths;
    three_value_types_are_the_definition: SumWhere;
}

quickcheck! {
    fn entry_by_entry_is_the_definition(pair: AnyPair) -> Outcome {
        on_all(|cpu| entry_by_entry(cpu, &pair))
    }

    fn kronecker_products_are_the_definition(seed: u64) -> Outcome {
        on_all(|cpu| kronecker_products(cpu, seed))
    }

    fn folds_are_the_definition(pair: AnyPair) -> Outcome {
        on_all(|cpu| {
            folds(cpu, Plus::<f64>::new(), &pair.b(), bit_for_bit)?;
            folds(cpu, Min::<f64>::new(), &pair.b(), bit_for_bit)?;
            folds(cpu, Any::<i64>::new(), &pair.b(), bit_for_bit)?;
            folds(cpu, Lor::<bool>::new(), &pair.b(), bit_for_bit)?;
            folds(cpu, Band::<u8>::new(), &pair.b(), bit_for_bit)?;
            folds(cpu, Either::new(), &pair.b(), bit_for_bit)
        })
    }

    /// Unsorted rows of A: the fold runs in stored order.
    fn rows_are_folded_as_stored(pair: AnyPair) -> Outcome {
        let mut pair = pair;
        pair.a.shuffle = pair.seed | 1;
        products_are_the_definition(PlusTimes::<f64>::default(), &pair)
    }

    /// The trait's mxm is the product of the chain; masks of any value type.
    fn masked_products_through_the_trait(pair: AnyPair) -> Outcome {
        masked_products(&cpu(2), PlusTimes::<f64>::default(), &pair)
    }

    fn places_of_a_sparse_vector_are_assigned(pair: AnyPair) -> Outcome {
        assignments(&cpu(1), &pair)
    }

    fn what_goes_up_comes_down(pair: AnyPair) -> Outcome {
        round_trips(&cpu(1), &pair)
    }
}

/// A matrix large enough to be split among threads.
fn large() -> Csr<f64> {
    with_sums(&data::named("wiki-Vote"))
}

#[test]
fn a_large_matrix_is_the_definition() {
    let a = large();
    let (n, ring) = (a.nrows(), PlusTimes::<f64>::default());
    let x = Dense::new(n, 2, (0..n).flat_map(|i| [1.0, -1.0].map(|x| x / (i + 1) as f64)).collect()).expect("x");
    let want = reference::spmm(ring, &a, &x);
    on_all(|cpu| {
        large_matrix(cpu, &a, bit_for_bit)?;
        check_vector(cpu.spmm_product(ring, &a, &x).map_err(text)?.values(), want.values())
    })
    .unwrap();
}

/// Enough entries for several threads; empty rows of B, and one longer than an operator's block.
#[test]
fn a_large_kronecker_product_is_the_definition() {
    let band = |n: usize, len: &dyn Fn(usize) -> usize| {
        let mut row_ptr = vec![0];
        let mut cols = vec![];
        for i in 0..n {
            let first = i.saturating_sub(2).min(n - len(i));
            cols.extend((first..first + len(i)).map(|j| j as u32));
            row_ptr.push(cols.len());
        }
        let values = (0..cols.len()).map(|p| 1.0 / (p + 3) as f64).collect();
        Csr::<f64>::new(n, n, row_ptr, cols, values).expect("a band")
    };
    let (a, b) = (band(60, &|_| 3), band(300, &|i| if i == 7 { 290 } else { i % 9 }));
    let want = reference::kronecker(Minus::<f64>::new(), &a, &b);
    on_all(|cpu| {
        let c = cpu.kronecker(Minus::<f64>::new(), &a, &b).eval().map_err(text)?;
        common::check(&c, &want, true)
    })
    .unwrap();
}

/// Enough entries that positional operators use a lookup, and that threads share the rows; unsorted rows of A.
fn uneven(seed: u64) -> Csr<f64> {
    let mut rng = common::arbitrary::Rng(seed);
    let (n, mut row_ptr, mut cols) = (700usize, vec![0], vec![]);
    for i in 0..n {
        let len = if i % 97 == 5 { n } else { i * 31 % 23 };
        let (first, step) = (rng.next() as usize % n, [1, 3, 9][i % 3]);
        cols.extend((0..len).map(|p| ((first + p * step) % n) as u32));
        row_ptr.push(cols.len());
    }
    let values = (0..cols.len()).map(|p| (p * 7 % 11) as f64).collect();
    Csr::from_unsorted(n, n, row_ptr, cols, values).expect("rows without repeats")
}

#[test]
fn entries_of_a_large_matrix_are_selected() {
    let a = uneven(3);
    macro_rules! each {
        ($($op:ident($($k:expr),*);)*) => {$($({
            let (k, name) = ($k, stringify!($op));
            let want = reference::select($op::new(), &a, k);
            on_all(|cpu| {
                let c = cpu.select($op::new(), &a, k).eval().map_err(text)?;
                common::check(&c, &want, true).map_err(|e| format!("{name} {k}: {e}"))
            })
            .unwrap();
        })*)*};
    }
    each! {
        Tril(0, -3, 699, i64::MIN); Triu(0, 5); Diag(0, -699, i64::MAX); Offdiag(2);
        ColLe(350, -1); ColGt(0); RowLe(10, 699); RowGt(10);
        ValueGt(9.0, 99.0, -1.0); ValueNe(3.0); ValueLt(5.0);
    }
}

/// C⟨M⟩ = x where C has all entries of the mask, some, or none; with its own pattern as the mask; with entries outside
/// removed.
#[test]
fn values_are_assigned_where_a_large_mask_has_entries() {
    let (a, b) = (uneven(4), uneven(5));
    let one = cpu(1);
    let empty = Csr::<f64>::empty(700, 700).expect("a matrix without entries");
    let masks = [one.select(ValueGt::new(), &a, 5.0).eval().unwrap(), b, a.clone(), empty.clone()];
    for (c, mask) in [&a, &empty].into_iter().flat_map(|c| masks.iter().map(move |mask| (c, mask))) {
        for replace in [false, true] {
            let mut want = reference::table(c);
            if replace {
                want.entries.clear();
            }
            want.entries.extend(reference::table(mask).entries.into_keys().map(|place| (place, 2.5)));
            on_all(|cpu| {
                let mut found = c.clone();
                let assign = cpu.assign_scalar_matrix(2.5, .., ..).mask(mask.structure());
                if replace { assign.replace().into(&mut found) } else { assign.into(&mut found) }.map_err(text)?;
                common::check(&found.sorted(&Threads::caller()).map_err(text)?, &want, true)
            })
            .unwrap();
        }
    }
    let narrow = Csr::<f64>::empty(700, 699).expect("a matrix without entries");
    let refused = one.assign_scalar_matrix(2.5, .., ..).mask(narrow.structure()).into(&mut a.clone());
    assert!(refused.unwrap_err().to_string().contains("700×699"));
}
/// Row blocks shared by threads, one of them without rows.
#[test]
fn large_blocks_are_joined() {
    let (a, b) = (uneven(6).sorted(&Threads::caller()).unwrap(), uneven(7).sorted(&Threads::caller()).unwrap());
    let flat = Csr::<f64>::empty(0, 700).expect("a matrix without rows");
    let want = |i: usize, j: usize| [[&a, &b], [&b, &a]][i / 700][j / 700].get(i % 700, j % 700).copied();
    on_all(|cpu| {
        let c = cpu.concat(&[&[&a, &b], &[&flat, &flat], &[&b, &a]]).map_err(text)?;
        let (mut entries, none) = (0, cpu.concat(&[&[&flat, &flat]]).map_err(text)?);
        for i in 0..1400 {
            let (js, xs) = c.row(i);
            entries += js.len();
            let is_right = |(&j, &x): (&u32, &f64)| want(i, j as usize) == Some(x);
            if !(js.is_sorted() && js.iter().zip(xs).all(is_right)) {
                return Err(format!("row {i}"));
            }
        }
        let found = (c.shape(), entries, none.shape(), none.nnz());
        if found == ((1400, 1400), 2 * (a.nnz() + b.nnz()), (0, 1400), 0) { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .unwrap();
}

#[test]
fn kronecker_products_that_fit_no_index_are_refused_with_the_sizes() {
    let of = |m: usize, n: usize| Csr::<f64>::empty(m, n).expect("a matrix without entries");
    let refused = |a: &Csr<f64>, b: &Csr<f64>| cpu(1).kronecker(Times::<f64>::new(), a, b).eval().unwrap_err();
    let wide = refused(&of(2, 1 << 17), &of(3, 1 << 16));
    let needed = 1 << 33;
    assert!(
        matches!(wide, Error::IndexOverflow { what: "columns of a Kronecker product", needed: n, .. } if n == needed),
        "{wide}"
    );
    // 2⁴⁴ rows exceed 32-bit labels.
    let tall = refused(&of(1 << 22, 1), &of(1 << 22, 1));
    let needed = 1 << 44;
    assert!(
        matches!(tall, Error::IndexOverflow { what: "rows of a Kronecker product", needed: n, .. } if n == needed),
        "{tall}"
    );
}

#[test]
fn very_wide_matrices_are_the_definition() {
    on_all(|cpu| very_wide_matrices(cpu, bit_for_bit)).unwrap();
}

#[test]
fn sums_of_a_wide_product_are_in_order() {
    on_all(sums_of_a_wide_product::<Cpu>).unwrap();
}

/// Every shape without entries.
#[test]
fn empty_shapes_are_as_empty_as_they_should_be() {
    empty_shapes(&cpu(2)).expect("operations on nothing");
    let (cpu, ring) = (cpu(2), PlusTimes::<f64>::default());
    for (m, n) in [(0, 0), (0, 5), (4, 0), (1, 1), (3, 4)] {
        let a = Csr::<f64>::empty(m, n).expect("a");
        for width in [0, 2] {
            let x = Dense::filled(n, width, 1.0).expect("x");
            assert_eq!(cpu.spmm_product(ring, &a, &x).expect("y"), Dense::filled(m, width, 0.0).expect("0"));
        }
    }
}

/// Shared patterns stay shared.
#[test]
fn patterns_are_shared() {
    let (cpu, a) = (Cpu::new(), large());
    let b = a.map(|x| x + 1.0).expect("b");
    let shares = |c: &Csr<f64>| std::sync::Arc::ptr_eq(c.pattern(), a.pattern());
    assert!(shares(&cpu.apply(Abs::new(), &a).eval().expect("c")));
    assert!(shares(&cpu.ewise_add(Plus::new(), &a, &b).eval().expect("c")));
    assert!(shares(&cpu.ewise_mult(Plus::new(), &a, &b).eval().expect("c")));
    assert!(shares(&Kernels::upload(&cpu, &a).expect("c")));
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    what_does_not_fit_is_refused(&Cpu::new()).expect("operands");
}

#[test]
fn what_was_found_is_in_the_text() {
    let (cpu, ring) = (Cpu::new(), PlusTimes::<f64>::default());
    let a = Csr::<f64>::empty(3, 4).expect("a");
    let b = Csr::<f64>::empty(4, 3).expect("b");
    let x = Vector::<f64>::empty(4).expect("x");
    let full = |n| Vector::<f64>::constant(n, 1.0).expect("x");
    let nine = full(9);
    let says = |e: Error, words: [&str; 2]| {
        let text = e.to_string();
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
        e
    };
    let e = says(cpu.mxv(ring, &a, &full(3)).eval().unwrap_err(), ["mxv", "3×1"]);
    assert!(matches!(e, Error::Shape { lhs: (3, 4), rhs: (3, 1), .. }));
    let e = says(cpu.mxv(ring, &a, &full(4)).mask(!nine.structure()).eval().unwrap_err(), ["mask", "9"]);
    assert!(matches!(e, Error::Length { found: 9, expected: 3, .. }));
    let e = says(cpu.vxm(ring, &x, &a).eval().unwrap_err(), ["vxm", "1×4"]);
    assert!(matches!(e, Error::Shape { lhs: (1, 4), rhs: (3, 4), .. }));
    let e = says(cpu.vxm(ring, &x, &b).mask(!nine.structure()).eval().unwrap_err(), ["mask", "9"]);
    assert!(matches!(e, Error::Length { found: 9, expected: 3, .. }));
    let dense = Dense::filled(3, 2, 1.0).expect("x");
    let e = says(cpu.spmm_product(ring, &a, &dense).unwrap_err(), ["spmm", "3×2"]);
    assert!(matches!(e, Error::Shape { lhs: (3, 4), rhs: (3, 2), .. }));
    let e = says(cpu.ewise_add(Plus::new(), &a, &b).eval().unwrap_err(), ["ewise_add", "4×3"]);
    assert!(matches!(e, Error::Shape { lhs: (3, 4), rhs: (4, 3), .. }));
    let e = says(cpu.ewise_mult(Plus::new(), &a, &b).eval().unwrap_err(), ["ewise_mult", "4×3"]);
    assert!(matches!(e, Error::Shape { .. }));
    // More memory than any machine has: X has no rows, but Y would be huge.
    let tall = Csr::<f64>::empty(1 << 20, 0).expect("a");
    let wide = Dense::<f64>::new(0, usize::MAX / 2, vec![]).expect("x");
    assert!(matches!(cpu.spmm_product(ring, &tall, &wide), Err(Error::OutOfMemory { .. })));
}

/// Each operation reports its progress, and stops on request.
#[test]
fn the_caller_may_stop_it() {
    let (a, ring) = (large(), PlusTimes::<f64>::default());
    let b = a.transpose(&Threads::current()).expect("b");
    let x = Vector::constant(a.nrows(), 1.0).expect("x");
    let dense = Dense::filled(a.ncols(), 2, 1.0).expect("x");
    let stop = cpu(2).on_progress(|p| {
        assert!(p.done <= p.total && !p.op.is_empty());
        ControlFlow::Break(())
    });
    let found = [
        stop.mxv(ring, &a, &x).eval().err(),
        stop.vxm(ring, &x, &a).eval().err(),
        stop.spmm_product(ring, &a, &dense).err(),
        stop.ewise_add(Plus::new(), &a, &b).eval().err(),
        stop.ewise_mult(Plus::new(), &a, &b).eval().err(),
        stop.apply(Abs::new(), &a).eval().err(),
        stop.select(Tril::new(), &a, 0).eval().err(),
        stop.reduce_rows(Plus::new(), &a).eval().err(),
        stop.reduce(Plus::new(), &a).eval().err(),
    ];
    for (which, e) in found.iter().enumerate() {
        assert!(matches!(e, Some(Error::Cancelled { .. })), "operation {which}: {e:?}");
    }
}

#[test]
fn zeros_are_entries() {
    zeros_stay_entries(&Cpu::new()).expect("small operations");
}
