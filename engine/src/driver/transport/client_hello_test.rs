use super::*;
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use std::future::pending;
use tokio::io::{AsyncReadExt, duplex};

/// A client's first message.
fn hello() -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut hello = Vec::new();
    connection.write_tls(&mut hello).unwrap();
    hello
}

fn read_by<S>(peeked: Result<PeekedHello<S>, Refused<S>>) -> PeekedHello<S> {
    peeked.unwrap_or_else(|refused| panic!("{}", refused.error))
}

#[tokio::test]
async fn a_message_is_received_in_pieces_of_any_size() {
    let hello = hello();
    for size in [1, 2, 3, 5, 100] {
        // Holds no more than a piece: each is read before the next can be written.
        let (mut client, server) = duplex(size);
        let (sent, received) = tokio::join!(client.write_all(&hello), PeekedHello::read(server));
        sent.unwrap();
        assert_eq!(read_by(received).hello().server_name(), Some("localhost"));
    }
}

#[tokio::test]
async fn what_comes_behind_the_message_is_held_up_to_a_bound() {
    let (mut client, server) = duplex(1024);
    let hello = hello();
    let (_, peeked) = tokio::join!(client.write_all(&hello), PeekedHello::read(server));
    let mut peeked = read_by(peeked);
    let flood = vec![0; 2 * HELLO_AHEAD_BYTES_MAX];
    tokio::select! {
        biased;
        _ = peeked.wait_for(pending::<()>()) => panic!("nobody left"),
        _ = client.write_all(&flood) => panic!("somebody has read it all"),
        () = async { for _ in 0..1000 { tokio::task::yield_now().await } } => {}
    }
    assert_eq!(peeked.behind.len(), HELLO_AHEAD_BYTES_MAX);
}

#[tokio::test]
async fn whoever_waits_for_a_choice_learns_that_the_client_has_left() {
    let (mut client, server) = duplex(1024);
    let hello = hello();
    let (_, peeked) = tokio::join!(client.write_all(&hello), PeekedHello::read(server));
    drop(client);
    let error = read_by(peeked).wait_for(pending::<()>()).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}

#[tokio::test]
async fn a_refusal_is_one_alert_and_the_end() {
    let (mut client, server) = duplex(1024);
    let hello = hello();
    let (_, peeked) = tokio::join!(client.write_all(&hello), PeekedHello::read(server));
    let error = io::Error::other("nobody is called that");
    drop(read_by(peeked).refuse(112, error).await);
    let mut received = Vec::new();
    client.read_to_end(&mut received).await.unwrap();
    assert_eq!(received, [21, 3, 3, 0, 2, 2, 112]);
}

#[tokio::test]
async fn what_is_no_first_message_is_refused_with_an_alert() {
    let (mut client, server) = duplex(1024);
    // Nothing is said of signatures, which a first message must (RFC 8446 section 9.2).
    let mut hello = vec![22, 3, 1, 0, 45, 1, 0, 0, 41, 3, 3];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0x13, 1, 1, 0]);
    let (_, received) = tokio::join!(client.write_all(&hello), PeekedHello::read(server));
    let Err(refused) = received else {
        panic!("it was heard");
    };
    assert_eq!(refused.error.kind(), io::ErrorKind::InvalidData);
    drop(refused);
    let mut alerted = Vec::new();
    client.read_to_end(&mut alerted).await.unwrap();
    assert_eq!(alerted[..6], [21, 3, 3, 0, 2, 2]);
}
