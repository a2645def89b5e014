#!/usr/bin/env python3
"""A·A over a user-defined semiring: ours as text and as a type (`op!`), SuiteSparse's by function pointers, run alternately.

    cargo build --release -p sparring-cli
    python3 benches/compare/own.py [--threads 2] [--rounds 3] [--cases rmat14,FILE.mtx.gz]

The semiring is (min, a + 2·b) over doubles. SuiteSparse gets both operators from numba as pointers to machine code
(python-graphblas, `register_anonymous`); its JIT compiler is off. The type is compiled by `cargo bench --bench own`.
Both use their default allocators. The sums of the
results must agree. Requires python-graphblas with numba, and SciPy. Prints a Markdown table of minima; above 1, we are faster.
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile
import time

import vocabulary

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORMULA = "min, a + 2*b"


def suitesparse():
    """SuiteSparse: A, the time of A·A in ms, and the sum of its values."""
    import graphblas as gb
    import numpy as np

    least = gb.monoid.register_anonymous(gb.binary.register_anonymous(lambda x, y: x if x < y else y), {gb.dtypes.FP64: np.inf})
    ring = gb.semiring.register_anonymous(least, gb.binary.register_anonymous(lambda x, y: x + 2 * y))["FP64"]
    gb.ss.config["jit_c_control"] = "off"

    def product(a, repeat):
        g, times = gb.io.from_scipy_sparse(a), []
        for _ in range(repeat + 1):
            at = time.perf_counter()
            c = ring(g @ g).new()
            c.wait()
            times.append(time.perf_counter() - at)
        return 1e3 * min(times[1:]), float(c.reduce_scalar("plus").get())
    return product


def by_type(args, path):
    """Our semiring as a type: the minimum in ms, and the sum of the values."""
    program = [args.own] if args.own else ["cargo", "bench", "--quiet", "--bench", "own", "--"]
    command = [*program, path, str(args.threads), str(args.repeat)]
    found = vocabulary.line(subprocess.run(command, cwd=TOP, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])
    return found["ms_min"], found["sum"]


def by_text(args, path):
    command = [args.binary, "mxm", path, path, "--semiring", FORMULA, "--type", "f64", "--json"]
    out = subprocess.run([*command, "--threads", str(args.threads), "--repeat", str(args.repeat + 1)], check=True, stdout=subprocess.PIPE)
    found = vocabulary.line(out.stdout.splitlines()[-1])
    return found["ms_min"], found["sum"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="rmat14,er18d8,web18,stencil27_60,lap2d_1000", help="names of cases, and files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--binary", default=os.path.join(TOP, "target", "release", "sparring"))
    parser.add_argument("--own", help="the program that `cargo bench --bench own` runs, if it is built already")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    import cases
    import scipy.io

    product, ratios = suitesparse(), []
    print("| A·A, (min, a + 2·b) | rows | entries | type, ms | text, ms | SuiteSparse, ms | ratio, type | ratio, text |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for case in args.cases.split(","):
        a = cases.load(case)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.mtx")
            scipy.io.mmwrite(path, a, precision=17)
            rounds = [(by_type(args, path), by_text(args, path), product(a, args.repeat)) for _ in range(args.rounds)]
        sums = [value for pair in rounds for _, value in pair]
        if not all(math.isclose(value, sums[0], rel_tol=1e-9) for value in sums):
            sys.exit(f"{case}: the sums differ: {sums}")
        typed, text, theirs = (min(found[k][0] for found in rounds) for k in range(3))
        ratios.append((theirs / typed, theirs / text))
        print(f"| {os.path.basename(case).split('.')[0]} | {a.shape[0]} | {a.nnz} | {typed:.2f} | {text:.2f} | {theirs:.2f} |"
              f" {ratios[-1][0]:.2f} | {ratios[-1][1]:.2f} |", flush=True)
    means = [f"{math.prod(column) ** (1 / len(ratios)):.2f} ({min(column):.2f})" for column in zip(*ratios)]
    print(f"| geometric mean (least) | | | | | | {' | '.join(means)} |")


if __name__ == "__main__":
    main()
