//! One long body after another over one warm connection.

use crate::{Outcome, Subject};
use http_body_util::BodyExt;
use std::time::{Duration, Instant};

/// Bytes of a measured body.
const BODY_BYTES: u64 = 64 << 20;
/// Bytes of the request that opens the connection.
const WARM_UP_BYTES: u64 = 1024;
/// The first meets a connection in slow start, the second one that has learnt its path.
const TRANSFERS: usize = 2;

/// Prints `bytes seconds` for each transfer; one that takes longer than `most` is cut.
pub(crate) async fn run(subject: &Subject, url: &str, most: Duration) -> Outcome {
    let mut bytes = 0;
    subject
        .get(&format!("{url}/{WARM_UP_BYTES}"), &mut bytes)
        .await?;
    for _ in 0..TRANSFERS {
        let (start, mut bytes) = (Instant::now(), 0);
        let long = format!("{url}/{BODY_BYTES}");
        let cut = tokio::time::timeout(most, subject.get(&long, &mut bytes)).await;
        let seconds = start.elapsed().as_secs_f64();
        if let Ok(result) = cut {
            result?;
        }
        println!("{bytes} {seconds:.6}");
    }
    Ok(())
}

impl Subject {
    /// Reads a whole body and counts it as it comes.
    pub(crate) async fn get(&self, url: &str, bytes: &mut u64) -> Outcome {
        match self {
            Self::Trunkline(client) => {
                let mut body = client.get(url).send().await?.into_body();
                while let Some(frame) = body.frame().await {
                    *bytes += frame?.data_ref().map_or(0, |data| data.len() as u64);
                }
            }
            Self::Reqwest(client) => {
                let mut response = client.get(url).send().await?;
                while let Some(data) = response.chunk().await? {
                    *bytes += data.len() as u64;
                }
            }
        }
        Ok(())
    }
}
