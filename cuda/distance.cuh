// distance.cuh: shared by the distance kernels: prepared rows, the pass over common columns, the exact sum of a pair. A
// warp handles one row of X and one tile of rows of Y, whose sums are in shared memory. For each entry of the row, in
// column order, the lanes walk the rows of Y that contain its column. These rows are distinct, so lanes never collide,
// and every sum is folded in column order: the same bits in every run. Defined by the host: `Recipe`, `Exact`, and
// `Ring` if ⊕ is + or CHEBYSHEV for the largest difference; SPLIT if there is a `Split`, a part of ⊗ that depends on
// the entry of X alone and is computed once for it; `OffsetX`, `OffsetY` and `OffsetT` (row pointers of X, of Y, of Y's
// transpose). Source: src/distance/recipe.rs for the pass; the loop order is Gustavson's for X·Yᵀ, tiled.
#pragma once
#include "parts.cuh"

typedef Recipe::W W;
typedef unsigned char Rank;

// Rows first .. first + size of Y.
struct TileOfY {
  u64 number, tiles;
  u32 first, size;
};
__device__ inline TileOfY tile_of_y(u64 number, u64 tiles, u32 rows, u64 nrows) {
  const u64 first = number * rows;
  return {number, tiles, (u32)first, (u32)(nrows - first < rows ? nrows - first : rows)};
}

#ifdef CHEBYSHEV
// The largest |a − b| over common columns, and a bitmap of the largest entries of either row that are in common
// columns. An entry in a column that the other row lacks counts with its magnitude, so only the largest such entry of
// each row matters. Entries carry their rank by magnitude within the row; the bitmap covers the HEAD leading ranks.
constexpr u32 HEAD = 32;
struct Entry {
  W value;
  u32 bit;  // of its rank; 0 beyond the head
};
__device__ inline Entry shuffle(const Entry& e, u32 lane) {
  return {__shfl_sync(ALL, e.value, lane), __shfl_sync(ALL, e.bit, lane)};
}
__device__ inline u32 bit_of(Rank rank) { return rank < HEAD ? 1u << rank : 0; }
struct Term {
  W gap;
  u32 x, y;
};
__device__ inline Term term_of(const Entry& a, const Entry& b, u64, u64, u64) {
  return {sr::abs_diff(a.value, b.value), a.bit, b.bit};
}
struct Sums {
  W* most;
  u32 *common_x, *common_y;
  __device__ Sums(void* room, u32 rows) : most((W*)room), common_x((u32*)(most + rows)), common_y(common_x + rows) {}
  __device__ void* end(u32 rows) const { return common_y + rows; }
  __device__ void clear(u32 j) { most[j] = 0, common_x[j] = 0, common_y[j] = 0; }
  __device__ void fold(u32 j, const Term& t) {
    most[j] = sr::max(most[j], t.gap);
    common_x[j] |= t.x;
    common_y[j] |= t.y;
  }
};
template <class Offset> struct Rows {
  const Offset* ptr;
  const u32* cols;
  const W* values;
  const Rank* ranks;
  const W* heads;  // HEAD magnitudes of each row, in decreasing order, zero-padded
  __device__ Entry entry(u64 p) const { return {values[p], bit_of(ranks[p])}; }
  // Whether the row has an entry that is not finite.
  __device__ bool is_odd(u64 i) const { return heads[i * HEAD] != heads[i * HEAD]; }
  // The largest magnitude outside the common columns; `beyond` if it is not in the head.
  __device__ W alone(u64 i, u32 common, bool& beyond) const {
    if (common != ~0u) return heads[i * HEAD + (__ffs(~common) - 1)];
    if (ptr[i + 1] - ptr[i] > HEAD) beyond = true;
    return 0;
  }
};
// The key of row i of X and row j of Y; `again` if it has to be recomputed over their union.
__device__ inline W key_of_pair(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, u64 j, const Sums& s, u32 at,
                                bool& again) {
  again = x.is_odd(i) || y.is_odd(j);
  if (again) return sr::nan<W>();
  const W a = x.alone(i, s.common_x[at], again), b = y.alone(j, s.common_y[at], again);
  return sr::max(sr::max(s.most[at], a), b);
}
__device__ inline W key_from_exact(const Rows<OffsetX>&, u64, const Rows<OffsetY>&, u64, W most) { return most; }
constexpr bool READS_B = true, READS_PLACE = false, REFINES = true;

#else
// Σ of ⊗ over common columns, and their number if the recipe needs it.
struct Entry {
  W value;
};
__device__ inline Entry shuffle(const Entry& e, u32 lane) { return {__shfl_sync(ALL, e.value, lane)}; }
typedef W Term;
__device__ inline Term term_of(const Entry& a, const Entry& b, u64 i, u64 k, u64 j) {
  return Ring::mul(a.value, b.value, i, k, j);
}
struct Sums {
  W* sums;
  u32* shared;
  __device__ Sums(void* room, u32 rows) : sums((W*)room), shared((u32*)(sums + rows)) {}
  __device__ void* end(u32 rows) const { return shared + (Recipe::counts ? rows : 0); }
  __device__ void clear(u32 j) {
    sums[j] = Ring::zero();
    if (Recipe::counts) shared[j] = 0;
  }
  __device__ void fold(u32 j, Term t) {
    sums[j] = Ring::add(sums[j], t);
    if (Recipe::counts) ++shared[j];
  }
};
template <class Offset> struct Rows {
  const Offset* ptr;
  const u32* cols;
  const W* values;
  const W *norm0, *norm1;  // per row
  __device__ Entry entry(u64 p) const { return {values[p]}; }
};
__device__ inline W key_of_sum(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, u64 j, W sum, W shared, bool& again) {
  const W x0 = x.norm0[i], x1 = x.norm1[i], y0 = y.norm0[j], y1 = y.norm1[j];
  const W key = Recipe::key(x0, x1, y0, y1, sum, shared);
  again = Recipe::refines && Recipe::near(key, x0, x1, y0, y1);
  return key;
}
__device__ inline W key_of_pair(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, u64 j, const Sums& s, u32 at,
                                bool& again) {
  return key_of_sum(x, i, y, j, s.sums[at], Recipe::counts ? (W)s.shared[at] : W(0), again);
}
__device__ inline W key_from_exact(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, u64 j, W sum) {
  return Recipe::exact_key(x.norm0[i], x.norm1[i], y.norm0[j], y.norm1[j], sum);
}
constexpr bool READS_B = Ring::reads_b, READS_PLACE = Ring::reads_place, REFINES = Recipe::refines;
#endif

// Y by columns: for each, the rows that contain it, increasing, and their entries. starts[c · tiles + t] is the start
// of tile t in column c; without `starts`, it is found by binary search.
struct Columns {
  const OffsetT* ptr;
  const u32* rows;
  const W* values;
  const Rank* ranks;
  const OffsetT* starts;
  __device__ Entry entry(u64 p) const {
#ifdef CHEBYSHEV
    return {values[p], bit_of(ranks[p])};
#else
    return {READS_B ? values[p] : W(0)};
#endif
  }
};

// A range of entries of Y's transpose.
struct Segment {
  OffsetT from;
  u32 count;
};
__device__ inline Segment segment_of(const Columns& y, const TileOfY& tile, u32 column) {
  if (column == NONE) return {0, 0};
  if (y.starts) {
    const OffsetT* at = y.starts + ((u64)column * tile.tiles + tile.number);
    const OffsetT from = at[0];
    return {from, (u32)(at[1] - from)};
  }
  const OffsetT end = y.ptr[column + 1];
  const OffsetT from = lower_bound(y.rows, y.ptr[column], end, tile.first);
  return {from, (u32)(lower_bound(y.rows, from, end, tile.first + tile.size) - from)};
}

// 32 entries of X, one per lane, readable by all lanes: in registers, or in shared memory if ⊗ splits, each beside its
// precomputed part.
#ifdef SPLIT
struct __align__(2 * sizeof(W)) WithPart {
  W value, part;
};
typedef u32 Operand;
struct Broadcast {
  WithPart* of;
  __device__ Broadcast() {
    __shared__ WithPart room[32];
    of = room;
  }
  __device__ void set(const Entry& e) {
    __syncwarp();
    of[lane_id()] = {e.value, Split::part(e.value)};
    __syncwarp();
  }
  __device__ Operand of_lane(u32 lane) const { return lane; }
  __device__ Term times(Operand lane, const Entry& b, u64 i, u64 k, u64 j) const {
    const WithPart a = of[lane];
    return Split::mul(a.value, b.value, i, k, j, a.part);
  }
};
#else
typedef Entry Operand;
struct Broadcast {
  Entry of;
  __device__ void set(const Entry& e) { of = e; }
  __device__ Operand of_lane(u32 lane) const { return shuffle(of, lane); }
  __device__ Term times(const Operand& a, const Entry& b, u64 i, u64 k, u64 j) const { return term_of(a, b, i, k, j); }
};
#endif

// Steps of 32 entries whose loads are in flight together.
constexpr u32 DEEP = sizeof(Entry) > 8 ? 4 : 8;

// Folds the common columns with row i of X into `sums`, for all rows of the tile. Called by all lanes.
__device__ inline void sum_common(const Rows<OffsetX>& x, u64 i, const Columns& y, const TileOfY& tile, Sums& sums) {
  const u32 lane = lane_id();
  for (u32 j = lane; j < tile.size; j += 32) sums.clear(j);
  __syncwarp();
  const u64 begin = x.ptr[i], length = x.ptr[i + 1] - begin;
  const u32* cols = x.cols + begin;
  // Software pipeline: each lane has one of the current 32 entries; the segments of the next 32 and the columns of the
  // 32 after those are in flight.
  u32 column, column1 = lane < length ? cols[lane] : NONE, column2 = 32 + lane < length ? cols[32 + lane] : NONE;
  Entry a1 = {}, a2 = {};
  Broadcast broadcast;
  if (column1 != NONE) a1 = x.entry(begin + lane);
  if (column2 != NONE) a2 = x.entry(begin + 32 + lane);
  Segment s, s1 = segment_of(y, tile, column1);
  for (u64 base = 0; base < length; base += 32) {
    column = column1, s = s1;
    broadcast.set(a1);
    column1 = column2, a1 = a2;
    s1 = segment_of(y, tile, column1);
    const u64 ahead = base + 64 + lane;
    column2 = ahead < length ? cols[ahead] : NONE;
    if (column2 != NONE) a2 = x.entry(begin + ahead);

    // The concatenated segments, in steps of up to 32 entries of one segment each.
    const u32 steps = (s.count + 31) / 32, upto = warp_inclusive_sum(steps);
    const u32 all = __shfl_sync(ALL, upto, 31);
    const OffsetT end = s.from + s.count, origin = s.from - (OffsetT)(upto - steps) * 32;
    for (u32 step = 0; step < all; step += DEEP) {
      u32 at[DEEP], k[DEEP];
      Operand left[DEEP];
      Entry right[DEEP];
      // Issues all loads before the first use.
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u) {
        at[u] = NONE, k[u] = 0, left[u] = {}, right[u] = {};
        if (step + u >= all) continue;
        const u32 e = __popc(__ballot_sync(ALL, upto <= step + u));
        const OffsetT p = __shfl_sync(ALL, origin, e) + (OffsetT)(step + u) * 32 + lane;
        const OffsetT stop = __shfl_sync(ALL, end, e);
        left[u] = broadcast.of_lane(e);
        if (READS_PLACE) k[u] = __shfl_sync(ALL, column, e);
        // p < stop, even where p has wrapped around.
        if ((OffsetT)(stop - p - 1) < (OffsetT)0x80000000u) {
          at[u] = y.rows[p];
          right[u] = y.entry(p);
        }
      }
      Term term[DEEP];
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u)
        if (step + u < all) term[u] = broadcast.times(left[u], right[u], i, k[u], at[u]);
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u) {
        if (step + u >= all) continue;
        if (at[u] != NONE) sums.fold(at[u] - tile.first, term[u]);
        // The rows of one segment are distinct; those of the next may repeat them.
        __syncwarp();
      }
    }
  }
}

// Σ of the exact ⊗ over the union of row i of X and row j of Y. Lanes take entries of X, each looked up in Y, then the
// entries of Y that X lacks; the sums of lanes are added as a tree. All lanes get the same value.
__device__ inline W exact_sum(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, u64 j) {
  const u64 xs = x.ptr[i], xn = x.ptr[i + 1] - xs, ys = y.ptr[j], yn = y.ptr[j + 1] - ys;
  const u32 *xc = x.cols + xs, *yc = y.cols + ys;
  W sum = Exact::zero();
  bool number = true;
  for (u64 p = lane_id(); p < xn; p += 32) {
    const u64 q = lower_bound(yc, (u64)0, yn, xc[p]);
    const W b = q < yn && yc[q] == xc[p] ? y.values[ys + q] : W(0);
    const W term = Exact::mul(x.values[xs + p], b, i, xc[p], j);
    number &= term == term;
    sum = Exact::add(sum, term);
  }
  for (u64 q = lane_id(); q < yn; q += 32) {
    const u64 p = lower_bound(xc, (u64)0, xn, yc[q]);
    if (p < xn && xc[p] == yc[q]) continue;
    const W term = Exact::mul(W(0), y.values[ys + q], i, yc[q], j);
    number &= term == term;
    sum = Exact::add(sum, term);
  }
  __syncwarp();
  for (u32 d = 16; d > 0; d /= 2) sum = Exact::add(sum, __shfl_xor_sync(ALL, sum, d));
#ifdef CHEBYSHEV
  // Comparisons would drop a NaN.
  if (!__all_sync(ALL, number)) sum = sr::nan<W>();
#endif
  return sum;
}

// Keys that a lane computes before the first use.
constexpr u32 EACH = 4;

// Calls each(j, valid, keys) with the keys of the tile's rows, EACH × 32 at a time: rows j, j + 32, … where valid, with
// increasing j; called by all lanes. `self` is the index of row i in Y, if it is a row of Y.
template <class F>
__device__ inline void keys_of(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, const TileOfY& tile,
                               const Sums& sums, u64 self, F each) {
  for (u32 start = 0; start < tile.size; start += 32 * EACH) {
    W key[EACH];
    bool again[EACH], valid[EACH];
#pragma unroll
    for (u32 u = 0; u < EACH; ++u) {
      const u32 at = start + 32 * u + lane_id(), j = tile.first + at;
      key[u] = 0, again[u] = false, valid[u] = at < tile.size;
      if (valid[u]) key[u] = key_of_pair(x, i, y, j, sums, at, again[u]);
      // A row is at distance 0 from itself; NaN is retained.
      if (Recipe::zero_self && j == self && key[u] == key[u]) key[u] = 0, again[u] = false;
    }
    const u32 first = tile.first + start + lane_id();
    if (REFINES) {
      bool any = false;
#pragma unroll
      for (u32 u = 0; u < EACH; ++u) any |= again[u];
      if (__any_sync(ALL, any)) {
#pragma unroll
        for (u32 u = 0; u < EACH; ++u) {
          for (u32 left = __ballot_sync(ALL, again[u]); left; left &= left - 1) {
            const u32 lane = __ffs(left) - 1;
            const u32 other = __shfl_sync(ALL, first + 32 * u, lane);
            const W sum = exact_sum(x, i, y, other);
            if (lane_id() == lane) key[u] = key_from_exact(x, i, y, other, sum);
          }
        }
      }
    }
    each(first, valid, key);
  }
  __syncwarp();
}
