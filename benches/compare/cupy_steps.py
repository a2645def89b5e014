#!/usr/bin/env python3
"""The Python package on a GPU beside CuPy (cuSPARSE): A + Aᵀ, Aᵀ, A·x and A·X, in turns, on matrices already on the device.

    python3 benches/compare/cupy_steps.py [--rounds 9]      # where the GPU is: the package, CuPy, SciPy

Times are of whole calls in Python, the device waited for before and after; minima. Both keep freed memory in a pool. Every
result is compared with CuPy's. Prints a Markdown table; a ratio is CuPy's time over ours.
"""
import argparse
import functools
import math
import operator
import time

import cupy
import cupyx.scipy.sparse as on_device
import numpy as np
import scipy.sparse as ss
import sparring as sp


def rmat(scale, factor, random):
    """Edges of the Graph 500, without repeats."""
    n = factor << scale
    i, j = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for _ in range(scale):
        r = random.random(n)
        i, j = 2 * i + (r >= 0.76), 2 * j + ((r >= 0.57) & (r < 0.76) | (r >= 0.95))
    return ss.csr_array((np.ones(n), (i, j)), shape=(1 << scale, 1 << scale))


def grid(n, dimensions):
    """The Laplacian of a grid of n points a side in two dimensions; all 27 neighbors in three."""
    line = ss.diags_array([np.ones(n - 1), np.full(n, 2.0), np.ones(n - 1)], offsets=[-1, 0, 1])
    if dimensions == 3:
        return ss.kron(ss.kron(line, line), line, format="csr")
    return (ss.kron(line, ss.eye_array(n)) + ss.kron(ss.eye_array(n), line)).tocsr()


def cases():
    random = np.random.default_rng(1)
    yield "rmat18, 16 an edge", rmat(18, 16, random)
    yield "random, 8 a row", ss.random_array((1 << 20, 1 << 20), density=8 / (1 << 20), format="csr", rng=random)
    yield "27 neighbors, 80³", grid(80, 3)
    yield "5 neighbors, 2000²", grid(2000, 2)
    yield "tall, 2 a row", ss.random_array((1 << 21, 1 << 12), density=2 / (1 << 12), format="csr", rng=random)
    yield "wide, 2000 a row", ss.random_array((1 << 12, 1 << 20), density=2000 / (1 << 20), format="csr", rng=random)
    yield "banded and skewed", (ss.random_array((1 << 19, 1 << 19), density=2e-6, rng=random) + rmat(19, 4, random) +
                                ss.diags_array(np.ones(1 << 19))).tocsr()


def timed(call, rounds):
    """The last result, and the least ms."""
    wait, least = cupy.cuda.Device().synchronize, math.inf
    for _ in range(rounds):
        wait()
        start = time.perf_counter()
        result = call()
        wait()
        least = min(least, time.perf_counter() - start)
    return result, 1e3 * least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    print("| matrix | rows | entries | operation | ours, ms | cuSPARSE, ms | ratio |\n|---|---:|---:|---|---:|---:|---:|")
    ratios = {}
    for name, a in cases():
        a.sort_indices()
        d = on_device.csr_matrix(ss.csr_matrix(a))
        dt = d.T.tocsr()
        dt.sort_indices()
        m, mt = sp.Matrix(d), sp.Matrix(dt)
        x = cupy.random.random(a.shape[1])
        held = sp.Vector(x)
        both = {
            "Aᵀ": (lambda: sp.transpose(m), lambda: d.T.tocsr()),
            "A·x, x and y of CuPy": (lambda: sp.mxv(m, x), lambda: d @ x),
            "A·x": (lambda: sp.mxv(m, held), lambda: d @ x),
        }
        if a.shape[0] == a.shape[1]:
            both["A + Aᵀ"] = (lambda: sp.ewise_add(m, mt), lambda: d + dt)
        for k in (4, 32, 128):
            wide = cupy.random.random((a.shape[1], k))
            # cuSPARSE wants columns side by side, and CuPy turns others.
            turned = cupy.asfortranarray(wide)
            both[f"A·X of {k} columns"] = functools.partial(sp.mxm, m, wide), functools.partial(operator.matmul, d, turned)
        for operation, (ours, theirs) in both.items():
            ours(), theirs()
            (mine, my_ms), (other, their_ms) = timed(ours, args.rounds), timed(theirs, args.rounds)
            # In turns once more.
            my_ms, their_ms = min(my_ms, timed(ours, args.rounds)[1]), min(their_ms, timed(theirs, args.rounds)[1])
            if isinstance(mine, sp.Matrix):
                other.sort_indices()
                assert mine.nnz == other.nnz, (name, operation)
                cupy.testing.assert_array_equal(cupy.asarray(mine.indices), other.indices)
                mine, other = cupy.asarray(mine.data), other.data
            if isinstance(mine, sp.Vector):
                mine = mine.to_numpy()
                other = other.get()
            cupy.testing.assert_allclose(cupy.asarray(mine), other, rtol=1e-9)
            ratios.setdefault(operation, []).append(their_ms / my_ms)
            print(f"| {name} | {a.shape[0]} | {a.nnz} | {operation} | {my_ms:.3f} | {their_ms:.3f} | {their_ms / my_ms:.2f} |", flush=True)
    for operation, found in ratios.items():
        mean = math.prod(found) ** (1 / len(found))
        print(f"| geometric mean (least) | | | {operation} | | | {mean:.2f} ({min(found):.2f}) |")


if __name__ == "__main__":
    main()
