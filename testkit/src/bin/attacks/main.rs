//! `attacks [ROW..]`: attacks a server, and clients by hostile servers, over real sockets by the
//! rows of docs/attacks.md, with a fresh process for each, and prints the cost beside its bound:
//! the maximum of the program's memory, its CPU seconds, the fate of the attacker's connection or
//! of the client's exchange, and the 99th percentile of a well-behaved neighbour. Fails when a
//! bound is passed.
//!
//! A run is an entry of [`ATTACKS`] or [`HOSTILE`] and a function. Linux only: the figures are those
//! of /proc.
#![allow(
    clippy::disallowed_methods,
    reason = "it measures: it needs the clock, and sockets"
)]

mod clients;
mod frames;
mod hostile;
mod hostile_http1;
mod hostile_http2;
mod http1;
mod http2;
mod neighbour;
mod process;
mod servers;
#[cfg(test)]
mod table_test;
mod wire;

use clients::Face;
use hostile::HOSTILE;
use neighbour::Neighbour;
use process::{Costs, Program};
use servers::{ATTACKS, Attack, Host, Run};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The programs that are attacked, by the flag that names each.
#[derive(Default)]
struct Programs {
    /// `--server`: the example `attacked`.
    server: String,
    /// `--client`: the example `attacked_client`.
    client: String,
    /// `--command`: the command `trunkline`; without it, it is not attacked.
    command: Option<String>,
    /// `--node`: the folder `node/test/soak`; without it, nothing of Node.js is attacked.
    node: Option<String>,
    /// `--python`: a Python with aioquic; without it, nothing is attacked over QUIC.
    python: Option<String>,
    /// `--slowhttptest`: the program of this name; without it, its attacks are left out.
    slowhttptest: Option<String>,
    /// `--cases`: the folder of attack.py and hostile.py.
    cases: String,
    /// The rows to run, or words of a run's name. Default: all.
    chosen: Vec<String>,
}

impl Programs {
    /// None: a flag without a value, or one that does not exist.
    fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut programs = Self::default();
        while let Some(argument) = arguments.next() {
            let Some(flag) = argument.strip_prefix("--") else {
                programs.chosen.push(argument);
                continue;
            };
            let value = arguments.next()?;
            match flag {
                "server" => programs.server = value,
                "client" => programs.client = value,
                "command" => programs.command = Some(value),
                "node" => programs.node = Some(value),
                "python" => programs.python = Some(value),
                "slowhttptest" => programs.slowhttptest = Some(value),
                "cases" => programs.cases = value,
                _ => return None,
            }
        }
        Some(programs)
    }
    fn is_chosen(&self, row: &str, name: &str) -> bool {
        // A number is a row: names have those of versions.
        let is_row = |word: &str| {
            let number = word.strip_prefix('S').unwrap_or(word);
            number.bytes().all(|byte| byte.is_ascii_digit())
        };
        let fits = |word: &String| word == row || !is_row(word) && name.contains(word.as_str());
        self.chosen.is_empty() || self.chosen.iter().any(fits)
    }
    /// The server to be attacked; none: there is no Node.js.
    fn attacked(&self, host: Host, attack: &Attack) -> Option<Command> {
        if host == Host::Rust {
            let mut command = Command::new(&self.server);
            if matches!(attack.run, Run::Tls(_) | Run::Quic(_)) {
                command.arg("tls");
            }
            if matches!(attack.run, Run::Limited(_)) {
                command.arg("limited");
            }
            if matches!(attack.run, Run::Scarce(_)) {
                command.arg("scarce");
            }
            return Some(command);
        }
        let mut command = Command::new("node");
        command.arg(format!("{}/attacked_server.mjs", self.node.as_ref()?));
        match host {
            Host::Streams => command.arg("streams"),
            _ => command.env("TRUNKLINE_ENGINE", "inline"),
        };
        Some(command)
    }
    /// A program of the folder of cases.
    fn case(&self, file: &str) -> Option<Command> {
        let mut command = Command::new(self.python.as_ref()?);
        let path = format!("{}/{file}", self.cases);
        command.args(["-B", "-u", &path]);
        Some(command)
    }
}

/// The neighbour is observed for as long, at least.
const LEAST: Duration = Duration::from_secs(2);
/// How long an attack over QUIC may take.
const ATTACK_MAX: Duration = Duration::from_secs(90);
/// The bound on the 99th percentile of the neighbour, on two cores that build something else too.
const P99_MAX: Duration = Duration::from_millis(500);

/// One run as it went, with its bounds.
struct Measured<'a> {
    row: String,
    name: &'a str,
    /// The fate, and the expected one where they differ.
    fate: String,
    expected_fate: &'a str,
    costs: Costs,
    rss_mib_max: u64,
    cpu_seconds_max: f64,
    /// None: there is no neighbour.
    p99: Option<Duration>,
    p99_max: Duration,
}

impl Measured<'_> {
    /// Prints it as a row; false: a bound was passed.
    fn print(&self) -> bool {
        let Costs {
            rss_mib,
            cpu_seconds,
        } = self.costs;
        let within = self.fate.starts_with(self.expected_fate)
            && rss_mib <= self.rss_mib_max
            && cpu_seconds <= self.cpu_seconds_max
            && self.p99.is_none_or(|p99| p99 <= self.p99_max);
        let p99 = self.p99.map_or_else(
            || "none".into(),
            |p99| {
                format!(
                    "{:.1} ({})",
                    p99.as_secs_f64() * 1e3,
                    self.p99_max.as_millis()
                )
            },
        );
        println!(
            "| {} | {} | {rss_mib} ({}) | {cpu_seconds:.2} ({:.0}) | {p99} | {}{} |",
            self.row,
            self.name,
            self.rss_mib_max,
            self.cpu_seconds_max,
            self.fate,
            if within { "" } else { " PAST ITS BOUND" },
        );
        within
    }
}

fn main() -> ExitCode {
    let Some(programs) = Programs::parse(std::env::args().skip(1)) else {
        eprintln!("usage: attacks --server PATH --client PATH [--FLAG PATH ..] [ROW or WORD ..]");
        return ExitCode::from(2);
    };
    let mut passed = true;
    let mut note = |name: &str, measured: std::io::Result<bool>| match measured {
        Ok(within) => passed &= within,
        Err(why) => {
            eprintln!("{name}: {why}");
            passed = false;
        }
    };
    println!("| row | attack | RSS MiB (max) | CPU s (max) | neighbour's p99 ms (max) | fate |");
    println!("|---|---|---|---|---|---|");
    for attack in ATTACKS {
        for host in Host::ALL {
            let name = host.name(attack);
            if host.takes(attack) && programs.is_chosen(&attack.row.to_string(), &name) {
                note(&name, on_server(&programs, host, attack));
            }
        }
    }
    for attack in HOSTILE {
        for face in Face::ALL {
            let row = format!("S{}", attack.row);
            if programs.is_chosen(&row, &clients::name(face, attack)) && attack.is_for(face) {
                note(attack.name, clients::run(&programs, face, attack));
            }
        }
    }
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs one attack against a fresh server, and prints its row. False: a bound was passed.
fn on_server(programs: &Programs, host: Host, attack: &Attack) -> std::io::Result<bool> {
    let Some(mut command) = programs.attacked(host, attack) else {
        return Ok(true);
    };
    let server = Program::start(&mut command)?;
    let address = server.address()?;
    let neighbour = match attack.run {
        Run::Clear(_) | Run::Limited(_) | Run::Scarce(_) | Run::Slow(..) => {
            Neighbour::clear(address)
        }
        Run::Tls(_) => Neighbour::program(&programs.client, "h2", address)?,
        Run::Quic(_) => Neighbour::program(&programs.client, "h3", address)?,
    };
    let began = Instant::now();
    let mut fates: Vec<String> = match attack.run {
        Run::Clear(run) | Run::Tls(run) | Run::Limited(run) | Run::Scarce(run) => {
            run(address).iter().map(ToString::to_string).collect()
        }
        Run::Quic(function) => {
            let Some(mut command) = programs.case("attack.py") else {
                return Ok(true);
            };
            let port = address.port().to_string();
            let attacker = Program::start(command.args([&port, function]))?;
            vec![attacker.line(ATTACK_MAX)?]
        }
        Run::Slow(arguments, path) => {
            let Some(program) = &programs.slowhttptest else {
                return Ok(true);
            };
            vec![slow(
                program,
                arguments,
                &format!("http://{address}{path}"),
            )?]
        }
    };
    // An attacker that is closed at once leaves a neighbour to observe all the same.
    std::thread::sleep(LEAST.saturating_sub(began.elapsed()));
    let p99 = neighbour.p99();
    let costs = server.costs()?;
    let expected_fate = host.fate(attack);
    fates.retain(|fate| fate != expected_fate);
    let (rss_mib, cpu_seconds) = host.extra(attack);
    let measured = Measured {
        row: attack.row.to_string(),
        name: &host.name(attack),
        fate: fates
            .first()
            .map_or(expected_fate, String::as_str)
            .to_owned(),
        expected_fate,
        costs,
        rss_mib_max: attack.rss_mib_max + rss_mib,
        cpu_seconds_max: attack.cpu_seconds_max + cpu_seconds,
        p99: Some(p99),
        p99_max: host.p99_max(attack),
    };
    Ok(measured.print())
}

/// Runs slowhttptest for 40 s at most: what it prints of its end.
fn slow(program: &str, arguments: &[&str], url: &str) -> std::io::Result<String> {
    let mut command = Command::new(program);
    command.args(arguments);
    command.args(["-r", "250", "-l", "40", "-p", "3", "-u", url]);
    let output = command.stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Colours stand between the name and the value.
    let value = |name: &str| {
        let line = text.rsplit(name).next().unwrap_or_default();
        let line = line.lines().next().unwrap_or_default();
        let plain = line.split('\u{1b}').map(|piece| {
            let is_colour = piece.starts_with('[');
            let behind = piece.split_once('m').map_or("", |(_, behind)| behind);
            if is_colour { behind } else { piece }
        });
        plain.collect::<String>().trim().to_owned()
    };
    let (status, available) = (value("Exit status:"), value("service available:"));
    Ok(format!("{status}, service available: {available}"))
}
