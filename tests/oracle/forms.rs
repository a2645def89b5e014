//! The storage form of a matrix or a vector.

use sparring::num_complex::Complex;
use sparring::runtime::{Matrix, Object, Vector};
use sparring::sparse::MatrixForm;

/// The name of its form.
pub(crate) fn form(x: &Object) -> String {
    match x {
        Object::Matrix(a) => format!("{:?}", rows_form(a)),
        Object::Vector(x) => format!("{} vector", vector_form(x)),
        Object::Scalar(_) => "scalar".into(),
    }
}
fn rows_form(a: &Matrix) -> (MatrixForm, bool) {
    macro_rules! of {
        ($($t:ty)*) => {$(
            if let Some(a) = a.csr::<$t>() {
                return (a.form(), a.form() == MatrixForm::Rows && !a.pattern().is_sorted());
            }
        )*};
    }
    of! { bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Complex<f32> Complex<f64> }
    panic!("{}", a.ty())
}
/// The form reported by the pattern.
fn vector_form(x: &Vector) -> &'static str {
    macro_rules! of {
        ($($t:ty)*) => {$(
            if let Some(x) = x.typed::<$t>() {
                let text = format!("{:?}", x.pattern());
                return ["List", "Bitmap", "Full"].into_iter().find(|form| text.contains(form)).unwrap_or("?");
            }
        )*};
    }
    of! { bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Complex<f32> Complex<f64> }
    panic!("{}", x.ty())
}
