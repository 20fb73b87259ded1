//! A tunnel through an HTTP proxy: CONNECT (RFC 9110 section 9.3.6, RFC 9112 section 3.2.3). The
//! HTTP/1.1 machine sends the request and reads the response, under limits of its own.

use crate::error::{Closed, TransportEnd, Violation};
use crate::h1::{self, ProxyField};
use crate::http::{Event, Fields, RequestHead, ResetBy, Side, Token, Version};
use crate::limits::{Config, Limits, PROXY_HEAD_BYTES_MAX, PROXY_INTERIM_RESPONSES_MAX};
use bytes::Bytes;
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// One CONNECT: bytes in, the tunnel or why there is none out.
#[derive(Debug)]
pub struct Connect {
    conn: h1::Conn,
}

/// Why there is no tunnel.
#[derive(Debug, PartialEq, Eq)]
pub enum ConnectRefusal {
    /// The proxy answered with another status than 2xx, or with 204.
    Status {
        /// Its status.
        status: u16,
        /// Its `proxy-authenticate`.
        challenge: Option<String>,
    },
    /// The bytes received are not a valid response.
    Garbled(Violation),
    /// The connection ended before the answer.
    Closed,
}

impl Connect {
    /// Asks for `authority`, a host and a port, with the fields that are meant for the proxy. `None`:
    /// they cannot stand in a request.
    pub fn new(
        now: Instant,
        authority: &str,
        authorization: Option<&[u8]>,
        more: &[ProxyField],
    ) -> Option<Self> {
        let mut fields = Fields::new();
        fields.push(Token::METHOD, b"CONNECT");
        fields.push(Token::AUTHORITY, authority.as_bytes());
        if let Some(authorization) = authorization {
            fields.push(Token::PROXY_AUTHORIZATION, authorization);
            fields.spell(b"proxy-authorization");
        }
        for (name, value) in more {
            fields.push_named(&name.to_ascii_lowercase(), value);
            fields.spell(name);
        }
        let head = RequestHead::from_fields(fields, Version::Http2).ok()?;
        let config = Config {
            limits: Limits {
                head_bytes_max: PROXY_HEAD_BYTES_MAX,
                interim_responses_max: PROXY_INTERIM_RESPONSES_MAX,
                ..Limits::default()
            },
            ..Config::default()
        };
        let mut conn = h1::Conn::new(Side::Client, Arc::new(config), now);
        conn.open(now, &head, true).ok()?;
        Some(Self { conn })
    }
    /// Takes the bytes that are to go out.
    pub fn poll_write(&mut self, now: Instant) -> Vec<u8> {
        let outbox = self.conn.poll_write(now);
        let mut bytes = Vec::with_capacity(outbox.len());
        while !outbox.is_empty() {
            let mut slices = [io::IoSlice::new(&[]); 4];
            let filled = outbox.slices(&mut slices, usize::MAX);
            let before = bytes.len();
            slices[..filled]
                .iter()
                .for_each(|slice| bytes.extend_from_slice(slice));
            outbox.advance(bytes.len() - before);
        }
        bytes
    }
    /// Bytes of the proxy. `Some(Ok)`: the tunnel stands, with the origin's first bytes.
    pub fn handle_bytes(
        &mut self,
        now: Instant,
        bytes: &[u8],
    ) -> Option<Result<Bytes, ConnectRefusal>> {
        self.conn.handle_bytes(now, bytes);
        self.outcome()
    }
    /// The proxy sends nothing more.
    ///
    /// # Errors
    /// There is no tunnel.
    pub fn handle_close(&mut self, now: Instant) -> Result<Bytes, ConnectRefusal> {
        self.conn.handle_close(now, TransportEnd::InOrder);
        self.outcome().unwrap_or(Err(ConnectRefusal::Closed))
    }
    fn outcome(&mut self) -> Option<Result<Bytes, ConnectRefusal>> {
        while let Some(event) = self.conn.poll_event() {
            match event {
                Event::Upgraded { rest, .. } => return Some(Ok(rest)),
                // RFC 9110 section 9.3.6: a 2xx is the tunnel, and `Upgraded` follows; a 204 ends
                // before that (RFC 9112 section 6.3, the first of its rules).
                Event::ResponseReceived { head, .. }
                    if head.status / 100 != 2 || head.status == 204 =>
                {
                    let challenge = head.get(Token::PROXY_AUTHENTICATE);
                    return Some(Err(ConnectRefusal::Status {
                        status: head.status,
                        challenge: challenge.map(|text| String::from_utf8_lossy(text).into_owned()),
                    }));
                }
                Event::StreamReset { reset, .. } => {
                    return Some(Err(match reset.by {
                        ResetBy::Us(violation) | ResetBy::Connection(Closed::ByUs(violation)) => {
                            ConnectRefusal::Garbled(violation)
                        }
                        _ => ConnectRefusal::Closed,
                    }));
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
#[path = "connect_test.rs"]
mod connect_test;
