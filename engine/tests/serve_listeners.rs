//! Listeners that `serve` takes beside a TCP socket of tokio, and upgrades of its handlers.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use axum::Router;
use axum::body::Bytes;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::routing::{any, get, post};
use futures_util::{SinkExt, StreamExt, stream};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener as StdUnixListener;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufWriter};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::tungstenite::Message;
use trunkline::client::{Connecting, Connector, Protocols, ResponseExt};
use trunkline::server::{IntoHandlers, IntoListener, OfConnections, Port, Streams, UnixPeer};
use trunkline::{ByteStream, Client, ConnectionInfo, serve};

fn run(test: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

/// The path of a socket, gone after its test.
struct SocketPath(PathBuf);

impl SocketPath {
    fn new(name: &str) -> Self {
        let file = format!("trunkline-serve-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(file);
        let _ = std::fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn hello() -> Router {
    Router::new().route("/", get(async || "hello"))
}

async fn text(path: &Path, protocols: Protocols) -> String {
    let client = Client::builder().protocols(protocols).unix_socket(path);
    let request = client.build().unwrap().get("http://localhost/");
    request.send().await.unwrap().text().await.unwrap()
}

/// Serves a router, asks over both versions, drains.
async fn serves(path: &Path, listener: impl IntoListener<Target = trunkline::server::UnixSocket>) {
    let (stop, stopped) = oneshot::channel::<()>();
    let server = serve(listener, hello()).with_graceful_shutdown(async { stopped.await.unwrap() });
    let server = tokio::spawn(server.into_future());
    for protocols in [Protocols::H1Only, Protocols::H2Only] {
        assert_eq!(text(path, protocols).await, "hello");
    }
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
}

#[test]
fn a_router_is_served_on_a_unix_listener_of_tokio() {
    run(async {
        let path = SocketPath::new("tokio");
        serves(&path.0, UnixListener::bind(&path.0).unwrap()).await;
    });
}

#[test]
fn a_router_is_served_on_a_unix_listener_of_the_standard_library() {
    run(async {
        let path = SocketPath::new("std");
        serves(&path.0, StdUnixListener::bind(&path.0).unwrap()).await;
    });
}

/// A listener of a program's own.
struct Named {
    listener: TcpListener,
}

impl IntoListener for Named {
    type Target = Port;

    fn into_target(self) -> Port {
        self.listener.into_target()
    }
}

#[test]
fn a_router_is_served_on_a_listener_of_a_type_of_the_programs_own() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = serve(Named { listener }, hello().into_make_service());
        tokio::spawn(server.into_future());
        let response = Client::new().get(url).send().await.unwrap();
        assert_eq!(response.text().await.unwrap(), "hello");
    });
}

#[derive(Clone)]
struct Process {
    uid: u32,
    pid: Option<i32>,
}

impl Connected<UnixPeer> for Process {
    fn connect_info(peer: UnixPeer) -> Self {
        Self {
            uid: peer.uid(),
            pid: peer.pid(),
        }
    }
}

#[test]
fn connect_info_on_a_unix_socket_is_the_process_that_connected() {
    run(async {
        let path = SocketPath::new("peer");
        let process = async |ConnectInfo(process): ConnectInfo<Process>| {
            format!("{} {:?}", process.uid, process.pid)
        };
        let router = Router::new().route("/", get(process));
        let service = router.into_make_service_with_connect_info::<Process>();
        let listener = UnixListener::bind(&path.0).unwrap();
        tokio::spawn(serve(listener, service).into_future());
        let uid = std::fs::metadata(&path.0).unwrap().uid();
        let pid = Some(std::process::id() as i32);
        let seen = text(&path.0, Protocols::H1Only).await;
        assert_eq!(seen, format!("{uid} {pid:?}"));
    });
}

/// The client's ends of connections in memory, whose other ends a server takes.
struct InMemory {
    servers: mpsc::UnboundedSender<std::io::Result<ByteStream>>,
    http2: bool,
    /// Whether both ends hold back what is written until they are flushed.
    buffers: bool,
}

impl Connector for InMemory {
    fn connect(&self, _: &trunkline::client::Origin) -> Connecting {
        let (client, server) = tokio::io::duplex(1024);
        let (client, server): (ByteStream, ByteStream) = match self.buffers {
            true => (BufWriter::new(client).into(), BufWriter::new(server).into()),
            false => (client.into(), server.into()),
        };
        let client = client.http2(self.http2);
        let sent = self.servers.send(Ok(server.tag(7)));
        let gone = |_| std::io::ErrorKind::BrokenPipe.into();
        let opened = sent.map(|()| client).map_err(gone);
        Box::pin(async move { opened })
    }
}

/// A server of connections in memory, and clients of it.
fn in_memory(
    router: impl IntoHandlers<OfConnections<()>, ConnectionInfo>,
) -> impl Fn(bool, bool) -> Client {
    let (servers, connections) = mpsc::unbounded_channel();
    let connections = stream::unfold(connections, async |mut connections| {
        Some((connections.recv().await?, connections))
    });
    let failed = stream::iter([Err(std::io::Error::other("a test's own"))]);
    let streams = Streams::new(failed.chain(connections));
    tokio::spawn(serve(streams, router).into_future());
    move |http2, buffers| {
        let servers = servers.clone();
        let connector = InMemory {
            servers,
            http2,
            buffers,
        };
        Client::builder().connector(connector).build().unwrap()
    }
}

#[test]
fn a_router_is_served_on_connections_in_memory_which_may_buffer_what_is_written() {
    run(async {
        let echo = Router::new().route("/", post(async |body: Bytes| body));
        let client = in_memory(echo.into_make_service());
        for (http2, buffers) in [(false, false), (false, true), (true, false), (true, true)] {
            let client = client(http2, buffers);
            for length in [0, 5, 300_000] {
                let request = client.post("http://memory/").body(vec![b'x'; length]);
                let response = request.send().await.unwrap();
                assert_eq!(response.bytes().await.unwrap().len(), length);
            }
        }
    });
}

/// The tag of a connection, for a type of a program's own.
#[derive(Clone)]
struct Tagged(u64);

impl Connected<ConnectionInfo> for Tagged {
    fn connect_info(info: ConnectionInfo) -> Self {
        Self(info.tag())
    }
}

#[test]
fn connect_info_of_a_connection_in_memory_is_what_its_program_said_of_it() {
    run(async {
        let tag = async |ConnectInfo(Tagged(tag)): ConnectInfo<Tagged>| tag.to_string();
        let router = Router::new().route("/", get(tag));
        let client = in_memory(router.into_make_service_with_connect_info::<Tagged>());
        let response = client(false, false)
            .get("http://memory/")
            .send()
            .await
            .unwrap();
        assert_eq!(response.text().await.unwrap(), "7");
    });
}

#[test]
fn connections_in_memory_finish_what_is_open_when_their_server_is_to_stop() {
    run(async {
        let (mut client, server) = tokio::io::duplex(1024);
        let streams = Streams::new(stream::iter([std::io::Result::Ok(server)]));
        let (begun, mut begins) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let slow = get(async move || {
            let (release, released) = oneshot::channel::<()>();
            begun.send(release).unwrap();
            released.await.unwrap();
            "whole"
        });
        let router = Router::new().route("/", slow);
        let signal = async { stopped.await.unwrap() };
        let server = serve(streams, router).with_graceful_shutdown(signal);
        let server = tokio::spawn(server.into_future());
        let ask = b"GET / HTTP/1.1\r\nhost: memory\r\n\r\n";
        client.write_all(ask).await.unwrap();
        let release = begins.recv().await.unwrap();
        stop.send(()).unwrap();
        release.send(()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("whole"), "{answer}");
        server.await.unwrap().unwrap();
    });
}

#[test]
fn a_server_has_its_address_before_it_serves() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = serve(listener, hello()).with_graceful_shutdown(std::future::pending());
        assert_eq!(server.local_addr().unwrap(), address);
        let path = SocketPath::new("address");
        let server = serve(UnixListener::bind(&path.0).unwrap(), hello());
        assert_eq!(server.local_addr().unwrap().as_pathname(), Some(&*path.0));
    });
}

/// A program's own notion of a peer.
#[derive(Clone)]
struct Visitor(SocketAddr);

impl Connected<SocketAddr> for Visitor {
    fn connect_info(peer: SocketAddr) -> Self {
        Self(peer)
    }
}

#[test]
fn connect_info_of_a_programs_own_type_is_made_of_the_peers_address() {
    run(async {
        let who = async |ConnectInfo(visitor): ConnectInfo<Visitor>| visitor.0.ip().to_string();
        let router = Router::new().route("/", get(who));
        let service = router.into_make_service_with_connect_info::<Visitor>();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(serve(listener, service).into_future());
        let response = Client::new().get(url).send().await.unwrap();
        assert_eq!(response.text().await.unwrap(), "127.0.0.1");
    });
}

/// Sends every message back.
async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if socket.send(message).await.is_err() {
            return;
        }
    }
}

#[test]
fn axums_websockets_need_no_wrapper_under_serve() {
    run(async {
        let route = any(async |upgrade: WebSocketUpgrade| upgrade.on_upgrade(echo));
        let router = Router::new().route("/", route);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, router).into_future());
        let stream = TcpStream::connect(address).await.unwrap();
        let url = format!("ws://{address}/");
        let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        for message in [Message::text("hello"), Message::binary(vec![7; 300_000])] {
            socket.send(message.clone()).await.unwrap();
            assert_eq!(socket.next().await.unwrap().unwrap(), message);
        }
    });
}
