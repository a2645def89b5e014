// ewise.cu: C = A op B elementwise, over the intersection or the union of two patterns with sorted rows. Every entry of
// A is looked up in the same row of B. With before[p] = number of entries of A before p that B also has, all positions
// in C follow locally: entry p of A, whose column would be inserted at q in B, goes to p + q - before[p], and likewise
// an entry of B. A huge row is therefore as parallel as many short ones. Grid: one block of 256 threads per tile of
// 1024 entries; or a thread per entry or row. Defined by the host: `struct Op`, `OffsetA`, `OffsetB`, `OffsetBoth` (of
// `before`) and `OffsetC`; UNION for the union; FILLED if absent operands are replaced by a value in memory, so that
// one program serves all fill values.
#include "parts.cuh"
constexpr u32 TILE = 1024;

// positions[p] = position in B of the first entry in p's row whose column is not below that of entry p of A; found[p] =
// 1 if it is equal.
KERNEL(find_in_b, const OffsetA* a_ptr, const u32* a_cols, u64 a_nnz, u64 nrows, const OffsetB* b_ptr, const u32* b_cols,
                  OffsetB* positions, u32* found) {
  __shared__ u64 room[2];
  const Tile t = tile_of(a_ptr, nrows, a_nnz, TILE, room);
  for (u64 p = t.start + threadIdx.x; p < t.end; p += blockDim.x) {
    const u64 i = row_of(a_ptr, t.first_row, t.last_row, p);
    const u32 j = a_cols[p];
    const OffsetB end = b_ptr[i + 1];
    const OffsetB q = lower_bound(b_cols, b_ptr[i], end, j);
    positions[p] = q;
    found[p] = q < end && b_cols[q] == j;
  }
}

#ifndef UNION
KERNEL(intersection_rows, const OffsetA* a_ptr, u64 nrows, const OffsetBoth* before, OffsetC* c_ptr) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= nrows) c_ptr[i] = (OffsetC)before[a_ptr[i]];
}

KERNEL(intersection_fill, const u32* a_cols, const Op::A* a, u64 a_nnz, const Op::B* b, const OffsetB* positions,
                          const OffsetBoth* before, u32* c_cols, Op::Out* c) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= a_nnz) return;
  const OffsetBoth to = before[p];
  if (before[p + 1] == to) return;
  c_cols[to] = a_cols[p];
  c[to] = Op::apply(a[p], b[positions[p]]);
}
#else
KERNEL(union_rows, const OffsetA* a_ptr, const OffsetB* b_ptr, u64 nrows, const OffsetBoth* before, OffsetC* c_ptr) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i > nrows) return;
  const u64 p = a_ptr[i];
  c_ptr[i] = (OffsetC)(p + b_ptr[i] - before[p]);
}

#ifdef FILLED
__device__ inline Op::Out only_a(const Op::A& x, const Op::B* fill) { return Op::apply(x, *fill); }
__device__ inline Op::Out only_b(const Op::B& y, const Op::A* fill) { return Op::apply(*fill, y); }
#else
__device__ inline Op::Out only_a(const Op::A& x, const Op::B*) { return x; }
__device__ inline Op::Out only_b(const Op::B& y, const Op::A*) { return y; }
#endif

// Entries of A, with B or without.
KERNEL(union_from_a, const u32* a_cols, const Op::A* a, u64 a_nnz, const Op::B* b, const Op::B* b_fill, const OffsetB* positions,
                     const OffsetBoth* before, u32* c_cols, Op::Out* c) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= a_nnz) return;
  const OffsetB q = positions[p];
  const u64 to = p + q - before[p];
  c_cols[to] = a_cols[p];
  c[to] = before[p + 1] > before[p] ? Op::apply(a[p], b[q]) : only_a(a[p], b_fill);
}

// Entries of B only.
KERNEL(union_from_b, const OffsetB* b_ptr, const u32* b_cols, const Op::B* b, u64 b_nnz, u64 nrows, const OffsetA* a_ptr,
                     const u32* a_cols, const Op::A* a_fill, const OffsetBoth* before, u32* c_cols, Op::Out* c) {
  __shared__ u64 room[2];
  const Tile t = tile_of(b_ptr, nrows, b_nnz, TILE, room);
  for (u64 q = t.start + threadIdx.x; q < t.end; q += blockDim.x) {
    const u64 i = row_of(b_ptr, t.first_row, t.last_row, q);
    const u32 j = b_cols[q];
    const OffsetA end = a_ptr[i + 1];
    const OffsetA p = lower_bound(a_cols, a_ptr[i], end, j);
    if (p < end && a_cols[p] == j) continue;
    const u64 to = (u64)p + q - before[p];
    c_cols[to] = j;
    c[to] = only_b(b[q], a_fill);
  }
}
#endif
