//! Products worked out by hand.

use sparring::Csr;

use super::reference::{self, Table};

/// One case.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) ring: String,
    pub(crate) a: Csr<f64>,
    pub(crate) b: Csr<f64>,
    pub(crate) c: Table<f64>,
}

/// The cases of `golden/mxm.toml`.
pub(crate) fn cases() -> Vec<Case> {
    let golden: toml::Table = include_str!("../golden/mxm.toml").parse().expect("golden/mxm.toml");
    let case = |case: &toml::Value| {
        let text = |key: &str| case[key].as_str().expect("a text").to_string();
        let name = text("name");
        let matrix = |key: &str| -> Csr<f64> {
            let number = |x: &toml::Value| x.as_float().or_else(|| x.as_integer().map(|i| i as f64)).expect("a number");
            let index = |x: &toml::Value| x.as_integer().expect("an index") as u32;
            let shape = case[key]["shape"].as_array().expect("a shape");
            let entries = case[key]["entries"].as_array().expect("entries");
            let entries: Vec<_> = entries.iter().map(|e| e.as_array().expect("a triple")).collect();
            let coo = sparring::Coo::new(
                index(&shape[0]) as usize,
                index(&shape[1]) as usize,
                entries.iter().map(|e| index(&e[0])).collect(),
                entries.iter().map(|e| index(&e[1])).collect(),
                entries.iter().map(|e| number(&e[2])).collect(),
            );
            coo.and_then(|c| c.to_csr_unique()).unwrap_or_else(|e| panic!("{name}, {key}: {e}"))
        };
        Case { ring: text("ring"), a: matrix("a"), b: matrix("b"), c: reference::table(&matrix("c")), name }
    };
    golden["case"].as_array().expect("cases").iter().map(case).collect()
}
