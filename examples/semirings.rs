//! One plan, three products: plus-times, min-plus, and a user-defined semiring.
//!
//! ```sh
//! cargo run --release --example semirings
//! ```

use sparring::algebra::{Max, MinPlus, PlusTimes, Ring};
use sparring::backend::Backend;
use sparring::{Cpu, Csr};

sparring::op! {
    /// The narrower of two pipes in series: with max as ⊕, the widest path (bottleneck) problem.
    pub Narrower<T: Num> (a, b) -> T { a.min(b) }
}
use sparring::algebra::Num;

type Widest = Ring<Max<f64>, Narrower<f64>>;

fn main() -> sparring::Result<()> {
    // 0 → 1 → 3 and 0 → 2 → 3.
    let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 3, 3], vec![1.0, 4.0, 5.0, 3.0])?;
    let cpu = Cpu::new();
    let plan = cpu.plan(&a, &a).eval()?; // patterns only: no values, no semiring
    let sums = cpu.mxm(PlusTimes::<f64>::default(), &a, &a).plan(&plan).eval()?;
    let shortest = cpu.mxm(MinPlus::<f64>::default(), &a, &a).plan(&plan).eval()?;
    let widest = cpu.mxm(Widest::default(), &a, &a).plan(&plan).eval()?;

    println!(
        "two steps from 0 to 3: {} in all, {} long, {} wide",
        sums.values()[0],
        shortest.values()[0],
        widest.values()[0]
    );
    println!("{} multiplications, {}", plan.flops(), plan.explain());
    assert_eq!((sums.get(0, 3), shortest.get(0, 3), widest.get(0, 3)), (Some(&17.0), Some(&6.0), Some(&3.0)));
    Ok(())
}
