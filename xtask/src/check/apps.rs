//! Runs real applications on servers and clients of Node.js and on ours.

use crate::Outcome;
use crate::node::prepare;
use crate::root;
use crate::tools::run;
use std::process::Command;

/// Installs the applications in `names` (all of them where there is none) into `target/apps` and compares what they answer.
pub(crate) fn apps(names: &[String]) -> Outcome {
    prepare()?;
    run(Command::new("node")
        .arg(root().join("node/test/apps/run.mjs"))
        .args(names))
}
