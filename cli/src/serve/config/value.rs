//! A value of the file: its form, its unit and its range.

use super::keys::{Key, ValueKind};
use crate::serve::ServeOptions;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::de::DeValue;

/// A place of the file that cannot be used.
pub(super) struct Refused {
    /// Bytes from the beginning.
    pub(super) at: usize,
    pub(super) why: String,
}

impl From<toml::de::Error> for Refused {
    fn from(error: toml::de::Error) -> Self {
        Self {
            at: error.span().map_or(0, |span| span.start),
            why: error.message().replace('\n', ", "),
        }
    }
}

/// A value.
pub(super) struct Found<'a> {
    pub(super) value: &'a DeValue<'a>,
    /// As the file has it.
    pub(super) written: &'a str,
    /// The file's folder, at which relative paths begin.
    pub(super) folder: &'a Path,
}

impl Found<'_> {
    /// Sets the option of `key`.
    ///
    /// # Errors
    /// The values that are allowed.
    pub(super) fn set(&self, key: &Key, options: &mut ServeOptions) -> Result<(), String> {
        let allowed = || key.kind.allowed();
        match &key.kind {
            ValueKind::Flag(set) => set(options, self.value.as_bool().ok_or_else(allowed)?),
            ValueKind::Text(_, set) => {
                set(options, self.value.as_str().ok_or_else(allowed)?).map_err(|_| allowed())?
            }
            ValueKind::Texts(_, set) => {
                set(options, self.texts().ok_or_else(allowed)?).map_err(|_| allowed())?;
            }
            ValueKind::File(set) => set(options, self.path().ok_or_else(allowed)?),
            ValueKind::Count(range, _, set) => {
                let count = self.count().filter(|count| range.contains(count));
                set(options, count.ok_or_else(allowed)?);
            }
            ValueKind::Bytes(range, set) => {
                let bytes = self.count().or_else(|| self.bytes());
                let bytes = bytes.filter(|bytes| range.contains(bytes));
                set(options, bytes.ok_or_else(allowed)?);
            }
            ValueKind::Time(range, set) => {
                let time = self.time().filter(|time| range.contains(time));
                set(options, time.ok_or_else(allowed)?);
            }
            ValueKind::TimeOrOff(range, set) => {
                let time = match self.value.as_str() {
                    Some("off") => None,
                    _ => {
                        let time = self.time().filter(|time| range.contains(time));
                        Some(time.ok_or_else(allowed)?)
                    }
                };
                set(options, time);
            }
        }
        Ok(())
    }
    fn texts(&self) -> Option<Vec<&str>> {
        let all = self.value.as_array()?.iter();
        all.map(|one| one.get_ref().as_str()).collect()
    }
    fn path(&self) -> Option<PathBuf> {
        let path = self.value.as_str().filter(|path| !path.is_empty())?;
        // Standard output has no folder.
        match path {
            "-" => Some(PathBuf::from(path)),
            path => Some(self.folder.join(path)),
        }
    }
    fn count(&self) -> Option<u64> {
        let number = self.value.as_integer()?;
        u64::from_str_radix(number.as_str(), number.radix()).ok()
    }
    fn bytes(&self) -> Option<u64> {
        let (number, unit) = parted(self.value.as_str()?)?;
        let factor = match unit {
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(factor)
    }
    /// A number is of seconds.
    fn time(&self) -> Option<Duration> {
        if let Some(text) = self.value.as_str() {
            let (number, unit) = parted(text)?;
            let number: u64 = number.parse().ok()?;
            return match unit {
                "ms" => Some(Duration::from_millis(number)),
                "s" => Some(Duration::from_secs(number)),
                "min" => number.checked_mul(60).map(Duration::from_secs),
                "h" => number.checked_mul(60 * 60).map(Duration::from_secs),
                "d" => number.checked_mul(24 * 60 * 60).map(Duration::from_secs),
                _ => None,
            };
        }
        match self.value.is_float() || self.value.is_integer() {
            true => Duration::try_from_secs_f64(self.written.replace('_', "").parse().ok()?).ok(),
            false => None,
        }
    }
}

/// The digits in front of a unit, and the unit.
fn parted(text: &str) -> Option<(&str, &str)> {
    let unit = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    Some((number, unit.trim_start()))
}

impl ValueKind {
    /// The values that it takes, for messages and the reference.
    pub(super) fn allowed(&self) -> String {
        match self {
            Self::Flag(_) => "true or false".to_owned(),
            Self::Text(allowed, _) => (*allowed).to_owned(),
            Self::Texts(allowed, _) => format!("a list of {allowed}"),
            Self::File(_) => "a path, as a text".to_owned(),
            Self::Count(range, unit, _) => format!("a whole number{}{}", ranged(range), of(unit)),
            Self::Bytes(range, _) => {
                format!("bytes{}, or a text as \"64KiB\", \"16MiB\"", ranged(range))
            }
            Self::Time(range, _) => {
                format!("seconds, or a text as \"30s\", \"5min\"{}", timed(range))
            }
            Self::TimeOrOff(range, _) => format!(
                "seconds, or a text as \"30s\", \"5min\"{}, or \"off\"",
                timed(range)
            ),
        }
    }
}

fn of(unit: &str) -> String {
    match unit {
        "" => String::new(),
        unit => format!(" ({unit})"),
    }
}

fn ranged(range: &RangeInclusive<u64>) -> String {
    match *range.end() {
        u64::MAX => format!(" from {}", range.start()),
        end => format!(" from {} to {end}", range.start()),
    }
}

fn timed(range: &RangeInclusive<Duration>) -> String {
    let (start, end) = (range.start(), range.end().as_secs() / (24 * 60 * 60));
    let start = match start.as_millis() {
        0 => "0".to_owned(),
        start => format!("{start}ms"),
    };
    format!(", from {start} to {end}d")
}
