//! The host–device pattern cache: a pattern is not uploaded or downloaded twice.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::pattern::DevicePattern;
use crate::{Index, Pattern};

/// Pairs of a host pattern and its device copy, valid while both are alive.
#[derive(Debug, Default)]
pub(crate) struct PatternCache(Mutex<Vec<Pair>>);
/// A host pattern, of any index type, and the same pattern on the device.
type Pair = (Weak<dyn Any + Send + Sync>, Weak<DevicePattern>);

impl PatternCache {
    pub(super) fn add<I: Index>(&self, host: &Arc<Pattern<I>>, device: &Arc<DevicePattern>) {
        let host: Arc<dyn Any + Send + Sync> = Arc::clone(host) as _;
        let mut pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pairs.retain(|(h, d)| h.strong_count() > 0 && d.strong_count() > 0);
        pairs.push((Arc::downgrade(&host), Arc::downgrade(device)));
    }
    pub(super) fn on_device<I: Index>(&self, host: &Arc<Pattern<I>>) -> Option<Arc<DevicePattern>> {
        let pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pairs
            .iter()
            .find(|(h, _)| std::ptr::addr_eq(h.as_ptr(), Arc::as_ptr(host)) && h.strong_count() > 0)?
            .1
            .upgrade()
    }
    pub(super) fn on_host<I: Index>(&self, device: &Arc<DevicePattern>) -> Option<Arc<Pattern<I>>> {
        let pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(_, d): &&Pair| std::ptr::eq(d.as_ptr(), Arc::as_ptr(device));
        pairs.iter().filter(same).find_map(|(h, _)| h.upgrade()?.downcast::<Pattern<I>>().ok())
    }
}
