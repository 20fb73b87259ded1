//! Makes the kept parts of foreign peers under `target/tools`, so that no test has to wait for them
//! or is left out: the Python environment, the programs of quic-go and grpc-go, and Bun. Each
//! failure is reported in one sentence. With the argument `grpc-go` it makes that program alone and
//! prints its path.

use std::process::ExitCode;
use trunkline_interop::{GrpcGo, QuicStack, is_bun_installed};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("grpc-go") {
        return match GrpcGo::program() {
            Ok(program) => {
                println!("{}", program.display());
                ExitCode::SUCCESS
            }
            Err(why) => {
                eprintln!("{why}");
                ExitCode::FAILURE
            }
        };
    }
    for stack in QuicStack::ALL {
        stack.is_installed();
    }
    GrpcGo::is_installed();
    is_bun_installed();
    ExitCode::SUCCESS
}
