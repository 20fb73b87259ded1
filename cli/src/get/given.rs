//! Values of the command line: their order, what they stand for, and the files that they name.

use super::exit;
use crate::failure::Failure;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::ArgMatches;
use clap::parser::ValueSource;
use http::HeaderValue;
use std::io::Read;
use std::time::Duration;

/// A day: a longer wait is a slip of the keyboard.
const SECONDS_MAX: f64 = 86_400.0;

/// The values of these flags, each with its flag, in the order of the command line.
pub(super) fn values<K: Copy>(matches: &ArgMatches, flags: &[(K, &str)]) -> Vec<(K, String)> {
    let mut given = Vec::new();
    for &(kind, name) in flags {
        if matches.value_source(name) != Some(ValueSource::CommandLine) {
            continue;
        }
        let places = matches.indices_of(name).into_iter().flatten();
        let texts = matches.get_many::<String>(name).into_iter().flatten();
        given.extend(
            places
                .zip(texts)
                .map(|(place, text)| (place, kind, text.clone())),
        );
    }
    given.sort_by_key(|(place, ..)| *place);
    given
        .into_iter()
        .map(|(_, kind, text)| (kind, text))
        .collect()
}

/// A file, or standard input for `-`.
pub(super) fn read(path: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = match path {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(|_| bytes),
        _ => std::fs::read(path),
    };
    read.map_err(|error| exit::unread(path, &error))
}

/// The lines of -H and --proxy-header: one, or those of @FILE.
pub(super) fn field_lines(given: &str) -> Result<Vec<String>, Failure> {
    let text = match given.strip_prefix('@') {
        Some(path) => String::from_utf8_lossy(&read(path)?).into_owned(),
        None => given.to_owned(),
    };
    let lines = text.lines().filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// A time of a flag; 0: no bound, as with curl.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().unwrap_or(f64::NAN);
    match (0.0..=SECONDS_MAX).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(format!("it must be 0 to {SECONDS_MAX} seconds")),
    }
}

/// An authorization of the scheme Basic. No password is asked for, as curl does behind a user alone.
pub(super) fn basic(flag: &str, credentials: &str) -> Result<HeaderValue, Failure> {
    if !credentials.contains(':') {
        return Err(Failure::usage(format_args!("{flag} must be user:password")));
    }
    let encoded = BASE64_STANDARD.encode(credentials);
    let mut basic = value(flag, &format!("Basic {encoded}"))?;
    basic.set_sensitive(true);
    Ok(basic)
}

/// The field value of a flag.
pub(super) fn value(flag: &str, text: &str) -> Result<HeaderValue, Failure> {
    let value = HeaderValue::from_str(text);
    value.map_err(|_| Failure::usage(format_args!("{flag} {text:?} has a control character")))
}
