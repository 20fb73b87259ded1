//! The exchanges of a run as their handlers see them.

use crate::content;
use crate::plan::Plan;
use crate::source::{TRAILER, trailers};
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};

/// All exchanges, by their number.
#[derive(Debug, Default)]
pub(crate) struct Records {
    entries: Mutex<HashMap<u64, Entry>>,
}

#[derive(Debug)]
struct Entry {
    plan: Arc<Plan>,
    seen: Seen,
}

/// An exchange at its handler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Times that a handler was called with it.
    pub(crate) calls: u32,
    /// Calls that are not over.
    pub(crate) open: u32,
    /// Bytes of the request, by the last call.
    pub(crate) bytes: usize,
    /// Bytes that are not those of the request.
    pub(crate) is_wrong: bool,
    pub(crate) end: Option<SeenEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeenEnd {
    Whole,
    WithTrailers,
    Failed,
}

impl Records {
    pub(crate) fn open(&self, plan: &Arc<Plan>) {
        let entry = Entry {
            plan: Arc::clone(plan),
            seen: Seen::default(),
        };
        self.lock().insert(plan.id, entry);
    }
    /// A handler is called with this path.
    pub(crate) fn enter(self: &Arc<Self>, path: &str) -> Call {
        let id = path.trim_start_matches('/').parse().unwrap();
        let mut entries = self.lock();
        let entry = entries.get_mut(&id).unwrap();
        let calls = entry.seen.calls + 1;
        let open = entry.seen.open + 1;
        entry.seen = Seen {
            calls,
            open,
            ..Seen::default()
        };
        Call {
            records: Arc::clone(self),
            plan: Arc::clone(&entry.plan),
            number: calls,
        }
    }
    pub(crate) fn seen(&self, id: u64) -> Seen {
        self.lock()[&id].seen.clone()
    }
    /// Plans whose calls are not over.
    pub(crate) fn still_open(&self) -> Vec<(Arc<Plan>, Seen)> {
        let entries = self.lock();
        let open = entries.values().filter(|entry| entry.seen.open > 0);
        open.map(|entry| (Arc::clone(&entry.plan), entry.seen.clone()))
            .collect()
    }
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Entry>> {
        self.entries.lock().unwrap()
    }
}

/// One call of a handler, until it and what it has started are dropped.
#[derive(Debug)]
pub(crate) struct Call {
    records: Arc<Records>,
    pub(crate) plan: Arc<Plan>,
    /// The first is 1.
    pub(crate) number: u32,
}

impl Call {
    fn note(&self, note: impl FnOnce(&mut Seen)) {
        let mut entries = self.records.lock();
        let entry = entries.get_mut(&self.plan.id).unwrap();
        // A later call counts from the beginning.
        if entry.seen.calls == self.number {
            note(&mut entry.seen);
        }
    }
    pub(crate) fn data(&self, data: &Bytes) {
        self.note(|seen| {
            let content = self.plan.upload_content();
            seen.is_wrong |= seen.end.is_some() || !content::is_of(content, seen.bytes, data);
            seen.bytes += data.len();
        });
    }
    pub(crate) fn trailers(&self, received: &HeaderMap) {
        self.note(|seen| {
            let expected = &trailers(self.plan.upload_content())[TRAILER];
            seen.is_wrong |= received.get(TRAILER) != Some(expected);
            seen.end = Some(SeenEnd::WithTrailers);
        });
    }
    pub(crate) fn end(&self, end: SeenEnd) {
        self.note(|seen| seen.end = seen.end.or(Some(end)));
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut entries = self.records.lock();
        if let Some(entry) = entries.get_mut(&self.plan.id) {
            entry.seen.open -= 1;
        }
    }
}

/// A request's body whose reading is noted.
pub(crate) struct Watched<B> {
    pub(crate) body: B,
    pub(crate) call: Arc<Call>,
}

impl<B: Body<Data = Bytes> + Unpin> Body for Watched<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            None => self.call.end(SeenEnd::Whole),
            Some(Err(_)) => self.call.end(SeenEnd::Failed),
            Some(Ok(frame)) => match (frame.data_ref(), frame.trailers_ref()) {
                (Some(data), _) => self.call.data(data),
                (_, Some(trailers)) => self.call.trailers(trailers),
                _ => {}
            },
        }
        Poll::Ready(frame)
    }
    fn is_end_stream(&self) -> bool {
        let is_end = self.body.is_end_stream();
        if is_end {
            self.call.end(SeenEnd::Whole);
        }
        is_end
    }
    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
