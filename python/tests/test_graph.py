"""Graph algorithms against networkx."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import sparring as sp


@pytest.fixture(scope="module")
def karate():
    return nx.karate_club_graph()


def test_searches_and_components(karate):
    expected = nx.single_source_shortest_path_length(karate, 5)
    np.testing.assert_array_equal(sp.graph.bfs(karate, 5), [expected[v] for v in karate])
    levels, parents = sp.graph.bfs_tree(karate, 5)
    for v in karate:
        assert parents[v] == 5 if v == 5 else levels[parents[v]] == levels[v] - 1
    np.testing.assert_array_equal(sp.graph.multi_source_bfs(karate, [5, 0])[0], levels)
    apart = nx.disjoint_union(nx.path_graph(3), nx.cycle_graph(4))
    np.testing.assert_array_equal(sp.graph.connected_components(apart), [0, 0, 0, 3, 3, 3, 3])
    assert sp.graph.bfs(apart, 0)[-1] == -1
    cycle = nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3)])
    np.testing.assert_array_equal(sp.graph.strongly_connected_components(cycle), [0, 0, 0, 3])
    np.testing.assert_array_equal(sp.graph.topological_order(nx.DiGraph([(2, 1), (1, 0)])), [0, 1, 2])
    with pytest.raises(ValueError):
        sp.graph.topological_order(cycle)


def test_weights():
    g = nx.Graph()
    g.add_weighted_edges_from([(0, 1, 4.0), (0, 2, 1.0), (2, 1, 1.5), (1, 3, 1.0)])
    order = list(g)
    expected = nx.single_source_dijkstra_path_length(g, 0)
    np.testing.assert_array_equal(sp.graph.sssp(g, 0), [expected[v] for v in order])
    distances, parents = sp.graph.sssp_tree(g, 0)
    assert parents[order.index(1)] == order.index(2)
    np.testing.assert_array_equal(sp.graph.all_pairs_shortest_paths(g)[0], distances)
    edges, weight = sp.graph.minimum_spanning_forest(g)
    assert (edges.shape, weight) == ((3, 2), 3.5)


def test_centralities(karate):
    close = lambda found, of: np.testing.assert_allclose(found, [of[v] for v in karate], atol=1e-5)
    close(sp.graph.pagerank(karate, tolerance=1e-10, max_iterations=500), nx.pagerank(karate, weight=None, tol=1e-12))
    close(sp.graph.betweenness_centrality(karate), nx.betweenness_centrality(karate))
    close(sp.graph.closeness_centrality(karate), nx.closeness_centrality(karate))
    close(sp.graph.harmonic_centrality(karate), nx.harmonic_centrality(karate))
    close(sp.graph.core_numbers(karate), nx.core_number(karate))
    close(sp.graph.local_clustering(karate), nx.clustering(karate))
    assert sp.graph.average_clustering(karate) == pytest.approx(nx.average_clustering(karate))
    assert sp.graph.transitivity(karate) == pytest.approx(nx.transitivity(karate))
    assert sp.graph.triangles(karate) == sum(nx.triangles(karate).values()) // 3
    close(sp.graph.triangles_per_vertex(karate), nx.triangles(karate))


def test_communities_sets_and_matchings(karate):
    for method in [sp.graph.louvain, sp.graph.leiden]:
        labels, modularity = method(karate)
        sets = [set(np.flatnonzero(labels == label)) for label in np.unique(labels)]
        assert modularity == pytest.approx(nx.community.modularity(karate, sets, weight=None))
        assert modularity == pytest.approx(sp.graph.modularity(karate, labels))
        assert modularity > 0.38
    assert len(sp.graph.label_propagation(karate)) == 34
    colors, count = sp.graph.greedy_coloring(karate)
    assert all(colors[u] != colors[v] for u, v in karate.edges) and count == len(set(colors.tolist()))
    independent = set(sp.graph.maximal_independent_set(karate).tolist())
    assert not any(u in independent and v in independent for u, v in karate.edges)
    rows, columns = sp.graph.bipartite_matching(scipy.sparse.csr_array(np.array([[1, 1], [1, 0]])))
    assert (rows.tolist(), columns.tolist()) == ([1, 0], [1, 0])
    assert len(sp.graph.k_truss(karate, 4)) == nx.k_truss(karate, 4).number_of_edges()


def test_graphs_of_matrices():
    g = sp.graph.Graph(scipy.sparse.csr_array(np.array([[0, 2.0], [0, 0]])), weighted=True)
    assert (g.is_directed, g.is_weighted, g.vertices, g.edges, g.degree(0)) == (True, True, 2, 1, 1)
    np.testing.assert_array_equal(g.matrix().to_scipy().toarray(), [[0, 2], [0, 0]])
    for wrong, error in [
        (lambda: sp.graph.Graph(scipy.sparse.csr_array((2, 3))), ValueError),
        (lambda: sp.graph.bfs(g, 2), (ValueError, IndexError)),
        (lambda: sp.graph.multi_source_bfs(g, [0, 5]), IndexError),
        (lambda: g.degree(2), IndexError),
        (lambda: sp.graph.pagerank(g, 1.5), ValueError),
        (lambda: sp.graph.bfs(3, 0), TypeError),
    ]:
        with pytest.raises(error):
            wrong()


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_columns_of_data_frames(package):
    module = pytest.importorskip(package)
    columns = {"u": [0, 2, 1], "v": [1, 0, 3], "w": [0.5, 2.0, 1.0]}
    frame = module.table(columns) if package == "pyarrow" else module.DataFrame(columns)
    g = sp.graph.from_edges(frame["u"], frame["v"], frame["w"])
    assert (g.vertices, g.edges, g.is_weighted) == (4, 3, True)
    assert sp.graph.sssp(g, 2).tolist() == [2.0, 2.5, 0.0, 3.5]
    m = sp.Matrix.from_coo(frame["u"], frame["v"], frame["w"], (4, 4))
    assert m[2, 0] == 2.0


def test_edges():
    assert sp.graph.from_edges([0, 1, 0], [1, 0, 1], directed=False).edges == 1
    assert sp.graph.from_edges([], []).vertices == 0
    assert sp.graph.from_edges([0], [1], vertices=5).vertices == 5
    assert sp.graph.sssp(sp.graph.from_edges([0, 0], [1, 1], [3.0, 2.0], repeated="min"), 0).tolist() == [0, 2]
    for wrong, error in [
        (lambda: sp.graph.from_edges([0, 0], [1, 1], [3.0, 2.0]), ValueError),
        (lambda: sp.graph.from_edges([0, 1], [1]), ValueError),
        (lambda: sp.graph.from_edges([0], [-1]), IndexError),
        (lambda: sp.graph.from_edges([0], [5], vertices=5), IndexError),
        (lambda: sp.graph.from_edges(["a"], ["b"]), ValueError),
        (lambda: sp.graph.from_edges([0.5], [1.0]), ValueError),
    ]:
        with pytest.raises(error):
            wrong()
