//! The CUDA text of every built-in operator, compared with `tests/snapshots` and with the names in `cuda/prelude.cuh`.
//! Where a C++ compiler is available, the text is also run and compared with the host bit for bit.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test --test emit` rewrites the snapshots; review the difference.

#![allow(clippy::vec_init_then_push)] // by macros, a line of the list at a time

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sparring::algebra::*;
use sparring::{builtin_semirings, builtin_unions};

const PRELUDE: &str = include_str!("../cuda/prelude.cuh");

/// A printed operator, the C++ expression that calls it on samples, and the host's results for them.
struct Printed {
    /// Name of the operator in Rust.
    operator: &'static str,
    /// Names of its types, joined by `_`.
    types: &'static str,
    text: String,
    /// Statements that print one result per line.
    calls: String,
    expected: Vec<String>,
}

/// A value as one line of text that identifies its bits; all NaNs print alike.
trait Show: Num {
    fn show(self) -> String;
    fn samples() -> Vec<Self>;
}
macro_rules! show_int {
    ($($t:ident)*) => {$(
        impl Show for $t {
            fn show(self) -> String {
                self.to_string()
            }
            fn samples() -> Vec<Self> {
                vec![0, 1, 2, 7, 100, Self::MAX, Self::MAX - 1, Self::MIN, Self::MIN + 1, 0u8.wrapping_sub(1) as $t, !0, !6, Self::MAX / 2]
            }
        }
    )*};
}
show_int! { i8 i16 i32 i64 u8 u16 u32 u64 }
macro_rules! show_float {
    ($($t:ident)*) => {$(
        impl Show for $t {
            fn show(self) -> String {
                if self.is_nan() { "nan".into() } else { format!("{:x}", self.to_bits()) }
            }
            fn samples() -> Vec<Self> {
                vec![
                    0.0, -0.0, 1.0, -1.0, 0.1, -3.7, 127.5, 1e10, -1e10, 3e38, 1e-40, 255.99, -128.5, $t::MAX,
                    $t::MIN_POSITIVE, $t::INFINITY, $t::NEG_INFINITY, $t::NAN, i64::MAX as $t, u32::MAX as $t,
                ]
            }
        }
    )*};
}
show_float! { f32 f64 }
impl Show for bool {
    fn show(self) -> String {
        u8::from(self).to_string()
    }
    fn samples() -> Vec<Self> {
        vec![false, true]
    }
}

/// Positions (i, k, j) at which positional operators are called.
const PLACES: [[u64; 3]; 3] = [[0, 0, 0], [5, 300, 70_000], [70_001, 2, 5]];

// Little code is compiled per operator: the rest is compiled per type, or once.

fn printed(
    (operator, types): (&'static str, &'static str),
    emit: fn(&str) -> String,
    calls: impl Fn(&str) -> String,
    expected: Vec<String>,
) -> Printed {
    let name = format!("{operator}_{types}");
    Printed { operator, types, text: emit(&name), calls: calls(&name), expected }
}

#[inline(never)]
fn unary_of<A: Show>(names: (&'static str, &'static str), emit: fn(&str) -> String, f: fn(A) -> String) -> Printed {
    let expected = A::samples().into_iter().map(f).collect();
    printed(names, emit, |name| format!("  for (auto a : samples<{}>()) show({name}(a));\n", A::CUDA), expected)
}
fn unary<O: UnaryOp<A: Show, Out: Show> + Default>(operator: &'static str, types: &'static str, _: O) -> Printed {
    let emit = |name: &str| emit_unary(name, O::default());
    unary_of::<O::A>((operator, types), emit, |a| O::default().apply::<Host>(V(a)).0.show())
}

#[inline(never)]
fn binary_of<A: Show, B: Show>(
    names: (&'static str, &'static str),
    emit: fn(&str) -> String,
    f: fn(A, B) -> String,
) -> Printed {
    let mut expected = Vec::new();
    for a in A::samples() {
        expected.extend(B::samples().into_iter().map(|b| f(a, b)));
    }
    let (a, b) = (A::CUDA, B::CUDA);
    let calls =
        |name: &str| format!("  for (auto a : samples<{a}>()) for (auto b : samples<{b}>()) show({name}(a, b));\n");
    printed(names, emit, calls, expected)
}
fn binary<O: BinaryOp<A: Show, B: Show, Out: Show> + Default>(
    operator: &'static str,
    types: &'static str,
    _: O,
) -> Printed {
    let emit = |name: &str| emit_binary(name, O::default());
    binary_of::<O::A, O::B>((operator, types), emit, |a, b| laws::apply(O::default(), a, b).show())
}

#[inline(never)]
fn index_unary_of<A: Show, S: Show>(
    names: (&'static str, &'static str),
    emit: fn(&str) -> String,
    f: fn(A, S, Place<Host>) -> String,
) -> Printed {
    let mut expected = Vec::new();
    for [i, _, j] in PLACES {
        for a in A::samples() {
            expected.extend(S::samples().into_iter().map(|s| f(a, s, Place { i: V(i), j: V(j) })));
        }
    }
    let calls = |name: &str| {
        let (a, s, mut calls) = (A::CUDA, S::CUDA, String::new());
        for [i, _, j] in PLACES {
            let of_place = format!("show({name}(a, s, {i}, {j}));");
            writeln!(calls, "  for (auto a : samples<{a}>()) for (auto s : samples<{s}>()) {of_place}").unwrap();
        }
        calls
    };
    printed(names, emit, calls, expected)
}
fn index_unary<O: IndexUnaryOp<A: Show, S: Show, Out: Show> + Default>(
    operator: &'static str,
    types: &'static str,
    _: O,
) -> Printed {
    let emit = |name: &str| emit_index_unary(name, O::default());
    let apply = |a, s, at| O::default().apply::<Host>(V(a), V(s), at).0.show();
    index_unary_of::<O::A, O::S>((operator, types), emit, apply)
}

fn positional<O: MulOp<A: Show, B: Show, Out: Show> + Default>(
    operator: &'static str,
    types: &'static str,
    _: O,
) -> Printed {
    let mul = |[i, k, j]: [u64; 3]| {
        let at = At { i: V(i), k: V(k), j: V(j) };
        O::default().mul::<Host>(V(O::A::ONE), V(O::B::ONE), at).0.show()
    };
    let calls = |name: &str| PLACES.map(|[i, k, j]| format!("  show({name}(1, 1, {i}, {k}, {j}));\n")).concat();
    printed((operator, types), |name| emit_mul(name, O::default()), calls, PLACES.map(mul).to_vec())
}

/// `list!(unary: Abs Ainv; f32 i64)`: each operator on each type.
macro_rules! list {
    ($into:ident $how:ident: $($op:ident)*; $types:tt) => { $(list!(@ $into $how $op $types);)* };
    (@ $into:ident $how:ident $op:ident [$($t:ident)*]) => {
        $($into.push($how(stringify!($op), stringify!($t), $op::<$t>::default()));)*
    };
}

fn unary_operators() -> Vec<Printed> {
    let mut all = Vec::new();
    list!(all unary: Identity Abs Ainv Minv Lnot One Square; [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
    list!(all unary: Bnot; [bool i8 i16 i32 i64 u8 u16 u32 u64]);
    list!(all unary: Sqrt Exp Ln Ln1p Floor Ceil; [f32 f64]);
    macro_rules! casts {
        ($($t:ident)*) => { $(casts!(@ $t bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);)* };
        (@ $t:ident $($u:ident)*) => {
            $(all.push(unary("Cast", concat!(stringify!($t), "_", stringify!($u)), Cast::<$t, $u>::new()));)*
        };
    }
    casts!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    all
}

fn binary_operators() -> Vec<Printed> {
    let mut all = Vec::new();
    list!(all binary: Plus Minus ReverseMinus Times Div ReverseDiv Min Max First Second Pair Any
        AbsDiff SquaredDiff Mismatch Equal NotEqual Greater Less GreaterEqual LessEqual
        Lor Land Lxor Lxnor MaxFromZero; [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
    list!(all binary: AndNot; [bool i8 i16 i32 i64 u8 u16 u32 u64]);
    list!(all binary: Bor Band Bxor Bxnor; [i8 i16 i32 i64 u8 u16 u32 u64]);
    list!(all binary: Pow LogAddExp; [f32 f64]);
    all.push(binary("Second", "f64_bool", Second::<f64, bool>::default()));
    all.push(binary("Pair", "u64_bool_f32", Pair::<u64, bool, f32>::default()));
    all
}

fn place_operators() -> Vec<Printed> {
    let mut all = Vec::new();
    macro_rules! index {
        ($($op:ident)*) => {$(
            all.push(index_unary(stringify!($op), "i32", $op::<bool, i32>::new()));
            all.push(index_unary(stringify!($op), "i64", $op::<bool, i64>::new()));
        )*};
    }
    index!(RowIndex ColIndex DiagIndex);
    list!(all index_unary: Tril Triu Diag Offdiag ColLe ColGt RowLe RowGt; [bool f64]);
    list!(all index_unary: ValueEq ValueNe ValueLt ValueLe ValueGt ValueGe; [bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64]);
    macro_rules! place {
        ($($op:ident)*) => {$(
            all.push(positional(stringify!($op), "i64", $op::<bool, f64, i64>::new()));
            all.push(positional(stringify!($op), "u8", $op::<bool, f64, u8>::new()));
            all.push(positional(stringify!($op), "f32", $op::<bool, f64, f32>::new()));
        )*};
    }
    place!(FirstI SecondI SecondJ FirstI1 SecondI1 SecondJ1);
    all
}

/// The kernel text of every semiring and NAMM, for one or two types of its class.
fn contracts() -> String {
    let mut text = String::new();
    macro_rules! types {
        (numbers, $rows:tt) => { types!(@ $rows f32 i64) };
        (reals, $rows:tt) => { types!(@ $rows f32 f64) };
        (integers, $rows:tt) => { types!(@ $rows u8 i64) };
        (logic, $rows:tt) => { types!(@ $rows bool) };
        ($class:ident, $rows:tt) => { types!(@ $rows bool f64) };
        (@ $rows:tt $($t:ident)*) => { $(rows!($t $rows);)* };
    }
    macro_rules! rows {
        ($t:ident { $($name:ident $ring:ident $purpose:literal $($law:ident)*;)* }) => {
            $(writeln!(text, "// {}<{}>\n{}", stringify!($ring), stringify!($t), emit_contract($ring::<$t>::default())).unwrap();)*
        };
    }
    macro_rules! classes {
        ($($class:ident($bound:ident) $rows:tt)*) => { $(types!($class, $rows);)* };
    }
    builtin_semirings!(classes);
    macro_rules! unions {
        ($($union:ident)*) => {
            $(writeln!(text, "// {}<f32>\n{}", stringify!($union), emit_contract($union::<f32>::default())).unwrap();)*
        };
    }
    builtin_unions!(unions);
    text
}

/// The texts stored as snapshots: four types cover every kind of number; the others differ only in the type's name.
fn texts(printed: &[Printed]) -> String {
    let kept = |p: &&Printed| {
        let types = p.types.split('_').collect::<Vec<_>>();
        types.iter().all(|t| ["bool", "i64", "u8", "f32"].contains(t)) || p.operator == "RowIndex"
    };
    printed.iter().filter(kept).map(|p| p.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn snapshots() -> [(&'static str, String); 4] {
    [
        ("unary.cu", texts(&unary_operators())),
        ("binary.cu", texts(&binary_operators())),
        ("place.cu", texts(&place_operators())),
        ("contract.cu", contracts()),
    ]
}

#[test]
fn text_is_that_of_the_snapshots() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    for (name, text) in snapshots() {
        let path = folder.join(name);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some_and(|v| v == "1") {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = kept.lines().zip(text.lines()).position(|(old, new)| old != new);
        let line = differs.unwrap_or(kept.lines().count().min(text.lines().count()));
        assert!(
            kept == text,
            "tests/snapshots/{name}:{}: kept {:?}, printed {:?}; UPDATE_SNAPSHOTS=1 writes it anew",
            line + 1,
            kept.lines().nth(line),
            text.lines().nth(line),
        );
    }
}

#[test]
fn every_function_that_is_called_is_in_the_prelude() {
    let mut called = BTreeSet::new();
    // Distance operators are compared where they are printed.
    let distances = include_str!("snapshots/distance.cu").to_owned();
    for text in snapshots().into_iter().map(|(_, text)| text).chain([distances]) {
        for rest in text.split("sr::").skip(1) {
            called.insert(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>());
        }
    }
    // Also the functions that no built-in calls.
    called.extend(Function::NAMED.iter().map(|f| f.cuda().to_string()));
    assert!(called.len() > 25, "{called:?}");
    for name in called {
        let declared = [format!(" {name}("), format!(" {name}<")].iter().any(|form| PRELUDE.contains(form.as_str()));
        assert!(declared, "sr::{name} is not in cuda/prelude.cuh");
    }
}

#[test]
fn every_operator_is_printed() {
    let mut printed: BTreeSet<&str> = BTreeSet::new();
    for list in [unary_operators(), binary_operators(), place_operators()] {
        printed.extend(list.iter().map(|p| p.operator));
    }
    let sources = [
        include_str!("../src/algebra/unary.rs"),
        include_str!("../src/algebra/binary.rs"),
        include_str!("../src/algebra/monoid.rs"),
        include_str!("../src/algebra/index_unary.rs"),
        include_str!("../src/algebra/positional.rs"),
    ];
    let mut found = 0;
    for line in sources.iter().flat_map(|source| source.lines()) {
        let Some((name, _)) = line.strip_prefix("pub ").and_then(|rest| rest.split_once('<')) else { continue };
        if !name.contains(' ') {
            found += 1;
            assert!(printed.contains(name), "{name} is not in tests/emit.rs");
        }
    }
    assert!(found > 60, "the scan found {found}");
}

#[test]
fn literals_survive_the_border() {
    assert_eq!(Constant::of(-3.0f32).literal(), "(-3.0f)");
    assert_eq!(Constant::of(f64::NEG_INFINITY).literal(), "(-sr::inf<double>())");
    assert_eq!(Constant::of(f32::NAN).literal(), "sr::nan<float>()");
    assert_eq!(Constant::of(-0.0f64).literal(), "(-0.0)");
    assert_eq!(Constant::of(i64::MIN).literal(), "(long long)(-9223372036854775807ll - 1)");
    assert_eq!(Constant::of(-5i8).literal(), "(signed char)(-5)");
    assert_eq!(Constant::of(u64::MAX).literal(), "(unsigned long long)(18446744073709551615ull)");
}

#[test]
fn formulas_nest_share_and_do_not_leak() {
    sparring::op! { /// Prints another formula in the middle of its own.
    Nested<T: Real> { p: T } (a, b) -> T {{
        let before = a + b;
        let other = emit_binary("inner", AbsDiff::<f64>::new());
        assert_eq!(other, emit_binary("inner", AbsDiff::<f64>::new()));
        // a + b reuses its statement; a − b is a new one.
        (a - b).abs().powf(p) + (a + b) * before
    }} }
    let text = emit_binary("f", Nested::new(-1.5f64));
    let expected = "  static __device__ double f(double a, double b) {
    const double t0 = sr::add(a, b);
    const double t1 = sr::sub(a, b);
    const double t2 = sr::abs(t1);
    const double t3 = sr::pow(t2, (-1.5));
    const double t4 = sr::mul(t0, t0);
    const double t5 = sr::add(t3, t4);
    return t5;
  }
";
    assert_eq!(text, expected);
    assert_eq!(
        emit_binary("g", First::<bool>::new()),
        "  static __device__ bool g(bool a, bool b) {\n    return a;\n  }\n"
    );
}

/// CUDA's keywords and intrinsics for a plain C++ compiler, and the samples.
fn harness() -> String {
    let mut text = String::from(include_str!("emit/harness.hpp"));
    text += PRELUDE;
    macro_rules! samples {
        ($($t:ident)*) => {$(
            let literals: Vec<_> = <$t as Show>::samples().into_iter().map(|x| Constant::of(x).literal()).collect();
            writeln!(
                text,
                "template <> std::vector<{0}> samples<{0}>() {{ return {{{1}}}; }}",
                <$t as Value>::CUDA,
                literals.join(", ")
            )
            .unwrap();
        )*};
    }
    samples!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    text
}

#[test]
fn printed_operators_compute_what_the_host_computes() {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("skipped: no C++ compiler '{compiler}'");
        return;
    }
    let mut all = unary_operators();
    all.extend(binary_operators());
    all.extend(place_operators());
    let mut source = harness();
    for p in &all {
        source += &p.text;
    }
    source += "int main() {\n";
    for p in &all {
        source += &p.calls;
    }
    source += "}\n";

    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (file, program) = (folder.join("emit.cpp"), folder.join("emit.out"));
    std::fs::write(&file, source).unwrap();
    let flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-fno-builtin", "-w"];
    let built = Command::new(&compiler).args(flags).arg(&file).arg("-o").arg(&program).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success());
    let output = String::from_utf8(output.stdout).unwrap();
    let mut lines = output.lines();
    for p in &all {
        for (n, expected) in p.expected.iter().enumerate() {
            let found = lines.next().unwrap_or("nothing");
            assert_eq!(found, expected, "result {n} of\n{}", p.text);
        }
    }
    assert_eq!(lines.next(), None);
}
