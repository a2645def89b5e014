//! The vocabulary of the JSON output: each key has one meaning, shared by all commands.

use serde_json::json;

use crate::context::Context;
use crate::failure::Result;

/// Keys by topic, each with its meaning. `*` stands for a name.
pub(crate) const KEYS: &[(&str, &[(&str, &str)])] = &[
    (
        "every line",
        &[
            ("version", "version of the program"),
            ("command", "command that wrote the line"),
            ("op", "operation that the line reports, of bench and tune"),
            ("file", "name of the input file"),
            ("case", "name of a benchmark case"),
            ("task", "task on the rows: pairwise, knn"),
            ("device", "device of the computation: cpu, cuda:0"),
            ("device_name", "name of the GPU"),
            ("threads", "number of CPU threads"),
            ("isa", "instruction set of the loops: scalar, avx2, avx512"),
            ("repeat", "number of repetitions"),
            ("chosen", "algorithm that the library chose, and why"),
            ("planned", "algorithm that the plan chose, and why"),
            ("method", "method of counting triangles, and why"),
            ("algorithm, algorithms", "name of a graph algorithm; names of all measured ones"),
        ],
    ),
    (
        "input",
        &[
            ("nrows, ncols", "rows and columns of the result, or of the matrix if there is no result"),
            ("inner", "columns of the left factor, rows of the right one"),
            ("length", "length of a vector"),
            ("dims", "extents of a tensor or a dense array"),
            ("order", "number of modes of a tensor"),
            ("nnz", "stored entries of the matrix, the tensor or the result"),
            ("a_nnz", "stored entries of the input matrix"),
            ("stored", "entries in the file, before expanding symmetry"),
            ("to_nrows, to_nnz", "rows and entries of the second matrix of vectors"),
            ("pairs", "pairs of rows compared"),
            ("type", "type of the values"),
            ("field, symmetry, layout", "header of the file"),
            ("row_nnz_min, row_nnz_mean, row_nnz_max", "fewest, mean and most entries of a row"),
            ("empty_rows", "rows without entries"),
            ("repeats, zeros", "duplicate entries and stored zeros of a tensor"),
            ("norm2", "sum of the squares of the values"),
            ("slices, fibres", "nonempty slices and fibres, by mode"),
            ("index_bits", "width of an index in bits"),
            ("batch, size", "tensors of a batch; size parameter of a benchmark case"),
            ("source, sources", "start vertex of a search; start vertices of several searches"),
            (
                "kind, weighted, self_loops",
                "of a graph: directed, undirected or bipartite; whether values are weights; number of edges (v, v)",
            ),
        ],
    ),
    (
        "parameters",
        &[
            ("semiring", "name or formulas of the semiring"),
            ("metric", "name or formula of the metric"),
            ("p, normalize, exclude_self", "parameters of the metric and of the search"),
            ("k", "neighbours per row"),
            ("radius", "radius of the search"),
            ("expression", "einsum expression of a contraction"),
            ("mode, rank", "mode of the MTTKRP, columns of the factors"),
            ("per", "unit of the triangle counts: vertex, edge"),
            ("operator", "name or formula of an operator"),
            ("variant, variant_bytes, why", "algorithm of the MTTKRP, its memory in bytes, and the reason"),
        ],
    ),
    (
        "results",
        &[
            ("value", "result of a reduction, as text"),
            ("sum", "sum of all values of the result (finite ones for distances); text beyond 64 bits"),
            ("wsum, *_sum, *sum", "weighted sums and sums of parts, as checksums"),
            ("mttkrp_sums", "sums of the MTTKRP results, by mode"),
            ("flops, row_flops_max", "multiplications; maximum per row"),
            ("product", "the product that was analysed"),
            ("product_nnz, product_row_nnz_max", "its entries; maximum per row"),
            ("cf, cmrf", "compression factors of Deveci et al."),
            ("triangles, most", "number of triangles; maximum per vertex or edge"),
            (
                "reached, components",
                "vertices reached by searches, or connected pairs of vertices; components of a graph",
            ),
            (
                "depth, longest, largest",
                "most edges of a path; greatest path length; vertices of the largest component",
            ),
            ("path_vertices, path_length", "vertices of a shortest path, and its length"),
            ("highest, vertex, top", "highest score; its vertex; pairs of the highest scores and their vertices"),
            ("iterations, change", "number of iterations; change in the last one"),
            ("squares", "sum of squares of scores that add up to 1"),
            ("modularity, communities", "modularity of a partition of the vertices; number of its parts"),
            (
                "average, transitivity, weight",
                "mean clustering coefficient or mean path length; transitivity of the graph; weight of a forest",
            ),
            ("edges, size, colors", "edges of a subgraph; size of a set or matching; number of colors"),
            ("neighbours", "number of neighbours found"),
            ("fit, fits", "1 - |X - M| / |X|, at the end and after each sweep"),
            ("sweeps, converged, start, singular", "outcome of a decomposition"),
            ("weights", "weights of the components"),
            ("path", "pairs of operands, in contraction order"),
            ("summed_on", "summation order of the sum: host, device"),
            ("cases, file", "cases in a tiling file, and its name"),
            ("*_nnz", "stored entries of a part of the result"),
        ],
    ),
    (
        "time and memory",
        &[
            ("compute_ms", "time of the computation in milliseconds, the median of repetitions"),
            (
                "*_ms",
                "time of a phase in milliseconds: read, write, symbolic, numeric, reuse, upload, download, first, ...",
            ),
            ("*_min_ms", "minimum over repetitions"),
            ("bytes, *_bytes", "memory in bytes: data, workspace_bytes, peak_bytes, ..."),
            ("peak_growth_bytes", "growth of memory in use, at its peak"),
            ("bytes_per_entry, tensor_bytes_per_entry", "bytes that a product reads or stores per entry"),
            (
                "gflops, gpairs_s, mb_s, gb_s, *_gb_s",
                "rates per second: 10⁹ operations, 10⁹ pairs, 10⁶ bytes, 10⁹ bytes",
            ),
            ("pct_*", "percent of a bandwidth or compute bound: stream, copy, bound"),
            ("ratio", "time of the default rule over the tuned time"),
            ("kernel, rule, tiling, possible, tried, kernels", "kernels of a contraction on a GPU, and their tuning"),
        ],
    ),
    (
        "lists",
        &[
            ("semirings, metrics, devices, processor", "lists printed by the commands of these names"),
            ("missing, compiler, compiler_missing", "availability of GPU support, and what is missing"),
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
    let mut text =
        String::from("Keys of the JSON objects that --json prints, one object per line; * stands for a name\n");
    for (about, keys) in KEYS {
        text += &format!("\n{about}\n");
        keys.iter().for_each(|(key, means)| text += &format!("  {key:42} {means}\n"));
    }
    text
}
