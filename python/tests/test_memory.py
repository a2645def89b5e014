"""Everything taken is released: references, objects and bytes, after results and after exceptions."""

import copy
import gc
import pathlib
import pickle
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
import sparring as sp

from soak import Soak, resident
from test_wrong_calls import digest, names

CALLS = [
    # All kinds of results.
    "own(A)", "own(A).to_scipy()", "own(A, dtype='f4')", "M.data", "M.indices",
    "M.indptr", "M.to_coo()", "M.T", "M.copy()", "copy.deepcopy(M)", "pickle.loads(pickle.dumps(M))",
    "pickle.loads(pickle.dumps(X))", "repr(M)", "M[0, 0]", "M[0]", "M[:, 1]", "M[1:5, [0, 3]]",
    "M[np.array([True, False] * 6)]", "M.__setitem__((0, 0), 1.0)", "M.__delitem__((0, 0))",
    "M.__setitem__((slice(None), slice(None)), M)", "X[0]", "X.__setitem__(0, 1.0)", "X.to_numpy()", "X.to_coo()",
    "sp.Vector(x)", "sp.mxm(A, A)", "sp.mxm(A.tocsc(), A.tocoo())", "sp.mxm(M, M)", "sp.mxm(A, A, 'min, a + 2*b')",
    "sp.mxm(A, A, mask=M)", "sp.mxm(A, A, mask=~M.S)", "sp.mxm(A, A, out=out)",
    "sp.mxm(A, A, accum='plus', mask=M, out=out)", "sp.mxv(A, x)", "sp.vxm(X, M)", "M @ M", "M @ x", "x @ M", "M + M",
    "M - M", "2 * M", "-M", "sp.ewise_add(A, A)", "sp.ewise_mult(A, M)", "sp.kronecker(B, B)",
    "sp.apply(A, 'a/(1+s)', 2.0)", "sp.select(A, 'tril', 0)", "sp.reduce(A)", "sp.reduce_rows(A)",
    "sp.aggregate(A, 'count')", "sp.transpose(A)", "sp.explain(sp.mxm, A, A)", "sp.plan(A, A)", "plan(A, A)",
    "plan(M, M, out=made)", "sp.Matrix.empty((5, 5))", "sp.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], (2, 2))",
    "sp.Vector.from_coo([1], [2.0], 5)", "N.kneighbors(A, k=3)", "N.kneighbors_graph(A, k=3)",
    "N.radius_neighbors_graph(A)", "N.pairwise_distances(A)", "N.Index(A)", "index.kneighbors(A, 3)", "g.Graph(A)",
    "G.matrix()", "g.bfs_tree(G, 0)", "g.sssp(A, 0)", "g.pagerank(G)", "g.louvain(S)", "g.triangles(S)",
    "sp.Tensor([[0, 1]] * 3, [1.0, 2.0], (2, 2, 2))", "sp.mttkrp(T, F, 0)",
    "sp.cp_als(T, 2, sweeps=2, progress=lambda *a: None)", "sp.einsum('ij,jk->ik', F[0], F[2])", "sp.devices()",
    "own(sparse.csr_array((ones(2), [0, 0], [0, 2]), shape=(1, 1)))",
    # All kinds of exceptions.
    "sp.mxm(A, B.T)", "sp.mxm(A, A, 'min, a +')", "sp.mxm(A, A, mask=B)", "sp.mxm(A, A, out=A)", "sp.mxm(A, None)",
    "own(3)", "own(Rows(indptr=np.array([0, 5, 2])))", "own(Rows(data=ones(2, 'O')))", "own(Rows(data=masked(2)))",
    "own(Raises(KeyError('a')))", "M[99, 0]", "M[Raises(KeyError('a')), 0]", "M.__setitem__((0, 0), 'a')",
    "M.astype(None)", "X[99]", "sp.Vector(None)", "sp.set_threads(-1)", "sp.Matrix(A, device='x')", "plan(B, A)",
    "N.kneighbors(A, metric='x')", "N.kneighbors(A, k=-1)", "index.kneighbors(B, 1)", "g.bfs(G, 99)", "g.sssp(-A, 0)",
    "sp.mttkrp(T, F[:1], 0)", "sp.cp_als(T, 2, progress=lambda *a: 1 / 0)", "sp.einsum('ij->i', x)",
    "matrix_of(b'garbage' * 9)", "tall.to_scipy()", "N.kneighbors(tall, k=1)", "sp.explain(lambda: 1 / 0)",
]  # fmt: skip


@pytest.fixture(scope="module")
def given():
    of = names()
    of["out"] = sp.Matrix.empty((12, 12))
    # SciPy caches names that its sums look up.
    of["S"] = of["A"] + of["A"].T
    of["made"] = of["plan"](of["M"], of["M"])
    return of


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_a_call_gives_back_what_it_takes(given, call):
    code = compile(call, call, "eval")

    def repeated(times):
        for _ in range(times):
            try:
                eval(code, given)
            except Exception:
                pass

    objects = [of for name, of in given.items() if name not in ("out", "__builtins__")]
    parts = [*objects, *given["F"], *(getattr(given["A"], of) for of in ("data", "indices", "indptr")), None, float, "plus"]
    repeated(40)
    gc.collect()
    state, references, bytes_ = digest(given), [sys.getrefcount(of) for of in parts], resident()
    tracemalloc.start()
    try:
        repeated(20)
        gc.collect()
        traced, count = tracemalloc.get_traced_memory()[0], len(gc.get_objects())
        repeated(200)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - traced
        more = len(gc.get_objects()) - count
    finally:
        tracemalloc.stop()
    now = [sys.getrefcount(of) for of in parts]
    # Reference counts of the interpreter's singletons change occasionally.
    assert [a - b for a, b in zip(now, references) if abs(a - b) > 20 or (a != b and a < 100)] == []
    assert grown < 20_000 and more < 20, f"{grown} bytes and {more} objects more"
    assert resident() - bytes_ < 16 << 20
    assert "__setitem__" in call or "__delitem__" in call or digest(given) == state


def test_arrays_share_memory():
    rng = np.random.default_rng(2)
    a = scipy.sparse.random_array((40, 30), density=0.3, rng=rng, format="csr")
    m = sp.Matrix(a)
    for other in [m, m.copy(), copy.copy(m), copy.deepcopy(m)]:
        assert np.shares_memory(other.data, a.data) and np.shares_memory(other.indices, a.indices)
        assert np.shares_memory(other.to_scipy().data, a.data)
    # After a write, it is a different matrix.
    other, kept = m.copy(), a.data.copy()
    other[0, 0] = 9.0
    assert not np.shares_memory(other.data, a.data)
    np.testing.assert_array_equal(a.data, kept)
    sp.mxm(m, m, transpose_b=True, out=sp.Matrix.empty((40, 40)))
    sp.apply(m, "ainv", out=m)
    np.testing.assert_array_equal(a.data, kept)
    np.testing.assert_array_equal(m.data, -kept)
    # Results are unshared, so they are writable.
    c = sp.mxm(a, a.T)
    assert c.data.flags.writeable and c.indices.flags.writeable and c.indices.base is not None
    # Neither the bytes of a pickle nor an array of a type that is converted.
    assert not np.shares_memory(pickle.loads(pickle.dumps(m)).data, m.data)
    assert not np.shares_memory(sp.Matrix(a.astype(bool)).data, a.data)


@pytest.mark.parametrize("kind", ["read", "write"])
def test_many_threads_use_one_object(kind):
    rng = np.random.default_rng(3)
    a = scipy.sparse.random_array((60, 60), density=0.1, rng=rng, format="csr")
    m, x, failed = sp.Matrix(a), sp.Vector(np.arange(60.0)), []
    index, plan, graph = sp.neighbors.Index(a), sp.plan(a, a), sp.graph.Graph(a)
    product = (m @ m).to_scipy()
    read = [
        lambda: np.testing.assert_array_equal((m @ m).to_scipy().data, product.data),
        lambda: np.testing.assert_array_equal(plan(m, m).to_scipy().data, product.data),
        lambda: pickle.loads(pickle.dumps(m)),
        lambda: index.kneighbors(m, 3),
        lambda: sp.graph.bfs(graph, 0),
        lambda: (m.T, m[3], m[:, 2], m.data, m.indptr, repr(m), m.nnz, x.to_numpy()),
    ]
    out = sp.Matrix.empty((60, 60))
    write = [
        lambda: m.__setitem__((1, 2), 3.0),
        lambda: m.__delitem__((1, 2)),
        lambda: m.__setitem__((slice(0, 5), slice(None)), m[:5, :]),
        lambda: sp.mxm(m, m, accum="plus", out=out),
        lambda: sp.transpose(out, mask=~m, out=out),
        lambda: x.__setitem__(3, 1.0),
        lambda: sp.mxv(m, x, out=x),
        lambda: (m[1, 2], m.to_scipy().sum(), out.nnz, x[3], pickle.dumps(out), (m + out).nnz),
    ]

    def work(functions, seed):
        order = np.random.default_rng(seed)
        try:
            for _ in range(60):
                functions[order.integers(len(functions))]()
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(read if kind == "read" else write, seed)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failed and not any(thread.is_alive() for thread in threads)
    assert sp.Matrix(m.to_scipy()).nnz == m.nnz and sp.Matrix(out.to_scipy()).nnz == out.nnz


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("megabytes", [1, 16])
def test_the_want_of_memory_is_an_exception(megabytes):
    script = pathlib.Path(__file__).with_name("little_memory.py")
    found = subprocess.run([sys.executable, "-W", "ignore", script, str(megabytes)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr[-2000:]
    refused = int(found.stdout.split()[0])
    assert refused > 0


def test_random_calls():
    assert Soak(seed=0).run(2000) < 32 << 20
