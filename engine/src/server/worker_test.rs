use super::super::callbacks::{Callbacks, ConnectionHandle, Ended, StreamHandle};
use super::*;
use crate::config::ServerConfig;
use crate::connection_info::ConnectionInfo;
use crate::net::listener::Owner;
use crate::server::callbacks::serve::CallbackServer;
use crate::server::connection::accept::Cleartext;
use crate::server::exchange::info_policy::InfoPolicy;
use crate::server::exchange::targets::Targets;
use crate::server::registry::Allowed;
use crate::server::response::AnswerOptions;
use bytes::Bytes;
use std::fs::File;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::mpsc::channel;
use trunkline_core::credit::BudgetShare;
use trunkline_core::http::{Fields, RequestHead, Version};
use trunkline_core::limits::Config;
use trunkline_core::min_rate::Scarcity;

/// A service that gets no request.
#[derive(Clone)]
struct Idle;

impl Callbacks for Idle {
    type Connection = ();
    type Exchange = ();

    fn connected(&self, _: ConnectionHandle, _: Version, _: Option<&ConnectionInfo>) {}
    fn requested(&self, (): &(), _: StreamHandle, _: &RequestHead, _: bool) {}
    fn body(&self, (): &(), _: Bytes, _: bool) {}
    fn trailers(&self, (): &(), _: &Fields) {}
    fn room(&self, (): &(), _: usize) {}
    fn ended(&self, (): (), _: Ended) {}
    fn disconnected(&self, (): ()) {}
}

/// A post with a listener of which the system cannot say when it is ready.
fn worker_config() -> WorkerConfig<CallbackServer<Idle>> {
    let extra = Arc::new(AnswerOptions::default());
    let no_socket = OwnedFd::from(File::open("/dev/null").expect("every system has it"));
    let listener = TcpListener::from(no_socket);
    listener
        .set_nonblocking(true)
        .expect("it is a file like others");
    WorkerConfig {
        listener: Listener::Tcp(listener, Owner::Here),
        setup: None,
        shared: WorkerContext {
            service: CallbackServer::new(Idle, &extra),
            tls: None,
            http1_config: Arc::new(Config::default()),
            cleartext: Cleartext {
                http1: true,
                http2: true,
            },
            config: Arc::new(Config::default()),
            counters: Arc::default(),
            budget_share: Arc::new(BudgetShare::new(1 << 20)),
            send_budget_share: Arc::new(BudgetShare::new(1 << 20)),
            scarcity: Scarcity::default(),
            extra,
            info_policy: InfoPolicy {
                keeps_targets: false,
                timelines: None,
                qlog: None,
                info: false,
                accepts: false,
                targets: Targets::new(&ServerConfig::default(), None),
                log: None,
                handshake_log: None,
                proxies: None,
                forwarding: None,
                quic_addr: None,
                tls_reports_addresses: false,
                judge: None,
            },
        },
        shedding: Shedding::default(),
        places: ConnectionPlaces::new(Allowed {
            connections: 1,
            per_address: None,
        }),
        address_rates: AddressRates::new(std::time::Instant::now()),
        second: None,
    }
}

#[test]
fn a_socket_that_cannot_be_used_is_reported_and_does_not_end_a_worker_without_a_word() {
    let ((begun, begins), (_commands, commands)) = (channel(), mpsc::unbounded_channel());
    run(worker_config(), commands, &begun);
    assert!(begins.recv().expect("it is told").is_err());
    let (_commands, commands) = mpsc::unbounded_channel();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let serving =
        tokio::task::LocalSet::new().block_on(&runtime, serve_here(worker_config(), commands));
    assert!(serving.is_err());
}
