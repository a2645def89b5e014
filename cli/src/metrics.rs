//! The command `metrics`: distances and similarities by name.

use serde_json::json;
use sparring::distance::{Domain, Metric};

use crate::context::Context;
use crate::failure::Result;

fn takes(domain: Domain) -> &'static str {
    match domain {
        Domain::Reals => "any number",
        Domain::NonNegative => "numbers that are not negative",
        Domain::Sets => "any number; only zero or nonzero matters",
    }
}

pub(crate) fn list(context: &Context) -> Result {
    let rows = || Metric::ALL.iter().map(Metric::entry);
    let json: Vec<_> = rows()
        .map(|row| {
            json!({
                "name": row.name, "aliases": row.aliases, "formula": row.formula, "product": row.product,
                "norms": row.norms, "takes": takes(row.domain), "empty_rows": row.empty_rows,
            })
        })
        .collect();
    context.result(json!({ "metrics": json }), || {
        let mut text = "k columns; |x| entries of x that are not 0; a row without entries is x below\n".to_owned();
        for row in rows() {
            let aliases =
                if row.aliases.is_empty() { String::new() } else { format!("also {}", row.aliases.join(", ")) };
            text += &format!("{:16} {}\n", row.name, row.formula);
            for line in [format!("takes {}", takes(row.domain)), format!("empty rows: {}", row.empty_rows), aliases] {
                if !line.is_empty() {
                    text += &format!("{:16}   {line}\n", "");
                }
            }
        }
        text += "Or give the term of a column as a formula that is 0 for two zeros: --metric \"abs(a-b) / (a+b+1)\"\n";
        text
    })
}
