// mttkrp.cu: V(i, r) = ⊕ over the entries of row i of one mode: x ⊗ A(i_a, r) ⊗ B(i_b, r) …, the other modes in
// increasing order. A block takes a block of entries, divided into equal shares for its groups of LANES threads; a
// thread folds EACH columns of a row in registers. A run that spans several shares is finished by the group that begins
// it, a row of several blocks by a second kernel, both in the order of the entries: no atomics, the same bits in every
// run. Defined by the host: `Ring`, the names in entries.cuh, LANES, EACH, VEC (columns per load), THREADS, DEEP
// (entries in flight), and COPIES (an index column per other mode), PERMUTED (records and a permutation) or REMAPPED
// (records, which are remapped to the order of the next mode; a block is a partition, processed in tiles). With
// ACCUMULATE, V ⊕= instead of V =. Sources: Phipps, Kolda 2019, MTTKRP-C and Table 4; Wijeratne, Kannan, Prasanna 2024,
// Algorithms 2 to 5.
#include "entries.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::A A;
typedef Ring::B B;
typedef Ring::Out Out;
constexpr u32 FACTORS = ORDER - 1, SOME = FACTORS ? FACTORS : 1, GROUPS = THREADS / LANES, VECTORS = EACH / VEC, BLOCK = LANES * EACH;

struct Factors {
  const B* of[SOME];
};
// Block b has entries blocks[b]..blocks[b + 1] and runs first[b]..first[b + 1]; run k starts at entry starts[k].
struct Runs {
  const u32 *blocks, *first, *starts, *targets;
};

template <class T, u32 N> struct alignas(sizeof(T) * N) Vec {
  T of[N];
};
template <class T> struct Vec<T, 1> {
  T of[1];
};
template <u32 N, class T> __device__ inline void read(const T* p, T* to) {
  const Vec<T, N> v = *reinterpret_cast<const Vec<T, N>*>(p);
#pragma unroll
  for (u32 i = 0; i < N; ++i) to[i] = v.of[i];
}

// The first `count` > 0 of N neighbors; the rest are copies of the first.
template <u32 N, class T> __device__ inline void read_some(const T* p, T* to, u32 count) {
  if (count >= N) {
    read<N>(p, to);
    return;
  }
  to[0] = p[0];
#pragma unroll
  for (u32 i = 1; i < N; ++i) to[i] = i < count ? p[i] : to[0];
}

// The columns of a thread: VECTORS pieces of VEC neighbors, interleaved with those of neighboring threads.
__device__ inline u32 column_of(u32 v) { return ((threadIdx.x % LANES) + v * LANES) * VEC; }

// The thread's columns of a row, from `column` on and below `rank`; the others are unchanged.
template <class T> __device__ inline void read_row(const T* row, u32 column, u32 rank, T* to) {
#pragma unroll
  for (u32 v = 0; v < VECTORS; ++v)
    if (column + column_of(v) < rank) read<VEC>(row + column + column_of(v), to + v * VEC);
}
__device__ inline void write_row(Out* row, u32 column, u32 rank, const Out* sum) {
#pragma unroll
  for (u32 v = 0; v < VECTORS; ++v)
    if (column + column_of(v) < rank) {
      Vec<Out, VEC> x;
#pragma unroll
      for (u32 i = 0; i < VEC; ++i) x.of[i] = sum[v * VEC + i];
      *reinterpret_cast<Vec<Out, VEC>*>(row + column + column_of(v)) = x;
    }
}
__device__ inline void add_to(Out* sum, const Out* more) {
#pragma unroll
  for (u32 c = 0; c < EACH; ++c) sum[c] = Ring::add(sum[c], more[c]);
}
__device__ inline void clear(Out* sum) {
#pragma unroll
  for (u32 c = 0; c < EACH; ++c) sum[c] = Ring::zero();
}
// The thread's columns of a row in shared memory.
__device__ inline void store_columns(Out* row, const Out* sum) {
#pragma unroll
  for (u32 c = 0; c < EACH; ++c) row[column_of(c / VEC) + c % VEC] = sum[c];
}
__device__ inline void load_columns(const Out* row, Out* sum) {
#pragma unroll
  for (u32 c = 0; c < EACH; ++c) sum[c] = row[column_of(c / VEC) + c % VEC];
}
// Finishes a row of the result.
__device__ inline void finish(Out* row, u32 column, u32 rank, Out* sum) {
#ifdef ACCUMULATE
  Out before[EACH];
  clear(before);
  read_row(row, column, rank, before);
  add_to(before, sum);
  write_row(row, column, rank, before);
#else
  write_row(row, column, rank, sum);
#endif
}
// Finishes a run: writes its row if all of it is in this block, else its slot.
__device__ inline void finish_run(u32 target, Out* out, Out* slots, u32 column, u32 rank, Out* sum) {
  if (target & SPLIT)
    write_row(slots + (u64)(target & ~SPLIT) * rank, column, rank, sum);
  else
    finish(out + (u64)target * rank, column, rank, sum);
}

// Loops over few modes are unrolled, and a record of few modes is read at once.
constexpr u32 UNROLLED = FACTORS <= 8 ? SOME : 1;

#if defined(COPIES)
struct Entries {
  const u32* index[SOME];
  const A* values;
};
// Entries e..e + count; e is a multiple of DEEP. Reads are 16 bytes wide and may extend past the entries: arrays are
// zero-padded.
struct Batch {
  const Entries& entries;
  u32 e, count;
  __device__ Batch(const Entries& entries, u32, u32 e, u32 count) : entries(entries), e(e), count(count) {}
  __device__ void values(A* x) const {
    constexpr u32 AT_ONCE = sizeof(A) * DEEP <= 16 ? DEEP : sizeof(A) <= 8 ? 16 / sizeof(A) : 1;
#pragma unroll
    for (u32 d = 0; d < DEEP; d += AT_ONCE)
      if (d < count) read<AT_ONCE>(entries.values + e + d, x + d);
  }
  // Indices in the m-th of the other modes. Entries beyond the end get a valid index.
  __device__ void indices(u32 m, u32* index) const {
    read<DEEP>(entries.index[m] + e, index);
    if (count < DEEP)
#pragma unroll
      for (u32 d = 1; d < DEEP; ++d)
        if (d >= count) index[d] = 0;
  }
};
#else
struct Entries {
  const u32* records;
#if defined(PERMUTED)
  const u32* order;
#else
  u32* next;
  const u32* links;
#endif
};
constexpr bool AT_ONCE = ORDER <= 8;
struct Batch {
  const u32* record[DEEP];
  u32 words[DEEP][AT_ONCE ? WORDS : 1], mode;
  __device__ Batch(const Entries& entries, u32 mode, u32 e, u32 count) : mode(mode) {
    u32 at[DEEP];
#if defined(PERMUTED)
    read_some<DEEP>(entries.order + e, at, count);
#else
#pragma unroll
    for (u32 d = 0; d < DEEP; ++d) at[d] = d < count ? e + d : e;
#endif
#pragma unroll
    for (u32 d = 0; d < DEEP; ++d) {
      record[d] = entries.records + (u64)at[d] * STRIDE;
      if constexpr (AT_ONCE) read_words<WORDS>(record[d], words[d]);
    }
  }
  __device__ void values(A* x) const {
#pragma unroll
    for (u32 d = 0; d < DEEP; ++d) {
      Packed<A> packed;
#pragma unroll
      for (u32 w = 0; w < VALUE_WORDS; ++w) packed.words[w] = AT_ONCE ? words[d][AT_ONCE ? VALUE_AT + w : 0] : record[d][VALUE_AT + w];
      x[d] = packed.value;
    }
  }
  __device__ void indices(u32 m, u32* index) const {
#pragma unroll
    for (u32 d = 0; d < DEEP; ++d) {
      if constexpr (AT_ONCE)
        index[d] = m < mode ? words[d][m] : words[d][m + 1];
      else
        index[d] = __ldg(record[d] + (m < mode ? m : m + 1));
    }
  }
};
#endif
#ifdef REMAPPED
// Copies records e..e + count to their positions in the order of the next mode, 16 bytes per thread of the group.
__device__ inline void move_on(const Entries& entries, u32 e, u32 count) {
  constexpr u32 PIECES = STRIDE / 4;
#pragma unroll
  for (u32 i = 0; i < DEEP * PIECES; i += LANES) {
    const u32 piece = i + threadIdx.x % LANES, d = piece / PIECES, q = piece % PIECES;
    if (d < count)
      reinterpret_cast<uint4*>(entries.next)[(u64)__ldg(entries.links + e + d) * PIECES + q] =
          __ldg(reinterpret_cast<const uint4*>(entries.records) + (u64)(e + d) * PIECES + q);
  }
}
#endif

#ifdef REMAPPED
constexpr u32 TILE = 2048;
#else
constexpr u32 TILE = SPLIT;  // a block of entries is one tile
#endif

// Grid: column_blocks blocks per block of entries, adjacent.
BOUNDED_KERNEL((THREADS, AT_A_TIME), mttkrp, Entries entries, u32 mode, Factors factors, Runs runs, u32 rank, u32 column_blocks, Out* out,
                                             Out* slots) {
  __shared__ Out heads[GROUPS][BLOCK];  // of a share's first entries, if their run began before it
  // of the run that continues in the next tile: from the previous tile, and to the next
  __shared__ Out carry[2][BLOCK];
  const u32 block = column_blocks == 1 ? blockIdx.x : blockIdx.x / column_blocks;
  const u32 column = (blockIdx.x - block * column_blocks) * BLOCK;
  const u32 group = threadIdx.x / LANES;
  u32 run = runs.first[block];
  for (u32 from = runs.blocks[block], to; from < runs.blocks[block + 1]; from = to) {
    to = runs.blocks[block + 1];
    to = to - from > TILE ? from + TILE : to;
    const u32 share = ((to - from + GROUPS - 1) / GROUPS + 3) / 4 * 4;  // a multiple of any DEEP
    u32 e = from + group * share, run_end = 0;
    const u32 stop = e + share < to ? e + share : to;
    bool head = false, carried = false;
    Out sum[EACH];
    clear(sum);
    if (e < stop) {
      run = (u32)row_of(runs.starts, run, runs.first[block + 1] - 1, e);
      head = runs.starts[run] < e;
      run_end = runs.starts[run + 1];
#ifdef REMAPPED
      carried = head && group == 0;
      head = head && group != 0;
#endif
    }

    const auto tile_of = [&](u32 e) { return (e - runs.blocks[block]) / TILE % 2; };
    // The previous tile's part of the run comes first; the new terms are summed before they are added to it.
    const auto add_carried = [&] {
#ifdef REMAPPED
      if (!carried) return;
      Out before[EACH];
      load_columns(carry[tile_of(from)], before);
      add_to(before, sum);
#pragma unroll
      for (u32 c = 0; c < EACH; ++c) sum[c] = before[c];
      carried = false;
#endif
    };
    const auto next_run = [&] {
      if (head) {
        store_columns(heads[group], sum);
      } else {
        add_carried();
        finish_run(runs.targets[run], out, slots, column, rank, sum);
      }
      head = false;
      clear(sum);
      run_end = runs.starts[++run + 1];
    };
    for (; e < stop; e += DEEP) {
      const u32 count = stop - e < DEEP ? stop - e : DEEP;
      const Batch batch(entries, mode, e, count);
      Out product[DEEP][EACH];
      {
        A x[DEEP];
        batch.values(x);
#pragma unroll
        for (u32 d = 0; d < DEEP; ++d)
#pragma unroll
          for (u32 c = 0; c < EACH; ++c) product[d][c] = x[d];
      }
#pragma unroll UNROLLED
      for (u32 m = 0; m < FACTORS; ++m) {
        u32 index[DEEP];
        batch.indices(m, index);
        B row[DEEP][EACH];
#pragma unroll
        for (u32 d = 0; d < DEEP; ++d) read_row(factors.of[m] + (u64)index[d] * rank, column, rank, row[d]);
#pragma unroll
        for (u32 d = 0; d < DEEP; ++d)
#pragma unroll
          for (u32 c = 0; c < EACH; ++c) product[d][c] = Ring::mul(product[d][c], row[d][c], 0, 0, 0);
      }
      if (e + DEEP <= run_end && count == DEEP) {
#pragma unroll
        for (u32 d = 0; d < DEEP; ++d) add_to(sum, product[d]);
      } else {
#pragma unroll
        for (u32 d = 0; d < DEEP; ++d)
          if (d < count) {
            if (e + d == run_end) next_run();
            add_to(sum, product[d]);
          }
      }
#ifdef REMAPPED
      if (column == 0) move_on(entries, e, count);
#endif
    }
    if (head) store_columns(heads[group], sum);
    __syncthreads();
    if (run_end != 0 && !head) {
      // The run that this share began, or that continues from the previous tile, and that further shares extend.
      for (u32 g = group + 1; from + g * share < (run_end < to ? run_end : to); ++g) {
        Out more[EACH];
        load_columns(heads[g], more);
        add_to(sum, more);
      }
      add_carried();
#ifdef REMAPPED
      if (run_end > to)
        store_columns(carry[1 - tile_of(from)], sum);
      else
#endif
        finish_run(runs.targets[run], out, slots, column, rank, sum);
    }
#ifdef REMAPPED
    __syncthreads();
#endif
  }
}

// Merges the slots of rows with several runs. Row t: rows[t], its first run firsts[t], its number of runs counts[t].
// Grid: the first blocks handle the `small` rows of few runs, one group each; every other row gets a block; each of
// these is column_blocks adjacent blocks.
BOUNDED_KERNEL((THREADS), merge_runs, const u32* rows, const u32* firsts, const u32* counts, u32 small, u32 rank, u32 column_blocks,
                                      const Out* slots, Out* out) {
  __shared__ Out sums[GROUPS][BLOCK];
  const u32 block = blockIdx.x / column_blocks, column = (blockIdx.x - block * column_blocks) * BLOCK;
  const u32 group = threadIdx.x / LANES, small_blocks = (small + GROUPS - 1) / GROUPS;
  const bool alone = block < small_blocks;
  const u32 t = alone ? block * GROUPS + group : small + block - small_blocks;
  if (alone && t >= small) return;
  const u32 first = firsts[t], count = counts[t];
  const u32 share = alone ? count : (count + GROUPS - 1) / GROUPS;
  u32 j = alone ? 0 : group * share;
  const u32 stop = j + share < count ? j + share : count;
  Out sum[EACH];
  clear(sum);
#pragma unroll 8
  for (; j < stop; ++j) {
    Out more[EACH];
    clear(more);
    read_row(slots + (u64)slot_of(first, j) * rank, column, rank, more);
    add_to(sum, more);
  }
  if (!alone) {
    // Adjacent groups first, so that the order of the entries is maintained.
    for (u32 step = 1; step < GROUPS; step *= 2) {
      store_columns(sums[group], sum);
      __syncthreads();
      if (group % (2 * step) == 0 && group + step < GROUPS && (group + step) * share < count) {
        Out more[EACH];
        load_columns(sums[group + step], more);
        add_to(sum, more);
      }
      __syncthreads();
    }
    if (group != 0) return;
  }
  finish(out + (u64)rows[t] * rank, column, rank, sum);
}

// Fills the result with the identity. Grid: a thread per value.
KERNEL(clear_result, Out* out, u64 n) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < n) out[p] = Ring::zero();
}

}  // namespace kernels
