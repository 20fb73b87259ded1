//! h2spec, strict cases included, by its junit report.

use super::Suite;
use crate::{root, tools};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

pub(super) fn run(address: SocketAddr, tls: bool) -> Result<Suite, String> {
    let folder = root().join("target/conform");
    std::fs::create_dir_all(&folder)
        .map_err(|why| format!("cannot make {}: {why}", folder.display()))?;
    let report = folder.join(if tls { "h2spec-tls.xml" } else { "h2spec.xml" });
    // An old report must not stand in for a run that wrote none.
    let _ = std::fs::remove_file(&report);
    let mut command = Command::new(tools::H2SPEC.ensure()?);
    command.args(["-S", "-o", "2", "-h", &address.ip().to_string()]);
    command.args(["-p", &address.port().to_string(), "-j"]);
    command.arg(&report).stdout(Stdio::null());
    if tls {
        command.args(["-t", "-k"]);
    }
    // It exits with 1 when a case fails; the report says which.
    command
        .status()
        .map_err(|why| format!("cannot run h2spec: {why}"))?;
    let text = std::fs::read_to_string(&report)
        .map_err(|_| format!("h2spec wrote no report: does the server answer on {address}?"))?;
    Ok(parse(&text))
}

/// Reads the report. A case's id is its package and its number there: `http2/6.9/1`.
fn parse(report: &str) -> Suite {
    let mut failed = BTreeSet::new();
    let mut total = 0;
    let mut case = String::new();
    let (mut package, mut number) = (String::new(), 0);
    for line in report.lines().map(str::trim) {
        if line.starts_with("<testcase ") {
            let of = attribute(line, "package");
            number = if of == package { number + 1 } else { 1 };
            package = of.to_owned();
            case = format!("{package}/{number}");
            total += 1;
        }
        if line.contains("<error") || line.contains("<failure") || line.contains("<skipped") {
            failed.insert(case.clone());
        }
    }
    Suite {
        name: "h2spec",
        passed: total - failed.len(),
        total,
        failed,
    }
}

fn attribute<'a>(line: &'a str, name: &str) -> &'a str {
    line.split_once(&format!("{name}=\""))
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(value, _)| value)
}

#[cfg(test)]
#[path = "h2spec_test.rs"]
mod h2spec_test;
