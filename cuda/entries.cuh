// entries.cuh: how the entries of a tensor lie on the device, and how they are handed out. A record is an entry in
// STRIDE words: its ORDER indices, its value (VALUE_WORDS words). An order of entries is cut into blocks, and a block
// into runs: entries of one row. A run's target is that row, or, where other blocks have runs of the row as well, SPLIT
// and a slot. Set in front: `ORDER`, `VALUE_WORDS`, `STRIDE`.
#pragma once
#include "parts.cuh"
constexpr u32 SPLIT = 0x80000000u;
constexpr u32 VALUE_AT = ORDER, WORDS = ORDER + VALUE_WORDS;  // of a record, where its value is and all that it has
constexpr u32 ALIGNED = STRIDE % 4 == 0 ? 4 : STRIDE % 2 == 0 ? 2 : 1;  // words that every record is a multiple of

// Slot of the j-th run of a row whose first run is number `first` among those of split rows: of two runs in a block,
// one begins and one ends there, so that they have two slots.
__device__ inline u32 slot_of(u32 first, u32 j) { return j == 0 ? 2 * first + 1 : 2 * (first + j); }

// Reads the first COUNT words at p, which lies at a multiple of ALIGNED words.
template <u32 COUNT> __device__ inline void read_words(const u32* p, u32* to) {
  u32 i = 0;
  if constexpr (ALIGNED == 4) {
#pragma unroll
    for (; i + 4 <= COUNT; i += 4) {
      const uint4 q = __ldg(reinterpret_cast<const uint4*>(p + i));
      to[i] = q.x, to[i + 1] = q.y, to[i + 2] = q.z, to[i + 3] = q.w;
    }
  }
  if constexpr (ALIGNED >= 2) {
#pragma unroll
    for (; i + 2 <= COUNT; i += 2) {
      const uint2 q = __ldg(reinterpret_cast<const uint2*>(p + i));
      to[i] = q.x, to[i + 1] = q.y;
    }
  }
#pragma unroll
  for (; i < COUNT; ++i) to[i] = __ldg(p + i);
}

// Writes a record.
__device__ inline void write_record(u32* p, const u32* from) {
  if constexpr (ALIGNED == 4) {
#pragma unroll
    for (u32 i = 0; i < STRIDE; i += 4)
      *reinterpret_cast<uint4*>(p + i) = make_uint4(from[i], from[i + 1], from[i + 2], from[i + 3]);
  } else if constexpr (ALIGNED == 2) {
#pragma unroll
    for (u32 i = 0; i < STRIDE; i += 2) *reinterpret_cast<uint2*>(p + i) = make_uint2(from[i], from[i + 1]);
  } else {
#pragma unroll
    for (u32 i = 0; i < STRIDE; ++i) p[i] = from[i];
  }
}

// A value as words, the last one filled up.
template <class T> union Packed {
  T value;
  u32 words[VALUE_WORDS];
  __device__ Packed() { words[VALUE_WORDS - 1] = 0; }
};
