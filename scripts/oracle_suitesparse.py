#!/usr/bin/env python3
"""Runs the oracle's cases through SuiteSparse:GraphBLAS by python-graphblas; the results should be equal.

    python3 -m venv target/graphblas && target/graphblas/bin/pip install python-graphblas
    cargo run -q -p sparring-oracle -- cases --seed 1 --count 20000 | target/graphblas/bin/python scripts/oracle_suitesparse.py
    cargo run -q -p sparring-oracle -- small --every 997 | target/graphblas/bin/python scripts/oracle_suitesparse.py

Prints how many cases of each operation ran, and which are skipped, and why; exit 1 if one differs. A case on which
SuiteSparse crashes ends the run; `split -l 1000` finds it. This checks the definitions of oracle/src/model.rs, and is
an example of driving a library by lines of JSON.
"""

import collections
import json
import math
import sys
import warnings

import graphblas as gb
import numpy as np
from graphblas import agg, binary, dtypes, indexunary, monoid, unary
from graphblas.core import operator

TYPES = {f"{kind}{bits}": getattr(dtypes, f"{name}{bits}") for kind, name in [("i", "INT"), ("u", "UINT")] for bits in (8, 16, 32, 64)}
TYPES |= {"bool": dtypes.BOOL, "f32": dtypes.FP32, "f64": dtypes.FP64, "complex_f32": dtypes.FC32, "complex_f64": dtypes.FC64}
# On bool, arithmetic operators become logical ones.
OF_BOOL = {"plus": "lor", "times": "land", "min": "land", "max": "lor", "minus": "lxor", "div": "first"}


# Positional operators and aggregators are SuiteSparse extensions, about which its front end warns each time.
warnings.simplefilter("ignore")


class Lacks(Exception):
    """An operation that SuiteSparse, or its front end, does not have."""


def value(x):
    """A JSON value as a Python value."""
    if isinstance(x, list):
        return complex(value(x[0]), value(x[1]))
    return float(x) if isinstance(x, str) else x


def scalar(x, dtype):
    """A JSON value as a scalar of this type."""
    return gb.Scalar.from_value(np.array(value(x), dtype=dtype.np_type)[()], dtype)


def same(x, y):
    """Whether two numbers are equal; NaN equals NaN."""
    if isinstance(x, complex) or isinstance(y, complex):
        x, y = complex(x), complex(y)
        return same(x.real, y.real) and same(x.imag, y.imag)
    if isinstance(x, float) and isinstance(y, float) and math.isnan(x) and math.isnan(y):
        return True
    return x == y


def make(table):
    """A matrix, a vector or a scalar."""
    dtype, (m, n), entries = TYPES[table["type"]], table["shape"], table["entries"]
    values = np.array([value(x) for _, _, x in entries], dtype=dtype.np_type)
    if table["kind"] == "scalar":
        return gb.Scalar.from_value(values[0], dtype) if len(values) else gb.Scalar(dtype)
    rows, cols = [np.array([e[k] for e in entries], dtype=np.uint64) for k in (0, 1)]
    if table["kind"] == "vector":
        return gb.Vector.from_coo(rows, values, dtype, size=m) if len(values) else gb.Vector(dtype, m)
    return gb.Matrix.from_coo(rows, cols, values, dtype, nrows=m, ncols=n) if len(values) else gb.Matrix(dtype, m, n)


def read(x):
    """The entries by index."""
    if isinstance(x, gb.Scalar):
        return {} if x.is_empty else {(0, 0): x.value}
    if isinstance(x, gb.Vector):
        rows, values = x.to_coo()
        return {(i, 0): v for i, v in zip(rows.tolist(), values.tolist())}
    rows, cols, values = x.to_coo()
    return {(i, j): v for i, j, v in zip(rows.tolist(), cols.tolist(), values.tolist())}


def typed(op, dtype):
    try:
        return op[dtype]
    except (KeyError, TypeError) as e:
        raise Lacks(f"no {op} of {dtype}") from e


def binary_of(name, dtype):
    if dtype == dtypes.BOOL:
        name = OF_BOOL.get(name, name)
    name = {"div": "cdiv", "pair": "pair"}.get(name, name)
    return typed(getattr(binary, name), dtype)


def monoid_of(name, dtype):
    if dtype == dtypes.BOOL:
        name = OF_BOOL.get(name, name)
    return getattr(monoid, name)


def ring_of(ring, dtype):
    mul = ring["mul"]
    if dtype == dtypes.BOOL:
        mul = OF_BOOL.get(mul, mul)
    out = dtype
    if mul in ("eq", "ne", "lt", "gt", "le", "ge", "lor", "land", "lxor"):
        out = dtypes.BOOL
    try:
        semiring = operator.get_semiring(monoid_of(ring["add"], out), getattr(binary, mul))
        return semiring[dtype] if not mul.endswith(("i", "j")) else semiring
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise Lacks(f"no semiring {ring} of {dtype}") from e


def index_of(name, x):
    names = {"value_": "value", "row_index": "rowindex", "col_index": "colindex", "diag_index": "diagindex"}
    if isinstance(x, gb.Vector):
        names = {"value_": "value", "row_index": "index", "row_le": "indexle", "row_gt": "indexgt"}
        if not name.startswith(("value_", "row_")):
            raise Lacks("columns of a vector")
    for ours, theirs in names.items():
        name = name.replace(ours, theirs)
    return getattr(indexunary, name.replace("_", ""))


def run(case):
    """C after the call."""
    objects = [make(x["table"]) for x in case["objects"]]
    op, c = case["op"], objects[case["c"]]
    name = op["name"]
    x = [objects[n] for n in case["operands"]]
    x[:2] = [a.T if flip and isinstance(a, gb.Matrix) else a for a, flip in zip(x[:2], case["transpose"])]
    dtype = x[0].dtype if x else c.dtype
    how = {}
    if case["mask"]:
        m = objects[case["mask"]["object"]]
        if not case["mask"]["structure"] and m.dtype in (dtypes.FC32, dtypes.FC64):
            raise Lacks("masks of complex values")
        m = m.S if case["mask"]["structure"] else m.V
        how["mask"] = ~m if case["mask"]["complement"] else m
        how["replace"] = case["replace"]
    if case["accum"]:
        how["accum"] = binary_of(case["accum"], c.dtype)
    into = c(**how)
    index = lambda name: np.array(op[name], dtype=np.uint64)  # noqa: E731

    if name == "identity":
        into << x[0].apply(unary.identity)
    elif name == "transpose":
        into << (x[0].T.apply(unary.identity) if case["transpose"][0] else x[0].T)
    elif name in ("mxm", "mxv", "vxm"):
        into << getattr(x[0], name)(x[1], ring_of(op["ring"], dtype))
    elif name in ("ewise_add", "ewise_mult", "kronecker"):
        into << getattr(x[0], name)(x[1], binary_of(op["op"], dtype))
    elif name == "ewise_union":
        alpha, beta = (scalar(op[k], dtype) for k in ("alpha", "beta"))
        into << x[0].ewise_union(x[1], binary_of(op["op"], dtype), alpha, beta)
    elif name == "apply":
        if op["op"] == "ainv" and dtype == dtypes.BOOL:
            raise Lacks("ainv of bool")
        f = unary.lnot[dtypes.BOOL] if op["op"] == "lnot" and dtype == dtypes.BOOL else None
        if op["op"] == "lnot" and f is None:
            raise Lacks("lnot of numbers")
        into << x[0].apply(f or typed(getattr(unary, op["op"]), dtype))
    elif name == "apply_first":
        into << x[0].apply(binary_of(op["op"], dtype), left=scalar(op["s"], dtype))
    elif name == "apply_second":
        into << x[0].apply(binary_of(op["op"], dtype), right=scalar(op["s"], dtype))
    elif name in ("apply_index", "select"):
        f = index_of(op["op"], x[0])
        f = f[dtype] if op["op"].startswith("value_") else f
        if op["op"] == "diag_index" and op["s"] != 0:
            # The specification has j − i + s.
            raise Lacks("SuiteSparse 9.4 computes j − i − s")
        s = scalar(op["s"], dtype if op["op"].startswith("value_") else dtypes.INT64)
        into << (x[0].apply(f, right=s) if name == "apply_index" else x[0].select(f, s))
    elif name == "reduce_rows":
        into << x[0].reduce_rowwise(typed(monoid_of(op["monoid"], dtype), dtype))
    elif name in ("reduce", "reduce_scalar"):
        of = typed(monoid_of(op["monoid"], dtype), dtype)
        fold = x[0].reduce if isinstance(x[0], gb.Vector) else x[0].reduce_scalar
        into << fold(of, allow_empty=name == "reduce_scalar")
    elif name in ("count", "mean", "arg_min", "arg_max"):
        if how:
            raise Lacks("aggregators under masks")
        into << x[0].reduce_rowwise(getattr(agg, name.replace("_", "")))
    elif name == "extract":
        into << (x[0][index("rows")] if isinstance(x[0], gb.Vector) else x[0][index("rows"), index("cols")])
    elif name == "extract_column":
        into << x[0][index("rows"), op["col"]]
    elif name == "assign":
        if isinstance(c, gb.Vector):
            into[index("rows")] << x[0]
        else:
            into[index("rows"), index("cols")] << x[0]
    elif name == "assign_row":
        into[op["row"], index("cols")] << x[0]
    elif name == "assign_column":
        into[index("rows"), op["col"]] << x[0]
    elif name == "assign_scalar":
        x = scalar(op["x"], c.dtype)
        if isinstance(c, gb.Vector):
            into[index("rows")] << x
        else:
            into[index("rows"), index("cols")] << x
    elif name == "diag":
        c = x[0].diag(op["k"])
    elif name == "diagonal":
        c = x[0].diag(op["k"]).new() if hasattr(x[0].diag(op["k"]), "new") else x[0].diag(op["k"])
    elif name == "concat":
        n = op["across"]
        if any(0 in (t.nrows, t.ncols) for t in x):
            raise Lacks("tiles without places")
        c = gb.ss.concat([x[k : k + n] for k in range(0, len(x), n)])
    elif name == "block":
        (i, k), (j, n) = op["rows"], op["cols"]
        c << (x[0][i:k] if isinstance(c, gb.Vector) else x[0][i:k, j:n])
    elif name == "resize":
        c = x[0].dup()
        c.resize(*(op["shape"][:1] if isinstance(c, gb.Vector) else op["shape"]))
    elif name == "build":
        rows, cols = [np.array([t[k] for t in op["tuples"]], dtype=np.uint64) for k in (0, 1)]
        values = np.array([value(t[2]) for t in op["tuples"]], dtype=c.dtype.np_type)
        places = (rows,) if isinstance(c, gb.Vector) else (rows, cols)
        c.build(*places, values, dup_op=binary_of(op["dup"], c.dtype), clear=True)
    else:
        raise Lacks("no such operation")
    return c


def main():
    ran, left_out, wrong = collections.Counter(), collections.Counter(), 0
    for line in sys.stdin:
        case = json.loads(line)
        name = case["op"]["name"]
        try:
            c = run(case)
            c.wait() if hasattr(c, "wait") else None
        except Lacks as e:
            left_out[f"{name}: {e}"] += 1
            continue
        except Exception as e:
            left_out[f"{name}: {type(e).__name__}: {str(e)[:100]}"] += 1
            continue
        ran[name] += 1
        found, want = read(c), {(i, j): value(x) for i, j, x in case["expected"]["entries"]}
        if found.keys() == want.keys() and all(same(found[at], want[at]) for at in want):
            continue
        wrong += 1
        if wrong <= 5:
            print(f"{line}\n  found {found}\n  expected {want}\n")
    print(f"{sum(ran.values())} cases ran, {wrong} differ:", ", ".join(f"{op} {n}" for op, n in sorted(ran.items())))
    for why, n in left_out.most_common(40):
        print(f"  {n} left out, {why}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
