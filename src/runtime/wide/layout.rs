//! The index spaces of an operation: which dimensions of its operands, its mask and C are the same.

use super::labels::check_dimension;
use super::object::shape_of;
use crate::runtime::Operation;
use crate::runtime::engine::{Object, Op, Operand, unfit};
use crate::sparse::{Checked, IndexList};
use crate::{Error, Result};

/// The number of index spaces.
pub(super) const SPACES: usize = 5;
/// Rows and columns of the result.
pub(super) const ROWS: usize = 0;
pub(super) const COLS: usize = 1;
/// Two more: the contraction index, or what index lists refer to.
pub(super) const THIRD: usize = 2;
const FOURTH: usize = 3;
/// The only column of a vector.
pub(super) const UNIT: usize = 4;

/// The objects of an operation: A, B, the mask, the transpose of the matrix, and C.
pub(super) type Objects<T> = [T; 5];

/// An index list: position p of the space `positions` is index `list(p)` of the space `indices`.
pub(super) struct Link<'a> {
    pub(super) list: &'a IndexList,
    pub(super) name: &'static str,
    pub(super) indices: usize,
    pub(super) positions: usize,
}

/// The spaces of rows and columns of each object.
pub(super) struct Layout<'a> {
    pub(super) of: Objects<[usize; 2]>,
    /// Those of the operands as the operation takes them, transposed.
    taken: [[usize; 2]; 2],
    pub(super) links: [Option<Link<'a>>; 2],
    /// A single index of a space, and the name of its list in messages.
    pub(super) point: Option<(usize, usize, &'static str)>,
    /// The names of lists of rows and of columns.
    pub(super) names: [&'static str; 2],
}

/// The objects of a call.
pub(super) fn objects<'a>(call: &'a Operation<'_>, c: Option<Operand<'a>>) -> Objects<Option<Operand<'a>>> {
    let of = |x: &'a Option<Object>| x.as_ref().and_then(|x| x.operand().ok());
    [of(&call.operands.0), of(&call.operands.1), of(&call.mask), call.twin.as_ref().map(Operand::from), c]
}

impl<'a> Layout<'a> {
    /// The layout of a call.
    /// # Errors
    /// [`Error::Argument`] for a list of columns of a vector.
    pub(super) fn of(call: &Operation<'a>, objects: &Objects<Option<Operand<'_>>>) -> Result<Self> {
        let on_vectors = matches!(objects[0].or(objects[4]), Some(Operand::Vector(_)));
        let cols = if on_vectors { UNIT } else { COLS };
        let names = if on_vectors { ["indices", "cols"] } else { ["rows", "cols"] };
        let (all, vector) = ([ROWS, cols], [ROWS, UNIT]);
        let mut links = [None, None];
        // The space of an operand's dimension that a list connects to a dimension of the result: the same for `all`.
        let mut linked = |axis: usize, list: &'a IndexList, indices: usize, positions: usize, of_result: usize| {
            if list.is_all() {
                return of_result;
            }
            links[axis] = Some(Link { list, name: names[axis], indices, positions });
            if of_result == indices { positions } else { indices }
        };
        let (mut a, mut b, mut c, mut mask, mut point) = (all, all, all, None, None);
        match call.op {
            Op::Mxm(..) => (a, b) = ([ROWS, THIRD], [THIRD, COLS]),
            Op::Mxv(_) => (a, b, c) = ([ROWS, THIRD], [THIRD, UNIT], vector),
            Op::Vxm(_) => (a, b, c) = ([THIRD, UNIT], [THIRD, ROWS], vector),
            Op::ReduceRows(_) | Op::Aggregate(_) => c = vector,
            Op::Transpose => a = [COLS, ROWS],
            Op::Extract(_, j) | Op::Assign(_, j) | Op::AssignScalar(_, _, j) if on_vectors && !j.is_all() => {
                return Err(unfit());
            }
            Op::Extract(i, j) => a = [linked(0, i, THIRD, ROWS, ROWS), linked(1, j, FOURTH, cols, cols)],
            Op::ExtractColumn(i, j) => {
                (a, c) = ([linked(0, i, THIRD, ROWS, ROWS), FOURTH], vector);
                point = Some((FOURTH, j, "cols"));
            }
            Op::ExtractRow(i, j) => {
                (a, c) = ([FOURTH, linked(1, j, THIRD, ROWS, ROWS)], vector);
                point = Some((FOURTH, i, "rows"));
            }
            Op::Assign(i, j) | Op::Place(i, j, _) => {
                a = [linked(0, i, ROWS, THIRD, ROWS), linked(1, j, cols, FOURTH, cols)];
            }
            Op::AssignColumn(i, j) => {
                (a, c) = ([linked(0, i, ROWS, THIRD, ROWS), UNIT], [ROWS, COLS]);
                (mask, point) = (Some(vector), Some((COLS, j, "cols")));
            }
            Op::AssignRow(i, j) => {
                (a, c) = ([linked(1, j, COLS, THIRD, COLS), UNIT], [ROWS, COLS]);
                (mask, point) = (Some([COLS, UNIT]), Some((ROWS, i, "rows")));
            }
            Op::Scatter(i, ..) => (a, c) = ([linked(0, i, ROWS, THIRD, ROWS), UNIT], vector),
            _ => {}
        }
        let flipped = |at: usize, [rows, cols]: [usize; 2]| {
            let flips = call.transpose[at] && matches!(objects[at], Some(Operand::Matrix(_)));
            if flips { [cols, rows] } else { [rows, cols] }
        };
        let taken = [a, b];
        (a, b) = (flipped(0, a), flipped(1, b));
        let [rows, cols] = if matches!(call.op, Op::Mxv(_)) { a } else { b };
        Ok(Self { of: [a, b, mask.unwrap_or(c), [cols, rows], c], taken, links, point, names })
    }
    /// The dimension of each space; 1 for spaces that no object has.
    /// # Errors
    /// [`Error::Shape`]; [`Error::IndexOverflow`] for a dimension beyond 2⁶⁰.
    pub(super) fn dimensions(
        &self,
        call: &Operation<'_>,
        objects: &Objects<Option<Operand<'_>>>,
    ) -> Result<[usize; SPACES]> {
        let [_, _, of_mask, of_twin, of_c] = self.of;
        let (name, c) = (call.op.name(), objects[4].map(shape_of));
        let mut known = [None, None, None, None, Some(1)];
        let place = match call.op {
            Op::Place(_, _, shape) => Some(shape),
            Op::Scatter(_, len, _) => Some((len, 1)),
            _ => c.filter(|_| call.op.assigns()),
        };
        if let Some(place) = place {
            meet(&mut known, name, of_c, place)?;
            self.follow(&mut known);
        }
        let shape =
            |at: usize| objects[at].map(shape_of).map(|(m, n)| if call.transpose[at] { (n, m) } else { (m, n) });
        let (a, b) = (shape(0), shape(1));
        if let Some(a) = a {
            meet(&mut known, name, self.taken[0], a)?;
        }
        if let Some(b) = b {
            let met = meet(&mut known, name, self.taken[1], b);
            met.map_err(|_| Error::Shape { op: name, lhs: a.unwrap_or(b), rhs: b })?;
        }
        self.follow(&mut known);
        if let Some(c) = c {
            let made = of_c.map(|space| known[space]);
            let met = meet(&mut known, name, of_c, c);
            met.map_err(|_| Error::Shape { op: name, lhs: c, rhs: (made[0].unwrap_or(c.0), made[1].unwrap_or(c.1)) })?;
        }
        if let Some(mask) = objects[2].map(shape_of) {
            meet(&mut known, "mask", of_mask, mask)?;
        }
        if let Some(twin) = objects[3].map(shape_of) {
            meet(&mut known, "transpose", of_twin, twin)?;
        }
        let known = known.map(|n| n.unwrap_or(1));
        for (space, &n) in known.iter().enumerate() {
            let what = if space == of_c[1] { "number of columns" } else { "number of rows" };
            check_dimension(what, n as u128)?;
        }
        Ok(known)
    }
    /// The number of positions in each list whose indices have a known dimension.
    fn follow(&self, known: &mut [Option<usize>; SPACES]) {
        for link in self.links.iter().flatten() {
            if let (Some(n), None) = (known[link.indices], known[link.positions]) {
                known[link.positions] = Some(link.list.len(n));
            }
        }
    }
}

/// Records the shape of an object in its spaces.
fn meet(
    known: &mut [Option<usize>; SPACES],
    op: &'static str,
    [rows, cols]: [usize; 2],
    rhs: (usize, usize),
) -> Result<()> {
    let lhs = (known[rows].unwrap_or(rhs.0), known[cols].unwrap_or(rhs.1));
    if lhs != rhs {
        return Err(Error::Shape { op, lhs, rhs });
    }
    (known[rows], known[cols]) = (Some(rhs.0), Some(rhs.1));
    Ok(())
}

/// A range whose indices differ.
#[derive(Clone, Copy)]
pub(super) struct Stride {
    start: usize,
    step: isize,
    len: usize,
}

impl Stride {
    /// The list as a range; `None` if it lists or repeats indices.
    pub(super) fn of(list: Checked<'_>) -> Option<Self> {
        match list {
            Checked::Strided { start, step: 0, len } if len <= 1 => Some(Self { start, step: 1, len }),
            Checked::Strided { start, step, len } if step != 0 => Some(Self { start, step, len }),
            _ => None,
        }
    }
    /// The index at a position.
    pub(super) fn index(self, position: usize) -> usize {
        self.start.wrapping_add_signed(self.step.wrapping_mul(position as isize))
    }
    /// The position of an index.
    pub(super) fn position(self, index: usize) -> Option<usize> {
        let (by, step) = (index as i128 - self.start as i128, self.step as i128);
        usize::try_from(by / step).ok().filter(|&p| by % step == 0 && p < self.len)
    }
}
