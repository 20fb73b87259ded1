//! Forms of several parts, `multipart/form-data` (RFC 7578). Each part streams: nothing is collected.

mod body;

use super::RequestBuilder;
use crate::body::Body;
use crate::error::Error;
use aws_lc_rs::rand;
use body::FormBody;
use bytes::Bytes;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::fmt::Write;
use std::path::Path;

/// Bytes of chance in a boundary: enough that no content has it in it, also one that an attacker chose.
const BOUNDARY_BYTES: usize = 16;

/// A form to be sent.
///
/// ```no_run
/// # async fn example(client: trunkline::Client) -> Result<(), trunkline::Error> {
/// use trunkline::client::multipart::{Form, Part};
///
/// let form = Form::new()
///     .text("title", "A picture")
///     .part("small", Part::bytes(vec![0x89, 0x50]).file_name("small.png").mime("image/png"))
///     .file("large", "/tmp/large.png")
///     .await?;
/// let response = client.post("https://example.org/upload").multipart(form).send().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Form {
    parts: Vec<(String, Part)>,
    boundary: String,
}

impl Default for Form {
    fn default() -> Self {
        Self::new()
    }
}

/// One part of a form.
#[derive(Debug)]
#[must_use]
pub struct Part {
    body: Body,
    file_name: Option<String>,
    fields: HeaderMap,
    /// The first value that cannot be used.
    refused: Option<Error>,
}

impl Form {
    /// A form without parts.
    pub fn new() -> Self {
        Self {
            parts: Vec::new(),
            boundary: boundary(),
        }
    }
    /// The text between the parts. Empty where the system gives no random bytes, which is an error of `send`.
    pub fn boundary(&self) -> &str {
        &self.boundary
    }
    /// Adds a field of text, as an `<input>` gives it.
    pub fn text(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.part(name, Part::text(value))
    }
    /// Adds a part.
    pub fn part(mut self, name: impl Into<String>, part: Part) -> Self {
        self.parts.push((name.into(), part));
        self
    }
    /// Adds a file, with its own name and the type of its extension, or `application/octet-stream`. It is read as it is
    /// sent.
    ///
    /// # Errors
    /// Names the file that cannot be opened.
    pub async fn file(
        self,
        name: impl Into<String>,
        path: impl AsRef<Path>,
    ) -> Result<Self, Error> {
        Ok(self.part(name, Part::file(path).await?))
    }
    /// The `content-type` and the body.
    fn encode(self) -> Result<(HeaderValue, Body), Error> {
        let boundary = self.boundary;
        if boundary.is_empty() {
            let text = "the system gives no random bytes for a boundary";
            return Err(Error::config(text));
        }
        let mut pieces = Vec::with_capacity(2 * self.parts.len() + 1);
        let mut before = format!("--{boundary}\r\n");
        for (name, part) in self.parts {
            if let Some(error) = part.refused {
                return Err(error);
            }
            let disposition = disposition(&name, part.file_name.as_deref());
            let _ = write!(
                before,
                "{}: {disposition}\r\n",
                spelled(&CONTENT_DISPOSITION)
            );
            let mut head = before.into_bytes();
            for (name, value) in &part.fields {
                head.extend_from_slice(spelled(name).as_bytes());
                head.extend_from_slice(b": ");
                head.extend_from_slice(value.as_bytes());
                head.extend_from_slice(b"\r\n");
            }
            head.extend_from_slice(b"\r\n");
            pieces.push(Body::full(head));
            pieces.push(part.body);
            before = format!("\r\n--{boundary}\r\n");
        }
        let last = match pieces.is_empty() {
            true => format!("--{boundary}--\r\n"),
            false => format!("\r\n--{boundary}--\r\n"),
        };
        pieces.push(Body::full(last));
        let media_type = format!("multipart/form-data; boundary={boundary}");
        let media_type = HeaderValue::from_str(&media_type)
            .map_err(|error| Error::config("the boundary is no field value").with_source(error))?;
        Ok((media_type, Body::wrap(FormBody::new(pieces))))
    }
}

impl Part {
    /// Text, in UTF-8.
    pub fn text(value: impl Into<String>) -> Self {
        Self::body(Body::full(value.into()))
    }
    /// Bytes that are all there.
    pub fn bytes(value: impl Into<Bytes>) -> Self {
        Self::body(Body::full(value))
    }
    /// Any body, also one that streams; where its length is not known, the form's is not.
    pub fn body(body: impl Into<Body>) -> Self {
        Self {
            body: body.into(),
            file_name: None,
            fields: HeaderMap::new(),
            refused: None,
        }
    }
    /// A file, as [`Form::file`] has it.
    ///
    /// # Errors
    /// Names the file that cannot be opened.
    pub async fn file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let media_type = mime_guess::from_path(path).first_or_octet_stream();
        let part = Self::body(Body::from_file(path).await?).mime(media_type.essence_str());
        Ok(match path.file_name() {
            Some(name) => part.file_name(name.to_string_lossy()),
            None => part,
        })
    }
    /// The name of the file that the part is.
    pub fn file_name(mut self, name: impl Into<String>) -> Self {
        self.file_name = Some(name.into());
        self
    }
    /// The type of the content (`image/png`). One that is no field value is an error of `send`.
    #[doc(alias = "mime_str")]
    pub fn mime(mut self, media_type: &str) -> Self {
        match HeaderValue::from_str(media_type) {
            Ok(value) => {
                self.fields.insert(CONTENT_TYPE, value);
            }
            Err(_) => self.refuse(format!(
                "the type {media_type:?} of a part is no field value"
            )),
        }
        self
    }
    /// A further field of the part. One that cannot be a field is an error of `send`.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let pair = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(HeaderValue::from_str(value).ok());
        match pair {
            Some((name, value)) => {
                self.fields.append(name, value);
            }
            None => self.refuse(format!("the field {name:?} of a part is no field")),
        }
        self
    }
    fn refuse(&mut self, text: String) {
        self.refused.get_or_insert_with(|| Error::config(text));
    }
}

impl RequestBuilder {
    /// The body as a form of several parts, with its `content-type`. It streams, so a redirect that keeps the
    /// body is not followed.
    pub fn multipart(mut self, form: Form) -> Self {
        let encoded = form.encode();
        self.parts = self.parts.and_then(|mut parts| {
            let (media_type, body) = encoded?;
            parts.headers.insert(CONTENT_TYPE, media_type);
            self.body = body;
            Ok(parts)
        });
        self
    }
}

/// A field name as browsers and curl write it in a part: there are readers of forms that know no other case, though
/// RFC 2045 section 3 has none.
fn spelled(name: &HeaderName) -> String {
    let words = name.as_str().split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}

/// RFC 7578 section 4.2, with the escapes of the HTML standard ("multipart/form-data encoding algorithm").
fn disposition(name: &str, file_name: Option<&str>) -> String {
    let escape = |text: &str| {
        let text = text.replace('"', "%22");
        text.replace('\r', "%0D").replace('\n', "%0A")
    };
    let name = escape(name);
    match file_name.map(escape) {
        None => format!("form-data; name=\"{name}\""),
        Some(file_name) => format!("form-data; name=\"{name}\"; filename=\"{file_name}\""),
    }
}

/// Empty where there are no random bytes.
fn boundary() -> String {
    let mut bytes = [0; BOUNDARY_BYTES];
    if rand::fill(&mut bytes).is_err() {
        return String::new();
    }
    let mut text = String::from("trunkline-");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
#[path = "multipart_test.rs"]
mod multipart_test;
