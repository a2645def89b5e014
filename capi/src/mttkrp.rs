//! The matricized tensor times the Khatri–Rao product of all factors but one.

use std::ffi::c_char;
use std::sync::Arc;

use sparring::algebra::{PlusTimes, Type};
use sparring::runtime::Machine;
use sparring::tensor::{Mttkrp, Variant};
use sparring::{Cpu, Dense, Error, Index};
#[cfg(feature = "cuda")]
use sparring::{
    Cuda,
    gpu::{DeviceMttkrp, TensorForm},
};

use crate::device::{ByType, SparringDevice, by_type};
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, choice, copied, input, room, size, write_text};
use crate::semirings::SparringSemiring;
use crate::status::SparringStatus;
use crate::tensor::{Entries, SparringTensor, with_entries};
use crate::types::named;

/// How the products of a tensor with factors are computed. Variants differ by rounding; all but A and B give the same
/// bits for any number of threads.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringMttkrpVariant {
    /// Chosen by the tensor's shape and the memory budget: for one product no copy of the tensor is made, for a plan or
    /// CP mostly one for each mode.
    SPARRING_MTTKRP_AUTO = 0,
    /// MTTKRP-A of Phipps and Kolda 2019: a row in memory, every product added under a lock.
    SPARRING_MTTKRP_A = 1,
    /// Their MTTKRP-B: as A, a block of columns in registers.
    SPARRING_MTTKRP_B = 2,
    /// Their MTTKRP-C: a permutation for each mode.
    SPARRING_MTTKRP_C = 3,
    /// A copy of the tensor for each mode.
    SPARRING_MTTKRP_COPIES = 4,
    /// Neighbouring modes share copies and products.
    SPARRING_MTTKRP_TREE = 5,
    /// The tensor as it stands, without a copy.
    SPARRING_MTTKRP_SINGLE = 6,
    /// One copy for all modes, in an order in which neighbours are close in every mode.
    SPARRING_MTTKRP_LINEAR = 7,
}

/// The variant of a code, checked; nothing for the automatic one.
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

/// Elements of a factor.
pub(crate) fn elements(rows: usize, rank: usize) -> Fallible<usize> {
    let (needed, max) = (rows as u128 * rank as u128, isize::MAX as u128 / size_of::<f64>() as u128);
    rows.checked_mul(rank)
        .filter(|&n| n as u128 <= max)
        .ok_or_else(|| Error::IndexOverflow { what: "rank", needed, max }.into())
}

/// A copy of the caller's factor of `mode`, n × R.
/// # Safety
/// As for [`input`], of n·R elements.
pub(crate) unsafe fn factor(p: *const f64, rows: usize, rank: usize, mode: usize) -> Fallible<Dense<f64>> {
    let len = elements(rows, rank)?;
    // SAFETY: the caller's promise.
    let values = unsafe { input(p, len, "factors").map_err(|e| e.at("factors", mode))? };
    Ok(Dense::new(rows, rank, copied(values, "factors", |x| x)?)?)
}

/// The products that a tensor is prepared for, with factors of so many columns. Threads of yours may share one.
pub struct SparringMttkrp {
    device: Arc<SparringDevice>,
    dims: Vec<usize>,
    rank: usize,
    prepared: Prepared,
}

impl Object for SparringMttkrp {
    const NAME: &'static str = "SparringMttkrp";
}

/// A tensor in the order of its modes, on the machine of its device.
enum Prepared {
    Narrow(Mttkrp<'static, f64, u32>),
    Wide(Mttkrp<'static, f64, u64>),
    #[cfg(feature = "cuda")]
    Gpu(DeviceMttkrp<'static, f64>),
}

impl Prepared {
    /// For every mode of the tensor.
    fn new(machine: &Machine, x: &Entries, rank: usize, variant: Option<Variant>) -> sparring::Result<Self> {
        match by_type(machine)? {
            ByType::Cpu(cpu) => {
                // A product copies all factors but one, and its result is as large as that one.
                let bytes = x.dims().iter().map(|&n| n as u128 * rank as u128 * size_of::<f64>() as u128).sum::<u128>();
                let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                Ok(match x {
                    Entries::Narrow(x) => Self::Narrow(cpu.mttkrp_plan_beside(Arc::clone(x), rank, variant, bytes)?),
                    Entries::Wide(x) => Self::Wide(cpu.mttkrp_plan_beside(Arc::clone(x), rank, variant, bytes)?),
                })
            }
            #[cfg(feature = "cuda")]
            ByType::Cuda(cuda) => {
                let form = variant.map(TensorForm::try_from).transpose()?;
                Ok(Self::Gpu(with_entries!(x, x => cuda.mttkrp_plan(Arc::clone(x), form))?))
            }
        }
    }
    fn multiply(&self, machine: &Machine, call: Call<'_>) -> sparring::Result<()> {
        fn on_cpu<I: Index>(cpu: &Cpu, plan: &Mttkrp<'_, f64, I>, call: Call<'_>) -> sparring::Result<()> {
            cpu.mttkrp(PlusTimes::new(), plan.tensor(), call.factors, call.mode).plan(plan).into(call.product)
        }
        match (self, by_type(machine)?) {
            (Self::Narrow(plan), ByType::Cpu(cpu)) => on_cpu(cpu, plan, call),
            (Self::Wide(plan), ByType::Cpu(cpu)) => on_cpu(cpu, plan, call),
            #[cfg(feature = "cuda")]
            (Self::Gpu(plan), ByType::Cuda(cuda)) => on_gpu(cuda, plan, call),
            #[cfg(feature = "cuda")]
            _ => Err(Error::Argument { name: "mttkrp", message: "it was made on another device".to_owned() }),
        }
    }
    fn explain(&self) -> String {
        match self {
            Self::Narrow(plan) => plan.explain(),
            Self::Wide(plan) => plan.explain(),
            #[cfg(feature = "cuda")]
            Self::Gpu(plan) => plan.explain(),
        }
    }
}

/// A product whose factors and result have their shapes; the factor of the mode has no rows.
struct Call<'a> {
    factors: &'a [Dense<f64>],
    mode: usize,
    product: &'a mut Dense<f64>,
}

#[cfg(feature = "cuda")]
fn on_gpu(cuda: &Cuda, plan: &DeviceMttkrp<'_, f64>, call: Call<'_>) -> sparring::Result<()> {
    let factors = call.factors.iter().map(|a| cuda.upload_dense(a)).collect::<sparring::Result<Vec<_>>>()?;
    *call.product = cuda.download_dense(&plan.mttkrp(PlusTimes::new(), &factors, call.mode)?)?;
    Ok(())
}

/// The product that `compute` makes of the caller's factors, into the caller's array.
/// # Safety
/// `factors` has an address for each mode, each but that of `mode` of `dims[m]` · `rank` elements, and `out` room for
/// `out_len`.
unsafe fn computed(
    machine: &Machine,
    (dims, rank): (&[usize], usize),
    factors: *const *const f64,
    mode: u64,
    (out, out_len): (*mut f64, u64),
    compute: impl FnOnce(Call<'_>) -> sparring::Result<()>,
) -> Fallible {
    // SAFETY: the caller's promise.
    let addresses = unsafe { input(factors, dims.len(), "factors")? };
    let rows = usize::try_from(mode).ok().and_then(|mode| Some((mode, *dims.get(mode)?)));
    let (mode, rows) = rows.ok_or_else(|| {
        Fail::argument("mode", format!("{mode} of a tensor of {} modes, which count from 0", dims.len()))
    })?;
    // SAFETY: the caller's promise; zeros are values.
    let out = unsafe { room(out, elements(rows, rank)?, out_len, "out")? };
    // The copies of the factors, and the product: before any is made.
    let bytes = dims.iter().map(|&n| n as u128 * rank as u128 * size_of::<f64>() as u128).sum::<u128>();
    if let ByType::Cpu(cpu) = by_type(machine)?
        && let Some(budget) = cpu.budget().filter(|&budget| bytes > budget.into())
    {
        return Err(Error::Budget { what: "the factors of an MTTKRP", bytes, budget: budget.into() }.into());
    }
    let mut copies = Vec::with_capacity(dims.len());
    for (m, (&p, &n)) in addresses.iter().zip(dims).enumerate() {
        // SAFETY: the caller's promise.
        copies.push(unsafe { factor(p, if m == mode { 0 } else { n }, rank, m)? });
    }
    let mut product = Dense::filled(rows, rank, 0.0)?;
    let call = Call { factors: &copies, mode, product: &mut product };
    compute(call).map_err(|e| Fail::from(e).naming("tensor"))?;
    out.copy_from_slice(product.values());
    Ok(())
}

/// V = X₍ₙ₎ (⊙ₘ Aₘ), the matricized tensor times the Khatri–Rao product of all factors but that of `mode`, which is n:
/// V(i, r) is the sum over the entries whose index in mode n is i of their value times Aₘ(iₘ, r) for each other mode m.
/// `factors` has the addresses of a factor for each mode, that of mode m with `dims[m]` · `rank` elements, row after
/// row; the one of `mode` is not read and may be NULL. `variant` is a SparringMttkrpVariant. `out` has room for
/// `out_len` elements and gets `dims[mode]` · `rank`, row after row: if there is room for fewer, SPARRING_LENGTH before
/// anything is computed. The same bits for any number of threads, but for the variants A and B. On a GPU tensor and
/// factors are sent there, in as many parts as its memory asks for; it knows the variants C and COPIES. Several
/// products of one tensor: sparring_mttkrp_new.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_mttkrp(
    device: *const SparringDevice,
    tensor: *const SparringTensor,
    rank: u64,
    factors: *const *const f64,
    mode: u64,
    variant: u32,
    out: *mut f64,
    out_len: u64,
) -> SparringStatus {
    ffi!({
        let (device, tensor) = (handle(device, "device")?, handle(tensor, "tensor")?);
        let (rank, variant) = (size(rank, "rank")?, self::variant("variant", variant)?);
        let once = |call: Call<'_>| match by_type(&device.machine)? {
            ByType::Cpu(cpu) => {
                let bytes = call.factors.iter().chain([&*call.product]).map(|f| size_of_val(f.values()) as u64).sum();
                with_entries!(&tensor.x, x => {
                    let mut asked = cpu.mttkrp(PlusTimes::new(), x, call.factors, call.mode).beside(bytes);
                    if let Some(variant) = variant {
                        asked = asked.variant(variant);
                    }
                    asked.into(call.product)
                })
            }
            #[cfg(feature = "cuda")]
            ByType::Cuda(cuda) => {
                // Nothing is kept for one product: entries go in parts, mostly one.
                let form = variant.map_or(Ok(TensorForm::Parts), TensorForm::try_from)?;
                with_entries!(&tensor.x, x => on_gpu(cuda, &cuda.mttkrp_plan(&**x, Some(form))?, call))
            }
        };
        // SAFETY: by the contract above, which is what `computed` wants.
        unsafe { computed(&device.machine, (tensor.x.dims(), rank), factors, mode, (out, out_len), once) }
    })
}

/// The same over a semiring on doubles, also of functions of yours: V(i, r) is the sum over the entries whose index in
/// mode n is i of their value times Aₘ(iₘ, r) for each other mode m, by ⊕ in the order of the entries and ⊗ from left
/// to right in the order of the modes; the identity of ⊕ where there are no entries. `factors`, `mode`, `out` and
/// `out_len` as there. On the processor. The same bits for any number of threads.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_mttkrp_with(
    device: *const SparringDevice,
    ring: *const SparringSemiring,
    tensor: *const SparringTensor,
    rank: u64,
    factors: *const *const f64,
    mode: u64,
    out: *mut f64,
    out_len: u64,
) -> SparringStatus {
    ffi!({
        let (device, ring, tensor) = (handle(device, "device")?, handle(ring, "ring")?, handle(tensor, "tensor")?);
        let rank = size(rank, "rank")?;
        let [a, b] = ring.types();
        if [a, b, ring.semiring().ty()] != [Type::F64; 3] {
            let types = [a, b, ring.semiring().ty()].map(named);
            let message = format!("it takes {} and {} and gives {}, not SPARRING_F64", types[0], types[1], types[2]);
            return Err(Fail::of_type("ring", message));
        }
        let once = |call: Call<'_>| {
            *call.product = with_entries!(&tensor.x, x => {
                device.machine.mttkrp(ring.semiring(), x, call.factors, call.mode)?
            });
            Ok(())
        };
        // SAFETY: by the contract above, which is what `computed` wants.
        unsafe { computed(&device.machine, (tensor.x.dims(), rank), factors, mode, (out, out_len), once) }
    })
}

/// Prepares every mode of the tensor for products with factors of `rank` columns: copies or permutations of its
/// entries, made once for any number of sparring_mttkrp_run. `variant` is a SparringMttkrpVariant. On a GPU the tensor
/// is sent, sorted and kept there; it knows the variants C and COPIES, and where neither fits, the parts of the tensor
/// are sent for each product. The memory budget of the device counts what is kept, and on the processor also the
/// factors and the result of a product. Tensor and device may be freed afterwards: the plan keeps what it needs of
/// them. `*mttkrp` gets the handle, NULL on failure; free it with sparring_mttkrp_free.
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
        let dims = tensor.x.dims().to_vec();
        for &n in &dims {
            elements(n, rank)?;
        }
        let prepared = Prepared::new(&device.machine, &tensor.x, rank, variant);
        let prepared = prepared.map_err(|e| Fail::from(e).naming("tensor"))?;
        out.give(SparringMttkrp { device, dims, rank, prepared })
    })
}

/// V = X₍ₙ₎ (⊙ₘ Aₘ) of the tensor that `mttkrp` was made for, as sparring_mttkrp computes it: `factors`, `mode`, `out`
/// and `out_len` as there. `rank` is that of the plan: SPARRING_ARGUMENT otherwise. Nothing is sorted; on a GPU the
/// factors alone are sent, and V comes back. The same bits in every call and for any number of threads, but for the
/// variants A and B.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_mttkrp_run(
    mttkrp: *const SparringMttkrp,
    rank: u64,
    factors: *const *const f64,
    mode: u64,
    out: *mut f64,
    out_len: u64,
) -> SparringStatus {
    ffi!({
        let plan = handle(mttkrp, "mttkrp")?;
        if rank != plan.rank as u64 {
            return Err(Fail::argument("rank", format!("{rank}, the plan is for factors of {} columns", plan.rank)));
        }
        let run = |call: Call<'_>| plan.prepared.multiply(&plan.device.machine, call);
        // SAFETY: by the contract above, which is what `computed` wants.
        unsafe { computed(&plan.device.machine, (&plan.dims, plan.rank), factors, mode, (out, out_len), run) }
    })
}

/// What was prepared for the modes of a tensor, and why: UTF-8 text into `buffer` of `capacity` bytes, as for
/// sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_mttkrp_explain(
    mttkrp: *const SparringMttkrp,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let text = handle(mttkrp, "mttkrp")?.prepared.explain();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&text, buffer, capacity, length) }
    })
}

/// Frees a SparringMttkrp; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_mttkrp_free(mttkrp: *mut SparringMttkrp) -> SparringStatus {
    ffi!({ release(mttkrp, "mttkrp") })
}
