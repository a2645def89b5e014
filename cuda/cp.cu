// cp.cu: the steps of CP-ALS between two products: Gram matrices, the small linear system, factor rows, norms, and the
// fit. All sums are in double precision, in a fixed order. The host never waits: data-dependent decisions go through
// `Status`, which kernels read, and unneeded steps return at once. Defined by the host: `Value`, float or double.
// Sources: Kolda, Bader 2009, §3.4; the cyclic Jacobi method: Golub, Van Loan, §8.5.
#include "parts.cuh"
constexpr u32 THREADS = 256, WARPS = THREADS / 32, TILE = 32;
// threads where a few blocks sum many partial results, whose loads depend on each other
constexpr u32 MANY = 1024, MANY_WARPS = MANY / 32;
constexpr double CUT = 1e-12;     // eigenvalues below this fraction of the largest count as zero
constexpr double REGULAR = 1e-6;  // pivots below this fraction of the largest leave the decision to the eigenvalues
constexpr u32 SWEEPS = 40, ROUNDS = 100;

enum Next : u32 { DONE, CHANGE, RESTORE };
enum Norm : u32 { MAX_AT_LEAST_ONE, TWO, ONE };
struct Status {
  u32 singular;  // whether this system is singular
  u32 next;      // what remains to be done to the factor
  u32 blocks;    // that have finished a step
  u32 failed;    // whether values left the range
  u64 singular_so_far;
  double limit;  // misfit of the previous factor
};

__device__ inline bool finite(double x) { return sr::abs(x) < sr::inf<double>(); }

// Column of element p among n. A 64-bit division takes many instructions.
__device__ inline u32 column_of(u64 p, u32 n) { return p >> 32 ? (u32)(p % n) : (u32)p % n; }

// Sum over 256 threads, in thread 0, in a fixed order.
__device__ inline double sum_of_block(double x) {
  __shared__ double room[33];
  return block_sum(x, room);
}

// parts[c] = Σ over the rows of chunk c of aᵢᵀaᵢ. Grid: one block per chunk and pair of 32-column tiles, pairs fastest.
BOUNDED_KERNEL((THREADS), gram_parts, const Value* a, u64 rows, u32 rank, u64 chunk, double* parts) {
  constexpr u32 DEEP = 32;
  __shared__ double x[DEEP][TILE + 1], other[DEEP][TILE + 1], sums[TILE][TILE + 1];
  const u32 tiles = (rank + TILE - 1) / TILE, pairs = tiles * (tiles + 1) / 2;
  const u32 c = blockIdx.x / pairs;
  u32 p = 0, q = blockIdx.x - c * pairs;
  while (q >= tiles - p) q -= tiles - p++;
  q += p;
  auto& y = p == q ? x : other;
  // Four subsets of the rows; within each, a thread has 4 × 4 products.
  const u32 subset = threadIdx.x / 64, ty = threadIdx.x % 64 / 8, tx = threadIdx.x % 8;
  double sum[4][4] = {};
  const u64 from = c * chunk, to = from + chunk < rows ? from + chunk : rows;
  for (u64 start = from; start < to; start += DEEP) {
#pragma unroll
    for (u32 t = threadIdx.x; t < DEEP * TILE; t += THREADS) {
      const u64 i = start + t / TILE;
      const u32 left = p * TILE + t % TILE, right = q * TILE + t % TILE;
      x[t / TILE][t % TILE] = i < to && left < rank ? (double)a[i * rank + left] : 0.0;
      if (p != q) y[t / TILE][t % TILE] = i < to && right < rank ? (double)a[i * rank + right] : 0.0;
    }
    __syncthreads();
#pragma unroll
    for (u32 k = subset * (DEEP / 4); k < (subset + 1) * (DEEP / 4); ++k)
#pragma unroll
      for (u32 i = 0; i < 4; ++i)
#pragma unroll
        for (u32 j = 0; j < 4; ++j) sum[i][j] = sr::fma(x[k][ty + 8 * i], y[k][tx + 8 * j], sum[i][j]);
    __syncthreads();
  }
  for (u32 s = 0; s < 4; ++s) {
    if (subset == s)
#pragma unroll
      for (u32 i = 0; i < 4; ++i)
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
          double& to = sums[ty + 8 * i][tx + 8 * j];
          to = s == 0 ? sum[i][j] : to + sum[i][j];
        }
    __syncthreads();
  }
  double* part = parts + (u64)c * rank * rank;
  for (u32 t = threadIdx.x; t < TILE * TILE; t += THREADS) {
    const u32 i = p * TILE + t / TILE, j = q * TILE + t % TILE;
    if (i >= rank || j >= rank) continue;
    part[(u64)i * rank + j] = sums[t / TILE][t % TILE];
    if (p != q) part[(u64)j * rank + i] = sums[t / TILE][t % TILE];
  }
}

// out[i] = Σ parts[c · n + i] over c. Grid: one block per 32 outputs.
BOUNDED_KERNEL((MANY), sum_parts, const double* parts, u32 count, u64 n, double* out) {
  __shared__ double sums[MANY_WARPS][32];
  const u64 i = (u64)blockIdx.x * 32 + lane_id();
  const u32 share = (count + MANY_WARPS - 1) / MANY_WARPS;
  const u32 from = warp_id() * share, to = from + share < count ? from + share : count;
  double sum = 0.0;
  if (i < n)
#pragma unroll 8
    for (u32 c = from; c < to; ++c) sum += parts[c * n + i];
  sums[warp_id()][lane_id()] = sum;
  __syncthreads();
  if (warp_id() != 0 || i >= n) return;
  for (u32 w = 1; w < MANY_WARPS; ++w) sum += sums[w][lane_id()];
  out[i] = sum;
}

// The pseudo-inverse of the symmetric matrix m, from its eigenvalues; m is overwritten. `u` has room for the
// eigenvectors, `turns` for two numbers and two columns per rotation pair. Returns whether m is singular.
__device__ inline bool pseudo_inverse(double* m, double* u, double* turns, u32 n, double* inverse) {
  const u32 players = n + n % 2, pairs = players / 2;
  double *cosines = turns, *sines = turns + pairs;
  __shared__ double largest;
  for (u32 t = threadIdx.x; t < n * n; t += blockDim.x) u[t] = t / n == t % n ? 1.0 : 0.0;
  if (threadIdx.x == 0) {
    largest = 0.0;
    for (u32 k = 0; k < n; ++k) largest = sr::max(largest, m[k * n + k]);
  }
  __syncthreads();
  const double nothing = largest * 1e-20;
  const auto left_of = [&](u32 round, u32 k) { return (round + k) % (players - 1); };
  const auto right_of = [&](u32 round, u32 k) { return k == 0 ? players - 1 : (round + players - 1 - k) % (players - 1); };
  bool turned = n > 1;
  for (u32 sweep = 0; turned && sweep < SWEEPS; ++sweep) {
    turned = false;
    for (u32 round = 0; round < players - 1; ++round) {
      bool mine = false;
      for (u32 k = threadIdx.x; k < pairs; k += blockDim.x) {
        const u32 p = left_of(round, k), q = right_of(round, k);
        double c = 1.0, s = 0.0;
        const double x = p < n && q < n ? m[p * n + q] : 0.0;
        if (sr::abs(x) > nothing && sr::abs(x) > 1e-15 * sr::sqrt(sr::abs(m[p * n + p] * m[q * n + q]))) {
          const double theta = (m[q * n + q] - m[p * n + p]) / (2.0 * x);
          const double t = (theta < 0.0 ? -1.0 : 1.0) / (sr::abs(theta) + sr::sqrt(theta * theta + 1.0));
          c = 1.0 / sr::sqrt(t * t + 1.0);
          s = t * c;
          mine = true;
        }
        cosines[k] = c;
        sines[k] = s;
      }
      if (!__syncthreads_or(mine)) continue;
      turned = true;
      for (u32 t = threadIdx.x; t < pairs * n; t += blockDim.x) {
        const u32 k = t % pairs, i = t / pairs, p = left_of(round, k), q = right_of(round, k);
        if (p >= n || q >= n) continue;
        const double c = cosines[k], s = sines[k], x = m[i * n + p], y = m[i * n + q], v = u[i * n + p], w = u[i * n + q];
        m[i * n + p] = c * x - s * y;
        m[i * n + q] = s * x + c * y;
        u[i * n + p] = c * v - s * w;
        u[i * n + q] = s * v + c * w;
      }
      __syncthreads();
      for (u32 t = threadIdx.x; t < pairs * n; t += blockDim.x) {
        const u32 k = t / n, j = t % n, p = left_of(round, k), q = right_of(round, k);
        if (p >= n || q >= n) continue;
        const double c = cosines[k], s = sines[k], x = m[p * n + j], y = m[q * n + j];
        m[p * n + j] = c * x - s * y;
        m[q * n + j] = s * x + c * y;
      }
      __syncthreads();
    }
  }
  double most = 0.0;
  for (u32 k = 0; k < n; ++k) most = sr::max(most, m[k * n + k]);
  bool singular = false;
  for (u32 k = 0; k < n; ++k) singular |= !(m[k * n + k] > CUT * most);
  for (u32 t = threadIdx.x; t < n * n; t += blockDim.x) {
    const u32 i = t / n, j = t % n;
    double sum = 0.0;
    for (u32 k = 0; k < n; ++k)
      if (m[k * n + k] > CUT * most) sum += u[i * n + k] / m[k * n + k] * u[j * n + k];
    inverse[t] = sum;
  }
  return singular;
}

// system = ⊛ of the Gram matrices of all other modes, + ρ I; inverse = its inverse, or its pseudo-inverse if singular.
// Grid: one block. Shared memory: 4 columns, and with `all_shared` two matrices; otherwise these are in `scratch`.
BOUNDED_KERNEL((512), invert_system, const double* grams, u32 order, u32 mode, u32 n, u64 ridge, u32 all_shared, double* system,
                                     double* inverse, double* scratch, Status* status) {
  extern __shared__ double memory[];
  double *columns = memory, *m = all_shared ? memory + 4 * n : scratch, *u = m + (u64)n * n;
  bool wrong = false;
  for (u32 t = threadIdx.x; t < n * n; t += blockDim.x) {
    double x = 1.0;
    for (u32 k = 0; k < order; ++k)
      if (k != mode) x *= grams[(u64)k * n * n + t];
    if (t / n == t % n) x += __longlong_as_double((long long)ridge);
    wrong |= !finite(x);
    system[t] = m[t] = x;
  }
  if (threadIdx.x == 0) status->singular = 0, status->next = DONE;
  if (__syncthreads_or(wrong)) {
    if (threadIdx.x == 0) status->failed = 1;
    for (u32 t = threadIdx.x; t < n * n; t += blockDim.x) inverse[t] = 0.0;
    return;
  }
  // Gauss–Jordan in place. The pivots are the squares of the Cholesky diagonal. A step saves the next row and column
  // beside the matrix, so that one barrier per step suffices.
  double most = 0.0, least = sr::inf<double>();
  __syncthreads();
  for (u32 t = threadIdx.x; t < n; t += blockDim.x) columns[t] = m[t], columns[2 * n + t] = m[t * n];
  __syncthreads();
  const u32 warps = blockDim.x / 32;
  for (u32 k = 0; k < n; ++k) {
    const double *row = columns + k % 2 * n, *column = columns + (2 + k % 2) * n;
    double *next_row = columns + (k + 1) % 2 * n, *next_column = columns + (2 + (k + 1) % 2) * n;
    const double pivot = row[k];
    most = sr::max(most, pivot), least = sr::min(least, pivot);
    if (!(least > REGULAR * most)) break;  // the same in all threads
    const double p = 1.0 / pivot;
    for (u32 i = warp_id(); i < n; i += warps) {
      const double factor = column[i] * p;
      for (u32 j = lane_id(); j < n; j += 32) {
        const double x = i == k ? (j == k ? p : row[j] * p) : j == k ? -factor : sr::fma(-factor, row[j], m[i * n + j]);
        m[i * n + j] = x;
        if (i == k + 1) next_row[j] = x;
        if (j == k + 1) next_column[i] = x;
      }
    }
    __syncthreads();
  }
  if (least > REGULAR * most) {
    for (u32 t = threadIdx.x; t < n * n; t += blockDim.x) inverse[t] = 0.5 * (m[t] + m[t % n * n + t / n]);
    return;
  }
  __syncthreads();
  for (u32 t = threadIdx.x; t < n * n; t += blockDim.x) m[t] = system[t];
  __syncthreads();
  if (pseudo_inverse(m, u, columns, n, inverse) && threadIdx.x == 0) status->singular = 1, status->singular_so_far += 1;
}

// A = V · inverse. If the system is singular, `before` saves A with its weights. Grid: one block per 64 rows and 32
// columns, columns fastest.
BOUNDED_KERNEL((THREADS), solve_rows, const Value* v, const double* inverse, const double* weights, u64 rows, u32 rank,
                                      const Status* status, Value* a, Value* before) {
  constexpr u32 ROWS = 64;
  __shared__ double x[ROWS][TILE + 1], y[TILE][TILE + 1];
  const u32 tiles = (rank + TILE - 1) / TILE;
  const u64 first = (u64)(blockIdx.x / tiles) * ROWS;
  const u32 column = blockIdx.x % tiles * TILE, ty = threadIdx.x / 8, tx = threadIdx.x % 8;
  double sum[2][4] = {};
  for (u32 k = 0; k < rank; k += TILE) {
    for (u32 t = threadIdx.x; t < ROWS * TILE; t += THREADS) {
      const u64 i = first + t / TILE;
      x[t / TILE][t % TILE] = i < rows && k + t % TILE < rank ? (double)v[i * rank + k + t % TILE] : 0.0;
    }
    for (u32 t = threadIdx.x; t < TILE * TILE; t += THREADS) {
      const u32 i = k + t / TILE, j = column + t % TILE;
      y[t / TILE][t % TILE] = i < rank && j < rank ? inverse[(u64)i * rank + j] : 0.0;
    }
    __syncthreads();
#pragma unroll 8
    for (u32 s = 0; s < TILE; ++s)
#pragma unroll
      for (u32 i = 0; i < 2; ++i)
#pragma unroll
        for (u32 j = 0; j < 4; ++j) sum[i][j] = sr::fma(x[ty + 32 * i][s], y[s][tx + 8 * j], sum[i][j]);
    __syncthreads();
  }
  const bool keep = status->singular;
#pragma unroll
  for (u32 i = 0; i < 2; ++i)
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      const u64 row = first + ty + 32 * i;
      const u32 r = column + tx + 8 * j;
      if (row >= rows || r >= rank) continue;
      if (keep) before[row * rank + r] = (Value)((double)a[row * rank + r] * weights[r]);
      a[row * rank + r] = (Value)sum[i][j];
    }
}

// Element r of x M, for a row x in shared memory.
__device__ inline double times(const double* x, const double* matrix, u32 n, u32 r) {
  double sum = 0.0;
  for (u32 s = 0; s < n; ++s) sum = sr::fma(x[s], matrix[(u64)s * n + r], sum);
  return sum;
}
// A lane's share of a Υ aᵀ − 2 v aᵀ for a row, its contribution to ‖X − M‖². The warp's row a is in shared memory.
__device__ inline double misfit_of(const double* a, const Value* v, const double* system, u32 n) {
  double sum = 0.0;
  for (u32 r = lane_id(); r < n; r += 32) sum += a[r] * (times(a, system, n, r) - 2.0 * (double)v[r]);
  return sum;
}
// Sums over all blocks; returns true in the last block to arrive, in all of its threads.
template <u32 N> __device__ inline bool sum_of_grid(double* sums, double* parts, Status* status) {
  __shared__ bool last;
#pragma unroll
  for (u32 k = 0; k < N; ++k) sums[k] = sum_of_block(sums[k]);
  if (threadIdx.x == 0) {
    for (u32 k = 0; k < N; ++k) parts[N * blockIdx.x + k] = sums[k];
    __threadfence();
    last = atomicAdd(&status->blocks, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
#pragma unroll
  for (u32 k = 0; k < N; ++k) {
    double sum = 0.0;
    for (u32 b = threadIdx.x; b < gridDim.x; b += THREADS) sum += __ldcg(parts + N * b + k);
    sums[k] = sum_of_block(sum);
  }
  if (threadIdx.x == 0) status->blocks = 0;
  return true;
}

// If the system is singular: decides whether the factor fits worse than the previous one. A direction whose eigenvalue
// is cut off may carry a part of the previous model. Grid, here and below: blocks of 8 warps, one row each; shared
// memory: one or two rows per warp.
BOUNDED_KERNEL((THREADS), judge_rows, const Value* a, const Value* before, const Value* v, u64 rows, u32 n, const double* system,
                                      double* parts, Status* status) {
  extern __shared__ double memory[];
  if (!status->singular) return;
  double* row = memory + warp_id() * n;
  double sums[2] = {};  // of the new factor and the previous one
  for (u64 i = (u64)blockIdx.x * WARPS + warp_id(); i < rows; i += (u64)gridDim.x * WARPS)
#pragma unroll
    for (u32 old = 0; old < 2; ++old) {
      __syncwarp();
      for (u32 r = lane_id(); r < n; r += 32) row[r] = (double)(old ? before : a)[i * n + r];
      __syncwarp();
      sums[old] += misfit_of(row, v + i * n, system, n);
    }
  if (!sum_of_grid<2>(sums, parts, status) || threadIdx.x != 0) return;
  status->limit = sums[1];
  // Rounded sums that are mathematically equal.
  status->next = sums[0] <= sums[1] + 1e-14 * sr::abs(sums[1]) ? DONE : CHANGE;
}

// If it does: the minimum-norm update of the previous factor, which leaves such a direction unchanged.
BOUNDED_KERNEL((THREADS), change_rows, Value* a, const Value* before, const Value* v, u64 rows, u32 n, const double* system,
                                       const double* inverse, double* parts, Status* status) {
  extern __shared__ double memory[];
  if (status->next != CHANGE) return;
  double *row = memory + 2 * warp_id() * n, *rest = row + n;
  double sum = 0.0;
  for (u64 i = (u64)blockIdx.x * WARPS + warp_id(); i < rows; i += (u64)gridDim.x * WARPS) {
    __syncwarp();
    for (u32 r = lane_id(); r < n; r += 32) row[r] = (double)before[i * n + r];
    __syncwarp();
    for (u32 r = lane_id(); r < n; r += 32) rest[r] = (double)v[i * n + r] - times(row, system, n, r);
    __syncwarp();
    for (u32 r = lane_id(); r < n; r += 32) {
      const Value x = (Value)(row[r] + times(rest, inverse, n, r));
      a[i * n + r] = x;
      row[r] = (double)x;
    }
    __syncwarp();
    sum += misfit_of(row, v + i * n, system, n);
  }
  if (sum_of_grid<1>(&sum, parts, status) && threadIdx.x == 0) status->next = sum > status->limit ? RESTORE : DONE;
}

// If rounding spoils that as well: restores the previous factor. Grid: any.
KERNEL(restore_rows, Value* a, const Value* before, u64 n, const Status* status) {
  if (status->next != RESTORE) return;
  for (u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += (u64)gridDim.x * blockDim.x) a[p] = before[p];
}

// Rows a ≥ 0 that minimize a Υ aᵀ − 2 v aᵀ, by coordinate descent from the previous row with its weights.
BOUNDED_KERNEL((THREADS), descend_rows, Value* a, const Value* v, const double* weights, u64 rows, u32 n, const double* system) {
  extern __shared__ double memory[];
  double* row = memory + warp_id() * n;
  for (u64 i = (u64)blockIdx.x * WARPS + warp_id(); i < rows; i += (u64)gridDim.x * WARPS) {
    __syncwarp();
    for (u32 r = lane_id(); r < n; r += 32) row[r] = sr::max((double)a[i * n + r] * weights[r], 0.0);
    __syncwarp();
    for (u32 round = 0; round < ROUNDS; ++round) {
      double moved = 0.0, size = 0.0;
      for (u32 r = 0; r < n; ++r) {
        const double* line = system + (u64)r * n;
        const double own = line[r];
        double dot = 0.0;
        for (u32 s = lane_id(); s < n; s += 32) dot = sr::fma(line[s], row[s], dot);
        dot = warp_sum(dot);
        const double old = row[r], x = own > 0.0 ? sr::max(old + ((double)v[i * n + r] - dot) / own, 0.0) : 0.0;
        if (own > 0.0) moved = sr::max(moved, sr::abs(x - old)), size = sr::max(size, x);
        __syncwarp();
        if (lane_id() == 0) row[r] = x;
        __syncwarp();
      }
      if (moved <= 1e-12 * size) break;
    }
    for (u32 r = lane_id(); r < n; r += 32) a[i * n + r] = (Value)row[r];
  }
}

// parts[c] = Σ a² or Σ |a|, and max |a|, of each column over the rows of chunk c. Grid: one block per chunk and 32
// columns, columns fastest.
BOUNDED_KERNEL((THREADS), norm_parts, const Value* a, u64 rows, u32 rank, u64 chunk, u32 norm, double* parts) {
  __shared__ double squares[WARPS][32], largest[WARPS][32];
  const u32 tiles = (rank + 31) / 32, c = blockIdx.x / tiles, r = blockIdx.x % tiles * 32 + lane_id();
  const u64 from = c * chunk, to = from + chunk < rows ? from + chunk : rows;
  double sum = 0.0, most = 0.0;
  if (r < rank)
#pragma unroll 8
    for (u64 i = from + warp_id(); i < to; i += WARPS) {
      const double x = sr::abs((double)a[i * rank + r]);
      sum += norm == ONE ? x : x * x;
      most = x > most || x != x ? x : most;
    }
  squares[warp_id()][lane_id()] = sum, largest[warp_id()][lane_id()] = most;
  __syncthreads();
  if (warp_id() != 0 || r >= rank) return;
  for (u32 w = 1; w < WARPS; ++w) {
    const double x = largest[w][lane_id()];
    sum += squares[w][lane_id()];
    most = x > most || x != x ? x : most;
  }
  parts[(u64)c * 2 * rank + r] = sum;
  parts[((u64)c * 2 + 1) * rank + r] = most;
}
// weights = norms of the columns. Grid: one block per 32 columns.
BOUNDED_KERNEL((MANY), column_norms, u32 rank, u32 chunks, u32 norm, const double* parts, double* weights) {
  __shared__ double squares[MANY_WARPS][32], largest[MANY_WARPS][32];
  const u32 r = blockIdx.x * 32 + lane_id();
  double sum = 0.0, most = 0.0;
  const u32 share = (chunks + MANY_WARPS - 1) / MANY_WARPS, end = (warp_id() + 1) * share < chunks ? (warp_id() + 1) * share : chunks;
  if (r < rank)
#pragma unroll 8
    for (u32 k = warp_id() * share; k < end; ++k) {
      const double x = parts[((u64)k * 2 + 1) * rank + r];
      sum += parts[(u64)k * 2 * rank + r];
      most = x > most || x != x ? x : most;
    }
  squares[warp_id()][lane_id()] = sum, largest[warp_id()][lane_id()] = most;
  __syncthreads();
  if (warp_id() != 0 || r >= rank) return;
  for (u32 w = 1; w < MANY_WARPS; ++w) {
    const double x = largest[w][lane_id()];
    sum += squares[w][lane_id()];
    most = x > most || x != x ? x : most;
  }
  // Squares may overflow or underflow where the values do not; any norm will do then.
  const double root = sum > 0.0 && finite(sum) ? sr::sqrt(sum) : most;
  weights[r] = (double)(Value)(norm == ONE ? sum : norm == TWO ? root : most > 1.0 || most != most ? most : 1.0);
}
// Divides A by the norms of its columns. Grid: a thread per element.
KERNEL(divide_columns, Value* a, u64 n, u32 rank, const double* weights) {
  const u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  const Value by = (Value)weights[column_of(p, rank)];
  if (by != Value(0)) a[p] = sr::div(a[p], by);
}

// parts[c] = Σ of λ a v over the rows of chunk c and all columns. Grid: one block per chunk.
BOUNDED_KERNEL((THREADS), agreement_parts, const Value* a, const Value* v, const double* weights, u64 rows, u32 rank, u64 chunk, double* parts) {
  const u64 from = blockIdx.x * chunk * rank, end = (blockIdx.x + 1) * chunk * rank, to = end < rows * rank ? end : rows * rank;
  double sum = 0.0;
#pragma unroll 8
  for (u64 p = from + threadIdx.x; p < to; p += THREADS) sum += (double)a[p] * (double)v[p] * weights[column_of(p, rank)];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
// out = ⟨X, M⟩, ‖M‖², the number of singular systems so far, whether values left the range. Grid: one block of 256
// threads.
BOUNDED_KERNEL((THREADS), agreement, const double* parts, u32 chunks, const double* grams, u32 order, u32 n, const double* weights,
                                     const Status* status, double* out) {
  double inner = 0.0, model = 0.0;
  for (u32 c = threadIdx.x; c < chunks; c += THREADS) inner += parts[c];
  for (u32 t = threadIdx.x; t < n * n; t += THREADS) {
    double x = weights[t / n] * weights[t % n];
    for (u32 k = 0; k < order; ++k) x *= grams[(u64)k * n * n + t];
    model += x;
  }
  inner = sum_of_block(inner);
  model = sum_of_block(model);
  if (threadIdx.x == 0) out[0] = inner, out[1] = model, out[2] = (double)status->singular_so_far, out[3] = status->failed;
}
