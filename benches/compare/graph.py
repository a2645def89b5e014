#!/usr/bin/env python3
"""Graph algorithms compared with SuiteSparse (LAGraph's formulations), networkit, igraph and SciPy, in alternation.

    cargo build --release -p sparring-cli
    python3 benches/compare/graph.py [ALGORITHM...] [--cases kron16,grid1000] [--rounds 3] [--save NAME]

Every library is a process of its own (graph_peers.py) that builds its own graph from the same arrays, timed separately.
It then runs an algorithm as often as fits into a time limit, after a warm-up run; the minimum over the rounds counts.
igraph and SciPy run on one thread. Of a library's alternatives, the fastest counts.
An algorithm that a library does not have, or that takes longer than --limit seconds, is left out, and the table says
so. Results are compared by characteristic numbers: a row whose numbers differ is an error.
Prints Markdown tables of ratios (other / ours: above 1, we are faster), losses in bold, geometric means, and the rows
lost. Each measurement is a JSON line in target/graph.jsonl, or with --save NAME, from a committed state, in
benches/results/NAME.jsonl, with the tables beside it. --peers-only measures the others alone.
"""
import argparse
import json
import math
import os
import select
import shlex
import subprocess
import sys

import numpy as np

import cases
import compare
import graph_peers

# Time limit in seconds for reading or building a graph.
PATIENCE = 300
PACKAGES = ["numpy", "scipy", "suitesparse-graphblas", "python-graphblas", "networkit", "igraph"]
PROBE = "import numpy, scipy, graphblas, networkit, igraph"
GENERATED = [f"{family}{scale}" for family in ("kron", "urand") for scale in (16, 17, 18)] + ["grid1000", "lap2d_1000"]
FILES = ["cnr-2000", "email-Enron", "luxembourg_osm", "delaunay_n16", "as-22july06", "p2p-Gnutella31"]
# Graphs with few pairs of vertices.
SMALL = ["tc_rmat10", "jagmesh7.mtx.gz", "west0479.mtx.gz"]
CASES = GENERATED + [f + ".mtx.gz" for f in FILES]
# All-pairs algorithms, and iterations that hardly converge on graphs without hubs.
ONLY = {name: ["as-22july06.mtx.gz"] for name in ("betweenness_all", "closeness", "harmonic")} | {
    name: [c for c in CASES if not c.startswith(("grid", "lap", "luxembourg", "delaunay"))] for name in ("hits", "katz", "eigenvector")
} | {
    # Weighted all-pairs algorithms, or n rounds over all edges.
    name: SMALL for name in ("apsp", "apsp_hops", "closeness_weighted")
} | {
    "bellman_ford": [*SMALL, "as-22july06.mtx.gz", "p2p-Gnutella31.mtx.gz", "grid1000", "kron16"],
    "betweenness_sampled": [c for c in CASES if not c.startswith(("grid", "lap"))],
    "scc": ["cnr-2000.mtx.gz", "p2p-Gnutella31.mtx.gz"],
    # Formulated with operations, it counts shortest paths in doubles, which a large grid overflows.
    "betweenness_by_operations": [c for c in CASES if not c.startswith(("grid", "lap"))],
}
# Numbers by which results are compared, with relative tolerances; other numbers are only shown.
SAME = {"reached": 0, "sum": 1e-6, "squares": 1e-2, "components": 0, "triangles": 0, "edges": 0}
# Quality of a partition, shown where results depend on random choices; larger is better.
QUALITY = "modularity"
# Algorithms whose results depend on random choices.
FREE = {"mis", "color", "cdlp", "lpa", "louvain", "leiden"}


class Peer(compare.Peer):
    """A peer that is stopped when it takes too long."""

    def __init__(self, python, name, threads):
        self.limit = PATIENCE
        super().__init__(python, "graph_peers.py", name, threads)

    def answer(self):
        if not select.select([self.process.stdout], [], [], self.limit)[0]:
            self.process.kill()
            raise TimeoutError(f"{self.name} takes more than {self.limit} s")
        return super().answer()


def written(case, folder):
    """The file with a case's graph, as graph_peers.py reads it, and its vertices and edges."""
    path = os.path.join(folder, compare.short(case) + ".graph.npz")
    if not os.path.exists(path):
        a, directed = cases.graph(compare.located(case))
        degree = np.diff(a.indptr)
        n, many = a.shape[0], np.argsort(-degree, kind="stable")[:graph_peers.MANY]
        potentials = (cases.splitmix64(np.arange(n)) % np.uint64(256)).astype(float)
        np.savez(path, ptr=a.indptr, ends=a.indices, weights=a.data, directed=directed, sources=many[:4], many=many, potentials=potentials,
                 drawn=cases.drawn(n, min(n, graph_peers.MANY), graph_peers.SEED), labels=cases.partition(n))
    return path


def agreed(case, algorithm, who, found, ours_):
    """Rejects results that differ."""
    if algorithm in FREE and (algorithm, who) != ("cdlp", "suitesparse, cdlp"):
        return
    for key, value in found.items():
        # The number of shortest paths across a grid overflows a double; other libraries then return NaN.
        if key in ours_ and not math.isnan(value) and not math.isclose(value, ours_[key], rel_tol=SAME.get(key, 1e-6)):
            raise SystemExit(f"{algorithm} of {case}: {who} has {key} {value}, we have {ours_[key]}")


def ours(args, case, algorithm, repeat):
    command = [args.sparring, "bench", "graph", "--algorithm", algorithm, "--case", compare.located(case),
               "--threads", str(args.threads), "--repeat", str(repeat), "--json"]
    out = subprocess.run(command, cwd=compare.TOP, capture_output=True, text=True)
    if out.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}\n{out.stderr}")
    return json.loads(out.stdout.splitlines()[-1])


def measure(args, python, case, algorithms, log):
    """All algorithms on one graph."""
    file, peers = written(case, args.folder), {}

    def begin(name):
        peer = Peer(python, name, args.threads)
        peer.ways = peer.ask(load=file)["algorithms"]
        peers[name] = peer

    for name in args.peers:
        begin(name)
    for algorithm in algorithms:
        if case not in ONLY.get(algorithm, [case] if case in CASES or args.cases else []):
            continue
        print(f"measuring {algorithm} of {compare.short(case)}", file=sys.stderr)
        about, out, mine = {"op": "graph", "case": case, "algorithm": algorithm}, set(), None
        for round_ in range(args.rounds):
            if not args.peers_only:
                # The first run determines how many runs fit.
                repeat = 2 if mine is None else max(2, min(20, int(args.spend / max(1e-3, mine["compute_min_ms"]))))
                mine = ours(args, case, algorithm, repeat)
                log(about | {"peer": "sparring", "round": round_} | {k: v for k, v in mine.items() if k != "case"})
            for name in args.peers:
                for way in peers[name].ways.get(algorithm, []):
                    if (name, way) in out:
                        continue
                    line = about | {"peer": name, "version": peers[name].version, "way": way, "round": round_}
                    peers[name].limit = args.limit
                    try:
                        found = peers[name].ask(time=way, repeat=20, spend_ms=args.spend, check=round_ == 0)
                    except (RuntimeError, TimeoutError) as e:
                        log(line | {"left_out": str(e)})
                        out.add((name, way))
                        if peers[name].process.poll() is not None or isinstance(e, TimeoutError):
                            peers[name].process.wait()
                            begin(name)
                        continue
                    if found["ms"] is None:
                        out.add((name, way))
                        continue
                    if found["found"] and mine:
                        agreed(case, algorithm, f"{name}, {way}", found["found"], mine)
                    log(line | found)
    for peer in peers.values():
        peer.close()


def least(lines):
    """By algorithm and case: each library's minimum time, the time of its graph, its algorithm and its result."""
    out = {}
    for line in lines:
        if line.get("op") != "graph":
            continue
        of = out.setdefault(line["algorithm"], {}).setdefault(line["case"], {}).setdefault(line["peer"], {})
        if "left_out" in line:
            of.setdefault("left_out", line["left_out"])
            continue
        ms, prepare = line.get("compute_min_ms", line.get("ms")), line.get("prepare_ms") or 0.0
        found = line.get("found") or (line if line["peer"] == "sparring" else of.get("found"))
        if ms < of.get("ms", math.inf):
            of["ms"], of["way"] = ms, line.get("way", "")
        of["prepare"] = min(prepare, of.get("prepare", math.inf))
        of["found"] = found or of.get("found")
    return out


def cell(of, mine):
    if of is None or (not of.get("ms") and not of.get("left_out")):
        return "–"
    if not of.get("ms"):
        return "left out"
    text = f"{of['ms']:.2f} ms"
    if mine is None:
        return text
    ratio = of["ms"] / mine["ms"]
    return (f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:.2f}") + f" ({text})"


def shown(found):
    """Modularity, or the size of the result."""
    if not found:
        return ""
    return ", ".join(f"{key} {found[key]:.4g}" for key in (QUALITY, "communities", "size", "colors") if key in found)


def table(algorithm, of_cases, peers):
    named = [name for name in peers if any(name in of for of in of_cases.values())]
    quality = algorithm in FREE
    out = [f"| {algorithm} | ours, ms (its graph) | " + " | ".join(named) + (" | what came out |" if quality else " |"),
           "| --- |" + " ---: |" * (1 + len(named)) + (" --- |" if quality else "")]
    for case, of in of_cases.items():
        mine = of.get("sparring")
        own = f"{mine['ms']:.3f} ({mine['prepare']:.1f})" if mine else "–"
        cells = [cell(of.get(name), mine) for name in named]
        if quality:
            cells.append("; ".join(f"{name}: {text}" for name, x in of.items() if (text := shown(x.get("found")))))
        out.append(f"| {compare.short(case)} | {own} | " + " | ".join(cells) + " |")
    return out


def ratios(of_cases, name):
    return {case: of[name]["ms"] / of["sparring"]["ms"] for case, of in of_cases.items()
            if of.get(name, {}).get("ms") and of.get("sparring", {}).get("ms")}


def report(lines):
    run, found = lines[0], least(lines)
    peers = [name for name in graph_peers.PEERS if any(name in of for by in found.values() for of in by.values())]
    parts = []
    if any("sparring" in of for by in found.values() for of in by.values()):
        parts += ["| geometric mean (least) | " + " | ".join(peers) + " |", "| --- |" + " ---: |" * len(peers)]
        lost = []
        for algorithm, by in found.items():
            cells = []
            for name in peers:
                x = ratios(by, name)
                cells.append(f"{compare.mean(x.values()):.2f} ({min(x.values()):.2f})" if x else "–")
                lost += [f"{algorithm} of {compare.short(case)}: {name} {ratio:.2f}" for case, ratio in x.items() if ratio < 1]
            parts.append(f"| {algorithm} | " + " | ".join(cells) + " |")
        parts += ["", f"Rows lost: {len(lost)}." + "".join(f"\n- {row}" for row in lost), ""]
    for algorithm, by in found.items():
        parts += [*table(algorithm, by, peers), ""]
    left = {f"{line['algorithm']} of {compare.short(line['case'])}: {line['left_out']}" for line in lines if "left_out" in line}
    parts += ["Left out: " + "; ".join(sorted(left)) + ".", ""] if left else []
    versions = {line["peer"]: line["version"] for line in lines if "version" in line and line.get("peer") in graph_peers.PEERS}
    parts.append(f"{run['date']}, {run['machine']}, {run['cpus']} processors, {run['memory']} of memory, {run['system']}; sparring at "
                 f"{run['commit']}, {run['threads']} threads, minima of {run['rounds']} rounds taken in turns; a ratio is the other's time "
                 "over ours, bold where we are slower; in brackets behind our time what making the graph and its transpose took. igraph and SciPy "
                 "run on one thread. " + " ".join(f"{name}: {version}." for name, version in versions.items()))
    parts.append(f"Made by `{run['command']}`.")
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("algorithms", nargs="*", metavar="ALGORITHM", help=f"{', '.join(graph_peers.SORTS)} [default: all that we have]")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", help="only these (names or files)")
    parser.add_argument("--peers", default=",".join(graph_peers.PEERS))
    parser.add_argument("--limit", type=float, default=20, help="seconds that one algorithm of a library may take [default: %(default)s]")
    parser.add_argument("--spend", type=float, default=300, help="milliseconds of runs in one turn [default: %(default)s]")
    parser.add_argument("--peers-only", action="store_true")
    parser.add_argument("--venv", default=os.path.join(compare.TOP, "target", "peers-venv"))
    parser.add_argument("--sparring", default=os.path.join(compare.TOP, "target", "release", "sparring"))
    parser.add_argument("--report", metavar="FILE", help="only the tables of these lines")
    parser.add_argument("--save", metavar="NAME", help="keep lines and tables as benches/results/NAME")
    compare.isa_option(parser)
    args = parser.parse_args()
    compare.lower(args.isa)
    if args.report:
        print(report(compare.read_lines(args.report)), end="")
        return
    unknown = set(args.algorithms) - set(graph_peers.SORTS)
    if unknown:
        parser.error(f"no algorithm is called {', '.join(sorted(unknown))}")
    args.peers, args.sparring = args.peers.split(","), os.path.abspath(args.sparring)
    args.folder = os.path.join(compare.TOP, "target", "graphs")
    os.makedirs(args.folder, exist_ok=True)
    known = list(graph_peers.SORTS)
    if not args.peers_only:
        if not os.path.exists(args.sparring):
            raise SystemExit(f"{args.sparring} is not there; first: cargo build --release -p sparring-cli")
        listed = subprocess.run([args.sparring, "bench", "graph", "--algorithm", "list"], capture_output=True, text=True, check=True)
        known = [name for name in known if name in listed.stdout.split()]
    algorithms = args.algorithms or known
    wanted = args.cases.split(",") if args.cases else CASES
    if not args.cases and set(algorithms) & {name for name, only in ONLY.items() if SMALL[0] in only}:
        wanted = [*SMALL, *wanted]
    there = [c for c in wanted if os.sep not in compare.located(c) or os.path.exists(compare.located(c))]
    python = compare.environment(os.path.abspath(args.venv), PACKAGES, PROBE)
    told = [*args.algorithms, f"--threads={args.threads}", f"--rounds={args.rounds}", f"--limit={args.limit:g}", f"--spend={args.spend:g}",
            *([f"--cases={args.cases}"] if args.cases else []), *([f"--isa={args.isa}"] if args.isa else []), *([f"--save={args.save}"] if args.save else [])]
    run = compare.machine(args, ["benches/compare/graph.py", *told])
    if args.save and run["commit"].endswith("-dirty"):
        raise SystemExit("what is saved comes from a committed state; this one is changed")
    path = os.path.join(compare.RESULTS, args.save + ".jsonl") if args.save else os.path.join(compare.TOP, "target", "graph.jsonl")
    with open(path, "w", encoding="utf-8") as out:
        def log(entry):
            out.write(json.dumps(entry) + "\n")
            out.flush()

        log(run)
        for case in there:
            measure(args, python, case, algorithms, log)
    text = report(compare.read_lines(path))
    print(text, end="")
    if args.save:
        with open(os.path.join(compare.RESULTS, args.save + ".md"), "w", encoding="utf-8") as out:
            out.write(text)


if __name__ == "__main__":
    main()
