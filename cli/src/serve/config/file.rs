//! A configuration file on its way into options, and the places of its values.

use super::NamedCertificate;
use super::keys::{self, CERTIFICATE, KEYS, Key, LISTEN};
use super::nearest;
use super::value::{Found, Refused};
use crate::failure::Failure;
use crate::serve::ServeOptions;
use crate::serve::listeners::{self, ListenTable};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Lines about one file: a reader corrects the first ones first.
const LINES_MAX: usize = 20;
/// Bytes of a file: more is another file by mistake.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A file that was read.
pub(super) struct ConfigFile {
    path: PathBuf,
    text: String,
    /// Its values by key, for example `limits.head_bytes_max` or `certificate.0.chain`.
    values: BTreeMap<String, ValueInFile>,
}

/// A value of the file.
struct ValueInFile {
    key: &'static Key,
    written: String,
    /// Where the key begins, bytes.
    at: usize,
}

impl ConfigFile {
    /// Reads the file at `path` into `options`.
    pub(super) fn read(path: &Path, options: &mut ServeOptions) -> Result<Self, Failure> {
        let shown = path.display();
        let unreadable =
            |error| Failure::usage(format_args!("--config {shown} cannot be read: {error}"));
        let length = fs::metadata(path).map_err(unreadable)?.len();
        if length > FILE_BYTES_MAX {
            return Err(Failure::usage(format_args!(
                "--config {shown} has {length} bytes; at most {FILE_BYTES_MAX} are read"
            )));
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(path, text, options)
    }
    fn parse(path: &Path, text: String, options: &mut ServeOptions) -> Result<Self, Failure> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut file = Self {
            path: path.to_owned(),
            text,
            values: BTreeMap::new(),
        };
        let text = file.text.clone();
        let (root, errors) = DeTable::parse_recoverable(&text);
        let mut refused: Vec<Refused> = errors.into_iter().map(Refused::from).collect();
        if refused.is_empty() {
            let mut reading = Reading {
                options,
                folder: &folder,
                file: &mut file,
                refused: &mut refused,
            };
            reading.top(root.get_ref());
        }
        if refused.is_empty() {
            refused.extend(unfit(options).map(|(key, why)| Refused {
                at: file.values.get(key).map_or(0, |place| place.at),
                why: why.to_owned(),
            }));
        }
        if refused.is_empty() {
            return Ok(file);
        }
        refused.sort_by_key(|refused| refused.at);
        let lines = refused.iter().take(LINES_MAX);
        let lines: Vec<String> = lines.map(|it| file.line(it.at, &it.why)).collect();
        Err(Failure::usage(lines.join("\n")))
    }
    /// A line about the place `at`, bytes from the beginning.
    fn line(&self, at: usize, why: impl Display) -> String {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        format!("{}:{line}:{column}: {why}", self.path.display())
    }
    /// A text about flags or about files, in the words of this file.
    pub(super) fn located(&self, text: String) -> String {
        let mut first: Option<usize> = None;
        let mut text = text;
        let mut flags: Vec<&Key> = KEYS.iter().filter(|key| key.flag.is_some()).collect();
        // --admin-token-file before --admin.
        flags.sort_by_key(|key| std::cmp::Reverse(key.flag.map_or(0, str::len)));
        for key in flags {
            let flag = key.flag.unwrap_or_default();
            let Some(at) = find_word(&text, flag) else {
                continue;
            };
            while let Some(at) = find_word(&text, flag) {
                text.replace_range(at..at + flag.len(), key.path);
            }
            let place = self.values.iter().find(|(_, place)| place.key == key);
            if let Some((_, place)) = place
                && first.is_none_or(|before| at < before)
            {
                first = Some(place.at);
            }
        }
        let named = || {
            let of_file = |place: &&ValueInFile| {
                let written = place.written.trim_matches('"');
                place.key.names_a_file() && written.len() > 1 && text.contains(written)
            };
            self.values.values().find(of_file).map(|place| place.at)
        };
        match first.or_else(named) {
            Some(at) => self.line(at, text),
            None => format!("{}: {text}", self.path.display()),
        }
    }
    /// The keys whose values differ in `new` and count only after a restart.
    pub(super) fn restarts(&self, new: &Self) -> Vec<String> {
        let named = self.values.keys().chain(new.values.keys());
        let mut restarts: Vec<String> = named
            .filter(|name| {
                let (old, new) = (self.values.get(*name), new.values.get(*name));
                let key = old.or(new).map(|value| value.key);
                let is_live = key.is_some_and(|key| key.is_live);
                !is_live && old.map(|it| &it.written) != new.map(|it| &it.written)
            })
            .cloned()
            .collect();
        restarts.sort();
        restarts.dedup();
        restarts
    }
    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// The key that does not go with the others, or is missing, and why.
fn unfit(options: &ServeOptions) -> Option<(&'static str, &'static str)> {
    let is_off = options.no_http3;
    Some(if options.directory.is_none() && !options.test_endpoints {
        ("root", "root is missing: name the directory to serve")
    } else if options.tls_self_signed && options.tls_cert.is_some() {
        (
            "tls.self_signed",
            "tls.self_signed is true, and there is a certificate without names: leave one of them out",
        )
    } else if options.early_data && options.tls_tickets.is_some() {
        (
            "http3.early_data",
            "http3.early_data is true, and tls.tickets has keys, with which a replay cannot be noticed: leave one of \
             them out",
        )
    } else if is_off
        && (options.early_data || options.quic_secret.is_some() || options.quic_lb.is_given())
    {
        (
            "http3.enabled",
            "http3.enabled is false: leave the other keys of [http3] out",
        )
    } else if options.unix.is_some() && options.http3 {
        (
            "http3.enabled",
            "http3.enabled is true, and listen is a Unix socket, which has no UDP: leave http3.enabled out",
        )
    } else {
        return None;
    })
}

/// Where `flag` stands for itself, and not within a path or a longer flag.
fn find_word(text: &str, flag: &str) -> Option<usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || "-_/.".contains(letter);
    text.match_indices(flag).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + flag.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// A file on its way into options.
struct Reading<'a> {
    options: &'a mut ServeOptions,
    folder: &'a Path,
    file: &'a mut ConfigFile,
    refused: &'a mut Vec<Refused>,
}

impl Reading<'_> {
    fn top(&mut self, root: &DeTable<'_>) {
        for (name, value) in root {
            let is_table = keys::TABLES.contains(&name.get_ref().as_ref());
            match (value.get_ref(), name.get_ref().as_ref()) {
                (DeValue::Table(table), _) if is_table => self.table(name.get_ref(), table),
                (DeValue::Array(all), CERTIFICATE)
                    if all.iter().all(|it| it.get_ref().is_table()) =>
                {
                    for (number, certificate) in all.iter().enumerate() {
                        self.certificate(number, certificate);
                    }
                }
                (DeValue::Array(all), LISTEN)
                    if !all.is_empty() && all.iter().all(|it| it.get_ref().is_table()) =>
                {
                    self.listeners(all);
                }
                (_, CERTIFICATE) => self.refuse(name, "write [[certificate]], once for each"),
                (_, table) if is_table => {
                    self.refuse(name, &format!("{table} is a table: write [{table}]"));
                }
                _ => self.value("", name, value, ""),
            }
        }
    }
    fn table(&mut self, table: &str, values: &DeTable<'_>) {
        for (name, value) in values {
            self.value(table, name, value, "");
        }
    }
    fn listeners(&mut self, all: &[Spanned<DeValue<'_>>]) {
        let refused = self.refused.len();
        for (number, table) in all.iter().enumerate() {
            self.options.listeners.push(ListenTable::default());
            for (name, value) in table.get_ref().as_table().into_iter().flatten() {
                self.value(LISTEN, name, value, &format!(".{number}"));
            }
        }
        // An address that was refused would be missed too.
        if self.refused.len() > refused {
            return;
        }
        let places: Vec<usize> = all.iter().map(|table| table.span().start).collect();
        if let Err((at, why)) = listeners::settle(self.options, &places) {
            self.refused.push(Refused { at, why });
        }
    }
    fn certificate(&mut self, number: usize, certificate: &Spanned<DeValue<'_>>) {
        let Some(values) = certificate.get_ref().as_table() else {
            return;
        };
        self.options.certificates.push(NamedCertificate::default());
        for (name, value) in values {
            self.value(CERTIFICATE, name, value, &format!(".{number}"));
        }
        let at = certificate.span().start;
        for needed in ["chain", "key"] {
            if !values.keys().any(|name| name.get_ref() == needed) {
                let why = format!("[[certificate]] has no {needed}: name its PEM file");
                self.refused.push(Refused { at, why });
            }
        }
        let Some(read) = self.options.certificates.last() else {
            return;
        };
        if !read.names.is_empty() {
            return;
        }
        // Without names it is for every client that no other is for: that of --tls-cert.
        let (chain, key) = (read.chain.clone(), read.key.clone());
        self.options.certificates.pop();
        if self.options.tls_cert.replace(chain).is_some() {
            let why = "a second [[certificate]] without names; only one can be for all others";
            let why = why.to_owned();
            self.refused.push(Refused { at, why });
        }
        self.options.tls_key = Some(key);
    }
    /// `number`: of the table among those of its name.
    fn value(
        &mut self,
        table: &str,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        number: &str,
    ) {
        let path = match table {
            "" => name.get_ref().to_string(),
            table => format!("{table}.{}", name.get_ref()),
        };
        let Some(key) = KEYS.iter().find(|key| key.path == path) else {
            let why = nearest::unknown(table, name.get_ref());
            return self.refuse(name, &why);
        };
        let span = value.span();
        let written = self.file.text.get(span.clone()).unwrap_or_default();
        let found = Found {
            value: value.get_ref(),
            written,
            folder: self.folder,
        };
        if let Err(allowed) = found.set(key, self.options) {
            let why = format!("{path} is {written}; it must be {allowed}");
            let at = span.start;
            self.refused.push(Refused { at, why });
            return;
        }
        let place = ValueInFile {
            key,
            written: written.to_owned(),
            at: name.span().start,
        };
        let own = format!("{table}{number}{}{}", dot(table), name.get_ref());
        self.file.values.insert(own, place);
    }
    fn refuse(&mut self, name: &Spanned<std::borrow::Cow<'_, str>>, why: &str) {
        let at = name.span().start;
        let why = why.to_owned();
        self.refused.push(Refused { at, why });
    }
}

fn dot(table: &str) -> &'static str {
    if table.is_empty() { "" } else { "." }
}

#[cfg(test)]
#[path = "file_test.rs"]
mod file_test;
