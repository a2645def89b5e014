#!/usr/bin/env python3
"""sparring on a GPU compared with cuSPARSE and spECK: same matrices, alternating in one run.

    scripts/gpu-bundle                                        # where Rust is; then carry target/gpu-bundle and benches/ over
    python3 benches/compare/gpu.py --bin target/gpu-bundle    # where the GPU is: numpy, CuPy, the driver and NVRTC; no Rust
        [--only rmat14,er18,triangles,first_use] [--budget 540] [--save [NAME]] [--into FOLDER]
    python3 benches/compare/gpu.py --tables FILE              # no GPU: all tables of a file of lines
    python3 benches/compare/gpu.py --self-test                # no GPU: the making of the tables

For each case in turn: our bench writes the matrix; then our products, cuSPARSE's products and matrix-vector products
(cusparse.py, a process per case, so that a failure costs only a row), and our matrix-vector products. Finally our
triangles, compared with our own CPU's figures of a saved run (--cpu), and the first product over a user-defined
semiring.
When the budget is spent, the remaining rows say so. Each result is checked. If one is wrong, or one of our runs failed
for another reason, the exit code is 1 after all output is written.

Every measurement is a JSON line; the first line states machine and date. They go to target/compare-gpu.jsonl, or with
--save to benches/results/NAME.jsonl (NAME: date and device), with the tables in NAME.md; --into names another folder.

Not run here: spECK. Its GFLOP/s on an H200 are constants of gpu_tables.py, with their source:
rmat14 20.9, rmat16 26.4, rmat18 14.8, er18 24.3, er20 30.7, st27_80 112, st27_100 111, lap2d_2000 31.7.
"""
import argparse
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

import gpu_tables
import vocabulary
from compare import HERE, RESULTS, TOP, read_lines

CASES = ["rmat14", "rmat16", "rmat18", "er18", "er19", "er20", "st27_80", "st27_100", "lap2d_2000"]
PARTS = ["triangles", "first_use"]
# Relative tolerance of sums in our matrix-vector products, as in cusparse.py.
NEAR = {"f64": 1e-9, "f32": 1e-4}
# Measurements of cuSPARSE in the tables: a process that ends early leaves rows that say so.
EXPECTED = [("spgemm", "ALG1", None), ("spgemm", "reuse numeric", None), ("spmv", "ALG1", "f64"), ("spmv", "ALG1", "f32")]
# A case does not start with less time left, because it generates a matrix twice.
SHORTEST = 15


class Run:
    """Runs programs one after the other until the time is spent; their output goes to `log`."""

    def __init__(self, folder, budget, log, scratch):
        self.folder, self.until, self.log, self.scratch = folder, time.monotonic() + budget, log, scratch
        # Programs compiled in this run are not shared with others: every first use compiles.
        self.environment = dict(os.environ, SPARRING_CACHE=os.path.join(scratch, "cache"))

    def left(self):
        return self.until - time.monotonic()

    def lines(self, command):
        """The JSON lines that a program prints, and the reason if it failed."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            try:
                if self.left() <= 0:
                    return [], gpu_tables.NO_TIME
                code = subprocess.run(command, stdout=out, stderr=err, timeout=self.left(), env=self.environment, cwd=TOP).returncode
                why = f"ended with {code}" if code else None
            except subprocess.TimeoutExpired:
                why = gpu_tables.NO_TIME
            except OSError as e:
                why = str(e)
            out.seek(0)
            err.seek(0)
            said = err.read().split("\n")
            if why and any(said):
                why += ": " + " ".join(said[-4:]).strip()[-300:]
            found = []
            for line in out:
                # A killed program leaves a partial line.
                try:
                    found.append(vocabulary.line(line))
                except ValueError:
                    print(line, end="", file=sys.stderr)
            return found, why

    def bench(self, name, *options):
        return [os.path.join(self.folder, "benches", name), *options]

    def ours(self, about, command, missing=({},)):
        """Runs one of our benches; `about` completes its lines, and a failure adds a line per name in `missing`."""
        found, why = self.lines(command)
        for line in found:
            named = {"case": line["name"]} if "name" in line else {}
            checked = {"right": line["error"] is not None and line["error"] <= NEAR[line["dtype"]]} if about["op"] == "spmv" else {}
            self.log({**line, **named, **checked, "lib": "sparring", **about})
        if why is None and not found:
            why = "printed nothing"
        if why:
            for absent in missing:
                if not any(all(line.get(k) == v for k, v in absent.items()) for line in found):
                    self.log({"lib": "sparring", **about, **absent, "failed": why})

    def theirs(self, case, file):
        command = [sys.executable, os.path.join(HERE, "cusparse.py"), file, "--case", case, "--seconds", f"{self.left() - 10:.0f}"]
        found, why = self.lines(command)
        for line in found:
            self.log(line)
        if why:
            seen = {(line["op"], line["variant"], line.get("dtype")) for line in found}
            for op, variant, dtype in EXPECTED:
                if (op, variant, dtype) not in seen:
                    self.log({"op": op, "case": case, "lib": "cusparse", "variant": variant, "dtype": dtype, "failed": why})

    def case(self, case):
        dtypes = [{"dtype": "f64"}, {"dtype": "f32"}]
        if self.left() < SHORTEST:
            for op, missing in (("spgemm", [{}]), ("spmv", dtypes)):
                for absent in missing:
                    self.log({"op": op, "case": case, "lib": "sparring", **absent, "failed": gpu_tables.NO_TIME})
            return
        file = os.path.join(self.scratch, case + ".csr")
        _, why = self.lines(self.bench("gpu_spgemm", "--dump", file, "--only", case))
        self.ours({"op": "spgemm", "case": case}, self.bench("gpu_spgemm", "--only", case, "--rings", "--check"))
        if why:
            self.log({"op": "spgemm", "case": case, "lib": "cusparse", "variant": "ALG1", "failed": f"there is no matrix: {why}"})
        else:
            self.theirs(case, file)
            os.remove(file)
        self.ours({"op": "spmv", "case": case}, self.bench("gpu_spmv", "--only", case), missing=dtypes)


def commit(folder):
    """The commit of the programs, from the bundle if it states one, else from this checkout."""
    try:
        with open(os.path.join(folder, "commit"), encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        pass
    try:
        found = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=TOP, capture_output=True, text=True)
        return found.stdout.strip() or "an unknown commit"
    except OSError:
        return "an unknown commit"


def about_here(folder):
    """The first line of a run: device, versions, date, command."""
    found = subprocess.run([sys.executable, os.path.join(HERE, "cusparse.py"), "--about"], capture_output=True, text=True)
    if found.returncode:
        raise SystemExit(f"no GPU, no CuPy or no cuSPARSE here:\n{found.stderr[-2000:]}")
    command = shlex.join(["benches/compare/gpu.py", *sys.argv[1:]])
    return {"date": datetime.date.today().isoformat(), **json.loads(found.stdout), "commit": commit(folder), "command": command}


def slug(run):
    return run["date"] + "-" + re.sub(r"[^a-z0-9]+", "-", run["device"].lower()).strip("-")


def on_cpu(name):
    """Our own CPU's lines and threads from a run of compare.py; nothing without such a file."""
    try:
        lines = read_lines(os.path.join(RESULTS, name + ".jsonl"))
        return lines, lines[0].get("threads", 0)
    except OSError:
        return [], 0


def measure(args, wanted):
    folder = os.path.abspath(args.bin)
    if not os.path.isfile(os.path.join(folder, "benches", "gpu_spgemm")):
        raise SystemExit(f"{folder}/benches/gpu_spgemm is not there; --bin wants the folder that scripts/gpu-bundle makes")
    head = about_here(folder)
    name = args.save or slug(head)
    into = os.path.abspath(args.into) if args.into else RESULTS if args.save is not None else os.path.join(TOP, "target")
    base = os.path.join(into, name if args.save is not None else "compare-gpu")
    if args.save is not None:
        head["saved"] = name
    os.makedirs(into, exist_ok=True)
    with open(base + ".jsonl", "w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as scratch:
        def log(entry):
            out.write(json.dumps(entry) + "\n")
            out.flush()

        log(head)
        run = Run(folder, args.budget, log, scratch)
        for case in CASES:
            if case in wanted:
                print(f"{case}, {run.left():.0f} s left", file=sys.stderr)
                run.case(case)
        if "first_use" in wanted:
            run.ours({"op": "first_use"}, run.bench("gpu_first_use"))
        if "triangles" in wanted:
            run.ours({"op": "triangles"}, run.bench("gpu_triangles"))
    return base


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", metavar="FOLDER", help="what scripts/gpu-bundle made")
    parser.add_argument("--only", metavar="LIST", help=f"of {','.join(CASES + PARTS)}")
    parser.add_argument("--budget", type=float, default=540.0, metavar="SECONDS")
    parser.add_argument("--save", nargs="?", const="", metavar="NAME", help="keep lines and tables as benches/results/NAME")
    parser.add_argument("--into", metavar="FOLDER", help="keep them there instead")
    parser.add_argument("--cpu", default="2026-11-21-two-threads", metavar="NAME", help="the CPU's run, for triangles")
    parser.add_argument("--tables", metavar="FILE")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    cpu = on_cpu(args.cpu)
    if args.self_test:
        gpu_tables.self_test()
        print("the tables are as worked out by hand")
        return 0
    if args.tables:
        print(gpu_tables.report(read_lines(args.tables), *cpu), end="")
        return 0
    wanted = args.only.split(",") if args.only else CASES + PARTS
    unknown = set(wanted) - set(CASES + PARTS)
    if unknown or not args.bin:
        parser.error(f"nothing is called {', '.join(sorted(unknown))}" if unknown else "--bin FOLDER is needed")
    base = measure(args, wanted)
    lines = read_lines(base + ".jsonl")
    text = gpu_tables.report(lines, *cpu)
    print(text, end="")
    with open(base + ".md", "w", encoding="utf-8") as out:
        out.write(text)
    return 1 if gpu_tables.wrong(lines) else 0


if __name__ == "__main__":
    sys.exit(main())
