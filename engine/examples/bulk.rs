//! Measures a client's cost of long bodies: a number of bodies of a given size at once over one
//! connection, and their CPU time.
//!
//! `cargo run --release --example bulk -- https://127.0.0.1:8443/bytes/1073741824 h3 1`
//! (URL, h1 | h2 | h3, bodies). HTTP/1.1 takes a connection for each.

use http_body_util::BodyExt;
use std::time::Instant;
use trunkline::client::{Client, ClientTls, Protocols};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, version, bodies] = &arguments[..] else {
        return Err("usage: bulk URL h1|h2|h3 BODIES".into());
    };
    let protocols = match version.as_str() {
        "h1" => Protocols::H1Only,
        "h2" => Protocols::H2Only,
        "h3" => Protocols::H3Only,
        other => return Err(format!("{other:?} is none of h1, h2, h3").into()),
    };
    let client = Client::builder()
        .protocols(protocols)
        .tls(ClientTls::new().insecure())
        .build()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (began, cpu_began) = (Instant::now(), cpu_seconds()?);
    let bytes = runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..bodies.parse()? {
            let request = client.get(url).send();
            tasks.spawn(async move {
                let mut body = request.await?.into_body();
                let mut bytes = 0;
                while let Some(frame) = body.frame().await {
                    bytes += frame?.data_ref().map_or(0, |data| data.len() as u64);
                }
                Ok::<u64, trunkline::Error>(bytes)
            });
        }
        let mut bytes = 0;
        while let Some(outcome) = tasks.join_next().await {
            bytes += outcome??;
        }
        Ok::<u64, Box<dyn std::error::Error>>(bytes)
    })?;
    let (took, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds()? - cpu_began);
    println!(
        "{bytes} bytes, {:.0} MB/s, {:.2} s of CPU per GiB",
        bytes as f64 / 1e6 / took,
        cpu * f64::from(1 << 30) / bytes as f64,
    );
    Ok(())
}

fn cpu_seconds() -> std::io::Result<f64> {
    let account = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanos = account
        .split(' ')
        .next()
        .and_then(|first| first.parse().ok());
    Ok(nanos.unwrap_or(0u64) as f64 / 1e9)
}
