//! The npm packages: what is in them, whether their types resolve in each mode of TypeScript, whether they run in
//! Bun and Deno, and what `npm publish` would send.

use super::make_files;
use crate::tools::run;
use crate::{Outcome, node, root};
use std::path::PathBuf;
use std::process::Command;

/// Makes the packages for this platform, tries them on each line of Node.js, and checks them.
pub(super) fn dry_run() -> Outcome {
    node::pack()?;
    let folder = root().join("target").join("npm");
    let entries =
        std::fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let packages: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "tgz"))
        .collect();
    check(packages.iter().cloned())?;
    let files = make_files()?;
    run(Command::new("cp").args(packages).arg(files))
}

/// Checks packed packages; the tools are those of `node/pack/package.json`.
pub(super) fn check(packages: impl Iterator<Item = PathBuf>) -> Outcome {
    node::is_there_or_report()?;
    node::install("node/pack")?;
    let script = root().join("node").join("pack").join("check.mjs");
    run(Command::new("node").arg(script).args(packages))
}
