//! cuBLAS, NVIDIA's library of dense linear algebra: opened at run time for large products of floats, behind a safe
//! function. It is optional: without it, products use our own kernels.

use std::ffi::{c_int, c_longlong, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libloading::Library;

use super::buffer::{Buffer, RawBuffer};
use super::driver::Device;
use super::nvrtc_lookup::Search;
use crate::algebra::Type;
use crate::{Error, Result};

type Handle = *mut c_void;
/// `cublas<t>gemmStridedBatched`: transpositions, sizes, α, then A, B, β, C, each matrix with its leading dimension and
/// batch stride, and the batch count.
type Gemm = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    *const c_void,
    c_int,
    c_longlong,
    *const c_void,
    c_int,
    c_longlong,
    *const c_void,
    *mut c_void,
    c_int,
    c_longlong,
    c_int,
) -> c_int;

/// From cuBLAS's header: α and β are on the device.
const POINTERS_ON_DEVICE: c_int = 1;

/// The functions in use.
struct Functions {
    create: unsafe extern "C" fn(*mut Handle) -> c_int,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    stream: unsafe extern "C" fn(Handle, *mut c_void) -> c_int,
    pointers: unsafe extern "C" fn(Handle, c_int) -> c_int,
    gemm: [Gemm; 2],
    /// The library and its dependencies: never closed, since the functions are used until the process ends.
    _open: Vec<Library>,
}

impl Functions {
    /// The library, searched for once.
    fn get() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Functions>> = OnceLock::new();
        FOUND.get_or_init(|| Search::cublas(|name| std::env::var_os(name)).iter().find_map(Self::open)).as_ref()
    }
    fn open(file: &PathBuf) -> Option<Self> {
        let mut open = vec![];
        // Python's packages have both libraries in one folder, which the loader does not search.
        if let (Some(folder), Some(version)) = (file.parent().filter(|f| f.is_dir()), file.extension()) {
            let light = folder.join("libcublasLt.so").with_extension(format!("so.{}", version.to_string_lossy()));
            // SAFETY: opening it runs only its own initialization, which requires nothing of the caller.
            open.extend(unsafe { Library::new(light) }.ok());
        }
        // SAFETY: as above.
        let library = unsafe { Library::new(file) }.ok()?;
        // SAFETY: each name and type is that of cuBLAS's header; the library stays open.
        let functions = unsafe {
            Self {
                create: *library.get(b"cublasCreate_v2").ok()?,
                destroy: *library.get(b"cublasDestroy_v2").ok()?,
                stream: *library.get(b"cublasSetStream_v2").ok()?,
                pointers: *library.get(b"cublasSetPointerMode_v2").ok()?,
                gemm: [
                    *library.get(b"cublasSgemmStridedBatched").ok()?,
                    *library.get(b"cublasDgemmStridedBatched").ok()?,
                ],
                _open: vec![],
            }
        };
        open.push(library);
        Some(Self { _open: open, ..functions })
    }
}

/// cuBLAS on a device, opened by the first product; `None` if it is missing or does not start.
#[derive(Default)]
pub(super) struct Cublas(OnceLock<Option<Ready>>);

impl fmt::Debug for Cublas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cublas({})", self.0.get().is_some_and(Option::is_some))
    }
}

struct Ready {
    functions: &'static Functions,
    /// A handle must not be used concurrently.
    handle: Mutex<Handle>,
    /// 1 and 0 as f32, then as f64.
    scalars: [[Buffer<u8>; 2]; 2],
    device: Arc<Device>,
}

// SAFETY: the handle may be used from any thread, by one at a time, which the lock ensures.
unsafe impl Send for Ready {}
// SAFETY: as above.
unsafe impl Sync for Ready {}

impl Drop for Ready {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            let handle = *self.handle.get_mut().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: it was created once and is destroyed once.
            unsafe { (self.functions.destroy)(handle) };
        }
    }
}

impl Ready {
    /// Opens it on this device; `put` uploads bytes.
    fn new(device: &Arc<Device>, put: &dyn Fn(&[u8]) -> Result<Buffer<u8>>) -> Option<Self> {
        let functions = Functions::get()?;
        let scalars = [
            [put(&1f32.to_ne_bytes()).ok()?, put(&0f32.to_ne_bytes()).ok()?],
            [put(&1f64.to_ne_bytes()).ok()?, put(&0f64.to_ne_bytes()).ok()?],
        ];
        device.bind().ok()?;
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the pointer is to a local; the device's context is bound to this thread.
        if unsafe { (functions.create)(&raw mut handle) } != 0 {
            return None;
        }
        let made = Self { functions, handle: Mutex::new(handle), scalars, device: Arc::clone(device) };
        // SAFETY: handle and stream are alive and belong to one context.
        let status = unsafe {
            (functions.stream)(handle, device.stream().cast()) | (functions.pointers)(handle, POINTERS_ON_DEVICE)
        };
        (status == 0).then_some(made)
    }
}

/// A matrix of a batched product, in row- or column-major order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix {
    /// Whether it is the transpose that is column-major.
    pub(super) transposed: bool,
    /// Leading dimension: the stride between columns, or rows.
    pub(super) leading: i32,
    /// The stride between matrices of the batch.
    pub(super) step: i64,
    /// Index of the first matrix's first element.
    pub(super) base: usize,
}

/// C = α · A·B + β · C for matrices m×k and k×n, C column-major, `batch` times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Product {
    pub(super) sizes: [i32; 3],
    pub(super) batch: i32,
    pub(super) a: Matrix,
    pub(super) b: Matrix,
    pub(super) c: Matrix,
}

/// α or β.
pub(super) enum Factor<'a> {
    Zero,
    One,
    At(&'a RawBuffer, usize),
}

impl Cublas {
    /// Whether cuBLAS is available on this device; `put` uploads bytes. The first call opens it.
    pub(super) fn is_there(&self, device: &Arc<Device>, put: &dyn Fn(&[u8]) -> Result<Buffer<u8>>) -> bool {
        self.0.get_or_init(|| Ready::new(device, put)).is_some()
    }
    /// The product by cuBLAS, of f32 or f64 arrays on this device. The matrices must lie within the arrays.
    /// # Errors
    /// [`Error::Device`].
    pub(super) fn gemm(
        &self,
        device: &Arc<Device>,
        product: &Product,
        arrays: [&RawBuffer; 3],
        [alpha, beta]: [Factor<'_>; 2],
    ) -> Result<()> {
        let failed = |message: String| Error::Device { what: "a product by cuBLAS".into(), message };
        let Some(Some(ready)) = self.0.get() else { return Err(failed("the library is not loaded".into())) };
        let kind = match arrays[2].ty() {
            Type::F32 => 0,
            Type::F64 => 1,
            other => return Err(failed(format!("values of type {other}"))),
        };
        let size = arrays[2].ty().size();
        for array in arrays {
            array.check("a product by cuBLAS", arrays[2].ty())?;
            array.on(device, "a product by cuBLAS")?;
        }
        let [one, zero] = &ready.scalars[kind];
        let scalar = |factor: &Factor<'_>| match *factor {
            Factor::One => one.at,
            Factor::Zero => zero.at,
            Factor::At(buffer, i) => buffer.at + (i * size) as u64,
        } as *const c_void;
        let place = |array: &RawBuffer, matrix: &Matrix| (array.at + (matrix.base * size) as u64) as *mut c_void;
        let Product { sizes: [m, n, k], batch, a, b, c } = *product;
        device.bind()?;
        let handle = ready.handle.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: 1. The handle is alive, its context bound, and the lock excludes other users.
        //         2. Arrays and factors are alive on its device and of the function's type, and all work on them is
        //            ordered by one stream.
        //         3. The matrices lie within the arrays (the caller's promise).
        let status = unsafe {
            (ready.functions.gemm[kind])(
                *handle,
                c_int::from(a.transposed),
                c_int::from(b.transposed),
                m,
                n,
                k,
                scalar(&alpha),
                place(arrays[0], &a).cast_const(),
                a.leading,
                a.step,
                place(arrays[1], &b).cast_const(),
                b.leading,
                b.step,
                scalar(&beta),
                place(arrays[2], &c),
                c.leading,
                c.step,
                batch,
            )
        };
        if status == 0 { Ok(()) } else { Err(failed(format!("status {status}"))) }
    }
}
