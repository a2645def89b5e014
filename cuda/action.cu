// action.cu: U = M V on hexahedra of D³ values, M = Bᵀ W B with B the product of one-dimensional bases: U(i₁, i₂, i₃) =
// Σ over q, j of B(q₁,i₁) B(q₂,i₂) B(q₃,i₃) W(q₁,q₂,q₃) B(q₁,j₁) B(q₂,j₂) B(q₃,j₃) V(j₁,j₂,j₃), one index at a time.
// Grid: a block for ELEMENTS elements; a thread has one line at a time of an element along the index that is
// contracted. V and U are read and written by lines along the slowest index, so that neighbouring threads meet
// neighbours; what lies between is in shared memory. Set in front: `Ring`; D, Q; ELEMENTS, THREADS; BOUNDS, what
// `__launch_bounds__` takes; NEAR (pitch of the slowest index of what has D × D behind it), FAR and LINE (those of what
// has Q × D behind it); CHUNK bytes of W are copied at once, runs of W_RUN of its elements W_PITCH apart, W_ALONG read
// at once; OLD (0: U is not read, 1: kept, 2: times β), ALPHA; `scalars` holds α and β. Source: Abdelfattah et al.
// 2016, equation 7; sum factorisation.
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

// This thread's lines of a pass with COUNT lines an element: `work` is told the element and the line.
template <u32 COUNT, class Work> __device__ inline void lines(u32 elements, Work work) {
  constexpr u32 AT_ONCE = THREADS / COUNT;
  const u32 e = threadIdx.x / COUNT, line = threadIdx.x % COUNT;
  if (THREADS % COUNT != 0 && e >= AT_ONCE) return;
#pragma unroll
  for (u32 i = 0; i < ELEMENTS; i += AT_ONCE)
    if (e + i < elements) work(e + i, line);
}

// Σ over FROM values of a line, STEP apart, times B: to points, or with BACK from points. `store` is told each of the
// sums.
template <u32 FROM, u32 TO, u32 STEP, bool BACK, class Store> __device__ inline void pass(const T* from, Store store) {
  T x[FROM];
#pragma unroll
  for (u32 j = 0; j < FROM; ++j) x[j] = from[j * STEP];
#pragma unroll
  for (u32 i = 0; i < TO; ++i) {
    T sum = Ring::zero();
#pragma unroll
    for (u32 j = 0; j < FROM; ++j) sum = Ring::fold(sum, BACK ? basis_at(j, i) : basis_at(i, j), x[j]);
    store(i, sum);
  }
}

BOUNDED_KERNEL(BOUNDS, mass_action, const T* v, const T* w, T* u, u64 count, const T* scalars) {
  extern __shared__ uint4 memory[];
  T* const w_here = reinterpret_cast<T*>(memory);
  T* const near = reinterpret_cast<T*>(memory + (ELEMENTS * W_APART * sizeof(T) + 15) / 16);  // [q₁][j₂][j₃]
  T* const far = near + ELEMENTS * Q * NEAR;                                                  // [q₁][q₂][j₃]
  const u64 first = (u64)blockIdx.x * ELEMENTS;
  const u32 elements = count - first < ELEMENTS ? (u32)(count - first) : ELEMENTS;
  v += first * (D * D * D);
  u += first * (D * D * D);
  fetch<CHUNK, ELEMENTS, Q * Q * Q, W_RUN, W_PITCH, W_APART, false>(w_here, w + first * (Q * Q * Q), 0, elements);
  lines<D * D>(elements, [&](u32 e, u32 line) {
    T* const to = near + e * (Q * NEAR) + line;
    pass<D, Q, D * D, false>(v + e * (D * D * D) + line, [&](u32 q, T sum) { to[q * NEAR] = sum; });
  });
  __syncthreads();
  lines<Q * D>(elements, [&](u32 e, u32 line) {
    T* const to = far + e * (Q * FAR) + line / D * FAR + line % D;
    pass<D, Q, D, false>(near + e * (Q * NEAR) + line / D * NEAR + line % D, [&](u32 q, T sum) { to[q * LINE] = sum; });
  });
  wait_for_copies();
  __syncthreads();
  // There and back along the fastest index, the weights between.
  lines<Q * Q>(elements, [&](u32 e, u32 line) {
    T* const at = far + e * (Q * FAR) + line / Q * FAR + line % Q * LINE;
    const T* const weights = w_here + e * W_APART + line * Q / W_RUN * W_PITCH + line * Q % W_RUN;
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
  });
  __syncthreads();
  lines<Q * D>(elements, [&](u32 e, u32 line) {
    T* const to = near + e * (Q * NEAR) + line / D * NEAR + line % D;
    pass<Q, D, LINE, true>(far + e * (Q * FAR) + line / D * FAR + line % D, [&](u32 i, T sum) { to[i * D] = sum; });
  });
  __syncthreads();
  lines<D * D>(elements, [&](u32 e, u32 line) {
    T* const to = u + e * (D * D * D) + line;
    pass<Q, D, NEAR, true>(near + e * (Q * NEAR) + line, [&](u32 i, T sum) { to[i * D * D] = updated(sum, to + i * D * D, scalars); });
  });
}
}  // namespace kernels
