//! The cold calls: create clients, register origins, read statistics. One native function takes a
//! verb and a JSON text and answers with a JSON text; none of it runs per request.

mod connections;
pub(crate) mod dial;
pub(crate) mod exchange;
pub(crate) mod lookup;
mod settings;

use crate::calls::questions::Questions;
use crate::calls::read;
use crate::channel::shared::Shared;
use crate::failure;
use crate::pages::{PageAsk, Pages};
use connections::{Holds, displayed};
use dial::Dialed;
use lookup::Found;
use serde::Deserialize;
use serde_json::{Value, json};
use settings::{Settings, protocols};
use std::collections::HashMap;
use std::sync::Arc;
use trunkline::admin::Admin;
use trunkline::client::{Client, OriginStats};
use trunkline::core::pool::Origin;

/// The clients of one environment and the origins that requests name by number.
#[derive(Default)]
pub(crate) struct Clients {
    next: u32,
    clients: HashMap<u32, Client>,
    /// Those that close: their connections finish what they have.
    closing: HashMap<u32, Client>,
    /// Those that send no more bodies whose responses have ended, behind what was submitted before.
    leaving: Vec<Client>,
    /// Never given a second time, so that a late request cannot reach another's origin.
    origins: HashMap<u32, Target>,
    pages: Pages,
}

/// The questions of clients that JavaScript has not answered.
#[derive(Default)]
pub(crate) struct ClientQuestions {
    pub(crate) lookups: Arc<Questions<Found>>,
    pub(crate) dials: Arc<Questions<Dialed>>,
    pub(crate) holds: Arc<Holds>,
}

/// Where a request goes.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) client: Client,
    pub(crate) origin: Arc<Origin>,
    owner: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OriginAsk {
    client: u32,
    url: String,
    server_name: Option<String>,
    protocols: Option<String>,
    /// No proxy is between.
    #[serde(default)]
    is_direct: bool,
}

/// Origins that JavaScript names no more.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForgetAsk {
    client: u32,
    origins: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ClientAsk {
    client: u32,
    pipelining: Option<u32>,
    /// The number of a connection.
    connection: Option<u64>,
}

impl Clients {
    pub(crate) fn target(&self, origin: u32) -> Option<&Target> {
        self.origins.get(&origin)
    }
    pub(crate) fn client(&self, number: u32) -> Result<&Client, Value> {
        let gone = || failure::refusal("config", "the client is closed");
        self.clients.get(&number).ok_or_else(gone)
    }
    /// Carries out one cold call.
    pub(crate) fn ask(
        &mut self,
        shared: &Arc<Shared>,
        questions: &ClientQuestions,
        verb: &str,
        text: &str,
    ) -> Result<Value, Value> {
        match verb {
            "client" => self.open(shared, questions, read(text)?),
            "origin" => self.name(&read(text)?),
            "pipelining" => {
                let ask: ClientAsk = read(text)?;
                let client = self.client(ask.client)?;
                if let Some(pipelining) = ask.pipelining {
                    client.set_pipelining(pipelining);
                }
                Ok(json!(client.pipelining()))
            }
            "stats" => {
                let ask: ClientAsk = read(text)?;
                Ok(stats(self.client(ask.client)?))
            }
            "metrics" => {
                let ask: ClientAsk = read(text)?;
                Ok(json!(self.client(ask.client)?.metrics().to_openmetrics()))
            }
            "inspect" => {
                let ask: PageAsk = read(text)?;
                let admin = Admin::of_client(self.client(ask.of)?);
                self.pages.open(admin, ask)
            }
            "closePage" => self.pages.close(text),
            "holdConnections" => {
                let ask: ClientAsk = read(text)?;
                questions.holds.begin(ask.client);
                Ok(Value::Null)
            }
            "releaseConnection" => {
                let ask: ClientAsk = read(text)?;
                if let Some(connection) = ask.connection {
                    questions.holds.release(ask.client, connection);
                }
                Ok(Value::Null)
            }
            "forgetOrigins" => self.forget(&read(text)?),
            "shutDown" => {
                self.shut_down(questions, read::<ClientAsk>(text)?.client);
                Ok(Value::Null)
            }
            // As `shutDown`; `leaveBodies` follows, at the latest when its last connection has ended.
            "close" => {
                let number = read::<ClientAsk>(text)?.client;
                if let Some(client) = self.shut_down(questions, number) {
                    self.closing.insert(number, client);
                }
                Ok(Value::Null)
            }
            "leaveBodies" => {
                let client = self.closing.remove(&read::<ClientAsk>(text)?.client);
                self.leaving.extend(client);
                Ok(Value::Null)
            }
            other => Err(failure::refusal(
                "config",
                &format!("no verb is called {other:?}"),
            )),
        }
    }

    /// Ends what is still sent of clients that are destroyed; all submissions have been carried out.
    pub(crate) fn leave_bodies(&mut self) {
        for client in self.leaving.drain(..) {
            client.shut_down_leaving_bodies();
        }
    }

    /// Ends a client, which takes no more requests.
    fn shut_down(&mut self, questions: &ClientQuestions, number: u32) -> Option<Client> {
        self.pages.close_of(number);
        questions.holds.end(number);
        self.origins.retain(|_, target| target.owner != number);
        let client = self.clients.remove(&number)?;
        client.shut_down();
        Some(client)
    }

    fn forget(&mut self, ask: &ForgetAsk) -> Result<Value, Value> {
        for number in &ask.origins {
            let target = self.origins.get(number);
            if target.is_some_and(|target| target.owner == ask.client) {
                self.origins.remove(number);
            }
        }
        Ok(Value::Null)
    }

    fn open(
        &mut self,
        shared: &Arc<Shared>,
        questions: &ClientQuestions,
        settings: Settings,
    ) -> Result<Value, Value> {
        self.next += 1;
        let client = settings
            .build(shared, questions, self.next)
            .map_err(|why| failure::refusal("config", &why))?;
        self.clients.insert(self.next, client);
        Ok(json!(self.next))
    }

    fn name(&mut self, ask: &OriginAsk) -> Result<Value, Value> {
        let client = self.client(ask.client)?.clone();
        let versions = ask.protocols.as_deref().map(protocols).transpose();
        let versions = versions.map_err(|why| failure::refusal("config", &why))?;
        let mut origin = client
            .origin(&ask.url, ask.server_name.as_deref(), versions)
            .map_err(|error| failure::describe(&error))?;
        if ask.is_direct {
            Arc::make_mut(&mut origin).proxy = None;
        }
        self.next += 1;
        let is_proxied = origin.proxy.is_some();
        let target = Target {
            client,
            origin,
            owner: ask.client,
        };
        self.origins.insert(self.next, target);
        Ok(json!({ "number": self.next, "isProxied": is_proxied }))
    }
}

fn stats(client: &Client) -> Value {
    let origins: Vec<Value> = client.stats().iter().map(of_origin).collect();
    let totals = client.totals();
    json!({
        "origins": origins,
        "totals": {
            "submitted": totals.submitted,
            "dispatched": totals.dispatched,
            "waited": totals.waited,
            "failed": totals.failed,
            "attempts": totals.attempts,
            "connections": totals.connections,
            "retriesUnprocessed": totals.retries_unprocessed,
            "retriesLost": totals.retries_lost,
        },
    })
}

fn of_origin(stats: &OriginStats) -> Value {
    let origin = &stats.origin;
    json!({
        "origin": displayed(origin),
        "serverName": origin.server_name,
        "waiting": stats.waiting,
        "paused": stats.paused,
        "waitReason": stats.wait_reason.map(|reason| reason.text()),
        "connections": stats.connections,
        "suspect": stats.suspect,
        "draining": stats.draining,
        "attempts": stats.attempts,
        "active": stats.active,
        "limit": stats.limit,
        "roundTripMs": stats.round_trip.map(|time| time.as_secs_f64() * 1e3),
    })
}
