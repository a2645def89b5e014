// values_folds.cu: all values of a small product, if the products of each entry of C are known (spgemm_folds.cu). Grid:
// a block of FOLD_THREADS threads for the entries whose products begin in one tile. Shared memory: CHUNK products. See
// values.cuh.
//
// All threads multiply in parallel; then each folds the products of its entries. There is a single kernel, and a
// product waits only for others of the same entry.
#include "values.cuh"

constexpr u32 FOLD_THREADS = 256;
constexpr u32 EACH = sizeof(Value) <= 8 ? 4 : sizeof(Value) <= 16 ? 2 : 1, CHUNK = EACH * FOLD_THREADS;

BOUNDED_KERNEL((FOLD_THREADS, 4), values_folds, u32 nrows, const uint2* first, const u32* at, const u32* left, const u32* right, Operands m) {
  extern __shared__ __align__(16) unsigned char shared[];
  Value* products = (Value*)shared;
  const uint2 tile = first[blockIdx.x], next_tile = first[blockIdx.x + 1];
  const u32 from = tile.x, to = next_tile.x, begin = tile.y, end = next_tile.y;
  if (from == to) return;
  // More than one round if an entry has many products.
  for (u32 base = begin;; base += CHUNK) {
    const u32 stop = end - base < CHUNK ? end : base + CHUNK;
    u32 a[EACH], b[EACH];
    Left x[EACH];
    Right y[EACH];
#pragma unroll
    for (u32 i = 0; i < EACH; ++i) {
      const u32 p = base + i * FOLD_THREADS + threadIdx.x;
      if (p < stop) a[i] = left[p], b[i] = right[p];
    }
#pragma unroll
    for (u32 i = 0; i < EACH; ++i) {
      if (base + i * FOLD_THREADS + threadIdx.x >= stop) continue;
      if constexpr (Ring::reads_a) x[i] = m.a_val[a[i]];
      if constexpr (Ring::reads_b) y[i] = m.b_val[b[i]];
    }
#pragma unroll
    for (u32 i = 0; i < EACH; ++i) {
      if (base + i * FOLD_THREADS + threadIdx.x >= stop) continue;
      u32 row = 0, k = 0, j = 0;
      if constexpr (Ring::reads_place) row = (u32)row_of(m.a_ptr, 0, nrows - 1, a[i]), k = m.a_col[a[i]], j = m.b_col[b[i]];
      products[i * FOLD_THREADS + threadIdx.x] = Ring::mul(x[i], y[i], row, k, j);
    }
    __syncthreads();
    for (u32 e = from + threadIdx.x; e < to; e += FOLD_THREADS) {
      const u32 own = at[e], next = at[e + 1];
      // No product of it is in this round; an entry without products gets its value in the first.
      if (own == next ? base != begin : own >= stop || next <= base) continue;
      Value value = Ring::zero();
      if (own < base) value = m.c_val[e];
      const u32 last = next < stop ? next : stop;
      for (u32 p = own < base ? base : own; p < last; ++p) value = Ring::add(value, products[p - base]);
      m.c_val[e] = value;
    }
    if (stop == end) return;
    __syncthreads();
  }
}
