// spgemm_columns.cu: the columns of C = A·B, row by row, in order. Patterns only: no values, no semiring.
//
// Rows are put into bins by their multiplications, and each bin has its kernel: up to 64 are sorted in the registers of a
// warp; up to 1024 go through a hash table of a warp in shared memory; more are bits of a window of columns, one block a
// row. Each runs twice: once to count, once to write. With COMPLEMENT, columns that the mask has are passed over.
// Set in front: OffsetA, OffsetB, OffsetC, OffsetM (row pointers), GROUP (lanes that share a row of B), COMPLEMENT.
#include "parts.cuh"

// Where A, B and the mask have entries.
struct Operands {
  const OffsetA* a_ptr; const u32* a_col;
  const OffsetB* b_ptr; const u32* b_col;
  const OffsetM* m_ptr; const u32* m_col;
};
#define OPERANDS const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, const u32* b_col, const OffsetM* m_ptr, const u32* m_col
#define PACKED Operands{a_ptr, a_col, b_ptr, b_col, m_ptr, m_col}

// Whether C may have column j in this row.
__device__ inline bool kept(const Operands& x, u32 row, u32 j) {
  if (!COMPLEMENT) return true;
  const OffsetM end = x.m_ptr[row + 1];
  const OffsetM at = lower_bound<OffsetM>(x.m_col, x.m_ptr[row], end, j);
  return at == end || x.m_col[at] != j;
}

// ---- Work of each row, and bins.

// work[i] = Σ over A's row i of the lengths of B's rows, at most NONE; totals: all of it, and the most of a row.
extern "C" __global__ void row_work(u32 nrows, const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, u32* work, u64* totals) {
  __shared__ u64 room[33];
  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 8;
  const u32 lane = threadIdx.x & 7;
  u64 sum = 0;
  if (row < nrows)
    for (OffsetA e = a_ptr[row] + lane; e < a_ptr[row + 1]; e += 8) {
      const u32 k = a_col[e];
      sum += b_ptr[k + 1] - b_ptr[k];
    }
  for (u32 d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
  if (row < nrows && lane == 0) work[row] = sum < NONE ? (u32)sum : NONE;
  const u64 most = warp_max(sum);
  const u64 all = block_sum(lane == 0 ? sum : 0, room);
  if (lane_id() == 0 && most > 0) atomicMax(totals + 1, most);
  if (threadIdx.x == 0 && all > 0) atomicAdd(totals, all);
}

// Bin of a row with `work` multiplications and, once counted, `length` entries. `stage`: 0 counting, 1 writing, 2 values,
// where a block takes rows of at most `whole` entries whole.
__device__ inline u32 bin_of(u32 stage, u32 whole, u32 work, u32 length) {
  if (stage == 2) return length == 0 ? 0 : length <= 16 ? 1 : length <= 64 ? 2 : length <= 128 ? 3 : length <= whole ? 4 : 5;
  if (stage == 1 && length == 0) return 0;
  if (work <= 64) return work == 0 ? 0 : work <= 32 ? 1 : 2;
  if (stage == 1 && length <= 128) return 3;
  if (stage == 0 && work <= 1024) return work <= 256 ? 3 : 4;
  return work <= 32768 ? 5 : 6;
}

constexpr u32 BINS = 8;
// Rows of each bin, and the longest row in counters[BINS].
extern "C" __global__ void bin_count(u32 stage, u32 whole, u32 nrows, const u32* work, const u32* length, u32* counters) {
  __shared__ u32 found[BINS];
  if (threadIdx.x < BINS) found[threadIdx.x] = 0;
  __syncthreads();
  const u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u32 bin = row < nrows ? bin_of(stage, whole, stage == 2 ? 0 : work[row], stage == 0 ? 0 : length[row]) : BINS;
  const u32 same = __match_any_sync(ALL, bin);
  if (bin < BINS && lane_id() == __ffs(same) - 1) atomicAdd(&found[bin], __popc(same));
  const u32 longest = warp_max(row < nrows && stage > 0 ? length[row] : 0);
  if (lane_id() == 0 && longest > 0) atomicMax(&counters[BINS], longest);
  __syncthreads();
  if (threadIdx.x < BINS && found[threadIdx.x] > 0) atomicAdd(&counters[threadIdx.x], found[threadIdx.x]);
}
// Rows of bin b from cursors[b] on. The order within a bin is that of the blocks, which nothing depends on.
extern "C" __global__ void bin_place(u32 stage, u32 whole, u32 nrows, const u32* work, const u32* length, u32* cursors, u32* rows) {
  __shared__ u32 found[BINS], start[BINS];
  if (threadIdx.x < BINS) found[threadIdx.x] = 0;
  __syncthreads();
  const u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u32 bin = row < nrows ? bin_of(stage, whole, stage == 2 ? 0 : work[row], stage == 0 ? 0 : length[row]) : BINS;
  const u32 same = __match_any_sync(ALL, bin);
  const u32 leader = __ffs(same) - 1;
  u32 at = 0;
  if (bin < BINS && lane_id() == leader) at = atomicAdd(&found[bin], __popc(same));
  at = __shfl_sync(ALL, at, leader) + __popc(same & ((1u << lane_id()) - 1));
  __syncthreads();
  if (threadIdx.x < BINS && found[threadIdx.x] > 0) start[threadIdx.x] = atomicAdd(&cursors[threadIdx.x], found[threadIdx.x]);
  __syncthreads();
  if (bin < BINS) rows[start[bin] + at] = (u32)row;
}

// ---- Up to 32·R multiplications: sorted in registers. Value e of the row is x[e / 32] of lane e % 32.

template <u32 R> __device__ inline void gather(const Operands& x, u32 row, u32 (&cols)[R]) {
  const u32 lane = lane_id();
  for (u32 r = 0; r < R; ++r) cols[r] = NONE;
  int before = 0;
  const OffsetA end = x.a_ptr[row + 1];
  for (OffsetA chunk = x.a_ptr[row]; chunk < end; chunk += 32) {
    OffsetB start = 0;
    int len = 0;
    if (chunk + lane < end) {
      const u32 k = x.a_col[chunk + lane];
      start = x.b_ptr[k];
      len = (int)(x.b_ptr[k + 1] - start);
    }
    const int upto = warp_inclusive_sum(len);
    const int total = __shfl_sync(ALL, upto, 31);
    for (u32 r = 0; r < R; ++r) {
      const int p = (int)(r * 32 + lane) - before;
      u32 owner = 0;  // the first lane whose sum exceeds p
      for (u32 step = 16; step > 0; step /= 2)
        if (__shfl_sync(ALL, upto, owner + step - 1) <= p) owner += step;
      const OffsetB from = __shfl_sync(ALL, start, owner);
      const int first = __shfl_sync(ALL, upto - len, owner);
      if (p >= 0 && p < total) {
        const u32 j = x.b_col[from + (p - first)];
        if (kept(x, row, j)) cols[r] = j;
      }
    }
    before += total;
  }
}

template <u32 R> __device__ inline void sort(u32 (&x)[R]) {
  const u32 lane = lane_id();
#pragma unroll
  for (u32 k = 2; k <= 32 * R; k *= 2) {
#pragma unroll
    for (u32 j = k / 2; j > 0; j /= 2) {
#pragma unroll
      for (u32 r = 0; r < R; ++r) {
        const bool up = ((r * 32 + lane) & k) == 0;
        if (j >= 32) {
          const u32 q = r ^ (j / 32);
          if (q > r) {
            const u32 a = x[r], b = x[q];
            const bool swap = (b < a) == up;
            x[r] = swap ? b : a;
            x[q] = swap ? a : b;
          }
        } else {
          const u32 y = __shfl_xor_sync(ALL, x[r], j);
          const bool low = (lane & j) == 0;
          x[r] = (low == up) == (y < x[r]) ? y : x[r];
        }
      }
    }
  }
}

// Writes the distinct values in order, or only counts them.
template <u32 R> __device__ inline u32 distinct(const u32 (&x)[R], u32* out) {
  const u32 lane = lane_id();
  u32 count = 0;
#pragma unroll
  for (u32 r = 0; r < R; ++r) {
    u32 before = __shfl_up_sync(ALL, x[r], 1);
    const u32 last = r > 0 ? __shfl_sync(ALL, x[r > 0 ? r - 1 : 0], 31) : NONE;
    if (lane == 0) before = last;
    const bool head = x[r] != NONE && x[r] != before;
    const u32 heads = __ballot_sync(ALL, head);
    if (out && head) out[count + __popc(heads & ((1u << lane) - 1))] = x[r];
    count += __popc(heads);
  }
  return count;
}

template <u32 R, bool FILL> __device__ inline void sorted_rows(u32 nrows, const u32* rows, const Operands& x, u32* lengths, const OffsetC* c_ptr, u32* c_col) {
  const u64 at = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (at >= nrows) return;
  const u32 row = rows[at];
  u32 cols[R];
  gather<R>(x, row, cols);
  sort<R>(cols);
  const u32 count = distinct<R>(cols, FILL ? c_col + c_ptr[row] : nullptr);
  if (!FILL && lane_id() == 0) lengths[row] = count;
}

// ---- Up to 1024 multiplications: a hash table of a warp.

__device__ inline u32 slot_of(u32 j, u32 slots) { return (j * 2654435761u) >> (32 - (31 - __clz(slots))); }

// Calls f(j) for the columns j of B's rows that the warp's part of A's row meets: GROUP lanes a row of B.
template <class F> __device__ inline void for_columns(const Operands& x, u32 row, OffsetA from, OffsetA to, F f) {
  const u32 lane = lane_id();
  for (OffsetA chunk = from; chunk < to; chunk += 32) {
    OffsetB start = 0;
    u32 len = 0;
    if (chunk + lane < to) {
      const u32 k = x.a_col[chunk + lane];
      start = x.b_ptr[k];
      len = (u32)(x.b_ptr[k + 1] - start);
    }
    const u32 count = to - chunk < 32 ? (u32)(to - chunk) : 32;
    for (u32 t = 0; t < count; t += 32 / GROUP) {
      const OffsetB first = __shfl_sync(ALL, start, t + lane / GROUP);
      const u32 n = __shfl_sync(ALL, len, t + lane / GROUP);
      for (u32 o = lane % GROUP; o < n; o += GROUP) {
        const u32 j = x.b_col[first + o];
        if (kept(x, row, j)) f(j);
      }
    }
  }
}

// Puts j into the table; whether it was new.
template <u32 SLOTS> __device__ inline bool insert(u32* table, u32 j) {
  u32 h = slot_of(j, SLOTS);
  while (true) {
    u32 there = *(volatile u32*)&table[h];
    if (there == NONE) there = atomicCAS(&table[h], NONE, j);
    if (there == NONE) return true;
    if (there == j) return false;
    h = (h + 1) & (SLOTS - 1);
  }
}

template <u32 SLOTS> __device__ inline void clear(u32* table) {
  uint4* wide = (uint4*)table;
  for (u32 s = lane_id(); s < SLOTS / 4; s += 32) wide[s] = uint4{NONE, NONE, NONE, NONE};
  __syncwarp();
}

constexpr u32 HASH_WARPS = 4;
template <u32 SLOTS> __device__ inline void hash_count(u32 nrows, const u32* rows, const Operands& x, u32* lengths) {
  __shared__ __align__(16) u32 tables[HASH_WARPS * SLOTS];
  const u64 at = (u64)blockIdx.x * HASH_WARPS + warp_id();
  if (at >= nrows) return;
  u32* table = tables + warp_id() * SLOTS;
  clear<SLOTS>(table);
  const u32 row = rows[at];
  u32 count = 0;
  for_columns(x, row, x.a_ptr[row], x.a_ptr[row + 1], [&](u32 j) { count += insert<SLOTS>(table, j); });
  count = warp_sum(count);
  if (lane_id() == 0) lengths[row] = count;
}

// Rows of at most 128 entries: a table of 256, packed, sorted in registers.
__device__ inline void hash_fill(u32 nrows, const u32* rows, const Operands& x, const OffsetC* c_ptr, u32* c_col) {
  constexpr u32 SLOTS = 256;
  __shared__ __align__(16) u32 tables[HASH_WARPS * SLOTS];
  __shared__ u32 lists[HASH_WARPS * 128];
  const u64 at = (u64)blockIdx.x * HASH_WARPS + warp_id();
  if (at >= nrows) return;
  u32* table = tables + warp_id() * SLOTS;
  u32* list = lists + warp_id() * 128;
  clear<SLOTS>(table);
  const u32 row = rows[at];
  for_columns(x, row, x.a_ptr[row], x.a_ptr[row + 1], [&](u32 j) { insert<SLOTS>(table, j); });
  __syncwarp();
  u32 packed = 0;
  for (u32 s = lane_id(); s < SLOTS; s += 32) {
    const u32 j = table[s];
    const u32 there = __ballot_sync(ALL, j != NONE);
    if (j != NONE) list[packed + __popc(there & ((1u << lane_id()) - 1))] = j;
    packed += __popc(there);
  }
  __syncwarp();
  u32 cols[4];
  for (u32 r = 0; r < 4; ++r) cols[r] = r * 32 + lane_id() < packed ? list[r * 32 + lane_id()] : NONE;
  sort<4>(cols);
  distinct<4>(cols, c_col + c_ptr[row]);
}

// ---- More: bits of a window of columns, one block a row.

template <bool FILL> __device__ inline void bitmap_row(const u32* rows, const Operands& x, u32 ncols, bool b_sorted, u32 window, u32* lengths, const OffsetC* c_ptr, u32* c_col) {
  extern __shared__ __align__(16) u32 bits[];
  __shared__ u32 low, high, found[32];
  const u32 row = rows[blockIdx.x];
  const u32 warps = blockDim.x / 32, warp = warp_id(), lane = lane_id();
  const OffsetA begin = x.a_ptr[row], end = x.a_ptr[row + 1];

  // The words between the first and the last column.
  if (threadIdx.x == 0) {
    low = b_sorted ? NONE : 0;
    high = b_sorted ? 0 : ncols - 1;
  }
  __syncthreads();
  if (b_sorted)
    for (OffsetA e = begin + threadIdx.x; e < end; e += blockDim.x) {
      const u32 k = x.a_col[e];
      const OffsetB first = x.b_ptr[k], last = x.b_ptr[k + 1];
      if (first < last) {
        atomicMin(&low, x.b_col[first]);
        atomicMax(&high, x.b_col[last - 1]);
      }
    }
  __syncthreads();
  const u32 first_word = low / 32, end_word = high / 32 + 1;

  // Each warp takes as many entries of A at a time as gives every warp some, at most 32.
  const OffsetA share = (end - begin + warps - 1) / warps;
  const OffsetA take = share < 32 ? share : 32;
  u64 written = 0;
  for (u32 word = first_word; word < end_word; word += window) {
    const u32 words = end_word - word < window ? end_word - word : window;
    for (u32 w = threadIdx.x; w < words; w += blockDim.x) bits[w] = 0;
    __syncthreads();
    for (OffsetA from = begin + warp * take; from < end; from += warps * take) {
      const OffsetA to = end - from < take ? end : from + take;
      for_columns(x, row, from, to, [&](u32 j) {
        const u32 w = j / 32 - word, bit = 1u << (j % 32);
        if (w < words && (*(volatile u32*)&bits[w] & bit) == 0) atomicOr(&bits[w], bit);
      });
    }
    __syncthreads();
    const u32 section = (words + warps * 32 - 1) / (warps * 32) * 32;
    const u32 from = warp * section, to = from + section < words ? from + section : words;
    u32 count = 0;
    for (u32 w = from + lane; w < to; w += 32) count += __popc(bits[w]);
    count = warp_sum(count);
    if (lane == 0) found[warp] = count;
    __syncthreads();
    const u32 each = lane < warps ? found[lane] : 0;
    const u32 upto = warp_inclusive_sum(each);
    if (FILL) {
      u32* out = c_col + c_ptr[row] + written + __shfl_sync(ALL, upto - each, warp);
      for (u32 w = from; w < to; w += 32) {
        u32 mine = w + lane < to ? bits[w + lane] : 0;
        const u32 n = __popc(mine);
        const u32 sum = warp_inclusive_sum(n);
        u32* at = out + (sum - n);
        for (const u32 base = (word + w + lane) * 32; mine != 0; mine &= mine - 1) *at++ = base + (__ffs(mine) - 1);
        out += __shfl_sync(ALL, sum, 31);
      }
    }
    written += __shfl_sync(ALL, upto, 31);
    __syncthreads();
  }
  if (!FILL && threadIdx.x == 0) lengths[row] = (u32)written;
}

// ---- Entries: rows is the list of a bin.

extern "C" __global__ void __launch_bounds__(256) count_32(u32 nrows, const u32* rows, OPERANDS, u32* lengths) { sorted_rows<1, false>(nrows, rows, PACKED, lengths, nullptr, nullptr); }
extern "C" __global__ void __launch_bounds__(256) count_64(u32 nrows, const u32* rows, OPERANDS, u32* lengths) { sorted_rows<2, false>(nrows, rows, PACKED, lengths, nullptr, nullptr); }
extern "C" __global__ void __launch_bounds__(128) count_256(u32 nrows, const u32* rows, OPERANDS, u32* lengths) { hash_count<512>(nrows, rows, PACKED, lengths); }
extern "C" __global__ void __launch_bounds__(128) count_1024(u32 nrows, const u32* rows, OPERANDS, u32* lengths) { hash_count<2048>(nrows, rows, PACKED, lengths); }
extern "C" __global__ void __launch_bounds__(1024) count_bits(const u32* rows, OPERANDS, u32 ncols, u32 b_sorted, u32 window, u32* lengths) { bitmap_row<false>(rows, PACKED, ncols, b_sorted, window, lengths, nullptr, nullptr); }
extern "C" __global__ void __launch_bounds__(256) fill_32(u32 nrows, const u32* rows, OPERANDS, const OffsetC* c_ptr, u32* c_col) { sorted_rows<1, true>(nrows, rows, PACKED, nullptr, c_ptr, c_col); }
extern "C" __global__ void __launch_bounds__(256) fill_64(u32 nrows, const u32* rows, OPERANDS, const OffsetC* c_ptr, u32* c_col) { sorted_rows<2, true>(nrows, rows, PACKED, nullptr, c_ptr, c_col); }
extern "C" __global__ void __launch_bounds__(128) fill_128(u32 nrows, const u32* rows, OPERANDS, const OffsetC* c_ptr, u32* c_col) { hash_fill(nrows, rows, PACKED, c_ptr, c_col); }
extern "C" __global__ void __launch_bounds__(1024) fill_bits(const u32* rows, OPERANDS, u32 ncols, u32 b_sorted, u32 window, const OffsetC* c_ptr, u32* c_col) { bitmap_row<true>(rows, PACKED, ncols, b_sorted, window, nullptr, c_ptr, c_col); }
