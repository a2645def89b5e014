// tiles.cu: C(i, j) = (β ⊗ C(i, j)) ⊕ (α ⊗ ⊕ₖ A(i, k) ⊗ B(k, j)) for large matrices of any strides, and batches of
// them. A block computes a tile of C of 16 · EACH rows and columns, a thread EACH × EACH of its elements; panels of
// DEEP terms of A and B are in shared memory while the next ones are in flight. Each element is one chain in the order
// of k. Defined by the host: `Ring`, `EACH`; `A_ALONG_K`, `B_ALONG_K`: the operand is contiguous along k.
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::Out T;
// ⊗ without positions.
__device__ inline T times(T a, T b) { return Ring::mul(a, b, 0, 0, 0); }
constexpr u32 TILE = 16 * EACH, DEEP = 16, PIECE = EACH < 4 ? EACH : 4, PAD = 4;
struct Sizes {
  u64 m, n, k;
  u64 a[3], b[3], c[3];  // strides along rows or columns, along k (of C: along columns), and between matrices
};
// Row or column in the tile of a thread's element `e`: pieces of up to four neighbors, so that reads from shared memory
// are wide and free of bank conflicts.
__device__ inline u32 place(u32 thread, u32 e) { return e / PIECE * (16 * PIECE) + thread * PIECE + e % PIECE; }

// Line and term of a thread's element `e` of a panel.
template <bool ALONG_K> __device__ inline void part(u32 e, u32& line, u32& term) {
  const u32 at = e * 256 + threadIdx.x;
  line = ALONG_K ? at / DEEP : at % TILE;
  term = ALONG_K ? at % DEEP : at / TILE;
}
// Loads a thread's elements of the panel from term `k` on; out-of-range lines read the last one.
template <bool ALONG_K> __device__ inline void bring(T (&next)[EACH], const T* from, u64 line0, u64 lines, u64 step, u64 k,
                                                     u64 terms, u64 step_k) {
#pragma unroll
  for (u32 e = 0; e < EACH; ++e) {
    u32 line, term;
    part<ALONG_K>(e, line, term);
    const u64 i = line0 + line < lines ? line0 + line : lines - 1;
    if (k + term < terms) next[e] = from[i * step + (k + term) * step_k];
  }
}
template <bool ALONG_K> __device__ inline void put(T (&to)[DEEP][TILE + PAD], const T (&next)[EACH]) {
#pragma unroll
  for (u32 e = 0; e < EACH; ++e) {
    u32 line, term;
    part<ALONG_K>(e, line, term);
    to[term][line] = next[e];
  }
}

// Grid: a block of 256 threads per tile, columns of tiles fastest, then rows, then matrices.
BOUNDED_KERNEL((256), tiles, const T* __restrict__ a, const T* __restrict__ b, T* c, Sizes s, u32 alpha, u32 old,
                             const T* scalars) {
  __shared__ T of_a[2][DEEP][TILE + PAD], of_b[2][DEEP][TILE + PAD];
  const u64 across = (s.n + (TILE - 1)) / TILE, down = (s.m + (TILE - 1)) / TILE;
  const u64 tile = blockIdx.x, batch = tile / (across * down), in_batch = tile % (across * down);
  const u64 row0 = in_batch / across * TILE, column0 = in_batch % across * TILE;
  a += batch * s.a[2], b += batch * s.b[2], c += batch * s.c[2];
  const u32 tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  T sum[EACH][EACH], next_a[EACH], next_b[EACH];
#pragma unroll
  for (u32 i = 0; i < EACH; ++i)
#pragma unroll
    for (u32 j = 0; j < EACH; ++j) sum[i][j] = Ring::zero();
#pragma unroll
  for (u32 e = 0; e < EACH; ++e) next_a[e] = next_b[e] = Ring::zero();
  bring<A_ALONG_K != 0>(next_a, a, row0, s.m, s.a[0], 0, s.k, s.a[1]);
  bring<B_ALONG_K != 0>(next_b, b, column0, s.n, s.b[0], 0, s.k, s.b[1]);
  u32 now = 0;
  for (u64 k = 0; k < s.k; k += DEEP, now ^= 1) {
    put<A_ALONG_K != 0>(of_a[now], next_a);
    put<B_ALONG_K != 0>(of_b[now], next_b);
    // One barrier suffices: the next writer of the other buffer has passed it, and so have all readers of that buffer.
    __syncthreads();
    bring<A_ALONG_K != 0>(next_a, a, row0, s.m, s.a[0], k + DEEP, s.k, s.a[1]);
    bring<B_ALONG_K != 0>(next_b, b, column0, s.n, s.b[0], k + DEEP, s.k, s.b[1]);
    const u32 terms = s.k - k < DEEP ? (u32)(s.k - k) : DEEP;
#pragma unroll(EACH == 8 ? 1 : 4)
    for (u32 t = 0; t < terms; ++t) {
      T x[EACH], y[EACH];
#pragma unroll
      for (u32 e = 0; e < EACH; ++e) x[e] = of_a[now][t][place(ty, e)], y[e] = of_b[now][t][place(tx, e)];
#pragma unroll
      for (u32 i = 0; i < EACH; ++i)
#pragma unroll
        for (u32 j = 0; j < EACH; ++j) sum[i][j] = Ring::fold(sum[i][j], x[i], y[j]);
    }
  }
#pragma unroll
  for (u32 i = 0; i < EACH; ++i)
#pragma unroll
    for (u32 j = 0; j < EACH; ++j) {
      const u64 row = row0 + place(ty, i), column = column0 + place(tx, j);
      if (row >= s.m || column >= s.n) continue;
      T* at = c + (row * s.c[0] + column * s.c[1]);
      T value = sum[i][j];
      // 0: C is not read, 1: retained, 2: times β; `scalars` holds α and β.
      if (alpha) value = times(scalars[0], value);
      if (old == 1) value = Ring::add(*at, value);
      if (old == 2) value = Ring::add(times(scalars[1], *at), value);
      *at = value;
    }
}
}  // namespace kernels
