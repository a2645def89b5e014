// index.cu: the inverse of an index list, and the indices of a range. Grid: a thread an index.
#include "parts.cuh"

// map[list[p]] = p; every byte of it is 255 before. Of equal indices one counts.
KERNEL(list_inverse, const u32* list, u64 len, u32* map) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < len) map[list[p]] = (u32)p;
}

KERNEL(list_of_range, u64 start, u64 step, u64 len, u32* list) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < len) list[p] = (u32)(start + p * step);
}
