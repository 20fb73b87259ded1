//! Command lines that are made of a table: every flag of one kind beside every flag of another, for each answer.

use super::{Answer, answer, compare, redirect};

type Flags = &'static [&'static str];

const METHODS: [Flags; 4] = [&["-X", "POST"], &["-X", "PUT"], &["-I"], &["-G"]];
const DATA: [Flags; 6] = [
    &["-d", "x=1"],
    &["--data-binary", "@f"],
    &["--data-urlencode", "q=a b&c"],
    &["--json", "{}"],
    &["-F", "a=b"],
    &["-T", "f"],
];
const REDIRECTS: [Flags; 4] = [
    &["-L"],
    &["-L", "--post302"],
    &["-L", "--max-redirs", "0"],
    &["--location-trusted"],
];
const OUTPUTS: [Flags; 6] = [
    &["-i"],
    &["-o", "out"],
    &["-O"],
    &["-D", "h"],
    &["-i", "-o", "out"],
    &["-w", "%{http_code} %{num_redirects} %{method} %{exitcode}"],
];
const FAILS: [Flags; 2] = [&["-f"], &["--fail-with-body"]];
const CREDENTIALS: [Flags; 3] = [
    &["-u", "a:b"],
    &["--oauth2-bearer", "t"],
    &["-H", "authorization: x"],
];
const FIELDS: [Flags; 4] = [
    &["-H", "content-type: text/x"],
    &["-H", "accept:"],
    &["-b", "c=d"],
    &["-r", "3"],
];

/// One of three pairs is tried, all of them where `TRUNKLINE_LONG` is set. Three and the number of answers have no divisor in common,
/// so that each answer is tried.
const SAMPLE: usize = 3;

const KINDS: [&[Flags]; 7] = [
    &METHODS,
    &DATA,
    &REDIRECTS,
    &OUTPUTS,
    &FAILS,
    &CREDENTIALS,
    &FIELDS,
];

const ANSWERS: [Answer; 4] = [
    |asked, _| answer("200 OK", "", asked),
    |asked, _| answer("404 Not Found", "", asked),
    |asked, number| redirect("302 Found", asked, number),
    |asked, number| redirect("307 Temporary Redirect", asked, number),
];

/// Those that differ on purpose: a body beside -I or -G is refused in words, a range is of what is received, an upload is not
/// announced by `expect`, and a form has its own type.
fn is_left_out(arguments: &[&str]) -> bool {
    let has = |flag: &str| arguments.contains(&flag);
    let has_body = has("-F") || has("-T") || has("--json") || has("-d");
    let has_data = has_body || has("--data-binary") || has("--data-urlencode");
    let waits = has("-T") && (has("-i") || has("-D"));
    let types_form = has("-F") && has("content-type: text/x");
    let has_lines = has("-G") && (has("-F") || has("-T") || has("--data-binary"));
    (has_data && (has("-I") || has("-r"))) || has_lines || waits || types_form
}

#[test]
fn pairs_of_flags_are_carried_out_as_by_curl() {
    let mut lines: Vec<Vec<&str>> = Vec::new();
    for (index, kind) in KINDS.iter().enumerate() {
        for other in &KINDS[index + 1..] {
            for first in *kind {
                for second in *other {
                    lines.push([*first, *second, &["URL/x"]].concat());
                }
            }
        }
    }
    lines.retain(|line| !is_left_out(line));
    // Every pair has one of the answers, in turn: all of them together would take minutes.
    let step = if std::env::var_os("TRUNKLINE_LONG").is_some() {
        1
    } else {
        SAMPLE
    };
    let lines = lines.iter().enumerate().step_by(step);
    let cases: Vec<(&[&str], &str, Answer)> = lines
        .map(|(number, line)| (line.as_slice(), "in\nput", ANSWERS[number % ANSWERS.len()]))
        .collect();
    compare(&cases);
}
