// strided.cu: C(o) = (β ⊗ C(o)) ⊕ (α ⊗ ⊕ₖ A(o, k) ⊗ B(o, k)), or ⊕ₖ A(o, k), for any number of indices of any strides.
// Grid of `strided`: a thread per element of C, neighbors along its last index. Each folds from the identity of ⊕, over
// the folded indices in order, the last fastest. If C has few elements, `strided_parts` folds parts of each element's
// terms, and `strided_join` folds the parts. The order depends only on the extents. Defined by the host: `Ring`; OUT,
// FOLDED: numbers of indices, padded with extents of 1; SINGLE: there is no B.
#include "parts.cuh"
namespace kernels {  // a user's struct may have any name
typedef Ring::Out T;
// ⊗ without positions.
__device__ inline T times(T a, T b) { return Ring::mul(a, b, 0, 0, 0); }
constexpr u32 SHORT = 128, WIDE = 256;
struct Indices {
  u64 extent[OUT], a[OUT], b[OUT], c[OUT];
  u64 folded[FOLDED], folded_a[FOLDED], folded_b[FOLDED];
};

// Adds the offsets of element `e` of C; element indices have type N.
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

// A fold in a fixed tree: values in order by 32, sums of these by 32, sums of those in order. Up to SHORT values form
// one chain.
struct Tree {
  T sums[3];
  u32 count[3], chain;
  __device__ explicit Tree(u64 values) : chain(values <= SHORT ? SHORT : 32) {
#pragma unroll
    for (u32 l = 0; l < 3; ++l) {
      sums[l] = Ring::zero();
      count[l] = 0;
    }
  }
  // How many more values the current chain takes.
  __device__ u32 left() const { return chain - count[0]; }
  // Folds the value of level `l` into the next level. Empty levels never take part: ⊕ = any has no true identity.
  __device__ void close(u32 l) {
    if (count[l] == 0) return;
    sums[l + 1] = count[l + 1] == 0 ? sums[l] : Ring::add(sums[l + 1], sums[l]);
    ++count[l + 1];
    sums[l] = Ring::zero();
    count[l] = 0;
  }
  // Called after values were folded into sums[0].
  __device__ void took(u32 values) {
    count[0] += values;
    if (count[0] < chain) return;
    close(0);
    if (count[1] == 32) close(1);
  }
  __device__ T total() {
    close(0);
    close(1);
    return sums[2];
  }
};

// Folds one more term.
__device__ inline T fold(T sum, const T* a, const T* b) {
#ifdef SINGLE
  return Ring::add(sum, *a);
#else
  return Ring::fold(sum, *a, *b);
#endif
}
// Terms in flight: for a single operand, the compiler takes care of it.
#ifdef SINGLE
constexpr u32 AHEAD = 1;
#else
constexpr u32 AHEAD = sizeof(T) <= 8 ? 4 : 1;
#endif

// The fold for the element whose values begin at at_a and at_b. Of the last folded index, it covers values `lane`, lane
// + lanes, …; of the others, counted together, those of share `share` of `shares`. No part is empty.
__device__ inline T fold_part(const T* a, const T* b, u64 at_a, u64 at_b, const Indices& indices, u32 lane, u32 lanes,
                              u32 share, u32 shares) {
  u64 others = 1, index[FOLDED];
#pragma unroll
  for (u32 f = 0; f + 1 < FOLDED; ++f) others *= indices.folded[f];
  const u64 extent = indices.folded[FOLDED - 1];
  if (others == 0 || extent == 0) return Ring::zero();
  const u64 first = others / shares * share + min((u64)share, others % shares);
  const u64 rows = others / shares + (share < others % shares);
  u64 rest = first;
#pragma unroll
  for (int f = (int)FOLDED - 2; f >= 0; --f) {
    index[f] = rest % indices.folded[f];
    rest /= indices.folded[f];
    at_a += index[f] * indices.folded_a[f];
    at_b += index[f] * indices.folded_b[f];
  }
  const u64 step_a = indices.folded_a[FOLDED - 1] * lanes, step_b = indices.folded_b[FOLDED - 1] * lanes;
  const u64 each = (extent - lane + lanes - 1) / lanes;
  Tree tree(each * rows);
  for (u64 row = 0; row < rows; ++row) {
    u64 in_a = at_a + lane * indices.folded_a[FOLDED - 1], in_b = at_b + lane * indices.folded_b[FOLDED - 1];
    for (u64 left = each; left > 0;) {
      const u32 now = left < tree.left() ? (u32)left : tree.left();
      T sum = tree.sums[0];
      u32 i = 0;
      for (; i + AHEAD <= now; i += AHEAD) {
        T of_a[AHEAD], of_b[AHEAD];
#pragma unroll
        for (u32 u = 0; u < AHEAD; ++u, in_a += step_a, in_b += step_b) {
          of_a[u] = a[in_a];
#ifndef SINGLE
          of_b[u] = b[in_b];
#endif
        }
#pragma unroll
        for (u32 u = 0; u < AHEAD; ++u) sum = fold(sum, of_a + u, of_b + u);
      }
      for (; i < now; ++i, in_a += step_a, in_b += step_b) sum = fold(sum, a + in_a, b + in_b);
      tree.sums[0] = sum;
      tree.took(now);
      left -= now;
    }
    // Advances to the next values of the indices before the last.
#pragma unroll
    for (int f = (int)FOLDED - 2; f >= 0; --f) {
      at_a += indices.folded_a[f];
      at_b += indices.folded_b[f];
      if (++index[f] < indices.folded[f]) break;
      at_a -= indices.folded[f] * indices.folded_a[f];
      at_b -= indices.folded[f] * indices.folded_b[f];
      index[f] = 0;
    }
  }
  return tree.total();
}

// The offsets of element `e` of C's `count` elements.
__device__ inline void find_any(const Indices& indices, u64 count, u64 e, u64& a, u64& b, u64& c) {
  if (count >> 32)
    find<u64>(indices, e, a, b, c);
  else
    find<u32>(indices, (u32)e, a, b, c);
}

// `old`: 0: C is not read, 1: retained, 2: times β; `alpha`: sums are multiplied by α; `scalars` holds α and β.
__device__ inline void update(T* at, T sum, u32 alpha, u32 old, const T* scalars) {
  if (alpha) sum = times(scalars[0], sum);
  if (old == 1) sum = Ring::add(*at, sum);
  if (old == 2) sum = Ring::add(times(scalars[1], *at), sum);
  *at = sum;
}

KERNEL(strided, const T* a, const T* b, T* c, u64 count, Indices indices, u32 alpha, u32 old, const T* scalars) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  u64 at_a = 0, at_b = 0, at_c = 0;
  find_any(indices, count, e, at_a, at_b, at_c);
  update(c + at_c, fold_part(a, b, at_a, at_b, indices, 0, 1, 0, 1), alpha, old, scalars);
}

// parts[e · P + p] = the p-th of P = lanes · shares parts of the fold for element e. Grid: a thread per part, neighbors
// along the parts, or along the elements with `across`.
KERNEL(strided_parts, const T* a, const T* b, T* parts, u64 count, Indices indices, u32 lanes, u32 shares, u32 across) {
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, all = (u64)lanes * shares;
  if (thread >= count * all) return;
  const u64 e = across ? thread % count : thread / all;
  const u32 p = (u32)(across ? thread / count : thread % all);
  u64 at_a = 0, at_b = 0, at_c = 0;
  find_any(indices, count, e, at_a, at_b, at_c);
  parts[e * all + p] = fold_part(a, b, at_a, at_b, indices, p % lanes, lanes, p / lanes, shares);
}

// Grid: a block of WIDE threads per element of C. Thread t folds parts t, t + WIDE, …, then the threads' results are
// folded by halves.
KERNEL(strided_join, const T* parts, T* c, u64 count, Indices indices, u32 all, u32 alpha, u32 old, const T* scalars) {
  __shared__ T room[WIDE];
  const u64 e = blockIdx.x;
  const u32 active = all < WIDE ? all : WIDE, t = threadIdx.x;
  if (t < active) {
    Tree tree((all - t + WIDE - 1) / WIDE);
    for (u32 p = t; p < all; p += WIDE) {
      tree.sums[0] = Ring::add(tree.sums[0], parts[e * all + p]);
      tree.took(1);
    }
    room[t] = tree.total();
  }
  for (u32 half = WIDE / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half && t + half < active) room[t] = Ring::add(room[t], room[t + half]);
  }
  if (t != 0) return;
  u64 at_a = 0, at_b = 0, at_c = 0;
  find_any(indices, count, e, at_a, at_b, at_c);
  update(c + at_c, room[0], alpha, old, scalars);
}
}  // namespace kernels
