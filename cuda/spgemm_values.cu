// spgemm_values.cu: values of C = A ⊕.⊗ B at the columns that C has. Products at other columns (under a mask) are dropped.
//
// Every value is folded from zero() in the order in which A's row is stored, as on the CPU: the same bits. No value is ever
// written by two threads at a time, so it may be of any type.
// Four ways, each a section of its own:
// SHORT   up to 128 entries: GROUP lanes a row, one row of B after the other, lanes side by side on its entries, which
//         stand in different columns; a hash table tells the entry of a column.
// MAPPED  the same where the entry of every product is known already (spgemm_columns.cu, spgemm_map.cu); a thread a row
//         where rows have up to 16 entries.
// PARTS   up to 1024: a warp for every PART entries of C's row; it takes 32 entries of A's row at a time, finds what of B's
//         rows falls into its columns, and goes through those products 32 at a time, one row of B after the other.
// LONG    more: a block for every LONG_PART entries, whose warps look up side by side and add in turn.
// Set in front: struct Ring, OffsetA, OffsetB, OffsetC, OffsetP (where a row's products begin in the map), GROUP,
// SECTION: which of the four ways a program is to hold, for a new semiring should not wait for the others' compilation.
#include "parts.cuh"
#include "ranks.cuh"
#define SHORT 0
#define MAPPED 1
#define PARTS 2
#define LONG 3
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

#define OPERANDS const OffsetA* a_ptr, const u32* a_col, const Left* a_val, const OffsetB* b_ptr, const u32* b_col, const Right* b_val, const OffsetC* c_ptr, const u32* c_col, Value* c_val

#if SECTION == SHORT
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
      u32 here = 0;
      if constexpr (Ring::reads_place) here = __shfl_sync(ALL, k, leader + t);
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

extern "C" __global__ void __launch_bounds__(256, 4) values_16(u32 nrows, const u32* rows, OPERANDS) { short_rows<32>(nrows, rows, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
extern "C" __global__ void __launch_bounds__(256, 4) values_64(u32 nrows, const u32* rows, OPERANDS) { short_rows<128>(nrows, rows, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
extern "C" __global__ void __launch_bounds__(256, 4) values_128(u32 nrows, const u32* rows, OPERANDS) { short_rows<256>(nrows, rows, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
#endif

#if SECTION == MAPPED
// ---- Short rows whose products' ranks are known (spgemm_map.cu): nothing is looked up.

template <u32 ENTRIES> __device__ inline void mapped_rows(u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map, OPERANDS) {
  constexpr u32 GROUPS = 256 / GROUP;
  extern __shared__ __align__(16) unsigned char shared[];
  const u32 group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
  Value* values = (Value*)shared + group * ENTRIES;
  const u64 at = (u64)blockIdx.x * GROUPS + group;
  const bool some = at < nrows;
  const u32 row = some ? rows[at] : 0;
  const OffsetA begin = some ? a_ptr[row] : 0, end = some ? a_ptr[row + 1] : 0;
  const OffsetC out = some ? c_ptr[row] : 0;
  const u32 length = some ? (u32)(c_ptr[row + 1] - out) : 0;
  OffsetP next = some ? place[row] : 0;
  for (u32 e = lane; e < length; e += GROUP) values[e] = Ring::zero();
  __syncwarp();

  const u64 longest = warp_max((u64)(end - begin));
  const u32 leader = lane_id() & ~(GROUP - 1u);
  for (u64 chunk = 0; chunk < longest; chunk += GROUP) {
    u32 k = 0, len = 0;
    OffsetB start = 0;
    Left left;
    if (begin + chunk + lane < end) {
      k = a_col[begin + chunk + lane];
      if constexpr (Ring::reads_a) left = a_val[begin + chunk + lane];
      start = b_ptr[k];
      len = (u32)(b_ptr[k + 1] - start);
    }
    const u32 count = longest - chunk < GROUP ? (u32)(longest - chunk) : GROUP;
    // What the next step multiplies is read while this one goes on.
    u32 ahead_len = __shfl_sync(ALL, len, leader);
    OffsetB ahead_start = __shfl_sync(ALL, start, leader);
    unsigned char ahead_rank = ABSENT;
    Right ahead_right;
    if (lane < ahead_len) {
      ahead_rank = map[next + lane];
      if constexpr (Ring::reads_b) ahead_right = b_val[ahead_start + lane];
    }
    for (u32 t = 0; t < count; ++t) {
      const u32 n = ahead_len;
      const OffsetB first = ahead_start;
      const OffsetP from = next;
      u32 rank = ahead_rank;
      Right right = ahead_right;
      u32 here = 0;
      if constexpr (Ring::reads_place) here = __shfl_sync(ALL, k, leader + t);
      Left a;
      if constexpr (Ring::reads_a) a = shuffle(ALL, left, leader + t);
      next += n;
      if (t + 1 < count) {
        ahead_len = __shfl_sync(ALL, len, leader + t + 1);
        ahead_start = __shfl_sync(ALL, start, leader + t + 1);
        ahead_rank = ABSENT;
        if (lane < ahead_len) {
          ahead_rank = map[next + lane];
          if constexpr (Ring::reads_b) ahead_right = b_val[ahead_start + lane];
        }
      }
      for (u32 o = lane; __any_sync(ALL, o < n); o += GROUP) {
        if (o < n) {
          if (o != lane) {
            rank = map[from + o];
            if constexpr (Ring::reads_b) right = b_val[first + o];
          }
          u32 j = 0;
          if constexpr (Ring::reads_place) j = b_col[first + o];
          if (rank != ABSENT) values[rank] = Ring::add(values[rank], Ring::mul(a, right, row, here, j));
        }
      }
      __syncwarp();
    }
  }
  for (u32 e = lane; e < length; e += GROUP) c_val[out + e] = values[e];
}

// The shortest of them: a thread a row. Value e of the row of thread t is values[e · 256 + t].
__device__ inline void mapped_by_threads(u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map, OPERANDS) {
  extern __shared__ __align__(16) unsigned char shared[];
  Value* values = (Value*)shared;
  const u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
  const bool some = at < nrows;
  const u32 row = some ? rows[at] : 0;
  const OffsetC out = some ? c_ptr[row] : 0;
  const u32 length = some ? (u32)(c_ptr[row + 1] - out) : 0;
  for (u32 e = 0; e < length; ++e) values[e * 256 + threadIdx.x] = Ring::zero();
  if (some) {
    const unsigned char* ranks = map + place[row];
    const OffsetA end = a_ptr[row + 1];
    for (OffsetA e = a_ptr[row]; e < end; ++e) {
      const u32 k = a_col[e];
      Left left;
      if constexpr (Ring::reads_a) left = a_val[e];
      const OffsetB start = b_ptr[k];
      const u32 n = (u32)(b_ptr[k + 1] - start);
#pragma unroll 4
      for (u32 o = 0; o < n; ++o) {
        const u32 rank = ranks[o];
        Right right;
        u32 j = 0;
        if constexpr (Ring::reads_b) right = b_val[start + o];
        if constexpr (Ring::reads_place) j = b_col[start + o];
        Value& value = values[rank * 256 + threadIdx.x];
        value = Ring::add(value, Ring::mul(left, right, row, k, j));
      }
      ranks += n;
    }
  }
  // Written by the warp together: rows of a warp mostly lie side by side.
  __syncwarp();
  const u32 upto = warp_inclusive_sum(length);
  const u32 total = __shfl_sync(ALL, upto, 31);
  const u32 first = threadIdx.x & ~31u;
  for (u32 base = 0; base < total; base += 32) {
    const u32 p = base + lane_id();
    u32 owner = 0;  // the first lane whose sum exceeds p
    for (u32 step = 16; step > 0; step /= 2)
      if (__shfl_sync(ALL, upto, owner + step - 1) <= p) owner += step;
    const OffsetC to = __shfl_sync(ALL, out, owner);
    const u32 before = __shfl_sync(ALL, upto - length, owner);
    if (p < total) c_val[to + (p - before)] = values[(p - before) * 256 + first + owner];
  }
}

extern "C" __global__ void __launch_bounds__(256, 4) mapped_64(u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map, OPERANDS) { mapped_rows<64>(nrows, rows, place, map, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
extern "C" __global__ void __launch_bounds__(256, 4) mapped_128(u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map, OPERANDS) { mapped_rows<128>(nrows, rows, place, map, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
extern "C" __global__ void __launch_bounds__(256, 4) mapped_16(u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map, OPERANDS) { mapped_by_threads(nrows, rows, place, map, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val); }
#endif

#if SECTION == PARTS
// ---- Long rows.

// Entries of a part: 4 KiB of values.
constexpr u32 PART = sizeof(Value) <= 8 ? 512 : sizeof(Value) <= 16 ? 256 : 128;
constexpr u32 PART_WARPS = 4;
// What tells the rank of a column among those of the part: a hash table, or bits and the number of bits before each word
// where the columns lie close.
constexpr u32 SPAN_WORDS = 2 * PART;
union Ranks {
  struct { u32 keys[2 * PART]; unsigned short ranks[2 * PART]; } table;
  struct { u32 bits[SPAN_WORDS]; unsigned short before[SPAN_WORDS]; } span;
};
struct __align__(16) Part {
  Value values[PART];
  Ranks by;
};

__device__ inline void part_of_row(u32 row, u32 part, bool b_sorted, OPERANDS) {
  extern __shared__ __align__(16) unsigned char shared[];
  Part& own = ((Part*)shared)[warp_id()];
  const u32 lane = lane_id();
  const OffsetC out = c_ptr[row] + (OffsetC)part * PART;
  const OffsetC rest = c_ptr[row + 1] - out;
  const u32 length = rest < PART ? (u32)rest : PART;
  const bool whole = part == 0 && rest <= PART;
  const u32 low = c_col[out], high = c_col[out + length - 1];
  const u32 first_word = low / 32, words = high / 32 - first_word + 1;
  const bool close = words <= SPAN_WORDS;

  for (u32 e = lane; e < length; e += 32) own.values[e] = Ring::zero();
  if (close) {
    for (u32 w = lane; w < words; w += 32) own.by.span.bits[w] = 0;
    __syncwarp();
    for (u32 e = lane; e < length; e += 32) {
      const u32 j = c_col[out + e];
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
    for (u32 e = lane; e < length; e += 32) insert(own.by.table.keys, own.by.table.ranks, 2 * PART, c_col[out + e], e);
  }
  __syncwarp();

  const OffsetA begin = a_ptr[row], end = a_ptr[row + 1];
  u32 take = 32;
  for (OffsetA chunk = begin; chunk < end; chunk += take) {
    take = 32;
    u32 k = 0, len = 0;
    OffsetB start = 0;
    Left left;
    if (chunk + lane < end) {
      k = a_col[chunk + lane];
      if constexpr (Ring::reads_a) left = a_val[chunk + lane];
      start = b_ptr[k];
      OffsetB stop = b_ptr[k + 1];
      if (b_sorted && !whole && start < stop) {
        start = lower_bound<OffsetB>(b_col, start, stop, low);
        // No more columns than C has here.
        const u64 most = (u64)start + (high - low) + 1;
        stop = lower_bound<OffsetB>(b_col, start, most < stop ? (OffsetB)most : stop, high + 1);
      }
      len = (u32)(stop - start);
    }
    // So long rows of B that their sum might not fit go one at a time.
    if (__any_sync(ALL, len > 0xffffffffu / 32)) {
      take = 1;
      if (lane > 0) len = 0;
    }
    const u32 upto = warp_inclusive_sum(len);
    const u32 total = __shfl_sync(ALL, upto, 31);
    for (u64 base = 0; base < total; base += 32) {
      const u64 p = base + lane;
      const bool some = p < total;
      u32 owner = 0;  // the first row of B whose sum exceeds p
      for (u32 step = 16; step > 0; step /= 2)
        if (__shfl_sync(ALL, upto, owner + step - 1) <= p) owner += step;
      const OffsetB from = __shfl_sync(ALL, start, owner);
      const u32 before = __shfl_sync(ALL, upto - len, owner);
      u32 here = 0;
      if constexpr (Ring::reads_place) here = __shfl_sync(ALL, k, owner);
      Left a;
      if constexpr (Ring::reads_a) a = shuffle(ALL, left, owner);
      u32 rank = NONE;
      Value product;
      if (some) {
        const OffsetB at = from + (OffsetB)(p - before);
        const u32 j = b_col[at];
        Right right;
        if constexpr (Ring::reads_b) right = b_val[at];
        if (close) {
          const u32 w = j / 32 - first_word, bit = 1u << (j % 32);
          if (w < words) {
            const u32 bits = own.by.span.bits[w];
            if (bits & bit) rank = own.by.span.before[w] + __popc(bits & (bit - 1));
          }
        } else {
          rank = rank_of(own.by.table.keys, own.by.table.ranks, 2 * PART, j);
        }
        if (rank != NONE) product = Ring::mul(a, right, row, here, j);
      }
      // One row of B after the other.
      const u32 previous = __shfl_up_sync(ALL, owner, 1);
      const u32 heads = __ballot_sync(ALL, some && (lane == 0 || owner != previous));
      const u32 mine = __popc(heads & (0xffffffffu >> (31 - lane)));
      const u32 rows_of_b = __popc(heads);
      for (u32 t = 1; t <= rows_of_b; ++t) {
        if (mine == t && rank != NONE) own.values[rank] = Ring::add(own.values[rank], product);
        __syncwarp();
      }
    }
  }
  for (u32 e = lane; e < length; e += 32) c_val[out + e] = own.values[e];
}

extern "C" __global__ void __launch_bounds__(32 * PART_WARPS, 6) values_parts(u32 n, const u32* rows, const u32* parts, u32 b_sorted, OPERANDS) {
  const u32 t = blockIdx.x * PART_WARPS + warp_id();
  if (t < n) part_of_row(rows[t], parts[t], b_sorted, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val);
}
#endif

#if SECTION == LONG
// ---- Very long rows: a block for every LONG_PART entries.
//
// Warps take tickets in turn, up to LINES lines of at most 32 products of one row of B each. They look up columns and
// multiply side by side, which is what takes time; then each adds its products when its turn has come. The turn goes from
// warp to warp through named barriers. Adding in turn is a chain, so what counts is how many parts a multiprocessor has at
// a time: parts are small, and those whose columns lie close (NEAR words) do without the large table.

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
  u64 lines[TURN_THREADS];     // lines before each row of B of the chunk
  u64 starts[TURN_THREADS];    // where its products begin
  u32 lengths[TURN_THREADS];   // and how many there are
  unsigned char owners[OWNERS];  // whose line it is, for the first lines
};

// The two warps on either side of a turn meet here: barrier 1 + w is where warp w takes it over.
__device__ inline void turn_of(u32 warp) { asm volatile("bar.sync %0, 64;" ::"r"(1 + warp) : "memory"); }

template <bool NEAR> __device__ inline void long_part_of_row(u32 row, u32 part, bool b_sorted, OPERANDS) {
  extern __shared__ __align__(16) unsigned char shared[];
  LongPart<NEAR>& own = *(LongPart<NEAR>*)shared;
  __shared__ u64 room[33];
  __shared__ u32 found[TURN_WARPS];
  const u32 lane = lane_id(), warp = warp_id();
  const OffsetC out = c_ptr[row] + (OffsetC)part * LONG_PART;
  const OffsetC rest = c_ptr[row + 1] - out;
  const u32 length = rest < LONG_PART ? (u32)rest : LONG_PART;
  const u32 low = c_col[out], high = c_col[out + length - 1];
  const u32 first_word = low / 32, words = high / 32 - first_word + 1;
  const bool close = NEAR || words <= FAR_WORDS;

  for (u32 e = threadIdx.x; e < length; e += TURN_THREADS) own.values[e] = Ring::zero();
  if (close) {
    for (u32 w = threadIdx.x; w < words; w += TURN_THREADS) own.by.span.bits[w] = 0;
    __syncthreads();
    for (u32 e = threadIdx.x; e < length; e += TURN_THREADS) {
      const u32 j = c_col[out + e];
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
    for (u32 e = threadIdx.x; e < length; e += TURN_THREADS) insert(own.by.table.keys, own.by.table.ranks, 2 * LONG_PART, c_col[out + e], e);
  }
  __syncthreads();

  const OffsetA begin = a_ptr[row], end = a_ptr[row + 1];
  for (OffsetA chunk = begin; chunk < end; chunk += TURN_THREADS) {
    OffsetB start = 0, stop = 0;
    if (chunk + threadIdx.x < end) {
      const u32 k = a_col[chunk + threadIdx.x];
      start = b_ptr[k];
      stop = b_ptr[k + 1];
      if (b_sorted && start < stop) {
        start = lower_bound<OffsetB>(b_col, start, stop, low);
        // No more columns than C has here.
        const u64 most = (u64)start + (high - low) + 1;
        stop = lower_bound<OffsetB>(b_col, start, most < stop ? (OffsetB)most : stop, high + 1);
      }
    }
    u64 total;
    const u64 lines_before = block_exclusive_sum((u64)((stop - start + 31) / 32), room, total);
    own.lines[threadIdx.x] = lines_before;
    own.starts[threadIdx.x] = start;
    own.lengths[threadIdx.x] = (u32)(stop - start);
    for (u64 l = lines_before; l < lines_before + (stop - start + 31) / 32 && l < OWNERS; ++l) own.owners[l] = (unsigned char)threadIdx.x;
    __syncthreads();
    const u64 tickets = (total + LINES - 1) / LINES;
    for (u64 ticket = warp; ticket < tickets; ticket += TURN_WARPS) {
      // Whose line it is: the last row of B that begins at or before it.
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
          const u32 j = b_col[place];
          Left left;
          Right right;
          u32 k = 0;
          if constexpr (Ring::reads_a) left = a_val[chunk + o];
          if constexpr (Ring::reads_b) right = b_val[place];
          if constexpr (Ring::reads_place) k = a_col[chunk + o];
          if (close) {
            const u32 w = j / 32 - first_word, bit = 1u << (j % 32);
            if (w < words) {
              const u32 bits = own.by.span.bits[w];
              if (bits & bit) rank[r] = own.by.span.before[w] + __popc(bits & (bit - 1));
            }
          } else if constexpr (!NEAR) {
            rank[r] = rank_of(own.by.table.keys, own.by.table.ranks, 2 * LONG_PART, j);
          }
          if (rank[r] != NONE) product[r] = Ring::mul(left, right, row, k, j);
        }
      }
      __syncwarp();
      if (ticket > 0) turn_of(warp);
#pragma unroll
      for (u32 r = 0; r < LINES; r += 2) {
        if (of[r] == of[r + 1]) {  // two lines of one row of B: other columns, so side by side
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
      if (ticket + 1 < tickets) turn_of(warp + 1 < TURN_WARPS ? warp + 1 : 0);
    }
    __syncthreads();
  }
  for (u32 e = threadIdx.x; e < length; e += TURN_THREADS) c_val[out + e] = own.values[e];
}

extern "C" __global__ void __launch_bounds__(TURN_THREADS, 4) values_near(const u32* rows, const u32* parts, u32 b_sorted, OPERANDS) {
  long_part_of_row<true>(rows[blockIdx.x], parts[blockIdx.x], b_sorted, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val);
}
extern "C" __global__ void __launch_bounds__(TURN_THREADS, 4) values_far(const u32* rows, const u32* parts, u32 b_sorted, OPERANDS) {
  long_part_of_row<false>(rows[blockIdx.x], parts[blockIdx.x], b_sorted, a_ptr, a_col, a_val, b_ptr, b_col, b_val, c_ptr, c_col, c_val);
}
#endif
