//! `make attacks`: the attacks of docs/attacks.md over real sockets, against a server in a process of
//! its own. It measures, and is no part of `make test`.

use crate::tools::{cargo, run};
use crate::{Outcome, root};
use std::process::Command;

/// Builds both programs and runs the attacks of these rows, or all. `--debug`: without optimizing.
pub(crate) fn attacks(arguments: &[String]) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("memory and CPU are read from /proc, which only Linux has".into());
    }
    let is_debug = arguments.iter().any(|argument| argument == "--debug");
    let rows = arguments.iter().filter(|argument| *argument != "--debug");
    let profile: &[&str] = if is_debug { &[] } else { &["--release"] };
    for program in [
        ["-p", "trunkline-testkit", "--bin", "attacks"],
        ["-p", "trunkline", "--example", "attacked"],
    ] {
        run(cargo(&["build", "--quiet"]).args(program).args(profile))?;
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    let built = target.join(if is_debug { "debug" } else { "release" });
    let server = built.join("examples/attacked");
    run(Command::new(built.join("attacks")).arg(server).args(rows))
}
