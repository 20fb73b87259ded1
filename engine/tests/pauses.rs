//! Ends that stand still for a while and go on (SIGSTOP and SIGCONT: a garbage collector's pause, a
//! host that is busy, a laptop's lid), by version, by the end that stands still and by what is in
//! flight then. Nothing is lost, sent twice or cut by it.
//!
//! A program of its own: the client's pause stops every test that runs in the same process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod support;
use crate::support::child;

use crate::support::child::{Child, DOWNLOAD_BYTES, Identity, Key};
use crate::support::origin::run;
use std::sync::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use trunkline::Body;
use trunkline::client::{Client, Protocols};

const VERSIONS: [Protocols; 3] = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];

/// How long a server stands still: longer than the unanswered probes that make a connection of
/// HTTP/3 a suspect.
const SERVER_SECONDS: &str = "0.5";
/// Longer than all times after which a silent connection is given up: the client itself was away.
const CLIENT_SECONDS: &str = "3";

/// The state of an exchange when an end stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Nothing is connected yet.
    Connecting,
    /// The connection has no request; the next comes while the end stands still.
    Idle,
    /// The request is sent, its answer not yet.
    Answering,
    Uploading,
    Downloading,
}

const MOMENTS: [Moment; 5] = [
    Moment::Connecting,
    Moment::Idle,
    Moment::Answering,
    Moment::Uploading,
    Moment::Downloading,
];

/// Exchanges of one client at one moment: more than a connection of HTTP/2 or HTTP/3 carries.
fn exchanges(protocols: Protocols, moment: Moment) -> usize {
    match (protocols, moment) {
        (Protocols::H1Only, _) | (_, Moment::Uploading | Moment::Downloading) => 4,
        _ => 130,
    }
}

const PIECE_BYTES: usize = 64 << 10;
const PIECES: usize = 24;

/// One test at a time: the client's pause would stop the other one too.
static ALONE: Mutex<()> = Mutex::new(());

/// One exchange up to its moment, reported to `begun`, and on once the pause has begun.
async fn exchange(
    client: Client,
    base: String,
    moment: Moment,
    begun: mpsc::UnboundedSender<()>,
    mut paused: watch::Receiver<bool>,
) {
    if moment != Moment::Connecting {
        assert_eq!(text(&client, format!("{base}/late")).await, "late");
    }
    match moment {
        Moment::Connecting | Moment::Idle => {
            begun.send(()).unwrap();
            paused.wait_for(|paused| *paused).await.unwrap();
            assert_eq!(text(&client, format!("{base}/")).await, "first");
        }
        Moment::Answering => {
            let answer = tokio::spawn({
                let client = client.clone();
                async move { text(&client, format!("{base}/late")).await }
            });
            begun.send(()).unwrap();
            assert_eq!(answer.await.unwrap(), "late");
        }
        Moment::Uploading => {
            let (mut sender, body) = Body::channel();
            let response = client.post(format!("{base}/upload")).body(body).send();
            let upload = tokio::spawn(async move {
                sender.send(vec![0; PIECE_BYTES]).await.unwrap();
                begun.send(()).unwrap();
                paused.wait_for(|paused| *paused).await.unwrap();
                for _ in 1..PIECES {
                    sender.send(vec![0; PIECE_BYTES]).await.unwrap();
                }
                sender.finish();
            });
            let received = response.await.unwrap().into_body().text().await.unwrap();
            upload.await.unwrap();
            assert_eq!(received, (PIECES * PIECE_BYTES).to_string());
        }
        Moment::Downloading => {
            let response = client.get(format!("{base}/download")).send().await.unwrap();
            let mut body = response.into_body();
            let mut bytes = body.chunk().await.unwrap().unwrap().len();
            begun.send(()).unwrap();
            paused.wait_for(|paused| *paused).await.unwrap();
            while let Some(chunk) = body.chunk().await.unwrap() {
                bytes += chunk.len();
            }
            assert_eq!(bytes, DOWNLOAD_BYTES);
        }
    }
}

async fn text(client: &Client, url: String) -> String {
    let response = client.get(url).send().await.unwrap();
    response.into_body().text().await.unwrap()
}

/// Stops a process for some seconds; ends when it goes on.
async fn pause(process: u32, seconds: &'static str) {
    let script = format!("kill -STOP {process} && sleep {seconds}; kill -CONT {process}");
    let ended = tokio::task::spawn_blocking(move || {
        std::process::Command::new("sh")
            .args(["-c", &script])
            .status()
    });
    assert!(ended.await.unwrap().unwrap().success());
}

/// The clients of one server, one for each moment, and their exchanges.
struct Row {
    server: Child,
    clients: Vec<(Moment, Client)>,
    exchanges: JoinSet<()>,
}

impl Row {
    /// Brings every exchange to its moment.
    async fn start(protocols: Protocols, paused: &watch::Receiver<bool>) -> Self {
        let identity = Identity::new();
        let server = Child::start(&identity, Key::Default, 0).await;
        let (begun, mut moments) = mpsc::unbounded_channel();
        let mut row = Self {
            server,
            clients: Vec::new(),
            exchanges: JoinSet::new(),
        };
        for moment in MOMENTS {
            let client = identity.client().protocols(protocols).build().unwrap();
            for _ in 0..exchanges(protocols, moment) {
                let (client, base) = (client.clone(), row.server.url(""));
                let (begun, paused) = (begun.clone(), paused.clone());
                row.exchanges
                    .spawn(exchange(client, base, moment, begun, paused));
            }
            row.clients.push((moment, client));
        }
        drop(begun);
        let all: usize = MOMENTS.iter().map(|&m| exchanges(protocols, m)).sum();
        for _ in 0..all {
            moments.recv().await.unwrap();
        }
        row
    }
    /// Every exchange is answered whole, and each was sent once.
    async fn ends(mut self, protocols: Protocols) {
        while let Some(exchange) = self.exchanges.join_next().await {
            exchange.unwrap_or_else(|why| panic!("{protocols:?}: {why}"));
        }
        for (moment, client) in self.clients {
            let totals = client.totals();
            assert_eq!(totals.retries_lost, 0, "{protocols:?} {moment:?}");
        }
    }
}

/// The child of the other tests; on its own it does nothing.
#[test]
fn a_server_in_a_process_of_its_own() {
    child::serve_if_asked();
}

#[test]
fn a_server_that_stands_still_costs_nothing_but_time_at_any_moment_on_any_version() {
    let _alone = ALONE.lock();
    run(async {
        for protocols in VERSIONS {
            let (pauses, paused) = watch::channel(false);
            let row = Row::start(protocols, &paused).await;
            let pause = tokio::spawn(pause(row.server.process(), SERVER_SECONDS));
            pauses.send(true).unwrap();
            row.ends(protocols).await;
            pause.await.unwrap();
        }
    });
}

#[test]
fn a_client_that_stands_still_loses_nothing_at_any_moment_on_any_version() {
    let _alone = ALONE.lock();
    run(async {
        let (pauses, paused) = watch::channel(false);
        let mut rows = Vec::new();
        for protocols in VERSIONS {
            rows.push((protocols, Row::start(protocols, &paused).await));
        }
        let pause = tokio::spawn(pause(std::process::id(), CLIENT_SECONDS));
        pauses.send(true).unwrap();
        for (protocols, row) in rows {
            row.ends(protocols).await;
        }
        pause.await.unwrap();
    });
}
