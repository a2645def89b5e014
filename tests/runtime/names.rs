//! Operators built once: every pair of names on small matrices compared with loops over formulas; handles shared by
//! threads.

use sparring::algebra::{Type, dynamic, operators};
use sparring::prelude::*;
use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Semiring, UnaryOp, Vector};

use super::definition::{Plain, entry, fold};
use super::operands::{same, same_values};
use crate::common::arbitrary::{AnyPattern, Rng};

fn of_type(ty: Type) -> (Matrix, Matrix, Vector) {
    let a =
        Csr::<f64>::new(4, 4, vec![0, 2, 5, 5, 7], vec![0, 1, 0, 1, 2, 1, 3], vec![2.0, 1.0, 0.0, 3.0, 1.0, 5.0, 7.0]);
    let b =
        Csr::<f64>::new(4, 4, vec![0, 3, 4, 4, 7], vec![0, 1, 3, 1, 0, 2, 3], vec![1.0, 4.0, 0.0, 2.0, 6.0, 1.0, 3.0]);
    let x = sparring::Vector::<f64>::full(vec![3.0, 0.0, 1.0, 2.0]);
    let cast = |m: Csr<f64>| Matrix::from(m).cast(ty).unwrap();
    (cast(a.unwrap()), cast(b.unwrap()), Vector::from(x.unwrap()).cast(ty).unwrap())
}

/// All pairs of a monoid and an operator, more than the cache holds.
#[test]
fn every_pair_of_names_is_the_loop_over_its_formulas() {
    let cpu = Machine::from(Cpu::with_threads(1).unwrap());
    let mut number = 0;
    for &ty in Type::ALL {
        let (a, b, x) = of_type(ty);
        // As a one-column matrix.
        let column = {
            let values = x.entries().unwrap().1;
            let pattern = sparring::Pattern::new(4, 1, (0..=4).collect(), vec![0; 4]).unwrap();
            Matrix::new(std::sync::Arc::new(pattern), values).unwrap()
        };
        for add in dynamic::MONOIDS.iter().map(|row| row.name) {
            for mul in operators::BINARY.iter().chain(operators::POSITIONAL) {
                let name = format!("{add}_{}", mul.name);
                let Ok(ring) = Semiring::new(&name, ty) else { continue };
                number += 1;
                let formula = ring.formula();
                let plain = (&Plain::new(formula.add().op()), &Plain::new(formula.mul()));
                let (c, y) = (cpu.mxm(&ring, &a, &b).unwrap(), cpu.mxv(&ring, &a, &x).unwrap());
                let what = format!("{name} over {ty}");
                let (pattern, values) = (c.pattern().unwrap(), c.values().unwrap());
                let mut n = 0;
                for (i, j) in (0..16).map(|p| (p / 4, p % 4)) {
                    if let Some(want) = entry(&ring, plain, (i, j), &a, &b) {
                        assert_eq!((pattern.col_idx()[n], n < pattern.row_ptr()[i + 1]), (j as u32, true), "{what}");
                        same_values(values.part(n..n + 1), want.slice(), &what);
                        n += 1;
                    }
                }
                assert_eq!(n, c.nnz(), "{what}");
                let (at, values) = y.entries().unwrap();
                let want = (0..4).filter_map(|i| Some((i as u32, entry(&ring, plain, (i, 0), &a, &column)?)));
                let want: Vec<_> = want.collect();
                assert_eq!(at, want.iter().map(|(i, _)| *i).collect::<Vec<_>>(), "{what}");
                for (p, (_, want)) in want.iter().enumerate() {
                    same_values(values.slice().part(p..p + 1), want.slice(), &format!("mxv {what}"));
                }
            }
            let Ok(monoid) = Monoid::new(add, ty) else { continue };
            assert_eq!(cpu.reduce(&monoid, &a).unwrap(), fold(&monoid, a.values().unwrap()), "reduce {add} over {ty}");
        }
    }
    assert!(number > 2000, "{number} pairs");
}

/// An unknown name gives the same error each time.
#[test]
fn unknown_names_are_refused_again() {
    let twice = |f: &dyn Fn() -> String| {
        let first = f();
        assert_eq!(first, f());
        first
    };
    let e = twice(&|| Semiring::new("min_plush", Type::F64).unwrap_err().to_string());
    assert!(e.contains("semiring 'min_plush' over f64") && e.contains("operator 'plush'"), "{e}");
    let e = twice(&|| Monoid::new("minimum", Type::F64).unwrap_err().to_string());
    assert!(e.contains("monoid 'minimum' over f64") && e.contains("logaddexp"), "{e}");
    let e = twice(&|| Monoid::new("a - b identity 0", Type::F64).unwrap_err().to_string());
    assert!(e.contains("0 ⊕ x is -1.0, not x, for x = 1.0"), "{e}");
    let e = twice(&|| BinaryOp::new("a +", Type::F64).unwrap_err().to_string());
    assert!(e.contains("a +"), "{e}");
    // An operator of one type need not exist for another.
    assert!(Semiring::new("bor_band", Type::I32).is_ok() && Semiring::new("bor_band", Type::F64).is_err());
}

/// `new` reads a word as a name, `between` as a parameter: their cache entries are separate.
#[test]
fn a_text_means_what_it_is_asked_as() {
    assert!(BinaryOp::new("plus", Type::F64).is_ok());
    assert!(BinaryOp::between("plus", Type::F64, Type::F64).is_err());
    assert!(UnaryOp::new("abs", Type::F64).is_ok() && UnaryOp::between("abs", Type::F64, Type::F64).is_err());
    // The text is printed as given, without surrounding blanks.
    let (ring, again) =
        (Semiring::new(" min_plus ", Type::F64).unwrap(), Semiring::new("min_plus", Type::F64).unwrap());
    assert_eq!((ring.to_string(), &ring), ("min_plus".into(), &again));
    assert_ne!(Semiring::new("tropical", Type::F64).unwrap(), again);
}

/// Eight threads start with one handle that has not run yet.
#[test]
fn threads_share_a_handle() {
    let mut rng = Rng(5);
    let operands: Vec<(Matrix, Vector)> = (0..8)
        .map(|seed| {
            let n = 3 + 40 * rng.below(5);
            let x = (0..n).map(|k| k as f64 / 8.0).collect();
            let a = AnyPattern::of_shape(&mut rng, n, n).matrix::<f64>(seed);
            (Matrix::from(a), Vector::from(sparring::Vector::<f64>::full(x).unwrap()))
        })
        .collect();
    // The same formulas in other words: nothing is shared with the handles of the threads.
    let texts = |n: usize| {
        let spaces = " ".repeat(n);
        (
            format!("a + b - a*b identity 0, abs(a - b) {spaces}* f64(j + 1)"),
            format!("a + b {spaces}- a*b identity 0"),
            format!("a {spaces}+ 2*b"),
        )
    };
    let run = |m: &Machine, (ring, add, op): &(Semiring, Monoid, BinaryOp), (a, x): &(Matrix, Vector)| {
        let y = m.mxv(ring, a, x).unwrap().entries().unwrap();
        (m.mxm(ring, a, a).unwrap(), y, m.reduce(add, a).unwrap(), m.ewise_mult(op, a, a).unwrap())
    };
    let of = |n| {
        let (ring, add, op) = texts(n);
        let ty = Type::F64;
        (Semiring::new(&ring, ty).unwrap(), Monoid::new(&add, ty).unwrap(), BinaryOp::new(&op, ty).unwrap())
    };
    let one = Machine::from(Cpu::with_threads(1).unwrap());
    let want: Vec<_> = operands.iter().map(|operands| run(&one, &of(0), operands)).collect();
    for round in 1..20 {
        let handles = of(round);
        std::thread::scope(|scope| {
            for (operands, want) in operands.iter().zip(&want) {
                let handles = handles.clone();
                scope.spawn(move || {
                    let m = Machine::from(Cpu::with_threads(1 + round % 2).unwrap());
                    for _ in 0..5 {
                        let found = run(&m, &handles, operands);
                        same(&found.0, &want.0, "mxm");
                        assert_eq!(found.1.0, want.1.0);
                        same_values(found.1.1.slice(), want.1.1.slice(), "mxv");
                        assert_eq!(found.2, want.2);
                        same(&found.3, &want.3, "ewise_mult");
                    }
                });
            }
        });
    }
}

/// The predefined operators of the GraphBLAS C API 2.1, its tables 3.4 to 3.8: all 502 by their names there.
#[test]
fn every_predefined_operator_of_graphblas_has_its_name() {
    use Type::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let integers = [I8, I16, I32, I64, U8, U16, U32, U64];
    let numbers = [&integers[..], &[F32, F64]].concat();
    let all = [&[Bool][..], &numbers].concat();
    let mut known = 0;
    let mut each = |names: &str, types: &[Type], make: &dyn Fn(&str, Type) -> Result<()>| {
        for name in names.split_whitespace() {
            for &ty in types {
                make(name, ty).unwrap_or_else(|e| panic!("{name} of {ty}: {e}"));
                known += 1;
            }
        }
    };
    let unary = |name: &str, ty| UnaryOp::new(name, ty).map(drop);
    each("IDENTITY ABS AINV MINV", &all, &unary);
    each("LNOT", &[Bool], &unary);
    each("BNOT", &integers, &unary);
    let binary = |name: &str, ty| BinaryOp::new(name, ty).map(drop);
    each("LOR LAND LXOR LXNOR", &[Bool], &binary);
    each("BOR BAND BXOR BXNOR", &integers, &binary);
    each("EQ NE GT LT GE LE FIRST SECOND ONEB MIN MAX PLUS MINUS TIMES DIV", &all, &binary);
    let indexed = |name: &str, ty| UnaryOp::new(name, ty)?.with(0i64).map(drop);
    each("ROWINDEX COLINDEX DIAGINDEX", &[I32, I64], &indexed);
    each("TRIL TRIU DIAG OFFDIAG COLLE COLGT ROWLE ROWGT", &[I64], &indexed);
    each("VALUEEQ VALUENE VALUELT VALUELE VALUEGT VALUEGE", &all, &unary);
    let monoid = |name: &str, ty| Monoid::new(name, ty).map(drop);
    each("PLUS TIMES MIN MAX", &numbers, &monoid);
    each("LOR LAND LXOR LXNOR", &[Bool], &monoid);
    let ring = |name: &str, ty| Semiring::new(name, ty).map(drop);
    each("PLUS_TIMES MIN_PLUS MAX_PLUS MIN_TIMES MIN_MAX MIN_FIRST MIN_SECOND", &numbers, &ring);
    each("MAX_TIMES MAX_MIN MAX_FIRST MAX_SECOND PLUS_MIN", &numbers, &ring);
    each("LOR_LAND LAND_LOR LXOR_LAND LXNOR_LOR", &[Bool], &ring);
    assert_eq!(known, 502);
}
