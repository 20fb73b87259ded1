//! The npm packages: what is in them, whether their types resolve in each mode of TypeScript, whether they run in
//! Bun and Deno, and what `npm publish` would send.

use super::make_files;
use crate::node::built_for;
use crate::tools::{cargo, run};
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

/// The target of the addon for Windows that other systems can build, and what reads it.
const WINDOWS: &str = "x86_64-pc-windows-gnu";
const OBJDUMP: &str = "x86_64-w64-mingw32-objdump";

/// Builds the addon for Windows where the target and its linker are installed, elsewhere says that it did not: whether it links, and
/// imports nothing from the program that loads it, whose name it cannot know.
pub(super) fn addon_for_windows() -> Outcome {
    let targets = Command::new("rustup")
        .args(["target", "list", "--installed"])
        .output();
    let has_target =
        targets.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(WINDOWS));
    if !has_target || Command::new(OBJDUMP).arg("--version").output().is_err() {
        eprintln!(
            "going on without the addon for Windows: {WINDOWS} or its binutils are not there"
        );
        return Ok(());
    }
    run(cargo(&["build", "--quiet", "-p", "trunkline-node", "--target"]).arg(WINDOWS))?;
    let built = built_for(WINDOWS, "dev").join("trunkline_node.dll");
    let output = Command::new(OBJDUMP)
        .arg("--private-headers")
        .arg(&built)
        .output()
        .map_err(|why| format!("cannot start {OBJDUMP}: {why}"))?;
    judge(&String::from_utf8_lossy(&output.stdout))
}

/// Judges the headers of a library as objdump prints them.
fn judge(headers: &str) -> Outcome {
    let imported = headers
        .lines()
        .filter_map(|line| line.trim().strip_prefix("DLL Name: "))
        .filter(|name| !name.to_ascii_lowercase().ends_with(".dll"));
    let programs: Vec<&str> = imported.collect();
    if !programs.is_empty() {
        return Err(format!(
            "the addon imports from {}, which a host may have renamed",
            programs.join(", ")
        ));
    }
    match headers.contains("napi_register_module_v1") {
        true => Ok(()),
        false => Err("the addon does not export napi_register_module_v1".into()),
    }
}

#[cfg(test)]
#[path = "npm_test.rs"]
mod npm_test;
