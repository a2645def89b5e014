// index.cuh: row pointers of either width, index lists, and entry bitmaps, for kernels that copy entries between rows.
// The structs are kernel parameters, built by src/gpu/index.rs.
#pragma once
#include "parts.cuh"
constexpr u64 ABSENT = ~0ull;

// Row pointers, 32 or 64 bits wide. The width is a run-time parameter, so that one program serves both.
struct Offsets {
  void* at;
  u64 large;
  __device__ u64 operator[](u64 i) const {
    return large ? static_cast<const u64*>(at)[i] : static_cast<const u32*>(at)[i];
  }
  __device__ void set(u64 i, u64 x) const {
    if (large) static_cast<u64*>(at)[i] = x; else static_cast<u32*>(at)[i] = (u32)x;
  }
};

// An index list I: `list`, or start, start + step, ... if that is null. `map`, if not null, is the inverse of `list`:
// the position of each index, or NONE. Without it, `list` increases.
struct List {
  const u32* list;
  const u32* map;
  u64 start;
  long long step;
  u64 len;
  // I(p).
  __device__ u64 at(u64 p) const { return list != nullptr ? list[p] : start + p * (u64)step; }
  // The p with I(p) = i; ABSENT if none exists.
  __device__ u64 find(u64 i) const {
    if (map != nullptr) {
      const u32 p = map[i];
      return p == NONE ? ABSENT : p;
    }
    if (list != nullptr) {
      const u64 p = lower_bound(list, (u64)0, len, (u32)i);
      return p < len && list[p] == i ? p : ABSENT;
    }
    // Indices on the other side of the start wrap to a distance beyond every list.
    const u64 distance = step < 0 ? start - i : i - start, stride = step < 0 ? 0 - (u64)step : (u64)step;
    if (stride == 1) return distance < len ? distance : ABSENT;
    if (stride == 0) return len > 0 && distance == 0 ? 0 : ABSENT;
    return distance % stride == 0 && distance / stride < len ? distance / stride : ABSENT;
  }
};

// A bitmap of entries; before[w] = set bits before word w.
struct Marks {
  const u32* words;
  Offsets before;
  __device__ bool has(u64 v) const { return words[v >> 5] >> (v & 31) & 1; }
  // Set bits before entry v, which may be one past the last.
  __device__ u64 rank(u64 v) const {
    const u32 bit = v & 31;
    return before[v >> 5] + (bit == 0 ? 0 : __popc(words[v >> 5] & ((1u << bit) - 1)));
  }
};

// Position of entry (i, j) of a matrix with sorted rows; ABSENT if it is not stored.
__device__ inline u64 entry_of(const Offsets& row_ptr, const u32* col_idx, u64 i, u64 j) {
  const u64 end = row_ptr[i + 1], p = lower_bound(col_idx, row_ptr[i], end, (u32)j);
  return p < end && col_idx[p] == j ? p : ABSENT;
}
