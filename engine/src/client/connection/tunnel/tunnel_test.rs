//! A tunnel over HTTP/1.1 that its user has left, over a pipe in memory whose peer takes nothing, or a byte now and then.

use super::super::entry::Upload;
use super::*;
use crate::body::Body;
use crate::client::Client;
use crate::client::exchange::{Outgoing, compose};
use crate::client::request::origin_of_url;
use std::future::poll_fn;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, DuplexStream, duplex};

/// The longest of any wait: a test that fails does so by its assertion.
const LONG: Duration = Duration::from_secs(20);

/// A tunnel to which `written` was written.
fn a_tunnel(written: &'static [u8]) -> ClientTunnel {
    let (client, url) = (Client::new(), "http://a.test/");
    let (parts, ()) = http::Request::get(url).body(()).unwrap().into_parts();
    let head = compose::request_head(&parts, &Body::empty()).unwrap();
    let origin = Arc::new(origin_of_url(&client.dispatch, url).unwrap());
    let request = Outgoing::new(Instant::now(), origin, head, Body::from(written));
    let entry = ExchangeEntry {
        request,
        has_listener: true,
        stream: StreamId(1),
        serial: 1,
        upload: Upload::Streaming,
        body_read: true,
        interim_seen: false,
        incoming: Incoming::Ended,
        datagrams: None,
        progress_at: Instant::now(),
        unsent: None,
    };
    ClientTunnel {
        entry,
        outbox: Outbox::new(),
        read_ended: false,
        write_ended: false,
        shut: false,
        write_failure: None,
        alarm: Alarm::default(),
        left_until: None,
    }
}

/// A turn at `now`. True: the connection is to be closed.
async fn turn(
    tunnel: &mut ClientTunnel,
    transport: &mut Transport<DuplexStream>,
    now: Instant,
) -> bool {
    poll_fn(|cx| Poll::Ready(tunnel.poll_leave(cx, transport, now).is_ready())).await
}

#[tokio::test]
async fn bytes_of_a_tunnel_that_was_left_wait_five_minutes_for_a_peer_that_takes_none() {
    let (near, _far) = duplex(1);
    let (mut transport, mut tunnel) = (Transport::plain(near), a_tunnel(b"bytes"));
    let five_minutes_ago = Instant::now().checked_sub(LEFT_TUNNEL_TIME_MAX).unwrap();
    let over = poll_fn(|cx| tunnel.poll_leave(cx, &mut transport, five_minutes_ago));
    assert!(tokio::time::timeout(LONG, over).await.is_ok());
}

#[tokio::test]
async fn a_peer_that_takes_a_byte_of_a_tunnel_that_was_left_gains_no_time_by_it() {
    let (near, mut far) = duplex(1);
    let (mut transport, mut tunnel) = (Transport::plain(near), a_tunnel(b"bytes"));
    let left_at = Instant::now()
        .checked_sub(LEFT_TUNNEL_TIME_MAX / 2)
        .unwrap();
    assert!(!turn(&mut tunnel, &mut transport, left_at).await);
    let until = Some(left_at + LEFT_TUNNEL_TIME_MAX);
    for _ in 0..3 {
        far.read_u8().await.unwrap();
        assert!(!turn(&mut tunnel, &mut transport, Instant::now()).await);
        assert_eq!(tunnel.left_until, until);
    }
}

#[tokio::test]
async fn a_peer_that_has_taken_all_of_a_tunnel_that_was_left_ends_it_or_has_a_second() {
    for ends in [true, false] {
        let (near, mut far) = duplex(64);
        let (mut transport, mut tunnel) = (Transport::plain(near), a_tunnel(b"bytes"));
        let now = Instant::now();
        assert!(!turn(&mut tunnel, &mut transport, now).await);
        assert_eq!(tunnel.left_until, Some(now + LAST_READ_MAX));
        let mut received = Vec::new();
        far.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, b"bytes");
        if ends {
            drop(far);
            assert!(turn(&mut tunnel, &mut transport, now).await);
        } else {
            tunnel.left_until = Some(now);
            let over = poll_fn(|cx| tunnel.poll_leave(cx, &mut transport, now));
            assert!(tokio::time::timeout(LONG, over).await.is_ok());
        }
    }
}
