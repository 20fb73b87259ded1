//! `make bench` and its parts: programs under `bench/`, one per name.

use crate::tools::run;
use crate::{Outcome, root};
use std::process::Command;

/// What can be measured; `make bench` measures all of it.
const NAMES: &[&str] = &["server"];

/// Runs the measurement called `names[0]`, or all.
pub(crate) fn bench(names: &[String]) -> Outcome {
    let chosen: Vec<&str> = match names {
        [] => NAMES.to_vec(),
        [name, ..] => vec![name.as_str()],
    };
    for name in chosen {
        if !NAMES.contains(&name) {
            return Err(format!(
                "no measurement '{name}'; there are: {}",
                NAMES.join(", ")
            ));
        }
        let script = root().join("bench").join(name).join("run");
        if !script.is_file() {
            return Err(format!("bench/{name}/run is missing"));
        }
        run(&mut Command::new(script))?;
    }
    Ok(())
}
