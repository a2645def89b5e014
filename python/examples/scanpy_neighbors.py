"""scanpy on exact sparse neighbors: ``python scanpy_neighbors.py``.

``scanpy.pp.neighbors`` takes a transformer in place of its approximate search. Here it searches sparse counts as they are,
by the cosine, and the communities of its graph are Leiden's, by ours. The cells are made: six kinds, each with genes of
its own.
"""

import numpy as np
import scipy.sparse
import sparring as sp


def cells(kinds=6, each=100, genes=500, seed=0):
    """Counts of genes in cells, and the kind of each cell."""
    rng = np.random.default_rng(seed)
    kind = np.repeat(np.arange(kinds), each)
    rates = rng.gamma(0.3, 0.3, genes) * (1 + 12 * (rng.random((kinds, genes)) < 0.06))
    depth = rng.lognormal(0, 0.3, len(kind))
    return scipy.sparse.csr_matrix(rng.poisson(rates[kind] * depth[:, None]).astype(np.float32)), kind


def main():
    try:
        import anndata
        import scanpy
    except ImportError:
        print("skipped: the package scanpy is not installed")
        return None
    counts, kind = cells()
    data = anndata.AnnData(counts)
    scanpy.pp.log1p(data)
    transformer = sp.neighbors.KNeighborsTransformer(n_neighbors=15, metric="cosine")
    scanpy.pp.neighbors(data, n_neighbors=15, use_rep="X", transformer=transformer)
    labels, modularity = sp.graph.leiden(data.obsp["connectivities"], weight="weight", seed=1)
    data.obs["leiden"] = labels.astype(str)
    # Most cells of a community are of one kind.
    pure = sum(np.bincount(kind[labels == label]).max() for label in np.unique(labels)) / len(kind)
    count = len(np.unique(labels))
    print(f"{count} communities of {len(kind)} cells, modularity {modularity:.2f}, {pure:.0%} with their kind")
    return labels, pure


if __name__ == "__main__":
    main()
