//! Provides hyper's `OnUpgrade` extension to services that use it, such as axum's WebSocket
//! extractor.
//!
//! hyper creates an `OnUpgrade` only on a connection of its own, so each upgrade runs one in
//! memory (`pair.rs`), which answers 101 once the peer's does, and its bytes are relayed to the peer. On
//! HTTP/1.1 that is the connection, on HTTP/2 and HTTP/3 the stream of a CONNECT, also of an extended
//! one (RFC 8441, RFC 9220).

mod call;
mod either;
mod pair;

pub use call::ForHyperCall;
pub use either::{Either, EitherData, EitherError};

use super::{Offer, OnUpgrade, Protocol, Upgraded, on};
use crate::body::{Body, BodySender};
use crate::driver::timer;
use bytes::BytesMut;
use http::{Method, Request, Response, StatusCode, Version};
use http_body::Body as HttpBody;
use pair::{PIPE_BYTES, PeerEnd, PeerFailure};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink};
use tokio::sync::Notify;
use tower_service::Service;
use trunkline_core::limits::LEFT_TUNNEL_TIME_MAX;

/// Gives `service` upgrades as hyper has them: wrap an axum router in it whose handlers take
/// `WebSocketUpgrade`. [`serve`](crate::serve) does so itself; on [`Server`](crate::Server) WebSockets over
/// HTTP/2 and HTTP/3 need [`ServerConfig::extended_connect`](crate::ServerConfig::extended_connect) too. What a CONNECT
/// over HTTP/2 and HTTP/3 sends comes by `hyper::upgrade::on`, and its request has no body.
pub fn for_hyper<S>(service: S) -> ForHyper<S> {
    ForHyper { service }
}

/// A service with upgrades as hyper has them: see [`for_hyper`].
#[derive(Clone, Debug)]
pub struct ForHyper<S> {
    service: S,
}

impl<S, B> Service<Request<Body>> for ForHyper<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone,
    B: HttpBody,
{
    type Response = Response<Either<B>>;
    type Error = S::Error;
    type Future = ForHyperCall<S, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }
    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let Some(target) = Target::of(&mut request) else {
            return ForHyperCall::ordinary(self.service.call(request));
        };
        // The one that was asked whether it is ready is the one to be called.
        let another = self.service.clone();
        let service = std::mem::replace(&mut self.service, another);
        ForHyperCall::upgrading(service, request, target)
    }
}

/// RFC 8441 section 5: the only protocol that is passed on over a stream.
const WEBSOCKET: &str = "websocket";

/// The kind of stream that an upgrade leads to.
enum Target {
    /// The connection itself, behind a 101, or behind a 2xx where the method is CONNECT.
    Connection { upgrade: OnUpgrade, connect: bool },
    /// One stream: what the peer sends is the request's body. `websocket`: of an extended CONNECT.
    Stream { body: Body, websocket: bool },
}

impl Target {
    /// Whether it is a WebSocket on one stream of several.
    fn is_websocket_stream(&self) -> bool {
        matches!(
            self,
            Self::Stream {
                websocket: true,
                ..
            }
        )
    }
    /// `None`: the request asks for nothing else than an answer.
    fn of(request: &mut Request<Body>) -> Option<Self> {
        if request.version() <= Version::HTTP_11 {
            request.extensions().get::<Offer>()?;
            let connect = request.method() == Method::CONNECT;
            let upgrade = on(request);
            return Some(Self::Connection { upgrade, connect });
        }
        if request.method() != Method::CONNECT {
            return None;
        }
        // RFC 9113 section 8.5: without a protocol the stream is a tunnel too.
        let protocol = request.extensions().get::<Protocol>();
        let websocket = protocol.is_some();
        if protocol.is_some_and(|protocol| protocol.as_str() != WEBSOCKET) {
            return None;
        }
        let body = std::mem::replace(request.body_mut(), Body::empty());
        Some(Self::Stream { body, websocket })
    }
    /// Passes bytes on between `end` and the peer if the service takes the upgrade.
    fn join<B>(self, end: PeerEnd, response: Response<B>) -> Response<Either<B>> {
        match self {
            Self::Connection { upgrade, connect } if begins_tunnel(response.status(), connect) => {
                tokio::spawn(async move {
                    // Without them the service's upgrade fails.
                    if let Ok(peer) = upgrade.await
                        && let Ok(far) = end.opened().await
                    {
                        relay(peer, far).await;
                    }
                });
                response.map(Either::own)
            }
            Self::Stream { body, .. } if response.status().is_success() => {
                let (sender, tunnel) = Body::channel();
                tokio::spawn(async move {
                    if let Ok(far) = end.opened().await {
                        let (pipe, failure) = far.parted();
                        let (from, to) = tokio::io::split(pipe);
                        tokio::join!(
                            pass_to_service(body, to, &failure),
                            pass_to_peer(from, sender)
                        );
                    }
                });
                response.map(|_| Either::tunnel(tunnel))
            }
            _ => response.map(Either::own),
        }
    }
}

/// Whether an HTTP/1.1 connection leaves HTTP behind a response (RFC 9110 sections 9.3.6 and 15.2.2).
fn begins_tunnel(status: StatusCode, connect: bool) -> bool {
    match connect {
        true => status.is_success(),
        false => status == StatusCode::SWITCHING_PROTOCOLS,
    }
}

/// Passes bytes on between `peer` and the service behind `far`, which reads the peer's failure as one. What a service wrote
/// before it dropped its end leaves, and what the peer sends meanwhile is dropped.
async fn relay(peer: Upgraded, far: pair::Far) {
    let (mut pipe, failure) = far.parted();
    if let Err(error) = relay_until_failure(peer, &mut pipe).await {
        failure.set(error);
    }
}

async fn relay_until_failure(
    peer: Upgraded,
    far: impl AsyncRead + AsyncWrite + Unpin,
) -> io::Result<()> {
    let (mut from_peer, mut to_peer) = tokio::io::split(peer);
    let (mut from_service, mut to_service) = tokio::io::split(far);
    let has_left = Notify::new();
    let to_the_service = async {
        loop {
            let mut bytes = BytesMut::with_capacity(PIPE_BYTES / 4);
            if from_peer.read_buf(&mut bytes).await? == 0 {
                // Passes the end to the service, which may be gone.
                let _ = to_service.shutdown().await;
                return Ok(());
            }
            if to_service.write_all(&bytes).await.is_err() {
                break;
            }
        }
        let mut nobody = sink();
        tokio::select! {
            ended = copy(&mut from_peer, &mut nobody) => ended.map(|_| ()),
            () = has_left.notified() => Ok(()),
            () = timer::sleep(LEFT_TUNNEL_TIME_MAX) => Err(io::ErrorKind::TimedOut.into()),
        }
    };
    let is_broken = AtomicBool::new(false);
    let to_the_peer = async {
        let written = async {
            copy(&mut from_service, &mut to_peer).await?;
            to_peer.shutdown().await
        };
        if let Err(error) = written.await {
            // The bytes that the peer sent before are still to be read.
            is_broken.store(true, Ordering::Relaxed);
            let _ = copy(&mut from_service, &mut sink()).await;
            return Err(error);
        }
        has_left.notify_one();
        Ok(())
    };
    let (mut to_the_service, mut to_the_peer) = (pin!(to_the_service), pin!(to_the_peer));
    tokio::select! {
        read = &mut to_the_service => {
            read?;
            match is_broken.load(Ordering::Relaxed) {
                true => Ok(()),
                false => to_the_peer.await,
            }
        }
        written = &mut to_the_peer => {
            written?;
            to_the_service.await
        }
    }
}

async fn pass_to_service(body: Body, mut to: impl AsyncWrite + Unpin, failure: &PeerFailure) {
    let mut body = pin!(body);
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        match frame.map(http_body::Frame::into_data) {
            Ok(Ok(data)) => {
                if to.write_all(&data).await.is_err() {
                    return;
                }
            }
            // Trailers say nothing in a tunnel.
            Ok(Err(_)) => {}
            Err(error) => {
                failure.set(error.into());
                break;
            }
        }
    }
    // Passes the end to the service, which may be gone.
    let _ = to.shutdown().await;
}

async fn pass_to_peer(mut from: impl AsyncRead + Unpin, mut sender: BodySender) {
    loop {
        let mut bytes = BytesMut::with_capacity(PIPE_BYTES / 4);
        match from.read_buf(&mut bytes).await {
            Ok(0) => return sender.finish(),
            Ok(_) if sender.send(bytes.freeze()).await.is_ok() => {}
            // The peer is gone.
            Ok(_) => return,
            Err(error) => return sender.fail(error),
        }
    }
}
