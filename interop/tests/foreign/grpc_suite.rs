//! gRPC's interop suite between grpc-go and tonic on our engine, in both directions, in the clear and over TLS.
//!
//! Cases of the suite that grpc-go has and these tests leave out:
//! - `compute_engine_creds`, `service_account_creds`, `jwt_token_creds`, `per_rpc_creds`, `oauth2_auth_token`,
//!   `google_default_credentials`, `compute_engine_channel_credentials`: they need an account of Google's cloud.
//! - `orca_per_rpc`, `orca_oob`: load reports that an application sends; tonic has no such part.
//! - `pick_first_unary` with grpc-go's server, which sends no id.
//!
//! `client_compressed_*` and `server_compressed_*` are not among grpc-go's cases. Its calls with `-gzip` compress every
//! message, and its server answers likewise, so that they stand in for them.

mod cases;
mod service;
mod wire;

use crate::way::{Way, run};
use cases::Caller;
use service::TestService;
use tonic::client::Grpc;
use tonic::codec::CompressionEncoding;
use tonic::service::Routes;
use trunkline::Tls;
use trunkline::grpc::{GrpcClient, with_deadlines};
use trunkline_interop::{Certificate, GrpcGo, Workplace};

/// The cases that both directions have.
const CASES: [&str; 14] = [
    "empty_unary",
    "large_unary",
    "client_streaming",
    "server_streaming",
    "ping_pong",
    "empty_stream",
    "timeout_on_sleeping_server",
    "cancel_after_begin",
    "cancel_after_first_response",
    "status_code_and_message",
    "special_status_message",
    "custom_metadata",
    "unimplemented_method",
    "unimplemented_service",
];
/// Cases of grpc-go's client alone.
const OF_GO: [&str; 3] = ["pick_first_unary", "rpc_soak", "channel_soak"];
/// Those that are tried with compressed messages too.
const COMPRESSED: [&str; 5] = [
    "large_unary",
    "client_streaming",
    "server_streaming",
    "ping_pong",
    "custom_metadata",
];

/// The failures of all cases against our server on `port`.
fn failures_at(port: u16, root: Option<&Certificate>) -> Vec<String> {
    let plain = CASES.iter().chain(&OF_GO).map(|case| (case, &[][..]));
    let compressed = COMPRESSED.iter().map(|case| (case, &["-gzip"][..]));
    let failed = plain.chain(compressed).filter_map(|(case, flags)| {
        let failure = GrpcGo::call(port, root, flags, case).err()?;
        Some(format!("{case} {flags:?}: {failure}"))
    });
    failed.collect()
}

#[test]
fn grpc_gos_client_passes_every_case_against_tonic_on_our_server() {
    if !GrpcGo::is_installed() {
        return;
    }
    let workplace = Workplace::new().unwrap();
    let certificate = Certificate::write(workplace.path()).unwrap();
    let tls = Tls::from_pem_files(&certificate.chain, &certificate.key).unwrap();
    let server = || trunkline::Server::bind("127.0.0.1:0").workers(1);
    let service = || with_deadlines(Routes::new(TestService));
    let clear = server().serve(service()).unwrap();
    let secure = server().tls(tls).serve(service()).unwrap();
    assert_eq!(failures_at(clear.local_addr().port(), None), [""; 0]);
    let port = secure.local_addr().port();
    assert_eq!(failures_at(port, Some(&certificate)), [""; 0]);
}

#[test]
fn tonic_over_our_client_passes_every_case_against_grpc_gos_server() {
    if !GrpcGo::is_installed() {
        return;
    }
    let workplace = Workplace::new().unwrap();
    let certificate = Certificate::write(workplace.path()).unwrap();
    let peer = GrpcGo::serve(&workplace, &certificate).unwrap();
    run(async {
        for (way, port) in [(Way::H2c, peer.clear), (Way::H2Tls, peer.tls)] {
            let client = GrpcClient::new(way.client(&certificate));
            let grpc = || Grpc::with_origin(client.clone(), way.url_at(port, "").parse().unwrap());
            let gzip = CompressionEncoding::Gzip;
            let packed = || grpc().send_compressed(gzip).accept_compressed(gzip);
            let plain = CASES.iter().map(|case| (case, grpc()));
            let compressed = COMPRESSED.iter().map(|case| (case, packed()));
            for (case, grpc) in plain.chain(compressed) {
                eprintln!("{way:?} {case}");
                assert!(Caller(grpc).run(case).await, "{case} is no case");
            }
        }
    });
}
