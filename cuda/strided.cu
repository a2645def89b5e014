// strided.cu: C(o) = (β ⊗ C(o)) ⊕ (α ⊗ ⊕ₖ A(o, k) ⊗ B(o, k)), or ⊕ₖ A(o, k), for any number of indices of any strides.
// Grid: a thread for each element of C, neighbours along the last of its indices. Each folds from the identity of ⊕,
// through the folded indices as they stand, the last fastest. Set in front: `Ring`; OUT, FOLDED: indices, those that
// are not needed having one value; SINGLE: there is no B.
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::Out T;
// ⊗, which is told no places here.
__device__ inline T times(T a, T b) { return Ring::mul(a, b, 0, 0, 0); }
struct Indices {
  u64 extent[OUT], a[OUT], b[OUT], c[OUT];
  u64 folded[FOLDED], folded_a[FOLDED], folded_b[FOLDED];
};

// Adds the places of element `e` of C, which are counted in numbers of type N.
template <class N> __device__ inline void find(const Indices& indices, N e, u64& a, u64& b, u64& c) {
#pragma unroll
  for (int o = OUT - 1; o >= 0; --o) {
    const N extent = (N)indices.extent[o], i = o == 0 ? e : e % extent;
    a += i * indices.a[o];
    b += i * indices.b[o];
    c += i * indices.c[o];
    e /= extent;
  }
}

// `old`: 0: C is not read, 1: kept, 2: times β; `alpha`: sums are multiplied by it; `scalars` holds α and β.
KERNEL(strided, const T* a, const T* b, T* c, u64 count, Indices indices, u32 alpha, u32 old, const T* scalars) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  u64 at_a = 0, at_b = 0, at_c = 0;
  if (count >> 32)
    find<u64>(indices, e, at_a, at_b, at_c);
  else
    find<u32>(indices, (u32)e, at_a, at_b, at_c);
  T sum = Ring::zero();
  bool more = true;
  u64 index[FOLDED];
#pragma unroll
  for (u32 f = 0; f < FOLDED; ++f) {
    index[f] = 0;
    more = more && indices.folded[f] > 0;
  }
  while (more) {
    const u64 step_a = indices.folded_a[FOLDED - 1], step_b = indices.folded_b[FOLDED - 1];
    u64 in_a = at_a, in_b = at_b;
    for (u64 i = 0; i < indices.folded[FOLDED - 1]; ++i, in_a += step_a, in_b += step_b) {
#ifdef SINGLE
      sum = Ring::add(sum, a[in_a]);
#else
      sum = Ring::fold(sum, a[in_a], b[in_b]);
#endif
    }
    // On to the next values of the indices before the last.
#pragma unroll
    for (int f = (int)FOLDED - 2; f >= -1; --f) {
      if (f < 0) {
        more = false;
        break;
      }
      at_a += indices.folded_a[f];
      at_b += indices.folded_b[f];
      if (++index[f] < indices.folded[f]) break;
      at_a -= indices.folded[f] * indices.folded_a[f];
      at_b -= indices.folded[f] * indices.folded_b[f];
      index[f] = 0;
    }
  }
  if (alpha) sum = times(scalars[0], sum);
  if (old == 1) sum = Ring::add(c[at_c], sum);
  if (old == 2) sum = Ring::add(times(scalars[1], c[at_c]), sum);
  c[at_c] = sum;
}
}  // namespace kernels
