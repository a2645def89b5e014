"""Multithreaded readers and writers of files, also compressed (``.gz``, ``.bz2``, ``.zst``, ``.xz``).

An ambiguous file is an error that names both interpretations, or is resolved by a keyword; nothing is guessed.

>>> import os, tempfile, scipy.sparse, sparring as sp
>>> path = os.path.join(tempfile.mkdtemp(), "a.mtx")
>>> sp.io.write_matrix_market(path, scipy.sparse.eye_array(3, format="csr"))
>>> sp.io.read_matrix_market(path)
<sparring.Matrix of float64, 3×3 with 3 entries as compressed rows, on cpu>
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _sparring

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import Any

    from ._cp import Kruskal
    from ._sparring import Matrix

_io = _sparring._io

__all__ = [
    "read_csv",
    "read_dimacs",
    "read_edges",
    "read_ktensor",
    "read_mat",
    "read_matrix_market",
    "read_metis",
    "read_npy",
    "read_npz",
    "read_svmlight",
    "write_csv",
    "write_ktensor",
    "write_matrix_market",
    "write_npy",
    "write_npz",
    "write_svmlight",
]


def read_matrix_market(path: str | PathLike[str], *, lenient: bool = False, max_bytes: int | None = None) -> Matrix:
    """The matrix of a Matrix Market file, in the type of its banner; bool for a pattern.

    Parameters
    ----------
    path : path
    lenient : bool
        Accepts common deviations from the format: both triangles of a symmetric matrix, values in a pattern, comments
        among the entries.
    max_bytes : int, optional
        Rejects larger files, by uncompressed size.

    Returns
    -------
    Matrix
    """
    return _io.read_matrix_market(path, lenient, max_bytes)


def read_csv(
    path: str | PathLike[str], *, header: bool | None = None, delimiter: str = ",", max_bytes: int | None = None,
) -> Any:
    """The table of a CSV file as a matrix, without its zeros.

    Parameters
    ----------
    path : path
    header : bool, optional
        Whether the first line is a header. By default, a first line that is not numeric is an error.
    delimiter : str
        One character; a space stands for any number of spaces and tabs.
    max_bytes : int, optional

    Returns
    -------
    Matrix, or (Matrix, list of str) of the names of columns with ``header=True``
    """
    made, _, columns, _ = _io.read_csv(path, header, delimiter, max_bytes)
    return (made, columns) if header else made


def read_svmlight(
    path: str | PathLike[str], *, zero_based: bool = False, columns: int | None = None, max_bytes: int | None = None,
) -> tuple[Matrix, list[str]]:
    """The rows of an svmlight or libsvm file, and their labels.

    Parameters
    ----------
    path : path
    zero_based : bool
        Whether columns are numbered from 0 instead of 1.
    columns : int, optional
        Number of columns; by default the largest column in the file.
    max_bytes : int, optional

    Returns
    -------
    Matrix, list of str
    """
    made, labels, _, _ = _io.read_svmlight(path, zero_based, columns, max_bytes)
    return made, labels


def read_edges(
    path: str | PathLike[str], *, zero_based: bool | None = None, undirected: bool | None = None,
    bipartite: bool = False, renumber: bool = False, named: bool = False, repeated: str | None = None,
    lenient: bool = False, max_bytes: int | None = None,
) -> Any:
    """The adjacency matrix of an edge list: SNAP, KONECT, or lines of two vertices and an optional weight.

    Parameters
    ----------
    path : path
    zero_based : bool, optional
        Whether vertices are numbered from 0. By default they are if vertex 0 occurs, else the list is rejected.
    undirected : bool, optional
        Whether each edge is undirected.
    bipartite : bool
        Whether edges connect two sets of vertices, rows and columns.
    renumber : bool
        Renumbers vertices, which may be any integers, in increasing order.
    named : bool
        Accepts any words as vertices.
    repeated : {"sum", "min", "max"}, optional
        How to combine the weights of duplicate edges; by default they are an error.
    lenient : bool
        Accepts additional columns after the weight.
    max_bytes : int, optional

    Returns
    -------
    Matrix, or (Matrix, array of int) of the vertices' numbers with ``renumber``, or (Matrix, list of str) of their
    names with ``named``
    """
    made, labels, _, ids = _io.read_graph(
        path, "edges", zero_based, undirected, bipartite, renumber, named, repeated, lenient, max_bytes
    )
    if named:
        return made, labels
    return (made, ids) if renumber else made


def read_ktensor(path: str | PathLike[str]) -> Kruskal:
    """The Kruskal tensor of a Tensor Toolbox file, as written by :func:`write_ktensor`.

    Parameters
    ----------
    path : path

    Returns
    -------
    Kruskal
        Weights and factors; the fit is unknown.
    """
    from ._cp import Kruskal

    weights, factors = _io.read_ktensor(path)
    return Kruskal(weights, factors, float("nan"), [], False, "")


def read_metis(path: str | PathLike[str], *, repeated: str | None = None, max_bytes: int | None = None) -> Matrix:
    """The adjacency matrix of a METIS graph.

    Parameters
    ----------
    path : path
    repeated : {"sum", "min", "max"}, optional
        How to combine the weights of duplicate edges; by default they are an error.
    max_bytes : int, optional

    Returns
    -------
    Matrix
    """
    return _io.read_graph(path, "metis", None, None, False, False, False, repeated, False, max_bytes)[0]


def read_dimacs(path: str | PathLike[str], *, repeated: str | None = None, max_bytes: int | None = None) -> Matrix:
    """The adjacency matrix of a DIMACS graph, for shortest paths or coloring.

    Parameters
    ----------
    path : path
    repeated : {"sum", "min", "max"}, optional
        How to combine the weights of duplicate edges; by default they are an error.
    max_bytes : int, optional

    Returns
    -------
    Matrix
    """
    return _io.read_graph(path, "dimacs", None, None, False, False, False, repeated, False, max_bytes)[0]


def read_mat(path: str | PathLike[str], *, variable: str | None = None, max_bytes: int | None = None) -> Matrix:
    """A sparse matrix of a MATLAB MAT-file, version 5.

    Parameters
    ----------
    path : path
    variable : str, optional
        Its name, or ``"Problem.A"`` in a structure; by default the only one, or ``Problem.A``.
    max_bytes : int, optional

    Returns
    -------
    Matrix
    """
    return _io.read_mat(path, variable, max_bytes)[0]


def read_npz(path: str | PathLike[str], *, max_bytes: int | None = None) -> Matrix:
    """The matrix of a file written by ``scipy.sparse.save_npz``.

    Parameters
    ----------
    path : path
    max_bytes : int, optional

    Returns
    -------
    Matrix
    """
    return _io.read_numpy(path, True, max_bytes)[0]


def read_npy(path: str | PathLike[str], *, max_bytes: int | None = None) -> Matrix:
    """The matrix of a two-dimensional array written by ``numpy.save``, without its zeros.

    Parameters
    ----------
    path : path
    max_bytes : int, optional

    Returns
    -------
    Matrix
    """
    return _io.read_numpy(path, False, max_bytes)[0]


def write_matrix_market(
    path: str | PathLike[str], a: Any, *, comment: str | None = None, symmetric: bool = False,
    pattern_only: bool = False,
) -> None:
    """Writes a matrix as Matrix Market coordinate text, with floats as the shortest text that round-trips.

    Parameters
    ----------
    path : path
        Replaced atomically.
    a : Matrix, or sparse array or matrix of SciPy or PyData
    comment : str, optional
    symmetric : bool
        Writes one triangle of a symmetric matrix; a nonsymmetric one is an error.
    pattern_only : bool
        Writes positions without values.
    """
    _io.write(path, a, "mtx", comment, symmetric, pattern_only, [])


def write_csv(path: str | PathLike[str], a: Any) -> None:
    """Writes a matrix as a table, with 0 for absent entries.

    Parameters
    ----------
    path : path
    a : Matrix, or sparse array or matrix of SciPy or PyData
    """
    _io.write(path, a, "csv", None, False, False, [])


def write_ktensor(path: str | PathLike[str], model: Kruskal) -> None:
    """Writes the weights and factors of a decomposition.

    Parameters
    ----------
    path : path
    model : Kruskal
    """
    _io.write_ktensor(path, model.weights, model.factors)


def write_svmlight(path: str | PathLike[str], a: Any, labels: Iterable[object] = ()) -> None:
    """Writes rows and their labels in svmlight format, with columns from 1.

    Parameters
    ----------
    path : path
    a : Matrix, or sparse array or matrix of SciPy or PyData
    labels : sequence, optional
        A number per row; 0 by default.
    """
    _io.write(path, a, "svmlight", None, False, False, [str(label) for label in labels])


def write_npz(path: str | PathLike[str], a: Any) -> None:
    """Writes a matrix for ``scipy.sparse.load_npz``.

    Parameters
    ----------
    path : path
    a : Matrix, or sparse array or matrix of SciPy or PyData
    """
    _io.write(path, a, "npz", None, False, False, [])


def write_npy(path: str | PathLike[str], a: Any) -> None:
    """Writes a matrix as a dense array for ``numpy.load``.

    Parameters
    ----------
    path : path
    a : Matrix, or sparse array or matrix of SciPy or PyData
    """
    _io.write(path, a, "npy", None, False, False, [])
