//! `sparring modularity`: the modularity of communities given in a file.

use std::cell::OnceCell;

use clap::Args;
use sparring::graph::{Communities, Graph, modularity};
use sparring::par::filled;
use sparring::{Csr, Error};

use super::answer::{Answer, PlotKind};
use super::common::{Common, Example, Plotted, Run, Weights};
use super::structure::communities;
use crate::context::Context;
use crate::failure;

pub(super) const EXAMPLES: &[(&str, [Example; 2])] = &[(
    "modularity",
    [
        ("sparring modularity a.mtx --communities parts.mtx --weighted", "How good a partition is"),
        (
            "sparring cdlp graph.txt -o groups.npy && sparring modularity graph.txt --communities groups.npy",
            "The modularity of communities by label propagation",
        ),
    ],
)];

#[derive(Args)]
pub(crate) struct Modularity {
    #[command(flatten)]
    common: Common,
    /// Community of each vertex: a file of one column or one row, as written by louvain, leiden, cdlp and components;
    /// labels are arbitrary numbers, absent ones are 0
    #[arg(long, value_name = "FILE")]
    communities: String,
    #[command(flatten)]
    weights: Weights,
    /// Resolution: values above 1 favor smaller communities
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    resolution: f64,
    #[command(flatten)]
    plotted: Plotted,
    /// The contents of the file.
    #[arg(skip)]
    read: OnceCell<Csr<f64>>,
}

impl Run for Modularity {
    fn common(&self) -> &Common {
        &self.common
    }
    fn plot_kind(&self) -> Option<PlotKind> {
        self.plotted.plot_kind
    }
    fn is_weighted(&self) -> bool {
        self.weights.weighted
    }
    fn other_file(&self) -> Option<&str> {
        Some(&self.communities)
    }
    fn read_other(&self, context: &Context) -> failure::Result<f64> {
        let (source, ms) = context.load(&self.communities)?;
        _ = self.read.set(source.matrix);
        Ok(ms)
    }
    fn compute(&self, context: &Context, g: &Graph) -> sparring::Result<Answer> {
        let labels = match self.read.get() {
            Some(column) => self.labels(column, g.vertices())?,
            None => vec![],
        };
        let modularity = modularity(&context.cpu, g, &labels, self.resolution)?;
        communities(Communities { labels, count: 0, modularity })
    }
}

impl Modularity {
    /// The labels of n vertices, renumbered from 0 in the order of the numbers in the file.
    fn labels(&self, column: &Csr<f64>, n: usize) -> sparring::Result<Vec<u32>> {
        let wrong = |message| Error::Argument { name: "--communities", message };
        let (nrows, ncols) = column.shape();
        if (nrows, ncols) != (n, 1) && (nrows, ncols) != (1, n) {
            let file = &self.communities;
            return Err(wrong(format!(
                "{file} is {nrows}×{ncols}, but the graph has {n} vertices: it needs one number per vertex"
            )));
        }
        let mut given = filled(n, 0.0, "communities")?;
        for i in 0..nrows {
            let range = column.pattern().row_ptr()[i]..column.pattern().row_ptr()[i + 1];
            for (&j, &x) in column.pattern().row(i).iter().zip(&column.values()[range]) {
                let v = i + j as usize;
                if x.is_nan() {
                    return Err(wrong(format!("the label of vertex {v} is not a number")));
                }
                // -0.0 and 0.0 are the same community.
                given[v] = x + 0.0;
            }
        }
        let mut known = filled(n, 0.0, "communities")?;
        known.copy_from_slice(&given);
        known.sort_unstable_by(f64::total_cmp);
        known.dedup();
        let mut labels = filled(n, 0u32, "communities")?;
        for (label, x) in labels.iter_mut().zip(&given) {
            *label = known.partition_point(|y| y < x) as u32;
        }
        Ok(labels)
    }
}
