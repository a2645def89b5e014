//! The table of metrics: names, formulas, domains, and the recipe of each.

use std::any::TypeId;
use std::fmt;
use std::str::FromStr;

use super::recipe::Recipe;
use super::recipes as r;
use super::{Options, Precision};
use crate::algebra::{Monoid, MulOp, Plus, Real, Union};
use crate::{Error, Result};

/// What entries a metric takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Any finite number.
    Reals,
    /// Finite numbers that are not negative.
    NonNegative,
    /// Any finite number; only whether it is 0 matters.
    Sets,
}

impl Domain {
    /// Whether the domain has `x`.
    #[inline]
    pub fn takes<T: Real>(self, x: T) -> bool {
        x.to_f64().is_finite() && (self != Self::NonNegative || x >= T::ZERO)
    }
    /// The error for a value that it does not have.
    pub(crate) fn refuses<T: fmt::Debug>(self, value: T, row: usize, column: usize) -> Error {
        let takes = if self == Self::NonNegative { "finite numbers that are not negative" } else { "finite numbers" };
        let message = format!(
            "row {row}, column {column} holds {value:?}, but the metric takes {takes} (rows and columns are counted from 0)"
        );
        Error::Argument { name: "entries", message }
    }
}

/// What is known of a metric.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, as in Rust and on the command line.
    pub name: &'static str,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
    /// Formula; sums go over all columns, k of them, |x| is the number of entries that are not 0.
    pub formula: &'static str,
    /// ⊕ and ⊗ of the pass over common columns, or over the union.
    pub product: &'static str,
    /// What is kept of each row.
    pub norms: &'static str,
    /// What it takes.
    pub domain: Domain,
    /// What rows without entries give.
    pub empty_rows: &'static str,
}

/// Does something with the way a measure is computed, whose type is known here alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what to do with a measure",
    note = "implement `Visitor`: a method for each way in which distances are computed"
)]
pub trait Visitor {
    /// What comes of it.
    type Out;
    /// A ⊕ that is +: one pass over common columns.
    fn one_pass<R: Recipe>(self, recipe: R) -> Self::Out;
    /// The largest difference.
    fn chebyshev<W: Real>(self) -> Self::Out;
    /// Any other NAMM: two passes over the union.
    fn two_pass<W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>>(self, namm: Union<P, X>) -> Self::Out;
}

/// What may be asked of two rows: a [`Metric`], or a NAMM of your own.
///
/// ```
/// use sparring::algebra::{Plus, Union};
/// use sparring::{Csr, distance::knn, par::Threads};
/// sparring::op! {
///     /// (a − b)² / (a + b + 1).
///     pub Damped (a: f64, b: f64) -> f64 { (a - b) * (a - b) / (a + b + sparring::algebra::V::lit(1.0)) }
/// }
/// let x = Csr::<f64>::new(3, 2, vec![0, 1, 2, 3], vec![0, 0, 1], vec![1.0, 2.0, 9.0])?;
/// let near = knn(&Threads::current(), Union(Plus::new(), Damped::new()), 2, &x, None, &Default::default())?;
/// assert_eq!(near.row(0).0, [0, 1]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Its ⊗ must give the identity of ⊕ for two zeros. If ⊕ is + it runs in one pass (see [`Recipe`]), else in two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no measure of two rows",
    label = "is not a `Metric`, nor a NAMM",
    note = "name a `Metric`, or make a NAMM of an operator by `op!`: `Union(Plus::new(), MyOperator::new())`"
)]
pub trait Measure: Copy + Send + Sync {
    /// Hands the way it is computed on entries of type `T` to `visitor`.
    /// # Errors
    /// [`Error::Argument`] for a parameter outside its domain.
    fn visit<T: Real, V: Visitor>(&self, options: &Options, visitor: V) -> Result<V::Out>;
    /// What it takes.
    fn domain(&self) -> Domain;
    /// Whether neighbours are those of the largest value.
    fn is_similarity(&self) -> bool {
        false
    }
    /// Its name.
    fn name(&self) -> String;
}

impl<W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>> Measure for Union<P, X> {
    fn visit<T: Real, V: Visitor>(&self, _: &Options, visitor: V) -> Result<V::Out> {
        Ok(if TypeId::of::<P>() == TypeId::of::<Plus<W>>() {
            visitor.one_pass(r::OnePass(self.1))
        } else {
            visitor.two_pass(*self)
        })
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    fn name(&self) -> String {
        "a NAMM of the caller's".into()
    }
}

/// A distance, or a similarity, between two rows. [`entry`](Self::entry) tells what each is.
///
/// | name | formula | product | norms | takes | rows without entries |
/// | --- | --- | --- | --- | --- | --- |
/// | `cosine` | 1 − Σxy / (‖x‖ ‖y‖), in \[0, 2\] | semiring (+, ×) on x/‖x‖, y/‖y‖ | ‖x‖₂ | any number | 0 from each other, 1 from any other row |
/// | `correlation` | 1 − Σ(x−x̄)(y−ȳ) / (‖x−x̄‖ ‖y−ȳ‖), means over all k columns, in \[0, 2\] | semiring (+, ×) | Σx, ‖x−x̄‖₂ | any number | 0 from each other, 1 from any other row; so do constant rows |
/// | `dot` | Σxy, a similarity | semiring (+, ×) | none | any number | 0 |
/// | `euclidean` | √Σ(x−y)² | semiring (+, ×), ‖x‖² + ‖y‖² − 2s | ‖x‖₂² | any number | ‖y‖ |
/// | `sqeuclidean` | Σ(x−y)² | semiring (+, ×), ‖x‖² + ‖y‖² − 2s | ‖x‖₂² | any number | ‖y‖² |
/// | `manhattan` | Σ\|x−y\| | NAMM (+, \|a−b\|) as norms + Σ(\|a−b\| − \|a\| − \|b\|) | ‖x‖₁ | any number | ‖y‖₁ |
/// | `canberra` | Σ\|x−y\| / (\|x\|+\|y\|), 0/0 = 0 | NAMM (+, \|a−b\|/(\|a\|+\|b\|)) as norms + Σ(… − 2) | \|x\| | any number | \|y\| |
/// | `chebyshev` | max \|x−y\| | NAMM (max, \|a−b\|): common columns, then the largest entries of one row alone | largest entries | any number | max \|y\| |
/// | `hamming` | number of x≠y / k | NAMM (+, \[a≠b\]) as norms + Σ(\[a≠b\] − 2) | \|x\| | any number | \|y\| / k |
/// | `hamming_count` | number of x≠y | NAMM (+, \[a≠b\]) as norms + Σ(\[a≠b\] − 2) | \|x\| | any number | \|y\| |
/// | `minkowski` | (Σ\|x−y\|^p)^(1/p), p ≥ 1 | NAMM (+, \|a−b\|^p) as norms + Σ(\|a−b\|^p − \|a\|^p − \|b\|^p); p = 1, 2, ∞ as their own | Σ\|x\|^p | any number | (Σ\|y\|^p)^(1/p) |
/// | `hellinger` | √(½Σ(√x−√y)²); rows first divided by their sums if normalize | semiring (+, ×) on √x, √y | Σx | x ≥ 0 | √(½Σy) |
/// | `jensenshannon` | √(½Σ(x ln(x/μ) + y ln(y/μ))), μ = (x+y)/2; rows first divided by their sums unless normalize is false | NAMM (+, a ln(a/μ) + b ln(b/μ)) as norms + Σ(h(a) + h(b) − h(a+b)), h(x) = x ln x | Σx ln 2 | x ≥ 0 | 0 from each other, √ln 2, the largest distance, from any other row (not normalized: √(½ln2 Σy)) |
/// | `kl` | Σx ln(x/y), +∞ where y = 0 < x; not symmetric | semiring (+, ×) on x, ln y, and the number of common columns | \|x\|, Σx ln x | x ≥ 0 | 0 from x = 0, +∞ to y = 0 |
/// | `kl_intersection` | Σx ln(x/y) over common columns alone, as in the paper; not symmetric, may be negative | replaced product (+, a ln(a/b)) | none | x ≥ 0 | 0 |
/// | `jaccard` | 1 − \|x∩y\| / \|x∪y\| | semiring (+, pair) | \|x\| | any number, only whether it is 0 matters | 0 from each other, 1 from any other row |
/// | `dice` | 1 − 2\|x∩y\| / (\|x\|+\|y\|) | semiring (+, pair) | \|x\| | any number, only whether it is 0 matters | 0 from each other, 1 from any other row |
/// | `russellrao` | (k − \|x∩y\|) / k; not 0 for x and x unless x is full | semiring (+, pair) | none | any number, only whether it is 0 matters | 1 |
/// | `braycurtis` | Σ\|x−y\| / Σ(x+y) | semiring (+, min), norms − 2s | Σx | x ≥ 0 | 0 from each other, 1 from any other row |
/// | `ruzicka` | 1 − Σmin(x,y) / Σmax(x,y) | semiring (+, min), norms − s | Σx | x ≥ 0 | 0 from each other, 1 from any other row |
/// | `yule` | 2pq / (\|x∩y\|·o + pq), p = \|x∖y\|, q = \|y∖x\|, o columns in neither; 0 where pq = 0 | semiring (+, pair) | \|x\| | any number, only whether it is 0 matters | 0 |
/// | `rogerstanimoto` | 2R / (k + R), R = \|x∖y\| + \|y∖x\| | semiring (+, pair) | \|x\| | any number, only whether it is 0 matters | 2\|y\| / (k+\|y\|) |
/// | `sokalmichener` | 2R / (k + R), the formula of Rogers and Tanimoto | semiring (+, pair) | \|x\| | any number, only whether it is 0 matters | 2\|y\| / (k+\|y\|) |
/// | `sokalsneath` | 2R / (\|x∩y\| + 2R) | semiring (+, pair) | \|x\| | any number, only whether it is 0 matters | 0 from each other, 1 from any other row |
/// | `matching` | R / k | semiring (+, pair) | \|x\| | any number, only whether it is 0 matters | \|y\| / k |
/// | `kulsinski` | (R − \|x∩y\| + k) / (k + R); not 0 for x and x unless x is full | semiring (+, pair) | \|x\| | any number, only whether it is 0 matters | 1 |
///
/// With k columns; |x| is the number of entries of x that are not 0, x∖y are the columns of x alone. Stored zeros never matter.
///
/// Source: Nolet et al. 2022, Table 1; where it leaves values open, or cuVS, SciPy and scikit-learn differ, see the module.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Metric {
    /// `cosine`.
    Cosine,
    /// `correlation`.
    Correlation,
    /// `dot`.
    Dot,
    /// `euclidean`.
    Euclidean,
    /// `sqeuclidean`.
    SquaredEuclidean,
    /// `manhattan`.
    Manhattan,
    /// `canberra`.
    Canberra,
    /// `chebyshev`.
    Chebyshev,
    /// `hamming`.
    Hamming,
    /// `hamming_count`.
    HammingCount,
    /// `minkowski`.
    Minkowski(f64),
    /// `hellinger`.
    Hellinger,
    /// `jensenshannon`.
    JensenShannon,
    /// `kl`.
    Kl,
    /// `kl_intersection`.
    KlIntersection,
    /// `jaccard`.
    Jaccard,
    /// `dice`.
    Dice,
    /// `russellrao`.
    RussellRao,
    /// `braycurtis`.
    BrayCurtis,
    /// `ruzicka`.
    Ruzicka,
    /// `yule`.
    Yule,
    /// `rogerstanimoto`.
    RogersTanimoto,
    /// `sokalmichener`.
    SokalMichener,
    /// `sokalsneath`.
    SokalSneath,
    /// `matching`.
    Matching,
    /// `kulsinski`.
    Kulsinski,
}

/// The table itself.
macro_rules! table {
    ($($metric:pat => $name:literal $aliases:expr, $domain:ident, $formula:literal, $product:literal, $norms:literal, $empty:literal;)*) => {
        impl Metric {
            /// What is known of it.
            #[must_use]
            pub const fn entry(&self) -> &'static Entry {
                match self {
                    $($metric => &Entry {
                        name: $name,
                        aliases: &$aliases,
                        formula: $formula,
                        product: $product,
                        norms: $norms,
                        domain: Domain::$domain,
                        empty_rows: $empty,

                    },)*
                }
            }
        }
    };
}
table! {
    Self::Cosine => "cosine" [], Reals, "1 − Σxy / (‖x‖ ‖y‖), in [0, 2]",
        "semiring (+, ×) on x/‖x‖, y/‖y‖", "‖x‖₂", "0 from each other, 1 from any other row";
    Self::Correlation => "correlation" [], Reals, "1 − Σ(x−x̄)(y−ȳ) / (‖x−x̄‖ ‖y−ȳ‖), means over all k columns, in [0, 2]",
        "semiring (+, ×)", "Σx, ‖x−x̄‖₂", "0 from each other, 1 from any other row; so do constant rows";
    Self::Dot => "dot" ["inner_product"], Reals, "Σxy, a similarity",
        "semiring (+, ×)", "none", "0";
    Self::Euclidean => "euclidean" ["l2"], Reals, "√Σ(x−y)²",
        "semiring (+, ×), ‖x‖² + ‖y‖² − 2s", "‖x‖₂²", "‖y‖";
    Self::SquaredEuclidean => "sqeuclidean" [], Reals, "Σ(x−y)²",
        "semiring (+, ×), ‖x‖² + ‖y‖² − 2s", "‖x‖₂²", "‖y‖²";
    Self::Manhattan => "manhattan" ["cityblock", "l1"], Reals, "Σ|x−y|",
        "NAMM (+, |a−b|) as norms + Σ(|a−b| − |a| − |b|)", "‖x‖₁", "‖y‖₁";
    Self::Canberra => "canberra" [], Reals, "Σ|x−y| / (|x|+|y|), 0/0 = 0",
        "NAMM (+, |a−b|/(|a|+|b|)) as norms + Σ(… − 2)", "|x|", "|y|";
    Self::Chebyshev => "chebyshev" ["linf"], Reals, "max |x−y|",
        "NAMM (max, |a−b|): common columns, then the largest entries of one row alone", "largest entries", "max |y|";
    Self::Hamming => "hamming" [], Reals, "number of x≠y / k",
        "NAMM (+, [a≠b]) as norms + Σ([a≠b] − 2)", "|x|", "|y| / k";
    Self::HammingCount => "hamming_count" [], Reals, "number of x≠y",
        "NAMM (+, [a≠b]) as norms + Σ([a≠b] − 2)", "|x|", "|y|";
    Self::Minkowski(_) => "minkowski" ["lp"], Reals, "(Σ|x−y|^p)^(1/p), p ≥ 1",
        "NAMM (+, |a−b|^p) as norms + Σ(|a−b|^p − |a|^p − |b|^p); p = 1, 2, ∞ as their own", "Σ|x|^p", "(Σ|y|^p)^(1/p)";
    Self::Hellinger => "hellinger" [], NonNegative, "√(½Σ(√x−√y)²); rows first divided by their sums if normalize",
        "semiring (+, ×) on √x, √y", "Σx", "√(½Σy)";
    Self::JensenShannon => "jensenshannon" ["js"], NonNegative, "√(½Σ(x ln(x/μ) + y ln(y/μ))), μ = (x+y)/2; rows first divided by their sums unless normalize is false",
        "NAMM (+, a ln(a/μ) + b ln(b/μ)) as norms + Σ(h(a) + h(b) − h(a+b)), h(x) = x ln x", "Σx ln 2", "0 from each other, √ln 2, the largest distance, from any other row (not normalized: √(½ln2 Σy))";
    Self::Kl => "kl" ["kl_divergence"], NonNegative, "Σx ln(x/y), +∞ where y = 0 < x; not symmetric",
        "semiring (+, ×) on x, ln y, and the number of common columns", "|x|, Σx ln x", "0 from x = 0, +∞ to y = 0";
    Self::KlIntersection => "kl_intersection" [], NonNegative, "Σx ln(x/y) over common columns alone, as in the paper; not symmetric, may be negative",
        "replaced product (+, a ln(a/b))", "none", "0";
    Self::Jaccard => "jaccard" [], Sets, "1 − |x∩y| / |x∪y|",
        "semiring (+, pair)", "|x|", "0 from each other, 1 from any other row";
    Self::Dice => "dice" ["sorensen"], Sets, "1 − 2|x∩y| / (|x|+|y|)",
        "semiring (+, pair)", "|x|", "0 from each other, 1 from any other row";
    Self::RussellRao => "russellrao" [], Sets, "(k − |x∩y|) / k; not 0 for x and x unless x is full",
        "semiring (+, pair)", "none", "1";
    Self::BrayCurtis => "braycurtis" [], NonNegative, "Σ|x−y| / Σ(x+y)",
        "semiring (+, min), norms − 2s", "Σx", "0 from each other, 1 from any other row";
    Self::Ruzicka => "ruzicka" ["weighted_jaccard"], NonNegative, "1 − Σmin(x,y) / Σmax(x,y)",
        "semiring (+, min), norms − s", "Σx", "0 from each other, 1 from any other row";
    Self::Yule => "yule" [], Sets, "2pq / (|x∩y|·o + pq), p = |x∖y|, q = |y∖x|, o columns in neither; 0 where pq = 0",
        "semiring (+, pair)", "|x|", "0";
    Self::RogersTanimoto => "rogerstanimoto" [], Sets, "2R / (k + R), R = |x∖y| + |y∖x|",
        "semiring (+, pair)", "|x|", "2|y| / (k+|y|)";
    Self::SokalMichener => "sokalmichener" [], Sets, "2R / (k + R), the formula of Rogers and Tanimoto",
        "semiring (+, pair)", "|x|", "2|y| / (k+|y|)";
    Self::SokalSneath => "sokalsneath" [], Sets, "2R / (|x∩y| + 2R)",
        "semiring (+, pair)", "|x|", "0 from each other, 1 from any other row";
    Self::Matching => "matching" [], Sets, "R / k",
        "semiring (+, pair)", "|x|", "|y| / k";
    Self::Kulsinski => "kulsinski" [], Sets, "(R − |x∩y| + k) / (k + R); not 0 for x and x unless x is full",
        "semiring (+, pair)", "|x|", "1";
}

impl Metric {
    /// All of them, Minkowski with p = 3.
    pub const ALL: [Self; 26] = [
        Self::Cosine,
        Self::Correlation,
        Self::Dot,
        Self::Euclidean,
        Self::SquaredEuclidean,
        Self::Manhattan,
        Self::Canberra,
        Self::Chebyshev,
        Self::Hamming,
        Self::HammingCount,
        Self::Minkowski(3.0),
        Self::Hellinger,
        Self::JensenShannon,
        Self::Kl,
        Self::KlIntersection,
        Self::Jaccard,
        Self::Dice,
        Self::RussellRao,
        Self::BrayCurtis,
        Self::Ruzicka,
        Self::Yule,
        Self::RogersTanimoto,
        Self::SokalMichener,
        Self::SokalSneath,
        Self::Matching,
        Self::Kulsinski,
    ];
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
        self.recipe::<f64, _>(None, IsSymmetric)
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
    /// The recipe, over numbers of type `W`.
    fn recipe<W: Real, V: Visitor>(self, normalize: Option<bool>, v: V) -> V::Out {
        match self {
            Self::Minkowski(1.0) => v.one_pass(r::Manhattan::<W>::new()),
            Self::Minkowski(2.0) => v.one_pass(r::Euclidean::<W>::new()),
            Self::Minkowski(f64::INFINITY) | Self::Chebyshev => v.chebyshev::<W>(),
            // Exact powers of small numbers, and sooner than others.
            Self::Minkowski(p) if p == p.trunc() && p <= 64.0 => v.one_pass(r::Minkowski::<W, u32>::new(p as u32)),
            Self::Minkowski(p) => v.one_pass(r::Minkowski::<W>::new(p)),
            Self::Hellinger => v.one_pass(r::Hellinger::<W>::new(normalize.unwrap_or(false))),
            Self::JensenShannon => v.one_pass(r::JensenShannon::<W>::new(normalize.unwrap_or(true))),
            Self::Kl => v.one_pass(r::KullbackLeibler::<W>::new(normalize.unwrap_or(false))),
            Self::KlIntersection => v.one_pass(r::KullbackLeiblerIntersection::<W>::new(normalize.unwrap_or(false))),
            Self::Cosine => v.one_pass(r::Cosine::<W>::new()),
            Self::Correlation => v.one_pass(r::Correlation::<W>::new()),
            Self::Dot => v.one_pass(r::Dot::<W>::new()),
            Self::Euclidean => v.one_pass(r::Euclidean::<W>::new()),
            Self::SquaredEuclidean => v.one_pass(r::SquaredEuclidean::<W>::new()),
            Self::Manhattan => v.one_pass(r::Manhattan::<W>::new()),
            Self::Canberra => v.one_pass(r::Canberra::<W>::new()),
            Self::Hamming => v.one_pass(r::Hamming::<W>::new()),
            Self::HammingCount => v.one_pass(r::HammingCount::<W>::new()),
            Self::Jaccard => v.one_pass(r::Jaccard::<W>::new()),
            Self::Dice => v.one_pass(r::Dice::<W>::new()),
            Self::RussellRao => v.one_pass(r::RussellRao::<W>::new()),
            Self::BrayCurtis => v.one_pass(r::BrayCurtis::<W>::new()),
            Self::Ruzicka => v.one_pass(r::Ruzicka::<W>::new()),
            Self::Yule => v.one_pass(r::Yule::<W>::new()),
            Self::RogersTanimoto => v.one_pass(r::RogersTanimoto::<W>::new()),
            Self::SokalMichener => v.one_pass(r::SokalMichener::<W>::new()),
            Self::SokalSneath => v.one_pass(r::SokalSneath::<W>::new()),
            Self::Matching => v.one_pass(r::Matching::<W>::new()),
            Self::Kulsinski => v.one_pass(r::Kulsinski::<W>::new()),
        }
    }
}

/// What the way that a metric is computed says of its symmetry.
struct IsSymmetric;

impl Visitor for IsSymmetric {
    type Out = bool;
    fn one_pass<R: Recipe>(self, _: R) -> bool {
        R::SYMMETRIC
    }
    fn chebyshev<W: Real>(self) -> bool {
        true
    }
    fn two_pass<W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>>(self, _: Union<P, X>) -> bool {
        false
    }
}

impl Measure for Metric {
    fn visit<T: Real, V: Visitor>(&self, options: &Options, visitor: V) -> Result<V::Out> {
        let metric = self.checked()?;
        Ok(match options.precision {
            Precision::Double => metric.recipe::<f64, V>(options.normalize, visitor),
            Precision::Entries => metric.recipe::<T, V>(options.normalize, visitor),
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
