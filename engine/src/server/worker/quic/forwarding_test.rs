use super::*;
use crate::server::worker::generations::Predecessor;

fn arrivals() -> Vec<ReceivedDatagram> {
    let from = ["192.0.2.1:443", "[2001:db8::1]:8443"];
    let to = [None, Some("192.0.2.2"), Some("2001:db8::2")];
    let ecn = [None, Some(EcnCodepoint::Ect0), Some(EcnCodepoint::Ce)];
    let mut all = Vec::new();
    for from in from {
        for to in to {
            for ecn in ecn {
                all.push(ReceivedDatagram {
                    from: from.parse().expect("an address"),
                    to: to.map(|to| to.parse().expect("an address")),
                    ecn,
                    bytes: BytesMut::from(format!("{from} {to:?} {ecn:?}").as_bytes()),
                });
            }
        }
    }
    all
}

fn same(left: &ReceivedDatagram, right: &ReceivedDatagram) -> bool {
    let key = |it: &ReceivedDatagram| (it.from, it.to, it.ecn.map(|ecn| ecn as u8));
    key(left) == key(right) && left.bytes == right.bytes
}

/// Two processes: the endpoint of the earlier one's worker, and that of the later one.
fn processes() -> (PacketForwarding, QuicHandOver, PacketForwarding) {
    let generations = Arc::new(Generations::first([7; 32], 8));
    let before = PacketForwarding::new(generations);
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    udp.set_nonblocking(true).expect("it is a socket");
    let udp = Arc::new(UdpSocket::from_std(udp).expect("a runtime"));
    let hand_over = before.hand_over(udp);
    let sockets = hand_over.sockets().expect("descriptors");
    let predecessor = Predecessor {
        generation: sockets.generations.generation,
        workers: Arc::from([sockets.forward]),
    };
    let generations = Generations {
        key: [7; 32],
        generation: 1,
        id_bytes: 8,
        predecessors: vec![predecessor],
    };
    let after = PacketForwarding::new(Arc::new(generations));
    (before, hand_over, after)
}

const BEFORE: CidOwner = CidOwner::OtherProcess {
    generation: 0,
    worker: 0,
};

#[test]
fn a_packet_is_read_as_it_was_written_and_a_part_of_it_is_none_or_shorter() {
    for arrival in arrivals() {
        let head = head_of(&arrival);
        let whole = [&head, &arrival.bytes[..]].concat();
        let came = read(&whole).expect("it is whole");
        assert!(same(&came, &arrival));
        for cut in 0..head.len() {
            assert!(read(&whole[..cut]).is_none(), "{cut} of {}", head.len());
        }
    }
}

#[tokio::test]
async fn packets_reach_the_process_whose_ids_they_have_until_it_ends() {
    let (mut before, hand_over, after) = processes();
    assert!(!before.is_handed_over());
    hand_over.begin();
    assert!(before.is_handed_over());
    for arrival in arrivals() {
        assert!(after.forward(BEFORE, arrival).is_none());
    }
    let mut came = Vec::new();
    std::future::poll_fn(|cx| {
        before.poll_receive(cx, &mut |arrival| came.push(arrival));
        match came.len() == arrivals().len() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    assert!(came.iter().zip(&arrivals()).all(|(a, b)| same(a, b)));
    drop((before, hand_over));
    for arrival in arrivals() {
        let back = after.forward(BEFORE, arrival);
        assert!(back.is_some(), "it is to be answered here");
    }
}

#[tokio::test]
async fn packets_of_a_process_or_worker_that_is_not_known_are_kept() {
    let (_before, _hand_over, after) = processes();
    for owner in [
        CidOwner::Worker(0),
        CidOwner::OtherProcess {
            generation: 0,
            worker: 1,
        },
        CidOwner::OtherProcess {
            generation: 2,
            worker: 0,
        },
    ] {
        for arrival in arrivals() {
            assert!(after.forward(owner, arrival).is_some(), "{owner:?}");
        }
    }
}

#[tokio::test]
async fn a_full_queue_loses_packets_and_blocks_nothing() {
    let (_before, _hand_over, after) = processes();
    let packet = || ReceivedDatagram {
        from: "192.0.2.1:443".parse().expect("an address"),
        to: None,
        ecn: None,
        bytes: BytesMut::zeroed(60_000),
    };
    for _ in 0..2 * QUEUE_BYTES / 60_000 {
        assert!(after.forward(BEFORE, packet()).is_none());
    }
}
