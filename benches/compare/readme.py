#!/usr/bin/env python3
"""The README's picture and its two short tables, from saved runs alone.

    python3 benches/compare/readme.py --cpu NAME,NAME --distance NAME,NAME --tensor NAME --contract NAME,NAME --gpu NAME --gpu-distance NAME --gpu-contract NAME
    python3 benches/compare/readme.py --self-test

A NAME is a run in benches/results/. The tables go between the marks of the README, the picture beside the runs, as speed.svg
(matplotlib, installed into target/readme-venv). A ratio is the other's time over ours: above 1 we are faster, and what is below stays.
"""
import argparse
import json
import math
import os
import subprocess
import sys

import compare
import contract
import distance
import gpu_distance
import gpu_tables
import tensor
from compare import RESULTS, TOP, environment, read_lines

BEGIN, END = "<!-- speed:begin -->\n", "<!-- speed:end -->"
PICTURE = os.path.join(RESULTS, "speed.svg")
NAMES = compare.TITLES
# What the picture's panel of single operations shows.
OPERATIONS = ("mxv", "vxm", "transpose", "reduce", "ewise", "build", "masked", "hyper", "read")


def of_cpu(lines):
    """Of a run of compare.py: [what, beside, by case when memory is fresh, when it is kept]."""
    out = []
    for kind, columns in compare.COLUMNS.items():
        found = compare.ratios_of(lines, kind)
        for title, *_ in columns:
            habits = [{compare.short(c): r for c, r in found.get((title, habit), {}).items()} for habit in compare.MEMORY_HABITS]
            if any(habits):
                what, _, beside = title.rpartition(" / ")
                out.append([f"{NAMES[kind]}, {what}" if what else NAMES[kind], beside, *habits])
    return out


def of_distances(runs):
    """Of runs of distance.py: [task and metric, beside, by set], rows of all before those of some."""
    found = {}
    for lines in runs:
        for (task, metric, data, rows, queries), programs in distance.cells_of(lines).items():
            us = programs.get(distance.OURS, distance.Side())
            for name, side in programs.items():
                if name in (distance.OURS, distance.OURS_TOO) or us.ms is None or side.ms is None:
                    continue
                some = queries not in (None, rows)
                row = found.setdefault((task, name), {})
                if (metric, data) not in row or not some:
                    row[metric, data] = side.ms / us.ms
    label = {"knn": "10 nearest neighbours", "pairwise": "all distances"}
    return [[label[task], name, {f"{metric}, {data}": r for (metric, data), r in row.items()}] for (task, name), row in found.items()]


def of_gpu(lines):
    """Of a run of gpu.py: [what, beside, by case]."""
    rows = gpu_tables.products(lines, lines[0]["device"])
    vectors = {r.case: gpu_tables.spmv(lines, r.case, "f64")[2] for r in rows}
    single = {r.case: gpu_tables.spmv(lines, r.case, "f32")[2] for r in rows}
    return [["A·A", "the better of cuSPARSE and spECK", {r.case: r.whole for r in rows}],
            ["values alone", "cuSPARSE SpGEMMreuse", {r.case: r.numeric for r in rows}],
            ["y = A·x, f64", "cuSPARSE", vectors], ["y = A·x, f32", "cuSPARSE", single]]


def of_gpu_distances(lines):
    """Of a run of gpu_distance.py, preparation counted on either side: [what, beside, by metric and set]."""
    ours = gpu_distance.last([x for x in lines if x.get("op") == "distance" and x.get("sizes") != "full"], "metric", "case")
    cuvs = {f"{metric}, {case}": line["gpairs_total"] / gpu_distance.CUVS[metric][gpu_distance.CASES.index(case)]
            for (metric, case), line in ours.items() if metric in gpu_distance.CUVS}
    papers = {f"{x['metric']}, {x['case']}": x["ratio"] for x in lines if x.get("baseline") == "paper" and "ratio" in x}
    return [["all distances", "cuVS", cuvs], ["all distances", "kernels of Nolet et al. 2022", papers]]


CONTRACTIONS = {"gemm": "C = A·B + C, batches", "act2d": "mass operators, 2-D", "act3d": "mass operators, 3-D"}
BESIDE = {"mkl": "MKL", "matmul": "numpy, matmul", "einsum": "numpy, einsum", "opt_einsum": "opt_einsum"}


def of_contractions(runs):
    """Of runs of contract.py: [what, beside, by type and size]."""
    found = {}
    for lines in runs:
        for (case, dtype, size, who), ratio in contract.ratios_of(lines).items():
            if case in CONTRACTIONS:
                unit = "n" if case == "gemm" else "p"
                found.setdefault((case, who), {})[f"{dtype}, {unit} = {size}"] = ratio
    order = [(case, who) for case in CONTRACTIONS for who in BESIDE if (case, who) in found]
    return [[CONTRACTIONS[case], BESIDE[who], found[case, who]] for case, who in order]


def of_gpu_contractions(lines):
    """Of a run of gpu_contract.py: [what, beside, by type and size]."""
    names = {"gemm": (CONTRACTIONS["gemm"], "cuBLAS", "n"), "action": (CONTRACTIONS["act3d"], "cuBLAS, six products", "p")}
    found = {}
    for line in lines[1:]:
        if line.get("peer_ms") and line["case"] in names:
            unit = names[line["case"]][2]
            found.setdefault(line["case"], {})[f"{line['dtype']}, {unit} = {line[unit]}"] = line["peer_ms"] / line["ms_min"]
    return [[*names[case][:2], by] for case, by in found.items()]


def cells(ratios):
    """Geometric mean; the smallest ratio and where; how many there are, and how many we lose."""
    there = {case: r for case, r in ratios.items() if r}
    if not there:
        return ["–", "–", "–"]
    worst = min(there, key=there.get)
    lost = sum(r < 1 for r in there.values())
    least = f"{there[worst]:.2f} ({worst})"
    return [f"{compare.mean(there.values()):.2f}", f"**{least}**" if lost else least, f"{len(there)}, {lost} lost" if lost else str(len(there))]


def markdown(heads, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows]) + "\n"


def tables(cpu, distances, tensors, contractions, gpu, gpu_others):
    """Both tables; `tensors` are ratios by case."""
    first = [[what, beside, cells(fresh)[0], *cells(kept)] for what, beside, fresh, kept in cpu]
    # Fresh memory alone.
    for what, beside, found in [*distances, ("MTTKRP, all modes", "pygenten, best method", tensors), *contractions]:
        mean, *rest = cells(found)
        first.append([what, beside, mean, "", *rest])
    second = [[what, beside, *cells(found)] for what, beside, found in [*gpu, *gpu_others]]
    return (markdown(["on the processor", "beside", "ratio, fresh memory", "kept memory", "smallest", "cases"], first),
            markdown(["on a GPU", "beside", "ratio", "smallest", "cases"], second))


def draw(panels):
    """The picture: a panel for each (title, series), a line for each series (label, by case), those that we lose below the line at 1."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "sparring", "svg.fonttype": "none", "font.size": 8}
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.6), layout="constrained")
    for axis, (title, series) in zip(axes, panels):
        places = list(dict.fromkeys(case for _, found in series for case in found))
        lost = []
        for label, found in series:
            there = [(places.index(case), r) for case, r in found.items() if r]
            axis.plot(*zip(*there), marker="o", markersize=3, linewidth=1, label=label)
            lost += [(x, r) for x, r in there if r < 1]
        axis.axhspan(1e-3, 1, color="0.9", zorder=0)
        axis.axhline(1, color="black", linewidth=0.8)
        if lost:
            axis.plot(*zip(*lost), linestyle="none", marker="x", color="red", markersize=6, label="slower than the other")
        axis.set_yscale("log", base=2)
        axis.set_ylim(min([0.7, *(0.85 * r for _, r in lost)]), 1.3 * max(r for _, found in series for r in found.values() if r))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.set_xticks(range(len(places)), places, rotation=60, ha="right")
        axis.set_title(title)
        axis.legend(fontsize=6)
    figure.savefig(PICTURE, metadata={"Date": None})


def panels(cpu, gpu):
    kept = lambda rows: [(f"{what}, {beside}".removeprefix("A·A, ").removeprefix("triangles, "), found) for what, beside, _, found in rows]
    others = tuple(NAMES[kind] for kind in OPERATIONS)
    return [["A·A on the processor: the other's time / ours", kept([r for r in cpu if r[0].startswith("A·A") and not r[0].startswith(others)])],
            ["triangles on the processor", kept([r for r in cpu if r[0].startswith("triangles")])],
            ["other operations on the processor", kept([r for r in cpu if r[0].startswith(others)])],
            ["on an H200", [(f"{what}, {beside}", found) for what, beside, found in gpu]]]


def self_test():
    """Figures worked out by hand: 2 and 1/2 have the mean 1, and one of them is lost."""
    assert cells({"a": 2.0, "b": 0.5, "c": None}) == ["1.00", "**0.50 (b)**", "2, 1 lost"]
    assert cells({"a": 4.0}) == ["4.00", "4.00 (a)", "1"] and cells({}) == ["–"] * 3
    head, line = {"threads": 2}, {"op": "spgemm", "case": "data/x.mtx.gz"}
    lines = [head]
    for habit, ours, theirs in (("fresh", 2.0, [6.0, 8.0]), ("kept", 4.0, [2.0, 2.0])):
        for pass_, ms in enumerate(theirs):
            about = {"memory": habit, "pass": pass_, "round": 0}
            lines.append(line | about | {"peer": "sparring", "ms_min": ours, "unsorted_ms_min": ours, "reuse_ms_min": ours})
            lines.append(line | about | {"peer": "mkl", "variant": "sorted", "ms": ms})
    assert of_cpu(lines) == [["A·A, sorted", "MKL", {"x": 3.0}, {"x": 0.5}]], of_cpu(lines)
    row = next(row for row in compare.table("spgemm", lines) if row.startswith("| x |"))
    assert row.startswith("| x | 2.0/2.0/2.0/–, 4.0/4.0/4.0/– | 3.00…4.00 (6.0 ms) | **0.50** (2.0 ms) | – |"), row
    found = of_distances([distance.made_up()])
    assert ["10 nearest neighbours", "scikit-learn", {"cosine, d": 3.0, "manhattan, d": 0.5}] in found, found
    first, second = tables(of_cpu(lines), found, {"uber, R = 16": 4.0}, of_contractions(
        [[{}, *(dict(case="gemm", dtype="f64", size=2, who=who, ms=ms) for who, ms in (("sparring", 2.0), ("mkl", 3.0)))]]),
        [["A·A", "cuSPARSE", {"z": 0.25}]], of_gpu_contractions([{}, dict(case="gemm", n=2, dtype="f32", ms_min=2.0, peer_ms=10.0)]))
    assert "| A·A, sorted | MKL | 3.00 | 0.50 | **0.50 (x)** | 1, 1 lost |" in first.splitlines(), first
    assert "| MTTKRP, all modes | pygenten, best method | 4.00 |  | 4.00 (uber, R = 16) | 1 |" in first.splitlines(), first
    assert "| C = A·B + C, batches | MKL | 1.50 |  | 1.50 (f64, n = 2) | 1 |" in first.splitlines(), first
    assert "| C = A·B + C, batches | cuBLAS | 5.00 | 5.00 (f32, n = 2) | 1 |" in second.splitlines(), second
    assert "| A·A | cuSPARSE | 0.25 | **0.25 (z)** | 1, 1 lost |" in second.splitlines(), second


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cpu", "distance", "tensor", "contract", "gpu", "gpu-distance", "gpu-contract"):
        parser.add_argument("--" + name, metavar="NAME")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--draw", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.draw:
        return draw(json.load(sys.stdin))
    if args.self_test:
        self_test()
        return print("the tables are as worked out by hand")
    if not all((args.cpu, args.distance, args.tensor, args.contract, args.gpu, args.gpu_distance, args.gpu_contract)):
        parser.error("a run of each is needed")
    read = lambda name: read_lines(os.path.join(RESULTS, name + ".jsonl"))
    cpu_runs, distance_runs, gpu_run = [read(name) for name in args.cpu.split(",")], [read(name) for name in args.distance.split(",")], read(args.gpu)
    tensor_run, gpu_distance_run = read(args.tensor), read(args.gpu_distance)
    contract_runs, gpu_contract_run = [read(name) for name in args.contract.split(",")], read(args.gpu_contract)
    # What several runs have is of the first that has it.
    rows = {}
    for run in cpu_runs:
        for row in of_cpu(run):
            rows.setdefault((row[0], row[1]), row)
    cpu, gpu = list(rows.values()), of_gpu(gpu_run)
    others = [*of_gpu_distances(gpu_distance_run), *of_gpu_contractions(gpu_contract_run)]
    first, second = tables(cpu, of_distances(distance_runs), tensor.ratios_of(tensor_run), of_contractions(contract_runs), gpu, others)
    python = environment(os.path.join(TOP, "target", "readme-venv"), ["matplotlib"], "import matplotlib")
    subprocess.run([python, os.path.abspath(__file__), "--draw"], input=json.dumps(panels(cpu, gpu)), text=True, check=True)

    link = lambda name: f"[{name}](benches/results/{name}.md)"
    about, device = cpu_runs[0][0], gpu_run[0]
    where = []
    for name, run in zip(args.cpu.split(","), cpu_runs):
        kinds = ", ".join(dict.fromkeys(NAMES[line["op"]] for line in run if line.get("op") in NAMES))
        where.append(f"{kinds}: {run[0]['date']}, {run[0]['machine']}, {link(name)}")
    assert all(run[0].get("habit") == "fresh" for run in distance_runs), "a run of distances with kept memory"
    text = (
        "![Ratios by case](benches/results/speed.svg)\n\n"
        "Geometric means of the other's time over ours, the smallest ratio (of kept memory, where there are both) and where it is, and what we lose; the picture has each case that was measured of products, "
        "triangles and other operations.\n\n"
        f"{first}\n{'; '.join(where)}; {about['threads']} threads on either side (SciPy: one). *Fresh*: freed memory goes back to the "
        f"system; *kept*: it serves the next run; the same on both sides. Distances: fresh memory on either side, "
        f"{', '.join(map(link, args.distance.split(',')))}; *dense*: on dense rows, as sparse ones are not taken there. "
        f"MTTKRP: {tensor_run[0]['machine']}, fresh memory on either side; pygenten's wheel has no AVX. {link(args.tensor)}. "
        f"Batches of small matrices and mass operators of finite elements: {contract_runs[0][0]['machine']}, arrays kept on either side. {', '.join(map(link, args.contract.split(',')))}.\n\n"
        f"{second}\n{device['date']}, {device['device']}, double precision, data on the device. spECK and cuVS were measured on an H200 in other runs; of "
        f"distances (f32 entries, f64 sums) preparation counts on either side. {link(args.gpu)}, {link(args.gpu_distance)}, {link(args.gpu_contract)}.\n")
    path = os.path.join(TOP, "README.md")
    with open(path, encoding="utf-8") as file:
        old = file.read()
    at, to = old.index(BEGIN) + len(BEGIN), old.index(END)
    with open(path, "w", encoding="utf-8") as file:
        file.write(old[:at] + text + old[to:])


if __name__ == "__main__":
    sys.exit(main())
