"""The README's claims run: its programs, and every call of its table."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import sparring as sp

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
ROWS = [line.split("|")[1:-1] for line in README.splitlines() if line.startswith("|")][2:]
CALLS = sorted({call for row in ROWS for call in re.findall(r"`((?:sp\.|M)[^`]+)`", row[2])})


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda text: text.splitlines()[2][:20])
def test_programs(program):
    for package in re.findall(r"networkx|KNeighborsClassifier", program):
        pytest.importorskip({"KNeighborsClassifier": "sklearn"}.get(package, package))
    exec(program, {})


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    networkx = pytest.importorskip("networkx")
    rng = np.random.default_rng(0)
    A, B = (scipy.sparse.csr_array(rng.integers(0, 3, (9, 9)) * (rng.random((9, 9)) < 0.5) * 1.0) for _ in range(2))
    T = sp.Tensor([[0, 1, 1], [0, 1, 0], [0, 1, 1]], [2.0, 3.0, 1.0], shape=(2, 2, 2))
    G = networkx.karate_club_graph()
    frame = {"u": np.array([0, 1]), "v": np.array([1, 2])}
    path = str(tmp_path_factory.mktemp("files") / "a")
    return dict(
        frame=frame, path=path,
        sp=sp, A=A, B=B, U=A + A.T, M=sp.Matrix(A), C=sp.Matrix.empty((9, 9)), x=rng.random(9), X=A, Q=B[:3], G=G, T=T,
        i=[0, 1], j=[1, 2], v=[1.0, 2.0], shape=(3, 3), labels=np.arange(34) % 3, factors=[np.ones((2, 2))] * 3,
        a=rng.random((3, 4)), b=rng.random((4, 2)), dag=networkx.DiGraph([(0, 1), (1, 2)]),
    )


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_the_table(call, named):
    if re.search(r"neighbors\.\w+(Neighbors|Transformer)|neighbors\.K|neighbors\.R", call):
        pytest.importorskip("sklearn")
    if "io.read" in call:
        write = sp.io.write_svmlight if "svmlight" in call else sp.io.write_matrix_market
        write(named["path"], named["A"])
    exec(call, dict(named))


def test_the_table_has_every_function():
    said = set(re.findall(r"sp\.([\w.]+)", README))
    for module, prefix in [(sp, ""), (sp.graph, "graph."), (sp.neighbors, "neighbors.")]:
        named = {name.partition(".")[0] if module is sp else name for name in said}
        missing = {prefix + name for name in module.__all__} - named
        # Result types, their supporting types, and names without a counterpart in other packages.
        assert missing <= {
            "Kruskal", "Mask", "MttkrpPlan", "Plan", "Semiring", "Vector", "__version__", "get_threads", "graph.Graph", "graph.as_graph",
            "neighbors.metrics",
        }


def test_the_picture_is_there():
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert 1000 < (Path(__file__).resolve().parents[1] / path).stat().st_size < 100_000
