"""Threads, processes, and memory that outlives its owners."""

import gc
import multiprocessing
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse
import sparring as sp

from test_arrays import random


def product(seed):
    a = random((200, 200), density=0.05, seed=seed)
    return float(sp.mxm(a, a.T).sum())


def test_threads_share_matrices():
    m = sp.Matrix(random((300, 300), density=0.05))
    expected, found = (m @ m).nnz, []
    threads = [threading.Thread(target=lambda: found.append((m @ m).nnz)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_a_result_that_several_threads_write():
    a, c = sp.Matrix(random((60, 60), density=0.2)), sp.Matrix.empty((60, 60))
    write = lambda: [sp.mxm(a, a, accum="plus", out=c) for _ in range(20)]
    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(c.to_scipy().toarray(), 80 * (a @ a).to_scipy().toarray())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_fork():
    expected = [product(seed) for seed in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(product, range(4)) == expected


def test_arrays_are_given_back():
    before = sys.getrefcount
    a = random((50, 50), density=0.3)
    data = a.data
    count = before(data)
    m = sp.Matrix(a)
    assert before(data) > count
    back = m.to_scipy()
    del m
    gc.collect()
    np.testing.assert_array_equal(back.toarray(), a.toarray())
    del back
    gc.collect()
    assert before(data) == count


def test_importing_is_quick_and_imports_no_other_package():
    code = "import sys, sparring; print([m for m in ('numpy', 'scipy', 'sklearn', 'networkx') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
