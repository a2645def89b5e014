"""CP decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import _sparring

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    from numpy.typing import NDArray

    from ._sparring import Tensor


class Kruskal(NamedTuple):
    """A Kruskal tensor, a sum of rank-1 tensors: Σᵣ weights[r] · factors[0][:, r] ∘ factors[1][:, r] ∘ …

    Attributes
    ----------
    weights : ndarray of shape (rank,)
        A weight per component.
    factors : list of ndarray
        A matrix per mode, with a column of norm 1 per component.
    fit : float
        1 − ‖X − M‖ / ‖X‖.
    fits : list of float
        The fit after each sweep of the best start.
    converged : bool
        Whether the last change of the fit was below the tolerance.
    explain : str
        The algorithm, and why it was chosen.

    Examples
    --------
    >>> import numpy as np, sparring as sp
    >>> model = sp.Kruskal(np.array([2.0]), [np.eye(2)[:, :1]] * 3, 1.0, [1.0], True, "")
    >>> model.to_dense()[0, 0, 0]
    np.float64(2.0)
    """

    weights: NDArray[Any]
    factors: list[NDArray[Any]]
    fit: float
    fits: list[float]
    converged: bool
    explain: str

    def to_dense(self) -> NDArray[Any]:
        """The model as a dense tensor.

        Returns
        -------
        ndarray
            With one dimension per factor.

        Examples
        --------
        >>> import sparring as sp
        >>> x = sp.Tensor([[0, 1], [0, 1], [0, 1]], [2.0, 3.0], shape=(2, 2, 2))
        >>> sp.cp_als(x, 2).to_dense().round(6).diagonal(0, 0, 1).diagonal().tolist()
        [2.0, 3.0]
        """
        import numpy as np

        modes = range(1, len(self.factors) + 1)
        operands = [of for mode, factor in zip(modes, self.factors) for of in (factor, [mode, 0])]
        return np.einsum(self.weights, [0], *operands, list(modes))


def cp_als(
    x: Tensor, rank: int, *, sweeps: int = 100, tolerance: float | None = 1e-4, seed: int = 0, starts: int = 1,
    nonnegative: bool = False, ridge: float = 0.0, time_limit: float | None = None,
    progress: Callable[[int, float], object] | Literal[True] | None = None, device: str | None = None,
) -> Kruskal:
    """The CP decomposition of a sparse tensor, by alternating least squares.

    Parameters
    ----------
    x : Tensor
        The tensor.
    rank : int
        Components.
    sweeps : int, default=100
        Maximum number of sweeps through all modes.
    tolerance : float or None, default=1e-4
        A start ends when the fit changes by less; ``None`` runs all sweeps.
    seed : int, default=0
        Seed of the first start, for NumPy's ``Generator(PCG64(seed)).random``; further starts use the following seeds.
    starts : int, default=1
        Number of random starts; the best result is kept.
    nonnegative : bool, default=False
        Whether the factors must be nonnegative.
    ridge : float, default=0.0
        Weight of the squared norms of the factors in the objective.
    time_limit : float, optional
        Seconds.
    progress : callable or True, optional
        Called with the number of a sweep and its fit; an exception ends the decomposition. ``True`` shows a bar of
        tqdm.
    device : str, optional
        ``"cuda:0"`` computes on a GPU.

    Returns
    -------
    Kruskal
        The model, its fit, and the algorithm.

    Raises
    ------
    ValueError
        If the rank is 0, or a limit is not a positive number.

    Examples
    --------
    >>> import sparring as sp
    >>> x = sp.Tensor([[0, 1], [0, 1], [0, 1]], [2.0, 3.0], shape=(2, 2, 2))
    >>> model = sp.cp_als(x, 2)
    >>> round(model.fit, 6), sorted(model.weights.round(6).tolist())
    (1.0, [2.0, 3.0])
    """
    asked = (x, rank, sweeps, tolerance, seed, starts, nonnegative, ridge, time_limit)
    if progress is not True:
        return Kruskal(*_sparring._cp_als(*asked, progress, device))
    import importlib

    with importlib.import_module("tqdm.auto").tqdm(total=sweeps * starts, desc="cp_als", unit=" sweeps") as bar:

        def show(_, fit):
            bar.set_postfix(fit=f"{fit:.6f}")
            bar.update()

        return Kruskal(*_sparring._cp_als(*asked, show, device))
