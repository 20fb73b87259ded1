//! `make demo`: the engine's example of the same name, built with little optimisation, and the Node
//! client beside undici where Node.js is there.

use crate::tools::{cargo, run};
use crate::{Outcome, node};

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
    run(&mut cargo(&args))?;
    if !node::is_there() {
        eprintln!("going on without the Node client: node and npm are missing");
        return Ok(());
    }
    println!();
    node::demo()
}
