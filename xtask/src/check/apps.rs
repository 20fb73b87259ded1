//! Runs real applications on servers and clients of Node.js and on ours.

use crate::Outcome;
use crate::node::prepare;
use crate::root;
use crate::tools::{cargo, run};
use std::process::{Command, Stdio};

/// Installs the applications in `names` (all of them where there is none) into `target/apps` and compares what they answer.
pub(crate) fn apps(names: &[String]) -> Outcome {
    prepare()?;
    let mut command = Command::new("node");
    command.arg(root().join("node/test/apps/run.mjs"));
    if let Some(program) = grpc_go() {
        command.env("TRUNKLINE_GRPC_GO", program);
    }
    run(command.args(names))
}

/// gRPC's interop suite: tonic, then grpc-js, each with grpc-go in both directions, in the clear and over TLS.
pub(crate) fn interop() -> Outcome {
    let suite = ["test", "-p", "trunkline-interop", "--test", "foreign"];
    run(cargo(&suite).arg("grpc"))?;
    apps(&["grpc-interop".to_owned()])
}

/// The program of `interop/peers/grpc-go`; without Go, the sentence that says so is printed.
pub(crate) fn grpc_go() -> Option<String> {
    let made = cargo(&["run", "--quiet", "-p", "trunkline-interop", "--", "grpc-go"])
        .stderr(Stdio::inherit())
        .output()
        .ok()?;
    let program = String::from_utf8(made.stdout).ok()?;
    made.status.success().then(|| program.trim().to_owned())
}
