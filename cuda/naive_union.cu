// naive_union.cu: C(i,j) = ⊕_k A(i,k) ⊗ B(j,k) over the union of two sorted rows, by the two algorithms that the paper
// found wanting: the baselines for union.cu. Source: Nolet et al. 2022, GPU Semiring Primitives for Sparse Neighborhood
// Methods, §3.2.1 and §3.2.2. Defined by the host: `Ring`, `OffsetA`, `OffsetB`.
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::A A;
typedef Ring::B B;
typedef Ring::Out Out;
constexpr u32 THREADS = 256;

// Iterate sorted nonzeros: one pair of rows per thread, merged. Grid: any number of threads, grid-stride over the
// pairs.
BOUNDED_KERNEL((THREADS), naive_iterate, const OffsetA* a_ptr, const u32* a_columns, const A* a_values, const OffsetB* b_ptr,
                                         const u32* b_columns, const B* b_values, u64 pairs, u64 width, Out* out) {
  for (u64 p = (u64)blockIdx.x * THREADS + threadIdx.x; p < pairs; p += (u64)gridDim.x * THREADS) {
    const u64 i = p / width, j = p % width, a_end = a_ptr[i + 1], b_end = b_ptr[j + 1];
    u64 x = a_ptr[i], y = b_ptr[j];
    Out fold = Ring::zero();
    while (x < a_end || y < b_end) {
      const u32 of_a = x < a_end ? a_columns[x] : NONE, of_b = y < b_end ? b_columns[y] : NONE;
      const u32 k = of_a < of_b ? of_a : of_b;
      const A a = of_a == k ? a_values[x++] : A(0);
      const B b = of_b == k ? b_values[y++] : B(0);
      fold = Ring::add(fold, Ring::mul(a, b, i, k, j));
    }
    out[p] = fold;
  }
}

// Expand, sort, contract: one pair of rows per block. A key holds the column, the side, and the position in its row.
// Dynamic shared memory: `size` keys, a power of two, then `a_room` bytes for values of A and those of B.
// Grid: any number of blocks, grid-stride over the pairs.
BOUNDED_KERNEL((THREADS), naive_expand_sort_contract, const OffsetA* a_ptr, const u32* a_columns, const A* a_values,
    const OffsetB* b_ptr, const u32* b_columns, const B* b_values, u64 pairs, u64 width, u32 size, u32 a_room, Out* out) {
  extern __shared__ __align__(16) unsigned char room[];
  __shared__ Out folds[THREADS];
  constexpr u64 SIDE = 1ull << 31;
  u64* keys = (u64*)room;
  A* a = (A*)(room + 8ull * size);
  B* b = (B*)(room + 8ull * size + a_room);
  for (u64 p = blockIdx.x; p < pairs; p += gridDim.x) {
    const u64 i = p / width, j = p % width, a_start = a_ptr[i], b_start = b_ptr[j];
    const u32 of_a = (u32)(a_ptr[i + 1] - a_start), count = of_a + (u32)(b_ptr[j + 1] - b_start);
    u32 used = 1;
    while (used < count) used *= 2;
    for (u32 t = threadIdx.x; t < used; t += THREADS) {
      if (t < of_a) {
        keys[t] = (u64)a_columns[a_start + t] << 32 | t;
        a[t] = a_values[a_start + t];
      } else if (t < count) {
        keys[t] = (u64)b_columns[b_start + t - of_a] << 32 | SIDE | (t - of_a);
        b[t - of_a] = b_values[b_start + t - of_a];
      } else {
        keys[t] = ~0ull;
      }
    }
    // Bitonic sort.
    for (u32 run = 2; run <= used; run *= 2) {
      for (u32 d = run / 2; d > 0; d /= 2) {
        __syncthreads();
        for (u32 t = threadIdx.x; t < used; t += THREADS) {
          const u32 other = t ^ d;
          const bool up = (t & run) == 0;
          if (other > t && (keys[t] > keys[other]) == up) {
            const u64 key = keys[t];
            keys[t] = keys[other];
            keys[other] = key;
          }
        }
      }
    }
    __syncthreads();
    Out fold = Ring::zero();
    for (u32 t = threadIdx.x; t < count; t += THREADS) {
      const u64 key = keys[t], k = key >> 32;
      if (t > 0 && keys[t - 1] >> 32 == k) continue;
      const bool is_b = (key & SIDE) != 0, both = !is_b && t + 1 < count && keys[t + 1] >> 32 == k;
      const u32 at = (u32)(key & (SIDE - 1)), at_b = both ? (u32)(keys[t + 1] & (SIDE - 1)) : at;
      const A left = is_b ? A(0) : a[at];
      const B right = is_b || both ? b[at_b] : B(0);
      fold = Ring::add(fold, Ring::mul(left, right, i, k, j));
    }
    folds[threadIdx.x] = fold;
    for (u32 half = THREADS / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) folds[threadIdx.x] = Ring::add(folds[threadIdx.x], folds[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) out[p] = folds[0];
    __syncthreads();  // before the room is used again
  }
}

}  // namespace kernels
