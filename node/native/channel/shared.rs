//! The state of the channel on Rust's side: its rings, its overflow, the bodies that cross by reference, and the
//! wake-ups of both sides.

pub(crate) mod failed;
mod lag;
mod pause;
pub(crate) mod stream_table;

use self::failed::FailedRequests;
use self::lag::RingLag;
use self::pause::is_caught_up;
use self::stream_table::Streams;
use super::bodies::Bodies;
use super::codes::{BY_REFERENCE_BYTES_MIN, completion_flag};
use super::lock;
use super::outbound::Outbound;
use super::ring::{Entry, LENGTH, Memory, POSITION, TEXT_BYTES_MAX};
use crate::platform::uv::LoopWaker;
use bytes::Bytes;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use trunkline::event_loop::Spawner;
use trunkline::server::Pause;

/// The channel's memory and what else JavaScript and the engine share of it, on two threads or on one.
pub(crate) struct Shared {
    pub(crate) memory: Arc<Memory>,
    pub(crate) waker: LoopWaker,
    outbound: Mutex<Outbound>,
    pub(crate) ring_lag: RingLag,
    pub(crate) streams: Streams,
    /// Bodies that cross by reference, in either direction, by the number in an entry.
    put: Mutex<Bodies>,
    pub(crate) intake: Notify,
    /// Nothing waits outside of the ring any more.
    caught_up: Notify,
    pub(crate) closing: AtomicBool,
    pub(crate) runs: Runs,
    /// Exchanges of clients that are under way.
    pub(crate) exchanges: AtomicU32,
    /// Exchanges of clients that failed.
    failed: Mutex<FailedRequests>,
}

impl Shared {
    pub(crate) fn new(waker: LoopWaker) -> Self {
        let memory = Memory::new();
        Self {
            memory: Arc::clone(&memory),
            waker,
            outbound: Mutex::new(Outbound::new(memory)),
            ring_lag: RingLag::new(),
            streams: Streams::default(),
            put: Mutex::default(),
            intake: Notify::new(),
            caught_up: Notify::new(),
            closing: AtomicBool::new(false),
            runs: Runs::default(),
            exchanges: AtomicU32::new(0),
            failed: Mutex::default(),
        }
    }
    /// The errors of the last failed requests.
    pub(crate) fn failed(&self) -> MutexGuard<'_, FailedRequests> {
        lock(&self.failed)
    }
    /// Sends a completion to JavaScript. A text too long for the arena crosses by reference: it
    /// would never find room there, nor would any completion behind it.
    pub(crate) fn complete(&self, mut entry: Entry, mut first: &[u8], mut second: &[u8]) {
        if first.len() + second.len() > TEXT_BYTES_MAX {
            entry[0] |= completion_flag::TEXT_BY_REFERENCE;
            entry[POSITION] = self.put(Bytes::from([first, second].concat()));
            entry[LENGTH] = first.len() as u32;
            (first, second) = (&[], &[]);
        }
        if lock(&self.outbound).complete(entry, first, second) {
            self.wake_script();
        }
    }
    /// Completes `entry` with a piece of a body: through the arena, or by reference from
    /// [`BY_REFERENCE_BYTES_MIN`] on. `entry` gets the value of the word `body`.
    pub(crate) fn complete_body(&self, entry: impl FnOnce(u32) -> Entry, data: Bytes) {
        if data.len() < BY_REFERENCE_BYTES_MIN {
            return self.complete(entry(0), &data, &[]);
        }
        let mut entry = entry(self.put(data));
        entry[0] |= completion_flag::BY_REFERENCE;
        self.complete(entry, &[], &[]);
    }
    /// Moves completions that found no room into the ring, as far as it has some now.
    pub(crate) fn spill(&self) {
        if lock(&self.outbound).spill() {
            self.caught_up.notify_waiters();
        }
    }
    /// `Some` while completions wait outside of the ring, because JavaScript does not keep up: its
    /// servers read nothing until it is over.
    pub(crate) fn pause(this: &Arc<Self>) -> Option<Pause> {
        this.memory.overflows().then(|| -> Pause {
            let shared = Arc::clone(this);
            Box::pin(async move { is_caught_up(&shared.outbound, &shared.caught_up).await })
        })
    }
    /// How long the oldest completion has waited for JavaScript, as of now.
    pub(crate) fn lag(&self, now: Instant) -> Duration {
        lock(&self.outbound).lag(now)
    }
    /// Keeps bytes for the other side; the number is where.
    pub(crate) fn put(&self, bytes: Bytes) -> u32 {
        lock(&self.put).put(bytes)
    }
    /// Takes what was put there.
    pub(crate) fn take_put(&self, place: u32) -> Bytes {
        lock(&self.put).take(place)
    }
    /// The engine is idle: wakes JavaScript for new completions, and sleeps unless something was
    /// submitted meanwhile.
    pub(crate) fn rest(&self) {
        // JavaScript may have emptied the ring and gone to sleep after the ring was found full and
        // before the overflow flag was set: then only this call moves the overflow.
        self.spill();
        if let Some(entry) = self.streams.rested() {
            self.complete(entry, &[], &[]);
        }
        if lock(&self.outbound).announce() {
            self.wake_script();
        }
        self.memory.set_engine_sleeps(true);
        if self.memory.has_submissions() {
            self.memory.set_engine_sleeps(false);
            self.intake.notify_one();
        }
    }
    /// Sends a completion that may come from a thread which does not rest for this channel, such as that of a server's second worker.
    pub(crate) fn complete_from_anywhere(&self, entry: Entry, text: &[u8]) {
        self.complete(entry, text, &[]);
        if self.runs.are_elsewhere() {
            self.rest_beside();
        }
    }
    /// A thread beside the engine's is idle: wakes JavaScript for new completions.
    pub(crate) fn rest_beside(&self) {
        self.spill();
        if lock(&self.outbound).announce() {
            self.wake_script();
        }
    }
    /// Has JavaScript drain completions: behind the engine's run on its thread, if there is one.
    pub(crate) fn wake_script(&self) {
        if !self.runs.defer_script() {
            self.ring_lag.woken();
            self.waker.wake();
        }
    }
    /// Wakes the loop, from any thread.
    pub(crate) fn ring(&self) {
        self.waker.wake();
    }
}

/// Runs of the engine on JavaScript's thread, where it is there.
#[derive(Default)]
pub(crate) struct Runs {
    /// JavaScript's thread, and what runs the tasks of clients there.
    here: OnceLock<(ThreadId, Arc<dyn Spawner>)>,
    is_running: AtomicBool,
    script_due: AtomicBool,
}

impl Runs {
    /// On JavaScript's thread.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_spawner(&self, spawner: Arc<dyn Spawner>) {
        // There is one engine per environment.
        let _ = self.here.set((thread::current().id(), spawner));
    }
    /// Runs the tasks of clients; `None`: the engine's thread does.
    pub(crate) fn spawner(&self) -> Option<Arc<dyn Spawner>> {
        self.here.get().map(|(_, spawner)| Arc::clone(spawner))
    }
    /// Whether this is another thread than the one that they are on.
    fn are_elsewhere(&self) -> bool {
        let owner = self.here.get().map(|(owner, _)| *owner);
        owner.is_some_and(|owner| owner != thread::current().id())
    }
    /// JavaScript is to drain completions. False: no run is under way on this thread behind which it
    /// is called.
    pub(crate) fn defer_script(&self) -> bool {
        let is_here = || {
            let owner = self.here.get().map(|(owner, _)| *owner);
            owner == Some(thread::current().id())
        };
        let is_running = self.is_running.load(Ordering::Relaxed) && is_here();
        if is_running {
            self.script_due.store(true, Ordering::Relaxed);
        }
        is_running
    }
    /// A run begins or ends. True: JavaScript is to be called behind it.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_running(&self, running: bool) -> bool {
        self.is_running.store(running, Ordering::Relaxed);
        self.script_due.swap(false, Ordering::Relaxed)
    }
}
