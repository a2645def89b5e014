// Lets a plain C++ compiler read device code: for tests/emit.rs alone.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>
#define __device__
inline float __int_as_float(int bits) { float x; std::memcpy(&x, &bits, 4); return x; }
inline double __longlong_as_double(long long bits) { double x; std::memcpy(&x, &bits, 8); return x; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return ::sqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return ::sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }
template <class T> std::vector<T> samples();
inline void show(bool x) { std::puts(x ? "1" : "0"); }
inline void show(long long x) { std::printf("%lld\n", x); }
inline void show(unsigned long long x) { std::printf("%llu\n", x); }
inline void show(signed char x) { show((long long)x); }
inline void show(short x) { show((long long)x); }
inline void show(int x) { show((long long)x); }
inline void show(unsigned char x) { show((unsigned long long)x); }
inline void show(unsigned short x) { show((unsigned long long)x); }
inline void show(unsigned int x) { show((unsigned long long)x); }
inline void show(float x) { unsigned bits; std::memcpy(&bits, &x, 4); if (x != x) std::puts("nan"); else std::printf("%x\n", bits); }
inline void show(double x) { unsigned long long bits; std::memcpy(&bits, &x, 8); if (x != x) std::puts("nan"); else std::printf("%llx\n", bits); }
