//! The options of the route to the server: proxies, addresses, sockets.

mod connect_to;
pub(super) mod netrc;
pub(super) mod redirects;
mod resolve;
pub(super) mod retries;
pub(super) mod tries;

use super::exit;
use super::given::basic;
use crate::failure::Failure;
use crate::system::through_unix_socket;
use http::Uri;
use std::env::var_os;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use trunkline::client::{ClientBuilder, ClientTls};

/// Flags that say how the server is reached.
#[derive(clap::Args)]
pub(super) struct RouteOptions {
    /// Go through this proxy (http, https, socks5 or socks5h) instead of the environment's
    /// (http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY).
    #[arg(short = 'x', long, value_name = "URL")]
    proxy: Option<String>,
    /// Basic authentication at the proxy, `user:password`; also as `http://user:password@proxy`.
    #[arg(short = 'U', long, value_name = "USER:PASSWORD")]
    proxy_user: Option<String>,
    /// Ask an HTTP proxy for a tunnel (CONNECT) for http URLs too.
    #[arg(short = 'p', long)]
    proxytunnel: bool,
    /// Hosts reached without a proxy, separated by commas; * for all.
    #[arg(long, value_name = "HOSTS")]
    noproxy: Option<String>,
    /// Do not verify the certificate of an https proxy.
    #[arg(long)]
    proxy_insecure: bool,
    /// Connect to ADDRESS for this host (`*` for any) and port, an IPv6 address in brackets, further ones behind commas;
    /// `-HOST:PORT` takes an entry away; may be repeated.
    #[arg(long, value_name = "HOST:PORT:ADDRESS")]
    resolve: Vec<String>,
    /// Connect to HOST2 and PORT2 in place of HOST1 and PORT1, which the URL names; empty parts stand for any or
    /// for those of the URL; may be repeated.
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2")]
    connect_to: Vec<String>,
    /// Only addresses of IPv4.
    #[arg(short = '4', long, overrides_with = "ipv6")]
    ipv4: bool,
    /// Only addresses of IPv6.
    #[arg(short = '6', long, overrides_with = "ipv4")]
    ipv6: bool,
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
            // No proxy, whatever the environment says.
            Some(url) if url.is_empty() => client,
            Some(url) => client.proxy(url),
            // As curl, for which HTTP_PROXY may be what a CGI program's client sent.
            None => {
                client.proxy_from_variables(|name| var_os(name).filter(|_| name != "HTTP_PROXY"))
            }
        };
        client = client.proxy_always_tunnels(self.proxytunnel);
        if let Some(user) = &self.proxy_user {
            let value = basic("-U", user)?;
            client = client.proxy_authorization(value.to_str().unwrap_or_default());
        }
        if let Some(hosts) = &self.noproxy {
            client = client.no_proxy(hosts);
        }
        if self.proxy_insecure {
            client = client.proxy_tls(ClientTls::new().insecure());
        }
        if let Some(path) = &self.unix_socket {
            client = through_unix_socket(client, path)?;
        }
        if let Some(address) = self.interface.or(self.family()) {
            client = client.local_address(address);
        }
        connect_to::apply(client, &self.connect_to, resolve::pins(&self.resolve)?)
    }
}

impl RouteOptions {
    /// The family of -4 or -6, as an address that is none.
    fn family(&self) -> Option<IpAddr> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(Ipv4Addr::UNSPECIFIED.into()),
            (_, true) => Some(Ipv6Addr::UNSPECIFIED.into()),
            _ => None,
        }
    }
    /// Checks that a URL with an address in it has one of that family.
    ///
    /// # Errors
    /// It has one of the other.
    pub(super) fn check(&self, uri: &Uri) -> Result<(), Failure> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        match (self.family(), host.parse::<IpAddr>()) {
            (Some(family), Ok(address)) if family.is_ipv4() != address.is_ipv4() => {
                let flag = if family.is_ipv4() { "-4" } else { "-6" };
                let text = format!("{address} is no address of the family of {flag}");
                Err(Failure::new(exit::CONNECT, text))
            }
            _ => Ok(()),
        }
    }
}
