"""Operations compared with dense NumPy arrays."""

import numpy as np
import pytest
import scipy.sparse
import sparring as sp

from test_arrays import random


def dense_product(a, b, add, mul, zero):
    """⊕ₖ aᵢₖ ⊗ bₖⱼ over existing entries, and where there is at least one term."""
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
    # The result may also be an operand.
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


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_sums_of_arrays(dtype, index, format):
    # Long enough for several threads and parts; no entries, no rows or no columns.
    for shape, density in [((30, 20), 0.2), ((3000, 400), 0.1), ((4, 5000), 0.3), ((0, 3), 0), ((3, 0), 0), ((5, 4), 0)]:
        a = random(shape, density, dtype=dtype).asformat(format)
        a.indptr, a.indices = a.indptr.astype(index), a.indices.astype(index)
        m = sp.Matrix(a)
        assert sp.reduce(a) == sp.reduce(m)
        for transpose in (False, True):
            found, want = (sp.reduce_rows(x, transpose_a=transpose) for x in (a, m))
            assert (found.nnz, found.dtype, found.shape) == (want.nnz, want.dtype, want.shape)
            np.testing.assert_array_equal(found.to_numpy(), want.to_numpy())
        np.testing.assert_array_equal(m.sum(axis=0), a.sum(axis=0))


def test_sums_are_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(4)
    a = scipy.sparse.random_array((9000, 700), density=0.05, rng=rng, format="csr")
    found = []
    before = sp.get_threads()
    try:
        for threads in (1, 2, 3):
            sp.set_threads(threads)
            found.append((sp.reduce(a), sp.reduce_rows(a).to_numpy(), sp.reduce_rows(a, transpose_a=True).to_numpy()))
    finally:
        sp.set_threads(before)
    for one in found:
        for x, y, z in zip(one, found[0], (a.sum(), a.sum(axis=1), a.sum(axis=0))):
            np.testing.assert_array_equal(x, y)
            np.testing.assert_allclose(x, z, rtol=1e-12)


def test_sums_of_entries_in_any_order():
    # Duplicates, unsorted entries, arrays longer than the entries, NaN.
    data, indices = np.array([1.5, -0.0, 2.0, np.nan, 4.0, 9.0, 9.0]), np.array([2, 0, 2, 1, 0, 7, 7])
    a = scipy.sparse.csr_array((data, indices, [0, 3, 3, 5]), shape=(3, 3))
    a.data, a.indices = data, indices.astype("int32")
    assert np.isnan(sp.reduce(a))
    rows, columns = sp.reduce_rows(a), sp.reduce_rows(a, transpose_a=True)
    assert (rows.nnz, columns.nnz) == (2, 3)
    np.testing.assert_array_equal(rows.to_numpy(), [3.5, 0, np.nan])
    np.testing.assert_array_equal(columns.to_numpy(), [4, np.nan, 3.5])
    # Duplicates are summed into one entry before any other fold.
    assert sp.reduce(scipy.sparse.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1)), "max") == 3
    # Sums wrap in their own type.
    narrow = scipy.sparse.csr_array((np.full(3, 100, "int8"), [0, 1, 1], [0, 3]), shape=(1, 2))
    assert (sp.reduce(narrow), sp.reduce_rows(narrow, transpose_a=True).to_numpy().tolist()) == (44, [100, -56])


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_sums_of_wrong_arrays(format, index):
    def made(data=(1.0, 2.0, 3.0), indices=(0, 1, 2), indptr=(0, 1, 1, 3)):
        a = scipy.sparse.csr_array((3, 3)).asformat(format)
        a.data, a.indices, a.indptr = np.array(data), np.array(indices, index), np.array(indptr, index)
        return a

    def sums(a):
        return [lambda: sp.reduce(a), lambda: sp.reduce_rows(a), lambda: sp.reduce_rows(a, transpose_a=True)]

    wrong = [
        made(indptr=(0, 3, 1, 3)), made(indptr=(0, -1, 1, 3)), made(indptr=(1, 1, 1, 3)), made(indptr=(0, 1, 1, 4)),
        made(indptr=(0, 1, 3)), made(data=(1.0, 2.0)), made(indices=(0, 1)), made(data=[[1.0, 2.0, 3.0]]),
    ]
    for a in wrong:
        for sum_ in sums(a):
            with pytest.raises(ValueError):
                sum_()
    # Indices are checked where they are read.
    for j in (3, -1, 2**31 - 1):
        all_, rows, columns = sums(made(indices=(0, j, 1)))
        assert all_() == 6
        rows, columns = (rows, columns) if format == "csr" else (columns, rows)
        np.testing.assert_array_equal(rows().to_numpy(), [1, 0, 5])
        with pytest.raises((IndexError, ValueError), match="index|negative"):
            columns()
    with pytest.raises(TypeError):
        sp.reduce(made(data=np.array([None] * 3)))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_products_of_arrays_with_a_vector(dtype, index):
    for shape, density in [((30, 20), 0.2), ((3000, 400), 0.1), ((4, 5000), 0.3), ((0, 3), 0), ((3, 0), 0), ((5, 4), 0)]:
        a = random(shape, density, dtype=dtype)
        a.indptr, a.indices = a.indptr.astype(index), a.indices.astype(index)
        x = (np.arange(shape[1]) % 7 - 3).astype(dtype)
        found = sp.mxv(a, x)
        assert found.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(found, a @ x)
        np.testing.assert_array_equal(found, sp.mxv(sp.Matrix(a), x))
        np.testing.assert_array_equal(sp.mxv(a, np.repeat(x, 2)[::2]), found)


def test_products_of_entries_in_any_order_with_a_vector():
    a = scipy.sparse.csr_array((3, 3))
    a.data, a.indices = np.array([1.5, -2.0, 2.0, np.nan, 4.0]), np.array([2, 0, 2, 1, 0], "int32")
    a.indptr = np.array([0, 3, 3, 5], "int32")
    np.testing.assert_array_equal(sp.mxv(a, np.array([1.0, 10.0, 100.0])), [348, 0, np.nan])
    # Arrays longer than the entries; duplicates are one entry for other semirings.
    a.data, a.indices = np.append(a.data, 9.0), np.append(a.indices, np.int32(7))
    np.testing.assert_array_equal(sp.mxv(a, np.array([1.0, 10.0, 100.0])), [348, 0, np.nan])
    np.testing.assert_array_equal(sp.mxv(a, np.array([1.0, 1.0, 1.0]), "min_plus")[:2], [-1, 0])


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_products_of_wrong_arrays_with_a_vector(index):
    def product(data=(1.0, 2.0, 3.0), indices=(0, 1, 2), indptr=(0, 1, 1, 3), x=(1.0, 2.0, 3.0)):
        a = scipy.sparse.csr_array((3, 3))
        a.data, a.indices, a.indptr = np.array(data), np.array(indices, index), np.array(indptr, index)
        return sp.mxv(a, np.array(x))

    np.testing.assert_array_equal(product(), [1, 0, 13])
    for wrong in [
        {"indptr": (0, 3, 1, 3)}, {"indptr": (0, -1, 1, 3)}, {"indptr": (1, 1, 1, 3)}, {"indptr": (0, 1, 1, 4)},
        {"indptr": (0, 1, 3)}, {"data": (1.0, 2.0)}, {"indices": (0, 1)}, {"indices": (0, 3, 1)}, {"indices": (0, -1, 1)},
        {"indices": (0, 2**31 - 1, 1)}, {"x": (1.0, 2.0)}, {"data": [[1.0, 2.0, 3.0]]},
    ]:
        with pytest.raises((IndexError, ValueError)):
            product(**wrong)


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
