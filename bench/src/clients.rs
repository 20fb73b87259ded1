//! Clients of Rust programs beside those of others.

pub(crate) mod bulk;
pub(crate) mod calls;

use crate::load::children_us;
use crate::load::usage::cpu_ns;
use std::process::Command;
use trunkline_interop::output_of;

/// One run of a client in a process of its own.
struct Timed {
    /// User and kernel time of the client, in microseconds.
    client_us: i64,
    /// User and kernel time of the server during the run, in nanoseconds.
    server_ns: u64,
    /// Wall time that the client reports.
    seconds: f64,
}

impl Timed {
    /// Runs `client`, which must report `amount`, against the server whose processes are `server`.
    fn run(client: &mut Command, amount: u64, server: &[u32]) -> Result<Self, String> {
        let (server_before, client_before) = (cpu_ns(server), children_us()?);
        let printed = output_of(client)?;
        let (reported, seconds) =
            parse(&printed).ok_or_else(|| format!("no figures: {printed}"))?;
        if reported != amount {
            return Err(format!("the client reports {reported}, not {amount}"));
        }
        Ok(Self {
            client_us: children_us()? - client_before,
            server_ns: cpu_ns(server) - server_before,
            seconds,
        })
    }
}

/// Reads the bytes or requests, and the seconds, that a client prints.
fn parse(printed: &str) -> Option<(u64, f64)> {
    let (amount, seconds) = printed.trim().split_once(' ')?;
    Some((amount.parse().ok()?, seconds.parse().ok()?))
}

#[cfg(test)]
#[path = "clients_test.rs"]
mod clients_test;
