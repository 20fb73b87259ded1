//! Values of the command line: their order, and the files that they name.

use super::exit;
use crate::failure::Failure;
use clap::ArgMatches;
use clap::parser::ValueSource;
use std::io::Read;

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
