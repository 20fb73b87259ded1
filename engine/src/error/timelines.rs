//! The timelines of the last failed requests of a client or a server, kept once the program or a page asks for them.

#[cfg(feature = "client")]
use super::Error;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Timelines that a client or a server keeps, the latest ones: with [`TIMELINE_BYTES_MAX`] at most 256 KiB.
pub const TIMELINES_MAX: usize = 64;
/// Bytes of a timeline that is kept; the rest is cut off. Ten attempts with their waits have 3 KiB.
pub const TIMELINE_BYTES_MAX: usize = 4096;

/// The last number given: one row for all clients and servers of the process, so that a number in a log says which request it was.
static LAST_ID: AtomicU64 = AtomicU64::new(0);

/// The timeline of a request that failed, or that was slow at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptTimeline {
    /// The number of [`Error::timeline_id`]; no other request of the process has it.
    pub id: u64,
    /// When the request failed, or was over.
    pub failed_at: SystemTime,
    /// The text of [`Error::timeline`](crate::Error::timeline), or of a server, at most [`TIMELINE_BYTES_MAX`] of it.
    pub text: String,
}

/// The timelines of one client or server.
#[derive(Debug, Default)]
pub(crate) struct Timelines {
    /// Whether timelines are kept.
    keeps: AtomicBool,
    kept: Mutex<VecDeque<KeptTimeline>>,
}

impl Timelines {
    /// Keeps the timelines of requests that fail from now on.
    pub(crate) fn keep(&self) {
        self.keeps.store(true, Ordering::Relaxed);
    }
    /// Whether timelines are kept.
    #[cfg(feature = "server")]
    pub(crate) fn are_kept(&self) -> bool {
        self.keeps.load(Ordering::Relaxed)
    }
    /// Numbers the error and keeps its timeline, where timelines are kept.
    #[cfg(feature = "client")]
    pub(crate) fn note(&self, error: Error) -> Error {
        if !self.keeps.load(Ordering::Relaxed) {
            return error;
        }
        let id = Self::number();
        let error = error.with_timeline_id(id);
        self.add(id, error.timeline());
        error
    }
    /// Keeps a timeline that `text` makes with its number, which is returned.
    #[cfg(feature = "server")]
    pub(crate) fn push(&self, text: impl FnOnce(u64) -> String) -> u64 {
        let id = Self::number();
        self.add(id, text(id));
        id
    }
    fn number() -> u64 {
        LAST_ID.fetch_add(1, Ordering::Relaxed) + 1
    }
    fn add(&self, id: u64, text: String) {
        let timeline = KeptTimeline {
            id,
            failed_at: SystemTime::now(),
            text: cut(text, TIMELINE_BYTES_MAX),
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == TIMELINES_MAX {
            kept.pop_front();
        }
        kept.push_back(timeline);
    }
    /// The timelines that are kept, the latest last.
    pub(crate) fn list(&self) -> Vec<KeptTimeline> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().cloned().collect()
    }
}

/// The text up to a number of bytes, with a mark where the rest is left out.
fn cut(mut text: String, bytes_max: usize) -> String {
    const MARK: &str = "..";
    if text.len() > bytes_max {
        let end = (0..=bytes_max - MARK.len()).rfind(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push_str(MARK);
    }
    text
}

#[cfg(test)]
#[path = "timelines_test.rs"]
mod timelines_test;
