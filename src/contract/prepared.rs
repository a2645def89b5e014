//! A reusable plan of a contraction.

use std::sync::Arc;

use super::einsum::Einsum;
use super::layout::Layout;
use super::plan::Plan;
use crate::par::{Threads, collected};
use crate::{Error, Result};

/// A contraction that is planned once, by [`Cpu::einsum_plan`](crate::Cpu::einsum_plan), and computed often. Its path,
/// steps and offsets follow from the expression and layouts alone, so it applies to any values over any semiring.
/// ```
/// use sparring::{Cpu, Result, algebra::PlusTimes, contract::{Einsum, Layout, View, ViewMut}};
/// fn product<'a>(a: &'a [f64], x: &'a [f64], layout: &Layout) -> Result<Einsum<'a, f64>> {
///     Einsum::new("ij,jk->ik", &[View::new(a, layout.clone())?, View::new(x, layout.clone())?])
/// }
/// let (cpu, layout) = (Cpu::new(), Layout::row_major(&[2, 2])?);
/// let (a, mut x) = ([0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0]);
/// let plan = cpu.einsum_plan(&product(&a, &x, &layout)?, &layout)?;
/// for _ in 0..10 {
///     let mut next = [0.0; 4];
///     let asked = cpu.einsum(PlusTimes::new(), product(&a, &x, &layout)?).plan(&plan);
///     asked.into(&mut ViewMut::new(&mut next, layout.clone())?)?;
///     x = next;
/// }
/// assert_eq!(x, [34.0, 55.0, 55.0, 89.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EinsumPlan {
    plan: Arc<Plan>,
    text: String,
    /// Number of directions, if it is the action of a mass operator.
    action: Option<usize>,
    operands: Vec<Layout>,
    result: Layout,
}

impl EinsumPlan {
    /// The plan for these operands and a result of this layout.
    pub(crate) fn new<T: Clone>(
        einsum: &Einsum<'_, T>,
        result: &Layout,
        threads: usize,
        budget: Option<u64>,
    ) -> Result<Self> {
        let plan = Arc::new(Plan::new(einsum, result, threads, budget)?);
        let layouts = einsum.operands.iter().map(|x| x.layout().clone());
        let operands = collected(einsum.operands.len(), layouts, "operands")?;
        let (text, action) = (einsum.subscripts.text.clone(), einsum.action);
        Ok(Self { plan, text, action, operands, result: result.clone() })
    }
    /// The steps, if they match these operands and this result.
    pub(crate) fn of<T>(&self, einsum: &Einsum<'_, T>, result: &Layout) -> Result<Arc<Plan>> {
        let text = &einsum.subscripts.text;
        let mut wrong = None;
        if *text != self.text || einsum.action != self.action {
            wrong = Some(format!("it is one of {:?}, not of {text:?}", self.text));
        } else if let Some((k, (_, planned))) =
            einsum.operands.iter().zip(&self.operands).enumerate().find(|(_, (x, planned))| x.layout() != *planned)
        {
            wrong = Some(format!("operand {k} has another layout than planned for: {planned:?}"));
        } else if *result != self.result {
            wrong = Some(format!("the result has another layout than planned for: {:?}", self.result));
        }
        match wrong {
            Some(message) => Err(Error::Argument { name: "plan", message }),
            None => Ok(Arc::clone(&self.plan)),
        }
    }
    /// Pairs of operands in contraction order, as in [`EinsumBuilder::path`](crate::backend::EinsumBuilder::path).
    #[must_use]
    pub fn path(&self) -> &[(usize, usize)] {
        self.plan.path()
    }
    /// A description: the contraction order, the loops of each step and why, and how the result is cut, line by line.
    #[must_use]
    pub fn explain(&self) -> String {
        format!("einsum: {}\n{}", self.text, self.plan.explain())
    }
    /// Bytes that these threads need besides operands and result, for values of `size` bytes.
    #[must_use]
    pub fn workspace_bytes(&self, threads: &Threads, size: usize) -> u128 {
        self.plan.workspace(threads.count(), size)
    }
    /// The layouts of the operands.
    #[must_use]
    pub fn operands(&self) -> &[Layout] {
        &self.operands
    }
    /// The layout of the result.
    #[must_use]
    pub fn result(&self) -> &Layout {
        &self.result
    }
}
