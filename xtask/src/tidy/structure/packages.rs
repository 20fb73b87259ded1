//! Packages from npm are named by exact version, so that a release of another project turns no test red
//! that was green before. What users install beside the package (`peerDependencies`) is a range.

use crate::tidy::Finding;
use crate::tidy::tree::Tree;

/// The sections whose packages are installed here.
const SECTIONS: &[&str] = &["dependencies", "devDependencies", "optionalDependencies"];

pub(in crate::tidy) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.ending("package.json") {
        let mut is_installed = false;
        for (index, line) in text.lines().enumerate() {
            let Some((name, value)) = member(line) else {
                continue;
            };
            if value.starts_with('{') {
                is_installed = SECTIONS.contains(&name);
            } else if is_installed && !is_exact(value) {
                let text = format!("{name} is {value}: name one version, as 1.2.3");
                found.push(Finding::new(path, index + 1, text));
            }
        }
    }
    found
}

/// The name and the value of a line `"name": value`.
fn member(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().strip_prefix('"')?.split_once("\": ")?;
    Some((name, value.trim_end_matches(',').trim_matches('"')))
}

/// `1.2.3`, `npm:other@1.2.3`, or a folder of the project.
fn is_exact(value: &str) -> bool {
    let version = match value.strip_prefix("npm:") {
        Some(named) => named.rsplit('@').next().unwrap_or_default(),
        None => value,
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    value.starts_with("file:") || version.split('.').filter(|part| is_number(part)).count() == 3
}

#[cfg(test)]
#[path = "packages_test.rs"]
mod packages_test;
