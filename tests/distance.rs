//! Distances and neighbours: reference vectors, the textbook, awkward inputs, threads, budgets.

mod common;

use common::backend_checks;
use common::dense_distance as textbook;
use common::distances::{self, all as pairwise, close, large, metrics, nearest as knn, options, within as radius};
use quickcheck::QuickCheck;
use sparring::algebra::{AbsDiff, MaxFromZero, Plus, Union, V};
use sparring::distance::{CanberraDiff, Domain, Formula, Measure, Metric, Options, Precision};
use sparring::{Cpu, Csr, Error};

fn cpu() -> Cpu {
    Cpu::new()
}

type Sample = distances::Sample<40, 60>;

fn signed(metric: Metric) -> bool {
    metric.entry().domain != Domain::NonNegative
}

#[test]
fn reference_vectors() {
    distances::check_vectors(|metric, x, y, options| {
        pairwise(&cpu(), metric, x, y, options).expect("distances").into_values()
    });
}

#[test]
fn reference_vectors_of_neighbours() {
    distances::check_vectors_of_neighbours(|metric, k, x| {
        knn(&cpu(), metric, k, x, None, &Options::default()).expect("neighbours")
    });
}

#[test]
fn all_metrics_are_their_definitions() {
    fn property(sample: Sample, negative: bool) {
        for (metric, normalize) in metrics() {
            let mut sample = sample.clone();
            if negative && signed(metric) {
                sample.x.iter_mut().for_each(|r| r.iter_mut().step_by(3).for_each(|v| *v = -*v));
            }
            let (x, y) = sample.matrices();
            let options = options(normalize);
            for (b, other) in [(Some(&y), &sample.y), (None, &sample.x)] {
                let found = pairwise(&cpu(), metric, &x, b, &options).expect("distances");
                let expected = textbook::all(metric, normalize, &sample.x, other);
                for (place, (&f, &e)) in found.values().iter().zip(&expected).enumerate() {
                    assert!(close(f, e, 1e-11, 1e-11), "{metric} {normalize:?}, place {place}: {f:e} instead of {e:e}");
                }
            }
        }
    }
    QuickCheck::new().tests(60).quickcheck(property as fn(Sample, bool));
}

#[test]
fn neighbours_are_the_first_of_all_distances() {
    fn property(sample: Sample, k: u8, exclude: bool) {
        let (x, y) = sample.matrices();
        let k = usize::from(k % 12);
        for (metric, normalize) in metrics() {
            for b in [Some(&y), None] {
                let options = Options { exclude_self: exclude && b.is_none(), ..options(normalize) };
                let near = knn(&cpu(), metric, k, &x, b, &options).expect("neighbours");
                let d = pairwise(&cpu(), metric, &x, b, &options).expect("distances");
                let m = b.unwrap_or(&x).nrows();
                assert_eq!(near.k(), k.min(m - usize::from(options.exclude_self && m > 0)));
                for i in 0..x.nrows() {
                    let mut order: Vec<usize> = (0..m).filter(|&j| !(options.exclude_self && i == j)).collect();
                    let sign = if metric.is_similarity() { -1.0 } else { 1.0 };
                    order.sort_by(|&p, &q| (sign * d.row(i)[p]).total_cmp(&(sign * d.row(i)[q])).then(p.cmp(&q)));
                    let (found, distances) = near.row(i);
                    for (place, (&j, &value)) in found.iter().zip(distances).enumerate() {
                        // Pairs that tie up to rounding may be exchanged: neighbours rank by keys, not by their roots.
                        let (right, found) = (d.row(i)[order[place]], d.row(i)[j as usize]);
                        assert!(close(value, found, 0.0, 0.0), "{metric}: {value} is not {found}");
                        assert!(
                            close(right, found, 1e-14, 1e-15),
                            "{metric}, row {i}, place {place}: {found} not {right}"
                        );
                    }
                }
            }
        }
    }
    QuickCheck::new().tests(25).quickcheck(property as fn(Sample, u8, bool));
}

#[test]
fn radius_finds_what_is_inside() {
    fn property(sample: Sample, percent: u8) {
        let (x, y) = sample.matrices();
        for (metric, normalize) in metrics() {
            for b in [Some(&y), None] {
                let options = Options { exclude_self: b.is_none() && percent.is_multiple_of(2), ..options(normalize) };
                let d = pairwise(&cpu(), metric, &x, b, &options).expect("distances");
                let mut sorted: Vec<f64> = d.values().iter().copied().filter(|v| v.is_finite()).collect();
                sorted.sort_by(f64::total_cmp);
                let Some(&r) = sorted.get(sorted.len() * usize::from(percent % 100) / 100) else { continue };
                let found = radius(&cpu(), metric, r, &x, b, &options).expect("neighbours");
                assert_eq!(found.shape(), d.shape());
                for i in 0..x.nrows() {
                    let inside = |v: f64| if metric.is_similarity() { v >= r } else { v <= r };
                    let expected: Vec<(u32, f64)> = (0..d.ncols())
                        .filter(|&j| inside(d.row(i)[j]) && !(options.exclude_self && i == j))
                        .map(|j| (j as u32, d.row(i)[j]))
                        .collect();
                    let (columns, values) = found.row(i);
                    assert_eq!(columns.iter().copied().zip(values.iter().copied()).collect::<Vec<_>>(), expected);
                }
            }
        }
    }
    QuickCheck::new().tests(15).quickcheck(property as fn(Sample, u8));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    sparring::op! {
        /// (a − b)² / (a + b + 1).
        Damped (a: f64, b: f64) -> f64 { (a - b) * (a - b) / (a + b + V::lit(1.0)) }
    }
    fn same<M: Measure + Copy>(measure: M, x: &Csr<f64>) {
        let of = |n: usize| {
            let cpu = Cpu::with_threads(n).expect("threads");
            let options = Options::default();
            let d: Vec<u64> = pairwise(&cpu, measure, x, None, &options)
                .expect("distances")
                .values()
                .iter()
                .map(|v| v.to_bits())
                .collect();
            let near = knn(&cpu, measure, 7, x, None, &options).expect("neighbours");
            let far: Vec<u64> = near.distances().iter().map(|v| v.to_bits()).collect();
            (d, near.indices().to_vec(), far)
        };
        let one = of(1);
        for n in [2, 3, 8] {
            assert!(of(n) == one, "{}: {n} threads", measure.name());
        }
    }
    let x = large(2300, 90);
    for metric in
        [Metric::Cosine, Metric::Manhattan, Metric::JensenShannon, Metric::Kl, Metric::Jaccard, Metric::Chebyshev]
    {
        same(metric, &x);
    }
    same(Union(Plus::new(), Damped::new()), &x);
    same(Union(MaxFromZero::new(), Damped::new()), &large(700, 90));
}

#[test]
fn several_tiles_are_the_definition() {
    let x = large(2300, 40);
    let rows = textbook::dense(&x);
    for metric in [Metric::Euclidean, Metric::Chebyshev, Metric::Canberra] {
        let d = pairwise(&cpu(), metric, &x, None, &Options::default()).expect("distances");
        let near = knn(&cpu(), metric, 9, &x, None, &Options::default()).expect("neighbours");
        let other = knn(&cpu(), metric, 9, &x, Some(&x), &Options::default()).expect("neighbours");
        for i in (0..2300).step_by(61) {
            for j in 0..2300 {
                let e = textbook::distance(metric, None, &rows[i], &rows[j]);
                assert!(close(d.row(i)[j], e, 1e-11, 1e-11) && d.row(i)[j] == d.row(j)[i], "{metric} ({i}, {j})");
            }
            let mut order: Vec<u32> = (0..2300).collect();
            order.sort_by(|&p, &q| d.row(i)[p as usize].total_cmp(&d.row(i)[q as usize]).then(p.cmp(&q)));
            let distance = |j: u32| d.row(i)[j as usize];
            for (found, right) in near.row(i).0.iter().zip(&order) {
                assert!(close(distance(*found), distance(*right), 1e-14, 0.0), "{metric}, row {i}");
            }
            assert_eq!(near.row(i).1.len(), other.row(i).1.len());
        }
    }
}

#[test]
fn a_namm_of_the_callers() {
    sparring::op! {
        /// |a − b| (a + b).
        Weighed (a: f64, b: f64) -> f64 { a.abs_diff(b) * (a + b) }
    }
    fn check(measure: impl Measure + Copy, x: &Csr<f64>, y: &Csr<f64>, fold: impl Fn(f64, f64) -> f64, e: f64) {
        let (a, b) = (textbook::dense(x), textbook::dense(y));
        let d = pairwise(&cpu(), measure, x, Some(y), &Options::default()).expect("distances");
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                let right = a.iter().zip(b).map(|(a, b)| (a - b).abs() * (a + b)).fold(e, &fold);
                assert!(close(d.row(i)[j], right, 1e-12, 1e-12), "({i}, {j}): {} not {right}", d.row(i)[j]);
            }
        }
        let near = knn(&cpu(), measure, 1, x, Some(y), &Options::default()).expect("neighbours");
        for i in 0..x.nrows() {
            let least = d.row(i).iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(near.row(i).1, [least]);
        }
    }
    let (x, y) = (large(120, 30), large(90, 30));
    check(Union(Plus::new(), Weighed::new()), &x, &y, |s, v| s + v, 0.0);
    check(Union(MaxFromZero::new(), Weighed::new()), &x, &y, f64::max, 0.0);
}

#[test]
fn single_precision() {
    let wide = large(300, 50);
    let narrow = Csr::with_pattern(wide.pattern().clone(), wide.values().iter().map(|&v| v as f32).collect::<Vec<_>>())
        .expect("a matrix");
    for (metric, normalize) in metrics() {
        let d = pairwise(&cpu(), metric, &wide, None, &options(normalize)).expect("distances");
        // Entries are multiples of 1/4: only the result is rounded.
        let double = pairwise(&cpu(), metric, &narrow, None, &options(normalize)).expect("distances");
        assert!(double.values().iter().zip(d.values()).all(|(&a, &b)| a == b as f32), "{metric}");
        let options = Options { precision: Precision::Entries, ..options(normalize) };
        let single = pairwise(&cpu(), metric, &narrow, None, &options).expect("distances");
        let scale = d.values().iter().copied().filter(|v| v.is_finite()).fold(1.0, |a: f64, b| a.max(b.abs()));
        for (&a, &b) in single.values().iter().zip(d.values()) {
            assert!(close(f64::from(a), b, 1e-4, 2e-5 * scale), "{metric}: {a:e} instead of {b:e}");
        }
    }
}

#[test]
fn metrics_are_metrics() {
    let x = large(60, 25);
    for metric in [
        Metric::Euclidean,
        Metric::Manhattan,
        Metric::Canberra,
        Metric::Chebyshev,
        Metric::Hamming,
        Metric::Minkowski(2.5),
        Metric::Hellinger,
        Metric::JensenShannon,
        Metric::Jaccard,
        Metric::Ruzicka,
        Metric::Matching,
        Metric::RogersTanimoto,
    ] {
        let d = pairwise(&cpu(), metric, &x, None, &Options::default()).expect("distances");
        let rows = textbook::dense(&x);
        for i in 0..60 {
            for j in 0..60 {
                let same_set = rows[i].iter().zip(&rows[j]).all(|(a, b)| (*a != 0.0) == (*b != 0.0));
                let apart = if metric.entry().domain == Domain::Sets { !same_set } else { rows[i] != rows[j] };
                assert_eq!(d.row(i)[j], d.row(j)[i], "{metric} is symmetric");
                // Hellinger and Jensen–Shannon distances of proportional rows, normalized by their sums, are 0 as well.
                assert!((d.row(i)[j] > 0.0) == apart || metric == Metric::JensenShannon, "{metric} ({i}, {j})");
                for k in 0..60 {
                    assert!(d.row(i)[k] <= d.row(i)[j] + d.row(j)[k] + 1e-12, "{metric}: triangle {i} {j} {k}");
                }
            }
        }
    }
}

#[test]
fn metrics_are_symmetric_where_they_say_so() {
    // Numbers whose sums round, and rows that are equal but for the last digits.
    let third = |a: &Csr<f64>, by: f64| a.map(|v| v / by).expect("thirds");
    let (x, y) = (third(&large(60, 25), 3.0), third(&large(47, 25), 3.0 + 1e-9));
    for (metric, normalize) in metrics() {
        let d = |x, y| pairwise(&cpu(), metric, x, Some(y), &options(normalize)).expect("distances");
        let (there, back) = (d(&x, &y), d(&y, &x));
        let places = || (0..60).flat_map(|i| (0..47).map(move |j| (i, j)));
        let symmetric = places().all(|(i, j)| there.row(i)[j].to_bits() == back.row(j)[i].to_bits());
        assert_eq!(symmetric, metric.is_symmetric(), "{metric}");
    }
}

#[test]
fn blocks_and_the_callers_memory() {
    let (x, y) = (large(130, 20), large(70, 20));
    let options = Options::default();
    let d = pairwise(&cpu(), Metric::Canberra, &x, Some(&y), &options).expect("distances");
    let mut stream = vec![];
    let cpu = cpu();
    let explain = cpu.distances(Metric::Canberra, &x).to(&y).blocks(33, |first, rows| {
        assert_eq!(first * 70, stream.len());
        stream.extend_from_slice(rows);
        Ok(())
    });
    assert_eq!(stream, d.values());
    assert!(explain.expect("distances").contains("inverted index"));
    let mut own = vec![0.0; 130 * 70];
    cpu.distances(Metric::Canberra, &x).to(&y).into(&mut own).expect("distances");
    assert_eq!(own, d.values());
    let short = cpu.distances(Metric::Canberra, &x).to(&y).into(&mut own[1..]);
    assert!(matches!(short, Err(Error::Length { found: 9099, expected: 9100, .. })));
}

#[test]
fn a_processor_has_them_as_methods() {
    let (x, y) = (large(90, 30), large(40, 30));
    for cpu in [Cpu::new(), Cpu::with_threads(3).expect("threads")] {
        backend_checks::distances(&cpu, &x, &y).unwrap_or_else(|e| panic!("{e}"));
    }
    // The smaller of the backend's budget and that of the options applies.
    let (cpu, options) = (Cpu::new().memory_budget(50_000), Options::default());
    let text = |r: Result<(), Error>| r.expect_err("refused").to_string();
    let all = |cpu: &Cpu, options: Options| text(pairwise(cpu, Metric::Dot, &x, None, &options).map(drop));
    assert!(all(&cpu, options).contains("the budget is 50000 bytes"));
    for (budget, least) in [(10_000, 10_000), (60_000, 50_000)] {
        let options = Options { memory_budget: Some(budget), ..options };
        let said = format!("the budget is {least} bytes");
        assert!(all(&cpu, options).contains(&said));
        let mut out = vec![0.0; 90 * 90];
        let asked = || cpu.distances(Metric::Dot, &x).options(options);
        assert!(text(asked().into(&mut out).map(drop)).contains(&said));
        assert!(text(asked().blocks(90, |_, _| Ok(())).map(drop)).contains(&said));
        assert!(text(knn(&cpu, Metric::Dot, 90, &x, None, &options).map(drop)).contains(&said));
        let chained = cpu.neighbours(Metric::Dot, &x).memory_budget(70_000).memory_budget(budget).k(90).eval();
        assert!(text(chained.map(drop)).contains(&said), "of several the smallest");
    }
    assert!(cpu.neighbours(Metric::Dot, &x).prepare().expect("rows").nearest_bytes(5) > 90 * 5 * 12);
    let cpu = cpu.memory_budget(100);
    assert!(text(radius(&cpu, Metric::Dot, 0.0, &x, None, &options).map(drop)).contains("is 100 bytes"));
}

#[test]
fn no_rows_and_no_columns() {
    let none = Csr::<f64>::new(0, 5, vec![0], vec![], vec![]).expect("0×5");
    let some = Csr::<f64>::new(2, 5, vec![0, 1, 1], vec![2], vec![1.0]).expect("2×5");
    let thin = Csr::<f64>::new(3, 0, vec![0; 4], vec![], vec![]).expect("3×0");
    for &metric in &Metric::ALL {
        let options = Options::default();
        assert_eq!(pairwise(&cpu(), metric, &none, Some(&some), &options).expect("0×2").shape(), (0, 2));
        assert_eq!(pairwise(&cpu(), metric, &some, Some(&none), &options).expect("2×0").shape(), (2, 0));
        assert_eq!(knn(&cpu(), metric, 3, &some, Some(&none), &options).expect("none").k(), 0);
        assert_eq!(knn(&cpu(), metric, 3, &none, None, &options).expect("none").nrows(), 0);
        let d = pairwise(&cpu(), metric, &thin, None, &options).expect("3×3");
        assert!(d.values().iter().all(|v| v.is_finite()), "{metric}: {:?}", d.values());
        assert_eq!(radius(&cpu(), metric, 9.0, &none, None, &options).expect("none").nnz(), 0);
    }
}

#[test]
fn what_is_refused() {
    let options = Options::default();
    let text = |r: Result<sparring::sparse::Dense<f64>, Error>| r.expect_err("refused").to_string();
    let odd = |x: f64| Csr::<f64>::new(3, 4, vec![0, 1, 1, 3], vec![0, 1, 3], vec![1.0, 2.0, x]).expect("3×4");
    let t = text(pairwise(&cpu(), Metric::Hellinger, &odd(-2.5), None, &options));
    assert!(
        t.contains("row 2, column 3 holds -2.5") && t.contains("not negative (rows and columns are counted from 0)"),
        "{t}"
    );
    let t = text(pairwise(&cpu(), Metric::Cosine, &odd(f64::NAN), None, &options));
    assert!(t.contains("row 2") && t.contains("NaN"), "{t}");
    let unchecked = Options { unchecked: true, ..options };
    let d = pairwise(&cpu(), Metric::Manhattan, &odd(f64::NAN), None, &unchecked).expect("unchecked");
    assert!(d.row(0)[2].is_nan() && d.row(0)[1] == 1.0);
    let near = knn(&cpu(), Metric::Manhattan, 3, &odd(f64::NAN), None, &unchecked).expect("unchecked");
    assert_eq!(near.row(0).0, [0, 1, 2], "NaN is farthest");

    let wide = Csr::<f64>::new(1, 9, vec![0, 0], vec![], vec![]).expect("1×9");
    let t = text(pairwise(&cpu(), Metric::Dot, &wide, Some(&odd(1.0)), &options));
    assert!(t.contains("1×9") && t.contains("3×4"), "{t}");
    let t = text(pairwise(&cpu(), Metric::Minkowski(0.5), &wide, None, &options));
    assert!(t.contains("0.5 is below 1"), "{t}");
    let exclude = Options { exclude_self: true, ..options };
    assert!(text(pairwise(&cpu(), Metric::Dot, &wide, Some(&wide), &exclude)).contains("exclude_self"));
    assert!(radius(&cpu(), Metric::Dot, f64::NAN, &wide, None, &options).is_err());

    let x = large(500, 20);
    let tight = Options { memory_budget: Some(10_000), ..options };
    let t = text(pairwise(&cpu(), Metric::Dot, &x, None, &tight));
    assert!(t.contains("the budget is 10000 bytes"), "{t}");
    assert!(matches!(knn(&cpu(), Metric::Dot, 5, &x, None, &tight), Err(Error::Budget { .. })));
    let cpu_here = cpu();
    let rows = cpu_here.neighbours(Metric::Dot, &x).options(options).prepare().expect("rows");
    let needs = rows.nearest_bytes(5);
    let enough = Options { memory_budget: Some(needs), ..options };
    assert!(knn(&cpu(), Metric::Dot, 5, &x, None, &enough).is_ok());
    assert!(matches!("cosin".parse::<Metric>(), Err(Error::Argument { name: "metric", .. })));
    assert!(matches!("minkowski".parse::<Metric>(), Err(Error::Argument { name: "p", .. })));
    assert!(Metric::named("cosine", Some(2.0)).is_err());
    for metric in Metric::ALL {
        let p = matches!(metric, Metric::Minkowski(_)).then_some(3.0);
        assert_eq!(Metric::named(metric.name(), p).expect("its own name"), metric);
    }
}

#[test]
fn a_graph_of_neighbours() {
    let x = large(80, 20);
    let near = knn(&cpu(), Metric::Jaccard, 4, &x, None, &Options::default()).expect("neighbours");
    let graph: Csr<f64> = near.to_csr().expect("a graph");
    assert_eq!((graph.shape(), graph.nnz()), ((80, 80), 320));
    for i in 0..80 {
        for (&j, &d) in near.row(i).0.iter().zip(near.row(i).1) {
            let at = graph.row(i).0.binary_search(&j).expect("an edge");
            assert_eq!(graph.row(i).1[at], d);
        }
    }
}

/// A formula given as closures compared with the NAMM of the same ⊗: the same engine, hence the same bits.
#[test]
fn a_formula_is_the_namm_of_its_closure() {
    sparring::op! {
        /// (a − b)² / (a + b + 1).
        Damped (a: f64, b: f64) -> f64 { (a - b) * (a - b) / (a + b + V::lit(1.0)) }
    }
    fn check(formula: &Formula, namm: impl Measure + Copy, x: &Csr<f64>, y: Option<&Csr<f64>>) {
        let bits = |d: sparring::sparse::Dense<f64>| d.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let options = Options::default();
        let (found, right) =
            (pairwise(&cpu(), formula.clone(), x, y, &options), pairwise(&cpu(), namm, x, y, &options));
        assert!(bits(found.expect("distances")) == bits(right.expect("distances")), "{formula:?}");
        let (found, right) = (knn(&cpu(), formula.clone(), 7, x, y, &options), knn(&cpu(), namm, 7, x, y, &options));
        let (found, right) = (found.expect("neighbours"), right.expect("neighbours"));
        assert_eq!((found.indices(), found.distances()), (right.indices(), right.distances()), "{formula:?}");
        // Thirds: sums round, and nearly equal rows are recomputed.
        let single = Options { precision: Precision::Entries, ..options };
        let narrow = |a: &Csr<f64>| a.map(|&v| (v / 3.0) as f32).expect("entries");
        let (x, y) = (narrow(x), y.map(narrow));
        let d = pairwise(&cpu(), formula.clone(), &x, y.as_ref(), &single).expect("distances");
        let wide = pairwise(&cpu(), namm, &x, y.as_ref(), &options).expect("distances");
        assert!(d.values().iter().zip(wide.values()).all(|(&a, &b)| close(f64::from(a), f64::from(b), 1e-4, 1e-4)));
    }
    let canberra = |a: f64, b: f64| (a - b).abs() / if a == 0.0 && b == 0.0 { 1.0 } else { a.abs() + b.abs() };
    let canberra_single = |a: f32, b: f32| (a - b).abs() / if a == 0.0 && b == 0.0 { 1.0 } else { a.abs() + b.abs() };
    let formulas = [
        Formula::new("|a-b|", |a: f64, b: f64| (a - b).abs()),
        Formula::new("|a-b| / (|a|+|b|)", canberra).single(canberra_single),
        Formula::new("(a-b)^2 / (a+b+1)", |a: f64, b: f64| (a - b) * (a - b) / (a + b + 1.0)),
    ];
    let (x, y) = (large(700, 60), large(2300, 60));
    for y in [None, Some(&y)] {
        check(&formulas[0], Union(Plus::new(), AbsDiff::<f64>::new()), &x, y);
        check(&formulas[1], Union(Plus::new(), CanberraDiff::<f64>::new()), &x, y);
        check(&formulas[2], Union(Plus::new(), Damped::new()), &x, y);
    }
    // The domain of a formula, and the built-in metric with the same definition.
    let positive = formulas[0].clone().takes(Domain::NonNegative);
    let odd = Csr::<f64>::new(1, 2, vec![0, 1], vec![1], vec![-1.0]).expect("1×2");
    assert!(matches!(pairwise(&cpu(), positive, &odd, None, &Options::default()), Err(Error::Argument { .. })));
    let own = pairwise(&cpu(), formulas[0].clone(), &x, Some(&y), &Options::default()).expect("distances");
    let metric = pairwise(&cpu(), Metric::Manhattan, &x, Some(&y), &Options::default()).expect("distances");
    assert!(own.values().iter().zip(metric.values()).all(|(&a, &b)| close(a, b, 1e-12, 1e-12)));
    assert!(own.values().contains(&0.0), "equal rows are at 0 exactly");
}

#[test]
fn columns_of_64_bits_and_settings_in_a_chain() {
    let (x, y) = (large(90, 30), large(40, 30));
    fn wide(a: &Csr<f64>) -> Csr<f64, u64> {
        let columns = a.col_idx().iter().map(|&j| u64::from(j)).collect();
        Csr::new(a.nrows(), a.ncols(), a.row_ptr().to_vec(), columns, a.values().to_vec()).expect("the same")
    }
    let (cpu, wide_x, wide_y) = (cpu(), wide(&x), wide(&y));
    for metric in [Metric::Cosine, Metric::Chebyshev, Metric::Kl] {
        let d = cpu.distances(metric, &wide_x).to(&wide_y).eval().expect("distances");
        assert_eq!(d, cpu.distances(metric, &x).to(&y).eval().expect("distances"));
        let near: Csr<f64, u64> = cpu.neighbours(metric, &wide_x).radius(0.5).eval().expect("neighbours");
        let right = cpu.neighbours(metric, &x).radius(0.5).eval().expect("neighbours");
        assert_eq!((near.row_ptr(), near.values()), (right.row_ptr(), right.values()));
    }
    let apart = cpu.neighbours(Metric::Cosine, &x).exclude_self().k(3).eval().expect("neighbours");
    assert_eq!(
        apart,
        knn(&cpu, Metric::Cosine, 3, &x, None, &Options { exclude_self: true, ..options(None) }).expect("same")
    );
    let normalized = cpu.distances(Metric::Hellinger, &x).normalize(true).eval().expect("distances");
    assert_eq!(normalized, pairwise(&cpu, Metric::Hellinger, &x, None, &options(Some(true))).expect("the same"));
    let said = cpu.distances(Metric::Hellinger, &x).precision(Precision::Entries).explain().expect("rows");
    assert!(said.contains("inverted index") || said.contains("dense tiles"), "{said}");
}
