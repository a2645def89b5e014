//! Small operations of the run-time API compared with the typed API: nanoseconds per lookup, and per call on 4×4
//! matrices.
//!
//! Each figure is the minimum of the means of many short rounds. `cargo bench --bench names`; an argument limits the
//! rows to those that contain it.

use std::hint::black_box;
use std::time::Instant;

use sparring::algebra::{
    Max, MaxSecond, Min, MinPlus, Monoid as MonoidType, Plus, PlusTimes, Semiring as SemiringType, Type, dynamic,
    operators,
};
use sparring::backend::Backend;
use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Semiring, Vector};
use sparring::{Cpu, Csr};

/// Calls per round, and number of rounds.
const CALLS: u32 = 200;
const ROUNDS: u32 = 400;

/// Nanoseconds per call in the fastest round.
fn nanoseconds<T>(rounds: u32, calls: u32, mut call: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(call());
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / f64::from(calls)
}

struct Table {
    only: Option<String>,
}
impl Table {
    fn row<T>(&self, name: &str, call: impl FnMut() -> T) {
        if self.only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            println!("{name:<42} {:>9.0} ns", nanoseconds(ROUNDS, CALLS, call));
        }
    }
    /// Median and slowest of calls by many names, with the name of the slowest.
    fn rows(&self, name: &str, calls: impl Iterator<Item = (String, Box<dyn Fn()>)>) {
        if self.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            return;
        }
        let mut rows: Vec<_> =
            calls.map(|(name, call)| (nanoseconds(ROUNDS / 10, CALLS / 4, &call), name, call)).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        // A slow measurement is repeated, because it may have been disturbed.
        for (time, _, call) in rows.iter_mut().rev().take(32) {
            *time = time.min(nanoseconds(ROUNDS / 4, CALLS, call));
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(slowest), median) = (rows.last(), rows[rows.len() / 2].0) else { return };
        println!("{:<42} {median:>9.0} ns", format!("{name}, {} names: median", rows.len()));
        println!("{:<42} {:>9.0} ns  {}", format!("{name}, {} names: slowest", rows.len()), slowest.0, slowest.1);
    }
}

/// Every named semiring over every type.
fn semirings() -> impl Iterator<Item = Semiring> {
    let pairs = dynamic::MONOIDS.iter().flat_map(|add| {
        operators::BINARY.iter().chain(operators::POSITIONAL).map(move |mul| format!("{}_{}", add.name, mul.name))
    });
    pairs.flat_map(|name| Type::ALL.iter().filter_map(move |&ty| Semiring::new(&name, ty).ok()).collect::<Vec<_>>())
}

/// The cost of calls by all names.
fn by_all_names(table: &Table, m: &Machine, a: &Matrix, x: &Vector) {
    let of = |ring: &Semiring| ring.formula().mul().parameters().first().map_or(Type::F64, |p| p.1);
    let operands = |ty| (m.clone(), a.wrapping_cast(ty).expect("memory"), x.wrapping_cast(ty).expect("memory"));
    let title = |ring: &Semiring| format!("{ring} over {}", of(ring));
    table.rows(
        "mxv",
        semirings().map(|ring| {
            let (m, a, x) = operands(of(&ring));
            (title(&ring), Box::new(move || drop(black_box(m.mxv(&ring, &a, &x).expect("memory")))) as Box<dyn Fn()>)
        }),
    );
    table.rows(
        "mxm",
        semirings().map(|ring| {
            let (m, a, _) = operands(of(&ring));
            (title(&ring), Box::new(move || drop(black_box(m.mxm(&ring, &a, &a).expect("memory")))) as Box<dyn Fn()>)
        }),
    );
    let monoids = dynamic::MONOIDS.iter().flat_map(|add| Type::ALL.iter().map(move |&ty| Monoid::new(add.name, ty)));
    table.rows(
        "reduce",
        monoids.filter_map(Result::ok).map(|add| {
            let (m, a, _) = operands(add.ty());
            let title = format!("{add} over {}", add.ty());
            (title, Box::new(move || drop(black_box(m.reduce(&add, &a).expect("memory")))) as Box<dyn Fn()>)
        }),
    );
}

const FORMULAS: [&str; 5] =
    ["plus_times", "min_plus", "max_second", "min, a + 2*b", "a + b - a*b identity 0, abs(a - b)"];

fn typed<R>(table: &Table, name: &str, ring: R, (cpu, a, x): (&Cpu, &Csr<f64>, &sparring::Vector<f64>))
where
    R: SemiringType<Mul: sparring::algebra::MulOp<A = f64, B = f64>, Add: MonoidType<Out = f64>>,
{
    table.row(&format!("mxv typed {name}"), || cpu.mxv(ring, a, x).eval().expect("memory"));
    table.row(&format!("mxm typed {name}"), || cpu.mxm(ring, a, a).eval().expect("memory"));
}

fn main() -> sparring::Result<()> {
    let only = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let table = Table { only };
    let ty = Type::F64;
    for text in FORMULAS {
        table.row(&format!("Semiring::new {text}"), || Semiring::new(black_box(text), ty).expect("a semiring"));
    }
    table.row("Monoid::new max", || Monoid::new(black_box("max"), ty).expect("a monoid"));
    table.row("BinaryOp::new plus", || BinaryOp::new(black_box("plus"), ty).expect("an operator"));
    table.row("BinaryOp::new a + 2*b", || BinaryOp::new(black_box("a + 2*b"), ty).expect("an operator"));

    let a = Csr::<f64>::new(
        4,
        4,
        vec![0, 2, 5, 8, 10],
        vec![0, 1, 0, 1, 2, 1, 2, 3, 2, 3],
        vec![2.0, -1.0, -1.0, 2.0, -1.0, -1.0, 2.0, -1.0, -1.0, 2.0],
    )?;
    let b = Csr::<f64>::new(4, 4, vec![0, 1, 2, 3, 4], vec![3, 2, 1, 0], vec![1.0, 2.0, 3.0, 4.0])?;
    let x = sparring::Vector::<f64>::full(vec![1.0, 2.0, 3.0, 4.0])?;
    let cpu = Cpu::new();
    let operands = (&cpu, &a, &x);
    typed(&table, "plus_times", PlusTimes::<f64>::new(), operands);
    typed(&table, "min_plus", MinPlus::<f64>::new(), operands);
    typed(&table, "max_second", MaxSecond::<f64>::new(), operands);
    table.row("reduce typed plus", || cpu.reduce(Plus::<f64>::new(), &a).eval().expect("memory"));
    table.row("reduce typed max", || cpu.reduce(Max::<f64>::new(), &a).eval().expect("memory"));
    table.row("ewise_add typed min", || cpu.ewise_add(Min::<f64>::new(), &a, &b).eval().expect("memory"));
    table.row("ewise_add typed min, same", || cpu.ewise_add(Min::<f64>::new(), &a, &a).eval().expect("memory"));

    let m = Machine::from(Cpu::new());
    let (a, b, x) = (Matrix::from(a), Matrix::from(b), Vector::from(x));
    for text in FORMULAS {
        let ring = Semiring::new(text, ty)?;
        table.row(&format!("mxv {text}"), || m.mxv(&ring, &a, &x).expect("memory"));
    }
    for text in FORMULAS {
        let ring = Semiring::new(text, ty)?;
        table.row(&format!("mxm {text}"), || m.mxm(&ring, &a, &a).expect("memory"));
    }
    for text in ["plus", "max", "a + b - a*b identity 0"] {
        let monoid = Monoid::new(text, ty)?;
        table.row(&format!("reduce {text}"), || m.reduce(&monoid, &a).expect("memory"));
    }
    for text in ["min", "a + 2*b"] {
        let op = BinaryOp::new(text, ty)?;
        table.row(&format!("ewise_add {text}"), || m.ewise_add(&op, &a, &b).expect("memory"));
        table.row(&format!("ewise_add {text}, same"), || m.ewise_add(&op, &a, &a).expect("memory"));
    }
    by_all_names(&table, &m, &a, &x);
    Ok(())
}
