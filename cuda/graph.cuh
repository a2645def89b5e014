// graph.cuh: teams of blocks that stay resident for a whole search, and their distribution of a frontier's edges. A
// kernel whose teams have several blocks is launched cooperatively. What threads of a team write before `sync` is
// visible to all of them after it. Mutable data is never read through `__ldg` or a `const __restrict__` pointer.
// Defined by the host: `Offset`, the type of row pointers.
#pragma once
#include "parts.cuh"

constexpr u32 UNREACHED = 0xffffffffu;
constexpr u32 LARGE = 256;   // longer lists are split into pieces for whole blocks
constexpr u32 PIECE = 8192;  // edges per piece

// Adjacency lists: list v is ptr[v]..ptr[v + 1].
struct Lists {
  const Offset* ptr;
  const u32* ends;
  __device__ u64 from(u32 v) const { return __ldg(ptr + v); }
  __device__ u64 to(u32 v) const { return __ldg(ptr + v + 1); }
  __device__ u64 degree(u32 v) const { return to(v) - from(v); }
  __device__ u32 end(u64 e) const { return __ldg(ends + e); }
};

// Block `block` of `blocks`, which synchronize on `barrier`, a monotonic counter.
struct Team {
  u64* barrier;
  u32 block, blocks;
  // Divides the grid into teams of equally many consecutive blocks; `teams` divides the grid size. The index of this
  // block's team goes to `team`.
  __device__ static Team of(u64* barriers, u32 teams, u32& team) {
    const u32 each = gridDim.x / teams;
    team = blockIdx.x / each;
    return {barriers + team, blockIdx.x % each, each};
  }
  __device__ u32 threads() const { return blocks * blockDim.x; }
  __device__ u32 thread() const { return block * blockDim.x + threadIdx.x; }
  __device__ u32 warps() const { return threads() / 32; }
  __device__ u32 warp() const { return thread() / 32; }
  __device__ void sync() const {
    __syncthreads();
    if (blocks == 1) return;
    if (threadIdx.x == 0) {
      __threadfence();
      const u64 end = (atomicAdd(barrier, 1ull) / blocks + 1) * blocks;
      while (*(volatile u64*)barrier < end) {}
      __threadfence();
    }
    __syncthreads();
  }
};

// A read that other threads of the team may race with.
template <class T> __device__ inline T now(const T* at) { return *(const volatile T*)at; }

// A list that the threads of a team append to.
struct Queue {
  u32* items;
  u32* count;
  // Appends the items of the lanes with `has`; all lanes of a warp call it.
  __device__ void push(bool has, u32 item) const {
    const u32 lanes = __ballot_sync(ALL, has);
    if (lanes == 0) return;
    u32 at = 0;
    const u32 leader = __ffs(lanes) - 1;
    if (lane_id() == leader) at = atomicAdd(count, __popc(lanes));
    at = __shfl_sync(ALL, at, leader);
    if (has) items[at + __popc(lanes & ((1u << lane_id()) - 1))] = item;
  }
};

// Lists of more than LARGE edges that a team has found: a vertex and the index of a piece of its list. There is room
// for one piece per LARGE edges of the graph.
struct Pieces {
  u64* items;
  u32* count;
  __device__ void push(u32 v, u64 edges) const {
    const u32 pieces = (u32)((edges + PIECE - 1) / PIECE), at = atomicAdd(count, pieces);
    for (u32 p = 0; p < pieces; ++p) items[at + p] = (u64)v << 32 | p;
  }
};

// Calls each(has, v) for the vertices v in queue[0..count), in any order; all lanes of a warp call `each`, with `has`
// in those that have a vertex. A warp takes up to 32 vertices at a time, fewer if other warps would idle.
template <class Each>
__device__ inline void for_vertices(const Team& team, const u32* queue, u32 count, Each each) {
  const u32 share = count / team.warps(), chunk = share < 1 ? 1 : share > 32 ? 32 : share;
  for (u64 base = (u64)team.warp() * chunk; base < count; base += (u64)team.warps() * chunk) {
    const bool has = lane_id() < chunk && base + lane_id() < count;
    each(has, has ? queue[base + lane_id()] : 0);
  }
}

// Calls each(u, e) for every edge e of each vertex u in queue[0..count), in any order; all lanes of a warp call `each`,
// with a flag that is false in lanes without an edge. The edges of a warp's vertices are distributed over its lanes;
// `begin(u)` is called first. Longer lists go to `pieces`, for `expand_rest` or `expand_pieces`.
template <class Begin, class Each>
__device__ inline void expand(const Team& team, const Lists& lists, const u32* queue, u32 count, const Pieces& pieces,
                              Begin begin, Each each) {
  for_vertices(team, queue, count, [&](bool has, u32 u) {
    const u64 from = has ? lists.from(u) : 0, length = has ? lists.to(u) - from : 0;
    if (has) begin(u);
    __syncwarp();
    const bool is_large = length > LARGE;
    if (is_large) pieces.push(u, length);
    const u32 mine = is_large ? 0 : (u32)length;
    const u32 upto = warp_inclusive_sum(mine), all = __shfl_sync(ALL, upto, 31);
    for (u32 first = 0; first < all; first += 32) {
      const u32 k = first + lane_id();
      // The first lane whose sum exceeds k.
      u32 owner = 0;
      for (u32 d = 16; d > 0; d /= 2)
        if (__shfl_sync(ALL, upto, owner + d - 1) <= k) owner += d;
      const u32 before = __shfl_sync(ALL, upto - mine, owner & 31);
      const u64 start = __shfl_sync(ALL, from, owner & 31);
      const u32 vertex = __shfl_sync(ALL, u, owner & 31);
      each(vertex, start + (k - before), k < all);
    }
  });
}
// The same for the `count` pieces that `expand` left, after a sync.
template <class Each>
__device__ inline void expand_pieces(const Team& team, const Lists& lists, const u64* pieces, u32 count, Each each) {
  for (u32 i = team.block; i < count; i += team.blocks) {
    const u64 piece = now(&pieces[i]);
    const u32 u = (u32)(piece >> 32);
    const u64 from = lists.from(u) + (u64)(u32)piece * PIECE, end = lists.to(u);
    const u64 to = from + PIECE < end ? from + PIECE : end;
    for (u64 e = from; e < to; e += blockDim.x) each(u, e + threadIdx.x, e + threadIdx.x < to);
  }
}

// The same for the pieces that `expand` left, with a sync before, and one after if there are any.
template <class Each>
__device__ inline void expand_rest(const Team& team, const Lists& lists, const Pieces& pieces, Each each) {
  team.sync();
  const u32 count = now(pieces.count);
  if (count == 0) return;
  expand_pieces(team, lists, pieces.items, count, each);
  team.sync();
  if (team.thread() == 0) *pieces.count = 0;
}

// Calls done(v, sum) with Σ of(e) over the edges e of each vertex v in queue[0..count). The shape of a sum depends only
// on the length of its list, so every run gives the same bits. A thread adds up to SHORT edges, a warp up to LONG;
// vertices with more are pushed to `longer`, for `fold_longer` after the next sync.
constexpr u32 SHORT = 16, LONG = 2048;
template <class Of, class Done>
__device__ inline void fold(const Team& team, const Lists& lists, const u32* queue, u32 count, const Queue& longer,
                            Of of, Done done) {
  for_vertices(team, queue, count, [&](bool has, u32 v) {
    const u64 from = has ? lists.from(v) : 0, to = has ? lists.to(v) : 0;
    longer.push(to - from > LONG, v);
    if (has && to - from <= SHORT) {
      double sum = 0;
      for (u64 e = from; e < to; ++e) sum += of(e);
      done(v, sum);
    }
    for (u32 lanes = __ballot_sync(ALL, to - from > SHORT && to - from <= LONG); lanes; lanes &= lanes - 1) {
      const u32 lane = __ffs(lanes) - 1, vertex = __shfl_sync(ALL, v, lane);
      const u64 start = __shfl_sync(ALL, from, lane), end = __shfl_sync(ALL, to, lane);
      double sum = 0;
      for (u64 e = start + lane_id(); e < end; e += 32) sum += of(e);
      sum = warp_sum(sum);
      if (lane_id() == 0) done(vertex, sum);
    }
  });
}
// The same for the lists that `fold` left. `room` holds 33 doubles in shared memory.
template <class Of, class Done>
__device__ inline void fold_longer(const Team& team, const Lists& lists, const u32* queue, u32 count, double* room,
                                   Of of, Done done) {
  for (u32 i = team.block; i < count; i += team.blocks) {
    const u32 v = now(&queue[i]);
    const u64 to = lists.to(v);
    double sum = 0;
    for (u64 e = lists.from(v) + threadIdx.x; e < to; e += blockDim.x) sum += of(e);
    sum = block_sum(sum, room);
    if (threadIdx.x == 0) done(v, sum);
  }
}
