//! A tunnel through an HTTP proxy: CONNECT (RFC 9110 section 9.3.6, RFC 9112 section 3.2.3). The
//! core's HTTP/1.1 machine sends the request and reads the response, under limits of its own.

use super::Proxy;
use crate::error::{Error, Fault, ProxyRefusal, Retry};
use bytes::Bytes;
use std::io;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use trunkline_core::error::{Closed, TransportEnd, Violation};
use trunkline_core::h1::{self, ProxyField};
use trunkline_core::http::{Event, Fields, RequestHead, ResetBy, Side, Token, Version};
use trunkline_core::limits::{Config, Limits};

/// The head of a proxy's answer; a tunnel needs a status line.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// 1xx before the answer.
const INTERIM_RESPONSES_MAX: u32 = 4;

/// One CONNECT: bytes in, the tunnel or why there is none out.
#[derive(Debug)]
pub(super) struct Connect {
    conn: h1::Conn,
}

/// Why there is no tunnel.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The proxy answered with another status than 2xx; `challenge` is its `proxy-authenticate`.
    Status {
        status: u16,
        challenge: Option<String>,
    },
    /// The bytes received are not a valid response.
    Garbled(Violation),
    /// The connection ended before the answer.
    Closed,
}

impl Connect {
    /// Asks for `authority`, a host and a port, with the fields that are meant for the
    /// proxy. `None`: they cannot
    /// stand in a request.
    pub(super) fn new(
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
        }
        for (name, value) in more {
            fields.push_named(name, value);
        }
        let head = RequestHead::from_fields(fields, Version::Http2).ok()?;
        let config = Config {
            limits: Limits {
                head_bytes_max: HEAD_BYTES_MAX,
                interim_responses_max: INTERIM_RESPONSES_MAX,
                ..Limits::default()
            },
            ..Config::default()
        };
        let mut conn = h1::Conn::new(Side::Client, Arc::new(config), now);
        conn.open(now, &head, true).ok()?;
        Some(Self { conn })
    }
    /// Takes the bytes that are to go out.
    pub(super) fn poll_write(&mut self, now: Instant) -> Vec<u8> {
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
    pub(super) fn handle_bytes(
        &mut self,
        now: Instant,
        bytes: &[u8],
    ) -> Option<Result<Bytes, Refusal>> {
        self.conn.handle_bytes(now, bytes);
        self.outcome()
    }
    /// The proxy sends nothing more.
    pub(super) fn handle_close(&mut self, now: Instant) -> Result<Bytes, Refusal> {
        self.conn.handle_close(now, TransportEnd::InOrder);
        self.outcome().unwrap_or(Err(Refusal::Closed))
    }
    fn outcome(&mut self) -> Option<Result<Bytes, Refusal>> {
        while let Some(event) = self.conn.poll_event() {
            match event {
                Event::Upgraded { rest, .. } => return Some(Ok(rest)),
                // RFC 9110 section 9.3.6: a 2xx is the tunnel, and `Upgraded` follows; a 204 ends
                // before that (RFC 9112 section 6.3, the first of its rules).
                Event::ResponseReceived { head, .. }
                    if head.status / 100 != 2 || head.status == 204 =>
                {
                    let challenge = head.get(Token::PROXY_AUTHENTICATE);
                    return Some(Err(Refusal::Status {
                        status: head.status,
                        challenge: challenge.map(|text| String::from_utf8_lossy(text).into_owned()),
                    }));
                }
                Event::StreamReset { reset, .. } => {
                    return Some(Err(match reset.by {
                        ResetBy::Us(violation) | ResetBy::Connection(Closed::ByUs(violation)) => {
                            Refusal::Garbled(violation)
                        }
                        _ => Refusal::Closed,
                    }));
                }
                _ => {}
            }
        }
        None
    }
}

/// Asks the proxy at the other end of `socket` for a tunnel to `authority`. Returns the bytes of
/// the origin that came with the answer.
pub(in crate::client) async fn open_tunnel(
    socket: &mut (impl AsyncRead + AsyncWrite + Unpin),
    proxy: &Proxy,
    authority: &str,
    authorization: Option<&[u8]>,
    fields: &[ProxyField],
) -> Result<Bytes, Error> {
    let lost = |error: io::Error| {
        let text = format!("was lost while it was asked for a tunnel to {authority}");
        proxy
            .error(Fault::Network, Retry::Safe, &text)
            .with_source(error)
    };
    let refused = |refusal| refusal_error(proxy, authority, authorization.is_some(), refusal);
    let now = Instant::now();
    let mut connect = Connect::new(now, authority, authorization, fields).ok_or_else(|| {
        let text = format!("cannot be asked for a tunnel to {authority}: a host and port cannot be written like this");
        proxy.error(Fault::Config, Retry::Never, &text)
    })?;
    socket
        .write_all(&connect.poll_write(now))
        .await
        .map_err(lost)?;
    socket.flush().await.map_err(lost)?;
    let mut buffer = [0; 4096];
    loop {
        let read = socket.read(&mut buffer).await.map_err(lost)?;
        let now = Instant::now();
        let outcome = match read {
            0 => Some(connect.handle_close(now)),
            _ => connect.handle_bytes(now, &buffer[..read]),
        };
        if let Some(outcome) = outcome {
            return outcome.map_err(refused);
        }
    }
}

fn refusal_error(
    proxy: &Proxy,
    authority: &str,
    gave_credentials: bool,
    refusal: Refusal,
) -> Error {
    match refusal {
        // 401 is an origin's (RFC 9110 section 15.5.2); some proxies use it for a wrong password.
        Refusal::Status {
            status: status @ (401 | 407),
            challenge,
        } => {
            let wants = challenge.map_or(String::new(), |text| format!(" ({text})"));
            let text = match gave_credentials {
                true => format!(
                    "refused a tunnel to {authority} with status {status}: it does not accept the \
                     credentials it was given{wants}"
                ),
                false => format!(
                    "refused a tunnel to {authority} with status {status}: it wants \
                     credentials{wants}; give them in its URL or as proxy_authorization"
                ),
            };
            proxy
                .error(Fault::Config, Retry::Never, &text)
                .with_proxy_refusal(ProxyRefusal::Status(status))
        }
        Refusal::Status { status, .. } => {
            let text = format!("refused a tunnel to {authority} with status {status}");
            // 5xx: it could not reach the origin now; 4xx: it will not.
            let retry = if status >= 500 {
                Retry::Safe
            } else {
                Retry::Never
            };
            proxy
                .error(Fault::Network, retry, &text)
                .with_proxy_refusal(ProxyRefusal::Status(status))
        }
        Refusal::Garbled(violation) => {
            let text = format!(
                "does not answer in HTTP/1.1 when asked for a tunnel to {authority}: {violation}"
            );
            proxy.error(Fault::Network, Retry::Never, &text)
        }
        Refusal::Closed => {
            let text = format!("closed the connection instead of opening a tunnel to {authority}");
            proxy.error(Fault::Network, Retry::Safe, &text)
        }
    }
}
