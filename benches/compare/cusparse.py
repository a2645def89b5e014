"""cuSPARSE on one matrix: products A·A and y = A·x, a JSON line per measurement. Needs numpy and CuPy.

    python3 benches/compare/cusparse.py FILE --case NAME [--seconds 100]
    python3 benches/compare/cusparse.py --about              # the device and the versions, one line

gpu.py starts one such process per case, so that a failure costs that case alone. Within a case, a failure is a line
with `failed`, and the rest continues. FILE is written by `gpu_spgemm --dump`; its format is documented in
benches/gpu_spgemm.rs.

The library is called through ctypes, following the steps of its manual. CuPy only provides events and memory, from a
warm pool like ours. A time is measured by events around the whole call on an idle device, including descriptors,
workspace and the arrays of the result. Figures are medians of seven runs, after one checked run and one more warm-up.
Every result is checked: uᵀ·C·v against uᵀ·(A·(A·v)) computed on the host, or the sum of y against the host's.
`workspace_bytes` is the workspace requested from the caller, at its peak; internal allocations are not included.
"""
import argparse
import contextlib
import ctypes
import glob
import json
import math
import os
import statistics
import sys
import time

import cupy as cp
import numpy as np

ROUNDS = 7
# Constants of the cuSPARSE and CUDA headers.
NO_TRANSPOSE, INDEX_32, BASE_0 = 0, 2, 0
TYPE_OF = {"f64": (np.float64, ctypes.c_double, 1), "f32": (np.float32, ctypes.c_float, 0)}
PRODUCTS = {"ALG1": 3, "ALG2": 4, "ALG3": 5}
PRODUCT_DEFAULT, SPMV_ALG1 = 0, 2
OUT_OF_MEMORY = 2, 11
# Fraction of the products that ALG3 computes at a time. The manual states no default; this is the value of its example.
CHUNK = 0.2
# Relative tolerance of checksums.
NEAR = {"f64": 1e-9, "f32": 1e-4}
# Number of entries that a check processes at once.
SLICE = 1 << 26


class Csr:
    """The matrix of a file, on the host and on the device."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.nrows, self.ncols, self.nnz = (int(n) for n in np.fromfile(f, np.int64, 3))
            arrays = [np.fromfile(f, t, n) for t, n in (
                (np.int32, self.nrows + 1), (np.int32, self.nnz), (np.float64, self.nnz))]
        if len(arrays[2]) != self.nnz:
            raise SystemExit(f"{path} ends early")
        self.host = arrays
        self.row_ptr, self.col_idx, self.values = (cp.asarray(x) for x in arrays)

    def times(self, x, dtype=np.float64):
        """A·x on the host, in double precision from values of the given type."""
        row_ptr, col_idx, values = self.host
        rows = np.repeat(np.arange(self.nrows), np.diff(row_ptr))
        return np.bincount(rows, values.astype(dtype).astype(np.float64) * x[col_idx], self.nrows)

    def flops(self):
        """Twice the number of multiplications of A·A."""
        row_ptr, col_idx, _ = self.host
        return 2 * int(np.diff(row_ptr).astype(np.int64)[col_idx].sum())


def weights(n, salt):
    """n integers from 1 to 16, by Fibonacci hashing."""
    with np.errstate(over="ignore"):
        x = (np.arange(n, dtype=np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    return 1.0 + (x >> np.uint64(60)).astype(np.float64)


def weighted_sum(c, u, v):
    """uᵀ·C·v on the device, in slices, and whether the columns increase in every row."""
    row_ptr, col_idx, values = c
    nnz, u, v = len(values), cp.asarray(u), cp.asarray(v)
    total, increasing = 0.0, True
    for begin in range(0, nnz, SLICE):
        end = min(begin + SLICE, nnz)
        at = cp.arange(begin, end)
        rows = cp.searchsorted(row_ptr, at, side="right") - 1
        total += float((values[begin:end] * u[rows] * v[col_idx[begin:end]]).sum())
        before = col_idx[cp.maximum(at - 1, 0)]
        increasing &= bool(((col_idx[begin:end] > before) | (row_ptr[rows] == at)).all())
    return total, increasing


class Failed(Exception):
    """A call with a status other than success."""


class Library:
    """libcusparse: functions by name, with their status checked."""

    def __init__(self):
        self.lib = ctypes.CDLL(self.path())
        self.lib.cusparseGetErrorString.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self("Create", ctypes.byref(self.handle))
        parts = [ctypes.c_int() for _ in range(3)]
        for i, part in enumerate(parts):
            self("GetProperty", i, ctypes.byref(part))
        self.version = ".".join(str(part.value) for part in parts)

    @staticmethod
    def path():
        """The library opened by CuPy, else the installed one."""
        import cupyx.cusparse  # noqa: F401, for the library that it opens

        with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8") as f:
            for line in f:
                if "libcusparse.so" in line:
                    return line.split(maxsplit=5)[5].strip()
        patterns = [os.path.join(folder, "nvidia", "*", "lib", "libcusparse.so*") for folder in sys.path]
        patterns.append("/usr/local/cuda*/lib64/libcusparse.so.*")
        found = [path for pattern in patterns for path in sorted(glob.glob(pattern))]
        return found[0] if found else "libcusparse.so.12"

    def __call__(self, name, *arguments):
        status = getattr(self.lib, "cusparse" + name)(*arguments)
        if status != 0:
            why = "out of memory: " if status in OUT_OF_MEMORY else ""
            raise Failed(f"{why}cusparse{name}: {self.lib.cusparseGetErrorString(status).decode()}")

    def sized(self, name, arguments):
        """Calls a function for its workspace size, then with that workspace, which it returns."""
        size = ctypes.c_size_t()
        self(name, *arguments, ctypes.byref(size), None)
        buffer = bytes_of(size)
        self(name, *arguments, ctypes.byref(size), at(buffer))
        return buffer

    @contextlib.contextmanager
    def csr(self, shape, row_ptr, col_idx, values, dtype):
        made = ctypes.c_void_p()
        nnz = 0 if values is None else len(values)
        sizes = (ctypes.c_int64(n) for n in (*shape, nnz))
        self("CreateCsr", ctypes.byref(made), *sizes, at(row_ptr), at(col_idx), at(values),
             INDEX_32, INDEX_32, BASE_0, TYPE_OF[dtype][2])
        try:
            yield made
        finally:
            self("DestroySpMat", made)

    @contextlib.contextmanager
    def vector(self, x, dtype):
        made = ctypes.c_void_p()
        self("CreateDnVec", ctypes.byref(made), ctypes.c_int64(len(x)), at(x), TYPE_OF[dtype][2])
        try:
            yield made
        finally:
            self("DestroyDnVec", made)

    @contextlib.contextmanager
    def product(self):
        made = ctypes.c_void_p()
        self("SpGEMM_createDescr", ctypes.byref(made))
        try:
            yield made
        finally:
            self("SpGEMM_destroyDescr", made)

    def entries(self, matrix):
        sizes = [ctypes.c_int64() for _ in range(3)]
        self("SpMatGetSize", matrix, *(ctypes.byref(n) for n in sizes))
        return sizes[2].value


def at(array):
    return None if array is None else ctypes.c_void_p(array.data.ptr)


def bytes_of(size):
    # A null pointer would query the size again.
    return cp.empty(max(1, size.value), cp.uint8)


class Product:
    """Descriptors of C = A·A for one call, and the arrays of C once allocated."""

    def __init__(self, library, a):
        self.library, self.stack = library, contextlib.ExitStack()
        made = self.stack.enter_context
        try:
            shape, self.row_ptr = (a.nrows, a.ncols), cp.empty(a.nrows + 1, cp.int32)
            self.a, self.b = (
                made(library.csr(shape, a.row_ptr, a.col_idx, a.values, "f64")) for _ in range(2))
            self.c = made(library.csr(shape, self.row_ptr, None, None, "f64"))
            self.descriptor = made(library.product())
        except BaseException:
            self.stack.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def take_arrays(self):
        nnz = self.library.entries(self.c)
        self.col_idx, self.values = cp.empty(nnz, cp.int32), cp.empty(nnz, cp.float64)
        self.library("CsrSetPointers", self.c, at(self.row_ptr), at(self.col_idx), at(self.values))

    def arrays(self):
        return self.row_ptr, self.col_idx, self.values


ONE, ZERO = ctypes.c_double(1.0), ctypes.c_double(0.0)


def whole(library, a, algorithm):
    """C = A·A from scratch, and the bytes of workspace."""
    with Product(library, a) as p:
        arguments = (library.handle, NO_TRANSPOSE, NO_TRANSPOSE, ctypes.byref(ONE), p.a, p.b, ctypes.byref(ZERO), p.c,
                     TYPE_OF["f64"][2], PRODUCTS[algorithm], p.descriptor)
        first = library.sized("SpGEMM_workEstimation", arguments)
        estimate = 0
        if algorithm == "ALG1":
            second = library.sized("SpGEMM_compute", arguments)
        else:
            size, size_of_estimate = ctypes.c_size_t(), ctypes.c_size_t()
            asked = (ctypes.c_float(CHUNK), ctypes.byref(size_of_estimate))
            library("SpGEMM_estimateMemory", *arguments, *asked, None, None)
            buffer = bytes_of(size_of_estimate)
            estimate = buffer.nbytes
            library("SpGEMM_estimateMemory", *arguments, *asked, at(buffer), ctypes.byref(size))
            del buffer
            second = bytes_of(size)
            library("SpGEMM_compute", *arguments, ctypes.byref(size), at(second))
        p.take_arrays()
        library("SpGEMM_copy", *arguments)
        return p.arrays(), first.nbytes + max(estimate, second.nbytes)


class Reuse(Product):
    """C = A·A by SpGEMMreuse: the structure once, here; values as often as needed."""

    def __init__(self, library, a):
        super().__init__(library, a)
        try:
            self.find_structure()
        except BaseException:
            self.stack.close()
            raise

    def find_structure(self):
        library = self.library
        arguments = (library.handle, NO_TRANSPOSE, NO_TRANSPOSE, self.a, self.b, self.c, PRODUCT_DEFAULT, self.descriptor)
        first = library.sized("SpGEMMreuse_workEstimation", arguments)
        sizes = [ctypes.c_size_t() for _ in range(3)]
        library("SpGEMMreuse_nnz", *arguments, *(x for size in sizes for x in (ctypes.byref(size), None)))
        buffers = [bytes_of(size) for size in sizes]
        library("SpGEMMreuse_nnz", *arguments,
                *(x for size, buffer in zip(sizes, buffers) for x in (ctypes.byref(size), at(buffer))))
        self.take_arrays()
        last = library.sized("SpGEMMreuse_copy", arguments)
        # All buffers are kept until the descriptor is destroyed; by the manual, the numeric phase needs only the last
        # two.
        self.buffers = [first, *buffers, last]
        self.workspace, self.kept = sum(b.nbytes for b in self.buffers), buffers[2].nbytes + last.nbytes

    def values_again(self):
        self.library("SpGEMMreuse_compute", self.library.handle, NO_TRANSPOSE, NO_TRANSPOSE, ctypes.byref(ONE), self.a, self.b,
                     ctypes.byref(ZERO), self.c, TYPE_OF["f64"][2], PRODUCT_DEFAULT, self.descriptor)


def timed(work, rounds=ROUNDS, warm=1):
    """Median and minimum milliseconds of `work` by events, starting on an idle device."""
    times = []
    for r in range(warm + rounds):
        cp.cuda.runtime.deviceSynchronize()
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        result = work()
        end.record()
        end.synchronize()
        del result
        if r >= warm:
            times.append(cp.cuda.get_elapsed_time(start, end))
    return {"ms": statistics.median(times), "min_ms": min(times)}


def agreement(found, want, dtype):
    error = abs(found - want) / abs(want)
    return {"error": error if math.isfinite(error) else None, "right": error <= NEAR[dtype]}


class Measuring:
    """One case: the requested measurements in order, each as a line."""

    def __init__(self, library, a, case, until):
        self.library, self.a, self.case, self.until = library, a, case, until
        self.u, self.v = weights(a.nrows, 1), weights(a.ncols, 1 << 32)
        self.expected = float(self.u @ a.times(a.times(self.v)))
        self.flops = a.flops()

    def line(self, op, variant, measure, **about):
        """Prints the result of `measure`, or why there is none."""
        about = {"op": op, "case": self.case, "lib": "cusparse", "variant": variant, "version": self.library.version, **about}
        try:
            if time.monotonic() > self.until:
                raise Failed("no time was left")
            about.update(measure())
        # A failure must not cost the other measurements, so any exception is recorded.
        except Exception as e:
            what = "out of memory: " if isinstance(e, cp.cuda.memory.OutOfMemoryError) else ""
            about["failed"] = f"{what}{e}"[:300]
        print(json.dumps(about), flush=True)
        cp.get_default_memory_pool().free_all_blocks()

    def checked(self, c):
        total, increasing = weighted_sum(c, self.u, self.v)
        return {"nnzC": len(c[2]), "flops": self.flops, "sorted": increasing, **agreement(total, self.expected, "f64")}

    def product(self, algorithm):
        c, workspace = whole(self.library, self.a, algorithm)
        found = {"workspace_bytes": workspace, **self.checked(c)}
        del c
        return {**found, **timed(lambda: whole(self.library, self.a, algorithm))}

    def numeric(self):
        with Reuse(self.library, self.a) as p:
            p.values_again()
            found = {"workspace_bytes": p.workspace, "kept_bytes": p.kept, **self.checked(p.arrays())}
            return {**found, **timed(p.values_again)}

    def symbolic(self):
        def structure():
            with Reuse(self.library, self.a):
                pass

        return timed(structure)

    def spmv(self, dtype):
        """y = A·x over copies that exceed the L2 cache, with the same parameters as benches/gpu_spmv.rs."""
        a, library, (kind, scalar, code) = self.a, self.library, TYPE_OF[dtype]
        size = np.dtype(kind).itemsize
        moved = a.nnz * (4 + size) + 4 * (a.nrows + 1) + size * (a.nrows + a.ncols)
        copies = min(256_000_000 // moved + 2, 12)
        inner = 1 + 30_000_000 // (moved * copies)
        x = np.arange(a.ncols) % 97 / 97 + 0.5
        one, zero = scalar(1.0), scalar(0.0)
        with contextlib.ExitStack() as stack:
            calls = []
            for _ in range(copies):
                arrays = a.row_ptr.copy(), a.col_idx.copy(), a.values.astype(kind)
                here, y = cp.asarray(x.astype(kind)), cp.zeros(a.nrows, kind)
                matrix = stack.enter_context(library.csr((a.nrows, a.ncols), *arrays, dtype))
                vectors = [stack.enter_context(library.vector(v, dtype)) for v in (here, y)]
                arguments = (library.handle, NO_TRANSPOSE, ctypes.byref(one), matrix, vectors[0], ctypes.byref(zero), vectors[1],
                             code, SPMV_ALG1)
                needed = ctypes.c_size_t()
                library("SpMV_bufferSize", *arguments, ctypes.byref(needed))
                buffer = bytes_of(needed)
                # New in CUDA 12.4; it analyzes the matrix once, outside the measured time.
                if hasattr(library.lib, "cusparseSpMV_preprocess"):
                    library("SpMV_preprocess", *arguments, at(buffer))
                calls.append(((*arguments, at(buffer)), (arrays, here, y, buffer)))

            def rounds():
                for _ in range(inner):
                    for arguments, _ in calls:
                        library("SpMV", *arguments)

            times = timed(rounds, rounds=20, warm=2)
            found = float(calls[-1][1][2].astype(cp.float64).sum())
        want = float(self.a.times(x.astype(kind).astype(np.float64), kind).sum())
        ms, least = (times[k] / (inner * copies) for k in ("ms", "min_ms"))
        return {"ms": ms, "min_ms": least, "copies": copies, "bytes": moved, "gbs": moved / ms / 1e6,
                **agreement(found, want, dtype)}


def about(library):
    properties = cp.cuda.runtime.getDeviceProperties(0)
    return {"device": properties["name"].decode(), "device_bytes": properties["totalGlobalMem"],
            "cuda_of_driver": cp.cuda.runtime.driverGetVersion(), "cusparse": library.version, "cupy": cp.__version__}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--case", default="?")
    parser.add_argument("--seconds", type=float, default=100.0, help="begin nothing more after so long")
    parser.add_argument("--about", action="store_true")
    args = parser.parse_args()
    until = time.monotonic() + args.seconds
    library = Library()
    if args.about or not args.file:
        print(json.dumps(about(library)))
        return
    case = Measuring(library, Csr(args.file), args.case, until)
    case.line("spgemm", "ALG1", lambda: case.product("ALG1"))
    case.line("spgemm", "reuse numeric", case.numeric)
    for dtype in TYPE_OF:
        case.line("spmv", "ALG1", lambda dtype=dtype: case.spmv(dtype), dtype=dtype)
    case.line("spgemm", "reuse symbolic", case.symbolic)
    for algorithm in ("ALG2", "ALG3"):
        case.line("spgemm", algorithm, lambda algorithm=algorithm: case.product(algorithm))


if __name__ == "__main__":
    main()
