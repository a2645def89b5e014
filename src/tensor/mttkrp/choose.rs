//! The choice of an MTTKRP variant from the tensor's shape, with its reason and its memory.

use std::fmt;
use std::ops::Range;

use super::rows::head_bytes;
use crate::tensor::order::interleaved;
use crate::{Error, Result};

/// The order of the products and where they are accumulated.
///
/// | variant | bytes stored per entry (3 modes, u32, f64) | fastest where |
/// | --- | --- | --- |
/// | `Copies` | 48, and 4 more per fibre | in most cases |
/// | `Tree` | fewer than copies | order 4 and more, where neighbouring modes have few distinct tuples |
/// | `Linear` | 20 | one mode is far longer than the others and entries are clustered; or memory is short |
/// | `Single` | none | for a single product, where no preparation pays |
/// | `C` | 12 | nothing else fits |
/// | `A`, `B` | none | never; they are the baselines of the paper |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// The paper's MTTKRP-A: entries in stored order, rows in memory, every product added under a lock. Not
    /// reproducible bitwise.
    A,
    /// The paper's MTTKRP-B: as A, with a block of columns in registers.
    B,
    /// The paper's MTTKRP-C: a permutation for each mode; the sum of a row stays in registers until the row changes.
    C,
    /// A copy of the tensor for each mode, sorted by its rows. A fibre, whose entries share all indices but one,
    /// multiplies by the rows of the other factors once.
    Copies,
    /// As `Copies`, but neighbouring modes with few distinct index tuples share one copy and its products with all
    /// other factors.
    Tree,
    /// One copy for all modes, in an order in which neighbours are close in every mode
    /// ([`Tensor::linearized`](crate::Tensor::linearized)), read as by [`Single`](Self::Single).
    Linear,
    /// No copy: the tensor in stored order, cut into segments that accumulate in rows of their own; a permutation where
    /// these rows would be too many.
    Single,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 7] = [Self::A, Self::B, Self::C, Self::Copies, Self::Tree, Self::Linear, Self::Single];
    /// The name as read by [`from_name`](Self::from_name).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
            Self::Copies => "copies",
            Self::Tree => "tree",
            Self::Linear => "linear",
            Self::Single => "single",
        }
    }
    /// The variant named `name`.
    /// # Errors
    /// [`Error::Argument`], listing the valid names.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|v| v.name()).collect();
            Error::Argument { name: "variant", message: format!("{name:?} is none of {}", names.join(", ")) }
        })
    }
}
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Number of segments into which an unsorted list of entries is cut. It does not depend on the number of threads, so
/// results do not either.
pub(super) const SEGMENTS: usize = 16;

/// The properties of a tensor on which the choice depends.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Size of each mode.
    pub dims: Vec<usize>,
    /// Number of entries.
    pub nnz: usize,
    /// Number of columns of the factors.
    pub rank: usize,
    /// Bytes of an index.
    pub index_bytes: usize,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Numbers of distinct tuples of the first k + 1 modes, if the entries are sorted by all modes.
    pub prefixes: Option<Vec<usize>>,
}

impl Shape {
    /// Greatest worthwhile number of rows of all segments together. Rows are written, read and added up: half as many
    /// rows as entries cost as much work as the entries. Rows with fewer bytes than the entries' indices always pay.
    pub(super) fn most_rows(&self) -> usize {
        let row = self.rank * self.value_bytes;
        (self.nnz / 2).max(self.nnz.saturating_mul(self.index_bytes).checked_div(row).unwrap_or(usize::MAX))
    }
}

/// The chosen variant and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The variant that computes the product.
    pub variant: Variant,
    /// Groups of neighbouring modes that share a copy.
    pub groups: Vec<Range<usize>>,
    /// Upper bound of the bytes that it allocates in addition to the tensor, the factors and the result.
    pub bytes: u128,
    /// The reason.
    pub why: String,
}

/// The variant for a tensor of this shape, or the one requested, within `budget` bytes if there is one.
///
/// A copy for each mode is fastest in most cases; from order 4 neighbouring modes share one where that saves products.
/// One copy for all modes is as fast where the factor rows of one long mode exceed the caches and neighbouring entries
/// share them. Where memory is short, one copy serves all modes, or the tensor is read in stored order. A permutation
/// for each mode is slowest and often takes the least memory.
/// # Errors
/// [`Error::Budget`] if the requested variant, or without a request every variant, exceeds the budget.
pub fn choose(shape: &Shape, requested: Option<Variant>, budget: Option<u64>) -> Result<Choice> {
    let order = shape.dims.len();
    let singles: Vec<Range<usize>> = (0..order).map(|m| m..m + 1).collect();
    let groups = if order >= 4 { grouping(shape) } else { singles.clone() };
    let of = |variant: Variant, groups: &[Range<usize>], why: String| {
        let bytes = bytes(shape, variant, groups);
        Choice { variant, groups: groups.to_vec(), bytes, why }
    };
    let fits = |c: &Choice| budget.is_none_or(|budget| c.bytes <= u128::from(budget));
    let choices = match requested {
        Some(Variant::Tree) => vec![of(Variant::Tree, &groups, "requested".to_owned())],
        Some(variant) => vec![of(variant, &singles, "requested".to_owned())],
        None => {
            let shared: Vec<String> =
                groups.iter().filter(|g| g.len() > 1).map(|g| format!("{} to {}", g.start, g.end - 1)).collect();
            let mut choices = Vec::new();
            if !shared.is_empty() {
                let why = format!("modes {} have few tuples, whose products are stored", shared.join(" and "));
                choices.push(of(Variant::Tree, &groups, why));
            }
            let copies = of(Variant::Copies, &singles, "a copy sorted by each mode is read once".to_owned());
            let why = format!("copies would take {} bytes", copies.bytes);
            let mut linear = of(Variant::Linear, &singles, format!("{why}; one for all modes fits"));
            if shared.is_empty() && is_clustered(shape) {
                linear.why = "one copy for all modes; neighbouring entries share rows of the long mode".to_owned();
                choices.push(linear.clone());
            }
            choices.push(copies);
            choices.push(linear);
            choices.push(of(Variant::Single, &singles, format!("{why}; the tensor is read in stored order")));
            choices.push(of(Variant::C, &singles, format!("{why}; a permutation for each mode fits")));
            choices
        }
    };
    let least = choices.iter().map(|c| c.bytes).min().unwrap_or(0);
    choices.into_iter().find(fits).ok_or(Error::Budget {
        what: "mttkrp",
        bytes: least,
        budget: budget.unwrap_or(0).into(),
    })
}

/// Whether linearized entries share rows of a long mode that copies would fetch from memory.
///
/// One list for all modes took 0.85 to 1.0 of the time of copies where this holds, 1.15 with 64 columns of one tensor,
/// and 1.3 to 3.3 nearly everywhere else: 21 tensors of order 3 to 5 with 16 and 32 columns (`sparring bench mttkrp`,
/// two threads).
fn is_clustered(shape: &Shape) -> bool {
    /// Entries per cell of 512 indices in each mode.
    const SHARED: usize = 8;
    /// Bytes of the long factor: several times a core's cache.
    const LONG_FACTOR: usize = 16 << 20;
    let rows: usize = shape.dims.iter().fold(0, |sum, &n| sum.saturating_add(n));
    let longest = shape.dims.iter().copied().max().unwrap_or(0);
    let cells = interleaved(&shape.dims).len();
    longest >= rows - rows / 4
        && longest.saturating_mul(shape.rank.saturating_mul(shape.value_bytes)) > LONG_FACTOR
        && shape.nnz >> cells.min(63) >= SHARED
}

/// Upper bound of the bytes that a variant allocates in addition to tensor, factors and result.
fn bytes(shape: &Shape, variant: Variant, groups: &[Range<usize>]) -> u128 {
    let Shape { dims, nnz, rank, index_bytes: index, value_bytes: value, .. } = shape;
    let (n, word) = (*nnz as u128, size_of::<usize>() as u128);
    let (index, value, rank) = (*index as u128, *value as u128, *rank as u128);
    let pointers = |len: usize| (len as u128 + 1) * word;
    let longest = dims.iter().copied().max().unwrap_or(0);
    let heads = head_bytes::<u8>(*nnz, shape.rank) * value;
    let copy = |rest: usize| n * (rest as u128 * index + value);
    match variant {
        Variant::A | Variant::B => longest as u128 * rank * value,
        Variant::C => dims.iter().map(|&len| n * index + pointers(len)).sum::<u128>() + heads,
        Variant::Linear | Variant::Single => {
            // A mode is read through a permutation where its segments may have more rows than is worthwhile.
            let most = shape.most_rows() as u128;
            let rows = |len: usize| SEGMENTS as u128 * len as u128;
            let buffered = dims.iter().map(|&len| rows(len).min(most)).max().unwrap_or(0) * rank * value;
            let mut permuted = dims.iter().filter(|&&len| rows(len) > most).peekable();
            let heads = permuted.peek().map_or(0, |_| heads);
            let bounds = (dims.len() * SEGMENTS * size_of::<(usize, usize)>()) as u128;
            let permutations = permuted.map(|&len| n * index + pointers(len)).sum::<u128>() + heads;
            let products = buffered + bounds + permutations;
            match variant {
                // Before that, numbers are sorted by keys.
                Variant::Linear => copy(dims.len()) + products.max(n * 24),
                _ => products,
            }
        }
        Variant::Copies | Variant::Tree => {
            let of = |group: &Range<usize>| {
                let rest = dims.len() - group.len();
                // Starts of fibres: first collected, then retained only if they are few.
                let fibres = 4 * n;
                if group.len() == 1 {
                    return copy(rest) + pointers(dims[group.start]) + fibres;
                }
                let nodes = nodes(shape, group) as u128;
                let lists = nodes * (2 * group.len() as u128 * index + word + rank * value);
                copy(rest) + fibres + lists + n * index + group.clone().map(|m| pointers(dims[m])).sum::<u128>()
            };
            groups.iter().map(of).sum::<u128>() + heads
        }
    }
}

/// Estimated number of distinct index tuples in `modes`: exact where sorted entries give the count, else the
/// expectation for entries at random positions.
fn nodes(shape: &Shape, modes: &Range<usize>) -> usize {
    if modes.start == 0
        && let Some(prefixes) = &shape.prefixes
        && let Some(&count) = prefixes.get(modes.end - 1)
    {
        return count;
    }
    let bins = modes.clone().fold(1.0, |bins, m| bins * shape.dims[m] as f64);
    let n = shape.nnz as f64;
    if bins == 0.0 { 0 } else { (-(-n / bins).exp_m1() * bins).ceil().min(n) as usize }
}

/// Relative cost of a node's row: it is written once and read for each mode of its group, from memory, whereas rows of
/// factors mostly come from a cache.
const ROW: f64 = 6.0;

/// Groups of neighbouring modes with the fewest row products in a sweep: dynamic programming over all cuts, from the
/// left.
fn grouping(shape: &Shape) -> Vec<Range<usize>> {
    let order = shape.dims.len();
    let n = shape.nnz as f64;
    // Rows read or written for a group, in units of one factor row read for an entry.
    let cost = |group: &Range<usize>| {
        let rest = (order - group.len()) as f64;
        if group.len() == 1 {
            // Entries of a fibre share all rows but one.
            let fibres = (nodes(shape, &(0..order - 1)) as f64).min(n);
            let hoisted = if group.start + 1 < order { n + fibres * (rest - 1.0) } else { n * rest };
            return hoisted.min(n * rest);
        }
        let nodes = nodes(shape, group) as f64;
        let modes = group.len() as f64;
        n * rest + nodes * (ROW * (1.0 + modes) + modes * (modes - 1.0))
    };
    let mut best: Vec<(f64, usize)> = vec![(0.0, 0)];
    for end in 1..=order {
        let to = |start: usize| (best[start].0 + cost(&(start..end)), start);
        // Ties: the shorter group.
        let found = (0..end).rev().map(to).fold((f64::INFINITY, 0), |a, b| if b.0 < a.0 { b } else { a });
        best.push(found);
    }
    let mut groups = Vec::new();
    let mut end = order;
    while end > 0 {
        let start = best[end].1;
        // A single group of all modes shares nothing.
        groups.push(start..end);
        end = start;
    }
    groups.reverse();
    if groups.len() == 1 { (0..order).map(|m| m..m + 1).collect() } else { groups }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dims: &[usize], nnz: usize, prefixes: Option<Vec<usize>>) -> Shape {
        Shape { dims: dims.to_vec(), nnz, rank: 16, index_bytes: 4, value_bytes: 8, prefixes }
    }

    #[test]
    fn every_branch() {
        let three = shape(&[100, 200, 300], 10_000, None);
        let c = choose(&three, None, None).unwrap();
        assert_eq!((c.variant, c.groups.len()), (Variant::Copies, 3));
        // Modes 2, 3 and 4 of `vast` have at most 17,800 tuples, modes 0 and 1 almost as many as entries.
        let vast = shape(
            &[165_427, 11_374, 2, 100, 89],
            5_000_000,
            Some(vec![160_000, 4_000_000, 4_500_000, 4_900_000, 5_000_000]),
        );
        let c = choose(&vast, None, None).unwrap();
        assert_eq!((c.variant, c.groups.clone()), (Variant::Tree, vec![0..1, 1..2, 2..5]));
        assert!(c.why.contains("2 to 4"));
        // `Linear` where one mode is long and cells are full; not without a long mode, where its rows fit a cache, or
        // where cells have few entries.
        for (dims, nnz, variant) in [
            ([300_000, 50, 2000], 4_000_000, Variant::Linear),
            ([12_092, 9_184, 28_818], 10_000_000, Variant::Copies),
            ([100_000, 50, 2000], 4_000_000, Variant::Copies),
            ([300_000, 50, 2000], 10_000, Variant::Copies),
        ] {
            assert_eq!(choose(&shape(&dims, nnz, None), None, None).unwrap().variant, variant, "{dims:?}");
        }
        // Decreasing budgets.
        let less = choose(&vast, None, Some((c.bytes - 1) as u64)).unwrap();
        assert_ne!(less.variant, Variant::Tree);
        let c = choose(&three, None, Some(600_000)).unwrap();
        assert_eq!(c.variant, Variant::C, "{c:?}");
        let short = shape(&[10, 10, 10], 100_000, None);
        for (budget, variant) in
            [(7_000_000, Variant::Copies), (5_000_000, Variant::Linear), (1_250_000, Variant::Single)]
        {
            let c = choose(&short, None, Some(budget)).unwrap();
            assert_eq!((c.variant, c.bytes <= u128::from(budget)), (variant, true), "{c:?}");
        }
        assert!(matches!(choose(&three, None, Some(10)), Err(Error::Budget { budget: 10, .. })));
        for variant in Variant::ALL {
            assert_eq!(choose(&three, Some(variant), None).unwrap().variant, variant);
            assert!(choose(&three, Some(variant), Some(10)).is_err());
            assert_eq!(Variant::from_name(variant.name()).unwrap(), variant);
        }
        assert!(Variant::from_name("d").unwrap_err().to_string().contains("copies"));
    }
}
