// spgemm_rows.cu: what is known of the rows of C = A·B before its columns: their work, the bins of rows for the kernels that
// find columns (spgemm_columns.cu) and values (values.cuh), and B with 32 columns to a word.
// Set in front: OffsetA, OffsetB, OffsetC, OffsetK (row pointers of A, B, C, and what is kept).
#include "parts.cuh"

// ---- Work of each row, and bins.

// work[i] = Σ over A's row i of the lengths of B's rows, at most NONE; totals: all of it, and the most of a row. Eight
// lanes a row, or the whole warp where the row is long; each warp takes rows in turn, so that a block adds to the totals once.
BOUNDED_KERNEL((256, 5), row_work, u32 nrows, const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, u32* work,
                                   u64* totals) {
  __shared__ u64 room[33];
  __shared__ u64 heaviest;
  if (threadIdx.x == 0) heaviest = 0;
  const u64 warps = (u64)gridDim.x * (blockDim.x / 32);
  u64 all = 0, most = 0;
  for (u64 base = ((u64)blockIdx.x * (blockDim.x / 32) + warp_id()) * 4; base < nrows; base += warps * 4) {
    const u64 row = base + lane_id() / 8;
    const OffsetA begin = row < nrows ? a_ptr[row] : 0, end = row < nrows ? a_ptr[row + 1] : 0;
    const bool is_long = end - begin > 128;
    u64 sum = 0;
    if (!is_long)
      for (OffsetA e = begin + lane_id() % 8; e < end; e += 8) {
        const u32 k = a_col[e];
        sum += b_ptr[k + 1] - b_ptr[k];
      }
    for (u32 d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
    for (u32 longs = __ballot_sync(ALL, is_long) & 0x01010101u; longs != 0; longs &= longs - 1) {
      const u32 leader = __ffs(longs) - 1;
      const OffsetA from = __shfl_sync(ALL, begin, leader), to = __shfl_sync(ALL, end, leader);
      u64 part = 0;
#pragma unroll 4
      for (OffsetA e = from + lane_id(); e < to; e += 32) {
        const u32 k = a_col[e];
        part += b_ptr[k + 1] - b_ptr[k];
      }
      part = warp_sum(part);
      if (lane_id() / 8 == leader / 8) sum = part;
    }
    most = sum > most ? sum : most;
    if (row < nrows && lane_id() % 8 == 0) {
      work[row] = sum < NONE ? (u32)sum : NONE;
      all += sum;
    }
  }
  all = block_sum(all, room);
  most = warp_max(most);
  if (lane_id() == 0) atomicMax(&heaviest, most);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(totals, all);
    atomicMax(totals + 1, heaviest);
  }
}

// few[i] = work[i] where the row is sorted in registers, else 0.
KERNEL(few_work, u32 nrows, const u32* work, u32* few) {
  const u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (row < nrows) few[row] = work[row] <= 64 ? work[row] : 0;
}

// Bin of a row with `work` multiplications, of `words` words: those of its products before counting (stage 0), those of C
// after (stage 1). Stage 2, for values, goes by C's lengths; bins 1
// and 2 are the rows that are sorted in registers, those of more than 128 entries are cut into parts.
__device__ inline u32 bin_of(u32 stage, u32 work, u32 words) {
  if (stage == 2 && work <= 64 && words <= 64) return words == 0 ? 0 : words <= 16 ? 1 : 2;
  if (stage == 2) return words == 0 ? 0 : words <= 128 ? 3 : words <= 1024 ? 4 : 5;
  if (work <= 64) return work == 0 || (stage == 1 && words == 0) ? 0 : work <= 32 ? 1 : 2;
  if (stage == 1) return words == 0 ? 0 : words <= 128 ? 3 : work <= 32768 ? 5 : 6;
  return words <= 384 ? 3 : words <= 768 ? 4 : work <= 32768 ? 5 : 6;
}

constexpr u32 BINS = 8;
// Rows of each bin.
KERNEL(bin_count, u32 stage, u32 nrows, const u32* work, const u32* words, u32* counters) {
  __shared__ u32 found[BINS];
  if (threadIdx.x < BINS) found[threadIdx.x] = 0;
  __syncthreads();
  const u64 rounds = ((u64)nrows + blockDim.x - 1) / blockDim.x;
  for (u64 t = blockIdx.x; t < rounds; t += gridDim.x) {
    const u64 row = t * blockDim.x + threadIdx.x;
    const u32 bin = row < nrows ? bin_of(stage, work[row], words[row]) : BINS;
    const u32 same = __match_any_sync(ALL, bin);
    if (bin < BINS && lane_id() == __ffs(same) - 1) atomicAdd(&found[bin], __popc(same));
  }
  __syncthreads();
  if (threadIdx.x < BINS && found[threadIdx.x] > 0) atomicAdd(&counters[threadIdx.x], found[threadIdx.x]);
}
// Rows of bin b from cursors[b] on. The order within a bin is that of the blocks, which nothing depends on.
KERNEL(bin_place, u32 stage, u32 nrows, const u32* work, const u32* words, u32* cursors, u32* rows) {
  __shared__ u32 found[BINS], start[BINS];
  if (threadIdx.x < BINS) found[threadIdx.x] = 0;
  __syncthreads();
  const u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u32 bin = row < nrows ? bin_of(stage, work[row], words[row]) : BINS;
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

// ---- B with 32 columns to a word; its rows are sorted. A warp a row.

// Words of each row.
KERNEL(pack_count, u32 nrows, const OffsetB* ptr, const u32* col, u32* counts) {
  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= nrows) return;
  const OffsetB begin = ptr[row], end = ptr[row + 1];
  u32 count = 0;
  for (OffsetB e = begin + lane_id(); e < end; e += 32) count += e == begin || col[e] / 32 != col[e - 1] / 32;
  count = warp_sum(count);
  if (lane_id() == 0) counts[row] = count;
}
// The words and the bits of each: the lane of a word's first column gathers it.
KERNEL(pack_fill, u32 nrows, const OffsetB* ptr, const u32* col, const OffsetB* w_ptr, u32* w_word, u32* w_mask) {
  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= nrows) return;
  const OffsetB begin = ptr[row], end = ptr[row + 1];
  OffsetB out = w_ptr[row];
  for (OffsetB e = begin; e < end; e += 32) {
    const OffsetB mine = e + lane_id();
    const bool head = mine < end && (mine == begin || col[mine] / 32 != col[mine - 1] / 32);
    const u32 heads = __ballot_sync(ALL, head);
    if (head) {
      const u32 word = col[mine] / 32;
      u32 mask = 0;
      for (OffsetB n = mine; n < end && col[n] / 32 == word; ++n) mask |= 1u << (col[n] % 32);
      const OffsetB at = out + __popc(heads & ((1u << lane_id()) - 1));
      w_word[at] = word;
      w_mask[at] = mask;
    }
    out += __popc(heads);
  }
}

// ---- Short rows, whose columns were found while counting.

// The kept columns of the rows at their place in C; a warp takes 32 rows, eight lanes a row at a time.
BOUNDED_KERNEL((256), move_kept, u32 nrows, const u32* rows, const OffsetK* kept_ptr, const u32* kept, const OffsetC* c_ptr,
                                 u32* c_col) {
  const u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  OffsetC to = 0;
  OffsetK from = 0;
  u32 n = 0;
  if (at < nrows) {
    const u32 row = rows[at];
    to = c_ptr[row];
    n = (u32)(c_ptr[row + 1] - to);
    from = kept_ptr[row];
  }
#pragma unroll
  for (u32 t = 0; t < 8; ++t) {
    const u32 source = t * 4 + lane_id() / 8;
    const OffsetC out = __shfl_sync(ALL, to, source);
    const OffsetK in = __shfl_sync(ALL, from, source);
    const u32 length = __shfl_sync(ALL, n, source);
    for (u32 e = lane_id() % 8; e < length; e += 8) c_col[out + e] = kept[in + e];
  }
}
