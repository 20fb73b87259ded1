//! `-v`: what was sent, what came, over what, and when, on standard error.

use http::{HeaderMap, Request, Response};
use std::fmt::Write;
use std::time::Instant;
use trunkline::Body;
use trunkline::client::Client;

/// Times count from here.
pub(crate) struct Trace {
    on: bool,
    from: Instant,
}

impl Trace {
    pub(crate) fn start(on: bool) -> Self {
        Self {
            on,
            from: Instant::now(),
        }
    }

    pub(crate) fn request(&self, request: &Request<Body>) {
        if !self.on {
            return;
        }
        self.line(&format!("request to {}", request.uri()));
        eprintln!("> {} {}", request.method(), request.uri());
        fields('>', request.headers());
    }

    pub(crate) fn response(&self, response: &Response<Body>, client: &Client) {
        if !self.on {
            return;
        }
        let totals = client.totals();
        self.line(&format!(
            "response head over {:?}; {totals:?}",
            response.version()
        ));
        eprintln!("< {:?} {}", response.version(), response.status());
        fields('<', response.headers());
    }

    /// A DATA frame, or as much of an HTTP/1.1 body as came at once.
    pub(crate) fn piece(&self, bytes: usize) {
        if self.on {
            self.line(&format!("{bytes} bytes"));
        }
    }

    pub(crate) fn trailers(&self, trailers: Option<&HeaderMap>) {
        if let Some(trailers) = trailers.filter(|_| self.on) {
            self.line("trailers");
            fields('<', trailers);
        }
    }

    pub(crate) fn end(&self) {
        if self.on {
            self.line("end");
        }
    }

    fn line(&self, text: &str) {
        eprintln!(
            "* {:>9.3} ms  {text}",
            self.from.elapsed().as_secs_f64() * 1000.0
        );
    }
}

fn fields(mark: char, fields: &HeaderMap) {
    for (name, value) in fields {
        eprintln!(
            "{mark} {name}: {}",
            String::from_utf8_lossy(value.as_bytes())
        );
    }
}

/// A head as `-i` writes it.
pub(crate) fn head_text(head: &http::response::Parts) -> String {
    let mut text = format!("{:?} {}\r\n", head.version, head.status);
    for (name, value) in &head.headers {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{name}: {}\r\n",
            String::from_utf8_lossy(value.as_bytes())
        );
    }
    text.push_str("\r\n");
    text
}
