//! The TLS settings of servers, kept on JavaScript's thread.

pub(crate) mod choices;

use self::choices::{Asks, Choice, choosing};
use super::described::places;
use crate::calls::questions::Questions;
use crate::calls::read;
use crate::channel::codes::completion;
use crate::channel::shared::Shared;
use crate::failure;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use trunkline::{ClientCertificates, Tls, TlsPolicy};

/// A server under TLS.
pub(crate) struct Secured {
    pub(crate) tls: Tls,
    any_names: bool,
    /// By ALPN.
    offered: Vec<&'static str>,
    /// The contexts that JavaScript may choose for a handshake.
    contexts: HashMap<u32, Tls>,
    next: u32,
}

#[derive(Deserialize)]
struct IdentityAsk {
    name: Option<String>,
    cert: String,
    key: String,
}

/// A context for handshakes.
#[derive(Deserialize)]
struct ContextAsk {
    cert: String,
    key: String,
    clients: Option<ClientsAsk>,
    policy: Option<PolicyAsk>,
}

/// Removes a context that is no longer used.
#[derive(Deserialize)]
struct ForgetAsk {
    context: u32,
}

/// The answer to a question of [`completion::client_hello`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChosenAsk {
    ticket: u32,
    context: Option<u32>,
    protocol: Option<usize>,
    #[serde(default)]
    no_protocol: bool,
    #[serde(default)]
    refused: bool,
}

impl Secured {
    /// Carries out one cold call.
    pub(crate) fn ask(
        &mut self,
        verb: &str,
        text: &str,
        choices: &Questions<Choice>,
    ) -> Result<Value, Value> {
        let described = |error: trunkline::Error| failure::describe(&error);
        match verb {
            "identity" => {
                let ask: IdentityAsk = read(text)?;
                let (cert, key) = (&ask.cert, &ask.key);
                match &ask.name {
                    None => self.tls.set_pem(cert.as_bytes(), key.as_bytes()),
                    Some(name) => set_for(&self.tls, self.any_names, name, cert, key),
                }
                .map_err(described)?;
                Ok(Value::Null)
            }
            "context" => {
                let tls = self.context(&read(text)?).map_err(described)?;
                self.next += 1;
                self.contexts.insert(self.next, tls);
                Ok(json!(self.next))
            }
            "forget" => {
                let ask: ForgetAsk = read(text)?;
                self.contexts.remove(&ask.context);
                Ok(Value::Null)
            }
            _ => {
                let ask: ChosenAsk = read(text)?;
                let choice = match &ask {
                    ChosenAsk { refused: true, .. } => Choice::Refused,
                    ChosenAsk {
                        no_protocol: true, ..
                    } => Choice::NoProtocol,
                    _ => {
                        let context = ask.context.and_then(|number| self.contexts.get(&number));
                        Choice::Tls(context.cloned(), ask.protocol)
                    }
                };
                Ok(json!(choices.answer(ask.ticket, choice)))
            }
        }
    }
    fn context(&self, ask: &ContextAsk) -> Result<Tls, trunkline::Error> {
        let tls = Tls::from_pem(ask.cert.as_bytes(), ask.key.as_bytes())?;
        let tls = agreeing(tls, ask.clients.as_ref(), ask.policy.as_ref())?;
        Ok(tls.offer(&self.offered))
    }
}

/// `any`: the certificate need not be for `name`.
fn set_for(
    tls: &Tls,
    any: bool,
    name: &str,
    cert: &str,
    key: &str,
) -> Result<(), trunkline::Error> {
    let (cert, key) = (cert.as_bytes(), key.as_bytes());
    match any {
        true => tls.set_any_pem_for(name, cert, key),
        false => tls.set_pem_for(name, cert, key),
    }
}

fn agreeing(
    mut tls: Tls,
    clients: Option<&ClientsAsk>,
    policy: Option<&PolicyAsk>,
) -> Result<Tls, trunkline::Error> {
    if let Some(clients) = clients {
        tls = tls.client_certificates(clients.read()?)?;
    }
    match policy {
        Some(policy) => tls.policy(policy.read()),
        None => Ok(tls),
    }
}

impl TlsAsk {
    /// Sets the certificate and policy of server `server`.
    pub(crate) fn secure(
        &self,
        offered: &[&'static str],
        server: u32,
        shared: &Arc<Shared>,
        choices: &Arc<Questions<Choice>>,
    ) -> Result<Secured, trunkline::Error> {
        let tls = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Tls::from_pem(cert.as_bytes(), key.as_bytes())?,
            _ => match &self.self_signed {
                Some(names) => Tls::self_signed(names)?,
                None => Tls::for_names()?,
            },
        };
        for (name, pair) in &self.names {
            set_for(&tls, self.any_names, name, &pair.cert, &pair.key)?;
        }
        let tls = agreeing(tls, self.clients.as_ref(), self.policy.as_ref())?;
        let mut tls = tls.offer(offered);
        if let Some(path) = &self.key_log_file {
            tls = tls.key_log(path)?;
        }
        if self.asks.is_some() {
            tls = choosing(tls, server, self.asks, (shared, choices));
        }
        if self.reports_secrets {
            tls = telling(tls, server, shared);
        }
        Ok(Secured {
            tls,
            any_names: self.any_names,
            offered: offered.to_vec(),
            contexts: HashMap::new(),
            next: 0,
        })
    }
}

/// Reports the secrets of every session of `server` to JavaScript.
fn telling(tls: Tls, server: u32, shared: &Arc<Shared>) -> Tls {
    let shared = Arc::clone(shared);
    tls.key_listener(move |addresses, line| {
        let text = format!("{}\0{line}", places(addresses));
        let entry = completion::secret(server);
        shared.complete_from_anywhere(entry, text.as_bytes());
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TlsAsk {
    /// Without them clients are shown something by their names alone.
    cert: Option<String>,
    key: Option<String>,
    /// Names of a certificate that is made here, in place of `cert` and `key`; its key stays here.
    self_signed: Option<Vec<String>>,
    #[serde(default)]
    names: HashMap<String, Pair>,
    /// The certificates of names need not be for them.
    #[serde(default)]
    any_names: bool,
    key_log_file: Option<String>,
    /// Reports the secrets of every session to JavaScript.
    #[serde(default)]
    reports_secrets: bool,
    sni_is_binding: Option<bool>,
    clients: Option<ClientsAsk>,
    policy: Option<PolicyAsk>,
    /// JavaScript chooses what handshakes go on with.
    #[serde(default)]
    asks: Asks,
}

impl TlsAsk {
    /// Set by JavaScript, or where client certificates are requested. A choice by name alone does
    /// not bind requests to SNI: contexts of node:tls have no client rules of their own.
    pub(crate) fn sni_is_binding(&self) -> bool {
        self.sni_is_binding.unwrap_or(self.clients.is_some())
    }
}

/// Versions, suites and groups; numbers as registered with IANA.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PolicyAsk {
    tls12: bool,
    tls13: bool,
    suites: Option<Vec<u16>>,
    groups: Option<Vec<u16>>,
    prefers_own_order: bool,
}

impl PolicyAsk {
    fn read(&self) -> TlsPolicy {
        TlsPolicy::default()
            .with_tls12(self.tls12)
            .with_tls13(self.tls13)
            .with_suites(self.suites.clone())
            .with_groups(self.groups.clone())
            .with_prefers_own_order(self.prefers_own_order)
    }
}

/// The trusted issuers of client certificates, in PEM; an empty text: none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientsAsk {
    issuers: String,
    revoked: Option<String>,
    admits: Admits,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Admits {
    Believed,
    Everybody,
}

impl ClientsAsk {
    fn read(&self) -> Result<ClientCertificates, trunkline::Error> {
        let clients = match &*self.issuers {
            "" => ClientCertificates::issued_by_none(),
            issuers => ClientCertificates::issued_by(issuers.as_bytes())?,
        };
        let mut clients = clients.openssl_rules();
        if let Some(revoked) = &self.revoked {
            clients = clients.not_revoked_by(revoked.as_bytes())?;
        }
        Ok(match self.admits {
            Admits::Believed => clients,
            Admits::Everybody => clients.judged_by_handlers(),
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    cert: String,
    key: String,
}
