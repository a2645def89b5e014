// vector.cu: vectors that have a value at every place, at the places of a bitmap, or at those of an increasing list.
// `present` is null where every place has an entry; `places` is null where entry p stands at place p. Values at places
// without an entry are never looked at, but by what moves them unseen.
// Grid: a thread an entry or a place. Set in front, and with it the kernels that there are: PLACES; MOVES and `Value`
// (plain words as large as a value); NONZERO and `Part` (what a number is made of); struct Op and APPLY, AT or EWISE.
#include "parts.cuh"

__device__ inline u64 thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline bool has(const bool* present, u64 i) { return present == nullptr || present[i]; }

#ifdef PLACES
// places[p] = p.
KERNEL(numbers, u64 n, u32* places) {
  const u64 p = thread();
  if (p < n) places[p] = (u32)p;
}
// Row pointers of one row.
KERNEL(one_row, u32 nnz, u32* row_ptr) {
  if (thread() < 2) row_ptr[thread()] = thread() == 0 ? 0 : nnz;
}
KERNEL(set_present, const u32* places, u64 n, bool* present) {
  const u64 p = thread();
  if (p < n) present[places[p]] = true;
}
KERNEL(clear_present, const u32* places, u64 n, bool* present) {
  const u64 p = thread();
  if (p < n) present[places[p]] = false;
}
// total[0] = places with an entry; it is 0 before. The sum of integers is the same in any order.
KERNEL(count_present, const bool* present, u64 n, u64* total) {
  const u64 i = thread();
  const u32 found = __ballot_sync(ALL, i < n && present[i]);
  if (lane_id() == 0 && found != 0) atomicAdd(total, (u64)__popc(found));
}
KERNEL(marks_of, const bool* present, u64 n, u32* marks) {
  const u64 i = thread();
  if (i < n) marks[i] = present[i];
}
// marks[p] = 1 if the mask has entry p's place, or with `complement` if it lacks it.
KERNEL(marks_at, const u32* places, u64 n, const bool* mask, u32 complement, u32* marks) {
  const u64 p = thread();
  if (p < n) marks[p] = has(mask, places[p]) != (complement != 0);
}
KERNEL(marks_in, const u32* places, u64 n, const u32* mask, u64 m, u32 complement, u32* marks) {
  const u64 p = thread();
  if (p >= n) return;
  const u64 at = lower_bound(mask, (u64)0, m, places[p]);
  marks[p] = (at < m && mask[at] == places[p]) != (complement != 0);
}
// Places of `a` that the mask has, or with `complement` lacks.
KERNEL(common_places, const bool* a, const bool* mask, u32 complement, u64 n, bool* out) {
  const u64 i = thread();
  if (i < n) out[i] = has(a, i) && has(mask, i) != (complement != 0);
}
// Where the wanted places stand in a list: at[k], and marks[k] = 1 if they do.
KERNEL(find_places, const u32* wanted, u64 n, const u32* places, u64 m, u32* at, u32* marks) {
  const u64 k = thread();
  if (k >= n) return;
  const u64 found = lower_bound(places, (u64)0, m, wanted[k]);
  at[k] = (u32)found;
  marks[k] = found < m && places[found] == wanted[k];
}
// last[place] = 1 + the last k with wanted[k] = place; it is 0 before. The largest is the same in any order.
KERNEL(last_of, const u32* wanted, u64 n, u32* last) {
  const u64 k = thread();
  if (k < n) atomicMax(&last[wanted[k]], (u32)k + 1);
}
#endif

#ifdef MOVES
// to[places[p]] = from[p].
KERNEL(scatter, const u32* places, u64 n, const Value* from, Value* to) {
  const u64 p = thread();
  if (p < n) to[places[p]] = from[p];
}
// to[p] = from[places[p]].
KERNEL(gather, const u32* places, u64 n, const Value* from, Value* to) {
  const u64 p = thread();
  if (p < n) to[p] = from[places[p]];
}
// Entries that are marked, in their order: before[p] = marks before p. The value of entry p is from[at[p]], or from[p].
KERNEL(compact, const u32* places, const u32* at, const Value* from, u64 n, const u32* before, u32* places_out, Value* to) {
  const u64 p = thread();
  if (p >= n || before[p + 1] == before[p]) return;
  places_out[before[p]] = places == nullptr ? (u32)p : places[p];
  to[before[p]] = from[at == nullptr ? p : at[p]];
}
// x[0] at all places without an entry; with `present` null for none, at all places.
KERNEL(fill_absent, const bool* present, const Value* from, const Value* x, u64 n, Value* to) {
  const u64 i = thread();
  if (i < n) to[i] = present != nullptr && present[i] ? from[i] : x[0];
}
// to(wanted[k]) = from(k), of equal places the last; with `scalar`, from[0] everywhere. `to_present` is null if all
// stay.
KERNEL(assign_at, const u32* wanted, u64 n, const u32* last, const bool* present, const Value* from, u32 scalar, bool* to_present,
                  Value* to) {
  const u64 k = thread();
  if (k >= n || last[wanted[k]] != (u32)k + 1) return;
  const bool some = has(present, k);
  if (to_present != nullptr) to_present[wanted[k]] = some;
  if (some) to[wanted[k]] = from[scalar != 0 ? 0 : k];
}
// to(i) = x[0] where the mask has i, or with `complement` lacks it.
KERNEL(assign_where, const bool* mask, u32 complement, const Value* x, u64 n, bool* to_present, Value* to) {
  const u64 i = thread();
  if (i >= n || has(mask, i) == (complement != 0)) return;
  if (to_present != nullptr) to_present[i] = true;
  to[i] = x[0];
}
#endif

#ifdef NONZERO
// Whether a number of `parts` parts is not 0; NaN is not.
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
// A vector is a column: entry i stands at (i, 0). The scalar lies in memory: another one needs no other program.
__device__ inline u64 place_of(const u32* places, u64 p) { return places == nullptr ? p : places[p]; }
#ifndef SELECT
KERNEL(apply_places, const u32* places, const bool* present, const Op::A* a, const Op::S* s, u64 n, Op::Out* out) {
  const u64 p = thread();
  if (p < n && has(present, p)) out[p] = Op::apply(a[p], s[0], place_of(places, p), 0);
}
#else
KERNEL(marks_where, const u32* places, const Op::A* a, const Op::S* s, u64 n, u32* marks) {
  const u64 p = thread();
  if (p < n) marks[p] = Op::apply(a[p], s[0], place_of(places, p), 0) ? 1 : 0;
}
KERNEL(places_where, const bool* present, const Op::A* a, const Op::S* s, u64 n, bool* out) {
  const u64 i = thread();
  if (i < n) out[i] = has(present, i) && Op::apply(a[i], s[0], i, 0);
}
#endif
#endif

#ifdef EWISE
// w(i) = u(i) op v(i) where both have an entry; `w_present` is null if both have all.
KERNEL(both, const bool* u_present, const Op::A* u, const bool* v_present, const Op::B* v, u64 n, bool* w_present, Op::Out* w) {
  const u64 i = thread();
  if (i >= n) return;
  const bool some = has(u_present, i) && has(v_present, i);
  if (w_present != nullptr) w_present[i] = some;
  if (some) w[i] = Op::apply(u[i], v[i]);
}
// The same for a list u, at places where v has an entry, and for a list v.
KERNEL(list_with, const u32* places, const Op::A* u, const Op::B* v, u64 n, Op::Out* w) {
  const u64 p = thread();
  if (p < n) w[p] = Op::apply(u[p], v[places[p]]);
}
KERNEL(with_list, const u32* places, const Op::A* u, const Op::B* v, u64 n, Op::Out* w) {
  const u64 p = thread();
  if (p < n) w[p] = Op::apply(u[places[p]], v[p]);
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
// w(i) where either has an entry; `w_present` is null if one has all.
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
// Without fills: the same into w, which holds one operand, where the other, a list, has entries: w(i) = w(i) op v(i),
// or with `flip` v(i) op w(i).
KERNEL(join_listed, const u32* places, const Op::Out* v, u64 n, u32 flip, bool* w_present, Op::Out* w) {
  const u64 p = thread();
  if (p >= n) return;
  const u32 i = places[p];
  const Op::Out x = v[p];
  if (!has(w_present, i)) w[i] = x;
  else w[i] = flip != 0 ? Op::apply(x, w[i]) : Op::apply(w[i], x);
  if (w_present != nullptr) w_present[i] = true;
}
#endif
// The same for two lists that have at most MOST_LISTED entries together, by one block of 1024 threads. Entry p of u,
// whose place would stand at q in v, goes to p + q less the entries before it that both have; likewise an entry of v.
// *found = entries of w.
constexpr u32 MOST_LISTED = 8192;  // as in src/gpu/vector_ops.rs
BOUNDED_KERNEL((1024), either_listed, const u32* __restrict__ u_places, const Op::A* __restrict__ u, u32 u_len, const Op::A* u_fill,
                                      const u32* __restrict__ v_places, const Op::B* __restrict__ v, u32 v_len, const Op::B* v_fill,
                                      u32* __restrict__ w_places, Op::Out* __restrict__ w, volatile u64* found) {
  constexpr u32 PLACE = (1u << 14) - 1, COUNT = (1u << 13) - 1, BOTH = 1u << 31;
  // Of each entry of u: q, the entries before it that both have, and whether it is one of them.
  __shared__ u32 at[MOST_LISTED];
  __shared__ u32 room[33];
  const u32 t = threadIdx.x;
  for (u32 p = t; p < u_len; p += 1024) {
    const u32 q = lower_bound(v_places, 0u, v_len, u_places[p]);
    at[p] = q | (q < v_len && v_places[q] == u_places[p] ? BOTH : 0);
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
    w_places[to] = u_places[p];
    w[to] = at[p] & BOTH ? Op::apply(u[p], v[q]) : only_u(u[p], v_fill);
  }
  for (u32 q = t; q < v_len; q += 1024) {
    const u32 i = v_places[q], p = lower_bound(u_places, 0u, u_len, i);
    if (p < u_len && u_places[p] == i) continue;
    const u32 to = p + q - (p < u_len ? at[p] >> 14 & COUNT : both);
    w_places[to] = i;
    w[to] = only_v(v[q], u_fill);
  }
  if (t == 0) found[0] = u_len + v_len - both;
}
#endif
