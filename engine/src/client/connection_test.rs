//! A connection's task over a pipe in memory.

use super::super::Client;
use super::super::request::origin_of_url;
use super::*;
use crate::body::Body;
use crate::client::exchange::compose;
use crate::driver::transport::Transport;
use http::Request;
use std::future::poll_fn;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use trunkline_core::http::{Fields, RequestHead, Token, Version};
use trunkline_core::pool::{Action, Multiplexing, Origin, Pool, PoolConfig};

/// The number of a connection: the pool's to give.
fn an_id(origin: &Origin, now: Instant) -> ConnectionId {
    let mut pool = Pool::new(PoolConfig::default());
    pool.submit(now, origin, (), None).unwrap();
    loop {
        if let Some(Action::Open { attempt, .. }) = pool.poll_action() {
            let capacity = Capacity::fresh(1, true);
            let id = pool.handle_connected(now, attempt, Multiplexing::No, capacity);
            return id.unwrap();
        }
    }
}

fn a_get(origin: &Origin, url: &str) -> Box<Outgoing> {
    let (parts, ()) = Request::get(url).body(()).unwrap().into_parts();
    let body = Body::empty();
    let head = compose::request_head(&parts, &body).unwrap();
    Outgoing::new(Instant::now(), Arc::new(origin.clone()), head, body)
}

/// Runs the connection until `done` says so.
async fn run_until(
    connection: &mut ConnectionTask<DuplexStream>,
    done: impl Fn(&ConnectionTask<DuplexStream>) -> bool,
) {
    let running = poll_fn(|cx| {
        let ended = Pin::new(&mut *connection).poll(cx).is_ready();
        assert!(!ended, "it lives");
        match done(connection) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    });
    tokio::time::timeout(Duration::from_secs(20), running)
        .await
        .expect("the test waits in vain");
}

/// The task of a connection over `near`, and what the pool has of it.
fn a_connection(
    client: &Client,
    origin: &Origin,
    near: DuplexStream,
    multiplexing: Multiplexing,
) -> (ConnectionTask<DuplexStream>, Arc<TaskHandle>) {
    let (dispatch, now) = (&client.dispatch, Instant::now());
    let id = an_id(origin, now);
    let handle = Arc::new(TaskHandle::default());
    let is_known = multiplexing == Multiplexing::No;
    let connection = ConnectionTask::new(
        ConnectionIo::new(
            Transport::plain(near),
            dispatch.machine(origin, multiplexing, now),
        ),
        ConnectionUse::new(None, id.number(), None),
        id,
        Arc::clone(&handle),
        Arc::downgrade(dispatch),
        Arc::clone(&dispatch.settings),
        Capacity::fresh(1, is_known),
    );
    (connection, handle)
}

/// A connection over HTTP/2 whose peer never says its settings, and a request that waits for them:
/// RFC 8441 section 3 wants that of an extended CONNECT.
async fn a_connection_that_never_settles(
    client: &Client,
    request: Box<Outgoing>,
) -> (ConnectionTask<DuplexStream>, DuplexStream) {
    let origin = Arc::clone(&request.origin);
    let (near, far) = tokio::io::duplex(4096);
    let (mut connection, handle) = a_connection(client, &origin, near, Multiplexing::Yes);
    handle.inbox.lock().unwrap().push(request);
    handle.signals.ready(INBOX);
    run_until(&mut connection, |it| it.unsettled.len() == 1).await;
    (connection, far)
}

fn a_websocket(client: &Client) -> Box<Outgoing> {
    let url = "http://a.test/";
    let mut request = a_get(&origin_of_url(&client.dispatch, url).unwrap(), url);
    let mut fields = Fields::new();
    for (token, value) in [
        (Token::METHOD, "CONNECT"),
        (Token::PROTOCOL, "websocket"),
        (Token::SCHEME, "http"),
        (Token::AUTHORITY, "a.test"),
        (Token::PATH, "/"),
    ] {
        fields.push(token, value.as_bytes());
    }
    request.head = RequestHead::from_fields(fields, Version::Http2).unwrap();
    request
}

#[tokio::test]
async fn a_request_that_is_given_up_waits_no_longer_for_the_peers_settings() {
    let client = Client::new();
    let request = a_websocket(&client);
    let exchange = Arc::clone(&request.exchange);
    let (mut connection, _far) = a_connection_that_never_settles(&client, request).await;
    client.dispatch.abandon(&exchange);
    run_until(&mut connection, |it| it.unsettled.is_empty()).await;
}

#[tokio::test]
async fn a_request_waits_for_the_peers_settings_no_longer_than_its_timeouts_say() {
    let client = Client::new();
    for is_total in [true, false] {
        let (mut request, time) = (a_websocket(&client), Duration::from_millis(20));
        match is_total {
            true => request.total_until = Some(Instant::now() + time),
            false => request.patience.headers = Some(time),
        }
        let exchange = Arc::clone(&request.exchange);
        let (mut connection, _far) = a_connection_that_never_settles(&client, request).await;
        // Only the connection's own timer wakes it.
        run_until(&mut connection, |it| it.unsettled.is_empty()).await;
        let answer = poll_fn(|cx| exchange.poll_outcome(cx)).await;
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    }
}

#[tokio::test]
async fn an_idle_connection_gives_its_memory_back_and_serves_on() {
    let (client, url) = (Client::new(), "http://a.test/");
    let origin = origin_of_url(&client.dispatch, url).unwrap();
    let (near, mut far) = tokio::io::duplex(4096);
    let (mut connection, handle) = a_connection(&client, &origin, near, Multiplexing::No);
    for round in 0..2 {
        handle.inbox.lock().unwrap().push(a_get(&origin, url));
        handle.signals.ready(INBOX);
        run_until(&mut connection, |connection| connection.slots.len() == 1).await;
        let mut received = [0; 1024];
        let read = far.read(&mut received).await.unwrap();
        assert!(
            received[..read].starts_with(b"GET / HTTP/1.1\r\n"),
            "{round}"
        );
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        far.write_all(answer).await.unwrap();
        run_until(&mut connection, |connection| connection.slots.len() == 0).await;
        if round > 0 {
            assert_eq!(connection.slots.slots(), 1, "not between two requests");
        }
        // Only the connection's own timer wakes it.
        run_until(&mut connection, |connection| connection.slots.slots() == 0).await;
        assert_eq!(connection.arrivals.capacity(), 0);
    }
}

/// A server that writes as soon as it has accepted, as simple ones do.
#[tokio::test]
async fn an_answer_that_is_there_before_the_request_is_written_is_the_requests() {
    let (client, url) = (Client::new(), "http://a.test/");
    let dispatch = &client.dispatch;
    let origin = origin_of_url(dispatch, url).unwrap();
    let (near, mut far) = tokio::io::duplex(4096);
    far.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
        .await
        .unwrap();
    let (mut connection, handle) = a_connection(&client, &origin, near, Multiplexing::No);
    let request = a_get(&origin, url);
    let exchange = Arc::clone(&request.exchange);
    handle.inbox.lock().unwrap().push(request);
    handle.signals.ready(INBOX);
    run_until(&mut connection, |it| it.answered).await;
    let answer = poll_fn(|cx| exchange.poll_outcome(cx)).await;
    assert_eq!(answer.unwrap().status(), 200);
    let mut head = [0; 5];
    far.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"GET /");
}

#[test]
fn a_request_waits_in_line_no_shorter_for_having_been_made_before_it_is_awaited() {
    let (client, url) = (Client::new(), "http://a.test/");
    let mut request = a_get(&origin_of_url(&client.dispatch, url).unwrap(), url);
    let (made, second) = (request.submitted_at, Duration::from_secs(1));
    request.wait_until = Some(made + second);
    request.begin(made + 5 * second);
    assert_eq!(request.wait_limit().deadline, Some(made + 6 * second));
    assert_eq!(request.age(made + 6 * second), second);
}

/// A body that gives nothing until it is dropped.
struct NeverBegins;

impl http_body::Body for NeverBegins {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn a_request_that_waits_for_its_body_leaves_a_connection_whose_path_has_changed() {
    let client = Client::new();
    let url = "http://a.test/";
    let mut request = a_get(&origin_of_url(&client.dispatch, url).unwrap(), url);
    request.body = Body::wrap(NeverBegins);
    request.head_with_body = true;
    let origin = Arc::clone(&request.origin);
    let (near, _far) = tokio::io::duplex(4096);
    let (mut connection, handle) = a_connection(&client, &origin, near, Multiplexing::No);
    handle.inbox.lock().unwrap().push(request);
    handle.signals.ready(INBOX);
    run_until(&mut connection, |it| it.held.len() == 1).await;
    handle.signals.network_changed();
    let ended = tokio::time::timeout(Duration::from_secs(20), &mut connection);
    ended.await.expect("it waits for the body no longer");
    assert!(connection.held.is_empty());
}
