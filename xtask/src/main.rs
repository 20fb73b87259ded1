//! The commands behind the Makefile. Each installs the tools that it needs (`tools.rs`) or reports
//! in one sentence what is missing and how to get it.

mod bench;
mod check;
mod demo;
mod node;
mod ready;
mod render;
mod site;
mod suite;
mod tidy;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- COMMAND

  demo           start a server and send it 2,000 concurrent requests
  test           every test of the workspace and of the npm package
  ready          everything that CI runs
  tidy           the rules of structure
  conform        h2spec, httpwg and the cases of conformance/h3 against our server
  bench [NAME]   measure (server, node-server, client, grpc, windows-real, bursts, h3-paths)
  attacks [ROW..]   docs/attacks.md over sockets, server and clients: memory, CPU, a neighbour's waits
                 (--debug, --demo: with less optimization than a release)
  apps [NAME..]  real applications, installed from npm, on servers and clients of Node.js and on ours
                 (--fresh: install again)
  interop        gRPC's interop suite, grpc-go with tonic and grpc-js on our engine, in both directions
  node           build the npm package and its addon
  node-test      the tests of the npm package
  node-pack      the npm packages, installed and tried
  node-soak [client|server]   mixed load with faults: ten minutes on the client, thirty on servers
                 (--seconds N, --seed N)
  node-lines [LINE..]   every test file on every installed line of Node.js (node20, node24 ..)
  comparisons [LINE..]   every comparison with undici and node:http2 on every installed line of Node.js
  wpt [PART] [--corpus FOLDER]   web-platform-tests' fetch tests with Node's own fetch and ours, side by side
  api [write]    the public API of the crate trunkline compared with docs/api (written)
  crates         the packages of crates.io, each packed and built from its package
  release PART   a step of the workflow that releases: check [TAG] (all of them, as a dry run), versions TAG,
                 notes [TAG], program, npm FILE.., sbom, checksums
  features       the engine with its features alone and combined, with the oldest compiler, and its crates counted
  flake N FILE [PAUSE]   the tests of one file, N times, with pauses of PAUSE seconds
  fuzz [SECONDS] [TARGET..]   every target for so many seconds (default 60)
  sanitize [PART..]   Miri, loom, AddressSanitizer (miri-core, miri, loom, address)
  generate       files that are rendered from a table (node/channel.toml, docs/promises.toml, the differences of the comparisons)
  mutants [WORD..]   break the code under each property of the simulator; a test must notice
  docs           the guide, the rustdoc and the types of the npm package as one site, target/site
  newcomer       every program of the README and the guide in an empty folder with the packages alone, and typical mistakes
                 (--only WORD: of pages whose path has this word; --accept: what mistakes print now is right)";

/// One sentence: what went wrong and what to do.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", &[][..]),
    };
    let outcome = match command {
        "demo" => demo::demo(),
        "test" => suite::test(),
        "ready" => ready::ready(),
        "tidy" => tidy::run(&root()),
        "conform" => check::conform::conform(rest),
        "bench" => bench::bench(rest),
        "attacks" => check::attacks::attacks(rest),
        "apps" => check::apps::apps(rest),
        "interop" => check::apps::interop(),
        "node" => node::build("release"),
        "node-test" => node::test(),
        "node-pack" => node::pack(),
        "node-soak" => node::soak(rest),
        "node-lines" => node::script("dev", "lines/all.mjs", rest),
        "comparisons" => node::script("dev", "comparisons/all.mjs", rest),
        "wpt" => node::script("dev", "wpt/run.mjs", rest),
        "generate" => render::generated::generate(),
        "api" => check::public_api::api(rest),
        "crates" => check::release::crates::crates(),
        "release" => check::release::release(rest),
        "features" => check::features::features(),
        "flake" => check::flake::flake(rest),
        "fuzz" => check::fuzz::fuzz(rest),
        "sanitize" => check::sanitize::sanitize(rest),
        "mutants" => check::mutants::mutants(rest),
        "docs" => site::docs(),
        "newcomer" => node::newcomer(rest),
        "" | "help" | "--help" | "-h" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        other => {
            eprintln!("xtask: no command '{other}'\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("xtask {command}: {sentence}");
            ExitCode::FAILURE
        }
    }
}

/// The project's root.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
