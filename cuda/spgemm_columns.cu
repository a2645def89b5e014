// spgemm_columns.cu: the sorted columns of C = A·B, row by row. Patterns only: no values, no semiring.
//
// Rows are binned by their multiplications, with a kernel per bin. Rows of up to 64 are sorted once in the registers of
// a warp and stored until C's row pointers are known. Longer rows are collected as words of 32 columns: up to 768 words
// in a warp's hash table in shared memory, more in a bitmap window, one block per row. Both run twice, to count and to
// write. If B packs well (PACKED), its words and bitmaps are read instead of its columns. With COMPLEMENT, columns of
// the mask are skipped. Defined by the host: OffsetA, OffsetB, OffsetC, OffsetM, OffsetK (row pointers of A, B, C, the
// mask, and the stored columns), GROUP (lanes that share a row of B), COMPLEMENT, PACKED, MAPPED (short rows also
// return the rank of every product, for the values).
#include "parts.cuh"

// Patterns of A, B and the mask.
struct Operands {
  const OffsetA* a_ptr; const u32* a_col;
  const OffsetB* b_ptr; const u32* b_col;
  const OffsetM* m_ptr; const u32* m_col;
  // B again: words and bitmaps if PACKED, else its columns.
  const OffsetB* w_ptr; const u32* w_word; const u32* w_mask;
};
#define OPERANDS const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, const u32* b_col, const OffsetM* m_ptr, const u32* m_col, const OffsetB* w_ptr, const u32* w_word, const u32* w_mask
#define TOGETHER Operands{a_ptr, a_col, b_ptr, b_col, m_ptr, m_col, w_ptr, w_word, w_mask}

// Whether the mask allows column j in this row of C.
__device__ inline bool kept(const Operands& x, u32 row, u32 j) {
  if (!COMPLEMENT) return true;
  const OffsetM end = x.m_ptr[row + 1];
  const OffsetM at = lower_bound<OffsetM>(x.m_col, x.m_ptr[row], end, j);
  return at == end || x.m_col[at] != j;
}

// ---- Up to 32·R multiplications: sorted in registers. Value e of the row is x[e / 32] of lane e % 32.

// With MAPPED, a value carries its product's index below its column: column · 32R + product. It must fit 32 bits.
template <u32 R> constexpr u32 SHIFT = MAPPED ? (R == 1 ? 5 : 6) : 0;

template <u32 R> __device__ inline void gather(const Operands& x, u32 row, u32 (&cols)[R]) {
  const u32 lane = lane_id();
  for (u32 r = 0; r < R; ++r) cols[r] = NONE;
  int before = 0;
  const OffsetA end = x.a_ptr[row + 1];
  for (OffsetA chunk = x.a_ptr[row]; chunk < end; chunk += 32) {
    OffsetB start = 0;
    int len = 0;
    if (chunk + lane < end) {
      const u32 k = x.a_col[chunk + lane];
      start = x.b_ptr[k];
      len = (int)(x.b_ptr[k + 1] - start);
    }
    const int upto = warp_inclusive_sum(len);
    const int total = __shfl_sync(ALL, upto, 31);
    for (u32 r = 0; r < R; ++r) {
      const int p = (int)(r * 32 + lane) - before;
      u32 owner = 0;  // the first lane whose sum exceeds p
      for (u32 step = 16; step > 0; step /= 2)
        if (__shfl_sync(ALL, upto, owner + step - 1) <= p) owner += step;
      const OffsetB from = __shfl_sync(ALL, start, owner);
      const int first = __shfl_sync(ALL, upto - len, owner);
      if (p >= 0 && p < total) {
        const u32 j = x.b_col[from + (p - first)];
        if (kept(x, row, j)) cols[r] = MAPPED ? (j << SHIFT<R>) | (r * 32 + lane) : j;
      }
    }
    before += total;
  }
}

template <u32 R> __device__ inline void sort(u32 (&x)[R]) {
  const u32 lane = lane_id();
#pragma unroll
  for (u32 k = 2; k <= 32 * R; k *= 2) {
#pragma unroll
    for (u32 j = k / 2; j > 0; j /= 2) {
#pragma unroll
      for (u32 r = 0; r < R; ++r) {
        const bool up = ((r * 32 + lane) & k) == 0;
        if (j >= 32) {
          const u32 q = r ^ (j / 32);
          if (q > r) {
            const u32 a = x[r], b = x[q];
            const bool swap = (b < a) == up;
            x[r] = swap ? b : a;
            x[q] = swap ? a : b;
          }
        } else {
          const u32 y = __shfl_xor_sync(ALL, x[r], j);
          x[r] = ((lane & j) == 0) == up ? min(x[r], y) : max(x[r], y);
        }
      }
    }
  }
}

// Writes the distinct columns in order, and with MAPPED the rank of every product; returns their number.
template <u32 R> __device__ inline u32 distinct(const u32 (&x)[R], u32* out, unsigned char* map) {
  const u32 lane = lane_id();
  u32 count = 0;
#pragma unroll
  for (u32 r = 0; r < R; ++r) {
    u32 before = __shfl_up_sync(ALL, x[r], 1);
    const u32 last = r > 0 ? __shfl_sync(ALL, x[r > 0 ? r - 1 : 0], 31) : NONE;
    if (lane == 0) before = last;
    const u32 j = x[r] >> SHIFT<R>;
    const bool some = x[r] != NONE;
    const bool head = some && (before == NONE || j != before >> SHIFT<R>);
    const u32 heads = __ballot_sync(ALL, head);
    const u32 rank = count + __popc(heads & (0xffffffffu >> (31 - lane))) - 1;
    if (head) out[rank] = j;
    if (MAPPED && some && map) map[x[r] & ((1u << SHIFT<R>) - 1)] = (unsigned char)rank;
    count += __popc(heads);
  }
  return count;
}

// Writes the columns of the rows from `ptr` on, their number, and the map of their products.
template <u32 R, class Offset> __device__ inline void sorted_rows(u32 nrows, const u32* rows, const Operands& x, u32* lengths, const Offset* ptr, u32* out, unsigned char* map) {
  const u64 at = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (at >= nrows) return;
  const u32 row = rows[at];
  u32 cols[R];
  gather<R>(x, row, cols);
  sort<R>(cols);
  const u32 count = distinct<R>(cols, out + ptr[row], map ? map + ptr[row] : nullptr);
  if (lengths && lane_id() == 0) lengths[row] = count;
}

// ---- Up to 768 words: a warp's hash table from words to bitmaps.

__device__ inline u32 slot_of(u32 key, u32 slots) { return (key * 2654435761u) >> (32 - (31 - __clz(slots))); }

// A row of B, as read by the warp.
struct Row {
  OffsetB start;
  u32 length;
};
__device__ inline Row row_of_b(const Operands& x, u32 k) {
  const OffsetB* ptr = PACKED ? x.w_ptr : x.b_ptr;
  return Row{ptr[k], (u32)(ptr[k + 1] - ptr[k])};
}
// An entry of B as read: a word and its bitmap, or a column.
struct Entry {
  u32 word, mask;
};
__device__ inline Entry entry_at(const Operands& x, OffsetB at) {
  if (PACKED) return {x.w_word[at], x.w_mask[at]};
  return {x.b_col[at], 0};
}
// Calls f(word, mask) for an entry of B.
template <class F> __device__ inline void word_of(const Operands& x, u32 row, const Entry& e, F f) {
  if (PACKED) f(e.word, e.mask);
  else if (kept(x, row, e.word)) f(e.word / 32, 1u << (e.word % 32));
}

// Calls f(word, mask) for the rows of B that entries from..to of A's row select, GROUP lanes per row of B and DEEP rows
// at a time; for rows of more than `most` entries, calls late(row of B) in one lane instead.
template <u32 DEEP, class F, class L>
__device__ inline void for_words(const Operands& x, u32 row, OffsetA from, OffsetA to, u32 most, F f, L late) {
  constexpr u32 ROWS = 32 / GROUP;
  const u32 lane = lane_id();
  for (OffsetA chunk = from; chunk < to; chunk += 32) {
    Row mine{0, 0};
    if (chunk + lane < to) mine = row_of_b(x, x.a_col[chunk + lane]);
    if (mine.length > most && late(mine)) mine.length = 0;
    const u32 count = to - chunk < 32 ? (u32)(to - chunk) : 32;
    for (u32 t = 0; t < count; t += DEEP * ROWS) {
      OffsetB first[DEEP];
      u32 n[DEEP], longest = 0;
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u) {
        const u32 source = t + u * ROWS + lane / GROUP;
        first[u] = __shfl_sync(ALL, mine.start, source & 31);
        n[u] = __shfl_sync(ALL, mine.length, source & 31);
        if (source >= 32) n[u] = 0;
        longest = max(longest, n[u]);
      }
      for (u32 o = lane % GROUP; o < longest; o += GROUP) {
        Entry entry[DEEP];
#pragma unroll
        for (u32 u = 0; u < DEEP; ++u)
          if (o < n[u]) entry[u] = entry_at(x, first[u] + o);
#pragma unroll
        for (u32 u = 0; u < DEEP; ++u)
          if (o < n[u]) word_of(x, row, entry[u], f);
      }
    }
  }
}

template <u32 SLOTS> struct Table {
  u32 words[SLOTS], masks[SLOTS];

  __device__ void clear() {
    for (u32 s = lane_id(); s < SLOTS / 4; s += 32) {
      ((uint4*)words)[s] = uint4{NONE, NONE, NONE, NONE};
      ((uint4*)masks)[s] = uint4{0, 0, 0, 0};
    }
    __syncwarp();
  }
  __device__ void add(u32 word, u32 mask) {
    u32 h = slot_of(word, SLOTS);
    while (true) {
      const u32 there = atomicCAS(&words[h], NONE, word);
      if (there == NONE || there == word) break;
      h = (h + 1) & (SLOTS - 1);
    }
    atomicOr(&masks[h], mask);
  }
  __device__ u32 mask_of(u32 word) const {
    u32 h = slot_of(word, SLOTS);
    while (words[h] != word) h = (h + 1) & (SLOTS - 1);
    return masks[h];
  }
  // Collects the words of the row; called by the warp.
  __device__ void gather(const Operands& x, u32 row) {
    clear();
    for_words<2>(x, row, x.a_ptr[row], x.a_ptr[row + 1], NONE, [&](u32 word, u32 mask) { add(word, mask); }, [](Row) { return false; });
    __syncwarp();
  }
};

constexpr u32 HASH_WARPS = 4;
template <u32 SLOTS> __device__ inline void hash_count(u32 nrows, const u32* rows, const Operands& x, u32* lengths, u32* words) {
  __shared__ __align__(16) Table<SLOTS> tables[HASH_WARPS];
  const u64 at = (u64)blockIdx.x * HASH_WARPS + warp_id();
  if (at >= nrows) return;
  Table<SLOTS>& table = tables[warp_id()];
  const u32 row = rows[at];
  table.gather(x, row);
  u32 count = 0, used = 0;
  for (u32 s = lane_id(); s < SLOTS; s += 32) {
    count += __popc(table.masks[s]);
    used += table.masks[s] != 0;
  }
  count = warp_sum(count);
  used = warp_sum(used);
  if (lane_id() == 0) {
    lengths[row] = count;
    words[row] = used;
  }
}

// Writes the columns of sorted words, 32·R words at a time.
template <u32 R, u32 SLOTS> __device__ inline void write_sorted(const Table<SLOTS>& table, const u32* list, u32 packed, u32* out) {
  u32 words[R];
  for (u32 r = 0; r < R; ++r) words[r] = r * 32 + lane_id() < packed ? list[r * 32 + lane_id()] : NONE;
  sort<R>(words);
  for (u32 r = 0; r < R; ++r) {
    u32 mask = words[r] != NONE ? table.mask_of(words[r]) : 0;
    const u32 n = __popc(mask);
    const u32 upto = warp_inclusive_sum(n);
    u32* at = out + (upto - n);
    for (; mask != 0; mask &= mask - 1) *at++ = words[r] * 32 + (__ffs(mask) - 1);
    out += __shfl_sync(ALL, upto, 31);
  }
}

// Rows of C of at most 128 words.
__device__ inline void hash_fill(u32 nrows, const u32* rows, const Operands& x, const OffsetC* c_ptr, u32* c_col) {
  constexpr u32 SLOTS = 256;
  __shared__ __align__(16) Table<SLOTS> tables[HASH_WARPS];
  __shared__ u32 lists[HASH_WARPS][128];
  const u64 at = (u64)blockIdx.x * HASH_WARPS + warp_id();
  if (at >= nrows) return;
  Table<SLOTS>& table = tables[warp_id()];
  u32* list = lists[warp_id()];
  const u32 row = rows[at];
  table.gather(x, row);
  u32 packed = 0;
  for (u32 s = lane_id(); s < SLOTS; s += 32) {
    const u32 word = table.words[s];
    const u32 there = __ballot_sync(ALL, word != NONE);
    if (word != NONE) list[packed + __popc(there & ((1u << lane_id()) - 1))] = word;
    packed += __popc(there);
  }
  __syncwarp();
  u32* out = c_col + c_ptr[row];
  if (packed <= 32) write_sorted<1>(table, list, packed, out);
  else if (packed <= 64) write_sorted<2>(table, list, packed, out);
  else write_sorted<4>(table, list, packed, out);
}

// ---- More: a bitmap window of columns, one block per row.

// Steps over rows of B whose loads are in flight together. Short groups already read several rows in parallel; without
// PACKED, a block of 1024 threads has no registers for more.
constexpr u32 BITS_DEEP = PACKED && GROUP >= 16 ? 2 : 1;
// Long rows of B, which the whole block reads together.
constexpr u32 LATE = 512, LONG_ROW = 512;

template <bool FILL> __device__ inline void bitmap_row(const u32* rows, const Operands& x, u32 ncols, bool b_sorted, u32 window, u32* lengths, u32* all_words, const OffsetC* c_ptr, u32* c_col) {
  extern __shared__ __align__(16) u32 bits[];
  __shared__ u32 low, high, found[32], room[33], late_count;
  __shared__ Row late[LATE];
  const u32 row = rows[blockIdx.x];
  const u32 warps = blockDim.x / 32, warp = warp_id(), lane = lane_id();
  const OffsetA begin = x.a_ptr[row], end = x.a_ptr[row + 1];

  // The range of words between the first and the last column.
  if (threadIdx.x == 0) {
    low = b_sorted ? NONE : 0;
    high = b_sorted ? 0 : ncols - 1;
  }
  __syncthreads();
  if (b_sorted)
    for (OffsetA e = begin + threadIdx.x; e < end; e += blockDim.x) {
      const u32 k = x.a_col[e];
      const OffsetB first = x.b_ptr[k], last = x.b_ptr[k + 1];
      if (first < last) {
        atomicMin(&low, x.b_col[first]);
        atomicMax(&high, x.b_col[last - 1]);
      }
    }
  __syncthreads();
  const u32 first_word = low / 32, end_word = high / 32 + 1;

  // Each warp takes as many entries of A at a time as give every warp some twice, at most 32.
  const OffsetA share = (end - begin + 2 * warps - 1) / (2 * warps);
  const OffsetA take = share < 32 ? share : 32;
  u64 written = 0;
  u32 used = 0;
  for (u32 word = first_word; word < end_word; word += window) {
    const u32 words = end_word - word < window ? end_word - word : window;
    for (u32 w = threadIdx.x; w < words; w += blockDim.x) bits[w] = 0;
    if (threadIdx.x == 0) late_count = 0;
    __syncthreads();
    const auto set = [&](u32 at, u32 mask) {
      const u32 w = at - word;
      if (w < words) atomicOr(&bits[w], mask);
    };
    const auto defer = [&](Row r) {
      const u32 n = atomicAdd(&late_count, 1);
      if (n < LATE) late[n] = r;
      return n < LATE;
    };
    for (OffsetA from = begin + warp * take; from < end; from += warps * take)
      for_words<BITS_DEEP>(x, row, from, end - from < take ? end : from + take, LONG_ROW, set, defer);
    __syncthreads();
    const u32 waiting = late_count < LATE ? late_count : LATE;
    for (u32 t = 0; t < waiting; ++t) {
      const Row r = late[t];
      for (u32 o = threadIdx.x; o < r.length; o += blockDim.x) word_of(x, row, entry_at(x, r.start + o), set);
    }
    __syncthreads();
    const u32 section = (words + warps * 32 - 1) / (warps * 32) * 32;
    const u32 from = warp * section, to = from + section < words ? from + section : words;
    u32 count = 0;
    for (u32 w = from + lane; w < to; w += 32) {
      count += __popc(bits[w]);
      used += bits[w] != 0;
    }
    count = warp_sum(count);
    if (lane == 0) found[warp] = count;
    __syncthreads();
    const u32 each = lane < warps ? found[lane] : 0;
    const u32 upto = warp_inclusive_sum(each);
    if (FILL) {
      u32* out = c_col + c_ptr[row] + written + __shfl_sync(ALL, upto - each, warp);
      for (u32 w = from; w < to; w += 32) {
        u32 mine = w + lane < to ? bits[w + lane] : 0;
        const u32 n = __popc(mine);
        const u32 sum = warp_inclusive_sum(n);
        u32* at = out + (sum - n);
        for (const u32 base = (word + w + lane) * 32; mine != 0; mine &= mine - 1) *at++ = base + (__ffs(mine) - 1);
        out += __shfl_sync(ALL, sum, 31);
      }
    }
    written += __shfl_sync(ALL, upto, 31);
    __syncthreads();
  }
  if (!FILL) {
    used = block_sum(used, room);
    if (threadIdx.x == 0) {
      lengths[row] = (u32)written;
      all_words[row] = used;
    }
  }
}

// ---- Entry points: rows is the list of a bin.

#define LIST u32 nrows, const u32* rows
BOUNDED_KERNEL((256), count_32, LIST, OPERANDS, u32* lengths, u32* words, const OffsetK* kept_ptr, u32* kept,
                                unsigned char* map) { sorted_rows<1>(nrows, rows, TOGETHER, lengths, kept_ptr, kept, map); }
BOUNDED_KERNEL((256), count_64, LIST, OPERANDS, u32* lengths, u32* words, const OffsetK* kept_ptr, u32* kept,
                                unsigned char* map) { sorted_rows<2>(nrows, rows, TOGETHER, lengths, kept_ptr, kept, map); }
BOUNDED_KERNEL((128), count_384, LIST, OPERANDS, u32* lengths, u32* words, const OffsetK*, u32*, unsigned char*) { hash_count<512>(nrows, rows, TOGETHER, lengths, words); }
BOUNDED_KERNEL((128), count_768, LIST, OPERANDS, u32* lengths, u32* words, const OffsetK*, u32*, unsigned char*) { hash_count<1024>(nrows, rows, TOGETHER, lengths, words); }
BOUNDED_KERNEL((1024), count_bits, const u32* rows, OPERANDS, u32 ncols, u32 b_sorted, u32 window, u32* lengths, u32* words,
                                   const OffsetK*, u32*, unsigned char*) { bitmap_row<false>(rows, TOGETHER, ncols, b_sorted, window, lengths, words, nullptr, nullptr); }
BOUNDED_KERNEL((128), fill_words, LIST, OPERANDS, const OffsetC* c_ptr, u32* c_col) { hash_fill(nrows, rows, TOGETHER, c_ptr, c_col); }
BOUNDED_KERNEL((1024), fill_bits, const u32* rows, OPERANDS, u32 ncols, u32 b_sorted, u32 window, const OffsetC* c_ptr,
                                  u32* c_col) { bitmap_row<true>(rows, TOGETHER, ncols, b_sorted, window, nullptr, nullptr, c_ptr, c_col); }
