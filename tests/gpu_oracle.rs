//! A GPU is what the specification says: the cases of `oracle/`, through both doors, as on the processor.

#![cfg(feature = "cuda")]

#[path = "oracle/functions.rs"]
mod functions;
#[path = "common/gpu.rs"]
mod gpu;
#[path = "oracle/names.rs"]
mod names;
#[path = "oracle/objects.rs"]
mod objects;
#[path = "oracle/tally.rs"]
mod tally;
#[path = "oracle/typed.rs"]
mod typed;

use gpu::cuda;
use names::Names;
use typed::Types;

#[test]
#[ignore = "needs a GPU"]
fn random_calls_by_name() {
    tally::random("by name, GPU", &mut Names::new(cuda()), 11, 4);
}

#[test]
#[ignore = "needs a GPU"]
fn small_calls_by_name() {
    tally::small("by name, GPU", &mut Names::new(cuda()), 4001);
}

#[test]
#[ignore = "needs a GPU"]
fn random_calls_by_types() {
    tally::random("by types, GPU", &mut Types::new(&cuda()), 12, 10);
}

#[test]
#[ignore = "needs a GPU"]
fn small_calls_by_types() {
    tally::small("by types, GPU", &mut Types::new(&cuda()), 8009);
}
