//! The files of `.github/workflows`: actionlint accepts them, and each action is named by the hash of a commit, because
//! a tag can be moved.

use super::read;
use crate::tools::{self, run};
use crate::{Outcome, root};
use std::path::PathBuf;
use std::process::Command;

/// Hexadecimal digits of a commit.
const HASH_DIGITS: usize = 40;

pub(super) fn check() -> Outcome {
    let mut found = Vec::new();
    let files = workflows()?;
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for (line, action) in unpinned(&read(file)?) {
            found.push(format!(
                "{name}:{line}: {action} is not named by the hash of a commit with its version behind it: `@HASH # vN.N.N`"
            ));
        }
    }
    if !found.is_empty() {
        return Err(found.join("\n"));
    }
    // Its check of shell scripts needs a program of its own, and would differ with it.
    let program = tools::ACTIONLINT.ensure()?;
    run(Command::new(program)
        .args(["-shellcheck=", "-pyflakes="])
        .args(files))
}

fn workflows() -> Result<Vec<PathBuf>, String> {
    let folder = root().join(".github").join("workflows");
    let entries =
        std::fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yml"))
        .collect();
    files.sort();
    Ok(files)
}

/// The actions of a workflow that a tag or a branch names, with their lines. A workflow of this repository is at the
/// commit that runs.
fn unpinned(workflow: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(workflow.lines()) {
        let text = text.trim_start().trim_start_matches("- ");
        let Some(used) = text.strip_prefix("uses:").map(str::trim) else {
            continue;
        };
        if !used.starts_with("./") && !is_pinned(used) {
            found.push((line, used));
        }
    }
    found
}

/// `owner/name@HASH # vN`.
fn is_pinned(used: &str) -> bool {
    let Some((_, behind)) = used.split_once('@') else {
        return false;
    };
    let Some((hash, version)) = behind.split_once(" # v") else {
        return false;
    };
    let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash && version.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
#[path = "workflows_test.rs"]
mod workflows_test;
