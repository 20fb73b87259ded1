//! `trunkline-bench`: measures Trunkline beside its peers, all in one run on this machine.

#[cfg(target_os = "linux")]
mod bursts;
mod clients;
mod generators;
mod load;
mod machine;
mod page;
#[cfg(target_os = "linux")]
mod paths;
mod scenario;
mod server;
mod subject;

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
    Server(server::ServerOptions),
    /// Servers in JavaScript: ours beside Node's own, Fastify, Express and Bun.
    NodeServer(server::node::NodeServerOptions),
    /// Load generators: `trunkline bench` beside h2load, against our server.
    Generators(generators::GeneratorsOptions),
    /// Clients in bulk: 1 GiB down and up over every version, ours beside reqwest and quinn.
    BulkClient(clients::bulk::BulkClientOptions),
    /// Small calls: our client beside reqwest, tonic on ours beside tonic on hyper.
    Calls(clients::calls::CallsOptions),
    /// Clients on long paths: 64 MiB in one stream at 20 and 100 ms, over real sockets.
    #[cfg(target_os = "linux")]
    WindowsReal(paths::windows::WindowsRealOptions),
    /// Our HTTP/3 beside our HTTP/2 over paths that lose and reorder packets.
    #[cfg(target_os = "linux")]
    H3Paths(paths::h3::H3PathsOptions),
    /// Clients in bursts: sockets, handshakes and deliveries, counted at the server.
    #[cfg(target_os = "linux")]
    Bursts(bursts::BurstsOptions),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Server(options) => server::run(&options),
        Command::NodeServer(options) => server::node::run(&options),
        Command::BulkClient(options) => clients::bulk::run(&options),
        Command::Calls(options) => clients::calls::run(&options),
        Command::Generators(options) => generators::run(&options),
        #[cfg(target_os = "linux")]
        Command::WindowsReal(options) => paths::windows::run(&options),
        #[cfg(target_os = "linux")]
        Command::H3Paths(options) => paths::h3::run(&options),
        #[cfg(target_os = "linux")]
        Command::Bursts(options) => bursts::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("trunkline-bench: {sentence}");
            ExitCode::FAILURE
        }
    }
}
