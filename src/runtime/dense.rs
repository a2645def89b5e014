//! Contractions of dense arrays over a semiring known at run time.

use super::{Machine, Scalar, Semiring};
use crate::algebra::{Array, Slice};
use crate::contract::{AnyView, Einsum, Layout, contract_any};
use crate::{Cpu, Error, Result};

/// The update of [`Machine::einsum_with`] by a contraction T: C = (β ⊗ C) ⊕ (α ⊗ T); C = α ⊗ T without an old C.
#[derive(Clone, Debug, Default)]
pub struct EinsumUpdate<'a> {
    /// α.
    pub alpha: Option<Scalar>,
    /// The old C, row-major. Not read if β is the identity of ⊕.
    pub c: Option<Slice<'a>>,
    /// β.
    pub beta: Option<Scalar>,
}

impl Machine {
    /// The contraction of dense arrays over any semiring, row-major, with the tensors of a batch consecutive. For types
    /// known at run time only; [`Cpu::einsum`] fuses the loops of a statically typed semiring.
    ///
    /// Two operands are contracted by the definition: ⊗ from left to right, ⊕ in the order in which contracted indices
    /// appear. More operands are contracted from left to right, and an index that occurs in neither a later operand nor
    /// the result is contracted as early as possible, as the laws of a semiring allow. Large tensors of f64 over + and
    /// × are contracted as by [`Cpu::einsum`], bitwise.
    /// # Errors
    /// [`Error::Argument`] if the operands are of several types; [`Error::Unsupported`] if the semiring is not on
    /// values of their type, if its ⊗ is positional, and on a GPU; [`Error::Budget`],
    /// [`Error::OutOfMemory`], [`Error::Cancelled`].
    pub fn einsum(&self, ring: &Semiring, einsum: &Einsum<'_, (), AnyView<'_>>) -> Result<Array> {
        self.einsum_with(ring, einsum, &EinsumUpdate::default())
    }
    /// [`einsum`](Self::einsum) as an update of C.
    /// ```
    /// use sparring::algebra::{Slice, Type};
    /// use sparring::contract::{AnyView, Einsum, Layout};
    /// use sparring::runtime::{EinsumUpdate, Machine, Semiring};
    /// let x = AnyView::new(Slice::of(&[1i16, 2, 3]), Layout::row_major(&[3])?)?;
    /// let einsum = Einsum::new("i,j->ij", &[x.clone(), x])?;
    /// let update = EinsumUpdate { alpha: Some(10i16.into()), c: Some(Slice::of(&[7i16; 9])), beta: None };
    /// let plus_times = Semiring::new("plus_times", Type::I16)?;
    /// let c = Machine::from(sparring::Cpu::new()).einsum_with(&plus_times, &einsum, &update)?;
    /// assert_eq!(c.slice().get::<i16>(), Some(&[17, 27, 37, 27, 47, 67, 37, 67, 97][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// As [`einsum`](Self::einsum); [`Error::Length`] if C has not as many elements.
    pub fn einsum_with(
        &self,
        ring: &Semiring,
        einsum: &Einsum<'_, (), AnyView<'_>>,
        update: &EinsumUpdate<'_>,
    ) -> Result<Array> {
        let cpu = self.processor("einsum", ring)?;
        let contract =
            |einsum: &Einsum<'_, (), AnyView<'_>>| contract_any(cpu.threads(), ring.compiled(), einsum, cpu.budget());
        // s ⊗ x.
        let scaled = |s: &Scalar, x: Slice<'_>| {
            let views = [
                AnyView::new(s.constant().slice(), Layout::row_major(&[])?)?,
                AnyView::new(x, Layout::row_major(&[x.len()])?)?,
            ];
            contract(&Einsum::new(",i->i", &views)?)
        };
        let mut found = contract(einsum)?;
        if let Some(alpha) = &update.alpha {
            found = scaled(alpha, found.slice())?;
        }
        let forgotten = update.beta.as_ref().is_some_and(|beta| beta.constant() == ring.formula().add().identity());
        let Some(c) = update.c.filter(|_| !forgotten) else { return Ok(found) };
        if c.len() != found.len() {
            return Err(Error::Length { what: "result of einsum", found: c.len(), expected: found.len() });
        }
        if c.ty() != found.ty() {
            let message = format!("C is of {}, the contraction of {}", c.ty(), found.ty());
            return Err(Error::Argument { name: "c", message });
        }
        let old = update.beta.as_ref().map(|beta| scaled(beta, c)).transpose()?;
        // C and T concatenated, then folded along the concatenation index.
        let n = found.len();
        let mut both = Array::zeros(c.ty(), 2 * n)?;
        both.slice_mut().part(0..n).copy_from(&old.as_ref().map_or(c, Array::slice));
        both.slice_mut().part(n..2 * n).copy_from(&found.slice());
        contract(&Einsum::new("ki->i", &[AnyView::new(both.slice(), Layout::row_major(&[2, n])?)?])?)
    }
    /// The CPU backend; an error on any other engine.
    pub(super) fn processor(&self, op: &str, ring: &Semiring) -> Result<&Cpu> {
        self.typed::<Cpu>().ok_or_else(|| Error::Unsupported {
            what: format!("{op} over {ring} on {}", self.name()),
            why: "a GPU supports statically typed semirings only".into(),
        })
    }
}
