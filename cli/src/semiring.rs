//! Semirings by name: those that the library has for f64.

use serde_json::json;
use sparring::{Error, Result};

use crate::context::Context;
use crate::failure;

use sparring::algebra::dynamic::{Named, SEMIRINGS, canonical};

/// Refuses a name before work is done for it.
pub(crate) fn check(name: &str) -> Result<()> {
    if f64::semirings().contains(&canonical(name).as_str()) {
        return Ok(());
    }
    let message = format!("there is no '{name}' for real numbers; `sparring semirings` lists those there are");
    Err(Error::Argument { name: "semiring", message })
}

/// The command `semirings`.
pub(crate) fn list(context: &Context) -> failure::Result {
    let known = f64::semirings();
    let rows = || SEMIRINGS.iter().filter(|row| known.contains(&row.name));
    let json: Vec<_> = rows().map(|row| json!({ "name": row.name, "purpose": row.purpose })).collect();
    context.result(json!({ "semirings": json }), || {
        rows().map(|row| format!("{:12} {}\n", row.name, row.purpose)).collect()
    })
}
