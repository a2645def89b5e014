// aggregate.cu: entry counts of rows and columns, and the column of each row's least or greatest entry. Integer sums,
// and the first column of the best value, do not depend on the order. Grid: a thread per row, column or entry;
// `best_short`: `group` threads per row; `best_long`: blocks of 256 threads that take rows until none is left. With
// BEST, the host defines `Number`, an ordered type.
#include "index.cuh"

#ifndef BEST
KERNEL(count_rows, Offsets row_ptr, u64 nrows, bool* present, long long* y) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nrows) return;
  const u64 count = row_ptr[i + 1] - row_ptr[i];
  present[i] = count > 0;
  y[i] = (long long)count;
}

// y[j] = entries of column j; initially 0.
KERNEL(count_columns, const u32* col_idx, u64 nnz, u64* y) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u32 j = p < nnz ? col_idx[p] : NONE;
  // A single atomic per warp if all its entries are in one column, as in matrices of few columns.
  const u32 first = __shfl_sync(ALL, j, 0);
  if (__all_sync(ALL, j == first)) {
    if (lane_id() == 0 && j != NONE) atomicAdd(&y[j], 32ull);
  } else if (j != NONE) {
    atomicAdd(&y[j], 1ull);
  }
}
KERNEL(columns_present, const u64* y, u64 ncols, bool* present) {
  const u64 j = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (j < ncols) present[j] = y[j] > 0;
}
#else
constexpr u32 SHORT = 2048;  // most entries of a row that a group handles

struct Best {
  Number value;
  u32 column;  // NONE if there is none
};
// The better of two: the least value, or the greatest; the first column among equal ones.
__device__ inline Best better(const Best& x, const Best& y, bool greatest) {
  if (x.column == NONE) return y;
  if (y.column == NONE) return x;
  const bool less = greatest ? sr::lt(y.value, x.value) : sr::lt(x.value, y.value);
  return less || (sr::eq(x.value, y.value) && x.column < y.column) ? x : y;
}
// The best of entries from, from + step, ... before `to`. NaN is skipped.
__device__ inline Best best_of(const u32* cols, const Number* values, u64 from, u64 to, u32 step, bool greatest) {
  Best best;
  best.value = Number();
  best.column = NONE;
  for (u64 p = from; p < to; p += step) {
    Best mine;
    mine.value = values[p];
    mine.column = sr::eq(mine.value, mine.value) ? cols[p] : NONE;
    best = better(best, mine, greatest);
  }
  return best;
}
// The best of `lanes` neighboring lanes, in each of them; every lane of the warp calls it.
__device__ inline Best best_of_lanes(Best best, u32 lanes, bool greatest) {
  for (u32 d = lanes / 2; d > 0; d /= 2) {
    Best other;
    other.value = shuffle(ALL, best.value, lane_id() ^ d);
    other.column = __shfl_xor_sync(ALL, best.column, d);
    best = better(best, other, greatest);
  }
  return best;
}
__device__ inline void write_best(const Best& best, u64 i, bool* present, long long* y) {
  present[i] = best.column != NONE;
  y[i] = best.column == NONE ? 0 : (long long)best.column;
}

// Short rows are finished here; the others are listed in any order. *number is initially 0.
KERNEL(best_short, Offsets row_ptr, const u32* cols, const Number* values, u64 nrows, u32 group, u32 greatest,
                   bool* present, long long* y, u64* long_rows, u64* number) {
  const u64 i = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / group;
  const u32 lane = threadIdx.x % group;
  u64 from = 0, to = 0;
  if (i < nrows) from = row_ptr[i], to = row_ptr[i + 1];
  const bool is_short = to - from <= SHORT;
  const Best mine = best_of(cols, values, from + lane, is_short ? to : from, group, greatest);
  const Best best = best_of_lanes(mine, group, greatest);
  if (i >= nrows || lane != 0) return;
  if (is_short) write_best(best, i, present, y); else long_rows[atomicAdd(number, 1ull)] = i;
}

KERNEL(best_long, Offsets row_ptr, const u32* cols, const Number* values, u32 greatest, const u64* long_rows,
                  const u64* number, bool* present, long long* y) {
  __shared__ Number room[8];
  __shared__ u32 columns[8];
  for (u64 r = blockIdx.x; r < *number; r += gridDim.x) {
    const u64 i = long_rows[r];
    Best best = best_of(cols, values, row_ptr[i] + threadIdx.x, row_ptr[i + 1], 256, greatest);
    best = best_of_lanes(best, 32, greatest);
    if (lane_id() == 0) room[warp_id()] = best.value, columns[warp_id()] = best.column;
    __syncthreads();
    if (warp_id() == 0) {
      best.value = room[lane_id() & 7];
      best.column = columns[lane_id() & 7];
      best = best_of_lanes(best, 8, greatest);
      if (lane_id() == 0) write_best(best, i, present, y);
    }
    __syncthreads();
  }
}
#endif
