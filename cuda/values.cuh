// values.cuh: values of C = A ⊕.⊗ B at the columns that C has: what the six ways have in common. Products at other
// columns (under a mask) are dropped.
//
// Every value is folded from zero() in the order in which A's row is stored, as on the CPU: the same bits. No value is
// ever written by two threads at a time, so it may be of any type. Six ways, a file each: SHORT   up to 128 entries:
// GROUP lanes a row, one row of B after the other, lanes side by side on its entries, which
//         stand in different columns; a hash table tells the entry of a column.
// MAPPED  the same where the entry of every product is known already (spgemm_columns.cu, spgemm_map.cu); a thread a row
//         where rows have up to 16 entries.
// PARTS   up to 1024: a warp for every PART entries of C's row; it takes 32 entries of A's row at a time, finds what of
// B's
//         rows falls into its columns, and goes through those products 32 at a time, one row of B after the other.
// LONG    more: a block for every LONG_PART entries, whose warps look up side by side and add in turn.
// FOLDS   all of a small product where the products of each entry are known (spgemm_folds.cu): a thread an entry.
// LISTED  any length above 128 where the products of every part are listed already (spgemm_lists.cu): a warp a part.
// Set in front: struct Ring, OffsetA, OffsetB, OffsetC, OffsetP (where a row's products begin in the map), GROUP.
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

// The loop of SHORT and MAPPED: entries [begin, end) of A's row `row`, whose LANES lanes take the rows of B one after
// the other and fold the products into `values`. Groups without a row go along with an empty one: the warp is one.
// `find` tells the entry of a product: what `read` gets for it, from its place in B and its number in the map, `rank`
// turns into an entry, or Find::NOWHERE. `next` is the number of the row's first product.
template <u32 LANES, class Find>
__device__ inline void fold_by_lanes(const Operands& m, const Find& find, Value* values, u32 row, OffsetA begin, OffsetA end,
                                     OffsetP next) {
  const u32 lane = threadIdx.x % LANES, leader = lane_id() & ~(LANES - 1);
  const u64 longest = warp_max((u64)(end - begin));
  for (u64 chunk = 0; chunk < longest; chunk += LANES) {
    // Each lane looks up one of B's rows for its group.
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
    // What the next step multiplies is read while this one goes on.
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

// Of PARTS and LONG: the stretch [start, stop) of a sorted row of B, not empty, whose columns lie in [low, high].
__device__ inline void narrow(const u32* b_col, OffsetB& start, OffsetB& stop, u32 low, u32 high) {
  start = lower_bound<OffsetB>(b_col, start, stop, low);
  // No more columns than C has here.
  const u64 most = (u64)start + (high - low) + 1;
  stop = lower_bound<OffsetB>(b_col, start, most < stop ? (OffsetB)most : stop, high + 1);
}

// Of PARTS and LONG: rank of column j by `words` words of bits from `first_word` on and the number of bits before each.
__device__ inline u32 rank_by_bits(const u32* all, const unsigned short* before, u32 first_word, u32 words, u32 j) {
  const u32 w = j / 32 - first_word, bit = 1u << (j % 32);
  if (w < words) {
    const u32 bits = all[w];
    if (bits & bit) return before[w] + __popc(bits & (bit - 1));
  }
  return NONE;
}
