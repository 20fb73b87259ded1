//! Clients on long paths: 64 MiB in one stream over a warm connection, twice, through netlab.
//!
//! The first transfer meets a connection in slow start and a client that does not know its path;
//! the second both warmed up. Every client gets a fresh process and connection in every round;
//! rounds go round all clients in turn.

use crate::machine;
use crate::page::figures::{Figures, Metric};
use crate::page::{docs, plot, report};
use crate::server::write_files;
use crate::subject::{build, install, root};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use trunkline_interop::{Certificate, Workplace, find_program, output_of};
use trunkline_testkit::netlab::{Lab, PathSettings, SERVER_IP, Settings, Side};

/// Bytes of a measured body, and of the answer that opens the connection.
const BODY_BYTES: u64 = 64 << 20;
const WARM_UP_BYTES: u64 = 1024;
/// A transfer is cut after this; its rate until then is what counts.
const TRANSFER_MAX: Duration = Duration::from_secs(6);
/// Payload of a packet: 1,500 less IP and TCP heads with a timestamp.
const SEGMENT_BYTES: f64 = 1448.0;
const PACKET_BYTES: f64 = 1500.0;
const PORT: u16 = 8443;
const TITLE: &str = "# Clients on long paths\n\n";

/// Flags of `windows-real`.
#[derive(clap::Args)]
pub(crate) struct WindowsRealOptions {
    /// Rounds of each client; default 5.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Round trips in milliseconds, by a comma.
    #[arg(long, value_delimiter = ',', default_values_t = [20, 100])]
    rtt_ms: Vec<u32>,
    /// Megabits per second.
    #[arg(long, default_value_t = 1000)]
    rate_mbit: u32,
    /// Servers, by a comma: hyper, trunkline.
    #[arg(long, value_delimiter = ',', default_values_t = ["hyper".to_owned(), "trunkline".to_owned()])]
    servers: Vec<String>,
    /// Clients whose name contains one of these words, by a comma; default: all.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Write the tables into `docs/windows.md`, between their marks, and the plot beside it.
    #[arg(long)]
    docs: bool,
}

/// Name, program and arguments before the URL.
struct Client {
    name: &'static str,
    program: Program,
    arguments: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq)]
enum Program {
    /// `bench-path`: ours and reqwest.
    Path,
    Curl,
    Go,
    /// Ours, undici and node:http2 on Node 24.
    Node,
}

/// The measured clients; h1 is the yardstick.
const CLIENTS: &[Client] = &[
    client("trunkline", Program::Path, &["transfer", "trunkline"]),
    client(
        "trunkline 64 KiB",
        Program::Path,
        &["transfer", "trunkline-64k"],
    ),
    client("reqwest", Program::Path, &["transfer", "reqwest"]),
    client("curl", Program::Curl, &["--http2"]),
    client("Go", Program::Go, &["transfer", "h2"]),
    client("trunkline Node", Program::Node, &["transfer", "trunkline"]),
    client("undici 8", Program::Node, &["transfer", "undici"]),
    client("node:http2", Program::Node, &["transfer", "http2"]),
    client("h1 trunkline", Program::Path, &["transfer", "trunkline-h1"]),
    client(
        "h1 trunkline Node",
        Program::Node,
        &["transfer", "trunkline-h1"],
    ),
    client("h1 curl", Program::Curl, &["--http1.1"]),
    client("h1 Go", Program::Go, &["transfer", "h1"]),
];

const fn client(
    name: &'static str,
    program: Program,
    arguments: &'static [&'static str],
) -> Client {
    Client {
        name,
        program,
        arguments,
    }
}

/// Where the programs are.
struct Programs {
    built: PathBuf,
    go: PathBuf,
}

/// Measures, prints the table and writes it to `bench/out/`.
pub(crate) fn run(options: &WindowsRealOptions) -> Result<(), String> {
    let workplace = Workplace::new()?;
    let certificate = Certificate::write(workplace.path())?;
    let programs = Programs {
        built: build()?,
        go: go_client(workplace.path())?,
    };
    install("node", "node")?;
    let mut figures = Figures::default();
    let mut absent = BTreeSet::new();
    let mut places = Vec::new();
    for server in &options.servers {
        for &rtt in &options.rtt_ms {
            let title = format!("{rtt} ms from {server}");
            eprintln!("{title}: {} rounds", options.rounds);
            let received = path(options, server, rtt, &certificate, &programs, &mut absent)?;
            note(&mut figures, &title, options.rate_mbit, rtt, &received);
            places.push(title);
        }
    }
    let tables = tables(&figures, &places);
    println!("{tables}");
    let label = "64 MiB over a connection that has learnt its path, MB/s";
    let again: Vec<String> = places
        .iter()
        .map(|workplace| format!("{workplace}, again"))
        .collect();
    let (page, plot) = (
        page(options, &tables, &absent),
        plot::bars(&figures, &[(Metric::Throughput, label)], &again),
    );
    if options.docs {
        // The page there has a title of its own, and headings above these.
        let section = page.trim_start_matches(TITLE).replace("## ", "### ");
        docs::put("windows.md", "make windows-real", &section)?;
        docs::write("windows-real.svg", &plot)?;
    }
    write_files(&[
        ("windows-real.csv", figures.csv()),
        ("windows-real.md", page),
        ("windows-real.svg", plot),
    ])
}

/// Bytes per second of the first and of the second transfer, by client and round.
type Rates = Vec<(&'static str, Vec<[f64; 2]>)>;

/// All rounds over one path.
fn path(
    options: &WindowsRealOptions,
    server: &str,
    rtt_ms: u32,
    certificate: &Certificate,
    programs: &Programs,
    absent: &mut BTreeSet<String>,
) -> Result<Rates, String> {
    let lab = Lab::build(&Settings {
        path: PathSettings {
            delay: Duration::from_micros(u64::from(rtt_ms) * 500),
            rate: Some(u64::from(options.rate_mbit) * 1_000_000),
            ..PathSettings::default()
        },
        ..Settings::default()
    })?;
    let mut command = lab.command(
        Side::Server,
        &programs.built.join("bench-path").to_string_lossy(),
    );
    command.args(["serve", server, &format!("{SERVER_IP}:{PORT}")]);
    command.arg(&certificate.chain).arg(&certificate.key);
    let serving = Serving(command.spawn().map_err(|error| error.to_string())?);
    await_listening(&lab)?;
    let mut received: Rates = Vec::new();
    for round in 0..options.rounds {
        for client in CLIENTS.iter().filter(|client| {
            let asked = |word: &String| client.name.contains(word.as_str());
            options.only.is_empty() || options.only.iter().any(asked)
        }) {
            match transfers(&lab, client, programs) {
                Ok(rates) => {
                    let [first, again] = rates.map(|rate| rate / 1e6);
                    eprintln!("{round} {}: {first:.1} {again:.1} MB/s", client.name);
                    match received.iter_mut().find(|(name, _)| *name == client.name) {
                        Some((_, all)) => all.push(rates),
                        None => received.push((client.name, vec![rates])),
                    }
                }
                Err(why) => {
                    eprintln!("{}: {why}", client.name);
                    absent.insert(format!("{}: {why}", client.name));
                }
            }
        }
    }
    drop(serving);
    Ok(received)
}

/// A server process; it ends with this value.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn await_listening(lab: &Lab) -> Result<(), String> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let tried = lab.inside(Side::Server, || {
            std::net::TcpStream::connect((SERVER_IP, PORT))
        })?;
        match tried {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > deadline => {
                return Err(format!("the server does not listen: {error}"));
            }
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// One process of one client: the rate of both transfers.
fn transfers(lab: &Lab, client: &Client, programs: &Programs) -> Result<[f64; 2], String> {
    let url = format!("https://{SERVER_IP}:{PORT}");
    let most = TRANSFER_MAX.as_secs().to_string();
    let program = match client.program {
        Program::Path => programs.built.join("bench-path"),
        Program::Curl => find_program("curl", "curl")?,
        Program::Go => programs.go.clone(),
        Program::Node => node_folder().join("node_modules/.bin/node"),
    };
    let mut command = lab.command(Side::Client, &program.to_string_lossy());
    match client.program {
        Program::Curl => {
            command.args(client.arguments);
            command.args(["--silent", "--insecure", "--max-time", &most]);
            command.args(["--write-out", "%{size_download} %{time_total}\\n"]);
            for bytes in [WARM_UP_BYTES, BODY_BYTES, BODY_BYTES] {
                command.args(["--output", "/dev/null", &format!("{url}/{bytes}")]);
            }
        }
        Program::Node => {
            command.arg(node_folder().join("client.js"));
            command.args(client.arguments).args([&url, &most]);
        }
        Program::Go | Program::Path => {
            command.args(client.arguments).args([&url, &most]);
        }
    }
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut rates: Vec<f64> = printed.lines().filter_map(rate).collect();
    match (rates.pop(), rates.pop()) {
        (Some(again), Some(first)) => Ok([first, again]),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Err(format!(
                "no transfer: {}",
                errors.lines().last().unwrap_or("it says nothing")
            ))
        }
    }
}

/// Bytes per second of a line `bytes seconds`.
fn rate(line: &str) -> Option<f64> {
    let (bytes, seconds) = line.trim().split_once(' ')?;
    let (bytes, seconds): (f64, f64) = (bytes.parse().ok()?, seconds.parse().ok()?);
    (seconds > 0.0).then(|| bytes / seconds)
}

/// Bytes per second that no client can beat: TCP's slow start from ten segments, doubled every
/// round trip (RFC 6928), on a path without loss; `warm` starts at the line's rate.
fn bound(rate_mbit: u32, rtt_ms: u32, warm: bool) -> f64 {
    let rtt = f64::from(rtt_ms) / 1000.0;
    let line = f64::from(rate_mbit) * 1e6 / 8.0 * SEGMENT_BYTES / PACKET_BYTES;
    let (mut left, mut seconds) = (BODY_BYTES as f64, rtt);
    let mut window = 10.0 * SEGMENT_BYTES;
    while !warm && window < line * rtt && left > window {
        left -= window;
        seconds += rtt;
        window *= 2.0;
    }
    BODY_BYTES as f64 / (seconds + left / line)
}

/// Adds what was heard on one path to the figures.
fn note(figures: &mut Figures, title: &str, rate_mbit: u32, rtt_ms: u32, received: &Rates) {
    for (which, suffix) in ["first", "again"].into_iter().enumerate() {
        let workplace = format!("{title}, {suffix}");
        let bound = bound(rate_mbit, rtt_ms, which == 1);
        for (name, rounds) in received {
            let rates: Vec<f64> = rounds.iter().map(|round| round[which]).collect();
            let in_mb = rates.iter().map(|rate| rate / 1e6);
            figures.add(&workplace, name, Metric::Throughput, in_mb);
            figures.add(
                &workplace,
                name,
                Metric::ShareOfBound,
                rates.iter().map(|rate| rate / bound),
            );
        }
        // The yardstick: the best of those that speak h1.
        let h1 = received
            .iter()
            .filter(|(name, _)| name.starts_with("h1 "))
            .filter_map(|(name, _)| figures.get(&workplace, name, Metric::Throughput))
            .map(|spread| spread.median)
            .reduce(f64::max);
        for (name, rounds) in received {
            let shares = h1
                .into_iter()
                .flat_map(|h1| rounds.iter().map(move |round| round[which] / 1e6 / h1));
            figures.add(&workplace, name, Metric::ShareOfH1, shares);
        }
    }
}

fn tables(figures: &Figures, places: &[String]) -> String {
    let mut text = String::new();
    for workplace in places {
        let [first, again] = ["first", "again"].map(|suffix| format!("{workplace}, {suffix}"));
        let rows: Vec<Vec<String>> = report::subjects(figures, &first)
            .into_iter()
            .map(|name| {
                let mut row = vec![name.to_owned()];
                for workplace in [&first, &again] {
                    let get = |metric| figures.get(workplace, name, metric);
                    row.push(report::spread(get(Metric::Throughput), 1));
                    row.push(report::spread(get(Metric::ShareOfBound), 2));
                    row.push(report::spread(get(Metric::ShareOfH1), 2));
                }
                row
            })
            .collect();
        let head = [
            "client",
            "first MB/s",
            "of bound",
            "of h1",
            "again MB/s",
            "of bound",
            "of h1",
        ];
        report::table(&mut text, workplace, &head, &rows);
    }
    text
}

fn page(options: &WindowsRealOptions, tables: &str, absent: &BTreeSet<String>) -> String {
    let mut text = format!(
        "{TITLE}64 MiB in one stream over TLS, default settings unless said, two transfers after a \
         request of 1 KiB on the same connection. The path is netlab's: {} Mbit/s, no loss, \
         MTU 1,500. Rates are bytes of the body per second of the whole exchange, median \
         (smallest to largest) of {} rounds, cut after {} s. The bound is a model: slow start from \
         ten segments for the first transfer, the line's rate for the second. The h1 yardstick is \
         the best median of those that speak it.\n\n",
        options.rate_mbit,
        options.rounds,
        TRANSFER_MAX.as_secs(),
    );
    text.push_str(&machine::describe_as_list());
    text.push_str("\n![Throughput](windows-real.svg)\n\n");
    text.push_str(tables);
    for sentence in absent {
        let _ = writeln!(text, "- not in every round: {sentence}");
    }
    text
}

/// Builds Go's client.
pub(crate) fn go_client(folder: &Path) -> Result<PathBuf, String> {
    go_program(folder, "go-client")
}

/// Builds the Go program in `bench/peers/<name>`.
pub(crate) fn go_program(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let program = folder.join(name);
    let mut build = Command::new(find_program("go", "golang-go, 1.24 or newer")?);
    build
        .current_dir(root().join("bench/peers").join(name))
        .args(["build", "-o"])
        .arg(&program)
        .arg(".")
        // The Go that is installed, never one fetched for the purpose.
        .env("GOTOOLCHAIN", "local");
    output_of(&mut build)?;
    Ok(program)
}

/// Where Node's clients live.
pub(crate) fn node_folder() -> PathBuf {
    root().join("bench/peers/node")
}

#[cfg(test)]
#[path = "windows_test.rs"]
mod windows_test;
