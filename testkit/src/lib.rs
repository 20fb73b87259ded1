//! Test peers.
