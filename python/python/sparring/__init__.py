"""Sparse linear algebra and sparse tensors over any semiring, on processors and NVIDIA GPUs.

>>> import numpy as np, scipy.sparse, sparring as sp
>>> a = scipy.sparse.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
>>> sp.mxm(a, a, "min_plus").toarray()
array([[5., 0.],
       [0., 5.]])

SciPy sparse arrays and matrices are used without copying, and results have the type of the inputs; ``Matrix`` and
``Vector`` stay on their device between calls. Operators are names (``"min_plus"``, ``"plus"``), formulas
(``"min, a + 2*b"``), or objects, also from functions (``sp.Semiring("min", lambda a, b: a + 2 * b)``).
"""

from . import graph, io, neighbors
from ._sparring import (
    Mask,
    Matrix,
    MttkrpPlan,
    Plan,
    Tensor,
    Vector,
    __version__,
    aggregate,
    apply,
    assign,
    block,
    devices,
    diag,
    einsum,
    ewise_add,
    ewise_mult,
    ewise_union,
    explain,
    extract,
    get_threads,
    kronecker,
    mttkrp,
    mttkrp_plan,
    mxm,
    mxv,
    plan,
    reduce,
    reduce_rows,
    resize,
    scatter,
    select,
    set_memory_budget,
    set_threads,
    split,
    transpose,
    vxm,
)
from ._cp import Kruskal, cp_als
from ._operators import BinaryOp, Monoid, Semiring, UnaryOp

__all__ = [
    "BinaryOp",
    "Kruskal",
    "Mask",
    "Matrix",
    "Monoid",
    "MttkrpPlan",
    "Plan",
    "Semiring",
    "Tensor",
    "UnaryOp",
    "Vector",
    "__version__",
    "aggregate",
    "apply",
    "assign",
    "block",
    "cp_als",
    "devices",
    "diag",
    "einsum",
    "ewise_add",
    "ewise_mult",
    "ewise_union",
    "explain",
    "extract",
    "get_threads",
    "graph",
    "io",
    "kronecker",
    "mttkrp",
    "mttkrp_plan",
    "mxm",
    "mxv",
    "neighbors",
    "plan",
    "reduce",
    "reduce_rows",
    "resize",
    "scatter",
    "select",
    "set_memory_budget",
    "set_threads",
    "split",
    "transpose",
    "vxm",
]
