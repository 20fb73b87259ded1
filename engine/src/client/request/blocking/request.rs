//! A request that is sent by a call which waits.

use super::{Background, Response};
use crate::body::Body;
use crate::client;
use crate::error::Error;
use http::HeaderMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// A request being made; [`send`](Self::send) sends it and waits.
#[derive(Debug)]
#[must_use = "a request does nothing until it is sent"]
pub struct BlockingRequest {
    request: client::RequestBuilder,
    background: Arc<Background>,
}

impl BlockingRequest {
    pub(super) fn new(request: client::RequestBuilder, background: Arc<Background>) -> Self {
        Self {
            request,
            background,
        }
    }
    fn with(
        mut self,
        change: impl FnOnce(client::RequestBuilder) -> client::RequestBuilder,
    ) -> Self {
        self.request = change(self.request);
        self
    }
    /// As [`header`](client::RequestBuilder::header).
    pub fn header(self, name: impl AsRef<str>, value: impl client::IntoHeaderValue) -> Self {
        self.with(|request| request.header(name, value))
    }
    /// As [`headers`](client::RequestBuilder::headers).
    pub fn headers(self, headers: HeaderMap) -> Self {
        self.with(|request| request.headers(headers))
    }
    /// As [`basic_auth`](client::RequestBuilder::basic_auth).
    pub fn basic_auth(self, user: impl Display, password: Option<impl Display>) -> Self {
        self.with(|request| request.basic_auth(user, password))
    }
    /// As [`bearer_auth`](client::RequestBuilder::bearer_auth).
    pub fn bearer_auth(self, token: impl Display) -> Self {
        self.with(|request| request.bearer_auth(token))
    }
    /// As [`timeout`](client::RequestBuilder::timeout).
    pub fn timeout(self, total: Duration) -> Self {
        self.with(|request| request.timeout(total))
    }
    /// As [`body`](client::RequestBuilder::body).
    pub fn body(self, body: impl Into<Body>) -> Self {
        self.with(|request| request.body(body))
    }
    /// As [`query`](client::RequestBuilder::query).
    #[cfg(feature = "form")]
    pub fn query(self, pairs: &(impl serde::Serialize + ?Sized)) -> Self {
        self.with(|request| request.query(pairs))
    }
    /// As [`form`](client::RequestBuilder::form).
    #[cfg(feature = "form")]
    pub fn form(self, pairs: &(impl serde::Serialize + ?Sized)) -> Self {
        self.with(|request| request.form(pairs))
    }
    /// As [`json`](client::RequestBuilder::json).
    #[cfg(feature = "json")]
    pub fn json(self, value: &(impl serde::Serialize + ?Sized)) -> Self {
        self.with(|request| request.json(value))
    }
    /// As [`multipart`](client::RequestBuilder::multipart).
    #[cfg(feature = "multipart")]
    pub fn multipart(self, form: client::multipart::Form) -> Self {
        self.with(|request| request.multipart(form))
    }
    /// As [`try_clone`](client::RequestBuilder::try_clone).
    pub fn try_clone(&self) -> Option<Self> {
        Some(Self::new(
            self.request.try_clone()?,
            Arc::clone(&self.background),
        ))
    }
    /// Sends it and waits for the response's head; its body streams.
    ///
    /// # Errors
    /// As [`send`](client::RequestBuilder::send); also a call inside a tokio runtime.
    pub fn send(self) -> Result<Response, Error> {
        let request = self.request;
        let response = self.background.wait(async { request.send().await })??;
        Ok(Response::new(response, self.background))
    }
}
