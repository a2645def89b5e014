"""Operators as objects: names, formulas, and Python functions that are traced once and run as compiled formulas."""

import inspect

from . import _sparring

_UFUNCS = {
    "add": "({} + {})",
    "subtract": "({} - {})",
    "multiply": "({} * {})",
    "divide": "({} / {})",
    "negative": "(-{})",
    "minimum": "min({}, {})",
    "maximum": "max({}, {})",
    "absolute": "abs({})",
    "sqrt": "sqrt({})",
    "exp": "exp({})",
    "log": "ln({})",
    "log1p": "ln_1p({})",
    "floor": "floor({})",
    "ceil": "ceil({})",
    "power": "pow({}, {})",
    "square": "({0} * {0})",
    "less": "({} < {})",
    "less_equal": "({} <= {})",
    "greater": "({} > {})",
    "greater_equal": "({} >= {})",
    "equal": "({} == {})",
    "not_equal": "({} != {})",
    "bitwise_and": "({} & {})",
    "bitwise_or": "({} | {})",
    "bitwise_xor": "({} ^ {})",
    "invert": "(!{})",
    "logical_and": "({} & {})",
    "logical_or": "({} | {})",
    "logical_not": "(!{})",
}


def _text(x):
    """A traced value, or a number, as part of a formula."""
    if isinstance(x, _Traced):
        return x.text
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, int):
        return str(x)
    if isinstance(x, float) or hasattr(x, "__float__") and not hasattr(x, "__len__"):
        return repr(float(x)) if getattr(x, "dtype", None) is None or x.dtype.kind == "f" else str(x)
    raise TypeError(f"{x!r} is no part of a formula")


class _Traced:
    """A value in a function that is being traced."""

    __slots__ = ("text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text):
        self.text = text

    def __bool__(self):
        raise TypeError("a formula has no branches: np.where(condition, x, y), np.minimum and np.maximum choose")

    def __array_ufunc__(self, ufunc, method, *operands, **settings):
        form = _UFUNCS.get(ufunc.__name__) if method == "__call__" and not settings else None
        if form is None:
            raise TypeError(f"formulas do not have numpy.{ufunc.__name__}")
        return _Traced(form.format(*map(_text, operands)))

    def __array_function__(self, function, types, operands, settings):
        if function.__name__ != "where" or len(operands) != 3 or settings:
            raise TypeError(f"formulas do not have numpy.{function.__name__}")
        return _Traced("select({}, {}, {})".format(*map(_text, operands)))


def _operators():
    def unary(form):
        return lambda self: _Traced(form.format(self.text))

    def binary(form):
        return lambda self, other: _Traced(form.format(self.text, _text(other)))

    def reflected(form):
        return lambda self, other: _Traced(form.format(_text(other), self.text))

    for name, form in {"neg": "(-{})", "abs": "abs({})", "invert": "(!{})"}.items():
        setattr(_Traced, f"__{name}__", unary(form))
    for name, sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
        setattr(_Traced, f"__{name}__", binary(f"({{}} {sign} {{}})"))
    signs = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "and": "&", "or": "|", "xor": "^"}
    forms = {name: f"({{}} {sign} {{}})" for name, sign in signs.items()}
    for name, form in (forms | {"pow": "pow({}, {})"}).items():
        setattr(_Traced, f"__{name}__", binary(form))
        setattr(_Traced, f"__r{name}__", reflected(form))


_operators()


def _traced(function):
    """The formula of a function: its parameters are `a` and `b`, or the entry `a` and any of `s`, `i` and `j`."""
    names = list(inspect.signature(function).parameters)
    if len(names) > 1 and not set(names[1:]) <= {"s", "i", "j"}:
        if len(names) != 2:
            raise TypeError(f"{function}: parameters are a and b, or a and any of s, i and j, not {names}")
        names[1] = "b"
    if not names:
        raise TypeError(f"{function}: it has no parameter")
    names[0] = "a"
    return _text(function(*map(_Traced, names)))


class _Operator(str):
    """An operator by its text, which every ``semiring=``, ``op=`` and ``accum=`` takes."""

    __slots__ = ()
    _kind = ""

    def __new__(cls, of):
        text = str(of) if isinstance(of, str) or not callable(of) else _traced(of)
        _sparring._check_operator(cls._kind, text)
        return super().__new__(cls, text)

    def __repr__(self):
        return f"sparring.{type(self).__name__}({str(self)!r})"


class UnaryOp(_Operator):
    """An operator on an entry.

    Parameters
    ----------
    of : str or callable
        A name, ``"sqrt"``; a formula of the entry ``a``, its row ``i``, its column ``j`` and a scalar ``s``,
        ``"a / (1 + s)"``; or a function of these, whose parameters after the first are named ``s``, ``i`` or ``j``. It
        is called once, on symbols: Python operators, ``abs``, and NumPy functions (``np.sqrt``, ``np.exp``,
        ``np.where``, ``np.minimum``, …) become a formula, which runs compiled, on GPUs too.

    Examples
    --------
    >>> import numpy as np, sparring as sp
    >>> half_above = sp.UnaryOp(lambda a, i, j: np.where(i < j, a / 2, a))
    >>> half_above
    sparring.UnaryOp('select((i < j), (a / 2), a)')
    >>> sp.UnaryOp("sqrt")(np.array([4.0, 9.0]))
    array([2., 3.])
    """

    __slots__ = ()
    _kind = "unary"

    def __call__(self, a):
        """The operator on the numbers of an array."""
        import numpy as np

        return _sparring.apply(np.atleast_1d(a), self).reshape(np.shape(a))[()]


class BinaryOp(_Operator):
    """An operator on two entries.

    Parameters
    ----------
    of : str or callable
        A name, ``"plus"``; a formula of ``a`` and ``b``, ``"a + 2*b"``; or a function of two, as for :class:`UnaryOp`.

    Examples
    --------
    >>> import sparring as sp
    >>> sp.BinaryOp(lambda x, y: abs(x - y) / (x + y))
    sparring.BinaryOp('(abs((a - b)) / (a + b))')
    >>> float(sp.BinaryOp("max")(2.0, 3.0))
    3.0
    """

    __slots__ = ()
    _kind = "binary"

    def __call__(self, a, b):
        """The operator on the numbers of two arrays."""
        import numpy as np

        a, b = np.broadcast_arrays(a, b)
        return _sparring.ewise_mult(a.ravel(), b.ravel(), self).reshape(a.shape)[()]


class Monoid(_Operator):
    """An associative operator with an identity.

    Parameters
    ----------
    of : str or callable
        A name, ``"min"``; or an operator as for :class:`BinaryOp`, with the other parameters.
    identity : number, optional
        Its identity e: e ⊕ a = a.
    terminal : number, optional
        The value z with z ⊕ a = z, at which a reduction may stop early.

    Examples
    --------
    >>> import numpy as np, sparring as sp
    >>> least = sp.Monoid(lambda a, b: np.minimum(a, b), identity=np.inf)
    >>> least
    sparring.Monoid('min(a, b) identity inf')
    >>> sp.reduce(np.array([3.0, 7.0, 5.0]), least)
    3.0
    """

    __slots__ = ()
    _kind = "monoid"

    def __new__(cls, of, identity=None, terminal=None):
        text = str(of) if isinstance(of, str) or not callable(of) else _traced(of)
        if identity is not None:
            text += f" identity {_text(identity)}"
        if terminal is not None:
            text += f" terminal {_text(terminal)}"
        return super().__new__(cls, text)


class Semiring(_Operator):
    """A monoid ⊕ and an operator ⊗.

    Parameters
    ----------
    add : str or Monoid
        A name of both, ``"min_plus"``, or ⊕.
    multiply : str, BinaryOp or callable, optional
        ⊗, as for :class:`BinaryOp`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sparring as sp
    >>> ring = sp.Semiring("min", lambda a, b: a + 2 * b)
    >>> ring
    sparring.Semiring('min, (a + (2 * b))')
    >>> a = scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]]))
    >>> sp.mxm(a, a, ring).toarray()
    array([[8., 0.],
           [0., 7.]])
    """

    __slots__ = ()
    _kind = "semiring"

    def __new__(cls, add, multiply=None):
        if multiply is None:
            return super().__new__(cls, add)
        multiply = _traced(multiply) if callable(multiply) and not isinstance(multiply, str) else str(multiply)
        return super().__new__(cls, f"{add}, {multiply}")
