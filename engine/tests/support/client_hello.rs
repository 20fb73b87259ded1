//! The first ClientHello that reaches a TCP port, which is not answered.
#![allow(clippy::unwrap_used, reason = "a peer that fails fails its test")]

use rustls::server::{Acceptor, ClientHello};
use std::io::Read;
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

/// A port, and a thread that ends with `part` of the ClientHello and the bytes that came up to its end.
pub(crate) fn first_client_hello<T: Send + 'static>(
    part: impl FnOnce(&ClientHello<'_>) -> T + Send + 'static,
) -> (u16, JoinHandle<(T, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let reading = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let (mut acceptor, mut bytes) = (Acceptor::default(), Vec::new());
        loop {
            let mut piece = [0; 4096];
            let length = socket.read(&mut piece).unwrap();
            assert_ne!(length, 0, "the ClientHello ends early");
            bytes.extend(&piece[..length]);
            acceptor.read_tls(&mut &piece[..length]).unwrap();
            if let Some(accepted) = acceptor.accept().map_err(|(error, _)| error).unwrap() {
                return (part(&accepted.client_hello()), bytes);
            }
        }
    });
    (port, reading)
}
