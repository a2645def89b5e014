// values_mapped.cu: rows of C of up to 128 entries, if the entry of every product is known (spgemm_map.cu). Grid: one
// block of 256 threads per 256 / GROUP rows, or per 256 of the shortest. Shared memory: values. See values.cuh.
#include "values.cuh"

// Locates the entry of a product by the product's index.
struct ByNumber {
  using Read = unsigned char;
  static constexpr Read NOTHING = ABSENT;
  static constexpr u32 NOWHERE = ABSENT;
  const unsigned char* map;
  __device__ Read read(const Operands&, OffsetB, OffsetP number) const { return map[number]; }
  __device__ u32 column(const Operands& m, Read, OffsetB place) const {
    if constexpr (Ring::reads_place) return m.b_col[place];
    return 0;
  }
  __device__ u32 rank(Read rank) const { return rank; }
};

template <u32 ENTRIES>
__device__ inline void mapped_rows(u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map,
                                   const Operands& m) {
  constexpr u32 GROUPS = 256 / GROUP;
  extern __shared__ __align__(16) unsigned char shared[];
  const u32 group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
  Value* values = (Value*)shared + group * ENTRIES;
  const u64 at = (u64)blockIdx.x * GROUPS + group;
  const bool some = at < nrows;
  const u32 row = some ? rows[at] : 0;
  const OffsetA begin = some ? m.a_ptr[row] : 0, end = some ? m.a_ptr[row + 1] : 0;
  const OffsetC out = some ? m.c_ptr[row] : 0;
  const u32 length = some ? (u32)(m.c_ptr[row + 1] - out) : 0;
  const OffsetP first = some ? place[row] : 0;
  for (u32 e = lane; e < length; e += GROUP) values[e] = Ring::zero();
  __syncwarp();
  fold_by_lanes<GROUP>(m, ByNumber{map}, values, row, begin, end, first);
  for (u32 e = lane; e < length; e += GROUP) m.c_val[out + e] = values[e];
}

// The shortest rows: a thread per row. Value e of the row of thread t is values[e · 256 + t].
__device__ inline void mapped_by_threads(u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map,
                                         const Operands& m) {
  extern __shared__ __align__(16) unsigned char shared[];
  Value* values = (Value*)shared;
  const u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
  const bool some = at < nrows;
  const u32 row = some ? rows[at] : 0;
  const OffsetC out = some ? m.c_ptr[row] : 0;
  const u32 length = some ? (u32)(m.c_ptr[row + 1] - out) : 0;
  for (u32 e = 0; e < length; ++e) values[e * 256 + threadIdx.x] = Ring::zero();
  if (some) {
    const unsigned char* ranks = map + place[row];
    const OffsetA end = m.a_ptr[row + 1];
    for (OffsetA e = m.a_ptr[row]; e < end; ++e) {
      const u32 k = m.a_col[e];
      Left left;
      if constexpr (Ring::reads_a) left = m.a_val[e];
      const OffsetB start = m.b_ptr[k];
      const u32 n = (u32)(m.b_ptr[k + 1] - start);
#pragma unroll 4
      for (u32 o = 0; o < n; ++o) {
        const u32 rank = ranks[o];
        Right right;
        u32 j = 0;
        if constexpr (Ring::reads_b) right = m.b_val[start + o];
        if constexpr (Ring::reads_place) j = m.b_col[start + o];
        Value& value = values[rank * 256 + threadIdx.x];
        value = Ring::add(value, Ring::mul(left, right, row, k, j));
      }
      ranks += n;
    }
  }
  // Written by the warp together, because its rows are mostly adjacent.
  __syncwarp();
  const u32 upto = warp_inclusive_sum(length);
  const u32 total = __shfl_sync(ALL, upto, 31);
  const u32 first = threadIdx.x & ~31u;
  for (u32 base = 0; base < total; base += 32) {
    const u32 p = base + lane_id();
    u32 owner = 0;  // the first lane whose sum exceeds p
    for (u32 step = 16; step > 0; step /= 2)
      if (__shfl_sync(ALL, upto, owner + step - 1) <= p) owner += step;
    const OffsetC to = __shfl_sync(ALL, out, owner);
    const u32 before = __shfl_sync(ALL, upto - length, owner);
    if (p < total) m.c_val[to + (p - before)] = values[(p - before) * 256 + first + owner];
  }
}

BOUNDED_KERNEL((256, 4), mapped_64, u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map, Operands m) {
  mapped_rows<64>(nrows, rows, place, map, m);
}
BOUNDED_KERNEL((256, 4), mapped_128, u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map, Operands m) {
  mapped_rows<128>(nrows, rows, place, map, m);
}
BOUNDED_KERNEL((256, 4), mapped_16, u32 nrows, const u32* rows, const OffsetP* place, const unsigned char* map, Operands m) {
  mapped_by_threads(nrows, rows, place, map, m);
}
