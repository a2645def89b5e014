//! Results written into what is there: masks, accumulators, replace.

use super::operator::check;
use super::{BinaryOp, Collection, Machine, UnaryOp};
use crate::algebra::Type;
use crate::backend::{Parts, Where, write_parts};
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

/// Matrices or vectors on a machine whose types are known at run time; the mask goes by its entries.
struct On<'m>(&'m Machine, Type);
impl<X: Collection> Parts<X, X> for On<'_> {
    fn shape(&self, x: &X) -> (usize, usize) {
        x.shape_of()
    }
    fn restrict(&self, x: &X, places: &X, complement: bool) -> Result<X> {
        self.0.restrict(x, places, complement)
    }
    fn union(&self, x: &X, y: &X) -> Result<X> {
        self.0.ewise_add(&BinaryOp::new("second", self.1)?, x, y)
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
        let add = |x: &X, y: &X| match how.accum {
            Some(op) => self.ewise_add(op, x, y),
            None => Ok(y.clone()),
        };
        let add: &dyn Fn(&X, &X) -> Result<X> = &add;
        let places = mask.as_ref().map(|places| Where { places, complement: how.complement, replace: how.replace });
        write_parts(&On(self, ty), "write", c, t, places, how.accum.map(|_| add))
    }
}
