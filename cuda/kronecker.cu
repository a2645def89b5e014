// kronecker.cu: C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l), for each entry of A and each of B. Grid: a thread per row
// pointer or per entry of C. Defined by the host: `struct Op`, `OffsetA`, `OffsetB` and `OffsetC`.
#include "parts.cuh"

// Row (i, k) starts after all rows of A before i, each times all of B, and after row i times the rows of B before k.
__device__ inline u64 row_start(const OffsetA* a_ptr, const OffsetB* b_ptr, u64 b_nnz, u64 i, u64 k) {
  return (u64)a_ptr[i] * b_nnz + ((u64)a_ptr[i + 1] - a_ptr[i]) * b_ptr[k];
}

KERNEL(kronecker_rows, const OffsetA* a_ptr, const OffsetB* b_ptr, u64 b_rows, u64 b_nnz, u64 nrows, u64 nnz, OffsetC* c_ptr) {
  const u64 r = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (r < nrows) c_ptr[r] = row_start(a_ptr, b_ptr, b_nnz, r / b_rows, r % b_rows);
  if (r == nrows) c_ptr[r] = nnz;
}

// Entry q of B is the fastest index: a warp reads neighboring entries of B and mostly writes neighboring entries of C.
KERNEL(kronecker_fill, const OffsetA* a_ptr, const u32* a_rows, const u32* a_cols, const Op::A* a,
       const OffsetB* b_ptr, const u32* b_rows, const u32* b_cols, const Op::B* b, u64 b_nnz, u64 b_ncols, u64 nnz,
       u32* c_cols, Op::Out* c) {
  const u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= nnz) return;
  const u64 p = t / b_nnz, q = t % b_nnz;
  const u64 i = a_rows[p], k = b_rows[q];
  const u64 before = (p - a_ptr[i]) * ((u64)b_ptr[k + 1] - b_ptr[k]) + (q - b_ptr[k]);
  const u64 to = row_start(a_ptr, b_ptr, b_nnz, i, k) + before;
  c_cols[to] = (u32)(a_cols[p] * b_ncols + b_cols[q]);
  c[to] = Op::apply(a[p], b[q]);
}
