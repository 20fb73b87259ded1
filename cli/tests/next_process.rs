//! SIGUSR2: a server with `--upgrade` starts the program at its path again, which takes its place.

use crate::served::{Folder, Served};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A file that can be used.
const RIGHT: &[u8] = b"root = \".\"\n[[listen]]\naddress = \"127.0.0.1:0\"\n";
const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");
/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

fn answer(address: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = b"GET /a.txt HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    stream.write_all(request).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// `serve` by the program at `program`, with its standard error to be read.
fn serve(program: &str, arguments: &[&str]) -> Command {
    // The number of the process is known to its own shell first.
    let script = "WATCHDOG_PID=$$ exec \"$0\" serve \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, program]).args(arguments);
    command.stderr(Stdio::piped());
    command
}

#[test]
fn upon_sigusr2_a_next_process_takes_the_place_and_is_the_main_one_for_the_manager() {
    let folder = Folder::new("next-process");
    folder.file("a.txt", b"hello");
    let (path, upgrade, place) = (
        folder.path(),
        folder.path() + ".upgrade",
        folder.path() + ".notify",
    );
    let manager = UnixDatagram::bind(&place).expect("a free path");
    manager.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let next_message = || {
        let mut bytes = [0; 256];
        let length = manager.recv(&mut bytes)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes[..length]).into_owned())
    };
    let until = |start: &str| loop {
        let message = next_message().expect("a message");
        if message.starts_with(start) {
            return message;
        }
    };
    let mut command = serve(
        BINARY,
        &["--listen", "127.0.0.1:0", "--upgrade", &upgrade, &path],
    );
    command
        .env("NOTIFY_SOCKET", &place)
        .env("WATCHDOG_USEC", "100000");
    let mut served = Served::run(command);
    let address = served.address().to_owned();
    until("READY=1");
    // That it answers the watchdog itself is as before.
    until("WATCHDOG=1");

    served.signal(Signal::SIGUSR2);
    let main = until("MAINPID=");
    let number: i32 = main["MAINPID=".len()..].parse().expect("a number");
    assert_ne!(number as u32, served.child.id());
    until("READY=1");
    let status = served.child.wait().expect("it drains");
    assert_eq!(status.code(), Some(0));
    assert!(answer(&address).ends_with("hello"));
    // Messages that still lie there may be of the one that has ended.
    manager.set_nonblocking(true).expect("a socket");
    while next_message().is_ok() {}
    manager.set_nonblocking(false).expect("a socket");
    until("WATCHDOG=1");

    kill(Pid::from_raw(number), Signal::SIGTERM).expect("it runs");
    until("STOPPING=1");
    let end = Instant::now() + PATIENCE;
    while TcpStream::connect(&address).is_ok() {
        assert!(Instant::now() < end, "it listens on");
    }
    fs::remove_file(&place).expect("it is there");
}

/// By a process of its own: a program that is still open for writing anywhere cannot be started, and tests beside this one start processes, which
/// have each open descriptor for a moment.
fn copy_to(program: &str) {
    let status = Command::new("cp").args([BINARY, program]).status();
    assert!(status.expect("cp starts").success());
}

#[test]
fn a_next_process_that_cannot_be_started_or_does_not_serve_leaves_this_one_serving() {
    let folder = Folder::new("next-fails");
    folder.file("a.txt", b"hello");
    let program = format!("{}/trunkline", folder.path());
    copy_to(&program);
    let config = folder.file("serve.toml", RIGHT);
    let upgrade = folder.path() + ".upgrade";
    let arguments = ["--config", &config, "--upgrade", &upgrade];
    let mut served = Served::run(serve(&program, &arguments));
    let address = served.address().to_owned();
    let mut errors = BufReader::new(served.child.stderr.take().expect("it is piped"));
    let process = Pid::from_raw(served.child.id() as i32);
    let mut reports = |expected: &str| loop {
        let mut line = String::new();
        assert!(
            errors.read_line(&mut line).expect("it is read") > 0,
            "{expected} is never said"
        );
        // The process between the one before and that may not have ended yet.
        if line.contains("is being started already") {
            kill(process, Signal::SIGUSR2).expect("it runs");
        }
        if line.contains(expected) {
            return;
        }
    };
    folder.file("serve.toml", b"rot = \".\"\n");
    served.signal(Signal::SIGUSR2);
    reports("unknown key rot");
    assert!(answer(&address).ends_with("hello"));
    fs::remove_file(&program).expect("it is there");
    served.signal(Signal::SIGUSR2);
    reports("cannot be started upon SIGUSR2, this process goes on: ");
    assert!(answer(&address).ends_with("hello"));
    // A program is there again, and the file is right: nothing of the failures stays.
    copy_to(&program);
    folder.file("serve.toml", RIGHT);
    served.signal(Signal::SIGUSR2);
    let status = served.child.wait().expect("it drains");
    assert_eq!(status.code(), Some(0));
    // One that is a child of this test takes the place of the one that is not.
    let mut command = Command::new(BINARY);
    command.arg("serve").args(arguments);
    let last = Served::run(command);
    assert!(answer(&address).ends_with("hello"));
    assert_eq!(last.terminate(), Some(0));
}

#[test]
fn a_process_that_drains_for_the_next_one_ends_what_is_open_also_where_the_manager_ends_the_service()
 {
    let folder = Folder::new("drains-on");
    let (path, upgrade) = (folder.path(), folder.path() + ".upgrade");
    let flags = [
        "--test-endpoints",
        "--drain",
        "3600",
        "--upgrade",
        &upgrade,
        &path,
    ];
    let served = Served::start(&flags);
    let address = served.address().to_owned();
    let mut open = TcpStream::connect(&address).expect("it listens");
    let request = b"POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab";
    open.write_all(request).expect("it reads");
    let mut bytes = [0; 4096];
    // Until the response has begun.
    let mut answer = String::new();
    while !answer.ends_with("ab") {
        let length = open.read(&mut bytes).expect("it answers");
        answer.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
    let next = Served::at(&["--listen", &address], &flags);
    served.signal(Signal::SIGTERM);
    open.write_all(b"cd").expect("it reads");
    let mut rest = Vec::new();
    open.read_to_end(&mut rest).expect("it answers to the end");
    assert!(rest.ends_with(b"cd"), "{}", String::from_utf8_lossy(&rest));
    assert_eq!(served.ended(), Some(0));
    assert_eq!(next.terminate(), Some(0));
}
