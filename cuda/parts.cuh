// parts.cuh: building blocks of kernels: sums and scans over a warp or a block, searches in sorted arrays. Every
// function is called by all threads of its warp or block.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;
constexpr u32 ALL = 0xffffffffu;  // every lane of a warp
constexpr u32 NONE = 0xffffffffu;  // never a column

__device__ inline u32 lane_id() { return threadIdx.x & 31; }
__device__ inline u32 warp_id() { return threadIdx.x >> 5; }

// Sum of x over the lanes up to and including this one.
template <class T> __device__ inline T warp_inclusive_sum(T x) {
  for (u32 d = 1; d < 32; d *= 2) {
    const T y = __shfl_up_sync(ALL, x, d);
    if (lane_id() >= d) x += y;
  }
  return x;
}
// Sum of x over the warp, in every lane.
template <class T> __device__ inline T warp_sum(T x) {
  for (u32 d = 16; d > 0; d /= 2) x += __shfl_xor_sync(ALL, x, d);
  return x;
}
template <class T> __device__ inline T warp_max(T x) {
  for (u32 d = 16; d > 0; d /= 2) {
    const T y = __shfl_xor_sync(ALL, x, d);
    x = y > x ? y : x;
  }
  return x;
}
template <class T> __device__ inline T warp_min(T x) {
  for (u32 d = 16; d > 0; d /= 2) {
    const T y = __shfl_xor_sync(ALL, x, d);
    x = y < x ? y : x;
  }
  return x;
}

// Another lane's value of any type.
template <class T> __device__ inline T shuffle(u32 lanes, const T& x, u32 source) {
  constexpr u32 WORDS = (sizeof(T) + 3) / 4;
  u32 words[WORDS];
  words[WORDS - 1] = 0;
  memcpy(words, &x, sizeof(T));
  for (u32 w = 0; w < WORDS; ++w) words[w] = __shfl_sync(lanes, words[w], source);
  T y;
  memcpy(&y, words, sizeof(T));
  return y;
}

// Sum of x over the preceding threads, and over all threads in `total`. `room` holds 33 values of T in shared memory
// and may be reused after the call.
template <class T> __device__ inline T block_exclusive_sum(T x, T* room, T& total) {
  const T inclusive = warp_inclusive_sum(x);
  if (lane_id() == 31) room[warp_id()] = inclusive;
  __syncthreads();
  if (warp_id() == 0) {
    const u32 warps = (blockDim.x + 31) / 32;
    const T mine = lane_id() < warps ? room[lane_id()] : T(0);
    const T upto = warp_inclusive_sum(mine);
    room[lane_id()] = upto - mine;
    if (lane_id() == 31) room[32] = upto;
  }
  __syncthreads();
  const T before = room[warp_id()] + inclusive - x;
  total = room[32];
  __syncthreads();
  return before;
}
template <class T> __device__ inline T block_sum(T x, T* room) {
  T total;
  block_exclusive_sum(x, room, total);
  return total;
}

// First position in [from, to) of the increasing array `keys` whose key is not below `key`; `to` if none is.
template <class P> __device__ inline P lower_bound(const u32* keys, P from, P to, u32 key) {
  while (from < to) {
    const P middle = from + (to - from) / 2;
    if (keys[middle] < key) from = middle + 1; else to = middle;
  }
  return from;
}

// The last i in [from, to] with starts[i] <= p, for non-decreasing starts and starts[from] <= p. With row pointers, it
// is the row that contains entry p. P is a pointer, or any type with an operator [].
template <class P> __device__ inline u64 row_of(P starts, u64 from, u64 to, u64 p) {
  while (from < to) {
    const u64 middle = to - (to - from) / 2;
    if (starts[middle] <= p) from = middle; else to = middle - 1;
  }
  return from;
}

// A block's nonempty share of a matrix's entries, [start, end), with the rows of its first and last entry, which narrow
// the search of `row_of`. `room` holds 2 values in shared memory, reserved for the block's lifetime.
struct Tile {
  u64 start, end, first_row, last_row;
};
template <class P> __device__ inline Tile tile_of(P row_ptr, u64 nrows, u64 nnz, u32 tile, u64* room) {
  Tile t;
  t.start = (u64)blockIdx.x * tile;
  t.end = t.start + tile < nnz ? t.start + tile : nnz;
  if (threadIdx.x < 2) room[threadIdx.x] = row_of(row_ptr, 0, nrows - 1, threadIdx.x == 0 ? t.start : t.end - 1);
  __syncthreads();
  t.first_row = room[0];
  t.last_row = room[1];
  return t;
}
