// spmm.cu: Y(i,j) = ⊕_k A(i,k) ⊗ X(k,j), A in CSR, X and Y dense and row-major. A group of LANES threads handles a row
// of A and LANES · PACKS · VEC columns of X; a thread has PACKS packs of VEC neighboring columns, each one load, and
// folds its columns in the order of k. Rows of more than SPLIT entries are divided into parts of SPLIT, each folded by
// a group; `spmm_join` folds the parts of a row in order. The bits therefore depend only on a row's entries. Defined by
// the host: `Ring`, `Offset`, `SPLIT`, `LANES`, `VEC`, `PACKS`, `DEEP`.
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::A A;
typedef Ring::B B;
typedef Ring::Out Out;

// Distance in columns between consecutive packs of a thread.
constexpr u32 STEP = LANES * VEC;
template <class T> struct alignas(VEC == 1 ? alignof(T) : sizeof(T) * VEC) Pack { T of[VEC]; };

// Grid: one group per (part, or undivided row; chunk of columns), chunks fastest; blocks of 256. Groups of parts come
// first, because they have the most work. part_row[t], part_start[t] = the row of part t and its first entry; its sums
// go to row t of `scratch`.
BOUNDED_KERNEL((256), spmm_rows, const Offset* __restrict__ row_ptr, const u32* __restrict__ col_idx,
                                 const A* __restrict__ values, u64 nrows, const B* __restrict__ x, u64 columns, u64 chunks,
                                 u64 parts, const u64* __restrict__ part_row, const u64* __restrict__ part_start,
                                 Out* __restrict__ scratch, Out* __restrict__ y) {
  const u64 group = ((u64)blockIdx.x * 256 + threadIdx.x) / LANES;
  const u64 line = chunks == 1 ? group : group / chunks;
  if (line >= parts + nrows) return;
  const u64 column = (group - line * chunks) * (STEP * PACKS) + threadIdx.x % LANES * VEC;
  const bool is_part = line < parts;
  const u64 row = is_part ? part_row[line] : line - parts;
  const u64 start = is_part ? part_start[line] : (u64)row_ptr[row];
  u64 entries = row_ptr[row + 1] - start;
  if (entries > SPLIT) {
    if (!is_part && parts != 0) return;
    if (is_part) entries = SPLIT;
  }
  const u32* inner = col_idx + start;
  const A* left = values + start;
  Out sum[PACKS][VEC];
#pragma unroll
  for (u32 c = 0; c < PACKS; ++c)
#pragma unroll
    for (u32 v = 0; v < VEC; ++v) sum[c][v] = Ring::zero();
  for (u64 p = 0; p < entries; p += DEEP) {
    u32 k[DEEP];
    A a[DEEP];
    Pack<B> b[DEEP][PACKS];
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u)
      if (p + u < entries) k[u] = inner[p + u], a[u] = left[p + u];
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u)
#pragma unroll
      for (u32 c = 0; c < PACKS; ++c)
        if (p + u < entries && column + c * STEP < columns)
          b[u][c] = *(const Pack<B>*)(x + (k[u] * columns + column + c * STEP));
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u)
#pragma unroll
      for (u32 c = 0; c < PACKS; ++c)
        if (p + u < entries && column + c * STEP < columns)
#pragma unroll
          for (u32 v = 0; v < VEC; ++v)
            sum[c][v] = Ring::add(sum[c][v], Ring::mul(a[u], b[u][c].of[v], row, k[u], column + c * STEP + v));
  }
  Out* to = is_part ? scratch + line * columns : y + row * columns;
#pragma unroll
  for (u32 c = 0; c < PACKS; ++c)
    if (column + c * STEP < columns) {
      Pack<Out> out;
#pragma unroll
      for (u32 v = 0; v < VEC; ++v) out.of[v] = sum[c][v];
      *(Pack<Out>*)(to + column + c * STEP) = out;
    }
}

// Long row r is row long_row[r], whose parts are rows long_first[r], … of `scratch`. Grid: one thread per long row and
// column, columns fastest.
BOUNDED_KERNEL((256), spmm_join, const Offset* __restrict__ row_ptr, u64 rows, const u64* __restrict__ long_row,
                                 const u64* __restrict__ long_first, const Out* __restrict__ scratch, u64 columns,
                                 Out* __restrict__ y) {
  constexpr u32 AHEAD = sizeof(Out) <= 8 ? 8 : 2;
  const u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
  if (at >= rows * columns) return;
  const u64 r = at / columns, column = at - r * columns, row = long_row[r];
  const u64 parts = (row_ptr[row + 1] - row_ptr[row] + (SPLIT - 1)) / SPLIT;
  const Out* from = scratch + (long_first[r] * columns + column);
  Out sum = from[0];
  for (u64 t = 1; t < parts; t += AHEAD) {
    Out next[AHEAD];
#pragma unroll
    for (u32 u = 0; u < AHEAD; ++u)
      if (t + u < parts) next[u] = from[(t + u) * columns];
#pragma unroll
    for (u32 u = 0; u < AHEAD; ++u)
      if (t + u < parts) sum = Ring::add(sum, next[u]);
  }
  y[row * columns + column] = sum;
}

}  // namespace kernels
