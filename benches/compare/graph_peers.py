"""Graph algorithms of other libraries, each library in its own process, which answers every request with a JSON line.

graph.py starts `graph_peers.py PEER THREADS` and sends {"load": file}, then {"time": algorithm, "repeat": n,
"spend_ms": t} repeatedly.
The file has a graph as numpy arrays: row pointers, neighbours, weights, whether it is directed, and a vertex of maximum
out-degree. Answers have the minimum time of the runs, the time of building the library's own graph (once for each kind
of graph), and numbers by which results are compared. Algorithms for undirected graphs get the undirected graph under a
directed one.

A peer's method is timed; the function that it returns extracts the result outside the time.
"""
import json
import os
import sys
import time

import numpy as np
import scipy.sparse as sp

DAMPING, TOLERANCE, SWEEPS, TRUSS = 0.85, 1e-6, 10, 4
MOST_SWEEPS = 1000
# Number of sources for multi-source searches and samples, and the seed.
MANY, SEED = 64, 7
# SciPy's product has no mask: larger products are not attempted.
MOST_PRODUCTS = 4e8


def clock(f):
    t = time.perf_counter()
    r = f()
    return r, (time.perf_counter() - t) * 1e3


class Input:
    """The arrays of a graph, and derived matrices common to all libraries."""

    def __init__(self, path):
        with np.load(path) as file:
            self.ptr, self.ends, self.weights = file["ptr"], file["ends"], file["weights"]
            self.directed, self.sources = bool(file["directed"]), [int(v) for v in file["sources"]]
            self.labels, self.many = file["labels"], [int(v) for v in file["many"]]
            self.potentials, self.drawn = file["potentials"], [int(v) for v in file["drawn"]]
        self.source, self.n = self.sources[0], len(self.ptr) - 1

    def matrix(self):
        a = sp.csr_matrix((self.weights, self.ends, self.ptr), shape=(self.n, self.n))
        a.has_sorted_indices = a.has_canonical_format = True
        return a

    def undirected(self):
        """The graph under a directed one: weights are the same in both directions."""
        a = self.matrix()
        return a.maximum(a.T).tocsr() if self.directed else a

    def negative(self):
        """Some weights are negative, but no cycle is: an edge adds the difference of its end points' potentials."""
        a = self.matrix()
        rows = np.repeat(np.arange(self.n), np.diff(self.ptr))
        a.data = 2.0 * (self.weights + self.potentials[rows] - self.potentials[self.ends]) + 1.0
        return a

    def acyclic(self):
        """The edges from smaller to larger vertices."""
        return sp.triu(self.matrix(), 1).tocsr()


def levels(d):
    d = np.asarray(d, dtype=float)
    d = d[np.isfinite(d) & (d < 1e300)]
    return {"reached": len(d), "sum": float(d.sum())}


def squares(x):
    x = np.asarray(x, dtype=float)
    x = x / x.sum()
    return {"squares": float(x @ x)}


def total(x):
    return {"sum": float(np.sum(x))}


def modularity(a, of):
    """Newman's modularity, without weights."""
    of = np.asarray(of, dtype=np.int64)
    rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
    degree = np.bincount(of, np.diff(a.indptr))
    return float((of[rows] == of[a.indices]).mean() - ((degree / a.nnz) ** 2).sum())


def communities(a, of):
    return {"modularity": modularity(a, of), "communities": len(np.unique(of))}


class NetworKit:
    """networkit: C++, OpenMP."""

    def __init__(self, threads):
        import networkit as nk

        nk.setNumberOfThreads(threads)
        nk.setSeed(7, False)
        self.nk, self.version = nk, nk.__version__

    def made(self, a, directed, weighted=False, indexed=False):
        coo = (a if directed else sp.triu(a)).tocoo()
        data = (coo.data, (coo.row.astype(np.uint64), coo.col.astype(np.uint64)))
        return clock(lambda: self.nk.GraphFromCoo(data, n=a.shape[0], weighted=weighted, directed=directed, edgesIndexed=indexed))

    def prepare(self, g, sort):
        if sort == "given":
            return self.made(g.matrix(), g.directed)
        if sort == "weighted":
            return self.made(g.matrix(), g.directed, True)
        if sort == "negative":
            return None
        if sort == "undirected":
            return self.made(g.undirected(), False)
        if sort == "undirected weighted":
            return self.made(g.undirected(), False, True)
        return None

    def ran(self, algorithm):
        algorithm.run()
        return algorithm

    def bfs(self, g, h):
        found = self.ran(self.nk.distance.BFS(h, g.source, storePaths=False))
        return lambda: levels(found.getDistances())

    def sssp(self, g, h):
        found = self.ran(self.nk.distance.Dijkstra(h, g.source, storePaths=False))
        return lambda: levels(found.getDistances())

    def pagerank(self, g, h):
        c = self.nk.centrality
        of = c.PageRank(h, DAMPING, TOLERANCE, distributeSinks=c.SinkHandling.DistributeSinks)
        of.norm = c.Norm.l1norm
        found = self.ran(of)
        return lambda: squares(found.scores())

    def components(self, g, h):
        found = self.ran(self.nk.components.ConnectedComponents(h))
        return lambda: {"components": found.numberOfComponents()}

    def components_parallel(self, g, h):
        found = self.ran(self.nk.components.ParallelConnectedComponents(h, False))
        return lambda: {"components": found.numberOfComponents()}

    def scc(self, g, h):
        if not g.directed:
            return None
        found = self.ran(self.nk.components.StronglyConnectedComponents(h))
        return lambda: {"components": found.numberOfComponents()}

    def betweenness(self, g, h):
        # The same number of sources, drawn by the library itself: comparable where each reaches the same number of
        # vertices.
        if g.directed:
            return None
        self.ran(self.nk.centrality.EstimateBetweenness(h, len(g.sources), False, True))
        return dict

    def betweenness_all(self, g, h):
        found = self.ran(self.nk.centrality.Betweenness(h))
        return lambda: {"sum": sum(found.scores())}

    betweenness_weighted = betweenness

    def betweenness_sampled(self, g, h):
        # Its own sample of the same size.
        if g.directed:
            return None
        self.ran(self.nk.centrality.EstimateBetweenness(h, len(g.drawn), False, True))
        return dict

    def msbfs(self, g, h):
        found = self.ran(self.nk.distance.SPSP(h, g.many))
        return lambda: levels(found.getDistances())

    def msbfs_loop(self, g, h):
        found = [self.ran(self.nk.distance.BFS(h, s, storePaths=False)) for s in g.many]
        return lambda: levels([of.getDistances() for of in found])

    def apsp(self, g, h):
        found = self.ran(self.nk.distance.APSP(h))
        return lambda: levels(found.getDistances())

    apsp_hops = apsp

    def closeness(self, g, h):
        found = self.ran(self.nk.centrality.Closeness(h, False, self.nk.centrality.ClosenessVariant.GENERALIZED))
        return lambda: {}

    closeness_weighted = closeness

    def harmonic(self, g, h):
        found = self.ran(self.nk.centrality.HarmonicCloseness(h, False))
        return lambda: total(found.scores())

    def triangles(self, g, h):
        if not h.hasEdgeIds():
            h.indexEdges()
        found = self.ran(self.nk.sparsification.TriangleEdgeScore(h))
        return lambda: {"triangles": sum(found.scores()) // 3}

    def clustering(self, g, h):
        found = self.ran(self.nk.centrality.LocalClusteringCoefficient(h))
        return lambda: total(found.scores())

    def clustering_turbo(self, g, h):
        found = self.ran(self.nk.centrality.LocalClusteringCoefficient(h, True))
        return lambda: total(found.scores())

    def kcore(self, g, h):
        found = self.ran(self.nk.centrality.CoreDecomposition(h))
        return lambda: total(found.scores())

    def mis(self, g, h):
        found = self.nk.independentset.Luby().run(h)
        return lambda: {"size": int(np.sum(found))}

    def cdlp(self, g, h):
        found = self.ran(self.nk.community.PLP(h))
        return lambda: communities(g.undirected(), found.getPartition().getVector())

    # Vertices update their labels one after the other.
    lpa = cdlp

    def louvain(self, g, h):
        found = self.ran(self.nk.community.PLM(h, refine=False))
        return lambda: communities(g.undirected(), found.getPartition().getVector())

    def leiden(self, g, h):
        found = self.ran(self.nk.community.ParallelLeiden(h))
        return lambda: communities(g.undirected(), found.getPartition().getVector())

    def msf(self, g, h):
        found = self.ran(self.nk.graph.KruskalMSF(h))
        return lambda: total(found.getTotalWeight())

    def msf_prim(self, g, h):
        found = self.ran(self.nk.graph.PrimMSF(h))
        return lambda: total(found.getTotalWeight())

    def katz(self, g, h):
        found = self.ran(self.nk.centrality.KatzCentrality(h, tol=TOLERANCE))
        return dict

    def eigenvector(self, g, h):
        found = self.ran(self.nk.centrality.EigenvectorCentrality(h, TOLERANCE))
        return lambda: squares(found.scores())

    def modularity(self, g, h):
        parts = self.nk.Partition(g.n, data=g.labels.tolist()) if not hasattr(g, "parts") else g.parts
        g.parts = parts
        found = self.nk.community.Modularity().getQuality(parts, h)
        return lambda: {"modularity": found}


class IGraph:
    """python-igraph: C, one thread; converting its results to Python lists is part of the time."""

    def __init__(self, threads):
        import igraph

        self.ig, self.version = igraph, igraph.__version__

    def prepare(self, g, sort):
        directed = g.directed if sort in ("given", "weighted") else sort in ("acyclic", "negative")
        if sort == "bipartite":
            coo = g.matrix().tocoo()
            edges = np.column_stack([coo.row, coo.col.astype(np.int64) + g.n])
            return clock(lambda: self.ig.Graph(n=2 * g.n, edges=edges, directed=False))
        a = {"given": g.matrix, "weighted": g.matrix, "acyclic": g.acyclic, "negative": g.negative}.get(sort, g.undirected)()
        coo = (a if directed else sp.triu(a)).tocoo()
        edges = np.column_stack([coo.row, coo.col])
        self.weights = coo.data.tolist()
        return clock(lambda: self.ig.Graph(n=g.n, edges=edges, directed=directed))

    def before(self, way, h):
        """igraph caches connectivity and answers from the cache; adding and deleting an edge invalidates it."""
        if way in ("components", "scc") and h.ecount():
            h.add_edges([(0, 0)])
            h.delete_edges(h.ecount() - 1)

    def bfs(self, g, h):
        found = h.distances(source=g.source)
        return lambda: levels(found[0])

    def sssp(self, g, h):
        found = h.distances(source=g.source, weights=self.weights)
        return lambda: levels(found[0])

    def pagerank(self, g, h):
        found = h.pagerank(damping=DAMPING)
        return lambda: squares(found)

    def components(self, g, h):
        found = h.connected_components()
        return lambda: {"components": len(found)}

    def scc(self, g, h):
        if not g.directed:
            return None
        found = h.connected_components(mode="strong")
        return lambda: {"components": len(found)}

    def betweenness(self, g, h):
        found = h.betweenness(sources=g.sources)
        # It counts an undirected path once for both ends.
        return lambda: {"sum": float(np.sum(found)) * (1 if g.directed else 2)}

    def betweenness_all(self, g, h):
        found = h.betweenness()
        return lambda: {"sum": float(np.sum(found)) * (1 if g.directed else 2)}

    def betweenness_weighted(self, g, h):
        found = h.betweenness(sources=g.sources, weights=self.weights)
        return lambda: {"sum": float(np.sum(found)) * (1 if g.directed else 2)}

    def betweenness_sampled(self, g, h):
        found = h.betweenness(sources=g.drawn)
        return lambda: {"sum": float(np.sum(found)) * g.n / len(g.drawn)}

    def msbfs(self, g, h):
        found = h.distances(source=g.many)
        return lambda: levels(found)

    def apsp(self, g, h):
        found = h.distances(weights=self.weights)
        return lambda: levels(found)

    def apsp_hops(self, g, h):
        found = h.distances()
        return lambda: levels(found)

    def bellman_ford(self, g, h):
        found = h.distances(source=g.source, weights=self.weights, algorithm="bellman_ford")
        return lambda: levels(found[0])

    def closeness(self, g, h):
        found = h.closeness(mode="out")
        return dict

    def closeness_weighted(self, g, h):
        found = h.closeness(mode="out", weights=self.weights)
        # It does not weight by the number of vertices reached.
        return lambda: total(found) if h.is_connected() else {}

    def harmonic(self, g, h):
        found = h.harmonic_centrality(mode="out", normalized=False)
        return lambda: total(found)

    def triangles(self, g, h):
        # Its list of triangles would take gigabytes. The count follows from the ratio of closed pairs.
        found = h.transitivity_undirected(mode="zero")

        def count():
            degree = np.diff(g.undirected().indptr).astype(float)
            return {"triangles": round(found * float((degree * (degree - 1)).sum()) / 6)}

        return count

    def clustering(self, g, h):
        found = h.transitivity_local_undirected(mode="zero")
        return lambda: total(found)

    def kcore(self, g, h):
        found = h.coreness()
        return lambda: total(found)

    def color(self, g, h):
        found = h.vertex_coloring_greedy()
        return lambda: {"colors": max(found) + 1}

    def cdlp(self, g, h):
        found = h.community_label_propagation()
        return lambda: communities(g.undirected(), found.membership)

    # Vertices update their labels one after the other.
    lpa = cdlp

    def louvain(self, g, h):
        found = h.community_multilevel()
        return lambda: communities(g.undirected(), found.membership)

    def leiden(self, g, h):
        found = h.community_leiden(objective_function="modularity", n_iterations=2)
        return lambda: communities(g.undirected(), found.membership)

    def msf(self, g, h):
        found = h.spanning_tree(weights=self.weights, return_tree=False)
        return lambda: total(np.asarray(self.weights)[found])

    def matching(self, g, h):
        found = h.maximum_bipartite_matching(types=[False] * g.n + [True] * g.n)
        return lambda: {"size": len(found)}

    def toposort(self, g, h):
        h.topological_sorting()
        return dict

    def hits(self, g, h):
        found = h.hub_score()
        return lambda: squares(found)

    def eigenvector(self, g, h):
        found = h.eigenvector_centrality()
        return lambda: squares(found)

    def modularity(self, g, h):
        if not hasattr(g, "list"):
            g.list = g.labels.tolist()
        found = h.modularity(g.list)
        return lambda: {"modularity": found}


class SciPy:
    """scipy.sparse.csgraph and products of scipy.sparse, one thread."""

    def __init__(self, threads):
        import scipy
        import scipy.sparse.csgraph as csgraph

        self.of, self.version = csgraph, scipy.__version__

    def prepare(self, g, sort):
        if sort in ("given", "weighted", "bipartite"):
            return g.matrix(), 0.0
        if sort == "negative":
            return g.negative(), 0.0
        return (g.undirected(), 0.0) if sort.startswith("undirected") else None

    def bfs(self, g, a):
        order, before = self.of.breadth_first_order(a, g.source)

        def depths():
            depth = np.zeros(g.n)
            for v in order[1:]:
                depth[v] = depth[before[v]] + 1
            return {"reached": len(order), "sum": float(depth.sum())}

        return depths

    def sssp(self, g, a):
        found = self.of.dijkstra(a, indices=g.source)
        return lambda: levels(found)

    def msbfs(self, g, a):
        found = self.of.dijkstra(a, unweighted=True, indices=g.many)
        return lambda: levels(found)

    def msbfs_loop(self, g, a):
        # Orders and parents, but no levels.
        for s in g.many:
            self.of.breadth_first_order(a, s)
        return dict

    def apsp(self, g, a):
        found = self.of.dijkstra(a)
        return lambda: levels(found)

    def apsp_hops(self, g, a):
        found = self.of.dijkstra(a, unweighted=True)
        return lambda: levels(found)

    def bellman_ford(self, g, a):
        found = self.of.bellman_ford(a, indices=g.source)
        return lambda: levels(found)

    def pagerank(self, g, a):
        if not hasattr(g, "transposed"):
            ones = sp.csr_matrix((np.ones(a.nnz), a.indices, a.indptr), a.shape)
            g.transposed = ones.T.tocsr() if g.directed else ones
        degree = np.diff(a.indptr).astype(float)
        sinks = degree == 0
        scale = DAMPING / np.where(sinks, 1, degree)
        x, n = np.full(g.n, 1 / g.n), g.n
        for _ in range(MOST_SWEEPS):
            y = g.transposed @ (x * scale) + ((1 - DAMPING) + DAMPING * x[sinks].sum()) / n
            change = np.abs(x - y).sum()
            x = y
            if change < TOLERANCE:
                break
        return lambda: squares(x)

    def components(self, g, a):
        found = self.of.connected_components(a, directed=False)
        return lambda: {"components": int(found[0])}

    def scc(self, g, a):
        if not g.directed:
            return None
        found = self.of.connected_components(a, directed=True, connection="strong")
        return lambda: {"components": int(found[0])}

    def triangles(self, g, a):
        degree = np.diff(a.indptr).astype(float)
        if degree @ degree > MOST_PRODUCTS:
            return None
        lower = sp.tril(sp.csr_matrix((np.ones(a.nnz, np.int64), a.indices, a.indptr), a.shape), -1).tocsr()
        found = (lower @ lower).multiply(lower).sum()
        return lambda: {"triangles": int(found)}

    def msf(self, g, a):
        found = self.of.minimum_spanning_tree(a)
        return lambda: total(found.data)

    def matching(self, g, a):
        found = self.of.maximum_bipartite_matching(a, perm_type="column")
        return lambda: {"size": int((found >= 0).sum())}

    def hits(self, g, a):
        if not hasattr(g, "both"):
            ones = sp.csr_matrix((np.ones(a.nnz), a.indices, a.indptr), a.shape)
            g.both = ones, ones.T.tocsr() if g.directed else ones
        out, into = g.both
        x = np.full(g.n, 1 / g.n)
        for _ in range(MOST_SWEEPS):
            y = out @ (into @ x)
            y /= y.sum()
            change = np.abs(x - y).sum()
            x = y
            if change < TOLERANCE:
                break
        return lambda: squares(x)


class SuiteSparse:
    """SuiteSparse:GraphBLAS: LAGraph's algorithms written through python-graphblas, blocking mode."""

    def __init__(self, threads):
        import importlib.metadata

        import graphblas as gb

        gb.init("suitesparse", blocking=False)
        gb.ss.config["nthreads"] = threads
        self.gb = gb
        self.version = importlib.metadata.version("suitesparse-graphblas")

    def of_csr(self, a, values=None):
        """An adjacency matrix with these values, or with a single value for all entries."""
        n = a.shape[0]
        return self.gb.Matrix.ss.import_csr(
            nrows=n, ncols=n, indptr=a.indptr.astype(np.uint64), col_indices=a.indices.astype(np.uint64), sorted_cols=True,
            **({"values": np.ones(1, bool), "is_iso": True} if values is None else {"values": np.array(values)}))

    def prepare(self, g, sort):
        """A and Aᵀ, and degrees."""
        if sort not in ("given", "weighted", "undirected", "undirected weighted", "negative"):
            return None
        a = g.undirected() if sort.startswith("undirected") else g.negative() if sort == "negative" else g.matrix()

        def make():
            m = self.of_csr(a, a.data if sort.endswith(("weighted", "negative")) else None)
            t = m.T.new() if g.directed and sort == "given" else m
            t.wait()
            return m, t, np.diff(a.indptr)

        return clock(make)

    def bfs(self, g, h, push_only=False):
        """LAGr_BreadthFirstSearch: push, and pull while the frontier has many edges."""
        gb, (a, t, degree) = self.gb, h
        one, n = gb.semiring.any_pair[bool], g.n
        level, q = gb.Vector("INT32", n), gb.Vector(bool, n)
        level[g.source] = 0
        q[g.source] = True
        if not push_only and not hasattr(self, "degrees"):
            self.degrees = gb.Vector.from_dense(degree.astype(np.int64))
        nq, last, push, unexplored, d = 1, 0, True, int(a.nvals), 0
        while True:
            if not push_only:
                growing = nq > last
                if push and growing and nq > n / 512:
                    of_frontier = int(self.degrees.dup(mask=q.S).reduce(gb.monoid.plus).new().value or 0)
                    unexplored -= of_frontier
                    push = of_frontier <= unexplored / 8
                elif not push and not growing and nq <= n / 512:
                    push = True
            d += 1
            q(~level.S, replace=True) << (one(q @ a) if push else one(t @ q))
            last, nq = nq, q.nvals
            if nq == 0:
                break
            level(q.S) << d
        return lambda: levels(level.to_coo()[1])

    def bfs_push(self, g, h):
        return self.bfs(g, h, True)

    def sssp(self, g, h):
        """Bellman–Ford from the vertices whose distance decreased."""
        gb, (a, _, _) = self.gb, h
        dist, q = gb.Vector("FP64", g.n), gb.Vector("FP64", g.n)
        dist[g.source] = 0
        q[g.source] = 0
        relax = gb.semiring.min_plus["FP64"]
        while q.nvals:
            t = relax(q @ a).new()
            worse = gb.binary.ge(t & dist).new().select("valueeq", True).new()
            q = t.dup(mask=~worse.S)
            dist(q.S) << q
        return lambda: levels(dist.to_coo()[1])

    # From the vertices whose distance decreased, whatever the signs.
    bellman_ford = sssp

    def msbfs(self, g, h):
        """LAGraph_MultiSourceBFS: a row for each source."""
        gb, (a, _, _), n, k = self.gb, h, g.n, len(g.many)
        q = gb.Matrix.from_coo(np.arange(k), g.many, True, nrows=k, ncols=n)
        level, d = gb.Matrix("INT32", k, n), 0
        one = gb.semiring.any_pair[bool]
        while q.nvals:
            level(q.S) << d
            d += 1
            q(~level.S, replace=True) << one(q @ a)
        return lambda: levels(level.to_coo()[2])

    def sssp_delta(self, g, h):
        """LAGr_SingleSourceShortestPath: delta-stepping."""
        gb, (a, _, degree) = self.gb, h
        delta = float(max(8.0, 510.0 / max(1.0, degree.mean())))
        relax = gb.semiring.min_plus["FP64"]
        if getattr(self, "split", None) is None or self.split[0] is not a:
            self.split = a, a.select("<=", delta).new(), a.select(">", delta).new()
        _, light, heavy = self.split
        dist, left = gb.Vector("FP64", g.n), gb.Vector("FP64", g.n)
        dist[g.source] = 0
        # Vertices whose buckets are still to come.
        left[g.source] = 0

        def improve(t):
            worse = gb.binary.ge(t & dist).new().select("valueeq", True).new()
            better = t.dup(mask=~worse.S)
            if better.nvals:
                dist(better.S) << better
                left(better.S) << better
            return better

        while left.nvals:
            at = float(int(left.reduce(gb.monoid.min).new().value // delta + 1)) * delta
            bucket = left.select("<", at).new()
            settled = gb.Vector("FP64", g.n)
            while bucket.nvals:
                settled(bucket.S) << bucket
                left(~bucket.S, replace=True) << left.dup()
                better = improve(relax(bucket @ light).new())
                bucket = better.select("<", at).new()
            settled(settled.S) << dist
            if heavy.nvals:
                improve(relax(settled @ heavy).new())
        return lambda: levels(dist.to_coo()[1])

    def pagerank(self, g, h):
        """LAGr_PageRank."""
        gb, (_, t, degree), n = self.gb, h, g.n
        scale = gb.Vector.from_dense(np.maximum(degree, 1).astype(np.float64) / DAMPING)
        none = np.nonzero(degree == 0)[0]
        sinks = gb.Vector.from_coo(none, True, size=n) if len(none) else None
        add, spread, less = gb.monoid.plus["FP64"], gb.semiring.plus_second["FP64"], gb.binary.minus["FP64"]
        r = gb.Vector.from_scalar(1.0 / n, n)
        for _ in range(MOST_SWEEPS):
            base = (1 - DAMPING) / n
            if sinks is not None:
                base += DAMPING / n * float(r.dup(mask=sinks.S).reduce(add).new().value or 0)
            w = gb.binary.truediv(r & scale).new()
            y = gb.Vector.from_scalar(base, n)
            y(gb.binary.plus) << spread(t @ w)
            r(less) << y
            change = r.apply(gb.unary.abs).new().reduce(add).new().value
            r = y
            if change < TOLERANCE:
                break
        return lambda: squares(r.to_dense())

    def hooked(self, f, values):
        """f[f[k]] min= values[k] for all k."""
        n = len(f)
        p = self.gb.Matrix.ss.import_csr(
            nrows=n, ncols=n, indptr=np.arange(n + 1, dtype=np.uint64), col_indices=f.astype(np.uint64),
            values=np.ones(1, bool), is_iso=True, sorted_cols=True)
        return self.gb.semiring.min_second["INT64"](p.T @ values)

    def fastsv(self, a, f):
        """FastSV (Zhang, Azad, Hu 2020) from the parents f."""
        gb, least = self.gb, self.gb.semiring.min_second["INT64"]
        min_ = gb.binary.min
        parent = gb.Vector.from_dense(f)
        grand, lowest = parent.dup(), parent.dup()
        while True:
            lowest(min_) << least(a @ grand)
            parent(min_) << self.hooked(f, lowest)
            parent(min_) << lowest
            parent(min_) << grand
            f = parent.to_dense()
            new = parent[f].new()
            if new.isequal(grand):
                return f
            grand = new

    def components(self, g, h):
        f = self.fastsv(h[0], np.arange(g.n))
        return lambda: {"components": int((f == np.arange(g.n)).sum())}

    def components_sampled(self, g, h):
        """FastSV6 of LAGraph: first four edges of each vertex, then the edges of vertices outside the largest tree."""
        a, (ptr, ends), n = h[0], self.arrays, g.n
        few = np.minimum(np.diff(ptr), 4)
        to = np.concatenate([[0], np.cumsum(few)])
        at = np.arange(to[-1]) - np.repeat(to[:-1] - ptr[:-1], few)
        sample = sp.csr_matrix((np.ones(to[-1], bool), ends[at], to), (n, n))
        f = self.fastsv(self.of_csr(sample), np.arange(n))
        largest = np.bincount(f[np.arange(0, n, max(1, n // 1024))]).argmax()
        rows = np.nonzero(f != largest)[0]
        if len(rows):
            # Rows of the largest tree need no edges, because the edges of other rows lead to it.
            keep = np.zeros(n, np.int64)
            keep[rows] = np.diff(ptr)[rows]
            to = np.concatenate([[0], np.cumsum(keep)])
            at = np.arange(to[-1]) - np.repeat(to[:-1] - ptr[:-1], keep)
            rest = sp.csr_matrix((np.ones(to[-1], bool), ends[at], to), (n, n))
            f = self.fastsv(self.of_csr(rest), f)
        return lambda: {"components": int((f == np.arange(n)).sum())}

    def scc(self, g, h):
        """LAGraph_scc: smallest labels forward, then backward within them; sources and sinks are trimmed."""
        if not g.directed:
            return None
        gb, n = self.gb, g.n
        ptr, ends = self.arrays
        rows, cols = np.repeat(np.arange(n), np.diff(ptr)), ends.astype(np.int64)
        count, alive = 0, np.ones(n, bool)
        first, second = gb.semiring.min_first["INT64"], gb.semiring.min_second["INT64"]
        while True:
            while True:
                inner = (np.bincount(rows, minlength=n) > 0) & (np.bincount(cols, minlength=n) > 0)
                gone = alive & ~inner
                count += int(gone.sum())
                alive &= inner
                keep = alive[rows] & alive[cols]
                if keep.all():
                    break
                rows, cols = rows[keep], cols[keep]
            if not alive.any():
                break
            for backward in (False, True):
                to = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
                a = self.of_csr(sp.csr_matrix((np.ones(len(cols), bool), cols, to), (n, n)))
                if backward:
                    x = gb.Vector.from_dense(np.where(f == np.arange(n), f, n))
                else:
                    x = gb.Vector.from_dense(np.arange(n))
                while True:
                    y = x.dup()
                    y(gb.binary.min) << (second(a @ x) if backward else first(x @ a))
                    if y.isequal(x):
                        break
                    x = y
                if backward:
                    b = x.to_dense()
                else:
                    f = x.to_dense()
                    keep = f[rows] == f[cols]
                    rows, cols = rows[keep], cols[keep]
            done = alive & (f == b)
            count += int((done & (f == np.arange(n))).sum())
            alive &= ~done
            keep = alive[rows] & alive[cols] & ((f[rows] == f[cols]))
            rows, cols = rows[keep], cols[keep]
        return lambda: {"components": count}

    def betweenness(self, g, h):
        """LAGr_Betweenness: Brandes from all sources at once."""
        return self.brandes(g, h, g.sources)

    def betweenness_sampled(self, g, h):
        found = self.brandes(g, h, g.drawn)
        return lambda: {"sum": found()["sum"] * g.n / len(g.drawn) * (1 if g.directed else 0.5)}

    def brandes(self, g, h, sources):
        gb, (a, t, _), n, k = self.gb, h, g.n, len(sources)
        add = gb.semiring.plus_first["FP64"]
        seed = gb.Matrix.from_coo(np.arange(k), sources, np.ones(k), nrows=k, ncols=n)
        paths, frontier, fronts = seed.dup(), seed, []
        while frontier.nvals:
            fronts.append(frontier.dup(dtype=bool))
            new = gb.Matrix("FP64", k, n)
            new(~paths.S, replace=True) << add(frontier @ a)
            paths(gb.binary.plus) << new
            frontier = new
        through = gb.Matrix.from_scalar(1.0, k, n)
        for i in range(len(fronts) - 1, 0, -1):
            w = gb.binary.truediv(through & paths).new(mask=fronts[i].S)
            w = add(w @ t).new(mask=fronts[i - 1].S)
            through(gb.binary.plus) << gb.binary.times(w & paths)
        found = through.reduce_columnwise(gb.monoid.plus).new()
        # Paths that end in a source do not pass through it.
        ends = sum(float(through[i, s].new().value) - 1 for i, s in enumerate(sources))
        return lambda: {"sum": float(found.reduce(gb.monoid.plus).new().value) - k * n - ends}

    def triangles(self, g, h, sort=False):
        """LAGr_TriangleCount: Sandia_LUT."""
        gb, (a, _, degree) = self.gb, h
        if sort:
            order = np.argsort(degree, kind="stable")
            a = a[order, order].new()
        lower, upper = gb.select.tril(a, -1).new(), gb.select.triu(a, 1).new()
        c = gb.semiring.plus_pair["INT64"](lower @ upper.T).new(mask=lower.S)
        found = int(c.reduce_scalar().new().value or 0)
        return lambda: {"triangles": found}

    def triangles_sorted(self, g, h):
        return self.triangles(g, h, True)

    def ktruss(self, g, h):
        """LAGraph_KTruss."""
        gb, (a, _, _) = self.gb, h
        pair, c = gb.semiring.plus_pair["INT64"], a
        while True:
            new = pair(c @ c.T).new(mask=c.S).select(">=", TRUSS - 2).new()
            if new.nvals == c.nvals:
                break
            c = new
        return lambda: {"edges": int(c.nvals) // 2}

    def clustering(self, g, h):
        gb, (a, _, degree) = self.gb, h
        c = gb.semiring.plus_pair["INT64"](a @ a.T).new(mask=a.S)
        count = c.reduce_rowwise(gb.monoid.plus).new().to_dense(fill_value=0)
        pairs = degree * (degree - 1.0)
        found = np.divide(count, pairs, out=np.zeros(g.n), where=pairs > 0)
        return lambda: total(found)

    def kcore(self, g, h):
        """LAGraph_KCore_All."""
        gb, (a, _, degree), n = self.gb, h, g.n
        left = gb.Vector.from_dense(degree.astype(np.int64))
        core = gb.Vector("INT64", n)
        count, k = gb.semiring.plus_pair["INT64"], 0
        while left.nvals:
            k = max(k, int(left.reduce(gb.monoid.min).new().value))
            q = left.select("<=", k).new()
            while q.nvals:
                core(q.S) << k
                left(~q.S, replace=True) << left.dup()
                less = count(q @ a).new(mask=left.S)
                left(gb.binary.minus) << less
                q = left.dup(mask=less.S).select("<=", k).new()
        return lambda: total(core.to_coo()[1])

    def mis(self, g, h):
        """LAGraph_MaximalIndependentSet: Luby, scores by degree."""
        gb, (a, _, degree), n = self.gb, h, g.n
        rng = np.random.default_rng(7)
        score = gb.Vector.from_dense(rng.random(n) / (1 + degree) + 1e-9)
        iset = gb.Vector.from_coo(np.nonzero(degree == 0)[0], True, size=n)
        left = gb.Vector.from_coo(np.nonzero(degree)[0], True, size=n)
        most, any_ = gb.semiring.max_second["FP64"], gb.semiring.any_pair[bool]
        while left.nvals:
            mine = score.dup(mask=left.S)
            near = most(a @ mine).new(mask=left.S)
            wins = gb.binary.gt(mine & near).new().select("valueeq", True).new()
            alone = mine.dup(mask=~near.S, dtype=bool)
            member = gb.binary.any(wins | alone).new()
            iset(member.S) << True
            out = any_(member @ a).new(mask=left.S)
            gone = gb.binary.any(member | out).new()
            left(~gone.S, replace=True) << left.dup()
        return lambda: {"size": int(iset.nvals)}

    def cdlp(self, g, h):
        """LAGraph_cdlp, ten sweeps: numpy sorts neighbours' labels by row; ties go to the smallest label."""
        ptr, ends = self.arrays
        n = g.n
        rows, label = np.repeat(np.arange(n), np.diff(ptr)), np.arange(n)
        for _ in range(SWEEPS):
            key = np.sort(rows * n + label[ends])
            start = np.nonzero(np.concatenate([[True], key[1:] != key[:-1]]))[0]
            count = np.diff(np.append(start, len(key)))
            row, of = key[start] // n, key[start] % n
            best = np.maximum.reduceat(count, np.nonzero(np.concatenate([[True], row[1:] != row[:-1]]))[0])
            order = np.nonzero(count == np.repeat(best, np.unique(row, return_counts=True)[1]))[0]
            lead = order[np.concatenate([[True], row[order][1:] != row[order][:-1]])]
            new = label.copy()
            new[row[lead]] = of[lead]
            if (new == label).all():
                break
            label = new
        return lambda: communities(g.undirected(), label)

    def msf(self, g, h):
        """LAGraph_msf: Borůvka, weight and edge in one number."""
        gb, n = self.gb, g.n
        ptr, ends = self.arrays
        rows, cols = np.repeat(np.arange(n), np.diff(ptr)), ends.astype(np.int64)
        lower, upper = np.minimum(rows, cols), np.maximum(rows, cols)
        ids = np.empty(len(rows), np.int64)
        half = np.nonzero(rows < cols)[0]
        ids[half] = np.arange(len(half))
        back = np.lexsort((upper, lower))
        ids[back[1::2]] = ids[back[0::2]] = np.arange(len(half))
        u, v = lower[back[0::2]], upper[back[0::2]]
        value = (g.undirected().data.astype(np.int64) << 32) | ids
        parent, weight = np.arange(n), 0
        min_ = gb.monoid.min["INT64"]
        while len(rows):
            to = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
            s = self.of_csr(sp.csr_matrix((value, cols, to), (n, n)), value)
            edge = s.reduce_rowwise(min_).new()
            best = self.hooked(parent, edge).new()
            roots, chosen = best.to_coo()
            roots = roots.astype(np.int64)
            chosen_id = chosen & 0xFFFFFFFF
            a, b = parent[u[chosen_id]], parent[v[chosen_id]]
            other = a + b - roots
            parent[roots] = other
            # Where two vertices chose each other, the smaller stays a root.
            mutual = (parent[other] == roots) & (roots < other)
            parent[roots[mutual]] = roots[mutual]
            weight += int((chosen[~mutual] >> 32).sum())
            while True:
                new = parent[parent]
                if (new == parent).all():
                    break
                parent = new
            keep = parent[rows] != parent[cols]
            rows, cols, value = rows[keep], cols[keep], value[keep]
        return lambda: {"sum": float(weight)}

    def hits(self, g, h):
        """LAGr_HITS, hubs only."""
        gb, (a, t, _), n = self.gb, h, g.n
        add, spread = gb.monoid.plus["FP64"], gb.semiring.plus_second["FP64"]
        x = gb.Vector.from_scalar(1.0 / n, n)
        for _ in range(MOST_SWEEPS):
            y = gb.Vector.from_scalar(0.0, n)
            z = gb.Vector.from_scalar(0.0, n)
            z(gb.binary.plus) << spread(t @ x)
            y(gb.binary.plus) << spread(a @ z)
            y = y.apply(gb.binary.truediv, right=float(y.reduce(add).new().value)).new()
            change = gb.binary.minus(x & y).new().apply(gb.unary.abs).new().reduce(add).new().value
            x = y
            if change < TOLERANCE:
                break
        return lambda: squares(x.to_dense())


PEERS = {"suitesparse": SuiteSparse, "networkit": NetworKit, "igraph": IGraph, "scipy": SciPy}
# The kind of graph for each algorithm, and a library's alternative algorithms: the fastest counts.
SORTS = {
    "bfs": "given", "pagerank": "given", "scc": "given", "betweenness": "given", "hits": "given", "sssp": "weighted",
    "msf": "undirected weighted", "components": "undirected", "triangles": "undirected", "ktruss": "undirected", "kcore": "undirected",
    "clustering": "undirected", "cdlp": "undirected", "louvain": "undirected", "leiden": "undirected", "mis": "undirected",
    "color": "undirected", "katz": "undirected", "eigenvector": "undirected", "modularity": "undirected", "matching": "bipartite",
    "toposort": "acyclic", "betweenness_all": "given", "harmonic": "given", "closeness": "undirected", "bfs_by_operations": "given",
    "lpa": "undirected", "msbfs": "given", "apsp": "weighted", "apsp_hops": "given", "bellman_ford": "negative",
    "betweenness_weighted": "weighted", "betweenness_sampled": "given", "closeness_weighted": "undirected weighted", "sssp_by_operations": "weighted", "betweenness_by_operations": "given",
}
WAYS = {
    "bfs": ["bfs_push"], "sssp": ["sssp_delta"], "components": ["components_parallel", "components_sampled"],
    "triangles": ["triangles_sorted"], "clustering": ["clustering_turbo"], "msf": ["msf_prim"],
    "msbfs": ["msbfs_loop"],
    # Peers for our formulations with operations, as a user would write them.
    "bfs_by_operations": ["bfs", "bfs_push"], "sssp_by_operations": ["sssp", "sssp_delta"],
    "betweenness_by_operations": ["betweenness"],
}


def ways(peer, algorithm):
    return [way for way in [algorithm, *WAYS.get(algorithm, [])] if hasattr(peer, way)]


def main():
    # Output of the libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer = PEERS[sys.argv[1]](int(sys.argv[2]))
    reply = lambda x: print(json.dumps(x), file=answers, flush=True)
    reply({"version": peer.version})
    g, made = None, {}
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            if "load" in ask:
                g, made = Input(ask["load"]), {}
                reply({"algorithms": {name: ways(peer, name) for name in SORTS if ways(peer, name)}})
                continue
            way = ask["time"]
            sort = SORTS[next(name for name in SORTS if way == name or way in WAYS.get(name, []))]
            if sort not in made:
                made.clear()
                made[sort] = peer.prepare(g, sort)
                peer.__dict__.pop("degrees", None)
                if peer.__class__ is SuiteSparse:
                    a = g.undirected() if sort.startswith("undirected") else g.matrix()
                    peer.arrays = a.indptr.astype(np.int64), a.indices
            if made[sort] is None:
                reply({"ms": None})
                continue
            h, prepare_ms = made[sort]
            before = getattr(peer, "before", lambda way, h: None)
            before(way, h)
            found, first = clock(lambda: getattr(peer, way)(g, h))
            if found is None:
                reply({"ms": None})
                continue
            result = found() if ask.get("check") else None
            del found
            # The first run is a warm-up, unless it is long.
            times, spent = ([first] if first > 2000 else []), first
            while len(times) < ask["repeat"] and (not times or spent < ask["spend_ms"]):
                before(way, h)
                _, ms = clock(lambda: getattr(peer, way)(g, h))
                times.append(ms)
                spent += ms
            reply({"ms": min(times), "prepare_ms": prepare_ms, "found": result})
        except Exception as e:
            reply({"error": repr(e)[:300]})


if __name__ == "__main__":
    main()
