//! `make fuzz`: runs every fuzz target for a while. The targets' bodies are in
//! `testkit/src/fuzz.rs`, that of the addon's channel in `node/native/channel/fuzz.rs`, and their seeds in
//! `fuzz/seeds`; `make test` replays the seeds without a fuzzer.

use crate::tools::{self, run};
use crate::{Outcome, root};
use std::process::Command;

/// Every target; a test keeps it equal to the files of `fuzz/fuzz_targets`.
pub(crate) const TARGETS: &[&str] = &[
    "h1_end",
    "priority",
    "alt_svc",
    "h1_head",
    "h1_body",
    "hpack",
    "h2_frames",
    "h2_heads",
    "h2_control",
    "h2_conn_server",
    "h2_conn_client",
    "h2_session",
    "qpack",
    "h3_frames",
    "h3_heads",
    "h3_control",
    "h3_conn_server",
    "h3_conn_client",
    "capsules",
    "channel",
    "proxy_connect",
    "proxy_header",
    "proxy_socks",
];

/// `args`: seconds per target (default 60), then targets (default all).
pub(crate) fn fuzz(args: &[String]) -> Outcome {
    let (seconds, chosen) = parse(args)?;
    let cargo_fuzz = tools::FUZZ.ensure()?;
    need_nightly()?;
    let mut failed = Vec::new();
    for target in chosen {
        eprintln!("== {target}, {seconds} s");
        let corpus = root().join("fuzz/corpus").join(target);
        std::fs::create_dir_all(&corpus)
            .map_err(|why| format!("cannot make {}: {why}", corpus.display()))?;
        let mut command = Command::new(&cargo_fuzz);
        command.args(["fuzz", "run", "--fuzz-dir", "fuzz", target]);
        command
            .arg(&corpus)
            .arg(root().join("fuzz/seeds").join(target));
        command.args(["--", &format!("-max_total_time={seconds}")]);
        command.args(["-max_len=65536", "-timeout=10", "-rss_limit_mb=1024"]);
        // cargo-fuzz is a cargo plug-in: it asks rustup for the toolchain through this.
        command.env("RUSTUP_TOOLCHAIN", "nightly");
        if run(&mut command).is_err() {
            failed.push(target);
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "findings in {} (inputs in fuzz/artifacts)",
            failed.join(", ")
        ))
    }
}

fn parse(args: &[String]) -> Result<(u32, Vec<&'static str>), String> {
    let (seconds, names) = match args.split_first() {
        Some((first, rest)) if first.parse::<u32>().is_ok() => (first.parse().unwrap_or(60), rest),
        _ => (60, args),
    };
    let mut chosen = Vec::new();
    for name in names {
        let known = TARGETS.iter().find(|target| *target == name);
        chosen.push(*known.ok_or_else(|| {
            format!("no fuzz target '{name}'; there are: {}", TARGETS.join(", "))
        })?);
    }
    if chosen.is_empty() {
        chosen = TARGETS.to_vec();
    }
    Ok((seconds, chosen))
}

fn need_nightly() -> Outcome {
    let listed = Command::new("rustup").args(["toolchain", "list"]).output();
    let has =
        listed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("nightly"));
    if has {
        return Ok(());
    }
    run(Command::new("rustup").args(["toolchain", "install", "nightly", "--profile", "minimal"]))
        .map_err(|why| format!("fuzzing needs a nightly toolchain (rustup install nightly): {why}"))
}

#[cfg(test)]
#[path = "fuzz_test.rs"]
mod fuzz_test;
