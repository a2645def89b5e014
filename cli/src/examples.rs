//! Two examples of each command, for its help and its man page. A test runs them all.

use crate::{graphs, steps};

/// A shell command, and a description of it.
pub(crate) type Example = (&'static str, &'static str);

/// The examples of each command. Their input files are created by that test or by earlier examples.
const EXAMPLES: &[(&str, [Example; 2])] = &[
    (
        "info",
        [
            ("sparring info a.mtx --product", "Shape, entries and the cost of A·A"),
            ("sparring info graph.txt --undirected --plot graph.png", "Draw a graph and its degree distribution"),
        ],
    ),
    (
        "triangles",
        [
            ("sparring triangles graph.txt --undirected", "Count the triangles of an edge list"),
            ("sparring triangles a.mtx --per vertex -o -", "Triangles per vertex, to standard output"),
        ],
    ),
    (
        "mxm",
        [
            ("sparring mxm a.mtx b.mtx -o c.npz", "C = A·B, in SciPy's format"),
            ("sparring mxm a.mtx --semiring min_plus --json", "Shortest paths of two edges, with statistics as JSON"),
        ],
    ),
    (
        "knn",
        [
            ("sparring knn points.csv -k 3 --metric cosine -o near.tsv", "The three nearest rows of each row"),
            (
                "sparring knn points.csv -k 1 --metric l2 --to points.csv --save-index points.idx",
                "Save an index, for --index points.idx",
            ),
        ],
    ),
    (
        "radius",
        [
            ("sparring radius points.csv --radius 0.2 --metric cosine", "Count the neighbours within a radius"),
            ("sparring radius points.csv --radius 5 --metric l1 --exclude-self -o near.mtx", "The graph of neighbours"),
        ],
    ),
    (
        "distances",
        [
            ("sparring distances points.csv --metric euclidean -o d.npy", "All distances, as a NumPy array"),
            ("sparring distances points.csv --metric \"abs(a-b) / (a+b+1)\" --plot d.svg", "Draw their histogram"),
        ],
    ),
    (
        "einsum",
        [
            ("sparring einsum \"ij,jk->ik\" x.npy x.npy -o y.npy", "A product of matrices"),
            ("sparring einsum \"...i,...i\" x.npy x.npy --semiring \"min, a + 2*b\"", "For each row, by formulas"),
        ],
    ),
    (
        "tune",
        [
            ("sparring tune --n 4,8", "Tune batches of small square matrices"),
            ("sparring tune \"bij,bjk->bik\" --extents b=100000,i=8,j=8,k=8", "Tune one contraction"),
        ],
    ),
    (
        "cp",
        [
            ("sparring cp x.tns --rank 2 -o model.json --plot model.png", "A model of two components, and its plot"),
            ("sparring cp x.tns --rank 2 --resume model.json --sweeps 20", "Continue from this model"),
        ],
    ),
    (
        "mttkrp",
        [
            ("sparring mttkrp x.tns --mode 1 --rank 8 -o v.npy", "With random factors"),
            ("sparring mttkrp x.tns --factors model.json --semiring max_times -o -", "With the factors of a model"),
        ],
    ),
    (
        "tensor-info",
        [
            ("sparring tensor-info x.tns", "Shape, entries and fibres"),
            ("sparring tensor-info x.tns --rank 64 --json", "The algorithm chosen for factors of 64 columns"),
        ],
    ),
    (
        "convert",
        [
            ("sparring convert a.mtx a.npz", "From Matrix Market to SciPy"),
            ("sparring convert graph.txt - --undirected --type f32", "An edge list as Matrix Market"),
        ],
    ),
    (
        "transpose",
        [
            ("sparring transpose a.mtx at.mtx", "Aᵀ"),
            ("sparring transpose points.csv - --output-format csv", "A table, rows as columns"),
        ],
    ),
    (
        "semirings",
        [("sparring semirings", "List names, uses and types"), ("sparring semirings --json", "The same as JSON")],
    ),
    ("metrics", [("sparring metrics", "Their names and formulas"), ("sparring metrics --json", "The same as JSON")]),
    (
        "devices",
        [
            ("sparring devices", "List the processor and the GPUs, or what is missing to use one"),
            ("SPARRING_ISA=scalar sparring devices", "With portable loops"),
        ],
    ),
    ("keys", [("sparring keys", "List the keys of --json"), ("sparring keys --json", "The same as JSON")]),
    (
        "bench",
        [
            ("sparring bench spgemm --case tc_rmat10 --repeat 3", "Measure products of a generated matrix"),
            ("sparring bench read --case a.mtx --repeat 3 --json", "Measure reading a file, one JSON line per case"),
        ],
    ),
    (
        "completions",
        [
            ("sparring completions bash > sparring.bash", "For bash: source sparring.bash"),
            ("sparring completions zsh > _sparring", "For zsh: into a folder of $fpath"),
        ],
    ),
    (
        "man",
        [
            ("sparring man > sparring.1", "The man page of the program"),
            ("sparring man mxm > sparring-mxm.1", "The page of a command: man -l sparring-mxm.1"),
        ],
    ),
];

/// The examples of a command.
pub(crate) fn of(command: &str) -> &'static [Example] {
    let known = EXAMPLES.iter().chain(steps::examples()).chain(graphs::examples()).find(|(name, _)| *name == command);
    known.map_or(&[], |(_, examples)| examples)
}

/// The examples of a command, formatted for its help.
pub(crate) fn text(command: &str) -> String {
    let lines: Vec<_> = of(command).iter().map(|(line, what)| format!("  # {what}\n  {line}")).collect();
    if lines.is_empty() { String::new() } else { format!("Examples:\n{}", lines.join("\n")) }
}
