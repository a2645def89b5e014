// prelude.cuh: the scalar functions of src/algebra/formula/function.rs, one line and one meaning each.
// Integers wrap, so they are computed in the unsigned type W<T>, at least 32 bits wide: signed overflow is undefined in
// C++, and small types would be promoted to int. bool works the same way: + is or, * is and, - is xor.
// Floats are rounded after each operation (the _rn functions are never contracted into a fused one).
// min and max are comparisons, not fmin and fmax. Division of integers is total. Casts are those of Rust's `as`.
#pragma once
namespace sr {

template <class T> struct Wide { using type = T; static constexpr bool is_float = true; };
template <> struct Wide<bool> { using type = unsigned int; static constexpr bool is_float = false; };
template <> struct Wide<signed char> { using type = unsigned int; static constexpr bool is_float = false; };
template <> struct Wide<short> { using type = unsigned int; static constexpr bool is_float = false; };
template <> struct Wide<int> { using type = unsigned int; static constexpr bool is_float = false; };
template <> struct Wide<long long> { using type = unsigned long long; static constexpr bool is_float = false; };
template <> struct Wide<unsigned char> { using type = unsigned int; static constexpr bool is_float = false; };
template <> struct Wide<unsigned short> { using type = unsigned int; static constexpr bool is_float = false; };
template <> struct Wide<unsigned int> { using type = unsigned int; static constexpr bool is_float = false; };
template <> struct Wide<unsigned long long> { using type = unsigned long long; static constexpr bool is_float = false; };
template <class T> using W = typename Wide<T>::type;

// Smallest and largest value of an integer type, and the special floats.
template <class T> __device__ constexpr T lowest() { return T(-1) < T(0) ? (T)(W<T>(1) << (8 * sizeof(T) - 1)) : T(0); }
template <class T> __device__ constexpr T highest() { return T(-1) < T(0) ? (T)~(W<T>(1) << (8 * sizeof(T) - 1)) : (T)~W<T>(0); }
template <class T> __device__ T inf();
template <> __device__ inline float inf<float>() { return __int_as_float(0x7f800000); }
template <> __device__ inline double inf<double>() { return __longlong_as_double(0x7ff0000000000000ll); }
template <class T> __device__ T nan();
template <> __device__ inline float nan<float>() { return __int_as_float(0x7fc00000); }
template <> __device__ inline double nan<double>() { return __longlong_as_double(0x7ff8000000000000ll); }

// Comparisons.
template <class T> __device__ bool eq(T a, T b) { return a == b; }
template <class T> __device__ bool ne(T a, T b) { return a != b; }
template <class T> __device__ bool lt(T a, T b) { return a < b; }
template <class T> __device__ bool le(T a, T b) { return a <= b; }
template <class T> __device__ T min(T a, T b) { return b < a ? b : a; }
template <class T> __device__ T max(T a, T b) { return a < b ? b : a; }

// Arithmetic: integers and bool.
template <class T> __device__ T add(T a, T b) { return (T)((W<T>)a + (W<T>)b); }
template <class T> __device__ T sub(T a, T b) { return (T)((W<T>)a - (W<T>)b); }
template <class T> __device__ T mul(T a, T b) { return (T)((W<T>)a * (W<T>)b); }
template <class T> __device__ T neg(T a) { return (T)(W<T>(0) - (W<T>)a); }
template <class T> __device__ T div(T a, T b) { return b == T(0) ? (a == T(0) ? T(0) : T(0) < a ? highest<T>() : lowest<T>()) : T(-1) < T(0) && b == T(-1) ? sr::neg(a) : (T)(a / b); }
template <class T> __device__ T abs(T a) { return sr::lt(a, T(0)) ? sr::neg(a) : a; }
template <class T> __device__ T abs_diff(T a, T b) { return a < b ? sr::sub(b, a) : sr::sub(a, b); }
template <class T> __device__ T bit_and(T a, T b) { return (T)((W<T>)a & (W<T>)b); }
template <class T> __device__ T bit_or(T a, T b) { return (T)((W<T>)a | (W<T>)b); }
template <class T> __device__ T bit_xor(T a, T b) { return (T)((W<T>)a ^ (W<T>)b); }
template <class T> __device__ T bit_not(T a) { return (T)~(W<T>)a; }
__device__ inline bool bit_not(bool a) { return !a; }

// Arithmetic: floats.
__device__ inline float add(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double add(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float sub(float a, float b) { return __fsub_rn(a, b); }
__device__ inline double sub(double a, double b) { return __dsub_rn(a, b); }
__device__ inline float mul(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double mul(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float div(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double div(double a, double b) { return __ddiv_rn(a, b); }
__device__ inline float neg(float a) { return -a; }
__device__ inline double neg(double a) { return -a; }
__device__ inline float abs(float a) { return ::fabsf(a); }
__device__ inline double abs(double a) { return ::fabs(a); }
__device__ inline float abs_diff(float a, float b) { return ::fabsf(__fsub_rn(a, b)); }
__device__ inline double abs_diff(double a, double b) { return ::fabs(__dsub_rn(a, b)); }
__device__ inline float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ inline float sqrt(float a) { return __fsqrt_rn(a); }
__device__ inline double sqrt(double a) { return __dsqrt_rn(a); }
__device__ inline float floor(float a) { return ::floorf(a); }
__device__ inline double floor(double a) { return ::floor(a); }
__device__ inline float ceil(float a) { return ::ceilf(a); }
__device__ inline double ceil(double a) { return ::ceil(a); }
__device__ inline float exp(float a) { return ::expf(a); }
__device__ inline double exp(double a) { return ::exp(a); }
__device__ inline float log(float a) { return ::logf(a); }
__device__ inline double log(double a) { return ::log(a); }
__device__ inline float log1p(float a) { return ::log1pf(a); }
__device__ inline double log1p(double a) { return ::log1p(a); }
__device__ inline float x_ln_x(float a) { return a == 0.0f ? 0.0f : __fmul_rn(a, ::logf(a)); }
__device__ inline double x_ln_x(double a) { return a == 0.0 ? 0.0 : __dmul_rn(a, ::log(a)); }
__device__ inline float pow(float a, float b) { return ::powf(a, b); }
__device__ inline double pow(double a, double b) { return ::pow(a, b); }

// Complex numbers: the textbook formulas, in num-complex's order, each operation rounded.
template <class T> struct complex { T re, im; };
template <class T> __device__ bool eq(complex<T> a, complex<T> b) { return a.re == b.re && a.im == b.im; }
template <class T> __device__ bool ne(complex<T> a, complex<T> b) { return !sr::eq(a, b); }
template <class T> __device__ complex<T> add(complex<T> a, complex<T> b) { return {sr::add(a.re, b.re), sr::add(a.im, b.im)}; }
template <class T> __device__ complex<T> sub(complex<T> a, complex<T> b) { return {sr::sub(a.re, b.re), sr::sub(a.im, b.im)}; }
template <class T> __device__ complex<T> mul(complex<T> a, complex<T> b) { return {sr::sub(sr::mul(a.re, b.re), sr::mul(a.im, b.im)), sr::add(sr::mul(a.re, b.im), sr::mul(a.im, b.re))}; }
template <class T> __device__ T norm_squared(complex<T> a) { return sr::add(sr::mul(a.re, a.re), sr::mul(a.im, a.im)); }
template <class T> __device__ complex<T> div(complex<T> a, complex<T> b) { return {sr::div(sr::add(sr::mul(a.re, b.re), sr::mul(a.im, b.im)), sr::norm_squared(b)), sr::div(sr::sub(sr::mul(a.im, b.re), sr::mul(a.re, b.im)), sr::norm_squared(b))}; }
template <class T> __device__ complex<T> neg(complex<T> a) { return {-a.re, -a.im}; }

// Casts: integers wrap, floats saturate, NaN becomes 0, everything except 0 is true. highest<U>() as a float may round
// up to a power of two beyond the range of U; the comparison is >=, so such a value saturates as well.
template <class U, bool saturate> struct Caster { template <class T> static __device__ U of(T a) { return (U)a; } };
template <class U> struct Caster<U, true> { template <class T> static __device__ U of(T a) { return a != a ? U(0) : a <= (T)lowest<U>() ? lowest<U>() : a >= (T)highest<U>() ? highest<U>() : (U)a; } };
template <> struct Caster<bool, true> { template <class T> static __device__ bool of(T a) { return a != T(0); } };
template <> struct Caster<bool, false> { template <class T> static __device__ bool of(T a) { return a != T(0); } };
template <class U, class T> __device__ U cast(T a) { return Caster<U, Wide<T>::is_float && !Wide<U>::is_float>::of(a); }

}  // namespace sr
