// distance_rows.cu: prepares rows by a recipe: sums of a row, then its norms and its entries. A warp handles a row of
// up to LONG entries, a block of 256 threads a longer one. A thread sums the entries at its index, its index + 32 (or
// 256), ...; these sums are added as a tree. The order depends only on the row's length. Defined by the host: `T` (of
// values), `Offset`, `Recipe`, and SIDE: _x or _y.
#include "parts.cuh"
typedef Recipe::W W;
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FIRST Recipe::JOIN(first, SIDE)
#define ENTRY Recipe::JOIN(entry, SIDE)
#define NORM0 Recipe::JOIN(JOIN(norm, SIDE), _0)
#define NORM1 Recipe::JOIN(JOIN(norm, SIDE), _1)
constexpr u64 LONG = 1024;

// Sum over a warp or a block, in every thread; `room` holds 9 values in shared memory.
template <u32 GROUP> __device__ inline W group_sum(W x, W* room) {
  for (u32 d = 16; d > 0; d /= 2) x = sr::add(x, __shfl_xor_sync(ALL, x, d));
  if (GROUP == 32) return x;
  if (lane_id() == 0) room[warp_id()] = x;
  __syncthreads();
  W sum = room[0];
  for (u32 w = 1; w < GROUP / 32; ++w) sum = sr::add(sum, room[w]);
  __syncthreads();
  return sum;
}

template <u32 GROUP>
__device__ inline void prepare(const Offset* row_ptr, const T* values, u64 i, u64 ncols, W* entries, W* norm0, W* norm1,
                               W* room) {
  const u64 from = row_ptr[i], to = row_ptr[i + 1];
  const u32 t = threadIdx.x % GROUP;
  const W nnz = (W)(to - from), columns = (W)ncols;
  W first = 0, second = 0;
  for (u64 p = from + t; p < to; p += GROUP) first = sr::add(first, FIRST((W)values[p]));
  first = group_sum<GROUP>(first, room);
  for (u64 p = from + t; p < to; p += GROUP) second = sr::add(second, Recipe::second((W)values[p], first, nnz, columns));
  second = group_sum<GROUP>(second, room);
  for (u64 p = from + t; p < to; p += GROUP) entries[p] = ENTRY((W)values[p], first, second, nnz, columns);
  if (t != 0) return;
  norm0[i] = NORM0(first, second, nnz, columns);
  norm1[i] = NORM1(first, second, nnz, columns);
}

// Grid: a warp per row, 8 per block.
KERNEL(prepare_rows, const Offset* row_ptr, const T* values, u64 nrows, u64 ncols, W* entries, W* norm0, W* norm1) {
  const u64 i = (u64)blockIdx.x * 8 + warp_id();
  if (i >= nrows || row_ptr[i + 1] - row_ptr[i] > LONG) return;
  prepare<32>(row_ptr, values, i, ncols, entries, norm0, norm1, nullptr);
}

// Grid: a block of 256 threads per row; short rows are skipped.
KERNEL(prepare_long_rows, const Offset* row_ptr, const T* values, u64 nrows, u64 ncols, W* entries, W* norm0, W* norm1) {
  __shared__ W room[9];
  const u64 i = blockIdx.x;
  if (row_ptr[i + 1] - row_ptr[i] <= LONG) return;
  prepare<256>(row_ptr, values, i, ncols, entries, norm0, norm1, room);
}
