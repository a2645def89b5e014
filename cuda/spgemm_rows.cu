// spgemm_rows.cu: facts about the rows of C = A·B before its columns: their work, the bins of rows for the kernels that
// compute columns (spgemm_columns.cu) and values (values.cuh), and B with 32 columns per word. Defined by the host:
// OffsetA, OffsetB, OffsetC, OffsetK (row pointers of A, B, C, and the stored columns).
#include "parts.cuh"

// ---- Work of each row, and bins.

// HEAVY_TO_FILL: multiplications above which a block writes a row's columns, even if a warp could hold it; for values,
// the host passes the bound (`heavy`). MANY: entries of A's row above which it is divided into parts if its rows of B
// are short.
constexpr u32 HEAVY_TO_FILL = 2048, MANY = 32;

// Bin of a row with `work` multiplications and `words` words: those of its products before counting (stage 0), those of
// C after (stage 1). Stage 2, for values, uses C's lengths: bins 1 and 2 are the rows sorted in registers. Rows of more
// than 128 entries are divided into parts, and so are rows that combine many short rows of B, which are slow in
// sequence.
__device__ inline u32 bin_of(u32 stage, u32 heavy, u32 work, u32 words, u64 entries_of_a) {
  if (stage == 2 && work <= 64 && words <= 64) return words == 0 ? 0 : words <= 16 ? 1 : 2;
  if (stage == 2) {
    if (words == 0) return 0;
    if (words <= 128 && (entries_of_a <= MANY || work >= 16 * entries_of_a)) return 3;
    return words <= 1024 && work <= heavy ? 4 : 5;
  }
  if (work <= 64) return work == 0 || stage == 1 ? 0 : work <= 32 ? 1 : 2;
  if (stage == 1) return words == 0 ? 0 : words <= 128 && work <= HEAVY_TO_FILL ? 3 : work <= 32768 ? 5 : 6;
  return words <= 384 ? 3 : words <= 768 ? 4 : work <= 32768 ? 5 : 6;
}
constexpr u32 BINS = 8;

// Totals over all rows: multiplications, the maximum of a row, those of rows sorted in registers, and the size of each
// bin before counting.
struct Totals {
  u64 work, most, few, bins[BINS];
};

// work[i] = Σ over A's row i of the lengths of B's rows, at most NONE; few[i] = work[i] if the row is sorted in
// registers, else 0. lengths[i] and words[i], of C, are set to 0. If `products` is given, B is packed, `products` holds
// the multiplications of each row, and only work[i] is written. Eight lanes per row, the warp for longer rows, the
// block for much longer ones. Each warp takes several rows, so that a block updates the totals once.
BOUNDED_KERNEL((256, 5), row_work, u32 nrows, const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, const u32* products,
                                   u32* work, u32* few, u32* lengths, u32* words, Totals* totals) {
  constexpr u32 LATE = 64;
  __shared__ u64 room[33];
  __shared__ u64 heaviest;
  __shared__ u32 found[BINS], late[LATE], waiting;
  if (threadIdx.x < BINS) found[threadIdx.x] = 0;
  if (threadIdx.x == 0) heaviest = 0, waiting = 0;
  __syncthreads();
  const auto length_of = [&](OffsetA e) {
    const u32 k = a_col[e];
    return (u64)(b_ptr[k + 1] - b_ptr[k]);
  };
  u64 all = 0, most = 0, short_work = 0;
  u32 in_bin = 0;  // rows of the bin with the lane's index
  // Called by eight lanes; the first of them counts.
  const auto take = [&](u32 row, u64 sum, bool first) {
    const u32 mine = sum < NONE ? (u32)sum : NONE;
    const u32 bin = bin_of(0, 0, products ? products[row] : mine, mine, 0);
    in_bin += bin == lane_id() % 8;
    if (!first) return;
    work[row] = mine;
    if (!products) few[row] = mine <= 64 ? mine : 0, lengths[row] = 0, words[row] = 0;
    all += sum;
    most = sum > most ? sum : most;
    if (mine <= 64) short_work += mine;
  };
  const u64 warps = (u64)gridDim.x * (blockDim.x / 32);
  for (u64 base = ((u64)blockIdx.x * (blockDim.x / 32) + warp_id()) * 4; base < nrows; base += warps * 4) {
    const u64 row = base + lane_id() / 8;
    const OffsetA begin = row < nrows ? a_ptr[row] : 0, end = row < nrows ? a_ptr[row + 1] : 0;
    const bool is_long = end - begin > 128;
    bool is_late = false;
    if (end - begin > 1024 && lane_id() % 8 == 0) {
      const u32 at = atomicAdd(&waiting, 1);
      is_late = at < LATE;
      if (is_late) late[at] = (u32)row;
    }
    is_late = __shfl_sync(ALL, is_late, lane_id() & ~7u);
    u64 sum = 0;
    if (!is_long)
      for (OffsetA e = begin + lane_id() % 8; e < end; e += 8) sum += length_of(e);
    for (u32 d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
    for (u32 longs = __ballot_sync(ALL, is_long && !is_late) & 0x01010101u; longs != 0; longs &= longs - 1) {
      const u32 leader = __ffs(longs) - 1;
      const OffsetA from = __shfl_sync(ALL, begin, leader), to = __shfl_sync(ALL, end, leader);
      u64 part = 0;
#pragma unroll 4
      for (OffsetA e = from + lane_id(); e < to; e += 32) part += length_of(e);
      part = warp_sum(part);
      if (lane_id() / 8 == leader / 8) sum = part;
    }
    if (row < nrows && !is_late) take((u32)row, sum, lane_id() % 8 == 0);
  }
  __syncthreads();
  const u32 rest = waiting < LATE ? waiting : LATE;
  for (u32 t = 0; t < rest; ++t) {
    const OffsetA end = a_ptr[late[t] + 1];
    u64 sum = 0;
#pragma unroll 4
    for (OffsetA e = a_ptr[late[t]] + threadIdx.x; e < end; e += blockDim.x) sum += length_of(e);
    sum = block_sum(sum, room);
    if (threadIdx.x < 8) take(late[t], sum, threadIdx.x == 0);
  }
  all = block_sum(all, room);
  short_work = block_sum(short_work, room);
  most = warp_max(most);
  for (u32 d = 8; d < 32; d *= 2) in_bin += __shfl_xor_sync(ALL, in_bin, d);
  if (lane_id() < BINS) atomicAdd(&found[lane_id()], in_bin);
  if (lane_id() == 0) atomicMax(&heaviest, most);
  __syncthreads();
  if (threadIdx.x < BINS && found[threadIdx.x] > 0) atomicAdd(&totals->bins[threadIdx.x], (u64)found[threadIdx.x]);
  if (threadIdx.x == 0) {
    atomicAdd(&totals->work, all);
    atomicMax(&totals->most, heaviest);
    atomicAdd(&totals->few, short_work);
  }
}

// Sizes of the bins, in the stages from `stage` to `last`: by `words` in stage 1, by `lengths` in stage 2.
KERNEL(bin_count, u32 stage, u32 last, u32 heavy, u32 nrows, const OffsetA* a_ptr, const u32* work, const u32* words, const u32* lengths, u64* counters) {
  __shared__ u32 found[2 * BINS];
  if (threadIdx.x < 2 * BINS) found[threadIdx.x] = 0;
  __syncthreads();
  const u64 rounds = ((u64)nrows + blockDim.x - 1) / blockDim.x;
  for (u64 t = blockIdx.x; t < rounds; t += gridDim.x) {
    const u64 row = t * blockDim.x + threadIdx.x;
    for (u32 s = stage; s <= last; ++s) {
      const u32 bin = row < nrows ? bin_of(s, heavy, work[row], s == 1 ? words[row] : lengths[row], a_ptr[row + 1] - a_ptr[row]) : BINS;
      const u32 same = __match_any_sync(ALL, bin);
      if (bin < BINS && lane_id() == __ffs(same) - 1) atomicAdd(&found[(s - stage) * BINS + bin], __popc(same));
    }
  }
  __syncthreads();
  if (threadIdx.x < 2 * BINS && found[threadIdx.x] > 0) atomicAdd(&counters[threadIdx.x], (u64)found[threadIdx.x]);
}
// Starts of the bins, of a stage and of the next.
struct Starts {
  u64 of[2 * BINS];
};
// Lists the rows of bin b from starts.of[b] on, in STAGES stages from `stage` on, nrows slots per stage; cursors are
// initially 0. The order within a bin is that of the blocks, which nothing depends on. Blocks are large because they
// all contend for the same cursors.
template <u32 STAGES>
__device__ inline void place_rows(u32 stage, u32 heavy, u32 nrows, const OffsetA* a_ptr, const u32* work, const u32* words, const u32* lengths,
                                  const Starts& starts, u64* cursors, u32* rows) {
  __shared__ u32 found[STAGES * BINS], start[STAGES * BINS];
  const u32 t = threadIdx.x;
  if (t < STAGES * BINS) found[t] = 0;
  __syncthreads();
  const u64 row = (u64)blockIdx.x * blockDim.x + t;
  u32 bin[STAGES], at[STAGES];
#pragma unroll
  for (u32 s = 0; s < STAGES; ++s) {
    bin[s] = BINS, at[s] = 0;
    if (row < nrows) bin[s] = bin_of(stage + s, heavy, work[row], stage + s == 2 ? lengths[row] : words[row], a_ptr[row + 1] - a_ptr[row]);
    const u32 same = __match_any_sync(ALL, bin[s]);
    const u32 leader = __ffs(same) - 1;
    if (bin[s] < BINS && lane_id() == leader) at[s] = atomicAdd(&found[s * BINS + bin[s]], __popc(same));
    at[s] = __shfl_sync(ALL, at[s], leader) + __popc(same & ((1u << lane_id()) - 1));
  }
  __syncthreads();
  // Selects each start by a compile-time index: indexing by t would copy all of them to the stack of every thread.
  u64 from = 0;
#pragma unroll
  for (u32 b = 0; b < STAGES * BINS; ++b)
    if (t == b) from = starts.of[b];
  if (t < STAGES * BINS && found[t] > 0) start[t] = (u32)(from + atomicAdd(&cursors[t], (u64)found[t]));
  __syncthreads();
#pragma unroll
  for (u32 s = 0; s < STAGES; ++s)
    if (bin[s] < BINS) rows[s * (u64)nrows + start[s * BINS + bin[s]] + at[s]] = (u32)row;
}
#define PLACED u32 stage, u32 heavy, u32 nrows, const OffsetA *a_ptr, const u32 *work, const u32 *words, const u32 *lengths, Starts starts, u64 *cursors, u32 *rows
BOUNDED_KERNEL((1024), bin_place, PLACED) { place_rows<1>(stage, heavy, nrows, a_ptr, work, words, lengths, starts, cursors, rows); }
BOUNDED_KERNEL((1024), bin_place_both, PLACED) { place_rows<2>(stage, heavy, nrows, a_ptr, work, words, lengths, starts, cursors, rows); }

// ---- B with 32 columns per word; its rows are sorted. A warp per row.

// Words per row.
KERNEL(pack_count, u32 nrows, const OffsetB* ptr, const u32* col, u32* counts) {
  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= nrows) return;
  const OffsetB begin = ptr[row], end = ptr[row + 1];
  u32 count = 0;
  for (OffsetB e = begin + lane_id(); e < end; e += 32) count += e == begin || col[e] / 32 != col[e - 1] / 32;
  count = warp_sum(count);
  if (lane_id() == 0) counts[row] = count;
}
// The words and their bitmaps: lanes with columns of the same word combine them in the first of these lanes. LINES
// lines of columns are read at a time, so that a long row does not wait for each.
KERNEL(pack_fill, u32 nrows, const OffsetB* ptr, const u32* col, const OffsetB* w_ptr, u32* w_word, u32* w_mask) {
  constexpr u32 LINES = 4;
  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= nrows) return;
  const u32 lane = lane_id();
  const OffsetB begin = ptr[row], end = ptr[row + 1];
  OffsetB out = w_ptr[row];
  u32 last = NONE;  // the word at the end of the previous line
  for (OffsetB base = begin; base < end; base += 32 * LINES) {
    u32 line[LINES];
#pragma unroll
    for (u32 l = 0; l < LINES; ++l) line[l] = base + 32 * l + lane < end ? col[base + 32 * l + lane] : NONE;
#pragma unroll
    for (u32 l = 0; l < LINES; ++l) {
      const u32 j = line[l], word = j == NONE ? NONE : j / 32;
      u32 mask = j == NONE ? 0 : 1u << (j % 32);
      for (u32 d = 1; d < 32; d *= 2) {
        const u32 next = __shfl_down_sync(ALL, word, d), bits = __shfl_down_sync(ALL, mask, d);
        if (lane + d < 32 && next == word) mask |= bits;
      }
      const u32 before = __shfl_up_sync(ALL, word, 1);
      const bool head = word != NONE && word != (lane == 0 ? last : before);
      const u32 heads = __ballot_sync(ALL, head);
      // A word continued from the previous line already has its first bits.
      if (lane == 0 && !head && word != NONE) w_mask[out - 1] |= mask;
      if (head) {
        const OffsetB at = out + __popc(heads & ((1u << lane) - 1));
        w_word[at] = word;
        w_mask[at] = mask;
      }
      out += __popc(heads);
      last = __shfl_sync(ALL, word, 31);
      __syncwarp();
    }
  }
}

// ---- Short rows, whose columns were computed while counting.

// Copies the stored columns of the rows to their positions in C; a warp takes 4 · rounds rows, at most 32, eight lanes
// per row at a time.
BOUNDED_KERNEL((256), move_kept, u32 nrows, u32 rounds, const u32* rows, const OffsetK* kept_ptr, const u32* kept, const OffsetC* c_ptr,
                                 u32* c_col) {
  const u64 at = ((u64)blockIdx.x * (blockDim.x / 32) + warp_id()) * 4 * rounds + lane_id();
  OffsetC to = 0;
  OffsetK from = 0;
  u32 n = 0;
  if (at < nrows && lane_id() < 4 * rounds) {
    const u32 row = rows[at];
    to = c_ptr[row];
    n = (u32)(c_ptr[row + 1] - to);
    from = kept_ptr[row];
  }
  for (u32 t = 0; t < rounds; ++t) {
    const u32 source = t * 4 + lane_id() / 8;
    const OffsetC out = __shfl_sync(ALL, to, source);
    const OffsetK in = __shfl_sync(ALL, from, source);
    const u32 length = __shfl_sync(ALL, n, source);
    for (u32 e = lane_id() % 8; e < length; e += 8) c_col[out + e] = kept[in + e];
  }
}
