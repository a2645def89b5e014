"""Operations against dense arrays of NumPy's."""

import numpy as np
import pytest
import scipy.sparse
import sparring as sp

from test_arrays import random


def dense_product(a, b, add, mul, zero):
    """⊕ₖ aᵢₖ ⊗ bₖⱼ over the entries that exist, and where some does."""
    (m, n), out, some = (a.shape[0], b.shape[1]), np.full((a.shape[0], b.shape[1]), zero), np.zeros((a.shape[0], b.shape[1]), bool)
    for i in range(m):
        for j in range(n):
            for k in np.flatnonzero((a[i] != 0) & (b[:, j] != 0)):
                out[i, j] = add(out[i, j], mul(a[i, k], b[k, j]))
                some[i, j] = True
    return out, some


@pytest.mark.parametrize(
    ("semiring", "add", "mul", "zero"),
    [
        ("plus_times", lambda x, y: x + y, lambda x, y: x * y, 0.0),
        ("min_plus", min, lambda x, y: x + y, np.inf),
        ("min, a + 2*b", min, lambda x, y: x + 2 * y, np.inf),
        ("max_second", max, lambda x, y: y, -np.inf),
    ],
)
def test_products_over_semirings(semiring, add, mul, zero):
    a, b = random((9, 7), seed=2), random((7, 8), seed=3)
    c = sp.Matrix(sp.mxm(a, b, semiring))
    out, some = dense_product(a.toarray(), b.toarray(), add, mul, zero)
    rows, columns, values = c.to_coo()
    np.testing.assert_array_equal(np.stack([rows, columns]), np.nonzero(some))
    np.testing.assert_array_equal(values, out[some])


def test_masks_accumulators_and_out():
    a, m = random((10, 10), seed=4), sp.Matrix(random((10, 10), seed=5))
    full, mask = a.toarray() @ a.toarray(), m.to_scipy().toarray() != 0
    np.testing.assert_array_equal(sp.mxm(a, a, mask=m).toarray(), full * mask)
    np.testing.assert_array_equal(sp.mxm(a, a, mask=~m).toarray(), full * ~mask)
    np.testing.assert_array_equal(sp.mxm(a, a, mask=m.S, complement=True).toarray(), full * ~mask)
    c = sp.Matrix(random((10, 10), seed=6))
    before = c.to_scipy().toarray().copy()
    assert sp.mxm(a, a, mask=m, accum="plus", out=c) is c
    np.testing.assert_array_equal(c.to_scipy().toarray(), before + full * mask)
    sp.mxm(a, a, mask=m, replace=True, out=c)
    np.testing.assert_array_equal(c.to_scipy().toarray(), full * mask)
    # The result may be an operand, too.
    own = sp.Matrix(a)
    sp.mxm(own, own, out=own)
    np.testing.assert_array_equal(own.to_scipy().toarray(), full)


def test_products_with_vectors():
    a, x = random((8, 6), seed=7), np.arange(1.0, 7.0)
    np.testing.assert_array_equal(sp.mxv(a, x), a @ x)
    np.testing.assert_array_equal(sp.vxm(np.arange(8.0), a), np.arange(8.0) @ a)
    np.testing.assert_array_equal(sp.mxv(a, np.arange(8.0), transpose_a=True), a.T @ np.arange(8.0))
    m = sp.Matrix(a)
    np.testing.assert_array_equal(m @ x, a @ x)
    np.testing.assert_array_equal((m @ sp.Vector(x)).to_numpy(), a @ x)
    assert sp.Vector(x) @ sp.Vector(x) == x @ x
    np.testing.assert_array_equal(np.arange(8.0) @ m, np.arange(8.0) @ a)
    assert isinstance(np.float64(2) * m, sp.Matrix)
    with pytest.raises(TypeError):
        np.arange(8.0) + m
    np.testing.assert_array_equal((m @ m.T).to_scipy().toarray(), (a @ a.T).toarray())


def test_entry_by_entry():
    a, b = random((8, 6), seed=8), random((8, 6), seed=9)
    np.testing.assert_array_equal(sp.ewise_add(a, b).toarray(), (a + b).toarray())
    np.testing.assert_array_equal(sp.ewise_mult(a, b).toarray(), a.multiply(b).toarray())
    np.testing.assert_array_equal((sp.Matrix(a) - sp.Matrix(b)).to_scipy().toarray(), (a - b).toarray())
    np.testing.assert_array_equal((2 * sp.Matrix(a) / 4).to_scipy().toarray(), (a / 2).toarray())
    np.testing.assert_array_equal((-sp.Matrix(a)).to_scipy().toarray(), -a.toarray())
    np.testing.assert_array_equal(sp.apply(a, "a / (1 + s)", 3.0).toarray(), a.toarray() / 4)
    np.testing.assert_array_equal(sp.select(a, "valuegt", 2.0).toarray(), np.where(a.toarray() > 2, a.toarray(), 0))
    np.testing.assert_array_equal(sp.select(a, "tril", -1).toarray(), np.tril(a.toarray(), -1))
    np.testing.assert_array_equal(sp.select(a, "i < j").toarray(), np.triu(a.toarray(), 1))
    np.testing.assert_array_equal(sp.kronecker(a, b).toarray(), np.kron(a.toarray(), b.toarray()))
    assert sp.reduce(a) == a.sum()
    assert sp.reduce(a, "max") == a.max()
    np.testing.assert_array_equal(sp.reduce_rows(a).to_numpy(), a.sum(axis=1))
    np.testing.assert_array_equal(sp.reduce_rows(a, transpose_a=True).to_numpy(), a.sum(axis=0))
    np.testing.assert_array_equal(sp.aggregate(a, "count").to_numpy(), np.diff(a.indptr))
    np.testing.assert_array_equal(sp.transpose(a).toarray(), a.T.toarray())


@pytest.mark.parametrize("shape", [(30, 20), (9000, 100)])
def test_equal_patterns_in_arrays_of_their_own(shape):
    a = random(shape, 0.2)
    b = scipy.sparse.csr_array((a.data * 2, a.indices.copy(), a.indptr.copy()), shape=shape)
    other = b.copy()
    other.indices[-1] = next(j for j in range(shape[1]) if j not in other.indices[other.indptr[-2]:])
    other.sort_indices()
    for x in (b, other):
        np.testing.assert_array_equal(sp.ewise_add(a, x).toarray(), (a + x).toarray())
        np.testing.assert_array_equal(sp.ewise_mult(a, x).toarray(), a.multiply(x).toarray())


def test_numbers_keep_the_type_of_a_matrix():
    assert (sp.Matrix(random(dtype="float32")) * 2.5).dtype == np.dtype("float32")
    assert (sp.Matrix(random(dtype="int8")) * 2).dtype == np.dtype("int8")
    assert (sp.Matrix(random(dtype="int32")) * 2.5).dtype == np.dtype("float64")
    assert (sp.Matrix(random(dtype="float32")) @ sp.Matrix(random((20, 3)))).dtype == np.dtype("float64")
    with pytest.raises(OverflowError):
        sp.Matrix(random(dtype="int8")) * 300


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda a: sp.mxm(a, a), ValueError, "30"),
        (lambda a: sp.mxm(a, a.T, "min_plas"), (ValueError, TypeError), "min_plas"),
        (lambda a: sp.mxm(a, a.T, "min, a +"), ValueError, "formula"),
        (lambda a: sp.mxm(a, a.T, accum="plus"), ValueError, "out"),
        (lambda a: sp.mxm(a, a.T, complement=True), ValueError, "mask"),
        (lambda a: sp.mxm(a, a.T, out=a), TypeError, "out"),
        (lambda a: sp.mxm(a, a.T, device="gpu"), ValueError, "device"),
        (lambda a: sp.mxm(a, a.T, device="cuda:99"), RuntimeError, "99"),
        (lambda a: sp.mxm(a, np.ones(20)), TypeError, "mxv"),
        (lambda a: sp.mxv(a, a), TypeError, "vector"),
        (lambda a: sp.mxv(a, np.ones(19)), ValueError, "19"),
        (lambda a: sp.apply(a, "nothing"), (ValueError, TypeError), "nothing"),
        (lambda a: sp.reduce(a, "minus"), (ValueError, TypeError), "minus"),
        (lambda a: sp.aggregate(a, "median"), ValueError, "median"),
        (lambda a: sp.set_threads(10**6), ValueError, "threads"),
    ],
)
def test_wrong_calls_say_what_is_wrong(call, error, words):
    with pytest.raises(error, match=words):
        call(random())


def test_threads_give_the_same_bits():
    a = scipy.sparse.random_array((2000, 2000), density=0.01, format="csr", rng=np.random.default_rng(0))
    before = sp.get_threads()
    found = []
    for threads in [1, 2, 3]:
        sp.set_threads(threads)
        assert sp.get_threads() == threads
        found.append(sp.mxm(a, a))
    sp.set_threads(before)
    assert all((found[0].data.view("int64") == other.data.view("int64")).all() for other in found[1:])
