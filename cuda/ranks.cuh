// ranks.cuh: the rank of a column within its row of C: a hash table in shared memory.
#pragma once
#include "parts.cuh"

// The byte of a product without an entry of C; ranks of mapped rows are below 128.
constexpr unsigned char ABSENT = 0xff;

__device__ inline u32 slot_of(u32 j, u32 slots) { return (j * 2654435761u) >> (32 - (31 - __clz(slots))); }

// Rank of column j among C's columns, by the table; NONE if C lacks the column.
template <class Rank> __device__ inline u32 rank_of(const u32* keys, const Rank* ranks, u32 slots, u32 j) {
  u32 h = slot_of(j, slots);
  while (true) {
    const u32 there = keys[h];
    if (there == j) return ranks[h];
    if (there == NONE) return NONE;
    h = (h + 1) & (slots - 1);
  }
}
template <class Rank> __device__ inline void insert(u32* keys, Rank* ranks, u32 slots, u32 j, u32 rank) {
  u32 h = slot_of(j, slots);
  while (atomicCAS(&keys[h], NONE, j) != NONE) h = (h + 1) & (slots - 1);
  ranks[h] = (Rank)rank;
}
