// apply.cu: applies a function to every entry, and selects entries by a predicate, in their order. Grid: a thread per
// entry or row; `mark`: one block of 256 threads per tile of 1024 entries. Defined by the host: `struct Op`; with AT,
// for positional functions, also `OffsetA`; with SELECT, `OffsetC` (of `before`: selected entries before an entry).
#include "parts.cuh"
constexpr u32 TILE = 1024;

#ifdef AT
// The scalar is in memory, so that one program serves all scalars.
KERNEL(apply_at, const OffsetA* row_ptr, const u32* col_idx, const Op::A* a, u64 nrows, u64 nnz, const Op::S* s, Op::Out* c) {
  __shared__ u64 room[2];
  const Tile t = tile_of(row_ptr, nrows, nnz, TILE, room);
  const Op::S scalar = s[0];
  for (u64 p = t.start + threadIdx.x; p < t.end; p += blockDim.x)
    c[p] = Op::apply(a[p], scalar, row_of(row_ptr, t.first_row, t.last_row, p), col_idx[p]);
}
#elif !defined(SELECT)
KERNEL(apply_values, const Op::A* a, u64 nnz, Op::Out* c) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < nnz) c[p] = Op::apply(a[p]);
}
#else

// kept[p] = 1 if entry p is selected, else 0. The scalar is in memory, so that one program serves all scalars.
KERNEL(mark, const OffsetA* row_ptr, const u32* col_idx, const Op::A* a, u64 nrows, u64 nnz, const Op::S* s, u32* kept) {
  __shared__ u64 room[2];
  const Tile t = tile_of(row_ptr, nrows, nnz, TILE, room);
  const Op::S scalar = s[0];
  for (u64 p = t.start + threadIdx.x; p < t.end; p += blockDim.x)
    kept[p] = Op::apply(a[p], scalar, row_of(row_ptr, t.first_row, t.last_row, p), col_idx[p]) ? 1 : 0;
}

KERNEL(select_rows, const OffsetA* row_ptr, u64 nrows, const OffsetC* before, OffsetC* c_ptr) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= nrows) c_ptr[i] = before[row_ptr[i]];
}

KERNEL(select_fill, const u32* col_idx, const Op::A* a, u64 nnz, const OffsetC* before, u32* c_cols, Op::A* c) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= nnz) return;
  const OffsetC to = before[p];
  if (before[p + 1] == to) return;
  c_cols[to] = col_idx[p];
  c[to] = a[p];
}
#endif
