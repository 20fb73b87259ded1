//! Rounds of gRPC calls over connections that stay: a round for each line of the input, which is its number of calls. Printed are
//! the microseconds of CPU of this process, and of time, that the round took.

use crate::{MESSAGE, Outcome, Subject, call, echo};
use bytes::Bytes;
use http::uri::PathAndQuery;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::error::Error;
use std::io::stdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::task::JoinSet;
use tonic::client::{Grpc, GrpcService};

/// Answers the lines of the input with rounds of `method`, by callers that share `channels` connections.
pub(crate) async fn run(
    kind: &str,
    url: &str,
    method: &str,
    at_once: usize,
    channels: usize,
) -> Outcome {
    let is_stream = match method {
        "echo" => false,
        "stream" => true,
        _ => return Err(format!("no method is named {method}").into()),
    };
    let subjects = (0..channels).map(|_| Subject::new("call", kind, url));
    let subjects = subjects.collect::<Outcome<Vec<_>>>()?;
    for line in stdin().lines() {
        let (cpu, start) = (cpu_us()?, Instant::now());
        let left = Arc::new(AtomicU64::new(line?.trim().parse()?));
        let mut callers = JoinSet::new();
        for subject in subjects.iter().cycle().take(at_once) {
            callers.spawn(calls(subject.clone(), is_stream, Arc::clone(&left)));
        }
        while let Some(caller) = callers.join_next().await {
            caller??;
        }
        println!("{} {}", cpu_us()? - cpu, start.elapsed().as_micros());
    }
    Ok(())
}

/// One caller: a call behind the other until none is left.
async fn calls(mut subject: Subject, is_stream: bool, left: Arc<AtomicU64>) -> Outcome {
    let next = |left: u64| left.checked_sub(1);
    while left
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
        .is_ok()
    {
        match (&mut subject, is_stream) {
            (Subject::TonicOnTrunkline(client), false) => call(client).await?,
            (Subject::TonicOnHyper(client), false) => call(client).await?,
            (Subject::TonicOnTrunkline(client), true) => stream(client).await?,
            (Subject::TonicOnHyper(client), true) => stream(client).await?,
            _ => return Err("not a client of gRPC".into()),
        }
    }
    Ok(())
}

/// One stream, read to its end.
async fn stream<T>(client: &mut Grpc<T>) -> Outcome
where
    T: GrpcService<tonic::body::Body>,
    T::Error: Into<Box<dyn Error + Send + Sync>>,
    T::ResponseBody: http_body::Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as http_body::Body>::Error: Into<Box<dyn Error + Send + Sync>>,
{
    client.ready().await.map_err(Into::into)?;
    let request = tonic::Request::new(Bytes::from_static(MESSAGE));
    let path = PathAndQuery::from_static(echo::STREAM_PATH);
    let answer = client.server_streaming(request, path, echo::Raw).await?;
    let mut messages = answer.into_inner();
    let mut count = 0;
    while let Some(message) = messages.message().await? {
        let message: Bytes = message;
        count += usize::from(message.len() == MESSAGE.len());
    }
    match count == echo::STREAMED {
        true => Ok(()),
        false => Err(format!("{count} messages of {} came", echo::STREAMED).into()),
    }
}

/// User and kernel time of this process, in microseconds.
fn cpu_us() -> Outcome<i64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    Ok(usage.user_time().num_microseconds() + usage.system_time().num_microseconds())
}
