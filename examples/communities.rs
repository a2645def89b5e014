//! A drawing of communities: the factions of a karate club before it split, by the Leiden method.
//!
//! Communities are parts of a graph with more internal edges than expected by chance, as measured by modularity.
//! Each community is laid out on a circle, and edges between communities are grey.
//!
//! ```sh
//! cargo run --release --example communities -- communities.svg
//! ```

use std::error::Error;
use std::f64::consts::TAU;
use std::path::PathBuf;

use plotters::prelude::{BLACK, Circle, IntoDrawingArea, PathElement, RGBColor, SVGBackend, WHITE};
use sparring::graph::{Communities, Graph, GraphKind, leiden};
use sparring::{Cpu, Csr, io};

const SIDE: f64 = 800.0;
const COLORS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

fn main() -> Result<(), Box<dyn Error>> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let path = given.clone().unwrap_or_else(|| std::env::temp_dir().join("sparring-communities.svg"));
    let cpu = Cpu::new();
    let club: Csr<f64> = io::read_matrix_market("data/karate.mtx.gz")?.csr()?;
    let g = Graph::new(&cpu, &club, GraphKind::Undirected)?;

    let found = leiden(&cpu, &g, 1.0, 10, 0)?;
    println!("{} communities, modularity {:.4}", found.count, found.modularity);
    // The instructor and the president, who fell out, are in different communities.
    assert!(found.labels[0] != found.labels[33] && found.modularity > 0.41);

    draw(&path, &g, &found)?;
    println!("drawn: {}", path.display());
    if given.is_none() {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Vertex coordinates: communities around the center, and the vertices of each on a circle.
fn layout(found: &Communities) -> Vec<(i32, i32)> {
    let mut sizes = vec![0usize; found.count];
    let rank = |label: &u32| {
        sizes[*label as usize] += 1;
        sizes[*label as usize] - 1
    };
    let ranks: Vec<usize> = found.labels.iter().map(rank).collect();
    let around = |part: f64, radius: f64| (radius * (TAU * part).cos(), radius * (TAU * part).sin());
    let place = |(label, rank): (&u32, &usize)| {
        let size = sizes[*label as usize] as f64;
        let (x, y) = around(f64::from(*label) / found.count as f64, SIDE * 0.28);
        let (dx, dy) = around(*rank as f64 / size, SIDE * 0.025 * size.sqrt() * 1.3);
        ((SIDE / 2.0 + x + dx) as i32, (SIDE / 2.0 + y + dy) as i32)
    };
    found.labels.iter().zip(&ranks).map(place).collect()
}

fn draw(path: &PathBuf, g: &Graph, found: &Communities) -> Result<(), Box<dyn Error>> {
    let at = layout(found);
    let area = SVGBackend::new(path, (SIDE as u32, SIDE as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    let color = |v: usize| COLORS[found.labels[v] as usize % COLORS.len()];
    for v in 0..g.vertices() {
        for &u in g.neighbors(v).iter().filter(|u| (**u as usize) > v) {
            let u = u as usize;
            let inside = found.labels[u] == found.labels[v];
            let style = if inside { color(v) } else { RGBColor(200, 200, 200) };
            area.draw(&PathElement::new(vec![at[v], at[u]], style))?;
        }
    }
    for (v, &place) in at.iter().enumerate() {
        // The area of a dot is proportional to the degree.
        let radius = (4.0 + 2.0 * (g.degree(v) as f64).sqrt()) as i32;
        area.draw(&Circle::new(place, radius, plotters::style::Color::filled(&color(v))))?;
        area.draw(&Circle::new(place, radius, BLACK))?;
    }
    area.present()?;
    Ok(())
}
