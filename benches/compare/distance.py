#!/usr/bin/env python3
"""Distances and nearest neighbours: sparring compared with scikit-learn, scipy and sparse_dot_topn, in alternation.

    cargo build --release -p sparring-cli
    python3 benches/compare/distance.py                          # everything; lines go to target/distance.jsonl
    python3 benches/compare/distance.py --save [NAME]            # keeps lines and table as benches/results/DATE-distance
    python3 benches/compare/distance.py --data edgar,docword.kos --metrics cosine --task knn
    python3 benches/compare/distance.py --data '' --file FILE.mtx.gz ...    # a file of your own
    python3 benches/compare/distance.py --tables FILE.jsonl      # measures nothing: the table of those lines
    python3 benches/compare/distance.py --self-test              # the table from made-up lines; tiny data if it can

Creates a virtual environment (default target/distance-venv) and writes the data into --work: generated sets, and real
ones if they are in data/ or in the folder $SPARRING_DATA. Every program works on the same rows with the same threads,
in a process of its own.
The tasks are the k nearest neighbours of all rows among all rows (a row is its own first neighbour), all distances
among the first --pairwise-rows rows, and the neighbours of the first 1 and 100 rows. In the last task, preparation that
does not depend on the queries is done beforehand: an index, a fitted model, normalised columns.
A program that would need more than --budget seconds for one run gets only the first rows as queries, and so do we.
Where dense rows would take more than --dense bytes, both sides get fewer rows. Nothing is extrapolated: the table
states the number of rows for each time.
A time is the minimum over the rounds. Memory is the peak growth of a process during its first run. Results are compared
by the sum of all finite distances of nonempty rows.
"""
import argparse
import datetime
import json
import math
import os
import subprocess
import sys
import tempfile

from compare import HERE, RESULTS, TOP, Peer, environment, isa_option, lower, machine, read_lines

import vocabulary

PACKAGES = ["numpy", "scipy", "scikit-learn", "sparse_dot_topn"]
PROBE = "import numpy, scipy, sklearn, sparse_dot_topn"
GENERATED = ["movielens", "scrna", "nytimes", "edgar", "uniform", "wide"]
REAL = ["sec-names-3gram", "docword.kos", "cora-words", "scrna-GSM6544281", "cond-mat-2005", "cnr-2000"]
# Numbers of query rows for an index.
BATCHES = [1, 100]
TASKS = ["knn", "pairwise", "index"]
METRICS = ["cosine", "euclidean", "manhattan", "dot", "canberra", "chebyshev", "minkowski", "jensenshannon", "correlation",
           "hellinger", "jaccard", "dice", "hamming", "russellrao"]
P = 3.0
# Largest relative difference of equal sums: the expanded forms of the others leave about 1e-8 of a row's length between
# a row and itself.
SAME = 1e-6
# Our own Manhattan time is compared with Jensen-Shannon as if it were another program.
OURS, SLOW, FAST = "sparring", "jensenshannon", "manhattan"
OURS_TOO = f"{OURS}, {FAST}"
# Target speedups, by task, metric and program.
BARS = [
    ("knn", "manhattan", "scikit-learn", 50.0),
    ("knn", "canberra", "scikit-learn, dense", 10.0), ("knn", "canberra", "scipy, dense", 10.0),
    ("knn", "chebyshev", "scikit-learn, dense", 10.0), ("knn", "chebyshev", "scipy, dense", 10.0),
    ("knn", "minkowski", "scikit-learn, dense", 10.0), ("knn", "minkowski", "scipy, dense", 10.0),
    ("knn", "cosine", "scikit-learn", 2.5), ("knn", "euclidean", "scikit-learn", 2.5),
    ("knn", "cosine", "sparse_dot_topn", 1.5),
    ("index", "cosine", "sparse_dot_topn", 1.5), ("index", "cosine", "scikit-learn", 1.5),
    ("pairwise", "cosine", "scikit-learn", 1.5), ("pairwise", "cosine", "scikit-learn, one job", 1.5),
    # Logarithms may take four times as long.
    ("knn", SLOW, OURS_TOO, 0.25), ("pairwise", SLOW, OURS_TOO, 0.25),
]
# Target ratios of memory, other over ours.
MEMORY_BARS = [("knn", "cosine", "scikit-learn", 20.0), ("knn", "euclidean", "scikit-learn", 20.0)]

def real(name):
    """The file of a real set, or None."""
    folders = [os.path.join(TOP, "data"), os.environ.get("SPARRING_DATA", "")]
    return next((path for path in (os.path.join(f, name + ".mtx.gz") for f in folders if f) if os.path.exists(path)), None)


def prepare(python, folder, wanted, tiny=False):
    """Writes the data, and describes each set."""
    out = subprocess.run([python, os.path.join(HERE, "vectors.py"), *["--tiny"] * tiny, folder, *wanted],
                         stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


class Program(Peer):
    """Another program on one set, with the seconds spent in its counted runs."""

    def __init__(self, args, name, data, rows, task, metric):
        self.spent = 0.0
        super().__init__(args.python, "distance_peers.py", name, args.threads, data["arrays"], str(rows), task, metric,
                         str(args.k), str(P))

    def run(self, queries):
        reply = self.ask(queries=queries)
        self.spent += reply["ms"] / 1e3
        return reply


def affordable(run, rows, budget):
    """The number of queries that fit one run: all rows, or a power of two.

    Runs grow until their queries dominate; `run(queries)` returns milliseconds.
    """
    n = min(4, rows)
    last = run(n) / 1e3
    while n < rows:
        more = min(4 * n, rows)
        t = run(more) / 1e3
        shown = t - last > t / 4
        if t > budget / 2 or (shown and t > budget / 20):
            each = (t - last) / (more - n) if shown else t / more
            fits = max(more + (budget - t) / each, 1)
            return rows if fits >= rows else 1 << int(math.log2(fits))
        n, last = more, t
    return rows


def ours(args, data, rows, queries, task, metric):
    """The figures of one run of `sparring bench distance`; the peak of memory is that of its warm-up run."""
    command = [args.sparring, "bench", "distance", "--case", data["file"], "--task", task, "--metric", metric,
               "--rows", str(rows), "--queries", str(queries), "--k", str(args.k), "--threads", str(args.threads),
               "--repeat", "1", "--fresh-memory", "--json", *(["--p", str(P)] if metric == "minkowski" else [])]
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode != 0:
        raise RuntimeError(f"{OURS}: {out.stderr.strip().replace(data['file'], data['data'])[-300:]}")
    line = vocabulary.line(out.stdout.splitlines()[0])
    return {key: line[key] for key in ("ms", "checksum", "checksum_nonempty", "chosen")} | {"bytes": line["peak_growth_bytes"]}


def about(args, data, rows, task, metric):
    """The fields common to all lines of a comparison."""
    return {"op": "distance", "data": data["data"], "task": task, "metric": metric, "rows": rows, "of": data["nrows"],
            "cols": data["ncols"], "empty": data["empty"], "k": args.k if task != "pairwise" else None, "threads": args.threads}


def measure_group(args, data, rows, task, metric, names, log, batch=None):
    """Measures the programs `names` and us on the same rows; every time goes to `log`."""
    what = about(args, data, rows, task, metric)
    peers, queries = [], batch or rows
    for name in names:
        try:
            peer = Program(args, name, data, rows, task, metric)
            if batch is None:
                queries = min(queries, affordable(lambda n: peer.run(n)["ms"], rows, args.budget))
            peer.spent = 0.0
            peers.append(peer)
        except RuntimeError as e:
            log(what | {"peer": name, "queries": queries, "error": str(e)})
    if not peers:
        return
    what["queries"] = queries
    running = []
    for peer in peers:
        try:
            # The first run measures the memory; where it is cheap, it also serves as the warm-up.
            first = peer.run(queries)
            peer.counted = first["ms"] > 2e3
            log(what | first | {"peer": peer.name, "version": peer.version, "round": 0 if peer.counted else None})
            running.append(peer)
        except RuntimeError as e:
            log(what | {"peer": peer.name, "error": str(e)})
    for round_ in range(args.rounds):
        try:
            log(what | ours(args, data, rows, queries, task, metric) | {"peer": OURS, "round": round_})
        except RuntimeError as e:
            log(what | {"peer": OURS, "error": str(e)})
        for peer in list(running):
            if (round_ == 0 and peer.counted) or (round_ > 0 and peer.spent > args.budget):
                continue
            try:
                again = peer.run(queries)
                log(what | again | {"peer": peer.name, "version": peer.version, "round": round_, "bytes": None})
            except RuntimeError as e:
                log(what | {"peer": peer.name, "error": str(e)})
                running.remove(peer)
    for peer in peers:
        peer.close()


def rows_of(args, data, task):
    return data["nrows"] if task != "pairwise" else min(data["nrows"], args.pairwise_rows)


def measure_ours(args, data, task, log):
    """Our own times for two metrics on the same rows, alternating."""
    rows = rows_of(args, data, task)
    what = about(args, data, rows, task, SLOW)
    try:
        what["queries"] = queries = affordable(lambda n: ours(args, data, rows, n, task, SLOW)["ms"], rows, args.budget)
        for round_ in range(args.rounds):
            for peer, metric in ((OURS, SLOW), (OURS_TOO, FAST)):
                log(what | ours(args, data, rows, queries, task, metric) | {"peer": peer, "round": round_})
    except RuntimeError as e:
        log(what | {"peer": OURS, "error": str(e)})


def measure(args, data, task, metric, able, log):
    """The programs that take compressed rows, then those that make them dense, possibly with fewer rows."""
    rows = rows_of(args, data, task)
    names = [name for name in able if metric in able[name].get(task, []) and name in args.peers]
    sparse = [name for name in names if "dense" not in name]
    # Where a program takes compressed rows, the dense variant is skipped as the slower one.
    dense = [name for name in names if "dense" in name and (not sparse or args.dense_too)]
    if task == "index":
        for batch in BATCHES:
            if sparse:
                measure_group(args, data, rows, task, metric, sparse, log, batch)
        return
    if sparse:
        measure_group(args, data, rows, task, metric, sparse, log)
    if dense:
        fits = max(args.k + 1, args.dense // (8 * data["ncols"]))
        measure_group(args, data, min(rows, fits), task, metric, dense, log)


# --- from lines to tables


class Side:
    """The results of one program in one cell."""

    def __init__(self):
        self.times, self.bytes, self.error, self.line, self.threads = [], None, None, None, None

    def add(self, line):
        self.threads = line["threads"]
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
        return min(self.times) if self.times else None


def cells_of(lines):
    """Programs by (task, metric, data, rows, queries), in the order of the run."""
    cells = {}
    for line in lines:
        if line.get("op") == "distance":
            key = tuple(line.get(k) for k in ("task", "metric", "data", "rows", "queries"))
            cells.setdefault(key, {}).setdefault(line["peer"], Side()).add(line)
    return cells


def bar_of(bars, task, metric, name):
    return next((bar for t, m, n, bar in bars if (t, m, n) == (task, metric, name)), None)


def difference(a, b):
    """Relative difference of two sums."""
    return abs(a - b) / max(abs(a), abs(b), 1e-300)


def figure(x):
    return "–" if x is None else f"{x:.2f}" if x < 100 else f"{x:.0f}"


def mib(size):
    return "–" if size is None else f"{size / 2**20:.1f}"


TITLES = ["data", "task", "metric", "rows", "peer", "threads", "ours, ms", "peer's, ms", "ratio", "bar", "", "ours, MiB",
          "peer's, MiB", "ratio", "bar", "", "sums differ by"]


def verdict(ratio, bar):
    """Results below their target are lost; without a target, slower results are marked."""
    if ratio is None:
        return ""
    return ("**lost**" if ratio < bar else "") if bar is not None else ("slower" if ratio < 1 else "")


def report(lines):
    """The table, lists of lost, slower and disagreeing results; and whether all agree."""
    run, cells = lines[0], cells_of(lines)
    out, lost, slower, wrong = ["| " + " | ".join(TITLES) + " |", "| --- " * len(TITLES) + "|"], [], [], []
    for (task, metric, data, nrows, queries), programs in cells.items():
        us = programs.get(OURS, Side())
        queries = nrows if queries is None else queries
        size = f"{queries} × {nrows}"
        if us.error:
            lost.append(f"{data}, {task}, {metric}, {size}: {us.error}")
        for name, side in programs.items():
            if name == OURS:
                continue
            place = [data, f"{task} {run['k']}" if task != "pairwise" else task, metric, size, name, str(side.threads)]
            if us.ms is None or side.ms is None:
                why = side.error or us.error or "no time"
                out.append("| " + " | ".join([*place, "–" if us.ms is None else f"{us.ms:.1f}", why] + [""] * 9) + " |")
                continue
            bar, memory_bar = (bar_of(bars, task, metric, name) for bars in (BARS, MEMORY_BARS))
            ratio, memory, agrees = side.ms / us.ms, None, "–"
            where = ", ".join(place[:5])
            if name != OURS_TOO:
                # A process that grew by less than a page counts as one page.
                memory = side.bytes / max(us.bytes, 4096) if side.bytes is not None and us.bytes is not None else None
                apart = difference(us.line["checksum_nonempty"], side.line["checksum_nonempty"])
                agrees = f"{apart:.0e}" if apart > 0 else "0"
                if apart > SAME:
                    agrees = f"**{agrees}**"
                    wrong.append(f"{where}: {us.line['checksum_nonempty']} and {side.line['checksum_nonempty']}")
                elif difference(us.line["checksum"], side.line["checksum"]) > SAME:
                    agrees += (f"; {us.line['empty']} empty rows: ours {us.line['checksum']:.8g}, theirs "
                               f"{side.line['checksum']:.8g}")
            memory_verdict = verdict(memory, memory_bar) if memory_bar is not None else ""
            for what, found, wanted, said in (("", ratio, bar, verdict(ratio, bar)),
                                              ("memory ", memory, memory_bar, memory_verdict)):
                if said == "slower":
                    slower.append(f"{where}: {figure(found)}")
                elif said:
                    lost.append(f"{where}: {what}{figure(found)}, not {wanted:g}")
            at_least = lambda bar: "" if bar is None else f"≥ {bar:g}"
            out.append("| " + " | ".join([
                *place, f"{us.ms:.1f}", f"{side.ms:.1f}", figure(ratio), at_least(bar), verdict(ratio, bar), mib(us.bytes),
                mib(side.bytes), figure(memory), at_least(memory_bar), memory_verdict, agrees]) + " |")
    out.append("")
    chosen = {}
    for (task, metric, data, nrows, queries), programs in cells.items():
        if OURS in programs and programs[OURS].line:
            chosen.setdefault(programs[OURS].line["chosen"], []).append(f"{data} {task} {metric}")
    if chosen:
        out += ["| chosen | where |", "| --- | --- |"]
        out += [f"| {what.replace('|', '¦')} | {', '.join(dict.fromkeys(where))} |" for what, where in chosen.items()] + [""]
    for title, found in (("Lost, below the bar", lost), ("Slower, without a bar", slower), ("Sums that differ", wrong)):
        out += [f"{title}:" + (" none." if not found else "")] + [f"- {text}" for text in found] + [""]
    versions = {line["peer"]: line["version"] for line in lines if "version" in line}
    out.append(f"{run['date']}, {run['machine']}, {run['cpus']} processors, {run['memory']} of memory, {run['system']}; sparring at "
               f"{run['commit']}, {run['threads']} threads, minima of at most {run['rounds']} rounds taken in turns; a ratio is "
               "the peer's over ours; scipy's cdist and sparse product use one thread. " + " ".join(f"{name}: {version}." for name, version in versions.items()))
    out.append(f"Made by `{run['command']}`.")
    return summary([lines]) + "\n" + "\n".join(out) + "\n", not wrong


def summary(runs):
    """A table of ratios alone, a column for each set."""
    sets, rows, some = [], {}, set()
    for lines in runs:
        for (task, metric, data, nrows, queries), programs in cells_of(lines).items():
            us = programs.get(OURS, Side())
            if data not in sets:
                sets.append(data)
            for name, side in programs.items():
                if name == OURS or us.ms is None or side.ms is None:
                    continue
                part = "" if queries in (None, nrows) else "*"
                bar, memory_bar = (bar_of(bars, task, metric, name) for bars in (BARS, MEMORY_BARS))
                ratios = [("time", side.ms / us.ms, bar)]
                if memory_bar is not None and side.bytes and us.bytes is not None:
                    ratios.append(("memory", side.bytes / max(us.bytes, 4096), memory_bar))
                for what, ratio, wanted in ratios:
                    text = figure(ratio) + part
                    lost = ratio < (1 if wanted is None else wanted)
                    row = rows.setdefault((task, metric, name, what, wanted), {})
                    # Figures for all rows replace those for some.
                    if data not in row or not part or (data, task, metric, name, what) in some:
                        row[data] = f"**{text}**" if lost else text
                        (some.add if part else some.discard)((data, task, metric, name, what))
    head = ["theirs / ours", "aim", *sets]
    out = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for (task, metric, name, what, wanted), found in rows.items():
        label = f"{task} {metric}, {name}" + (": memory" if what == "memory" else "")
        cells = [label, "–" if wanted is None else f"{wanted:g}", *(found.get(data, "–") for data in sets)]
        out.append("| " + " | ".join(cells) + " |")
    run = runs[0][0]
    out += ["", f"{run['date']}, {run['machine']}, {run['cpus']} processors, {run['threads']} threads on either side; sparring at "
            f"{run['commit']}. Bold: below the aim, or slower. A star: of the first rows only, both sides, where all would take the other "
            "more than its time. *dense*: scikit-learn or SciPy on dense rows, as they do not take sparse ones there."]
    return "\n".join(out) + "\n"


# --- tests


def made_up():
    """Lines whose table is worked out by hand."""
    run = {"date": "2000-01-01", "machine": "M", "cpus": 2, "memory": "8 kB", "system": "S", "commit": "c", "threads": 2,
           "rounds": 3, "k": 10, "command": "x"}
    cell = {"op": "distance", "data": "d", "task": "knn", "rows": 100, "queries": 100, "empty": 2, "threads": 2}
    us = {"peer": "sparring", "bytes": 1 << 20, "checksum": 8.0, "checksum_nonempty": 8.0, "chosen": "a|b"}
    them = {"peer": "scikit-learn", "version": "9", "checksum": 10.0, "checksum_nonempty": 8.0, "bytes": 30 << 20}
    cosine = cell | {"metric": "cosine"}
    lines = [run, cosine | them | {"round": None, "ms": 999.0}]
    lines += [cosine | us | {"round": r, "ms": ms} for r, ms in enumerate([3.0, 2.0, 9.0])]
    lines += [cosine | them | {"round": r, "ms": ms, "bytes": None} for r, ms in enumerate([8.0, 6.0, 7.0])]
    manhattan, js = cell | {"metric": "manhattan"}, cell | {"metric": "jensenshannon"}
    lines += [manhattan | us | {"round": 0, "ms": 2.0}, js | us | {"round": 0, "ms": 9.0}]
    lines += [manhattan | them | {"round": 0, "ms": 1.0, "checksum_nonempty": 7.0}]
    lines += [js | {"peer": "scipy, dense", "error": "too large"}, js | us | {"peer": OURS_TOO, "round": 0, "ms": 2.0}]
    few = cosine | {"queries": 9}
    lines += [few | us | {"round": 0, "ms": 2.0}, few | them | {"round": 0, "ms": 4.0, "bytes": 15 << 20}]
    dot = cell | {"metric": "dot", "task": "pairwise"}
    lines += [dot | us | {"round": 0, "ms": 2.0}, dot | them | {"peer": "scipy, product", "round": 0, "ms": 1.0}]
    lines += [cell | {"data": "e", "metric": "dot", "peer": OURS, "error": "sparring: no memory"}]
    return lines


def self_test(args):
    text, right = report(made_up())
    for wanted in (
        # The minimum of 3, 2, 9 is 2, that of 8, 6, 7 is 6; the warm-up run counts for memory alone.
        "| d | knn 10 | cosine | 100 × 100 | scikit-learn | 2 | 2.0 | 6.0 | 3.00 | ≥ 2.5 |  | 1.0 | 30.0 | 30.00 | ≥ 20 |  | "
        "0; 2 empty rows: ours 8, theirs 10 |",
        "| d | knn 10 | cosine | 9 × 100 | scikit-learn | 2 | 2.0 | 4.0 | 2.00 | ≥ 2.5 | **lost** | 1.0 | 15.0 | 15.00 | ≥ 20 | "
        "**lost** | 0; 2 empty rows: ours 8, theirs 10 |",
        "| d | knn 10 | manhattan | 100 × 100 | scikit-learn | 2 | 2.0 | 1.0 | 0.50 | ≥ 50 | **lost** | 1.0 | 30.0 | 30.00 |  |  | "
        "**1e-01** |",
        "| d | knn 10 | jensenshannon | 100 × 100 | sparring, manhattan | 2 | 9.0 | 2.0 | 0.22 | ≥ 0.25 | **lost** | 1.0 | 1.0 | "
        "– |  |  | – |",
        "| d | knn 10 | jensenshannon | 100 × 100 | scipy, dense | 2 | 9.0 | too large |" + "  |" * 9,
        "| d | pairwise | dot | 100 × 100 | scipy, product | 2 | 2.0 | 1.0 | 0.50 |  | slower | 1.0 | 30.0 | 30.00 |  |  | 0",
        "| a¦b | d knn cosine, d knn manhattan, d knn jensenshannon, d pairwise dot |",
        "Lost, below the bar:\n- d, knn 10, manhattan, 100 × 100, scikit-learn: 0.50, not 50\n"
        "- d, knn 10, jensenshannon, 100 × 100, sparring, manhattan: 0.22, not 0.25\n"
        "- d, knn 10, cosine, 9 × 100, scikit-learn: 2.00, not 2.5\n"
        "- d, knn 10, cosine, 9 × 100, scikit-learn: memory 15.00, not 20\n"
        "- e, knn, dot, 100 × 100: sparring: no memory\n\n",
        "Slower, without a bar:\n- d, pairwise, dot, 100 × 100, scipy, product: 0.50\n\n",
        "Sums that differ:\n- d, knn 10, manhattan, 100 × 100, scikit-learn: 8.0 and 7.0\n\n",
    ):
        assert wanted in text, f"{wanted}\nis not in\n{text}"
    ratios = summary([made_up()])
    for wanted in (
        "| theirs / ours | aim | d | e |",
        "| knn manhattan, scikit-learn | 50 | **0.50** | – |",
        # Figures for all rows replace those for nine, in either order.
        "| knn cosine, scikit-learn | 2.5 | 3.00 | – |",
        "| knn cosine, scikit-learn: memory | 20 | 30.00 | – |",
    ):
        assert wanted in ratios, f"{wanted}\nis not in\n{ratios}"
    nine = [line for line in made_up() if line.get("queries") in (None, 9)]
    for lines, wanted in ((nine, "| **2.00*** |"), ([*nine, *made_up()[1:]], "| 3.00 |")):
        row = f"| knn cosine, scikit-learn | 2.5 {wanted}"
        assert row in summary([lines]), f"{row}\nis not in\n{summary([lines])}"
    rows = [line for line in text.splitlines() if line.startswith("| d |")]
    assert len(rows) == 6 and {row.count("|") for row in rows} == {len(TITLES) + 1}, text
    assert not right
    # A second of preparation and 10 ms per query; all queries cheap; a minute per query; preparation only.
    for each, fixed, rows, wanted in ((10, 1000, 10**6, 512), (10, 1000, 100, 100), (1e-3, 0, 5000, 5000), (6e4, 0, 9, 1),
                                      (0, 100, 10**6, 10**6)):
        found = affordable(lambda n: fixed + each * n, rows, 10.0)
        assert found == wanted, (each, fixed, rows, found)
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
            for task in TASKS:
                if task != "index":
                    measure_ours(args, data, task, lines.append)
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
    parser.add_argument("--data", help="sets, separated by commas [default: the generated, and the real that are there]")
    parser.add_argument("--file", action="append", default=[], metavar="FILE.mtx", help="another real set, as it is")
    parser.add_argument("--task", default=",".join(TASKS))
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
    parser.add_argument("--save", metavar="NAME", nargs="?", const=datetime.date.today().isoformat() + "-distance",
                        help="keep lines and table as benches/results/NAME [default: today's date and -distance]")
    parser.add_argument("--tables", metavar="FILE.jsonl")
    parser.add_argument("--self-test", action="store_true")
    isa_option(parser)
    args = parser.parse_args()
    lower(args.isa)
    args.sparring, args.venv = os.path.abspath(args.sparring), os.path.abspath(args.venv)
    if args.tables:
        print(report(read_lines(args.tables))[0], end="")
        return
    if args.self_test:
        self_test(args)
        return
    if not os.path.exists(args.sparring):
        raise SystemExit(f"{args.sparring} is not there; first: cargo build --release -p sparring-cli")
    args.python = environment(args.venv, PACKAGES, PROBE)
    absent = [name for name in REAL if real(name) is None]
    if args.data is None:
        args.data = ",".join(GENERATED + [name for name in REAL if name not in absent])
        if absent:
            print(f"without {', '.join(absent)}: neither in data/ nor in $SPARRING_DATA", file=sys.stderr)
    able = able_of(args)
    args.peers = list(able) if args.peers == "all" else args.peers.split(";")
    for name, known in (("peers", able), ("metrics", METRICS), ("task", TASKS), ("data", GENERATED + [name for name in REAL if name not in absent])):
        given = args.peers if name == "peers" else [x for x in getattr(args, name).split(",") if x]
        if unknown := [x for x in given if x not in known]:
            parser.error(f"--{name}: {', '.join(unknown)} is not among {', '.join(known)}")
    wanted = [real(name) or name for name in args.data.split(",") if name] + args.file
    sets = prepare(args.python, args.work, wanted) if wanted else []
    path = os.path.join(RESULTS, args.save + ".jsonl") if args.save else os.path.join(TOP, "target", "distance.jsonl")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        def log(entry):
            out.write(json.dumps(entry) + "\n")
            out.flush()

        options = [f"--{name}={getattr(args, name)}" for name in ("data", "task", "metrics", "rounds", "budget", "threads", "k")]
        # Names alone, because paths depend on the machine.
        options += [f"--isa={args.isa}"] if args.isa else []
        options += [f"--file={os.path.basename(file)}" for file in args.file]
        log(machine(args, ["benches/compare/distance.py", *options]) | {"k": args.k, "habit": "fresh"})
        for data in sets:
            for task in args.task.split(","):
                for metric in args.metrics.split(","):
                    print(f"measuring {data['data']} {task} {metric}", file=sys.stderr)
                    measure(args, data, task, metric, able, log)
                if task != "index" and {SLOW, FAST} <= set(args.metrics.split(",")):
                    measure_ours(args, data, task, log)
    text, right = report(read_lines(path))
    print(text, end="")
    if args.save:
        with open(path.removesuffix(".jsonl") + ".md", "w", encoding="utf-8") as out:
            out.write(text)
    if not right:
        raise SystemExit("results differ: see above")


if __name__ == "__main__":
    main()
