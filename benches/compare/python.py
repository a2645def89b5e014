#!/usr/bin/env python3
"""The Python package compared with SciPy, scikit-learn, networkx, igraph, TensorLy, pygenten and opt_einsum.

    pip install ./python python-igraph networkx nx-parallel graphblas-algorithms scikit-learn tensorly pygenten opt_einsum
    python3 benches/compare/python.py                                    # everything; SPARRING_DATA names a folder with more matrices
    python3 benches/compare/python.py overhead products --cases email-Enron,rmat14
    python3 benches/compare/python.py --save NAME                        # keeps the tables as benches/results/NAME.md

Both sides alternate in one process and are called as users call them, with their defaults, on the processors available
to the process. A figure is the minimum over the rounds; a ratio above 1 means that ours is faster. Results are compared
before anything is timed. Peers that are not installed are left out.
"""
import argparse
import contextlib
import datetime
import functools
import gc
import importlib
import importlib.metadata
import json
import math
import os
import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
# A measurement ends after this many rounds and this much time.
ROUNDS, SPEND = 5, 0.25
# Time limit of a measurement in seconds.
LONGEST = 6
TASKS = {}


def task(function):
    TASKS[function.__name__] = function
    return function


def has(package):
    """Whether a peer is installed and compatible with the others."""
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True


def data(name):
    """A generated case, or the path of a file of the repository or of SPARRING_DATA; None if neither has it."""
    if name in cases.GENERATED:
        return name
    for folder in (os.path.join(TOP, "data"), os.environ.get("SPARRING_DATA", "")):
        for ending in (".mtx.gz", ".tns.gz"):
            if os.path.exists(path := os.path.join(folder, name + ending)):
                return path
    return None


@functools.lru_cache(maxsize=3)
def matrix(name):
    """The matrix as a csr_array."""
    return scipy.sparse.csr_array(cases.load(data(name)))


def once(function, count):
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count


def minima(functions):
    """Minimum seconds per call of each function, alternating. A call below 100 µs is repeated within a round."""
    counts = []
    for function in functions:
        function()
        counts.append(max(1, int(2e-4 / max(once(function, 1), 1e-9))))
    best, spent, rounds = [math.inf] * len(functions), 0.0, 0
    collects = gc.isenabled()
    gc.disable()
    try:
        while rounds < ROUNDS or (spent < SPEND * len(functions) and rounds < 1000):
            for at, (function, count) in enumerate(zip(functions, counts)):
                found = once(function, count)
                best[at], spent = min(best[at], found), spent + found * count
            rounds += 1
            if spent > LONGEST:
                break
    finally:
        if collects:
            gc.enable()
    return best


def same(a, b, tolerance=1e-9):
    """Whether two results agree: sparse, dense or numbers."""
    dense = [x.tocsr() if scipy.sparse.issparse(x) else np.asarray(x) for x in (a, b)]
    if all(map(scipy.sparse.issparse, dense)):
        difference = abs(dense[0] - dense[1])
        return dense[0].shape == dense[1].shape and difference.max() <= tolerance * max(1.0, abs(dense[0]).max())
    return np.allclose(dense[0], dense[1], rtol=tolerance, atol=tolerance * max(1.0, np.abs(dense[0]).max()), equal_nan=True)


class Table:
    """The rows of a task: our times and the others' in ms, with ratios."""

    def __init__(self, title, peers, bar=None):
        self.title, self.peers, self.bar, self.rows = title, peers, bar, []

    def time(self, case, ours, others, note="", check=True, tolerance=1e-9):
        """One row: the functions are checked, then timed in turns."""
        if check:
            want = ours()
            for peer, other in others.items():
                if not same(want, other(), tolerance):
                    raise SystemExit(f"{self.title}, {case}: the results of {peer} are others")
        best = minima([ours, *others.values()])
        self.add(case, best[0], dict(zip(others, best[1:])), note)

    def add(self, case, ours, others, note=""):
        self.rows.append((case, ours, others, note))
        told = ", ".join(f"{peer} {seconds * 1e3:.4g} ({seconds / ours:.2f})" for peer, seconds in others.items())
        print(f"{self.title}: {case}: {ours * 1e3:.4g} ms; {told}", file=sys.stderr, flush=True)

    def text(self):
        if not self.rows:
            return ""
        peers = [peer for peer in self.peers if any(peer in others for _, _, others, _ in self.rows)]
        head = ["", "ours, ms", *(f"{peer}, ms | ratio" for peer in peers), "chosen"]
        lines = [f"## {self.title}", "", f"| {' | '.join(head)} |", "| --- |" + " ---: |" * (1 + 2 * len(peers)) + " --- |"]
        ratios = {peer: [] for peer in peers}
        for case, ours, others, note in self.rows:
            cells = [case, f"{ours * 1e3:.4g}"]
            for peer in peers:
                if peer not in others:
                    cells += ["–", "–"]
                    continue
                ratio = others[peer] / ours
                ratios[peer].append((ratio, case))
                cells += [f"{others[peer] * 1e3:.4g}", f"{ratio:.2f}" if ratio >= 1 else f"**{ratio:.2f}**"]
            lines.append(f"| {' | '.join([*cells, note])} |")
        mean = lambda found: math.exp(sum(math.log(r) for r, _ in found) / len(found)) if found else math.nan
        least = [f"{mean(ratios[peer]):.2f} (least {min(ratios[peer])[0]:.2f})" for peer in peers]
        if peers:
            lines.append(f"| geometric mean | | {' | '.join(f'| {x}' for x in least)} | {self.bar or ''} |")
        return "\n".join(lines) + "\n"


def chosen(function, *arguments, **settings):
    """The part of `explain` that names the algorithm."""
    import sparring as sp

    _, text = sp.explain(function, *arguments, **settings)
    how = [line.strip() for line in text.splitlines() if line.startswith("  ")]
    return "; ".join(how).replace("|", "/")[:120]


def deal_threads():
    """Pins each thread of a pool to a processor: other libraries' threads may otherwise make two share one."""
    import sparring as sp

    a = scipy.sparse.eye_array(100_000, format="csr")
    sp.mxm(a, a)
    pools, processors = {}, sorted(os.sched_getaffinity(0))
    for thread in map(int, os.listdir("/proc/self/task")):
        with open(f"/proc/self/task/{thread}/comm") as name:
            pools.setdefault(name.read().strip().rstrip("0123456789"), []).append(thread)
    for threads in pools.values():
        for number, thread in enumerate(sorted(threads)):
            if thread != os.getpid():
                os.sched_setaffinity(thread, {processors[number % len(processors)]})


def small_arrays():
    rng = np.random.default_rng(1)
    return [scipy.sparse.random_array((4, 4), density=0.5, rng=rng, format="csr") for _ in range(2)]


def time_to_import(module):
    """Milliseconds beyond an interpreter with NumPy, minimum over ten processes."""
    code = f"import time, numpy; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout for _ in range(10)]
    return min(map(float, runs))


@task
def overhead(args):
    """The overhead of a call."""
    import sparring as sp

    a, b = small_arrays()
    A, B, x, y = sp.Matrix(a), sp.Matrix(b), sp.Vector(np.ones(4)), np.ones(4)
    path = scipy.sparse.diags_array([np.ones(9)], offsets=[1], shape=(10, 10), format="csr")
    g = sp.graph.Graph(path)
    table = Table("Overhead: calls on 4×4", ["SciPy"])
    rows = [
        ("sp.get_threads()", sp.get_threads, None),
        ("A.nnz", lambda: A.nnz, lambda: a.nnz),
        ("A.shape", lambda: A.shape, lambda: a.shape),
        ("sp.mxm, held", lambda: sp.mxm(A, B), None),
        ("A @ B, held", lambda: A @ B, lambda: a @ b),
        ("sp.mxm, of csr_array", lambda: sp.mxm(a, b), lambda: a @ b),
        ("sp.mxm, held, 'min, a + 2*b'", lambda: sp.mxm(A, B, "min, a + 2*b"), None),
        ("sp.mxv, held", lambda: sp.mxv(A, x), None),
        ("sp.mxv, of arrays", lambda: sp.mxv(a, y), lambda: a @ y),
        ("sp.ewise_add, held", lambda: sp.ewise_add(A, B), None),
        ("sp.ewise_add, of csr_array", lambda: sp.ewise_add(a, b), lambda: a + b),
        ("sp.ewise_mult, of csr_array", lambda: sp.ewise_mult(a, b), lambda: a.multiply(b)),
        ("sp.reduce, held", lambda: sp.reduce(A), None),
        ("sp.reduce, of csr_array", lambda: sp.reduce(a), lambda: a.sum()),
        ("sp.reduce_rows, held", lambda: sp.reduce_rows(A), None),
        ("sp.reduce_rows, of csr_array", lambda: sp.reduce_rows(a), lambda: a.sum(axis=1)),
        ("sp.Matrix(a)", lambda: sp.Matrix(a), None),
        ("A.to_scipy()", A.to_scipy, None),
        ("sp.graph.bfs of 10 vertices", lambda: sp.graph.bfs(g, 0), None),
    ]
    for case, ours, theirs in rows:
        table.time(case, ours, {"SciPy": theirs} if theirs else {}, check=False)
    table.add("import sparring, after NumPy", time_to_import("sparring"), {"SciPy": time_to_import("scipy.sparse")})
    return [table]


def tall_and_wide():
    rng = np.random.default_rng(5)
    tall = scipy.sparse.random_array((20_000, 200), density=0.015, rng=rng, format="csr")
    return tall, scipy.sparse.csr_array(scipy.sparse.random_array((200, 5000), density=0.02, rng=rng, format="csr"))


def squared(name):
    return lambda: (matrix(name), matrix(name))


def by_transpose(name):
    return lambda: (matrix(name), matrix(name).T.tocsr())


PRODUCTS = {
    "email-Enron A·A": squared("email-Enron"),
    "cnr-2000 A·A": squared("cnr-2000"),
    "wiki-Vote A·A": squared("wiki-Vote"),
    "ca-HepPh A·A": squared("ca-HepPh"),
    "bcsstk16 A·A": squared("bcsstk16"),
    "west0479 A·A": squared("west0479"),
    "lp_25fv47 A·Aᵀ": by_transpose("lp_25fv47"),
    "sec-names-3gram A·Aᵀ": by_transpose("sec-names-3gram"),
    "zenios A·A": squared("zenios"),
    "rmat14 A·A": squared("rmat14"),
    "lap2d_1000 A·A": squared("lap2d_1000"),
    "er18d8 A·A": squared("er18d8"),
    "tall × wide": tall_and_wide,
    "delaunay_n16 A·A": squared("delaunay_n16"),
    "as-22july06 A·A": squared("as-22july06"),
    "p2p-Gnutella31 A·A": squared("p2p-Gnutella31"),
    "memplus A·A": squared("memplus"),
    "cora-words A·Aᵀ": by_transpose("cora-words"),
}


def wanted(args, names):
    """The requested cases whose data is available."""
    told = args.cases.split(",") if args.cases else None
    for name in names:
        if told and not any(word in name for word in told):
            continue
        if data(name.split()[0]) is None and name.split()[0] not in ("tall", "ratings", "batch", "random"):
            continue
        yield name


@task
def products(args):
    """A·B of csr_arrays, in and out."""
    import sparring as sp

    table = Table("A @ B of csr_array", ["SciPy"], "≥ 2, least ≥ 1")
    for name in wanted(args, PRODUCTS):
        a, b = PRODUCTS[name]()
        table.time(name, lambda: sp.mxm(a, b), {"SciPy": lambda: a @ b}, chosen(sp.mxm, a, b))
    return [table]


@task
def columns(args):
    """A·B with one or both operands in compressed columns."""
    import sparring as sp

    columns = Table("A @ B with compressed columns", ["SciPy"], "≥ 1")
    for name in list(wanted(args, PRODUCTS))[::3]:
        a, b = PRODUCTS[name]()
        ac, bc = a.tocsc(), b.tocsc()
        columns.time(f"{name}, csc · csc", lambda: sp.mxm(ac, bc), {"SciPy": lambda: ac @ bc}, chosen(sp.mxm, ac, bc))
        columns.time(f"{name}, csr · csc", lambda: sp.mxm(a, bc), {"SciPy": lambda: a @ bc})
        columns.time(f"{name}, csc · csr", lambda: sp.mxm(ac, b), {"SciPy": lambda: ac @ b})
    return [columns]


OPERANDS = ["email-Enron", "cnr-2000", "bcsstk16", "west0479", "lap2d_1000", "delaunay_n16"]


@task
def operations(args):
    """Single operations on SciPy arrays and on this package's own objects."""
    import sparring as sp

    tables = []

    def table(title, held=False):
        made = Table(title, ["SciPy"], "≥ 1")
        tables.append(made)
        return made

    all_ = {
        "A @ x": (lambda a, b, x, d: lambda: sp.mxv(a, x), lambda a, b, x, d: lambda: a @ x),
        "A + B": (lambda a, b, x, d: lambda: sp.ewise_add(a, b), lambda a, b, x, d: lambda: a + b),
        "A.multiply(B)": (lambda a, b, x, d: lambda: sp.ewise_mult(a, b), lambda a, b, x, d: lambda: a.multiply(b)),
        "A.sum(axis=1)": (lambda a, b, x, d: lambda: sp.reduce_rows(a).to_numpy(), lambda a, b, x, d: lambda: a.sum(axis=1)),
        "A.sum()": (lambda a, b, x, d: lambda: sp.reduce(a), lambda a, b, x, d: lambda: a.sum()),
        "A.T.tocsr()": (lambda a, b, x, d: lambda: sp.transpose(a), lambda a, b, x, d: lambda: a.T.tocsr()),
    }
    for title, (ours, theirs) in all_.items():
        of_arrays, of_held = table(f"{title} of csr_array"), table(f"{title}, held")
        for name in wanted(args, OPERANDS):
            a = matrix(name)
            b = a.T.tocsr() if a.shape[0] == a.shape[1] else abs(a)
            x = np.linspace(0.5, 1.5, a.shape[1])
            of_arrays.time(name, ours(a, b, x, None), {"SciPy": theirs(a, b, x, None)}, tolerance=1e-8)
            A, B, X = sp.Matrix(a), sp.Matrix(b), sp.Vector(x)
            of_held.time(name, ours(A, B, X, None), {"SciPy": theirs(a, b, x, None)}, check=False)
    if hasattr(sp, "spmm"):
        dense = table("A @ dense, 32 columns")
        for name in wanted(args, OPERANDS):
            a = matrix(name)
            d = np.random.default_rng(3).random((a.shape[1], 32))
            dense.time(name, lambda: sp.spmm(a, d), {"SciPy": lambda: a @ d}, tolerance=1e-8)
    return tables


def ratings(rows=6000):
    import vectors

    return scipy.sparse.csr_array(vectors.movielens(rows))


@task
def neighbors(args):
    """Nearest rows, through the estimators of both packages."""
    if not has("sklearn"):
        return []
    import sklearn.neighbors
    import sparring as sp

    table = Table("NearestNeighbors, k = 10, fit and kneighbors", ["scikit-learn"], "≥ 5")
    inputs = {
        "ratings": ratings,
        "sec-names-3gram": lambda: matrix("sec-names-3gram")[:8000],
        "cora-words": lambda: matrix("cora-words"),
        "docword.kos": lambda: matrix("docword.kos"),
        "scrna-GSM6544281": lambda: matrix("scrna-GSM6544281")[:3000],
    }
    for name in wanted(args, inputs):
        x = inputs[name]()
        # Empty rows have no cosine distance.
        x = x[np.diff(x.indptr) > 0]
        x.sort_indices()
        for metric in ("cosine", "euclidean", "manhattan"):
            rows = x[:1500].tocsr() if metric == "manhattan" else x

            def run(package, rows=rows, metric=metric):
                return package.NearestNeighbors(n_neighbors=10, metric=metric).fit(rows).kneighbors(rows)[0]

            settled = functools.partial(run, sp.neighbors), functools.partial(run, sklearn.neighbors)
            # In scikit-learn, a difference of nearly equal rows loses half of the digits.
            table.time(f"{name}, {rows.shape[0]} rows, {metric}", settled[0], {"scikit-learn": settled[1]}, tolerance=1e-4)
    return [table]


GRAPHS = ["email-Enron", "wiki-Vote", "cnr-2000", "ca-HepPh", "kron14", "urand14", "delaunay_n16", "soc-brightkite", "luxembourg_osm"]


@task
def graphs(args):
    """Algorithms on each package's own graph, built beforehand."""
    import networkx as nx
    import scipy.sparse.csgraph as csgraph
    import sparring as sp

    peers = ["igraph", "SciPy", "graphblas-algorithms", "nx-parallel", "networkx"]
    titles = ["BFS", "PageRank, by default", "PageRank, to networkx's n·10⁻⁶", "Connected components"]
    tables = {title: Table(title, peers, "≥ 1") for title in titles}
    for name in wanted(args, GRAPHS):
        a, directed = cases.graph(data(name))
        a = scipy.sparse.csr_array(a)
        a.data[:] = 1
        n, source = a.shape[0], int(np.argmax(np.diff(a.indptr)))
        g = sp.graph.Graph(a, directed=directed)
        bfs, ranks, to_n, components = theirs = {}, {}, {}, {}
        ends = np.column_stack(a.nonzero())
        if not directed:
            ends = ends[ends[:, 0] < ends[:, 1]]
        if has("igraph"):
            import igraph

            i = igraph.Graph(n=n, edges=ends, directed=directed)
            bfs["igraph"] = lambda: i.distances(source, mode="out")[0]
            ranks["igraph"] = i.pagerank
            components["igraph"] = lambda: i.connected_components(mode="weak").membership
        bfs["SciPy"] = lambda: csgraph.breadth_first_order(a, source)
        components["SciPy"] = lambda: csgraph.connected_components(a, directed=directed, connection="weak")[1]
        if a.nnz < 1_500_000:
            h = nx.empty_graph(n, create_using=nx.DiGraph if directed else nx.Graph)
            h.add_edges_from(ends.tolist())
            parts = nx.weakly_connected_components if directed else nx.connected_components
            bfs["networkx"] = lambda: nx.single_source_shortest_path_length(h, source)
            to_n["networkx"] = lambda: nx.pagerank(h)
            components["networkx"] = lambda: list(parts(h))
            if has("graphblas_algorithms"):
                import graphblas_algorithms as ga

                gb = ga.DiGraph.from_networkx(h) if directed else ga.Graph.from_networkx(h)
                bfs["graphblas-algorithms"] = lambda: ga.single_source_shortest_path_length(gb, source)
                to_n["graphblas-algorithms"] = lambda: ga.pagerank(gb)
            if has("nx_parallel"):
                import nx_parallel

                parallel = nx_parallel.ParallelGraph(h)
                for work, function in ((bfs, "single_source_shortest_path_length"), (to_n, "pagerank")):
                    if hasattr(nx_parallel, function):
                        more = [source] if work is bfs else []
                        work["nx-parallel"] = functools.partial(getattr(nx, function), parallel, *more, backend="parallel")
        ours = [
            lambda: sp.graph.bfs(g, source),
            lambda: sp.graph.pagerank(g),
            lambda: sp.graph.pagerank(g, tolerance=n * 1e-6),
            lambda: sp.graph.connected_components(g),
        ]
        if "igraph" in bfs:
            levels = np.array(bfs["igraph"]())
            assert np.array_equal(np.where(np.isfinite(levels), levels, -1), ours[0]()), name
            assert np.allclose(ranks["igraph"](), ours[1](), atol=1e-5), name
            assert len(set(components["igraph"]())) == len(np.unique(ours[3]())), name
        for table, function, others in zip(tables.values(), ours, theirs):
            if others:
                table.time(name, function, others, check=False)
    return list(tables.values())


def tensor(name, limit=None):
    import gzip

    lines = np.loadtxt(gzip.open(data(name)), comments="#")
    places, values = lines[:, :-1].astype(np.int64) - 1, lines[:, -1].copy()
    return places, values, tuple(int(n) for n in places.max(axis=0) + 1)


def fit_of(x, weights, factors):
    letters = "abcdefg"[: len(factors)]
    model = np.einsum(",".join(["Z", *(c + "Z" for c in letters)]) + "->" + letters, weights, *factors, optimize=True)
    return 1 - np.linalg.norm(x - model) / np.linalg.norm(x)


@contextlib.contextmanager
def quiet():
    """Discards the output of libraries."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)


@task
def decompositions(args):
    """CP by ten sweeps from a random initial guess."""
    with quiet():
        return decompositions_of(args)


def decompositions_of(args):
    import sparring as sp

    sweeps, tables = 10, []
    if has("tensorly"):
        import tensorly.decomposition

        table = Table(f"CP of rank 8, {sweeps} sweeps", ["TensorLy, dense", "pygenten"], "≥ 10, ≥ 4")
        tables.append(table)
    names = ["nations", "kinships", "aminoacid", "umls", "enron-5", "CollegeMsg-day", "enron-week", "gdelt-valid", "FB15k-237", "WN18RR"]
    for name in wanted(args, names):
        places, values, shape = tensor(name)
        x = sp.Tensor(places.T, values, shape)
        ours, others = (lambda: sp.cp_als(x, 8, sweeps=sweeps, tolerance=None)), {}
        if has("tensorly") and math.prod(shape) <= 2e7:
            dense = np.zeros(shape)
            np.add.at(dense, tuple(places.T), values)
            others["TensorLy, dense"] = lambda: tensorly.decomposition.parafac(dense, 8, n_iter_max=sweeps, init="random", tol=0)
            theirs = others["TensorLy, dense"]()
            found = ours(), fit_of(dense, *theirs)
            assert abs(found[0].fit - found[1]) < 0.2, (name, found[0].fit, found[1])
        if has("pygenten"):
            import pygenten as gt

            sparse = gt.Sptensor(shape, places.astype(np.uint64), values, copy=True)
            others["pygenten"] = lambda: gt.cp_als(sparse, rank=8, maxiters=sweeps, tol=0.0, printitn=0)
        table.time(f"{name}, {'×'.join(map(str, shape))}, {len(values)}", ours, others, check=False)
    return tables


@task
def contractions(args):
    """Batches of small dense matrices."""
    import sparring as sp

    table = Table("einsum", ["NumPy", "NumPy, optimize", "opt_einsum"], "≥ 1")
    rng = np.random.default_rng(9)
    shapes = [("bij,bjk->bik", n, count) for n, count in ((2, 100_000), (3, 100_000), (4, 50_000), (8, 20_000), (16, 5000), (32, 1000))]
    shapes += [("bij,bj->bi", n, count) for n, count in ((4, 100_000), (16, 20_000))]
    shapes += [("bij,bkj->bik", 8, 20_000), ("bij,bjk,bkl->bil", 8, 5000), ("ij,jk->ik", 512, 1), ("ijk,jl->ilk", 64, 1), ("bi,bi->b", 16, 50_000)]
    for expression, n, count in shapes:
        operands = [
            rng.random([count if letter == "b" else n for letter in term]) for term in expression.split("->")[0].split(",")
        ]
        others = {"NumPy": lambda: np.einsum(expression, *operands), "NumPy, optimize": lambda: np.einsum(expression, *operands, optimize=True)}
        if "bjk,bkl" in expression or "ij,jk->ik" == expression:
            others.pop("NumPy")
        if has("opt_einsum"):
            import opt_einsum

            others["opt_einsum"] = lambda: opt_einsum.contract(expression, *operands)
        table.time(f"{expression}, n = {n}, {count}", lambda: sp.einsum(expression, *operands), others)
    return [table]


# Run in a process of its own: the growth of its peak caused by the last line, in MiB.
PEAK = """
import sys
sys.path.insert(0, {here!r})
import numpy as np, scipy.sparse, sparring as sp, json
import python as bench
a, b = bench.PRODUCTS[{name!r}]()
small = bench.small_arrays()
{warm}
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
with open("/proc/self/clear_refs", "w") as clear:
    clear.write("5")
before = resident()
c = {run}
after = peak()
size = c.data.nbytes + c.indices.nbytes + c.indptr.nbytes
print(json.dumps([(after - before) / 1024, size / 2**20]))
"""


@task
def memory(args):
    """Peak growth during one product, in a process of its own, and the copies made by importing arrays."""
    lines = ["## Memory of a product: growth of the peak, MiB", "", "| | ours | SciPy | the result alone | SciPy / ours |",
             "| --- | ---: | ---: | ---: | ---: |"]
    for name in wanted(args, PRODUCTS):
        if not any(word in name for word in ("email", "cnr", "lap2d", "rmat14", "delaunay", "tall", "er18")):
            continue
        found = {}
        for who, warm, run in (("ours", "sp.mxm(*small)", "sp.mxm(a, b)"), ("SciPy", "small[0] @ small[1]", "a @ b")):
            code = PEAK.format(here=HERE, name=name, warm=warm, run=run)
            runs = [json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) for _ in range(2)]
            found[who] = min(runs)
        ours, theirs = found["ours"][0], found["SciPy"][0]
        ratio = f"{theirs / ours:.2f}" if theirs >= ours else f"**{theirs / ours:.2f}**"
        lines.append(f"| {name} | {ours:.1f} | {theirs:.1f} | {found['SciPy'][1]:.1f} | {ratio} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return ["\n".join(lines) + "\n"]


def versions():
    names = ["numpy", "scipy", "scikit-learn", "networkx", "nx-parallel", "graphblas-algorithms", "igraph", "tensorly", "pygenten", "opt_einsum"]
    told = []
    for name in names:
        try:
            told.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            told.append(f"{name} not installed")
    return ", ".join(told)


def processor():
    with open("/proc/cpuinfo") as info:
        lines = info.read().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
    wide = "AVX-512" if any(line.startswith("flags") and "avx512f" in line for line in lines) else "AVX2"
    return f"{model} ({wide}), {len(os.sched_getaffinity(0))} processors"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(TASKS)}; all by default")
    parser.add_argument("--cases", help="words, separated by commas, one of which a case has in its name")
    parser.add_argument("--save", metavar="NAME", help="keeps the tables as benches/results/NAME.md")
    parser.add_argument("--deal", action="store_true", help="each thread of a pool has a processor of its own, on a machine that others use")
    args = parser.parse_args()
    if unknown := set(args.tasks) - set(TASKS):
        parser.error(f"no task {', '.join(unknown)}")
    import sparring as sp

    if args.deal:
        deal_threads()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=TOP, capture_output=True, text=True).stdout.strip()
    told = " ".join(["benches/compare/python.py", *args.tasks, *(["--cases", args.cases] if args.cases else [])])
    text = [f"{datetime.date.today()}, {processor()}, sparring at {commit}, {sp.get_threads()} threads; {versions()}; Python "
            f"{sys.version.split()[0]}. Minima of at least {ROUNDS} rounds in turns; `{told}`.\n"]
    for name in args.tasks or TASKS:
        for made in TASKS[name](args):
            text.append(made if isinstance(made, str) else made.text())
    text = "\n".join(filter(None, text))
    print(text)
    if args.save:
        with open(os.path.join(TOP, "benches", "results", f"{args.save}.md"), "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
