//! Two servers behind a load balancer that has no state but the table of QUIC-LB (draft-ietf-quic-load-balancers-21): it finds the
//! server of a packet in the connection id.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer::service;
use aws_lc_rs::cipher::{AES_128, DecryptingKey, DecryptionContext, UnboundCipherKey};
use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use rustls::pki_types::CertificateDer;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::UdpSocket;
use trunkline::client::{Client, ClientTls, HealthTimes, Protocols};
use trunkline::{Body, QuicLb, Running, Server, Tls};

const LARGE_BYTES: usize = 8 << 20;
const KEY: [u8; 16] = [0x5a; 16];
const SERVER_ID_BYTES: usize = 8;
/// First octet, server id, nonce, and the two bytes of the server's own.
const ID_BYTES: usize = 1 + SERVER_ID_BYTES + 8 + 2;
const ROTATION: u8 = 3;

/// A server that says which one it is.
fn server(number: u8, key: Option<[u8; 16]>) -> (Running, CertificateDer<'static>) {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let mut quic_lb = QuicLb::new([number; SERVER_ID_BYTES]).rotation(ROTATION);
    if let Some(key) = key {
        quic_lb = quic_lb.key(key);
    }
    let running = Server::bind("127.0.0.1:0")
        .workers(2)
        .tls(tls)
        .http3(true)
        .quic_lb(quic_lb)
        .serve(service(move |request: http::Request<Body>| async move {
            Response::new(Body::full(match request.uri().path() {
                "/large" => Bytes::from(vec![number; LARGE_BYTES]),
                _ => Bytes::from(vec![number]),
            }))
        }))
        .unwrap();
    (running, root)
}

/// The load balancer.
struct Balancer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

struct State {
    servers: Vec<SocketAddr>,
    key: Option<[u8; 16]>,
    /// The server of packets whose ids name none.
    fallback: usize,
    /// The address that each client has to the servers.
    clients: BTreeMap<SocketAddr, Arc<UdpSocket>>,
    /// Packets whose ids named a server.
    routed: u64,
}

impl State {
    /// Section 5: the server's place in the table. `None`: the id names none.
    fn server_of(&self, packet: &[u8]) -> Option<usize> {
        let id = match packet[0] & 0x80 {
            0 => packet.get(1..=ID_BYTES)?,
            _ if usize::from(*packet.get(5)?) == ID_BYTES => packet.get(6..6 + ID_BYTES)?,
            _ => return None,
        };
        if id[0] >> 5 != ROTATION {
            return None;
        }
        let mut plain: [u8; 16] = id[1..17].try_into().unwrap();
        if let Some(key) = &self.key {
            let key = UnboundCipherKey::new(&AES_128, key).unwrap();
            let key = DecryptingKey::ecb(key).unwrap();
            key.decrypt(&mut plain, DecryptionContext::None).unwrap();
        }
        let is_of = |number: &usize| plain[..SERVER_ID_BYTES] == [*number as u8; SERVER_ID_BYTES];
        (0..self.servers.len()).find(is_of)
    }
    fn target(&mut self, packet: &[u8]) -> SocketAddr {
        let named = self.server_of(packet);
        self.routed += u64::from(named.is_some());
        self.servers[named.unwrap_or(self.fallback)]
    }
}

impl Balancer {
    async fn before(servers: Vec<SocketAddr>, key: Option<[u8; 16]>) -> Self {
        let front = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let address = front.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State {
            servers,
            key,
            fallback: 0,
            clients: BTreeMap::new(),
            routed: 0,
        }));
        tokio::spawn(forward(front, Arc::clone(&state)));
        Self { address, state }
    }
    /// Every client has another address to the servers from now on, and what names no server goes to the other one.
    fn move_clients(&self) {
        let mut state = self.state.lock().unwrap();
        state.clients.clear();
        state.fallback = 1;
    }
    fn routed(&self) -> u64 {
        self.state.lock().unwrap().routed
    }
}

async fn forward(front: Arc<UdpSocket>, state: Arc<Mutex<State>>) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let (length, client) = front.recv_from(&mut bytes).await.unwrap();
        let packet = &bytes[..length];
        let (known, target) = {
            let mut state = state.lock().unwrap();
            let target = state.target(packet);
            (state.clients.get(&client).cloned(), target)
        };
        let back = match known {
            Some(back) => back,
            None => {
                let back = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
                let clients = &mut state.lock().unwrap().clients;
                clients.insert(client, Arc::clone(&back));
                tokio::spawn(bring_back(Arc::clone(&back), Arc::clone(&front), client));
                back
            }
        };
        // A packet that cannot be sent is lost.
        let _ = back.send_to(packet, target).await;
    }
}

async fn bring_back(back: Arc<UdpSocket>, front: Arc<UdpSocket>, client: SocketAddr) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        // The error concerns an earlier packet.
        if let Ok((length, _)) = back.recv_from(&mut bytes).await {
            let _ = front.send_to(&bytes[..length], client).await;
        }
    }
}

/// A download of a client that changes its address in the middle, and a request on the same connection.
async fn outlives_a_move(key: Option<[u8; 16]>) {
    let (first, root) = server(0, key);
    let (second, _) = server(1, key);
    let servers = vec![first.local_addr(), second.local_addr()];
    let balancer = Balancer::before(servers, key).await;
    let address: SocketAddr = ([127, 0, 0, 1], 0).into();
    let client = Client::builder()
        .protocols(Protocols::H3Only)
        .health(HealthTimes::default().with_unanswered(None))
        .resolve("localhost", [address])
        .tls(ClientTls::new().root(root).only_given_roots())
        .build()
        .unwrap();
    let url = |path: &str| format!("https://localhost:{}{path}", balancer.address.port());
    let mut body = client.get(url("/large")).send().await.unwrap().into_body();
    let mut received = 0;
    while received < LARGE_BYTES / 8 {
        let frame = body.frame().await.unwrap().unwrap();
        received += frame.data_ref().unwrap().len();
    }
    balancer.move_clients();
    let rest = body.collect().await.unwrap().to_bytes();
    assert_eq!(received + rest.len(), LARGE_BYTES);
    let again = client.get(url("/")).send().await.unwrap();
    assert_eq!(again.into_body().bytes().await.unwrap(), [0][..]);
    assert_eq!(first.metrics().connections_accepted, 1);
    assert_eq!(second.metrics().connections_accepted, 0);
    assert!(
        balancer.routed() > 100,
        "{} packets had 8 MiB",
        balancer.routed()
    );
}

#[test]
fn a_balancer_that_reads_ids_in_the_clear_steers_clients_that_have_moved() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(outlives_a_move(None));
}

#[test]
fn a_balancer_that_has_the_key_steers_clients_that_have_moved() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(outlives_a_move(Some(KEY)));
}

#[test]
fn settings_that_make_no_id_are_an_error_of_serve() {
    let (tls, _) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let served = Server::bind("127.0.0.1:0")
        .tls(tls)
        .http3(true)
        .quic_lb(QuicLb::new([1; 12]))
        .serve(service(|_| async { Response::new(Body::empty()) }));
    let text = served.map(|_| ()).unwrap_err().to_string();
    assert!(
        text.contains("server id of 12 bytes and a nonce of 8"),
        "{text}"
    );
}
