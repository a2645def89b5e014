"""Sparse linear algebra and sparse tensors over any semiring, on processors and NVIDIA GPUs.

>>> import numpy as np, scipy.sparse, sparring as sp
>>> a = scipy.sparse.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
>>> sp.mxm(a, a, "min_plus").toarray()
array([[5., 0.],
       [0., 5.]])

Sparse arrays and matrices of SciPy go in without copies and come out as the same kind; ``Matrix`` and ``Vector`` stay
on their device between calls. Operators are names (``"min_plus"``, ``"plus"``) or formulas (``"min, a + 2*b"``).
"""

from . import graph, neighbors
from ._sparring import (
    Mask,
    Matrix,
    Plan,
    Tensor,
    Vector,
    __version__,
    aggregate,
    apply,
    devices,
    einsum,
    ewise_add,
    ewise_mult,
    explain,
    get_threads,
    kronecker,
    mttkrp,
    mxm,
    mxv,
    plan,
    reduce,
    reduce_rows,
    select,
    set_memory_budget,
    set_threads,
    transpose,
    vxm,
)
from ._cp import Kruskal, cp_als

__all__ = [
    "Kruskal",
    "Mask",
    "Matrix",
    "Plan",
    "Tensor",
    "Vector",
    "__version__",
    "aggregate",
    "apply",
    "cp_als",
    "devices",
    "einsum",
    "ewise_add",
    "ewise_mult",
    "explain",
    "get_threads",
    "graph",
    "kronecker",
    "mttkrp",
    "mxm",
    "mxv",
    "neighbors",
    "plan",
    "reduce",
    "reduce_rows",
    "select",
    "set_memory_budget",
    "set_threads",
    "transpose",
    "vxm",
]
