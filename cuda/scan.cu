// scan.cu: offsets[i] = sum of counts before i, for i = 0..n, in three passes: sums of tiles, their scan, tiles again.
// Grid: one block of 256 threads per tile of 2048 counts; one block for the middle pass. The host defines `Offset`.
#include "parts.cuh"
constexpr u32 EACH = 8, TILE = 256 * EACH;

// The same for few counts, in one pass of one block: *total is the sum of all.
BOUNDED_KERNEL((1024), scan_few, const u32* counts, u64 n, u64* total, Offset* offsets) {
  __shared__ u64 room[33];
  u64 before = 0;
  for (u64 start = 0; start <= n; start += 1024 * EACH) {
    const u64 first = start + threadIdx.x * EACH;
    u32 mine[EACH];
    u64 sum = 0;
#pragma unroll
    for (u32 e = 0; e < EACH; ++e) {
      mine[e] = first + e < n ? counts[first + e] : 0;
      sum += mine[e];
    }
    u64 all;
    u64 upto = before + block_exclusive_sum(sum, room, all);
#pragma unroll
    for (u32 e = 0; e < EACH; ++e) {
      if (first + e <= n) offsets[first + e] = (Offset)upto;
      upto += mine[e];
    }
    before += all;
  }
  if (threadIdx.x == 0) *total = before;
}

KERNEL(scan_tiles, const u32* counts, u64 n, u64* sums) {
  __shared__ u64 room[33];
  const u64 start = (u64)blockIdx.x * TILE;
  u64 sum = 0;
  for (u32 t = threadIdx.x; t < TILE; t += 256)
    if (start + t < n) sum += counts[start + t];
  sum = block_sum(sum, room);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// sums[t] becomes the sum before tile t; sums[tiles] the sum of all.
KERNEL(scan_sums, u64* sums, u64 tiles) {
  __shared__ u64 room[33];
  u64 before = 0;
  for (u64 start = 0; start < tiles; start += blockDim.x) {
    const u64 t = start + threadIdx.x;
    const u64 mine = t < tiles ? sums[t] : 0;
    u64 total;
    const u64 upto = block_exclusive_sum(mine, room, total);
    if (t < tiles) sums[t] = before + upto;
    before += total;
  }
  if (threadIdx.x == 0) sums[tiles] = before;
}

KERNEL(scan_offsets, const u32* counts, u64 n, const u64* sums, Offset* offsets) {
  __shared__ u64 room[33];
  const u64 start = (u64)blockIdx.x * TILE + threadIdx.x * EACH;
  u32 mine[EACH];
  u64 sum = 0;
  for (u32 e = 0; e < EACH; ++e) {
    mine[e] = start + e < n ? counts[start + e] : 0;
    sum += mine[e];
  }
  u64 total;
  u64 before = sums[blockIdx.x] + block_exclusive_sum(sum, room, total);
  for (u32 e = 0; e < EACH; ++e) {
    if (start + e <= n) offsets[start + e] = (Offset)before;
    before += mine[e];
  }
}
