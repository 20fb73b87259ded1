//! The packages of crates.io: each is packed and built from its package, with the others of this workspace in
//! the place that they will have there.

use crate::Outcome;
use crate::tools::{cargo, run};

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
    let mut package = cargo(&["package", "--quiet", "--locked", "--allow-dirty"]);
    for name in PUBLISHED {
        package.args(["-p", name]);
    }
    run(&mut package)
}
