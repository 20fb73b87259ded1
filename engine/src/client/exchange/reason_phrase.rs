//! The words of an HTTP/1.1 server for its status, and its fields as it has spelled them.

use bytes::Bytes;
use std::sync::Arc;
use trunkline_core::http::ResponseHead;

/// The reason phrase of a response over HTTP/1.1, where it is not the usual one for its status (RFC 9112 section 4): among
/// the response's extensions. Its bytes are the server's, in no certain encoding; it may be empty.
///
/// ```no_run
/// # async fn example() -> Result<(), trunkline::Error> {
/// let response = trunkline::Client::new().get("http://127.0.0.1/").send().await?;
/// if let Some(reason) = response.extensions().get::<trunkline::client::ReasonPhrase>() {
///     println!("{}", String::from_utf8_lossy(reason.as_bytes()));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonPhrase(pub(super) Bytes);

impl ReasonPhrase {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The fields of a response over HTTP/1.1 in the order in which they came, each name as it is spelled: among the response's
/// extensions where [`spelled_names`](crate::client::ClientBuilder::spelled_names) is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFields(Arc<[(Bytes, Bytes)]>);

impl ReceivedFields {
    /// The fields of a head; `None`: its names were not kept.
    pub(super) fn of(head: &ResponseHead) -> Option<Self> {
        let mut spellings = head.section().spellings().peekable();
        spellings.peek()?;
        let pairs = spellings.zip(head.fields());
        let copied = pairs.map(|(name, field)| {
            (
                Bytes::copy_from_slice(name),
                Bytes::copy_from_slice(field.value),
            )
        });
        Some(Self(copied.collect()))
    }

    /// Names and values.
    pub fn as_slice(&self) -> &[(Bytes, Bytes)] {
        &self.0
    }
}
