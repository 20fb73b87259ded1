//! Listeners of TCP whose port is free over UDP too, where HTTP/3 is served beside it.

use std::net::UdpSocket;
use tokio::net::TcpListener;

/// A port of 127.0.0.1: of those that the system gives for TCP, some are another program's over UDP.
pub(crate) async fn listener() -> TcpListener {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        if UdpSocket::bind(listener.local_addr().unwrap()).is_ok() {
            return listener;
        }
    }
}
