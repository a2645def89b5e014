// spgemm_values.cu: values of C = A ⊕.⊗ B at the columns that C has. Products at other columns (under a mask) are dropped.
//
// Every value is folded from zero() in the order in which A's row is stored, as on the CPU: the same bits.
// Rows of up to 128 entries: GROUP lanes a row, one row of B after the other, lanes side by side on its entries, which
// stand in different columns. Longer rows: a block for every ENTRIES of C's row, THREADS products at a time in order; of the
// products that meet in a column the first goes first (claims), so that no value is ever written by two threads.
// Set in front: struct Ring, OffsetA, OffsetB, OffsetC, GROUP.
#include "parts.cuh"
using Left = Ring::A;
using Right = Ring::B;
using Value = Ring::Out;

// Another lane's value of any type.
template <class T> __device__ inline T shuffle(u32 lanes, const T& x, u32 source) {
  constexpr u32 WORDS = (sizeof(T) + 3) / 4;
  u32 words[WORDS];
  words[WORDS - 1] = 0;
  memcpy(words, &x, sizeof(T));
  for (u32 w = 0; w < WORDS; ++w) words[w] = __shfl_sync(lanes, words[w], source);
  T y;
  memcpy(&y, words, sizeof(T));
  return y;
}

__device__ inline u32 slot_of(u32 j, u32 slots) { return (j * 2654435761u) >> (32 - (31 - __clz(slots))); }

// Rank of column j among C's columns, by the table; NONE if C has no such column.
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

#define OPERANDS const OffsetA* a_ptr, const u32* a_col, const Left* a_val, const OffsetB* b_ptr, const u32* b_col, const Right* b_val, const OffsetC* c_ptr, const u32* c_col, Value* c_val

// ---- Short rows.

template <u32 SLOTS> struct Group {
  // A short group would spend its time on the table.
  static constexpr u32 LANES = GROUP > SLOTS / 32 ? GROUP : SLOTS / 32;
  static constexpr u32 PER_BLOCK = 256 / LANES;
  static constexpr u32 ENTRIES = SLOTS / 2;
};

template <u32 SLOTS> __device__ inline void short_rows(u32 nrows, const u32* rows, OPERANDS) {
  using G = Group<SLOTS>;
  constexpr u32 LANES = G::LANES, ENTRIES = G::ENTRIES;
  extern __shared__ __align__(16) unsigned char shared[];
  const u32 group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  Value* values = (Value*)shared + group * ENTRIES;
  u32* keys = (u32*)(shared + (sizeof(Value) * ENTRIES * G::PER_BLOCK + 15) / 16 * 16) + group * SLOTS;
  unsigned char* ranks = (unsigned char*)(shared + (sizeof(Value) * ENTRIES * G::PER_BLOCK + 15) / 16 * 16 + 4 * SLOTS * G::PER_BLOCK) + group * SLOTS;

  const u64 at = (u64)blockIdx.x * G::PER_BLOCK + group;
  // Groups without a row stay, with nothing to do: the warp goes through the loops as one.
  const bool some = at < nrows;
  const u32 row = some ? rows[at] : 0;
  const OffsetA begin = some ? a_ptr[row] : 0, end = some ? a_ptr[row + 1] : 0;
  const OffsetC out = some ? c_ptr[row] : 0;
  const u32 length = some ? (u32)(c_ptr[row + 1] - out) : 0;

  for (u32 s = lane; s < SLOTS; s += LANES) keys[s] = NONE;
  for (u32 e = lane; e < length; e += LANES) values[e] = Ring::zero();
  __syncwarp();
  for (u32 e = lane; e < length; e += LANES) insert(keys, ranks, SLOTS, c_col[out + e], e);
  __syncwarp();

  const u64 longest = warp_max((u64)(end - begin));
  for (u64 chunk = 0; chunk < longest; chunk += LANES) {
    // Each lane looks up one of B's rows for its group.
    u32 k = 0, len = 0;
    OffsetB start = 0;
    Left left;
    if (begin + chunk + lane < end) {
      k = a_col[begin + chunk + lane];
      if constexpr (Ring::reads_a) left = a_val[begin + chunk + lane];
      start = b_ptr[k];
      len = (u32)(b_ptr[k + 1] - start);
    }
    const u32 count = longest - chunk < LANES ? (u32)(longest - chunk) : LANES;
    const u32 leader = lane_id() & ~(LANES - 1);
    // What the next step multiplies is read while this one goes on.
    u32 next_len = __shfl_sync(ALL, len, leader);
    OffsetB next_start = __shfl_sync(ALL, start, leader);
    u32 next_col = lane < next_len ? b_col[next_start + lane] : NONE;
    Right next_right;
    if constexpr (Ring::reads_b) if (lane < next_len) next_right = b_val[next_start + lane];
    for (u32 t = 0; t < count; ++t) {
      const u32 n = next_len;
      const OffsetB first = next_start;
      u32 j = next_col;
      Right right = next_right;
      const u32 here = __shfl_sync(ALL, k, leader + t);
      Left a;
      if constexpr (Ring::reads_a) a = shuffle(ALL, left, leader + t);
      if (t + 1 < count) {
        next_len = __shfl_sync(ALL, len, leader + t + 1);
        next_start = __shfl_sync(ALL, start, leader + t + 1);
        next_col = lane < next_len ? b_col[next_start + lane] : NONE;
        if constexpr (Ring::reads_b) if (lane < next_len) next_right = b_val[next_start + lane];
      }
      for (u32 o = lane; __any_sync(ALL, o < n); o += LANES) {
        if (o < n) {
          if (o != lane) {
            j = b_col[first + o];
            if constexpr (Ring::reads_b) right = b_val[first + o];
          }
          const u32 rank = rank_of(keys, ranks, SLOTS, j);
          if (rank != NONE) values[rank] = Ring::add(values[rank], Ring::mul(a, right, row, here, j));
        }
      }
      __syncwarp();
    }
  }
  for (u32 e = lane; e < length; e += LANES) c_val[out + e] = values[e];
}

// ---- Long rows.

// ENTRIES of C's row, from number `part` times ENTRIES on.
template <u32 ENTRIES, u32 THREADS> __device__ inline void part_of_row(u32 row, u32 part, bool b_sorted, OPERANDS) {
  constexpr u32 SLOTS = 2 * ENTRIES;
  extern __shared__ __align__(16) unsigned char shared[];
  Value* values = (Value*)shared;
  u32* keys = (u32*)(shared + (sizeof(Value) * ENTRIES + 15) / 16 * 16);
  u32* claims = keys + SLOTS;
  u32* before = claims + ENTRIES;                    // THREADS + 1: products of the chunk before each of its rows of B
  OffsetB* starts = (OffsetB*)(before + THREADS + 4);  // where each of them begins
  unsigned short* ranks = (unsigned short*)(starts + THREADS);
  __shared__ u32 room[33];

  const OffsetC out = c_ptr[row] + (u64)part * ENTRIES;
  const u32 length = c_ptr[row + 1] - out < ENTRIES ? (u32)(c_ptr[row + 1] - out) : ENTRIES;
  const bool whole = part == 0 && c_ptr[row + 1] - out <= ENTRIES;
  const u32 low = c_col[out], high = c_col[out + length - 1];
  for (u32 s = threadIdx.x; s < SLOTS; s += THREADS) keys[s] = NONE;
  for (u32 e = threadIdx.x; e < length; e += THREADS) {
    values[e] = Ring::zero();
    claims[e] = NONE;
  }
  __syncthreads();
  for (u32 e = threadIdx.x; e < length; e += THREADS) insert(keys, ranks, SLOTS, c_col[out + e], e);
  __syncthreads();

  const OffsetA begin = a_ptr[row], end = a_ptr[row + 1];
  // A later claim is a smaller number, so that claims need not be cleared.
  constexpr u32 BITS = THREADS == 1024 ? 10 : 8;
  u32 round = (1u << (32 - BITS)) - 2;
  OffsetA take = THREADS;
  for (OffsetA chunk = begin; chunk < end; chunk += take) {
    take = THREADS;
    OffsetB start = 0;
    u32 len = 0;
    if (chunk + threadIdx.x < end) {
      const u32 k = a_col[chunk + threadIdx.x];
      start = b_ptr[k];
      OffsetB stop = b_ptr[k + 1];
      if (b_sorted && !whole) {
        start = lower_bound<OffsetB>(b_col, start, stop, low);
        stop = lower_bound<OffsetB>(b_col, start, stop, high + 1);
      }
      len = (u32)(stop - start);
    }
    // So long rows of B that their sum might not fit go one at a time.
    if (__syncthreads_or(len > 0xffffffffu / THREADS)) {
      take = 1;
      if (threadIdx.x > 0) len = 0;
    }
    u32 total;
    before[threadIdx.x] = block_exclusive_sum(len, room, total);
    starts[threadIdx.x] = start;
    __syncthreads();
    for (u64 base = 0; base < total; base += THREADS) {
      const u64 p = base + threadIdx.x;
      u32 rank = NONE;
      Value product;
      if (p < total) {
        u32 from = 0;  // the last row of B that begins at or before p
        for (u32 step = THREADS / 2; step > 0; step /= 2)
          if (before[from + step] <= p) from += step;
        const OffsetB at = starts[from] + (OffsetB)(p - before[from]);
        const u32 j = b_col[at];
        rank = j < low || j > high ? NONE : rank_of(keys, ranks, SLOTS, j);
        if (rank != NONE) {
          Left left;
          Right right;
          u32 k = 0;
          if constexpr (Ring::reads_a) left = a_val[chunk + from];
          if constexpr (Ring::reads_b) right = b_val[at];
          if constexpr (Ring::reads_place) k = a_col[chunk + from];
          product = Ring::mul(left, right, row, k, j);
        }
      }
      bool pending = rank != NONE;
      do {
        const u32 claim = (round << BITS) | threadIdx.x;
        if (pending) atomicMin(&claims[rank], claim);
        __syncthreads();
        if (pending && claims[rank] == claim) {
          values[rank] = Ring::add(values[rank], product);
          pending = false;
        }
        if (--round == 0) {  // all numbers are used up: start again
          __syncthreads();
          for (u32 e = threadIdx.x; e < length; e += THREADS) claims[e] = NONE;
          round = (1u << (32 - BITS)) - 2;
        }
      } while (__syncthreads_or(pending));
    }
  }
  for (u32 e = threadIdx.x; e < length; e += THREADS) c_val[out + e] = values[e];
}

// ENTRIES for values of this size, so that two blocks of 1024 threads fit a multiprocessor.
constexpr u32 LONG = sizeof(Value) <= 8 ? 4096 : sizeof(Value) <= 16 ? 2048 : 1024;

extern "C" __global__ void __launch_bounds__(256) values_16(u32 nrows, const u32* rows, OPERANDS) { short_rows<32>(nrows, rows, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
extern "C" __global__ void __launch_bounds__(256) values_64(u32 nrows, const u32* rows, OPERANDS) { short_rows<128>(nrows, rows, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
extern "C" __global__ void __launch_bounds__(256) values_128(u32 nrows, const u32* rows, OPERANDS) { short_rows<256>(nrows, rows, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
extern "C" __global__ void __launch_bounds__(256) values_1024(const u32* rows, u32 b_sorted, OPERANDS) { part_of_row<LONG / 4, 256>(rows[blockIdx.x], 0, b_sorted, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
extern "C" __global__ void __launch_bounds__(1024) values_parts(const u32* rows, const u32* parts, u32 b_sorted, OPERANDS) { part_of_row<LONG, 1024>(rows[blockIdx.x], parts[blockIdx.x], b_sorted, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
