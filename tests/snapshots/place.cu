  static __device__ int RowIndex_i32(bool a, int s, unsigned long long i, unsigned long long j) {
    const int t0 = sr::cast<int>(i);
    const int t1 = sr::add(t0, s);
    return t1;
  }

  static __device__ long long RowIndex_i64(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(i);
    const long long t1 = sr::add(t0, s);
    return t1;
  }

  static __device__ long long ColIndex_i64(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const long long t1 = sr::add(t0, s);
    return t1;
  }

  static __device__ long long DiagIndex_i64(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const long long t1 = sr::cast<long long>(i);
    const long long t2 = sr::sub(t0, t1);
    const long long t3 = sr::add(t2, s);
    return t3;
  }

  static __device__ bool Tril_bool(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const long long t1 = sr::cast<long long>(i);
    const long long t2 = sr::sub(t0, t1);
    const bool t3 = sr::le(t2, s);
    return t3;
  }

  static __device__ bool Triu_bool(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const long long t1 = sr::cast<long long>(i);
    const long long t2 = sr::sub(t0, t1);
    const bool t3 = sr::le(s, t2);
    return t3;
  }

  static __device__ bool Diag_bool(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const long long t1 = sr::cast<long long>(i);
    const long long t2 = sr::sub(t0, t1);
    const bool t3 = sr::eq(t2, s);
    return t3;
  }

  static __device__ bool Offdiag_bool(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const long long t1 = sr::cast<long long>(i);
    const long long t2 = sr::sub(t0, t1);
    const bool t3 = sr::ne(t2, s);
    return t3;
  }

  static __device__ bool ColLe_bool(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const bool t1 = sr::le(t0, s);
    return t1;
  }

  static __device__ bool ColGt_bool(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const bool t1 = sr::lt(s, t0);
    return t1;
  }

  static __device__ bool RowLe_bool(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(i);
    const bool t1 = sr::le(t0, s);
    return t1;
  }

  static __device__ bool RowGt_bool(bool a, long long s, unsigned long long i, unsigned long long j) {
    const long long t0 = sr::cast<long long>(i);
    const bool t1 = sr::lt(s, t0);
    return t1;
  }

  static __device__ bool ValueEq_bool(bool a, bool s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::eq(a, s);
    return t0;
  }

  static __device__ bool ValueEq_i64(long long a, long long s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::eq(a, s);
    return t0;
  }

  static __device__ bool ValueEq_u8(unsigned char a, unsigned char s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::eq(a, s);
    return t0;
  }

  static __device__ bool ValueEq_f32(float a, float s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::eq(a, s);
    return t0;
  }

  static __device__ bool ValueNe_bool(bool a, bool s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::ne(a, s);
    return t0;
  }

  static __device__ bool ValueNe_i64(long long a, long long s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::ne(a, s);
    return t0;
  }

  static __device__ bool ValueNe_u8(unsigned char a, unsigned char s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::ne(a, s);
    return t0;
  }

  static __device__ bool ValueNe_f32(float a, float s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::ne(a, s);
    return t0;
  }

  static __device__ bool ValueLt_bool(bool a, bool s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::lt(a, s);
    return t0;
  }

  static __device__ bool ValueLt_i64(long long a, long long s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::lt(a, s);
    return t0;
  }

  static __device__ bool ValueLt_u8(unsigned char a, unsigned char s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::lt(a, s);
    return t0;
  }

  static __device__ bool ValueLt_f32(float a, float s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::lt(a, s);
    return t0;
  }

  static __device__ bool ValueLe_bool(bool a, bool s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::le(a, s);
    return t0;
  }

  static __device__ bool ValueLe_i64(long long a, long long s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::le(a, s);
    return t0;
  }

  static __device__ bool ValueLe_u8(unsigned char a, unsigned char s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::le(a, s);
    return t0;
  }

  static __device__ bool ValueLe_f32(float a, float s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::le(a, s);
    return t0;
  }

  static __device__ bool ValueGt_bool(bool a, bool s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::lt(s, a);
    return t0;
  }

  static __device__ bool ValueGt_i64(long long a, long long s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::lt(s, a);
    return t0;
  }

  static __device__ bool ValueGt_u8(unsigned char a, unsigned char s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::lt(s, a);
    return t0;
  }

  static __device__ bool ValueGt_f32(float a, float s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::lt(s, a);
    return t0;
  }

  static __device__ bool ValueGe_bool(bool a, bool s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::le(s, a);
    return t0;
  }

  static __device__ bool ValueGe_i64(long long a, long long s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::le(s, a);
    return t0;
  }

  static __device__ bool ValueGe_u8(unsigned char a, unsigned char s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::le(s, a);
    return t0;
  }

  static __device__ bool ValueGe_f32(float a, float s, unsigned long long i, unsigned long long j) {
    const bool t0 = sr::le(s, a);
    return t0;
  }

  static __device__ long long FirstI_i64(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(i);
    return t0;
  }

  static __device__ unsigned char FirstI_u8(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::cast<unsigned char>(i);
    return t0;
  }

  static __device__ float FirstI_f32(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::cast<float>(i);
    return t0;
  }

  static __device__ long long SecondI_i64(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    return t0;
  }

  static __device__ unsigned char SecondI_u8(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::cast<unsigned char>(k);
    return t0;
  }

  static __device__ float SecondI_f32(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::cast<float>(k);
    return t0;
  }

  static __device__ long long SecondJ_i64(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    return t0;
  }

  static __device__ unsigned char SecondJ_u8(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::cast<unsigned char>(j);
    return t0;
  }

  static __device__ float SecondJ_f32(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::cast<float>(j);
    return t0;
  }

  static __device__ long long FirstI1_i64(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(i);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }

  static __device__ unsigned char FirstI1_u8(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::cast<unsigned char>(i);
    const unsigned char t1 = sr::add(t0, (unsigned char)(1u));
    return t1;
  }

  static __device__ float FirstI1_f32(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::cast<float>(i);
    const float t1 = sr::add(t0, (1.0f));
    return t1;
  }

  static __device__ long long SecondI1_i64(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(k);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }

  static __device__ unsigned char SecondI1_u8(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::cast<unsigned char>(k);
    const unsigned char t1 = sr::add(t0, (unsigned char)(1u));
    return t1;
  }

  static __device__ float SecondI1_f32(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::cast<float>(k);
    const float t1 = sr::add(t0, (1.0f));
    return t1;
  }

  static __device__ long long SecondJ1_i64(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const long long t0 = sr::cast<long long>(j);
    const long long t1 = sr::add(t0, (long long)(1ll));
    return t1;
  }

  static __device__ unsigned char SecondJ1_u8(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const unsigned char t0 = sr::cast<unsigned char>(j);
    const unsigned char t1 = sr::add(t0, (unsigned char)(1u));
    return t1;
  }

  static __device__ float SecondJ1_f32(bool a, double b, unsigned long long i, unsigned long long k, unsigned long long j) {
    const float t0 = sr::cast<float>(j);
    const float t1 = sr::add(t0, (1.0f));
    return t1;
  }
