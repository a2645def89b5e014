//! Reused plans of contractions.

use sparring::algebra::{MinPlus, PlusTimes};
use sparring::contract::{Einsum, Layout, View, ViewMut};
use sparring::{Cpu, Error};

fn view<'a>(data: &'a [f64], layout: &Layout) -> View<'a, f64> {
    View::new(data, layout.clone()).expect("a view")
}

/// A batched chain of three matrices, whose result is column-major.
fn layouts() -> (Layout, Layout, Layout) {
    let matrices = Layout::row_major(&[3, 3]).and_then(|l| l.batched(40)).expect("a layout");
    let one = Layout::row_major(&[3, 3]).expect("a layout");
    let by_columns = Layout::column_major(&[3, 3]).and_then(|l| l.strided(40, 10)).expect("a layout");
    (matrices, one, by_columns)
}

#[test]
fn a_plan_serves_any_values_semiring_and_threads() {
    let (matrices, one, by_columns) = layouts();
    let numbers = |seed: usize, len: usize| (0..len).map(|k| ((k * 31 + seed) % 13) as f64 - 6.0).collect::<Vec<_>>();
    let (first, other) = (numbers(1, 360), numbers(5, 9));
    let text = "ij,jk,kl->il";
    let made = Einsum::new(text, &[view(&first, &matrices), view(&other, &one), view(&other, &one)]).unwrap();
    let plan = Cpu::with_threads(3).unwrap().einsum_plan(&made, &by_columns).unwrap();
    assert_eq!((plan.operands().len(), plan.result(), plan.path().len()), (3, &by_columns, 2));
    for threads in [1, 2, 8] {
        let cpu = Cpu::with_threads(threads).unwrap();
        for seed in 0..4 {
            let (a, b, c) = (numbers(seed, 360), numbers(seed + 7, 9), numbers(seed + 2, 9));
            let einsum = || Einsum::new(text, &[view(&a, &matrices), view(&b, &one), view(&c, &one)]).unwrap();
            let (mut found, mut wanted) = (vec![0.5; 400], vec![0.5; 400]);
            let ring = PlusTimes::new();
            let asked = cpu.einsum(ring, einsum()).alpha(2.0).accumulate().plan(&plan);
            assert_eq!(plan.workspace_bytes(cpu.threads(), 8), asked.workspace_bytes().unwrap());
            asked.into(&mut ViewMut::new(&mut found, by_columns.clone()).unwrap()).unwrap();
            let asked = cpu.einsum(ring, einsum()).alpha(2.0).accumulate();
            asked.into(&mut ViewMut::new(&mut wanted, by_columns.clone()).unwrap()).unwrap();
            assert_eq!(found, wanted);
            cpu.einsum(MinPlus::new(), einsum())
                .plan(&plan)
                .into(&mut ViewMut::new(&mut found, by_columns.clone()).unwrap())
                .unwrap();
            cpu.einsum(MinPlus::new(), einsum())
                .into(&mut ViewMut::new(&mut wanted, by_columns.clone()).unwrap())
                .unwrap();
            assert_eq!(found, wanted);
        }
    }
}

#[test]
fn a_plan_of_something_else_is_refused() {
    let (matrices, one, by_columns) = layouts();
    let (a, b) = (vec![1.0; 360], vec![1.0; 9]);
    let cpu = Cpu::new();
    let product = |text: &str, right: &Layout| {
        Einsum::new(text, &[view(&a, &matrices), View::new(&b, right.clone()).unwrap()]).unwrap()
    };
    let plan = cpu.einsum_plan(&product("ij,jk->ik", &one), &by_columns).unwrap();
    let mut c = vec![7.0; 400];
    let turned = Layout::column_major(&[3, 3]).unwrap();
    let mut says = |einsum: Einsum<'_, f64>, layout: &Layout, words: &str| {
        let mut out = ViewMut::new(&mut c, layout.clone()).unwrap();
        let error = cpu.einsum(PlusTimes::new(), einsum).plan(&plan).into(&mut out).unwrap_err();
        assert!(matches!(error, Error::Argument { name: "plan", .. }) && error.to_string().contains(words), "{error}");
    };
    says(product("ij,kj->ik", &one), &by_columns, "one of \"ij,jk->ik\", not of \"ij,kj->ik\"");
    says(product("ij,jk->ik", &turned), &by_columns, "operand 1 has another layout than planned for: ");
    says(product("ij,jk->ik", &one), &matrices, "the result has another layout than planned for: ");
    assert_eq!(c, [7.0; 400]);
    // Its own result must have the planned layout.
    let error = cpu.einsum(PlusTimes::new(), product("ij,jk->ik", &one)).plan(&plan).eval().unwrap_err();
    assert!(error.to_string().contains("the result has another layout"), "{error}");
    let error = cpu.einsum_plan(&product("ij,jk->ik", &one), &one).unwrap_err();
    assert!(matches!(error, Error::Length { found: 1, expected: 40, .. }), "{error}");
    let backwards = Layout::new(&[3, 3], &[-3, 1], 6).and_then(|l| l.strided(40, 9)).unwrap();
    let error = cpu.einsum_plan(&product("ij,jk->ik", &one), &backwards).unwrap_err();
    assert!(error.to_string().contains("positive strides"), "{error}");
}
