//! The steps of CP-ALS on an NVIDIA GPU. Tensor and factors stay on the device throughout; a sweep transfers four
//! numbers back.
//!
//! Small matrices and sums are in f64 for any value type, in an order that depends on shapes alone, so runs are
//! reproducible bitwise. Results differ from the CPU's: fits agree to 10⁻⁹ in f64 and 10⁻⁵ in f32 where no system is
//! nearly singular.

use super::machine::{Agreement, CpMachine, CpState, Solve};
use crate::algebra::{PlusTimes, Printed, Real, printed_ring};
use crate::gpu::{CpSteps, Cuda, DeviceMttkrp, RawBuffer, TensorForm};
use crate::tensor::{Kruskal, Norm, Tensor, Variant};
use crate::{Dense, Error, Index, Result};

use std::sync::Arc;
use std::time::Duration;

/// A prepared tensor on a GPU, its factors and derived quantities.
#[derive(Debug)]
struct CudaCp<'x, T> {
    cuda: &'x Cuda,
    ring: Arc<Printed>,
    plan: DeviceMttkrp<'x, T>,
    steps: CpSteps,
}

/// A GPU with a fixed form of tensors, regardless of free memory: a machine for [`CpAls`](super::CpAls) like the GPU
/// itself.
/// ```no_run
/// use sparring::factor::{CpAls, InForm};
/// use sparring::{Cuda, Tensor, gpu::TensorForm};
/// let cuda = Cuda::new(0)?;
/// let x = Tensor::<f32>::new(vec![2, 2], vec![vec![0, 1], vec![1, 0]], vec![1.0, 2.0])?;
/// let found = CpAls::new(2).run(&InForm { cuda: &cuda, form: TensorForm::Remapped }, &x)?;
/// println!("{}: {}", found.fit, found.explain);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InForm<'c> {
    /// The GPU.
    pub cuda: &'c Cuda,
    /// The form.
    pub form: TensorForm,
}

/// The GPU form of a CPU variant; only copies and C have one.
impl TryFrom<Variant> for TensorForm {
    type Error = Error;

    fn try_from(variant: Variant) -> Result<Self> {
        match variant {
            Variant::Copies => Ok(Self::Copies),
            Variant::C => Ok(Self::Permuted),
            other => Err(Error::Unsupported {
                what: format!("the variant {other} on a GPU"),
                why: "a GPU has the variants copies and c, and the forms of gpu::TensorForm".to_owned(),
            }),
        }
    }
}

fn state<'x, T: Real, I: Index>(
    cuda: &'x Cuda,
    x: &'x Tensor<T, I>,
    factors: &[Dense<T>],
    form: Option<TensorForm>,
) -> Result<Box<dyn CpState<T> + 'x>> {
    // The steps are created first, so that the remaining memory is known.
    let steps = CpSteps::new(cuda, factors)?;
    Ok(Box::new(CudaCp { cuda, ring: printed_ring(PlusTimes::<T>::new()), plan: cuda.mttkrp_plan(x, form)?, steps }))
}

impl<T: Real, I: Index> CpMachine<T, I> for Cuda {
    fn cp_room(&self, _: &Tensor<T, I>, rank: usize) -> Result<()> {
        CpSteps::check_rank(rank)
    }
    fn cp_state<'x>(
        &'x self,
        x: &'x Tensor<T, I>,
        factors: Vec<Dense<T>>,
        variant: Option<Variant>,
    ) -> Result<Box<dyn CpState<T> + 'x>> {
        state(self, x, &factors, variant.map(TensorForm::try_from).transpose()?)
    }
}

impl<T: Real, I: Index> CpMachine<T, I> for InForm<'_> {
    fn cp_room(&self, _: &Tensor<T, I>, rank: usize) -> Result<()> {
        CpSteps::check_rank(rank)
    }
    fn cp_state<'x>(
        &'x self,
        x: &'x Tensor<T, I>,
        factors: Vec<Dense<T>>,
        variant: Option<Variant>,
    ) -> Result<Box<dyn CpState<T> + 'x>> {
        if let Some(variant) = variant {
            let message = format!("{variant} is given together with the form {}", self.form.name());
            return Err(Error::Argument { name: "variant", message });
        }
        state(self.cuda, x, &factors, Some(self.form))
    }
}

impl<T: Real> CpState<T> for CudaCp<'_, T> {
    fn gram(&mut self, mode: usize) -> Result<()> {
        self.steps.gram(mode)
    }

    fn mttkrp(&mut self, mode: usize) -> Result<()> {
        let (plan, ring) = (&self.plan, &self.ring);
        self.steps.multiply(|steps| {
            let factors: Vec<&RawBuffer> = steps.factors().iter().map(|f| &**f).collect();
            plan.multiply(ring, &factors, mode, steps.rank(), steps.product())
        })
    }

    fn solve(&mut self, mode: usize, how: Solve) -> Result<()> {
        self.steps.solve(mode, how.ridge, how.nonnegative)
    }

    fn normalize(&mut self, mode: usize, norm: Norm) -> Result<()> {
        self.steps.normalize(mode, norm)
    }

    fn agreement(&mut self, mode: usize) -> Result<Agreement> {
        let found = self.steps.agreement(mode)?;
        Ok(Agreement { inner: found.inner, model: found.model, singular: found.singular })
    }

    fn model(&self) -> Result<Kruskal<T>> {
        let (weights, factors) = self.steps.model()?;
        Kruskal::new(weights, factors)
    }

    fn restart(&mut self, factors: Vec<Dense<T>>) -> Result<()> {
        self.steps.restart(&factors)
    }

    fn explain(&self) -> String {
        self.plan.explain()
    }

    fn finish(&self) -> Result<()> {
        self.cuda.synchronize()
    }

    fn products_time(&mut self) -> Result<Option<Duration>> {
        Ok(Some(Duration::from_secs_f64(self.steps.products_ms()? / 1e3)))
    }
}
