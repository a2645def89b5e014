"""The tables of a run of gpu.py, computed from its lines alone; needs only Python.

A ratio is the other's time over ours: above 1, we are faster. Rows that we lose are kept, and so are failures.
"""
import math

# Products A·A by spECK (Parger, Winter, Mlakar, Steinberger: spECK: Accelerating GPU Sparse Matrix-Matrix
# Multiplication through Lightweight Analysis, PPoPP 2020): GFLOP/s of the whole product, 2 per multiplication. It is
# not run here, because its sources need changes for current CUDA versions (names removed from CUB, a header, a stub for
# a library). These figures were measured separately on the same matrices in double precision on an NVIDIA H200, driver
# 580.159, compiled for sm_90 with CUDA 13.0, with its 96 KB shared memory build, which is the faster one; its results
# were correct. They apply to an H200 alone, and a ratio with them compares different runs.
SPECK = {"rmat14": 20.9, "rmat16": 26.4, "rmat18": 14.8, "er18": 24.3, "er20": 30.7, "st27_80": 112.0, "st27_100": 111.0,
         "lap2d_2000": 31.7}
SPECK_DEVICE = "H200"
WHOLE = ("ALG1", "ALG2", "ALG3")
# Our key for values over another semiring or type, compared with `numeric_into_ms` for plus-times of f64.
OTHERS = {"min-plus": "min_plus_ms", "plus-pair": "plus_pair_ms", "or-and": "lor_land_ms", "plus-times f32": "f32_ms"}
# Graphs of benches/gpu_triangles.rs by their names in the CPU's results.
ON_CPU = {"cnr-2000": "data/cnr-2000.mtx.gz", "email-Enron": "data/email-Enron.mtx.gz"}
NONE = "–"
# Reason for missing measurements after the budget of a run was spent; cusparse.py uses the same text.
NO_TIME = "no time was left"


def of(lines, op):
    return [line for line in lines if line.get("op") == op]


def cases(lines):
    """Names in order of first occurrence."""
    return list(dict.fromkeys(line["case"] for line in lines if "case" in line))


def find(lines, **what):
    """The last line with all these fields; an empty one if there is none."""
    return next((line for line in reversed(lines) if all(line.get(k) == v for k, v in what.items())), {})


def good(line, key="ms"):
    """A number that may be compared: from a line that did not fail and has a correct result."""
    value = line.get(key)
    return value if value and "failed" not in line and line.get("right") is not False else None


def ratio(theirs, ours):
    return theirs / ours if theirs and ours else None


def mean(ratios):
    """Geometric mean of the values present."""
    logs = [math.log(r) for r in ratios if r]
    return f"**{math.exp(sum(logs) / len(logs)):.2f}**" if logs else NONE


def number(x, digits=3):
    """This many significant digits, no exponent: 0.0123, 1.23, 123, 12345."""
    if x is None:
        return NONE
    if x == 0:
        return "0"
    return f"{x:.{max(0, digits - 1 - math.floor(math.log10(abs(x))))}f}"


def times(x):
    return NONE if x is None else f"{x:.2f}"


def cell(line, key="ms"):
    """A number, or in a word why there is none."""
    if not line:
        return NONE
    if "failed" in line:
        return next((short for short in ("out of memory", NO_TIME) if short in line["failed"]), "failed")
    if line.get("right") is False:
        return "wrong"
    return number(line.get(key))


def markdown(header, rows):
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return [line(header), "| " + " | ".join("---" for _ in header) + " |", *map(line, rows)]


def settled(lines):
    """The lines; a product whose number of entries differs from ours is marked wrong, whatever its sums."""
    entries = {line["case"]: line["nnzC"] for line in of(lines, "spgemm") if line.get("lib") == "sparring" and "nnzC" in line}
    differs = lambda line: line.get("op") == "spgemm" and line.get("nnzC") not in (None, entries.get(line["case"], line.get("nnzC")))
    return [dict(line, right=False) if differs(line) else line for line in lines]


class Products:
    """One case of A·A: our line, theirs by variant, and derived figures."""

    def __init__(self, lines, case, device):
        self.case = case
        mine = of(lines, "spgemm")
        self.ours = find(mine, case=case, lib="sparring")
        self.theirs = {v: find(mine, case=case, lib="cusparse", variant=v) for v in (*WHOLE, "reuse numeric", "reuse symbolic")}
        flops = self.ours.get("flops") or self.theirs["ALG1"].get("flops")
        known = SPECK.get(case) if SPECK_DEVICE in device else None
        self.speck = flops / known / 1e6 if flops and known else None
        rivals = {v: good(self.theirs[v]) for v in WHOLE} | {"spECK": self.speck}
        rivals = {name: ms for name, ms in rivals.items() if ms}
        self.best = min(rivals, key=rivals.get, default=None)
        self.best_ms = rivals.get(self.best)
        self.whole = ratio(self.best_ms, good(self.ours, "full_ms"))
        self.numeric = ratio(good(self.theirs["reuse numeric"]), good(self.ours, "numeric_into_ms"))

    def rival(self):
        if self.best is None:
            return cell(self.theirs["ALG1"])
        name = self.best if self.best == "spECK" else "cuSPARSE " + self.best
        return f"{number(self.best_ms)} ({name})"

    def extra(self):
        """Megabytes besides A and C: ours, and those of cuSPARSE's first algorithm."""
        first = good(self.theirs["ALG1"], "workspace_bytes")
        return f"{number(self.ours.get('extra_mb'))} / {number(first / 1e6 if first else None)}"

    def over_floor(self, key):
        return times(ratio(good(self.ours, key), self.ours.get("floor_ms")))


def products(lines, device):
    lines = settled(lines)
    return [Products(lines, case, device) for case in cases(of(lines, "spgemm"))]


def product_table(rows):
    header = ["A·A, f64", "ours: whole / plan / values into, ms", "GFLOP/s: whole / values", "cuSPARSE ALG1 / 2 / 3, ms",
              "spECK, ms", "**whole: the better of these / ours**", "SpGEMMreuse: values / structure, ms", "**values: SpGEMMreuse / ours**",
              "beside A and C, MB: ours / ALG1", "ours over the floor: whole / values"]
    out = []
    for r in rows:
        join = lambda cells: " / ".join(cells)
        out.append([
            r.case, join(cell(r.ours, k) for k in ("full_ms", "plan_ms", "numeric_into_ms")),
            join(cell(r.ours, k) for k in ("gflops", "numeric_gflops")), join(cell(r.theirs[v]) for v in WHOLE), number(r.speck),
            f"{times(r.whole)} ({r.best})" if r.whole else NONE, join(cell(r.theirs[v]) for v in ("reuse numeric", "reuse symbolic")),
            times(r.numeric), r.extra(), join(r.over_floor(k) for k in ("full_ms", "numeric_into_ms"))])
    out.append(["geometric mean", "", "", "", "", mean(r.whole for r in rows), "", mean(r.numeric for r in rows), "", ""])
    return markdown(header, out)


def spmv(lines, case, dtype):
    """Our line of y = A·x, theirs, and the ratio."""
    found = [find(of(lines, "spmv"), case=case, lib=lib, dtype=dtype) for lib in ("sparring", "cusparse")]
    return *found, ratio(good(found[1]), good(found[0]))


def spmv_table(lines):
    header, out, ratios = ["y = A·x, caches cold"], [], {"f64": [], "f32": []}
    for dtype in ratios:
        header += [f"{dtype}: ours / cuSPARSE, µs", "GB/s", "**cuSPARSE / ours**"]
    for case in cases(of(lines, "spmv")):
        row = [case]
        for dtype, all_ in ratios.items():
            ours, theirs, r = spmv(lines, case, dtype)
            micro = lambda line: cell(dict(line, ms=line["ms"] * 1e3) if line.get("ms") else line)
            row += [f"{micro(ours)} / {micro(theirs)}", f"{cell(ours, 'gbs')} / {cell(theirs, 'gbs')}", times(r)]
            all_.append(r)
        out.append(row)
    out.append(["geometric mean", *(x for all_ in ratios.values() for x in ("", "", mean(all_)))])
    return markdown(header, out)


def other_rings(rows):
    """Values over other semirings: time relative to plus-times of f64 of the same run."""
    relative = lambda r, key: ratio(good(r.ours, key), good(r.ours, "numeric_into_ms"))
    out = [[r.case, *(times(relative(r, key)) for key in OTHERS.values())] for r in rows]
    out.append(["geometric mean", *(mean(relative(r, key) for r in rows) for key in OTHERS.values())])
    return markdown(["values over another semiring / over plus-times f64", *OTHERS], out)


def triangles(lines, cpu):
    """Name, our milliseconds on the GPU, those on the CPU and their ratio; counts must agree."""
    out = []
    for line in of(lines, "triangles"):
        there = [x for x in cpu if x.get("op") == "triangles" and x.get("peer") == "sparring"
                 and x.get("case") == ON_CPU.get(line.get("case"), line.get("case"))]
        ms = sorted(x["ms"] for x in there)[len(there) // 2] if there else None
        if any(x.get("triangles", line.get("count")) != line.get("count") for x in there):
            line = dict(line, right=False)
        out.append((line, ms, ratio(ms, good(line, "wall_ms"))))
    return out


def triangle_table(rows, threads):
    out = [[line.get("case", NONE), cell(line, "wall_ms"), number(ms), times(r)] for line, ms, r in rows]
    out.append(["geometric mean", "", "", mean(r for _, _, r in rows)])
    return markdown(["triangles", "GPU, ms", f"our own CPU, {threads} threads, ms", "**CPU / GPU**"], out)


def first_use_table(lines):
    keys = ["new_ms", "plan_ms", "numeric_ms", "programs_ms", "bar_ms", "total_ms"]
    out = [[line.get("from", NONE), *(cell(line, k) for k in keys)] for line in of(lines, "first_use")]
    return markdown(["first product over one's own semiring, ms", "`Cuda::new`", "first plan", "first values",
                     "of it compiling and loading", "wanted below", "until the result is on the host"], out)


def wrong(lines):
    """Wrong results and failures of our runs; running out of time is neither."""
    fails = lambda line: line.get("lib") == "sparring" and line.get("failed", NO_TIME) != NO_TIME
    bad = [line for line in settled(lines) if line.get("right") is False or fails(line)]
    return [" ".join(str(line[k]) for k in ("lib", "op", "case", "variant", "dtype", "from", "failed") if k in line) for line in bad]


def origin(run):
    return (f"{run['date']}, {run['device']}; sparring at {run['commit']}, cuSPARSE {run['cusparse']}, driver for CUDA "
            f"{run['cuda_of_driver'] // 1000}.{run['cuda_of_driver'] % 1000 // 10}. Double precision, on the device already, products "
            "medians of seven after warming up, memory taken from a warm pool; ours and theirs one after the other on the same bits, all "
            "results checked. A ratio is the other's time over ours. spECK's figures were measured on an H200 in another run.")


def report(lines, cpu, threads):
    """All tables. `cpu` is a run of compare.py with this many threads, or no lines."""
    run, rows, parts = lines[0], products(lines, lines[0]["device"]), []
    if rows:
        parts += [*product_table(rows), ""]
        if any(key in r.ours for r in rows for key in OTHERS.values()):
            parts += [*other_rings(rows), ""]
    if of(lines, "spmv"):
        parts += [*spmv_table(lines), ""]
    counted = triangles(lines, cpu)
    if counted:
        parts += [*triangle_table(counted, threads), ""]
    if of(lines, "first_use"):
        parts += [*first_use_table(lines), ""]
    parts += [origin(run), "The floor is A read twice and C written once at 4.0 TB/s, what a copy reaches on an H200.",
              f"Made by `{run['command']}`."]
    bad = wrong(lines)
    return "\n".join(parts + [f"Not right: {x}" for x in bad]) + "\n"


def self_test():
    """A made-up run: a case that we win, one that we lose, one where they fail, with figures worked out by hand."""
    head = {"date": "2026-01-02", "device": "NVIDIA H200", "commit": "abc", "cusparse": "12.6.3", "cuda_of_driver": 13000,
            "command": "gpu.py", "saved": "x"}
    ours = {"op": "spgemm", "lib": "sparring", "right": True, "flops": 41.8e6, "nnzC": 10, "plan_ms": 0.5, "numeric_into_ms": 0.25,
            "gflops": 41.8, "numeric_gflops": 167.2, "floor_ms": 0.125, "extra_mb": 1.5, "min_plus_ms": 0.5, "f32_ms": 0.2}
    theirs = {"op": "spgemm", "lib": "cusparse", "right": True, "nnzC": 10}
    vector = {"op": "spmv", "right": True, "gbs": 1000.0}
    lines = [
        head, dict(ours, case="rmat14", full_ms=1.0),
        dict(theirs, case="rmat14", variant="ALG1", ms=4.0, workspace_bytes=2_000_000),
        dict(theirs, case="rmat14", variant="ALG2", ms=0.001, nnzC=9),
        dict(theirs, case="rmat14", variant="ALG3", ms=0.001, right=False),
        dict(theirs, case="rmat14", variant="reuse numeric", ms=0.5),
        dict(ours, case="er19", full_ms=8.0),
        dict(theirs, case="er19", variant="ALG1", ms=4.0, workspace_bytes=3_000_000),
        {"op": "spgemm", "lib": "cusparse", "case": "er19", "variant": "reuse numeric", "failed": "out of memory: 9 bytes"},
        {"op": "spgemm", "lib": "sparring", "case": "er20", "failed": "ended with 3"},
        dict(vector, case="rmat14", lib="sparring", dtype="f64", ms=0.01), dict(vector, case="rmat14", lib="cusparse", dtype="f64", ms=0.015),
        {"op": "triangles", "lib": "sparring", "case": "cnr-2000", "count": 7, "wall_ms": 2.0},
        {"op": "triangles", "lib": "sparring", "case": "tc_rmat16", "count": 7, "wall_ms": 2.0},
        {"op": "triangles", "lib": "sparring", "failed": "printed nothing"},
        {"op": "first_use", "lib": "sparring", "from": "empty folder", "new_ms": 100.0, "programs_ms": 200.0, "right": True},
    ]
    cpu = [{"op": "triangles", "peer": "sparring", "case": "data/cnr-2000.mtx.gz", "ms": ms, "triangles": 7} for ms in (9.0, 8.0, 1.0)]
    cpu.append({"op": "triangles", "peer": "sparring", "case": "tc_rmat16", "ms": 4.0, "triangles": 8})
    won, lost, broken = products(lines, "NVIDIA H200")
    assert won.best == "spECK" and abs(won.best_ms - 2.0) < 1e-12, (won.best, won.best_ms)
    assert (round(won.whole, 9), won.numeric) == (2.0, 2.0), "neither a wrong result nor another number of entries is a rival"
    assert (lost.best, lost.whole, lost.numeric) == ("ALG1", 0.5, None), "no spECK figure for er19; the loss stays"
    assert (broken.whole, cell(broken.ours)) == (None, "failed")
    assert products(lines, "NVIDIA H100")[0].best == "ALG1", "spECK's figures are an H200's"
    text = report(lines, cpu, 2)
    expected = [
        "| rmat14 | 1.00 / 0.500 / 0.250 | 41.8 / 167 | 4.00 / wrong / wrong | 2.00 | 2.00 (spECK) | 0.500 / – | 2.00 | 1.50 / 2.00 | 8.00 / 2.00 |",
        "| er19 | 8.00 / 0.500 / 0.250 | 41.8 / 167 | 4.00 / – / – | – | 0.50 (ALG1) | out of memory / – | – | 1.50 / 3.00 | 64.00 / 2.00 |",
        "| er20 | failed / failed / failed | failed / failed | – / – / – | – | – | – / – | – | – / – | – / – |",
        "| geometric mean |  |  |  |  | **1.00** |  | **2.00** |  |  |",
        "| rmat14 | 2.00 | – | – | 0.80 |", "| rmat14 | 10.0 / 15.0 | 1000 / 1000 | 1.50 | – / – | – / – | – |",
        "| cnr-2000 | 2.00 | 8.00 | 4.00 |", "| tc_rmat16 | wrong | 4.00 | – |", "| – | failed | – | – |", "| empty folder | 100 | – | – | 200 | – | – |",
        "Not right: sparring spgemm er20 ended with 3",
        "Not right: cusparse spgemm rmat14 ALG2", "driver for CUDA 13.0.",
    ]
    for line in expected:
        assert line in text.splitlines() or (not line.startswith("|") and line in text), f"{line}\nis not in\n{text}"
    assert report([head], [], 2).startswith("2026-01-02"), "a run in which nothing was measured"
    assert [number(x) for x in (0.01234, 1.0, 123.4, 12345.6, 0, None)] == ["0.0123", "1.00", "123", "12346", "0", NONE]


if __name__ == "__main__":
    self_test()
    print("gpu_tables: ok")
