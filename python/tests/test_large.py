"""Matrices and vectors of dimensions beyond 2**32."""

import numpy as np
import pytest
import sparring as sp

N = 2**60


def test_entries_go_in_and_out():
    a = sp.Matrix.from_coo([N - 1, 0, N - 1], [2**40, 7, 2**40], [1.5, 2.0, 0.25], (N, N))
    assert (a.shape, a.nnz) == ((N, N), 2)
    rows, columns, values = a.to_coo()
    assert rows.dtype == columns.dtype == np.uint64
    assert (rows.tolist(), columns.tolist(), values.tolist()) == ([0, N - 1], [7, 2**40], [2.0, 1.75])
    a = sp.Matrix.from_coo([5, 5], [N - 1, N - 1], np.array([3, 4], np.int8), (6, N), dup="max")
    assert [x.tolist() for x in a.to_coo()] == [[5], [N - 1], [4]]
    x = sp.Vector.from_coo([N - 1, 3], [2.5, 4.0], size=N)
    places, values = x.to_coo()
    assert places.dtype == np.uint64 and (places.tolist(), values.tolist()) == ([3, N - 1], [4.0, 2.5])


def test_products_are_those_of_the_ranks():
    rng = np.random.default_rng(5)
    labels = np.sort(rng.choice(N, 30, replace=False))
    i, j, k, l = (rng.integers(0, 30, 80) for _ in range(4))
    x, y = rng.random(80), rng.random(80)
    small = sp.mxm(sp.Matrix.from_coo(i, j, x, (30, 30)), sp.Matrix.from_coo(k, l, y, (30, 30)))
    large = sp.mxm(sp.Matrix.from_coo(labels[i], labels[j], x, (N, N)), sp.Matrix.from_coo(labels[k], labels[l], y, (N, N)))
    rows, columns, values = small.to_coo()
    found = large.to_coo()
    assert (found[0] == labels[rows]).all() and (found[1] == labels[columns]).all() and (found[2] == values).all()


def test_indices_outside_are_refused():
    for rows, columns, shape in [([N], [0], (N, 3)), ([-1], [0], (N, 3)), ([0], [3], (N, 3))]:
        with pytest.raises(IndexError, match="not below"):
            sp.Matrix.from_coo(rows, columns, [1.0], shape)
    with pytest.raises(OverflowError, match="columns"):
        sp.Matrix.from_coo([0], [0], [1.0], (3, 2 * N))
    with pytest.raises(ValueError):
        sp.Matrix.from_coo([0], [0, 1], [1.0], (N, N))
