#!/usr/bin/env python3
"""The README's picture and short table, and benches/results/speed.md with all rows, from saved runs alone.

    python3 benches/compare/readme.py --cpu NAME,NAME --distance NAME,NAME --tensor NAME,NAME --contract NAME,NAME --gpu NAME --gpu-distance NAME --gpu-contract NAME
    python3 benches/compare/readme.py --self-test

A NAME is a run in benches/results/. The table goes between the markers of the README; the picture and all rows go
beside the runs, as speed.svg and speed.md (matplotlib is installed into target/readme-venv). A ratio is the other's
time over ours: above 1, we are faster; rows below 1 are kept.
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


def of_cpu(lines):
    """From a run of compare.py: [what, beside, by case with fresh memory, with kept memory]."""
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
    """From runs of distance.py: [task and metric, beside, by set]; figures for all rows replace those for some."""
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
    """From a run of gpu.py: [what, beside, by case]."""
    rows = gpu_tables.products(lines, lines[0]["device"])
    vectors = {r.case: gpu_tables.spmv(lines, r.case, "f64")[2] for r in rows}
    single = {r.case: gpu_tables.spmv(lines, r.case, "f32")[2] for r in rows}
    return [["A·A", "the better of cuSPARSE and spECK", {r.case: r.whole for r in rows}],
            ["values alone", "cuSPARSE SpGEMMreuse", {r.case: r.numeric for r in rows}],
            ["y = A·x, f64", "cuSPARSE", vectors], ["y = A·x, f32", "cuSPARSE", single]]


def of_gpu_distances(lines):
    """From a run of gpu_distance.py, preparation included on both sides: [what, beside, by metric and set]."""
    ours = gpu_distance.last([x for x in lines if x.get("op") == "distance" and x.get("sizes") != "full"], "metric", "case")
    cuvs = {f"{metric}, {case}": line["gpairs_total"] / gpu_distance.CUVS[metric][gpu_distance.CASES.index(case)]
            for (metric, case), line in ours.items() if metric in gpu_distance.CUVS}
    papers = {f"{x['metric']}, {x['case']}": x["ratio"] for x in lines if x.get("baseline") == "paper" and "ratio" in x}
    return [["all distances", "cuVS", cuvs], ["all distances", "kernels of Nolet et al. 2022", papers]]


CONTRACTIONS = {"gemm": "C = A·B + C, batches", "act2d": "mass operators, 2-D", "act3d": "mass operators, 3-D"}
BESIDE = {"mkl": "MKL", "matmul": "numpy, matmul", "einsum": "numpy, einsum", "opt_einsum": "opt_einsum"}


def of_contractions(runs):
    """From runs of contract.py: [what, beside, by type and size]."""
    found = {}
    for lines in runs:
        for (case, dtype, size, who), ratio in contract.ratios_of(lines).items():
            if case in CONTRACTIONS:
                unit = "n" if case == "gemm" else "p"
                found.setdefault((case, who), {})[f"{dtype}, {unit} = {size}"] = ratio
    order = [(case, who) for case in CONTRACTIONS for who in BESIDE if (case, who) in found]
    return [[CONTRACTIONS[case], BESIDE[who], found[case, who]] for case, who in order]


def of_gpu_contractions(lines):
    """From a run of gpu_contract.py: [what, beside, by type and size]."""
    names = {"gemm": (CONTRACTIONS["gemm"], "cuBLAS", "n"), "action": (CONTRACTIONS["act3d"], "cuBLAS, six products", "p")}
    found = {}
    for line in lines[1:]:
        if line.get("peer_ms") and line["case"] in names:
            unit = names[line["case"]][2]
            found.setdefault(line["case"], {})[f"{line['dtype']}, {unit} = {line[unit]}"] = line["peer_ms"] / line["ms_min"]
    return [[*names[case][:2], by] for case, by in found.items()]


def cells(ratios):
    """Geometric mean; the smallest ratio and its case; the number of cases, and how many we lose."""
    there = {case: r for case, r in ratios.items() if r}
    if not there:
        return ["–", "–", "–"]
    worst = min(there, key=there.get)
    lost = sum(r < 1 for r in there.values())
    least = f"{there[worst]:.2f} ({worst})"
    return [f"{compare.mean(there.values()):.2f}", f"**{least}**" if lost else least, f"{len(there)}, {lost} lost" if lost else str(len(there))]


def markdown(heads, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows]) + "\n"


PEERS_LEFT_OUT = ("ours unmasked", "scikit-learn, one job")
# Rows of the README's table: operation, beside.
SHORT = (("A·A, sorted", "MKL"), ("A·A, sorted", "SuiteSparse"), ("A·A, count", "MKL"), ("triangles", "SuiteSparse, best method"),
         ("A·A where A is", "SuiteSparse"), ("y = A·x, into", "MKL"), ("A + Aᵀ", "SuiteSparse"), ("10 nearest neighbours", "scikit-learn"),
         ("MTTKRP, all modes", "pygenten, best method"), ("C = A·B + C, batches", "MKL"))
NOT_MEASURED = "not measured"


def processor(head):
    """From the first line of a run: the processor's short name and its instruction set."""
    name, _, isa = head["machine"].partition(" with ")
    isa = isa.partition(" of ")[0]  # lowered from another
    return name.split()[1].removesuffix("(R)") if name.startswith("AMD") else "Xeon" if "Xeon" in name else name, isa


def by_isa(runs):
    """From runs of compare.py, by instruction set: rows with the processor's name; the first run with a row counts."""
    found = {}
    for run in runs:
        name, isa = processor(run[0])
        for row in of_cpu(run):
            found.setdefault(isa, {}).setdefault((row[0], row[1]), [*row, name])
    return {isa: list(rows.values()) for isa, rows in found.items()}


def by_processor(runs):
    """Runs by the processor's name and instruction set; a set is measured on one processor."""
    found = {}
    for run in runs:
        found.setdefault(processor(run[0]), []).append(run)
    assert len({isa for _, isa in found}) == len(found), f"an instruction set on two processors: {sorted(found)}"
    return found


def ratios(row):
    """The ratios of a row that count: with kept memory, where measured."""
    return row[3] or row[2]


def tables(best, second, gpu):
    """All rows as tables: AVX-512 beside AVX2, and the GPU. Rows: what, beside, fresh, kept, processor."""
    lower = {(row[0], row[1]): row for row in second}
    rows = []
    for row in best:
        what, beside, fresh, kept, name = row
        other = lower.pop((what, beside), None)
        rows.append([what, beside, name, cells(fresh)[0], cells(kept)[0] if kept else "", *cells(ratios(row))[1:],
                     cells(ratios(other))[0] if other else NOT_MEASURED])
    for what, beside, fresh, kept, name in lower.values():
        rows.append([what, beside, name, NOT_MEASURED, "", "–", "–", cells(kept or fresh)[0]])
    return (markdown(["on the processor", "beside", "AVX-512 of", "fresh memory", "kept memory", "smallest", "cases", "AVX2"], rows),
            markdown(["on a GPU", "beside", "ratio", "smallest", "cases"], [[what, beside, *cells(found)] for what, beside, found in gpu]))


def short_table(best, second):
    """The README's table, of ten rows at most."""
    have, lower = ({(row[0], row[1]): row for row in rows} for rows in (best, second))
    rows = []
    for key in SHORT:
        if key in have:
            mean, least, cases = cells(ratios(have[key]))
            rows.append([*key, mean, least, cases, cells(ratios(lower[key]))[0] if key in lower else NOT_MEASURED])
    return markdown(["operation", "beside", "AVX-512", "smallest", "cases", "AVX2"], rows)


# Okabe and Ito's palette, which the colour-blind can distinguish; a peer is identified by the first words of its name.
COLOURS = (("MKL", "#0072B2"), ("SuiteSparse", "#D55E00"), ("SciPy", "#009E73"), ("scipy", "#009E73"), ("scikit-learn", "#CC79A7"),
           ("numpy", "#56B4E9"), ("opt_einsum", "#56B4E9"), ("cu", "#E69F00"), ("the better of cuSPARSE", "#E69F00"))
OTHER_COLOUR = "#444444"


def colour(peer):
    return next((code for name, code in COLOURS if peer.startswith(name)), OTHER_COLOUR)


def draw(sections):
    """The picture: a section for each [title, rows], with a row for each [what, beside, processor, by case]."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "sparring", "svg.fonttype": "none", "font.size": 8, "font.family": "sans-serif",
                            "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"]}
    import matplotlib.pyplot as plt

    # A row is 15 pixels high, a title two rows; the page is as wide as GitHub shows it.
    width, row_height = 838, 15
    lines = sum(len(rows) + 2 for _, rows in sections)
    height = row_height * (lines + 4)
    figure = plt.figure(figsize=(width / 96, height / 96))
    top, bottom = 1 - 22 / height, 40 / height
    axis = figure.add_axes((0.40, bottom, 0.54, top - bottom))
    values = [r for _, rows in sections for *_, found in rows for r in found.values() if r]
    low, high = min([0.6, *(0.9 * r for r in values)]), 1.15 * max(values)
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    axis.set_ylim(lines, 0)
    axis.axvspan(low, 1, color="#f3dcd6", zorder=0, linewidth=0)
    axis.axvline(1, color="black", linewidth=0.8, zorder=1)
    ticks = [t for e in range(-1, 4) for t in (10**e, 2 * 10**e, 5 * 10**e) if low <= t <= high]
    axis.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axis.set_xticks([], minor=True)
    axis.set_yticks([])
    axis.tick_params(top=True, labeltop=True, length=3)
    axis.grid(axis="x", color="0.88", linewidth=0.6, zorder=0)
    axis.set_axisbelow(True)
    axis.spines[["left", "right"]].set_visible(False)
    axis.set_xlabel("time of the other library / time of sparring, a dot for each case, a bar for their geometric mean; shaded: sparring is slower")
    # Centred on the page, not on the axis.
    axis.xaxis.set_label_coords((0.5 - 0.40) / 0.54, -26 / (height * (top - bottom)))
    across = matplotlib.transforms.blended_transform_factory(figure.transFigure, axis.transData)
    write = lambda x, y, text, **more: axis.annotate(text, (x, y), xycoords=("figure fraction", "data"), va="center", annotation_clip=False, **more)
    y, shade = 0.0, False
    for title, rows in sections:
        write(0.008, y + 1.2, title, fontweight="bold", ha="left")
        y += 2
        before = None
        for what, beside, name, found in rows:
            there = sorted(r for r in found.values() if r)
            middle = y + 0.5
            if what != before:
                write(0.008, middle, what, ha="left")
                axis.plot([0.008, 0.99], [y, y], transform=across, color="0.85", linewidth=0.5, clip_on=False, zorder=0)
            before = what
            write(0.39, middle, beside, ha="right", color="0.2")
            write(0.992, middle, name, ha="right", color="0.35")
            axis.scatter(there, [middle] * len(there), s=11, color=colour(beside), alpha=0.55, linewidths=0, zorder=3, clip_on=False)
            mean = compare.mean(there)
            axis.plot([mean, mean], [middle - 0.42, middle + 0.42], color=colour(beside), linewidth=2.4, solid_capstyle="butt", zorder=4)
            y += 1
    figure.savefig(PICTURE, metadata={"Date": None})


def sections(best, second, gpu, device):
    """The figures in the picture."""
    of = lambda rows: [[row[0], row[1], row[4], ratios(row)] for row in rows if row[1] not in PEERS_LEFT_OUT and ratios(row)]
    return [["AVX-512, 2 threads: AMD EPYC, Intel Xeon", of(best)], ["AVX2, 2 threads: AMD EPYC", of(second)],
            [f"GPU: {device}", [[what, beside, device.split()[-1], found] for what, beside, found in gpu]]]


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
    assert processor({"machine": "AMD EPYC with AVX2"}) == ("EPYC", "AVX2")
    assert processor({"machine": "Intel(R) Xeon(R) Processor with AVX-512"}) == ("Xeon", "AVX-512")
    split = by_isa([[{**head, "machine": "AMD EPYC with " + isa}, *lines[1:]] for isa in ("AVX-512", "AVX2")])
    assert split["AVX2"] == [["A·A, sorted", "MKL", {"x": 3.0}, {"x": 0.5}, "EPYC"]] == split["AVX-512"], split
    fresh_only = [["MTTKRP, all modes", "pygenten, best method", {"uber, R = 16": 4.0}, {}, "Xeon"]]
    first, second = tables([*split["AVX-512"], *fresh_only], split["AVX2"], [
        ["A·A", "cuSPARSE", {"z": 0.25}], *of_gpu_contractions([{}, dict(case="gemm", n=2, dtype="f32", ms_min=2.0, peer_ms=10.0)])])
    assert "| A·A, sorted | MKL | EPYC | 3.00 | 0.50 | **0.50 (x)** | 1, 1 lost | 0.50 |" in first.splitlines(), first
    row = "| MTTKRP, all modes | pygenten, best method | Xeon | 4.00 |  | 4.00 (uber, R = 16) | 1 | not measured |"
    assert row in first.splitlines(), first
    assert "| C = A·B + C, batches | cuBLAS | 5.00 | 5.00 (f32, n = 2) | 1 |" in second.splitlines(), second
    assert "| A·A | cuSPARSE | 0.25 | **0.25 (z)** | 1, 1 lost |" in second.splitlines(), second
    short = short_table([*split["AVX-512"], *fresh_only], split["AVX2"]).splitlines()
    assert short[2:] == ["| A·A, sorted | MKL | 0.50 | **0.50 (x)** | 1, 1 lost | 0.50 |",
                         "| MTTKRP, all modes | pygenten, best method | 4.00 | 4.00 (uber, R = 16) | 1 | not measured |"], short
    ours = of_contractions([[{}, *(dict(case="gemm", dtype="f64", size=2, who=who, ms=ms) for who, ms in (("sparring", 2.0), ("mkl", 3.0)))]])
    assert ours == [["C = A·B + C, batches", "MKL", {"f64, n = 2": 1.5}]], ours
    machines = [[{"machine": name}] for name in ("AMD EPYC with AVX2", "AMD EPYC with AVX-512", "AMD EPYC with AVX2")]
    assert by_processor(machines) == {("EPYC", "AVX2"): [machines[0], machines[2]], ("EPYC", "AVX-512"): [machines[1]]}
    assert len(SHORT) <= 10 and colour("MKL") != colour("SuiteSparse, best method") != OTHER_COLOUR == colour("networkit")


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
    tensor_runs, gpu_distance_run = [read(name) for name in args.tensor.split(",")], read(args.gpu_distance)
    contract_runs, gpu_contract_run = [read(name) for name in args.contract.split(",")], read(args.gpu_contract)
    split = by_isa(cpu_runs)
    known, device = {"AVX-512", "AVX2"}, gpu_run[0]
    run_under = {processor(run[0])[1] for run in [*cpu_runs, *distance_runs, *tensor_runs, *contract_runs]}
    assert run_under <= known, f"a run under another instruction set: {run_under - known}"
    best, second = split["AVX-512"], split.get("AVX2", [])
    # Fresh memory alone.
    mttkrp = lambda runs: [["MTTKRP, all modes", "pygenten, best method", tensor.ratios_of(run)] for run in runs]
    for runs, rows in [(distance_runs, of_distances), (tensor_runs, mttkrp), (contract_runs, of_contractions)]:
        for (name, isa), some in by_processor(runs).items():
            (best if isa == "AVX-512" else second).extend([what, beside, found, {}, name] for what, beside, found in rows(some))
    gpu = [*of_gpu(gpu_run), *of_gpu_distances(gpu_distance_run), *of_gpu_contractions(gpu_contract_run)]
    python = environment(os.path.join(TOP, "target", "readme-venv"), ["matplotlib"], "import matplotlib")
    subprocess.run([python, os.path.abspath(__file__), "--draw"], input=json.dumps(sections(best, second, gpu, device["device"])), text=True, check=True)

    link = lambda name: f"[{name}]({name}.md)"
    linked = lambda names, runs: "; ".join(f"{run[0]['machine']}, {link(name)}" for name, run in zip(names.split(","), runs))
    where = []
    for name, run in zip(args.cpu.split(","), cpu_runs):
        kinds = ", ".join(dict.fromkeys(NAMES[line["op"]] for line in run if line.get("op") in NAMES))
        where.append(f"- {kinds}: {run[0]['date']}, {run[0]['machine']}, {link(name)}")
    assert all(run[0].get("habit") == "fresh" for run in distance_runs), "a run of distances with kept memory"
    threads = cpu_runs[0][0]["threads"]
    first, on_gpu = tables(best, second, gpu)
    text = (
        "# Speed beside other libraries\n\n"
        "Made by `benches/compare/readme.py` from the runs below. A ratio is the other's time over ours, the geometric mean of all cases; "
        "below 1 we are slower, and bold. *Fresh*: freed memory goes back to the system; *kept*: it serves the next run; the same on both sides. "
        "*Smallest* and *AVX2* are of kept memory, where both were measured.\n\n"
        "![Ratios by case](speed.svg)\n\n"
        f"{first}\n{threads} threads on either side (SciPy: one).\n\n" + "\n".join(where) + "\n"
        f"- distances: {linked(args.distance, distance_runs)}; *dense*: on dense rows, as sparse ones are not taken there\n"
        f"- MTTKRP: {linked(args.tensor, tensor_runs)}; pygenten's wheel has no AVX\n"
        f"- batches of small matrices, mass operators of finite elements, arrays kept on either side: {linked(args.contract, contract_runs)}\n\n"
        f"{on_gpu}\n{device['date']}, {device['device']}, double precision, data on the device. spECK and cuVS were measured on an H200 in other runs; of "
        f"distances (f32 entries, f64 sums) preparation counts on either side. {link(args.gpu)}, {link(args.gpu_distance)}, {link(args.gpu_contract)}.\n\n"
        "## Beside these\n\n"
        "- whole products on an H200, 33 matrices of 8 · 10³ to 4 · 10⁸ multiplications: at least 1.77 times as fast as cuSPARSE's; values again: "
        "0.97 to 1.8 of `SpGEMMreuse`, [2026-11-23-h200-small-products](2026-11-23-h200-small-products.md)\n"
        "- nearest neighbours of dense rows (15 to 60 % full): 4 to 16 times as fast as sparse_dot_topn, [2026-11-24-knn-dense](2026-11-24-knn-dense.md)\n"
        "- sixteen threads beside one: 4 to 15 times as fast, [2026-11-21-scaling-16-cores](2026-11-21-scaling-16-cores.md)\n")
    with open(os.path.join(RESULTS, "speed.md"), "w", encoding="utf-8") as file:
        file.write(text)
    text = ("![Ratios by operation, other library and case](benches/results/speed.svg)\n\n"
            "The other's time over ours, as a geometric mean; bold where we are slower in some case. "
            f"AMD EPYC and Intel Xeon with AVX-512, AMD EPYC with AVX2, {threads} threads.\n\n{short_table(best, second)}")
    path = os.path.join(TOP, "README.md")
    with open(path, encoding="utf-8") as file:
        old = file.read()
    at, to = old.index(BEGIN) + len(BEGIN), old.index(END)
    with open(path, "w", encoding="utf-8") as file:
        file.write(old[:at] + text + old[to:])


if __name__ == "__main__":
    sys.exit(main())
