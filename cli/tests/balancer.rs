//! A rolling restart of two servers behind HAProxy, which asks each whether it is ready: no request is lost. Without the program
//! `haproxy` the test says so and passes.

use crate::port::free_port;
use crate::served::{Folder, PAUSE, Served};
use nix::sys::signal::Signal;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);
const RESTARTS: usize = 2;

/// A running program, ended with the value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server whose address and admin address others know.
fn start(address: &str, admin: &str) -> Served {
    // HAProxy needs two answers, 100 ms apart, to leave it alone; a busy machine delays them.
    let rest = ["--test-endpoints", "--admin", admin, "--drain-delay", "5"];
    let mut served = Served::at(&["--listen", address], &rest);
    served.admin();
    served
}

/// An address that no other test gets, neither before its program listens nor while that is restarted.
fn free() -> String {
    format!("127.0.0.1:{}", free_port().expect("a port"))
}

fn get(socket: &mut TcpStream, path: &str, last: bool) -> std::io::Result<String> {
    let connection = if last { "close" } else { "keep-alive" };
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: {connection}\r\n\r\n");
    socket.write_all(request.as_bytes())?;
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte)?;
        head.extend(byte);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head
        .split("content-length: ")
        .nth(1)
        .and_then(|it| it.split('\r').next());
    let length = length.and_then(|it| it.parse().ok()).unwrap_or(0);
    socket.read_exact(&mut vec![0; length])?;
    Ok(head)
}

fn connect(address: &str) -> TcpStream {
    let socket = TcpStream::connect(address).expect("it listens");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    socket
}

/// Whether `admin` has counted a request.
fn has_requests(admin: &str) -> bool {
    let mut text = String::new();
    let mut socket = connect(admin);
    let request = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    socket.write_all(request).expect("it reads");
    socket.read_to_string(&mut text).expect("it answers");
    let line = "trunkline_server_requests_total{network_protocol_version=\"1.1\"} ";
    let count = text.split(line).nth(1).expect("a count");
    !count.starts_with("0\n")
}

/// Asks until it is stopped; ends with how many were answered, and the failures.
fn load(
    address: &str,
    path: &'static str,
    keeps: bool,
    stop: &Arc<AtomicBool>,
    answered: &Arc<AtomicU64>,
) -> JoinHandle<Vec<String>> {
    let (address, stop, answered) = (address.to_owned(), Arc::clone(stop), Arc::clone(answered));
    thread::spawn(move || {
        let mut failed = Vec::new();
        let mut socket = connect(&address);
        while !stop.load(Ordering::Relaxed) {
            match get(&mut socket, path, !keeps) {
                Ok(head) if head.starts_with("http/1.1 200 ") => {}
                other => failed.push(format!("{path} {keeps}: {other:?}")),
            }
            answered.fetch_add(1, Ordering::Relaxed);
            thread::sleep(PAUSE);
            if !keeps {
                socket = connect(&address);
            }
        }
        failed
    })
}

#[test]
fn servers_behind_haproxy_are_restarted_in_turn_and_no_request_is_lost() {
    if Command::new("haproxy")
        .arg("-v")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        eprintln!("not tried: haproxy is not there");
        return;
    }
    let folder = Folder::new("balancer");
    let mut servers = [(); 2].map(|()| {
        let (address, admin) = (free(), free());
        let served = start(&address, &admin);
        (address, admin, served)
    });
    let front = free();
    let lines = servers.iter().enumerate().map(|(at, (address, admin, _))| {
        let port = admin.rsplit(':').next().expect("a port");
        format!("  server s{at} {address} check port {port} inter 100ms fall 2 rise 2\n")
    });
    // Without a `timeout check` an answer that takes longer than `inter` counts as a failure.
    let config = format!(
        "global\n  maxconn 200\ndefaults\n  mode http\n  timeout connect 10s\n  timeout client 60s\n  timeout server 60s\n  timeout check 60s\n\
         listen front\n  bind {front}\n  balance roundrobin\n  option httpchk GET /readyz\n  http-check send hdr host localhost\n{}",
        lines.collect::<String>()
    );
    let file = folder.file("haproxy.cfg", config.as_bytes());
    let mut command = Command::new("haproxy");
    command
        .args(["-db", "-f", &file])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _haproxy = Running(command.spawn().expect("it starts"));
    let until = Instant::now() + PATIENCE;
    while TcpStream::connect(&front).is_err() {
        assert!(Instant::now() < until, "haproxy does not listen");
        thread::sleep(PAUSE);
    }
    let (stop, answered) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let loads = [
        ("/bytes/100", true),
        ("/bytes/100", false),
        ("/delay/20", true),
        ("/delay/700", false),
    ]
    .map(|(path, keeps)| load(&front, path, keeps, &stop, &answered));
    for at in 0..RESTARTS {
        // Both are asked: the other one serves while this one is away.
        let until = Instant::now() + PATIENCE;
        while !servers.iter().all(|(_, admin, _)| has_requests(admin)) {
            assert!(Instant::now() < until, "haproxy does not ask both");
            thread::sleep(Duration::from_millis(10));
        }
        let (address, admin, served) = &mut servers[at % 2];
        served.signal(Signal::SIGTERM);
        let code = served.child.wait().expect("a child").code();
        assert_eq!(code, Some(0), "it has drained");
        *served = start(address, admin);
    }
    stop.store(true, Ordering::Relaxed);
    for load in loads {
        assert_eq!(load.join().expect("it ends"), [""; 0]);
    }
    assert!(answered.load(Ordering::Relaxed) > 100);
}
