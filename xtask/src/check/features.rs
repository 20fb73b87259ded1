//! Compiles the engine with each of its features alone, without any and with all, and with the combinations
//! that programs choose: a feature must not need another one that it does not name. Then with the oldest
//! toolchain that it names, where that is installed, and counts the crates that a client and a server need.

use crate::tools::{cargo, run};
use crate::{Outcome, root};
use std::collections::BTreeSet;
use std::process::Command;

/// `features`: every row of `[features]` in engine/Cargo.toml.
pub(crate) fn features() -> Outcome {
    let path = root().join("engine").join("Cargo.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    for feature in selections(&text)? {
        eprintln!("== {}", feature.last().map_or("none", String::as_str));
        let mut check = cargo(&["clippy", "--quiet", "-p", "trunkline", "--lib"]);
        run(check.args(feature).args(["--", "-D", "warnings"]))?;
    }
    for (features, most) in CRATES_MAX {
        count_crates(features, *most)?;
    }
    let oldest = oldest_compiler()?;
    check_dependencies(&oldest)?;
    with_oldest_toolchain(&oldest)
}

/// Choices of programs beside the defaults, and features that are gated against one another.
const COMBINATIONS: &[&str] = &[
    "client,server",
    "client,dns",
    "client,http3",
    "client,http3,dns",
    "server,http3",
    "client,server,http3",
    "client,tower,json,webpki-roots",
    "client,blocking,json,platform-verifier",
    "client,http3,url",
    "client,http3,openssl-rules,tracing",
    "server,http3,self-signed,tracing",
    "server,hyper-upgrade",
    "client,server,tonic",
    "client,opentelemetry",
    "server,opentelemetry",
];

/// The packages that users compile.
const PUBLISHED: [&str; 3] = ["trunkline-core", "trunkline", "trunkline-cli"];

/// Crates of an engine with some features, itself and those of its build included: most of the time of a
/// first build. More than this come by a decision, not by chance.
const CRATES_MAX: &[(&str, usize)] = &[
    ("client", 42),
    // Three of them for sockets that pass between processes.
    ("server", 42),
    ("client,http3", 60),
    ("client,url", 70),
    // The API alone: a program brings its SDK.
    ("client,opentelemetry", 43),
];

fn count_crates(features: &str, most: usize) -> Outcome {
    let mut tree = cargo(&["tree", "-p", "trunkline", "--no-default-features"]);
    tree.args([
        "--features",
        features,
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    let output = tree.output().map_err(|why| format!("cargo tree: {why}"))?;
    let crates = names(&String::from_utf8_lossy(&output.stdout));
    eprintln!("== {crates} crates with {features}");
    match crates {
        0 => Err("cargo tree lists nothing".to_owned()),
        _ if crates <= most => Ok(()),
        _ => Err(format!(
            "an engine with {features} needs {crates} crates; {most} are allowed"
        )),
    }
}

/// Different lines of a tree: a crate in two versions is two.
fn names(tree: &str) -> usize {
    tree.lines()
        .map(name_and_version)
        .collect::<BTreeSet<_>>()
        .len()
}

/// `name vVERSION` of a line of a tree.
fn name_and_version(line: &str) -> &str {
    line.split(" (").next().unwrap_or_default()
}

/// The compiler that the published crates name in `rust-version`.
fn oldest_compiler() -> Result<String, String> {
    let path = root().join("Cargo.toml");
    let manifest =
        std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    let manifest: toml::Table =
        toml::from_str(&manifest).map_err(|why| format!("Cargo.toml: {why}"))?;
    let version = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("rust-version"));
    let version = version.and_then(toml::Value::as_str);
    let version = version.ok_or("Cargo.toml: rust-version is no text")?;
    Ok(version.to_owned())
}

/// Judges what the dependencies of the published crates name in `rust-version`, which may be no newer than ours. A crate that
/// names none is not judged.
fn check_dependencies(oldest: &str) -> Outcome {
    let mut tree = cargo(&["tree", "--all-features", "--edges", "normal,build"]);
    tree.args(["--prefix", "none", "--format", "{p}"]);
    for published in PUBLISHED {
        tree.args(["-p", published]);
    }
    let tree = tree.output().map_err(|why| format!("cargo tree: {why}"))?;
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    let used: BTreeSet<&str> = tree.lines().map(name_and_version).collect();
    let metadata = cargo(&["metadata", "--format-version", "1"]).output();
    let metadata = metadata.map_err(|why| format!("cargo metadata: {why}"))?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&metadata.stdout).map_err(|why| format!("cargo metadata: {why}"))?;
    let packages = metadata["packages"].as_array();
    let newer: Vec<String> = packages
        .into_iter()
        .flatten()
        .filter_map(|package| {
            let part = |key: &str| package[key].as_str();
            let named = format!("{} v{}", part("name")?, part("version")?);
            let needed = part("rust_version")?;
            let is_wrong = used.contains(&named[..]) && is_newer(needed, oldest);
            is_wrong.then(|| format!("{named} needs Rust {needed}"))
        })
        .collect();
    eprintln!(
        "== {} crates, {} of them newer than Rust {oldest}",
        used.len(),
        newer.len()
    );
    match (used.is_empty(), newer.is_empty()) {
        (true, _) => Err("cargo tree lists nothing".to_owned()),
        (false, true) => Ok(()),
        (false, false) => Err(newer.join(", ")),
    }
}

/// Whether the version `needed` of the compiler is newer than `oldest`.
fn is_newer(needed: &str, oldest: &str) -> bool {
    let numbers = |version: &str| -> Vec<u32> {
        let parts = version.split('.');
        parts
            .map(|part| part.parse().unwrap_or(u32::MAX))
            .chain([0])
            .take(3)
            .collect()
    };
    numbers(needed) > numbers(oldest)
}

/// Compiles with the oldest compiler itself.
fn with_oldest_toolchain(version: &str) -> Outcome {
    let installed = Command::new("rustup").args(["toolchain", "list"]).output();
    let installed = installed.map_or_else(|_| Vec::new(), |output| output.stdout);
    if !String::from_utf8_lossy(&installed).contains(&format!("{version}.0-")) {
        eprintln!("== Rust {version} is not installed: the oldest toolchain was not tried");
        return Ok(());
    }
    eprintln!("== with Rust {version}");
    let mut check = Command::new("rustup");
    check.current_dir(root());
    check.args(["run", &format!("{version}.0"), "cargo", "check", "--quiet"]);
    for published in PUBLISHED {
        check.args(["-p", published]);
    }
    check.env("CARGO_TARGET_DIR", root().join("target").join("oldest"));
    run(&mut check)
}

/// The arguments of each build: no feature, each alone, [`COMBINATIONS`], all.
fn selections(manifest: &str) -> Result<Vec<Vec<String>>, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("engine/Cargo.toml: {why}");
    let manifest: toml::Table = toml::from_str(manifest).map_err(|why| wrong(&why))?;
    let features = manifest.get("features").and_then(toml::Value::as_table);
    let features = features.ok_or_else(|| wrong(&"has no table [features]"))?;
    let mut found = vec![vec!["--no-default-features".to_owned()]];
    let names = features.keys().map(String::as_str);
    let names = names.filter(|name| *name != "default");
    for name in names.chain(COMBINATIONS.iter().copied()) {
        let alone = ["--no-default-features", "--features", name];
        found.push(alone.map(str::to_owned).into());
    }
    found.push(vec!["--all-features".to_owned()]);
    Ok(found)
}

#[cfg(test)]
#[path = "features_test.rs"]
mod features_test;
