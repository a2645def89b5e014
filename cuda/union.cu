// union.cu: C(i,j) = ⊕_k A(i,k) ⊗ B(j,k), rows of A against rows of B, C dense and row-major. Load-balanced hybrid of
// CSR and COO: a block holds one row of a matrix T in shared memory and processes a chunk of the entries of a matrix S,
// whose rows are given per entry; a warp folds its share row by row.
// PASS 0: T = A, S = B, over the columns that both have (a semiring; the only pass).
// PASS 1: T = A, S = B, over every entry of B, with A = 0 where it is absent.
// PASS 2: T = B, S = A, over the entries of A that B lacks; results are added to those of pass 1.
// A chunk has whole rows of S, so each result belongs to one block: no atomics, and the same folds in every run.
// Source: Nolet et al. 2022, GPU Semiring Primitives for Sparse Neighborhood Methods, §3.3; the traversal of the
// entries is that of Anzt et al. 2020, Load-Balancing Sparse Matrix Vector Product Kernels on GPUs.
// Defined by the host: `Ring`, `OffsetT`, `OffsetS` (row pointers), PASS, TABLE (DenseTable or HashTable), THREADS.
#include "union_tables.cuh"
namespace kernels {  // a user's struct may have any name
#if PASS == 2
typedef Ring::B T;
typedef Ring::A S;
#else
typedef Ring::A T;
typedef Ring::B S;
#endif
typedef Ring::Out Out;
typedef TABLE<T, OffsetT> Table;
constexpr u32 WARPS = THREADS / 32;
// Steps of 32 entries per warp in flight.
constexpr u32 DEEP = sizeof(S) + sizeof(Out) <= 16 ? 4 : 1;

// The value of x in another lane, word by word: x is any struct.
template <class X> __device__ inline X of_lane(X x, u32 lane) {
  constexpr u32 WORDS = (sizeof(X) + 3) / 4;
  u32 words[WORDS] = {};
  memcpy(words, &x, sizeof(X));
#pragma unroll
  for (u32 w = 0; w < WORDS; ++w) words[w] = __shfl_sync(ALL, words[w], lane & 31);
  memcpy(&x, words, sizeof(X));
  return x;
}

// Global indices of the first rows of A and B, if they are parts of larger matrices: ⊗ gets the global row indices.
struct Firsts {
  u64 a, b;
};

// ⊗ of an entry of S with its partner in the row of T, if this pass visits it.
__device__ inline bool product(const Table& table, const Firsts& first, u64 t_row, u64 s_row, u32 k, const S& s,
                               Out& result) {
  T t;
#if PASS == 0
  if (!table.find(k, t)) return false;
  result = Ring::mul(t, s, first.a + t_row, k, first.b + s_row);
#elif PASS == 1
  if (!keeps(s)) return false;
  if (!table.find(k, t)) t = T(0);
  result = Ring::mul(t, s, first.a + t_row, k, first.b + s_row);
#else
  if (!keeps(s) || table.find(k, t)) return false;
  result = Ring::mul(s, T(0), first.a + s_row, k, first.b + t_row);
#endif
  return true;
}

// Folds that cross warp boundaries: of the row that began before the warp's share (`head`) and of the one that ends
// after it (`tail`); NONE if there is no such row. A share within one row has both, and only the head holds its fold.
struct Borders {
  u32 head[WARPS], tail[WARPS];
  Out head_fold[WARPS], tail_fold[WARPS];
};

// Destination of finished folds. Each result belongs to one block, so a fold is continued without atomics.
struct Sink {
  Out* out;  // the results of this row of T: contiguous, or `width` apart
  u64 width;
  bool fresh;  // only the identity is stored so far
  u32 head, tail;
  Borders* borders;
  __device__ void store(u32 s_row, const Out& fold) const {
#if PASS == 2
    Out* to = out + s_row * width;
#else
    Out* to = out + s_row;
#endif
    *to = fresh ? fold : Ring::add(*to, fold);
  }
  __device__ void take(u32 s_row, const Out& fold) const {
    if (s_row == head) borders->head_fold[warp_id()] = fold;
    else if (s_row == tail) borders->tail_fold[warp_id()] = fold;
    else store(s_row, fold);
  }
};

// The fold of a row that may continue, the same in all lanes.
struct Open {
  u32 row;
  Out fold;
};

// Joins the folds of the lanes row by row; rows never decrease from lane to lane. Finished ones go to the sink, and
// that of lane 31's row stays open, unless this is the last call.
__device__ inline void flush(u32 row, Out fold, Open& open, const Sink& sink, bool last) {
  const u32 lane = lane_id();
  const u32 before = __shfl_up_sync(ALL, row, 1), after = __shfl_down_sync(ALL, row, 1);
  const u32 heads = __ballot_sync(ALL, lane == 0 || before != row);
  const u32 start = 31 - __clz(heads & (ALL >> (31 - lane)));
  for (u32 d = 1; d < 32; d *= 2) {
    // Lanes below d receive a value that they do not use.
    const Out earlier = of_lane(fold, lane - d);
    if (lane >= start + d) fold = Ring::add(earlier, fold);
  }
  const bool ends = lane == 31 || after != row;
  const bool goes_on = open.row == __shfl_sync(ALL, row, 0);
  if (ends && start == 0 && goes_on) fold = Ring::add(open.fold, fold);
  if (lane == 0 && !goes_on && open.row != NONE) sink.take(open.row, open.fold);
  if (ends && row != NONE && (last || lane != 31)) sink.take(row, fold);
  open.row = __shfl_sync(ALL, row, 31);
  open.fold = of_lane(fold, 31);
}

// Folds a warp's `count` entries of S, stored in rows, columns, values.
__device__ inline void fold_share(const Table& table, const Firsts& first, u32 t_row, u32 low, u32 high,
                                  const u32* rows, const u32* columns, const S* values, u32 count, const Sink& sink) {
  Open open = {NONE, Ring::zero()};
  u32 current = NONE;
  Out fold = Ring::zero();
  for (u32 p = 0; p < count; p += 32 * DEEP) {
    u32 row[DEEP], k[DEEP];
    S s[DEEP];
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u) {
      const u32 q = p + u * 32 + lane_id();
      row[u] = NONE;
      if (q < count) row[u] = rows[q], k[u] = columns[q], s[u] = values[q];
    }
#pragma unroll
    for (u32 u = 0; u < DEEP; ++u) {
      if (p + u * 32 >= count) break;  // the same for all lanes
      if (!__all_sync(ALL, row[u] == current)) {
        if (p + u > 0) flush(current, fold, open, sink, false);
        current = row[u];
        fold = Ring::zero();
      }
      Out result;
      const bool mine = row[u] != NONE && (!Table::PARTS || (k[u] >= low && k[u] < high));
      if (mine && product(table, first, t_row, row[u], k[u], s[u], result)) fold = Ring::add(fold, result);
      __syncwarp();
    }
  }
  flush(current, fold, open, sink, true);
}

// Grid: a block per (chunk of S, row of T), rows of T fastest; `size` as the table defines it, whose storage is dynamic
// shared memory. chunks[c] = first row of chunk c. width = columns of C.
BOUNDED_KERNEL((THREADS, 1024 / THREADS), union_rows, const OffsetT* __restrict__ t_ptr, const u32* __restrict__ t_columns,
    const T* __restrict__ t_values, u64 t_rows, const OffsetS* __restrict__ s_ptr, const u32* __restrict__ s_rows,
    const u32* __restrict__ s_columns, const S* __restrict__ s_values, const u32* __restrict__ chunks, u32 size, u64 width,
    u64 first_a, u64 first_b, Out* out) {
  extern __shared__ __align__(16) unsigned char room[];
  __shared__ Borders borders;
  const u32 chunk = blockIdx.x / (u32)t_rows, t_row = blockIdx.x % (u32)t_rows, warp = warp_id();
  const u64 start = s_ptr[chunks[chunk]], end = s_ptr[chunks[chunk + 1]];
  const OffsetT t_start = t_ptr[t_row], t_end = t_ptr[t_row + 1ull];
  if (start == end || (PASS == 0 && t_start == t_end)) return;

  Out* const mine = PASS == 2 ? out + t_row : out + t_row * width;

  // The warps' shares, in whole steps. The host guarantees that a share's entries fit 32 bits.
  const u64 share = (end - start + THREADS - 1) / THREADS * 32;
  const u64 from = start + warp * share < end ? start + warp * share : end;
  const u64 to = from + share < end ? from + share : end;
  u32 head = NONE, tail = NONE;
  if (from < to) {
    const u32 first = s_rows[from], last = s_rows[to - 1];
    if (s_ptr[first] < from) head = first;
    if (s_ptr[last + 1ull] > to) tail = last;
  }
  if (lane_id() == 0) borders.head[warp] = head, borders.tail[warp] = tail;

  // A row that fills more than half a table is processed in parts of about equally many entries; a part covers the
  // columns after the previous part's last one, up to its own last one.
  const u64 entries = t_end - t_start, most = Table::PARTS && size / 2 < entries ? size / 2 : entries;
  const u32 parts = most == 0 ? 1 : (u32)((entries + most - 1) / most);
  for (u32 part = 0; part < parts; ++part) {
    const OffsetT t_from = t_start + (OffsetT)(entries * part / parts);
    const OffsetT t_to = t_start + (OffsetT)(entries * (part + 1) / parts);
    const u32 low = part == 0 ? 0 : t_columns[t_from - 1] + 1;
    const u32 high = part + 1 == parts ? NONE : t_columns[t_to - 1] + 1;
    Table table;
    table.load(room, size, t_columns, t_values, t_from, t_to);
    const Sink sink = {mine, width, PASS != 2 && part == 0, head, tail, &borders};
    if (from < to)
      fold_share(table, {first_a, first_b}, t_row, low, high, s_rows + from, s_columns + from, s_values + from,
                 (u32)(to - from), sink);
    __syncthreads();
    // Rows across warps: the warp with the beginning joins the rest, in order.
    const u32 w = threadIdx.x;
    if (w < WARPS && borders.tail[w] != NONE && borders.tail[w] != borders.head[w]) {
      const u32 row = borders.tail[w];
      Out fold = borders.tail_fold[w];
      for (u32 v = w + 1; v < WARPS && borders.head[v] == row; ++v) {
        fold = Ring::add(fold, borders.head_fold[v]);
        if (borders.tail[v] != row) break;
      }
      sink.store(row, fold);
    }
    __syncthreads();  // before the table and the borders are reused
  }
}

// chunks[c] = first row of S that begins at entry c · each or later, for c = 0..count; chunks[count] = rows. Grid: a
// thread per chunk boundary.
KERNEL(union_chunks, const OffsetS* s_ptr, u64 rows, u64 each, u64 count, u32* chunks) {
  const u64 c = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (c > count) return;
  u64 from = 0, to = rows;
  while (c < count && from < to) {
    const u64 middle = from + (to - from) / 2;
    if (s_ptr[middle] < c * each) from = middle + 1; else to = middle;
  }
  chunks[c] = c == count ? (u32)rows : (u32)from;
}

// out[p] = identity of ⊕. Grid: any number of threads.
KERNEL(union_fill, Out* out, u64 len) {
  for (u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x; p < len; p += (u64)gridDim.x * blockDim.x)
    out[p] = Ring::zero();
}

}  // namespace kernels
