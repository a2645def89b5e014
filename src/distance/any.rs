//! A measure from text: a metric's name, or a formula.

use std::fmt;
use std::str::FromStr;

use super::compiled::Strategy;
use super::domain::Domain;
use super::formula::Formula;
use super::measure::Measure;
use super::options::Options;
use super::table::Metric;
use crate::algebra::Type;
use crate::{Error, Result};

/// A measure given by text: a metric of the table, or a formula.
///
/// ```
/// use sparring::{Cpu, Csr, distance::AnyMetric};
/// let x = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![0, 0], vec![1.0, 3.0])?;
/// for text in ["manhattan", "abs(a-b)"] {
///     let d = Cpu::new().distances(text.parse::<AnyMetric>()?, &x).eval()?;
///     assert_eq!(d.values(), [0.0, 2.0, 2.0, 0.0]);
/// }
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum AnyMetric {
    /// A metric of the table.
    Named(Metric),
    /// Σ of a formula over the union.
    Formula(Formula),
}

impl AnyMetric {
    /// The metric of that name, as in [`Metric::named`]; otherwise the formula that the text spells, as in
    /// [`Formula::parse`]. `p` is the parameter of a metric that has one.
    /// # Errors
    /// Those of [`Metric::named`] for a name that is not in the table; those of [`Formula::parse`]; [`Error::Argument`]
    /// if a formula is given a p.
    pub fn named(text: &str, p: Option<f64>) -> Result<Self> {
        let named = match Metric::named(text, p) {
            Ok(metric) => return Ok(Self::Named(metric)),
            // The name exists.
            Err(e @ Error::Argument { name: "p", .. }) => return Err(e),
            Err(e) => e,
        };
        match (Formula::parse(text), p) {
            (Ok(_), Some(p)) => {
                let message =
                    format!("a formula has no parameters but a and b, but p is {p}: write it into the formula");
                Err(Error::Argument { name: "p", message })
            }
            (Ok(formula), None) => Ok(Self::Formula(formula)),
            (Err(Error::Formula { .. }), _) if is_name(text) => Err(named),
            (Err(e), _) => Err(e),
        }
    }
    /// Its name, without the exponent of Minkowski, or the formula.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Named(metric) => metric.name(),
            Self::Formula(formula) => formula.text(),
        }
    }
    /// Whether d(x, y) = d(y, x) is known; a formula may be symmetric without being recognized as such.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        match self {
            Self::Named(metric) => metric.is_symmetric(),
            Self::Formula(formula) => formula.is_symmetric(),
        }
    }
    fn measure(&self) -> &dyn Measure {
        match self {
            Self::Named(metric) => metric,
            Self::Formula(formula) => formula,
        }
    }
}

/// Whether the text can only be a name: words other than the parameters, possibly with hyphens.
fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || "_- ".contains(c);
    text.chars().all(letter) && text.split(['-', ' ']).all(|word| !["a", "b"].contains(&word))
}

impl Measure for AnyMetric {
    fn strategy(&self, options: &Options, entries: Type) -> Result<Strategy> {
        self.measure().strategy(options, entries)
    }
    fn domain(&self) -> Domain {
        self.measure().domain()
    }
    fn is_similarity(&self) -> bool {
        self.measure().is_similarity()
    }
    fn name(&self) -> String {
        self.measure().name()
    }
    fn named(&self) -> Option<(String, Option<f64>)> {
        self.measure().named()
    }
}

impl fmt::Display for AnyMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.measure().name())
    }
}

impl FromStr for AnyMetric {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::named(text, None)
    }
}
