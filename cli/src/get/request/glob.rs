//! URLs of a pattern, as curl has them: `{a,b}` for each word, `[1-10]`, `[001-100:3]` and `[a-z:2]` for each of a
//! range.

use crate::failure::Failure;
use crate::get::exit;
use std::net::Ipv6Addr;

/// The most URLs of one pattern: beyond, a number is likely a slip of the keyboard.
const URLS_MAX: usize = 1_000_000;

/// A URL and what stands in it for each part of its pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::get) struct Expanded {
    pub(in crate::get) url: String,
    parts: Vec<String>,
}

impl Expanded {
    /// One that is no pattern.
    pub(in crate::get) fn plain(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            parts: Vec::new(),
        }
    }
    /// The name of a file with `#1` for the first part, `#2` for the second.
    pub(in crate::get) fn name(&self, pattern: &str) -> String {
        let mut name = String::new();
        let mut rest = pattern;
        while let Some((before, behind)) = rest.split_once('#') {
            name.push_str(before);
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let number: usize = behind[..digits].parse().unwrap_or(0);
            match number.checked_sub(1).and_then(|at| self.parts.get(at)) {
                Some(part) => {
                    name.push_str(part);
                    rest = &behind[digits..];
                }
                None => {
                    name.push('#');
                    rest = behind;
                }
            }
        }
        name + rest
    }
}

/// A piece of a pattern.
#[derive(Debug)]
enum Piece {
    Text(String),
    OneOf(Vec<String>),
}

/// The URLs, the last part varying first.
///
/// # Errors
/// A part that does not end, or whose range counts nothing.
pub(in crate::get) fn expand(pattern: &str) -> Result<Vec<Expanded>, Failure> {
    let refuse = |why: &str| {
        let text = format!("{pattern:?} is no pattern: {why}; -g takes it as it is");
        Failure::usage(text).with_code(exit::URL)
    };
    let mut urls = vec![Expanded::plain("")];
    for piece in pieces(pattern).map_err(|why| refuse(&why))? {
        match piece {
            Piece::Text(text) => urls.iter_mut().for_each(|url| url.url.push_str(&text)),
            Piece::OneOf(words) => {
                if urls.len().saturating_mul(words.len()) > URLS_MAX {
                    return Err(refuse(&format!("it stands for more than {URLS_MAX}")));
                }
                let with = |url: &Expanded, word: &String| {
                    let mut url = url.clone();
                    url.url.push_str(word);
                    url.parts.push(word.clone());
                    url
                };
                urls = urls
                    .iter()
                    .flat_map(|url| words.iter().map(move |word| with(url, word)))
                    .collect();
            }
        }
    }
    Ok(urls)
}

fn pieces(pattern: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut text) = (Vec::new(), String::new());
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '[', '}', ']', '\\']) {
        text.push_str(&rest[..at]);
        let (mark, behind) = rest[at..].split_at(1);
        let inside = |end: char| {
            let found = behind.split_once(end);
            found.ok_or_else(|| format!("{mark} has no {end}"))
        };
        let words = match mark {
            "{" => {
                let (inside, behind) = inside('}')?;
                rest = behind;
                words(inside)?
            }
            "[" => {
                let (inside, behind) = inside(']')?;
                rest = behind;
                let address = inside.split('%').next().unwrap_or_default();
                if inside.is_empty() || address.parse::<Ipv6Addr>().is_ok() {
                    text.push_str(&format!("[{inside}]"));
                    continue;
                }
                range(inside)?
            }
            "\\" if behind.starts_with(['{', '}', '[', ']', ',']) => {
                text.push_str(&behind[..1]);
                rest = &behind[1..];
                continue;
            }
            "\\" => {
                text.push('\\');
                rest = behind;
                continue;
            }
            _ => return Err(format!("{mark} closes nothing")),
        };
        pieces.push(Piece::Text(std::mem::take(&mut text)));
        pieces.push(Piece::OneOf(words));
    }
    text.push_str(rest);
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

fn words(inside: &str) -> Result<Vec<String>, String> {
    if inside.is_empty() || inside.contains(['{', '[']) {
        return Err("{ } holds words between commas".to_owned());
    }
    Ok(inside.split(',').map(str::to_owned).collect())
}

/// `1-10`, `01-10`, `a-z`, each with `:` and a step.
fn range(inside: &str) -> Result<Vec<String>, String> {
    let bad = || format!("[{inside}] is no range such as [1-10], [01-99:2] or [a-z]");
    let (ends, step) = match inside.split_once(':') {
        Some((ends, step)) => (ends, step.parse().map_err(|_| bad())?),
        None => (inside, 1),
    };
    let (first, last) = ends.split_once('-').ok_or_else(bad)?;
    let letters = [first, last].map(|end| end.parse::<char>().ok());
    if let [Some(low), Some(high)] = letters
        && low.is_ascii_alphabetic()
        && high.is_ascii_alphabetic()
        && low <= high
        && step > 0
    {
        let all = (low..=high).step_by(step);
        return Ok(all.map(String::from).collect());
    }
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(first) || !is_number(last) || step == 0 {
        return Err(bad());
    }
    let low: u64 = first.parse().map_err(|_| bad())?;
    let high: u64 = last.parse().map_err(|_| bad())?;
    if low > high || (high - low) / step as u64 >= URLS_MAX as u64 {
        return Err(bad());
    }
    // A first number that begins with 0 says how many digits each has.
    let width = first.len();
    let all = (low..=high).step_by(step);
    Ok(all.map(|number| format!("{number:0width$}")).collect())
}

#[cfg(test)]
#[path = "glob_test.rs"]
mod glob_test;
