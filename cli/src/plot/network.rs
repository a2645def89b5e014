//! Drawings of a partitioned graph: a force-directed layout of the vertices in the colors of their parts, or the parts
//! as circles.

use plotters::prelude::*;
use sparring::graph::Graph;
use sparring::par::filled;
use sparring::{Error, Result};

use super::{Area, CAPTION, COLOURS, Drawing, Drawn, LABEL};
use crate::output::thousands;

/// Maximum numbers of vertices and edges to draw individually; beyond them, parts are drawn.
const VERTICES: usize = 2000;
const EDGES: usize = 20_000;
/// Maximum number of parts to lay out, the largest ones.
const PARTS: usize = 200;
/// Maximum number of lines between parts, the heaviest ones.
const LINES: usize = 1000;
/// Size of the picture and its margins, in pixels.
const SIDE: u32 = 900;
const ABOVE: f64 = 64.0;
const MARGIN: f64 = 36.0;
/// Color of an edge between parts.
const GREY: RGBColor = RGBColor(190, 190, 190);

/// A position in the plane.
type Point = [f64; 2];

struct Dot {
    at: Point,
    radius: f64,
    color: RGBColor,
}

struct Line {
    ends: [Point; 2],
    width: u32,
    color: RGBColor,
}

/// A graph and a partition of its vertices, laid out.
pub(crate) struct Network {
    title: String,
    /// Legend of dots and lines.
    note: String,
    dots: Vec<Dot>,
    lines: Vec<Line>,
}

impl Network {
    /// Lays out a graph with a label below n for each of its n vertices.
    pub(crate) fn of(title: &str, g: &Graph, labels: &[u32]) -> Result<Self> {
        let parts = Parts::of(labels)?;
        let (n, all) = (labels.len(), parts.sizes.len());
        let between = parts.between(g)?;
        let edges = list(between.len(), between.iter().copied(), "lines of a picture")?;
        let mut centers = list(parts.shown(), (0..).map(|k| scattered(k).map(|x| x - 0.5)), "positions of a picture")?;
        lay_out(&mut centers, &edges, 1.0)?;
        let [vertices, edges_of, count] = [n, g.edges(), all].map(thousands);
        let ending = if all == 1 { "" } else { "s" };
        let title = format!("{title}: {vertices} vertices, {edges_of} edges, {count} part{ending}");
        if n <= VERTICES && g.edges() <= EDGES {
            return Self::of_vertices(title, g, &parts, &centers);
        }
        let lines = edges.len().min(LINES);
        let many = |k: usize, all: usize, what| {
            if k < all { format!("the {k} {what} of {}", thousands(all)) } else { thousands(all) }
        };
        let note = format!(
            "circles: {} parts, area by vertices; lines: {}, width by edges between them",
            many(centers.len(), all, "largest"),
            many(lines, edges.len(), "heaviest"),
        );
        fit(&mut centers, &[]);
        // The circles cover a fixed part of the square.
        let largest = parts.sizes.first().map_or(1.0, |&size| size as f64);
        let shown: f64 = parts.sizes.iter().take(centers.len()).map(|&size| size as f64).sum();
        let all = 0.18 * f64::from(SIDE).powi(2) / std::f64::consts::PI;
        let unit = (all / shown.max(1.0)).sqrt().min(120.0 / largest.sqrt());
        let sizes = parts.sizes.iter().map(|&size| (unit * (size as f64).sqrt()).max(2.0));
        let mut radii = list(centers.len(), sizes, "a picture")?;
        separate(&mut centers, &radii);
        let scale = fit(&mut centers, &radii);
        radii.iter_mut().for_each(|radius| *radius *= scale);
        let dot = |k: usize| Dot { at: centers[k], radius: radii[k], color: color(k) };
        let heaviest = edges.first().map_or(1.0, |edge| edge.2);
        let line = |&(a, b, w): &Edge| Line {
            ends: [centers[a as usize], centers[b as usize]],
            width: (8.0 * (w / heaviest).sqrt()).round().max(1.0) as u32,
            color: GREY,
        };
        let dots = list(centers.len(), (0..centers.len()).map(dot), "a picture")?;
        Ok(Self { title, note, dots, lines: list(lines, edges[..lines].iter().rev().map(line), "a picture")? })
    }
    fn of_vertices(title: String, g: &Graph, parts: &Parts, centers: &[Point]) -> Result<Self> {
        let n = g.vertices();
        // A part starts around its center, on an area in proportion to its number of vertices.
        let begin = |v: usize| {
            let k = parts.of[v] as usize;
            let middle = centers.get(k).copied().unwrap_or_else(|| scattered(k as u64).map(|x| x - 0.5));
            let [x, y] = scattered(v as u64 + (1 << 32));
            let wide = (parts.sizes[k] as f64 / n as f64).sqrt();
            [middle[0] + wide * (x - 0.5), middle[1] + wide * (y - 0.5)]
        };
        let mut at = list(n, (0..n).map(begin), "positions of a picture")?;
        let each = || (0..n).flat_map(|v| g.neighbors(v).iter().map(move |&u| (v as u32, u, 1.0)));
        // An undirected edge is stored at both ends, a directed one possibly in both directions: each is drawn once.
        let is_first = |&(v, u, _): &Edge| v < u || (v > u && g.neighbors(u as usize).binary_search(&v).is_err());
        let edges = list(each().filter(is_first).count(), each().filter(is_first), "lines of a picture")?;
        lay_out(&mut at, &edges, 0.5)?;
        fit(&mut at, &[]);
        let space = (f64::from(SIDE) / (n.max(1) as f64).sqrt()).min(90.0);
        let dot = |v: usize| {
            let radius = (0.06 * space + 0.03 * space * (g.degree(v) as f64).sqrt()).clamp(1.5, 22.0);
            Dot { at: at[v], radius, color: color(parts.of[v] as usize) }
        };
        let line = |&(v, u, _): &Edge| {
            let [k, l] = [parts.of[v as usize], parts.of[u as usize]];
            let color = if k == l { mixed(color(k as usize), WHITE, 0.5) } else { GREY };
            Line { ends: [at[v as usize], at[u as usize]], width: 1, color }
        };
        let dots = list(n, (0..n).map(dot), "a picture")?;
        let lines = list(edges.len(), edges.iter().map(line), "a picture")?;
        Ok(Self { title, note: "dot size: degree; color: part; grey: edges between parts".into(), dots, lines })
    }
}

/// Two vertices, and the strength of their attraction.
type Edge = (u32, u32, f64);

/// A partition, with parts numbered by decreasing size, ties by label.
struct Parts {
    sizes: Vec<u64>,
    /// The part of each vertex.
    of: Vec<u32>,
}

impl Parts {
    fn of(labels: &[u32]) -> Result<Self> {
        let n = labels.len();
        let mut counts = filled(n, (0u64, 0u32), "sizes of parts")?;
        counts.iter_mut().zip(0..).for_each(|(count, label)| count.1 = label);
        for &label in labels {
            let found = counts.get_mut(label as usize);
            let message = || Error::Argument { name: "labels", message: format!("label {label} of {n} vertices") };
            found.ok_or_else(message)?.0 += 1;
        }
        counts.retain(|count| count.0 > 0);
        counts.sort_unstable_by_key(|&(size, label)| (std::cmp::Reverse(size), label));
        let mut rank = filled(n, 0u32, "ranks of parts")?;
        (0..).zip(&counts).for_each(|(k, count)| rank[count.1 as usize] = k);
        let of = list(n, labels.iter().map(|&label| rank[label as usize]), "parts of vertices")?;
        Ok(Self { sizes: list(counts.len(), counts.iter().map(|count| count.0), "sizes of parts")?, of })
    }
    fn shown(&self) -> usize {
        self.sizes.len().min(PARTS)
    }
    /// Total weights between the shown parts, the heaviest first.
    fn between(&self, g: &Graph) -> Result<Vec<Edge>> {
        let k = self.shown();
        let mut sums = filled(k * k, 0.0, "weights between parts")?;
        for v in 0..g.vertices() {
            let a = self.of[v] as usize;
            for (e, &u) in g.neighbors(v).iter().enumerate() {
                let b = self.of[u as usize] as usize;
                if a != b && a < k && b < k {
                    sums[a.min(b) * k + a.max(b)] += g.weights(v).map_or(1.0, |weights| weights[e].abs());
                }
            }
        }
        let each = || sums.iter().enumerate().filter(|(_, w)| **w > 0.0);
        let edge = |(at, &w): (usize, &f64)| ((at / k) as u32, (at % k) as u32, w);
        let mut edges = list(each().count(), each().map(edge), "lines of a picture")?;
        edges.sort_unstable_by(|x, y| y.2.total_cmp(&x.2).then((x.0, x.1).cmp(&(y.0, y.1))));
        Ok(edges)
    }
}

/// Collects `len` items, with fallible allocation.
fn list<T>(len: usize, of: impl Iterator<Item = T>, what: &'static str) -> Result<Vec<T>> {
    let mut all = Vec::new();
    let bytes = len as u128 * size_of::<T>() as u128;
    all.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { what, bytes })?;
    all.extend(of.take(len));
    Ok(all)
}

/// A deterministic position in the unit square for each number.
fn scattered(k: u64) -> Point {
    let z = sparring_generate::splitmix64(k);
    [z >> 32, z & 0xFFFF_FFFF].map(|half| half as f64 / (1u64 << 32) as f64)
}

/// Force-directed layout in the unit square: moves vertices until attraction and repulsion balance.
///
/// The target distance is κ = 1/√n. Vertices repel by κ²/d; an edge attracts by d²/κ times its weight over the mean
/// weight. The displacement per round is limited by the temperature, which falls from `heat`/10 to 0. A pull to the
/// center retains disconnected vertices. O(n²) per round. Source: Fruchterman, Reingold 1991, "Graph Drawing by
/// Force-directed Placement".
fn lay_out(at: &mut [Point], edges: &[Edge], heat: f64) -> Result<()> {
    let n = at.len();
    if n < 2 {
        return Ok(());
    }
    let ideal = 1.0 / (n as f64).sqrt();
    let mean = edges.iter().map(|edge| edge.2).sum::<f64>() / edges.len().max(1) as f64;
    let mut force = filled(n, [0.0; 2], "forces on vertices")?;
    for round in 0..ROUNDS {
        let temperature = 0.1 * heat * (1.0 - round as f64 / ROUNDS as f64);
        for v in 0..n {
            let [x, y] = at[v];
            let mut sum = [-MIDDLE * x, -MIDDLE * y];
            for u in 0..v {
                let (dx, dy) = (x - at[u][0], y - at[u][1]);
                // Coincident vertices separate in the order of their numbers.
                let square = (dx * dx + dy * dy).max(1e-9);
                let push = ideal * ideal / square;
                let (fx, fy) = (push * dx, push * dy);
                sum = [sum[0] + fx, sum[1] + fy];
                force[u] = [force[u][0] - fx, force[u][1] - fy];
            }
            force[v] = [force[v][0] + sum[0], force[v][1] + sum[1]];
        }
        for &(u, v, w) in edges {
            let (u, v) = (u as usize, v as usize);
            let (dx, dy) = (at[u][0] - at[v][0], at[u][1] - at[v][1]);
            let pull = (dx * dx + dy * dy).sqrt() / ideal * (w / mean).clamp(0.1, 4.0);
            force[u] = [force[u][0] - pull * dx, force[u][1] - pull * dy];
            force[v] = [force[v][0] + pull * dx, force[v][1] + pull * dy];
        }
        for (place, force) in at.iter_mut().zip(&mut force) {
            let length = (force[0] * force[0] + force[1] * force[1]).sqrt();
            let part = if length > temperature { temperature / length } else { 1.0 };
            *place = [place[0] + part * force[0], place[1] + part * force[1]];
            *force = [0.0; 2];
        }
    }
    Ok(())
}
/// Rounds of the layout; Fruchterman and Reingold use 50, from random positions.
const ROUNDS: usize = 100;
/// Strength of the pull to the center.
const MIDDLE: f64 = 0.5;

/// Separates overlapping circles.
fn separate(at: &mut [Point], radii: &[f64]) {
    for _ in 0..ROUNDS {
        let mut apart = true;
        for v in 1..at.len() {
            for u in 0..v {
                let (dx, dy) = (at[v][0] - at[u][0], at[v][1] - at[u][1]);
                let distance = (dx * dx + dy * dy).sqrt();
                let missing = radii[u] + radii[v] + GAP - distance;
                if missing <= 0.0 {
                    continue;
                }
                apart = false;
                // Of coincident circles, the later one moves right.
                let (dx, dy) = if distance > 0.0 { (dx / distance, dy / distance) } else { (1.0, 0.0) };
                // The smaller circle moves more.
                let of_v = missing * radii[u] / (radii[u] + radii[v]);
                at[v] = [at[v][0] + of_v * dx, at[v][1] + of_v * dy];
                at[u] = [at[u][0] - (missing - of_v) * dx, at[u][1] - (missing - of_v) * dy];
            }
        }
        if apart {
            break;
        }
    }
}
/// Minimum gap between circles in pixels, so that lines remain visible.
const GAP: f64 = 14.0;

/// Scales positions to fill the picture, including circles of these radii (0 for none). Returns the scale.
fn fit(at: &mut [Point], radii: &[f64]) -> f64 {
    let radii = || radii.iter().copied().chain(std::iter::repeat(0.0));
    let over = |axis: usize| {
        let values = || at.iter().map(move |place| place[axis]).zip(radii());
        let low = values().map(|(x, r)| x - r).fold(f64::INFINITY, f64::min);
        (low, values().map(|(x, r)| x + r).fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (low, high)) = (over(0), over(1));
    let side = f64::from(SIDE) - 2.0 * MARGIN;
    let scale = (side / (right - left).max(1e-9)).min((side - ABOVE + MARGIN) / (high - low).max(1e-9));
    // A single vertex is centered.
    let scale = if at.len() < 2 { 1.0 } else { scale };
    let middle = [f64::from(SIDE) / 2.0, (f64::from(SIDE) + ABOVE - MARGIN) / 2.0];
    for place in at {
        *place = [
            middle[0] + scale * (place[0] - (left + right) / 2.0),
            middle[1] + scale * (place[1] - (low + high) / 2.0),
        ];
    }
    scale
}

/// The color of the k-th part: the palette, then lighter and darker shades.
fn color(k: usize) -> RGBColor {
    // Without black.
    let colors = COLOURS.len() - 1;
    let base = COLOURS[k % colors];
    match k / colors % 3 {
        0 => base,
        1 => mixed(base, WHITE, 0.45),
        _ => mixed(base, BLACK, 0.4),
    }
}

fn mixed(RGBColor(r, g, b): RGBColor, RGBColor(to_r, to_g, to_b): RGBColor, part: f64) -> RGBColor {
    let mix = |x: u8, y: u8| (f64::from(x) + (f64::from(y) - f64::from(x)) * part).round() as u8;
    RGBColor(mix(r, to_r), mix(g, to_g), mix(b, to_b))
}

impl Drawing for Network {
    fn size(&self) -> (u32, u32) {
        (SIDE, SIDE)
    }
    fn marks(&self) -> usize {
        2 * self.dots.len() + self.lines.len()
    }
    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        area.fill(&WHITE)?;
        let pixel = |[x, y]: Point| (x.round() as i32, y.round() as i32);
        area.draw(&Text::new(&self.title[..], (20, 16), CAPTION))?;
        area.draw(&Text::new(&self.note[..], (20, 40), LABEL))?;
        for line in &self.lines {
            area.draw(&PathElement::new(line.ends.map(pixel), line.color.stroke_width(line.width)))?;
        }
        for dot in &self.dots {
            let radius = dot.radius.round() as i32;
            area.draw(&Circle::new(pixel(dot.at), radius, dot.color.filled()))?;
            area.draw(&Circle::new(pixel(dot.at), radius, WHITE))?;
        }
        area.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_edge_holds_is_near() {
        // Two triangles joined by an edge.
        let edges = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)].map(|(u, v)| (u, v, 1.0));
        let mut at: Vec<Point> = (0..6).map(|k| scattered(k).map(|x| x - 0.5)).collect();
        lay_out(&mut at, &edges, 1.0).unwrap();
        let distance = |u: usize, v: usize| (at[u][0] - at[v][0]).hypot(at[u][1] - at[v][1]);
        for (u, v, _) in edges {
            for (x, y) in [(0, 4), (0, 5), (1, 4), (1, 5)] {
                assert!(distance(u as usize, v as usize) < distance(x, y), "{u} {v} {x} {y}: {at:?}");
            }
        }
        let before = at.clone();
        fit(&mut at, &[]);
        assert!(at.iter().flatten().all(|x| (MARGIN - 1e-6..=f64::from(SIDE) - MARGIN + 1e-6).contains(x)), "{at:?}");
        assert_ne!(before, at);
    }

    #[test]
    fn circles_do_not_overlap() {
        let radii = [50.0, 20.0, 30.0, 2.0];
        let mut at = [[100.0, 100.0], [100.0, 100.0], [120.0, 90.0], [300.0, 100.0]];
        separate(&mut at, &radii);
        let scale = fit(&mut at, &radii);
        for v in 0..4 {
            for u in 0..v {
                let distance = (at[u][0] - at[v][0]).hypot(at[u][1] - at[v][1]);
                assert!(distance >= scale * (radii[u] + radii[v]), "{u} {v}: {at:?}");
            }
        }
    }

    #[test]
    fn parts_are_numbered_by_size() {
        let parts = Parts::of(&[5, 2, 2, 0, 5, 5]).unwrap();
        assert_eq!((parts.sizes, parts.of), (vec![3, 2, 1], vec![0, 1, 1, 2, 0, 0]));
        assert!(Parts::of(&[1]).is_err());
        assert_ne!(color(0), color(6));
    }
}
