use super::*;
use crate::metrics::CLASSES;
use crate::metrics::exposition::exposition_test::parse;

fn reading() -> Metrics {
    let mut metrics = Metrics {
        connections_accepted: 7,
        handshakes_failed_by: vec![("timeout", 2)],
        violations: vec![("BodyTooSlow", 3)],
        quic_violations: vec![("FRAME_ENCODING_ERROR", 1)],
        ..Metrics::default()
    };
    for version in &mut metrics.versions {
        version.responses = CLASSES.map(|class| (class, 1));
    }
    metrics
}

#[test]
fn the_text_is_openmetrics_with_one_description_per_family_and_one_line_per_series() {
    let families = parse(&reading().to_openmetrics());
    let kind = |name: &str| families[name].kind.as_str();
    assert_eq!(kind("http_server_request_duration_seconds"), "histogram");
    assert_eq!(kind("http_server_active_requests"), "gauge");
    assert_eq!(kind("trunkline_server_violations"), "counter");
    let violations = &families["trunkline_server_violations"].samples;
    let rule = ("rule".to_owned(), "BodyTooSlow".to_owned());
    let name = "trunkline_server_violations_total".to_owned();
    assert_eq!(*violations, [(name, vec![rule], 3.0)]);
}

#[test]
fn every_histogram_ascends_and_ends_with_its_count() {
    let families = parse(&reading().to_openmetrics());
    let histograms = families.iter().filter(|(_, it)| it.kind == "histogram");
    let mut seen = 0;
    for (name, family) in histograms {
        let mut below = 0.0;
        for (sample, labels, value) in &family.samples {
            if sample.ends_with("_bucket") {
                let bound = &labels.last().expect("le").1;
                assert!(*value >= below, "{name} {bound}");
                below = *value;
                seen += usize::from(bound == "+Inf");
            } else if sample.ends_with("_count") {
                assert!((*value - below).abs() < f64::EPSILON, "{name}");
                below = 0.0;
            }
        }
    }
    // Three versions twice, two handshakes, QUIC's round-trip times, and how late workers are.
    assert_eq!(seen, 10);
}

#[test]
fn there_are_at_most_five_hundred_series_whatever_is_counted() {
    let mut metrics = reading();
    let rules = trunkline_core::error::Violation::ALL.iter();
    metrics.violations = rules.map(|rule| (rule.name(), 1)).collect();
    let quic = crate::driver::quic::rules::NAMES;
    metrics.quic_violations = quic.into_iter().map(|rule| (rule, 1)).collect();
    let families = parse(&metrics.to_openmetrics());
    let series: usize = families.values().map(|family| family.samples.len()).sum();
    assert!((200..=500).contains(&series), "{series}");
}
