#!/usr/bin/env python3
"""sparring compared with other libraries: same inputs, same threads, alternating in one run.

    cargo build --release -p sparring-cli
    python3 benches/compare/compare.py [--threads 2] [--rounds 3] [--cases rmat14,web18] [--save NAME]
    python3 benches/compare/compare.py memory            # peak memory of a product besides C and its inputs

Creates a virtual environment (default target/peers-venv) and installs the other libraries with pip. Each case and round
then runs sparring and every other library in turn, each warmed up and repeated equally often, so that a noisy minute
affects all alike.
Both sides run in two memory modes. *Fresh* is the state of a new program: freed memory returns to the system, and each
result is touched for the first time. *Kept* means that freed memory serves the next run. The minimum over the rounds
counts. Everything is measured in two passes; where their ratios differ by more than 15 %, the cell shows both. Results
are compared by their checksums: a case whose sums differ is an error, not a row.
Prints Markdown tables of ratios (other / ours: above 1, we are faster) with every row, losses in bold, and writes each
measurement as a JSON line: to target/compare.jsonl, or with --save NAME, from a committed state, to
benches/results/NAME.jsonl, with the tables in NAME.md. The tables are computed from these lines alone.
"""
import argparse
import datetime
import json
import math
import os
import platform
import shlex
import subprocess
import sys
import venv

import vocabulary

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
PACKAGES = ["numpy", "scipy", "mkl", "numba", "suitesparse-graphblas", "python-graphblas", "networkit", "fast_matrix_market"]
PROBE = "import numpy, scipy, graphblas, networkit, fast_matrix_market, importlib.metadata as m; m.version('mkl')"
FILES = ["data/cnr-2000.mtx.gz", "data/email-Enron.mtx.gz", "data/bcsstk16.mtx.gz"]
SPGEMM = ["rmat14", "web18", *FILES, "stencil27_60", "lap2d_1000", "er18d8", "rap100"]
# Two factors: diagonals, permutations, single rows and columns, tall matrices.
SHAPES = ["diagonal", "scaled_rows", "scaled_columns", "permuted", "dot", "outer", "long_row", "tall30", "tall8", "tall1"]
MEMORY = FILES[:1]
# cnr-2000 is directed: once as it is, with A + Aᵀ built within our time, and once symmetrized beforehand, as for the
# others.
TRIANGLES = ["tc_rmat16", "tc_rmat17", "tc_rmat18", "sym:" + FILES[0], *FILES[:2]]
# Roads, meshes, co-authors, networks: low-degree graphs. Files that are not in data/ are read from the folder
# SPARRING_DATA; missing files are skipped.
LOW_DEGREE = ["lap2d_1000", *(f + ".mtx.gz" for f in (
    "luxembourg_osm", "delaunay_n16", "4elt", "wing", "cond-mat-2005", "as-22july06", "sym:p2p-Gnutella31", "p2p-Gnutella31", "power"))]
# Written by reading.py.
TEXTS = os.path.join(TOP, "target", "texts")
READ = [name + ".mtx" for name in ("cnr-2000", "lap2d_1000", "er18d8", "tc_rmat17", "stencil27_60")]
# Matrices that nothing was tuned for: roads, meshes, circuits, peer-to-peer, co-authors, linear programs.
UNSEEN = [name + ".mtx.gz" for name in ("luxembourg_osm", "delaunay_n16", "p2p-Gnutella31", "memplus", "cond-mat-2005", "lp_maros-r7")]
OPERATIONS = ["rmat14", "web18", "stencil27_60", "lap2d_1000", "er18d8", FILES[0], *UNSEEN]
# Nearly all rows, or columns, are empty; `sparring bench hyper` and cases.py generate the same matrices.
HYPER = ["hyper7", "hyper7hubs", "hyper8", "hyper9", "hyper9few", "wide8"]
RESULTS = os.path.join(TOP, "benches", "results")
# Memory modes: the option of `sparring bench`, and the environment of the others, under which the system allocator
# neither maps large blocks separately nor returns memory.
MEMORY_HABITS = {
    "fresh": (["--fresh-memory"], {}),
    "kept": ([], {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_ARENA_MAX": "1"}),
}
PASSES = 2
# Runs per turn of either side: as many as fit into this time in milliseconds, within these bounds.
SPENT_MS, LEAST, MOST = 200, 2, 20
# Largest disagreement between the ratios of two passes.
AGREE = 1.15
# Memory allowed to a product beyond its result and its inputs.
SCRATCH = 64 << 20
# Column of a table: our key in the line of `sparring bench`, the other library's variants.
COLUMNS = {
    "spgemm": [
        ("sorted / MKL", "ms", "mkl", "sorted"),
        ("sorted / SuiteSparse", "ms", "suitesparse", "sorted"),
        ("sorted / SciPy", "ms", "scipy", "sorted"),
        ("unsorted / MKL", "unsorted_ms", "mkl", "unsorted"),
        ("numeric only / MKL", "reuse_ms", "mkl", "numeric"),
        ("count / MKL", "count_ms", "mkl", "count"),
    ],
    "mxv": [
        ("new / SuiteSparse", "ms", "suitesparse", "new"),
        ("new / SciPy", "ms", "scipy", "mv"),
        ("into / MKL", "into_ms", "mkl", "mv"),
        ("into / SuiteSparse", "into_ms", "suitesparse", "into"),
    ],
    "vxm": [(f"{name} / SuiteSparse", f"{name}_ms", "suitesparse", name) for name in ("half", "eighth", "few")],
    "transpose": [
        ("SciPy", "ms", "scipy", "sorted"), ("MKL", "ms", "mkl", "sorted"), ("SuiteSparse", "ms", "suitesparse", "sorted"),
    ],
    "reduce": [
        ("all / SuiteSparse", "ms", "suitesparse", "all"), ("all / SciPy", "ms", "scipy", "all"),
        ("rows / SuiteSparse", "rows_ms", "suitesparse", "rows"),
    ],
    "ewise": [("SuiteSparse", "ms", "suitesparse", "add"), ("MKL", "ms", "mkl", "add"), ("SciPy", "ms", "scipy", "add")],
    "build": [("SuiteSparse", "ms", "suitesparse", "build"), ("SciPy", "ms", "scipy", "build")],
    "hyper": [("SuiteSparse", "ms", "suitesparse", "hyper")],
    "steps": [(f"{step} / SuiteSparse", f"{step}_ms", "suitesparse", step) for step in vocabulary.STEPS]
    + [(f"{step} / SciPy", f"{step}_ms", "scipy", step) for step in ("apply", "mult", "rows", "part", "kron", "concat", "spmm")]
    + [("spmm / MKL", "spmm_ms", "mkl", "spmm")],
    "masked": [("SuiteSparse", "ms", "suitesparse", "masked"), ("ours unmasked", "ms", "sparring", "all_ms")],
    "triangles": [
        ("SuiteSparse, best method", "ms", "suitesparse", None),
        ("SuiteSparse with its preparation", "ms", "suitesparse", "prepared"),
        ("networkit", "ms", "networkit", None),
    ],
    "read": [
        ("fast_matrix_market and tocsr", "ms", "fast_matrix_market", "mmread, tocsr"),
        ("fast_matrix_market, coordinates", "ms", "fast_matrix_market", "mmread"),
    ],
}


# Settings by which the others use a lower instruction set. SuiteSparse, networkit and SciPy's own loops have none.
LOWERED = {
    "scalar": {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX"},
    "avx2": {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512_SKX"},
    "avx512": {},
}
NAMES_OF_SETS = {"scalar": "SSE2", "avx2": "AVX2", "avx512": "AVX-512"}


def isa_option(parser):
    """Adds `--isa`, for comparison scripts."""
    parser.add_argument("--isa", choices=LOWERED, help="lower the instructions of both sides to this set, where the other can be told")


def lower(isa):
    """Lowers both sides, which inherit the environment."""
    if isa:
        os.environ |= LOWERED[isa] | {"SPARRING_ISA": isa}


def environment(folder, packages, probe):
    """The Python of a virtual environment with the other libraries, created unless `probe` runs."""
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        print(f"making {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", probe], capture_output=True).returncode != 0:
        print("installing " + " ".join(packages), file=sys.stderr)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
    return python


class Peer:
    """A process that runs one library and blocks, without spinning, while others run. It first reports its version."""

    def __init__(self, python, script, name, threads, *more, environment=None):
        counts = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        quiet = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0", "MKL_DYNAMIC": "FALSE",
                 "MKL_THREADING_LAYER": "INTEL"} | {key: str(threads) for key in counts}
        drop = ("OMP_PROC_BIND", "OMP_PLACES")
        env = {k: v for k, v in os.environ.items() if k not in drop} | quiet | (environment or {})
        self.name = name
        self.process = subprocess.Popen(
            [python, os.path.join(HERE, script), name, str(threads), *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        try:
            self.version = self.answer()["version"]
        except RuntimeError:
            self.close()
            raise

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended without an answer")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(f"{self.name}: {reply['error']}")
        return reply

    def ask(self, **what):
        try:
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(f"{self.name} ended without an answer") from None
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ours(binary, kind, case, threads, repeat, *more):
    """The last line of `sparring bench` (R·A·P for rap100): `repeat` runs after a warm-up run."""
    command = [binary, "bench", kind, "--case", case, "--threads", str(threads), "--repeat", str(repeat), "--json", *more]
    out = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    if out.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{out.stderr}")
    return vocabulary.line(out.stdout.splitlines()[-1])


def agree(a, b):
    return all(math.isclose(a[k], b[k], rel_tol=1e-9) for k in b)


def measure(args, python, kind, case, pass_, log):
    """Measures one case; every time goes to `log`."""
    names = [n for n in dict.fromkeys(c[2] for c in COLUMNS[kind]) if n in args.peers]
    for habit, (options, environment_) in MEMORY_HABITS.items():
        run = lambda repeat: ours(args.sparring, kind, located(case), args.threads, repeat, *options)
        peers = []
        for name in names:
            peer = Peer(python, "peers.py", name, args.threads, environment=environment_)
            name_or_file = located(case).removeprefix("sym:")  # the others count triangles of the undirected graph anyway
            path = os.path.join(TOP, name_or_file) if os.sep in name_or_file else name_or_file
            peer.variants = peer.ask(load=path, op=kind)["variants"]
            peers.append(peer)
        line = run(LEAST)
        # Cases of about a millisecond need more than two runs to find their minimum, equally many on both sides.
        longest = max(ms for key, ms in line.items() if key.endswith("ms_min"))
        repeat = min(MOST, max(LEAST, int(SPENT_MS / longest)))
        for peer in peers:
            for variant in peer.variants:
                found = peer.ask(time=variant, check=True)["found"]
                if not agree(line, found):
                    ours_ = {k: line.get(k) for k in found}
                    raise SystemExit(f"{case}: {peer.name}, {variant} has {found}, we have {ours_}")
        for round_ in range(args.rounds):
            about = {"memory": habit, "pass": pass_, "round": round_}
            log(dict(run(repeat), peer="sparring", **about) | {"case": case})
            for peer in peers:
                for variant in peer.variants:
                    # As for our own runs, an uncounted run comes first: a library whose turn starts with cold caches
                    # and returned memory is up to four times as slow (MKL on stencil27_60).
                    peer.ask(time=variant)
                    ms = min(peer.ask(time=variant)["ms"] for _ in range(repeat))
                    log(dict(peer=peer.name, version=peer.version, op=kind, case=case, variant=variant,
                             threads=args.threads, ms=ms, **about))
        for peer in peers:
            peer.close()


def measure_memory(args, case, log):
    # Retained freed memory, such as the reader's, does not belong to the product.
    line = ours(args.sparring, "spgemm", case, args.threads, LEAST, "--fresh-memory")
    if line["peak_bytes"] is None:
        raise SystemExit("the system does not tell the peak of a part of a run (/proc/self/clear_refs)")
    log(dict(line, peer="sparring", op="memory", round=0))


def without_places(arguments):
    """The arguments of a run without those that name places of this machine: programs, environments, folders of data."""
    places, kept, skipped = {"--env", "--venv", "--binary", "--library", "--sparring", "--work"}, [], False
    for argument in arguments:
        if not skipped and argument.partition("=")[0] not in places:
            kept.append(argument)
        skipped = not skipped and argument in places
    return kept


def machine(args, command):
    """The conditions of the figures, as the first line of a run; `command` reproduces it."""
    def first(path, key):
        try:
            with open(path, encoding="utf-8") as f:
                return next((line.split(":", 1)[1].strip() for line in f if line.startswith(key)), None)
        except OSError:
            return None

    # Processors of one name may differ in this, and every library depends on it.
    flags = (first("/proc/cpuinfo", "flags") or "").split()
    best = next((isa for flag, isa in (("avx512f", "avx512"), ("avx2", "avx2")) if flag in flags), "scalar")
    isa = os.environ.get("SPARRING_ISA") or best
    vectors = f" with {NAMES_OF_SETS[isa]}" + (f" of {NAMES_OF_SETS[best]}" if isa != best else "")
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=TOP, capture_output=True, text=True)
    return {
        "date": datetime.date.today().isoformat(),
        "machine": (first("/proc/cpuinfo", "model name") or platform.machine()) + vectors,
        "cpus": os.cpu_count(), "memory": first("/proc/meminfo", "MemTotal"), "system": platform.system(),
        "commit": commit.stdout.strip(), "command": shlex.join(command),
        "threads": args.threads, "rounds": args.rounds,
    }


def short(case):
    name = os.path.basename(case.removeprefix("sym:")).removesuffix(".gz").removesuffix(".mtx")
    return name + " (symmetrized)" if case.startswith("sym:") else name


def keys_of(kind):
    """Our times that the columns need, including our own alternatives that some columns compare with."""
    return dict.fromkeys([c[1] for c in COLUMNS[kind]] + [c[3] for c in COLUMNS[kind] if c[2] == "sparring"])


def cases_of(lines, kind):
    """By case and memory mode: times, by pass, of (library, our key or the other's variant)."""
    cases = {}
    for line in lines:
        if line.get("op") != kind:
            continue
        times = cases.setdefault(line["case"], {}).setdefault(line["memory"], {})
        if line["peer"] == "sparring":
            # A chain of products has no count, nor have older runs.
            found = [(("sparring", k), line[k + "_min"]) for k in keys_of(kind) if k + "_min" in line]
        else:
            found = [((line["peer"], line["variant"]), line["ms"])]
        for key, ms in found:
            times.setdefault(key, {}).setdefault(line["pass"], []).append(ms)
    return cases


def compared(times, key, peer, variant):
    """The other's best variant, its time and ours (minima), and the ratios of the passes; None without measurements."""
    def counts(v):
        """Variants that include preparation have a column of their own."""
        return v.startswith("prepared") == (variant == "prepared") if variant in (None, "prepared") else v == variant

    found = {v: min(min(x) for x in t.values()) for (p, v), t in times.items() if p == peer and counts(v)}
    if not found:
        return None
    best = min(found, key=found.get)
    mine, theirs = times.get(("sparring", key)), times[peer, best]
    if mine is None:
        return None
    ratios = [min(theirs[p]) / min(mine[p]) for p in mine if p in theirs]
    return best, found[best], min(min(x) for x in mine.values()), ratios


def ratios_of(lines, kind):
    """By (column, memory mode): the ratio of each case."""
    out = {}
    for case, habits in cases_of(lines, kind).items():
        for title, *column in COLUMNS[kind]:
            for habit, times in habits.items():
                if found := compared(times, *column):
                    out.setdefault((title, habit), {})[case] = found[1] / found[2]
    return out


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def table(kind, lines):
    """Markdown: a row per case, ratios in the columns, geometric means last."""
    columns = [(*column, habit) for column in COLUMNS[kind] for habit in MEMORY_HABITS]
    ours_ = "/".join(key.removesuffix("ms").strip("_") or "it" for key in keys_of(kind))
    out = [f"| {TITLES[kind]} | ours, ms: {ours_}; fresh, kept | " + " | ".join(f"{c[0]}: {c[-1]}" for c in columns) + " |"]
    out.append("| --- | --- |" + " --- |" * len(columns))
    for case, habits in cases_of(lines, kind).items():
        keys = keys_of(kind)
        least = lambda passes: f"{min(map(min, passes.values())):.1f}" if passes else "–"
        own = ["/".join(least(t.get(("sparring", k))) for k in keys) for t in habits.values()]
        cells = []
        for _, key, peer, variant, habit in columns:
            found = compared(habits.get(habit, {}), key, peer, variant)
            if found is None:
                cells.append("–")
                continue
            best, theirs, mine, ratios = found
            text = f"{theirs / mine:.2f}"
            if max(ratios) > AGREE * min(ratios):
                text = f"{min(ratios):.2f}…{max(ratios):.2f}"
            which = f", {best.removeprefix('prepared ')}" if variant in (None, "prepared") else ""
            cells.append((f"**{text}**" if theirs < mine else text) + f" ({theirs:.1f} ms{which})")
        out.append(f"| {short(case)} | " + ", ".join(own) + " | " + " | ".join(cells) + " |")
    ratios = ratios_of(lines, kind)
    means = [f"**{mean(x.values()):.2f}**" if (x := ratios.get((c[0], c[-1]))) else "–" for c in columns]
    out.append("| geometric mean | | " + " | ".join(means) + " |")
    return out


def memory_table(lines):
    out = ["| memory of A·A, MiB | inputs | C | held at most | beside both | allowed |", "| --- | --- | --- | --- | --- | --- |"]
    for line in lines:
        inputs, result, peak = (line[k] for k in ("input_bytes", "result_bytes", "peak_bytes"))
        sizes = [inputs, result, peak, peak - inputs - result, SCRATCH]
        out.append(f"| {short(line['case'])} | " + " | ".join(f"{x / 2**20:.1f}" for x in sizes) + " |")
    return out


TITLES = {"spgemm": "A·A", "triangles": "triangles", "mxv": "y = A·x", "vxm": "y = xᵀ·A", "transpose": "Aᵀ", "reduce": "sums",
          "ewise": "A + Aᵀ", "read": "reading into rows", "build": "from entries", "masked": "A·A where A is", "steps": "steps", "hyper": "few rows or columns"}


def report(lines):
    """The tables of a run and their provenance."""
    run, parts = lines[0], []
    for kind in COLUMNS:
        if cases_of(lines, kind):
            parts += [*table(kind, lines), ""]
    memory = [line for line in lines if line.get("op") == "memory"]
    if memory:
        parts += [*memory_table(memory), ""]
    versions = {line["peer"]: line["version"] for line in lines if "version" in line}
    machine_ = f"{run['machine']}, {run['cpus']} processors, {run['memory']} of memory, {run['system']}"
    passes = 1 + max((line.get("pass", 0) for line in lines), default=0)
    parts.append(f"{run['date']}, {machine_}; sparring at {run['commit']}, {run['threads']} threads, minima of "
                 f"{passes} passes of {run['rounds']} rounds taken in turns; a ratio is the other's time over ours, bold where we are slower; two "
                 f"ratios where the passes differ by more than {AGREE - 1:.0%}. SciPy runs on one thread. "
                 + " ".join(f"{name}: {version}." for name, version in versions.items()))
    parts.append(f"Made by `{run['command']}`.")
    return "\n".join(parts) + "\n"


def read_lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND",
                        help="spgemm, triangles, read, mxv, vxm, transpose, reduce, ewise, build, masked, steps, hyper, memory [default: the first two]")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=PASSES, help="one shows no ranges of ratios [default: %(default)s]")
    parser.add_argument("--cases", help="only these, of any kind (names or files); shapes for products of diagonals, permutations, single rows, tall matrices")
    isa_option(parser)
    parser.add_argument("--peers", default="mkl,suitesparse,scipy,networkit,fast_matrix_market")
    parser.add_argument("--venv", default=os.path.join(TOP, "target", "peers-venv"))
    parser.add_argument("--sparring", default=os.path.join(TOP, "target", "release", "sparring"))
    parser.add_argument("--save", metavar="NAME", help="keep lines and tables as benches/results/NAME")
    args = parser.parse_args()
    unknown = set(args.kinds) - {*COLUMNS, "memory"}
    if unknown:
        parser.error(f"no kind is called {', '.join(sorted(unknown))}")
    lower(args.isa)
    args.kinds = args.kinds or ["spgemm", "triangles"]
    args.peers = args.peers.split(",")
    args.sparring = os.path.abspath(args.sparring)
    if not os.path.exists(args.sparring):
        raise SystemExit(f"{args.sparring} is not there; first: cargo build --release -p sparring-cli")
    python = environment(os.path.abspath(args.venv), PACKAGES, PROBE) if args.kinds != ["memory"] else None
    wanted = SHAPES if args.cases == "shapes" else args.cases.split(",") if args.cases else None
    if "read" in args.kinds:
        subprocess.run([python, os.path.join(HERE, "reading.py"), TEXTS], check=True)
    # Paths of the program and of the virtual environment depend on the machine, so they are left out.
    told = [f"--threads={args.threads}", f"--rounds={args.rounds}", f"--passes={args.passes}", *([f"--cases={args.cases}"] if args.cases else []),
            *([f"--isa={args.isa}"] if args.isa else []),
            *([f"--save={args.save}"] if args.save else [])]
    run = machine(args, ["benches/compare/compare.py", *args.kinds, *told])
    # Checked before such a file is written, which would itself be a change.
    if args.save and run["commit"].endswith("-dirty"):
        raise SystemExit("what is saved comes from a committed state; this one is changed")
    if args.save:
        os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, args.save + ".jsonl") if args.save else os.path.join(TOP, "target", "compare.jsonl")
    with open(path, "w", encoding="utf-8") as out:
        def log(entry):
            out.write(json.dumps(entry) + "\n")
            out.flush()

        log(run)
        for pass_ in range(args.passes):
            for kind in args.kinds:
                for case in chosen(kind, wanted):
                    print(f"measuring {kind} {case}", file=sys.stderr)
                    if kind != "memory":
                        measure(args, python, kind, case, pass_, log)
                    elif pass_ == 0:
                        measure_memory(args, case, log)
    text = report(read_lines(path))
    print(text, end="")
    if args.save:
        with open(os.path.join(RESULTS, args.save + ".md"), "w", encoding="utf-8") as out:
            out.write(text)


def located(case):
    """The name of a generated matrix unchanged; a file with its folder."""
    if os.sep in case or ".mtx" not in case:
        return case
    symmetrized, name = case.startswith("sym:"), case.removeprefix("sym:")
    path = os.path.join(TEXTS if name in READ else os.environ.get("SPARRING_DATA", os.path.join(TOP, "data")), name)
    return "sym:" * symmetrized + path


def chosen(kind, wanted):
    """The cases of a kind. A requested case in no list counts as a product, unless its name says otherwise."""
    there = lambda cases: [case for case in cases if os.sep not in located(case) or os.path.exists(located(case).removeprefix("sym:"))]
    square = [case for case in OPERATIONS if not case.startswith("lp_")]
    known = {"spgemm": there(SPGEMM + UNSEEN), "masked": there(square), "ewise": there(square), "steps": there(square), "triangles": TRIANGLES + there(LOW_DEGREE), "memory": MEMORY, "read": READ, "hyper": HYPER}.get(kind)
    known = there(OPERATIONS) if known is None else known
    if wanted is None:
        return known
    if kind != "spgemm" and any(case in known for case in wanted):
        return [case for case in wanted if case in known]
    if kind not in ("spgemm", "triangles"):
        return wanted
    of_kind = "triangles" if kind == "triangles" else "spgemm"
    guess = lambda case: "triangles" if case.startswith("tc_") else "spgemm"
    return [c for c in wanted if c in known or (c not in SPGEMM + TRIANGLES and guess(c) == of_kind)]


if __name__ == "__main__":
    main()
