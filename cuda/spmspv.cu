// spmspv.cu: y(j) = ⊕_k x(k) ⊗ A(k,j), x and y sparse, A in CSR. The products are expanded in the order of k, sorted by
// column with a stable radix sort, and each column's products are folded in that order. Defined by the host: `Ring`,
// `Offset` (row pointers of A).
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::A X;
typedef Ring::B A;
typedef Ring::Out Out;

// counts[e] = products of x's entry e. Grid: one thread per entry.
KERNEL(spmspv_counts, const u32* indices, u64 nnz, const Offset* row_ptr, u32* counts) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e < nnz) counts[e] = (u32)(row_ptr[indices[e] + 1ull] - row_ptr[indices[e]]);
}

// Entry of x that product p belongs to; it lies in [from, to).
__device__ inline u64 entry_of(const u32* offsets, u64 from, u64 to, u32 p) {
  while (to - from > 1) {
    const u64 middle = from + (to - from) / 2;
    if (offsets[middle] <= p) from = middle; else to = middle;
  }
  return from;
}

// keys[p] = column of product p, products[p] = its value. Grid: one thread per product, blocks of 256.
BOUNDED_KERNEL((256), spmspv_expand, const u32* __restrict__ indices, const X* __restrict__ x, u64 nnz,
                                     const u32* __restrict__ offsets, u32 total, const Offset* __restrict__ row_ptr,
                                     const u32* __restrict__ col_idx, const A* __restrict__ values, u32* __restrict__ keys,
                                     Out* __restrict__ products) {
  __shared__ u64 range[2];
  const u64 first = (u64)blockIdx.x * 256, p = first + threadIdx.x;
  if (threadIdx.x == 0) range[0] = entry_of(offsets, 0, nnz, (u32)first);
  if (threadIdx.x == 32) range[1] = entry_of(offsets, 0, nnz, first + 255 < total ? (u32)(first + 255) : total - 1) + 1;
  __syncthreads();
  if (p >= total) return;
  const u64 e = entry_of(offsets, range[0], range[1], (u32)p);
  const u32 k = indices[e];
  const u64 at = row_ptr[k] + (p - offsets[e]);
  const u32 j = col_idx[at];
  keys[p] = j;
  products[p] = Ring::mul(x[e], values[at], 0, k, j);
}

// One pass of the sort, by eight bits of the key. A block of 8 warps takes a tile; a warp takes 512 of its keys, 32 at
// a time, in order.
constexpr u32 WARPS = 8, ROUNDS = 16, WARP_KEYS = 32 * ROUNDS, TILE = WARPS * WARP_KEYS;

// counts[digit · tiles + tile] = keys of the tile with that digit. Grid: one block of 256 threads per tile.
BOUNDED_KERNEL((256), spmspv_digits, const u32* __restrict__ keys, u32 total, u32 shift, u32 tiles, u32* __restrict__ counts) {
  __shared__ u32 histogram[256];
  histogram[threadIdx.x] = 0;
  __syncthreads();
  const u64 start = (u64)blockIdx.x * TILE;
  for (u32 t = threadIdx.x; t < TILE; t += 256)
    if (start + t < total) atomicAdd(&histogram[keys[start + t] >> shift & 255], 1u);
  __syncthreads();
  counts[(u64)threadIdx.x * tiles + blockIdx.x] = histogram[threadIdx.x];
}

// Scatters keys and product indices by digit; positions = the scan of the counts. The sort is stable. A null `ids`
// stands for 0, 1, 2, …. Grid: as above.
BOUNDED_KERNEL((256), spmspv_place, const u32* __restrict__ keys, const u32* __restrict__ ids, u32 total, u32 shift, u32 tiles,
                                    const u32* __restrict__ positions, u32* __restrict__ keys_out, u32* __restrict__ ids_out) {
  __shared__ u32 next[WARPS][256];
#pragma unroll
  for (u32 w = 0; w < WARPS; ++w) next[w][threadIdx.x] = 0;
  __syncthreads();
  u32* mine = next[warp_id()];
  const u64 start = (u64)blockIdx.x * TILE + warp_id() * WARP_KEYS + lane_id();
  for (u32 r = 0; r < ROUNDS; ++r) {
    const u64 p = start + r * 32;
    if (p < total) atomicAdd(&mine[keys[p] >> shift & 255], 1u);
  }
  __syncthreads();
  // One thread per digit: where each warp's keys of that digit go.
  u32 at = positions[(u64)threadIdx.x * tiles + blockIdx.x];
#pragma unroll
  for (u32 w = 0; w < WARPS; ++w) {
    const u32 count = next[w][threadIdx.x];
    next[w][threadIdx.x] = at;
    at += count;
  }
  __syncthreads();
  for (u32 r = 0; r < ROUNDS; ++r) {
    const u64 p = start + r * 32;
    const bool valid = p < total;
    const u32 key = valid ? keys[p] : 0;
    // Lanes without a key share a digit of their own.
    const u32 digit = valid ? key >> shift & 255 : 256;
    const u32 peers = __match_any_sync(ALL, digit);
    const u32 before = __popc(peers & ((1u << lane_id()) - 1));
    const u32 to = valid ? mine[digit] + before : 0;
    __syncwarp();
    if (valid) {
      keys_out[to] = key;
      ids_out[to] = ids == nullptr ? (u32)p : ids[p];
      if (before == 0) mine[digit] = to + __popc(peers);
    }
    __syncwarp();
  }
}

// heads[p] = 1 where a column that the mask allows begins among the sorted keys, else 0. Grid: one thread per product.
KERNEL(spmspv_heads, const u32* keys, u32 total, const bool* mask, u32 complement, u32* heads) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= total) return;
  const bool first = p == 0 || keys[p] != keys[p - 1];
  heads[p] = first && (mask == nullptr || mask[keys[p]] != (complement != 0)) ? 1 : 0;
}

// Folds each column in the order of k. Grid: one thread per product; the one at the head of a column works.
BOUNDED_KERNEL((256), spmspv_fold, const u32* __restrict__ keys, const u32* __restrict__ ids, const Out* __restrict__ products,
                                   u32 total, const u32* __restrict__ heads, const u32* __restrict__ offsets,
                                   u32* __restrict__ indices, Out* __restrict__ y) {
  constexpr u32 DEEP = sizeof(Out) <= 8 ? 8 : 2;
  const u64 p = (u64)blockIdx.x * 256 + threadIdx.x;
  if (p >= total || heads[p] == 0) return;
  const u32 key = keys[p];
  Out sum = Ring::zero();
  bool more = true;
  // Several products are prefetched, because a long column would otherwise wait for each.
  for (u64 q = p; more; q += DEEP) {
    bool same[DEEP];
    Out product[DEEP];
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u) {
      same[u] = q + u < total && keys[q + u] == key;
      if (same[u]) product[u] = products[ids[q + u]];
    }
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u)
      if (same[u]) sum = Ring::add(sum, product[u]);
    more = same[DEEP - 1];
  }
  indices[offsets[p]] = key;
  y[offsets[p]] = sum;
}

}  // namespace kernels
