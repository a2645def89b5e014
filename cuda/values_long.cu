// values_long.cu: very long rows of C, a block per LONG_PART entries of a row. Grid: one block of TURN_THREADS threads
// per part. Shared memory: a LongPart. See values.cuh.
//
// Warps draw tickets in turn, each for up to LINES lines of at most 32 products of one row of B. They look up columns
// and multiply in parallel, which takes most of the time; then each adds its products in ticket order. The turn passes
// from warp to warp through named barriers. Adding in turn is a serial chain, so throughput depends on the number of
// resident parts per multiprocessor: parts are small, and those with close columns (NEAR words) need no large table.
#include "values.cuh"

constexpr u32 LONG_PART = sizeof(Value) <= 8 ? 2048 : sizeof(Value) <= 16 ? 1024 : 512;
constexpr u32 TURN_WARPS = 8, TURN_THREADS = 32 * TURN_WARPS, LINES = 4;
constexpr u32 NEAR_WORDS = 1024, FAR_WORDS = 2 * LONG_PART;
template <u32 WORDS> struct Span { u32 bits[WORDS]; unsigned short before[WORDS]; };
struct Hash { u32 keys[2 * LONG_PART]; unsigned short ranks[2 * LONG_PART]; };
template <bool NEAR> struct Lookup;
template <> struct Lookup<true> { Span<NEAR_WORDS> span; };
template <> struct Lookup<false> { union { Span<FAR_WORDS> span; Hash table; }; };
constexpr u32 OWNERS = 1024;
template <bool NEAR> struct __align__(16) LongPart {
  Value values[LONG_PART];
  Lookup<NEAR> by;
  u64 lines[TURN_THREADS];     // prefix sum of lines, for each row of B of the chunk
  u64 starts[TURN_THREADS];    // where its products begin
  u32 lengths[TURN_THREADS];   // their number
  unsigned char owners[OWNERS];  // the row of B of each line, for the first lines
};

#ifndef TURNS_BY_BLOCK
// Barrier of the two warps on either side of a turn: barrier 1 + w is where warp w takes over.
__device__ inline void turn_of(u32 warp) { asm volatile("bar.sync %0, 64;" ::"r"(1 + warp) : "memory"); }
__device__ inline void take_turn(u32 warp, u64 ticket) {
  if (ticket > 0) turn_of(warp);
}
__device__ inline void pass_turn(u32 warp, u64 ticket, u64 tickets) {
  if (ticket + 1 < tickets) turn_of(warp + 1 < TURN_WARPS ? warp + 1 : 0);
}
__device__ inline u64 rounded(u64 tickets) { return tickets; }
#else
// For racecheck, which tracks barriers of the whole block but not a chain of barriers of two warps (CONTRIBUTING.md):
// the same turns, slower. In a round of TURN_WARPS tickets, every warp passes the same number of barriers, those before
// its turn and those after it.
__device__ inline void take_turn(u32 warp, u64) {
  for (u32 w = 0; w < warp; ++w) __syncthreads();
}
__device__ inline void pass_turn(u32 warp, u64, u64) {
  for (u32 w = warp; w < TURN_WARPS; ++w) __syncthreads();
}
__device__ inline u64 rounded(u64 tickets) { return (tickets + TURN_WARPS - 1) / TURN_WARPS * TURN_WARPS; }
#endif

template <bool NEAR> __device__ inline void long_part_of_row(u32 row, u32 part, bool b_sorted, const Operands& m) {
  extern __shared__ __align__(16) unsigned char shared[];
  LongPart<NEAR>& own = *(LongPart<NEAR>*)shared;
  __shared__ u64 room[33];
  __shared__ u32 found[TURN_WARPS];
  const u32 lane = lane_id(), warp = warp_id();
  const OffsetC out = m.c_ptr[row] + (OffsetC)part * LONG_PART;
  const OffsetC rest = m.c_ptr[row + 1] - out;
  const u32 length = rest < LONG_PART ? (u32)rest : LONG_PART;
  const u32 low = m.c_col[out], high = m.c_col[out + length - 1];
  const u32 first_word = low / 32, words = high / 32 - first_word + 1;
  const bool close = NEAR || words <= FAR_WORDS;

  for (u32 e = threadIdx.x; e < length; e += TURN_THREADS) own.values[e] = Ring::zero();
  if (close) {
    for (u32 w = threadIdx.x; w < words; w += TURN_THREADS) own.by.span.bits[w] = 0;
    __syncthreads();
    for (u32 e = threadIdx.x; e < length; e += TURN_THREADS) {
      const u32 j = m.c_col[out + e];
      atomicOr(&own.by.span.bits[j / 32 - first_word], 1u << (j % 32));
    }
    __syncthreads();
    const u32 section = (words + TURN_THREADS - 1) / TURN_THREADS * 32;
    const u32 from = warp * section, to = from + section < words ? from + section : words;
    u32 count = 0;
    for (u32 w = from + lane; w < to; w += 32) count += __popc(own.by.span.bits[w]);
    count = warp_sum(count);
    if (lane == 0) found[warp] = count;
    __syncthreads();
    const u32 each = lane < TURN_WARPS ? found[lane] : 0;
    u32 sum = __shfl_sync(ALL, warp_inclusive_sum(each) - each, warp);
    for (u32 w = from + lane; w - lane < to; w += 32) {
      const u32 n = w < to ? __popc(own.by.span.bits[w]) : 0;
      const u32 upto = warp_inclusive_sum(n);
      if (w < to) own.by.span.before[w] = (unsigned short)(sum + upto - n);
      sum += __shfl_sync(ALL, upto, 31);
    }
  } else if constexpr (!NEAR) {
    for (u32 s = threadIdx.x; s < 2 * LONG_PART; s += TURN_THREADS) own.by.table.keys[s] = NONE;
    __syncthreads();
    for (u32 e = threadIdx.x; e < length; e += TURN_THREADS)
      insert(own.by.table.keys, own.by.table.ranks, 2 * LONG_PART, m.c_col[out + e], e);
  }
  __syncthreads();

  const OffsetA begin = m.a_ptr[row], end = m.a_ptr[row + 1];
  for (OffsetA chunk = begin; chunk < end; chunk += TURN_THREADS) {
    OffsetB start = 0, stop = 0;
    if (chunk + threadIdx.x < end) {
      const u32 k = m.a_col[chunk + threadIdx.x];
      start = m.b_ptr[k];
      stop = m.b_ptr[k + 1];
      if (b_sorted && start < stop) narrow(m.b_col, start, stop, low, high);
    }
    u64 total;
    const u64 lines_before = block_exclusive_sum((u64)((stop - start + 31) / 32), room, total);
    own.lines[threadIdx.x] = lines_before;
    own.starts[threadIdx.x] = start;
    own.lengths[threadIdx.x] = (u32)(stop - start);
    for (u64 l = lines_before; l < lines_before + (stop - start + 31) / 32 && l < OWNERS; ++l)
      own.owners[l] = (unsigned char)threadIdx.x;
    __syncthreads();
    const u64 tickets = (total + LINES - 1) / LINES;
    for (u64 ticket = warp; ticket < rounded(tickets); ticket += TURN_WARPS) {
      // The row of B of each line: the last one that begins at or before it.
      const u64 line = ticket * LINES + lane % LINES;
      u32 owner = 0;
      if (ticket * LINES + LINES <= OWNERS) owner = own.owners[line < total ? line : total - 1];
      else for (u32 step = TURN_THREADS / 2; step > 0; step /= 2)
        if (own.lines[owner + step] <= line) owner += step;
      u32 rank[LINES], of[LINES];
      Value product[LINES];
#pragma unroll
      for (u32 r = 0; r < LINES; ++r) {
        rank[r] = NONE;
        const u32 o = __shfl_sync(ALL, owner, r);
        of[r] = o;
        const u64 at = (ticket * LINES + r - own.lines[o]) * 32 + lane;
        if (ticket * LINES + r < total && at < own.lengths[o]) {
          const u64 place = own.starts[o] + at;
          const u32 j = m.b_col[place];
          Left left;
          Right right;
          u32 k = 0;
          if constexpr (Ring::reads_a) left = m.a_val[chunk + o];
          if constexpr (Ring::reads_b) right = m.b_val[place];
          if constexpr (Ring::reads_place) k = m.a_col[chunk + o];
          if (close) {
            rank[r] = rank_by_bits(own.by.span.bits, own.by.span.before, first_word, words, j);
          } else if constexpr (!NEAR) {
            rank[r] = rank_of(own.by.table.keys, own.by.table.ranks, 2 * LONG_PART, j);
          }
          if (rank[r] != NONE) product[r] = Ring::mul(left, right, row, k, j);
        }
      }
      __syncwarp();
      take_turn(warp, ticket);
#pragma unroll
      for (u32 r = 0; r < LINES; r += 2) {
        if (of[r] == of[r + 1]) {  // two lines of one row of B: distinct columns, so in parallel
          Value first, second;
          if (rank[r] != NONE) first = own.values[rank[r]];
          if (rank[r + 1] != NONE) second = own.values[rank[r + 1]];
          if (rank[r] != NONE) own.values[rank[r]] = Ring::add(first, product[r]);
          if (rank[r + 1] != NONE) own.values[rank[r + 1]] = Ring::add(second, product[r + 1]);
        } else {
          if (rank[r] != NONE) own.values[rank[r]] = Ring::add(own.values[rank[r]], product[r]);
          __syncwarp();
          if (rank[r + 1] != NONE) own.values[rank[r + 1]] = Ring::add(own.values[rank[r + 1]], product[r + 1]);
        }
        __syncwarp();
      }
      pass_turn(warp, ticket, tickets);
    }
    __syncthreads();
  }
  for (u32 e = threadIdx.x; e < length; e += TURN_THREADS) m.c_val[out + e] = own.values[e];
}

// There are *count parts, stored from the front of the arrays or from the back of their `room` slots. The host does not
// always wait for the count: the grid has a block for every possible part.
#define PARTS const u32* count, u32 room, const u32* rows, const u32* parts, u32 b_sorted, Operands m
BOUNDED_KERNEL((TURN_THREADS, 4), values_near, PARTS) {
  if (blockIdx.x < *count) long_part_of_row<true>(rows[blockIdx.x], parts[blockIdx.x], b_sorted, m);
}
BOUNDED_KERNEL((TURN_THREADS, 4), values_far, PARTS) {
  const u32 at = room - 1 - blockIdx.x;
  if (blockIdx.x < *count) long_part_of_row<false>(rows[at], parts[at], b_sorted, m);
}
