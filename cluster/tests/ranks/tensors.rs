//! Distributed tensors: reading, assembly, and CP-ALS.

use sparring::Cpu;
use sparring::factor::CpAls;
use sparring::io::{Duplicates, FrosttOptions, parse_frostt_with};
use sparring::tensor::{AnyTensor, Tensor};
use sparring_cluster::Cluster;

use crate::factor::drawn;
use crate::files::{folder, gzip, put, together};
use crate::products::Draw;

pub(crate) fn all(cluster: &Cluster) {
    files(cluster);
    built(cluster);
    decomposed(cluster);
}

/// The tensor read with these options.
fn read(text: &[u8], name: &str, options: &FrosttOptions<'_>) -> sparring::Result<AnyTensor<f64>> {
    let x = parse_frostt_with::<f64>(text, name, options)?;
    let threads = sparring::par::Threads::current();
    let plus = sparring::algebra::Plus::new();
    match x {
        AnyTensor::Narrow(x) => x.summed(&threads, plus)?.any(),
        AnyTensor::Wide(x) => x.summed(&threads, plus)?.any(),
    }
}

fn files(cluster: &Cluster) {
    let folder = folder(cluster);
    let path = folder.join("a.tns");
    let name = path.display().to_string();
    let entry =
        |k: usize| format!("{} {} {} {}.25\n", 7 * k % 23 + 1, 5 * k % 19 + 1, k % 4 + 1, "1".repeat(k % 6 + 1));
    let lines: String = (0..60).map(entry).collect();
    let twice = format!("{lines}{}{lines}", "2 3 4 0.1\n".repeat(3));
    let texts = [
        lines.clone(),
        lines.trim_end().into(),
        lines.replace('\n', "\r\n"),
        format!("# of all\n# kinds\n\n{}", lines.replace("\n1", "\n# in the middle\n\n  1")),
        format!("# {}\n1 1 1 2", "long ".repeat(3000)),
        twice.clone(),
        twice.replace("\n2 3 4", "\n# c\n\n2 3 4"),
        format!("sptensor\n3\n30 20 10\n60\n{lines}"),
        format!("# c\nsptensor\n\n3\n30 20 10\n60\n# c\n{lines}"),
        format!("3 60\n30 20 10\n{lines}"),
        format!("3\n30 20 10\n{lines}"),
        "3 0\n30 20 10\n".into(),
        "sptensor\n3\n3 2 1\n0\n".into(),
        "1 2 3 4\n1 2 3 5\n2 2 2 2".into(),
        "5 1.5\n3 2.5\n".into(),
        "2 5000000000 1 1.5\n2 4000000000 7 2.5\n2 5000000000 1 1\n".into(),
        lines.replace("1 ", "0 "),
        // Refused, whichever rank sees it.
        format!("{lines}1 x 1 1\n"),
        format!("{lines}1 1 1\n"),
        format!("{lines}1 1 1 1 1\n"),
        format!("{lines}0 1 1 1\n"),
        format!("{lines}{lines}1 1 -1 2\n{lines}"),
        format!("3 61\n30 20 10\n{lines}"),
        format!("sptensor\n3\n30 20 10\n59\n{lines}"),
        format!("sptensor\n3\n20 20 10\n60\n{lines}"),
        format!("sptensor\n3\n20 20\n60\n{lines}"),
        format!("x 1\n{lines}"),
        "1\n".into(),
        "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n".into(),
        "# nothing\n".into(),
        String::new(),
    ];
    let plain = FrosttOptions::new();
    let options = [
        plain,
        plain.duplicates(Duplicates::Refuse),
        plain.duplicates(Duplicates::Keep),
        plain.dims(&[30, 20, 10]),
        plain.dims(&[23, 19, 4]).duplicates(Duplicates::Refuse),
        plain.dims(&[0, 2, 2]),
        plain.values(false),
        plain.values(false).dims(&[50, 50, 50, 50]),
        plain.zero_based(true).duplicates(Duplicates::Refuse),
        plain.lenient(true),
        plain.max_bytes(1),
    ];
    let mut good = 0;
    for (case, text) in texts.iter().enumerate() {
        for packed in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            put(cluster, &path, &packed);
            for (number, options) in options.iter().enumerate() {
                let what = format!("text {case}, options {number}");
                match (read(text.as_bytes(), &name, options), cluster.read_frostt::<f64>(&path, options)) {
                    (Ok(here), Ok(there)) => {
                        good += 1;
                        assert_eq!((here.dims(), here.nnz()), (there.dims(), there.nnz()), "{what}");
                        assert_eq!(here, there.download().unwrap(), "{what}: bits");
                    }
                    (Err(here), Err(there)) => {
                        let (here, there) = (here.to_string(), there.to_string());
                        let own = there.starts_with(&format!("{name}:")) && cluster.rank() > 0;
                        // The first line is parsed separately.
                        let is_other = ["header", "an entry is", "budget"]
                            .iter()
                            .any(|word| here.contains(word) || there.contains(word));
                        assert!(own || is_other || there.ends_with(&here), "{what}: {here}\n{there}");
                    }
                    (here, there) => panic!("{what}: {:?} and {:?}", here.map(drop), there.map(drop)),
                }
            }
        }
    }
    assert!(good > 100, "{good}");
    // Errors for duplicates have line numbers on all ranks.
    put(cluster, &path, twice.as_bytes());
    let message = cluster.read_frostt::<f64>(&path, &options[1]).map(drop).unwrap_err().to_string();
    assert!(message.contains(":62:1: entry (2, 3, 4) is in the file already, in line 61"), "{message}");
    // Several blocks of compressed text.
    let lines: String = (0..600_000u64)
        .map(|k| format!("{} {} {} 0.{k}\n", k % 71 + 1, k * 13 % 97 + 1, k * 7919 % 30011 + 1))
        .collect();
    put(cluster, &path, &gzip(lines.as_bytes()));
    let here = read(lines.as_bytes(), "it", &plain).unwrap();
    let there = cluster.read_frostt::<f64>(&path, &plain).unwrap();
    assert_eq!(here, there.download().unwrap(), "blocks");
    assert!(there.block_nnz() <= there.nnz() * 3 / 2 / cluster.size() + 10_000, "{}", there.block_nnz());
    put(cluster, &path, &gzip(format!("{lines}1 1 x 1\n").as_bytes()));
    let message = cluster.read_frostt::<f64>(&path, &plain).map(drop).unwrap_err().to_string();
    assert!(message.contains(":600001:5:"), "{message}");
    let missing = cluster.read_frostt::<f64>(folder.join("missing"), &plain);
    assert!(missing.map(drop).unwrap_err().to_string().contains("missing"));
    together(cluster);
    if cluster.rank() == 0 {
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

fn built(cluster: &Cluster) {
    let (rank, ranks) = (cluster.rank(), cluster.size());
    let threads = sparring::par::Threads::current();
    for (case, (dims, count)) in
        [(vec![4, 3], 0), (vec![0, 3], 0), (vec![1, 1, 1], 9), (vec![40, 3, 50, 2], 500)].into_iter().enumerate()
    {
        let mut draw = Draw::new(case as u64 + 5);
        let lists: Vec<Vec<u64>> = dims.iter().map(|&n| (0..count).map(|_| draw.below(n) as u64).collect()).collect();
        let values: Vec<f64> = (0..count).map(|_| draw.real()).collect();
        let whole = Tensor::new(dims.clone(), lists.clone(), values.clone()).unwrap();
        let whole = whole.summed(&threads, sparring::algebra::Plus::new()).unwrap().any().unwrap();
        let mine = count * rank / ranks..count * (rank + 1) / ranks;
        let of = |list: &Vec<u64>| list[mine.clone()].to_vec();
        let there = cluster.build_tensor(dims.clone(), lists.iter().map(of).collect(), values[mine.clone()].to_vec());
        assert_eq!(there.unwrap().download().unwrap(), whole, "{dims:?}");
    }
    // An invalid contribution of one rank is an error on all.
    let wrong = if rank + 1 == ranks { 9 } else { 0u32 };
    let made = cluster.build_tensor(vec![9, 2], vec![vec![wrong], vec![0]], vec![1.0]);
    assert!(made.map(drop).unwrap_err().to_string().contains("index 9 is not below 9"));
    if ranks > 1 {
        let dims = vec![9, 2 + rank / (ranks - 1)];
        assert!(cluster.build_tensor(dims, vec![vec![0u32], vec![0]], vec![1.0]).is_err());
    }
}

fn decomposed(cluster: &Cluster) {
    let cpu = Cpu::with_threads(1).unwrap();
    let (rank, ranks) = (cluster.rank(), cluster.size());
    let cases = [
        (vec![30, 20, 10], 900),
        (vec![5, 200, 6], 900),
        (vec![9, 8, 7, 6], 700),
        (vec![1, 1, 50], 30),
        (vec![40, 40], 300),
        (vec![5], 4),
        (vec![1, 1, 1], 3),
        (vec![3, 2, 2], 2),
        (vec![4, 3, 2], 0),
        (vec![0, 3, 2], 0),
    ];
    for (case, (dims, count)) in cases.into_iter().enumerate() {
        let seed = case as u64 + 3;
        let whole =
            if count == 0 { Tensor::empty(dims.clone()).unwrap() } else { drawn::<f64, u32>(&dims, count, seed) };
        for scale in [1.0, 2f64.powi(300), 2f64.powi(-400)] {
            let values: Vec<f64> = whole.values().iter().map(|x| x * scale).collect();
            let whole = whole.with_values(values).unwrap();
            let mine = whole.nnz() * rank / ranks..whole.nnz() * (rank + 1) / ranks;
            let lists = whole.all_indices().iter().map(|list| list[mine.clone()].to_vec()).collect();
            let x = cluster.build_tensor(dims.clone(), lists, whole.values()[mine].to_vec()).unwrap();
            for als in [
                CpAls::new(2).sweeps(8).tol(0.0).seed(seed),
                CpAls::new(2).sweeps(6).tol(1e-3).starts(2),
                CpAls::new(3).sweeps(5).tol(0.0).nonnegative(true),
            ] {
                let (here, there) = (als.run(&cpu, &whole).unwrap(), cluster.cp_als(&als, &x).unwrap());
                let what = format!("{dims:?}·{scale:e} on {ranks} ranks, {als:?}: {}", there.explain);
                crate::factor::close(&here, &there, 1e-10, &what);
                if ranks == 1 {
                    assert_eq!(here.model, there.model, "{what}: bits");
                }
            }
        }
    }
    let whole = drawn::<f32, u32>(&[30, 20, 10], 900, 3);
    let (dims, lists, values) =
        if rank == 0 { whole.clone().into_parts() } else { (vec![30, 20, 10], vec![vec![]; 3], vec![]) };
    let x = cluster.build_tensor(dims, lists, values).unwrap();
    let als = CpAls::new(2).sweeps(5).tol(0.0);
    crate::factor::close(&als.run(&cpu, &whole).unwrap(), &cluster.cp_als(&als, &x).unwrap(), 2e-6, "f32");
    // Invalid arguments are errors on all ranks.
    assert!(cluster.cp_als(&CpAls::new(0), &x).is_err());
    for wrong in [f64::NAN, f64::INFINITY] {
        let value = if rank + 1 == ranks { wrong } else { 1.0 };
        let x = cluster.build_tensor(vec![20, 2], vec![vec![rank as u32], vec![1]], vec![value]).unwrap();
        let message = cluster.cp_als(&CpAls::new(1), &x).unwrap_err().to_string();
        assert!(message.contains("norm"), "{message}");
    }
    // Repeated runs give the same bits, whatever the source of the tensor.
    let x = drawn::<f64, u32>(&[30, 20, 10], 900, 4);
    let summed = x.summed(&sparring::par::Threads::current(), sparring::algebra::Plus::new()).unwrap();
    let (lists, values) =
        if rank == 0 { (x.all_indices().to_vec(), x.values().to_vec()) } else { (vec![vec![]; 3], vec![]) };
    let there = cluster.build_tensor(vec![30, 20, 10], lists, values).unwrap();
    let als = CpAls::new(2).sweeps(5).tol(0.0);
    let (one, two) = (cluster.cp_als(&als, &there).unwrap(), als.run(cluster, &summed).unwrap());
    crate::factor::close(&one, &two, 1e-10, "whole and by parts");
    assert_eq!(one.model, cluster.cp_als(&als, &there).unwrap().model);
}
