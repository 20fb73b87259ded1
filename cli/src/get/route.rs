//! The options of the route to the server: proxies, addresses, sockets.

mod connect_to;
pub(super) mod netrc;
pub(super) mod redirects;
mod resolve;
pub(super) mod retries;
pub(super) mod slow;
pub(super) mod tries;
pub(super) mod url;

use super::body::UNRESERVED;
use super::exit;
use super::given::{basic, field_lines};
use crate::failure::Failure;
use crate::system::through_unix_socket;
use crate::target;
use http::Uri;
use http::header::USER_AGENT;
use percent_encoding::utf8_percent_encode;
use std::borrow::Cow;
use std::env::var_os;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::time::Duration;
use trunkline::client::{ClientBuilder, ClientTls};
use trunkline::core::proxy::ProxyHeaderVersion;

/// Flags that say how the server is reached.
#[derive(clap::Args)]
pub(super) struct RouteOptions {
    /// Go through this proxy (http, https, socks5 or socks5h) instead of the environment's
    /// (http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY).
    #[arg(short = 'x', long, value_name = "URL", overrides_with_all = ["socks5", "socks5_hostname"])]
    proxy: Option<String>,
    /// Go through this proxy of SOCKS5, as -x socks5://HOST:PORT: names are looked up here.
    #[arg(long, value_name = "HOST:PORT", overrides_with_all = ["proxy", "socks5_hostname"])]
    socks5: Option<String>,
    /// Go through this proxy of SOCKS5, as -x socks5h://HOST:PORT: the proxy looks names up.
    #[arg(long, value_name = "HOST:PORT", overrides_with_all = ["proxy", "socks5"])]
    socks5_hostname: Option<String>,
    /// Authentication at the proxy, `user:password`, Basic or that of SOCKS5; also as `http://user:password@proxy`.
    #[arg(short = 'U', long, value_name = "USER:PASSWORD")]
    proxy_user: Option<String>,
    /// Ask an HTTP proxy for a tunnel (CONNECT) for http URLs too.
    #[arg(short = 'p', long)]
    proxytunnel: bool,
    /// A field for the proxy, `name: value`, on what goes to it: requests for http URLs and for tunnels. May be repeated.
    #[arg(long, value_name = "FIELD")]
    proxy_header: Vec<String>,
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
    /// Seconds for which a connection may be silent until the system asks the peer whether it is there.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=32_767))]
    keepalive_time: Option<u64>,
    /// The head start in milliseconds that an address of IPv6 has over the next one, in place of 250.
    #[arg(long, value_name = "MILLISECONDS", value_parser = clap::value_parser!(u64).range(10..=2_000))]
    happy_eyeballs_timeout_ms: Option<u64>,
    /// Begin each connection with a header of the PROXY protocol, version 1.
    #[arg(long)]
    haproxy_protocol: bool,
}

impl RouteOptions {
    /// Puts the flags into a client's settings; `agent`: its name, which may be empty.
    pub(super) fn apply(
        &self,
        mut client: ClientBuilder,
        agent: &str,
    ) -> Result<ClientBuilder, Failure> {
        client = match self.proxy_url() {
            // No proxy, whatever the environment says.
            Some(url) if url.is_empty() => client,
            Some(url) => client.proxy(&self.with_user(&url)),
            None => client.proxy_from_variables(|name| self.variable(name)),
        };
        client = client.proxy_always_tunnels(self.proxytunnel);
        if let Some(user) = &self.proxy_user {
            let value = basic("-U", user)?;
            client = client.proxy_authorization(value.to_str().unwrap_or_default());
        }
        client = self.name_to_proxy(client, agent)?;
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
        if let Some(seconds) = self.keepalive_time {
            client = client.tcp_keepalive(Duration::from_secs(seconds));
        }
        if let Some(time) = self.happy_eyeballs_timeout_ms {
            client = client.attempt_delay(Duration::from_millis(time));
        }
        if self.haproxy_protocol {
            client = client.proxy_protocol(ProxyHeaderVersion::V1);
        }
        connect_to::apply(client, &self.connect_to, resolve::pins(&self.resolve)?)
    }
}

impl RouteOptions {
    /// The proxy, by the flag that was given last.
    fn proxy_url(&self) -> Option<Cow<'_, str>> {
        let socks = |scheme: &str, host: &String| match host.contains("://") {
            true => host.clone(),
            false => format!("{scheme}://{host}"),
        };
        let local = self.socks5.as_ref().map(|host| socks("socks5", host));
        let remote = self.socks5_hostname.as_ref();
        let remote = remote.map(|host| socks("socks5h", host));
        let url = self.proxy.as_deref().map(Cow::Borrowed);
        url.or(local.or(remote).map(Cow::Owned))
    }
    /// A variable of the environment, but not HTTP_PROXY: as for curl, it may be what a CGI program's client sent.
    fn variable(&self, name: &str) -> Option<OsString> {
        let value = var_os(name).filter(|_| name != "HTTP_PROXY")?;
        match value.to_str() {
            Some(url) => Some(self.with_user(url).into_owned().into()),
            None => Some(value),
        }
    }
    /// The URL of a proxy with the user of -U, where it is one of SOCKS, whose credentials are in its URL.
    fn with_user<'a>(&self, url: &'a str) -> Cow<'a, str> {
        let user = self.proxy_user.as_deref();
        let user = user.and_then(|user| user.split_once(':'));
        let parts = url.split_once("://").zip(user);
        match parts {
            Some(((scheme, host), (user, password)))
                if scheme.to_ascii_lowercase().starts_with("socks5") && !host.contains('@') =>
            {
                let encoded = |text| utf8_percent_encode(text, &UNRESERVED);
                let (user, password) = (encoded(user), encoded(password));
                Cow::Owned(format!("{scheme}://{user}:{password}@{host}"))
            }
            _ => Cow::Borrowed(url),
        }
    }
    /// Adds the fields for the proxy: a request for a tunnel names its sender as the others do.
    fn name_to_proxy(
        &self,
        mut client: ClientBuilder,
        agent: &str,
    ) -> Result<ClientBuilder, Failure> {
        let mut names_itself = !agent.is_empty();
        for given in &self.proxy_header {
            for line in field_lines(given)? {
                let (name, value) = target::field(&line)?;
                names_itself &= name != USER_AGENT;
                // `name:` takes away what would be sent.
                if !value.is_empty() {
                    let value = String::from_utf8_lossy(value.as_bytes());
                    client = client.proxy_header(name.as_str(), &value);
                }
            }
        }
        Ok(match names_itself {
            true => client.proxy_header(USER_AGENT.as_str(), agent),
            false => client,
        })
    }
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
