"""HDBSCAN on a graph of exact sparse neighbors: ``python hdbscan_precomputed.py [file.mtx.gz]``.

The clustering of scikit-learn takes a sparse graph of distances with ``metric="precomputed"``. Here it has those of each
row to its 15 nearest, itself the first, by the cosine, of names of companies by their runs of three characters.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.io
import sparring as sp

DATA = Path(__file__).resolve().parents[2] / "data" / "sec-names-3gram.mtx.gz"


def neighbor_graph(x, k):
    """Distances between neighbors, both ways, and the rows that its largest component has."""
    nearest = sp.neighbors.kneighbors_graph(x, k, mode="distance", metric="cosine", include_self=True)
    nearest = sp.Matrix(nearest)
    both = sp.ewise_add(nearest, nearest.T, "max").to_scipy()
    components = sp.graph.connected_components(both)
    rows = np.flatnonzero(components == np.bincount(components).argmax())
    return both[rows][:, rows], rows


def main(path=DATA):
    try:
        from sklearn.cluster import HDBSCAN
        from sklearn.metrics import adjusted_rand_score
    except ImportError:
        print("skipped: the package scikit-learn is not installed")
        return None
    x = scipy.io.mmread(path).tocsr()[:3000]
    graph, rows = neighbor_graph(x, 15)
    model = HDBSCAN(min_cluster_size=5, min_samples=3, metric="precomputed", cluster_selection_method="leaf", copy=True)
    labels = model.fit_predict(graph)
    # The same by all distances, of which the graph has one in a hundred.
    agree = adjusted_rand_score(model.fit_predict(sp.neighbors.pairwise_distances(x[rows], metric="cosine")), labels)
    print(f"{labels.max() + 1} clusters of {(labels >= 0).sum()} names of {len(rows)}; agreement with all {agree:.2f}")
    return labels, agree


if __name__ == "__main__":
    main(*sys.argv[1:])
