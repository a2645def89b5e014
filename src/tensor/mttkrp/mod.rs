//! V = X₍ₙ₎ (⊙ₘ Aₘ): the matricized tensor times the Khatri–Rao product of all factors but one.
//!
//! ```text
//! V(i, r) = ⊕ x(e) ⊗ ⊗_{m ≠ n} Aₘ(iₘ(e), r)      over the entries e whose index in mode n is i
//! ```
//!
//! | file | holds |
//! | --- | --- |
//! | `choose` | the variants, and which is taken |
//! | `lanes` | inner loops: blocks of columns in registers |
//! | `rows` | how work is split, by entries and never by rows |
//! | `form`, `group` | copies in the order of a mode; modes that share one |
//! | `any` | semirings known at run time |
//! | `single`, `paper` | the tensor as it stands: rows of stretches; under locks |
//!
//! Sources: Phipps and Kolda 2019 (A, B, C); Smith and Karypis 2015 (fibres); Helal et al. 2021 (rows of stretches);
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

/// What an MTTKRP of one tensor keeps between calls: copies or permutations, whatever its variant wants.
///
/// It borrows the tensor or shares it ([`TensorRef`]). Results are the same bits for any number of threads, with the
/// variants A and B excepted; variants differ by rounding, as they multiply and add in other orders, and take ⊗ for
/// commutative.
#[derive(Debug)]
pub struct Mttkrp<'x, T, I: Index = u32> {
    x: TensorRef<'x, T, I>,
    /// Its entries in another order, which are read instead.
    linear: Option<Tensor<T, I>>,
    choice: Choice,
    modes: Vec<Mode<T, I>>,
    groups: Vec<Group<T, I>>,
}

/// How a mode is computed.
#[derive(Debug)]
enum Mode<T, I> {
    /// Not at all: another was asked for.
    Absent,
    /// As the entries come.
    AsTheyCome {
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
    /// Of a group, its mode number k.
    Grouped {
        group: usize,
        k: usize,
    },
}

/// Rows of a group's nodes that a sweep keeps from one mode to the next, and room for rows of stretches.
#[derive(Debug)]
pub struct Kept<T> {
    /// The group, and the rank of its rows.
    of: Option<(usize, usize)>,
    rows: Vec<T>,
}
impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { of: None, rows: Vec::new() }
    }
}

impl<'x, T: Value, I: Index> Mttkrp<'x, T, I> {
    /// Prepares every mode of `x`, or only one, for factors of `rank` columns (any rank works; this one is asked about
    /// memory).
    /// # Errors
    /// [`Error::Budget`] and [`Error::OutOfMemory`], before memory is taken; [`Error::IndexOverflow`] if there are more
    /// entries than `I` numbers.
    pub(crate) fn new(
        threads: &Threads,
        x: TensorRef<'x, T, I>,
        rank: usize,
        only: Option<usize>,
        asked: Option<Variant>,
        budget: Option<u64>,
    ) -> Result<Self> {
        if x.nnz() > I::MAX_LEN {
            let (needed, max) = (x.nnz() as u128, I::MAX_LEN as u128);
            return Err(Error::IndexOverflow { what: "number of entries", needed, max });
        }
        // A copy of one mode is made in the time of some products: it does not pay for one.
        let once = asked.is_none() && only.is_some();
        let shape = threads.install(|| Shape::of(&x, rank));
        let mut choice = choose(&shape, if once { Some(Variant::Single) } else { asked }, budget)?;
        if once {
            choice.why = "a copy does not pay for one product".into();
        }
        if !crate::par::enough(choice.bytes) {
            return Err(Error::OutOfMemory { what: "mttkrp", bytes: choice.bytes });
        }
        let linear = (choice.variant == Variant::Linear).then(|| x.linearised(threads)).transpose()?;
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
            Variant::A => Ok(Mode::AsTheyCome { tiny: false }),
            Variant::B => Ok(Mode::AsTheyCome { tiny: true }),
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

    /// The entries in the order in which they are read where a mode has no copy of its own.
    fn entries(&self) -> &Tensor<T, I> {
        self.linear.as_ref().unwrap_or(&self.x)
    }
    /// The tensor.
    pub fn tensor(&self) -> &Tensor<T, I> {
        &self.x
    }
    /// What was chosen, and why.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }
    /// Bytes that are kept beside the tensor.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        let modes = self.modes.iter().map(|mode| match mode {
            Mode::Absent | Mode::AsTheyCome { .. } | Mode::Grouped { .. } => 0,
            Mode::Permuted { ptr, order } => (size_of_val(&ptr[..]) + size_of_val(&order[..])) as u128,
            Mode::Buffered { intervals } => size_of_val(&intervals[..]) as u128,
            Mode::Copy(form) => form.bytes(),
        });
        let linear = self.linear.as_ref().map_or(0, |x| {
            (x.all_indices().iter().map(|list| size_of_val(&list[..])).sum::<usize>() + size_of_val(x.values())) as u128
        });
        linear + modes.sum::<u128>() + self.groups.iter().map(Group::bytes).sum::<u128>()
    }
    /// What was chosen and why, a line for the tensor and one for each mode.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = format!("mttkrp: {}, {}; {} bytes kept\n", self.choice.variant, self.choice.why, self.bytes());
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
            Mode::AsTheyCome { .. } => "entries as they come, a lock for each row".to_owned(),
            Mode::Permuted { .. } => "a permutation".to_owned(),
            Mode::Buffered { intervals } => format!("{} rows of stretches", single::buffer_rows(intervals)),
            Mode::Copy(form) => match form.fibres() {
                Some(fibres) => format!("a copy with {fibres} fibres"),
                None => "a copy".to_owned(),
            },
            Mode::Grouped { group, .. } => format!("{} nodes shared", self.groups[*group].nodes()),
        }
    }
    /// The variant and why it was taken, and how the mode is computed.
    pub(crate) fn how(&self, mode: usize) -> String {
        format!("{}, {}: {}", self.choice.variant, self.choice.why, self.of_mode(&self.modes[mode]))
    }

    /// `V` for `mode` into `out`. `kept` may be that of the mode before in a sweep through the modes in their order,
    /// during which a factor changes only after its own mode; else a new one. The factor of `mode` itself is not read.
    /// # Errors
    /// [`Error::Dims`] if a factor has not as many rows as its mode is long; [`Error::Shape`] if the factors' columns
    /// differ, or `out` has another shape; [`Error::Argument`] if there is no such mode; [`Error::OutOfMemory`];
    /// [`Error::Cancelled`].
    pub(crate) fn mttkrp_into<A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        factors: &[Dense<T>],
        mode: usize,
        out: &mut Dense<T>,
        kept: &mut Kept<T>,
    ) -> Result<()> {
        check_mode(self.x.order(), "mode", mode)?;
        let rank = check_factors(self.x.dims(), factors, mode, out.shape())?;
        let factors: Vec<&[T]> = factors.iter().map(Dense::values).collect();
        self.product(threads, ring, (&factors, rank), mode, out.values_mut(), kept)
    }

    /// [`mttkrp_into`](Self::mttkrp_into) of row-major factors of `rank` columns, that have as many rows as their modes
    /// are long, into a row for each index of `mode`, which is one of the tensor.
    pub(crate) fn product<A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        (factors, rank): (&[&[T]], usize),
        mode: usize,
        out: &mut [T],
        kept: &mut Kept<T>,
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
            Mode::AsTheyCome { tiny } => {
                paper::locked(threads, ring, &through(None), rows, with(&all, rank), *tiny, out)
            }
            Mode::Permuted { ptr, order } => {
                let entries = through(Some(order));
                rows::segments(
                    threads,
                    ptr,
                    rank,
                    A::ZERO,
                    out,
                    |a, b| ring.plus(a, b),
                    |stretch| {
                        fold(ring, &entries, with(&all, rank), stretch);
                    },
                )
            }
            Mode::Buffered { intervals } => {
                kept.of = None;
                let (entries, factors) = (through(None), with(&all, rank));
                single::buffered(threads, ring, &entries, (rows, intervals), factors, &mut kept.rows, out)
            }
            Mode::Copy(form) => form.fold(threads, ring, with(&all, rank), out),
            Mode::Grouped { group, k } => {
                let tree = &self.groups[*group];
                if *k == 0 || kept.of != Some((*group, rank)) {
                    kept.of = None;
                    let len = tree.nodes() * rank;
                    if kept.rows.len() != len {
                        kept.rows = crate::par::filled(len, A::ZERO, "rows of nodes")?;
                    }
                    let outside = of(&mut tree.rest().iter().copied());
                    tree.partials(threads, ring, with(&outside, rank), &mut kept.rows)?;
                    kept.of = Some((*group, rank));
                }
                let inside = of(&mut tree.modes.iter().copied().filter(|&m| m != mode));
                tree.fold(threads, ring, *k, &kept.rows, with(&inside, rank), out)
            }
        }
    }
}

impl Shape {
    /// Of a tensor: from order 4 up it looks at the entries once, to see whether they are sorted.
    #[must_use]
    pub fn of<T: Value, I: Index>(x: &Tensor<T, I>, rank: usize) -> Self {
        Self {
            dims: x.dims().to_vec(),
            nnz: x.nnz(),
            rank,
            index_bytes: size_of::<I>(),
            value_bytes: size_of::<T>(),
            // Only modes of four and more are put together, for which these are asked.
            prefixes: if x.order() >= 4 { prefixes(x) } else { None },
        }
    }
}

/// Distinct tuples of the first k + 1 modes, for each k, if the entries are sorted.
fn prefixes<T: Value, I: Index>(x: &Tensor<T, I>) -> Option<Vec<usize>> {
    const PIECE: usize = 1 << 16;
    let (order, lists, n) = (x.order(), x.all_indices(), x.nnz());
    // How many entries of a piece differ from the one before first in mode k; nothing if one is less than it.
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

/// The rank of factors that fit the tensor and the result.
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
