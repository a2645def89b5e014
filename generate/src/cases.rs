//! Generated matrices and products by name.

use super::bench_spgemm::{Rmat, banded, er, galerkin, lap2d, stencil27, symmetrized, weblike};
use super::shapes::{self, SHAPES};
use super::{bench_tensor, gen_py, graphs};
use sparring::tensor::Tensor;
use sparring::{Csr, Error, Result};

/// Names of the benchmark products: A·A, and R·A·P for `rap100`.
pub const SPGEMM: &[&str] =
    &["rmat14", "rmat15", "rmat16", "er18d8", "band100k_16", "stencil27_60", "lap2d_1000", "web18", "rap100"];
/// Names of the graphs of the triangle counting benchmarks.
pub const TRIANGLES: &[&str] = &["tc_rmat10", "tc_rmat16", "tc_rmat17", "tc_rmat18", "tc_web18"];
/// Names of the weighted graphs of the graph algorithm benchmarks; see [`graphs`].
pub const GRAPHS: &[&str] = &[
    "kron14", "kron15", "kron16", "kron17", "kron18", "kron19", "kron20", "kron21", "kron22", "urand14", "urand15",
    "urand16", "urand17", "urand18", "urand19", "urand20", "urand21", "urand22", "grid1000",
];
/// Names of the matrices of the other family, [`gen_py`].
pub const GEN_PY: &[&str] = &[
    "gen_py/rmat14",
    "gen_py/rmat16",
    "gen_py/rmat18",
    "gen_py/er18",
    "gen_py/er19",
    "gen_py/er20",
    "gen_py/st27_80",
    "gen_py/st27_100",
    "gen_py/lap2d_2000",
    "gen_py/lap3d_p",
    "gen_py/movielens_like",
    "gen_py/nytimes_like",
    "gen_py/scrna_like",
];

/// Names of the vector sets, one vector per row, of the distance benchmarks: those of [`gen_py`] with values rounded to
/// f32, so that they are exact in either precision. [`queries`] gives the number of query rows.
pub const DISTANCE: &[&str] = &["movielens_like", "nytimes_like", "scrna_like"];

/// Names of the benchmark tensors of [`bench_tensor`]. With the prefix `small/`, a tensor has a tenth of its
/// entries.
pub const TENSORS: &[&str] = &["random10m", "random3m", "uber", "nell2", "enron", "lbnl", "vast", "planted"];
/// Names of the tensors of the other family, [`gen_py`].
pub const GEN_PY_TENSORS: &[&str] = &["gen_py/unif3", "gen_py/nell2", "gen_py/enron", "gen_py/vast5"];

/// A product of some of the matrices of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Name in results.
    pub name: String,
    /// Positions of the factors in [`Case::matrices`], from the left.
    pub factors: Vec<usize>,
}

/// Input of a product benchmark.
#[derive(Clone, Debug)]
pub struct Case {
    /// The matrices.
    pub matrices: Vec<Csr<f64>>,
    /// The products.
    pub products: Vec<Product>,
}

/// The products called `name`: A·A for a matrix; A·P, R·A and R·A·P for `rap100`; the product of the two factors for
/// one of [`SHAPES`].
/// # Errors
/// Those of [`matrix`].
pub fn case(name: &str) -> Result<Case> {
    let product =
        |suffix: &str, factors: &[usize]| Product { name: format!("{name}{suffix}"), factors: factors.into() };
    Ok(match name {
        "rap100" => Case {
            matrices: galerkin(100)?.into(),
            products: vec![product(":AP", &[1, 2]), product(":RA", &[0, 1]), product(":RAP", &[0, 1, 2])],
        },
        _ => match shapes::factors(name)? {
            Some(factors) => Case { matrices: factors.into(), products: vec![product("", &[0, 1])] },
            None => Case { matrices: vec![matrix(name)?], products: vec![product("", &[0, 0])] },
        },
    })
}

/// Number of query rows x of d(x, y) in the set called `name`, starting with the first; every row is a y. `None` if it
/// is not one of [`DISTANCE`].
#[must_use]
pub fn queries(name: &str) -> Option<usize> {
    match name {
        "movielens_like" | "nytimes_like" => Some(4096),
        "scrna_like" => Some(2048),
        _ => None,
    }
}

/// The matrix called `name`: one of [`SPGEMM`], [`TRIANGLES`], [`GRAPHS`], [`DISTANCE`], [`GEN_PY`], or `rap100_R`,
/// `rap100_A`, `rap100_P` for the factors of `rap100`.
/// # Errors
/// [`Error::Argument`] if there is no such name; [`Error::OutOfMemory`].
pub fn matrix(name: &str) -> Result<Csr<f64>> {
    match name {
        "rmat14" => Rmat::new(14, 16).matrix(),
        "rmat15" => Rmat::new(15, 16).matrix(),
        "rmat16" => Rmat::new(16, 8).matrix(),
        "er18d8" => er(1 << 18, 8, 2),
        "band100k_16" => banded(100_000, 16),
        "stencil27_60" => stencil27(60),
        "lap2d_1000" => lap2d(1000),
        "web18" => weblike(1 << 18, 3),
        "rap100_R" => galerkin(100).map(|[r, _, _]| r),
        "rap100_A" => galerkin(100).map(|[_, a, _]| a),
        "rap100_P" => galerkin(100).map(|[_, _, p]| p),
        "tc_rmat10" => Rmat::new(10, 16).matrix(),
        "tc_rmat16" => Rmat::new(16, 16).matrix(),
        "tc_rmat17" => Rmat::new(17, 16).matrix(),
        "tc_rmat18" => Rmat::new(18, 16).matrix(),
        "tc_web18" => symmetrized(&weblike(1 << 18, 3)?),
        "grid1000" => graphs::grid(1000),
        "movielens_like" => single_precision(matrix("gen_py/movielens_like")?),
        "nytimes_like" => single_precision(matrix("gen_py/nytimes_like")?),
        "scrna_like" => single_precision(matrix("gen_py/scrna_like")?),
        "gen_py/rmat14" => gen_py::rmat(14, 8, 1),
        "gen_py/rmat16" => gen_py::rmat(16, 8, 1),
        "gen_py/rmat18" => gen_py::rmat(18, 8, 1),
        "gen_py/er18" => gen_py::er(1 << 18, 8, 2),
        "gen_py/er19" => gen_py::er(1 << 19, 8, 2),
        "gen_py/er20" => gen_py::er(1 << 20, 8, 2),
        "gen_py/st27_80" => gen_py::stencil27(80, 3),
        "gen_py/st27_100" => gen_py::stencil27(100, 3),
        "gen_py/lap2d_2000" => gen_py::lap2d(2000, 4),
        "gen_py/lap3d_p" => gen_py::interp3d(100),
        "gen_py/movielens_like" => gen_py::docs(20_000, 26_744, 200, 51, 1.0),
        "gen_py/nytimes_like" => gen_py::docs(20_000, 102_660, 350, 61, 1.0),
        "gen_py/scrna_like" => gen_py::docs(8_000, 26_485, 3_000, 71, 0.5),
        _ if GRAPHS.contains(&name) => {
            let (family, scale) = name.split_at(name.len() - 2);
            let scale = scale.parse().map_err(|_| unknown(name))?;
            if family == "kron" { graphs::kron(scale) } else { graphs::urand(scale) }
        }
        _ => Err(unknown(name)),
    }
}

/// The tensor called `name`: one of [`TENSORS`], with or without the prefix `small/`, or of [`GEN_PY_TENSORS`].
/// # Errors
/// [`Error::Argument`] if there is no such name; [`Error::OutOfMemory`].
pub fn tensor(name: &str) -> Result<Tensor<f64>> {
    match name {
        "gen_py/unif3" => gen_py::tensor(&[30_000, 40_000, 50_000], 10_000_000, 11, 0.0),
        "gen_py/nell2" => gen_py::tensor(&[12_092, 9184, 28_818], 36_000_000, 21, 1.0),
        "gen_py/enron" => gen_py::tensor(&[6066, 5699, 244_268, 1176], 54_000_000, 31, 2.0),
        "gen_py/vast5" => gen_py::tensor(&[165_427, 11_374, 2, 100, 89], 26_000_000, 41, 0.5),
        _ => {
            let (full, small) = name.strip_prefix("small/").map_or((name, false), |full| (full, true));
            if TENSORS.contains(&full) { bench_tensor::named(full, small) } else { Err(no_tensor(name)) }
        }
    }
}

fn no_tensor(name: &str) -> Error {
    let known = TENSORS.iter().chain(GEN_PY_TENSORS).copied().collect::<Vec<_>>().join(", ");
    let message =
        format!("no generated tensor is called '{name}'; there are {known}, and small/ before the first of them");
    Error::Argument { name: "case", message }
}

/// `a` with every value rounded to the nearest f32.
fn single_precision(mut a: Csr<f64>) -> Result<Csr<f64>> {
    a.values_mut().iter_mut().for_each(|x| *x = f64::from(*x as f32));
    Ok(a)
}

/// Whether the name is a product of several factors, available only through [`case`].
#[must_use]
pub fn is_product(name: &str) -> bool {
    name == "rap100" || SHAPES.contains(&name)
}

/// Checks that [`matrix`] or [`case`] knows the name, without generating anything.
/// # Errors
/// [`Error::Argument`], listing the names.
pub fn check_name(name: &str) -> Result<()> {
    if is_product(name) || matrices().any(|known| known == name) { Ok(()) } else { Err(unknown(name)) }
}

fn matrices() -> impl Iterator<Item = &'static str> {
    let products = SPGEMM.iter().filter(|name| **name != "rap100");
    products
        .chain(&["rap100_R", "rap100_A", "rap100_P"])
        .chain(TRIANGLES)
        .chain(GRAPHS)
        .chain(DISTANCE)
        .chain(GEN_PY)
        .copied()
}

fn unknown(name: &str) -> Error {
    let known = matrices().collect::<Vec<_>>().join(", ");
    Error::Argument { name: "case", message: format!("no generated matrix is called '{name}'; there are {known}") }
}
