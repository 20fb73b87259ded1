//! Answers with small files, kept in memory and given again while the disk shows the same.
//!
//! An answer to a GET without conditions and ranges follows from its path, its `accept-encoding`, and what was found at
//! each path that was looked at for it: the file, and the compressed variants that are not there. A second request
//! looks at the same paths, and saves the reading of the file and the making of the head.

use super::super::answer::SiteBody;
use super::super::disk::{Disk, Look};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, header};
use http_body_util::{BodyExt, Full, Limited};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tower_http::services::fs::ServeFileSystemResponseBody;

/// Memory of all answers, in bytes: their content, their paths, and [`ENTRY_BYTES`] for each.
const KEPT_BYTES_MAX: u64 = 16 << 20;

/// Content of one answer, in bytes. The cost of a longer file is that of sending it.
const CONTENT_BYTES_MAX: u64 = 64 << 10;

/// Memory of an answer beside its content and its path, in bytes: a head of some ten fields, and its place in the table.
const ENTRY_BYTES: usize = 1024;

/// How long an answer is kept at most. A program that writes through a mapping may change a file without a change of
/// its times, until the kernel has written the page back (30 s by default).
const KEPT_FOR: Duration = Duration::from_secs(60);

/// Fields of a request that make its answer a part, or none.
const CONDITIONS: [header::HeaderName; 6] = [
    header::RANGE,
    header::IF_RANGE,
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_UNMODIFIED_SINCE,
];

/// The answers of one directory.
pub(super) struct KeptAnswers {
    cache: Cache<Vec<u8>, Arc<KeptAnswer>>,
    /// How long a file has to be unchanged before its answer is kept: the largest step of a file system's clock.
    settle_time: Duration,
}

struct KeptAnswer {
    looks: Vec<Look>,
    headers: HeaderMap,
    content: Bytes,
}

impl KeptAnswers {
    pub(super) fn new(settle_time: Duration) -> Self {
        let bytes = |key: &Vec<u8>, answer: &Arc<KeptAnswer>| {
            let bytes = key.len() + answer.content.len() + ENTRY_BYTES;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder()
            .max_capacity(KEPT_BYTES_MAX)
            .weigher(bytes)
            .time_to_live(KEPT_FOR)
            .eviction_policy(EvictionPolicy::tiny_lfu());
        Self {
            cache: cache.build(),
            settle_time,
        }
    }

    /// The answer that was kept for the key, if the disk shows what it showed then.
    pub(super) async fn get<B>(&self, key: &[u8], disk: &Disk) -> Option<Response<SiteBody<B>>> {
        let kept = self.cache.get(key)?;
        if !disk.still_shows(&kept.looks).await {
            return None;
        }
        let body = SiteBody::Full(Full::new(kept.content.clone()));
        let mut response = Response::new(body);
        response.headers_mut().clone_from(&kept.headers);
        Some(response)
    }

    /// Keeps the response, if it is small and its file is settled, and returns it with its content read.
    ///
    /// # Errors
    /// When the content cannot be read as a whole.
    pub(super) async fn keep<B>(
        &self,
        key: Vec<u8>,
        disk: &Disk,
        response: Response<ServeFileSystemResponseBody>,
    ) -> Result<Response<SiteBody<B>>, Unreadable> {
        let length = response.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let Some(length) = length.filter(|length| *length <= CONTENT_BYTES_MAX) else {
            return Ok(SiteBody::file(response));
        };
        let settled = SystemTime::now().checked_sub(self.settle_time);
        let Some(looks) = settled.and_then(|settled| disk.recorded(settled)) else {
            return Ok(SiteBody::file(response));
        };
        let (head, body) = response.into_parts();
        let content = Limited::new(body, CONTENT_BYTES_MAX as usize);
        let content = content.collect().await.map_err(|_| Unreadable)?.to_bytes();
        if content.len() as u64 != length {
            return Err(Unreadable);
        }
        let kept = KeptAnswer {
            looks,
            headers: head.headers.clone(),
            content: content.clone(),
        };
        self.cache.insert(key, Arc::new(kept));
        Ok(Response::from_parts(
            head,
            SiteBody::Full(Full::new(content)),
        ))
    }
}

/// A file that became shorter, or whose disk fails.
pub(super) struct Unreadable;

/// The bytes that decide what a request is answered with: its path, and what codings it accepts. `None`: there may be
/// more that decides.
pub(super) fn key_of<B>(request: &Request<B>) -> Option<Vec<u8>> {
    let headers = request.headers();
    if request.method() != Method::GET || CONDITIONS.iter().any(|name| headers.contains_key(name)) {
        return None;
    }
    let path = request.uri().path().as_bytes();
    let mut accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    match (accepted.next(), accepted.next()) {
        (None, _) => Some(path.to_vec()),
        // A path has no space.
        (Some(coding), None) => Some([path, b" ", coding.as_bytes()].concat()),
        (Some(_), Some(_)) => None,
    }
}

#[cfg(all(test, unix))]
#[path = "kept_test.rs"]
mod kept_test;
