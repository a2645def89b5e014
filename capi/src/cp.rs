//! CP decompositions by alternating least squares.

use std::ffi::{c_char, c_void};
use std::ops::ControlFlow;

use sparring::algebra::Type;
use sparring::factor::{CpAls, CpFit, Sweep};
use sparring::tensor::Kruskal;
use sparring::{Dense, Error};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix_market::given;
use crate::memory::{check_any, copied, input, output, size, write, write_text};
use crate::mttkrp::{elements, variant};
use crate::status::SparringStatus;
use crate::tensor::SparringTensor;
use crate::types::named;

/// A completed sweep through all modes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SparringSweep {
    /// Number of the start, from 0.
    pub start: u64,
    /// Number of the sweep within the start, from 1.
    pub number: u64,
    /// 1 - ‖X - M‖ / ‖X‖.
    pub fit: f64,
    /// Change from the previous fit; in the first sweep, the fit.
    pub change: f64,
    /// Seconds since the call began.
    pub seconds: f64,
}

/// Options of sparring_cp_als. All zero (`SparringCpOptions o = {0};`) are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SparringCpOptions {
    /// Maximum number of sweeps per start. 0: 100.
    pub sweeps: u64,
    /// A start ends when the fit changes by less than this. 0: 0.0001.
    pub tolerance: f64,
    /// Not 0: every start runs all its sweeps, however little the fit changes, and `tolerance` is ignored.
    pub all_sweeps: u32,
    /// Not 0: `weights` and `factors` contain an initial model for the first start.
    pub warm_start: u32,
    /// Number of starts; the best result is kept. 0: 1.
    pub starts: u64,
    /// Seed of the initial factors of the first start, with elements in [0, 1); further starts use the following seeds.
    /// The numbers are those of NumPy's Generator(PCG64(seed)).random, factor after factor.
    pub seed: u64,
    /// Ridge: this times the squared norm of each factor is added to the objective; at least 0.
    pub ridge: f64,
    /// Not 0: nonnegative factors.
    pub nonnegative: u32,
    /// A SparringMttkrpVariant.
    pub variant: u32,
    /// Called after each sweep, on the thread that called sparring_cp_als, unless NULL. A nonzero return value stops
    /// the decomposition, and the best model so far is the result. It must return normally: no longjmp, no C++
    /// exception. It may call functions of this library.
    pub on_sweep: Option<unsafe extern "C" fn(sweep: *const SparringSweep, context: *mut c_void) -> i32>,
    /// Passed to `on_sweep`.
    pub context: *mut c_void,
}

/// The results of sparring_cp_als, besides weights and factors.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SparringCpFit {
    /// 1 - ‖X - M‖ / ‖X‖.
    pub fit: f64,
    /// Sweeps of the best start.
    pub sweeps: u64,
    /// Number of the best start, from 0.
    pub start: u64,
    /// Singular systems in the best start, which were solved with minimum norm.
    pub singular: u64,
    /// Seconds to prepare the tensor.
    pub setup_seconds: f64,
    /// Seconds in MTTKRP, over all starts.
    pub mttkrp_seconds: f64,
    /// Total seconds.
    pub seconds: f64,
    /// 1 if the last change of the fit in the best start was below the tolerance, else 0.
    pub converged: u32,
}

/// A copy of the caller's factor of `mode`, n × R.
/// # Safety
/// As for [`input`], of n·R elements.
unsafe fn factor(p: *const f64, rows: usize, rank: usize, mode: usize) -> Fallible<Dense<f64>> {
    let len = elements(rows, rank, Type::F64)?;
    // SAFETY: the caller's promise.
    let values = unsafe { input(p, len, "factors").map_err(|e| e.at("factors", mode))? };
    Ok(Dense::new(rows, rank, copied(values, "factors", |x| x)?)?)
}

/// The algorithm with the options from C.
/// # Safety
/// `o.on_sweep`, if it is not NULL, is a function that may be called with `o.context`.
unsafe fn algorithm<'a>(rank: usize, o: &'a SparringCpOptions, guess: Option<Kruskal<f64>>) -> Fallible<CpAls<'a>> {
    let or = |number: u64, default: usize, name| if number == 0 { Ok(default) } else { size(number, name) };
    let tolerance = match o {
        _ if o.all_sweeps != 0 => 0.0,
        _ if o.tolerance == 0.0 => 1e-4,
        _ => o.tolerance,
    };
    let mut als = CpAls::new(rank)
        .sweeps(or(o.sweeps, 100, "options.sweeps")?)
        .tol(tolerance)
        .seed(o.seed)
        .starts(or(o.starts, 1, "options.starts")?)
        .nonnegative(o.nonnegative != 0)
        .ridge(o.ridge);
    if let Some(variant) = variant("options.variant", o.variant)? {
        als = als.variant(variant);
    }
    if let Some(guess) = guess {
        als = als.guess(guess);
    }
    if let Some(on_sweep) = o.on_sweep {
        als = als.on_sweep(move |sweep| {
            let Sweep { start, number, fit, change, elapsed } = sweep;
            let (start, number, seconds) = (start as u64, number as u64, elapsed.as_secs_f64());
            let sweep = SparringSweep { start, number, fit, change, seconds };
            // SAFETY: the caller's promise; the sweep lives until the function returns.
            if unsafe { on_sweep(&sweep, o.context) } == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    Ok(als)
}

/// The error of a decomposition, with the argument names of the C API.
fn of_cp(e: Error) -> Fail {
    match e {
        Error::Argument { name: "tolerance", message } => Fail::argument("options.tolerance", message),
        Error::Argument { name: "ridge", message } => Fail::argument("options.ridge", message),
        // These arguments have the same names in C.
        Error::Argument { name: "rank" | "factors", .. } => e.into(),
        Error::Argument { name: "x", message } => Fail::argument("tensor", message),
        other => Fail::from(other).naming("tensor"),
    }
}

/// CP by alternating least squares: fits the sum M of `rank` components λᵣ a₀ᵣ ∘ a₁ᵣ ∘ … to the tensor X. The entries
/// of X are at distinct positions (sparring_tensor_summed), and doubles or floats, which are converted to doubles.
/// Collinear components use the minimum-norm solution. `weights` has room for the `rank` weights λ. `factors` holds the
/// addresses of one output array per mode; that of mode m has room for `dims[m]` · `rank` elements in row-major order,
/// whose column r is a component of 2-norm 1. Components are sorted by decreasing weight. `*fit` receives the results.
/// `options` may be NULL. On failure, weights and factors are unchanged. The algorithm, and why it was chosen, is
/// written to `buffer` as by sparring_plan_explain (`capacity` 0 and `length` NULL to omit it). Bitwise identical for
/// any number of threads, except for variants A and B. On a GPU, tensor and factors are uploaded once; it supports the
/// variants C and COPIES, and streams tensors that do not fit in parts.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_cp_als(
    device: *const SparringDevice,
    tensor: *const SparringTensor,
    rank: u64,
    options: *const SparringCpOptions,
    weights: *mut f64,
    factors: *const *mut f64,
    fit: *mut SparringCpFit,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let (device, tensor) = (handle(device, "device")?, handle(tensor, "tensor")?);
        // SAFETY: by the contract above `options` is NULL or points to options; any bits but NULL are a function's
        // address.
        let options = unsafe { given(options)? };
        if !matches!(tensor.x.ty(), Type::F32 | Type::F64) {
            let message = format!("it is of {}, CP needs SPARRING_F32 or SPARRING_F64", named(tensor.x.ty()));
            return Err(Fail::of_type("tensor", message));
        }
        let (dims, rank) = (tensor.x.dims(), size(rank, "rank")?);
        // SAFETY: by the contract above there is an address for each mode.
        let addresses = unsafe { input(factors.cast::<*mut f64>(), dims.len(), "factors")? };
        // Checked before a long computation.
        check_any(weights, elements(1, rank, Type::F64)?, "weights")?;
        for (mode, (&p, &n)) in addresses.iter().zip(dims).enumerate() {
            check_any(p, elements(n, rank, Type::F64)?, "factors").map_err(|e| e.at("factors", mode))?;
        }
        // SAFETY: by the contract above `fit` points to room for the results.
        unsafe { write(fit, SparringCpFit::default(), "fit")? };
        let guess = if options.warm_start == 0 {
            None
        } else {
            let copies = addresses.iter().zip(dims).enumerate();
            // SAFETY: by the contract above weights and factors have these lengths, and are initialized with this
            // option.
            let (weights, copies) = unsafe {
                let copies = copies.map(|(m, (&p, &n))| factor(p, n, rank, m)).collect::<Fallible<Vec<_>>>()?;
                (copied(input(weights, rank, "weights")?, "weights", |x| x)?, copies)
            };
            Some(Kruskal::new(weights, copies)?)
        };
        // SAFETY: by the contract `on_sweep` is NULL or a function that takes `context`.
        let als = unsafe { algorithm(rank, &options, guess)? };
        let found: CpFit<f64> = device.machine.cp_als(&als, &tensor.x).map_err(of_cp)?;
        let figures = SparringCpFit {
            fit: found.fit,
            sweeps: found.fits.len() as u64,
            start: found.start as u64,
            singular: found.singular as u64,
            setup_seconds: found.setup.as_secs_f64(),
            mttkrp_seconds: found.mttkrp.as_secs_f64(),
            seconds: found.total.as_secs_f64(),
            converged: found.converged.into(),
        };
        // SAFETY: by the contract above there is room for the weights, for each factor and for the figures; `buffer`
        // has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe {
            write_text(&found.explain, buffer, capacity, length)?;
            output(found.model.weights(), weights, rank as u64, "weights")?;
            for (&p, factor) in addresses.iter().zip(found.model.factors()) {
                output(factor.values(), p, factor.values().len() as u64, "factors")?;
            }
            write(fit, figures, "fit")
        }
    })
}
