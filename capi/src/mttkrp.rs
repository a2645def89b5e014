//! The matricized tensor times the Khatri–Rao product of all factors but one.

use sparring::algebra::PlusTimes;
use sparring::runtime::Machine;
use sparring::tensor::Variant;
#[cfg(feature = "cuda")]
use sparring::{Cuda, Index, Tensor, gpu::TensorForm};
use sparring::{Dense, Error, with_tensor};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::memory::{choice, copied, input, room, size};
use crate::status::SparringStatus;
use crate::tensor::SparringTensor;

/// How the products of a tensor with factors are computed. Variants differ by rounding; all but A and B give the same bits for any
/// number of threads.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringMttkrpVariant {
    /// Chosen by the tensor's shape and the memory budget: for one product no copy of the tensor is made, for CP mostly one for
    /// each mode.
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

/// The product on a GPU, to which all is sent. For one product nothing is kept there: entries go in parts, mostly one.
#[cfg(feature = "cuda")]
fn on_gpu<I: Index>(
    cuda: &Cuda,
    x: &Tensor<f64, I>,
    factors: &[Dense<f64>],
    mode: usize,
    variant: Option<Variant>,
    v: &mut Dense<f64>,
) -> sparring::Result<()> {
    let form = variant.map_or(Ok(TensorForm::Parts), TensorForm::try_from)?;
    let there = factors.iter().map(|a| cuda.upload_dense(a)).collect::<sparring::Result<Vec<_>>>()?;
    let plan = cuda.mttkrp_plan(x, Some(form))?;
    *v = cuda.download_dense(&plan.mttkrp(PlusTimes::new(), &there, mode)?)?;
    Ok(())
}

/// V = X₍ₙ₎ (⊙ₘ Aₘ), the matricized tensor times the Khatri–Rao product of all factors but that of `mode`, which is n:
/// V(i, r) is the sum over the entries whose index in mode n is i of their value times Aₘ(iₘ, r) for each other mode m.
/// `factors` has the addresses of a factor for each mode, that of mode m with `dims[m]` · `rank` elements, row after row; the
/// one of `mode` is not read and may be NULL. `variant` is a SparringMttkrpVariant.
/// `out` has room for `out_len` elements and gets `dims[mode]` · `rank`, row after row: if there is room for fewer,
/// SPARRING_LENGTH before anything is computed.
/// The same bits for any number of threads, but for the variants A and B. On a GPU tensor and factors are sent there, in as many
/// parts as its memory asks for; it knows the variants C and COPIES.
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
        let (dims, rank) = (tensor.x.dims(), size(rank, "rank")?);
        // SAFETY: by the contract above there is an address for each mode.
        let addresses = unsafe { input(factors, dims.len(), "factors")? };
        let rows = usize::try_from(mode).ok().and_then(|mode| Some((mode, *dims.get(mode)?)));
        let (mode, rows) = rows.ok_or_else(|| {
            Fail::argument("mode", format!("{mode} of a tensor of {} modes, which count from 0", dims.len()))
        })?;
        let variant = self::variant("variant", variant)?;
        // SAFETY: by the contract above `out` has room for `out_len` elements, of which zeros are values.
        let out = unsafe { room(out, elements(rows, rank)?, out_len, "out")? };
        let mut copies = Vec::with_capacity(dims.len());
        for (m, (&p, &n)) in addresses.iter().zip(dims).enumerate() {
            copies.push(if m == mode && device.machine.is_gpu() {
                Dense::filled(n, rank, 0.0)?
            } else {
                // SAFETY: by the contract above it has this many elements.
                unsafe { factor(p, if m == mode { 0 } else { n }, rank, m)? }
            });
        }
        let mut product = Dense::filled(rows, rank, 0.0)?;
        match &device.machine {
            Machine::Cpu(cpu) => {
                let bytes = copies.iter().chain([&product]).map(|f| size_of_val(f.values()) as u64).sum();
                with_tensor!(&tensor.x, x => {
                    let mut asked = cpu.mttkrp(PlusTimes::new(), x, &copies, mode).beside(bytes);
                    if let Some(variant) = variant {
                        asked = asked.variant(variant);
                    }
                    asked.into(&mut product)
                })
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => with_tensor!(&tensor.x, x => on_gpu(cuda, x, &copies, mode, variant, &mut product)),
        }
        .map_err(|e| Fail::from(e).naming("tensor"))?;
        out.copy_from_slice(product.values());
        Ok(())
    })
}
