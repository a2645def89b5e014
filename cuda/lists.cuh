// lists.cuh: product lists of C's longer rows, written by spgemm_lists.cu, read by values_listed.cu.
#pragma once
#include "parts.cuh"

// Entries [first, first + length) of a row of C.
struct Part {
  u32 row, first, length;
};
// The products of one entry of A: the one at word w is B's entry b + w (modulo 2³²), times A's entry a.
struct __align__(8) Record {
  u32 b, a;
};
constexpr u32 MOST_ENTRIES = 1024;  // per part
constexpr u32 ENTRY = MOST_ENTRIES - 1, HEAD = 1024, BREAK = 2048;

// Entries per part of a row: fewer if many entries of A contribute to it, because a warp traverses all of a part's
// products; at most `pairs` pairs of an entry of A and an entry of the part.
__device__ inline u32 entries_of_part(u64 entries_of_a, u32 pairs) {
  const u32 least = pairs <= 1u << 15 ? 32 : 64;
  u32 entries = MOST_ENTRIES;
  while (entries > least && entries_of_a * entries > pairs) entries /= 2;
  return entries;
}
