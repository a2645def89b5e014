// values_listed.cu: rows of C of more than 128 entries, if the products of every part are listed (spgemm_lists.cu).
// Grid: a block of one warp per part. Shared memory: values of MOST_ENTRIES entries. See values.cuh.
#include "lists.cuh"
#include "values.cuh"

// Lines of 32 products whose loads are in flight together.
constexpr u32 LINES = sizeof(Value) <= 8 ? 6 : 3;
// The word of a lane past the last word.
constexpr u32 OUTSIDE = 4096;

struct ListedPart {
  const u32 row, n;
  const unsigned short* words;
  const Record* records;  // of the word before the next line
  Value* values;
  const Operands& m;
  // Prefetched words of the following lines.
  u32 next[LINES];
  Record next_from[LINES];

  __device__ void read_words(u32 at) {
#pragma unroll
    for (u32 l = 0; l < LINES; ++l) next[l] = at + 32 * l < n ? words[at + 32 * l] : OUTSIDE;
  }
  __device__ void read_records() {
#pragma unroll
    for (u32 l = 0; l < LINES; ++l) {
      const u32 heads = __ballot_sync(ALL, next[l] & HEAD);
      next_from[l] = records[__popc(heads & (0xffffffffu >> (31 - lane_id())))];
      records += __popc(heads);
    }
  }

  // Adds the LINES lines whose words were read, from word `base` on; FULL if no lane is outside. The operands of the
  // next lines are loaded meanwhile.
  template <bool FULL> __device__ void add(u32 base) {
    const u32 at = base + lane_id();
    u32 word[LINES];
    Record from[LINES];
    Left left[LINES];
    Right right[LINES];
#pragma unroll
    for (u32 l = 0; l < LINES; ++l) {
      word[l] = next[l], from[l] = next_from[l];
      if (!FULL && (word[l] & OUTSIDE)) continue;
      if constexpr (Ring::reads_a) left[l] = m.a_val[from[l].a];
      if constexpr (Ring::reads_b) right[l] = m.b_val[from[l].b + (at + 32 * l)];
    }
    if (FULL) {
      read_words(at + 32 * LINES);
      read_records();
    }
    Value product[LINES];
#pragma unroll
    for (u32 l = 0; l < LINES; ++l) {
      if (!FULL && (word[l] & OUTSIDE)) continue;
      u32 k = 0, j = 0;
      if constexpr (Ring::reads_place) k = m.a_col[from[l].a], j = m.b_col[from[l].b + (at + 32 * l)];
      product[l] = Ring::mul(left[l], right[l], row, k, j);
    }
#pragma unroll
    for (u32 l = 0; l < LINES; ++l) {
      const u32 breaks = __ballot_sync(ALL, word[l] & BREAK);
      const bool some = FULL || !(word[l] & OUTSIDE);
      Value& value = values[word[l] & ENTRY];
      if (breaks == 0) {
        if (some) value = Ring::add(value, product[l]);
      } else {
        const u32 mine = __popc(breaks & (0xffffffffu >> (31 - lane_id()))), rounds = __popc(breaks);
        for (u32 t = 0; t <= rounds; ++t) {
          if (mine == t && some) value = Ring::add(value, product[l]);
          __syncwarp();
        }
      }
      __syncwarp();
    }
  }
};

BOUNDED_KERNEL((32, 25), values_listed, const Part* parts, const OffsetP* word_at, const u32* record_at, const unsigned short* words,
               const Record* records, Operands m) {
  extern __shared__ __align__(16) unsigned char shared[];
  Value* values = (Value*)shared;
  const Part part = parts[blockIdx.x];
  const OffsetP from = word_at[blockIdx.x];
  // The first word has a head.
  ListedPart list{part.row, (u32)(word_at[blockIdx.x + 1] - from), words + from, records + record_at[blockIdx.x] - 1, values, m};
  for (u32 e = lane_id(); e < part.length; e += 32) values[e] = Ring::zero();
  __syncwarp();
  list.read_words(lane_id());
  list.read_records();
  u32 base = 0;
  for (; base + 32 * LINES <= list.n; base += 32 * LINES) list.add<true>(base);
  if (base < list.n) list.add<false>(base);
  const OffsetC out = m.c_ptr[part.row] + part.first;
  for (u32 e = lane_id(); e < part.length; e += 32) m.c_val[out + e] = values[e];
}
