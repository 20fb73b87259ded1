//! The options of the route to the server: proxies, addresses, sockets.

use crate::failure::Failure;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use trunkline::client::{ClientBuilder, ClientTls};

/// Flags that say how the server is reached.
#[derive(clap::Args)]
pub(super) struct RouteOptions {
    /// Go through this proxy (http, https, socks5 or socks5h) instead of the environment's
    /// (http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY).
    #[arg(short = 'x', long, value_name = "URL")]
    proxy: Option<String>,
    /// Hosts reached without a proxy, separated by commas; * for all.
    #[arg(long, value_name = "HOSTS")]
    noproxy: Option<String>,
    /// Do not verify the certificate of an https proxy.
    #[arg(long)]
    proxy_insecure: bool,
    /// Connect to ADDRESS for this host and port, an IPv6 address in brackets; may be repeated.
    #[arg(long, value_name = "HOST:PORT:ADDRESS")]
    resolve: Vec<String>,
    /// Connect through this Unix socket.
    #[arg(long, value_name = "PATH")]
    unix_socket: Option<PathBuf>,
    /// Connect from this address.
    #[arg(long, value_name = "IP")]
    interface: Option<IpAddr>,
}

impl RouteOptions {
    /// Puts the flags into a client's settings.
    pub(super) fn apply(&self, mut client: ClientBuilder) -> Result<ClientBuilder, Failure> {
        client = match &self.proxy {
            Some(url) => client.proxy(url),
            None => client.proxy_from_env(),
        };
        if let Some(hosts) = &self.noproxy {
            client = client.no_proxy(hosts);
        }
        if self.proxy_insecure {
            client = client.proxy_tls(ClientTls::new().insecure());
        }
        if let Some(path) = &self.unix_socket {
            client = client.unix_socket(path);
        }
        if let Some(address) = self.interface {
            client = client.local_address(address);
        }
        for line in &self.resolve {
            let (host, address) = resolve(line)?;
            client = client.resolve(host, [address]);
        }
        Ok(client)
    }
}

/// `host:port:address`.
fn resolve(line: &str) -> Result<(&str, SocketAddr), Failure> {
    let refuse = |why: &str| {
        Failure::usage(format_args!(
            "--resolve {line:?}: {why}; write it as host:port:address, like \
             example.org:443:127.0.0.1 or example.org:443:[::1]"
        ))
    };
    let mut parts = line.splitn(3, ':');
    let (Some(host), Some(port), Some(address)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(refuse("a part is missing"));
    };
    if host.is_empty() {
        return Err(refuse("the host is empty"));
    }
    let port: u16 = port
        .parse()
        .ok()
        .filter(|&port| port != 0)
        .ok_or_else(|| refuse("the port must be 1 to 65535"))?;
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let address: IpAddr = address
        .parse()
        .map_err(|_| refuse("the address is not an IP address"))?;
    Ok((host, SocketAddr::new(address, port)))
}

#[cfg(test)]
#[path = "route_test.rs"]
mod route_test;
