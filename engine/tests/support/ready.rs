//! The wait for a spawned server: where it answers over TCP, its UDP socket is bound too.

use std::net::SocketAddr;
use trunkline::Client;
use trunkline::client::{ClientTls, Protocols};

/// Returns when the server at `address` has answered a request, whatever the status.
pub(crate) async fn answers(address: SocketAddr, tls: ClientTls) {
    let builder = Client::builder().protocols(Protocols::H2Only).tls(tls);
    let client = builder.resolve("localhost", address).build().unwrap();
    let url = format!("https://localhost:{}/no/handler", address.port());
    client.get(&url).send().await.unwrap();
}
