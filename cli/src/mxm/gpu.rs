//! A product on a GPU: the matrices go there once and stay, the device is idle before and after each time that is taken.

use serde_json::{Value, json};
use sparring::{Csr, Cuda};
use sparring_named::DeviceMatrix;

use super::{Arguments, Product};
use crate::context::Context;
use crate::device::timed_on;
use crate::output::{ms, seconds, thousands};
use crate::timing::Times;
use crate::write;

/// What a GPU's product has beside the processor's.
pub(super) struct Figures {
    name: String,
    upload: f64,
    /// The whole product for the first time: its programs are compiled, or read from their folder.
    first: f64,
    /// If the product was asked for.
    download: Option<f64>,
    peak: u64,
}

impl Figures {
    pub(super) fn insert(&self, json: &mut Value) {
        for (key, value) in [
            ("device_name", json!(self.name)),
            ("upload_ms", ms(self.upload)),
            ("first_ms", ms(self.first)),
            ("download_ms", self.download.map_or(Value::Null, ms)),
            ("device_peak_bytes", json!(self.peak)),
            // Floats have other last digits where they are summed in another order.
            ("summed_on", json!(if self.download.is_some() { "host" } else { "device" })),
        ] {
            json[key] = value;
        }
    }
    /// What stands before the times and after the sum.
    pub(super) fn text(&self) -> (String, String) {
        let before = format!("sent {}, first {}, ", seconds(self.upload), seconds(self.first));
        let order = match self.download {
            Some(ms) => format!("   fetched {}", seconds(ms)),
            None => " in the device's order".into(),
        };
        (before, format!("{order}\n{}, at most {} bytes of its memory", self.name, thousands(self.peak)))
    }
}

/// The product over the semiring asked for; `reuse` measures the numeric phase into the same matrix too.
pub(super) fn multiply(
    context: &Context,
    cuda: &Cuda,
    arguments: &Arguments,
    a: &Csr<f64>,
    b: &Csr<f64>,
    reuse: bool,
) -> sparring::Result<Product> {
    let name = &arguments.semiring;
    cuda.reset_peak_memory()?;
    let ((a, b), upload) = timed_on(cuda, || {
        let left = DeviceMatrix::from(cuda.upload(a)?);
        let right = if std::ptr::eq(a, b) { left.clone() } else { cuda.upload(b)?.into() };
        Ok((left, right))
    })?;
    let options = arguments.how.options();
    let plan = || DeviceMatrix::plan(cuda, &a, &b, &options);
    let (mut symbolic, mut numeric, mut again) = (Times::default(), Times::default(), Times::default());
    let (mut made, first) = timed_on(cuda, || {
        let plan = plan()?;
        let c = DeviceMatrix::numeric(cuda, &plan, name, &a, &b)?;
        Ok(Some((plan, c)))
    })?;
    for _ in 0..arguments.repeat {
        // The memory of the last round is given back first, or the peak would be two products.
        drop(made.take());
        let (plan, ms) = timed_on(cuda, plan)?;
        symbolic.push(ms);
        let (c, ms) = timed_on(cuda, || DeviceMatrix::numeric(cuda, &plan, name, &a, &b))?;
        numeric.push(ms);
        made = Some((plan, c));
    }
    let Some((plan, mut c)) = made else { unreachable!("repeat is at least 1") };
    for _ in 0..if reuse { arguments.repeat } else { 0 } {
        let ((), ms) = timed_on(cuda, || DeviceMatrix::numeric_into(cuda, &plan, name, &a, &b, &mut c))?;
        again.push(ms);
    }
    let peak = cuda.peak_memory()?;
    let (sum, download) = match &arguments.output {
        None => (c.sum(cuda)?, None),
        Some(path) => {
            let (host, ms) = timed_on(cuda, || c.download(cuda))?;
            context.progress.stage(format!("writing {path}"));
            write::save(path, &host.to_f64()?)?;
            (host.sum(), Some(ms))
        }
    };
    Ok(Product {
        shape: plan.shape(),
        nnz: plan.nnz(),
        flops: plan.flops(),
        sum,
        chosen: plan.explain(),
        symbolic,
        numeric,
        reuse: again,
        gpu: Some(Figures { name: cuda.limits().name.clone(), upload, first, download, peak }),
    })
}
