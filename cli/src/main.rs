//! `trunkline`: serve files, get a URL, measure a server; HTTP/1.1, HTTP/2 and HTTP/3.
//!
//! Exit codes: 0 done; 1 the network, the peer or the server's answer failed it, or `serve --check` found a file that
//! cannot be used; 2 the command line or the configuration was wrong (nothing was sent); 23 the output could not be
//! written; 141 its reader has closed it. Those of `get` are curl's (`get/exit.rs`).
mod admin;
mod allocator;
mod bench;
mod failure;
mod get;
mod packaging;
mod serve;
mod system;
mod target;
mod tls_options;
mod token;

use clap::{CommandFactory, Parser, Subcommand};
use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::Mimalloc = allocator::Mimalloc;

/// Many requests, few connections, no stalls: HTTP/1.1, HTTP/2 and HTTP/3, client and server.
#[derive(Parser)]
#[command(name = "trunkline", version, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve a directory over HTTP/1.1, HTTP/2 and HTTP/3 on one port.
    Serve(Box<serve::ServeOptions>),
    /// Fetch a URL.
    Get(Box<get::GetOptions>),
    /// Measure a server: requests per second and latencies.
    Bench(Box<bench::BenchOptions>),
    /// Show what a server or a client is doing, by the address of its admin page.
    Top(admin::top::TopOptions),
    /// Print the timeline of a failed request of a client, by its number and the address of the client's admin page.
    Explain(admin::explain::ExplainOptions),
    /// Print completions for a shell.
    Completions(packaging::CompletionsOptions),
    /// Write the manual pages into a folder.
    Manual(packaging::ManualOptions),
}

fn main() -> ExitCode {
    allocator::use_small_pages();
    let arguments = std::env::args_os().collect();
    let lines = get::command_line::command_lines(arguments, &mut Arguments::command());
    let outcome = lines.and_then(carry_out);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    }
}

/// Several command lines are those of `get`.
fn carry_out(lines: Vec<Vec<OsString>>) -> Result<(), Failure> {
    let mut gets = Vec::new();
    for line in lines {
        match Arguments::parse_from(line).command {
            Command::Get(options) => gets.push(*options),
            other => return carry_out_one(other),
        }
    }
    get::run(gets)
}

fn carry_out_one(command: Command) -> Result<(), Failure> {
    match command {
        Command::Serve(options) => serve::run(*options),
        Command::Get(options) => get::run(vec![*options]),
        Command::Bench(options) => bench::run(*options),
        Command::Top(options) => admin::top::show(&options),
        Command::Explain(options) => admin::explain::print(&options),
        Command::Completions(options) => {
            packaging::print_completions(&options, &mut Arguments::command())
        }
        Command::Manual(options) => packaging::write_manual(&options, Arguments::command()),
    }
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the network, the peer or the server's answer failed it; serve --check: the file cannot be used;
       get has curl's codes instead, as 6 (name), 7 (connection), 22 (-f), 28 (time), 60 (certificate)
  2    the command line or the configuration was wrong; nothing was sent
  23   the output could not be written
  141  the output was closed by its reader";
