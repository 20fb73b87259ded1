//! `-F`: the parts of a form, as curl takes them.

use crate::failure::Failure;
use http::{Request, Uri};
use std::io::Read;
use std::path::PathBuf;
use trunkline::Body;
use trunkline::client::Client;
use trunkline::client::multipart::{Form, Part};

/// One `-F`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormPart {
    name: String,
    content: Content,
    media_type: Option<String>,
    file_name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Text(String),
    /// A file with its name.
    File(PathBuf),
    /// The text in a file.
    TextOf(PathBuf),
}

impl FormPart {
    /// `name=text`, `name=@FILE` or `name=<FILE`; behind a file `;type=TYPE` and `;filename=NAME`.
    pub(super) fn parse(part: &str) -> Result<Self, Failure> {
        let refuse = |why: &str| Failure::usage(format_args!("-F {part:?}: {why}"));
        let (name, content) = part
            .split_once('=')
            .ok_or_else(|| refuse("write it as name=text or name=@FILE"))?;
        let mut made = Self {
            name: name.to_owned(),
            content: Content::Text(content.to_owned()),
            media_type: None,
            file_name: None,
        };
        let kind = content
            .chars()
            .next()
            .filter(|kind| matches!(kind, '@' | '<'));
        let Some(kind) = kind else {
            return Ok(made);
        };
        let mut options = content[1..].split(';');
        let path = PathBuf::from(options.next().unwrap_or_default());
        if path.as_os_str().is_empty() {
            return Err(refuse("it names no file"));
        }
        made.content = match kind {
            '@' => Content::File(path),
            _ => Content::TextOf(path),
        };
        for option in options {
            match option.split_once('=') {
                Some(("type", value)) => made.media_type = Some(value.to_owned()),
                Some(("filename", value)) => made.file_name = Some(value.to_owned()),
                _ => return Err(refuse("behind a file come ;type=TYPE and ;filename=NAME")),
            }
        }
        Ok(made)
    }

    async fn part(&self) -> Result<Part, Failure> {
        let mut part = match &self.content {
            Content::Text(text) => Part::text(text),
            Content::TextOf(path) => Part::bytes(self.read(path)?),
            Content::File(path) if path.as_os_str() == "-" => Part::bytes(self.read(path)?),
            Content::File(path) => {
                let opened = Part::file(path).await;
                opened.map_err(|error| self.unread(path, &error))?
            }
        };
        if let Some(name) = &self.file_name {
            part = part.file_name(name);
        }
        if let Some(media_type) = &self.media_type {
            part = part.mime(media_type);
        }
        Ok(part)
    }

    fn read(&self, path: &PathBuf) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let read = match path.as_os_str() == "-" {
            true => std::io::stdin().read_to_end(&mut bytes).map(|_| bytes),
            false => std::fs::read(path),
        };
        read.map_err(|error| self.unread(path, &error))
    }

    fn unread(&self, path: &std::path::Path, error: &dyn std::fmt::Display) -> Failure {
        let (name, path) = (&self.name, path.display());
        Failure::usage(format_args!("-F {name}: {path} cannot be read: {error}"))
    }
}

/// A request with the form as its body.
pub(super) async fn request(
    client: &Client,
    uri: &Uri,
    parts: &[FormPart],
) -> Result<Request<Body>, Failure> {
    let mut form = Form::new();
    for part in parts {
        form = form.part(&part.name, part.part().await?);
    }
    let request = client.post(uri.to_string()).multipart(form).build();
    request.map_err(super::failure)
}

#[cfg(test)]
#[path = "form_test.rs"]
mod form_test;
