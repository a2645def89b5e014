"""Translates lines of `sparring bench`, in the vocabulary of `sparring keys`, to the words of saved results."""
import json
import re

# Keys with a common name in all commands, by operation, with the name in saved results.
WORDS = {
    "spgemm": {"nrows": "m", "inner": "n", "ncols": "k", "flops": "fm"},
    "distance": {"nrows": "rows", "to_nrows": "to_rows", "ncols": "cols", "type": "entries", "sum": "checksum",
                 "nonempty_sum": "checksum_nonempty"},
    "contract": {"type": "dtype", "sum": "checksum"},
    "mttkrp": {"mttkrp_sums": "checksum_mttkrp"},
    "tune": {"type": "dtype"},
    "triangles": {"nrows": "n", "compute_ms": "ms"},
}
OTHERS = {"nrows": "m", "ncols": "n", "a_nnz": "entries"}
# Operations of `sparring bench steps`.
STEPS = [
    "apply", "tril", "value", "mult", "union", "rows", "part", "assign", "fill", "kron", "push", "argmax", "count", "diagonal",
    "concat", "spmm",
]


def line(text):
    """The object of a line, with each value under both names."""
    found = json.loads(text)
    for key, value in list(found.items()):
        old = WORDS.get(found.get("op"), OTHERS).get(key, key)
        old = re.sub(r"(^|_)gb_s$", r"\1GBs", old)
        old = re.sub(r"^(.*_)?min_ms$", lambda m: (m.group(1) or "") + "ms_min", old)
        old = re.sub(r"^compute_ms", "ms", old)
        found.setdefault(old, value)
    return found


if __name__ == "__main__":
    made = line('{"op": "spgemm", "nrows": 2, "inner": 3, "ncols": 4, "compute_ms": 1.5, "compute_min_ms": 1.0, "reuse_min_ms": 0.5}')
    assert [made[k] for k in ("m", "n", "k", "ms", "ms_min", "reuse_ms_min")] == [2, 3, 4, 1.5, 1.0, 0.5], made
    made = line('{"op": "contract", "type": "f64", "stream_gb_s": 9.0, "gb_s": 4.0, "sum": 1.0}')
    assert [made[k] for k in ("dtype", "stream_GBs", "GBs", "checksum")] == ["f64", 9.0, 4.0, 1.0], made
    print("the words agree")
