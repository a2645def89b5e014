#!/usr/bin/env python3
"""One-off A·A through every interface: typed Rust API, run-time API, C library and program, alternating in one run.

    cargo build --release -p sparring-cli -p sparring-capi
    python3 benches/compare/doors.py [--threads 2] [--rounds 3] [--cases rmat14,FILE.mtx.gz]

All interfaces call the same kernels, so minima should agree within a few percent. The typed and run-time APIs run in one process
(`sparring bench doors`), the program and the C library in one each. C has no masks. Prints a Markdown table: milliseconds of the
typed API, and the ratio other / typed of the others (above 1 is slower); the last column is the product in two phases.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import time

import vocabulary

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# SPARRING_F64
F64 = 11
WHAT = [("", []), ("unsorted", ["--unsorted"]), ("masked", ["--mask"])]


class Options(ctypes.Structure):
    """SparringOptions."""
    _fields_ = [(name, ctypes.c_uint32) for name in ("policy", "accumulator", "compress", "unsorted")]


def by_c(args, case, what):
    """The minimum time of sparring_mxm in this process, in ms."""
    library = ctypes.CDLL(os.path.abspath(args.library))
    library.sparring_last_error.restype = ctypes.c_char_p
    pointer = ctypes.c_void_p

    def call(name, *values):
        if getattr(library, name)(*values) != 0:
            sys.exit(f"{name}: {library.sparring_last_error().decode()}")

    device, a = pointer(), pointer()
    call("sparring_device_new", b"cpu", ctypes.c_uint32(args.threads), ctypes.c_uint64(0), ctypes.byref(device))
    call("sparring_matrix_read", device, ctypes.c_uint32(F64), os.fsencode(case), ctypes.byref(a))
    options = Options(unsorted=int(what == "unsorted"))
    times = []
    for _ in range(args.repeat + 1):
        c, at = pointer(), time.perf_counter()
        call("sparring_mxm", device, b"plus_times", a, a, ctypes.byref(options), ctypes.byref(c))
        times.append(time.perf_counter() - at)
        call("sparring_matrix_free", c)
    return 1e3 * min(times[1:])


def lines(args, *command):
    """The program's JSON output."""
    out = subprocess.run([args.binary, *command, "--json", "--threads", str(args.threads)], check=True, stdout=subprocess.PIPE)
    return [vocabulary.line(line) for line in out.stdout.splitlines()]


def measure(args, case):
    """Milliseconds by (kind, interface), minimum over all rounds."""
    found = {}

    def put(what, door, ms):
        found[what, door] = min(ms, found.get((what, door), ms))

    for _ in range(args.rounds):
        by_rust = [line for line in lines(args, "bench", "doors", "--case", case, "--repeat", str(args.repeat)) if line.get("op") == "doors"][0]
        for what, flags in WHAT:
            prefix = what and what + "_"
            for door in ("", "named_", "phases_"):
                put(what, door, by_rust[f"{door}{prefix}ms_min"])
            flags = [*flags, case] if what == "masked" else flags
            put(what, "program", lines(args, "mxm", case, case, *flags, "--type", "f64", "--repeat", str(args.repeat + 1))[-1]["ms_min"])
            if what != "masked":
                worker = [sys.executable, os.path.abspath(__file__), "--worker", what or "sorted", "--cases", case, "--threads", str(args.threads)]
                out = subprocess.run([*worker, "--repeat", str(args.repeat), "--library", args.library], check=True, stdout=subprocess.PIPE)
                put(what, "C", float(out.stdout))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(f"data/{name}.mtx.gz" for name in ("cnr-2000", "email-Enron", "bcsstk16")), help="files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--binary", default=os.path.join(TOP, "target", "release", "sparring"))
    parser.add_argument("--library", default=os.path.join(TOP, "target", "release", "libsparring.so"))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return print(by_c(args, args.cases, args.worker))
    print("| A·A | | types, ms | names | C | program | two phases |\n|---|---|---:|---:|---:|---:|---:|")
    for case in args.cases.split(","):
        found = measure(args, case)
        for what, _ in WHAT:
            typed = found[what, ""]
            ratios = [found.get((what, door)) for door in ("named_", "C", "program", "phases_")]
            cells = " | ".join(f"{ms / typed:.2f}" if ms else "" for ms in ratios)
            print(f"| {os.path.basename(case).split('.')[0]} | {what or 'sorted'} | {typed:.2f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
