//! One exchange between the rings and the engine: the engine's events become completions, and the
//! request body comes from submissions.

use crate::channel::codes::{BY_REFERENCE_BYTES_MIN, completion, completion_flag, http_version};
use crate::channel::heads::fields::{spelled, with_text, with_text_behind};
use crate::channel::records::version_code;
use crate::channel::ring::Entry;
use crate::channel::shared::Shared;
use crate::failure;
use bytes::Bytes;
use http_body::{Body, Frame};
use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use trunkline::client::{BodyArrival, ExchangeListener};
use trunkline::core::http::{Fields, ResponseHead, Version};

/// The callbacks of one exchange.
pub(crate) struct ExchangeCallbacks {
    shared: Arc<Shared>,
    number: u32,
    is_watched: bool,
    is_over: bool,
    /// Its body, until its end is settled.
    upload: Option<(Arc<Upload>, UploadKind)>,
}

/// The kinds of request bodies that JavaScript sends piece by piece.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum UploadKind {
    /// The request's content.
    Content,
    /// Bytes for the tunnel that the peer may open with a status of 101.
    Upgrade,
    /// Bytes for the tunnel that the peer may open with a status of 2xx, too (RFC 9110 section 9.3.6).
    Connect,
    /// Bytes for a tunnel that the peer has refused: they end with the response.
    Refused,
}

impl UploadKind {
    /// Its kind behind a response's head of `status`.
    fn answered(self, status: u16) -> Self {
        match (self, status) {
            (Self::Upgrade | Self::Connect, 101) | (Self::Connect, 200..300) => self,
            (Self::Upgrade | Self::Connect, _) => Self::Refused,
            (Self::Content | Self::Refused, _) => self,
        }
    }
}

impl ExchangeCallbacks {
    pub(crate) fn new(shared: &Arc<Shared>, number: u32, is_watched: bool) -> Self {
        shared.exchanges.fetch_add(1, Ordering::Relaxed);
        Self {
            shared: Arc::clone(shared),
            number,
            is_watched,
            is_over: false,
            upload: None,
        }
    }
    /// Notes a body that JavaScript sends piece by piece.
    pub(crate) fn watch_upload(&mut self, upload: &Arc<Upload>, kind: UploadKind) {
        self.upload = Some((Arc::clone(upload), kind));
    }
    /// Ends the exchange before it began.
    pub(crate) fn refuse(&mut self, why: &serde_json::Value) {
        self.finish(completion::failed, why.to_string().as_bytes());
    }
    fn finish(&mut self, completion: fn(u32) -> Entry, bytes: &[u8]) {
        self.over();
        let mut entry = completion(self.number);
        entry[0] |= completion_flag::LAST;
        self.shared.complete(entry, bytes, &[]);
    }
    /// Ends the response where the request's body, or what goes out through a tunnel, goes on behind it, under the number that
    /// JavaScript has for it: the body has the last completion. False: it does not go on.
    fn end_before_body(&mut self, completions: impl FnOnce(&Shared)) -> bool {
        let goes_on = match &self.upload {
            None | Some((_, UploadKind::Refused)) => false,
            Some((upload, _)) => upload.continue_past_response(|| completions(&self.shared)),
        };
        if goes_on {
            self.upload = None;
            self.leave();
        }
        goes_on
    }
    fn leave(&mut self) {
        if !self.is_over {
            self.is_over = true;
            self.shared.exchanges.fetch_sub(1, Ordering::Relaxed);
        }
    }
    /// JavaScript can send nothing more under this number: a body that it has not ended ends here.
    fn over(&mut self) {
        self.leave();
        if let Some((upload, kind)) = self.upload.take() {
            // Bytes that were written to a tunnel leave.
            upload.let_go(kind != UploadKind::Content);
        }
    }
}

impl ExchangeListener for ExchangeCallbacks {
    fn started(&mut self, connection: u64) {
        if self.is_watched {
            let (low, high) = (connection as u32, (connection >> 32) as u32);
            let entry = completion::started(self.number, low, high);
            self.shared.complete(entry, &[], &[]);
        }
    }
    fn interim(&mut self, head: &ResponseHead, version: Version) {
        let reason = head.reason();
        let reason_length = reason.map_or(0, words_len);
        let (status, version) = (u32::from(head.status), version_code(version));
        let entry = completion::interim(self.number, status, version, reason_length);
        let fields = spelled(head.section(), head.fields());
        with_text_behind(reason.unwrap_or_default(), fields, |text| {
            self.shared.complete(entry, text, &[]);
        });
    }
    fn response(&mut self, head: &ResponseHead, version: Version, body: BodyArrival) {
        if let Some((_, kind)) = &mut self.upload {
            *kind = kind.answered(head.status);
        }
        let version = version_code(version);
        let (mut behind, mut word, mut flags) = (Bytes::new(), 0, 0);
        let reason = match head.phrase() {
            b"OK" if head.status == 200 => None,
            reason => Some(reason).filter(|_| version < http_version::HTTP2),
        };
        let (status, reason_length) = (u32::from(head.status), reason.map_or(0, words_len));
        let words = reason.unwrap_or_default();
        let number = self.number;
        if let BodyArrival::Whole(body) = body {
            // The engine hands nothing over whole with a body while the request's flows.
            let ends_before_body = body.is_empty()
                && self.end_before_body(|shared| {
                    let entry = completion::response(number, status, 0, version, reason_length);
                    let fields = spelled(head.section(), head.fields());
                    with_text_behind(words, fields, |text| shared.complete(entry, text, &[]));
                    shared.complete(completion::ended(number), &[], &[]);
                });
            if ends_before_body {
                return;
            }
            self.over();
            flags = completion_flag::LAST;
            word = body.len() as u32;
            if body.len() >= BY_REFERENCE_BYTES_MIN {
                flags |= completion_flag::BY_REFERENCE;
                word = self.shared.put(body);
            } else {
                behind = body;
            }
        }
        let mut entry = completion::response(number, status, word, version, reason_length);
        entry[0] |= flags;
        let fields = spelled(head.section(), head.fields());
        with_text_behind(words, fields, |text| {
            self.shared.complete(entry, text, &behind);
        });
    }
    fn data(&mut self, data: Bytes) {
        let number = self.number;
        self.shared
            .complete_body(|body| completion::data(number, body), data);
    }
    fn await_unsent(&mut self) -> Option<Box<dyn Send>> {
        // One of which JavaScript has more holds the process itself, where it does not wait for its source.
        let is_all_here = match &self.upload {
            None | Some((_, UploadKind::Refused)) => true,
            Some((upload, _)) => !upload.decides_to_go_on(),
        };
        is_all_here.then(|| -> Box<dyn Send> { Box::new(ProcessHold::new(&self.shared)) })
    }
    fn end(&mut self, trailers: Option<&Fields>) {
        let entry = completion::ended(self.number);
        let ends_before_body = self.end_before_body(|shared| match trailers {
            None => shared.complete(entry, &[], &[]),
            Some(trailers) => with_text(spelled(trailers, trailers.iter()), |text| {
                shared.complete(entry, text, &[]);
            }),
        });
        if ends_before_body {
            return;
        }
        match trailers {
            None => self.finish(completion::ended, &[]),
            Some(trailers) => with_text(spelled(trailers, trailers.iter()), |text| {
                self.finish(completion::ended, text);
            }),
        }
    }
    fn fail(&mut self, error: trunkline::Error) {
        // Whatever it says, it is the engine's end.
        if self.shared.memory.has_ended() {
            return self.finish(completion::cancelled, &[]);
        }
        let mut description = failure::describe(&error);
        description["timeline"] = self.shared.failed().keep(error).into();
        let text = description.to_string();
        self.finish(completion::failed, text.as_bytes());
    }
}

impl Drop for ExchangeCallbacks {
    fn drop(&mut self) {
        if !self.is_over {
            self.finish(completion::cancelled, &[]);
        }
    }
}

/// Keeps the process of JavaScript's thread until it is dropped.
struct ProcessHold(Arc<Shared>);

impl ProcessHold {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.complete(completion::hold(0, 1), &[], &[]);
        Self(Arc::clone(shared))
    }
}

impl Drop for ProcessHold {
    fn drop(&mut self) {
        self.0.complete(completion::hold(0, 0), &[], &[]);
    }
}

/// Word 7 of a head: one more than the bytes of the reason phrase in front of its fields, or 0: it is
/// the usual one.
fn words_len(words: &[u8]) -> u32 {
    u32::try_from(words.len() + 1).unwrap_or_default()
}

/// A request body that JavaScript sends piece by piece.
#[derive(Default)]
pub(crate) struct Upload {
    state: Mutex<UploadState>,
}

#[derive(Default)]
struct UploadState {
    pieces: VecDeque<Bytes>,
    ended: bool,
    failed: bool,
    /// Its exchange is over, and its number reused: it gets no further events.
    is_over: bool,
    /// The engine has dropped it: remaining and later bytes have no reader.
    is_unread: bool,
    /// The response has ended, and the body has its number for itself.
    goes_on: bool,
    waker: Option<Waker>,
}

impl UploadState {
    /// JavaScript has more of it, or had when this was asked first.
    fn decides_to_go_on(&mut self) -> bool {
        self.goes_on |= !(self.ended || self.failed || self.is_unread);
        self.goes_on
    }
}

impl Upload {
    pub(crate) fn push(&self, piece: Bytes) {
        self.change(|state| {
            if !state.is_unread {
                state.pieces.push_back(piece);
            }
        });
    }
    pub(crate) fn end(&self) {
        self.change(|state| state.ended = true);
    }
    pub(crate) fn fail(&self) {
        self.change(|state| state.failed = true);
    }
    /// Whether it has failed, and the engine does not know yet.
    pub(crate) fn has_failed(&self) -> bool {
        self.lock().failed
    }
    /// Whether it goes on behind the end of the response, which comes next. What JavaScript says of it in between changes nothing.
    fn decides_to_go_on(&self) -> bool {
        self.lock().decides_to_go_on()
    }
    /// Goes on behind the end of the response, if JavaScript has more of it. `completions` are those of that end, under
    /// the lock, so that the body's last one is behind them.
    fn continue_past_response(&self, completions: impl FnOnce()) -> bool {
        let mut state = self.lock();
        let goes_on = state.decides_to_go_on();
        if goes_on {
            completions();
        }
        goes_on
    }
    /// Ends the body: the bytes so far are all of it, or it has failed unless it had ended.
    fn let_go(&self, is_whole: bool) {
        self.change(|state| {
            (state.is_over, state.goes_on) = (true, false);
            match is_whole {
                true => state.ended = true,
                false => state.failed = !state.ended,
            }
        });
    }
    fn change(&self, change: impl FnOnce(&mut UploadState)) {
        let mut state = self.lock();
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
    fn lock(&self) -> MutexGuard<'_, UploadState> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The engine's end of an [`Upload`].
pub(crate) struct UploadBody {
    pub(crate) upload: Arc<Upload>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: u32,
}

impl Drop for UploadBody {
    /// The memory of what is left goes now, and what comes later is not kept.
    fn drop(&mut self) {
        let mut state = self.upload.lock();
        state.is_unread = true;
        let left = mem::take(&mut state.pieces);
        if mem::take(&mut state.goes_on) {
            state.is_over = true;
            let mut entry = completion::released(self.number);
            entry[0] |= completion_flag::LAST;
            self.shared.complete(entry, &[], &[]);
        }
        drop(state);
        drop(left);
    }
}

impl Body for UploadBody {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let mut state = self.upload.lock();
        if let Some(piece) = state.pieces.pop_front() {
            // Under the lock, so that nothing follows the last word on its exchange.
            if !state.is_over {
                let length = piece.len() as u32;
                let entry = completion::room(self.number, length);
                self.shared.complete(entry, &[], &[]);
            }
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        if mem::take(&mut state.failed) {
            return Poll::Ready(Some(Err("the request's body failed")));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
    fn is_end_stream(&self) -> bool {
        let state = self.upload.lock();
        state.ended && state.pieces.is_empty() && !state.failed
    }
}
