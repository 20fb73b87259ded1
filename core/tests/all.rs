//! The tests of whole connections and of corpora, in one program. What counts allocations has a
//! program of its own (`Cargo.toml`).
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]
#![allow(
    clippy::duplicate_mod,
    reason = "a file of tests says itself what it stands on, and runs apart too"
)]

mod client_attacks;
mod h1_corpus;
mod h2_attacks;
mod h2_client_session;
mod h2_drain;
mod h2_errors;
mod h2_exchange;
mod h2_flow;
mod h2_heads;
mod h2_owner_limits;
mod h2_resets;
mod h2_session;
mod h2_windows;
mod h3_attacks;
mod h3_drain;
mod h3_early;
mod h3_errors;
mod h3_exchange;
mod h3_left_tunnels;
mod h3_timeouts;
mod h3_windows;
mod hpack_corpus;
mod inspect;
mod qpack_corpus;
mod send_budget;
