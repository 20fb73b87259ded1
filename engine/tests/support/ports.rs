//! Listeners of TCP whose port is free over UDP too, where HTTP/3 is served beside it.

use std::net::{SocketAddr, UdpSocket};
use tokio::net::TcpListener;
use trunkline::Client;
use trunkline::client::{ClientTls, Protocols};

/// A port of 127.0.0.1: of those that the system gives for TCP, some are another program's over UDP.
pub(crate) async fn listener() -> TcpListener {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        if UdpSocket::bind(listener.local_addr().unwrap()).is_ok() {
            return listener;
        }
    }
}

/// Waits until the server that was spawned for a listener serves: where it answers over TCP its UDP socket is bound.
pub(crate) async fn served(address: SocketAddr, tls: ClientTls) {
    let builder = Client::builder().protocols(Protocols::H2Only).tls(tls);
    let client = builder.resolve("localhost", address).build().unwrap();
    let url = format!("https://localhost:{}/no/handler", address.port());
    client.get(&url).send().await.unwrap();
}
