//! QUIC under HTTP/3. Packets, loss, congestion and TLS are quinn-proto's, most system calls
//! are quinn-udp's; here bytes, time and stream events go between them and the machine. Nothing else
//! in the project knows either library.

pub(crate) mod batch;
pub(crate) mod cid;
pub(crate) mod config;
mod congestion;
pub(crate) mod early;
pub(crate) mod lane;
#[cfg(target_os = "linux")]
mod many;
#[cfg(feature = "qlog")]
pub(crate) mod qlog;
mod receive_window;
pub(crate) mod rules;
pub(crate) mod secret;
pub(crate) mod session;
pub(crate) mod socket;
pub(crate) mod timers;
pub(crate) mod unanswered;
