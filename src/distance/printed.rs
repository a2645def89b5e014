//! Recipes as device code, printed once and cached.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::recipe::{Recipe, emit_recipe};

/// Texts of recipes without parameters, keyed by their type.
static KNOWN: RwLock<Option<HashMap<TypeId, Arc<str>>>> = RwLock::new(None);

/// The text of a recipe; cached unless it has a parameter.
pub(crate) fn printed_recipe<R: Recipe>(recipe: R) -> Arc<str> {
    if size_of::<R>() > 0 {
        return emit_recipe(recipe).into();
    }
    cached(TypeId::of::<R>(), &|| emit_recipe(recipe))
}

fn cached(key: TypeId, print: &dyn Fn() -> String) -> Arc<str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|all| all.get(&key).cloned());
    known.unwrap_or_else(|| {
        let text: Arc<str> = print().into();
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.get_or_insert_default().entry(key).or_insert(text))
    })
}
