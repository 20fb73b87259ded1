//! `trunkline top URL`: the state of an admin address in a terminal, refreshed once a second.

use crate::failure::Failure;
use crate::serve::in_full;
use crate::target::Target;
use crate::token;
use humansize::{BINARY, format_size};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;
use trunkline::Body;
use trunkline::client::{Client, ResponseExt as _};

/// Between two looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// Bytes of a state: beyond what a server with all of its lists full sends.
const STATE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Without a terminal that says its height.
const ROWS: usize = 40;

/// Flags of `top`.
#[derive(clap::Args)]
pub(crate) struct TopOptions {
    /// The admin address, http://127.0.0.1:9901 for example.
    #[arg(default_value = "http://127.0.0.1:9901")]
    url: String,
    /// The admin address is a Unix socket at this path.
    #[arg(long, value_name = "PATH", conflicts_with = "url")]
    unix: Option<PathBuf>,
    /// A file with the token of the admin address.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print the state once, with all exchanges that it lists, and end.
    #[arg(long)]
    once: bool,
}

/// Shows the state until it is interrupted.
pub(crate) fn run(options: &TopOptions) -> Result<(), Failure> {
    let token = options.token_file.as_deref();
    let token = token
        .map(|path| token::read("--token-file", path))
        .transpose()?;
    let target = Target::parse(&options.url)?;
    let client = Client::builder();
    let client = match &options.unix {
        Some(path) => client.unix_socket(path),
        None => client,
    };
    let client = client
        .build()
        .map_err(|error| Failure::usage(in_full(&error)))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format_args!("cannot start: {error}")))?;
    let is_terminal = std::io::stdout().is_terminal() && !options.once;
    runtime.block_on(async {
        let mut before = None;
        loop {
            let state = state(&client, &target, token.as_deref()).await?;
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

async fn state(client: &Client, target: &Target, token: Option<&str>) -> Result<Value, Failure> {
    let url = format!(
        "{}://{}/state.json",
        if target.tls { "https" } else { "http" },
        target.authority()
    );
    let mut request = client.get(&url);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let failed = |error: trunkline::Error| Failure::remote(in_full(&error));
    let response = request.send().await.map_err(failed)?;
    if response.status() == http::StatusCode::UNAUTHORIZED {
        return Err(Failure::remote(format_args!(
            "{url} needs its token: add --token-file"
        )));
    }
    let response = response.error_for_status().map_err(failed)?;
    let body = read(response.into_body()).await?;
    serde_json::from_slice(&body)
        .map_err(|_| Failure::remote(format_args!("{url} is not a state of trunkline's")))
}

async fn read(body: Body) -> Result<Vec<u8>, Failure> {
    use http_body_util::BodyExt as _;
    let limited = http_body_util::Limited::new(body, STATE_BYTES_MAX);
    let whole = limited.collect().await;
    let whole = whole
        .map_err(|error| Failure::remote(format_args!("the state cannot be read: {error}")))?;
    Ok(whole.to_bytes().to_vec())
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

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(0)
}

/// A text of the state; a peer chose some, which must not command the terminal.
fn plain(value: &Value) -> String {
    let text = value.as_str().unwrap_or("");
    text.replace(char::is_control, "\u{fffd}")
}

fn size(bytes: u64) -> String {
    format_size(bytes, BINARY)
}

#[cfg(test)]
#[path = "top_test.rs"]
mod top_test;
