//! Our server with foreign clients, our client with foreign servers: HTTP/1.1 and HTTP/2 in the
//! clear and over TLS, and HTTP/3. A peer that is not installed is named, and its tests pass.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod axum_programs;
mod client_hyper;
mod clients_browser;
mod clients_curl;
mod clients_nghttp;
mod clients_quic;
mod grpc;
mod grpc_ends;
mod grpc_layers;
mod grpc_panics;
mod grpc_requests;
mod grpc_restarts;
mod grpc_suite;
mod hyper_extensions;
mod ours;
#[path = "../../../engine/tests/support/ports.rs"]
mod ports;
mod server_bun;
mod server_caddy;
mod server_go;
mod server_hyper;
mod servers_debian;
mod servers_quic;
mod tower_layers;
mod way;
mod websocket;
