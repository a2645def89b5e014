//! Compile-time shapes, layouts by arrangement, and named kernels.

use super::*;
use sparring::Result;
use sparring::contract::{Any, Arrangement, ColumnMajor, Extents, Fixed, Interleaved, Rank, RowMajor, Shaped, reduced};

#[test]
fn shapes_are_those_of_the_array() {
    let numbers: Vec<i64> = (0..24).collect();
    let view = |extents: &[usize]| View::new(&numbers, Layout::row_major(extents).unwrap()).unwrap();
    let b = view(&[2, 3, 4]).shaped::<(Any, Fixed<3>, Fixed<4>)>().unwrap();
    let c = view(&[4, 3]).shaped::<(Fixed<4>, Any)>().unwrap();
    let r = view(&[4, 3]).ranked::<2>().unwrap();
    let cpu = Cpu::new();
    let of = |einsum: Result<Einsum<'_, i64>>| cpu.einsum(PlusTimes::new(), einsum.unwrap()).eval().unwrap();
    let wanted = of(Einsum::new("ijk,kj->i", &[view(&[2, 3, 4]), view(&[4, 3])]));
    assert_eq!(of(einsum!("ijk,kj->i", b, c)), wanted);
    // Mixed with shapes of which only the rank is known at compile time.
    assert_eq!(of(einsum!("ijk,kj->i", b, r)), wanted);
    let s = view(&[]).shaped::<()>().unwrap();
    assert_eq!(of(einsum!(",ijk,kj->i", s, b, r)).values(), [0, 0]);
    says(
        view(&[2, 3]).shaped::<(Fixed<2>, Fixed<4>)>(),
        &["shape: index 1 has 3 values, and 4 in the type of the view"],
    );
    says(view(&[2, 3]).shaped::<(Any,)>(), &["indices of a view", "2", "1"]);
    // Extents unknown at compile time are compared at run time.
    says(einsum!("ij,jk->ik", c, r), &["j has 4 values in operand 1, 3 in operand 0"]);
    assert_eq!(<(Fixed<7>, Any) as Extents>::KNOWN, [Some(7), None]);
    assert_eq!(<Rank<3> as Extents>::KNOWN, [None; 3]);
}

/// Checked once for every type and extent: bounds on shapes hold in a function that is generic over both.
#[test]
fn generic_functions_name_shapes_in_part() {
    fn trace<T: Clone, const N: usize>(
        a: Shaped<'_, T, (Fixed<N>, Fixed<3>)>,
        b: Shaped<'_, T, (Any, Fixed<N>)>,
    ) -> Result<(Vec<usize>, usize)> {
        Ok(einsum!("ij,ji->", a, b)?.result())
    }
    let numbers = [0; 512];
    let view = |extents: &[usize]| View::new(&numbers, Layout::row_major(extents).unwrap()).unwrap();
    let (a, b) = (view(&[2, 3]).shaped().unwrap(), view(&[3, 2]).shaped().unwrap());
    assert_eq!(trace::<_, 2>(a, b).unwrap(), (vec![], 1));
    // More indices than a shape of named extents can have.
    let c = view(&[2; 9]).ranked::<9>().unwrap();
    assert_eq!(einsum!("abcdefghi->ia", c).unwrap().result(), (vec![2, 2], 1));
}

/// Rows in groups of eight, tensors with a gap between them, and an offset to the first element.
struct Padded;
impl Arrangement for Padded {
    fn layout(&self, extents: &[usize], batch: usize) -> Result<Layout> {
        let last = extents.last().copied().unwrap_or(1).next_multiple_of(8);
        let padded: Vec<usize> = extents.iter().rev().skip(1).rev().copied().chain([last]).collect();
        let dense = Layout::row_major(&padded)?;
        let strides = if extents.is_empty() { &[][..] } else { dense.strides() };
        Layout::new(extents, strides, 5)?.strided(batch, dense.array_len() as isize + 3)
    }
}

/// Whatever it says.
struct Says(fn(&[usize], usize) -> Result<Layout>);
impl Arrangement for Says {
    fn layout(&self, extents: &[usize], batch: usize) -> Result<Layout> {
        self.0(extents, batch)
    }
}

#[test]
fn results_lie_as_a_rule_says() {
    let mut random = Rng(31);
    for case in 0..300 {
        let cpu = &machines()[case % 4];
        let (letters, batch) = (1 + random.below(4), [1, 2, 9][random.below(3)]);
        let extents = layouts::extents(&mut random, letters, 6, batch, false);
        let (text, terms, _) = layouts::expression(&mut random, 2, letters, |k| char::from(b'a' + k as u8));
        let of = |term: &Vec<usize>| term.iter().map(|&k| extents[k]).collect::<Vec<_>>();
        let all: Vec<Layout> = terms.iter().map(|t| layout(&mut random, &of(t), batch, true)).collect();
        let arrays: Vec<Vec<f64>> = all.iter().map(|l| array(&mut random, l, F64.number)).collect();
        let views: Vec<_> = all.iter().zip(&arrays).map(|(l, x)| View::new(x, l.clone()).unwrap()).collect();
        let book = Textbook::read(&text, &views);
        for (name, by) in [
            ("rows", &RowMajor as &dyn Arrangement),
            ("columns", &ColumnMajor),
            ("interleaved", &Interleaved),
            ("padded", &Padded),
        ] {
            let asked = || cpu.einsum(PlusTimes::new(), Einsum::new(&text, &views).unwrap());
            let found = [asked().eval_in(by).unwrap(), asked().accumulate().eval_in(by).unwrap()];
            let mut elements = 0;
            book.each(&book.result, |b, index| {
                let wanted = book.fold(&views, b, index, 0.0, F64.plus, F64.times);
                found.iter().for_each(|c| assert_eq!(c.view().get(b, index), Some(&wanted), "{text} {name} {index:?}"));
                elements += 1;
            });
            let lies = found[0].view().layout().clone();
            assert_eq!((lies.elements(), found[0].values().len()), (elements, lies.array_len()));
            match name {
                "rows" => assert_eq!(found[0], asked().eval().unwrap()),
                "columns" => assert!(lies.strides().is_sorted() && lies.strides().first().is_none_or(|&s| s == 1)),
                "interleaved" => assert!(lies.batch_stride() == 1 || batch == 1),
                // The gaps between elements are untouched.
                _ => assert!(found[0].values()[..5].iter().all(|&x| x == 0.0)),
            }
        }
    }
}

#[test]
fn rules_are_not_believed() {
    let x = vec![1.0; 24];
    let view = View::new(&x, Layout::row_major(&[2, 3]).and_then(|l| l.batched(4)).unwrap()).unwrap();
    let cpu = Cpu::new();
    let by = |rule| {
        cpu.einsum(PlusTimes::new(), Einsum::new("ij->ji", std::slice::from_ref(&view)).unwrap()).eval_in(&Says(rule))
    };
    says(by(|_, batch| Layout::row_major(&[2, 3])?.batched(batch)), &["einsum", "[3, 2]", "[2, 3]"]);
    says(by(|extents, _| Layout::row_major(extents)?.batched(3)), &["batch of the result", "3", "4"]);
    says(by(|extents, batch| Layout::row_major(extents)?.broadcast(batch)), &["4 tensors 0 apart"]);
    says(by(|extents, batch| Layout::new(extents, &[1, 1], 0)?.strided(batch, 6)), &["may overlap elements of others"]);
    says(by(|extents, batch| Layout::new(extents, &[-2, 1], 4)?.strided(batch, 6)), &["positive strides"]);
    says(by(|_, _| Err(Error::Argument { name: "rule", message: "none".into() })), &["rule: none"]);
    says(by(|extents, batch| Layout::new(extents, &[1 << 50, 1], 0)?.strided(batch, 2)), &["out of memory"]);
    let small = Cpu::new().memory_budget(100_000);
    let far = Says(|extents, batch| Layout::new(extents, &[8, 1], 1 << 20)?.strided(batch, 24));
    let asked = small.einsum(PlusTimes::new(), Einsum::new("ij->ji", std::slice::from_ref(&view)).unwrap());
    says(asked.eval_in(&far), &["budget", "einsum", "100000"]);
}

/// The three kernels compared with their loops, with a different extent for each index.
#[test]
fn kernels_by_name() {
    let [ni, nj, nk, nl, ns, batch] = [2, 3, 4, 5, 6, 7];
    let mut random = Rng(32);
    let mut numbers = |n: usize| (0..n).map(|_| random.below(9) as i64 - 4).collect::<Vec<_>>();
    let (b, c, square) = (numbers(batch * ni * ns * nj), numbers(nk * ns * nl), numbers(ns * ni));
    let view =
        |x, extents: &[usize], n| View::new(x, Layout::row_major(extents).and_then(|l| l.batched(n)).unwrap()).unwrap();
    let (b_view, c_view) = (view(&b, &[ni, ns, nj], batch), view(&c, &[nk, ns, nl], 1));
    let s_view = view(&square, &[ns, ni], 1);
    let of = |einsum: Result<Einsum<'_, i64>>| Cpu::new().einsum(PlusTimes::new(), einsum.unwrap()).eval().unwrap();
    let (ijkl, iklj) = (of(reduced::ijkl(&b_view, &c_view)), of(reduced::iklj(&b_view, &c_view)));
    let kilj = of(reduced::kilj(&s_view, &c_view));
    assert_eq!([ijkl.values().len(), iklj.values().len(), kilj.values().len()], [840, 840, nk * ni * nl * ni]);
    for k in 0..nk {
        for l in 0..nl {
            for i in 0..ni {
                let c = |s: usize| c[(k * ns + s) * nl + l];
                for e in 0..batch {
                    for j in 0..nj {
                        let wanted = (0..ns).map(|s| b[((e * ni + i) * ns + s) * nj + j] * c(s)).sum::<i64>();
                        assert_eq!(ijkl.view().get(e, &[i, j, k, l]), Some(&wanted));
                        assert_eq!(iklj.view().get(e, &[i, k, l, j]), Some(&wanted));
                    }
                }
                for j in 0..ni {
                    let wanted = (0..ns).map(|s| square[s * ni + i] * square[s * ni + j] * c(s)).sum::<i64>();
                    assert_eq!(kilj.view().get(0, &[k, i, l, j]), Some(&wanted));
                }
            }
        }
    }
    says(reduced::ijkl(&c_view, &s_view), &["operand 1 has 3 letters and 2 indices"]);
}

/// A sum over an empty index is the identity at once, however large the other extents are.
#[test]
fn sums_over_nothing_end() {
    let (cpu, ring) = (Cpu::with_threads(2).unwrap(), PlusTimes::<f64>::new());
    let far = |extents: &[usize]| Layout::new(extents, &vec![0; extents.len()], 0).unwrap();
    let (one, none) = ([3.0], [0.0; 0]);
    let huge = View::new(&one, far(&[1 << 40])).unwrap();
    let empty = View::new(&none, Layout::row_major(&[0, 3]).unwrap()).unwrap();
    let einsum = Einsum::new("b,ij->j", &[huge, empty.clone()]).unwrap();
    assert_eq!(cpu.einsum(ring, einsum.clone()).eval().unwrap().values(), [0.0; 3]);
    // beta keeps C, and nothing is added.
    let mut c = [1.0, 2.0, 3.0];
    let update = cpu.einsum(ring, einsum.clone()).beta(2.0);
    update.into(&mut ViewMut::new(&mut c, Layout::row_major(&[3]).unwrap()).unwrap()).unwrap();
    assert_eq!(c, [2.0, 4.0, 6.0]);
    let min = cpu.einsum(MinPlus::<f64>::new(), einsum).eval().unwrap();
    assert_eq!(min.values(), [f64::INFINITY; 3]);
    let most = View::new(&one, far(&[(1 << 63) - 1])).unwrap();
    let number = View::new(&one, far(&[])).unwrap();
    let table = View::new(&none, Layout::row_major(&[2, 0, 5, 0]).unwrap()).unwrap();
    for text in [",k,jmlm->", "k,jmlm,->", "jmlm,,k->"] {
        let part = |part: &str| {
            if part.is_empty() {
                number.clone()
            } else if part == "k" {
                most.clone()
            } else {
                table.clone()
            }
        };
        let views: Vec<_> = text.trim_end_matches("->").split(',').map(part).collect();
        assert_eq!(cpu.einsum(ring, Einsum::new(text, &views).unwrap()).eval().unwrap().values(), [0.0], "{text}");
    }
    // The result itself is empty.
    let wide = View::new(&none, Layout::new(&[0, 1 << 40], &[0, 0], 0).unwrap()).unwrap();
    assert!(cpu.einsum(ring, Einsum::new("ib->i", &[wide]).unwrap()).eval().unwrap().values().is_empty());
}
