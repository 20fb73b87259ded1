//! One version for all that a release publishes.

use super::{crates, notes, read};
use crate::{Outcome, root};

/// Compares the version of the workspace with each other place that names it. With a tag, also with the tag, with
/// the changelog, and with what registries ask for and a clone may leave out.
pub(super) fn check(tag: Option<&str>) -> Outcome {
    let manifest = read(&root().join("Cargo.toml"))?;
    let version = of_workspace(&manifest)?;
    let mut places = dependencies(&manifest)?;
    places.push((
        "node/package.json".to_owned(),
        of_package(&read(&root().join("node/package.json"))?)?,
    ));
    places.extend(of_lock(&read(&root().join("Cargo.lock"))?)?);
    if let Some(tag) = tag {
        let tagged = tag.strip_prefix('v').unwrap_or(tag);
        places.push((format!("the tag {tag}"), tagged.to_owned()));
    }
    let others = others(&version, &places);
    if !others.is_empty() {
        return Err(format!(
            "Cargo.toml has version {version}, but {}",
            others.join(", ")
        ));
    }
    if tag.is_some() {
        notes::section(&read(&root().join("CHANGELOG.md"))?, Some(&version))?;
        for name in crates::PUBLISHED {
            with_repository(name)?;
        }
    }
    eprintln!("version {version}");
    Ok(())
}

/// The version that the files of a release carry in their names.
pub(super) fn current() -> Result<String, String> {
    of_workspace(&read(&root().join("Cargo.toml"))?)
}

/// `workspace.package.version`.
fn of_workspace(manifest: &str) -> Result<String, String> {
    let table = parsed(manifest)?;
    let version = table["workspace"]["package"]["version"].as_str();
    version
        .map(str::to_owned)
        .ok_or_else(|| "Cargo.toml has no workspace.package.version".to_owned())
}

/// The places whose version is another one.
fn others(version: &str, places: &[(String, String)]) -> Vec<String> {
    let other = places.iter().filter(|(_, named)| named != version);
    other
        .map(|(place, named)| format!("{place} has {named}"))
        .collect()
}

/// Versions that the workspace asks for where it depends on itself.
fn dependencies(manifest: &str) -> Result<Vec<(String, String)>, String> {
    let table = parsed(manifest)?;
    let all = table["workspace"]["dependencies"].as_table();
    let all = all.ok_or("Cargo.toml has no workspace.dependencies")?;
    let of_ours = all.iter().filter(|(_, value)| {
        value
            .as_table()
            .is_some_and(|it| it.contains_key("path") && it.contains_key("version"))
    });
    Ok(of_ours
        .map(|(name, value)| {
            let version = value["version"].as_str().unwrap_or_default();
            (format!("the dependency on {name}"), version.to_owned())
        })
        .collect())
}

/// The version of a package.json.
fn of_package(text: &str) -> Result<String, String> {
    let behind = text.split_once("\"version\": \"").map(|(_, rest)| rest);
    let version = behind.and_then(|rest| rest.split_once('"'));
    version
        .map(|(version, _)| version.to_owned())
        .ok_or_else(|| "package.json names no version".to_owned())
}

fn of_lock(text: &str) -> Result<Vec<(String, String)>, String> {
    let table = parsed(text)?;
    let packages = table["package"]
        .as_array()
        .ok_or("Cargo.lock has no packages")?;
    let mut places = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        if crates::PUBLISHED.contains(&name) {
            let version = package["version"].as_str().unwrap_or_default();
            places.push((format!("{name} in Cargo.lock"), version.to_owned()));
        }
    }
    Ok(places)
}

/// crates.io shows the link, `cargo binstall` follows it, and npm compares it with the source of a build.
fn with_repository(name: &str) -> Outcome {
    let folder = crates::folder(name);
    let manifest = read(&root().join(folder).join("Cargo.toml"))?;
    let has = parsed(&manifest)?["package"]
        .as_table()
        .is_some_and(|package| package.contains_key("repository"));
    match has {
        true => Ok(()),
        false => Err(format!(
            "{folder}/Cargo.toml names no `repository`: write the address of the source there before the first release"
        )),
    }
}

fn parsed(text: &str) -> Result<toml::Table, String> {
    text.parse().map_err(|why| format!("{why}"))
}

#[cfg(test)]
#[path = "versions_test.rs"]
mod versions_test;
