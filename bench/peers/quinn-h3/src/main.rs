//! quinn with the crate h3 as a peer: 2 bytes for every request over HTTP/3, or pieces, one thread.
//! Arguments: address certificate key.

#[path = "../../../../cli/src/allocator.rs"]
mod allocator;

use bytes::Bytes;
use h3::server::RequestStream;
use h3_quinn::{BidiStream, Connection};
use http::{HeaderValue, Request, Response, header};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, EndpointConfig, Incoming, ServerConfig, VarInt};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::error::Error;
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: allocator::Mimalloc = allocator::Mimalloc;

const TEXT: &[u8] = b"ok";
/// As ours.
const STREAMS_MAX: u32 = 256;

/// One piece of an answer in pieces.
const PIECE: &[u8] = &[b'x'; 16 * 1024];
const PIECES: usize = 16;

async fn answer(
    request: Request<()>,
    mut stream: RequestStream<BidiStream<Bytes>, Bytes>,
) -> Result<(), Box<dyn Error>> {
    // A request half that is dropped unread would be refused with code 0.
    while stream.recv_data().await?.is_some() {}
    let mut response = Response::new(());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    let path = request.uri().path();
    let bulk = path
        .strip_prefix("/bulk/")
        .and_then(|bytes| bytes.parse::<usize>().ok());
    if path == "/streamed" || bulk.is_some() {
        stream.send_response(response).await?;
        for _ in 0..bulk.map_or(PIECES, |bytes| bytes / PIECE.len()) {
            stream.send_data(Bytes::from_static(PIECE)).await?;
        }
    } else {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(TEXT.len()));
        stream.send_response(response).await?;
        stream.send_data(Bytes::from_static(TEXT)).await?;
    }
    stream.finish().await?;
    Ok(())
}

async fn serve(incoming: Incoming) -> Result<(), Box<dyn Error>> {
    let connection = Connection::new(incoming.await?);
    let mut connection = h3::server::Connection::new(connection).await?;
    while let Some(request) = connection.accept().await? {
        tokio::spawn(async move {
            if let Ok((request, stream)) = request.resolve_request().await {
                // A peer that goes away is no failure here.
                let _ = answer(request, stream).await;
            }
        });
    }
    Ok(())
}

fn config(certificate: &str, key: &str) -> Result<ServerConfig, Box<dyn Error>> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    let mut transport = quinn::TransportConfig::default();
    transport.max_concurrent_bidi_streams(VarInt::from_u32(STREAMS_MAX));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, certificate, key] = arguments.as_slice() else {
        return Err("usage: ADDRESS CERTIFICATE KEY".into());
    };
    let runtime = quinn::default_runtime().ok_or("no runtime")?;
    let socket = UdpSocket::bind(address)?;
    let server = Some(config(certificate, key)?);
    let endpoint = Endpoint::new(EndpointConfig::default(), server, socket, runtime)?;
    // The starter waits until the TCP port answers.
    let _ready = TcpListener::bind(address)?;
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            let _ = serve(incoming).await;
        });
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    allocator::use_small_pages();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run())
}
