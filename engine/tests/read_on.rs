//! A request whose response is complete before its body, and whose body a task reads on that the handler left behind.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer::service_fn;
use crate::support::ports;
use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body::Frame;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadBuf,
};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use trunkline::client::{ClientTls, Protocols, ResponseExt};
use trunkline::server::Streams;
use trunkline::{Body, Client, Limits, ServerConfig, Tls, serve};

fn run(test: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

/// More than what a system, an engine and a window hold of a body that nothing reads.
const UNREAD_BYTES: usize = 64 * 1024 * 1024;

/// The use of a body by a task.
#[derive(Clone, Copy)]
enum Task {
    ReadsAll,
    ReadsOnePiece,
}

type Reads = mpsc::UnboundedReceiver<Result<String, String>>;

/// A server whose handlers answer `early` and leave such a task behind, which reports what it read.
async fn server(tls: Option<Tls>, task: Task) -> (SocketAddr, Reads) {
    let listener = ports::listener().await;
    let address = listener.local_addr().unwrap();
    let (report, reads) = mpsc::unbounded_channel();
    let service = service_fn(move |request: Request<Body>| {
        let report = report.clone();
        async move {
            tokio::spawn(async move {
                let mut body = request.into_body();
                let read = match task {
                    Task::ReadsAll => body.text().await,
                    Task::ReadsOnePiece => body.chunk().await.map(|piece| {
                        String::from_utf8_lossy(&piece.unwrap_or_default()).into_owned()
                    }),
                };
                report
                    .send(read.map_err(|error| error.to_string()))
                    .unwrap();
            });
            Ok::<_, Infallible>(Response::new(Body::from("early")))
        }
    });
    let server = serve(listener, service);
    tokio::spawn(async move {
        match tls {
            Some(tls) => server.tls(tls).http3(true).await,
            None => server.await,
        }
    });
    (address, reads)
}

/// Reads responses until `count` bodies `early` have come.
async fn expect_early(socket: &mut TcpStream, count: usize) {
    let mut received = String::new();
    while received.matches("\r\n\r\nearly").count() < count {
        let mut bytes = [0; 1024];
        let read = socket.read(&mut bytes).await.unwrap();
        assert_ne!(read, 0, "the connection ended behind {received}");
        received.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
}

#[test]
fn a_body_over_http_1_1_is_read_on_behind_its_response_and_the_next_request_is_answered() {
    run(async {
        let (address, mut reads) = server(None, Task::ReadsAll).await;
        let mut socket = TcpStream::connect(address).await.unwrap();
        for (whole, framing, pieces) in [
            ("abcd", "content-length: 4", ["ab", "cd"]),
            ("abcd", "content-length: 4", ["abcd", ""]),
            (
                "abcd",
                "transfer-encoding: chunked",
                ["2\r\nab\r\n", "2\r\ncd\r\n0\r\nx: y\r\n\r\n"],
            ),
        ] {
            let head = format!(
                "POST / HTTP/1.1\r\nhost: a\r\n{framing}\r\n\r\n{}",
                pieces[0]
            );
            socket.write_all(head.as_bytes()).await.unwrap();
            expect_early(&mut socket, 1).await;
            socket.write_all(pieces[1].as_bytes()).await.unwrap();
            assert_eq!(reads.recv().await, Some(Ok(whole.to_owned())));
        }
    });
}

#[test]
fn a_body_over_http_2_and_http_3_is_read_on_behind_its_response() {
    run(async {
        let tls = Tls::self_signed(["localhost"]).unwrap();
        let (address, mut reads) = server(Some(tls), Task::ReadsAll).await;
        for protocols in [Protocols::H2Only, Protocols::H3Only] {
            let client = Client::builder().tls(ClientTls::new().insecure());
            let client = client.protocols(protocols).build().unwrap();
            let (mut sender, body) = Body::channel();
            sender.send("ab").await.unwrap();
            let request = client.post(format!("https://localhost:{}/", address.port()));
            let response = request.body(body).send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), "early", "{protocols:?}");
            sender.send("cd").await.unwrap();
            sender.finish();
            let read = reads.recv().await;
            assert_eq!(read, Some(Ok("abcd".to_owned())), "{protocols:?}");
        }
    });
}

#[test]
fn a_client_that_shuts_down_may_leave_bodies_that_their_peer_does_not_read() {
    run(async {
        let listener = ports::listener().await;
        let port = listener.local_addr().unwrap().port();
        let (hold, mut held) = mpsc::unbounded_channel();
        let service = service_fn(move |request: Request<Body>| {
            hold.send(request.into_body()).unwrap();
            async { Ok::<_, Infallible>(Response::new(Body::from("early"))) }
        });
        let tls = Tls::self_signed(["localhost"]).unwrap();
        tokio::spawn(async move { serve(listener, service).tls(tls).http3(true).await });
        for protocols in [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only] {
            let client = Client::builder().tls(ClientTls::new().insecure());
            let client = client.protocols(protocols).build().unwrap();
            let request = client.post(format!("https://localhost:{port}/"));
            let body = Body::from(vec![b'x'; UNREAD_BYTES]);
            let response = request.body(body).send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), "early", "{protocols:?}");
            let unread = held.recv().await.unwrap();
            client.shut_down_leaving_bodies();
            assert!(unread.bytes().await.is_err(), "{protocols:?}");
        }
    });
}

#[test]
fn a_body_whose_reader_goes_away_behind_the_response_does_not_hold_the_next_request_up() {
    run(async {
        let (address, mut reads) = server(None, Task::ReadsOnePiece).await;
        let mut socket = TcpStream::connect(address).await.unwrap();
        let head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\nab";
        socket.write_all(head.as_bytes()).await.unwrap();
        expect_early(&mut socket, 1).await;
        assert_eq!(reads.recv().await, Some(Ok("ab".to_owned())));
        socket.write_all(&vec![b'x'; 99_998]).await.unwrap();
        let next = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        socket.write_all(next.as_bytes()).await.unwrap();
        expect_early(&mut socket, 1).await;
    });
}

/// A body that never has a byte. Dropping it drops its sender.
struct Resting(#[expect(dead_code, reason = "its drop is what counts")] oneshot::Sender<()>);

impl http_body::Body for Resting {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

#[test]
fn a_body_that_rests_behind_a_response_and_that_nothing_reads_is_given_up_over_http_2_and_http_3() {
    run(async {
        let listener = ports::listener().await;
        let port = listener.local_addr().unwrap().port();
        let early = service_fn(async |_: Request<Body>| {
            Ok::<_, Infallible>(Response::new(Body::from("early")))
        });
        let tls = Tls::self_signed(["localhost"]).unwrap();
        tokio::spawn(async move { serve(listener, early).tls(tls).http3(true).await });
        for protocols in [Protocols::H2Only, Protocols::H3Only] {
            let client = Client::builder().tls(ClientTls::new().insecure());
            let client = client.protocols(protocols).build().unwrap();
            let (sender, dropped) = oneshot::channel();
            let request = client.post(format!("https://localhost:{port}/"));
            let request = request.body(Body::wrap(Resting(sender)));
            let response = request.send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), "early", "{protocols:?}");
            assert!(dropped.await.is_err(), "{protocols:?}");
        }
    });
}

#[test]
fn a_reader_behind_the_response_gets_the_error_of_a_client_that_is_gone() {
    run(async {
        let (address, mut reads) = server(None, Task::ReadsAll).await;
        let mut socket = TcpStream::connect(address).await.unwrap();
        let head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab";
        socket.write_all(head.as_bytes()).await.unwrap();
        expect_early(&mut socket, 1).await;
        drop(socket);
        assert!(reads.recv().await.unwrap().is_err());
    });
}

/// A transport that notes what its owner did last.
struct Noted {
    transport: DuplexStream,
    was_read: Arc<AtomicBool>,
}

impl AsyncRead for Noted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.was_read.store(true, Ordering::Relaxed);
        Pin::new(&mut self.transport).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Noted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.was_read.store(false, Ordering::Relaxed);
        Pin::new(&mut self.transport).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_shutdown(cx)
    }
}

#[test]
fn a_connection_that_its_answer_kept_from_reading_waits_for_bytes_once_that_is_written() {
    const OUTBOX_BYTES_MAX: usize = 1024;
    const PIPE_BYTES: usize = 3 * OUTBOX_BYTES_MAX;
    const ANSWER_BYTES: usize = 5 * OUTBOX_BYTES_MAX;
    /// More than the turns that the tasks of this test have to do.
    const TURNS: usize = 100;
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // The answer is still above the bound without what the pipe takes of it, and leaves with one write then.
        let (mut client, transport) = tokio::io::duplex(PIPE_BYTES);
        let was_read = Arc::new(AtomicBool::new(false));
        let noted = Noted {
            transport,
            was_read: Arc::clone(&was_read),
        };
        let streams = Streams::new(stream::iter([io::Result::Ok(noted)]));
        let service = service_fn(|request: Request<Body>| async {
            tokio::spawn(request.into_body().text());
            Ok::<_, Infallible>(Response::new(Body::from(vec![b'a'; ANSWER_BYTES])))
        });
        let limits = Limits::default().with_outbox_bytes_max(OUTBOX_BYTES_MAX);
        let config = ServerConfig::default().with_limits(limits);
        tokio::spawn(serve(streams, service).config(config).into_future());
        let head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n";
        client.write_all(head).await.unwrap();
        assert_eq!(client.read_u8().await.unwrap(), b'H');
        // Wakes the connection, which reads nothing while so much waits.
        client.write_all(b"re").await.unwrap();
        let mut answer = vec![0; ANSWER_BYTES];
        client.read_exact(&mut answer).await.unwrap();
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        assert!(was_read.load(Ordering::Relaxed));
    });
}
