// apply_mask.cu: compacts marked entries of a matrix, in order, and marks those that a mask allows. Grid: `marks_at`:
// one block of 256 threads per tile of 1024 entries; otherwise a thread per entry or row. Defined by the host:
// `OffsetA`, `OffsetM` (of the mask), `OffsetC` (of the result and of `before`: marks before an entry) and `Value`,
// plain words of a value's size.
#include "parts.cuh"
constexpr u32 TILE = 1024;

// marks[p] = 1 if the mask, whose rows are sorted, has an entry at the position of entry p, or with `complement` if it
// does not.
KERNEL(marks_at, const OffsetA* row_ptr, const u32* col_idx, u64 nrows, u64 nnz, const OffsetM* m_ptr, const u32* m_cols,
                 u32 complement, u32* marks) {
  __shared__ u64 room[2];
  const Tile t = tile_of(row_ptr, nrows, nnz, TILE, room);
  for (u64 p = t.start + threadIdx.x; p < t.end; p += blockDim.x) {
    const u64 i = row_of(row_ptr, t.first_row, t.last_row, p);
    const u32 j = col_idx[p];
    const OffsetM end = m_ptr[i + 1];
    const OffsetM q = lower_bound(m_cols, m_ptr[i], end, j);
    marks[p] = (q < end && m_cols[q] == j) != (complement != 0);
  }
}

KERNEL(marked_rows, const OffsetA* row_ptr, u64 nrows, const OffsetC* before, OffsetC* c_ptr) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= nrows) c_ptr[i] = before[row_ptr[i]];
}

// Without `c`, only the columns.
KERNEL(marked_entries, const u32* col_idx, const Value* a, u64 nnz, const OffsetC* before, u32* c_cols, Value* c) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= nnz) return;
  const OffsetC to = before[p];
  if (before[p + 1] == to) return;
  c_cols[to] = col_idx[p];
  if (c != nullptr) c[to] = a[p];
}
