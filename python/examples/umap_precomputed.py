"""UMAP on exact sparse neighbors: ``python umap_precomputed.py [file.mtx.gz]``.

UMAP approximates neighbors, and takes them from elsewhere as ``precomputed_knn``. Here they are those of sparse rows by
the cosine, exact: 1,500 names of companies, by their runs of three characters.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.io
import sparring as sp

K = 15
DATA = Path(__file__).resolve().parents[2] / "data" / "sec-names-3gram.mtx.gz"


def embed(x, k=K, seed=1):
    """A point in the plane for each row."""
    import umap

    distances, indices = sp.neighbors.kneighbors(x, k=k, metric="cosine")
    model = umap.UMAP(
        n_neighbors=k, metric="cosine", precomputed_knn=(indices.astype(np.int32), distances.astype(np.float32), None),
        random_state=seed, n_jobs=1, init="random", n_epochs=100
    )
    return model.fit_transform(x), indices


def main(path=DATA):
    try:
        import umap  # noqa: F401
    except ImportError:
        print("skipped: the package umap-learn is not installed")
        return None
    x = scipy.io.mmread(path).tocsr()[:1500].astype(np.float32)
    points, indices = embed(x)
    # Nearest neighbors of rows stay near in the plane: how many of the 5 nearest are among the 50 nearest there.
    there = sp.neighbors.kneighbors(points.astype(float), k=51)[1]
    kept = np.mean([np.isin(near[1:6], far).mean() for near, far in zip(indices, there)])
    print(f"{len(points)} points; of the 5 nearest names {kept:.0%} are among the 50 nearest points")
    return points, kept


if __name__ == "__main__":
    main(*sys.argv[1:])
