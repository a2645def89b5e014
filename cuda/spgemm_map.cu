// spgemm_map.cu: for a reused plan: the rank of every product of C's short rows within its row of C, in fold order. One
// byte per product; ABSENT if C lacks the column. Defined by the host: OffsetA, OffsetB, OffsetC, OffsetP (where a
// row's products begin), GROUP.
#include "parts.cuh"
#include "ranks.cuh"

// few[i] = multiplications of row i if it needs a map, else 0: rows of at most 128 entries whose map was not produced
// with their columns.
KERNEL(mapped_work, u32 nrows, const u32* work, const u32* length, u32* few) {
  const u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (row < nrows) few[row] = length[row] <= 128 && (work[row] > 64 || length[row] > 64) ? work[row] : 0;
}

template <u32 SLOTS> __device__ inline void map_rows(u32 nrows, const u32* rows, const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, const u32* b_col, const OffsetC* c_ptr, const u32* c_col, const OffsetP* place, unsigned char* map) {
  constexpr u32 LANES = GROUP > SLOTS / 32 ? GROUP : SLOTS / 32, GROUPS = 256 / LANES;
  __shared__ u32 all_keys[GROUPS][SLOTS];
  __shared__ unsigned char all_ranks[GROUPS][SLOTS];
  const u32 group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  u32* keys = all_keys[group];
  unsigned char* ranks = all_ranks[group];
  const u64 at = (u64)blockIdx.x * GROUPS + group;
  // Groups without a row stay idle in the loops, so that the warp stays complete.
  const bool some = at < nrows;
  const u32 row = some ? rows[at] : 0;
  const OffsetA begin = some ? a_ptr[row] : 0, end = some ? a_ptr[row + 1] : 0;
  const OffsetC out = some ? c_ptr[row] : 0;
  const u32 length = some ? (u32)(c_ptr[row + 1] - out) : 0;
  OffsetP to = some ? place[row] : 0;
  for (u32 s = lane; s < SLOTS; s += LANES) keys[s] = NONE;
  __syncwarp();
  for (u32 e = lane; e < length; e += LANES) insert(keys, ranks, SLOTS, c_col[out + e], e);
  __syncwarp();
  for (OffsetA e = begin; e < end; ++e) {
    const OffsetB start = b_ptr[a_col[e]];
    const u32 n = (u32)(b_ptr[a_col[e] + 1] - start);
    for (u32 o = lane; o < n; o += LANES) {
      const u32 rank = rank_of(keys, ranks, SLOTS, b_col[start + o]);
      map[to + o] = rank == NONE ? ABSENT : (unsigned char)rank;
    }
    to += n;
  }
}

#define ROWS u32 nrows, const u32* rows, const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, const u32* b_col, const OffsetC* c_ptr, const u32* c_col, const OffsetP* place, unsigned char* map
BOUNDED_KERNEL((256), map_128, ROWS) { map_rows<256>(nrows, rows, a_ptr, a_col, b_ptr, b_col, c_ptr, c_col, place, map); }
