use super::*;
use crate::server::tower::Tower;
use http::{Request, Response};
use std::convert::Infallible;
use std::future::{Ready, ready};
use tokio::net::TcpStream;

/// Bytes of one connection's own structures beside its machine: 10,000 that idle hold 10,000 of
/// each.
const TASK_BYTES_MAX: usize = 64;
const CONNECTION_BYTES_MAX: usize = 384;
const SIGNALS_BYTES_MAX: usize = 40;

#[derive(Clone)]
struct Answer;

impl tower_service::Service<Request<crate::Body>> for Answer {
    type Response = Response<crate::Body>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, _: Request<crate::Body>) -> Self::Future {
        ready(Ok(Response::new(crate::Body::empty())))
    }
}

#[test]
fn what_an_idle_connection_holds_is_no_larger_than_its_bound() {
    let sizes = [
        (
            "task",
            size_of::<Served<Tower<Answer>, TcpStream, ()>>(),
            TASK_BYTES_MAX,
        ),
        (
            "connection",
            size_of::<ServedConnection<Tower<Answer>, TcpStream>>(),
            CONNECTION_BYTES_MAX,
        ),
        ("signals", size_of::<Signals>(), SIGNALS_BYTES_MAX),
    ];
    for (what, bytes, bytes_max) in sizes {
        eprintln!("{what}: {bytes} bytes");
        assert!(bytes <= bytes_max, "the {what} has {bytes} bytes");
    }
}
