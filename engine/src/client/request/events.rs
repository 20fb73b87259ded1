//! Server-sent events (`text/event-stream`, the HTML standard), with connections that are made again behind
//! the last event.

mod parse;

use super::{RequestBuilder, ResponseFuture};
use crate::body::Body;
use crate::driver::timer::{Sleep, sleep};
use crate::error::{Error, ErrorKind, Fault, Retry};
use bytes::{Buf, Bytes};
use futures_core::Stream;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::{Response, StatusCode};
use http_body::Body as _;
use parse::{EVENT_BYTES_MAX, ID_BYTES_MAX, Parser, TooLong};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// The pause before a stream that ended is asked for again, unless the server says another one (`retry`).
const RECONNECT_PAUSE: Duration = Duration::from_secs(3);
/// Pauses double while nothing comes, up to this.
const RECONNECT_PAUSE_MAX: Duration = Duration::from_secs(60);
/// Connections in a row that brought no event, before the last error is given out.
const FAILURES_MAX: u32 = 10;

/// One event of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerEvent {
    /// Its type; `message` where the server says none.
    pub name: String,
    /// Its lines, joined by LF.
    pub data: String,
    /// The id of the last event that had one; empty before the first.
    pub id: String,
}

/// The events of a server; made by [`RequestBuilder::events`]. A stream that ends, or whose connection breaks, is
/// asked for again with `last-event-id`, after 3 s or the server's `retry`, and twice as long each time that
/// nothing comes, up to 60 s. It ends at a 204, and with an error at: a status other than 200 (429, 502, 503 and
/// 504 are asked again), another type than `text/event-stream`, an event of more than 16 MiB or with an id
/// of more than 8 KiB, an error that would come again, and the tenth connection in a row that brings no event.
#[must_use = "a stream does nothing until it is read"]
pub struct EventStream {
    request: RequestBuilder,
    stage: Stage,
    parser: Parser,
    /// Received, and not parsed.
    unread: Bytes,
    pause: Duration,
    failures: u32,
}

enum Stage {
    Start,
    Connecting(ResponseFuture),
    Reading(Body),
    Pausing(Pin<Box<Sleep>>),
    Ended,
}

impl RequestBuilder {
    /// Sends it as one for server-sent events. Its body must not be a stream.
    ///
    /// ```no_run
    /// # async fn example(client: trunkline::Client) -> Result<(), trunkline::Error> {
    /// use futures_util::StreamExt;
    ///
    /// let mut events = client.get("https://example.org/events").events();
    /// while let Some(event) = events.next().await {
    ///     let event = event?;
    ///     println!("{} {}", event.name, event.data);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(self) -> EventStream {
        EventStream {
            request: self,
            stage: Stage::Start,
            parser: Parser::default(),
            unread: Bytes::new(),
            pause: RECONNECT_PAUSE,
            failures: 0,
        }
    }
}

impl EventStream {
    /// The pause before the stream is asked for again, until the server says another one. Default 3 s.
    pub fn reconnect_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
    /// The id of the last event that had one.
    pub fn last_event_id(&self) -> Option<&str> {
        self.parser.last_id()
    }
    fn connect(&mut self) -> Result<ResponseFuture, Error> {
        let request = self.request.try_clone().ok_or_else(|| {
            Error::config("a request for events has a body that streams; it must be one that can be sent again")
        })?;
        let mut parts = request.parts?;
        let fields = &mut parts.headers;
        let accept = http::HeaderValue::from_static("text/event-stream");
        fields.entry(ACCEPT).or_insert(accept);
        let fresh = http::HeaderValue::from_static("no-store");
        fields.entry(CACHE_CONTROL).or_insert(fresh);
        let id = self.parser.last_id().filter(|id| !id.is_empty());
        if let Some(id) = id.and_then(|id| http::HeaderValue::from_bytes(id.as_bytes()).ok()) {
            fields.insert("last-event-id", id);
        }
        let request = RequestBuilder {
            parts: Ok(parts),
            ..request
        };
        Ok(request.send())
    }
    /// Goes on with a pause, or ends with `error`.
    fn reconnect(&mut self, error: Option<Error>) -> Option<Error> {
        self.failures += 1;
        if self.failures >= FAILURES_MAX {
            self.stage = Stage::Ended;
            return error.or_else(|| {
                Some(Error::cancelled(
                    "the stream of events ended without one, ten times",
                ))
            });
        }
        let id = self.parser.last_id().map(ToOwned::to_owned);
        self.parser = Parser::resumed(id);
        let factor = 1_u32.checked_shl(self.failures - 1).unwrap_or(u32::MAX);
        let longest = RECONNECT_PAUSE_MAX.max(self.pause);
        let pause = self.pause.saturating_mul(factor).min(longest);
        self.stage = Stage::Pausing(Box::pin(sleep(pause)));
        None
    }
    /// Takes a response's head. `Some`: the end, with an error or without.
    fn accept(&mut self, response: Response<Body>) -> Option<Option<Error>> {
        let status = response.status();
        let later = [429, 502, 503, 504].contains(&status.as_u16());
        if later {
            let error = Error::new(
                ErrorKind::Status(status),
                Fault::Peer,
                Retry::OnlyIfIdempotent,
            );
            return self.reconnect(Some(error)).map(Some);
        }
        self.stage = Stage::Ended;
        match status {
            StatusCode::NO_CONTENT => return Some(None),
            StatusCode::OK => {}
            _ => {
                let error = Error::new(ErrorKind::Status(status), Fault::Peer, Retry::Never);
                return Some(Some(error));
            }
        }
        let media_type = response.headers().get(CONTENT_TYPE);
        let media_type = media_type.map_or(&b""[..], |value| value.as_bytes());
        let essence = media_type
            .split(|&byte| byte == b';')
            .next()
            .unwrap_or_default();
        if !essence
            .trim_ascii()
            .eq_ignore_ascii_case(b"text/event-stream")
        {
            let text = format!(
                "the response is no stream of events: its type is {:?}",
                String::from_utf8_lossy(media_type)
            );
            let error = Error::new(ErrorKind::Body, Fault::Peer, Retry::Never).with_text(text);
            return Some(Some(error));
        }
        self.stage = Stage::Reading(response.into_body());
        None
    }
    /// The next event of what was received.
    fn next_event(&mut self) -> Option<Result<ServerEvent, Error>> {
        let mut rest = &self.unread[..];
        let found = self.parser.next_event(&mut rest);
        let parsed = self.unread.len() - rest.len();
        self.unread.advance(parsed);
        if let Some(pause) = self.parser.take_retry() {
            self.pause = pause;
        }
        match found {
            Ok(Some(event)) => {
                self.failures = 0;
                Some(Ok(event))
            }
            Ok(None) => None,
            Err(long) => {
                self.unread.clear();
                self.stage = Stage::Ended;
                let text = match long {
                    TooLong::Event => format!("an event has more than {EVENT_BYTES_MAX} bytes"),
                    TooLong::Id => format!("the id of an event has more than {ID_BYTES_MAX} bytes"),
                };
                let error = Error::new(ErrorKind::Body, Fault::Peer, Retry::Never);
                Some(Err(error.with_text(text)))
            }
        }
    }
}

impl Stream for EventStream {
    type Item = Result<ServerEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.next_event() {
                return Poll::Ready(Some(event));
            }
            let failed = match &mut this.stage {
                Stage::Start => match this.connect() {
                    Ok(response) => {
                        this.stage = Stage::Connecting(response);
                        None
                    }
                    Err(error) => {
                        this.stage = Stage::Ended;
                        Some(error)
                    }
                },
                Stage::Connecting(response) => match ready!(Pin::new(response).poll(cx)) {
                    Ok(response) => match this.accept(response) {
                        Some(None) => return Poll::Ready(None),
                        Some(failed) => failed,
                        None => None,
                    },
                    Err(error) if error.retry() == Retry::Never => {
                        this.stage = Stage::Ended;
                        Some(error)
                    }
                    Err(error) => this.reconnect(Some(error)),
                },
                Stage::Reading(body) => match ready!(Pin::new(body).poll_frame(cx)) {
                    Some(Ok(frame)) => {
                        this.unread = frame.into_data().unwrap_or_default();
                        None
                    }
                    Some(Err(error)) => this.reconnect(Some(error)),
                    None => this.reconnect(None),
                },
                Stage::Pausing(sleep) => {
                    ready!(sleep.as_mut().poll(cx));
                    this.stage = Stage::Start;
                    None
                }
                Stage::Ended => return Poll::Ready(None),
            };
            if let Some(error) = failed {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
