// graph_labels.cu: a synchronous step of label propagation: each vertex takes the most frequent label among its
// neighbors, the least one on ties. Vertices are classified by degree: a thread compares up to FEW labels with each
// other, a warp up to 32; beyond that a block counts labels in a hash table, in shared memory for up to MANY, else in
// global memory. Defined by the host: `Offset`.
//
// Lower bound: 4 bytes per edge and the label of its end (a sector of 32 bytes), from L2 where the labels fit.
#include "graph.cuh"
constexpr u32 FEW = 8, MANY = 2048;
constexpr u32 EMPTY = 0xffffffffu;  // never a label

// The concatenated lists of a vertex: the second, if any, is that of the other direction.
struct Both {
  Lists out, in;
  __device__ u64 degree(u32 v) const { return out.degree(v) + (in.ptr == nullptr ? 0 : in.degree(v)); }
  __device__ u32 end(u32 v, u64 k) const {
    const u64 first = out.degree(v);
    return k < first ? out.end(out.from(v) + k) : in.end(in.from(v) + (k - first));
  }
};

// The state of the vertices, and statistics of a step: `next` initially holds the labels of two steps ago.
struct Step {
  const u32* labels;
  u32* next;
  u32* stats;  // labels that differ from the previous step, and from two steps ago
  // All lanes of a warp call it, with `has` in those that have a vertex.
  __device__ void take(bool has, u32 v, u32 label) const {
    const bool changed = has && label != labels[v], differs = has && label != next[v];
    if (has) next[v] = label;
    const u32 a = __popc(__ballot_sync(ALL, changed)), b = __popc(__ballot_sync(ALL, differs));
    if (lane_id() == 0 && a > 0) atomicAdd(&stats[0], a);
    if (lane_id() == 0 && b > 0) atomicAdd(&stats[1], b);
  }
};

// A higher count wins, then the smaller label.
__device__ inline u64 score(u32 count, u32 label) { return (u64)count << 32 | ~label; }

// Classifies the vertices, in any order: up to FEW, 32, MANY and more neighbors, in queues of n; the largest degree
// goes to counts[4]. Grid: a thread per vertex, blocks of a multiple of 32.
KERNEL(labels_classes, const Offset* out_ptr, const Offset* in_ptr, u64 n, u32* queues, u32* counts) {
  const u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const Both both{{out_ptr, nullptr}, {in_ptr, nullptr}};
  const u64 degree = v < n ? both.degree((u32)v) : 0;
  const u32 own = degree <= FEW ? 0 : degree <= 32 ? 1 : degree <= MANY ? 2 : 3;
  for (u32 c = 0; c < 4; ++c) Queue{queues + c * n, counts + c}.push(v < n && own == c, (u32)v);
  const u32 most = warp_max((u32)degree);
  if (lane_id() == 0 && most > MANY) atomicMax(&counts[4], most);
}

// Grid: a thread per vertex of the class.
BOUNDED_KERNEL((256), labels_few, const Offset* out_ptr, const u32* out_ends, const Offset* in_ptr, const u32* in_ends,
               const u32* queue, u64 count, const u32* labels, u32* next, u32* stats) {
  const u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
  const Both both{{out_ptr, out_ends}, {in_ptr, in_ends}};
  const bool has = i < count;
  const u32 v = has ? queue[i] : 0;
  const u32 degree = has ? (u32)both.degree(v) : 0;
  u32 of[FEW];
#pragma unroll
  for (u32 k = 0; k < FEW; ++k) of[k] = k < degree ? labels[both.end(v, k)] : EMPTY;
  u64 best = 0;
#pragma unroll
  for (u32 k = 0; k < FEW; ++k) {
    u32 same = 0;
#pragma unroll
    for (u32 j = 0; j < FEW; ++j) same += of[j] == of[k];
    if (k < degree) best = sr::max(best, score(same, of[k]));
  }
  Step{labels, next, stats}.take(has, v, degree == 0 ? (has ? labels[v] : 0) : ~(u32)best);
}
// Grid: a warp per vertex of the class.
BOUNDED_KERNEL((256), labels_warp, const Offset* out_ptr, const u32* out_ends, const Offset* in_ptr, const u32* in_ends,
               const u32* queue, u64 count, const u32* labels, u32* next, u32* stats) {
  const u64 i = ((u64)blockIdx.x * 256 + threadIdx.x) / 32;
  if (i >= count) return;
  const Both both{{out_ptr, out_ends}, {in_ptr, in_ends}};
  const u32 v = queue[i];
  const bool has = lane_id() < both.degree(v);
  const u32 label = has ? labels[both.end(v, lane_id())] : EMPTY;
  const u32 same = __popc(__match_any_sync(ALL, label));
  const u64 best = warp_max(has ? score(same, label) : 0ull);
  Step{labels, next, stats}.take(lane_id() == 0, v, ~(u32)best);
}

// Counts the labels of one vertex in a table of `room` slots, a power of two and at least twice the degree.
__device__ inline u64 counted(const Both& both, u32 v, u64 degree, const u32* labels, u32* keys, u32* counts, u32 room,
                              u64* best_of_block) {
  for (u32 k = threadIdx.x; k < room; k += blockDim.x) keys[k] = EMPTY, counts[k] = 0;
  if (threadIdx.x == 0) *best_of_block = 0;
  __syncthreads();
  u64 best = 0;
  for (u64 base = 0; base < degree; base += blockDim.x) {
    const bool has = base + threadIdx.x < degree;
    const u32 label = has ? labels[both.end(v, base + threadIdx.x)] : EMPTY;
    const u32 same = __match_any_sync(ALL, label);
    // One lane counts for all lanes with its label.
    if (has && lane_id() == __ffs(same) - 1) {
      u32 at = label * 2654435769u & (room - 1);
      while (true) {
        const u32 found = atomicCAS(&keys[at], EMPTY, label);
        if (found == EMPTY || found == label) break;
        at = (at + 1) & (room - 1);
      }
      const u32 more = __popc(same);
      best = sr::max(best, score(atomicAdd(&counts[at], more) + more, label));
    }
  }
  best = warp_max(best);
  if (lane_id() == 0) atomicMax(best_of_block, best);
  __syncthreads();
  best = *best_of_block;
  __syncthreads();
  return best;
}
__device__ inline u32 room_for(u64 degree) { return 2u << (32 - __clz((u32)degree - 1)); }

// Grid: a block per vertex of the class.
BOUNDED_KERNEL((256), labels_block, const Offset* out_ptr, const u32* out_ends, const Offset* in_ptr, const u32* in_ends,
               const u32* queue, u64 count, const u32* labels, u32* next, u32* stats) {
  __shared__ u32 keys[2 * MANY], counts[2 * MANY];
  __shared__ u64 best_of_block;
  const Both both{{out_ptr, out_ends}, {in_ptr, in_ends}};
  const u32 v = queue[blockIdx.x];
  const u64 degree = both.degree(v);
  const u64 best = counted(both, v, degree, labels, keys, counts, room_for(degree), &best_of_block);
  if (warp_id() == 0) Step{labels, next, stats}.take(lane_id() == 0, v, ~(u32)best);
}
// Each block has `room` slots of keys and of counts. Grid: persistent blocks, one vertex at a time.
BOUNDED_KERNEL((1024), labels_table, const Offset* out_ptr, const u32* out_ends, const Offset* in_ptr,
               const u32* in_ends, const u32* queue, u64 count, const u32* labels, u32* next, u32* stats, u32* tables,
               u64 room) {
  __shared__ u64 best_of_block;
  const Both both{{out_ptr, out_ends}, {in_ptr, in_ends}};
  u32* keys = tables + 2 * room * blockIdx.x;
  for (u64 i = blockIdx.x; i < count; i += gridDim.x) {
    const u32 v = queue[i];
    const u64 degree = both.degree(v);
    const u64 best = counted(both, v, degree, labels, keys, keys + room, room_for(degree), &best_of_block);
    if (warp_id() == 0) Step{labels, next, stats}.take(lane_id() == 0, v, ~(u32)best);
  }
}
