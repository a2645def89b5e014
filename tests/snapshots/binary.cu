  static __device__ bool Plus_bool(bool a, bool b) {
    const bool t0 = sr::add(a, b);
    return t0;
  }

  static __device__ long long Plus_i64(long long a, long long b) {
    const long long t0 = sr::add(a, b);
    return t0;
  }

  static __device__ unsigned char Plus_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::add(a, b);
    return t0;
  }

  static __device__ float Plus_f32(float a, float b) {
    const float t0 = sr::add(a, b);
    return t0;
  }

  static __device__ bool Minus_bool(bool a, bool b) {
    const bool t0 = sr::sub(a, b);
    return t0;
  }

  static __device__ long long Minus_i64(long long a, long long b) {
    const long long t0 = sr::sub(a, b);
    return t0;
  }

  static __device__ unsigned char Minus_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::sub(a, b);
    return t0;
  }

  static __device__ float Minus_f32(float a, float b) {
    const float t0 = sr::sub(a, b);
    return t0;
  }

  static __device__ bool ReverseMinus_bool(bool a, bool b) {
    const bool t0 = sr::sub(b, a);
    return t0;
  }

  static __device__ long long ReverseMinus_i64(long long a, long long b) {
    const long long t0 = sr::sub(b, a);
    return t0;
  }

  static __device__ unsigned char ReverseMinus_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::sub(b, a);
    return t0;
  }

  static __device__ float ReverseMinus_f32(float a, float b) {
    const float t0 = sr::sub(b, a);
    return t0;
  }

  static __device__ bool Times_bool(bool a, bool b) {
    const bool t0 = sr::mul(a, b);
    return t0;
  }

  static __device__ long long Times_i64(long long a, long long b) {
    const long long t0 = sr::mul(a, b);
    return t0;
  }

  static __device__ unsigned char Times_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::mul(a, b);
    return t0;
  }

  static __device__ float Times_f32(float a, float b) {
    const float t0 = sr::mul(a, b);
    return t0;
  }

  static __device__ bool Div_bool(bool a, bool b) {
    const bool t0 = sr::div(a, b);
    return t0;
  }

  static __device__ long long Div_i64(long long a, long long b) {
    const long long t0 = sr::div(a, b);
    return t0;
  }

  static __device__ unsigned char Div_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::div(a, b);
    return t0;
  }

  static __device__ float Div_f32(float a, float b) {
    const float t0 = sr::div(a, b);
    return t0;
  }

  static __device__ bool ReverseDiv_bool(bool a, bool b) {
    const bool t0 = sr::div(b, a);
    return t0;
  }

  static __device__ long long ReverseDiv_i64(long long a, long long b) {
    const long long t0 = sr::div(b, a);
    return t0;
  }

  static __device__ unsigned char ReverseDiv_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::div(b, a);
    return t0;
  }

  static __device__ float ReverseDiv_f32(float a, float b) {
    const float t0 = sr::div(b, a);
    return t0;
  }

  static __device__ bool Min_bool(bool a, bool b) {
    const bool t0 = sr::min(a, b);
    return t0;
  }

  static __device__ long long Min_i64(long long a, long long b) {
    const long long t0 = sr::min(a, b);
    return t0;
  }

  static __device__ unsigned char Min_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::min(a, b);
    return t0;
  }

  static __device__ float Min_f32(float a, float b) {
    const float t0 = sr::min(a, b);
    return t0;
  }

  static __device__ bool Max_bool(bool a, bool b) {
    const bool t0 = sr::max(a, b);
    return t0;
  }

  static __device__ long long Max_i64(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }

  static __device__ unsigned char Max_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::max(a, b);
    return t0;
  }

  static __device__ float Max_f32(float a, float b) {
    const float t0 = sr::max(a, b);
    return t0;
  }

  static __device__ bool First_bool(bool a, bool b) {
    return a;
  }

  static __device__ long long First_i64(long long a, long long b) {
    return a;
  }

  static __device__ unsigned char First_u8(unsigned char a, unsigned char b) {
    return a;
  }

  static __device__ float First_f32(float a, float b) {
    return a;
  }

  static __device__ bool Second_bool(bool a, bool b) {
    return b;
  }

  static __device__ long long Second_i64(long long a, long long b) {
    return b;
  }

  static __device__ unsigned char Second_u8(unsigned char a, unsigned char b) {
    return b;
  }

  static __device__ float Second_f32(float a, float b) {
    return b;
  }

  static __device__ bool Pair_bool(bool a, bool b) {
    return true;
  }

  static __device__ long long Pair_i64(long long a, long long b) {
    return (long long)(1ll);
  }

  static __device__ unsigned char Pair_u8(unsigned char a, unsigned char b) {
    return (unsigned char)(1u);
  }

  static __device__ float Pair_f32(float a, float b) {
    return (1.0f);
  }

  static __device__ bool Any_bool(bool a, bool b) {
    return b;
  }

  static __device__ long long Any_i64(long long a, long long b) {
    return b;
  }

  static __device__ unsigned char Any_u8(unsigned char a, unsigned char b) {
    return b;
  }

  static __device__ float Any_f32(float a, float b) {
    return b;
  }

  static __device__ bool AbsDiff_bool(bool a, bool b) {
    const bool t0 = sr::abs_diff(a, b);
    return t0;
  }

  static __device__ long long AbsDiff_i64(long long a, long long b) {
    const long long t0 = sr::abs_diff(a, b);
    return t0;
  }

  static __device__ unsigned char AbsDiff_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::abs_diff(a, b);
    return t0;
  }

  static __device__ float AbsDiff_f32(float a, float b) {
    const float t0 = sr::abs_diff(a, b);
    return t0;
  }

  static __device__ bool SquaredDiff_bool(bool a, bool b) {
    const bool t0 = sr::abs_diff(a, b);
    const bool t1 = sr::mul(t0, t0);
    return t1;
  }

  static __device__ long long SquaredDiff_i64(long long a, long long b) {
    const long long t0 = sr::abs_diff(a, b);
    const long long t1 = sr::mul(t0, t0);
    return t1;
  }

  static __device__ unsigned char SquaredDiff_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::abs_diff(a, b);
    const unsigned char t1 = sr::mul(t0, t0);
    return t1;
  }

  static __device__ float SquaredDiff_f32(float a, float b) {
    const float t0 = sr::abs_diff(a, b);
    const float t1 = sr::mul(t0, t0);
    return t1;
  }

  static __device__ bool Mismatch_bool(bool a, bool b) {
    const bool t0 = sr::ne(a, b);
    const bool t1 = t0 ? true : false;
    return t1;
  }

  static __device__ long long Mismatch_i64(long long a, long long b) {
    const bool t0 = sr::ne(a, b);
    const long long t1 = t0 ? (long long)(1ll) : (long long)(0ll);
    return t1;
  }

  static __device__ unsigned char Mismatch_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::ne(a, b);
    const unsigned char t1 = t0 ? (unsigned char)(1u) : (unsigned char)(0u);
    return t1;
  }

  static __device__ float Mismatch_f32(float a, float b) {
    const bool t0 = sr::ne(a, b);
    const float t1 = t0 ? (1.0f) : (0.0f);
    return t1;
  }

  static __device__ bool Equal_bool(bool a, bool b) {
    const bool t0 = sr::eq(a, b);
    return t0;
  }

  static __device__ bool Equal_i64(long long a, long long b) {
    const bool t0 = sr::eq(a, b);
    return t0;
  }

  static __device__ bool Equal_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::eq(a, b);
    return t0;
  }

  static __device__ bool Equal_f32(float a, float b) {
    const bool t0 = sr::eq(a, b);
    return t0;
  }

  static __device__ bool NotEqual_bool(bool a, bool b) {
    const bool t0 = sr::ne(a, b);
    return t0;
  }

  static __device__ bool NotEqual_i64(long long a, long long b) {
    const bool t0 = sr::ne(a, b);
    return t0;
  }

  static __device__ bool NotEqual_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::ne(a, b);
    return t0;
  }

  static __device__ bool NotEqual_f32(float a, float b) {
    const bool t0 = sr::ne(a, b);
    return t0;
  }

  static __device__ bool Greater_bool(bool a, bool b) {
    const bool t0 = sr::lt(b, a);
    return t0;
  }

  static __device__ bool Greater_i64(long long a, long long b) {
    const bool t0 = sr::lt(b, a);
    return t0;
  }

  static __device__ bool Greater_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::lt(b, a);
    return t0;
  }

  static __device__ bool Greater_f32(float a, float b) {
    const bool t0 = sr::lt(b, a);
    return t0;
  }

  static __device__ bool Less_bool(bool a, bool b) {
    const bool t0 = sr::lt(a, b);
    return t0;
  }

  static __device__ bool Less_i64(long long a, long long b) {
    const bool t0 = sr::lt(a, b);
    return t0;
  }

  static __device__ bool Less_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::lt(a, b);
    return t0;
  }

  static __device__ bool Less_f32(float a, float b) {
    const bool t0 = sr::lt(a, b);
    return t0;
  }

  static __device__ bool GreaterEqual_bool(bool a, bool b) {
    const bool t0 = sr::le(b, a);
    return t0;
  }

  static __device__ bool GreaterEqual_i64(long long a, long long b) {
    const bool t0 = sr::le(b, a);
    return t0;
  }

  static __device__ bool GreaterEqual_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::le(b, a);
    return t0;
  }

  static __device__ bool GreaterEqual_f32(float a, float b) {
    const bool t0 = sr::le(b, a);
    return t0;
  }

  static __device__ bool LessEqual_bool(bool a, bool b) {
    const bool t0 = sr::le(a, b);
    return t0;
  }

  static __device__ bool LessEqual_i64(long long a, long long b) {
    const bool t0 = sr::le(a, b);
    return t0;
  }

  static __device__ bool LessEqual_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::le(a, b);
    return t0;
  }

  static __device__ bool LessEqual_f32(float a, float b) {
    const bool t0 = sr::le(a, b);
    return t0;
  }

  static __device__ bool Lor_bool(bool a, bool b) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_or(t0, t1);
    return t2;
  }

  static __device__ bool Lor_i64(long long a, long long b) {
    const bool t0 = sr::ne(a, (long long)(0ll));
    const bool t1 = sr::ne(b, (long long)(0ll));
    const bool t2 = sr::bit_or(t0, t1);
    return t2;
  }

  static __device__ bool Lor_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::ne(a, (unsigned char)(0u));
    const bool t1 = sr::ne(b, (unsigned char)(0u));
    const bool t2 = sr::bit_or(t0, t1);
    return t2;
  }

  static __device__ bool Lor_f32(float a, float b) {
    const bool t0 = sr::ne(a, (0.0f));
    const bool t1 = sr::ne(b, (0.0f));
    const bool t2 = sr::bit_or(t0, t1);
    return t2;
  }

  static __device__ bool Land_bool(bool a, bool b) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_and(t0, t1);
    return t2;
  }

  static __device__ bool Land_i64(long long a, long long b) {
    const bool t0 = sr::ne(a, (long long)(0ll));
    const bool t1 = sr::ne(b, (long long)(0ll));
    const bool t2 = sr::bit_and(t0, t1);
    return t2;
  }

  static __device__ bool Land_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::ne(a, (unsigned char)(0u));
    const bool t1 = sr::ne(b, (unsigned char)(0u));
    const bool t2 = sr::bit_and(t0, t1);
    return t2;
  }

  static __device__ bool Land_f32(float a, float b) {
    const bool t0 = sr::ne(a, (0.0f));
    const bool t1 = sr::ne(b, (0.0f));
    const bool t2 = sr::bit_and(t0, t1);
    return t2;
  }

  static __device__ bool Lxor_bool(bool a, bool b) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::bit_xor(t0, t1);
    return t2;
  }

  static __device__ bool Lxor_i64(long long a, long long b) {
    const bool t0 = sr::ne(a, (long long)(0ll));
    const bool t1 = sr::ne(b, (long long)(0ll));
    const bool t2 = sr::bit_xor(t0, t1);
    return t2;
  }

  static __device__ bool Lxor_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::ne(a, (unsigned char)(0u));
    const bool t1 = sr::ne(b, (unsigned char)(0u));
    const bool t2 = sr::bit_xor(t0, t1);
    return t2;
  }

  static __device__ bool Lxor_f32(float a, float b) {
    const bool t0 = sr::ne(a, (0.0f));
    const bool t1 = sr::ne(b, (0.0f));
    const bool t2 = sr::bit_xor(t0, t1);
    return t2;
  }

  static __device__ bool Lxnor_bool(bool a, bool b) {
    const bool t0 = sr::ne(a, false);
    const bool t1 = sr::ne(b, false);
    const bool t2 = sr::eq(t0, t1);
    return t2;
  }

  static __device__ bool Lxnor_i64(long long a, long long b) {
    const bool t0 = sr::ne(a, (long long)(0ll));
    const bool t1 = sr::ne(b, (long long)(0ll));
    const bool t2 = sr::eq(t0, t1);
    return t2;
  }

  static __device__ bool Lxnor_u8(unsigned char a, unsigned char b) {
    const bool t0 = sr::ne(a, (unsigned char)(0u));
    const bool t1 = sr::ne(b, (unsigned char)(0u));
    const bool t2 = sr::eq(t0, t1);
    return t2;
  }

  static __device__ bool Lxnor_f32(float a, float b) {
    const bool t0 = sr::ne(a, (0.0f));
    const bool t1 = sr::ne(b, (0.0f));
    const bool t2 = sr::eq(t0, t1);
    return t2;
  }

  static __device__ bool MaxFromZero_bool(bool a, bool b) {
    const bool t0 = sr::max(a, b);
    return t0;
  }

  static __device__ long long MaxFromZero_i64(long long a, long long b) {
    const long long t0 = sr::max(a, b);
    return t0;
  }

  static __device__ unsigned char MaxFromZero_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::max(a, b);
    return t0;
  }

  static __device__ float MaxFromZero_f32(float a, float b) {
    const float t0 = sr::max(a, b);
    return t0;
  }

  static __device__ bool AndNot_bool(bool a, bool b) {
    const bool t0 = sr::bit_not(b);
    const bool t1 = sr::bit_and(a, t0);
    return t1;
  }

  static __device__ long long AndNot_i64(long long a, long long b) {
    const long long t0 = sr::bit_not(b);
    const long long t1 = sr::bit_and(a, t0);
    return t1;
  }

  static __device__ unsigned char AndNot_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::bit_not(b);
    const unsigned char t1 = sr::bit_and(a, t0);
    return t1;
  }

  static __device__ long long Bor_i64(long long a, long long b) {
    const long long t0 = sr::bit_or(a, b);
    return t0;
  }

  static __device__ unsigned char Bor_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::bit_or(a, b);
    return t0;
  }

  static __device__ long long Band_i64(long long a, long long b) {
    const long long t0 = sr::bit_and(a, b);
    return t0;
  }

  static __device__ unsigned char Band_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::bit_and(a, b);
    return t0;
  }

  static __device__ long long Bxor_i64(long long a, long long b) {
    const long long t0 = sr::bit_xor(a, b);
    return t0;
  }

  static __device__ unsigned char Bxor_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::bit_xor(a, b);
    return t0;
  }

  static __device__ long long Bxnor_i64(long long a, long long b) {
    const long long t0 = sr::bit_xor(a, b);
    const long long t1 = sr::bit_not(t0);
    return t1;
  }

  static __device__ unsigned char Bxnor_u8(unsigned char a, unsigned char b) {
    const unsigned char t0 = sr::bit_xor(a, b);
    const unsigned char t1 = sr::bit_not(t0);
    return t1;
  }

  static __device__ float Pow_f32(float a, float b) {
    const float t0 = sr::pow(a, b);
    return t0;
  }

  static __device__ float LogAddExp_f32(float a, float b) {
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
