// graph_rank.cu: what a step of PageRank does beside y = Aᵀ x. Sums over all vertices are made of sums of BLOCK * EACH
// of them, in order, so that they are the same in every run. Set in front: `Offset`.
#include "graph.cuh"
constexpr u32 BLOCK = 256, EACH = 4;

// Adds up what each thread has, over a block.
__device__ inline void told_by_block(double change, double lost, double* room, double* sums) {
  change = block_sum(change, room);
  lost = block_sum(lost, room);
  if (threadIdx.x == 0) sums[2 * blockIdx.x] = change, sums[2 * blockIdx.x + 1] = lost;
}

// share[v] = damping / s(v), 0 where s(v) is: s(v) is the degree, or strengths[v]. Grid: a thread a vertex.
KERNEL(rank_shares, const Offset* ptr, const double* strengths, u64 n, double damping, double* share) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const double strength = strengths == nullptr ? (double)(ptr[v + 1] - ptr[v]) : strengths[v];
  share[v] = strength > 0 ? damping / strength : 0;
}
// ranks = p, then in each step ranks = rest * p + pulled; p = jumps, or even. total[0] is the change of all ranks in
// the step before, total[1] the rank that was lost to it; sums gets those of this step, two numbers a block.
// Grid: BLOCK threads for BLOCK * EACH vertices.
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
  told_by_block(change, lost, room, sums);
}
// total = the sums of `blocks` blocks; what is lost is 0 if `drop`. Grid: one block of 1024 threads.
BOUNDED_KERNEL((1024), rank_total, u64 blocks, u32 drop, const double* sums, double* total) {
  __shared__ double room[33];
  double change = 0, lost = 0;
  for (u64 b = threadIdx.x; b < blocks; b += 1024) change += sums[2 * b], lost += sums[2 * b + 1];
  change = block_sum(change, room);
  lost = block_sum(lost, room);
  if (threadIdx.x == 0) total[0] = change, total[1] = drop ? 0.0 : lost;
}
