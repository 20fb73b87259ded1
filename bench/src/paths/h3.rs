//! Compares our HTTP/3 with our HTTP/2 over equal paths: loss, reordering and distance through
//! netlab, and a path that drops UDP.

use crate::machine;
use crate::page::figures::{Figures, Metric};
use crate::page::{docs, plot, report};
use crate::server::write_files;
use crate::subject::build;
use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use trunkline_interop::{Certificate, Workplace};
use trunkline_testkit::netlab::{Lab, PathSettings, SERVER_IP, Settings, Side};

const PORT: u16 = 8443;
/// The number of small requests in flight at once.
const SMALL_AT_ONCE: u32 = 16;

/// Flags of `h3-paths`.
#[derive(clap::Args)]
pub(crate) struct H3PathsOptions {
    /// Rounds of each path; default 5, or 1 with --quick.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// One round, and a short one, in five minutes: what the figures are about, not what they are.
    #[arg(long)]
    quick: bool,
    /// Round trips in milliseconds, by a comma.
    #[arg(long, value_delimiter = ',', default_values_t = [20, 100])]
    rtt_ms: Vec<u32>,
    /// Megabits per second.
    #[arg(long, default_value_t = 100)]
    rate_mbit: u32,
    /// Write the tables into `docs/h3.md`, between their marks.
    #[arg(long)]
    docs: bool,
}

impl H3PathsOptions {
    fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 1 } else { 5 })
    }
    /// A transfer is cut after this many seconds; its rate until then counts.
    fn transfer_seconds(&self) -> u32 {
        if self.quick { 2 } else { 3 }
    }
    /// Small requests of one run.
    fn small_requests(&self) -> u32 {
        if self.quick { 320 } else { 800 }
    }
}

/// The faults of a path beside its delay.
struct Impairment {
    name: &'static str,
    loss: f64,
    reorder: f64,
}

const IMPAIRMENTS: &[Impairment] = &[
    impairment("no loss", 0.0, 0.0),
    impairment("1 % loss", 0.01, 0.0),
    impairment("3 % loss", 0.03, 0.0),
    impairment("2 % reordered", 0.0, 0.02),
];

const fn impairment(name: &'static str, loss: f64, reorder: f64) -> Impairment {
    Impairment {
        name,
        loss,
        reorder,
    }
}

/// The default congestion control of our HTTP/3; HTTP/2 is measured with it too.
const CUBIC: &str = "cubic";

/// A client of `bench-path`.
struct Client {
    kind: &'static str,
    /// The server that it is measured with.
    server: &'static str,
    name: String,
    /// TCP's, where it is not the machine's.
    congestion: Option<String>,
}

/// HTTP/3, and HTTP/2 over TCP as this machine has it and as fast as HTTP/3's congestion control
/// would make it; and a sentence about each that cannot be measured here.
fn clients() -> (Vec<Client>, Vec<String>) {
    let machines = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    let machines = machines.unwrap_or_default().trim().to_owned();
    let client = |kind, server, name: String, congestion| Client {
        kind,
        server,
        name,
        congestion,
    };
    let mut all = vec![
        client("trunkline-h3", "trunkline", format!("h3 {CUBIC}"), None),
        client("trunkline-h3", "trunkline-bbr", "h3 bbr".to_owned(), None),
        client("trunkline", "trunkline", format!("h2 {machines}"), None),
    ];
    if machines != CUBIC {
        let name = format!("h2 {CUBIC}");
        let congestion = Some(CUBIC.to_owned());
        all.push(client("trunkline", "trunkline", name, congestion));
    }
    let there = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let there = there.unwrap_or_default();
    let is_there = |client: &Client| {
        let named = client.congestion.as_deref();
        named.is_none_or(|name| there.split_whitespace().any(|there| there == name))
    };
    let (measured, absent): (Vec<_>, Vec<_>) = all.into_iter().partition(is_there);
    let absent = absent.iter().map(|client| {
        let (name, there) = (&client.name, there.trim());
        format!("{name} is left out: this kernel's TCP has {there}.")
    });
    (measured, absent.collect())
}

/// Measures, prints the tables and writes them to `bench/out/`.
pub(crate) fn run(options: &H3PathsOptions) -> Result<(), String> {
    let workplace = Workplace::new()?;
    let certificate = Certificate::write(workplace.path())?;
    let program = build()?.join("bench-path");
    let (clients, absent) = clients();
    for sentence in &absent {
        eprintln!("{sentence}");
    }
    let mut figures = Figures::default();
    let mut places = Vec::new();
    for &rtt in &options.rtt_ms {
        for impairment in IMPAIRMENTS {
            let title = format!("{rtt} ms {}", impairment.name);
            eprintln!("{title}: {} rounds", options.rounds());
            for client in &clients {
                let lab = lab(options, rtt, impairment, client.congestion.clone())?;
                let _serving = serve(&lab, &program, &certificate, client.server)?;
                exchange(options, &lab, &program, &title, client, &mut figures);
            }
            places.push(title);
        }
        let title = format!("{rtt} ms UDP dropped");
        eprintln!("{title}: {} rounds", options.rounds());
        let lab = lab(options, rtt, &IMPAIRMENTS[0], None)?;
        let _serving = serve(&lab, &program, &certificate, "trunkline-no-udp")?;
        first_answers(options, &lab, &program, &title, &mut figures);
    }
    let tables = tables(&figures, options, &places, &clients);
    println!("{tables}");
    let label = "a long body, MB/s";
    let page = page(options, &tables, &absent);
    if options.docs {
        // The page there has a title of its own, and headings above these.
        let section = page.trim_start_matches(TITLE).replace("## ", "### ");
        let section = section.replace(PLOT, "");
        docs::put("h3.md", "make h3-paths", &section)?;
    }
    write_files(&[
        ("h3-paths.csv", figures.csv()),
        ("h3-paths.md", page),
        (
            "h3-paths.svg",
            plot::bars(&figures, &[(Metric::Throughput, label)], &places),
        ),
    ])
}

fn lab(
    options: &H3PathsOptions,
    rtt_ms: u32,
    impairment: &Impairment,
    congestion: Option<String>,
) -> Result<Lab, String> {
    Lab::build(&Settings {
        path: PathSettings {
            delay: Duration::from_micros(u64::from(rtt_ms) * 500),
            rate: Some(u64::from(options.rate_mbit) * 1_000_000),
            loss: impairment.loss,
            reorder: impairment.reorder,
            ..PathSettings::default()
        },
        congestion,
        ..Settings::default()
    })
}

/// A server process; it ends with this value.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(
    lab: &Lab,
    program: &Path,
    certificate: &Certificate,
    kind: &str,
) -> Result<Serving, String> {
    let mut command = lab.command(Side::Server, &program.to_string_lossy());
    command.args(["serve", kind, &format!("{SERVER_IP}:{PORT}")]);
    command.arg(&certificate.chain).arg(&certificate.key);
    let serving = Serving(command.spawn().map_err(|error| error.to_string())?);
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let tried = lab.inside(Side::Server, || {
            std::net::TcpStream::connect((SERVER_IP, PORT))
        })?;
        match tried {
            Ok(_) => return Ok(serving),
            Err(error) if Instant::now() > deadline => {
                return Err(format!("the server does not listen: {error}"));
            }
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Long bodies and small requests.
fn exchange(
    options: &H3PathsOptions,
    lab: &Lab,
    program: &Path,
    title: &str,
    client: &Client,
    figures: &mut Figures,
) {
    let most = options.transfer_seconds().to_string();
    let count = options.small_requests().to_string();
    let at_once = SMALL_AT_ONCE.to_string();
    let (kind, name) = (client.kind, &client.name);
    let (mut rates, mut medians, mut slowest) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..options.rounds() {
        let lines = printed(lab, program, &["transfer", kind], &[&most]);
        // The last transfer meets a connection that knows its path.
        if let Some(&[bytes, seconds]) = lines.last().map(Vec::as_slice) {
            eprintln!("{round} {name}: {:.2} MB/s", bytes / seconds / 1e6);
            rates.push(bytes / seconds / 1e6);
        }
        let lines = printed(lab, program, &["small", kind], &[&count, &at_once]);
        if let Some(&[median, p99]) = lines.last().map(Vec::as_slice) {
            eprintln!("{round} {name}: p50 {median:.1} ms, p99 {p99:.1} ms");
            medians.push(median);
            slowest.push(p99);
        }
    }
    figures.add(title, name, Metric::Throughput, rates);
    figures.add(title, name, Metric::LatencyMedian, medians);
    figures.add(title, name, Metric::Latency99, slowest);
}

/// The first answer over a new connection: without HTTP/3, and where HTTP/3 was announced and UDP
/// goes nowhere.
fn first_answers(
    options: &H3PathsOptions,
    lab: &Lab,
    program: &Path,
    title: &str,
    figures: &mut Figures,
) {
    for (kind, name) in [
        ("trunkline", "without h3"),
        ("trunkline-all", "h3 announced"),
    ] {
        let rounds = (0..options.rounds()).filter_map(|_| {
            let lines = printed(lab, program, &["first", kind], &[]);
            lines.last().and_then(|line| line.first()).copied()
        });
        let rounds: Vec<f64> = rounds.collect();
        figures.add(title, name, Metric::FirstAnswer, rounds);
    }
}

/// The numbers on each line that `bench-path` writes.
fn printed(lab: &Lab, program: &Path, before: &[&str], behind: &[&str]) -> Vec<Vec<f64>> {
    let url = format!("https://{SERVER_IP}:{PORT}");
    let mut command: Command = lab.command(Side::Client, &program.to_string_lossy());
    command.args(before).arg(&url).args(behind);
    let output = command.stdin(Stdio::null()).output();
    let Ok(output) = output else {
        return Vec::new();
    };
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        eprintln!("{}: {}", before.join(" "), why.trim());
    }
    let numbers = |line: &str| {
        line.split(' ')
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(numbers)
        .collect()
}

fn tables(
    figures: &Figures,
    options: &H3PathsOptions,
    places: &[String],
    clients: &[Client],
) -> String {
    let mut text = String::new();
    let cell = |workplace: &str, name: &str, metric: Metric| {
        report::spread(figures.get(workplace, name, metric), metric.digits())
    };
    let mut rows = Vec::new();
    for workplace in places {
        for Client { name, .. } in clients {
            rows.push(vec![
                workplace.clone(),
                name.clone(),
                cell(workplace, name, Metric::Throughput),
                cell(workplace, name, Metric::LatencyMedian),
                cell(workplace, name, Metric::Latency99),
            ]);
        }
    }
    let head = ["path", "", "MB/s", "p50 ms", "p99 ms"];
    report::table(&mut text, "h3 beside h2", &head, &rows);
    let mut rows = Vec::new();
    for rtt in &options.rtt_ms {
        let workplace = format!("{rtt} ms UDP dropped");
        let of = |name: &str| cell(&workplace, name, Metric::FirstAnswer);
        rows.push(vec![
            workplace.clone(),
            of("without h3"),
            of("h3 announced"),
        ]);
    }
    let head = ["path", "without h3, ms", "h3 announced, ms"];
    report::table(&mut text, "first answer", &head, &rows);
    text
}

/// The page's own title; `docs/h3.md` has another.
const TITLE: &str = "# HTTP/3 beside HTTP/2 on the same paths\n\n";
/// The plot beside the page.
const PLOT: &str = "![Throughput](h3-paths.svg)\n\n";

fn page(options: &H3PathsOptions, tables: &str, absent: &[String]) -> String {
    let mut text = format!(
        "{TITLE}Our client and our server through netlab: {} Mbit/s, a queue of one round trip, MTU \
         1,500; loss and reordering in both directions. A long body: 64 MiB, cut after {} s, on a \
         connection that has carried one before. Small requests: {} of 100 bytes, \
         {SMALL_AT_ONCE} under way at once on one connection. First answer: the first over a new \
         connection, without HTTP/3, and where the origin has announced HTTP/3 and UDP goes \
         nowhere. The word behind the version is the congestion control. Median (smallest to largest) of {} rounds.\n\n",
        options.rate_mbit,
        options.transfer_seconds(),
        options.small_requests(),
        options.rounds(),
    );
    text.push_str(&machine::describe_as_list());
    for sentence in absent {
        let _ = writeln!(text, "- {sentence}");
    }
    let _ = write!(text, "\n{PLOT}{tables}");
    text
}
