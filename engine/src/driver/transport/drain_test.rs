//! Slow but honest readers behind a socket whose buffer stays full. Time is an argument: nothing waits.

use super::*;
use crate::driver::connection_io::ConnectionIo;
use crate::driver::machine::Machine;
use crate::driver::transport::Transport;
use bytes::Bytes;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use trunkline_core::http::{Event, Fields, ResponseHead, Side, StreamId, Token, Version};
use trunkline_core::limits::Config;
use trunkline_core::{h1, h2};

/// Takes nothing, and holds this number of bytes of what it took before.
struct Full(Arc<AtomicU64>);

impl AsyncRead for Full {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for Full {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

const HELD: u64 = 64 << 20;

fn sends(socket: &Full, call: SocketCall) -> Option<u64> {
    (call == SocketCall::Held).then(|| socket.0.load(Ordering::Relaxed))
}

fn silent(_: &Full, _: SocketCall) -> Option<u64> {
    None
}

fn machine(version: Version, now: Instant, scarcity: &Scarcity) -> Machine {
    let config = Arc::new(Config::default());
    match version {
        Version::Http2 => {
            let conn = h2::Conn::new(Side::Server, config, now);
            Machine::H2(Box::new(conn.with_scarcity(scarcity)))
        }
        _ => {
            let conn = h1::Conn::new(Side::Server, config, now);
            Machine::H1(Box::new(conn.with_scarcity(scarcity)))
        }
    }
}

/// The preface, SETTINGS that say nothing, the acknowledgement of ours, and GET of `/` at `a` (RFC 7541 section C.3).
const H2_GET: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0\0\0\x06\x01\x05\0\0\0\x01\x82\x86\x84\x41\x01a";

/// A server's link whose peer does not make room for the answer.
fn answering(
    version: Version,
    calls: CallSocket<Full>,
    scarcity: &Scarcity,
) -> (ConnectionIo<Full>, Arc<AtomicU64>, Instant) {
    let now = Instant::now();
    let left = Arc::new(AtomicU64::new(HELD));
    let mut io = ConnectionIo::new(
        Transport::plain(Full(Arc::clone(&left))),
        machine(version, now, scarcity),
    )
    .with_stalls(Arc::new(Config::default()), calls);
    let asks: &[u8] = match version {
        Version::Http2 => H2_GET,
        _ => b"GET / HTTP/1.1\r\nhost: a\r\n\r\n",
    };
    io.machine.handle_bytes(now, asks);
    let mut stream = None;
    while let Some(event) = io.machine.poll_event() {
        if let Event::RequestReceived { stream: asked, .. } = event {
            stream = Some(asked);
        }
    }
    let stream: StreamId = stream.unwrap();
    let mut fields = Fields::new();
    fields.push(Token::STATUS, b"200");
    let head = ResponseHead::received(fields, version).unwrap();
    io.machine.respond(now, stream, &head, false).unwrap();
    let body = Bytes::from_static(&[0; 32 * 1024]);
    io.machine.send_body(now, stream, body, false).unwrap();
    (io, left, now)
}

/// Whether it lives for ten minutes while `bytes` leave the socket each second.
fn lives(version: Version, calls: CallSocket<Full>, bytes: u64) -> bool {
    let (mut io, left, start) = answering(version, calls, &Scarcity::default());
    let mut cx = Context::from_waker(Waker::noop());
    for second in 0..600 {
        let now = start + Duration::from_secs(second);
        io.expire_due(now);
        let _ = io.poll_write(&mut cx, now);
        if io.machine.is_closed() {
            return false;
        }
        left.fetch_sub(bytes, Ordering::Relaxed);
    }
    true
}

#[test]
fn a_reader_of_ten_kilobytes_a_second_behind_megabytes_in_the_kernel_lives() {
    for version in [Version::Http11, Version::Http2] {
        assert!(lives(version, sends, 10_000), "{version:?}");
    }
}

#[test]
fn a_reader_that_takes_nothing_or_a_dribble_or_whose_system_does_not_say_is_left() {
    for version in [Version::Http11, Version::Http2] {
        assert!(!lives(version, sends, 0), "{version:?}");
        assert!(!lives(version, sends, 100), "{version:?}");
        assert!(!lives(version, silent, 10_000), "{version:?}");
    }
}

#[test]
fn a_client_that_pauses_is_waited_for_until_connections_are_scarce() {
    for (version, calls) in [
        (Version::Http11, sends as CallSocket<Full>),
        (Version::Http2, sends),
        (Version::Http11, silent),
        (Version::Http2, silent),
    ] {
        let scarcity = Scarcity::shared();
        let (mut io, _, start) = answering(version, calls, &scarcity);
        let mut cx = Context::from_waker(Waker::noop());
        let mut ended = None;
        for second in 0..200 {
            let now = start + Duration::from_secs(second);
            scarcity.set(second >= 100);
            io.expire_due(now);
            let _ = io.poll_write(&mut cx, now);
            if io.machine.is_closed() {
                ended = Some(second);
                break;
            }
        }
        let second = ended.expect("it is given up");
        assert!(
            (100..=130).contains(&second),
            "{version:?}: after {second} s"
        );
    }
}

/// Whether a tunnel's peer is kept for ten minutes while `bytes` leave the socket each second; how often
/// the socket was asked.
fn keeps(timeouts: &Timeouts, reports: bool, bytes: u64) -> (bool, u32) {
    let mut stall = TunnelStall::of(timeouts, Scarcity::default()).unwrap();
    let (start, mut asked) = (Instant::now(), 0);
    let mut next = start;
    for second in 0..600 {
        let now = start + Duration::from_secs(second);
        if now < next {
            continue;
        }
        let judged = stall.judge(now, || {
            asked += 1;
            reports.then(|| HELD - bytes * second)
        });
        match judged {
            Ok(at) => next = at,
            Err(Stalled) => return (false, asked),
        }
    }
    (true, asked)
}

#[test]
fn a_slow_reader_of_a_tunnel_behind_megabytes_in_the_kernel_lives() {
    let timeouts = Timeouts::default();
    let (lives, asked) = keeps(&timeouts, true, 10_000);
    assert!(lives);
    assert!(
        asked > 0 && asked < 600,
        "{asked}: a look takes a system call"
    );
}

#[test]
fn a_reader_of_a_tunnel_that_takes_nothing_or_a_dribble_or_whose_system_does_not_say_is_left() {
    let timeouts = Timeouts::default();
    assert!(!keeps(&timeouts, true, 0).0);
    assert!(!keeps(&timeouts, true, 100).0);
    assert!(!keeps(&timeouts, false, 10_000).0);
}

#[test]
fn a_peer_that_takes_nothing_of_a_tunnel_has_half_a_minute_where_connections_are_scarce() {
    let timeouts = Timeouts::default();
    for reports in [false, true] {
        let scarcity = Scarcity::shared();
        let mut stall = TunnelStall::of(&timeouts, scarcity.clone()).unwrap();
        let start = Instant::now();
        let mut judge = |second| {
            let now = start + Duration::from_secs(second);
            let judged = stall.judge(now, || reports.then_some(HELD));
            judged.map(|next| next.duration_since(start).as_secs())
        };
        assert!(judge(0).unwrap() < 30, "it is looked at before");
        assert!(judge(100).is_ok());
        scarcity.set(true);
        assert_eq!(judge(101), Err(Stalled), "{reports}");
    }
}

#[test]
fn a_write_to_a_tunnel_restarts_the_time_of_its_stall() {
    let timeouts = Timeouts::default();
    let limit = timeouts.write_stall.unwrap();
    let mut stall = TunnelStall::of(&timeouts, Scarcity::default()).unwrap();
    let start = Instant::now();
    assert!(stall.judge(start, || None).is_ok());
    stall.note_written();
    let later = start + limit;
    assert!(stall.judge(later, || None).is_ok());
    assert_eq!(stall.judge(later + limit, || None), Err(Stalled));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_tunnel_says_what_its_socket_holds_until_its_peer_has_read_it() {
    use crate::tunnel::upgrade::Upgraded;
    use std::io::Read;
    use tokio::io::AsyncWriteExt;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).await;
    let (mut far, _) = listener.accept().unwrap();
    let mut tunnel = Upgraded::new(Transport::plain(near.unwrap()), &Bytes::new());
    assert_eq!(tunnel.call_socket(SocketCall::Held), Some(0));
    let mut sent = 0;
    // More than both systems hold for a peer that does not read.
    loop {
        let piece = [0; 64 * 1024];
        let mut write = Box::pin(tunnel.write(&piece));
        let written = std::future::poll_fn(|cx| Poll::Ready(write.as_mut().poll(cx))).await;
        match written {
            Poll::Ready(length) => sent += length.unwrap(),
            Poll::Pending => break,
        }
    }
    let before = tunnel.call_socket(SocketCall::Held).unwrap();
    assert!(before > 0, "of {sent} bytes");
    // The peer reads, and the tunnel writes nothing meanwhile.
    let reading = std::thread::spawn(move || {
        far.read_exact(&mut vec![0; sent / 2]).unwrap();
        far
    });
    let _far = reading.join().unwrap();
    while tunnel.call_socket(SocketCall::Held).unwrap() >= before {
        tokio::task::yield_now().await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn linux_says_what_a_socket_holds_until_its_peer_has_read_it() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut near = TcpStream::connect(address).await.unwrap();
    let (mut far, _) = listener.accept().await.unwrap();
    assert_eq!(held_by(&near), Some(0));
    let mut sent = 0;
    near.writable().await.unwrap();
    // More than both systems hold for a peer that does not read.
    while let Ok(bytes) = near.try_write(&[0; 64 * 1024]) {
        sent += bytes;
    }
    assert!(held_by(&near).unwrap() > 0, "of {sent} bytes");
    let reading = tokio::spawn(async move {
        let mut all = vec![0; sent];
        far.read_exact(&mut all).await.unwrap();
        far
    });
    let _far = reading.await.unwrap();
    while held_by(&near) != Some(0) {
        tokio::task::yield_now().await;
    }
    near.shutdown().await.unwrap();
}
