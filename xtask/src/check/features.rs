//! Compiles the engine with each of its features alone, without any and with all: a feature must not need
//! another one that it does not name.

use crate::tools::{cargo, run};
use crate::{Outcome, root};

/// `features`: every row of `[features]` in engine/Cargo.toml.
pub(crate) fn features() -> Outcome {
    let path = root().join("engine").join("Cargo.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    for feature in selections(&text)? {
        eprintln!("== {}", feature.last().map_or("none", String::as_str));
        let mut check = cargo(&["check", "--quiet", "-p", "trunkline", "--lib"]);
        run(check.args(feature))?;
    }
    Ok(())
}

/// The arguments of each build: no feature, each alone, all.
fn selections(manifest: &str) -> Result<Vec<Vec<String>>, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("engine/Cargo.toml: {why}");
    let manifest: toml::Table = toml::from_str(manifest).map_err(|why| wrong(&why))?;
    let features = manifest.get("features").and_then(toml::Value::as_table);
    let features = features.ok_or_else(|| wrong(&"has no table [features]"))?;
    let mut found = vec![vec!["--no-default-features".to_owned()]];
    for name in features.keys().filter(|name| *name != "default") {
        let alone = ["--no-default-features", "--features", name.as_str()];
        found.push(alone.map(str::to_owned).into());
    }
    found.push(vec!["--all-features".to_owned()]);
    Ok(found)
}

#[cfg(test)]
#[path = "features_test.rs"]
mod features_test;
