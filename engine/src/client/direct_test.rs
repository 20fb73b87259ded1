//! A connection of HTTP/3 that its caller drives by itself, against a server of the same process.

use super::*;
use crate::client::{Client, ClientTls, Protocols};
use crate::server::service_fn;
use crate::{Body, Server, Tls};
use http::Response;
use std::convert::Infallible;
use std::mem;
use std::time::Duration;
use trunkline_core::http::Token;
use trunkline_core::limits::WINDOW_BEHIND_HEAD_BYTES;

/// Several times what the machine takes before its user has read, and less than QUIC's first window of
/// a connection: the server sends all of it unasked.
const BODY_BYTES: usize = 7 * WINDOW_BEHIND_HEAD_BYTES as usize;
/// The time in which the body arrives while nothing of it is read. Where it is too short, packets
/// wake the task and the test asserts less.
const UNREAD: Duration = Duration::from_millis(300);

fn head(authority: &str) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, b"GET");
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, authority.as_bytes());
    fields.push(Token::PATH, b"/");
    RequestHead::from_fields(fields, Version::Http3).expect("it is valid")
}

/// Writing reads on what waited in a stream for its reader. No packet comes with those bytes, so no
/// wake-up does.
#[tokio::test]
async fn no_event_waits_where_a_connection_waits_for_its_peer() {
    let server = Server::bind("127.0.0.1:0")
        .tls(Tls::self_signed(["localhost"]).expect("a certificate is made"))
        .http3(true)
        .serve(service_fn(|_| async {
            Ok::<_, Infallible>(Response::new(Body::from(vec![0; BODY_BYTES])))
        }))
        .expect("a port is free");
    let authority = format!("127.0.0.1:{}", server.local_addr().port());
    let client = Client::builder()
        .protocols(Protocols::H3Only)
        .tls(ClientTls::new().insecure())
        .build()
        .expect("the settings are valid");
    let connected = client.connect(format!("https://{authority}/")).await;
    let mut direct = connected.expect("the server listens");
    let head = head(&authority);
    let (mut asked, mut reads_at) = (None, None);
    let (mut received, mut unread, mut ended) = (0, 0, false);
    let mut turn = |turn: &mut DirectTurn<'_>| {
        if asked.is_none() && turn.capacity() > 0 {
            asked = turn.open(&head, None).ok();
        }
        while let Some(event) = turn.event() {
            if let Event::BodyReceived { data, end, .. } = event {
                received += data.len();
                unread += data.len();
                ended |= end;
            }
        }
        if ended {
            return Next::Close;
        }
        let Some(stream) = asked.filter(|_| received > 0) else {
            return Next::Wait(None);
        };
        let at = *reads_at.get_or_insert(turn.now + UNREAD);
        if turn.now < at {
            return Next::Wait(Some(at));
        }
        turn.consume(stream, mem::take(&mut unread));
        Next::Wait(None)
    };
    let mut alarm = Alarm::default();
    let driven = poll_fn(|cx| {
        let polled = direct.poll(cx, &mut turn, &mut alarm);
        if polled.is_pending() {
            let waiting = direct
                .ahead
                .take()
                .or_else(|| direct.io.machine.poll_event());
            assert!(
                waiting.is_none(),
                "an event waits that no wake-up announces"
            );
        }
        polled
    });
    let limit = Duration::from_secs(60);
    let driven = tokio::time::timeout(limit, driven).await;
    driven.expect("the body comes to its end");
    assert_eq!((received, ended), (BODY_BYTES, true));
}
