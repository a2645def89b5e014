// Correlation::<f64>::new()
struct Ring {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::mul(a, b);
    return t0;
  }
};
struct Exact {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::abs_diff(a, b);
    const double t1 = sr::mul(t0, t0);
    const double t2 = sr::mul(t1, (0.5));
    return t2;
  }
};
struct Recipe {
  using W = double;
  static constexpr bool counts = false, symmetric = true, zero_self = true, refines = true;
  static __device__ double first_x(double x) {
    return x;
  }
  static __device__ double entry_x(double x, double first, double second, double nnz, double ncols) {
    const double t0 = sr::max(ncols, (1.0));
    const double t1 = sr::div(first, t0);
    const double t2 = sr::sub(ncols, nnz);
    const double t3 = sr::mul(t2, t1);
    const double t4 = sr::mul(t3, t1);
    const double t5 = sr::add(second, t4);
    const double t6 = sr::mul((2.3e-16), nnz);
    const double t7 = sr::mul(t6, t1);
    const double t8 = sr::sqrt(t5);
    const double t9 = sr::mul(t7, t7);
    const double t10 = sr::mul(t9, ncols);
    const bool t11 = sr::le(t5, t10);
    const double t12 = sr::div(x, t8);
    const double t13 = t11 ? (0.0) : t12;
    return t13;
  }
  static __device__ double norm_x_0(double first, double second, double nnz, double ncols) {
    const double t0 = sr::max(ncols, (1.0));
    const double t1 = sr::div(first, t0);
    const double t2 = sr::sub(ncols, nnz);
    const double t3 = sr::mul(t2, t1);
    const double t4 = sr::mul(t3, t1);
    const double t5 = sr::add(second, t4);
    const double t6 = sr::mul((2.3e-16), nnz);
    const double t7 = sr::mul(t6, t1);
    const double t8 = sr::sqrt(t5);
    const double t9 = sr::mul(t7, t7);
    const double t10 = sr::mul(t9, ncols);
    const bool t11 = sr::le(t5, t10);
    const double t12 = sr::sqrt(ncols);
    const double t13 = sr::mul(t12, t1);
    const double t14 = sr::div(t13, t8);
    const double t15 = t11 ? (0.0) : t14;
    return t15;
  }
  static __device__ double norm_x_1(double first, double second, double nnz, double ncols) {
    const double t0 = sr::max(ncols, (1.0));
    const double t1 = sr::div(first, t0);
    const double t2 = sr::sub(ncols, nnz);
    const double t3 = sr::mul(t2, t1);
    const double t4 = sr::mul(t3, t1);
    const double t5 = sr::add(second, t4);
    const double t6 = sr::mul((2.3e-16), nnz);
    const double t7 = sr::mul(t6, t1);
    const double t8 = sr::mul(t7, t7);
    const double t9 = sr::mul(t8, ncols);
    const bool t10 = sr::le(t5, t9);
    const double t11 = t10 ? (1.0) : (0.0);
    return t11;
  }
  static __device__ double first_y(double x) {
    return x;
  }
  static __device__ double entry_y(double x, double first, double second, double nnz, double ncols) {
    const double t0 = sr::max(ncols, (1.0));
    const double t1 = sr::div(first, t0);
    const double t2 = sr::sub(ncols, nnz);
    const double t3 = sr::mul(t2, t1);
    const double t4 = sr::mul(t3, t1);
    const double t5 = sr::add(second, t4);
    const double t6 = sr::mul((2.3e-16), nnz);
    const double t7 = sr::mul(t6, t1);
    const double t8 = sr::sqrt(t5);
    const double t9 = sr::mul(t7, t7);
    const double t10 = sr::mul(t9, ncols);
    const bool t11 = sr::le(t5, t10);
    const double t12 = sr::div(x, t8);
    const double t13 = t11 ? (0.0) : t12;
    return t13;
  }
  static __device__ double norm_y_0(double first, double second, double nnz, double ncols) {
    const double t0 = sr::max(ncols, (1.0));
    const double t1 = sr::div(first, t0);
    const double t2 = sr::sub(ncols, nnz);
    const double t3 = sr::mul(t2, t1);
    const double t4 = sr::mul(t3, t1);
    const double t5 = sr::add(second, t4);
    const double t6 = sr::mul((2.3e-16), nnz);
    const double t7 = sr::mul(t6, t1);
    const double t8 = sr::sqrt(t5);
    const double t9 = sr::mul(t7, t7);
    const double t10 = sr::mul(t9, ncols);
    const bool t11 = sr::le(t5, t10);
    const double t12 = sr::sqrt(ncols);
    const double t13 = sr::mul(t12, t1);
    const double t14 = sr::div(t13, t8);
    const double t15 = t11 ? (0.0) : t14;
    return t15;
  }
  static __device__ double norm_y_1(double first, double second, double nnz, double ncols) {
    const double t0 = sr::max(ncols, (1.0));
    const double t1 = sr::div(first, t0);
    const double t2 = sr::sub(ncols, nnz);
    const double t3 = sr::mul(t2, t1);
    const double t4 = sr::mul(t3, t1);
    const double t5 = sr::add(second, t4);
    const double t6 = sr::mul((2.3e-16), nnz);
    const double t7 = sr::mul(t6, t1);
    const double t8 = sr::mul(t7, t7);
    const double t9 = sr::mul(t8, ncols);
    const bool t10 = sr::le(t5, t9);
    const double t11 = t10 ? (1.0) : (0.0);
    return t11;
  }
  static __device__ double second(double x, double first, double nnz, double ncols) {
    const double t0 = sr::max(ncols, (1.0));
    const double t1 = sr::div(first, t0);
    const double t2 = sr::sub(x, t1);
    const double t3 = sr::mul(t2, t2);
    return t3;
  }
  static __device__ double key(double x0, double x1, double y0, double y1, double sum, double shared) {
    const double t0 = sr::mul(x0, y0);
    const double t1 = sr::sub(sum, t0);
    const double t2 = sr::sub((1.0), t1);
    const double t3 = sr::mul(x1, y1);
    const double t4 = sr::sub(t2, t3);
    return t4;
  }
  static __device__ bool near(double key, double x0, double x1, double y0, double y1) {
    const double t0 = sr::mul(x0, y0);
    const double t1 = sr::abs(t0);
    const double t2 = sr::add((1.0), t1);
    const double t3 = sr::mul((1e-6), t2);
    const bool t4 = sr::lt(key, t3);
    return t4;
  }
  static __device__ double exact_key(double x0, double x1, double y0, double y1, double sum) {
    const double t0 = sr::sub(x0, y0);
    const double t1 = sr::mul((0.5), t0);
    const double t2 = sr::mul(t1, t0);
    const double t3 = sr::sub(sum, t2);
    return t3;
  }
  static __device__ double finish(double key) {
    const double t0 = sr::max(key, (0.0));
    const double t1 = sr::min(t0, (2.0));
    return t1;
  }
};

// Manhattan::<f64>::new()
struct Ring {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::abs(a);
    const double t1 = sr::abs(b);
    const double t2 = sr::min(t0, t1);
    const bool t3 = sr::lt(a, (0.0));
    const bool t4 = sr::lt(b, (0.0));
    const bool t5 = sr::ne(t3, t4);
    const double t6 = sr::add(t2, t2);
    const double t7 = sr::neg(t6);
    const double t8 = t5 ? (0.0) : t7;
    return t8;
  }
};
struct Exact {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::abs_diff(a, b);
    return t0;
  }
};
struct Recipe {
  using W = double;
  static constexpr bool counts = false, symmetric = true, zero_self = true, refines = true;
  static __device__ double first_x(double x) {
    const double t0 = sr::abs(x);
    return t0;
  }
  static __device__ double entry_x(double x, double first, double second, double nnz, double ncols) {
    return x;
  }
  static __device__ double norm_x_0(double first, double second, double nnz, double ncols) {
    return first;
  }
  static __device__ double norm_x_1(double first, double second, double nnz, double ncols) {
    return (0.0);
  }
  static __device__ double first_y(double x) {
    const double t0 = sr::abs(x);
    return t0;
  }
  static __device__ double entry_y(double x, double first, double second, double nnz, double ncols) {
    return x;
  }
  static __device__ double norm_y_0(double first, double second, double nnz, double ncols) {
    return first;
  }
  static __device__ double norm_y_1(double first, double second, double nnz, double ncols) {
    return (0.0);
  }
  static __device__ double second(double x, double first, double nnz, double ncols) {
    return (0.0);
  }
  static __device__ double key(double x0, double x1, double y0, double y1, double sum, double shared) {
    const double t0 = sr::add(x0, y0);
    const double t1 = sr::add(t0, sum);
    return t1;
  }
  static __device__ bool near(double key, double x0, double x1, double y0, double y1) {
    const double t0 = sr::add(x0, y0);
    const double t1 = sr::mul((1e-6), t0);
    const bool t2 = sr::lt(key, t1);
    return t2;
  }
  static __device__ double exact_key(double x0, double x1, double y0, double y1, double sum) {
    return sum;
  }
  static __device__ double finish(double key) {
    const double t0 = sr::max(key, (0.0));
    return t0;
  }
};

// Minkowski::<f64>::new(2.5)
struct Ring {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::abs_diff(a, b);
    const double t1 = sr::pow(t0, (2.5));
    const double t2 = sr::abs(a);
    const double t3 = sr::pow(t2, (2.5));
    const double t4 = sr::abs(b);
    const double t5 = sr::pow(t4, (2.5));
    const double t6 = sr::add(t3, t5);
    const double t7 = sr::sub(t1, t6);
    return t7;
  }
};
#define SPLIT
struct Split {
  static __device__ double part(double a) {
    const double t0 = sr::abs(a);
    const double t1 = sr::pow(t0, (2.5));
    return t1;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j, double part) {
    const double t0 = sr::abs_diff(a, b);
    const double t1 = sr::pow(t0, (2.5));
    const double t2 = sr::abs(b);
    const double t3 = sr::pow(t2, (2.5));
    const double t4 = sr::add(part, t3);
    const double t5 = sr::sub(t1, t4);
    return t5;
  }
};
struct Exact {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::abs_diff(a, b);
    const double t1 = sr::pow(t0, (2.5));
    return t1;
  }
};
struct Recipe {
  using W = double;
  static constexpr bool counts = false, symmetric = true, zero_self = true, refines = true;
  static __device__ double first_x(double x) {
    const double t0 = sr::abs(x);
    const double t1 = sr::pow(t0, (2.5));
    return t1;
  }
  static __device__ double entry_x(double x, double first, double second, double nnz, double ncols) {
    return x;
  }
  static __device__ double norm_x_0(double first, double second, double nnz, double ncols) {
    return first;
  }
  static __device__ double norm_x_1(double first, double second, double nnz, double ncols) {
    return (0.0);
  }
  static __device__ double first_y(double x) {
    const double t0 = sr::abs(x);
    const double t1 = sr::pow(t0, (2.5));
    return t1;
  }
  static __device__ double entry_y(double x, double first, double second, double nnz, double ncols) {
    return x;
  }
  static __device__ double norm_y_0(double first, double second, double nnz, double ncols) {
    return first;
  }
  static __device__ double norm_y_1(double first, double second, double nnz, double ncols) {
    return (0.0);
  }
  static __device__ double second(double x, double first, double nnz, double ncols) {
    return (0.0);
  }
  static __device__ double key(double x0, double x1, double y0, double y1, double sum, double shared) {
    const double t0 = sr::add(x0, y0);
    const double t1 = sr::add(t0, sum);
    return t1;
  }
  static __device__ bool near(double key, double x0, double x1, double y0, double y1) {
    const double t0 = sr::add(x0, y0);
    const double t1 = sr::mul((1e-6), t0);
    const bool t2 = sr::lt(key, t1);
    return t2;
  }
  static __device__ double exact_key(double x0, double x1, double y0, double y1, double sum) {
    return sum;
  }
  static __device__ double finish(double key) {
    const double t0 = sr::max(key, (0.0));
    const double t1 = sr::pow(t0, (0.4));
    return t1;
  }
};

// Minkowski::<f32, u32>::new(3)
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::abs_diff(a, b);
    const float t1 = sr::mul(t0, t0);
    const float t2 = sr::mul(t1, t0);
    const float t3 = sr::abs(a);
    const float t4 = sr::mul(t3, t3);
    const float t5 = sr::mul(t4, t3);
    const float t6 = sr::abs(b);
    const float t7 = sr::mul(t6, t6);
    const float t8 = sr::mul(t7, t6);
    const float t9 = sr::add(t5, t8);
    const float t10 = sr::sub(t2, t9);
    return t10;
  }
};
struct Exact {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::abs_diff(a, b);
    const float t1 = sr::mul(t0, t0);
    const float t2 = sr::mul(t1, t0);
    return t2;
  }
};
struct Recipe {
  using W = float;
  static constexpr bool counts = false, symmetric = true, zero_self = true, refines = true;
  static __device__ float first_x(float x) {
    const float t0 = sr::abs(x);
    const float t1 = sr::mul(t0, t0);
    const float t2 = sr::mul(t1, t0);
    return t2;
  }
  static __device__ float entry_x(float x, float first, float second, float nnz, float ncols) {
    return x;
  }
  static __device__ float norm_x_0(float first, float second, float nnz, float ncols) {
    return first;
  }
  static __device__ float norm_x_1(float first, float second, float nnz, float ncols) {
    return (0.0f);
  }
  static __device__ float first_y(float x) {
    const float t0 = sr::abs(x);
    const float t1 = sr::mul(t0, t0);
    const float t2 = sr::mul(t1, t0);
    return t2;
  }
  static __device__ float entry_y(float x, float first, float second, float nnz, float ncols) {
    return x;
  }
  static __device__ float norm_y_0(float first, float second, float nnz, float ncols) {
    return first;
  }
  static __device__ float norm_y_1(float first, float second, float nnz, float ncols) {
    return (0.0f);
  }
  static __device__ float second(float x, float first, float nnz, float ncols) {
    return (0.0f);
  }
  static __device__ float key(float x0, float x1, float y0, float y1, float sum, float shared) {
    const float t0 = sr::add(x0, y0);
    const float t1 = sr::add(t0, sum);
    return t1;
  }
  static __device__ bool near(float key, float x0, float x1, float y0, float y1) {
    const float t0 = sr::add(x0, y0);
    const float t1 = sr::mul((0.001f), t0);
    const bool t2 = sr::lt(key, t1);
    return t2;
  }
  static __device__ float exact_key(float x0, float x1, float y0, float y1, float sum) {
    return sum;
  }
  static __device__ float finish(float key) {
    const float t0 = sr::max(key, (0.0f));
    const float t1 = sr::pow(t0, (0.33333334f));
    return t1;
  }
};

// JensenShannon::<f64>::new(true)
struct Ring {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::x_ln_x(a);
    const double t1 = sr::x_ln_x(b);
    const double t2 = sr::add(t0, t1);
    const double t3 = sr::add(a, b);
    const double t4 = sr::x_ln_x(t3);
    const double t5 = sr::sub(t2, t4);
    return t5;
  }
};
#define SPLIT
struct Split {
  static __device__ double part(double a) {
    const double t0 = sr::x_ln_x(a);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j, double part) {
    const double t0 = sr::x_ln_x(b);
    const double t1 = sr::add(part, t0);
    const double t2 = sr::add(a, b);
    const double t3 = sr::x_ln_x(t2);
    const double t4 = sr::sub(t1, t3);
    return t4;
  }
};
struct Exact {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::add(a, b);
    const double t1 = sr::sub(a, b);
    const bool t2 = sr::eq(t0, (0.0));
    const double t3 = t2 ? (1.0) : t0;
    const double t4 = sr::div(t1, t3);
    const bool t5 = sr::eq(a, (0.0));
    const double t6 = t5 ? (0.0) : t4;
    const double t7 = sr::log1p(t6);
    const double t8 = sr::mul(a, t7);
    const double t9 = t5 ? (0.0) : t8;
    const double t10 = sr::neg(t4);
    const bool t11 = sr::eq(b, (0.0));
    const double t12 = t11 ? (0.0) : t10;
    const double t13 = sr::log1p(t12);
    const double t14 = sr::mul(b, t13);
    const double t15 = t11 ? (0.0) : t14;
    const double t16 = sr::add(t9, t15);
    return t16;
  }
};
struct Recipe {
  using W = double;
  static constexpr bool counts = false, symmetric = true, zero_self = true, refines = true;
  static __device__ double first_x(double x) {
    return x;
  }
  static __device__ double entry_x(double x, double first, double second, double nnz, double ncols) {
    const double t0 = sr::div(x, first);
    return t0;
  }
  static __device__ double norm_x_0(double first, double second, double nnz, double ncols) {
    const bool t0 = sr::eq(nnz, (0.0));
    const double t1 = t0 ? (0.0) : (0.6931471805599453);
    return t1;
  }
  static __device__ double norm_x_1(double first, double second, double nnz, double ncols) {
    const bool t0 = sr::eq(nnz, (0.0));
    const double t1 = t0 ? (0.6931471805599453) : (0.0);
    return t1;
  }
  static __device__ double first_y(double x) {
    return x;
  }
  static __device__ double entry_y(double x, double first, double second, double nnz, double ncols) {
    const double t0 = sr::div(x, first);
    return t0;
  }
  static __device__ double norm_y_0(double first, double second, double nnz, double ncols) {
    const bool t0 = sr::eq(nnz, (0.0));
    const double t1 = t0 ? (0.0) : (0.6931471805599453);
    return t1;
  }
  static __device__ double norm_y_1(double first, double second, double nnz, double ncols) {
    const bool t0 = sr::eq(nnz, (0.0));
    const double t1 = t0 ? (0.6931471805599453) : (0.0);
    return t1;
  }
  static __device__ double second(double x, double first, double nnz, double ncols) {
    return (0.0);
  }
  static __device__ double key(double x0, double x1, double y0, double y1, double sum, double shared) {
    const double t0 = sr::add(x0, y0);
    const double t1 = sr::add(t0, sum);
    const double t2 = sr::abs_diff(x1, y1);
    const double t3 = sr::add(t1, t2);
    return t3;
  }
  static __device__ bool near(double key, double x0, double x1, double y0, double y1) {
    const double t0 = sr::add(x0, y0);
    const double t1 = sr::mul((1e-6), t0);
    const bool t2 = sr::lt(key, t1);
    return t2;
  }
  static __device__ double exact_key(double x0, double x1, double y0, double y1, double sum) {
    return sum;
  }
  static __device__ double finish(double key) {
    const double t0 = sr::max(key, (0.0));
    const double t1 = sr::mul((0.5), t0);
    const double t2 = sr::sqrt(t1);
    return t2;
  }
};

// KullbackLeibler::<f32>::new(false)
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::mul(a, b);
    return t0;
  }
};
struct Exact {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const bool t0 = sr::eq(a, (0.0f));
    const float t1 = t0 ? (1.0f) : a;
    const float t2 = sr::log(t1);
    const float t3 = sr::sub(t2, b);
    const float t4 = sr::mul(a, t3);
    const float t5 = t0 ? a : t4;
    return t5;
  }
};
struct Recipe {
  using W = float;
  static constexpr bool counts = true, symmetric = false, zero_self = true, refines = true;
  static __device__ float first_x(float x) {
    return x;
  }
  static __device__ float entry_x(float x, float first, float second, float nnz, float ncols) {
    return x;
  }
  static __device__ float norm_x_0(float first, float second, float nnz, float ncols) {
    return nnz;
  }
  static __device__ float norm_x_1(float first, float second, float nnz, float ncols) {
    return second;
  }
  static __device__ float first_y(float x) {
    return x;
  }
  static __device__ float entry_y(float x, float first, float second, float nnz, float ncols) {
    const float t0 = sr::log(x);
    return t0;
  }
  static __device__ float norm_y_0(float first, float second, float nnz, float ncols) {
    return nnz;
  }
  static __device__ float norm_y_1(float first, float second, float nnz, float ncols) {
    return second;
  }
  static __device__ float second(float x, float first, float nnz, float ncols) {
    const float t0 = sr::x_ln_x(x);
    return t0;
  }
  static __device__ float key(float x0, float x1, float y0, float y1, float sum, float shared) {
    const float t0 = sr::sub(x1, sum);
    const bool t1 = sr::eq(shared, x0);
    const float t2 = sr::add(t0, sr::inf<float>());
    const float t3 = t1 ? t0 : t2;
    return t3;
  }
  static __device__ bool near(float key, float x0, float x1, float y0, float y1) {
    const float t0 = sr::abs(key);
    const float t1 = sr::mul((0.7357589f), x0);
    const float t2 = sr::add(x1, t1);
    const float t3 = sr::mul((0.001f), t2);
    const bool t4 = sr::lt(t0, t3);
    return t4;
  }
  static __device__ float exact_key(float x0, float x1, float y0, float y1, float sum) {
    return sum;
  }
  static __device__ float finish(float key) {
    return key;
  }
};

// Jaccard::<f32>::new()
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::mul(a, b);
    return t0;
  }
};
struct Exact {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::mul(a, b);
    return t0;
  }
};
struct Recipe {
  using W = float;
  static constexpr bool counts = false, symmetric = true, zero_self = true, refines = false;
  static __device__ float first_x(float x) {
    return (0.0f);
  }
  static __device__ float entry_x(float x, float first, float second, float nnz, float ncols) {
    return (1.0f);
  }
  static __device__ float norm_x_0(float first, float second, float nnz, float ncols) {
    return nnz;
  }
  static __device__ float norm_x_1(float first, float second, float nnz, float ncols) {
    return ncols;
  }
  static __device__ float first_y(float x) {
    return (0.0f);
  }
  static __device__ float entry_y(float x, float first, float second, float nnz, float ncols) {
    return (1.0f);
  }
  static __device__ float norm_y_0(float first, float second, float nnz, float ncols) {
    return nnz;
  }
  static __device__ float norm_y_1(float first, float second, float nnz, float ncols) {
    return ncols;
  }
  static __device__ float second(float x, float first, float nnz, float ncols) {
    return (0.0f);
  }
  static __device__ float key(float x0, float x1, float y0, float y1, float sum, float shared) {
    const float t0 = sr::sub(x0, sum);
    const float t1 = sr::sub(y0, sum);
    const float t2 = sr::add(t0, t1);
    const float t3 = sr::add(x0, y0);
    const float t4 = sr::sub(t3, sum);
    const bool t5 = sr::eq(t4, (0.0f));
    const float t6 = t5 ? (1.0f) : t4;
    const float t7 = sr::div(t2, t6);
    const float t8 = t5 ? (0.0f) : t7;
    return t8;
  }
  static __device__ bool near(float key, float x0, float x1, float y0, float y1) {
    const float t0 = sr::add(x0, y0);
    const float t1 = sr::mul((0.001f), t0);
    const bool t2 = sr::lt(key, t1);
    return t2;
  }
  static __device__ float exact_key(float x0, float x1, float y0, float y1, float sum) {
    return sum;
  }
  static __device__ float finish(float key) {
    return key;
  }
};

// OnePass(AbsDiff::<f64>::new())
struct Ring {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::abs_diff(a, b);
    const double t1 = sr::abs_diff(a, (0.0));
    const double t2 = sr::abs_diff((0.0), b);
    const double t3 = sr::add(t1, t2);
    const double t4 = sr::sub(t0, t3);
    return t4;
  }
};
struct Exact {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    const double t0 = sr::add(a, b);
    return t0;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::abs_diff(a, b);
    return t0;
  }
};
struct Recipe {
  using W = double;
  static constexpr bool counts = false, symmetric = false, zero_self = false, refines = true;
  static __device__ double first_x(double x) {
    const double t0 = sr::abs_diff(x, (0.0));
    return t0;
  }
  static __device__ double entry_x(double x, double first, double second, double nnz, double ncols) {
    return x;
  }
  static __device__ double norm_x_0(double first, double second, double nnz, double ncols) {
    return first;
  }
  static __device__ double norm_x_1(double first, double second, double nnz, double ncols) {
    return second;
  }
  static __device__ double first_y(double x) {
    const double t0 = sr::abs_diff((0.0), x);
    return t0;
  }
  static __device__ double entry_y(double x, double first, double second, double nnz, double ncols) {
    return x;
  }
  static __device__ double norm_y_0(double first, double second, double nnz, double ncols) {
    return first;
  }
  static __device__ double norm_y_1(double first, double second, double nnz, double ncols) {
    return second;
  }
  static __device__ double second(double x, double first, double nnz, double ncols) {
    const double t0 = sr::abs_diff(x, (0.0));
    const double t1 = sr::abs(t0);
    const double t2 = sr::abs_diff((0.0), x);
    const double t3 = sr::abs(t2);
    const double t4 = sr::add(t1, t3);
    return t4;
  }
  static __device__ double key(double x0, double x1, double y0, double y1, double sum, double shared) {
    const double t0 = sr::add(x0, y0);
    const double t1 = sr::add(t0, sum);
    return t1;
  }
  static __device__ bool near(double key, double x0, double x1, double y0, double y1) {
    const double t0 = sr::add(x1, y1);
    const double t1 = sr::mul((1e-6), t0);
    const double t2 = sr::abs(key);
    const bool t3 = sr::le(t1, t2);
    const bool t4 = sr::bit_not(t3);
    return t4;
  }
  static __device__ double exact_key(double x0, double x1, double y0, double y1, double sum) {
    return sum;
  }
  static __device__ double finish(double key) {
    return key;
  }
};

