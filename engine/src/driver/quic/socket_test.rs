//! Readiness is cleared after a batch that was not full; no datagram may be lost by that.

use super::*;
use std::future::poll_fn;
use std::time::Duration;

#[tokio::test]
async fn each_datagram_that_comes_behind_a_batch_wakes_the_task_anew() {
    let bound = || std::net::UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let (near, far) = (bound(), bound());
    let to = near.local_addr().expect("it is bound");
    let mut near = QuicSocket::new(near).expect("a UDP socket will do");
    for round in 0..20_u8 {
        // More than a batch, so that a full one and the rest behind it come too.
        let count = 1 + round * 5;
        let (mut sent, mut came) = (false, Vec::new());
        let all = poll_fn(|cx| {
            while near
                .poll_receive(cx, &mut |arrival| came.push(arrival.bytes.to_vec()))
                .is_ready()
            {}
            // Only now, when nothing waits: the socket itself must wake the task.
            if !std::mem::replace(&mut sent, true) {
                for number in 0..count {
                    far.send_to(&[round, number], to)
                        .expect("loopback takes it");
                }
            }
            match came.len() < usize::from(count) {
                true => Poll::Pending,
                false => Poll::Ready(()),
            }
        });
        tokio::time::timeout(Duration::from_secs(20), all)
            .await
            .expect("a datagram that came wakes nobody");
        let expected: Vec<_> = (0..count).map(|number| vec![round, number]).collect();
        assert_eq!(came, expected);
    }
}

#[tokio::test]
async fn one_send_takes_as_many_packets_of_the_largest_size_as_it_says() {
    /// The largest packet that a path is probed for.
    const PACKET_BYTES: usize = 1452;
    let bound = || std::net::UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let (near, far) = (bound(), bound());
    let to = near.local_addr().expect("it is bound");
    let mut near = QuicSocket::new(near).expect("a UDP socket will do");
    let far = QuicSocket::new(far).expect("a UDP socket will do");
    let count = far.segments_max();
    let contents: Vec<u8> = (0..count * PACKET_BYTES)
        .map(|at| (at / PACKET_BYTES) as u8)
        .collect();
    let transmit = Transmit {
        destination: to,
        ecn: None,
        size: contents.len(),
        segment_size: (count > 1).then_some(PACKET_BYTES),
        src_ip: None,
    };
    poll_fn(|cx| far.poll_send(cx, &transmit, &contents))
        .await
        .expect("the system takes all of them");
    let mut came = Vec::new();
    let all = poll_fn(|cx| {
        while near
            .poll_receive(cx, &mut |arrival| came.push(arrival.bytes.to_vec()))
            .is_ready()
        {}
        match came.len() < count {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    });
    tokio::time::timeout(Duration::from_secs(20), all)
        .await
        .expect("every packet comes");
    let expected: Vec<_> = contents.chunks(PACKET_BYTES).map(<[u8]>::to_vec).collect();
    assert_eq!(came, expected);
}
