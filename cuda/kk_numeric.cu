// kk_numeric.cu: columns and values of C = A ⊕.⊗ B, by kkSpGEMM; or only the values, if the columns are known.
//
// kk_linked_lists (kkmem): LL in two levels, Thread-Sequential. kk_linear_probe (kklp): LP in two levels,
// Thread-Flat-Parallel: a block per row, its products in parallel on the threads. The first level is in shared memory,
// the second in a chunk of the pool. Every value is folded from zero() in the stored order of A's row, as on the CPU.
// Defined by the host: struct Ring, OffsetA, OffsetB, OffsetC, LANES (kkmem), THREADS (kklp). Source: Deveci, Trott,
// Rajamanickam 2018, Algorithm 3, §3.1, §3.3.
#include "kk.cuh"
using Left = Ring::A;
using Right = Ring::B;
using Value = Ring::Out;
// Resident threads that registers are divided among; without this bound, the compiler saves registers and spills.
constexpr u32 AT_A_TIME = sizeof(Value) <= 16 ? 1024 : 512;

#define OPERANDS const OffsetA* a_ptr, const u32* a_col, const Left* a_val, const OffsetB* b_ptr, const u32* b_col, const Right* b_val, const OffsetC* c_ptr, u32* c_col, Value* c_val

__device__ inline Value multiply(const Left* a_val, OffsetA e, const Right* b_val, OffsetB p, u64 row, u32 k, u32 j) {
  Left left;
  Right right;
  if constexpr (Ring::reads_a) left = a_val[e];
  if constexpr (Ring::reads_b) right = b_val[p];
  return Ring::mul(left, right, row, k, j);
}

// ---- kkmem. Grid: LANES lanes per row, blocks of 256. Shared memory: `room` values of each group, then its begins,
// nexts, ids. Columns are in order of first touch, those of the first level first. A row of B has each column once, so
// its lanes write distinct values.

BOUNDED_KERNEL((256, AT_A_TIME / 256), kk_linked_lists, u32 nrows, OPERANDS, u32 known, u32 hashes, u32 room, u32 hashes2,
    u32 room2, u32 chunks, u32* locks, u32* begins2, u32* lists2, Value* values2) {
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr u32 GROUPS = 32 / LANES;  // per warp
  const u32 group = group_of(), lane = threadIdx.x % LANES, in_block = threadIdx.x / LANES, in_warp = lane_id() / LANES;
  Value* values = (Value*)shared + in_block * room;
  u32* mine = (u32*)(shared + (sizeof(Value) * room * (blockDim.x / LANES) + 15) / 16 * 16) + in_block * (hashes + 2 * room);
  const Lists first = lists_at(mine, hashes, mine + hashes, room);
  for (u32 h = lane; h < hashes; h += LANES) first.begins[h] = NONE;
  __syncwarp();

  const u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
  const OffsetA begin = row < nrows ? a_ptr[row] : 0, end = row < nrows ? a_ptr[row + 1] : 0;
  u32 used = 0, used2 = 0, chunk = NONE;
  Lists second{};
  Value* more = nullptr;
  thread_sequential(a_col, begin, end, b_ptr, [&](bool some, OffsetB p, OffsetA e, u32 k) {
    u32 j = NONE;
    Value product;
    if (some) {
      j = b_col[p];
      product = multiply(a_val, e, b_val, p, row, k, j);
    }
    bool fresh;
    const u32 s = place(first, j, some, group, used, fresh);
    if (s != NONE) {
      if (fresh) values[s] = Ring::zero();
      values[s] = Ring::add(values[s], product);
    }
    const bool refused = some && s == NONE;
    if (__any_sync(ALL, refused)) {
      if (chunk == NONE) {
        if (lane_id() == 0) chunk = take_chunk(locks, chunks, blockIdx.x * (blockDim.x / 32) + warp_id());
        __syncwarp();  // makes the last owner's writes visible to all lanes
        chunk = __shfl_sync(ALL, chunk, 0);
        const u64 table = (u64)chunk * GROUPS + in_warp;
        second = lists_at(begins2 + table * hashes2, hashes2, lists2 + table * 2 * room2, room2);
        more = values2 + table * room2;
      }
      const u32 s2 = place(second, j, refused, group, used2, fresh);
      if (s2 != NONE) {
        if (fresh) more[s2] = Ring::zero();
        more[s2] = Ring::add(more[s2], product);
      }
    }
    __syncwarp();
  });

  if (row < nrows) {
    const OffsetC out = c_ptr[row];
    if (known) {
      const u32 length = (u32)(c_ptr[row + 1] - out);
      for (u32 e = lane; e < length; e += LANES) {
        const u32 j = c_col[out + e], s = find(first, j);
        c_val[out + e] = s != NONE ? values[s] : more[find(second, j)];
      }
    } else {
      for (u32 s = lane; s < used; s += LANES) {
        c_col[out + s] = first.ids[s];
        c_val[out + s] = values[s];
      }
      for (u32 s = lane; s < used2; s += LANES) {
        c_col[out + used + s] = second.ids[s];
        c_val[out + used + s] = more[s];
      }
    }
  }
  if (chunk != NONE) {
    __syncwarp();
    reset(second, used2);
    __syncwarp();
    if (lane_id() == 0) give_chunk(locks, chunk);
  }
}

// ---- kklp. Grid: a block of THREADS per row. Shared memory: values, keys, claims of `slots` slots; the chunk's sums
// and starts. Columns are in table order.

// A linear-probing table; NONE is an empty slot. claims[slot] is the first thread that waits to add there.
struct Table {
  u32 *keys, *claims;
  Value* values;
  u32 slots;
};

// First slot for a key; the number of slots is a power of two, at least 2.
__device__ inline u32 slot_of(u32 j, u32 slots) { return (j * 2654435761u) >> (32 - (31 - __clz(slots))); }

// Slot of a key; NONE if it is absent. Between two barriers a table is either probed or changed.
__device__ inline u32 probe(const Table& t, u32 j) {
  u32 h = slot_of(j, t.slots);
  while (true) {
    const u32 there = t.keys[h];
    if (there == j) return h;
    if (there == NONE) return NONE;
    h = (h + 1) & (t.slots - 1);
  }
}

// Slot of a key, found or inserted; NONE if `limit` keys are stored or being inserted: the caller may then retry.
__device__ inline u32 insert(const Table& t, u32 limit, u32* count, u32 j) {
  u32 h = slot_of(j, t.slots);
  while (true) {
    u32 there = atomicOr(&t.keys[h], 0u);  // other threads insert concurrently
    if (there == NONE) {
      // Room is reserved before the slot is taken, so the table never holds more than `limit` keys.
      if (atomicAdd(count, 1u) >= limit) {
        atomicSub(count, 1u);
        return NONE;
      }
      there = atomicCAS(&t.keys[h], NONE, j);
      if (there == NONE) {
        t.values[h] = Ring::zero();
        return h;
      }
      atomicSub(count, 1u);
    }
    if (there == j) return h;
    h = (h + 1) & (t.slots - 1);
  }
}
// The same if there is room for every key.
__device__ inline u32 insert(const Table& t, u32 j) {
  u32 h = slot_of(j, t.slots);
  while (true) {
    const u32 there = atomicCAS(&t.keys[h], NONE, j);
    if (there == NONE) t.values[h] = Ring::zero();
    if (there == NONE || there == j) return h;
    h = (h + 1) & (t.slots - 1);
  }
}

// Writes a table's contents to free positions of C's row, and clears it if requested. Called by the whole block.
__device__ inline void emit(const Table& t, bool empty, u32* written, u32* c_col, Value* c_val) {
  for (u32 base = 0; base < t.slots; base += THREADS) {
    const u32 h = base + threadIdx.x;
    const u32 j = h < t.slots ? t.keys[h] : NONE;
    const u32 there = __ballot_sync(ALL, j != NONE);
    u32 at = 0;
    if (lane_id() == 0 && there != 0) at = atomicAdd(written, __popc(there));
    at = __shfl_sync(ALL, at, 0) + __popc(there & ((1u << lane_id()) - 1));
    if (j != NONE) {
      c_col[at] = j;
      c_val[at] = t.values[h];
      if (empty) t.keys[h] = NONE;
    }
  }
}

BOUNDED_KERNEL((THREADS, AT_A_TIME / THREADS), kk_linear_probe, OPERANDS, u32 known, u32 slots, u32 limit, u32 slots2, u32 chunks,
    u32* locks, u32* tables2, Value* values2) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ u32 room[33], count, written, taken;
  const u32 row = blockIdx.x;
  const OffsetC out = c_ptr[row];
  const u32 length = (u32)(c_ptr[row + 1] - out);
  if (length == 0) return;

  u32* keys = (u32*)(shared + (sizeof(Value) * slots + 15) / 16 * 16);
  const Table first{keys, keys + slots, (Value*)shared, slots};
  // THREADS + 4: prefix sums of the products of the chunk's rows of B
  u32* before = keys + 2 * slots;
  OffsetB* starts = (OffsetB*)(before + THREADS + 4);  // where each of them begins
  for (u32 s = threadIdx.x; s < 2 * slots; s += THREADS) keys[s] = NONE;
  if (threadIdx.x == 0) count = written = 0;
  __syncthreads();

  // The following variables are the same in all threads of the block.
  bool closed = false;  // whether the first level accepts no more keys
  u32 chunk = NONE;
  Table second{};
  const OffsetA begin = a_ptr[row], end = a_ptr[row + 1];
  OffsetA take = THREADS;
  for (OffsetA from = begin; from < end; from += take) {
    take = end - from < THREADS ? end - from : THREADS;
    OffsetB start = 0;
    u32 len = 0;
    if (threadIdx.x < take) {
      const u32 k = a_col[from + threadIdx.x];
      start = b_ptr[k];
      len = (u32)(b_ptr[k + 1] - start);
    }
    // Rows of B so long that their sum might overflow are processed one at a time.
    if (__syncthreads_or(len > 0xffffffffu / THREADS)) {
      take = 1;
      if (threadIdx.x > 0) len = 0;
    }
    u32 total;
    before[threadIdx.x] = block_exclusive_sum(len, room, total);
    starts[threadIdx.x] = start;
    __syncthreads();

    for (u64 base = 0; base < total; base += THREADS) {
      const u64 p = base + threadIdx.x;
      const bool some = p < total;
      u32 j = NONE;
      Value product;
      if (some) {
        u32 t = 0;  // the last row of B that begins at or before p
        for (u32 step = THREADS / 2; step > 0; step /= 2)
          if (before[t + step] <= p) t += step;
        const OffsetB at = starts[t] + (OffsetB)(p - before[t]);
        j = b_col[at];
        u32 k = 0;
        if constexpr (Ring::reads_place) k = a_col[from + t];
        product = multiply(a_val, from + t, b_val, at, row, k, j);
      }

      // A slot of the first level. A rejected thread retries while there is room: the reservations before it may have
      // been for the same column. Once the level is closed, no key is inserted, so that none is ever in both levels.
      u32 slot = NONE;
      bool pending = some;
      while (!closed) {
        if (pending) {
          slot = insert(first, limit, &count, j);
          pending = slot == NONE;
        }
        if (!__syncthreads_or(pending)) break;
        closed = count >= limit;
        __syncthreads();
      }
      Value* value = first.values;
      u32* claim = first.claims;
      if (closed) {
        if (pending) slot = probe(first, j);
        const bool refused = pending && slot == NONE;
        if (refused && chunk != NONE) slot = probe(second, j);
        if (__syncthreads_or(refused && slot == NONE)) {
          if (chunk == NONE) {
            if (threadIdx.x == 0) taken = take_chunk(locks, chunks, blockIdx.x);
            __syncthreads();
            chunk = taken;
            u32* tables = tables2 + (u64)chunk * 2 * slots2;
            second = Table{tables, tables + slots2, values2 + (u64)chunk * slots2, slots2};
          }
          if (refused && slot == NONE) slot = insert(second, j);
        }
        if (refused) {
          value = second.values;
          claim = second.claims;
        }
      }

      // Of several products in one column, the first goes first, and no two threads write one value.
      pending = some;
      do {
        if (pending) atomicMin(&claim[slot], threadIdx.x);
        __syncthreads();
        // The first thread releases its claim while the others check: the exchange is atomic, and only the owner's
        // succeeds.
        if (pending && atomicCAS(&claim[slot], threadIdx.x, NONE) == threadIdx.x) {
          value[slot] = Ring::add(value[slot], product);
          pending = false;
        }
      } while (__syncthreads_or(pending));
    }
  }

  if (known) {
    for (u32 e = threadIdx.x; e < length; e += THREADS) {
      const u32 j = c_col[out + e], s = probe(first, j);
      c_val[out + e] = s != NONE ? first.values[s] : second.values[probe(second, j)];
    }
    if (chunk != NONE) {
      __syncthreads();
      for (u32 s = threadIdx.x; s < slots2; s += THREADS) second.keys[s] = NONE;
    }
  } else {
    emit(first, false, &written, c_col + out, c_val + out);
    if (chunk != NONE) emit(second, true, &written, c_col + out, c_val + out);
  }
  if (chunk != NONE) {
    __syncthreads();
    if (threadIdx.x == 0) give_chunk(locks, chunk);
  }
}
