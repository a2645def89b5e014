//! Semirings by name, the types that have them, and the values on which they are semirings.

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
        format!("{lines}Any monoid and operator make one, as in times_max; or say formulas: \"min, a + 2*b\"")
    })
}

/// Says on standard error that the semiring of this name is none on the values, some of which are below 0.
pub(crate) fn warn_outside(context: &Context, name: &str, values: &[Slice<'_>]) {
    let of_name = canonical(name);
    let from_zero = SEMIRINGS.iter().any(|row| row.name == of_name && row.is_from_zero());
    if from_zero && values.iter().any(Slice::has_negative) {
        let said = format!(
            "warning: {name} is a semiring on values from 0 up, and some are below: the order of evaluation may show in the result"
        );
        // Nobody misses it who has closed standard error.
        context.progress.suspend(|| drop(writeln!(io::stderr(), "{said}")));
    }
}
