//! Makes what foreign peers need and is kept under `target/tools`, so that no test has to wait for
//! it or goes without: the Python environment, the program of quic-go, and Bun. What cannot be made
//! is said in one sentence each.

use trunkline_interop::{QuicStack, is_bun_installed};

fn main() {
    for stack in QuicStack::ALL {
        stack.is_installed();
    }
    is_bun_installed();
}
