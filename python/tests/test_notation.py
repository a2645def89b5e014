"""The notation of python-graphblas compared with the operations that it stands for."""

import numpy as np
import pytest
import sparring as sp
from sparring.notation import Matrix, Vector, binary, monoid, replace, semiring, unary

from test_arrays import random


@pytest.fixture
def three():
    return [random((8, 8), seed=seed) for seed in (1, 2, 3)]


def same(found, expected):
    found = found.to_scipy() if isinstance(found, Matrix) else found.to_numpy()
    np.testing.assert_array_equal(getattr(found, "toarray", lambda: found)(), getattr(expected, "toarray", lambda: expected)())


def test_products(three):
    a, b, m = three
    A, B, M = map(Matrix, three)
    same(semiring.min_plus(A @ B).new(), sp.mxm(a, b, "min_plus"))
    same((A @ B).new(), a @ b)
    same(A.mxm(B.T, semiring.plus_times).new(), a @ b.T)
    same(semiring["min, a + 2*b"](A.T @ B).new(mask=~M.S), sp.mxm(a, b, "min, a + 2*b", transpose_a=True, mask=~sp.Matrix(m).S))
    x = Vector(np.arange(8.0))
    same(semiring.plus_times(A @ x).new(), a @ np.arange(8.0))
    same(A.T.mxv(x).new(), a.T @ np.arange(8.0))
    same(x.vxm(A).new(), np.arange(8.0) @ a)
    assert semiring.plus_times(x @ x).new() == np.arange(8.0) @ np.arange(8.0)
    assert semiring.max_plus(x @ x).new() == 14


def test_writing(three):
    a, b, m = three
    A, B, M = map(Matrix, three)
    for settings, written in [
        (dict(), {}), (dict(mask=M.S), dict(mask=sp.Matrix(m).S)), (dict(mask=~M.V, accum=binary.plus), dict(mask=~sp.Matrix(m), accum="plus")),
        (dict(mask=M.V, replace=True), dict(mask=sp.Matrix(m), replace=True)),
    ]:
        C, c = Matrix(b), sp.Matrix(b).copy()
        C(**settings) << semiring.plus_times(A @ B)
        sp.mxm(a, b, out=c, **written)
        same(C, c.to_scipy())
    C = Matrix(b)
    C(M.S, replace, binary.plus) << A
    expected = sp.Matrix(b).copy()
    sp.assign(expected, a, mask=sp.Matrix(m).S, accum="plus", replace=True)
    same(C, expected.to_scipy())
    C << A.T
    same(C, a.T)
    C[[1, 2], :] = 7
    C[0, 0] = 5
    expected = a.T.toarray()
    expected[[1, 2]], expected[0, 0] = 7, 5
    same(C, expected)
    C(accum=binary.plus)[3:5, 1] = 2
    expected[3:5, 1] += 2
    same(C, expected)
    w = Vector("float64", size=8)
    w(accum=binary.max) << monoid.plus(A.reduce_rowwise().new() | A.reduce_columnwise().new())
    same(w, a.sum(axis=0) + a.sum(axis=1))
    w << 3
    assert w.nvals == 8 and w[2] == 3


def test_entry_by_entry(three):
    a, b, _ = three
    A, B, _ = map(Matrix, three)
    same(binary.plus(A | B).new(), a + b)
    same(binary.times(A & B.T).new(), a.multiply(b.T))
    same(A.ewise_add(B, binary.max).new(), sp.ewise_add(a, b, "max"))
    same(unary.ainv(A).new(), -a)
    same(A.apply(binary.times, right=3.0).new(), 3 * a)
    same(A.select("triu", 1).new(), np.triu(a.toarray(), 1))
    same(A.T.new(), a.T)
    same(A[[3, 1], 2:5].new(), a.toarray()[[3, 1], 2:5])
    assert A[0, 1] == a[0, 1] == A.T[1, 0]
    assert A.reduce_scalar(monoid.max).new() == a.max()
    assert binary.plus(2, 3) == 5
    assert (A.nrows, A.ncols, A.nvals, A.dtype) == (8, 8, a.nnz, a.dtype)
    assert Matrix("int64", 2, 3).shape == (2, 3)
    same(A.kronecker(B).new(), np.kron(a.toarray(), b.toarray()))
    same(Vector.from_coo([1, 1], [2.0, 3.0], size=3, dup_op=binary.plus), np.array([0.0, 5.0, 0.0]))
    same(Matrix.from_coo([0, 0], [1, 1], [2.0, 3.0], nrows=1, ncols=2, dup_op=binary.times), np.array([[0.0, 6.0]]))
    assert repr(A.dup()).startswith("<sparring.notation.Matrix of float64")


def test_wrong_notation(three):
    A, B, _ = map(Matrix, three)
    for wrong in [
        lambda: semiring.plus_times(A | B), lambda: binary.plus(A @ B), lambda: (A | B).new(), lambda: A.T << B,
        lambda: A @ 3 and semiring.plus_times(A @ 3), lambda: semiring.nothing(A @ B).new(), lambda: semiring._hidden,
    ]:
        with pytest.raises((TypeError, ValueError, AttributeError)):
            wrong()
