// spmspv_block.cu: y(j) = ⊕_k x(k) ⊗ A(k,j) for an x with few entries, by one block. The products are counted; those
// that the mask allows are sorted by column and then by k, and each column's products are folded in that order. The
// host waits once. Defined by the host: `Ring`, `Offset` (row pointers of A). Grid: one block of 1024 threads.
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::A X;
typedef Ring::B A;
typedef Ring::Out Out;

// As in src/gpu/spmspv_block.rs.
constexpr u32 THREADS = 1024, MOST_ENTRIES = 2048, MOST_PRODUCTS = 1 << 14, MOST_KEYS = 4096;
constexpr u32 ROUNDS = MOST_KEYS / THREADS;
// A key: the column, then the index of the product, which grows with k, then the entry of x.
constexpr u32 ENTRY_BITS = 11;
constexpr u64 LAST = ~0ull;  // after every key: no column is 2³² − 1
static_assert(MOST_ENTRIES == 1u << ENTRY_BITS && MOST_ENTRIES == 2 * THREADS, "entries and their bits");
static_assert(MOST_PRODUCTS <= 1u << (32 - ENTRY_BITS), "products and their bits");

__device__ inline u32 column_of(u64 key) { return (u32)(key >> 32); }

// The mask: a bitmap of bools, an increasing list of indices, or none.
struct Mask {
  const bool* bits;
  const u32* indices;
  u64 length;
};
__device__ inline bool allows(const Mask& mask, bool complement, u32 j) {
  if (mask.bits != nullptr) return mask.bits[j] != complement;
  if (mask.indices == nullptr) return true;
  const u64 at = lower_bound(mask.indices, (u64)0, mask.length, j);
  return (at < mask.length && mask.indices[at] == j) != complement;
}

// Sorts keys[0..n), n a power of two, by a bitonic network. Pairs that are at most 32 apart are among the 64 keys of
// one warp.
__device__ inline void sort_keys(u64* keys, u32 n) {
  for (u32 size = 2; size <= n; size *= 2)
    for (u32 stride = size / 2; stride > 0; stride /= 2) {
      for (u32 i = threadIdx.x; i < n / 2; i += THREADS) {
        const u32 a = 2 * i - (i & (stride - 1)), b = a + stride;
        const u64 x = keys[a], y = keys[b];
        if ((x > y) == ((a & size) == 0)) {
          keys[a] = y;
          keys[b] = x;
        }
      }
      // The next step has stride `stride / 2`, or `size` after a stride of 1.
      if (stride > 32 || (stride == 1 && size > 32)) __syncthreads();
      else __syncwarp();
    }
  __syncthreads();
}

// found[0] = products of x's entries; found[1] = those that the mask allows; found[2] = entries of y. The last two are
// ~0 if there are more products than one block handles, the last if `room` is too small for the allowed products: y is
// not written then.
BOUNDED_KERNEL((1024, 1), spmspv_block, const u32* __restrict__ indices, const X* __restrict__ x, u32 nnz,
                                        const Offset* __restrict__ row_ptr, const u32* __restrict__ col_idx,
                                        const A* __restrict__ values, const bool* mask_bits, const u32* mask_indices,
                                        u64 mask_length, u32 complement, u32 room, u32* y_indices, Out* y, volatile u64* found) {
  __shared__ u32 offsets[MOST_ENTRIES];
  __shared__ u64 keys[MOST_KEYS];
  __shared__ u64 long_sums[33];
  __shared__ u32 sums[33];
  __shared__ u32 kept;
  const Mask mask = {mask_bits, mask_indices, mask_length};
  const u32 t = threadIdx.x;

  // Prefix sums of the products per entry: two entries per thread.
  u64 counts[2];
#pragma unroll
  for (u32 u = 0; u < 2; ++u) {
    const u32 e = 2 * t + u;
    counts[u] = 0;
    if (e < nnz) {
      const u32 k = indices[e];
      counts[u] = row_ptr[k + 1ull] - row_ptr[k];
    }
  }
  if (t == 0) kept = 0;
  u64 total;
  const u64 before = block_exclusive_sum(counts[0] + counts[1], long_sums, total);
  if (total > MOST_PRODUCTS) {
    if (t == 0) {
      found[0] = total;
      found[1] = ~0ull;
      found[2] = ~0ull;
    }
    return;
  }
  offsets[2 * t] = (u32)before;
  offsets[2 * t + 1] = (u32)(before + counts[0]);
  __syncthreads();

  // Collects the allowed products in any order; the sort makes it deterministic. Warps stay complete.
  for (u32 start = 0; start < total; start += THREADS) {
    const u32 p = start + t;
    u64 key = 0;
    bool counts_too = false;
    if (p < total) {
      const u32 e = (u32)row_of(offsets, 0, nnz - 1, p), k = indices[e];
      const u32 j = col_idx[row_ptr[k] + (p - offsets[e])];
      key = (u64)j << 32 | p << ENTRY_BITS | e;
      counts_too = allows(mask, complement != 0, j);
    }
    const u32 which = __ballot_sync(ALL, counts_too);
    u32 at = 0;
    if (lane_id() == 0 && which != 0) at = atomicAdd(&kept, (u32)__popc(which));
    at = __shfl_sync(ALL, at, 0) + __popc(which & ((1u << lane_id()) - 1));
    if (counts_too && at < MOST_KEYS) keys[at] = key;
  }
  __syncthreads();
  const u32 n = kept;
  if (n > room || n > MOST_KEYS || n == 0) {
    if (t == 0) {
      found[0] = total;
      found[1] = n;
      found[2] = n == 0 ? 0 : ~0ull;
    }
    return;
  }
  u32 power = 2;
  while (power < n) power *= 2;
  for (u32 i = n + t; i < power; i += THREADS) keys[i] = LAST;
  __syncthreads();
  sort_keys(keys, power);

  // Values of the products in this order; y has room for them.
  for (u32 i = t; i < n; i += THREADS) {
    const u32 low = (u32)keys[i], e = low & (MOST_ENTRIES - 1), p = low >> ENTRY_BITS, k = indices[e];
    y[i] = Ring::mul(x[e], values[row_ptr[k] + (p - offsets[e])], 0, k, column_of(keys[i]));
  }
  __syncthreads();

  // Folds each column, in the thread of its first product; several products are prefetched.
  constexpr u32 DEEP = sizeof(Out) <= 8 ? 8 : 2;
  Out results[ROUNDS];
#pragma unroll
  for (u32 r = 0; r < ROUNDS; ++r) {
    const u32 first = r * THREADS + t;
    results[r] = Ring::zero();
    if (first >= n) continue;
    const u32 j = column_of(keys[first]);
    if (first > 0 && column_of(keys[first - 1]) == j) continue;
    bool more = true;
    for (u32 q = first; more; q += DEEP) {
      bool same[DEEP];
      Out product[DEEP];
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u) {
        same[u] = q + u < n && column_of(keys[q + u]) == j;
        if (same[u]) product[u] = y[q + u];
      }
#pragma unroll
      for (u32 u = 0; u < DEEP; ++u)
        if (same[u]) results[r] = Ring::add(results[r], product[u]);
      more = same[DEEP - 1];
    }
  }
  __syncthreads();

  // All products have been read: their storage is reused for the results.
  u32 base = 0;
#pragma unroll
  for (u32 r = 0; r < ROUNDS; ++r) {
    if (r * THREADS >= n) break;
    const u32 first = r * THREADS + t;
    const bool head = first < n && (first == 0 || column_of(keys[first - 1]) != column_of(keys[first]));
    u32 heads;
    const u32 to = base + block_exclusive_sum((u32)head, sums, heads);
    if (head) {
      y_indices[to] = column_of(keys[first]);
      y[to] = results[r];
    }
    base += heads;
  }
  if (t == 0) {
    found[0] = total;
    found[1] = n;
    found[2] = base;
  }
}

}  // namespace kernels
