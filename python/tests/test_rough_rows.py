"""Unprepared rows, valid and invalid: our result equals scikit-learn's, or the reason for the difference is stated."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
import sparring as sp
from scipy.spatial.distance import cdist

sklearn = pytest.importorskip("sklearn.neighbors")
joblib = pytest.importorskip("joblib")

RNG = np.random.default_rng(0)
# Without rows of zeros.
DENSE = RNG.integers(0, 4, (20, 6)) * (RNG.random((20, 6)) < 0.6) * 1.0
DENSE[~DENSE.any(axis=1), 2] = 3


def with_value(value):
    a = DENSE.copy()
    a[3, 2] = value
    return a


def reversed_rows():
    a = scipy.sparse.csr_matrix(DENSE)
    for start, end in zip(a.indptr, a.indptr[1:]):
        a.indices[start:end], a.data[start:end] = a.indices[start:end][::-1].copy(), a.data[start:end][::-1].copy()
    a.has_sorted_indices = False
    return a


def read_only(a):
    for part in (a.data, a.indices, a.indptr):
        part.flags.writeable = False
    return a


def explicit_zeros():
    a = scipy.sparse.csr_array(DENSE)
    full = scipy.sparse.csr_array((np.zeros(120), np.tile(np.arange(6), 20), np.arange(0, 121, 6)), shape=(20, 6))
    full.data[np.repeat(np.arange(20) * 6, np.diff(a.indptr)) + a.indices] = a.data
    return full


def repeated_entries():
    a = scipy.sparse.csr_array(DENSE)
    halves = np.repeat(a.data / 2, 2), np.repeat(a.indices, 2), 2 * a.indptr
    return scipy.sparse.csr_array(halves, shape=a.shape)


def wide_indices():
    a = scipy.sparse.csr_matrix(DENSE)
    a.indices, a.indptr = a.indices.astype("int64"), a.indptr.astype("int64")
    return a


def strided():
    return np.repeat(DENSE, 2, axis=0)[::2]


TYPES = ["float32", "float16", "longdouble", "int64", "uint8", "object"]
FORMATS = ["csc", "coo", "lil", "dok", "bsr", "dia"]
KINDS = {
    "dense": lambda: DENSE,
    "lists": lambda: DENSE.tolist(),
    "fortran": lambda: np.asfortranarray(DENSE),
    "strided": strided,
    "big-endian": lambda: DENSE.astype(">f8"),
    "read-only": lambda: np.frombuffer(DENSE.tobytes()).reshape(DENSE.shape),
    **{name: (lambda name=name: DENSE.astype(name)) for name in TYPES},
    **{name: (lambda name=name: scipy.sparse.csr_matrix(DENSE).asformat(name)) for name in FORMATS},
    "csr_array": lambda: scipy.sparse.csr_array(DENSE),
    "sparse int": lambda: scipy.sparse.csr_matrix(DENSE.astype(int)),
    "sparse read-only": lambda: read_only(scipy.sparse.csr_matrix(DENSE)),
    "rows reversed": reversed_rows,
    "explicit zeros": explicit_zeros,
    "repeated entries": repeated_entries,
    "wide indices": wide_indices,
}


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_rows(kind, metric):
    x = KINDS[kind]()
    all_pairs = np.sort(cdist(DENSE, DENSE, {"manhattan": "cityblock"}.get(metric, metric)), axis=1)[:, :4]
    close = dict(atol=1e-6, rtol=1e-5)
    model = sp.neighbors.NearestNeighbors(n_neighbors=4, metric=metric).fit(x)
    np.testing.assert_allclose(model.kneighbors(x)[0], all_pairs, **close)
    graph = sp.neighbors.kneighbors_graph(x, 4, metric=metric, mode="distance", include_self=True)
    np.testing.assert_allclose(graph.data.reshape(20, 4), all_pairs, **close)
    np.testing.assert_allclose(sp.neighbors.kneighbors(x, k=4, metric=metric)[0], all_pairs, **close)
    found = np.sort(sp.neighbors.pairwise_distances(x, metric=metric), axis=1)[:, :4]
    np.testing.assert_allclose(found, all_pairs, **close)


WRONG = {
    "nan": lambda: with_value(np.nan),
    "inf": lambda: with_value(np.inf),
    "sparse nan": lambda: scipy.sparse.csr_matrix(with_value(np.nan)),
    "sparse inf": lambda: scipy.sparse.csr_array(with_value(-np.inf)),
    "complex": lambda: DENSE + 0j,
    "sparse complex": lambda: scipy.sparse.csr_matrix(DENSE + 0j),
    "strings": lambda: DENSE.astype(str),
    "words": lambda: np.array([["a", "b"]] * 20),
    "bytes": lambda: np.array([[b"a", b"b"]] * 20),
    "one row": lambda: DENSE[0],
    "three dimensions": lambda: DENSE[None],
    "no rows": lambda: np.empty((0, 6)),
    "sparse no rows": lambda: scipy.sparse.csr_matrix((0, 6)),
    "a number": lambda: 3.0,
    "nothing": lambda: None,
    "ragged": lambda: [[1, 2], [3]],
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_rows(kind):
    with pytest.raises((ValueError, TypeError)) as theirs:
        sklearn.NearestNeighbors().fit(WRONG[kind]())
    for name in sp.neighbors._ESTIMATORS:
        model = getattr(sp.neighbors, name)()
        with pytest.raises(theirs.type) as ours:
            model.fit(WRONG[kind](), np.arange(20)) if hasattr(model, "predict") else model.fit(WRONG[kind]())
        if kind not in ("bytes", "ragged"):
            first = [str(error.value).split("\n")[0] for error in (ours, theirs)]
            assert first[0].replace(name, "NearestNeighbors") == first[1]
    for name in ["kneighbors_graph", "radius_neighbors_graph", "pairwise_distances"]:
        if "no rows" not in kind:
            with pytest.raises((ValueError, TypeError)):
                getattr(sp.neighbors, name)(WRONG[kind]())
    assert sp.neighbors.pairwise_distances(np.empty((0, 6))).shape == (0, 0)


def test_rows_of_zeros():
    x = DENSE.copy()
    x[[2, 5, 7]] = 0
    for metric in ["euclidean", "manhattan", "cosine", "correlation", "jaccard", "braycurtis", "canberra"]:
        found = sp.neighbors.pairwise_distances(scipy.sparse.csr_array(x), metric=metric)
        assert np.isfinite(found).all()
        # Equal rows are at distance 0, also for metrics that divide by a norm; scikit-learn's cosine distance of these
        # is 1.
        assert found[2, 5] == found[5, 7] == found[2, 2] == 0
    near = sp.neighbors.NearestNeighbors(n_neighbors=3, metric="cosine").fit(x)
    distances, indices = near.kneighbors(x[[2]])
    assert indices.tolist() == [[2, 5, 7]] and not distances.any()
    others = [0, 1, 3, 4]
    theirs = sklearn.NearestNeighbors(n_neighbors=3, metric="cosine").fit(x).kneighbors(x[others])[0]
    np.testing.assert_allclose(near.kneighbors(x[others])[0], theirs, atol=1e-7)
    nothing = scipy.sparse.csr_matrix((20, 6))
    distances, indices = sp.neighbors.NearestNeighbors(n_neighbors=2).fit(nothing).kneighbors(nothing)
    assert not distances.any() and (indices == [0, 1]).all()
    graph = sp.neighbors.radius_neighbors_graph(nothing, 0.0, mode="distance")
    assert graph.nnz == 20 * 19 and not graph.data.any()


def test_equal_rows():
    x = np.repeat(DENSE[:10], 2, axis=0)
    ours = sp.neighbors.NearestNeighbors(n_neighbors=3).fit(x)
    theirs = sklearn.NearestNeighbors(n_neighbors=3, algorithm="brute").fit(x)
    np.testing.assert_allclose(ours.kneighbors()[0], theirs.kneighbors()[0], atol=1e-6)
    indices = ours.kneighbors()[1]
    assert (indices[:, 0] == np.arange(20) ^ 1).all() and not (indices == np.arange(20)[:, None]).any()
    # Ties go to the lowest index, whether it is the row itself or not.
    assert (ours.kneighbors(x)[1][:, 0] == np.arange(20) // 2 * 2).all()


def test_numbers_of_neighbors():
    ours, theirs = sp.neighbors.NearestNeighbors().fit(DENSE), sklearn.NearestNeighbors().fit(DENSE)
    for query, k in [(DENSE, 21), (None, 20), (DENSE, 0), (DENSE, -1), (DENSE, 2.5), (DENSE, "3")]:
        with pytest.raises((ValueError, TypeError)) as expected:
            theirs.kneighbors(query, k)
        with pytest.raises((ValueError, TypeError)) as found:
            ours.kneighbors(query, k)
        if k not in (2.5, "3"):
            assert str(found.value) == str(expected.value)
    for query, k in [(DENSE, 20), (None, 19), (DENSE[:1], 1), (DENSE, np.int32(3))]:
        np.testing.assert_allclose(ours.kneighbors(query, k)[0], theirs.kneighbors(query, k)[0], atol=1e-6)
    assert not any(map(len, ours.radius_neighbors(DENSE, -1.0)[1]))
    for radius in [np.nan, "far"]:
        with pytest.raises((ValueError, TypeError)):
            ours.radius_neighbors(DENSE, radius)
    assert sum(map(len, ours.radius_neighbors(DENSE, np.inf)[1])) == 400
    with pytest.raises(ValueError, match="20 of 20 rows, each without itself"):
        sp.neighbors.kneighbors_graph(DENSE, 20)
    with pytest.raises(ValueError, match="expecting 6 features"):
        ours.kneighbors(DENSE[:, :5])
    for metric in ["cosin", "a +", ""]:
        with pytest.raises(ValueError):
            sp.neighbors.NearestNeighbors(metric=metric).fit(DENSE)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_frames_have_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(DENSE, columns=list("abcdef"))
    model = sp.neighbors.NearestNeighbors(n_neighbors=3).fit(frame)
    assert model.feature_names_in_.tolist() == list("abcdef")
    expected = sklearn.NearestNeighbors(n_neighbors=3).fit(DENSE).kneighbors(DENSE)[0]
    np.testing.assert_allclose(model.kneighbors(frame)[0], expected, atol=1e-6)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.kneighbors(DENSE)
    with pytest.raises(ValueError, match="feature names should match"):
        model.kneighbors(frame.rename(columns={"a": "z"}))
    with pytest.raises(TypeError, match="only supported if all"):
        sp.neighbors.NearestNeighbors().fit(frame.rename(columns={"a": 1}))
    for other in [frame.astype("float32"), frame.astype("Int64"), pandas.DataFrame(DENSE)]:
        np.testing.assert_allclose(sp.neighbors.kneighbors(other, k=3)[0], expected, atol=1e-6)
    with pytest.raises(ValueError, match="could not convert"):
        sp.neighbors.pairwise_distances(frame.assign(a="x"))
    names = sp.neighbors.KNeighborsTransformer().fit(frame).get_feature_names_out()
    assert names[0] == "kneighborstransformer0" and len(names) == 20
    labels = pandas.Series(np.arange(20) % 2, index=np.arange(20)[::-1])
    assert (sp.neighbors.KNeighborsClassifier(1).fit(frame, labels).predict(frame) == labels.to_numpy()).all()
    # scikit-learn does not accept np.matrix; our functions do.
    with pytest.raises(TypeError, match="np.matrix is not supported"):
        sp.neighbors.NearestNeighbors().fit(np.matrix(DENSE))
    np.testing.assert_allclose(sp.neighbors.kneighbors(np.matrix(DENSE), k=3)[0], expected, atol=1e-6)


def test_far_and_near():
    for scale in [1e200, 1e-200]:
        found = sp.neighbors.NearestNeighbors(n_neighbors=4).fit(DENSE * scale).kneighbors()[0]
        expected = sp.neighbors.NearestNeighbors(n_neighbors=4).fit(DENSE).kneighbors()[0]
        np.testing.assert_allclose(found / scale, expected)


def test_other_processes(tmp_path):
    x = scipy.sparse.csr_matrix(DENSE)
    model = sp.neighbors.NearestNeighbors(n_neighbors=3, metric="cosine").fit(x)
    expected = model.kneighbors(x)
    for again in [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]:
        np.testing.assert_array_equal(again.kneighbors(x)[0], expected[0])
        np.testing.assert_array_equal(again.kneighbors()[1], model.kneighbors()[1])
    for backend in ["threading", "loky"]:
        parts = joblib.Parallel(2, backend)(joblib.delayed(model.kneighbors)(part) for part in (x[:9], x[9:]))
        np.testing.assert_array_equal(np.vstack([part[1] for part in parts]), expected[1])
    from sklearn.model_selection import GridSearchCV

    labels = np.arange(20) % 2
    choices = {"n_neighbors": [1, 3], "metric": ["l1", "cosine"]}
    model = sp.neighbors.KNeighborsClassifier()
    found = [GridSearchCV(model, choices, cv=2, n_jobs=jobs).fit(x, labels).best_params_ for jobs in (1, 2)]
    assert found[0] == found[1]
    # Memory-mapped arrays, as joblib passes large arrays to processes.
    joblib.dump(DENSE, tmp_path / "rows")
    mapped = joblib.load(tmp_path / "rows", mmap_mode="r")
    found = sp.neighbors.NearestNeighbors(n_neighbors=3, metric="cosine").fit(mapped).kneighbors(mapped)
    np.testing.assert_allclose(found[0], expected[0])


def test_votes_on_wrong_labels():
    for y in [np.arange(19), np.full(20, np.nan), np.arange(20) + 0.5, None, []]:
        with pytest.raises(ValueError):
            sklearn.KNeighborsClassifier().fit(DENSE, y)
        with pytest.raises(ValueError):
            sp.neighbors.KNeighborsClassifier().fit(DENSE, y)
    with pytest.raises(ValueError, match="No neighbors found"):
        sp.neighbors.RadiusNeighborsClassifier(0.1).fit(DENSE, np.arange(20)).predict(DENSE + 9)
    with pytest.warns(UserWarning, match="no neighbors"):
        assert np.isnan(sp.neighbors.RadiusNeighborsRegressor(0.1).fit(DENSE, np.arange(20.0)).predict(DENSE + 9)).all()
    for weights in ["near", 3]:
        with pytest.raises(ValueError):
            sp.neighbors.KNeighborsRegressor(weights=weights).fit(DENSE, np.arange(20))
