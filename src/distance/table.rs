//! The table of metrics, the single source of names, formulas, domains and recipes.

use std::fmt;
use std::str::FromStr;

use super::compiled::Strategy;
use super::domain::Domain;
use super::float::Float;
use super::measure::Measure;
use super::options::{Options, Precision};
use super::recipes as r;
use crate::algebra::Type;
use crate::{Error, Result};

/// The description of a metric.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, as in Rust and on the command line.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// The entries that it accepts.
    pub domain: Domain,
    /// Formula; sums go over all k columns, |x| is the number of nonzero entries.
    pub formula: &'static str,
    /// ⊕ and ⊗ of the pass over common columns, or over the union.
    pub product: &'static str,
    /// The norms of each row.
    pub norms: &'static str,
    /// The value for rows without entries.
    pub empty_rows: &'static str,
}

/// Generates [`Metric`] from its table. A row has: the variant, with its parameter and the default in `ALL`; name and
/// aliases; domain; formula; product; norms; the value for empty rows; the algorithm over numbers of type `W`, where
/// `normalize` is the caller's setting.
macro_rules! metrics {
    (|$normalize:ident, $w:ident| $($variant:ident$(($p:ident: $number:ty = $default:literal))?: $name:literal $aliases:expr,
        $domain:ident, $formula:literal, $product:literal, $norms:literal, $empty:literal, $strategy:expr;)*) => {
        /// A distance, or a similarity, between two rows. [`entry`](Self::entry) describes each.
        ///
        /// With k columns; |x| is the number of entries of x that are not 0, x∖y are the columns of x alone. Stored
        /// zeros never matter.
        ///
        /// Source: Nolet et al. 2022, Table 1; where it leaves values open, or cuVS, SciPy and scikit-learn differ, see
        /// the module.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Metric {
            $(
                #[doc = concat!("`", $name, "`: ", $formula, ".")]
                #[doc = ""]
                #[doc = concat!("Computed as ", $product, "; stored per row: ", $norms, ". Rows without entries: ", $empty, ".")]
                #[doc = ""]
                #[doc = concat!("Takes [`", stringify!($domain), "`](Domain::", stringify!($domain), ").")]
                $variant$(($number))?,
            )*
        }

        impl Metric {
            /// All metrics; Minkowski with p = 3.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant$(($default))?),*];
            /// The description of the metric.
            #[must_use]
            pub const fn entry(&self) -> &'static Entry {
                match self {
                    $(Self::$variant { .. } => &Entry {
                        name: $name,
                        aliases: &$aliases,
                        domain: Domain::$domain,
                        formula: $formula,
                        product: $product,
                        norms: $norms,
                        empty_rows: $empty,
                    },)*
                }
            }
            /// The algorithm over numbers of type `W`.
            fn over<$w: Float>(self, $normalize: Option<bool>) -> Strategy {
                match self {
                    $(Self::$variant$(($p))? => $strategy,)*
                }
            }
        }
    };
}

metrics! { |normalize, W|
    Cosine: "cosine" [], Reals,
        "1 − Σxy / (‖x‖ ‖y‖), in [0, 2]",
        "semiring (+, ×) on x/‖x‖, y/‖y‖",
        "‖x‖₂",
        "0 from each other, 1 from any other row",
        Strategy::one_pass(r::Cosine::<W>::new());
    Correlation: "correlation" [], Reals,
        "1 − Σ(x−x̄)(y−ȳ) / (‖x−x̄‖ ‖y−ȳ‖), means over all k columns, in [0, 2]",
        "semiring (+, ×)",
        "Σx, ‖x−x̄‖₂",
        "0 from each other, 1 from any other row; so do constant rows",
        Strategy::one_pass(r::Correlation::<W>::new());
    Dot: "dot" ["inner_product"], Reals,
        "Σxy, a similarity",
        "semiring (+, ×)",
        "none",
        "0",
        Strategy::one_pass(r::Dot::<W>::new());
    Euclidean: "euclidean" ["l2"], Reals,
        "√Σ(x−y)²",
        "semiring (+, ×), ‖x‖² + ‖y‖² − 2s",
        "‖x‖₂²",
        "‖y‖",
        Strategy::one_pass(r::Euclidean::<W>::new());
    SquaredEuclidean: "sqeuclidean" [], Reals,
        "Σ(x−y)²",
        "semiring (+, ×), ‖x‖² + ‖y‖² − 2s",
        "‖x‖₂²",
        "‖y‖²",
        Strategy::one_pass(r::SquaredEuclidean::<W>::new());
    Manhattan: "manhattan" ["cityblock", "l1"], Reals,
        "Σ|x−y|",
        "NAMM (+, |a−b|) as norms + Σ(|a−b| − |a| − |b|)",
        "‖x‖₁",
        "‖y‖₁",
        Strategy::one_pass(r::Manhattan::<W>::new());
    Canberra: "canberra" [], Reals,
        "Σ|x−y| / (|x|+|y|), 0/0 = 0",
        "NAMM (+, |a−b|/(|a|+|b|)) as norms + Σ(… − 2)",
        "|x|",
        "|y|",
        Strategy::one_pass(r::Canberra::<W>::new());
    Chebyshev: "chebyshev" ["linf"], Reals,
        "max |x−y|",
        "NAMM (max, |a−b|): common columns, then the largest unmatched entries",
        "largest entries",
        "max |y|",
        Strategy::chebyshev::<W>();
    Hamming: "hamming" [], Reals,
        "number of x≠y / k",
        "NAMM (+, [a≠b]) as norms + Σ([a≠b] − 2)",
        "|x|",
        "|y| / k",
        Strategy::one_pass(r::Hamming::<W>::new());
    HammingCount: "hamming_count" [], Reals,
        "number of x≠y",
        "NAMM (+, [a≠b]) as norms + Σ([a≠b] − 2)",
        "|x|",
        "|y|",
        Strategy::one_pass(r::HammingCount::<W>::new());
    Minkowski(p: f64 = 3.0): "minkowski" ["lp"], Reals,
        "(Σ|x−y|^p)^(1/p), p ≥ 1",
        "NAMM (+, |a−b|^p) as norms + Σ(|a−b|^p − |a|^p − |b|^p); p = 1, 2, ∞ as their own",
        "Σ|x|^p",
        "(Σ|y|^p)^(1/p)",
        minkowski::<W>(p);
    Hellinger: "hellinger" [], NonNegative,
        "√(½Σ(√x−√y)²); rows first divided by their sums if normalize",
        "semiring (+, ×) on √x, √y",
        "Σx",
        "√(½Σy)",
        Strategy::one_pass(r::Hellinger::<W>::new(normalize.unwrap_or(false)));
    JensenShannon: "jensenshannon" ["js"], NonNegative,
        "√(½Σ(x ln(x/μ) + y ln(y/μ))), μ = (x+y)/2; rows first divided by their sums unless normalize is false",
        "NAMM (+, a ln(a/μ) + b ln(b/μ)) as norms + Σ(h(a) + h(b) − h(a+b)), h(x) = x ln x",
        "Σx ln 2",
        "0 from each other, √ln 2, the largest distance, from any other row (not normalized: √(½ln2 Σy))",
        Strategy::one_pass(r::JensenShannon::<W>::new(normalize.unwrap_or(true)));
    Kl: "kl" ["kl_divergence"], NonNegative,
        "Σx ln(x/y), +∞ where y = 0 < x; not symmetric",
        "semiring (+, ×) on x, ln y, and the number of common columns",
        "|x|, Σx ln x",
        "0 from x = 0, +∞ to y = 0",
        Strategy::one_pass(r::KullbackLeibler::<W>::new(normalize.unwrap_or(false)));
    KlIntersection: "kl_intersection" [], NonNegative,
        "Σx ln(x/y) over common columns only, as in the paper; not symmetric, may be negative",
        "replaced product (+, a ln(a/b))",
        "none",
        "0",
        Strategy::one_pass(r::KullbackLeiblerIntersection::<W>::new(normalize.unwrap_or(false)));
    Jaccard: "jaccard" [], Sets,
        "1 − |x∩y| / |x∪y|",
        "semiring (+, pair)",
        "|x|",
        "0 from each other, 1 from any other row",
        Strategy::one_pass(r::Jaccard::<W>::new());
    Dice: "dice" ["sorensen"], Sets,
        "1 − 2|x∩y| / (|x|+|y|)",
        "semiring (+, pair)",
        "|x|",
        "0 from each other, 1 from any other row",
        Strategy::one_pass(r::Dice::<W>::new());
    RussellRao: "russellrao" [], Sets,
        "(k − |x∩y|) / k; not 0 for x and x unless x is full",
        "semiring (+, pair)",
        "none",
        "1",
        Strategy::one_pass(r::RussellRao::<W>::new());
    BrayCurtis: "braycurtis" [], NonNegative,
        "Σ|x−y| / Σ(x+y)",
        "semiring (+, min), norms − 2s",
        "Σx",
        "0 from each other, 1 from any other row",
        Strategy::one_pass(r::BrayCurtis::<W>::new());
    Ruzicka: "ruzicka" ["weighted_jaccard"], NonNegative,
        "1 − Σmin(x,y) / Σmax(x,y)",
        "semiring (+, min), norms − s",
        "Σx",
        "0 from each other, 1 from any other row",
        Strategy::one_pass(r::Ruzicka::<W>::new());
    Yule: "yule" [], Sets,
        "2pq / (|x∩y|·o + pq), p = |x∖y|, q = |y∖x|, o columns in neither; 0 where pq = 0",
        "semiring (+, pair)",
        "|x|",
        "0",
        Strategy::one_pass(r::Yule::<W>::new());
    RogersTanimoto: "rogerstanimoto" [], Sets,
        "2R / (k + R), R = |x∖y| + |y∖x|",
        "semiring (+, pair)",
        "|x|",
        "2|y| / (k+|y|)",
        Strategy::one_pass(r::RogersTanimoto::<W>::new());
    SokalMichener: "sokalmichener" [], Sets,
        "2R / (k + R), the formula of Rogers and Tanimoto",
        "semiring (+, pair)",
        "|x|",
        "2|y| / (k+|y|)",
        Strategy::one_pass(r::SokalMichener::<W>::new());
    SokalSneath: "sokalsneath" [], Sets,
        "2R / (|x∩y| + 2R)",
        "semiring (+, pair)",
        "|x|",
        "0 from each other, 1 from any other row",
        Strategy::one_pass(r::SokalSneath::<W>::new());
    Matching: "matching" [], Sets,
        "R / k",
        "semiring (+, pair)",
        "|x|",
        "|y| / k",
        Strategy::one_pass(r::Matching::<W>::new());
    Kulsinski: "kulsinski" [], Sets,
        "(R − |x∩y| + k) / (k + R); not 0 for x and x unless x is full",
        "semiring (+, pair)",
        "|x|",
        "1",
        Strategy::one_pass(r::Kulsinski::<W>::new());
}

/// Minkowski's distance with exponent `p`.
fn minkowski<W: Float>(p: f64) -> Strategy {
    match p {
        1.0 => Metric::Manhattan.over::<W>(None),
        2.0 => Metric::Euclidean.over::<W>(None),
        f64::INFINITY => Metric::Chebyshev.over::<W>(None),
        // Exact for small integers, and faster than the general power.
        p if p == p.trunc() && p <= 64.0 => Strategy::one_pass(r::Minkowski::<W, u32>::new(p as u32)),
        p => Strategy::one_pass(r::Minkowski::<W>::new(p)),
    }
}

impl Metric {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.entry().name
    }
    /// Whether d(x, y) = d(y, x): for all but `kl` and `kl_intersection`.
    ///
    /// ```
    /// use sparring::distance::Metric;
    /// assert!(Metric::Cosine.is_symmetric() && !Metric::Kl.is_symmetric());
    /// ```
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.over::<f64>(None).is_symmetric()
    }
    /// The metric of that name; `p` for Minkowski alone, which needs it.
    ///
    /// ```
    /// use sparring::distance::Metric;
    /// assert_eq!(Metric::named("l1", None)?, Metric::Manhattan);
    /// assert_eq!(Metric::named("minkowski", Some(3.0))?, Metric::Minkowski(3.0));
    /// assert!(Metric::named("cosin", None).is_err());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Argument`] for a name that is not in the table, and for a p that is missing, below 1, or too much.
    pub fn named(name: &str, p: Option<f64>) -> Result<Self> {
        let known = |m: &&Self| m.name() == name || m.entry().aliases.contains(&name);
        let Some(&found) = Self::ALL.iter().find(known) else {
            let all: Vec<_> = Self::ALL.iter().map(Self::name).collect();
            let message = format!("there is no {name:?}; there are {}", all.join(", "));
            return Err(Error::Argument { name: "metric", message });
        };
        match (found, p) {
            (Self::Minkowski(_), Some(p)) => Self::Minkowski(p).checked(),
            (Self::Minkowski(_), None) => {
                Err(Error::Argument { name: "p", message: format!("{name} needs a p of at least 1") })
            }
            (found, None) => Ok(found),
            (_, Some(p)) => {
                Err(Error::Argument { name: "p", message: format!("{name} has no parameter, but p is {p}") })
            }
        }
    }
    /// The metric itself if its parameter is in its domain.
    fn checked(self) -> Result<Self> {
        match self {
            Self::Minkowski(p) if p.is_nan() || p < 1.0 => {
                Err(Error::Argument { name: "p", message: format!("{p} is below 1, where Minkowski is no distance") })
            }
            _ => Ok(self),
        }
    }
}

impl Measure for Metric {
    fn strategy(&self, options: &Options, entries: Type) -> Result<Strategy> {
        let metric = self.checked()?;
        Ok(match options.precision {
            Precision::Entries if entries == Type::F32 => metric.over::<f32>(options.normalize),
            Precision::Entries | Precision::Double => metric.over::<f64>(options.normalize),
        })
    }
    fn domain(&self) -> Domain {
        self.entry().domain
    }
    fn is_similarity(&self) -> bool {
        *self == Self::Dot
    }
    fn name(&self) -> String {
        self.to_string()
    }
    fn named(&self) -> Option<(String, Option<f64>)> {
        let p = if let Self::Minkowski(p) = self { Some(*p) } else { None };
        Some((Self::name(self).into(), p))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minkowski(p) => write!(f, "minkowski, p = {p}"),
            _ => f.write_str(self.name()),
        }
    }
}

impl FromStr for Metric {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        Self::named(name, None)
    }
}
