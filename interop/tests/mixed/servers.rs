//! The servers: each of ours, and hyper.

use crate::callbacks::Site;
use crate::dice::Dice;
use crate::handler;
use crate::records::Records;
use crate::way::Way;
use futures_util::future::BoxFuture;
use http::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::LocalSet;
use tokio_rustls::TlsAcceptor;
use trunkline::core::budget::Rate;
use trunkline::server::{Inspector, service_fn};
use trunkline::{Body, Limits, Server, ServerConfig, Timeouts, Tls, Windows};
use trunkline_interop::Certificate;

/// Whose server it is, and by which API it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `trunkline::serve` with axum: connections and handlers are tasks of the caller's runtime.
    Serve,
    /// `Server` with two workers, on which the handlers run.
    Workers,
    Callbacks,
    Hyper,
}

/// A server that runs.
pub(crate) struct Running {
    pub(crate) port: u16,
    pub(crate) inspector: Option<Inspector>,
    /// Lets open exchanges end; done when the server has. None that was open is cut.
    pub(crate) drain: BoxFuture<'static, ()>,
}

/// Exchanges that are open when a server drains may take so long.
const DRAIN: Duration = Duration::from_secs(90);

pub(crate) async fn start(
    form: Form,
    way: Way,
    records: Arc<Records>,
    certificate: &Certificate,
    dice: &mut Dice,
) -> Running {
    let tls = way
        .is_tls()
        .then(|| Tls::from_pem_files(&certificate.chain, &certificate.key).unwrap());
    let config = config(dice);
    match form {
        Form::Serve => serve(records, tls, config).await,
        Form::Workers => workers(records, tls, config),
        Form::Callbacks => callbacks(records, tls, config, dice.clone()),
        Form::Hyper => hyper(way, records, certificate).await,
    }
}

fn config(dice: &mut Dice) -> ServerConfig {
    let limits = Limits::default()
        .with_resets(Rate {
            burst: 1_000_000,
            per_second: 1,
        })
        .with_requests_per_connection_max(1_000_000);
    // How fast the machine is must not matter.
    let timeouts = Timeouts::default().with_rate_min(0);
    ServerConfig::default()
        .with_limits(limits)
        .with_timeouts(timeouts)
        .with_interim_responses(true)
        .with_windows(windows(dice))
}

/// Windows of any size.
pub(crate) fn windows(dice: &mut Dice) -> Windows {
    match dice.below(4) {
        0 => Windows::fixed_64k(),
        1 => Windows::fixed(5_000, 200_000),
        _ => Windows::auto(),
    }
}

async fn serve(records: Arc<Records>, tls: Option<Tls>, config: ServerConfig) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = axum::Router::new().fallback(move |request: Request<axum::body::Body>| {
        let answer = handler::answer(Arc::clone(&records), request);
        async move { answer.await.map(axum::body::Body::new) }
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let mut server = trunkline::serve(listener, router).config(config).workers(2);
    if let Some(tls) = tls {
        server = server.tls(tls).http3(true);
    }
    let server = server.with_graceful_shutdown(async {
        // A test that fails drops it.
        let _ = stopped.await;
    });
    let task = tokio::spawn(server.into_future());
    let drain = Box::pin(async move {
        stop.send(()).unwrap();
        task.await.unwrap().unwrap();
    });
    Running {
        port,
        inspector: None,
        drain,
    }
}

fn workers(records: Arc<Records>, tls: Option<Tls>, config: ServerConfig) -> Running {
    let service = service_fn(move |request: Request<Body>| {
        let answer = handler::answer(Arc::clone(&records), request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let mut server = Server::bind("127.0.0.1:0").workers(2).config(config);
    if let Some(tls) = tls {
        server = server.tls(tls).http3(true);
    }
    let running = server.serve(service).unwrap();
    Running {
        port: running.local_addr().port(),
        inspector: Some(running.inspector()),
        drain: Box::pin(async move {
            let drained = running.drain(DRAIN).await;
            assert_eq!(drained.cut, 0, "a drain cuts what would have ended");
        }),
    }
}

fn callbacks(records: Arc<Records>, tls: Option<Tls>, config: ServerConfig, dice: Dice) -> Running {
    let mut server = Server::bind("127.0.0.1:0").workers(1).config(config);
    if let Some(tls) = tls {
        server = server.tls(tls).http3(true);
    }
    let listening = server.listen().unwrap();
    let port = listening.local_addr().port();
    let inspector = listening.inspector();
    let (stop, stopped) = oneshot::channel::<()>();
    let (over, is_over) = oneshot::channel();
    thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, async move {
            let dice = Rc::new(RefCell::new(dice));
            let (handle, serving) = listening.serve_callbacks(Site { records, dice }).unwrap();
            let serving = tokio::task::spawn_local(serving);
            // A test that fails drops it.
            let _ = stopped.await;
            handle.drain(DRAIN);
            serving.await.unwrap().unwrap();
            let _ = over.send(());
        });
    });
    Running {
        port,
        inspector: Some(inspector),
        drain: Box::pin(async move {
            stop.send(()).unwrap();
            is_over.await.unwrap();
        }),
    }
}

async fn hyper(way: Way, records: Arc<Records>, certificate: &Certificate) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let tls = way.is_tls().then(|| acceptor(certificate));
    let accepting = tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (tls, records) = (tls.clone(), Arc::clone(&records));
            tokio::spawn(async move {
                match tls {
                    None => serve_hyper(socket, records).await,
                    Some(tls) => {
                        // A client may have left.
                        if let Ok(socket) = tls.accept(socket).await {
                            serve_hyper(socket, records).await;
                        }
                    }
                }
            });
        }
    });
    Running {
        port,
        inspector: None,
        drain: Box::pin(async move { accepting.abort() }),
    }
}

fn acceptor(certificate: &Certificate) -> TlsAcceptor {
    let chain = vec![CertificateDer::from(certificate.der.clone())];
    let key = PrivateKeyDer::from_pem_file(&certificate.key).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

async fn serve_hyper(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    records: Arc<Records>,
) {
    let service = hyper::service::service_fn(move |request| {
        let answer = handler::answer(Arc::clone(&records), request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let builder = auto::Builder::new(TokioExecutor::new());
    // Clients that leave are errors.
    let _ = builder
        .serve_connection(TokioIo::new(socket), service)
        .await;
}
