//! Small requests over one connection, a fixed number in flight at once; and the first response
//! over a new connection.

use crate::{Outcome, Subject};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Bytes of an answer.
const BODY_BYTES: u64 = 100;

/// Prints `p50 p99` in milliseconds.
pub(crate) async fn run(subject: &Subject, url: &str, count: usize, at_once: usize) -> Outcome {
    let url = format!("{url}/{BODY_BYTES}");
    // The handshake is not measured.
    subject.get(&url, &mut 0).await?;
    let mut tasks = JoinSet::new();
    for _ in 0..at_once {
        let (subject, url) = (subject.clone(), url.clone());
        tasks.spawn(async move {
            let mut latencies = Vec::new();
            for _ in 0..count / at_once {
                let start = Instant::now();
                subject.get(&url, &mut 0).await?;
                latencies.push(start.elapsed());
            }
            Outcome::Ok(latencies)
        });
    }
    let mut latencies: Vec<Duration> = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.extend(done??);
    }
    latencies.sort();
    let at = |share: f64| {
        let index = (latencies.len() as f64 * share) as usize;
        let latency = latencies.get(index).or(latencies.last());
        latency.map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
    };
    println!("{:.3} {:.3}", at(0.5), at(0.99));
    Ok(())
}

/// Prints the milliseconds of a request for which a connection is opened. `learns`: an answer
/// before it has said that HTTP/3 is served. `other`: another client, whose request pays for what a
/// process does once.
pub(crate) async fn first(other: &Subject, subject: &Subject, url: &str, learns: bool) -> Outcome {
    let url = format!("{url}/{BODY_BYTES}");
    other.get(&url, &mut 0).await?;
    if learns {
        subject.get(&url, &mut 0).await?;
    }
    let start = Instant::now();
    subject.get(&url, &mut 0).await?;
    println!("{:.3}", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}
