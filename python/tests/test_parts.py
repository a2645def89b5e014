"""Parts, blocks, comparisons, dense operands, operators as objects, and files, against NumPy and SciPy."""

import pickle

import numpy as np
import pytest
import scipy.io
import scipy.sparse
import sparring as sp

from test_arrays import random


def dense(a):
    return a.toarray() if hasattr(a, "toarray") else np.asarray(a)


@pytest.mark.parametrize("rows", [None, slice(2, 9, 3), slice(None, None, -1), [4, 4, 0], np.array([True] * 3 + [False] * 9)])
@pytest.mark.parametrize("columns", [None, slice(5), [-1, 2]])
def test_extract(rows, columns):
    a = random((12, 8), seed=1)
    full = a.toarray()
    expected = full[slice(None) if rows is None else rows][:, slice(None) if columns is None else columns]
    found = sp.extract(a, rows, columns)
    assert type(found) is type(a)
    np.testing.assert_array_equal(found.toarray(), expected)
    if rows is None:
        np.testing.assert_array_equal(sp.extract(a.T.tocsr(), rows, columns, transpose_a=True).toarray(), expected)


def test_extract_of_vectors_and_into_out():
    x = np.arange(5.0)
    np.testing.assert_array_equal(sp.extract(x, [3, 0, 3]), x[[3, 0, 3]])
    out = sp.Vector(np.ones(2))
    sp.extract(x, [4, 1], accum="plus", out=out)
    np.testing.assert_array_equal(out.to_numpy(), [5.0, 2.0])
    with pytest.raises(ValueError, match="one dimension"):
        sp.extract(x, [1], [0])
    with pytest.raises(IndexError, match="12"):
        sp.extract(random((12, 8)), [12])


def test_assign():
    c, b = sp.Matrix(random((6, 6), seed=2)), random((2, 3), seed=3)
    expected = c.toarray().copy()
    expected[np.ix_([5, 1], [0, 2, 4])] = b.toarray()
    assert sp.assign(c, b, [5, 1], [0, 2, 4]) is c
    np.testing.assert_array_equal(c.toarray(), expected)
    expected[2:4, 1] += 7
    sp.assign(c, 7, slice(2, 4), [1], accum="plus")
    np.testing.assert_array_equal(c.toarray(), expected)
    mask = random((6, 6), seed=4)
    expected[mask.toarray() != 0] = -1
    sp.assign(c, -1.0, mask=mask)
    np.testing.assert_array_equal(c.toarray(), expected)
    w = sp.Vector.empty(4)
    sp.assign(w, np.array([8.0, 9.0]), [3, 0])
    np.testing.assert_array_equal(w.to_numpy(), [9, 0, 0, 8])
    with pytest.raises(TypeError, match="out"):
        sp.assign(random(), 1.0)


def test_scatter_and_union():
    x, at = np.array([1.0, 5.0, 2.0, 7.0]), [3, 0, 3, 3]
    expected = np.zeros(5)
    np.add.at(expected, at, x)
    np.testing.assert_array_equal(sp.scatter(x, at, 5).to_numpy(), expected)
    assert sp.scatter(x, at, 5, "max")[3] == 7 and sp.scatter(x, at, 5).nnz == 2
    a, b = random((8, 6), seed=5), random((8, 6), seed=6)
    np.testing.assert_array_equal(sp.ewise_union(a, b).toarray(), (a - b).toarray())
    found = sp.ewise_union(a, b, "minus", 10, 100).toarray()
    x, y = a.toarray(), b.toarray()
    some = (x != 0) | (y != 0)
    np.testing.assert_array_equal(found, np.where(some, np.where(x, x, 10) - np.where(y, y, 100), 0))


def test_parts_of_vectors():
    full = np.arange(10.0)
    x = sp.Vector(full)
    np.testing.assert_array_equal(x[2:8:3].to_numpy(), full[2:8:3])
    np.testing.assert_array_equal(x[[4, -1]].to_numpy(), full[[4, -1]])
    np.testing.assert_array_equal(x[full > 5].to_numpy(), full[full > 5])
    x[1:4], full[1:4] = 7, 7
    x[[0, 9]] = full[[0, 9]] = [2.0, 3.0]
    np.testing.assert_array_equal(x.to_numpy(), full)
    for wrong in [10, -11, [10], 1 << 70]:
        with pytest.raises((IndexError, TypeError)):
            x[wrong]


def test_blocks_and_diagonals():
    a, b = random((3, 4), seed=7), random((3, 2), seed=8)
    made = sp.block([[a, b], [2 * a, b]])
    np.testing.assert_array_equal(made.toarray(), np.block([[a.toarray(), b.toarray()], [2 * a.toarray(), b.toarray()]]))
    parts = sp.split(made, [3, 3], [4, 2])
    np.testing.assert_array_equal(parts[1][0].toarray(), 2 * a.toarray())
    with pytest.raises(ValueError):
        sp.block([[a, b], [a]])
    with pytest.raises(ValueError, match="at least one block"):
        sp.block([])
    for k in [-1, 0, 2]:
        np.testing.assert_array_equal(sp.diag(np.arange(1.0, 4.0), k).toarray(), np.diag(np.arange(1.0, 4.0), k))
        np.testing.assert_array_equal(sp.diag(a, k).to_numpy(), np.diag(a.toarray(), k))
        np.testing.assert_array_equal(sp.Matrix(a).diagonal(k), np.diag(a.toarray(), k))
    assert sp.resize(a, (5, 2)).shape == (5, 2)
    np.testing.assert_array_equal(sp.resize(a, (5, 2)).toarray()[:3], a.toarray()[:, :2])
    assert sp.resize(sp.Vector(np.ones(3)), 5).nnz == 3
    np.testing.assert_array_equal(sp.Matrix.eye(3, "int32").toarray(), np.eye(3))


@pytest.mark.parametrize("op", ["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_comparisons(op, dtype):
    a, b = random((9, 7), seed=9, dtype=dtype), random((9, 7), seed=10, dtype=dtype)
    m, full = sp.Matrix(a), a.toarray()
    for other in [b, sp.Matrix(b)]:
        found = getattr(m, op)(other)
        assert found.dtype == bool
        np.testing.assert_array_equal(found.toarray(), getattr(full, op)(b.toarray()))
    for number in [0, 2, -1, 2.5, np.float32(2)]:
        np.testing.assert_array_equal(getattr(m, op)(number).toarray(), getattr(full, op)(number))
    x = sp.Vector.from_coo([1, 3], np.array([2, 5], dtype), 6)
    np.testing.assert_array_equal(getattr(x, op)(1).to_numpy(), getattr(x.to_numpy(), op)(1))
    assert m != "a" and not (m == None)  # noqa: E711


def test_comparisons_with_nan():
    a = scipy.sparse.csr_array(np.array([[np.nan, 0.0], [1.0, 0.0]]))
    for op in ["__le__", "__ge__", "__eq__", "__ne__"]:
        np.testing.assert_array_equal(getattr(sp.Matrix(a), op)(a).toarray(), getattr(a.toarray(), op)(a.toarray()))
    with pytest.raises(TypeError, match="order"):
        sp.Matrix(a.astype(complex)) < 1


def test_dense_operands():
    a, x = random((9, 7), seed=11), np.arange(21.0).reshape(7, 3)
    m = sp.Matrix(a)
    np.testing.assert_array_equal(m @ x, a @ x)
    np.testing.assert_array_equal(x.T @ m.T, x.T @ a.T)
    np.testing.assert_array_equal(sp.mxm(a, np.asfortranarray(x)), a @ x)
    np.testing.assert_array_equal(sp.mxm(a, x[::-1]), a @ x[::-1])
    minus = (x.T[:, :, None] - a.toarray().T * (a.toarray().T != 0))
    np.testing.assert_array_equal(sp.mxm(x.T, a.T, "plus_minus"), np.where(a.toarray().T != 0, minus, 0).sum(axis=1))
    y = np.arange(27.0).reshape(9, 3)
    np.testing.assert_array_equal(sp.mxm(a, y, transpose_a=True), a.T @ y)
    np.testing.assert_array_equal(sp.mxm(y, a, transpose_a=True), y.T @ a)
    np.testing.assert_array_equal(sp.mxm(a, x.T, transpose_b=True), a @ x)
    np.testing.assert_array_equal(sp.mxm(x, a, transpose_a=True, transpose_b=True), x.T @ a.T)
    full = np.where(a.toarray() != 0, a.toarray(), np.inf)
    np.testing.assert_array_equal(sp.mxm(a, x, "min_plus"), (full[:, :, None] + x[None]).min(axis=1))
    for wrong in [lambda: m @ x.T, lambda: x @ m, lambda: sp.mxm(a, x, mask=a)]:
        with pytest.raises(ValueError):
            wrong()
    made = sp.Matrix(np.array([[0, 3], [4, 0]]))
    assert (made.nnz, made.dtype) == (2, np.int64)


def test_sums_powers_and_counts():
    a = random((9, 7), seed=12, dtype="int8")
    m = sp.Matrix(a)
    assert m.sum() == a.sum()
    np.testing.assert_array_equal(m.sum(axis=0), a.sum(axis=0))
    np.testing.assert_array_equal(m.sum(axis=-1), a.sum(axis=1))
    assert m.sum(axis=0).dtype == np.int64
    np.testing.assert_array_equal((m**2).toarray(), (a**2).toarray())
    np.testing.assert_allclose((m.astype("float64") ** 1.5).toarray(), a.toarray() ** 1.5)
    assert m.count_nonzero() == a.nnz
    np.testing.assert_array_equal(sum([m, m]).toarray(), 2 * a.toarray())
    np.testing.assert_array_equal((a + m).toarray(), 2 * a.toarray())
    for wrong in [lambda: m + 1, lambda: m**0, lambda: m.sum(axis=2)]:
        with pytest.raises(ValueError):
            wrong()


def test_operators_as_objects():
    a = random((9, 7), seed=13)
    ring = sp.Semiring("min", lambda x, y: x + 2 * y)
    np.testing.assert_array_equal(sp.mxm(a, a.T, ring).toarray(), sp.mxm(a, a.T, "min, a + 2*b").toarray())
    assert pickle.loads(pickle.dumps(ring)) == ring and isinstance(pickle.loads(pickle.dumps(ring)), sp.Semiring)
    scaled = sp.apply(a, sp.UnaryOp(lambda a, s: a / (1 + s)), 3.0)
    np.testing.assert_array_equal(scaled.toarray(), a.toarray() / 4)
    above = sp.select(a, sp.UnaryOp(lambda a, i, j: i < j))
    np.testing.assert_array_equal(above.toarray(), np.triu(a.toarray(), 1))
    f = sp.UnaryOp(lambda v: np.where(v > 2, np.sqrt(v), -abs(v)))
    np.testing.assert_array_equal(f(np.array([4.0, 1.0])), [2.0, -1.0])
    assert sp.BinaryOp(lambda a, b: np.maximum(a, b) - b / 2)(3.0, 4.0) == 2.0
    np.testing.assert_array_equal(sp.BinaryOp("plus")(np.arange(3), np.arange(3)), [0, 2, 4])
    assert sp.reduce(a, sp.Monoid("a + b", identity=0)) == a.sum()
    assert sp.reduce(a, sp.Monoid(lambda a, b: np.minimum(a, b), identity=np.inf)) == a.data.min()
    distance = sp.BinaryOp(lambda a, b: abs(a - b) / (a + b + 1))
    found = sp.neighbors.pairwise_distances(a, metric=distance)
    x = a.toarray()
    np.testing.assert_allclose(found, (abs(x[:, None] - x) / (x[:, None] + x + 1)).sum(axis=2))
    for wrong in [
        lambda: sp.UnaryOp(lambda a: a if a > 0 else -a),
        lambda: sp.UnaryOp(lambda a: np.sin(a)),
        lambda: sp.UnaryOp(lambda: 1),
        lambda: sp.BinaryOp(lambda a, b, c: a),
        lambda: sp.UnaryOp(lambda a: a + "x"),
        lambda: sp.UnaryOp(""),
        lambda: sp.Semiring("min_plas"),
        lambda: sp.Monoid("minus"),
    ]:
        with pytest.raises((TypeError, ValueError)):
            wrong()


def test_files(tmp_path):
    a = random((6, 5), seed=14)
    for name in ["matrix_market", "csv", "npz", "npy"]:
        path = tmp_path / f"a.{name}"
        getattr(sp.io, f"write_{name}")(path, a)
        found = getattr(sp.io, f"read_{name}")(path)
        np.testing.assert_array_equal(found.toarray(), a.toarray())
    np.testing.assert_array_equal(scipy.sparse.load_npz(tmp_path / "a.npz").toarray(), a.toarray())
    sp.io.write_svmlight(tmp_path / "a.svm", a, labels=range(6))
    rows, labels = sp.io.read_svmlight(tmp_path / "a.svm", columns=5)
    np.testing.assert_array_equal(rows.toarray(), a.toarray())
    assert labels == [str(i) for i in range(6)]
    (tmp_path / "edges").write_text("10 20 0.5\n20 -3 2\n")
    made, ids = sp.io.read_edges(tmp_path / "edges", renumber=True)
    assert ids.tolist() == [-3, 10, 20] and made[1, 2] == 0.5 and made[2, 0] == 2
    (tmp_path / "named").write_text("ada bea\nbea cleo\n")
    assert sp.io.read_edges(tmp_path / "named", named=True)[1] == ["ada", "bea", "cleo"]
    (tmp_path / "graph").write_text("3 2\n2\n1 3\n2\n")
    assert sp.io.read_metis(tmp_path / "graph").nnz == 4
    (tmp_path / "table.csv").write_text("x,y\n1,0\n")
    made, names = sp.io.read_csv(tmp_path / "table.csv", header=True)
    assert names == ["x", "y"] and made.nnz == 1
    x = sp.Tensor([[0, 1], [2, 0], [1, 1]], [2.5, 3.0], shape=(2, 3, 2))
    x.write(tmp_path / "x.tns")
    back = sp.Tensor.read(tmp_path / "x.tns")
    assert (back.nnz, back.shape) == (2, (2, 3, 2))
    assert [of.tolist() for of in back.indices] == [[0, 1], [2, 0], [1, 1]] and back.values.tolist() == [2.5, 3.0]
    dense = np.zeros((2, 3, 2))
    dense[0, 2, 1], dense[1, 0, 1] = 2.5, 3.0
    assert sp.Tensor.from_dense(dense).values.tolist() == [2.5, 3.0]
    model = sp.cp_als(x, 2)
    sp.io.write_ktensor(tmp_path / "model", model)
    same = sp.io.read_ktensor(tmp_path / "model")
    np.testing.assert_array_equal(same.to_dense(), model.to_dense())
    with pytest.raises(ValueError, match="two"):
        sp.io.write_ktensor(tmp_path / "model", model._replace(factors=[np.ones(3)]))
    index = sp.neighbors.Index(a, "manhattan")
    index.save(tmp_path / "index")
    loaded = sp.neighbors.Index.load(tmp_path / "index")
    np.testing.assert_array_equal(loaded.kneighbors(a, 2)[1], index.kneighbors(a, 2)[1])
    scipy.io.savemat(tmp_path / "a.mat", {"A": scipy.sparse.csc_matrix(a)})
    np.testing.assert_array_equal(sp.io.read_mat(tmp_path / "a.mat").toarray(), a.toarray())
    for wrong, error in [
        (lambda: sp.io.read_csv(tmp_path / "table.csv"), ValueError),
        (lambda: sp.io.read_csv(tmp_path / "table.csv", delimiter=";;"), ValueError),
        (lambda: sp.io.read_edges(tmp_path / "edges", repeated="most"), ValueError),
        (lambda: sp.io.read_matrix_market(tmp_path / "none.mtx"), OSError),
        (lambda: sp.io.read_matrix_market(tmp_path / "a.matrix_market", max_bytes=3), (ValueError, MemoryError)),
        (lambda: sp.io.write_matrix_market(tmp_path / "no" / "dir", a), OSError),
        (lambda: sp.io.write_matrix_market(tmp_path / "s", a, symmetric=True), ValueError),
    ]:
        with pytest.raises(error):
            wrong()
