//! A cache of operators by text and types.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use hashbrown::{Equivalent, HashMap};

use crate::Result;
use crate::algebra::Type;

/// Texts per generation. More than all predefined names of GraphBLAS over one type.
const GENERATION: usize = 512;

/// Operators of one kind by text, the most recently used 512 to 1024 of them.
///
/// New ones join the young generation. When it is full it becomes the old generation, and the previous old one is
/// dropped; its operators are recreated on the next lookup. An old operator that is looked up becomes young again. A
/// value that a caller holds stays valid.
#[derive(Debug)]
pub(super) struct Names<V>(LazyLock<RwLock<Generations<V>>>);

#[derive(Debug)]
struct Generations<V> {
    young: HashMap<Key, Arc<V>>,
    old: HashMap<Key, Arc<V>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    text: Box<str>,
    types: [Type; 2],
}

/// A key that borrows the caller's text.
#[derive(Clone, Copy, Hash)]
struct Lookup<'t> {
    text: &'t str,
    types: [Type; 2],
}
impl Equivalent<Key> for Lookup<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.text == *key.text && self.types == key.types
    }
}

impl<V> Names<V> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(|| RwLock::new(Generations { young: HashMap::new(), old: HashMap::new() })))
    }
    /// The value for a text over these types; on a miss the result of `make`, which is cached unless it is an error.
    /// # Errors
    /// Those of `make`.
    pub(super) fn get(&self, text: &str, types: [Type; 2], make: impl FnOnce() -> Result<V>) -> Result<Arc<V>> {
        let key = Lookup { text, types };
        let found = self.0.read().unwrap_or_else(PoisonError::into_inner).young.get(&key).cloned();
        found.map_or_else(|| self.old_or_new(key, make), Ok)
    }
    #[cold]
    fn old_or_new(&self, key: Lookup<'_>, make: impl FnOnce() -> Result<V>) -> Result<Arc<V>> {
        let write = || self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Declared before the lock is taken, so that evicted operators are dropped after it is released.
        let _forgotten;
        let mut generations = write();
        if let Some(found) = generations.young.get(&key) {
            return Ok(Arc::clone(found));
        }
        let value = match generations.old.remove(&key) {
            Some(old) => old,
            None => {
                drop(generations);
                // Without the lock: testing the laws of a formula takes a tenth of a millisecond.
                let made = Arc::new(make()?);
                generations = write();
                // Another thread may have inserted it first.
                if let Some(found) = generations.young.get(&key) {
                    return Ok(Arc::clone(found));
                }
                made
            }
        };
        _forgotten = generations.put(key, &value);
        Ok(value)
    }
}

impl<V> Generations<V> {
    /// Adds a young value; returns the generation evicted by it.
    fn put(&mut self, key: Lookup<'_>, value: &Arc<V>) -> Option<HashMap<Key, Arc<V>>> {
        let full = self.young.len() >= GENERATION;
        let forgotten = full.then(|| std::mem::replace(&mut self.old, std::mem::take(&mut self.young)));
        self.young.insert(Key { text: key.text.into(), types: key.types }, Arc::clone(value));
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Error;

    const F64: [Type; 2] = [Type::F64; 2];

    #[test]
    fn a_value_is_made_once() {
        let (names, made) = (Names::new(), AtomicUsize::new(0));
        let get = |text: &str, types| names.get(text, types, || Ok(made.fetch_add(1, Ordering::Relaxed))).unwrap();
        let first = get("plus", F64);
        assert!(Arc::ptr_eq(&first, &get("plus", F64)));
        // Values differ by text and by both types.
        for (text, types) in [("plus ", F64), ("plus", [Type::F64, Type::F32]), ("plus", [Type::F32, Type::F64])] {
            assert!(!Arc::ptr_eq(&first, &get(text, types)), "{text:?} {types:?}");
        }
        assert_eq!(made.into_inner(), 4);
    }

    #[test]
    fn errors_are_not_kept() {
        let names = Names::<u8>::new();
        let fails = || Err(Error::Unsupported { what: "a name".into(), why: "it is none".into() });
        assert!(names.get("x", F64, fails).is_err());
        assert!(names.get("x", F64, || Ok(7)).is_ok_and(|x| *x == 7));
    }

    #[test]
    fn few_are_kept_and_those_that_are_used() {
        let (names, made) = (Names::new(), AtomicUsize::new(0));
        let get = |text: &str| names.get(text, F64, || Ok(made.fetch_add(1, Ordering::Relaxed))).unwrap();
        let often = get("often");
        for i in 0..10 * GENERATION {
            get(&i.to_string());
            assert!(Arc::ptr_eq(&often, &get("often")), "forgotten after {i}");
            let kept = names.0.read().unwrap();
            assert!(kept.young.len() <= GENERATION && kept.old.len() <= GENERATION);
        }
        assert_eq!(made.load(Ordering::Relaxed), 10 * GENERATION + 1);
        // The latest are cached, the first are recreated.
        get(&(10 * GENERATION - 1).to_string());
        assert_eq!(made.load(Ordering::Relaxed), 10 * GENERATION + 1);
        get("0");
        assert_eq!(made.load(Ordering::Relaxed), 10 * GENERATION + 2);
    }

    #[test]
    fn threads_that_ask_at_once_get_one_value() {
        let names = Names::new();
        let values: Vec<Arc<usize>> = std::thread::scope(|scope| {
            let ask = |n: usize| {
                let names = &names;
                scope.spawn(move || names.get("x", F64, || Ok(n)).unwrap())
            };
            let asked: Vec<_> = (0..8).map(ask).collect();
            asked.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(values.iter().all(|x| Arc::ptr_eq(x, &values[0])));
    }
}
