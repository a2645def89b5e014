"""Arrays in and out: shared where possible, converted at most once otherwise, refused where invalid."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
import sparring as sp

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def random(shape=(30, 20), density=0.2, seed=1, dtype="float64", cls=scipy.sparse.csr_array):
    rng = np.random.default_rng(seed)
    dense = (rng.random(shape) < density) * rng.integers(1, 5, shape)
    return cls(dense.astype(dtype))


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_all_types_come_back(dtype, index):
    a = random(dtype=dtype)
    a.indptr, a.indices = a.indptr.astype(index), a.indices.astype(index)
    m = sp.Matrix(a)
    assert (m.shape, m.nnz, m.dtype) == (a.shape, a.nnz, np.dtype(dtype))
    back = m.to_scipy()
    assert back.dtype == a.dtype
    np.testing.assert_array_equal(back.toarray(), a.toarray())


def test_memory_is_shared_both_ways():
    a = random()
    m = sp.Matrix(a)
    assert np.shares_memory(m.data, a.data)
    assert np.shares_memory(m.indices, a.indices)
    back = m.to_scipy()
    assert np.shares_memory(back.data, a.data)
    assert np.shares_memory(back.indices, a.indices)
    assert not m.data.flags.writeable
    c = sp.mxm(a, a.T.tocsr())
    assert c.data.flags.writeable
    # The arrays outlive the matrix, and the matrix outlives them.
    values = a.data.copy()
    del a, back
    np.testing.assert_array_equal(m.data, values)
    data = m.data
    del m
    np.testing.assert_array_equal(data, values)


@pytest.mark.parametrize("cls", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_kinds_come_back(cls, format):
    a = random((12, 12), cls=cls).asformat(format)
    c = sp.mxm(a, a)
    assert c.format == format
    assert isinstance(c, scipy.sparse.sparray) == (cls is scipy.sparse.csr_array)
    np.testing.assert_allclose(c.toarray(), a.toarray() @ a.toarray())


def test_unsorted_rows_and_repeated_entries():
    a = scipy.sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    np.testing.assert_array_equal(sp.Matrix(a).to_scipy().toarray(), [[2.0, 0.0, 1.0], [0.0, 4.0, 0.0]])
    twice = scipy.sparse.coo_array((np.array([1.0, 2.0]), (np.array([0, 0]), np.array([1, 1]))), shape=(1, 2))
    np.testing.assert_array_equal(sp.Matrix(twice).to_scipy().toarray(), [[0.0, 3.0]])


def test_strided_and_longer_arrays():
    a = random()
    data = np.repeat(a.data, 2)[::2]
    strided = scipy.sparse.csr_array((data, a.indices, a.indptr), shape=a.shape)
    np.testing.assert_array_equal(sp.Matrix(strided).to_scipy().toarray(), a.toarray())
    a.data, a.indices = np.append(a.data, [7.0, 7.0]), np.append(a.indices, [0, 0]).astype("int32")
    assert sp.Matrix(a).nnz == a.indptr[-1]


def bad(**arrays):
    a = random((4, 4), density=0.6)
    for name, value in arrays.items():
        setattr(a, name, value(getattr(a, name)))
    return a


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: 3, TypeError),
        (lambda: "matrix", TypeError),
        (lambda: None, TypeError),
        (lambda: [[1.0]], TypeError),
        (lambda: bad(data=lambda d: d.astype(object)), TypeError),
        (lambda: bad(data=lambda d: d.astype(">f8")), ValueError),
        (lambda: bad(data=lambda d: d.astype("float16")), TypeError),
        (lambda: bad(data=lambda d: d[:-1]), ValueError),
        (lambda: bad(indices=lambda i: i + 1), IndexError),
        (lambda: bad(indices=lambda i: i - 4), ValueError),
        (lambda: bad(indices=lambda i: i.astype(float)), TypeError),
        (lambda: bad(indices=lambda i: i.astype(float) * np.nan), TypeError),
        (lambda: bad(indices=lambda i: i.astype("int64") + 2**40), ValueError),
        (lambda: bad(indptr=lambda p: p[::-1].copy()), ValueError),
        (lambda: bad(indptr=lambda p: p[:-1]), ValueError),
        (lambda: bad(indptr=lambda p: p.astype("uint8")), TypeError),
        (lambda: bad(indptr=lambda p: p.reshape(1, -1)), ValueError),
        (lambda: bad(data=lambda d: d.reshape(1, -1)), ValueError),
    ],
)
def test_wrong_arrays_are_refused(make, error):
    with pytest.raises(error):
        sp.Matrix(make())


def test_pickle_and_copy():
    m = sp.Matrix(random(dtype="float32"))
    for other in [pickle.loads(pickle.dumps(m)), copy.copy(m), copy.deepcopy(m), m.copy()]:
        assert other.dtype == m.dtype
        np.testing.assert_array_equal(other.to_scipy().toarray(), m.to_scipy().toarray())
    other[0, 0] = 9
    assert (other[0, 0], m[0, 0]) == (9, random(dtype="float32")[0, 0])
    x = sp.Vector.from_coo([3, 1], [1.5, 2.5], size=5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)).to_numpy(), [0, 2.5, 0, 1.5, 0])


def test_entries_rows_and_blocks():
    a = random((6, 5), density=0.5)
    m, dense = sp.Matrix(a), a.toarray()
    for i in range(-6, 6):
        for j in range(-5, 5):
            assert m[i, j] == dense[i, j]
    for rows in [slice(None), slice(1, 5, 2), slice(4, 0, -1), np.array([3, 0, -1]), [True, False] * 3]:
        for columns in [slice(None), slice(2, None), np.array([4, 4, 0])]:
            found = m[rows, columns].to_scipy().toarray()
            np.testing.assert_array_equal(found, dense[rows][:, columns])
        np.testing.assert_array_equal(m[rows, 2].to_numpy(), dense[rows, 2])
    np.testing.assert_array_equal(m[2].to_numpy() if hasattr(m[2], "to_numpy") else m[2], dense[2])
    for index in [(6, 0), (0, -6), (0, 0, 0), (np.array([6]), 0), (0, np.array([0.5])), ([True], 0)]:
        with pytest.raises(IndexError):
            m[index]
    m[1, 1] = 5
    del m[0, 0]
    dense[1, 1], dense[0, 0] = 5, 0
    np.testing.assert_array_equal(m.to_scipy().toarray(), dense)
    m[2:4, :] = sp.Matrix(random((2, 5), density=0.4, seed=3))
    dense[2:4] = random((2, 5), density=0.4, seed=3).toarray()
    np.testing.assert_array_equal(m.to_scipy().toarray(), dense)


def test_vectors():
    x = sp.Vector(np.array([1, 0, 3], "int32"))
    assert (x.size, x.shape, x.nnz, x.dtype, len(x)) == (3, (3,), 3, np.dtype("int32"), 3)
    y = sp.Vector.from_coo([0, 2], [1.0, 2.0], size=4)
    assert (y[0], y[1], y[-2]) == (1.0, 0.0, 2.0)
    y[1] = 7
    del y[0]
    np.testing.assert_array_equal(y.to_numpy(fill=-1), [-1, 7, 2, -1])
    places, values = y.to_coo()
    assert (places.tolist(), values.tolist()) == ([1, 2], [7.0, 2.0])
    np.testing.assert_array_equal(sp.Vector.from_coo([1, 1], [2, 5], size=2, dup="max").to_numpy(), [0, 5])
    a = sp.Matrix.from_coo([1, 0, 1], [0, 2, 0], [1.0, 2.0, 4.0], shape=(2, 3))
    np.testing.assert_array_equal(a.to_scipy().toarray(), [[0, 0, 2], [5, 0, 0]])
    for index in [4, -5]:
        with pytest.raises(IndexError):
            y[index]
    for wrong in [lambda: sp.Vector.from_coo([0, 0], [1.0, 2.0], size=4), lambda: sp.Vector(np.ones((2, 2)))]:
        with pytest.raises(ValueError):
            wrong()
    for wrong in [
        lambda: sp.Vector.from_coo([4], [1.0], size=4),
        lambda: sp.Matrix.from_coo([0], [3], [1.0], shape=(2, 3)),
        lambda: sp.Matrix.from_coo([-1], [0], [1.0], shape=(2, 3)),
    ]:
        with pytest.raises(IndexError):
            wrong()


def test_conversions_are_told():
    a = random()
    wide = a.copy()
    wide.indices = wide.indices.astype("int64")
    for of, words in [
        (a, ["indptr"]), (wide, ["indptr", "indices"]), (a.astype(bool), ["bools"]), (a.tocsc(), ["transpose"]),
        (a.tocoo(), ["coo_array"]), (a.toarray(), ["dense"]),
    ]:
        told = sp.explain(sp.Matrix, of)[1]
        assert all(word in told for word in words), told
    wide.indptr = wide.indptr.astype("int64")
    wide.indices = a.indices
    assert sp.explain(sp.Matrix, wide)[1] == ""
