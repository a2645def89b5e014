// graph_components.cu: connected components by hooking trees onto each other, edge by edge. A parent is smaller than
// its child, so the root of a component is its least vertex (Jaiganesh, Burtscher 2018). Defined by the host: `Offset`.
//
// Lower bound: 4 bytes per edge and a parent (a sector of 32 bytes) at either end, from L2 where the parents fit.
#include "graph.cuh"
constexpr u32 EDGES = 2048;  // per block

__device__ inline u32 root(u32* parents, u32 v) {
  u32 at = now(&parents[v]);
  if (at == v) return v;
  u32 before = v, above;
  while (at > (above = now(&parents[at]))) {
    // Path halving: a vertex below a root never becomes one.
    parents[before] = above;
    before = at;
    at = above;
  }
  return at;
}

// The first neighbor, if it is smaller: lists are sorted. Grid: a thread per vertex.
KERNEL(components_begin, const Offset* ptr, const u32* ends, u64 n, u32* parents) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const Lists lists{ptr, ends};
  const u32 first = lists.degree((u32)v) > 0 ? lists.end(lists.from((u32)v)) : (u32)v;
  parents[v] = first < v ? first : (u32)v;
}
// Grid: a block per EDGES edges. With `both`, each edge is in two lists, and only that of its larger end is used.
BOUNDED_KERNEL((256), components_link, const Offset* ptr, const u32* ends, u64 n, u64 nnz, u32 both, u32* parents) {
  __shared__ u64 room[2];
  const Tile tile = tile_of(ptr, n, nnz, EDGES, room);
  for (u64 e = tile.start + threadIdx.x; e < tile.end; e += 256) {
    const u32 u = __ldg(ends + e), v = (u32)row_of(ptr, tile.first_row, tile.last_row, e);
    if (u == v || (both && u > v)) continue;
    u32 a = root(parents, u), b = root(parents, v);
    while (a != b) {
      const u32 high = a > b ? a : b, low = a > b ? b : a;
      const u32 found = atomicCAS(&parents[high], high, low);
      if (found == high) break;
      a = root(parents, found);
      b = root(parents, low);
    }
  }
}
// No path halving here: what a thread writes for another vertex may not be a root. Grid: a thread per vertex.
KERNEL(components_end, u64 n, u32* parents) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  u32 at = now(&parents[v]), above;
  while (at > (above = now(&parents[at]))) at = above;
  parents[v] = at;
}
