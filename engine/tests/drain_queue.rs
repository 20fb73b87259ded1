//! Connections that wait in the kernel's accept queue when a server drains: their clients hold them for
//! open and have sent requests, and each of these is answered.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer::{Peer, block_on, service};
use http::Response;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;
use trunkline::server::Drained;
use trunkline::{Body, ClientHello, Running, Server, ServerConfig, Timeouts, Tls};

const CLIENTS: usize = 64;
const GET: &str = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
/// A client whose wait has no end fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server whose only worker is in its first handler until `release` is dropped, and accepts nothing.
struct Busy<A> {
    running: Running<A>,
    release: mpsc::Sender<()>,
}

/// A handler that blocks its thread in the first call. The receiver gets a message when it does.
fn blocking() -> (
    impl tower_service::Service<
        http::Request<Body>,
        Response = Response<Body>,
        Error = std::convert::Infallible,
        Future: 'static,
    > + Clone
    + Send
    + 'static,
    mpsc::Receiver<()>,
    mpsc::Sender<()>,
) {
    let (entered, was_entered) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let first = Arc::new(Mutex::new(Some(released)));
    let answer = service(move |_| {
        let released = first.lock().unwrap().take();
        if let Some(released) = released {
            entered.send(()).unwrap();
            // An error: the test has dropped the sender.
            let _ = released.recv();
        }
        async { Response::new(Body::full("hi")) }
    });
    (answer, was_entered, release)
}

impl Busy<SocketAddr> {
    fn new(server: Server) -> Self {
        let (answer, was_entered, release) = blocking();
        let running = server.workers(1).serve(answer).unwrap();
        Peer::connect(running.local_addr()).sends(GET);
        was_entered.recv().unwrap();
        Self { running, release }
    }
}

/// Begins a drain: the command is sent when this returns.
fn begin_drain<A: 'static>(running: Running<A>) -> impl Future<Output = Drained> {
    let mut drain = Box::pin(running.drain(PATIENCE));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(drain.as_mut().poll(&mut cx).is_pending());
    drain
}

fn clients(address: SocketAddr) -> Vec<Peer> {
    (0..CLIENTS).map(|_| Peer::connect(address)).collect()
}

fn assert_answered(peers: Vec<Peer>) {
    for (number, mut peer) in peers.into_iter().enumerate() {
        let answer = peer.receives_to_the_end();
        assert!(answer.ends_with("\r\n\r\nhi"), "{number}: {answer:?}");
    }
}

#[test]
fn a_drain_answers_the_requests_of_every_connection_in_the_accept_queue() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let only_http1 = ServerConfig::default().with_http2(false);
    for server in [
        Server::bind("127.0.0.1:0"),
        Server::bind("127.0.0.1:0").config(only_http1),
        Server::bind("127.0.0.1:0").shares_port(true),
        Server::on(listener),
    ] {
        let Busy { running, release } = Busy::new(server);
        let mut peers = clients(running.local_addr());
        for peer in &mut peers {
            peer.sends(GET);
        }
        let drain = begin_drain(running);
        drop(release);
        assert_eq!(block_on(drain).cut, 0);
        assert_answered(peers);
    }
}

#[test]
fn a_drain_answers_requests_that_come_behind_it_on_connections_of_the_accept_queue() {
    let Busy { running, release } = Busy::new(Server::bind("127.0.0.1:0"));
    let mut peers = clients(running.local_addr());
    let drain = begin_drain(running);
    drop(release);
    let asked = thread::spawn(move || {
        for peer in &mut peers {
            peer.sends(GET);
        }
        assert_answered(peers);
    });
    assert_eq!(block_on(drain).cut, 0);
    asked.join().unwrap();
}

#[test]
fn a_drain_waits_for_places_for_the_connections_of_the_accept_queue() {
    let config = ServerConfig::default().with_connections_max(2);
    let Busy { running, release } = Busy::new(Server::bind("127.0.0.1:0").config(config));
    let mut peers = clients(running.local_addr());
    for peer in &mut peers {
        peer.sends(GET);
        peer.ends();
    }
    let drain = begin_drain(running);
    drop(release);
    assert_eq!(block_on(drain).cut, 0);
    assert_answered(peers);
}

#[test]
fn a_drain_finishes_the_handshakes_of_the_accept_queue_and_answers_their_first_requests() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    let connect = |address| {
        let name = ServerName::try_from("localhost").unwrap();
        let mut connection = ClientConnection::new(Arc::clone(&config), name).unwrap();
        // It goes out in one write with the end of the handshake.
        connection.writer().write_all(GET.as_bytes()).unwrap();
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        rustls::StreamOwned::new(connection, socket)
    };
    let (answer, was_entered, release) = blocking();
    let server = Server::bind("127.0.0.1:0").tls(tls).workers(1);
    let running = server.serve(answer).unwrap();
    let address = running.local_addr();
    let first = thread::spawn({
        let mut first = connect(address);
        move || {
            let mut answer = String::new();
            let _ = first.read_to_string(&mut answer);
        }
    });
    was_entered.recv().unwrap();
    let mut queued: Vec<_> = (0..CLIENTS).map(|_| connect(address)).collect();
    let drain = begin_drain(running);
    drop(release);
    let asked = thread::spawn(move || {
        // All at once: one after the other the last would be later than a drain waits.
        thread::scope(|scope| {
            for peer in &mut queued {
                scope.spawn(|| {
                    let mut answer = String::new();
                    peer.read_to_string(&mut answer).unwrap();
                    assert!(answer.ends_with("\r\n\r\nhi"), "{answer:?}");
                });
            }
        });
    });
    assert_eq!(block_on(drain).cut, 0);
    asked.join().unwrap();
    first.join().unwrap();
}

/// As one for a first request in cleartext: load balancers and browsers open connections ahead of their need.
#[test]
fn a_drain_does_not_wait_for_the_handshake_of_a_client_that_does_not_begin_it() {
    let (plain, _) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let chosen = plain.clone();
    let chooses = plain.clone().choose(move |_: ClientHello| {
        let chosen = chosen.clone();
        async move { Ok(Some(chosen)) }
    });
    for tls in [plain, chooses] {
        let timeouts = Timeouts::default().with_handshake(None);
        let config = ServerConfig::default().with_timeouts(timeouts);
        let server = Server::bind("127.0.0.1:0").tls(tls).config(config);
        let running = server
            .serve(service(async |_| Response::new(Body::full("hi"))))
            .unwrap();
        let silent = TcpStream::connect(running.local_addr()).unwrap();
        let mut begun = TcpStream::connect(running.local_addr()).unwrap();
        // The header of a record, and no more.
        begun.write_all(&[22, 3, 1, 1, 0]).unwrap();
        while running.metrics().connections_open < 2 {
            thread::yield_now();
        }
        let (done, ended) = mpsc::channel();
        let long = Duration::from_secs(3600);
        thread::spawn(move || done.send(block_on(running.drain(long)).cut));
        assert_eq!(ended.recv_timeout(PATIENCE), Ok(0));
        drop((silent, begun));
    }
}

#[test]
fn a_drain_leaves_a_listening_socket_that_others_have_as_it_is() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let running = Server::on(listener.try_clone().unwrap())
        .serve(service(async |_| Response::new(Body::full("hi"))))
        .unwrap();
    assert_eq!(block_on(running.drain(PATIENCE)).cut, 0);
    let later = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
    listener.set_nonblocking(false).unwrap();
    let (_, peer) = listener.accept().unwrap();
    assert_eq!(peer, later.local_addr().unwrap());
}

/// One request on a connection of its own.
fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut socket = TcpStream::connect_timeout(&address, PATIENCE)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
#[test]
fn no_request_is_lost_while_servers_of_one_port_are_replaced() {
    let serve = |address: SocketAddr| {
        Server::bind(address)
            .shares_port(true)
            .workers(1)
            .serve(service(async |_| Response::new(Body::full("hi"))))
            .unwrap()
    };
    let mut serving = serve("127.0.0.1:0".parse().unwrap());
    let address = serving.local_addr();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let asked: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut count = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let answer = ask(address).unwrap();
                        assert!(answer.ends_with("\r\n\r\nhi"), "{answer:?}");
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        for _ in 0..10 {
            let next = serve(address);
            let old = std::mem::replace(&mut serving, next);
            assert_eq!(block_on(old.drain(PATIENCE)).cut, 0);
        }
        is_over.store(true, Ordering::Relaxed);
        for asked in asked {
            assert!(asked.join().unwrap() > 0);
        }
    });
}

#[cfg(unix)]
#[test]
fn a_drain_answers_the_requests_in_the_accept_queue_of_a_unix_socket() {
    use std::os::unix::net::UnixStream;
    let path = std::env::temp_dir().join(format!("trunkline-drain-queue-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let (answer, was_entered, release) = blocking();
    let running = Server::bind_unix(&path).serve(answer).unwrap();
    let connect = || {
        let mut peer = UnixStream::connect(&path).unwrap();
        peer.set_read_timeout(Some(PATIENCE)).unwrap();
        peer.write_all(GET.as_bytes()).unwrap();
        peer
    };
    let _first = connect();
    was_entered.recv().unwrap();
    let peers: Vec<_> = (0..CLIENTS).map(|_| connect()).collect();
    let drain = begin_drain(running);
    drop(release);
    assert_eq!(block_on(drain).cut, 0);
    for mut peer in peers {
        let mut answer = String::new();
        peer.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("\r\n\r\nhi"), "{answer:?}");
    }
    assert!(!path.exists());
}
