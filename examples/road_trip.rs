//! A road trip: the shortest path from Lisbon to Vienna, and the distance of every town from Lisbon.
//!
//! Edges are roads with their length in kilometres, stored once for both directions. The search records the predecessor
//! of each town, so the path is read backwards from its end.
//!
//! ```sh
//! cargo run --release --example road_trip
//! ```

use sparring::algebra::Plus;
use sparring::graph::{Graph, GraphKind, sssp_tree};
use sparring::{Coo, Cpu};

const TOWNS: [&str; 12] = [
    "Lisbon",
    "Madrid",
    "Barcelona",
    "Bordeaux",
    "Lyon",
    "Paris",
    "Milan",
    "Brussels",
    "Munich",
    "Vienna",
    "Berlin",
    "Reykjavik",
];
const ROADS: [(u32, u32, f64); 16] = [
    (0, 1, 625.0),
    (1, 2, 620.0),
    (1, 3, 690.0),
    (2, 3, 600.0),
    (2, 4, 640.0),
    (3, 4, 550.0),
    (3, 5, 585.0),
    (4, 5, 465.0),
    (4, 6, 440.0),
    (5, 7, 310.0),
    (5, 8, 830.0),
    (6, 8, 490.0),
    (6, 9, 865.0),
    (7, 10, 765.0),
    (8, 9, 400.0),
    (8, 10, 585.0),
];

fn main() -> sparring::Result<()> {
    let n = TOWNS.len();
    let from = ROADS.iter().map(|road| road.0).collect();
    let to = ROADS.iter().map(|road| road.1).collect();
    let lengths = ROADS.iter().map(|road| road.2).collect();
    let roads = Coo::new(n, n, from, to, lengths)?.to_csr(Plus::new())?;
    let cpu = Cpu::new();
    // Undirected: the other direction of each road is added.
    let map = Graph::weighted(&cpu, &roads, GraphKind::Undirected)?;

    let trip = sssp_tree(&cpu, &map, 0)?;
    let path = trip.path(9).unwrap_or_default();
    let names: Vec<_> = path.iter().map(|&town| TOWNS[town as usize]).collect();
    println!("{} km: {}", trip.distances[9], names.join(" – "));
    for (town, km) in TOWNS.iter().zip(&trip.distances) {
        println!("{town:10} {km:>6}");
    }
    assert_eq!(names, ["Lisbon", "Madrid", "Bordeaux", "Paris", "Munich", "Vienna"]);
    assert_eq!(trip.distances[9], 3130.0);
    // Unreachable by road.
    assert!(trip.distances[11].is_infinite() && trip.path(11).is_none());
    Ok(())
}
