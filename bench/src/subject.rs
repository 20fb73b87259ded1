//! The measured servers, and how each is started.

pub(crate) mod node;

use crate::load::Target;
use crate::scenario::{Scenario, VARIED_TARGETS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use trunkline_interop::{
    Certificate, Cores, Endpoints, Peer, Process, Workplace, caddy, find_program, free_port,
    go_program, h2o, nghttpd, nginx, output_of,
};

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Ours: a tower handler.
    Trunkline,
    /// Ours: `trunkline serve --test-endpoints`.
    TrunklineServe,
    Bun,
    H2o,
    Nghttpd,
    Hyper,
    Nginx,
    Go,
    QuinnH3,
    QuicGo,
    Caddy,
}

/// A subject that runs.
pub(crate) struct Running {
    /// `trunkline`, or the peer's name and version.
    pub(crate) name: String,
    pub(crate) target: Target,
    _processes: Vec<Process>,
}

/// The parts that every start needs.
pub(crate) struct SubjectContext {
    pub(crate) workplace: Workplace,
    pub(crate) certificate: Certificate,
    /// Where servers run.
    pub(crate) cores: Cores,
    /// Where our own programs and the peers in Rust were built.
    pub(crate) programs: PathBuf,
}

impl Subject {
    pub(crate) const ALL: [Self; 11] = [
        Self::Trunkline,
        Self::TrunklineServe,
        Self::Bun,
        Self::H2o,
        Self::Nghttpd,
        Self::Hyper,
        Self::Nginx,
        Self::Go,
        Self::QuinnH3,
        Self::QuicGo,
        Self::Caddy,
    ];

    /// The word that `--only` takes.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Trunkline => "trunkline",
            Self::TrunklineServe => "serve",
            Self::Bun => "bun",
            Self::H2o => "h2o",
            Self::Nghttpd => "nghttpd",
            Self::Hyper => "hyper",
            Self::Nginx => "nginx",
            Self::Go => "go",
            Self::QuinnH3 => "quinn-h3",
            Self::QuicGo => "quic-go",
            Self::Caddy => "caddy",
        }
    }

    /// nginx's HTTP/3 is newer than Debian's. Programs with a handler stream, file servers serve
    /// files, and Bun does both.
    fn speaks(self, scenario: Scenario) -> bool {
        let is_file_server = matches!(
            self,
            Self::TrunklineServe | Self::H2o | Self::Nghttpd | Self::Nginx | Self::Caddy
        );
        if self != Self::Bun
            && ((scenario.is_streamed() && is_file_server)
                || (scenario.is_file() && !is_file_server))
        {
            return false;
        }
        match self {
            Self::Trunkline | Self::TrunklineServe | Self::Bun => true,
            Self::QuinnH3 | Self::QuicGo | Self::Caddy => scenario.is_h3(),
            Self::H2o | Self::Nghttpd | Self::Hyper | Self::Nginx | Self::Go => !scenario.is_h3(),
        }
    }

    /// Starts it for `scenario`; `None` if it does not speak that.
    ///
    /// # Errors
    /// When it is absent or does not start, in one sentence.
    pub(crate) fn start(
        self,
        context: &SubjectContext,
        scenario: Scenario,
    ) -> Result<Option<Running>, String> {
        if !self.speaks(scenario) {
            return Ok(None);
        }
        let SubjectContext {
            workplace,
            certificate,
            cores,
            ..
        } = context;
        // The cheapest way to serve 1 KiB here: opened once, and sent in the write of its head.
        // Files that the kernel is to send are large.
        let sendfile = if scenario.is_file() { "on" } else { "off" };
        let files = format!(
            "keepalive_requests 1000000000; sendfile {sendfile}; open_file_cache max=4000;"
        );
        let peer = match self {
            Self::Trunkline => {
                let program = context.programs.join("bench-trunkline");
                one_port(context, scenario, "trunkline", cores.command(&program))?
            }
            Self::TrunklineServe => serve(context, scenario)?,
            Self::Bun => {
                let bun = folder().join("bun/node_modules/.bin/bun");
                let mut command = cores.command(&bun);
                command.arg(folder().join("bun/server.js"));
                command.env("FILE", workplace.site().join("file.txt"));
                one_port(
                    context,
                    scenario,
                    &format!("Bun {}", version_of(&bun)?),
                    command,
                )?
            }
            Self::H2o => h2o(workplace, certificate, cores)?,
            Self::Nghttpd => nghttpd(workplace, certificate, cores, &[])?,
            Self::Hyper => {
                let program = context.programs.join("bench-hyper");
                let name = format!("hyper {}", locked_version("hyper"));
                one_port(context, scenario, &name, cores.command(&program))?
            }
            Self::Nginx => nginx(workplace, certificate, cores, &files)?,
            Self::Go => go_program(workplace, certificate, cores, &folder().join("go"))?,
            Self::QuinnH3 => {
                let program = context.programs.join("bench-quinn-h3");
                let (quinn, h3) = (locked_version("quinn"), locked_version("h3"));
                let name = format!("quinn {quinn} + h3 {h3}");
                one_port(context, scenario, &name, cores.command(&program))?
            }
            Self::QuicGo => quic_go(context)?,
            Self::Caddy => caddy(workplace, certificate, cores, None)?,
        };
        self.running(context, peer, scenario)
    }

    fn running(
        self,
        context: &SubjectContext,
        peer: Peer,
        scenario: Scenario,
    ) -> Result<Option<Running>, String> {
        let Some(port) = scenario.port(peer.endpoints, self != Self::Nghttpd) else {
            return Ok(None);
        };
        let serving = match scenario.is_tls() {
            true => peer.processes.last(),
            false => peer.processes.first(),
        };
        let list = match scenario.is_varied() {
            true => Some(list_of_targets(context, scenario, port)?),
            false => None,
        };
        Ok(Some(Running {
            name: peer.name,
            target: Target {
                scenario,
                program: context.programs.join("trunkline"),
                port,
                path: scenario.path(),
                answer_bytes: scenario.answer_bytes(),
                list,
                family: serving.map(Process::family).unwrap_or_default(),
                // The default of our limits is 10,000, and the command has no flag for it.
                requests_per_connection_max: (self == Self::TrunklineServe && !scenario.is_h3())
                    .then_some(9_000),
            },
            _processes: peer.processes,
        }))
    }
}

/// Writes the URLs of the varied load, a line each.
fn list_of_targets(
    context: &SubjectContext,
    scenario: Scenario,
    port: u16,
) -> Result<PathBuf, String> {
    let scheme = if scenario.is_tls() { "https" } else { "http" };
    let (path, list) = (
        scenario.path(),
        context.workplace.path().join(format!("targets-{port}")),
    );
    let urls: String = (0..VARIED_TARGETS)
        .map(|target| format!("{scheme}://127.0.0.1:{port}{path}{target}\n"))
        .collect();
    fs::write(&list, urls)
        .map_err(|error| format!("{} cannot be written: {error}", list.display()))?;
    Ok(list)
}

/// A program with the arguments `ADDRESS|PORT [CERTIFICATE KEY]`.
fn one_port(
    context: &SubjectContext,
    scenario: Scenario,
    name: &str,
    mut command: Command,
) -> Result<Peer, String> {
    let port = free_port()?;
    match name.starts_with("Bun") {
        true => command.arg(port.to_string()),
        false => command.arg(format!("127.0.0.1:{port}")),
    };
    if scenario.is_tls() {
        command
            .arg(&context.certificate.chain)
            .arg(&context.certificate.key);
    }
    started(context, name, command, port)
}

fn quic_go(context: &SubjectContext) -> Result<Peer, String> {
    let SubjectContext {
        workplace,
        certificate,
        cores,
        ..
    } = context;
    let source = folder().join("quic-go");
    let mut peer = go_program(workplace, certificate, cores, &source)?;
    let needs = fs::read_to_string(source.join("go.mod")).unwrap_or_default();
    let version = needs.split_once("quic-go/quic-go v");
    let version = version.and_then(|(_, rest)| rest.split_whitespace().next());
    peer.name = format!("quic-go {}", version.unwrap_or("of unknown version"));
    Ok(peer)
}

fn serve(context: &SubjectContext, scenario: Scenario) -> Result<Peer, String> {
    let port = free_port()?;
    let mut command = context.cores.command(&context.programs.join("trunkline"));
    command.arg("serve").arg(context.workplace.site());
    command.args(["--test-endpoints", "--listen", &format!("127.0.0.1:{port}")]);
    if scenario.is_tls() {
        command.arg("--tls-cert").arg(&context.certificate.chain);
        command.arg("--tls-key").arg(&context.certificate.key);
        command.arg("--http3");
    }
    started(context, "trunkline serve", command, port)
}

fn started(
    context: &SubjectContext,
    name: &str,
    mut command: Command,
    port: u16,
) -> Result<Peer, String> {
    let log = context
        .workplace
        .path()
        .join(format!("{}.log", name.replace(' ', "-")));
    Ok(Peer {
        name: name.to_owned(),
        endpoints: Endpoints {
            h1: Some(port),
            h2c: port,
            tls: port,
        },
        processes: vec![Process::start(&mut command, &[port], log)?],
    })
}

/// Builds our programs and the peers in Rust; where they are.
///
/// # Errors
/// When cargo fails.
pub(crate) fn build() -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|error| format!("no path of our own: {error}"))?;
    let target = here.parent().and_then(Path::parent);
    let target = target.ok_or_else(|| format!("{} is not in a target folder", here.display()))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    eprintln!("building trunkline and the peers in Rust");
    let mut command = Command::new(cargo);
    command.args([
        "build",
        "--release",
        "--quiet",
        "-p",
        "trunkline-bench",
        "-p",
        "trunkline-cli",
    ]);
    command
        .arg("--bins")
        .arg("--target-dir")
        .arg(target)
        .current_dir(root());
    // Build scripts that watch what cargo says of a package (ring's) would run again, and
    // everything behind them would be built again.
    for (name, _) in std::env::vars_os() {
        let printed = name.to_string_lossy();
        if printed.starts_with("CARGO_PKG_") || printed.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    output_of(&mut command)?;
    Ok(target.join("release"))
}

/// Installs what `bench/peers/<package>` asks for, if `program` is not there.
///
/// # Errors
/// When npm is absent or fails.
pub(crate) fn install(package: &str, program: &str) -> Result<PathBuf, String> {
    let folder = folder().join(package);
    let program = folder.join("node_modules/.bin").join(program);
    if program.exists() {
        return Ok(program);
    }
    let mut command = Command::new(find_program("npm", "npm")?);
    command
        .args(["install", "--no-audit", "--no-fund", "--no-package-lock"])
        .current_dir(folder);
    output_of(&mut command).map(|_| program)
}

/// The output of a program's `--version`.
///
/// # Errors
/// When it cannot be started or fails.
pub(crate) fn version_of(program: &Path) -> Result<String, String> {
    output_of(Command::new(program).arg("--version")).map(|printed| printed.trim().to_owned())
}

/// A crate's version in the workspace's lock file.
pub(crate) fn locked_version(name: &str) -> &'static str {
    let lock = include_str!("../../Cargo.lock");
    let entry = lock.split_once(&format!("name = \"{name}\"\nversion = \""));
    entry
        .and_then(|(_, rest)| rest.split('"').next())
        .unwrap_or("of unknown version")
}

/// The project's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

fn folder() -> PathBuf {
    root().join("bench/peers")
}
