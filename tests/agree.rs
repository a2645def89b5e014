//! Every scalar function agrees on device and host.
//!
//! Integers, bool, comparisons, min, max, conversions, +, −, ·, /, √, fused multiply-add, floor and ceil agree bit for
//! bit; all NaNs count as equal. exp, ln, ln(1 + x), x ln x and powers agree within the ulp bounds below: CUDA's own
//! bounds (CUDA C++ Programming Guide, "Mathematical Functions") plus one for the host.
//!
//! Without a GPU, the programs are still compiled if NVRTC is available. With `SPARRING_REQUIRE_NVRTC=1`, a missing
//! NVRTC is a failure.

use std::fmt::Debug;
use std::rc::Rc;

use sparring::algebra::*;
use sparring::distance;
use sparring::gpu::testing::Functions;
use sparring::num_complex::Complex;
use sparring::{Cuda, Error};

sparring::op! { /// a where a < b, else b.
Select<T: Num> (a, b) -> T { a.lt(b).select(a, b) } }
sparring::op! { /// a < b.
Below<T: Num> (a, b) -> bool { a.lt(b) } }
sparring::op! { /// a ≤ b.
AtMost<T: Num> (a, b) -> bool { a.le(b) } }
sparring::op! { /// a ≠ 0.
Truth<T: Number> (a) -> bool { a.nonzero() } }
sparring::op! { /// a · b + c.
Fused<T: Real> { c: T } (a, b) -> T { a.mul_add(b, c) } }
sparring::op! { /// a · b + a.
FusedSelf<T: Real> (a, b) -> T { a.mul_add(b, a) } }
sparring::op! { /// a ln a.
XLnX<T: Real> (a) -> T { a.x_ln_x() } }
sparring::op! { /// a & b.
And<T: Bits> (a, b) -> T { a & b } }
sparring::op! { /// a | b.
Or<T: Bits> (a, b) -> T { a | b } }
sparring::op! { /// a ^ b.
Xor<T: Bits> (a, b) -> T { a ^ b } }
sparring::op! { /// A constant.
Constant<T: Number> { c: T } (a) -> T { c } }
sparring::op! { /// An index as another number.
FromIndex<T: Num> (a: u64) -> T { a.index_as() } }

/// Largest allowed differences, in units in the last place.
mod ulp {
    /// eᵃ.
    pub(super) const EXP: u64 = 3;
    /// ln a.
    pub(super) const LN: u64 = 2;
    /// ln(1 + a).
    pub(super) const LN_1P: u64 = 2;
    /// a ln a. Over 5·10⁷ random numbers, the host differs by at most 5 from a times the library's ln a; CUDA's
    /// logarithm adds its own error.
    pub(super) const X_LN_X: u64 = 8;
    /// aᵇ; the guide gives 4 for float and 2 for double.
    pub(super) const POW: u64 = 5;
}

/// A number type with its awkward values and a distance.
trait Sample: Number + Debug {
    const NAME: &'static str;
    fn awkward() -> Vec<Self>;
    fn random(bits: u64) -> Self;
    /// Count of representable numbers between the two; 0 for two NaNs.
    fn apart(self, other: Self) -> u64;
}

macro_rules! ints {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            const NAME: &'static str = stringify!($t);
            fn awkward() -> Vec<Self> {
                let (least, most) = (<$t>::MIN, <$t>::MAX);
                vec![least, least + 1, 0, 1, 2, 3, 7, 10, most / 2, most / 2 + 1, most - 1, most, (0 as $t).wrapping_sub(1), (0 as $t).wrapping_sub(7)]
            }
            fn random(bits: u64) -> Self {
                bits as $t
            }
            fn apart(self, other: Self) -> u64 {
                u64::from(self != other)
            }
        }
    )*};
}
ints! { i8 i16 i32 i64 u8 u16 u32 u64 }

impl Sample for bool {
    const NAME: &'static str = "bool";
    fn awkward() -> Vec<Self> {
        vec![false, true]
    }
    fn random(bits: u64) -> Self {
        bits & 1 == 1
    }
    fn apart(self, other: Self) -> u64 {
        u64::from(self != other)
    }
}

macro_rules! floats {
    ($($t:ident $bits:ident $signed:ident;)*) => {$(
        impl Sample for $t {
            const NAME: &'static str = stringify!($t);
            fn awkward() -> Vec<Self> {
                let least = <$t>::from_bits(1);
                let below_normal = <$t>::from_bits(<$t>::MIN_POSITIVE.to_bits() - 1);
                let positive = [
                    0.0, least, below_normal, <$t>::MIN_POSITIVE, <$t>::EPSILON, 0.1, 0.49999997, 0.5, 0.9999999, 1.0,
                    1.0 + <$t>::EPSILON, 1.5, 2.0, 2.5, 3.0, 7.0, 10.0, 88.0, 127.5, 128.0, 255.5, 256.0, 709.0, 1e10,
                    32767.5, 65536.0, 2147483647.0, 2147483648.0, 4294967295.0, 4294967296.0, 8388609.0, 16777217.0,
                    9007199254740993.0, 9223372036854775807.0, 9223372036854775808.0, 18446744073709551615.0, 1e30,
                    <$t>::MAX, <$t>::INFINITY,
                ];
                positive.into_iter().flat_map(|x: $t| [x, -x]).chain([<$t>::NAN]).collect()
            }
            fn random(bits: u64) -> Self {
                // Half are arbitrary bit patterns, half lie between −16 and 16.
                if bits & 1 == 0 { <$t>::from_bits((bits >> 1) as $bits) } else { ((bits >> 11) as f64 / 9007199254740992.0 * 32.0 - 16.0) as $t }
            }
            fn apart(self, other: Self) -> u64 {
                if self.is_nan() || other.is_nan() {
                    return if self.is_nan() && other.is_nan() { 0 } else { u64::MAX };
                }
                // −0 and +0 are neighbours here, at distance 1.
                let place = |x: Self| {
                    let bits = x.to_bits() as $signed;
                    i128::from(if bits < 0 { <$signed>::MIN.wrapping_sub(bits).wrapping_sub(1) } else { bits })
                };
                u64::try_from((place(self) - place(other)).unsigned_abs()).unwrap_or(u64::MAX)
            }
        }
    )*};
}
floats! {
    f32 u32 i32;
    f64 u64 i64;
}

/// All awkward values and some random ones.
fn samples<T: Sample>(random: u64) -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut values = T::awkward();
    for _ in 0..random {
        // splitmix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        values.push(T::random(z ^ (z >> 31)));
    }
    values
}

/// Runs one function on the device and reports the differences.
type Check = Box<dyn Fn(&Cuda, &Functions) -> Result<Vec<String>, Error>>;

/// Functions whose first operand has type `T`.
struct Suite<T> {
    functions: Functions,
    checks: Vec<Check>,
    pairs: Rc<(Vec<T>, Vec<T>)>,
    singles: Rc<Vec<T>>,
}

fn differences<A: Debug, U: Sample>(name: &str, most: u64, rows: impl Iterator<Item = (A, U, U)>) -> Vec<String> {
    let (mut found, mut count, mut worst) = (vec![], 0u64, 0);
    for (operands, host, device) in rows {
        let apart = host.apart(device);
        worst = worst.max(apart);
        if apart > most {
            count += 1;
            if found.len() < 4 {
                found.push(format!("{name} of {operands:?} is {device:?}, on the host {host:?}"));
            }
        }
    }
    if most > 0 {
        println!("{name}: at most {worst} apart, {most} allowed");
    }
    if count > 4 {
        found.push(format!("{name}: {count} in all"));
    }
    found
}

macro_rules! complex {
    ($($t:ident)*) => {$(
        /// Componentwise.
        impl Sample for Complex<$t> {
            const NAME: &'static str = concat!("complex of ", stringify!($t));
            fn awkward() -> Vec<Self> {
                let parts = [0.0, -0.0, 0.1, -3.7, 1.0, 1e-30, 1e30, <$t>::MIN_POSITIVE, <$t>::MAX, <$t>::NEG_INFINITY, <$t>::NAN];
                parts.iter().flat_map(|&re| parts.iter().map(move |&im| Complex::new(re, im))).collect()
            }
            fn random(bits: u64) -> Self {
                Complex::new(<$t>::random(bits), <$t>::random(bits.rotate_left(31)))
            }
            fn apart(self, other: Self) -> u64 {
                self.re.apart(other.re).max(self.im.apart(other.im))
            }
        }
    )*};
}
complex! { f32 f64 }

impl<T: Sample> Suite<T> {
    fn new() -> Self {
        let few = samples::<T>(40);
        let pairs = few.iter().flat_map(|&a| few.iter().map(move |&b| (a, b))).unzip();
        Self {
            functions: Functions::default(),
            checks: vec![],
            pairs: Rc::new(pairs),
            singles: Rc::new(samples::<T>(20_000)),
        }
    }
    fn unary<O: UnaryOp<A = T>>(&mut self, name: &str, op: O, most: u64)
    where
        O::Out: Sample,
    {
        self.functions.unary(name, op);
        let (name, singles) = (name.to_string(), Rc::clone(&self.singles));
        self.checks.push(Box::new(move |cuda, functions| {
            let device: Vec<O::Out> = functions.run1(cuda, &name, &singles)?;
            let rows = singles.iter().zip(device).map(|(&a, d)| (a, op.apply::<Host>(V(a)).0, d));
            Ok(differences(&format!("{} {name}", T::NAME), most, rows))
        }));
    }
    fn binary<O: BinaryOp<A = T, B = T>>(&mut self, name: &str, op: O, most: u64)
    where
        O::Out: Sample,
    {
        self.functions.binary(name, op);
        let (name, pairs) = (name.to_string(), Rc::clone(&self.pairs));
        self.checks.push(Box::new(move |cuda, functions| {
            let (a, b) = &*pairs;
            let device: Vec<O::Out> = functions.run2(cuda, &name, a, b)?;
            let host = a.iter().zip(b).map(|(&a, &b)| ((a, b), laws::apply(op, a, b)));
            Ok(differences(&format!("{} {name}", T::NAME), most, host.zip(device).map(|((ab, h), d)| (ab, h, d))))
        }));
    }
    fn run(self) {
        match self.functions.compile(90) {
            Err(Error::NoCompiler { .. }) if std::env::var_os("SPARRING_REQUIRE_NVRTC").is_none_or(|x| x != "1") => {
                println!("skipped: no NVRTC");
            }
            other => other.unwrap_or_else(|e| panic!("{e}")),
        }
        let cuda = match Cuda::new(0) {
            Ok(cuda) => cuda,
            Err(Error::NoDevice { .. }) => return println!("compiled, not run: no GPU"),
            Err(e) => panic!("{e}"),
        };
        let wrong: Vec<String> = self
            .checks
            .iter()
            .flat_map(|check| check(&cuda, &self.functions).unwrap_or_else(|e| vec![e.to_string()]))
            .collect();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    /// Operations that need no order.
    fn arithmetic(&mut self) {
        self.binary("plus", Plus::<T>::new(), 0);
        self.binary("minus", Minus::<T>::new(), 0);
        self.binary("times", Times::<T>::new(), 0);
        self.binary("over", Div::<T>::new(), 0);
        self.binary("same", Equal::<T>::new(), 0);
        self.binary("differs", NotEqual::<T>::new(), 0);
        self.unary("negated", Ainv::<T>::new(), 0);
        self.unary("inverse", Minv::<T>::new(), 0);
        self.unary("truth", Truth::<T>::new(), 0);
        for (i, c) in T::awkward().into_iter().enumerate() {
            self.unary(&format!("constant{i}"), Constant::new(c), 0);
        }
    }
    /// Operations of every ordered number type.
    fn numbers(&mut self)
    where
        T: Num,
    {
        self.arithmetic();
        self.binary("lesser", Min::<T>::new(), 0);
        self.binary("greater", Max::<T>::new(), 0);
        self.binary("gap", AbsDiff::<T>::new(), 0);
        self.binary("below", Below::<T>::new(), 0);
        self.binary("at_most", AtMost::<T>::new(), 0);
        self.binary("select", Select::<T>::new(), 0);
        self.unary("magnitude", Abs::<T>::new(), 0);
        self.unary("to_bool", Cast::<T, bool>::new(), 0);
        self.unary("to_i8", Cast::<T, i8>::new(), 0);
        self.unary("to_i16", Cast::<T, i16>::new(), 0);
        self.unary("to_i32", Cast::<T, i32>::new(), 0);
        self.unary("to_i64", Cast::<T, i64>::new(), 0);
        self.unary("to_u8", Cast::<T, u8>::new(), 0);
        self.unary("to_u16", Cast::<T, u16>::new(), 0);
        self.unary("to_u32", Cast::<T, u32>::new(), 0);
        self.unary("to_u64", Cast::<T, u64>::new(), 0);
        self.unary("to_f32", Cast::<T, f32>::new(), 0);
        self.unary("to_f64", Cast::<T, f64>::new(), 0);
    }
    fn bits(&mut self)
    where
        T: Bits,
    {
        self.binary("and", And::<T>::new(), 0);
        self.binary("or", Or::<T>::new(), 0);
        self.binary("xor", Xor::<T>::new(), 0);
        self.unary("not", Bnot::<T>::new(), 0);
    }
    fn reals(&mut self)
    where
        T: Real,
    {
        self.unary("root", Sqrt::<T>::new(), 0);
        self.unary("floored", Floor::<T>::new(), 0);
        self.unary("ceiled", Ceil::<T>::new(), 0);
        self.binary("fused_self", FusedSelf::<T>::new(), 0);
        for (i, c) in [0.0, -1.0, 1e-30, 1e30, f64::INFINITY].into_iter().enumerate() {
            self.binary(&format!("fused{i}"), Fused::new(T::from_f64(c)), 0);
        }
        self.unary("exponential", Exp::<T>::new(), ulp::EXP);
        self.unary("logarithm", Ln::<T>::new(), ulp::LN);
        self.unary("logarithm_1p", Ln1p::<T>::new(), ulp::LN_1P);
        self.unary("x_ln_x", XLnX::<T>::new(), ulp::X_LN_X);
        self.binary("power", Pow::<T>::new(), ulp::POW);
    }
    /// ⊗ of the distances whose scalar functions are exact.
    fn distances(&mut self)
    where
        T: Real + distance::Float,
    {
        self.reals();
        self.binary("manhattan", distance::ManhattanTerm::<T>::new(), 0);
        self.binary("least", distance::Lesser::<T>::new(), 0);
        self.binary("canberra", distance::CanberraTerm::<T>::new(), 0);
        self.binary("canberra_exact", distance::CanberraDiff::<T>::new(), 0);
        self.binary("hamming", distance::HammingTerm::<T>::new(), 0);
        self.binary("cosine_exact", distance::HalfSquaredDiff::<T>::new(), 0);
        self.binary("minkowski_exact", distance::PowDiff::<T, f64>::new(2.5), ulp::POW);
        self.binary("minkowski_whole", distance::PowDiff::<T, u32>::new(13), 0);
    }
}

macro_rules! suites {
    ($($name:ident $t:ty: $($more:ident)?;)*) => {$(
        #[test]
        fn $name() {
            let mut suite = Suite::<$t>::new();
            suite.numbers();
            $(suite.$more();)?
            suite.run();
        }
    )*};
}
suites! {
    bools bool: bits;
    i8s i8: bits;
    i16s i16: bits;
    i32s i32: bits;
    i64s i64: bits;
    u8s u8: bits;
    u16s u16: bits;
    u32s u32: bits;
    u64s u64: bits;
    f32s f32: distances;
    f64s f64: distances;
}

#[test]
fn complexes() {
    fn run<T: Sample>() {
        let mut suite = Suite::<T>::new();
        suite.arithmetic();
        suite.run();
    }
    run::<Complex<f32>>();
    run::<Complex<f64>>();
}

#[test]
fn indices() {
    let mut suite = Suite::<u64>::new();
    suite.unary("bool", FromIndex::<bool>::new(), 0);
    suite.unary("i8", FromIndex::<i8>::new(), 0);
    suite.unary("i16", FromIndex::<i16>::new(), 0);
    suite.unary("i32", FromIndex::<i32>::new(), 0);
    suite.unary("i64", FromIndex::<i64>::new(), 0);
    suite.unary("u8", FromIndex::<u8>::new(), 0);
    suite.unary("u16", FromIndex::<u16>::new(), 0);
    suite.unary("u32", FromIndex::<u32>::new(), 0);
    suite.unary("u64", FromIndex::<u64>::new(), 0);
    suite.unary("f32", FromIndex::<f32>::new(), 0);
    suite.unary("f64", FromIndex::<f64>::new(), 0);
    suite.run();
}

/// Every function that formulas can call is covered by one of the suites above.
#[test]
fn every_function_of_the_machine_has_a_row() {
    let (mut floats, mut integers) = (Suite::<f64>::new(), Suite::<u64>::new());
    floats.numbers();
    floats.reals();
    integers.bits();
    let text = format!("{:?} {:?}", floats.functions, integers.functions);
    for f in Function::NAMED {
        assert!(text.contains(&format!("sr::{}(", f.cuda())), "sr::{} has no row", f.cuda());
    }
}

#[test]
fn distances_are_counted_in_units_of_the_last_place() {
    assert_eq!(1.0f64.apart(1.0 + f64::EPSILON), 1);
    assert_eq!(0.0f32.apart(-0.0), 1);
    assert_eq!(f32::from_bits(1).apart(-f32::from_bits(1)), 3);
    assert_eq!(f64::MAX.apart(f64::INFINITY), 1);
    assert_eq!(f64::NAN.apart(-f64::NAN), 0);
    assert_eq!(f64::NAN.apart(1.0), u64::MAX);
    assert!(f64::INFINITY.apart(f64::NEG_INFINITY) > 1 << 60);
    assert_eq!(3u8.apart(4), 1);
}
