// transpose.cu: sorts entries stably by column (the transpose), then by row (rows sorted). A radix sort of 8 bits per
// pass, least significant digit first. It is stable whatever the number of blocks, and one huge column costs no more
// than many small ones. Only positions are permuted; columns and values are gathered once, at the end. Grid: one block
// of 256 threads per tile of TILE keys. Defined by the host: `Position` and `Value`, plain words of a value's size.
// Source of the ranks by matching lanes: Ashkiani et al. 2016, "GPU Multisplit".
#include "parts.cuh"
constexpr u32 THREADS = 256, WARPS = THREADS / 32, DIGITS = 256;
constexpr u32 EACH = 64 / sizeof(Position), TILE = THREADS * EACH;  // 4096 keys, or 2048 with 64-bit positions

// counts[d * tiles + t] = keys of tile t with digit d; `digits` is a power of two.
KERNEL(count_digits, const u32* keys, u64 n, u32 shift, u32 digits, u32* counts) {
  __shared__ u32 histogram[DIGITS];
  histogram[threadIdx.x] = 0;
  __syncthreads();
  const u64 start = (u64)blockIdx.x * TILE;
  for (u32 t = threadIdx.x; t < TILE; t += THREADS)
    if (start + t < n) atomicAdd(&histogram[(keys[start + t] >> shift) & (digits - 1)], 1u);
  __syncthreads();
  if (threadIdx.x < digits) counts[(u64)threadIdx.x * gridDim.x + blockIdx.x] = histogram[threadIdx.x];
}

// One pass: scatters keys and positions by the offsets of their digits. Null `positions` stand for 0, 1, 2, ….
KERNEL(place_digits, const u32* keys, const Position* positions, u64 n, u32 shift, u32 digits, const Position* offsets,
                     u32* keys_out, Position* positions_out) {
  __shared__ u32 counts[WARPS][DIGITS];  // of each warp's share; then, keys of the digit before the warp's
  __shared__ u32 first[DIGITS];          // where a digit starts in the sorted tile
  __shared__ Position to[DIGITS];        // its destination, less `first`, modulo the type
  __shared__ u32 tile_keys[TILE];
  __shared__ Position tile_positions[TILE];
  __shared__ u32 room[33];
  const u64 start = (u64)blockIdx.x * TILE;
  const u32 here = n - start < TILE ? (u32)(n - start) : TILE;
  const u32 lane = lane_id(), warp = warp_id();

  // Ranks within the warp's share of the tile, 32 keys at a time: lanes with the same digit match each other.
  for (u32 d = lane; d < DIGITS; d += 32) counts[warp][d] = 0;
  __syncwarp();
  u32 key[EACH], rank[EACH];
#pragma unroll
  for (u32 e = 0; e < EACH; ++e) {
    const u32 at = (warp * EACH + e) * 32 + lane;
    key[e] = at < here ? keys[start + at] : 0;
  }
#pragma unroll
  for (u32 e = 0; e < EACH; ++e) {
    const bool valid = (warp * EACH + e) * 32 + lane < here;
    const u32 d = valid ? (key[e] >> shift) & (digits - 1) : DIGITS;
    const u32 peers = __match_any_sync(ALL, d);
    const u32 before = __popc(peers & ((1u << lane) - 1));
    const u32 base = valid ? counts[warp][d] : 0;
    __syncwarp();
    if (valid && before == 0) counts[warp][d] = base + __popc(peers);
    __syncwarp();
    rank[e] = base + before;
  }
  __syncthreads();

  // Thread d: offsets of digit d.
  {
    const u32 d = threadIdx.x;
    u32 sum = 0, total;
    for (u32 w = 0; w < WARPS; ++w) {
      const u32 own = counts[w][d];
      counts[w][d] = sum;
      sum += own;
    }
    first[d] = block_exclusive_sum(sum, room, total);
    to[d] = d < digits ? (Position)(offsets[(u64)d * gridDim.x + blockIdx.x] - first[d]) : 0;
  }
  __syncthreads();

  // Sorts the tile first, so that writes of the same digit are coalesced.
#pragma unroll
  for (u32 e = 0; e < EACH; ++e) {
    const u32 at = (warp * EACH + e) * 32 + lane;
    if (at >= here) continue;
    const u32 d = (key[e] >> shift) & (digits - 1);
    const u32 place = first[d] + counts[warp][d] + rank[e];
    tile_keys[place] = key[e];
    tile_positions[place] = positions ? positions[start + at] : (Position)(start + at);
  }
  __syncthreads();
  for (u32 t = threadIdx.x; t < here; t += THREADS) {
    const u32 d = (tile_keys[t] >> shift) & (digits - 1);
    const Position p = (Position)(to[d] + t);
    keys_out[p] = tile_keys[t];
    positions_out[p] = tile_positions[t];
  }
}

// row_ptr[j] = entries whose key is below j, for j = 0..nrows; `keys` are sorted.
KERNEL(row_starts, const u32* keys, u64 n, u64 nrows, Position* row_ptr) {
  const u64 j = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (j > nrows) return;
  row_ptr[j] = (Position)(j == nrows ? n : lower_bound(keys, (u64)0, n, (u32)j));
}

// to[p] = from[positions[p]].
template <class T> __device__ inline void gather(const Position* positions, u64 n, const T* from, T* to) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < n) to[p] = from[positions[p]];
}
KERNEL(gather_indices, const Position* positions, u64 n, const u32* from, u32* to) {
  gather(positions, n, from, to);
}
KERNEL(gather_values, const Position* positions, u64 n, const Value* from, Value* to) {
  gather(positions, n, from, to);
}
