// PlusTimes<f32>
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

// MinPlus<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return sr::inf<float>(); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::min(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::add(a, b);
    return t0;
  }
};

// MaxPlus<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (-sr::inf<float>()); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::max(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::add(a, b);
    return t0;
  }
};

// MinTimes<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return sr::inf<float>(); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::min(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::mul(a, b);
    return t0;
  }
};

// MaxTimes<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (-sr::inf<float>()); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::max(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::mul(a, b);
    return t0;
  }
};

// MinMax<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return sr::inf<float>(); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::min(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::max(a, b);
    return t0;
  }
};

// MaxMin<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (-sr::inf<float>()); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::max(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::min(a, b);
    return t0;
  }
};

// PlusMin<f32>
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
    const float t0 = sr::min(a, b);
    return t0;
  }
};

// MinFirst<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = false, reads_place = false;
  static __device__ Out zero() { return sr::inf<float>(); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::min(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return a;
  }
};

// MinSecond<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = false, reads_b = true, reads_place = false;
  static __device__ Out zero() { return sr::inf<float>(); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::min(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return b;
  }
};

// MaxFirst<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = false, reads_place = false;
  static __device__ Out zero() { return (-sr::inf<float>()); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::max(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return a;
  }
};

// MaxSecond<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = false, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (-sr::inf<float>()); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::max(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return b;
  }
};

// PlusFirst<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = false, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return a;
  }
};

// PlusSecond<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = false, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return b;
  }
};

// PlusPair<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = false, reads_b = false, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return (1.0f);
  }
};

// PlusTimes<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::add(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::mul(a, b);
    return t0;
  }
};

// MinPlus<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(9223372036854775807ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::add(a, b);
    return t0;
  }
};

// MaxPlus<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(-9223372036854775807ll - 1); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::add(a, b);
    return t0;
  }
};

// MinTimes<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(9223372036854775807ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::mul(a, b);
    return t0;
  }
};

// MaxTimes<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(-9223372036854775807ll - 1); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::mul(a, b);
    return t0;
  }
};

// MinMax<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(9223372036854775807ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
};

// MaxMin<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(-9223372036854775807ll - 1); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
};

// PlusMin<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::add(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
};

// MinFirst<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = false, reads_place = false;
  static __device__ Out zero() { return (long long)(9223372036854775807ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return a;
  }
};

// MinSecond<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(9223372036854775807ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return b;
  }
};

// MaxFirst<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = false, reads_place = false;
  static __device__ Out zero() { return (long long)(-9223372036854775807ll - 1); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return a;
  }
};

// MaxSecond<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(-9223372036854775807ll - 1); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return b;
  }
};

// PlusFirst<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = false, reads_place = false;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::add(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return a;
  }
};

// PlusSecond<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::add(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return b;
  }
};

// PlusPair<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = false;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::add(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return (long long)(1ll);
  }
};

// LogPlus<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (-sr::inf<float>()); }
  static __device__ float add(float a, float b) {
    const bool t0 = sr::eq(a, b);
    const float t1 = sr::add(a, (0.6931472f));
    const float t2 = sr::max(a, b);
    const float t3 = sr::sub(a, b);
    const float t4 = sr::abs(t3);
    const float t5 = sr::neg(t4);
    const float t6 = sr::exp(t5);
    const float t7 = sr::log1p(t6);
    const float t8 = sr::add(t2, t7);
    const float t9 = t0 ? t1 : t8;
    return t9;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::add(a, b);
    return t0;
  }
};

// LogPlus<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (-sr::inf<double>()); }
  static __device__ double add(double a, double b) {
    const bool t0 = sr::eq(a, b);
    const double t1 = sr::add(a, (0.6931471805599453));
    const double t2 = sr::max(a, b);
    const double t3 = sr::sub(a, b);
    const double t4 = sr::abs(t3);
    const double t5 = sr::neg(t4);
    const double t6 = sr::exp(t5);
    const double t7 = sr::log1p(t6);
    const double t8 = sr::add(t2, t7);
    const double t9 = t0 ? t1 : t8;
    return t9;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const double t0 = sr::add(a, b);
    return t0;
  }
};

// BorBand<u8>
struct Ring {
  using A = unsigned char;
  using B = unsigned char;
  using Out = unsigned char;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (unsigned char)(0u); }
  static __device__ unsigned char add(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::bit_or(a, b);
    return t0;
  }
  static __device__ unsigned char mul(unsigned char a, unsigned char b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::bit_and(a, b);
    return t0;
  }
};

// BandBor<u8>
struct Ring {
  using A = unsigned char;
  using B = unsigned char;
  using Out = unsigned char;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (unsigned char)(255u); }
  static __device__ unsigned char add(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::bit_and(a, b);
    return t0;
  }
  static __device__ unsigned char mul(unsigned char a, unsigned char b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::bit_or(a, b);
    return t0;
  }
};

// BxorBand<u8>
struct Ring {
  using A = unsigned char;
  using B = unsigned char;
  using Out = unsigned char;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (unsigned char)(0u); }
  static __device__ unsigned char add(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::bit_xor(a, b);
    return t0;
  }
  static __device__ unsigned char mul(unsigned char a, unsigned char b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::bit_and(a, b);
    return t0;
  }
};

// BxnorBor<u8>
struct Ring {
  using A = unsigned char;
  using B = unsigned char;
  using Out = unsigned char;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (unsigned char)(255u); }
  static __device__ unsigned char add(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::bit_xor(a, b);
    const unsigned char t1 = sr::bit_not(t0);
    return t1;
  }
  static __device__ unsigned char mul(unsigned char a, unsigned char b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::bit_or(a, b);
    return t0;
  }
};

// BorBand<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::bit_or(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::bit_and(a, b);
    return t0;
  }
};

// BandBor<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(-1ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::bit_and(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::bit_or(a, b);
    return t0;
  }
};

// BxorBand<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::bit_xor(a, b);
    return t0;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::bit_and(a, b);
    return t0;
  }
};

// BxnorBor<i64>
struct Ring {
  using A = long long;
  using B = long long;
  using Out = long long;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (long long)(-1ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::bit_xor(a, b);
    const long long t1 = sr::bit_not(t0);
    return t1;
  }
  static __device__ long long mul(long long a, long long b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::bit_or(a, b);
    return t0;
  }
};

// LandLor<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = bool;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return true; }
  static __device__ bool add(bool a, bool b) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_and(t0, t1);
    return t2;
  }
  static __device__ bool mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_or(t0, t1);
    return t2;
  }
};

// LxorLand<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = bool;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return false; }
  static __device__ bool add(bool a, bool b) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_xor(t0, t1);
    return t2;
  }
  static __device__ bool mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_and(t0, t1);
    return t2;
  }
};

// LxnorLor<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = bool;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return true; }
  static __device__ bool add(bool a, bool b) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::eq(t0, t1);
    return t2;
  }
  static __device__ bool mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_or(t0, t1);
    return t2;
  }
};

// LorLand<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = bool;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return false; }
  static __device__ bool add(bool a, bool b) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_or(t0, t1);
    return t2;
  }
  static __device__ bool mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_and(t0, t1);
    return t2;
  }
};

// LorLand<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = bool;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return false; }
  static __device__ bool add(bool a, bool b) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_or(t0, t1);
    return t2;
  }
  static __device__ bool mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const bool t0 = sr::ne(a, (0.0));
    const bool t1 = sr::ne(b, (0.0));
    const bool t2 = sr::bit_and(t0, t1);
    return t2;
  }
};

// AnyPair<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = bool;
  static constexpr bool reads_a = false, reads_b = false, reads_place = false;
  static __device__ Out zero() { return false; }
  static __device__ bool add(bool a, bool b) {
    return b;
  }
  static __device__ bool mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return true;
  }
};

// AnyFirst<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = bool;
  static constexpr bool reads_a = true, reads_b = false, reads_place = false;
  static __device__ Out zero() { return false; }
  static __device__ bool add(bool a, bool b) {
    return b;
  }
  static __device__ bool mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return a;
  }
};

// AnySecond<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = bool;
  static constexpr bool reads_a = false, reads_b = true, reads_place = false;
  static __device__ Out zero() { return false; }
  static __device__ bool add(bool a, bool b) {
    return b;
  }
  static __device__ bool mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return b;
  }
};

// AnyPair<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = false, reads_b = false, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    return b;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return (1.0);
  }
};

// AnyFirst<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = true, reads_b = false, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    return b;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return a;
  }
};

// AnySecond<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = double;
  static constexpr bool reads_a = false, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0); }
  static __device__ double add(double a, double b) {
    return b;
  }
  static __device__ double mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    return b;
  }
};

// AnyFirstI<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(i);
    return t0;
  }
};

// AnySecondI<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    return t0;
  }
};

// AnySecondJ<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    return t0;
  }
};

// MinSecondI<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(9223372036854775807ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    return t0;
  }
};

// MaxSecondI<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(-9223372036854775807ll - 1); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    return t0;
  }
};

// AnyFirstI<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(i);
    return t0;
  }
};

// AnySecondI<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    return t0;
  }
};

// AnySecondJ<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    return t0;
  }
};

// MinSecondI<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(9223372036854775807ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    return t0;
  }
};

// MaxSecondI<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(-9223372036854775807ll - 1); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    return t0;
  }
};

// AnyFirstI1<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(i);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// AnySecondI1<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// AnySecondJ1<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// MinSecondI1<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(9223372036854775807ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// MaxSecondI1<bool>
struct Ring {
  using A = bool;
  using B = bool;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(-9223372036854775807ll - 1); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
  static __device__ long long mul(bool a, bool b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// AnyFirstI1<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(i);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// AnySecondI1<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// AnySecondJ1<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(0ll); }
  static __device__ long long add(long long a, long long b) {
    return b;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// MinSecondI1<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(9223372036854775807ll); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// MaxSecondI1<f64>
struct Ring {
  using A = double;
  using B = double;
  using Out = long long;
  static constexpr bool reads_a = false, reads_b = false, reads_place = true;
  static __device__ Out zero() { return (long long)(-9223372036854775807ll - 1); }
  static __device__ long long add(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }
  static __device__ long long mul(double a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }
};

// Manhattan<f32>
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
    return t0;
  }
};

// SquaredEuclidean<f32>
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
    return t1;
  }
};

// Chebyshev<f32>
struct Ring {
  using A = float;
  using B = float;
  using Out = float;
  static constexpr bool reads_a = true, reads_b = true, reads_place = false;
  static __device__ Out zero() { return (0.0f); }
  static __device__ float add(float a, float b) {
    const float t0 = sr::max(a, b);
    return t0;
  }
  static __device__ float mul(float a, float b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::abs_diff(a, b);
    return t0;
  }
};

// Hamming<f32>
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
    const bool t0 = sr::ne(a, b);
    const float t1 = t0 ? (1.0f) : (0.0f);
    return t1;
  }
};

