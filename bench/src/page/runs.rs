//! The runs that the pages show: their figures, and the scenarios in order.

use super::figures::{Figures, Metric};
use crate::scenario::Scenario;
use std::collections::BTreeSet;

/// Connections held at rest.
pub(crate) const IDLE_COUNTS: [usize; 2] = [1_000, 10_000];

/// The figures of a round of bulk.
pub(crate) const BULK_METRICS: [Metric; 3] = [
    Metric::ServerCpuPerGib,
    Metric::LoadCpuPerGib,
    Metric::BulkRate,
];

/// Figures, and sentences about what is not in them.
pub(crate) struct Run {
    pub(crate) figures: Figures,
    pub(crate) absent: BTreeSet<String>,
}

/// How the idle figures of `scenario` are called.
pub(crate) fn idle_scenario(scenario: Scenario, count: usize) -> String {
    format!("{} {count} idle", scenario.name())
}

/// Every idle scenario in order.
pub(crate) fn idle_scenarios() -> Vec<String> {
    let pair = |scenario| IDLE_COUNTS.map(|count| idle_scenario(scenario, count));
    [Scenario::H2Tls, Scenario::H2c]
        .into_iter()
        .flat_map(pair)
        .collect()
}

/// Where server and load run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum NodePlacement {
    /// Both on the first processor: no wakes across processors, the steadier figure.
    SameCore,
    /// Both wherever the kernel puts them.
    AnyCore,
}

impl NodePlacement {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SameCore => "same core",
            Self::AnyCore => "any core",
        }
    }
}

/// Every scenario of servers in JavaScript, in the order of measuring.
pub(crate) const NODE_SCENARIOS: [Scenario; 5] = [
    Scenario::H2Tls,
    Scenario::H2c,
    Scenario::H1,
    Scenario::H1Tls,
    Scenario::H3,
];

/// Figures, and sentences about what is not in them.
pub(crate) struct NodeRun {
    pub(crate) figures: Figures,
    pub(crate) absent: BTreeSet<String>,
}
