"""Peer programs for distances, each in its own process, which answers every request with a JSON line.

distance.py starts `distance_peers.py PEER THREADS ARRAYS ROWS TASK METRIC K P`; the first answer is the library's
version. Then {"queries": n} measures the distances from the first n rows to all ROWS rows: milliseconds, peak growth of
the process, checksums. Imports and the first use of each function happen beforehand; so does, for the task `index`, all
preparation that depends only on the indexed rows. `--list` prints the capabilities of each peer.
"""
import importlib.metadata
import json
import os
import sys
import time

import numpy as np
import scipy.sparse as sp

# Metrics of scipy on dense rows: our names and scipy's.
SCIPY = {name: name for name in ("correlation", "cosine", "dice", "euclidean", "canberra", "chebyshev", "hamming", "jaccard",
                                 "jensenshannon", "minkowski", "russellrao", "sqeuclidean")} | {"manhattan": "cityblock"}
# Metrics of the supports alone.
SETS = {"dice", "jaccard", "russellrao"}
# Metrics for which scikit-learn takes compressed rows.
SPARSE = {"cosine", "euclidean", "manhattan"}
# Rows of a dense tile.
STEP = 512


def nearest(d, k, largest=False):
    """The k best of each row of a tile; NaN ranks last."""
    key = np.where(np.isnan(d), np.inf, -d if largest else d)
    best = np.argpartition(key, k - 1, axis=1)[:, :k] if k < d.shape[1] else np.tile(np.arange(d.shape[1]), (len(d), 1))
    return np.take_along_axis(d, best, 1)


class ScikitLearn:
    """scikit-learn's public functions on compressed rows."""

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
    """The same with one job: its threads copy the rows."""

    jobs = 1


class ScikitLearnDense(ScikitLearn):
    """scikit-learn's metrics that need dense rows; conversion is included in the time."""

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
    """cdist on dense rows, a tile of queries at a time; conversion is included in the time."""

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
    """X·Yᵀ by scipy's sparse product, made dense, at once or by tiles of queries."""

    metrics = {"dot"}

    def __init__(self, threads, metric, k, p):
        self.k = k

    def pairwise(self, x, y):
        return (x @ y.T).toarray()

    def knn(self, x, y):
        t = y.T.tocsr()
        return np.vstack([nearest((x[i:i + STEP] @ t).toarray(), self.k, True) for i in range(0, x.shape[0], STEP)])


class TopN:
    """sparse_dot_topn: only the largest products of each row; normalising the rows is included in the time."""

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
    """The result, milliseconds, and the peak growth of resident bytes; None if the system does not report it."""
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
    """Σ of finite values; and the same over nonempty rows, because definitions differ on empty ones."""
    sums = lambda d: float(d[np.isfinite(d)].sum())
    full, some = (np.diff(a.indptr) > 0 for a in (x, y))
    return {"checksum": sums(d), "checksum_nonempty": sums(d[np.ix_(full, some)] if task == "pairwise" else d[full])}


def main():
    if sys.argv[1:] == ["--list"]:
        print(json.dumps({name: {task: sorted(peer.metrics) for task in ("pairwise", "knn", "index") if getattr(peer, task, None)}
                          for name, peer in PEERS.items()}))
        return
    name, threads, arrays, rows, task, metric, k, p = sys.argv[1:]
    # Output of the libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    reply = lambda x: print(json.dumps(x), file=answers, flush=True)
    y = sp.load_npz(arrays).tocsr()[:int(rows)]
    peer = PEERS[name](int(threads), metric, int(k), float(p))
    job = getattr(peer, task)
    package = PACKAGE.get(name.split(",")[0], "scikit-learn")
    small = y[:max(64, int(k) + 1)]
    if task == "index":
        # Prepared before any query; queries are indexed rows.
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
