//! Parsing throughput: Matrix Market text to entries and to CSR, FROSTT text to a tensor.
//!
//! `throughput` is bytes of text per second. The files are generated: `SPARRING_READ_MB` sets their size
//! (default 100), rayon's `RAYON_NUM_THREADS` the threads.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use flate2::Compression;
use flate2::write::GzEncoder;
use sparring::io::{
    Duplicates, FrosttOptions, WriteOptions, parse_frostt_with, parse_matrix_market, write_frostt_to,
    write_matrix_market_to,
};

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// About `bytes` of text: a matrix of a million rows with entries sorted by rows, as in most files.
fn generated(kind: &str, bytes: usize) -> Vec<u8> {
    let (field, symmetry) = kind.split_once(' ').unwrap();
    let n = 1_000_000;
    let mut state = 1;
    let mut body = String::with_capacity(bytes + 64);
    let mut stored = 0usize;
    let per_row = bytes / n / if field == "real" { 33 } else { 14 } + 1;
    'rows: for i in 1..=n {
        for _ in 0..per_row {
            if body.len() >= bytes {
                break 'rows;
            }
            let bound = if symmetry == "general" { n } else { i };
            let j = splitmix64(&mut state) % bound as u64 + 1;
            let bits = splitmix64(&mut state) >> 11;
            match field {
                "pattern" => writeln!(body, "{i} {j}").unwrap(),
                "integer" => writeln!(body, "{i} {j} {}", bits % 100_000).unwrap(),
                // 17 digits, as written for an exact round trip.
                _ => writeln!(body, "{i} {j} {:.16e}", bits as f64 / (1u64 << 53) as f64 - 0.5).unwrap(),
            }
            stored += 1;
        }
    }
    format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {stored}\n{body}").into_bytes()
}

fn read(c: &mut Criterion) {
    let megabytes = std::env::var("SPARRING_READ_MB").ok().and_then(|s| s.parse().ok()).unwrap_or(100);
    println!("{} threads, {megabytes} MB of text each", rayon::current_num_threads());
    let mut group = c.benchmark_group("read");
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(4));
    for kind in ["pattern general", "pattern symmetric", "integer general", "real general"] {
        let text = generated(kind, megabytes * 1_000_000);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("parse", kind), |t| {
            t.iter(|| parse_matrix_market(&text, "generated").unwrap());
        });
        let file = parse_matrix_market(&text, "generated").unwrap();
        group
            .bench_function(BenchmarkId::new("entries with symmetry", kind), |t| t.iter(|| file.coo::<f64>().unwrap()));
        if kind == "pattern general" {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(&text).unwrap();
            let packed = packed.finish().unwrap();
            group.bench_function(BenchmarkId::new("parse .gz", kind), |t| {
                t.iter(|| parse_matrix_market(&packed, "generated").unwrap());
            });
        }
        if kind == "real general" {
            let a = file.csr::<f64>().unwrap();
            group.bench_function(BenchmarkId::new("write", kind), |t| {
                t.iter(|| write_matrix_market_to(&mut std::io::sink(), &a, &WriteOptions::new()).unwrap());
            });
        }
    }
    group.finish();
}

/// `small/…` of the generated tensors, sorted (uber, lbnl) and unsorted, with and without a check for duplicates.
fn read_frostt(c: &mut Criterion) {
    let mut group = c.benchmark_group("read FROSTT");
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(4));
    for name in ["small/uber", "small/lbnl", "small/random10m"] {
        let x = sparring_generate::tensor(name).expect("a generated tensor");
        let mut text = Vec::new();
        write_frostt_to(&mut text, &x, &WriteOptions::new()).unwrap();
        group.throughput(Throughput::Bytes(text.len() as u64));
        for (kind, duplicates) in [("sum", Duplicates::Sum), ("keep", Duplicates::Keep)] {
            let options = FrosttOptions::new().duplicates(duplicates);
            group.bench_function(BenchmarkId::new(kind, name), |t| {
                t.iter(|| parse_frostt_with::<f64>(&text, "generated", &options).unwrap());
            });
        }
        group.bench_function(BenchmarkId::new("write", name), |t| {
            t.iter(|| write_frostt_to(&mut std::io::sink(), &x, &WriteOptions::new()).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, read, read_frostt);
criterion_main!(benches);
