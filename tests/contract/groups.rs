//! Groups, whose tensors have separate arrays: bitwise equal to batches.

use super::*;
use sparring::backend::EinsumBuilder;
use sparring::contract::{Arrangement, Group, GroupMut, Interleaved, Mass, RowMajor, bound};

/// The layout of one tensor of a batch.
fn one(layout: &Layout) -> Layout {
    Layout::new(layout.extents(), layout.strides(), layout.offset()).expect("a layout")
}

/// The part of a batch that belongs to tensor `b`, as an array of its own: from the first element that the tensor
/// needs.
fn split<T: Clone>(data: &[T], layout: &Layout) -> (Layout, Vec<Vec<T>>) {
    // Here the batch stride is positive or 0.
    let step = layout.batch_stride().unsigned_abs();
    let one = one(layout);
    let of = |b: usize| data.iter().skip(b * step).take(one.array_len()).cloned().collect();
    (one.clone(), (0..layout.batch()).map(of).collect())
}

fn group<'a, T: Value>(layout: &Layout, arrays: &'a [Vec<T>]) -> View<'a, T> {
    let mut group = Group::new(layout.clone()).expect("a group");
    for array in arrays {
        group.push(View::new(array, layout.clone()).expect("a view")).expect("one more");
    }
    assert_eq!(group.layout().batch(), arrays.len());
    group.view()
}

fn bits<T: Value>(found: &[T], wanted: &[T], what: impl Fn() -> String) {
    assert_eq!(found.len(), wanted.len());
    for (at, (f, w)) in found.iter().zip(wanted).enumerate() {
        assert!(format!("{f:?}") == format!("{w:?}"), "element {at} is {f:?}, not {w:?}: {}", what());
    }
}

/// A contraction with one of three updates.
struct Ask<'a, T, A> {
    cpu: &'a Cpu,
    ring: A,
    update: usize,
    number: fn(usize) -> T,
}

impl<'a, T: Value, A: Arithmetic<T>> Ask<'a, T, A> {
    fn of(&self, einsum: &Einsum<'a, T>) -> EinsumBuilder<'a, A, T> {
        let asked = self.cpu.einsum(self.ring, einsum.clone());
        match self.update {
            0 => asked,
            1 => asked.accumulate().alpha((self.number)(3)),
            _ => asked.beta((self.number)(5)),
        }
    }
}

/// Some operands of a batch as groups, into results of any layout and into groups: bitwise equal to the batch.
fn random_groups<T: Value, A: Arithmetic<T>>(seed: u64, cases: usize, ring: A, number: fn(usize) -> T) {
    let cpus = machines();
    let mut random = Rng(seed);
    let (mut apart, mut together) = (0, 0);
    for case in 0..cases {
        let count = [1, 2, 2, 2, 3, 4][random.below(6)];
        let (letters, largest) = (1 + random.below(4), [3, 5, 9, 40][random.below(4)]);
        let batch = [0, 1, 2, 3, 17][random.below(5)];
        let empty = random.below(15) == 0;
        let extents = layouts::extents(&mut random, letters, largest, batch, empty);
        let letter = |k: usize| char::from(b'a' + k as u8);
        let (text, terms, _) = layouts::expression(&mut random, count, letters, letter);
        let of = |term: &[usize]| term.iter().map(|&k| extents[k]).collect::<Vec<_>>();
        let all: Vec<Layout> = terms
            .iter()
            .map(|term| {
                let own = if random.below(4) == 0 { 1 } else { batch };
                let found = layout(&mut random, &of(term), own, true);
                // A positive stride, or the same tensor for all.
                if found.batch_stride() < 0 {
                    Layout::row_major(&of(term)).and_then(|l| l.batched(own)).unwrap()
                } else {
                    found
                }
            })
            .collect();
        let arrays: Vec<Vec<T>> = all.iter().map(|l| layouts::array(l, || number(random.below(1 << 20)))).collect();
        let views: Vec<View<'_, T>> = all.iter().zip(&arrays).map(|(l, x)| View::new(x, l.clone()).unwrap()).collect();
        let parts: Vec<_> = all.iter().zip(&arrays).map(|(l, x)| split(x, l)).collect();
        let mixed: Vec<View<'_, T>> = views
            .iter()
            .zip(&parts)
            .map(|(x, (l, parts))| {
                // A batch with stride 0 is one tensor; a group of its copies is folded like any other.
                let still = x.layout().batch_stride() == 0 && x.layout().batch() > 1;
                if still || random.below(3) == 0 { x.clone() } else { group(l, parts) }
            })
            .collect();
        let cpu = &cpus[case % 4];
        let (plain, grouped) = (Einsum::new(&text, &views).unwrap(), Einsum::new(&text, &mixed).unwrap());
        let update = random.below(3);
        let ask = Ask { cpu, ring, update, number };
        let what = || {
            let of = |x: &[View<'_, T>]| x.iter().map(|x| x.layout().clone()).collect::<Vec<_>>();
            format!("{text}, update {update}, {} threads\n{:?}", cpu.threads().count(), of(&mixed))
        };
        assert_eq!(ask.of(&plain).path().unwrap(), ask.of(&grouped).path().unwrap(), "{}", what());
        // Into a batch at any offset.
        let (shape, tensors) = plain.result();
        let out = layout(&mut random, &shape, tensors, false);
        let start = layouts::array(&out, || number(random.below(1 << 20)));
        let (mut wanted, mut found) = (start.clone(), start);
        ask.of(&plain).into(&mut ViewMut::new(&mut wanted, out.clone()).unwrap()).unwrap_or_else(|e| panic!("{e}"));
        ask.of(&grouped).into(&mut ViewMut::new(&mut found, out.clone()).unwrap()).unwrap_or_else(|e| panic!("{e}"));
        bits(&found, &wanted, || format!("{}\nC: {out:?}", what()));
        let outermost = out.batch_stride() >= out.strides().iter().copied().max().unwrap_or(0);
        *(if outermost { &mut apart } else { &mut together }) += usize::from(out.batch() > 1);
        // And into a group, with and without a stored plan.
        let member = layout(&mut random, &shape, 1, false);
        // So far apart that the arrays of two tensors do not overlap.
        let whole = member.clone().strided(tensors, member.array_len() as isize).unwrap();
        let mut wanted = layouts::array(&whole, || number(random.below(1 << 20)));
        let (_, starts) = split(&wanted, &whole);
        ask.of(&plain).into(&mut ViewMut::new(&mut wanted, whole.clone()).unwrap()).unwrap();
        let (_, wanted) = split(&wanted, &whole);
        for einsum in [&plain, &grouped] {
            let mut arrays = starts.clone();
            let mut c = GroupMut::new(one(&member)).unwrap();
            for array in &mut arrays {
                c.push(ViewMut::new(array, one(&member)).unwrap()).unwrap();
            }
            let plan = cpu.einsum_plan(einsum, c.layout()).unwrap();
            let asked = ask.of(einsum);
            let asked = if random.below(2) == 0 { asked.plan(&plan) } else { asked };
            asked.into_group(&mut c).unwrap_or_else(|e| panic!("{e}: {}", what()));
            for (found, wanted) in arrays.iter().zip(&wanted) {
                bits(found, wanted, || format!("{}\ngroup of {member:?}", what()));
            }
        }
    }
    assert!(apart > cases / 20 && together > cases / 20, "{apart} {together}");
}

#[test]
fn groups_have_the_bits_of_batches() {
    random_groups::<f64, _>(21, 1200, PlusTimes::new(), |i| i as f64 / 3e5 - 1.7);
    random_groups::<i32, _>(22, 400, MaxPlus::new(), |i| i as i32 - 1000);
}

/// Small squares and mass operators: loops of compile-time sizes, in one pass.
#[test]
fn groups_of_squares_and_of_elements() {
    let mut random = Rng(23);
    let mut numbers = |n: usize| (0..n).map(|_| random.below(1 << 20) as f64 / 3e5 - 1.7).collect::<Vec<_>>();
    for cpu in machines() {
        for n in [1, 2, 4, 7, 16, 20] {
            let batch = Layout::row_major(&[n, n]).and_then(|l| l.batched(40)).unwrap();
            let data = numbers(40 * n * n);
            let x = View::new(&data, batch.clone()).unwrap();
            let (layout, parts) = split(&data, &batch);
            let g = group(&layout, &parts);
            let least =
                |x: &View<'_, f64>| bound(&Einsum::new("ij,jk->ik", &[x.clone(), x.clone()]).unwrap(), true).unwrap();
            assert_eq!(least(&g), least(&x));
            let of = |a: &View<'_, f64>, b: &View<'_, f64>| {
                cpu.einsum(PlusTimes::new(), Einsum::new("ij,jk->ik", &[a.clone(), b.clone()]).unwrap()).eval().unwrap()
            };
            let wanted = of(&x, &x);
            for (a, b) in [(&g, &g), (&x, &g), (&g, &x)] {
                assert!(of(a, b) == wanted, "{n}");
            }
        }
        let (q, d, elements) = (4, 3, 21);
        let b = numbers(q * d);
        let mass = Mass::new(3, View::new(&b, Layout::row_major(&[q, d]).unwrap()).unwrap()).unwrap();
        let shape = |n| Layout::row_major(&[n; 3]).and_then(|l| l.batched(elements)).unwrap();
        let (w, v) = (numbers(elements * q.pow(3)), numbers(elements * d.pow(3)));
        let (w_view, v_view) = (View::new(&w, shape(q)).unwrap(), View::new(&v, shape(d)).unwrap());
        let (w_parts, v_parts) = (split(&w, &shape(q)), split(&v, &shape(d)));
        let (w_group, v_group) = (group(&w_parts.0, &w_parts.1), group(&v_parts.0, &v_parts.1));
        let of = |w: &View<'_, f64>, v: &View<'_, f64>, by: &dyn Arrangement| {
            cpu.einsum(PlusTimes::new(), mass.action(w, v).unwrap()).eval_in(by).unwrap()
        };
        for by in [&RowMajor as &dyn Arrangement, &Interleaved] {
            let wanted = of(&w_view, &v_view, by);
            assert!(of(&w_group, &v_group, by) == wanted && of(&w_view, &v_group, by) == wanted);
        }
    }
}

#[test]
fn what_is_no_group_is_refused_with_its_numbers() {
    let x = vec![1.0; 24];
    let view = |extents: &[usize]| View::new(&x, Layout::row_major(extents).unwrap()).unwrap();
    let mut group = Group::new(Layout::row_major(&[2, 3]).unwrap()).unwrap();
    group.push(view(&[2, 3])).unwrap();
    says(group.push(view(&[2, 4])), &["group: tensor 1 has extents [2, 4], strides [4, 1], offset 0", "[2, 3]"]);
    says(group.push(view(&[2, 3, 1])), &["[2, 3, 1]"]);
    let column = View::new(&x, Layout::column_major(&[2, 3]).unwrap()).unwrap();
    says(group.push(column), &["strides [1, 2]", "[3, 1]"]);
    let two = Layout::row_major(&[2, 3]).and_then(|l| l.batched(2)).unwrap();
    says(group.push(View::new(&x, two.clone()).unwrap()), &["batch of a group's tensor", "2", "1"]);
    says(Group::<f64>::new(two.clone()), &["batch of a group's tensor", "2", "1"]);
    // The refused tensor is absent.
    group.push(view(&[2, 3])).unwrap();
    let g = group.view();
    assert_eq!((g.layout().batch(), g.data(), g.get(1, &[1, 2]), g.get(2, &[0, 0])), (2, None, Some(&1.0), None));
    assert!(g.layout().is_group() && g.permute(&[1, 0]).unwrap().layout().is_group());
    let three = View::new(&x, Layout::row_major(&[2, 3]).and_then(|l| l.batched(3)).unwrap()).unwrap();
    says(Einsum::new("ij,ij->", &[g.clone(), three]), &["batch of an operand", "3", "2"]);
    // The layout of a group is not that of a single array.
    let layout = g.layout().clone();
    says(View::new(&x, layout.clone()), &["one of 2 tensors, each in an array of its own, for one array"]);
    let mut y = x.clone();
    says(ViewMut::new(&mut y, layout.clone()), &["one of 2 tensors"]);
    says(Batch::new(y, layout.clone()), &["one of 2 tensors"]);
    says(GroupMut::<f64>::new(layout), &["batch of a group's tensor", "2", "1"]);
    says(GroupMut::<f64>::new(Layout::new(&[2, 3], &[1, 1], 0).unwrap()), &["may overlap elements of others"]);
    // Results of other sizes.
    let cpu = Cpu::new();
    let asked = || cpu.einsum(PlusTimes::new(), Einsum::new("ij->ij", std::slice::from_ref(&g)).unwrap());
    let mut first = vec![0.0; 6];
    let mut c = GroupMut::new(Layout::row_major(&[2, 3]).unwrap()).unwrap();
    says(asked().into_group(&mut c), &["batch of the result", "0", "2"]);
    c.push(ViewMut::new(&mut first, Layout::row_major(&[2, 3]).unwrap()).unwrap()).unwrap();
    says(asked().into_group(&mut c), &["batch of the result", "1", "2"]);
    // A plan for a group does not apply to one tensor shared by all.
    let still = View::new(&x, Layout::row_major(&[2, 3]).and_then(|l| l.broadcast(2)).unwrap()).unwrap();
    let other = Einsum::new("ij,ij->ij", &[still.clone(), three_of(&x, 2)]).unwrap();
    let grouped = Einsum::new("ij,ij->ij", &[g.clone(), three_of(&x, 2)]).unwrap();
    let plan = cpu.einsum_plan(&grouped, &Layout::row_major(&[2, 3]).and_then(|l| l.batched(2)).unwrap()).unwrap();
    assert!(cpu.einsum(PlusTimes::new(), grouped).plan(&plan).eval().is_ok());
    says(cpu.einsum(PlusTimes::new(), other).plan(&plan).eval(), &["operand 0 has another layout"]);
}

fn three_of(x: &[f64], batch: usize) -> View<'_, f64> {
    View::new(x, Layout::row_major(&[2, 3]).and_then(|l| l.batched(batch)).unwrap()).unwrap()
}
