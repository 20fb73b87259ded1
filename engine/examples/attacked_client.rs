//! A client to be attacked, with default settings except for a bound on an exchange, `ATTACKED_SECONDS` in the
//! environment (default 5): asks a good
//! origin every 10 ms, and meanwhile does one thing with a hostile one.
//!
//! `attacked_client h1|h2|h3 GOOD_URL [HOSTILE_URL get|unread|post|crowd]` prints the outcome of the
//! hostile exchange in a line, and when its standard input ends the 99th percentile of the good ones
//! in microseconds, with their count. A certificate may be any.

use http_body_util::BodyExt;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use trunkline::client::{Client, ClientTimeouts, ClientTls, Protocols};
use trunkline::{Body, Error, ErrorKind};

/// All of an exchange.
fn total() -> Duration {
    let seconds = std::env::var("ATTACKED_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|it| it.parse().ok()).unwrap_or(5))
}
/// Requests at once to an origin that is to be asked by many.
const CROWD: usize = 100;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [version, good, hostile @ ..] = &arguments[..] else {
        return Err("usage: attacked_client h1|h2|h3 GOOD_URL [HOSTILE_URL KIND]".into());
    };
    let protocols = match version.as_str() {
        "h1" => Protocols::H1Only,
        "h2" => Protocols::H2Only,
        "h3" => Protocols::H3Only,
        other => return Err(format!("{other:?} is none of h1, h2, h3").into()),
    };
    let client = Client::builder()
        .protocols(protocols)
        .timeouts(ClientTimeouts::default().with_total(Some(total())))
        .tls(ClientTls::new().insecure())
        .build()?;
    let (ended, mut end) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = ended.send(());
    });
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            if let [url, kind] = hostile {
                let (client, url, kind) = (client.clone(), url.clone(), kind.clone());
                tokio::spawn(async move { println!("{}", meet(&client, &url, &kind).await) });
            }
            let mut times = Vec::new();
            while end.try_recv().is_err() {
                let began = Instant::now();
                match get(&client, good).await {
                    Ok(_) => times.push(began.elapsed()),
                    Err(error) => {
                        eprintln!("the good origin: {error}");
                        times.push(Duration::from_secs(1_000));
                    }
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            times.sort_unstable();
            let p99 = times.get(times.len() * 99 / 100).copied();
            let p99 = p99.unwrap_or(Duration::from_secs(1_000));
            println!("{} {}", p99.as_micros(), times.len());
            Ok(())
        })
}

/// The status and the length of an answer.
async fn get(client: &Client, url: &str) -> Result<(u16, u64), Error> {
    let response = client.get(url).send().await?;
    let (status, mut body) = (response.status().as_u16(), response.into_body());
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        bytes += frame?.data_ref().map_or(0, |data| data.len() as u64);
    }
    Ok((status, bytes))
}

async fn meet(client: &Client, url: &str, kind: &str) -> String {
    match kind {
        "unread" => match client.get(url).send().await {
            Ok(response) => {
                tokio::time::sleep(total()).await;
                format!("{}, unread", response.status().as_u16())
            }
            Err(error) => text(&error),
        },
        "post" => {
            let body = Body::full(vec![b'x'; 8 << 20]);
            let sent = client.post(url).body(body).send().await;
            sent.map_or_else(|error| text(&error), |it| it.status().as_u16().to_string())
        }
        "crowd" => {
            let one = async || outcome(get(client, url).await);
            let all: Vec<_> = (0..CROWD).map(|_| one()).collect();
            let mut outcomes = BTreeSet::new();
            for outcome in join_all(all).await {
                outcomes.insert(outcome);
            }
            Vec::from_iter(outcomes).join(", ")
        }
        _ => outcome(get(client, url).await),
    }
}

fn outcome(got: Result<(u16, u64), Error>) -> String {
    match got {
        Ok((status, bytes)) => format!("{status}, {bytes} bytes"),
        Err(error) => text(&error),
    }
}

/// The kind of an error, and what a connection ended by where that is the kind.
fn text(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Violation(violation) => format!("{violation:?}"),
        kind => format!("{kind:?}"),
    }
}

/// All of them at once, each on the task of the caller.
async fn join_all<T>(futures: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut running: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<T>> = running.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, done) in running.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *done = Some(value);
            }
        }
        match done.iter().all(Option::is_some) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    done.into_iter().flatten().collect()
}
