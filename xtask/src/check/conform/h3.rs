//! The cases of `conformance/h3`, which a raw QUIC client plays against our server: the test of
//! `interop/` runs them, here they are counted.

use super::Suite;
use crate::tools::cargo;

/// Runs every case.
pub(super) fn run() -> Result<Suite, String> {
    let test = ["test", "-q", "-p", "trunkline-interop"];
    let output = cargo(&test)
        .args(["--test", "h3_conformance", "--", "--nocapture"])
        .output()
        .map_err(|why| format!("cannot start cargo: {why}"))?;
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    parse(&printed).ok_or_else(|| format!("the cases of HTTP/3 did not run:\n{printed}"))
}

/// The count, and the names of the cases that failed.
fn parse(printed: &str) -> Option<Suite> {
    let count = printed
        .lines()
        .find_map(|line| line.strip_prefix("HTTP/3 conformance: "))?;
    let (passed, total) = count.split_once(" of ")?;
    let failed = printed
        .lines()
        .filter_map(|line| line.strip_prefix("not ok ")?.split_once(':'))
        .map(|(name, _)| name.to_owned());
    Some(Suite {
        name: "h3",
        passed: passed.parse().ok()?,
        total: total.parse().ok()?,
        failed: failed.collect(),
    })
}

#[cfg(test)]
#[path = "h3_test.rs"]
mod h3_test;
