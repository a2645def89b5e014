// spmm.cu: Y(i,j) = ⊕_k A(i,k) ⊗ X(k,j), A in rows, X and Y dense, row after row.
// A group of LANES threads takes a row of A and LANES · EACH columns of X; a thread folds its columns in the order of
// k, so the bits are those of the definition. Set in front: `Ring`, `Offset`, `LANES`, `EACH`.
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::A A;
typedef Ring::B B;
typedef Ring::Out Out;

// Entries of A whose rows of X are under way at a time.
constexpr u32 DEEP = sizeof(B) * EACH <= 16 ? 4 : 2;

// Grid: one group for each (row, chunk of LANES · EACH columns), chunks of a row side by side; blocks of 256.
BOUNDED_KERNEL((256), spmm_rows, const Offset* __restrict__ row_ptr, const u32* __restrict__ col_idx,
                                 const A* __restrict__ values, u64 nrows, const B* __restrict__ x, u64 columns, u64 chunks,
                                 Out* __restrict__ y) {
  const u64 group = ((u64)blockIdx.x * 256 + threadIdx.x) / LANES;
  const u64 row = chunks == 1 ? group : group / chunks;
  if (row >= nrows) return;
  const u64 column = (group - row * chunks) * (LANES * EACH) + threadIdx.x % LANES;
  const u64 start = row_ptr[row], entries = row_ptr[row + 1] - start;
  const u32* inner = col_idx + start;
  const A* left = values + start;
  Out sum[EACH];
#pragma unroll
  for (u32 c = 0; c < EACH; ++c) sum[c] = Ring::zero();
  for (u64 p = 0; p < entries; p += DEEP) {
    u32 k[DEEP];
    A a[DEEP];
    B b[DEEP][EACH];
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u)
      if (p + u < entries) k[u] = inner[p + u], a[u] = left[p + u];
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u)
#pragma unroll
      for (u32 c = 0; c < EACH; ++c)
        if (p + u < entries && column + c * LANES < columns) b[u][c] = x[k[u] * columns + column + c * LANES];
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u)
#pragma unroll
      for (u32 c = 0; c < EACH; ++c)
        if (p + u < entries && column + c * LANES < columns)
          sum[c] = Ring::add(sum[c], Ring::mul(a[u], b[u][c], row, k[u], column + c * LANES));
  }
#pragma unroll
  for (u32 c = 0; c < EACH; ++c)
    if (column + c * LANES < columns) y[row * columns + column + c * LANES] = sum[c];
}

}  // namespace kernels
