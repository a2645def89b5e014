//! Runs cases and reports their number.
//!
//! `SPARRING_ORACLE_CASES` is the number of random cases for each interface. `SPARRING_ORACLE_EVERY` selects every n-th
//! small case; 1 runs all fourteen million.

use sparring_oracle::{Library, Random, Tally, exhaustive};

/// Failing cases after which a run stops: a small one is among them.
const ENOUGH: usize = 200;

/// A number from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |n| n.parse().unwrap_or_else(|_| panic!("{name}: {n} is no number")))
}

/// Prints what ran, and panics with the smallest failing case.
fn judge(door: &str, tally: Tally) {
    println!("{door}: {tally}");
    if let Some((_, message)) = &tally.failure {
        panic!("{door}: {} of {} cases failed, the smallest:\n{message}", tally.failed, tally.ran());
    }
}
/// Runs random cases, a fraction of the requested number, and returns how many ran.
pub(crate) fn random(door: &str, library: &mut impl Library, seed: u64, share: usize) -> usize {
    let (mut tally, mut cases) = (Tally::default(), Random::new(seed));
    // Cases that an interface does not support are skipped and redrawn.
    while tally.failed < ENOUGH && tally.ran() < setting("SPARRING_ORACLE_CASES", 20_000) / share {
        cases.by_ref().take(100).for_each(|case| tally.run(library, &case));
    }
    let ran = tally.ran();
    judge(&format!("{door}, random"), tally);
    ran
}
/// Runs every n-th of the small cases.
pub(crate) fn small(door: &str, library: &mut impl Library, every: usize) {
    let mut tally = Tally::default();
    exhaustive(setting("SPARRING_ORACLE_EVERY", every), &mut |case| {
        if tally.failed < ENOUGH {
            tally.run(library, &case);
        }
    });
    judge(&format!("{door}, small"), tally);
}
