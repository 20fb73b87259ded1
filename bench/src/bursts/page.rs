//! Renders the outcome of the bursts as tables, as a page, as a picture, and into `docs/pool.md`.

use super::{CONNECT_MAX, REQUESTS, SCENARIOS, SETTLED_MAX};
use crate::machine;
use crate::page::figures::{Figures, Metric};
use crate::page::{docs, plot, report};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// All that was measured.
pub(super) struct Report {
    pub(super) rounds: u32,
    pub(super) figures: Figures,
    /// Why requests failed first, by scenario and client.
    pub(super) reasons: BTreeMap<(usize, &'static str), String>,
}

impl Report {
    /// A table per scenario.
    pub(super) fn tables(&self) -> String {
        let figures = &self.figures;
        let mut text = String::new();
        for &(scenario, _, sockets_max) in SCENARIOS {
            let rows: Vec<Vec<String>> = report::subjects(figures, scenario)
                .into_iter()
                .map(|client| {
                    let cell = |metric: Metric| {
                        let spread = figures.get(scenario, client, metric);
                        report::spread(spread, metric.digits())
                    };
                    vec![
                        client.to_owned(),
                        cell(Metric::Sockets),
                        cell(Metric::Handshakes),
                        cell(Metric::Refused),
                        cell(Metric::Twice),
                        cell(Metric::Answered),
                        cell(Metric::Failed),
                        cell(Metric::LastSettled),
                        verdict(figures, scenario, client, sockets_max),
                    ]
                })
                .collect();
            let head = [
                "client",
                "sockets",
                "handshakes",
                "refused",
                "twice",
                "answered",
                "failed",
                "last, s",
                "bounds",
            ];
            report::table(&mut text, scenario, &head, &rows);
        }
        text
    }

    /// How it was measured, and on what.
    fn method(&self) -> String {
        let mut text = format!(
            "{REQUESTS} requests in one turn on a cold client; the server takes 20 ms for each. \
             Every client has a connect timeout of {CONNECT_MAX} s and else its defaults. Sockets, \
             completed TLS handshakes, streams refused (beyond the limit that the client had \
             acknowledged) and requests processed twice are the server's counts. Median (smallest \
             to largest) of {} rounds, each with a fresh server and a fresh client. What settles \
             after {} s is neither answered nor failed.\n\n",
            self.rounds,
            SETTLED_MAX.as_secs(),
        );
        text.push_str(&machine::describe_as_list());
        text.push('\n');
        text
    }

    /// The first reason of every client that failed a request.
    fn reasons(&self) -> String {
        let mut text = String::from("## First reasons of failures\n\n");
        for ((number, client), reason) in &self.reasons {
            let scenario = SCENARIOS.get(*number).map_or("", |row| row.0);
            let _ = writeln!(text, "- {scenario}, {client}: {reason}");
        }
        text
    }

    /// The whole page.
    pub(super) fn page(&self) -> String {
        format!(
            "# Bursts, counted at the server\n\n{}![Sockets and times](bursts.svg)\n\n{}{}",
            self.method(),
            self.tables(),
            self.reasons()
        )
    }

    /// Sockets and the time to the last request, by scenario.
    pub(super) fn plot(&self) -> String {
        let scenarios: Vec<String> = SCENARIOS.iter().map(|row| row.0.to_owned()).collect();
        let metrics = [
            (Metric::Sockets, "sockets"),
            (Metric::LastSettled, "time to the last request, s"),
        ];
        plot::bars(&self.figures, &metrics, &scenarios)
    }

    /// Puts method and tables between the marks of `docs/pool.md`, and the plot beside it.
    pub(super) fn write_docs(&self) -> Result<(), String> {
        // The page has its own headings above these.
        let tables = self.tables().replace("## ", "### ");
        let text = format!(
            "{}![Sockets and times](bursts.svg)\n\n{tables}",
            self.method()
        );
        docs::put("pool.md", "make bursts", &text)?;
        docs::write("bursts.svg", &self.plot())
    }
}

/// Whether every round kept what we promise: the bound of sockets, nothing delivered twice, all
/// answered where a server lives (what a killed connection had taken may fail), and all failed
/// within one connect timeout where none does.
pub(super) fn verdict(
    figures: &Figures,
    scenario: &str,
    client: &str,
    sockets_max: Option<u32>,
) -> String {
    let most = |metric| {
        figures
            .get(scenario, client, metric)
            .map_or(0.0, |spread| spread.max)
    };
    let mut broken = Vec::new();
    if let Some(bound) = sockets_max {
        if most(Metric::Sockets) > f64::from(bound) {
            broken.push(format!("over {bound} sockets"));
        }
        let settled = figures
            .get(scenario, client, Metric::Answered)
            .map_or(0.0, |spread| spread.min);
        let taken = if scenario.starts_with("killed") {
            100.0
        } else {
            0.0
        };
        if settled + taken < f64::from(REQUESTS) {
            broken.push("not all answered".to_owned());
        }
    } else {
        let failed = figures.get(scenario, client, Metric::Failed);
        if failed.is_none_or(|spread| spread.min < f64::from(REQUESTS)) {
            broken.push("not all failed".to_owned());
        }
        if most(Metric::LastSettled) > CONNECT_MAX * 1.25 {
            broken.push("over one connect timeout".to_owned());
        }
    }
    if most(Metric::Refused) > 0.0 && !scenario.contains("lowered") {
        broken.push("streams refused".to_owned());
    }
    if most(Metric::Twice) > 0.0 {
        broken.push("delivered twice".to_owned());
    }
    if broken.is_empty() {
        "kept".to_owned()
    } else {
        broken.join(", ")
    }
}
