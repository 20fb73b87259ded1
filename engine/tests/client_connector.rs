//! Connections that the client's user makes: what they speak, their errors, and what may not stand beside
//! a connector.

use std::error::Error as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use trunkline::client::{
    Client, Connecting, ConnectionListener, ConnectionUse, Connector, FailureScope, Hold, Origin,
    Protocols,
};
use trunkline::core::http::Version;
use trunkline::{ByteStream, ErrorKind};

/// RFC 9113 section 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Gives one end of a stream in memory, whose other end `play` has.
struct InMemory<P> {
    play: P,
    shape: fn(ByteStream) -> ByteStream,
    asked: Arc<AtomicUsize>,
}

impl<P, F> Connector for InMemory<P>
where
    P: Fn(DuplexStream) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    fn connect(&self, _: &Origin) -> Connecting {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let (ours, theirs) = tokio::io::duplex(64);
        tokio::spawn((self.play)(theirs));
        let stream = (self.shape)(ByteStream::new(ours));
        Box::pin(async move { Ok(stream) })
    }
}

fn in_memory<P, F>(play: P, shape: fn(ByteStream) -> ByteStream) -> (InMemory<P>, Arc<AtomicUsize>)
where
    P: Fn(DuplexStream) -> F,
{
    let asked = Arc::<AtomicUsize>::default();
    let connector = InMemory {
        play,
        shape,
        asked: Arc::clone(&asked),
    };
    (connector, asked)
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

#[tokio::test]
async fn requests_go_over_what_a_connector_gives_under_both_schemes() {
    for url in ["http://a.test/", "https://a.test/"] {
        for protocols in [Protocols::H2AndH1, Protocols::All, Protocols::H1Only] {
            let (connector, asked) = in_memory(answer, |stream| stream);
            let client = Client::builder().connector(connector).protocols(protocols);
            let client = client.build().unwrap();
            for _ in 0..3 {
                let response = client.get(url).send().await.unwrap();
                assert_eq!(response.status(), 200, "{url} {protocols:?}");
                let body = http_body_util::BodyExt::collect(response.into_body()).await;
                assert_eq!(body.unwrap().to_bytes(), "hi");
            }
            assert_eq!(asked.load(Ordering::Relaxed), 1, "{url} {protocols:?}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_says_so_is_spoken_to_over_http_2() {
    let shapes: [fn(ByteStream) -> ByteStream; 2] = [
        |stream| stream.http2(true),
        |stream| stream.secured(false, Some("a.test"), Some(b"h2")),
    ];
    for shape in shapes {
        let (sent, receives) = tokio::sync::oneshot::channel();
        let sent = Mutex::new(Some(sent));
        let play = move |mut stream: DuplexStream| {
            let sent = sent.lock().unwrap().take();
            async move {
                let mut first = [0; PREFACE.len()];
                let read = stream.read_exact(&mut first).await.map(|_| first);
                let _ = sent.map(|sent| sent.send(read.unwrap()));
            }
        };
        let (connector, _) = in_memory(play, shape);
        let client = Client::builder().connector(connector).build().unwrap();
        // The peer says nothing and ends: the request fails.
        assert!(client.get("http://a.test/").send().await.is_err());
        assert_eq!(receives.await.unwrap(), PREFACE);
    }
}

#[tokio::test]
async fn a_stream_of_a_version_that_is_not_allowed_fails_the_request_and_says_which() {
    let http2: fn(ByteStream) -> ByteStream = |stream| stream.http2(true);
    let http1: fn(ByteStream) -> ByteStream = |stream| stream;
    for (protocols, shape, text) in [
        (
            Protocols::H1Only,
            http2,
            "speaks HTTP/2, where only HTTP/1.1",
        ),
        (
            Protocols::H2Only,
            http1,
            "speaks HTTP/1.1, where only HTTP/2",
        ),
        (Protocols::H3Only, http1, "only HTTP/3 is allowed"),
    ] {
        let (connector, _) = in_memory(answer, shape);
        let client = Client::builder().connector(connector).protocols(protocols);
        let client = client.build().unwrap();
        let error = client.get("https://a.test/").send().await.unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
}

struct Failing;
impl Connector for Failing {
    fn connect(&self, _: &Origin) -> Connecting {
        Box::pin(std::future::ready(Err(io::Error::other("no tunnel"))))
    }
}

#[tokio::test]
async fn the_error_of_a_connector_is_the_source_of_the_requests_error() {
    let client = Client::builder().connector(Failing).build().unwrap();
    let error = client.get("http://a.test/").send().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    assert_eq!(error.source().unwrap().to_string(), "no tunnel");
}

/// Fails its first calls, each with the requests of `scope`.
struct FailingFirst<C> {
    then: C,
    left: AtomicUsize,
    scope: FailureScope,
}

impl<C: Connector> Connector for FailingFirst<C> {
    fn connect(&self, origin: &Origin) -> Connecting {
        let fewer = |left: usize| left.checked_sub(1);
        let is_early = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        match is_early {
            Ok(_) => Failing.connect(origin),
            Err(_) => self.then.connect(origin),
        }
    }
    fn failure_scope(&self, _: &io::Error) -> FailureScope {
        self.scope
    }
}

#[tokio::test]
async fn a_connector_says_which_of_the_waiting_requests_fail_with_it() {
    for (scope, failures, failed) in [
        (FailureScope::All, 1, 3),
        (FailureScope::Next, 2, 2),
        (FailureScope::None, 4, 0),
    ] {
        let connector = FailingFirst {
            then: in_memory(answer, |stream| stream).0,
            left: AtomicUsize::new(failures),
            scope,
        };
        let client = Client::builder().connector(connector).connections(1);
        let client = client.build().unwrap();
        let send = || client.get("http://a.test/").send();
        let (first, second, third) = tokio::join!(send(), send(), send());
        let count = [first, second, third]
            .iter()
            .filter(|one| one.is_err())
            .count();
        assert_eq!(count, failed, "{scope:?}");
        assert_eq!(send().await.unwrap().status(), 200, "{scope:?}");
    }
}

/// Holds each connection for some turns.
struct Holding(Arc<Mutex<Vec<&'static str>>>);

impl ConnectionListener for Holding {
    fn opening(&self, _: &Origin) {}
    fn opened(&self, _: &Origin, _: &ConnectionUse, _: Version) -> Option<Hold> {
        let notes = Arc::clone(&self.0);
        Some(Box::pin(async move {
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            notes.lock().unwrap().push("released");
        }))
    }
    fn failed(&self, _: &Origin, _: &trunkline::Error) {}
    fn closed(&self, _: &Origin, _: &ConnectionUse, _: &trunkline::Error) {}
}

#[tokio::test]
async fn a_connection_that_its_listener_holds_carries_nothing_until_then() {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let read = Arc::clone(&notes);
    let play = move |mut stream: DuplexStream| {
        let read = Arc::clone(&read);
        async move {
            let mut first = [0];
            stream.read_exact(&mut first).await.unwrap();
            read.lock().unwrap().push("a byte");
        }
    };
    let client = Client::builder()
        .connector(in_memory(play, |stream| stream).0)
        .connection_listener(Arc::new(Holding(Arc::clone(&notes))));
    let client = client.build().unwrap();
    client.get("http://a.test/").send().await.unwrap_err();
    assert_eq!(*notes.lock().unwrap(), ["released", "a byte"]);
}

#[test]
fn a_connector_stands_alone() {
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let with = || Client::builder().connector(Failing);
    for builder in [with().local_address(address), with().proxy("http://a.test")] {
        let error = builder.build().unwrap_err();
        assert!(
            error.to_string().contains("connector is set beside"),
            "{error}"
        );
    }
}
