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
