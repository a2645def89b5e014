#!/usr/bin/env python3
"""Contractions on a GPU compared with cuBLAS: in each round our bench, then the peers, on the same device.

  python3 benches/compare/gpu_contract.py PROGRAM [--rounds 2] [--bytes 1.2e9] [--save FILE.jsonl]

PROGRAM is the bench `gpu_contract` (of `scripts/gpu-bundle`). Peers, through CuPy:
  gemm    cublas?gemmStridedBatched, C = A·B + C on as many matrices
  action  six products of that call and the weights between them, U = M V; the products along the last index as one
          GEMM and as a batch of small ones, of which the faster counts
  reduce  sums of PyTorch, where it is installed, or of CuPy; of two arrays, einsum
Prints one table per type: the minimum time over all rounds, relative to the time that a copy in the same run takes for the
bytes that must be moved; and the times of the peers as multiples of ours.
"""
import argparse
import json
import math
import subprocess

import cupy as cp
import numpy as np
from cupy_backends.cuda.libs import cublas

import vocabulary


def timed(work, rounds, calls=5):
    work()
    times = []
    for _ in range(rounds):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        for _ in range(calls):
            work()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end) / calls)
    return min(times)


def random(shape, dtype):
    return cp.random.random(shape, dtype=dtype) - dtype(0.5)


def products(dtype):
    """C (rows × columns) = op(X) · Y, or Y · op(X), for a batch; row-major."""
    handle = cp.cuda.device.get_cublas_handle()
    call = cublas.dgemmStridedBatched if dtype == np.float64 else cublas.sgemmStridedBatched
    one = np.array(1, dtype)

    def run(a, b, c, m, n, k, stride_a, stride_b, batch, transpose_a=False, transpose_b=False, beta=0.0):
        to = np.array(beta, dtype)
        lda, ldb = (m if transpose_a else k), (k if transpose_b else n)
        call(handle, int(transpose_b), int(transpose_a), n, m, k, one.ctypes.data, b.data.ptr, ldb, stride_b, a.data.ptr, lda,
             stride_a, to.ctypes.data, c.data.ptr, n, m * n, batch)

    return run


def gemm(dtype, n, batch, rounds):
    a, b, c = (random((batch, n, n), dtype) for _ in range(3))
    run = products(dtype)
    return timed(lambda: run(a, b, c, n, n, n, n * n, n * n, batch, beta=1.0), rounds)


def action(dtype, p, elements, rounds):
    d, q = p + 1, p + 2
    b, w, v = random((q, d), dtype), random((elements, q, q, q), dtype), random((elements, d, d, d), dtype)
    x, y = cp.empty((elements, q, d, d), dtype), cp.empty((elements, q, q, d), dtype)
    z, u = cp.empty((elements, q, q, q), dtype), cp.empty((elements, d, d, d), dtype)
    run = products(dtype)

    def chain(whole):
        rows, batch = (elements * q * q, 1) if whole else (q, elements * q)
        run(b, v, x, q, d * d, d, 0, d**3, elements)
        run(b, x, y, q, d, d, 0, d * d, elements * q)
        run(y, b, z, rows, q, d, q * d, 0, batch, transpose_b=True)
        cp.multiply(z, w, out=z)
        run(z, b, y, rows, d, q, q * q, 0, batch)
        run(b, y, x, d, d, q, 0, q * d, elements * q, transpose_a=True)
        run(b, x, u, d, d * d, q, 0, q * d * d, elements, transpose_a=True)

    chain(True)
    one = slice(elements - 1, elements)
    expected = cp.einsum("qi,rj,sk,eqrs,ql,rm,sn,elmn->eijk", b, b, b, w[one], b, b, b, v[one], optimize=True)
    assert float(cp.abs(expected - u[one]).max() / cp.abs(expected).max()) < (1e-10 if dtype == np.float64 else 1e-3)
    return min(timed(lambda: chain(True), rounds), timed(lambda: chain(False), rounds))


def reduce(dtype, expr, shape, rounds):
    shape = tuple(int(n) for n in shape.split("x"))
    inputs, out = expr.split("->")
    inputs = inputs.split(",")
    try:
        import torch

        arrays = [torch.rand(shape, dtype={"f32": torch.float32, "f64": torch.float64}[dtype], device="cuda") - 0.5 for _ in inputs]
        axes = tuple(i for i, index in enumerate(inputs[0]) if index not in out)
        work = (lambda: torch.sum(arrays[0], dim=axes)) if len(inputs) == 1 else (lambda: torch.einsum(expr, *arrays))
        least = math.inf
        work()
        for _ in range(rounds):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            for _ in range(5):
                work()
            end.record()
            end.synchronize()
            least = min(least, start.elapsed_time(end) / 5)
        return least
    except ImportError:
        arrays = [random(shape, {"f32": np.float32, "f64": np.float64}[dtype]) for _ in inputs]
        axes = tuple(i for i, index in enumerate(inputs[0]) if index not in out)
        return timed((lambda: arrays[0].sum(axis=axes)) if len(inputs) == 1 else (lambda: cp.einsum(expr, *arrays)), rounds)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("program")
    words.add_argument("--rounds", type=int, default=2)
    words.add_argument("--bytes", default="1.2e9")
    words.add_argument("--only", default="", help="gemm, action or reduce")
    words.add_argument("--save")
    asked = words.parse_args()
    lines, device = {}, None
    for turn in range(asked.rounds):
        ours = subprocess.run([asked.program, "--bench", "--bytes", asked.bytes, "--only", asked.only], check=True, capture_output=True, text=True)
        for line in map(vocabulary.line, ours.stdout.splitlines()):
            if "device" in line:
                device = device or line
                print(line, flush=True)
                continue
            key = tuple(line.get(k) for k in ("case", "dtype", "ring", "n", "p", "expr", "shape"))
            best = lines.setdefault(key, line)
            if line["ms_min"] < best["ms_min"]:
                line["peer_ms"] = best.get("peer_ms")
                lines[key] = line
        for (case, dtype, ring, n, p, expr, shape), line in lines.items():
            if ring == "min_plus":
                continue
            kind = np.float64 if dtype == "f64" else np.float32
            if case == "reduce":
                ms = reduce(dtype, expr, shape, 4)
            else:
                ms = gemm(kind, n, line["batch"], 4) if case == "gemm" else action(kind, p, line["batch"], 2)
            line["peer_ms"] = min(ms, line.get("peer_ms") or ms)
            cp.get_default_memory_pool().free_all_blocks()
    if asked.save:
        with open(asked.save, "w") as to:
            to.write("".join(json.dumps(line) + "\n" for line in [device, *lines.values()]))
    for dtype in ("f64", "f32"):
        print(f"\n| n, {dtype} | batch | ms | TB/s | % of bound | cuBLAS % | cuBLAS / ours | (min, +) / (+, ×) |\n| " + "--- | " * 8)
        for (case, of, ring, n, *_), x in lines.items():
            if (case, of, ring) == ("gemm", dtype, "plus_times"):
                peer, least = x["peer_ms"], lines.get(("gemm", dtype, "min_plus", n, None, None, None))
                tropical = f"{least['ms_min'] / x['ms_min']:.2f}" if least else ""
                print(f"| {n} | {x['batch']} | {x['ms_min']:.4f} | {x['tbs']:.2f} | {x['pct_bound']:.1f} | "
                      f"{x['pct_bound'] * x['ms_min'] / peer:.1f} | {peer / x['ms_min']:.2f} | {tropical} |")
        print(f"\n| p, {dtype} | elements | ms | TFLOP/s | % of bound | chain / ours |\n| " + "--- | " * 6)
        for (case, of, _, _, p, *_), x in lines.items():
            if (case, of) == ("action", dtype):
                print(f"| {p} | {x['batch']} | {x['ms_min']:.4f} | {x['tflops']:.2f} | {x['pct_bound']:.1f} | "
                      f"{x['peer_ms'] / x['ms_min']:.1f} |")
        print(f"\n| sum, {dtype} | shape | ms | TB/s | % of bound | peer / ours |\n| " + "--- | " * 6)
        for (case, of, _, _, _, expr, shape), x in lines.items():
            if (case, of) == ("reduce", dtype):
                print(f"| `{expr}` | {shape} | {x['ms_min']:.4f} | {x['tbs']:.2f} | {x['pct_bound']:.1f} | "
                      f"{x['peer_ms'] / x['ms_min']:.2f} |")


main()
