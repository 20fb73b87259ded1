//! `make attacks`: the attacks of docs/attacks.md over real sockets, against a server in a process
//! of its own, and hostile servers against our clients. It measures and is not part of `make test`.

use crate::tools::{self, cargo, run};
use crate::{Outcome, node, root};
use std::process::Command;

/// Builds what is attacked and runs the attacks of these rows or words, or all. `--debug` and
/// `--demo` build with less optimization than a release has.
pub(crate) fn attacks(arguments: &[String]) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("memory and CPU are read from /proc, which only Linux has".into());
    }
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let profile = match (has("--debug"), has("--demo")) {
        (true, _) => "dev",
        (_, true) => "demo",
        _ => "release",
    };
    for program in [
        ["-p", "trunkline-testkit", "--bin", "attacks"],
        ["-p", "trunkline", "--example", "attacked"],
        ["-p", "trunkline", "--example", "attacked_client"],
        ["-p", "trunkline-cli", "--bin", "trunkline"],
    ] {
        run(cargo(&["build", "--quiet", "--profile", profile]).args(program))?;
    }
    let built = node::built_in(profile);
    let example = |name: &str| built.join("examples").join(name);
    let mut attacks = Command::new(built.join("attacks"));
    attacks.arg("--server").arg(example("attacked"));
    attacks.arg("--client").arg(example("attacked_client"));
    attacks.arg("--command").arg(built.join("trunkline"));
    attacks
        .arg("--cases")
        .arg(root().join("conformance").join("h3"));
    if node::is_there() {
        node::build(profile)?;
        node::install("node/test")?;
        attacks.arg("--node").arg(root().join("node/test/soak"));
    } else {
        eprintln!("going on without the Node client: node and npm are missing");
    }
    run(&mut cargo(&["run", "--quiet", "-p", "trunkline-interop"]))?;
    let python = root().join("target/tools/python/bin/python");
    if python.exists() {
        attacks.arg("--python").arg(python);
    } else {
        eprintln!("going on without HTTP/3: there is no Python with aioquic");
    }
    match tools::SLOWHTTPTEST.ensure() {
        Ok(program) => {
            attacks.arg("--slowhttptest").arg(program);
        }
        Err(why) => eprintln!("going on without slowhttptest: {why}"),
    }
    let chosen = arguments.iter().filter(|it| !it.starts_with("--"));
    run(attacks.args(chosen))
}
