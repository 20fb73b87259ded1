//! `-F`: the parts of a form, as curl takes them.

use crate::failure::Failure;
use crate::get::exit;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Uri};
use std::io::Read;
use std::path::{Path, PathBuf};
use trunkline::Body;
use trunkline::client::Client;
use trunkline::client::multipart::{Form, Part};

/// Options of curl's parts that are not here.
const OTHERS: [&str; 2] = ["headers", "encoder"];

/// One `-F`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::get) struct FormPart {
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
    /// `name=text`, `name=@FILE` or `name=<FILE`; behind it `;type=TYPE` and `;filename=NAME`, and behind a comma another file of
    /// `name=@FILE`, with its own. What is in double quotes ends at the second of them, with `\"` and `\\` in it.
    ///
    /// Each file is a part with that name, as browsers send them: one part of the type multipart/mixed with all of them, as of
    /// curl, is what RFC 7578 section 4.3 has taken away.
    pub(in crate::get) fn parse(part: &str) -> Result<Vec<Self>, Failure> {
        let refuse = |why: &str| Failure::usage(format_args!("-F {part:?}: {why}"));
        let (name, content) = part
            .split_once('=')
            .ok_or_else(|| refuse("write it as name=text or name=@FILE"))?;
        let (kind, content) = match content.chars().next() {
            Some(kind @ ('@' | '<')) => (Some(kind), &content[1..]),
            Some('(') => {
                return Err(refuse(
                    "a form within a form is not here; --form-string takes a text that begins with (",
                ));
            }
            _ => (None, content),
        };
        let ends = match kind {
            Some('@') => Ends::File,
            Some(_) => Ends::Word,
            None => Ends::Text,
        };
        let (mut parts, mut rest) = (Vec::new(), content);
        loop {
            let (value, behind) = word(rest, ends);
            let mut made = Self {
                name: name.to_owned(),
                content: match kind {
                    Some(_) if value.is_empty() => {
                        return Err(exit::unread(
                            format_args!("-F {part:?}"),
                            &"it names no file",
                        ));
                    }
                    Some('@') => Content::File(PathBuf::from(value)),
                    Some(_) => Content::TextOf(PathBuf::from(value)),
                    None => Content::Text(value),
                },
                media_type: None,
                file_name: None,
            };
            rest = made.take_options(behind, ends).map_err(refuse)?;
            parts.push(made);
            match rest.strip_prefix(',') {
                Some(next) if kind == Some('@') => rest = next,
                _ => return Ok(parts),
            }
        }
    }

    /// Takes `;type=TYPE` and `;filename=NAME`, and gives what is behind them.
    fn take_options<'a>(&mut self, mut rest: &'a str, ends: Ends) -> Result<&'a str, &'static str> {
        while let Some(option) = rest.strip_prefix(';') {
            let (blanks, option) = option.split_at(option.len() - option.trim_start().len());
            let end = option.find(['=', ';']).unwrap_or(option.len());
            let (name, behind) = option.split_at(end);
            let (value, behind) = match behind.strip_prefix('=') {
                Some(value) => word(value, ends.of_option()),
                None => (String::new(), behind),
            };
            match (name, &mut self.media_type) {
                // A `;` at the end.
                ("", _) if value.is_empty() => {}
                ("type", _) if value.is_empty() => return Err("its type is empty"),
                ("type", media_type) => *media_type = Some(value),
                ("filename", _) => self.file_name = Some(value),
                // A parameter of the type.
                (name, Some(media_type)) if !OTHERS.contains(&name) => {
                    media_type.push_str(&format!(";{blanks}{name}={value}"));
                }
                _ => return Err("behind the content come ;type=TYPE and ;filename=NAME alone"),
            }
            rest = behind;
        }
        Ok(rest)
    }

    /// `name=text`, and nothing else.
    pub(in crate::get) fn plain(part: &str) -> Result<Self, Failure> {
        let (name, text) = part.split_once('=').ok_or_else(|| {
            Failure::usage(format_args!(
                "--form-string {part:?}: write it as name=text"
            ))
        })?;
        Ok(Self {
            name: name.to_owned(),
            content: Content::Text(text.to_owned()),
            media_type: None,
            file_name: None,
        })
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
        let own_name = match &self.content {
            Content::File(path) => path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned()),
            Content::Text(_) | Content::TextOf(_) => None,
        };
        let name = self.file_name.clone().or(own_name);
        if let Some(name) = &name {
            part = part.file_name(name);
        }
        // A part with a name is of the type that this says; a file is of one in any case.
        let is_file = matches!(&self.content, Content::File(path) if path.as_os_str() != "-");
        let of_name = name.and_then(|name| mime_guess::from_path(name).first());
        let of_name = of_name.or(is_file.then_some(mime_guess::mime::APPLICATION_OCTET_STREAM));
        if let Some(media_type) = self.media_type.clone().or(of_name.map(|it| it.to_string())) {
            part = part.mime(&media_type);
        }
        Ok(part)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let read = match path.as_os_str() == "-" {
            true => std::io::stdin().read_to_end(&mut bytes).map(|_| bytes),
            false => std::fs::read(path),
        };
        read.map_err(|error| self.unread(path, &error))
    }

    fn unread(&self, path: &Path, error: &dyn std::fmt::Display) -> Failure {
        let (name, path) = (&self.name, path.display());
        exit::unread(format_args!("-F {name}: {path}"), error)
    }
}

/// A request with the form as its body, of the type that -H gives, if it does, with the boundary of the parts.
pub(in crate::get) async fn request(
    client: &Client,
    uri: &Uri,
    parts: &[FormPart],
    media_type: Option<&HeaderValue>,
) -> Result<Request<Body>, Failure> {
    let mut form = Form::new();
    for part in parts {
        form = form.part(&part.name, part.part().await?);
    }
    let boundary = format!("; boundary={}", form.boundary());
    let request = client.post(uri.to_string()).multipart(form).build();
    let mut request = request.map_err(|error| exit::of(&error, false))?;
    let typed = media_type.map(|given| [given.as_bytes(), boundary.as_bytes()].concat());
    if let Some(Ok(media_type)) = typed.map(|typed| HeaderValue::from_bytes(&typed)) {
        request.headers_mut().insert(CONTENT_TYPE, media_type);
    }
    Ok(request)
}

/// The end of a value without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// A `;` that an option of ours follows: another one is a letter like others.
    Text,
    /// A `;`.
    Word,
    /// A `;`, or the comma before another file.
    File,
}

impl Ends {
    /// The place of the end in a text.
    fn in_text(self, text: &str) -> usize {
        let is_option = |behind: &str| {
            let name = behind.trim_start().split('=').next().unwrap_or_default();
            matches!(name, "type" | "filename") || OTHERS.contains(&name)
        };
        let end = match self {
            Self::Text => text
                .match_indices(';')
                .map(|(at, _)| at)
                .find(|at| is_option(&text[at + 1..])),
            Self::Word => text.find(';'),
            Self::File => text.find([';', ',']),
        };
        end.unwrap_or(text.len())
    }
    /// The end of the value of an option behind such a value.
    fn of_option(self) -> Self {
        match self {
            Self::Text => Self::Word,
            other => other,
        }
    }
}

/// A value and what is behind it: in double quotes, or up to its end without the blanks around it.
fn word(text: &str, ends: Ends) -> (String, &str) {
    let text = text.trim_ascii_start();
    if let Some(quoted) = text.strip_prefix('"') {
        let mut value = String::new();
        let mut letters = quoted.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    // As with curl, letters behind it count for nothing.
                    let behind = &quoted[at + 1..];
                    return (value, &behind[ends.in_text(behind)..]);
                }
                '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
                letter => value.push(letter),
            }
        }
        // No second one: the quote is a letter.
    }
    let (value, behind) = text.split_at(ends.in_text(text));
    (value.trim_ascii_end().to_owned(), behind)
}

#[cfg(test)]
#[path = "form_test.rs"]
mod form_test;
