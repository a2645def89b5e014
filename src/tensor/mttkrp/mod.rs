//! V = X₍ₙ₎ (⊙ₘ Aₘ): the matricized tensor times the Khatri–Rao product of all factors but one.
//!
//! ```text
//! V(i, r) = ⊕ x(e) ⊗ ⊗_{m ≠ n} Aₘ(iₘ(e), r)      over the entries e whose index in mode n is i
//! ```
//!
//! | file | holds |
//! | --- | --- |
//! | `choose` | the variants and the choice among them |
//! | `lanes` | inner loops: blocks of columns in registers |
//! | `rows` | work distribution by entries, never by rows |
//! | `form`, `group` | copies sorted by one mode; modes that share a copy |
//! | `any` | semirings known at run time |
//! | `single`, `paper` | the tensor in stored order: accumulation in rows per segment; under locks |
//!
//! Sources: Phipps and Kolda 2019 (A, B, C); Smith and Karypis 2015 (fibres); Helal et al. 2021 (rows per segment);
//! Kaya and Uçar 2018 (shared contractions).

mod any;
mod choose;
mod form;
mod group;
mod lanes;
mod paper;
mod rows;
mod single;

pub(crate) use any::{check_any_factors, mttkrp_any};
pub use choose::{Choice, Shape, Variant, choose};

use form::Form;
use group::Group;
use lanes::{Factors, Through, fold};
use rayon::prelude::*;

use super::order::check_mode;
use super::{Tensor, TensorRef, coo::mode_name};
use crate::algebra::{Arithmetic, Value};
use crate::par::{Threads, order_by};
use crate::{Dense, Error, Index, Result};

/// The prepared MTTKRP of one tensor: the copies or permutations that its variant needs, for repeated products.
///
/// It borrows or shares the tensor ([`TensorRef`]). Results are bitwise the same for any number of threads, except with
/// variants A and B. Variants differ by rounding, since they order products and sums differently, and require ⊗ to be
/// commutative.
#[derive(Debug)]
pub struct Mttkrp<'x, T, I: Index = u32> {
    x: TensorRef<'x, T, I>,
    /// The entries in linearized order, which are read instead of `x`.
    linear: Option<Tensor<T, I>>,
    choice: Choice,
    modes: Vec<Mode<T, I>>,
    groups: Vec<Group<T, I>>,
}

/// The prepared computation of one mode.
#[derive(Debug)]
enum Mode<T, I> {
    /// Not prepared: the plan is for another mode.
    Absent,
    /// Entries in stored order.
    InOrder {
        tiny: bool,
    },
    Permuted {
        ptr: Vec<usize>,
        order: Vec<I>,
    },
    Buffered {
        intervals: Vec<(usize, usize)>,
    },
    Copy(Form<T, I>),
    /// The group's `k`-th mode.
    Grouped {
        group: usize,
        k: usize,
    },
}

/// Rows of a group's nodes that a sweep reuses from one mode to the next, and workspace for the rows of segments.
#[derive(Debug)]
pub struct MttkrpCache<T> {
    /// The group of the stored rows, and their rank.
    of: Option<(usize, usize)>,
    rows: Vec<T>,
}
impl<T> Default for MttkrpCache<T> {
    fn default() -> Self {
        Self { of: None, rows: Vec::new() }
    }
}

impl<'x, T: Value, I: Index> Mttkrp<'x, T, I> {
    /// Prepares all modes of `x`, or only one, for factors of `rank` columns. The plan works with any rank; `rank` only
    /// serves to estimate memory.
    /// # Errors
    /// [`Error::Budget`] and [`Error::OutOfMemory`], before anything is allocated; [`Error::IndexOverflow`] if the
    /// number of entries does not fit `I`.
    pub(crate) fn new(
        threads: &Threads,
        x: TensorRef<'x, T, I>,
        rank: usize,
        only: Option<usize>,
        requested: Option<Variant>,
        budget: Option<u64>,
    ) -> Result<Self> {
        if x.nnz() > I::MAX_LEN {
            let (needed, max) = (x.nnz() as u128, I::MAX_LEN as u128);
            return Err(Error::IndexOverflow { what: "number of entries", needed, max });
        }
        // A copy costs the time of several products, so it does not pay for a single one.
        let once = requested.is_none() && only.is_some();
        let shape = threads.install(|| Shape::of(&x, rank));
        let mut choice = choose(&shape, if once { Some(Variant::Single) } else { requested }, budget)?;
        if once {
            choice.why = "a copy does not pay for one product".into();
        }
        if !crate::par::enough(choice.bytes) {
            return Err(Error::OutOfMemory { what: "mttkrp", bytes: choice.bytes });
        }
        let linear = (choice.variant == Variant::Linear).then(|| x.linearized(threads)).transpose()?;
        let mut plan = Self { x, linear, choice, modes: Vec::new(), groups: Vec::new() };
        for modes in plan.choice.groups.clone() {
            if only.is_some_and(|only| !modes.contains(&only)) {
                plan.modes.extend(modes.map(|_| Mode::Absent));
                continue;
            }
            if modes.len() == 1 {
                let mode = plan.mode(threads, modes.start, &shape)?;
                plan.modes.push(mode);
                continue;
            }
            plan.modes.extend((0..modes.len()).map(|k| Mode::Grouped { group: plan.groups.len(), k }));
            plan.groups.push(Group::new(threads, &plan.x, modes.collect())?);
        }
        Ok(plan)
    }

    fn mode(&self, threads: &Threads, mode: usize, shape: &Shape) -> Result<Mode<T, I>> {
        let x = self.entries();
        let rows = x.indices(mode);
        let permuted = || {
            let (ptr, order) = order_by(threads, rows, x.dims()[mode])?;
            Ok(Mode::Permuted { ptr, order })
        };
        match self.choice.variant {
            Variant::A => Ok(Mode::InOrder { tiny: false }),
            Variant::B => Ok(Mode::InOrder { tiny: true }),
            Variant::C => permuted(),
            Variant::Copies | Variant::Tree => {
                let rest = (0..x.order()).filter(|&m| m != mode).collect();
                Ok(Mode::Copy(Form::new(threads, x, rows, x.dims()[mode], rest)?))
            }
            Variant::Linear | Variant::Single => {
                let intervals = single::intervals(threads, rows)?;
                if single::buffer_rows(&intervals) <= shape.most_rows() {
                    Ok(Mode::Buffered { intervals })
                } else {
                    permuted()
                }
            }
        }
    }

    /// The entries in the order read by modes without a copy of their own.
    fn entries(&self) -> &Tensor<T, I> {
        self.linear.as_ref().unwrap_or(&self.x)
    }
    /// The tensor.
    pub fn tensor(&self) -> &Tensor<T, I> {
        &self.x
    }
    /// The choice, with its reason.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }
    /// Bytes allocated in addition to the tensor.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        let modes = self.modes.iter().map(|mode| match mode {
            Mode::Absent | Mode::InOrder { .. } | Mode::Grouped { .. } => 0,
            Mode::Permuted { ptr, order } => (size_of_val(&ptr[..]) + size_of_val(&order[..])) as u128,
            Mode::Buffered { intervals } => size_of_val(&intervals[..]) as u128,
            Mode::Copy(form) => form.bytes(),
        });
        let linear = self.linear.as_ref().map_or(0, |x| {
            (x.all_indices().iter().map(|list| size_of_val(&list[..])).sum::<usize>() + size_of_val(x.values())) as u128
        });
        linear + modes.sum::<u128>() + self.groups.iter().map(Group::bytes).sum::<u128>()
    }
    /// A description of the choice and its reason: one line for the tensor and one for each mode.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = format!("mttkrp: {}, {}; {} bytes stored\n", self.choice.variant, self.choice.why, self.bytes());
        for (n, mode) in self.modes.iter().enumerate() {
            if !matches!(mode, Mode::Absent) {
                text += &format!("  {}: {}\n", mode_name(n), self.of_mode(mode));
            }
        }
        text
    }
    fn of_mode(&self, mode: &Mode<T, I>) -> String {
        match mode {
            Mode::Absent => "not prepared".to_owned(),
            Mode::InOrder { .. } => "entries in stored order, a lock for each row".to_owned(),
            Mode::Permuted { .. } => "a permutation".to_owned(),
            Mode::Buffered { intervals } => format!("{} rows of segments", single::buffer_rows(intervals)),
            Mode::Copy(form) => match form.fibres() {
                Some(fibres) => format!("a copy with {fibres} fibres"),
                None => "a copy".to_owned(),
            },
            Mode::Grouped { group, .. } => format!("{} nodes shared", self.groups[*group].nodes()),
        }
    }
    /// The variant, its reason and the method for `mode`.
    pub(crate) fn how(&self, mode: usize) -> String {
        format!("{}, {}: {}", self.choice.variant, self.choice.why, self.of_mode(&self.modes[mode]))
    }

    /// Computes `V` for `mode` into `out`. In a sweep through the modes in increasing order, in which a factor changes
    /// only after its own mode, `cache` is passed on from mode to mode; otherwise it is new. The factor of `mode` is
    /// not read.
    /// # Errors
    /// [`Error::Dims`] if the number of rows of a factor is not the size of its mode; [`Error::Shape`] if the factors'
    /// numbers of columns differ, or `out` has another shape; [`Error::Argument`] if there is no such mode;
    /// [`Error::OutOfMemory`]; [`Error::Cancelled`].
    pub(crate) fn mttkrp_into<A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        factors: &[Dense<T>],
        mode: usize,
        out: &mut Dense<T>,
        cache: &mut MttkrpCache<T>,
    ) -> Result<()> {
        check_mode(self.x.order(), "mode", mode)?;
        let rank = check_factors(self.x.dims(), factors, mode, out.shape())?;
        let factors: Vec<&[T]> = factors.iter().map(Dense::values).collect();
        self.product(threads, ring, (&factors, rank), mode, out.values_mut(), cache)
    }

    /// [`mttkrp_into`](Self::mttkrp_into) for row-major factors of `rank` columns and an existing `mode`; the number of
    /// rows of each factor must be the size of its mode. `out` has one row for each index of `mode`.
    pub(crate) fn product<A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        (factors, rank): (&[&[T]], usize),
        mode: usize,
        out: &mut [T],
        cache: &mut MttkrpCache<T>,
    ) -> Result<()> {
        if rank == 0 {
            return Ok(());
        }
        if self.x.nnz() == 0 {
            out.fill(A::ZERO);
            return Ok(());
        }
        let of = |modes: &mut dyn Iterator<Item = usize>| modes.map(|m| factors[m]).collect::<Vec<_>>();
        let rest: Vec<usize> = (0..self.x.order()).filter(|&m| m != mode).collect();
        let all = of(&mut rest.iter().copied());
        let x = self.entries();
        let lists: Vec<&[I]> = rest.iter().map(|&m| x.indices(m)).collect();
        let through = |order| Through { order, values: x.values(), indices: &lists };
        let rows = x.indices(mode);
        match &self.modes[mode] {
            Mode::Absent => {
                let message = format!("the plan was made without {}", mode_name(mode));
                Err(Error::Argument { name: "mode", message })
            }
            Mode::InOrder { tiny } => paper::locked(threads, ring, &through(None), rows, with(&all, rank), *tiny, out),
            Mode::Permuted { ptr, order } => {
                let entries = through(Some(order));
                rows::segments(
                    threads,
                    ptr,
                    rank,
                    A::ZERO,
                    out,
                    |a, b| ring.plus(a, b),
                    |segment| {
                        fold(ring, &entries, with(&all, rank), segment);
                    },
                )
            }
            Mode::Buffered { intervals } => {
                cache.of = None;
                let (entries, factors) = (through(None), with(&all, rank));
                single::buffered(threads, ring, &entries, (rows, intervals), factors, &mut cache.rows, out)
            }
            Mode::Copy(form) => form.fold(threads, ring, with(&all, rank), out),
            Mode::Grouped { group, k } => {
                let tree = &self.groups[*group];
                if *k == 0 || cache.of != Some((*group, rank)) {
                    cache.of = None;
                    let len = tree.nodes() * rank;
                    if cache.rows.len() != len {
                        cache.rows = crate::par::filled(len, A::ZERO, "rows of nodes")?;
                    }
                    let outside = of(&mut tree.rest().iter().copied());
                    tree.partials(threads, ring, with(&outside, rank), &mut cache.rows)?;
                    cache.of = Some((*group, rank));
                }
                let inside = of(&mut tree.modes.iter().copied().filter(|&m| m != mode));
                tree.fold(threads, ring, *k, &cache.rows, with(&inside, rank), out)
            }
        }
    }
}

impl Shape {
    /// The shape of `x`. From order 4 the entries are scanned once to see whether they are sorted.
    #[must_use]
    pub fn of<T: Value, I: Index>(x: &Tensor<T, I>, rank: usize) -> Self {
        Self {
            dims: x.dims().to_vec(),
            nnz: x.nnz(),
            rank,
            index_bytes: size_of::<I>(),
            value_bytes: size_of::<T>(),
            // Modes are grouped only from order 4, and only groups need the counts.
            prefixes: if x.order() >= 4 { prefixes(x) } else { None },
        }
    }
}

/// Numbers of distinct tuples of the first k + 1 modes, for each k, if the entries are sorted.
fn prefixes<T: Value, I: Index>(x: &Tensor<T, I>) -> Option<Vec<usize>> {
    const PIECE: usize = 1 << 16;
    let (order, lists, n) = (x.order(), x.all_indices(), x.nnz());
    // For each mode k, the number of entries of a piece that differ from their predecessor first in mode k; `None` if
    // the piece is unsorted.
    let piece = |piece: usize| {
        let mut first = vec![0usize; order];
        for e in (piece * PIECE).max(1)..n.min((piece + 1) * PIECE) {
            if let Some(k) = lists.iter().position(|list| list[e] != list[e - 1]) {
                if lists[k][e] < lists[k][e - 1] {
                    return None;
                }
                first[k] += 1;
            }
        }
        Some(first)
    };
    let pieces = n.div_ceil(PIECE);
    let add = |a: Vec<usize>, b: Vec<usize>| Some(a.iter().zip(&b).map(|(a, b)| a + b).collect());
    let first: Vec<usize> = if pieces < 4 {
        (0..pieces).map(piece).try_fold(vec![0; order], |sum, found| add(sum, found?))?
    } else {
        (0..pieces).into_par_iter().map(piece).try_reduce(|| vec![0; order], add)?
    };
    let mut sum = usize::from(n > 0);
    let count = |n: &usize| {
        sum += n;
        sum
    };
    Some(first.iter().map(count).collect())
}

fn with<'a, T>(factors: &'a [&'a [T]], rank: usize) -> Factors<'a, T> {
    Factors { factors, rank }
}

/// The rank of the factors, after checking that they match the tensor and the result.
fn check_factors<T: Value>(dims: &[usize], factors: &[Dense<T>], mode: usize, out: (usize, usize)) -> Result<usize> {
    let found: Vec<usize> = factors.iter().map(Dense::nrows).collect();
    let fit = found.len() == dims.len() && (0..dims.len()).all(|m| m == mode || found[m] == dims[m]);
    if !fit {
        return Err(Error::Dims { op: "mttkrp", lhs: dims.to_vec(), rhs: found });
    }
    let rank = out.1;
    if let Some((_, f)) = factors.iter().enumerate().find(|(m, f)| *m != mode && f.ncols() != rank) {
        return Err(Error::Shape { op: "mttkrp", lhs: (f.nrows(), rank), rhs: f.shape() });
    }
    if out.0 != dims[mode] {
        return Err(Error::Shape { op: "mttkrp", lhs: (dims[mode], rank), rhs: out });
    }
    Ok(rank)
}
