// distance_block.cu: distances, nearest neighbours and neighbours within a radius, from a dense block of keys with
// `width` keys per row. A key is its distance. A row is processed in parts of `part_size` keys, so that a few long rows
// also keep the device busy.
// Defined by the host: `W` (of keys), `T` (of results), and PAIRS, NEAREST or RADIUS.
#include "neighbours.cuh"

#ifdef PAIRS
// out[p] = keys[p]. Grid: any number of threads.
KERNEL(write_pairs, const W* keys, u64 n, T* out) {
  for (u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += (u64)gridDim.x * blockDim.x) out[p] = (T)keys[p];
}
#endif

#ifdef NEAREST
// codes and ids: for each row and part, the k nearest, nearest first. Indices in Y begin at first_y. With exclude_self,
// row r of the block, which is row r + shift of this Y, skips itself. Grid: blocks of one warp, one part of a row each.
BOUNDED_KERNEL((32, 13), nearest_in_block, const W* keys, u64 width, u64 part_size, u32 parts, u64 shift, u32 first_y, u32 k,
                                           u32 exclude_self, u64* codes, u32* ids) {
  extern __shared__ __align__(16) unsigned char room[];
  const u64 row = blockIdx.x / parts, part = blockIdx.x - row * parts, place = (row * parts + part) * k;
  const u64 self = exclude_self ? row + shift : ~0ull;
  List list = IN_SHARED ? List(k, (u64*)room, (u32*)((u64*)room + k)) : List(k, codes + place, ids + place);
  const W* mine = keys + row * width;
  const u64 from = part * part_size, to = from + part_size < width ? from + part_size : width;
  constexpr u32 DEEP = 4;  // steps whose loads are in flight together
  for (u64 start = from; start < to; start += 32 * DEEP) {
    W key[DEEP];
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u) {
      const u64 j = start + 32 * u + lane_id();
      key[u] = j < to ? mine[j] : W(0);
    }
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u) {
      const u64 j = start + 32 * u + lane_id();
      offer(list, j < to && j != self, code_of_distance((T)key[u]), first_y + (u32)j);
    }
  }
  list.write(codes + place, ids + place);
}
#endif

#ifdef RADIUS
// counts[(first_row + r) · parts + part] = neighbours of row r of the block in that part. Grid: blocks of one warp, one
// part of a row each.
KERNEL(count_within, const W* keys, u64 width, u64 part_size, u32 parts, u64 first_row, u32 exclude_self, u64 radius,
                     u32* counts) {
  const u64 row = blockIdx.x / parts, part = blockIdx.x - row * parts, i = first_row + row;
  const W* mine = keys + row * width;
  const u64 from = part * part_size, to = from + part_size < width ? from + part_size : width;
  u32 count = 0;
  for (u64 j = from + lane_id(); j < to; j += 32)
    count += !(exclude_self && j == i) && within((double)(T)mine[j], radius);
  __syncwarp();
  count = warp_sum(count);
  if (lane_id() == 0) counts[i * parts + part] = count;
}

// Writes the neighbours, from offsets[i · parts + part] on. Grid: as above.
KERNEL(write_within, const W* keys, u64 width, u64 part_size, u32 parts, u64 first_row, u32 exclude_self, u64 radius,
                     const OffsetC* offsets, u32* cols, T* values) {
  const u64 row = blockIdx.x / parts, part = blockIdx.x - row * parts, i = first_row + row;
  const W* mine = keys + row * width;
  const u64 from = part * part_size, end = from + part_size < width ? from + part_size : width;
  u64 to = offsets[i * parts + part];
  if (offsets[i * parts + part + 1] == to) return;
  for (u64 start = from; start < end; start += 32) {
    const u64 j = start + lane_id();
    const W key = j < end ? mine[j] : W(0);
    const bool taken = j < end && !(exclude_self && j == i) && within((double)(T)key, radius);
    const u32 all = __ballot_sync(ALL, taken);
    const u64 at = to + __popc(all & ((1u << lane_id()) - 1));
    if (taken) cols[at] = (u32)j, values[at] = (T)key;
    to += __popc(all);
  }
}
#endif
