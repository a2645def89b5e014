//! Matrix products: in one call, or by a plan from the patterns with repeated numeric phases.

use std::ffi::c_char;

use sparring::Error;
use sparring::runtime::{Matrix, Plan, Semiring};
use sparring::spgemm::{Accumulator, Compress, Options, Policy};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::matrix::SparringMatrix;
use crate::memory::{NewHandle, choice, input, text, write, write_text};
use crate::semirings::{self, SparringSemiring};
use crate::sparse::Sparse;
use crate::status::SparringStatus;
use crate::types::{named, same_type};

/// Rules that choose the algorithm of a product.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringPolicy {
    /// The rules of this library.
    SPARRING_POLICY_AUTO = 0,
    /// The rules of kkSpGEMM (Deveci, Trott, Rajamanickam 2018).
    SPARRING_POLICY_KKSPGEMM = 1,
}

/// Accumulator of a row of a product.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringAccumulator {
    /// The policy's choice.
    SPARRING_ACCUMULATOR_AUTO = 0,
    /// Hash map with linked lists.
    SPARRING_ACCUMULATOR_LINKED_LIST = 1,
    /// Hash map with linear probing.
    SPARRING_ACCUMULATOR_LINEAR_PROBE = 2,
    /// Dense: one slot per column.
    SPARRING_ACCUMULATOR_DENSE = 3,
}

/// Whether the symbolic phase compresses the columns of B to bits.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringCompress {
    /// If it saves enough work.
    SPARRING_COMPRESS_AUTO = 0,
    /// Always.
    SPARRING_COMPRESS_ON = 1,
    /// Never.
    SPARRING_COMPRESS_OFF = 2,
}

/// Options of a product. All zero (`SparringOptions o = {0};`) are the defaults. A GPU has no dense accumulator, and
/// compresses only under kkSpGEMM's policy, which an explicit accumulator selects too: SPARRING_UNSUPPORTED otherwise.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SparringOptions {
    /// A SparringPolicy.
    pub policy: u32,
    /// A SparringAccumulator.
    pub accumulator: u32,
    /// A SparringCompress.
    pub compress: u32,
    /// Not 0: rows of the result may be unsorted, if that is faster.
    pub unsorted: u32,
}

/// Statistics of a product.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SparringStats {
    /// Multiplications.
    pub flops: u64,
    /// Maximum multiplications of a row.
    pub max_row_flops: u64,
    /// Longest row of the result; UINT64_MAX if not counted, as on a GPU.
    pub max_row_nnz: u64,
    /// Entries of the result.
    pub nnz: u64,
    /// Ratio of multiplications after compression to those before; NaN if not counted.
    pub cf: f64,
    /// Ratio of the largest row bound after compression to that before; NaN if not counted.
    pub cmrf: f64,
}

/// The structure of a product, for any values and any semiring. It may be shared between threads.
pub struct SparringPlan {
    plan: Plan,
}

impl Object for SparringPlan {
    const NAME: &'static str = "SparringPlan";
}

/// # Safety
/// `p` is NULL, or points to options not written during the call.
unsafe fn options(p: *const SparringOptions) -> Fallible<Options> {
    use {SparringAccumulator::*, SparringCompress::*, SparringPolicy::*};
    if p.is_null() {
        return Ok(Options::default());
    }
    // SAFETY: the caller's promise; every bit pattern is a SparringOptions.
    let o = unsafe { input(p, 1, "options")? }[0];
    let policies = [(SPARRING_POLICY_AUTO as u32, Policy::Auto), (SPARRING_POLICY_KKSPGEMM as u32, Policy::KkSpGemm)];
    let accumulators = [
        (SPARRING_ACCUMULATOR_AUTO as u32, Accumulator::Auto),
        (SPARRING_ACCUMULATOR_LINKED_LIST as u32, Accumulator::LinkedList),
        (SPARRING_ACCUMULATOR_LINEAR_PROBE as u32, Accumulator::LinearProbe),
        (SPARRING_ACCUMULATOR_DENSE as u32, Accumulator::Dense),
    ];
    let compressions = [
        (SPARRING_COMPRESS_AUTO as u32, Compress::Auto),
        (SPARRING_COMPRESS_ON as u32, Compress::On),
        (SPARRING_COMPRESS_OFF as u32, Compress::Off),
    ];
    Ok(Options {
        policy: choice("options.policy", o.policy, &policies)?,
        accumulator: choice("options.accumulator", o.accumulator, &accumulators)?,
        compress: choice("options.compress", o.compress, &compressions)?,
        unsorted: o.unsorted != 0,
        ..Options::default()
    })
}

/// The source of a product.
enum Source<'a> {
    Options(&'a Options),
    Plan(&'a Plan),
}

/// The semiring of a call.
#[derive(Clone, Copy)]
pub(crate) enum Over {
    /// A name or formulas, over the type of the operands.
    Text(*const c_char),
    /// A handle from sparring_semiring_new.
    Handle(*const SparringSemiring),
}

impl Over {
    /// The semiring for these operands.
    /// # Safety
    /// A text is NULL, or ends with a zero.
    unsafe fn semiring(self, a: &Matrix, b: &Matrix) -> Fallible<Semiring> {
        match self {
            Self::Text(p) => {
                // SAFETY: the caller's promise.
                let text = unsafe { text(p, "semiring")? };
                same_type(("b", b), ("a", a))?;
                semirings::parsed(text, a.ty(), b.ty())
            }
            Self::Handle(p) => handle(p, "ring")?.over(a, b),
        }
    }
}

/// The error of planning C = A·B; unsupported requests come from the options.
fn of_plan(e: Error) -> Fail {
    if matches!(e, Error::Unsupported { .. }) { Fail::from(e).naming("options") } else { of_product(e) }
}

/// The error of a phase of C = A·B.
fn of_product(e: Error) -> Fail {
    Fail::of_operands(e, "a", "b")
}

/// The product as a new matrix, in host memory if `here`.
fn make(
    device: &SparringDevice,
    ring: &Semiring,
    a: &Matrix,
    b: &Matrix,
    from: Source<'_>,
    here: bool,
) -> Fallible<Matrix> {
    let m = &device.machine;
    // Operands in host memory are uploaded once for both phases.
    let left = m.upload(a)?;
    let right = if a.is(b) { left.clone() } else { m.upload(b)? };
    let c = match from {
        Source::Plan(plan) => m.numeric(plan, ring, &left, &right).map_err(of_product)?,
        Source::Options(options) => m.mxm_with(ring, &left, &right, None, options).map_err(of_plan)?.into_matrix(),
    };
    Ok(if here { c.download()? } else { c })
}

/// The operands, checked for this device.
fn operands(device: &SparringDevice, a: *const SparringMatrix, b: *const SparringMatrix) -> Fallible<(Matrix, Matrix)> {
    let (a, b) = (handle(a, "a")?.snapshot(), handle(b, "b")?.snapshot());
    device.takes("a", &a)?;
    device.takes("b", &b)?;
    Ok((a, b))
}

/// As sparring_mxm, over a semiring of either kind.
/// # Safety
/// As there.
pub(crate) unsafe fn product(
    device: *const SparringDevice,
    over: Over,
    (a, b): (*const SparringMatrix, *const SparringMatrix),
    options: *const SparringOptions,
    c: *mut *mut SparringMatrix,
) -> Fallible {
    // SAFETY: the caller's promise: `c` points to room for a handle.
    let out = unsafe { NewHandle::at(c, "c")? };
    let device = handle(device, "device")?;
    // SAFETY: likewise, `options` is NULL or points to options.
    let options = unsafe { self::options(options)? };
    let (a, b) = operands(&device, a, b)?;
    // SAFETY: likewise, a text is NULL or ends with a zero.
    let ring = unsafe { over.semiring(&a, &b)? };
    out.give(make(&device, &ring, &a, &b, Source::Options(&options), a.is_on_host())?.into())
}

/// As sparring_plan_numeric, over a semiring of either kind.
/// # Safety
/// As there.
pub(crate) unsafe fn values(
    device: *const SparringDevice,
    plan: *const SparringPlan,
    over: Over,
    (a, b): (*const SparringMatrix, *const SparringMatrix),
    c: *mut *mut SparringMatrix,
) -> Fallible {
    // SAFETY: the caller's promise: `c` points to room for a handle.
    let out = unsafe { NewHandle::at(c, "c")? };
    let (device, plan) = (handle(device, "device")?, handle(plan, "plan")?);
    device.made(&plan.plan)?;
    let (a, b) = operands(&device, a, b)?;
    // SAFETY: likewise, a text is NULL or ends with a zero.
    let ring = unsafe { over.semiring(&a, &b)? };
    out.give(make(&device, &ring, &a, &b, Source::Plan(&plan.plan), a.is_on_host())?.into())
}

/// As sparring_plan_numeric_into, over a semiring of either kind.
/// # Safety
/// As there.
pub(crate) unsafe fn values_into(
    device: *const SparringDevice,
    plan: *const SparringPlan,
    over: Over,
    (a, b): (*const SparringMatrix, *const SparringMatrix),
    c: *mut SparringMatrix,
) -> Fallible {
    let (device, plan) = (handle(device, "device")?, handle(plan, "plan")?);
    device.made(&plan.plan)?;
    let ((a, b), c) = (operands(&device, a, b)?, handle(c, "c")?);
    // SAFETY: the caller's promise: a text is NULL or ends with a zero.
    let ring = unsafe { over.semiring(&a, &b)? };
    let mut slot = c.lock();
    device.takes("c", &*slot)?;
    if slot.ty() != ring.ty() {
        let (found, given) = (named(slot.ty()), named(ring.ty()));
        return Err(Fail::of_type("c", format!("values are {found}, the semiring gives {given}")));
    }
    if device.machine.holds(&*slot) {
        // Concurrent readers of `c`, possibly this very call, keep the old values, and `c` gets new ones.
        return device.machine.numeric_into(&plan.plan, &ring, &a, &b, &mut slot).map_err(of_product);
    }
    // The values come from a GPU, but `c` is in host memory.
    let fresh = make(&device, &ring, &a, &b, Source::Plan(&plan.plan), true)?;
    if fresh.pattern() != slot.pattern() {
        return Err(of_product(Error::PatternChanged { operand: "C", found: slot.nnz(), planned: fresh.nnz() }));
    }
    *slot = fresh;
    Ok(())
}

/// The product C = A ⊕.⊗ B over a semiring given by name (see sparring_semiring_name) or by formulas: ⊕, a comma, ⊗, as
/// in "min, a + 2*b". `a` is m×k, `b` is k×n, both of the same type; the result is m×n, of the semiring's result type.
/// A semiring that does not exist for that type: SPARRING_TYPE. On a GPU the result is on the device of `a`, bitwise
/// identical to the processor's except for the last bits of a logarithm ("log_plus"). `options` may be NULL. `*c`
/// receives the handle of a new matrix, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_mxm(
    device: *const SparringDevice,
    semiring: *const c_char,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    options: *const SparringOptions,
    c: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above.
        unsafe { product(device, Over::Text(semiring), (a, b), options, c) }
    })
}

/// Symbolic phase of C = A·B: the structure of C from those of `a` and `b`, independent of their values and types. The
/// plan serves any number of numeric phases with matrices of the same structure. `options` may be NULL. `*plan`
/// receives the handle, NULL on failure; free it with sparring_plan_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_plan_new(
    device: *const SparringDevice,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    options: *const SparringOptions,
    plan: *mut *mut SparringPlan,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `plan` points to room for a handle.
        let out = unsafe { NewHandle::at(plan, "plan")? };
        let device = handle(device, "device")?;
        // SAFETY: by the contract above `options` is NULL or points to options.
        let options = unsafe { self::options(options)? };
        let (a, b) = operands(&device, a, b)?;
        let plan = device.machine.plan(&a, &b, &options).map_err(of_plan)?;
        out.give(SparringPlan { plan })
    })
}

/// Statistics of the product.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_plan_stats(plan: *const SparringPlan, stats: *mut SparringStats) -> SparringStatus {
    ffi!({
        let s = handle(plan, "plan")?.plan.stats();
        let figures = SparringStats {
            flops: s.flops,
            max_row_flops: s.max_row_flops,
            max_row_nnz: s.max_row_nnz.map_or(u64::MAX, |n| n as u64),
            nnz: s.nnz as u64,
            cf: s.cf.unwrap_or(f64::NAN),
            cmrf: s.cmrf.unwrap_or(f64::NAN),
        };
        // SAFETY: by the contract `stats` points to room for the figures.
        unsafe { write(stats, figures, "stats") }
    })
}

/// The chosen algorithm, and why: UTF-8 text written to `buffer` of `capacity` bytes, zero-terminated and truncated if
/// necessary. `*length` receives the length of the whole text in bytes, without the zero; `length` may be NULL, and so
/// may `buffer` if `capacity` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_plan_explain(
    plan: *const SparringPlan,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let text = handle(plan, "plan")?.plan.explain();
        // SAFETY: by the contract above.
        unsafe { write_text(&text, buffer, capacity, length) }
    })
}

/// Numeric phase: the values of C = A ⊕.⊗ B over the semiring of this name, in a new matrix. `a` and `b` have the
/// structure that the plan was made for: SPARRING_PATTERN_CHANGED otherwise. The plan belongs to this device. On a GPU
/// the result is on the device of `a`. `*c` receives the handle, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_plan_numeric(
    device: *const SparringDevice,
    plan: *const SparringPlan,
    semiring: *const c_char,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    c: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above.
        unsafe { values(device, plan, Over::Text(semiring), (a, b), c) }
    })
}

/// Numeric phase into `c`, an earlier result of this plan with the semiring's result type: its values are replaced,
/// without allocation if everything is in the memory of the device. On failure the values are unspecified. `c` may be
/// `a` or `b`. Invalidates pointers from sparring_matrix_borrow(c).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_plan_numeric_into(
    device: *const SparringDevice,
    plan: *const SparringPlan,
    semiring: *const c_char,
    a: *const SparringMatrix,
    b: *const SparringMatrix,
    c: *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above.
        unsafe { values_into(device, plan, Over::Text(semiring), (a, b), c) }
    })
}

/// Frees a plan; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_plan_free(plan: *mut SparringPlan) -> SparringStatus {
    ffi!({ release(plan, "plan") })
}
