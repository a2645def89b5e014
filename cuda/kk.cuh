// kk.cuh: shared by the kernels of kkSpGEMM: memory pool, hash map of linked lists, Thread-Sequential partitioning.
// Defined by the host: LANES. Source: Deveci, Trott, Rajamanickam 2018, §3.1. A "thread" of the paper is LANES lanes of
// a warp here, a "team" is a block.
#pragma once
#include "parts.cuh"

// ---- Memory pool, many2many: whoever takes its lock owns a chunk. One lane takes it, for a warp or a block that holds
// no other chunk: a waiter only waits for owners that make progress, never for itself.

// Index of a free chunk, the first from `start` on; waits until there is one.
__device__ inline u32 take_chunk(u32* locks, u32 chunks, u32 start) {
  u32 c = start % chunks, tried = 0;
  while (atomicCAS(&locks[c], 0u, 1u) != 0u) {
    c = c + 1 < chunks ? c + 1 : 0;
    if (++tried == chunks) {
      tried = 0;
      __nanosleep(200);
    }
  }
  __threadfence();  // makes the last owner's writes visible
  return c;
}
__device__ inline void give_chunk(u32* locks, u32 chunk) {
  __threadfence();  // makes our writes visible to the next owner
  atomicExch(&locks[chunk], 0u);
}

// ---- LL: begins[key AND mask] is the slot of the first key with that hash, nexts[slot] that of the next, NONE the
// end. The paper draws slots from an atomic counter. Here lanes count themselves by a vote, which gives the same slots
// in every run. All lanes look up their keys before any is inserted, so that no list is read while it changes.

struct Lists {
  u32 *begins, *nexts, *ids;
  u32 mask, room;
};
__device__ inline Lists lists_at(u32* begins, u32 hashes, u32* rest, u32 room) { return Lists{begins, rest, rest + room, hashes - 1, room}; }

// Slot of a key; NONE if it is absent.
__device__ inline u32 find(const Lists& t, u32 key) {
  u32 s = t.begins[key & t.mask];
  while (s != NONE && t.ids[s] != key) s = t.nexts[s];
  return s;
}

// Slot of each lane's key, found or inserted; NONE if not wanted or the map is full. Lanes of a group (`group`, one bit
// per lane) have distinct keys, and `used` slots of its map are taken. Called by the whole warp, which synchronizes
// before the next call.
__device__ inline u32 place(const Lists& t, u32 key, bool wanted, u32 group, u32& used, bool& fresh) {
  u32 s = wanted ? find(t, key) : NONE;
  const bool missing = wanted && s == NONE;
  const u32 all = __ballot_sync(ALL, missing) & group;
  __syncwarp();  // a vote is no memory fence
  const u32 at = __popc(all & ((1u << lane_id()) - 1));
  fresh = missing && at < t.room - used;
  if (fresh) {
    s = used + at;
    t.ids[s] = key;
    t.nexts[s] = atomicExch(&t.begins[key & t.mask], s);
  }
  const u32 more = __popc(all);
  used = more < t.room - used ? used + more : t.room;
  return s;
}

// Resets `begins` of the stored keys.
__device__ inline void reset(const Lists& t, u32 used) {
  for (u32 s = threadIdx.x % LANES; s < used; s += LANES) t.begins[t.ids[s] & t.mask] = NONE;
}

// The lanes of this thread's group, one bit per lane.
__device__ inline u32 group_of() {
  return LANES == 32 ? ALL : ((1u << (LANES & 31)) - 1) << (lane_id() & ~(LANES - 1));
}
template <class T> __device__ inline T group_sum(T x) {
  for (u32 d = LANES / 2; d > 0; d /= 2) x += __shfl_xor_sync(ALL, x, d);
  return x;
}

// ---- Thread-Sequential: LANES lanes per row of A, one row of B at a time, lanes in parallel over its entries.

// Calls f(some, p, e, k) for every entry p of row k of B, for every entry e of A in [begin, end). The groups of a warp
// run in lockstep, and lanes without an entry take part with some = false, so f may vote and synchronize.
template <class PA, class PB, class F> __device__ inline void thread_sequential(const u32* a_col, PA begin, PA end, const PB* b_ptr, F f) {
  const u32 lane = threadIdx.x % LANES, leader = lane_id() & ~(LANES - 1);
  const u64 mine = end - begin, longest = warp_max(mine);
  for (u64 chunk = 0; chunk < longest; chunk += LANES) {
    u32 k = 0, length = 0;
    PB start = 0;
    if (chunk + lane < mine) {
      k = a_col[begin + chunk + lane];
      start = b_ptr[k];
      length = (u32)(b_ptr[k + 1] - start);
    }
    const u32 count = longest - chunk < LANES ? (u32)(longest - chunk) : LANES;
    for (u32 t = 0; t < count; ++t) {
      const u32 row = __shfl_sync(ALL, k, leader + t), n = __shfl_sync(ALL, length, leader + t);
      const PB first = __shfl_sync(ALL, start, leader + t);
      for (u64 o = 0; __any_sync(ALL, o < n); o += LANES) f(o + lane < n, (PB)(first + o + lane), (PA)(begin + chunk + t), row);
    }
  }
}
