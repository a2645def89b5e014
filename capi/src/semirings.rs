//! The semirings that C can name: those of the library's table.

use std::ffi::{CString, c_char};
use std::sync::LazyLock;

use sparring::algebra::dynamic::SEMIRINGS;
use sparring::backend::Backend;
use sparring::spgemm::{Options, Plan};
use sparring::{Cpu, Csr, Error, Result};
use sparring_named::Matrix;

use crate::matrix::{Data, Scalar};

/// What is to be done over a semiring that is known only by name.
pub(crate) enum Phase<'a> {
    /// The whole product.
    Product(&'a Options),
    /// Values for a plan.
    Numeric(&'a Plan),
    /// Values for a plan, into a matrix that it made before.
    NumericInto(&'a Plan, &'a mut Data),
}

/// Computes a product over the semiring of this name: the result, unless it was written into a matrix.
pub(crate) fn named<T: Scalar>(
    name: &str,
    cpu: &Cpu,
    a: &Csr<T>,
    b: &Csr<T>,
    phase: Phase<'_>,
) -> Result<Option<Data>> {
    match phase {
        Phase::Product(options) => {
            let plan = cpu.plan(a, b).options(options).eval()?;
            T::numeric(cpu, &plan, name, a, b).map(|c| Some(c.into()))
        }
        Phase::Numeric(plan) => T::numeric(cpu, plan, name, a, b).map(|c| Some(c.into())),
        Phase::NumericInto(plan, c) => {
            let found = c.value_type();
            T::numeric_into(cpu, plan, name, a, b, c.csr_mut()).map(|()| None).map_err(|e| match e {
                Error::Argument { name: "c", message } => {
                    Error::Argument { name: "c", message: format!("{message}: {found:?}") }
                }
                e => e,
            })
        }
    }
}

impl From<Matrix> for Data {
    fn from(c: Matrix) -> Self {
        match c {
            Matrix::Bool(c) => Scalar::wrap(c),
            Matrix::Int64(c) => Scalar::wrap(c),
            Matrix::Float(c) => Scalar::wrap(c),
            Matrix::Double(c) => Scalar::wrap(c),
        }
    }
}

static NAMES: LazyLock<Vec<CString>> =
    LazyLock::new(|| SEMIRINGS.iter().filter_map(|row| CString::new(row.name).ok()).collect());

/// Number of semirings that sparring_mxm knows by name.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_semiring_count() -> u64 {
    SEMIRINGS.len() as u64
}

/// Name of a semiring, `index` from 0 to sparring_semiring_count() - 1, or NULL beyond: "plus_times", "min_plus" and
/// so on, the sum first. Not every type has every one: the error that says so lists those that it has. "lor_land"
/// and its kind give bool, and those of positions ("any_secondi" and so on) give int64_t; all others give the type
/// of the operands. The text is constant and is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_semiring_name(index: u64) -> *const c_char {
    let name = usize::try_from(index).ok().and_then(|i| NAMES.get(i));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}
