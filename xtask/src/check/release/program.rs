//! The command line for this platform: an archive with its manual pages and completions, as `cargo binstall` finds
//! it, and on Debian a package.

use super::{debian, make_files, read, versions};
use crate::node::built_in;
use crate::tools::{cargo, run};
use crate::{Outcome, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Shells with completions, and the name by which each finds them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "trunkline"),
    ("zsh", "_trunkline"),
    ("fish", "trunkline.fish"),
];

/// Builds the program as a release has it, packs it, and runs it from its package.
pub(super) fn program() -> Outcome {
    let target = host()?;
    let mut build = cargo(&["build", "--quiet", "--locked", "-p", "trunkline-cli"]);
    run(build.args(["--profile", "pack"]))?;
    let program = built_in("pack").join("trunkline");
    let documented = root().join("target").join("packaging");
    document(&program, &documented)?;
    archive(&program, &documented, &target)?;
    debian::debian()
}

/// The triple of this platform.
fn host() -> Result<String, String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|why| format!("cannot start rustc: {why}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// Writes manual pages and completions, which the program makes from its flags, into `folder`.
fn document(program: &Path, folder: &Path) -> Outcome {
    let _ = std::fs::remove_dir_all(folder);
    let (manual, completions) = (folder.join("man"), folder.join("completions"));
    for made in [&manual, &completions] {
        std::fs::create_dir_all(made).map_err(|why| format!("{}: {why}", made.display()))?;
    }
    run(Command::new(program).arg("manual").arg(&manual))?;
    for (shell, name) in COMPLETIONS {
        let output = Command::new(program)
            .args(["completions", shell])
            .output()
            .map_err(|why| format!("{}: {why}", program.display()))?;
        super::write(&completions.join(name), &output.stdout)?;
    }
    Ok(())
}

/// The archive's name without its ending, which is the folder within it.
fn stem(version: &str, target: &str) -> String {
    format!("trunkline-{version}-{target}")
}

fn archive(program: &Path, documented: &Path, target: &str) -> Outcome {
    let version = versions::current()?;
    let stem = stem(&version, target);
    let staging = root().join("target").join("release-staging");
    let _ = std::fs::remove_dir_all(&staging);
    let folder = staging.join(&stem);
    std::fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut copied: Vec<PathBuf> = vec![program.to_owned()];
    copied.extend(["man", "completions"].map(|name| documented.join(name)));
    copied.extend(
        ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]
            .map(|name| root().join(name)),
    );
    run(Command::new("cp").arg("-R").args(copied).arg(&folder))?;
    let file = make_files()?.join(format!("{stem}.tar.gz"));
    run(Command::new("tar")
        .arg("-czf")
        .arg(&file)
        .arg("-C")
        .arg(&staging)
        .arg(&stem))?;
    unpacked(&file, &staging, &stem, &version)
}

/// Unpacks the archive elsewhere, and runs the program from there.
fn unpacked(file: &Path, staging: &Path, stem: &str, version: &str) -> Outcome {
    let elsewhere = staging.join("unpacked");
    std::fs::create_dir_all(&elsewhere).map_err(|why| format!("{}: {why}", elsewhere.display()))?;
    run(Command::new("tar")
        .arg("-xzf")
        .arg(file)
        .arg("-C")
        .arg(&elsewhere))?;
    let program = elsewhere.join(stem).join("trunkline");
    let output = Command::new(&program)
        .arg("--version")
        .output()
        .map_err(|why| format!("{}: {why}", program.display()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let page = read(&elsewhere.join(stem).join("man").join("trunkline-serve.1"))?;
    match printed.trim() == format!("trunkline {version}") && page.contains("listen") {
        true => Ok(()),
        false => Err(format!("{} says `{}`", program.display(), printed.trim())),
    }
}

#[cfg(test)]
#[path = "program_test.rs"]
mod program_test;
