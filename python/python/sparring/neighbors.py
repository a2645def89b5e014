"""Exact nearest neighbors and distances between rows of sparse matrices, by any metric.

A metric is a name from :func:`metrics`, or a formula of ``a`` and ``b`` for the term of a column:
``"abs(a-b) / (a+b+1)"``. Rows come from sparse matrices or dense arrays.

>>> import numpy as np, scipy.sparse, sparring as sp
>>> x = scipy.sparse.csr_array(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 9.0]]))
>>> distances, indices = sp.neighbors.kneighbors(x, k=2)
>>> indices.tolist()
[[0, 1], [1, 0], [2, 0]]
>>> sp.neighbors.pairwise_distances(x, metric="manhattan")[0].tolist()
[0.0, 1.0, 10.0]

The estimators need scikit-learn: ``NearestNeighbors``, ``KNeighborsTransformer``,
``RadiusNeighborsTransformer``, ``KNeighborsClassifier``, ``KNeighborsRegressor``, ``RadiusNeighborsClassifier``,
``RadiusNeighborsRegressor``.
"""

import warnings

from . import _sparring

_neighbors = _sparring._neighbors
Index = _neighbors.Index
metrics = _neighbors.metrics

_ESTIMATORS = (
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
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


# scikit-learn's other names for metrics, and metrics that are delegated to it.
_NAMES = {"cityblock": "manhattan", "infinity": "chebyshev", "l1": "manhattan", "l2": "euclidean", "p": "minkowski"}
_ELSEWHERE = {"haversine", "mahalanobis", "nan_euclidean", "precomputed", "pyfunc", "seuclidean"}
_SHORT = {1.0: "manhattan", 2.0: "euclidean", float("inf"): "chebyshev"}


def _resolve(metric, p=2, metric_params=None):
    """The name and exponent of a metric of this package; None for one that scikit-learn computes."""
    params = dict(metric_params or {})
    if "p" in params:
        if p is not None:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
                SyntaxWarning,
                stacklevel=4,
            )
        p = params.pop("p")
    if params or not isinstance(metric, str) or metric in _ELSEWHERE:
        return None
    metric = _NAMES.get(metric, metric)
    if metric != "minkowski":
        return metric, None
    p = 2.0 if p is None else float(p)
    if p in _SHORT:
        return _SHORT[p], None
    # Below 1 it is not a metric; scikit-learn warns about it.
    return (metric, p) if p >= 1 else None


def _rows(x):
    """Rows as a sparse matrix, also from a dense array or a data frame."""
    import sys

    import numpy as np

    if isinstance(x, (np.ndarray, list, tuple)) or type(x).__module__.partition(".")[0] in ("pandas", "polars"):
        import scipy.sparse

        if isinstance(x, np.ma.MaskedArray):
            raise TypeError("rows: a masked array is not supported; use a.filled(x)")
        dense = np.asarray(x)
        if dense.ndim != 2:
            raise ValueError(f"rows of a matrix were expected, not an array of {dense.ndim} dimensions")
        if dense.dtype.kind in "SUV":
            raise TypeError(f"rows of numbers were expected, not of {dense.dtype}")
        if dense.dtype.kind == "O" or dense.dtype.kind == "f" and dense.dtype.itemsize not in (4, 8):
            dense = dense.astype(np.float64)
        return scipy.sparse.csr_array(dense.astype(dense.dtype.newbyteorder("="), copy=False))
    if not hasattr(x, "shape"):
        raise TypeError(f"rows of a matrix were expected, not {type(x).__name__}")
    scipy_sparse = sys.modules.get("scipy.sparse")
    if scipy_sparse is not None and scipy_sparse.issparse(x) and not getattr(x, "has_canonical_format", True):
        # Duplicates represent their sum, as in SciPy.
        x = x.copy()
        x.sum_duplicates()
    return x


def kneighbors(
    x, y=None, *, k=5, metric="euclidean", p=None, normalize=None, single=False, exclude_self=False, device=None
):
    """Distances to the k nearest rows of Y for each row of X, and their indices.

    Parameters
    ----------
    x : {sparse matrix, array-like} of shape (n, d)
        Query rows.
    y : {sparse matrix, array-like} of shape (m, d), optional
        Searched rows; the rows of ``x`` by default.
    k : int, default=5
        Neighbors per row; fewer if there are fewer rows.
    metric : str, default="euclidean"
        A name from :func:`metrics`, or a formula of ``a`` and ``b`` for the term of a column.
    p : float, optional
        Exponent of minkowski.
    normalize : bool, optional
        Normalizes rows by their sums; the default for metrics of distributions.
    single : bool, default=False
        Computes in float32 if the rows are float32.
    exclude_self : bool, default=False
        Excludes each row from its own neighbors.
    device : str, optional
        ``"cuda:0"`` searches on a GPU.

    Returns
    -------
    distances : ndarray of shape (n, k)
        Sorted, the nearest first.
    indices : ndarray of shape (n, k)
        Row indices; ties are ordered by index.

    Raises
    ------
    ValueError
        If the metric is unknown, rows differ in length, or values are not finite or not of the metric's domain.
    TypeError
        If values are complex, or an argument is not a matrix.

    Examples
    --------
    >>> import sparring as sp
    >>> distances, indices = sp.neighbors.kneighbors([[0.0, 1], [0, 3], [5, 0]], k=2, metric="manhattan")
    >>> distances.tolist(), indices.tolist()
    ([[0.0, 2.0], [0.0, 2.0], [0.0, 6.0]], [[0, 1], [1, 0], [2, 0]])
    """
    y = None if y is None else _rows(y)
    indices, distances, _ = _neighbors.nearest(_rows(x), y, k, metric, p, normalize, single, exclude_self, device)
    return distances, indices


def _within(x, y, radius, metric, p=None, normalize=None, single=False, exclude_self=False, device=None):
    """A matrix of distances with writable arrays of its own."""
    return _neighbors.within(x, y, radius, metric, p, normalize, single, exclude_self, device).to_scipy().copy()


def _kind(x):
    """The class of a graph for X: ``csr_array`` for sparse arrays, else ``csr_matrix``, as in scikit-learn."""
    import scipy.sparse

    return scipy.sparse.csr_array if isinstance(x, scipy.sparse.sparray) else scipy.sparse.csr_matrix


def _graph_of(distances, indices, columns, mode):
    import numpy as np
    import scipy.sparse

    n, k = indices.shape
    data = np.ones(indices.size) if mode == "connectivity" else distances.ravel()
    return scipy.sparse.csr_array((data, indices.ravel(), np.arange(0, n * k + 1, max(k, 1))[: n + 1]), (n, columns))


def _include_self(include_self, mode):
    if mode not in ("connectivity", "distance"):
        raise ValueError(f"mode: {mode!r} is neither 'connectivity' nor 'distance'")
    return mode == "connectivity" if include_self == "auto" else bool(include_self)


def _fitted(x, **params):
    """Whether X is a fitted estimator; its parameters must match these."""
    if not (hasattr(x, "get_params") and hasattr(x, "_fit_X")):
        return False
    for name, value in params.items():
        if x.get_params()[name] != value:
            raise ValueError(f"{name}: {value!r}, but the estimator has {x.get_params()[name]!r}")
    return True


def kneighbors_graph(
    X, n_neighbors=5, *, Y=None, mode="connectivity", metric="minkowski", p=2, metric_params=None, include_self=False,
    n_jobs=None, normalize=None, single=False, device=None
):
    """The nearest neighbor graph of the rows of X.

    Parameters
    ----------
    X : {sparse matrix, array-like} of shape (n, d)
        Rows, or an estimator fitted to them with the same metric.
    n_neighbors : int, default=5
        Neighbors per row.
    Y : {sparse matrix, array-like} of shape (m, d), optional
        Searched rows; the rows of X by default.
    mode : {"connectivity", "distance"}, default="connectivity"
        Whether entries are ones or distances.
    metric : str or callable, default="minkowski"
        A name from :func:`metrics`, a formula, or any metric of scikit-learn.
    p : float, default=2
        Exponent of minkowski.
    metric_params : dict, optional
        Additional arguments of a metric computed by scikit-learn.
    include_self : bool or "auto", default=False
        Whether a row is its own neighbor; ``"auto"``: if entries are ones.
    n_jobs : int, optional
        For compatibility with scikit-learn; see :func:`sparring.set_threads`.
    normalize : bool, optional
        Normalizes rows by their sums; the default for metrics of distributions.
    single : bool, default=False
        Computes in float32 if the rows are float32.
    device : str, optional
        ``"cuda:0"`` searches on a GPU.

    Returns
    -------
    csr_array or csr_matrix of shape (n, n) or (n, m)
        A ``csr_array`` if X is a sparse array. The entries of a row are sorted by distance; zeros are stored.

    Raises
    ------
    ValueError
        If the metric is unknown, there are fewer rows than neighbors, or values are not finite.

    Examples
    --------
    >>> import sparring as sp
    >>> sp.neighbors.kneighbors_graph([[0.0], [1.0], [3.0]], 1, mode="distance").toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    """
    with_self = _include_self(include_self, mode)
    if _fitted(X, metric=metric, p=p, metric_params=metric_params):
        return X.kneighbors_graph(X._fit_X if with_self else None, n_neighbors, mode)
    resolved = _resolve(metric, p, metric_params)
    if resolved is None:
        model = __getattr__("NearestNeighbors")(
            n_neighbors=n_neighbors, metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs, device=device
        ).fit(X if Y is None else Y)
        return _kind(X)(model.kneighbors_graph(X if with_self or Y is not None else None, mode=mode))
    rows, others = _rows(X), None if Y is None else _rows(Y)
    columns = (rows if others is None else others).shape[0]
    alone = others is None and not with_self
    if not 0 < n_neighbors <= columns - alone:
        raise ValueError(f"n_neighbors: {n_neighbors} of {columns} rows" + (", each without itself" if alone else ""))
    distances, indices = kneighbors(
        rows, others, k=n_neighbors, metric=resolved[0], p=resolved[1], normalize=normalize, single=single,
        exclude_self=alone, device=device
    )
    return _kind(X)(_graph_of(distances, indices, columns, mode))


def radius_neighbors_graph(
    X, radius=1.0, *, Y=None, mode="connectivity", metric="minkowski", p=2, metric_params=None, include_self=False,
    n_jobs=None, normalize=None, single=False, device=None
):
    """The graph of the neighbors within ``radius`` of each row of X.

    Parameters
    ----------
    X : {sparse matrix, array-like} of shape (n, d)
        Rows, or an estimator fitted to them with the same metric.
    radius : float, default=1.0
        Maximum distance of a neighbor.
    Y : {sparse matrix, array-like} of shape (m, d), optional
        Searched rows; the rows of X by default.
    mode : {"connectivity", "distance"}, default="connectivity"
        Whether entries are ones or distances.
    metric : str or callable, default="minkowski"
        A name from :func:`metrics`, a formula, or any metric of scikit-learn.
    p : float, default=2
        Exponent of minkowski.
    metric_params : dict, optional
        Additional arguments of a metric computed by scikit-learn.
    include_self : bool or "auto", default=False
        Whether a row is its own neighbor; ``"auto"``: if entries are ones.
    n_jobs : int, optional
        For compatibility with scikit-learn; see :func:`sparring.set_threads`.
    normalize : bool, optional
        Normalizes rows by their sums; the default for metrics of distributions.
    single : bool, default=False
        Computes in float32 if the rows are float32.
    device : str, optional
        ``"cuda:0"`` searches on a GPU.

    Returns
    -------
    csr_array or csr_matrix of shape (n, n) or (n, m)
        A ``csr_array`` if X is a sparse array. The entries of a row are sorted by column; zeros are stored.

    Raises
    ------
    ValueError
        If the metric is unknown, the radius is NaN, or values are not finite.

    Examples
    --------
    >>> import sparring as sp
    >>> sp.neighbors.radius_neighbors_graph([[0.0], [1.0], [3.0]], 1.5).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    with_self = _include_self(include_self, mode)
    if _fitted(X, metric=metric, p=p, metric_params=metric_params):
        return X.radius_neighbors_graph(X._fit_X if with_self else None, radius, mode)
    resolved = _resolve(metric, p, metric_params)
    if resolved is None:
        model = __getattr__("NearestNeighbors")(
            radius=radius, metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs, device=device
        ).fit(X if Y is None else Y)
        return _kind(X)(model.radius_neighbors_graph(X if with_self or Y is not None else None, mode=mode))
    others = None if Y is None else _rows(Y)
    alone = others is None and not with_self
    found = _within(_rows(X), others, radius, *resolved, normalize, single, alone, device)
    if mode == "connectivity":
        import numpy as np

        found.data = np.ones(found.nnz)
    return _kind(X)(found)


def pairwise_distances(
    X, Y=None, metric="euclidean", *, n_jobs=None, ensure_all_finite=True, p=2, normalize=None, single=False,
    device=None, **params
):
    """All distances between the rows of X and of Y, or between the rows of X.

    Parameters
    ----------
    X : {sparse matrix, array-like} of shape (n, d)
        Rows.
    Y : {sparse matrix, array-like} of shape (m, d), optional
        Second set of rows; the rows of X by default.
    metric : str or callable, default="euclidean"
        A name from :func:`metrics`, a formula, or any metric of scikit-learn, which then computes it.
    n_jobs : int, optional
        For compatibility with scikit-learn; see :func:`sparring.set_threads`.
    ensure_all_finite : bool or "allow-nan", default=True
        Passed to scikit-learn with its metrics; metrics of this package accept only finite values.
    p : float, default=2
        Exponent of minkowski.
    normalize : bool, optional
        Normalizes rows by their sums; the default for metrics of distributions.
    single : bool, default=False
        Computes in float32 if the rows are float32.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.
    **params
        Additional arguments of a metric computed by scikit-learn.

    Returns
    -------
    ndarray of shape (n, n) or (n, m)
        Distances, float32 if the rows are float32.

    Raises
    ------
    ValueError
        If the metric is unknown, rows differ in length, or values are not finite or not of the metric's domain.

    Examples
    --------
    >>> import sparring as sp
    >>> sp.neighbors.pairwise_distances([[0.0, 1], [3, 5]], metric="manhattan").tolist()
    [[0.0, 7.0], [7.0, 0.0]]
    """
    resolved = _resolve(metric, p, params)
    if resolved is None:
        if device is not None:
            raise ValueError(f"metric: {metric!r} is computed by scikit-learn, without the device {device!r}")
        if metric == "minkowski":
            params = {"p": p, **params}
        if ensure_all_finite is not True:
            params["ensure_all_finite"] = ensure_all_finite
        from . import _estimators

        return _estimators._DISTANCES(X, Y, metric, n_jobs=n_jobs, **params)
    return _neighbors.distances(_rows(X), None if Y is None else _rows(Y), *resolved, normalize, single, device)
