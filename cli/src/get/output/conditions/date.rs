//! Dates as curl reads them for -z: those of HTTP and mail, and parts of them in any order.

use std::time::{Duration, SystemTime};

const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
/// Minutes that are added to a time of a zone for that of UTC: the zones that curl knows.
const ZONES: [(&str, i64); 44] = [
    ("GMT", 0),
    ("UT", 0),
    ("UTC", 0),
    ("WET", 0),
    ("BST", -60),
    ("WAT", 60),
    ("AST", 240),
    ("ADT", 180),
    ("EST", 300),
    ("EDT", 240),
    ("CST", 360),
    ("CDT", 300),
    ("MST", 420),
    ("MDT", 360),
    ("PST", 480),
    ("PDT", 420),
    ("YST", 540),
    ("YDT", 480),
    ("HST", 600),
    ("HDT", 540),
    ("CAT", 600),
    ("AHST", 600),
    ("NT", 660),
    ("IDLW", 720),
    ("CET", -60),
    ("MET", -60),
    ("MEWT", -60),
    ("MEST", -120),
    ("CEST", -120),
    ("MESZ", -120),
    ("FWT", -60),
    ("FST", -120),
    ("EET", -120),
    ("WAST", -420),
    ("WADT", -480),
    ("CCT", -480),
    ("JST", -540),
    ("EAST", -600),
    ("EADT", -660),
    ("GST", -600),
    ("NZT", -720),
    ("NZST", -720),
    ("NZDT", -780),
    ("IDLE", -720),
];
/// Parts that a date may have.
const PARTS_MAX: usize = 6;
const HHMM_MAX: i64 = 1400;

#[derive(Default)]
struct Parts {
    weekday: bool,
    month: Option<i64>,
    day: Option<i64>,
    year: Option<i64>,
    /// Hours, minutes and seconds.
    clock: Option<[i64; 3]>,
    /// Seconds to add for UTC.
    zone: Option<i64>,
    /// A number is the year, because one that was too large for a day came first.
    awaits_year: bool,
}

/// The time of a date; `None`: it is none.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let (mut parts, mut rest) = (Parts::default(), text);
    for _ in 0..PARTS_MAX {
        let skipped = rest.trim_start_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let sign = rest[..rest.len() - skipped.len()].chars().next_back();
        let Some(first) = skipped.chars().next() else {
            break;
        };
        rest = match first.is_ascii_alphabetic() {
            true => parts.word(skipped)?,
            false => parts.number(skipped, sign)?,
        };
    }
    parts.time()
}

fn split(text: &str, is_part: fn(&char) -> bool) -> (&str, &str) {
    let length = text.chars().take_while(is_part).map(char::len_utf8).sum();
    text.split_at(length)
}

impl Parts {
    fn word<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let (word, rest) = split(text, char::is_ascii_alphabetic);
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        if !self.weekday && DAYS.iter().any(|day| is(day) || is(&day[..3])) {
            self.weekday = true;
        } else if let (None, Some(month)) = (self.month, MONTHS.iter().position(|month| is(month)))
        {
            self.month = Some(month as i64);
        } else {
            let (_, minutes) = ZONES.iter().find(|(name, _)| is(name))?;
            let zone = minutes * 60;
            self.zone.replace(zone).is_none().then_some(())?;
        }
        Some(rest)
    }

    fn number<'a>(&mut self, text: &'a str, sign: Option<char>) -> Option<&'a str> {
        if let (None, Some((clock, rest))) = (self.clock, clock(text)) {
            self.clock = Some(clock);
            return Some(rest);
        }
        let (digits, rest) = split(text, char::is_ascii_digit);
        let value: i64 = digits.parse().ok()?;
        let is_bare = self.year.is_none() && self.month.is_none() && self.day.is_none();
        match (digits.len(), sign) {
            (4, Some(sign @ ('+' | '-'))) if self.zone.is_none() && value <= HHMM_MAX => {
                let seconds = (value / 100 * 60 + value % 100) * 60;
                self.zone = Some(if sign == '+' { -seconds } else { seconds });
            }
            (8, _) if is_bare => {
                self.year = Some(value / 10_000);
                self.month = Some(value % 10_000 / 100 - 1);
                self.day = Some(value % 100);
            }
            _ => self.day_or_year(value)?,
        }
        Some(rest)
    }

    fn day_or_year(&mut self, value: i64) -> Option<()> {
        if !self.awaits_year && self.day.is_none() {
            self.awaits_year = true;
            if (1..32).contains(&value) {
                self.day = Some(value);
                return Some(());
            }
        }
        if !self.awaits_year || self.year.is_some() {
            return None;
        }
        self.year = Some(match value {
            0..=70 => value + 2000,
            71..=99 => value + 1900,
            year => year,
        });
        self.awaits_year = self.day.is_some();
        Some(())
    }

    fn time(&self) -> Option<SystemTime> {
        let [hours, minutes, seconds] = self.clock.unwrap_or_default();
        let (year, month, day) = (self.year?, self.month?, self.day?);
        let is_one = (1583..10_000).contains(&year)
            && (0..12).contains(&month)
            && (1..32).contains(&day)
            && hours < 24
            && minutes < 60
            && seconds <= 60;
        if !is_one {
            return None;
        }
        let clock = (hours * 60 + minutes) * 60 + seconds;
        let since = days(year, month + 1, day) * 86_400 + clock + self.zone.unwrap_or(0);
        // Earlier times count as 1970.
        let since = u64::try_from(since).unwrap_or(0);
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since))
    }
}

/// `hh:mm` or `hh:mm:ss` at the beginning, and what is behind it.
fn clock(text: &str) -> Option<([i64; 3], &str)> {
    let two = |text: &str| {
        let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let (digits, _) = text.split_at(digits);
        digits.parse().ok().map(|value: i64| (value, digits.len()))
    };
    let (hours, length) = two(text)?;
    let rest = text[length..].strip_prefix(':')?;
    let (minutes, length) = two(rest)?;
    let rest = &rest[length..];
    let seconds = rest
        .strip_prefix(':')
        .and_then(|behind| two(behind).map(|(seconds, length)| (seconds, &behind[length..])));
    let (seconds, rest) = seconds.unwrap_or((0, rest));
    Some(([hours, minutes, seconds], rest))
}

/// Days since 1970 of a date of the Gregorian calendar; months count from 1.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have their leap day at their end.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let of_years = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    of_years + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
#[path = "date_test.rs"]
mod date_test;
