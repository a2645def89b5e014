// spgemm_folds.cu: for a reused plan of a small product: the products folded into each entry of C, and their order.
// Every product gets the index of its entry here, in the order of A's entries; a stable sort (transpose.cu) does the
// rest. Defined by the host: OffsetA, OffsetB, OffsetC.
#include "parts.cuh"

// lengths[e] = products of A's entry e.
KERNEL(fold_lengths, u32 n, const u32* a_col, const OffsetB* b_ptr, u32* lengths) {
  const u32 e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < n) lengths[e] = (u32)(b_ptr[a_col[e] + 1] - b_ptr[a_col[e]]);
}

// For every product: its entry of C, nnz if C lacks it, and its entries of A and B. The products of A's entry e begin
// at place[e]; a warp per e.
KERNEL(fold_products, u32 nrows, u32 n, const OffsetA* a_ptr, const u32* a_col, const OffsetB* b_ptr, const u32* b_col, const OffsetC* c_ptr,
                      const u32* c_col, u32 nnz, const u32* place, u32* entries, u32* left, u32* right) {
  const u32 e = (u32)(((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (e >= n) return;
  const u32 row = (u32)row_of(a_ptr, 0, nrows - 1, e);
  const OffsetC begin = c_ptr[row], end = c_ptr[row + 1];
  const OffsetB start = b_ptr[a_col[e]];
  const u32 length = (u32)(b_ptr[a_col[e] + 1] - start), to = place[e];
  for (u32 o = lane_id(); o < length; o += 32) {
    const u32 j = b_col[start + o];
    const OffsetC at = lower_bound(c_col, begin, end, j);
    entries[to + o] = at < end && c_col[at] == j ? (u32)at : nnz;
    left[to + o] = e;
    right[to + o] = (u32)start + o;
  }
}

// first[t] = the first entry of C whose products begin at t · tile or later, and where they begin; first[tiles] is one
// past the last. The products of entry e begin at at[e].
KERNEL(fold_tiles, u32 nnz, const u32* at, u32 tile, u32 tiles, uint2* first) {
  const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t > tiles) return;
  const u32 e = t == tiles ? nnz : lower_bound(at, 0u, nnz, t * tile);
  first[t] = uint2{e, at[e]};
}
