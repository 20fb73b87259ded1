//! The paths of the admin address.

use super::Action;
use super::guard::Guard;
use super::live::{Live, Readers, StateFuture};
use super::state::PageSubject;
use crate::body::Body;
use crate::metrics::exposition::OPENMETRICS_TYPE;
use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use serde_json::json;
use std::sync::Arc;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page loads its own style and script, and talks to its own server alone; no other page may show it in a frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const TEXT: &str = "text/plain; charset=utf-8";

pub(super) struct Site {
    source: PageSubject,
    guard: Guard,
    actions: Vec<Action>,
    is_ready: Option<Box<dyn Fn() -> bool + Send + Sync>>,
    readers: Readers,
}

impl Site {
    pub(super) fn new(
        source: PageSubject,
        guard: Guard,
        actions: Vec<Action>,
        is_ready: Option<Box<dyn Fn() -> bool + Send + Sync>>,
    ) -> Self {
        Self {
            source,
            guard,
            actions,
            is_ready,
            readers: Readers::default(),
        }
    }
    /// The state as JSON.
    pub(super) async fn state(&self) -> Bytes {
        let mut state = self.source.state().await;
        let actions = self.actions.iter();
        let actions = actions.map(|action| {
            let is_chosen = action.is_chosen.as_ref().map(|is_chosen| is_chosen());
            json!({ "name": action.name, "label": action.label, "chosen": is_chosen })
        });
        state["actions"] = actions.collect();
        state["page_secret"] = json!(self.guard.page_secret());
        // A value with keys that are texts is always JSON.
        Bytes::from(serde_json::to_vec(&state).unwrap_or_default())
    }

    pub(super) async fn answer<B>(self: &Arc<Self>, request: &Request<B>) -> Response<Body> {
        let mut response = match self.refusal(request) {
            Some(refusal) => refusal,
            None => self.found(request).await,
        };
        let fixed: [(HeaderName, &'static str); 6] = [
            (CACHE_CONTROL, "no-store"),
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (X_FRAME_OPTIONS, "DENY"),
            (REFERRER_POLICY, "no-referrer"),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                "same-origin",
            ),
        ];
        for (name, value) in fixed {
            let value = HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        }
        response
    }

    /// The answer to a request that may not be answered.
    fn refusal<B>(&self, request: &Request<B>) -> Option<Response<Body>> {
        let (path, headers) = (request.uri().path(), request.headers());
        let is_action = path.starts_with("/actions/");
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        if !self.guard.admits_host(request) {
            let text = "the host must be an address or localhost\n";
            return Some(plain(StatusCode::MISDIRECTED_REQUEST, text));
        }
        if is_read == is_action || !is_read && *request.method() != Method::POST {
            let allowed = match is_action {
                true => "POST",
                false => "GET, HEAD",
            };
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, format!("{allowed}\n"));
            let allowed = HeaderValue::from_static(allowed);
            response.headers_mut().insert(ALLOW, allowed);
            return Some(response);
        }
        // These say nothing of the server, but whether it is well.
        let is_open = matches!(
            path,
            "/" | "/page.css" | "/page.js" | "/healthz" | "/readyz"
        );
        if !is_open && !self.guard.admits_reader(headers) {
            let mut response = plain(StatusCode::UNAUTHORIZED, "a token is needed\n");
            let challenge = HeaderValue::from_static("Bearer realm=\"admin\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            return Some(response);
        }
        if is_action && !self.guard.admits_action(headers) {
            let text = "actions need the field trunkline-page with page_secret of /state.json, and come from the page \
                 itself\n";
            return Some(plain(StatusCode::FORBIDDEN, text));
        }
        None
    }

    async fn found<B>(self: &Arc<Self>, request: &Request<B>) -> Response<Body> {
        let path = request.uri().path();
        if let Some(name) = path.strip_prefix("/actions/") {
            return self.act(name);
        }
        if let Some(id) = path.strip_prefix("/timelines/") {
            return self.timeline(id);
        }
        match path {
            "/" => with_type("text/html; charset=utf-8", PAGE),
            "/page.css" => with_type("text/css; charset=utf-8", STYLE),
            "/page.js" => with_type("text/javascript; charset=utf-8", SCRIPT),
            "/healthz" => plain(StatusCode::OK, "ok\n"),
            "/readyz" => match self.is_ready().await {
                true => plain(StatusCode::OK, "ready\n"),
                false => plain(StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
            },
            "/metrics" => with_type(OPENMETRICS_TYPE, self.source.openmetrics()),
            "/state.json" => with_type("application/json", self.state().await),
            "/events" => self.live(),
            _ => plain(
                StatusCode::NOT_FOUND,
                "there are /, /state.json, /events, /timelines/ID, /metrics, /healthz and /readyz\n",
            ),
        }
    }

    fn live(self: &Arc<Self>) -> Response<Body> {
        let site = Arc::clone(self);
        let state = move || -> StateFuture {
            let site = Arc::clone(&site);
            Box::pin(async move { site.state().await })
        };
        match Live::new(&self.readers, Box::new(state)) {
            Some(live) => {
                let mut response = with_type("text/event-stream", Bytes::new());
                *response.body_mut() = Body::wrap(live);
                response
            }
            None => plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "as many readers of the live state as may be are there; close another page\n",
            ),
        }
    }

    fn timeline(&self, id: &str) -> Response<Body> {
        let found = id.parse().ok().and_then(|id| self.source.timeline(id));
        match found {
            Some(timeline) => plain(StatusCode::OK, timeline),
            None => plain(
                StatusCode::NOT_FOUND,
                "no timeline has this number here: a client keeps those of its last failed requests, from the moment that it has a \
                 page; a server with `keep_timelines` those of failed and slow ones\n",
            ),
        }
    }

    fn act(&self, name: &str) -> Response<Body> {
        match self.actions.iter().find(|action| action.name == name) {
            Some(action) => {
                (action.run)();
                plain(StatusCode::OK, "begun\n")
            }
            None => plain(StatusCode::NOT_FOUND, "there is no such action\n"),
        }
    }

    async fn is_ready(&self) -> bool {
        match &self.is_ready {
            Some(is_ready) => is_ready(),
            None => self.source.is_ready().await,
        }
    }
}

fn with_type(kind: &'static str, content: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::full(content.into()));
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = with_type(TEXT, text);
    *response.status_mut() = status;
    response
}
