// spmv_plan.cu: analysis of A's row pointers for y = A ⊕.⊗ x: the longest row, and the starts of equal shares of work.
// Defined by the host: `Offset`, the type of a row pointer, and `TILE`.
#include "parts.cuh"

// longest[0] = length of the longest row; initially 0. Grid: blocks of 256 threads, any number.
KERNEL(spmv_longest, const Offset* row_ptr, u64 nrows, u64* longest) {
  u64 most = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < nrows; i += (u64)gridDim.x * blockDim.x) {
    const u64 entries = row_ptr[i + 1] - row_ptr[i];
    if (entries > most) most = entries;
  }
  most = warp_max(most);
  if (lane_id() == 0 && most > 0) atomicMax(longest, most);
}

// The work is a walk over nrows + nnz items: the entries of row 0, its end, the entries of row 1, its end, and so on.
// starts[t] = row ends before item t·TILE, for t = 0..tiles. The end of row i is item i + row_ptr[i + 1]. Grid: one
// thread per t.
KERNEL(spmv_starts, const Offset* row_ptr, u64 nrows, u64 nnz, u64 tiles, u64* starts) {
  const u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (t > tiles) return;
  const u64 items = nrows + nnz, item = t * TILE < items ? t * TILE : items;
  u64 from = item > nnz ? item - nnz : 0, to = item < nrows ? item : nrows;
  while (from < to) {
    const u64 i = from + (to - from) / 2;
    if (i + row_ptr[i + 1] < item) from = i + 1; else to = i;
  }
  starts[t] = from;
}
