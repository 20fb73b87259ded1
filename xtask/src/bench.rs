//! `make bench` and its parts: measurements of the crate `trunkline-bench`, one per name.

use crate::check::apps::grpc_go;
use crate::tools::{cargo, run};
use crate::{Outcome, node};

/// The measurements; `make bench` runs all of them.
const NAMES: &[&str] = &[
    "server",
    "node-server",
    "generators",
    "bulk-client",
    "calls",
    "windows-real",
    "bursts",
    "client",
    "grpc",
    "h3-paths",
];

/// Runs the measurement called `names[0]` with the flags behind it, or all.
pub(crate) fn bench(names: &[String]) -> Outcome {
    let (chosen, flags) = match names {
        [] => (NAMES.to_vec(), &[][..]),
        [name, flags @ ..] => (vec![name.as_str()], flags),
    };
    for name in chosen {
        let needs_node = matches!(name, "node-server" | "client" | "grpc");
        if names.is_empty() && needs_node && !node::is_there() {
            eprintln!("going on without {name}: there is no Node.js");
            continue;
        }
        if !NAMES.contains(&name) {
            return Err(format!(
                "no measurement '{name}'; there are: {}",
                NAMES.join(", ")
            ));
        }
        if matches!(name, "client" | "grpc") {
            let grpc_go = (name == "grpc").then(grpc_go).flatten();
            let mut variables =
                Vec::from_iter(grpc_go.map(|program| ("TRUNKLINE_GRPC_GO", program)));
            if name == "grpc" {
                variables.push(("TRUNKLINE_GRPC_RUST", rust_calls()?));
            }
            let script = format!("bench/{name}.mjs");
            node::script_with("release", &script, flags, &variables)?;
            continue;
        }
        let needs_addon = name == "node-server" || name == "windows-real" && node::is_there();
        if needs_addon {
            node::build("release")?;
        }
        let program = ["run", "--release", "--quiet", "-p", "trunkline-bench", "--"];
        run(cargo(&program).arg(name).args(flags))?;
    }
    Ok(())
}

/// Builds the program of tonic's clients and servers; its path.
fn rust_calls() -> Result<String, String> {
    let build = [
        "build",
        "--release",
        "--quiet",
        "-p",
        "trunkline-bench",
        "--bin",
        "bench-calls",
    ];
    run(&mut cargo(&build))?;
    let program = node::built_in("release").join("bench-calls");
    Ok(program.display().to_string())
}
