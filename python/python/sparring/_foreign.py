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
    package = str(kind.__module__).partition(".")[0]
    if package == "scipy":
        is_array = isinstance(of, scipy.sparse.sparray)
        made = _compressed(
            scipy.sparse.csr_array if is_array else scipy.sparse.csr_matrix, shape, data, indices, indptr
        )
        return made if of.format == "csr" else made.asformat(of.format)
    made = csr_array(shape, data, indices, indptr)
    if package == "sparse":
        return kind.from_scipy_sparse(made)
    return made


def dense(size, places, values, fill):
    """An array with these values at these places, ``fill`` or 0 elsewhere."""
    found = np.zeros(size, values.dtype) if fill is None else np.full(size, fill, values.dtype)
    found[places] = values
    return found
