// assign.cu: w(i) = x where a sparse vector has an entry.
// Grid: a thread an entry. `Value` (plain words as large as a value) is set in front.
#include "parts.cuh"

// The value lies in memory: another one needs no other program.
KERNEL(assign, const u32* places, u64 nnz, const Value* x, Value* w) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < nnz) w[places[p]] = x[0];
}
