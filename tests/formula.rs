//! Formulas as data: text equals the record of Rust's operators, and block evaluation gives the bits of the operators.

use sparring::algebra::*;
use sparring::num_complex::Complex;
use sparring::{Error, builtin_monoids, builtin_semirings};

/// A type with awkward values and bitwise equality; all NaNs are equal.
trait Sample: Number {
    fn awkward() -> Vec<Self>;
    fn is(self, other: Self) -> bool {
        Constant::of(self) == Constant::of(other)
    }
}
macro_rules! ints {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            fn awkward() -> Vec<Self> {
                vec![0, 1, 2, 3, 7, 100, $t::MIN, $t::MIN + 1, $t::MAX, $t::MAX - 1, $t::MAX / 2, (0 as $t).wrapping_sub(1)]
            }
        }
    )*};
}
ints! { i8 i16 i32 i64 u8 u16 u32 u64 }
macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            fn awkward() -> Vec<Self> {
                vec![
                    0.0, -0.0, 1.0, -1.0, 0.1, -3.7, 1e10, 1e-40, 255.5, $t::MAX, $t::MIN, $t::MIN_POSITIVE, $t::INFINITY,
                    $t::NEG_INFINITY, $t::NAN,
                ]
            }
            fn is(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
        impl Sample for Complex<$t> {
            fn awkward() -> Vec<Self> {
                [(0.0, 0.0), (-0.0, 1.0), (1.0, 0.0), (0.1, -3.7), ($t::MAX, 2.0), ($t::NAN, 1.0), (1.0, $t::INFINITY)]
                    .map(|(re, im)| Complex::new(re, im))
                    .to_vec()
            }
            fn is(self, other: Self) -> bool {
                self.re.is(other.re) && self.im.is(other.im)
            }
        }
    )*};
}
floats! { f32 f64 }
impl Sample for bool {
    fn awkward() -> Vec<Self> {
        vec![false, true]
    }
}

const LENGTHS: [usize; 6] = [0, 1, 127, 128, 129, 1000];

/// `n` awkward values, in an order that depends on `turn`.
fn values<T: Sample>(n: usize, turn: usize) -> Vec<T> {
    let some = T::awkward();
    // The strides of two arrays are coprime to the number of values, so that all pairs occur.
    (0..n).map(|x| some[(x * (2 * turn + 1) + x / some.len() * turn) % some.len()]).collect()
}

fn run<U: Sample>(f: &Formula, inputs: &[Input<'_>], n: usize) -> Vec<U> {
    let blocks = Blocks::new(f).unwrap_or_else(|e| panic!("{f}: {e}"));
    let mut out = vec![U::ZERO; n];
    blocks.run(inputs, &mut blocks.scratch().unwrap(), &mut SliceMut::of(&mut out)).unwrap();
    out
}

fn same<U: Sample>(f: &Formula, found: &[U], expected: &[U]) {
    assert_eq!(found.len(), expected.len());
    for (x, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(a.is(*b), "{f:?} at {x} of {}: {a:?}, on the host {b:?}", found.len());
    }
}

fn unary<O: UnaryOp<A: Sample, Out: Sample>>(op: O) {
    on_blocks(&Formula::of_unary(op), &|a| op.apply::<Host>(V(a)).0);
}

fn binary<O: BinaryOp<A: Sample, B: Sample, Out: Sample>>(op: O) {
    on_pairs_of_blocks(&Formula::of_binary(op), &|a, b| laws::apply(op, a, b));
}

// Compiled per type, not per operator.

fn on_blocks<A: Sample, U: Sample>(f: &Formula, op: &dyn Fn(A) -> U) {
    for n in LENGTHS {
        let a = values::<A>(n, 1);
        let expected: Vec<_> = a.iter().map(|&a| op(a)).collect();
        same(f, &run(f, &[Input::Values(Slice::of(&a))], n), &expected);
    }
    round_trip(f);
}

fn on_pairs_of_blocks<A: Sample, B: Sample, U: Sample>(f: &Formula, op: &dyn Fn(A, B) -> U) {
    for n in LENGTHS {
        let (a, b) = (values::<A>(n, 1), values::<B>(n, 2));
        let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| op(a, b)).collect();
        same(f, &run(f, &[Input::Values(Slice::of(&a)), Input::Values(Slice::of(&b))], n), &expected);
        for s in A::awkward() {
            let expected: Vec<_> = b.iter().map(|&b| op(s, b)).collect();
            same(f, &run(f, &[Input::Scalar(Slice::of(&[s])), Input::Values(Slice::of(&b))], n), &expected);
        }
        for s in B::awkward() {
            let expected: Vec<_> = a.iter().map(|&a| op(a, s)).collect();
            same(f, &run(f, &[Input::Values(Slice::of(&a)), Input::Scalar(Slice::of(&[s]))], n), &expected);
            let (a, b) = (A::awkward()[0], s);
            let inputs = [
                Input::Scalar(Slice::of(std::slice::from_ref(&a))),
                Input::Scalar(Slice::of(std::slice::from_ref(&b))),
            ];
            same(f, &run(f, &inputs, n), &vec![op(a, b); n]);
        }
    }
    round_trip(f);
}

/// Parsing the printed text gives the formula.
fn round_trip(f: &Formula) {
    let parameters: Vec<_> = f.parameters().iter().map(|p| (p.0.as_ref(), p.1)).collect();
    let read = Formula::parse(&f.to_string(), &parameters, Some(f.ty())).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read, *f);
}

/// `all!(unary: Abs Ainv; f32 i64)`: each operator on each type.
macro_rules! all {
    ($how:ident: $($op:ident)*; $types:tt) => { $(all!(@ $how $op $types);)* };
    (@ $how:ident $op:ident [$($t:ty)*]) => { $($how($op::<$t>::default());)* };
}

#[test]
fn blocks_have_the_bits_of_unary_operators() {
    all!(unary: Identity Ainv Minv Lnot One Square;
        [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Complex<f32> Complex<f64>]);
    all!(unary: Abs; [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
    all!(unary: Bnot; [bool i8 i16 i32 i64 u8 u16 u32 u64]);
    all!(unary: Sqrt Exp Ln Ln1p Floor Ceil; [f32 f64]);
    macro_rules! casts {
        ($($t:ident)*) => { $(casts!(@ $t bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);)* };
        (@ $t:ident $($u:ident)*) => { $(unary(Cast::<$t, $u>::new());)* };
    }
    casts!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    sparring::op! { /// a ln a.
    XLnX<T: Real> (a) -> T { a.x_ln_x() } }
    unary(XLnX::<f32>::new());
    unary(XLnX::<f64>::new());
}

#[test]
fn blocks_have_the_bits_of_binary_operators() {
    all!(binary: Plus Minus ReverseMinus Times Div ReverseDiv First Second Pair Any Mismatch Equal NotEqual Lor Land Lxor Lxnor;
        [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Complex<f32> Complex<f64>]);
    all!(binary: Min Max AbsDiff SquaredDiff Greater Less GreaterEqual LessEqual MaxFromZero;
        [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
    all!(binary: AndNot; [bool i8 i16 i32 i64 u8 u16 u32 u64]);
    all!(binary: Bor Band Bxor Bxnor; [i8 i16 i32 i64 u8 u16 u32 u64]);
    all!(binary: Pow LogAddExp; [f32 f64]);
    binary(Second::<f64, bool>::default());
    sparring::op! { /// a · b + a, with one rounding.
    Fused<T: Real> (a, b) -> T { a.mul_add(b, a) } }
    binary(Fused::<f32>::new());
    binary(Fused::<f64>::new());
    sparring::op! { /// Conditions and sides of every kind.
    Choose<T: Num> (a, b) -> T { a.lt(b).select(a, 1 - b) + a.lt(b).select(V::lit(T::ONE), V::lit(T::ZERO)) } }
    all!(binary: Choose; [i8 u64 f32 f64]);
}

#[test]
fn blocks_know_places() {
    sparring::op! { /// All three of them.
    Where<T: Num> (a: T, b: T) at (i, k, j) -> T { a * b + i.index_as() - k.index_as::<T>() * j.index_as() } }
    fn positional<O: MulOp<A: Sample, B: Sample, Out: Sample>>(op: O) {
        let f = Formula::of_mul(op);
        let (a, i, k) = (O::A::ONE, 5u64, 300u64);
        for n in LENGTHS {
            let (b, j) = (values::<O::B>(n, 1), (0..n as u64).map(|j| j * 70_001).collect::<Vec<_>>());
            let at = |j| At { i: V(i), k: V(k), j: V(j) };
            let expected: Vec<_> = b.iter().zip(&j).map(|(&b, &j)| op.mul::<Host>(V(a), V(b), at(j)).0).collect();
            let inputs = [
                Input::Scalar(Slice::of(std::slice::from_ref(&a))),
                Input::Values(Slice::of(&b)),
                Input::Scalar(Slice::of(std::slice::from_ref(&i))),
                Input::Scalar(Slice::of(std::slice::from_ref(&k))),
                Input::Values(Slice::of(&j)),
            ];
            same(&f, &run(&f, &inputs, n), &expected);
        }
        round_trip(&f);
    }
    macro_rules! place {
        ($($op:ident)*) => {$(
            positional($op::<bool, f64, i64>::new());
            positional($op::<bool, f64, u8>::new());
            positional($op::<bool, f64, f32>::new());
        )*};
    }
    place!(FirstI SecondI SecondJ FirstI1 SecondI1 SecondJ1);
    positional(Where::<i32>::new());
    positional(Where::<f64>::new());
    // As for an index-unary operator.
    let f = Formula::of_index_unary(Tril::<bool>::new());
    let (a, s, i) = ([true], [-1i64], [4u64, 4, 4]);
    let inputs = [
        Input::Scalar(Slice::of(&a)),
        Input::Scalar(Slice::of(&s)),
        Input::Values(Slice::of(&i)),
        Input::Values(Slice::of(&[2u64, 3, 4])),
    ];
    assert_eq!(run::<bool>(&f, &inputs, 3), [true, true, false]);
}

sparring::value! {
    /// A value and its index.
    struct Best {
        /// The value.
        value: f64,
        /// Its index.
        index: u32,
    }
}
sparring::op! {
    /// The one with the smaller value; of equal ones that of the smaller index.
    ArgMin (a: Best, b: Best) -> Best {
        let (x, y) = (Best::value(a), Best::value(b));
        (y.lt(x) | (y.eq(x) & Best::index(b).lt(Best::index(a)))).select(b, a)
    } identity Best { value: f64::INFINITY, index: u32::MAX }
}
sparring::op! { /// A step of length `b` after `a`.
Step (a: Best, b: f64) -> Best { Best::of(Best::value(a) + b, Best::index(a)) } }

#[test]
fn blocks_take_structs_apart_and_put_them_together() {
    let best = |n: usize, turn: usize| -> Vec<Best> {
        (0..n).map(|x| Best { value: (x * turn % 5) as f64, index: (x * turn % 3) as u32 }).collect()
    };
    for n in LENGTHS {
        let (a, b, steps) = (best(n, 3), best(n, 2), values::<f64>(n, 1));
        let blocks = Blocks::new(&Formula::of_binary(ArgMin::new())).unwrap();
        let mut out = best(n, 0);
        let inputs = [Input::Values(Slice::of(&a)), Input::Values(Slice::of(&b))];
        blocks.run(&inputs, &mut blocks.scratch().unwrap(), &mut SliceMut::of(&mut out)).unwrap();
        let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| laws::apply(ArgMin::new(), a, b)).collect();
        assert_eq!(out, expected);
        let blocks = Blocks::new(&Formula::of_binary(Step::new())).unwrap();
        let far = [Best { value: 1.0, index: 7 }];
        let inputs = [Input::Scalar(Slice::of(&far)), Input::Values(Slice::of(&steps))];
        blocks.run(&inputs, &mut blocks.scratch().unwrap(), &mut SliceMut::of(&mut out)).unwrap();
        let expected: Vec<_> = steps.iter().map(|&b| laws::apply(Step::new(), far[0], b)).collect();
        assert!(out.iter().zip(&expected).all(|(x, y)| x.index == y.index && x.value.is(y.value)));
    }
    let (step, argmin) = (Formula::of_binary(Step::new()), Formula::of_binary(ArgMin::new()));
    assert_eq!(step.to_string(), "Best(a.value + b, a.index)");
    round_trip(&step);
    round_trip(&argmin);
    // Structs are compared by their fields.
    let error = Blocks::new(&Formula::of_binary(Equal::<Best>::new())).unwrap_err().to_string();
    assert!(error.contains("eq of Best, Best") && error.contains("compare the fields"), "{error}");
}

#[test]
fn blocks_refuse_what_does_not_fit() {
    let f = Formula::of_binary(Plus::<f64>::new());
    let blocks = Blocks::new(&f).unwrap();
    let mut scratch = blocks.scratch().unwrap();
    let (x, y) = ([1.0f64; 3], [1.0f32; 3]);
    let mut run = |inputs: &[Input<'_>], out: &mut [f64]| {
        blocks.run(inputs, &mut scratch, &mut SliceMut::of(out)).map_err(|e| e.to_string()).err().unwrap_or_default()
    };
    let (x3, y3, x1) = (Input::Values(Slice::of(&x)), Input::Values(Slice::of(&y)), Input::Scalar(Slice::of(&x[..1])));
    assert_eq!(run(&[x3, x1], &mut [0.0; 3]), "");
    assert!(run(&[x3], &mut [0.0; 3]).contains("length is 1, expected 2"));
    assert!(run(&[x3, x3], &mut [0.0; 4]).contains("length is 3, expected 4"));
    assert!(run(&[x3, y3], &mut [0.0; 3]).contains("b is f64, but was given as f32"));
    let error = blocks.run(&[x3, x3], &mut scratch, &mut SliceMut::of(&mut [0u8; 3])).unwrap_err().to_string();
    assert!(error.contains("the results are f64, the output is u8"), "{error}");
    let other = Blocks::new(&Formula::of_binary(Less::<f64>::new())).unwrap();
    assert!(blocks.run(&[x3, x3], &mut other.scratch().unwrap(), &mut SliceMut::of(&mut [0.0; 3])).is_err());
    // Unread inputs may have any type.
    let first = Formula::of_binary(First::<f64>::new());
    assert_eq!(self::run::<f64>(&first, &[x3, y3], 3), x);
}

#[test]
fn formulas_are_compared_by_what_they_compute() {
    sparring::op! { /// With `let`s in another order.
    Later<T: Num> (a, b) -> T { let d = b + a; let c = a * b; c + d } }
    sparring::op! { /// In the order of the result.
    Straight<T: Num> (a, b) -> T { a * b + (b + a) } }
    let (x, y) = (Formula::of_binary(Later::<i32>::new()), Formula::of_binary(Straight::<i32>::new()));
    assert_eq!(x, y);
    let hash = |f: &Formula| {
        use std::hash::{BuildHasher, RandomState};
        thread_local!(static STATE: RandomState = RandomState::new());
        STATE.with(|s| s.hash_one(f))
    };
    assert_eq!(hash(&x), hash(&y));
    assert_ne!(x, Formula::of_binary(Straight::<i64>::new()));
    assert_ne!(Formula::of_binary(Plus::<f64>::new()), Formula::of_binary(Minus::<f64>::new()));
    assert!(x.reads("a") && !Formula::of_binary(First::<f64>::new()).reads("b"));
    // Constants by their bits.
    let constant = |x: f64| Formula::parse(&format!("{x:?}"), &[], Some(Type::F64)).unwrap();
    assert_ne!(constant(0.0), constant(-0.0));
    assert_eq!(constant(f64::INFINITY).to_string(), "f64(inf)");
    // A common subexpression is printed once.
    let f = Formula::of_binary(SquaredDiff::<f32>::new());
    assert_eq!((f.to_string().as_str(), f.size()), ("let t0 = abs_diff(a, b); t0 * t0", 4));
}

/// The formula of a name equals the Rust operator and knows its name.
fn same_by_name(find: fn(&str, Type) -> sparring::Result<Formula>, name: &str, ty: Type, own: &Formula) {
    let text = find(name, ty).unwrap();
    assert_eq!(text, *own, "{name} of {ty}");
    assert_eq!(text.name(), Some(name), "{text:?}");
}

/// The table's texts compared with the operators of Rust, on every type that has them.
#[test]
fn the_table_of_names_is_the_operators() {
    let (mut seen, mut pairs) = (std::collections::BTreeSet::new(), 0);
    macro_rules! rows {
        ($how:ident $trace:ident: $($name:ident $op:ident)*; $types:tt) => { $(rows!(@ $how $trace $name $op $types);)* };
        (@ $how:ident $trace:ident $name:ident $op:ident [$($t:ty)*]) => {
            seen.insert(stringify!($name));
            $({
                same_by_name(operators::$how, stringify!($name), <$t>::TYPE, &Formula::$trace($op::<$t>::default()));
                pairs += 1;
            })*
        };
    }
    rows!(unary of_unary: identity Identity ainv Ainv minv Minv lnot Lnot one One square Square;
        [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Complex<f32> Complex<f64>]);
    rows!(unary of_unary: abs Abs; [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
    rows!(unary of_unary: bnot Bnot; [bool i8 i16 i32 i64 u8 u16 u32 u64]);
    rows!(unary of_unary: sqrt Sqrt exp Exp ln Ln ln_1p Ln1p floor Floor ceil Ceil; [f32 f64]);
    rows!(binary of_binary: plus Plus minus Minus reverse_minus ReverseMinus times Times div Div reverse_div ReverseDiv first First
        second Second pair Pair mismatch Mismatch eq Equal ne NotEqual lor Lor land Land lxor Lxor lxnor Lxnor;
        [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Complex<f32> Complex<f64>]);
    rows!(binary of_binary: min Min max Max abs_diff AbsDiff squared_diff SquaredDiff gt Greater lt Less ge GreaterEqual
        le LessEqual; [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
    rows!(binary of_binary: and_not AndNot; [bool i8 i16 i32 i64 u8 u16 u32 u64]);
    rows!(binary of_binary: bor Bor band Band bxor Bxor bxnor Bxnor; [i8 i16 i32 i64 u8 u16 u32 u64]);
    rows!(binary of_binary: pow Pow logaddexp LogAddExp; [f32 f64]);
    rows!(index_unary of_index_unary: tril Tril triu Triu diag Diag offdiag Offdiag col_le ColLe col_gt ColGt row_le RowLe
        row_gt RowGt; [bool i8 u64 f64 Complex<f32>]);
    rows!(index_unary of_index_unary: value_eq ValueEq value_ne ValueNe; [bool i8 i16 i32 u8 u16 u32 u64 f32 f64 Complex<f64>]);
    rows!(index_unary of_index_unary: value_lt ValueLt value_le ValueLe value_gt ValueGt value_ge ValueGe;
        [bool i8 i16 i32 u8 u16 u32 u64 f32 f64]);
    macro_rules! places {
        ($($name:ident $op:ident)*) => {$(
            seen.insert(stringify!($name));
            let text = operators::mul(stringify!($name), Type::F32).unwrap();
            assert_eq!(text, Formula::of_mul($op::<f32, f32, i64>::new()));
            assert_eq!(text.name(), Some(stringify!($name)));
        )*};
    }
    places!(firsti FirstI secondi SecondI secondj SecondJ firsti1 FirstI1 secondi1 SecondI1 secondj1 SecondJ1);
    macro_rules! indices {
        ($($name:ident $op:ident)*) => {$(
            seen.insert(stringify!($name));
            let text = operators::index_unary(stringify!($name), Type::F32).unwrap();
            assert_eq!(text, Formula::of_index_unary($op::<f32, i64>::new()));
        )*};
    }
    indices!(row_index RowIndex col_index ColIndex diag_index DiagIndex);
    let tables = [operators::UNARY, operators::BINARY, operators::POSITIONAL, operators::PLACE, operators::VALUE];
    for op in tables.into_iter().flatten() {
        assert!(seen.contains(op.name), "{} is compared with nothing", op.name);
    }
    assert!(pairs > 500, "{pairs}");
    // Mixed types; operators that are not built in; names depend on the type.
    assert_eq!(Formula::of_binary(Second::<f64, bool>::default()).name(), Some("second"));
    assert_eq!(Formula::parse("b + a", &[("a", Type::F64), ("b", Type::F64)], None).unwrap().name(), None);
    let error = operators::binary("pow", Type::I8).unwrap_err().to_string();
    assert!(error.contains("'pow' over i8") && error.contains("plus, minus"), "{error}");
    assert_eq!(operators::binary("ONEB", Type::I8).unwrap().name(), Some("pair"));
}

fn same_monoid(name: &str, ty: Type, own: &MonoidFormula) {
    let found = MonoidFormula::named(name, ty).unwrap();
    assert_eq!(found, *own, "{name} of {ty}");
    // On unsigned integers, max is also max_from_zero.
    assert_eq!(MonoidFormula::named(found.name().unwrap(), ty).unwrap(), *own);
    assert_eq!(MonoidFormula::parse(name, ty).unwrap(), *own);
}

fn same_ring(name: &str, ty: Type, own: &RingFormula) {
    let found = RingFormula::named(name, ty).unwrap();
    assert_eq!(found, *own, "{name} of {ty}");
    assert_eq!(found.name().as_deref(), Some(name));
}

#[test]
fn monoids_and_semirings_by_name_are_those_of_the_types() {
    macro_rules! types {
        (numbers, $then:ident, $rows:tt) => { types!(@ $then, $rows, i8 i16 i32 i64 u8 u16 u32 u64 f32 f64) };
        (integers, $then:ident, $rows:tt) => { types!(@ $then, $rows, i8 i16 i32 i64 u8 u16 u32 u64) };
        (reals, $then:ident, $rows:tt) => { types!(@ $then, $rows, f32 f64) };
        (logic, $then:ident, $rows:tt) => { types!(@ $then, $rows, bool) };
        ($class:ident, $then:ident, $rows:tt) => { types!(@ $then, $rows, bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64) };
        (@ $then:ident, $rows:tt, $($t:ident)*) => { $($then!($t $rows);)* };
    }
    let mut count = 0;
    macro_rules! monoids {
        ($t:ident { $($name:ident $op:ident $domain:ident;)* }) => {$(
            same_monoid(stringify!($name), $t::TYPE, &MonoidFormula::of($op::<$t>::new()));
            count += 1;
        )*};
    }
    macro_rules! rings {
        ($t:ident { $($name:ident $ring:ident $purpose:literal $($law:ident)*;)* }) => {$(
            same_ring(stringify!($name), $t::TYPE, &RingFormula::of($ring::<$t>::new()));
            count += 1;
        )*};
    }
    macro_rules! monoid_classes {
        ($($class:ident($bound:ident) $rows:tt)*) => { $(types!($class, monoids, $rows);)* };
    }
    macro_rules! ring_classes {
        ($($class:ident($bound:ident) $rows:tt)*) => { $(types!($class, rings, $rows);)* };
    }
    builtin_monoids!(monoid_classes);
    builtin_semirings!(ring_classes);
    assert!(count > 400, "{count}");
    // Complex numbers have the semirings that need no order; pairs beyond the table exist.
    assert_eq!(
        RingFormula::named("plus_times", Type::ComplexF64).unwrap(),
        RingFormula::of(PlusTimes::<Complex<f64>>::new())
    );
    assert!(RingFormula::named("min_plus", Type::ComplexF32).is_err());
    let chebyshev = RingFormula::named("max_from_zero_abs_diff", Type::F32).unwrap();
    assert_eq!(chebyshev, RingFormula::of(Chebyshev::<f32>::new()));
    assert_eq!(RingFormula::named("tropical", Type::F64).unwrap().name().as_deref(), Some("min_plus"));
    let error = RingFormula::named("min_pow", Type::I64).unwrap_err().to_string();
    assert!(error.contains("'min_pow' over i64") && error.contains("'pow'"), "{error}");
    assert!(RingFormula::named("plus", Type::I64).unwrap_err().to_string().contains("min_plus"));
}

#[test]
fn semirings_of_formulas() {
    let ring = |text: &str| RingFormula::parse(text, Type::F64, Type::F64);
    let own = ring("a + b - a*b identity 0 terminal 1, a * b").unwrap();
    assert_eq!((own.add().name(), own.add().identity().get::<f64>()), (None, Some(0.0)));
    assert_eq!(own.add().terminal().unwrap().get::<f64>(), Some(1.0));
    assert_eq!(ring("plus_times").unwrap(), ring("plus, times").unwrap());
    assert_eq!(ring("min(a, b) identity inf terminal -inf, a + b").unwrap(), ring("min_plus").unwrap());
    assert_eq!(ring("min, secondi").unwrap(), RingFormula::of(MinSecondI::<f64>::new()));
    assert_eq!(ring("plus, if i < j then a * b else 0").unwrap().mul().to_string(), "select(i < j, a * b, 0.0)");
    let says = |text: &str, words: &[&str]| {
        let error = ring(text).unwrap_err().to_string();
        words.iter().for_each(|word| assert!(error.contains(word), "{text}: {error}"));
    };
    says("(a + b) / 2 identity 0, a * b", &["another identity", "0.0 ⊕ x is 0.5, not x, for x = 1.0"]);
    says("a + 2*b - 2*b*a*0 identity 0, a", &["identity"]);
    says("if a == 0 then b else if b == 0 then a else a - b identity 0, a", &["not commutative", "x ⊕ y is"]);
    says("if a == 0 then b else if b == 0 then a else (a + b) / 2 identity 0, a", &["not associative", "z ="]);
    says("a + b identity 0 terminal 1, a", &["1.0 is not terminal"]);
    says("a + b, a * b", &["identity", "  a + b, a * b\n       ^"]);
    says("min, a + * b", &["min, a + * b\n           ^"]);
    says("minimum, a", &["monoid 'minimum' over f64"]);
    says("a + b", &["a comma"]);
    let narrow = RingFormula::parse("plus, f64(a) * b", Type::I32, Type::F64).unwrap();
    assert_eq!((narrow.mul().ty(), narrow.add().op().ty()), (Type::F64, Type::F64));
    assert!(matches!(RingFormula::parse("plus", Type::I32, Type::F64), Err(Error::Formula { .. })));
}

#[test]
fn text_is_read_as_it_is_meant() {
    let on = |ty: Type, text: &str| Formula::parse(text, &[("a", ty), ("b", ty), ("k", Type::U64)], None);
    let value = |text: &str| {
        let f = on(Type::F64, text).unwrap_or_else(|e| panic!("{e}"));
        let inputs =
            [Input::Scalar(Slice::of(&[3.0])), Input::Scalar(Slice::of(&[-0.5])), Input::Scalar(Slice::of(&[7u64]))];
        run::<f64>(&f, &inputs, 1)[0]
    };
    for (text, expected) in [
        ("a + b * 2", 2.0),
        ("(a + b) * 2", 5.0),
        ("a - b - 1", 2.5),
        ("a / 2 / 3", 0.5),
        ("-a + 1", -2.0),
        ("--a", 3.0),
        ("1.5e1 + .5*a + 2.", 18.5),
        ("if a > b & b < 0 then 1 else a", f64::NAN),
        ("if (a > b) & (b < 0) then a else 2", 3.0),
        ("select(a <= b, a, b)", -0.5),
        ("let d = a - b; let e = d * d; e + d", 15.75),
        ("f64(k) + a", 10.0),
        ("k as f64 * a", 21.0),
        ("f64(a as i8 / 2)", 1.0),
        ("max(min(a, 2), b)", 2.0),
        ("mul_add(a, 2, b) + pow(a, 2) + sqrt(a + 1)", 5.5 + 9.0 + 2.0),
        ("ln(exp(a))", 3.0),
        ("floor(b) + ceil(b)", -1.0),
        ("f64(k & 3) + f64(k ^ 2 | 8)", 3.0 + 13.0),
        ("select(true, a, inf)", 3.0),
        ("select(a != a, nan, abs_diff(a, 5))", 2.0),
    ] {
        if expected.is_nan() {
            assert!(on(Type::F64, text).unwrap_err().to_string().contains("parentheses"), "{text}");
        } else {
            assert_eq!(value(text), expected, "{text}");
        }
    }
    // Literals take the type of the other operand.
    assert_eq!(on(Type::U8, "a + 255").unwrap().to_string(), "a + 255");
    assert_eq!(on(Type::I64, "a * -9223372036854775808").unwrap().ty(), Type::I64);
    assert_eq!(on(Type::ComplexF64, "a * 2 + complex_f64(0, 1)").unwrap().ty(), Type::ComplexF64);
    assert_eq!(on(Type::F32, "a < 2").unwrap().ty(), Type::Bool);
}

#[test]
fn errors_point_at_the_place() {
    let parameters = [("a", Type::F64), ("b", Type::F64), ("n", Type::I32), ("k", Type::U64)];
    let error = |text: &str| Formula::parse(text, &parameters, Some(Type::F64)).unwrap_err();
    for (text, at, words) in [
        ("a + * b", 4, "expected a number, a parameter, a function, or ("),
        ("a + ", 4, "expected a number"),
        ("", 0, "expected a number"),
        ("a b", 2, "expected an operator, or the end"),
        ("(a + b", 6, "expected an operator, or )"),
        ("a + b)", 5, "or the end"),
        ("min(a, b", 8, "a comma, or )"),
        ("2a", 1, "2a is written 2 * a"),
        ("a < b < a", 6, "one comparison"),
        ("f64(n & 1 == 0)", 10, "parentheses"),
        ("if a < b then a", 15, "or else"),
        ("if a < b a", 9, "or then"),
        ("let x = a", 9, "or ;"),
        ("a as decimal", 5, "expected a type"),
        ("a + c", 4, "there is no parameter c; there are a, b, n, k"),
        ("a + foo(b)", 4, "there is no function foo"),
        ("a + n", 4, "this is i32, but f64 is expected"),
        ("a * (b + n)", 9, "this is i32, but f64 is expected"),
        ("n + 2.5", 4, "2.5 is no i32"),
        ("f64(n + 3000000000)", 8, "3000000000 is no i32"),
        ("n", 0, "this is i32, but f64 is expected: f64(…) converts"),
        ("a & b", 0, "& does not take (f64, f64)"),
        ("sqrt(n)", 0, "sqrt does not take (i32)"),
        ("select(a, a, b)", 7, "this is f64, but bool is expected"),
        ("f64(1 < 2)", 4, "the type of 1 is not known"),
        ("a.value", 0, "f64 has no fields"),
        ("a ? b", 2, "expected an operator"),
        ("é", 0, "expected a number"),
    ] {
        match error(text) {
            Error::Formula { at: found, message, .. } => {
                assert!(message.contains(words), "{text}: {message}");
                assert_eq!(found, at, "{text}: {message}");
            }
            other => panic!("{text}: {other}"),
        }
    }
    assert_eq!(
        error("let d = a;\n  d + x * b").to_string(),
        "formula: there is no parameter x; there are a, b, n, k\n    d + x * b\n        ^"
    );
    // Long or deeply nested text is rejected without a stack overflow.
    for text in ["(".repeat(500), "-".repeat(900), "a+".repeat(5000), "if a<b then ".repeat(80), "a+".repeat(450) + "a"]
    {
        let _ = Formula::parse(&text, &parameters, Some(Type::F64)).map(|f| f.to_string());
    }
}

#[test]
fn a_function_of_ones_own_comes_with_its_text() {
    const TANH: DeviceFunction<1> = DeviceFunction::new("tanh", &["x"], "return ::tanh(x);");
    const OTHER: DeviceFunction<1> = DeviceFunction::new("tanh", &["x"], "return ::tanhf(x);");
    const MIX: DeviceFunction<2> = DeviceFunction::new("mix", &["x", "y"], "if (x < y) { return x; } return y;");
    sparring::op! { /// tanh a.
    Tanh (a: f64) -> f64 { a.call1(TANH, f64::tanh) } }
    sparring::op! { /// Twice the same, and one of the same name.
    Both (a: f64, b: f64) -> f64 {
        a.call1(TANH, f64::tanh) + b.call1(TANH, f64::tanh) + a.call1(OTHER, f64::tanh).call2(MIX, f64::min, b)
    } }
    assert_eq!(Tanh::new().apply::<Host>(V(0.5)).0, 0.5f64.tanh());
    let text = emit_unary_op(Tanh::new());
    let name = text.split("double tanh_").nth(1).unwrap().split('(').next().unwrap();
    assert!(text.starts_with(&format!(
        "namespace sr {{\nstatic __device__ double tanh_{name}(double x) {{ return ::tanh(x); }}\n}}\n"
    )));
    assert!(text.contains(&format!("const double t0 = sr::tanh_{name}(a);")), "{text}");
    let text = emit_binary_op(Both::new());
    assert_eq!(text.matches("return ::tanh(x);").count(), 1, "{text}");
    assert_eq!(text.matches("static __device__ double tanh_").count(), 2, "{text}");
    assert!(text.contains("(double x, double y) { if (x < y) { return x; } return y; }"), "{text}");
    let error = Blocks::new(&Formula::of_unary(Tanh::new())).unwrap_err().to_string();
    assert!(error.contains("tanh") && error.contains("op!"), "{error}");
}
