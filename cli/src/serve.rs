//! `trunkline serve`: serves a directory, and test endpoints if requested.

mod answer;
mod config;
mod disk;
mod files;
#[cfg(test)]
mod folder;
mod listeners;
mod listing;
mod operate;
mod site;
mod start;

use crate::failure::{Failure, report};
use answer::policy::AnswerPolicy;
use config::proxies::Proxies;
use config::quic::{check_quic_options, quic_secret};
use config::quic_lb::QuicLbOptions;
use config::renewal::Renewal;
use config::tls::ServedTls;
use config::{NamedCertificate, Settled};
use files::{FilePolicy, Files};
use listeners::ListenTable;
use operate::access_log::AccessLog;
use operate::given::with_given;
use operate::listening::Listeners;
use operate::{OperateOptions, Operation};
use site::Site;
use start::{ServedSite, first, open_table};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use trunkline::server::MemoryBudget;
use trunkline::{Server, ServerConfig};

/// Options of `serve`, by flags or by a configuration file.
#[derive(Clone, clap::Args)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct ServeOptions {
    /// The directory to serve. Default: the current one, or nothing with --test-endpoints.
    directory: Option<PathBuf>,
    /// Read the settings from this file (TOML) in place of flags. SIGHUP reads it again: certificates, session tickets,
    /// limits and timeouts change without losing a connection; what needs a restart is named.
    #[arg(long, value_name = "FILE", conflicts_with_all = config::SET_BY_FILES)]
    config: Option<PathBuf>,
    /// Check the file of --config, and the files that it names, without serving: exit code 0, or 1 with a line for
    /// each place that cannot be used.
    #[arg(long, requires = "config")]
    check: bool,
    /// Print a configuration file that has every key, with its default and its meaning, as comments.
    #[arg(long, exclusive = true)]
    example_config: bool,
    /// Address and port; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: String,
    /// Serve on a Unix socket at this path instead, which must not exist yet; without HTTP/3.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["listen", "http3"])]
    unix: Option<PathBuf>,
    /// Redirect every request at this address and port to the same URL under https on the port of --listen, with 308.
    #[arg(long, value_name = "ADDR", conflicts_with = "unix")]
    redirect_from: Option<String>,
    /// Certificate chain, PEM. SIGHUP makes it and the key be read again, and so does a change of one of them.
    #[arg(long, requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key, PEM.
    #[arg(long, requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Serve under TLS with a fresh certificate for localhost that no other machine trusts.
    #[arg(long, conflicts_with = "tls_cert")]
    tls_self_signed: bool,
    /// A file with the keys that seal session tickets, one per line as 64 hexadecimal digits: the first seals, all of
    /// them open. Servers that share it resume each other's sessions. Read again as the certificate is.
    #[arg(long, value_name = "FILE", conflicts_with = "early_data")]
    tls_tickets: Option<PathBuf>,
    /// Connections from these addresses and networks (`10.0.0.0/8,::1`) begin with a header of the PROXY protocol, version 1
    /// or 2, and its addresses count; no others do. With --unix any entry makes every connection begin so. Not for HTTP/3.
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',')]
    proxy_protocol: Vec<String>,
    /// Requests from these addresses and networks, proxies, state their client in the field Forwarded (RFC 7239), whose address
    /// the access log has; from others the field says nothing.
    #[arg(
        long,
        value_name = "ADDRESSES",
        value_delimiter = ',',
        conflicts_with = "x_forwarded"
    )]
    forwarded: Vec<String>,
    /// As --forwarded, in X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host.
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',')]
    x_forwarded: Vec<String>,
    /// Serve HTTP/3 too, over UDP on the same port: the default under TLS.
    #[arg(long)]
    http3: bool,
    /// Under TLS without HTTP/3: no UDP port is opened.
    #[arg(long, conflicts_with_all = ["http3", "early_data", "quic_secret"])]
    no_http3: bool,
    /// Accept GET, HEAD and OPTIONS with the handshake of a resumed HTTP/3 session (0-RTT). An
    /// attacker can replay them; that is harmless for files.
    #[arg(long)]
    early_data: bool,
    /// Write the frames of HTTP/2 and HTTP/3, and what becomes of HTTP/3's packets, to this file (qlog), which qvis
    /// opens if its name ends in `.sqlog`.
    #[arg(long, visible_alias = "trace", value_name = "FILE")]
    qlog: Option<PathBuf>,
    /// A secret file of 32 bytes or more, from which the keys of HTTP/3's stateless resets are derived: a
    /// server that starts again with the same file and as many workers tells the clients of the one
    /// before it in one round trip that their connections are gone. Default: derived from the private
    /// key of --tls-key, with the same effect; --tls-self-signed has a new key at each start. Servers
    /// with the same key that may get each other's packets need a file of their own each.
    #[arg(long, value_name = "FILE")]
    quic_secret: Option<PathBuf>,
    /// Threads that serve; 0 means one per processor.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=1024))]
    workers: u16,
    /// Answer /bytes/N, /delay/MS, /echo and /status/N.
    #[arg(long)]
    test_endpoints: bool,
    /// Answer 404 for a directory without index.html instead of a listing.
    #[arg(long)]
    no_listing: bool,
    /// Serve and list files and directories too whose name begins with a dot, as .git and .env.
    /// Without it they are not there, except for /.well-known (RFC 8615).
    #[arg(long)]
    dot_files: bool,
    /// Answer a path without a file, whose last part has no dot, with the index.html of the directory served, as
    /// applications of one page that have routes of their own need it.
    #[arg(long)]
    spa: bool,
    /// Let pages of this origin read what is served (CORS), of every origin without a value.
    #[arg(long, value_name = "ORIGIN", num_args = 0..=1, require_equals = true, default_missing_value = "*")]
    cors: Option<String>,
    /// A field of every response, `name: value`, in place of the server's own; may be repeated.
    #[arg(short = 'H', long = "header")]
    headers: Vec<String>,
    /// The field cache-control of every response, for example no-store or max-age=3600.
    #[arg(long, value_name = "VALUE")]
    cache_control: Option<String>,
    /// Ask for these credentials, `user:password` (Basic authentication; in cleartext others can read them).
    #[arg(long, value_name = "USER:PASSWORD")]
    auth: Option<String>,
    /// Compress responses of text and the like for clients that accept it: br, gzip or zstd. Files beside
    /// which a compressed one lies (.br, .gz, .zst) are served from that in any case.
    #[arg(long)]
    compress: bool,
    /// Open what is served in a browser, once the port is open.
    #[arg(long, conflicts_with = "unix")]
    open: bool,
    /// Every peer is a gateway that ends TLS: take `http` and `https` requests as they say, whatever
    /// the connection is. Without it, 421 for those that say another scheme than the connection's.
    #[arg(long)]
    scheme_from_gateway: bool,
    /// Requests on one connection before it is drained (GOAWAY, `connection: close`); 0: no limit.
    #[arg(long, default_value_t = trunkline::core::limits::REQUESTS_PER_CONNECTION_MAX)]
    requests_per_connection: u64,
    #[command(flatten)]
    operate: OperateOptions,
    /// Certificates of names, which a file alone has.
    #[arg(skip)]
    certificates: Vec<NamedCertificate>,
    /// The addresses beside the first, which a file alone has.
    #[arg(skip)]
    listeners: Vec<ListenTable>,
    /// The file is read again when it changes.
    #[arg(skip)]
    reload_on_change: bool,
    /// The first address is not under TLS.
    #[arg(skip)]
    in_clear: bool,
    /// Settings of the library, which a file alone has.
    #[arg(skip)]
    server: ServerConfig,
    #[arg(skip)]
    quic_lb: QuicLbOptions,
}

/// Serves until SIGINT or SIGTERM, then drains.
pub(crate) fn run(flags: ServeOptions) -> Result<(), Failure> {
    if let Some(started) = crate::system::next_process::pass_on() {
        return started;
    }
    if flags.example_config {
        return print_example();
    }
    let is_check = flags.check;
    let settled = Settled::of(flags);
    if is_check {
        return settled
            .and_then(|settled| check(&settled))
            .map_err(Failure::unusable);
    }
    let settled = settled?;
    let prepared = Prepared::of(&settled.options).map_err(|why| settled.located(why))?;
    prepared.warn();
    let log = AccessLog::of(&settled.options.operate).map_err(|why| settled.located(why))?;
    serve(settled, prepared, log.map(Arc::new))
}

fn print_example() -> Result<(), Failure> {
    let mut out = std::io::stdout();
    let printed = out.write_all(config::example().as_bytes());
    let printed = printed.and_then(|()| out.flush());
    printed.map_err(|error| Failure::output("standard output", &error))
}

/// The parts of a server that are made of its options alone, before anything is opened.
struct Prepared {
    site: Site,
    tls: Option<ServedTls>,
    walks: bool,
}

impl Prepared {
    fn of(options: &ServeOptions) -> Result<Self, Failure> {
        let files = directory(options)?
            .map(|root| Files::new(&root, policy(options)))
            .transpose()?;
        let tls = ServedTls::of(options)?;
        check_quic_options(options, tls.is_some())?;
        listeners::check(options, tls.is_some())?;
        Proxies::of(options)?;
        let policy = AnswerPolicy::of(options)?;
        Ok(Self {
            walks: files.as_ref().is_some_and(Files::are_walked),
            site: Site::new(files, options.test_endpoints, policy),
            tls,
        })
    }
    fn warn(&self) {
        // Other systems never have it.
        if self.walks && cfg!(target_os = "linux") {
            warn(
                "openat2 is not there (Linux 5.6 and newer have it, some container profiles forbid it): \
                 paths are opened component by component, which is as safe and slower",
            );
        }
        if self.tls.as_ref().is_some_and(ServedTls::is_nameless) {
            warn(
                "the certificate names no host (it has no subjectAltName): clients will refuse it",
            );
        }
    }
}

/// All that can be found out about the options without opening a port or a log.
fn check(settled: &Settled) -> Result<(), Failure> {
    let options = &settled.options;
    let check = || {
        Prepared::of(options)?;
        quic_secret(options)?;
        options.quic_lb.settings()?;
        options.operate.check()?;
        let unbound = Server::detached().config(config(options)).listen();
        unbound.map_err(refused).map(|_| ())
    };
    check().map_err(|why| settled.located(why))
}

/// Opens the sockets, and serves to the end.
fn serve(settled: Settled, prepared: Prepared, log: Option<Arc<AccessLog>>) -> Result<(), Failure> {
    let Prepared { site, tls, .. } = prepared;
    let is_secured = tls.is_some() && !settled.options.in_clear;
    let scheme = if is_secured { "https" } else { "http" };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format_args!("cannot start: {error}")))?;
    let options = settled.options.clone();
    let written = log.clone();
    let served = with_given(&options, |mut given| {
        runtime.block_on(async {
            let operation = Operation::new(&options, log.clone());
            let operation = operation.map_err(|why| settled.located(why))?;
            let (renewed, renewals) = tokio::sync::mpsc::unbounded_channel();
            let renewal = Renewal::new(settled, tls, log.clone(), renewed)?;
            let located = |why| renewal.started().located(why);
            let tls = renewal.tls().cloned();
            let shared = ServedSite {
                site,
                log: log.clone(),
                memory: MemoryBudget::new(&config(&options)),
            };
            let secured = tls.as_ref().filter(|_| !options.in_clear);
            let first = first(&options, secured, &shared, &mut given);
            let first = first.map_err(located)?;
            let address = first.address();
            let configured = first.config_handle();
            let https_port = Arc::<AtomicU16>::default();
            let port = Arc::clone(&https_port);
            let opener = move |options: &ServeOptions, table: &ListenTable, sockets| {
                let secured = tls.as_ref().filter(|_| table.is_secured(true));
                open_table(options, table, sockets, (secured, &port), &shared)
            };
            let listeners = Listeners::start(
                &options,
                (first, https_port),
                |table| given.take_other(table),
                Box::new(opener),
            );
            let listeners = listeners.map_err(located)?;
            let place = match address {
                Some(address) => format!("{scheme}://{address}"),
                None => {
                    let path = given.unix(&options).unwrap_or_default();
                    format!("{scheme} at {}", path.display())
                }
            };
            let opens = options.open && address.is_some();
            let announce = || {
                print_address(&place);
                if opens {
                    open(&place);
                }
            };
            let renews = renewal.renews();
            let renewal = renewal.run(operation.notify(), configured);
            let renewal = (renewal, renews, renewals);
            operation.run(listeners, given, renewal, announce).await
        })
    });
    if let Some(log) = written {
        log.finish();
    }
    served
}

/// Prints the listening address. The parent process may wait for this line, so it must not stay in
/// a buffer.
fn print_address(place: impl std::fmt::Display) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "listening on {place}").and_then(|()| out.flush());
}

/// Gives the URL to the program of the system that opens URLs. The server serves without it.
fn open(url: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let Err(error) = command.spawn() else { return };
    warn(format_args!("{program} cannot be started: {error}"));
}

fn refused(error: trunkline::Error) -> Failure {
    Failure::usage(format_args!("{error:#}"))
}

/// One line for people; the server goes on.
fn warn(text: impl std::fmt::Display) {
    report!("trunkline: warning: {text}");
}

fn config(options: &ServeOptions) -> ServerConfig {
    let config = options.server.clone();
    let mut config = config.with_scheme_from_gateway(options.scheme_from_gateway);
    config.limits.requests_per_connection_max = match options.requests_per_connection {
        0 => u64::MAX,
        requests => requests,
    };
    config
}

fn policy(options: &ServeOptions) -> FilePolicy {
    FilePolicy {
        listings: !options.no_listing,
        dot_files: options.dot_files,
        spa: options.spa,
    }
}

/// The directory to serve: the named one; without one the current directory, unless only the test
/// endpoints were requested.
fn directory(options: &ServeOptions) -> Result<Option<PathBuf>, Failure> {
    match (&options.directory, options.test_endpoints) {
        (Some(directory), _) => Ok(Some(directory.clone())),
        (None, true) => Ok(None),
        (None, false) => std::env::current_dir().map(Some).map_err(|error| {
            Failure::usage(format_args!(
                "the current directory cannot be served: {error}"
            ))
        }),
    }
}

/// Where `SSLKEYLOGFILE` asks for the secrets of TLS sessions to be written.
pub(crate) fn key_log() -> Option<PathBuf> {
    std::env::var_os("SSLKEYLOGFILE")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}
