//! Contractions whose type and semiring are known at run time, compared with loops over all indices.

use sparring::Cpu;
use sparring::algebra::{MinPlus, PlusTimes, Slice, Value};
use sparring::contract::{AnyView, Einsum, Layout, View, as_numpy};
use sparring::runtime::{EinsumUpdate, Machine, Semiring};

use super::common::arbitrary::Rng;
use super::common::layouts::{self, array, layout};
use super::textbook::Textbook;

/// A semiring by its text, and written out plainly.
struct Told<T> {
    text: &'static str,
    zero: T,
    plus: fn(T, T) -> T,
    times: fn(T, T) -> T,
    number: fn(i64) -> T,
    /// Largest number of operands: three or more require that ⊗ is associative and distributes over ⊕.
    operands: usize,
}

fn random<T: Value>(told: &Told<T>, seed: u64) {
    let ring = Semiring::new(told.text, T::TYPE).unwrap();
    let mut rng = Rng(seed);
    let machines = [1, 3].map(|n| Machine::from(Cpu::with_threads(n).unwrap()));
    for round in 0..120 {
        let (letters, batch) = (1 + rng.below(5), [1, 1, 3][rng.below(3)]);
        let largest = [4, 9, 400][rng.below(3)];
        let extents = layouts::extents(&mut rng, letters, largest, batch, round % 20 == 0);
        let count = 1 + rng.below(told.operands);
        let (text, terms, result) = layouts::expression(&mut rng, count, letters, |k| char::from(b'p' + k as u8));
        let shapes = terms.iter().map(|t| t.iter().map(|&k| extents[k]).collect::<Vec<_>>()).collect::<Vec<_>>();
        // A letter may occur several times in an operand.
        if shapes.iter().any(|shape| shape.iter().product::<usize>() > 100_000) {
            continue;
        }
        let layouts: Vec<Layout> = shapes
            .iter()
            .map(|shape| {
                let batch = if rng.below(3) == 0 { 1 } else { batch };
                layout(&mut rng, shape, batch, true)
            })
            .collect();
        let numbers: Vec<Vec<T>> =
            layouts.iter().map(|l| array(l, || (told.number)(rng.below(9) as i64 - 4))).collect();
        let views: Vec<_> = numbers.iter().zip(&layouts).map(|(x, l)| View::new(x, l.clone()).unwrap()).collect();
        let erased: Vec<_> =
            numbers.iter().zip(&layouts).map(|(x, l)| AnyView::new(Slice::of(x), l.clone()).unwrap()).collect();
        let book = Textbook::read(&text, &views);
        let mut want = vec![];
        book.each(&book.result, |b, at| want.push(book.fold(&views, b, at, told.zero, told.plus, told.times)));
        if result.iter().any(|&k| extents[k] == 0) {
            want.clear();
        }
        let einsum = Einsum::new(&text, &erased).unwrap();
        for machine in &machines {
            let found = machine.einsum(&ring, &einsum).unwrap();
            assert_eq!(found.slice().get::<T>(), Some(&want[..]), "{text} {extents:?} {}", told.text);
        }
        // C's old values, and both factors.
        let c: Vec<T> = want.iter().map(|_| (told.number)(rng.below(9) as i64 - 4)).collect();
        let [alpha, beta] = [2, 3].map(told.number);
        let update = EinsumUpdate { alpha: Some(alpha.into()), beta: Some(beta.into()), c: Some(Slice::of(&c)) };
        let found = machines[1].einsum_with(&ring, &einsum, &update).unwrap();
        let updated = c.iter().zip(&want).map(|(&c, &x)| (told.plus)((told.times)(beta, c), (told.times)(alpha, x)));
        assert_eq!(found.slice().get::<T>(), Some(&updated.collect::<Vec<_>>()[..]), "{text}, updated");
    }
}

#[test]
fn any_type_and_any_semiring_give_the_textbook() {
    let number = |i| i as u8;
    let (plus, times) = (u8::wrapping_add, u8::wrapping_mul);
    random(&Told { text: "plus_times", zero: 0, plus, times, number, operands: 4 }, 1);
    let number = |i: i64| i as f32;
    let plus: fn(f32, f32) -> f32 = f32::min;
    random(
        &Told { text: "min, a + 2*b", zero: f32::INFINITY, plus, times: |a, b| a + 2.0 * b, number, operands: 2 },
        2,
    );
    random(&Told { text: "min_plus", zero: f32::INFINITY, plus, times: |a, b| a + b, number, operands: 4 }, 3);
    let plus: fn(bool, bool) -> bool = |a, b| a ^ b;
    random(&Told { text: "lxor_land", zero: false, plus, times: |a, b| a & b, number: |i| i % 2 == 0, operands: 4 }, 4);
    let number = |i| i as i32;
    let plus: fn(i32, i32) -> i32 = i32::wrapping_add;
    random(&Told { text: "plus, a - 3*b", zero: 0, plus, times: |a, b| a - 3 * b, number, operands: 2 }, 5);
}

/// Large tensors: results by name equal results by type.
#[test]
fn large_tensors_by_name() {
    let mut random = Rng(3);
    for (text, shapes) in [
        ("ij,jk->ik", vec![vec![150, 200], vec![200, 300]]),
        ("ij,jk->ik", vec![vec![137, 40], vec![40, 257]]),
        ("i,i->", vec![vec![100_003], vec![100_003]]),
        ("ij->j", vec![vec![700, 300]]),
        ("ij->i", vec![vec![300, 700]]),
    ] {
        let layouts: Vec<Layout> = shapes.iter().map(|s| Layout::row_major(s).unwrap()).collect();
        let data: Vec<Vec<f64>> = layouts.iter().map(|l| array(l, || random.below(9) as f64 - 4.0)).collect();
        let both = || data.iter().zip(&layouts);
        let typed: Vec<_> = both().map(|(d, l)| View::new(d, l.clone()).unwrap()).collect();
        let any: Vec<_> = both().map(|(d, l)| AnyView::new(Slice::of(d), l.clone()).unwrap()).collect();
        for threads in [1, 3] {
            let [cpu, other] = [0, 1].map(|_| Cpu::with_threads(threads).unwrap());
            let machine = Machine::from(other);
            let by_name = |name: &str| {
                let ring = Semiring::new(name, f64::TYPE).unwrap();
                machine.einsum(&ring, &Einsum::new(text, &any).unwrap()).unwrap()
            };
            let einsum = || Einsum::new(text, &typed).unwrap();
            let wanted = cpu.einsum(PlusTimes::new(), einsum()).eval().unwrap();
            assert_eq!(by_name("plus_times").slice().get::<f64>(), Some(wanted.values()), "{text}");
            let wanted = cpu.einsum(MinPlus::new(), einsum()).eval().unwrap();
            assert_eq!(by_name("min_plus").slice().get::<f64>(), Some(wanted.values()), "{text}");
        }
    }
}

#[test]
fn as_numpy_broadcasts() {
    let (x, y) = ([1i64, 2, 3], [10i64, 20]);
    let layouts = [Layout::row_major(&[1, 3]).unwrap(), Layout::row_major(&[2, 1]).unwrap()];
    let (text, layouts) = as_numpy("...,...", &layouts).unwrap();
    let views =
        [(&x[..], &layouts[0]), (&y[..], &layouts[1])].map(|(x, l)| AnyView::new(Slice::of(x), l.clone()).unwrap());
    let einsum = Einsum::new(&text, &views).unwrap();
    let ring = Semiring::new("plus_times", sparring::algebra::Type::I64).unwrap();
    let found = Machine::from(Cpu::new()).einsum(&ring, &einsum).unwrap();
    assert_eq!(found.slice().get::<i64>(), Some(&[10, 20, 30, 20, 40, 60][..]));
}

#[test]
fn what_no_dense_array_has_is_refused() {
    let x = [1.0, 2.0];
    let view = AnyView::new(Slice::of(&x), Layout::row_major(&[2]).unwrap()).unwrap();
    let einsum = Einsum::new("i,i->", &[view.clone(), view.clone()]).unwrap();
    let refused = |ring: &str, cpu: Cpu| {
        let ring = Semiring::new(ring, sparring::algebra::Type::F64).unwrap();
        Machine::from(cpu).einsum(&ring, &einsum).unwrap_err().to_string()
    };
    let whole = AnyView::new(Slice::of(&[1i64, 2]), Layout::row_major(&[2]).unwrap()).unwrap();
    let places = Semiring::new("min_secondi", sparring::algebra::Type::I64).unwrap();
    let said = Machine::from(Cpu::new()).einsum(&places, &Einsum::new("i,i->i", &[whole.clone(), whole]).unwrap());
    assert!(said.unwrap_err().to_string().contains("reads the row or the column"));
    assert!(refused("lor_eq", Cpu::new()).contains("gives bool for values of f64"));
    assert!(refused("plus_times", Cpu::new().memory_budget(7)).contains("the budget is 7 bytes"));
    let other = AnyView::new(Slice::of(&[1u8, 2]), Layout::row_major(&[2]).unwrap()).unwrap();
    let mixed = Einsum::new("i,i->", &[view, other]).unwrap();
    let ring = Semiring::new("plus_times", sparring::algebra::Type::F64).unwrap();
    let said = Machine::from(Cpu::new()).einsum(&ring, &mixed).unwrap_err().to_string();
    assert!(said.contains("operand 0 is of f64, another of u8"), "{said}");
}

/// Where an index has extent 0, the result is immediate, whatever the other extents.
#[test]
fn nothing_is_folded_at_once() {
    let (one, none) = ([1.0], []);
    let many = |extents: &[usize]| {
        AnyView::new(Slice::of(&one[..]), Layout::new(extents, &vec![0; extents.len()], 0).unwrap()).unwrap()
    };
    let empty = AnyView::new(Slice::of::<f64>(&none), Layout::row_major(&[0]).unwrap()).unwrap();
    let ring = Semiring::new("plus_times", f64::TYPE).unwrap();
    for (text, first, want) in [
        ("b,i->", many(&[1 << 40]), Some(&[0.0][..])),
        ("bc,i->", many(&[1 << 30, 1 << 30]), Some(&[0.0][..])),
        ("b,i->bi", many(&[1 << 40]), Some(&[][..])),
        ("bc,i->bci", many(&[1 << 30, 1 << 30]), Some(&[][..])),
    ] {
        for operands in [[first.clone(), empty.clone()], [empty.clone(), first.clone()]] {
            let (left, result) = text.split_once("->").unwrap();
            let (x, y) = left.split_once(',').unwrap();
            let text = if operands[0].values().is_empty() { format!("{y},{x}->{result}") } else { text.to_owned() };
            let einsum = Einsum::new(&text, &operands).unwrap();
            let found = Machine::from(Cpu::new()).einsum(&ring, &einsum).unwrap();
            assert_eq!(found.slice().get::<f64>(), want, "{text}");
        }
    }
}
