use super::tables;
use crate::page::figures::{Figures, Metric};

fn tables_with(ours: f64) -> String {
    let mut figures = Figures::default();
    for (name, cpu) in [("trunkline serve", ours), ("node:http2 core", 12.0)] {
        figures.add("h2c same core", name, Metric::ServerCpu, [cpu]);
        figures.add("h2c same core", name, Metric::ScriptCpu, [cpu / 2.0]);
    }
    tables(&figures)
}

#[test]
fn a_goal_is_a_share_of_the_peer_in_the_same_run() {
    let met = tables_with(2.0);
    assert!(met.contains("1/6 of node:http2 core"), "{met}");
    assert!(met.contains("reached") && !met.contains("missed"), "{met}");
    assert!(tables_with(2.1).contains("missed"));
}

#[test]
fn the_thread_of_javascript_stands_beside_the_whole_process() {
    let displayed = tables_with(2.0);
    let row = displayed
        .lines()
        .find(|line| line.contains("2.00 (2.00-2.00)"))
        .unwrap_or_default();
    assert!(row.contains("| 1.00 "), "{displayed}");
}
