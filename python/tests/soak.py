"""Random valid and invalid calls of every function: `python soak.py [calls] [seed]`.

Results equal those of SciPy and NumPy where these compute the same. An invalid call raises one of Python's own
exceptions. Arguments keep their bytes and reference counts, and memory does not grow.

`PYTHONMALLOC=malloc valgrind --error-limit=no --log-file=log python soak.py 4000` also checks memory. CPython and the
loader cause errors of their own; errors of this package have its name in their stacks.
"""

import copy
import gc
import hashlib
import pickle
import sys
import time

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import scipy.spatial.distance
import sparring as sp

REFUSED = (ValueError, TypeError, IndexError, OverflowError, MemoryError, RuntimeError)
LENGTHS = [0, 1, 4, 9, 20]
DTYPES = ["float64", "float32", "int64", "int32", "int8", "uint8", "bool", "complex128"]
FORMATS = [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array, scipy.sparse.csr_matrix]
SEMIRINGS = ["plus_times", "min_plus", "max_times", "min, a + 2*b"]
METRICS = {"euclidean": "euclidean", "manhattan": "cityblock", "chebyshev": "chebyshev"}


class Wrong:
    """An object with inconsistent attributes."""

    def __getattr__(self, name):
        raise ZeroDivisionError(name) if name == "tocsr" else AttributeError(name)


class Fake:
    """An object that looks like compressed rows but is not."""

    format, shape = "csr", (4, 4)

    def __init__(self, rng):
        self.indptr = rng.integers(-3, 6, rng.integers(0, 7))
        self.indices = rng.integers(-2, 7, rng.integers(0, 7)).astype(rng.choice(["int32", "int64"]))
        self.data = np.ones(rng.integers(0, 7))
        if rng.random() < 0.3:
            self.shape = [(4, -1), (2**63, 4), (4, 2**33), (4,), None, "44"][rng.integers(6)]


class Soak:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.seed = seed
        self.pool = {(m, n): [self.sparse(m, n) for _ in range(6)] for m in LENGTHS for n in LENGTHS}
        self.lines = {n: [self.line(n) for _ in range(4)] for n in LENGTHS}
        self.before = self.digests()
        self.counts = {}

    def digests(self):
        """The arguments of all calls, which no call may modify."""
        return [digest(a) for a in arrays_of([list(self.pool.values()), list(self.lines.values())])]

    # Arguments.

    def one(self, choices):
        return choices[self.rng.integers(len(choices))]

    def dense(self, m, n, dtype=None):
        density = self.one([0.0, 0.1, 0.4, 1.0])
        values = (self.rng.random((m, n)) < density) * self.rng.integers(1, 4, (m, n))
        return values.astype(dtype or self.one(DTYPES))

    def sparse(self, m, n):
        a = self.one(FORMATS)(self.dense(m, n))
        if a.format == "csr" and self.rng.random() < 0.3:
            # Columns in reverse order.
            for i in range(m):
                row = slice(a.indptr[i], a.indptr[i + 1])
                a.indices[row], a.data[row] = a.indices[row][::-1].copy(), a.data[row][::-1].copy()
            a.has_sorted_indices = False
        return a

    def line(self, n):
        return self.rng.integers(1, 4, n).astype(self.one(DTYPES))

    def matrix(self, m, n):
        return self.one(self.pool[m, n])

    def length(self):
        return self.one(LENGTHS)

    def own(self, a):
        """The operand, or this package's object made from it."""
        return a if self.rng.random() < 0.5 else (sp.Matrix(a) if scipy.sparse.issparse(a) else sp.Vector(a))

    def wrong(self):
        rng = self.rng
        return self.one(
            [
                None, "x", "(" * 200, "a\0b", b"x", -1, 0, 2**31, 2**40, 2**62, 2**63, 2**64, -(2**70), 1.5, np.nan, np.inf,
                1j, True, (), [], [None], {}, object(), Wrong(), np.float16(1), np.array(None), np.zeros((2, 2, 2)),
                np.zeros(3, ">f8"), np.zeros(3, "f2"), np.zeros(3, "g"), np.array(["a"]), np.zeros(3, "M8[s]"),
                np.ma.masked_array(np.ones(3), [0, 1, 0]), np.matrix(np.ones((2, 2))), np.arange(8.0)[::-3],
                np.zeros(9, "u1")[1:].view("f8"), scipy.sparse.csr_array((3, 5)), sp.Matrix.empty((2**40, 3)),
                sp.Vector.empty(7), iter([]), lambda: 1 / 0, Fake(rng), sp.Mask,
                memoryview(b"abc"), slice(None), ..., np.zeros(2, [("a", "i4")]), "cuda:0", "cpu",
            ]
        )  # fmt: skip

    # One call of each kind: the function, its arguments, and the expected result if known.

    def product(self):
        m, k, n = self.length(), self.length(), self.length()
        a, b = self.matrix(m, k), self.matrix(k, n)
        semiring = self.one(SEMIRINGS) if a.dtype.kind + b.dtype.kind in ("ff", "ii", "fi", "if") else "plus_times"
        options, expected = {}, None
        if semiring == "plus_times":
            expected = lambda: a.toarray() @ b.toarray()
            if self.rng.random() < 0.3:
                mask = sp.Matrix(self.matrix(m, n))
                options = {"mask": mask, "complement": bool(self.rng.random() < 0.5)}
                allowed = (mask.to_scipy().toarray() != 0) != options["complement"]
                expected = lambda: (a.toarray() @ b.toarray()) * allowed
        elif semiring == "min_plus":
            expected = lambda: tropical(a.toarray(), b.toarray())
        return sp.mxm, [self.own(a), self.own(b), semiring], options, expected

    def transposed_product(self):
        m, k, n = self.length(), self.length(), self.length()
        a, b = self.matrix(k, m), self.matrix(n, k)
        expected = lambda: a.toarray().T @ b.toarray().T
        return sp.mxm, [self.own(a), self.own(b)], {"transpose_a": True, "transpose_b": True}, expected

    def into(self):
        n = self.length()
        a, b, c = (scipy.sparse.csr_array(self.dense(n, n, "float64")) for _ in range(3))
        out = sp.Matrix(c)
        before = out.to_scipy().toarray()
        expected = lambda: before + a.toarray() @ b.toarray()
        return sp.mxm, [self.own(a), self.own(b)], {"accum": "plus", "out": out}, expected

    def with_vector(self):
        m, n = self.length(), self.length()
        a, x, y = self.matrix(m, n), self.one(self.lines[n]), self.one(self.lines[m])
        if self.rng.random() < 0.5:
            return sp.mxv, [self.own(a), self.own(x)], {}, lambda: a.toarray() @ x
        return sp.vxm, [self.own(y), self.own(a)], {}, lambda: y @ a.toarray()

    def entrywise(self):
        m, n = self.length(), self.length()
        a, b = self.matrix(m, n), self.matrix(m, n)
        if self.rng.random() < 0.5:
            return sp.ewise_add, [self.own(a), self.own(b)], {}, lambda: a.toarray() + b.toarray()
        return sp.ewise_mult, [self.own(a), self.own(b)], {}, lambda: a.toarray() * b.toarray()

    def kron(self):
        a, b = self.matrix(self.one(LENGTHS[:4]), self.one(LENGTHS[:4])), self.matrix(self.one(LENGTHS[:4]), 4)
        return sp.kronecker, [self.own(a), self.own(b)], {}, lambda: np.kron(a.toarray(), b.toarray())

    def of_one(self):
        a = self.matrix(self.length(), self.length())
        of = self.own(a)
        dense = a.toarray()
        return self.one(
            [
                (sp.transpose, [of], {}, lambda: dense.T),
                (sp.apply, [of, "ainv"], {}, (lambda: -dense) if a.dtype.kind in "ifc" else None),
                (sp.apply, [of, "one"], {}, (lambda: (dense != 0).astype(dense.dtype))),
                (sp.select, [of, "tril", int(self.rng.integers(-3, 3))], {}, None),
                (sp.select, [of, "triu", 0], {}, lambda: np.triu(dense)),
                (sp.reduce, [of], {}, (lambda: dense.sum(dtype=dense.dtype)) if a.dtype.kind != "b" else None),
                (sp.reduce_rows, [of], {}, (lambda: dense.sum(1, dtype=dense.dtype)) if a.dtype.kind != "b" else None),
                (sp.aggregate, [of, "count"], {}, lambda: (dense != 0).sum(1)),
                (sp.aggregate, [of, "argmax"], {}, None if a.dtype.kind == "c" else no_check),
                (sp.explain, [sp.transpose, of], {}, None),
                (sp.plan, [of, self.matrix(a.shape[1], 4)], {}, no_check),
                (sp.Matrix, [a, self.one(DTYPES)], {}, None),
                (sp.Matrix, [of, None, "cpu"], {}, lambda: dense),
                (sp.Matrix.copy, [sp.Matrix(a)], {}, lambda: dense),
                (sp.Matrix.to_coo, [sp.Matrix(a)], {}, no_check),
                (sp.Matrix.astype, [sp.Matrix(a), self.one(DTYPES)], {}, None),
                (copy.deepcopy, [sp.Matrix(a)], {}, lambda: dense),
                (lambda m: pickle.loads(pickle.dumps(m)), [sp.Matrix(a)], {}, lambda: dense),
                (repr, [sp.Matrix(a)], {}, no_check),
            ]
        )

    def planned(self):
        m, k, n = self.length(), self.length(), self.length()
        a, b = self.matrix(m, k), self.matrix(k, n)
        return sp.plan(a, b), [self.own(a), self.own(b)], {}, lambda: a.toarray() @ b.toarray()

    def part(self):
        m, n = self.length(), self.length()
        a = self.matrix(m, n)
        some = lambda k: self.rng.integers(-k, k, 3) if k else []
        pick = lambda k: self.one([slice(None), slice(1, None, 2), slice(None, None, -1), some(k)])
        rows, columns = pick(m), pick(n)
        expected = lambda: a.toarray()[rows][:, columns]
        if len(range(m)[rows] if isinstance(rows, slice) else rows) == 0:
            expected = None
        return sp.Matrix.__getitem__, [sp.Matrix(a), (rows, columns)], {}, expected

    def written(self):
        m, n = max(self.length(), 1), max(self.length(), 1)
        a = self.matrix(m, n)
        of, dense = sp.Matrix(a), a.toarray()
        places = [(int(self.rng.integers(m)), int(self.rng.integers(n))) for _ in range(4)]

        def write(of, places, x):
            for at in places:
                of[at] = x
            del of[places[0]]
            of[:1, :] = of[:1, :]
            return of

        def expected():
            for at in places:
                dense[at] = 1
            dense[places[0]] = 0
            return dense

        return write, [of, places, 1], {}, expected

    def of_entries(self):
        n, k = max(self.length(), 1), int(self.rng.integers(9))
        rows, columns = self.rng.integers(0, n, (2, k))
        values = self.rng.integers(1, 4, k).astype(self.one(["float64", "int32", "float32"]))
        expected = lambda: scipy.sparse.coo_array((values, (rows, columns)), shape=(n, n)).toarray()
        return sp.Matrix.from_coo, [rows, columns, values, (n, n)], {}, expected

    def vector(self):
        x = self.one(self.lines[self.length()])
        of = sp.Vector(x)
        at = int(self.rng.integers(len(x))) if len(x) else 0
        return self.one(
            [
                (sp.Vector, [x], {}, lambda: x),
                (sp.Vector.to_numpy, [of], {}, lambda: x),
                (sp.Vector.to_coo, [of], {}, no_check),
                (lambda v: pickle.loads(pickle.dumps(v)), [of], {}, lambda: x),
                (sp.Vector.__getitem__, [of, at], {}, (lambda: x[at]) if len(x) else None),
                (sp.ewise_add, [of, of], {}, lambda: x + x),
                (sp.Vector.__matmul__, [of, of], {}, (lambda: x @ x)),
                (sp.reduce, [of], {}, (lambda: x.sum(dtype=x.dtype)) if x.dtype.kind != "b" else None),
                (sp.Vector.from_coo, [[0, 1, 2], [1.0, 2.0, 3.0], 4], {}, lambda: [1, 2, 3, 0]),
            ]
        )

    def distances(self):
        n, m, k = self.one(LENGTHS[1:]), self.one(LENGTHS[1:]), self.one(LENGTHS[1:])
        x, y = self.dense(n, k, "float64"), self.dense(m, k, "float64")
        ours, theirs = self.one(list(METRICS.items()))
        all_pairs = lambda: scipy.spatial.distance.cdist(x, y, theirs)
        of_x, of_y = self.own(scipy.sparse.csr_array(x)), self.own(scipy.sparse.csr_array(y))
        nearest = int(self.rng.integers(0, 6))
        index = lambda q, k: sp.neighbors.Index(of_y, ours).kneighbors(q, k)[0]
        first = lambda: np.sort(all_pairs())[:, :nearest]
        within = lambda a, b, **how: sp.neighbors.radius_neighbors_graph(a, 2.0, Y=b, **how)
        near = lambda: all_pairs() * (all_pairs() <= 2)
        by_formula = lambda: scipy.spatial.distance.cdist(x, y, "cityblock")
        return self.one(
            [
                (sp.neighbors.pairwise_distances, [of_x, of_y], {"metric": ours}, all_pairs),
                (sp.neighbors.kneighbors, [of_x, of_y], {"k": nearest, "metric": ours}, first),
                (index, [of_x, nearest], {}, first),
                (within, [of_x, of_y], {"mode": "distance", "metric": ours}, near),
                (sp.neighbors.pairwise_distances, [of_x, of_y], {"metric": "abs(a-b)"}, by_formula),
            ]
        )

    def graph(self):
        n = self.one(LENGTHS[1:])
        dense = self.dense(n, n, "float64")
        a, g = scipy.sparse.csr_array(dense), sp.graph
        both = scipy.sparse.csr_array(dense + dense.T)
        source = int(self.rng.integers(n))
        shortest = lambda unweighted: scipy.sparse.csgraph.dijkstra(a, indices=source, unweighted=unweighted)
        levels = lambda: np.where(np.isinf(shortest(True)), -1, shortest(True))
        simple = (dense + dense.T != 0) & ~np.eye(n, dtype=bool)
        counted = lambda: np.trace(np.linalg.matrix_power(simple.astype(int), 3)) // 6
        directed = lambda of, f, *rest: f(g.Graph(of, directed=True), *rest)
        return self.one(
            [
                (directed, [a, g.bfs, source], {}, levels),
                (g.sssp, [g.Graph(a, directed=True, weighted=True), source], {}, lambda: shortest(False)),
                (g.triangles, [both], {}, counted),
                (g.pagerank, [a], {}, no_check),
                (g.connected_components, [both], {}, no_check),
                (g.louvain, [both], {}, no_check),
                (g.leiden, [both], {"iterations": 1}, no_check),
                (g.label_propagation, [both, 3], {}, no_check),
                (g.core_numbers, [both], {}, no_check),
                (g.greedy_coloring, [both], {}, no_check),
                (g.minimum_spanning_forest, [both], {}, no_check),
                (g.bipartite_matching, [a], {}, no_check),
                (g.multi_source_bfs, [both, [source, 0]], {}, no_check),
                (g.betweenness_centrality, [both], {}, no_check),
                (g.truss_numbers, [both], {}, no_check),
                (g.Graph.matrix, [g.Graph(both)], {}, lambda: both.toarray() != 0),
                (g.as_graph, [both], {}, no_check),
            ]
        )

    def tensor(self):
        shape = tuple(int(self.one([1, 2, 3, 5])) for _ in range(3))
        count = int(self.rng.integers(0, 8))
        places = np.stack([self.rng.integers(0, n, count) for n in shape])
        values = self.rng.integers(1, 4, count).astype(self.one(["float64", "float32", "int64"]))
        x, dense = sp.Tensor(places, values, shape), np.zeros(shape, values.dtype)
        np.add.at(dense, tuple(places), values)
        factors = [self.rng.integers(0, 3, (n, 2)).astype(values.dtype) for n in shape]
        mode = int(self.rng.integers(3))
        expression = ["ijk,jr,kr->ir", "ijk,ir,kr->jr", "ijk,ir,jr->kr"][mode]
        others = [f for m, f in enumerate(factors) if m != mode]
        pair = [self.dense(3, 4, "float32"), self.dense(4, 2, "float64")]
        return self.one(
            [
                (sp.mttkrp, [x, factors, mode], {}, lambda: np.einsum(expression, dense, *others)),
                (sp.cp_als, [x.astype("float64"), 2], {"sweeps": 2}, no_check),
                (sp.Tensor, [places, values, shape], {}, no_check),
                (sp.Tensor.sum_duplicates, [x], {}, no_check),
                (sp.einsum, [expression, dense, *others], {}, lambda: np.einsum(expression, dense, *others)),
                (sp.einsum, ["ij,jk->ik", *pair], {"semiring": "min_plus"}, no_check),
            ]
        )

    def bytes_of_pickles(self):
        of = sp.Matrix(self.matrix(self.length(), self.length()))
        read, (bytes_,) = of.__reduce__()
        spoiled = bytearray(bytes_)
        for _ in range(int(self.rng.integers(1, 4))):
            if spoiled:
                spoiled[self.rng.integers(len(spoiled))] = self.rng.integers(256)
        spoiled = bytes(spoiled[: self.rng.integers(len(spoiled) + 1)] if self.rng.random() < 0.5 else spoiled)
        return read, [spoiled], {}, None

    def settings(self):
        def call():
            before = sp.get_threads()
            sp.set_threads(int(self.rng.integers(1, 4)))
            sp.set_memory_budget(int(self.rng.integers(0, 5000)))
            try:
                sp.mxm(*self.operands)
            finally:
                sp.set_memory_budget(None)
                sp.set_threads(before)

        self.operands = (self.matrix(9, 9), self.matrix(9, 9))
        return call, [], {}, None

    KINDS = [
        "product", "transposed_product", "into", "with_vector", "entrywise", "kron", "of_one", "planned", "part", "written",
        "of_entries", "vector", "distances", "graph", "tensor", "bytes_of_pickles",
    ]  # fmt: skip

    def call(self, number):
        kind = "settings" if self.rng.random() < 0.005 else self.one(self.KINDS)
        function, args, options, expected = getattr(self, kind)()
        spoiled = self.rng.random() < 0.3 and kind != "settings"
        if spoiled:
            names = list(range(len(args))) + list(options) + ["extra"]
            at = self.one(names)
            if isinstance(at, int):
                args[at] = self.wrong()
            else:
                at = self.one(["mask", "out", "accum", "device", "semiring", "k"]) if at == "extra" else at
                options[at] = self.wrong()
        # An output is not an input.
        inputs = arrays_of([*args[kind == "written" :], *options.values()])
        before = [(sys.getrefcount(a), digest(a)) for a in inputs]
        outcome = "right"
        try:
            found = function(*args, **options)
            if not spoiled and expected is not None and expected is not no_check:
                compare(found, expected())
            del found
        except REFUSED as e:
            outcome = type(e).__name__
            assert spoiled or expected is None, f"{kind}: {outcome}: {e}"
            assert str(e), f"{kind}: {outcome} without a sentence"
            del e
        except ZeroDivisionError:
            # Raised by the invalid object itself.
            assert spoiled
            outcome = "their own"
        except (AttributeError, KeyError) as e:
            assert spoiled and not str(e).startswith("'sparring"), e
            outcome = type(e).__name__
        after = [(sys.getrefcount(a), digest(a)) for a in inputs]
        assert before == after, f"{kind}: arguments were {before}, are {after}"
        self.counts[kind, outcome] = self.counts.get((kind, outcome), 0) + 1

    def run(self, calls, progress=None):
        """Makes this many calls; returns the growth of the process in bytes over the last nine tenths of them."""
        settled = None
        for number in range(calls):
            state = self.rng.bit_generator.state
            try:
                self.call(number)
            except BaseException:
                print(f"call {number} of seed {self.seed}: state {state}", file=sys.stderr)
                raise
            if number == calls // 10:
                gc.collect()
                settled = resident()
            if progress and number % progress == 0:
                print(number, resident() >> 20, "MiB", flush=True)
        gc.collect()
        assert self.digests() == self.before, "arguments were written"
        return resident() - settled if settled else 0


def no_check():
    raise NotImplementedError


def tropical(a, b):
    """The min-plus product where it has an entry, else 0."""
    out = np.zeros((a.shape[0], b.shape[1]))
    for i, j in np.ndindex(out.shape):
        some = (a[i] != 0) & (b[:, j] != 0)
        if some.any():
            out[i, j] = (a[i][some].astype(float) + b[:, j][some].astype(float)).min()
    return out


def plain(found):
    """The result as a dense array."""
    if isinstance(found, tuple):
        found = found[0]
    if isinstance(found, sp.Matrix):
        found = found.to_scipy()
    if isinstance(found, sp.Vector):
        found = found.to_numpy()
    return found.toarray() if scipy.sparse.issparse(found) else np.asarray(found)


def compare(found, expected):
    np.testing.assert_allclose(plain(found), expected, rtol=1e-6, atol=1e-6)


def arrays_of(objects):
    """NumPy arrays among arguments."""
    found = []
    for of in objects:
        if type(of) is np.ndarray:
            found.append(of)
        elif scipy.sparse.issparse(of):
            found += [getattr(of, name) for name in ("data", "indices", "indptr", "row", "col") if hasattr(of, name)]
        elif isinstance(of, (list, tuple)):
            found += arrays_of(of)
        elif isinstance(of, Fake):
            found += [of.indptr, of.indices, of.data]
    # An array passed twice has twice the references.
    return list({id(a): a for a in found}.values())


def digest(array):
    return hashlib.blake2b(array.tobytes(), digest_size=8).digest() if array.dtype != object else b""


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


if __name__ == "__main__":
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    soak = Soak(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    start = time.time()
    grown = soak.run(calls, progress=max(calls // 20, 1))
    for (kind, outcome), count in sorted(soak.counts.items()):
        print(f"{kind:20} {outcome:16} {count}")
    print(f"{calls} calls in {time.time() - start:.0f} s; {grown / 2**20:.1f} MiB more than after a tenth of them")
