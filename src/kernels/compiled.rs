//! Operators, monoids and semirings that are known at run time, compiled: a text, its formula, and the loops that run
//! it.
//!
//! A value is made once and serves any number of calls and of threads at a time. Its loops, with the scratch that they
//! work in, are made by the first call that needs them and stay until the value goes.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Fold;
use super::by_formula::{Fused, with_type};
use super::runs::Runs;
use super::two_steps::{TwoSteps, fold_of, no_structs};
use crate::Result;
use crate::algebra::{Constant, Formula, MonoidFormula, Number, RingFormula, Type, Value};
#[cfg(feature = "cuda")]
use crate::algebra::{Printable, Printed, print_once};

/// What is in the lock, or else what `make` makes; an error is not kept.
fn once<T>(lock: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    match lock.get() {
        Some(made) => Ok(made),
        None => {
            let made = make()?;
            Ok(lock.get_or_init(|| made))
        }
    }
}

/// Loops on words of one type, which those who ask for them name.
type Erased = Box<dyn Any + Send + Sync>;

/// The loops of type `X`, made at first use.
fn typed<X: Any + Send + Sync>(lock: &OnceLock<Erased>, make: impl FnOnce() -> Result<X>) -> Result<&X> {
    once(lock, || Ok(Box::new(make()?)))?.downcast_ref().ok_or_else(no_structs)
}

/// An operator: a formula of an entry, of two, or of an entry, a scalar and its place.
pub(crate) struct CompiledOp {
    text: Box<str>,
    formula: Formula,
    reads_place: bool,
    /// What stands for a scalar that is not read.
    zero: Option<Constant>,
    name: OnceLock<Option<&'static str>>,
    runs: OnceLock<Runs>,
    #[cfg(feature = "cuda")]
    printed: OnceLock<Arc<Printed>>,
    #[cfg(feature = "cuda")]
    printed_at: OnceLock<Arc<Printed>>,
}

impl CompiledOp {
    pub(crate) fn new(text: &str, formula: Formula) -> Self {
        let scalar = formula.parameters().iter().find(|p| p.0 == "s").filter(|_| !formula.reads("s"));
        Self {
            text: text.into(),
            reads_place: formula.reads("i") || formula.reads("j"),
            zero: scalar.map(|&(_, ty)| with_type!(ty, T => Constant::of(T::ZERO), Constant::of(false))),
            formula,
            name: OnceLock::new(),
            runs: OnceLock::new(),
            #[cfg(feature = "cuda")]
            printed: OnceLock::new(),
            #[cfg(feature = "cuda")]
            printed_at: OnceLock::new(),
        }
    }
    /// Its name, or the text of its formula.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
    pub(crate) fn formula(&self) -> &Formula {
        &self.formula
    }
    /// The name of the built-in operator that it is, however it was written.
    pub(crate) fn builtin(&self) -> Option<&'static str> {
        *self.name.get_or_init(|| self.formula.name())
    }
    /// Type of the results.
    pub(crate) fn ty(&self) -> Type {
        self.formula.ty()
    }
    /// Whether it depends on the row or the column of an entry.
    pub(crate) fn reads_place(&self) -> bool {
        self.reads_place
    }
    /// What stands for a scalar that it does not read.
    pub(crate) fn unread_scalar(&self) -> Option<&Constant> {
        self.zero.as_ref()
    }
    /// # Errors
    /// Those of [`Blocks::new`](crate::algebra::Blocks::new); [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn runs(&self) -> Result<&Runs> {
        once(&self.runs, || Runs::new(&self.formula))
    }
    /// As device code of its operands.
    #[cfg(feature = "cuda")]
    pub(crate) fn printed(&self) -> &Arc<Printed> {
        self.printed.get_or_init(|| print_once(Printable::Op(self.formula.clone())))
    }
    /// As device code of an entry alone; `None` if it reads more.
    #[cfg(feature = "cuda")]
    pub(crate) fn printed_of_entry(&self) -> Option<&Arc<Printed>> {
        let made = self.printed.get();
        if made.is_some() || self.reads_place || self.formula.reads("s") {
            return made;
        }
        let op = self.formula.over(&self.formula.parameters()[..1])?;
        Some(self.printed.get_or_init(|| print_once(Printable::Op(op))))
    }
    /// As device code of an entry, a scalar and a place.
    #[cfg(feature = "cuda")]
    pub(crate) fn printed_at(&self) -> &Arc<Printed> {
        self.printed_at.get_or_init(|| print_once(Printable::IndexOp(self.formula.clone())))
    }
}

/// ⊕ with its identity.
pub(crate) struct CompiledMonoid {
    text: Box<str>,
    formula: MonoidFormula,
    /// A `Box<dyn Fold>` of the type's word.
    fold: OnceLock<Erased>,
    #[cfg(feature = "cuda")]
    printed: OnceLock<Arc<Printed>>,
}

impl CompiledMonoid {
    pub(crate) fn new(text: &str, formula: MonoidFormula) -> Self {
        Self {
            text: text.into(),
            formula,
            fold: OnceLock::new(),
            #[cfg(feature = "cuda")]
            printed: OnceLock::new(),
        }
    }
    /// Its name, or the text of its formula.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
    pub(crate) fn formula(&self) -> &MonoidFormula {
        &self.formula
    }
    /// Type of the values.
    pub(crate) fn ty(&self) -> Type {
        self.formula.op().ty()
    }
    /// The fold on values of type `T`.
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) if it is on another type, or if its formula cannot run on the
    /// processor.
    pub(crate) fn fold<T: Value>(&self) -> Result<&dyn Fold<T::Word>> {
        Ok(&**typed::<Box<dyn Fold<T::Word>>>(&self.fold, || fold_of::<T>(&self.formula))?)
    }
    /// As device code.
    #[cfg(feature = "cuda")]
    pub(crate) fn printed(&self) -> &Arc<Printed> {
        self.printed
            .get_or_init(|| print_once(Printable::Monoid(self.formula.op().clone(), self.formula.identity().clone())))
    }
}

/// ⊕ and ⊗.
pub(crate) struct CompiledRing {
    text: Box<str>,
    formula: RingFormula,
    /// Its fused loops, if it has any.
    fused: OnceLock<Option<Fused>>,
    /// The [`TwoSteps`] of the type that ⊗ gives.
    two_steps: OnceLock<Erased>,
    /// The semiring of the transposed product, if it is another.
    transposed: OnceLock<Option<Arc<CompiledRing>>>,
    #[cfg(feature = "cuda")]
    printed: OnceLock<Arc<Printed>>,
}

impl CompiledRing {
    pub(crate) fn new(text: &str, formula: RingFormula) -> Self {
        Self {
            text: text.into(),
            formula,
            fused: OnceLock::new(),
            two_steps: OnceLock::new(),
            transposed: OnceLock::new(),
            #[cfg(feature = "cuda")]
            printed: OnceLock::new(),
        }
    }
    /// Its name, or the text of its formulas.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
    pub(crate) fn formula(&self) -> &RingFormula {
        &self.formula
    }
    /// Type of the results.
    pub(crate) fn ty(&self) -> Type {
        self.formula.mul().ty()
    }
    /// The semiring of the transposed product: ⊗ with its operands and its row and column exchanged.
    pub(crate) fn transposed(self: &Arc<Self>) -> Arc<Self> {
        let made = self.transposed.get_or_init(|| {
            let text = format!("{}, operands exchanged", self.text);
            self.formula.transposed().map(|formula| Arc::new(Self::new(&text, formula)))
        });
        Arc::clone(made.as_ref().unwrap_or(self))
    }
    /// Its fused loops, if it has any.
    pub(super) fn fused(&self) -> Option<Fused> {
        *self.fused.get_or_init(|| Fused::of(&self.formula))
    }
    /// Whether it is + and × of f64.
    pub(crate) fn is_plus_times_f64(&self) -> bool {
        self.fused() == Some(Fused::PLUS_TIMES[0])
    }
    /// ⊕ and ⊗ as two values, for results of type `T`.
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) if they are of another type, or if its formulas cannot run on
    /// the processor.
    pub(super) fn two_steps<T: Value>(&self) -> Result<&TwoSteps<T>> {
        typed(&self.two_steps, || TwoSteps::<T>::new(&self.formula))
    }
    /// As device code.
    #[cfg(feature = "cuda")]
    pub(crate) fn printed(&self) -> &Arc<Printed> {
        self.printed.get_or_init(|| {
            let (add, mul) = (self.formula.add(), self.formula.mul());
            print_once(Printable::Ring(add.op().clone(), add.identity().clone(), mul.clone()))
        })
    }
}

macro_rules! shown {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("text", &self.text).field("formula", &self.formula).finish()
            }
        }
        /// Equal are values of one text and one formula.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                std::ptr::eq(self, other) || (self.text == other.text && self.formula == other.formula)
            }
        }
    )*};
}
shown! { CompiledOp CompiledMonoid CompiledRing }
