//! A scripted end of a connection: a blocking socket, perhaps under TLS, with a scripted close.

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConnection, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How the bytes of a peer end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Fin,
    CloseNotify,
    Ragged,
    Rst,
    RstUnderTls,
    BadRecord,
}

impl End {
    pub(crate) const ALL: [Self; 6] = [
        Self::Fin,
        Self::CloseNotify,
        Self::Ragged,
        Self::Rst,
        Self::RstUnderTls,
        Self::BadRecord,
    ];
    /// Its name in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fin => "FIN",
            Self::CloseNotify => "close_notify",
            Self::Ragged => "FIN without close_notify",
            Self::Rst => "RST",
            Self::RstUnderTls => "RST under TLS",
            Self::BadRecord => "a bad record",
        }
    }
    pub(crate) fn is_under_tls(self) -> bool {
        !matches!(self, Self::Fin | Self::Rst)
    }
}

/// A socket, perhaps under TLS.
pub(crate) enum Wire {
    Plain(TcpStream),
    Server(Box<StreamOwned<ServerConnection, TcpStream>>),
    Client(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// An identity for `localhost`, and configurations of both sides that offer `alpn`.
pub(crate) struct Identity {
    pub(crate) root: CertificateDer<'static>,
    pub(crate) server: Arc<rustls::ServerConfig>,
    pub(crate) client: Arc<rustls::ClientConfig>,
}

impl Identity {
    pub(crate) fn new(alpn: &[&str]) -> Self {
        let signed = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        let root = signed.cert.der().clone();
        let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut server = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![root.clone()], key)
            .unwrap();
        let alpn: Vec<Vec<u8>> = alpn.iter().map(|&name| name.into()).collect();
        server.alpn_protocols.clone_from(&alpn);
        Self {
            client: trusting(root.clone(), alpn),
            root,
            server: Arc::new(server),
        }
    }
}

/// A client's configuration that trusts `root` alone.
pub(crate) fn trusting(
    root: CertificateDer<'static>,
    alpn: Vec<Vec<u8>>,
) -> Arc<rustls::ClientConfig> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(root).unwrap();
    let mut client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = alpn;
    Arc::new(client)
}

impl Wire {
    /// The server's side of `socket`.
    pub(crate) fn accepted(socket: TcpStream, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        patient(&socket);
        match tls {
            None => Self::Plain(socket),
            Some(config) => Self::Server(Box::new(StreamOwned::new(
                ServerConnection::new(config).unwrap(),
                socket,
            ))),
        }
    }
    /// The client's side of `socket`.
    pub(crate) fn connected(socket: TcpStream, tls: Option<Arc<rustls::ClientConfig>>) -> Self {
        patient(&socket);
        match tls {
            None => Self::Plain(socket),
            Some(config) => Self::Client(Box::new(StreamOwned::new(
                ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap(),
                socket,
            ))),
        }
    }
    /// Whether ALPN chose HTTP/2, once bytes came.
    pub(crate) fn is_h2(&self) -> bool {
        matches!(self, Self::Server(stream) if stream.conn.alpn_protocol() == Some(b"h2"))
    }
    fn socket(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Server(stream) => &mut stream.sock,
            Self::Client(stream) => &mut stream.sock,
        }
    }
    /// Ends our bytes. What the peer still says can be read after `Fin`, `CloseNotify` and `Ragged`.
    pub(crate) fn end(&mut self, end: End) {
        let _ = self.flush();
        match end {
            End::CloseNotify => {
                match self {
                    Self::Plain(_) => unreachable!("under TLS alone"),
                    Self::Server(stream) => stream.conn.send_close_notify(),
                    Self::Client(stream) => stream.conn.send_close_notify(),
                }
                let _ = self.flush();
            }
            End::BadRecord => {
                // Application data that no key has sealed.
                let mut record = vec![23, 3, 3, 0, 32];
                record.extend([7; 32]);
                self.socket().write_all(&record).unwrap();
                return;
            }
            End::Rst | End::RstUnderTls => {
                let socket = socket2::SockRef::from(&*self.socket());
                socket.set_linger(Some(Duration::ZERO)).unwrap();
                let spare = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
                let stand_in = TcpStream::connect(spare.local_addr().unwrap()).unwrap();
                drop(std::mem::replace(self.socket(), stand_in));
                return;
            }
            End::Fin | End::Ragged => {}
        }
        // A peer that has ended the connection meanwhile needs no end.
        let _ = self.socket().shutdown(Shutdown::Write);
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Server(stream) => stream.read(buffer),
            Self::Client(stream) => stream.read(buffer),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Server(stream) => stream.write(bytes),
            Self::Client(stream) => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Server(stream) => stream.flush(),
            Self::Client(stream) => stream.flush(),
        }
    }
}

/// A test whose wait has no end fails instead of hanging.
fn patient(socket: &TcpStream) {
    socket.set_nodelay(true).unwrap();
    let patience = Some(Duration::from_secs(20));
    socket.set_read_timeout(patience).unwrap();
}
