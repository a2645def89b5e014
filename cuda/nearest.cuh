// nearest.cuh: a warp's list of the k nearest neighbours so far, nearest first. Ties go to the smaller index:
// candidates arrive with increasing indices, or in any order if IN_ANY_ORDER is set. Keys are encoded as
// order-preserving integers, NaN after all numbers. The host defines `K_IN_REGISTERS` (k is at most 32).
#pragma once
#include "parts.cuh"

#ifndef IN_ANY_ORDER
#define IN_ANY_ORDER false
#endif
constexpr u64 FARTHEST = ~0ull;  // empty slot: after all keys
// Whether neighbour a stays ahead of the later candidate b.
__device__ inline bool stays(u64 code_a, u32 id_a, u64 code_b, u32 id_b) {
  return IN_ANY_ORDER && code_a == code_b ? id_a < id_b : code_a <= code_b;
}

__device__ inline u64 code_of(double key) {
  if (key != key) return FARTHEST - 1;
  const u64 bits = (u64)__double_as_longlong(key + 0.0);  // −0 is 0
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}
__device__ inline double key_of(u64 code) {
  if (code >= FARTHEST - 1) return sr::nan<double>();
  return __longlong_as_double((long long)(code >> 63 ? code & ~(1ull << 63) : ~code));
}

// One neighbour in each of the first k lanes.
struct ListInRegisters {
  u64 code, worst;
  u32 id, worst_id, k;
  __device__ ListInRegisters(u32 k, u64*, u32*) : code(FARTHEST), worst(FARTHEST), id(NONE), worst_id(NONE), k(k) {}
  // Inserts a neighbour nearer than the worst. Called by all lanes, with the same arguments.
  __device__ void insert(u64 new_code, u32 new_id) {
    const u32 lane = lane_id(), place = __popc(__ballot_sync(ALL, stays(code, id, new_code, new_id)));
    const u64 code_before = __shfl_up_sync(ALL, code, 1);
    const u32 id_before = __shfl_up_sync(ALL, id, 1);
    if (lane > place) code = code_before, id = id_before;
    if (lane == place) code = new_code, id = new_id;
    worst = __shfl_sync(ALL, code, k - 1);
    if (IN_ANY_ORDER) worst_id = __shfl_sync(ALL, id, k - 1);
  }
  __device__ void write(u64* codes, u32* ids) const {
    if (lane_id() < k) codes[lane_id()] = code, ids[lane_id()] = id;
  }
};

// Neighbours in shared or global memory.
struct ListInMemory {
  u64 worst;
  u64* codes;
  u32* ids;
  u32 k, length, worst_id;
  __device__ ListInMemory(u32 k, u64* codes, u32* ids)
      : worst(FARTHEST), codes(codes), ids(ids), k(k), length(0), worst_id(NONE) {
    for (u32 n = lane_id(); n < k; n += 32) codes[n] = FARTHEST, ids[n] = NONE;
    __syncwarp();
  }
  __device__ void insert(u64 new_code, u32 new_id) {
    u32 place = 0;  // number of neighbours that are not farther
    for (u32 to = length; place < to;) {
      const u32 middle = place + (to - place) / 2;
      if (stays(codes[middle], ids[middle], new_code, new_id)) place = middle + 1; else to = middle;
    }
    // Shifts the later ones by one, from the end.
    const u32 last = length < k ? length : k - 1;
    for (u32 high = last; high > place;) {
      const u32 n = high - lane_id();
      const bool moves = lane_id() < high - place;
      u64 code = 0;
      u32 id = 0;
      if (moves) code = codes[n - 1], id = ids[n - 1];
      __syncwarp();
      if (moves) codes[n] = code, ids[n] = id;
      __syncwarp();
      high = high - place > 32 ? high - 32 : place;
    }
    __syncwarp();
    if (lane_id() == 0) codes[place] = new_code, ids[place] = new_id;
    __syncwarp();
    if (length < k) ++length;
    if (length == k) worst = codes[k - 1], worst_id = ids[k - 1];
  }
  __device__ void write(u64* to_codes, u32* to_ids) const {
    __syncwarp();
    if (to_codes == codes) return;
    for (u32 n = lane_id(); n < k; n += 32) to_codes[n] = codes[n], to_ids[n] = ids[n];
  }
};

#if K_IN_REGISTERS
typedef ListInRegisters List;
#else
typedef ListInMemory List;
#endif

// Whether a list accepts a neighbour.
template <class L> __device__ inline bool takes(const L& list, u64 code, u32 id) {
  return code < list.worst || IN_ANY_ORDER && code == list.worst && id < list.worst_id;
}
// Inserts the lanes' candidates into the list, in lane order; called by all lanes.
template <class L> __device__ inline void offer(L& list, bool valid, u64 code, u32 id) {
  for (u32 left = __ballot_sync(ALL, valid && takes(list, code, id)); left; left &= left - 1) {
    const u32 lane = __ffs(left) - 1;
    const u64 new_code = __shfl_sync(ALL, code, lane);
    const u32 new_id = __shfl_sync(ALL, id, lane);
    if (takes(list, new_code, new_id)) list.insert(new_code, new_id);
  }
}
