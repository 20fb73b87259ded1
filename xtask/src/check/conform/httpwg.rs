//! httpwg, by its output. It speaks cleartext only: over TLS it goes through a pipe of ours.

use super::{Suite, tls_pipe};
use crate::tools;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::process::Command;

pub(super) fn run(address: SocketAddr, tls: bool) -> Result<Suite, String> {
    let address = if tls {
        tls_pipe::start(address)?
    } else {
        address
    };
    let output = Command::new(tools::HTTPWG.ensure()?)
        .args(["--address", &address.to_string()])
        // Its defaults leave no time for 107 TLS handshakes at once on a machine that does other things too.
        .args(["--connect-timeout", "30000", "--frame-timeout", "30000"])
        .output()
        .map_err(|why| format!("cannot run httpwg: {why}"))?;
    let text = [output.stdout, output.stderr].concat();
    parse(&String::from_utf8_lossy(&text))
        .ok_or_else(|| format!("httpwg printed no result: does the server answer on {address}?"))
}

/// Reads the output. Cases that end in a panic of the suite's own are not named: they get a
/// number.
fn parse(output: &str) -> Option<Suite> {
    let plain = without_colours(output);
    let summary = plain.lines().find_map(|line| {
        let (_, rest) = line.split_once("Passed ")?;
        let (passed, rest) = rest.split_once('/')?;
        let total = rest.split_whitespace().next()?;
        Some((passed.parse().ok()?, total.parse().ok()?))
    });
    let (passed, total): (usize, usize) = summary?;
    let mut failed: BTreeSet<String> = plain
        .lines()
        .filter_map(|line| line.split_once("Test failed: "))
        .map(|(_, name)| name.trim().to_owned())
        .collect();
    for number in 1..=total.saturating_sub(passed + failed.len()) {
        failed.insert(format!("unnamed {number}"));
    }
    Some(Suite {
        name: "httpwg",
        passed,
        total,
        failed,
    })
}

/// The text without escape sequences for colours.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (index, part) in text.split('\u{1b}').enumerate() {
        let rest = match part.split_once('m') {
            Some((_, rest)) if index > 0 => rest,
            _ => part,
        };
        plain.push_str(rest);
    }
    plain
}

#[cfg(test)]
#[path = "httpwg_test.rs"]
mod httpwg_test;
