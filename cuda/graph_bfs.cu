// graph_bfs.cu: breadth-first search levels in one kernel, with one device-wide barrier per level. Small frontiers
// expand their outgoing edges (top-down); for large ones, unvisited vertices look for a predecessor in the frontier
// (bottom-up; Beamer, Asanović, Patterson 2012), 32 vertices per warp and per word of the frontier bitmap. Defined by
// the host: `Offset`. Levels of few edges are expanded by one block, whose barrier takes a tenth of the device's time.
//
// Lower bound: 4 bytes per inspected edge and a sector of 32 bytes for the level of its end, from L2 where the levels
// fit. R-MAT of scale 20 (31 M entries, some 6 M inspected): 60 µs; a level on a road graph is a barrier (1.5 µs) and
// four dependent reads (2 µs).
#include "graph.cuh"
constexpr u32 ALPHA = 14;  // top-down until the frontier has more than 1/ALPHA of the edges not inspected
constexpr u32 BETA = 24;   // bottom-up while it has more than 1/BETA of the vertices
constexpr u32 FIRST = 8;   // edges that a thread inspects before its warp helps
constexpr u32 ALONE = 2048;  // edges of a level up to which one block expands it

// What a level passes to the next.
struct Level {
  u32 count;   // its vertices
  u32 pieces;  // pieces of its long lists
  u64 edges;   // edges that leave it
};

// Top-down levels by one block, from level `level` on, until a frontier is empty or has more than ALONE edges. `left`
// is the number of edges not inspected. The last frontier lies in queues + (level % 2) · n.
__device__ inline void search_alone(const Lists& out, u64 n, u32* levels, u32* queues, u64* pieces, u32& level, u64& left,
                                    Level& frontier) {
  __shared__ Level room[2];
  const Team block = {nullptr, 0, 1};
  if (threadIdx.x == 0) room[level % 2] = frontier;
  __syncthreads();
  while (true) {
    frontier = room[level % 2];
    if (frontier.count == 0 || frontier.edges > ALONE) break;
    left -= frontier.edges < left ? frontier.edges : left;
    Level* next = &room[(level + 1) % 2];
    if (threadIdx.x == 0) next->count = next->pieces = 0, next->edges = 0;
    __syncthreads();
    const Pieces longer{pieces, &next->pieces};
    const Queue to{queues + (level + 1) % 2 * n, &next->count};
    u64 mine = 0;
    const auto each = [&](u32, u64 e, bool has) {
      bool fresh = false;
      u32 v = 0;
      if (has) {
        v = out.end(e);
        fresh = now(&levels[v]) == UNREACHED && atomicCAS(&levels[v], UNREACHED, level + 1) == UNREACHED;
        if (fresh) mine += out.degree(v);
      }
      to.push(fresh, v);
    };
    expand(block, out, queues + level % 2 * n, frontier.count, longer, [](u32) {}, each);
    expand_rest(block, out, longer, each);
    mine = warp_sum(mine);
    if (lane_id() == 0 && mine > 0) atomicAdd(&next->edges, mine);
    __syncthreads();
    ++level;
  }
}

// levels[v] = number of edges from the source to v, UNREACHED if there is no path. Sizes: queues 2n, bits two vertex
// bitmaps, pieces nnz/LARGE; state for 3 levels, then what one block leaves to all, and the barrier are initially 0.
// stats[0] = levels, stats[1] = bottom-up levels.
BOUNDED_KERNEL((512, 2), graph_bfs, const Offset* out_ptr, const u32* out_ends, const Offset* in_ptr,
               const u32* in_ends, u64 n, u64 nnz, u32 source, u32* levels, u32* queues, u32* bits, u64* pieces, Level* state,
               u64* barrier, u32* stats) {
  __shared__ u64 edges_found;
  __shared__ u32 found;
  u32 number;
  const Team team = Team::of(barrier, 1, number);
  const Lists out{out_ptr, out_ends}, in{in_ptr, in_ends};
  const u64 words = (n + 31) / 32;
  u32 level = 0, pulled = 0, side = 0;
  u64 left = nnz;
  bool up = false;  // whether the frontier is in bits[side], not in queues[side]
  for (u64 v = team.thread(); v < n; v += team.threads()) levels[v] = v == source ? 0 : UNREACHED;
  if (team.thread() == 0) {
    queues[0] = source;
    state[0].count = 1;
    state[0].edges = out.degree(source);
  }
  team.sync();
  while (true) {
    const u32 count = now(&state[level % 3].count);
    const u64 edges = now(&state[level % 3].edges);
    if (count == 0) break;
    if (!up && edges <= ALONE / 2 && team.blocks > 1) {
      // All have read the state before it changes.
      team.sync();
      if (team.block == 0) {
        Level frontier = {count, 0, edges};
        search_alone(out, n, levels, queues, pieces, level, left, frontier);
        if (threadIdx.x == 0) {
          state[level % 3] = frontier;
          state[(level + 1) % 3] = {0, 0, 0};
          state[3] = {level, 0, left};
        }
      }
      team.sync();
      level = now(&state[3].count);
      left = now(&state[3].edges);
      side = level % 2;
      continue;
    }
    Level* next = &state[(level + 1) % 3];
    u32* queue = queues + side * n;
    u32* front = bits + side * words;
    const bool was_up = up;
    up = up ? count > n / BETA : edges > left / ALPHA && edges > n / 8;
    left -= edges < left ? edges : left;
    if (threadIdx.x == 0) edges_found = 0, found = 0;
    if (up && !was_up) {
      for (u64 w = team.thread(); w < words; w += team.threads()) front[w] = 0;
      team.sync();
      for (u32 i = team.thread(); i < count; i += team.threads()) atomicOr(&front[queue[i] / 32], 1u << queue[i] % 32);
      team.sync();
    }
    if (!up && was_up) {
      // The frontier's size is known; its order does not matter.
      const Queue to{queue, &state[level % 3].pieces};
      for (u64 w = team.warp(); w < words; w += team.warps()) {
        const u32 word = front[w];
        to.push(word >> lane_id() & 1, (u32)(w * 32 + lane_id()));
      }
      team.sync();
    }
    if (team.thread() == 0) {
      Level* after = &state[(level + 2) % 3];
      after->count = after->pieces = 0;
      after->edges = 0;
    }
    __syncthreads();
    u64 mine = 0;
    const Pieces longer{pieces, &next->pieces};
    if (up) {
      u32* to = bits + (side ^ 1) * words;
      u32 reached = 0;
      for (u64 w = team.warp(); w < words; w += team.warps()) {
        const u64 v = w * 32 + lane_id();
        const bool open = v < n && levels[v] == UNREACHED;
        u64 from = 0, end = 0;
        if (open) from = in.from((u32)v), end = in.to((u32)v);
        bool hit = false;
        const u64 stop = from + FIRST < end ? from + FIRST : end;
        for (; from < stop && !hit; ++from) {
          const u32 u = in.end(from);
          hit = front[u / 32] >> u % 32 & 1;
        }
        // Whole blocks scan the longest lists.
        const bool is_long = !hit && end - from > LARGE;
        if (is_long) longer.push((u32)v, end - in.from((u32)v));
        for (u32 lanes = __ballot_sync(ALL, !hit && !is_long && from < end); lanes; lanes &= lanes - 1) {
          const u32 lane = __ffs(lanes) - 1;
          const u64 last = __shfl_sync(ALL, end, lane);
          bool any = false;
          for (u64 e = __shfl_sync(ALL, from, lane); e < last && !any; e += 32) {
            bool here = false;
            if (e + lane_id() < last) {
              const u32 u = in.end(e + lane_id());
              here = front[u / 32] >> u % 32 & 1;
            }
            any = __any_sync(ALL, here);
          }
          if (lane_id() == lane) hit = any;
        }
        if (hit) levels[v] = level + 1, mine += out.degree((u32)v);
        const u32 word = __ballot_sync(ALL, hit);
        if (lane_id() == 0) to[w] = word;
        reached += __popc(word);
      }
      expand_rest(team, in, longer, [&](u32 v, u64 e, bool has) {
        if (!has || now(&levels[v]) != UNREACHED) return;
        const u32 u = in.end(e);
        if ((front[u / 32] >> u % 32 & 1) == 0 || atomicCAS(&levels[v], UNREACHED, level + 1) != UNREACHED) return;
        atomicOr(&to[v / 32], 1u << v % 32);
        mine += out.degree(v);
        atomicAdd(&found, 1u);
      });
      if (lane_id() == 0 && reached > 0) atomicAdd(&found, reached);
      ++pulled;
    } else {
      const Queue to{queues + (side ^ 1) * n, &next->count};
      const auto each = [&](u32, u64 e, bool has) {
        bool fresh = false;
        u32 v = 0;
        if (has) {
          v = out.end(e);
          fresh = now(&levels[v]) == UNREACHED && atomicCAS(&levels[v], UNREACHED, level + 1) == UNREACHED;
          if (fresh) mine += out.degree(v);
        }
        to.push(fresh, v);
      };
      expand(team, out, queue, count, longer, [](u32) {}, each);
      expand_rest(team, out, longer, each);
    }
    mine = warp_sum(mine);
    if (lane_id() == 0 && mine > 0) atomicAdd(&edges_found, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
      if (edges_found > 0) atomicAdd(&next->edges, edges_found);
      if (found > 0) atomicAdd(&next->count, found);
    }
    team.sync();
    side ^= 1;
    ++level;
  }
  if (team.thread() == 0) stats[0] = level, stats[1] = pulled;
}

// parents[v] = the least u with an edge to v and the preceding level; the source is its own parent; UNREACHED where the
// level is. Grid: a warp per 32 vertices.
BOUNDED_KERNEL((256), graph_parents, const Offset* in_ptr, const u32* in_ends, u64 n, const u32* __restrict__ levels,
               u32* parents) {
  const Lists in{in_ptr, in_ends};
  const u64 v = (u64)blockIdx.x * 256 + threadIdx.x;
  const u32 level = v < n ? levels[v] : UNREACHED;
  const bool looks = level != UNREACHED && level != 0;
  u64 from = 0, end = 0;
  if (looks) from = in.from((u32)v), end = in.to((u32)v);
  u32 parent = level == 0 ? (u32)v : UNREACHED;
  const u64 stop = from + FIRST < end ? from + FIRST : end;
  for (; from < stop && parent == UNREACHED; ++from) {
    const u32 u = in.end(from);
    if (levels[u] == level - 1) parent = u;
  }
  for (u32 lanes = __ballot_sync(ALL, looks && parent == UNREACHED); lanes; lanes &= lanes - 1) {
    const u32 lane = __ffs(lanes) - 1, before = __shfl_sync(ALL, level, lane) - 1;
    const u64 last = __shfl_sync(ALL, end, lane);
    u32 least = UNREACHED;
    for (u64 e = __shfl_sync(ALL, from, lane); e < last && least == UNREACHED; e += 32) {
      u32 u = UNREACHED;
      if (e + lane_id() < last && levels[in.end(e + lane_id())] == before) u = in.end(e + lane_id());
      least = warp_min(u);
    }
    if (lane_id() == lane) parent = least;
  }
  if (v < n) parents[v] = parent;
}
