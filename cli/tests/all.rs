//! The tests of the command, in one program: what links the engine links it once, and those that wait
//! let others run.

mod activation;
mod admin;
mod balancer;
mod bench;
mod command;
mod config;
mod curl;
mod get;
mod get_files;
mod http3;
#[path = "support/lines.rs"]
mod lines;
mod next_process;
mod operate;
#[allow(unreachable_pub, reason = "a crate of its own gives it to others")]
#[path = "../../interop/src/port.rs"]
mod port;
#[path = "support/scripted.rs"]
mod scripted;
mod serve;
#[path = "support/served.rs"]
mod served;
mod unit_file;
mod upgrade;
