//! Every built-in monoid, semiring and NAMM satisfies the laws that `src/algebra/builtin.rs` claims.

use quickcheck::{QuickCheck, TestResult};
use sparring::algebra::*;
use sparring::num_complex::Complex;
use sparring::{builtin_monoids, builtin_semirings, builtin_unions};

/// Where a law is claimed to hold, in the words of the list.
#[derive(Clone, Copy, PartialEq)]
#[allow(non_camel_case_types)]
enum Domain {
    every,
    finite,
    small,
    natural,
}

/// A value type as the tests use it.
trait Sample: Num {
    const FLOAT: bool;
    /// Relative error of a few operations.
    const TOLERANCE: f64;
    fn from_word(word: u64) -> Self;
}
macro_rules! sample {
    ($($t:ident $float:literal $tolerance:literal $w:ident $any:expr;)*) => {$(
        impl Sample for $t {
            const FLOAT: bool = $float;
            const TOLERANCE: f64 = $tolerance;
            fn from_word($w: u64) -> Self { $any }
        }
    )*};
}
sample! {
    bool false 0.0 w w & 1 == 1;
    i8 false 0.0 w w as i8;
    i16 false 0.0 w w as i16;
    i32 false 0.0 w w as i32;
    i64 false 0.0 w w as i64;
    u8 false 0.0 w w as u8;
    u16 false 0.0 w w as u16;
    u32 false 0.0 w w as u32;
    u64 false 0.0 w w;
    f32 true 2e-6 w f32::from_bits(w as u32);
    f64 true 4e-15 w f64::from_bits(w);
}

/// A value of the domain, made from any word: extremes and tiny numbers are frequent.
fn sample<T: Sample>(domain: Domain, word: u64) -> T {
    let (kind, word) = (word % 8, word / 8);
    let unsigned = T::BOTTOM == T::ZERO;
    let sign = if domain == Domain::natural || unsigned || word & 1 == 0 { 1.0 } else { -1.0 };
    let few = (word / 2 % 6) as f64;
    match domain {
        // Sums and products of two such numbers fit i8.
        Domain::small | Domain::natural => T::from_f64(sign * few),
        Domain::finite if T::FLOAT => T::from_f64(sign * (word / 2 % 100_000) as f64 / 512.0),
        _ => match kind {
            0 => T::ZERO,
            1 => T::ONE,
            2 => T::TOP,
            3 => T::BOTTOM,
            4 => T::from_f64(sign * few),
            _ => {
                let x = T::from_word(word.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                if x.as_f64().is_nan() { T::ONE } else { x }
            }
        },
    }
}

/// How results are compared: exactly, unless floats round.
fn same<T: Sample>(domain: Domain, values: &[T]) -> impl Fn(T, T) -> bool + Copy + use<T> {
    let largest = values.iter().map(|x| x.as_f64().abs()).fold(1.0, f64::max);
    let rounds = T::FLOAT && domain != Domain::every;
    let close = laws::within(T::TOLERANCE, if rounds { largest * largest } else { 0.0 });
    move |x, y| if rounds { close(x, y) } else { laws::exact(x, y) }
}

fn monoid<P: Monoid<Out = T>, T: Sample>(op: P, name: &str, domain: Domain, words: [u64; 3]) -> Result<(), String> {
    let [x, y, z] = words.map(|w| sample::<T>(domain, w));
    let close = same(domain, &[x, y, z]);
    let fails = |law: &str| Err(format!("{name}: {law} with {x:?}, {y:?}, {z:?}"));
    if !laws::left_identity(op, x, laws::exact) {
        return fails("left identity");
    }
    if !laws::associative(op, [x, y, z], close) {
        return fails("associative");
    }
    if !laws::terminal(op, x) {
        return fails("terminal");
    }
    if !laws::last(op, [x, y]) {
        return fails("last");
    }
    // `any` returns the last operand: it has neither an identity nor commutativity.
    if name.starts_with("any<") {
        return Ok(());
    }
    if !laws::identity(op, x, laws::exact) {
        return fails("identity");
    }
    if !laws::commutative(op, [x, y], laws::exact) {
        return fails("commutative");
    }
    Ok(())
}

struct Stated {
    domain: Domain,
    distributes: &'static str,
    annihilates: &'static str,
}

fn ring<R, T: Sample>(ring: R, name: &str, stated: &Stated, words: [u64; 3]) -> Result<(), String>
where
    R: Semiring<Mul: MulOp<A = T, B = T, Out = T>, Add: Monoid<Out = T>>,
{
    let domain = stated.domain;
    let [a, b, c] = words.map(|w| sample::<T>(domain, w));
    let close = same(domain, &[a, b, c]);
    let fails = |law: &str| Err(format!("{name}: {law} with {a:?}, {b:?}, {c:?}"));
    if ["both", "left"].contains(&stated.distributes) && !laws::left_distributive(ring, a, [b, c], close) {
        return fails("left distributive");
    }
    if ["both", "right"].contains(&stated.distributes) && !laws::right_distributive(ring, [a, b], c, close) {
        return fails("right distributive");
    }
    let always = stated.annihilates == "always" || (stated.annihilates == "floats" && T::FLOAT);
    if (always || stated.annihilates == "left") && !laws::left_annihilates(ring, c) {
        return fails("left annihilates");
    }
    if (always || stated.annihilates == "right") && !laws::right_annihilates(ring, a) {
        return fails("right annihilates");
    }
    Ok(())
}

/// Lists of types by class, as in `builtin.rs`. `$then` gets a type and the rows, as one tree.
macro_rules! types_of {
    (numbers, $then:ident, $rows:tt) => { types_of!(@ $then, $rows, i8 i16 i32 i64 u8 u16 u32 u64 f32 f64) };
    (any, $then:ident, $rows:tt) => { types_of!(@ $then, $rows, bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64) };
    (integers, $then:ident, $rows:tt) => { types_of!(@ $then, $rows, i8 i16 i32 i64 u8 u16 u32 u64) };
    (reals, $then:ident, $rows:tt) => { types_of!(@ $then, $rows, f32 f64) };
    (logic, $then:ident, $rows:tt) => { types_of!(@ $then, $rows, bool) };
    // On bool, ⊕ and ⊗ have the same type, so the laws apply.
    (truth, $then:ident, $rows:tt) => { types_of!(@ $then, $rows, bool) };
    // Positional operators depend only on the indices; their monoids are tested as monoids.
    (place, $then:ident, $rows:tt) => {};
    (place1, $then:ident, $rows:tt) => {};
    (@ $then:ident, $rows:tt, $($t:ident)*) => { $($then!($t $rows);)* };
}

type Check = (String, Box<dyn Fn([u64; 3]) -> Result<(), String>>);

fn monoid_checks() -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    macro_rules! rows {
        ($t:ident { $($name:ident $op:ident $domain:ident;)* }) => {$({
            let name = format!("{}<{}>", stringify!($name), stringify!($t));
            let title = name.clone();
            let check = move |w| monoid($op::<$t>::default(), &name, Domain::$domain, w);
            checks.push((title, Box::new(check)));
        })*};
    }
    macro_rules! classes {
        ($($class:ident($bound:ident) $rows:tt)*) => { $(types_of!($class, rows, $rows);)* };
    }
    builtin_monoids!(classes);
    checks
}

fn ring_checks() -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    macro_rules! rows {
        ($t:ident { $($name:ident $ring:ident $purpose:literal $domain:ident $distributes:ident $annihilates:ident;)* }) => {$({
            let name = format!("{}<{}>", stringify!($name), stringify!($t));
            let title = name.clone();
            let stated = Stated {
                domain: Domain::$domain,
                distributes: stringify!($distributes),
                annihilates: stringify!($annihilates),
            };
            let check = move |w| ring($ring::<$t>::default(), &name, &stated, w);
            checks.push((title, Box::new(check)));
        })*};
    }
    macro_rules! classes {
        ($($class:ident($bound:ident) $rows:tt)*) => { $(types_of!($class, rows, $rows);)* };
    }
    builtin_semirings!(classes);
    checks
}

fn hold(checks: Vec<Check>) {
    thread_local!(static CHECKS: std::cell::RefCell<Vec<Check>> = const { std::cell::RefCell::new(Vec::new()) });
    fn all(x: u64, y: u64, z: u64) -> TestResult {
        CHECKS.with_borrow(|checks| {
            // The same words, scrambled per check, so that no check sees only one kind.
            for (n, (_, check)) in checks.iter().enumerate() {
                let turn = |w: u64, k: u32| w.rotate_left(7 * n as u32 + k).wrapping_add(n as u64);
                if let Err(why) = check([turn(x, 0), turn(y, 3), turn(z, 5)]) {
                    return TestResult::error(why);
                }
            }
            TestResult::passed()
        })
    }
    CHECKS.set(checks);
    QuickCheck::new().tests(2000).quickcheck(all as fn(u64, u64, u64) -> TestResult);
}

#[test]
fn monoids_keep_their_laws() {
    let checks = monoid_checks();
    // 44 of the GraphBLAS C API, any on 11 types, bitwise on 8 × 4, max_from_zero on 10, logaddexp on 2.
    assert_eq!(checks.len(), 44 + 11 + 32 + 10 + 2);
    hold(checks);
}

#[test]
fn semirings_keep_their_laws() {
    let checks = ring_checks();
    // The 124 of the GraphBLAS C API are 12 on 10 types and 4 on bool; plus_{first, second, pair}, any_* on 11
    // types, bitwise on 8 × 4, the log semiring on 2.
    assert_eq!(checks.len(), 124 + 30 + 33 + 32 + 2);
    hold(checks);
}

/// Complex numbers have the semirings that need no order.
#[test]
fn complex_semirings_keep_their_laws() {
    // `norm` exists only with a feature of num-complex.
    let far = |z: Complex<f64>| z.norm_sqr().sqrt();
    let close = |x: Complex<f64>, y: Complex<f64>| far(x - y) <= 1e-12 * far(x).max(far(y)).max(1.0);
    fn value(word: u64) -> Complex<f64> {
        let part = |w: u64| (w % 2001) as f64 / 8.0 - 125.0;
        Complex::new(part(word), part(word >> 20))
    }
    let holds = move |x: u64, y: u64, z: u64| {
        let [a, b, c] = [x, y, z].map(|w| value(w.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let ring = PlusTimes::<Complex<f64>>::new();
        laws::identity(Plus::new(), a, laws::exact)
            && laws::identity(Times::new(), a, laws::exact)
            && laws::associative(Plus::new(), [a, b, c], close)
            && laws::associative(Times::new(), [a, b, c], |x, y| far(x - y) <= 1e-6)
            && laws::commutative(Plus::new(), [a, b], laws::exact)
            && laws::commutative(Times::new(), [a, b], laws::exact)
            && laws::left_distributive(ring, a, [b, c], |x, y| far(x - y) <= 1e-9)
            && laws::left_annihilates(ring, a)
            && laws::right_distributive(PlusFirst::<Complex<f64>>::new(), [a, b], c, close)
            && laws::left_identity(Any::new(), a, laws::exact)
    };
    for w in 0..2000u64 {
        assert!(holds(w, w.rotate_left(17) ^ 0xabcd, w.wrapping_mul(77) + 3), "{w}");
    }
    // As num-complex computes: (1 + 2i)(3 − i) = 5 + 5i, and a quotient.
    assert_eq!(laws::apply(Times::new(), Complex::new(1.0, 2.0), Complex::new(3.0, -1.0)), Complex::new(5.0, 5.0));
    assert_eq!(laws::apply(Div::new(), Complex::new(5.0, 5.0), Complex::new(3.0, -1.0)), Complex::new(1.0, 2.0));
}

#[test]
fn unions_keep_their_law() {
    macro_rules! all {
        ($($union:ident)*) => {$(
            all!(@ $union i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
        )*};
        (@ $union:ident $($t:ident)*) => { $(assert!(laws::union($union::<$t>::default()), stringify!($union<$t>));)* };
    }
    builtin_unions!(all);
    // Plain max has the identity −∞, which differs from |0 − 0| = 0.
    assert!(!laws::union(Union(Max::<f64>::new(), AbsDiff::<f64>::new())));
}

/// An alias or monoid missing from the list would not be tested anywhere.
#[test]
fn nothing_is_missing_from_the_list() {
    let list = include_str!("../src/algebra/builtin.rs");
    let listed: Vec<&str> = list.split(|c: char| !c.is_alphanumeric()).collect();
    let aliases = include_str!("../src/algebra/semiring.rs")
        .lines()
        .filter(|line| line.contains("= Ring<") || line.contains("= Union<"))
        .filter_map(|line| line.strip_prefix("pub type ")?.split('<').next())
        .collect::<Vec<_>>();
    let monoids = include_str!("../src/algebra/monoid.rs")
        .lines()
        .filter_map(|line| match line.trim_start().strip_prefix("] [pub] ") {
            // An operator written by hand.
            Some(line) => line.split_once(' ').map(|(name, _)| name),
            None => line.trim_start().strip_prefix("pub ")?.split_once('<').map(|(name, _)| name),
        })
        .filter(|name| !name.contains(' '))
        .collect::<Vec<_>>();
    assert!(aliases.len() >= 41 && monoids.len() >= 15, "the scan found {} and {}", aliases.len(), monoids.len());
    for name in aliases.into_iter().chain(monoids) {
        assert!(listed.contains(&name), "{name} is not in builtin.rs");
    }
}

#[test]
fn a_broken_law_is_seen() {
    sparring::op! { /// Not associative.
    Broken<T: Num> (a, b) -> T { a - b } identity T::ZERO }
    assert!(laws::identity(Broken::<i32>::new(), 0, laws::exact));
    assert!(!laws::identity(Broken::<i32>::new(), 3, laws::exact));
    assert!(!laws::associative(Broken::<i32>::new(), [1, 2, 3], laws::exact));
    assert!(!laws::commutative(Broken::<i32>::new(), [1, 2], laws::exact));
    assert!(!laws::left_distributive(PlusMin::<i32>::default(), 1, [1, 1], laws::exact));
    assert!(!laws::left_annihilates(MinPlus::<i32>::default(), 1));
}

#[test]
fn log_add_exp_is_stable() {
    let f = |a: f64, b: f64| laws::apply(LogAddExp::new(), a, b);
    assert!((f(0.0, 0.0) - 2f64.ln()).abs() < 1e-15);
    assert_eq!(f(1000.0, 1000.0), 1000.0 + 2f64.ln());
    assert_eq!(f(-1e300, 5.0), 5.0);
    assert!((f(1.0, 2.0) - (1f64.exp() + 2f64.exp()).ln()).abs() < 1e-15);
    assert_eq!(f(f64::INFINITY, f64::INFINITY), f64::INFINITY);
    assert_eq!(f(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
    assert_eq!(f(f64::NEG_INFINITY, f64::INFINITY), f64::INFINITY);
    assert!(f(f64::NAN, 1.0).is_nan() && f(1.0, f64::NAN).is_nan());
}

#[test]
fn any_takes_the_last_and_its_identity_is_on_the_left() {
    assert!(laws::left_identity(Any::<i32>::new(), 5, laws::exact));
    assert!(!laws::identity(Any::<i32>::new(), 5, laws::exact));
}

#[test]
fn divisions_of_integers_by_0_have_the_sign_of_what_is_divided() {
    fn by_types<T: Num + std::fmt::Debug>(one: T, minus: T) {
        let f = |a: T, b: T| Div::<T>::new().apply::<Host>(V(a), V(b)).0;
        assert_eq!([f(one, T::ZERO), f(T::ZERO, T::ZERO)], [T::TOP, T::ZERO]);
        assert_eq!([f(minus, T::ZERO), f(T::BOTTOM, T::ZERO)], [T::BOTTOM; 2]);
        // The only quotient out of range wraps.
        assert_eq!([f(T::BOTTOM, minus), f(minus, one)], [T::BOTTOM, minus]);
    }
    by_types(1i8, -1);
    by_types(1i32, -1);
    by_types(1i64, -1);
    let f = |a: u8, b: u8| Div::<u8>::new().apply::<Host>(V(a), V(b)).0;
    assert_eq!([f(7, 0), f(0, 0), f(255, 2)], [255, 0, 127]);
}

#[test]
fn differences_are_the_same_both_ways() {
    fn apart<T: Num + std::fmt::Debug>(a: T, b: T, d: T) {
        let f = |a: T, b: T| AbsDiff::<T>::new().apply::<Host>(V(a), V(b)).0;
        assert_eq!([f(a, b), f(b, a), f(a, a)], [d, d, T::ZERO]);
    }
    apart(3u8, 5, 2);
    apart(0u64, u64::MAX, u64::MAX);
    apart(-3i32, 5, 8);
    // Out of range: it wraps, to the same number in both directions.
    apart(i8::MIN, i8::MAX, -1);
    apart(true, false, true);
    apart(-1.5f64, 2.0, 3.5);
}

#[test]
fn casts_are_those_of_rust() {
    macro_rules! pairs {
        ($($t:ident)*) => { $(pairs!(@ $t i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);)* };
        (@ $t:ident $($u:ident)*) => {$(
            for w in 0..4000u64 {
                let x = $t::from_word(w.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(w as u32));
                assert!(laws::exact(x.cast::<$u>(), x as $u), "{x:?} from {} to {}", stringify!($t), stringify!($u));
            }
            assert_eq!($t::TOP.cast::<$u>(), $t::TOP as $u);
            assert_eq!($t::BOTTOM.cast::<$u>(), $t::BOTTOM as $u);
        )*};
    }
    pairs!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    assert_eq!(f64::NAN.cast::<i32>(), 0);
    assert!(f64::NAN.cast::<bool>() && (-1i8).cast::<bool>() && !0u64.cast::<bool>());
    assert_eq!(true.cast::<f32>(), 1.0);
    // Rounded once: through f64 this would give 2^60.
    assert_eq!(((1i64 << 60) + (1 << 36) + 1).cast::<f32>(), ((1i64 << 60) + (1 << 36) + 1) as f32);
}
