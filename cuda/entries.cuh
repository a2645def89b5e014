// entries.cuh: layout of tensor entries on the device, and their work distribution. A record is an entry in STRIDE
// words: its ORDER indices and its value (VALUE_WORDS words). An order of entries is divided into blocks, and a block
// into runs, which are entries of one row. A run's target is that row, or, if other blocks also have runs of the row,
// SPLIT and a slot. Defined by the host: `ORDER`, `VALUE_WORDS`, `STRIDE`.
#pragma once
#include "parts.cuh"
constexpr u32 SPLIT = 0x80000000u;
constexpr u32 VALUE_AT = ORDER, WORDS = ORDER + VALUE_WORDS;  // position of a record's value, and its used words
constexpr u32 ALIGNED = STRIDE % 4 == 0 ? 4 : STRIDE % 2 == 0 ? 2 : 1;  // word alignment of every record

// Slot of the j-th run of a row whose first run has index `first` among those of split rows. A block may have two such
// runs, one that ends a row and one that begins a row; they get different slots.
__device__ inline u32 slot_of(u32 first, u32 j) { return j == 0 ? 2 * first + 1 : 2 * (first + j); }

// Reads the first COUNT words at p, which is aligned to ALIGNED words.
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

// A value as words, the last one padded.
template <class T> union Packed {
  T value;
  u32 words[VALUE_WORDS];
  __device__ Packed() { words[VALUE_WORDS - 1] = 0; }
};
