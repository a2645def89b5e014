#!/usr/bin/env python3
"""Distances and nearest neighbours: sparring beside scikit-learn, scipy and sparse_dot_topn, in turns, in one run.

    cargo build --release -p sparring-cli
    python3 benches/compare/distance.py                          # prints; lines go to target/distance.jsonl
    python3 benches/compare/distance.py --data edgar --metrics cosine --task knn
    python3 benches/compare/distance.py --file FILE.mtx.gz ...   # real data beside the generated, or alone with --data ''
    python3 benches/compare/distance.py --save NAME              # keeps lines and tables in benches/results/
    python3 benches/compare/distance.py --tables FILE.jsonl      # measures nothing: the tables of those lines
    python3 benches/compare/distance.py --self-test              # the tables from made-up lines; tiny data if it can

Makes a virtual environment (default target/distance-venv) and writes the data into --work. Every program works on the
same rows with the same threads, in a process of its own: k nearest neighbours of all rows among all rows (a row is its
own first neighbour), and all distances among the first --pairwise-rows rows. A program that would need more than
--budget seconds for one run is asked about the first rows only, and so are we then; where dense rows would take
more than --dense bytes, both get fewer rows. Times are medians over the rounds. Memory is what a process grows by
at its peak during its first run. Results are compared by the sum of all finite distances of rows that are not empty.
"""
import argparse
import datetime
import json
import math
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
PACKAGES = ["numpy", "scipy", "scikit-learn", "sparse_dot_topn"]
GENERATED = ["movielens", "scrna", "nytimes", "edgar"]
METRICS = ["cosine", "euclidean", "manhattan", "dot", "canberra", "chebyshev", "minkowski", "jensenshannon", "correlation",
           "hellinger", "jaccard", "dice", "hamming", "russellrao"]
RESULTS = os.path.join(TOP, "benches", "results")
P = 3.0
# Sums of distances that agree so well are the same: the expanded forms of the others leave about 1e-8 of a row's length
# where a row meets itself.
SAME = 1e-6
# How many times as fast we are to be: of a task, a metric, programs whose names begin so.
BARS = [
    ("knn", "manhattan", "scikit-learn", 50.0),
    ("knn", "canberra", "scikit-learn, dense", 10.0), ("knn", "canberra", "scipy, dense", 10.0),
    ("knn", "chebyshev", "scikit-learn, dense", 10.0), ("knn", "chebyshev", "scipy, dense", 10.0),
    ("knn", "minkowski", "scikit-learn, dense", 10.0), ("knn", "minkowski", "scipy, dense", 10.0),
    ("knn", "cosine", "scikit-learn", 2.5), ("knn", "euclidean", "scikit-learn", 2.5),
    ("knn", "cosine", "sparse_dot_topn", 1.5),
    ("pairwise", "cosine", "scikit-learn", 1.5), ("pairwise", "cosine", "scikit-learn, one job", 1.5),
]
# How many times as much memory the other is to take.
MEMORY_BARS = [("knn", "cosine", "scikit-learn", 20.0), ("knn", "euclidean", "scikit-learn", 20.0)]
# At most so many times our own time for Manhattan.
LOGARITHMS = ("jensenshannon", "manhattan", 4.0)


def environment(folder):
    """The Python of a virtual environment that has the other libraries."""
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        print(f"making {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", "import numpy, scipy, sklearn, sparse_dot_topn"], capture_output=True).returncode:
        print("installing " + " ".join(PACKAGES), file=sys.stderr)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
    return python


def prepare(python, folder, wanted, tiny=False):
    """Writes the data, and says what each set is."""
    out = subprocess.run([python, os.path.join(HERE, "vectors.py"), *["--tiny"] * tiny, folder, *wanted],
                         stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


class Peer:
    """A process that runs one program on one set, and waits without spinning while others run."""

    def __init__(self, args, name, data, rows, task, metric):
        threads = str(args.threads)
        env = os.environ | {"OMP_WAIT_POLICY": "passive"}
        env |= {key: threads for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        self.name, self.spent = name, 0.0
        self.process = subprocess.Popen(
            [args.python, os.path.join(HERE, "distance_peers.py"), name, threads, data["arrays"], str(rows), task, metric,
             str(args.k), str(P)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
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

    def run(self, queries):
        try:
            self.process.stdin.write(json.dumps({"queries": queries}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(f"{self.name} ended without an answer") from None
        reply = self.answer()
        self.spent += reply["ms"] / 1e3
        return reply

    def affordable(self, rows, budget):
        """Queries that one run can have, from two short ones: all, or a power of two."""
        few = min(4, rows)
        many = min(4 * few, rows)
        first, second = self.run(few)["ms"], self.run(many)["ms"]
        each = max((second - first) / max(many - few, 1), 1e-6) / 1e3
        fits = max((budget - first / 1e3) / each, 1)
        self.spent = 0.0
        return rows if fits >= rows else min(rows, max(few, 1 << int(math.log2(fits))))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ours(args, data, rows, queries, task, metric):
    """One line of `sparring bench distance`: one run, after one to warm up, whose peak of memory is told."""
    command = [args.sparring, "bench", "distance", "--case", data["file"], "--task", task, "--metric", metric,
               "--rows", str(rows), "--queries", str(queries), "--k", str(args.k), "--threads", str(args.threads),
               "--repeat", "1", "--json", *(["--p", str(P)] if metric == "minkowski" else [])]
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}\n{out.stderr}")
    return json.loads(out.stdout.splitlines()[0])


def measure_group(args, data, rows, task, metric, names, log):
    """Measures the programs `names` and us on the same rows; every single time goes to `log`."""
    what = {"op": "distance", "data": data["data"], "task": task, "metric": metric, "rows": rows, "of": data["nrows"],
            "cols": data["ncols"], "empty": data["empty"], "k": args.k if task == "knn" else None, "threads": args.threads}
    peers, queries = [], rows
    for name in names:
        try:
            peer = Peer(args, name, data, rows, task, metric)
            queries = min(queries, peer.affordable(rows, args.budget))
            peers.append(peer)
        except RuntimeError as e:
            log(what | {"peer": name, "queries": queries, "error": str(e)})
    if not peers:
        return
    what["queries"] = queries
    running = []
    for peer in peers:
        try:
            # The first run tells the memory; it warms up too, where that is cheap.
            first = peer.run(queries)
            peer.counted = first["ms"] > 2e3
            log(what | first | {"peer": peer.name, "version": peer.version, "round": 0 if peer.counted else None})
            running.append(peer)
        except RuntimeError as e:
            log(what | {"peer": peer.name, "error": str(e)})
    for round_ in range(args.rounds):
        line = ours(args, data, rows, queries, task, metric)
        log(what | {key: line[key] for key in ("ms", "checksum", "checksum_nonempty", "chosen")}
            | {"peer": "sparring", "round": round_, "bytes": line["peak_growth_bytes"]})
        for peer in running:
            if (round_ == 0 and peer.counted) or (round_ > 0 and peer.spent > args.budget):
                continue
            again = peer.run(queries)
            log(what | again | {"peer": peer.name, "version": peer.version, "round": round_, "bytes": None})
    for peer in peers:
        peer.close()


def measure(args, data, task, metric, able, log):
    """The programs that take compressed rows, then those that make them dense: they may be given fewer rows."""
    rows = data["nrows"] if task == "knn" else min(data["nrows"], args.pairwise_rows)
    names = [name for name in able if metric in able[name].get(task, []) and name in args.peers]
    sparse = [name for name in names if "dense" not in name]
    # Where they take compressed rows, that is their better way.
    dense = [name for name in names if "dense" in name and (not sparse or args.dense_too)]
    if sparse:
        measure_group(args, data, rows, task, metric, sparse, log)
    if dense:
        fits = max(args.k + 1, args.dense // (8 * data["ncols"]))
        measure_group(args, data, min(rows, fits), task, metric, dense, log)


def machine(args):
    """What the figures depend on, as the first line of a run."""
    def first(path, key):
        try:
            with open(path, encoding="utf-8") as f:
                return next((line.split(":", 1)[1].strip() for line in f if line.startswith(key)), None)
        except OSError:
            return None

    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=TOP, capture_output=True, text=True)
    options = [f"--{name}={getattr(args, name)}" for name in ("data", "task", "metrics", "rounds", "budget")]
    return {"date": datetime.date.today().isoformat(), "machine": first("/proc/cpuinfo", "model name") or platform.machine(),
            "cpus": os.cpu_count(), "memory": first("/proc/meminfo", "MemTotal"), "system": platform.system(),
            "commit": commit.stdout.strip(), "command": shlex.join(["benches/compare/distance.py", *options]),
            "threads": args.threads, "rounds": args.rounds, "k": args.k}


# --- from lines to tables


class Side:
    """What one program did in one cell."""

    def __init__(self):
        self.times, self.bytes, self.error, self.line = [], None, None, None

    def add(self, line):
        if "error" in line:
            self.error = line["error"]
            return
        self.line = line
        if line["round"] is not None:
            self.times.append(line["ms"])
        if line["bytes"] is not None:
            self.bytes = max(self.bytes or 0, line["bytes"])

    @property
    def ms(self):
        return statistics.median(self.times) if self.times else None


def cells_of(lines):
    """(task, metric, data, rows, queries) to programs, in the order of the run."""
    cells = {}
    for line in lines:
        if line.get("op") == "distance":
            key = tuple(line.get(k) for k in ("task", "metric", "data", "rows", "queries"))
            cells.setdefault(key, {}).setdefault(line["peer"], Side()).add(line)
    return cells


def bar_of(bars, task, metric, name):
    return next((bar for t, m, n, bar in bars if (t, m, n) == (task, metric, name)), None)


def difference(a, b):
    """Between two sums, relatively."""
    return abs(a - b) / max(abs(a), abs(b), 1e-300)


def mib(size):
    return "–" if size is None else f"{size / 2**20:.1f}"


def ratio_text(ratio, bar):
    if ratio is None:
        return "–"
    text = f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0f}"
    return text if bar is None else f"{text} (≥ {bar:g}{'' if ratio >= bar else ': **no**'})"


def report(lines):
    """The tables, then what is lost, what misses its bar, what does not agree; and whether all agree."""
    run, cells = lines[0], cells_of(lines)
    out, lost, missed, wrong, mine = [], [], [], [], {}
    for task in ("knn", "pairwise"):
        rows = []
        for (t, metric, data, nrows, queries), programs in cells.items():
            us = programs.get("sparring")
            if t != task or us is None or us.ms is None:
                if t == task:
                    rows += [f"| {data} | {metric} | | | {name} | {side.error} | | | |"
                             for name, side in programs.items() if side.error]
                continue
            if queries == nrows:
                mine.setdefault((task, data, nrows), {})[metric] = us.ms
            size = f"{queries} × {nrows}" if queries < nrows else f"{nrows} × {nrows}"
            for name, side in programs.items():
                if name == "sparring":
                    continue
                if side.ms is None:
                    rows.append(f"| {data} | {metric} | {size} | {us.ms:.1f} | {name} | {side.error} | | | |")
                    continue
                bar, memory_bar = (bar_of(bars, task, metric, name) for bars in (BARS, MEMORY_BARS))
                ratio = side.ms / us.ms
                # A process that did not grow by a page is set beside one page.
                memory = side.bytes / max(us.bytes, 4096) if side.bytes is not None and us.bytes is not None else None
                place = f"{data}, {task} {metric}, {size}, {name}"
                if ratio < 1:
                    lost.append(f"{place}: {ratio:.2f}")
                if bar is not None and ratio < bar:
                    missed.append(f"{place}: {ratio:.2f}, not {bar:g}")
                if memory is not None and memory_bar is not None and memory < memory_bar:
                    missed.append(f"{place}: memory {memory:.1f}, not {memory_bar:g}")
                apart = difference(us.line["checksum_nonempty"], side.line["checksum_nonempty"])
                all_apart = difference(us.line["checksum"], side.line["checksum"])
                agrees = f"{apart:.0e}" if apart > 0 else "0"
                if apart > SAME:
                    agrees = f"**{agrees}**"
                    wrong.append(f"{place}: {us.line['checksum_nonempty']} and {side.line['checksum_nonempty']}")
                elif all_apart > SAME:
                    agrees += f"; {us.line['empty']} empty rows: ours {us.line['checksum']:.8g}, theirs {side.line['checksum']:.8g}"
                rows.append(f"| {data} | {metric} | {size} | {us.ms:.1f} ({mib(us.bytes)}) | {name} | "
                            f"{side.ms:.1f} ({mib(side.bytes)}) | {ratio_text(ratio, bar)} | "
                            f"{ratio_text(memory, memory_bar)} | {agrees} |")
        if rows:
            title = f"{run['k']} nearest neighbours" if task == "knn" else "all distances"
            out += [f"| {title} | metric | rows | ours, ms (MiB) | other | ms (MiB) | time ratio | memory ratio | sums differ by |",
                    "| --- " * 9 + "|", *rows, ""]
    slow, fast, bar = LOGARITHMS
    pairs = [(key, found[slow] / found[fast]) for key, found in mine.items() if slow in found and fast in found]
    if pairs:
        out += [f"| ours, {slow} / {fast} (≤ {bar:g}) | task | ratio |", "| --- | --- | --- |"]
        out += [f"| {data} | {task} | {r:.2f}{'' if r <= bar else ': **no**'} |" for (task, data, _), r in pairs] + [""]
        missed += [f"{data}, {task}: {slow} takes {r:.2f} of {fast}, not {bar:g}" for (task, data, _), r in pairs if r > bar]
    chosen = {}
    for (task, metric, data, nrows, queries), programs in cells.items():
        if "sparring" in programs and programs["sparring"].line:
            chosen.setdefault(programs["sparring"].line["chosen"], []).append(f"{data} {task} {metric}")
    if chosen:
        out += ["| chosen | where |", "| --- | --- |"]
        out += [f"| {what.replace('|', '¦')} | {', '.join(dict.fromkeys(where))} |" for what, where in chosen.items()] + [""]
    for title, found in (("Slower than the other", lost), ("Short of the bar", missed), ("Sums that differ", wrong)):
        out += [f"{title}: " + ("none." if not found else "")] + [f"- {text}" for text in found] + [""]
    versions = {line["peer"]: line["version"] for line in lines if "version" in line}
    out.append(f"{run['date']}, {run['machine']}, {run['cpus']} processors, {run['memory']} of memory, {run['system']}; sparring at "
               f"{run['commit']}, {run['threads']} threads, medians of at most {run['rounds']} rounds taken in turns; a ratio is "
               "the other's over ours. " + " ".join(f"{name}: {version}." for name, version in versions.items()))
    out.append(f"Made by `{run['command']}`.")
    return "\n".join(out) + "\n", not wrong


def read_lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


# --- tests


def made_up():
    """Lines whose table is worked out by hand."""
    run = {"date": "2000-01-01", "machine": "M", "cpus": 2, "memory": "8 kB", "system": "S", "commit": "c", "threads": 2,
           "rounds": 3, "k": 10, "command": "x"}
    cell = {"op": "distance", "data": "d", "task": "knn", "rows": 100, "queries": 100, "empty": 2}
    us = {"peer": "sparring", "bytes": 1 << 20, "checksum": 8.0, "checksum_nonempty": 8.0, "chosen": "a|b"}
    them = {"peer": "scikit-learn", "version": "9", "checksum": 10.0, "checksum_nonempty": 8.0, "bytes": 30 << 20}
    cosine = cell | {"metric": "cosine"}
    lines = [run, cosine | them | {"round": None, "ms": 999.0}]
    lines += [cosine | us | {"round": r, "ms": ms} for r, ms in enumerate([1.0, 2.0, 9.0])]
    lines += [cosine | them | {"round": r, "ms": ms, "bytes": None} for r, ms in enumerate([8.0, 6.0, 1.0])]
    manhattan, js = cell | {"metric": "manhattan"}, cell | {"metric": "jensenshannon"}
    lines += [manhattan | us | {"round": 0, "ms": 2.0}, js | us | {"round": 0, "ms": 9.0}]
    lines += [manhattan | them | {"round": 0, "ms": 1.0, "checksum_nonempty": 7.0}]
    lines += [js | {"peer": "scipy, dense", "error": "too large"}]
    return lines


def self_test(args):
    text, right = report(made_up())
    for wanted in (
        # The median of 1, 2, 9 is 2, that of 8, 6, 1 is 6; the warming run counts for memory alone.
        "| d | cosine | 100 × 100 | 2.0 (1.0) | scikit-learn | 6.0 (30.0) | 3.00 (≥ 2.5) | 30.00 (≥ 20) | "
        "0; 2 empty rows: ours 8, theirs 10 |",
        "| d | manhattan | 100 × 100 | 2.0 (1.0) | scikit-learn | 1.0 (30.0) | 0.50 (≥ 50: **no**) | 30.00 | **1e-01** |",
        "| d | jensenshannon | 100 × 100 | 9.0 | scipy, dense | too large | | | |",
        "| d | knn | 4.50: **no** |",
        "| a¦b | d knn cosine, d knn manhattan, d knn jensenshannon |",
        "Slower than the other: \n- d, knn manhattan, 100 × 100, scikit-learn: 0.50\n",
        "- d, knn manhattan, 100 × 100, scikit-learn: 0.50, not 50\n- d, knn: jensenshannon takes 4.50 of manhattan, not 4\n",
        "Sums that differ: \n- d, knn manhattan, 100 × 100, scikit-learn: 8.0 and 7.0\n",
    ):
        assert wanted in text, f"{wanted}\nis not in\n{text}"
    assert not right
    assert report([line for line in made_up() if line.get("metric") in (None, "cosine")])[1]
    print("tables: as worked out by hand")
    python = os.path.join(args.venv, "bin", "python")
    if not os.path.exists(python):
        print(f"skipped: there is no {args.venv}, so no other program runs")
        return
    if not os.path.exists(args.sparring):
        print(f"skipped: {args.sparring} is not there, so nothing is compared with ours")
        return
    args.python = python
    able = args.peers = able_of(args)
    with tempfile.TemporaryDirectory() as folder:
        args.budget, args.rounds, args.dense, args.dense_too, args.pairwise_rows = 2.0, 1, 1 << 30, True, 50
        lines = [made_up()[0]]
        for data in prepare(python, folder, ["movielens", "scrna"], tiny=True):
            for task in ("knn", "pairwise"):
                for metric in METRICS:
                    measure(args, data, task, metric, able, lines.append)
        text, right = report(lines)
        failures = [line for line in lines if "error" in line]
        assert right and not failures, text + "\n".join(map(str, failures))
        print(f"tiny data: {len(cells_of(lines))} comparisons agree")


def able_of(args):
    out = subprocess.run([args.python, os.path.join(HERE, "distance_peers.py"), "--list"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(GENERATED), help="generated sets, separated by commas")
    parser.add_argument("--file", action="append", default=[], metavar="FILE.mtx", help="a real set, as it is")
    parser.add_argument("--task", default="knn,pairwise")
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--peers", default="all", help="names separated by semicolons")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairwise-rows", type=int, default=3000)
    parser.add_argument("--budget", type=float, default=20.0, metavar="SECONDS", help="of one program in one comparison, about")
    parser.add_argument("--dense", type=int, default=2 << 30, metavar="BYTES", help="most that dense rows may take")
    parser.add_argument("--dense-too", action="store_true", help="dense rows also where compressed ones are taken")
    parser.add_argument("--work", default=os.path.join(TOP, "target", "distance"), help="folder for the data")
    parser.add_argument("--venv", default=os.path.join(TOP, "target", "distance-venv"))
    parser.add_argument("--sparring", default=os.path.join(TOP, "target", "release", "sparring"))
    parser.add_argument("--save", metavar="NAME", help="keep lines and tables as benches/results/NAME")
    parser.add_argument("--tables", metavar="FILE.jsonl")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    args.sparring, args.venv = os.path.abspath(args.sparring), os.path.abspath(args.venv)
    if args.tables:
        print(report(read_lines(args.tables))[0], end="")
        return
    if args.self_test:
        self_test(args)
        return
    if not os.path.exists(args.sparring):
        raise SystemExit(f"{args.sparring} is not there; first: cargo build --release -p sparring-cli")
    args.python = environment(args.venv)
    able = able_of(args)
    args.peers = list(able) if args.peers == "all" else args.peers.split(";")
    for name, known in (("peers", able), ("metrics", METRICS), ("task", ("knn", "pairwise")), ("data", GENERATED)):
        given = args.peers if name == "peers" else [x for x in getattr(args, name).split(",") if x]
        if unknown := [x for x in given if x not in known]:
            parser.error(f"--{name}: {', '.join(unknown)} is not among {', '.join(known)}")
    sets = prepare(args.python, args.work, [x for x in args.data.split(",") if x] + args.file) if args.data or args.file else []
    path = os.path.join(RESULTS, args.save + ".jsonl") if args.save else os.path.join(TOP, "target", "distance.jsonl")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        def log(entry):
            out.write(json.dumps(entry) + "\n")
            out.flush()

        log(machine(args))
        for data in sets:
            for task in args.task.split(","):
                for metric in args.metrics.split(","):
                    print(f"measuring {data['data']} {task} {metric}", file=sys.stderr)
                    measure(args, data, task, metric, able, log)
    text, right = report(read_lines(path))
    print(text, end="")
    if args.save:
        with open(path.removesuffix(".jsonl") + ".md", "w", encoding="utf-8") as out:
            out.write(text)
    if not right:
        raise SystemExit("results differ: see above")


if __name__ == "__main__":
    main()
