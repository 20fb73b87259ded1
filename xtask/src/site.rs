//! `docs`: the guide, the documentation of the crates and that of the package's types as one site in
//! `target/site`, its links checked.

use crate::tools::{self, cargo, run};
use crate::{Outcome, node, render, root};
use std::process::Command;

/// Builds the site; a warning of rustdoc and a dead link fail.
pub(crate) fn docs() -> Outcome {
    run(
        cargo(&["doc", "--workspace", "--no-deps", "--all-features"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    node::is_there_or_report()?;
    let mdbook = tools::MDBOOK.ensure()?;
    run(&mut cargo(&["build", "--quiet", "-p", "trunkline-cli"]))?;
    node::install("docs/site")?;
    node::install("node/test")?;
    let built = node::built_in("dev");
    let documented = built.parent().unwrap_or(&built).join("doc");
    let options = root().join("target").join("options-of-rust.md");
    std::fs::write(&options, render::options::page()?)
        .map_err(|why| format!("cannot write {}: {why}", options.display()))?;
    // The look in a browser needs the WebSocket of Node.js 22 or later, which the system's may not have.
    let mut command = Command::new(node::newest_line());
    command.arg(root().join("docs/site/build.mjs"));
    run(command
        .arg(mdbook)
        .arg(built.join("trunkline"))
        .arg(documented)
        .arg(options))
}
