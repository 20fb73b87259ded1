//! Renders the tables as Markdown, readable in a terminal too.

use super::figures::{Figures, Metric, Spread};
use super::runs::{BULK_METRICS, Run, idle_scenarios};
use crate::machine;
use crate::scenario::{Placement, Scenario};
use std::fmt::Write;

/// Name of our subject in every table.
const OURS: &str = "trunkline";

/// A bound on one of our figures.
struct Goal {
    scenario: &'static str,
    metric: Metric,
    /// `allowed = factor * the lowest of these subjects`; no subjects: `factor` itself.
    factor: f64,
    peers: &'static [&'static str],
}

const GOALS: &[Goal] = &[
    goal("h2 TLS same core", Metric::ServerCpu, 0.6, &["Bun"]),
    goal("h2 TLS same core", Metric::ServerCpu, 0.45, &["h2o"]),
    goal("h2 TLS same core", Metric::Writes, 0.02, &[]),
    goal("h2c same core", Metric::ServerCpu, 0.6, &["h2o"]),
    goal(
        "h1 two cores",
        Metric::ServerCpu,
        1.0,
        &["h2o", "hyper", "nginx"],
    ),
    goal(
        "h1 TLS two cores",
        Metric::ServerCpu,
        1.0,
        &["h2o", "hyper", "nginx"],
    ),
    goal("h3 same core", Metric::ServerCpu, 0.33, &["quinn"]),
    goal("h3 same core", Metric::ServerCpu, 3.0, &[]),
    goal("h2c 1000 idle", Metric::IdleMemory, 3.0, &[]),
    goal("h2c 10000 idle", Metric::IdleMemory, 3.0, &[]),
    goal("h2 TLS 1000 idle", Metric::IdleMemory, 20.0, &[]),
    goal("h2 TLS 10000 idle", Metric::IdleMemory, 20.0, &[]),
];

const fn goal(
    scenario: &'static str,
    metric: Metric,
    factor: f64,
    peers: &'static [&'static str],
) -> Goal {
    Goal {
        scenario,
        metric,
        factor,
        peers,
    }
}

/// Every table of the run.
pub(crate) fn tables(run: &Run) -> String {
    let mut text = String::new();
    for scenario in Scenario::ALL {
        for placement in [Placement::SameCore, Placement::TwoCores] {
            load_table(&mut text, &run.figures, scenario, placement);
        }
    }
    idle_table(&mut text, &run.figures);
    goals_table(&mut text, &run.figures);
    text
}

/// The whole page: how it was measured, on what, the tables, what is missing.
pub(crate) fn page(run: &Run, tables: &str) -> String {
    let mut text = String::from(
        "# Servers, measured beside each other\n\n\
         1 KiB per response. h2load: `-c 4 -m 100` (h2), `-c 50 -m 1` (h1). HTTP/3: \
         `trunkline bench`, 2 bytes per response, `-c 4 -m 32`, and one by one `-c 32 -m 1`. Streamed: 256 KiB \
         in 16 pieces, of a length that is not said; file: 64 KiB; both `-c 4 -m 8`, and `-c 8 -m 1` over h1. \
         Bulk: 1 GiB in one answer, or in 64 at once. Every server runs on \
         one processor; rounds go round all servers in turn. CPU is user and kernel time of all \
         of a server's threads, from the scheduler's counters. Median (smallest to largest); \
         differences below 20 % mean nothing. Write calls are counted by strace in a round of \
         their own. Memory per idle connection is the growth of resident memory after one GET on \
         each connection.\n\n",
    );
    text.push_str(&machine::describe_as_list());
    text.push_str("\n![CPU per request](bench-server.svg)\n\n");
    text.push_str(tables);
    if !run.absent.is_empty() {
        text.push_str("\n## Not in the tables\n\n");
        for sentence in &run.absent {
            let _ = writeln!(text, "- {sentence}");
        }
    }
    text
}

fn load_table(text: &mut String, figures: &Figures, scenario: Scenario, placement: Placement) {
    let workplace = format!("{} {}", scenario.name(), placement.name());
    let [server_cpu, load_cpu, rate] = match scenario.is_bulk() {
        true => BULK_METRICS,
        false => [Metric::ServerCpu, Metric::LoadCpu, Metric::Rate],
    };
    let rows: Vec<Vec<String>> = subjects(figures, &workplace)
        .into_iter()
        .map(|subject| {
            let get = |metric| figures.get(&workplace, subject, metric);
            vec![
                subject.to_owned(),
                spread(get(server_cpu), 2),
                get(rate).map_or(String::new(), |rate| match scenario.is_bulk() {
                    true => format!("{:.0}", rate.median),
                    false => thousands(rate),
                }),
                get(load_cpu).map_or(String::new(), |cpu| format!("{:.2}", cpu.median)),
                get(Metric::Writes).map_or(String::new(), |calls| format!("{:.4}", calls.median)),
                get(Metric::Resident).map_or(String::new(), |mib| format!("{:.0}", mib.median)),
            ]
        })
        .collect();
    let [cost, rate, load] = match scenario.is_bulk() {
        true => ["CPU s/GiB", "MiB/s", "load s/GiB"],
        false => ["CPU us/request", "1,000/s", "load us"],
    };
    let head = ["server", cost, rate, load, "writes/response", "RSS MiB"];
    table(text, &workplace, &head, &rows);
}

fn idle_table(text: &mut String, figures: &Figures) {
    let places = idle_scenarios();
    let mut names: Vec<&str> = Vec::new();
    for workplace in &places {
        for name in subjects(figures, workplace) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let rows: Vec<Vec<String>> = names
        .into_iter()
        .map(|name| {
            let cell = |workplace: &String| {
                let kib = figures.get(workplace, name, Metric::IdleMemory);
                kib.map_or(String::new(), |kib| format!("{:.1}", kib.median))
            };
            let mut row = vec![name.to_owned()];
            row.extend(places.iter().map(cell));
            row
        })
        .collect();
    let mut head = vec!["KiB per connection"];
    head.extend(places.iter().map(String::as_str));
    table(text, "idle connections", &head, &rows);
}

fn goals_table(text: &mut String, figures: &Figures) {
    let rows: Vec<Vec<String>> = GOALS
        .iter()
        .filter_map(|goal| {
            let ours = figures.get(goal.scenario, OURS, goal.metric)?.median;
            let best = subjects(figures, goal.scenario)
                .into_iter()
                .filter(|name| goal.peers.iter().any(|peer| name.starts_with(peer)))
                .filter_map(|name| figures.get(goal.scenario, name, goal.metric))
                .map(|spread| spread.median)
                .reduce(f64::min);
            let (allowed, bound) = match (goal.peers, best) {
                ([], _) => (goal.factor, format!("{}", goal.factor)),
                (peers, Some(best)) => (
                    goal.factor * best,
                    format!(
                        "{} x {} = {:.2}",
                        goal.factor,
                        peers.join("/"),
                        goal.factor * best
                    ),
                ),
                (_, None) => return None,
            };
            let verdict = if ours <= allowed { "reached" } else { "missed" };
            Some(vec![
                format!("{}: {}", goal.scenario, goal.metric.name()),
                bound,
                format!("{ours:.digits$}", digits = goal.metric.digits()),
                verdict.to_owned(),
            ])
        })
        .collect();
    table(text, "goals", &["goal", "at most", "ours", ""], &rows);
}

/// The subjects with a figure there, in the order of measuring.
pub(crate) fn subjects<'a>(figures: &'a Figures, scenario: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in figures
        .all
        .iter()
        .filter(|figure| figure.scenario == scenario)
    {
        if !names.contains(&figure.subject.as_str()) {
            names.push(&figure.subject);
        }
    }
    names
}

/// `median (min-max)`, or nothing.
pub(crate) fn spread(spread: Option<Spread>, digits: usize) -> String {
    spread.map_or(String::new(), |Spread { median, min, max }| {
        format!("{median:.digits$} ({min:.digits$}-{max:.digits$})")
    })
}

/// The median of a rate in thousands; below ten of them with as many digits as two figures need.
pub(crate) fn thousands(rate: Spread) -> String {
    let digits = match rate.median {
        10_000.0.. => 0,
        1_000.0.. => 1,
        100.0.. => 2,
        _ => 3,
    };
    format!("{:.digits$}", rate.median / 1e3)
}

/// A table with aligned columns; nothing without rows.
pub(crate) fn table(text: &mut String, title: &str, head: &[&str], rows: &[Vec<String>]) {
    if rows.is_empty() {
        return;
    }
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(String::len);
        cells.chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let _ = writeln!(text, "## {title}\n");
    let line = |text: &mut String, cells: &mut dyn Iterator<Item = &str>| {
        for (cell, width) in cells.zip(&widths) {
            let _ = write!(text, "| {cell:width$} ");
        }
        text.push_str("|\n");
    };
    line(text, &mut head.iter().copied());
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    line(text, &mut rules.iter().map(String::as_str));
    for row in rows {
        line(text, &mut row.iter().map(String::as_str));
    }
    text.push('\n');
}

#[cfg(test)]
#[path = "report_test.rs"]
mod report_test;
