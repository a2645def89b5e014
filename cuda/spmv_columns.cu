// spmv_columns.cu: y(j) = ⊕_k x(k) ⊗ A(k,j) column by column ("pull"), for a mostly full x. The columns of A are the
// rows of its transpose, and `positions` maps their entries to those of A. A lane folds a column of up to 32 entries; a
// longer one is multiplied by the whole warp, 32 products at a time, and folded in the same order. Defined by the host:
// `Ring`, `Position`. Grid: 256 threads per 256 columns.
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::A X;
typedef Ring::B A;
typedef Ring::Out Out;
constexpr u32 SHORT = 32;

// `x_present` is null if x is full, `present` if every column of A has an entry at one of x's, `mask` if all positions
// are allowed.
BOUNDED_KERNEL((256, 4), spmv_columns, const Position* __restrict__ starts, const u32* __restrict__ rows,
                                       const Position* __restrict__ positions, u64 ncols, const A* __restrict__ values,
                                       const bool* __restrict__ x_present, const X* __restrict__ x, const bool* __restrict__ mask,
                                       u32 complement, bool* __restrict__ present, Out* __restrict__ y) {
  const u64 j = (u64)blockIdx.x * 256 + threadIdx.x;
  const bool allowed = j < ncols && (mask == nullptr || mask[j] != (complement != 0));
  const Position from = allowed ? starts[j] : 0, to = allowed ? starts[j + 1] : 0;
  Out sum = Ring::zero();
  bool some = false;
  if (to - from <= SHORT)
    for (Position q = from; q < to; ++q) {
      const u32 k = rows[q];
      if (x_present != nullptr && !x_present[k]) continue;
      sum = Ring::add(sum, Ring::mul(x[k], values[positions[q]], 0, k, j));
      some = true;
    }
  // Every lane of the warp processes the long columns of all lanes.
  u32 long_ones = __ballot_sync(ALL, to - from > SHORT);
  while (long_ones != 0) {
    const u32 lane = __ffs(long_ones) - 1;
    long_ones &= long_ones - 1;
    const u64 first = __shfl_sync(ALL, from, lane), last = __shfl_sync(ALL, to, lane), column = __shfl_sync(ALL, j, lane);
    Out folded = Ring::zero();
    bool any = false;
    for (u64 start = first; start < last; start += 32) {
      const u64 q = start + lane_id();
      Out product = Ring::zero();
      bool here = q < last;
      if (here) {
        const u32 k = rows[q];
        here = x_present == nullptr || x_present[k];
        if (here) product = Ring::mul(x[k], values[positions[q]], 0, k, column);
      }
      u32 left = __ballot_sync(ALL, here);
      any = any || left != 0;
      while (left != 0) {
        folded = Ring::add(folded, shuffle(ALL, product, __ffs(left) - 1));
        left &= left - 1;
      }
    }
    if (lane_id() == lane) {
      sum = folded;
      some = any;
    }
  }
  if (j >= ncols) return;
  if (present != nullptr) present[j] = some;
  if (some) y[j] = sum;
}

}  // namespace kernels
