//! Semirings by name, their types and their domains.

use std::io::{self, Write};

use serde_json::json;
use sparring::algebra::Slice;
use sparring::algebra::dynamic::{Row, SEMIRINGS, canonical};

use crate::context::Context;
use crate::failure;

/// The command `semirings`.
pub(crate) fn list(context: &Context) -> failure::Result {
    let types = |row: &Row| row.values().iter().map(|t| t.name()).collect::<Vec<_>>();
    let rows = || SEMIRINGS.iter().filter(|row| !row.values().is_empty());
    let domain = |row: &Row| if row.is_from_zero() { "from 0 up" } else { "all" };
    let json: Vec<_> = rows()
        .map(|row| json!({ "name": row.name, "purpose": row.purpose, "domain": domain(row), "types": types(row) }))
        .collect();
    context.result(json!({ "semirings": json }), || {
        let purpose = |row: &Row| match row.is_from_zero() {
            true => format!("{}, values from 0 up", row.purpose),
            false => row.purpose.to_owned(),
        };
        let lines: String =
            rows().map(|row| format!("{:12} {:47} {}\n", row.name, purpose(row), types(row).join(" "))).collect();
        format!("{lines}Any monoid and operator can be combined, as in times_max; or give formulas: \"min, a + 2*b\"")
    })
}

/// Warns on standard error if the values leave the domain of the semiring, because some are below 0.
pub(crate) fn warn_outside(context: &Context, name: &str, values: &[Slice<'_>]) {
    let of_name = canonical(name);
    let from_zero = SEMIRINGS.iter().any(|row| row.name == of_name && row.is_from_zero());
    if from_zero && values.iter().any(Slice::has_negative) {
        let said = format!(
            "warning: {name} is a semiring only on values ≥ 0, and some are negative: results may depend on evaluation order"
        );
        // A closed standard error is ignored.
        context.progress.suspend(|| drop(writeln!(io::stderr(), "{said}")));
    }
}
