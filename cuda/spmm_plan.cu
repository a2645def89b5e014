// spmm_plan.cu: the parts of rows of more than SPLIT entries, for spmm.cu. Defined by the host: `Offset` and `SPLIT`.
#include "parts.cuh"

// totals[0] = number of parts, totals[1] = number of divided rows, both initially 0. The rows are in any order, the
// parts of a row in order. Grid: one thread per row.
KERNEL(spmm_parts, const Offset* row_ptr, u64 nrows, u64* totals, u64* part_row, u64* part_start, u64* long_row,
       u64* long_first) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nrows) return;
  const u64 start = row_ptr[i], entries = row_ptr[i + 1] - start;
  if (entries <= SPLIT) return;
  const u64 parts = (entries + (SPLIT - 1)) / SPLIT;
  const u64 first = atomicAdd(totals, parts), r = atomicAdd(totals + 1, (u64)1);
  long_row[r] = i, long_first[r] = first;
  for (u64 t = 0; t < parts; ++t) part_row[first + t] = i, part_start[first + t] = start + t * SPLIT;
}
