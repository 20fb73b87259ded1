//! The time at which an idle connection gives its buffers back, and reads behind a write that failed. Time is an argument: nothing waits.

use super::*;
use crate::driver::transport::drain::SocketCall;
use std::sync::Arc;
use std::task::Waker;
use tokio::io::{AsyncWriteExt, DuplexStream, ReadBuf};
use trunkline_core::error::{Closed, TransportEnd};
use trunkline_core::h1;
use trunkline_core::http::{Event, Fields, ResponseHead, Side, StreamId, Token, Version};
use trunkline_core::limits::Config;

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const MOMENT: Duration = Duration::from_millis(50);

fn served() -> (ConnectionIo<DuplexStream>, DuplexStream, Instant) {
    let (near, far) = tokio::io::duplex(4096);
    let now = Instant::now();
    let machine = h1::Conn::new(Side::Server, Arc::new(Config::default()), now);
    let mut io = ConnectionIo::new(Transport::plain(near), Machine::H1(Box::new(machine)));
    io.has_released = true;
    (io, far, now)
}

/// Reads what is there.
fn read(io: &mut ConnectionIo<DuplexStream>, now: Instant) {
    let mut cx = Context::from_waker(Waker::noop());
    while io.poll_read(&mut cx, now) == Poll::Ready(true) {}
}

/// The requests that were read.
fn requests(io: &mut ConnectionIo<DuplexStream>) -> Vec<StreamId> {
    let mut streams = Vec::new();
    while let Some(event) = io.machine.poll_event() {
        if let Event::RequestReceived { stream, .. } = event {
            streams.push(stream);
        }
    }
    streams
}

fn answer(io: &mut ConnectionIo<DuplexStream>, stream: StreamId, now: Instant) {
    let mut fields = Fields::new();
    fields.push(Token::STATUS, b"204");
    let head = ResponseHead::received(fields, Version::Http11).unwrap();
    io.machine.respond(now, stream, &head, true).unwrap();
    io.machine.handler_done(now, stream);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(io.poll_write(&mut cx, now).is_ready());
}

/// Carries out the deadlines up to `now`, then rests; true when the buffers went back.
fn released_by(io: &mut ConnectionIo<DuplexStream>, now: Instant) -> bool {
    io.expire_due(now);
    io.rest(now)
}

#[tokio::test]
async fn a_connection_that_rests_gives_its_buffers_back_once() {
    let (mut io, mut far, start) = served();
    far.write_all(GET).await.unwrap();
    read(&mut io, start);
    let stream = requests(&mut io)[0];
    answer(&mut io, stream, start);
    assert!(!io.rest(start));
    assert!(!released_by(&mut io, start + MOMENT));
    assert!(released_by(&mut io, start + RELEASE_AFTER));
    // Nothing came since: nothing is planned, and nothing is given back again.
    assert_eq!(io.release_at, None);
    assert!(!released_by(&mut io, start + 10 * RELEASE_AFTER));
    assert_eq!(io.release_at, None);
    far.write_all(GET).await.unwrap();
    let later = start + 11 * RELEASE_AFTER;
    read(&mut io, later);
    let stream = requests(&mut io)[0];
    answer(&mut io, stream, later);
    assert!(!io.rest(later));
    assert!(released_by(&mut io, later + RELEASE_AFTER));
}

#[tokio::test]
async fn bytes_that_come_after_the_release_was_planned_put_it_off_and_not_for_ever() {
    let (mut io, mut far, start) = served();
    far.write_all(GET).await.unwrap();
    read(&mut io, start);
    let stream = requests(&mut io)[0];
    answer(&mut io, stream, start);
    assert!(!io.rest(start));
    far.write_all(GET).await.unwrap();
    let late = start + MOMENT;
    read(&mut io, late);
    let stream = requests(&mut io)[0];
    answer(&mut io, stream, late);
    assert!(!io.rest(late));
    assert!(!released_by(&mut io, start + RELEASE_AFTER));
    assert!(released_by(&mut io, late + RELEASE_AFTER));
}

#[tokio::test]
async fn an_answer_that_comes_long_after_its_request_is_followed_by_a_release_too() {
    let (mut io, mut far, start) = served();
    far.write_all(GET).await.unwrap();
    read(&mut io, start);
    let stream = requests(&mut io)[0];
    // The handler works: buffers are in use, however long nothing comes.
    assert!(!io.rest(start));
    let answered = start + 20 * RELEASE_AFTER;
    assert!(!released_by(&mut io, answered));
    answer(&mut io, stream, answered);
    // No byte was read in this turn.
    assert!(!io.rest(answered));
    assert!(!io.rest(answered + MOMENT));
    assert!(released_by(&mut io, answered + RELEASE_AFTER));
}

#[tokio::test]
async fn a_connection_that_never_said_anything_gives_its_buffers_back() {
    let (mut io, _far, start) = served();
    assert!(!io.rest(start));
    assert!(released_by(&mut io, start + RELEASE_AFTER));
}

#[tokio::test]
async fn a_new_connection_gives_its_first_buffers_back_at_once_and_later_ones_in_their_time() {
    let (mut io, mut far, start) = served();
    io.has_released = false;
    far.write_all(GET).await.unwrap();
    read(&mut io, start);
    let stream = requests(&mut io)[0];
    answer(&mut io, stream, start);
    assert!(!io.rest(start));
    assert!(released_by(&mut io, start));
    far.write_all(GET).await.unwrap();
    let later = start + RELEASE_AFTER;
    read(&mut io, later);
    let stream = requests(&mut io)[0];
    answer(&mut io, stream, later);
    assert!(!io.rest(later));
    assert!(!released_by(&mut io, later + MOMENT));
    assert!(released_by(&mut io, later + RELEASE_AFTER));
}

#[tokio::test]
async fn what_came_before_a_write_failed_is_read_and_the_connection_ends_behind_it() {
    let (mut io, mut far, now) = served();
    far.write_all(GET).await.unwrap();
    read(&mut io, now);
    let stream = requests(&mut io)[0];
    far.write_all(GET).await.unwrap();
    drop(far);
    answer(&mut io, stream, now);
    let events: Vec<_> = std::iter::from_fn(|| io.machine.poll_event()).collect();
    let [Event::RequestReceived { .. }, .., Event::Closed(closed)] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(
        *closed,
        Closed::Transport(TransportEnd::Failed),
        "not an end in order"
    );
}

#[tokio::test]
async fn a_client_that_has_ended_its_side_is_gone_once_a_write_to_it_fails() {
    let (mut io, mut far, now) = served();
    far.write_all(GET).await.unwrap();
    far.shutdown().await.unwrap();
    read(&mut io, now);
    let stream = requests(&mut io)[0];
    drop(far);
    let mut fields = Fields::new();
    fields.push(Token::STATUS, b"200");
    let head = ResponseHead::received(fields, Version::Http11).unwrap();
    io.machine.respond(now, stream, &head, false).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(io.poll_write(&mut cx, now).is_ready());
    let events: Vec<_> = std::iter::from_fn(|| io.machine.poll_event()).collect();
    assert!(
        matches!(
            events[..],
            [
                Event::StreamReset { .. },
                Event::Closed(Closed::Transport(TransportEnd::Failed))
            ]
        ),
        "{events:?}"
    );
}

/// A socket whose peer leaves no room for the last bytes of its connection.
struct Full(DuplexStream);

impl AsyncRead for Full {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Full {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn a_peer_that_leaves_no_room_for_the_end_of_its_connection_is_given_up() {
    let (near, _far) = tokio::io::duplex(4096);
    let start = Instant::now();
    let machine = h1::Conn::new(Side::Server, Arc::new(Config::default()), start);
    let transport = Transport::plain(Full(near));
    let mut io = ConnectionIo::new(transport, Machine::H1(Box::new(machine)));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(io.poll_shutdown(&mut cx, start).is_pending());
    let stall = Config::default().timeouts.scarce_stall.unwrap();
    let nearly = start + stall - MOMENT;
    assert!(io.poll_shutdown(&mut cx, nearly).is_pending());
    assert!(io.poll_shutdown(&mut cx, start + stall).is_ready());
}

/// A server's connection whose client has sent a request and ended its side; `calls`: the system's answers.
async fn half_closed(calls: CallSocket<DuplexStream>) -> (ConnectionIo<DuplexStream>, Instant) {
    let (io, mut far, now) = served();
    let mut io = io.with_stalls(Arc::new(Config::default()), calls);
    far.write_all(GET).await.unwrap();
    far.shutdown().await.unwrap();
    read(&mut io, now);
    assert_eq!(requests(&mut io).len(), 1);
    (io, now)
}

fn resets(io: &mut ConnectionIo<DuplexStream>) -> usize {
    let mut count = 0;
    while let Some(event) = io.machine.poll_event() {
        count += usize::from(matches!(event, Event::StreamReset { .. }));
    }
    count
}

#[tokio::test]
async fn a_reset_behind_the_end_of_a_clients_side_ends_its_request_at_the_next_look() {
    let (mut io, start) = half_closed(|_, call| (call == SocketCall::Lost).then_some(32)).await;
    let look = start + stall::LOOK_FOR_LOSS_EVERY;
    io.expire_due(look - Duration::from_millis(1));
    assert_eq!(resets(&mut io), 0);
    assert!(io.expire_due(look));
    assert_eq!(resets(&mut io), 1);
    assert!(io.is_done(look));
    assert_eq!(io.stream_failure().unwrap().raw_os_error(), Some(32));
    assert!(
        !io.expire_due(look + 10 * stall::LOOK_FOR_LOSS_EVERY),
        "it ends once"
    );
}

#[tokio::test]
async fn a_client_that_has_ended_its_side_and_reads_on_keeps_its_request_and_gets_its_answer() {
    let (mut io, start) = half_closed(|_, _| None).await;
    let mut now = start;
    for _ in 0..20 {
        now += stall::LOOK_FOR_LOSS_EVERY;
        assert!(io.expire_due(now), "it is looked at again");
        assert_eq!(resets(&mut io), 0);
    }
    assert!(!io.is_done(now));
}
