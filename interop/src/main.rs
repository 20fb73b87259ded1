//! Makes the kept parts of foreign peers under `target/tools`, so that no test has to wait for them
//! or is left out: the Python environment, the program of quic-go, and Bun. Each failure is
//! reported in one sentence.

use trunkline_interop::{QuicStack, is_bun_installed};

fn main() {
    for stack in QuicStack::ALL {
        stack.is_installed();
    }
    is_bun_installed();
}
