// distance_tiles.cu: Y by columns: the start of each row tile within each column, and the number of shared columns.
// starts[c · tiles + t] = first entry of column c whose row is not below t · size; starts[columns · tiles] = number of
// entries. The entries of (c, t) are those from starts[n] to starts[n + 1], n = c · tiles + t. Grid: a thread per
// start. The host defines `OffsetT`.
#include "parts.cuh"

KERNEL(tile_starts, const OffsetT* ptr, const u32* rows, u64 columns, u64 tiles, u32 size, OffsetT* starts) {
  const u64 n = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (n > columns * tiles) return;
  const u64 c = n / tiles, t = n - c * tiles;
  starts[n] = c == columns ? ptr[columns] : lower_bound(rows, ptr[c], ptr[c + 1], (u32)(t * size));
}

// count = Σ over the entries of X of the number of rows of Y that contain its column: the columns that pairs share.
// Grid: any.
KERNEL(count_shared, const u32* x_cols, u64 nnz, const OffsetT* ptr, u64* count) {
  u64 sum = 0;
  for (u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x; p < nnz; p += (u64)gridDim.x * blockDim.x)
    sum += ptr[x_cols[p] + 1] - ptr[x_cols[p]];
  __syncwarp();
  sum = warp_sum(sum);
  if (lane_id() == 0 && sum > 0) atomicAdd(count, sum);
}
