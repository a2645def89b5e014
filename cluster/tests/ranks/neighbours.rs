//! Nearest neighbours on any number of ranks are bitwise identical to those of the CPU.

use std::sync::Arc;

use sparring::algebra::{Array, SliceMut, Type};
use sparring::distance::{Measure, Metric, Options};
use sparring::par::Threads;
use sparring::runtime::{Comparison, Machine, Matrix};
use sparring::{Cpu, Csr};
use sparring_cluster::Cluster;

use crate::products::{Draw, same};

/// Empty rows, equal rows, and rows that share no column with others; all values nonnegative.
fn rows(draw: &mut Draw, (m, n): (usize, usize), small: bool) -> Matrix {
    let mut entries: Vec<(u32, u32, f64)> = Vec::new();
    for i in 0..m {
        match draw.below(8) {
            0 => {}
            1 if i > 0 => {
                let other = draw.below(i) as u32;
                let copied: Vec<_> = entries.iter().filter(|e| e.0 == other).map(|e| (i as u32, e.1, e.2)).collect();
                entries.extend(copied);
            }
            _ => {
                let count = draw.below(6);
                let mut cols: Vec<usize> = (0..count).map(|_| draw.below(n)).collect();
                cols.sort_unstable();
                cols.dedup();
                for j in cols {
                    let x = if small { 1.0 + draw.below(3) as f64 } else { draw.real().abs() + 0.01 };
                    entries.push((i as u32, j as u32, x));
                }
            }
        }
    }
    let (rows, cols) = (entries.iter().map(|e| e.0).collect(), entries.iter().map(|e| e.1).collect());
    let values = Array::of(entries.iter().map(|e| e.2).collect::<Vec<_>>());
    Matrix::build(&Threads::current(), (m, n), (rows, cols, values), None).unwrap()
}

fn narrow(a: &Matrix) -> Matrix {
    let a = a.csr::<f64>().unwrap();
    let (pattern, values) = (a.pattern(), a.values().iter().map(|&x| x as f32).collect());
    Csr::<f32>::new(a.nrows(), a.ncols(), pattern.row_ptr().to_vec(), pattern.col_idx().to_vec(), values)
        .unwrap()
        .into()
}

fn bits(values: sparring::algebra::Slice<'_>) -> Vec<u8> {
    sparring::runtime::engine::bytes_of(values).unwrap()
}

struct Both<'a> {
    cpu: &'a Machine,
    many: &'a Machine,
    measure: Arc<dyn Measure>,
    options: Options,
}

impl Both<'_> {
    fn ask(&self, x: &Matrix, y: Option<&Matrix>) -> Comparison {
        let (measure, options) = (Arc::clone(&self.measure), self.options);
        Comparison { measure, x: x.clone(), y: y.cloned(), options }
    }
    fn nearest(&self, what: &str, here: &Comparison, there: &Comparison, k: usize) {
        let what = format!("{what}, {}, {k} nearest", self.measure.name());
        let (here, there) = (self.cpu.neighbours(here, k).unwrap(), self.many.neighbours(there, k).unwrap());
        assert_eq!(here.k(), there.k(), "{what}");
        assert_eq!(here.indices(), there.indices(), "{what}: {}", there.explain());
        assert_eq!(bits(here.distances()), bits(there.distances()), "{what}: {}", there.explain());
    }
    fn within(&self, what: &str, here: &Comparison, there: &Comparison, radius: f64) {
        let what = format!("{what}, {}, within {radius}", self.measure.name());
        let (here, there) = (self.cpu.within(here, radius).unwrap(), self.many.within(there, radius).unwrap());
        assert!(self.many.engine().holds((&there).into()));
        same(&what, &here, &there);
    }
    fn all(&self, what: &str, here: &Comparison, there: &Comparison) {
        let (n, m) = here.shape();
        let (mut a, mut b) = (vec![0.0; n * m], vec![1.0; n * m]);
        self.cpu.distances_into(here, &mut SliceMut::of::<f64>(&mut a)).unwrap();
        let how = self.many.distances_into(there, &mut SliceMut::of::<f64>(&mut b)).unwrap();
        let same = a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{what}, all distances by {}: {how}", self.measure.name());
    }
    fn index(&self, what: &str, x: &Matrix, y: &Matrix, (x2, y2): (&Matrix, &Matrix)) {
        let of = |machine: &Machine, y| machine.index(Arc::clone(&self.measure), y, self.options).unwrap();
        let (here, there) = (of(self.cpu, y), of(self.many, y2));
        assert_eq!(here.shape(), there.shape());
        for k in [1, 4, 1000] {
            let a = self.cpu.knn_of_index(&here, x, k).unwrap();
            let b = self.many.knn_of_index(&there, x2, k).unwrap();
            assert_eq!(a.indices(), b.indices(), "{what}: index by {}, {k}", self.measure.name());
            assert_eq!(bits(a.distances()), bits(b.distances()), "{what}: index by {}, {k}", self.measure.name());
        }
        let (a, b) = (self.cpu.radius_of_index(&here, x, 0.9), self.many.radius_of_index(&there, x2, 0.9));
        same(what, &a.unwrap(), &b.unwrap());
        assert!(there.save("/tmp").is_err() && self.many.load_index("/nowhere").is_err());
    }
}

const MEASURES: [Metric; 9] = [
    Metric::Cosine,
    Metric::Euclidean,
    Metric::Jaccard,
    Metric::Manhattan,
    Metric::Hellinger,
    Metric::Kl,
    Metric::Correlation,
    Metric::Dot,
    Metric::Chebyshev,
];

pub(crate) fn all(cluster: &Cluster) {
    let (cpu, many) = (Machine::from(Cpu::with_threads(1).unwrap()), Machine::from(cluster.clone()));
    for (case, (n, m, columns)) in
        [(1, 1, 1), (3, 2, 5), (2, 0, 3), (0, 3, 3), (12, 7, 4), (60, 41, 20), (9, 90, 60)].into_iter().enumerate()
    {
        let mut draw = Draw::new(case as u64 + 31);
        let what = format!("{n} rows and {m} of {columns} columns");
        let (x, y) = (rows(&mut draw, (n, columns), case % 2 == 0), rows(&mut draw, (m, columns), case % 2 == 0));
        let (x2, y2) = (many.upload(&x).unwrap(), many.upload(&y).unwrap());
        for (at, metric) in MEASURES.into_iter().enumerate() {
            let mut both = Both { cpu: &cpu, many: &many, measure: Arc::new(metric), options: Options::default() };
            let (here, there) = (both.ask(&x, Some(&y)), both.ask(&x2, Some(&y2)));
            for k in [0, 1, 7, 1000] {
                both.nearest(&what, &here, &there, k);
            }
            // Replicated matrices.
            both.nearest(&what, &here, &here, 3);
            both.all(&what, &here, &there);
            both.within(&what, &here, &there, 0.8);
            if at < 4 {
                both.index(&what, &x, &y, (&x2, &y2));
            }
            for exclude_self in [false, true] {
                both.options.exclude_self = exclude_self;
                let (here, there) = (both.ask(&x, None), both.ask(&x2, None));
                for k in [1, 7, 1000] {
                    both.nearest(&format!("{what}, X alone"), &here, &there, k);
                }
                both.within(&what, &here, &there, 0.8);
            }
            both.all(&what, &both.ask(&x, None), &both.ask(&x2, None));
        }
        let both = Both { cpu: &cpu, many: &many, measure: Arc::new(Metric::Cosine), options: Options::default() };
        let (x, y) = (narrow(&x), narrow(&y));
        both.nearest(&what, &both.ask(&x, Some(&y)), &both.ask(&many.upload(&x).unwrap(), Some(&y)), 5);
    }
    let x = rows(&mut Draw::new(2), (9, 9), false);
    let both = Both { cpu: &cpu, many: &many, measure: Arc::new(Metric::Cosine), options: Options::default() };
    let how = many.neighbours(&both.ask(&x, None), 2).unwrap().explain().to_owned();
    assert!(how.starts_with("tiles of ") || cluster.size() == 1, "{how}");
    extremes(&cpu, &many);
    errors(&cpu, &many);
}

/// Rows of one rank that change the scaling of all.
fn extremes(cpu: &Machine, many: &Machine) {
    let mut draw = Draw::new(5);
    let x = rows(&mut draw, (30, 10), false);
    let csr = x.csr::<f64>().unwrap();
    for far in [1e-200, 1e200, 1e-310] {
        let mut values = csr.values().to_vec();
        let last = values.len() - 1;
        values[last] = far;
        let (pattern, shape) = (csr.pattern(), x.shape());
        let x = Csr::<f64>::new(shape.0, shape.1, pattern.row_ptr().to_vec(), pattern.col_idx().to_vec(), values);
        let x = Matrix::from(x.unwrap());
        for metric in [Metric::Euclidean, Metric::Hellinger, Metric::Kl, Metric::Cosine, Metric::Minkowski(3.5)] {
            let both = Both { cpu, many, measure: Arc::new(metric), options: Options::default() };
            both.nearest("extremes", &both.ask(&x, None), &both.ask(&x, None), 9);
            both.index("extremes", &x, &x, (&x, &x));
        }
    }
    // Rows with a mean far from 0, on some ranks only.
    let values = (0..12 * 8).map(|e| if e % 24 < 8 { 1e4 } else { 0.0 } + draw.real()).collect();
    let row_ptr = (0..=12).map(|i| 8 * i).collect();
    let means = Matrix::from(Csr::<f64>::new(12, 8, row_ptr, (0..12).flat_map(|_| 0..8).collect(), values).unwrap());
    let both = Both { cpu, many, measure: Arc::new(Metric::Correlation), options: Options::default() };
    both.nearest("far means", &both.ask(&means, None), &both.ask(&means, None), 11);
    let both = Both { cpu, many, measure: Arc::new(Metric::Minkowski(40.0)), options: Options::default() };
    both.nearest("a large power", &both.ask(&x, None), &both.ask(&x, None), 9);
    // NaN distances rank last, whichever rank has them.
    let values = csr.values().iter().enumerate().map(|(e, &x)| if e % 9 == 0 { f64::NAN } else { x }).collect();
    let (row_ptr, col_idx) = (csr.pattern().row_ptr().to_vec(), csr.pattern().col_idx().to_vec());
    let x = Matrix::from(Csr::<f64>::new(csr.nrows(), csr.ncols(), row_ptr, col_idx, values).unwrap());
    let options = Options { unchecked: true, ..Options::default() };
    for metric in [Metric::Euclidean, Metric::Manhattan] {
        let both = Both { cpu, many, measure: Arc::new(metric), options };
        both.nearest("no numbers", &both.ask(&x, None), &both.ask(&x, None), 29);
    }
}

/// Errors have the text of the CPU, with the global row number.
fn errors(cpu: &Machine, many: &Machine) {
    let mut draw = Draw::new(6);
    let (x, y) = (rows(&mut draw, (20, 6), false), rows(&mut draw, (9, 5), false));
    let csr = x.csr::<f64>().unwrap();
    let mut values = csr.values().to_vec();
    let last = values.len() - 1;
    values[last] = -1.0;
    let (row_ptr, col_idx) = (csr.pattern().row_ptr().to_vec(), csr.pattern().col_idx().to_vec());
    let below = Matrix::from(Csr::<f64>::new(20, 6, row_ptr, col_idx, values).unwrap());
    let whole = Matrix::from(Csr::<i64>::new(1, 6, vec![0, 0], vec![], vec![]).unwrap());
    let refused = |metric: Metric, x: &Matrix, y: Option<&Matrix>, exclude_self: bool| {
        let options = Options { exclude_self, ..Options::default() };
        let ask = Comparison { measure: Arc::new(metric), x: x.clone(), y: y.cloned(), options };
        let (here, there) = (cpu.neighbours(&ask, 2).unwrap_err(), many.neighbours(&ask, 2).unwrap_err());
        assert_eq!(here.to_string(), there.to_string());
        let (here, there) = (cpu.within(&ask, 2.0).unwrap_err(), many.within(&ask, 2.0).unwrap_err());
        assert_eq!(here.to_string(), there.to_string());
    };
    refused(Metric::Hellinger, &below, None, false);
    refused(Metric::Hellinger, &x, Some(&below), false);
    refused(Metric::Cosine, &x, Some(&y), false);
    refused(Metric::Cosine, &x, Some(&x), true);
    refused(Metric::Cosine, &whole, None, false);
    refused(Metric::Minkowski(-1.0), &x, None, false);
    let ask = Comparison { measure: Arc::new(Metric::Cosine), x: x.clone(), y: None, options: Options::default() };
    assert!(many.within(&ask, f64::NAN).is_err());
    let index = |machine: &Machine| machine.index(Arc::new(Metric::Hellinger), &below, Options::default()).unwrap_err();
    assert_eq!(index(cpu).to_string(), index(many).to_string());
    let of = |machine: &Machine| machine.index(Arc::new(Metric::Hellinger), &x, Options::default()).unwrap();
    let (here, there) = (of(cpu), of(many));
    let asked = (cpu.knn_of_index(&here, &below, 1), many.knn_of_index(&there, &below, 1));
    assert_eq!(asked.0.unwrap_err().to_string(), asked.1.unwrap_err().to_string());
    assert!(many.knn_of_index(&here, &x, 1).unwrap_err().to_string().contains("another machine"));
    assert_eq!(there.ty(), Type::F64);
}
