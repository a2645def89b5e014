// reduce.cu: folds values by a monoid, per row or over all of a matrix. A row of at most SHORT entries is folded by one
// thread in stored order. A longer one is divided into chunks of CHUNK entries; a block folds a chunk: thread t folds
// entries t, t + 256, ... from the identity, then the threads' results are folded by halves, t with t + 128, t + 64,
// ...; the chunks are folded in order. The order depends only on the row's length. No part is empty, so an identity
// never stands for a value. Grid: a thread per row, or one block of 256 threads per chunk. Defined by the host: `struct
// Monoid`, `OffsetA` (row pointers) and `OffsetChunk`.
#include "parts.cuh"
using Out = Monoid::Out;
constexpr u32 THREADS = 256, SHORT = 128, CHUNK = 4096;

// Fold of values[from..to), not empty, in thread 0; `room` holds THREADS values in shared memory.
__device__ inline Out fold_chunk(const Out* values, u64 from, u64 to, Out* room) {
  const u32 active = to - from < THREADS ? (u32)(to - from) : THREADS;
  Out mine = Monoid::zero();
  for (u64 p = from + threadIdx.x; p < to; p += THREADS) mine = Monoid::add(mine, values[p]);
  room[threadIdx.x] = mine;
  for (u32 half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half && threadIdx.x + half < active)
      room[threadIdx.x] = Monoid::add(room[threadIdx.x], room[threadIdx.x + half]);
  }
  return room[threadIdx.x];  // only the own thread writes there
}

// folds[c] = fold of the c-th chunk of `n` values.
KERNEL(fold_chunks, const Out* values, u64 n, Out* folds) {
  __shared__ Out room[THREADS];
  const u64 from = (u64)blockIdx.x * CHUNK;
  const Out fold = fold_chunk(values, from, from + CHUNK < n ? from + CHUNK : n, room);
  if (threadIdx.x == 0) folds[blockIdx.x] = fold;
}

// Short rows are finished here; chunks[i] = chunks of row i, 0 for a short one.
KERNEL(fold_short_rows, const OffsetA* row_ptr, const Out* values, u64 nrows, Out* folds, u32* chunks) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nrows) return;
  const u64 from = row_ptr[i], to = row_ptr[i + 1];
  const bool is_short = to - from <= SHORT;
  chunks[i] = is_short ? 0 : (u32)((to - from + CHUNK - 1) / CHUNK);
  if (!is_short) return;
  Out fold = Monoid::zero();
  for (u64 p = from; p < to; ++p) fold = Monoid::add(fold, values[p]);
  folds[i] = fold;
}

// Block c folds the c-th chunk of the long rows; first_chunk[i] = chunks of the rows before i.
KERNEL(fold_row_chunks, const OffsetA* row_ptr, const Out* values, u64 nrows, const OffsetChunk* first_chunk, Out* chunk_folds) {
  __shared__ Out room[THREADS];
  __shared__ u64 row;
  if (threadIdx.x == 0) row = row_of(first_chunk, 0, nrows - 1, blockIdx.x);
  __syncthreads();
  const u64 from = row_ptr[row] + (blockIdx.x - (u64)first_chunk[row]) * CHUNK, end = row_ptr[row + 1];
  const Out fold = fold_chunk(values, from, from + CHUNK < end ? from + CHUNK : end, room);
  if (threadIdx.x == 0) chunk_folds[blockIdx.x] = fold;
}

KERNEL(fold_long_rows, u64 nrows, const OffsetChunk* first_chunk, const Out* chunk_folds, Out* folds) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nrows || first_chunk[i] == first_chunk[i + 1]) return;
  Out fold = Monoid::zero();
  for (u64 c = first_chunk[i]; c < first_chunk[i + 1]; ++c) fold = Monoid::add(fold, chunk_folds[c]);
  folds[i] = fold;
}
