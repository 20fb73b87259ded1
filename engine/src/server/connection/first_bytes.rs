//! The first bytes of a cleartext connection, which say its version.

use crate::driver::read_buffer::with_read_buffer;
use crate::driver::signals::Signals;
use crate::driver::timer::{self, Sleep};
use crate::driver::transport::Transport;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::limits::DRAIN_FIRST_REQUEST_WAIT;

/// RFC 9113 section 3.4.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long a cleartext connection may be silent before callbacks get it without a version. Ordinary clients begin with the
/// end of the handshake, and cost one event.
const SILENT_AFTER: Duration = Duration::from_millis(10);

/// Reads into `first` until it is clear whether the bytes start with the HTTP/2 preface. `silent` is called once, if they
/// have not come after [`SILENT_AFTER`]. False: they did not come in the time that a server which stops waits for a
/// first request.
pub(in crate::server) async fn first_bytes<T: AsyncRead + AsyncWrite + Unpin>(
    transport: &mut Transport<T>,
    first: &mut Vec<u8>,
    silent: &mut Option<impl FnOnce()>,
    signals: &Signals,
) -> io::Result<bool> {
    let mut silence = None;
    let mut last_wait = LastWait::default();
    while first.len() < PREFACE.len() && PREFACE.starts_with(first) {
        let end = poll_fn(|cx| {
            let read = with_read_buffer(|buffer| {
                transport.poll_read(cx, buffer, &mut |bytes| first.extend_from_slice(bytes))
            });
            if read.is_pending() && silent.is_some() {
                let silence = silence.get_or_insert_with(|| Box::pin(timer::sleep(SILENT_AFTER)));
                if silence.as_mut().poll(cx).is_ready()
                    && let Some(silent) = silent.take()
                {
                    silent();
                }
            }
            if read.is_pending() && last_wait.is_over(signals, cx) {
                return Poll::Ready(None);
            }
            read.map(Some)
        })
        .await;
        let Some(end) = end else {
            return Ok(false);
        };
        if end?.is_some() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(true)
}

/// The time that a server which stops waits for a first request, or for the ClientHello before it.
#[derive(Default)]
pub(super) struct LastWait(Option<Pin<Box<Sleep>>>);

impl LastWait {
    /// Whether the server stops and the time has passed since that was seen. The task is polled when it stops, and then
    /// when the time is over.
    pub(super) fn is_over(&mut self, signals: &Signals, cx: &mut Context<'_>) -> bool {
        if !signals.is_stopped() {
            return false;
        }
        let wait = || Box::pin(timer::sleep(DRAIN_FIRST_REQUEST_WAIT));
        self.0.get_or_insert_with(wait).as_mut().poll(cx).is_ready()
    }
}

/// Runs `work` with a deadline after `limit`.
pub(in crate::server) async fn within<R, E: From<io::Error>>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<R, E>>,
) -> Result<R, E> {
    match limit {
        None => work.await,
        Some(limit) => timer::timeout(limit, work)
            .await
            .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into())),
    }
}
