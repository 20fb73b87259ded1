//! Settings of what a client does to every request and response.

use super::ClientBuilder;
use crate::client::settings::policy::redirect::RedirectPolicy;
use crate::client::settings::policy::retry::{Retries, RetryPolicy};
use http::HeaderMap;
use std::time::{Duration, Instant};

impl<C> ClientBuilder<C> {
    /// Fields of every request that does not have one of that name itself. On the way of a redirect to another
    /// origin credentials among them are dropped. Default: none.
    pub fn default_headers(mut self, fields: HeaderMap) -> Self {
        for name in fields.keys() {
            self.settings.policies.fields.remove(name);
        }
        for name in fields.keys() {
            for value in fields.get_all(name) {
                self.settings.policies.fields.append(name, value.clone());
            }
        }
        self
    }
    /// The `user-agent` of every request that has none itself. Default: the field is not sent.
    pub fn user_agent(mut self, value: impl AsRef<str>) -> Self {
        self.settings.policies.set_user_agent(value.as_ref());
        self
    }
    /// Which redirects are followed, of all requests of the client:
    /// [`send`](crate::client::RequestBuilder::send), [`execute`](crate::Client::execute) and the tower
    /// service. Default: up to 10.
    pub fn redirect(mut self, policy: RedirectPolicy) -> Self {
        self.settings.policies.redirects = policy;
        self
    }
    /// Which requests are sent again after errors and statuses that say "later". Default: those that no
    /// peer has processed, and no other.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        match Retries::new(policy, Instant::now()) {
            Ok(retries) => self.settings.policies.retries = Some(retries),
            Err(error) => self.settings.policies.refuse(error),
        }
        self
    }
    /// Whether responses with a `content-encoding` of gzip, br, zstd or deflate are decompressed as they are
    /// read, and `accept-encoding` asks for these where a request has neither that field nor `range`. The
    /// fields `content-encoding` and `content-length` of a decompressed response are removed. The memory
    /// for one response is 16 MiB at most (the window of br; 8 MiB of zstd); a bound on what comes out is
    /// [`Body::bytes_within`](crate::Body::bytes_within). Default: true with the feature
    /// `decompression`; without it true is an error of `build`.
    pub fn decompression(mut self, on: bool) -> Self {
        self.settings.policies.decompresses = on;
        self
    }
    /// Keeps the cookies of responses, and sends them with later requests, in a
    /// [`Jar`](crate::client::Jar) of the client's own. Default: false.
    #[cfg(feature = "cookies")]
    pub fn cookie_store(mut self, on: bool) -> Self {
        self.settings.policies.cookies = match on {
            true => Some(std::sync::Arc::new(crate::client::Jar::default())),
            false => None,
        };
        self
    }
    /// As [`cookie_store`](Self::cookie_store), with a store that is yours.
    #[cfg(feature = "cookies")]
    pub fn cookie_provider(
        mut self,
        store: std::sync::Arc<impl crate::client::CookieStore>,
    ) -> Self {
        self.settings.policies.cookies = Some(store);
        self
    }
    /// Whether only `https` URLs are requested: another one, of a request or a redirect, is an error of kind
    /// [`ErrorKind::Config`](crate::ErrorKind::Config), and nothing is sent. Default: false.
    pub fn https_only(mut self, on: bool) -> Self {
        self.settings.policies.https_only = on;
        self
    }
    /// How long all of a request may take, the response's body, redirects and retries included:
    /// [`ClientTimeouts::total`](crate::client::ClientTimeouts::total). From 1 ms; more than 366 days count as 366 days. Default: none.
    pub fn timeout(mut self, total: Duration) -> Self {
        self.settings.timeouts.total = Some(total);
        self
    }
    /// How long one attempt at a connection may take:
    /// [`ClientTimeouts::connect`](crate::client::ClientTimeouts::connect). From 1 ms; more than 366 days count as 366 days. Default 10 s.
    pub fn connect_timeout(mut self, connect: Duration) -> Self {
        self.settings.timeouts.connect = Some(connect);
        self
    }
    /// How long a server may be silent, before its response and within its body:
    /// [`ClientTimeouts::headers`](crate::client::ClientTimeouts::headers) and
    /// [`body`](crate::client::ClientTimeouts::body). From 1 ms; more than 366 days count as 366 days. Default 300 s.
    pub fn read_timeout(mut self, silence: Duration) -> Self {
        self.settings.timeouts.headers = Some(silence);
        self.settings.timeouts.body = Some(silence);
        self
    }
}
