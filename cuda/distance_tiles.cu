// distance_tiles.cu: where the rows of a tile begin within each column of Y. starts[c · tiles + t] = first entry of
// column c whose row is not below t · size; starts[columns · tiles] = all entries. So entries of (c, t) are those from
// starts[n] to starts[n + 1], n = c · tiles + t. Grid: a thread a start. `OffsetT` is set in front.
#include "parts.cuh"

KERNEL(tile_starts, const OffsetT* ptr, const u32* rows, u64 columns, u64 tiles, u32 size, OffsetT* starts) {
  const u64 n = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (n > columns * tiles) return;
  const u64 c = n / tiles, t = n - c * tiles;
  starts[n] = c == columns ? ptr[columns] : lower_bound(rows, ptr[c], ptr[c + 1], (u32)(t * size));
}
