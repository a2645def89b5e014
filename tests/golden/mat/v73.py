"""Writes the files *73.mat of this folder as MATLAB's save -v7.3 stores matrices: needs h5py and SciPy.

    python3 tests/golden/mat/v73.py tests/golden/mat

A user block of 512 bytes, then HDF5 with superblock 0, symbol tables and object headers of version 1; classes, rows of
sparse matrices and fields of structures are attributes. `latest73.mat` has superblock 3, object headers 2 and link messages
instead, `wrong73.mat` what is refused. `same5.mat` holds the matrices of `packed73.mat` as version 5.
"""

import os
import sys

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

folder = sys.argv[1]
HEADER = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Thu Jan  1 00:00:00 2026 HDF5 schema 1.00 ."
PACKED = dict(compression="gzip", compression_opts=3, chunks=(16,))


def file(name, write, **options):
    path = os.path.join(folder, name)
    with h5py.File(path, "w", userblock_size=512, **options) as root:
        write(root)
    with open(path, "r+b") as out:
        out.write((HEADER.ljust(124) + b"\x00\x02IM").ljust(512, b"\0"))


def stored(a):
    if np.iscomplexobj(a):
        pairs = np.empty(a.shape, dtype=[("real", a.real.dtype), ("imag", a.real.dtype)])
        pairs["real"], pairs["imag"] = a.real, a.imag
        return pairs
    return a.astype(np.uint8) if a.dtype == bool else a


def described(x, a):
    names = {"bool": "logical", "float64": "double", "complex128": "double", "float32": "single", "complex64": "single"}
    x.attrs.create("MATLAB_class", np.bytes_(names.get(a.dtype.name, a.dtype.name)))
    if a.dtype == bool:
        x.attrs.create("MATLAB_int_decode", np.int32(1))


def columns(group, name, nrows, data, ir, jc, index=np.uint64, **options):
    x = group.create_group(name)
    if data is not None:
        x.create_dataset("data", data=stored(data), **options)
        x.create_dataset("ir", data=np.array(ir, dtype=index), **options)
    x.create_dataset("jc", data=np.array(jc, dtype=np.uint64), **options)
    described(x, np.zeros(0) if data is None else data)
    x.attrs.create("MATLAB_sparse", np.uint64(nrows))
    return x


def sparse(group, name, a, **options):
    a = a.tocsc()
    a.sort_indices()
    columns(group, name, a.shape[0], a.data if a.nnz else None, a.indices, a.indptr, **options)


def dense(group, name, a, **options):
    if a.size == 0:
        x = group.create_dataset(name, data=np.array(a.shape, dtype=np.uint64))
        x.attrs.create("MATLAB_empty", np.uint8(1))
    else:
        x = group.create_dataset(name, data=stored(a).T, **options)
    described(x, a)


def text(group, name, words):
    letters = np.frombuffer(words.encode("utf-16le"), dtype=np.uint16).reshape(-1, 1)
    x = group.create_dataset(name, data=letters)
    x.attrs.create("MATLAB_class", np.bytes_("char"))
    x.attrs.create("MATLAB_int_decode", np.int32(2))


def struct(group, name, fields):
    x = group.create_group(name)
    x.attrs.create("MATLAB_class", np.bytes_("struct"))
    names = np.empty(len(fields), dtype=object)
    for k, field in enumerate(fields):
        names[k] = np.frombuffer(field.encode(), dtype="S1")
    x.attrs.create("MATLAB_fields", names, dtype=h5py.vlen_dtype(np.dtype("S1")))
    return x


A = sp.csc_array(np.array([[1, 0, -2.5], [0, 0, 4]]))
LARGE = sp.random_array((40, 30), density=0.1, rng=np.random.default_rng(7), format="csc")
WIDE = np.zeros((200, 150))
WIDE[::7, ::11] = 2.5


def several(root):
    sparse(root, "A", A)
    sparse(root, "L", sp.csc_array(np.array([[1, 0], [1, 1]], dtype=bool)))
    sparse(root, "Z", sp.csc_array(np.array([[0, 1 - 2j], [0.5j, 0]])))
    sparse(root, "F", sp.csc_array(np.array([[1.5, 0], [0, 3]], dtype=np.float32)))
    sparse(root, "Empty", sp.csc_array((4, 3)))
    dense(root, "D", np.array([[1, 0, -0.0], [0, 2.5, 3]]))
    dense(root, "S", np.array([[1.5, 0], [0, -2], [7, 0]], dtype=np.float32))
    dense(root, "B", np.array([[True, False], [True, True]]))
    dense(root, "C", np.array([[1 + 2j, 0], [0, 0]]))
    dense(root, "U", np.array([[1, 2]], dtype=np.uint8))
    dense(root, "I", np.array([[1, 0, 300]], dtype=np.int16))
    dense(root, "None", np.empty((0, 3)))
    text(root, "note", "a matrix")


def problem(root):
    fields = struct(root, "Problem", ["title", "A", "Zeros", "aux"])
    text(fields, "title", "small")
    sparse(fields, "A", A)
    sparse(fields, "Zeros", sp.csc_array((2, 3)))
    dense(struct(fields, "aux", ["b"]), "b", np.array([[1.0], [2]]))
    kept = root.create_group("#refs#")
    dense(kept, "a", np.eye(2))
    cell = root.create_dataset("cell", shape=(1, 1), dtype=h5py.ref_dtype)
    cell[0, 0] = kept["a"].ref
    cell.attrs.create("MATLAB_class", np.bytes_("cell"))


def packed(root):
    sparse(root, "M", LARGE, **PACKED)
    dense(root, "D", LARGE.toarray(), compression="gzip", compression_opts=3, chunks=(16, 16), shuffle=True)
    dense(root, "W", WIDE, compression="gzip", chunks=(64, 200))
    dense(root, "P", LARGE.toarray(), chunks=(7, 40))


def latest(root):
    sparse(root, "M", LARGE, shuffle=True, **PACKED)
    x = columns(root, "Big", 2, A.data.astype(">f8"), A.indices, A.indptr, index=">i4")
    del x.attrs["MATLAB_class"]
    x.attrs.create("MATLAB_class", np.bytes_("double"))
    sparse(struct(root, "Problem", ["A"]), "A", A)


def wrong(root):
    ones = np.ones(3)
    columns(root, "Unsorted", 3, ones, [2, 1, 0], [0, 2, 3])
    columns(root, "Twice", 3, ones, [1, 1, 0], [0, 2, 3])
    columns(root, "Outside", 2, ones, [0, 2, 0], [0, 2, 3])
    columns(root, "Short", 3, ones, [0, 1, 0], [0, 2, 4])
    columns(root, "Falling", 3, ones, [0, 1, 0], [0, 3, 2])
    columns(root, "Late", 3, ones, [0, 1, 0], [1, 2, 3])
    columns(root, "Real", 3, ones, [0, 1, 0], [0, 2, 3], index=np.float64)
    columns(root, "Negative", 300, ones, [0, -1, 0], [0, 2, 3], index=np.int8)
    x = columns(root, "Few", 3, ones, [0, 1, 2], [0, 3])
    del x["data"]
    x.create_dataset("data", data=ones[:2])
    x = columns(root, "Pointers", 3, ones, [0, 1, 2], [0, 3])
    del x["jc"]
    dense(root, "Filter", LARGE.toarray(), compression="lzf", chunks=(16, 16))
    x = root.create_dataset("Holes", shape=(40, 40), chunks=(16, 16), dtype="f8")
    x[:16, :16] = 1
    x.attrs.create("MATLAB_class", np.bytes_("double"))
    root.create_dataset("Plain", data=np.eye(2))


file("one73.mat", lambda root: sparse(root, "A", A))
file("several73.mat", several)
file("problem73.mat", problem)
file("packed73.mat", packed)
file("latest73.mat", latest, libver=("v108", "v108"))
file("wrong73.mat", wrong)
scipy.io.savemat(os.path.join(folder, "same5.mat"), {"M": LARGE, "D": LARGE.toarray(), "W": WIDE}, do_compression=True)
