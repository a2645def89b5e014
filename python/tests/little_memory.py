"""Calls every function with a few megabytes of memory left: `python little_memory.py MEGABYTES`. None may abort."""

import copy
import pickle
import resource
import sys

import numpy as np
import scipy.sparse
import sparring as sp


def main(megabytes):
    n, rng = 1500, np.random.default_rng(2)
    a = scipy.sparse.random_array((n, n), density=0.03, rng=rng, format="csr")
    both, few, m, x = a + a.T, a[:30], sp.Matrix(a), np.ones(n)
    many, wide = rng.integers(0, n, 10**6), np.ones((1000, 1000))
    t = sp.Tensor(rng.integers(0, 300, (3, 100_000)), rng.random(100_000), (300,) * 3)
    factors = [np.ones((300, 64))] * 3
    # Imports and first calls allocate their memory beforehand.
    few @ a, sp.mxm(few, a), sp.neighbors.kneighbors(few, k=2), sp.graph.pagerank(a)
    sp.mttkrp(t, [f[:, :1] for f in factors], 0)

    calls = [
        lambda: sp.mxm(a, a),
        lambda: m @ m,
        lambda: sp.mxm(a, a, "min, a + 2*b"),
        lambda: sp.mxm(a, a, mask=m),
        lambda: sp.mxm(m, m, out=sp.Matrix.empty((n, n))),
        lambda: sp.mxv(a, x),
        lambda: sp.ewise_add(a, both),
        lambda: sp.kronecker(few, few),
        lambda: sp.apply(a, "a+1"),
        lambda: sp.select(a, "tril", 0),
        lambda: sp.reduce_rows(a),
        lambda: sp.aggregate(a, "argmax"),
        lambda: sp.plan(a, a)(a, a),
        lambda: (m.T, m.to_coo(), m.astype("float32")),
        lambda: copy.deepcopy(m).__setitem__((0, 0), 1.0),
        lambda: copy.deepcopy(m).__setitem__((slice(None), 0), 1.0),
        lambda: pickle.loads(pickle.dumps(m)),
        lambda: m[::2, ::2],
        lambda: m[many, :],
        lambda: sp.Matrix.from_coo(many, many, np.ones(10**6), (n, n)),
        lambda: sp.Vector.from_coo(many, np.ones(10**6), n, dup="plus"),
        lambda: sp.Vector(np.broadcast_to(1.0, 10**8)),
        lambda: sp.neighbors.kneighbors(a, k=50),
        lambda: sp.neighbors.pairwise_distances(a),
        lambda: sp.neighbors.radius_neighbors_graph(a, radius=20),
        lambda: sp.neighbors.Index(a).kneighbors(a, 9),
        lambda: sp.graph.pagerank(a),
        lambda: sp.graph.louvain(both),
        lambda: sp.graph.triangles(both),
        lambda: sp.graph.all_pairs_shortest_paths(a),
        lambda: sp.graph.sampled_betweenness(a, 5),
        lambda: sp.Tensor([many % 300] * 3, np.ones(10**6), (300,) * 3),
        lambda: sp.mttkrp(t, factors, 0),
        lambda: sp.cp_als(t, 8, sweeps=2),
        lambda: sp.einsum("ij,jk->ik", wide, wide),
    ]

    taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + (megabytes << 20),) * 2)
    refused = 0
    for call in calls:
        try:
            call()
        except MemoryError:
            refused += 1
    print(f"{refused} of {len(calls)} refused")


if __name__ == "__main__":
    main(int(sys.argv[1]))
