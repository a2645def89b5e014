"""Graphs and algorithms on them.

Every function takes a :class:`Graph`, a sparse matrix whose entries are edges, or a graph of networkx or igraph.
Vertices are 0..n in the order of rows, or of the other package's numbering; results are arrays with a number per
vertex. ``device="cuda:0"`` selects a GPU for the functions that support it.

>>> import networkx, sparring as sp
>>> g = sp.graph.as_graph(networkx.karate_club_graph())
>>> sp.graph.bfs(g, 0)[:6].tolist()
[0, 1, 1, 1, 1, 1]
>>> round(float(sp.graph.pagerank(g)[33]), 4)
0.1009
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _sparring

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from ._sparring import _Graph as Graph

    GraphLike: TypeAlias = Any
    Numbers: TypeAlias = NDArray[Any]

_graph = _sparring._graph
if not TYPE_CHECKING:
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
    "from_edges",
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


def as_graph(g: GraphLike, *, weight: str | None = None) -> Graph:
    """The :class:`Graph` of an object.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The object to convert. A matrix with a symmetric pattern gives an undirected graph.
    weight : str, optional
        The edge attribute with the weights, for other packages; for a matrix, any string makes its values weights. By
        default, every edge has weight 1.

    Returns
    -------
    Graph
        The object itself, or the converted graph, with vertices in their order.

    Raises
    ------
    TypeError
        If it is of another type.
    ValueError
        If the matrix is not square.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.as_graph(networkx.DiGraph([(0, 1), (1, 2)]))
    <sparring.graph.Graph, directed, 3 vertices, 2 edges>
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


def from_edges(
    sources: ArrayLike, targets: ArrayLike, weights: ArrayLike | None = None, *, vertices: int | None = None,
    directed: bool = True, repeated: str | None = None, labels: bool = False,
) -> Any:
    """The :class:`Graph` of an edge list: arrays, lists, or columns of pandas, polars or pyarrow.

    Parameters
    ----------
    sources, targets : array_like
        Vertices of each edge: integers from 0, or with ``labels`` any strings or numbers.
    weights : array_like, optional
        A weight per edge.
    vertices : int, optional
        Number of vertices, by default one more than the largest.
    directed : bool
        Whether edges are directed.
    repeated : {"plus", "min", "max", "first", "second"}, optional
        How to combine the weights of duplicate edges; by default they are an error. Without weights, duplicates are
        one edge.
    labels : bool
        Numbers the vertices in the order of their labels, and returns the labels too.

    Returns
    -------
    Graph, or (Graph, array of the labels)

    Raises
    ------
    ValueError
        Lists of different lengths, a duplicate weighted edge, vertices that are not integers.
    IndexError
        A vertex that is not below ``vertices``.

    Examples
    --------
    >>> import sparring as sp
    >>> sp.graph.from_edges([0, 1, 1], [1, 2, 0], directed=False)
    <sparring.graph.Graph, undirected, 3 vertices, 2 edges>
    >>> g, names = sp.graph.from_edges(["ada", "bea"], ["bea", "cleo"], [0.5, 2.0], labels=True)
    >>> names.tolist(), sp.graph.sssp(g, 0).tolist()
    (['ada', 'bea', 'cleo'], [0.0, 0.5, 2.5])
    """
    import numpy as np

    ends = [np.asarray(of) for of in (sources, targets)]
    names = np.empty(0)
    if labels:
        names, numbers = np.unique(np.concatenate(ends), return_inverse=True)
        ends = [numbers[: len(ends[0])], numbers[len(ends[0]) :]]
    if any(of.dtype.kind not in "iu" for of in ends) and ends[0].size:
        raise ValueError(f"vertices are integers, not {ends[0].dtype} and {ends[1].dtype}: labels=True numbers others")
    if vertices is None:
        vertices = len(names) if labels else max((int(of.max()) + 1 for of in ends if of.size), default=0)
    values = np.ones(len(ends[0]), bool) if weights is None else np.asarray(weights, float)
    if not directed:
        # The two directions of an edge are one.
        ends = [np.minimum(ends[0], ends[1]), np.maximum(ends[0], ends[1])]
    dup = None if weights is None else repeated
    matrix = _sparring.Matrix.from_coo(ends[0], ends[1], values, (vertices, vertices), dup)
    if weights is not None and repeated is None and matrix.nnz < len(values):
        raise ValueError(f"{len(values) - matrix.nnz} edges are repeated: repeated='plus', 'min' or 'max' joins weights")
    made = Graph(matrix, directed=directed, weighted=weights is not None)
    return (made, names) if labels else made


def bfs(g: GraphLike, source: int, *, device: str | None = None) -> Numbers:
    """Breadth-first levels: the number of edges from a vertex to each other. Runs on GPUs.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    source : int
        The start vertex.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    ndarray of int32, shape (n,)
        Minimum numbers of edges, -1 without a path.

    Raises
    ------
    ValueError
        If there is no such vertex.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.bfs(networkx.path_graph(4), 1).tolist()
    [1, 0, 1, 2]
    """
    return _graph.bfs(as_graph(g), source, device)


def bfs_tree(g: GraphLike, source: int, *, device: str | None = None) -> tuple[Numbers, Numbers]:
    """Levels and parents of a breadth-first search. Runs on GPUs.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    source : int
        The start vertex.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    levels : ndarray of int32, shape (n,)
        Minimum numbers of edges, -1 without a path.
    parents : ndarray of int32, shape (n,)
        The smallest predecessor of each vertex, the source itself for the source; -1 without a path.

    Raises
    ------
    ValueError
        If there is no such vertex.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> levels, parents = sp.graph.bfs_tree(networkx.path_graph(4), 1)
    >>> parents.tolist()
    [1, 1, 1, 2]
    """
    return _graph.bfs_tree(as_graph(g), source, device)


def multi_source_bfs(g: GraphLike, sources: ArrayLike) -> Numbers:
    """Breadth-first levels from each of several vertices.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    sources : sequence of int
        The start vertices.

    Returns
    -------
    ndarray of int32, shape (sources, n)
        A row per source, -1 without a path.

    Raises
    ------
    IndexError
        If there is no such vertex.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.multi_source_bfs(networkx.path_graph(4), [0, 3]).tolist()
    [[0, 1, 2, 3], [3, 2, 1, 0]]
    """
    return _graph.multi_source_bfs(as_graph(g), sources)


def sssp(g: GraphLike, source: int, *, weight: str | None = "weight", device: str | None = None) -> Numbers:
    """Shortest path lengths from a vertex to each other. Runs on GPUs.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    source : int
        The start vertex.
    weight : str, default="weight"
        The edge attribute with the weights, for other packages; the weights of a matrix are its values.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    ndarray of float64, shape (n,)
        Sums of weights, ``inf`` without a path.

    Raises
    ------
    ValueError
        If a weight is negative or NaN, or there is no such vertex.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sparring as sp
    >>> a = scipy.sparse.csr_array(np.array([[0, 4.0, 1.0], [0, 0, 0], [0, 2.0, 0]]))
    >>> sp.graph.sssp(a, 0).tolist()
    [0.0, 3.0, 1.0]
    """
    return _graph.sssp(as_graph(g, weight=weight), source, device)


def sssp_tree(
    g: GraphLike, source: int, *, weight: str | None = "weight", negative: bool = False, device: str | None = None,
) -> tuple[Numbers, Numbers]:
    """Shortest path lengths from a vertex to each other, and predecessors. Runs on GPUs.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    source : int
        The start vertex.
    weight : str, default="weight"
        The edge attribute with the weights, for other packages; the weights of a matrix are its values.
    negative : bool, default=False
        Allows negative weights, by the Bellman-Ford algorithm.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    distances : ndarray of float64, shape (n,)
        Sums of weights, ``inf`` without a path.
    parents : ndarray of int32, shape (n,)
        The predecessor of each vertex, the source itself for the source; -1 without a path.

    Raises
    ------
    ValueError
        If a weight is negative without ``negative``, a negative cycle is reachable, or there is no such vertex.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sparring as sp
    >>> a = scipy.sparse.csr_array(np.array([[0, 4.0, 1.0], [0, 0, 0], [0, -2.0, 0]]))
    >>> distances, parents = sp.graph.sssp_tree(a, 0, negative=True)
    >>> distances.tolist(), parents.tolist()
    ([0.0, -1.0, 1.0], [0, 2, 0])
    """
    return _graph.sssp_tree(as_graph(g, weight=weight), source, negative, device)


def all_pairs_shortest_paths(g: GraphLike, *, weight: str | None = "weight") -> Numbers:
    """Shortest path lengths between all pairs of vertices.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    weight : str, default="weight"
        The edge attribute with the weights, for other packages; the weights of a matrix are its values.

    Returns
    -------
    ndarray of float64, shape (n, n)
        Sums of weights, ``inf`` without a path.

    Raises
    ------
    ValueError
        If a weight is negative or NaN.
    MemoryError
        If n² numbers do not fit in memory.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.all_pairs_shortest_paths(networkx.path_graph(3)).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    """
    return _graph.all_pairs_shortest_paths(as_graph(g, weight=weight))


def connected_components(g: GraphLike, *, device: str | None = None) -> Numbers:
    """The (weakly) connected component of each vertex. Runs on GPUs.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    ndarray of int32, shape (n,)
        The smallest vertex of the component.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.connected_components(networkx.Graph([(0, 1), (2, 3)])).tolist()
    [0, 0, 2, 2]
    """
    return _graph.connected_components(as_graph(g), device)


def strongly_connected_components(g: GraphLike) -> Numbers:
    """The strongly connected component of each vertex.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.

    Returns
    -------
    ndarray of int32, shape (n,)
        The smallest vertex of the component.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.strongly_connected_components(networkx.DiGraph([(0, 1), (1, 0), (1, 2)])).tolist()
    [0, 0, 2]
    """
    return _graph.strongly_connected_components(as_graph(g), None)


def pagerank(
    g: GraphLike, damping: float = 0.85, *, tolerance: float = 1e-6, max_iterations: int = 100,
    personalization: ArrayLike | None = None, drop_dangling: bool = False, device: str | None = None,
) -> Numbers:
    """PageRank. Runs on GPUs.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    damping : float, default=0.85
        The damping factor: the probability of following an edge instead of a random jump.
    tolerance : float, default=1e-6
        The iteration stops when the 1-norm of the change is below this.
    max_iterations : int, default=100
        Maximum number of iterations.
    personalization : array of shape (n,), optional
        The teleport distribution: a weight per vertex, by default uniform.
    drop_dangling : bool, default=False
        Drops the rank of vertices without outgoing edges, instead of following the teleport distribution.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    ndarray of float64, shape (n,)
        Ranks, which add up to 1.

    Raises
    ------
    ValueError
        If the damping is not in [0, 1), or the iteration does not converge within ``max_iterations``.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.pagerank(networkx.star_graph(2)).round(4).tolist()
    [0.4865, 0.2568, 0.2568]
    """
    ranks, _ = _graph.pagerank(
        as_graph(g), damping, tolerance, max_iterations, personalization, drop_dangling, device
    )
    return ranks


def hits(g: GraphLike, *, tolerance: float = 1e-8, max_iterations: int = 1000) -> tuple[Numbers, Numbers]:
    """Hub and authority scores (Kleinberg).

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    tolerance : float, default=1e-8
        The iteration stops when the 1-norm of the change is below this.
    max_iterations : int, default=1000
        Maximum number of iterations.

    Returns
    -------
    hubs : ndarray of float64, shape (n,)
        Scores, which add up to 1.
    authorities : ndarray of float64, shape (n,)
        Scores, which add up to 1.

    Raises
    ------
    ValueError
        If the iteration does not converge within ``max_iterations``.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> hubs, authorities = sp.graph.hits(networkx.DiGraph([(0, 1), (0, 2)]))
    >>> hubs.tolist(), authorities.tolist()
    ([1.0, 0.0, 0.0], [0.0, 0.5, 0.5])
    """
    return _graph.hits(as_graph(g), tolerance, max_iterations)


def betweenness_centrality(g: GraphLike, *, normalized: bool = True, device: str | None = None) -> Numbers:
    """Betweenness: the fraction of shortest paths between other vertices through each vertex. Runs on GPUs.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    normalized : bool, default=True
        Divides by the number of pairs of other vertices.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    ndarray of float64, shape (n,)
        Sums of these fractions over all pairs.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.betweenness_centrality(networkx.path_graph(3)).tolist()
    [0.0, 1.0, 0.0]
    """
    return _graph.betweenness_centrality(as_graph(g), normalized, device)


def sampled_betweenness(
    g: GraphLike, samples: int, *, seed: int = 1, normalized: bool = True, device: str | None = None,
) -> Numbers:
    """Betweenness, estimated from sampled sources. Runs on GPUs.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    samples : int
        Number of sampled sources.
    seed : int, default=1
        Seed of the sample.
    normalized : bool, default=True
        Divides by the number of pairs of other vertices.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    ndarray of float64, shape (n,)
        Estimates; exact if all vertices are sampled.

    Raises
    ------
    ValueError
        If there are fewer vertices than samples.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.sampled_betweenness(networkx.path_graph(3), 3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _graph.sampled_betweenness(as_graph(g), samples, seed, normalized, device)


def closeness_centrality(g: GraphLike) -> Numbers:
    """Closeness of each vertex: one over the mean distance to it, times the fraction of vertices that reach it.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.

    Returns
    -------
    ndarray of float64, shape (n,)
        Scores, as in networkx.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.closeness_centrality(networkx.star_graph(2)).round(4).tolist()
    [1.0, 0.6667, 0.6667]
    """
    return _graph.closeness_centrality(as_graph(g), None)


def harmonic_centrality(g: GraphLike) -> Numbers:
    """Sum of the reciprocals of the distances to each vertex.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.

    Returns
    -------
    ndarray of float64, shape (n,)
        Sums.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.harmonic_centrality(networkx.path_graph(3)).tolist()
    [1.5, 2.0, 1.5]
    """
    return _graph.harmonic_centrality(as_graph(g), None)


def eigenvector_centrality(g: GraphLike, *, tolerance: float = 1e-8, max_iterations: int = 1000) -> Numbers:
    """The dominant eigenvector of the adjacency matrix.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    tolerance : float, default=1e-8
        The iteration stops when the 1-norm of the change is below this.
    max_iterations : int, default=1000
        Maximum number of iterations.

    Returns
    -------
    ndarray of float64, shape (n,)
        Scores, whose squares add up to 1.

    Raises
    ------
    ValueError
        If the iteration does not converge within ``max_iterations``.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.eigenvector_centrality(networkx.cycle_graph(4)).round(6).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    return _graph.eigenvector_centrality(as_graph(g), tolerance, max_iterations, None)


def katz_centrality(
    g: GraphLike, alpha: float = 0.1, beta: float = 1.0, *, tolerance: float = 1e-8, max_iterations: int = 1000,
) -> Numbers:
    """Katz centrality: the solution of x = α·Aᵀx + β.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    alpha : float, default=0.1
        The attenuation factor, less than one over the largest eigenvalue.
    beta : float, default=1.0
        The constant score of every vertex.
    tolerance : float, default=1e-8
        The iteration stops when the 1-norm of the change is below this.
    max_iterations : int, default=1000
        Maximum number of iterations.

    Returns
    -------
    ndarray of float64, shape (n,)
        Scores, whose squares add up to 1.

    Raises
    ------
    ValueError
        If the iteration does not converge within ``max_iterations``.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.katz_centrality(networkx.cycle_graph(4)).round(6).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    return _graph.katz_centrality(as_graph(g), alpha, beta, tolerance, max_iterations, None)


def core_numbers(g: GraphLike) -> Numbers:
    """The core number of each vertex: the largest k whose k-core contains it.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.

    Returns
    -------
    ndarray of int32, shape (n,)
        Core numbers of the simple undirected graph.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.core_numbers(networkx.lollipop_graph(3, 1)).tolist()
    [2, 2, 2, 1]
    """
    return _graph.core_numbers(as_graph(g), None)


def k_truss(g: GraphLike, k: int) -> Numbers:
    """Edges of the k-truss, the largest subgraph in which every edge is in at least k − 2 triangles.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    k : int
        The k of the k-truss.

    Returns
    -------
    ndarray of int32, shape (edges, 2)
        The two vertices of each edge, the smaller first.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.k_truss(networkx.lollipop_graph(3, 1), 3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return _graph.k_truss(as_graph(g), k)


def truss_numbers(g: GraphLike) -> tuple[Numbers, Numbers]:
    """The truss number of each edge: the largest k whose k-truss contains it.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.

    Returns
    -------
    edges : ndarray of int32, shape (edges, 2)
        The two vertices of each edge, the smaller first.
    numbers : ndarray of int32, shape (edges,)
        Their truss numbers.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> edges, numbers = sp.graph.truss_numbers(networkx.lollipop_graph(3, 1))
    >>> numbers.tolist()
    [3, 3, 3, 2]
    """
    return _graph.truss_numbers(as_graph(g))


def local_clustering(g: GraphLike) -> Numbers:
    """Clustering coefficients: the fraction of pairs of neighbors of each vertex that are adjacent.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        An undirected graph.

    Returns
    -------
    ndarray of float64, shape (n,)
        Coefficients, 0 for fewer than two neighbors.

    Raises
    ------
    ValueError
        If the graph is directed.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.local_clustering(networkx.lollipop_graph(3, 1)).round(4).tolist()
    [1.0, 1.0, 0.3333, 0.0]
    """
    return _graph.local_clustering(as_graph(g), None)


def average_clustering(g: GraphLike) -> float:
    """Mean of the local clustering coefficients.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        An undirected graph.

    Returns
    -------
    float
        The mean over all vertices.

    Raises
    ------
    ValueError
        If the graph is directed.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> round(sp.graph.average_clustering(networkx.lollipop_graph(3, 1)), 4)
    0.5833
    """
    return _graph.clustering(as_graph(g))[0]


def transitivity(g: GraphLike) -> float:
    """Transitivity: the fraction of paths of two edges that are closed.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        An undirected graph.

    Returns
    -------
    float
        Three times the number of triangles over the number of paths.

    Raises
    ------
    ValueError
        If the graph is directed.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.transitivity(networkx.lollipop_graph(3, 1))
    0.6
    """
    return _graph.clustering(as_graph(g))[1]


def louvain(
    g: GraphLike, *, resolution: float = 1.0, seed: int = 1, weight: str | None = None,
) -> tuple[Numbers, float]:
    """Communities by the Louvain method.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        An undirected graph.
    resolution : float, default=1.0
        Values above 1 give smaller communities.
    seed : int, default=1
        Seed of the random vertex order; the result does not depend on the number of threads.
    weight : str, optional
        The edge attribute with the weights, for other packages; for a matrix, any string makes its values weights. By
        default, every edge has weight 1.

    Returns
    -------
    labels : ndarray of int32, shape (n,)
        The community of each vertex, numbered from 0.
    modularity : float
        How many more edges lie inside than by chance.

    Raises
    ------
    ValueError
        If the graph is directed.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> labels, modularity = sp.graph.louvain(networkx.barbell_graph(4, 0))
    >>> labels.tolist(), round(modularity, 4)
    ([0, 0, 0, 0, 1, 1, 1, 1], 0.4231)
    """
    return _graph.communities(as_graph(g, weight=weight), "louvain", resolution, 0, seed)


def leiden(
    g: GraphLike, *, resolution: float = 1.0, iterations: int = 2, seed: int = 1, weight: str | None = None,
) -> tuple[Numbers, float]:
    """Connected communities by the Leiden method.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        An undirected graph.
    resolution : float, default=1.0
        Values above 1 give smaller communities.
    iterations : int, default=2
        Rounds of moves and refinement.
    seed : int, default=1
        Seed of the random vertex order; the result does not depend on the number of threads.
    weight : str, optional
        The edge attribute with the weights, for other packages; for a matrix, any string makes its values weights. By
        default, every edge has weight 1.

    Returns
    -------
    labels : ndarray of int32, shape (n,)
        The community of each vertex, numbered from 0.
    modularity : float
        How many more edges lie inside than by chance.

    Raises
    ------
    ValueError
        If the graph is directed.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> labels, modularity = sp.graph.leiden(networkx.barbell_graph(4, 0))
    >>> labels.tolist(), round(modularity, 4)
    ([0, 0, 0, 0, 1, 1, 1, 1], 0.4231)
    """
    return _graph.communities(as_graph(g, weight=weight), "leiden", resolution, iterations, seed)


def modularity(g: GraphLike, labels: ArrayLike, *, resolution: float = 1.0) -> float:
    """How many more edges lie inside communities than by chance.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    labels : array of shape (n,)
        The community of each vertex.
    resolution : float, default=1.0
        Values above 1 give smaller communities.

    Returns
    -------
    float
        The modularity, at most 1.

    Raises
    ------
    ValueError
        If the number of labels is not the number of vertices.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> round(sp.graph.modularity(networkx.barbell_graph(4, 0), [0] * 4 + [1] * 4), 4)
    0.4231
    """
    return _graph.modularity(as_graph(g), labels, resolution)


def label_propagation(
    g: GraphLike, iterations: int = 100, *, asynchronous: bool = False, device: str | None = None,
) -> tuple[Numbers, int, bool]:
    """Communities by label propagation. Runs on GPUs.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.
    iterations : int, default=100
        Maximum number of rounds.
    asynchronous : bool, default=False
        Updates one vertex at a time, instead of all at once.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    ndarray of int32, shape (n,)
        A vertex as the label of each vertex's community.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.label_propagation(networkx.barbell_graph(4, 0), asynchronous=True).tolist()
    [1, 1, 1, 1, 4, 4, 4, 4]
    """
    labels, _, _ = _graph.label_propagation(as_graph(g), iterations, asynchronous, device)
    return labels


def maximal_independent_set(g: GraphLike) -> Numbers:
    """A maximal independent set.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.

    Returns
    -------
    ndarray of int32
        The vertices, in increasing order.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.maximal_independent_set(networkx.path_graph(3)).tolist()
    [0, 2]
    """
    return _graph.maximal_independent_set(as_graph(g), None)


def greedy_coloring(g: GraphLike) -> tuple[Numbers, int]:
    """A greedy coloring of the vertices.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        The graph.

    Returns
    -------
    colors : ndarray of int32, shape (n,)
        Colors from 0.
    count : int
        The number of colors.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> colors, count = sp.graph.greedy_coloring(networkx.cycle_graph(4))
    >>> count
    2
    """
    return _graph.greedy_coloring(as_graph(g))


def minimum_spanning_forest(g: GraphLike, *, weight: str | None = "weight") -> tuple[Numbers, float]:
    """A minimum spanning tree of each component.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        An undirected graph.
    weight : str, default="weight"
        The edge attribute with the weights, for other packages; the weights of a matrix are its values.

    Returns
    -------
    edges : ndarray of int32, shape (edges, 2)
        The two vertices of each edge.
    weight : float
        The total weight.

    Raises
    ------
    ValueError
        If the graph is directed.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> edges, weight = sp.graph.minimum_spanning_forest(networkx.cycle_graph(4))
    >>> edges.tolist(), weight
    ([[0, 1], [0, 3], [1, 2]], 3.0)
    """
    return _graph.minimum_spanning_forest(as_graph(g, weight=weight))


def topological_order(g: GraphLike) -> Numbers:
    """A topological order of the vertices.

    Parameters
    ----------
    g : Graph, sparse matrix, networkx.Graph or igraph.Graph
        A directed graph.

    Returns
    -------
    ndarray of int32, shape (n,)
        The lexicographically smallest topological order.

    Raises
    ------
    ValueError
        If there is a cycle.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.topological_order(networkx.DiGraph([(0, 1), (0, 2), (2, 1)])).tolist()
    [0, 2, 1]
    """
    return _graph.topological_order(as_graph(g), None)


def triangles(a: Any, *, device: str | None = None) -> int:
    """Number of triangles of the simple undirected graph of a square matrix. Runs on GPUs.

    Parameters
    ----------
    a : sparse matrix, Graph, networkx.Graph or igraph.Graph
        A square matrix; the graph has an edge where it or its transpose has an entry off the diagonal.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        If the matrix is not square.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.triangles(networkx.complete_graph(4))
    4
    """
    return _graph.triangles(_matrix_of(a), device)


def triangles_per_vertex(a: Any, *, device: str | None = None) -> Numbers:
    """Number of triangles of each vertex in the simple undirected graph. Runs on GPUs.

    Parameters
    ----------
    a : sparse matrix, Graph, networkx.Graph or igraph.Graph
        A square matrix; the graph has an edge where it or its transpose has an entry off the diagonal.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    ndarray of uint64, shape (n,)
        Numbers, which add up to three times the number of triangles.

    Raises
    ------
    ValueError
        If the matrix is not square.

    Examples
    --------
    >>> import networkx, sparring as sp
    >>> sp.graph.triangles_per_vertex(networkx.lollipop_graph(3, 1)).tolist()
    [1, 1, 1, 0]
    """
    return _graph.triangles_per_vertex(_matrix_of(a), device)


def bipartite_matching(a: Any) -> tuple[Numbers, Numbers]:
    """A maximum matching of the rows and columns of a matrix along its entries.

    Parameters
    ----------
    a : sparse matrix, Graph, networkx.Graph or igraph.Graph
        A matrix of any shape.

    Returns
    -------
    columns : ndarray of int32, shape (rows,)
        The column of each row, -1 if unmatched.
    rows : ndarray of int32, shape (columns,)
        The row of each column, -1 if unmatched.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sparring as sp
    >>> columns, rows = sp.graph.bipartite_matching(scipy.sparse.csr_array(np.array([[1, 1], [1, 0]])))
    >>> columns.tolist(), rows.tolist()
    ([1, 0], [1, 0])
    """
    return _graph.bipartite_matching(a)


def _package(g):
    """The package of an object's class."""
    return str(type(g).__module__).partition(".")[0]


def _matrix_of(a):
    if isinstance(a, Graph) or _package(a) in ("networkx", "igraph"):
        return as_graph(a).matrix()
    return a
