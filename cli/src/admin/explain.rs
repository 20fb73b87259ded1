//! `trunkline explain URL ID`: the timeline of a failed request, by the number in its error, from the page of its client; of a failed or
//! slow one, from that of its server.

use super::{AdminPage, PageOptions, number, plain, printable, run};
use crate::failure::Failure;
use http::StatusCode;
use std::fmt::Write as _;
use std::io::Write as _;

/// Flags of `explain`.
#[derive(clap::Args)]
pub(crate) struct ExplainOptions {
    #[command(flatten)]
    page: PageOptions,
    /// The number of the timeline, which the text of the error ends with, in Node.js its `timelineId`. Without it: a line for each timeline that
    /// the page has.
    id: Option<u64>,
}

/// Prints one timeline, or the first line of each.
pub(crate) fn print(options: &ExplainOptions) -> Result<(), Failure> {
    let page = AdminPage::new(&options.page)?;
    let text = run(async {
        match options.id {
            Some(id) => timeline(&page, id).await,
            None => headlines(&page).await,
        }
    })?;
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output("standard output", &error))
}

async fn timeline(page: &AdminPage, id: u64) -> Result<String, Failure> {
    let (status, body) = page.get(&format!("/timelines/{id}")).await?;
    let text = String::from_utf8_lossy(&body);
    match status {
        StatusCode::OK => Ok(text.lines().map(|line| printable(line) + "\n").collect()),
        StatusCode::NOT_FOUND => Err(Failure::remote(format_args!(
            "{} has no timeline {id}: it keeps those of the last failed requests, and of slow ones at a server; `trunkline explain URL` lists them",
            page.origin
        ))),
        _ => Err(Failure::remote(format_args!("{}: {status}", page.origin))),
    }
}

async fn headlines(page: &AdminPage) -> Result<String, Failure> {
    let state = page.state().await?;
    let Some(timelines) = state["timelines"].as_array() else {
        return Err(Failure::remote(format_args!(
            "{} is the page of a server that keeps no timelines (Server::keep_timelines)",
            page.origin
        )));
    };
    let mut text = String::new();
    for timeline in timelines {
        let headline = plain(&timeline["headline"]);
        let (id, age) = (number(timeline, "id"), number(timeline, "age_ms"));
        // Writing to a text does not fail.
        let _ = writeln!(text, "{id:>6}  {age:>9} ms ago  {headline}");
    }
    if timelines.is_empty() {
        text.push_str("no request has failed or was slow since the page is there\n");
    }
    Ok(text)
}
