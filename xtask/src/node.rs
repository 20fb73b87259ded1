//! The npm package: its addon, its TypeScript, its tests.

use crate::Outcome;
use crate::root;
use crate::tools::{cargo, run};
use std::path::PathBuf;
use std::process::Command;

/// Builds the addon in `profile` (`dev`, `demo` or `release`) and puts it beside the package, then
/// compiles the TypeScript.
pub(crate) fn build(profile: &str) -> Outcome {
    run(&mut cargo(&[
        "build",
        "--quiet",
        "-p",
        "trunkline-node",
        "--profile",
        profile,
    ]))?;
    let library = match std::env::consts::OS {
        "macos" => "libtrunkline_node.dylib",
        "windows" => "trunkline_node.dll",
        _ => "libtrunkline_node.so",
    };
    let addon = root().join("node").join("addon");
    let built = built_in(profile).join(library);
    // A new file: a process that has the old one mapped keeps it.
    let fresh = addon.join("trunkline.node.new");
    std::fs::create_dir_all(&addon)
        .and_then(|()| std::fs::copy(&built, &fresh))
        .and_then(|_| std::fs::rename(&fresh, addon.join("trunkline.node")))
        .map_err(|why| format!("cannot put {} beside the package: {why}", built.display()))?;
    install("node")?;
    run(npm("node").args(["run", "--silent", "build"]))
}

/// Every test of the package, over real sockets.
pub(crate) fn test() -> Outcome {
    if !is_there() {
        return Err("node and npm are missing: install Node.js 20 or newer".into());
    }
    build("dev")?;
    let origin = ["build", "--quiet", "-p", "trunkline", "--example", "origin"];
    run(&mut cargo(&origin))?;
    install("node/test")?;
    let origin = built_in("dev").join("examples").join("origin");
    run(npm("node")
        .args(["run", "--silent", "test"])
        .env("TRUNKLINE_ORIGIN", origin))
}

/// Runs a script of `node/test/bench` with an addon and an origin built in `profile`.
pub(crate) fn script(profile: &str, name: &str, flags: &[String]) -> Outcome {
    build(profile)?;
    let origin = ["build", "--quiet", "-p", "trunkline", "--example", "origin"];
    run(cargo(&origin).args(["--profile", profile]))?;
    install("node/test")?;
    let script = root().join("node/test/bench").join(name);
    let origin = built_in(profile).join("examples").join("origin");
    let mut command = Command::new("node");
    run(command
        .arg(script)
        .args(flags)
        .env("TRUNKLINE_ORIGIN", origin))
}

/// Whether Node.js and its npm are installed.
pub(crate) fn is_there() -> bool {
    ["node", "npm"].iter().all(|program| {
        let asked = Command::new(program).arg("--version").output();
        asked.is_ok_and(|output| output.status.success())
    })
}

/// Where cargo puts what it builds in `profile`.
pub(crate) fn built_in(profile: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let folder = if profile == "dev" { "debug" } else { profile };
    target.unwrap_or_else(|| root().join("target")).join(folder)
}

/// What a package needs, once.
pub(crate) fn install(package: &str) -> Outcome {
    if root().join(package).join("node_modules").is_dir() {
        return Ok(());
    }
    run(npm(package).args(["install", "--no-audit", "--no-fund", "--silent"]))
}

fn npm(package: &str) -> Command {
    let mut command = Command::new("npm");
    command.arg("--prefix").arg(root().join(package));
    command
}
