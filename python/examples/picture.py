"""Draws the picture of the README: ``python picture.py [where]``.

Communities of the karate club, names of companies by their neighbors, and the spectra of three amino acids, all of them
from ``data/``.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.io
import sparring as sp

ROOT = Path(__file__).resolve().parents[2]


def main(path=ROOT / "python" / "picture.png"):
    try:
        import matplotlib
        import networkx
        import umap  # noqa: F401
    except ImportError as error:
        print(f"skipped: the package {error.name} is not installed")
        return None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from umap_precomputed import embed

    plt.rcParams.update({"font.size": 8, "axes.titlesize": 7, "font.family": "monospace"})
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9.6, 2.9), dpi=100, layout="constrained")

    club = networkx.karate_club_graph()
    labels, _ = sp.graph.leiden(club)
    networkx.draw_networkx(
        club, networkx.spring_layout(club, seed=2), ax=left, node_color=labels, cmap="Set2", node_size=60,
        with_labels=False, edge_color="#bbb"
    )
    left.set(title="sp.graph.leiden(club)")
    left.set_axis_off()

    names = scipy.io.mmread(ROOT / "data" / "sec-names-3gram.mtx.gz").tocsr()[:2500].astype(np.float32)
    points, _ = embed(names)
    graph = sp.neighbors.kneighbors_graph(names, 15, metric="cosine")
    communities, _ = sp.graph.leiden(sp.ewise_add(graph, graph.T.tocsr(), "max"), seed=1)
    rank = np.empty(communities.max() + 1, int)
    rank[np.argsort(-np.bincount(communities))] = np.arange(len(rank))
    color = rank[communities]
    middle.scatter(*points[color >= 9].T, s=1.5, c="#ccc", linewidths=0)
    middle.scatter(*points[color < 9].T, s=2.5, c=color[color < 9], cmap="Set1", linewidths=0)
    middle.set(title='sp.neighbors.kneighbors(names, metric="cosine")', xticks=[], yticks=[])

    spectra = sp.cp_als(
        sp.Tensor.read(str(ROOT / "data" / "aminoacid.tns.gz")), 3, starts=3, sweeps=500, tolerance=1e-7, nonnegative=True
    )
    right.plot(np.arange(250, 451), spectra.factors[1])
    right.set(title="sp.cp_als(fluorescence, 3, nonnegative=True)", xlabel="emission, nm", yticks=[])
    figure.savefig(path)
    from PIL import Image

    # A palette of 64 colors takes a third of the bytes.
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)
    return path


if __name__ == "__main__":
    main(*sys.argv[1:])
