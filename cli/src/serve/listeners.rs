//! The addresses that a server listens on: of flags, and of the tables `[[listen]]` of a file.

use super::ServeOptions;
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
    pub(in crate::serve) fn is_local(&self) -> Result<bool, Failure> {
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

/// A table `[[listen]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListenTable {
    pub(in crate::serve) address: Option<ListenAddress>,
    /// `None`: under TLS, if there is a certificate.
    pub(in crate::serve) tls: Option<bool>,
    /// Requests are redirected to https.
    pub(in crate::serve) redirect: bool,
}

impl ListenTable {
    /// Whether the address is under TLS, where `has_tls`: the server has a certificate.
    pub(in crate::serve) fn is_secured(&self, has_tls: bool) -> bool {
        has_tls && !self.redirect && self.tls != Some(false)
    }
}

/// All addresses, the site's first.
pub(super) fn all(options: &ServeOptions) -> Vec<ListenTable> {
    let address = match &options.unix {
        Some(path) => ListenAddress::Unix(path.clone()),
        None => ListenAddress::Port(options.listen.clone()),
    };
    let first = ListenTable {
        address: Some(address),
        // As a table says it that needs nothing said.
        tls: options.in_clear.then_some(false),
        redirect: false,
    };
    [first].into_iter().chain(others(options)).collect()
}

/// The addresses beside the first.
pub(super) fn others(options: &ServeOptions) -> Vec<ListenTable> {
    let redirect = options.redirect_from.as_ref().map(|address| ListenTable {
        address: Some(ListenAddress::Port(address.clone())),
        tls: None,
        redirect: true,
    });
    redirect
        .into_iter()
        .chain(options.listeners.clone())
        .collect()
}

/// Takes the first table of a file, which is what `listen` is.
///
/// # Errors
/// The table that cannot be used, and why.
pub(super) fn settle(options: &mut ServeOptions, places: &[usize]) -> Result<(), (usize, String)> {
    if options.listeners.is_empty() {
        return Ok(());
    }
    for (number, (table, at)) in options.listeners.iter().zip(places).enumerate() {
        let why = match &table.address {
            None => "[[listen]] has no address: name host:port or unix:PATH",
            Some(_) if table.redirect && number == 0 => {
                "the first [[listen]] is that of the site, to which others redirect: put it behind"
            }
            Some(ListenAddress::Unix(_)) if table.redirect => {
                "a Unix socket redirects nobody: take host:port, or leave redirect out"
            }
            Some(_) if table.redirect && table.tls.is_some() => {
                "redirect is true, and redirects are in cleartext: leave tls out"
            }
            Some(address)
                if options.listeners[..number]
                    .iter()
                    .any(|it| it.address.as_ref() == Some(address)) =>
            {
                "two [[listen]] have this address"
            }
            Some(_) => continue,
        };
        return Err((*at, why.to_owned()));
    }
    let first = options.listeners.remove(0);
    options.in_clear = first.tls == Some(false);
    match first.address {
        Some(ListenAddress::Port(address)) => options.listen = address,
        Some(ListenAddress::Unix(path)) => options.unix = Some(path),
        None => {}
    }
    Ok(())
}

/// Checks that TLS is there for what needs it.
pub(super) fn check(options: &ServeOptions, has_tls: bool) -> Result<(), Failure> {
    if options.redirect_from.is_some() {
        if !has_tls || options.in_clear {
            return Err(Failure::usage(
                "--redirect-from needs TLS: add --tls-self-signed, or --tls-cert and --tls-key",
            ));
        }
        if options.unix.is_some() {
            return Err(Failure::usage(
                "--redirect-from needs a port to redirect to, and the site is on a Unix socket",
            ));
        }
    }
    for table in &options.listeners {
        let shown = table.address.as_ref().map(ToString::to_string);
        let shown = shown.unwrap_or_default();
        if table.redirect && (!has_tls || options.in_clear || options.unix.is_some()) {
            return Err(Failure::usage(format_args!(
                "{shown} redirects to https, and the first [[listen]] is no port under TLS"
            )));
        }
        if table.tls == Some(true) && !has_tls {
            return Err(Failure::usage(format_args!(
                "{shown} is to be under TLS, and there is no [[certificate]]"
            )));
        }
    }
    Ok(())
}
