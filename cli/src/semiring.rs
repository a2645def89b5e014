//! Semirings by name, and the types that have them.

use serde_json::json;
use sparring::algebra::dynamic::SEMIRINGS;

use crate::context::Context;
use crate::failure;

/// The command `semirings`.
pub(crate) fn list(context: &Context) -> failure::Result {
    let types = |row: &sparring::algebra::dynamic::Row| row.values().iter().map(|t| t.name()).collect::<Vec<_>>();
    let rows = || SEMIRINGS.iter().filter(|row| !row.values().is_empty());
    let json: Vec<_> =
        rows().map(|row| json!({ "name": row.name, "purpose": row.purpose, "types": types(row) })).collect();
    context.result(json!({ "semirings": json }), || {
        let lines: String =
            rows().map(|row| format!("{:12} {:40} {}\n", row.name, row.purpose, types(row).join(" "))).collect();
        format!("{lines}Any monoid and operator make one, as in times_max; or say formulas: \"min, a + 2*b\"")
    })
}
