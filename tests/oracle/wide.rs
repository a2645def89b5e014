//! Cases embedded in dimensions up to 2⁶⁰: small indices are mapped to large ones, increasingly, one map for each index
//! space; results are mapped back.

use sparring::algebra::Array;
use sparring::par::Threads;
use sparring::runtime::{IndexList, Matrix, Object, Vector};
use sparring_oracle::{Case, Kind, Op, Table};

use super::objects::{Typed, object, type_of, with_type};

/// Dimensions of half the largest, so that two of them can be joined.
const LARGE: [usize; 3] = [1 << 59, (1 << 40) + 7, 1 << 33];

/// An increasing map of the indices below `to.len()` into a dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Map {
    to: Vec<usize>,
    dimension: usize,
}

impl Map {
    fn identity(n: usize) -> Self {
        Self { to: (0..n).collect(), dimension: n }
    }
    /// Scattered indices, the first and the last of the dimension among them.
    fn scattered(n: usize, dimension: usize, seed: &mut u64) -> Self {
        let mut to = vec![];
        while to.len() < n {
            let at = match to.len() {
                0 => 0,
                1 => dimension - 1,
                _ => random(seed) as usize % dimension,
            };
            to.extend((!to.contains(&at)).then_some(at));
        }
        to.sort_unstable();
        Self { to, dimension }
    }
    /// Consecutive indices.
    fn shifted(n: usize, by: usize) -> Self {
        Self { to: (by..by + n).collect(), dimension: by + n }
    }
    fn is_identity(&self) -> bool {
        self.dimension == self.to.len()
    }
}

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*seed ^ (*seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 3
}

/// A case on large dimensions.
#[derive(Debug)]
pub(crate) struct Embedding {
    /// Rows and columns of each object.
    pub(crate) maps: Vec<[Map; 2]>,
    pub(crate) lists: [IndexList; 2],
    /// The row or the column of an operation on one.
    pub(crate) point: usize,
    /// Added to the scalar of an operator that reads indices.
    pub(crate) offset: i128,
    /// Whether a scalar is assigned to more positions than memory holds.
    pub(crate) is_refused: bool,
    /// The first and the last cut of a block, of rows and of columns.
    pub(crate) cuts: [(usize, usize); 2],
}

/// An index list, and where its positions are.
fn listed(indices: &[usize], map: &Map, seed: &mut u64) -> (IndexList, Map) {
    let (n, len) = (map.dimension, indices.len());
    let in_order = indices.iter().copied().eq(0..map.to.len());
    let reversed = indices.iter().copied().eq((0..map.to.len()).rev()) && len > 0;
    match random(seed) % 4 {
        0 if in_order => (IndexList::all(), map.clone()),
        1 if in_order => {
            let from = map.to.first().map_or(0, |&first| first.min(5));
            let to = map.to.iter().map(|i| i - from).collect();
            (IndexList::from(from..n), Map { to, dimension: n - from })
        }
        2 if reversed => {
            let to = map.to.iter().rev().map(|i| n - 1 - i).collect();
            (IndexList::strided(n - 1, -1, n), Map { to, dimension: n })
        }
        _ => (indices.iter().map(|&i| map.to[i]).collect::<Vec<_>>().into(), Map::identity(len)),
    }
}

impl Embedding {
    /// The embedding of a case, whatever its number; `None` without one.
    pub(crate) fn of(case: &Case, number: usize) -> Option<Self> {
        let mut seed = number as u64;
        Self::attempt(case, &mut seed, false).or_else(|| Self::attempt(case, &mut seed, true))
    }
    fn attempt(case: &Case, seed: &mut u64, plain: bool) -> Option<Self> {
        let c = case.table(case.c);
        let a = case.operands.first().map(|&n| case.table(n));
        let (m, n) = c.shape();
        let mut made = Self {
            maps: vec![],
            lists: [IndexList::all(), IndexList::all()],
            point: 0,
            offset: 0,
            is_refused: false,
            cuts: [(0, 0); 2],
        };
        let vector = c.kind == Kind::Vector;
        let large = |seed: &mut u64| LARGE[random(seed) as usize % LARGE.len()];
        let fresh = |len: usize, seed: &mut u64| {
            if plain || random(seed).is_multiple_of(6) {
                Map::identity(len)
            } else {
                Map::scattered(len, large(seed), seed)
            }
        };
        let unit = Map::identity(1);
        // Shapes as the operation sees them.
        let shape = |at: usize| {
            let (m, n) = case.operands.get(at).map_or((1, 1), |&n| case.table(n).shape());
            if case.transpose[at] { (n, m) } else { (m, n) }
        };
        let (of_a, of_b) = (shape(0), shape(1));
        let is_vector = |n: usize| case.table(n).kind == Kind::Vector;
        let mut rows = fresh(m, seed);
        let mut cols = if vector { unit.clone() } else { fresh(n, seed) };
        let mut mask = None;
        let mut maps_a = [rows.clone(), cols.clone()];
        let mut maps_b = maps_a.clone();
        let contracted = if matches!(case.op, Op::Vxm { .. }) { of_b.0 } else { of_a.1 };
        let mut inner = fresh(contracted, seed);
        match &case.op {
            Op::Mxm { ring } | Op::Mxv { ring } | Op::Vxm { ring } => {
                let reads = |index: &str| ring.mul.ends_with(index);
                // ⊗ of an index gives values that depend on the embedding.
                if reads("firsti") || reads("secondj") || reads("firstj") || reads("secondi") {
                    (rows, cols, inner) = match case.op {
                        Op::Mxm { .. } if reads("firsti") => (Map::identity(m), cols, inner),
                        Op::Mxm { .. } if reads("secondj") => (rows, Map::identity(n), inner),
                        Op::Mxm { .. } => (rows, cols, Map::identity(contracted)),
                        _ => (Map::identity(m), unit.clone(), Map::identity(inner.to.len())),
                    };
                }
                (maps_a, maps_b) = match case.op {
                    Op::Mxm { .. } => ([rows.clone(), inner.clone()], [inner.clone(), cols.clone()]),
                    Op::Mxv { .. } => ([rows.clone(), inner.clone()], [inner.clone(), unit.clone()]),
                    _ => ([inner.clone(), unit.clone()], [inner.clone(), rows.clone()]),
                };
            }
            Op::ReduceRows { .. } | Op::Count | Op::Mean => maps_a = [rows.clone(), inner.clone()],
            // Columns are values.
            Op::ArgMin | Op::ArgMax => maps_a = [rows.clone(), Map::identity(of_a.1)],
            Op::Reduce { .. } | Op::ReduceScalar { .. } => {
                maps_a = [fresh(of_a.0, seed), if is_vector(case.operands[0]) { unit.clone() } else { inner }];
                (rows, cols) = (unit.clone(), unit.clone());
            }
            Op::Transpose => maps_a = [cols.clone(), rows.clone()],
            Op::ApplyIndex { op, .. } | Op::Select { op, .. } if !op.starts_with("value_") => {
                let by = if plain { 0 } else { LARGE[1] };
                rows = Map::shifted(m, by);
                cols = if vector { unit.clone() } else { Map::shifted(n, by) };
                (maps_a, made.offset) = ([rows.clone(), cols.clone()], offset(op, vector, by as i128));
            }
            Op::Extract { rows: i, cols: j } => {
                let source = [fresh(of_a.0, seed), if vector { unit.clone() } else { fresh(of_a.1, seed) }];
                (made.lists[0], rows) = listed(i, &source[0], seed);
                if !vector {
                    (made.lists[1], cols) = listed(j, &source[1], seed);
                }
                maps_a = source;
            }
            Op::ExtractColumn { rows: i, col } => {
                let source = fresh(of_a.0, seed);
                (made.lists[0], rows) = listed(i, &source, seed);
                (made.point, maps_a) = (inner.to[*col], [source, inner]);
            }
            Op::Assign { rows: i, cols: j } => {
                let (list, positions) = listed(i, &rows, seed);
                (made.lists[0], maps_a) = (list, [positions, unit.clone()]);
                if !vector {
                    (made.lists[1], maps_a[1]) = listed(j, &cols, seed);
                }
            }
            Op::AssignRow { row, cols: j } => {
                let (list, positions) = listed(j, &cols, seed);
                (made.lists[1], maps_a) = (list, [positions, unit.clone()]);
                (made.point, mask) = (rows.to[*row], Some([cols.clone(), unit.clone()]));
            }
            Op::AssignColumn { rows: i, col } => {
                let (list, positions) = listed(i, &rows, seed);
                (made.lists[0], maps_a) = (list, [positions, unit.clone()]);
                (made.point, mask) = (cols.to[*col], Some([rows.clone(), unit.clone()]));
            }
            Op::AssignScalar { rows: i, cols: j, .. } => {
                made.lists[0] = listed(i, &rows, seed).0;
                if !vector {
                    made.lists[1] = listed(j, &cols, seed).0;
                }
                let is_limited = case.mask.is_some_and(|mask| !mask.complement);
                let large = |axis: usize, n: usize| made.lists[axis].len(n) > u32::MAX as usize;
                made.is_refused = !is_limited && (large(0, rows.dimension) || large(1, cols.dimension));
            }
            Op::Scatter { indices, .. } => {
                let (list, positions) = listed(indices, &rows, seed);
                (made.lists[0], maps_a) = (list, [positions, unit.clone()]);
            }
            Op::Kronecker { .. } => {
                let mut pair = |m: usize, n: usize| match random(seed) % 3 {
                    0 if !plain => (Map::scattered(m, 1 << 40, seed), Map::identity(n)),
                    1 if !plain => (Map::identity(m), Map::scattered(n, 1 << 50, seed)),
                    2 if !plain => (Map::scattered(m, 1 << 17, seed), Map::scattered(n, 1 << 16, seed)),
                    _ => (Map::identity(m), Map::identity(n)),
                };
                let (of_rows, of_cols) = (pair(of_a.0, of_b.0), pair(of_a.1, of_b.1));
                (maps_a, maps_b) = ([of_rows.0, of_cols.0], [of_rows.1, of_cols.1]);
                [rows, cols] = [0, 1].map(|axis| product(&maps_a[axis], &maps_b[axis]));
            }
            Op::Diag { k } => {
                let by = if plain { 0 } else { LARGE[0] };
                let len = m - k.unsigned_abs() as usize;
                (maps_a, rows) = ([Map::shifted(len, by), unit.clone()], Map::shifted(m, by));
                cols = rows.clone();
            }
            Op::Diagonal { k } => {
                let by = if plain { 0 } else { LARGE[1] };
                maps_a = [Map::shifted(of_a.0, by), Map::shifted(of_a.1, by)];
                let [m, n] = [0, 1].map(|axis| maps_a[axis].dimension as i64);
                let len = if *k >= 0 { m.min(n - k) } else { (m + k).min(n) };
                rows = Map { dimension: len.max(0) as usize, ..Map::shifted(c.nrows, by) };
            }
            Op::Concat { .. } => return Some(concat(case, plain, seed)),
            Op::Block { rows: i, cols: j } => {
                let source = [fresh(of_a.0, seed), if vector { unit.clone() } else { fresh(of_a.1, seed) }];
                (made.cuts[0], rows) = block(&source[0], *i);
                if !vector {
                    (made.cuts[1], cols) = block(&source[1], *j);
                }
                maps_a = source;
            }
            Op::Resize { shape } => {
                let source = [fresh(of_a.0, seed), if vector { unit.clone() } else { fresh(of_a.1, seed) }];
                rows = resized(&source[0], shape.0);
                if !vector {
                    cols = resized(&source[1], shape.1);
                }
                maps_a = source;
            }
            _ => {}
        }
        if a.is_none() && case.operands.is_empty() {
            maps_a = [rows.clone(), cols.clone()];
        }
        let own = |of: &[Map; 2], at: usize| match of {
            [rows, cols] if case.transpose[at] => [cols.clone(), rows.clone()],
            of => of.clone(),
        };
        // An object in two roles needs one map for both.
        let mut maps: Vec<Option<[Map; 2]>> = vec![None; case.objects.len()];
        let mut set = |object: usize, map: [Map; 2]| match &maps[object] {
            Some(other) if *other != map => false,
            _ => {
                maps[object] = Some(map);
                true
            }
        };
        let mut fits = set(case.c, [rows.clone(), cols.clone()]);
        for (at, (&object, of)) in case.operands.iter().zip([&maps_a, &maps_b]).enumerate() {
            fits &= set(object, own(of, at));
        }
        if let Some(of) = case.mask {
            fits &= set(of.object, mask.unwrap_or([rows, cols]));
        }
        made.maps = maps.into_iter().flatten().collect();
        (fits && made.maps.len() == case.objects.len()).then_some(made)
    }
    /// The matrix or vector of an object of the case.
    pub(crate) fn object(&self, case: &Case, n: usize) -> Object {
        let (of, [rows, cols]) = (&case.objects[n], &self.maps[n]);
        if n == case.c && matches!(case.op, Op::Block { .. } | Op::Resize { .. }) && !case.operands.contains(&n) {
            // It is not read, and may have many rows.
            return sparring::runtime::Scalar::from(false).into();
        }
        if rows.is_identity() && cols.is_identity() {
            return object(of, 1);
        }
        let table = &of.table;
        let entries: Vec<_> = table.entries().collect();
        let values = with_type!(table.ty, T => Array::of(entries.iter().map(|x| T::of(x.2)).collect::<Vec<T>>()));
        let (i, j) = entries.iter().map(|x| (rows.to[x.0], cols.to[x.1])).unzip();
        self.built(table.kind, (rows, cols), (i, j, values), None).expect("an object")
    }
    /// The result of a build with mapped indices.
    pub(crate) fn build(
        &self,
        case: &Case,
        tuples: &[(usize, usize)],
        values: Array,
        dup: &sparring::runtime::BinaryOp,
    ) -> sparring::Result<Object> {
        let [rows, cols] = &self.maps[case.c];
        let (i, j) = tuples.iter().map(|x| (rows.to[x.0], cols.to[x.1])).unzip();
        self.built(case.kind(), (rows, cols), (i, j, values), Some(dup))
    }
    fn built(
        &self,
        kind: Kind,
        (rows, cols): (&Map, &Map),
        (i, j, values): (Vec<usize>, Vec<usize>, Array),
        dup: Option<&sparring::runtime::BinaryOp>,
    ) -> sparring::Result<Object> {
        let threads = Threads::current();
        Ok(match kind {
            Kind::Vector => Vector::build(&threads, rows.dimension, (i, values), dup)?.into(),
            _ => Matrix::build_wide(&threads, (rows.dimension, cols.dimension), (i, j, values), dup)?.into(),
        })
    }
    /// Whether a dimension is larger than that of ordinary objects.
    pub(crate) fn is_large(&self) -> bool {
        self.maps.iter().flatten().any(|map| map.dimension > u32::MAX as usize)
    }
    /// Rows and columns of C.
    pub(crate) fn shape(&self, case: &Case) -> (usize, usize) {
        let [rows, cols] = &self.maps[case.c];
        (rows.dimension, cols.dimension)
    }
    /// The table of a result, of C's map.
    pub(crate) fn table(&self, found: &Object, case: &Case) -> Result<Table, String> {
        let (like, [rows, cols]) = (case.table(case.c), &self.maps[case.c]);
        let says = |e: sparring::Error| e.to_string();
        let (ty, shape, tuples) = match found {
            Object::Matrix(a) => (a.ty(), a.shape(), a.extract_tuples_wide().map_err(says)?),
            Object::Vector(x) => {
                let (indices, values) = x.extract_tuples_wide().map_err(says)?;
                (x.ty(), (x.len(), 1), (indices.clone(), vec![0; indices.len()], values))
            }
            Object::Scalar(_) => return super::objects::table(found, like, 1),
        };
        if ty != type_of(like.ty) || shape != (rows.dimension, cols.dimension) {
            return Err(format!("the result is {ty}, {shape:?}, not {:?}, {:?}", like.ty, self.maps[case.c]));
        }
        let mut cells = std::collections::BTreeMap::new();
        with_type!(like.ty, T => for (p, x) in tuples.2.slice().get::<T>().ok_or("no values of its type")?.iter().enumerate() {
            let of = |map: &Map, index: usize| map.to.binary_search(&index).map_err(|_| format!("an entry at {index}, {map:?}"));
            let at = (of(rows, tuples.0[p])?, of(cols, tuples.1[p])?);
            let got = match found {
                Object::Matrix(a) => a.get(tuples.0[p], tuples.1[p]),
                Object::Vector(v) => v.get(tuples.0[p]),
                Object::Scalar(_) => Ok(None),
            };
            if got.map_err(says)?.and_then(|x| x.get::<T>()).map(T::value) != Some(x.value()) {
                return Err(format!("entry {at:?} is another one by its index"));
            }
            cells.insert(at, x.value());
        });
        Ok(like.like(like.ty, |i, j| cells.get(&(i, j)).copied()))
    }
}

/// Added to s, so that an operator on indices shifted by `by` gives the same.
fn offset(op: &str, vector: bool, by: i128) -> i128 {
    match (op, vector) {
        ("row_index", _) | ("col_index", false) => -by,
        ("row_le" | "row_gt", _) | ("col_le" | "col_gt", false) => by,
        ("diag_index", true) => by,
        ("tril" | "triu" | "diag" | "offdiag", true) => -by,
        _ => 0,
    }
}

fn product(a: &Map, b: &Map) -> Map {
    let to = a.to.iter().flat_map(|i| b.to.iter().map(move |k| i * b.dimension + k)).collect();
    Map { to, dimension: a.dimension * b.dimension }
}

/// The cuts around a block, and its map.
fn block(map: &Map, (start, end): (usize, usize)) -> ((usize, usize), Map) {
    let cut = |at: usize| map.to.get(at).copied().unwrap_or(map.dimension);
    let (first, last) = (cut(start), cut(end));
    let to = map.to[start..end].iter().map(|i| i - first).collect();
    ((first, last), Map { to, dimension: last - first })
}

/// The map of the first indices, or of more.
fn resized(map: &Map, n: usize) -> Map {
    if let Some(&dimension) = map.to.get(n) {
        return Map { to: map.to[..n].to_vec(), dimension };
    }
    let more = n - map.to.len();
    let to = map.to.iter().copied().chain(map.dimension..map.dimension + more).collect();
    Map { to, dimension: map.dimension + more }
}

/// Tiles, each row and each column of them with one map.
fn concat(case: &Case, plain: bool, seed: &mut u64) -> Embedding {
    let twice = |at: usize| case.operands[..at].contains(&case.operands[at]);
    let plain = plain || (0..case.operands.len()).any(twice) || case.operands.contains(&case.c);
    let mut map = |n: usize| {
        if plain { Map::identity(n) } else { Map::scattered(n, LARGE[random(seed) as usize % 3], seed) }
    };
    let tile = |at: usize| case.table(case.operands[at]).shape();
    let rows = [map(tile(0).0), map(tile(2).0)];
    let cols = [map(tile(0).1), map(tile(1).1)];
    let joined = |of: &[Map; 2]| {
        let to = of[0].to.iter().copied().chain(of[1].to.iter().map(|i| i + of[0].dimension)).collect();
        Map { to, dimension: of[0].dimension + of[1].dimension }
    };
    let mut maps = vec![[Map::identity(1), Map::identity(1)]; case.objects.len()];
    for (at, &object) in case.operands.iter().enumerate() {
        maps[object] = [rows[at / 2].clone(), cols[at % 2].clone()];
    }
    maps[case.c] = [joined(&rows), joined(&cols)];
    let lists = [IndexList::all(), IndexList::all()];
    Embedding { maps, lists, point: 0, offset: 0, is_refused: false, cuts: [(0, 0); 2] }
}
