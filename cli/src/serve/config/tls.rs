//! The certificates and session ticket keys of `serve`, as its options name them, read once and again.

use super::NamedCertificate;
use crate::failure::Failure;
use crate::serve::{ServeOptions, key_log, refused};
use std::path::{Path, PathBuf};
use trunkline::{Error, TicketKeys, Tls};

/// Names in a certificate made by `--tls-self-signed`.
const SELF_SIGNED_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The certificates of a server, and the keys that seal its sessions. Clones share them.
#[derive(Clone)]
pub(in crate::serve) struct ServedTls {
    tls: Tls,
    tickets: Option<TicketKeys>,
}

impl ServedTls {
    /// `None`: the options have no certificate.
    pub(in crate::serve) fn of(options: &ServeOptions) -> Result<Option<Self>, Failure> {
        let Some(tls) = certificates(options)? else {
            return match options.tls_tickets {
                Some(_) => Err(Failure::usage(
                    "--tls-tickets needs TLS: add --tls-self-signed, or --tls-cert and --tls-key",
                )),
                None => Ok(None),
            };
        };
        let (mut tls, tickets) = (tls, tickets(options)?);
        if let Some(tickets) = &tickets {
            tls = tls.ticket_keys(tickets);
        }
        if let Some(path) = key_log() {
            tls = tls.key_log(path).map_err(refused)?;
        }
        Ok(Some(Self { tls, tickets }))
    }
    /// Its settings, which stay its own.
    pub(in crate::serve) fn shared(&self) -> Tls {
        self.tls.clone()
    }
    /// Whether its certificate names no host.
    pub(in crate::serve) fn is_nameless(&self) -> bool {
        self.tls.is_nameless()
    }
    /// Reads again all files that `options` names. Nothing changes unless all of them can be used.
    ///
    /// # Errors
    /// The file that cannot.
    pub(super) fn renew(&self, options: &ServeOptions) -> Result<(), Failure> {
        let new = match options.tls_self_signed {
            // It is no file, and stays.
            true => None,
            false => certificates(options)?,
        };
        if let Some((keys, path)) = self.tickets.as_ref().zip(options.tls_tickets.as_ref()) {
            keys.read_again(path).map_err(ticket_failure)?;
        }
        match new {
            Some(new) => self.tls.set_certificates_of(&new).map_err(refused),
            None => Ok(()),
        }
    }
}

/// The files that a change of counts at once.
pub(super) fn files(options: &ServeOptions) -> Vec<PathBuf> {
    let own = [&options.tls_cert, &options.tls_key, &options.tls_tickets];
    let own = own.into_iter().flatten().cloned();
    let named = options.certificates.iter();
    own.chain(named.flat_map(|it| [it.chain.clone(), it.key.clone()]))
        .collect()
}

fn tickets(options: &ServeOptions) -> Result<Option<TicketKeys>, Failure> {
    let path = options.tls_tickets.as_ref();
    let keys = path.map(TicketKeys::read).transpose();
    keys.map_err(ticket_failure)
}

fn ticket_failure(error: Error) -> Failure {
    Failure::usage(format_args!("--tls-tickets: {error:#}"))
}

fn certificates(options: &ServeOptions) -> Result<Option<Tls>, Failure> {
    let tls = match (&options.tls_cert, &options.tls_key) {
        (Some(chain), Some(key)) => {
            Tls::from_pem_files(chain, key).map_err(|error| of_pair(chain, key, &error))?
        }
        _ if options.tls_self_signed => Tls::self_signed(SELF_SIGNED_NAMES).map_err(refused)?,
        _ if !options.certificates.is_empty() => Tls::for_names().map_err(refused)?,
        _ => return Ok(None),
    };
    for NamedCertificate { chain, key, names } in &options.certificates {
        for name in names {
            let set = tls.set_pem_files_for(name, chain, key);
            set.map_err(|error| of_pair(chain, key, &error))?;
        }
    }
    Ok(Some(tls))
}

/// A failure that says which of several certificates it is about.
fn of_pair(chain: &Path, key: &Path, error: &Error) -> Failure {
    let (chain, key) = (chain.display(), key.display());
    Failure::usage(format_args!("{chain} with {key}: {error:#}"))
}
