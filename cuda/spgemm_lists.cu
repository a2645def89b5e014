// spgemm_lists.cu: for a reused plan: the products of C's longer rows as lists, in fold order.
//
// A row is divided into parts. A part's list has a word for each of its products: the entry of the part (ENTRY), HEAD
// where another entry of A begins, BREAK where the entry has occurred since the last break among the 32 words that a
// warp takes at a time. It also has a record for each entry of A with a product in the part: the position in B that
// word 0 would correspond to, and the entry of A. C has all columns of the product, and rows of B are sorted. Grid: a
// thread per listed row, or a warp per part. Defined by the host: OffsetA, OffsetB, OffsetC, OffsetP (where a part's
// words begin).
#include "lists.cuh"

// counts[t] = parts of row rows[t].
KERNEL(list_parts_count, u32 n, const u32* rows, const OffsetA* a_ptr, const OffsetC* c_ptr, u32 pairs, u32* counts) {
  const u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const u32 entries = entries_of_part(a_ptr[rows[t] + 1] - a_ptr[rows[t]], pairs);
  counts[t] = (u32)((c_ptr[rows[t] + 1] - c_ptr[rows[t]] + entries - 1) / entries);
}
// The parts. Small ones, which belong to heavy rows, are stored from the front, because long-running parts should start
// early.
KERNEL(list_parts_fill, u32 n, const u32* rows, const OffsetA* a_ptr, const OffsetC* c_ptr, u32 pairs, u32 total, u32* ends, Part* parts) {
  const u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const u32 row = rows[t], entries = entries_of_part(a_ptr[row + 1] - a_ptr[row], pairs);
  const u32 length = (u32)(c_ptr[row + 1] - c_ptr[row]), count = (length + entries - 1) / entries;
  const u32 at = entries < MOST_ENTRIES ? atomicAdd(&ends[0], count) : total - count - atomicAdd(&ends[1], count);
  for (u32 p = 0; p < count; ++p) {
    const u32 first = p * entries;
    parts[at + p] = {row, first, length - first < entries ? length - first : entries};
  }
}

// Calls each(e, start, length) for 32 entries e of A's row at a time: the range of B's row that falls into the part.
template <class F>
__device__ inline void for_stretches(const Part& part, const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, const u32* b_col,
                                     u32 low, u32 high, F each) {
  const OffsetA end = a_ptr[part.row + 1];
  for (OffsetA chunk = a_ptr[part.row]; chunk < end; chunk += 32) {
    const OffsetA e = chunk + lane_id();
    OffsetB start = 0, stop = 0;
    if (e < end) {
      const u32 k = a_col[e];
      start = lower_bound<OffsetB>(b_col, b_ptr[k], b_ptr[k + 1], low);
      stop = lower_bound<OffsetB>(b_col, start, b_ptr[k + 1], high + 1);
    }
    each(e, start, (u32)(stop - start));
  }
}

#define PATTERNS const OffsetA *a_ptr, const u32 *a_col, const OffsetB *b_ptr, const u32 *b_col, const OffsetC *c_ptr, const u32 *c_col

// Counts the words and records of each part.
BOUNDED_KERNEL((256), list_count, u32 n, const Part* parts, PATTERNS, u32* words, u32* records) {
  const u64 t = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (t >= n) return;
  const Part part = parts[t];
  const OffsetC out = c_ptr[part.row] + part.first;
  u32 products = 0, sources = 0;
  for_stretches(part, a_ptr, a_col, b_ptr, b_col, c_col[out], c_col[out + part.length - 1], [&](OffsetA, OffsetB, u32 length) {
    products += length;
    sources += length > 0;
  });
  products = warp_sum(products);
  sources = warp_sum(sources);
  if (lane_id() == 0) words[t] = products, records[t] = sources;
}

constexpr u32 LIST_WARPS = 4;
BOUNDED_KERNEL((32 * LIST_WARPS), list_fill, u32 n, const Part* parts, PATTERNS, const OffsetP* word_at, const u32* record_at,
               unsigned short* words, Record* records) {
  __shared__ u32 all_columns[LIST_WARPS][MOST_ENTRIES];
  const u64 t = (u64)blockIdx.x * LIST_WARPS + warp_id();
  if (t >= n) return;
  const Part part = parts[t];
  const u32 lane = lane_id();
  u32* columns = all_columns[warp_id()];
  const OffsetC out = c_ptr[part.row] + part.first;
  for (u32 e = lane; e < part.length; e += 32) columns[e] = c_col[out + e];
  __syncwarp();
  unsigned short* to = words + word_at[t];
  Record* record = records + record_at[t];
  u32 done = 0;
  for_stretches(part, a_ptr, a_col, b_ptr, b_col, columns[0], columns[part.length - 1], [&](OffsetA e, OffsetB start, u32 length) {
    const u32 upto = warp_inclusive_sum(length), total = __shfl_sync(ALL, upto, 31), before = upto - length;
    const u32 some = __ballot_sync(ALL, length > 0);
    if (length > 0) record[__popc(some & ((1u << lane) - 1))] = {(u32)start - (done + before), (u32)e};
    record += __popc(some);
    for (u32 base = 0; base < total; base += 32) {
      const u32 p = base + lane;
      u32 owner = 0;  // the first lane whose sum exceeds p
      for (u32 step = 16; step > 0; step /= 2)
        if (__shfl_sync(ALL, upto, owner + step - 1) <= p) owner += step;
      const OffsetB from = __shfl_sync(ALL, start, owner);
      const u32 first = __shfl_sync(ALL, before, owner);
      if (p < total) {
        const u32 entry = lower_bound(columns, 0u, part.length, b_col[from + (p - first)]);
        to[done + p] = (unsigned short)(entry | (p == first ? HEAD : 0));
      }
    }
    done += total;
  });
  __syncwarp();
  for (u32 base = 0; base < done; base += 32) {
    const u32 p = base + lane;
    const u32 word = p < done ? to[p] : 0;
    // A repeated entry must wait for its earlier occurrences.
    const u32 same = __match_any_sync(ALL, p < done ? word & ENTRY : MOST_ENTRIES + lane);
    const u32 earlier = same & ((1u << lane) - 1);
    const int previous = earlier ? 31 - __clz(earlier) : -1;
    bool waits = false;
    for (int start = 0;;) {
      const u32 again = __ballot_sync(ALL, previous >= start);
      if (again == 0) break;
      start = __ffs(again) - 1;
      if ((int)lane == start) waits = true;
    }
    if (waits) to[p] = (unsigned short)(word | BREAK);
  }
}
