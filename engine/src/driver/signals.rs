//! Notes that other tasks leave for the task that owns a connection: an exchange's future can
//! progress, a reader took body bytes. A note wakes the task; only the task touches the machine.
//!
//! Invariant: a note left while the task is asleep wakes it once; a note left during its turn wakes
//! no task, because `end_turn` sees it under the same lock.

use super::lock::{Mutex, MutexGuard};
use super::machine::inspection::{INSPECTIONS_MAX, Inspection};
use super::window_ask::WindowAsk;
use std::mem;
use std::sync::{Arc, PoisonError};
use std::task::{Wake, Waker};
use std::time::Duration;
use trunkline_core::http::StreamId;

/// The notes of one connection.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The owner is in its turn and looks here before it sleeps.
    awake: bool,
    waker: Option<Waker>,
    /// Allocated with the first note, so that an idle connection has none.
    notes: Option<Box<Notes>>,
}

/// The notes since the last turn.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Slots of exchanges whose futures can go on.
    pub(crate) ready: Vec<u32>,
    /// Body bytes that readers took or gave up: each to be answered with `consume`.
    pub(crate) taken: Vec<(StreamId, usize)>,
    /// Streams whose body lost its reader before its end.
    pub(crate) dropped: Vec<StreamId>,
    /// Streams whose clients hold a body back that a reader waits for.
    pub(crate) wanted: Vec<StreamId>,
    /// The network changed: the peer is to prove that it is still there.
    pub(crate) network_changed: bool,
    /// Another connection to the origin is suspect: the peer must prove that it is reachable.
    /// `Some(true)`: even if it answered a moment ago.
    pub(crate) probed: Option<bool>,
    /// Another connection to the origin works while this one is silent, whose peer takes this long for
    /// an answer.
    pub(crate) outlived: Option<Duration>,
    /// Windows that users read or set.
    pub(crate) windows: Vec<WindowAsk>,
    /// Streams whose users have datagrams to send.
    pub(crate) datagrams: Vec<StreamId>,
    /// Readers who wait for a snapshot.
    pub(crate) inspections: Vec<Inspection>,
    /// The server drains, or is shut down at once.
    pub(crate) stop: Option<Stop>,
}

/// The way a connection is to stop, the gentlest first: a later one overrides an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    /// As `Drain`, because nothing was on it for its idle time.
    Idle,
    /// Open exchanges finish.
    Drain,
    /// As `Drain`, and what has not gone of bodies whose responses have ended is not sent any more.
    LeaveBodies,
    /// At once.
    Abort,
    /// As `Abort`, with a reset of TCP, which drops what has not gone.
    Reset,
}

impl Notes {
    fn is_empty(&self) -> bool {
        self.ready.is_empty()
            && self.taken.is_empty()
            && self.dropped.is_empty()
            && self.wanted.is_empty()
            && !self.network_changed
            && self.probed.is_none()
            && self.outlived.is_none()
            && self.windows.is_empty()
            && self.datagrams.is_empty()
            && self.inspections.is_empty()
            && self.stop.is_none()
    }
    /// Forgets the notes, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.ready.clear();
        self.taken.clear();
        self.dropped.clear();
        self.wanted.clear();
        self.network_changed = false;
        self.probed = None;
        self.outlived = None;
        self.windows.clear();
        self.datagrams.clear();
        self.inspections.clear();
        self.stop = None;
    }
}

impl Signals {
    /// Starts a turn: returns the notes; later notes wake no task until the turn ends. The memory
    /// of `notes`, which must be empty, is used for the next ones.
    pub(crate) fn begin_turn(&self, notes: &mut Option<Box<Notes>>) {
        debug_assert!(notes.as_ref().is_none_or(|notes| notes.is_empty()));
        let mut state = self.lock();
        state.awake = true;
        mem::swap(&mut state.notes, notes);
    }
    /// The owner wants to sleep: false when notes came during its turn (it must go on).
    pub(crate) fn end_turn(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        if state.notes.as_ref().is_some_and(|notes| !notes.is_empty()) {
            return false;
        }
        state.awake = false;
        match &mut state.waker {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        true
    }
    /// Before the owner's first turn: whether it is to stop at once. Otherwise the next note wakes it, and
    /// all of them are there for that turn.
    pub(crate) fn is_aborted(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        state.awake = false;
        match &mut state.waker {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        let stop = state.notes.as_ref().and_then(|notes| notes.stop);
        stop >= Some(Stop::Abort)
    }
    /// Before the owner's first turn: whether it is to stop then, in any way.
    pub(crate) fn is_stopped(&self) -> bool {
        let state = self.lock();
        state
            .notes
            .as_ref()
            .is_some_and(|notes| notes.stop.is_some())
    }
    /// Gives memory back while there are no notes.
    pub(crate) fn release(&self) {
        let notes = &mut self.lock().notes;
        notes.take_if(|notes| notes.is_empty());
    }
    /// The exchange in `slot` can go on.
    pub(crate) fn ready(&self, slot: u32) {
        self.note(|notes| {
            if notes.ready.last() != Some(&slot) {
                notes.ready.push(slot);
            }
        });
    }
    /// A reader took `bytes` of a body.
    pub(crate) fn taken(&self, stream: StreamId, bytes: usize) {
        if bytes > 0 {
            self.note(|notes| match notes.taken.last_mut() {
                Some((last, sum)) if *last == stream => *sum += bytes,
                _ => notes.taken.push((stream, bytes)),
            });
        }
    }
    /// The reader of a body went away before its end.
    pub(crate) fn dropped(&self, stream: StreamId) {
        self.note(|notes| notes.dropped.push(stream));
    }
    /// A reader waits for a body that its client holds back.
    pub(crate) fn wanted(&self, stream: StreamId) {
        self.note(|notes| notes.wanted.push(stream));
    }
    /// The network changed.
    pub(crate) fn network_changed(&self) {
        self.note(|notes| notes.network_changed = true);
    }
    /// Another connection to the origin is suspect.
    pub(crate) fn probe(&self, even_if_recent: bool) {
        self.note(|notes| notes.probed = notes.probed.max(Some(even_if_recent)));
    }
    /// Another connection to the origin works.
    pub(crate) fn outlived(&self, answer_time: Duration) {
        self.note(|notes| notes.outlived = Some(answer_time));
    }
    /// A user reads or sets a window.
    pub(crate) fn ask_window(&self, ask: WindowAsk) {
        self.note(|notes| notes.windows.push(ask));
    }
    /// The exchange of `stream` has datagrams to send, and had none.
    pub(crate) fn datagrams(&self, stream: StreamId) {
        self.note(|notes| notes.datagrams.push(stream));
    }
    /// A reader waits for a snapshot.
    pub(crate) fn inspect(&self, inspection: Inspection) {
        self.note(|notes| {
            if notes.inspections.len() >= INSPECTIONS_MAX {
                notes.inspections.remove(0);
            }
            notes.inspections.push(inspection);
        });
    }
    /// The connection is to stop.
    pub(crate) fn stop(&self, how: Stop) {
        self.note(|notes| notes.stop = notes.stop.max(Some(how)));
    }
    fn note(&self, write: impl FnOnce(&mut Notes)) {
        let mut state = self.lock();
        write(state.notes.get_or_insert_default());
        if state.awake {
            return;
        }
        // The owner is woken once; `awake` keeps further notes from waking it again.
        state.awake = true;
        let waker = state.waker.clone();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock, and notes are whole after any of them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes one exchange: its slot goes into the notes.
#[derive(Debug)]
pub(crate) struct SlotWaker {
    signals: Arc<Signals>,
    slot: u32,
}

impl SlotWaker {
    /// A waker of `slot`; made once per slot and used for every exchange in it.
    pub(crate) fn waker(signals: &Arc<Signals>, slot: u32) -> Waker {
        Waker::from(Arc::new(Self {
            signals: Arc::clone(signals),
            slot,
        }))
    }
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.signals.ready(self.slot);
    }
}

#[cfg(test)]
#[path = "signals_test.rs"]
mod signals_test;
