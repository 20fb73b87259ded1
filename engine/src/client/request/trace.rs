//! The span of a request, with the feature `tracing`; nothing without it.

#[cfg(feature = "tracing")]
mod with {
    use crate::body::Body;
    use crate::error::Error;
    use http::Response;
    use http::request::Parts;
    use tracing::field::Empty;
    use tracing::span::Entered;
    use tracing::{Span, debug_span};

    /// From `send` to the response's head, redirects and retries included.
    #[derive(Clone, Debug)]
    pub(in crate::client::request) struct RequestSpan(Span);

    impl RequestSpan {
        pub(in crate::client::request) fn of(parts: &Parts) -> Self {
            Self(debug_span!(
                target: "trunkline::client",
                "request",
                http.request.method = parts.method.as_str(),
                server.address = parts.uri.host(),
                server.port = parts.uri.port_u16(),
                url.path = parts.uri.path(),
                http.response.status_code = Empty,
                network.protocol.version = Empty,
                error.type = Empty,
            ))
        }
        pub(in crate::client::request) fn none() -> Self {
            Self(Span::none())
        }
        pub(in crate::client::request) fn enter(&self) -> Entered<'_> {
            self.0.enter()
        }
        pub(in crate::client::request) fn record(&self, outcome: &Result<Response<Body>, Error>) {
            match outcome {
                Ok(response) => {
                    let status = response.status().as_u16();
                    self.0.record("http.response.status_code", status);
                    let version = tracing::field::debug(response.version());
                    self.0.record("network.protocol.version", version);
                }
                Err(error) => {
                    let kind = tracing::field::debug(error.kind());
                    self.0.record("error.type", kind);
                    tracing::debug!(target: "trunkline::client", error = %error, "request failed");
                }
            }
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod without {
    use crate::body::Body;
    use crate::error::Error;
    use http::Response;
    use http::request::Parts;

    /// No span.
    #[derive(Clone, Debug)]
    pub(in crate::client::request) struct RequestSpan;

    /// Nothing that was entered.
    pub(in crate::client::request) struct Entered;

    impl RequestSpan {
        pub(in crate::client::request) fn of(_: &Parts) -> Self {
            Self
        }
        pub(in crate::client::request) fn none() -> Self {
            Self
        }
        pub(in crate::client::request) fn enter(&self) -> Entered {
            Entered
        }
        pub(in crate::client::request) fn record(&self, _: &Result<Response<Body>, Error>) {}
    }
}

#[cfg(feature = "tracing")]
pub(super) use with::RequestSpan;
#[cfg(not(feature = "tracing"))]
pub(super) use without::RequestSpan;
