"""Results as objects of other packages, which are imported when they are first wanted."""

import numpy as np


def csr_array(shape, data, indices, indptr):
    """The ``scipy.sparse.csr_array`` over these arrays."""
    import scipy.sparse

    return _compressed(scipy.sparse.csr_array, shape, data, indices, indptr)


def _compressed(cls, shape, data, indices, indptr):
    # SciPy wants indices of one type, and would copy the longer array.
    if len(data) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    made = cls((data, indices, indptr), shape=shape, copy=False)
    # Rows are sorted and without repeated columns.
    made.has_canonical_format = True
    return made


def like(of, shape, data, indices, indptr):
    """A sparse matrix of the kind of ``of``: a class and a format of SciPy's, or of PyData's ``sparse``."""
    import scipy.sparse

    kind = type(of)
    if kind.__module__.partition(".")[0] == "scipy":
        is_array = isinstance(of, scipy.sparse.sparray)
        made = _compressed(
            scipy.sparse.csr_array if is_array else scipy.sparse.csr_matrix, shape, data, indices, indptr
        )
        return made if of.format == "csr" else made.asformat(of.format)
    made = csr_array(shape, data, indices, indptr)
    if kind.__module__.partition(".")[0] == "sparse":
        return kind.from_scipy_sparse(made)
    return made


def dense(size, places, values, fill):
    """An array with these values at these places, ``fill`` or 0 elsewhere."""
    found = np.zeros(size, values.dtype) if fill is None else np.full(size, fill, values.dtype)
    found[places] = values
    return found


def canonical(of):
    """A matrix of CuPy's with sorted rows and no repeated columns: itself, or a copy."""
    if getattr(of, "has_canonical_format", True):
        return of
    of = of.copy()
    of.sum_duplicates()
    return of


def like_on_device(of, shape, data, indices, indptr):
    """A matrix of CuPy's in the format of ``of``, over these arrays in a GPU's memory."""
    import cupy
    import cupyx.scipy.sparse

    # Numbers below 2³¹, as CuPy wants them.
    indices, indptr = (cupy.asarray(part) for part in (indices, indptr))
    indices, indptr = indices.view(cupy.int32), (
        indptr.view(cupy.int32) if indptr.dtype.itemsize == 4 else indptr.view(cupy.int64)
    )
    made = cupyx.scipy.sparse.csr_matrix((cupy.asarray(data), indices, indptr), shape=shape)
    made.has_canonical_format = True
    return made if of.format == "csr" else made.asformat(of.format)


def on_device(of, values):
    """An array of the package of ``of`` over values in a GPU's memory."""
    import importlib

    package = type(of).__module__.partition(".")[0]
    module = importlib.import_module(package)
    return module.as_tensor(values, device=of.device) if package == "torch" else module.asarray(values)


def find_cuda():
    """Tells the library where NVIDIA's packages for this interpreter lie, unless the environment says so already."""
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
