//! The command line for this platform: an archive with its manual pages and completions, as `cargo binstall` finds
//! it, and on Debian a package.

use super::{debian, image, make_files, read, versions};
use crate::node::built_in;
use crate::tools::{cargo, run};
use crate::{Outcome, root};
use std::path::Path;
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
    let program = built_in("pack").join(executable());
    let documented = root().join("target").join("packaging");
    document(&program, &documented)?;
    archive(&program, &documented, &target)?;
    image::image(&program)?;
    debian::debian()
}

/// The program's file name on this platform.
fn executable() -> String {
    format!("trunkline{}", std::env::consts::EXE_SUFFIX)
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
    copy(program, &folder.join(executable()))?;
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(name), &folder.join(name))?;
    }
    for name in ["man", "completions"] {
        copy_files(&documented.join(name), &folder.join(name))?;
    }
    make_files()?;
    let elsewhere = staging.join("unpacked");
    std::fs::create_dir_all(&elsewhere).map_err(|why| format!("{}: {why}", elsewhere.display()))?;
    // `run` starts at the root. Names without a drive: some programs called tar take `C:` for a host.
    let file = format!("target/release-files/{stem}.tar.gz");
    let tar = |flags: &str, folder: &str| {
        let mut tar = Command::new("tar");
        tar.args([flags, &file, "-C", folder]);
        tar
    };
    run(tar("-czf", "target/release-staging").arg(&stem))?;
    run(&mut tar("-xzf", "target/release-staging/unpacked"))?;
    check_unpacked(&elsewhere.join(stem), &version)
}

fn copy(from: &Path, to: &Path) -> Outcome {
    std::fs::copy(from, to)
        .map(|_| ())
        .map_err(|why| format!("{} to {}: {why}", from.display(), to.display()))
}

/// Copies the files of a folder that has no folders.
fn copy_files(from: &Path, to: &Path) -> Outcome {
    let failed = |why| format!("{}: {why}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Runs the program of an unpacked archive.
fn check_unpacked(folder: &Path, version: &str) -> Outcome {
    let program = folder.join(executable());
    let output = Command::new(&program)
        .arg("--version")
        .output()
        .map_err(|why| format!("{}: {why}", program.display()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let page = read(&folder.join("man").join("trunkline-serve.1"))?;
    match printed.trim() == format!("trunkline {version}") && page.contains("listen") {
        true => Ok(()),
        false => Err(format!("{} says `{}`", program.display(), printed.trim())),
    }
}

#[cfg(test)]
#[path = "program_test.rs"]
mod program_test;
