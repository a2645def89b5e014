// distance.cuh: what the kernels of distances share: prepared rows, the pass over common columns, the exact sum of a
// pair. A warp works on one row of X and one tile of rows of Y, whose sums are in shared memory. For each entry of the
// row, in the order of columns, lanes walk the rows of Y that have its column. These rows differ, so no two lanes meet,
// and every sum is folded in the order of columns: the same bits in every run. Set in front: `Recipe`, `Exact`, and
// `Ring` for a ⊕ that is + or CHEBYSHEV for the largest difference, SPLIT if there is a `Split`, a part of ⊗ that reads
// the entry of X alone and is computed once for it; `OffsetX`, `OffsetY` and `OffsetT` (row pointers of X, of Y, of Y's
// transpose). Source: src/distance/recipe.rs for the one pass; the order of the work is Gustavson's for X·Yᵀ, cut into
// tiles.
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
// The largest |a − b| over common columns, and which of the largest entries of either row are in common columns. What
// one row has alone counts with its magnitude, so the largest entry that is not met is all that matters of it. Entries
// know their rank by magnitude in their row; a mask holds the leading ranks that were met.
constexpr u32 HEAD = 32;
struct Entry {
  W value;
  u32 bit;  // of its rank; 0 behind the head
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
  u32 *met_x, *met_y;
  __device__ Sums(void* room, u32 rows) : most((W*)room), met_x((u32*)(most + rows)), met_y(met_x + rows) {}
  __device__ void* end(u32 rows) const { return met_y + rows; }
  __device__ void clear(u32 j) { most[j] = 0, met_x[j] = 0, met_y[j] = 0; }
  __device__ void fold(u32 j, const Term& t) {
    most[j] = sr::max(most[j], t.gap);
    met_x[j] |= t.x;
    met_y[j] |= t.y;
  }
};
template <class Offset> struct Rows {
  const Offset* ptr;
  const u32* cols;
  const W* values;
  const Rank* ranks;
  const W* heads;  // HEAD magnitudes of each row, the largest first, then zeros
  __device__ Entry entry(u64 p) const { return {values[p], bit_of(ranks[p])}; }
  // Whether an entry of the row is not finite.
  __device__ bool is_odd(u64 i) const { return heads[i * HEAD] != heads[i * HEAD]; }
  // The largest magnitude that is not met; `beyond` if it is behind the head.
  __device__ W alone(u64 i, u32 met, bool& beyond) const {
    if (met != ~0u) return heads[i * HEAD + (__ffs(~met) - 1)];
    if (ptr[i + 1] - ptr[i] > HEAD) beyond = true;
    return 0;
  }
};
// The key of row i of X and row j of Y; whether it has to be computed again, over their union.
__device__ inline W key_of_pair(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, u64 j, const Sums& s, u32 at,
                                bool& again) {
  again = x.is_odd(i) || y.is_odd(j);
  if (again) return sr::nan<W>();
  const W a = x.alone(i, s.met_x[at], again), b = y.alone(j, s.met_y[at], again);
  return sr::max(sr::max(s.most[at], a), b);
}
__device__ inline W key_from_exact(const Rows<OffsetX>&, u64, const Rows<OffsetY>&, u64, W most) { return most; }
constexpr bool READS_B = true, READS_PLACE = false, REFINES = true;

#else
// Σ of ⊗ over common columns, and their number if the recipe counts them.
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
  const W *norm0, *norm1;  // of each row
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

// Y by columns: the rows that have a column, increasing, and their entries; starts[c · tiles + t] is where those of
// tile t begin, or there are no `starts` and they are searched for.
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

// Entries of Y's transpose.
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

// 32 entries of X, one a lane, for all lanes: in registers, or, where ⊗ splits, beside its part of them in shared
// memory.
#ifdef SPLIT
struct __align__(2 * sizeof(W)) WithPart {
  W value, part;
};
typedef u32 Asked;
struct Asks {
  WithPart* of;
  __device__ Asks() {
    __shared__ WithPart room[32];
    of = room;
  }
  __device__ void set(const Entry& e) {
    __syncwarp();
    of[lane_id()] = {e.value, Split::part(e.value)};
    __syncwarp();
  }
  __device__ Asked of_lane(u32 lane) const { return lane; }
  __device__ Term times(Asked lane, const Entry& b, u64 i, u64 k, u64 j) const {
    const WithPart a = of[lane];
    return Split::mul(a.value, b.value, i, k, j, a.part);
  }
};
#else
typedef Entry Asked;
struct Asks {
  Entry of;
  __device__ void set(const Entry& e) { of = e; }
  __device__ Asked of_lane(u32 lane) const { return shuffle(of, lane); }
  __device__ Term times(const Asked& a, const Entry& b, u64 i, u64 k, u64 j) const { return term_of(a, b, i, k, j); }
};
#endif

// Steps of 32 entries whose loads are under way together.
constexpr u32 DEEP = sizeof(Entry) > 8 ? 4 : 8;

// Folds into `sums`, for the rows of the tile, what they share with row i of X. By all lanes.
__device__ inline void sum_common(const Rows<OffsetX>& x, u64 i, const Columns& y, const TileOfY& tile, Sums& sums) {
  const u32 lane = lane_id();
  for (u32 j = lane; j < tile.size; j += 32) sums.clear(j);
  __syncwarp();
  const u64 begin = x.ptr[i], length = x.ptr[i + 1] - begin;
  const u32* cols = x.cols + begin;
  // A lane has one of 32 entries; of the next 32 the segment is on its way, of those behind them the column.
  u32 column, column1 = lane < length ? cols[lane] : NONE, column2 = 32 + lane < length ? cols[32 + lane] : NONE;
  Entry a1 = {}, a2 = {};
  Asks asks;
  if (column1 != NONE) a1 = x.entry(begin + lane);
  if (column2 != NONE) a2 = x.entry(begin + 32 + lane);
  Segment s, s1 = segment_of(y, tile, column1);
  for (u64 base = 0; base < length; base += 32) {
    column = column1, s = s1;
    asks.set(a1);
    column1 = column2, a1 = a2;
    s1 = segment_of(y, tile, column1);
    const u64 ahead = base + 64 + lane;
    column2 = ahead < length ? cols[ahead] : NONE;
    if (column2 != NONE) a2 = x.entry(begin + ahead);

    // The segments one behind the other, in steps of up to 32 entries of one segment each.
    const u32 steps = (s.count + 31) / 32, upto = warp_inclusive_sum(steps);
    const u32 all = __shfl_sync(ALL, upto, 31);
    const OffsetT end = s.from + s.count, origin = s.from - (OffsetT)(upto - steps) * 32;
    for (u32 step = 0; step < all; step += DEEP) {
      u32 at[DEEP], k[DEEP];
      Asked left[DEEP];
      Entry right[DEEP];
      // All loads are on their way before the first is used.
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u) {
        at[u] = NONE, k[u] = 0, left[u] = {}, right[u] = {};
        if (step + u >= all) continue;
        const u32 e = __popc(__ballot_sync(ALL, upto <= step + u));
        const OffsetT p = __shfl_sync(ALL, origin, e) + (OffsetT)(step + u) * 32 + lane;
        const OffsetT stop = __shfl_sync(ALL, end, e);
        left[u] = asks.of_lane(e);
        if (READS_PLACE) k[u] = __shfl_sync(ALL, column, e);
        // p < stop, also where p has wrapped around.
        if ((OffsetT)(stop - p - 1) < (OffsetT)0x80000000u) {
          at[u] = y.rows[p];
          right[u] = y.entry(p);
        }
      }
      Term term[DEEP];
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u)
        if (step + u < all) term[u] = asks.times(left[u], right[u], i, k[u], at[u]);
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u) {
        if (step + u >= all) continue;
        if (at[u] != NONE) sums.fold(at[u] - tile.first, term[u]);
        // Rows of one segment differ; those of the next may be the same.
        __syncwarp();
      }
    }
  }
}

// Σ of the exact ⊗ over the union of row i of X and row j of Y: lanes take entries of X, each searched in Y, then those
// of Y that X lacks; lanes' sums are added as a tree. The same value in all lanes.
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
  // What is not a number hides from comparisons.
  if (!__all_sync(ALL, number)) sum = sr::nan<W>();
#endif
  return sum;
}

// Keys that a lane makes before any is used.
constexpr u32 EACH = 4;

// Calls each(j, valid, keys) with the keys of the tile's rows, EACH times 32 at a time: those of rows j, j + 32, …
// where valid, j increasing; by all lanes. `self` is row i's own number in Y, if it is there.
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
      // A row is at 0 from itself; what is not a number stays so.
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
