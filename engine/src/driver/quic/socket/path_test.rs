use super::*;
use std::net::UdpSocket;
use std::task::Waker;

fn peer() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let address = socket.local_addr().expect("it is bound");
    (socket, address)
}

/// Where the current socket of `sockets` receives.
fn address(sockets: &PathSockets) -> SocketAddr {
    let port = sockets.current().local_addr().expect("it is bound").port();
    ([127, 0, 0, 1], port).into()
}

/// Datagrams that came, without waiting for the runtime.
fn received(sockets: &mut PathSockets) -> Vec<Vec<u8>> {
    let mut came = Vec::new();
    let more = sockets.receive_unnotified(&mut |datagram| came.push(datagram.bytes.to_vec()));
    assert!(!more.expect("the sockets are whole"));
    came
}

#[tokio::test]
async fn a_late_answer_over_the_path_before_is_received_until_the_new_one_is_answered() {
    let (peer, at) = peer();
    let send = |bytes: &[u8], to| peer.send_to(bytes, to).expect("loopback takes it");
    let mut sockets = PathSockets::to(at).expect("a socket");
    let at_first = address(&sockets);
    sockets.change(at).expect("another");
    let at_second = address(&sockets);
    send(b"late", at_first);
    assert_eq!(received(&mut sockets), [b"late"]);
    // Both at once: what came over the old one is older.
    send(b"new", at_second);
    send(b"old", at_first);
    assert_eq!(received(&mut sockets), [b"old", b"new"]);
    assert!(sockets.former.is_none(), "the new path works");
}

#[tokio::test]
async fn what_the_runtime_was_not_notified_of_is_received_where_it_is_asked_for() {
    let (peer, at) = peer();
    let mut sockets = PathSockets::to(at).expect("a socket");
    let to = address(&sockets);
    let mut cx = Context::from_waker(Waker::noop());
    let idle = sockets.poll_receive(&mut cx, &mut |_| panic!("nothing was sent"));
    assert!(idle.is_pending());
    // This thread goes on: the runtime does not look at the system.
    peer.send_to(b"answer", to).expect("loopback takes it");
    let unseen = sockets.poll_receive(&mut cx, &mut |_| panic!("the runtime has not looked"));
    assert!(unseen.is_pending());
    assert_eq!(received(&mut sockets), [b"answer"]);
}

/// A datagram that came over the path before, behind an error of what was sent there.
#[cfg(target_os = "linux")]
async fn late_behind_an_error() -> PathSockets {
    let (peer, at) = peer();
    let mut sockets = PathSockets::to(at).expect("a socket");
    let to = address(&sockets);
    drop(peer);
    let packet = quinn_proto::Transmit {
        destination: at,
        ecn: None,
        size: 1,
        segment_size: None,
        src_ip: None,
    };
    let sent = std::future::poll_fn(|cx| sockets.current().poll_send(cx, &packet, b"x")).await;
    sent.expect("its error comes later");
    sockets.change(at).expect("another");
    let peer = UdpSocket::bind(at).expect("it was free");
    peer.send_to(b"late", to).expect("loopback takes it");
    let former = sockets.former.as_ref().expect("it was left");
    let came = former.io.readable().await;
    came.expect("the runtime was notified");
    sockets
}

/// Only a connected socket gets errors of what it sent.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_error_of_the_path_before_hides_nothing_that_comes_over_it() {
    let mut sockets = late_behind_an_error().await;
    let mut cx = Context::from_waker(Waker::noop());
    let mut came = Vec::new();
    let mut sink = |datagram: ReceivedDatagram| came.push(datagram.bytes.to_vec());
    while sockets.poll_receive(&mut cx, &mut sink).is_ready() {}
    assert_eq!(came, [b"late"]);
    let mut sockets = late_behind_an_error().await;
    let mut came = Vec::new();
    let mut sink = |datagram: ReceivedDatagram| came.push(datagram.bytes.to_vec());
    while sockets.receive_unnotified(&mut sink).unwrap_or(false) {}
    assert_eq!(came, [b"late"]);
}
