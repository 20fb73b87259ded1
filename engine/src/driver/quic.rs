//! QUIC under HTTP/3. quinn-proto does packets, loss recovery, congestion control and TLS,
//! quinn-udp most system calls; this module moves bytes, time and stream events between them and
//! the machine. No other module uses either library.

pub(crate) mod config;
mod numbers;
mod receive_window;
pub(crate) mod rules;
pub(crate) mod session;
pub(crate) mod socket;
pub(crate) mod timers;
pub(crate) mod transport;
pub(crate) mod unanswered;
