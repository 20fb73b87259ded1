//! Debugging output of both sides: TLS secrets, and qlog of packets.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::run;
use crate::support::peer::service;
use http_body_util::BodyExt;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trunkline::client::{Client, ClientBuilder, ClientTls, Protocols};
use trunkline::{Body, Server, Tls};

/// A folder of this process that goes with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("trunkline-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn lines(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

async fn get(client: ClientBuilder, port: u16) {
    let client = client.resolve("localhost", [([127, 0, 0, 1], 0).into()]);
    let client: Client = client.build().unwrap();
    let url = format!("https://localhost:{port}/");
    let response = client.get(url).send().await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, "ok");
}

#[test]
fn both_sides_log_the_same_secrets_over_tcp_and_quic() {
    for protocols in [Protocols::H2Only, Protocols::H3Only] {
        run(async move {
            let folder = Folder::new(&format!("keys-{protocols:?}"));
            let (theirs, ours) = (folder.file("server"), folder.file("client"));
            let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
            let running = Server::bind("127.0.0.1:0")
                .tls(tls.key_log(&theirs).unwrap())
                .http3(true)
                .serve(service(async |_| http::Response::new(Body::full("ok"))))
                .unwrap();
            let believing = ClientTls::new().root(root).only_given_roots();
            let client = Client::builder()
                .protocols(protocols)
                .tls(believing.key_log(&ours).unwrap());
            get(client, running.local_addr().port()).await;
            let logged = lines(&ours);
            for label in ["CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 "] {
                assert!(logged.iter().any(|line| line.starts_with(label)));
            }
            assert_eq!(logged, lines(&theirs));
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = std::fs::metadata(&ours).unwrap().permissions().mode();
                assert_eq!(mode & 0o077, 0, "nobody else may read it");
            }
        });
    }
}

#[test]
fn a_key_log_that_cannot_be_written_is_named() {
    let error = ClientTls::new().key_log("/nowhere/at/all").unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}

/// A record of a qlog.
type Record = serde_json::Value;

/// The records of a file behind its head, which qvis must understand.
fn records(path: &Path, side: &str) -> Vec<Record> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut records = text.split('\x1e').skip(1).map(|record| {
        assert!(record.ends_with('\n'), "{record}");
        serde_json::from_str::<Record>(record).unwrap()
    });
    let head = records.next().unwrap();
    assert_eq!(head["qlog_version"], "0.3");
    assert_eq!(head["qlog_format"], "JSON-SEQ");
    let trace = &head["trace"];
    assert_eq!(trace["vantage_point"]["type"], side);
    assert_eq!(trace["common_fields"]["time_format"], "relative");
    assert!(trace["common_fields"]["reference_time"].as_u64().unwrap() > 1_700_000_000_000);
    let records: Vec<_> = records.collect();
    let mut last = 0.0;
    for record in &records {
        let time = record["time"].as_f64().unwrap();
        assert!(time >= last, "qvis wants times in order: {record}");
        last = time;
        assert!(record["name"].as_str().unwrap().contains(':'), "{record}");
        // All have a group, or qvis takes none.
        assert_eq!(record["group_id"], records[0]["group_id"], "{record}");
    }
    records
}

/// The frames of an event, without their times: what one side makes the other one parses.
fn frames<'a>(records: &'a [Record], name: &str) -> Vec<&'a Record> {
    let named = records.iter().filter(|record| record["name"] == name);
    named.map(|record| &record["data"]).collect()
}

/// Whether a frame is of this type and stream; its contents.
fn on_stream<'a>(frames: &[&'a Record], stream: u64, kind: &str) -> &'a Record {
    let frame = frames
        .iter()
        .find(|data| data["stream_id"] == stream && data["frame"]["frame_type"] == kind);
    let frame = frame.unwrap_or_else(|| panic!("no {kind} on {stream}: {frames:#?}"));
    &frame["frame"]
}

fn value<'a>(frame: &'a Record, name: &str) -> &'a str {
    let fields = frame["headers"].as_array().unwrap();
    let field = fields.iter().find(|field| field["name"] == name);
    field.unwrap_or_else(|| panic!("no {name}: {frame}"))["value"]
        .as_str()
        .unwrap()
}

#[test]
fn both_sides_write_down_the_same_frames_over_http2_and_http3() {
    for (protocols, stream) in [(Protocols::H2Only, 1), (Protocols::H3Only, 0)] {
        run(async move {
            let folder = Folder::new(&format!("qlog-{protocols:?}"));
            let (theirs, ours) = (folder.file("server.sqlog"), folder.file("client.sqlog"));
            let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
            let running = Server::bind("127.0.0.1:0")
                .tls(tls)
                .http3(true)
                .qlog(&theirs)
                .unwrap()
                .serve(service(async |request: http::Request<Body>| {
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    let response = http::Response::builder().header("x-answer", "1\"2");
                    response.body(Body::full(body)).unwrap()
                }))
                .unwrap();
            let client = Client::builder()
                .protocols(protocols)
                .tls(ClientTls::new().root(root).only_given_roots())
                .resolve("localhost", [([127, 0, 0, 1], 0).into()])
                .qlog(&ours)
                .unwrap()
                .build()
                .unwrap();
            let url = format!("https://localhost:{}/path", running.local_addr().port());
            let request = client.post(url).header("authorization", "Bearer 123");
            let response = request.body("four").send().await.unwrap();
            assert_eq!(
                response.into_body().collect().await.unwrap().to_bytes(),
                "four"
            );
            drop(client);
            running.shutdown();
            let (ours, theirs) = (records(&ours, "client"), records(&theirs, "server"));
            let (made, parsed) = ("http:frame_created", "http:frame_parsed");
            let (asked, answered) = (frames(&ours, made), frames(&ours, parsed));
            let head = on_stream(&asked, stream, "headers");
            assert_eq!(value(head, ":path"), "/path");
            assert_eq!(value(head, "authorization"), "(secret)");
            on_stream(&asked, stream, "data");
            let head = on_stream(&answered, stream, "headers");
            assert_eq!(
                (value(head, ":status"), value(head, "x-answer")),
                ("200", "1\"2")
            );
            on_stream(&answered, stream, "data");
            // The frames that one side has made are those that the other one has parsed.
            let seen = |made: &[&Record], parsed: &[&Record]| {
                let request = |data: &&&Record| data["stream_id"] == stream;
                let made: Vec<_> = made.iter().filter(request).collect();
                let parsed: Vec<_> = parsed.iter().filter(request).collect();
                assert_eq!(made, parsed);
            };
            seen(&asked, &frames(&theirs, parsed));
            seen(&frames(&theirs, made), &answered);
            for records in [&ours, &theirs] {
                for owner in ["local", "remote"] {
                    let set = frames(records, "http:parameters_set");
                    assert!(
                        set.iter().any(|data| data["owner"] == owner),
                        "{owner}: {set:?}"
                    );
                }
                let packets = ["transport:packet_sent", "transport:packet_received"];
                for event in packets {
                    let is_there = !frames(records, event).is_empty();
                    assert_eq!(is_there, protocols == Protocols::H3Only, "{event}");
                }
            }
        });
    }
}
