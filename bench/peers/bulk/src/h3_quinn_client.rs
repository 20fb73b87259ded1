//! The client of quinn with the crate h3, over one connection.

use crate::{Direction, Outcome, count, pieces};
use bytes::{Buf, Bytes};
use h3::client::SendRequest;
use h3_quinn::{Connection, OpenStreams};
use http::Request;
use quinn::Endpoint;
use quinn::crypto::rustls::QuicClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;

/// One connection.
#[derive(Clone)]
pub(crate) struct Client {
    requests: SendRequest<OpenStreams, Bytes>,
    _endpoint: Endpoint,
}

impl Client {
    pub(crate) async fn connect(url: &str) -> Outcome<Self> {
        let uri: http::Uri = url.parse()?;
        let authority = uri.authority().ok_or("the URL has no authority")?;
        let address = authority.as_str().parse()?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let mut endpoint = Endpoint::client("127.0.0.1:0".parse()?)?;
        let config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
        endpoint.set_default_client_config(config);
        let connection = endpoint.connect(address, "localhost")?.await?;
        let (mut driver, requests) = h3::client::new(Connection::new(connection)).await?;
        tokio::spawn(async move { std::future::poll_fn(|cx| driver.poll_close(cx)).await });
        Ok(Self {
            requests,
            _endpoint: endpoint,
        })
    }

    pub(crate) async fn transfer(
        &self,
        direction: Direction,
        url: &str,
        bytes: u64,
    ) -> Outcome<u64> {
        let request = match direction {
            Direction::Down => Request::get(format!("{url}/{bytes}")),
            Direction::Up => Request::put(url),
        };
        let mut stream = self
            .requests
            .clone()
            .send_request(request.body(())?)
            .await?;
        if direction == Direction::Up {
            for _ in 0..bytes / pieces::PIECE.len() as u64 {
                stream.send_data(Bytes::from_static(pieces::PIECE)).await?;
            }
        }
        stream.finish().await?;
        stream.recv_response().await?;
        let mut received = 0;
        let mut text = Vec::new();
        while let Some(mut data) = stream.recv_data().await? {
            received += data.remaining() as u64;
            if direction == Direction::Up {
                text.extend_from_slice(&data.copy_to_bytes(data.remaining()));
            }
        }
        match direction {
            Direction::Down => Ok(received),
            Direction::Up => count(&text.into()),
        }
    }
}

/// Accepts what a server on this machine shows, as the other clients do here.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
