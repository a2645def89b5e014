//! cuBLAS, NVIDIA's library of dense products: opened at run time for large products of floats, behind a safe function.
//! It is not needed: where it is not found, products have kernels of our own.

use std::ffi::{c_int, c_longlong, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libloading::Library;

use super::buffer::{Buffer, RawBuffer};
use super::driver::Device;
use super::find::Search;
use crate::algebra::Type;
use crate::{Error, Result};

type Handle = *mut c_void;
/// `cublas<t>gemmStridedBatched`: transpositions, sizes, α, three matrices with their leading dimensions and the steps
/// of a batch, β behind the first two of them, the batch.
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

/// Of cuBLAS' header: α and β are on the device.
const POINTERS_ON_DEVICE: c_int = 1;

/// The functions that are used.
struct Functions {
    create: unsafe extern "C" fn(*mut Handle) -> c_int,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    stream: unsafe extern "C" fn(Handle, *mut c_void) -> c_int,
    pointers: unsafe extern "C" fn(Handle, c_int) -> c_int,
    gemm: [Gemm; 2],
    /// The library and what it needs: never closed, since the functions are in use to the end.
    _open: Vec<Library>,
}

impl Functions {
    /// The library, looked for once.
    fn get() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Functions>> = OnceLock::new();
        FOUND.get_or_init(|| Search::cublas(|name| std::env::var_os(name)).iter().find_map(Self::open)).as_ref()
    }
    fn open(file: &PathBuf) -> Option<Self> {
        let mut open = vec![];
        // Python's packages have both in one folder, where the loader does not look.
        if let (Some(folder), Some(version)) = (file.parent().filter(|f| f.is_dir()), file.extension()) {
            let light = folder.join("libcublasLt.so").with_extension(format!("so.{}", version.to_string_lossy()));
            // SAFETY: opening it runs its initialization alone, which asks nothing of us.
            open.extend(unsafe { Library::new(light) }.ok());
        }
        // SAFETY: as above.
        let library = unsafe { Library::new(file) }.ok()?;
        // SAFETY: each name and type stands as in cuBLAS' header; the library stays open.
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

/// cuBLAS on a device, once a product asked for it; `None` where it is not found or does not start.
#[derive(Default)]
pub(super) struct Cublas(OnceLock<Option<Ready>>);

impl fmt::Debug for Cublas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cublas({})", self.0.get().is_some_and(Option::is_some))
    }
}

struct Ready {
    functions: &'static Functions,
    /// One call at a time: a handle is not to be shared.
    handle: Mutex<Handle>,
    /// 1 and 0 as f32, then as f64.
    scalars: [[Buffer<u8>; 2]; 2],
    device: Arc<Device>,
}

// SAFETY: the handle may be used from any thread, one at a time; the lock sees to it.
unsafe impl Send for Ready {}
// SAFETY: as above.
unsafe impl Sync for Ready {}

impl Drop for Ready {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            let handle = *self.handle.get_mut().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: it was made once and is destroyed once.
            unsafe { (self.functions.destroy)(handle) };
        }
    }
}

impl Ready {
    /// On this device, where `put` puts bytes.
    fn new(device: &Arc<Device>, put: &dyn Fn(&[u8]) -> Result<Buffer<u8>>) -> Option<Self> {
        let functions = Functions::get()?;
        let scalars = [
            [put(&1f32.to_ne_bytes()).ok()?, put(&0f32.to_ne_bytes()).ok()?],
            [put(&1f64.to_ne_bytes()).ok()?, put(&0f64.to_ne_bytes()).ok()?],
        ];
        device.bind().ok()?;
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the place is ours; the device's context is bound to this thread.
        if unsafe { (functions.create)(&raw mut handle) } != 0 {
            return None;
        }
        let made = Self { functions, handle: Mutex::new(handle), scalars, device: Arc::clone(device) };
        // SAFETY: handle and stream are alive, of one context.
        let status = unsafe {
            (functions.stream)(handle, device.stream().cast()) | (functions.pointers)(handle, POINTERS_ON_DEVICE)
        };
        (status == 0).then_some(made)
    }
}

/// A matrix of a product, columns behind each other or rows behind each other, in an array of each of the batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix {
    /// Whether it is the transposed one that lies column by column.
    pub(super) transposed: bool,
    /// From a column, or row, to the next.
    pub(super) leading: i32,
    /// From a matrix of the batch to the next.
    pub(super) step: i64,
    /// Where the first begins.
    pub(super) base: usize,
}

/// C = α · A·B + β · C for matrices m×k and k×n, C column by column, `batch` times.
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
    /// Whether it is there for products on this device, where `put` puts bytes. The first call opens it.
    pub(super) fn is_there(&self, device: &Arc<Device>, put: &dyn Fn(&[u8]) -> Result<Buffer<u8>>) -> bool {
        self.0.get_or_init(|| Ready::new(device, put)).is_some()
    }
    /// The product by cuBLAS, of arrays of f32 or f64 on this device, in which all places of the matrices lie.
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
        let Some(Some(ready)) = self.0.get() else { return Err(failed("it is not there".into())) };
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
        // SAFETY: 1. the handle is alive, its context bound, and no one else uses it; 2. arrays and factors are alive on
        // its device and of the function's type, and what is done to them is done in the order of one stream; 3. all
        // places of the matrices lie in them (the caller's word).
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
