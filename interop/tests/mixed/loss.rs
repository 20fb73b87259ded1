//! A path for UDP that loses packets, and delivers some of them late and thus out of order.

use crate::dice::Dice;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::UdpSocket;

const DATAGRAM_BYTES_MAX: usize = 64 * 1024;
/// Packets of which one is lost.
const LOSES: usize = 30;
/// Packets that are not lost of which one is late.
const DELAYS: usize = 10;
const DELAY: Duration = Duration::from_millis(3);

/// The port of a path to the server at `port`; it ends with the runtime.
pub(crate) async fn relay(port: u16, dice: Dice) -> u16 {
    let front = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let own = front.local_addr().unwrap().port();
    let server = SocketAddr::from(([127, 0, 0, 1], port));
    tokio::spawn(forward(front, server, Arc::new(Mutex::new(dice))));
    own
}

async fn forward(front: Arc<UdpSocket>, server: SocketAddr, dice: Arc<Mutex<Dice>>) {
    let mut backs = HashMap::<SocketAddr, Arc<UdpSocket>>::new();
    let mut bytes = vec![0; DATAGRAM_BYTES_MAX];
    loop {
        // An error is one of an earlier packet.
        let Ok((length, client)) = front.recv_from(&mut bytes).await else {
            continue;
        };
        let back = match backs.get(&client) {
            Some(back) => Arc::clone(back),
            None => {
                let back = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
                backs.insert(client, Arc::clone(&back));
                let (from, to, dice) = (Arc::clone(&back), Arc::clone(&front), Arc::clone(&dice));
                tokio::spawn(async move {
                    let mut bytes = vec![0; DATAGRAM_BYTES_MAX];
                    loop {
                        if let Ok((length, _)) = from.recv_from(&mut bytes).await {
                            pass(&to, client, &bytes[..length], &dice).await;
                        }
                    }
                });
                back
            }
        };
        pass(&back, server, &bytes[..length], &dice).await;
    }
}

/// Sends a packet on, unless it is lost.
async fn pass(socket: &Arc<UdpSocket>, to: SocketAddr, packet: &[u8], dice: &Mutex<Dice>) {
    let (is_lost, is_late) = {
        let mut dice = dice.lock().unwrap();
        (dice.once_in(LOSES), dice.once_in(DELAYS))
    };
    if is_lost {
        return;
    }
    if is_late {
        let (socket, packet) = (Arc::clone(socket), packet.to_vec());
        tokio::spawn(async move {
            tokio::time::sleep(DELAY).await;
            // One that cannot be sent is lost.
            let _ = socket.send_to(&packet, to).await;
        });
        return;
    }
    let _ = socket.send_to(packet, to).await;
}
