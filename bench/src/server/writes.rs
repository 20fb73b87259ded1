//! Counts write calls per response with strace, in a short round of its own.

use crate::load::{Target, round};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use trunkline_interop::{Cores, find_program};

/// Calls that hand bytes to a socket. Wakes through an eventfd are `write` too and count.
const CALLS: &str = "trace=write,writev,pwrite64,sendto,sendmsg,sendmmsg,sendfile,splice";

/// Counts over `requests`.
///
/// # Errors
/// When strace is missing, may not attach, or the load fails.
pub(crate) fn per_response(
    target: &Target,
    requests: u64,
    cores: &Cores,
    folder: &Path,
) -> Result<f64, String> {
    let program = find_program("strace", "strace")?;
    let counts = folder.join("strace.txt");
    let mut command = Command::new(program);
    command
        .args(["-f", "-c", "-U", "calls,name", "-e", CALLS, "-o"])
        .arg(&counts);
    for id in &target.family {
        command.args(["-p", &id.to_string()]);
    }
    let mut strace = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("strace cannot be started: {error}"))?;
    let printed = strace.stderr.take().map(BufReader::new);
    // One line for each process it has attached to; it ends early if it may not.
    let attached = printed
        .into_iter()
        .flat_map(|printed| printed.lines().map_while(Result::ok))
        .filter(|line| line.contains("attached"))
        .take(target.family.len())
        .count();
    let sent = if attached == target.family.len() {
        round(target, requests, cores).map(|_| ())
    } else {
        Err("strace cannot attach to the server".to_owned())
    };
    if let Ok(id) = i32::try_from(strace.id()) {
        // It may have ended by itself.
        let _ = kill(Pid::from_raw(id), Signal::SIGINT);
    }
    strace
        .wait()
        .map_err(|error| format!("strace does not end: {error}"))?;
    sent?;
    let text = fs::read_to_string(&counts)
        .map_err(|error| format!("{} cannot be read: {error}", counts.display()))?;
    Ok(calls(&text) as f64 / requests as f64)
}

/// The sum over strace's table of calls and names.
fn calls(table: &str) -> u64 {
    table
        .lines()
        .filter_map(|line| {
            let (count, name) = line.trim().split_once(' ')?;
            let count = count.parse::<u64>().ok()?;
            (name.trim() != "total").then_some(count)
        })
        .sum()
}

#[cfg(test)]
#[path = "writes_test.rs"]
mod writes_test;
