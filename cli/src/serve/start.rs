//! Starts the servers of the addresses of `trunkline serve`, on sockets of their own or of another process.

use super::answer::compressed::compressed;
use super::answer::redirect;
use super::config::proxies::Proxies;
use super::config::quic::with_quic_options;
use super::config::tls::ServedTls;
use super::listeners::{ListenAddress, ListenTable};
use super::operate::access_log::AccessLog;
use super::operate::given::GivenSockets;
use super::operate::listening::Listening;
use super::site::Site;
use super::{ServeOptions, config, refused, warn};
use crate::failure::Failure;
use crate::system::{Sockets, on_sockets, on_unix_socket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use trunkline::Server;
use trunkline::server::MemoryBudget;

/// Serves the site, under a layer that compresses if that is wanted.
macro_rules! served {
    ($server:expr, $options:expr, $site:expr) => {
        match $options.compress {
            true => $server.serve(compressed($site)),
            false => $server.serve($site),
        }
        .map_err(refused)
    };
}

/// The parts that the servers of all addresses share.
pub(super) struct ServedSite {
    pub(super) site: Site,
    pub(super) log: Option<Arc<AccessLog>>,
    pub(super) memory: MemoryBudget,
}

/// The options that every server has.
fn with_options<P>(
    server: Server<P>,
    options: &ServeOptions,
    tls: Option<&ServedTls>,
    shared: &ServedSite,
) -> Result<Server<P>, Failure> {
    let mut server = server
        .memory_budget(&shared.memory)
        .workers(usize::from(options.workers))
        .keep_targets(options.operate.admin.is_some())
        .config(config(options));
    if options.operate.admin.is_some() {
        server = server.keep_timelines(options.operate.slow);
    }
    if let Some(tls) = tls {
        server = server.tls(tls.shared());
    }
    if let Some(path) = &options.qlog {
        server = server.qlog(path).map_err(refused)?;
    }
    if let Some(log) = shared.log.clone() {
        server = server.access_log(move |access| log.report(access));
    }
    let proxies = Proxies::of(options)?;
    if let Some(from) = proxies.protocol {
        server = server.proxy_protocol(from);
    }
    if let Some(forwarding) = proxies.forwarding {
        server = server.forwarding(forwarding);
    }
    Ok(server)
}

/// Starts the server of the first address.
pub(super) fn first(
    options: &ServeOptions,
    tls: Option<&ServedTls>,
    shared: &ServedSite,
    given: &mut GivenSockets,
) -> Result<Listening, Failure> {
    if let Some(path) = given.unix(options) {
        return start_unix(&path, given.site()?, (options, tls, shared));
    }
    let http3 = tls.is_some() && !options.no_http3;
    if !http3 {
        given.leave_udp();
    }
    let start = |given: &GivenSockets, http3: bool| {
        let address = options.listen.as_str();
        start(address, given.site()?, (options, tls, shared), http3)
    };
    with_or_without_http3(http3, |http3| {
        if !http3 {
            given.leave_udp();
        }
        start(given, http3)
    })
}

/// Starts the server of a table: of another address than the first, or of the first one by a file that was read again.
pub(super) fn open_table(
    options: &ServeOptions,
    table: &ListenTable,
    sockets: Option<Sockets>,
    (tls, https_port): (Option<&ServedTls>, &Arc<AtomicU16>),
    shared: &ServedSite,
) -> Result<Listening, Failure> {
    let duplicate = |sockets: &Option<Sockets>| {
        let duplicate = sockets.as_ref().map(Sockets::try_clone).transpose();
        duplicate
            .map_err(|error| Failure::usage(format_args!("a socket cannot be duplicated: {error}")))
    };
    match &table.address {
        Some(ListenAddress::Unix(path)) => start_unix(path, sockets, (options, tls, shared)),
        Some(ListenAddress::Port(address)) if table.redirect => {
            let server = match sockets {
                Some(sockets) => on_sockets(sockets),
                None => Server::bind(address.as_str()),
            };
            let server = with_options(server, options, None, shared)?.workers(1);
            redirect::serve(server, Arc::clone(https_port)).map(Listening::Port)
        }
        Some(ListenAddress::Port(address)) => {
            let http3 = tls.is_some() && !options.no_http3;
            with_or_without_http3(http3, |http3| {
                let sockets = duplicate(&sockets)?;
                let sockets = match http3 {
                    true => sockets,
                    false => sockets.map(Sockets::without_udp),
                };
                start(address, sockets, (options, tls, shared), http3)
            })
        }
        None => Err(Failure::usage("[[listen]] has no address")),
    }
}

/// Where HTTP/3 is what cannot be had, the rest is served and a line says so: a UDP port that another program holds must not
/// take the site away.
fn with_or_without_http3(
    http3: bool,
    mut start: impl FnMut(bool) -> Result<Listening, Failure>,
) -> Result<Listening, Failure> {
    match start(http3) {
        Err(why) if http3 => {
            let Ok(running) = start(false) else {
                return Err(why);
            };
            warn(format_args!("serving without HTTP/3: {why}"));
            Ok(running)
        }
        started => started,
    }
}

/// The parts that every address is served by.
type Parts<'a> = (&'a ServeOptions, Option<&'a ServedTls>, &'a ServedSite);

/// Serves the site on a port.
fn start(
    address: &str,
    sockets: Option<Sockets>,
    (options, tls, shared): Parts<'_>,
    http3: bool,
) -> Result<Listening, Failure> {
    let server = match sockets {
        Some(sockets) => on_sockets(sockets),
        None => Server::bind(address),
    };
    let mut server = with_options(server.http3(http3), options, tls, shared)?;
    if http3 {
        server = with_quic_options(server, options)?;
    }
    served!(server, options, shared.site.clone()).map(Listening::Port)
}

/// Serves the site on a Unix socket.
fn start_unix(
    path: &Path,
    sockets: Option<Sockets>,
    (options, tls, shared): Parts<'_>,
) -> Result<Listening, Failure> {
    let server = on_unix_socket(path, sockets, false)?;
    let server = with_options(server, options, tls, shared)?;
    served!(server, options, shared.site.clone()).map(Listening::Unix)
}
