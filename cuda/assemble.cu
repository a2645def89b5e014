// assemble.cu: matrix entries along a line, matrices with one diagonal, and block matrices. Grid: a thread per item;
// `block_fill`: one block of 256 threads per tile of 1024 entries. The host defines `Value`, plain words of a value's
// size.
#include "index.cuh"
constexpr u32 TILE = 1024;

// y(p) = A(I(p), J(p)) where that entry exists: a row, a column, a diagonal. Rows of A are sorted.
KERNEL(line_entries, Offsets a_ptr, const u32* a_cols, const Value* a, List rows, List cols, u64 n, bool* present,
                     Value* y) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  const u64 q = entry_of(a_ptr, a_cols, rows.at(p), cols.at(p));
  present[p] = q != ABSENT;
  if (q != ABSENT) y[p] = a[q];
}

// Row pointers of the square matrix with an entry (top + p, ...) for each p in the increasing list `indices`, or for
// each p below nnz if it is null.
KERNEL(diagonal_rows, const u32* indices, u64 nnz, u64 top, u64 nrows, u32* row_ptr) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i > nrows) return;
  const u64 p = i < top ? 0 : i - top;
  if (indices == nullptr) row_ptr[i] = (u32)(p < nnz ? p : nnz);
  else row_ptr[i] = (u32)(p >= NONE ? nnz : lower_bound(indices, (u64)0, nnz, (u32)p));
}
KERNEL(diagonal_columns, const u32* indices, u64 nnz, u64 left, u32* cols) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < nnz) cols[p] = (u32)((indices == nullptr ? p : indices[p]) + left);
}

// sums[i] += entries of row i.
KERNEL(add_lengths, Offsets row_ptr, u64 nrows, u32* sums) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nrows) sums[i] += (u32)(row_ptr[i + 1] - row_ptr[i]);
}
// Copies a block whose first row is row `top` of C and whose first column is column `left`; before[i] entries of row i
// belong to blocks on its left.
KERNEL(block_fill, Offsets b_ptr, const u32* b_cols, const Value* b, u64 nrows, u64 nnz, u64 top, u32 left,
                   const u32* before, Offsets c_ptr, u32* c_cols, Value* c) {
  __shared__ u64 room[2];
  const Tile t = tile_of(b_ptr, nrows, nnz, TILE, room);
  for (u64 q = t.start + threadIdx.x; q < t.end; q += blockDim.x) {
    const u64 i = row_of(b_ptr, t.first_row, t.last_row, q);
    const u64 to = c_ptr[top + i] + before[i] + (q - b_ptr[i]);
    c_cols[to] = b_cols[q] + left;
    c[to] = b[q];
  }
}
