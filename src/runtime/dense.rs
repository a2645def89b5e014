//! Contractions of dense arrays over a semiring known at run time.

use super::{DenseSource, DenseView, Machine, Scalar, Semiring, Vector};
use crate::algebra::{Array, Slice};
use crate::contract::{AnyView, Einsum, Layout, Viewed, contract_any};
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
    /// × are contracted as by [`Cpu::einsum`], bitwise. A GPU contracts as `Cuda::einsum` does, in an order of its own,
    /// over a ⊗ that is known to be commutative and, with three operands, associative; arrays that stay in its memory are
    /// those of [`einsum_vectors`](Self::einsum_vectors).
    /// # Errors
    /// [`Error::Argument`] if the operands are of several types; [`Error::Unsupported`] if the semiring is not on
    /// values of their type, if its ⊗ is positional, on a GPU if its result has another type or ⊗ is not known to be
    /// commutative (with three operands, associative), and on several processes; [`Error::Budget`],
    /// [`Error::OutOfMemory`], [`Error::Cancelled`]; those of the device.
    pub fn einsum(&self, ring: &Semiring, einsum: &Einsum<'_, (), AnyView<'_>>) -> Result<Array> {
        self.einsum_with(ring, einsum, &EinsumUpdate::default())
    }
    /// The contraction of dense arrays, some of them full vectors, row-major, as a full vector in the machine's memory.
    /// Operands in that memory are not copied.
    /// ```
    /// use sparring::algebra::{Array, Type};
    /// use sparring::contract::{Einsum, Layout};
    /// use sparring::runtime::{DenseView, Machine, Scalar, Semiring, Vector};
    /// let x = Vector::full(Array::of(vec![1.0f32, 2.0, 3.0, 4.0]))?;
    /// let x = DenseView::vector(&x, Layout::row_major(&[2, 2])?)?;
    /// let einsum = Einsum::new("ij,kj->ik", &[x.clone(), x])?;
    /// let cpu = Machine::from(sparring::Cpu::new());
    /// let y = cpu.einsum_vectors(&Semiring::new("min_plus", Type::F32)?, &einsum)?;
    /// assert_eq!((y.len(), y.get(1)?), (4, Some(Scalar::from(4.0f32))));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// As [`einsum`](Self::einsum).
    pub fn einsum_vectors(&self, ring: &Semiring, einsum: &Einsum<'_, (), DenseView<'_>>) -> Result<Vector> {
        if let Some(found) = self.engine().einsum(ring, einsum) {
            return found;
        }
        let copied = |x: &DenseView<'_>| match x.source() {
            DenseSource::Host(_) => Ok(None),
            DenseSource::Vector(x) => x.full_values().map(Some),
        };
        let held = einsum.operands().iter().map(copied).collect::<Result<Vec<_>>>()?;
        let views = einsum.operands().iter().zip(&held).map(|(x, held)| {
            let values = match (x.source(), held) {
                (DenseSource::Host(values), _) => *values,
                (_, held) => held.as_ref().map_or(Slice::of::<u8>(&[]), Array::slice),
            };
            AnyView::new(values, x.layout().clone())
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        Vector::full(self.einsum(ring, &Einsum::new(einsum.text(), &views)?)?)
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
        let contract = |einsum: &Einsum<'_, (), AnyView<'_>>| self.contracted(ring, einsum);
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
    /// The contraction, in host memory.
    fn contracted(&self, ring: &Semiring, einsum: &Einsum<'_, (), AnyView<'_>>) -> Result<Array> {
        if let Some(cpu) = self.typed::<Cpu>() {
            return contract_any(cpu.threads(), ring.compiled(), einsum, cpu.budget());
        }
        let views = einsum.operands().iter().map(|x| DenseView::host(x.values(), x.layout().clone()));
        let views = views.collect::<Result<Vec<_>>>()?;
        let found = self.engine().einsum(ring, &Einsum::new(einsum.text(), &views)?);
        let found = found.unwrap_or_else(|| {
            let what = format!("einsum over {ring} on {}", self.name());
            Err(Error::Unsupported { what, why: "contractions run on one processor or one GPU".into() })
        });
        Ok(found?.download()?.entries()?.1)
    }
    /// The CPU backend; an error on any other engine.
    pub(super) fn processor(&self, op: &str, ring: &Semiring) -> Result<&Cpu> {
        self.typed::<Cpu>().ok_or_else(|| Error::Unsupported {
            what: format!("{op} over {ring} on {}", self.name()),
            why: "it reads arrays in host memory, which only CPUs do".into(),
        })
    }
}
