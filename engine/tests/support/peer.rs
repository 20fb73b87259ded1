//! A scripted peer over a blocking socket, and services made from closures.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use http::{Request, Response};
use std::convert::Infallible;
use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;
use trunkline::Body;

/// A service from a closure, of one type whatever the closure is: for each type of a service the
/// compiler makes a copy of the whole server.
pub(crate) fn service<F, U, B>(handler: F) -> Handler<B>
where
    F: Fn(Request<Body>) -> U + Clone + Send + 'static,
    U: Future<Output = Response<B>> + 'static,
    B: 'static,
{
    Handler(Box::new(handler))
}

pub(crate) struct Handler<B>(Box<dyn Answers<B>>);

type Answer<B> = Pin<Box<dyn Future<Output = Result<Response<B>, Infallible>>>>;

trait Answers<B>: Send {
    fn answer(&self, request: Request<Body>) -> Answer<B>;
    fn another(&self) -> Box<dyn Answers<B>>;
}

impl<F, U, B> Answers<B> for F
where
    F: Fn(Request<Body>) -> U + Clone + Send + 'static,
    U: Future<Output = Response<B>> + 'static,
    B: 'static,
{
    fn answer(&self, request: Request<Body>) -> Answer<B> {
        let response = self(request);
        Box::pin(async { Ok(response.await) })
    }
    fn another(&self) -> Box<dyn Answers<B>> {
        Box::new(self.clone())
    }
}

impl<B> Clone for Handler<B> {
    fn clone(&self) -> Self {
        Self(self.0.another())
    }
}

impl<B> Service<Request<Body>> for Handler<B> {
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Answer<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.0.answer(request)
    }
}

/// As `trunkline::service_fn`, of one type whatever the function is, for the same reason; it may be called on any thread.
pub(crate) fn service_fn<F, U>(handler: F) -> SendHandler
where
    F: Fn(Request<Body>) -> U + Send + Sync + 'static,
    U: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
{
    SendHandler(Arc::new(move |request| Box::pin(handler(request))))
}

#[derive(Clone)]
pub(crate) struct SendHandler(Arc<dyn Fn(Request<Body>) -> SendAnswer + Send + Sync>);

type SendAnswer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

impl Service<Request<Body>> for SendHandler {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = SendAnswer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        (self.0)(request)
    }
}

/// A peer that sends and receives plain bytes.
pub(crate) struct Peer {
    socket: TcpStream,
}

impl Peer {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        // A test whose wait has no end fails instead of hanging.
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        Self { socket }
    }
    pub(crate) fn sends(&mut self, bytes: impl AsRef<[u8]>) {
        self.socket.write_all(bytes.as_ref()).unwrap();
    }
    /// A second handle to the peer.
    pub(crate) fn another(&self) -> Self {
        Self {
            socket: self.socket.try_clone().unwrap(),
        }
    }
    /// Says all of it, unless the server ends the connection meanwhile.
    pub(crate) fn sends_what_it_can(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.socket.write_all(bytes.as_ref());
    }
    /// Ends its side; what comes is still heard.
    pub(crate) fn ends(&mut self) {
        self.socket.shutdown(std::net::Shutdown::Write).unwrap();
    }
    /// Resets the connection, as a process does that is killed with unread bytes.
    pub(crate) fn resets(self) {
        let socket = socket2::SockRef::from(&self.socket);
        socket.set_linger(Some(Duration::ZERO)).unwrap();
    }
    /// Everything up to and with `end`.
    pub(crate) fn receives_until(&mut self, end: &str) -> String {
        let mut received = Vec::new();
        let mut byte = [0];
        while !received.ends_with(end.as_bytes()) {
            let read = self.socket.read_exact(&mut byte);
            assert!(
                read.is_ok(),
                "{read:?} after {:?}",
                String::from_utf8_lossy(&received)
            );
            received.push(byte[0]);
        }
        String::from_utf8_lossy(&received).into_owned()
    }
    /// Everything until the server ends the connection.
    pub(crate) fn receives_to_the_end(&mut self) -> String {
        let mut received = Vec::new();
        // A reset is an end too.
        if let Err(error) = self.socket.read_to_end(&mut received) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
        String::from_utf8_lossy(&received).into_owned()
    }
}

/// Waits for `future` on a runtime with a thread of its own beside this one.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    // One type for all tests: the compiler makes a copy of the runtime for each type of a future.
    let future: Pin<&mut dyn Future<Output = F::Output>> = pin!(future);
    runtime().block_on(future)
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// Runs a future beside the one that answers, on a thread of its own.
pub(crate) fn aside(future: impl Future<Output = ()> + Send + 'static) {
    std::thread::spawn(|| runtime().block_on(future));
}
