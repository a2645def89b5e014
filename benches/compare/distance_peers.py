"""The other programs for distances, each in a process of its own that answers one JSON line per request.

distance.py starts `distance_peers.py PEER THREADS ARRAYS ROWS TASK METRIC K P`; the answer says what the library is. Then
{"queries": n} measures the distances of the first n rows from all ROWS rows: milliseconds, the growth of the process at
its peak, checksums. Imports and the first use of each function are over before that, and
for the task `index` so is all that depends on the rows that are asked alone. `--list` says what each can do.
"""
import importlib.metadata
import json
import os
import sys
import time

import numpy as np
import scipy.sparse as sp

# Our names for what scipy computes on dense rows, and scipy's.
SCIPY = {name: name for name in ("correlation", "cosine", "dice", "euclidean", "canberra", "chebyshev", "hamming", "jaccard",
                                 "jensenshannon", "minkowski", "russellrao", "sqeuclidean")} | {"manhattan": "cityblock"}
# Those that look at the supports alone.
SETS = {"dice", "jaccard", "russellrao"}
# What scikit-learn takes as compressed rows.
SPARSE = {"cosine", "euclidean", "manhattan"}
# Rows of a dense tile.
STEP = 512


def nearest(d, k, largest=False):
    """The k best of each row of a tile; NaN is farther than all."""
    key = np.where(np.isnan(d), np.inf, -d if largest else d)
    best = np.argpartition(key, k - 1, axis=1)[:, :k] if k < d.shape[1] else np.tile(np.arange(d.shape[1]), (len(d), 1))
    return np.take_along_axis(d, best, 1)


class ScikitLearn:
    """Compressed rows through its public functions."""

    metrics, jobs = SPARSE, None

    def __init__(self, threads, metric, k, p):
        self.metric, self.k, self.jobs, self.p = metric, k, self.jobs or threads, p

    def options(self):
        return {"p": self.p} if self.metric == "minkowski" else {}

    def keep(self, y):
        from sklearn.neighbors import NearestNeighbors

        self.kept = NearestNeighbors(n_neighbors=self.k, algorithm="brute", metric=self.metric, n_jobs=self.jobs,
                                     **self.options()).fit(y)

    def index(self, x, y):
        return self.kept.kneighbors(x)[0]

    def pairwise(self, x, y):
        from sklearn.metrics import pairwise_distances

        return pairwise_distances(x, None if x is y else y, metric=self.metric, n_jobs=self.jobs, **self.options())

    def knn(self, x, y):
        from sklearn.neighbors import NearestNeighbors

        found = NearestNeighbors(n_neighbors=self.k, algorithm="brute", metric=self.metric, n_jobs=self.jobs,
                                 **self.options()).fit(y)
        return found.kneighbors(x)[0]


class ScikitLearnOneJob(ScikitLearn):
    """The same without its threads, which copy the rows."""

    jobs = 1


class ScikitLearnDense(ScikitLearn):
    """What it takes as dense rows alone; making them counts."""

    metrics, index = set(SCIPY) - {"jensenshannon"}, None

    def dense(self, a):
        return (a != 0).toarray() if self.metric in SETS else a.toarray()

    def pairwise(self, x, y):
        dense = self.dense(y)
        return super().pairwise(dense if x is y else self.dense(x), dense)

    def knn(self, x, y):
        dense = self.dense(y)
        return super().knn(dense if x is y else self.dense(x), dense)


class SciPyDense:
    """cdist on dense rows, a tile of queries at a time; making the rows dense counts."""

    metrics = set(SCIPY) | {"hellinger"}

    def __init__(self, threads, metric, k, p):
        self.metric, self.k, self.p = metric, k, p

    def tile(self, x, y):
        from scipy.spatial.distance import cdist

        if self.metric == "hellinger":
            products = np.sqrt(x) @ np.sqrt(y).T
            return np.sqrt(np.maximum(0, (x.sum(1)[:, None] + y.sum(1)[None]) / 2 - products))
        if self.metric in SETS:
            x, y = x != 0, y != 0
        return cdist(x, y, SCIPY[self.metric], **({"p": self.p} if self.metric == "minkowski" else {}))

    def pairwise(self, x, y):
        dense = y.toarray()
        return self.tile(dense if x is y else x.toarray(), dense)

    def knn(self, x, y):
        dense = y.toarray()
        return np.vstack([nearest(self.tile(x[i:i + STEP].toarray(), dense), self.k) for i in range(0, x.shape[0], STEP)])


class SciPyProduct:
    """X·Yᵀ by scipy's sparse product, made dense: the whole, or a tile of queries at a time."""

    metrics = {"dot"}

    def __init__(self, threads, metric, k, p):
        self.k = k

    def pairwise(self, x, y):
        return (x @ y.T).toarray()

    def knn(self, x, y):
        t = y.T.tocsr()
        return np.vstack([nearest((x[i:i + STEP] @ t).toarray(), self.k, True) for i in range(0, x.shape[0], STEP)])


class TopN:
    """sparse_dot_topn: the largest products of each row, never the rest; making the rows' lengths 1 counts."""

    metrics = {"cosine", "dot"}

    def __init__(self, threads, metric, k, p):
        self.metric, self.k, self.threads = metric, k, threads

    def knn(self, x, y):
        from sklearn.preprocessing import normalize

        if self.metric == "cosine":
            z = normalize(y)
            x, y = z if x is y else z[:x.shape[0]], z
        return self.found(x, y.T.tocsr())

    def keep(self, y):
        from sklearn.preprocessing import normalize

        self.kept = (normalize(y) if self.metric == "cosine" else y).T.tocsr()

    def index(self, x, y):
        from sklearn.preprocessing import normalize

        return self.found(normalize(x) if self.metric == "cosine" else x, self.kept)

    def found(self, x, columns):
        from sparse_dot_topn import sp_matmul_topn

        found = sp_matmul_topn(x, columns, top_n=self.k, n_threads=self.threads)
        out = np.zeros((x.shape[0], self.k))
        rows = np.repeat(np.arange(x.shape[0]), np.diff(found.indptr))
        out[rows, np.arange(found.nnz) - found.indptr[rows]] = found.data
        return 1 - out if self.metric == "cosine" else out


PEERS = {"scikit-learn": ScikitLearn, "scikit-learn, one job": ScikitLearnOneJob, "scikit-learn, dense": ScikitLearnDense,
         "scipy, dense": SciPyDense, "scipy, product": SciPyProduct, "sparse_dot_topn": TopN}
PACKAGE = {"sparse_dot_topn": "sparse_dot_topn", "scipy": "scipy"}


def memory(key):
    with open("/proc/self/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(key + ":"))


def measure(f):
    """The result, milliseconds, and bytes that were resident at the peak beyond those before; None if not told."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="utf-8") as forget:
            forget.write("5")
        before = memory("VmRSS")
    except OSError:
        before = None
    t = time.perf_counter()
    result = f()
    ms = (time.perf_counter() - t) * 1e3
    return result, ms, None if before is None else memory("VmHWM") - before


def checksums(d, task, x, y):
    """Σ of what is finite; the same over rows that are not empty, for on empty ones definitions part."""
    sums = lambda d: float(d[np.isfinite(d)].sum())
    full, some = (np.diff(a.indptr) > 0 for a in (x, y))
    return {"checksum": sums(d), "checksum_nonempty": sums(d[np.ix_(full, some)] if task == "pairwise" else d[full])}


def main():
    if sys.argv[1:] == ["--list"]:
        print(json.dumps({name: {task: sorted(peer.metrics) for task in ("pairwise", "knn", "index") if getattr(peer, task, None)}
                          for name, peer in PEERS.items()}))
        return
    name, threads, arrays, rows, task, metric, k, p = sys.argv[1:]
    # What a library prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    reply = lambda x: print(json.dumps(x), file=answers, flush=True)
    y = sp.load_npz(arrays).tocsr()[:int(rows)]
    peer = PEERS[name](int(threads), metric, int(k), float(p))
    job = getattr(peer, task)
    package = PACKAGE.get(name.split(",")[0], "scikit-learn")
    small = y[:max(64, int(k) + 1)]
    if task == "index":
        # Made before anything is asked; what asks are rows that are there.
        peer.keep(small)
        job(small[:4], small)
        peer.keep(y)
    else:
        job(small[:4], small)
    reply({"version": importlib.metadata.version(package)})
    for line in sys.stdin:
        try:
            queries = min(json.loads(line)["queries"], y.shape[0])
            x = y if queries == y.shape[0] else y[:queries]
            d, ms, growth = measure(lambda: job(x, y))
            reply({"ms": ms, "bytes": growth} | checksums(np.asarray(d, float), task, x, y))
            del d
        except Exception as e:
            reply({"error": repr(e)[:300]})


if __name__ == "__main__":
    main()
