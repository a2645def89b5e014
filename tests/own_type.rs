//! A user-defined value type, a struct of two numbers: in a matrix, under a semiring, and as CUDA text.

use quickcheck::quickcheck;
use sparring::algebra::*;
use sparring::backend::Backend;
use sparring::{Cpu, Csr};

sparring::value! {
    /// A value and its index.
    pub struct Best {
        /// The value.
        pub value: f64,
        /// Its index.
        pub index: u32,
    }
}

sparring::op! {
    /// The one with the smaller value; ties go to the smaller index.
    pub ArgMin (a: Best, b: Best) -> Best {{
        let (x, y) = (Best::value(a), Best::value(b));
        (y.lt(x) | (y.eq(x) & Best::index(b).lt(Best::index(a)))).select(b, a)
    }} identity Best { value: f64::INFINITY, index: u32::MAX }
}

sparring::op! {
    /// a · b, and its contraction index.
    pub TimesAndWhere (a: f64, b: f64) at (i, k, j) -> Best { Best::of(a * b, k.index_as()) }
}

sparring::op! {
    /// A step of length `b` after `a`.
    pub Step (a: Best, b: f64) -> Best { Best::of(Best::value(a) + b, Best::index(a)) }
}

sparring::value! {
    /// Three fields, one of them a struct.
    pub struct Outer {
        /// A struct.
        pub best: Best,
        /// A flag.
        pub found: bool,
        /// A small number.
        pub count: i8,
    }
}

sparring::op! {
    /// Counts are added, the better value is kept.
    Merge (a: Outer, b: Outer) -> Outer {
        Outer::of(
            ArgMin::new().apply(Outer::best(a), Outer::best(b)),
            Outer::found(a) | Outer::found(b),
            Outer::count(a) + Outer::count(b),
        )
    } identity Outer { best: ArgMin::IDENTITY, found: false, count: 0 }
}

fn matrix(nrows: usize, ncols: usize, row_ptr: Vec<usize>, col_idx: Vec<u32>, values: Vec<f64>) -> Csr<f64> {
    Csr::new(nrows, ncols, row_ptr, col_idx, values).unwrap()
}

#[test]
fn a_product_gives_the_least_term_and_where_it_was() {
    // Row 0: 2·5 at k = 0, 3·1 at k = 1, 1·3 at k = 2: 3 occurs twice, and the smaller k wins. Row 1: 4·1 at k = 1.
    let a = matrix(2, 3, vec![0, 3, 4], vec![0, 1, 2, 1], vec![2.0, 3.0, 1.0, 4.0]);
    let b = matrix(3, 1, vec![0, 1, 2, 3], vec![0, 0, 0], vec![5.0, 1.0, 3.0]);
    let c = Cpu::new().mxm(Ring(ArgMin::new(), TimesAndWhere::new()), &a, &b).eval().unwrap();
    assert_eq!(c.values(), [Best { value: 3.0, index: 1 }, Best { value: 4.0, index: 1 }]);
}

#[test]
fn matrices_of_structs_multiply_matrices_of_numbers() {
    let far = Best { value: 10.0, index: 0 };
    let near = Best { value: 1.0, index: 7 };
    let a = Csr::new(1, 2, vec![0, 2], vec![0u32, 1], vec![far, near]).unwrap();
    let b = matrix(2, 1, vec![0, 1, 2], vec![0, 0], vec![1.0, 2.0]);
    let c = Cpu::new().mxm(Ring(ArgMin::new(), Step::new()), &a, &b).eval().unwrap();
    assert_eq!(c.values(), [Best { value: 3.0, index: 7 }]);
    // Operators that only pass values on accept any type.
    let c = Cpu::new().mxm(Ring(ArgMin::new(), First::<Best, f64>::default()), &a, &b).eval().unwrap();
    assert_eq!(c.values(), [near]);
}

fn best((value, index): (i8, u32)) -> Best {
    Best { value: f64::from(value), index }
}

quickcheck! {
    fn argmin_is_a_monoid(x: (i8, u32), y: (i8, u32), z: (i8, u32)) -> bool {
        let (x, y, z) = (best(x), best(y), best(z));
        laws::identity(ArgMin::new(), x, laws::exact)
            && laws::associative(ArgMin::new(), [x, y, z], laws::exact)
            && laws::commutative(ArgMin::new(), [x, y], laws::exact)
            && laws::right_distributive(Ring(ArgMin::new(), Step::new()), [x, y], 2.0, laws::exact)
    }

    fn argmin_is_the_definition(list: Vec<(i8, u32)>) -> bool {
        let fold = list.iter().fold(ArgMin::IDENTITY, |best_so_far, &x| laws::apply(ArgMin::new(), best_so_far, best(x)));
        match list.iter().min() {
            Some(&least) => fold == best(least),
            None => fold == ArgMin::IDENTITY,
        }
    }

    fn structs_nest(x: (i8, u32), y: (i8, u32), found: bool, m: i8, n: i8) -> bool {
        let a = Outer { best: best(x), found, count: m };
        let b = Outer { best: best(y), found: false, count: n };
        let c = laws::apply(Merge::new(), a, b);
        laws::identity(Merge::new(), a, laws::exact)
            && c == Outer { best: best(x.min(y)), found, count: m.wrapping_add(n) }
    }
}

#[test]
fn the_device_gets_the_struct_and_the_formulas() {
    let text = emit_contract(Ring(ArgMin::new(), TimesAndWhere::new()));
    let expected = "struct Best {
  double value;
  unsigned int index;
};
static_assert(sizeof(Best) == 16 && alignof(Best) == 8, \"Best lies here as on the host\");
namespace sr {
static __device__ double Best_value(Best a) { return a.value; }
static __device__ unsigned int Best_index(Best a) { return a.index; }
static __device__ Best Best_of(double value, unsigned int index) { return Best{value, index}; }
static __device__ bool eq(Best a, Best b) { return sr::eq(a.value, b.value) && sr::eq(a.index, b.index); }
static __device__ bool ne(Best a, Best b) { return !sr::eq(a, b); }
}
struct Ring {
  using A = double;
  using B = double;
  using Out = Best;
  static constexpr bool reads_a = true, reads_b = true, reads_place = true;
  static __device__ Out zero() { return Best{sr::inf<double>(), (unsigned int)(4294967295u)}; }
  static __device__ Best add(Best a, Best b) {
    const double t0 = sr::Best_value(a);
    const double t1 = sr::Best_value(b);
    const bool t2 = sr::lt(t1, t0);
    const bool t3 = sr::eq(t1, t0);
    const unsigned int t4 = sr::Best_index(b);
    const unsigned int t5 = sr::Best_index(a);
    const bool t6 = sr::lt(t4, t5);
    const bool t7 = sr::bit_and(t3, t6);
    const bool t8 = sr::bit_or(t2, t7);
    const Best t9 = t8 ? b : a;
    return t9;
  }
  static __device__ Best mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::mul(a, b);
    const unsigned int t1 = sr::cast<unsigned int>(k);
    const Best t2 = sr::Best_of(t0, t1);
    return t2;
  }
};
";
    assert_eq!(text, expected);
    // A struct is defined before a struct that contains it, and only once.
    let outer = Outer::definition();
    assert!(outer.starts_with(&Best::definition()) && outer.matches("struct Best {").count() == 1);
    assert!(outer.contains("struct Outer {\n  Best best;\n  bool found;\n  signed char count;\n};"));
    assert!(emit_contract(Ring(Merge::new(), First::<Outer>::new())).starts_with(&outer));
}

#[test]
fn kernels_get_the_structs_of_single_operators() {
    sparring::op! { /// The value of a struct, scaled.
    Scaled { p: f64 } (a: Best) -> f64 { Best::value(a) * p } }
    sparring::op! { /// Whether the value is below s's, on or above the diagonal.
    Below (a: f64, s: Best) at (i, j) -> bool { a.lt(Best::value(s)) & i.le(j) } }
    let best = Best::definition();
    let expected = "struct Op {
  using A = Best;
  using Out = double;
  static __device__ double apply(Best a) {
    const double t0 = sr::Best_value(a);
    const double t1 = sr::mul(t0, (1.5));
    return t1;
  }
};
";
    assert_eq!(emit_unary_op(Scaled::new(1.5)), format!("{best}{expected}"));
    let expected = "struct Op {
  using A = Best;
  using B = double;
  using Out = Best;
  static __device__ Best apply(Best a, double b) {
    const double t0 = sr::Best_value(a);
    const double t1 = sr::add(t0, b);
    const unsigned int t2 = sr::Best_index(a);
    const Best t3 = sr::Best_of(t1, t2);
    return t3;
  }
};
";
    assert_eq!(emit_binary_op(Step::new()), format!("{best}{expected}"));
    let expected = "struct Op {
  using A = double;
  using S = Best;
  using Out = bool;
  static __device__ bool apply(double a, Best s, unsigned long long i, unsigned long long j) {
    const double t0 = sr::Best_value(s);
    const bool t1 = sr::lt(a, t0);
    const bool t2 = sr::le(i, j);
    const bool t3 = sr::bit_and(t1, t2);
    return t3;
  }
};
";
    assert_eq!(emit_index_unary_op(Below::new()), format!("{best}{expected}"));
    let monoid = emit_monoid(ArgMin::new());
    let expected = "struct Monoid {
  using Out = Best;
  static __device__ Out zero() { return Best{sr::inf<double>(), (unsigned int)(4294967295u)}; }
  static __device__ Best add(Best a, Best b) {
";
    assert!(monoid.starts_with(&format!("{best}{expected}")), "{monoid}");
    // Operators of numbers need no definitions.
    assert!(emit_binary_op(Plus::<f32>::new()).starts_with("struct Op {"));
}
