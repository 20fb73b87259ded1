//! Requests of HTTP/1.1 whose head waits for the first piece of their body: a body that its user gives piece by
//! piece may turn out to be empty, and then the request has none, which its head says. A server that answers a small body
//! without reading it answers behind the body, and the connection is kept.

use super::SETTINGS_WAIT;
use crate::client::connection::ConnectionTask;
use crate::client::dispatch::INBOX;
use crate::client::exchange::Outgoing;
use crate::driver::machine::Machine;
use crate::driver::signals::SlotWaker;
use std::collections::VecDeque;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::H2Code;
use trunkline_core::http::Token;

/// How long a head waits for its body: longer than a busy program takes to read what it has, and short
/// enough for a source that begins once the peer has answered the head.
const BODY_WAIT: Duration = Duration::from_secs(1);

/// In their order.
pub(in crate::client::connection) type HeldHeads = VecDeque<HeldHead>;

/// A request that has this connection, and whose head is not written.
pub(in crate::client::connection) struct HeldHead {
    request: Box<Outgoing>,
    /// It goes out with its body, and not at once behind the request in front of it.
    is_for_body: bool,
    /// It waits for its body, until then at the latest; `None`: it waits for the request in front of it.
    until: Option<Instant>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// Starts a request, now or once its body begins. Requests go out in their order.
    pub(in crate::client::connection) fn start_with_body(
        &mut self,
        now: Instant,
        request: Box<Outgoing>,
    ) {
        let is_for_body = self.waits_for_body(&request);
        if self.held.is_empty() && !is_for_body {
            return self.start(now, request);
        }
        if !request.exchange.attach(&self.handle.signals, INBOX) {
            return;
        }
        self.held.push_back(HeldHead {
            request,
            is_for_body,
            until: None,
        });
        self.start_held(now);
    }

    /// Whether the head is to wait. A body that waits for the peer's 100 is behind its head.
    fn waits_for_body(&self, request: &Outgoing) -> bool {
        request.head_with_body
            && matches!(self.io.machine, Machine::H1(_))
            && request.head.get(Token::EXPECT).is_none()
    }

    /// Starts held requests whose bodies have begun or ended, or are late.
    pub(in crate::client::connection) fn start_held(&mut self, now: Instant) {
        while let Some(held) = self.held.front_mut() {
            if held.request.exchange.is_abandoned() {
                let has_begun = held.until.is_some();
                self.held.pop_front();
                // As with undici, whether the first bytes were on their way or not: a request that its user
                // gives up while it is sent ends its connection.
                if has_begun {
                    return self.io.machine.abort(now, H2Code::CANCEL);
                }
                continue;
            }
            if held.is_for_body && held.until.is_none_or(|until| now < until) {
                let waker: Waker = SlotWaker::waker(&self.handle.signals, INBOX);
                if held
                    .request
                    .body
                    .poll_begin(&mut Context::from_waker(&waker))
                    .is_pending()
                {
                    if held.until.is_none() {
                        let until = now + BODY_WAIT;
                        held.until = Some(until);
                        self.deadlines.push(until, SETTINGS_WAIT, 0);
                        held.request.announce_start(self.id);
                    }
                    return;
                }
            }
            if let Some(held) = self.held.pop_front()
                && held.request.exchange.detach()
            {
                self.start(now, held.request);
            }
        }
    }
}

impl<S> ConnectionTask<S> {
    /// Ends the wait of all, to put them on another connection.
    pub(in crate::client::connection) fn take_held(
        &mut self,
    ) -> impl Iterator<Item = Box<Outgoing>> + use<S> {
        let held = std::mem::take(&mut self.held);
        let requests = held.into_iter().map(|held| held.request);
        requests.filter(|request| request.exchange.detach())
    }
}
