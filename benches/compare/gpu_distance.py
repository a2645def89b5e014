#!/usr/bin/env python3
"""Tables of distances on a GPU, from the lines of `benches/gpu_distance.rs`.

    cargo bench --features testing --bench gpu_distance -- --reps 3 --baselines --limit-ms 200 > LINES  # the paper's kernels too
    cargo bench --features testing --bench gpu_distance -- --reps 5 >> LINES                            # ours, measured more often
    cargo bench --features testing --bench gpu_distance -- --sizes full --metric cosine,manhattan --queries 1000000 >> LINES
    python3 benches/compare/gpu_distance.py LINES [--save NAME --command TEXT...]   # tables; kept as benches/results/NAME.jsonl and NAME.md

The tables need no GPU. cuVS is not run: its figures are constants below, measured on an H200 in another run with cuVS
26.08 built for sm_90, on sets with the same shapes from the same generators. Of several lines for the same measurement,
the last one counts.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(TOP, "benches", "results")
CASES = ["movielens_like", "nytimes_like", "scrna_like"]
# Billions of pairs per second of cuVS, in the order of CASES.
DOT, UNION = (1.28, 0.72, 0.058), (0.646, 0.366, 0.031)
CUVS = {
    "dot": DOT, "cosine": DOT, "correlation": DOT, "russellrao": DOT, "hellinger": (1.14, 0.65, 0.051),
    "kl_intersection": (0.94, 0.52, 0.046), "manhattan": UNION, "hamming": UNION, "chebyshev": (0.62, 0.35, 0.030),
    "canberra": (0.60, 0.34, 0.029), "minkowski": (0.43, 0.24, 0.022), "jensenshannon": (0.38, 0.21, 0.021),
}


def number(x):
    """Three significant digits."""
    if x is None:
        return "–"
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def table(heads, rows):
    """Markdown."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [heads, ["---"] * len(heads), *rows]) + "\n"


def metrics(lines):
    """Names in order of first occurrence."""
    return list(dict.fromkeys(line["metric"] for line in lines))


def last(lines, *keys):
    """The last line of each combination of keys."""
    return {tuple(line[key] for key in keys): line for line in lines}


def small(lines):
    """All pairs and neighbours of the generated sets."""
    ours = last([l for l in lines if l.get("op") == "distance" and l.get("sizes") != "full"], "metric", "case")
    rows = []
    for metric in metrics(ours.values()):
        row = [metric]
        for case, cuvs in zip(CASES, CUVS.get(metric, (None,) * 3)):
            line = ours.get((metric, case))
            if line is None:
                row += ["–"] * 4
                continue
            ratio = number(line["gpairs_total"] / cuvs) if cuvs else "–"
            row += [f"{number(line['gpairs'])} / {number(line['gpairs_total'])}", ratio,
                    f"{line['knn_over_pairwise']:.2f}", f"{line['over_floor']:.1f}"]
        rows.append(row)
    heads = ["Gpairs/s"]
    for case in CASES:
        heads += [f"{case}: prepared / with preparation", "the latter by cuVS", "kNN / all pairs", "time / floor"]
    return table(heads, rows)


def baselines(lines):
    """Slowdown of the paper's kernels and the naive ones."""
    found = last([l for l in lines if l.get("op") == "baseline" and "ratio" in l], "metric", "case", "baseline")
    rows = []
    for metric in metrics(found.values()):
        row = [metric]
        for case in CASES:
            for kind in ["paper", "naive_iterate", "naive_sort"]:
                line = found.get((metric, case, kind))
                row.append(number(line["ratio"]) if line else "–")
        rows.append(row)
    heads = ["their time / ours, with preparation"]
    for case in CASES:
        heads += [f"{case}: the paper's", "iterating", "sorting"]
    return table(heads, rows)


def full(lines):
    """Neighbours at the sizes of the paper's Table 2."""
    found = last([l for l in lines if l.get("sizes") == "full" and l.get("op") == "distance"], "case", "metric")
    rows = [[case, metric, f"{l['m']:,} × {l['ncols']:,}", f"{l['nnz_y']:,}", f"{l['queries']:,}", f"{l['seconds']:.2f}",
             f"{l['seconds_all']:.2f} ({l['seconds_all_is']})", number(l["gpairs_knn_total"]), f"{l['knn_over_floor']:.1f}",
             f"{l['peak_mb']:,.0f}"] for (case, metric), l in found.items()]
    return table(["set", "metric", "rows × columns", "entries", "rows that ask", "seconds", "for all rows", "Gpairs/s",
                  "time / floor", "device memory, MB"], rows)


def tables(lines):
    """All tables, with explanations."""
    devices = sorted({l["device"] for l in lines if "device" in l})
    return f"""# Distances on {', '.join(devices)}

Entries are f32, sums f64; X is the first rows of Y (4096, scrna_like 2048), both on the device. *Prepared*: rows checked, prepared
and indexed before. *By cuVS*: our rate, with preparation as theirs has it, by that of cuVS 26.08, measured on an H200 in another run; nothing where cuVS has
no such metric, or gives NaN on these sets (expanded L2, Dice) or takes binary data alone (Jaccard). The floor is the largest of
three: products at the rate of shared memory, entries of Y from the L2 cache at 5.5 TB/s (assumed), the result at 4.0 TB/s. kNN is
for k = 10, brought to the host.

{small(lines)}
Beside ours in the same run, in f32: the kernels of Nolet et al. 2022 (§3.3: hybrid CSR + COO, the faster of dense and hash on each
set) and the naive ones of §3.2, which iterate over sorted rows or sort both. Norms and finalizers are not counted for them.

{baselines(lines)}
Nearest neighbours, k = 10, of all rows among all rows, with preparation, at the sizes of the paper's Table 2. Sets are generated;
degrees spread less than in the real ones.

{full(lines)}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="?", metavar="LINES")
    parser.add_argument("--save", metavar="NAME")
    parser.add_argument("--command", action="append", default=[], help="that made the lines; kept on the first line of what is saved")
    args = parser.parse_args()
    if args.save and not args.command:
        parser.error("--save wants --command, once for each command that made the lines")
    if args.lines:
        with open(args.lines, encoding="utf-8") as file:
            text = tables([json.loads(line) for line in file])
        print(text)
        if args.save:
            commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=TOP, stdout=subprocess.PIPE, text=True, check=True)
            run = {"date": args.save[:10], "commit": commit.stdout.strip(), "commands": args.command}
            with open(args.lines, encoding="utf-8") as lines, open(os.path.join(RESULTS, args.save + ".jsonl"), "w", encoding="utf-8") as to:
                to.write(json.dumps(run) + "\n")
                shutil.copyfileobj(lines, to)
            with open(os.path.join(RESULTS, args.save + ".md"), "w", encoding="utf-8") as file:
                file.write(text)
    return 0 if args.lines else parser.print_usage() or 2


if __name__ == "__main__":
    sys.exit(main())
