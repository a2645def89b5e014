// values_parts.cu: rows of C of up to 1024 entries, a warp per PART entries of a row. Grid: one block of PART_WARPS
// warps per PART_WARPS parts. Shared memory: a Part per warp. See values.cuh.
#include "values.cuh"

// Entries per part: 4 KiB of values.
constexpr u32 PART = sizeof(Value) <= 8 ? 512 : sizeof(Value) <= 16 ? 256 : 128;
constexpr u32 PART_WARPS = 4;
// Lines of 32 products whose loads are in flight together.
constexpr u32 LINES = sizeof(Value) <= 8 ? 4 : 1;
// Maps a column to its rank in the part: a hash table, or, if the columns are close, a bitmap with the prefix counts of
// its words.
constexpr u32 SPAN_WORDS = 2 * PART;
union Ranks {
  struct { u32 keys[2 * PART]; unsigned short ranks[2 * PART]; } table;
  struct { u32 bits[SPAN_WORDS]; unsigned short before[SPAN_WORDS]; } span;
};
struct __align__(16) Part {
  Value values[PART];
  Ranks by;
};

__device__ inline void part_of_row(u32 row, u32 part, bool b_sorted, const Operands& m) {
  extern __shared__ __align__(16) unsigned char shared[];
  Part& own = ((Part*)shared)[warp_id()];
  const u32 lane = lane_id();
  const OffsetC out = m.c_ptr[row] + (OffsetC)part * PART;
  const OffsetC rest = m.c_ptr[row + 1] - out;
  const u32 length = rest < PART ? (u32)rest : PART;
  const bool whole = part == 0 && rest <= PART;
  const u32 low = m.c_col[out], high = m.c_col[out + length - 1];
  const u32 first_word = low / 32, words = high / 32 - first_word + 1;
  const bool close = words <= SPAN_WORDS;

  for (u32 e = lane; e < length; e += 32) own.values[e] = Ring::zero();
  if (close) {
    for (u32 w = lane; w < words; w += 32) own.by.span.bits[w] = 0;
    __syncwarp();
    for (u32 e = lane; e < length; e += 32) {
      const u32 j = m.c_col[out + e];
      atomicOr(&own.by.span.bits[j / 32 - first_word], 1u << (j % 32));
    }
    __syncwarp();
    u32 sum = 0;
    for (u32 w = lane; w - lane < words; w += 32) {
      const u32 n = w < words ? __popc(own.by.span.bits[w]) : 0;
      const u32 upto = warp_inclusive_sum(n);
      if (w < words) own.by.span.before[w] = (unsigned short)(sum + upto - n);
      sum += __shfl_sync(ALL, upto, 31);
    }
  } else {
    for (u32 s = lane; s < 2 * PART; s += 32) own.by.table.keys[s] = NONE;
    __syncwarp();
    for (u32 e = lane; e < length; e += 32) insert(own.by.table.keys, own.by.table.ranks, 2 * PART, m.c_col[out + e], e);
  }
  __syncwarp();

  const OffsetA begin = m.a_ptr[row], end = m.a_ptr[row + 1];
  u32 take = 32;
  for (OffsetA chunk = begin; chunk < end; chunk += take) {
    take = 32;
    u32 k = 0, len = 0;
    OffsetB start = 0;
    Left left;
    if (chunk + lane < end) {
      k = m.a_col[chunk + lane];
      if constexpr (Ring::reads_a) left = m.a_val[chunk + lane];
      start = m.b_ptr[k];
      OffsetB stop = m.b_ptr[k + 1];
      if (b_sorted && !whole && start < stop) narrow(m.b_col, start, stop, low, high);
      len = (u32)(stop - start);
    }
    // Rows of B so long that their sum might overflow are processed one at a time.
    if (__any_sync(ALL, len > 0xffffffffu / 32)) {
      take = 1;
      if (lane > 0) len = 0;
    }
    const u32 upto = warp_inclusive_sum(len);
    const u32 total = __shfl_sync(ALL, upto, 31);
    for (u64 base = 0; base < total; base += 32 * LINES) {
      u32 rank[LINES], heads[LINES];
      Value product[LINES];
#pragma unroll
      for (u32 l = 0; l < LINES; ++l) {
        const u64 p = base + 32 * l + lane;
        u32 owner = 0;  // the first row of B whose sum exceeds p
        for (u32 step = 16; step > 0; step /= 2)
          if (__shfl_sync(ALL, upto, owner + step - 1) <= p) owner += step;
        const OffsetB from = __shfl_sync(ALL, start, owner);
        const u32 before = __shfl_sync(ALL, upto - len, owner);
        u32 here = 0;
        if constexpr (Ring::reads_place) here = __shfl_sync(ALL, k, owner);
        Left a;
        if constexpr (Ring::reads_a) a = shuffle(ALL, left, owner);
        rank[l] = NONE;
        // A row of B begins here, or continues in this line.
        heads[l] = __ballot_sync(ALL, p < total && (lane == 0 || p == before));
        if (p < total) {
          const OffsetB at = from + (OffsetB)(p - before);
          const u32 j = m.b_col[at];
          Right right;
          if constexpr (Ring::reads_b) right = m.b_val[at];
          if (close) {
            rank[l] = rank_by_bits(own.by.span.bits, own.by.span.before, first_word, words, j);
          } else {
            rank[l] = rank_of(own.by.table.keys, own.by.table.ranks, 2 * PART, j);
          }
          if (rank[l] != NONE) product[l] = Ring::mul(a, right, row, here, j);
        }
      }
      // One row of B after the other. Tried: by the number of earlier occurrences of an entry in the line
      // (__match_any_sync): 1.3 times as long on meshes, where a line has one row of B or two.
#pragma unroll
      for (u32 l = 0; l < LINES; ++l) {
        const u32 mine = __popc(heads[l] & (0xffffffffu >> (31 - lane))), rows_of_b = __popc(heads[l]);
        for (u32 t = 1; t <= rows_of_b; ++t) {
          if (mine == t && rank[l] != NONE) own.values[rank[l]] = Ring::add(own.values[rank[l]], product[l]);
          __syncwarp();
        }
      }
    }
  }
  for (u32 e = lane; e < length; e += 32) m.c_val[out + e] = own.values[e];
}

// There are *count parts. The host does not wait for the count: the grid has room for every possible part.
BOUNDED_KERNEL((32 * PART_WARPS, 6), values_parts, const u32* count, const u32* rows, const u32* parts, u32 b_sorted, Operands m) {
  const u32 t = blockIdx.x * PART_WARPS + warp_id();
  if (t < *count) part_of_row(rows[t], parts[t], b_sorted, m);
}
