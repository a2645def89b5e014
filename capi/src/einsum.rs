//! Contractions of dense tensors under any strides.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use sparring::algebra::dynamic::canonical;
use sparring::algebra::{Arithmetic, PlusTimes, Type, Value};
use sparring::contract::{Einsum, EinsumPlan, Layout, View, ViewMut, ranks};
use sparring::{Cpu, Error};

use crate::device::{ByType, SparringDevice, by_type};
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, inout, input, size, text, write};
use crate::status::SparringStatus;
use crate::types::{named, value_type};

/// Where the elements of a batch of equal tensors lie in an array: element (i, j, ...) of tensor b at offset + b *
/// batch_stride + i * strides[0] + j * strides[1] + ... Of operands strides may be negative, or 0: one element for
/// every value of an index. A result has positive ones, each larger than what those below it reach together.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SparringLayout {
    /// Number of indices.
    pub rank: u64,
    /// How many values each has.
    pub extents: *const u64,
    /// Elements from one value of each to the next; NULL: as C lays arrays out, the last index fastest.
    pub strides: *const i64,
    /// Where the element lies whose indices are all 0.
    pub offset: u64,
    /// Tensors: 1 if there is no batch. The batch is one more index, which has no letter.
    pub batch: u64,
    /// Elements from one tensor to the next; 0: one for the whole batch.
    pub batch_stride: i64,
}

/// A contraction that is prepared: made once, run often.
pub struct SparringEinsumPlan {
    device: Arc<SparringDevice>,
    expression: String,
    plan: EinsumPlan,
    bytes: u64,
    run: Run,
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

/// A contraction of one type over one semiring. The caller's promise: arrays as `sparring_einsum_plan_run` says, of
/// that type.
type Run = unsafe fn(&SparringEinsumPlan, &Cpu, &Call<'_>) -> Fallible;

/// # Safety
/// As [`Run`] says.
unsafe fn run<T: Value, A: Arithmetic<T> + Default>(of: &SparringEinsumPlan, cpu: &Cpu, call: &Call<'_>) -> Fallible {
    let factor = |p: *const c_void, name| {
        if p.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller's promise; every bit pattern is a number.
        unsafe { input(p.cast::<T>(), 1, name) }.map(|x| Some(x[0]))
    };
    let (alpha, beta) = (factor(call.alpha, "alpha")?, factor(call.beta, "beta")?);
    let reach = |p: *const c_void, len: usize| p.addr()..p.addr().saturating_add(len.saturating_mul(size_of::<T>()));
    let result_len = size(call.result_len, "result_len")?;
    let written = reach(call.result, result_len);
    let layouts = of.plan.operands();
    let mut views = Vec::with_capacity(layouts.len());
    for (k, ((&p, &len), layout)) in call.operands.iter().zip(call.lengths).zip(layouts).enumerate() {
        let len = size(len, "lengths")?;
        // SAFETY: the caller's promise; every bit pattern is a number.
        let data = unsafe { input(p.cast::<T>(), len, "operands") }.map_err(|e| e.at("operands", k))?;
        let read = reach(p, len);
        if read.start.max(written.start) < read.end.min(written.end) {
            return Err(Fail::argument("result", format!("it shares memory with operands[{k}]")));
        }
        let view = View::new(data, layout.clone());
        views.push(view.map_err(|e| Fail::from(e).naming(&format!("operands[{k}]")))?);
    }
    // SAFETY: the caller's promise; no operand has a part of it, as was just compared, and α and β have been read.
    let data = unsafe { inout(call.result.cast::<T>(), result_len, "result")? };
    let mut asked = cpu.einsum(A::default(), Einsum::new(&of.expression, &views)?).plan(&of.plan);
    if let Some(alpha) = alpha {
        asked = asked.alpha(alpha);
    }
    if let Some(beta) = beta {
        asked = asked.beta(beta);
    }
    let out = ViewMut::new(data, of.plan.result().clone());
    asked.into(&mut out.map_err(|e| Fail::from(e).naming("result"))?)?;
    Ok(())
}

/// The semirings and types that contractions have here. Each pair is 200 kB of the library: loops for squares of every
/// small size, for any strides and for many tensors beside each other, for three instruction sets.
fn chosen(semiring: &str, ty: Type) -> Fallible<Run> {
    const RINGS: &[(&str, Type, Run)] = &[("plus_times", Type::F64, run::<f64, PlusTimes<f64>>)];
    let name = canonical(semiring);
    let found = RINGS.iter().filter(|ring| ring.0 == name);
    match found.clone().find(|ring| ring.1 == ty) {
        Some(ring) => Ok(ring.2),
        None if found.count() == 0 => {
            let what = format!("semiring: '{semiring}' of contractions");
            Err(Error::Unsupported { what, why: "there is plus_times".into() }.into())
        }
        None => Err(Fail::of_type("type", format!("{} is not SPARRING_F64", named(ty)))),
    }
}

/// The processor of a device.
fn processor(device: &SparringDevice) -> Fallible<&Cpu> {
    match by_type(&device.machine)? {
        ByType::Cpu(cpu) => Ok(cpu),
        #[cfg(feature = "cuda")]
        ByType::Cuda(_) => {
            let why = "contractions run on the device \"cpu\"".into();
            Err(Error::Unsupported { what: "device: a GPU".into(), why }.into())
        }
    }
}

/// # Safety
/// The layout's arrays have `rank` elements. They are read if it is the number of `indices` that the expression has
/// there.
unsafe fn layout(of: &SparringLayout, place: &str, indices: usize) -> Fallible<Layout> {
    let inside = |mut e: Fail| {
        e.message = format!("{place}.{}", e.message);
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
    let named = |e: Error| Fail::from(e).naming(place);
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

/// A plan, from what `sparring_einsum_plan_new` takes.
/// # Safety
/// As it says.
unsafe fn planned(
    device: *const SparringDevice,
    expression: *const c_char,
    semiring: *const c_char,
    ty: u32,
    (layouts, count): (*const SparringLayout, u64),
    result: *const SparringLayout,
) -> Fallible<SparringEinsumPlan> {
    let device = handle(device, "device")?;
    // SAFETY: the caller's promise.
    let (expression, semiring) = unsafe { (text(expression, "expression")?, text(semiring, "semiring")?) };
    // What the text says comes before what the caller says of it: no array is read further than the text goes.
    let (ranks, of_result) = ranks(expression)?;
    let (found, expected) = (size(count, "count")?, ranks.len());
    if found != expected {
        // Where the first operand is named that is not given, or behind all that are.
        let end = expression.find("->").unwrap_or(0);
        let at = expression.match_indices(',').map(|(at, _)| at + 1).nth(found.saturating_sub(1)).unwrap_or(end);
        let message = format!("{expected} operands are named, {found} are given");
        return Err(
            Error::Expression { text: expression.to_owned(), at: if found == 0 { 0 } else { at }, message }.into()
        );
    }
    // SAFETY: the caller's promise.
    let (layouts, result) = unsafe { (input(layouts, expected, "layouts")?, input(result, 1, "result_layout")?) };
    let ty = value_type(ty)?;
    let run = chosen(semiring, ty)?;
    let cpu = processor(&device)?;
    // SAFETY: the caller's promise.
    let result = unsafe { layout(&result[0], "result_layout", of_result)? };
    // The plan knows places, not values: elements without bytes lie as the real ones will.
    let nothing = vec![(); isize::MAX as usize];
    let mut views = Vec::with_capacity(layouts.len());
    for (k, (of, indices)) in layouts.iter().zip(ranks).enumerate() {
        // SAFETY: the caller's promise.
        views.push(View::new(&nothing, unsafe { layout(of, &format!("layouts[{k}]"), indices)? })?);
    }
    let plan = cpu.einsum_plan(&Einsum::new(expression, &views)?, &result);
    let plan = plan.map_err(|e| Fail::from(e).naming("result_layout"))?;
    let bytes = plan.workspace_bytes(cpu.threads(), ty.size());
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    Ok(SparringEinsumPlan { expression: expression.to_owned(), plan, bytes, run, device })
}

/// Computes by a plan.
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
    // SAFETY: the caller's promise, of values of the type that `run` was chosen for.
    unsafe { (plan.run)(plan, processor(&plan.device)?, &call) }
}

/// Prepares C(r...) = x1(...) times x2(...) times ..., summed over the indices that C has not: its path, its steps and
/// the places of elements, once for contractions of many arrays. `expression` has a letter for each index, as in
/// "bij,bjk->bik"; an index that an operand has twice runs along its diagonal. Sum and product are those of `semiring`,
/// which is "plus_times" here, on values of `type`, which is SPARRING_F64. `layouts` has `count` elements, one for each
/// operand. Runs on the processor; it keeps the device. `*einsum` gets the handle, NULL on failure; free it with
/// sparring_einsum_plan_free.
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
        // SAFETY: by the contract above `einsum` points to room for a handle, and the rest is as `planned` wants it.
        unsafe {
            let out = NewHandle::at(einsum, "einsum")?;
            out.give(planned(device, expression, semiring, r#type, (layouts, count), result_layout)?)
        }
    })
}

/// Bytes that a contraction takes beside its operands and its result, offsets that the plan holds among them.
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

/// C = alpha * (the contraction) + beta * C, by sum and product of the plan's semiring. `operands` has the addresses of
/// `count` arrays, `lengths` how many elements each has, whose places the layouts of the plan say; one array may be
/// several operands. `alpha` and `beta` point to a value of the plan's type. NULL for `alpha`: nothing is multiplied.
/// NULL for `beta`, and the identity of the sum (0 for plus_times): C is not read, whatever it holds. `result` is an
/// array of `result_len` elements, which shares no memory with an operand; what is no element of C stays as it is.
/// Nothing is copied. The same bits for any number of threads.
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
        // SAFETY: by the contract above, which is what `computed` wants.
        unsafe { computed(&plan, (operands, lengths, count), (alpha, beta), (result, result_len)) }
    })
}

/// Frees a plan; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_einsum_plan_free(einsum: *mut SparringEinsumPlan) -> SparringStatus {
    ffi!({ release(einsum, "einsum") })
}

/// sparring_einsum_plan_new, sparring_einsum_plan_run and sparring_einsum_plan_free at once, for what is computed one
/// time.
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
        // SAFETY: by the contract above, which is what `planned` and `computed` want.
        unsafe {
            let plan = planned(device, expression, semiring, r#type, (layouts, count), result_layout)?;
            computed(&plan, (operands, lengths, count), (alpha, beta), (result, result_len))
        }
    })
}
