//! An address of flags that is either a port or a Unix socket.

use crate::failure::Failure;
use std::fmt;
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::str::FromStr;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListenAddress {
    /// `host:port`.
    Port(String),
    /// `unix:PATH`.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Whether no other machine reaches it: every address that its host has is loopback's.
    pub(super) fn is_local(&self) -> Result<bool, Failure> {
        let Self::Port(address) = self else {
            return Ok(true);
        };
        let found = address.to_socket_addrs().map_err(|error| {
            Failure::usage(format_args!("{address} cannot be resolved: {error}"))
        })?;
        Ok(found.into_iter().all(|found| found.ip().is_loopback()))
    }
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path.is_empty() {
                true => Err("unix: needs a path behind it".to_owned()),
                false => Ok(Self::Unix(PathBuf::from(path))),
            };
        }
        let port = text.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        match port {
            Some(Ok(_)) => Ok(Self::Port(text.to_owned())),
            _ => Err("write host:port, for example 127.0.0.1:9901, or unix:PATH".to_owned()),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(address) => f.write_str(address),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
