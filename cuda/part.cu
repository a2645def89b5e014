// part.cu: extract and assign by index lists: A(I, J), the matrix whose part (I, J) is A, the entries in (I, J), and C
// with that part replaced. Row r of a result comes from a source row of A: I(r), or with `inverse` the p with I(p) = r.
// For whole rows or a range of their columns, each entry of the result locates its source. Otherwise a bitmap marks the
// entries, and the marked ones are compacted in order. A huge row is as parallel as many short ones. Grid: one block of
// 256 threads per tile of 1024 entries, or a thread per item. The host defines `Value`, plain words of a value's size.
#include "index.cuh"
constexpr u32 TILE = 1024, EACH = TILE / 256;

__device__ inline u64 source_of(const List& rows, u32 inverse, u64 r) { return inverse ? rows.find(r) : rows.at(r); }

// counts[r] = entries of the source of row r with a column in [from, to), after skipped[r] others. Without `skipped`,
// all its entries.
KERNEL(part_counts, Offsets a_ptr, const u32* a_cols, List rows, u32 inverse, u64 nrows, u32 from, u32 to, u32* skipped,
                    u32* counts) {
  const u64 r = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= nrows) return;
  const u64 i = source_of(rows, inverse, r);
  u64 count = 0;
  if (i != ABSENT) {
    const u64 start = a_ptr[i], end = a_ptr[i + 1];
    count = end - start;
    if (skipped != nullptr) {
      const u64 first = lower_bound(a_cols, start, end, from);
      skipped[r] = (u32)(first - start);
      count = lower_bound(a_cols, first, end, to) - first;
    }
  }
  counts[r] = (u32)count;
}

// Copies the counted entries; column j becomes cols.at(j).
KERNEL(part_fill, Offsets a_ptr, const u32* a_cols, const Value* a, List rows, u32 inverse, const u32* skipped, List cols,
                  Offsets c_ptr, u64 nrows, u64 nnz, u32* c_cols, Value* c) {
  __shared__ u64 room[2];
  const Tile t = tile_of(c_ptr, nrows, nnz, TILE, room);
  for (u64 q = t.start + threadIdx.x; q < t.end; q += blockDim.x) {
    const u64 r = row_of(c_ptr, t.first_row, t.last_row, q);
    const u64 first = a_ptr[source_of(rows, inverse, r)] + (skipped != nullptr ? skipped[r] : 0);
    const u64 p = first + (q - c_ptr[r]);
    c_cols[q] = (u32)cols.at(a_cols[p]);
    c[q] = a[p];
  }
}

// Writes the bitmap word of a warp's 32 entries and its population count; every lane calls it.
__device__ inline void mark(bool marked, u64 v, u64 nnz, u32* words, u32* counts) {
  const u32 word = __ballot_sync(ALL, marked);
  if (lane_id() == 0 && v < nnz) {
    words[v >> 5] = word;
    counts[v >> 5] = __popc(word);
  }
}

// Marks the entries of A(I, :), whose row pointers are v_ptr, with a column in J.
KERNEL(part_marks, Offsets a_ptr, const u32* a_cols, List rows, Offsets v_ptr, u64 nrows, u64 nnz, List cols, u32* words,
                   u32* counts) {
  __shared__ u64 room[2];
  const Tile t = tile_of(v_ptr, nrows, nnz, TILE, room);
  for (u32 e = 0; e < EACH; ++e) {
    const u64 v = t.start + e * 256 + threadIdx.x;
    bool marked = false;
    if (v < t.end) {
      const u64 r = row_of(v_ptr, t.first_row, t.last_row, v);
      marked = cols.find(a_cols[a_ptr[rows.at(r)] + (v - v_ptr[r])]) != ABSENT;
    }
    mark(marked, v, nnz, words, counts);
  }
}

// Marks the entries of A in (I, J), or with `outside` the others. With a mask, whose rows are sorted, (I, J) is
// restricted to the mask's pattern, or with `complement` to the rest.
KERNEL(within_marks, Offsets a_ptr, const u32* a_cols, u64 nrows, u64 nnz, List rows, List cols, u32 outside,
                     Offsets m_ptr, const u32* m_cols, u32 complement, u32* words, u32* counts) {
  __shared__ u64 room[2];
  const Tile t = tile_of(a_ptr, nrows, nnz, TILE, room);
  for (u32 e = 0; e < EACH; ++e) {
    const u64 v = t.start + e * 256 + threadIdx.x;
    bool within = false;
    if (v < t.end) {
      const u64 i = row_of(a_ptr, t.first_row, t.last_row, v), j = a_cols[v];
      within = rows.find(i) != ABSENT && cols.find(j) != ABSENT;
      if (within && m_cols != nullptr) within = (entry_of(m_ptr, m_cols, i, j) != ABSENT) != (complement != 0);
    }
    mark(v < t.end && within == (outside == 0), v, nnz, words, counts);
  }
}

// Row pointers of the marked entries, plus those of T if it is given.
KERNEL(marked_rows, Offsets v_ptr, Marks marks, Offsets t_ptr, u64 nrows, Offsets c_ptr) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= nrows) c_ptr.set(i, marks.rank(v_ptr[i]) + (t_ptr.at != nullptr ? t_ptr[i] : 0));
}

// Copies the marked entries of A(I, :); with `inverse`, column j becomes the q with J(q) = j.
KERNEL(marked_fill, Offsets a_ptr, const u32* a_cols, const Value* a, List rows, Offsets v_ptr, u64 nrows, u64 nnz,
                    List cols, u32 inverse, Marks marks, u32* c_cols, Value* c) {
  __shared__ u64 room[2];
  const Tile t = tile_of(v_ptr, nrows, nnz, TILE, room);
  for (u64 v = t.start + threadIdx.x; v < t.end; v += blockDim.x) {
    if (!marks.has(v)) continue;
    const u64 r = row_of(v_ptr, t.first_row, t.last_row, v), p = a_ptr[rows.at(r)] + (v - v_ptr[r]);
    const u64 to = marks.rank(v);
    const u32 j = a_cols[p];
    c_cols[to] = inverse ? (u32)cols.find(j) : j;
    c[to] = a[p];
  }
}

// Merges the retained entries of C with those of T, whose positions are disjoint; rows stay sorted.
KERNEL(merge_kept, Offsets c_ptr, const u32* c_cols, const Value* c, u64 nrows, u64 nnz, Marks kept, Offsets t_ptr,
                   const u32* t_cols, u32* z_cols, Value* z) {
  __shared__ u64 room[2];
  const Tile t = tile_of(c_ptr, nrows, nnz, TILE, room);
  for (u64 v = t.start + threadIdx.x; v < t.end; v += blockDim.x) {
    if (!kept.has(v)) continue;
    const u64 i = row_of(c_ptr, t.first_row, t.last_row, v);
    const u32 j = c_cols[v];
    const u64 to = kept.rank(v) + lower_bound(t_cols, t_ptr[i], t_ptr[i + 1], j);
    z_cols[to] = j;
    z[to] = c[v];
  }
}
KERNEL(merge_placed, Offsets t_ptr, const u32* t_cols, const Value* t, u64 nrows, u64 nnz, Offsets c_ptr,
                     const u32* c_cols, Marks kept, u32* z_cols, Value* z) {
  __shared__ u64 room[2];
  const Tile tile = tile_of(t_ptr, nrows, nnz, TILE, room);
  for (u64 q = tile.start + threadIdx.x; q < tile.end; q += blockDim.x) {
    const u64 i = row_of(t_ptr, tile.first_row, tile.last_row, q);
    const u32 j = t_cols[q];
    const u64 to = q + kept.rank(lower_bound(c_cols, c_ptr[i], c_ptr[i + 1], j));
    z_cols[to] = j;
    z[to] = t[q];
  }
}

// Counts each entry of A once per occurrence of its column in J. `keys` is J, stably sorted; positions[p] is the
// original position of keys[p].
KERNEL(repeat_counts, const u32* a_cols, u64 nnz, const u32* keys, u64 len, u32* counts) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= nnz) return;
  const u64 first = lower_bound(keys, (u64)0, len, a_cols[p]);
  counts[p] = (u32)(lower_bound(keys, first, len, a_cols[p] + 1) - first);
}
KERNEL(repeat_rows, Offsets a_ptr, u64 nrows, Offsets before, Offsets c_ptr) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= nrows) c_ptr.set(i, before[a_ptr[i]]);
}
// Each entry of the result locates the entry of A that it repeats.
KERNEL(repeat_fill, const u32* a_cols, const Value* a, u64 a_nnz, const u32* keys, u64 len, Offsets positions,
                    Offsets before, u64 nnz, u32* c_cols, Value* c) {
  __shared__ u64 room[2];
  const Tile t = tile_of(before, a_nnz, nnz, TILE, room);
  for (u64 q = t.start + threadIdx.x; q < t.end; q += blockDim.x) {
    const u64 p = row_of(before, t.first_row, t.last_row, q);
    c_cols[q] = (u32)positions[lower_bound(keys, (u64)0, len, a_cols[p]) + (q - before[p])];
    c[q] = a[p];
  }
}

// A full matrix of `ncols` columns.
KERNEL(full_rows, u64 nrows, u64 ncols, Offsets row_ptr) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= nrows) row_ptr.set(i, i * ncols);
}
KERNEL(full_fill, u64 nnz, u64 ncols, const Value* x, u32* cols, Value* values) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= nnz) return;
  cols[p] = (u32)(p % ncols);
  values[p] = x[0];
}
