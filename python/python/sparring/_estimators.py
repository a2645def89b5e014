"""Estimators of scikit-learn's contract, on exact sparse neighbors."""

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import neighbors

_NAMES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}


class _Neighbors(BaseEstimator):
    """What all have: rows that are indexed, and the parameters of a metric."""

    def _fit(self, X):
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32))
        self.n_samples_fit_ = X.shape[0]
        self._fit_X = X
        metric = _NAMES.get(self.metric, self.metric)
        if metric == "minkowski":
            p = 2.0 if self.p is None else float(self.p)
            metric, p = {1.0: ("manhattan", None), 2.0: ("euclidean", None)}.get(p, (metric, p))
            if p == np.inf:
                metric, p = "chebyshev", None
        else:
            p = None
        self.effective_metric_ = metric
        self._index = neighbors.Index(neighbors._rows(X), metric, p=p, device=self.device)
        self._asked = dict(metric=metric, p=p, device=self.device)
        return self

    def __getstate__(self):
        state = super().__getstate__()
        state.pop("_index", None)
        return state

    def _query(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        return neighbors._rows(X)

    def _the_index(self):
        if not hasattr(self, "_index"):
            asked = dict(self._asked)
            self._index = neighbors.Index(neighbors._rows(self._fit_X), asked.pop("metric"), **asked)
        return self._index

    def _found(self, X, k):
        """Distances and indices; of the fitted rows among themselves without X, each left out of its own."""
        check_is_fitted(self)
        k = self.n_neighbors if k is None else k
        if k != int(k) or isinstance(k, bool):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        most = self.n_samples_fit_ - (X is None)
        if not 0 < k <= most:
            raise ValueError(
                f"Expected n_neighbors {'<' if X is None else '<='} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {self.n_samples_fit_}, n_samples = {self.n_samples_fit_ if X is None else X.shape[0]}"
                if k > 0
                else f"Expected n_neighbors > 0. Got {k}"
            )
        if X is None:
            return neighbors.kneighbors(neighbors._rows(self._fit_X), k=int(k), exclude_self=True, **self._asked)
        return self._the_index().kneighbors(self._query(X), int(k))

    def _within(self, X, radius):
        check_is_fitted(self)
        radius = self.radius if radius is None else radius
        if X is None:
            rows = neighbors._rows(self._fit_X)
            return neighbors.radius_neighbors_graph(rows, radius=radius, exclude_self=True, **self._asked)
        return self._the_index().radius_neighbors(self._query(X), radius).to_scipy()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class NearestNeighbors(_Neighbors):
    """Exact nearest neighbors of rows, sparse or dense, as ``sklearn.neighbors.NearestNeighbors`` finds them.

    Parameters
    ----------
    n_neighbors : int, default=5
    radius : float, default=1.0
    metric : str, default="minkowski"
        A name that :func:`sparring.neighbors.metrics` lists, or a formula of ``a`` and ``b`` for what each column adds.
    p : float, default=2
        Exponent of minkowski.
    device : str, optional
        ``"cuda:0"`` searches on a GPU.
    """

    def __init__(self, n_neighbors=5, radius=1.0, metric="minkowski", p=2, device=None):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.p = p
        self.device = device

    def fit(self, X, y=None):
        """Indexes the rows."""
        return self._fit(X)

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """Distances to the nearest rows and their numbers."""
        distances, indices = self._found(X, n_neighbors)
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(self, X=None, n_neighbors=None, mode="connectivity"):
        """The graph of the nearest rows: ones, or distances with ``mode="distance"``."""
        distances, indices = self._found(X, n_neighbors)
        return scipy.sparse.csr_matrix(neighbors._graph_of(distances, indices, self.n_samples_fit_, mode))

    def radius_neighbors(self, X=None, radius=None, return_distance=True, sort_results=False):
        """Distances to the rows within a radius and their numbers: an array of arrays each."""
        found = self._within(X, radius)
        order = np.argsort if sort_results else (lambda d, kind: np.arange(len(d)))
        indices, distances = np.empty(found.shape[0], object), np.empty(found.shape[0], object)
        for i, (a, b) in enumerate(zip(found.indptr, found.indptr[1:])):
            by = order(found.data[a:b], kind="stable")
            indices[i], distances[i] = found.indices[a:b].astype(np.int64)[by], found.data[a:b][by]
        return (distances, indices) if return_distance else indices

    def radius_neighbors_graph(self, X=None, radius=None, mode="connectivity", sort_results=False):
        """The graph of the rows within a radius: ones, or distances with ``mode="distance"``."""
        found = self._within(X, radius)
        if mode not in ("connectivity", "distance"):
            raise ValueError(f"mode: {mode!r} is neither 'connectivity' nor 'distance'")
        data = np.ones(found.nnz) if mode == "connectivity" else found.data
        return scipy.sparse.csr_matrix((data, found.indices, found.indptr), shape=found.shape)


class _GraphTransformer(TransformerMixin, NearestNeighbors):
    """Rows as a graph, of as many columns as there were rows in training."""

    def fit(self, X, y=None):
        """Indexes the rows."""
        self._fit(X)
        self._n_features_out = self.n_samples_fit_
        return self

    def fit_transform(self, X, y=None):
        """Indexes the rows and gives their graph."""
        return self.fit(X).transform(X)


class KNeighborsTransformer(_GraphTransformer):
    """Rows as the graph of their nearest neighbors, for estimators that take ``metric="precomputed"``."""

    def __init__(self, mode="distance", n_neighbors=5, metric="minkowski", p=2, device=None):
        super().__init__(n_neighbors=n_neighbors, metric=metric, p=p, device=device)
        self.mode = mode

    def transform(self, X):
        """The graph, of one neighbor more where it has distances, for each row of the training is its own."""
        add_one = self.mode == "distance"
        return self.kneighbors_graph(X, self.n_neighbors + add_one, self.mode)


class RadiusNeighborsTransformer(_GraphTransformer):
    """Rows as the graph of the rows within a radius."""

    def __init__(self, mode="distance", radius=1.0, metric="minkowski", p=2, device=None):
        super().__init__(radius=radius, metric=metric, p=p, device=device)
        self.mode = mode

    def transform(self, X):
        """The graph."""
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)


class _Supervised(_Neighbors):
    def __init__(self, n_neighbors=5, weights="uniform", metric="minkowski", p=2, device=None):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.device = device

    def _neighbors_and_weights(self, X):
        distances, indices = self._found(X, None)
        if self.weights in ("uniform", None):
            return indices, np.ones_like(distances)
        if callable(self.weights):
            return indices, self.weights(distances)
        if self.weights != "distance":
            raise ValueError(f"weights: {self.weights!r} is none of 'uniform', 'distance', or a function")
        with np.errstate(divide="ignore"):
            weights = 1.0 / distances
        infinite = np.isinf(weights)
        rows = infinite.any(axis=1)
        weights[rows] = infinite[rows]
        return indices, weights


class KNeighborsClassifier(ClassifierMixin, _Supervised):
    """The class that most of the nearest rows have, by votes that may be weighted."""

    def fit(self, X, y):
        """Indexes the rows."""
        from sklearn.utils.multiclass import check_classification_targets

        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32))
        check_classification_targets(y)
        self.classes_, self._labels = np.unique(y, return_inverse=True)
        return self._fit(X)

    def predict_proba(self, X):
        """Part of the votes for each class."""
        indices, weights = self._neighbors_and_weights(X)
        votes = np.zeros((len(indices), len(self.classes_)))
        rows = np.repeat(np.arange(len(indices)), indices.shape[1])
        np.add.at(votes, (rows, self._labels[indices].ravel()), weights.ravel())
        return votes / votes.sum(axis=1, keepdims=True)

    def predict(self, X):
        """The class with the most votes, the first of equal ones."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class KNeighborsRegressor(RegressorMixin, _Supervised):
    """The mean of the values of the nearest rows, by weights that may follow their distances."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X, y):
        """Indexes the rows."""
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32), multi_output=True, y_numeric=True
        )
        self._y = y
        return self._fit(X)

    def predict(self, X):
        """The weighted mean."""
        indices, weights = self._neighbors_and_weights(X)
        values = self._y[indices]
        weights = weights.reshape(weights.shape + (1,) * (values.ndim - 2))
        return (values * weights).sum(axis=1) / weights.sum(axis=1)
