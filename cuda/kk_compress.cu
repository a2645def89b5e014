// kk_compress.cu: B with 32 columns per word: csi = column / 32, cs = bitmap of the columns. Words are counted first,
// and filled if that saves enough. Source: Deveci, Trott, Rajamanickam 2018, §3.2. Grid: LANES lanes per row. In sorted
// rows, equal words are adjacent; otherwise every row has a hash table of twice its length in global memory, from
// 2·b_ptr[row] on. Defined by the host: OffsetB, OffsetC (row pointers of words), LANES.
#include "kk.cuh"

// The row of this group; empty beyond the last, so that the warp stays complete.
struct Row {
  u64 row;
  OffsetB begin, end;
  u32 lane;
};
__device__ inline Row row_of_group(u32 nrows, const OffsetB* b_ptr) {
  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
  if (row >= nrows) return Row{row, 0, 0, threadIdx.x % LANES};
  return Row{row, b_ptr[row], b_ptr[row + 1], threadIdx.x % LANES};
}

// ---- Sorted rows: a word begins where column / 32 differs from the previous entry's.

__device__ inline bool heads(const u32* b_col, OffsetB begin, OffsetB e) { return e == begin || b_col[e] / 32 != b_col[e - 1] / 32; }

KERNEL(count_words, u32 nrows, const OffsetB* b_ptr, const u32* b_col, u32* counts) {
  const Row x = row_of_group(nrows, b_ptr);
  u32 count = 0;
  for (u64 e = (u64)x.begin + x.lane; e < x.end; e += LANES) count += heads(b_col, x.begin, (OffsetB)e);
  count = group_sum(count);
  if (x.row < nrows && x.lane == 0) counts[x.row] = count;
}
KERNEL(fill_words, u32 nrows, const OffsetB* b_ptr, const u32* b_col, const OffsetC* w_ptr, u32* csi, u32* cs) {
  const Row x = row_of_group(nrows, b_ptr);
  const u32 group = group_of();
  u64 out = x.row < nrows ? w_ptr[x.row] : 0;
  const u64 mine = x.end - x.begin, longest = warp_max(mine);
  for (u64 o = 0; o < longest; o += LANES) {
    const u64 e = (u64)x.begin + o + x.lane;
    const bool head = o + x.lane < mine && heads(b_col, x.begin, (OffsetB)e);
    const u32 all = __ballot_sync(ALL, head) & group;
    if (head) {
      // At most 32 columns follow.
      const u32 word = b_col[e] / 32;
      u32 bits = 0;
      for (u64 next = e; next < x.end && b_col[next] / 32 == word; ++next) bits |= 1u << (b_col[next] % 32);
      const u64 at = out + __popc(all & ((1u << lane_id()) - 1));
      csi[at] = word;
      cs[at] = bits;
    }
    out += __popc(all);
  }
}

// ---- Unsorted rows: hash tables.

__device__ inline u64 place_of(u32 word, u64 slots) { return ((u64)(word * 2654435761u) * slots) >> 32; }

// tables is initially NONE; afterwards it holds the words of each row, which `hash_fill` reads.
KERNEL(hash_count, u32 nrows, const OffsetB* b_ptr, const u32* b_col, u32* tables, u32* counts) {
  const Row x = row_of_group(nrows, b_ptr);
  u32* table = tables + 2 * (u64)x.begin;
  const u64 slots = 2 * (u64)(x.end - x.begin);
  u32 count = 0;
  for (u64 e = (u64)x.begin + x.lane; e < x.end; e += LANES) {
    const u32 word = b_col[e] / 32;
    for (u64 h = place_of(word, slots);; h = h + 1 < slots ? h + 1 : 0) {
      const u32 there = atomicCAS(&table[h], NONE, word);
      count += there == NONE;
      if (there == NONE || there == word) break;
    }
  }
  count = group_sum(count);
  if (x.row < nrows && x.lane == 0) counts[x.row] = count;
}
// bits is initially 0. The words of a row are in table order, which nothing depends on.
KERNEL(hash_fill, u32 nrows, const OffsetB* b_ptr, const u32* b_col, const u32* tables, u32* bits, const OffsetC* w_ptr, u32* csi,
                  u32* cs) {
  const Row x = row_of_group(nrows, b_ptr);
  const u32* table = tables + 2 * (u64)x.begin;
  u32* columns = bits + 2 * (u64)x.begin;
  const u32 group = group_of();
  const u64 slots = 2 * (u64)(x.end - x.begin), longest = warp_max(slots);
  for (u64 e = (u64)x.begin + x.lane; e < x.end; e += LANES) {
    const u32 word = b_col[e] / 32;
    u64 h = place_of(word, slots);
    while (table[h] != word) h = h + 1 < slots ? h + 1 : 0;
    atomicOr(&columns[h], 1u << (b_col[e] % 32));
  }
  __syncwarp();
  u64 out = x.row < nrows ? w_ptr[x.row] : 0;
  for (u64 o = 0; o < longest; o += LANES) {
    const u64 h = o + x.lane;
    const u32 word = h < slots ? table[h] : NONE;
    const u32 all = __ballot_sync(ALL, word != NONE) & group;
    if (word != NONE) {
      const u64 at = out + __popc(all & ((1u << lane_id()) - 1));
      csi[at] = word;
      cs[at] = columns[h];
    }
    out += __popc(all);
  }
}
