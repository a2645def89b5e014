"""Invalid calls: each raises one of Python's own exceptions with a message, and leaves the arguments unchanged.

A call is text, so that a failure shows it; it is evaluated with the names of :func:`names`.
"""

import collections.abc
import copy
import gc
import hashlib
import itertools
import pickle
import sys
import threading

import numpy as np
import pytest
import scipy.sparse
import sparring as sp


class Rows:
    """Compressed 2 × 2 rows, or an object that looks like them."""

    def __init__(self, **lies):
        self.format, self.shape = "csr", (2, 2)
        self.indptr, self.indices, self.data = np.array([0, 1, 2]), np.array([0, 1]), np.array([1.0, 2.0])
        for name, value in lies.items():
            setattr(self, name, value)


class Raises:
    """An object whose attributes, numbers and arrays raise."""

    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        raise self.error

    def __index__(self):
        raise self.error

    __float__ = __array__ = lambda self, *args, **kwargs: self.__index__()


class Converts:
    """An object whose conversions return this."""

    def __init__(self, found):
        self.found = found

    tocsr = __array__ = lambda self, *args, **kwargs: self.found


class Long(collections.abc.Sequence):
    """A sequence that claims to be longer than any memory."""

    def __len__(self):
        return 2**62

    def __getitem__(self, i):
        return 0


class Twisted(np.ndarray):
    """An array whose methods return wrong results."""

    def copy(self, *args, **kwargs):
        return np.broadcast_to(0.0, 10**9)

    astype = reshape = ravel = copy


def released():
    view = memoryview(np.array([1.0, 2.0]))
    view.release()
    return view


def big(dtype):
    return np.zeros(2, dtype).astype(np.dtype(dtype).newbyteorder(">" if sys.byteorder == "little" else "<"))


def names():
    rng = np.random.default_rng(1)
    A = scipy.sparse.random_array((12, 12), density=0.4, rng=rng, format="csr")
    B = scipy.sparse.random_array((12, 7), density=0.4, rng=rng, format="csr")
    T = sp.Tensor([[0, 1], [0, 2], [1, 1]], [1.0, 2.0], shape=(2, 3, 2))
    of = {
        "A": A, "B": B, "M": sp.Matrix(A.copy()), "X": sp.Vector(np.arange(12.0)), "x": np.arange(12.0), "T": T,
        "G": sp.graph.Graph(A), "I": sp.Matrix(A.astype("int8")), "F": [np.ones((n, 2)) for n in (2, 3, 2)],
        "tall": sp.Matrix.empty((2**40, 3)), "E": scipy.sparse.csr_array((0, 5)), "E2": scipy.sparse.csr_array((0, 0)),
        "R3": sp.Matrix(scipy.sparse.csr_array(np.ones((3, 3)))), "N": sp.neighbors, "g": sp.graph, "index": sp.neighbors.Index(A),
        "plan": sp.plan(A, A), "masked": lambda n: np.ma.masked_array(np.ones(n), np.arange(n) % 2), "sp": sp, "np": np,
        "ones": np.ones, "Rows": Rows, "Raises": Raises, "Converts": Converts, "Twisted": Twisted, "released": released,
        "big": big, "Long": Long, "itertools": itertools, "pickle": pickle, "copy": copy, "sparse": scipy.sparse, "nan": np.nan, "inf": np.inf,
        "bytes_of": lambda of: of.__reduce__()[1][0], "matrix_of": sp._sparring._matrix_of_bytes,
        "vector_of": sp._sparring._vector_of_bytes, "own": lambda a, **kw: sp.Matrix(a, **kw),
    }  # fmt: skip
    return of


def digest(of):
    """The bytes of all arguments."""
    m, x, t = of["M"], of["X"], of["F"]
    arrays = [of["x"], *t, *m.to_coo(), *x.to_coo(), *of["I"].to_coo()]
    arrays += [getattr(a, part) for a in (of["A"], of["B"]) for part in ("data", "indices", "indptr")]
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()


@pytest.fixture(scope="module")
def given():
    return names()


V, T, I, O, Me, R = ValueError, TypeError, IndexError, OverflowError, MemoryError, RuntimeError

#: Call, exception, and part of its message.
ARRAYS = [
    # Objects that are not matrices.
    ("sp.Matrix()", T, "'a'"),
    ("sp.Matrix(A, A, A, A)", T, "3 positional"),
    ("sp.Matrix(A, bogus=1)", T, "bogus"),
    ("sp.Matrix(None)", T, "NoneType"),
    ("sp.Matrix(3)", T, "int"),
    ("sp.Matrix('abc')", T, "str"),
    ("sp.Matrix(np.ma.masked_array(ones((2, 2))))", T, "masked array"),
    ("sp.Matrix(X)", T, "Vector"),
    ("sp.Matrix(G)", T, "Graph"),
    ("sp.Matrix(T)", T, "Tensor"),
    ("sp.Matrix(sparse.csr_array([1.0, 2.0]))", V, "two dimensions"),
    ("sp.Matrix(sparse.coo_array(ones((2, 2, 2))))", V, "3D"),
    ("sp.Matrix(Converts(3))", T, "int"),
    ("sp.Matrix(Converts(None))", T, "NoneType"),
    ("sp.Matrix(Converts(Converts(3)))", T, "shape"),
    ("sp.Matrix(Raises(KeyError('tocsr')))", KeyError, "tocsr"),
    ("sp.Matrix(Raises(AttributeError('no')))", T, "Raises"),
    ("sp.Matrix(Rows(format='csr\\0'))", T, "Rows"),
    ("sp.Matrix(Rows(format='coo'))", T, "Rows"),
    # Shapes.
    ("sp.Matrix(Rows(shape=(3, 2)))", V, "3, expected 4"),
    ("sp.Matrix(Rows(shape=(-1, 2)))", V, "-1"),
    ("sp.Matrix(Rows(shape=(2**63, 2)))", V, "9223372036854775809"),
    ("sp.Matrix(Rows(shape=(2**64, 2)))", V, "18446744073709551616"),
    ("sp.Matrix(Rows(shape=(2**64 - 1, 2)))", (V, O, Me), "18446744073709551615"),
    ("sp.Matrix(Rows(shape=(2, 0)))", I, "0"),
    ("sp.Matrix(Rows(shape=(2, 2**32)))", O, "4294967296"),
    ("sp.Matrix(Rows(shape=(2, 2**62)))", O, "4611686018427387904"),
    ("sp.Matrix(Rows(shape=(2,)))", V, "(2,)"),
    ("sp.Matrix(Rows(shape=(2, 2.0)))", V, "2.0"),
    ("sp.Matrix(Rows(shape=None))", V, "None"),
    ("sp.Matrix(Rows(shape='22'))", V, "22"),
    # Row pointers.
    ("sp.Matrix(Rows(indptr=np.array([0, -1, 2])))", V, "-1"),
    ("sp.Matrix(Rows(indptr=np.array([1, 1, 2])))", V, "expected 0"),
    ("sp.Matrix(Rows(indptr=np.array([0, 2, 1])))", V, "at least 2"),
    ("sp.Matrix(Rows(indptr=np.array([0, 2**62, 2])))", V, "4611686018427387904"),
    ("sp.Matrix(Rows(indptr=np.array([0, 1, 2**63 - 1])))", V, "9223372036854775807"),
    ("sp.Matrix(Rows(indptr=np.array([0, 1, -(2**63)])))", V, "-9223372036854775808"),
    ("sp.Matrix(Rows(indptr=np.array([0, 1, 3])))", V, "3"),
    ("sp.Matrix(Rows(indptr=np.array([0, 1, 2, 2])))", V, "4, expected 3"),
    ("sp.Matrix(Rows(indptr=np.array([0])))", V, "1, expected 3"),
    ("sp.Matrix(Rows(indptr=np.array([], int)))", V, "0, expected 3"),
    ("sp.Matrix(Rows(indptr=np.array([False, True, True])))", T, "indptr: bool"),
    ("sp.Matrix(Rows(indptr=np.array([0.0, 1.0, 2.0])))", T, "indptr: float64"),
    ("sp.Matrix(Rows(indptr=np.array([0, nan, 2])))", T, "indptr"),
    ("sp.Matrix(Rows(indptr=np.array([0, 1, 2], 'u8')))", T, "indptr: uint64"),
    ("sp.Matrix(Rows(indptr=np.array([0, 1, 2], '>i8')))", V, "byte order"),
    ("sp.Matrix(Rows(indptr=np.array([0, 1, 2], object)))", T, "indptr"),
    ("sp.Matrix(Rows(indptr=np.matrix([0, 1, 2])))", V, "2 dimensions"),
    ("sp.Matrix(Rows(indptr=masked(3)))", T, "indptr: a masked array"),
    ("sp.Matrix(Rows(indptr=None))", V, "None"),
    ("sp.Matrix(Rows(indptr='abc'))", V, "abc"),
    # Columns.
    ("sp.Matrix(Rows(indices=np.array([0, 2])))", I, "2 is not below 2"),
    ("sp.Matrix(Rows(indices=np.array([0, -1])))", V, "-1"),
    ("sp.Matrix(Rows(indices=np.array([0, -(2**31)], 'i4')))", V, "-2147483648"),
    ("sp.Matrix(Rows(indices=np.array([0, 2**31])))", I, "2147483648"),
    ("sp.Matrix(Rows(indices=np.array([0, 2**32 + 1])))", V, "4294967297"),
    ("sp.Matrix(Rows(indices=np.array([0, 2**63 - 1])))", V, "9223372036854775807"),
    ("sp.Matrix(Rows(indices=np.array([0])))", V, "expected 1"),
    ("sp.Matrix(Rows(indices=np.array([0, nan])))", T, "indices: float64"),
    ("sp.Matrix(Rows(indices=np.array([0, inf])))", T, "indices: float64"),
    ("sp.Matrix(Rows(indices=np.array([True, False])))", T, "indices: bool"),
    ("sp.Matrix(Rows(indices=big('i4')))", V, "byte order"),
    ("sp.Matrix(Rows(indices=np.zeros((2, 1), int)))", V, "not one of 2 dimensions"),
    ("sp.Matrix(Rows(indices=np.array([0, 0]), indptr=np.array([0, 2, 2])))", V, "(0, 0) is given twice"),
    # Values.
    ("sp.Matrix(Rows(data=ones(1)))", V, "1, expected 2"),
    ("sp.Matrix(Rows(data=ones(0)))", V, "0, expected 2"),
    ("sp.Matrix(Rows(data=ones(2, 'f2')))", T, "float16"),
    ("sp.Matrix(Rows(data=ones(2, 'g')))", (T, V), "data"),
    ("sp.Matrix(Rows(data=ones(2, 'O')))", T, "object"),
    ("sp.Matrix(Rows(data=np.array(['a', 'b'])))", T, "<U1"),
    ("sp.Matrix(Rows(data=np.array([b'a', b'b'])))", T, "|S1"),
    ("sp.Matrix(Rows(data=np.zeros(2, 'V8')))", T, "|V8"),
    ("sp.Matrix(Rows(data=np.zeros(2, 'M8[s]')))", T, "datetime64"),
    ("sp.Matrix(Rows(data=np.zeros(2, [('a', 'i4')])))", T, "<i4"),
    ("sp.Matrix(Rows(data=big('f8')))", V, "byte order"),
    ("sp.Matrix(Rows(data=big('c16')))", V, "byte order"),
    ("sp.Matrix(Rows(data=masked(2)))", T, "data: a masked array"),
    ("sp.Matrix(Rows(data=np.float64(3)))", V, "data"),
    ("sp.Matrix(Rows(data=released()))", V, "data"),
    ("sp.Matrix(Rows(data=b'ab'))", V, "data"),
    ("sp.Matrix(Rows(data=Raises(KeyError('array'))))", KeyError, "array"),
    ("sp.Matrix(Rows(data=Converts(3)))", V, "__array__"),
    ("sp.Matrix(Rows(data=np.broadcast_to(1.0, 2).view(Twisted), indices=[0]))", V, "expected 1"),
    # Types and devices.
    ("sp.Matrix(A, 'nothing')", T, "nothing"),
    ("sp.Matrix(A, 'float16')", T, "float16"),
    ("sp.Matrix(A, '>f8')", V, ">f8"),
    ("sp.Matrix(A, object)", T, "object"),
    ("sp.Matrix(A, 'i1')", T, "(0, "),
    ("M.astype(None)", T, "None"),
    ("M.astype('x')", T, "x"),
    ("X.astype(None)", T, "None"),
    ("T.astype(None)", T, "None"),
    ("sp.Matrix(A, device='')", V, "device"),
    ("sp.Matrix(A, device='cpu:0')", V, "cpu:0"),
    ("sp.Matrix(A, device='cuda:-1')", V, "cuda:-1"),
    ("sp.Matrix(A, device='cuda:99999999999999999999')", V, "cuda:9999"),
    ("sp.Matrix(A, device='cuda:0:1')", V, "cuda:0:1"),
    ("sp.Matrix(A, device='cuda:99')", R, "99"),
    ("sp.Matrix(A, device='\\0')", V, "device"),
    ("sp.Matrix(A, device='\\ud800')", V, "utf-8"),
    ("sp.Matrix(A, device=0)", T, "device"),
    ("M.to('x')", V, "device"),
    ("M.to(None)", T, "device"),
    # Single entries.
    ("sp.Matrix.from_coo([0.7], [1], [1.0], (2, 2))", T, "rows: expected integers, not float64"),
    ("sp.Matrix.from_coo([True], [1], [1.0], (2, 2))", T, "rows: expected integers, not bool"),
    ("sp.Matrix.from_coo([0], ['1'], [1.0], (2, 2))", T, "columns"),
    ("sp.Matrix.from_coo([nan], [1], [1.0], (2, 2))", T, "rows"),
    ("sp.Matrix.from_coo([2**63], [1], [1.0], (2, 2))", I, "9223372036854775808"),
    ("sp.Matrix.from_coo([2**70], [1], [1.0], (2, 2))", T, "rows"),
    ("sp.Matrix.from_coo([-1], [1], [1.0], (2, 2))", I, "-1, not below 2"),
    ("sp.Matrix.from_coo([0], [2], [1.0], (2, 2))", I, "columns: number 0 is 2"),
    ("sp.Matrix.from_coo(masked(2), [0, 1], [1.0, 1.0], (2, 2))", T, "rows: a masked array"),
    ("sp.Matrix.from_coo([0, 1], [0, 1], masked(2), (2, 2))", T, "values: a masked array"),
    ("sp.Matrix.from_coo([0], [1], [1.0, 2.0], (2, 2))", V, "2, expected 1"),
    ("sp.Matrix.from_coo([0, 1], [1], [1.0], (2, 2))", V, "expected"),
    ("sp.Matrix.from_coo([[0]], [[1]], [[1.0]], (2, 2))", V, "2 dimensions"),
    ("sp.Matrix.from_coo(None, None, None, (2, 2))", V, "None"),
    ("sp.Matrix.from_coo([0], [1], ['a'], (2, 2))", T, "values"),
    ("sp.Matrix.from_coo([0], [1], [1.0], (2**61, 2**61))", O, "2305843009213693952"),
    ("sp.Matrix.from_coo([0], [1], [1.0], (2**64, 2))", O, "shape"),
    ("sp.Matrix.from_coo([0], [1], [1.0], (-1, 2))", O, "shape"),
    ("sp.Matrix.from_coo([0], [1], [1.0], 2)", T, "shape"),
    ("sp.Matrix.from_coo(big('i8'), [0, 1], [1.0, 1.0], (2, 2))", V, "byte order"),
    ("sp.Matrix.empty((5, 2**61))", O, "2305843009213693952"),
    ("sp.Matrix.empty((-1, 3))", O, "shape"),
    ("sp.Matrix.empty((2.0, 3))", T, "shape"),
    ("sp.Matrix.empty((3,))", V, "length 2"),
    ("sp.Matrix.empty(None)", T, "shape"),
    ("sp.Matrix.empty((3, 3), 'longdouble')", (T, V), "dtype"),
    ("sp.Vector.empty(2**61)", O, "2305843009213693952"),
    ("sp.Vector.empty(2**64)", O, "size"),
    ("sp.Vector.empty(-1)", O, "size"),
    ("sp.Vector.from_coo([0.5], [1.0], 4)", T, "indices"),
    ("sp.Vector.from_coo([4], [1.0], 4)", I, "4, not below 4"),
    ("sp.Vector.from_coo([0, 0], [1.0, 2.0], 4)", V, "twice"),
    ("sp.Vector.from_coo([0, 0], [1.0, 2.0], 4, dup='a +')", V, "formula"),
    ("sp.Vector.from_coo([0], [1.0], 4, dup='zzz')", T, "zzz"),
    ("sp.Vector.from_coo([2**31], [1.0], 2**62)", O, "4611686018427387904"),
    ("sp.Vector('abc')", V, "abc"),
    ("sp.Vector(None)", V, "None"),
    ("sp.Vector(3)", V, "3"),
    ("sp.Vector(ones((2, 2)))", V, "2 dimensions"),
    ("sp.Vector(masked(3))", T, "masked"),
    ("sp.Vector(np.array([1], object))", T, "object"),
    ("sp.Vector(Raises(KeyError('array')))", KeyError, "array"),
    ("sp.Vector.empty(2**32 - 1).to_numpy('a')", (T, Me), ""),
    ("sp.Vector.empty(3).to_numpy('a')", T, "'a'"),
    ("sp.Vector.empty(3, 'i1').to_numpy(300)", (O, V), "300"),
    ("sp.Vector.empty(3).to_numpy([1, 2])", T, "[1, 2]"),
]

INDEXES = [
    ("M[0, 0, 0]", I, "3"),
    ("M[()]", I, "0"),
    ("M['a']", V, "a"),
    ("M[None]", V, "None"),
    ("M[...]", V, "llipsis"),
    ("M[0.5, 0]", V, "0.5"),
    ("M[12, 0]", I, "12"),
    ("M[0, -13]", I, "-13"),
    ("M[2**62, 0]", I, "4611686018427387904"),
    ("M[2**63, 0]", I, "9223372036854775808"),
    ("M[-(2**80), 0]", I, "1208925819614629174706176"),
    ("M[::0]", V, "zero"),
    ("M[slice('a', 'b')]", T, "slice"),
    ("M[np.array([2**63], 'u8'), 0]", I, "9223372036854775808"),
    ("M[np.array([12]), 0]", I, "12"),
    ("M[big('i8'), 0]", V, "byte order"),
    ("M[np.array([1.5]), 0]", I, "float64"),
    ("M[np.array([nan]), 0]", I, "float64"),
    ("M[np.array(['a']), 0]", T, "<U1"),
    ("M[np.array([None]), 0]", T, "object"),
    ("M[np.array([[0, 1]]), 0]", V, "2 dimensions"),
    ("M[masked(3), 0]", T, "masked"),
    ("M[[True] * 13, 0]", I, "13"),
    ("M[M]", V, "Matrix"),
    ("M[Raises(KeyError('index')), 0]", KeyError, "index"),
    ("M[0, Raises(KeyError('index'))]", KeyError, "index"),
    ("M.__setitem__((0, 0), 'a')", T, "'a' is not a valid float64"),
    ("M.__setitem__((0, 0), None)", T, "None is not a valid float64"),
    ("M.__setitem__((0, 0), 1j)", T, "1j is not a valid float64"),
    ("M.__setitem__((0, 0), 10**400)", O, "does not fit float64"),
    ("M.__setitem__((0, 0), 10**5000)", O, "int object does not fit float64"),
    ("M.__setitem__((0, 0), Raises(KeyError('float')))", KeyError, "float"),
    ("M.__setitem__((12, 0), 1)", I, "12"),
    ("M.__setitem__((slice(0, 2), slice(0, 2)), A)", V, "12×12"),
    ("M.__setitem__(slice(None), 'a')", T, "'a'"),
    ("M.__delitem__((12, 0))", I, "12"),
    ("M.__delitem__((slice(None), 0))", T, "del"),
    ("I.__setitem__((0, 0), 128)", O, "128 does not fit int8"),
    ("I.__setitem__((0, 0), 1.5)", T, "1.5 is not a valid int8"),
    ("I.__setitem__((0, 0), Raises(KeyError('index')))", KeyError, "index"),
    ("own(A, dtype='?').__setitem__((0, 0), None)", T, "None is not a bool"),
    ("own(A, dtype='?').__setitem__((0, 0), 'no')", T, "'no' is not a bool"),
    ("own(A, dtype='c16').__setitem__((0, 0), 'no')", T, "'no' is not a valid complex128"),
    ("M.indptr.__setitem__(0, 1)", V, "read-only"),
    ("M.data.__setitem__(0, 1)", V, "read-only"),
    ("setattr(M.data.flags, 'writeable', True)", V, "WRITEABLE"),
    ("setattr(M, 'shape', (1, 1))", AttributeError, "shape"),
    ("setattr(M, 'zzz', 1)", AttributeError, "zzz"),
    ("bool(M)", V, "ambiguous"),
    ("len(M)", T, "len"),
    ("type('S', (sp.Matrix,), {})", T, "base type"),
    ("X['a']", T, "'a'"),
    ("X[0.5]", T, "0.5"),
    ("X[12]", I, "12"),
    ("X[-13]", I, "-13"),
    ("X[2**64]", I, "18446744073709551616"),
    ("X[list(range(1000))]", I, "12"),
    ("X[Raises(KeyError('index'))]", KeyError, "index"),
    ("X.__setitem__(0, 'a')", T, "'a' is not a valid float64"),
    ("X.__setitem__(12, 1)", I, "12"),
    ("X.__delitem__(12)", I, "12"),
    ("bool(X)", V, "ambiguous"),
]

OPERATIONS = [
    # Semirings and formulas.
    ("sp.mxm(A, A, None)", T, "semiring"),
    ("sp.mxm(A, A, 3)", T, "semiring"),
    ("sp.mxm(A, A, b'plus_times')", T, "semiring"),
    ("sp.mxm(A, A, '')", V, "formula"),
    ("sp.mxm(A, A, ',')", V, "formula"),
    ("sp.mxm(A, A, '_')", V, "formula"),
    ("sp.mxm(A, A, 'plus,')", V, "formula"),
    ("sp.mxm(A, A, 'plus_nothing')", T, "plus_nothing"),
    ("sp.mxm(A, A, 'plus, a\\0b')", V, "operator"),
    ("sp.mxm(A, A, 'plus\\0times')", V, "formula"),
    ("sp.mxm(A, A, 'plus, é + 𝕓')", V, "é"),
    ("sp.mxm(A, A, '\\ud800')", V, "utf-8"),
    ("sp.mxm(A, A, 'plus, ' + '(' * 100000)", V, "of at most 1000"),
    ("sp.mxm(A, A, 'plus, ' + '(' * 900 + 'a' + ')' * 90)", V, "formula"),
    ("sp.mxm(A, A, 'plus, ' + '(' * 480 + 'a' + ')' * 480)", (V, None), ""),
    ("sp.mxm(A, A, 'plus, ' + '-' * 900 + 'a')", (V, None), ""),
    ("sp.mxm(A, A, 'plus, ' + 'min(' * 240 + 'a')", V, "formula"),
    ("sp.mxm(A, A, 'plus, ' + 'a+' * 450 + 'b')", (V, None), ""),
    ("sp.mxm(A, A, 'plus, ' + '9' * 900)", V, "formula"),
    ("sp.mxm(A, A, 'plus, 1e999')", V, "1e999"),
    ("sp.mxm(A, A, 'a+b, a')", V, "identity"),
    ("sp.mxm(A, A, 'a-b, a')", T, "a-b"),
    ("sp.mxm(A, A, 'x' * 10**7)", T, "characters"),
    # Operands.
    ("sp.mxm(A)", T, "'b'"),
    ("sp.mxm(A, None)", T, "NoneType"),
    ("sp.mxm(A, 3)", T, "int"),
    ("sp.mxm(A, B.T)", V, "12×12, rhs is 7×12"),
    ("sp.mxm(B, B)", V, "12×7"),
    ("sp.mxm(A, B, transpose_b=True)", V, "7×12"),
    ("sp.mxm(X, A)", T, "mxv"),
    ("sp.mxm(A, x)", T, "mxv"),
    ("sp.mxm(A, A, transpose_a=None)", T, "transpose_a"),
    ("sp.mxm(A, A, transpose_a=2)", T, "transpose_a"),
    ("sp.mxm(A, A, bogus=1)", T, "bogus"),
    ("sp.mxm(A, A, device='nope')", V, "nope"),
    ("sp.mxm(A, Raises(KeyError('format')))", KeyError, "format"),
    ("sp.mxv(A, ones(11))", V, "11"),
    ("sp.mxv(A, ones((12, 1)))", T, "vector"),
    ("sp.mxv(A, [1.0] * 12)", T, "vector"),
    ("sp.mxv(A, A)", T, "vector"),
    ("sp.mxv(A, ones(12, 'f2'))", T, "float16"),
    ("sp.mxv(A, ones(12, '>f8'))", V, "byte order"),
    ("sp.mxv(A, ones(12, 'O'))", T, "object"),
    ("sp.mxv(A, masked(12))", T, "masked"),
    ("sp.mxv(A, np.matrix(ones(12)))", T, "vector"),
    ("sp.vxm(ones(11), A)", V, "11"),
    ("sp.vxm(A, x)", T, "vector"),
    ("sp.vxm(x, None)", T, "NoneType"),
    # Masks, accumulators, results.
    ("sp.mxm(A, A, mask=3)", T, "int"),
    ("sp.mxm(A, A, mask=B)", V, "12×7"),
    ("sp.mxm(A, A, mask=x)", V, ""),
    ("sp.mxm(A, A, mask=~X)", V, ""),
    ("sp.mxm(A, A, complement=True)", V, "mask"),
    ("sp.mxm(A, A, mask=A, complement='yes')", T, "complement"),
    ("sp.mxm(A, A, accum='plus')", V, "out"),
    ("sp.mxm(A, A, accum='zzz', out=own(A))", T, "zzz"),
    ("sp.mxm(A, A, accum=3, out=own(A))", T, "accum"),
    ("sp.mxm(A, A, out=own(B))", V, "12×7"),
    ("sp.mxm(A, A, out=I)", V, "i8"),
    ("sp.mxm(A, A, out=own(A, dtype='c16'))", V, "complex"),
    ("sp.mxm(A, A, out=X)", V, ""),
    ("sp.mxm(A, A, out=A)", T, "csr_array"),
    ("sp.mxm(A, A, out=ones((12, 12)))", T, "ndarray"),
    ("sp.mxm(A, A, out=3)", T, "int"),
    ("sp.mxv(A, x, out=sp.Vector(ones(11)))", V, "11"),
    ("sp.mxv(A, x, out=M)", V, ""),
    ("sp.mxv(A, x, mask=M)", V, ""),
    ("sp.mxv(A, x, mask=ones(11))", V, "11"),
    ("sp.Mask(M)", T, "Mask"),
    # Other operations.
    ("sp.ewise_add(A, B)", V, "12×7"),
    ("sp.ewise_add(A, X)", V, ""),
    ("sp.ewise_add(A, A, 'a+')", V, "formula"),
    ("sp.ewise_add(A, A, 'zzz')", T, "zzz"),
    ("sp.ewise_add(A, A, None)", T, "op"),
    ("sp.ewise_mult(X, A)", V, ""),
    ("sp.ewise_mult(X, sp.Vector(ones(11)))", V, "11"),
    ("sp.kronecker(A, X)", V, ""),
    ("sp.kronecker(sp.Matrix.empty((3, 2**31)), sp.Matrix.empty((3, 2**31)))", O, "4611686018427387904"),
    ("sp.kronecker(tall, tall)", O, "number of rows"),
    ("sp.apply(A, 'zzz')", T, "zzz"),
    ("sp.apply(A, 'a +' * 10000)", V, "30000"),
    ("sp.apply(A, 'a+s')", V, "scalar"),
    ("sp.apply(A, 'a+s', 'x')", T, "'x' is not a valid float64"),
    ("sp.apply(A, 'a+s', [1])", T, "[1] is not a valid float64"),
    ("sp.apply(A, 'a+s', 2**2000)", O, "does not fit"),
    ("sp.apply(I, 'a+s', 300)", O, "300 does not fit int8"),
    ("sp.apply(I, 'a+s', 0.5)", T, "0.5 is not a valid int8"),
    ("sp.select(A, 'zzz')", T, "zzz"),
    ("sp.select(A, 'i < ')", V, "formula"),
    ("sp.select(A, 'tril')", V, "scalar"),
    ("sp.select(A, 'tril', 0.5)", T, "0.5 is not a valid int64"),
    ("sp.select(A, 'tril', nan)", T, "nan is not a valid int64"),
    ("sp.select(A, 'tril', 2**63)", O, "9223372036854775808"),
    ("sp.reduce(None)", T, "NoneType"),
    ("sp.reduce(A, 'minus')", T, "minus"),
    ("sp.reduce(A, None)", T, "monoid"),
    ("sp.reduce_rows(X)", T, "Vector"),
    ("sp.reduce_rows(A, out=M)", V, ""),
    ("sp.reduce_rows(A, out=sp.Vector(ones(3)))", V, "3"),
    ("sp.aggregate(A, 'median')", V, "median"),
    ("sp.aggregate(X, 'count')", T, "Vector"),
    ("sp.aggregate(own(A, dtype='c16'), 'argmax')", T, "order"),
    ("sp.transpose(X)", T, "Vector"),
    ("sp.transpose(B, out=own(B))", V, "12×7"),
    ("sp.transpose(A, mask=B)", V, "12×7"),
    # Operators of Python.
    ("M * None", T, "None is not a number"),
    ("M * 'a'", T, "'a' is not a number"),
    ("M * [1]", T, "[1] is not a number"),
    ("M * ones((2, 2, 2))", T, "ndarray"),
    ("M * 10**400", O, "does not fit float64"),
    ("I * 300", O, "300 does not fit int8"),
    ("M + 1", V, "nonzero"),
    ("M + 'a'", T, "'a'"),
    ("M + None", T, "None"),
    ("M - X", V, ""),
    ("M / 'a'", T, "'a'"),
    ("1 / M", T, "int"),
    ("M @ None", T, "NoneType"),
    ("M @ ones(11)", V, "11"),
    ("ones(11) @ M", V, "11"),
    ("ones(12) + M", T, ""),
    ("X @ ones(3)", V, "3"),
    ("X + ones(11)", V, "11"),
    ("X * object()", T, "object"),
    # Plans.
    ("sp.plan(A, B.T)", V, "7×12"),
    ("sp.plan(A, X)", T, "Vector"),
    ("sp.plan(A, A, mask=B)", V, "12×7"),
    ("sp.plan(A, A, mask=~M)", T, "Mask"),
    ("sp.plan(A, A, complement=True)", V, "mask"),
    ("sp.plan(A, A, device='x')", V, "device"),
    ("plan(B, A)", V, "pattern"),
    ("plan(A)", T, "'b'"),
    ("plan(A, None)", T, "NoneType"),
    ("plan(A, A, 'zz')", T, "zz"),
    ("plan(A, A, out=A)", T, "csr_array"),
    ("plan(A, A, out=M)", V, "pattern"),
    ("plan(A, A, out=sp.Matrix.empty((12, 12), 'i1'))", V, "i8"),
    ("sp.Plan()", T, "Plan"),
    # Explanations, threads and budgets.
    ("sp.explain()", T, "function"),
    ("sp.explain(3)", T, "int"),
    ("sp.explain(lambda: 1 / 0)", ZeroDivisionError, "division"),
    ("sp.set_threads(-1)", O, "threads"),
    ("sp.set_threads(2**63)", V, "9223372036854775808"),
    ("sp.set_threads(2**64)", O, "threads"),
    ("sp.set_threads(10**6)", V, "1000000"),
    ("sp.set_threads(1.5)", T, "threads"),
    ("sp.set_threads(None)", T, "threads"),
    ("sp.set_memory_budget(-1)", O, "bytes"),
    ("sp.set_memory_budget(2**64)", O, "bytes"),
    ("sp.set_memory_budget(1.5)", T, "bytes"),
    ("sp.set_memory_budget('a')", T, "bytes"),
]

#: Matrices with 2⁴⁰ rows, whose row pointers exceed any memory.
TALL = [
    "tall.to_scipy()", "tall.indptr", "tall.indices", "tall.data", "tall.T", "tall @ R3", "tall @ ones(3)", "tall + tall",
    "tall * 2", "-tall", "tall[5]", "tall[:, 1]", "tall[::2]", "tall[2**33:, :]", "tall.astype('f4')", "tall.to_coo()",
    "pickle.loads(pickle.dumps(tall))", "tall.__setitem__((0, slice(None)), 1.0)", "tall.__setitem__((slice(None), 0), 1.0)",
    "tall.__setitem__((slice(0, 3), slice(0, 3)), R3)", "tall.__setitem__((2**32, 0), 1.0)", "tall.__setitem__((-1, 0), 1.0)",
    "sp.mxm(R3, R3, mask=tall)", "sp.mxm(tall, tall, transpose_b=True)", "sp.mxm(R3, R3, out=tall)", "sp.apply(tall, 'abs')",
    "sp.select(tall, 'tril', 0)", "sp.reduce_rows(tall)", "sp.aggregate(tall, 'count')", "sp.transpose(tall)",
    "sp.kronecker(tall, R3)", "sp.kronecker(R3, tall)", "sp.plan(tall, R3)", "N.kneighbors(tall, R3, k=1)",
    "N.kneighbors(R3, tall, k=1)", "N.kneighbors(tall, k=1)", "N.kneighbors(R3, tall, k=1, metric='cosine')",
    "N.kneighbors(R3, tall, k=1, metric='abs(a-b)')", "N.kneighbors(R3, tall, k=1, metric='kl')", "N.pairwise_distances(R3, tall)",
    "N.pairwise_distances(tall, R3)", "N.pairwise_distances(tall)", "N.radius_neighbors_graph(tall, Y=R3)",
    "N.radius_neighbors_graph(R3, Y=tall, metric='manhattan')", "N.Index(tall)", "N.Index(tall, 'manhattan')",
    "N.Index(R3).kneighbors(tall, 1)", "N.Index(R3).radius_neighbors(tall, 1.0)", "g.Graph(tall)", "g.triangles(tall)",
    "g.triangles_per_vertex(tall)", "g.bipartite_matching(tall)", "g.all_pairs_shortest_paths(sp.Matrix.empty((2**20, 2**20)))",
]  # fmt: skip

NEIGHBORS = [
    ("N.kneighbors(A, k=-1)", O, "k"),
    ("N.kneighbors(A, k=2**64)", O, "k"),
    ("N.kneighbors(A, k=2.5)", T, "k"),
    ("N.kneighbors(A, k=None)", T, "k"),
    ("N.kneighbors(A, k='3')", T, "k"),
    ("N.kneighbors(A, B)", V, "12×7"),
    ("N.kneighbors(A, X)", T, "Vector"),
    ("N.kneighbors(None)", T, "NoneType"),
    ("N.kneighbors(A, metric=None)", T, "metric"),
    ("N.kneighbors(A, metric='')", V, "metric"),
    ("N.kneighbors(A, metric='euclidian')", V, "euclidian"),
    ("N.kneighbors(A, metric='\\0')", V, "formula"),
    ("N.kneighbors(A, metric='(' * 100000)", V, "100000 bytes"),
    ("N.kneighbors(A, metric='minkowski')", V, "p"),
    ("N.kneighbors(A, metric='minkowski', p=nan)", V, "NaN"),
    ("N.kneighbors(A, metric='minkowski', p=0)", V, "0 is below 1"),
    ("N.kneighbors(A, metric='minkowski', p=-1)", V, "-1"),
    ("N.kneighbors(A, metric='minkowski', p='2')", T, "p"),
    ("N.kneighbors(A, metric='euclidean', p=3)", V, "3"),
    ("N.kneighbors(A, normalize=1)", T, "normalize"),
    ("N.kneighbors(A, single='no')", T, "single"),
    ("N.kneighbors(A, device='gpu')", V, "gpu"),
    ("N.kneighbors(A, A, exclude_self=True)", V, "exclude_self"),
    ("N.kneighbors(A.astype('c16'))", T, "complex128"),
    ("N.kneighbors(A, bogus=1)", T, "bogus"),
    ("N.kneighbors_graph(A, mode='x')", V, "'x'"),
    ("N.kneighbors(-A, metric='kl')", V, "row 0"),
    ("N.pairwise_distances(np.full((2, 2), nan))", V, "NaN"),
    ("N.pairwise_distances(np.full((2, 2), inf))", V, "inf"),
    ("N.pairwise_distances([['a']])", (V, T), ""),
    ("N.pairwise_distances([[1, 2], [3]])", V, "inhomogeneous"),
    ("N.pairwise_distances(ones(3))", V, "1 dimensions"),
    ("N.pairwise_distances(ones((2, 2, 2)))", V, "3 dimensions"),
    ("N.pairwise_distances(np.ma.masked_array(ones((2, 2)), ones((2, 2))))", T, "masked"),
    ("N.pairwise_distances(3)", T, "int"),
    ("N.pairwise_distances(sp.Matrix.empty((2**20, 3)))", Me, "8796093022208"),
    ("N.radius_neighbors_graph(A, radius=nan)", V, "radius"),
    ("N.radius_neighbors_graph(A, radius='a')", T, "radius"),
    ("N.radius_neighbors_graph(A, radius=None)", T, "radius"),
    ("N.radius_neighbors_graph(A, mode='x')", V, "'x'"),
    ("N.Index(A, 'zzz')", V, "zzz"),
    ("N.Index(None)", T, "NoneType"),
    ("N.Index(A, p=2)", V, "2"),
    ("index.kneighbors(B, 3)", V, "12×7"),
    ("index.kneighbors(A, -1)", O, "k"),
    ("index.kneighbors(None, 1)", T, "NoneType"),
    ("index.radius_neighbors(A, nan)", V, "radius"),
    ("index.save('/nonexistent/x')", OSError, "/nonexistent/x"),
    ("index.save('a\\0b')", (OSError, V), "a"),
    ("index.save(3)", T, "path"),
    ("pickle.dumps(index)", T, "pickle"),
    ("copy.deepcopy(index)", T, "pickle"),
    ("N.nothing", AttributeError, "nothing"),
]

GRAPHS = [
    ("g.Graph(B)", V, "12×7"),
    ("g.Graph(None)", T, "NoneType"),
    ("g.Graph(A, 'yes')", T, "directed"),
    ("g.Graph(A, True, 1)", T, "weighted"),
    ("g.Graph(own(A, dtype='c16'), weighted=True)", T, "complex"),
    ("g.Graph(own(A, dtype='c16'))", V, "complex"),
    ("g.as_graph('a')", T, "str"),
    ("g.as_graph(type('X', (), {'__module__': None})())", T, "X"),
    ("G.degree(-1)", O, "vertex"),
    ("G.degree(12)", I, "12"),
    ("G.degree(2**64)", O, "vertex"),
    ("G.degree('a')", T, "vertex"),
    ("g.bfs(G, -1)", O, "source"),
    ("g.bfs(G, 12)", (V, I), "12"),
    ("g.bfs(G, 1.0)", T, "source"),
    ("g.bfs(G, None)", T, "source"),
    ("g.bfs(G, 0, device='x')", V, "device"),
    ("g.bfs(E2, 0)", (V, I), "0"),
    ("g.bfs(3, 0)", T, "int"),
    ("g.bfs_tree(G, 12)", (V, I), "12"),
    ("g.multi_source_bfs(G, [0.5])", T, "sources"),
    ("g.multi_source_bfs(G, [nan])", T, "sources"),
    ("g.multi_source_bfs(G, ['a'])", T, "sources"),
    ("g.multi_source_bfs(G, [True])", T, "sources"),
    ("g.multi_source_bfs(G, [-1])", I, "-1"),
    ("g.multi_source_bfs(G, [[0]])", V, "2 dimensions"),
    ("g.multi_source_bfs(G, None)", T, "sources"),
    ("g.multi_source_bfs(G, masked(2))", T, "masked"),
    ("g.sssp(-A, 0)", V, "negative"),
    ("g.sssp(A * nan, 0)", V, "not a number"),
    ("g.sssp(A, 99)", (V, I), "99"),
    ("g.sssp_tree(-A, 0, negative=True)", V, "cycle"),
    ("g.sssp_tree(A, 0, negative=2)", T, "negative"),
    ("g.all_pairs_shortest_paths(-A)", V, "negative"),
    ("g.pagerank(G, nan)", V, "damping"),
    ("g.pagerank(G, 1.5)", V, "damping"),
    ("g.pagerank(G, 'a')", T, "damping"),
    ("g.pagerank(G, tolerance=nan)", V, "tolerance"),
    ("g.pagerank(G, tolerance=-1)", V, "tolerance"),
    ("g.pagerank(G, max_iterations=0)", V, "max_iterations"),
    ("g.pagerank(G, max_iterations=-1)", O, "max_iterations"),
    ("g.pagerank(G, max_iterations=2**32)", O, "max_iterations"),
    ("g.pagerank(G, personalization=[1.0])", V, "1, expected 12"),
    ("g.pagerank(G, personalization=np.zeros(12))", V, "adds up to 0"),
    ("g.pagerank(G, personalization=np.full(12, nan))", V, "NaN"),
    ("g.pagerank(G, personalization=-ones(12))", V, "-1"),
    ("g.pagerank(G, personalization=np.full(12, 1e308))", V, "inf"),
    ("g.pagerank(G, personalization=['a'] * 12)", T, "personalization"),
    ("g.pagerank(G, personalization=ones(12) * 1j)", T, "complex128"),
    ("g.pagerank(G, personalization=ones((12, 1)))", V, "2 dimensions"),
    ("g.pagerank(G, personalization={0: 1})", T, "personalization"),
    ("g.pagerank(G, personalization=masked(12))", T, "masked"),
    ("g.hits(G, tolerance=nan)", V, "tolerance"),
    ("g.hits(G, max_iterations=0)", V, "max_iterations"),
    ("g.sampled_betweenness(G, 0)", V, "samples"),
    ("g.sampled_betweenness(G, -1)", O, "samples"),
    ("g.sampled_betweenness(G, 2**62)", V, "4611686018427387904"),
    ("g.sampled_betweenness(G, 3, seed=-1)", O, "seed"),
    ("g.eigenvector_centrality(G, tolerance=nan)", V, "tolerance"),
    ("g.katz_centrality(G, nan)", V, "alpha"),
    ("g.katz_centrality(G, 1e300)", V, "1000 steps"),
    ("g.katz_centrality(G, beta=inf)", V, "beta"),
    ("g.k_truss(G, -1)", O, "k"),
    ("g.k_truss(G, 2**32)", O, "k"),
    ("g.louvain(G, resolution=nan)", V, ""),
    ("g.louvain(A + A.T, resolution=nan)", V, "resolution"),
    ("g.louvain(A * nan, weight='w')", V, "not a number"),
    ("g.louvain(-(A + A.T), weight='w')", V, "weight"),
    ("g.louvain(G, seed=-1)", O, "seed"),
    ("g.leiden(A + A.T, iterations=0)", V, "iterations"),
    ("g.leiden(A + A.T, resolution=inf)", V, "resolution"),
    ("g.modularity(G, [])", V, "0, expected 12"),
    ("g.modularity(G, [0] * 11)", V, "11, expected 12"),
    ("g.modularity(G, [-1] * 12)", V, "-1"),
    ("g.modularity(G, [99] * 12)", V, "99"),
    ("g.modularity(G, np.array([0, 2**32] * 6))", V, "4294967296"),
    ("g.modularity(G, [0.5] * 12)", T, "labels"),
    ("g.modularity(G, ['a'] * 12)", T, "labels"),
    ("g.modularity(G, None)", V, "labels"),
    ("g.modularity(G, [0] * 12, resolution=nan)", V, "resolution"),
    ("g.label_propagation(G, -1)", O, "iterations"),
    ("g.minimum_spanning_forest(A * nan)", V, "not a number"),
    ("g.topological_order(A)", V, "cycle"),
    ("g.triangles(B)", V, "12×7"),
    ("g.triangles(None)", T, "NoneType"),
    ("g.bipartite_matching(None)", T, "NoneType"),
    ("g._graph.bfs(A, 0, None)", T, "Graph"),
    ("pickle.dumps(G)", T, "pickle"),
]

TENSORS = [
    ("sp.Tensor([], [], ())", V, "0"),
    ("sp.Tensor([[0]], [1.0], (0,))", I, "0, not below 0"),
    ("sp.Tensor([[0]], [1.0], (-1,))", O, "shape"),
    ("sp.Tensor([[0]], [1.0], (2**63,))", O, "9223372036854775808"),
    ("sp.Tensor([[0]], [1.0], (2**64,))", O, "shape"),
    ("sp.Tensor([[0.5]], [1.0], (3,))", T, "indices: expected integers, not float64"),
    ("sp.Tensor([[True]], [1.0], (3,))", T, "bool"),
    ("sp.Tensor([['1']], [1.0], (3,))", T, "indices"),
    ("sp.Tensor([[nan]], [1.0], (3,))", T, "indices"),
    ("sp.Tensor([[-1]], [1.0], (3,))", I, "-1"),
    ("sp.Tensor([[3]], [1.0], (3,))", I, "3"),
    ("sp.Tensor([[2**63]], [1.0], (3,))", I, "9223372036854775808"),
    ("sp.Tensor([[0]], [1.0], None)", T, "shape"),
    ("sp.Tensor([[0]], [1.0], '3')", T, "shape"),
    ("sp.Tensor([[0]], [1.0], (3.0,))", T, "shape"),
    ("sp.Tensor([[0]], ['a'], (3,))", T, "values"),
    ("sp.Tensor([[0]], None, (3,))", V, "None"),
    ("sp.Tensor([[0]], ones((1, 1)), (3,))", V, "2 dimensions"),
    ("sp.Tensor([[0]], ones(1, 'f2'), (3,))", T, "float16"),
    ("sp.Tensor([[0, 1]], masked(2), (3,))", T, "masked"),
    ("sp.Tensor([masked(2)], [1.0, 1.0], (3,))", T, "masked"),
    ("sp.Tensor([[0], [0, 1]], [1.0], (3, 3))", V, "2, expected 1"),
    ("sp.Tensor([[0], [0]], [1.0], (3,))", V, "1 modes"),
    ("sp.Tensor([[0]], [1.0], (3, 3))", V, "1 modes"),
    ("sp.Tensor(3, [1.0], (3,))", T, "iterable"),
    ("sp.Tensor([[0]] * 300, [1.0], (2,) * 300)", V, "255"),
    ("sp.Tensor([[0]], [1.0], range(2**40))", V, "255"),
    ("sp.Tensor([[0]], [1.0], range(2**62))", V, "255"),
    ("sp.Tensor([[0]], [1.0], Long())", V, "255"),
    ("sp.Tensor([[0]], [1.0], itertools.count())", V, "255"),
    ("sp.Tensor(itertools.repeat([0]), [1.0], (3,))", V, "1 modes"),
    ("sp.Matrix.empty(range(2**40))", (T, V), ""),
    ("sp.Tensor(Raises(KeyError('iter')), [1.0], (3,))", T, "Raises"),
    ("sp.Tensor.read('/nonexistent')", OSError, "/nonexistent"),
    ("sp.Tensor.read('a\\0b')", (OSError, V), "a"),
    ("sp.Tensor.read(3)", T, "path"),
    ("sp.Tensor.read('/')", OSError, "irectory"),
    ("T.astype('nope')", T, "nope"),
    ("pickle.dumps(T)", T, "pickle"),
    ("sp.mttkrp(T, F, 3)", V, "3"),
    ("sp.mttkrp(T, F, -1)", O, "mode"),
    ("sp.mttkrp(T, F, 2**64)", O, "mode"),
    ("sp.mttkrp(T, F, 0, 'zz')", T, "zz"),
    ("sp.mttkrp(T, None, 0)", T, "iterable"),
    ("sp.mttkrp(T, [], 0)", V, "factors: 0"),
    ("sp.mttkrp(T, F[:2], 0)", V, "factors: 2"),
    ("sp.mttkrp(T, F + F, 0)", V, "factors: 4"),
    ("sp.mttkrp(T, itertools.repeat(F[0]), 0)", V, "factors: 4"),
    ("sp.mttkrp(T, [F[0], ones((4, 2)), F[2]], 0)", V, "4 rows, the mode has 3"),
    ("sp.mttkrp(T, [F[0], ones((3, 3)), F[2]], 0)", V, "2 columns, others have 3"),
    ("sp.mttkrp(T, [F[0], ones(3), F[2]], 0)", V, "1 dimensions"),
    ("sp.mttkrp(T, [F[0], ones((3, 2), 'O'), F[2]], 0)", T, "object"),
    ("sp.mttkrp(T, [F[0], [['a'] * 2] * 3, F[2]], 0)", T, "factors"),
    ("sp.mttkrp(T, [F[0], ones((3, 2)) * 1j, F[2]], 0)", T, "complex128"),
    ("sp.mttkrp(T.astype('i8'), F, 0)", T, "float64"),
    ("sp.mttkrp(T, [F[0], np.ma.masked_array(F[1]), F[2]], 0)", T, "masked"),
    ("sp.mttkrp(M, F, 0)", T, "Tensor"),
    ("sp.mttkrp(sp.Tensor([[0]] * 3, [1.0], (2**40, 2, 2)), [None, ones((2, 2)), ones((2, 2))], 0)", Me, "mttkrp"),
    ("sp.cp_als(T, 0)", V, "rank"),
    ("sp.cp_als(T, -1)", O, "rank"),
    ("sp.cp_als(T, 2**30)", Me, "factors"),
    ("sp.cp_als(T, 2**62)", Me, "factors"),
    ("sp.cp_als(T, 2**64)", O, "rank"),
    ("sp.cp_als(T, 2.0)", T, "rank"),
    ("sp.cp_als(T, 2, sweeps=0)", V, "sweeps"),
    ("sp.cp_als(T, 2, tolerance=nan)", V, "tolerance"),
    ("sp.cp_als(T, 2, tolerance=-1)", V, "tolerance"),
    ("sp.cp_als(T, 2, seed=-1)", O, "seed"),
    ("sp.cp_als(T, 2, starts=0)", V, "starts"),
    ("sp.cp_als(T, 2, ridge=nan)", V, "ridge"),
    ("sp.cp_als(T, 2, ridge=-1)", V, "ridge"),
    ("sp.cp_als(T, 2, time_limit=-1)", V, "time_limit"),
    ("sp.cp_als(T, 2, time_limit=nan)", V, "time_limit"),
    ("sp.cp_als(T, 2, time_limit=1e300)", V, "time_limit"),
    ("sp.cp_als(T, 2, progress=3)", T, "callable"),
    ("sp.cp_als(T, 2, progress=lambda: 0)", T, "arguments"),
    ("sp.cp_als(T, 2, progress=lambda *a: 1 / 0)", ZeroDivisionError, "division"),
    ("sp.cp_als(T, 2, nonnegative=1)", T, "nonnegative"),
    ("sp.cp_als(T, 2, device='x')", V, "device"),
    ("sp.cp_als(M, 2)", T, "Tensor"),
    ("sp.cp_als(T.astype('c16'), 2)", T, "complex"),
    ("sp.cp_als(sp.Tensor([[0]] * 3, [nan], (2, 2, 2)), 2)", V, "NaN"),
    ("sp.cp_als(sp.Tensor([[0]] * 3, [inf], (2, 2, 2)), 2)", V, "inf"),
    ("sp.cp_als(sp.Tensor([[0]] * 3, [1.0], (2**62, 2, 2)), 2)", Me, "factors"),
    ("sp.einsum()", T, "expression"),
    ("sp.einsum(None, x)", T, "expression"),
    ("sp.einsum('', x)", V, "->"),
    ("sp.einsum('i->')", V, "operands"),
    ("sp.einsum('ij->i', x)", V, "2 letters and 1 indices"),
    ("sp.einsum('i,j->ij', x)", V, "2 operands"),
    ("sp.einsum('i->i', x, x)", V, "2 are given"),
    ("sp.einsum('ii->i', ones((2, 3)))", V, "3"),
    ("sp.einsum('i,i->', ones(2), ones(3))", V, "3"),
    ("sp.einsum('i->ii', x)", V, "twice"),
    ("sp.einsum('i->j', x)", V, "no operand"),
    ("sp.einsum('i->i->i', x)", V, "end"),
    ("sp.einsum('...i->i', x)", V, "letter"),
    ("sp.einsum('é->é', x)", V, "letter"),
    ("sp.einsum('i\\0->i', x)", V, "letter"),
    ("sp.einsum('i' * 100000 + '->', x)", V, "100000 letters"),
    ("sp.einsum('i,' * 100000 + 'i->', x)", V, "64"),
    ("sp.einsum('i->i', x, semiring='zz')", T, "zz"),
    ("sp.einsum('i->i', x, semiring=None)", T, "semiring"),
    ("sp.einsum('i->i', ones(2, 'O'))", T, "object"),
    ("sp.einsum('i->i', ones(2, 'f2'))", T, "float16"),
    ("sp.einsum('i->i', big('f8'))", V, "byte order"),
    ("sp.einsum('i->i', [1, 'a'])", T, "operands"),
    ("sp.einsum('i->i', None)", T, "object"),
    ("sp.einsum('i->i', masked(3))", T, "masked"),
    ("sp.einsum('i->i', Raises(KeyError('array')))", KeyError, "array"),
    ("sp.einsum('i->i', np.broadcast_to(1.0, 10**14))", Me, ""),
    ("sp.einsum('i,j->ij', ones(2**20), ones(2**20))", Me, "8796093022208"),
    ("sp.einsum('i,j,k,l->ijkl', *[ones(2**16)] * 4)", O, "18446744073709551616"),
]

PICKLES = [
    ("matrix_of(b'')", V, "byte 0"),
    ("matrix_of(b'garbage' * 10)", V, "a matrix"),
    ("matrix_of(None)", T, "bytes"),
    ("matrix_of('a')", T, "bytes"),
    ("matrix_of(bytearray(10))", T, "bytes"),
    ("matrix_of(bytes_of(X))", V, "does not begin"),
    ("matrix_of(bytes_of(M)[:-1])", V, "a matrix"),
    ("matrix_of(bytes_of(M)[:20])", V, "a matrix"),
    ("matrix_of(bytes_of(M)[:16] + b'\\xff' * 1000)", (V, O, Me), ""),
    ("vector_of(b'')", V, "byte 0"),
    ("vector_of(bytes_of(M))", V, "does not begin"),
    ("vector_of(bytes_of(X)[:-1])", V, "a vector"),
    ("pickle.loads(pickle.dumps(M)[:-30])", (pickle.UnpicklingError, EOFError, V), ""),
]

CALLS = ARRAYS + INDEXES + OPERATIONS + NEIGHBORS + GRAPHS + TENSORS + PICKLES


@pytest.mark.parametrize(("call", "error", "words"), CALLS, ids=[call[:70] for call, *_ in CALLS])
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_call_is_an_exception(given, call, error, words):
    refused(given, call, error, words)


def refused(given, call, error, words):
    """Evaluates a call, which must raise one of the errors with these words and modify no argument."""
    errors = error if isinstance(error, tuple) else (error,)
    before = digest(given)
    try:
        eval(call, dict(given))
    except tuple(e for e in errors if e) as e:
        # Argument names are notes, which Python has from 3.11 on.
        notes = getattr(e, "__notes__", None)
        text = " ".join([str(e), *(notes or [])])
        assert (text or words == "") and len(text) < 4000
        if sys.version_info >= (3, 11):
            assert words in text
    else:
        assert None in errors, "nothing was raised"
    assert digest(given) == before


@pytest.mark.parametrize("call", TALL)
def test_what_has_2_to_the_40_rows_is_computed_or_refused(given, call):
    try:
        eval(call, dict(given))
    except (MemoryError, OverflowError, TypeError, ValueError) as e:
        assert len(str(e)) > 10


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        # Strides, alignment, read-only and borrowed memory.
        ("sp.Vector(np.arange(6.0)[::-2]).to_numpy()", [5, 3, 1]),
        ("sp.Vector(np.arange(6.0).reshape(2, 3).T[0]).to_numpy()", [0, 3]),
        ("sp.Vector(np.broadcast_to(3.0, 2)).to_numpy()", [3, 3]),
        ("sp.Vector(np.zeros(17, 'u1')[1:].view('f8')).to_numpy()", [0, 0]),
        ("sp.Vector(np.zeros(9, 'u1')[1:1].view('f8')).to_numpy()", []),
        ("sp.Vector(np.frombuffer(bytes(16))).to_numpy()", [0, 0]),
        ("sp.Vector(np.arange(3)).to_numpy()", [0, 1, 2]),
        ("sp.Vector([1, 2, 3]).to_numpy()", [1, 2, 3]),
        ("sp.Vector(np.arange(6.0)[::2].view(Twisted)).to_numpy()", [0, 2, 4]),
        ("sp.Vector(np.arange(3.0).view(Twisted)).to_numpy()", [0, 1, 2]),
        ("sp.einsum('i->i', np.arange(6.0)[::2].view(Twisted))", [0, 2, 4]),
        ("own(Rows()).to_scipy().toarray()", [[1, 0], [0, 2]]),
        ("own(Rows(format='csc')).to_scipy().toarray()", [[1, 0], [0, 2]]),
        ("own(Rows(shape=(np.int64(2), np.int8(2)))).nnz", 2),
        ("own(Rows(indptr=[0, 1, 2], indices=[0, 1], data=[1.0, 2.0])).nnz", 2),
        ("own(Rows(data=memoryview(np.array([1.0, 2.0])))).nnz", 2),
        ("own(Rows(data=np.arange(1.0, 5.0)[::2])).to_scipy().toarray()", [[1, 0], [0, 3]]),
        ("own(Rows(indices=np.array([1, 0])[::-1])).to_scipy().toarray()", [[1, 0], [0, 2]]),
        ("own(Rows(indptr=np.array([0]), shape=(0, 2))).nnz", 0),
        ("own(Converts(sparse.eye_array(2, format='csr'))).nnz", 2),
        # Unsorted columns and duplicates.
        ("own(Rows(indices=np.array([1, 0]), indptr=np.array([0, 2, 2]))).to_scipy().toarray()", [[2, 1], [0, 0]]),
        ("own(sparse.csr_array((ones(3), [1, 0, 1], [0, 3, 3]), shape=(2, 2))).to_scipy().toarray()", [[1, 2], [0, 0]]),
        ("own(sparse.csc_array((ones(3), [1, 0, 1], [0, 3, 3]), shape=(2, 2))).to_scipy().toarray()", [[1, 0], [2, 0]]),
        # Empty.
        ("sp.Matrix.from_coo([], [], [], (0, 0)).shape", (0, 0)),
        ("own(E2).to_scipy().shape", (0, 0)),
        ("(own(E) @ own(E).T).shape", (0, 0)),
        ("(own(E).T @ own(E)).nnz", 0),
        ("sp.reduce(E2, 'max')", -np.inf),
        ("sp.aggregate(E, 'argmin').size", 0),
        ("N.pairwise_distances(E).shape", (0, 0)),
        ("N.kneighbors(E)[1].shape", (0, 0)),
        ("N.kneighbors(A, k=0)[1].shape", (12, 0)),
        ("N.kneighbors(A, k=2**40)[1].shape", (12, 12)),
        ("index.kneighbors(A, 2**62)[1].shape", (12, 12)),
        ("N.kneighbors_graph([[1.0, 2.0], [3.0, 4.0]], n_neighbors=1).shape", (2, 2)),
        ("N.radius_neighbors_graph(A, radius=-1).nnz", 0),
        ("g.connected_components(E2).tolist()", []),
        ("g.multi_source_bfs(G, 3).shape", (1, 12)),
        ("sp.einsum('ij,jk->ik', ones((3, 0)), ones((0, 2)))", np.zeros((3, 2))),
        ("sp.einsum('->', 1.0)", 1.0),
        # Huge, and indices of existing objects.
        ("sp.Matrix.empty((2**60, 5)).shape", (2**60, 5)),
        ("sp.Matrix.empty((2**40, 5))[-1, -1]", 0),
        ("sp.Vector.empty(2**32 - 1)[-1]", 0),
        ("sp.select(A, 'tril', -(2**63)).nnz", 0),
        ("sp.select(A, 'triu', -(2**63)).nnz", 58),
        ("M[:, :: 2**62].shape", (12, 1)),
        ("M[:: -(2**63)].shape", (1, 12)),
        ("M[2**64 :].shape", (0, 12)),
        ("M[[], 0].size", 0),
        ("M[[0] * 1000, 0].size", 1000),
        # Numbers that wrap or divide by zero.
        ("sp.apply(sp.Vector(np.array([-128, 5], 'i1')), 'a/s', -1).to_numpy()", [-128, -5]),
        ("sp.apply(sp.Vector(np.array([-128, 5], 'i1')), 'abs').to_numpy()", [-128, 5]),
        ("sp.Vector(np.array([100], 'i1')) @ sp.Vector(np.array([100], 'i1'))", 16),
        ("(M / 0).nnz", 58),
        # The factor of the output mode is not read.
        ("sp.mttkrp(T, [None, F[1], F[2]], 0)", [[1, 1], [2, 2]]),
        ("sp.mttkrp(T, [ones((7, 9)), F[1], F[2]], 0)", [[1, 1], [2, 2]]),
        ("sp.mttkrp(T, [f.T.copy().T for f in F], 0)", [[1, 1], [2, 2]]),
        ("sp.cp_als(sp.Tensor([[0]] * 28, [1.0], (1,) * 28), 1, sweeps=1).to_dense().shape", (1,) * 28),
        ("copy.deepcopy(M).nnz", 58),
        ("sp.explain(sp.explain, sp.mxm, A, A)[0][0].shape", (12, 12)),
    ],
)
def test_what_looks_wrong_and_is_right(given, call, expected):
    before = digest(given)
    np.testing.assert_array_equal(eval(call, dict(given)), expected)
    assert digest(given) == before


def test_a_budget_of_nothing():
    of = names()
    sp.set_memory_budget(0)
    try:
        for call in ["sp.mxm(A, A)", "N.kneighbors(A)", "sp.cp_als(T, 2)", "sp.einsum('i->', x)"]:
            with pytest.raises(MemoryError, match="budget is 0 bytes"):
                eval(call, of)
    finally:
        sp.set_memory_budget(None)
    assert sp.mxm(of["A"], of["A"]).nnz


class Reads:
    """A number that reads the object it is written to."""

    def __init__(self, of):
        self.of = of

    def __index__(self):
        return self.of.nnz % 3

    def __float__(self):
        return float(self.of.nnz)


@pytest.mark.parametrize(
    "write",
    [
        lambda m, x: m.__setitem__((0, 0), Reads(m)),
        lambda m, x: m.__setitem__((Reads(m), Reads(m)), 1.0),
        lambda m, x: m.__setitem__((slice(None), slice(None)), m),
        lambda m, x: m.__setitem__((slice(None), 0), Reads(m)),
        lambda m, x: m.__delitem__((Reads(m), 0)),
        lambda m, x: x.__setitem__(0, Reads(x)),
        lambda m, x: x.__setitem__(Reads(x), 1.0),
        lambda m, x: x.__delitem__(Reads(x)),
        lambda m, x: sp.mxm(m, m, mask=m, accum="plus", out=m),
        lambda m, x: sp.mxv(m, x, mask=x, accum="plus", out=x),
        lambda m, x: sp.transpose(m, mask=~m, out=m),
    ],
)
def test_an_object_may_be_read_while_it_is_written(write):
    m, x = sp.Matrix(scipy.sparse.csr_array(np.eye(3))), sp.Vector(np.arange(3.0))
    thread = threading.Thread(target=write, args=(m, x), daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "it waits for itself"
    assert m.nnz + x.nnz > 0


def test_bytes_of_pickles_that_are_spoiled():
    rng = np.random.default_rng(0)
    a = scipy.sparse.random_array((9, 9), density=0.4, rng=rng, format="csr")
    a.data = np.ceil(a.data)
    matrices = [sp.Matrix(a, dtype) for dtype in ("float64", "int8", "bool")]
    for of in [*matrices, sp.Vector(np.arange(9.0)), sp.Vector.from_coo([1], [2], 5)]:
        read, (kept,) = of.__reduce__()
        for length in range(len(kept)):
            with pytest.raises((ValueError, OverflowError, MemoryError)):
                read(kept[:length])
        for _ in range(2000):
            spoiled = bytearray(kept)
            for at in rng.integers(len(kept), size=rng.integers(1, 4)):
                spoiled[at] = rng.integers(256)
            try:
                found = read(bytes(spoiled))
            except (ValueError, IndexError, OverflowError, MemoryError, TypeError) as e:
                assert str(e)
            else:
                # Changed value bytes, or a shape that still fits the entries.
                assert repr(found) and found.nnz <= len(kept)


def test_arrays_whose_owners_are_gone():
    for _ in range(20):
        values = bytearray(np.arange(1.0, 1001.0).tobytes())
        x = sp.Vector(np.frombuffer(values))
        m = sp.Matrix(Rows(shape=(1000, 1), indptr=np.arange(1001), indices=np.zeros(1000, int), data=np.frombuffer(values)))
        with pytest.raises(BufferError):
            values.extend(b"more")
        data, indptr = m.data, m.indptr
        del values, m
        gc.collect()
        noise = [np.full(1000, -1.0) for _ in range(20)]
        assert (data.sum(), indptr[-1], x.to_numpy().sum(), len(noise)) == (500500, 1000, 500500, 20)
    lent = np.arange(1.0, 3.0)
    m = sp.Matrix(Rows(data=lent))
    with pytest.raises(ValueError):
        lent.resize(1000)
    assert m.data.sum() == 3


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ("N.NearestNeighbors(metric='zzz').fit(A)", V, "zzz"),
        ("N.NearestNeighbors(metric=None).fit(A)", T, "metric"),
        ("N.NearestNeighbors(metric='minkowski', p=-1).fit(A)", V, "-1"),
        ("N.NearestNeighbors(p=nan).fit(A)", V, "nan"),
        ("N.NearestNeighbors(p='a').fit(A)", V, "'a'"),
        ("N.NearestNeighbors(device='x').fit(A)", V, "device"),
        ("N.NearestNeighbors().fit(None)", V, "2D"),
        ("N.NearestNeighbors().fit(E)", V, "0 sample"),
        ("N.NearestNeighbors().fit(np.full((3, 3), nan))", V, "NaN"),
        ("N.NearestNeighbors().fit(A.astype('c16'))", V, "omplex"),
        ("N.NearestNeighbors().fit(sp.Matrix(A))", V, "2D"),
        ("N.NearestNeighbors().kneighbors(A)", V, "not fitted"),
        ("N.NearestNeighbors(n_neighbors=0).fit(A).kneighbors()", V, "0"),
        ("N.NearestNeighbors(n_neighbors=-1).fit(A).kneighbors()", V, "-1"),
        ("N.NearestNeighbors(n_neighbors=2**40).fit(A).kneighbors()", V, "1099511627776"),
        ("N.NearestNeighbors(n_neighbors=1.5).fit(A).kneighbors()", T, "float"),
        ("N.NearestNeighbors(n_neighbors=nan).fit(A).kneighbors()", T, "float"),
        ("N.NearestNeighbors().fit(A).kneighbors(B)", V, "7 features"),
        ("N.NearestNeighbors().fit(A).kneighbors(A, n_neighbors=True)", T, "bool"),
        ("N.NearestNeighbors().fit(A).radius_neighbors(A, radius=nan)", V, "radius"),
        ("N.NearestNeighbors().fit(A).radius_neighbors(A, radius='a')", (T, V), "'a'"),
        ("N.NearestNeighbors().fit(A).kneighbors_graph(mode='a')", V, '"a"'),
        ("N.KNeighborsClassifier().predict(A)", V, "not fitted"),
        ("N.KNeighborsClassifier().fit(A, None)", V, "None"),
        ("N.KNeighborsClassifier().fit(A, np.arange(11))", V, "11"),
        ("N.KNeighborsClassifier().fit(A, x * 1.5)", V, "continuous"),
        ("N.KNeighborsClassifier(weights='a').fit(A, x % 2).predict(A)", V, "'a'"),
        ("N.KNeighborsClassifier().fit(A, x % 2).predict(B)", V, "7 features"),
        ("N.KNeighborsRegressor().fit(A, x * nan)", V, "NaN"),
        ("N.KNeighborsTransformer(mode='x').fit(A).transform(A)", V, '"x"'),
        ("N.KNeighborsTransformer(n_neighbors=12).fit(A).transform(A)", V, "13"),
        ("N.RadiusNeighborsTransformer(mode='x').fit(A).transform(A)", V, '"x"'),
        ("N.RadiusNeighborsTransformer(radius=nan).fit(A).transform(A)", V, "radius"),
    ],
)
def test_a_wrong_call_of_an_estimator_is_an_exception(given, call, error, words):
    pytest.importorskip("sklearn")
    refused(given, call, error, words)
