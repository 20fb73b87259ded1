//! Servers with a second worker on another thread: connections are left to it, and both are one server.

use super::http3::a_client;
use crate::support::peer::{Peer, block_on, runtime};
use bytes::Bytes;
use http_body_util::BodyExt;
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::LocalSet;
use trunkline::core::http::{Fields, RequestHead, Version};
use trunkline::server::{
    Answer, Callbacks, ConnectionHandle, Ended, InspectLimits, Inspector, ResponseBody,
    SecondWorker, ServerHandle, StreamHandle,
};
use trunkline::{Body, ConnectionInfo, Server, ServerConfig, Tls};

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
/// A request that is not answered.
const WAIT: &str = "GET /wait HTTP/1.1\r\nhost: a\r\n\r\n";
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers with the name of its worker, once a request is whole.
#[derive(Clone)]
struct Named {
    name: &'static str,
    leaves: Arc<AtomicBool>,
    events: mpsc::Sender<&'static str>,
}

impl Callbacks for Named {
    type Connection = ConnectionHandle;
    type Exchange = (ConnectionHandle, StreamHandle);

    fn leaves_connection(&self) -> bool {
        assert_eq!(self.name, "first", "the second has no other");
        let leaves = self.leaves.load(Ordering::SeqCst);
        if leaves {
            // The test may be over.
            let _ = self.events.send("left");
        }
        leaves
    }
    fn connected(
        &self,
        commands: ConnectionHandle,
        _: Version,
        _: Option<&ConnectionInfo>,
    ) -> ConnectionHandle {
        commands
    }
    fn requested(
        &self,
        commands: &ConnectionHandle,
        handle: StreamHandle,
        head: &RequestHead,
        end: bool,
    ) -> Self::Exchange {
        let exchange = (commands.clone(), handle);
        if end && head.path() != Some(b"/wait") {
            self.answers(&exchange);
        }
        // As above.
        let _ = self.events.send(self.name);
        exchange
    }
    fn body(&self, exchange: &Self::Exchange, _: Bytes, end: bool) {
        if end {
            self.answers(exchange);
        }
    }
    fn trailers(&self, _: &Self::Exchange, _: &Fields) {}
    fn room(&self, _: &Self::Exchange, _: usize) {}
    fn ended(&self, _: Self::Exchange, _: Ended) {}
    fn disconnected(&self, _: ConnectionHandle) {}
}

impl Named {
    fn answers(&self, (commands, handle): &(ConnectionHandle, StreamHandle)) {
        let answer = Answer {
            status: 200,
            reason: None,
            fields: b"",
            body: ResponseBody::Whole(Bytes::from(self.name)),
            date: false,
            length: true,
            quiet: false,
        };
        commands.answer(Instant::now(), *handle, answer);
    }
}

/// A server whose first worker runs, and its second worker.
struct Pair {
    address: SocketAddr,
    leaves: Arc<AtomicBool>,
    events: mpsc::Receiver<&'static str>,
    sender: mpsc::Sender<&'static str>,
    second: Option<SecondWorker>,
    inspector: Inspector,
    drains: Option<oneshot::Sender<Drains>>,
    threads: Vec<JoinHandle<()>>,
}

/// The body of a response.
type Asking = Pin<Box<dyn Future<Output = Bytes>>>;
type Drains = Box<dyn FnOnce(&ServerHandle) + Send>;

impl Pair {
    fn new(config: ServerConfig) -> Self {
        Self::of(Server::bind("127.0.0.1:0").config(config))
    }
    /// With HTTP/3, and a request of a client with this body.
    fn with_http3(body: Body) -> (Self, Asking) {
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let pair = Self::of(Server::bind("127.0.0.1:0").tls(tls).http3(true));
        let client = a_client(root);
        let url = format!("https://localhost:{}/", pair.address.port());
        let asking = Box::pin(async move {
            let response = client.post(&url).body(body).send().await.unwrap();
            response.into_body().collect().await.unwrap().to_bytes()
        });
        (pair, asking)
    }
    fn of(server: Server) -> Self {
        let mut listening = server.listen().unwrap();
        let address = listening.local_addr();
        let second = listening.second_worker();
        let inspector = listening.inspector();
        let (sender, events) = mpsc::channel();
        let leaves = Arc::<AtomicBool>::default();
        let named = Named {
            name: "first",
            leaves: Arc::clone(&leaves),
            events: sender.clone(),
        };
        let (drains, to_do) = oneshot::channel::<Drains>();
        let first = thread::spawn(move || {
            LocalSet::new().block_on(&runtime(), async move {
                let (handle, serving) = listening.serve_callbacks(named).unwrap();
                let serving = tokio::task::spawn_local(serving);
                // Without a sender the test wants it stopped.
                match to_do.await {
                    Ok(drains) => {
                        drains(&handle);
                        serving.await.unwrap().unwrap();
                    }
                    Err(_) => {
                        drop(handle);
                        serving.await.unwrap().unwrap();
                    }
                }
            });
        });
        Self {
            address,
            leaves,
            events,
            sender,
            second: Some(second),
            inspector,
            drains: Some(drains),
            threads: vec![first],
        }
    }
    fn start_second(&mut self) {
        let second = self.second.take().unwrap();
        let named = Named {
            name: "second",
            leaves: Arc::clone(&self.leaves),
            events: self.sender.clone(),
        };
        self.threads.push(thread::spawn(move || {
            let serving = second.serve_callbacks(named);
            LocalSet::new().block_on(&runtime(), async move { serving.await.unwrap() });
        }));
    }
    fn asks(&self, request: &str) -> Peer {
        let mut peer = Peer::connect(self.address);
        peer.sends(request);
        peer
    }
    /// A connection whose first request is this, which is left to the second worker.
    fn leaves(&self, request: &str) -> Peer {
        self.leaves.store(true, Ordering::SeqCst);
        let peer = self.asks(request);
        assert_eq!(self.next(), "left");
        self.leaves.store(false, Ordering::SeqCst);
        peer
    }
    /// The next report of the workers.
    fn next(&self) -> &'static str {
        self.events.recv_timeout(PATIENCE).unwrap()
    }
    /// Drains; the second worker has the command when this returns: the first closes its socket behind it.
    fn drains(&mut self) {
        let drains: Drains = Box::new(|handle| handle.drain(PATIENCE));
        assert!(self.drains.take().unwrap().send(drains).is_ok());
        while TcpStream::connect(self.address).is_ok() {
            thread::yield_now();
        }
    }
    /// Both workers end.
    fn ends(mut self) {
        self.drains = None;
        for thread in self.threads {
            thread.join().unwrap();
        }
    }
}

#[test]
fn connections_that_are_left_wait_for_the_second_worker_and_count_with_those_of_the_first() {
    let mut pair = Pair::new(ServerConfig::default());
    let mut left = pair.leaves(GET);
    let mut kept = pair.asks(GET);
    kept.receives_until("first");
    pair.start_second();
    left.receives_until("second");
    left.sends(GET);
    left.receives_until("second");
    let metrics = pair.inspector.metrics();
    assert_eq!((metrics.connections_accepted, metrics.requests_h1), (2, 3));
    let listed = block_on(pair.inspector.inspect(InspectLimits::default()));
    assert_eq!((listed.workers, listed.silent_workers), (2, 0));
    assert_eq!(listed.connections.len(), 2);
    pair.ends();
}

#[test]
fn a_second_worker_that_has_not_started_is_no_silent_one() {
    let pair = Pair::new(ServerConfig::default());
    let mut kept = pair.asks(GET);
    kept.receives_until("first");
    let listed = block_on(pair.inspector.inspect(InspectLimits::default()));
    assert_eq!((listed.workers, listed.silent_workers), (1, 0));
    pair.ends();
}

#[test]
fn connections_that_were_left_come_back_where_there_will_be_no_second_worker() {
    let mut pair = Pair::new(ServerConfig::default());
    let (mut left, mut another) = (pair.leaves(GET), pair.leaves(GET));
    pair.second = None;
    left.receives_until("first");
    another.receives_until("first");
    assert_eq!((pair.next(), pair.next()), ("first", "first"));
    pair.leaves(GET).receives_until("first");
    pair.ends();
}

#[test]
fn a_drain_answers_what_was_left_before_it_also_where_the_second_worker_starts_behind_it() {
    let mut pair = Pair::new(ServerConfig::default());
    let mut left = pair.leaves(GET);
    pair.drains();
    pair.start_second();
    let answer = left.receives_to_the_end();
    assert!(answer.ends_with("second"), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    pair.ends();
}

#[test]
fn a_drain_lets_the_exchanges_of_both_workers_end() {
    let mut pair = Pair::new(ServerConfig::default());
    pair.start_second();
    let mut left = pair.leaves(GET);
    left.receives_until("second");
    let mut kept = pair.asks(GET);
    kept.receives_until("first");
    pair.drains();
    // Connections without an exchange end.
    assert_eq!(left.receives_to_the_end(), "");
    assert_eq!(kept.receives_to_the_end(), "");
    pair.ends();
}

#[test]
fn a_server_that_is_dropped_ends_both_workers_with_what_they_have_open() {
    let mut pair = Pair::new(ServerConfig::default());
    pair.start_second();
    let mut left = pair.leaves(WAIT);
    assert_eq!(pair.next(), "second");
    let mut kept = pair.asks(WAIT);
    assert_eq!(pair.next(), "first");
    pair.ends();
    assert_eq!(left.receives_to_the_end(), "");
    assert_eq!(kept.receives_to_the_end(), "");
}

#[test]
fn an_address_has_as_many_connections_as_it_may_with_both_workers_together() {
    let config = ServerConfig::default().with_connections_per_address_max(Some(1));
    let mut pair = Pair::new(config);
    pair.start_second();
    let mut left = pair.leaves(GET);
    left.receives_until("second");
    assert_eq!(Peer::connect(pair.address).receives_to_the_end(), "");
    assert_eq!(pair.inspector.metrics().connections_refused, 1);
    pair.ends();
}

#[test]
fn an_idle_connection_of_the_second_worker_gives_way_to_a_new_one_where_the_first_has_none() {
    let config = ServerConfig::default().with_connections_max(2);
    let mut pair = Pair::new(config);
    pair.start_second();
    let mut left = pair.leaves(GET);
    left.receives_until("second");
    assert_eq!(pair.next(), "second");
    let _busy = pair.asks(WAIT);
    assert_eq!(pair.next(), "first");
    pair.asks(GET).receives_until("first");
    assert_eq!(left.receives_to_the_end(), "");
    assert_eq!(pair.inspector.metrics().connections_displaced, 1);
    pair.ends();
}

#[test]
fn http3_is_the_second_workers_whose_packets_wait_until_it_serves() {
    let (mut pair, asking) = Pair::with_http3(Body::empty());
    pair.start_second();
    assert_eq!(block_on(asking), "second");
    let listed = block_on(pair.inspector.inspect(InspectLimits::default()));
    assert_eq!((listed.workers, listed.silent_workers), (2, 0));
    pair.ends();
}

#[test]
fn http3_comes_back_where_there_will_be_no_second_worker() {
    let (mut pair, asking) = Pair::with_http3(Body::empty());
    pair.second = None;
    assert_eq!(block_on(asking), "first");
    pair.ends();
}

#[test]
fn a_drain_waits_for_the_exchanges_of_a_second_worker_that_has_http3_alone() {
    let (upload, body) = Body::channel();
    let (mut pair, asking) = Pair::with_http3(body);
    pair.start_second();
    block_on(async {
        let mut asking = asking;
        // The request has begun; its end follows behind the drain.
        while pair.events.try_recv().is_err() {
            let asked = std::future::poll_fn(|cx| Poll::Ready(asking.as_mut().poll(cx))).await;
            assert!(asked.is_pending());
            tokio::task::yield_now().await;
        }
        pair.drains();
        upload.finish();
        assert_eq!(asking.await, "second");
    });
    pair.ends();
}

#[test]
fn the_sockets_of_both_workers_go_to_another_process() {
    let (mut pair, _) = Pair::with_http3(Body::empty());
    pair.start_second();
    let (sender, sockets) = mpsc::channel();
    let order: Drains = Box::new(move |handle| {
        let duplicates = handle.hand_over();
        tokio::task::spawn_local(async move { sender.send(duplicates.await) });
        handle.drain(PATIENCE);
    });
    assert!(pair.drains.take().unwrap().send(order).is_ok());
    let sockets = sockets.recv_timeout(PATIENCE).unwrap().unwrap();
    assert_eq!(sockets.local_addr(), Some(pair.address));
    assert!(sockets.have_udp());
    pair.ends();
}
