#!/usr/bin/env python3
"""Small batched contractions: sparring compared with MKL, numpy and opt_einsum, alternating in one run.

    cargo build --release -p sparring-cli
    python3 benches/compare/contract.py                              # all cases: matrices of n = 2 to 32, elements of order 2 to 8
    python3 benches/compare/contract.py --cases gemm --n 4,8 --floats f64 --rounds 2
    python3 benches/compare/contract.py --save [NAME]                # keeps lines and tables as benches/results/DATE-contract
    python3 benches/compare/contract.py --tables FILE.jsonl          # measures nothing: the tables of those lines
    python3 benches/compare/contract.py --self-test                  # the tables from made-up lines
    cargo build --release -p sparring-capi
    python3 benches/compare/contract.py --check 20000                # measures nothing: random expressions beside numpy.einsum

Creates a virtual environment (default target/contract-venv). Both sides get the same arrays, bit for bit (numpy's
default_rng(12345); ours from `sparring_generate::bench_contract`), and the same number of threads. Every program runs
in its own process, in turns: one warm-up run, then --repeat runs; the minimum over runs and rounds counts.
gemm is C = A·B + C; act is U = M V, the mass operator of finite elements; asm computes its matrices. Flops are 2n³ per
matrix; for elements they are those of sum factorization, whatever algorithm runs. "% of stream" is the time of c += a·b
on arrays of the same size, measured in the same run with the same threads and scaled to the bytes that must be read and
written, relative to our time. Results are compared by their sums, plain and weighted by position.

--check calls the C library (--library, default target/release/libsparring.so) on random expressions with random
layouts, factors and batches of integers, whose results must equal numpy's.
"""
import argparse
import ctypes
import datetime
import json
import os
import subprocess
import sys
import time

from compare import HERE, RESULTS, TOP, environment, isa_option, lower, machine, read_lines, without_places

import vocabulary

PACKAGES = ["numpy", "mkl", "opt_einsum"]
PROBE = "import numpy, opt_einsum, importlib.metadata as m; m.version('mkl')"
CASES = ["gemm", "act2d", "act3d", "asm2d", "asm3d"]
EXPRESSIONS = {
    "gemm": "bij,bjk->bik",
    "act2d": "ka,lb,ekl,ki,lj,eij->eab",
    "act3d": "ka,lb,mc,eklm,kx,ly,mz,exyz->eabc",
    "asm2d": "ka,kb,lc,ld,ekl->eabcd",
    "asm3d": "ka,kb,lc,ld,mf,mg,eklm->eabcdfg",
}
# Peers of each family, and their cases.
PEERS = {
    "mkl": {"mkl": CASES[:3]},
    "numpy": {"matmul": CASES, "einsum": CASES[:1], "opt_einsum": CASES},
}
COLUMNS = ["mkl", "matmul", "einsum", "opt_einsum"]
# Targets: percent of the stream kernel, and speedup over MKL, for matrices of n rows.
STREAM_BARS = {2: 85, 4: 85, 6: 85, 8: 85, 12: 85, 16: 85, 24: 75, 32: 65}
MKL_BARS = {2: 10.0, 4: 3.0, 8: 2.0, 12: 1.2, 16: 1.2, 24: 2.0, 32: 2.0}
# Targets: speedup over others in three-dimensional actions.
ACTION_BARS = {"opt_einsum": 20.0, "matmul": 5.0}
# Relative differences of sums, to the sum of absolute values, that count as equal.
SAME = {"f64": 1e-12, "f32": 1e-6}


# ---- a peer's process

def arrays(case, size, batch, dtype):
    """A, B and C; or the basis, weights and values of elements."""
    import numpy as np
    number = np.float64 if dtype == "f64" else np.float32
    rng = np.random.default_rng(12345)
    draw = lambda *shape: rng.random(shape, dtype=number)
    if case == "gemm":
        return [(draw(batch, size, size) - number(0.5)) / number(size) for _ in range(3)]
    dims, d, q = int(case[3]), size + 1, size + 2
    basis = draw(q, d) - number(0.4)
    weights = draw(batch, *[q] * dims) + number(0.5)
    return basis, weights, draw(batch, *[d] * dims) - number(0.5)


def operands(case, basis, weights, values):
    dims = int(case[3])
    if case.startswith("act"):
        return [*[basis] * dims, weights, *[basis] * dims, values]
    return [*[basis] * (2 * dims), weights]


class Mkl:
    """MKL's strided batches and products, through its C interface."""

    def __init__(self):
        import importlib.metadata
        files = [str(f.locate()) for f in importlib.metadata.files("mkl") or [] if os.path.basename(f).startswith("libmkl_rt.so")]
        self.library = ctypes.CDLL(os.path.realpath(files[0]), mode=ctypes.RTLD_GLOBAL)
        self.version = "MKL " + importlib.metadata.version("mkl")

    def batch(self, m, n, k, a, a_step, b, b_step, beta, c, count, transposed=False):
        """C = op(A)·B + beta·C, `count` times, all row-major, m × n with k terms; with strides between matrices."""
        real = ctypes.c_double if a.itemsize == 8 else ctypes.c_float
        call = self.library.cblas_dgemm_batch_strided if a.itemsize == 8 else self.library.cblas_sgemm_batch_strided
        i = ctypes.c_int
        call(i(101), i(112 if transposed else 111), i(111), i(m), i(n), i(k), real(1), ctypes.c_void_p(a.ctypes.data),
             i(m if transposed else k), i(a_step), ctypes.c_void_p(b.ctypes.data), i(n), i(b_step), real(beta),
             ctypes.c_void_p(c.ctypes.data), i(n), i(m * n), i(count))

    def product(self, m, n, k, a, b, c):
        """C = A·B, one large product."""
        real = ctypes.c_double if a.itemsize == 8 else ctypes.c_float
        call = self.library.cblas_dgemm if a.itemsize == 8 else self.library.cblas_sgemm
        i = ctypes.c_int
        call(i(101), i(111), i(111), i(m), i(n), i(k), real(1), ctypes.c_void_p(a.ctypes.data), i(k), ctypes.c_void_p(b.ctypes.data),
             i(n), real(0), ctypes.c_void_p(c.ctypes.data), i(n))


def by_mkl(case, size, batch, data):
    """A function that computes the case once and returns the result."""
    import numpy as np
    mkl = Mkl()
    if case == "gemm":
        a, b, c = data
        step = size * size

        def run():
            mkl.batch(size, size, size, a, step, b, step, 1, c, batch)
            return c
        return mkl.version, {"mkl": run}
    basis, weights, values = data
    turned = np.ascontiguousarray(basis.T)
    dims, d, q, e = int(case[3]), size + 1, size + 2, batch
    one, two = (np.empty(e * q ** dims, basis.dtype) for _ in range(2))
    result = np.empty_like(values)

    def forth_and_back():
        if dims == 2:
            mkl.batch(q, d, d, basis, 0, values, d * d, 0, one, e)
            mkl.product(e * q, q, d, one, turned, two)
            np.multiply(two, weights.reshape(-1), out=two)
            mkl.product(e * q, d, q, two, basis, one)
            mkl.batch(d, d, q, basis, 0, one, q * d, 0, result, e, transposed=True)
        else:
            mkl.batch(q, d * d, d, basis, 0, values, d ** 3, 0, one, e)
            mkl.batch(q, d, d, basis, 0, one, d * d, 0, two, e * q)
            mkl.product(e * q * q, q, d, two, turned, one)
            np.multiply(one, weights.reshape(-1), out=one)
            mkl.product(e * q * q, d, q, one, basis, two)
            mkl.batch(d, d, q, basis, 0, two, q * d, 0, one, e * q, transposed=True)
            mkl.batch(d, d * d, q, basis, 0, one, q * d * d, 0, result, e, transposed=True)
        return result
    return mkl.version, {"mkl": forth_and_back}


def by_numpy(case, size, batch, data):
    import numpy as np
    import opt_einsum
    version = f"numpy {np.__version__}, opt_einsum {opt_einsum.__version__}"
    text = EXPRESSIONS[case]
    if case == "gemm":
        a, b, c = data
        planned = opt_einsum.contract_expression(text, a.shape, b.shape)
        return version, {
            "matmul": lambda: np.add(c, np.matmul(a, b), out=c),
            "einsum": lambda: np.add(c, np.einsum(text, a, b), out=c),
            "opt_einsum": lambda: np.add(c, planned(a, b), out=c),
        }
    basis, weights, values = data
    dims, d, q, e = int(case[3]), size + 1, size + 2, batch
    xs = operands(case, *data)
    planned = opt_einsum.contract_expression(text, *[x.shape for x in xs])
    if case.startswith("act"):
        turned = np.ascontiguousarray(basis.T)

        def chain():
            # One direction after the other, the last one as a single large product.
            x = values
            for i in range(dims - 1):
                x = np.matmul(basis, x.reshape(e * q ** i, d, -1))
            x = np.matmul(x.reshape(-1, d), turned).reshape(weights.shape)
            x *= weights
            x = np.matmul(x.reshape(-1, q), basis)
            for i in reversed(range(dims - 1)):
                x = np.matmul(turned, x.reshape(e * q ** i, q, -1))
            return x.reshape(values.shape)
    else:
        pairs = (basis[:, :, None] * basis[:, None, :]).reshape(q, d * d)
        turned = np.ascontiguousarray(pairs.T)

        def chain():
            x = np.matmul(weights.reshape(-1, q), pairs)
            for i in range(1, dims):
                x = np.matmul(turned, x.reshape(e * q ** (dims - 1 - i), q, -1))
            return x.reshape([e] + [d] * (2 * dims))
    return version, {"matmul": chain, "opt_einsum": lambda: planned(*xs)}


def checksums(x):
    """The sum, the position-weighted sum Σ v (i mod 97) / 97, and both of absolute values."""
    import numpy as np
    flat = x.reshape(-1)
    part = 1 << 22
    parts = [flat[at:at + part].astype(np.float64, copy=False) for at in range(0, flat.size, part)]
    weights = np.arange(parts[0].size) % 97 / 97.0
    return dict(checksum=sum(float(p.sum()) for p in parts), wsum=float((parts[0] * weights).sum()),
                absolute=sum(float(np.abs(p).sum()) for p in parts), wabsolute=float((np.abs(parts[0]) * weights).sum()))


def worker(args):
    """Times the peers of a family on one case."""
    data = arrays(args.case, args.size, args.batch, args.dtype)
    version, runs = (by_mkl if args.worker == "mkl" else by_numpy)(args.case, args.size, args.batch, data)
    found = {}
    start = data[2].copy() if args.case == "gemm" else None
    for name, run in runs.items():
        if start is not None:
            data[2][...] = start
        sums = checksums(run())
        times = []
        began = time.perf_counter()
        for _ in range(args.repeat):
            at = time.perf_counter()
            run()
            times.append(time.perf_counter() - at)
            # A run of minutes is not repeated.
            if time.perf_counter() - began > args.patience:
                break
        found[name] = dict(ms=1e3 * min(times), version=version, **sums)
    print(json.dumps(found), flush=True)


# ---- random expressions

class Layout(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_uint64), ("extents", ctypes.POINTER(ctypes.c_uint64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64), ("batch", ctypes.c_uint64), ("batch_stride", ctypes.c_int64)]


def check(args):
    """Compares random expressions of the C library with numpy; prints the count, or the first difference."""
    import numpy as np
    library = ctypes.CDLL(os.path.abspath(args.library))
    library.sparring_last_error.restype = ctypes.c_char_p
    u64, pointer = ctypes.c_uint64, ctypes.c_void_p
    library.sparring_einsum.argtypes = [pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.POINTER(Layout),
                                        ctypes.POINTER(pointer), ctypes.POINTER(u64), u64, pointer, pointer, ctypes.POINTER(Layout), pointer, u64]
    devices = []
    for threads in (1, 2, 3):
        device = pointer()
        assert library.sparring_device_new(b"cpu", ctypes.c_uint32(threads), u64(0), ctypes.byref(device)) == 0
        devices.append(device)
    rng = np.random.default_rng(args.seed)
    up_to = lambda n: int(rng.integers(0, n))
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"

    def lain(extents, number, written):
        """An array of these extents inside a larger one: permuted axes, gaps, and reversed axes for operands."""
        order = rng.permutation(len(extents))
        steps = [1 + (up_to(6) == 0) for _ in extents]
        whole = np.asarray(rng.integers(-3, 4, [extents[k] * steps[k] for k in order]), number)
        view = whole[(*(slice(None, None, steps[k]) for k in order), ...)]
        if not written:
            view = view[(*(slice(None, None, -1 if up_to(5) == 0 else 1) for _ in order), ...)]
        return whole, view.transpose(np.argsort(order))

    def layout(whole, view, batched):
        """The layout of the view in its array; its first axis is the batch if there is one."""
        strides = [s // whole.itemsize for s in view.strides]
        offset = (view.ctypes.data - whole.ctypes.data) // whole.itemsize if view.size else 0
        batch, step, extents = 1, 0, list(view.shape)
        if batched:
            batch, step, extents, strides = extents[0], strides[0], extents[1:], strides[1:]
        rank = len(extents)
        return Layout(rank, (u64 * rank)(*extents), (ctypes.c_int64 * rank)(*strides), offset, batch, step)

    began, kinds = time.perf_counter(), {}
    for case in range(args.check):
        count = [1, 1, 2, 2, 2, 2, 3, 3, 4, 9][up_to(10)]
        indices, largest = (3, 2) if count == 9 else (1 + up_to(5), [3, 5, 9, 40][up_to(4)])
        extents = [1 + up_to(largest) for _ in range(indices)]
        if up_to(20) == 0:
            extents[up_to(indices)] = 0
        batch = [None, None, 0, 1, 2, 17][up_to(6)]
        while np.prod(extents) * max(batch or 1, 1) > 3000:
            k = int(np.argmax(extents))
            extents[k] = -(-extents[k] // 2)
        names = [letters[k] for k in rng.permutation(len(letters))[:indices]]
        terms = [[up_to(indices) for _ in range(up_to(5))] for _ in range(count)]
        known = sorted({k for term in terms for k in term}, key=lambda _: rng.random())
        result = [k for k in known if up_to(3) > 0]
        batched = [batch is not None and up_to(3) > 0 for _ in terms]
        word = lambda term: "".join(names[k] for k in term)
        text = ",".join(map(word, terms)) + "->" + word(result)
        theirs = ",".join(b * "Z" + word(t) for t, b in zip(terms, batched)) + "->" + any(batched) * "Z" + word(result)
        number, code = np.float64, 11
        xs = [lain(b * [batch] + [extents[k] for k in t], number, False) for t, b in zip(terms, batched)]
        if count == 9:
            for whole, _ in xs:
                np.clip(whole, -1, 1, out=whole)
        whole, c = lain(any(batched) * [batch] + [extents[k] for k in result], number, True)
        alpha, beta = [None, 2, -1][up_to(3)], [None, 0, 1, -2][up_to(4)]
        if not beta:
            whole[...] = np.nan
        want = np.einsum(theirs, *[x for _, x in xs]) * number(alpha or 1)
        want = want + c * number(beta) if beta else want
        gaps = np.ones(whole.shape, bool)
        gaps_of_c = np.lib.stride_tricks.as_strided(gaps, c.shape, [s // whole.itemsize for s in c.strides])
        gaps_of_c[...] = False
        before = whole[gaps].copy()
        factor = lambda x: None if x is None else ctypes.cast(ctypes.pointer(ctypes.c_double(x)), pointer)
        status = library.sparring_einsum(
            devices[case % len(devices)], text.encode(), b"plus_times", code, (Layout * count)(*[layout(w, x, b) for (w, x), b in zip(xs, batched)]),
            (pointer * count)(*[w.ctypes.data for w, _ in xs]), (u64 * count)(*[w.size for w, _ in xs]), count, factor(alpha), factor(beta),
            ctypes.byref(layout(whole, c, any(batched))), whole.ctypes.data, whole.size)
        said = library.sparring_last_error().decode()
        right = status == 0 and np.array_equal(c, want) and np.array_equal(whole[gaps], before, equal_nan=True)
        if not right:
            print(f"case {case}: {text} ({theirs}), alpha {alpha}, beta {beta}, {number.__name__}: status {status} {said}\n{c}\nnumpy: {want}")
            return 1
        kinds[count] = kinds.get(count, 0) + 1
    for device in devices:
        library.sparring_device_free(device)
    per = ", ".join(f"{kinds[k]} of {k}" for k in sorted(kinds))
    print(f"{args.check} random expressions are numpy's (seed {args.seed}; operands: {per}) in {time.perf_counter() - began:.1f} s")
    return 0


# ---- the tables

def key_of(line):
    return line["case"], line["dtype"], line["size"]


def best_of(lines):
    """The fastest line of each case and program in a run."""
    best = {}
    for line in lines[1:]:
        key = (*key_of(line), line["who"])
        if key not in best or best[key].get("error") or not line.get("error") and line["ms"] < best[key]["ms"]:
            best[key] = line
    return best


def figure(x, bar=None, digits=2):
    return "-" if x is None else f"{x:.{digits}f}" if bar is None or x >= bar else f"**{x:.{digits}f}**"


def ratios_of(lines):
    """The time of each peer over ours in a run."""
    best = best_of(lines)
    return {(*key, who): line["ms"] / best[(*key, "sparring")]["ms"]
            for (*key, who), line in best.items() if who != "sparring" and line.get("ms")}


def report(lines):
    """Markdown, and whether all sums agree."""
    run, best, ratios = lines[0], best_of(lines), ratios_of(lines)
    keys = list(dict.fromkeys(key_of(line) for line in lines[1:]))
    out, wrong, lost = [], [], []
    for case in dict.fromkeys(key[0] for key in keys):
        columns = [who for who in COLUMNS if any((*key, who) in best for key in keys if key[0] == case)]
        what = "n" if case == "gemm" else "p"
        out += [f"## {case}: `{EXPRESSIONS[case]}`" + (" + C" if case == "gemm" else ""), "",
                f"| type | {what} | batch | ours, ms | GFLOP/s | stream, GB/s | % of stream | " + " | ".join(f"{who} / ours" for who in columns) + " |",
                "| --- " * (7 + len(columns)) + "|"]
        for key in (key for key in keys if key[0] == case):
            us = best[(*key, "sparring")]
            _, dtype, size = key
            bar = STREAM_BARS.get(size) if case == "gemm" else None
            # Of the fastest run, because its stream was measured together with it.
            share = us["pct_stream"]
            cells = [figure(share, bar, 0)]
            if bar and share < bar:
                lost.append(f"{case} {dtype} {what} = {size}: {share:.0f} % of stream, to be {bar}")
            for who in columns:
                ratio = ratios.get((*key, who))
                least = 1.0
                if case == "gemm" and who == "mkl":
                    least = MKL_BARS.get(size, 1.0)
                if case == "act3d":
                    least = ACTION_BARS.get(who, 1.0)
                cells.append(figure(ratio, least))
                if ratio is not None and ratio < least:
                    lost.append(f"{case} {dtype} {what} = {size}: {ratio:.2f} times as fast as {who}, to be {least:g}")
                peer = best.get((*key, who), {})
                for sum_, absolute in (("checksum", "absolute"), ("wsum", "wabsolute")):
                    if sum_ in peer and abs(peer[sum_] - us[sum_]) > SAME[dtype] * peer[absolute]:
                        wrong.append(f"{case} {dtype} {what} = {size}, {who}: {sum_} {peer[sum_]!r}, ours {us[sum_]!r}")
                if peer.get("error"):
                    wrong.append(f"{case} {dtype} {what} = {size}, {who}: {peer['error']}")
            out.append(f"| {dtype} | {size} | {us['batch']} | {us['ms']:.3f} | {us['flops_ms'] / us['ms']:.1f} | {us['stream_GBs']:.1f} | "
                       + " | ".join(cells) + " |")
        out.append("")
    out += ["Missed:" + ("" if lost else " nothing.")] + [f"- {text}" for text in lost]
    out += ["", "Sums that differ:" + ("" if wrong else " none.")] + [f"- {text}" for text in wrong]
    versions = sorted({line["version"] for line in lines[1:] if line.get("version")})
    out += ["", f"{run['date']}, {run['machine']}, {run['cpus']} processors, {run['memory']} of memory, {run['system']}; sparring at "
            f"{run['commit']}, {run['threads']} threads; minima of {run['rounds']} rounds of {run['repeat']} runs in turns; a ratio is the peer's time "
            f"over ours; bold: below what it is to be (1 where nothing is said). {'; '.join(versions)}.", f"Made by `{run['command']}`."]
    return "\n".join(out) + "\n", not wrong


def self_test():
    run = dict(date="d", machine="m", cpus=2, memory="8 GiB", system="s", commit="c", threads=2, rounds=1, repeat=5, command="x")
    ours = dict(case="gemm", dtype="f64", size=4, who="sparring", batch=1000, ms=2.0, flops_ms=50.0, stream_GBs=40.0, pct_stream=90.0,
                checksum=1.0, wsum=0.5)
    sums = dict(checksum=1.0, wsum=0.5, absolute=1000.0, wabsolute=500.0, version="v")
    lines = [run, ours, dict(ours, ms=3.0, pct_stream=60.0), dict(case="gemm", dtype="f64", size=4, who="mkl", ms=5.0, **sums),
             dict(case="gemm", dtype="f64", size=4, who="matmul", ms=4.0, **sums), dict(case="gemm", dtype="f64", size=4, who="matmul", ms=6.0, **sums),
             dict(ours, case="act3d", size=2, ms=1.0, pct_stream=10.0),
             dict(case="act3d", dtype="f64", size=2, who="opt_einsum", ms=19.0, **sums)]
    text, right = report(lines)
    assert right and "| f64 | 4 | 1000 | 2.000 | 25.0 | 40.0 | 90 | **2.50** | 2.00 |" in text, text
    assert "| f64 | 2 | 1000 | 1.000 | 50.0 | 40.0 | 10 | **19.00** |" in text, text
    assert "- gemm f64 n = 4: 2.50 times as fast as mkl, to be 3" in text and "19.00 times as fast as opt_einsum, to be 20" in text, text
    assert ratios_of(lines)["gemm", "f64", 4, "matmul"] == 2.0
    lines[3]["wsum"] = 0.5001
    assert not report(lines)[1]
    lines[3] = dict(case="gemm", dtype="f64", size=4, who="mkl", error="no")
    assert not report(lines)[1] and "mkl: no" in report(lines)[0]
    print("contract.py: the tables of made-up lines are right")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--n", default="2,4,6,8,12,16,24,32")
    parser.add_argument("--order", default="2,3,4,5,6,7,8")
    parser.add_argument("--floats", default="f64,f32")
    parser.add_argument("--batch", default="100000", help="matrices of gemm, or auto: 1 GB of arrays, so that no cache holds them")
    parser.add_argument("--max-mb", type=int, default=700, help="of the arrays of gemm, at most")
    parser.add_argument("--fem-mb", type=int, default=200, help="of the arrays of elements")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--patience", type=float, default=20.0, help="seconds after which a peer's runs end")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--binary", default=os.path.join(TOP, "target", "release", "sparring"))
    parser.add_argument("--library", default=os.path.join(TOP, "target", "release", "libsparring.so"))
    parser.add_argument("--env", default=os.path.join(TOP, "target", "contract-venv"))
    parser.add_argument("--save", metavar="NAME", nargs="?", const=datetime.date.today().isoformat() + "-contract")
    parser.add_argument("--tables", metavar="FILE")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--check", metavar="N", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", choices=[*PEERS, "check"], help=argparse.SUPPRESS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--dtype", help=argparse.SUPPRESS)
    isa_option(parser)
    args = parser.parse_args()
    lower(args.isa)
    if args.self_test:
        return self_test()
    if args.worker == "check":
        sys.exit(check(args))
    if args.worker:
        args.batch = int(args.batch)
        return worker(args)
    if args.tables:
        return print(report(read_lines(args.tables))[0])
    python = environment(args.env, PACKAGES, PROBE)
    if args.check:
        sys.exit(subprocess.run([python, os.path.abspath(__file__), "--worker", "check", "--check", str(args.check), "--seed", str(args.seed),
                                 "--library", args.library]).returncode)
    lines = [dict(machine(args, ["python3", "benches/compare/contract.py", *without_places(sys.argv[1:])]), threads=args.threads, rounds=args.rounds,
                  repeat=args.repeat)]
    threads = str(args.threads)
    env = dict(os.environ, OMP_NUM_THREADS=threads, MKL_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads, MKL_DYNAMIC="FALSE",
               MKL_THREADING_LAYER="INTEL")
    for case in args.cases.split(","):
        for dtype in args.floats.split(","):
            for size in map(int, (args.n if case == "gemm" else args.order).split(",")):
                if case == "asm3d" and size > 4:
                    continue
                print(f"measuring {case}, {dtype}, {size}", file=sys.stderr)
                key = dict(case=case, dtype=dtype, size=size)
                for _ in range(args.rounds):
                    command = [args.binary, "bench", "contract", "--case", case, "--n" if case == "gemm" else "--order", str(size), "--floats", dtype,
                               "--batch", args.batch, "--max-mb", str(args.max_mb), "--fem-mb", str(args.fem_mb), "--threads", threads,
                               "--repeat", str(args.repeat), "--json"]
                    ours = vocabulary.line(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                    flops_ms = ours["gflops"] * ours["ms"]
                    lines.append(dict(ours, who="sparring", median_ms=ours["ms"], ms=ours["ms_min"], flops_ms=flops_ms))
                    for family in args.peers.split(","):
                        names = [name for name, cases in PEERS[family].items() if case in cases]
                        if not names:
                            continue
                        command = [python, os.path.abspath(__file__), "--worker", family, "--case", case, "--dtype", dtype, "--size", str(size),
                                   "--batch", str(ours["batch"]), "--repeat", str(args.repeat), "--patience", str(args.patience)]
                        done = subprocess.run(command, env=env, capture_output=True, text=True)
                        found = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}
                        error = (done.stderr.strip().splitlines() or ["failed"])[-1]
                        lines += [dict(key, who=name, **found.get(name, dict(error=error))) for name in names]
    text, right = report(lines)
    path = os.path.join(RESULTS, args.save + ".jsonl") if args.save else os.path.join(TOP, "target", "contract.jsonl")
    with open(path, "w") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)
    if args.save:
        with open(os.path.join(RESULTS, args.save + ".md"), "w") as out:
            out.write(text)
    print(text)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
