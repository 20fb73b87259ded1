//! The metrics of a server or a client as instruments of an OpenTelemetry meter, which read the exposition: one set of
//! names, kinds and labels for both.
//!
//! OpenTelemetry has no histogram that is observed, so one of ours is three counters, by the parts that OpenMetrics gives it. Its SDK for Rust (0.33) takes no
//! aggregated data from a producer either, as SDKs for other languages do.

use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Meter};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Gives the text of OpenMetrics; `None`: what it counts is gone.
type Read = dyn Fn() -> Option<String> + Send + Sync;

/// Makes an instrument of each metric of the text. They live as long as the meter's provider.
pub(crate) fn register(meter: &Meter, read: impl Fn() -> Option<String> + Send + Sync + 'static) {
    let readings = Arc::new(Readings {
        read: Box::new(read),
        last: Mutex::default(),
    });
    let families = families_of(&readings.text());
    for family in &families {
        for part in parts_of(&family.kind) {
            let source = Source {
                family: family.name.clone(),
                part,
                readings: Arc::clone(&readings),
            };
            source.register(meter, family);
        }
    }
}

/// A metric of the text.
#[derive(Debug, Default)]
struct Family {
    name: String,
    kind: String,
    help: String,
    samples: Vec<Sample>,
}

#[derive(Debug)]
struct Sample {
    /// Behind the name of its family: `_total`, `_bucket`.
    part: String,
    attributes: Vec<KeyValue>,
    value: f64,
}

/// The parts of a metric that have an instrument each.
fn parts_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "counter" => &["_total"],
        "info" => &["_info"],
        "histogram" => &["_bucket", "_count", "_sum"],
        _ => &[""],
    }
}

/// Readings of the text: one for all instruments of a collection.
struct Readings {
    read: Box<Read>,
    last: Mutex<Reading>,
}

#[derive(Default)]
struct Reading {
    families: HashMap<String, Family>,
    /// The instruments that it was read for: a collection asks each of them once.
    asked: HashSet<(String, &'static str)>,
}

impl Readings {
    fn text(&self) -> String {
        (self.read)().unwrap_or_default()
    }
    /// Gives the samples of a part to `observe`.
    fn samples(&self, family: &str, part: &'static str, mut observe: impl FnMut(&Sample)) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let instrument = (family.to_owned(), part);
        if last.families.is_empty() || last.asked.contains(&instrument) {
            let families = families_of(&self.text()).into_iter();
            *last = Reading {
                families: families.map(|it| (it.name.clone(), it)).collect(),
                asked: HashSet::new(),
            };
        }
        last.asked.insert(instrument);
        let samples = last.families.get(family).map(|family| &family.samples);
        for sample in samples.into_iter().flatten().filter(|it| it.part == part) {
            observe(sample);
        }
    }
}

/// The source of an instrument.
struct Source {
    family: String,
    part: &'static str,
    readings: Arc<Readings>,
}

impl Source {
    fn register(self, meter: &Meter, family: &Family) {
        let (base, unit) = named(&family.name);
        let help = family.help.clone();
        match self.part {
            "_sum" => {
                let counter = meter.f64_observable_counter(format!("{base}.sum"));
                let counter = counter.with_description(help).with_unit(unit);
                counter
                    .with_callback(move |to| self.observe(to, |value| value))
                    .build();
            }
            "_total" | "_bucket" | "_count" => {
                let (name, unit) = match self.part {
                    "_total" => (base, unit),
                    part => (format!("{base}.{}", &part[1..]), "1"),
                };
                let counter = meter.u64_observable_counter(name);
                let counter = counter.with_description(help).with_unit(unit);
                counter
                    .with_callback(move |to| self.observe(to, |value| value as u64))
                    .build();
            }
            // Those of several servers add up.
            _ => {
                let gauge = meter.i64_observable_up_down_counter(base);
                let gauge = gauge.with_description(help).with_unit(unit);
                gauge
                    .with_callback(move |to| self.observe(to, |value| value as i64))
                    .build();
            }
        }
    }
    fn observe<T>(&self, to: &dyn AsyncInstrument<T>, number: impl Fn(f64) -> T) {
        self.readings.samples(&self.family, self.part, |sample| {
            to.observe(number(sample.value), &sample.attributes);
        });
    }
}

/// OpenTelemetry's name of a metric, and its unit (UCUM): by its semantic conventions where they have it.
fn named(name: &str) -> (String, &'static str) {
    match name {
        "http_server_active_requests" => {
            return ("http.server.active_requests".to_owned(), "{request}");
        }
        "http_client_active_requests" => {
            return ("http.client.active_requests".to_owned(), "{request}");
        }
        "process_resident_memory_bytes" => return ("process.memory.usage".to_owned(), "By"),
        _ => {}
    }
    let dotted = [
        "http_server_request_",
        "http_client_request_",
        "trunkline_server_",
        "trunkline_client_",
    ]
    .into_iter()
    .find_map(|prefix| Some((prefix.replace('_', "."), name.strip_prefix(prefix)?)));
    let base = dotted.map_or(name.to_owned(), |(prefix, rest)| format!("{prefix}{rest}"));
    match base.strip_suffix("_seconds") {
        Some(base) => (base.to_owned(), "s"),
        None if base.ends_with("_bytes") => (base, "By"),
        None => (base, "1"),
    }
}

/// OpenTelemetry's name of a label.
fn attribute(label: &str) -> String {
    match label {
        "network_protocol_version"
        | "network_transport"
        | "network_io_direction"
        | "error_type" => label.replace('_', "."),
        other => other.to_owned(),
    }
}

/// Reads what `Exposition` writes: names and values of labels need no escapes there.
fn families_of(text: &str) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for line in text.lines() {
        if let Some(described) = line.strip_prefix("# ") {
            let mut words = described.splitn(3, ' ');
            let (Some(kind), Some(name), Some(rest)) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            match (kind, families.last_mut()) {
                ("TYPE", _) => families.push(Family {
                    name: name.to_owned(),
                    kind: rest.to_owned(),
                    ..Family::default()
                }),
                ("HELP", Some(family)) => rest.clone_into(&mut family.help),
                _ => {}
            }
            continue;
        }
        let (Some((series, value)), Some(family)) = (line.rsplit_once(' '), families.last_mut())
        else {
            continue;
        };
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        family.samples.push(Sample {
            part: name
                .strip_prefix(&family.name)
                .unwrap_or_default()
                .to_owned(),
            attributes: attributes_of(labels.trim_end_matches('}')),
            value: value.parse().unwrap_or_default(),
        });
    }
    families
}

fn attributes_of(labels: &str) -> Vec<KeyValue> {
    let pairs = labels.split(',').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(label, value)| KeyValue::new(attribute(label), value.trim_matches('"').to_owned()))
        .collect()
}

#[cfg(test)]
#[path = "instruments_test.rs"]
mod instruments_test;
