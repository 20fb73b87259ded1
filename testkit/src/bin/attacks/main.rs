//! `attacks SERVER [ROW..]`: attacks a server over real sockets by the rows of docs/attacks.md, a
//! fresh process for each, and prints what it cost beside its bound: the height of the server's
//! memory, its CPU seconds, the fate of the attacker's connection, and the 99th percentile of a
//! well-behaved neighbour. Fails when a bound is passed.
//!
//! A row is an entry of [`ATTACKS`] and a function. Linux only: the figures are those of /proc.
#![allow(
    clippy::disallowed_methods,
    reason = "it measures: it needs the clock, and sockets"
)]

mod http1;
mod http2;
mod wire;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wire::Fate;

/// One attack and its bounds.
struct Attack {
    row: u32,
    name: &'static str,
    run: fn(SocketAddr) -> Vec<Fate>,
    /// What becomes of every connection of the attacker.
    fate: Fate,
    rss_mib_max: u64,
    cpu_seconds_max: f64,
}

/// ENHANCE_YOUR_CALM (RFC 9113 section 7).
const CALM: Fate = Fate::Goaway(11);

#[rustfmt::skip]
const ATTACKS: &[Attack] = &[
    Attack { row: 1, name: "h2 rapid reset", run: http2::rapid_reset, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 2.0 },
    Attack { row: 1, name: "h2 rapid reset between good streams", run: http2::rapid_reset_between, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 4.0 },
    Attack { row: 2, name: "h2 made you reset", run: http2::made_you_reset, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 2.0 },
    Attack { row: 3, name: "h2 continuation flood", run: http2::continuations, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 2.0 },
    Attack { row: 4, name: "h2 bomb behind a shut window", run: http2::bomb, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 4.0 },
    Attack { row: 6, name: "h2 answers behind shut windows, 40 connections", run: http2::shut_windows, fate: Fate::Lives, rss_mib_max: 160, cpu_seconds_max: 8.0 },
    Attack { row: 6, name: "h2 answers that are not read, 40 connections", run: http2::unread, fate: Fate::Lives, rss_mib_max: 160, cpu_seconds_max: 8.0 },
    Attack { row: 6, name: "h1 answers that are not read, 200 connections", run: http1::unread, fate: Fate::Closed, rss_mib_max: 160, cpu_seconds_max: 8.0 },
    Attack { row: 6, name: "h1 pipelined requests, answers not read", run: http1::pipelined, fate: Fate::Closed, rss_mib_max: 160, cpu_seconds_max: 8.0 },
    Attack { row: 7, name: "h2 ping flood", run: http2::pings, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 2.0 },
    Attack { row: 7, name: "h2 settings flood", run: http2::settings, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 2.0 },
    Attack { row: 11, name: "h2 empty frames", run: http2::empty_data, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 2.0 },
    Attack { row: 12, name: "h2 window update flood", run: http2::window_updates, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 2.0 },
    Attack { row: 14, name: "h2 too many streams", run: http2::streams, fate: CALM, rss_mib_max: 64, cpu_seconds_max: 2.0 },
    Attack { row: 15, name: "h1 slow heads, 200 connections", run: http1::slow_heads, fate: Fate::Closed, rss_mib_max: 64, cpu_seconds_max: 4.0 },
    Attack { row: 15, name: "h1 slow bodies, 200 connections", run: http1::slow_bodies, fate: Fate::Closed, rss_mib_max: 64, cpu_seconds_max: 4.0 },
    Attack { row: 15, name: "h2 never greets, 200 connections", run: http2::silent, fate: CALM_TIMEOUT, rss_mib_max: 64, cpu_seconds_max: 4.0 },
    Attack { row: 16, name: "h1 body of 256 MiB", run: http1::huge_body, fate: Fate::Lives, rss_mib_max: 64, cpu_seconds_max: 16.0 },
];

/// SETTINGS_TIMEOUT.
const CALM_TIMEOUT: Fate = Fate::Goaway(4);
/// So long the neighbour is looked at, at least.
const LEAST: Duration = Duration::from_secs(2);
/// What the 99th percentile of the neighbour may be.
const P99_MAX: Duration = Duration::from_millis(250);

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(server) = arguments.next() else {
        eprintln!("usage: attacks SERVER [ROW..]");
        return ExitCode::from(2);
    };
    let rows: Vec<u32> = arguments.filter_map(|row| row.parse().ok()).collect();
    let chosen = ATTACKS
        .iter()
        .filter(|attack| rows.is_empty() || rows.contains(&attack.row));
    println!("row  RSS MiB (max)  CPU s (max)   p99 ms (max)  fate                 attack");
    let mut passed = true;
    for attack in chosen {
        match measured(&server, attack) {
            Ok(within) => passed &= within,
            Err(why) => {
                eprintln!("{}: {why}", attack.name);
                passed = false;
            }
        }
    }
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs one attack against a fresh server, and prints its line. False: a bound was passed.
fn measured(server: &str, attack: &Attack) -> std::io::Result<bool> {
    let mut server = Server::start(server)?;
    let over = Arc::new(AtomicBool::new(false));
    let neighbour = {
        let (address, over) = (server.address, Arc::clone(&over));
        std::thread::spawn(move || neighbour(address, &over))
    };
    let began = Instant::now();
    let mut fates = (attack.run)(server.address);
    // Whoever is thrown out at once leaves a neighbour to look at all the same.
    std::thread::sleep(LEAST.saturating_sub(began.elapsed()));
    over.store(true, Ordering::Relaxed);
    let mut times = neighbour.join().unwrap_or_default();
    times.sort_unstable();
    let p99 = times
        .get(times.len() * 99 / 100)
        .copied()
        .unwrap_or(Duration::MAX);
    let (rss, cpu) = server.costs()?;
    fates.retain(|fate| *fate != attack.fate);
    let within = fates.is_empty()
        && rss <= attack.rss_mib_max
        && cpu <= attack.cpu_seconds_max
        && p99 <= P99_MAX;
    println!(
        "{:>3}  {rss:>7} ({:>3})  {cpu:>5.2} ({:>4.1})  {:>8.1} ({:>3})  {:<20} {}{}",
        attack.row,
        attack.rss_mib_max,
        attack.cpu_seconds_max,
        p99.as_secs_f64() * 1e3,
        P99_MAX.as_millis(),
        fates
            .first()
            .map_or_else(|| format!("{:?}", attack.fate), |fate| format!("{fate:?}")),
        attack.name,
        if within { "" } else { "   PAST ITS BOUND" },
    );
    Ok(within)
}

/// Asks for a kilobyte every 10 ms over one connection of HTTP/1.1, and says how long each took.
fn neighbour(address: SocketAddr, over: &AtomicBool) -> Vec<Duration> {
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
                _ => {
                    times.push(Duration::MAX);
                    return times;
                }
            }
        }
        times.push(began.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
    times
}

struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    fn start(program: &str) -> std::io::Result<Self> {
        let mut process = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let address = line.trim().parse().map_err(std::io::Error::other)?;
        Ok(Self { process, address })
    }
    /// The height of its memory in MiB, and its CPU seconds.
    fn costs(&mut self) -> std::io::Result<(u64, f64)> {
        let folder = format!("/proc/{}", self.process.id());
        let status = std::fs::read_to_string(format!("{folder}/status"))?;
        let height = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let height = height.and_then(|it| it.trim().strip_suffix(" kB"));
        let kib: u64 = height.and_then(|it| it.parse().ok()).unwrap_or(u64::MAX);
        // Behind the name, which may have spaces: utime and stime are fields 14 and 15, in ticks of
        // a hundredth of a second.
        let stat = std::fs::read_to_string(format!("{folder}/stat"))?;
        let rest = stat.rsplit(')').next().unwrap_or_default();
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|it| it.parse::<u64>().ok()).sum();
        Ok((kib / 1024, ticks as f64 / 100.0))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
