"""Results as objects of other packages, which are imported on first use."""

import numpy as np

_SMALL = np.iinfo(np.int32).max
# Cached attributes of SciPy classes (see _state).
_makers = {}


def csr_array(shape, data, indices, indptr, is_sorted):
    """The ``scipy.sparse.csr_array`` over these arrays."""
    import scipy.sparse

    return _compressed(scipy.sparse.csr_array, shape, data, indices, indptr, is_sorted)


def _by_constructor(cls, shape, data, indices, indptr, is_sorted):
    # SciPy needs one index type, and would widen, and so copy, the longer array.
    if len(data) <= _SMALL and indptr.dtype != indices.dtype:
        indptr = indptr.astype(np.int32)
    made = cls((data, indices, indptr), shape=shape, copy=False)
    # Rows have no duplicate columns.
    made.has_canonical_format = made.has_sorted_indices = is_sorted
    return made


def _state(cls):
    """The attributes of an object of the class with sorted rows, other than its shape and arrays, or None.

    The constructor validates arrays, which takes longer than a product of small matrices. The attributes that it sets
    are therefore taken from two sample objects, and used only if they are equal in both, besides the four known ones.
    """
    arrays = [(np.ones(n), np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32)) for n in (1, 3)]
    first, second = (vars(_by_constructor(cls, (len(of[0]),) * 2, *of, True)) for of in arrays)
    own = {"data", "indices", "indptr", "_shape"}
    rest = first.keys() - own
    if not own <= first.keys() or first.keys() != second.keys() or any(first[name] != second[name] for name in rest):
        return None
    return {name: first[name] for name in rest} if second["_shape"] == (3, 3) else None


def _compressed(cls, shape, data, indices, indptr, is_sorted):
    """A matrix of the class over valid arrays."""
    if cls not in _makers:
        _makers[cls] = _state(cls)
    state, int32 = _makers[cls], np.int32
    if not (state and is_sorted and indptr.dtype == int32 and indices.dtype == int32 and max(shape) <= _SMALL):
        return _by_constructor(cls, shape, data, indices, indptr, is_sorted)
    made = cls.__new__(cls)
    made.__dict__.update(state, data=data, indices=indices, indptr=indptr, _shape=shape)
    return made


def like(of, shape, data, indices, indptr, is_sorted, by_columns):
    """A sparse matrix with the class and format of ``of``, an object of SciPy or of PyData's ``sparse``.

    The arrays are CSR, or CSC with ``by_columns``, if ``of`` is a SciPy CSC matrix.
    """
    import scipy.sparse

    kind = type(of)
    package = str(kind.__module__).partition(".")[0]
    if package == "scipy":
        is_array, format = isinstance(of, scipy.sparse.sparray), of.format
        name = ("csc_" if by_columns else "csr_") + ("array" if is_array else "matrix")
        made = _compressed(getattr(scipy.sparse, name), shape, data, indices, indptr, is_sorted)
        return made if by_columns or format == "csr" else made.asformat(format)
    made = csr_array(shape, data, indices, indptr, is_sorted)
    if package == "sparse":
        return kind.from_scipy_sparse(made)
    return made


def canonical(of):
    """A CuPy matrix with sorted rows and without duplicates: the object itself, or a copy."""
    if getattr(of, "has_canonical_format", True):
        return of
    of = of.copy()
    of.sum_duplicates()
    return of


def like_on_device(of, shape, data, indices, indptr, by_columns):
    """A CuPy matrix in the format of ``of``, over CSR arrays in GPU memory, or CSC with ``by_columns``."""
    import cupy
    import cupyx.scipy.sparse

    # CuPy needs signed indices; below 2³¹ and 2⁶³ the bits are the same.
    data, indices, indptr = (cupy.asarray(part) for part in (data, indices, indptr))
    indices, indptr = indices.view(cupy.int32), indptr.view(f"int{8 * indptr.dtype.itemsize}")
    kind = cupyx.scipy.sparse.csc_matrix if by_columns else cupyx.scipy.sparse.csr_matrix
    made = kind((data, indices, indptr), shape=shape)
    made.has_canonical_format = True
    return made if by_columns or of.format == "csr" else made.asformat(of.format)


def on_device(of, values):
    """An array of the package of ``of`` over values in GPU memory."""
    import importlib

    package = type(of).__module__.partition(".")[0]
    module = importlib.import_module(package)
    return module.as_tensor(values, device=of.device) if package == "torch" else module.asarray(values)


def find_cuda():
    """Sets the paths of NVRTC and cuBLAS from NVIDIA's Python packages, unless the environment already has them."""
    import os
    import pathlib
    import sys

    wanted = {
        "SPARRING_NVRTC": (("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"), "libnvrtc.so.*"),
        "SPARRING_CUBLAS": (("nvidia/cu13/lib", "nvidia/cublas/lib"), "libcublas.so.*"),
    }
    for variable, (folders, library) in wanted.items():
        if os.environ.get(variable):
            continue
        places = (pathlib.Path(site) / folder for site in sys.path if site for folder in folders)
        for place in places:
            if any(place.glob(library)):
                os.environ[variable] = str(place)
                break
