//! A server started inside a tokio runtime: its handlers are tasks of that runtime.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer::service_fn;
use axum::Router;
use axum::body::Body as AxumBody;
use axum::extract::ConnectInfo;
use axum::routing::get;
use http::{Request, Response, StatusCode, Version};
use http_body::Frame;
use http_body_util::StreamBody;
use std::convert::Infallible;
use std::future::{Ready, pending, ready};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{mpsc, oneshot};
use tower_service::Service;
use trunkline::client::{ConnectionUse, Protocols, ResponseExt};
use trunkline::server::on_runtime;
use trunkline::{Body, Client, ErrorKind, Server, serve};

fn run(test: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    (listener, origin)
}

#[test]
fn a_job_that_a_handler_spawned_outlives_the_server() {
    run(async {
        let (listener, origin) = listener().await;
        let (release, released) = oneshot::channel::<()>();
        let (done, mut finished) = mpsc::channel(1);
        let job = Arc::new(std::sync::Mutex::new(Some((released, done))));
        let router = Router::new().route(
            "/",
            get(async move || {
                let (released, done) = job.lock().unwrap().take().unwrap();
                tokio::spawn(async move {
                    released.await.unwrap();
                    done.send(()).await.unwrap();
                });
                StatusCode::ACCEPTED
            }),
        );
        let (stop, stopped) = oneshot::channel::<()>();
        let signal = async { stopped.await.unwrap() };
        let server =
            tokio::spawn(async { serve(listener, router).with_graceful_shutdown(signal).await });
        let response = Client::new().get(origin).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        stop.send(()).unwrap();
        server.await.unwrap().unwrap();
        release.send(()).unwrap();
        assert_eq!(finished.recv().await, Some(()), "the job went on");
    });
}

#[test]
fn an_exchange_that_is_open_when_the_signal_comes_finishes_before_the_server_ends() {
    run(async {
        let (listener, origin) = listener().await;
        let (begun, mut begins) = mpsc::channel(1);
        let (release, released) = oneshot::channel::<()>();
        let released = Arc::new(tokio::sync::Mutex::new(Some(released)));
        let service = service_fn(move |_: Request<Body>| {
            let (begun, released) = (begun.clone(), Arc::clone(&released));
            async move {
                begun.send(()).await.unwrap();
                released.lock().await.take().unwrap().await.unwrap();
                Ok::<_, Infallible>(Response::new(Body::from("whole")))
            }
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let signal = async { stopped.await.unwrap() };
        let server = tokio::spawn(async {
            serve(listener, service)
                .workers(1)
                .with_graceful_shutdown(signal)
                .await
        });
        let asked = tokio::spawn(Client::new().get(origin).send());
        begins.recv().await.unwrap();
        stop.send(()).unwrap();
        release.send(()).unwrap();
        let response = asked.await.unwrap().unwrap();
        assert_eq!(response.into_body().text().await.unwrap(), "whole");
        server.await.unwrap().unwrap();
    });
}

#[test]
fn a_handler_may_block_in_place_and_a_panic_is_answered_with_500() {
    run(async {
        let (listener, origin) = listener().await;
        let router = Router::new()
            .route(
                "/block",
                get(async || tokio::task::block_in_place(|| "done")),
            )
            .route("/panic", get(async || -> &str { panic!("a test's own") }));
        tokio::spawn(async { serve(listener, router).await });
        let client = Client::new();
        for _ in 0..2 {
            let blocked = client.get(format!("{origin}/block")).send().await.unwrap();
            assert_eq!(blocked.into_body().text().await.unwrap(), "done");
            let panicked = client.get(format!("{origin}/panic")).send().await.unwrap();
            assert_eq!(panicked.status(), 500);
        }
    });
}

/// A server on threads of its own whose handlers run on a runtime that ends.
fn mortal_server(router: Router) -> (trunkline::server::Running, tokio::runtime::Runtime) {
    let mortal = Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let service = on_runtime(mortal.handle().clone(), router);
    let server = Server::bind("127.0.0.1:0")
        .workers(1)
        .serve(service)
        .unwrap();
    (server, mortal)
}

fn client_of(protocols: Protocols) -> Client {
    Client::builder().protocols(protocols).build().unwrap()
}

#[test]
fn a_call_whose_runtime_has_ended_is_answered_with_503() {
    run(async {
        for protocols in [Protocols::H1Only, Protocols::H2Only] {
            let (begin, mut begun) = mpsc::unbounded_channel();
            let router = Router::new().route(
                "/",
                get(async move || {
                    begin.send(()).unwrap();
                    pending::<()>().await;
                }),
            );
            let (server, mortal) = mortal_server(router);
            let client = client_of(protocols);
            let url = format!("http://{}/", server.local_addr());
            let call = tokio::spawn(client.get(&url).send());
            begun.recv().await.unwrap();
            mortal.shutdown_background();
            let under_way = call.await.unwrap().unwrap();
            let behind = client.get(&url).send().await.unwrap();
            for response in [under_way, behind] {
                assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
                assert_eq!(response.bytes().await.unwrap(), "");
            }
        }
    });
}

#[test]
fn a_body_whose_runtime_has_ended_is_cut_and_does_not_look_whole() {
    run(async {
        for protocols in [Protocols::H1Only, Protocols::H2Only] {
            let router = Router::new().route(
                "/",
                get(async || {
                    let (sender, receiver) = mpsc::channel(1);
                    tokio::spawn(async move {
                        sender.send(Ok::<_, Infallible>("first")).await.unwrap();
                        pending::<()>().await;
                    });
                    let parts = futures_util::stream::unfold(receiver, async |mut receiver| {
                        Some((receiver.recv().await?, receiver))
                    });
                    AxumBody::from_stream(parts)
                }),
            );
            let (server, mortal) = mortal_server(router);
            let url = format!("http://{}/", server.local_addr());
            let mut response = client_of(protocols).get(&url).send().await.unwrap();
            assert_eq!(response.chunk().await.unwrap().unwrap(), "first");
            mortal.shutdown_background();
            let end = response.chunk().await;
            assert!(end.is_err(), "{protocols:?}: {end:?}");
        }
    });
}

#[test]
fn a_handler_whose_client_has_gone_is_dropped() {
    struct Reported(mpsc::Sender<()>);
    impl Drop for Reported {
        fn drop(&mut self) {
            let _ = self.0.try_send(());
        }
    }
    run(async {
        let (listener, origin) = listener().await;
        let (begun, mut begins) = mpsc::channel(1);
        let (dropped, mut drops) = mpsc::channel(1);
        let service = service_fn(move |_: Request<Body>| {
            let (begun, guard) = (begun.clone(), Reported(dropped.clone()));
            async move {
                let _guard = guard;
                begun.send(()).await.unwrap();
                pending::<Result<Response<Body>, Infallible>>().await
            }
        });
        tokio::spawn(async { serve(listener, service).await });
        // Over HTTP/2 the reset says it at once; HTTP/1.1 waits for `Timeouts::half_closed`.
        let client = Client::builder()
            .protocols(Protocols::H2Only)
            .build()
            .unwrap();
        let asked = tokio::spawn(client.get(origin).send());
        begins.recv().await.unwrap();
        asked.abort();
        assert_eq!(drops.recv().await, Some(()));
    });
}

#[test]
fn what_the_body_of_a_response_spawns_runs_on_the_callers_runtime() {
    run(async {
        let (listener, origin) = listener().await;
        let (id, mut ids) = mpsc::channel(1);
        let router = Router::new().route(
            "/",
            get(async move || {
                let mut left = Some(id);
                AxumBody::new(StreamBody::new(futures_util::stream::poll_fn(move |_| {
                    let Some(id) = left.take() else {
                        return Poll::Ready(None);
                    };
                    let runtime = Handle::current().id();
                    let _ = id.try_send(runtime);
                    Poll::Ready(Some(Ok::<_, Infallible>(Frame::data("piece".into()))))
                })))
            }),
        );
        tokio::spawn(async { serve(listener, router).await });
        let response = Client::new().get(origin).send().await.unwrap();
        assert_eq!(response.into_body().text().await.unwrap(), "piece");
        assert_eq!(ids.recv().await, Some(Handle::current().id()));
    });
}

#[test]
fn a_server_with_threads_of_its_own_hands_its_calls_to_a_runtime() {
    run(async {
        let (listener, origin) = listener().await;
        let service = service_fn(async |_: Request<Body>| {
            let id = Handle::current().id().to_string();
            Ok::<_, Infallible>(Response::new(Body::from(id)))
        });
        let runtime = Handle::current();
        let mut running = Server::on(listener)
            .serve(on_runtime(runtime.clone(), service))
            .unwrap();
        let response = Client::new().get(origin).send().await.unwrap();
        let id = response.into_body().text().await.unwrap();
        assert_eq!(id, runtime.id().to_string());
        let is_over = tokio::select! {
            biased;
            () = running.stopped() => true,
            () = ready(()) => false,
        };
        assert!(!is_over, "the server serves");
    });
}

#[test]
fn a_client_is_a_tower_service_and_a_body_is_sync() {
    fn is_sync<T: Sync + Send>(_: &T) {}
    run(async {
        let (listener, origin) = listener().await;
        let router = Router::new().route("/", get(async || "x".repeat(100_000)));
        tokio::spawn(async { serve(listener, router).await });
        let mut client = Client::new();
        let request = || Request::get(&origin).body(Body::empty()).unwrap();
        let response = client.call(request()).await.unwrap();
        assert_eq!(response.version(), Version::HTTP_11);
        is_sync(response.body());
        is_sync(&Body::wrap(AxumBody::from("x")));
        assert_eq!(response.into_body().bytes().await.unwrap().len(), 100_000);
        let response = (&client).call(request()).await.unwrap();
        let error = response.into_body().bytes_within(99_999).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Body);
        assert_eq!(error.to_string(), "the body has more than 99999 bytes");
    });
}

#[test]
fn a_make_service_gives_each_connection_its_service_and_handlers_the_peers_address() {
    run(async {
        let (listener, origin) = listener().await;
        let peer = get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string());
        let router = Router::new().route("/", peer);
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async { serve(listener, service).await });
        for protocols in [Protocols::H1Only, Protocols::H2Only] {
            // One: a second request that comes before the first has given its connection back would open another.
            let client = Client::builder().protocols(protocols).connections(1);
            let client = client.connection_info(true).build().unwrap();
            for earlier in [0, 1] {
                let response = client.get(&origin).send().await.unwrap();
                let used = response.extensions().get::<ConnectionUse>().unwrap();
                assert_eq!(used.earlier_requests(), earlier);
                let ours = used.info().unwrap().local_addr().unwrap();
                assert_eq!(response.text().await.unwrap(), ours.to_string());
            }
        }
    });
}

/// A make service that counts its calls, and panics at the first.
#[derive(Clone)]
struct Counted(Arc<AtomicUsize>);

impl Service<SocketAddr> for Counted {
    type Response = Router;
    type Error = Infallible;
    type Future = Ready<Result<Router, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, _: SocketAddr) -> Self::Future {
        let calls = self.0.fetch_add(1, Ordering::SeqCst);
        assert!(calls > 0, "the first one fails");
        ready(Ok(
            Router::new().route("/", get(async move || calls.to_string()))
        ))
    }
}

#[test]
fn a_make_service_is_called_once_for_a_connection_and_again_after_a_failure() {
    run(async {
        let (listener, origin) = listener().await;
        let calls = Arc::new(AtomicUsize::new(0));
        let make = Counted(Arc::clone(&calls));
        tokio::spawn(async { serve(listener, make).await });
        let client = Client::builder()
            .protocols(Protocols::H2Only)
            .build()
            .unwrap();
        let failed = client.get(&origin).send().await.unwrap();
        assert_eq!(failed.status(), StatusCode::INTERNAL_SERVER_ERROR);
        for _ in 0..3 {
            let response = client.get(&origin).send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), "1");
        }
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    });
}

/// The thread that answers, by HTTP/1.1 and HTTP/2.
#[test]
fn a_server_within_a_runtime_of_one_thread_answers_on_that_thread() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (listener, origin) = listener().await;
        let thread = get(async || format!("{:?}", std::thread::current().id()));
        tokio::spawn(async { serve(listener, Router::new().route("/", thread)).await });
        for protocols in [Protocols::H1Only, Protocols::H2Only] {
            let response = client_of(protocols).get(&origin).send().await.unwrap();
            let here = format!("{:?}", std::thread::current().id());
            assert_eq!(response.text().await.unwrap(), here, "{protocols:?}");
        }
    });
}

#[test]
fn a_handler_that_blocks_delays_neither_other_connections_nor_others_of_its_http2_connection() {
    for protocols in [Protocols::H1Only, Protocols::H2Only] {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let released = Arc::new(std::sync::Mutex::new(released));
        run(async {
            let (listener, origin) = listener().await;
            let (begun, mut begins) = mpsc::unbounded_channel();
            let blocks = get(async move || {
                begun.send(()).unwrap();
                tokio::task::block_in_place(|| released.lock().unwrap().recv().unwrap());
            });
            let router = Router::new()
                .route("/blocks", blocks)
                .route("/", get(async || "free"));
            tokio::spawn(async { serve(listener, router).await });
            let client = client_of(protocols);
            let blocked = tokio::spawn(client.get(format!("{origin}/blocks")).send());
            begins.recv().await.unwrap();
            let response = client.get(&origin).send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), "free", "{protocols:?}");
            release.send(()).unwrap();
            assert_eq!(blocked.await.unwrap().unwrap().status(), StatusCode::OK);
        });
    }
}

#[test]
fn a_server_that_is_dropped_closes_its_connections_and_its_port() {
    run(async {
        let (listener, origin) = listener().await;
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(async || "here"));
        let server = tokio::spawn(async { serve(listener, router).await });
        let mut open = tokio::net::TcpStream::connect(address).await.unwrap();
        open.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            .await
            .unwrap();
        let mut first = [0; 12];
        open.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        server.abort();
        assert!(server.await.unwrap_err().is_cancelled());
        // Whether by its end or by a reset: nothing holds it.
        let _ = open.read_to_end(&mut Vec::new()).await;
        let refused = Client::new().get(origin).send().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Connect);
    });
}
