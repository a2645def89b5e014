// index.cu: the inverse of an index list, the indices of a range, and values as indices. Grid: a thread per index. With
// VALUES, the host defines `Number`, an ordered type.
#include "parts.cuh"

#ifdef VALUES
// list[p] = values[p]. facts[0] = 1 if some value is not an index, facts[1] = 1 if some is not above its predecessor,
// facts[2] = one past the greatest; initially 0.
KERNEL(list_of_values, const Number* values, u64 n, u32* list, u32* facts) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  u32 bound = 0;
  if (p < n) {
    const Number x = values[p];
    const u64 i = sr::cast<u64>(x);
    // A negative number wraps to one that is too large, or is cast to 0, which differs from it.
    const bool is_index = i < NONE && sr::eq(sr::cast<Number>(i), x);
    if (!is_index) facts[0] = 1;
    if (p > 0 && !sr::lt(values[p - 1], x)) facts[1] = 1;
    list[p] = is_index ? (u32)i : 0;
    bound = is_index ? (u32)i + 1 : 0;
  }
  bound = warp_max(bound);
  if (lane_id() == 0 && bound > 0) atomicMax(&facts[2], bound);
}
#else

// map[list[p]] = p; all its bytes are initially 255. Of equal indices any one wins.
KERNEL(list_inverse, const u32* list, u64 len, u32* map) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < len) map[list[p]] = (u32)p;
}

KERNEL(list_of_range, u64 start, u64 step, u64 len, u32* list) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p < len) list[p] = (u32)(start + p * step);
}
#endif
