//! Distances by textual formulas: the textbook, built-in metrics, awkward inputs, threads, rejected formulas.

mod common;

use common::dense_distance::{self as textbook, Rows};
use common::distances::{Sample, all as pairwise, close, large, nearest as knn};
use quickcheck::QuickCheck;
use sparring::algebra::{Plus, Union};
use sparring::distance::{AnyMetric, Formula, Measure, Metric, Options, Precision};
use sparring::sparse::Dense;
use sparring::{Cpu, Csr, Error};

/// A formula, its function, and whether it accepts negative numbers.
type Case = (&'static str, fn(f64, f64) -> f64, bool);

const CASES: [Case; 14] = [
    ("abs(a-b)", |a, b| (a - b).abs(), true),
    ("(a-b) * (a-b)", |a, b| (a - b) * (a - b), true),
    ("abs(a-b) / (a+b+1)", |a, b| (a - b).abs() / (a + b + 1.0), false),
    ("if a == b then 0 else abs(a-b) / (abs(a)+abs(b))", canberra, true),
    ("a - 3*b", |a, b| a - 3.0 * b, true),
    ("let d = a - b; d * d * d", |a, b| (a - b) * (a - b) * (a - b), true),
    ("sqrt(abs(a-b))", |a, b| (a - b).abs().sqrt(), true),
    ("pow(abs(a-b), 1.5)", |a, b| (a - b).abs().powf(1.5), true),
    ("max(a, b) - min(a, b)", |a, b| a.max(b) - a.min(b), true),
    ("if a != b then 1 else 0", |a, b| f64::from(a != b), true),
    ("if a == 0 then 0 else a * ln(a/b)", kl, false),
    ("a * b", |a, b| a * b, true),
    ("b", |_, b| b, true),
    ("0", |_, _| 0.0, true),
];

fn canberra(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / (a.abs() + b.abs()) }
}

/// +∞ for 0 = b < a.
fn kl(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a * (a / b).ln() }
}

fn formula(text: &str) -> Formula {
    Formula::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn cpu() -> Cpu {
    Cpu::new()
}

/// All distances among the rows of X, or from X to Y.
fn all(measure: impl Measure, x: &Csr<f64>, y: Option<&Csr<f64>>) -> Dense<f64> {
    pairwise(&cpu(), measure, x, y, &Options::default()).expect("distances")
}

fn narrow(a: &Csr<f64>) -> Csr<f32> {
    a.map(|&v| v as f32).expect("entries")
}

/// Σ over all columns, including those where both are 0.
fn definition(f: impl Fn(f64, f64) -> f64, x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(&a, &b)| f(a, b)).sum()
}

fn bits(d: &[f64]) -> Vec<u64> {
    d.iter().map(|v| v.to_bits()).collect()
}

/// Compares a formula with its definition, in f64 and in f32: all distances and the nearest neighbours.
#[track_caller]
fn check((text, f, _): Case, x: &Rows, y: &Rows, matrices: (&Csr<f64>, &Csr<f64>)) {
    let measure = formula(text);
    let (a, b) = matrices;
    for (other, to) in [(y, Some(b)), (x, None)] {
        let pairs = || x.iter().flat_map(|r| other.iter().map(move |s| (r, s)));
        let expected: Vec<f64> = pairs().map(|(r, s)| definition(f, r, s)).collect();
        // Where terms cancel, the rounding error is relative to the sum of absolute terms.
        let sizes: Vec<f64> = pairs().map(|(r, s)| definition(|a, b| f(a, b).abs(), r, s)).collect();
        let d = all(measure.clone(), a, to);
        assert_eq!(d.values().len(), expected.len());
        for (place, ((&d, &e), size)) in d.values().iter().zip(&expected).zip(&sizes).enumerate() {
            assert!(close(d, e, 1e-8, 1e-13 * (1.0 + size)), "{text}, place {place}: {d:e} instead of {e:e}");
        }
        let single = Options { precision: Precision::Entries, ..Options::default() };
        let (u, v) = (narrow(a), to.map(narrow));
        let d = pairwise(&cpu(), measure.clone(), &u, v.as_ref(), &single).expect("distances");
        for (place, ((&d, &e), size)) in d.values().iter().zip(&expected).zip(&sizes).enumerate() {
            assert!(
                close(f64::from(d), e, 5e-3, 1e-5 * (1.0 + size)),
                "{text} in f32, place {place}: {d:e} instead of {e:e}"
            );
        }
        let near = knn(&cpu(), measure.clone(), 3, a, to, &Options::default()).expect("neighbours");
        for i in 0..x.len() {
            let mut order: Vec<f64> = expected[i * other.len()..][..other.len()].to_vec();
            order.sort_by(f64::total_cmp);
            for (&d, &e) in near.row(i).1.iter().zip(&order) {
                assert!(close(d, e, 1e-8, 1e-11), "{text}, nearest of row {i}: {d:e} instead of {e:e}");
            }
        }
    }
}

#[test]
fn formulas_are_their_definitions() {
    fn property(sample: Sample<40, 60>, negative: bool) {
        for case in CASES {
            let mut sample = sample.clone();
            if negative && case.2 {
                sample.x.iter_mut().for_each(|row| row.iter_mut().step_by(3).for_each(|v| *v = -*v));
            }
            let (x, y) = sample.matrices();
            check(case, &sample.x, &sample.y, (&x, &y));
        }
    }
    QuickCheck::new().tests(40).quickcheck(property as fn(Sample<40, 60>, bool));
}

/// Row and column counts around a block of 128 numbers, and empty rows.
#[test]
fn long_rows_and_long_columns() {
    let number = |i: usize, j: usize| (1 + (i * 7 + j * 5) % 9) as f64 / 4.0;
    for n in [1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 700] {
        // Full columns with short ones between them, so that blocks begin at any offset.
        let rows: Rows = (0..n + 1)
            .map(|i| {
                let short = |j: usize| j % 2 == 1 && (i * 11 + j).is_multiple_of(23);
                (0..6).map(|j| if i < n && (j % 2 == 0 || short(j)) { number(i, j) } else { 0.0 }).collect()
            })
            .collect();
        let x = textbook::sparse(&rows, 6, |_, _| false);
        let few: Rows = rows.iter().step_by(97).cloned().collect();
        let y = textbook::sparse(&few, 6, |_, _| false);
        // One full row, one with every other column, one empty.
        let wide: Rows = [1, 2, n]
            .map(|step| (0..n).map(|j| if j % step == step - 1 { number(step, j) } else { 0.0 }).collect())
            .into();
        let w = textbook::sparse(&wide, n, |_, j| j % 5 == 0);
        for case in CASES {
            check(case, &few, &rows, (&y, &x));
            check(case, &rows, &few, (&x, &y));
            check(case, &wide, &wide[1..].to_vec(), (&w, &textbook::sparse(&wide[1..].to_vec(), n, |_, _| false)));
        }
    }
}

#[test]
fn the_bits_of_the_same_formula_as_a_closure() {
    let (x, y) = (large(700, 60), large(2300, 60));
    let third = |a: &Csr<f64>| a.map(|v| v / 3.0).expect("thirds");
    let (x, y) = (third(&x), third(&y));
    for (text, f, _) in CASES {
        for y in [None, Some(&y)] {
            let (own, closure) = (formula(text), Formula::new("a closure", f));
            let (d, e) = (all(own.clone(), &x, y), all(closure.clone(), &x, y));
            let same = d.values().iter().zip(e.values()).all(|(d, e)| d == e || d.is_nan() && e.is_nan());
            assert!(same, "{text}, {}", y.is_some());
            let near = |m: Formula| knn(&cpu(), m, 7, &x, y, &Options::default()).expect("neighbours");
            let (d, e) = (near(own), near(closure));
            assert_eq!((d.indices(), d.distances()), (e.indices(), e.distances()), "{text}");
        }
    }
}

#[test]
fn formulas_are_the_metrics_of_their_names() {
    let (x, y) = (large(300, 60), large(500, 60));
    for (text, metric) in [
        ("abs(a-b)", Metric::Manhattan),
        ("abs_diff(a, b)", Metric::Manhattan),
        ("(a-b) * (a-b)", Metric::SquaredEuclidean),
        ("if a == b then 0 else abs(a-b) / (abs(a)+abs(b))", Metric::Canberra),
        ("if a != b then 1 else 0", Metric::HammingCount),
    ] {
        for y in [None, Some(&y)] {
            let (d, e) = (all(formula(text), &x, y), all(metric, &x, y));
            let same = d.values().iter().zip(e.values()).all(|(&a, &b)| close(a, b, 1e-12, 1e-12));
            assert!(same, "{text}: {metric}");
            assert!(d.values().contains(&0.0), "equal rows are at 0 exactly");
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    fn same<T: sparring::distance::Float>(text: &str, x: &Csr<T>) {
        let options = Options { precision: Precision::Entries, ..Options::default() };
        let of = |n: usize| {
            let cpu = Cpu::with_threads(n).expect("threads");
            let d = pairwise(&cpu, formula(text), x, None, &options).expect("distances");
            let near = knn(&cpu, formula(text), 7, x, None, &options).expect("neighbours");
            let [d, far] = [d.values(), near.distances()].map(|d| d.iter().map(|v| v.as_f64().to_bits()).collect());
            let (d, far): (Vec<u64>, Vec<u64>) = (d, far);
            (d, near.indices().to_vec(), far)
        };
        let one = of(1);
        for n in [2, 3, 8] {
            assert!(of(n) == one, "{text}: {n} threads");
        }
    }
    let x = large(2300, 90).map(|v| v / 3.0).expect("thirds");
    for text in ["abs(a-b)", "abs(a-b) / (a+b+1)", "a - 3*b"] {
        same(text, &x);
        same(text, &narrow(&x));
    }
}

/// Pairs whose keys are ∞ − ∞ or only cancellation error are recomputed over the union of their columns: for text, a
/// closure, and a NAMM.
#[test]
fn what_entries_add_alone_may_be_infinite_or_cancel() {
    sparring::op! {
        /// a ln(a/b), 0 for a = 0.
        Kl (a: f64, b: f64) -> f64 {
            a.eq(sparring::algebra::V::lit(0.0)).select(sparring::algebra::V::lit(0.0), a * (a / b).ln())
        }
    }
    sparring::op! {
        /// (a − b)³.
        Cube (a: f64, b: f64) -> f64 { (a - b) * (a - b) * (a - b) }
    }
    fn check(measure: impl Measure + Clone, f: fn(f64, f64) -> f64, rows: &Rows) {
        let x = textbook::sparse(rows, rows[0].len(), |_, _| false);
        for y in [None, Some(&x)] {
            let d = all(measure.clone(), &x, y);
            for (i, a) in rows.iter().enumerate() {
                for (j, b) in rows.iter().enumerate() {
                    let e = definition(f, a, b);
                    assert!(close(d.row(i)[j], e, 1e-11, 1e-11), "({i}, {j}): {} not {e}", d.row(i)[j]);
                }
            }
        }
    }
    let shares: Rows = vec![vec![0.5, 0.5, 0.0], vec![0.25, 0.5, 0.25], vec![0.0, 0.0, 1.0], vec![0.0; 3]];
    check(Union(Plus::new(), Kl::new()), kl, &shares);
    check(Formula::new("kl", kl), kl, &shares);
    check(formula("if a == 0 then 0 else a * ln(a/b)"), kl, &shares);
    // 9³ + 10³ = 1³ + 12³: the first row's own sum is 0, and the second's is small compared with its terms.
    let first: Vec<f64> = [9.0, 10.0, -1.0, -12.0].map(|v| v * 1e6).into();
    let second = vec![first[0], first[1], first[2] + 144.0, first[3] - 1.0];
    let cube = |a: f64, b: f64| (a - b) * (a - b) * (a - b);
    let cancel = vec![first, second];
    check(Union(Plus::new(), Cube::new()), cube, &cancel);
    check(Formula::new("cube", cube), cube, &cancel);
    check(formula("let d = a - b; d * d * d"), cube, &cancel);
}

#[test]
fn no_rows_and_no_columns_and_no_numbers() {
    let none = Csr::<f64>::new(0, 5, vec![0], vec![], vec![]).expect("0×5");
    let some = Csr::<f64>::new(2, 5, vec![0, 1, 1], vec![2], vec![1.0]).expect("2×5");
    let thin = Csr::<f64>::new(3, 0, vec![0; 4], vec![], vec![]).expect("3×0");
    for (text, ..) in CASES {
        assert_eq!(all(formula(text), &none, Some(&some)).shape(), (0, 2));
        assert_eq!(all(formula(text), &some, Some(&none)).shape(), (2, 0));
        assert_eq!(all(formula(text), &thin, None).values(), [0.0; 9]);
        let nearest = |x, y| knn(&cpu(), formula(text), 3, x, y, &Options::default()).expect("neighbours");
        assert_eq!((nearest(&some, Some(&none)).k(), nearest(&none, None).nrows()), (0, 0));
    }
    let odd = |x: f64| Csr::<f64>::new(3, 4, vec![0, 1, 1, 3], vec![0, 1, 3], vec![1.0, 2.0, x]).expect("3×4");
    for x in [f64::NAN, f64::INFINITY] {
        let refused = pairwise(&cpu(), formula("abs(a-b)"), &odd(x), None, &Options::default()).expect_err("refused");
        assert!(refused.to_string().contains("row 2, column 3 holds"), "{refused}");
    }
    let unchecked = Options { unchecked: true, ..Options::default() };
    let d = pairwise(&cpu(), formula("abs(a-b)"), &odd(f64::NAN), None, &unchecked).expect("unchecked");
    assert!(d.row(0)[2].is_nan() && d.row(0)[1] == 1.0);
    let d = all(formula("abs(a-b)"), &odd(-5.0), None);
    assert_eq!(d.row(2), [8.0, 7.0, 0.0], "negative numbers are taken");
}

#[test]
fn f32_is_computed_in_f32_unless_the_text_says_otherwise() {
    let x = narrow(&large(300, 60).map(|v| v / 3.0).expect("thirds"));
    let of = |text: &str, precision| {
        let options = Options { precision, ..Options::default() };
        let d = pairwise(&cpu(), formula(text), &x, None, &options).expect("distances");
        bits(&d.values().iter().map(|&v| f64::from(v)).collect::<Vec<_>>())
    };
    let double = of("abs(a-b)", Precision::Double);
    assert_ne!(of("abs(a-b)", Precision::Entries), double);
    // A constant beyond the range of f32, and one of type f64.
    for text in ["abs(a-b) + 0 * 1e300", "abs(a-b) * f64(1)"] {
        assert_eq!(of(text, Precision::Entries), double, "{text}");
    }
}

#[test]
fn what_is_refused_points_at_the_place() {
    let text = |text: &str| Formula::parse(text).expect_err("refused").to_string();
    assert_eq!(
        text("abs(a - b) / (a + * b)"),
        "formula: expected a number, a parameter, a function, or (\n  abs(a - b) / (a + * b)\n                    ^"
    );
    assert_eq!(text(" a - i "), "formula: there is no parameter i; there are a, b\n  a - i\n      ^");
    assert_eq!(text("a - (a & b)"), "formula: & does not take (f64, f64)\n  a - (a & b)\n       ^");
    assert_eq!(text("a < b"), "formula: this is bool, but f64 is expected: f64(…) converts\n  a < b\n  ^");
    assert_eq!(
        text("f32(a) - f32(b)"),
        "formula: this is f32, but f64 is expected: f64(…) converts\n  f32(a) - f32(b)\n  ^"
    );
    for (formula, words) in [
        (
            "a + b + 1",
            "metric: a + b + 1: 0 ⊗ 0 is 1, not 0, but columns where both rows are 0 are left out of the sum",
        ),
        ("abs(a-b) / (a+b)", "0 ⊗ 0 is NaN, not 0"),
        ("abs(a-b) / (a+b)", "define it as 0: if a == b then 0 else abs(a-b) / (a+b)"),
        ("ln(a) - b", "0 ⊗ 0 is -inf, not 0"),
    ] {
        let said = text(formula);
        assert!(said.contains(words) && matches!(Formula::parse(formula), Err(Error::Argument { .. })), "{said}");
    }
}

#[test]
fn text_is_a_name_or_a_formula() {
    let named = |text: &str| AnyMetric::named(text, None);
    assert!(matches!(named("l1"), Ok(AnyMetric::Named(Metric::Manhattan))));
    assert!(matches!(AnyMetric::named("minkowski", Some(3.0)), Ok(AnyMetric::Named(Metric::Minkowski(3.0)))));
    let found = named(" abs(a - b)").expect("a formula");
    assert_eq!((found.name(), found.to_string().as_str()), ("abs(a - b)", "abs(a - b)"));
    assert!(matches!("a".parse(), Ok(AnyMetric::Formula(_))));
    for text in ["cosin", "Cosine", "kl-divergence", "russell rao", "l3", "", "abs"] {
        let said = named(text).expect_err("no name").to_string();
        assert!(said.starts_with(&format!("metric: there is no {text:?}; there are cosine, correlation, ")), "{said}");
    }
    for text in ["a-c", "b c", "cosin(a)", "abs(a-c)", "1 +"] {
        assert!(matches!(named(text), Err(Error::Formula { .. })), "{text}");
    }
    for (text, p, words) in [
        ("minkowski", None, "p: minkowski needs a p"),
        ("cosine", Some(2.0), "p: cosine has no parameter, but p is 2"),
        (
            "pow(abs(a-b), 3)",
            Some(3.0),
            "p: a formula has no parameters but a and b, but p is 3: write it into the formula",
        ),
        ("cosin", Some(3.0), "metric: there is no \"cosin\""),
        ("a + b + 1", None, "0 ⊗ 0 is 1, not 0"),
    ] {
        let said = AnyMetric::named(text, p).expect_err("refused").to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn symmetry_is_seen_where_it_is_plain() {
    for (text, symmetric) in [
        ("abs(a-b)", true),
        ("abs(b-a) / (abs(a) + abs(b) + 1)", true),
        ("(a-b) * (a-b)", true),
        ("let d = a - b; 2 * d * d / (a*a + b*b + 1)", true),
        ("abs(a-b) / (1 + abs(a-b))", true),
        ("if a == b then 0 else abs(a-b) / (abs(a)+abs(b))", true),
        ("max(a, b) - min(a, b)", true),
        ("pow(abs(a-b), 1.5)", true),
        ("a - b", false),
        // Symmetric except for the order of rounding.
        ("abs(b-a) / (1 + abs(a) + abs(b))", false),
        ("abs(a - 2*b)", false),
        ("(a-b) * (a-b) * (a-b)", false),
        ("abs(a-b) / (a+1)", false),
        ("if a < b then b - a else a - b", false),
    ] {
        assert_eq!(text.parse::<AnyMetric>().expect("a formula").is_symmetric(), symmetric, "{text}");
    }
    // Where the formula is symmetric, so are the distances.
    let x = large(90, 30).map(|v| v / 3.0).expect("thirds");
    for (text, ..) in CASES {
        let measure: AnyMetric = text.parse().expect("a formula");
        let d = all(measure.clone(), &x, None);
        let same = (0..90).all(|i| (0..90).all(|j| d.row(i)[j].to_bits() == d.row(j)[i].to_bits()));
        assert!(same || !measure.is_symmetric(), "{text}");
    }
}
