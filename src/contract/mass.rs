//! Mass operators of tensor-product finite elements, as expressions.

use std::marker::PhantomData;

use super::einsum::Einsum;
use super::view::{View, Viewed};
use crate::{Error, Result};

/// The mass operator of tensor-product elements in `directions` directions. B, Q × D, holds the values of D functions
/// at Q points of a line; the weights, Q × … × Q for each element, hold the factor of each point (quadrature, Jacobian,
/// coefficient).
///
/// | | formula, in two directions |
/// | --- | --- |
/// | [`action`](Self::action) | `U[i₁,i₂] = Σ B[k₁,i₁] B[k₂,i₂] W[k₁,k₂] B[k₁,j₁] B[k₂,j₂] V[j₁,j₂]` |
/// | [`matrix`](Self::matrix) | `M[i₁,i₂,j₁,j₂] = Σ B[k₁,i₁] B[k₂,i₂] W[k₁,k₂] B[k₁,j₁] B[k₂,j₂]` |
///
/// Both are ordinary expressions, for [`Cpu::einsum`](crate::Cpu::einsum). There the action on a batch of elements is
/// fused: one index at a time, several elements side by side, V and W read once and U written once, in
/// 2(Q Dᵈ + Q² Dᵈ⁻¹ + … + Qᵈ D) steps of a fold per element.
/// ```
/// use sparring::{Cpu, algebra::PlusTimes, contract::{Layout, Mass, View}};
/// // Linear functions on [0, 1] at the two Gauss points.
/// let g = 0.5 - 3.0f64.sqrt() / 6.0;
/// let b = [1.0 - g, g, g, 1.0 - g];
/// let mass = Mass::new(2, View::new(&b, Layout::row_major(&[2, 2])?)?)?;
/// // Three squares of area 1, 4 and 9.
/// let w: Vec<f64> = [1.0, 4.0, 9.0].iter().flat_map(|area| [area / 4.0; 4]).collect();
/// let w = View::new(&w, Layout::row_major(&[2, 2])?.batched(3)?)?;
/// let ones = [1.0; 12];
/// let ones = View::new(&ones, Layout::row_major(&[2, 2])?.batched(3)?)?;
/// let u = Cpu::new().einsum(PlusTimes::new(), mass.action(&w, &ones)?).eval()?;
/// // Each of the four functions has a quarter of the area.
/// assert!((u.values()[0] - 0.25).abs() < 1e-15 && (u.values()[11] - 2.25).abs() < 1e-14);
/// let m = Cpu::new().einsum(PlusTimes::new(), mass.matrix(&w)?).eval()?;
/// assert!((m.values()[0] - 1.0 / 9.0).abs() < 1e-15);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Abdelfattah et al. 2016, equations (4) to (7); Orszag 1980 for one index at a time.
#[derive(Clone, Debug)]
pub struct Mass<'a, T, V = View<'a, T>> {
    basis: V,
    directions: usize,
    of: PhantomData<&'a T>,
}

impl<'a, V: Viewed<Value: 'a>> Mass<'a, V::Value, V> {
    /// The operator in one to three directions.
    /// # Errors
    /// [`Error::Argument`] for another number of directions; [`Error::Length`] if `basis` does not have two indices or
    /// is a batch.
    pub fn new(directions: usize, basis: V) -> Result<Self> {
        if !(1..=3).contains(&directions) {
            return Err(Error::Argument { name: "directions", message: format!("{directions} is not in 1 to 3") });
        }
        let layout = basis.layout();
        for (what, found, expected) in
            [("indices of the basis", layout.rank(), 2), ("batch of the basis", layout.batch(), 1)]
        {
            if found != expected {
                return Err(Error::Length { what, found, expected });
            }
        }
        Ok(Self { basis, directions, of: PhantomData })
    }
    /// U from V, both D × … × D for each element.
    /// # Errors
    /// As [`Einsum::new`].
    pub fn action(&self, weights: &V, v: &V) -> Result<Einsum<'a, V::Value, V>> {
        let text = ["ka,k,kx,x->a", "ka,lb,kl,kx,ly,xy->ab", "ka,lb,mc,klm,kx,ly,mz,xyz->abc"][self.directions - 1];
        let basis = || std::iter::repeat_n(self.basis.clone(), self.directions);
        let operands: Vec<_> = basis().chain([weights.clone()]).chain(basis()).chain([v.clone()]).collect();
        Ok(Einsum { action: Some(self.directions), ..Einsum::new(text, &operands)? })
    }
    /// The matrix of each element: M[i…, j…], whose leading indices together are the rows and whose trailing ones the
    /// columns.
    /// # Errors
    /// As [`Einsum::new`].
    pub fn matrix(&self, weights: &V) -> Result<Einsum<'a, V::Value, V>> {
        let text = ["ka,kb,k->ab", "ka,lb,kc,ld,kl->abcd", "ka,lb,mc,kd,le,mf,klm->abcdef"][self.directions - 1];
        let basis = std::iter::repeat_n(self.basis.clone(), 2 * self.directions);
        let operands: Vec<_> = basis.chain([weights.clone()]).collect();
        Einsum::new(text, &operands)
    }
}
