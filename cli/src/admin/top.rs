//! `trunkline top URL`: the state of an admin address in a terminal, refreshed once a second.

use super::{AdminPage, PageOptions, number, plain, run};
use crate::failure::Failure;
use humansize::{BINARY, format_size};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Between two looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// Without a terminal that says its height.
const ROWS: usize = 40;

/// Flags of `top`.
#[derive(clap::Args)]
pub(crate) struct TopOptions {
    #[command(flatten)]
    page: PageOptions,
    /// Print the state once, with all exchanges that it lists, and end.
    #[arg(long)]
    once: bool,
}

/// Shows the state until it is interrupted.
pub(crate) fn show(options: &TopOptions) -> Result<(), Failure> {
    let page = AdminPage::new(&options.page)?;
    let is_terminal = std::io::stdout().is_terminal() && !options.once;
    run(async {
        let mut before = None;
        loop {
            let state = page.state().await?;
            let rows = if is_terminal { ROWS } else { usize::MAX };
            let text = shown(&state, before.as_ref(), rows);
            print(&text, is_terminal)?;
            if options.once {
                return Ok(());
            }
            before = Some(state);
            tokio::time::sleep(INTERVAL).await;
        }
    })
}

fn print(text: &str, is_terminal: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    // Home, and the rest of the screen cleared behind the text: no flicker.
    let (before, after) = match is_terminal {
        true => ("\x1b[H", "\x1b[J"),
        false => ("", ""),
    };
    let text = match is_terminal {
        true => text.replace('\n', "\x1b[K\n"),
        false => text.to_owned(),
    };
    write!(out, "{before}{text}{after}")
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output("standard output", &error))
}

/// The state as lines; `before`: that of a second ago, for rates.
fn shown(state: &Value, before: Option<&Value>, rows: usize) -> String {
    let mut text = String::new();
    let counts = |state: &Value, name: &str| state["counts"][name].as_u64().unwrap_or(0);
    let rate = |name: &str| {
        let before = before?;
        let millis = number(state, "time_ms").saturating_sub(number(before, "time_ms"));
        let more = counts(state, name).saturating_sub(counts(before, name));
        Some(more * 1000 / millis.max(1))
    };
    let per_second =
        |name: &str| rate(name).map_or_else(|| "-".to_owned(), |rate| rate.to_string());
    // Writing to a text does not fail.
    let _ = writeln!(
        text,
        "trunkline {} {}, process {}{}",
        plain(&state["kind"]),
        plain(&state["version"]),
        number(state, "process"),
        if state["draining"] == true {
            ", drains"
        } else {
            ""
        },
    );
    let _ = writeln!(
        text,
        "requests {} ({}/s), open {}, connections {} of {}, in {}, out {}",
        counts(state, "requests"),
        per_second("requests"),
        counts(state, "open"),
        counts(state, "connections_open"),
        counts(state, "connections"),
        size(counts(state, "bytes_in")),
        size(counts(state, "bytes_out")),
    );
    if let Some(lag) = state["lag_ms"].as_f64() {
        let _ = writeln!(text, "workers late by {lag:.1} ms");
    }
    for (title, key) in [
        ("responses", "responses"),
        ("waits", "waits"),
        ("violations", "violations"),
        ("failures", "failures"),
    ] {
        if let Some(line) = listed(&state[key]) {
            let _ = writeln!(text, "{title}: {line}");
        }
    }
    if let Some(silent) = state["silent_workers"]
        .as_u64()
        .filter(|silent| *silent > 0)
    {
        let _ = writeln!(text, "{silent} workers did not answer");
    }
    table(state, rows, &mut text);
    text
}

/// A line for each request in line and each exchange, as far as there are rows.
fn table(state: &Value, rows: usize, text: &mut String) {
    let mut lines = Vec::new();
    for waiting in state["queue"].as_array().into_iter().flatten() {
        lines.push(format!(
            "in line   {} for {} ms: {}",
            plain(&waiting["origin"]),
            number(waiting, "waited_ms"),
            plain(&waiting["text"]),
        ));
    }
    lines.extend(stream_lines(state));
    // An empty line, the heading, what is left out, and the line of the cursor.
    let room = rows.saturating_sub(text.lines().count() + 4);
    let _ = writeln!(text);
    let _ = writeln!(
        text,
        "{:<28} {:>5} {:<8} {:>9}  {:<18} {:>11} {:>11}  REQUEST",
        "CONNECTION", "HTTP", "STREAM", "AGE ms", "WAITS FOR", "IN", "OUT"
    );
    let left = lines.len().saturating_sub(room);
    for line in lines.iter().take(room) {
        let _ = writeln!(text, "{line}");
    }
    if left > 0 {
        let _ = writeln!(text, "and {left} more");
    }
}

fn stream_lines(state: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for connection in state["connections"].as_array().into_iter().flatten() {
        let name = match &connection["origin"] {
            Value::String(_) => plain(&connection["origin"]),
            _ => plain(&connection["peer"]),
        };
        for stream in connection["streams"].as_array().into_iter().flatten() {
            let line = format!(
                "{name:<28} {:>5} {:<8} {:>9}  {:<18} {:>11} {:>11}  {} {}",
                plain(&connection["version"]),
                number(stream, "id"),
                number(stream, "age_ms"),
                plain(&stream["wait"]),
                size(number(stream, "received_bytes")),
                size(number(stream, "sent_bytes")),
                plain(&stream["method"]),
                plain(&stream["target"]),
            );
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

/// `name count` of those above zero, the largest first.
fn listed(counts: &Value) -> Option<String> {
    let mut found: Vec<_> = (counts.as_object()?.iter())
        .filter_map(|(name, count)| Some((name, count.as_u64()?)))
        .filter(|(_, count)| *count > 0)
        .collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let found: Vec<_> = found
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    (!found.is_empty()).then(|| found.join(", "))
}

fn size(bytes: u64) -> String {
    format_size(bytes, BINARY)
}

#[cfg(test)]
#[path = "top_test.rs"]
mod top_test;
