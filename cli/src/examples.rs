//! Two examples of each command, for its help and its page. A test runs them all.

use crate::{graphs, steps};

/// A line for a shell, and what it does.
pub(crate) type Example = (&'static str, &'static str);

/// The examples of each command. Files that they read are made by that test, or by an example above.
const EXAMPLES: &[(&str, [Example; 2])] = &[
    (
        "info",
        [
            ("sparring info a.mtx --product", "Shape, entries and what A·A costs"),
            ("sparring info graph.txt --undirected --plot graph.png", "A picture of a graph and of its degrees"),
        ],
    ),
    (
        "triangles",
        [
            ("sparring triangles graph.txt --undirected", "Count the triangles of an edge list"),
            ("sparring triangles a.mtx --per vertex -o -", "Those of each vertex, to standard output"),
        ],
    ),
    (
        "mxm",
        [
            ("sparring mxm a.mtx b.mtx -o c.npz", "C = A·B, as SciPy reads it"),
            ("sparring mxm a.mtx --semiring min_plus --json", "Shortest ways of two steps, its figures as JSON"),
        ],
    ),
    (
        "knn",
        [
            ("sparring knn points.csv -k 3 --metric cosine -o near.tsv", "The three nearest rows of each row"),
            (
                "sparring knn points.csv -k 1 --metric l2 --to points.csv --save-index points.idx",
                "Keep what was prepared, for --index points.idx",
            ),
        ],
    ),
    (
        "radius",
        [
            ("sparring radius points.csv --radius 0.2 --metric cosine", "How many rows are so near"),
            ("sparring radius points.csv --radius 5 --metric l1 --exclude-self -o near.mtx", "The graph of neighbours"),
        ],
    ),
    (
        "distances",
        [
            ("sparring distances points.csv --metric euclidean -o d.npy", "All distances, as an array of NumPy"),
            ("sparring distances points.csv --metric \"abs(a-b) / (a+b+1)\" --plot d.svg", "How often they come"),
        ],
    ),
    (
        "einsum",
        [
            ("sparring einsum \"ij,jk->ik\" x.npy x.npy -o y.npy", "A product of matrices"),
            ("sparring einsum \"...i,...i\" x.npy x.npy --semiring \"min, a + 2*b\"", "By formulas, for each row"),
        ],
    ),
    (
        "tune",
        [
            ("sparring tune --n 4,8", "The fastest kernels for batches of small squares"),
            ("sparring tune \"bij,bjk->bik\" --extents b=100000,i=8,j=8,k=8", "And for one contraction"),
        ],
    ),
    (
        "cp",
        [
            ("sparring cp x.tns --rank 2 -o model.json --plot model.png", "A model of two components, and its picture"),
            ("sparring cp x.tns --rank 2 --resume model.json --sweeps 20", "Go on from it"),
        ],
    ),
    (
        "mttkrp",
        [
            ("sparring mttkrp x.tns --mode 1 --rank 8 -o v.npy", "With factors that are drawn at random"),
            ("sparring mttkrp x.tns --factors model.json --semiring max_times -o -", "With those of a model"),
        ],
    ),
    (
        "tensor-info",
        [
            ("sparring tensor-info x.tns", "Shape, entries and fibres"),
            ("sparring tensor-info x.tns --rank 64 --json", "And which products would be chosen for 64 columns"),
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
        [
            ("sparring semirings", "Their names, uses and types"),
            ("sparring semirings --json", "The same for a program"),
        ],
    ),
    (
        "metrics",
        [("sparring metrics", "Their names and formulas"), ("sparring metrics --json", "The same for a program")],
    ),
    (
        "devices",
        [
            ("sparring devices", "The processor, the GPUs, or what is missing to use one"),
            ("SPARRING_ISA=scalar sparring devices", "With the loops of any processor"),
        ],
    ),
    ("keys", [("sparring keys", "What the keys of --json mean"), ("sparring keys --json", "The same for a program")]),
    (
        "bench",
        [
            ("sparring bench spgemm --case tc_rmat10 --repeat 3", "Products of a generated matrix"),
            ("sparring bench read --case a.mtx --repeat 3 --json", "Reading a file, a line of JSON a case"),
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
            ("sparring man > sparring.1", "The page of the program"),
            ("sparring man mxm > sparring-mxm.1", "That of a command: man -l sparring-mxm.1"),
        ],
    ),
];

/// Those of a command.
pub(crate) fn of(command: &str) -> &'static [Example] {
    let known = EXAMPLES.iter().chain(steps::examples()).chain(graphs::examples()).find(|(name, _)| *name == command);
    known.map_or(&[], |(_, examples)| examples)
}

/// Those of a command, as its help ends.
pub(crate) fn text(command: &str) -> String {
    let lines: Vec<_> = of(command).iter().map(|(line, what)| format!("  # {what}\n  {line}")).collect();
    if lines.is_empty() { String::new() } else { format!("Examples:\n{}", lines.join("\n")) }
}
