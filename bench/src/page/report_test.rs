use super::{tables, thousands};
use crate::page::figures::{Figures, Metric, Spread};
use crate::page::runs::Run;
use std::collections::BTreeSet;

fn run_with(ours: f64) -> Run {
    let mut figures = Figures::default();
    figures.add("h2 TLS same core", "trunkline", Metric::ServerCpu, [ours]);
    figures.add("h2 TLS same core", "h2o 2.2.5", Metric::ServerCpu, [1.0]);
    Run {
        figures,
        absent: BTreeSet::new(),
    }
}

#[test]
fn a_goal_is_judged_against_the_peer_of_the_same_run() {
    let met = tables(&run_with(0.44));
    assert!(met.contains("0.45 x h2o = 0.45"), "{met}");
    assert!(met.contains("reached") && !met.contains("missed"), "{met}");
    assert!(tables(&run_with(0.46)).contains("missed"));
}

#[test]
fn a_goal_without_its_peer_is_left_out() {
    assert!(!tables(&run_with(0.4)).contains("Bun"));
}

#[test]
fn a_small_rate_keeps_two_figures() {
    let shown = |rate: f64| thousands(Spread::of([rate]).unwrap());
    assert_eq!(shown(497_130.9), "497");
    assert_eq!(shown(6_420.0), "6.4");
    assert_eq!(shown(420.0), "0.42");
    assert_eq!(shown(42.0), "0.042");
}
