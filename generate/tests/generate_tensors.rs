//! The generated tensors are bitwise equal to those of the Python scripts.
//!
//! The numbers come from numpy 2.4.6: dimensions and entries of the scripts, lists hashed as by
//! `sparring_generate::tensor_fingerprint`. With `generate` of `bench_tensor.py` and `tensor` of `gen.py`:
//! ```python
//! def s(z):                                # splitmix64, on arrays of uint64
//!     z = z + U(0x9E3779B97F4A7C15); z = (z ^ z >> U(30)) * U(0xBF58476D1CE4E5B9)
//!     z = (z ^ z >> U(27)) * U(0x94D049BB133111EB); return z ^ z >> U(31)
//! def h(w): return int(s(s(np.arange(len(w), dtype=U)) ^ w).sum(dtype=U))
//! dims, subs, vals = generate("uber", small=True)
//! print([hex(h(c.astype(U))) for c in subs.T], hex(h(vals.view(U))))
//! ```
//! They are the same if numpy uses the power of the C library (`NPY_DISABLE_CPU_FEATURES` without AVX-512).

use sparring::tensor::Tensor;
use sparring_generate::bench_tensor::factors;
use sparring_generate::{GEN_PY_TENSORS, TENSORS, gen_py, tensor, tensor_fingerprint};

/// Name, dimensions, entries, fingerprint.
type Row = (&'static str, &'static [usize], usize, &'static [u64]);

#[rustfmt::skip]
const SMALL: &[Row] = &[
    ("planted", &[60, 50, 40], 120_000, &[0x6d78_b696_b3d6_85b0, 0x3c5f_ec3f_10ee_359f, 0x0126_82d9_ecf2_3652, 0x3833_689d_fd1f_5425]),
    ("small/random10m", &[30_000, 40_000, 50_000], 1_000_000, &[0x0075_7abe_5d86_8536, 0x5a3d_813d_4aa9_f6ad, 0x7ca7_f74f_a4b9_7e62, 0x2af2_7988_cf2c_da06]),
    ("small/random3m", &[30_000, 40_000, 50_000], 300_000, &[0xedcd_a4f6_bdb3_8a6c, 0x702f_7510_a143_8af0, 0x8ad3_b42d_637b_7d5e, 0x9875_fb8e_62ca_8932]),
    ("small/uber", &[183, 24, 1140, 1717], 330_949, &[0xf4b9_9d35_31aa_59bb, 0x3dbb_bf14_de64_8247, 0x45a5_018f_3df6_51a8, 0x2940_9fb8_3b71_9e1a, 0xfa5e_806e_4221_3d70]),
    ("small/nell2", &[12_092, 9184, 28_818], 1_000_000, &[0xea5f_0d3c_d10c_e28a, 0x6318_678f_25dd_694f, 0x506a_1b29_11aa_46d3, 0x59f8_6031_b920_6a22]),
    ("small/enron", &[6066, 5699, 244_268, 1176], 600_000, &[0x9edc_9d72_13f9_0294, 0x3d6d_1724_d785_59cb, 0x5d01_3d97_e2cc_a886, 0xa9a9_4548_3a71_6d1b, 0x7d2f_1fcc_7c3b_5619]),
    ("small/lbnl", &[1605, 4198, 1631, 4209, 868_131], 169_882, &[0xbfa5_9a0c_ac3e_0359, 0xbcdd_c9d6_8c71_b525, 0xe981_2685_4744_b9e7, 0x8c92_e799_c621_b653, 0x81ca_3174_7a9b_e95b, 0x1900_a119_ef9a_6da1]),
    ("small/vast", &[165_427, 11_374, 2, 100, 89], 500_000, &[0x3759_2d12_9842_dd59, 0x7554_ccfb_d566_8aa3, 0x04f6_6b1e_bc42_4175, 0xbb9f_a8ee_5fff_7805, 0x82f1_3929_fb27_1668, 0x76c5_5a75_2469_73d9]),
];

#[rustfmt::skip]
const FULL: &[Row] = &[
    ("random10m", &[30_000, 40_000, 50_000], 10_000_000, &[0x9161_0c69_dfb0_5a21, 0x092a_3630_80ad_e95a, 0x7163_10c7_d820_6908, 0x83f7_bd24_0a6e_8a93]),
    ("random3m", &[30_000, 40_000, 50_000], 3_000_000, &[0x53f9_8454_009b_25fe, 0x4f60_7b59_1293_cbac, 0xf89f_fe40_7c22_763c, 0x051f_0e4c_df9c_6774]),
    ("uber", &[183, 24, 1140, 1717], 3_309_490, &[0xfd22_4b57_f47b_d66a, 0x486a_2f70_9c87_11ef, 0x0863_e52c_fc3c_59e2, 0x76d6_4e41_be3e_8bf3, 0x2702_1d7c_34bf_4478]),
    ("nell2", &[12_092, 9184, 28_818], 10_000_000, &[0xf99f_2fa9_31af_151a, 0x08af_e587_b099_fbb3, 0x0ae8_b7b3_11db_a399, 0x77ce_2ed0_cca1_a213]),
    ("enron", &[6066, 5699, 244_268, 1176], 6_000_000, &[0x5e85_4b06_439b_4357, 0xb416_bda7_54d7_aaad, 0x874a_af1d_0467_0482, 0x62f5_40da_aded_7d72, 0x03b3_3eec_8418_862a]),
    ("lbnl", &[1605, 4198, 1631, 4209, 868_131], 1_698_825, &[0x813e_eb75_ca06_efb4, 0x3702_08e7_400e_f88f, 0xc312_be2c_9379_3e69, 0x8a56_a50d_fb76_9670, 0x96b5_40b4_e6da_3477, 0x70fb_f90c_5044_fba9]),
    ("vast", &[165_427, 11_374, 2, 100, 89], 5_000_000, &[0xb3e9_09f7_d823_6a5e, 0x6de6_f6cb_a28f_5c23, 0x0f68_ada7_5d7f_5799, 0xd95e_e8db_0dd1_3bf2, 0xf7c9_54b6_2baf_2257, 0x7d51_0d79_aec7_1129]),
    ("gen_py/unif3", &[30_000, 40_000, 50_000], 9_999_998, &[0x0d7c_116e_c5fd_8bdf, 0x5ab2_2e54_7542_d0fb, 0x3c73_0744_92e6_514e, 0xe205_3a29_6658_07c6]),
    ("gen_py/nell2", &[12_092, 9184, 28_818], 35_993_083, &[0x2e1a_7337_60b2_af59, 0x560a_b535_7619_e6dc, 0x74ac_d1e4_c429_0255, 0x291f_a35e_bcf9_e90f]),
    ("gen_py/vast5", &[165_427, 11_374, 2, 100, 89], 25_999_965, &[0x0070_e7ae_53d3_8c00, 0xadd2_64ee_9339_2f8d, 0xee4a_a486_0052_9d6c, 0x26a5_d915_f304_e06e, 0x3d5a_78b9_71e9_8ea5, 0x02d3_1e3b_d64f_4036]),
    ("gen_py/enron", &[6066, 5699, 244_268, 1176], 53_976_644, &[0x774e_6ffc_818e_9733, 0xd379_a987_4d9a_81e7, 0x0b75_5964_7a13_99a9, 0xb141_3a17_f238_0717, 0x27ea_16f9_6359_9693]),
];

/// Tensors of `gen.py` with a hundredth of the draws.
#[rustfmt::skip]
const HUNDREDTHS: &[Row] = &[
    ("gen_py/unif3", &[30_000, 40_000, 50_000], 100_000, &[0xed3d_5c14_753d_1c24, 0x2d24_77a9_4c9d_eaa0, 0xc326_2648_a597_7659, 0xabd1_4d4f_8c85_bfd4]),
    ("gen_py/nell2", &[12_092, 9184, 28_818], 359_999, &[0x8490_df25_165e_fbb9, 0x766b_7afa_48f7_9b1a, 0x28ba_9494_69f5_b598, 0x8a65_d8c3_d4cb_4388]),
    ("gen_py/enron", &[6066, 5699, 244_268, 1176], 539_992, &[0xdaf4_6ba0_b66e_3103, 0x0328_3609_d48f_aa86, 0x9cef_a258_0243_d1b6, 0x95a4_b6b9_78e1_dffd, 0x405f_9be9_56ce_e0bf]),
    ("gen_py/vast5", &[165_427, 11_374, 2, 100, 89], 260_000, &[0x5012_b69b_4757_5970, 0x38a5_cb52_d7a4_f603, 0x0555_5bf2_0572_5dbe, 0x11eb_a20f_491a_916d, 0x9974_e672_39dd_2383, 0x4329_170f_1e73_3e9a]),
];

/// Dimensions, rank, fingerprint of each factor, seed 7.
#[rustfmt::skip]
const FACTORS: &[(&[usize], usize, &[u64])] = &[
    (&[5, 201, 61], 3, &[0xcc45_94bc_a92a_a5f9, 0x46ad_6875_b13f_c215, 0x1650_1dce_57ec_9940]),
    (&[60_114, 83_826, 23_034, 1132], 16, &[0x3230_b544_d32e_a989, 0x6ce9_98f2_8697_45da, 0xa535_d45c_1132_b177, 0x9152_4c97_f470_2348]),
];

#[track_caller]
fn same(x: &Tensor<f64>, &(name, dims, nnz, bits): &Row) {
    assert_eq!((x.dims(), x.nnz()), (dims, nnz), "{name}");
    assert_eq!(tensor_fingerprint(x), bits, "{name}: indices of each mode, values");
}

#[test]
fn small_tensors_have_the_bits_of_bench_tensor_py() {
    for row in SMALL {
        same(&tensor(row.0).unwrap(), row);
    }
}

#[test]
fn tensors_of_few_draws_have_the_bits_of_gen_py() {
    let draws = [(100_000, 11, 0.0), (360_000, 21, 1.0), (540_000, 31, 2.0), (260_000, 41, 0.5)];
    for (row, (draws, seed, skew)) in HUNDREDTHS.iter().zip(draws) {
        let dims: Vec<u64> = row.1.iter().map(|&n| n as u64).collect();
        same(&gen_py::tensor(&dims, draws, seed, skew).unwrap(), row);
    }
}

fn full(name: &str) {
    same(&tensor(name).unwrap(), FULL.iter().find(|row| row.0 == name).unwrap());
}

#[test]
fn tensors_of_full_size_have_the_bits_of_the_scripts() {
    ["random3m", "uber", "lbnl", "gen_py/unif3"].into_iter().for_each(full);
}

#[test]
#[ignore = "takes minutes and gigabytes: the other tensors of full size"]
fn the_largest_tensors_have_the_bits_of_the_scripts() {
    for (name, ..) in FULL {
        let started = std::time::Instant::now();
        full(name);
        println!("{name}: {:.2} s with its fingerprint", started.elapsed().as_secs_f64());
    }
}

#[test]
fn factors_have_the_bits_of_bench_tensor_py() {
    for (dims, rank, bits) in FACTORS {
        let found = factors(dims, *rank, 7).unwrap();
        assert_eq!(found.len(), dims.len());
        for ((a, &n), &bits) in found.iter().zip(*dims).zip(*bits) {
            assert_eq!(a.shape(), (n, *rank));
            // As a tensor of one mode.
            let list: Vec<u32> = (0..a.values().len() as u32).collect();
            let x = Tensor::new(vec![list.len()], vec![list], a.values().to_vec()).unwrap();
            assert_eq!(tensor_fingerprint(&x)[1], bits, "{n} × {rank}");
        }
    }
}

#[test]
fn a_fingerprint_sees_each_bit_and_the_order() {
    let x = tensor("planted").unwrap();
    let (dims, indices, values) = x.clone().into_parts();
    let bits = tensor_fingerprint(&x);
    for e in [0, 1, 77_777, 119_999] {
        let mut other = values.clone();
        other[e] = f64::from_bits(other[e].to_bits() ^ 1);
        let found = tensor_fingerprint(&Tensor::new(dims.clone(), indices.clone(), other).unwrap());
        assert!(found[..3] == bits[..3] && found[3] != bits[3]);
        let mut other = indices.clone();
        other[2][e] ^= 1;
        let found = tensor_fingerprint(&Tensor::new(dims.clone(), other, values.clone()).unwrap());
        assert!(found[2] != bits[2] && found[0] == bits[0] && found[3] == bits[3]);
    }
    let mut other = values.clone();
    other.swap(5, 6);
    assert_ne!(tensor_fingerprint(&Tensor::new(dims, indices, other).unwrap())[3], bits[3]);
}

#[test]
fn every_name_is_compared() {
    for name in TENSORS.iter().filter(|name| **name != "planted") {
        assert!(SMALL.iter().any(|row| row.0.strip_prefix("small/") == Some(name)), "{name}");
        assert!(FULL.iter().any(|row| row.0 == *name), "{name}");
    }
    assert!(GEN_PY_TENSORS.iter().all(|name| FULL.iter().any(|row| row.0 == *name)));
    // A full tensor is not reduced.
    assert!(tensor("small/planted").unwrap() == tensor("planted").unwrap());
    for name in ["delicious", "small/delicious", "small/gen_py/unif3", "small/", "small/small/uber", ""] {
        let unknown = tensor(name).unwrap_err().to_string();
        assert!(unknown.starts_with(&format!("case: no generated tensor is called '{name}'; there are random10m, ")));
    }
    let error = gen_py::tensor(&[1 << 31, 1 << 31, 5], 10, 1, 0.0).unwrap_err().to_string();
    assert_eq!(error, "dims: [2147483648, 2147483648, 5] have more than 2⁶⁴ elements");
    assert!(gen_py::tensor(&[3, 0], 10, 1, 0.0).is_err());
}

/// With `np_data` of `bench_contract.py`: for each array, the sum of the bits of element i times 2i + 1.
#[test]
fn arrays_of_contractions_have_the_bits_of_bench_contract_py() {
    fn sum(bits: impl Iterator<Item = u64>) -> u64 {
        let odd = (1u64..).step_by(2);
        bits.zip(odd).fold(0, |sum, (bits, odd)| sum.wrapping_add(bits.wrapping_mul(odd)))
    }
    let double = |arrays: [Vec<f64>; 3]| arrays.map(|a| sum(a.iter().map(|x| x.to_bits())));
    let single = |arrays: [Vec<f32>; 3]| arrays.map(|a| sum(a.iter().map(|x| x.to_bits().into())));
    use sparring_generate::bench_contract::{elements, elements_f32, gemm, gemm_f32};
    assert_eq!(double(gemm(5, 70).unwrap()), [0xd4d2_3c31_37e1_0776, 0xe7b7_3769_6143_66b0, 0x683d_f652_75ec_65c0]);
    assert_eq!(
        double(elements(3, 4, 5, 9).unwrap()),
        [0x2b6e_ab92_142b_ed65, 0x70f4_0e07_b639_a8d4, 0x0d00_2a07_7ea3_1a18]
    );
    assert_eq!(
        double(elements(2, 3, 4, 9).unwrap()),
        [0xe223_8989_dd92_d83b, 0x10dc_cb5a_e781_1f1e, 0x3df2_3363_e70f_659e]
    );
    assert_eq!(single(gemm_f32(5, 70).unwrap()), [0x16_e40a_bff8_30ea, 0x16_8573_918c_b427, 0x16_bea5_c6bc_6175]);
    assert_eq!(single(elements_f32(3, 4, 5, 9).unwrap()), [0xae_5f35_a6d0, 0x4_c91c_ec0e_18f8, 0x2_7815_7865_d2ea]);
    assert_eq!(single(elements_f32(2, 3, 4, 9).unwrap()), [0x41_720c_c849, 0x1411_2776_a3e2, 0x0e04_79c8_6ce0]);
}
