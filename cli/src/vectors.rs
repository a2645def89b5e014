//! What `knn`, `distances` and `bench distance` share: the vectors, the metric, the options.

use clap::Args;
use serde_json::{Value, json};
use sparring::Csr;
use sparring::distance::{Metric, Options};

use crate::context::Context;
use crate::failure::Result;
use crate::output::{seconds, shape, thousands};

/// A metric and its settings.
#[derive(Args)]
pub(crate) struct Question {
    /// Metric, one that `sparring metrics` lists
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: String,
    #[command(flatten)]
    pub(crate) how: How,
}

/// The settings of a metric.
#[derive(Args)]
pub(crate) struct How {
    /// Exponent of minkowski, 1 or more
    #[arg(long, value_name = "P")]
    pub(crate) p: Option<f64>,
    /// Divide each row by its sum first: hellinger, kl, kl_intersection
    #[arg(long, conflicts_with = "no_normalize")]
    normalize: bool,
    /// Take the rows of jensenshannon as they are, not divided by their sums
    #[arg(long)]
    no_normalize: bool,
    /// Do not look for entries that the metric cannot take; distances from rows with such are NaN, or whatever comes of them
    #[arg(long)]
    unchecked: bool,
}

impl How {
    /// The metric called `name`.
    pub(crate) fn metric(&self, name: &str) -> sparring::Result<Metric> {
        Metric::named(name, self.p)
    }
    pub(crate) fn options(&self) -> Options {
        let normalize = match (self.normalize, self.no_normalize) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        Options { normalize, unchecked: self.unchecked, ..Options::default() }
    }
    /// The settings as they go into JSON.
    pub(crate) fn insert(&self, json: &mut Value) {
        if let Some(p) = self.p {
            json["p"] = p.into();
        }
        if let Some(normalize) = self.options().normalize {
            json["normalize"] = normalize.into();
        }
    }
}

/// Where the vectors are.
#[derive(Args)]
pub(crate) struct Files {
    /// Matrix Market file, or gen:NAME; each row is a vector x
    x: String,
    /// Matrix whose rows are the vectors y [default: those of X]
    #[arg(long, value_name = "Y.mtx")]
    to: Option<String>,
}

/// The vectors.
pub(crate) struct Vectors {
    pub(crate) x: Csr<f64>,
    /// The others, unless they are the same.
    pub(crate) to: Option<Csr<f64>>,
    pub(crate) read_ms: f64,
}

impl Files {
    pub(crate) fn load(&self, context: &Context) -> Result<Vectors> {
        let (x, mut read_ms) = context.load(&self.x)?;
        let to = match &self.to {
            Some(file) => {
                let (y, ms) = context.load(file)?;
                read_ms += ms;
                Some(y.matrix)
            }
            None => None,
        };
        Ok(Vectors { x: x.matrix, to, read_ms })
    }
}

impl Vectors {
    pub(crate) fn y(&self) -> &Csr<f64> {
        self.to.as_ref().unwrap_or(&self.x)
    }
    /// Pairs (x, y).
    pub(crate) fn pairs(&self) -> u64 {
        self.x.nrows() as u64 * self.y().nrows() as u64
    }
    /// The vectors as they go into JSON.
    pub(crate) fn insert(&self, json: &mut Value) {
        let y = self.y();
        for (key, value) in [
            ("rows", json!(self.x.nrows())),
            ("to_rows", json!(y.nrows())),
            ("cols", json!(self.x.ncols())),
            ("nnz", json!(self.x.nnz())),
            ("to_nnz", json!(y.nnz())),
            ("pairs", json!(self.pairs())),
        ] {
            json[key] = value;
        }
    }
    /// `2,000 × 4,000 among themselves`.
    pub(crate) fn text(&self) -> String {
        let x = shape(self.x.nrows(), self.x.ncols());
        match &self.to {
            None => format!("{x} among themselves"),
            Some(y) => format!("{x} to {}", shape(y.nrows(), y.ncols())),
        }
    }
}

/// What a computation cost.
pub(crate) struct Cost {
    pub(crate) ms: f64,
    /// What the process grew by at its peak; `None` where the system does not say.
    pub(crate) growth: Option<u64>,
    pub(crate) device: Option<DeviceCost>,
    pub(crate) chosen: String,
}

/// What a computation on a GPU cost besides.
pub(crate) struct DeviceCost {
    pub(crate) name: String,
    pub(crate) upload: f64,
    /// The first time: programs are compiled, or read from their folder.
    pub(crate) first: f64,
    pub(crate) peak: u64,
}

impl Cost {
    pub(crate) fn insert(&self, context: &Context, json: &mut Value) {
        json["ms"] = crate::output::ms(self.ms);
        json["peak_growth_bytes"] = json!(self.growth);
        json["chosen"] = json!(self.chosen);
        json["device"] = json!(context.device.to_string());
        match &self.device {
            None => json["threads"] = context.threads().into(),
            Some(device) => {
                for (key, value) in [
                    ("device_name", json!(device.name)),
                    ("upload_ms", crate::output::ms(device.upload)),
                    ("first_ms", crate::output::ms(device.first)),
                    ("device_peak_bytes", json!(device.peak)),
                ] {
                    json[key] = value;
                }
            }
        }
    }
    /// `0.21 s, 170.0 million pairs/s, at most 1,234,567 bytes`.
    pub(crate) fn text(&self, pairs: u64) -> String {
        let rate = pairs as f64 / self.ms / 1e3;
        let before = self.device.as_ref().map_or(String::new(), |device| {
            format!("sent {}, first {}, ", seconds(device.upload), seconds(device.first))
        });
        let peak = self.device.as_ref().map(|device| device.peak).or(self.growth);
        let memory = peak.map_or(String::new(), |bytes| format!(", {} bytes at most", thousands(bytes)));
        format!("{before}{}, {rate:.1} million pairs/s{memory}\nchosen: {}", seconds(self.ms), self.chosen)
    }
}
