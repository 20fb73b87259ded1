//! `-v`: prints sent and received heads, connections and times to standard error.

use crate::failure::report;
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use std::time::Instant;
use trunkline::client::{Client, ConnectionUse, WaitReason};
use trunkline::{Body, Error};

/// Times count from here.
pub(in crate::get) struct Trace {
    on: bool,
    from: Instant,
}

impl Trace {
    pub(in crate::get) fn start(on: bool) -> Self {
        Self {
            on,
            from: Instant::now(),
        }
    }

    pub(in crate::get) fn request(&self, request: &Request<Body>) {
        if !self.on {
            return;
        }
        self.line(&format!("request to {}", request.uri()));
        report!("> {} {}", request.method(), request.uri());
        fields('>', request.headers());
    }

    /// Why the requests so far waited for a connection.
    pub(in crate::get) fn waits(&self, client: &Client) {
        if !self.on {
            return;
        }
        let waited_for = client.totals().waited_for;
        for (reason, times) in WaitReason::ALL.into_iter().zip(waited_for) {
            if times > 0 {
                self.line(&format!("waited: {}", reason.text()));
            }
        }
    }

    pub(in crate::get) fn response(&self, response: &Response<Body>) {
        if !self.on {
            return;
        }
        if let Some(used) = response.extensions().get::<ConnectionUse>() {
            self.connection(used);
        }
        self.line(&format!("response head over {:?}", response.version()));
        report!("< {:?} {}", response.version(), response.status());
        fields('<', response.headers());
    }

    /// The timeline of a request that failed.
    pub(in crate::get) fn failed(&self, error: Error) -> Error {
        if self.on {
            for line in error.timeline().lines() {
                report!("* {line}");
            }
        }
        error
    }

    fn connection(&self, used: &ConnectionUse) {
        let number = used.number();
        match used.earlier_requests() {
            // Printed with the response; the connection was opened before.
            0 => self.line_at(used.opened(), &format!("connection {number} opened")),
            earlier => self.line(&format!("connection {number} reused after {earlier}")),
        }
        let Some(info) = used.info() else {
            return;
        };
        let way = match (info.local_addr(), info.peer_addr()) {
            (Some(local), Some(peer)) => format!("from {local} to {peer}"),
            _ => "over a Unix socket".to_owned(),
        };
        let tls = info.tls().map_or("cleartext".to_owned(), |tls| {
            let alpn = tls.alpn().map_or("none".into(), String::from_utf8_lossy);
            format!("{}, ALPN {alpn}", tls.protocol())
        });
        report!("*               {way}, {tls}");
    }

    /// A DATA frame, or as much of an HTTP/1.1 body as came at once, or of what it decompresses to; or trailers.
    pub(in crate::get) fn frame(&self, frame: &Frame<Bytes>) {
        if !self.on {
            return;
        }
        if let Some(data) = frame.data_ref() {
            self.line(&format!("{} bytes of body", data.len()));
        } else if let Some(trailers) = frame.trailers_ref() {
            self.line("trailers");
            fields('<', trailers);
        }
    }

    pub(in crate::get) fn end(&self) {
        if self.on {
            self.line("end");
        }
    }

    fn line(&self, text: &str) {
        self.line_at(Instant::now(), text);
    }

    fn line_at(&self, at: Instant, text: &str) {
        let since = at.saturating_duration_since(self.from);
        report!("* {:>9.3} ms  {text}", since.as_secs_f64() * 1000.0);
    }
}

fn fields(mark: char, fields: &HeaderMap) {
    for (name, value) in fields {
        report!(
            "{mark} {name}: {}",
            String::from_utf8_lossy(value.as_bytes())
        );
    }
}
