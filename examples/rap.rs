//! R·A·P, the coarse matrix of a multigrid method, recomputed while the values of A change.
//!
//! The patterns are fixed, so both plans and both results are built once; each further step only computes
//! values, in place.
//!
//! ```sh
//! cargo run --release --example rap
//! ```

use sparring::algebra::PlusTimes;
use sparring::backend::Backend;
use sparring::{Cpu, Csr};

/// The 1-D Laplacian of n points, scaled.
fn laplacian(n: usize, scale: f64) -> sparring::Result<Csr<f64>> {
    let (mut row_ptr, mut cols, mut values) = (vec![0], vec![], vec![]);
    for i in 0..n {
        for (j, x) in [(i.wrapping_sub(1), -1.0), (i, 2.0), (i + 1, -1.0)] {
            if j < n {
                cols.push(j as u32);
                values.push(scale * x);
            }
        }
        row_ptr.push(cols.len());
    }
    Csr::new(n, n, row_ptr, cols, values)
}

fn main() -> sparring::Result<()> {
    let (n, coarse) = (3000, 1000);
    // Each coarse point aggregates three fine points; R = Pᵀ.
    let p = Csr::<f64>::new(n, coarse, (0..=n).collect(), (0..n).map(|i| (i / 3) as u32).collect(), vec![1.0; n])?;
    let r = Csr::<f64>::new(coarse, n, (0..=coarse).map(|i| 3 * i).collect(), (0..n as u32).collect(), vec![1.0; n])?;
    let ring = PlusTimes::<f64>::default();
    let cpu = Cpu::new();

    let a = laplacian(n, 1.0)?;
    let plan_ra = cpu.plan(&r, &a).eval()?;
    let mut ra = cpu.mxm(ring, &r, &a).plan(&plan_ra).eval()?;
    let plan_rap = cpu.plan(&ra, &p).eval()?;
    let mut rap = cpu.mxm(ring, &ra, &p).plan(&plan_rap).eval()?;

    for step in 1..=4 {
        let scale = f64::from(step);
        let a = Csr::with_pattern(a.pattern().clone(), laplacian(n, scale)?.into_parts().1)?;
        cpu.mxm(ring, &r, &a).plan(&plan_ra).into(&mut ra)?;
        cpu.mxm(ring, &ra, &p).plan(&plan_rap).into(&mut rap)?;
        // A sum over three neighbors telescopes: the coarse matrix is a Laplacian again.
        assert_eq!(rap, laplacian(coarse, scale)?);
        println!("step {step}: {}×{}, {} entries", rap.nrows(), rap.ncols(), rap.nnz());
    }
    Ok(())
}
