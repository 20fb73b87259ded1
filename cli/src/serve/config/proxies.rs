//! The proxies in front of the server that are trusted about their clients.

use crate::failure::Failure;
use crate::serve::ServeOptions;
use trunkline::TrustedPeers;
use trunkline::server::Forwarding;

/// The peers that are trusted about their clients' addresses.
pub(in crate::serve) struct Proxies {
    pub(in crate::serve) protocol: Option<TrustedPeers>,
    pub(in crate::serve) forwarding: Option<Forwarding>,
}

impl Proxies {
    pub(in crate::serve) fn of(options: &ServeOptions) -> Result<Self, Failure> {
        let standard = trusted("--forwarded", &options.forwarded)?.map(Forwarding::standard);
        let x_forwarded = trusted("--x-forwarded", &options.x_forwarded)?;
        Ok(Self {
            protocol: trusted("--proxy-protocol", &options.proxy_protocol)?,
            forwarding: standard.or_else(|| x_forwarded.map(Forwarding::x_forwarded)),
        })
    }
}

/// The peers that a flag lists, if any.
fn trusted(flag: &str, listed: &[String]) -> Result<Option<TrustedPeers>, Failure> {
    if listed.is_empty() {
        return Ok(None);
    }
    TrustedPeers::parse(listed)
        .map(Some)
        .map_err(|error| Failure::usage(format_args!("{flag}: {error:#}")))
}
