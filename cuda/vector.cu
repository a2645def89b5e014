// vector.cu: vectors that are full, have a bitmap, or have an increasing index list. `present` is null for a full
// vector; `indices` is null if entry p has index p. Values at positions without an entry are never interpreted; only
// plain copies touch them. Grid: a thread per entry or position. Defined by the host, each with its kernels: PLACES;
// MOVES and `Value`, plain words of a value's size; NONZERO and `Part`, the parts of a number; struct Op and APPLY, AT
// or EWISE.
#include "parts.cuh"

__device__ inline u64 thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline bool has(const bool* present, u64 i) { return present == nullptr || present[i]; }

#ifdef PLACES
// indices[p] = p.
KERNEL(numbers, u64 n, u32* indices) {
  const u64 p = thread();
  if (p < n) indices[p] = (u32)p;
}
// Row pointers of one row.
KERNEL(one_row, u32 nnz, u32* row_ptr) {
  if (thread() < 2) row_ptr[thread()] = thread() == 0 ? 0 : nnz;
}
KERNEL(set_present, const u32* indices, u64 n, bool* present) {
  const u64 p = thread();
  if (p < n) present[indices[p]] = true;
}
KERNEL(clear_present, const u32* indices, u64 n, bool* present) {
  const u64 p = thread();
  if (p < n) present[indices[p]] = false;
}
// total[0] = number of entries; initially 0. Integer sums do not depend on the order.
KERNEL(count_present, const bool* present, u64 n, u64* total) {
  const u64 i = thread();
  const u32 found = __ballot_sync(ALL, i < n && present[i]);
  if (lane_id() == 0 && found != 0) atomicAdd(total, (u64)__popc(found));
}
KERNEL(marks_of, const bool* present, u64 n, u32* marks) {
  const u64 i = thread();
  if (i < n) marks[i] = present[i];
}
// marks[p] = 1 if the mask allows the index of entry p: it has an entry there, or with `complement` has none.
KERNEL(marks_at, const u32* indices, u64 n, const bool* mask, u32 complement, u32* marks) {
  const u64 p = thread();
  if (p < n) marks[p] = has(mask, indices[p]) != (complement != 0);
}
KERNEL(marks_in, const u32* indices, u64 n, const u32* mask, u64 m, u32 complement, u32* marks) {
  const u64 p = thread();
  if (p >= n) return;
  const u64 at = lower_bound(mask, (u64)0, m, indices[p]);
  marks[p] = (at < m && mask[at] == indices[p]) != (complement != 0);
}
// Bitmap of `a` restricted to the mask, or with `complement` to its complement.
KERNEL(common_places, const bool* a, const bool* mask, u32 complement, u64 n, bool* out) {
  const u64 i = thread();
  if (i < n) out[i] = has(a, i) && has(mask, i) != (complement != 0);
}
// Looks up the wanted indices in a list: at[k] is the position, and marks[k] = 1 if it exists.
KERNEL(find_places, const u32* wanted, u64 n, const u32* indices, u64 m, u32* at, u32* marks) {
  const u64 k = thread();
  if (k >= n) return;
  const u64 found = lower_bound(indices, (u64)0, m, wanted[k]);
  at[k] = (u32)found;
  marks[k] = found < m && indices[found] == wanted[k];
}
// last[place] = 1 + the last k with wanted[k] = place; initially 0. Integer maxima do not depend on the order.
KERNEL(last_of, const u32* wanted, u64 n, u32* last) {
  const u64 k = thread();
  if (k < n) atomicMax(&last[wanted[k]], (u32)k + 1);
}
#endif

#ifdef MOVES
// to[indices[p]] = from[p].
KERNEL(scatter, const u32* indices, u64 n, const Value* from, Value* to) {
  const u64 p = thread();
  if (p < n) to[indices[p]] = from[p];
}
// to[p] = from[indices[p]].
KERNEL(gather, const u32* indices, u64 n, const Value* from, Value* to) {
  const u64 p = thread();
  if (p < n) to[p] = from[indices[p]];
}
// Compacts the marked entries in order: before[p] = marks before p. The value of entry p is from[at[p]], or from[p].
KERNEL(compact, const u32* indices, const u32* at, const Value* from, u64 n, const u32* before, u32* indices_out, Value* to) {
  const u64 p = thread();
  if (p >= n || before[p + 1] == before[p]) return;
  indices_out[before[p]] = indices == nullptr ? (u32)p : indices[p];
  to[before[p]] = from[at == nullptr ? p : at[p]];
}
// Fills positions without an entry with x[0]; all positions if `present` is null.
KERNEL(fill_absent, const bool* present, const Value* from, const Value* x, u64 n, Value* to) {
  const u64 i = thread();
  if (i < n) to[i] = present != nullptr && present[i] ? from[i] : x[0];
}
// to(wanted[k]) = from(k), the last among equal indices; with `scalar`, from[0] everywhere. `to_present` is null if the
// bitmap does not change.
KERNEL(assign_at, const u32* wanted, u64 n, const u32* last, const bool* present, const Value* from, u32 scalar, bool* to_present,
                  Value* to) {
  const u64 k = thread();
  if (k >= n || last[wanted[k]] != (u32)k + 1) return;
  const bool some = has(present, k);
  if (to_present != nullptr) to_present[wanted[k]] = some;
  if (some) to[wanted[k]] = from[scalar != 0 ? 0 : k];
}
// to(i) = x[0] where the mask has an entry, or with `complement` has none.
KERNEL(assign_where, const bool* mask, u32 complement, const Value* x, u64 n, bool* to_present, Value* to) {
  const u64 i = thread();
  if (i >= n || has(mask, i) == (complement != 0)) return;
  if (to_present != nullptr) to_present[i] = true;
  to[i] = x[0];
}
#endif

#ifdef NONZERO
// Whether a number of `parts` parts differs from 0; NaN does.
__device__ inline bool nonzero(const Part* values, u32 parts, u64 i) {
  return values[i * parts] != Part(0) || (parts == 2 && values[i * parts + 1] != Part(0));
}
KERNEL(marks_nonzero, const Part* values, u32 parts, u64 n, u32* marks) {
  const u64 p = thread();
  if (p < n) marks[p] = nonzero(values, parts, p);
}
KERNEL(places_nonzero, const bool* present, const Part* values, u32 parts, u64 n, bool* out) {
  const u64 i = thread();
  if (i < n) out[i] = has(present, i) && nonzero(values, parts, i);
}
#endif

#ifdef APPLY
KERNEL(apply_present, const bool* present, const Op::A* a, u64 n, Op::Out* out) {
  const u64 i = thread();
  if (i < n && has(present, i)) out[i] = Op::apply(a[i]);
}
#endif

#ifdef AT
// A vector is a column: entry i is at (i, 0). The scalar is in memory, so that one program serves all scalars.
__device__ inline u64 index_of(const u32* indices, u64 p) { return indices == nullptr ? p : indices[p]; }
#ifndef SELECT
KERNEL(apply_places, const u32* indices, const bool* present, const Op::A* a, const Op::S* s, u64 n, Op::Out* out) {
  const u64 p = thread();
  if (p < n && has(present, p)) out[p] = Op::apply(a[p], s[0], index_of(indices, p), 0);
}
#else
KERNEL(marks_where, const u32* indices, const Op::A* a, const Op::S* s, u64 n, u32* marks) {
  const u64 p = thread();
  if (p < n) marks[p] = Op::apply(a[p], s[0], index_of(indices, p), 0) ? 1 : 0;
}
KERNEL(places_where, const bool* present, const Op::A* a, const Op::S* s, u64 n, bool* out) {
  const u64 i = thread();
  if (i < n) out[i] = has(present, i) && Op::apply(a[i], s[0], i, 0);
}
#endif
#endif

#ifdef EWISE
// w(i) = u(i) op v(i) where both have an entry; `w_present` is null if both are full.
KERNEL(both, const bool* u_present, const Op::A* u, const bool* v_present, const Op::B* v, u64 n, bool* w_present, Op::Out* w) {
  const u64 i = thread();
  if (i >= n) return;
  const bool some = has(u_present, i) && has(v_present, i);
  if (w_present != nullptr) w_present[i] = some;
  if (some) w[i] = Op::apply(u[i], v[i]);
}
// The same for an index list u, where v has an entry, and for an index list v.
KERNEL(list_with, const u32* indices, const Op::A* u, const Op::B* v, u64 n, Op::Out* w) {
  const u64 p = thread();
  if (p < n) w[p] = Op::apply(u[p], v[indices[p]]);
}
KERNEL(with_list, const u32* indices, const Op::A* u, const Op::B* v, u64 n, Op::Out* w) {
  const u64 p = thread();
  if (p < n) w[p] = Op::apply(u[indices[p]], v[p]);
}
#endif

#ifdef UNION
#ifdef FILLED
__device__ inline Op::Out only_u(const Op::A& x, const Op::B* fill) { return Op::apply(x, *fill); }
__device__ inline Op::Out only_v(const Op::B& y, const Op::A* fill) { return Op::apply(*fill, y); }
#else
__device__ inline Op::Out only_u(const Op::A& x, const Op::B*) { return x; }
__device__ inline Op::Out only_v(const Op::B& y, const Op::A*) { return y; }
#endif
// w(i) where either has an entry; `w_present` is null if one is full.
KERNEL(either, const bool* u_present, const Op::A* u, const Op::A* u_fill, const bool* v_present, const Op::B* v,
               const Op::B* v_fill, u64 n, bool* w_present, Op::Out* w) {
  const u64 i = thread();
  if (i >= n) return;
  const bool of_u = has(u_present, i), of_v = has(v_present, i);
  if (w_present != nullptr) w_present[i] = of_u || of_v;
  if (of_u && of_v) w[i] = Op::apply(u[i], v[i]);
  else if (of_u) w[i] = only_u(u[i], v_fill);
  else if (of_v) w[i] = only_v(v[i], u_fill);
}
#ifndef FILLED
// Without fills: updates w, which holds one operand, at the entries of the other, an index list: w(i) = w(i) op v(i),
// or with `flip` v(i) op w(i).
KERNEL(join_listed, const u32* indices, const Op::Out* v, u64 n, u32 flip, bool* w_present, Op::Out* w) {
  const u64 p = thread();
  if (p >= n) return;
  const u32 i = indices[p];
  const Op::Out x = v[p];
  if (!has(w_present, i)) w[i] = x;
  else w[i] = flip != 0 ? Op::apply(x, w[i]) : Op::apply(w[i], x);
  if (w_present != nullptr) w_present[i] = true;
}
#endif
// The same for two index lists of at most MOST_LISTED entries together, by one block of 1024 threads. Entry p of u,
// whose index would be inserted at q in v, goes to p + q minus the preceding common entries; likewise an entry of v.
// *found = entries of w.
constexpr u32 MOST_LISTED = 8192;  // as in src/gpu/vector_ops.rs
BOUNDED_KERNEL((1024), either_listed, const u32* __restrict__ u_indices, const Op::A* __restrict__ u, u32 u_len, const Op::A* u_fill,
                                      const u32* __restrict__ v_indices, const Op::B* __restrict__ v, u32 v_len, const Op::B* v_fill,
                                      u32* __restrict__ w_indices, Op::Out* __restrict__ w, volatile u64* found) {
  constexpr u32 PLACE = (1u << 14) - 1, COUNT = (1u << 13) - 1, BOTH = 1u << 31;
  // For each entry of u: q, the number of preceding common entries, and whether it is one of them.
  __shared__ u32 at[MOST_LISTED];
  __shared__ u32 room[33];
  const u32 t = threadIdx.x;
  for (u32 p = t; p < u_len; p += 1024) {
    const u32 q = lower_bound(v_indices, 0u, v_len, u_indices[p]);
    at[p] = q | (q < v_len && v_indices[q] == u_indices[p] ? BOTH : 0);
  }
  __syncthreads();
  const u32 each = (u_len + 1023) / 1024;
  const u32 start = t * each < u_len ? t * each : u_len, end = start + each < u_len ? start + each : u_len;
  u32 mine = 0, both;
  for (u32 p = start; p < end; ++p) mine += at[p] >> 31;
  u32 before = block_exclusive_sum(mine, room, both);
  for (u32 p = start; p < end; ++p) {
    const u32 own = at[p] >> 31;
    at[p] |= before << 14;
    before += own;
  }
  __syncthreads();
  for (u32 p = t; p < u_len; p += 1024) {
    const u32 q = at[p] & PLACE, to = p + q - (at[p] >> 14 & COUNT);
    w_indices[to] = u_indices[p];
    w[to] = at[p] & BOTH ? Op::apply(u[p], v[q]) : only_u(u[p], v_fill);
  }
  for (u32 q = t; q < v_len; q += 1024) {
    const u32 i = v_indices[q], p = lower_bound(u_indices, 0u, u_len, i);
    if (p < u_len && u_indices[p] == i) continue;
    const u32 to = p + q - (p < u_len ? at[p] >> 14 & COUNT : both);
    w_indices[to] = i;
    w[to] = only_v(v[q], u_fill);
  }
  if (t == 0) found[0] = u_len + v_len - both;
}
#endif
