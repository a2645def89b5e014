//! Contractions of dense tensors with arbitrary strides.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use sparring::algebra::{Array, Slice, Type};
use sparring::contract::{AnyView, Einsum, EinsumPlan, Layout, View, ViewMut, ranks};
use sparring::par::filled;
use sparring::runtime::{EinsumUpdate, Semiring};
use sparring::{Cpu, Error};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, check_any, inout, input, size, text, write};
use crate::scalar;
use crate::semirings::{SparringSemiring, parsed};
use crate::status::SparringStatus;
use crate::types::{Values, code, input_values, lent_values, named, value_type};

/// Layout of a batch of equal tensors in an array: element (i, j, ...) of tensor b is at
/// offset + b * batch_stride + i * strides[0] + j * strides[1] + ... Strides of operands may be negative, or 0, which
/// broadcasts one element over an index. Strides of a result are positive, and each exceeds the total reach of the
/// smaller ones.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SparringLayout {
    /// Number of indices.
    pub rank: u64,
    /// Extent of each index.
    pub extents: *const u64,
    /// Stride of each index in elements; NULL: row-major, the last index fastest.
    pub strides: *const i64,
    /// Position of the element with all indices 0.
    pub offset: u64,
    /// Number of tensors: 1 without a batch. The batch is an additional index without a letter.
    pub batch: u64,
    /// Elements between consecutive tensors; 0: one tensor for the whole batch.
    pub batch_stride: i64,
}

/// A prepared contraction, for repeated runs.
pub struct SparringEinsumPlan {
    device: Arc<SparringDevice>,
    expression: String,
    plan: EinsumPlan,
    bytes: u64,
    ring: Semiring,
    /// Type of the operands.
    ty: Type,
    /// Whether the semiring is plus_times on doubles, which has compiled loops.
    fused: bool,
}

impl Object for SparringEinsumPlan {
    const NAME: &'static str = "SparringEinsumPlan";
}

/// Arrays of a call.
struct Call<'a> {
    operands: &'a [*const c_void],
    lengths: &'a [u64],
    alpha: *const c_void,
    beta: *const c_void,
    result: *mut c_void,
    result_len: u64,
}

/// Rejects an operand that overlaps the result. Each is an address, a number of elements and their size.
fn apart(k: usize, operand: (*const c_void, usize, usize), result: (*const c_void, usize, usize)) -> Fallible {
    let reach =
        |(p, len, size): (*const c_void, usize, usize)| p.addr()..p.addr().saturating_add(len.saturating_mul(size));
    let (read, written) = (reach(operand), reach(result));
    if read.start.max(written.start) < read.end.min(written.end) {
        return Err(Fail::argument("result", format!("it overlaps operands[{k}]")));
    }
    Ok(())
}

/// A contraction of doubles over plus_times.
/// # Safety
/// Arrays as `sparring_einsum_plan_run` says, of doubles.
unsafe fn run_fused(of: &SparringEinsumPlan, cpu: &Cpu, call: &Call<'_>) -> Fallible {
    type T = f64;
    let factor = |p: *const c_void, name| {
        if p.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller's promise; every bit pattern is a number.
        unsafe { input(p.cast::<T>(), 1, name) }.map(|x| Some(x[0]))
    };
    let (alpha, beta) = (factor(call.alpha, "alpha")?, factor(call.beta, "beta")?);
    let result_len = size(call.result_len, "result_len")?;
    let layouts = of.plan.operands();
    let mut views = Vec::with_capacity(layouts.len());
    for (k, ((&p, &len), layout)) in call.operands.iter().zip(call.lengths).zip(layouts).enumerate() {
        let len = size(len, "lengths")?;
        // SAFETY: the caller's promise; every bit pattern is a number.
        let data = unsafe { input(p.cast::<T>(), len, "operands") }.map_err(|e| e.at("operands", k))?;
        apart(k, (p, len, size_of::<T>()), (call.result, result_len, size_of::<T>()))?;
        let view = View::new(data, layout.clone());
        views.push(view.map_err(|e| Fail::from(e).naming(&format!("operands[{k}]")))?);
    }
    // SAFETY: the caller's promise; no operand overlaps it, as checked above, and α and β have been read.
    let data = unsafe { inout(call.result.cast::<T>(), result_len, "result")? };
    let out = ViewMut::new(data, of.plan.result().clone());
    let mut out = out.map_err(|e| Fail::from(e).naming("result"))?;
    of.plan.run_doubles(cpu, Einsum::new(&of.expression, &views)?, [alpha, beta], &mut out)?;
    Ok(())
}

/// The offsets of the elements of a result, in row-major order, one tensor after the other.
fn offsets(layout: &Layout, mut each: impl FnMut(usize)) {
    if layout.elements() == 0 {
        return;
    }
    let (extents, strides) = (layout.extents(), layout.strides());
    let mut index = vec![0usize; extents.len()];
    for b in 0..layout.batch() {
        // Offsets are within the array: the plan has checked that they are not negative and do not overflow.
        let mut at = layout.offset().wrapping_add_signed((b as isize).wrapping_mul(layout.batch_stride()));
        loop {
            each(at);
            let Some(k) = (0..extents.len()).rev().find(|&k| index[k] + 1 < extents[k]) else { break };
            at = at.wrapping_add_signed(strides[k]);
            index[k] += 1;
            for l in k + 1..extents.len() {
                at = at.wrapping_add_signed(strides[l].wrapping_mul(index[l] as isize).wrapping_neg());
                index[l] = 0;
            }
        }
        index.fill(0);
    }
}

/// A contraction of any type over any semiring.
/// # Safety
/// Arrays as `sparring_einsum_plan_run` says, of the plan's types.
unsafe fn run_any(of: &SparringEinsumPlan, call: &Call<'_>) -> Fallible {
    let gives = of.ring.ty();
    let width = gives.size();
    let result_len = size(call.result_len, "result_len")?;
    // SAFETY: the caller's promise.
    let factor = |p: *const c_void| if p.is_null() { Ok(None) } else { unsafe { scalar::read(of.ty, p).map(Some) } };
    let (alpha, beta) =
        (factor(call.alpha).map_err(|e| e.naming("alpha"))?, factor(call.beta).map_err(|e| e.naming("beta"))?);
    let layouts = of.plan.operands();
    let mut values: Vec<Values<'_>> = Vec::with_capacity(layouts.len());
    for (k, (&p, &len)) in call.operands.iter().zip(call.lengths).enumerate() {
        let len = size(len, "lengths")?;
        apart(k, (p, len, of.ty.size()), (call.result, result_len, width))?;
        // SAFETY: the caller's promise.
        values.push(unsafe { lent_values(of.ty, p, len, "operands").map_err(|e| e.at("operands", k))? });
    }
    let mut views = Vec::with_capacity(layouts.len());
    for (k, (values, layout)) in values.iter().zip(layouts).enumerate() {
        let view = AnyView::new(values.slice(), layout.clone());
        views.push(view.map_err(|e| Fail::from(e).naming(&format!("operands[{k}]")))?);
    }
    let to = of.plan.result();
    let needed = to.array_len();
    if needed > result_len {
        return Err(Fail::from(Error::Length { what: "result", found: result_len, expected: needed }));
    }
    let result = call.result.cast::<u8>();
    check_any(result, result_len.saturating_mul(width), "result")?;
    let element = |at: usize| result.wrapping_add(at * width);
    // The old C, in row-major order.
    let old: Option<Array> = match &beta {
        Some(_) => {
            let mut bytes = filled((to.elements() * width).div_ceil(8), 0u64, "result")?;
            let mut next = bytes.as_mut_ptr().cast::<u8>();
            offsets(to, |at| {
                // SAFETY: 1. `at` is below `array_len`, which is at most `result_len`, the length of the array by the
                // caller's promise; 2. the buffer has `width` bytes for each offset.
                unsafe { next.copy_from_nonoverlapping(element(at), width) };
                next = next.wrapping_add(width);
            });
            // SAFETY: `to.elements()` values of the type, aligned like a u64.
            Some(unsafe { input_values(gives, bytes.as_ptr().cast(), to.elements())? })
        }
        None => None,
    };
    let c: Option<Slice<'_>> = old.as_ref().map(Array::slice);
    let update = EinsumUpdate { alpha, c, beta };
    let found = of.device.machine.einsum_with(&of.ring, &Einsum::new(&of.expression, &views)?, &update)?;
    debug_assert_eq!((found.slice().ty(), found.len()), (gives, to.elements()));
    let mut next = found.slice().as_ptr();
    offsets(to, |at| {
        // SAFETY: as above; the bytes are valid values of the type, for bool 0 or 1.
        unsafe { element(at).copy_from_nonoverlapping(next, width) };
        next = next.wrapping_add(width);
    });
    Ok(())
}

/// # Safety
/// The layout's arrays have `rank` elements. They are read only if `rank` is the number of `indices` in the expression.
unsafe fn layout(of: &SparringLayout, argument: &str, indices: usize) -> Fallible<Layout> {
    let inside = |mut e: Fail| {
        e.message = format!("{argument}.{}", e.message);
        e
    };
    let rank = size(of.rank, "rank").map_err(inside)?;
    if rank != indices {
        let message = format!("{rank}, but the expression has {indices} indices there");
        let status = SparringStatus::SPARRING_SHAPE;
        return Err(inside(Fail { status, ..Fail::argument("rank", message) }));
    }
    // SAFETY: the caller's promise.
    let extents = unsafe { input(of.extents, rank, "extents") }.map_err(inside)?;
    let extents = extents.iter().map(|&n| size(n, "extents")).collect::<Fallible<Vec<_>>>().map_err(inside)?;
    let named = |e: Error| Fail::from(e).naming(argument);
    let (offset, batch) = (size(of.offset, "offset").map_err(inside)?, size(of.batch, "batch").map_err(inside)?);
    let stride = |s: i64| isize::try_from(s).map_err(|_| Fail::argument("strides", format!("{s} is too large")));
    let strides = if of.strides.is_null() {
        Layout::row_major(&extents).map_err(named)?.strides().to_vec()
    } else {
        // SAFETY: the caller's promise.
        let strides = unsafe { input(of.strides, rank, "strides") }.map_err(inside)?;
        strides.iter().map(|&s| stride(s)).collect::<Fallible<Vec<_>>>().map_err(inside)?
    };
    let one = Layout::new(&extents, &strides, offset).map_err(named)?;
    one.strided(batch, stride(of.batch_stride).map_err(inside)?).map_err(named)
}

/// A plan, from the arguments of `sparring_einsum_plan_new`.
/// # Safety
/// As it says.
unsafe fn planned(
    device: *const SparringDevice,
    expression: *const c_char,
    ring: impl FnOnce() -> Fallible<(Semiring, Type)>,
    (layouts, count): (*const SparringLayout, u64),
    result: *const SparringLayout,
) -> Fallible<SparringEinsumPlan> {
    let device = handle(device, "device")?;
    // SAFETY: the caller's promise.
    let expression = unsafe { text(expression, "expression")? };
    // The expression takes precedence over the caller's counts: arrays are read only as far as the expression goes.
    let (ranks, of_result) = ranks(expression)?;
    let (found, expected) = (size(count, "count")?, ranks.len());
    if found != expected {
        // The position of the first missing operand, or the end of the operands.
        let end = expression.find("->").unwrap_or(0);
        let at = expression.match_indices(',').map(|(at, _)| at + 1).nth(found.saturating_sub(1)).unwrap_or(end);
        let message = format!("{expected} operands are named, {found} are given");
        return Err(
            Error::Expression { text: expression.to_owned(), at: if found == 0 { 0 } else { at }, message }.into()
        );
    }
    // SAFETY: the caller's promise.
    let (layouts, result) = unsafe { (input(layouts, expected, "layouts")?, input(result, 1, "result_layout")?) };
    let (ring, ty) = ring()?;
    if ["i", "k", "j"].iter().any(|name| ring.formula().mul().reads(name)) {
        let what = format!("semiring: {ring} in a contraction");
        return Err(Error::Unsupported { what, why: "its product depends on indices of entries".into() }.into());
    }
    let processor = device.machine.typed::<Cpu>();
    let fused = processor.is_some() && ty == Type::F64 && ring.formula().name().as_deref() == Some("plus_times");
    // Layouts are checked, and their offsets found, by the processor.
    let own;
    let cpu = match processor {
        Some(cpu) => cpu,
        None => {
            own = Cpu::with_threads(1)?;
            &own
        }
    };
    // SAFETY: the caller's promise.
    let result = unsafe { layout(&result[0], "result_layout", of_result)? };
    // The plan depends on layouts, not values: zero-sized elements have the layout of the real ones.
    let nothing = vec![(); isize::MAX as usize];
    let mut views = Vec::with_capacity(layouts.len());
    for (k, (of, indices)) in layouts.iter().zip(ranks).enumerate() {
        // SAFETY: the caller's promise.
        views.push(View::new(&nothing, unsafe { layout(of, &format!("layouts[{k}]"), indices)? })?);
    }
    let plan = cpu.einsum_plan(&Einsum::new(expression, &views)?, &result);
    let plan = plan.map_err(|e| Fail::from(e).naming("result_layout"))?;
    let own = if fused { 0 } else { result_bytes(&plan, ring.ty()) };
    let bytes = plan.workspace_bytes(cpu.threads(), ty.size()) + own;
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    Ok(SparringEinsumPlan { expression: expression.to_owned(), plan, bytes, ring, ty, fused, device })
}

/// Bytes of the result as a row-major array.
fn result_bytes(plan: &EinsumPlan, ty: Type) -> u128 {
    plan.result().elements() as u128 * ty.size() as u128
}

/// The semiring of this name or formula on values of `type`.
/// # Safety
/// `semiring` is NULL or points to text ended by a zero.
unsafe fn named_ring(semiring: *const c_char, ty: u32) -> Fallible<(Semiring, Type)> {
    // SAFETY: the caller's promise.
    let semiring = unsafe { text(semiring, "semiring")? };
    let ty = value_type(ty)?;
    Ok((parsed(semiring, ty, ty)?, ty))
}

/// Runs a plan.
/// # Safety
/// As `sparring_einsum_plan_run` says.
unsafe fn computed(
    plan: &SparringEinsumPlan,
    (operands, lengths, count): (*const *const c_void, *const u64, u64),
    (alpha, beta): (*const c_void, *const c_void),
    (result, result_len): (*mut c_void, u64),
) -> Fallible {
    let count = size(count, "count")?;
    let expected = plan.plan.operands().len();
    if count != expected {
        return Err(Error::Length { what: "operands", found: count, expected }.into());
    }
    // SAFETY: the caller's promise.
    let (operands, lengths) = unsafe { (input(operands, count, "operands")?, input(lengths, count, "lengths")?) };
    let call = Call { operands, lengths, alpha, beta, result, result_len };
    match plan.device.machine.typed::<Cpu>().filter(|_| plan.fused) {
        // SAFETY: the caller's promise, of values of the plan's types, which are doubles as it is fused.
        Some(cpu) => unsafe { run_fused(plan, cpu, &call) },
        // SAFETY: the caller's promise, of values of the plan's types.
        None => unsafe { run_any(plan, &call) },
    }
}

/// Prepares C(r...) = x1(...) times x2(...) times ..., summed over the indices absent from C: its path, steps and
/// offsets, once for contractions of many arrays. `expression` has a letter for each index, as in "bij,bjk->bik"; a
/// repeated index of one operand selects its diagonal. Sum and product are those of `semiring`, a name or formulas as
/// for sparring_semiring_new, on operands of `type`, a SparringType; the result has the result type of the semiring
/// (sparring_einsum_plan_type). A product that depends on indices of entries: SPARRING_UNSUPPORTED. "plus_times" of
/// SPARRING_F64 has compiled loops, others are a few times slower. `layouts` has `count` elements, one per operand.
/// Arrays are sent to a GPU, and the result back, in each run. The plan keeps the device alive. `*einsum` receives the
/// handle, NULL on failure; free it with sparring_einsum_plan_free.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_einsum_plan_new(
    device: *const SparringDevice,
    expression: *const c_char,
    semiring: *const c_char,
    r#type: u32,
    layouts: *const SparringLayout,
    count: u64,
    result_layout: *const SparringLayout,
    einsum: *mut *mut SparringEinsumPlan,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `einsum` points to room for a handle, and the rest satisfies `planned`.
        unsafe {
            let out = NewHandle::at(einsum, "einsum")?;
            let ring = || named_ring(semiring, r#type);
            out.give(planned(device, expression, ring, (layouts, count), result_layout)?)
        }
    })
}

/// sparring_einsum_plan_new over a semiring handle, including user-defined functions; both operands of its product have
/// the same type, which is that of the arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_einsum_plan_new_with(
    device: *const SparringDevice,
    expression: *const c_char,
    ring: *const SparringSemiring,
    layouts: *const SparringLayout,
    count: u64,
    result_layout: *const SparringLayout,
    einsum: *mut *mut SparringEinsumPlan,
) -> SparringStatus {
    ffi!({
        let of_handle = || {
            let ring = handle(ring, "ring")?;
            let [a, b] = ring.types();
            if a != b {
                let message = format!("its product takes {} and {}, a contraction one type", named(a), named(b));
                return Err(Fail::of_type("ring", message));
            }
            Ok((ring.semiring().clone(), a))
        };
        // SAFETY: by the contract above `einsum` points to room for a handle, and the rest satisfies `planned`.
        unsafe {
            let out = NewHandle::at(einsum, "einsum")?;
            out.give(planned(device, expression, of_handle, (layouts, count), result_layout)?)
        }
    })
}

/// Type of the elements of the result, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_einsum_plan_type(
    einsum: *const SparringEinsumPlan,
    r#type: *mut u32,
) -> SparringStatus {
    ffi!({
        let ty = code(handle(einsum, "einsum")?.ring.ty());
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty, "type") }
    })
}

/// Bytes that a contraction needs besides its operands and its result, including offsets stored in the plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_einsum_plan_workspace(
    einsum: *const SparringEinsumPlan,
    bytes: *mut u64,
) -> SparringStatus {
    ffi!({
        let plan = handle(einsum, "einsum")?;
        // SAFETY: by the contract above `bytes` points to room for a number.
        unsafe { write(bytes, plan.bytes, "bytes") }
    })
}

/// C = alpha * (the contraction) + beta * C, with the sum and product of the plan's semiring. `operands` has the
/// addresses of `count` arrays, `lengths` their numbers of elements; the plan's layouts give their structure. One array
/// may be several operands. `alpha` and `beta` point to a value of the operand type. `alpha` NULL omits the factor.
/// `beta` NULL, or equal to the identity of the sum (0 for plus_times), overwrites C without reading it. `result` is an
/// array of `result_len` elements that does not overlap an operand; elements outside of C are unchanged. Over
/// "plus_times" of doubles nothing is copied; otherwise the result is copied once, and operands of SPARRING_BOOL.
/// Bitwise identical for any number of threads.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_einsum_plan_run(
    einsum: *const SparringEinsumPlan,
    operands: *const *const c_void,
    lengths: *const u64,
    count: u64,
    alpha: *const c_void,
    beta: *const c_void,
    result: *mut c_void,
    result_len: u64,
) -> SparringStatus {
    ffi!({
        let plan = handle(einsum, "einsum")?;
        // SAFETY: by the contract above, which `computed` requires.
        unsafe { computed(&plan, (operands, lengths, count), (alpha, beta), (result, result_len)) }
    })
}

/// Frees a plan; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_einsum_plan_free(einsum: *mut SparringEinsumPlan) -> SparringStatus {
    ffi!({ release(einsum, "einsum") })
}

/// sparring_einsum_plan_new, sparring_einsum_plan_run and sparring_einsum_plan_free in one call, for a single
/// contraction.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_einsum(
    device: *const SparringDevice,
    expression: *const c_char,
    semiring: *const c_char,
    r#type: u32,
    layouts: *const SparringLayout,
    operands: *const *const c_void,
    lengths: *const u64,
    count: u64,
    alpha: *const c_void,
    beta: *const c_void,
    result_layout: *const SparringLayout,
    result: *mut c_void,
    result_len: u64,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above, which `planned` and `computed` require.
        unsafe {
            let ring = || named_ring(semiring, r#type);
            let plan = planned(device, expression, ring, (layouts, count), result_layout)?;
            computed(&plan, (operands, lengths, count), (alpha, beta), (result, result_len))
        }
    })
}
