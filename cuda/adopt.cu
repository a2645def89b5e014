// adopt.cu: validates compressed rows that come from outside. Defects set bits in `found`, initially 0: POINTERS,
// COLUMNS, UNSORTED, as in src/gpu/adopt.rs. Columns are checked only if the pointers are valid.
// Grid: a thread per pointer; a warp per row.
#include "index.cuh"

constexpr u32 POINTERS = 1, COLUMNS = 2, UNSORTED = 4;

// From 0, non-decreasing, to nnz.
KERNEL(check_pointers, Offsets row_ptr, u64 nrows, u64 nnz, u32* found) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i > nrows) return;
  const u64 p = row_ptr[i];
  const bool right = (i > 0 || p == 0) && (i < nrows ? p <= row_ptr[i + 1] : p == nnz);
  if (!right) atomicOr(found, POINTERS);
}

// Below ncols, and increasing within each row.
KERNEL(check_columns, Offsets row_ptr, u64 nrows, const u32* col_idx, u64 ncols, u32* found) {
  const u64 i = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (i >= nrows) return;
  const u64 from = row_ptr[i], to = row_ptr[i + 1];
  u32 wrong = 0;
  for (u64 p = from + lane_id(); p < to; p += 32) {
    const u32 j = col_idx[p];
    if (j >= ncols) wrong |= COLUMNS;
    if (p > from && col_idx[p - 1] >= j) wrong |= UNSORTED;
  }
  if (wrong != 0) atomicOr(found, wrong);
}
