//! Calls to a tonic service whose server drains, starts again or dies: on our server and on tonic's, from tonic's channel
//! and from our client.

use crate::grpc::Raw;
use crate::grpc_ends::{clients, outcome};
use crate::way::run;
use bytes::Bytes;
use futures_util::future::join;
use futures_util::stream::{self, BoxStream, StreamExt};
use http::{Request, Response};
use std::convert::Infallible;
use std::future::Future;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tonic::server::{NamedService, StreamingService};
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::{Code, Status, Streaming};
use tower_service::Service;
use trunkline::ServerConfig;
use trunkline::grpc::with_deadlines;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Messages = BoxStream<'static, Result<Bytes, Status>>;

/// A service whose calls go on when they are let.
#[derive(Clone)]
struct WaitingService {
    /// A message for each call that has begun.
    begun: mpsc::UnboundedSender<()>,
    /// A permit for each call that may go on.
    permits: Arc<Semaphore>,
}

impl NamedService for WaitingService {
    const NAME: &'static str = "test.Held";
}

impl Service<Request<tonic::body::Body>> for WaitingService {
    type Response = Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<tonic::body::Body>) -> Self::Future {
        let name = request.uri().path().rsplit('/').next().unwrap();
        let method = Method(name.to_owned(), self.clone());
        let mut grpc = tonic::server::Grpc::new(Raw);
        Box::pin(async move { Ok(grpc.streaming(method, request).await) })
    }
}

/// A call by the name of its method.
struct Method(String, WaitingService);

impl StreamingService<Bytes> for Method {
    type Response = Bytes;
    type ResponseStream = Messages;
    type Future = BoxFuture<Result<tonic::Response<Messages>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<Bytes>>) -> Self::Future {
        let (name, held) = (self.0.clone(), self.1.clone());
        Box::pin(async move {
            let mut messages = request.into_inner();
            let first = messages.message().await?;
            let first = first.ok_or_else(|| Status::invalid_argument("no message"))?;
            held.begun.send(()).unwrap();
            let goes_on = async move {
                held.permits.acquire().await.unwrap().forget();
                Ok(Bytes::from("last"))
            };
            let answer = match name.as_str() {
                "Answer" => stream::iter([goes_on.await]).boxed(),
                "Stream" => {
                    let first = stream::iter([Ok(first)]);
                    first.chain(stream::once(goes_on)).boxed()
                }
                // The rest of the stream comes from a task of the handler's.
                "Fed" => {
                    let (sender, receiver) = mpsc::channel(1);
                    tokio::spawn(async move {
                        sender.send(Ok(first)).await.unwrap();
                        sender.send(goes_on.await).await.unwrap();
                    });
                    let fed = stream::unfold(receiver, async |mut receiver| {
                        Some((receiver.recv().await?, receiver))
                    });
                    fed.boxed()
                }
                _ => stream::iter([Ok(first)]).boxed(),
            };
            Ok(tonic::Response::new(answer))
        })
    }
}

/// The methods whose calls wait, and the messages of each when it is let.
const WAITING: [(&str, &[&str]); 3] = [
    ("Answer", &["last"]),
    ("Stream", &["first", "last"]),
    ("Fed", &["first", "last"]),
];

/// A server with a runtime of its own, which dies with it.
struct Process {
    listener: TcpListener,
    url: String,
    begun: mpsc::UnboundedReceiver<()>,
    permits: Arc<Semaphore>,
    drain: oneshot::Sender<()>,
    drained: oneshot::Receiver<()>,
    runtime: Runtime,
}

impl Process {
    fn start(ours: bool) -> Self {
        Self::start_on(TcpListener::bind("127.0.0.1:0").unwrap(), ours, None)
    }
    /// `age`: after which a connection drains.
    fn start_on(listener: TcpListener, ours: bool, age: Option<Duration>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (begin, begun) = mpsc::unbounded_channel();
        let permits = Arc::new(Semaphore::new(0));
        let routes = Routes::new(WaitingService {
            begun: begin,
            permits: Arc::clone(&permits),
        });
        let (drain, asked) = oneshot::channel::<()>();
        let (end, drained) = oneshot::channel();
        let asked = async {
            let _ = asked.await;
        };
        let own = listener.try_clone().unwrap();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(own).unwrap();
            if ours {
                let timeouts = trunkline::Timeouts::default().with_age_max(age);
                let config = ServerConfig::default().with_timeouts(timeouts);
                let served = trunkline::serve(listener, with_deadlines(routes))
                    .config(config)
                    .with_graceful_shutdown(asked);
                served.await.unwrap();
            } else {
                let incoming = stream::unfold(listener, async |listener| {
                    let socket = listener.accept().await.map(|(socket, _)| socket);
                    Some((socket, listener))
                });
                let mut server = Server::builder();
                if let Some(age) = age {
                    server = server.max_connection_age(age);
                }
                let served = server.add_routes(routes);
                let served = served.serve_with_incoming_shutdown(incoming, asked);
                served.await.unwrap();
            }
            let _ = end.send(());
        });
        Self {
            listener,
            url,
            begun,
            permits,
            drain,
            drained,
            runtime,
        }
    }
    /// Calls of both clients that wait, all begun.
    async fn waiting_calls(
        &mut self,
        name: &'static str,
    ) -> tokio::task::JoinHandle<[(Vec<Bytes>, Status); 2]> {
        let (channel, client) = clients(&self.url);
        let first = Bytes::from("first");
        let calls = tokio::spawn(async move {
            let (of_tonic, of_ours) = join(
                outcome(channel, name, first.clone()),
                outcome(client, name, first.clone()),
            )
            .await;
            [of_tonic, of_ours]
        });
        for _ in 0..2 {
            self.begun.recv().await.unwrap();
        }
        calls
    }
}

#[test]
fn a_drained_server_ends_its_calls_well_and_is_unavailable_until_it_starts_again() {
    run(async {
        for ours in [true, false] {
            for (name, expected) in WAITING {
                let mut process = Process::start(ours);
                let (channel, client) = clients(&process.url);
                let calls = process.waiting_calls(name).await;
                process.drain.send(()).unwrap();
                process.permits.add_permits(2);
                for (messages, status) in calls.await.unwrap() {
                    assert_eq!(status.code(), Code::Ok, "{ours} {name}: {status:?}");
                    assert_eq!(messages, expected);
                }
                process.drained.await.unwrap();
                assert!(process.begun.is_empty(), "no call was made twice");
                let address = process.listener.local_addr().unwrap();
                drop(process.listener);
                process.runtime.shutdown_background();
                let first = Bytes::from("first");
                let both = [
                    outcome(channel.clone(), name, first.clone()).await,
                    outcome(client.clone(), name, first.clone()).await,
                ];
                for (messages, status) in both {
                    let code = status.code();
                    assert_eq!(code, Code::Unavailable, "{ours} {name}: {status:?}");
                    assert!(messages.is_empty());
                }
                let next = Process::start_on(TcpListener::bind(address).unwrap(), ours, None);
                let both = [
                    outcome(channel, "Back", first.clone()).await,
                    outcome(client, "Back", first.clone()).await,
                ];
                for (messages, status) in both {
                    assert_eq!(status.code(), Code::Ok, "{ours} {name}: {status:?}");
                    assert_eq!(messages, ["first"]);
                }
                next.runtime.shutdown_background();
            }
        }
    });
}

#[test]
fn a_call_whose_server_dies_is_unavailable_and_never_looks_whole() {
    run(async {
        for ours in [true, false] {
            for (name, messages) in WAITING {
                let mut process = Process::start(ours);
                let calls = process.waiting_calls(name).await;
                process.runtime.shutdown_background();
                let [of_tonic, of_ours] = calls.await.unwrap();
                let named = format!("{ours} {name}: {of_tonic:?}, ours {of_ours:?}");
                // A response that has begun is reset where its runtime ends before its connection.
                let is_cut = |code| ours && name != "Answer" && code == Code::Internal;
                let code = of_ours.1.code();
                assert!(code == Code::Unavailable || is_cut(code), "{named}");
                // tonic's channel has no code for the end of a transport.
                let code = of_tonic.1.code();
                let is_lost = [Code::Unavailable, Code::Unknown].contains(&code);
                assert!(is_lost || is_cut(code), "{named}");
                for (came, _) in [of_tonic, of_ours] {
                    assert!(came.len() < messages.len(), "{named}");
                }
                assert!(process.begun.is_empty(), "no call was made twice");
            }
        }
    });
}

/// Calls of one caller, and callers at once.
const CALLS: usize = 100;
const CALLERS: usize = 8;

/// The failures of many calls of our client, each of which the servers got once.
async fn failures(url: &str) -> Vec<Status> {
    let (_, client) = clients(url);
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let mut failed = Vec::new();
                for _ in 0..CALLS {
                    let (_, status) = outcome(client.clone(), "Back", Bytes::from("first")).await;
                    if status.code() != Code::Ok {
                        failed.push(status);
                    }
                }
                failed
            })
        })
        .collect();
    let mut failed = Vec::new();
    for caller in callers {
        failed.extend(caller.await.unwrap());
    }
    failed
}

fn count(begun: &mut mpsc::UnboundedReceiver<()>) -> usize {
    std::iter::from_fn(|| begun.try_recv().ok()).count()
}

#[test]
fn no_call_of_ours_is_lost_or_doubled_where_connections_drain_by_age() {
    run(async {
        for ours in [true, false] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let age = Some(Duration::from_millis(5));
            let mut process = Process::start_on(listener, ours, age);
            let failed = failures(&process.url).await;
            assert!(failed.is_empty(), "{ours}: {failed:?}");
            assert_eq!(count(&mut process.begun), CALLS * CALLERS, "{ours}");
            process.runtime.shutdown_background();
        }
    });
}

#[test]
fn no_call_of_ours_is_lost_or_doubled_where_one_server_takes_the_place_of_another() {
    run(async {
        for ours in [true, false] {
            let first = Process::start(ours);
            let url = first.url.clone();
            let calls = tokio::spawn(async move { failures(&url).await });
            let mut begun = Vec::new();
            let mut serving = first;
            while !calls.is_finished() {
                // It serves something before its place is taken.
                let served = serving.begun.recv();
                if tokio::time::timeout(Duration::from_secs(1), served)
                    .await
                    .is_ok()
                {
                    begun.push(());
                }
                let listener = serving.listener.try_clone().unwrap();
                let next = Process::start_on(listener, ours, None);
                serving.drain.send(()).unwrap();
                serving.drained.await.unwrap();
                let served = count(&mut serving.begun);
                begun.extend((0..served).map(|_| ()));
                serving.runtime.shutdown_background();
                serving = next;
            }
            let failed = calls.await.unwrap();
            begun.extend((0..count(&mut serving.begun)).map(|_| ()));
            assert!(failed.is_empty(), "{ours}: {failed:?}");
            assert_eq!(begun.len(), CALLS * CALLERS, "{ours}");
            serving.runtime.shutdown_background();
        }
    });
}
