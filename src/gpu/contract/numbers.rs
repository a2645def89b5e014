//! Batches of large numeric matrix products, which go to cuBLAS where it is installed.

use super::arrays::{Contraction, Operands};
use super::axes::Axis;
use super::large::{Large, one};
use super::steps::Step;
use crate::Result;
use crate::algebra::{PlusTimes, Printed, Type, printed_arithmetic};
use crate::contract::INDICES;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::cublas::{Factor, Matrix, Product};

/// A product as cuBLAS takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Numbers {
    product: Product,
    /// Whether it is computed as Cᵀ = Bᵀ·Aᵀ.
    exchanged: bool,
}

/// Recognizes such a product.
pub(super) fn numbers(step: &Step, extents: &[usize; INDICES], ring: &Printed) -> Option<Numbers> {
    let is_number = match ring.out {
        Type::F32 => ring.text == printed_arithmetic::<f32, _>(PlusTimes::<f32>::default()).text,
        Type::F64 => ring.text == printed_arithmetic::<f64, _>(PlusTimes::<f64>::default()).text,
        _ => false,
    };
    let Large { m, n, batch, mut folded } = Large::of_lines(step, extents).filter(|_| is_number)?;
    // The fold order is free here.
    folded.sort_by_key(|axis| std::cmp::Reverse(axis.strides[0]));
    let k = one(folded)??;
    let count = batch.map_or(1, |batch| batch.extent);
    let [base_a, base_b, base_c] = step.bases();
    let step_of = |t: usize| batch.map_or(0, |batch| batch.strides[t]);
    let a = |rows: &Axis, columns: &Axis| matrix([rows, columns], 0, step_of(0), base_a);
    let b = |rows: &Axis, columns: &Axis| matrix([rows, columns], 1, step_of(1), base_b);
    let sizes = |m: &Axis, n: &Axis| -> Option<[i32; 3]> {
        let size = |axis: &Axis| i32::try_from(axis.extent).ok();
        Some([size(m)?, size(n)?, size(&k)?])
    };
    let batch = i32::try_from(count).ok()?;
    let c = matrix([&m, &n], 2, step_of(2), base_c)?;
    if count > 1 && c.step <= 0 {
        return None;
    }
    Some(if c.transposed {
        let c = Matrix { transposed: false, ..c };
        let product = Product { sizes: sizes(&n, &m)?, batch, a: b(&n, &k)?, b: a(&k, &m)?, c };
        Numbers { product, exchanged: true }
    } else {
        let product = Product { sizes: sizes(&m, &n)?, batch, a: a(&m, &k)?, b: b(&k, &n)?, c };
        Numbers { product, exchanged: false }
    })
}

/// The matrix of tensor `t` with these rows and columns, if one of them is contiguous and they do not overlap.
fn matrix([rows, columns]: [&Axis; 2], t: usize, step: isize, base: usize) -> Option<Matrix> {
    let lies = |inner: &Axis, outer: &Axis| {
        let leading = i32::try_from(outer.strides[t]).ok()?;
        let enough = usize::try_from(leading).ok()? >= inner.extent;
        (inner.strides[t] == 1 && enough).then_some(leading)
    };
    let step = i64::try_from(step).ok().filter(|&step| step >= 0)?;
    let (transposed, leading) = match lies(rows, columns) {
        Some(leading) => (false, leading),
        None => (true, lies(columns, rows)?),
    };
    Some(Matrix { transposed, leading, step, base })
}

impl Numbers {
    pub(super) fn explain(&self) -> String {
        let ([m, n, k], batch) = (self.product.sizes, self.product.batch);
        format!("cuBLAS: {batch} products of matrices {m}×{k} and {k}×{n}, column by column")
    }
    /// Runs it.
    pub(super) fn run(&self, contraction: &Contraction<'_>, on: &Operands<'_>, b: &RawBuffer) -> Result<()> {
        let (update, both) = (&on.update, on.update.scalars.as_deref());
        let at = |i: usize| both.map_or(Factor::One, |both| Factor::At(both, i));
        let alpha = if update.alpha { at(0) } else { Factor::One };
        let beta = match update.old {
            0 => Factor::Zero,
            1 => Factor::One,
            _ => at(1),
        };
        let arrays = if self.exchanged { [b, on.a, on.c] } else { [on.a, b, on.c] };
        let cuda = contraction.cuda;
        cuda.cublas().gemm(cuda.device(), &self.product, arrays, [alpha, beta])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Einsum, Layout, View};
    use crate::gpu::contract::steps::Steps;

    fn of(text: &str, layouts: &[Layout], out: Option<Layout>) -> Option<Numbers> {
        let nothing = [(); 1 << 40];
        let views: Vec<_> = layouts.iter().map(|layout| View::new(&nothing[..], layout.clone()).unwrap()).collect();
        let einsum = Einsum::new(text, &views).unwrap();
        let out = out.unwrap_or_else(|| einsum.row_major().unwrap());
        let steps = Steps::new(&einsum, &out).unwrap();
        let ring = printed_arithmetic::<f64, _>(PlusTimes::<f64>::default());
        numbers(&steps.list[0], &steps.extents, &ring)
    }

    #[test]
    fn products_are_found_however_they_lie() {
        let rows = |extents: &[usize]| Layout::row_major(extents).unwrap();
        let (a, b) = (rows(&[100, 200]), rows(&[200, 300]));
        let lies = |transposed, leading, step, base| Matrix { transposed, leading, step, base };
        let plain = of("ij,jk->ik", &[a.clone(), b.clone()], None).unwrap();
        assert!(plain.exchanged);
        assert_eq!(plain.product.sizes, [300, 100, 200]);
        assert_eq!(
            [plain.product.a, plain.product.b, plain.product.c].map(|m| (m.transposed, m.leading)),
            [(false, 300), (false, 200), (false, 300)]
        );
        let columns = Layout::new(&[100, 300], &[1, 100], 7).unwrap();
        let turned = of("ij,jk->ik", &[a.clone(), b.clone()], Some(columns)).unwrap();
        assert_eq!((turned.product.sizes, turned.product.c), ([100, 300, 200], lies(false, 100, 0, 7)));
        assert_eq!((turned.product.a, turned.product.b), (lies(true, 200, 0, 0), lies(true, 300, 0, 0)));
        let heads = of("bhqd,bhkd->bhqk", &[rows(&[2, 5, 64, 96]), rows(&[2, 5, 64, 96])], None).unwrap();
        assert_eq!((heads.product.batch, heads.product.c), (10, lies(false, 64, 64 * 64, 0)));
        assert_eq!(heads.product.a, lies(true, 96, 64 * 96, 0));
        let gap = Layout::new(&[100, 200], &[400, 2], 0).unwrap();
        assert_eq!(of("ij,jk->ik", &[gap, b.clone()], None), None, "no index lies side by side");
        let window = Layout::new(&[100, 200], &[3, 1], 0).unwrap();
        assert_eq!(of("ij,jk->ik", &[window, b.clone()], None), None, "rows overlap");
        let flipped = Layout::new(&[100, 200], &[-200, 1], 99 * 200).unwrap();
        assert_eq!(of("ij,jk->ik", &[flipped, b.clone()], None), None, "a negative stride");
        assert_eq!(of("ij,jk->ik", &[rows(&[4, 4]), rows(&[4, 4])], None), None, "small");
        assert_eq!(of("ij,ij->ij", &[a.clone(), a.clone()], None), None);
        assert_eq!(of("ij,j->i", &[a, rows(&[200])], None), None, "small");
        let vector = of("ij,j->i", &[rows(&[2000, 1000]), rows(&[1000])], None).unwrap();
        assert_eq!((vector.product.sizes, vector.product.c), ([1, 2000, 1000], lies(false, 1, 0, 0)));
        assert_eq!((vector.product.a, vector.product.b), (lies(false, 1, 0, 0), lies(false, 1000, 0, 0)));
        let blocks = of("abcd,abce->de", &[rows(&[20, 30, 4, 50]), rows(&[20, 30, 4, 60])], None).unwrap();
        assert_eq!(blocks.product.sizes, [60, 50, 2400]);
    }
}
