"""The inputs of the comparison: generated matrices, the same bits as `sparring bench` makes, and files.

Every number is splitmix64 of a counter, so the library and this script generate the same matrices without exchanging
files;
compare.py checks that they do, by the sums of the products.
"""
import functools
import gzip
import os

import numpy as np
import scipy.io
import scipy.sparse as sp

U64 = np.uint64


def splitmix64(x):
    with np.errstate(over="ignore"):
        z = np.asarray(x, dtype=U64) + U64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
        return z ^ (z >> U64(31))


def unit(x):
    """Maps 64 bits to [0, 1) by the upper 53."""
    return (x >> U64(11)).astype(np.float64) * 2.0**-53


def hash2(seed, i, j):
    with np.errstate(over="ignore"):
        return splitmix64(splitmix64(np.asarray(i).astype(U64) + U64(seed)) ^ np.asarray(j).astype(U64))


def csr(rows, cols, n, values=None):
    """Distinct positions sorted by row and column. Values follow from the position, unless given as (diagonal, other)
    or by a function of the positions."""
    keys = np.unique(rows.astype(np.int64) * n + cols.astype(np.int64))
    rows, cols = keys // n, keys % n
    ptr = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=n), out=ptr[1:])
    if values is None:
        x = unit(hash2(7, rows, cols)) + 0.5
    elif callable(values):
        x = values(rows, cols, n)
    else:
        x = np.where(rows == cols, float(values[0]), float(values[1]))
    a = sp.csr_matrix((x, cols.astype(np.int32), ptr), shape=(n, n))
    a.has_sorted_indices = a.has_canonical_format = True
    return a


def weights(rows, cols, n):
    """Edge weights from 1 to 255, the same in both directions."""
    least, most = np.minimum(rows, cols).astype(U64), np.maximum(rows, cols).astype(U64)
    return 1.0 + (splitmix64(least * U64(n) + most) % U64(255)).astype(np.float64)


def rmat(scale, edge_factor, seed=1, values=None):
    """Graph500's recursive matrix: undirected, without self-loops, labels permuted."""
    n, draws = 1 << scale, edge_factor << scale
    e = np.arange(draws, dtype=U64)
    rows, cols = np.zeros(draws, np.int64), np.zeros(draws, np.int64)
    for level in range(scale):
        u = unit(splitmix64(e * U64(64) + U64(level) + U64(seed << 40)))
        rows = 2 * rows + (u >= 0.76)
        cols = 2 * cols + (((u >= 0.57) & (u < 0.76)) | (u >= 0.95))
    order = np.argsort(splitmix64(np.arange(n, dtype=U64) + U64(seed + 12345)), kind="stable")
    label = np.empty(n, np.int64)
    label[order] = np.arange(n)
    rows, cols = label[rows], label[cols]
    return both_ways(rows, cols, n, values)


def drawn(n, samples, seed):
    """The sources that sampled_betweenness draws."""
    all_, state = list(range(n)), seed
    for k in range(samples):
        z = int(splitmix64(state))
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        at = k + (z * (n - k) >> 64)
        all_[k], all_[at] = all_[at], all_[k]
    return np.array(all_[:samples])


def both_ways(rows, cols, n, values):
    """The undirected graph of these edges, without self-loops."""
    keep = rows != cols
    rows, cols = rows[keep], cols[keep]
    return csr(np.concatenate([rows, cols]), np.concatenate([cols, rows]), n, values)


def kron(scale):
    """GAP's Kronecker graph: 16 draws per vertex."""
    return rmat(scale, 16, values=weights)


def urand(scale, seed=4):
    """GAP's uniform random graph: 16 draws per vertex, both ends uniform."""
    n, draws = 1 << scale, 16 << scale
    ends = splitmix64(np.arange(2 * draws, dtype=U64) + U64(seed << 40)) % U64(n)
    return both_ways(ends[0::2].astype(np.int64), ends[1::2].astype(np.int64), n, weights)


def uniform(n, degree, seed=2):
    """Erdős–Rényi: `degree` draws of a column per row."""
    rows = np.repeat(np.arange(n, dtype=np.int64), degree)
    cols = splitmix64(np.arange(n * degree, dtype=U64) + U64(seed << 40)) % U64(n)
    return csr(rows, cols.astype(np.int64), n)


def grid(dims, offsets, values):
    index = np.arange(int(np.prod(dims))).reshape(dims)
    rows, cols = [], []
    for o in offsets:
        here = tuple(slice(max(0, -x), d - max(0, x)) for x, d in zip(o, dims))
        there = tuple(slice(max(0, x), d + min(0, x)) for x, d in zip(o, dims))
        rows.append(index[here].ravel())
        cols.append(index[there].ravel())
    return csr(np.concatenate(rows), np.concatenate(cols), index.size, values)


def stencil27(k):
    near = (-1, 0, 1)
    return grid((k,) * 3, [(x, y, z) for x in near for y in near for z in near], (26, -1))


def laplace2d(k):
    return grid((k, k), [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)], (4, -1))


def web(n, seed=3, host=256):
    """Power-law degrees; most links of a page form one run inside its host, the rest go to popular pages."""
    i = np.arange(n, dtype=np.int64)
    u = unit(splitmix64(i.astype(U64) + U64(seed << 40)))
    degree = np.minimum(1500, 3.0 * np.power(1.0 - u, -0.75)).astype(np.int64)
    inside = np.minimum(degree * 4 // 5, host)
    outside = degree - inside
    of = i // host
    start = (hash2(seed, of, splitmix64(i.astype(U64)) % U64(4)) % U64(host)).astype(np.int64)

    def runs(count):
        rows = np.repeat(i, count)
        return rows, np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)

    r1, o1 = runs(inside)
    c1 = np.minimum(of[r1] * host + (start[r1] + o1) % host, n - 1)
    r2, o2 = runs(outside)
    c2 = np.minimum((n * unit(hash2(seed + 9, r2, o2)) ** 4).astype(np.int64), n - 1)
    c2 = (c2 // 64 * host * 37 + c2 % 64) % n
    return csr(np.concatenate([r1, r2]), np.concatenate([c1, c2]), n)


def grid2d(k):
    """A grid of k × k points, each with an edge to its neighbours."""
    return grid((k, k), [(1, 0), (-1, 0), (0, 1), (0, -1)], weights)


def galerkin(k):
    """R, A, P of smoothed aggregation: A the 7-point Laplacian, P = (I - 2/3 D^-1 A) P0 with P0 the indicator of boxes of 3^3 points."""
    cross = [(0, 0, 0)] + [tuple(s * (x == axis) for x in range(3)) for axis in range(3) for s in (1, -1)]
    a = grid((k,) * 3, cross, (6, -1))
    boxes = -(-k // 3)
    z, y, x = np.unravel_index(np.arange(k**3), (k,) * 3)
    own = ((z // 3 * boxes) + y // 3) * boxes + x // 3
    box = sp.csr_matrix((np.ones(k**3), own.astype(np.int32), np.arange(k**3 + 1, dtype=np.int32)), (k**3, boxes**3))
    # SciPy drops entries that cancel, which P has: a multiple of the indicator product is added and subtracted again.
    one = sp.csr_matrix((np.ones(a.nnz), a.indices, a.indptr), a.shape) @ box
    p = ((a + 16 * sp.csr_matrix((np.ones(a.nnz), a.indices, a.indptr), a.shape)) @ box).tocsr()
    one.sort_indices()
    p.sort_indices()
    p.data -= 16 * one.data
    inside = p.indices == np.repeat(own, np.diff(p.indptr))
    p.data = inside.astype(float) - 2.0 / 3.0 / 6.0 * p.data
    r = p.T.tocsr()
    r.sort_indices()
    return [r, a, p]


def full(nrows, ncols, keep=lambda keys: slice(None)):
    """The entries whose keys, row · ncols + column, satisfy `keep`."""
    keys = np.arange(nrows * ncols, dtype=np.int64)
    keys = keys[keep(keys.astype(U64))]
    rows, cols = keys // ncols, keys % ncols
    ptr = np.zeros(nrows + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=nrows), out=ptr[1:])
    return sp.csr_matrix((unit(hash2(7, rows, cols)) + 0.5, cols.astype(np.int32), ptr), shape=(nrows, ncols))


def diagonal(n):
    i = np.arange(n, dtype=np.int64)
    return csr(i, i, n)


def permutation(n):
    """A permutation: row r has a 1 in the column with the r-th smallest hash."""
    i = np.arange(n, dtype=U64)
    order = np.sort((splitmix64(i) >> U64(20) << U64(20)) | i) % U64(1 << 20)
    return sp.csr_matrix((np.ones(n), order.astype(np.int32), np.arange(n + 1, dtype=np.int32)), shape=(n, n))


def by_transpose(a):
    t = a.T.tocsr()
    t.sort_indices()
    return [t, a]


# Two factors each, as in the program's benchmark of products.
SHAPES = {
    "diagonal": lambda: [diagonal(10**6), diagonal(10**6)],
    "scaled_rows": lambda: [diagonal(10**6), laplace2d(1000)],
    "scaled_columns": lambda: [laplace2d(1000), diagonal(10**6)],
    "permuted": lambda: [permutation(10**6), laplace2d(1000)],
    "dot": lambda: [full(1, 10**6), full(10**6, 1)],
    "outer": lambda: [full(2000, 1), full(1, 2000)],
    "long_row": lambda: [full(1, 250_000), uniform(250_000, 8)],
    "tall30": lambda: by_transpose(full(50_000, 30)),
    "tall8": lambda: by_transpose(full(2_000_000, 8, lambda keys: splitmix64(keys) % U64(4) == 0)),
    "tall1": lambda: by_transpose(full(3_000_000, 1)),
}
GENERATED = SHAPES | {
    "rmat14": lambda: rmat(14, 16),
    "er18d8": lambda: uniform(1 << 18, 8),
    "stencil27_60": lambda: stencil27(60),
    "lap2d_1000": lambda: laplace2d(1000),
    "web18": lambda: web(1 << 18),
    "rap100": lambda: galerkin(100),
    "tc_rmat10": lambda: rmat(10, 16),
    "tc_rmat16": lambda: rmat(16, 16),
    "tc_rmat17": lambda: rmat(17, 16),
    "tc_rmat18": lambda: rmat(18, 16),
    "grid1000": lambda: grid2d(1000),
} | {f"{of.__name__}{scale}": functools.partial(of, scale) for of in (kron, urand) for scale in range(14, 21)}


HYPER = {
    # Rows and columns, entries drawn, nonempty rows and columns, columns of a wide right operand.
    "hyper7": (10**7, 10**5, 10**5, None), "hyper7hubs": (10**7, 10**6, 10**5, None), "hyper8": (10**8, 10**6, 10**6, None),
    "hyper9": (10**9, 10**5, 10**5, None), "hyper9few": (10**9, 10**4, 10**4, None), "wide8": (10**4, 10**5, 10**4, 10**8),
}


def hyper(name):
    """Two factors, each as rows, columns, values and a shape; duplicate entries must be summed."""
    n, draws, live, wide = HYPER[name]
    e = np.arange(draws, dtype=U64)
    place = lambda x: (splitmix64(splitmix64(x) % U64(live) + U64(1 << 50)) % U64(n)).astype(np.int64)
    values = 0.5 + (e % U64(17)).astype(np.float64) / 4
    a = place(e * U64(2)), place(e * U64(2) + U64(1)), values, (n, n)
    if wide is None:
        return [a, a]
    return [a, (a[0], (splitmix64(e * U64(2) + U64(1) + U64(1 << 41)) % U64(wide)).astype(np.int64), values, (n, wide))]


def load(case):
    """A generated case by its name (three factors for rap100, two for SHAPES), or a Matrix Market file by its path;
    canonical CSR with doubles and 32-bit indices."""
    if case in GENERATED:
        return GENERATED[case]()
    opener = gzip.open if case.endswith(".gz") else open
    with opener(case, "rb") as f:
        a = scipy.io.mmread(f).tocsr()
    a.sum_duplicates()
    a.sort_indices()
    return sp.csr_matrix((a.data.astype(np.float64), a.indices.astype(np.int32), a.indptr.astype(np.int32)), a.shape)


def undirected(a):
    """The simple undirected graph under a matrix, all values 1."""
    a = sp.csr_matrix((np.ones(a.nnz), a.indices, a.indptr), a.shape)
    a = (a + a.T).tocoo()
    keep = a.row != a.col
    g = sp.csr_matrix((np.ones(keep.sum()), (a.row[keep], a.col[keep])), a.shape)
    g.sort_indices()
    return g


def fingerprint(a):
    """Hashes of row pointers, columns and values, by which the generators are compared with the library's."""
    def of(words):
        with np.errstate(over="ignore"):
            return int(np.add.reduce(splitmix64(splitmix64(np.arange(len(words), dtype=U64)) ^ words), dtype=U64))

    return [of(a.indptr.astype(U64)), of(a.indices.astype(U64)), of(a.data.astype(np.float64).view(U64))]


def graph(case):
    """The simple graph of a case: adjacency without the diagonal, weights by `weights`; and whether it is directed,
    that is, whether its pattern is unsymmetric."""
    a = load(case)
    coo = a.tocoo()
    keep = coo.row != coo.col
    rows, cols, n = coo.row[keep], coo.col[keep], a.shape[0]
    g = csr(rows, cols, n, weights)
    t = g.T.tocsr()
    return g, not (np.array_equal(g.indptr, t.indptr) and np.array_equal(g.indices, t.indices))


def partition(n):
    """Vertex labels for comparing modularity: blocks of 64 vertices get one of 64 labels."""
    return (splitmix64(np.arange(n, dtype=U64) // U64(64)) % U64(64)).astype(np.int64)


def checks(ptr, cols, values, ncols):
    """Number of entries, their sum, and Σ uᵢ Cᵢⱼ vⱼ for fixed u and v, which detects misplaced entries."""
    n = len(ptr) - 1
    u = 1.0 + (splitmix64(np.arange(n, dtype=U64)) % U64(16)).astype(float)
    v = 1.0 + (splitmix64(np.arange(ncols, dtype=U64) + U64(1 << 32)) % U64(16)).astype(float)
    rows = np.repeat(u, np.diff(ptr))
    return {"nnz": int(ptr[-1]), "sum": float(values.sum()), "wsum": float((values * rows * v[cols]).sum())}
