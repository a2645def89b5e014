//! An expression with its operands, parsed at run time or checked by the compiler.

use std::marker::PhantomData;

use super::arrangement::{Arrangement, RowMajor};
use super::layout::Layout;
use super::shaped::{Extents, Shaped};
use super::subscripts::{LETTERS, Subscripts, assert_subscripts, name};
use super::view::{View, Viewed};
use crate::par::collected;
use crate::{Error, Result};

/// The index number of the batch, after the letters.
pub(crate) const BATCH: u8 = LETTERS as u8;
/// Most indices.
pub(crate) const INDICES: usize = LETTERS + 1;

/// `C(r…) = ⊕ over the indices that C lacks: x₁(…) ⊗ x₂(…) ⊗ …`, the indices of each operand and of C written as
/// letters.
///
/// `"bij,bjk->bik"`: letters a–z and A–Z, operands separated by commas, the indices of the result after `->`; spaces
/// are ignored. An index that occurs twice in an operand selects its diagonal; one that the result lacks is folded,
/// wherever it occurs. Operands that are batches or [groups](super::Group) have the batch as an implicit index without
/// a letter: the same number of tensors each, or one for all.
/// ```
/// use sparring::contract::{Einsum, Layout, View};
/// let x = [1.0, 2.0, 3.0, 4.0];
/// let square = View::new(&x, Layout::row_major(&[2, 2])?)?;
/// assert!(Einsum::new("ij,jk->ik", &[square.clone(), square.clone()]).is_ok());
/// let wrong = Einsum::new("ij,jk->il", &[square.clone(), square]).unwrap_err();
/// assert_eq!(wrong.to_string(), "expression: no operand has this index of the result\n  ij,jk->il\n          ^");
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Einsum<'a, T, V = View<'a, T>> {
    pub(super) subscripts: Subscripts,
    pub(super) operands: Vec<V>,
    /// The extent of each index; 0 for unused letters.
    pub(super) extents: [usize; INDICES],
    /// Number of directions if it is the action of a mass operator.
    pub(super) action: Option<usize>,
    pub(super) of: PhantomData<&'a T>,
}

impl<'a, V: Viewed<Value: 'a>> Einsum<'a, V::Value, V> {
    /// Parses the expression and checks it against its operands.
    /// # Errors
    /// [`Error::Expression`], with the position marked, for a syntax error, a wrong number of operands, an operand with
    /// a wrong number of indices, or a letter with two extents. [`Error::Length`] if batches differ in length.
    pub fn new(text: &str, operands: &[V]) -> Result<Self> {
        let subscripts = Subscripts::parse(text)?;
        let (named, given) = (subscripts.operands.len(), operands.len());
        if named != given {
            let at = subscripts.operands.get(given).map_or(subscripts.result.at.saturating_sub(2), |term| term.at);
            return Err(subscripts.wrong(at, format!("{named} operands are named, {given} are given")));
        }
        let mut extents = [0; INDICES];
        let mut first = [None; INDICES];
        let mut batch = None;
        for (number, (term, x)) in subscripts.operands.iter().zip(operands).enumerate() {
            let (letters, rank) = (term.letters.len(), x.layout().rank());
            if letters != rank {
                let message = format!("operand {number} has {letters} letters and {rank} indices");
                return Err(subscripts.wrong(term.at, message));
            }
            for (&(index, at), &extent) in term.letters.iter().zip(x.layout().extents()) {
                let index = usize::from(index);
                match first[index] {
                    Some(before) if extents[index] != extent => {
                        let letter = name(index as u8);
                        let message = format!(
                            "{letter} has {extent} values in operand {number}, {} in operand {before}",
                            extents[index]
                        );
                        return Err(subscripts.wrong(at, message));
                    }
                    _ => (first[index], extents[index]) = (Some(number), extent),
                }
            }
            match (x.layout().batch(), batch) {
                (1, _) => {}
                (found, None) => batch = Some(found),
                (found, Some(expected)) if found != expected => {
                    return Err(Error::Length { what: "batch of an operand", found, expected });
                }
                _ => {}
            }
        }
        // A sum over an empty index is empty in all folded indices, so their loops are skipped too.
        let in_result = |index: usize| subscripts.result.letters.iter().any(|l| usize::from(l.0) == index);
        let summed = |&index: &usize| first[index].is_some() && !in_result(index);
        if (0..first.len()).filter(summed).any(|index| extents[index] == 0) {
            (0..first.len()).filter(summed).for_each(|index| extents[index] = 0);
        }
        extents[usize::from(BATCH)] = batch.unwrap_or(1);
        let operands = collected(given, operands.iter().cloned(), "operands")?;
        Ok(Self { subscripts, operands, extents, action: None, of: PhantomData })
    }
    /// The expansion of [`einsum!`](crate::einsum!).
    #[doc(hidden)]
    pub fn checked<S: Text, O: Operands<V>>(_: S, operands: O) -> Result<Self> {
        const { assert_subscripts(S::TEXT, Some(O::SHAPES)) };
        Self::new(S::TEXT, &operands.views())
    }
}

impl<T, V> Einsum<'_, T, V> {
    /// The default layout of a new result: row-major, tensors in sequence.
    pub(crate) fn row_major(&self) -> Result<Layout> {
        self.arranged(&RowMajor)
    }
    /// The layout of a new result by this rule.
    pub(crate) fn arranged(&self, by: &dyn Arrangement) -> Result<Layout> {
        let (extents, batch) = self.result();
        by.layout(&extents, batch)
    }
    /// Extents of each tensor of the result, and the number of tensors.
    #[must_use]
    pub fn result(&self) -> (Vec<usize>, usize) {
        let of = |index: u8| self.extents[usize::from(index)];
        (self.subscripts.result.letters.iter().map(|l| of(l.0)).collect(), of(BATCH))
    }
    /// The extent of each index, by its number.
    #[cfg(feature = "cuda")]
    pub(crate) fn extents(&self) -> &[usize; INDICES] {
        &self.extents
    }
    /// Directions of a mass operator, if it is the action of one.
    #[cfg(feature = "cuda")]
    pub(crate) fn action(&self) -> Option<usize> {
        self.action
    }
    /// The operands.
    #[must_use]
    pub fn operands(&self) -> &[V] {
        &self.operands
    }
}

/// The text of an expression known at compile time.
#[doc(hidden)]
pub trait Text {
    const TEXT: &'static str;
}

/// Views whose shapes are known at compile time.
#[doc(hidden)]
pub trait Operands<V> {
    const SHAPES: &'static [&'static [Option<usize>]];
    fn views(self) -> Vec<V>;
}

macro_rules! operands {
    ($($x:ident $s:ident),*) => {
        impl<'a, V: Viewed<Value: 'a>, $($s: Extents),*> Operands<V> for ($(&Shaped<'a, V::Value, $s, V>,)*) {
            const SHAPES: &'static [&'static [Option<usize>]] = &[$($s::KNOWN),*];
            fn views(self) -> Vec<V> {
                let ($($x,)*) = self;
                vec![$($x.view().clone()),*]
            }
        }
    };
}
operands!(a S0);
operands!(a S0, b S1);
operands!(a S0, b S1, c S2);
operands!(a S0, b S1, c S2, d S3);
operands!(a S0, b S1, c S2, d S3, e S4);
operands!(a S0, b S1, c S2, d S3, e S4, f S5);
operands!(a S0, b S1, c S2, d S3, e S4, f S5, g S6);
operands!(a S0, b S1, c S2, d S3, e S4, f S5, g S6, h S7);

/// An [`Einsum`](crate::contract::Einsum) whose letters are checked against its operands at compile time:
/// `einsum!("ksl,isj->ijkl", b, c)?`, of one to eight [`Shaped`](crate::contract::Shaped) views. Their types give their
/// numbers of indices and, optionally, their extents ([`View::shaped`](crate::contract::View::shaped),
/// [`View::ranked`](crate::contract::View::ranked)).
///
/// Extents known in the types of both of two views are compared by the compiler, also in `cargo check`; all others are
/// compared at run time. In a function that is generic over its shapes use
/// [`Einsum::new`](crate::contract::Einsum::new), because the compiler must know the extents here.
/// ```
/// use sparring::{Cpu, algebra::PlusTimes, contract::{Layout, View}, einsum};
/// let (b, c) = ([1.0, 2.0], [10.0, 20.0]);
/// let b = View::new(&b, Layout::row_major(&[1, 2, 1])?)?.ranked::<3>()?;
/// let c = View::new(&c, Layout::row_major(&[1, 2, 1])?)?.ranked::<3>()?;
/// let a = Cpu::new().einsum(PlusTimes::new(), einsum!("ksl,isj->ijkl", b, c)?).eval()?;
/// assert_eq!(a.values(), [50.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Known extents that differ do not compile, be it in two operands:
/// ```compile_fail,E0277
/// use sparring::{contract::{Any, Fixed, Layout, View}, einsum};
/// let b = View::new(&[1.0], Layout::row_major(&[1, 1])?)?.shaped::<(Any, Fixed<3>)>()?;
/// let c = View::new(&[1.0], Layout::row_major(&[1, 1])?)?.shaped::<(Fixed<4>, Any)>()?;
/// einsum!("ij,jk->ik", b, c)?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// or along the diagonal of one:
/// ```compile_fail,E0277
/// use sparring::{contract::{Fixed, Layout, View}, einsum};
/// let b = View::new(&[1.0], Layout::row_major(&[1, 1])?)?.shaped::<(Fixed<3>, Fixed<4>)>()?;
/// einsum!("ii->i", b)?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// An index of the result that no operand has does not compile:
/// ```compile_fail,E0080
/// use sparring::{contract::{Layout, View}, einsum};
/// let b = View::new(&[1.0], Layout::row_major(&[1, 1])?)?.ranked::<2>()?;
/// einsum!("ij->ik", b)?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// Neither does an operand with a wrong number of indices:
/// ```compile_fail,E0277
/// use sparring::{contract::{Layout, View}, einsum};
/// let b = View::new(&[1.0], Layout::row_major(&[1, 1])?)?.ranked::<2>()?;
/// einsum!("ijk->ik", b)?;
/// # Ok::<(), sparring::Error>(())
/// ```
/// Neither does a missing operand:
/// ```compile_fail,E0080
/// use sparring::{contract::{Layout, View}, einsum};
/// let b = View::new(&[1.0], Layout::row_major(&[1, 1])?)?.ranked::<2>()?;
/// einsum!("ij,jk->ik", b)?;
/// # Ok::<(), sparring::Error>(())
/// ```
#[macro_export]
macro_rules! einsum {
    (@operands $text:literal $given:ident ($i:literal $($more:literal)*) $operand:tt $($rest:tt)*) => {
        $crate::contract::assert_rank::<$i, { $crate::contract::rank_of($text, $i) }, _>(&$given);
        $crate::einsum!(@indices $text $given $i 0 1 2 3 4 5 6 7);
        $crate::einsum!(@operands $text $given ($($more)*) $($rest)*);
    };
    (@operands $text:literal $given:ident ($($more:literal)*)) => {};
    (@indices $text:literal $given:ident $i:literal $($j:literal)*) => {
        $($crate::contract::assert_agrees::<
            $i,
            $j,
            { $crate::contract::first($text, $i, $j).0 },
            { $crate::contract::first($text, $i, $j).1 },
            _,
        >(&$given);)*
    };
    ($text:literal, $($operand:expr),+ $(,)?) => {{
        struct Expression;
        impl $crate::contract::Text for Expression {
            const TEXT: &'static str = $text;
        }
        const _: () = {
            $crate::contract::assert_subscripts($text, None);
            $crate::contract::assert_operands($text, [$(stringify!($operand)),+].len());
        };
        let given = ($(&$operand,)+);
        $crate::einsum!(@operands $text given (0 1 2 3 4 5 6 7) $({$operand})+);
        $crate::contract::Einsum::checked(Expression, given)
    }};
}
