"""scikit-learn estimators on exact sparse neighbors.

Neighbors are found by :class:`sparring.neighbors.Index`. Votes and means are computed by scikit-learn's estimators with
``metric="precomputed"``, on the neighbor graph of this package.
"""

from numbers import Integral

import numpy as np
import scipy.sparse
import sklearn.neighbors as theirs
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.metrics import pairwise_distances as _DISTANCES
from sklearn.utils.validation import check_is_fitted, validate_data

from . import neighbors

# Users may replace names in `sklearn.neighbors` by ours, so the originals are stored here.
_SEARCH, _TREES = theirs.NearestNeighbors, (theirs.BallTree, theirs.KDTree)
_KNN_CLASSIFIER, _KNN_REGRESSOR = theirs.KNeighborsClassifier, theirs.KNeighborsRegressor
_RADIUS_CLASSIFIER, _RADIUS_REGRESSOR = theirs.RadiusNeighborsClassifier, theirs.RadiusNeighborsRegressor


class _Neighbors(BaseEstimator):
    """Indexed rows, and the parameters of a metric."""

    n_neighbors = None
    radius = None

    def _fit(self, X):
        if isinstance(X, _Neighbors):
            X = X._fit_X
        elif isinstance(X, _TREES):
            X = np.asarray(X.data)
        # Set below, depending on which package computes the metric.
        self._scikit_learn, self._index = None, None
        if self.metric == "precomputed":
            self._fit_elsewhere(X)
            self.n_features_in_, self._fit_X = self._scikit_learn.n_features_in_, self._scikit_learn._fit_X
        else:
            X = self._validated(X)
            self._fit_X = X
            resolved = neighbors._resolve(self.metric, self.p, self.metric_params)
            if resolved is None:
                self._fit_elsewhere(X)
            else:
                self.effective_metric_, p = resolved
                self.effective_metric_params_ = {} if p is None else {"p": p}
                self._asked = dict(metric=self.effective_metric_, p=p, device=self.device)
                self._index = neighbors.Index(neighbors._rows(X), **self._asked)
        self.n_samples_fit_ = self._fit_X.shape[0]
        return self

    def _fit_elsewhere(self, X):
        """Fits scikit-learn's search, for metrics that only it supports, callables, and precomputed distances."""
        if self.device is not None:
            raise ValueError(f"metric: {self.metric!r} is computed by scikit-learn, without the device {self.device!r}")
        names = "algorithm", "leaf_size", "metric", "p", "metric_params", "n_jobs"
        self._scikit_learn = _SEARCH(**{name: getattr(self, name) for name in names}).fit(X)
        self.effective_metric_ = self._scikit_learn.effective_metric_
        self.effective_metric_params_ = self._scikit_learn.effective_metric_params_

    def _validated(self, X, reset=True):
        finite = "allow-nan" if self.metric == "nan_euclidean" else True
        X = validate_data(self, X, accept_sparse="csr", ensure_all_finite=finite, reset=reset)
        return X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)

    def _query(self, X):
        """The validated query rows; scikit-learn validates precomputed distances."""
        return X if self.metric == "precomputed" else self._validated(X, reset=False)

    def __getstate__(self):
        state = super().__getstate__()
        if "_index" in state:
            state["_index"] = None
        return state

    def _the_index(self):
        if self._index is None:
            self._index = neighbors.Index(neighbors._rows(self._fit_X), **self._asked)
        return self._index

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric == "nan_euclidean"
        return tags


def _mode(mode):
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')
    return mode


class _KNeighborsMixin:
    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """Find the nearest indexed rows of each query row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), optional
            Query rows; by default the indexed rows, none of which is its own neighbor.
        n_neighbors : int, optional
            Neighbors per row, by default those of the estimator.
        return_distance : bool, default=True
            Whether distances are returned.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Sorted, the nearest first. Only with ``return_distance``.
        indices : ndarray of shape (n_queries, n_neighbors)
            Row indices; ties are ordered by index.

        Raises
        ------
        ValueError
            If there are fewer rows than neighbors, or values that are not finite.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not isinstance(k, Integral) or isinstance(k, bool):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        query = None if X is None else self._query(X)
        if self._scikit_learn is not None:
            return self._scikit_learn.kneighbors(query, k, return_distance)
        if k > self.n_samples_fit_ - (X is None):
            raise ValueError(
                f"Expected n_neighbors {'<' if X is None else '<='} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {self.n_samples_fit_}, n_samples = {(self._fit_X if X is None else query).shape[0]}"
            )
        if X is None:
            rows = neighbors._rows(self._fit_X)
            distances, indices = neighbors.kneighbors(rows, k=int(k), exclude_self=True, **self._asked)
        else:
            distances, indices = self._the_index().kneighbors(neighbors._rows(query), int(k))
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(self, X=None, n_neighbors=None, mode="connectivity"):
        """The graph of the nearest indexed rows of each query row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), optional
            Query rows; by default the indexed rows, none of which is its own neighbor.
        n_neighbors : int, optional
            Neighbors per row, by default those of the estimator.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether entries are ones or distances.

        Returns
        -------
        csr_matrix of shape (n_queries, n_samples_fit)
            The entries of a row are sorted by distance. Zeros are stored.

        Raises
        ------
        ValueError
            If there are fewer rows than neighbors, or values that are not finite.
        """
        check_is_fitted(self)
        distances, indices = self.kneighbors(X, n_neighbors)
        return scipy.sparse.csr_matrix(neighbors._graph_of(distances, indices, self.n_samples_fit_, _mode(mode)))


class _RadiusNeighborsMixin:
    def _within(self, X, radius):
        """A matrix of distances, with sorted columns."""
        check_is_fitted(self)
        radius = self.radius if radius is None else radius
        query = None if X is None else self._query(X)
        if self._scikit_learn is not None:
            found = self._scikit_learn.radius_neighbors_graph(query, radius, mode="distance")
            found.sort_indices()
            return found
        # One radius per row: search within the largest, then drop entries beyond the radius of their row.
        largest = float(np.max(radius)) if np.ndim(radius) else float(radius)
        if X is None:
            rows = neighbors._rows(self._fit_X)
            found = neighbors._within(rows, None, largest, exclude_self=True, **self._asked)
        else:
            found = self._the_index().radius_neighbors(neighbors._rows(query), largest).to_scipy().copy()
        if np.ndim(radius):
            found = found.tocoo()
            near = found.data <= np.asarray(radius)[found.row]
            entries = found.data[near], (found.row[near], found.col[near])
            found = scipy.sparse.coo_array(entries, shape=found.shape).tocsr()
        return found

    def radius_neighbors(self, X=None, radius=None, return_distance=True, sort_results=False):
        """Find the indexed rows within a radius of each query row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), optional
            Query rows; by default the indexed rows, none of which is its own neighbor.
        radius : float or array of shape (n_queries,), optional
            Maximum distance of a neighbor, by default that of the estimator.
        return_distance : bool, default=True
            Whether distances are returned.
        sort_results : bool, default=False
            Whether to sort neighbors by distance; otherwise by index.

        Returns
        -------
        distances : ndarray of shape (n_queries,)
            An array of distances per row. Only with ``return_distance``.
        indices : ndarray of shape (n_queries,)
            An array of row indices per row.

        Raises
        ------
        ValueError
            If values are not finite, or ``sort_results`` is set without ``return_distance``.
        """
        check_is_fitted(self)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        found = self._within(X, radius)
        if sort_results:
            found = _by_distance(found)
        n = found.shape[0]
        distances, indices = np.empty(n, object), np.empty(n, object)
        numbers = found.indices.astype(np.int64)
        for i, (a, b) in enumerate(zip(found.indptr, found.indptr[1:])):
            distances[i], indices[i] = found.data[a:b], numbers[a:b]
        return (distances, indices) if return_distance else indices

    def radius_neighbors_graph(self, X=None, radius=None, mode="connectivity", sort_results=False):
        """The graph of the indexed rows within a radius of each query row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), optional
            Query rows; by default the indexed rows, none of which is its own neighbor.
        radius : float or array of shape (n_queries,), optional
            Maximum distance of a neighbor, by default that of the estimator.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether entries are ones or distances.
        sort_results : bool, default=False
            Whether to sort the entries of a row by distance, if entries are distances; otherwise by column.

        Returns
        -------
        csr_matrix of shape (n_queries, n_samples_fit)
            Zeros are stored.

        Raises
        ------
        ValueError
            If values are not finite.
        """
        check_is_fitted(self)
        _mode(mode)
        found = self._within(X, radius)
        if sort_results and mode == "distance":
            found = _by_distance(found)
        data = np.ones(found.nnz) if mode == "connectivity" else found.data
        return scipy.sparse.csr_matrix((data, found.indices, found.indptr), shape=found.shape)


def _by_distance(found):
    """Sorts the entries of each row by value."""
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    order = np.lexsort((found.data, rows))
    return scipy.sparse.csr_matrix((found.data[order], found.indices[order], found.indptr), shape=found.shape)


# Shared documentation of parameters.
_METRIC = """metric : str or callable, default="minkowski"
        A name from :func:`sparring.neighbors.metrics`, or a formula of ``a`` and ``b`` for the term of a column.
        With ``"precomputed"``, the rows are distances. Callables and metrics that only scikit-learn supports are
        computed by scikit-learn.
    p : float, default=2
        Exponent of minkowski.
    metric_params : dict, optional
        Additional arguments of a metric computed by scikit-learn.
    algorithm, leaf_size, n_jobs : optional
        For compatibility with scikit-learn. Every search is exact, on the threads of :func:`sparring.set_threads`.
    device : str, optional
        ``"cuda:0"`` searches on a GPU.

"""


_WEIGHTS = """weights : {"uniform", "distance"} or callable, default="uniform"
        Weights of the votes: equal, the inverse distance, or a function of the array of distances.
"""


def _documented(cls):
    cls.__doc__ = cls.__doc__.replace("{weights}\n", _WEIGHTS).replace("{metric}\n", _METRIC)
    return cls


@_documented
class NearestNeighbors(_KNeighborsMixin, _RadiusNeighborsMixin, _Neighbors):
    """Exact nearest neighbors of rows, sparse or dense.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbors per row.
    radius : float, default=1.0
        Maximum distance of a neighbor.
    {metric}
    Examples
    --------
    >>> import sparring as sp
    >>> model = sp.neighbors.NearestNeighbors(n_neighbors=2, metric="manhattan").fit([[0.0, 1], [0, 3], [5, 0]])
    >>> distances, indices = model.kneighbors([[0.0, 2.5]])
    >>> distances.tolist(), indices.tolist()
    ([[0.5, 1.5]], [[1, 0]])
    """

    def __init__(
        self, *, n_neighbors=5, radius=1.0, algorithm="auto", leaf_size=30, metric="minkowski", p=2,
        metric_params=None, n_jobs=None, device=None
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, X, y=None):
        """Index the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; distances between them with ``metric="precomputed"``.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        NearestNeighbors
            The estimator itself.
        """
        return self._fit(X)


class _GraphTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Neighbors):
    """Transforms rows to a neighbor graph with one column per training row."""

    def fit(self, X, y=None):
        """Index the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        estimator
            The estimator itself.
        """
        self._fit(X)
        self._n_features_out = self.n_samples_fit_
        return self

    def fit_transform(self, X, y=None):
        """Index the rows and return their graph.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        csr_matrix of shape (n_samples, n_samples)
            The graph. Every row is its own neighbor.
        """
        return self.fit(X).transform(X)


@_documented
class KNeighborsTransformer(_KNeighborsMixin, _GraphTransformer):
    """Transform rows to their nearest neighbor graph, for estimators that take ``metric="precomputed"``.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether entries are distances or ones.
    n_neighbors : int, default=5
        Neighbors per row; one more, usually the row itself, if entries are distances.
    {metric}
    Examples
    --------
    >>> import sparring as sp
    >>> graph = sp.neighbors.KNeighborsTransformer(n_neighbors=1).fit_transform([[0.0], [1.0], [3.0]])
    >>> graph.indices.reshape(3, 2).tolist(), graph.data.tolist()
    ([[0, 1], [1, 0], [2, 1]], [0.0, 1.0, 0.0, 1.0, 0.0, 2.0])
    """

    def __init__(
        self, *, mode="distance", n_neighbors=5, algorithm="auto", leaf_size=30, metric="minkowski", p=2,
        metric_params=None, n_jobs=None, device=None
    ):
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def transform(self, X):
        """The graph of the nearest training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        csr_matrix of shape (n_queries, n_samples_fit)
            The graph, with one more neighbor if entries are distances, because a training row is its own nearest.
        """
        check_is_fitted(self)
        return self.kneighbors_graph(X, self.n_neighbors + (self.mode == "distance"), self.mode)


@_documented
class RadiusNeighborsTransformer(_RadiusNeighborsMixin, _GraphTransformer):
    """Transform rows to the graph of neighbors within a radius, for estimators that take ``metric="precomputed"``.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether entries are distances or ones.
    radius : float, default=1.0
        Maximum distance of a neighbor.
    {metric}
    Examples
    --------
    >>> import sparring as sp
    >>> sp.neighbors.RadiusNeighborsTransformer(radius=1.5).fit_transform([[0.0], [1.0], [3.0]]).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    def __init__(
        self, *, mode="distance", radius=1.0, algorithm="auto", leaf_size=30, metric="minkowski", p=2,
        metric_params=None, n_jobs=None, device=None
    ):
        self.mode = mode
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def transform(self, X):
        """The graph of the training rows within the radius.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        csr_matrix of shape (n_queries, n_samples_fit)
            The graph; distances are sorted within each row.
        """
        check_is_fitted(self)
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)


class _Voter(MultiOutputMixin, _Neighbors):
    """Votes and means by a scikit-learn estimator, on a neighbor graph of this package."""

    def fit(self, X, y):
        """Index the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; distances between them with ``metric="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels or values.

        Returns
        -------
        estimator
            The estimator itself.
        """
        self._fit(X)
        n = self.n_samples_fit_
        # Each prediction passes its own neighbor graph, so training uses a placeholder: each row is its only neighbor.
        nothing = scipy.sparse.csr_array((np.zeros(n), np.arange(n), np.arange(n + 1)), shape=(n, n))
        self._voter = self._as_theirs().fit(nothing, y)
        for name in ("classes_", "outputs_2d_", "outlier_label_"):
            if hasattr(self._voter, name):
                setattr(self, name, getattr(self._voter, name))
        return self

    def _ask(self, method, X):
        check_is_fitted(self)
        self._voter.set_params(**self._as_theirs().get_params())
        return getattr(self._voter, method)(self._graph(X))

    def predict(self, X):
        """Predict labels or values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), or None
            Rows; ``None`` for the training rows, none of which is its own neighbor.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_outputs)
            A label or a mean per row and output.
        """
        return self._ask("predict", X)


class _KNeighborsVoter(_KNeighborsMixin, _Voter):
    def __init__(
        self, n_neighbors=5, *, weights="uniform", algorithm="auto", leaf_size=30, p=2, metric="minkowski",
        metric_params=None, n_jobs=None, device=None
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def _as_theirs(self):
        return self._theirs(n_neighbors=self.n_neighbors, weights=self.weights, metric="precomputed")

    def _graph(self, X):
        return self.kneighbors_graph(X, mode="distance")


# Larger than any radius, so that votes exclude it.
_FAR = np.finfo(np.float64).max


class _RadiusVoter(_RadiusNeighborsMixin, _Voter):
    def _graph(self, X):
        found = self.radius_neighbors_graph(X, mode="distance", sort_results=True)
        if found.nnz == 0:
            # scikit-learn computes the maximum distance, which fails for an empty graph.
            found = scipy.sparse.csr_matrix(([_FAR], ([0], [0])), shape=found.shape)
        return found


class _Classifier(ClassifierMixin):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def predict_proba(self, X):
        """Fraction of the votes for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), or None
            Rows; ``None`` for the training rows, none of which is its own neighbor.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            Columns in the order of ``classes_``; a list of such arrays for several outputs.
        """
        return self._ask("predict_proba", X)


@_documented
class KNeighborsClassifier(_Classifier, _KNeighborsVoter):
    """Classification by a vote of the nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbors per row.
    {weights}
    {metric}
    Examples
    --------
    >>> import sparring as sp
    >>> model = sp.neighbors.KNeighborsClassifier(1).fit([[0.0], [1.0], [5.0]], ["low", "low", "high"])
    >>> model.predict([[4.0]]).tolist()
    ['high']
    """

    _theirs = _KNN_CLASSIFIER


@_documented
class KNeighborsRegressor(RegressorMixin, _KNeighborsVoter):
    """Regression by the mean value of the nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbors per row.
    {weights}
    {metric}
    Examples
    --------
    >>> import sparring as sp
    >>> model = sp.neighbors.KNeighborsRegressor(2).fit([[0.0], [1.0], [5.0]], [1.0, 2.0, 9.0])
    >>> model.predict([[0.5]]).tolist()
    [1.5]
    """

    _theirs = _KNN_REGRESSOR


@_documented
class RadiusNeighborsClassifier(_Classifier, _RadiusVoter):
    """Classification by a vote of the rows within a radius.

    Parameters
    ----------
    radius : float, default=1.0
        Maximum distance of a neighbor.
    {weights}
    outlier_label : label, list of labels or "most_frequent", optional
        The class of rows without neighbors, which are an error by default.
    {metric}
    Examples
    --------
    >>> import sparring as sp
    >>> model = sp.neighbors.RadiusNeighborsClassifier(1.0).fit([[0.0], [1.0], [5.0]], ["low", "low", "high"])
    >>> model.predict([[4.5]]).tolist()
    ['high']
    """

    _theirs = _RADIUS_CLASSIFIER

    def __init__(
        self, radius=1.0, *, weights="uniform", algorithm="auto", leaf_size=30, p=2, metric="minkowski",
        outlier_label=None, metric_params=None, n_jobs=None, device=None
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def _as_theirs(self):
        return self._theirs(
            radius=_FAR / 2, weights=self.weights, outlier_label=self.outlier_label, metric="precomputed"
        )


@_documented
class RadiusNeighborsRegressor(RegressorMixin, _RadiusVoter):
    """Regression by the mean value of the rows within a radius, NaN without neighbors.

    Parameters
    ----------
    radius : float, default=1.0
        Maximum distance of a neighbor.
    {weights}
    {metric}
    Examples
    --------
    >>> import sparring as sp
    >>> model = sp.neighbors.RadiusNeighborsRegressor(1.0).fit([[0.0], [1.0], [5.0]], [1.0, 2.0, 9.0])
    >>> model.predict([[0.5]]).tolist()
    [1.5]
    """

    _theirs = _RADIUS_REGRESSOR

    def __init__(
        self, radius=1.0, *, weights="uniform", algorithm="auto", leaf_size=30, p=2, metric="minkowski",
        metric_params=None, n_jobs=None, device=None
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def _as_theirs(self):
        return self._theirs(radius=_FAR / 2, weights=self.weights, metric="precomputed")
