// neighbours.cuh: the final steps of every neighbour search: merging lists of parts, and counting neighbours within a
// radius. Defined by the host: `T` (of results) and NEAREST, with K_IN_REGISTERS, IN_SHARED and LARGEST (whether the
// largest come first), or RADIUS, with SIMILARITY and OffsetC.
#pragma once
#include "parts.cuh"

#ifdef NEAREST
#include "nearest.cuh"

// The sort key of neighbours: the distance as it is returned, negated if the largest come first.
__device__ inline u64 code_of_distance(T distance) { return code_of(LARGEST ? 0.0 - (double)distance : (double)distance); }

// Merges a list of up to k neighbours, nearest first, into another one. Called by all lanes.
__device__ inline void offer_list(List& list, u32 k, const u64* codes, const u32* ids) {
  for (u32 start = 0; start < k; start += 32) {
    const u32 n = start + lane_id();
    const u64 code = n < k ? codes[n] : FARTHEST;
    offer(list, code != FARTHEST, code, n < k ? ids[n] : NONE);
  }
}

// Merges the lists of a row's parts into the k nearest. Grid: blocks of one warp, one row each; a list in shared
// memory.
BOUNDED_KERNEL((32, 13), nearest_of_parts, u64 nrows, u32 k, u32 parts, const u64* codes, const u32* ids, u64* merged_codes,
                                           u32* merged_ids) {
  extern __shared__ __align__(16) unsigned char room[];
  const u64 row = blockIdx.x, to = row * k;
  if (row >= nrows) return;
  List list = IN_SHARED ? List(k, (u64*)room, (u32*)((u64*)room + k)) : List(k, merged_codes + to, merged_ids + to);
  for (u64 p = row * parts; p < (row + 1) * parts; ++p) offer_list(list, k, codes + p * k, ids + p * k);
  list.write(merged_codes + to, merged_ids + to);
}

// Merges two lists of k; all indices in the second exceed those in the first. Grid: as above.
BOUNDED_KERNEL((32, 13), join_lists, u64 nrows, u32 k, const u64* codes_a, const u32* ids_a, const u64* codes_b, const u32* ids_b,
                                     u64* codes, u32* ids) {
  extern __shared__ __align__(16) unsigned char room[];
  const u64 row = blockIdx.x, at = row * k;
  if (row >= nrows) return;
  List list = IN_SHARED ? List(k, (u64*)room, (u32*)((u64*)room + k)) : List(k, codes + at, ids + at);
  offer_list(list, k, codes_a + at, ids_a + at);
  offer_list(list, k, codes_b + at, ids_b + at);
  list.write(codes + at, ids + at);
}

// Decodes codes into distances. Grid: a thread per neighbour.
KERNEL(distances_of, const u64* codes, u64 n, T* distances) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < n) distances[p] = (T)(LARGEST ? 0.0 - key_of(codes[p]) : key_of(codes[p]));
}
#endif

#ifdef RADIUS
// Whether a distance is at most the radius; for a similarity, at least. False for NaN.
__device__ inline bool within(double distance, u64 radius) {
  const double r = __longlong_as_double((long long)radius);
  return SIMILARITY ? distance >= r : distance <= r;
}

// row_ptr[i] = offsets[i · parts]. Grid: a thread per row, and one more.
KERNEL(rows_within, const OffsetC* offsets, u64 nrows, u64 parts, OffsetC* row_ptr) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= nrows) row_ptr[i] = offsets[i * parts];
}
#endif
