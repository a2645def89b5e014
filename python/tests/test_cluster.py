"""The device "cluster": a program on several processes of MPI, compared with SciPy, where the package is built with it."""

import shutil
import subprocess
import sys

import pytest

cluster = pytest.importorskip("sparring.cluster")

PROGRAM = """
import sys
import numpy as np, scipy.sparse, scipy.sparse.csgraph as csgraph, sparring as sp, sparring.cluster as cluster

folder, ranks = sys.argv[1], int(sys.argv[2])
assert cluster.size() == ranks and cluster.rank() < ranks
rng = np.random.default_rng(1)
a = scipy.sparse.random_array((60, 60), density=0.05, rng=rng, format="csr")
a.data[:] = rng.integers(1, 9, a.nnz)
m = sp.Matrix(a, device="cluster")
assert (m.device, m.shape, m.nnz) == ("cluster", (60, 60), a.nnz)
same = np.testing.assert_array_equal
same((m @ m).to("cpu").toarray(), (a @ a).toarray())
same(sp.mxm(a, a, device="cluster").toarray(), (a @ a).toarray())
c = sp.Matrix(a, device="cluster")
sp.mxm(m, m, mask=m, accum="plus", out=c)
same(c.to("cpu").toarray(), (a + (a @ a) * (a != 0)).toarray())
x = np.arange(60.0)
same(np.asarray(sp.mxv(m, sp.Vector(x, device="cluster")).to("cpu").to_numpy()), a @ x)
same(sp.transpose(m).to("cpu").toarray(), a.T.toarray())
same(sp.extract(m, [3, 1, 40], slice(9)).to("cpu").toarray(), a.toarray()[[3, 1, 40], :9])
assert sp.reduce(m) == a.sum()

path = folder + "/a.mtx"
cluster.write_matrix_market(path, m)
back = cluster.read_matrix_market(path)
assert back.device == "cluster"
same(back.to("cpu").toarray(), a.toarray())
same(cluster.bfs(m, 0), np.where(np.isinf(d := csgraph.dijkstra(a, indices=0, unweighted=True)), -1, d))
same(cluster.sssp(a, 0), csgraph.dijkstra(a, indices=0))
parents = cluster.bfs_parents(m, 0)
assert parents[0] == 0 and all(p < 0 or p == v or a[p, v] for v, p in enumerate(parents))
count, labels = csgraph.connected_components(a, directed=False)
assert len(np.unique(cluster.connected_components(m))) == count
expected = sp.graph.pagerank(sp.graph.Graph(a, directed=True), tolerance=1e-10)
np.testing.assert_allclose(cluster.pagerank(m, tolerance=1e-10), expected, atol=1e-9)
drawn = cluster.rmat(7, 4, seed=3, undirected=True)
assert drawn.shape == (128, 128) and (drawn.to("cpu").to_scipy() != drawn.to("cpu").to_scipy().T).nnz == 0
d, i = sp.neighbors.kneighbors(a, k=3, metric="manhattan", device="cluster")
expected, _ = sp.neighbors.kneighbors(a, k=3, metric="manhattan")
same(d, expected)

# An error is one of all ranks, and the job goes on.
for wrong in [
    lambda: cluster.read_matrix_market(folder + "/nothing.mtx"), lambda: cluster.bfs(m, 60),
    lambda: sp.mxm(m, sp.Matrix(a[:5], device="cluster")), lambda: sp.Matrix(a, device="cluster:cuda"), lambda: cluster.rmat(40), lambda: cluster.pagerank(m, damping=2.0),
]:
    try:
        wrong()
    except (ValueError, OSError, RuntimeError):
        continue
    raise AssertionError("an error was expected")
sp.set_memory_budget(1 << 30)
same((m @ m).to("cpu").toarray(), (a @ a).toarray())
open(f"{folder}/done{cluster.rank()}", "w").close()
"""

ERROR = """
import sparring.cluster as cluster
cluster.size()
raise SystemExit("rank 1 has enough") if cluster.rank() == 1 else None
"""


def start(program, ranks, folder):
    """Runs the program on that many processes."""
    if not (mpirun := shutil.which("mpirun")):
        pytest.skip("no mpirun")
    path = folder / "program.py"
    path.write_text(program)
    options = ["--oversubscribe", "--allow-run-as-root", "--mca", "mpi_yield_when_idle", "1", "-n", str(ranks)]
    command = [mpirun, *options, sys.executable, str(path), str(folder), str(ranks)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_program_on_ranks(ranks, tmp_path):
    found = start(PROGRAM, ranks, tmp_path)
    assert found.returncode == 0, found.stderr
    assert not found.stderr and not found.stdout
    assert all((tmp_path / f"done{rank}").exists() for rank in range(ranks))


def test_examples(tmp_path):
    found = start("import doctest, sparring.cluster as c; raise SystemExit(doctest.testmod(c).failed)", 2, tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr


def test_a_rank_that_ends_early(tmp_path):
    found = start(ERROR, 2, tmp_path)
    assert found.returncode == 1 and "rank 1 has enough" in found.stderr
