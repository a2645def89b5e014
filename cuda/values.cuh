// values.cuh: values of C = A ⊕.⊗ B for a known pattern of C: common code of the six algorithms. Products outside the
// pattern (under a mask) are dropped.
//
// Every value is folded from zero() in the stored order of A's row, as on the CPU: the same bits. No value is ever
// written by two threads at once, so it may be of any type. Six algorithms, one file each:
// - SHORT: up to 128 entries: GROUP lanes per row, one row of B at a time, lanes in parallel over its entries, which
//   are in distinct columns; a hash table maps a column to its entry.
// - MAPPED: the same if the entry of every product is already known (spgemm_columns.cu, spgemm_map.cu); a thread per
//   row if rows have up to 16 entries.
// - PARTS: up to 1024: a warp per PART entries of C's row. It takes 32 entries of A's row at a time, finds the ranges
//   of B's rows within its columns, and processes those products 32 at a time, one row of B after the other.
// - LONG: more: a block per LONG_PART entries, whose warps look up in parallel and add in turn.
// - FOLDS: all of a small product if the products of each entry are known (spgemm_folds.cu): a thread per entry.
// - LISTED: any length above 128 if the products of every part are already listed (spgemm_lists.cu): a warp per part.
// Defined by the host: struct Ring, OffsetA, OffsetB, OffsetC, OffsetP (where a row's products begin in the map),
// GROUP.
#pragma once
#include "ranks.cuh"
using Left = Ring::A;
using Right = Ring::B;
using Value = Ring::Out;

// A, B and C.
struct Operands {
  const OffsetA* a_ptr;
  const u32* a_col;
  const Left* a_val;
  const OffsetB* b_ptr;
  const u32* b_col;
  const Right* b_val;
  const OffsetC* c_ptr;
  const u32* c_col;
  Value* c_val;
};

// The loop of SHORT and MAPPED over entries [begin, end) of A's row `row`: LANES lanes take the rows of B one at a time
// and fold the products into `values`. Groups without a row run with an empty one, so that the warp stays complete.
// `find` locates the entry of a product: `read` fetches a word by the position in B and the product's index in the map,
// and `rank` turns it into an entry, or Find::NOWHERE. `next` is the index of the row's first product.
template <u32 LANES, class Find>
__device__ inline void fold_by_lanes(const Operands& m, const Find& find, Value* values, u32 row, OffsetA begin, OffsetA end,
                                     OffsetP next) {
  const u32 lane = threadIdx.x % LANES, leader = lane_id() & ~(LANES - 1);
  const u64 longest = warp_max((u64)(end - begin));
  for (u64 chunk = 0; chunk < longest; chunk += LANES) {
    // Each lane loads the bounds of one row of B for its group.
    u32 k = 0, len = 0;
    OffsetB start = 0;
    Left left;
    if (begin + chunk + lane < end) {
      k = m.a_col[begin + chunk + lane];
      if constexpr (Ring::reads_a) left = m.a_val[begin + chunk + lane];
      start = m.b_ptr[k];
      len = (u32)(m.b_ptr[k + 1] - start);
    }
    const u32 count = longest - chunk < LANES ? (u32)(longest - chunk) : LANES;
    // The operands of the next step are loaded during this one.
    u32 next_len = __shfl_sync(ALL, len, leader);
    OffsetB next_start = __shfl_sync(ALL, start, leader);
    typename Find::Read next_read = Find::NOTHING;
    Right next_right;
    if (lane < next_len) {
      next_read = find.read(m, next_start + lane, next + lane);
      if constexpr (Ring::reads_b) next_right = m.b_val[next_start + lane];
    }
    for (u32 t = 0; t < count; ++t) {
      const u32 n = next_len;
      const OffsetB first = next_start;
      const OffsetP from = next;
      typename Find::Read read = next_read;
      Right right = next_right;
      u32 here = 0;
      if constexpr (Ring::reads_place) here = __shfl_sync(ALL, k, leader + t);
      Left a;
      if constexpr (Ring::reads_a) a = shuffle(ALL, left, leader + t);
      next += n;
      if (t + 1 < count) {
        next_len = __shfl_sync(ALL, len, leader + t + 1);
        next_start = __shfl_sync(ALL, start, leader + t + 1);
        next_read = Find::NOTHING;
        if (lane < next_len) {
          next_read = find.read(m, next_start + lane, next + lane);
          if constexpr (Ring::reads_b) next_right = m.b_val[next_start + lane];
        }
      }
      for (u32 o = lane; __any_sync(ALL, o < n); o += LANES) {
        if (o < n) {
          if (o != lane) {
            read = find.read(m, first + o, from + o);
            if constexpr (Ring::reads_b) right = m.b_val[first + o];
          }
          const u32 j = find.column(m, read, first + o);
          const u32 rank = find.rank(read);
          if (rank != Find::NOWHERE) values[rank] = Ring::add(values[rank], Ring::mul(a, right, row, here, j));
        }
      }
      __syncwarp();
    }
  }
}

// For PARTS and LONG: narrows [start, stop), a nonempty range of a sorted row of B, to the columns in [low, high].
__device__ inline void narrow(const u32* b_col, OffsetB& start, OffsetB& stop, u32 low, u32 high) {
  start = lower_bound<OffsetB>(b_col, start, stop, low);
  // At most as many columns as the interval holds.
  const u64 most = (u64)start + (high - low) + 1;
  stop = lower_bound<OffsetB>(b_col, start, most < stop ? (OffsetB)most : stop, high + 1);
}

// For PARTS and LONG: rank of column j, from a bitmap of `words` words starting at `first_word` and the prefix counts
// of its words.
__device__ inline u32 rank_by_bits(const u32* all, const unsigned short* before, u32 first_word, u32 words, u32 j) {
  const u32 w = j / 32 - first_word, bit = 1u << (j % 32);
  if (w < words) {
    const u32 bits = all[w];
    if (bits & bit) return before[w] + __popc(bits & (bit - 1));
  }
  return NONE;
}
