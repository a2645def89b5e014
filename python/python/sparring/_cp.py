"""CP decompositions."""

from typing import NamedTuple

from . import _sparring


class Kruskal(NamedTuple):
    """A sum of products of vectors: Σᵣ weights[r] · factors[0][:, r] ∘ factors[1][:, r] ∘ …"""

    #: A weight for each component.
    weights: object
    #: A matrix for each mode, a column for each component, of norm 1.
    factors: list
    #: 1 − ‖X − M‖ / ‖X‖.
    fit: float
    #: The fit after each sweep of the start that was kept.
    fits: list
    #: Whether the fit changed by less than the tolerance at the end.
    converged: bool
    #: What ran, and why.
    explain: str

    def to_dense(self):
        """The tensor that the model stands for, as an array."""
        import numpy as np

        modes = range(1, len(self.factors) + 1)
        operands = [of for mode, factor in zip(modes, self.factors) for of in (factor, [mode, 0])]
        return np.einsum(self.weights, [0], *operands, list(modes))


def cp_als(
    x, rank, *, sweeps=100, tolerance=1e-4, seed=0, starts=1, nonnegative=False, ridge=0.0, time_limit=None,
    progress=None, device=None
):
    """The Kruskal tensor nearest to a sparse tensor, by alternating least squares.

    Parameters
    ----------
    x : Tensor
    rank : int
        Components.
    sweeps : int
        Most sweeps through all modes.
    tolerance : float or None
        A start ends when the fit changes by less; ``None`` makes all sweeps.
    seed : int
        The first start begins with factors that NumPy's ``Generator(PCG64(seed)).random`` draws, the next with the next.
    starts : int
        Starts, of which the best is kept.
    nonnegative : bool
        Factors without negative elements.
    ridge : float
        Times the squared norm of each factor, added to what is made least.
    time_limit : float, optional
        Seconds.
    progress : callable, optional
        Called with the number of a sweep and its fit; an exception ends the decomposition.
    device : str, optional

    Examples
    --------
    >>> import sparring as sp
    >>> x = sp.Tensor([[0, 1], [0, 1], [0, 1]], [2.0, 3.0], shape=(2, 2, 2))
    >>> model = sp.cp_als(x, 2)
    >>> round(model.fit, 6), sorted(model.weights.round(6).tolist())
    (1.0, [2.0, 3.0])
    """
    found = _sparring._cp_als(
        x, rank, sweeps, tolerance, seed, starts, nonnegative, ridge, time_limit, progress, device
    )
    return Kruskal(*found)
