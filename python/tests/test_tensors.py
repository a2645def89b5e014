"""Tensors, contractions, plans and explanations compared with NumPy."""

import numpy as np
import pytest
import sparring as sp

from test_arrays import random


def tensor(shape=(6, 5, 4), entries=40, seed=1, dtype="float64"):
    rng = np.random.default_rng(seed)
    places = rng.choice(np.prod(shape), entries, replace=False)
    indices = np.unravel_index(places, shape)
    values = rng.integers(1, 9, entries).astype(dtype)
    dense = np.zeros(shape, dtype)
    dense[indices] = values
    return sp.Tensor(indices, values, shape=shape), dense


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_products_with_factors(dtype):
    x, dense = tensor(dtype=dtype)
    rng = np.random.default_rng(2)
    factors = [rng.integers(0, 5, (n, 3)).astype(dtype) for n in x.shape]
    for mode, expression in enumerate(["ijk,jr,kr->ir", "ijk,ir,kr->jr", "ijk,ir,jr->kr"]):
        others = [f for m, f in enumerate(factors) if m != mode]
        np.testing.assert_array_equal(sp.mttkrp(x, factors, mode), np.einsum(expression, dense, *others))
    assert (x.shape, x.ndim, x.nnz, x.dtype) == ((6, 5, 4), 3, 40, np.dtype(dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("shape", [(6, 5, 4), (3, 7, 2, 5), (9,), (1, 40)])
def test_plans_of_products(dtype, shape):
    x, _ = tensor(shape, 9, dtype=dtype)
    plan = sp.mttkrp_plan(x, 3)
    factors = [np.random.default_rng(8).integers(-3, 4, (n, 3)).astype(dtype) for n in shape]
    for mode in range(len(shape)):
        found = plan(factors, mode)
        np.testing.assert_array_equal(found, sp.mttkrp(x, factors, mode))
        assert found.shape == (shape[mode], 3) and found.dtype == np.dtype(dtype)
    assert (plan.rank, plan.shape) == (3, shape) and plan.explain() and "rank 3 " in repr(plan)
    for wrong in [lambda: plan(factors[:-1], 0), lambda: plan(factors, len(shape))]:
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(ValueError, match="the plan is for 3"):
        plan([f[:, :2] for f in factors], 0)


def test_decomposition_finds_a_model():
    rng = np.random.default_rng(3)
    factors = [rng.random((n, 2)) for n in (6, 5, 4)]
    dense = np.einsum("ir,jr,kr->ijk", *factors)
    x = sp.Tensor(np.indices(dense.shape).reshape(3, -1), dense.ravel(), shape=dense.shape)
    model = sp.cp_als(x, 2, sweeps=500, tolerance=1e-10, starts=3)
    np.testing.assert_allclose(model.to_dense(), dense, atol=1e-3)
    assert model.fit > 0.999 and len(model.fits) > 1
    told = []
    sp.cp_als(x, 2, sweeps=3, tolerance=None, progress=lambda number, fit: told.append(number))
    assert told == [1, 2, 3]

    def stop(number, fit):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sp.cp_als(x, 2, progress=stop)


def test_contractions():
    rng = np.random.default_rng(4)
    a, b = rng.random((3, 4, 5)), rng.random((3, 5, 2))
    np.testing.assert_allclose(sp.einsum("bij,bjk->bik", a, b), np.einsum("bij,bjk->bik", a, b))
    np.testing.assert_allclose(sp.einsum("bij->b", a.transpose(2, 1, 0)), a.sum((0, 1)))
    np.testing.assert_allclose(sp.einsum("ij,ij->", a[0], a[0]), (a[0] ** 2).sum())
    least = (a[0][:, :, None] + b[0][None]).min(1)
    np.testing.assert_allclose(sp.einsum("ij,jk->ik", a[0], b[0], semiring="min_plus"), least)
    assert sp.einsum("i,i->i", np.arange(3, dtype="int8"), np.arange(3, dtype="int32")).dtype == np.dtype("int32")


def test_plans():
    a = random((20, 20), seed=11)
    plan = sp.plan(a, a)
    np.testing.assert_array_equal(plan(a, a).toarray(), (a @ a).toarray())
    c = sp.Matrix(plan(sp.Matrix(a), sp.Matrix(a)))
    doubled = sp.Matrix(a) * 2
    assert plan(doubled, a, out=c) is c
    np.testing.assert_array_equal(c.to_scipy().toarray(), 2 * (a @ a).toarray())
    assert (plan.shape, plan.nnz) == ((20, 20), c.nnz) and plan.flops > 0 and plan.explain()
    masked = sp.plan(a, a, mask=a)
    assert (masked(a, a).toarray() == (a @ a).toarray() * (a.toarray() != 0)).all()
    with pytest.raises(ValueError):
        plan(random((20, 20), seed=12), a)
    _, text = sp.explain(sp.mxm, a, a)
    assert "mxm" in text


def test_wrong_calls():
    x, _ = tensor()
    for wrong, error in [
        (lambda: sp.Tensor([[0], [9], [0]], [1.0], shape=(2, 2, 2)), IndexError),
        (lambda: sp.Tensor([[0], [0]], [1.0], shape=(2, 2, 2)), ValueError),
        (lambda: sp.Tensor([[0], [0], [0], [0]], [1.0], shape=(2, 2, 2)), ValueError),
        (lambda: sp.Tensor([[0, 1], [0], [0]], [1.0], shape=(2, 2, 2)), ValueError),
        (lambda: sp.Tensor.read("nothing.tns"), OSError),
        (lambda: sp.mttkrp(x, [np.ones((6, 2)), np.ones((5, 2)), np.ones((4, 2))], 3), ValueError),
        (lambda: sp.mttkrp(x, [np.ones((6, 2)), np.ones((5, 2))], 0), ValueError),
        (lambda: sp.mttkrp(x, [np.ones((6, 2)), np.ones((5, 2)), np.ones((3, 2))], 0), ValueError),
        (lambda: sp.cp_als(x, 0), ValueError),
        (lambda: sp.cp_als(x, 2, time_limit=-1), ValueError),
        (lambda: sp.einsum("ij,jk", np.ones((2, 2)), np.ones((2, 2))), ValueError),
        (lambda: sp.einsum("ij,jk->ik", np.ones((2, 2)), np.ones((3, 2))), ValueError),
        (lambda: sp.einsum("ij,jk->ik", np.ones((2, 2))), ValueError),
        (lambda: sp.einsum("ij->i", np.array([["a"]])), TypeError),
    ]:
        with pytest.raises(error):
            wrong()


def test_a_bar_of_tqdm(capsys):
    pytest.importorskip("tqdm")
    x = sp.Tensor([[0, 1], [0, 1], [0, 1]], [2.0, 3.0], shape=(2, 2, 2))
    assert sp.cp_als(x, 2, progress=True).fit > 0.99
    assert "cp_als" in capsys.readouterr().err
