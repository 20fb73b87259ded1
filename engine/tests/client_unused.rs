//! Servers that end their connections before they answer anything: what a request costs them, and that
//! ordinary ends of idle connections cost a request nothing.

use crate::support::origin::begun;
use http_body_util::BodyExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::Notify;
use trunkline::client::{Client, ClientBuilder, Connecting, Connector, Origin, Protocols};
use trunkline::core::limits::UNUSED_CONNECTIONS_MAX;
use trunkline::{Body, ByteStream, ErrorKind, Retry};

/// A server in memory: its first `dead` connections end before a byte is written to them, the later
/// ones answer until `restart`.
struct Server {
    dead: usize,
    opened: Arc<AtomicUsize>,
    restart: Arc<Notify>,
    handshake: &'static [u8],
}

impl Connector for Server {
    fn connect(&self, _: &Origin) -> Connecting {
        let is_dead = self.opened.fetch_add(1, Ordering::Relaxed) < self.dead;
        let (ours, mut theirs) = duplex(64 * 1024);
        let (restart, handshake) = (Arc::clone(&self.restart), self.handshake);
        Box::pin(async move {
            theirs.write_all(handshake).await?;
            match is_dead {
                true => drop(theirs),
                false => drop(tokio::spawn(async move {
                    tokio::select! {
                        () = answer(theirs) => {}
                        () = restart.notified() => {}
                    }
                })),
            }
            Ok(ByteStream::new(ours).http2(!handshake.is_empty()))
        })
    }
}

/// Answers each request of HTTP/1.1 that has no body.
async fn answer(mut stream: DuplexStream) {
    let mut read = Vec::new();
    let mut byte = [0];
    while stream.read_exact(&mut byte).await.is_ok() {
        read.push(byte[0]);
        if read.ends_with(b"\r\n\r\n") {
            read.clear();
            let text = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
            if stream.write_all(text.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

/// SETTINGS that say nothing, and a GOAWAY that took no stream (RFC 9113 section 6.8).
const GOES_AWAY: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

fn server(dead: usize, handshake: &'static [u8]) -> (ClientBuilder, Arc<AtomicUsize>, Arc<Notify>) {
    let (opened, restart) = (Arc::<AtomicUsize>::default(), Arc::<Notify>::default());
    let client = Client::builder()
        .protocols(Protocols::H2AndH1)
        .connector(Server {
            dead,
            opened: Arc::clone(&opened),
            restart: Arc::clone(&restart),
            handshake,
        });
    (client, opened, restart)
}

const URL: &str = "http://a.test/";

#[tokio::test]
async fn a_request_whose_connections_all_end_before_it_is_written_fails_with_the_fourth() {
    for handshake in [&b""[..], GOES_AWAY] {
        let (client, opened, _) = server(usize::MAX, handshake);
        let client = client.build().unwrap();
        for send in [client.get(URL), client.post(URL)] {
            let before = opened.load(Ordering::Relaxed);
            let error = send.send().await.unwrap_err();
            let kinds = [
                ErrorKind::TransportClosed,
                ErrorKind::ConnectionClosed(trunkline::H2Code::NO_ERROR),
            ];
            assert!(kinds.contains(&error.kind()), "{error:?}");
            assert_eq!(error.retry(), Retry::Safe, "{error:?}");
            assert_eq!(error.tries(), 0);
            assert!(
                error.to_string().contains("3 connections before"),
                "{error}"
            );
            let ends = error.attempts();
            assert_eq!(ends.len(), UNUSED_CONNECTIONS_MAX as usize, "{error:?}");
            assert_eq!(opened.load(Ordering::Relaxed) - before, ends.len());
        }
    }
}

#[tokio::test]
async fn a_hundred_requests_to_a_server_that_closes_at_once_open_four_hundred_connections_at_most()
{
    let (client, opened, _) = server(usize::MAX, b"");
    let client = client.build().unwrap();
    let requests: Vec<_> = (0..100).map(|_| begun(client.get(URL).send())).collect();
    for request in requests {
        let error = request.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
    }
    let opened = opened.load(Ordering::Relaxed);
    assert!(opened <= 100 * UNUSED_CONNECTIONS_MAX as usize, "{opened}");
}

#[tokio::test]
async fn a_server_that_lives_again_behind_three_connections_answers() {
    let (client, opened, _) = server(3, b"");
    let client = client.build().unwrap();
    assert_eq!(client.get(URL).send().await.unwrap().status(), 200);
    assert_eq!(opened.load(Ordering::Relaxed), 4);
}

/// Its source can be read once: had a dead connection read of it, the request could not be sent again.
#[tokio::test]
async fn a_body_that_streams_is_not_touched_by_connections_that_end_at_once() {
    let (client, opened, _) = server(3, b"");
    let client = client.build().unwrap();
    let source = futures_util::stream::iter([Ok::<_, std::io::Error>("piece")]);
    let request = client.post(URL).body(Body::from_stream(source));
    assert_eq!(request.send().await.unwrap().status(), 200);
    assert_eq!(opened.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn idle_connections_that_end_together_as_requests_come_cost_them_nothing() {
    const IDLE: usize = 20;
    let (client, _, restart) = server(0, b"");
    let client = client.build().unwrap();
    for _ in 0..3 {
        let requests: Vec<_> = (0..IDLE).map(|_| begun(client.get(URL).send())).collect();
        for request in requests {
            let response = request.await.unwrap();
            response.into_body().collect().await.unwrap();
        }
        // The ends come in the turn in which the next requests do.
        restart.notify_waiters();
    }
}
