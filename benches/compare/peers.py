"""The other libraries, each in its own process, which answers every request with a JSON line.

compare.py starts `peers.py PEER THREADS` and sends {"load": case, "op": "spgemm"|"triangles"|"mxv"|…}, then {"time":
variant} repeatedly. The first run of a variant is a warm-up and is checked, not timed.
"""
import ctypes
import functools
import glob
import json
import os
import sys
import sysconfig
import time

import numpy as np

import cases
from vocabulary import STEPS


def clock(f):
    t = time.perf_counter()
    r = f()
    return r, (time.perf_counter() - t) * 1e3


def factors_of(a):
    """The factors of the product: A·A, or A·Aᵀ if A is not square, or those of a longer product."""
    if isinstance(a, list):
        return a
    return [a, a if a.shape[0] == a.shape[1] else a.T.tocsr()]


def number(k):
    """The values of vectors."""
    return 0.5 + (k % 17) / 4


def frontier(m, part):
    """Indices of a sparse vector: about one in `part`."""
    ks = np.arange(m, dtype=np.int64)
    return ks[cases.splitmix64(ks.astype(np.uint64)) % np.uint64(part) == 0]


FRONTIERS = {"half": 2, "eighth": 8, "few": 64}


def taken(m, part):
    """About one row in `part`, in order: the rows of the program's `bench steps`."""
    return frontier(m, part).astype(np.uint64)


def of_vector(y, indices=None):
    """Checksums of a vector, as of a one-row matrix."""
    indices = np.arange(len(y)) if indices is None else indices
    return cases.checks(np.array([0, len(indices)]), indices, y, int(indices.max(initial=0)) + 1)


def eights(m):
    """m rows of eight values."""
    return (cases.splitmix64(np.arange(8 * m, dtype=np.uint64)) % 8).astype(np.float64).reshape(m, 8)


def of_matrix(a):
    a.sort_indices()
    return cases.checks(a.indptr.astype(np.int64), a.indices, a.data, a.shape[1])


def mixed(a):
    """The entries in the order of `sparring bench build`."""
    order = np.argsort(cases.splitmix64(np.arange(a.nnz, dtype=np.uint64)), kind="stable")
    rows = np.repeat(np.arange(a.shape[0], dtype=np.int32), np.diff(a.indptr))
    return rows[order], a.indices[order], a.data[order]


class Mkl:
    """oneMKL's inspector-executor sparse BLAS through ctypes."""

    OPS = {"spgemm": ["sorted", "unsorted", "numeric", "count"], "mxv": ["mv"], "transpose": ["sorted"], "ewise": ["add"],
           "steps": ["spmm"]}
    NO_TRANSPOSE, TRANSPOSE, NNZ_COUNT, FINALIZE, ROW_MAJOR = 10, 11, 91, 92, 101

    class Description(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int)]

    def __init__(self, threads):
        found = []
        for folder in (os.path.join(sys.prefix, "lib"), sysconfig.get_path("platlib")):
            found += sorted(glob.glob(os.path.join(folder, "libmkl_rt.so*")))
        self.lib = ctypes.CDLL(found[-1] if found else "libmkl_rt.so", mode=ctypes.RTLD_GLOBAL)
        self.lib.MKL_Set_Num_Threads(ctypes.c_int(threads))
        self.general = self.Description(20, 0, 0)
        text = ctypes.create_string_buffer(256)
        self.lib.mkl_get_version_string(text, 256)
        self.version = text.value.decode().strip()
        self.planned = None

    def ok(self, status):
        if status != 0:
            raise RuntimeError(f"MKL returned {status}")

    def load(self, a, op):
        at = lambda array, skip=0: ctypes.c_void_p(array.ctypes.data + skip)
        self.op, self.keep, self.factors = op, factors_of(a), []
        if op == "ewise":
            self.keep = [a, a.T.tocsr()]
        for m in self.keep:
            handle = ctypes.c_void_p()
            self.ok(self.lib.mkl_sparse_d_create_csr(
                ctypes.byref(handle), 0, m.shape[0], m.shape[1], at(m.indptr), at(m.indptr, 4), at(m.indices), at(m.data)))
            self.factors.append(handle)

    def stage(self, stage, a, b, c):
        self.ok(self.lib.mkl_sparse_sp2m(
            self.NO_TRANSPOSE, self.general, a, self.NO_TRANSPOSE, self.general, b, stage, ctypes.byref(c)))

    def operation(self, check):
        """One operation on A."""
        a, c = self.factors[0], ctypes.c_void_p()
        if self.op == "mxv":
            m, n = self.keep[0].shape
            if not hasattr(self, "x"):
                # As in a program that multiplies often: MKL may analyze the matrix outside the time.
                self.ok(self.lib.mkl_sparse_set_mv_hint(a, self.NO_TRANSPOSE, self.general, 1000))
                self.ok(self.lib.mkl_sparse_optimize(a))
                self.x, self.y = number(np.arange(n)), np.zeros(m)
            one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
            at = lambda array: ctypes.c_void_p(array.ctypes.data)
            _, ms = clock(lambda: self.ok(self.lib.mkl_sparse_d_mv(
                self.NO_TRANSPOSE, one, a, self.general, at(self.x), zero, at(self.y))))
            return ms, {"wsum": of_vector(self.y)["wsum"]} if check else None
        if self.op == "steps":
            m, n = self.keep[0].shape
            if not hasattr(self, "tall"):
                self.ok(self.lib.mkl_sparse_set_mm_hint(a, self.NO_TRANSPOSE, self.general, self.ROW_MAJOR, 8, 1000))
                self.ok(self.lib.mkl_sparse_optimize(a))
                self.tall = eights(n)
            one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
            at = lambda array: ctypes.c_void_p(array.ctypes.data)

            def work():
                # Newly allocated, as for ours.
                y = np.empty((m, 8))
                self.ok(self.lib.mkl_sparse_d_mm(
                    self.NO_TRANSPOSE, one, a, self.general, self.ROW_MAJOR, at(self.tall), 8, 8, zero, at(y), 8))
                return y

            y, ms = clock(work)
            if not check:
                return ms, None
            found = cases.checks(np.arange(0, 8 * m + 1, 8), np.tile(np.arange(8), m), y.ravel(), 8)
            return ms, {f"spmm_{k}": found[k] for k in ("sum", "wsum")}
        if self.op == "transpose":
            def work():
                self.ok(self.lib.mkl_sparse_convert_csr(a, self.TRANSPOSE, ctypes.byref(c)))
                self.ok(self.lib.mkl_sparse_order(c))
        else:
            def work():
                self.ok(self.lib.mkl_sparse_d_add(
                    self.NO_TRANSPOSE, a, ctypes.c_double(1.0), self.factors[1], ctypes.byref(c)))
                self.ok(self.lib.mkl_sparse_order(c))
        _, ms = clock(work)
        found = self.checks(c) if check else None
        self.lib.mkl_sparse_destroy(c)
        return ms, found

    def run(self, variant, check):
        if self.op != "spgemm":
            return self.operation(check)
        first, *rest = self.factors
        if variant == "numeric":
            if self.planned is None:
                self.planned, left = [], first
                for b in rest:
                    c = ctypes.c_void_p()
                    self.stage(self.NNZ_COUNT, left, b, c)
                    self.stage(self.FINALIZE, left, b, c)
                    self.planned.append(c)
                    left = c

            def values():
                left = first
                for b, c in zip(rest, self.planned):
                    self.stage(self.FINALIZE, left, b, c)
                    left = c

            _, ms = clock(values)
            return ms, self.checks(self.planned[-1]) if check else None

        if variant == "count":
            c = ctypes.c_void_p()
            _, ms = clock(lambda: self.stage(self.NNZ_COUNT, first, rest[0], c))
            self.lib.mkl_sparse_destroy(c)
            return ms, {}

        def product():
            left, made = first, []
            for b in rest:
                c = ctypes.c_void_p()
                self.ok(self.lib.mkl_sparse_spmm(self.NO_TRANSPOSE, left, b, ctypes.byref(c)))
                made.append(c)
                left = c
            if variant == "sorted":
                self.ok(self.lib.mkl_sparse_order(left))
            return made

        made, ms = clock(product)
        found = self.checks(made[-1]) if check else None
        for c in made:
            self.lib.mkl_sparse_destroy(c)
        return ms, found

    def checks(self, c):
        base, m, n = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        start, end, cols = (ctypes.POINTER(ctypes.c_int)() for _ in range(3))
        values = ctypes.POINTER(ctypes.c_double)()
        refs = [ctypes.byref(x) for x in (base, m, n, start, end, cols, values)]
        self.ok(self.lib.mkl_sparse_d_export_csr(c, *refs))
        view = np.ctypeslib.as_array
        ptr = np.concatenate([view(start, (m.value,))[:1], view(end, (m.value,))]).astype(np.int64)
        nnz = (int(ptr[-1]),)
        return cases.checks(ptr, view(cols, nnz), view(values, nnz), n.value)


class SuiteSparse:
    """SuiteSparse:GraphBLAS through python-graphblas, blocking mode."""

    OPS = {
        "spgemm": ["sorted", "unsorted"],
        # Presorted by degree or as given, without counting its preparation; the best of all counts. "prepared": the
        # triangular parts of the matrix (and with "sorted", the order by degree) are computed within the time.
        "triangles": [f"{m}{s}" for s in ("", " presorted") for m in ("LL", "UU", "LUT", "ULT")]
        + [f"prepared {m}{s}" for s in ("", " sorted") for m in ("LL", "LUT")],
        "mxv": ["new", "into"], "vxm": list(FRONTIERS), "transpose": ["sorted"], "reduce": ["all", "rows"], "ewise": ["add"],
        "build": ["build"], "masked": ["masked"], "hyper": ["hyper"], "steps": STEPS,
    }

    def __init__(self, threads):
        import importlib.metadata

        import graphblas as gb

        gb.init("suitesparse", blocking=False)
        gb.ss.config["nthreads"] = threads
        self.gb, self.threads = gb, threads
        self.version = importlib.metadata.version("suitesparse-graphblas")

    def matrix(self, a):
        return self.gb.Matrix.ss.import_csr(
            nrows=a.shape[0], ncols=a.shape[1], indptr=a.indptr.astype(np.uint64),
            col_indices=a.indices.astype(np.uint64), values=a.data.copy(), sorted_cols=True)

    def load(self, a, op):
        self.op = op
        if op == "spgemm":
            self.factors = [self.matrix(m) for m in factors_of(a)]
            return
        if op == "hyper":
            made = lambda rows, columns, values, shape: self.gb.Matrix.from_coo(
                rows, columns, values, nrows=shape[0], ncols=shape[1], dup_op=self.gb.binary.plus)
            self.factors = [made(*m) for m in a]
            return
        if op != "triangles":
            self.load_operation(a, op)
            return
        import scipy.sparse as sp

        self.halves = {}
        g = cases.undirected(a)
        self.whole = self.matrix(g)
        for presorted in (False, True):
            if presorted:
                order = np.argsort(np.diff(g.indptr), kind="stable")
                g = g[order][:, order].tocsr()
                g.sort_indices()
            lower, upper = sp.tril(g, -1).tocsr(), sp.triu(g, 1).tocsr()
            lower.sort_indices()
            upper.sort_indices()
            self.halves[presorted] = self.matrix(lower), self.matrix(upper)

    def load_operation(self, a, op):
        gb, (m, n) = self.gb, a.shape
        self.a, self.times = self.matrix(a), gb.semiring.plus_times["FP64"]
        if op == "mxv":
            self.x, self.y = gb.Vector.from_dense(number(np.arange(n))), gb.Vector.from_dense(np.zeros(m))
        elif op == "vxm":
            self.frontiers = {}
            for name, part in FRONTIERS.items():
                ks = frontier(m, part)
                self.frontiers[name] = gb.Vector.from_coo(ks, number(ks), size=m)
        elif op == "ewise":
            self.other = self.matrix(a.T.tocsr())
        elif op == "steps":
            self.other, self.two = self.matrix(a.T.tocsr()), self.gb.Matrix.from_dense(np.array([[1.0, 2.0], [3.0, 4.0]]))
            self.part, self.half = taken(m, 4), taken(m, 2)
            self.sub = self.a[self.part, self.part].new()
            self.few = self.gb.Vector.from_coo(self.part, np.full(len(self.part), 2.0), size=m)
            self.tall = self.gb.Matrix.from_dense(eights(m))
            self.lower = self.a.select("tril", 0).new()
        elif op == "build":
            rows, columns, values = mixed(a)
            self.triplets = rows.astype(np.uint64), columns.astype(np.uint64), values

    def step(self, variant):
        """An elementwise operation, or one on submatrices."""
        gb, threads, a = self.gb, self.threads, self.a
        if variant in ("assign", "fill"):
            c = a.dup()
            if variant == "assign":
                c[self.part, self.part](nthreads=threads) << self.sub
            else:
                c(self.lower.S, nthreads=threads) << 1.5
            return c
        if variant == "diagonal":
            return a.diag(0)
        if variant == "concat":
            return gb.ss.concat([[a, a]])
        return {
            "apply": lambda: a.apply(gb.binary.times, right=1.5),
            "tril": lambda: a.select("tril", 0),
            "value": lambda: a.select(">", 1.0),
            "mult": lambda: a.ewise_mult(self.other, gb.binary.times),
            "union": lambda: a.ewise_union(self.other, gb.binary.plus, 1.0, 2.0),
            "rows": lambda: a[self.half, :],
            "part": lambda: a[self.part, self.part],
            "kron": lambda: a.kronecker(self.two, gb.binary.times),
            "push": lambda: a.T.mxv(self.few, self.times),
            "argmax": lambda: a.reduce_rowwise(gb.agg.ss.argmax),
            "count": lambda: a.reduce_columnwise(gb.agg.count),
            "spmm": lambda: a.mxm(self.tall, self.times),
        }[variant]().new(nthreads=threads)

    def operation(self, variant, check):
        """One operation on A."""
        gb, threads, a = self.gb, self.threads, self.a

        def transposed():
            c = gb.Matrix("FP64", a.ncols, a.nrows)
            c(nthreads=threads) << a.T
            return c

        def into():
            self.y(nthreads=threads) << a.mxv(self.x, self.times)
            return self.y

        def built():
            c = gb.Matrix("FP64", a.nrows, a.ncols)
            c.build(*self.triplets, dup_op=gb.binary.plus, nrows=a.nrows, ncols=a.ncols)
            return c

        plus = gb.monoid.plus["FP64"]
        work = {
            "mxv": into if variant == "into" else lambda: a.mxv(self.x, self.times).new(nthreads=threads),
            "vxm": lambda: self.frontiers[variant].vxm(a, self.times).new(nthreads=threads),
            "transpose": transposed,
            "reduce": lambda: (a.reduce_rowwise(plus) if variant == "rows" else a.reduce_scalar(plus)).new(nthreads=threads),
            "ewise": lambda: a.ewise_add(self.other, plus).new(nthreads=threads),
            "build": built,
            "masked": lambda: a.mxm(a, self.times).new(mask=a.S, nthreads=threads),
            "steps": lambda: self.step(variant),
        }[self.op]

        def whole():
            c = work()
            if not isinstance(c, gb.Scalar):
                c.wait("materialize")
            return c

        c, ms = clock(whole)
        if not check:
            return ms, None
        if isinstance(c, gb.Scalar):
            return ms, {"sum": float(c.value)}
        if isinstance(c, gb.Vector):
            indices, values = c.to_coo(sort=True)
            found = of_vector(values, indices.astype(np.int64))
            named = variant in FRONTIERS or variant == "rows" or self.op == "steps"
            prefix = variant + "_" if named else ""
            # An empty row is 0 in ours, and absent in theirs.
            return ms, {prefix + k: found[k] for k in ("sum", "wsum")}
        import scipy.sparse as sp

        rows, columns, values = c.to_coo()
        found = of_matrix(sp.csr_matrix((values, (rows, columns)), (c.nrows, c.ncols)))
        if self.op == "steps":
            # An empty row of A gives a row of zeros in ours.
            return ms, {f"{variant}_{k}": v for k, v in found.items() if (variant, k) != ("spmm", "nnz")}
        return ms, found

    def hyper(self, check):
        """The product of two matrices with nearly all rows or columns empty."""
        a, b = self.factors

        def product():
            c = a.mxm(b, self.gb.semiring.plus_times["FP64"]).new(nthreads=self.threads)
            c.wait("materialize")
            return c

        c, ms = clock(product)
        if not check:
            return ms, None
        i, j, x = c.to_coo()
        weight = (i % np.uint64(1009) + j % np.uint64(1013)).astype(np.float64)
        return ms, {"nnz": len(x), "sum": float(x.sum()), "wsum": float((x * weight).sum())}

    def prepared(self, method, by_degree):
        """The count from the whole adjacency matrix."""
        gb, g = self.gb, self.whole
        if by_degree:
            degrees = g.apply(gb.unary.one["INT64"]).new().reduce_rowwise(gb.monoid.plus["INT64"]).new()
            order = np.argsort(degrees.to_dense(fill_value=0), kind="stable")
            g = g[order, order].new(nthreads=self.threads)
        lower = gb.select.tril(g, -1).new(nthreads=self.threads)
        other = lower if method == "LL" else gb.select.triu(g, 1).new(nthreads=self.threads).T
        pair = gb.semiring.plus_pair["INT64"]
        return lower.mxm(other, pair).new(mask=lower.S, nthreads=self.threads).reduce_scalar().value

    def run(self, variant, check):
        if self.op == "hyper":
            return self.hyper(check)
        if self.op not in ("spgemm", "triangles"):
            return self.operation(variant, check)
        if variant.startswith("prepared"):
            _, method, *by_degree = variant.split()
            count, ms = clock(lambda: self.prepared(method, bool(by_degree)))
            return ms, {"triangles": int(count or 0)} if check else None
        if hasattr(self, "halves"):
            method = variant.split()[0]
            lower, upper = self.halves["presorted" in variant]
            x, y = {"LL": (lower, lower), "UU": (upper, upper), "LUT": (lower, upper.T), "ULT": (upper, lower.T)}[method]
            mask = lower if method[0] == "L" else upper
            pair = self.gb.semiring.plus_pair["INT64"]
            count, ms = clock(lambda: x.mxm(y, pair).new(mask=mask.S, nthreads=self.threads).reduce_scalar().value)
            return ms, {"triangles": int(count or 0)} if check else None
        times = self.gb.semiring.plus_times["FP64"]

        def product():
            c = functools.reduce(lambda x, y: x.mxm(y, times).new(nthreads=self.threads), self.factors)
            if variant == "sorted":
                c.wait("materialize")
            return c

        c, ms = clock(product)
        if not check:
            return ms, None
        e = c.ss.export("csr", sort=True)
        ptr, values = e["indptr"].astype(np.int64), e["values"]
        nnz = int(ptr[-1])
        values = np.full(nnz, values[0]) if len(values) == 1 and nnz > 1 else values[:nnz]
        return ms, cases.checks(ptr, e["col_indices"][:nnz].astype(np.int64), values, c.ncols)


class SciPy:
    """scipy.sparse, on one thread."""

    OPS = {"spgemm": ["sorted"], "mxv": ["mv"], "transpose": ["sorted"], "reduce": ["all"], "ewise": ["add"], "build": ["build"], "steps": ["apply", "mult", "rows", "part", "kron", "concat", "spmm"]}

    def __init__(self, threads):
        import scipy

        self.version = scipy.__version__

    def load(self, a, op):
        self.op, self.factors, self.a = op, factors_of(a), a
        if op == "mxv":
            self.x = number(np.arange(a.shape[1]))
        elif op == "ewise":
            self.other = a.T.tocsr()
        elif op == "steps":
            self.other, self.part, self.half = a.T.tocsr(), taken(a.shape[0], 4), taken(a.shape[0], 2)
            self.tall = eights(a.shape[0])
        elif op == "build":
            self.triplets = mixed(a)

    def step(self, variant):
        """An elementwise operation, or one on submatrices."""
        import scipy.sparse as sp

        return {
            "apply": lambda: self.a * 1.5,
            "mult": lambda: self.a.multiply(self.other).tocsr(),
            "rows": lambda: self.a[self.half],
            "part": lambda: self.a[self.part][:, self.part],
            "kron": lambda: sp.kron(self.a, np.array([[1.0, 2.0], [3.0, 4.0]]), format="csr"),
            "concat": lambda: sp.hstack([self.a, self.a], format="csr"),
            "spmm": lambda: self.a @ self.tall,
        }[variant]()

    def operation(self, variant, check):
        """One operation on A."""
        import scipy.sparse as sp

        def built():
            rows, columns, values = self.triplets
            c = sp.coo_matrix((values, (rows, columns)), self.a.shape).tocsr()
            c.sort_indices()
            return c

        c, ms = clock({
            "mxv": lambda: self.a @ self.x, "transpose": lambda: self.a.T.tocsr(), "reduce": lambda: self.a.sum(),
            "ewise": lambda: self.a + self.other, "build": built, "steps": lambda: self.step(variant),
        }[self.op])
        if not check:
            return ms, None
        if self.op == "mxv":
            return ms, {"wsum": of_vector(c)["wsum"]}
        if self.op == "reduce":
            return ms, {"sum": float(c)}
        found = of_matrix(sp.csr_matrix(c))
        # Its sum drops entries that cancel.
        if self.op == "steps":
            return ms, {f"{variant}_{k}": found[k] for k in ("sum", "wsum")}
        return ms, {k: found[k] for k in (("sum", "wsum") if self.op == "ewise" else found)}

    def run(self, variant, check):
        if self.op != "spgemm":
            return self.operation(variant, check)

        def product():
            c = functools.reduce(lambda x, y: x @ y, self.factors)
            c.sort_indices()
            return c

        c, ms = clock(product)
        if not check:
            return ms, None
        # It drops entries that cancel, so their number is not compared.
        found = cases.checks(c.indptr, c.indices, c.data, c.shape[1])
        del found["nnz"]
        return ms, found


class NetworKit:
    OPS = {"spgemm": [], "triangles": ["edge scores"]}

    def __init__(self, threads):
        import networkit as nk

        nk.setNumberOfThreads(threads)
        self.nk, self.version = nk, nk.__version__

    def load(self, a, op):
        import scipy.sparse as sp

        half = sp.triu(cases.undirected(a), 1).tocoo()
        self.g = self.nk.Graph(a.shape[0], weighted=False, directed=False)
        self.g.addEdges((half.row.astype(np.uint64), half.col.astype(np.uint64)))
        self.g.indexEdges()

    def run(self, variant, check):
        def count():
            score = self.nk.sparsification.TriangleEdgeScore(self.g)
            score.run()
            return score

        # The list of scores is built in Python, outside the time: only the counting is timed.
        score, ms = clock(count)
        return ms, {"triangles": sum(score.scores()) // 3} if check else None


def files():
    import reading

    return reading.FastMatrixMarket


PEERS = {"mkl": Mkl, "suitesparse": SuiteSparse, "scipy": SciPy, "networkit": NetworKit}


def main():
    # Output of the libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer = (files() if sys.argv[1] == "fast_matrix_market" else PEERS[sys.argv[1]])(int(sys.argv[2]))
    reply = lambda x: print(json.dumps(x), file=answers, flush=True)
    reply({"version": peer.version})
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            if "load" in ask:
                if ask["op"] == "read":
                    peer.open(ask["load"], ask["op"])
                else:
                    of = cases.hyper if ask["op"] == "hyper" else cases.load
                    peer.load(of(ask["load"]), ask["op"])
                variants = peer.OPS.get(ask["op"], [])
                # Only products of two factors have the count.
                longer = ask["op"] == "spgemm" and len(peer.factors) != 2
                reply({"variants": [v for v in variants if v != "count" or not longer]})
            else:
                ms, found = peer.run(ask["time"], ask.get("check", False))
                reply({"ms": ms, "found": found})
        except Exception as e:
            reply({"error": repr(e)[:300]})


if __name__ == "__main__":
    main()
