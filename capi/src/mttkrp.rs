//! The matricized tensor times the Khatri–Rao product of all factors but one.

use std::ffi::{c_char, c_void};

use sparring::Error;
use sparring::algebra::{Array, Slice, Type};
use sparring::runtime::{MttkrpPlan, Tensor};
use sparring::tensor::Variant;

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, choice, fits, input, size, write_text};
use crate::semirings::SparringSemiring;
use crate::status::SparringStatus;
use crate::tensor::SparringTensor;
use crate::types::{Values, lent_values, named, output_values};

/// Algorithms for MTTKRP. Variants differ by rounding; all except A and B are bitwise identical for any number of
/// threads.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringMttkrpVariant {
    /// Chosen by the tensor's shape and the memory budget: without a copy of the tensor for a single product, mostly
    /// one copy per mode for a plan or CP.
    SPARRING_MTTKRP_AUTO = 0,
    /// MTTKRP-A of Phipps and Kolda 2019: rows in memory, every product added under a lock.
    SPARRING_MTTKRP_A = 1,
    /// MTTKRP-B of the same: like A, with a block of columns in registers.
    SPARRING_MTTKRP_B = 2,
    /// MTTKRP-C of the same: a permutation per mode.
    SPARRING_MTTKRP_C = 3,
    /// A copy of the tensor per mode.
    SPARRING_MTTKRP_COPIES = 4,
    /// Adjacent modes share copies and products.
    SPARRING_MTTKRP_TREE = 5,
    /// The tensor in its given order, without a copy.
    SPARRING_MTTKRP_SINGLE = 6,
    /// One copy for all modes, in an order with locality in every mode.
    SPARRING_MTTKRP_LINEAR = 7,
}

/// The variant of a code, checked; `None` for the automatic one.
pub(crate) fn variant(name: &'static str, code: u32) -> Fallible<Option<Variant>> {
    use SparringMttkrpVariant::*;
    let variants = [
        (SPARRING_MTTKRP_AUTO as u32, None),
        (SPARRING_MTTKRP_A as u32, Some(Variant::A)),
        (SPARRING_MTTKRP_B as u32, Some(Variant::B)),
        (SPARRING_MTTKRP_C as u32, Some(Variant::C)),
        (SPARRING_MTTKRP_COPIES as u32, Some(Variant::Copies)),
        (SPARRING_MTTKRP_TREE as u32, Some(Variant::Tree)),
        (SPARRING_MTTKRP_SINGLE as u32, Some(Variant::Single)),
        (SPARRING_MTTKRP_LINEAR as u32, Some(Variant::Linear)),
    ];
    choice(name, code, &variants)
}

/// Number of elements of a factor.
pub(crate) fn elements(rows: usize, rank: usize, ty: Type) -> Fallible<usize> {
    let (needed, max) = (rows as u128 * rank as u128, isize::MAX as u128 / ty.size() as u128);
    rows.checked_mul(rank)
        .filter(|&n| n as u128 <= max)
        .ok_or_else(|| Error::IndexOverflow { what: "rank", needed, max }.into())
}

/// A tensor prepared for MTTKRP with factors of a given number of columns. It may be shared between threads.
pub struct SparringMttkrp {
    plan: MttkrpPlan,
}

impl Object for SparringMttkrp {
    const NAME: &'static str = "SparringMttkrp";
}

/// Runs `compute` on the caller's factors of a mode, and writes the product to the caller's array.
/// # Safety
/// `factors` has an address for each mode, each but that of `mode` of `dims[m]` · `rank` elements of the tensor's type,
/// and `out` room for `out_len` of them.
unsafe fn computed(
    (x, rank): (&Tensor, usize),
    factors: *const *const c_void,
    mode: u64,
    (out, out_len): (*mut c_void, u64),
    compute: impl FnOnce(&[Slice<'_>], usize) -> sparring::Result<Array>,
) -> Fallible {
    let (dims, ty) = (x.dims(), x.ty());
    // SAFETY: the caller's promise.
    let addresses = unsafe { input(factors, dims.len(), "factors")? };
    let rows = usize::try_from(mode).ok().and_then(|mode| Some((mode, *dims.get(mode)?)));
    let (mode, rows) = rows.ok_or_else(|| {
        Fail::argument("mode", format!("{mode} of a tensor of {} modes, which are counted from 0", dims.len()))
    })?;
    let len = elements(rows, rank, ty)?;
    fits(len, out_len, "out")?;
    if len > 0 && out.is_null() {
        return Err(Fail::null("out"));
    }
    let mut values = Vec::with_capacity(dims.len());
    for (m, (&p, &n)) in addresses.iter().zip(dims).enumerate() {
        let len = if m == mode { 0 } else { elements(n, rank, ty)? };
        // SAFETY: the caller's promise.
        values.push(unsafe { lent_values(ty, p, len, "factors").map_err(|e| e.at("factors", m))? });
    }
    let factors: Vec<Slice<'_>> = values.iter().map(Values::slice).collect();
    let product = compute(&factors, mode).map_err(|e| Fail::from(e).naming("tensor"))?;
    // SAFETY: the caller's promise.
    let written = unsafe { output_values(product.slice(), out, out_len) };
    written.map_err(|e| Fail { message: e.message.replacen("values", "out", 1), ..e })
}

/// V = X₍ₙ₎ (⊙ₘ Aₘ), the matricized tensor times the Khatri–Rao product of all factors except that of `mode`, which is
/// n: V(i, r) is the sum, over the entries with index i in mode n, of the value times Aₘ(iₘ, r) for each other mode m
/// (bool: or, and). `factors` has the addresses of one factor per mode, of values of the tensor's type; that of mode m
/// has `dims[m]` · `rank` elements in row-major order; that of `mode` is not read and may be NULL. `variant` is a
/// SparringMttkrpVariant; types other than floats only support SPARRING_MTTKRP_AUTO, and are a few times slower. `out`
/// has room for `out_len` elements of the same type and receives `dims[mode]` · `rank` in row-major order:
/// SPARRING_LENGTH before any computation if it is too short. Bitwise identical for any number of threads, except for
/// variants A and B. On a GPU, tensor and factors must be floats and are uploaded, in parts if memory requires; it
/// supports the variants C and COPIES. For several products of one tensor use sparring_mttkrp_new.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_mttkrp(
    device: *const SparringDevice,
    tensor: *const SparringTensor,
    rank: u64,
    factors: *const *const c_void,
    mode: u64,
    variant: u32,
    out: *mut c_void,
    out_len: u64,
) -> SparringStatus {
    ffi!({
        let (device, tensor) = (handle(device, "device")?, handle(tensor, "tensor")?);
        let (rank, variant) = (size(rank, "rank")?, self::variant("variant", variant)?);
        let once = |factors: &[Slice<'_>], mode| {
            device.machine.mttkrp_plan(&tensor.x, rank, variant, Some(mode))?.eval(factors, mode)
        };
        // SAFETY: by the contract above, which `computed` requires.
        unsafe { computed((&tensor.x, rank), factors, mode, (out, out_len), once) }
    })
}

/// The same over a semiring on values of the tensor's type, including user-defined functions: V(i, r) is the sum, over
/// the entries with index i in mode n, of the value times Aₘ(iₘ, r) for each other mode m, with ⊕ in the order of the
/// entries and ⊗ from left to right in the order of the modes; the identity of ⊕ if there are no entries. `factors`,
/// `mode`, `out` and `out_len` as there. Bitwise identical for any number of threads. On a GPU, tensor and factors are
/// uploaded, and long rows are folded in another order.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_mttkrp_with(
    device: *const SparringDevice,
    ring: *const SparringSemiring,
    tensor: *const SparringTensor,
    rank: u64,
    factors: *const *const c_void,
    mode: u64,
    out: *mut c_void,
    out_len: u64,
) -> SparringStatus {
    ffi!({
        let (device, ring, tensor) = (handle(device, "device")?, handle(ring, "ring")?, handle(tensor, "tensor")?);
        let rank = size(rank, "rank")?;
        let ([a, b], gives, ty) = (ring.types(), ring.semiring().ty(), tensor.x.ty());
        if [a, b, gives] != [ty; 3] {
            let [a, b, gives, ty] = [a, b, gives, ty].map(named);
            return Err(Fail::of_type(
                "ring",
                format!("it takes {a} and {b} and gives {gives}, the tensor is of {ty}"),
            ));
        }
        let once = |factors: &[Slice<'_>], mode| device.machine.mttkrp(ring.semiring(), &tensor.x, factors, rank, mode);
        // SAFETY: by the contract above, which `computed` requires.
        unsafe { computed((&tensor.x, rank), factors, mode, (out, out_len), once) }
    })
}

/// Prepares every mode of the tensor for products with factors of `rank` columns: copies or permutations of its
/// entries, made once for any number of sparring_mttkrp_run. `variant` is a SparringMttkrpVariant. Types other than
/// floats need no preparation and only support SPARRING_MTTKRP_AUTO. On a GPU the tensor is uploaded, sorted and stored
/// there; it supports the variants C and COPIES, and if neither fits, the tensor is streamed in parts for each product.
/// The memory budget of the device covers the stored copies, and on the processor also the result of a product. Tensor
/// and device may be freed afterwards: the plan keeps the parts it needs. `*mttkrp` receives the handle, NULL on
/// failure; free it with sparring_mttkrp_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_mttkrp_new(
    device: *const SparringDevice,
    tensor: *const SparringTensor,
    rank: u64,
    variant: u32,
    mttkrp: *mut *mut SparringMttkrp,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `mttkrp` points to room for a handle.
        let out = unsafe { NewHandle::at(mttkrp, "mttkrp")? };
        let (device, tensor) = (handle(device, "device")?, handle(tensor, "tensor")?);
        let (rank, variant) = (size(rank, "rank")?, self::variant("variant", variant)?);
        for &n in tensor.x.dims() {
            elements(n, rank, tensor.x.ty())?;
        }
        let plan = device.machine.mttkrp_plan(&tensor.x, rank, variant, None);
        out.give(SparringMttkrp { plan: plan.map_err(|e| Fail::from(e).naming("tensor"))? })
    })
}

/// V = X₍ₙ₎ (⊙ₘ Aₘ) for the tensor of `mttkrp`, as computed by sparring_mttkrp: `factors`, `mode`, `out` and `out_len`
/// as there. `rank` is that of the plan: SPARRING_ARGUMENT otherwise. Nothing is sorted; on a GPU only the factors are
/// uploaded, and V is downloaded. Bitwise identical in every call and for any number of threads, except for variants A
/// and B.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_mttkrp_run(
    mttkrp: *const SparringMttkrp,
    rank: u64,
    factors: *const *const c_void,
    mode: u64,
    out: *mut c_void,
    out_len: u64,
) -> SparringStatus {
    ffi!({
        let of = handle(mttkrp, "mttkrp")?;
        let plan = &of.plan;
        if rank != plan.rank() as u64 {
            return Err(Fail::argument("rank", format!("{rank}, the plan is for factors of {} columns", plan.rank())));
        }
        let run = |factors: &[Slice<'_>], mode| plan.eval(factors, mode);
        // SAFETY: by the contract above, which `computed` requires.
        unsafe { computed((plan.tensor(), plan.rank()), factors, mode, (out, out_len), run) }
    })
}

/// The preparation of each mode, and why: UTF-8 text written to `buffer` of `capacity` bytes as by
/// sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_mttkrp_explain(
    mttkrp: *const SparringMttkrp,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let text = handle(mttkrp, "mttkrp")?.plan.explain();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&text, buffer, capacity, length) }
    })
}

/// Frees a SparringMttkrp; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_mttkrp_free(mttkrp: *mut SparringMttkrp) -> SparringStatus {
    ffi!({ release(mttkrp, "mttkrp") })
}
