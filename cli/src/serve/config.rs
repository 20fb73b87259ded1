//! The configuration file of `serve` (TOML). Its keys set the same options as the flags of the command line, by one table
//! ([`keys::KEYS`]): a file makes a [`ServeOptions`], and all else works on that.

mod example;
mod file;
mod keys;
mod nearest;
pub(super) mod proxies;
pub(super) mod quic;
pub(super) mod quic_lb;
#[cfg(test)]
mod reference_test;
pub(super) mod renewal;
pub(super) mod tls;
mod value;

use super::ServeOptions;
use crate::failure::Failure;
pub(super) use example::example;
use file::ConfigFile;
use std::path::PathBuf;

/// The arguments whose options a configuration file has keys for: a setting is in one place.
pub(super) const SET_BY_FILES: [&str; 38] = [
    "directory",
    "listen",
    "redirect_from",
    "unix",
    "tls_cert",
    "tls_key",
    "tls_self_signed",
    "tls_tickets",
    "http3",
    "no_http3",
    "early_data",
    "qlog",
    "quic_secret",
    "workers",
    "proxy_protocol",
    "forwarded",
    "x_forwarded",
    "test_endpoints",
    "no_listing",
    "dot_files",
    "spa",
    "cors",
    "headers",
    "cache_control",
    "auth",
    "compress",
    "scheme_from_gateway",
    "requests_per_connection",
    "admin",
    "admin_token_file",
    "access_log",
    "access_log_format",
    "access_log_fields",
    "access_log_level",
    "access_log_bytes_max",
    "access_log_files_kept",
    "drain_delay",
    "drain",
];

/// A certificate for names.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedCertificate {
    chain: PathBuf,
    key: PathBuf,
    names: Vec<String>,
}

/// The options in force, of flags alone or of a file.
pub(crate) struct Settled {
    pub(crate) options: ServeOptions,
    /// Those of the command line.
    flags: ServeOptions,
    file: Option<ConfigFile>,
}

impl Settled {
    /// Those of the flags, or of the file that they name.
    ///
    /// # Errors
    /// Every line of the file that cannot be used.
    pub(crate) fn of(flags: ServeOptions) -> Result<Self, Failure> {
        let mut options = flags.clone();
        let file = match &flags.config {
            Some(path) => Some(ConfigFile::read(path, &mut options)?),
            None => None,
        };
        Ok(Self {
            options,
            flags,
            file,
        })
    }
    /// Those of the file as it is now.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    pub(super) fn again(&self) -> Result<Self, Failure> {
        Self::of(self.flags.clone())
    }
    /// The failure in the words of the file: its keys in the place of flags, and where the first of them is.
    pub(crate) fn located(&self, failure: Failure) -> Failure {
        match &self.file {
            Some(file) => failure.map_usage(|text| file.located(text)),
            None => failure,
        }
    }
    /// The keys whose values differ in `new` and count only after a restart.
    pub(super) fn restarts(&self, new: &Self) -> Vec<String> {
        match (&self.file, &new.file) {
            (Some(old), Some(new)) => old.restarts(new),
            _ => Vec::new(),
        }
    }
}
