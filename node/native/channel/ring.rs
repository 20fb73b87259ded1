//! Two rings in memory that JavaScript sees as `ArrayBuffer`s and Rust owns: submissions come from
//! JavaScript, completions go to it. `node/src/channel/ring.ts` is the other end; `codes.rs` has the numbers.
//!
//! Each ring has entries of eight words and an arena for the bytes that belong to them. Positions
//! only grow (modulo 2^32); an entry's index is its position modulo the ring's length. The reader
//! returns entries and arena by storing its read position. A side sets its flag before it sleeps,
//! and only then is it woken. A full ring is back-pressure: entries without room wait at the
//! writer.

use super::area::Area;
pub(crate) use super::area::{ARENA_BYTES, ENTRIES};
use super::codes::control::*;
pub(crate) use super::codes::{ENTRY_WORDS, Entry, LENGTH, POSITION};
use super::sync::{Arc, AtomicU32, Ordering};

/// Bytes of a completion above which they cross by reference: a quarter of the arena, so that what
/// goes through it never waits for all of it to be read.
pub(crate) const TEXT_BYTES_MAX: usize = ARENA_BYTES as usize / 4;

/// Words of control; those of two threads are each on a cache line of its own.
pub(crate) const CONTROL_WORDS: usize = 16 * 11;

/// The code of an entry.
pub(crate) fn code_of(entry: &Entry) -> u32 {
    entry[0] & 0xff
}
/// How the body of an entry comes.
pub(crate) fn body_of(entry: &Entry) -> u32 {
    entry[0] >> 8 & 0xff
}
/// The position of an entry's text in the arena, and its bytes.
pub(crate) fn text_of(entry: &Entry) -> (u32, u32) {
    (entry[POSITION], entry[LENGTH])
}

/// The memory of both rings. Written by two threads, each word by one of them at a time; the
/// positions say whose turn it is.
pub(crate) struct Memory {
    pub(crate) control: Box<[AtomicU32; CONTROL_WORDS]>,
    pub(crate) submissions: Area,
    pub(crate) submission_arena: Area,
    pub(crate) completions: Area,
    pub(crate) completion_arena: Area,
}

impl Memory {
    pub(crate) fn new() -> Arc<Self> {
        let entries = ENTRIES as usize * size_of::<Entry>();
        let control = Box::new(std::array::from_fn(|_| AtomicU32::new(0)));
        let control: Box<[AtomicU32; CONTROL_WORDS]> = control;
        control[SCRIPT_SLEEPS].store(1, Ordering::SeqCst);
        Arc::new(Self {
            control,
            submissions: Area::new(entries),
            submission_arena: Area::new(ARENA_BYTES as usize),
            completions: Area::new(entries),
            completion_arena: Area::new(ARENA_BYTES as usize),
        })
    }
    /// Whether submissions wait that `Submissions` has not read.
    pub(crate) fn has_submissions(&self) -> bool {
        let written = self.control[SUBMITTED].load(Ordering::SeqCst);
        written != self.control[READ].load(Ordering::Relaxed)
    }
    /// The engine says whether it sleeps.
    pub(crate) fn set_engine_sleeps(&self, sleeps: bool) {
        self.control[ENGINE_SLEEPS].store(u32::from(sleeps), Ordering::SeqCst);
    }
    /// A call of JavaScript's begins or ends, on its thread.
    pub(crate) fn set_script_called(&self, called: bool) {
        self.control[SCRIPT_CALLED].store(u32::from(called), Ordering::Relaxed);
    }
    /// True once if nothing is under way any more. On JavaScript's thread.
    pub(crate) fn take_idle(&self) -> bool {
        self.control[IDLE].swap(0, Ordering::Relaxed) == 1
    }
    /// Whether completions wait outside of the ring.
    pub(crate) fn overflows(&self) -> bool {
        self.control[OVERFLOWS].load(Ordering::Relaxed) == 1
    }
    /// The engine says that it is no more.
    pub(crate) fn set_ended(&self) {
        self.control[ENGINE_ENDED].store(1, Ordering::SeqCst);
    }
    pub(crate) fn has_ended(&self) -> bool {
        self.control[ENGINE_ENDED].load(Ordering::SeqCst) == 1
    }
    /// True once if JavaScript sleeps: the caller wakes it.
    fn wake_script(&self) -> bool {
        self.control[SCRIPT_SLEEPS].swap(0, Ordering::SeqCst) == 1
    }
}

/// The engine's end of the submissions.
pub(crate) struct Submissions {
    memory: Arc<Memory>,
    read: u32,
}

impl Submissions {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, read: 0 }
    }
    /// The next entry and the `length` bytes of the arena at the position that `range` finds in
    /// it, handed to `take`. False: there is none.
    pub(crate) fn next(
        &mut self,
        range: impl FnOnce(&Entry) -> Option<(u32, u32)>,
        take: impl FnOnce(Entry, &[u8]),
    ) -> bool {
        let control = &self.memory.control;
        if control[SUBMITTED].load(Ordering::Acquire) == self.read {
            return false;
        }
        let at = (self.read % ENTRIES) as usize * size_of::<Entry>();
        let mut entry = [0; ENTRY_WORDS];
        // SAFETY: the entry is written (acquired above) and not given back yet.
        let bytes = unsafe { self.memory.submissions.bytes(at, size_of::<Entry>()) };
        for (word, bytes) in entry.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_ne_bytes(*bytes);
        }
        match range(&entry) {
            None => take(entry, &[]),
            Some((position, length)) => {
                let at = (position % ARENA_BYTES) as usize;
                let length = (length as usize).min(ARENA_BYTES as usize - at);
                // SAFETY: written with its entry, cut to lie inside, not given back yet.
                take(entry, unsafe {
                    self.memory.submission_arena.bytes(at, length)
                });
                control[READ_ARENA].store(position.wrapping_add(length as u32), Ordering::Release);
            }
        }
        self.read = self.read.wrapping_add(1);
        control[READ].store(self.read, Ordering::Release);
        true
    }
}

/// The engine's end of the completions.
pub(crate) struct Completions {
    memory: Arc<Memory>,
    written: u32,
    arena_written: u32,
    /// How far JavaScript has read the arena, as far as is known.
    arena_drained: u32,
    announced: u32,
}

/// Completions that may wait for the end of the engine's turn before JavaScript is woken.
const UNANNOUNCED_MAX: u32 = 64;

impl Completions {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self {
            memory,
            written: 0,
            arena_written: 0,
            arena_drained: 0,
            announced: 0,
        }
    }
    /// Writes an entry whose words 3 and 4 become the arena position of `first` and its length;
    /// `second` lies right behind it. False: there is no room, nothing was written.
    pub(crate) fn push(&mut self, mut entry: Entry, first: &[u8], second: &[u8]) -> bool {
        // One order with `set_overflows`, as JavaScript has for these two words: one of both sees
        // the other's.
        let drained = self.memory.control[DRAINED].load(Ordering::SeqCst);
        if self.written.wrapping_sub(drained) >= ENTRIES {
            return false;
        }
        let length = first.len() + second.len();
        if length > 0 {
            let Some(position) = self.room(length, drained) else {
                return false;
            };
            let at = (position % ARENA_BYTES) as usize;
            // SAFETY: `room` says that these bytes are read and lie inside.
            unsafe {
                self.memory.completion_arena.write(at, first);
                self.memory.completion_arena.write(at + first.len(), second);
            }
            entry[POSITION] = position;
            entry[LENGTH] = first.len() as u32;
            self.arena_written = position.wrapping_add(length as u32);
        }
        let at = (self.written % ENTRIES) as usize * size_of::<Entry>();
        let mut bytes = [0; size_of::<Entry>()];
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(entry) {
            *place = word.to_ne_bytes();
        }
        // SAFETY: fewer than `ENTRIES` are unread, so the reader is done with this one.
        unsafe { self.memory.completions.write(at, &bytes) };
        self.written = self.written.wrapping_add(1);
        self.memory.control[COMPLETED].store(self.written, Ordering::SeqCst);
        true
    }
    /// Where `length` bytes have room in one piece; `drained`: the entries that are read.
    fn room(&mut self, length: usize, drained: u32) -> Option<u32> {
        let length = u32::try_from(length).ok().filter(|&l| l <= ARENA_BYTES)?;
        let left = ARENA_BYTES - self.arena_written % ARENA_BYTES;
        if drained == self.written {
            // Nothing is unread. At the arena's beginning a piece as long as all of it fits, and what comes one by one stays in the
            // same few pages, which are in the processor's cache.
            self.arena_written = self.arena_written.wrapping_add(left % ARENA_BYTES);
            self.arena_drained = self.arena_written;
            return Some(self.arena_written);
        }
        let written = self.arena_written;
        let used = |read: u32| written.wrapping_sub(read);
        let read = self.memory.control[DRAINED_ARENA].load(Ordering::SeqCst);
        // It has read nothing yet of what was written since the last beginning.
        if used(read) < used(self.arena_drained) {
            self.arena_drained = read;
        }
        let skipped = if length > left { left } else { 0 };
        let fits = used(self.arena_drained) + skipped + length <= ARENA_BYTES;
        fits.then(|| written.wrapping_add(skipped))
    }
    /// Whether enough completions are unannounced to wake JavaScript now.
    pub(crate) fn is_pressing(&self) -> bool {
        self.written.wrapping_sub(self.announced) >= UNANNOUNCED_MAX
    }
    /// How many completions were written, and how many JavaScript has read; both wrap around.
    pub(crate) fn progress(&self) -> (u32, u32) {
        let drained = self.memory.control[DRAINED].load(Ordering::SeqCst);
        (self.written, drained)
    }
    /// True: there are new completions and JavaScript sleeps; the caller wakes it.
    pub(crate) fn announce(&mut self) -> bool {
        if self.announced == self.written {
            return false;
        }
        self.announced = self.written;
        self.memory.wake_script()
    }
    /// Says whether completions wait outside of the ring.
    pub(crate) fn set_overflows(&self, overflows: bool) {
        self.memory.control[OVERFLOWS].store(u32::from(overflows), Ordering::SeqCst);
    }
}

#[cfg(test)]
#[path = "ring_test.rs"]
pub(crate) mod ring_test;
