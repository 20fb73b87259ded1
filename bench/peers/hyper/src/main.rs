//! hyper as a peer: 1 KiB for every request, or pieces, HTTP/1.1 and HTTP/2 on one port, one thread.
//! Arguments: address [certificate key].

// The body of our own server's answers.
#[path = "../../trunkline/src/pieces.rs"]
mod pieces;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const TEXT: &[u8] = &[b'x'; 1024];

async fn answer(request: Request<Incoming>) -> Result<Response<pieces::AnswerBody>, Infallible> {
    let mut response = Response::new(pieces::answer(request.uri().path(), TEXT));
    let text = http::HeaderValue::from_static("text/plain");
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, text);
    if let Some(etag) = pieces::etag(request.uri().path()) {
        response.headers_mut().insert(http::header::ETAG, etag);
    }
    Ok(response)
}

async fn serve(socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http2().max_concurrent_streams(1000);
    // A peer that goes away is no failure here.
    let _ = server
        .serve_connection(TokioIo::new(socket), service_fn(answer))
        .await;
}

fn acceptor(certificate: &str, key: &str) -> Result<TlsAcceptor, Box<dyn Error>> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let address = arguments
        .first()
        .ok_or("usage: ADDRESS [CERTIFICATE KEY]")?;
    let tls = match arguments.as_slice() {
        [_, certificate, key] => Some(acceptor(certificate, key)?),
        _ => None,
    };
    let listener = TcpListener::bind(address).await?;
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let tls = tls.clone();
        tokio::spawn(async move {
            match tls {
                None => serve(socket).await,
                Some(tls) => {
                    if let Ok(socket) = tls.accept(socket).await {
                        serve(socket).await;
                    }
                }
            }
        });
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run())
}
