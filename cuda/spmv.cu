// spmv.cu: y(i) = ⊕_k A(i,k) ⊗ x(k), A in CSR, x and y dense; rows that the mask excludes get the identity of ⊕.
// `spmv_rows` assigns a row to LANES threads; `spmv_merge` and `spmv_carry` give every block the same number of entries
// and row ends (Merrill, Garland: Merge-based parallel sparse matrix-vector multiplication, SC 2016). Defined by the
// host: `Ring`, `Offset`, and either `LANES` or, with `MERGE` defined, `THREADS`, `EACH`, `TILE` = their product.
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::A A;
typedef Ring::B B;
typedef Ring::Out Out;

// The value of x in another lane, word by word: x is any struct.
template <class T> __device__ inline T of_lane(T x, u32 lane) {
  constexpr u32 WORDS = (sizeof(T) + 3) / 4;
  u32 words[WORDS] = {};
  memcpy(words, &x, sizeof(T));
#pragma unroll
  for (u32 w = 0; w < WORDS; ++w) words[w] = __shfl_sync(ALL, words[w], lane & 31);
  memcpy(&x, words, sizeof(T));
  return x;
}

__device__ inline bool wanted(const bool* mask, u32 complement, u64 row) {
  return mask == nullptr || mask[row] != (complement != 0);
}

#ifndef MERGE
// Entries per thread in flight.
constexpr u32 DEEP = sizeof(A) + sizeof(B) <= 16 ? 4 : 2;

// Lane l takes entries l, l + LANES, … of the row; the sums of lanes are added as a tree whose shape depends on the row
// alone. Grid: LANES threads per row, blocks of 256.
BOUNDED_KERNEL((256), spmv_rows, const Offset* __restrict__ row_ptr, const u32* __restrict__ col_idx,
                                 const A* __restrict__ values, u64 nrows, const B* __restrict__ x, const bool* __restrict__ mask,
                                 u32 complement, Out* __restrict__ y) {
  const u64 row = ((u64)blockIdx.x * 256 + threadIdx.x) / LANES;
  const u32 lane = threadIdx.x % LANES;
  Out sum = Ring::zero();
  u64 entries = 0;
  if (row < nrows && wanted(mask, complement, row)) {
    const u64 start = row_ptr[row];
    entries = row_ptr[row + 1] - start;
    const u32* columns = col_idx + start;
    const A* left = values + start;
    for (u64 p = lane; p < entries; p += DEEP * LANES) {
      u32 k[DEEP];
      A a[DEEP];
      B b[DEEP];
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u)
        if (p + u * LANES < entries) k[u] = columns[p + u * LANES], a[u] = left[p + u * LANES];
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u)
        if (p + u * LANES < entries) b[u] = x[k[u]];
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u)
        if (p + u * LANES < entries) sum = Ring::add(sum, Ring::mul(a[u], b[u], row, k[u], 0));
    }
  }
  // Lanes without entries are left out: the identity need not be a right identity.
  const u32 live = entries < LANES ? (u32)entries : LANES;
#pragma unroll
  for (u32 d = 1; d < LANES; d *= 2) {
    const Out other = of_lane(sum, lane_id() + d);
    if (lane + d < live) sum = Ring::add(sum, other);
  }
  if (lane == 0 && row < nrows) y[row] = sum;
}

#else
// A fold of a range of a row, possibly empty.
struct Part {
  Out value;
  bool some;
};
__device__ inline Part join(const Part& before, const Part& after) {
  if (!after.some) return before;
  if (!before.some) return after;
  return Part{Ring::add(before.value, after.value), true};
}
// The part that is open after a range of the walk, and whether a row ended in that range.
struct Open {
  Part part;
  bool closed;
};
__device__ inline Open follow(const Open& before, const Open& after) {
  if (after.closed) return after;
  return Open{join(before.part, after.part), before.closed};
}
__device__ inline Open of_lane(const Open& x, u32 lane) {
  const u32 flags = __shfl_sync(ALL, (x.part.some ? 1u : 0u) | (x.closed ? 2u : 0u), lane & 31);
  return Open{Part{of_lane(x.part.value, lane), (flags & 1) != 0}, (flags & 2) != 0};
}

// Largest power of two up to TILE.
__device__ constexpr u32 first_step() {
  u32 step = 1;
  while (2 * step <= TILE) step *= 2;
  return step;
}
// Rows of the tile that end before its entry q. The steps are fixed, so that the compiler removes them if ⊗ does not
// read its row.
__device__ inline u32 ends_before(const u32* ends, u32 rows, u32 q) {
  u32 before = 0;
#pragma unroll
  for (u32 step = first_step(); step > 0; step /= 2)
    if (before + step <= rows && ends[before + step - 1] <= q) before += step;
  return before;
}

// Grid: one block of THREADS threads per tile of TILE items (see spmv_plan.cu for items). carry[tile] = the part of the
// row that is open at the tile's end.
BOUNDED_KERNEL((THREADS, sizeof(Out) <= 8 ? (__CUDA_ARCH__ >= 1000 ? 8 : 12) : 4), spmv_merge, const Offset* __restrict__ row_ptr,
    const u32* __restrict__ col_idx, const A* __restrict__ values, u64 nrows, u64 nnz, const B* __restrict__ x,
    const bool* __restrict__ mask, u32 complement, const u64* __restrict__ starts, Out* __restrict__ y, Out* __restrict__ carry) {
  constexpr u32 WARPS = THREADS / 32;
  __shared__ u32 ends[TILE + 1];
  __shared__ Out products[TILE];
  __shared__ Open of_warps[WARPS];
  const u64 first = (u64)blockIdx.x * TILE, past = nrows + nnz - first < TILE ? nrows + nnz : first + TILE;
  const u64 row0 = starts[blockIdx.x], row1 = starts[blockIdx.x + 1];
  const u64 entry0 = first - row0;
  const u32 rows = (u32)(row1 - row0), entries = (u32)(past - row1 - entry0);

  // The first few row ends are requested before the entries, which hides their latency; a tile of nearly empty rows has
  // more, which a loop fetches.
  constexpr u32 FEW = 2;
  u32 end[FEW];
#pragma unroll
  for (u32 e = 0; e < FEW; ++e)
    if (e * THREADS + threadIdx.x < rows) end[e] = (u32)(row_ptr[row0 + e * THREADS + threadIdx.x + 1] - entry0);
  u32 k[EACH];
  A a[EACH];
  B b[EACH];
#pragma unroll
  for (u32 e = 0; e < EACH; ++e) {
    const u32 q = e * THREADS + threadIdx.x;
    if (q < entries) k[e] = col_idx[entry0 + q], a[e] = values[entry0 + q];
  }
#pragma unroll
  for (u32 e = 0; e < FEW; ++e)
    if (e * THREADS + threadIdx.x < rows) ends[e * THREADS + threadIdx.x] = end[e];
#pragma unroll 1
  for (u32 r = FEW * THREADS + threadIdx.x; r < rows; r += THREADS) ends[r] = (u32)(row_ptr[row0 + r + 1] - entry0);
  // The row that stays open has no end here.
  if (threadIdx.x == 0) ends[rows] = NONE;
#pragma unroll
  for (u32 e = 0; e < EACH; ++e)
    if (e * THREADS + threadIdx.x < entries) b[e] = x[k[e]];
  __syncthreads();
#pragma unroll
  for (u32 e = 0; e < EACH; ++e) {
    const u32 q = e * THREADS + threadIdx.x;
    if (q < entries) products[q] = Ring::mul(a[e], b[e], row0 + ends_before(ends, rows, q), k[e], 0);
  }
  __syncthreads();

  // Each thread walks EACH items. Its first item follows `row` row ends and q entries.
  const u32 items = rows + entries;
  const u32 from = threadIdx.x * EACH < items ? threadIdx.x * EACH : items;
  const u32 to = from + EACH < items ? from + EACH : items;
  u32 row = from > entries ? from - entries : 0;
  for (u32 high = from < rows ? from : rows; row < high;) {
    const u32 middle = (row + high) / 2;
    if (middle + ends[middle] < from) row = middle + 1; else high = middle;
  }
  u32 q = from - row;
  const u64 opening_row = row0 + row;
  Open open{Part{Ring::zero(), false}, false};
  Part opening = open.part;
#pragma unroll
  for (u32 e = 0; e < EACH; ++e) {
    if (from + e >= to) break;
    if (q < ends[row]) {
      open.part.value = Ring::add(open.part.value, products[q]);
      open.part.some = true;
      ++q;
    } else {
      // The first row to end here may have begun before this thread's items.
      if (!open.closed) opening = open.part;
      else y[row0 + row] = wanted(mask, complement, row0 + row) ? open.part.value : Ring::zero();
      open = Open{Part{Ring::zero(), false}, true};
      ++row;
    }
  }
  const bool ended = open.closed;

  // The open part before each thread: a scan in the order of the walk.
#pragma unroll
  for (u32 d = 1; d < 32; d *= 2) {
    const Open before = of_lane(open, lane_id() - d);
    if (lane_id() >= d) open = follow(before, open);
  }
  if (lane_id() == 31) of_warps[warp_id()] = open;
  __syncthreads();
  Open before{Part{Ring::zero(), false}, false};
  for (u32 w = 0; w < warp_id(); ++w) before = follow(before, of_warps[w]);
  const Open within = of_lane(open, lane_id() - 1);
  if (threadIdx.x == THREADS - 1) carry[blockIdx.x] = follow(before, open).part.value;
  if (lane_id() > 0) before = follow(before, within);
  if (ended) {
    const Part whole = join(before.part, opening);
    y[opening_row] = wanted(mask, complement, opening_row) ? whole.value : Ring::zero();
  }
}

// y(i) = carries ⊕ y(i) for each row i that ends in a later tile than it begins, in tile order. Grid: one warp per
// tile; the tile that contains the row's first entry does the work.
BOUNDED_KERNEL((256), spmv_carry, const Offset* __restrict__ row_ptr, u64 nrows, u64 tiles, const bool* __restrict__ mask,
                                  u32 complement, const u64* __restrict__ starts, const Out* __restrict__ carry,
                                  Out* __restrict__ y) {
  const u64 tile = ((u64)blockIdx.x * 256 + threadIdx.x) / 32;
  if (tile >= tiles) return;
  const u64 row = starts[tile + 1];
  if (row >= nrows || !wanted(mask, complement, row)) return;
  // Items before the row's first entry: row ends of rows, row_ptr[row] entries. Tiles [tile, past) carry parts of it.
  const u64 first = row + row_ptr[row], end = row + row_ptr[row + 1], past = end / TILE;
  if (first / TILE != tile || past == tile) return;
  const u64 parts = past - tile, each = (parts + 31) / 32;
  const u64 from = tile + lane_id() * each, to = from + each < past ? from + each : past;
  Out sum = Ring::zero();
  // The fold of a range of carries starts from its first, so that no extra identity is joined.
  for (u64 t = from; t < to; ++t) sum = t == from ? carry[t] : Ring::add(sum, carry[t]);
  const u32 live = (u32)((parts + each - 1) / each);
#pragma unroll
  for (u32 d = 1; d < 32; d *= 2) {
    const Out other = of_lane(sum, lane_id() + d);
    if (lane_id() + d < live) sum = Ring::add(sum, other);
  }
  // The tile where the row ends may contain only its end.
  if (lane_id() == 0) y[row] = end % TILE == 0 ? sum : Ring::add(sum, y[row]);
}
#endif

}  // namespace kernels
