// kk_symbolic.cu: the length of every row of C = A·B, by kkSpGEMM: linked lists in two levels, Thread-Sequential.
//
// Keys are columns of B, or words of 32 columns with their bitmaps (COMPRESSED). The first level of each group is in
// shared memory; a warp whose rows do not fit takes a chunk of the pool, which has a second level for each of its
// groups. Grid: LANES lanes per row of A, blocks of 256. Shared memory per group: `hashes` begins, then nexts, ids and
// words of `room` slots. Defined by the host: OffsetA, OffsetB, LANES, COMPRESSED. Source: Deveci, Trott, Rajamanickam
// 2018, Algorithm 3, §3.1.
#include "kk.cuh"
constexpr u32 ARRAYS = COMPRESSED ? 3 : 2;

BOUNDED_KERNEL((256, 4), kk_lengths, u32 nrows, const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, const u32* b_key,
                                     const u32* b_bits, u32 hashes, u32 room, u32 hashes2, u32 room2, u32 chunks, u32* locks,
                                     u32* begins2, u32* lists2, u32* lengths) {
  extern __shared__ __align__(16) u32 shared[];
  constexpr u32 GROUPS = 32 / LANES;  // per warp
  const u32 group = group_of(), lane = threadIdx.x % LANES, in_warp = lane_id() / LANES;
  u32* mine = shared + (u64)(threadIdx.x / LANES) * (hashes + ARRAYS * room);
  const Lists first = lists_at(mine, hashes, mine + hashes, room);
  u32* words = mine + hashes + 2 * room;
  for (u32 h = lane; h < hashes; h += LANES) first.begins[h] = NONE;
  __syncwarp();

  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
  const OffsetA begin = row < nrows ? a_ptr[row] : 0, end = row < nrows ? a_ptr[row + 1] : 0;
  u32 used = 0, used2 = 0, chunk = NONE;
  Lists second{};
  u32* words2 = nullptr;
  thread_sequential(a_col, begin, end, b_ptr, [&](bool some, OffsetB p, OffsetA, u32) {
    const u32 key = some ? b_key[p] : NONE;
    u32 bits = 0;
    if (COMPRESSED && some) bits = b_bits[p];
    bool fresh;
    const u32 s = place(first, key, some, group, used, fresh);
    if (COMPRESSED && s != NONE) words[s] = fresh ? bits : words[s] | bits;
    const bool refused = some && s == NONE;
    if (__any_sync(ALL, refused)) {
      if (chunk == NONE) {
        if (lane_id() == 0) chunk = take_chunk(locks, chunks, blockIdx.x * (blockDim.x / 32) + warp_id());
        __syncwarp();  // makes the last owner's writes visible to all lanes
        chunk = __shfl_sync(ALL, chunk, 0);
        const u64 table = (u64)chunk * GROUPS + in_warp;
        u32* lists = lists2 + table * ARRAYS * room2;
        second = lists_at(begins2 + table * hashes2, hashes2, lists, room2);
        words2 = lists + 2 * (u64)room2;
      }
      const u32 s2 = place(second, key, refused, group, used2, fresh);
      if (COMPRESSED && s2 != NONE) words2[s2] = fresh ? bits : words2[s2] | bits;
    }
    __syncwarp();
  });

  u32 count = 0;
  if (COMPRESSED) {
    for (u32 s = lane; s < used; s += LANES) count += __popc(words[s]);
    for (u32 s = lane; s < used2; s += LANES) count += __popc(words2[s]);
    count = group_sum(count);
  } else {
    count = used + used2;
  }
  if (row < nrows && lane == 0) lengths[row] = count;
  if (chunk != NONE) {
    reset(second, used2);
    __syncwarp();
    if (lane_id() == 0) give_chunk(locks, chunk);
  }
}
