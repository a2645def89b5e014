"""Exact nearest neighbors and distances between rows of sparse matrices, by any metric.

A metric is a name that :func:`metrics` lists, or a formula of ``a`` and ``b`` for what each column adds to the distance:
``"abs(a-b) / (a+b+1)"``. Rows are those of sparse matrices, or of dense arrays.

>>> import numpy as np, scipy.sparse, sparring as sp
>>> x = scipy.sparse.csr_array(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 9.0]]))
>>> distances, indices = sp.neighbors.kneighbors(x, k=2)
>>> indices.tolist()
[[0, 1], [1, 0], [2, 0]]
>>> sp.neighbors.pairwise_distances(x, metric="manhattan")[0].tolist()
[0.0, 1.0, 10.0]

The estimators of scikit-learn's contract (``NearestNeighbors``, ``KNeighborsTransformer``,
``RadiusNeighborsTransformer``, ``KNeighborsClassifier``, ``KNeighborsRegressor``) need scikit-learn.
"""

from . import _sparring

_neighbors = _sparring._neighbors
Index = _neighbors.Index
metrics = _neighbors.metrics

_ESTIMATORS = (
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "NearestNeighbors",
    "RadiusNeighborsTransformer",
)

__all__ = [
    "Index",
    "kneighbors",
    "kneighbors_graph",
    "metrics",
    "pairwise_distances",
    "radius_neighbors_graph",
    *_ESTIMATORS,
]


def __getattr__(name):
    if name in _ESTIMATORS:
        from . import _estimators

        return getattr(_estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _rows(x):
    """Rows as a sparse matrix: those of a dense array too."""
    import numpy as np

    if isinstance(x, (np.ndarray, list, tuple)):
        import scipy.sparse

        if isinstance(x, np.ma.MaskedArray):
            raise TypeError("rows: a masked array; a.filled(x) is one without gaps")
        dense = np.asarray(x)
        if dense.ndim != 2:
            raise ValueError(f"rows of a matrix were expected, not an array of {dense.ndim} dimensions")
        return scipy.sparse.csr_array(dense)
    return x


def kneighbors(
    x, y=None, *, k=5, metric="euclidean", p=None, normalize=None, single=False, exclude_self=False, device=None
):
    """Distances to the k nearest rows of Y for each row of X, and their numbers: n rows of k each, the nearest first.

    Parameters
    ----------
    x, y : sparse matrix or array
        Rows that ask and rows that answer; without ``y`` the rows of ``x`` among themselves.
    k : int
        Neighbors of each row; fewer where there are fewer rows.
    metric : str
        A name or a formula.
    p : float, optional
        Exponent of minkowski.
    normalize : bool, optional
        Divides rows by their sums first, for metrics of distributions.
    single : bool
        Computes in float32 where the rows are of float32.
    exclude_self : bool
        Leaves each row out of its own neighbors.
    device : str, optional
    """
    y = None if y is None else _rows(y)
    indices, distances, _ = _neighbors.nearest(_rows(x), y, k, metric, p, normalize, single, exclude_self, device)
    return distances, indices


def kneighbors_graph(x, y=None, *, k=5, mode="connectivity", **settings):
    """The graph of the k nearest neighbors: a ``csr_array`` of ones, or of distances with ``mode="distance"``."""
    x, y = _rows(x), None if y is None else _rows(y)
    distances, indices = kneighbors(x, y, k=k, **settings)
    n, m = indices.shape[0], (x if y is None else y).shape[0]
    return _graph_of(distances, indices, m, mode) if indices.size else _empty(n, m)


def _empty(n, m):
    import scipy.sparse

    return scipy.sparse.csr_array((n, m))


def _graph_of(distances, indices, columns, mode):
    import numpy as np
    import scipy.sparse

    n, k = indices.shape
    if mode not in ("connectivity", "distance"):
        raise ValueError(f"mode: {mode!r} is neither 'connectivity' nor 'distance'")
    data = np.ones(indices.size) if mode == "connectivity" else distances.ravel()
    return scipy.sparse.csr_array((data, indices.ravel(), np.arange(0, n * k + 1, max(k, 1))[: n + 1]), (n, columns))


def radius_neighbors_graph(
    x, y=None, *, radius=1.0, metric="euclidean", mode="distance", p=None, normalize=None, single=False,
    exclude_self=False, device=None
):
    """The rows of Y at most ``radius`` away from each row of X: a ``csr_array`` of distances, zeros stored, or of ones."""
    y = None if y is None else _rows(y)
    found = _neighbors.within(_rows(x), y, radius, metric, p, normalize, single, exclude_self, device).to_scipy()
    if mode == "distance":
        return found
    if mode != "connectivity":
        raise ValueError(f"mode: {mode!r} is neither 'connectivity' nor 'distance'")
    found = found.copy()
    found.data[:] = 1
    return found


def pairwise_distances(x, y=None, *, metric="euclidean", p=None, normalize=None, single=False, device=None):
    """All distances between rows of X and rows of Y, or of X among themselves: a dense array."""
    y = None if y is None else _rows(y)
    return _neighbors.distances(_rows(x), y, metric, p, normalize, single, device)
