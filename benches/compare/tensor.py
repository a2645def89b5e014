#!/usr/bin/env python3
"""MTTKRP over all modes of sparse tensors: sparring compared with pygenten (GenTen's wheel), alternating in one run.

    cargo build --release -p sparring-cli
    python3 benches/compare/tensor.py                                # all cases, R = 16 and 32
    python3 benches/compare/tensor.py --cases random3m,uber --ranks 16 --rounds 2
    python3 benches/compare/tensor.py --save [NAME]                  # keeps lines and tables as benches/results/DATE-tensor
    python3 benches/compare/tensor.py --tables FILE.jsonl            # measures nothing: the tables of those lines
    python3 benches/compare/tensor.py --self-test                    # the tables from made-up lines

Creates a virtual environment (default target/tensor-venv). Both sides get the same tensors and initial factors, bit for
bit (`sparring_generate::bench_tensor`; here by NumPy), and the same number of threads; every program runs in its own
process, in turns.
pygenten is timed by its own clock of MTTKRP inside CP-ALS, without its setup; a sweep is this time over the number of
sweeps. Ours is `sparring bench mttkrp`. Both start with fresh memory, and the minimum over the rounds counts. Products
with the initial factors are compared by their sums with NumPy's. pygenten's wheel is built without AVX: a custom build
of GenTen is faster.
"""
import argparse
import datetime
import json
import math
import os
import subprocess
import sys

from compare import HERE, RESULTS, TOP, environment, isa_option, lower, machine, read_lines, without_places

import vocabulary

PACKAGES = ["numpy", "pygenten"]
PROBE = "import numpy, pygenten"
METHODS = ["perm", "atomic", "duplicated"]
DEFAULT = "perm"
ONE_COPY = "sparring, linear"
# Dimensions, entries, exponent of each mode's Zipf law (0: uniform), seed, whether sorted.
SPECS = {
    "random3m": ((30000, 40000, 50000), 3_000_000, (0, 0, 0), 102, False),
    "uber": ((183, 24, 1140, 1717), 3_309_490, (0.1, 0.4, 0.9, 0.9), 103, True),
    "nell2": ((12092, 9184, 28818), 10_000_000, (0.9, 0.9, 0.9), 104, True),
    "enron": ((6066, 5699, 244268, 1176), 6_000_000, (1.0, 1.0, 0.8, 0.8), 105, True),
    "lbnl": ((1605, 4198, 1631, 4209, 868131), 1_698_825, (1.1, 1.1, 1.1, 1.1, 0.7), 106, True),
    "vast": ((165427, 11374, 2, 100, 89), 5_000_000, (0.5, 0.9, 0.3, 0.8, 0.8), 107, True),
}
# Target speedup, as a geometric mean.
BAR_BEST, BAR_DEFAULT, BAR_SETUP = 8.0, 25.0, 2.0
# Largest relative difference of equal sums.
SAME = 1e-9


def generate(name):
    """Indices and values, the same on every machine."""
    import numpy as np
    dims, nnz, zipf, seed, is_sorted = SPECS[name]
    rng = np.random.Generator(np.random.PCG64(seed))
    laws = []
    for n, s in zip(dims, zipf):
        sums = np.cumsum(np.arange(1, n + 1, dtype=np.float64) ** -s)
        laws.append((sums / sums[-1], rng.permutation(n)))
    wide = math.prod(dims) >= 1 << 62
    bits = [max(1, (n - 1).bit_length()) for n in dims]
    have = np.empty((0, len(dims)), np.int64)
    while len(have) < nnz:
        draws = int((nnz - len(have)) * 1.15) + 1000
        new = np.empty((draws, len(dims)), np.int64)
        for m, (n, s) in enumerate(zip(dims, zipf)):
            if s == 0:
                new[:, m] = rng.integers(0, n, draws)
            else:
                place = np.searchsorted(laws[m][0], rng.random(draws), side="right")
                new[:, m] = laws[m][1][np.minimum(place, n - 1)]
        have = np.concatenate([have, new])
        if sum(bits) <= 63 and not wide:
            key = np.zeros(len(have), np.int64)
            for m, b in enumerate(bits):
                key = (key << b) | have[:, m]
            key = np.unique(key)
            have = np.empty((len(key), len(dims)), np.int64)
            for m in range(len(dims) - 1, -1, -1):
                have[:, m] = key & ((1 << bits[m]) - 1)
                key >>= bits[m]
        else:
            have = have[np.lexsort(have.T[::-1])]
            have = have[np.concatenate([[True], (have[1:] != have[:-1]).any(axis=1)])]
    pick = rng.permutation(len(have))[:nnz]
    if is_sorted:
        pick.sort()
    return dims, np.ascontiguousarray(have[pick]), 1.0 - rng.random(nnz)


def factors(dims, rank):
    import numpy as np
    rng = np.random.Generator(np.random.PCG64(7))
    return [np.ascontiguousarray(rng.random((n, rank))) for n in dims]


def tensor_in(work, name):
    """The tensor from files in the folder, generated if missing."""
    import numpy as np
    path = os.path.join(work, name + ".npz")
    if not os.path.exists(path):
        _, places, values = generate(name)
        np.savez(path, places=places, values=values)
    with np.load(path) as arrays:
        return SPECS[name][0], arrays["places"], arrays["values"]


def sums(args):
    """The sum of each mode's product with the initial factors, by NumPy alone."""
    import numpy as np
    dims, places, values = tensor_in(args.work, args.case)
    first = factors(dims, args.rank)
    found = [0.0] * len(dims)
    for at in range(0, len(values), 500_000):
        rows = [f[places[at:at + 500_000, m]] for m, f in enumerate(first)]
        for mode in range(len(dims)):
            product = values[at:at + 500_000, None]
            for m, row in enumerate(rows):
                if m != mode:
                    product = product * row
            found[mode] += float(product.sum())
    return dict(checksum_mttkrp=found)


def pygenten(args):
    """Times a method of pygenten and discards its banners."""
    keep, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    import importlib.metadata
    import time

    import numpy as np
    import pygenten as gt
    dims, places, values = tensor_in(args.work, args.case)
    method = {"perm": gt.MttkrpPerm, "atomic": gt.MttkrpAtomic, "duplicated": gt.MttkrpDuplicated}[args.method]
    x = gt.Sptensor(dims, places, values, copy=True)
    start = gt.Ktensor(np.ones(args.rank), factors(dims, args.rank))
    began = time.perf_counter()
    # Without a tolerance, all sweeps run; a threshold of −1 makes "duplicated" effective.
    _, _, info = gt.cp_als(x, init=start, rank=args.rank, maxiters=args.sweeps, tol=0.0, printitn=0, timings=True,
                           mttkrp_method=method, mttkrp_duplicated_threshold=-1.0)
    wall = time.perf_counter() - began
    last = info.lastEntry()
    os.dup2(keep, 1)
    return dict(ms=1e3 * last.cum_mttkrp_time / args.sweeps, setup_ms=1e3 * (wall - last.cum_time),
                version=importlib.metadata.version("pygenten"))


def geometric(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def best_of(lines):
    """The fastest line of each tensor, rank and program in a run, with the shortest setup."""
    best = {}
    for line in lines[1:]:
        key = (line["case"], line["rank"], line["who"])
        before = best.get(key)
        if before is None or before.get("error"):
            best[key] = line
        elif not line.get("error"):
            faster = line if line["ms"] < before["ms"] else before
            best[key] = dict(faster, setup_ms=min(line["setup_ms"], before["setup_ms"]))
    return best


def ratios_of(lines):
    """The time of pygenten's best method over ours in a run, by tensor and rank."""
    best, found = best_of(lines), {}
    for case, rank, who in best:
        theirs = [best[case, rank, m]["ms"] for m in METHODS if best.get((case, rank, m), {}).get("ms")]
        if who == "sparring" and theirs:
            found[f"{case}, R = {rank}"] = min(theirs) / best[case, rank, who]["ms"]
    return found


def report(lines):
    """Markdown, and whether all sums agree."""
    run, best = lines[0], best_of(lines)
    out = ["| tensor | R | ours, ms | variant | pygenten perm | atomic | duplicated | best / ours | default / ours | setup / sweep | "
           "B/entry kept | eq. 3, GB/s | least traffic, GB/s | triad, GB/s | sums |", "| --- " * 15 + "|"]
    to_best, to_default, setups, wrong = [], [], [], []
    for case, rank in dict.fromkeys((case, rank) for case, rank, _ in best):
        us = best[case, rank, "sparring"]
        theirs = {m: best.get((case, rank, m), {}).get("ms") for m in METHODS}
        known = [ms for ms in theirs.values() if ms]
        ratio = min(known) / us["ms"] if known else None
        default = theirs[DEFAULT] / us["ms"] if theirs[DEFAULT] else None
        setup = us["setup_ms"] / us["ms"]
        setups.append(setup)
        if ratio:
            to_best.append(ratio)
        if default:
            to_default.append(default)
        want = best.get((case, rank, "numpy"), {}).get("checksum_mttkrp")
        apart = max(abs(a - b) / abs(b) for a, b in zip(us["checksum_mttkrp"], want)) if want else None
        if apart is not None and apart > SAME:
            wrong.append(f"{case}, R = {rank}: {apart:.1e}")
        figure = lambda x, bar=0.0: "-" if x is None else f"{x:.2f}" if x >= bar else f"**{x:.2f}**"
        out.append(f"| {case} | {rank} | {us['ms']:.1f} | {us['variant']} | "
                   + " | ".join("-" if theirs[m] is None else f"{theirs[m]:.0f}" for m in METHODS)
                   + f" | {figure(ratio, 1.0)} | {figure(default, 1.0)} | "
                   + (f"{setup:.2f}" if setup < BAR_SETUP else f"**{setup:.2f}**")
                   + f" | {us['bytes_per_entry']:.1f} + {us['tensor_bytes_per_entry']:.0f} | {us['eq3_GBs']:.1f} | {us['least_GBs']:.1f} | "
                   f"{us['triad_GBs']:.1f} | {'-' if apart is None else f'{apart:.0e}'} |")
    out += ["", "One copy for all modes (`--variant linear`), in the same run:", "",
            "| tensor | R | ms | best / ours | setup / sweep | B/entry kept |", "| --- " * 6 + "|"]
    for (case, rank, who), line in best.items():
        if who == ONE_COPY:
            known = [best[case, rank, m]["ms"] for m in METHODS if best.get((case, rank, m), {}).get("ms")]
            out.append(f"| {case} | {rank} | {line['ms']:.1f} | {figure(min(known) / line['ms'] if known else None, 1.0)} | "
                       f"{line['setup_ms'] / line['ms']:.2f} | {line['bytes_per_entry']:.1f} |")
    verdict = lambda found, bar: f"{found:.2f} (bar {bar:g}{'' if found >= bar else ', **lost**'})"
    out += ["", f"Geometric means: {verdict(geometric(to_best), BAR_BEST)} to pygenten's best method, "
            f"{verdict(geometric(to_default), BAR_DEFAULT)} to its default; setup {geometric(setups):.2f} sweeps, at most {max(setups):.2f} "
            f"(bar {BAR_SETUP:g}{'' if max(setups) < BAR_SETUP else ', **lost**'}).",
            "", "Sums that differ:" + (" none." if not wrong else "")] + [f"- {text}" for text in wrong]
    versions = {line["version"] for line in lines[1:] if line.get("version")}
    out += ["", f"{run['date']}, {run['machine']}, {run['cpus']} processors, {run['memory']} of memory, {run['system']}; sparring at "
            f"{run['commit']}, {run['threads']} threads; minima of {run['rounds']} rounds in turns; a ratio is the peer's over ours; pygenten "
            f"{', '.join(sorted(versions))} from its wheel, whose code has no AVX.", f"Made by `{run['command']}`."]
    return "\n".join(out) + "\n", not wrong


def self_test():
    run = dict(date="d", machine="m", cpus=2, memory="8 GiB", system="s", commit="c", threads=2, rounds=1, command="x")
    ours = dict(case="uber", rank=16, who="sparring", ms=10.0, setup_ms=15.0, variant="tree", bytes_per_entry=50.0,
                tensor_bytes_per_entry=24.0, eq3_GBs=1.0, least_GBs=1.0, triad_GBs=2.0, checksum_mttkrp=[1.0, 2.0])
    lines = [run, ours, dict(ours, ms=12.0, setup_ms=14.0), dict(ours, who=ONE_COPY, ms=25.0), dict(case="uber", rank=16, who="perm", ms=300.0, setup_ms=9.0, version="0"),
             dict(case="uber", rank=16, who="duplicated", ms=50.0, setup_ms=9.0), dict(case="uber", rank=16, who="atomic", error="no"),
             dict(case="uber", rank=16, who="numpy", ms=0.0, setup_ms=0.0, checksum_mttkrp=[1.0, 2.0])]
    text, right = report(lines)
    assert right and "| 5.00 | 30.00 | 1.40 |" in text, text
    assert "| uber | 16 | 25.0 | 2.00 | 0.60 | 50.0 |" in text, text
    assert "5.00 (bar 8, **lost**)" in text and "30.00 (bar 25)" in text, text
    assert ratios_of(lines) == {"uber, R = 16": 5.0}, ratios_of(lines)
    lines[-1]["checksum_mttkrp"] = [1.0, 2.1]
    assert not report(lines)[1]
    assert without_places(["--env", "x", "--rounds", "1", "--work=y", "--save", "--env"]) == ["--rounds", "1", "--save"]
    print("tensor.py: the tables of made-up lines are right")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(SPECS))
    parser.add_argument("--ranks", default="16,32")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sweeps", type=int, default=2, help="of pygenten, of which the mean is taken")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--binary", default=os.path.join(TOP, "target", "release", "sparring"))
    parser.add_argument("--env", default=os.path.join(TOP, "target", "tensor-venv"))
    parser.add_argument("--work", default=os.path.join(TOP, "target", "tensors"))
    parser.add_argument("--save", metavar="NAME", nargs="?", const=datetime.date.today().isoformat() + "-tensor")
    parser.add_argument("--tables", metavar="FILE")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--worker", choices=["pygenten", "numpy"], help=argparse.SUPPRESS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--method", help=argparse.SUPPRESS)
    isa_option(parser)
    args = parser.parse_args()
    lower(args.isa)
    if args.self_test:
        return self_test()
    if args.worker:
        found = pygenten(args) if args.worker == "pygenten" else sums(args)
        print(json.dumps(found), flush=True)
        # pygenten may crash on exit; its times are known by then.
        os._exit(0)
    if args.tables:
        return print(report(read_lines(args.tables))[0])
    python = environment(args.env, PACKAGES, PROBE)
    os.makedirs(args.work, exist_ok=True)
    lines = [dict(machine(args, ["python3", "benches/compare/tensor.py", *without_places(sys.argv[1:])]), threads=args.threads,
                  rounds=args.rounds)]
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), OMP_PROC_BIND="false", OPENBLAS_NUM_THREADS="1")

    def worker(kind, case, rank, method=""):
        command = [python, os.path.join(HERE, "tensor.py"), "--worker", kind, "--case", case, "--rank", str(rank), "--method", method,
                   "--sweeps", str(args.sweeps), "--work", args.work]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        if done.returncode != 0:
            return dict(error=done.stderr.strip().splitlines()[-1:] or ["failed"])
        return json.loads(done.stdout.splitlines()[-1])

    for case in args.cases.split(","):
        for rank in map(int, args.ranks.split(",")):
            print(f"measuring {case}, R = {rank}", file=sys.stderr)
            lines.append(dict(case=case, rank=rank, who="numpy", ms=0.0, setup_ms=0.0, **worker("numpy", case, rank)))
            for _ in range(args.rounds):
                command = [args.binary, "bench", "mttkrp", "--case", case, "--rank", str(rank), "--threads", str(args.threads),
                           "--fresh-memory", "--json"]
                for who, more in (("sparring", []), (ONE_COPY, ["--variant", "linear"])):
                    ours = vocabulary.line(subprocess.run([*command, *more], check=True, capture_output=True, text=True).stdout)
                    lines.append(dict(ours, who=who, ms=ours["ms_min"], setup_ms=ours["setup_ms_min"]))
                for method in args.methods.split(","):
                    lines.append(dict(case=case, rank=rank, who=method, **worker("pygenten", case, rank, method)))
    text, right = report(lines)
    path = os.path.join(RESULTS, args.save + ".jsonl") if args.save else os.path.join(TOP, "target", "tensor.jsonl")
    with open(path, "w") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)
    if args.save:
        with open(os.path.join(RESULTS, args.save + ".md"), "w") as out:
            out.write(text)
    print(text)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
