//! Request heads of a server. A head equal to the last one, or equal except for its path, is not
//! parsed again.

use super::recv::ReadStep;
use super::{Conn, Receiving, Timer};
use crate::error::Violation;
use crate::exchange::MethodKind;
use crate::h1::exchange::{Exchange, Sending};
use crate::h1::parse::{self, HeadScan};
use crate::h1::reuse::{CloseReason, has_option, persistence};
use crate::http::body::length::BodyLength;
use crate::http::{Event, RequestHead, StreamId, Token, Version};
use crate::limits::{Config, PIPELINED_REQUESTS_MAX};
use std::time::Instant;

impl Conn {
    /// Server: a request head.
    pub(super) fn receive_request(
        &mut self,
        now: Instant,
        mut scan: HeadScan,
        bytes: &[u8],
    ) -> Result<ReadStep, Violation> {
        if self.exchanges.len() >= PIPELINED_REQUESTS_MAX || self.is_backed_up() {
            return Ok(ReadStep::HoldBack);
        }
        if scan.is_fresh()
            && let Some((head, version, len)) = self.again(bytes)
        {
            let length = BodyLength::of_request(&head)?;
            self.begin_request(now, head, version, length)?;
            return Ok(ReadStep::Took(len));
        }
        // Its end is not looked for: TLS has none.
        if parse::begins_as_tls(bytes) == Some(true) {
            return Err(Violation::TlsInCleartext);
        }
        let was_in_first_line = scan.is_in_first_line();
        let found = scan.find_end(bytes, self.config.limits.head_bytes_max);
        if was_in_first_line && !matches!(found, Ok(Some(_))) {
            parse::check_request_line(bytes)?;
        }
        self.receiving = Receiving::Head(scan);
        let Some(len) = found? else {
            scan.check_target(bytes, &self.config.limits)?;
            return Ok(ReadStep::Wait);
        };
        self.timers.stop(Timer::Head);
        let Config {
            limits,
            spelled_names,
            needs_host,
            ..
        } = &*self.config;
        let (spells, needs_host) = (*spelled_names, *needs_host);
        let fields = self.free_list.section();
        let spare = self.free_list.head();
        let (head, version) =
            parse::request(&bytes[..len], spare, fields, limits, spells, needs_host)?;
        // A connection with one exchange pays nothing for a second.
        if self.next_id > 1 && self.last_head.is_due() {
            self.last_head.keep(&bytes[..len], 0, &head, version);
        }
        let length = BodyLength::of_request(&head)?;
        self.begin_request(now, head, version, length)?;
        Ok(ReadStep::Took(len))
    }

    /// The head at the front of `bytes` if it is the last one again, or except for its path; its
    /// version and its length.
    fn again(&mut self, bytes: &[u8]) -> Option<(RequestHead, Version, usize)> {
        let len = self.last_head.len();
        let front = bytes.get(..len);
        if let Some(known) = front.and_then(|front| self.last_head.find(front, 0)) {
            let head = known.again(self.free_list.head());
            return Some((head, known.version(), len));
        }
        let other = self.last_head.find_but_path(bytes)?;
        let limits = &self.config.limits;
        if other.len > limits.head_bytes_max || other.path.len() > limits.target_bytes_max {
            return None;
        }
        let head = other.head(self.free_list.head());
        let (version, len) = (other.version(), other.len);
        if head.section().size() > limits.field_section_bytes_max {
            self.recycle_head(head);
            return None;
        }
        if self.last_head.is_due() {
            self.last_head.keep(&bytes[..len], 0, &head, version);
        }
        Some((head, version, len))
    }

    /// Server: whether the connection leaves HTTP with this exchange, and nothing is waited for: `Upgraded` follows.
    pub fn leaves_with(&self, stream: StreamId) -> bool {
        let is_due = |front: &Exchange| {
            front.id == stream && front.sending == Sending::Switch && front.received
        };
        self.closed.is_none() && (self.switched || self.exchanges.front().is_some_and(is_due))
    }
    /// Server: the bytes so far behind a request that may leave HTTP (an upgrade, or CONNECT) and is not
    /// answered. Where it leaves, they are the first of what comes behind HTTP; otherwise they are another request.
    pub fn upgrade_head(&self) -> &[u8] {
        match self.receiving {
            Receiving::AwaitSwitch => &self.tail,
            _ => &[],
        }
    }

    /// Server: whether the request of this stream is one of HTTP/1.0; false: it is not, or the
    /// exchange is over.
    pub fn is_http10(&self, stream: StreamId) -> bool {
        let index = self.index_of(stream);
        index.is_some_and(|index| self.exchanges[index].version == Version::Http10)
    }

    fn begin_request(
        &mut self,
        now: Instant,
        head: RequestHead,
        version: Version,
        length: BodyLength,
    ) -> Result<(), Violation> {
        let id = self.take_id();
        let method = MethodKind::of(&head);
        let mut open = Exchange::new(id, method, version, Sending::Head);
        open.opened_at = Some(now);
        let end = matches!(length, BodyLength::None | BodyLength::Known(0));
        if head.has_hop_fields() || version == Version::Http10 {
            let expectations = self.config.expectations;
            apply_hop_fields(&mut open, &head, version, end, expectations)?;
        }
        if id.0 >= self.config.limits.requests_per_connection_max {
            open.close_because(CloseReason::RequestsExhausted);
        }
        self.last = open.close;
        self.exchanges.push_back(open);
        self.events.push_back(Event::RequestReceived {
            stream: id,
            head,
            end,
        });
        self.receive_body(length);
        Ok(())
    }
}

/// Applies a request's connection fields and expectations. `expectations`: the owner answers those
/// that are unknown here.
fn apply_hop_fields(
    open: &mut Exchange,
    head: &RequestHead,
    version: Version,
    end: bool,
    expectations: bool,
) -> Result<(), Violation> {
    if let Some(expectation) = head.get(Token::EXPECT) {
        // RFC 9110 section 10.1.1: from an HTTP/1.0 client it is ignored.
        let is_continue = head.asks_for_continue();
        // Some programs send an empty field to ask for nothing.
        if !is_continue && !expectations && !expectation.is_empty() {
            return Err(Violation::ExpectationUnknown);
        }
        open.continue_due = is_continue && version == Version::Http11 && !end;
    }
    // RFC 9110 section 7.8: upgrade in HTTP/1.0 is ignored.
    open.upgrade = version == Version::Http11
        && head.get(Token::UPGRADE).is_some()
        && head.fields().any(|field| {
            field.token == Some(Token::CONNECTION) && has_option(field.value, b"upgrade")
        });
    open.close = persistence(version, head.fields());
    Ok(())
}
