//! The notes of a connection, left by two threads while its owner goes to sleep: none is lost, and the
//! owner is woken for each that it would sleep over.

use crate::signals::{Notes, Signals, SlotWaker, Stop};
use std::sync::Arc;
use std::task::{Wake, Waker};

#[cfg(loom)]
use loom::sync::Notify;
#[cfg(loom)]
use loom::thread::spawn;
#[cfg(not(loom))]
use std::thread::spawn;

/// Wakes the owner, which waits.
#[cfg(loom)]
struct Owner(Notify);
#[cfg(loom)]
impl Owner {
    fn new() -> Arc<Self> {
        Arc::new(Self(Notify::new()))
    }
    fn wait(&self) {
        self.0.wait();
    }
}
#[cfg(loom)]
impl Wake for Owner {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}

#[cfg(not(loom))]
struct Owner(std::thread::Thread, std::sync::atomic::AtomicBool);
#[cfg(not(loom))]
impl Owner {
    fn new() -> Arc<Self> {
        Arc::new(Self(std::thread::current(), false.into()))
    }
    fn wait(&self) {
        while !self.1.swap(false, std::sync::atomic::Ordering::SeqCst) {
            std::thread::park();
        }
    }
}
#[cfg(not(loom))]
impl Wake for Owner {
    fn wake(self: Arc<Self>) {
        self.1.store(true, std::sync::atomic::Ordering::SeqCst);
        self.0.unpark();
    }
}

fn explore(model: impl Fn() + Send + Sync + 'static) {
    #[cfg(loom)]
    {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(4);
        builder.check(model);
    }
    #[cfg(not(loom))]
    model();
}

#[test]
fn loom_no_note_is_lost_and_no_owner_sleeps_over_one() {
    explore(|| {
        let signals = Arc::new(Signals::default());
        let leave: [fn(&Arc<Signals>); 2] = [
            |signals| {
                SlotWaker::waker(signals, 7).wake();
                signals.taken(trunkline_core::http::StreamId(1), 5);
            },
            |signals| signals.stop(Stop::Abort),
        ];
        let threads = leave.map(|leave| {
            let signals = Arc::clone(&signals);
            spawn(move || leave(&signals))
        });
        let owner = Owner::new();
        let waker = Waker::from(Arc::clone(&owner));
        let (mut ready, mut taken, mut stopped) = (0, 0, false);
        let mut notes: Option<Box<Notes>> = None;
        while ready + taken + usize::from(stopped) < 1 + 5 + 1 {
            signals.begin_turn(&mut notes);
            if let Some(notes) = &mut notes {
                ready += notes.ready.len();
                taken += notes.taken.iter().map(|(_, bytes)| bytes).sum::<usize>();
                stopped |= notes.stop == Some(Stop::Abort);
                notes.clear();
            }
            let is_done = ready + taken + usize::from(stopped) == 1 + 5 + 1;
            if signals.end_turn(&waker) && !is_done {
                owner.wait();
            }
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
