//! Semirings by name, their types and their domains.

use std::io::{self, Write};

use serde_json::json;
use sparring::algebra::dynamic::{Row, SEMIRINGS, canonical};
use sparring::algebra::{Slice, Type};
use sparring::runtime::Matrix;

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

/// Whether the semiring of this name is one only on values from 0 up.
fn is_from_zero(name: &str) -> bool {
    let name = canonical(name);
    SEMIRINGS.iter().any(|row| row.name == name && row.is_from_zero())
}

/// Warns on standard error if the values leave the domain of the semiring, because some are below 0.
pub(crate) fn warn_outside(context: &Context, name: &str, values: &[Slice<'_>]) {
    if is_from_zero(name) && values.iter().any(Slice::has_negative) {
        warn(context, name);
    }
}

/// The same for operands.
pub(crate) fn warn_outside_of(context: &Context, name: &str, operands: &[&Matrix]) -> sparring::Result<()> {
    let is_negative = |a: &&Matrix| match a.ty() {
        Type::Bool | Type::ComplexF32 | Type::ComplexF64 | Type::Struct(_) => Ok(false),
        _ => context.some(a, |values| values.has_negative(), "a < 0"),
    };
    if is_from_zero(name) && operands.iter().map(is_negative).collect::<sparring::Result<Vec<_>>>()?.contains(&true) {
        warn(context, name);
    }
    Ok(())
}

fn warn(context: &Context, name: &str) {
    if context.is_silent() {
        return;
    }
    let said = format!(
        "warning: {name} is a semiring only on values ≥ 0, and some are negative: results may depend on evaluation order"
    );
    // A closed standard error is ignored.
    context.progress.suspend(|| drop(writeln!(io::stderr(), "{said}")));
}
