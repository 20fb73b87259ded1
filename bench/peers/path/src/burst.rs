//! Many requests at once on a cold client.

use crate::{Outcome, Subject};
use http_body_util::BodyExt;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Sends `count` requests for `/1` to `/count` in one turn and prints `answered failed seconds`,
/// the time being that of the last to settle, and the first failure's reason. What has not settled
/// after `most` counts as neither.
pub(crate) async fn run(subject: &Subject, url: &str, count: usize, most: Duration) -> Outcome {
    let start = Instant::now();
    let mut requests = JoinSet::new();
    for number in 1..=count {
        let (subject, url) = (subject.clone(), format!("{url}/{number}"));
        requests.spawn(async move { subject.status(&url).await });
    }
    let (mut answered, mut failed, mut reason) = (0, 0, String::new());
    let mut last = start;
    let settle = async {
        while let Some(settled) = requests.join_next().await {
            match settled.map_err(Into::into).and_then(|result| result) {
                Ok(200) => answered += 1,
                Ok(status) => {
                    failed += 1;
                    reason = format!("status {status}");
                }
                Err(error) => {
                    failed += 1;
                    if reason.is_empty() {
                        reason = sentence(error.as_ref());
                    }
                }
            }
            last = Instant::now();
        }
    };
    let _ = tokio::time::timeout(most, settle).await;
    let seconds = (last - start).as_secs_f64();
    println!("{answered} {failed} {seconds:.6} {reason}");
    Ok(())
}

/// The error and what it is due to, in one line.
fn sentence(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        text = format!("{text}: {deeper}");
        source = deeper.source();
    }
    text.replace('\n', " ")
}

impl Subject {
    async fn status(&self, url: &str) -> Outcome<u16> {
        Ok(match self {
            Self::Trunkline(client) => {
                let response = client.get(url).send().await?;
                let status = response.status().as_u16();
                response.into_body().collect().await?;
                status
            }
            Self::Reqwest(client) => {
                let response = client.get(url).send().await?;
                let status = response.status().as_u16();
                response.bytes().await?;
                status
            }
        })
    }
}
