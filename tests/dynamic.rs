//! Semirings and monoids by name.

use std::any::type_name;

use sparring::Error;
use sparring::algebra::Type;
use sparring::algebra::dynamic::{MONOIDS, MonoidVisitor, Named, SEMIRINGS, SemiringVisitor, canonical};
use sparring::algebra::*;
use sparring::backend::Backend;
use sparring::{Cpu, Csr};

/// Name of the selected type.
struct TypeName;
impl<T: Num> SemiringVisitor<T> for TypeName {
    type Output = &'static str;
    fn visit<R>(self, _: R) -> &'static str
    where
        R: Semiring,
        R::Mul: MulOp<A = T, B = T>,
        Out<R>: Num,
    {
        type_name::<R>()
    }
}
impl<T: Num> MonoidVisitor<T> for TypeName {
    type Output = &'static str;
    fn visit<P: Monoid + BinaryOp<Out = T>>(self, _: P) -> &'static str {
        type_name::<P>()
    }
}

/// A·A, and the sum of its values, as the command line computes it.
struct Square<'a, T>(&'a Csr<T>);
impl<T: Num> SemiringVisitor<T> for Square<'_, T> {
    type Output = sparring::Result<f64>;
    fn visit<R>(self, ring: R) -> sparring::Result<f64>
    where
        R: Semiring,
        R::Mul: MulOp<A = T, B = T>,
        Out<R>: Num,
    {
        let c = Cpu::new().mxm(ring, self.0, self.0).eval()?;
        Ok(c.values().iter().map(|x| x.as_f64()).sum())
    }
}

#[test]
fn a_visitor_multiplies_matrices_over_the_named_semiring() {
    let a = Csr::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1.0, 2.0, 3.0]).unwrap();
    // [1 2; 3 ·]²: plus-times [7 2; 3 6], min-plus [2 3; 4 5], pairs [2 1; 1 1], k [0|1 0; 0 0].
    let run = |name| f64::semiring(name, Square(&a)).unwrap().unwrap();
    assert_eq!(run("plus_times"), 18.0);
    assert_eq!(run("min_plus"), 14.0);
    assert_eq!(run("tropical"), 14.0);
    assert_eq!(run("plus-oneb"), 5.0);
    assert_eq!(run("lor_land"), 4.0);
    assert_eq!(run("any_secondi"), 1.0);
    assert_eq!(run("min_secondi"), 0.0);
    let b = Csr::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![true, true, false]).unwrap();
    assert_eq!(bool::semiring("lxor_land", Square(&b)).unwrap().unwrap(), 2.0);
}

#[test]
fn every_name_gives_its_semiring_on_every_type_that_has_it() {
    fn on<T: Named>() {
        let mut seen = std::collections::BTreeSet::new();
        for name in T::semirings() {
            let chosen = T::semiring(name, TypeName).unwrap();
            assert!(seen.insert(chosen), "{name} over {} is {chosen}, which another name gives too", T::TYPE);
            // `min_plus` names Ring<…::Min<…>, …::Plus<…>>; `pair` and positional semirings are compared by their
            // prefix.
            let spelled = chosen.to_lowercase().replace("logaddexp", "log").replace("sparring::algebra::", "");
            let (add, mul) = name.split_once('_').unwrap();
            let words: Vec<&str> = spelled.split(|c: char| !c.is_alphanumeric()).collect();
            assert!(words.contains(&add) && words.contains(&mul), "{name} gives {chosen}");
        }
        for name in T::monoids() {
            let chosen = T::monoid(name, TypeName).unwrap().to_lowercase();
            assert!(chosen.contains(&format!("::{}<", name.replace('_', ""))), "{name} gives {chosen}");
        }
    }
    on::<bool>();
    on::<i8>();
    on::<i16>();
    on::<i32>();
    on::<i64>();
    on::<u8>();
    on::<u16>();
    on::<u32>();
    on::<u64>();
    on::<f32>();
    on::<f64>();
    // The compiled combinations that the documentation guarantees.
    let counts = [f64::semirings().len(), i64::semirings().len(), bool::semirings().len()];
    assert_eq!(counts, [25, 28, 12]);
}

#[test]
fn the_tables_have_each_name_once_and_types_for_it() {
    let mut names: Vec<_> = SEMIRINGS.iter().map(|row| row.name).chain(MONOIDS.iter().map(|row| row.name)).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    let min_plus = SEMIRINGS.iter().find(|row| row.name == "min_plus").unwrap();
    assert_eq!(min_plus.purpose, "shortest paths");
    assert!(!min_plus.values().contains(&Type::Bool) && min_plus.values().len() == 10);
    for &t in Type::ORDERED {
        assert_eq!(t.to_string().parse::<Type>().unwrap(), t);
    }
}

#[test]
fn other_names_are_understood() {
    for (alias, name) in [
        ("plus_oneb", "plus_pair"),
        ("ANY-ONE", "any_pair"),
        ("min_firstj", "min_secondi"),
        ("any_second_index", "any_secondi"),
        ("or_and", "lor_land"),
        ("logaddexp_plus", "log_plus"),
        ("plus_times", "plus_times"),
    ] {
        assert_eq!(canonical(alias), name);
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_known_ones() {
    let error = bool::semiring("min_plus", TypeName).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    let text = error.to_string();
    assert!(text.starts_with("semiring 'min_plus' over bool is not supported: bool has "), "{text}");
    assert!(text.contains("lxnor_lor") && !text.contains("plus_times"), "{text}");
    let text = f64::monoid("bor", TypeName).unwrap_err().to_string();
    assert!(text.contains("monoid 'bor' over f64") && text.contains("logaddexp"), "{text}");
    let text = "decimal".parse::<Type>().unwrap_err().to_string();
    assert!(text.contains("'decimal'") && text.contains("f64"), "{text}");
}
