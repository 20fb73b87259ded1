//! Names and passwords of hosts out of a .netrc file.

use crate::failure::Failure;
use crate::get::given;
use std::path::PathBuf;

/// Flags that say which file is read.
#[derive(clap::Args)]
pub(in crate::get) struct NetrcOptions {
    /// Take the user and password of a host from ~/.netrc, whatever the URL says of them.
    #[arg(short = 'n', long)]
    netrc: bool,
    /// As -n, but what the URL says comes first.
    #[arg(long)]
    netrc_optional: bool,
    /// Take them from this file.
    #[arg(long, value_name = "FILE")]
    netrc_file: Option<PathBuf>,
}

/// The entries of a file.
#[derive(Clone, Debug, Default)]
pub(in crate::get) struct Netrc {
    entries: Vec<Entry>,
    /// The credentials of a URL come first.
    is_optional: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    /// `None`: that of each host.
    host: Option<String>,
    login: Option<String>,
    password: Option<String>,
}

impl NetrcOptions {
    /// Reads the file. One that is not there has no entries where none was named.
    pub(in crate::get) fn read(&self) -> Result<Netrc, Failure> {
        let is_wanted = self.netrc || self.netrc_optional;
        let home = || std::env::home_dir().map(|home| home.join(".netrc"));
        let text = match &self.netrc_file {
            Some(path) => given::read(&path.to_string_lossy())?,
            None if is_wanted => home()
                .and_then(|path| std::fs::read(path).ok())
                .unwrap_or_default(),
            None => Vec::new(),
        };
        Ok(Netrc {
            entries: entries(&String::from_utf8_lossy(&text)),
            is_optional: self.netrc_optional,
        })
    }
}

impl Netrc {
    /// `user:password` for a host, where its URL has `given`.
    pub(in crate::get) fn credentials(&self, host: &str, given: Option<String>) -> Option<String> {
        let (login, password) = match given.as_deref().and_then(|given| given.split_once(':')) {
            Some((login, password)) => (Some(login), password),
            None => (None, ""),
        };
        if self.is_optional && !password.is_empty() {
            return given;
        }
        let host = host.trim_matches(['[', ']']);
        let found = self.entries.iter().find(|entry| {
            let is_host = entry.host.as_ref();
            let is_login =
                login.is_none_or(|login| entry.login.as_deref().is_none_or(|its| its == login));
            is_host.is_none_or(|its| its.eq_ignore_ascii_case(host)) && is_login
        });
        match found {
            Some(entry) => Some(format!(
                "{}:{}",
                entry.login.as_deref().or(login).unwrap_or_default(),
                entry.password.as_deref().unwrap_or_default()
            )),
            None => given,
        }
    }
}

fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut words = words(line).into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "machine" => entries.push(Entry {
                    host: words.next(),
                    ..Entry::default()
                }),
                "default" => entries.push(Entry::default()),
                // A macro ends at an empty line.
                "macdef" => {
                    let _ = lines.by_ref().find(|line| line.trim().is_empty());
                    break;
                }
                "login" | "password" | "account" => {
                    let value = words.next();
                    if let Some(entry) = entries.last_mut() {
                        match word.as_str() {
                            "login" => entry.login = value,
                            "password" => entry.password = value,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
    entries
}

/// The words of a line: those in quotes with their escapes, none behind a `#` that begins one.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let mut word = String::new();
        match rest.strip_prefix('"') {
            Some(quoted) => {
                let mut letters = quoted.char_indices();
                rest = "";
                while let Some((at, letter)) = letters.next() {
                    match letter {
                        '"' => {
                            rest = &quoted[at + 1..];
                            break;
                        }
                        '\\' => word.extend(letters.next().map(|(_, letter)| match letter {
                            'n' => '\n',
                            'r' => '\r',
                            't' => '\t',
                            letter => letter,
                        })),
                        letter => word.push(letter),
                    }
                }
            }
            None => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                word.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
        words.push(word);
        rest = rest.trim_start();
    }
    words
}

#[cfg(test)]
#[path = "netrc_test.rs"]
mod netrc_test;
