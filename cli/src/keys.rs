//! The words that lines of JSON are made of: one for one thing, in all commands.

use serde_json::json;

use crate::context::Context;
use crate::failure::Result;

/// Keys by what they are about, each with what it means. `*` stands for a name.
pub(crate) const KEYS: &[(&str, &[(&str, &str)])] = &[
    (
        "every line",
        &[
            ("version", "version of the program"),
            ("command", "command that wrote the line"),
            ("op", "what a command with several kinds of lines did: bench, tune"),
            ("file", "name of the file that was read"),
            ("case", "name of a measured case"),
            ("task", "what is asked of the rows: pairwise, knn"),
            ("device", "where it was computed: cpu, cuda:0"),
            ("device_name", "name of the GPU"),
            ("threads", "threads of the processor"),
            ("isa", "instructions that its loops used: scalar, avx2, avx512"),
            ("repeat", "how often it was computed"),
            ("chosen", "what the library chose, and why"),
            ("planned", "the same of a plan"),
            ("method", "how triangles were counted, and why"),
            ("algorithm, algorithms", "name of a graph algorithm, and of all that are measured"),
        ],
    ),
    (
        "what it is on",
        &[
            ("nrows, ncols", "rows and columns of the matrix that the line is about, the result if there is one"),
            ("inner", "columns of the left factor, rows of the right one"),
            ("length", "elements of a vector"),
            ("dims", "extents of a tensor or of a dense array"),
            ("order", "modes of a tensor"),
            ("nnz", "entries of the matrix, the tensor or the result"),
            ("a_nnz", "entries of the matrix that a result was computed from"),
            ("stored", "entries in the file, before symmetry is expanded"),
            ("to_nrows, to_nnz", "rows and entries of the other vectors"),
            ("pairs", "pairs of rows that were compared"),
            ("type", "type of the values"),
            ("field, symmetry, layout", "what the file says about itself"),
            ("row_nnz_min, row_nnz_mean, row_nnz_max", "entries of a row"),
            ("empty_rows", "rows without entries"),
            ("repeats, zeros", "entries of a tensor at a place before, and those that are 0"),
            ("norm2", "sum of the squares of the values"),
            ("slices, fibres", "slices and fibres that have entries, by mode"),
            ("index_bits", "bits of an index"),
            ("batch, size", "tensors of a batch, and what a case's shape depends on"),
            ("source, sources", "vertex that a search begins at, and those of several searches"),
            (
                "kind, weighted, self_loops",
                "of a graph: directed, undirected or bipartite, whether values are weights, edges (v, v)",
            ),
        ],
    ),
    (
        "what was asked",
        &[
            ("semiring", "name or formulas of the semiring"),
            ("metric", "name or formula of the metric"),
            ("p, normalize, exclude_self", "settings of the metric and of the search"),
            ("k", "neighbours of each row"),
            ("radius", "largest distance of a neighbour"),
            ("expression", "indices of a contraction"),
            ("mode, rank", "mode of a product, columns of the factors"),
            ("per", "what triangles were counted for"),
            ("operator", "name or formula of an operator"),
            ("variant, variant_bytes, why", "how products of a tensor are computed, what that keeps, and why"),
        ],
    ),
    (
        "what came out",
        &[
            ("value", "the value that all entries were folded to, as text"),
            ("sum", "sum of all values of the result, those that are finite for distances; text beyond 64 bits"),
            ("wsum, *_sum, *sum", "weighted sums and sums of parts, to compare with"),
            ("mttkrp_sums", "sums of the products, by mode"),
            ("flops, row_flops_max", "multiplications, and most of a row"),
            ("product", "which product was counted"),
            ("product_nnz, product_row_nnz_max", "its entries, and most of a row"),
            ("cf, cmrf", "compression factors of Deveci et al."),
            ("triangles, most", "triangles, and most of one vertex or edge"),
            (
                "reached, components",
                "vertices that searches reached, pairs of vertices with a path; components of a graph",
            ),
            ("depth, longest, largest", "most edges of a path, its greatest length, vertices of the largest component"),
            ("path_vertices, path_length", "a shortest path, and its length"),
            ("highest, vertex, top", "the highest score of a vertex, which has it, and the highest as pairs"),
            ("iterations, change", "steps of an iteration, and by how much the last changed its results"),
            ("squares", "sum of the squared scores of vertices, whose sum is 1"),
            ("modularity, communities", "of a partition of the vertices, and its parts"),
            (
                "average, transitivity, weight",
                "mean clustering of a vertex or mean length of a path; clustering of the graph; weight of a forest",
            ),
            ("edges, size, colors", "edges of a subgraph, size of a set or a matching, colors of a coloring"),
            ("neighbours", "neighbours that were found"),
            ("fit, fits", "1 - |X - M| / |X|, at the end and after each sweep"),
            ("sweeps, converged, start, singular", "how a decomposition ended"),
            ("weights", "weights of the components"),
            ("path", "pairs of operands in the order in which they met"),
            ("summed_on", "whose order of sums the sum has: host, device"),
            ("cases, file", "cases of a file of tilings"),
            ("*_nnz", "entries of a part of the result"),
        ],
    ),
    (
        "what it took",
        &[
            ("compute_ms", "milliseconds of the computation, the median if it was repeated"),
            ("*_ms", "milliseconds of a part: read, write, symbolic, numeric, reuse, upload, download, first, ..."),
            ("*_min_ms", "the least of its repetitions"),
            ("bytes, *_bytes", "bytes: of the data, workspace_bytes beside it, peak_bytes at most, ..."),
            ("peak_growth_bytes", "what the memory held grew by at its peak"),
            ("bytes_per_entry, tensor_bytes_per_entry", "bytes that a product reads or keeps for an entry"),
            (
                "gflops, gpairs_s, mb_s, gb_s, *_gb_s",
                "rates: 10⁹ operations, pairs or bytes a second, 10⁶ bytes a second",
            ),
            ("pct_*", "percent of a bound: of what stream, copy or bound say"),
            ("ratio", "time by rule over the time that was found"),
            ("kernel, rule, tiling, possible, tried, kernels", "kernels of a contraction on a GPU"),
        ],
    ),
    (
        "lists",
        &[
            ("semirings, metrics, devices, processor", "what the commands of these names list"),
            ("missing, compiler, compiler_missing", "what there is to use a GPU, or why not"),
            ("keys", "this list"),
        ],
    ),
];

/// The command `keys`.
pub(crate) fn list(context: &Context) -> Result {
    let keys: Vec<_> = KEYS
        .iter()
        .flat_map(|(about, keys)| {
            keys.iter().map(move |(key, means)| json!({"key": key, "about": about, "means": means}))
        })
        .collect();
    context.result(json!({ "keys": keys }), text)
}

/// The list as text.
fn text() -> String {
    let mut text = String::from("Keys of the objects that --json writes, one a line; * stands for a name\n");
    for (about, keys) in KEYS {
        text += &format!("\n{about}\n");
        keys.iter().for_each(|(key, means)| text += &format!("  {key:42} {means}\n"));
    }
    text
}
