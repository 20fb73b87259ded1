//! A parser of OpenMetrics for the tests of whatever writes it.

use super::*;
use std::collections::{HashMap, HashSet};

/// A name, labels, and a value.
pub(crate) type Sample = (String, Vec<(String, String)>, f64);

/// A family: its kind, and its samples.
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) samples: Vec<Sample>,
}

/// Parses by the grammar of OpenMetrics 1.0, and panics with the line that breaks it.
pub(crate) fn parse(text: &str) -> HashMap<String, Family> {
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

#[test]
fn families_of_every_kind_are_read_back_as_they_were_written() {
    let mut text = Exposition::new("x");
    text.build("The version.");
    text.counter("requests", "Requests.", 3);
    text.gauge("open", "Open now.", 2);
    text.labelled(("resets", "Resets."), "by", &[("peer", 1)]);
    text.labelled_gauge(("bytes", "Bytes."), "budget", &[("send", 9)]);
    text.of_versions(("responses", "counter", "Responses."), [1, 2, 3]);
    let empty = Histogram::default();
    text.histograms("y_seconds", "Durations.", [&empty; 3]);
    let families = parse(&text.finish());
    let samples = |name: &str| families[name].samples.len();
    assert_eq!(families.len(), 7);
    assert_eq!((samples("x_requests"), samples("x_responses")), (1, 3));
    let label = ("budget".to_owned(), "send".to_owned());
    let sample = ("x_bytes".to_owned(), vec![label], 9.0);
    assert_eq!(families["x_bytes"].samples, [sample]);
    assert_eq!(families["y_seconds"].kind, "histogram");
}
