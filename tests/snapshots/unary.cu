  static __device__ bool Identity_bool(bool a) {
    return a;
  }

  static __device__ long long Identity_i64(long long a) {
    return a;
  }

  static __device__ unsigned char Identity_u8(unsigned char a) {
    return a;
  }

  static __device__ float Identity_f32(float a) {
    return a;
  }

  static __device__ bool Abs_bool(bool a) {
    const bool t0 = sr::abs(a);
    return t0;
  }

  static __device__ long long Abs_i64(long long a) {
    const long long t0 = sr::abs(a);
    return t0;
  }

  static __device__ unsigned char Abs_u8(unsigned char a) {
    const unsigned char t0 = sr::abs(a);
    return t0;
  }

  static __device__ float Abs_f32(float a) {
    const float t0 = sr::abs(a);
    return t0;
  }

  static __device__ bool Ainv_bool(bool a) {
    const bool t0 = sr::neg(a);
    return t0;
  }

  static __device__ long long Ainv_i64(long long a) {
    const long long t0 = sr::neg(a);
    return t0;
  }

  static __device__ unsigned char Ainv_u8(unsigned char a) {
    const unsigned char t0 = sr::neg(a);
    return t0;
  }

  static __device__ float Ainv_f32(float a) {
    const float t0 = sr::neg(a);
    return t0;
  }

  static __device__ bool Minv_bool(bool a) {
    const bool t0 = sr::div(true, a);
    return t0;
  }

  static __device__ long long Minv_i64(long long a) {
    const long long t0 = sr::div((long long)(1ll), a);
    return t0;
  }

  static __device__ unsigned char Minv_u8(unsigned char a) {
    const unsigned char t0 = sr::div((unsigned char)(1u), a);
    return t0;
  }

  static __device__ float Minv_f32(float a) {
    const float t0 = sr::div((1.0f), a);
    return t0;
  }

  static __device__ bool Lnot_bool(bool a) {
    const bool t0 = sr::eq(a, false);
    return t0;
  }

  static __device__ bool Lnot_i64(long long a) {
    const bool t0 = sr::eq(a, (long long)(0ll));
    return t0;
  }

  static __device__ bool Lnot_u8(unsigned char a) {
    const bool t0 = sr::eq(a, (unsigned char)(0u));
    return t0;
  }

  static __device__ bool Lnot_f32(float a) {
    const bool t0 = sr::eq(a, (0.0f));
    return t0;
  }

  static __device__ bool One_bool(bool a) {
    return true;
  }

  static __device__ long long One_i64(long long a) {
    return (long long)(1ll);
  }

  static __device__ unsigned char One_u8(unsigned char a) {
    return (unsigned char)(1u);
  }

  static __device__ float One_f32(float a) {
    return (1.0f);
  }

  static __device__ bool Square_bool(bool a) {
    const bool t0 = sr::mul(a, a);
    return t0;
  }

  static __device__ long long Square_i64(long long a) {
    const long long t0 = sr::mul(a, a);
    return t0;
  }

  static __device__ unsigned char Square_u8(unsigned char a) {
    const unsigned char t0 = sr::mul(a, a);
    return t0;
  }

  static __device__ float Square_f32(float a) {
    const float t0 = sr::mul(a, a);
    return t0;
  }

  static __device__ bool Bnot_bool(bool a) {
    const bool t0 = sr::bit_not(a);
    return t0;
  }

  static __device__ long long Bnot_i64(long long a) {
    const long long t0 = sr::bit_not(a);
    return t0;
  }

  static __device__ unsigned char Bnot_u8(unsigned char a) {
    const unsigned char t0 = sr::bit_not(a);
    return t0;
  }

  static __device__ float Sqrt_f32(float a) {
    const float t0 = sr::sqrt(a);
    return t0;
  }

  static __device__ float Exp_f32(float a) {
    const float t0 = sr::exp(a);
    return t0;
  }

  static __device__ float Ln_f32(float a) {
    const float t0 = sr::log(a);
    return t0;
  }

  static __device__ float Ln1p_f32(float a) {
    const float t0 = sr::log1p(a);
    return t0;
  }

  static __device__ float Floor_f32(float a) {
    const float t0 = sr::floor(a);
    return t0;
  }

  static __device__ float Ceil_f32(float a) {
    const float t0 = sr::ceil(a);
    return t0;
  }

  static __device__ bool Cast_bool_bool(bool a) {
    const bool t0 = sr::cast<bool>(a);
    return t0;
  }

  static __device__ long long Cast_bool_i64(bool a) {
    const long long t0 = sr::cast<long long>(a);
    return t0;
  }

  static __device__ unsigned char Cast_bool_u8(bool a) {
    const unsigned char t0 = sr::cast<unsigned char>(a);
    return t0;
  }

  static __device__ float Cast_bool_f32(bool a) {
    const float t0 = sr::cast<float>(a);
    return t0;
  }

  static __device__ bool Cast_i64_bool(long long a) {
    const bool t0 = sr::cast<bool>(a);
    return t0;
  }

  static __device__ long long Cast_i64_i64(long long a) {
    const long long t0 = sr::cast<long long>(a);
    return t0;
  }

  static __device__ unsigned char Cast_i64_u8(long long a) {
    const unsigned char t0 = sr::cast<unsigned char>(a);
    return t0;
  }

  static __device__ float Cast_i64_f32(long long a) {
    const float t0 = sr::cast<float>(a);
    return t0;
  }

  static __device__ bool Cast_u8_bool(unsigned char a) {
    const bool t0 = sr::cast<bool>(a);
    return t0;
  }

  static __device__ long long Cast_u8_i64(unsigned char a) {
    const long long t0 = sr::cast<long long>(a);
    return t0;
  }

  static __device__ unsigned char Cast_u8_u8(unsigned char a) {
    const unsigned char t0 = sr::cast<unsigned char>(a);
    return t0;
  }

  static __device__ float Cast_u8_f32(unsigned char a) {
    const float t0 = sr::cast<float>(a);
    return t0;
  }

  static __device__ bool Cast_f32_bool(float a) {
    const bool t0 = sr::cast<bool>(a);
    return t0;
  }

  static __device__ long long Cast_f32_i64(float a) {
    const long long t0 = sr::cast<long long>(a);
    return t0;
  }

  static __device__ unsigned char Cast_f32_u8(float a) {
    const unsigned char t0 = sr::cast<unsigned char>(a);
    return t0;
  }

  static __device__ float Cast_f32_f32(float a) {
    const float t0 = sr::cast<float>(a);
    return t0;
  }
