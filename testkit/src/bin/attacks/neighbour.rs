//! A well-behaved neighbour: measures its exchanges while others attack.

use super::process::Program;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the result of a program may be waited for.
const RESULT_MAX: Duration = Duration::from_secs(15);

/// Asks again and again until it is stopped.
pub(crate) enum Neighbour {
    /// Over one connection of HTTP/1.1 in cleartext, in this process.
    Clear(Arc<AtomicBool>, JoinHandle<Vec<Duration>>),
    /// The example `attacked_client`.
    Program(Program),
}

impl Neighbour {
    pub(crate) fn clear(address: SocketAddr) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        Self::Clear(over, std::thread::spawn(move || ask(address, &seen)))
    }
    pub(crate) fn program(
        client: &str,
        version: &str,
        address: SocketAddr,
    ) -> std::io::Result<Self> {
        let url = format!("https://{address}/");
        let mut command = Command::new(client);
        Ok(Self::Program(Program::start(
            command.args([version, &url]),
        )?))
    }
    /// Stops it; the 99th percentile of its exchanges, [`Duration::MAX`] where one failed or none was
    /// made.
    pub(crate) fn p99(self) -> Duration {
        match self {
            Self::Clear(over, thread) => {
                over.store(true, Ordering::Relaxed);
                let mut times = thread.join().unwrap_or_default();
                times.sort_unstable();
                let p99 = times.get(times.len() * 99 / 100).copied();
                p99.unwrap_or(Duration::MAX)
            }
            Self::Program(mut program) => {
                program.end_input();
                p99_of(&program)
            }
        }
    }
}

/// The neighbour's report at the end of a program's input: microseconds, and the number of
/// exchanges.
pub(crate) fn p99_of(program: &Program) -> Duration {
    let line = program.line(RESULT_MAX).unwrap_or_default();
    let mut numbers = line.split(' ').map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(micros)), Some(Ok(1..))) => Duration::from_micros(micros),
        _ => Duration::MAX,
    }
}

/// Asks for a kilobyte every 10 ms; how long each took.
fn ask(address: SocketAddr, over: &AtomicBool) -> Vec<Duration> {
    let mut times = Vec::new();
    let Ok(mut socket) = TcpStream::connect(address) else {
        return times;
    };
    let _ = socket.set_read_timeout(Some(Duration::from_secs(10)));
    while !over.load(Ordering::Relaxed) {
        let began = Instant::now();
        if socket
            .write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            .is_err()
        {
            break;
        }
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while !answer.ends_with(b"xxxx") || answer.len() < 1024 {
            match socket.read(&mut piece) {
                Ok(read) if read > 0 => answer.extend_from_slice(&piece[..read]),
                // It is not answered: as bad as can be.
                _ => return vec![Duration::MAX],
            }
        }
        times.push(began.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
    times
}
