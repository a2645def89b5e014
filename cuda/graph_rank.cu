// graph_rank.cu: the steps of PageRank besides y = Aᵀ x. Sums over all vertices are folded from sums of BLOCK * EACH of
// them, in order, so every run gives the same bits. Defined by the host: `Offset`.
#include "graph.cuh"
#include "index.cuh"
constexpr u32 BLOCK = 256, EACH = 4;

// Adds up the threads' values over a block.
__device__ inline void write_block_sums(double change, double lost, double* room, double* sums) {
  change = block_sum(change, room);
  lost = block_sum(lost, room);
  if (threadIdx.x == 0) sums[2 * blockIdx.x] = change, sums[2 * blockIdx.x + 1] = lost;
}

// share[v] = damping / s(v), 0 if s(v) is 0, where s(v) is the degree, or strengths[v]. Grid: a thread per vertex.
KERNEL(rank_shares, const Offset* ptr, const double* strengths, u64 n, double damping, double* share) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const double strength = strengths == nullptr ? (double)(ptr[v + 1] - ptr[v]) : strengths[v];
  share[v] = strength > 0 ? damping / strength : 0;
}
// Initially ranks = p, then in each step ranks = rest * p + pulled; p = jumps, or uniform. total[0] is the change of
// all ranks in the previous step, total[1] the rank lost to dangling vertices in it; sums receives those of this step,
// two numbers per block. Grid: BLOCK threads per BLOCK * EACH vertices.
BOUNDED_KERNEL((256), rank_step, u64 n, u32 first, double damping, double even, const double* jumps, const double* share,
               const double* pulled, const double* total, double* ranks, double* passed, double* sums) {
  __shared__ double room[33];
  const double rest = (1 - damping) + damping * (first ? 0.0 : total[1]);
  double change = 0, lost = 0;
  for (u32 k = 0; k < EACH; ++k) {
    const u64 v = ((u64)blockIdx.x * EACH + k) * BLOCK + threadIdx.x;
    if (v >= n) break;
    const double p = jumps == nullptr ? even : jumps[v];
    const double rank = first ? p : rest * p + pulled[v], s = share[v];
    change += first ? 0.0 : ::fabs(rank - ranks[v]);
    if (s == 0) lost += rank;
    ranks[v] = rank;
    passed[v] = rank * s;
  }
  write_block_sums(change, lost, room, sums);
}
// total = the sums of `blocks` blocks; the lost rank is 0 if `drop`. Grid: one block of 1024 threads.
BOUNDED_KERNEL((1024), rank_total, u64 blocks, u32 drop, const double* sums, double* total) {
  __shared__ double room[33];
  double change = 0, lost = 0;
  for (u64 b = threadIdx.x; b < blocks; b += 1024) change += sums[2 * b], lost += sums[2 * b + 1];
  change = block_sum(change, room);
  lost = block_sum(lost, room);
  if (threadIdx.x == 0) total[0] = change, total[1] = drop ? 0.0 : lost;
}

// A part of a distributed graph: a block of the adjacency matrix, whose nonempty columns are listed, and the vertices
// of this process. Grids: a thread per row, listed column, bound or vertex; `part_step` as `rank_step`.

// Entries per row, and whether there are any; either may be null.
KERNEL(part_rows, Offsets ptr, u64 n, double* degrees, u32* present) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const u64 count = ptr[v + 1] - ptr[v];
  if (degrees != nullptr) degrees[v] = (double)count;
  if (present != nullptr) present[v] = count > 0;
}
// The nonempty rows, in order, and their row pointers; before[v] = nonempty rows before row v.
KERNEL(part_columns, Offsets ptr, Offsets before, u64 n, u32* columns, Offsets starts) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const u64 from = ptr[v], to = ptr[v + 1];
  if (to > from) columns[before[v]] = (u32)v, starts.set(before[v], from);
  if (v + 1 == n) starts.set(before[n], to);
}
// found[k] = listed columns below bounds[k].
KERNEL(part_below, const u32* columns, u64 count, const u32* bounds, u64 n, u64* found) {
  const u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) found[k] = lower_bound(columns, (u64)0, count, bounds[k]);
}
// at[columns[q] + shift] = first + q: the position of the sum that one process sends for each vertex. `shift` wraps.
KERNEL(part_expect, const u32* columns, u64 count, u32 shift, u32 first, u32* at) {
  const u64 q = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (q < count) at[columns[q] + shift] = first + (u32)q;
}
// `rank_shares` from the sums of `parts` + 1 degrees of each vertex.
KERNEL(part_shares, const double* degrees, const double* others, u32 parts, u64 n, double damping, double* share) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  double degree = degrees[v];
  for (u32 k = 0; k < parts; ++k) degree += others[k * n + v];
  share[v] = degree > 0 ? damping / degree : 0;
}
// `rank_step`, where the pulled rank of a vertex is added up in the order of `sources` processes: sums[at[k * n + v]],
// if process k has one for it.
BOUNDED_KERNEL((256), part_step, u64 n, u32 first, double rest, double even, const double* jumps, const double* share,
               u32 sources, const u32* at, const double* sums, double* ranks, double* passed, double* totals) {
  __shared__ double room[33];
  double change = 0, lost = 0;
  for (u32 k = 0; k < EACH; ++k) {
    const u64 v = ((u64)blockIdx.x * EACH + k) * BLOCK + threadIdx.x;
    if (v >= n) break;
    double pulled = 0;
    for (u32 source = first ? sources : 0; source < sources; ++source) {
      const u32 q = at[source * n + v];
      if (q != NONE) pulled += sums[q];
    }
    const double p = jumps == nullptr ? even : jumps[v];
    const double rank = first ? p : rest * p + pulled, s = share[v];
    change += first ? 0.0 : ::fabs(rank - ranks[v]);
    if (s == 0) lost += rank;
    ranks[v] = rank;
    passed[v] = rank * s;
  }
  write_block_sums(change, lost, room, totals);
}
