"""The syntax of python-graphblas for the operations of this package.

``C(mask=~M.S, accum=binary.plus) << semiring.min_plus(A @ B)`` is ``sp.mxm(A, B, "min_plus", mask=~M.S, accum="plus",
out=C)``. Expressions are lazy: ``<<`` or ``new()`` evaluates them.

>>> import numpy as np, scipy.sparse
>>> from sparring.notation import Matrix, Vector, binary, monoid, semiring, unary
>>> A = Matrix(scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]])))
>>> C = semiring.min_plus(A @ A).new()
>>> C(accum=binary.plus) << semiring.plus_times(A @ A)
>>> C.to_scipy().toarray()
array([[11.,  0.],
       [ 0., 11.]])
>>> A.T.reduce_rowwise(monoid.max).new().to_numpy()
array([3., 2.])
"""

from __future__ import annotations

from . import _sparring

__all__ = ["Matrix", "Vector", "binary", "monoid", "replace", "semiring", "unary"]

#: Deletes the entries of the output outside the mask: ``C(mask, replace) << …``.
replace = object()


class _Expression:
    """A lazy operation."""

    def __init__(self, function, *operands, **settings):
        self._function, self._operands, self._settings = function, operands, settings

    def _into(self, out, written):
        return self._function(*self._operands, **self._settings, **written, out=out)

    def new(self, mask=None, *, dtype=None):
        """Evaluates the expression into a new matrix, vector or number.

        Parameters
        ----------
        mask : mask, optional
            Positions at which the result may have entries.
        dtype : optional
            Type of the values, by default that of the operation.

        Returns
        -------
        Matrix, Vector or number
        """
        settings = self._settings if mask is None else self._settings | {"mask": mask}
        found = self._function(*self._operands, **settings)
        if isinstance(found, (_sparring.Matrix, _sparring.Vector)):
            return _wrapped(found if dtype is None else found.astype(dtype))
        return found


class _Infix:
    """``A @ B``, ``A | B`` or ``A & B``, to be combined with an operator."""

    def __init__(self, sign, left, right):
        self.sign, self.left, self.right = sign, left, right

    def new(self, mask=None, *, dtype=None):
        """Evaluates ``A @ B`` over + and ×; ``|`` and ``&`` need an operator."""
        if self.sign != "@":
            raise TypeError(f"A {self.sign} B needs an operator: binary.plus(A {self.sign} B)")
        return semiring.plus_times(self).new(mask, dtype=dtype)


class _Operator(str):
    """An operator by name."""

    __slots__ = ()

    def __call__(self, *operands):
        return self._apply(*operands)


class _Semiring(_Operator):
    __slots__ = ()

    def _apply(self, infix):
        if not isinstance(infix, _Infix) or infix.sign != "@":
            raise TypeError(f"semiring.{self}(A @ B) is what it takes")
        (a, flip_a), (b, flip_b) = _parts(infix.left), _parts(infix.right)
        if isinstance(a, _sparring.Vector) and isinstance(b, _sparring.Vector):
            return _Expression(lambda x, y, ring: _dot(x, y, ring), a, b, str(self))
        if isinstance(b, _sparring.Vector):
            return _Expression(_sparring.mxv, a, b, str(self), transpose_a=flip_a)
        if isinstance(a, _sparring.Vector):
            return _Expression(_sparring.vxm, a, b, str(self), transpose_a=flip_b)
        return _Expression(_sparring.mxm, a, b, str(self), transpose_a=flip_a, transpose_b=flip_b)


def _dot(x, y, ring):
    add, _, multiply = ring.replace(",", "_", 1).partition("_")
    return _sparring.reduce(_sparring.ewise_mult(x, y, multiply.strip()), add)


class _Binary(_Operator):
    __slots__ = ()

    def _apply(self, *operands):
        if len(operands) == 2:
            from ._operators import BinaryOp

            return BinaryOp(str(self))(*operands)
        (infix,) = operands
        functions = {"|": _sparring.ewise_add, "&": _sparring.ewise_mult}
        if not isinstance(infix, _Infix) or infix.sign not in functions:
            raise TypeError(f"{self}(A | B) and {self}(A & B) are what it takes")
        (a, flip_a), (b, flip_b) = _parts(infix.left), _parts(infix.right)
        flips = {"transpose_a": flip_a, "transpose_b": flip_b} if flip_a or flip_b else {}
        return _Expression(functions[infix.sign], a, b, str(self), **flips)


class _Unary(_Operator):
    __slots__ = ()

    def _apply(self, a):
        return a.apply(self)


class _Names:
    """Operators of one kind by name, or by formula: ``binary["a + 2*b"]``."""

    def __init__(self, kind):
        self._kind = kind

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._kind(name)

    __getitem__ = __getattr__


semiring, binary, monoid, unary = _Names(_Semiring), _Names(_Binary), _Names(_Binary), _Names(_Unary)


def _parts(x):
    """The matrix or vector of an operand, and whether it is transposed."""
    if isinstance(x, _Transposed):
        return x._of._held, True
    if isinstance(x, _Collection):
        return x._held, False
    raise TypeError(f"a Matrix or a Vector was expected, not {type(x).__name__}")


def _wrapped(held):
    return Matrix(held) if isinstance(held, _sparring.Matrix) else Vector(held)


class _Target:
    """The target of ``<<``: ``C(mask, accum)``, ``C[rows, columns]``."""

    def __init__(self, of, written, part=None):
        self._of, self._written, self._part = of, written, part

    def __lshift__(self, what):
        held = self._of._held
        if self._part is not None:
            value = what.new() if isinstance(what, (_Expression, _Infix)) else what
            value = value._held if isinstance(value, _Collection) else value
            _sparring.assign(held, value, *self._part, **self._written)
        elif isinstance(what, (_Expression, _Infix)):
            (semiring.plus_times(what) if isinstance(what, _Infix) else what)._into(held, self._written)
        else:
            value, flip = _parts(what) if isinstance(what, (_Collection, _Transposed)) else (what, False)
            _sparring.assign(held, value, transpose_a=flip, **self._written)

    def __setitem__(self, index, value):
        _Target(self._of, self._written, _part(index)) << value


def _part(index):
    index = index if isinstance(index, tuple) else (index,)
    return tuple([one] if hasattr(one, "__index__") and not hasattr(one, "__len__") else one for one in index)


class _Collection:
    """Shared methods of matrices and vectors."""

    __hash__ = None

    @property
    def S(self):
        """Structural mask: the positions of all entries."""
        return self._held.S

    @property
    def V(self):
        """Value mask: the positions of nonzero entries."""
        return ~~self._held

    nvals = property(lambda self: self._held.nnz, doc="Number of entries, including stored zeros.")
    dtype = property(lambda self: self._held.dtype, doc="Type of the values.")
    shape = property(lambda self: self._held.shape, doc="Numbers of rows and columns, or length.")

    def __call__(self, *settings, mask=None, accum=None, replace=False):
        written = {}
        for one in settings:
            if one is globals()["replace"]:
                replace = True
            elif isinstance(one, _sparring.Mask):
                mask = one
            else:
                accum = one
        if mask is not None:
            written["mask"] = mask
        if accum is not None:
            written["accum"] = str(accum)
        return _Target(self, written | ({"replace": True} if replace else {}))

    def __lshift__(self, what):
        _Target(self, {}) << what

    def __matmul__(self, other):
        return _Infix("@", self, other)

    def __or__(self, other):
        return _Infix("|", self, other)

    def __and__(self, other):
        return _Infix("&", self, other)

    def ewise_add(self, other, op="plus"):
        """A ⊕ B on the union of the patterns."""
        return _Binary(op)(self | other)

    def ewise_mult(self, other, op="times"):
        """A ⊗ B on the intersection of the patterns."""
        return _Binary(op)(self & other)

    def apply(self, op, right=None):
        """f(A) elementwise, or a ∘ ``right`` for a binary operator ∘ and a scalar ``right``."""
        held, flip = _parts(self)
        if right is not None:
            return _Expression(_sparring.apply, held, f"{_formula(op)}", right, transpose_a=flip)
        return _Expression(_sparring.apply, held, str(op), transpose_a=flip)

    def select(self, op, thunk=None):
        """The entries that satisfy an operator."""
        held, flip = _parts(self)
        return _Expression(_sparring.select, held, str(op), thunk, transpose_a=flip)

    def dup(self):
        """An independent copy."""
        return _wrapped(self._held.copy())

    def to_coo(self):
        """Indices and values of the entries, as arrays."""
        return self._held.to_coo()

    def __repr__(self):
        return repr(self._held).replace("sparring.", "sparring.notation.", 1)


#: Binary operators with a scalar as right operand, as formulas of the entry `a` and the scalar `s`.
_SIGNS = {"plus": "a + s", "minus": "a - s", "times": "a * s", "truediv": "a / s", "div": "a / s", "min": "min(a, s)"}


def _formula(op):
    return _SIGNS.get(str(op), {"max": "max(a, s)", "pow": "pow(a, s)"}.get(str(op), str(op)))


class Vector(_Collection):
    """A vector, written by ``<<``.

    Parameters
    ----------
    x : sparring.Vector, array-like, or a dtype
    size : int, optional
        With a dtype as ``x``: an empty vector of this length.

    Examples
    --------
    >>> from sparring.notation import Vector, binary
    >>> w = Vector("float64", size=3)
    >>> w[1] = 5.0
    >>> w(accum=binary.plus) << w
    >>> w.to_numpy()
    array([ 0., 10.,  0.])
    """

    def __init__(self, x, *, size=None):
        self._held = _sparring.Vector(x) if size is None else _sparring.Vector.empty(size, x)

    size = property(lambda self: self._held.size, doc="Length.")

    @classmethod
    def from_coo(cls, indices, values, *, size, dup_op=None):
        """A vector from indices and values; ``dup_op`` combines duplicates, which are an error without it."""
        return cls(_sparring.Vector.from_coo(indices, values, size, None if dup_op is None else str(dup_op)))

    def to_numpy(self):
        """A dense array, with 0 for absent entries."""
        return self._held.to_numpy()

    def vxm(self, other, op="plus_times"):
        """xᵀ·A over a semiring."""
        return _Semiring(op)(self @ other)

    def reduce(self, op="plus"):
        """⊕ over all entries."""
        return _Expression(_sparring.reduce, self._held, str(op))

    def __getitem__(self, index):
        if hasattr(index, "__index__") and not hasattr(index, "__len__"):
            return self._held[index]
        return _Expression(_sparring.extract, self._held, index)

    def __setitem__(self, index, value):
        _Target(self, {}, _part(index)) << value


class Matrix(_Collection):
    """A matrix, written by ``<<``.

    Parameters
    ----------
    a : sparring.Matrix, sparse matrix, or a dtype
    nrows, ncols : int, optional
        With a dtype as ``a``: an empty matrix of this shape.
    """

    def __init__(self, a, nrows=None, ncols=None):
        self._held = _sparring.Matrix(a) if nrows is None else _sparring.Matrix.empty((nrows, ncols), a)

    nrows = property(lambda self: self.shape[0], doc="Number of rows.")
    ncols = property(lambda self: self.shape[1], doc="Number of columns.")

    @property
    def T(self):
        """The transpose, a view: operations read it without forming it."""
        return _Transposed(self)

    @classmethod
    def from_coo(cls, rows, columns, values, *, nrows, ncols, dup_op=None):
        """A matrix from indices and values; ``dup_op`` combines duplicates, which are summed without it."""
        dup = None if dup_op is None else str(dup_op)
        return cls(_sparring.Matrix.from_coo(rows, columns, values, (nrows, ncols), dup))

    def to_scipy(self):
        """The matrix as a ``scipy.sparse.csr_array``."""
        return self._held.to_scipy()

    def mxm(self, other, op="plus_times"):
        """A·B over a semiring."""
        return _Semiring(op)(self @ other)

    mxv = mxm

    def reduce_rowwise(self, op="plus"):
        """⊕ over each row, as a vector."""
        held, flip = _parts(self)
        return _Expression(_sparring.reduce_rows, held, str(op), transpose_a=flip)

    def reduce_columnwise(self, op="plus"):
        """⊕ over each column, as a vector."""
        held, flip = _parts(self)
        return _Expression(_sparring.reduce_rows, held, str(op), transpose_a=not flip)

    def reduce_scalar(self, op="plus"):
        """⊕ over all entries."""
        return _Expression(_sparring.reduce, _parts(self)[0], str(op))

    def kronecker(self, other, op="times"):
        """The Kronecker product."""
        (a, flip_a), (b, flip_b) = _parts(self), _parts(other)
        return _Expression(_sparring.kronecker, a, b, str(op), transpose_a=flip_a, transpose_b=flip_b)

    def __getitem__(self, index):
        rows, columns = index
        held, flip = _parts(self)
        if all(hasattr(one, "__index__") and not hasattr(one, "__len__") for one in index):
            return held[columns, rows] if flip else held[rows, columns]
        return _Expression(_sparring.extract, held, *_part(index), transpose_a=flip)

    def __setitem__(self, index, value):
        if all(hasattr(one, "__index__") and not hasattr(one, "__len__") for one in index):
            self._held[index] = value
        else:
            _Target(self, {}, _part(index)) << value


class _Transposed(Matrix):
    """A read-only transposed view of a matrix."""

    def __init__(self, of):
        self._of = of

    @property
    def _held(self):
        return self._of._held

    shape = property(lambda self: self._of.shape[::-1])

    @property
    def T(self):
        return self._of

    def new(self, mask=None, *, dtype=None):
        """Evaluates the transpose into a new matrix."""
        return _Expression(_sparring.transpose, self._held).new(mask, dtype=dtype)

    def __lshift__(self, what):
        raise TypeError("a transpose is read, not written")

    __setitem__ = None
