//! Semirings by name, from the library's table, and semiring handles, also from formulas.

use std::ffi::{CString, c_char};
use std::sync::LazyLock;

use sparring::Error;
use sparring::algebra::Type;
use sparring::algebra::dynamic::SEMIRINGS;
use sparring::runtime::{Matrix, Semiring};

use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, text, write, write_text};
use crate::status::SparringStatus::{self, SPARRING_ARGUMENT, SPARRING_TYPE};
use crate::types::{TYPES, code, named, type_of};

static NAMES: LazyLock<Vec<CString>> =
    LazyLock::new(|| SEMIRINGS.iter().filter_map(|row| CString::new(row.name).ok()).collect());

/// A semiring over values of given types, parsed, checked and compiled once, for any number of products. It may be
/// shared between threads.
pub struct SparringSemiring {
    semiring: Semiring,
    types: [Type; 2],
}

impl Object for SparringSemiring {
    const NAME: &'static str = "SparringSemiring";
}

impl SparringSemiring {
    pub(crate) fn new(semiring: Semiring, types: [Type; 2]) -> Self {
        Self { semiring, types }
    }
    /// Types of the operands of its product.
    pub(crate) fn types(&self) -> [Type; 2] {
        self.types
    }
    pub(crate) fn semiring(&self) -> &Semiring {
        &self.semiring
    }
    /// The semiring, if these matrices have its operand types.
    pub(crate) fn over(&self, a: &Matrix, b: &Matrix) -> Fallible<Semiring> {
        for (name, found, takes) in [("a", a.ty(), self.types[0]), ("b", b.ty(), self.types[1])] {
            if found != takes {
                let (found, takes) = (named(found), named(takes));
                return Err(Fail::of_type(name, format!("values are {found}, those of the semiring {takes}")));
            }
        }
        Ok(self.semiring.clone())
    }
}

/// The semiring by name or formulas, over the values of A and B.
pub(crate) fn parsed(text: &str, a: Type, b: Type) -> Fallible<Semiring> {
    Semiring::between(text, a, b).map_err(|e| of_name(e, "semiring", |ty| Semiring::new(text, ty).is_ok()))
}

/// The error for an unknown name, given as `argument`; `exists` tells whether the name exists for another type.
pub(crate) fn of_name(e: Error, argument: &str, exists: impl Fn(Type) -> bool) -> Fail {
    let unsupported = matches!(e, Error::Unsupported { .. });
    let mut fail = Fail::from(e).naming(argument);
    if unsupported {
        // If the name exists for another type, the type is wrong, otherwise the name.
        let known = TYPES.iter().any(|&ty| exists(ty));
        fail.status = if known { SPARRING_TYPE } else { SPARRING_ARGUMENT };
    }
    fail
}

/// Number of semirings available by name.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_semiring_count() -> u64 {
    SEMIRINGS.len() as u64
}

/// Name of a semiring, for `index` from 0 to sparring_semiring_count() - 1, or NULL beyond: "plus_times", "min_plus"
/// and so on, the sum first. Not every semiring exists for every type; the error lists those available. "lor_land" and
/// similar semirings return bool, positional ones ("any_secondi" and so on) int64_t, all others the type of the
/// operands. The text is constant; do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_semiring_name(index: u64) -> *const c_char {
    let name = usize::try_from(index).ok().and_then(|i| NAMES.get(i));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// A semiring by name (see sparring_semiring_name) or by formulas: ⊕, a comma, ⊗, as in "min, a + 2*b", for products of
/// A with values of `a_type` and B with values of `b_type`, both a SparringType. A named semiring takes the same type
/// for both: SPARRING_TYPE if it does not exist for that type. A formula may take two types. Compilation happens in the
/// first product that needs it; later products with the handle parse nothing. `*ring` receives the handle, NULL on
/// failure; free it with sparring_semiring_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_semiring_new(
    semiring: *const c_char,
    a_type: u32,
    b_type: u32,
    ring: *mut *mut SparringSemiring,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `ring` points to room for a handle, and `semiring` to text ended by a zero.
        let (out, text) = unsafe { (NewHandle::at(ring, "ring")?, text(semiring, "semiring")?) };
        let types = [type_of("a_type", a_type)?, type_of("b_type", b_type)?];
        out.give(SparringSemiring { semiring: parsed(text, types[0], types[1])?, types })
    })
}

/// Its name, or its formulas as given: UTF-8 text written to `buffer` of `capacity` bytes as by sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_semiring_describe(
    ring: *const SparringSemiring,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let words = handle(ring, "ring")?.semiring.to_string();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&words, buffer, capacity, length) }
    })
}

/// Type of its results, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_semiring_type(ring: *const SparringSemiring, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = code(handle(ring, "ring")?.semiring.ty());
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty, "type") }
    })
}

/// Frees a semiring; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_semiring_free(ring: *mut SparringSemiring) -> SparringStatus {
    ffi!({ release(ring, "ring") })
}
