//! The words of an HTTP/1.1 server for its status.

use bytes::Bytes;

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
