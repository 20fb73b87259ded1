//! The tests over sockets, in one program: what links it links once, and those that wait let others
//! run. What counts allocations or sets limits of the process has a program of its own
//! (`Cargo.toml`).
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod axum;
mod blocking;
#[path = "callbacks/main.rs"]
mod callbacks;
mod capsules;
mod client_certificates;
mod client_connector;
mod client_ech;
mod client_events;
mod client_exchange;
mod client_expect;
mod client_faults;
mod client_final_failures;
mod client_metrics;
mod client_net;
mod client_policies;
mod client_pool;
mod client_proxy;
mod client_request;
mod client_retry;
mod client_runtimes;
mod client_stress;
mod client_timeline;
mod client_tls;
mod client_unused;
mod client_websocket;
mod client_windows;
mod dns;
mod drain_queue;
#[path = "ends/main.rs"]
mod ends;
mod forwarding;
mod grpc_client;
mod grpc_malformed;
mod grpc_server;
mod grpc_unprocessed;
mod grpc_unprocessed_http3;
mod h1_over_tcp;
mod h2_over_tcp;
mod h3_broken_off;
mod h3_datagrams;
mod h3_early;
mod h3_exchange;
mod h3_load_balanced;
mod h3_paths;
mod h3_record;
mod h3_slow_readers;
mod h3_streams;
mod h3_traces;
mod inspect;
mod left_tunnels;
mod long_times;
mod lost_bodies;
mod meter;
#[cfg(target_os = "linux")]
mod mistakes;
mod on_runtime;
mod on_runtime_http3;
mod proxy_protocol;
mod read_on;
mod reqwest_lines;
#[cfg(unix)]
mod serve_listeners;
mod server_bounds;
mod server_info;
mod server_interim;
mod server_metrics;
mod server_shedding;
mod server_targets;
mod server_timelines;
mod support;
mod tls_choose;
mod tls_groups;
mod tls_over_tcp;
mod tls_visible;
mod unix_socket;
