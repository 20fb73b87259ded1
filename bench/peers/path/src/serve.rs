//! Servers that answer `/N` with N bytes.

use crate::Outcome;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::UdpSocket;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tower_service::Service;
use trunkline::{Body, Congestion, Server, Tls};

/// Every answer is a part of this.
static BYTES: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(vec![b'x'; 64 << 20]));

fn answer(path: &str) -> Response<Full<Bytes>> {
    let length = path.trim_start_matches('/').parse().unwrap_or(0);
    Response::new(Full::new(BYTES.slice(..BYTES.len().min(length))))
}

/// Ours, one worker per core.
pub(crate) fn trunkline(
    congestion: Congestion,
    address: &str,
    certificate: &str,
    key: &str,
) -> Outcome {
    let tls = Tls::from_pem_files(certificate, key)?;
    let server = Server::bind(address).tls(tls).http3(true);
    let server = server.quic_congestion(congestion);
    server.serve(Ours { announces: None })?.join();
    Ok(())
}

/// Ours, which says that it serves HTTP/3 where every packet over UDP is lost.
pub(crate) fn without_udp(address: &str, certificate: &str, key: &str) -> Outcome {
    let tls = Tls::from_pem_files(certificate, key)?;
    let taken = UdpSocket::bind(address)?;
    let port = taken.local_addr()?.port();
    let printed = HeaderValue::from_str(&format!("h3=\":{port}\""))?;
    let server = Server::bind(address).tls(tls);
    let announces = Some(printed);
    server.serve(Ours { announces })?.join();
    drop(taken);
    Ok(())
}

#[derive(Clone)]
struct Ours {
    announces: Option<HeaderValue>,
}

impl Service<Request<Body>> for Ours {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut response = answer(request.uri().path());
        if let Some(printed) = &self.announces {
            response
                .headers_mut()
                .insert(header::ALT_SVC, printed.clone());
        }
        ready(Ok(response))
    }
}

/// hyper, one thread.
pub(crate) async fn hyper(address: &str, certificate: &str, key: &str) -> Outcome {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(address).await?;
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let Ok(socket) = acceptor.accept(socket).await else {
                return;
            };
            let mut server = auto::Builder::new(TokioExecutor::new());
            // As much as fills a long path.
            server.http2().max_send_buf_size(16 << 20);
            let service = service_fn(|request: Request<_>| {
                let _: &hyper::body::Incoming = request.body();
                ready(Ok::<_, Infallible>(answer(request.uri().path())))
            });
            // A peer that goes away is no failure here.
            let _ = server.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
