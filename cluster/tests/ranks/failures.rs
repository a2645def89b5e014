//! Ranks that fail, or make mismatched calls.

use std::time::Duration;

use sparring::algebra::Type;
use sparring::runtime::{Machine, Monoid, Semiring};
use sparring_cluster::{Cluster, graph};

use crate::products::Draw;

/// The last rank fails in the named way.
pub(crate) fn rank(scenario: &str, cluster: &Cluster) {
    let is_last = cluster.rank() + 1 == cluster.size();
    let machine = Machine::from(cluster.clone());
    let a = machine.upload(&Draw::new(4).matrix((50, 50), 200)).unwrap();
    let ring = Semiring::new("plus_times", Type::F64).unwrap();
    match scenario {
        "panic" => {
            assert!(!is_last, "this rank does not go on");
            cluster.unwrap(machine.mxm(&ring, &a, &a));
        }
        "other call" => {
            let made = if is_last { machine.transpose(&a) } else { machine.mxm(&ring, &a, &a) };
            let message = made.unwrap_err().to_string();
            assert!(message.contains("calls transpose") && message.contains("calls mxm"), "{message}");
            let made = if is_last { graph::bfs_parents(&machine, &a, 3) } else { graph::bfs_levels(&machine, &a, 3) };
            let message = made.map(drop).unwrap_err().to_string();
            assert!(message.contains("calls bfs_parents") && message.contains("calls bfs_levels"), "{message}");
            // All ranks get the error and remain usable.
            assert_eq!(machine.mxm(&ring, &a, &a).unwrap().shape(), (50, 50));
        }
        "early end" => {
            if is_last {
                return;
            }
            let message = machine.mxm(&ring, &a, &a).unwrap_err().to_string();
            assert!(message.contains("the end"), "{message}");
        }
        "error" => {
            let refused: sparring::Result<()> =
                Err(sparring::Error::Argument { name: "a", message: "this rank cannot".into() });
            if is_last {
                cluster.unwrap(refused);
            }
            cluster.unwrap(machine.reduce(&Monoid::new("plus", Type::F64).unwrap(), &a));
        }
        "one thread" => {
            // A result rejected by one rank is an error on all.
            let made = machine.mxv(&ring, &a, &Draw::new(1).vector(if is_last { 49 } else { 50 }, 10));
            assert!(made.is_err() || cluster.size() == 1);
        }
        other => panic!("no scenario {other}"),
    }
}

/// With 2 and 4 ranks, up to the given maximum.
pub(crate) fn job(most: usize) {
    let limit = Duration::from_secs(60);
    for ranks in [2, 4].into_iter().filter(|ranks| *ranks <= most) {
        let out = crate::start(ranks, "panic", limit);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && text.contains(&format!("rank {}: it panicked", ranks - 1)), "{text}");
        let out = crate::start(ranks, "error", limit);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && text.contains(&format!("rank {}: a: this rank cannot", ranks - 1)), "{text}");
        for scenario in ["other call", "early end", "faults"] {
            let out = crate::start(ranks, scenario, limit);
            assert!(out.status.success(), "{scenario}: {}", String::from_utf8_lossy(&out.stderr));
        }
    }
}
