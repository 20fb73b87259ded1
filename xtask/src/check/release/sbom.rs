//! Bills of materials in the form of CycloneDX: of the program and of the addon by cargo-cyclonedx, of the npm
//! package by npm.

use super::{make_files, read};
use crate::tools::{self, run};
use crate::{Outcome, root};
use std::path::Path;
use std::process::Command;

/// Crates with a bill each, with the folder and a crate that must be in it.
const LISTED: [(&str, &str, &str); 2] = [
    ("trunkline-cli", "cli", "pkg:cargo/rustls@"),
    ("trunkline-node", "node", "pkg:cargo/rustls@"),
];
/// The name of a bill while it lies beside the manifest, where cargo-cyclonedx writes it.
const BESIDE: &str = "release-sbom";

pub(super) fn sbom() -> Outcome {
    let program = tools::CYCLONEDX.ensure()?;
    let files = make_files()?;
    for (name, folder, contained) in LISTED {
        let manifest = root().join(folder).join("Cargo.toml");
        let outcome = run(Command::new(&program)
            .args([
                "cyclonedx",
                "--format",
                "json",
                "--spec-version",
                "1.5",
                "--target",
                "all",
            ])
            .args(["--quiet", "--override-filename", BESIDE, "--manifest-path"])
            .arg(&manifest));
        let file = files.join(format!("{name}.cdx.json"));
        let moved = take(folder, &file);
        outcome?;
        moved?;
        holds(&file, contained)?;
    }
    let file = files.join("trunkline-npm.cdx.json");
    let output = Command::new("npm")
        .current_dir(root().join("node"))
        .args([
            "sbom",
            "--sbom-format",
            "cyclonedx",
            "--omit",
            "dev",
            "--omit",
            "peer",
        ])
        .output()
        .map_err(|why| format!("cannot start npm: {why}"))?;
    if !output.status.success() {
        return Err(format!(
            "npm sbom: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    super::write(&file, &output.stdout)?;
    holds(&file, "pkg:npm/trunkline@")
}

/// Moves the bill of `folder` to `file`, without the path of this machine, and removes those that the tool wrote beside the
/// other manifests.
fn take(folder: &str, file: &Path) -> Outcome {
    let written = format!("{BESIDE}.json");
    let bill = read(&root().join(folder).join(&written));
    let entries =
        std::fs::read_dir(root()).map_err(|why| format!("{}: {why}", root().display()))?;
    for entry in entries.flatten() {
        let _ = std::fs::remove_file(entry.path().join(&written));
    }
    let here = format!("file://{}/", root().display());
    super::write(file, bill?.replace(&here, "file:///").as_bytes())
}

/// A bill without the crates that matter lists nothing.
fn holds(file: &Path, contained: &str) -> Outcome {
    let text = read(file)?;
    match text.contains("\"CycloneDX\"") && text.contains(contained) {
        true => Ok(()),
        false => Err(format!(
            "{} is no CycloneDX with {contained}",
            file.display()
        )),
    }
}
