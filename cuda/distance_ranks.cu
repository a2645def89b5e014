// distance_ranks.cu: for Chebyshev, the rank of each entry by magnitude within its row, the largest first, ties in
// order. ranks[p] = rank of entry p in its row, 255 beyond the first 32; heads[32 i ..] = the 32 leading magnitudes,
// zero-padded; the first one is NaN if the row has an entry that is not finite. Grid: a warp per row, 8 per block.
// Defined by the host: `W`, `Offset` and K_IN_REGISTERS (1).
#include "nearest.cuh"

KERNEL(rank_entries, const Offset* row_ptr, const W* values, u64 nrows, unsigned char* ranks, W* heads) {
  const u64 i = (u64)blockIdx.x * 8 + warp_id();
  if (i >= nrows) return;
  const u64 from = row_ptr[i];
  const u32 length = (u32)(row_ptr[i + 1] - from), lane = lane_id();
  ListInRegisters list(32, nullptr, nullptr);
  bool odd = false;
  for (u32 start = 0; start < length; start += 32) {
    const u32 p = start + lane;
    offer(list, p < length, p < length ? code_of(-(double)sr::abs(values[from + p])) : FARTHEST, p);
    if (p < length) ranks[from + p] = 255, odd |= !(sr::abs(values[from + p]) < sr::inf<W>());
  }
  __syncwarp();
  if (list.id != NONE) ranks[from + list.id] = (unsigned char)lane;
  odd = __any_sync(ALL, odd);
  heads[i * 32 + lane] = odd && lane == 0 ? sr::nan<W>() : list.id != NONE ? sr::abs(values[from + list.id]) : W(0);
}
