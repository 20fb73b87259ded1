use super::*;
use crate::server::worker::generations::{Generations, QuicWorkerSockets};
use std::net::SocketAddr;
use std::time::Duration;

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    (listener, address)
}

/// Those of a server with workers, with HTTP/3 and a process before it, and what its workers read.
fn of_server(workers: usize) -> (Sockets, SocketAddr, Vec<UnixDatagram>) {
    let (first, address) = listener();
    let mut reads = Vec::new();
    let mut pair = || {
        let (ours, forward) = UnixDatagram::pair().expect("a pair");
        reads.push(ours);
        forward
    };
    let before = Predecessor {
        generation: 2,
        workers: Arc::from([pair()]),
    };
    let generations = Arc::new(Generations {
        key: [9; KEY_BYTES],
        generation: 3,
        id_bytes: 19,
        predecessors: vec![before],
    });
    let sockets = (0..workers).map(|_| WorkerSockets {
        listener: Listener::Tcp(first.try_clone().expect("a descriptor"), Owner::Elsewhere),
        quic: Some(QuicWorkerSockets {
            udp: UdpSocket::bind("127.0.0.1:0").expect("a port"),
            forward: pair(),
            generations: Arc::clone(&generations),
        }),
    });
    let sockets = Sockets::of_workers(sockets.collect());
    (sockets, address, reads)
}

fn waits(mut released: watch::Receiver<bool>) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let waited = async {
        let released = released.wait_for(|released| *released);
        tokio::time::timeout(Duration::from_secs(60), released).await
    };
    runtime.block_on(waited).is_ok()
}

#[test]
fn sockets_come_as_they_were_sent_with_the_ways_to_every_process_before() {
    let (mut sent, address, reads) = of_server(3);
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    sent.send(&ours).expect("they are sent");
    let received = Sockets::receive(&theirs).expect("they came");
    assert_eq!((received.listeners.len(), received.udp.len()), (3, 3));
    for listener in &received.listeners {
        let Listener::Tcp(listener, Owner::Elsewhere) = listener else {
            panic!("{listener:?}");
        };
        assert_eq!(listener.local_addr().expect("bound"), address);
    }
    let quic = received
        .quic
        .clone()
        .expect("another process has connections");
    let inherited = quic.inherit().expect("a thread");
    assert_eq!((inherited.key, inherited.id_bytes), ([9; KEY_BYTES], 19));
    let [last, first] = &inherited.predecessors[..] else {
        panic!("{:?}", inherited.predecessors);
    };
    assert_eq!((last.generation, last.workers.len()), (3, 3));
    assert_eq!((first.generation, first.workers.len()), (2, 1));
    let ways = first.workers.iter().chain(last.workers.iter());
    for (number, (way, end)) in ways.zip(&reads).enumerate() {
        // Questions whether the process lives came before.
        way.send(&[number as u8]).expect("it is read");
        let mut byte = [0; 2];
        while end.recv(&mut byte).expect("it came") == 0 {}
        assert_eq!(byte[0], number as u8);
    }
    assert!(!*inherited.released.borrow());
    sent.release();
    assert!(waits(inherited.released));
}

#[test]
fn the_udp_sockets_are_released_by_a_process_that_ends_and_to_servers_of_the_same_process() {
    let (mut sent, ..) = of_server(1);
    let here = sent.try_clone().expect("descriptors").quic;
    let here = here.expect("it has HTTP/3").inherit().expect("a watch");
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    sent.send(&ours).expect("they are sent");
    let received = Sockets::receive(&theirs).expect("they came");
    // Twice: a start may be tried again.
    let again = received.try_clone().expect("descriptors").quic;
    let there =
        [received.quic, again].map(|quic| quic.expect("HTTP/3").inherit().expect("it waits"));
    assert!(there.iter().all(|there| !*there.released.borrow()));
    assert!(!*here.released.borrow());
    sent.release();
    assert!(waits(here.released));
    drop((sent, ours));
    for there in there {
        assert!(waits(there.released));
    }
}

#[test]
fn a_process_before_that_has_ended_is_not_handed_on() {
    let (sockets, _, reads) = of_server(1);
    let generations = |sockets: &Sockets| -> Vec<u8> {
        let quic = sockets.quic.as_ref().expect("it has HTTP/3");
        quic.predecessors.iter().map(|it| it.generation).collect()
    };
    assert_eq!(generations(&sockets), [3, 2]);
    let [before, _now] = <[UnixDatagram; 2]>::try_from(reads).expect("two pairs");
    drop(before);
    let quic = sockets.quic.as_ref().expect("it has HTTP/3");
    let worker = WorkerSockets {
        listener: Listener::None,
        quic: Some(QuicWorkerSockets {
            udp: UdpSocket::bind("127.0.0.1:0").expect("a port"),
            forward: UnixDatagram::pair().expect("a pair").0,
            generations: Arc::new(Generations {
                key: quic.key,
                generation: 4,
                id_bytes: quic.id_bytes,
                predecessors: quic.predecessors.clone(),
            }),
        }),
    };
    assert_eq!(generations(&Sockets::of_workers(vec![worker])), [4, 3]);
}

#[test]
fn the_file_of_a_unix_socket_goes_with_the_last_server_that_has_it() {
    let path = std::env::temp_dir().join(format!("trunkline-hand-over-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let bound = || UnixListener::bind(&path, None, 1).expect("a path");
    let sockets = |unix| {
        Sockets::of_workers(vec![WorkerSockets {
            listener: Listener::Unix(unix),
            quic: None,
        }])
    };
    let is_there = || path.symlink_metadata().is_ok();
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let mut sent = sockets(bound());
    sent.send(&ours).expect("they are sent");
    // A server that fails at its start, while the one before serves on.
    let received = Sockets::receive(&theirs).expect("they came");
    assert!(received.are_unix());
    drop(received);
    assert!(is_there());
    // One that serves, and the one before ends.
    sent.send(&ours).expect("they are sent");
    let received = Sockets::receive(&theirs).expect("they came");
    sent.leave_files();
    sent.release();
    drop(sent);
    assert!(is_there());
    drop(received);
    assert!(!is_there());
    // Another server of the same process shares the file.
    let first = sockets(bound());
    let second = first.try_clone().expect("a descriptor");
    first.leave_files();
    drop(first);
    assert!(is_there());
    drop(second);
    assert!(!is_there());
    // The file of a service manager's socket stays.
    let listener = StdUnixListener::bind(&path).expect("a path");
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let mut sent = Sockets::of_unix(listener);
    sent.send(&ours).expect("they are sent");
    let received = Sockets::receive(&theirs).expect("they came");
    sent.release();
    drop((sent, received));
    assert!(is_there());
    std::fs::remove_file(&path).expect("it is there");
}

#[test]
fn lines_that_are_no_sockets_are_refused() {
    let long = "x".repeat(LINE_BYTES_MAX + 1);
    let key = "0".repeat(2 * KEY_BYTES);
    let bad_key = "g".repeat(2 * KEY_BYTES);
    for line in [
        "",
        "hello",
        "trunkline sockets 2 tcp 1 0",
        "trunkline sockets 1 tcp 1",
        "trunkline sockets 1 udp 1 0",
        "trunkline sockets 1 tcp 99999 0",
        "trunkline sockets 1 tcp -1 0",
        "trunkline sockets 1 tcp 1 1 00 0:1",
        &format!("trunkline sockets 1 tcp 1 1 {bad_key} 8 0:1"),
        &format!("trunkline sockets 1 tcp 1 1 {key}"),
        &format!("trunkline sockets 1 tcp 1 1 {key} 0:1"),
        &format!("trunkline sockets 1 tcp 1 1 {key} 8 0"),
        &format!("trunkline sockets 1 tcp 1 1 {key} 8 256:1"),
        &format!("trunkline sockets 1 tcp 1 1 {key} 8 0:-1"),
        long.as_str(),
    ] {
        let (mut ours, theirs) = UnixStream::pair().expect("a pair");
        ours.write_all(format!("{line}\n").as_bytes())
            .expect("it takes bytes");
        drop(ours);
        let refused = Sockets::receive(&theirs).map_err(|error| error.kind());
        let kind = refused.map(|_| ()).expect_err(line);
        assert_eq!(kind, io::ErrorKind::InvalidData, "{line}");
    }
}

#[test]
fn no_udp_socket_is_left_unread() {
    for (given, workers, fits) in [(1, 1, true), (1, 4, true), (4, 4, true), (3, 2, false)] {
        let udp = (0..given).map(|_| UdpSocket::bind("127.0.0.1:0").expect("a port"));
        let sockets = Sockets::udp_for(udp.collect(), workers);
        assert_eq!(sockets.map(|all| all.len()).ok(), fits.then_some(given));
    }
}
