// assign.cu: w(i) = x at the pattern of a sparse vector, and arrays of one value. Grid: a thread per entry; one block.
// The host defines `Value`, plain words of a value's size. The value is a parameter, or at `from` if that is not null,
// so that one program serves all values.
#include "parts.cuh"

// `present` is null if w is full.
KERNEL(assign, const u32* indices, u64 nnz, const Value* from, Value x, bool* present, Value* w) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= nnz) return;
  const u32 i = indices[p];
  w[i] = from != nullptr ? from[0] : x;
  if (present != nullptr) present[i] = true;
}

KERNEL(set_value, Value x, Value* to) {
  if (threadIdx.x == 0) to[0] = x;
}
