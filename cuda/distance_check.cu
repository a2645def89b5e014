// distance_check.cu: what must be known of a matrix before distances are computed from its rows. found[0] = first entry
// that the metric does not take (all ones before, and if there is none), found[1] = entries of value 0, found[2] = most
// entries in a row (both 0 before), found[3] and found[4] = the bits of the largest magnitude that is finite (0 before)
// and of the smallest that is not 0 (all ones before). Smallest, largest and counts of integers do not depend on an
// order. Grid: a few blocks of 256 threads. `T`, `Offset` and NON_NEGATIVE (0 or 1) are set in front.
#include "parts.cuh"

KERNEL(check_entries, const Offset* row_ptr, const T* values, u64 nrows, u64 nnz, u64* found) {
  const u64 step = (u64)gridDim.x * blockDim.x, start = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  u64 bad = ~0ull, zeros = 0, longest = 0, most = 0, least = ~0ull;
  for (u64 p = start; p < nnz; p += step) {
    const T x = values[p];
    const bool takes = sr::abs(x) < sr::inf<T>() && !(NON_NEGATIVE && x < T(0));
    if (!takes && p < bad) bad = p;
    zeros += x == T(0);
    // Bits of numbers that are not negative are in their order.
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
