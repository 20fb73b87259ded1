use super::*;
use std::collections::{HashMap, HashSet};

/// A name, labels, and a value.
type Sample = (String, Vec<(String, String)>, f64);

/// A family: its kind, and its samples.
struct Family {
    kind: String,
    samples: Vec<Sample>,
}

/// Parses by the grammar of OpenMetrics 1.0, and panics with the line that breaks it.
fn parse(text: &str) -> HashMap<String, Family> {
    let mut families: HashMap<String, Family> = HashMap::new();
    let mut series = HashSet::new();
    let mut current = String::new();
    let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
    for line in body.split_terminator('\n') {
        assert_eq!(line.trim(), line, "{line:?}");
        if let Some(described) = line.strip_prefix("# ") {
            let (what, rest) = described.split_once(' ').expect(line);
            let (name, value) = rest.split_once(' ').expect(line);
            match what {
                "TYPE" => {
                    let kind = value.to_owned();
                    let samples = Vec::new();
                    let family = Family { kind, samples };
                    let other = families.insert(name.to_owned(), family);
                    assert!(other.is_none(), "{name} stands twice");
                    current = name.to_owned();
                }
                "UNIT" => assert!(name.ends_with(&format!("_{value}")), "{line}"),
                "HELP" => assert!(value.ends_with('.'), "{line}"),
                _ => panic!("{line}"),
            }
            assert_eq!(name, current, "{line}");
            continue;
        }
        let (key, value) = line.rsplit_once(' ').expect(line);
        assert!(series.insert(key.to_owned()), "{key} stands twice");
        let (name, labels) = match key.split_once('{') {
            None => (key, Vec::new()),
            Some((name, labels)) => (name, labels_of(labels.strip_suffix('}').expect(line))),
        };
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(name.chars().all(is_name), "{line}");
        let family = families.get_mut(&current).expect(line);
        let suffix = name.strip_prefix(&current).expect(line);
        let allowed: &[&str] = match family.kind.as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            "info" => &["_info"],
            "histogram" => &["_bucket", "_count", "_sum"],
            kind => panic!("{kind} is no kind of ours"),
        };
        assert!(allowed.contains(&suffix), "{line}");
        let value = value.parse().expect(line);
        family.samples.push((name.to_owned(), labels, value));
    }
    families
}

fn labels_of(text: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once("=\"").expect(text);
        let value = value.strip_suffix('"').expect(text);
        assert!(!value.contains(['"', '\\', '{', '}']), "{text}");
        (name.to_owned(), value.to_owned())
    };
    text.split(',').map(pair).collect()
}

fn reading() -> Metrics {
    let mut metrics = Metrics {
        connections_accepted: 7,
        handshakes_failed_by: vec![("timeout", 2)],
        violations: vec![("BodyTooSlow", 3)],
        quic_violations: vec![("FRAME_ENCODING_ERROR", 1)],
        ..Metrics::default()
    };
    for version in &mut metrics.versions {
        version.responses = super::super::metrics::CLASSES.map(|class| (class, 1));
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
    // Three versions twice, two handshakes, and QUIC's round-trip times.
    assert_eq!(seen, 9);
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
