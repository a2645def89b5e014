"""Neighbors and distances against scipy and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse
import scipy.spatial.distance
import sparring as sp

from test_arrays import random

METRICS = ["euclidean", "manhattan", "cosine", "chebyshev", "canberra", "correlation", "hamming"]


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_scipy(metric):
    x, y = random((12, 9), density=0.5, seed=1), random((7, 9), density=0.5, seed=2)
    name = {"manhattan": "cityblock"}.get(metric, metric)
    expected = scipy.spatial.distance.cdist(x.toarray(), y.toarray(), name)
    np.testing.assert_allclose(sp.neighbors.pairwise_distances(x, y, metric=metric), expected, atol=1e-12)


def test_neighbors_are_the_first_of_all():
    x, y = random((40, 9), density=0.4, seed=3), random((30, 9), density=0.4, seed=4)
    all_pairs = scipy.spatial.distance.cdist(x.toarray(), y.toarray())
    order = np.lexsort((np.broadcast_to(np.arange(30), all_pairs.shape), all_pairs))[:, :6]
    distances, indices = sp.neighbors.kneighbors(x, y, k=6)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_allclose(distances, np.take_along_axis(all_pairs, order, 1), atol=1e-12)
    index = sp.neighbors.Index(y, "euclidean")
    np.testing.assert_array_equal(index.kneighbors(x, 6)[1], order)
    graph = sp.neighbors.kneighbors_graph(x, y, k=6, mode="distance")
    assert graph.shape == (40, 30) and graph.nnz == 240
    within = sp.neighbors.radius_neighbors_graph(x, y, radius=4.0)
    np.testing.assert_array_equal(within.toarray() > 0, (all_pairs <= 4) & (all_pairs > 0))
    _, alone = sp.neighbors.kneighbors(x.toarray(), k=1, exclude_self=True)
    assert not (alone[:, 0] == np.arange(40)).any()


def test_formulas():
    x = random((8, 5), density=0.6, seed=5)
    dense = x.toarray()
    expected = (abs(dense[:, None] - dense) / (dense[:, None] + dense + 1)).sum(2)
    np.testing.assert_allclose(sp.neighbors.pairwise_distances(x, metric="abs(a-b) / (a+b+1)"), expected, atol=1e-12)


def test_wrong_calls():
    x = random((8, 5))
    for wrong, error in [
        (lambda: sp.neighbors.kneighbors(x, metric="euclidian"), ValueError),
        (lambda: sp.neighbors.kneighbors(x, metric="a +"), ValueError),
        (lambda: sp.neighbors.kneighbors(x, random((3, 4))), ValueError),
        (lambda: sp.neighbors.kneighbors(np.ones(3)), ValueError),
        (lambda: sp.neighbors.kneighbors(x, k=-1), OverflowError),
        (lambda: sp.neighbors.kneighbors(random(dtype="complex128")), TypeError),
        (lambda: sp.neighbors.radius_neighbors_graph(x, radius=float("nan")), ValueError),
        (lambda: sp.neighbors.kneighbors(-x, metric="kl"), ValueError),
        (lambda: sp.neighbors.nothing, AttributeError),
    ]:
        with pytest.raises(error):
            wrong()


def test_estimators():
    sklearn = pytest.importorskip("sklearn.neighbors")
    x, q = random((50, 8), density=0.5, seed=6), random((9, 8), density=0.5, seed=7)
    ours = sp.neighbors.NearestNeighbors(n_neighbors=4).fit(x)
    theirs = sklearn.NearestNeighbors(n_neighbors=4, algorithm="brute").fit(x)
    np.testing.assert_allclose(ours.kneighbors(q)[0], theirs.kneighbors(q)[0], atol=1e-6)
    np.testing.assert_allclose(ours.kneighbors()[0], theirs.kneighbors()[0], atol=1e-6)
    labels = np.arange(50) % 3
    ours = sp.neighbors.KNeighborsClassifier(n_neighbors=1).fit(x, labels)
    assert ours.score(x, labels) > 0.9
    graph = sp.neighbors.KNeighborsTransformer(n_neighbors=3).fit_transform(x)
    assert graph.shape == (50, 50) and graph.nnz == 200


@pytest.mark.parametrize("name", sp.neighbors._ESTIMATORS)
def test_the_contract_of_scikit_learn(name):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    found = checks.check_estimator(getattr(sp.neighbors, name)(), on_skip=None, on_fail=None)
    assert [(of["check_name"], of["exception"]) for of in found if of["status"] == "failed"] == []
