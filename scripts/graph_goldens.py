#!/usr/bin/env python3
"""Results of networkx for 200 small random graphs, for tests/graph/goldens.rs: writes data/graphs.json.gz.

    pip install networkx igraph numpy scipy
    python3 scripts/graph_goldens.py [--check]      # --check: only compares with the existing file

igraph must agree on every quantity that both define alike, or nothing is written. A quarter of the graphs each are
undirected without weights, directed without weights, undirected with weights, and directed with weights. Half of each
kind have self-loops, and most are disconnected. The keys of a graph, each absent where it is undefined:

    n, directed, edges [[i, j, weight?]]     an undirected edge once, i <= j; weights are halves of integers, none is 0
    source, levels, distances                breadth-first levels and lengths of shortest paths, -1 where not reached
    pagerank, personal, personalized         damping 0.85, by weights; personal: the vertices of the personal vector, alike
    components, strong                       the least vertex of each vertex's component: weak, strong (directed)
    betweenness, betweenness_weighted        not normalized; an undirected path counts once
    closeness, closeness_weighted, harmonic  Wasserman and Faust's; distances to the vertex, in directed graphs
    triangles, clustering, transitivity      of undirected graphs, self-loops left out; as is core, truss (by edge, loops 0)
    forest                                   weight of a minimum spanning forest, undirected
    matching                                 size of a maximum matching of rows with columns of the adjacency matrix
    hubs, authorities, eigenvector           sums 1, 1; 2-norm 1; where the largest singular or eigenvalue is well apart
    alpha, katz                              Katz's with attenuation alpha, beta 1, 2-norm 1
    labels, modularity                       of that partition, by weights
    acyclic                                  whether a directed graph has no cycle
"""
import gzip
import io
import json
import math
import os
import random
import sys

import igraph
import networkx as nx
import numpy as np
import scipy
import scipy.sparse as sp
from scipy.sparse import csgraph

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "graphs.json.gz")
GRAPHS, DIGITS = 200, 9
# If the gap between the largest values and the next ones is below this, a vector is undetermined.
APART = 0.02


def drawn(seed):
    """The networkx graph of a seed, with edge weights if it has them."""
    rng = random.Random(seed)
    directed, weighted, loops = bool(seed & 1), bool(seed & 2), bool(seed & 4)
    n = rng.choice([1, 2, 3, 5, 8, 12, 15, 20, 25, 30, 35, 40])
    g = (nx.DiGraph if directed else nx.Graph)()
    g.add_nodes_from(range(n))
    for _ in range(rng.randrange(0, int(n * rng.choice([1, 1.5, 2.5, 4])) + 1)):
        # Squares make some vertices popular.
        i, j = int(n * rng.random() ** 2), int(n * rng.random())
        if i != j or loops:
            g.add_edge(i, j, weight=rng.randrange(1, 10) / 2)
    if not weighted:
        for _, _, d in g.edges(data=True):
            del d["weight"]
    return g, weighted, rng


def least(parts, n):
    of = [0] * n
    for part in parts:
        for v in part:
            of[v] = min(part)
    return of


def listed(values, n):
    return [values[v] for v in range(n)]


def agree(what, seed, a, b):
    if not np.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True):
        raise SystemExit(f"graph {seed}: {what}: networkx {a}, igraph {b}")


def apart(values):
    """Whether the absolutely largest value is well separated from the others."""
    sizes = np.sort(np.abs(values))[::-1]
    return sizes[0] > 1e-9 and (len(sizes) == 1 or sizes[1] < (1 - APART) * sizes[0])


def facts(seed):
    g, weighted, rng = drawn(seed)
    n, directed = g.number_of_nodes(), g.is_directed()
    by = "weight" if weighted else None
    edges = sorted((min(i, j), max(i, j)) if not directed else (i, j) for i, j in g.edges())
    weights = [g[i][j]["weight"] for i, j in edges] if weighted else None
    h = igraph.Graph(n=n, edges=edges, directed=directed)
    simple = nx.Graph(g)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    loops = nx.number_of_selfloops(g) > 0
    f = {"n": n, "directed": directed, "edges": [[i, j, *([weights[e]] if weighted else [])] for e, (i, j) in enumerate(edges)]}

    f["source"] = s = rng.randrange(n)
    length = nx.single_source_shortest_path_length(g, s)
    f["levels"] = [length.get(v, -1) for v in range(n)]
    known = lambda d: [-1 if x == float("inf") else x for x in d]
    agree("levels", seed, f["levels"], known(h.distances(source=s)[0]))
    if weighted:
        length = nx.single_source_dijkstra_path_length(g, s)
        f["distances"] = [length.get(v, -1) for v in range(n)]
        agree("distances", seed, f["distances"], known(h.distances(source=s, weights=weights)[0]))

    rank = lambda personal=None: listed(nx.pagerank(g, 0.85, personal, max_iter=10000, tol=1e-15, weight=by), n)
    f["pagerank"] = rank()
    # igraph counts an undirected self-loop twice in a degree.
    if directed or not loops:
        agree("pagerank", seed, f["pagerank"], h.pagerank(damping=0.85, weights=weights))
    f["personal"] = sorted(rng.sample(range(n), min(n, 3)))
    f["personalized"] = rank({v: 1 for v in f["personal"]})

    f["components"] = least(nx.weakly_connected_components(g) if directed else nx.connected_components(g), n)
    agree("components", seed, f["components"], least(list(h.connected_components(mode="weak")), n))
    if directed:
        f["strong"] = least(nx.strongly_connected_components(g), n)
        agree("strong", seed, f["strong"], least(list(h.connected_components(mode="strong")), n))
        f["acyclic"] = nx.is_directed_acyclic_graph(g)

    f["betweenness"] = listed(nx.betweenness_centrality(g, normalized=False), n)
    agree("betweenness", seed, f["betweenness"], h.betweenness())
    f["closeness"] = listed(nx.closeness_centrality(g), n)
    f["harmonic"] = listed(nx.harmonic_centrality(g, distance=by), n)
    agree("harmonic", seed, f["harmonic"], [] if n == 0 else h.harmonic_centrality(mode="in", weights=weights, normalized=False) if n > 1 else [0])
    if weighted:
        f["betweenness_weighted"] = listed(nx.betweenness_centrality(g, normalized=False, weight="weight"), n)
        agree("betweenness by weights", seed, f["betweenness_weighted"], h.betweenness(weights=weights))
        f["closeness_weighted"] = listed(nx.closeness_centrality(g, distance="weight"), n)

    if not directed:
        bare = igraph.Graph(n=n, edges=list(simple.edges()))
        f["triangles"] = listed(nx.triangles(simple), n)
        f["clustering"] = listed(nx.clustering(simple), n)
        f["transitivity"] = nx.transitivity(simple)
        f["core"] = listed(nx.core_number(simple), n)
        agree("clustering", seed, f["clustering"], bare.transitivity_local_undirected(mode="zero"))
        agree("transitivity", seed, f["transitivity"], bare.transitivity_undirected(mode="zero"))
        agree("core", seed, f["core"], bare.coreness())
        truss = {e: 2 for e in edges if e[0] != e[1]}
        k, left = 3, simple
        while left.number_of_edges():
            left = nx.k_truss(left, k)
            truss.update(((min(e), max(e)), k) for e in left.edges())
            k += 1
        f["truss"] = [truss.get(e, 0) for e in edges]
        f["forest"] = sum(d.get("weight", 1) for _, _, d in nx.minimum_spanning_edges(g, weight="weight", data=True))
        tree = h.spanning_tree(weights=weights, return_tree=False)
        agree("forest", seed, f["forest"], sum(weights[e] for e in tree) if weighted else len(tree))

    a = nx.to_scipy_sparse_array(g, nodelist=range(n), weight=by, format="csr").astype(float)
    dense = a.toarray()
    f["matching"] = int((csgraph.maximum_bipartite_matching(sp.csr_matrix(a), perm_type="column") >= 0).sum()) if a.nnz else 0
    double = nx.Graph([(i, n + j) for i, j in zip(*a.nonzero())])
    rows = [v for v in double if v < n]
    agree("matching", seed, f["matching"], len(nx.bipartite.hopcroft_karp_matching(double, rows)) // 2 if rows else 0)

    if n > 2 and apart(np.linalg.svd(dense, compute_uv=False)):
        hubs, authorities = nx.hits(g, max_iter=10000, tol=1e-15)
        f["hubs"], f["authorities"] = listed(hubs, n), listed(authorities, n)
    values, vectors = np.linalg.eig(dense.T)
    if a.nnz and apart(values):
        first = np.argmax(np.abs(values))
        x = np.real(vectors[:, first])
        x = x * np.sign(x.sum()) / np.linalg.norm(x)
        if abs(values[first].imag) < 1e-12 and (x > -1e-9).all():
            f["eigenvector"] = np.maximum(x, 0).tolist()
            agree("eigenvector", seed, f["eigenvector"], listed(nx.eigenvector_centrality(g, 100000, 1e-14, weight=by), n))
    f["alpha"] = float(f"{0.7 / max(1e-9, np.abs(dense).sum(axis=0).max(), 1):.3g}")
    # networkx is undefined for a single vertex.
    f["katz"] = listed(nx.katz_centrality_numpy(g, f["alpha"], 1.0, weight=by), n) if n > 1 else [1.0]

    f["labels"] = [rng.randrange(1 + n // 4) for _ in range(n)]
    if edges:
        parts = [{v for v in range(n) if f["labels"][v] == k} for k in sorted(set(f["labels"]))]
        f["modularity"] = nx.community.modularity(g, parts, weight=by)
        agree("modularity", seed, f["modularity"], h.modularity(f["labels"], weights=weights, directed=directed))
    return f


def short(x):
    """Nine digits; integers unchanged."""
    if isinstance(x, dict):
        return {k: short(v) for k, v in x.items()}
    if isinstance(x, list):
        return [short(v) for v in x]
    if isinstance(x, (bool, int, np.integer)):
        return x if isinstance(x, bool) else int(x)
    x = 0.0 if abs(x) < 1e-15 else float(f"{x:.{DIGITS}g}")
    return int(x) if x == int(x) else x


def close(a, b):
    """Whether two values agree to the digits that iterations can reach."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(close, a, b))
    return math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-9)


def main():
    made = {"networkx": nx.__version__, "igraph": igraph.__version__, "scipy": scipy.__version__, "numpy": np.__version__,
            "graphs": [short(facts(seed)) for seed in range(GRAPHS)]}
    text = json.dumps(made, separators=(",", ":")).encode()
    if "--check" in sys.argv:
        with gzip.open(PATH) as f:
            raise SystemExit(None if close(json.loads(f.read())["graphs"], made["graphs"]) else "the graphs differ")
    packed = io.BytesIO()
    # Without name and time, so that a repeated run gives the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as f:
        f.write(text)
    with open(PATH, "wb") as f:
        f.write(packed.getvalue())
    counts = {key: sum(key in g for g in made["graphs"]) for key in sorted({key for g in made["graphs"] for key in g})}
    print(f"{len(packed.getvalue())} bytes, {len(text)} before; " + ", ".join(f"{k} {v}" for k, v in counts.items()))


if __name__ == "__main__":
    main()
