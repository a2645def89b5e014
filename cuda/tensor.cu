// tensor.cu: converts tensor entries to the forms that MTTKRP reads: records, columns in the order of a mode, the runs
// of an order, and partitions of rows with positions for remapping. The sort is that of transpose.cu. Defined by the
// host: the names in entries.cuh, and `Value`, plain words of a value's size. Source of the partitions: Wijeratne,
// Kannan, Prasanna 2024, Algorithm 1; Graham 1969, the least-loaded rule.
#include "entries.cuh"

struct Columns {
  const u32* of[ORDER];
};

// Words of entry e, up to and including the value.
__device__ inline void load_entry(const Columns& columns, const Value* values, u64 e, u32* words) {
#pragma unroll
  for (u32 m = 0; m < ORDER; ++m) words[m] = columns.of[m][e];
  Packed<Value> x;
  x.value = values[e];
#pragma unroll
  for (u32 w = 0; w < VALUE_WORDS; ++w) words[VALUE_AT + w] = x.words[w];
}

// Records at `positions`, or without it in the order of the entries. Grid: a thread per entry, here and
// below.
KERNEL(pack_records, Columns columns, const Value* values, u64 n, const u32* positions, u32* records) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n) return;
  u32 words[STRIDE] = {};
  load_entry(columns, values, e, words);
  write_record(records + (positions ? positions[e] : e) * STRIDE, words);
}

// Permuted columns and values, from records, zero-padded up to `padded`; a column without an array is left out.
struct Spread {
  u32* of[ORDER];
};
KERNEL(spread_records, const u32* records, const u32* order, u64 n, u64 padded, Spread to, Value* values) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= padded) return;
  u32 words[WORDS] = {};
  if (p < n) read_words<WORDS>(records + (u64)order[p] * STRIDE, words);
#pragma unroll
  for (u32 m = 0; m < ORDER; ++m)
    if (to.of[m]) to.of[m][p] = words[m];
  Packed<Value> x;
#pragma unroll
  for (u32 w = 0; w < VALUE_WORDS; ++w) x.words[w] = words[VALUE_AT + w];
  values[p] = x.value;
}

// descents[0] = 1 if some key is below its predecessor; initially 0.
KERNEL(find_descent, const u32* keys, u64 n, u32* descents) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  // Few threads write: the others see that the flag is set.
  const bool found = e > 0 && e < n && keys[e] < keys[e - 1];
  if (__any_sync(ALL, found) && lane_id() == 0 && __ldcg(descents) == 0) descents[0] = 1;
}
// order[p] = p.
KERNEL(count_up, u32* order, u64 n) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < n) order[p] = (u32)p;
}

// Runs of an order with sorted row `keys`, in blocks of `tile` entries. Grid: one block of 256 threads per tile.
__device__ inline bool begins(const u32* keys, u64 from, u64 e) { return e == from || keys[e] != keys[e - 1]; }

KERNEL(count_runs, const u32* keys, u64 n, u32 tile, u32* counts) {
  __shared__ u32 room[33];
  const u64 from = (u64)blockIdx.x * tile, to = from + tile < n ? from + tile : n;
  u32 count = 0;
  for (u64 e = from + threadIdx.x; e < to; e += blockDim.x) count += begins(keys, from, e);
  count = block_sum(count, room);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

// first[b] = runs before block b. A run's target is its row, unless the row spans several blocks. Then it is a slot of
// block b: 2 b for a row that ends or continues there, 2 b + 1 for one that begins (`slot_of`). tails[b] = the row that
// begins in b and continues, or NONE, and lasts[b] = the last block that contains it. The run past the last starts at
// n.
KERNEL(place_runs, const u32* keys, u64 n, u32 tile, const u32* first, u32* blocks, u32* starts, u32* targets, u32* tails, u32* lasts) {
  __shared__ u32 room[33];
  const u64 from = (u64)blockIdx.x * tile, to = from + tile < n ? from + tile : n;
  const bool ends = to == n;
  const u32 before = from == 0 ? NONE : keys[from - 1], after = ends ? NONE : keys[to];
  u32 run = first[blockIdx.x];
  for (u64 start = from; start < to; start += blockDim.x) {
    const u64 e = start + threadIdx.x;
    const bool mine = e < to && begins(keys, from, e);
    u32 total;
    const u32 rank = block_exclusive_sum((u32)mine, room, total);
    if (mine) {
      const u32 row = keys[e];
      starts[run + rank] = (u32)e;
      targets[run + rank] = row == before ? SPLIT | 2 * blockIdx.x : row == after ? SPLIT | (2 * blockIdx.x + 1) : row;
    }
    run += total;
  }
  if (threadIdx.x != 0) return;
  blocks[blockIdx.x] = (u32)from;
  const bool tail = !ends && keys[to - 1] == after && after != before;
  tails[blockIdx.x] = tail ? after : NONE;
  lasts[blockIdx.x] = tail ? (u32)((lower_bound(keys, to, n, after + 1) - 1) / tile) : 0;
  if (ends) {
    blocks[blockIdx.x + 1] = (u32)n;
    starts[run] = (u32)n;
  }
}

// Partitions. A row of more than `most` entries is split into equal pieces; each piece, and each shorter nonempty row,
// is an item.
__device__ inline u32 pieces_of(u32 entries, u32 most) { return (entries + most - 1) / most; }
// Entries before piece j of `pieces`.
__device__ inline u32 piece_start(u32 entries, u32 pieces, u32 j) { return (u32)((u64)entries * j / pieces); }

// Grid: a thread per row.
KERNEL(count_items, const u32* row_ptr, u64 rows, u32 most, u32* items, u32* split_items, u32* split_rows) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const u32 pieces = pieces_of(row_ptr[i + 1] - row_ptr[i], most);
  items[i] = pieces;
  split_items[i] = pieces > 1 ? pieces : 0;
  split_rows[i] = pieces > 1;
}

// For each item: `most` minus its entries, and the target of its run. Rows of several items are listed for
// `merge_runs`.
KERNEL(place_items, const u32* row_ptr, u64 rows, u32 most, const u32* item_of, const u32* split_of, const u32* listed_at, u32* missing,
                    u32* targets, u32* listed, u32* firsts, u32* counts) {
  const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const u32 entries = row_ptr[i + 1] - row_ptr[i], item = item_of[i], pieces = item_of[i + 1] - item, first = split_of[i];
  for (u32 j = 0; j < pieces; ++j) {
    missing[item + j] = most - (piece_start(entries, pieces, j + 1) - piece_start(entries, pieces, j));
    targets[item + j] = pieces == 1 ? (u32)i : SPLIT | slot_of(first, j);
  }
  if (pieces > 1) {
    const u32 t = listed_at[i];
    listed[t] = (u32)i;
    firsts[t] = first;
    counts[t] = pieces;
  }
}

// Sorts the threads' values, in increasing order of threads, by a bitonic sort. `room` holds a value per thread, 1024
// in all.
__device__ inline u64 block_sorted(u64 x, u64* room) {
  const u32 t = threadIdx.x;
  for (u32 length = 2; length <= 1024; length *= 2)
    for (u32 distance = length / 2; distance > 0; distance /= 2) {
      u64 other;
      if (distance >= 32) {
        room[t] = x;
        __syncthreads();
        other = room[t ^ distance];
        __syncthreads();
      } else {
        other = __shfl_xor_sync(ALL, x, distance);
      }
      const bool lower = (t & distance) == 0, up = (t & length) == 0;
      x = (lower == up) == (x < other) ? x : other;
    }
  return x;
}

// part_of[items[t]] = the least loaded partition, for t = 0, 1, …: items by decreasing size, most - missing[t]. Many
// are assigned at a time: with partitions sorted by load, item t + r goes to the r-th, as long as none of the preceding
// partitions, with its new item, has a smaller load. Grid: one block of 1024 threads, at most as many partitions.
BOUNDED_KERNEL((1024), assign_items, const u32* missing, const u32* items, u32 most, u64 n, u32 partitions, u32* part_of, u32* loads) {
  __shared__ u64 room[1024];
  __shared__ u32 bound;
  const u32 r = threadIdx.x;
  u64 mine = r < partitions ? r : ~0ull;  // load · 1024 + partition; nonexistent partitions sort last
  for (u64 done = 0; done < n;) {
    mine = block_sorted(mine, room);
    const u32 here = n - done < partitions ? (u32)(n - done) : partitions;
    const u64 load = mine >> 10, filled = r < here ? load + (most - missing[done + r]) : ~0ull;
    // Least load among the preceding ones.
    u64 least = filled;
    for (u32 d = 1; d < 32; d *= 2) {
      const u64 other = __shfl_up_sync(ALL, least, d);
      if (lane_id() >= d && other < least) least = other;
    }
    if (lane_id() == 31) room[warp_id()] = least;
    least = __shfl_up_sync(ALL, least, 1);
    if (lane_id() == 0) least = ~0ull;
    if (r == 0) bound = here;
    __syncthreads();
    const u64 of_warps = warp_min(lane_id() < warp_id() ? room[lane_id()] : ~0ull);
    least = of_warps < least ? of_warps : least;
    if (r < here && load > least) atomicMin(&bound, r);
    __syncthreads();
    const u32 taken = bound;
    if (r < taken) {
      part_of[items[done + r]] = (u32)(mine & 1023);
      mine = filled << 10 | (mine & 1023);
    }
    done += taken;
    __syncthreads();
  }
  if (r < partitions) loads[mine & 1023] = (u32)(mine >> 10);
}

// Runs in the order of partitions: run t is item order[t]. Grid: a thread per item.
KERNEL(order_sizes, const u32* order, const u32* missing, u32 most, u64 n, u32* sizes) {
  const u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) sizes[t] = most - missing[order[t]];
}
KERNEL(order_items, const u32* order, const u32* starts, const u32* item_targets, u64 n, u32* targets, u32* item_starts) {
  const u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  targets[t] = item_targets[order[t]];
  item_starts[order[t]] = starts[t];
}
// blocks[b] = first entry of partition b. Grid: a thread per b up to and including `partitions`.
KERNEL(block_starts, const u32* first, const u32* starts, u64 partitions, u32* blocks) {
  const u64 b = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (b <= partitions) blocks[b] = starts[first[b]];
}

// positions[e] = position of entry e in the order of partitions; position p of the order by rows holds entry order[p],
// of row keys[p].
KERNEL(place_entries, const u32* keys, const u32* order, u64 n, const u32* row_ptr, const u32* item_of, const u32* item_starts, u32* positions) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  const u32 row = keys[p], start = row_ptr[row], entries = row_ptr[row + 1] - start, item = item_of[row], pieces = item_of[row + 1] - item;
  const u32 at = (u32)p - start;
  const u32 j = pieces == 1 ? 0 : (u32)((((u64)at + 1) * pieces - 1) / entries);
  positions[order[p]] = item_starts[item + j] + at - piece_start(entries, pieces, j);
}

// links[p] = position in the next order of the entry at p of this one.
KERNEL(link_positions, const u32* positions, const u32* next_positions, u64 n, u32* links) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e < n) links[positions[e]] = next_positions[e];
}

// Copies records to the order of the next mode, without a product. Grid: a thread per 4 words.
KERNEL(move_records, const u32* records, const u32* links, u64 n, u32* next) {
  constexpr u32 PIECES = STRIDE / 4 ? STRIDE / 4 : 1;
  const u64 q = (u64)blockIdx.x * blockDim.x + threadIdx.x, e = q / PIECES;
  if (e >= n) return;
  reinterpret_cast<uint4*>(next)[(u64)links[e] * PIECES + q % PIECES] = reinterpret_cast<const uint4*>(records)[q];
}
