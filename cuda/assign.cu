// assign.cu: w(i) = x where a sparse vector has an entry; an array of one value. Grid: a thread an entry; one block.
// `Value` (plain words as large as a value) is set in front. The value is a parameter, or lies at `from`, if that is
// not null: another one needs no other program.
#include "parts.cuh"

// `present` is null where every place of w has an entry.
KERNEL(assign, const u32* places, u64 nnz, const Value* from, Value x, bool* present, Value* w) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= nnz) return;
  const u32 i = places[p];
  w[i] = from != nullptr ? from[0] : x;
  if (present != nullptr) present[i] = true;
}

KERNEL(set_value, Value x, Value* to) {
  if (threadIdx.x == 0) to[0] = x;
}
