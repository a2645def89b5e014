//! Single operations: elementwise operations, products, and submatrices.

mod common;
mod entries;
mod lists;
mod parts;
mod products;

use clap::Subcommand;
use common::{Loaded, Run};
use serde_json::{Value, json};
use sparring::runtime::{Matrix, Object};

use crate::context::Context;
use crate::device::Device;
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::operands::{self, Operands};
use crate::output::{ms, number, seconds, shape, thousands};
use crate::write::Output;

/// Two examples of each of these commands.
pub(crate) fn examples() -> impl Iterator<Item = &'static (&'static str, [(&'static str, &'static str); 2])> {
    products::EXAMPLES.iter().chain(entries::EXAMPLES).chain(parts::EXAMPLES)
}

/// Boolean operators that have no numeric counterpart of another name.
const TRUTH: [&str; 9] = ["land", "lor", "lxor", "lxnor", "first", "second", "any", "lor_land", "any_pair"];

#[derive(Subcommand)]
pub(crate) enum Step {
    #[command(flatten)]
    Products(products::Products),
    #[command(flatten)]
    Entries(entries::Entries),
    #[command(flatten)]
    Parts(parts::Parts),
}

impl Step {
    fn run(&self) -> &dyn Run {
        match self {
            Self::Products(step) => step,
            Self::Entries(step) => step,
            Self::Parts(step) => step,
        }
    }
    /// All input files.
    pub(crate) fn files(&self) -> Vec<&str> {
        let step = self.run();
        let beside = [step.places(), step.common().mask.as_deref()];
        step.operands().into_iter().chain(beside.into_iter().flatten()).collect()
    }
    /// The device to run on.
    pub(crate) fn device(&self) -> Device {
        self.run().common().place.device
    }
}

pub(crate) fn run(context: &Context, step: &Step) -> Result {
    let step = step.run();
    let (common, operator) = (step.common(), step.operator());
    let output = Output::new(context, common.output.as_ref(), common.writing, SPARSE)?;
    let truth = step.moves() || TRUTH.contains(&operator);
    let is_vector = |k| step.is_vector(k);
    let Operands { all, ty, ones, mut read_ms } =
        Operands::load(context, &step.operands(), common.values, truth, is_vector)?;
    let mut beside = |file: Option<&str>| -> Result<Option<Matrix>> {
        let Some(file) = file else { return Ok(None) };
        let (matrix, ms) = operands::load(context, file, None)?;
        read_ms += ms;
        Ok(Some(matrix))
    };
    let (places, mask) = (beside(step.places())?, beside(common.mask.as_deref())?);
    context.progress.stage_of("computing", all.iter().map(|a| a.shape().0).max().unwrap_or(0), "rows");
    let machine = &context.machine()?;
    let sent = |(k, a): (usize, Matrix)| if is_vector(k) { Ok(a) } else { machine.upload(&a) };
    let all = all.into_iter().enumerate().map(sent).collect::<sparring::Result<Vec<_>>>()?;
    let loaded = Loaded { machine, all, places, mask, common, ty };
    let (made, compute_ms) = context.timed(|| step.compute(&loaded))?;
    let head = json!({
        "operator": operator, "read_ms": ms(read_ms), "compute_ms": ms(compute_ms),
        "threads": context.threads(), "device": context.device.to_string(),
    });
    let (read, computed) = (seconds(read_ms), seconds(compute_ms));
    let times = format!("read {read}, computed {computed}");
    let ones = if ones { ", pattern entries as 1" } else { "" };
    let (matrix, is_vector) = match made {
        Object::Matrix(c) => (c, false),
        Object::Vector(y) => (y.to_column()?, true),
        Object::Scalar(s) => {
            if let Some(output) = &output {
                output.save(context, &Matrix::constant(&s, (1, 1))?)?;
            }
            let json = with(head, [("type", json!(s.ty().name())), ("value", json!(s.to_string()))]);
            return context.result(json, || format!("{s} of {} by {operator}{ones}   {times}", s.ty()));
        }
    };
    if let Some(output) = &output {
        output.save(context, &matrix)?;
    }
    let (sum, (nrows, ncols), nnz, ty) = (machine.sum(&matrix)?, matrix.shape(), matrix.nnz(), matrix.ty());
    let figures = [
        ("nrows", json!(nrows)),
        ("ncols", json!(ncols)),
        ("nnz", json!(nnz)),
        ("type", json!(ty.name())),
        ("sum", number(sum)),
    ];
    context.result(with(head, figures), || {
        let what = if is_vector { format!("{} places", thousands(nrows as u64)) } else { shape(nrows, ncols) };
        let entries = thousands(nnz as u64);
        format!("{what}, {entries} entries of {ty} by {operator}{ones}   {times}   sum {sum}")
    })
}

fn with<const N: usize>(mut object: Value, more: [(&str, Value); N]) -> Value {
    more.into_iter().for_each(|(key, value)| object[key] = value);
    object
}
