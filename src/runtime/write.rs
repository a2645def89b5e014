//! Results written into what is there: masks, accumulators, replace.

use super::engine::Operand;
use super::operator::check;
use super::{BinaryOp, Collection, Machine, UnaryOp};
use crate::algebra::Type;
use crate::backend::{Parts, WriteMask, write_parts};
use crate::sparse::MaskSpec;
use crate::{Error, Result};

/// How a result is written: C⟨M, r⟩ ⊙= T, the mask and the accumulator each if there is one.
///
/// | | without accumulator | with ⊙ |
/// | --- | --- | --- |
/// | no mask | C = T | C = C ⊙ T |
/// | mask | C = C⟨¬M⟩ ∪ T⟨M⟩ | C = C ⊙ T⟨M⟩ |
/// | mask, replace | C = T⟨M⟩ | C = C⟨M⟩ ⊙ T⟨M⟩ |
///
/// ```
/// use sparring::algebra::Type;
/// use sparring::runtime::{BinaryOp, Machine, Vector, Write};
/// use sparring::Cpu;
/// let cpu = Machine::from(Cpu::new());
/// let mut c = Vector::from(sparring::Vector::<i32>::full(vec![1, 2, 3])?);
/// let t = Vector::from(sparring::Vector::<i32>::full(vec![10, 20, 30])?);
/// let mask = Vector::from(sparring::Vector::<i32>::new(3, vec![0, 1], vec![5, 0])?);
/// let plus = BinaryOp::new("plus", Type::I32)?;
/// // A mask lets through where its value is not 0.
/// cpu.write(&mut c, &t, &Write::new().mask(&mask).accum(&plus))?;
/// assert_eq!(c.typed::<i32>().unwrap().as_full(), Some(&[11, 2, 3][..]));
/// // By its structure it lets through where it has an entry.
/// cpu.write(&mut c, &t, &Write::new().mask(&mask).structure().complement().replace())?;
/// assert_eq!(c.typed::<i32>().unwrap().to_dense(0)?, [0, 0, 30]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct Write<'a, X> {
    mask: Option<&'a X>,
    structure: bool,
    complement: bool,
    replace: bool,
    accum: Option<&'a BinaryOp>,
}

impl<X> Clone for Write<'_, X> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<X> Copy for Write<'_, X> {}
impl<X> Default for Write<'_, X> {
    fn default() -> Self {
        Self { mask: None, structure: false, complement: false, replace: false, accum: None }
    }
}

impl<'a, X: Collection> Write<'a, X> {
    /// In the place of what is there.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Only where the mask's values are not 0; what is there elsewhere stays, unless [`replace`](Self::replace).
    #[must_use]
    pub fn mask(self, mask: &'a X) -> Self {
        Self { mask: Some(mask), ..self }
    }
    /// Where the mask has an entry, whatever its value.
    #[must_use]
    pub fn structure(self) -> Self {
        Self { structure: true, ..self }
    }
    /// At all other places than the mask's.
    #[must_use]
    pub fn complement(self) -> Self {
        Self { complement: true, ..self }
    }
    /// What is there outside of the mask goes; without a mask it means nothing.
    #[must_use]
    pub fn replace(self) -> Self {
        Self { replace: true, ..self }
    }
    /// The result joins what is there by ⊙.
    #[must_use]
    pub fn accum(self, op: &'a BinaryOp) -> Self {
        Self { accum: Some(op), ..self }
    }
}

/// Matrices or vectors on a machine whose types are known at run time, joined by an operator; the mask goes by its entries.
struct On<'m> {
    machine: &'m Machine,
    ty: Type,
    accum: Option<&'m BinaryOp>,
}
impl On<'_> {
    fn joined<X: Collection>(&self, op: Option<&BinaryOp>, x: &mut X, t: &X) -> Result<()> {
        if let (Some(x), Operand::Vector(t)) = (x.vector_of(), t.operand_of())
            && let Some(done) = self.machine.engine().put(x, t, op)
        {
            return done;
        }
        *x = match op {
            Some(op) => self.machine.ewise_add(op, x, t)?,
            None => self.machine.ewise_add(&BinaryOp::new("second", self.ty)?, x, t)?,
        };
        Ok(())
    }
}
impl<X: Collection> Parts<X, X> for On<'_> {
    fn shape(&self, x: &X) -> (usize, usize) {
        x.shape_of()
    }
    fn is_own(&self, _: &X, _: &X) -> bool {
        false
    }
    fn fills(&self, t: &X, mask: MaskSpec<'_, X>) -> bool {
        let (Operand::Vector(t), Operand::Vector(m)) = (t.operand_of(), mask.pattern.operand_of()) else {
            return false;
        };
        // Counting may be a wait for another machine.
        let (true, Ok(entries), Ok(of_mask)) = (t.is_on_host() && m.is_on_host(), t.nvals(), m.nvals()) else {
            return false;
        };
        entries == if mask.complement { t.len() - of_mask } else { of_mask }
    }
    fn retain(&self, x: &mut X, mask: MaskSpec<'_, X>) -> Result<()> {
        if let (Some(x), Operand::Vector(m)) = (x.vector_of(), mask.pattern.operand_of())
            && let Some(done) = self.machine.engine().retain(x, m, mask.complement)
        {
            return done;
        }
        *x = self.machine.restrict(x, mask.pattern, mask.complement)?;
        Ok(())
    }
    fn put(&self, x: &mut X, t: X) -> Result<()> {
        self.joined(None, x, &t)
    }
    fn accumulate(&self, x: &mut X, t: X) -> Result<()> {
        self.joined(self.accum, x, &t)
    }
}

impl Machine {
    /// C⟨M, r⟩ ⊙= T, as [`Write`] says it, for matrices or vectors.
    ///
    /// The rules are those of the chains of [`Backend`](crate::backend::Backend), which write by the same function. Cost: that of the mask and of
    /// [`ewise_add`](Self::ewise_add).
    /// # Errors
    /// [`Error::Argument`] if `t` or the accumulator is of another type than `c`, with both named, or for a complement without a mask;
    /// [`Error::Shape`]; [`Error::Unsupported`] for a mask of structs that does not go by its structure; those of the machine. `c`
    /// is as it was then.
    pub fn write<X: Collection>(&self, c: &mut X, t: &X, how: &Write<'_, X>) -> Result<()> {
        let ty = c.type_of();
        if t.type_of() != ty {
            let message = format!("the result is {}, these values are {ty}", t.type_of());
            return Err(Error::Argument { name: "c", message });
        }
        if let Some(op) = how.accum {
            let (a, b) = op.takes();
            for found in [a, b, op.ty()] {
                check("c", &format_args!("the accumulator {op}"), found, ty)?;
            }
        }
        if how.mask.is_none() && how.complement {
            return Err(Error::Argument { name: "mask", message: "there is none, so it has no complement".into() });
        }
        let mask = match how.mask {
            Some(mask) if how.structure => Some(mask.clone()),
            Some(mask) => Some(self.select(&UnaryOp::new("a != 0", mask.type_of())?, mask)?),
            None => None,
        };
        let t = match &mask {
            Some(mask) => self.restrict(t, mask, how.complement)?,
            None => t.clone(),
        };
        let mask = mask.map(|pattern| WriteMask { pattern, complement: how.complement, replace: how.replace });
        write_parts(&On { machine: self, ty, accum: how.accum }, "write", c, t, mask, how.accum.is_some())
    }
}
