// distance_check.cu: validates a matrix and gathers facts before its rows are compared. found[0] = first entry outside
// the metric's domain (initially all ones, which means none), found[1] = number of explicit zeros, found[2] = longest
// row (both initially 0), found[3] and found[4] = bits of the largest finite magnitude (initially 0) and of the
// smallest nonzero one (initially all ones). Integer minima, maxima and sums do not depend on the order. Grid: a few
// blocks of 256 threads. Defined by the host: `T`, `Offset` and NON_NEGATIVE (0 or 1).
#include "parts.cuh"

KERNEL(check_entries, const Offset* row_ptr, const T* values, u64 nrows, u64 nnz, u64* found) {
  const u64 step = (u64)gridDim.x * blockDim.x, start = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  u64 bad = ~0ull, zeros = 0, longest = 0, most = 0, least = ~0ull;
  for (u64 p = start; p < nnz; p += step) {
    const T x = values[p];
    const bool takes = sr::abs(x) < sr::inf<T>() && !(NON_NEGATIVE && x < T(0));
    if (!takes && p < bad) bad = p;
    zeros += x == T(0);
    // The bits of non-negative floats are ordered as the numbers are.
    const double size = (double)sr::abs(x);
    const u64 bits = (u64)__double_as_longlong(size);
    if (size < sr::inf<double>() && bits > most) most = bits;
    if (size > 0 && bits < least) least = bits;
  }
  for (u64 i = start; i < nrows; i += step) {
    const u64 length = row_ptr[i + 1] - row_ptr[i];
    if (length > longest) longest = length;
  }
  bad = warp_min(bad);
  zeros = warp_sum(zeros);
  longest = warp_max(longest);
  most = warp_max(most);
  least = warp_min(least);
  if (lane_id() != 0) return;
  if (bad != ~0ull) atomicMin(&found[0], bad);
  if (zeros > 0) atomicAdd(&found[1], zeros);
  if (longest > 0) atomicMax(&found[2], longest);
  if (most > 0) atomicMax(&found[3], most);
  if (least != ~0ull) atomicMin(&found[4], least);
}
