//! Triangle counting on the device: see `cuda/triangles.cu`.

use std::sync::Arc;

use super::Cuda;
use super::csr::DevicePattern;
use super::driver::Event;
use super::jit::{Source, Unit, source};
use super::launch::{Program, Shape, args};
use crate::{Error, Result};

const SOURCE: Source = source!("triangles.cu");
/// Threads of a block.
const BLOCK: u32 = 256;
/// Entries that a block orients.
const TILE: usize = 2048;
/// Bytes of shared memory up to which a block has a bit for each vertex: at least five blocks per multiprocessor of 228
/// KiB.
const EXACT: usize = 40 << 10;
/// Bytes of the hashed bits and the table of the alternative kernel.
const FILTERED: u32 = 40 << 10;

/// A number of triangles, with the method that counted them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriangleCount {
    /// Number of triangles.
    pub count: u64,
    /// The method that ran.
    pub method: String,
}

/// The device time of one stage of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// Milliseconds.
    pub ms: f64,
}

/// Types of A's row pointers, of offsets into adjacency lists, and of offsets into pairs.
fn prefix(a: &str, lists: &str, pairs: &str) -> String {
    format!("typedef {a} OffsetA;\ntypedef {lists} OffsetL;\ntypedef {pairs} OffsetPair;\n")
}

impl Cuda {
    /// Triangles of the simple undirected graph of `pattern`, that is, of A + Aᵀ without its diagonal: Σ |L(a) ∩ L(b)|
    /// over its edges, where L(v) are the neighbors of v of higher degree.
    ///
    /// An edge may be stored in either direction or in both, rows in any order. Cost for nnz entries, m edges, n
    /// vertices: O(nnz log √nnz + Σ min(|L(a)|, |L(b)|)) operations, |L(v)| ≤ √(2 nnz); if rows are unsorted, each edge
    /// also costs a scan of the shorter of two rows. 12 bytes of scratch memory an entry, 12 an edge, 24 a vertex (more
    /// from 2³² entries on). The same count in every run.
    /// # Errors
    /// [`Error::NotSquare`], [`Error::DeviceMemory`], [`Error::Device`], [`Error::Compile`], [`Error::NoCompiler`].
    pub fn count_triangles(&self, pattern: &DevicePattern) -> Result<TriangleCount> {
        self.count_in_stages(pattern, |_| Ok(()))
    }
    /// [`count_triangles`](Self::count_triangles), with the time of each stage.
    pub(super) fn count_triangles_timed(&self, pattern: &DevicePattern) -> Result<(TriangleCount, Vec<Stage>)> {
        let mut before = Event::now(self.device())?;
        let mut events = Vec::new();
        let found = self.count_in_stages(pattern, |name| {
            events.push((name, Event::now(self.device())?));
            Ok(())
        })?;
        let mut stages = Vec::with_capacity(events.len());
        for (name, event) in events {
            stages.push(Stage { name, ms: before.ms_until(&event)? });
            before = event;
        }
        Ok((found, stages))
    }

    /// Calls `done` with the name of each stage once it is enqueued.
    fn count_in_stages(
        &self,
        a: &DevicePattern,
        mut done: impl FnMut(&'static str) -> Result<()>,
    ) -> Result<TriangleCount> {
        let (n, nnz) = (a.nrows, a.nnz);
        if n != a.ncols {
            return Err(Error::NotSquare { op: "triangles", nrows: n, ncols: a.ncols });
        }
        if nnz == 0 {
            return Ok(TriangleCount { count: 0, method: "no entries".into() });
        }
        // Lists and pairs are no longer than the entries, so 32-bit offsets suffice wherever they do for A.
        let wide = a.row_ptr.cuda();
        let each_vertex = Shape::for_each(n, BLOCK)?;
        let each_entry = Shape::for_each(nnz, BLOCK)?;
        let (vertices, entries) = (n as u64, nnz as u64);

        let program = self.triangle_program(wide, wide, wide)?;
        let keys = self.alloc::<u32>(n, "degrees of vertices")?;
        let degrees = self.alloc::<u32>(n, "lengths of lists of neighbours")?;
        let centres = self.alloc::<u32>(2 * n, "pairs of each vertex")?;
        program.kernel("triangle_rows")?.launch(each_vertex, args![&a.row_ptr, vertices, &keys, &degrees, &centres])?;
        program.kernel("triangle_columns")?.launch(each_entry, args![&a.col_idx, entries, &keys])?;
        done("degrees")?;

        let edges = self.alloc::<u64>(nnz, "edges")?;
        let slots = self.alloc::<u32>(nnz, "positions of edges")?;
        program.kernel("triangle_orient")?.launch(
            Shape::blocks(nnz.div_ceil(TILE), BLOCK, 0)?,
            args![&a.row_ptr, &a.col_idx, vertices, entries, u32::from(a.sorted), &keys, &degrees, &edges, &slots],
        )?;
        done("orient")?;

        let (from, total) = self.offsets(&degrees, "offsets of lists of neighbours")?;
        done("scan of lists")?;
        let program = self.triangle_program(wide, from.cuda(), wide)?;
        let lists = self.alloc::<u32>(length(total)?, "lists of neighbours")?;
        program
            .kernel("triangle_fill")?
            .launch(each_entry, args![entries, vertices, &degrees, &from, &edges, &slots, &lists, &centres])?;
        done("fill lists")?;

        let (pair_from, npairs) = self.offsets(&centres, "offsets of pairs")?;
        done("scan of pairs")?;
        if npairs == 0 {
            return Ok(TriangleCount { count: 0, method: "no two edges make a path from low to high degree".into() });
        }
        let program = self.triangle_program(wide, from.cuda(), pair_from.cuda())?;
        let pairs = self.alloc::<u64>(length(npairs)?, "pairs")?;
        program
            .kernel("triangle_pairs")?
            .launch(each_entry, args![entries, vertices, &degrees, &pair_from, &edges, &slots, &pairs])?;
        done("pairs")?;

        // The count, and the ticket counter of the tiles of pairs.
        let sums = self.zeroed::<u64>(2, "a count of triangles")?;
        let bytes = n.div_ceil(32) * 4;
        let exact = bytes <= EXACT;
        let (name, shared) =
            if exact { ("triangle_long_exact", bytes as u32) } else { ("triangle_long_filtered", FILTERED) };
        let kernel = program.kernel(name)?;
        let at_once = kernel.blocks_per_multiprocessor(BLOCK, shared)? * self.limits().multiprocessors;
        let tiles = length(npairs)?.div_ceil(BLOCK as usize);
        let blocks = Shape::blocks(tiles.min(at_once.max(1) as usize), BLOCK, shared)?;
        kernel.launch(blocks, args![&pairs, vertices, &pair_from, &from, &lists, &sums])?;
        done("long lists")?;
        program.kernel("triangle_short")?.launch(
            Shape::blocks(tiles, BLOCK, 0)?,
            args![&pairs, npairs, vertices, &pair_from, &from, &lists, &sums],
        )?;
        done("short lists")?;
        let count = self.get_at(&sums, 0)?;
        done("the count")?;
        let marks = if exact { "a bit for each vertex" } else { "hashed bits before a table" };
        let method = format!(
            "each edge handled at its end with the longer list; lists over 32 marked by blocks ({marks}), others compared \
             by warps; {total} edges, {npairs} lookups"
        );
        Ok(TriangleCount { count, method })
    }

    fn triangle_program(&self, a: &str, lists: &str, pairs: &str) -> Result<Arc<Program>> {
        self.program(SOURCE, &prefix(a, lists, pairs))
    }
}

fn length(len: u64) -> Result<usize> {
    usize::try_from(len).map_err(|_| Error::IndexOverflow {
        what: "edges on the device",
        needed: len.into(),
        max: usize::MAX as u128,
    })
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    let (small, large) = ("unsigned int", "unsigned long long");
    let hot = &["triangle_orient", "triangle_fill", "triangle_long_exact", "triangle_long_filtered", "triangle_short"];
    [(small, small, small), (large, large, small), (large, large, large)]
        .map(|(a, lists, pairs)| Unit { source: SOURCE, prefix: prefix(a, lists, pairs), hot })
        .into()
}
