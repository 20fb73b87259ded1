//! Spans and events of `tracing`, by a subscriber of the whole process: a program of its own.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod support;

use crate::support::origin::run;
use http::Response;
use std::convert::Infallible;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use trunkline::{Body, Client, ResponseExt, Server, service_fn};

/// Writes down each span, what is recorded in it later, and each event.
#[derive(Clone, Default)]
struct Lines {
    lines: Arc<Mutex<Vec<String>>>,
    spans: Arc<AtomicU64>,
}

struct FieldText(String);

impl Visit for FieldText {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Lines {
    fn write(&self, line: FieldText) {
        self.lines.lock().unwrap().push(line.0);
    }
    fn with(&self, parts: &[&str]) -> bool {
        let lines = self.lines.lock().unwrap();
        let has = |line: &&String| parts.iter().all(|part| line.contains(part));
        lines.iter().any(|line| has(&line))
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("trunkline")
    }
    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut line = FieldText(format!("span {}", attributes.metadata().name()));
        attributes.record(&mut line);
        self.write(line);
        Id::from_u64(self.spans.fetch_add(1, Ordering::SeqCst) + 1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut line = FieldText("record".to_owned());
        values.record(&mut line);
        self.write(line);
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let mut line = FieldText(format!("{} {}", metadata.level(), metadata.target()));
        event.record(&mut line);
        self.write(line);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn requests_connections_and_exchanges_give_spans_and_events() {
    let lines = Lines::default();
    tracing::subscriber::set_global_default(lines.clone()).unwrap();
    let server = Server::bind("127.0.0.1:0").workers(1).traced();
    let server = server.serve(service_fn(async |_| {
        Ok::<_, Infallible>(Response::new(Body::from("hello")))
    }));
    let server = server.unwrap();
    let url = format!("http://{}/path", server.local_addr());
    run(async {
        let client = Client::new();
        let response = client.get(&url).send().await.unwrap();
        assert_eq!(response.text().await.unwrap(), "hello");
        let refused = client.get("http://127.0.0.1:1/").send().await.unwrap_err();
        assert!(refused.is_connect());
        // A served request is logged when the server has ended.
        server.drain(std::time::Duration::from_secs(10)).await;
    });
    for parts in [
        &[
            "span request",
            "http.request.method=\"GET\"",
            "url.path=\"/path\"",
        ][..],
        &["record", "http.response.status_code=200"],
        &["record", "error.type=Connect"],
        &["DEBUG trunkline::client", "connection opened"],
        &["DEBUG trunkline::client", "connection failed"],
        &["DEBUG trunkline::client", "request failed"],
        &[
            "INFO trunkline::server",
            "exchange",
            "http.response.status_code=200",
            "http.response.body.size=5",
        ],
    ] {
        let all = lines.lines.lock().unwrap().join("\n");
        assert!(lines.with(parts), "{parts:?} is not in\n{all}");
    }
}
