// triangles.cu: triangles of the simple undirected graph under a square pattern, each found once. Let a < b if (key,
// index) of vertex a is smaller, where key(v) = entries in row v and in column v. L(a) holds the neighbors of a that
// are larger, so |L(a)| <= sqrt(2 nnz), and the count is the sum of |L(a) and L(b)| over the edges a < b. An edge is
// assigned to the end with the longer list, its center z; the other end is its partner w. The partners' lists are
// looked up in the center's: sum of min(|L(a)|, |L(b)|) lookups instead of sum |L(b)|. Steps: keys; orient (L's sizes;
// of an edge that is stored twice, one copy is dropped); a scan; fill (L; partners of each center); a scan; pairs (z,
// w) by center, those with a long L(z) first; blocks mark L(z) in a bitmap and look up; warps compare the short lists
// in registers. The order within a list varies between runs, the count does not.
//
// Lower bound: R-MAT of scale 18, edge factor 16 (7.6 M entries, m = 3.8 M edges): 321 M lookups (659 M from the
// smaller end) read 1.3 GB of L from the L2 cache and as many words of shared memory, some 3.5 per bank in a warp: 0.4
// ms. cnr-2000 (3.2 M entries, m = 2.7 M): 24 M lookups. Before that, for nnz entries: 2 nnz gathers of keys, nnz + 2m
// atomics, m/2 searches in the shorter row, some 70 bytes per entry: 0.5 ms and 0.3 ms at 100 G/s and 4 TB/s. Measured,
// with its 13 launches and 3 waits: benches/gpu_triangles.rs, benches/results/. Source of the two ideas: Wolf et al.
// 2017 (the mask as accumulator); Latapy 2008 (order by degree).
#include "parts.cuh"
constexpr u64 NO_EDGE = ~0ull;
constexpr u32 SHORT = 32;    // longest list held in a warp's registers
constexpr u32 TILE = 2048;   // entries that a block orients
constexpr u32 BLOCK = 256;   // threads per block, and pairs that it takes at a time
constexpr u32 GROUP = 16;    // threads that read one list

__device__ inline u32 high(u64 pair) { return (u32)(pair >> 32); }
__device__ inline u32 low(u64 pair) { return (u32)pair; }
__device__ inline u64 pack(u32 x, u32 y) { return (u64)x << 32 | y; }

// Adds one to *count for each lane whose vertex is not NONE, with one atomic per distinct vertex; returns the lane's
// value before its addition. Lanes with the same vertex pass the same count. All lanes of a warp call it.
__device__ inline u32 claim(u32* count, u32 vertex) {
  const u32 same = __match_any_sync(ALL, vertex);
  const u32 leader = __ffs(same) - 1;
  u32 before = 0;
  if (lane_id() == leader && vertex != NONE) before = atomicAdd(count, __popc(same));
  return __shfl_sync(ALL, before, leader) + __popc(same & ((1u << lane_id()) - 1));
}

// The row of entry e: the last one that begins at or before e. All lanes of a warp pass the same e.
__device__ inline u64 warp_row_of(const OffsetA* ptr, u64 nrows, u64 e) {
  u64 from = 0, to = nrows;  // ptr[from] <= e < ptr[to]
  while (to - from > 1) {
    const u64 step = (to - from + 31) / 32, at = from + step * (lane_id() + 1);
    const u32 below = __popc(__ballot_sync(ALL, at < to && ptr[at] <= e));
    from += step * below;
    if (to - from > step) to = from + step;
  }
  return from;
}
// The same within rows first..last; each thread has its own e.
__device__ inline u64 row_of(const OffsetA* ptr, u64 first, u64 last, u64 e) {
  while (first < last) {
    const u64 middle = first + (last - first + 1) / 2;
    if (ptr[middle] <= e) first = middle; else last = middle - 1;
  }
  return first;
}

// Whether entry (row, col) is stored, in sorted rows.
__device__ inline bool stored(const OffsetA* ptr, const u32* cols, u32 row, u32 col) {
  const OffsetA to = ptr[(u64)row + 1], at = lower_bound(cols, ptr[row], to, col);
  return at < to && cols[at] == col;
}
// The same for unsorted rows, for each lane with `ask`; all lanes of a warp call it.
__device__ inline bool warp_stored(bool ask, const OffsetA* ptr, const u32* cols, u32 row, u32 col) {
  bool found = false;
  for (u32 asking = __ballot_sync(ALL, ask); asking; asking &= asking - 1) {
    const u32 source = __ffs(asking) - 1, r = __shfl_sync(ALL, row, source), c = __shfl_sync(ALL, col, source);
    const u64 to = ptr[(u64)r + 1];
    bool mine = false;
    for (u64 at = (u64)ptr[r] + lane_id(); at < to; at += 32) mine |= cols[at] == c;
    const bool any = __any_sync(ALL, mine);
    if (lane_id() == source) found = any;
  }
  return found;
}

// keys = entries of each row, counts = 0. Grid: a thread per vertex.
KERNEL(triangle_rows, const OffsetA* ptr, u64 n, u32* keys, u32* degrees, u32* centres) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  keys[v] = (u32)(ptr[v + 1] - ptr[v]);
  degrees[v] = centres[v] = centres[n + v] = 0;
}
// keys += entries of each column. Any vertex order is correct, so a wrapped sum is harmless. Grid: a thread per entry.
KERNEL(triangle_columns, const u32* cols, u64 nnz, u32* keys) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e < nnz) atomicAdd(&keys[cols[e]], 1u);
}

// edges[e] = (a, b), a < b, if entry e represents that edge, slots[e] = its position in L(a); degrees[a] = |L(a)|. An
// entry (i, j) with j < i represents its edge only if (j, i) is not stored, which is looked up in row j, the shorter
// one. Grid: a block of 256 threads per tile of entries.
BOUNDED_KERNEL((256), triangle_orient, const OffsetA* ptr, const u32* cols, u64 n, u64 nnz, u32 sorted, const u32* keys,
                                       u32* degrees, u64* edges, u32* slots) {
  __shared__ u64 rows[2];
  const u64 start = (u64)blockIdx.x * TILE, end = start + TILE < nnz ? start + TILE : nnz;
  if (warp_id() < 2) {
    const u64 row = warp_row_of(ptr, n, warp_id() == 0 ? start : end - 1);
    if (lane_id() == 0) rows[warp_id()] = row;
  }
  __syncthreads();
  for (u64 at = start; at < end; at += 256) {
    const u64 e = at + threadIdx.x;
    u32 i = NONE, j = NONE;
    bool forward = false, backward = false;
    if (e < end) {
      j = cols[e];
      i = (u32)row_of(ptr, rows[0], rows[1], e);
      const u32 key_i = keys[i], key_j = keys[j];
      forward = key_i < key_j || (key_i == key_j && i < j);
      backward = !forward && i != j;
    }
    bool twice = false;
    if (sorted) {
      if (backward) twice = stored(ptr, cols, j, i);
    } else {
      twice = warp_stored(backward, ptr, cols, j, i);
    }
    const bool kept = forward || (backward && !twice);
    const u32 a = !kept ? NONE : forward ? i : j, b = forward ? j : i;
    const u32 slot = claim(degrees + (kept ? a : 0), a);
    if (e < end) {
      edges[e] = kept ? pack(a, b) : NO_EDGE;
      if (kept) slots[e] = slot;
    }
  }
}

// Counter of the pairs of center z: long lists come first.
__device__ inline u64 place(u32 degree, u32 z, u64 n) { return degree > SHORT ? z : n + z; }

// Fills L; edges[e] becomes (z, w), or nothing if no triangle can contain it, slots[e] its position among the pairs of
// z; centres = number of these. Grid: a thread per entry, complete warps.
KERNEL(triangle_fill, u64 nnz, u64 n, const u32* degrees, const OffsetL* from, u64* edges, u32* slots, u32* lists, u32* centres) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u64 edge = e < nnz ? edges[e] : NO_EDGE;
  u32 z = NONE, w = NONE;
  u64 at = 0;
  if (edge != NO_EDGE) {
    const u32 a = high(edge), b = low(edge), of_a = degrees[a], of_b = degrees[b];
    lists[(u64)from[a] + slots[e]] = b;
    // The third vertex is in L(b), and beside b in L(a).
    if (of_a >= 2 && of_b >= 1) {
      z = of_a < of_b ? b : a;
      w = of_a < of_b ? a : b;
      at = place(of_a < of_b ? of_b : of_a, z, n);
    }
  }
  const u32 slot = claim(centres + at, z);
  if (edge != NO_EDGE) {
    edges[e] = z == NONE ? NO_EDGE : pack(z, w);
    slots[e] = slot;
  }
}
// The pairs, sorted by center. Grid: a thread per entry.
KERNEL(triangle_pairs, u64 nnz, u64 n, const u32* degrees, const OffsetPair* from, const u64* edges, const u32* slots,
                       u64* pairs) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= nnz) return;
  const u64 edge = edges[e];
  if (edge == NO_EDGE) return;
  const u32 z = high(edge);
  pairs[(u64)from[place(degrees[z], z, n)] + slots[e]] = edge;
}

// A set of vertices: a bitmap over all vertices.
struct Exact {
  static constexpr u32 MOST = 0xffffffffu;
  u32* bits;
  u32 words;
  __device__ void open() const {
    for (u32 k = threadIdx.x; k < words; k += BLOCK) bits[k] = 0;
  }
  __device__ void set(u32 x) const { atomicOr(&bits[x >> 5], 1u << (x & 31)); }
  __device__ u32 has(u32 x) const { return bits[x >> 5] >> (x & 31) & 1; }
  __device__ void clear(const u32* list, u32 len) const {
    for (u32 k = threadIdx.x; k < len; k += BLOCK) atomicAnd(&bits[list[k] >> 5], ~(1u << (list[k] & 31)));
  }
};
// A set of at most MOST of any number of vertices: a hashed bitmap rejects most nonmembers, a table at most half full
// decides the rest.
struct Filtered {
  static constexpr u32 MOST = 1024, SLOTS = 2048, WORDS = 8192;
  u32* bits;
  u32* table;
  __device__ static u32 hash(u32 x) { return x * 0x9e3779b1u; }
  __device__ void open() const {
    for (u32 k = threadIdx.x; k < WORDS; k += BLOCK) bits[k] = 0;
    for (u32 k = threadIdx.x; k < SLOTS; k += BLOCK) table[k] = NONE;
  }
  __device__ void set(u32 x) const {
    const u32 h = hash(x);
    atomicOr(&bits[h >> 19], 1u << (h >> 14 & 31));
    for (u32 at = h >> 21; atomicCAS(&table[at], NONE, x) != NONE;) at = (at + 1) % SLOTS;
  }
  __device__ u32 has(u32 x) const {
    const u32 h = hash(x);
    if ((bits[h >> 19] >> (h >> 14 & 31) & 1) == 0) return 0;
    for (u32 at = h >> 21;; at = (at + 1) % SLOTS) {
      const u32 y = table[at];
      if (y == x) return 1;
      if (y == NONE) return 0;
    }
  }
  __device__ void clear(const u32* list, u32 len) const {
    for (u32 k = threadIdx.x; k < len; k += BLOCK) {
      const u32 h = hash(list[k]);
      atomicAnd(&bits[h >> 19], ~(1u << (h >> 14 & 31)));
    }
    for (u32 k = threadIdx.x; k < SLOTS; k += BLOCK) table[k] = NONE;
  }
};

// Hits of this thread, over tiles of BLOCK pairs drawn from `ticket`. A center with many partners is marked again in
// each of its tiles, so that several blocks share it.
template <class Set> __device__ inline u64 count_long(const u64* pairs, u64 npairs, const OffsetL* from,
    const u32* lists, u64* ticket, const Set set) {
  __shared__ u32 centre[BLOCK], length[BLOCK], heads[BLOCK / 32];
  __shared__ OffsetL begin[BLOCK];
  __shared__ u64 tile;
  const u32 t = threadIdx.x;
  u64 hits = 0;
  set.open();
  for (;;) {
    __syncthreads();  // the last tile is no longer read
    if (t == 0) tile = atomicAdd(ticket, 1ull);
    __syncthreads();
    const u64 start = tile * BLOCK;
    if (start >= npairs) break;
    const u32 here = npairs - start < BLOCK ? (u32)(npairs - start) : BLOCK;
    bool head = false;
    if (t < here) {
      const u64 pair = pairs[start + t], w = low(pair);
      const OffsetL first = from[w];
      centre[t] = high(pair);
      begin[t] = first;
      length[t] = (u32)(from[w + 1] - first);
      head = t == 0 || high(pairs[start + t - 1]) != high(pair);
    }
    const u32 mine = __ballot_sync(ALL, head);
    if (lane_id() == 0) heads[warp_id()] = mine;
    __syncthreads();
    for (u32 p = 0, stop; p < here; p = stop) {
      // The next head is after p, or not in this tile.
      u32 word = (p + 1) / 32;
      u32 ahead = p + 1 < BLOCK ? heads[word] & (ALL << ((p + 1) & 31)) : 0;
      while (ahead == 0 && ++word < BLOCK / 32) ahead = heads[word];
      stop = ahead == 0 ? here : word * 32 + __ffs(ahead) - 1;
      const u64 z = centre[p];
      const u32* list = lists + from[z];
      const u32 len = (u32)(from[z + 1] - from[z]);
      for (u32 part = 0; part < len;) {
        const u32 some = len - part < Set::MOST ? len - part : Set::MOST;
        for (u32 k = t; k < some; k += BLOCK) set.set(list[part + k]);
        __syncthreads();
        u32 found = 0;
        for (u32 q = p + t / GROUP; q < stop; q += BLOCK / GROUP) {
          const u32* other = lists + begin[q];
          const u32 end = length[q];
#pragma unroll 4
          for (u32 k = t % GROUP; k < end; k += GROUP) found += set.has(other[k]);
        }
        hits += found;
        __syncthreads();
        set.clear(list + part, some);
        __syncthreads();
        part += some;
      }
    }
  }
  return hits;
}
__device__ inline void add_up(u64 hits, u64* total) {
  __shared__ u64 room[33];
  const u64 sum = block_sum(hits, room);
  if (threadIdx.x == 0 && sum != 0) atomicAdd(total, sum);
}

// total[0] += triangles of the pairs with a long list, which are the first from[n]; total[1] is the ticket. Grid: as
// many blocks as are resident. Shared memory: one bit per vertex.
BOUNDED_KERNEL((BLOCK), triangle_long_exact, const u64* pairs, u64 n, const OffsetPair* pair_from, const OffsetL* from,
    const u32* lists, u64* total) {
  extern __shared__ u32 shared[];
  const Exact set{shared, (u32)((n + 31) / 32)};
  add_up(count_long(pairs, pair_from[n], from, lists, total + 1, set), total);
}
// The same for any number of vertices. Shared memory: 40 KiB.
BOUNDED_KERNEL((BLOCK), triangle_long_filtered, const u64* pairs, u64 n, const OffsetPair* pair_from, const OffsetL* from,
    const u32* lists, u64* total) {
  extern __shared__ u32 shared[];
  const Filtered set{shared, shared + Filtered::WORDS};
  add_up(count_long(pairs, pair_from[n], from, lists, total + 1, set), total);
}

// total[0] += triangles of the pairs with short lists: each lane holds a vertex of L(z), and those of L(w) rotate past.
// Grid: a warp per 32 pairs; blocks without pairs return.
BOUNDED_KERNEL((BLOCK), triangle_short, const u64* pairs, u64 npairs, u64 n, const OffsetPair* pair_from, const OffsetL* from,
                                        const u32* lists, u64* total) {
  const u64 start = pair_from[n] + ((u64)blockIdx.x * (BLOCK / 32) + warp_id()) * 32;
  const u32 here = start >= npairs ? 0 : npairs - start < 32 ? (u32)(npairs - start) : 32;
  OffsetL begin_z = 0, begin_w = 0;
  u32 len_z = 0, len_w = 0;
  if (lane_id() < here) {
    const u64 pair = pairs[start + lane_id()], z = high(pair), w = low(pair);
    begin_z = from[z];
    len_z = (u32)(from[z + 1] - begin_z);
    begin_w = from[w];
    len_w = (u32)(from[w + 1] - begin_w);
  }
  u32 hits = 0;
  for (u32 p = 0; p < here; ++p) {
    const u32 *list = lists + __shfl_sync(ALL, begin_z, p), *other = lists + __shfl_sync(ALL, begin_w, p);
    const u32 len = __shfl_sync(ALL, len_z, p), end = __shfl_sync(ALL, len_w, p);
    const u32 x = lane_id() < len ? list[lane_id()] : NONE, y = lane_id() < end ? other[lane_id()] : NONE;
    for (u32 k = 0; k < end; ++k) hits += __shfl_sync(ALL, y, k) == x;
  }
  add_up(hits, total);
}
