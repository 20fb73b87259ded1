//! `flake N FILE [PAUSE]`: one file of tests, N times over; says how many runs failed.

mod paused;

use crate::tools::{cargo, run};
use crate::{Outcome, node, root};
use std::process::Command;
use std::time::Duration;

const USAGE: &str = "usage: flake N FILE [PAUSE], N from 1 to 1000, FILE node/test/FOLDER/NAME.test.mjs, \
    CRATE/tests/NAME.rs or CRATE/tests/NAME/main.rs, PAUSE from 1 to 60: seconds for which all of its \
    processes are stopped, each 3 to 10 s";
/// A run of a file is seconds; a thousand of them is the longest that is worth waiting for.
const RUNS_MAX: u32 = 1000;
/// Milliseconds for a file of the package's tests. One whose processes are stopped for most of the time has six times as many.
const FILE_MS_MAX: u32 = 300_000;

/// Runs the tests of a file again and again.
pub(crate) fn flake(args: &[String]) -> Outcome {
    let (times, file, pause) = match args {
        [times, file] => (times, file, None),
        [times, file, pause] => (times, file, Some(pause)),
        _ => return Err(USAGE.into()),
    };
    let pause = match pause.map(|it| it.parse().ok().filter(|it| (1..=60).contains(it))) {
        Some(None) => return Err(USAGE.into()),
        Some(Some(seconds)) => Some(Duration::from_secs(seconds)),
        None => None,
    };
    let times = times.parse().ok().filter(|n| (1..=RUNS_MAX).contains(n));
    let times: u32 = times.ok_or(USAGE)?;
    let mut failed = 0;
    if !root().join(file).is_file() {
        return Err(format!("there is no file {file}; {USAGE}"));
    }
    let once: Box<dyn Fn() -> Command> = match program_of(file) {
        Some(FlakyProgram::Rust { krate, name }) => {
            let manifest = root().join(&krate).join("Cargo.toml");
            let text = std::fs::read_to_string(&manifest);
            let text = text.map_err(|why| format!("{}: {why}", manifest.display()))?;
            let is_apart = text.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            let is_gathered = root().join(&krate).join("tests/all.rs").is_file() && !is_apart;
            Box::new(move || {
                let mut command = cargo(&["test", "--manifest-path"]);
                command.arg(&manifest).arg("--test");
                match is_gathered {
                    true => command.args(["all", "--", &format!("{name}::")]),
                    false => command.arg(&name),
                };
                command
            })
        }
        Some(FlakyProgram::Node) => {
            let origin = node::prepare()?;
            let file = root().join(file);
            let limit = FILE_MS_MAX * if pause.is_some() { 6 } else { 1 };
            Box::new(move || {
                let mut command = Command::new("node");
                let ends = root().join("node/test/support/ends.mjs");
                command.arg(format!("--import={}", ends.display()));
                command.arg("--test").arg(format!("--test-timeout={limit}"));
                command.arg(&file);
                command.env("TRUNKLINE_ORIGIN", &origin);
                command
            })
        }
        None => return Err(USAGE.into()),
    };
    for time in 1..=times {
        eprintln!("== {time} of {times}");
        let outcome = match pause {
            Some(pause) => paused::run(&mut once(), pause),
            None => run(&mut once()),
        };
        failed += u32::from(outcome.is_err());
    }
    match failed {
        0 => {
            println!("{times} runs, none failed");
            Ok(())
        }
        _ => Err(format!("{failed} of {times} runs failed")),
    }
}

enum FlakyProgram {
    /// The file of this name among a crate's tests.
    Rust {
        krate: String,
        name: String,
    },
    Node,
}

/// The program that runs the tests of this file.
fn program_of(file: &str) -> Option<FlakyProgram> {
    if file.starts_with("node/test/") && file.ends_with(".test.mjs") {
        return Some(FlakyProgram::Node);
    }
    let (krate, rest) = file.split_once("/tests/")?;
    let name = rest.strip_suffix("/main.rs");
    let name = name.or_else(|| rest.strip_suffix(".rs"))?;
    Some(FlakyProgram::Rust {
        krate: krate.to_owned(),
        name: name.to_owned(),
    })
}
