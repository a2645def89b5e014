// action.cu: U = M V on hexahedra of D³ values, M = Bᵀ W B with B the product of one-dimensional bases:
// U(i₁, i₂, i₃) = Σ over q, j of B(q₁,i₁) B(q₂,i₂) B(q₃,i₃) W(q₁,q₂,q₃) B(q₁,j₁) B(q₂,j₂) B(q₃,j₃) V(j₁,j₂,j₃), one index at a time.
// Grid: a block for ELEMENTS elements; a thread has one line of an element along the index that is contracted. V and U are read and
// written by lines along the slowest index, so that neighbouring threads meet neighbours; what lies between is in shared memory.
// Set in front: `Ring`; D, Q; ELEMENTS, THREADS; NEAR (pitch of the slowest index of what has D × D behind it), FAR and LINE (those of
// what has Q × D behind it); CHUNK bytes of W are copied at once, runs of W_RUN of its elements W_PITCH apart, W_ALONG read at once;
// OLD (0: U is not read, 1: kept, 2: times β), ALPHA; `scalars` holds α and β.
// Source: Abdelfattah et al. 2016, equation 7; sum factorisation.
#include "slab.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::Out T;
// ⊗, which is told no places here.
__device__ inline T times(T a, T b) { return Ring::mul(a, b, 0, 0, 0); }
// B: every thread reads the same of it, at places that are literal: an operand of an instruction, which costs nothing.
extern "C" {
__constant__ T basis[Q * D];
}
__device__ inline T basis_at(u32 q, u32 i) { return basis[q * D + i]; }
constexpr u32 W_APART = Q * Q * Q / W_RUN * W_PITCH;

// What becomes of a value of U.
__device__ inline T updated(T sum, const T* old, const T* scalars) {
#ifdef ALPHA
  sum = times(scalars[0], sum);
#endif
#if OLD == 1
  sum = Ring::add(*old, sum);
#elif OLD == 2
  sum = Ring::add(times(scalars[1], *old), sum);
#endif
  return sum;
}

// What a thread has of a step with COUNT lines an element: line `of` of element `e`, if there is one.
template <u32 COUNT> struct Line {
  u32 e, of;
  __device__ Line() : e(threadIdx.x / COUNT), of(threadIdx.x % COUNT) {}
};

BOUNDED_KERNEL((THREADS), mass_action, const T* v, const T* w, T* u, u64 count, const T* scalars) {
  extern __shared__ uint4 memory[];
  T* const w_here = reinterpret_cast<T*>(memory);
  T* const near = reinterpret_cast<T*>(memory + (ELEMENTS * W_APART * sizeof(T) + 15) / 16);  // [q₁][j₂][j₃]
  T* const far = near + ELEMENTS * Q * NEAR;                                                  // [q₁][q₂][j₃]
  const u64 first = (u64)blockIdx.x * ELEMENTS;
  const u32 elements = count - first < ELEMENTS ? (u32)(count - first) : ELEMENTS;
  fetch<CHUNK, ELEMENTS, Q * Q * Q, W_RUN, W_PITCH, W_APART, false>(w_here, w + first * (Q * Q * Q), 0, elements);
  {
    const Line<D * D> line;
    if (line.e < elements) {
      const T* const from = v + (first + line.e) * (D * D * D) + line.of;
      T* const to = near + line.e * (Q * NEAR) + line.of;
      T x[D];
#pragma unroll
      for (u32 j = 0; j < D; ++j) x[j] = from[j * D * D];
#pragma unroll
      for (u32 q = 0; q < Q; ++q) {
        T sum = Ring::zero();
#pragma unroll
        for (u32 j = 0; j < D; ++j) sum = Ring::fold(sum, basis_at(q, j), x[j]);
        to[q * NEAR] = sum;
      }
    }
  }
  __syncthreads();
  {
    const Line<Q * D> line;
    if (line.e < elements) {
      const T* const from = near + line.e * (Q * NEAR) + line.of / D * NEAR + line.of % D;
      T* const to = far + line.e * (Q * FAR) + line.of / D * FAR + line.of % D;
      T x[D];
#pragma unroll
      for (u32 j = 0; j < D; ++j) x[j] = from[j * D];
#pragma unroll
      for (u32 q = 0; q < Q; ++q) {
        T sum = Ring::zero();
#pragma unroll
        for (u32 j = 0; j < D; ++j) sum = Ring::fold(sum, basis_at(q, j), x[j]);
        to[q * LINE] = sum;
      }
    }
  }
  wait_for_copies();
  __syncthreads();
  {
    const Line<Q * Q> line;
    if (line.e < elements) {
      T* const at = far + line.e * (Q * FAR) + line.of / Q * FAR + line.of % Q * LINE;
      const T* const weights = w_here + line.e * W_APART + line.of * Q / W_RUN * W_PITCH + line.of * Q % W_RUN;
      T x[D], sum[D];
#pragma unroll
      for (u32 j = 0; j < D; ++j) x[j] = at[j], sum[j] = Ring::zero();
#pragma unroll
      for (u32 q = 0; q < Q; q += W_ALONG) {
        T weight[W_ALONG];
        read<W_ALONG>(weights + q, weight);
#pragma unroll
        for (u32 l = 0; l < W_ALONG; ++l) {
          T value = Ring::zero();
#pragma unroll
          for (u32 j = 0; j < D; ++j) value = Ring::fold(value, basis_at(q + l, j), x[j]);
          value = times(weight[l], value);
#pragma unroll
          for (u32 i = 0; i < D; ++i) sum[i] = Ring::fold(sum[i], basis_at(q + l, i), value);
        }
      }
#pragma unroll
      for (u32 i = 0; i < D; ++i) at[i] = sum[i];
    }
  }
  __syncthreads();
  {
    const Line<Q * D> line;
    if (line.e < elements) {
      const T* const from = far + line.e * (Q * FAR) + line.of / D * FAR + line.of % D;
      T* const to = near + line.e * (Q * NEAR) + line.of / D * NEAR + line.of % D;
      T x[Q];
#pragma unroll
      for (u32 q = 0; q < Q; ++q) x[q] = from[q * LINE];
#pragma unroll
      for (u32 i = 0; i < D; ++i) {
        T sum = Ring::zero();
#pragma unroll
        for (u32 q = 0; q < Q; ++q) sum = Ring::fold(sum, basis_at(q, i), x[q]);
        to[i * D] = sum;
      }
    }
  }
  __syncthreads();
  {
    const Line<D * D> line;
    if (line.e < elements) {
      const T* const from = near + line.e * (Q * NEAR) + line.of;
      T* const to = u + (first + line.e) * (D * D * D) + line.of;
      T x[Q];
#pragma unroll
      for (u32 q = 0; q < Q; ++q) x[q] = from[q * NEAR];
#pragma unroll
      for (u32 i = 0; i < D; ++i) {
        T sum = Ring::zero();
#pragma unroll
        for (u32 q = 0; q < Q; ++q) sum = Ring::fold(sum, basis_at(q, i), x[q]);
        to[i * D * D] = updated(sum, to + i * D * D, scalars);
      }
    }
  }
}
}  // namespace kernels
