// spgemm_parts.cu: steps between the phases of a product: parts of long rows, entries that a mask allows, equality of
// patterns. Defined by the host: OffsetC, and OffsetK of the selected entries.
#include "parts.cuh"

// Parts of rows: for each its row and its index within the row.
struct Parts {
  u32 *rows, *numbers;
};
// The parts of the listed rows. The first `few` rows get parts of `entries` entries, which warps take; the others, up
// to row n, get parts of 4 · entries, which blocks take. Block parts whose columns lie within `near` words are stored
// from the front of `longs`, the rest from the back of its `room` slots. ends[0], ends[1] and ends[2] count the three
// kinds. Their order is that of the threads, which nothing depends on.
KERNEL(parts_fill, u32 few, u32 n, const u32* rows, const OffsetC* c_ptr, const u32* c_col, u32 entries, u32 near, u32 room, u32* ends,
                   Parts shorts, Parts longs) {
  const u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const OffsetC begin = c_ptr[rows[t]], end = c_ptr[rows[t] + 1];
  const bool is_short = t < few;
  const Parts to = is_short ? shorts : longs;
  const u32 step = is_short ? entries : 4 * entries;
  u32 p = 0;
  for (OffsetC from = begin; from < end; from += step, ++p) {
    const OffsetC last = end - from < step ? end - 1 : from + step - 1;
    const bool close = is_short || c_col[last] / 32 - c_col[from] / 32 < near;
    const u32 at = is_short ? atomicAdd(&ends[0], 1) : close ? atomicAdd(&ends[1], 1) : room - 1 - atomicAdd(&ends[2], 1);
    to.rows[at] = rows[t];
    to.numbers[at] = p;
  }
}

KERNEL(row_lengths, u32 nrows, const OffsetC* ptr, u32* lengths) {
  const u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (row < nrows) lengths[row] = (u32)(ptr[row + 1] - ptr[row]);
}

// Counts each row's entries whose flag is set; a warp per row.
KERNEL(keep_count, u32 nrows, const OffsetC* ptr, const bool* flags, u32* counts) {
  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= nrows) return;
  u32 count = 0;
  for (OffsetC e = ptr[row] + lane_id(); e < ptr[row + 1]; e += 32) count += flags[e];
  count = warp_sum(count);
  if (lane_id() == 0) counts[row] = count;
}
// Copies their columns, in order, from kept_ptr on.
KERNEL(keep_fill, u32 nrows, const OffsetC* ptr, const u32* col, const bool* flags, const OffsetK* kept_ptr, u32* kept_col) {
  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= nrows) return;
  u64 out = kept_ptr[row];
  const OffsetC end = ptr[row + 1];
  for (OffsetC e = ptr[row]; e < end; e += 32) {
    const bool keep = e + lane_id() < end && flags[e + lane_id()];
    const u32 all = __ballot_sync(ALL, keep);
    if (keep) kept_col[out + __popc(all & ((1u << lane_id()) - 1))] = col[e + lane_id()];
    out += __popc(all);
  }
}

// Sets *differ if two arrays of n words differ.
KERNEL(compare, u64 n, const u32* x, const u32* y, u32* differ) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] != y[i]) *differ = 1;
}
