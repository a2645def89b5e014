// slab.cuh: copies members of a batch of small tensors to shared memory, unchanged, in vectors. The host defines
// THREADS. Source: PTX ISA, cp.async.
#pragma once
#include "parts.cuh"

template <class T, u32 N> struct alignas(sizeof(T) * N) Vec {
  T of[N];
};
template <class T> struct Vec<T, 1> {
  T of[1];
};
// Reads N values as one vector, from an address aligned for it.
template <u32 N, class T> __device__ inline void read(const T* p, T* to) {
  const Vec<T, N> v = *reinterpret_cast<const Vec<T, N>*>(p);
#pragma unroll
  for (u32 i = 0; i < N; ++i) to[i] = v.of[i];
}

// Starts an asynchronous copy of BYTES bytes, of which `valid` are read.
template <u32 BYTES, class T> __device__ inline void copy_async(T* to, const T* from, u32 valid) {
  const u32 at = (u32)__cvta_generic_to_shared(to);
  if constexpr (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(valid) : "memory");
  else if constexpr (BYTES == 4 || BYTES == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(at), "l"(from), "r"(valid), "n"(BYTES) : "memory");
  else
    *to = *from;  // a single value
}
// Waits for this thread's copies; those of others are complete after the next barrier.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Starts copies of members of SIZE elements, CHUNK bytes each. In shared memory, members are APART apart, and runs of
// RUN elements PITCH apart; in the array, members are consecutive, or with GAPS `stride` apart. MOST: upper bound on
// `members`.
template <u32 CHUNK, u32 MOST, u32 SIZE, u32 RUN, u32 PITCH, u32 APART, bool GAPS, class T>
__device__ inline void fetch(T* to, const T* from, u64 stride, u32 members) {
  constexpr u32 EACH = CHUNK / sizeof(T);
  const u32 elements = members * SIZE;
#pragma unroll(MOST* SIZE / EACH / THREADS < 8 ? MOST * SIZE / EACH / THREADS + 1 : 4)
  for (u32 i = 0; i < (MOST * SIZE + EACH - 1) / EACH; i += THREADS) {
    const u32 e = (i + threadIdx.x) * EACH;
    if (e < elements) {
      const u32 left = elements - e;
      copy_async<CHUNK>(to + e / SIZE * APART + e % SIZE / RUN * PITCH + e % RUN, GAPS ? from + e / SIZE * stride + e % SIZE : from + e,
                        (left < EACH ? left : EACH) * (u32)sizeof(T));
    }
  }
}
