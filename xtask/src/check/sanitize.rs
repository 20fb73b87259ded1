//! `make sanitize`: checks unsafe code and threads beyond the compiler. Miri over the core and over
//! the addon's rings with a peer in Rust, loom over the rings and the engine's signals,
//! AddressSanitizer over the addon with tests of the npm package.

use crate::tools::{cargo, run};
use crate::{Outcome, node, root};
use std::process::Command;

/// A part: its name and what runs it.
type Part = (&'static str, fn() -> Outcome);

const PARTS: [Part; 4] = [
    ("miri-core", miri_core),
    ("miri", miri),
    ("loom", loom),
    ("address", address),
];

/// Under Miri a millisecond is a second: of the core's unit tests those that stay out draw thousands
/// of cases, allocate by the mebibyte, or run each input once per byte. What runs covers the arenas and
/// tables, where the core's dependencies have unsafe code.
const CORE_TESTS: [&str; 6] = [
    "wire::varint",
    "wire::type_length",
    "compress::text",
    "http::field",
    "http::body::slab",
    "http::head::request::free_list",
];

/// Parts of names of the rings' tests that fill an arena of a mebibyte or rings of thousands, and of
/// those that run with several orders of the threads.
const LONG_TESTS: [&str; 6] = [
    "full_",
    "fits_when",
    "no_room",
    "learns_of_what_waits",
    "found_room",
    "loom_",
];

/// Orders of the threads that Miri tries.
const MIRI_SEEDS: &str = "-Zmiri-many-seeds=0..8";

/// Tests of the package that move bodies and heads both ways, by reference and by copy, and end
/// environments in the middle.
const ADDRESS_TESTS: [&str; 7] = [
    "client/channel/ring.test.mjs",
    "client/requests/uploads.test.mjs",
    "client/requests/answers.test.mjs",
    "client/life.test.mjs",
    "serve/bodies.test.mjs",
    "server/transfers/batches.test.mjs",
    "server/transfers/piped_files.test.mjs",
];

/// The system's AddressSanitizer runtime; the addon is loaded by a program that has none.
const ADDRESS_RUNTIME: &str = "libasan.so";
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// `args`: the parts to run, default all.
pub(crate) fn sanitize(args: &[String]) -> Outcome {
    for name in args {
        if !PARTS.iter().any(|(part, _)| part == name) {
            let names: Vec<&str> = PARTS.iter().map(|(part, _)| *part).collect();
            return Err(format!("no part '{name}'; there are: {}", names.join(", ")));
        }
    }
    for (name, part) in PARTS {
        if args.is_empty() || args.iter().any(|arg| arg == name) {
            eprintln!("== {name}");
            part()?;
        }
    }
    Ok(())
}

/// A cargo of the nightly toolchain, building into a folder of its own.
fn nightly(folder: &str, args: &[&str]) -> Command {
    let mut command = cargo(args);
    // Through rustup, whatever toolchain runs this.
    command.env("RUSTUP_TOOLCHAIN", "nightly");
    command.env_remove("RUSTFLAGS");
    let target = root().join("target").join("sanitize").join(folder);
    command.env("CARGO_TARGET_DIR", target);
    command
}

fn need(components: &[&str]) -> Outcome {
    let mut add = Command::new("rustup");
    add.args(["component", "add", "--toolchain", "nightly"]);
    run(add.args(components)).map_err(|why| {
        let names = components.join(" and ");
        format!("this needs a nightly toolchain with {names} (rustup component add): {why}")
    })
}

fn miri_core() -> Outcome {
    need(&["miri", "rust-src"])?;
    run(&mut core_under_miri())
}

/// The core's tests under Miri.
fn core_under_miri() -> Command {
    let args = ["miri", "test", "-p", "trunkline-core", "--lib", "--"];
    let mut command = nightly("miri", &args);
    // The tests of the module itself: those of modules within it draw long inputs, and read corpora.
    for name in CORE_TESTS {
        let file = name.rsplit("::").next().unwrap_or(name);
        command.arg(format!("{name}::{file}_test::"));
    }
    command
}

fn miri() -> Outcome {
    need(&["miri", "rust-src"])?;
    let manifest = "sanitize/Cargo.toml";
    let unit = ["miri", "test", "--manifest-path", manifest, "--"];
    let skips = LONG_TESTS.iter().flat_map(|name| ["--skip", name]);
    run(nightly("miri", &unit).args(skips))?;
    let threads = ["miri", "test", "--manifest-path", manifest, "--", "loom_"];
    run(nightly("miri", &threads).env("MIRIFLAGS", MIRI_SEEDS))
}

fn loom() -> Outcome {
    let manifest = "sanitize/Cargo.toml";
    let args = ["test", "--release", "--manifest-path", manifest, "loom_"];
    run(nightly("loom", &args).env("RUSTFLAGS", "--cfg loom"))
}

fn address() -> Outcome {
    let runtime = Command::new("gcc")
        .arg(format!("-print-file-name={ADDRESS_RUNTIME}"))
        .output()
        .map_err(|why| format!("gcc says where {ADDRESS_RUNTIME} is, and cannot start: {why}"))?;
    let runtime = String::from_utf8_lossy(&runtime.stdout).trim().to_owned();
    if !runtime.contains('/') {
        return Err(format!("{ADDRESS_RUNTIME} is missing: apt-get install gcc"));
    }
    // Without mimalloc: what is allocated must be the sanitizer's.
    let args = ["build", "-p", "trunkline-node", "--no-default-features"];
    let mut build = nightly("address", &args);
    build.args(["--target", TARGET]);
    run(build.env("RUSTFLAGS", "-Zsanitizer=address"))?;
    let folder = root().join("target/sanitize/address").join(TARGET);
    node::put_beside(&folder.join("debug/libtrunkline_node.so"))?;
    let tested = ADDRESS_TESTS.iter().map(|name| format!("node/test/{name}"));
    let mut test = Command::new("node");
    test.args(["--import=./node/test/support/ends.mjs", "--test"]);
    test.args(["--test-concurrency=1", "--test-timeout=600000"]);
    test.args(tested)
        .env("TRUNKLINE_ORIGIN", node::origin("dev")?);
    // V8 and Node.js free nothing at their end.
    test.env("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1");
    let tested = run(test.env("LD_PRELOAD", runtime));
    // The next test finds the addon that it expects.
    node::build("dev").and(tested)
}

#[cfg(test)]
#[path = "sanitize_test.rs"]
mod sanitize_test;
