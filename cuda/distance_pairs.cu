// distance_pairs.cu: all distances, nearest neighbours, and neighbours within a radius, in one pass over common
// columns. Grid: blocks of one warp; a block handles a row of X and one tile of Y, or for nearest neighbours several
// tiles. Dynamic shared memory: the sums of a tile, then neighbour lists; 13 blocks fit at most. Defined by the host,
// in addition to the names in distance.cuh: `T` (of results), and PAIRS, NEAREST or RADIUS with the names in
// neighbours.cuh.
#include "distance.cuh"
#include "neighbours.cuh"

// Resident blocks per multiprocessor; a long formula may need fewer, with more registers each.
#ifndef BLOCKS
#define BLOCKS 13
#endif

#ifdef CHEBYSHEV
typedef Rank Beside;  // beside the entries: ranks of entries and heads of rows, or two norms of rows
#else
typedef W Beside;
#endif
#define SIDES                                                                                                            \
  const OffsetX *x_ptr, const u32 *x_cols, const W *x_values, const Beside *x_beside, const W *x_of_row,                 \
      const OffsetY *y_ptr, const u32 *y_cols, const W *y_values, const Beside *y_beside, const W *y_of_row,             \
      const OffsetT *t_ptr, const u32 *t_rows, const W *t_values, const Rank *t_ranks, const OffsetT *starts,            \
      u64 nrows_y, u64 tiles, u32 tile_rows, u64 first_row, u64 nrows, u32 same, u64 shift
#define OPEN_SIDES                                                      \
  const Rows<OffsetX> x = {x_ptr, x_cols, x_values, x_beside, x_of_row}; \
  const Rows<OffsetY> y = {y_ptr, y_cols, y_values, y_beside, y_of_row}; \
  const Columns columns = {t_ptr, t_rows, t_values, t_ranks, starts};   \
  extern __shared__ __align__(16) unsigned char room[];                 \
  Sums sums(room, tile_rows)
#define SELF (same ? i + shift : ~0ull)  // row i's index in Y, if it is a row of Y

#ifdef PAIRS
// out[(i - first_row) · nrows_y + j] = d(i, j). With `half`, only pairs with j <= i; the others are mirrored.
BOUNDED_KERNEL((32, 13), all_pairs, SIDES, u32 half, T* out) {
  OPEN_SIDES;
  const u64 number = blockIdx.x / nrows, i = first_row + (blockIdx.x - number * nrows);
  const TileOfY tile = tile_of_y(number, tiles, tile_rows, nrows_y);
  if (half && tile.first > i) return;
  sum_common(x, i, columns, tile, sums);
  T* row = out + (i - first_row) * nrows_y;
  keys_of(x, i, y, tile, sums, SELF, [&](u32 j, const bool* valid, const W* key) {
#pragma unroll
    for (u32 u = 0; u < EACH; ++u, j += 32)
      if (valid[u] && !(half && j > i)) row[j] = (T)Recipe::finish(key[u]);
  });
}

// out[j · n + i] = out[i · n + j] for j < i. Grid: one block of 256 threads per 32 × 32 elements.
KERNEL(mirror, u64 n, u64 side, T* out) {
  __shared__ T room[32][33];
  const u64 bi = blockIdx.x / side, bj = blockIdx.x - bi * side;
  if (bj > bi) return;
  const u32 lane = lane_id();
  for (u32 r = warp_id(); r < 32; r += 8) {
    const u64 i = bi * 32 + r, j = bj * 32 + lane;
    if (i < n && j < i) room[r][lane] = out[i * n + j];
  }
  __syncthreads();
  for (u32 r = warp_id(); r < 32; r += 8) {
    const u64 j = bj * 32 + r, i = bi * 32 + lane;
    if (i < n && j < i) out[j * n + i] = room[lane][r];
  }
}
#endif

#ifdef NEAREST
constexpr W ROUNDED = sizeof(W) == 8 ? W(1e-13) : W(1e-5);

// codes (of distances) and ids: for each row and part, the k nearest among the part's tiles, nearest first. Indices in
// Y begin at first_y.
BOUNDED_KERNEL((32, BLOCKS), nearest, SIDES, u32 first_y, u32 k, u32 parts, u32 tiles_per_part, u32 exclude_self, u64* codes,
                                      u32* ids) {
  OPEN_SIDES;
  // Concurrent blocks have the same part, so they traverse the same tiles at about the same time.
  const u64 part = blockIdx.x / nrows, row = blockIdx.x - part * nrows, i = first_row + row;
  const u64 place = (row * parts + part) * k;
  u64* room_of_codes = (u64*)sums.end(tile_rows);
  List list = IN_SHARED ? List(k, room_of_codes, (u32*)(room_of_codes + k)) : List(k, codes + place, ids + place);
  // A key whose distance was rejected; no larger key can be accepted.
  W refused = sr::nan<W>();
  const u64 last = (part + 1) * tiles_per_part < tiles ? (part + 1) * tiles_per_part : tiles;
  for (u64 number = part * tiles_per_part; number < last; ++number) {
    const TileOfY tile = tile_of_y(number, tiles, tile_rows, nrows_y);
    sum_common(x, i, columns, tile, sums);
    keys_of(x, i, y, tile, sums, SELF, [&](u32 j, const bool* valid, const W* key) {
      // Most keys are rejected, all at once.
      bool any = false;
#pragma unroll
      for (u32 u = 0; u < EACH; ++u) any |= valid[u] && !(key[u] >= refused);
      if (!__any_sync(ALL, any)) return;
      // Finishing a key takes much code, so it is instantiated once.
#pragma unroll 1
      for (u32 u = 0; u < EACH; ++u, j += 32) {
        W mine = key[0];
        bool looked = valid[0];
#pragma unroll
        for (u32 other = 1; other < EACH; ++other)
          if (u == other) mine = key[other], looked = valid[other];
        looked = looked && !(mine >= refused) && !(exclude_self && j == SELF);
        const u64 code = looked ? code_of_distance((T)Recipe::finish(mine)) : FARTHEST;
        offer(list, looked, code, first_y + j);
        // Finishing rounds, so a slightly larger key may give a slightly smaller distance.
        if (looked && code >= list.worst && mine == mine) refused = mine + sr::abs(mine) * ROUNDED;
      }
      for (u32 d = 16; d > 0; d /= 2) {
        const W other = __shfl_xor_sync(ALL, refused, d);
        if (other < refused || refused != refused) refused = other;
      }
    });
  }
  list.write(codes + place, ids + place);
}
#endif

#ifdef RADIUS
// counts[i · tiles + t] = neighbours of row i in tile t.
BOUNDED_KERNEL((32, 13), count_within, SIDES, u64 radius, u32 exclude_self, u32* counts) {
  OPEN_SIDES;
  const u64 number = blockIdx.x / nrows, i = first_row + (blockIdx.x - number * nrows);
  const TileOfY tile = tile_of_y(number, tiles, tile_rows, nrows_y);
  sum_common(x, i, columns, tile, sums);
  u32 count = 0;
  keys_of(x, i, y, tile, sums, SELF, [&](u32 j, const bool* valid, const W* key) {
#pragma unroll
    for (u32 u = 0; u < EACH; ++u, j += 32)
      count += valid[u] && !(exclude_self && j == SELF) && within((double)(T)Recipe::finish(key[u]), radius);
  });
  count = warp_sum(count);
  if (lane_id() == 0) counts[i * tiles + number] = count;
}

// Writes the neighbours, from offsets[i · tiles + t] on.
BOUNDED_KERNEL((32, 13), write_within, SIDES, u64 radius, u32 exclude_self, const OffsetC* offsets, u32* cols, T* values) {
  OPEN_SIDES;
  const u64 number = blockIdx.x / nrows, i = first_row + (blockIdx.x - number * nrows);
  const TileOfY tile = tile_of_y(number, tiles, tile_rows, nrows_y);
  u64 to = offsets[i * tiles + number];
  if (offsets[i * tiles + number + 1] == to) return;
  sum_common(x, i, columns, tile, sums);
  keys_of(x, i, y, tile, sums, SELF, [&](u32 j, const bool* valid, const W* key) {
#pragma unroll
    for (u32 u = 0; u < EACH; ++u, j += 32) {
      const T distance = (T)Recipe::finish(key[u]);
      const bool taken = valid[u] && !(exclude_self && j == SELF) && within((double)distance, radius);
      const u32 all = __ballot_sync(ALL, taken);
      const u64 at = to + __popc(all & ((1u << lane_id()) - 1));
      if (taken) cols[at] = j, values[at] = distance;
      to += __popc(all);
    }
  });
}
#endif
