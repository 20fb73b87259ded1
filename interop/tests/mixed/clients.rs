//! The clients: ours, and hyper's over connections of its own.

use crate::dice::Dice;
use crate::handler::BoxBody;
use crate::handler::BoxError;
use crate::plan::{BodyPlan, End, Feeds, Plan};
use crate::servers::windows;
use crate::source::{Source, TRAILER, trailers};
use crate::way::Way;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;
use trunkline::client::{
    ClientTimeouts, ClientTls, HealthTimes, InspectLimits, Protocols, RetryPolicy,
};
use trunkline::{Body, Client};
use trunkline_interop::Certificate;

/// The client of a run.
pub(crate) enum AnyClient {
    Ours(Client),
    Hyper(Hyper),
}

/// Interim responses that came to a request.
pub(crate) type Interims = Arc<AtomicUsize>;

/// Repetitions of a request of our client.
pub(crate) const RETRIES: u32 = 3;
/// Connections of HTTP/1.1, and exchanges at once of hyper's client there.
const H1_CONNECTIONS: u32 = 8;

impl AnyClient {
    /// `connect`: the time of an attempt to connect, at most.
    pub(crate) fn ours(
        way: Way,
        certificate: &Certificate,
        dice: &mut Dice,
        connect: Duration,
    ) -> Self {
        let root = certificate.der.clone().into();
        let (protocols, connections) = match way {
            Way::H1 | Way::H1Tls => (Protocols::H1Only, H1_CONNECTIONS),
            Way::H2c | Way::H2Tls => (Protocols::H2Only, 1 + dice.below(2) as u32),
            Way::H3 | Way::H3Lossy => (Protocols::H3Only, 1 + dice.below(2) as u32),
        };
        let mut pauses = RetryPolicy::new(RETRIES).share(10.0);
        pauses = pauses.pauses(Duration::from_millis(2), Duration::from_secs(2));
        // How fast the machine is must not matter.
        let health = HealthTimes::default()
            .with_unanswered(None)
            .with_dead(Duration::from_secs(120));
        let timeouts = ClientTimeouts::default()
            .with_headers(None)
            .with_body(None)
            .with_queue(None)
            .with_queue_stall(None)
            .with_connect(Some(connect));
        let client = Client::builder()
            .protocols(protocols)
            .connections(connections)
            .retry(pauses)
            .health(health)
            .probe_patience(None)
            .timeouts(timeouts)
            .windows(windows(dice))
            .tls(ClientTls::new().root(root).only_given_roots())
            .resolve("localhost", [([127, 0, 0, 1], 0).into()]);
        Self::Ours(client.build().unwrap())
    }
    pub(crate) fn hyper(way: Way, certificate: &Certificate) -> Self {
        Self::Hyper(Hyper {
            way,
            tls: connector(way, certificate),
            h1: (0..H1_CONNECTIONS).map(|_| Mutex::default()).collect(),
            h2: Mutex::default(),
        })
    }
    pub(crate) async fn send(
        &self,
        plan: &Plan,
        url: &str,
        interims: &Interims,
    ) -> Result<Response<BoxBody>, BoxError> {
        match self {
            Self::Ours(client) => {
                let mut request = client.request(plan.method.clone(), url);
                for (name, value) in fields(plan) {
                    request = request.header(name, value);
                }
                let interims = Arc::clone(interims);
                let request = request.on_interim(move |interim| {
                    let is_hint = interim.status().as_u16() == 103;
                    interims.fetch_add(usize::from(is_hint), Ordering::SeqCst);
                });
                let request = match &plan.upload {
                    Some(upload) => request.body(body(plan, upload)),
                    None => request,
                };
                let response = request.send().await?;
                Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
            }
            Self::Hyper(client) => client.send(plan, url).await,
        }
    }
    /// The state of the client, for a failure.
    pub(crate) async fn describe(&self) -> String {
        match self {
            Self::Ours(client) => format!("{:#?}", client.inspect(InspectLimits::default()).await),
            Self::Hyper(_) => String::new(),
        }
    }
}

/// The fields of a request.
fn fields(plan: &Plan) -> Vec<(&'static str, &'static str)> {
    let mut fields = vec![("te", "trailers")];
    if plan.expects {
        fields.push(("expect", "100-continue"));
    }
    if plan
        .upload
        .as_ref()
        .is_some_and(|body| body.end == End::Trailers)
    {
        fields.push(("trailer", TRAILER));
    }
    fields
}

/// The body of a request to our client.
fn body(plan: &Plan, upload: &BodyPlan) -> Body {
    let content = plan.upload_content();
    let mut source = Source::new(content, upload);
    match plan.feeds {
        Feeds::Whole => crate::content::bytes_of(content, 0, upload.length).into(),
        Feeds::Body => Body::wrap(source),
        Feeds::Channel => {
            let (mut sender, body) = Body::channel();
            let end = upload.end;
            tokio::spawn(async move {
                while let Some(Ok(frame)) = source.frame().await {
                    if let Ok(piece) = frame.into_data()
                        && sender.send(piece).await.is_err()
                    {
                        return;
                    }
                }
                match end {
                    End::Whole => sender.finish(),
                    End::Trailers => sender.finish_with(trailers(content)),
                    End::Fails(_) => sender.fail("the plan says so"),
                }
            });
            body
        }
    }
}

/// hyper's connections to one server.
pub(crate) struct Hyper {
    way: Way,
    tls: TlsConnector,
    h1: Vec<Mutex<Option<http1::SendRequest<BoxBody>>>>,
    h2: Mutex<Option<http2::SendRequest<BoxBody>>>,
}

impl Hyper {
    async fn send(&self, plan: &Plan, url: &str) -> Result<Response<BoxBody>, BoxError> {
        let mut request = Request::builder().method(plan.method.clone()).uri(url);
        for (name, value) in fields(plan) {
            request = request.header(name, value);
        }
        let body = match &plan.upload {
            Some(upload) => Source::new(plan.upload_content(), upload)
                .map_err(Into::into)
                .boxed_unsync(),
            None => http_body_util::Empty::new()
                .map_err(|never| match never {})
                .boxed_unsync(),
        };
        if self.way.is_h1() {
            request = request.header("host", "localhost");
        }
        let mut request = request.body(body)?;
        let response = if self.way.is_h1() {
            // As a client writes to an origin (RFC 9112 section 3.2.1).
            let path = request.uri().path_and_query().cloned().unwrap();
            let port = request.uri().port_u16().unwrap();
            *request.uri_mut() = path.into();
            self.send_h1(plan, port, request).await?
        } else {
            let mut sender = self.h2(request.uri().port_u16().unwrap()).await?;
            sender.ready().await?;
            sender.send_request(request).await?
        };
        Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
    }
    /// On a connection that no other exchange has until the answer's body is read or dropped.
    async fn send_h1(
        &self,
        plan: &Plan,
        port: u16,
        request: Request<BoxBody>,
    ) -> Result<Response<hyper::body::Incoming>, BoxError> {
        let place = &self.h1[plan.id as usize % self.h1.len()];
        let mut place = place.lock().await;
        let mut kept = place.take();
        if let Some(sender) = &mut kept
            && sender.ready().await.is_err()
        {
            kept = None;
        }
        let mut sender = match kept {
            Some(sender) => sender,
            None => self.open_h1(port).await?,
        };
        let response = sender.send_request(request).await?;
        *place = Some(sender);
        Ok(response)
    }
    async fn open_h1(&self, port: u16) -> Result<http1::SendRequest<BoxBody>, BoxError> {
        let (sender, connection) =
            http1::handshake(TokioIo::new(self.connect(port).await?)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }
    async fn h2(&self, port: u16) -> Result<http2::SendRequest<BoxBody>, BoxError> {
        let mut place = self.h2.lock().await;
        if let Some(sender) = place.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(sender.clone());
        }
        let io = TokioIo::new(self.connect(port).await?);
        let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
        tokio::spawn(connection);
        Ok(place.insert(sender).clone())
    }
    async fn connect(&self, port: u16) -> Result<Box<dyn Socket>, BoxError> {
        let socket = TcpStream::connect(("127.0.0.1", port)).await?;
        if !self.way.is_tls() {
            return Ok(Box::new(socket));
        }
        let name = ServerName::try_from("localhost")?;
        Ok(Box::new(self.tls.connect(name, socket).await?))
    }
}

trait Socket: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Socket for T {}

fn connector(way: Way, certificate: &Certificate) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der.clone().into()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let version: &[u8] = if way.is_h1() { b"http/1.1" } else { b"h2" };
    config.alpn_protocols = vec![version.to_vec()];
    TlsConnector::from(Arc::new(config))
}
