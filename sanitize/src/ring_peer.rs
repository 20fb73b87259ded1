//! JavaScript's end of the rings in Rust, step by step as `node/src/channel/ring.ts` has it, and both threads
//! until each has what the other wrote. A wake that is lost leaves a thread asleep for ever: loom calls
//! that a deadlock.

use crate::area::{ARENA_BYTES, ENTRIES};
use crate::outbound::Outbound;
use crate::ring::ring_test::ScriptEnd;
use crate::ring::{Entry, Memory, Submissions};
use crate::sync::Arc;

/// Wakes one thread, which may not sleep yet: one wake is remembered.
#[cfg(loom)]
mod wake {
    pub(super) use loom::thread::spawn;
    pub(super) type Wake = loom::sync::Notify;
    pub(super) fn new() -> loom::sync::Arc<Wake> {
        loom::sync::Arc::new(Wake::new())
    }
    pub(super) fn explore(model: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(model);
    }
}
#[cfg(not(loom))]
mod wake {
    use std::sync::{Arc, Condvar, Mutex};
    pub(super) use std::thread::spawn;
    #[derive(Default)]
    pub(super) struct Wake {
        noted: Mutex<bool>,
        changed: Condvar,
    }
    impl Wake {
        pub(super) fn notify(&self) {
            *self.noted.lock().unwrap() = true;
            self.changed.notify_one();
        }
        pub(super) fn wait(&self) {
            let mut noted = self.noted.lock().unwrap();
            while !std::mem::take(&mut *noted) {
                noted = self.changed.wait(noted).unwrap();
            }
        }
    }
    pub(super) fn new() -> Arc<Wake> {
        Arc::default()
    }
    pub(super) fn explore(model: impl Fn() + Send + Sync + 'static) {
        model();
    }
}

/// How many entries go each way: more than the ring holds.
const COUNT: u32 = if cfg!(loom) {
    ENTRIES + 1
} else if cfg!(miri) {
    // Miri takes a millisecond for each.
    100
} else {
    3 * ENTRIES / 2
};

fn text_of(number: u32) -> [u8; 6] {
    [number as u8; 6]
}

/// The engine's rest, as `Shared::rest` of `node/native/channel/shared.rs` has it: it moves what waits,
/// rings, says that it sleeps, and looks once more. It sleeps unless `is_done` then.
fn rest(
    memory: &Memory,
    outbound: &mut Outbound,
    waker: &wake::Wake,
    kick: &wake::Wake,
    is_done: impl FnOnce() -> bool,
) {
    let _ = outbound.spill();
    if outbound.announce() {
        waker.notify();
    }
    memory.set_engine_sleeps(true);
    if !memory.has_submissions() && !is_done() {
        kick.wait();
    }
    memory.set_engine_sleeps(false);
}

#[test]
fn loom_what_is_completed_comes_out_in_order_and_nobody_sleeps_over_it() {
    wake::explore(|| {
        let memory = Memory::new();
        let (waker, kick) = (wake::new(), wake::new());
        let engine = {
            let (memory, waker, kick) = (Arc::clone(&memory), waker.clone(), kick.clone());
            wake::spawn(move || {
                let mut outbound = Outbound::new(Arc::clone(&memory));
                for number in 0..COUNT {
                    let entry: Entry = [3, number, 0, 0, 0, 0, 0, 0];
                    let text = text_of(number);
                    if outbound.complete(entry, &text[..4], &text[4..]) {
                        waker.notify();
                    }
                }
                // Entries that wait outside go in as there is room; until then it sleeps like any engine.
                while memory.overflows() {
                    let is_done = || !memory.overflows();
                    rest(&memory, &mut outbound, &waker, &kick, is_done);
                }
                if outbound.announce() {
                    waker.notify();
                }
            })
        };
        let mut script = ScriptEnd::new(Arc::clone(&memory));
        let mut read = 0;
        while read < COUNT {
            waker.wait();
            let wants_kick = script.drain(|entry, text| {
                assert_eq!(entry[1], read, "the order");
                let expected = text_of(read);
                assert_eq!((entry[4], text), (4, &expected[..4]));
                read += 1;
            });
            if wants_kick {
                kick.notify();
            }
        }
        engine.join().unwrap();
    });
}

#[test]
fn loom_what_is_submitted_comes_out_in_order_and_the_engine_never_sleeps_over_it() {
    wake::explore(|| {
        let memory = Memory::new();
        let (waker, kick) = (wake::new(), wake::new());
        // In place of `setImmediate`, by which JavaScript tries again: loom allows no busy loop.
        let room = wake::new();
        let engine = {
            let (memory, waker, kick) = (Arc::clone(&memory), waker.clone(), kick.clone());
            let room = room.clone();
            wake::spawn(move || {
                let mut outbound = Outbound::new(Arc::clone(&memory));
                let mut submissions = Submissions::new(Arc::clone(&memory));
                let mut read = 0;
                while read < COUNT {
                    let range = |entry: &Entry| Some((entry[3], entry[4]));
                    let took = submissions.next(range, |entry, text| {
                        assert_eq!(entry[1], read, "the order");
                        assert_eq!(text, text_of(read));
                        read += 1;
                    });
                    if took {
                        room.notify();
                    } else {
                        rest(&memory, &mut outbound, &waker, &kick, || false);
                    }
                }
            })
        };
        let mut script = ScriptEnd::new(Arc::clone(&memory));
        let mut written = 0;
        while written < COUNT {
            let entry: Entry = [1, written, 0, 0, 0, 0, 0, 0];
            if script.submit(entry, &text_of(written)) {
                written += 1;
                if script.flush() {
                    kick.notify();
                }
            } else {
                if script.flush() {
                    kick.notify();
                }
                room.wait();
            }
        }
        engine.join().unwrap();
    });
}

const _: () = assert!(ARENA_BYTES as usize >= 2 * 6);
