//! Suggestions for misspelled names.

use sparring::{Error, Result};
use sparring_generate as generate;

/// The closest name in `known`, if one is close enough.
fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let likened = known.into_iter().map(|known| (strsim::jaro_winkler(&name, known), known));
    likened.filter(|(like, _)| *like > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// `result`, with the closest known name appended to its error.
pub(crate) fn suggested<'a, T>(result: Result<T>, name: &str, known: impl IntoIterator<Item = &'a str>) -> Result<T> {
    result.map_err(|e| {
        let Some(near) = nearest(name, known).filter(|near| *near != name) else { return e };
        let more = format!("; did you mean {near}?");
        match e {
            Error::Argument { name, message } => Error::Argument { name, message: message + &more },
            Error::Unsupported { what, why } => Error::Unsupported { what, why: why + &more },
            e => e,
        }
    })
}

/// The same for the name of a generated matrix.
pub(crate) fn generated<T>(name: &str, result: Result<T>) -> Result<T> {
    let lists = [generate::SPGEMM, generate::TRIANGLES, generate::GRAPHS, generate::DISTANCE, generate::GEN_PY];
    suggested(result, name, lists.into_iter().flatten().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_found() {
        let known = ["cosine", "correlation", "manhattan"];
        assert_eq!(nearest("cosin", known), Some("cosine"));
        assert_eq!(nearest("Manhatan", known), Some("manhattan"));
        assert_eq!(nearest("xyz", known), None);
    }
}
