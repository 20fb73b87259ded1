//! The public API of the published library, an item on each line, compared with the listing that is kept in
//! `docs/api`: a change of it is visible in review, and none comes by chance. The API of trunkline-core is not
//! promised (`core/README.md`).

use crate::tools::{cargo, run};
use crate::{Outcome, node, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The libraries whose API is promised.
const LIBRARIES: [&str; 1] = ["trunkline"];
/// Lines of a difference that are printed.
const PRINTED_MAX: usize = 40;

/// `api`: compares. `api write`: writes the listings anew.
pub(crate) fn api(arguments: &[String]) -> Outcome {
    let writes = match arguments {
        [] => false,
        [word] if word == "write" => true,
        _ => return Err("api takes no argument, or `write`".to_owned()),
    };
    let mut stale = Vec::new();
    for library in LIBRARIES {
        let path = root()
            .join("docs")
            .join("api")
            .join(format!("{library}.txt"));
        let listed = listing(library)?;
        if writes {
            write(&path, &listed)?;
            continue;
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        let changes = changes(&kept, &listed);
        for change in changes.iter().take(PRINTED_MAX) {
            eprintln!("{library}: {change}");
        }
        if !changes.is_empty() {
            stale.push(format!("{library}: {} lines", changes.len()));
        }
    }
    match stale.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "the public API is not the one that docs/api lists ({}); if that is meant, \
             `cargo run -p xtask -- api write`, and name it in CHANGELOG.md",
            stale.join(", ")
        )),
    }
}

fn write(path: &Path, listed: &str) -> Outcome {
    let wrong = |why: std::io::Error| format!("{}: {why}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    std::fs::write(path, listed).map_err(wrong)
}

/// Items without those that derives and blanket implementations bring.
fn listing(library: &str) -> Result<String, String> {
    let json = rustdoc_json(library)?;
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_auto_derived_impls(true)
        .omit_auto_trait_impls(true)
        .omit_blanket_impls(true)
        .build();
    let api = api.map_err(|why| format!("{library}: {why}"))?;
    Ok(api.items().map(|item| format!("{item}\n")).collect())
}

/// rustdoc's output for programs, which the pinned toolchain writes where it is asked as if it were a nightly
/// one. The variable is for rustdoc alone: build scripts that watch it would run again.
fn rustdoc_json(library: &str) -> Result<PathBuf, String> {
    let built = node::built_in("dev");
    let folder = built.parent().unwrap_or(&built);
    let rustdoc = folder.join("rustdoc-json.sh");
    let wrong = |why: std::io::Error| format!("{}: {why}", rustdoc.display());
    std::fs::create_dir_all(folder).map_err(wrong)?;
    std::fs::write(
        &rustdoc,
        "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n",
    )
    .map_err(wrong)?;
    make_executable(&rustdoc).map_err(wrong)?;
    let mut command = cargo(&[
        "rustdoc",
        "--quiet",
        "-p",
        library,
        "--lib",
        "--all-features",
    ]);
    command.args(["--", "-Z", "unstable-options", "--output-format", "json"]);
    run(command.env("RUSTDOC", &rustdoc))?;
    let name = format!("{}.json", library.replace('-', "_"));
    Ok(folder.join("doc").join(name))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}
#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Lines of one listing that are not in the other, with `-` and `+`.
fn changes(kept: &str, listed: &str) -> Vec<String> {
    let (kept, listed): (BTreeSet<_>, BTreeSet<_>) =
        (kept.lines().collect(), listed.lines().collect());
    let gone = kept.difference(&listed).map(|line| format!("-{line}"));
    let new = listed.difference(&kept).map(|line| format!("+{line}"));
    gone.chain(new).collect()
}

#[cfg(test)]
#[path = "public_api_test.rs"]
mod public_api_test;
