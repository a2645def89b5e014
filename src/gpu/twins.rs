//! Which patterns are on the host and on the device, so that none is sent twice.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::pattern::DevicePattern;
use crate::{Index, Pattern};

/// Patterns that are on the host and on the device, as long as both are alive.
#[derive(Debug, Default)]
pub(crate) struct Twins(Mutex<Vec<Twin>>);
/// A pattern of the host, of any type of columns, and the same on the device.
type Twin = (Weak<dyn Any + Send + Sync>, Weak<DevicePattern>);

impl Twins {
    pub(super) fn add<I: Index>(&self, host: &Arc<Pattern<I>>, device: &Arc<DevicePattern>) {
        let host: Arc<dyn Any + Send + Sync> = Arc::clone(host) as _;
        let mut twins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        twins.retain(|(h, d)| h.strong_count() > 0 && d.strong_count() > 0);
        twins.push((Arc::downgrade(&host), Arc::downgrade(device)));
    }
    pub(super) fn on_device<I: Index>(&self, host: &Arc<Pattern<I>>) -> Option<Arc<DevicePattern>> {
        let twins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        twins
            .iter()
            .find(|(h, _)| std::ptr::addr_eq(h.as_ptr(), Arc::as_ptr(host)) && h.strong_count() > 0)?
            .1
            .upgrade()
    }
    pub(super) fn on_host<I: Index>(&self, device: &Arc<DevicePattern>) -> Option<Arc<Pattern<I>>> {
        let twins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(_, d): &&Twin| std::ptr::eq(d.as_ptr(), Arc::as_ptr(device));
        twins.iter().filter(same).find_map(|(h, _)| h.upgrade()?.downcast::<Pattern<I>>().ok())
    }
}
