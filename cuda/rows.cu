// rows.cu: properties of a pattern's rows, and arrays derived from row pointers. Grid: one block of 256 threads per
// tile of 1024 entries (`row_indices`, `find_descents`), or a thread per row. The host defines `OffsetA`.
#include "parts.cuh"
constexpr u32 TILE = 1024;

// longest[0] = length of the longest row; initially 0. Integer maxima do not depend on the order.
KERNEL(longest_row, const OffsetA* row_ptr, u64 nrows, u64* longest) {
  u64 most = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < nrows; i += (u64)gridDim.x * blockDim.x) {
    const u64 length = row_ptr[i + 1] - row_ptr[i];
    if (length > most) most = length;
  }
  most = warp_max(most);
  if (lane_id() == 0 && most > 0) atomicMax(longest, most);
}

// *empty = number of empty rows; initially 0. Integer sums do not depend on the order. Grid: a thread per row.
KERNEL(empty_rows, const OffsetA* row_ptr, u64 nrows, u64* empty) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u32 found = __ballot_sync(ALL, i < nrows && row_ptr[i] == row_ptr[i + 1]);
  if (lane_id() == 0 && found != 0) atomicAdd(empty, (u64)__popc(found));
}

// rows[p] = the row of entry p.
KERNEL(row_indices, const OffsetA* row_ptr, u64 nrows, u64 nnz, u32* rows) {
  __shared__ u64 room[2];
  const Tile t = tile_of(row_ptr, nrows, nnz, TILE, room);
  for (u64 p = t.start + threadIdx.x; p < t.end; p += blockDim.x)
    rows[p] = (u32)row_of(row_ptr, t.first_row, t.last_row, p);
}

// found[0] = 1 if some row has a column that is not above its predecessor; initially 0.
KERNEL(find_descents, const OffsetA* row_ptr, const u32* col_idx, u64 nrows, u64 nnz, u32* found) {
  __shared__ u64 room[2];
  const Tile t = tile_of(row_ptr, nrows, nnz, TILE, room);
  for (u64 p = t.start + threadIdx.x; p < t.end; p += blockDim.x)
    // The search for a row start is needed only where columns do not increase.
    if (p > 0 && col_idx[p] <= col_idx[p - 1] && row_ptr[row_of(row_ptr, t.first_row, t.last_row, p)] < p) found[0] = 1;
}

// out[i] = row_ptr[first + i] − row_ptr[first], for i = 0..count: row pointers of `count` rows. Grid: a thread per
// pointer.
KERNEL(rows_from, const OffsetA* row_ptr, u64 first, u64 count, OffsetA* out) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= count) out[i] = row_ptr[first + i] - row_ptr[first];
}
