// graph_brandes.cu: dependencies of many sources on each vertex (Brandes 2001), one team of blocks per source at a
// time. Forward, the vertices of a level add up the path counts of their predecessors, while the next level is
// discovered; backward, they add up (1 + δ) / σ of their successors. Sums run along adjacency lists instead of using
// atomics, so every run gives the same bits. Defined by the host: `Offset`.
//
// Lower bound: each source reads every edge three times: 4 bytes, a level and, for those that count, a path count.
#include "graph.cuh"

struct Level {
  u32 count;   // vertices of the next level
  u32 pieces;  // long lists to expand
  u32 longer;  // long lists to fold
};

// levels are initially UNREACHED, and sums 0. Sizes per team: levels, paths, order and sums n, starts n + 2, pieces and
// longer `long_lists`, state 3, one barrier. beyond[s] is 1 if a path count from source s overflows a double: nothing
// is added then.
BOUNDED_KERNEL((512, 2), graph_brandes, const Offset* out_ptr, const u32* out_ends, const Offset* in_ptr,
               const u32* in_ends, u64 n, const u32* sources, u64 count, u32 teams, u64 long_lists, u32* levels,
               double* paths, u32* order, u32* starts, u64* pieces, u32* longer, Level* state, double* sums,
               u64* barriers, u32* beyond) {
  __shared__ double room[33];
  u32 number;
  const Team team = Team::of(barriers, teams, number);
  const Lists out{out_ptr, out_ends}, in{in_ptr, in_ends};
  levels += number * n;
  paths += number * n;
  order += number * n;
  sums += number * n;
  starts += number * (n + 2);
  pieces += number * long_lists;
  longer += number * long_lists;
  state += number * 3;
  u32 step = 0;
  for (u64 s = number; s < count; s += teams) {
    if (team.thread() == 0) {
      const u32 source = sources[s];
      order[0] = source;
      levels[source] = 0;
      paths[source] = 1;
      starts[0] = 0;
      for (u32 k = 0; k < 3; ++k) state[k] = Level{0, 0, 0};
    }
    team.sync();
    u32 depth = 0, head = 0, end = 1;
    while (true) {
      Level* mine = &state[step % 3];
      if (team.thread() == 0) state[(step + 1) % 3] = Level{0, 0, 0}, starts[depth + 1] = end;
      const Queue found{order + end, &mine->count}, left{longer, &mine->longer};
      const auto before = [&](u64 e) {
        const u32 u = in.end(e);
        return now(&levels[u]) == depth - 1 ? paths[u] : 0.0;
      };
      const auto count_paths = [&](u32 v, double sum) {
        paths[v] = sum;
        if (sum > 1.7e308) beyond[s] = 1;
      };
      const auto reach = [&](u32, u64 e, bool has) {
        bool fresh = false;
        u32 v = 0;
        if (has) {
          v = out.end(e);
          fresh = now(&levels[v]) == UNREACHED && atomicCAS(&levels[v], UNREACHED, depth + 1) == UNREACHED;
        }
        found.push(fresh, v);
      };
      if (depth > 0) fold(team, in, order + head, end - head, left, before, count_paths);
      expand(team, out, order + head, end - head, Pieces{pieces, &mine->pieces}, [](u32) {}, reach);
      team.sync();
      const u32 to_expand = now(&mine->pieces), to_fold = now(&mine->longer);
      if (to_expand > 0 || to_fold > 0) {
        fold_longer(team, in, longer, to_fold, room, before, count_paths);
        expand_pieces(team, out, pieces, to_expand, reach);
        team.sync();
      }
      const u32 more = now(&mine->count);
      ++step;
      if (more == 0) break;
      head = end;
      end += more;
      ++depth;
    }
    const bool is_beyond = now(&beyond[s]) != 0;
    for (u32 level = is_beyond ? 0 : depth; level > 0; --level) {
      Level* mine = &state[step % 3];
      if (team.thread() == 0) state[(step + 1) % 3] = Level{0, 0, 0};
      const u32 first = now(&starts[level]), last = now(&starts[level + 1]);
      const auto behind = [&](u64 e) {
        const u32 u = out.end(e);
        return levels[u] == level + 1 ? paths[u] : 0.0;
      };
      const auto depend = [&](u32 v, double sum) {
        const double sigma = paths[v], delta = sigma * sum;
        paths[v] = (1 + delta) / sigma;
        sums[v] += delta;
      };
      fold(team, out, order + first, last - first, Queue{longer, &mine->longer}, behind, depend);
      team.sync();
      const u32 to_fold = now(&mine->longer);
      if (to_fold > 0) {
        fold_longer(team, out, longer, to_fold, room, behind, depend);
        team.sync();
      }
      ++step;
    }
    for (u32 i = team.thread(); i < end; i += team.threads()) levels[order[i]] = UNREACHED;
    team.sync();
  }
}

// total = the sums of all teams, in team order. Grid: a thread per vertex.
KERNEL(brandes_total, u64 n, u32 teams, const double* sums, double* total) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  double sum = 0;
  for (u32 t = 0; t < teams; ++t) sum += sums[t * n + v];
  total[v] = sum;
}
