//! The engine's error: its kind, whose fault it is, and whether the request may be sent again.
//! `Display` prints one level; the cause is `source()`. `{:#}` prints all of them, and where the guide speaks of the kind.

pub(crate) mod classify;
mod convert;
mod display;
pub(crate) mod timeline;
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) mod timelines;

pub use timeline::{Attempted, Progress};
pub use trunkline_core::proxy::SocksRefusal;

use http::Uri;
use std::error;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use timeline::History;
use trunkline_core::error::{Closed, H2Code, Misuse, Violation};
use trunkline_core::http::{Reset, ResetBy};
use trunkline_core::pool::WaitReason;

/// An error of the engine. Match on [`kind`](Self::kind), not on the text.
///
/// `{}` is one level, as libraries that print the causes themselves expect it. `{:#}` is one line for people: the causes, and the
/// section of the guide about the kind ([`help`](Self::help)), which `{:?}` names too.
pub struct Error {
    kind: ErrorKind,
    fault: Fault,
    retry: Retry,
    text: Option<Box<str>>,
    tries: u32,
    attempts: Vec<Attempted>,
    history: Option<Box<History>>,
    timeline_id: Option<NonZeroU64>,
    was_sent: bool,
    timed_out: bool,
    refuses_certificate: bool,
    wait_reason: Option<WaitReason>,
    proxy: Option<ProxyRefusal>,
    address: Option<Box<SocketAddr>>,
    url: Option<Box<Uri>>,
    source: Option<Arc<dyn error::Error + Send + Sync>>,
}

/// The kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An address could not be bound, a certificate not read, a value is out of its range.
    Config,
    /// A name could not be resolved.
    Resolve,
    /// A connection could not be opened.
    Connect,
    /// A proxy refused, or did not speak its protocol.
    Proxy,
    /// The TLS handshake or a TLS record failed.
    Tls,
    /// A message that the validator refuses, or a command in the wrong state.
    Message(Misuse),
    /// The peer broke this rule.
    Violation(Violation),
    /// The peer ended the stream with this code.
    StreamReset(H2Code),
    /// The peer closed the connection with this code (0: gracefully).
    ConnectionClosed(H2Code),
    /// The transport ended under an open exchange.
    TransportClosed,
    /// A deadline passed.
    Timeout,
    /// Too many wait, or the pool is shut.
    Refused,
    /// Our own side stopped it: dropped, aborted, shut down, or drained.
    Cancelled,
    /// A body that the user gave failed; its error is the source.
    Body,
    /// A redirect that is not followed: one too many, or to what is no `http` or `https` URL
    /// ([`RedirectPolicy`](crate::client::RedirectPolicy)).
    Redirect,
    /// The status of a response, where it was asked for as an error
    /// ([`ResponseExt::error_for_status`](crate::client::ResponseExt::error_for_status)).
    Status(http::StatusCode),
}

impl ErrorKind {
    /// Every name that [`name`](Self::name) gives.
    pub(crate) const NAMES: [&'static str; 16] = [
        "config",
        "resolve",
        "connect",
        "proxy",
        "tls",
        "message",
        "violation",
        "reset",
        "closed",
        "transport",
        "timeout",
        "refused",
        "cancelled",
        "body",
        "redirect",
        "status",
    ];

    /// The kind as a label of metrics and logs: one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Proxy => "proxy",
            Self::Tls => "tls",
            Self::Message(_) => "message",
            Self::Violation(_) => "violation",
            Self::StreamReset(_) => "reset",
            Self::ConnectionClosed(_) => "closed",
            Self::TransportClosed => "transport",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::Body => "body",
            Self::Redirect => "redirect",
            Self::Status(_) => "status",
        }
    }
    /// The section of the guide about the kind: the file `docs/guide/how-to/troubleshooting.md` of the repository and an anchor in it,
    /// as `#rust-connect`.
    pub fn help(self) -> String {
        format!("{HELP}#rust-{}", self.name())
    }
}

/// The page of the guide with a section for each kind; `xtask tidy` compares it with the names.
const HELP: &str = "docs/guide/how-to/troubleshooting.md";

/// Why a proxy gave no connection, where it said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyRefusal {
    /// The TLS handshake with the proxy itself failed.
    Handshake,
    /// It answered CONNECT with this status.
    Status(u16),
    /// It speaks SOCKS5, or should.
    Socks(SocksRefusal),
}

/// The party at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Ours, or that of the code that uses us.
    Us,
    /// The peer's.
    Peer,
    /// Something between us and the peer.
    Network,
    /// A setting.
    Config,
}

/// Whether the same request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retry {
    /// Provably not processed: any method.
    Safe,
    /// Perhaps processed: only methods that do no harm twice (RFC 9110 section 9.2.2).
    OnlyIfIdempotent,
    /// It would fail again.
    Never,
}

impl Error {
    /// An error without a cause.
    pub(crate) fn new(kind: ErrorKind, fault: Fault, retry: Retry) -> Self {
        Self {
            kind,
            fault,
            retry,
            text: None,
            tries: 0,
            attempts: Vec::new(),
            history: None,
            timeline_id: None,
            was_sent: false,
            timed_out: false,
            refuses_certificate: false,
            wait_reason: None,
            proxy: None,
            address: None,
            url: None,
            source: None,
        }
    }
    /// A setting that cannot be used; `text` names the value and what is allowed.
    pub(crate) fn config(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, Fault::Config, Retry::Never).with_text(text)
    }
    /// Our own side stopped it.
    pub(crate) fn cancelled(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Cancelled, Fault::Us, Retry::Safe).with_text(text)
    }
    /// A TLS failure.
    pub(crate) fn tls(source: rustls::Error) -> Self {
        Self::new(ErrorKind::Tls, Fault::Peer, Retry::Safe).with_source(source)
    }
    /// A command that the machine refused.
    pub(crate) fn misuse(misuse: Misuse) -> Self {
        let retry = match misuse {
            Misuse::NoCapacity | Misuse::ConnectionClosed => Retry::Safe,
            _ => Retry::Never,
        };
        Self::new(ErrorKind::Message(misuse), Fault::Us, retry)
    }
    /// An exchange that ended early.
    pub(crate) fn reset(reset: Reset) -> Self {
        let mut error = match reset.by {
            ResetBy::Us(violation) => Self::violation(violation),
            ResetBy::Peer(code) => Self::new(
                ErrorKind::StreamReset(code),
                Fault::Peer,
                Retry::OnlyIfIdempotent,
            ),
            ResetBy::Connection(closed) => Self::closed(closed),
            ResetBy::EarlyDataRejected => Self::new(ErrorKind::Refused, Fault::Peer, Retry::Safe)
                .with_text("the peer takes no early data"),
        };
        if reset.unprocessed {
            error.retry = Retry::Safe;
        }
        match reset.by {
            // By a GOAWAY that names an earlier exchange: nothing was reset (RFC 9113 section 6.8).
            ResetBy::Peer(code) if reset.unprocessed && code != H2Code::REFUSED_STREAM => error
                .with_text(format!(
                    "the peer left the request unprocessed (GOAWAY with code {:#x})",
                    code.0
                )),
            _ => error,
        }
    }
    /// A connection that ended.
    pub(crate) fn closed(closed: Closed) -> Self {
        match closed {
            Closed::ByUs(violation) => Self::violation(violation),
            Closed::ByPeer(code) => Self::new(
                ErrorKind::ConnectionClosed(code),
                Fault::Peer,
                Retry::OnlyIfIdempotent,
            ),
            Closed::Transport(_) => Self::new(
                ErrorKind::TransportClosed,
                Fault::Network,
                Retry::OnlyIfIdempotent,
            ),
            Closed::Idle => Self::new(ErrorKind::Timeout, Fault::Peer, Retry::OnlyIfIdempotent)
                .with_text("nothing happened on the connection for the idle time"),
            Closed::Drained => Self::cancelled("the connection was drained"),
        }
    }
    pub(crate) fn violation(violation: Violation) -> Self {
        let (fault, retry) = match violation {
            // The URL says http and its port speaks TLS.
            Violation::TlsInCleartext => (Fault::Config, Retry::Never),
            _ => (Fault::Peer, Retry::OnlyIfIdempotent),
        };
        Self::new(ErrorKind::Violation(violation), fault, retry)
    }
    /// The peer has refused us by this alert of TLS, behind a handshake that was done on our side.
    pub(crate) fn with_tls_refusal(mut self, number: u8, name: &str) -> Self {
        self.kind = ErrorKind::Tls;
        self.fault = Fault::Peer;
        self.retry = Retry::Never;
        let hint = match number {
            116 => ": it wants a certificate of the client",
            _ => "",
        };
        self.with_text(format!(
            "the peer refused the connection with the TLS alert {name} ({number}){hint}"
        ))
    }
    /// Says it in other words than the kind's.
    pub(crate) fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into().into_boxed_str());
        self
    }
    /// Adds to what it says.
    pub(crate) fn with_note(self, note: &str) -> Self {
        let text = format!("{self}{note}");
        self.with_text(text)
    }
    /// A copy of the error for another request that the same failure ended.
    pub(crate) fn again(&self) -> Self {
        Self {
            timed_out: self.timed_out,
            refuses_certificate: self.refuses_certificate,
            text: self.text.clone(),
            proxy: self.proxy,
            address: self.address.clone(),
            url: self.url.clone(),
            source: self.source.clone(),
            ..Self::new(self.kind, self.fault, self.retry)
        }
    }
    /// Notes that nothing of the request was written to the connection that ended.
    pub(crate) fn with_nothing_written(mut self) -> Self {
        if self.retry == Retry::OnlyIfIdempotent {
            self.retry = Retry::Safe;
        }
        self
    }
    /// The request was on a connection before, and a peer may have processed it there.
    pub(crate) fn with_processing_possible(mut self) -> Self {
        if self.retry == Retry::Safe {
            self.retry = Retry::OnlyIfIdempotent;
        }
        self
    }
    /// Names the cause.
    pub(crate) fn with_source(
        mut self,
        source: impl Into<Box<dyn error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into().into());
        self
    }
    /// The cause, for another one above it.
    #[cfg(feature = "tonic")]
    pub(crate) fn take_source(&mut self) -> Option<Arc<dyn error::Error + Send + Sync>> {
        self.source.take()
    }
    /// Names a cause that others have too.
    pub(crate) fn with_shared_source(
        mut self,
        source: Arc<dyn error::Error + Send + Sync>,
    ) -> Self {
        self.source = Some(source);
        self
    }
    /// How often a client had put the request on a connection.
    pub(crate) fn with_tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }
    /// On which connections the request was, and how it ended there.
    pub(crate) fn with_attempts(mut self, attempts: Vec<Attempted>) -> Self {
        self.attempts = attempts;
        self
    }
    /// Notes the number by which its timeline is kept.
    pub(crate) fn with_timeline_id(mut self, id: u64) -> Self {
        self.timeline_id = NonZeroU64::new(id);
        self
    }
    /// Names the request and how long it took.
    pub(crate) fn with_history(mut self, history: History) -> Self {
        self.history = Some(Box::new(history));
        self
    }
    /// Whether the request, or a part of it, was ever given to a connection.
    pub(crate) fn with_was_sent(mut self, was_sent: bool) -> Self {
        self.was_sent = was_sent;
        self
    }
    /// A deadline is why no connection was had.
    pub(crate) fn with_timed_out(mut self) -> Self {
        self.timed_out = true;
        self
    }
    /// The cause is that we refused the peer's certificate.
    pub(crate) fn with_refused_certificate(mut self, is_refused: bool) -> Self {
        self.refuses_certificate = is_refused;
        self
    }
    /// Adds why the request waited when it failed.
    pub(crate) fn with_wait_reason(mut self, reason: WaitReason) -> Self {
        self.wait_reason = Some(reason);
        self
    }
    /// Says why the proxy gave no connection.
    pub(crate) fn with_proxy_refusal(mut self, refusal: ProxyRefusal) -> Self {
        self.proxy = Some(refusal);
        self
    }
    /// Names the address that could not be connected to.
    pub(crate) fn with_address(mut self, address: SocketAddr) -> Self {
        self.address = Some(Box::new(address));
        self
    }
    /// Names the URL whose request failed.
    pub(crate) fn with_url(mut self, url: &Uri) -> Self {
        self.url = Some(Box::new(url.clone()));
        self
    }
    /// Names it where it is known.
    pub(crate) fn with_url_of(self, url: Option<&Uri>) -> Self {
        match url {
            Some(url) => self.with_url(url),
            None => self,
        }
    }
    /// Client: the URL whose request failed, or whose response has the status
    /// ([`error_for_status`](crate::client::ResponseExt::error_for_status)) or the body; of a redirect the one that was
    /// requested last. `None`: no URL could be made of what was given, or the client neither follows redirects nor
    /// retries nor decompresses and keeps no URL. It is not in the text: a query may be a secret.
    pub fn url(&self) -> Option<&Uri> {
        self.url.as_deref()
    }
    /// Client: the address that was tried last where no connection could be opened; its error is the
    /// source.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address.as_deref().copied()
    }
    /// Client: why the proxy in between gave no connection, where it said so.
    pub fn proxy_refusal(&self) -> Option<ProxyRefusal> {
        self.proxy
    }
    /// Client: how often the request was put on a connection; more than 1 after refusals.
    pub fn tries(&self) -> u32 {
        self.tries
    }
    /// Client: every connection that the request was on, in order, and how it ended there.
    pub fn attempts(&self) -> &[Attempted] {
        &self.attempts
    }
    /// Client: whether the request, or a part of it, was ever on a connection. False: no peer saw
    /// anything of it.
    pub fn was_sent(&self) -> bool {
        self.was_sent
    }
    /// Client: what the request waited for when it failed in its line.
    pub fn wait_reason(&self) -> Option<WaitReason> {
        self.wait_reason
    }
    /// Client: the number by which a page that shows the client, and `trunkline explain`, find the request's
    /// [`timeline`](Self::timeline); the text of the error ends with it, as `(timeline 17)`. `None`: no page shows the client, or the
    /// request never got into its pool.
    pub fn timeline_id(&self) -> Option<u64> {
        self.timeline_id.map(NonZeroU64::get)
    }
    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
    /// The section of the guide about the [kind](ErrorKind::help): what it means, and the next step. `{:#}` and `{:?}` end with it.
    pub fn help(&self) -> String {
        self.kind.help()
    }
    /// The party at fault.
    pub fn fault(&self) -> Fault {
        self.fault
    }
    /// Whether the same request may be sent again.
    pub fn retry(&self) -> Retry {
        self.retry
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
