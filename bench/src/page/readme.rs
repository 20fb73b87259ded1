//! The short table in README.md, written only by the run that measured it.

use super::figures::Metric;
use super::report::{subjects, table};
use super::runs::Run;
use crate::machine;

/// The table stands between these lines.
const BEGIN: &str = "<!-- measured: written by `make bench`; do not edit by hand -->\n";
const END: &str = "<!-- end measured -->";

/// Columns: title, scenario, metric, digits. The first four are of traffic that varies.
const COLUMNS: [(&str, &str, Metric, usize); 11] = [
    (
        "h2 TLS, us",
        "varied h2 TLS same core",
        Metric::ServerCpu,
        2,
    ),
    ("h2c, us", "varied h2c same core", Metric::ServerCpu, 2),
    ("h1, us", "varied h1 two cores", Metric::ServerCpu, 2),
    (
        "h1 TLS, us",
        "varied h1 TLS two cores",
        Metric::ServerCpu,
        2,
    ),
    ("one h2 TLS, us", "h2 TLS same core", Metric::ServerCpu, 2),
    ("one h2c, us", "h2c same core", Metric::ServerCpu, 2),
    ("one h1, us", "h1 two cores", Metric::ServerCpu, 2),
    ("one h1 TLS, us", "h1 TLS two cores", Metric::ServerCpu, 2),
    ("writes", "h2 TLS same core", Metric::Writes, 4),
    ("idle h2c, KiB", "h2c 10000 idle", Metric::IdleMemory, 1),
    (
        "idle h2 TLS, KiB",
        "h2 TLS 10000 idle",
        Metric::IdleMemory,
        1,
    ),
];

/// `readme` with the run's figures between the marks.
pub(crate) fn with_figures(readme: &str, run: &Run) -> Result<String, String> {
    let unmarked = "README.md has lost the two lines that mark its measured table";
    let (before, rest) = readme.split_once(BEGIN).ok_or(unmarked)?;
    let (_, after) = rest.split_once(END).ok_or(unmarked)?;
    let mut section = String::from(
        "CPU time of the server per request (user and kernel), answers of 1 KiB on average: `h2load -c 4 -m 100` \
         with load and server on one core (h2), `-c 50 -m 1` on two (h1). The first four columns: 2,000 targets \
         in turn, lengths and etags that differ; columns with \"one\": one request again and again. Write calls per response \
         over h2 and TLS; memory per connection at rest, 10,000 of them. Medians of interleaved \
         rounds; differences below 20 % mean nothing.\n\n",
    );
    let rows: Vec<Vec<String>> = subjects(&run.figures, COLUMNS[0].1)
        .into_iter()
        .map(|subject| {
            let cells = COLUMNS.iter().map(|&(_, scenario, metric, digits)| {
                run.figures
                    .get(scenario, subject, metric)
                    .map_or(String::new(), |spread| {
                        format!("{:.digits$}", spread.median)
                    })
            });
            [subject.to_owned()].into_iter().chain(cells).collect()
        })
        .collect();
    let mut head = vec!["server"];
    head.extend(COLUMNS.iter().map(|(title, ..)| *title));
    table(&mut section, "", &head, &rows);
    // A table under a heading of its own would break the page's order.
    let section = section.replace("## \n\n", "");
    let machine = machine::describe().join("; ");
    Ok(format!("{before}{BEGIN}{section}{machine}.\n{END}{after}"))
}

#[cfg(test)]
#[path = "readme_test.rs"]
mod readme_test;
