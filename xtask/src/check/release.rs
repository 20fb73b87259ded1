//! The steps of `.github/workflows/release.yml`, and a dry run of each that needs neither the registries nor the host of
//! the repository.

pub(crate) mod crates;
mod debian;
mod image;
mod notes;
mod npm;
mod program;
mod sbom;
mod versions;
mod workflows;

use crate::tools::run;
use crate::{Outcome, root};
use std::path::PathBuf;
use std::process::Command;

const USAGE: &str = "release takes one of: check [TAG], versions TAG, notes [TAG], program, npm FILE.., sbom, checksums";

/// `release PART`: one step of the workflow. `release check` is all of them; with a tag as strictly as the
/// workflow, without one for the next release.
pub(crate) fn release(arguments: &[String]) -> Outcome {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["check"] => check(None),
        ["check", tag] => check(Some(tag)),
        ["versions", tag] => versions::check(Some(tag)),
        ["notes"] => notes::write_to_files(None),
        ["notes", tag] => notes::write_to_files(Some(tag)),
        ["program"] => program::program(),
        ["npm", files @ ..] if !files.is_empty() => npm::check(files.iter().map(PathBuf::from)),
        ["sbom"] => sbom::sbom(),
        ["checksums"] => checksums(),
        _ => Err(USAGE.to_owned()),
    }
}

/// The dry run, cheapest step first.
fn check(tag: Option<&str>) -> Outcome {
    let _ = std::fs::remove_dir_all(files());
    step("versions", || versions::check(tag))?;
    step("changelog", || notes::write_to_files(tag))?;
    step("workflows", workflows::check)?;
    step("crates", crates::crates)?;
    step("npm packages", npm::dry_run)?;
    step("addon for Windows", npm::addon_for_windows)?;
    step("program", program::program)?;
    step("SBOM", sbom::sbom)?;
    step("checksums", checksums)?;
    eprintln!(
        "{} has the files of a release. Not tried here: uploads to crates.io, npm and the repository's host, trusted \
         publishing, attestations, and other platforms than this one.",
        files().display()
    );
    Ok(())
}

fn step(name: &str, carry_out: impl FnOnce() -> Outcome) -> Outcome {
    eprintln!("== {name}");
    carry_out().map_err(|why| format!("{name}: {why}"))
}

/// The folder of the files that a release has.
fn files() -> PathBuf {
    root().join("target").join("release-files")
}

/// Makes the folder of the release's files.
fn make_files() -> Result<PathBuf, String> {
    let folder = files();
    std::fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    Ok(folder)
}

/// The name of the file of checksums, as `sha256sum --check` reads it.
const CHECKSUMS: &str = "SHA256SUMS";

/// Writes the checksums of every file of the release, and checks them.
fn checksums() -> Outcome {
    let folder = files();
    let read = std::fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut names: Vec<String> = read
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != CHECKSUMS)
        .collect();
    names.sort();
    let output = Command::new("sha256sum")
        .current_dir(&folder)
        .args(&names)
        .output()
        .map_err(|why| format!("cannot start sha256sum: {why}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    write(&folder.join(CHECKSUMS), &output.stdout)?;
    let verify = "cd \"$0\" && sha256sum --quiet --check SHA256SUMS";
    run(Command::new("sh").args(["-c", verify]).arg(&folder))
}

fn read(path: &std::path::Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))
}

fn write(path: &std::path::Path, bytes: &[u8]) -> Outcome {
    std::fs::write(path, bytes).map_err(|why| format!("{}: {why}", path.display()))
}
