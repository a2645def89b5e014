//! Compaction of the index spaces of an operation: the used indices of each, and everything that refers to them.

use super::labels::{Labels, is_wide};
use super::layout::{COLS, Layout, Link, Objects, ROWS, SPACES, Stride, THIRD, UNIT, objects};
use super::object::Wide;
use crate::par::{collected, note, out_of_memory};
use crate::runtime::Operation;
use crate::runtime::engine::{Object, Op, Operand, unfit};
use crate::sparse::{Checked, IndexList};
use crate::{Error, Result};

/// An operation on compacted index spaces.
pub(super) struct Compact {
    labels: [Labels; SPACES],
    dimensions: [usize; SPACES],
    of_c: [usize; 2],
    lists: [IndexList; 2],
    point: usize,
    /// A, B, the mask, the transpose of the matrix, and C, whose indices are ranks.
    pub(super) objects: Objects<Option<Object>>,
}

impl Compact {
    /// The operation with its objects relabeled; C is given if it is written.
    /// # Errors
    /// [`Error::Shape`]; [`Error::ListIndex`], [`Error::RepeatedIndex`]; [`Error::Unsupported`] for an assignment of a
    /// scalar to too many positions, and for a ⊗ that reads values and indices; [`Error::IndexOverflow`] for a
    /// dimension beyond 2⁶⁰, and for too many used indices; those of the machine.
    pub(super) fn of(call: &Operation<'_>, c: Option<Operand<'_>>) -> Result<Self> {
        let objects = objects(call, c);
        let layout = Layout::of(call, &objects)?;
        let dimensions = layout.dimensions(call, &objects)?;
        let spaces = Spaces::of(call, layout, dimensions, &objects)?;
        let mut compacted: Objects<Option<Wide>> = Default::default();
        for (at, x) in objects.into_iter().enumerate() {
            let flags = spaces.layout.of[at].map(|space| spaces.compacts[space]);
            compacted[at] = x.map(|x| Wide::compacted(call.machine, x, flags)).transpose()?;
        }
        let labels = spaces.labels(call, &compacted)?;
        let lists = spaces.lists(call, &labels)?;
        let point = match spaces.layout.point {
            Some((space, index, _)) => labels[space].rank(index).ok_or_else(unfit)?,
            None => 0,
        };
        note(|| {
            let compacts = (0..SPACES).filter(|&space| spaces.compacts[space]);
            let sizes = compacts.map(|s| format!("{} → {}", dimensions[s], labels[s].len(dimensions[s])));
            format!("{}: index spaces compacted: {}", call.op.name(), sizes.collect::<Vec<_>>().join(", "))
        });
        let mut relabeled: Objects<Option<Object>> = Default::default();
        for (at, x) in compacted.iter().enumerate() {
            let to = spaces.layout.of[at].map(|space| &labels[space]);
            relabeled[at] = x.as_ref().map(|x| x.relabeled(call.machine, to)).transpose()?;
        }
        let of_c = spaces.layout.of[4];
        Ok(Self { labels, dimensions, of_c, lists, point, objects: relabeled })
    }
    /// The operation with its lists of ranks.
    pub(super) fn op<'s>(&'s self, op: Op<'s>) -> Op<'s> {
        let [rows, cols] = &self.lists;
        let len = |axis: usize| self.labels[self.of_c[axis]].len(self.dimensions[self.of_c[axis]]);
        match op {
            Op::Extract(..) => Op::Extract(rows, cols),
            Op::ExtractColumn(..) => Op::ExtractColumn(rows, self.point),
            Op::ExtractRow(..) => Op::ExtractRow(self.point, cols),
            Op::Assign(..) => Op::Assign(rows, cols),
            Op::AssignColumn(..) => Op::AssignColumn(rows, self.point),
            Op::AssignRow(..) => Op::AssignRow(self.point, cols),
            Op::AssignScalar(s, ..) => Op::AssignScalar(s, rows, cols),
            Op::Scatter(_, _, dup) => Op::Scatter(rows, len(0), dup),
            Op::Place(..) => Op::Place(rows, cols, (len(0), len(1))),
            Op::Within(..) => Op::Within(rows, cols),
            op => op,
        }
    }
    /// The result, from that of the operation on ranks.
    /// # Errors
    /// Those of the machine.
    pub(super) fn labeled(&self, call: &Operation<'_>, ranks: Object) -> Result<Object> {
        let [m, n] = self.of_c.map(|space| self.dimensions[space]);
        let labels = self.of_c.map(|space| self.labels[space].clone());
        Wide::labeled(call.machine, (m, n), labels, ranks)
    }
}

/// The index spaces of an operation, and those that are compacted.
struct Spaces<'a> {
    layout: Layout<'a>,
    dimensions: [usize; SPACES],
    compacts: [bool; SPACES],
}

impl<'a> Spaces<'a> {
    /// Compacts large dimensions and those that an object stores by used indices; also the positions of a range.
    fn of(
        call: &Operation<'a>,
        layout: Layout<'a>,
        dimensions: [usize; SPACES],
        objects: &Objects<Option<Operand<'_>>>,
    ) -> Result<Self> {
        let mut compacts = dimensions.map(is_wide);
        for (x, spaces) in objects.iter().zip(layout.of) {
            let Some(x) = x.and_then(Wide::of) else { continue };
            (0..2).filter(|&axis| !x.labels[axis].is_all()).for_each(|axis| compacts[spaces[axis]] = true);
        }
        for link in layout.links.iter().flatten() {
            let list = link.list.check(link.name, dimensions[link.indices])?;
            if call.op.assigns() || matches!(call.op, Op::Place(..)) {
                list.no_repeats(link.name)?;
            }
            if Stride::of(list).is_some() {
                let either = compacts[link.indices] || compacts[link.positions];
                (compacts[link.indices], compacts[link.positions]) = (either, either);
            } else if compacts[link.positions] {
                let (needed, max) = (dimensions[link.positions] as u128, u128::from(u32::MAX));
                return Err(Error::IndexOverflow { what: "indices of a list", needed, max });
            }
        }
        if let Some((space, index, list)) = layout.point {
            IndexList::from(index..index.saturating_add(1)).check(list, dimensions[space])?;
        }
        let made = Self { layout, dimensions, compacts };
        made.check_semiring(call)?;
        Ok(made)
    }
    /// Rejects a ⊗ that would see ranks for indices.
    fn check_semiring(&self, call: &Operation<'_>) -> Result<()> {
        let Some(ring) = call.positional() else { return Ok(()) };
        let spaces = match call.op {
            Op::Mxm(..) => [("i", ROWS), ("k", THIRD), ("j", COLS)],
            Op::Mxv(_) => [("i", ROWS), ("k", THIRD), ("j", UNIT)],
            _ => [("i", UNIT), ("k", THIRD), ("j", ROWS)],
        };
        if spaces.iter().any(|&(index, space)| self.compacts[space] && ring.formula().mul().reads(index)) {
            return Err(Error::Unsupported {
                what: format!("the semiring {ring} on a dimension beyond 4294967295"),
                why: "its ⊗ reads an index together with a value or with an index of the other operand".into(),
            });
        }
        Ok(())
    }
    /// The list of a link, checked before.
    fn checked(&self, axis: usize) -> Result<Option<Checked<'a>>> {
        let check = |link: &Link<'a>| link.list.check(link.name, self.dimensions[link.indices]);
        self.layout.links[axis].as_ref().map(check).transpose()
    }
    /// The part of C that an operation without operands refers to, and whether it needs every position of it.
    fn part(&self, call: &Operation<'a>) -> Option<([&'a IndexList; 2], bool)> {
        match call.op {
            Op::AssignScalar(_, i, j) => Some(([i, j], call.mask.is_none() || call.complement)),
            Op::Within(i, j) => Some(([i, j], false)),
            _ => None,
        }
    }
    /// The used indices of each compacted space: those of its objects, and of index lists.
    fn labels(&self, call: &Operation<'a>, objects: &Objects<Option<Wide>>) -> Result<[Labels; SPACES]> {
        let mut used: [Vec<usize>; SPACES] = Default::default();
        for (x, spaces) in objects.iter().zip(self.layout.of) {
            let Some(x) = x else { continue };
            for axis in [0, 1] {
                push(&mut used[spaces[axis]], x.labels[axis].used().unwrap_or_default().iter().copied())?;
            }
        }
        if let Some((space, index, _)) = self.layout.point {
            push(&mut used[space], [index])?;
        }
        for axis in [0, 1] {
            let (Some(link), Some(list)) = (&self.layout.links[axis], self.checked(axis)?) else { continue };
            if !self.compacts[link.indices] {
                continue;
            }
            if let Some(range) = Stride::of(list) {
                let (indices, positions) =
                    (std::mem::take(&mut used[link.indices]), std::mem::take(&mut used[link.positions]));
                push(&mut used[link.indices], positions.iter().map(|&p| range.index(p)))?;
                push(&mut used[link.positions], indices.iter().filter_map(|&i| range.position(i)))?;
                push(&mut used[link.indices], indices)?;
                push(&mut used[link.positions], positions)?;
            } else {
                push(&mut used[link.indices], (0..list.len()).map(|p| list.at(p)))?;
            }
        }
        if let Some((part, true)) = self.part(call) {
            for axis in [0, 1] {
                let space = self.layout.of[4][axis];
                if self.compacts[space] {
                    let every = every_index(part[axis], self.layout.names[axis], self.dimensions[space])?;
                    push(&mut used[space], every)?;
                }
            }
        }
        let mut labels: [Labels; SPACES] = Default::default();
        for (space, used) in used.into_iter().enumerate().filter(|(space, _)| self.compacts[*space]) {
            labels[space] = Labels::of(used)?;
        }
        Ok(labels)
    }
    /// The index lists as lists of ranks.
    fn lists(&self, call: &Operation<'a>, labels: &[Labels; SPACES]) -> Result<[IndexList; 2]> {
        let mut lists = [IndexList::all(), IndexList::all()];
        for (axis, made) in lists.iter_mut().enumerate() {
            if let (Some(link), Some(list)) = (&self.layout.links[axis], self.checked(axis)?) {
                let of = &labels[link.indices];
                *made = match (Stride::of(list), labels[link.positions].used()) {
                    (Some(range), Some(positions)) => of.ranks(positions.iter().map(|&p| range.index(p)))?.into(),
                    _ if of.is_all() => link.list.clone(),
                    _ => of.ranks((0..list.len()).map(|p| list.at(p)))?.into(),
                };
            }
            if let Some((part, every)) = self.part(call) {
                let space = self.layout.of[4][axis];
                let (list, name, n) = (part[axis], self.layout.names[axis], self.dimensions[space]);
                *made = match labels[space].used() {
                    None => list.clone(),
                    Some(_) if every => labels[space].ranks(every_index(list, name, n)?.into_iter())?.into(),
                    Some(_) if list.is_all() => IndexList::all(),
                    Some(used) => ranks_in(list, name, n, used)?.into(),
                };
            }
        }
        Ok(lists)
    }
}

/// The indices of a list, if memory may hold a scalar at each.
fn every_index(list: &IndexList, name: &'static str, n: usize) -> Result<Vec<usize>> {
    if is_wide(list.len(n)) {
        return Err(Error::Unsupported {
            what: format!("an assignment of a scalar to {} indices", list.len(n)),
            why: "each would become an entry; a mask that is not complemented limits them".into(),
        });
    }
    list.to_vec(name, n)
}

/// The ranks of the used indices that are in a list.
fn ranks_in(list: &IndexList, name: &'static str, n: usize, used: &[usize]) -> Result<Vec<usize>> {
    let checked = list.check(name, n)?;
    let range = Stride::of(checked);
    let mut sorted = if range.is_some() { vec![] } else { list.to_vec(name, n)? };
    sorted.sort_unstable();
    let has = |index: usize| match range {
        Some(range) => range.position(index).is_some(),
        None => sorted.binary_search(&index).is_ok(),
    };
    collected(used.len(), (0..used.len()).filter(|&rank| has(used[rank])), "ranks of indices")
}

/// Appends used indices.
fn push(to: &mut Vec<usize>, more: impl IntoIterator<Item = usize>) -> Result<()> {
    let more = more.into_iter();
    let most = more.size_hint().1.unwrap_or(0);
    to.try_reserve(most).map_err(|_| out_of_memory::<usize>("used indices", to.len().saturating_add(most)))?;
    to.extend(more);
    Ok(())
}
