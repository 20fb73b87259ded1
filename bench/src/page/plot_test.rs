use super::{headline, server_cpu};
use crate::page::figures::{Figures, Metric};

#[test]
fn every_subject_has_a_bar_and_ours_stands_out() {
    let mut figures = Figures::default();
    figures.add("h2c same core", "trunkline", Metric::ServerCpu, [1.0]);
    figures.add("h2c same core", "a<b", Metric::ServerCpu, [2.0]);
    let svg = server_cpu(&figures);
    assert_eq!(svg.matches("<rect x=").count(), 2);
    assert_eq!(svg.matches(super::OURS).count(), 1);
    assert!(svg.contains("a&lt;b"), "names are escaped");
}

#[test]
fn the_headline_has_one_group_of_the_scenarios() {
    let mut figures = Figures::default();
    figures.add("h2c same core", "trunkline", Metric::ServerCpu, [1.0]);
    figures.add(
        "varied h2 TLS same core",
        "trunkline",
        Metric::ServerCpu,
        [2.0],
    );
    let svg = headline(&figures);
    assert_eq!(svg.matches("<rect x=").count(), 1);
    assert!(svg.contains("varied h2 TLS same core: server CPU per request"));
}
