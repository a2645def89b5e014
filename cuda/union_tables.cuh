// union_tables.cuh: a row of a sparse matrix in shared memory, built by a whole block, with lookups by column: a dense
// array or a hash table. Source: Nolet et al. 2022, GPU Semiring Primitives for Sparse Neighborhood Methods, §3.3.2.
// The host defines PASS. In union products (1, 2) an explicit zero counts as absent; in products over common entries
// (0) it is an entry.
#pragma once
#include "parts.cuh"
namespace kernels {

#if PASS == 0
template <class V> __device__ inline bool keeps(const V&) { return true; }
#else
template <class V> __device__ inline bool keeps(const V& x) { return x != V(0); }
#endif

// The finalizer of MurmurHash3: every bit of the key affects every bit of the result.
__device__ inline u32 murmur(u32 h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

// Interface of a table: load() stores entries [from, to) of a matrix in `room`, which is 16-byte aligned, and
// synchronizes the block; find() returns whether column k is stored, and its value. `size` is the capacity that the
// host allocated.

// size = columns. Bytes: 4 · (columns / 32 rounded up to a multiple of 4) if zeros are entries, plus a value each.
template <class V, class P> struct DenseTable {
  static constexpr bool PARTS = false;
  u32* bits;
  V* values;
  __device__ void load(unsigned char* room, u32 size, const u32* columns, const V* entries, P from, P to) {
#if PASS == 0
    const u32 words = (size + 127) / 128 * 4;
    bits = (u32*)room;
    values = (V*)(room + 4 * words);
    for (u32 w = threadIdx.x; w < words; w += THREADS) bits[w] = 0;
#else
    bits = nullptr;
    values = (V*)room;
    for (u32 k = threadIdx.x; k < size; k += THREADS) values[k] = V(0);
#endif
    __syncthreads();
    for (P p = from + threadIdx.x; p < to; p += THREADS) {
      const u32 k = columns[p];
#if PASS == 0
      atomicOr(&bits[k / 32], 1u << k % 32);
#endif
      values[k] = entries[p];
    }
    __syncthreads();
  }
  __device__ bool find(u32 k, V& value) const {
#if PASS == 0
    if ((bits[k / 32] >> k % 32 & 1) == 0) return false;
#endif
    value = values[k];
    return keeps(value);
  }
};

// size = slots, a multiple of 4, at least twice the entries. Bytes: a key and a value each. Linear probing; the load
// factor is at most one half, so a search ends, and one quarter if the size allows it.
template <class V, class P> struct HashTable {
  static constexpr bool PARTS = true;
  u32* keys;
  V* values;
  u32 used;
  __device__ void load(unsigned char* room, u32 size, const u32* columns, const V* entries, P from, P to) {
    keys = (u32*)room;
    values = (V*)(room + 4ull * size);
    const u64 wanted = 4 * (u64)(to - from) + 1;
    used = wanted < size ? (u32)wanted : size;
    for (u32 s = threadIdx.x; s < used; s += THREADS) keys[s] = NONE;
    __syncthreads();
    for (P p = from + threadIdx.x; p < to; p += THREADS) {
      const V value = entries[p];
      if (!keeps(value)) continue;
      const u32 k = columns[p];
      u32 s = __umulhi(murmur(k), used);
      while (atomicCAS(&keys[s], NONE, k) != NONE) s = s + 1 < used ? s + 1 : 0;
      values[s] = value;
    }
    __syncthreads();
  }
  __device__ bool find(u32 k, V& value) const {
    u32 s = __umulhi(murmur(k), used);
    for (;;) {
      const u32 key = keys[s];
      if (key == k) {
        value = values[s];
        return true;
      }
      if (key == NONE) return false;
      s = s + 1 < used ? s + 1 : 0;
    }
  }
};

}  // namespace kernels
