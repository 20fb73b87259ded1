//! `ready`: everything that CI runs, in the order in which failures are cheap.

use crate::check::release::crates;
use crate::check::{apps, conform, features, public_api};
use crate::tools::{self, cargo, run};
use crate::{Outcome, node, root, site, suite, tidy};
use std::process::Command;

/// Applications whose own way through node:http2, with trailers and streams of both directions, no test of ours has: a
/// server of connect-node once hung while all of those were green. All of them take an hour.
const APPS: [&str; 2] = ["connect-http2", "grpc-js-1.14"];

/// The tests that are too long for every run.
fn endurance() -> Outcome {
    let long = ["test", "-p", "trunkline", "--test", "h3_endurance"];
    run(cargo(&long).args(["--", "--ignored"]))?;
    let pairs = ["test", "-p", "trunkline-cli", "--test", "all", "pairs"];
    run(cargo(&pairs).env("TRUNKLINE_LONG", "1"))?;
    let generated = [
        "test",
        "-p",
        "trunkline-testkit",
        "--test",
        "fuzz_generated",
    ];
    run(cargo(&generated).env("TRUNKLINE_LONG", "1"))?;
    node::endurance()
}

/// Programs that no target of the workspace compiles, because they are run with other compilers: a moved file or
/// a changed signature shows here, and not when they are needed.
fn apart() -> Outcome {
    for manifest in ["fuzz/Cargo.toml", "sanitize/Cargo.toml"] {
        let check = ["check", "--quiet", "--all-targets", "--manifest-path"];
        let mut command = cargo(&check);
        command.arg(manifest);
        command.env("CARGO_TARGET_DIR", root().join("target").join("apart"));
        run(&mut command)?;
    }
    Ok(())
}

fn step(name: &str, carry_out: impl FnOnce() -> Outcome) -> Outcome {
    eprintln!("== {name}");
    carry_out().map_err(|why| format!("{name}: {why}"))
}

/// Everything, cheapest first; stops at the first failure.
pub(crate) fn ready() -> Outcome {
    step("fmt", || run(&mut cargo(&["fmt", "--all", "--check"])))?;
    step("tidy", || tidy::run(&root()))?;
    step("typos", || run(&mut Command::new(tools::TYPOS.ensure()?)))?;
    step("clippy", || {
        let lint = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ];
        run(&mut cargo(&lint))
    })?;
    step("apart", apart)?;
    step("test", suite::test)?;
    step("bench", || {
        run(&mut cargo(&["test", "--quiet", "-p", "trunkline-bench"]))
    })?;
    step("node-lines", || node::script("dev", "lines/all.mjs", &[]))?;
    step("comparisons", || {
        node::script("dev", "comparisons/all.mjs", &[])
    })?;
    step("apps", || apps::apps(&APPS.map(str::to_owned)))?;
    step("endurance", endurance)?;
    step("docs", site::docs)?;
    step("newcomer", || node::newcomer(&[]))?;
    step("features", features::features)?;
    step("api", || public_api::api(&[]))?;
    step("crates", crates::crates)?;
    step("deny", deny)?;
    step("conform", || conform::conform(&[]))
}

/// Checks the licences and sources of dependencies. The advisories need their database from the
/// network: without it the other checks still run, and the omission is reported.
fn deny() -> Outcome {
    let program = tools::DENY.ensure()?;
    let check = |what: &[&str]| {
        run(Command::new(&program)
            .args(["check", "--hide-inclusion-graph"])
            .args(what))
    };
    check(&["bans", "licenses", "sources"])?;
    let fetched = Command::new(&program).args(["fetch", "db"]).output();
    if fetched.is_ok_and(|output| output.status.success()) {
        return check(&["advisories"]);
    }
    eprintln!("going on without advisories: their database cannot be fetched");
    Ok(())
}
