// distance.cuh: what the kernels of distances share: prepared rows, the pass over common columns, the exact sum of a pair.
// A warp works on one row of X and one tile of rows of Y, whose sums are in shared memory. For each entry of the row, in
// the order of columns, lanes walk the rows of Y that have its column. These rows differ, so no two lanes meet, and every
// sum is folded in the order of columns: the same bits in every run. `Ring`, `Exact`, `Recipe`, `OffsetX`, `OffsetY` and
// `OffsetT` (row pointers of X, of Y, of Y's transpose) are set in front.
// Source of the one pass: cuda-free notes in src/distance/recipe.rs; of the inverted index: Gustavson's product X·Yᵀ.
#pragma once
#include "parts.cuh"

typedef Recipe::W W;

// Rows that are prepared: entries, and two norms of each row.
template <class Offset> struct Rows {
  const Offset* ptr;
  const u32* cols;
  const W* values;
  const W* norm0;
  const W* norm1;
};
// Y by columns: the rows that have a column, increasing, and their entries; starts[c · tiles + t] is where those of tile t
// begin, or there are no `starts` and they are searched for.
struct Columns {
  const OffsetT* ptr;
  const u32* rows;
  const W* values;
  const OffsetT* starts;
};
// Rows first .. first + size of Y.
struct TileOfY {
  u64 number, tiles;
  u32 first, size;
};
__device__ inline TileOfY tile_of_y(u64 number, u64 tiles, u32 rows, u64 nrows) {
  const u64 first = number * rows;
  return {number, tiles, (u32)first, (u32)(nrows - first < rows ? nrows - first : rows)};
}

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

// Steps of 32 entries whose loads are under way together.
constexpr u32 DEEP = 8;

// sums[j] = Σ of ⊗ over the columns that row i of X and row first + j of Y share, for the rows of the tile; shared[j] is
// the number of these columns if the recipe counts them. By all lanes.
__device__ inline void sum_common(const Rows<OffsetX>& x, u64 i, const Columns& y, const TileOfY& tile, W* sums,
                                  u32* shared) {
  const u32 lane = lane_id();
  for (u32 j = lane; j < tile.size; j += 32) {
    sums[j] = Ring::zero();
    if (Recipe::counts) shared[j] = 0;
  }
  __syncwarp();
  const u64 begin = x.ptr[i], length = x.ptr[i + 1] - begin;
  const u32* cols = x.cols + begin;
  const W* values = x.values + begin;
  // A lane has one of 32 entries; of the next 32 the segment is on its way, of those behind them the column.
  u32 column = NONE, column1 = lane < length ? cols[lane] : NONE;
  u32 column2 = 32 + lane < length ? cols[32 + lane] : NONE;
  W a = 0, a1 = column1 != NONE ? values[lane] : W(0), a2 = column2 != NONE ? values[32 + lane] : W(0);
  Segment s = {0, 0}, s1 = segment_of(y, tile, column1);
  for (u64 base = 0; base < length; base += 32) {
    column = column1, a = a1, s = s1;
    column1 = column2, a1 = a2;
    s1 = segment_of(y, tile, column1);
    const u64 ahead = base + 64 + lane;
    column2 = ahead < length ? cols[ahead] : NONE;
    if (column2 != NONE) a2 = values[ahead];

    // The segments one behind the other, in steps of up to 32 entries of one segment each.
    const u32 steps = (s.count + 31) / 32, upto = warp_inclusive_sum(steps);
    const u32 all = __shfl_sync(ALL, upto, 31);
    const OffsetT end = s.from + s.count, origin = s.from - (OffsetT)(upto - steps) * 32;
    for (u32 step = 0; step < all; step += DEEP) {
      u32 at[DEEP], k[DEEP];
      W left[DEEP], right[DEEP];
      // All loads are on their way before the first is used.
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u) {
        at[u] = NONE, k[u] = 0, left[u] = 0, right[u] = 0;
        if (step + u >= all) continue;
        const u32 e = __popc(__ballot_sync(ALL, upto <= step + u));
        const OffsetT p = __shfl_sync(ALL, origin, e) + (OffsetT)(step + u) * 32 + lane;
        const OffsetT stop = __shfl_sync(ALL, end, e);
        left[u] = __shfl_sync(ALL, a, e);
        if (Ring::reads_place) k[u] = __shfl_sync(ALL, column, e);
        // p < stop, also where p has wrapped around.
        if ((OffsetT)(stop - p - 1) < (OffsetT)0x80000000u) {
          at[u] = y.rows[p];
          if (Ring::reads_b) right[u] = y.values[p];
        }
      }
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u)
        if (step + u < all) left[u] = Ring::mul(left[u], right[u], i, k[u], at[u]);
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u) {
        if (step + u >= all) continue;
        if (at[u] != NONE) {
          const u32 j = at[u] - tile.first;
          sums[j] = Ring::add(sums[j], left[u]);
          if (Recipe::counts) ++shared[j];
        }
        // Rows of one segment differ; those of the next may be the same.
        __syncwarp();
      }
    }
  }
}

// Σ of the exact ⊗ over the union of row i of X and row j of Y: lanes take entries of X, each searched in Y, then those of
// Y that X lacks; lanes' sums are added as a tree. The same value in all lanes.
__device__ inline W exact_sum(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, u64 j) {
  const u64 xs = x.ptr[i], xn = x.ptr[i + 1] - xs, ys = y.ptr[j], yn = y.ptr[j + 1] - ys;
  const u32 *xc = x.cols + xs, *yc = y.cols + ys;
  W sum = Exact::zero();
  for (u64 p = lane_id(); p < xn; p += 32) {
    const u64 q = lower_bound(yc, (u64)0, yn, xc[p]);
    const W b = q < yn && yc[q] == xc[p] ? y.values[ys + q] : W(0);
    sum = Exact::add(sum, Exact::mul(x.values[xs + p], b, i, xc[p], j));
  }
  for (u64 q = lane_id(); q < yn; q += 32) {
    const u64 p = lower_bound(xc, (u64)0, xn, yc[q]);
    if (p < xn && xc[p] == yc[q]) continue;
    sum = Exact::add(sum, Exact::mul(W(0), y.values[ys + q], i, yc[q], j));
  }
  __syncwarp();
  for (u32 d = 16; d > 0; d /= 2) sum = Exact::add(sum, __shfl_xor_sync(ALL, sum, d));
  return sum;
}

// Calls each(j, valid, key) with the keys of the tile's rows, 32 at a time, j increasing; by all lanes. `self` is row i's
// own number in Y, if it is there.
template <class F>
__device__ inline void keys_of(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, const TileOfY& tile, const W* sums,
                               const u32* shared, u64 self, F each) {
  constexpr u32 EACH = 4;
  const W x0 = x.norm0[i], x1 = x.norm1[i];
  for (u32 start = 0; start < tile.size; start += 32 * EACH) {
    W key[EACH];
#pragma unroll
    for (u32 u = 0; u < EACH; ++u) {
      const u32 j = start + 32 * u + lane_id();
      if (j >= tile.size) continue;
      const W y0 = y.norm0[tile.first + j], y1 = y.norm1[tile.first + j];
      key[u] = Recipe::key(x0, x1, y0, y1, sums[j], Recipe::counts ? (W)shared[j] : W(0));
    }
#pragma unroll
    for (u32 u = 0; u < EACH; ++u) {
      if (start + 32 * u >= tile.size) break;
      const u32 j = start + 32 * u + lane_id();
      const bool valid = j < tile.size, own = Recipe::zero_self && valid && tile.first + j == self;
      if (own) key[u] = 0;
      if (Recipe::refines) {
        const u32 row = tile.first + j;
        const bool near = valid && !own && Recipe::near(key[u], x0, x1, y.norm0[row], y.norm1[row]);
        for (u32 left = __ballot_sync(ALL, near); left; left &= left - 1) {
          const u32 lane = __ffs(left) - 1;
          const u32 other = __shfl_sync(ALL, row, lane);
          const W sum = exact_sum(x, i, y, other);
          if (lane_id() == lane) key[u] = Recipe::exact_key(x0, x1, y.norm0[row], y.norm1[row], sum);
        }
      }
      each(tile.first + j, valid, key[u]);
    }
  }
  __syncwarp();
}
