// action.cu: U = M V on hexahedra of D³ values, M = Bᵀ W B with B the product of one-dimensional bases: U(i₁, i₂, i₃) =
// Σ over q, j of B(q₁,i₁) B(q₂,i₂) B(q₃,i₃) W(q₁,q₂,q₃) B(q₁,j₁) B(q₂,j₂) B(q₃,j₃) V(j₁,j₂,j₃), one index at a time.
// Grid: one block per ELEMENTS elements; a thread handles one line of an element at a time, along the contracted index.
// V and U are accessed by lines along the slowest index, so that neighboring threads access neighboring values;
// intermediate results are in shared memory. Defined by the host: `Ring`; D, Q; ELEMENTS, THREADS; BOUNDS (arguments of
// `__launch_bounds__`); NEAR (pitch of the slowest index of the D × D intermediate), FAR and LINE (pitches of the Q × D
// intermediate); CHUNK (bytes of W per copy), W_RUN and W_PITCH (length and pitch of the runs of W), W_ALONG (its
// vector width); OLD (0: U is not read, 1: retained, 2: times β), ALPHA; `scalars` holds α and β. Source: Abdelfattah
// et al. 2016, equation 7; sum factorization.
#include "slab.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::Out T;
// ⊗ without positions.
__device__ inline T times(T a, T b) { return Ring::mul(a, b, 0, 0, 0); }
// B: all threads read the same elements, at compile-time offsets, so a read is a free operand of an instruction.
extern "C" {
__constant__ T basis[Q * D];
}
__device__ inline T basis_at(u32 q, u32 i) { return basis[q * D + i]; }
constexpr u32 W_APART = Q * Q * Q / W_RUN * W_PITCH;

// The updated value of U.
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

// Calls `work(element, line)` for this thread's lines of a pass with COUNT lines per element.
template <u32 COUNT, class Work> __device__ inline void lines(u32 elements, Work work) {
  constexpr u32 AT_ONCE = THREADS / COUNT;
  const u32 e = threadIdx.x / COUNT, line = threadIdx.x % COUNT;
  if (THREADS % COUNT != 0 && e >= AT_ONCE) return;
#pragma unroll
  for (u32 i = 0; i < ELEMENTS; i += AT_ONCE)
    if (e + i < elements) work(e + i, line);
}

// Σ over the FROM values of a line, STEP apart, times B: to quadrature points, or with BACK from them. Each sum is
// passed to `store`.
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
  // Forward and back along the fastest index, with the weights in between.
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
