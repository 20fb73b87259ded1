//! --variable and --expand-NAME: texts by name, and their places in the values of flags.

use crate::failure::Failure;
use crate::get::body::UNRESERVED;
use crate::get::given;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use percent_encoding::percent_encode;
use std::collections::HashMap;

/// Letters of a name at most (curl's).
const NAME_MAX: usize = 127;

/// The variables so far, each by its name.
#[derive(Debug, Default)]
pub(super) struct Variables(HashMap<String, Vec<u8>>);

impl Variables {
    /// `name=text` or `name@FILE`, with `;[FIRST-LAST]` behind the file for a part of its bytes; `%` in front takes the
    /// variable of the environment of that name, and what is behind the name where there is none.
    ///
    /// # Errors
    /// The environment has no such variable, the file cannot be read, or it is no such text.
    pub(super) fn set(&mut self, given: &str) -> Result<(), Failure> {
        let refuse = |why: &str| Failure::usage(format_args!("--variable {given:?}: {why}"));
        let (is_imported, text) = match given.strip_prefix('%') {
            Some(text) => (true, text),
            None => (false, given),
        };
        let (name, content) = text.split_at(name_length(text));
        if name.is_empty() || name.len() > NAME_MAX {
            return Err(refuse("write it as name=text, name@FILE or %name"));
        }
        let imported = std::env::var_os(name).filter(|_| is_imported);
        let content = match (imported, content.chars().next()) {
            (Some(value), _) => value.into_encoded_bytes(),
            (None, Some('=')) => content.as_bytes()[1..].to_vec(),
            (None, Some('@')) => part_of_file(&content[1..])?,
            (None, None) if is_imported => {
                return Err(refuse("the environment has no variable of this name"));
            }
            _ => return Err(refuse("write it as name=text, name@FILE or %name")),
        };
        self.0.insert(name.to_owned(), content);
        Ok(())
    }

    /// A text with the variables whose names stand in it, as `{{name}}` or `{{name:function}}`; one that is not set is
    /// empty, and `\{{` stands for two braces.
    ///
    /// # Errors
    /// A function is not known, or what comes out is no text.
    pub(super) fn expand(&self, text: &str) -> Result<String, Failure> {
        let refuse =
            |why: &dyn std::fmt::Display| Failure::usage(format_args!("--expand- {text:?}: {why}"));
        let (mut expanded, mut rest) = (Vec::new(), text);
        while let Some((before, behind)) = rest.split_once("{{") {
            if let Some(before) = before.strip_suffix('\\') {
                expanded.extend_from_slice(before.as_bytes());
                expanded.extend_from_slice(b"{{");
                rest = behind;
                continue;
            }
            expanded.extend_from_slice(before.as_bytes());
            let (inside, after) = behind
                .split_once("}}")
                .ok_or_else(|| refuse(&"braces are not closed"))?;
            let mut parts = inside.split(':');
            let name = parts.next().unwrap_or_default();
            rest = after;
            if name.is_empty() || name_length(name) != name.len() {
                // No name: it is a text like others.
                expanded.extend_from_slice(format!("{{{{{inside}}}}}").as_bytes());
                continue;
            }
            let mut value = self.0.get(name).cloned().unwrap_or_default();
            for function in parts {
                value = applied(function, value).map_err(|why| refuse(&why))?;
            }
            if value.contains(&0) {
                return Err(refuse(&format_args!("{name} has a byte 0 in it")));
            }
            expanded.extend(value);
        }
        expanded.extend_from_slice(rest.as_bytes());
        String::from_utf8(expanded).map_err(|_| {
            refuse(&"a variable in it is no UTF-8; {{name:b64}} and {{name:url}} write its bytes")
        })
    }
}

/// Bytes of the name that the text begins with.
fn name_length(text: &str) -> usize {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.find(|letter| !is_part(letter)).unwrap_or(text.len())
}

/// The bytes of a file, or with `;[FIRST-LAST]` behind its path those from the first to the last.
fn part_of_file(text: &str) -> Result<Vec<u8>, Failure> {
    let range = text.strip_suffix(']').and_then(|text| {
        let (path, range) = text.rsplit_once(";[")?;
        let (first, last) = range.split_once('-')?;
        let last = match last {
            "" => usize::MAX,
            last => last.parse().ok()?,
        };
        Some((path, first.parse::<usize>().ok()?, last))
    });
    let Some((path, first, last)) = range else {
        return given::read(text);
    };
    let bytes = given::read(path)?;
    let part = bytes.iter().skip(first);
    let length = last.saturating_sub(first).saturating_add(1);
    match first <= last {
        true => Ok(part.take(length).copied().collect()),
        false => Err(Failure::usage(format_args!(
            "--variable @{text}: its last byte is in front of its first"
        ))),
    }
}

/// A function of a variable.
fn applied(function: &str, value: Vec<u8>) -> Result<Vec<u8>, String> {
    Ok(match function {
        "trim" => value.trim_ascii().to_vec(),
        "url" => percent_encode(&value, &UNRESERVED).to_string().into_bytes(),
        "b64" => BASE64_STANDARD.encode(value).into_bytes(),
        "64dec" => BASE64_STANDARD
            .decode(value)
            .unwrap_or_else(|_| b"[64dec-fail]".to_vec()),
        "json" => {
            let text = String::from_utf8_lossy(&value);
            let quoted = serde_json::Value::from(text).to_string();
            // Without its quotes.
            quoted.as_bytes()[1..quoted.len() - 1].to_vec()
        }
        _ => {
            return Err(format!(
                "{function:?} is no function; they are trim, json, url, b64 and 64dec"
            ));
        }
    })
}

#[cfg(test)]
#[path = "variables_test.rs"]
mod variables_test;
