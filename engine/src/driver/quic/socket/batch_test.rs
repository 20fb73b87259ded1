//! Every datagram of a batch arrives whole, with its source and its ECN mark.

use super::*;
use quinn_proto::EcnCodepoint;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

fn bound(address: &str) -> UdpSocket {
    UdpSocket::bind((address, 0)).expect("a port is free")
}

fn transmit(to: SocketAddr, size: usize, from: Option<IpAddr>) -> Transmit {
    Transmit {
        destination: to,
        ecn: Some(EcnCodepoint::Ect0),
        size,
        segment_size: None,
        src_ip: from,
    }
}

async fn sent(batch: &mut Batch, socket: &QuicSocket) {
    let sent = poll_fn(|cx| batch.poll_send(cx, socket));
    tokio::time::timeout(Duration::from_secs(20), sent)
        .await
        .expect("loopback takes it");
}

/// The next datagram, its mark and its source.
async fn next(socket: &mut QuicSocket) -> (Vec<u8>, Option<EcnCodepoint>, SocketAddr) {
    let mut came = None;
    let next = poll_fn(|cx| {
        let _ = socket.poll_receive(cx, &mut |arrival| {
            assert!(came.is_none(), "one was sent here");
            came = Some((arrival.bytes.to_vec(), arrival.ecn, arrival.from));
        });
        match came.take() {
            Some(came) => Poll::Ready(came),
            None => Poll::Pending,
        }
    });
    let next = tokio::time::timeout(Duration::from_secs(20), next);
    next.await.expect("it was sent")
}

#[tokio::test]
async fn each_of_many_peers_gets_its_own_datagram() {
    for address in ["127.0.0.1", "::1"] {
        let near = bound(address);
        let from = near.local_addr().expect("it is bound");
        let near = QuicSocket::new(near).expect("a UDP socket will do");
        // One alone, a full call of alike ones, and one more than that.
        for count in [1, 2, 7, TRANSMITS_MAX, TRANSMITS_MAX + 1] {
            let mut far: Vec<QuicSocket> = Vec::new();
            let mut batch = Batch::default();
            for number in 0..count {
                let peer = bound(address);
                let to = peer.local_addr().expect("it is bound");
                far.push(QuicSocket::new(peer).expect("a UDP socket will do"));
                // Every fifth leaves from whatever address the system chooses.
                let src_ip = (number % 5 != 4).then_some(from.ip());
                let length = 1 + number * 40;
                let any = batch.gather(|contents| {
                    contents.resize(length, number as u8);
                    Some(transmit(to, length, src_ip))
                });
                assert!(any);
            }
            assert_eq!(batch.is_full(), count >= TRANSMITS_MAX);
            sent(&mut batch, &near).await;
            for (number, far) in far.iter_mut().enumerate() {
                let whole = vec![number as u8; 1 + number * 40];
                let expected = (whole, Some(EcnCodepoint::Ect0), from);
                assert_eq!(next(far).await, expected, "{number} of {count}");
            }
        }
    }
}

#[tokio::test]
async fn a_datagram_that_cannot_be_sent_takes_no_other_along() {
    let near = bound("127.0.0.1");
    let from = near.local_addr().expect("it is bound").ip();
    let near = QuicSocket::new(near).expect("a UDP socket will do");
    let peer = bound("127.0.0.1");
    let to = peer.local_addr().expect("it is bound");
    let mut peer = QuicSocket::new(peer).expect("a UDP socket will do");
    let mut batch = Batch::default();
    // No datagram is as long as this.
    for (length, byte) in [(70_000, 1), (3, 2), (70_000, 3)] {
        batch.gather(|contents| {
            contents.resize(length, byte);
            Some(transmit(to, length, Some(from)))
        });
    }
    assert!(!batch.gather(|_| None), "nothing is nothing");
    sent(&mut batch, &near).await;
    assert_eq!(next(&mut peer).await.0, [2; 3]);
}

#[tokio::test]
async fn memory_of_packets_is_used_again() {
    let near = QuicSocket::new(bound("127.0.0.1")).expect("a UDP socket will do");
    let peer = bound("127.0.0.1");
    let to = peer.local_addr().expect("it is bound");
    let mut batch = Batch::default();
    for round in 0..3 {
        batch.gather(|contents| {
            assert!(contents.is_empty(), "nothing of the last one is left");
            assert_eq!(contents.capacity() >= 100, round > 0);
            contents.resize(100, 0);
            Some(transmit(to, 100, None))
        });
        sent(&mut batch, &near).await;
    }
}

#[tokio::test]
async fn a_burst_of_large_transmits_leaves_a_bounded_memory_behind() {
    let near = QuicSocket::new(bound("127.0.0.1")).expect("a UDP socket will do");
    let far = bound("127.0.0.1");
    let to = far.local_addr().expect("it is bound");
    let mut batch = Batch::default();
    // Small ones are all used again.
    for (bytes, kept) in [(1_200, TRANSMITS_MAX), (64 * 1024, 0)] {
        batch.spare.clear();
        batch.spare_bytes = 0;
        for _ in 0..TRANSMITS_MAX {
            batch.gather(|contents| {
                contents.reserve_exact(bytes);
                contents.resize(1_000, 0);
                Some(transmit(to, 1_000, None))
            });
        }
        sent(&mut batch, &near).await;
        let capacities: usize = batch.spare.iter().map(Vec::capacity).sum();
        assert_eq!(capacities, batch.spare_bytes);
        assert!(capacities <= SPARE_BYTES_MAX, "{capacities} bytes");
        assert!(batch.spare.len() >= kept, "{} kept", batch.spare.len());
    }
}
