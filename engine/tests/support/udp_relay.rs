//! A path for UDP that a test can break: between clients and a server, as a NAT stands there.
#![allow(clippy::unwrap_used, reason = "a path that fails fails its test")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::UdpSocket;

const DATAGRAM_BYTES_MAX: usize = 64 * 1024;

/// A running relay; it ends with the runtime.
pub(crate) struct UdpRelay {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

struct State {
    server: SocketAddr,
    delay: Duration,
    /// The socket that forwards each client's packets.
    clients: BTreeMap<SocketAddr, Arc<UdpSocket>>,
    /// Clients whose packets go nowhere, and who get none.
    cut: BTreeSet<SocketAddr>,
    /// Clients' packets since recording began.
    recorded: Option<Vec<Vec<u8>>>,
}

impl UdpRelay {
    /// Begins to relay to `server`.
    pub(crate) async fn to(server: SocketAddr) -> Self {
        Self::far_from(server, Duration::ZERO).await
    }
    /// Begins to relay to `server`; packets to clients are `delay` late.
    pub(crate) async fn far_from(server: SocketAddr, delay: Duration) -> Self {
        let front = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let address = front.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State {
            server,
            delay,
            clients: BTreeMap::new(),
            cut: BTreeSet::new(),
            recorded: None,
        }));
        tokio::spawn(forward(front, Arc::clone(&state)));
        Self { address, state }
    }
    /// Where clients send to, as a URL.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.address.port())
    }
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
    /// From now on nothing goes to or comes from the addresses that clients had so far.
    pub(crate) fn cut_known_clients(&self) {
        let mut state = self.lock();
        let known: Vec<SocketAddr> = state.clients.keys().copied().collect();
        state.cut.extend(known);
    }
    /// From now on everything goes to another server, and only what comes from it counts.
    pub(crate) fn turn_to(&self, server: SocketAddr) {
        self.lock().server = server;
    }
    /// From now on what clients send is kept.
    pub(crate) fn record(&self) {
        self.lock().recorded = Some(Vec::new());
    }
    /// The recorded packets, in order.
    pub(crate) fn recorded(&self) -> Vec<Vec<u8>> {
        self.lock().recorded.take().unwrap_or_default()
    }
    /// How many addresses clients have had.
    pub(crate) fn clients(&self) -> usize {
        self.lock().clients.len()
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

async fn forward(front: Arc<UdpSocket>, state: Arc<Mutex<State>>) {
    let mut bytes = vec![0; DATAGRAM_BYTES_MAX];
    loop {
        let (length, client) = front.recv_from(&mut bytes).await.unwrap();
        let known = {
            let mut state = state.lock().unwrap();
            if state.cut.contains(&client) {
                continue;
            }
            if let Some(recorded) = &mut state.recorded {
                recorded.push(bytes[..length].to_vec());
            }
            state.clients.get(&client).cloned()
        };
        let back = match known {
            Some(back) => back,
            None => {
                let back = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
                let clients = &mut state.lock().unwrap().clients;
                clients.insert(client, Arc::clone(&back));
                let (front, state) = (Arc::clone(&front), Arc::clone(&state));
                tokio::spawn(bring_back(Arc::clone(&back), front, client, state));
                back
            }
        };
        let server = state.lock().unwrap().server;
        // A packet that cannot be sent is lost.
        let _ = back.send_to(&bytes[..length], server).await;
    }
}

async fn bring_back(
    back: Arc<UdpSocket>,
    front: Arc<UdpSocket>,
    client: SocketAddr,
    state: Arc<Mutex<State>>,
) {
    let mut bytes = vec![0; DATAGRAM_BYTES_MAX];
    loop {
        // The error concerns an earlier packet: its port had no listener.
        let Ok((length, from)) = back.recv_from(&mut bytes).await else {
            continue;
        };
        let (counts, delay) = {
            let state = state.lock().unwrap();
            let counts = from == state.server && !state.cut.contains(&client);
            (counts, state.delay)
        };
        if counts && delay.is_zero() {
            let _ = front.send_to(&bytes[..length], client).await;
        } else if counts {
            let (front, packet) = (Arc::clone(&front), bytes[..length].to_vec());
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                let _ = front.send_to(&packet, client).await;
            });
        }
    }
}
