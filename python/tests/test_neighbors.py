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
    graph = sp.neighbors.kneighbors_graph(x, 6, Y=y, mode="distance")
    assert graph.shape == (40, 30) and graph.nnz == 240
    within = sp.neighbors.radius_neighbors_graph(x, 4.0, Y=y, mode="distance")
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


def test_graphs_and_distances_take_what_scikit_learn_takes():
    sklearn = pytest.importorskip("sklearn.neighbors")
    from sklearn.metrics import pairwise_distances

    x = random((30, 6), density=0.6, seed=8)
    dense = x.toarray()
    auto = {"mode": "distance", "include_self": "auto"}
    for settings in [{}, {"metric": "l1"}, {"p": 3}, {"include_self": True}, auto]:
        for rows in [dense, x]:
            if settings.get("p") == 3 and rows is x:
                continue
            expected = sklearn.kneighbors_graph(rows, 3, **settings)
            found = sp.neighbors.kneighbors_graph(rows, 3, **settings)
            assert isinstance(found, scipy.sparse.csr_array if rows is x else scipy.sparse.csr_matrix)
            np.testing.assert_allclose(found.toarray().sum(1), expected.toarray().sum(1), atol=1e-6)
            expected = sklearn.radius_neighbors_graph(rows, 4.5, **settings).toarray()
            np.testing.assert_allclose(
                sp.neighbors.radius_neighbors_graph(rows, 4.5, **settings).toarray(), expected, atol=1e-6
            )
    model = sp.neighbors.NearestNeighbors(metric="manhattan").fit(x)
    graph = sp.neighbors.kneighbors_graph(model, 4, metric="manhattan")
    np.testing.assert_array_equal(graph.toarray(), model.kneighbors_graph(n_neighbors=4).toarray())
    with pytest.raises(ValueError, match="estimator has 'manhattan'"):
        sp.neighbors.kneighbors_graph(model, 4)
    with pytest.raises(ValueError, match="30 of 30 rows, each without itself"):
        sp.neighbors.kneighbors_graph(x, 30)
    # Metrics that only scikit-learn has are computed by it, but not on devices.
    both = {"metric": "minkowski", "p": 3, "w": np.arange(6.0)}, {"metric": "seuclidean"}, {"metric": lambda a, b: a[0]}
    for settings in both:
        expected = pairwise_distances(dense, **settings)
        np.testing.assert_array_equal(sp.neighbors.pairwise_distances(dense, **settings), expected)
        with pytest.raises(ValueError, match="cuda:0"):
            sp.neighbors.pairwise_distances(dense, device="cuda:0", **settings)
    with pytest.raises(ValueError, match="cuda:0"):
        sp.neighbors.NearestNeighbors(metric="haversine", device="cuda:0").fit(dense)


def test_several_outputs_and_precomputed_distances():
    sklearn = pytest.importorskip("sklearn.neighbors")
    x, q = random((50, 8), density=0.5, seed=6), random((9, 8), density=0.5, seed=7)
    rng = np.random.default_rng(0)
    labels, values = rng.integers(0, 3, (50, 2)), rng.random((50, 2))
    for name, y in [("KNeighborsClassifier", labels), ("KNeighborsRegressor", values)]:
        for weights in ["uniform", "distance"]:
            ours = getattr(sp.neighbors, name)(7, weights=weights, metric="cosine").fit(x, y)
            theirs = getattr(sklearn, name)(7, weights=weights, metric="cosine").fit(x, y)
            np.testing.assert_allclose(ours.predict(q), theirs.predict(q))
            np.testing.assert_allclose(ours.predict(None), theirs.predict(None))
            # Parameters of the vote may change after fitting.
            ours.set_params(n_neighbors=3), theirs.set_params(n_neighbors=3)
            np.testing.assert_allclose(ours.predict(q), theirs.predict(q))
            all_pairs = sp.neighbors.pairwise_distances(x, metric="cosine")
            theirs = getattr(sp.neighbors, name)(3, weights=weights, metric="precomputed").fit(all_pairs, y)
            np.testing.assert_allclose(
                theirs.predict(sp.neighbors.pairwise_distances(q, x, metric="cosine")), ours.predict(q)
            )
    for name, y in [("RadiusNeighborsClassifier", labels[:, 0]), ("RadiusNeighborsRegressor", values)]:
        ours = getattr(sp.neighbors, name)(6.0).fit(x, y)
        theirs = getattr(sklearn, name)(6.0).fit(x, y)
        np.testing.assert_allclose(ours.predict(q), theirs.predict(q))


# scikit-learn's radius regressor fills an integer array with NaN.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("name", sp.neighbors._ESTIMATORS)
def test_the_contract_of_scikit_learn(name):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    found = checks.check_estimator(getattr(sp.neighbors, name)(), on_skip=None, on_fail=None)
    assert [(of["check_name"], of["exception"]) for of in found if of["status"] == "failed"] == []
