//! Renders the tables of the servers in JavaScript, and the goals.

use super::figures::{Figures, Metric, Spread};
use super::report::{spread, subjects, table, thousands};
use super::runs::{NODE_SCENARIOS, NodePlacement, NodeRun};
use crate::machine;
use crate::subject::node::{NodeSubjectContext, version};
use crate::subject::version_of;
use std::fmt::Write;

/// A bound on the CPU per request of one of ours: a share of a peer's in the same run.
struct Goal {
    scenarios: &'static [&'static str],
    ours: &'static str,
    /// `theirs / divisor` is allowed.
    divisor: f64,
    theirs: &'static str,
}

const H2: &[&str] = &["h2 TLS", "h2c"];
const H1: &[&str] = &["h1", "h1 TLS"];
const ALL_OF_BUN: &[&str] = &["h2 TLS", "h1", "h1 TLS", "h3"];

const GOALS: &[Goal] = &[
    goal(H2, "trunkline core", 3.5, "node:http2 core"),
    goal(H2, "trunkline compat end", 3.0, "node:http2 compat end"),
    goal(
        H2,
        "trunkline compat writeHead + end",
        3.0,
        "node:http2 compat writeHead + end",
    ),
    goal(
        H2,
        "trunkline compat three writes",
        3.0,
        "node:http2 compat three writes",
    ),
    goal(
        H2,
        "trunkline compat file of 64 KiB",
        2.0,
        "node:http2 compat file of 64 KiB",
    ),
    goal(H2, "trunkline serve", 6.0, "node:http2 core"),
    goal(H1, "trunkline serve", 2.0, "node:http compat end"),
    goal(ALL_OF_BUN, "trunkline serve", 1.0, "Bun serve"),
];

const fn goal(
    scenarios: &'static [&'static str],
    ours: &'static str,
    divisor: f64,
    theirs: &'static str,
) -> Goal {
    Goal {
        scenarios,
        ours,
        divisor,
        theirs,
    }
}

const PLACEMENTS: [NodePlacement; 2] = [NodePlacement::SameCore, NodePlacement::AnyCore];

/// The goals, then every table of the run.
pub(crate) fn tables(figures: &Figures) -> String {
    let mut text = String::new();
    for placement in PLACEMENTS {
        goals(&mut text, figures, placement);
    }
    for scenario in NODE_SCENARIOS {
        for placement in PLACEMENTS {
            load(
                &mut text,
                figures,
                &format!("{} {}", scenario.name(), placement.name()),
            );
        }
    }
    text
}

fn load(text: &mut String, figures: &Figures, workplace: &str) {
    let rows: Vec<Vec<String>> = subjects(figures, workplace)
        .into_iter()
        .map(|subject| {
            let get = |metric| figures.get(workplace, subject, metric);
            let median = |metric, digits: usize| {
                let show = |spread: Spread| format!("{:.digits$}", spread.median);
                get(metric).map_or(String::new(), show)
            };
            vec![
                subject.to_owned(),
                spread(get(Metric::ServerCpu), 2),
                median(Metric::ScriptCpu, 2),
                get(Metric::Rate).map_or(String::new(), thousands),
                median(Metric::LoadCpu, 2),
                median(Metric::Resident, 0),
            ]
        })
        .collect();
    let head = [
        "server",
        "CPU us/request",
        "of JavaScript",
        "1,000/s",
        "load us",
        "RSS MiB",
    ];
    table(text, workplace, &head, &rows);
}

fn goals(text: &mut String, figures: &Figures, placement: NodePlacement) {
    let mut rows = Vec::new();
    for goal in GOALS {
        for scenario in goal.scenarios {
            let workplace = format!("{scenario} {}", placement.name());
            let median = |name| figures.get(&workplace, name, Metric::ServerCpu);
            let (Some(ours), Some(theirs)) = (median(goal.ours), median(goal.theirs)) else {
                continue;
            };
            let (ours, theirs) = (ours.median, theirs.median);
            let is_reached = ours <= theirs / goal.divisor;
            rows.push(vec![
                format!("{scenario}: {}", goal.ours),
                format!("1/{} of {}", goal.divisor, goal.theirs),
                format!("{:.2}", theirs / goal.divisor),
                format!("{ours:.2}"),
                format!("1/{:.1}", theirs / ours),
                if is_reached { "reached" } else { "missed" }.to_owned(),
            ]);
        }
    }
    let head = ["goal", "at most", "us", "ours, us", "is", ""];
    table(text, &format!("goals, {}", placement.name()), &head, &rows);
}

/// The whole page: how it was measured, on what, the tables, what is missing.
pub(crate) fn page(
    run: &NodeRun,
    context: &NodeSubjectContext,
    load_before: &str,
    tables: &str,
) -> String {
    let mut text = String::from(
        "# Servers in JavaScript, measured beside each other\n\n\
         1 KiB per response, except the rows of a file; every handler answers with the same bytes and content type. h2load: \
         `-c 4 -m 100` (h2), `-c 50 -m 1` (h1); HTTP/3: `trunkline bench`, `-c 4 -m 32`. Rounds go \
         round all servers in turn after a warm-up of each. CPU is user and kernel time of all of \
         a server's threads, from the scheduler's counters; \"of JavaScript\" is its thread alone. \
         Same core: server and load on one processor; any core: where the kernel puts them. \
         Median (smallest to largest); differences below 20 % mean nothing.\n\n",
    );
    text.push_str(&machine::describe_as_list());
    let printed = |program| version_of(program).unwrap_or_default();
    let bun = context
        .bun
        .as_ref()
        .map_or(String::new(), |bun| printed(bun));
    let _ = writeln!(text, "- Load average before: {load_before}");
    let _ = writeln!(
        text,
        "- Node.js {}, Bun {bun}, Fastify {}, Express {}\n",
        printed(&context.node),
        version("fastify"),
        version("express")
    );
    text.push_str(tables);
    text.push_str(
        "## Not in the tables\n\n\
         - Express on node:http2: it hangs there.\n\
         - uWebSockets.js: its authors publish it on GitHub only, npm has none of theirs.\n",
    );
    for sentence in &run.absent {
        let _ = writeln!(text, "- {sentence}");
    }
    text
}

#[cfg(test)]
#[path = "node_test.rs"]
mod node_test;
