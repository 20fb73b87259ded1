//! `trunkline-bench`: measures Trunkline beside its peers, all in one run on this machine.

mod figures;
mod idle;
mod idle_h2;
mod load;
mod machine;
mod plot;
mod report;
mod scenario;
mod server;
mod subject;
mod usage;
mod writes;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Measures Trunkline beside its peers.
#[derive(Parser)]
#[command(name = "trunkline-bench")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Servers: CPU and write calls per request, memory per idle connection.
    Server(server::Options),
}

fn main() -> ExitCode {
    let Command::Server(options) = Arguments::parse().command;
    match server::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("trunkline-bench: {sentence}");
            ExitCode::FAILURE
        }
    }
}
