"""Results as objects of other packages, which are imported when they are first wanted."""

import numpy as np

_SMALL = np.iinfo(np.int32).max
# What makes sparse matrices of a class of SciPy's, by that class.
_makers = {}


def csr_array(shape, data, indices, indptr, is_sorted):
    """The ``scipy.sparse.csr_array`` over these arrays."""
    import scipy.sparse

    return _compressed(scipy.sparse.csr_array, shape, data, indices, indptr, is_sorted)


def _by_constructor(cls, shape, data, indices, indptr, is_sorted):
    # SciPy wants indices of one type, and would copy the longer array.
    if len(data) <= _SMALL and indptr.dtype != indices.dtype:
        indptr = indptr.astype(np.int32)
    made = cls((data, indices, indptr), shape=shape, copy=False)
    # Rows have no repeated columns.
    made.has_canonical_format = made.has_sorted_indices = is_sorted
    return made


def _state(cls):
    """What an object of the class with sorted rows is beside its shape and its arrays, or None: as a pickle has it.

    Its constructor checks arrays, which takes longer than a product of small matrices. What it would set is read off two
    objects that it made: only attributes that are the same in both, and the four that are known, may be there.
    """
    arrays = [(np.ones(n), np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32)) for n in (1, 3)]
    first, second = (vars(_by_constructor(cls, (len(of[0]),) * 2, *of, True)) for of in arrays)
    own = {"data", "indices", "indptr", "_shape"}
    rest = first.keys() - own
    if not own <= first.keys() or first.keys() != second.keys() or any(first[name] != second[name] for name in rest):
        return None
    return {name: first[name] for name in rest} if second["_shape"] == (3, 3) else None


def _compressed(cls, shape, data, indices, indptr, is_sorted):
    """A matrix of the class over arrays that are right."""
    if cls not in _makers:
        _makers[cls] = _state(cls)
    state, int32 = _makers[cls], np.int32
    if not (state and is_sorted and indptr.dtype == int32 and indices.dtype == int32 and max(shape) <= _SMALL):
        return _by_constructor(cls, shape, data, indices, indptr, is_sorted)
    made = cls.__new__(cls)
    made.__dict__.update(state, data=data, indices=indices, indptr=indptr, _shape=shape)
    return made


def like(of, shape, data, indices, indptr, is_sorted, by_columns):
    """A sparse matrix of the kind of ``of``: a class and a format of SciPy's, or of PyData's ``sparse``.

    Arrays are compressed rows, or of an object of SciPy's with compressed columns these.
    """
    import scipy.sparse

    kind = type(of)
    if kind.__module__.partition(".")[0] == "scipy":
        is_array, format = isinstance(of, scipy.sparse.sparray), of.format
        name = ("csc_" if by_columns else "csr_") + ("array" if is_array else "matrix")
        made = _compressed(getattr(scipy.sparse, name), shape, data, indices, indptr, is_sorted)
        return made if by_columns or format == "csr" else made.asformat(format)
    made = csr_array(shape, data, indices, indptr, is_sorted)
    if kind.__module__.partition(".")[0] == "sparse":
        return kind.from_scipy_sparse(made)
    return made
