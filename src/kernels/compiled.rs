//! Compiled operators, monoids and semirings known at run time: a text, its formula, and the loops that run it.
//!
//! A compiled value serves any number of calls and threads at a time. Its loops and their scratch memory are created by
//! the first call that needs them and live as long as the value.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Fold;
use super::by_formula::{Fused, with_type};
use super::evaluator::Evaluator;
use super::unfused::{Unfused, fold_of, no_structs};
use crate::Result;
use crate::algebra::{Constant, Formula, MonoidFormula, Number, RingFormula, Type, Value};
#[cfg(feature = "cuda")]
use crate::algebra::{Printable, Printed, print_once};

/// The content of `lock`, initialized by `make` if empty; errors are not stored.
fn once<T>(lock: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    match lock.get() {
        Some(made) => Ok(made),
        None => {
            let made = make()?;
            Ok(lock.get_or_init(|| made))
        }
    }
}

/// Loops on words of one type, which the caller names.
type Erased = Box<dyn Any + Send + Sync>;

/// The loops of type `X`, created at first use.
fn typed<X: Any + Send + Sync>(lock: &OnceLock<Erased>, make: impl FnOnce() -> Result<X>) -> Result<&X> {
    once(lock, || Ok(Box::new(make()?)))?.downcast_ref().ok_or_else(no_structs)
}

/// An operator: a formula of an entry, of two, or of an entry, a scalar and a position.
pub(crate) struct CompiledOp {
    text: Box<str>,
    formula: Formula,
    is_positional: bool,
    /// Placeholder for an unread scalar.
    zero: Option<Constant>,
    name: OnceLock<Option<&'static str>>,
    evaluator: OnceLock<Evaluator>,
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
            is_positional: formula.reads("i") || formula.reads("j"),
            zero: scalar.map(|&(_, ty)| with_type!(ty, T => Constant::of(T::ZERO), Constant::of(false))),
            formula,
            name: OnceLock::new(),
            evaluator: OnceLock::new(),
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
    /// The name of the built-in operator it equals, however it was written.
    pub(crate) fn builtin(&self) -> Option<&'static str> {
        *self.name.get_or_init(|| self.formula.name())
    }
    /// Type of the results.
    pub(crate) fn ty(&self) -> Type {
        self.formula.ty()
    }
    /// Whether it depends on the row or the column of an entry.
    pub(crate) fn is_positional(&self) -> bool {
        self.is_positional
    }
    /// Placeholder for the scalar of an operator that does not read one.
    pub(crate) fn unread_scalar(&self) -> Option<&Constant> {
        self.zero.as_ref()
    }
    /// # Errors
    /// Those of [`Blocks::new`](crate::algebra::Blocks::new); [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn evaluator(&self) -> Result<&Evaluator> {
        once(&self.evaluator, || Evaluator::new(&self.formula))
    }
    /// As device code, a function of its operands.
    #[cfg(feature = "cuda")]
    pub(crate) fn printed(&self) -> &Arc<Printed> {
        self.printed.get_or_init(|| print_once(Printable::Op(self.formula.clone())))
    }
    /// As device code, a function of an entry alone; `None` if it reads more.
    #[cfg(feature = "cuda")]
    pub(crate) fn printed_of_entry(&self) -> Option<&Arc<Printed>> {
        let made = self.printed.get();
        if made.is_some() || self.is_positional || self.formula.reads("s") {
            return made;
        }
        let op = self.formula.over(&self.formula.parameters()[..1])?;
        Some(self.printed.get_or_init(|| print_once(Printable::Op(op))))
    }
    /// As device code, a function of an entry, a scalar and a position.
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
    /// CPU.
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
    /// Its fused loops, if any.
    fused: OnceLock<Option<Fused>>,
    /// The unfused kernels ([`Unfused`]) of the result type of ⊗.
    unfused: OnceLock<Erased>,
    /// The semiring of the transposed product, if different.
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
            unfused: OnceLock::new(),
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
    /// The semiring of the transposed product: ⊗ with its operands swapped, and its row and column likewise.
    pub(crate) fn transposed(self: &Arc<Self>) -> Arc<Self> {
        let made = self.transposed.get_or_init(|| {
            let text = format!("{}, operands swapped", self.text);
            self.formula.transposed().map(|formula| Arc::new(Self::new(&text, formula)))
        });
        Arc::clone(made.as_ref().unwrap_or(self))
    }
    /// Its fused loops, if any.
    pub(super) fn fused(&self) -> Option<Fused> {
        *self.fused.get_or_init(|| Fused::of(&self.formula))
    }
    /// Whether it is + and × on f64.
    pub(crate) fn is_plus_times_f64(&self) -> bool {
        self.fused() == Some(Fused::PLUS_TIMES[0])
    }
    /// The unfused kernels, for results of type `T`.
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) if the results are of another type, or if the formulas cannot
    /// run on the CPU.
    pub(super) fn unfused<T: Value>(&self) -> Result<&Unfused<T>> {
        typed(&self.unfused, || Unfused::<T>::new(&self.formula))
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
        /// Values are equal if both texts and formulas are.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                std::ptr::eq(self, other) || (self.text == other.text && self.formula == other.formula)
            }
        }
    )*};
}
shown! { CompiledOp CompiledMonoid CompiledRing }
