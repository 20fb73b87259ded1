//! Debugging output of both sides: TLS secrets, and qlog of packets.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

#[path = "support/origin.rs"]
mod origin;
#[path = "support/peer.rs"]
mod support;

use http_body_util::BodyExt;
use origin::run;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use support::service;
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

#[cfg(feature = "qlog")]
#[test]
fn both_sides_write_down_what_became_of_packets() {
    run(async {
        let folder = Folder::new("qlog");
        let (theirs, ours) = (folder.file("server.sqlog"), folder.file("client.sqlog"));
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let running = Server::bind("127.0.0.1:0")
            .tls(tls)
            .http3(true)
            .qlog(&theirs)
            .unwrap()
            .serve(service(async |_| http::Response::new(Body::full("ok"))))
            .unwrap();
        let client = Client::builder()
            .protocols(Protocols::H3Only)
            .tls(ClientTls::new().root(root).only_given_roots())
            .qlog(&ours)
            .unwrap();
        get(client, running.local_addr().port()).await;
        for path in [ours, theirs] {
            let text = std::fs::read_to_string(&path).unwrap();
            for event in ["packet_sent", "packet_received"] {
                assert!(text.contains(event), "no {event} in {}", path.display());
            }
        }
    });
}
