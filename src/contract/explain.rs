//! The description of a plan.

use super::einsum::{BATCH, Einsum};
use super::plan::{Form, Loops, Plan, Product, Step};
use super::side::Source;
use super::subscripts::name;

impl Plan {
    /// The contraction order, the loops of each step and why, and how the result is cut, one line each. Sizes in a step
    /// are those of one block of the result.
    pub(crate) fn explain(&self) -> String {
        let pairs: Vec<String> = self.path().iter().map(|(i, j)| format!("({i}, {j})")).collect();
        let mut lines = vec![];
        if pairs.len() > 1 {
            lines.push(format!("  pairs {}: the cheapest order found", pairs.join(", ")));
        }
        lines.extend(self.steps.iter().map(|step| format!("  {}", self.of_step(step))));
        if self.steps.is_empty() {
            lines.push("  nothing: the result has no elements".into());
        }
        if self.large {
            lines.push("  large: each step by all threads, before the next".into());
            return lines.join("\n");
        }
        lines.push(match (self.planes, self.cut.index) {
            (Some(planes), _) => {
                format!("  blocks of {} of the {} values of the index without gaps", planes.width, planes.count)
            }
            (None, Some(index)) => {
                let index = if index == BATCH { "the batch".into() } else { format!("'{}'", name(index)) };
                format!("  {} blocks of {} values of {index}", self.cut.blocks(), self.cut.block)
            }
            (None, None) => "  one block".into(),
        });
        lines.join("\n")
    }
    fn of_step(&self, step: &Step) -> String {
        let target = |step: &Step| match step.target {
            Some(t) if self.intermediates[t].once => format!("tensor {t}, once"),
            Some(t) => format!("tensor {t}"),
            None => "the result".into(),
        };
        let source = |source: Source| match source {
            Source::Operand(k) => format!("operand {k}"),
            Source::Intermediate(t) => format!("tensor {t}"),
        };
        match &step.loops {
            Loops::Product(p) => {
                let (a, b) = (source(p.a.source), source(p.b.source));
                format!("{a} and {b} to {}: {}", target(step), of_product(p))
            }
            Loops::Single(s) => format!("{} to {}: one operand, read once", source(s.a.source), target(step)),
            Loops::Blocked(p) => {
                let [l, m, n, k] = [p.l.len(), p.m.len(), p.n.len(), p.k.len()];
                let cut = match p.parts() {
                    1 => String::new(),
                    parts => format!("; few results of many terms: folds in {parts} parts"),
                };
                let (a, b) = (source(p.a.source), source(p.b.source));
                format!(
                    "{a} and {b} to {}: {l} products of matrices {m}×{k} and {k}×{n}, by packed blocks{cut}",
                    target(step)
                )
            }
            Loops::Folds(f) => {
                let of = f.b.map_or_else(String::new, |b| format!(" and {}", source(b.source)));
                let how = if f.wide { "results side by side" } else { "terms distributed over 32 sums" };
                let cut = match f.parts() {
                    1 => String::new(),
                    parts => format!(", in {parts} parts: few results of many terms"),
                };
                let (o, k) = (f.o.len(), f.k.len());
                format!("{}{of} to {}: {o} folds of {k} terms, {how}{cut}", source(f.a.source), target(step))
            }
            Loops::Action(a) => format!("all to the result: a mass operator in {} directions", a.directions),
        }
    }
}

fn of_product(p: &Product) -> String {
    let [l, m, n, k] = [p.l.len(), p.m.len(), p.n.len(), p.k.len()];
    match p.form {
        Form::Tiny(rows, follows) => {
            let why = if follows { "contiguous" } else { "with gaps" };
            format!("{l} products of squares of {rows} rows in registers: row-major, {why}")
        }
        Form::Lanes(_) => format!("element by element along an index without gaps in all three, {l}×{m}×{n}×{k} times"),
        Form::Matrices(packed) => {
            let why = if packed { ", columns packed: they are strided" } else { "" };
            format!("{l} products of matrices {m}×{k} and {k}×{n}{why}")
        }
    }
}

impl<T, V> Einsum<'_, T, V> {
    /// The expression.
    pub(crate) fn text(&self) -> &str {
        &self.subscripts.text
    }
}
