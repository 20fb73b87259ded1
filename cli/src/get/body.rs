//! The body of a request: `-d` and the other data options, in the order of the command line, `-F` and `-T`.

pub(super) mod form;

use super::given::{self, read};
use crate::failure::Failure;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use form::FormPart;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::ffi::OsString;
use std::path::Path;

/// Bytes of an encoded value that stand for themselves (RFC 3986 section 2.3).
pub(super) const UNRESERVED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The flags that give a body.
#[derive(Args)]
pub(super) struct BodyOptions {
    #[command(flatten)]
    pub(super) data: Data,
    /// Put what -d and the other data options give behind the `?` of the URL, and GET it.
    #[arg(short = 'G', long)]
    pub(super) get: bool,
    #[command(flatten)]
    form: FormFlags,
    /// Put this behind the `?` of the URL, percent-encoded as --data-urlencode has it; as it is behind a `+`. May be repeated.
    #[arg(long, value_name = "DATA")]
    url_query: Vec<String>,
    /// PUT this file (`-` for standard input), or each of several: {a,b} and [1-9] make them. A URL that ends with `/` gets its
    /// name. Of several URLs each has its own: the first -T is for the first one, and those behind the last -T are fetched.
    #[arg(short = 'T', long, value_name = "FILE", action = ArgAction::Append, conflicts_with_all = Kind::NAMES, conflicts_with_all = ["form", "form-string"])]
    upload_file: Vec<OsString>,
}

impl BodyOptions {
    /// The file of -T for the URL with this number, or a pattern of several.
    pub(super) fn upload(&self, number: usize) -> Option<&Path> {
        let path = self.upload_file.get(number)?;
        // As with curl, an empty name stands for none.
        (!path.is_empty()).then_some(Path::new(path))
    }
    /// The parts of -F.
    pub(super) fn parts(&self) -> Result<Vec<FormPart>, Failure> {
        let mut parts = Vec::new();
        for (is_plain, part) in &self.form.0 {
            match is_plain {
                true => parts.push(FormPart::plain(part)?),
                false => parts.extend(FormPart::parse(part)?),
            }
        }
        Ok(parts)
    }
    /// The query of each URL, behind its `?`; `None`: nothing is added.
    pub(super) fn query(&self) -> Result<Option<Vec<u8>>, Failure> {
        let mut pieces = Vec::new();
        for text in &self.url_query {
            pieces.push(match text.strip_prefix('+') {
                Some(text) => text.as_bytes().to_vec(),
                None => encoded(text)?,
            });
        }
        if self.get {
            pieces.extend(self.data.bytes()?);
        }
        let query = pieces.join(&b'&');
        Ok((!query.is_empty()).then_some(query))
    }
}

/// -F and --form-string, in the order of the command line; true: a text as it is.
#[derive(Clone, Debug, Default)]
struct FormFlags(Vec<(bool, String)>);

impl Args for FormFlags {
    fn augment_args(command: Command) -> Command {
        let arg = |name| {
            let arg = Arg::new(name).long(name).value_name("PART");
            arg.action(ArgAction::Append)
                .conflicts_with_all(Kind::NAMES)
        };
        command.args([
            arg("form").short('F').help(
                "A part of a form, multipart/form-data: `name=text`, `name=@FILE` for a file, `name=<FILE` for a text out \
                 of one; behind it `;type=TYPE` and `;filename=NAME`. May be repeated; the method becomes POST",
            ),
            arg("form-string").help("As -F, where @, < and ; are letters like others"),
        ])
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FormFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let flags = [(false, "form"), (true, "form-string")];
        Ok(Self(given::values(matches, &flags)))
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How the text of a flag becomes a part of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// @FILE without its line breaks, as curl reads it.
    Data,
    /// @FILE as it is.
    Binary,
    /// No @FILE.
    Raw,
    /// Percent-encoded.
    Encoded,
    /// @FILE as it is, of the type application/json, and no `&` before it.
    Json,
}

impl Kind {
    const NAMES: [&str; 5] = ["data", "data-binary", "data-raw", "data-urlencode", "json"];
    const ALL: [(Self, &str, &str); 5] = [
        (
            Self::Data,
            Self::NAMES[0],
            "Request body, or @FILE without its line breaks, or @- for standard input; the method becomes POST and \
             the type that of a form, unless a field says another. May be repeated, with other data options too: joined by `&`",
        ),
        (
            Self::Binary,
            Self::NAMES[1],
            "As -d, with the file as it is",
        ),
        (
            Self::Raw,
            Self::NAMES[2],
            "As -d, where @ is a letter like others",
        ),
        (
            Self::Encoded,
            Self::NAMES[3],
            "As -d, percent-encoded: `text`, `name=text`, `@FILE` or `name@FILE`",
        ),
        (
            Self::Json,
            Self::NAMES[4],
            "As --data-binary, of the type application/json, which is asked for too; joined without a `&`",
        ),
    ];
}

/// `-d` and the other data options, in the order of the command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Data(Vec<(Kind, String)>);

impl Args for Data {
    fn augment_args(command: Command) -> Command {
        command.args(Kind::ALL.map(|(kind, name, help)| {
            let arg = Arg::new(name)
                .long(name)
                .value_name("DATA")
                .help(help)
                .action(ArgAction::Append)
                .allow_hyphen_values(true);
            match kind {
                Kind::Data => arg.short('d').alias("data-ascii"),
                _ => arg,
            }
        }))
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Data {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let flags = Kind::ALL.map(|(kind, name, _)| (kind, name));
        Ok(Self(given::values(matches, &flags)))
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Data {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub(super) fn is_json(&self) -> bool {
        self.0.iter().any(|(kind, _)| *kind == Kind::Json)
    }
    /// All of it; `None`: no such flag is there.
    pub(super) fn bytes(&self) -> Result<Option<Vec<u8>>, Failure> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let mut whole = Vec::new();
        for (kind, text) in &self.0 {
            let part = part(*kind, text)?;
            if whole.is_empty() {
                // A large file is held once.
                whole = part;
                continue;
            }
            if *kind != Kind::Json {
                whole.push(b'&');
            }
            whole.extend(part);
        }
        Ok(Some(whole))
    }
}

fn part(kind: Kind, text: &str) -> Result<Vec<u8>, Failure> {
    match (kind, text.strip_prefix('@')) {
        (Kind::Encoded, _) => encoded(text),
        (Kind::Raw, _) | (_, None) => Ok(text.as_bytes().to_vec()),
        (Kind::Data, Some(path)) => {
            let mut bytes = read(path)?;
            bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
            Ok(bytes)
        }
        (Kind::Binary | Kind::Json, Some(path)) => read(path),
    }
}

/// `text`, `=text`, `name=text`, `@FILE` or `name@FILE`: the text is encoded, the name is not.
fn encoded(text: &str) -> Result<Vec<u8>, Failure> {
    let (name, value) = match text.find(['=', '@']) {
        None => ("", text.as_bytes().to_vec()),
        Some(at) => {
            let (name, rest) = text.split_at(at);
            let value = match rest.strip_prefix('@') {
                Some(path) => read(path)?,
                None => rest.as_bytes()[1..].to_vec(),
            };
            (name, value)
        }
    };
    let mut made = match name {
        "" => String::new(),
        _ => format!("{name}="),
    };
    made.extend(
        percent_encoding::percent_encode(&value, &UNRESERVED).map(|piece| match piece {
            "%20" => "+",
            piece => piece,
        }),
    );
    Ok(made.into_bytes())
}

/// A name as a part of a path.
pub(super) fn path_part(name: &str) -> String {
    utf8_percent_encode(name, &UNRESERVED).to_string()
}

#[cfg(test)]
#[path = "body/body_test.rs"]
mod body_test;
