//! Shared code of matrices and vectors: lock, type, shape and device.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sparring::algebra::Type;
use sparring::runtime::{Collection, Matrix, Object as Operand, Vector};

use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle};

/// An object that operations read and write through a handle.
///
/// The lock is held while cloning the object, which copies nothing, or by the writer. So a reader never sees half of a
/// write, and no call waits for a lock while holding another.
pub(crate) trait Sparse: Object {
    type Held: Held;
    fn data(&self) -> &Mutex<Self::Held>;
    /// The object, for writing.
    fn lock(&self) -> MutexGuard<'_, Self::Held> {
        self.data().lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A snapshot of the object.
    fn snapshot(&self) -> Self::Held {
        self.lock().clone()
    }
}

/// A matrix or a vector.
pub(crate) trait Held: Collection + Into<Operand> + std::fmt::Debug {
    /// Its name in C.
    const WORD: &'static str;
    fn ty(&self) -> Type;
    /// Rows and columns; of a vector its length and 1.
    fn shape(&self) -> (usize, usize);
    fn is_on_host(&self) -> bool;
    /// Name of its device.
    fn machine(&self) -> String;
    fn download(&self) -> sparring::Result<Self>;
    /// An empty object.
    fn empty(ty: Type, shape: (usize, usize)) -> sparring::Result<Self>;
    fn upload(&self, machine: &sparring::runtime::Machine) -> sparring::Result<Self>;
}

macro_rules! held {
    ($($kind:ident $word:literal |$x:ident| $shape:expr, |$ty:ident, $of:ident| $empty:expr, $upload:ident;)*) => {$(
        impl Held for $kind {
            const WORD: &'static str = $word;
            fn ty(&self) -> Type {
                $kind::ty(self)
            }
            fn shape(&self) -> (usize, usize) {
                let $x = self;
                $shape
            }
            fn is_on_host(&self) -> bool {
                $kind::is_on_host(self)
            }
            fn machine(&self) -> String {
                $kind::machine(self)
            }
            fn download(&self) -> sparring::Result<Self> {
                $kind::download(self)
            }
            fn empty($ty: Type, $of: (usize, usize)) -> sparring::Result<Self> {
                $empty
            }
            fn upload(&self, machine: &sparring::runtime::Machine) -> sparring::Result<Self> {
                machine.$upload(self)
            }
        }
    )*};
}
held! {
    Matrix "matrix" |a| Matrix::shape(a), |ty, of| Matrix::empty(ty, of.0, of.1), upload;
    Vector "vector" |x| (x.len(), 1), |ty, of| Vector::empty(ty, of.0), upload_vector;
}

/// A snapshot of the operand of a handle.
pub(crate) fn operand<S: Sparse>(p: *const S, name: &'static str) -> Fallible<Operand> {
    Ok(handle(p, name)?.snapshot().into())
}

/// The same for a handle that may be NULL.
pub(crate) fn optional<S: Sparse>(p: *const S, name: &'static str) -> Fallible<Option<S::Held>> {
    if p.is_null() { Ok(None) } else { Ok(Some(handle(p, name)?.snapshot())) }
}

/// The error for an argument on a GPU that must be in host memory.
fn on_gpu(word: &str, found: &str) -> String {
    format!("the {word} is on {found}; sparring_{word}_to copies it to \"cpu\"")
}

/// Why an object on the device `found` is rejected by the device `own`, which may be a GPU.
pub(crate) fn elsewhere(word: &str, found: &str, own: &str, is_gpu: bool) -> String {
    if found == own {
        format!("it belongs to another SparringDevice of {own}")
    } else if is_gpu {
        format!("it is on {found}, not on {own}")
    } else {
        on_gpu(word, found)
    }
}

/// Rejects an object that is not in host memory.
pub(crate) fn on_host(name: &'static str, x: &impl Held) -> Fallible {
    if x.is_on_host() { Ok(()) } else { Err(Fail::argument(name, on_gpu(word_of(x), &x.machine()))) }
}

fn word_of<X: Held>(_: &X) -> &'static str {
    X::WORD
}
