// strided.cu: C(o) = (β ⊗ C(o)) ⊕ (α ⊗ ⊕ₖ A(o, k) ⊗ B(o, k)), or ⊕ₖ A(o, k), for any number of indices of any strides.
// Grid of `strided`: a thread per element of C, neighbors along its last index. Each folds from the identity of ⊕, over
// the folded indices in order, the last fastest. If C has few elements, or many terms for each, `strided_parts` folds
// parts of each element's terms, `strided_groups` folds groups of parts, and `strided_few` or `strided_join` what is
// left; where neighboring terms are neighbors in memory, `strided_wide` takes the place of the first two. The order
// depends only on the extents. Defined by the host: `Ring`; OUT, FOLDED: numbers of indices, padded with extents of 1;
// SINGLE: there is no B.
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
  __device__ Tree() {}
  __device__ explicit Tree(u64 values) : chain(values <= SHORT ? SHORT : 32) {
#pragma unroll
    for (u32 l = 0; l < 3; ++l) {
      sums[l] = Ring::zero();
      count[l] = 0;
    }
  }
  // Folds the value of level `l` into the next level. Empty levels never take part: ⊕ = any has no true identity.
  __device__ void close(u32 l) {
    if (count[l] == 0) return;
    sums[l + 1] = count[l + 1] == 0 ? sums[l] : Ring::add(sums[l + 1], sums[l]);
    ++count[l + 1];
    sums[l] = Ring::zero();
    count[l] = 0;
  }
  // Called after values were folded into sums[0]; chains are multiples of them.
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
// Values of one load: more than one where neighboring terms are neighbors in memory.
constexpr u32 WIDTH = sizeof(T) <= 4 ? 4 : sizeof(T) == 8 ? 2 : 1;
// Loads in flight.
template <u32 V> constexpr u32 FLIGHT =
#ifdef SINGLE
    sizeof(T) > 8 ? 2 : V == 1 ? 8 : 4;
#else
    sizeof(T) > 8 ? 1 : 4;
#endif
template <u32 V> struct alignas(V == 1 ? alignof(T) : V * sizeof(T)) Neighbors {
  T of[V];
};
template <u32 V> __device__ inline Neighbors<V> load(const T* from) {
  return *reinterpret_cast<const Neighbors<V>*>(from);
}

// V folds, of neighboring lanes for one element, or of one lane for neighboring elements: those of fold v begin at at_a
// + v and at_b + v. Of the last folded index, the fold of a lane covers values lane, lane + lanes, …; of the others,
// counted together, those of share `share` of `shares`. No fold is empty, and all V have as many terms; a load takes
// the terms of all.
template <u32 V> __device__ inline Neighbors<V> fold_lanes(const T* a, const T* b, u64 at_a, u64 at_b,
                                                           const Indices& indices, u32 lane, u32 lanes, u32 share,
                                                           u32 shares) {
  Neighbors<V> totals;
  u64 others = 1, index[FOLDED];
#pragma unroll
  for (u32 f = 0; f + 1 < FOLDED; ++f) others *= indices.folded[f];
  const u64 extent = indices.folded[FOLDED - 1];
  if (others == 0 || extent == 0) {
#pragma unroll
    for (u32 v = 0; v < V; ++v) totals.of[v] = Ring::zero();
    return totals;
  }
  u64 rest = others / shares * share + min((u64)share, others % shares);
#pragma unroll
  for (int f = (int)FOLDED - 2; f >= 0; --f) {
    index[f] = rest % indices.folded[f];
    rest /= indices.folded[f];
    at_a += index[f] * indices.folded_a[f];
    at_b += index[f] * indices.folded_b[f];
  }
  const u64 each = (extent - lane + lanes - 1) / lanes, terms = each * (others / shares + (share < others % shares));
  const u64 from_a = lane * indices.folded_a[FOLDED - 1], from_b = lane * indices.folded_b[FOLDED - 1];
  const u64 step_a = lanes * indices.folded_a[FOLDED - 1], step_b = lanes * indices.folded_b[FOLDED - 1];
  u64 in_a = at_a + from_a, in_b = at_b + from_b, left = each;
  // Advances to the next term.
  const auto next = [&] {
    in_a += step_a;
    in_b += step_b;
    if (--left > 0) return;
#pragma unroll
    for (int f = (int)FOLDED - 2; f >= 0; --f) {
      at_a += indices.folded_a[f];
      at_b += indices.folded_b[f];
      if (++index[f] < indices.folded[f]) break;
      at_a -= indices.folded[f] * indices.folded_a[f];
      at_b -= indices.folded[f] * indices.folded_b[f];
      index[f] = 0;
    }
    in_a = at_a + from_a;
    in_b = at_b + from_b;
    left = each;
  };
  constexpr u32 FLIGHT = kernels::FLIGHT<V>;
  Tree trees[V];
#pragma unroll
  for (u32 v = 0; v < V; ++v) trees[v] = Tree(terms);
  u64 done = 0;
  for (; done + FLIGHT <= terms; done += FLIGHT) {
    Neighbors<V> of_a[FLIGHT], of_b[FLIGHT];
#pragma unroll
    for (u32 u = 0; u < FLIGHT; ++u) {
      of_a[u] = load<V>(a + in_a);
#ifndef SINGLE
      of_b[u] = load<V>(b + in_b);
#endif
      next();
    }
#pragma unroll
    for (u32 v = 0; v < V; ++v) {
      T sum = trees[v].sums[0];
#pragma unroll
      for (u32 u = 0; u < FLIGHT; ++u) sum = fold(sum, of_a[u].of + v, of_b[u].of + v);
      trees[v].sums[0] = sum;
      trees[v].took(FLIGHT);
    }
  }
  for (; done < terms; ++done) {
#pragma unroll
    for (u32 v = 0; v < V; ++v) {
      trees[v].sums[0] = fold(trees[v].sums[0], a + in_a + v, b + in_b + v);
      trees[v].took(1);
    }
    next();
  }
#pragma unroll
  for (u32 v = 0; v < V; ++v) totals.of[v] = trees[v].total();
  return totals;
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
  update(c + at_c, fold_lanes<1>(a, b, at_a, at_b, indices, 0, 1, 0, 1).of[0], alpha, old, scalars);
}

// parts[e · P + p] = the p-th of P = lanes · shares parts of the fold for element e. Grid: a thread per part.
KERNEL(strided_parts, const T* a, const T* b, T* parts, u64 count, Indices indices, u32 lanes, u32 shares) {
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, all = (u64)lanes * shares;
  if (thread >= count * all) return;
  const u32 p = (u32)(thread % all);
  u64 at_a = 0, at_b = 0, at_c = 0;
  find_any(indices, count, thread / all, at_a, at_b, at_c);
  parts[thread] = fold_lanes<1>(a, b, at_a, at_b, indices, p % lanes, lanes, p / lanes, shares).of[0];
}

template <u32 V> __device__ inline void fold_elements(const T* a, const T* b, T* parts, u64 count, const Indices& indices,
                                                      u32 lanes, u32 shares) {
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, all = (u64)lanes * shares;
  if (thread >= count / V * all) return;
  const u64 e = thread % (count / V) * V;
  const u32 p = (u32)(thread / (count / V));
  u64 at_a = 0, at_b = 0, at_c = 0;
  find_any(indices, count, e, at_a, at_b, at_c);
  const auto found = fold_lanes<V>(a, b, at_a, at_b, indices, p % lanes, lanes, p / lanes, shares);
  *reinterpret_cast<Neighbors<V>*>(parts + p * count + e) = found;
}
// parts[p · count + e] = the same. Grid: a thread per part, or with `wide` per WIDTH parts: the last index of C then
// has stride 1 in A and in B, and all other strides and its extent are multiples of WIDTH.
KERNEL(strided_across, const T* a, const T* b, T* parts, u64 count, Indices indices, u32 lanes, u32 shares, u32 wide) {
  if (wide)
    fold_elements<WIDTH>(a, b, parts, count, indices, lanes, shares);
  else
    fold_elements<1>(a, b, parts, count, indices, lanes, shares);
}

// Folds each of the `room`'s `all` values in groups of `group`, a power of two, by halves: value t with value
// t + group / 2, and so on. The results lie at the beginnings of the groups; those from `valid` on mean nothing.
__device__ inline void fold_groups(T* room, u32 all, u32 group, u64 valid) {
  for (u32 half = group / 2; half > 0; half /= 2) {
    __syncthreads();
    for (u32 i = threadIdx.x; i < all / group * half; i += blockDim.x) {
      const u32 at = i / half * group + i % half;
      if (at < valid) room[at] = Ring::add(room[at], room[at + half]);
    }
  }
  __syncthreads();
}

// groups[g] = the fold of parts g · group, …, (g + 1) · group - 1. Grid: a thread per part.
KERNEL(strided_groups, const T* parts, T* groups, u64 all, u32 group) {
  __shared__ T room[WIDE];
  const u64 first = (u64)blockIdx.x * WIDE, part = first + threadIdx.x;
  if (part < all) room[threadIdx.x] = parts[part];
  fold_groups(room, WIDE, group, all - first);
  if (part < all && threadIdx.x % group == 0) groups[part / group] = room[threadIdx.x];
}

// The same for the parts of `strided_across`; `all` is the number of groups of an element. Grid: a thread per group,
// neighbors along the elements.
KERNEL(strided_groups_across, const T* parts, T* groups, u64 count, u32 all, u32 group) {
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= count * all) return;
  const u64 e = thread % count, g = thread / count;
  // Folding by halves is folding neighbors in the order of the reversed bits: sums of 2ᵏ of them wait in sums[k].
  T sums[9];
  for (u32 s = 0; s < group; ++s) {
    const u32 p = group == 1 ? 0 : __brev(s) >> (__clz(group) + 1);
    T sum = parts[(g * group + p) * count + e];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) {
      if (s >> k & 1)
        sum = Ring::add(sums[k], sum);
      else {
        sums[k] = sum;
        break;
      }
    }
    if (s + 1 == group) groups[e * all + g] = sum;
  }
}

// The same as `strided_parts` and `strided_groups`: a thread folds WIDTH parts of neighboring lanes, whose terms one
// load takes. The last folded index has stride 1 in A and in B, all other strides, its extent and `lanes` are multiples
// of WIDTH. Grid: a thread per WIDTH parts.
KERNEL(strided_wide, const T* a, const T* b, T* groups, u64 count, Indices indices, u32 lanes, u32 shares, u32 group) {
  __shared__ T room[WIDE * WIDTH];
  const u64 first = (u64)blockIdx.x * WIDE, thread = first + threadIdx.x;
  const u64 all = (u64)lanes / WIDTH * shares;
  if (thread < count * all) {
    const u32 p = (u32)(thread % all), lane = p % (lanes / WIDTH) * WIDTH, share = p / (lanes / WIDTH);
    u64 at_a = 0, at_b = 0, at_c = 0;
    find_any(indices, count, thread / all, at_a, at_b, at_c);
    const auto totals = fold_lanes<WIDTH>(a, b, at_a, at_b, indices, lane, lanes, share, shares);
#pragma unroll
    for (u32 w = 0; w < WIDTH; ++w) room[threadIdx.x * WIDTH + w] = totals.of[w];
  }
  fold_groups(room, WIDE * WIDTH, group, (count * all - first) * WIDTH);
  for (u32 g = threadIdx.x; g < WIDE * WIDTH / group; g += WIDE) {
    const u64 at = first * WIDTH / group + g;
    if (at < count * all * WIDTH / group) groups[at] = room[g * group];
  }
}

// Grid: a thread per element of C folds its `all` groups in order.
KERNEL(strided_few, const T* groups, T* c, u64 count, Indices indices, u32 all, u32 alpha, u32 old, const T* scalars) {
  const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  T sum = groups[e * all];
  for (u32 p = 1; p < all; ++p) sum = Ring::add(sum, groups[e * all + p]);
  u64 at_a = 0, at_b = 0, at_c = 0;
  find_any(indices, count, e, at_a, at_b, at_c);
  update(c + at_c, sum, alpha, old, scalars);
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
