// distance_shared.cu: nearest neighbours where few pairs share a column. The pairs of rows of X and Y that share one
// are the pattern of a product, X·Yᵀ, whose values are their sums. The distances of all other rows depend only on their
// norms, so as many as needed are taken in norm order. Defined by the host: `T` (of results), and the names in
// distance.cuh and neighbours.cuh. Source: the CPU's version is src/distance/by_columns.rs.
#define IN_ANY_ORDER true
#include "distance.cuh"
#include "neighbours.cuh"

constexpr u32 CUT = 1u << 31;

// The code of row j of Y, in lanes where `valid`. Called by all lanes.
__device__ inline u64 code_of_row(const Rows<OffsetX>& x, u64 i, const Rows<OffsetY>& y, u32 j, bool valid, W sum,
                                  W shared, u64 self) {
  W key = 0;
  bool again = false;
  if (valid) key = key_of_sum(x, i, y, j, sum, shared, again);
  // A row is at distance 0 from itself; NaN is retained.
  if (Recipe::zero_self && j == self && key == key) key = 0, again = false;
  if (REFINES) {
    for (u32 left = __ballot_sync(ALL, again); left; left &= left - 1) {
      const u32 lane = __ffs(left) - 1, other = __shfl_sync(ALL, j, lane);
      const W exact = exact_sum(x, i, y, other);
      if (lane_id() == lane) key = key_from_exact(x, i, y, other, exact);
    }
  }
  return valid ? code_of_distance((T)Recipe::finish(key)) : FARTHEST;
}

// codes (of distances) and ids of the k nearest of each row, nearest first. Row i of the product begins at s_ptr[i];
// `order` has the first rows of Y by norm, ties by increasing index; ends[p] is the end of the rows with the norm of
// order[p], flagged CUT if further rows of that norm are left out. The order contains all rows, or all norms, or
// unfinished[0] is set if it does not suffice. Indices in Y begin at first_y. Grid: blocks of one warp, one row each.
BOUNDED_KERNEL((32, 24), nearest_sharing, const OffsetX* x_ptr, const u32* x_cols, const W* x_values, const W* x_norm0,
               const W* x_norm1, const OffsetY* y_ptr, const u32* y_cols, const W* y_values, const W* y_norm0,
               const W* y_norm1, const OffsetS* s_ptr, const u32* s_cols, const W* s_sums, const W* s_shared,
               const u32* order, const u32* ends, u64 ordered, u32 has_all, u32 has_all_norms, u32 same,
               u64 shift, u32 first_y, u32 k, u32 exclude_self, u64* codes, u32* ids, u32* unfinished) {
  extern __shared__ __align__(16) unsigned char room[];
  const Rows<OffsetX> x = {x_ptr, x_cols, x_values, x_norm0, x_norm1};
  const Rows<OffsetY> y = {y_ptr, y_cols, y_values, y_norm0, y_norm1};
  const u64 i = blockIdx.x, place = i * k, self = same ? i + shift : ~0ull;
  const u32 lane = lane_id();
  List list = IN_SHARED ? List(k, (u64*)room, (u32*)((u64*)room + k)) : List(k, codes + place, ids + place);
  const u64 begin = s_ptr[i], end = s_ptr[i + 1];
  for (u64 base = begin; base < end; base += 32) {
    const u64 p = base + lane;
    const bool valid = p < end;
    const u32 j = valid ? s_cols[p] : 0;
    const W sum = valid ? s_sums[p] : W(0), shared = Recipe::counts && valid ? s_shared[p] : W(0);
    const u64 code = code_of_row(x, i, y, j, valid, sum, shared, self);
    offer(list, valid && !(exclude_self && j == self), code, first_y + j);
  }
  // Rows missing from `order` may be nearer: those of a norm that is cut, or of norms beyond the last.
  bool closed = has_all, open = false;
  for (u64 base = 0; base < ordered;) {
    const u64 p = base + lane;
    const bool valid = p < ordered;
    const u32 j = valid ? order[p] : 0, end_of_norm = valid ? ends[p] : 0;
    const u64 code = code_of_row(x, i, y, j, valid, 0, 0, self);
    // All following rows are at least as far as the first.
    if (__shfl_sync(ALL, code, 0) > list.worst) { closed = true; break; }
    const u64 at = lower_bound(s_cols, begin, end, j);
    const bool other = valid && !(at < end && s_cols[at] == j) && !(exclude_self && j == self);
    offer(list, other, code, first_y + j);
    const bool taken = takes(list, code, first_y + j);
    open |= __any_sync(ALL, valid && taken && end_of_norm == (CUT | (u32)(p + 1)));
    // If the last one is rejected, so are the following rows of its norm.
    const u32 last = ordered - base < 32 ? (u32)(ordered - base) - 1 : 31;
    const u32 behind = __shfl_sync(ALL, end_of_norm, last) & ~CUT;
    base = __shfl_sync(ALL, taken, last) ? base + 32 : behind;
    if (base >= ordered) closed |= has_all_norms || __shfl_sync(ALL, code, last) > list.worst;
  }
  if ((open || !closed) && lane == 0) unfinished[0] = 1;
  list.write(codes + place, ids + place);
}
