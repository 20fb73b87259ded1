use super::{Accepted, AcceptedSocket};
#[cfg(target_os = "linux")]
use super::{Acceptor, Listener, Owner};
use socket2::SockRef;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use tokio::io::AsyncReadExt;

#[test]
fn a_connection_that_was_reset_before_it_changes_threads_still_gives_what_came() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut client = TcpStream::connect(address).expect("a connection");
    let (socket, peer) = listener.accept().expect("a connection");
    std::io::Write::write_all(&mut client, b"GET /").expect("room");
    SockRef::from(&client)
        .set_linger(Some(Duration::ZERO))
        .expect("a reset at its end");
    drop(client);
    // The reset is there when the system has forgotten the peer.
    while socket.peer_addr().is_ok() {
        std::thread::yield_now();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let accepted = AcceptedSocket::Tcp(socket, peer).registered();
        let Ok(Accepted::Tcp(mut socket, address)) = accepted else {
            panic!("the connection was dropped");
        };
        assert_eq!(address, peer);
        let mut came = [0; 5];
        socket.read_exact(&mut came).await.expect("what came");
        assert_eq!(&came, b"GET /");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn handshakes_of_near_clients_are_awaited_at_a_port_where_others_serve() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    let _within = runtime.enter();
    let awaits = |owner, has_distant_clients| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("it is a socket");
        let acceptor = Acceptor::new(Listener::Tcp(listener, owner)).expect("a listener");
        let queue = acceptor.into_queue().expect("a queue");
        queue.awaits_handshakes(has_distant_clients)
    };
    assert!(awaits(Owner::Beside, false));
    assert!(!awaits(Owner::Here, false), "a test's server need not wait");
    assert!(awaits(Owner::Here, true));
    assert!(!awaits(Owner::Elsewhere, true), "others accept from it");
}
