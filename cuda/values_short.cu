// values_short.cu: rows of C of up to 128 entries, LANES lanes per row; a hash table maps a column to its entry. Grid:
// one block of 256 threads per 256 / LANES rows. Shared memory: values, keys and ranks of each. See values.cuh.
#include "values.cuh"

template <u32 SLOTS> struct Group {
  // A smaller group would spend its time on the table.
  static constexpr u32 LANES = GROUP > SLOTS / 32 ? GROUP : SLOTS / 32;
  static constexpr u32 PER_BLOCK = 256 / LANES;
  static constexpr u32 ENTRIES = SLOTS / 2;
};

// Locates the entry of a product by its column.
template <u32 SLOTS> struct ByColumn {
  using Read = u32;
  static constexpr u32 NOTHING = NONE, NOWHERE = NONE;
  const u32* keys;
  const unsigned char* ranks;
  __device__ Read read(const Operands& m, OffsetB place, OffsetP) const { return m.b_col[place]; }
  __device__ u32 column(const Operands&, Read j, OffsetB) const { return j; }
  __device__ u32 rank(Read j) const { return rank_of(keys, ranks, SLOTS, j); }
};

template <u32 SLOTS> __device__ inline void short_rows(u32 nrows, const u32* rows, const Operands& m) {
  using G = Group<SLOTS>;
  constexpr u32 LANES = G::LANES, ENTRIES = G::ENTRIES;
  extern __shared__ __align__(16) unsigned char shared[];
  const u32 group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  constexpr u32 VALUES = (sizeof(Value) * ENTRIES * G::PER_BLOCK + 15) / 16 * 16;
  Value* values = (Value*)shared + group * ENTRIES;
  u32* keys = (u32*)(shared + VALUES) + group * SLOTS;
  unsigned char* ranks = (unsigned char*)(shared + VALUES + 4 * SLOTS * G::PER_BLOCK) + group * SLOTS;

  const u64 at = (u64)blockIdx.x * G::PER_BLOCK + group;
  const bool some = at < nrows;
  const u32 row = some ? rows[at] : 0;
  const OffsetA begin = some ? m.a_ptr[row] : 0, end = some ? m.a_ptr[row + 1] : 0;
  const OffsetC out = some ? m.c_ptr[row] : 0;
  const u32 length = some ? (u32)(m.c_ptr[row + 1] - out) : 0;

  for (u32 s = lane; s < SLOTS; s += LANES) keys[s] = NONE;
  for (u32 e = lane; e < length; e += LANES) values[e] = Ring::zero();
  __syncwarp();
  for (u32 e = lane; e < length; e += LANES) insert(keys, ranks, SLOTS, m.c_col[out + e], e);
  __syncwarp();
  fold_by_lanes<LANES>(m, ByColumn<SLOTS>{keys, ranks}, values, row, begin, end, 0);
  for (u32 e = lane; e < length; e += LANES) m.c_val[out + e] = values[e];
}

BOUNDED_KERNEL((256, 4), values_16, u32 nrows, const u32* rows, Operands m) {
  short_rows<32>(nrows, rows, m);
}
BOUNDED_KERNEL((256, 4), values_64, u32 nrows, const u32* rows, Operands m) {
  short_rows<128>(nrows, rows, m);
}
BOUNDED_KERNEL((256, 4), values_128, u32 nrows, const u32* rows, Operands m) {
  short_rows<256>(nrows, rows, m);
}
