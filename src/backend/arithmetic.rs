//! Operator notation for matrices of numbers: `&a + &b`, `&a - &b`, `&a * &b`, and powers.
//!
//! The operators run on [`Cpu::new`] over plus-times. They return a `Result`, because shapes may not match.

use std::ops::{Add, Mul, Sub};

use super::{Backend, Cpu};
use crate::algebra::{Minus, Number, Plus, PlusTimes};
use crate::{Csr, Error, Index, Result};

macro_rules! arithmetic {
    ($($(#[$doc:meta])* $name:ident $method:ident |$cpu:ident, $a:ident, $b:ident| $made:expr;)*) => {$(
        $(#[$doc])*
        impl<T: Number, I: Index> $name for &Csr<T, I> {
            type Output = Result<Csr<T, I>>;
            fn $method(self, other: Self) -> Self::Output {
                let ($cpu, $a, $b) = (Cpu::new(), self, other);
                $made
            }
        }
    )*};
}

arithmetic! {
    /// A + B over the union of the patterns.
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<i32>::eye(2)?;
    /// assert_eq!((&a + &a)?.values(), [2, 2]);
    /// assert!((&a + &Csr::eye(3)?).is_err());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    Add add |cpu, a, b| cpu.ewise_add(Plus::new(), a, b).eval();
    /// A − B: the difference, an absent entry being 0.
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<i32>::from_triplets(1, 2, [(0, 0, 5)])?;
    /// let b = Csr::<i32>::from_triplets(1, 2, [(0, 1, 3)])?;
    /// assert_eq!((&a - &b)?.values(), [5, -3]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    Sub sub |cpu, a, b| cpu.ewise_union(Minus::new(), a, T::ZERO, b, T::ZERO).eval();
    /// A·B, rows sorted.
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<i32>::from_triplets(2, 2, [(0, 1, 5), (1, 0, 2)])?;
    /// assert_eq!((&a * &a)?, Csr::from_triplets(2, 2, [(0, 0, 10), (1, 1, 10)])?);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    Mul mul |cpu, a, b| cpu.mxm(PlusTimes::<T>::default(), a, b).eval();
}

impl<T: Number, I: Index> Csr<T, I> {
    /// Aᵏ over plus-times, by repeated squaring: about log₂ k products, and one more per set bit of k. A⁰ is
    /// [`eye`](Self::eye).
    ///
    /// ```
    /// use sparring::Csr;
    /// let fibonacci = Csr::<u64>::from_triplets(2, 2, [(0, 0, 1), (0, 1, 1), (1, 0, 1)])?;
    /// assert_eq!(fibonacci.power(10)?.get(0, 1), Some(&55));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::NotSquare`]; those of the product.
    pub fn power(&self, k: u32) -> Result<Self> {
        let (nrows, ncols) = self.shape();
        if nrows != ncols {
            return Err(Error::NotSquare { op: "power", nrows, ncols });
        }
        let (mut made, mut square, mut rest): (Option<Self>, Self, u32) = (None, self.clone(), k);
        while rest > 0 {
            if rest & 1 == 1 {
                made = Some(match made {
                    None => square.clone(),
                    Some(made) => (&made * &square)?,
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = (&square * &square)?;
            }
        }
        made.map_or_else(|| Self::eye(nrows), Ok)
    }
}
