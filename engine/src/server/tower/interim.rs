//! Interim responses of a handler (RFC 9110 section 15.2), from any thread: the handler leaves the
//! response here and wakes the exchange, which alone touches the machine.

use crate::error::Error;
use http::{Response, StatusCode, header};
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use trunkline_core::error::{Misuse, Violation};
use trunkline_core::limits::INTERIM_RESPONSES_MAX;

/// Sends interim responses of one exchange, `103 (Early Hints)` for example (RFC 8297), ahead of
/// its final one. It is among the request's extensions if
/// [`ServerConfig::interim_responses`](crate::ServerConfig::interim_responses) is set, and works
/// from every thread until the handler gives its response.
///
/// ```
/// # use http::{Request, Response, header};
/// # use trunkline::{Body, InterimSender};
/// # async fn page() -> Body { Body::empty() }
/// async fn handler(request: Request<Body>) -> Response<Body> {
///     if let Some(interim) = request.extensions().get::<InterimSender>() {
///         let hints = Response::builder()
///             .status(103)
///             .header(header::LINK, "</style.css>; rel=preload; as=style");
///         // An answer without its hints is an answer all the same.
///         let _ = interim.send(hints.body(()).unwrap());
///     }
///     Response::new(page().await)
/// }
/// ```
#[derive(Clone)]
pub struct InterimSender(Arc<InterimQueue>);

struct InterimQueue {
    state: Mutex<State>,
    /// The waker of the exchange.
    waker: Waker,
}

#[derive(Default)]
struct State {
    waiting: Vec<Response<()>>,
    /// Responses that were given, sent or not.
    sent: u32,
    /// The final response has begun, or never will.
    over: bool,
}

impl InterimSender {
    /// `waker`: of the exchange.
    pub(in crate::server) fn new(waker: Waker) -> Self {
        let state = Mutex::default();
        Self(Arc::new(InterimQueue { state, waker }))
    }

    /// Sends `response` at once. A client that speaks HTTP/1.0 gets none (RFC 9110 section 15.2):
    /// it is dropped then. A `100 (Continue)` goes out by itself when the handler waits for a body
    /// that the client holds back.
    ///
    /// # Errors
    /// When its status is not one of 100 and 102 to 199, when it has a `content-length` or
    /// `transfer-encoding`, which no interim response may have (RFC 9110 section 8.6, RFC 9112
    /// section 6.1), when 1,024 were sent already, or when the final response has begun.
    pub fn send(&self, response: Response<()>) -> Result<(), Error> {
        check(&response)?;
        let mut state = self.lock();
        if state.over {
            return Err(Error::misuse(Misuse::StreamNotOpen)
                .with_text("an interim response came after the final one"));
        }
        if state.sent == INTERIM_RESPONSES_MAX {
            let text = format!(
                "this would be interim response {} of one exchange; {INTERIM_RESPONSES_MAX} are \
                 allowed",
                INTERIM_RESPONSES_MAX + 1
            );
            return Err(Error::misuse(Misuse::Invalid(Violation::InterimTooMany)).with_text(text));
        }
        state.sent += 1;
        state.waiting.push(response);
        drop(state);
        self.0.waker.wake_by_ref();
        Ok(())
    }
    /// Takes the interim responses to send. `over`: the final response follows, so no more are
    /// accepted.
    pub(in crate::server) fn take(&self, over: bool) -> Vec<Response<()>> {
        let mut state = self.lock();
        state.over |= over;
        mem::take(&mut state.waiting)
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(response: &Response<()>) -> Result<(), Error> {
    let status = response.status();
    if !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS {
        let text = format!(
            "{} is not the status of an interim response; those are 100 and 102 to 199",
            status.as_u16()
        );
        return Err(Error::misuse(Misuse::Invalid(Violation::StatusInvalid)).with_text(text));
    }
    for name in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING] {
        if response.headers().contains_key(&name) {
            let text = format!("an interim response has no body and thus no {name}");
            return Err(Error::misuse(Misuse::BodyLength).with_text(text));
        }
    }
    Ok(())
}

impl fmt::Debug for InterimSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("InterimSender")
            .field("given", &state.sent)
            .field("over", &state.over)
            .finish_non_exhaustive()
    }
}
