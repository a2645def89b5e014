"""Graphs and algorithms on them.

Every function takes a :class:`Graph`, a sparse matrix whose entries are edges, or a graph of networkx or igraph.
Vertices are 0..n in the order of rows, or of the other package's own numbering; results are arrays with a number for
each vertex. ``device="cuda:0"`` runs what is said to run on GPUs there.

>>> import networkx, sparring as sp
>>> g = sp.graph.as_graph(networkx.karate_club_graph())
>>> sp.graph.bfs(g, 0)[:6].tolist()
[0, 1, 1, 1, 1, 1]
>>> round(float(sp.graph.pagerank(g)[33]), 4)
0.1009
"""

from . import _sparring

_graph = _sparring._graph
Graph = _graph.Graph

__all__ = [
    "Graph",
    "all_pairs_shortest_paths",
    "as_graph",
    "average_clustering",
    "betweenness_centrality",
    "bfs",
    "bfs_tree",
    "bipartite_matching",
    "closeness_centrality",
    "connected_components",
    "core_numbers",
    "eigenvector_centrality",
    "greedy_coloring",
    "harmonic_centrality",
    "hits",
    "k_truss",
    "katz_centrality",
    "label_propagation",
    "leiden",
    "local_clustering",
    "louvain",
    "maximal_independent_set",
    "minimum_spanning_forest",
    "modularity",
    "multi_source_bfs",
    "pagerank",
    "sampled_betweenness",
    "sssp",
    "sssp_tree",
    "strongly_connected_components",
    "topological_order",
    "transitivity",
    "triangles",
    "triangles_per_vertex",
    "truss_numbers",
]


def as_graph(g, *, weight=None):
    """The :class:`Graph` of an object: itself, that of a sparse matrix, or of a graph of networkx or igraph.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
    weight : str, optional
        The attribute of edges with their weights, of the other packages; of a matrix any word says that values are.
    """
    if isinstance(g, Graph):
        return g
    package = _package(g)
    if package == "networkx":
        import networkx

        matrix = networkx.to_scipy_sparse_array(g, weight=weight, format="csr")
        return Graph(matrix, directed=g.is_directed(), weighted=weight is not None)
    if package == "igraph":
        import numpy as np
        import scipy.sparse

        n, edges = g.vcount(), np.array(g.get_edgelist(), "int64").reshape(-1, 2)
        values = np.ones(len(edges)) if weight is None else np.array(g.es[weight], float)
        matrix = scipy.sparse.coo_array((values, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
        return Graph(matrix, directed=g.is_directed(), weighted=weight is not None)
    return Graph(g, weighted=weight is not None)


def bfs(g, source, *, device=None):
    """The least number of edges from a vertex to each, -1 where no path leads. Runs on GPUs.

    >>> import numpy as np, scipy.sparse, sparring as sp
    >>> sp.graph.bfs(scipy.sparse.csr_array(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])), 0).tolist()
    [0, 1, -1]
    """
    return _graph.bfs(as_graph(g), source, device)


def bfs_tree(g, source, *, device=None):
    """Levels of a breadth-first search, and the least vertex before each, the source its own; -1 where no path leads."""
    return _graph.bfs_tree(as_graph(g), source, device)


def multi_source_bfs(g, sources):
    """Levels of a search from each of several vertices: a row for each."""
    return _graph.multi_source_bfs(as_graph(g), sources)


def sssp(g, source, *, weight="weight", device=None):
    """Distances of the shortest paths from a vertex, ``inf`` where none leads. Runs on GPUs.

    Weights are values of a matrix, or the attribute ``weight`` of edges; they are not negative.
    """
    return _graph.sssp(as_graph(g, weight=weight), source, device)


def sssp_tree(g, source, *, weight="weight", negative=False, device=None):
    """Distances of the shortest paths from a vertex, and the vertex before each; with ``negative`` by Bellman and Ford."""
    return _graph.sssp_tree(as_graph(g, weight=weight), source, negative, device)


def all_pairs_shortest_paths(g, *, weight="weight"):
    """Distances of all pairs of vertices: n rows of n."""
    return _graph.all_pairs_shortest_paths(as_graph(g, weight=weight))


def connected_components(g, *, device=None):
    """The least vertex of each vertex's component, whatever the direction of edges. Runs on GPUs."""
    return _graph.connected_components(as_graph(g), device)


def strongly_connected_components(g):
    """The least vertex of each vertex's strong component."""
    return _graph.strongly_connected_components(as_graph(g), None)


def pagerank(
    g, damping=0.85, *, tolerance=1e-6, max_iterations=100, personalization=None, drop_dangling=False, device=None
):
    """PageRank, summing to 1: the stationary distribution of a walk that teleports with 1 − damping. Runs on GPUs."""
    ranks, _ = _graph.pagerank(
        as_graph(g), damping, tolerance, max_iterations, personalization, drop_dangling, device
    )
    return ranks


def hits(g, *, tolerance=1e-8, max_iterations=1000):
    """Hubs and authorities of Kleinberg."""
    return _graph.hits(as_graph(g), tolerance, max_iterations)


def betweenness_centrality(g, *, normalized=True, device=None):
    """Part of the shortest paths between others that lead through each vertex. Runs on GPUs."""
    return _graph.betweenness_centrality(as_graph(g), normalized, device)


def sampled_betweenness(g, samples, *, seed=1, normalized=True, device=None):
    """Betweenness estimated from the paths out of some vertices, drawn by a seed. Runs on GPUs."""
    return _graph.sampled_betweenness(as_graph(g), samples, seed, normalized, device)


def closeness_centrality(g):
    """Closeness of each vertex, as networkx has it."""
    return _graph.closeness_centrality(as_graph(g), None)


def harmonic_centrality(g):
    """Sum of the reciprocals of the distances to each vertex."""
    return _graph.harmonic_centrality(as_graph(g), None)


def eigenvector_centrality(g, *, tolerance=1e-8, max_iterations=1000):
    """The dominant eigenvector of the adjacency matrix."""
    return _graph.eigenvector_centrality(as_graph(g), tolerance, max_iterations, None)


def katz_centrality(g, alpha=0.1, beta=1.0, *, tolerance=1e-8, max_iterations=1000):
    """The solution of x = α·Aᵀx + β."""
    return _graph.katz_centrality(as_graph(g), alpha, beta, tolerance, max_iterations, None)


def core_numbers(g):
    """The largest k whose k-core has each vertex."""
    return _graph.core_numbers(as_graph(g), None)


def k_truss(g, k):
    """Edges, a row for each, of the largest subgraph whose edges are each in k − 2 triangles."""
    return _graph.k_truss(as_graph(g), k)


def truss_numbers(g):
    """Edges, a row for each, and the largest k whose k-truss has each."""
    return _graph.truss_numbers(as_graph(g))


def local_clustering(g):
    """Part of the pairs of each vertex's neighbors that are neighbors."""
    return _graph.local_clustering(as_graph(g), None)


def average_clustering(g):
    """Mean of the local clustering coefficients."""
    return _graph.clustering(as_graph(g))[0]


def transitivity(g):
    """Part of the paths of two edges that are closed."""
    return _graph.clustering(as_graph(g))[1]


def louvain(g, *, resolution=1.0, seed=1, weight=None):
    """Labels of communities by the method of Louvain, and their modularity."""
    return _graph.communities(as_graph(g, weight=weight), "louvain", resolution, 0, seed)


def leiden(g, *, resolution=1.0, iterations=2, seed=1, weight=None):
    """Labels of communities by the method of Leiden, and their modularity."""
    return _graph.communities(as_graph(g, weight=weight), "leiden", resolution, iterations, seed)


def modularity(g, labels, *, resolution=1.0):
    """Modularity of communities given by a label for each vertex."""
    return _graph.modularity(as_graph(g), labels, resolution)


def label_propagation(g, iterations=100, *, asynchronous=False, device=None):
    """Labels of communities: each vertex takes the most frequent label of its neighbors. Runs on GPUs."""
    labels, _, _ = _graph.label_propagation(as_graph(g), iterations, asynchronous, device)
    return labels


def maximal_independent_set(g):
    """Vertices no two of which are neighbors, to which none can be added."""
    return _graph.maximal_independent_set(as_graph(g), None)


def greedy_coloring(g):
    """A color for each vertex, none that of a neighbor, and their number."""
    return _graph.greedy_coloring(as_graph(g))


def minimum_spanning_forest(g, *, weight="weight"):
    """Edges, a row for each, of a spanning forest of least weight, and that weight."""
    return _graph.minimum_spanning_forest(as_graph(g, weight=weight))


def topological_order(g):
    """Vertices in an order in which every edge leads forward; ``ValueError`` if there is a cycle."""
    return _graph.topological_order(as_graph(g), None)


def triangles(a, *, device=None):
    """Number of triangles of the simple undirected graph under a square matrix. Runs on GPUs."""
    return _graph.triangles(_matrix_of(a), device)


def triangles_per_vertex(a, *, device=None):
    """In how many triangles each vertex is. Runs on GPUs."""
    return _graph.triangles_per_vertex(_matrix_of(a), device)


def bipartite_matching(a):
    """A maximum matching of a matrix: the column of each row and the row of each column, -1 without."""
    return _graph.bipartite_matching(a)


def _package(g):
    """The package of an object's class."""
    return str(type(g).__module__).partition(".")[0]


def _matrix_of(a):
    if isinstance(a, Graph) or _package(a) in ("networkx", "igraph"):
        return as_graph(a).matrix()
    return a
