// graph_sssp.cu: lengths of shortest paths in one kernel. Vertices with a shortened path wait in `near` if they are
// before the end of the current bucket, else in `far`, which is scanned when `near` is empty (near-far, Davidson et al.
// 2014: Δ-stepping with one bucket at a time). Lengths are non-negative doubles, ordered as their bits are; each is the
// minimum over all paths of the sum rounded edge by edge, so the order of the work does not matter. Defined by the
// host: `Offset`.
//
// Lower bound: an edge costs 12 bytes, a length (a sector of 32 bytes) at its end, and an atomic if it shortens a path.
#include "graph.cuh"
constexpr u32 NEAR = 1, FAR = 2;  // the queue that a vertex waits in
constexpr u64 INFINITE = 0x7ff0000000000000ull;
constexpr u32 ALONE = 256;  // waiting vertices up to which one block does a round

struct Round {
  u32 count;   // waiting vertices
  u32 pieces;  // pieces of their long lists
};

// Where one block leaves the search to all.
struct Place {
  u32 round, bucket;
  double end;
};

// lengths[v] = the length of a shortest path to v, INFINITE if there is none. Sizes: near and far 2n, waits n, pieces
// nnz/LARGE, least 3, place 1; state for 3 rounds, far_count for 2 and the barrier are initially 0. stats[0] = rounds,
// stats[1] = buckets.
BOUNDED_KERNEL((512, 2), graph_sssp, const Offset* ptr, const u32* ends, const double* weights, u64 n, u32 source,
               double delta, u64* lengths, u32* near, u32* far, u32* waits, u64* pieces, Round* state, u32* far_count, u64* least,
               Place* place, u64* barrier, u32* stats) {
  u32 number;
  const Team whole = Team::of(barrier, 1, number), block = {nullptr, 0, 1};
  Team team = whole;
  const Lists out{ptr, ends};
  u32 round = 0, bucket = 0;
  double end = delta;
  for (u64 v = team.thread(); v < n; v += team.threads()) {
    lengths[v] = v == source ? 0 : INFINITE;
    waits[v] = 0;
  }
  if (team.thread() == 0) {
    near[0] = source;
    state[0].count = 1;
    for (u32 k = 0; k < 3; ++k) least[k] = INFINITE;
  }
  team.sync();
  while (true) {
    const u32 count = now(&state[round % 3].count);
    u32* queue = near + (round % 2) * n;
    // One block does short rounds, since its barrier takes a tenth of the device's time; the others wait.
    const u32 work = count > 0 ? count : now(&far_count[bucket % 2]);
    if (whole.blocks > 1 && team.blocks > 1 && work > 0 && work <= ALONE / 2) {
      // All have read the state before it changes.
      whole.sync();
      if (whole.block == 0) {
        team = block;
      } else {
        whole.sync();
        round = now(&place->round);
        bucket = now(&place->bucket);
        end = now(&place->end);
        continue;
      }
    } else if (whole.blocks > 1 && team.blocks == 1 && (work == 0 || work > ALONE)) {
      if (threadIdx.x == 0) *place = {round, bucket, end};
      team = whole;
      whole.sync();
      continue;
    }
    if (count == 0) {
      // The bucket is finished: the next one begins at the least length in `far`.
      const u32* from = far + (bucket % 2) * n;
      const u32 waiting = now(&far_count[bucket % 2]);
      if (waiting == 0) break;
      u64 mine = INFINITE;
      for (u32 i = team.thread(); i < waiting; i += team.threads()) {
        const u64 d = lengths[from[i]];
        // Vertices before the end were shortened later and are finished.
        if (__longlong_as_double(d) >= end && d < mine) mine = d;
      }
      mine = warp_min(mine);
      if (lane_id() == 0 && mine < INFINITE) atomicMin(&least[bucket % 3], mine);
      team.sync();
      const u64 first = now(&least[bucket % 3]);
      if (first == INFINITE) {
        // All in `far` are finished.
        if (team.thread() == 0) far_count[bucket % 2] = 0;
        team.sync();
        continue;
      }
      const double last = end;
      // At least one length is before the end, even if Δ is negligible beside it.
      end = __longlong_as_double(first) + delta;
      if (!(__longlong_as_double(first) < end)) end = __longlong_as_double(first + 1);
      if (team.thread() == 0) least[(bucket + 1) % 3] = INFINITE;
      const Queue to_near{queue, &state[round % 3].count}, to_far{far + (bucket + 1) % 2 * n, &far_count[(bucket + 1) % 2]};
      for (u64 base = (u64)team.warp() * 32; base < waiting; base += (u64)team.warps() * 32) {
        const bool has = base + lane_id() < waiting;
        const u32 v = has ? from[base + lane_id()] : 0;
        const double d = has ? __longlong_as_double(lengths[v]) : 0;
        const bool is_near = has && d >= last && d < end, is_far = has && d >= end;
        if (has && !is_far) waits[v] = is_near ? NEAR : 0;
        to_near.push(is_near, v);
        to_far.push(is_far, v);
      }
      team.sync();
      if (team.thread() == 0) far_count[bucket % 2] = 0;
      ++bucket;
      continue;
    }
    Round* next = &state[(round + 1) % 3];
    if (team.thread() == 0) {
      Round* after = &state[(round + 2) % 3];
      after->count = after->pieces = 0;
    }
    const Queue to_near{near + (round + 1) % 2 * n, &next->count}, to_far{far + bucket % 2 * n, &far_count[bucket % 2]};
    // A thread that shortens a path after this sees that the vertex no longer waits; an earlier update is visible to
    // the reads of the length.
    const auto begin = [&](u32 u) {
      atomicAnd(&waits[u], ~NEAR);
      __threadfence();
    };
    const auto each = [&](u32 u, u64 e, bool has) {
      bool nearer = false, farther = false;
      u32 v = 0;
      if (has) {
        v = out.end(e);
        const double d = __longlong_as_double(now(&lengths[u])) + __ldg(weights + e);
        const u64 bits = __double_as_longlong(d);
        if (bits < now(&lengths[v]) && bits < atomicMin(&lengths[v], bits)) {
          const u32 where = d < end ? NEAR : FAR;
          __threadfence();
          const bool fresh = (atomicOr(&waits[v], where) & where) == 0;
          nearer = fresh && where == NEAR;
          farther = fresh && where == FAR;
        }
      }
      to_near.push(nearer, v);
      to_far.push(farther, v);
    };
    const Pieces longer{pieces, &next->pieces};
    expand(team, out, queue, count, longer, begin, each);
    expand_rest(team, out, longer, each);
    team.sync();
    ++round;
  }
  if (team.thread() == 0) stats[0] = round, stats[1] = bucket + 1;
}
