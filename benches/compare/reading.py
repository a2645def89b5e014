"""Matrix Market test files, and fast_matrix_market as the reader to compare with.

    python reading.py FOLDER        python reading.py FOLDER        # writes the missing files

The files are typical of other programs: a web graph by columns, real values of a few digits by rows, of 17 digits by
columns, a symmetric pattern and symmetric integers.
"""
import gzip
import os
import shutil
import sys

import numpy as np

import cases

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def by_columns(a):
    return a.tocsc().tocoo()


def lower(a):
    import scipy.sparse as sp

    return by_columns(sp.tril(a).tocsr())


def integers(a):
    return a.astype(np.int64)


# By name: generator, field, symmetry.
MADE = {
    "lap2d_1000": (lambda: cases.load("lap2d_1000").tocoo(), "real", "general"),
    "er18d8": (lambda: by_columns(cases.load("er18d8")), "real", "general"),
    "tc_rmat17": (lambda: lower(cases.load("tc_rmat17")), "pattern", "symmetric"),
    "stencil27_60": (lambda: integers(lower(cases.load("stencil27_60"))), "integer", "symmetric"),
}
UNPACKED = {"cnr-2000": os.path.join(TOP, "data", "cnr-2000.mtx.gz")}


def write(path, a, field, symmetry):
    """Coordinates in their given order; real numbers in the shortest text that round-trips."""
    with open(path + ".part", "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{a.shape[0]} {a.shape[1]} {a.nnz}\n")
        places = zip((a.row + 1).tolist(), (a.col + 1).tolist())
        if field == "pattern":
            out.writelines(f"{i} {j}\n" for i, j in places)
        else:
            out.writelines(f"{i} {j} {x!r}\n" for (i, j), x in zip(places, a.data.tolist()))
    os.replace(path + ".part", path)


def make(folder):
    os.makedirs(folder, exist_ok=True)
    for name, packed in UNPACKED.items():
        path = os.path.join(folder, name + ".mtx")
        if not os.path.exists(path):
            with gzip.open(packed, "rb") as text, open(path + ".part", "wb") as out:
                shutil.copyfileobj(text, out)
            os.replace(path + ".part", path)
    for name, (matrix, field, symmetry) in MADE.items():
        path = os.path.join(folder, name + ".mtx")
        if not os.path.exists(path):
            write(path, matrix(), field, symmetry)


class FastMatrixMarket:
    """fast_matrix_market: `mmread` returns coordinates, symmetry expanded; SciPy's `tocsr` converts them to rows."""

    OPS = {"read": ["mmread, tocsr", "mmread"]}

    def __init__(self, threads):
        import importlib.metadata

        import fast_matrix_market as fmm

        fmm.PARALLELISM = threads
        self.fmm, self.version = fmm, importlib.metadata.version("fast_matrix_market")

    def open(self, path, op):
        self.path = path

    def run(self, variant, check):
        import time

        start = time.perf_counter()
        a = self.fmm.mmread(self.path)
        if variant != "mmread":
            a = a.tocsr()
        ms = (time.perf_counter() - start) * 1e3
        return ms, {"nnz": int(a.nnz), "sum": float(a.data.astype(np.float64).sum())} if check else None


if __name__ == "__main__":
    make(sys.argv[1])
