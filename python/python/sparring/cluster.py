"""Matrices and graphs on all processes of an MPI job.

Each process runs the same program, started by ``mpirun -n 4 python program.py``; a program started alone is a job of
one process. Matrices and vectors on the device ``"cluster"`` are distributed, and every operation on them is collective:
all ranks make the same calls in the same order. ``"cluster:cuda"`` gives each rank of a node a GPU of its own.

The wheel has no MPI. Build the package with MPI's headers and libclang:
``MATURIN_PEP517_ARGS="--features mpi" pip install ./python``.

>>> import scipy.sparse, sparring as sp, sparring.cluster
>>> a = scipy.sparse.eye_array(4, format="csr")
>>> m = sp.Matrix(a, device="cluster")
>>> (m @ m).device, (m @ m).nnz
('cluster', 4)
>>> sp.mxm(a, a, device="cluster").toarray().trace()
np.float64(4.0)
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any

from . import _sparring

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from ._sparring import Matrix

_cluster: Any = getattr(_sparring, "_cluster", None)
if _cluster is None:
    raise ImportError('built without MPI: MATURIN_PEP517_ARGS="--features mpi" pip install ./python')

__all__ = [
    "bfs",
    "bfs_parents",
    "connected_components",
    "pagerank",
    "rank",
    "read_edges",
    "read_matrix_market",
    "rmat",
    "set_reproducible",
    "size",
    "sssp",
    "write_matrix_market",
]

# MPI ends with the last distributed object, before the interpreter does.
atexit.register(_cluster.end)


def rank() -> int:
    """The number of this process.

    Returns
    -------
    int
        From 0 to ``size() - 1``.

    Examples
    --------
    >>> import sparring.cluster as cluster
    >>> cluster.rank() < cluster.size()
    True
    """
    return _cluster.rank()


def size() -> int:
    """The number of processes of the job.

    Returns
    -------
    int

    Examples
    --------
    >>> import sparring.cluster as cluster
    >>> cluster.size() > 0
    True
    """
    return _cluster.size()


def set_reproducible(yes: bool) -> None:
    """Sets whether sums of floats have the bits of one process, at the cost of more communication. Off by default.

    Parameters
    ----------
    yes : bool
        The same on all ranks.

    Returns
    -------
    None

    Examples
    --------
    >>> import sparring.cluster as cluster
    >>> cluster.set_reproducible(False)
    """
    _cluster.set_reproducible(yes)


def read_matrix_market(path: str | PathLike[str]) -> Matrix:
    """The matrix of a Matrix Market file, of which each rank parses a part.

    Parameters
    ----------
    path : path
        Plain, ``.gz`` or ``.zst``; readable by all ranks.

    Returns
    -------
    Matrix
        On the device ``"cluster"``.

    Raises
    ------
    ValueError
        On all ranks, if the file is malformed.

    Examples
    --------
    >>> import os, tempfile, sparring.cluster as cluster
    >>> path = os.path.join(tempfile.mkdtemp(), "a.mtx")
    >>> with open(path, "w") as file:
    ...     _ = file.write("%%MatrixMarket matrix coordinate real general\\n2 2 1\\n1 2 3.5\\n")
    >>> cluster.read_matrix_market(path).nnz
    1
    """
    return _cluster.read_matrix_market(path)


def read_edges(path: str | PathLike[str], *, undirected: bool | None = None, zero_based: bool = False) -> Matrix:
    """The adjacency matrix of an edge list of numbered vertices, of which each rank parses a part.

    Parameters
    ----------
    path : path
        Plain, ``.gz`` or ``.zst``; readable by all ranks.
    undirected : bool, optional
        Whether each line is an edge in both directions. By default, as the file says.
    zero_based : bool, default=False
        Whether vertices are numbered from 0.

    Returns
    -------
    Matrix
        On the device ``"cluster"``.

    Raises
    ------
    ValueError
        On all ranks, if the file is malformed.

    Examples
    --------
    >>> import os, tempfile, sparring.cluster as cluster
    >>> path = os.path.join(tempfile.mkdtemp(), "edges.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("1 2\\n2 3\\n")
    >>> cluster.read_edges(path).shape
    (3, 3)
    """
    return _cluster.read_edges(path, undirected, zero_based)


def write_matrix_market(path: str | PathLike[str], a: Any) -> None:
    """Writes a matrix as Matrix Market text, of which each rank writes a part.

    Parameters
    ----------
    path : path
        Writable by all ranks.
    a : Matrix, or sparse array or matrix of SciPy or PyData
        On any device; the same on all ranks.

    Returns
    -------
    None

    Examples
    --------
    >>> import os, tempfile, scipy.sparse, sparring.cluster as cluster
    >>> path = os.path.join(tempfile.gettempdir(), "sparring-cluster-example.mtx")
    >>> cluster.write_matrix_market(path, scipy.sparse.eye_array(3, format="csr"))
    >>> cluster.read_matrix_market(path).nnz
    3
    """
    _cluster.write_matrix_market(path, a)


def rmat(scale: int, edge_factor: int = 16, *, seed: int = 0, undirected: bool = False) -> Matrix:
    """The adjacency matrix of a random R-MAT graph, the same on any number of ranks; values are 1.

    Parameters
    ----------
    scale : int
        The graph has 2 ** scale vertices.
    edge_factor : int, default=16
        Edges drawn per vertex; repeated ones are merged.
    seed : int, default=0
        Seed of the generator.
    undirected : bool, default=False
        Whether each edge goes in both directions.

    Returns
    -------
    Matrix
        On the device ``"cluster"``.

    Examples
    --------
    >>> import sparring.cluster as cluster
    >>> cluster.rmat(8).shape
    (256, 256)
    """
    return _cluster.rmat(scale, edge_factor, seed, undirected)


def bfs(a: Any, source: int) -> NDArray[np.int32]:
    """The number of edges on a shortest path from a vertex to each vertex.

    Parameters
    ----------
    a : Matrix, or sparse array or matrix of SciPy or PyData
        Entry (i, j) is the edge from i to j; on any device.
    source : int
        The vertex.

    Returns
    -------
    ndarray of int32
        On all ranks; -1 where there is no path.

    Examples
    --------
    >>> import scipy.sparse, sparring.cluster as cluster
    >>> cluster.bfs(scipy.sparse.diags_array([1.0, 1.0], offsets=1, format="csr"), 1)
    array([-1,  0,  1], dtype=int32)
    """
    return _cluster.bfs(a, source)


def bfs_parents(a: Any, source: int) -> NDArray[np.int64]:
    """The parent of each vertex in a breadth-first search tree.

    Parameters
    ----------
    a : Matrix, or sparse array or matrix of SciPy or PyData
        Entry (i, j) is the edge from i to j; on any device.
    source : int
        The root, which is its own parent.

    Returns
    -------
    ndarray of int64
        On all ranks; -1 where there is no path.

    Examples
    --------
    >>> import scipy.sparse, sparring.cluster as cluster
    >>> cluster.bfs_parents(scipy.sparse.diags_array([1.0, 1.0], offsets=1, format="csr"), 0)
    array([0, 0, 1])
    """
    return _cluster.bfs_parents(a, source)


def connected_components(a: Any) -> NDArray[np.int64]:
    """The smallest vertex of the weakly connected component of each vertex.

    Parameters
    ----------
    a : Matrix, or sparse array or matrix of SciPy or PyData
        Entry (i, j) is an edge between i and j; on any device.

    Returns
    -------
    ndarray of int64
        On all ranks.

    Examples
    --------
    >>> import scipy.sparse, sparring.cluster as cluster
    >>> cluster.connected_components(scipy.sparse.diags_array([1.0, 0.0, 1.0], offsets=1, format="csr"))
    array([0, 0, 2, 2])
    """
    return _cluster.connected_components(a)


def sssp(a: Any, source: int) -> NDArray[np.float64]:
    """The lengths of shortest paths from a vertex.

    Parameters
    ----------
    a : Matrix, or sparse array or matrix of SciPy or PyData
        Entry (i, j) is the weight of the edge from i to j; on any device. Weights may be negative.
    source : int
        The vertex.

    Returns
    -------
    ndarray of float64
        On all ranks; infinity where there is no path.

    Raises
    ------
    ValueError
        On all ranks, if there is a cycle of negative weight.

    Examples
    --------
    >>> import scipy.sparse, sparring.cluster as cluster
    >>> cluster.sssp(scipy.sparse.diags_array([1.5, 2.0], offsets=1, format="csr"), 0)
    array([0. , 1.5, 3.5])
    """
    return _cluster.sssp(a, source)


def pagerank(
    a: Any, *, damping: float = 0.85, tolerance: float = 1e-6, max_iterations: int = 100,
) -> NDArray[np.float64]:
    """PageRank, where each edge has weight 1.

    Parameters
    ----------
    a : Matrix, or sparse array or matrix of SciPy or PyData
        Entry (i, j) is the edge from i to j; on any device.
    damping : float, default=0.85
        Probability of following an edge.
    tolerance : float, default=1e-6
        The iteration ends when the ranks change by less, in the 1-norm.
    max_iterations : int, default=100
        Maximum number of iterations.

    Returns
    -------
    ndarray of float64
        On all ranks; the ranks of the vertices, which add up to 1.

    Raises
    ------
    ValueError
        If the ranks do not converge.

    Examples
    --------
    >>> import scipy.sparse, sparring.cluster as cluster
    >>> cluster.pagerank(scipy.sparse.eye_array(2, format="csr"))
    array([0.5, 0.5])
    """
    return _cluster.pagerank(a, damping, tolerance, max_iterations)
