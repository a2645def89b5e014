//! The generated matrices of full size are bitwise equal to those of the Python scripts.
//!
//! The numbers come from the scripts: arrays hashed as by `sparring_generate::fingerprint`, sums by
//! matrix-vector products.

use sparring_generate::{
    Checks, DISTANCE, GEN_PY, GRAPHS, SPGEMM, TRIANGLES, case, check_name, expected, fingerprint, matrix, queries,
};

/// Name, rows, columns, entries, fingerprint.
type Row = (&'static str, usize, usize, usize, u64, u64, u64);

#[rustfmt::skip]
const MATRICES: &[Row] = &[
    ("rmat14", 16384, 16384, 426200, 0x55cdd3e723c93253, 0x2bec36cd738388e0, 0xabb358667d0f6b4f),
    ("rmat15", 32768, 32768, 883420, 0xe879d9eb7ffa48fa, 0x583314b67c81de55, 0xf01303384497940e),
    ("rmat16", 65536, 65536, 956068, 0x5f5f1882f3993f8b, 0xea2524c3595f73cb, 0x2a6b992bf865f51c),
    ("er18d8", 262144, 262144, 2097116, 0x7ebc05f18998e68b, 0x737f3e23d2cd72e8, 0x6bdaf84de0ed2417),
    ("band100k_16", 100000, 100000, 3299728, 0x6e2cdc4a407be450, 0x43858df8e78fec4b, 0x3e8e2c8a324bc9c3),
    ("stencil27_60", 216000, 216000, 5639752, 0xc3bcaa1113f1399a, 0x4e7a73572174ccac, 0x2c5678c708c2be1a),
    ("lap2d_1000", 1000000, 1000000, 4996000, 0xf46c9c830156acdc, 0xcac6ad9bfc0079a8, 0xf53c6ab962ffa2cd),
    ("web18", 262144, 262144, 2696864, 0xbf0ab78f9cfa79bb, 0x94241158dc61deaf, 0x291aed3a9253ef19),
    ("rap100_R", 39304, 1000000, 2980000, 0x64dc7cc915a9f365, 0x02ba867210ddbd8b, 0x235c6e1954142b9f),
    ("rap100_A", 1000000, 1000000, 6940000, 0x5449cfbc5ffcb6aa, 0xd506e78dc7bf25c2, 0x44f88bcd2217b175),
    ("rap100_P", 1000000, 39304, 2980000, 0x945c7e51e14b304b, 0x2718053d9cb163aa, 0xcdddbf58b5bfe1c2),
    ("tc_rmat16", 65536, 65536, 1818614, 0x1edb02cb0d31f1c0, 0x2e9485a3d3a0becc, 0xb981aeec5a0809e5),
    ("tc_rmat17", 131072, 131072, 3729460, 0x9dabb20865420e5b, 0x11580c420babf40d, 0x423403d8ada38916),
    ("tc_rmat18", 262144, 262144, 7613204, 0xb278f0a840b732ba, 0xb8072453501b6a7f, 0x0a4eb37b3309360d),
    ("tc_rmat10", 1024, 1024, 21008, 0x381ae6a5486c1bd0, 0x43b35ccd12befabd, 0x0e6521b333a5db38),
    ("tc_web18", 262144, 262144, 5322558, 0x306120a61fa7fef2, 0xd7aa8b02b9a29186, 0x91b9b5f8a82b862a),
    ("kron14", 16384, 16384, 426200, 0x55cdd3e723c93253, 0x2bec36cd738388e0, 0xf81fbcb0abe74891),
    ("kron16", 65536, 65536, 1818614, 0x1edb02cb0d31f1c0, 0x2e9485a3d3a0becc, 0x0f12cac1e033fe2f),
    ("urand14", 16384, 16384, 523734, 0xac0f87253c560134, 0xa13aa1484dfe88cf, 0x1197f9d7f52dcd9e),
    ("urand16", 65536, 65536, 2096584, 0xe43cc829bb0ec76a, 0xff2057ed3b701432, 0x6572538249b69e03),
    ("grid1000", 1000000, 1000000, 3996000, 0xfcb2123d7ade6dc0, 0xd571a9b950db9ad0, 0xd6178bfebf9ff07e),
    ("gen_py/rmat14", 16384, 16384, 119880, 0x29f94310653d9a8b, 0x2051230cc49a7b3f, 0xe782072f3ee9b1d6),
    ("gen_py/rmat16", 65536, 65536, 494225, 0xc09c9b5ac64e41ac, 0xe4d198f4e11bec89, 0x29a1ad2167604a54),
    ("gen_py/rmat18", 262144, 262144, 2017374, 0x6c0e8ed2fbc65c60, 0xdd611301e77ea0d2, 0xb9bf22e39bbda7ff),
    ("gen_py/er18", 262144, 262144, 2097115, 0xa6b4d0f11898e1ed, 0x745722d2f382c8ee, 0x97bb7862bf03da5a),
    ("gen_py/er19", 524288, 524288, 4194271, 0x9cf6631d32e43cf3, 0xd117f9d4511bc847, 0x640a2ecf9be2475c),
    ("gen_py/er20", 1048576, 1048576, 8388570, 0x61337a7d6269fccd, 0x6766b17d10dd234c, 0x24a26d02e9dce33e),
    ("gen_py/st27_80", 512000, 512000, 13481272, 0x2f003fd7a1453178, 0xec6a86b14e55ddb2, 0x2215b58ddea405bb),
    ("gen_py/st27_100", 1000000, 1000000, 26463592, 0x9089250688d14687, 0x7b9065f3f498c7d5, 0x76ce2a83c8f48b5c),
    ("gen_py/lap2d_2000", 4000000, 4000000, 19992000, 0xfb98cf40c6a6b17d, 0xf7cfbd2cbd3c51f6, 0xf5c67d81e157e003),
    ("gen_py/lap3d_p", 1000000, 125000, 3307949, 0x36efab3bf874b994, 0x113d4b86b27f5ba1, 0xe9b6dfd2060c2ff2),
    ("gen_py/movielens_like", 20000, 26744, 2967294, 0xc97239dc07316b6f, 0xdea5c459ce4fcb09, 0x6b9a0cee8a87a665),
    ("gen_py/nytimes_like", 20000, 102660, 5225146, 0x451ee83fc3f9f9c7, 0x3376c3e7caa8c3b1, 0x3c9321cf7f56cb5d),
    ("gen_py/scrna_like", 8000, 26485, 16892511, 0x90defa3bc3499674, 0x91e0077ccf5806f2, 0xbb5e80dd42cd8988),
    ("movielens_like", 20000, 26744, 2967294, 0xc97239dc07316b6f, 0xdea5c459ce4fcb09, 0xe9a911eb4e4d8fbc),
    ("nytimes_like", 20000, 102660, 5225146, 0x451ee83fc3f9f9c7, 0x3376c3e7caa8c3b1, 0xef704d731b82fd83),
    ("scrna_like", 8000, 26485, 16892511, 0x90defa3bc3499674, 0x91e0077ccf5806f2, 0xb4384cc197771947),
];

/// Product, sum, weighted sum.
const PRODUCTS: &[(&str, f64, f64)] = &[
    ("rmat14", 156317843.3508997, 11392283923.553394),
    ("rmat15", 442936066.09490633, 31997575787.250336),
    ("rmat16", 402237335.4467397, 28492726620.793747),
    ("er18d8", 16768547.680251122, 1210091702.5471044),
    ("band100k_16", 108929964.81604223, 7846072763.812043),
    ("stencil27_60", 1794392.0, 127123841.0),
    ("lap2d_1000", 4008.0, 624379.0),
    ("web18", 28716584.73671046, 2070290183.0364137),
    ("rap100:AP", 53066.66666666682, 3767314.9999999967),
    ("rap100:RA", 53066.66666666666, 3785920.1111111115),
    ("rap100:RAP", 47704.29629629645, 3364397.641975308),
];

fn compare(wanted: impl Fn(&str) -> bool) {
    let mut met = 0;
    for &(name, nrows, ncols, nnz, row_ptr, col_idx, values) in MATRICES.iter().filter(|row| wanted(row.0)) {
        let a = matrix(name).unwrap();
        assert_eq!((a.nrows(), a.ncols(), a.nnz()), (nrows, ncols, nnz), "{name}");
        assert_eq!(fingerprint(&a), [row_ptr, col_idx, values], "{name}: row pointers, columns, values");
        met += 1;
    }
    assert!(met > 0);
}

#[test]
fn products_have_the_bits_of_bench_spgemm_py() {
    let other = |name: &str| name.starts_with("tc_") || name.ends_with("_like") || GRAPHS.contains(&name);
    compare(|name| !name.contains('/') && !other(name));
}

#[test]
fn graphs_have_the_bits_of_bench_spgemm_py() {
    compare(|name| name.starts_with("tc_"));
}

#[test]
fn weighted_graphs_have_the_bits_of_the_script() {
    compare(|name| GRAPHS.contains(&name));
}

#[test]
fn matrices_have_the_bits_of_gen_py() {
    compare(|name| name.starts_with("gen_py/"));
}

#[test]
fn sets_of_vectors_are_those_of_gen_py_in_single_precision() {
    compare(|name| DISTANCE.contains(&name));
    for name in DISTANCE {
        let a = matrix(name).unwrap();
        assert!(a.values().iter().all(|&x| f64::from(x as f32) == x), "{name}");
        assert!(queries(name).is_some_and(|rows| 0 < rows && rows < a.nrows()), "{name}");
    }
    assert_eq!(queries("rmat14"), None);
}

#[test]
fn every_name_is_compared() {
    for name in SPGEMM.iter().chain(TRIANGLES).chain(DISTANCE).chain(GEN_PY).filter(|name| **name != "rap100") {
        assert!(MATRICES.iter().any(|row| row.0 == *name), "{name}");
    }
    // Two sizes of each family are compared.
    for name in MATRICES.iter().map(|row| row.0).chain(["rap100"]).chain(GRAPHS.iter().copied()) {
        assert!(check_name(name).is_ok(), "{name}");
    }
    assert!(check_name("rmat99").is_err());
    let unknown = matrix("rmat99").unwrap_err().to_string();
    assert!(unknown.starts_with("case: no generated matrix is called 'rmat99'; there are rmat14, "), "{unknown}");
}

#[test]
fn products_have_the_sums_of_bench_spgemm_py() {
    for name in SPGEMM {
        let case = case(name).unwrap();
        for product in &case.products {
            let factors: Vec<_> = product.factors.iter().map(|&f| &case.matrices[f]).collect();
            let &(_, sum, wsum) = PRODUCTS.iter().find(|row| row.0 == product.name).unwrap();
            let found = expected(&factors).unwrap();
            assert!(
                found.agrees(&Checks { sum, wsum, sizes: found.sizes }),
                "{}: {found:?} instead of {sum}, {wsum}",
                product.name
            );
        }
    }
}
