//! Numbering of vertex names.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::io::labeled::Labels;
use crate::par::out_of_memory;
use crate::{Error, Index, Result};

/// Names, numbered in order of first appearance.
#[derive(Default)]
pub(super) struct Names {
    pub(super) labels: Labels,
    numbers: HashTable<u32>,
    hash: DefaultHashBuilder,
}

impl Names {
    /// The number of a name; a new name gets the next number.
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`].
    pub(super) fn number(&mut self, name: &str) -> Result<u32> {
        let Self { labels, numbers, hash } = self;
        let of = |i: u32| labels.get(i as usize).unwrap_or_default();
        let key = hash.hash_one(name);
        if let Some(&found) = numbers.find(key, |&i| of(i) == name) {
            return Ok(found);
        }
        let number = labels.len();
        if number >= u32::MAX_LEN {
            let (needed, max) = (number as u128 + 1, u32::MAX_LEN as u128);
            return Err(Error::IndexOverflow { what: "names of vertices", needed, max });
        }
        let rehash = |&i: &u32| hash.hash_one(of(i));
        numbers.try_reserve(1, rehash).map_err(|_| out_of_memory::<u32>("names of vertices", number + 1))?;
        numbers.insert_unique(key, number as u32, rehash);
        labels.push(name)?;
        Ok(number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_appear() {
        let mut names = Names::default();
        let numbers: Vec<u32> = ["b", "a", "b", "ä", "a"].map(|name| names.number(name).expect("a number")).into();
        assert_eq!(numbers, [0, 1, 0, 2, 1]);
        for i in 0..10_000u32 {
            assert_eq!(names.number(&format!("v{i}")).expect("a number"), 3 + i);
        }
        assert_eq!((names.number("v77").expect("a number"), names.labels.len()), (80, 10_003));
    }
}
