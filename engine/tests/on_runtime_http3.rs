//! HTTP/3 of a server started inside a tokio runtime: its connections are parts of a task of that runtime, its
//! handlers tasks of it.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::ports;
use axum::Router;
use axum::body::Body as AxumBody;
use axum::routing::get;
use http::StatusCode;
use http_body::Frame;
use http_body_util::StreamBody;
use rustls::pki_types::CertificateDer;
use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::net::{SocketAddr, UdpSocket};
use std::task::Poll;
use std::thread;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, block_in_place};
use trunkline::client::{ClientTls, Protocols, ResponseExt};
use trunkline::{Client, Error, Tls, serve};

/// Runtimes of the caller's: of one thread, and of several.
fn runtimes() -> [Runtime; 2] {
    let mut several = Builder::new_multi_thread();
    several.worker_threads(2);
    [Builder::new_current_thread(), several].map(|mut it| it.enable_all().build().unwrap())
}

/// A server within the runtime around it, as long as `task` is awaited.
struct Site {
    task: JoinHandle<Result<(), Error>>,
    /// Sending begins the drain.
    stop: oneshot::Sender<()>,
    address: SocketAddr,
    root: CertificateDer<'static>,
}

impl Site {
    async fn serving(router: Router) -> Self {
        let listener = ports::listener().await;
        let address = listener.local_addr().unwrap();
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let server = serve(listener, router).tls(tls).http3(true);
        let server = server.workers(1).with_graceful_shutdown(async {
            // A test that stops its server otherwise keeps the sender.
            let _ = stopped.await;
        });
        let mut server = server.into_future();
        // The first poll opens the sockets: a client whose packets no port takes would give up.
        let begun = poll_fn(|cx| Poll::Ready(server.as_mut().poll(cx))).await;
        assert!(begun.is_pending(), "{begun:?}");
        Self {
            task: tokio::spawn(server),
            stop,
            address,
            root,
        }
    }
    fn client(&self) -> Client {
        Client::builder()
            .protocols(Protocols::H3Only)
            .resolve("localhost", [self.address])
            .tls(ClientTls::new().root(self.root.clone()).only_given_roots())
            .build()
            .unwrap()
    }
    fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.address.port())
    }
    async fn text(&self, path: &str) -> String {
        let response = self.client().get(self.url(path)).send().await.unwrap();
        response.text().await.unwrap()
    }
}

/// The thread that polls the body of a response is that of its connection.
#[test]
fn its_connections_run_on_the_thread_of_a_runtime_of_one_thread() {
    let [one, _] = runtimes();
    one.block_on(async {
        let polled_by = get(async || {
            let mut is_left = true;
            AxumBody::new(StreamBody::new(futures_util::stream::poll_fn(move |_| {
                if !std::mem::take(&mut is_left) {
                    return Poll::Ready(None);
                }
                let thread = format!("{:?}", thread::current().id());
                Poll::Ready(Some(Ok::<_, Infallible>(Frame::data(thread.into()))))
            })))
        });
        let site = Site::serving(Router::new().route("/", polled_by)).await;
        let here = format!("{:?}", thread::current().id());
        assert_eq!(site.text("/").await, here);
    });
}

#[test]
fn a_handler_may_block_in_place_and_delays_no_other_of_its_connection() {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = std::sync::Arc::new(std::sync::Mutex::new(released));
    let [_, several] = runtimes();
    several.block_on(async {
        let (begun, mut begins) = mpsc::unbounded_channel();
        let blocks = get(async move || {
            begun.send(()).unwrap();
            block_in_place(|| released.lock().unwrap().recv().unwrap());
        });
        let router = Router::new()
            .route("/blocks", blocks)
            .route("/", get(async || "free"));
        let site = Site::serving(router).await;
        let client = site.client();
        let blocked = tokio::spawn(client.get(site.url("/blocks")).send());
        begins.recv().await.unwrap();
        let free = client.get(site.url("/")).send().await.unwrap();
        assert_eq!(free.text().await.unwrap(), "free");
        release.send(()).unwrap();
        assert_eq!(blocked.await.unwrap().unwrap().status(), StatusCode::OK);
    });
}

#[test]
fn a_panic_of_a_handler_is_answered_with_500_and_costs_the_connection_nothing() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let router = Router::new()
                .route("/panic", get(async || -> &str { panic!("a test's own") }))
                .route("/", get(async || "here"));
            let site = Site::serving(router).await;
            let client = site.client();
            for _ in 0..2 {
                let panicked = client.get(site.url("/panic")).send().await.unwrap();
                assert_eq!(panicked.status(), StatusCode::INTERNAL_SERVER_ERROR);
                let behind = client.get(site.url("/")).send().await.unwrap();
                assert_eq!(behind.text().await.unwrap(), "here");
            }
        });
    }
}

#[test]
fn a_drain_lets_an_open_request_finish_and_what_its_handler_spawned_lives_on() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let (begun, mut begins) = mpsc::unbounded_channel();
            let (answer, answered) = oneshot::channel::<()>();
            let (release, released) = oneshot::channel::<()>();
            let (done, mut finished) = mpsc::channel(1);
            let once = std::sync::Mutex::new(Some((answered, released, done)));
            let once = std::sync::Arc::new(once);
            let handler = get(async move || {
                let (answered, released, done) = once.lock().unwrap().take().unwrap();
                tokio::spawn(async move {
                    released.await.unwrap();
                    done.send(()).await.unwrap();
                });
                begun.send(()).unwrap();
                answered.await.unwrap();
                "whole"
            });
            let site = Site::serving(Router::new().route("/", handler)).await;
            let asked = tokio::spawn(site.client().get(site.url("/")).send());
            begins.recv().await.unwrap();
            site.stop.send(()).unwrap();
            answer.send(()).unwrap();
            let response = asked.await.unwrap().unwrap();
            assert_eq!(response.text().await.unwrap(), "whole");
            site.task.await.unwrap().unwrap();
            UdpSocket::bind(site.address).expect("the port is free again");
            release.send(()).unwrap();
            assert_eq!(finished.recv().await, Some(()), "the job went on");
        });
    }
}

/// Reports that it is dropped.
struct Reported(mpsc::UnboundedSender<()>);

impl Drop for Reported {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[test]
fn a_server_that_is_dropped_closes_its_connections_and_drops_their_handlers() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let (begun, mut begins) = mpsc::unbounded_channel();
            let (dropped, mut drops) = mpsc::unbounded_channel();
            let handler = get(async move || {
                let _guard = Reported(dropped.clone());
                begun.send(()).unwrap();
                pending::<()>().await;
            });
            let site = Site::serving(Router::new().route("/", handler)).await;
            let asked = tokio::spawn(site.client().get(site.url("/")).send());
            begins.recv().await.unwrap();
            site.task.abort();
            assert!(site.task.await.unwrap_err().is_cancelled());
            // By the packet that closes the connection: no timeout of the client's is so short.
            assert!(asked.await.unwrap().is_err());
            assert_eq!(drops.recv().await, Some(()));
        });
    }
}

#[test]
fn a_runtime_that_ends_closes_the_connections_that_ran_on_it() {
    let [clients, mortal] = runtimes();
    let (begun, mut begins) = mpsc::unbounded_channel();
    let handler = get(async move || {
        begun.send(()).unwrap();
        pending::<()>().await;
    });
    let site = mortal.block_on(Site::serving(Router::new().route("/", handler)));
    clients.block_on(async {
        let asked = tokio::spawn(site.client().get(site.url("/")).send());
        begins.recv().await.unwrap();
        mortal.shutdown_background();
        // Its tasks end in any order: the connection may find the call gone before it goes itself.
        if let Ok(response) = asked.await.unwrap() {
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        }
    });
}
