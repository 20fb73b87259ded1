//! The fields of an HTTP/1.1 response as their server has spelled them.

use bytes::Bytes;
use std::sync::Arc;
use trunkline_core::http::ResponseHead;

/// The fields of a response over HTTP/1.1 in the order in which they came, each name as it is spelled: among the response's
/// extensions where [`spelled_names`](crate::ClientBuilder::spelled_names) is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFields(Arc<[(Bytes, Bytes)]>);

impl ReceivedFields {
    /// Those of a head; `None`: its names were not kept.
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
