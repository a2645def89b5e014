//! The interface to the library under test.

use std::collections::BTreeMap;
use std::fmt;

use crate::case::Case;
use crate::model::expected;
use crate::table::Table;

/// A library, or one of its interfaces.
pub trait Library {
    /// Whether the library supports the operation with the types and options of this case.
    fn has(&mut self, case: &Case) -> bool;
    /// C after the call.
    /// # Errors
    /// The library's error message; the case counts as failed.
    fn run(&mut self, case: &Case) -> Result<Table, String>;
}

/// Number of cases run per operation, and the smallest failure.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of cases run and of unsupported cases, by operation.
    pub cases: BTreeMap<String, (usize, usize)>,
    /// Number of failed cases.
    pub failed: usize,
    /// Size and description of the smallest failed case.
    pub failure: Option<(usize, String)>,
}

impl Tally {
    /// Runs a case.
    pub fn run(&mut self, library: &mut (impl Library + ?Sized), case: &Case) {
        let (ran, lacks) = self.cases.entry(case.op.name()).or_default();
        if !library.has(case) {
            *lacks += 1;
            return;
        }
        *ran += 1;
        let Some(message) = mismatch(library, case) else { return };
        self.failed += 1;
        let size = case.objects.iter().map(|x| 1 + x.table.nrows * x.table.ncols).sum::<usize>() * case.scale;
        if self.failure.as_ref().is_none_or(|(least, _)| size < *least) {
            self.failure = Some((size, message));
        }
    }
    /// Number of cases run.
    #[must_use]
    pub fn ran(&self) -> usize {
        self.cases.values().map(|x| x.0).sum()
    }
    /// Adds the counts of another run.
    pub fn add(&mut self, other: Self) {
        for (op, (ran, lacks)) in other.cases {
            let sum = self.cases.entry(op).or_default();
            *sum = (sum.0 + ran, sum.1 + lacks);
        }
        self.failed += other.failed;
        if let Some((size, message)) = other.failure
            && self.failure.as_ref().is_none_or(|(least, _)| size < *least)
        {
            self.failure = Some((size, message));
        }
    }
}

/// One line: the total, the number of cases per operation, and the operations without cases.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cases:", self.ran())?;
        for (op, (ran, _)) in self.cases.iter().filter(|x| x.1.0 > 0) {
            write!(f, " {op} {ran}")?;
        }
        let lacks: Vec<&str> = self.cases.iter().filter(|x| x.1.0 == 0).map(|x| x.0.as_str()).collect();
        if lacks.is_empty() { Ok(()) } else { write!(f, "; none of {}", lacks.join(", ")) }
    }
}

/// A description of the difference between the library's result and the specification; `None` if they agree.
#[must_use]
pub fn mismatch(library: &mut (impl Library + ?Sized), case: &Case) -> Option<String> {
    let want = expected(case);
    let found = match library.run(case) {
        Ok(found) if found == want => return None,
        Ok(found) => format!("{found:?}"),
        Err(e) => e,
    };
    let mut text = format!("{:?}\n", case.op);
    for (n, object) in case.objects.iter().enumerate() {
        let mut roles = vec![];
        if n == case.c {
            roles.push("C".to_string());
        }
        for (k, _) in case.operands.iter().enumerate().filter(|x| *x.1 == n) {
            let transposed = k < 2 && case.transpose[k];
            roles.push(format!("operand {k}{}", if transposed { " transposed" } else { "" }));
        }
        if case.mask.is_some_and(|mask| mask.object == n) {
            roles.push("mask".to_string());
        }
        text += &format!("  {} ({:?}): {:?}\n", roles.join(" and "), object.form, object.table);
    }
    let mask = case.mask.map_or("none".to_string(), |mask| {
        let by = if mask.structure { "structure" } else { "value" };
        format!("by {by}{}", if mask.complement { ", complemented" } else { "" })
    });
    let accum = case.accum.unwrap_or("none");
    text += &format!("  mask {mask}; accumulator {accum}; replace {}; scale {}\n", case.replace, case.scale);
    Some(text + &format!("  found    {found}\n  expected {want:?}"))
}
