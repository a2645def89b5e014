"""Types for mypy: the stubs match the extension module, and programs using them are checked."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy")

PROGRAM = """
import numpy as np
import scipy.sparse
import sparring as sp

a = scipy.sparse.csr_array((3, 3))
c: scipy.sparse.csr_array = sp.mxm(a, a, "min_plus")
m: sp.Matrix = sp.mxm(sp.Matrix(a), a, sp.Semiring("min", lambda a, b: a + 2 * b), mask=~sp.Matrix(a))
y: sp.Vector = sp.reduce_rows(m, "max")
n: int = m.nnz + y.size
x: np.ndarray = sp.mxv(m, np.ones(3))
sp.assign(m, 7, [0, 1], slice(2))
g: sp.graph.Graph = sp.graph.as_graph(a)
labels, modularity = sp.graph.leiden(g, resolution=0.5)
fit: float = sp.cp_als(sp.Tensor([[0], [0]], [1.0], shape=(1, 1)), 1).fit + modularity
read: sp.Matrix = sp.io.read_matrix_market("a.mtx")
"""
WRONG = ["sp.mxm(a)", "sp.mxm(a, a, 3)", "sp.Matrix(a).nothing", 'sp.aggregate(a, "median")', "sp.mxv(a, a)", "sp.graph.bfs(g)", "sp.cp_als(m, 2)"]


@pytest.fixture
def settings(tmp_path):
    """Other packages have no types, or their own."""
    path = tmp_path / "settings"
    path.write_text("[mypy]\nignore_missing_imports = True\nfollow_untyped_imports = True\n")
    return str(path)


def mypy(*arguments):
    environment = os.environ | {"MYPYPATH": str(pathlib.Path(__file__).parents[1] / "python")}
    found = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, env=environment)
    return found.returncode, found.stdout + found.stderr


def test_the_stub_is_what_the_module_has(tmp_path, settings):
    # PyO3 generates it from all names.
    # Builds with MPI have one name more.
    (tmp_path / "allowed").write_text("sparring._sparring.__all__\nsparring._sparring._cluster\n")
    options = ["--allowlist", str(tmp_path / "allowed"), "--ignore-unused-allowlist", "--mypy-config-file", settings]
    code, told = mypy("mypy.stubtest", "sparring._sparring", *options)
    assert code == 0, told


def test_programs_are_checked(tmp_path, settings):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(PROGRAM)
    options = ["--config-file", settings, "--cache-dir", str(tmp_path / "cache")]
    code, told = mypy("mypy", *options, str(right))
    assert code == 0, told
    wrong.write_text(PROGRAM + "\n".join(WRONG))
    code, told = mypy("mypy", *options, str(wrong))
    assert code == 1
    for line in range(PROGRAM.count("\n") + 1, PROGRAM.count("\n") + 1 + len(WRONG)):
        assert f"wrong.py:{line}:" in told, told
