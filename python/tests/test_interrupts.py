"""Ctrl-C: a computation ends within a tenth of a second, and inputs are unchanged."""

import subprocess
import sys
import textwrap

import pytest

#: Long computations, by name.
CALLS = {
    "mxm": "sp.mxm(dense, dense)",
    "mxm of a wide product": "sp.mxm(a, a, 'min, a + 2*b')",
    "masked": "sp.mxm(dense, dense, mask=dense)",
    "plan": "sp.plan(dense, dense)",
    "betweenness": "sp.graph.betweenness_centrality(g)",
    "all pairs": "sp.graph.all_pairs_shortest_paths(web)",
    "closeness": "sp.graph.closeness_centrality(g)",
    "leiden": "[sp.graph.leiden(g) for _ in range(1000)]",
    "neighbors": "sp.neighbors.kneighbors(rows, metric='manhattan')",
    "distances": "sp.neighbors.pairwise_distances(rows, metric='chebyshev')",
    "cp": "sp.cp_als(x, 64, sweeps=10**6, tolerance=None)",
    "einsum": "sp.einsum('ij,jk->ik', wide, wide, semiring='min_plus')",
}

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np, scipy.sparse, sparring as sp

rng = np.random.default_rng(0)
def random(n, m, each):
    return scipy.sparse.random_array((n, m), density=each / m, format="csr", rng=rng)

dense, a, small, rows = random(4000, 4000, 1500), random(200_000, 200_000, 60), random(500, 500, 400), random(20_000, 2000, 60)
g = sp.graph.Graph(random(20_000, 20_000, 10), directed=False)
web = sp.graph.Graph(random(5000, 5000, 200), directed=True, weighted=True)
x = sp.Tensor([rng.integers(0, 3000, 2_000_000) for _ in range(3)], rng.random(2_000_000), shape=(3000,) * 3)
wide = rng.random((3000, 3000))
before = [v.tobytes() for v in (dense.data, a.data, rows.data)]
sent = []
def send():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
timer = threading.Timer(0.4, send)
timer.start()
try:
    for _ in range(1000):
        CALL
    print("ended", 9.0)
except KeyboardInterrupt:
    print("stopped", time.perf_counter() - sent[0])
timer.cancel()
assert before == [v.tobytes() for v in (dense.data, a.data, rows.data)]
assert sp.mxm(small, small).nnz
"""


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_ctrl_c_stops(call):
    program = PROGRAM.replace("CALL", call)
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    word, after = found.stdout.split()
    assert word == "stopped", "it was over before"
    # A tenth of a second on an idle machine; other processes may load this one.
    assert float(after) < 1.0


def test_a_handler_of_the_caller_runs_in_the_meantime():
    program = PROGRAM.replace("before =", "signal.signal(signal.SIGINT, lambda *_: print('handled'))\nbefore =")
    program = program.replace("CALL", "sp.mxm(dense, dense)").replace("for _ in range(1000)", "while not sent")
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout.split() == ["handled", "ended", "9.0"], found.stderr
