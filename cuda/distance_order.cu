// distance_order.cu: the first rows by norm, ties by index, without a full sort. The norm of the last one is found
// digit by digit; then the rows below it are collected, and up to `most` rows of that norm and of each of the next
// ones. Defined by the host: `W` (of norms) and FALLS (whether the largest norm comes first).
#include "parts.cuh"

// Order-preserving map of numbers to integers; −0 equals 0.
__device__ inline u64 code_of_norm(W norm) {
  u64 code = (u64)__double_as_longlong((double)norm + 0.0);
  code = code >> 63 ? ~code : code | 1ull << 63;
  return FALLS ? ~code : code;
}

// counts[d] += rows whose code starts with the digits of `prefix` above `shift`, 8 bits each, followed by digit d;
// odd[0] is set if a norm is not finite. Grid: any, blocks of 256 threads.
KERNEL(count_digits, const W* norms, u64 n, u64 prefix, u32 shift, u32* counts, u32* odd) {
  __shared__ u32 found[256];
  found[threadIdx.x] = 0;
  __syncthreads();
  bool any = false;
  for (u64 i = (u64)blockIdx.x * 256 + threadIdx.x; i < n; i += (u64)gridDim.x * 256) {
    const W norm = norms[i];
    any |= !(norm - norm == 0);
    const u64 code = code_of_norm(norm);
    if (shift == 56 || code >> (shift + 8) == prefix) atomicAdd(&found[code >> shift & 255], 1u);
  }
  __syncthreads();
  if (found[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], found[threadIdx.x]);
  if (any) odd[0] = 1;
}

// next[0] = the least code above `last`, all ones if there is none. Grid: any.
KERNEL(least_above, const W* norms, u64 n, u64 last, u64* next) {
  u64 least = ~0ull;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
    const u64 code = code_of_norm(norms[i]);
    if (code > last && code < least) least = code;
  }
  __syncwarp();
  least = warp_min(least);
  if (lane_id() == 0 && least != ~0ull) atomicMin(next, least);
}

// count[0] += rows with the code stored at `at`. Grid: any.
KERNEL(count_at, const W* norms, u64 n, const u64* at, u64* count) {
  const u64 last = at[0];
  u64 found = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x)
    found += code_of_norm(norms[i]) == last;
  __syncwarp();
  found = warp_sum(found);
  if (lane_id() == 0 && found > 0) atomicAdd(count, found);
}

// Rows with codes from `first` to `last`, in any order, and their codes; used[0] is their number. Grid: any.
KERNEL(rows_between, const W* norms, u64 n, u64 first, u64 last, u32* rows, u64* codes, u32* used) {
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
    const u64 code = code_of_norm(norms[i]);
    if (code < first || code > last) continue;
    const u32 to = atomicAdd(used, 1u);
    rows[to] = (u32)i, codes[to] = code;
  }
}

// The first `most` rows with code `last`, in order; at least that many exist. Grid: one block of 1024 threads.
KERNEL(rows_at, const W* norms, u64 n, u64 last, u32 most, u32* rows) {
  __shared__ u32 room[33];
  u32 have = 0;
  for (u64 base = 0; base < n && have < most; base += 1024) {
    const u64 i = base + threadIdx.x;
    const bool is = i < n && code_of_norm(norms[i]) == last;
    u32 total;
    const u32 to = have + block_exclusive_sum((u32)is, room, total);
    if (is && to < most) rows[to] = (u32)i;
    have += total;
  }
}
