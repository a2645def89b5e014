// contract.cu: C(b, m, n) = (β ⊗ C) ⊕ (α ⊗ ⊕ₖ A(b, m, k) ⊗ B(b, k, n)) for a batch of small matrices, all sizes but the
// literal. Grid: one block per slab of SLAB members. The slab's parts of A and B are copied to shared memory unchanged
// and reordered when read; with PREFETCH, C is requested before they arrive. A thread folds ROWS × COLS values of C in
// registers, from the identity of ⊕ and in the order of k. Defined by the host: `Ring`; M, K; TX × TY threads per
// member, which take ROWS rows TY apart and VECS groups, TX · VEC apart, of VEC neighboring columns; THREADS = GROUP ·
// TX · TY, TURNS (SLAB = GROUP · TURNS); BOUNDS (arguments of `__launch_bounds__`); OLD (0: C is not read, 1: retained,
// 2: times β), ALPHA; `scalars` holds α and β. For A: A_CHUNK, bytes per copy; A_SIZE, elements per member; A_RUN,
// A_PITCH and A_APART as in slab.cuh; A_ONE, one member for all; A_GAPS; A_ALONG, vector width along k; element (m, k)
// is at a_m(m) + a_k(k) in shared memory. For B the same, with element (k, n) at b_k(k) + b_n(n), and B_ACROSS, the
// vector width along n. Element (m, n) of C is at c_m(m) + c_n(n). Source: Abdelfattah et al. 2016, Figure 2:
// reordering in the read phase, several members per block, C prefetched. Tried on an H200: persistent blocks that
// prefetch slabs one to three ahead. Lost by 1 to 10 % for every size from 2 to 32, because other resident blocks
// already hide the latency.
#include "slab.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::Out T;
// ⊗ without positions.
__device__ inline T times(T a, T b) { return Ring::mul(a, b, 0, 0, 0); }
constexpr u32 COLS = VEC * VECS, SLAB = GROUP * TURNS, STEP = A_ALONG > B_ALONG ? A_ALONG : B_ALONG;
constexpr u32 A_MEMBERS = A_ONE ? 1 : SLAB, B_MEMBERS = B_ONE ? 1 : SLAB;

// The rows and columns of a thread. Out-of-range rows read the last row and are not stored.
struct Place {
  u32 x, y, member;
  __device__ Place() : x(threadIdx.x % TX), y(threadIdx.x / TX % TY), member(threadIdx.x / (TX * TY)) {}
  __device__ bool has(u32 i) const { return M % TY == 0 && i < M / TY || y + i * TY < M; }
  __device__ u32 row(u32 i) const { return has(i) ? y + i * TY : M - 1; }
  __device__ u32 column(u32 v) const { return (x + v * TX) * VEC; }
};

__device__ inline void multiply(const Place& place, const T* a, const T* b, T (&sum)[ROWS][COLS]) {
#pragma unroll(K / STEP <= 8 ? K / STEP : 4)
  for (u32 k = 0; k < K; k += STEP) {
    T x[ROWS][STEP], y[COLS][STEP];
#pragma unroll
    for (u32 i = 0; i < ROWS; ++i)
#pragma unroll
      for (u32 d = 0; d < STEP; d += A_ALONG) read<A_ALONG>(a + a_m(place.row(i)) + a_k(k + d), &x[i][d]);
#pragma unroll
    for (u32 j = 0; j < COLS; j += B_ACROSS) {
      const u32 column = place.column(j / VEC) + j % VEC;
#pragma unroll
      for (u32 d = 0; d < STEP; d += B_ALONG) {
        T some[B_ALONG * B_ACROSS];  // one of the two factors is 1
        read<B_ALONG * B_ACROSS>(b + b_n(column) + b_k(k + d), some);
#pragma unroll
        for (u32 i = 0; i < B_ACROSS; ++i)
#pragma unroll
          for (u32 l = 0; l < B_ALONG; ++l) y[j + i][d + l] = some[i + l];
      }
    }
#pragma unroll
    for (u32 d = 0; d < STEP; ++d)
#pragma unroll
      for (u32 i = 0; i < ROWS; ++i)
#pragma unroll
        for (u32 j = 0; j < COLS; ++j) sum[i][j] = Ring::fold(sum[i][j], x[i][d], y[j][d]);
  }
}

BOUNDED_KERNEL(BOUNDS, contract, const T* a, const T* b, T* c, u64 a_stride, u64 b_stride, u64 c_stride, u64 count,
                              const T* scalars) {
  extern __shared__ uint4 memory[];
  T* const a_here = reinterpret_cast<T*>(memory);
  T* const b_here = reinterpret_cast<T*>(memory + (A_MEMBERS * A_APART * sizeof(T) + 15) / 16);
  const Place place;
  const u64 first = (u64)blockIdx.x * SLAB;
  const u32 members = count - first < SLAB ? (u32)(count - first) : SLAB;
  fetch<A_CHUNK, A_MEMBERS, A_SIZE, A_RUN, A_PITCH, A_APART, A_GAPS>(a_here, a + first * a_stride, a_stride, A_ONE ? 1 : members);
  fetch<B_CHUNK, B_MEMBERS, B_SIZE, B_RUN, B_PITCH, B_APART, B_GAPS>(b_here, b + first * b_stride, b_stride, B_ONE ? 1 : members);
  const auto target = [&](u32 member, u32 i, u32 v) {
    return c + (first + member) * c_stride + c_m(place.row(i)) + c_n(place.column(v));
  };
  T old[TURNS][ROWS][COLS];
  const auto ask = [&](u32 t) {
#pragma unroll
    for (u32 i = 0; i < ROWS; ++i)
#pragma unroll
      for (u32 v = 0; v < VECS; ++v)
        if (place.member + t * GROUP < members && place.has(i)) read<VEC>(target(place.member + t * GROUP, i, v), &old[t][i][v * VEC]);
  };
  if constexpr (OLD > 0 && PREFETCH) {
#pragma unroll
    for (u32 t = 0; t < TURNS; ++t) ask(t);
  }
  wait_for_copies();
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < TURNS; ++t) {
    const u32 member = place.member + t * GROUP;
    if (member >= members) return;
    T sum[ROWS][COLS];
#pragma unroll
    for (u32 i = 0; i < ROWS; ++i)
#pragma unroll
      for (u32 j = 0; j < COLS; ++j) sum[i][j] = Ring::zero();
    multiply(place, a_here + (A_ONE ? 0 : member * A_APART), b_here + (B_ONE ? 0 : member * B_APART), sum);
    if constexpr (OLD > 0 && !PREFETCH) ask(t);
#pragma unroll
    for (u32 i = 0; i < ROWS; ++i)
#pragma unroll
      for (u32 v = 0; v < VECS; ++v) {
        Vec<T, VEC> z;
#pragma unroll
        for (u32 j = 0; j < VEC; ++j) {
          T value = sum[i][v * VEC + j];
#ifdef ALPHA
          value = times(scalars[0], value);
#endif
          if constexpr (OLD == 1) value = Ring::add(old[t][i][v * VEC + j], value);
          if constexpr (OLD == 2) value = Ring::add(times(scalars[1], old[t][i][v * VEC + j]), value);
          z.of[j] = value;
        }
        if (place.has(i)) *reinterpret_cast<Vec<T, VEC>*>(target(member, i, v)) = z;
      }
  }
}
}  // namespace kernels
