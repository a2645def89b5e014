//! Vectors, metric and options, shared by `knn`, `distances` and `bench distance`.

use clap::Args;
use serde_json::{Value, json};
use sparring::distance::{AnyMetric, Metric, Options};
use sparring::{Csr, Error};

use crate::context::Context;
use crate::failure::Result;
use crate::output::{ms, seconds, shape, thousands};
use crate::suggest::suggested;

/// A metric and its settings.
#[derive(Args)]
pub(crate) struct MetricArgs {
    /// Metric: a name from `sparring metrics`, or the term of a column as a formula: "abs(a-b) / (a+b+1)"
    #[arg(long, value_name = "NAME|FORMULA")]
    metric: String,
    /// Exponent of minkowski, 1 or more
    #[arg(long, value_name = "P")]
    p: Option<f64>,
    #[command(flatten)]
    how: How,
}

impl MetricArgs {
    /// The metric of that name and p, else the formula.
    pub(crate) fn metric(&self) -> sparring::Result<AnyMetric> {
        suggested(AnyMetric::named(&self.metric, self.p), &self.metric, Metric::ALL.iter().map(Metric::name))
    }
    pub(crate) fn options(&self) -> Options {
        self.how.options()
    }
    /// Inserts the settings into a JSON object.
    pub(crate) fn insert(&self, json: &mut Value) {
        if let Some(p) = self.p {
            json["p"] = p.into();
        }
        if let Some(normalize) = self.options().normalize {
            json["normalize"] = normalize.into();
        }
    }
}

/// The settings of a metric.
#[derive(Args)]
pub(crate) struct How {
    /// Normalize each row by its sum: hellinger, kl, kl_intersection
    #[arg(long, conflicts_with = "no_normalize")]
    normalize: bool,
    /// Do not normalize rows for jensenshannon
    #[arg(long)]
    no_normalize: bool,
    /// Skip the check for entries outside the metric's domain; distances of rows with such entries are NaN or
    /// meaningless
    #[arg(long)]
    unchecked: bool,
}

impl How {
    pub(crate) fn options(&self) -> Options {
        let normalize = match (self.normalize, self.no_normalize) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        Options { normalize, unchecked: self.unchecked, ..Options::default() }
    }
}

/// The files of the vectors.
#[derive(Args)]
pub(crate) struct Files {
    /// Matrix, a file of any format or gen:NAME; each row is a vector x
    x: String,
    /// Matrix whose rows are the vectors y [default: those of X]
    #[arg(long, value_name = "Y.mtx")]
    to: Option<String>,
}

/// The vectors.
pub(crate) struct Vectors {
    pub(crate) x: Csr<f64>,
    /// The vectors y, unless they are the same.
    pub(crate) to: Option<Csr<f64>>,
    pub(crate) read_ms: f64,
}

impl Files {
    /// File names of the vectors.
    pub(crate) fn names(&self) -> Vec<&str> {
        [Some(&*self.x), self.to.as_deref()].into_iter().flatten().collect()
    }
    /// Reads the vectors for `command`. Vectors of different lengths are an error.
    pub(crate) fn load(&self, context: &Context, command: &'static str) -> Result<Vectors> {
        let (x, mut read_ms) = context.load(&self.x)?;
        let to = match &self.to {
            Some(file) => {
                let (y, ms) = context.load(file)?;
                read_ms += ms;
                // Checked here, because the computation may swap X and Y.
                if y.matrix.ncols() != x.matrix.ncols() {
                    return Err(Error::Shape { op: command, lhs: x.matrix.shape(), rhs: y.matrix.shape() }.into());
                }
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
    /// Number of pairs (x, y).
    pub(crate) fn pairs(&self) -> u64 {
        self.x.nrows() as u64 * self.y().nrows() as u64
    }
    /// Inserts the vectors into a JSON object.
    pub(crate) fn insert(&self, json: &mut Value) {
        let y = self.y();
        for (key, value) in [
            ("nrows", json!(self.x.nrows())),
            ("to_nrows", json!(y.nrows())),
            ("ncols", json!(self.x.ncols())),
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

/// The cost of a computation.
pub(crate) struct Cost {
    pub(crate) ms: f64,
    /// Peak growth of the process, or of the GPU memory in use; `None` if the system does not report it.
    pub(crate) growth: Option<u64>,
    pub(crate) chosen: String,
}

impl Cost {
    pub(crate) fn insert(&self, context: &Context, json: &mut Value) {
        for (key, value) in [
            ("compute_ms", ms(self.ms)),
            ("peak_growth_bytes", json!(self.growth)),
            ("chosen", json!(self.chosen)),
            ("device", json!(context.device.to_string())),
            match &context.cuda {
                Some(cuda) => ("device_name", json!(cuda.limits().name)),
                None => ("threads", json!(context.threads())),
            },
        ] {
            json[key] = value;
        }
    }
    /// `0.21 s, 170.0 million pairs/s, peak growth 1,234,567 bytes`, and the chosen algorithm.
    pub(crate) fn text(&self, pairs: u64) -> String {
        let rate = pairs as f64 / self.ms / 1e3;
        let memory = self.growth.map_or(String::new(), |bytes| format!(", peak growth {} bytes", thousands(bytes)));
        format!("{}, {rate:.1} million pairs/s{memory}\nchosen: {}", seconds(self.ms), self.chosen)
    }
}

/// Σ of the distances that are finite.
pub(crate) fn sum_of_finite(distances: &[f64]) -> f64 {
    distances.iter().filter(|d| d.is_finite()).sum()
}
