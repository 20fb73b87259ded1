//! The section of the changelog that a release shows.

use super::{make_files, read, write};
use crate::{Outcome, root};

/// The heading of what the next release will have.
const UNRELEASED: &str = "Unreleased";

/// Writes the section of the tag's version, or of what is not released yet.
pub(super) fn write_to_files(tag: Option<&str>) -> Outcome {
    let version = tag.map(|tag| tag.strip_prefix('v').unwrap_or(tag));
    let changelog = read(&root().join("CHANGELOG.md"))?;
    let section = section(&changelog, version)?;
    write(&make_files()?.join("NOTES.md"), section.as_bytes())
}

/// The text under the heading of `version`, which is `## VERSION (YEAR-MONTH-DAY)`; without one the text under
/// `## Unreleased`.
pub(super) fn section(changelog: &str, version: Option<&str>) -> Result<String, String> {
    let name = version.unwrap_or(UNRELEASED);
    let mut parts = changelog.split("\n## ").skip(1);
    let found = parts.find_map(|part| {
        let (heading, text) = part.split_once('\n')?;
        is_of(heading, version).then(|| text.trim())
    });
    match found {
        None => Err(format!(
            "CHANGELOG.md has no section `## {name}{}`",
            if version.is_some() {
                " (YEAR-MONTH-DAY)"
            } else {
                ""
            }
        )),
        Some("") => Err(format!("the section of {name} in CHANGELOG.md is empty")),
        Some(text) => Ok(format!("{text}\n")),
    }
}

fn is_of(heading: &str, version: Option<&str>) -> bool {
    let Some(version) = version else {
        return heading.trim() == UNRELEASED;
    };
    let Some(rest) = heading.trim().strip_prefix(version) else {
        return false;
    };
    let date = rest
        .strip_prefix(" (")
        .and_then(|rest| rest.strip_suffix(')'));
    date.is_some_and(|date| {
        let parts: Vec<&str> = date.split('-').collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        lengths == [4, 2, 2] && parts.concat().bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
#[path = "notes_test.rs"]
mod notes_test;
