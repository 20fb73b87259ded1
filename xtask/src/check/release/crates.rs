//! The packages of crates.io: each is packed and built from its package, with the others of this workspace in
//! the place that they will have there.

use crate::tools::{cargo, cargo_home, run};
use crate::{Outcome, root};
use std::fs;
use std::path::PathBuf;

/// The published crates, each after those that it needs.
pub(super) const PUBLISHED: [&str; 3] = ["trunkline-core", "trunkline", "trunkline-cli"];

/// The folder of a published crate.
pub(super) fn folder(name: &str) -> &'static str {
    match name {
        "trunkline-core" => "core",
        "trunkline" => "engine",
        _ => "cli",
    }
}

/// `crates`: as `cargo publish` does it, without the upload.
pub(crate) fn crates() -> Outcome {
    forget();
    let mut package = cargo(&["package", "--quiet", "--locked", "--allow-dirty"]);
    package.arg("--target-dir").arg(folder_of_builds());
    for name in PUBLISHED {
        package.args(["-p", name]);
    }
    run(&mut package)
}

/// The folder of what is packed, apart from other builds, so that it can begin empty.
fn folder_of_builds() -> PathBuf {
    root().join("target").join("packages")
}

/// Removes what an earlier call packed and built. Cargo takes a package of one version to be the one that it unpacked and
/// compiled before, whatever was changed in it since.
fn forget() {
    let _ = fs::remove_dir_all(folder_of_builds());
    let sources = cargo_home().map(|home| home.join("registry").join("src"));
    let registries = sources.and_then(|folder| fs::read_dir(folder).ok());
    // A folder of packages on this machine has no host in its name.
    let own = registries.into_iter().flatten().flatten();
    let own = own.filter(|entry| entry.file_name().to_string_lossy().starts_with('-'));
    let packages = own.filter_map(|registry| fs::read_dir(registry.path()).ok());
    for package in packages.flatten().flatten() {
        if package
            .file_name()
            .to_string_lossy()
            .starts_with("trunkline")
        {
            let _ = fs::remove_dir_all(package.path());
        }
    }
}
