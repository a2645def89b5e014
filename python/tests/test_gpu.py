"""GPU arrays of CuPy and other libraries, and operations on them."""

import pickle

import numpy as np
import pytest
import scipy.sparse
import sparring as sp

from test_arrays import random

pytestmark = pytest.mark.skipif("cuda:0" not in sp.devices(), reason="no GPU")


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def there(cupy):
    return pytest.importorskip("cupyx.scipy.sparse")


@pytest.mark.parametrize("dtype", ["bool", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_matrices_of_cupy(cupy, there, format, dtype):
    a = random((20, 20), dtype=dtype)
    on_device = there.csr_matrix(scipy.sparse.csr_matrix(a)).asformat(format)
    m = sp.Matrix(on_device)
    assert (m.device, m.shape, m.nnz, m.dtype) == ("cuda:0", a.shape, a.nnz, np.dtype(dtype))
    np.testing.assert_array_equal(m.to("cpu").toarray(), a.toarray())
    if dtype == "bool":
        return
    c = sp.mxm(on_device, on_device)
    assert type(c) is type(on_device)
    np.testing.assert_allclose(c.get().toarray(), a.toarray() @ a.toarray(), rtol=1e-5)


def test_results_are_shared(cupy, there):
    m = sp.Matrix(random()).to("cuda:0")
    data = cupy.asarray(m.data)
    assert data.data.ptr == m.data.__cuda_array_interface__["data"][0]
    np.testing.assert_array_equal(data.get(), random().data)
    np.testing.assert_array_equal(cupy.asarray(m.indices).get(), random().indices)
    np.testing.assert_array_equal(cupy.asarray(m.indptr).get(), random().indptr)
    # The array outlives the matrix.
    del m
    np.testing.assert_array_equal(data.get(), random().data)
    c = sp.mxm(there.csr_matrix(scipy.sparse.csr_matrix(random((20, 20)))), random((20, 20)))
    assert isinstance(c, there.csr_matrix)
    assert (c @ c).shape == (20, 20)


def test_vectors_of_cupy(cupy, there):
    a, x = random((20, 30)), np.arange(30.0)
    on_device = there.csr_matrix(scipy.sparse.csr_matrix(a))
    y = sp.mxv(on_device, cupy.asarray(x))
    assert isinstance(y, cupy.ndarray)
    np.testing.assert_allclose(y.get(), a @ x)
    # Rows without entries are 0, over any ⊕.
    b = scipy.sparse.csr_array(([1.0, 2.0], ([0, 2], [1, 3])), shape=(4, 30))
    for ring in ["plus_times", "plus_second", "min_plus", "max_times"]:
        for z in (x, x.astype("float32"), x.astype("int32")):
            found = sp.mxv(sp.Matrix(b, device="cuda"), cupy.asarray(z), ring)
            assert isinstance(found, cupy.ndarray) and found.dtype == np.float64
            np.testing.assert_array_equal(found.get(), sp.mxv(b, z, ring))
    with pytest.raises(ValueError):
        sp.mxv(b, cupy.ones(29))
    # Compressed columns, and a vector on the left.
    np.testing.assert_allclose(sp.mxv(there.csc_matrix(on_device), cupy.asarray(x)).get(), a @ x)
    assert sp.Vector(x, device="cuda") @ cupy.asarray(x) == x @ x
    assert sp.reduce(cupy.asarray(x)) == x.sum()
    assert sp.Vector(cupy.asarray(x)).device == "cuda:0"
    with pytest.raises(ValueError, match="contiguous"):
        sp.Vector(cupy.asarray(x)[::2])


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(30.0, device="cuda", dtype=torch.float64)
    y = sp.mxv(sp.Matrix(random((20, 30)), device="cuda"), x)
    assert isinstance(y, torch.Tensor) and y.device.type == "cuda"
    np.testing.assert_allclose(y.cpu().numpy(), random((20, 30)) @ np.arange(30.0))
    m = sp.Matrix(random(), device="cuda:0")
    np.testing.assert_array_equal(torch.as_tensor(m.data, device="cuda").cpu().numpy(), random().data)


def test_unsorted_and_wide(cupy, there):
    indptr, indices = cupy.asarray([0, 3, 4]), cupy.asarray([2, 0, 2, 1])
    a = there.csr_matrix((cupy.asarray([1.0, 2.0, 3.0, 4.0]), indices, indptr), shape=(2, 3))
    np.testing.assert_array_equal(sp.Matrix(a).to("cpu").toarray(), [[2, 0, 4], [0, 4, 0]])
    assert a.data.get().tolist() == [1.0, 2.0, 3.0, 4.0]
    empty = there.csr_matrix((3, 4), dtype="float64")
    assert sp.Matrix(empty).nnz == 0
    assert sp.mxm(empty, empty, transpose_b=True).nnz == 0


def test_wrong_arrays_are_refused(cupy, there):
    def given(indptr, indices, data, shape=(2, 3)):
        a = there.csr_matrix((2, 3), dtype="float64")
        a.data, a.indices, a.indptr = (cupy.asarray(part) for part in (data, indices, indptr))
        a._shape, a._has_canonical_format, a._has_sorted_indices = shape, True, True
        return a

    right = (np.array([0, 1, 2], "int32"), np.array([0, 2], "int32"), np.ones(2))
    assert sp.Matrix(given(*right)).nnz == 2
    for place, wrong in [
        (0, np.array([0, 2, 1], "int32")), (0, np.array([1, 1, 2], "int32")), (0, np.array([0, 1, 3], "int32")),
        (0, np.array([0, -1, 2], "int32")), (0, np.array([0, 2], "int32")), (1, np.array([0, 3], "int32")),
        (1, np.array([0, -1], "int32")), (1, np.array([0], "int32")), (2, np.ones(3)), (2, np.ones((2, 1))),
        (0, np.array([0.0, 1.0, 2.0])), (2, np.ones(2, "float16")),
    ]:
        parts = list(right)
        parts[place] = wrong
        with pytest.raises((ValueError, TypeError, IndexError)):
            sp.Matrix(given(*parts))
    unsorted = (np.array([0, 2, 2], "int32"), np.array([2, 0], "int32"), np.ones(2))
    with pytest.raises(ValueError, match="increase"):
        sp.Matrix(given(*unsorted))


class Claim:
    """An interface that describes memory which does not exist."""

    ndim = 1

    def __init__(self, at, len):
        self.__cuda_array_interface__ = {"shape": (len,), "typestr": "<f8", "data": (at, False), "version": 3}


def test_memory_that_is_not_there(cupy):
    real = cupy.ones(4)
    assert sp.Vector(Claim(real.data.ptr, 4)).nnz == 4
    for claim in [Claim(0, 4), Claim(0x1234, 4), Claim(np.ones(4).ctypes.data, 4), Claim(real.data.ptr, 1 << 40)]:
        with pytest.raises((ValueError, RuntimeError, MemoryError)):
            sp.Vector(claim)
    assert sp.Vector(Claim(real.data.ptr, 4)).nnz == 4


def test_operations_there():
    a = random((40, 40), seed=3)
    m = sp.Matrix(a, device="cuda")
    np.testing.assert_allclose((m @ m).to("cpu").toarray(), (a @ a).toarray())
    np.testing.assert_allclose((m @ np.arange(40.0)), a @ np.arange(40.0))
    np.testing.assert_array_equal((m > 2).to("cpu").toarray(), a.toarray() > 2)
    np.testing.assert_array_equal((m <= m.T).to("cpu").toarray(), a.toarray() <= a.toarray().T)
    np.testing.assert_allclose(sp.mxm(m, np.ones((40, 3))), a @ np.ones((40, 3)))
    plan = sp.plan(m, m)
    np.testing.assert_allclose(plan(m, m).to("cpu").toarray(), (a @ a).toarray())
    both = sp.block([[m, m]])
    assert both.device == "cuda:0"
    np.testing.assert_array_equal(sp.extract(m, [3, 1], slice(5)).to("cpu").toarray(), a.toarray()[[3, 1], :5])
    f = sp.UnaryOp(lambda a, i, j: np.where(i < j, a / 2, a))
    np.testing.assert_array_equal(
        sp.apply(m, f).to("cpu").toarray(), np.where(np.triu(np.ones((40, 40)), 1), a.toarray() / 2, a.toarray())
    )
    g = sp.graph.Graph(a, directed=True)
    np.testing.assert_array_equal(sp.graph.bfs(g, 0, device="cuda"), sp.graph.bfs(g, 0))
    distances, indices = sp.neighbors.kneighbors(a, k=3, device="cuda")
    expected, _ = sp.neighbors.kneighbors(a, k=3)
    np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-9)


def test_objects_there():
    m, x = sp.Matrix(random(), device="cuda"), sp.Vector(np.arange(4.0), device="cuda")
    for of in [m, x]:
        back = pickle.loads(pickle.dumps(of))
        assert (back.device, back.dtype, back.shape) == ("cpu", of.dtype, of.shape)
        other = of.astype("float32")
        assert (other.dtype, other.device) == (np.float32, "cuda:0")
        assert of.copy().device == "cuda:0" and "on cuda:0" in repr(of)
        assert of.to("cuda") is of and of.to("cpu").device == "cpu"
    assert (m[0, 0], m[3].size, m[:, 2].size, m[2:5, [1]].shape) == (0.0, 20, 30, (3, 1))
    assert (x[2], x[1:3].size, m.sum(), x.nnz) == (2.0, 2, random().sum(), 4)
    np.testing.assert_array_equal(m.diagonal(), random().diagonal())
    np.testing.assert_array_equal(m.sum(axis=0), random().sum(axis=0))
    m[0, 0] = 7.0
    assert m[0, 0] == 7.0
    x[1] = 9.0
    assert (x[1], x.device) == (9.0, "cuda:0")


def test_einsum_there(cupy):
    rng = np.random.default_rng(9)
    a, b = rng.integers(-4, 5, (7, 5, 6)).astype("float32"), rng.integers(-4, 5, (7, 6, 3)).astype("float32")
    there = [cupy.asarray(x) for x in (a, b)]
    found = sp.einsum("bij,bjk->bik", *there)
    assert isinstance(found, cupy.ndarray) and found.dtype == np.float32
    np.testing.assert_array_equal(found.get(), np.einsum("bij,bjk->bik", a, b))
    found = sp.einsum("bij,bjk->bik", there[0], cupy.asfortranarray(there[1]), semiring="min_plus")
    np.testing.assert_array_equal(found.get(), (a[..., None] + b[:, None]).min(axis=2))
    assert float(sp.einsum("bij->", there[0])) == a.sum()
    here = sp.einsum("bij,bjk->bik", a, b, device="cuda:0")
    np.testing.assert_array_equal(here, np.einsum("bij,bjk->bik", a, b))
    with pytest.raises(TypeError, match="some are in a GPU's memory"):
        sp.einsum("bij,bjk->bik", there[0], b)
    with pytest.raises(ValueError, match="the operands are on"):
        sp.einsum("bij->", there[0], device="cpu")
    with pytest.raises(ValueError, match="another of"):
        sp.einsum("i,i->", cupy.ones(3), cupy.ones(3, dtype="float32"))


def test_dense_there(cupy, there):
    a = random((40, 30), seed=5)
    m, x, y = sp.Matrix(a), cupy.asarray(np.arange(90.0).reshape(30, 3)), cupy.asarray(np.arange(80.0).reshape(2, 40))
    for of in [m, m.to("cuda"), there.csr_matrix(scipy.sparse.csr_matrix(a))]:
        found = sp.mxm(of, x)
        assert isinstance(found, cupy.ndarray)
        np.testing.assert_allclose(found.get(), a @ x.get())
        np.testing.assert_allclose(sp.mxm(of, cupy.asfortranarray(x)).get(), a @ x.get())
        np.testing.assert_allclose(sp.mxm(y, of).get(), y.get() @ a)
        np.testing.assert_allclose(sp.mxm(of, y.T, transpose_a=True).get(), a.T @ y.get().T)
        np.testing.assert_allclose(sp.mxm(of, x.T, transpose_b=True).get(), a @ x.get())
        assert sp.mxm(of, x.astype("float32")).dtype == np.float64
    np.testing.assert_allclose((m.to("cuda") @ x).get(), a @ x.get())
    least = sp.mxm(m, cupy.ones((30, 2)), "min_plus").get()
    np.testing.assert_array_equal(least, sp.mxm(m, np.ones((30, 2)), "min_plus"))
    assert sp.mxm(m, x[:, :0]).shape == (40, 0)
    with pytest.raises(ValueError, match="product of 40×30 and 40×3"):
        sp.mxm(m, cupy.ones((40, 3)))
    with pytest.raises(ValueError, match="the operands are on"):
        sp.mxm(m, x, device="cpu")
    with pytest.raises(ValueError, match="mask"):
        sp.mxm(m, x, mask=m)
    assert isinstance(sp.mxm(m, x, device="cuda"), cupy.ndarray)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_tensors_there(cupy, dtype):
    rng = np.random.default_rng(6)
    shape = (40, 50, 30)
    indices = np.unravel_index(rng.choice(np.prod(shape), 2000, replace=False), shape)
    x = sp.Tensor(indices, rng.integers(1, 9, 2000).astype(dtype), shape=shape)
    factors = [rng.integers(-4, 5, (n, 5)).astype(dtype) for n in shape]
    here, plan = sp.mttkrp_plan(x, 5), sp.mttkrp_plan(x, 5, device="cuda")
    sent = [cupy.asarray(f) for f in factors]
    for mode in range(3):
        expected = here(factors, mode)
        np.testing.assert_array_equal(plan(factors, mode), expected)
        np.testing.assert_array_equal(sp.mttkrp(x, factors, mode, device="cuda:0"), expected)
        for found in [plan(sent, mode), sp.mttkrp(x, sent, mode), plan([cupy.asfortranarray(f) for f in sent], mode)]:
            assert isinstance(found, cupy.ndarray) and found.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(found.get(), expected)
    # The factor of the mode is not read.
    np.testing.assert_array_equal(plan([None, *sent[1:]], 0).get(), here([None, *factors[1:]], 0))
    with pytest.raises(TypeError, match="some are in a GPU's memory"):
        plan([sent[0], sent[1], factors[2]], 0)
    with pytest.raises(ValueError, match="the operands are on"):
        here(sent, 0)
    with pytest.raises(ValueError):
        plan([f.astype("complex64") for f in sent], 0)
    with pytest.raises(TypeError):
        sp.mttkrp_plan(x.astype("int64"), 5, device="cuda")
    for other, dtype in [(x, dtype), (x.astype("int16"), "int16"), (x.astype("complex64"), "complex64")]:
        factors, sent = [f.astype(dtype) for f in factors], [f.astype(dtype) for f in sent]
        for ring in ["plus_times"] if "complex" in dtype else ["plus_times", "min_plus", "max, a + 2*b"]:
            found, expected = sp.mttkrp(other, sent, 1, ring), sp.mttkrp(other, factors, 1, ring)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.get(), expected)
            np.testing.assert_array_equal(sp.mttkrp(other, factors, 1, ring, device="cuda"), expected)
