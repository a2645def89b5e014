//! Every operation, through every interface, follows the specification: the cases of `oracle/`.

#[path = "oracle/forms.rs"]
mod forms;
#[path = "oracle/functions.rs"]
mod functions;
#[path = "oracle/names.rs"]
mod names;
#[path = "oracle/objects.rs"]
mod objects;
#[path = "oracle/tally.rs"]
mod tally;
#[path = "oracle/typed.rs"]
mod typed;
#[path = "oracle/wide.rs"]
mod wide;

use std::collections::BTreeMap;

use names::Names;
use sparring::Cpu;
use sparring_oracle::{Kind, Random};
use tally::{random, small};
use typed::Types;

fn cpu(threads: usize) -> Cpu {
    Cpu::with_threads(threads).expect("threads")
}

#[test]
fn random_calls_by_name() {
    random("by name, 1 thread", &mut Names::new(cpu(1)), 1, 1);
    random("by name, 3 threads", &mut Names::new(cpu(3)), 2, 1);
}

#[test]
fn small_calls_by_name() {
    small("by name, 1 thread", &mut Names::new(cpu(1)), 97);
}

#[test]
fn random_calls_in_large_dimensions() {
    for (door, threads, seed) in [("large, 1 thread", 1, 8), ("large, 3 threads", 3, 9)] {
        let mut names = Names::wide(cpu(threads));
        let ran = random(door, &mut names, seed, 5);
        println!("{door}: {} with a large dimension, {} refused", names.embedded, names.refused);
        assert!(names.embedded > ran / 2);
    }
}

#[test]
fn small_calls_in_large_dimensions() {
    let mut names = Names::wide(cpu(1));
    small("large, 1 thread", &mut names, 1999);
    println!("{} with a large dimension, {} refused", names.embedded, names.refused);
    assert!(names.embedded > 5000 && names.refused > 0);
}

#[test]
fn random_calls_by_function() {
    random("by function, 1 thread", &mut Names::of_functions(cpu(1)), 6, 4);
    random("by function, 3 threads", &mut Names::of_functions(cpu(3)), 7, 4);
}

#[test]
fn small_calls_by_function() {
    small("by function, 1 thread", &mut Names::of_functions(cpu(1)), 1999);
}

#[test]
fn random_calls_by_types() {
    random("by types, 1 thread", &mut Types::new(&cpu(1)), 3, 1);
    random("by types, 3 threads", &mut Types::new(&cpu(3)), 4, 2);
}

#[test]
fn small_calls_by_types() {
    small("by types, 1 thread", &mut Types::new(&cpu(1)), 101);
}

#[test]
fn all_forms_occur() {
    let mut found = BTreeMap::new();
    for case in Random::new(5).take(3000) {
        for x in case.objects.iter().filter(|x| x.table.kind != Kind::Scalar) {
            *found.entry(forms::form(&objects::object(x, case.scale))).or_insert(0) += 1;
        }
    }
    println!("{found:?}");
    let kinds = ["(Rows, false)", "(Rows, true)", "(Hypersparse, false)", "(Bitmap, false)", "(Full, false)"];
    let vectors = ["List vector", "Bitmap vector", "Full vector"];
    for form in kinds.into_iter().chain(vectors) {
        assert!(found.get(form).is_some_and(|n| *n > 10), "{form}: {found:?}");
    }
}
