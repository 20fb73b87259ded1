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
