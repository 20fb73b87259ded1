//! Measures the client's cost: a number of GETs, a number in flight, and their CPU time.
//!
//! `cargo run --release --example load -- http://127.0.0.1:8080/ 1000000 100 1` (URL, requests,
//! concurrency, connections). `http` URLs are requested over HTTP/2.

use http_body_util::BodyExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use trunkline::client::{Client, ClientTls, Protocols};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, requests, concurrency, connections] = &arguments[..] else {
        return Err("usage: load URL REQUESTS CONCURRENCY CONNECTIONS".into());
    };
    let (requests, concurrency): (u64, u64) = (requests.parse()?, concurrency.parse()?);
    let protocols = match url.starts_with("https") {
        true => Protocols::H2AndH1,
        false => Protocols::H2Only,
    };
    let client = Client::builder()
        .connections(connections.parse()?)
        .protocols(protocols)
        .tls(ClientTls::new().insecure())
        .build()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let left = Arc::new(AtomicU64::new(requests));
    let (began, cpu_began) = (Instant::now(), cpu_seconds()?);
    let bytes = runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..concurrency {
            let (client, url, left) = (client.clone(), url.clone(), Arc::clone(&left));
            tasks.spawn(async move {
                let mut bytes = 0;
                let one_less = |left: u64| left.checked_sub(1);
                let order = Ordering::Relaxed;
                while left.fetch_update(order, order, one_less).is_ok() {
                    let response = client.get(&url).send().await?;
                    bytes += response.into_body().collect().await?.to_bytes().len();
                }
                Ok::<usize, trunkline::Error>(bytes)
            });
        }
        let mut bytes = 0;
        while let Some(outcome) = tasks.join_next().await {
            bytes += outcome??;
        }
        Ok::<usize, Box<dyn std::error::Error>>(bytes)
    })?;
    let (took, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds()? - cpu_began);
    println!(
        "{requests} requests, {bytes} bytes, {:.0} requests/s, {:.2} us of CPU per request, {:?}",
        requests as f64 / took,
        cpu * 1e6 / requests as f64,
        client.totals(),
    );
    Ok(())
}

/// User and system time of this process, from the scheduler's own account.
fn cpu_seconds() -> std::io::Result<f64> {
    let account = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanos = account
        .split(' ')
        .next()
        .and_then(|first| first.parse().ok());
    Ok(nanos.unwrap_or(0u64) as f64 / 1e9)
}
