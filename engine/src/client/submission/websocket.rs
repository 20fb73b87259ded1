//! The client's half of opening a WebSocket: an upgrade of HTTP/1.1 (RFC 6455 section 4.1), or an extended CONNECT
//! over HTTP/2 (RFC 8441 section 5) and HTTP/3 (RFC 9220). Its frames are another crate's.

mod opening;
mod stream;

pub use stream::WebSocketBytes;

use super::Submission;
use crate::body::Body;
use crate::client::exchange::compose;
use crate::client::settings::origin::origin_of;
use crate::client::{Client, IntoHeaderValue, Protocols, RequestBuilder};
use crate::error::Error;
use crate::tunnel::upgrade::Protocol;
use aws_lc_rs::{digest, rand};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, HOST, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{HeaderValue, Method, Response};
use opening::{Offered, WebSocketListener};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use trunkline_core::error::Misuse;
use trunkline_core::http::{Fields, RequestHead, Token, Version};

impl Client {
    /// A WebSocket to a `ws` or `wss` URL, to be opened by
    /// [`connect`](WebSocketRequest::connect). A client of
    /// [`Protocols::H2Only`] or
    /// [`H3Only`](Protocols::H3Only) opens it on a stream, once the server has said that it takes
    /// extended CONNECT; any other one by an upgrade of HTTP/1.1, which every server has, on a connection of
    /// its own.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use futures_util::{SinkExt, StreamExt};
    /// use tokio_tungstenite::WebSocketStream;
    /// use tokio_tungstenite::tungstenite::{Message, protocol::Role};
    ///
    /// let client = trunkline::Client::new();
    /// let bytes = client.websocket("wss://example.org/chat").connect().await?.into_body();
    /// let mut socket = WebSocketStream::from_raw_socket(bytes, Role::Client, None).await;
    /// socket.send(Message::text("hello")).await?;
    /// println!("{:?}", socket.next().await);
    /// # Ok(())
    /// # }
    /// ```
    pub fn websocket(&self, url: impl AsRef<str>) -> WebSocketRequest {
        let url = url.as_ref();
        let url = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("ws") => format!("http://{rest}"),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("wss") => format!("https://{rest}"),
            _ => url.to_owned(),
        };
        WebSocketRequest {
            request: self.request(Method::GET, url),
            client: self.clone(),
        }
    }
}

/// A WebSocket to be opened; see [`Client::websocket`].
#[derive(Debug)]
#[must_use = "no WebSocket is opened before `connect`"]
pub struct WebSocketRequest {
    client: Client,
    request: RequestBuilder,
}

impl WebSocketRequest {
    /// Adds a field. One that cannot be sent is an error of `connect`.
    pub fn header(mut self, name: impl AsRef<str>, value: impl IntoHeaderValue) -> Self {
        self.request = self.request.header(name, value);
        self
    }
    /// Offers subprotocols, the preferred one first (`sec-websocket-protocol`); the response says which one the
    /// server has chosen.
    pub fn subprotocols(self, names: &[&str]) -> Self {
        self.header("sec-websocket-protocol", names.join(", "))
    }
    /// Opens it: the response's body is the stream of bytes that carries its frames, in both directions. The
    /// client's default fields and cookies are sent; redirects are not followed. Of its timeouts those until
    /// the response count, and the total one for the whole WebSocket. An HTTP proxy is asked for a tunnel, for `ws` too.
    ///
    /// # Errors
    /// As [`send`](RequestBuilder::send); a server that does not agree, or that chooses a subprotocol or an extension which was
    /// not offered, is an error of kind [`ErrorKind::Status`](crate::ErrorKind::Status).
    pub async fn connect(self) -> Result<Response<WebSocketBytes>, Error> {
        let client = self.client;
        let (mut parts, _) = self.request.build()?.into_parts();
        let settings = &client.dispatch.settings;
        settings.policies.check_scheme(&parts.uri)?;
        settings.policies.add_fields(&mut parts, false);
        if let Some(codings) = settings.policies.codings(&parts, false) {
            let codings = HeaderValue::from_static(codings);
            parts.headers.insert(ACCEPT_ENCODING, codings);
        }
        settings.policies.add_cookies(&mut parts);
        parts
            .headers
            .insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        let by_stream = matches!(settings.protocols, Protocols::H2Only | Protocols::H3Only);
        let offered = Offered::of(&parts.headers);
        let mut origin = origin_of(&parts, settings)?;
        // RFC 6455 section 4.1: a proxy that forwards requests one by one passes no upgrade on.
        origin.tunnels = origin.proxy.is_some();
        let (head, accept) = match by_stream {
            true => (connect_head(&mut parts)?, None),
            false => {
                origin.protocols = Protocols::H1Only;
                upgrade_head(&mut parts)?
            }
        };
        let (sender, body) = Body::channel();
        let (opened, answer) = oneshot::channel();
        let (to_reader, received) = mpsc::unbounded_channel();
        let submission = Submission {
            origin: Arc::new(origin),
            head,
            body,
            leaves_http: !by_stream,
            // `connection: close` would stand where `upgrade` has to.
            ends_connection: false,
            idempotent: Some(false),
            blocks: true,
            head_with_body: false,
            body_ends_connection: false,
            absolute_form: false,
            headers_timeout: settings.timeouts.headers,
            body_timeout: None,
            queue_timeout: None,
        };
        let opening = WebSocketListener::new(opened, to_reader, accept, offered);
        let exchange = client.submit(submission, Box::new(opening));
        // Dropped, it cancels what was submitted.
        let bytes = WebSocketBytes::new(exchange, sender, received);
        let response = answer.await.unwrap_or_else(|_| {
            Err(Error::cancelled(
                "the client was shut down before the WebSocket opened",
            ))
        })?;
        Ok(response.map(|()| bytes))
    }
}

/// RFC 8441 section 5: no key, and no fields of an upgrade.
fn connect_head(parts: &mut Parts) -> Result<RequestHead, Error> {
    parts.method = Method::CONNECT;
    parts.extensions.insert(Protocol::new("websocket"));
    compose::request_head(parts, &Body::empty())
}

/// RFC 6455 section 4.1, and what the server's `sec-websocket-accept` is to be.
fn upgrade_head(parts: &mut Parts) -> Result<(RequestHead, Option<String>), Error> {
    let mut key = [0; KEY_BYTES];
    rand::fill(&mut key).map_err(|_| Error::config("the system gives no random bytes"))?;
    let key = BASE64_STANDARD.encode(key);
    let accept = digest::digest(
        &digest::SHA1_FOR_LEGACY_USE_ONLY,
        format!("{key}{GUID}").as_bytes(),
    );
    let accept = BASE64_STANDARD.encode(accept);
    let wrong = |_| Error::config("the key of a WebSocket is no field value");
    let fields = &mut parts.headers;
    fields.insert(
        SEC_WEBSOCKET_KEY,
        HeaderValue::try_from(key).map_err(wrong)?,
    );
    fields.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    fields.insert(UPGRADE, HeaderValue::from_static("websocket"));
    let mut head = Fields::new();
    head.push(Token::METHOD, b"GET");
    let target = parts.uri.path_and_query();
    let target = target.map_or("/", |target| target.as_str());
    head.push(Token::PATH, target.as_bytes());
    let authority = parts.uri.authority();
    let authority = authority.map_or("", |authority| authority.as_str());
    let host = fields.remove(HOST);
    let host = host
        .as_ref()
        .map_or(authority.as_bytes(), HeaderValue::as_bytes);
    head.push(Token::HOST, host);
    for (name, value) in &parts.headers {
        head.push_named(name.as_str().as_bytes(), value.as_bytes());
    }
    let head = RequestHead::from_fields(head, Version::Http11)
        .map_err(|violation| Error::misuse(Misuse::Invalid(violation)))?;
    Ok((head, Some(accept)))
}

/// RFC 6455 section 4.1, item 7.
const KEY_BYTES: usize = 16;
/// RFC 6455 section 1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
