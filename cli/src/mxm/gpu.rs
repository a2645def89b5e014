//! Products on a GPU. The matrices are uploaded once; the device is idle before and after each measured interval.

use serde_json::{Value, json};
use sparring::runtime::{Machine, Matrix};

use crate::context::Context;
use crate::output::{ms, seconds, thousands};

/// Additional measurements of a product on a GPU.
pub(super) struct Figures {
    name: String,
    upload: f64,
    /// Time of the first product, which compiles its programs or loads them from the cache.
    first: f64,
    /// Time of the download, if requested.
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
            // The last digits of floating-point sums depend on the summation order.
            ("summed_on", json!(if self.download.is_some() { "host" } else { "device" })),
        ] {
            json[key] = value;
        }
    }
    /// Text before the times and after the sum.
    pub(super) fn text(&self) -> (String, String) {
        let before = format!("sent {}, first {}, ", seconds(self.upload), seconds(self.first));
        let order = match self.download {
            Some(ms) => format!("   fetched {}", seconds(ms)),
            None => " in the device's order".into(),
        };
        (before, format!("{order}\n{}, peak device memory {} bytes", self.name, thousands(self.peak)))
    }
}

/// The matrices on the device.
pub(super) struct Sent {
    pub(super) a: Matrix,
    pub(super) b: Matrix,
    upload: f64,
}

/// Uploads the matrices, if a GPU is selected.
pub(super) fn send(context: &Context, machine: &Machine, (a, b): (&Matrix, &Matrix)) -> sparring::Result<Option<Sent>> {
    let Some(cuda) = &context.cuda else { return Ok(None) };
    cuda.reset_peak_memory()?;
    let ((a, b), upload) = context.timed(|| Ok((machine.upload(a)?, machine.upload(b)?)))?;
    Ok(Some(Sent { a, b, upload }))
}

impl Sent {
    /// The measurements, and the product if `wanted` in host memory.
    pub(super) fn figures(
        &self,
        context: &Context,
        first: f64,
        wanted: bool,
        download: impl FnOnce() -> sparring::Result<Matrix>,
    ) -> sparring::Result<(Figures, Option<Matrix>)> {
        let (name, peak) = match &context.cuda {
            Some(cuda) => (cuda.limits().name.clone(), cuda.peak_memory()?),
            None => (String::new(), 0),
        };
        let host = if wanted { Some(context.timed(download)?) } else { None };
        let (host, ms) = host.map_or((None, None), |(host, ms)| (Some(host), Some(ms)));
        Ok((Figures { name, upload: self.upload, first, download: ms, peak }, host))
    }
}
