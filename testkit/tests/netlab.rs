//! Measures the paths that netlab builds: bounds are wide where the machine's load shows.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};
use trunkline_testkit::netlab::{
    CLIENT_IP, Lab, PathSettings, SERVER_IP, Settings, Side, unavailable,
};

/// How often is looked: a busy machine is late and slow now and then, a wrong path always.
const TRIES_MAX: u32 = 20;

/// One lab at a time: they share two cores.
static TURN: Mutex<()> = Mutex::new(());

/// Runs `work` in a lab, or says why there is none.
fn with_lab(path: PathSettings, work: impl FnOnce(&Lab)) {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(sentence) = unavailable() {
        eprintln!("skipped: {sentence}");
        return;
    }
    let settings = Settings {
        path,
        ..Settings::default()
    };
    let lab = Lab::build(&settings).expect("a lab");
    work(&lab);
}

fn listener(lab: &Lab) -> TcpListener {
    lab.inside(Side::Server, || TcpListener::bind((SERVER_IP, 0)))
        .expect("inside")
        .expect("a port")
}

fn connect(lab: &Lab, to: SocketAddr) -> TcpStream {
    lab.inside(Side::Client, || TcpStream::connect(to))
        .expect("inside")
        .expect("a connection")
}

#[test]
fn a_round_trip_takes_twice_the_delay() {
    let delay = Duration::from_millis(40);
    with_lab(
        PathSettings {
            delay,
            ..PathSettings::default()
        },
        |lab| {
            let server = listener(lab);
            let at = server.local_addr().expect("an address");
            let echo = thread::spawn(move || {
                let (mut peer, _) = server.accept().expect("a peer");
                let mut byte = [0];
                while peer.read(&mut byte).expect("a byte") == 1 {
                    peer.write_all(&byte).expect("an answer");
                }
            });
            let mut client = connect(lab, at);
            client.set_nodelay(true).expect("no delay");
            let mut trips = (0..TRIES_MAX).map(|_| {
                let start = Instant::now();
                client.write_all(b"?").expect("a question");
                client.read_exact(&mut [0]).expect("an answer");
                let trip = start.elapsed();
                assert!(trip >= 2 * delay, "never early: {trip:?}");
                trip
            });
            let is_in_time = trips.any(|trip| trip < 2 * delay + Duration::from_millis(20));
            assert!(is_in_time, "each is late");
            drop(client);
            echo.join().expect("the echo ends");
        },
    );
}

/// The rate at which `bytes` come behind their first quarter, in bits per second.
fn measured(lab: &Lab, bytes: u64) -> f64 {
    let server = listener(lab);
    let at = server.local_addr().expect("an address");
    let source = thread::spawn(move || {
        let (mut peer, _) = server.accept().expect("a peer");
        let block = vec![7; 1 << 16];
        let mut left = bytes as usize;
        while left > 0 {
            let now = left.min(block.len());
            peer.write_all(&block[..now]).expect("room");
            left -= now;
        }
    });
    let mut client = connect(lab, at);
    let mut block = vec![0; 1 << 16];
    let (mut got, mut started) = (0_u64, None);
    loop {
        let length = client.read(&mut block).expect("bytes");
        if length == 0 {
            break;
        }
        // Behind slow start.
        let (from, _) = *started.get_or_insert((got, Instant::now()));
        if from == 0 && got > bytes / 4 {
            started = Some((got, Instant::now()));
        }
        got += length as u64;
    }
    source.join().expect("the source ends");
    let (from, start) = started.expect("a start");
    assert!(from > 0 && got == bytes);
    (got - from) as f64 * 8.0 / start.elapsed().as_secs_f64()
}

#[test]
fn a_transfer_runs_at_the_rate() {
    let rate = 80_000_000;
    let path = PathSettings {
        delay: Duration::from_millis(2),
        rate: Some(rate),
        ..PathSettings::default()
    };
    with_lab(path, |lab| {
        let bytes: u64 = 20_000_000;
        // The rate counts IP and TCP heads: 52 bytes of 1,500.
        let share = |_| measured(lab, bytes) / (rate as f64 * 1448.0 / 1500.0);
        // A reader that is kept from running is late, or finds more than came meanwhile.
        let is_near = |share| (0.85..1.05).contains(&share);
        assert!((0..TRIES_MAX).map(share).any(is_near), "never at the rate");
        let totals = lab.totals()[1];
        assert!(totals.packets >= bytes / 1448, "{totals:?}");
    });
}

#[test]
fn datagrams_are_lost_by_their_share() {
    let path = PathSettings {
        loss: 0.3,
        seed: 11,
        ..PathSettings::default()
    };
    with_lab(path, |lab| {
        let bind = |side, ip| {
            lab.inside(side, || UdpSocket::bind((ip, 0)))
                .expect("inside")
                .expect("a port")
        };
        let (client, server) = (bind(Side::Client, CLIENT_IP), bind(Side::Server, SERVER_IP));
        let at = server.local_addr().expect("an address");
        let mut arrived = 0;
        let mut drain = |wait: u64| {
            let wait = Some(Duration::from_millis(wait));
            server.set_read_timeout(wait).expect("a timeout");
            while server.recv_from(&mut [0; 64]).is_ok() {
                arrived += 1;
            }
            arrived
        };
        let passed = || lab.totals()[0].packets + lab.totals()[0].lost;
        let late = Instant::now() + Duration::from_secs(60);
        // In small bursts, each when the one before has passed, so that no socket's buffer overflows.
        for burst in 1..=40 {
            for _ in 0..50 {
                client.send_to(b"datagram", at).expect("sent");
            }
            while passed() < 50 * burst && Instant::now() < late {
                drain(5);
            }
            drain(5);
        }
        let mut arrived = drain(500);
        while arrived < 1_200 && Instant::now() < late {
            arrived = drain(500);
        }
        let totals = lab.totals()[0];
        assert!(
            (1_200..1_600).contains(&arrived),
            "{arrived} of 2,000; {totals:?}"
        );
    });
}

#[test]
fn a_lab_that_loses_all_is_a_black_hole() {
    let path = PathSettings {
        loss: 1.0,
        ..PathSettings::default()
    };
    with_lab(path, |lab| {
        let server = listener(lab);
        let at = server.local_addr().expect("an address");
        let refused = lab
            .inside(Side::Client, || {
                TcpStream::connect_timeout(&at, Duration::from_millis(300))
            })
            .expect("inside")
            .expect_err("nobody answers");
        assert_eq!(refused.kind(), std::io::ErrorKind::TimedOut);
        let late = Instant::now() + Duration::from_secs(60);
        while lab.totals()[0].lost == 0 {
            assert!(Instant::now() < late, "nothing is lost");
            thread::yield_now();
        }
    });
}

#[test]
fn nothing_is_left_when_a_lab_is_dropped() {
    let mut names = Vec::new();
    with_lab(PathSettings::default(), |lab| {
        for side in [Side::Client, Side::Server] {
            let file = Path::new("/var/run/netns").join(lab.namespace(side));
            assert!(file.exists());
            names.push(file);
        }
    });
    for name in names {
        assert!(!name.exists(), "{}", name.display());
    }
}

#[test]
fn the_command_runs_in_a_network_and_removes_it() {
    if let Some(sentence) = unavailable() {
        eprintln!("skipped: {sentence}");
        return;
    }
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let script = "echo $NETLAB_CLIENT_NS; ip -n $NETLAB_SERVER_NS addr; exit 7";
    let output = Command::new(env!("CARGO_BIN_EXE_netlab"))
        .args([
            "run",
            "--delay-ms",
            "1",
            "--mtu",
            "9000",
            "--",
            "sh",
            "-c",
            script,
        ])
        .output()
        .expect("netlab runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(7), "the command's own code");
    assert!(
        printed.contains("10.77.0.2") && printed.contains("mtu 9000"),
        "{printed}"
    );
    let name = printed.lines().next().expect("a name");
    assert!(!Path::new("/var/run/netns").join(name).exists());
}

#[test]
fn up_leaves_a_network_that_down_removes() {
    if let Some(sentence) = unavailable() {
        eprintln!("skipped: {sentence}");
        return;
    }
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let netlab = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_netlab"))
            .args(arguments)
            .output()
            .expect("netlab runs");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (built, printed) = netlab(&["up", "--delay-ms", "5", "--loss", "0.01"]);
    assert!(built);
    let value = |name: &str| {
        let prefix = format!("export {name}=");
        printed
            .lines()
            .find_map(|line| line.strip_prefix(&prefix))
            .expect("a variable")
            .to_owned()
    };
    let namespace = Path::new("/var/run/netns").join(value("NETLAB_SERVER_NS"));
    assert!(namespace.exists());
    assert!(netlab(&["down", &value("NETLAB_NAME")]).0);
    assert!(!namespace.exists());
    assert!(!netlab(&["down", &value("NETLAB_NAME")]).0, "it is gone");
}

#[test]
fn settings_out_of_range_are_refused_in_one_sentence() {
    let refused = |path, mtu| {
        Lab::build(&Settings {
            path,
            mtu,
            ..Settings::default()
        })
        .expect_err("out of range")
    };
    let path = PathSettings::default;
    assert_eq!(
        refused(path(), 100),
        "mtu is 100; it must be from 1280 to 65535"
    );
    let loss = PathSettings {
        loss: -0.1,
        ..path()
    };
    assert_eq!(refused(loss, 1500), "loss is -0.1; it must be from 0 to 1");
}
