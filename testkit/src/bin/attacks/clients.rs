//! Hostile servers against our clients: the Rust client, those of Node.js, and `trunkline get`, each
//! in a process of its own.

use super::hostile::{Hostile, Listening, Serve};
use super::neighbour::p99_of;
use super::process::{Costs, Program};
use super::{LEAST, Measured, P99_MAX, Programs};
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

/// A client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    Rust,
    /// `request` of Node.js, with the engine on a thread of its own.
    Node,
    /// `request` with the engine on JavaScript's thread.
    Inline,
    /// `request` over streams made in JavaScript, which a connector gives.
    Streams,
    /// A session of `connect` of `node:http2`'s API.
    Session,
    Get,
}

impl Face {
    pub(crate) const ALL: [Self; 6] = [
        Self::Rust,
        Self::Node,
        Self::Inline,
        Self::Streams,
        Self::Session,
        Self::Get,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Node => "Node.js",
            Self::Inline => "Node.js inline",
            Self::Streams => "Node.js over streams",
            Self::Session => "http2.connect",
            Self::Get => "get",
        }
    }
    /// The most memory that one of its processes may use, MiB: Node.js itself has about 60.
    fn rss_mib_max(self) -> u64 {
        match self {
            Self::Rust | Self::Get => 64,
            _ => 256,
        }
    }
}

/// So long an outcome may take beyond the bound of its exchange.
const OUTCOME_EXTRA: Duration = Duration::from_secs(15);
const CPU_SECONDS_MAX: f64 = 6.0;
/// A body of `get`, which holds it in memory: more than any window and the sockets' buffers, half of what it may use.
const UPLOAD_BYTES: u64 = 32 << 20;
/// Connections that a request may cost, all of which fail: four for the times that it is sent, and four
/// that end before it is written to them.
const CONNECTIONS_MAX: u32 = 8;
/// Requests of a crowd.
const CROWD: u32 = 100;

pub(crate) fn name(face: Face, attack: &Hostile) -> String {
    format!("{}: {}", face.name(), attack.name)
}

/// The hostile server, running.
enum Running {
    Tcp(Listening),
    Quic {
        _server: Program,
        address: SocketAddr,
    },
}

impl Running {
    /// None: there is no Python.
    fn start(programs: &Programs, attack: &Hostile) -> std::io::Result<Option<Self>> {
        let function = match attack.serve {
            Serve::Http1(serve) | Serve::Http2(serve) => {
                return Ok(Some(Self::Tcp(Listening::start(serve)?)));
            }
            Serve::Http3(function) => function,
        };
        let Some(mut command) = programs.case("hostile.py") else {
            return Ok(None);
        };
        let server = Program::start(command.arg(function))?;
        let address = server.address()?;
        Ok(Some(Self::Quic {
            _server: server,
            address,
        }))
    }
    fn address(&self) -> SocketAddr {
        match self {
            Self::Tcp(listening) => listening.address,
            Self::Quic { address, .. } => *address,
        }
    }
    /// Connections that came, over TCP.
    fn connections(&self) -> u32 {
        match self {
            Self::Tcp(listening) => listening.connections(),
            Self::Quic { .. } => 0,
        }
    }
}

/// The bound of an exchange, in seconds. Only a row whose outcome is a timeout, or a body that stays unread for so long,
/// waits for it; each other row ends by what it counts, which takes a loaded machine longer.
const fn seconds_of(attack: &Hostile) -> u64 {
    match (attack.kind.as_bytes(), attack.rust.as_bytes()) {
        (b"unread", _) | (_, b"Timeout") => 5,
        _ => 60,
    }
}

/// The environment variable of the clients that has the bound.
const SECONDS: &str = "ATTACKED_SECONDS";

/// Runs one hostile server against a fresh client, and prints its row. False: a bound was passed.
pub(crate) fn run(programs: &Programs, face: Face, attack: &Hostile) -> std::io::Result<bool> {
    let Some(running) = Running::start(programs, attack)? else {
        return Ok(true);
    };
    let scheme = match attack.serve {
        Serve::Http3(_) => "https",
        _ => "http",
    };
    let url = format!("{scheme}://{}/", running.address());
    let outcome = match (face, &programs.command, &programs.node) {
        (Face::Get, Some(program), _) => get(program, attack, &url)?,
        (Face::Rust, ..) => {
            let client = Command::new(&programs.client);
            beside_a_neighbour(programs, client, face, attack, &url)?
        }
        (Face::Node | Face::Inline | Face::Streams | Face::Session, _, Some(folder)) => {
            let client = node_client(face, folder);
            beside_a_neighbour(programs, client, face, attack, &url)?
        }
        // It is not there.
        _ => return Ok(true),
    };
    let (fate, costs, p99) = outcome;
    let connections = running.connections();
    let is_idle_run = attack.kind == "crowd" && face != Face::Get;
    let connections_max = CONNECTIONS_MAX * if is_idle_run { CROWD } else { 1 };
    let many = match connections {
        0 | 1 => String::new(),
        _ => format!(", {connections} ({connections_max}) connections"),
    };
    let measured = Measured {
        row: format!("S{}", attack.row),
        name: &name(face, attack),
        fate: fate + &many,
        expected_fate: match connections <= connections_max {
            true => attack.due(face),
            false => "fewer connections",
        },
        costs,
        rss_mib_max: face.rss_mib_max(),
        cpu_seconds_max: CPU_SECONDS_MAX,
        p99,
        p99_max: P99_MAX,
    };
    Ok(measured.print())
}

type Outcome = (String, Costs, Option<Duration>);

/// The command that starts a client of Node.js's.
fn node_client(face: Face, folder: &str) -> Command {
    let script = match face {
        Face::Session => "attacked_session.mjs",
        _ => "attacked.mjs",
    };
    let mut client = Command::new("node");
    client.arg(format!("{folder}/{script}"));
    if face == Face::Inline {
        client.env("TRUNKLINE_ENGINE", "inline");
    }
    client
}

/// A client that asks a good origin meanwhile.
fn beside_a_neighbour(
    programs: &Programs,
    mut client: Command,
    face: Face,
    attack: &Hostile,
    url: &str,
) -> std::io::Result<Outcome> {
    let mut good = Command::new(&programs.server);
    let is_quic = attack.version() == "h3";
    let good = Program::start(if is_quic { good.arg("tls") } else { &mut good })?;
    let scheme = if is_quic { "https" } else { "http" };
    let good_url = format!("{scheme}://{}/", good.address()?);
    client.args([attack.version(), &good_url, url, attack.kind]);
    client.env(SECONDS, seconds_of(attack).to_string());
    if face == Face::Streams {
        client.arg("streams");
    }
    let mut client = Program::start(&mut client)?;
    let began = Instant::now();
    let fate = client.line(Duration::from_secs(seconds_of(attack)) + OUTCOME_EXTRA)?;
    std::thread::sleep(LEAST.saturating_sub(began.elapsed()));
    let costs = client.costs()?;
    client.end_input();
    Ok((fate, costs, Some(p99_of(&client))))
}

/// The command: its exit code, and what it costs until then.
fn get(program: &str, attack: &Hostile, url: &str) -> std::io::Result<Outcome> {
    let version = match attack.version() {
        "h1" => "--http1.1",
        "h2" => "--http2",
        _ => "--http3-only",
    };
    let seconds = seconds_of(attack).to_string();
    let mut command = Command::new(program);
    command.args(["get", version, "--insecure", "--timeout", &seconds]);
    command.args(["--output", "/dev/null", url]);
    let upload = std::env::temp_dir().join(format!("trunkline-attacks-{}", std::process::id()));
    if attack.kind == "post" {
        std::fs::File::create(&upload)?.set_len(UPLOAD_BYTES)?;
        command.args(["--data-binary", &format!("@{}", upload.display())]);
    }
    command.stderr(std::process::Stdio::null());
    let outcome = outcome_of(&mut Program::start(&mut command)?, attack);
    let _ = std::fs::remove_file(&upload);
    outcome
}

/// The exit code of the command, and what it costs until then.
fn outcome_of(client: &mut Program, attack: &Hostile) -> std::io::Result<Outcome> {
    let until = Instant::now() + Duration::from_secs(seconds_of(attack)) + OUTCOME_EXTRA;
    let mut costs = Costs::default();
    loop {
        // The memory of an ended process is gone: the last look before it counts.
        let seen = client.costs()?;
        costs.rss_mib = costs.rss_mib.max(seen.rss_mib);
        costs.cpu_seconds = costs.cpu_seconds.max(seen.cpu_seconds);
        if let Some(code) = client.exited() {
            return Ok((format!("exit {code}"), costs, None));
        }
        if Instant::now() >= until {
            return Ok(("still there".into(), costs, None));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
