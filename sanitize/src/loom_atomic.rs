//! loom takes SeqCst for AcqRel. Here a lock beside each atomic puts those of its accesses that ask for
//! SeqCst into one order, in which each sees the last: with it, what two threads store in one word and
//! load of another has the outcomes that SeqCst allows. It orders a load before a later store of the
//! same word too, which SeqCst alone does not: a race that only that would hide is Miri's to find.

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU32 as Loom, Ordering};

#[derive(Debug)]
pub(crate) struct AtomicU32 {
    value: Loom,
    order: Mutex<()>,
}

impl AtomicU32 {
    pub(crate) fn new(value: u32) -> Self {
        Self {
            value: Loom::new(value),
            order: Mutex::new(()),
        }
    }
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        if order != Ordering::SeqCst {
            return self.value.load(order);
        }
        let _guard = self.order.lock().unwrap();
        self.value.load(Ordering::Acquire)
    }
    pub(crate) fn store(&self, value: u32, order: Ordering) {
        if order != Ordering::SeqCst {
            return self.value.store(value, order);
        }
        let _guard = self.order.lock().unwrap();
        self.value.store(value, Ordering::Release);
    }
    pub(crate) fn swap(&self, value: u32, order: Ordering) -> u32 {
        assert_eq!(order, Ordering::SeqCst, "no other is used");
        let _guard = self.order.lock().unwrap();
        let before = self.value.load(Ordering::Acquire);
        self.value.store(value, Ordering::Release);
        before
    }
}
