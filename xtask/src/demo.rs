//! `make demo`: the engine's example of the same name, built with little optimisation.

use crate::Outcome;
use crate::tools::{cargo, run};

/// Builds and runs the demo.
pub(crate) fn demo() -> Outcome {
    let args = [
        "run",
        "--quiet",
        "--profile",
        "demo",
        "-p",
        "trunkline",
        "--example",
        "demo",
    ];
    run(&mut cargo(&args))
}
