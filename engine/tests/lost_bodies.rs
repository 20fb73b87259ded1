//! A request whose body is broken off, at a handler of `serve`: the body's error comes before the end of
//! the handler, which may have to clean up what it began.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer::service_fn;
use crate::support::ports;
use futures_util::future::{Either, select};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use trunkline::client::{ClientBuilder, ClientTls, Protocols};
use trunkline::{Body, Client, Error, Tls, serve};

/// Reports that the handler that has it is dropped.
struct Reported(mpsc::UnboundedSender<&'static str>);

impl Drop for Reported {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

/// The end of a handler whose request's body was lost.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    NeverAnswers,
    Answers,
}

/// A server whose handler reports how its request's body goes on, and answers with 422 or never.
struct Stage {
    address: SocketAddr,
    task: JoinHandle<Result<(), Error>>,
    stop: oneshot::Sender<()>,
    reports: mpsc::UnboundedReceiver<&'static str>,
}

impl Stage {
    async fn serving(tls: Option<Tls>, then: Then) -> Self {
        let listener = ports::listener().await;
        let address = listener.local_addr().unwrap();
        let (report, reports) = mpsc::unbounded_channel();
        let service = service_fn(move |request: Request<Body>| {
            let report = Reported(report.clone());
            async move {
                let mut body = request.into_body();
                while let Some(part) = body.frame().await {
                    let _ = report.0.send(if part.is_ok() { "part" } else { "lost" });
                }
                if then == Then::NeverAnswers {
                    pending::<()>().await;
                }
                let mut response = Response::new(Body::from("no"));
                *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
                Ok::<_, Infallible>(response)
            }
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let server = serve(listener, service);
        let server = match tls {
            Some(tls) => server.tls(tls).http3(true),
            None => server,
        };
        let server = server.with_graceful_shutdown(async { stopped.await.unwrap() });
        let mut server = server.into_future();
        // The first poll opens the sockets of HTTP/3.
        let begun = poll_fn(|cx| Poll::Ready(server.as_mut().poll(cx))).await;
        assert!(begun.is_pending(), "{begun:?}");
        let task = tokio::spawn(server);
        Self {
            address,
            task,
            stop,
            reports,
        }
    }
    /// Sends `bytes` on a connection, ends its side and waits for the server to close it.
    async fn send(&self, bytes: &str) -> String {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(bytes.as_bytes()).await.unwrap();
        socket.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // A server that has not read all may reset the connection.
        let _ = socket.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }
    /// Uploads a part, and fails when a handler has it.
    async fn break_off(&mut self, client: Client, url: String) {
        let (mut sender, body) = Body::channel();
        let mut asked = pin!(client.post(url).body(body).send());
        sender.send("part").await.unwrap();
        match select(asked.as_mut(), pin!(self.reports.recv())).await {
            Either::Left((outcome, _)) => panic!("over before a part came: {outcome:?}"),
            Either::Right((report, _)) => assert_eq!(report, Some("part")),
        }
        sender.fail("no more");
        asked.await.unwrap_err();
    }
    /// The reports that are left: the last handler's end closes the channel, after that of the server.
    async fn end(mut self) -> Vec<&'static str> {
        self.stop.send(()).unwrap();
        self.task.await.unwrap().unwrap();
        let mut left = Vec::new();
        while let Some(report) = self.reports.recv().await {
            left.push(report);
        }
        left
    }
}

fn run(test: impl Future<Output = ()>) {
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(test);
}

fn client(protocols: Protocols) -> ClientBuilder {
    Client::builder().protocols(protocols)
}

#[test]
fn a_handler_learns_a_loss_that_comes_with_the_head_or_with_a_part() {
    const KNOWN: &str = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n";
    const CHUNKED: &str = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
    run(async {
        for (head, rest, has_part) in [
            (KNOWN, "", false),
            (KNOWN, "part", true),
            (CHUNKED, "no", false),
            (CHUNKED, "1\r\na\r\nno", true),
        ] {
            let stage = Stage::serving(None, Then::Answers).await;
            let answer = stage.send(&format!("{head}{rest}")).await;
            assert!(is_closing_422(&answer), "{head}{rest}: {answer}");
            let expected = ["part", "lost", "dropped"];
            assert_eq!(
                stage.end().await,
                expected[usize::from(!has_part)..],
                "{head}{rest}"
            );
        }
    });
}

fn is_closing_422(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 422 ")
        && answer.contains("\r\nconnection: close\r\n")
        && answer.ends_with("\r\n\r\nno")
}

#[test]
fn a_handler_answers_a_request_whose_body_is_malformed_and_the_connection_closes() {
    const CHUNKED: &str = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
    run(async {
        for (rest, has_part) in [
            ("no\r\n", false),
            ("1\r\na\r\nno\r\n", true),
            ("1\r\nabc", true),
            ("1 \r\na\r\n", false),
            ("0\r\nx : 1\r\n\r\n", false),
        ] {
            let stage = Stage::serving(None, Then::Answers).await;
            let answer = stage.send(&format!("{CHUNKED}{rest}{CHUNKED}")).await;
            assert!(is_closing_422(&answer), "{rest}: {answer}");
            assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
            let expected = ["part", "lost", "dropped"];
            assert_eq!(
                stage.end().await,
                expected[usize::from(!has_part)..],
                "{rest}"
            );
        }
    });
}

#[test]
fn a_handler_that_reads_a_body_learns_its_loss_before_it_is_dropped() {
    run(async {
        for (protocols, then) in [
            (Protocols::H1Only, Then::Answers),
            (Protocols::H2Only, Then::NeverAnswers),
        ] {
            let mut stage = Stage::serving(None, then).await;
            let url = format!("http://{}/", stage.address);
            let client = client(protocols).build().unwrap();
            stage.break_off(client, url).await;
            assert_eq!(stage.end().await, ["lost", "dropped"], "{protocols:?}");
        }
    });
}

#[test]
fn a_handler_over_http3_learns_the_loss_of_a_body_before_it_is_dropped() {
    run(async {
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let mut stage = Stage::serving(Some(tls), Then::NeverAnswers).await;
        let url = format!("https://localhost:{}/", stage.address.port());
        let client = client(Protocols::H3Only)
            .resolve("localhost", [stage.address])
            .tls(ClientTls::new().root(root).only_given_roots());
        stage.break_off(client.build().unwrap(), url).await;
        assert_eq!(stage.end().await, ["lost", "dropped"]);
    });
}

#[test]
fn a_handler_learns_that_the_connection_of_its_request_was_reset() {
    run(async {
        for encoding in ["content-length: 9", "transfer-encoding: chunked"] {
            let mut stage = Stage::serving(None, Then::NeverAnswers).await;
            let mut socket = TcpStream::connect(stage.address).await.unwrap();
            // Four bytes of nine, or a chunk of four and no last one.
            let part = match encoding {
                "content-length: 9" => "part",
                _ => "4\r\npart\r\n",
            };
            let head = format!("POST / HTTP/1.1\r\nhost: a\r\n{encoding}\r\n\r\n{part}");
            socket.write_all(head.as_bytes()).await.unwrap();
            assert_eq!(stage.reports.recv().await, Some("part"), "{encoding}");
            socket2::SockRef::from(&socket)
                .set_linger(Some(Duration::ZERO))
                .unwrap();
            drop(socket);
            // The server ends by itself only when the handler, which never answers, is dropped.
            assert_eq!(stage.end().await, ["lost", "dropped"], "{encoding}");
        }
    });
}
