//! The command lines that one call of `get` stands for: the flags in files of -K, the variables in their values, and the
//! requests between --next.

mod variables;

use super::given;
use crate::failure::Failure;
use clap::{Arg, Command};
use std::ffi::{OsStr, OsString};
use std::mem;
use std::path::Path;
use variables::Variables;

/// Files of -K within files of -K (curl's bound).
const CONFIG_DEPTH_MAX: usize = 10;

/// The command line of each request, the first one's with the name of the program; a call of another command is left as it
/// is.
///
/// # Errors
/// A file of -K cannot be read.
pub(crate) fn command_lines(
    arguments: Vec<OsString>,
    program: &mut Command,
) -> Result<Vec<Vec<OsString>>, Failure> {
    if arguments.get(1).is_none_or(|name| name != "get") {
        return Ok(vec![arguments]);
    }
    // Only then it is known which flags have a value.
    program.build();
    let command = program.find_subcommand("get");
    let mut lines = Lines {
        flags: command
            .into_iter()
            .flat_map(Command::get_arguments)
            .collect(),
        start: arguments[..2].to_vec(),
        done: Vec::new(),
        current: arguments[..2].to_vec(),
        is_behind_flags: false,
        variables: Variables::default(),
    };
    lines.take(arguments.into_iter().skip(2), 0)?;
    lines.done.push(lines.current);
    Ok(lines.done)
}

/// In front of the name of a flag in whose value names stand for variables.
const EXPAND: &str = "expand-";

struct Lines<'a> {
    flags: Vec<&'a Arg>,
    /// The program and the command.
    start: Vec<OsString>,
    done: Vec<Vec<OsString>>,
    current: Vec<OsString>,
    /// Behind `--`: only URLs follow.
    is_behind_flags: bool,
    variables: Variables,
}

/// The use of a flag here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlagUse {
    /// -K.
    Config,
    /// --next.
    Next,
    /// --variable.
    Variable,
    Valued,
    Plain,
}

impl<'a> Lines<'a> {
    fn take(
        &mut self,
        mut arguments: impl Iterator<Item = OsString>,
        depth: usize,
    ) -> Result<(), Failure> {
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--") => self.is_behind_flags = true,
                Some(text) if !self.is_behind_flags && text.starts_with("--") => {
                    self.long(text, &mut arguments, depth)?;
                    continue;
                }
                Some(text) if !self.is_behind_flags && text.len() > 1 && text.starts_with('-') => {
                    self.letters(text, &mut arguments, depth)?;
                    continue;
                }
                _ => {}
            }
            self.current.push(argument);
        }
        Ok(())
    }

    fn long(
        &mut self,
        text: &str,
        rest: &mut impl Iterator<Item = OsString>,
        depth: usize,
    ) -> Result<(), Failure> {
        let (name, value) = match text[2..].split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (&text[2..], None),
        };
        if let Some(name) = name.strip_prefix(EXPAND) {
            let value = value.map(OsString::from).or_else(|| rest.next());
            let text = self.variables.expand(text_of(value.as_deref())?)?;
            return self.long(&format!("--{name}={text}"), rest, depth);
        }
        let reversed = name.strip_prefix("no-").filter(|_| value.is_none());
        let reversed = reversed.and_then(|name| self.named(name));
        let positive = self.exact(&format!("no-{name}"));
        let reversed = reversed.or(positive.filter(|_| value.is_none()));
        // The name of what a flag with `no-` takes away is none of one that begins so.
        let named = self.exact(name).or_else(|| match positive {
            Some(_) => None,
            None => self.named(name),
        });
        match (named, reversed) {
            (Some(flag), _) => match (use_of(flag), value) {
                // clap says that it takes none.
                (FlagUse::Plain | FlagUse::Next, Some(_)) => self.current.push(text.into()),
                (_, value) => return self.flag(flag, value.map(OsString::from), rest, depth),
            },
            (None, Some(flag)) if use_of(flag) == FlagUse::Plain => {
                let written = plain(flag);
                self.current.retain(|argument| *argument != *written);
            }
            // clap says what is there instead.
            _ => self.current.push(text.into()),
        }
        Ok(())
    }

    fn exact(&self, name: &str) -> Option<&'a Arg> {
        let is_it = |flag: &&&Arg| names_of(flag).any(|own| own == name);
        self.flags.iter().find(is_it).copied()
    }

    /// The flag of this name, or the only one whose name begins so.
    fn named(&self, name: &str) -> Option<&'a Arg> {
        if let Some(flag) = self.exact(name) {
            return Some(flag);
        }
        let begins = |flag: &&&Arg| names_of(flag).any(|own| own.starts_with(name));
        let mut found = self.flags.iter().filter(begins);
        match (found.next(), found.next()) {
            (Some(flag), None) if !name.is_empty() => Some(flag),
            _ => None,
        }
    }

    /// `-sSo FILE`.
    fn letters(
        &mut self,
        text: &str,
        rest: &mut impl Iterator<Item = OsString>,
        depth: usize,
    ) -> Result<(), Failure> {
        for (at, letter) in text.char_indices().skip(1) {
            let mut flags = self.flags.iter();
            let Some(flag) = flags.find(|flag| letters_of(flag).any(|own| own == letter)) else {
                self.current.push(format!("-{}", &text[at..]).into());
                return Ok(());
            };
            let behind = &text[at + letter.len_utf8()..];
            let value = (!behind.is_empty()).then(|| behind.into());
            match use_of(flag) {
                // The short one is another text.
                FlagUse::Plain if flag.get_long() == Some("help") => self.current.push("-h".into()),
                FlagUse::Plain | FlagUse::Next => self.flag(flag, None, rest, depth)?,
                FlagUse::Config | FlagUse::Variable | FlagUse::Valued => {
                    return self.flag(flag, value, rest, depth);
                }
            }
        }
        Ok(())
    }

    /// Adds a flag by its name, with its value behind a `=`: as with curl the next argument is one whatever it begins
    /// with, and a `=` behind a letter is a part of it.
    fn flag(
        &mut self,
        flag: &'a Arg,
        value: Option<OsString>,
        rest: &mut impl Iterator<Item = OsString>,
        depth: usize,
    ) -> Result<(), Failure> {
        match use_of(flag) {
            FlagUse::Config => {
                let path = value.or_else(|| rest.next()).unwrap_or_default();
                return self.config(path, depth);
            }
            FlagUse::Next => self.next(),
            FlagUse::Variable => {
                let value = value.or_else(|| rest.next());
                self.variables.set(text_of(value.as_deref())?)?;
            }
            FlagUse::Plain => self.current.push(plain(flag)),
            FlagUse::Valued => {
                let mut written = plain(flag);
                if let Some(value) = value.or_else(|| rest.next()) {
                    written.push("=");
                    written.push(value);
                }
                self.current.push(written);
            }
        }
        Ok(())
    }

    /// --next.
    fn next(&mut self) {
        // In front of a URL it has no effect, as with curl. Values stand behind their flags' names.
        let mut given = self.current[self.start.len()..].iter();
        let is_url = |argument: &OsString| {
            let argument = argument.to_string_lossy();
            !argument.starts_with('-') || argument.starts_with("--url=")
        };
        if !given.any(is_url) {
            return;
        }
        let line = mem::replace(&mut self.current, self.start.clone());
        self.done.push(line);
    }

    /// -K: the flags of the file stand where it is named.
    fn config(&mut self, path: OsString, depth: usize) -> Result<(), Failure> {
        if depth == CONFIG_DEPTH_MAX {
            return Err(Failure::usage(format_args!(
                "-K {}: files name files {CONFIG_DEPTH_MAX} deep",
                Path::new(&path).display()
            )));
        }
        let bytes = given::read(&path.to_string_lossy())?;
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines() {
            // A value is on the line of its flag.
            self.take(flags_of(line).into_iter(), depth + 1)?;
        }
        Ok(())
    }
}

fn names_of(flag: &Arg) -> impl Iterator<Item = &str> {
    let aliases = flag.get_all_aliases().unwrap_or_default();
    aliases.into_iter().chain(flag.get_long())
}

fn letters_of(flag: &Arg) -> impl Iterator<Item = char> {
    let aliases = flag.get_all_short_aliases().unwrap_or_default();
    aliases.into_iter().chain(flag.get_short())
}

/// The text of --variable or of a flag with --expand-.
fn text_of(value: Option<&OsStr>) -> Result<&str, Failure> {
    let text = value.unwrap_or_default().to_str();
    text.ok_or_else(|| Failure::usage("variables and texts with variables must be UTF-8"))
}

/// A flag without its value.
fn plain(flag: &Arg) -> OsString {
    match (flag.get_long(), flag.get_short()) {
        (Some(name), _) => format!("--{name}").into(),
        (None, letter) => letter
            .map(|letter| format!("-{letter}"))
            .unwrap_or_default()
            .into(),
    }
}

fn use_of(flag: &Arg) -> FlagUse {
    match flag.get_id().as_str() {
        "config" => FlagUse::Config,
        "next" => FlagUse::Next,
        "variable" => FlagUse::Variable,
        _ if flag.get_num_args().is_some_and(|args| args.takes_values()) => FlagUse::Valued,
        _ => FlagUse::Plain,
    }
}

/// A line of a file of -K: a flag, whose dashes may be left out, and its value behind `=`, `:` or blanks, in quotes
/// where it has blanks; `#` begins a comment.
fn flags_of(line: &str) -> Vec<OsString> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Vec::new();
    }
    let has_dashes = line.starts_with('-');
    let separates = |letter: char| letter.is_whitespace() || !has_dashes && "=:".contains(letter);
    let end = line.find(separates).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let value = value_of(rest.trim_start_matches(separates));
    let name = if has_dashes {
        name.to_owned()
    } else {
        format!("--{name}")
    };
    match value {
        None => vec![name.into()],
        // A value may begin with a dash.
        Some(value) if name.starts_with("--") => vec![format!("{name}={value}").into()],
        Some(value) => vec![name.into(), value.into()],
    }
}

fn value_of(text: &str) -> Option<String> {
    let Some(quoted) = text.strip_prefix('"') else {
        let value = text.split_whitespace().next();
        return value.map(str::to_owned);
    };
    let (mut value, mut letters) = (String::new(), quoted.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => value.extend(letters.next().map(|letter| match letter {
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                'v' => '\u{b}',
                letter => letter,
            })),
            letter => value.push(letter),
        }
    }
    Some(value)
}

#[cfg(test)]
#[path = "command_line_test.rs"]
mod command_line_test;
