//! The examples in the documentation. `cargo test --doc` chooses other features than the build of all
//! tests, and would compile every dependency again; so cargo runs everything, with a runner that leaves out
//! the programs of tests, which are jobs of their own.

use super::SELECTION;
use super::job::Job;
use crate::root;
use crate::tools::cargo;
use std::path::Path;

/// Programs of tests lie in `deps`, those of examples in a temporary folder.
const RUNNER: &str = "#!/bin/sh\ncase \"$1\" in */deps/*) exit 0 ;; esac\nexec \"$@\"\n";
/// The target that this program is built for, as is all that it builds.
const TARGET: &str = env!("TARGET");

/// Runs the examples in the documentation of the packages; the runner is written to `folder`.
pub(super) fn job(folder: &Path) -> Result<Job, String> {
    let path = folder.join("runner.sh");
    std::fs::write(&path, RUNNER).map_err(|why| format!("{}: {why}", path.display()))?;
    let variable = TARGET.to_uppercase().replace('-', "_");
    let mut command = cargo(&["test", "--quiet", "--no-fail-fast"]);
    command.current_dir(root()).args(SELECTION);
    command.env(
        format!("CARGO_TARGET_{variable}_RUNNER"),
        format!("sh {}", path.display()),
    );
    Ok(Job::new("examples".into(), command))
}

#[cfg(test)]
#[path = "doc_test.rs"]
mod doc_test;
