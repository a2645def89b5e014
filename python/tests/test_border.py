"""Data exchanged between SciPy and the library is neither copied nor converted without need."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import sparring as sp


def random(shape=(30, 20), seed=1, dtype="float64", cls=scipy.sparse.csr_array):
    rng = np.random.default_rng(seed)
    return cls(((rng.random(shape) < 0.2) * rng.integers(1, 5, shape)).astype(dtype))


def test_results_are_handed_over():
    a = random()
    c = sp.mxm(a, a.T.tocsr())
    # A shared result would make its columns read-only.
    assert c.data.flags.writeable and c.indices.flags.writeable and c.indptr.flags.writeable
    assert c.indptr.dtype == c.indices.dtype == np.int32


@pytest.mark.parametrize("name", ["csr_array", "csr_matrix", "csc_array", "csc_matrix"])
def test_results_are_as_the_constructor_makes_them(name):
    cls = getattr(scipy.sparse, name)
    a = random((15, 15), cls=cls)
    c = sp.mxm(a, a)
    made = cls((c.data, c.indices, c.indptr), shape=c.shape)
    assert type(c) is cls and c.shape == (15, 15) and type(c.shape[0]) is int
    assert vars(c).keys() - {"_has_canonical_format", "_has_sorted_indices"} == vars(made).keys()
    c.check_format(full_check=True)
    assert c.has_sorted_indices and c.has_canonical_format
    for other in (pickle.loads(pickle.dumps(c)), c.copy(), (c + c) / 2, abs(c), c.T.T):
        np.testing.assert_array_equal(other.toarray(), a.toarray() @ a.toarray())


def test_rows_that_are_not_sorted_are_told():
    a = scipy.sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    for back in (sp.Matrix(a).to_scipy(), sp.apply(a, "ainv")):
        assert not back.has_canonical_format or (np.diff(back.indices[:2]) > 0).all()
        assert back.sorted_indices().indices.tolist() == [0, 2, 1]


@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "plus_first", "max_second", "min, a + 2*b", "plus, a*f64(i) + b*f64(j)"])
@pytest.mark.parametrize("formats", ["csc csc", "csc csr", "csr csc"])
def test_products_of_compressed_columns(semiring, formats):
    a, b = random((12, 20)), random((20, 7), seed=2)
    want = sp.mxm(a, b, semiring)
    first, second = formats.split()
    found = sp.mxm(a.asformat(first), b.asformat(second), semiring)
    assert found.format == first and found.shape == (12, 7)
    np.testing.assert_array_equal(found.toarray(), want.toarray())
    assert found.nnz == want.nnz
    held = sp.mxm(a.asformat(first), sp.Matrix(b), semiring)
    np.testing.assert_array_equal(held.toarray(), want.toarray())


def test_other_operations_with_compressed_columns():
    a, b, x, y = random(), random(seed=2), np.arange(20.0), np.arange(30.0)
    ac, bc = a.tocsc(), b.tocsc()
    for operation, op in ((sp.ewise_add, "minus"), (sp.ewise_mult, "first"), (sp.kronecker, "div")):
        found = operation(ac, bc, op)
        assert found.format == "csc"
        np.testing.assert_array_equal(found.toarray(), operation(a, b, op).toarray())
    np.testing.assert_array_equal(sp.mxv(ac, x), a @ x)
    np.testing.assert_array_equal(sp.mxv(ac, y, transpose_a=True), a.T @ y)
    np.testing.assert_array_equal(sp.vxm(y, ac), y @ a)
    np.testing.assert_array_equal(sp.vxm(x, ac, "min_plus", transpose_a=True), sp.mxv(a, x, "min_plus"))
    assert sp.reduce(ac) == a.sum()
    for transpose in (False, True):
        for monoid in ("plus", "max"):
            want = sp.reduce_rows(a, monoid, transpose_a=transpose)
            found = sp.reduce_rows(ac, monoid, transpose_a=transpose)
            assert found.nnz == want.nnz
            np.testing.assert_array_equal(found.to_numpy(), want.to_numpy())
        counts = sp.aggregate(ac, "count", transpose_a=transpose)
        np.testing.assert_array_equal(counts.to_numpy(), sp.aggregate(a, "count", transpose_a=transpose).to_numpy())


def test_shapes_of_compressed_columns_are_told_as_they_are():
    with pytest.raises(ValueError, match="lhs is 30×20, rhs is 30×20"):
        sp.mxm(random().tocsc(), random().tocsc())


def test_products_with_arrays():
    a, x = random(), np.linspace(-1, 1, 20)
    a.data[0] = 0.25
    for matrix in (a, sp.Matrix(a)):
        np.testing.assert_allclose(sp.mxv(matrix, x), a @ x, rtol=1e-14)
        np.testing.assert_allclose(sp.mxv(matrix, x[::-1]), a @ x[::-1], rtol=1e-14)
        np.testing.assert_array_equal(sp.mxv(matrix, x, "plus_first"), a.sum(axis=1))
    # An empty row gives 0, over every semiring.
    empty = scipy.sparse.csr_array((3, 20))
    for semiring in ("plus_times", "min_plus", "plus, a + b"):
        np.testing.assert_array_equal(sp.mxv(empty, x, semiring), np.zeros(3))
    narrow = random(dtype="float32")
    assert sp.mxv(narrow, x).dtype == np.float64
    with pytest.raises(ValueError, match="30×20"):
        sp.mxv(a, np.ones(7))


def test_vectors_as_arrays():
    v = sp.Vector.from_coo([1, 3], [2.0, 4.0], size=5)
    np.testing.assert_array_equal(v.to_numpy(np.inf), [np.inf, 2.0, np.inf, 4.0, np.inf])
    np.testing.assert_array_equal(v.astype("int16").to_numpy(-1), [-1, 2, -1, 4, -1])
    assert v.astype("complex64").to_numpy().dtype == np.complex64
    with pytest.raises(OverflowError):
        v.astype("uint8").to_numpy(-1)


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_long_arrays_are_checked(index):
    n, each = 40_000, 4
    indptr, indices = np.arange(0, n * each + 1, each), np.tile(np.arange(each), n)
    a = scipy.sparse.csr_array((np.ones(n * each), indices.astype(index), indptr.astype(index)), shape=(n, 10))
    a.indices, a.indptr = indices.astype(index), indptr.astype(index)
    assert sp.Matrix(a).nnz == n * each
    for at, value, error, message in (
        (100_000, 10, IndexError, "10"),
        (100_000, -1, (ValueError, IndexError), "-1"),
    ):
        keep, a.indices[at] = a.indices[at], value
        with pytest.raises(error, match=message):
            sp.Matrix(a)
        a.indices[at] = keep
    # SciPy sums duplicates.
    a.indices[100_001] = 0
    assert (sp.Matrix(a).nnz, sp.Matrix(a)[25_000, 0]) == (n * each - 1, 2)
    a.indices[100_001] = 1
    a.indices[1:3] = [2, 1]
    assert sp.Matrix(a).nnz == n * each
    a.indptr[20_000] = 3 * n * each
    with pytest.raises(ValueError, match="20001"):
        sp.Matrix(a)


def test_a_product_copies_neither_its_operands_nor_its_result():
    code = """
import numpy as np, scipy.sparse, sparring as sp
def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name))
n, each = 200_000, 20
a = scipy.sparse.csr_array((np.ones(n * each), np.tile(np.arange(each, dtype="int32"), n), np.arange(0, n * each + 1, each)), shape=(n, n))
one = scipy.sparse.eye_array(n, format="csr")
sp.mxm(one[:9, :9], one[:9, :9])
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
c = sp.mxm(a, one)
print((status("VmHWM") - before) * 1024 / (c.data.nbytes + c.indices.nbytes + c.indptr.nbytes))
"""
    try:
        open("/proc/self/clear_refs").close()
    except OSError:
        if not sys.platform.startswith("linux"):
            pytest.skip("the peak of a process is read on Linux")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if "PermissionError" in run.stderr:
        pytest.skip("the peak cannot be read")
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < 1.6


def test_doubles_are_contracted_as_other_types_are():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 9, (5, 3, 4)).astype(float), rng.integers(0, 9, (5, 4, 2)).astype(float)
    for expression, operands in (("bij,bjk->bik", (a, b)), ("bij->ji", (a,)), ("bij,bij->", (a, a)), ("bij,ik->bjk", (a, a[0]))):
        found = sp.einsum(expression, *operands)
        np.testing.assert_array_equal(found, np.einsum(expression, *operands))
        np.testing.assert_array_equal(found, sp.einsum(expression, *(x.astype("float32") for x in operands)))
